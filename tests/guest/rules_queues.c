// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: queues: limits, fullness, wraps, flushing, reset. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "verbs_rules.h"

const struct test tests[] = {
	{ "limits", test_limits },
	{ "full_queues", test_full_queues },
	{ "bad_requests", test_bad_requests },
	{ "inline", test_inline },
	{ "many_sges", test_many_sges },
	{ "unsignaled", test_unsignaled },
	{ "flush", test_flush },
	{ "reset", test_reset },
	{ "shared_cq", test_shared_cq },
	{ "threads", test_threads },
	{ "immediate", test_immediate },
	{ "fence", test_fence },
	{ "protection", test_protection },
	{ "rnr", test_rnr },
	{ "datagrams", test_datagrams },
	{ "multicast", test_multicast },
	{ "multicast_limits", test_multicast_limits },
	{ "large_region", test_large_region },
	{ "locked_memory", test_locked_memory },
	{ "dmabuf", test_dmabuf },
	{ "read_only", test_read_only },
	{ "atomics", test_atomics },
	{ "flush_rights", test_flush_rights },
	{ "atomic_errors", test_atomic_errors },
	{ "unreliable", test_unreliable },
	{ "windows", test_windows },
	{ "window_left", test_window_left },
	{ "dm_limits", test_dm_limits },
	{ "dm_copies", test_dm_copies },
	{ "dm_owners", test_dm_owners },
	{ "dm_mappings", test_dm_mappings },
	{ "dm_regions", test_dm_regions },
	{ "demand_changes", test_demand_changes },
	{ "demand_fork", test_demand_fork },
	{ "demand_traffic", test_demand_traffic },
	{ "demand_missing", test_demand_missing },
	{ "demand_advice", test_demand_advice },
	{ "next", test_next },
	{ "solicited", test_solicited },
	{ "many_events", test_many_events },
	{ "async", test_async },
	{ "cq_resize", test_cq_resize },
	{ "cq_moderation", test_cq_moderation },
	{ "cq_vectors", test_cq_vectors },
	{ "srq_limits", test_srq_limits },
	{ "srq_many", test_srq_many },
	{ "srq_shared", test_srq_shared },
	{ "srq_datagrams", test_srq_datagrams },
	{ "srq_unreliable", test_srq_unreliable },
	{ "srq_limit_event", test_srq_limit_event },
	{ "srq_last_wqe", test_srq_last_wqe },
	{ "srq_reset", test_srq_reset },
	{ "srq_resize", test_srq_resize },
	{ "xrc_messages", test_xrc_messages },
	{ "xrc_extended", test_xrc_extended },
	{ "xrc_refusals", test_xrc_refusals },
	{ "xrc_receives", test_xrc_receives },
	{ "xrc_limits", test_xrc_limits },
	{ "xrc_domains", test_xrc_domains },
	{ "xrc_processes", test_xrc_processes },
	{ "xrc_orphans", test_xrc_orphans },
	{ "xrc_receiver", xrc_receiver },
	{ "xrc_creator", xrc_creator },
	{ "raw_packets", test_raw_packets },
	{ "raw_sniffer", test_raw_sniffer },
	{ "raw_limits", test_raw_limits },
	{ "raw_refused", test_raw_refused },
	{ "raw_hashing", test_raw_hashing },
	{ "extended", test_extended },
	{ "domains", test_domains },
	{ NULL, NULL },
};

static bool can_create(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = type,
	};
	struct ibv_qp *qp = ibv_create_qp(dev.pd, &attr);

	if (!qp)
		return false;
	REQUIRE(attr.cap.max_send_wr >= cap.max_send_wr);
	REQUIRE(attr.cap.max_recv_wr >= cap.max_recv_wr);
	if (cap.max_send_wr) {
		REQUIRE(attr.cap.max_send_sge >= cap.max_send_sge);
		REQUIRE(attr.cap.max_inline_data >= cap.max_inline_data);
	}
	if (cap.max_recv_wr)
		REQUIRE(attr.cap.max_recv_sge >= cap.max_recv_sge);
	REQUIRE(!ibv_destroy_qp(qp));
	return true;
}

