// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: completion queues: another size, moderation, vectors. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "verbs_rules.h"

#define WRITES		4000	/* at least, and until it had so many sizes */
#define RESIZES		20

static atomic_int resizes;
static atomic_bool ended;

/* Small and large, as fast as it goes. */
static void *resizer(void *argument)
{
	static const int sizes[] = { 64, 1000, 33, 4096, 129 };
	struct ibv_cq *cq = argument;

	for (; !ended; resizes++)
		REQUIRE(!ibv_resize_cq(cq, sizes[resizes % 5]));
	return NULL;
}

void test_cq_resize(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 16, 1, 1, 1, 0 }, PATIENT);
	int posted = 0, polled = 0, n, i;
	struct ibv_wc wc[16];
	pthread_t thread;

	REQUIRE(ibv_resize_cq(p.cq, 0) == EINVAL);
	REQUIRE(ibv_resize_cq(p.cq, dev.attr.max_cqe + 1) == EINVAL);
	/* What is not polled must have room. */
	for (i = 0; i < 9; i++)
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.wr_id = i, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED }));
	usleep(300000);
	REQUIRE(ibv_resize_cq(p.cq, 8) == EINVAL);
	REQUIRE(!ibv_resize_cq(p.cq, 9) && p.cq->cqe >= 9);
	wait_wcs(p.cq, wc, 9);
	for (i = 0; i < 9; i++)
		REQUIRE(!wc[i].status && wc[i].wr_id == (uint64_t)i);
	REQUIRE(!ibv_resize_cq(p.cq, dev.attr.max_cqe) && p.cq->cqe >= dev.attr.max_cqe);

	/* Under traffic each completion comes once, in order. */
	REQUIRE(!pthread_create(&thread, NULL, resizer, p.cq));
	while (polled < posted || posted < WRITES || resizes < RESIZES) {
		while ((posted < WRITES || resizes < RESIZES) && posted - polled < 16) {
			REQUIRE(!post_send(p.a, (struct ibv_send_wr){
				.wr_id = posted, .opcode = IBV_WR_RDMA_WRITE,
				.send_flags = IBV_SEND_SIGNALED }));
			posted++;
		}
		n = ibv_poll_cq(p.cq, 16, wc);
		REQUIRE(n >= 0);
		for (i = 0; i < n; i++, polled++)
			REQUIRE(!wc[i].status && wc[i].wr_id == (uint64_t)polled);
	}
	ended = true;
	REQUIRE(!pthread_join(thread, NULL));
	no_wc(p.cq, 10);
	pair_free(&p);
}

static bool event(struct ibv_comp_channel *channel, int ms, struct ibv_cq **cq)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	void *context;

	if (poll(&fd, 1, ms) != 1)
		return false;
	REQUIRE(!ibv_get_cq_event(channel, cq, &context));
	ibv_ack_cq_events(*cq, 1);
	return true;
}

static void write_one(struct ibv_qp *qp)
{
	REQUIRE(!post_send(qp, (struct ibv_send_wr){
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }));
}

static struct ibv_qp *connected(struct ibv_cq *cq)
{
	struct ibv_qp *qp = qp_new(IBV_QPT_RC, cq, (struct ibv_qp_cap){ 16, 1, 1, 1, 0 });

	to_init(qp);
	to_rts(qp, qp->qp_num, PATIENT);
	return qp;
}

static int moderate(struct ibv_cq *cq, uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period },
	};

	return ibv_modify_cq(cq, &attr);
}

/* The event of one completion waits for the others, but no longer than the period. */
void test_cq_moderation(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.context);
	struct ibv_cq *cq = cq_new(64, channel), *from;
	struct ibv_qp *qp = connected(cq);
	double start;

	REQUIRE(!moderate(cq, 100, 60000));
	REQUIRE(!ibv_req_notify_cq(cq, 0));
	start = seconds();
	write_one(qp);
	REQUIRE(event(channel, 5000, &from) && from == cq);
	REQUIRE(seconds() - start >= 0.06);
	/* A count alone would keep the last completions for ever. */
	REQUIRE(moderate(cq, 2, 0) == EINVAL);
	REQUIRE(!moderate(cq, 0, 0));
	REQUIRE(!ibv_req_notify_cq(cq, 0));
	write_one(qp);
	REQUIRE(event(channel, 5000, &from) && from == cq);
	REQUIRE(!ibv_destroy_qp(qp));
	REQUIRE(!ibv_destroy_cq(cq));
	REQUIRE(!ibv_destroy_comp_channel(channel));
}

/* A queue on each vector: each event is of the queue that completed. */
void test_cq_vectors(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.context);
	int vectors = dev.context->num_comp_vectors, i, round;
	struct ibv_cq *cqs[64], *from;
	struct ibv_qp *qps[64];

	REQUIRE(vectors >= 2);
	if (vectors > 64)
		vectors = 64;
	for (i = 0; i < vectors; i++) {
		cqs[i] = ibv_create_cq(dev.context, 16, NULL, channel, i);
		REQUIRE(cqs[i]);
		qps[i] = connected(cqs[i]);
	}
	for (round = 0; round < 3; round++) {
		for (i = vectors - 1; i >= 0; i--) {
			REQUIRE(!ibv_req_notify_cq(cqs[i], 0));
			write_one(qps[i]);
			REQUIRE(event(channel, 5000, &from) && from == cqs[i]);
			REQUIRE(!wait_wc(cqs[i]).status);
		}
	}
	for (i = 0; i < vectors; i++) {
		REQUIRE(!ibv_destroy_qp(qps[i]));
		REQUIRE(!ibv_destroy_cq(cqs[i]));
	}
	REQUIRE(!ibv_destroy_comp_channel(channel));
}
