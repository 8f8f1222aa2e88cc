// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in guests: SEND, RDMA WRITE and RDMA READ of given sizes over one RC
 * queue pair, every byte compared, guard bytes before and after included.
 *
 * usage: rdma_check -d DEVICE -g GID-INDEX [-m PATH-MTU] [-p PORT] [-r ROUNDS]
 *                   [-k TIMEOUT] [SERVER] SIZE...
 *
 * Without SERVER (a name with a dot or colon) it is the server. Both sides must
 * be given the same sizes. In each round the client sends, writes and reads;
 * between the steps both meet on a TCP connection.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUARD		64
#define GUARD_BYTE	0xa5
#define MAX_SIZES	64
#define READS		8

struct peer {
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t reserved;
	uint64_t address;
	union ibv_gid gid;
};

struct check {
	const char *device;
	const char *server;
	const char *port;
	int gid_index;
	int mtu;
	int rounds;
	int timeout;
	size_t sizes[MAX_SIZES];
	int size_count;
	size_t size_max;

	int tcp;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buffer;	/* guard, data, guard */
	size_t buffer_size;
	struct peer own;
	struct peer other;
};

static void die(const char *what)
{
	fprintf(stderr, "rdma_check: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void wrong(const char *what, size_t size, size_t at, int got, int want)
{
	fprintf(stderr, "rdma_check: %s of %zu bytes: byte %zd is %02x, not %02x\n",
		what, size, (ssize_t)at, got, want);
	exit(2);
}

static uint8_t pattern(uint32_t seed, size_t i)
{
	uint32_t x = seed * 2654435761u + (uint32_t)i * 40503u;

	return (uint8_t)(x >> 13 ^ x >> 5);
}

static void fill(struct check *c, size_t size, uint32_t seed)
{
	size_t i;

	memset(c->buffer, GUARD_BYTE, c->buffer_size);
	for (i = 0; i < size; i++)
		c->buffer[GUARD + i] = pattern(seed, i);
}

static void compare(struct check *c, const char *what, size_t size, uint32_t seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (c->buffer[GUARD + i] != pattern(seed, i))
			wrong(what, size, i, c->buffer[GUARD + i], pattern(seed, i));
	for (i = 0; i < GUARD; i++)
		if (c->buffer[i] != GUARD_BYTE)
			wrong(what, size, i - GUARD, c->buffer[i], GUARD_BYTE);
	for (i = GUARD + size; i < c->buffer_size; i++)
		if (c->buffer[i] != GUARD_BYTE)
			wrong(what, size, i - GUARD, c->buffer[i], GUARD_BYTE);
}

static void connect_tcp(struct check *c)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found;
	int listener, one = 1, tries;

	if (getaddrinfo(c->server, c->port, &hints, &found))
		die("getaddrinfo");
	if (c->server) {
		for (tries = 0; tries < 200; tries++) {
			c->tcp = socket(found->ai_family, SOCK_STREAM, 0);
			if (!connect(c->tcp, found->ai_addr, found->ai_addrlen))
				break;
			close(c->tcp);
			c->tcp = -1;
			usleep(50000);
		}
		if (c->tcp < 0)
			die("connect");
	} else {
		listener = socket(found->ai_family, SOCK_STREAM, 0);
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(listener, found->ai_addr, found->ai_addrlen) || listen(listener, 1))
			die("listen");
		c->tcp = accept(listener, NULL, NULL);
		if (c->tcp < 0)
			die("accept");
		close(listener);
	}
	freeaddrinfo(found);
}

static void exchange(struct check *c, const void *out, void *in, size_t size)
{
	size_t done = 0;
	ssize_t n;

	if (write(c->tcp, out, size) != (ssize_t)size)
		die("write");
	while (done < size) {
		n = read(c->tcp, (uint8_t *)in + done, size - done);
		if (n <= 0)
			die("the other side went away");
		done += n;
	}
}

static void meet(struct check *c)
{
	char out = 'x', in;

	exchange(c, &out, &in, 1);
}

static void open_device(struct check *c)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), c->device))
			break;
	if (!list || !list[i]) {
		errno = ENODEV;
		die(c->device);
	}
	c->context = ibv_open_device(list[i]);
	if (!c->context)
		die("ibv_open_device");
	ibv_free_device_list(list);
}

static void make_objects(struct check *c)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = READS, .max_recv_wr = READS,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	c->pd = ibv_alloc_pd(c->context);
	c->cq = ibv_create_cq(c->context, 2 * READS, NULL, NULL, 0);
	if (!c->pd || !c->cq)
		die("ibv_alloc_pd, ibv_create_cq");
	c->buffer_size = c->size_max + 2 * GUARD;
	c->buffer = malloc(c->buffer_size);
	c->mr = c->buffer ? ibv_reg_mr(c->pd, c->buffer, c->buffer_size, access) : NULL;
	if (!c->mr)
		die("ibv_reg_mr");
	init.send_cq = c->cq;
	init.recv_cq = c->cq;
	c->qp = ibv_create_qp(c->pd, &init);
	if (!c->qp)
		die("ibv_create_qp");
	c->own.qpn = c->qp->qp_num;
	c->own.psn = getpid() * 2654435761u & 0xffffff;
	c->own.rkey = c->mr->rkey;
	c->own.address = (uintptr_t)c->buffer + GUARD;
	if (ibv_query_gid(c->context, 1, c->gid_index, &c->own.gid))
		die("ibv_query_gid");
}