void test_limits(void)
{
	struct ibv_qp_cap all = {
		.max_send_wr = dev.attr.max_qp_wr, .max_recv_wr = dev.attr.max_qp_wr,
		.max_send_sge = dev.attr.max_sge, .max_recv_sge = dev.attr.max_sge,
	};
	const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UD };
	struct ibv_cq *cq = cq_new(dev.attr.max_cqe, NULL);
	unsigned int i;

	/* What applications count on. */
	REQUIRE(dev.attr.max_qp_wr >= 16384 && dev.attr.max_sge >= 16);
	REQUIRE(dev.attr.max_cq >= 32768 && dev.attr.max_qp >= 16384);
	REQUIRE(cq->cqe >= dev.attr.max_cqe);
	REQUIRE(!ibv_destroy_cq(cq));
	REQUIRE(!ibv_create_cq(dev.context, dev.attr.max_cqe + 1, NULL, NULL, 0));
	REQUIRE(!ibv_create_cq(dev.context, 0, NULL, NULL, 0));
	REQUIRE(!ibv_create_cq(dev.context, 1, NULL, NULL, dev.context->num_comp_vectors));
	cq = cq_new(1, NULL);
	for (i = 0; i < 2; i++) {
		struct ibv_qp_cap cap = all;

		REQUIRE(can_create(types[i], cq, cap));
		cap.max_send_wr++;
		REQUIRE(!can_create(types[i], cq, cap));
		cap = all;
		cap.max_recv_wr++;
		REQUIRE(!can_create(types[i], cq, cap));
		cap = all;
		cap.max_send_sge++;
		REQUIRE(!can_create(types[i], cq, cap));
		/* max_sge is the lesser of the two sides' limits. */
		cap = all;
		cap.max_recv_sge = 256;
		REQUIRE(!can_create(types[i], cq, cap));
		cap = all;
		cap.max_inline_data = 1 << 16;
		REQUIRE(!can_create(types[i], cq, cap));
		/* What inline data there may be, the largest queue holds too. */
		while (!can_create(types[i], cq, cap)) {
			cap.max_inline_data--;
			if (cap.max_inline_data > 1024)
				cap.max_inline_data = 1024;
		}
		REQUIRE(cap.max_inline_data >= 400);
		/* A side that is not used. */
		cap = all;
		cap.max_send_wr = 0;
		REQUIRE(can_create(types[i], cq, cap));
		cap = all;
		cap.max_recv_wr = 0;
		REQUIRE(can_create(types[i], cq, cap));
	}
	REQUIRE(!ibv_destroy_cq(cq));
}

/* As many requests of the largest shape as were promised, and one more. */
void test_full_queues(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 100, .max_recv_wr = 100, .max_send_sge = 7,
			 .max_recv_sge = 5 },
		.qp_type = IBV_QPT_RC,
	};
	struct buffer b = buffer_new(4096, 0);
	struct ibv_sge sges[64];
	struct ibv_recv_wr rwr = { .sg_list = sges }, *rbad;
	struct ibv_send_wr swr = { .sg_list = sges, .opcode = IBV_WR_SEND }, *sbad;
	struct ibv_cq *cq = cq_new(1024, NULL);
	struct ibv_wc wc;
	struct ibv_qp *qp[2];
	uint32_t i, round;

	for (i = 0; i < 64; i++)
		sges[i] = sge_of(&b, 4 * i, 4);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	for (i = 0; i < 2; i++) {
		qp[i] = ibv_create_qp(dev.pd, &attr);
		REQUIRE(qp[i] && attr.cap.max_send_sge <= 64 && attr.cap.max_recv_sge <= 64);
		to_init(qp[i]);
	}
	rwr.num_sge = attr.cap.max_recv_sge;
	for (i = 0; i < attr.cap.max_recv_wr; i++) {
		rwr.wr_id = i;
		REQUIRE(!ibv_post_recv(qp[1], &rwr, &rbad));
	}
	REQUIRE(ibv_post_recv(qp[1], &rwr, &rbad) == ENOMEM && rbad == &rwr);
	to_rts(qp[1], qp[0]->qp_num, PATIENT);
	to_rts(qp[0], qp[1]->qp_num, PATIENT);

	/* The receives of the first message stay to be used up, so that all wait. */
	swr.num_sge = attr.cap.max_recv_sge < attr.cap.max_send_sge ? attr.cap.max_recv_sge :
								       attr.cap.max_send_sge;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < attr.cap.max_send_wr; i++) {
			swr.send_flags = i == attr.cap.max_send_wr - 1 ? IBV_SEND_SIGNALED : 0;
			REQUIRE(!ibv_post_send(qp[0], &swr, &sbad));
		}
		REQUIRE(ibv_post_send(qp[0], &swr, &sbad) == ENOMEM && sbad == &swr);
		for (i = 0; i < attr.cap.max_send_wr + 1; i++) {
			wc = wait_wc(cq);
			REQUIRE(wc.status == IBV_WC_SUCCESS);
			if (wc.opcode == IBV_WC_RECV)
				REQUIRE(!ibv_post_recv(qp[1], &rwr, &rbad));
		}
	}
	for (i = 0; i < 2; i++)
		REQUIRE(!ibv_destroy_qp(qp[i]));
	REQUIRE(!ibv_destroy_cq(cq));
	buffer_free(&b);
}

