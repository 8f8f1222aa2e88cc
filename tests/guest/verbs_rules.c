// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest: rules of the verbs, on queue pairs of one device that talk
 * to one another in loopback.
 *
 * usage: verbs_rules DEVICE GID-INDEX [TEST...]
 *
 * Prints a line per test; exits with 1 when one failed.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_rules.h"

struct device dev;

static void open_device(const char *name, int gid_index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	REQUIRE(list);
	for (i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			break;
	REQUIRE(list[i]);
	dev.context = ibv_open_device(list[i]);
	REQUIRE(dev.context);
	ibv_free_device_list(list);
	dev.gid_index = gid_index;
	REQUIRE(!ibv_query_gid(dev.context, 1, gid_index, &dev.gid));
	REQUIRE(!ibv_query_device(dev.context, &dev.attr));
	dev.pd = ibv_alloc_pd(dev.context);
	REQUIRE(dev.pd);
}

struct buffer buffer_new(size_t size, int access)
{
	struct buffer b = { .size = size };

	b.data = calloc(1, size);
	REQUIRE(b.data);
	b.mr = ibv_reg_mr(dev.pd, b.data, size, IBV_ACCESS_LOCAL_WRITE | access);
	REQUIRE(b.mr);
	return b;
}

void buffer_free(struct buffer *b)
{
	REQUIRE(!ibv_dereg_mr(b->mr));
	free(b->data);
}

struct ibv_cq *cq_new(int entries, struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = ibv_create_cq(dev.context, entries, NULL, channel, 0);

	REQUIRE(cq);
	return cq;
}

struct ibv_qp *qp_new(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = type,
	};
	struct ibv_qp *qp = ibv_create_qp(dev.pd, &attr);

	REQUIRE(qp);
	return qp;
}

void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	REQUIRE(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY :
							    IBV_QP_ACCESS_FLAGS)));
}

void to_rts(struct ibv_qp *qp, uint32_t remote_qpn, struct timing timing)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = remote_qpn,
		.rq_psn = 0x123456, .max_dest_rd_atomic = 4, .min_rnr_timer = timing.rnr_timer,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = dev.gid, .sgid_index = dev.gid_index, .hop_limit = 64 },
		},
	};
	const bool requests = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND;
	const bool responds = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV;
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (responds)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	REQUIRE(!ibv_modify_qp(qp, &attr, mask));
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0x123456;
	attr.timeout = timing.timeout;
	attr.retry_cnt = timing.retries;
	attr.rnr_retry = timing.rnr_retries;
	attr.max_rd_atomic = 4;
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (requests)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	else if (responds)
		mask |= IBV_QP_TIMEOUT;
	REQUIRE(!ibv_modify_qp(qp, &attr, mask));
}

void to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	REQUIRE(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	REQUIRE(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

struct pair pair_of(enum ibv_qp_type type, struct ibv_qp_cap cap, struct timing timing)
{
	struct pair p;

	p.cq = cq_new(4 * (cap.max_send_wr + cap.max_recv_wr), NULL);
	p.a = qp_new(type, p.cq, cap);
	p.b = qp_new(type, p.cq, cap);
	to_init(p.a);
	to_init(p.b);
	to_rts(p.a, p.b->qp_num, timing);
	to_rts(p.b, p.a->qp_num, timing);
	return p;
}

struct pair pair_new(struct ibv_qp_cap cap, struct timing timing)
{
	return pair_of(IBV_QPT_RC, cap, timing);
}

void pair_free(struct pair *p)
{
	REQUIRE(!ibv_destroy_qp(p->a));
	REQUIRE(!ibv_destroy_qp(p->b));
	REQUIRE(!ibv_destroy_cq(p->cq));
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

void wait_wcs(struct ibv_cq *cq, struct ibv_wc *wc, int count)
{
	double deadline = seconds() + 20;

	while (count) {
		int n = ibv_poll_cq(cq, count, wc);

		REQUIRE(n >= 0);
		REQUIRE(n || seconds() < deadline);
		wc += n;
		count -= n;
	}
}

struct ibv_wc wait_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	wait_wcs(cq, &wc, 1);
	return wc;
}

void no_wc(struct ibv_cq *cq, int ms)
{
	struct ibv_wc wc;
	double end = seconds() + ms / 1000.0;

	do {
		REQUIRE(ibv_poll_cq(cq, 1, &wc) == 0);
	} while (seconds() < end);
}

static struct ibv_async_event next_async(int ms)
{
	struct pollfd fd = { .fd = dev.context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	REQUIRE(poll(&fd, 1, ms) == 1);
	REQUIRE(!ibv_get_async_event(dev.context, &event));
	ibv_ack_async_event(&event);
	return event;
}

struct ibv_async_event expect_async(enum ibv_event_type type)
{
	struct ibv_async_event event;

	do {
		event = next_async(10000);
	} while (event.event_type == IBV_EVENT_COMM_EST);
	REQUIRE(event.event_type == type);
	return event;
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, &wr, &bad);
}

int post_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sges, int count)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sges, .num_sge = count }, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

struct ibv_sge sge_of(const struct buffer *b, size_t offset, size_t length)
{
	return (struct ibv_sge){ (uintptr_t)b->data + offset, length, b->mr->lkey };
}

void fill(uint8_t *data, size_t length, unsigned int seed)
{
	size_t i;

	for (i = 0; i < length; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = seed >> 16;
	}
}

static int run(const struct test *test)
{
	double start = seconds();
	int status;
	pid_t pid;

	/* A process each: one that fails leaves its objects to the kernel. */
	fflush(stdout);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		open_device(dev.name, dev.gid_index);
		test->run();
		REQUIRE(!ibv_dealloc_pd(dev.pd));
		REQUIRE(!ibv_close_device(dev.context));
		exit(0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	printf("%s %s (%.1f s)\n", status ? "FAILED" : "ok", test->name, seconds() - start);
	return status ? 1 : 0;
}

int main(int argc, char **argv)
{
	int failed = 0, chosen, i;
	const struct test *test;

	if (argc < 3) {
		fprintf(stderr, "usage: verbs_rules DEVICE GID-INDEX [TEST...]\n");
		return 2;
	}
	dev.name = argv[1];
	dev.gid_index = atoi(argv[2]);
	for (test = tests; test->name; test++) {
		chosen = argc == 3;
		for (i = 3; i < argc; i++)
			chosen |= !strcmp(argv[i], test->name);
		if (chosen)
			failed |= run(test);
	}
	return failed;
}