static void connect_qp(struct check *c)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	if (ibv_modify_qp(c->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("INIT");
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = c->mtu == 256 ? IBV_MTU_256 : c->mtu == 512 ? IBV_MTU_512 :
			c->mtu == 1024 ? IBV_MTU_1024 : c->mtu == 2048 ? IBV_MTU_2048 :
			IBV_MTU_4096;
	attr.dest_qp_num = c->other.qpn;
	attr.rq_psn = c->other.psn;
	attr.max_dest_rd_atomic = READS;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = c->other.gid;
	attr.ah_attr.grh.sgid_index = c->gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.port_num = 1;
	if (ibv_modify_qp(c->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = c->timeout;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.sq_psn = c->own.psn;
	attr.max_rd_atomic = READS;
	if (ibv_modify_qp(c->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
}

static void complete(struct check *c, const char *what, size_t size, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(c->cq, 1, &wc);
	} while (!n);
	if (n < 0 || wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "rdma_check: %s of %zu bytes: %s\n", what, size,
			n < 0 ? "ibv_poll_cq" : ibv_wc_status_str(wc.status));
		exit(3);
	}
	if (wc.opcode != opcode || (opcode & IBV_WC_RECV && wc.byte_len != size)) {
		fprintf(stderr, "rdma_check: %s of %zu bytes: completion says %d, %u bytes\n",
			what, size, wc.opcode, wc.byte_len);
		exit(3);
	}
}

static void post_receive(struct check *c, size_t size)
{
	struct ibv_sge sge = { c->own.address, size, c->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = !!size }, *bad;

	if (ibv_post_recv(c->qp, &wr, &bad))
		die("ibv_post_recv");
}

static void post(struct check *c, enum ibv_wr_opcode opcode, size_t size)
{
	struct ibv_sge sge = { c->own.address, size, c->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = !!size, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	wr.wr.rdma.remote_addr = c->other.address;
	wr.wr.rdma.rkey = c->other.rkey;
	if (ibv_post_send(c->qp, &wr, &bad))
		die("ibv_post_send");
}

/* The client sends, then writes, then reads back what the server filled in. */
static void one_size(struct check *c, size_t size, uint32_t seed)
{
	if (c->server) {
		fill(c, size, seed);
		meet(c);
		post(c, IBV_WR_SEND, size);
		complete(c, "SEND", size, IBV_WC_SEND);
		meet(c);
		fill(c, size, seed + 1);
		meet(c);
		post(c, IBV_WR_RDMA_WRITE, size);
		complete(c, "WRITE", size, IBV_WC_RDMA_WRITE);
		meet(c);
		fill(c, 0, 0);
		meet(c);
		post(c, IBV_WR_RDMA_READ, size);
		complete(c, "READ", size, IBV_WC_RDMA_READ);
		compare(c, "READ", size, seed + 2);
		meet(c);
	} else {
		fill(c, 0, 0);
		post_receive(c, size);
		meet(c);
		complete(c, "received SEND", size, IBV_WC_RECV);
		compare(c, "received SEND", size, seed);
		meet(c);
		fill(c, 0, 0);
		meet(c);
		meet(c);
		compare(c, "received WRITE", size, seed + 1);
		fill(c, size, seed + 2);
		meet(c);
		meet(c);
		compare(c, "memory that was read", size, seed + 2);
	}
}

int main(int argc, char **argv)
{
	struct check c = { .port = "18600", .mtu = 1024, .rounds = 1, .timeout = 14 };
	int option, i, round;

	while ((option = getopt(argc, argv, "d:g:m:p:r:k:")) != -1) {
		switch (option) {
		case 'd':
			c.device = optarg;
			break;
		case 'g':
			c.gid_index = atoi(optarg);
			break;
		case 'm':
			c.mtu = atoi(optarg);
			break;
		case 'p':
			c.port = optarg;
			break;
		case 'r':
			c.rounds = atoi(optarg);
			break;
		case 'k':
			c.timeout = atoi(optarg);
			break;
		default:
			return 64;
		}
	}
	if (optind < argc && strpbrk(argv[optind], ".:"))
		c.server = argv[optind++];
	for (; optind < argc && c.size_count < MAX_SIZES; optind++) {
		c.sizes[c.size_count] = strtoull(argv[optind], NULL, 0);
		if (c.sizes[c.size_count] > c.size_max)
			c.size_max = c.sizes[c.size_count];
		c.size_count++;
	}
	if (!c.device || !c.size_count) {
		fprintf(stderr, "usage: rdma_check -d DEVICE -g GID-INDEX ... [SERVER] SIZE...\n");
		return 64;
	}
	open_device(&c);
	make_objects(&c);
	connect_tcp(&c);
	exchange(&c, &c.own, &c.other, sizeof(c.own));
	connect_qp(&c);
	meet(&c);
	for (round = 0; round < c.rounds; round++)
		for (i = 0; i < c.size_count; i++)
			one_size(&c, c.sizes[i], round * 1000 + i * 7 + 1);
	printf("rdma_check: %d sizes, %d rounds: all bytes right\n", c.size_count, c.rounds);
	ibv_destroy_qp(c.qp);
	ibv_dereg_mr(c.mr);
	ibv_destroy_cq(c.cq);
	ibv_dealloc_pd(c.pd);
	ibv_close_device(c.context);
	free(c.buffer);
	return 0;
}