void test_bad_requests(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 8, 8, 1, 1, 0 }, PATIENT);
	struct buffer b = buffer_new(4096, 0);
	struct ibv_sge sges[64];
	struct ibv_send_wr wr[3], *bad = NULL;
	struct ibv_recv_wr rwr = { .sg_list = sges, .num_sge = 64 }, *rbad = NULL;
	int i;

	for (i = 0; i < 64; i++)
		sges[i] = sge_of(&b, 0, 1);
	/* The second of three is wrong: the first is posted, the third is not. */
	memset(wr, 0, sizeof(wr));
	for (i = 0; i < 3; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	wr[1].sg_list = sges;
	wr[1].num_sge = 64;
	REQUIRE(ibv_post_send(p.a, wr, &bad) == EINVAL && bad == &wr[1]);
	REQUIRE(wait_wc(p.cq).wr_id == 0);
	no_wc(p.cq, 50);
	wr[1].num_sge = 0;
	wr[1].opcode = IBV_WR_TSO;
	REQUIRE(ibv_post_send(p.a, &wr[1], &bad) == EINVAL && bad == &wr[1]);
	wr[1].opcode = (enum ibv_wr_opcode)0x1000;
	REQUIRE(ibv_post_send(p.a, &wr[1], &bad) == EINVAL);
	REQUIRE(ibv_post_recv(p.b, &rwr, &rbad) == EINVAL && rbad == &rwr);
	no_wc(p.cq, 50);
	pair_free(&p);
	buffer_free(&b);
}

/* All lengths, in two pieces, around the ring many times. */
void test_inline(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 13, 16, 2, 1, 400 }, .qp_type = IBV_QPT_RC,
	};
	struct buffer to = buffer_new(1024, IBV_ACCESS_REMOTE_WRITE);
	struct ibv_cq *cq = cq_new(64, NULL);
	uint8_t from[1024];
	struct ibv_qp *a, *b;
	uint32_t length;

	attr.send_cq = cq;
	attr.recv_cq = cq;
	a = ibv_create_qp(dev.pd, &attr);
	b = qp_new(IBV_QPT_RC, cq, (struct ibv_qp_cap){ 1, 1, 1, 1, 0 });
	REQUIRE(a);
	to_init(a);
	to_init(b);
	to_rts(a, b->qp_num, PATIENT);
	to_rts(b, a->qp_num, PATIENT);
	for (length = 0; length <= attr.cap.max_inline_data; length++) {
		struct ibv_sge sges[2] = {
			{ (uintptr_t)from, length / 3, 0 },
			{ (uintptr_t)from + length / 3, length - length / 3, 0 },
		};
		struct ibv_send_wr wr = {
			.wr_id = length, .sg_list = sges, .num_sge = 2,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
			.wr.rdma = { (uintptr_t)to.data, to.mr->rkey },
		};
		struct ibv_wc wc;

		fill(from, sizeof(from), length);
		memset(to.data, 0xa5, to.size);
		REQUIRE(!post_send(a, wr));
		/* Posted is copied. */
		memset(from, 0, sizeof(from));
		wc = wait_wc(cq);
		REQUIRE(wc.status == IBV_WC_SUCCESS && wc.wr_id == length);
		fill(from, sizeof(from), length);
		REQUIRE(!memcmp(to.data, from, length));
		REQUIRE(to.data[length] == 0xa5);
		if (length == attr.cap.max_inline_data) {
			sges[1].length++;
			REQUIRE(post_send(a, wr) == EINVAL);
		}
	}
	REQUIRE(!ibv_destroy_qp(a));
	REQUIRE(!ibv_destroy_qp(b));
	REQUIRE(!ibv_destroy_cq(cq));
	buffer_free(&to);
}

/* As many SGEs as there may be, of odd sizes, empty ones among them, on both sides. */
void test_many_sges(void)
{
	uint32_t count = dev.attr.max_sge, i, round;
	struct pair p = pair_new((struct ibv_qp_cap){ 5, 5, count, count, 0 }, PATIENT);
	struct buffer from = buffer_new(1 << 16, 0), to = buffer_new(1 << 16, 0);
	struct ibv_sge out[count], in[count];

	for (round = 0; round < 20; round++) {
		size_t sent = 0, room = 0;
		struct ibv_wc wc[2];

		fill(from.data, from.size, round);
		memset(to.data, 0, to.size);
		for (i = 0; i < count; i++) {
			out[i] = sge_of(&from, sent, (i * 37 + round) % 200);
			sent += out[i].length;
			in[i] = sge_of(&to, room, (i * 53 + 7 * round) % 260);
			room += in[i].length;
		}
		in[count - 1] = sge_of(&to, room, to.size - room);
		REQUIRE(!post_recv(p.b, 1, in, count));
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.sg_list = out, .num_sge = count, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED }));
		wait_wcs(p.cq, wc, 2);
		for (i = 0; i < 2; i++) {
			REQUIRE(wc[i].status == IBV_WC_SUCCESS);
			if (wc[i].opcode == IBV_WC_RECV)
				REQUIRE(wc[i].byte_len == sent);
		}
		REQUIRE(!memcmp(from.data, to.data, sent));
		REQUIRE(!to.data[sent]);
	}
	pair_free(&p);
	buffer_free(&from);
	buffer_free(&to);
}

void test_unsignaled(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 64, 1, 1, 1, 0 }, PATIENT);
	struct buffer b = buffer_new(4096, IBV_ACCESS_REMOTE_WRITE);
	struct ibv_sge sge = sge_of(&b, 0, 8);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)b.data + 64, b.mr->rkey },
	};
	int i, round;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < 60; i++) {
			wr.wr_id = round * 100 + i;
			wr.send_flags = i == 20 + round % 20 || i == 59 ? IBV_SEND_SIGNALED : 0;
			REQUIRE(!post_send(p.a, wr));
		}
		REQUIRE(wait_wc(p.cq).wr_id == (uint64_t)round * 100 + 20 + round % 20);
		REQUIRE(wait_wc(p.cq).wr_id == (uint64_t)round * 100 + 59);
		REQUIRE(ibv_poll_cq(p.cq, 1, &(struct ibv_wc){ 0 }) == 0);
	}
	pair_free(&p);
	buffer_free(&b);
}

/* Whatever is posted before and in ERR is flushed, once, in order, signaled or not. */
void test_flush(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 40, 40, 3, 3, 0 }, PATIENT);
	struct buffer b = buffer_new(4096, 0);
	struct ibv_sge sges[3] = { sge_of(&b, 0, 4), sge_of(&b, 4, 4), sge_of(&b, 8, 4) };
	uint64_t next_send = 1, next_recv = 101;
	int i;

	/* B has no receive: A's sends wait in RNR. */
	for (i = 0; i < 10; i++)
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.wr_id = 1 + i, .sg_list = sges, .num_sge = i % 4,
			.opcode = IBV_WR_SEND }));
	for (i = 0; i < 10; i++)
		REQUIRE(!post_recv(p.a, 101 + i, sges, i % 4));
	to_state(p.a, IBV_QPS_ERR);
	for (i = 10; i < 20; i++) {
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.wr_id = 1 + i, .sg_list = sges, .num_sge = i % 4,
			.opcode = IBV_WR_SEND }));
		REQUIRE(!post_recv(p.a, 101 + i, sges, i % 4));
	}
	for (i = 0; i < 40; i++) {
		struct ibv_wc wc = wait_wc(p.cq);

		REQUIRE(wc.status == IBV_WC_WR_FLUSH_ERR && wc.qp_num == p.a->qp_num);
		if (wc.wr_id < 100)
			REQUIRE(wc.wr_id == next_send++);
		else
			REQUIRE(wc.wr_id == next_recv++);
	}
	no_wc(p.cq, 100);
	/* Nothing else is there to be looked at: late posts are noticed all the same. */
	REQUIRE(!post_send(p.a, (struct ibv_send_wr){ .wr_id = 77, .opcode = IBV_WR_SEND }));
	REQUIRE(wait_wc(p.cq).wr_id == 77);
	REQUIRE(!post_recv(p.a, 78, NULL, 0));
	REQUIRE(wait_wc(p.cq).wr_id == 78);
	REQUIRE(state_of(p.a) == IBV_QPS_ERR);
	pair_free(&p);
	buffer_free(&b);
}

/* RESET forgets all, and a second life is like the first. */
void test_reset(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 8, 8, 1, 1, 0 }, PATIENT);
	struct buffer b = buffer_new(4096, 0);
	struct ibv_sge from = sge_of(&b, 0, 100), to = sge_of(&b, 200, 100);
	struct ibv_recv_wr rwr = { .sg_list = &to, .num_sge = 1 }, *rbad;
	int i, round;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < 5; i++) {
			struct ibv_wc wc[2];

			fill(b.data, 100, round * 10 + i);
			memset(b.data + 200, 0, 100);
			REQUIRE(!post_recv(p.b, 1, &to, 1));
			REQUIRE(!post_send(p.a, (struct ibv_send_wr){
				.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
				.send_flags = IBV_SEND_SIGNALED }));
			wait_wcs(p.cq, wc, 2);
			REQUIRE(!wc[0].status && !wc[1].status);
			REQUIRE(!memcmp(b.data, b.data + 200, 100));
		}
		/* Left in the queues and in the CQ: to be forgotten. */
		REQUIRE(!post_recv(p.b, 2, &to, 1));
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED }));
		usleep(50000);
		REQUIRE(!post_recv(p.b, 3, &to, 1));
		if (round % 2)
			to_state(p.b, IBV_QPS_ERR);
		to_state(p.a, IBV_QPS_RESET);
		to_state(p.b, IBV_QPS_RESET);
		no_wc(p.cq, 20);
		REQUIRE(ibv_post_recv(p.b, &rwr, &rbad) == EINVAL && rbad == &rwr);
		REQUIRE(post_send(p.a, (struct ibv_send_wr){ .opcode = IBV_WR_SEND }) == EINVAL);
		to_init(p.a);
		to_init(p.b);
		to_rts(p.a, p.b->qp_num, PATIENT);
		to_rts(p.b, p.a->qp_num, PATIENT);
	}
	pair_free(&p);
	buffer_free(&b);
}

/* The completions of a queue pair that is destroyed go, those of others stay. */
void test_shared_cq(void)
{
	struct ibv_cq *cq = cq_new(64, NULL);
	struct ibv_qp_cap cap = { 8, 8, 1, 1, 0 };
	int i, round;

	for (round = 0; round < 20; round++) {
		struct ibv_qp *qps[4];
		struct ibv_wc wc;

		for (i = 0; i < 4; i++) {
			qps[i] = qp_new(IBV_QPT_RC, cq, cap);
			to_init(qps[i]);
		}
		for (i = 0; i < 4; i++)
			to_rts(qps[i], qps[i ^ 1]->qp_num, PATIENT);
		for (i = 0; i < 12; i++)
			REQUIRE(!post_send(qps[i % 4], (struct ibv_send_wr){
				.wr_id = i, .opcode = IBV_WR_RDMA_WRITE,
				.send_flags = IBV_SEND_SIGNALED }));
		usleep(30000);
		REQUIRE(!ibv_destroy_qp(qps[0]));
		REQUIRE(!ibv_destroy_qp(qps[2]));
		for (i = 0; i < 6; i++) {
			wc = wait_wc(cq);
			REQUIRE(!wc.status && wc.wr_id % 2 == 1);
			REQUIRE(wc.qp_num == qps[wc.wr_id % 4]->qp_num);
		}
		no_wc(cq, 1);
		REQUIRE(!ibv_destroy_qp(qps[1]));
		REQUIRE(!ibv_destroy_qp(qps[3]));
	}
	REQUIRE(!ibv_destroy_cq(cq));
}

#define THREADS		3
#define POSTS		1500

struct worker {
	struct pair *pair;
	atomic_int *seen;	/* by wr_id */
	atomic_int *completed;
	int first;		/* wr_id */
};

static void take_completions(struct worker *w)
{
	struct ibv_wc wc[3];
	int n = ibv_poll_cq(w->pair->cq, 3, wc), i;

	REQUIRE(n >= 0);
	for (i = 0; i < n; i++) {
		REQUIRE(!wc[i].status && wc[i].wr_id < THREADS * POSTS);
		w->seen[wc[i].wr_id]++;
	}
	*w->completed += n;
}

static void *post_and_poll(void *argument)
{
	struct worker *w = argument;
	int posted = 0, ret;

	while (posted < POSTS) {
		ret = post_send(w->pair->a, (struct ibv_send_wr){
			.wr_id = w->first + posted, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED });
		REQUIRE(!ret || ret == ENOMEM);
		posted += !ret;
		if (ret)
			take_completions(w);
	}
	while (*w->completed < THREADS * POSTS)
		take_completions(w);
	return NULL;
}

/* Threads post to one queue pair and poll one CQ: each request completes once. */
void test_threads(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 16, 1, 1, 1, 0 }, PATIENT);
	static atomic_int seen[THREADS * POSTS], completed;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ &p, seen, &completed, i * POSTS };
		REQUIRE(!pthread_create(&threads[i], NULL, post_and_poll, &workers[i]));
	}
	for (i = 0; i < THREADS; i++)
		REQUIRE(!pthread_join(threads[i], NULL));
	for (i = 0; i < THREADS * POSTS; i++)
		REQUIRE(seen[i] == 1);
	pair_free(&p);
}
