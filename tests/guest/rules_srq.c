// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: shared receive queues. */
#include <errno.h>
#include <string.h>

#include "verbs_rules.h"

#define ENTRIES	16
#define SLOT	4096

/* One sender to each of two receivers, which share a queue. */
struct shared {
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp *from[2], *to[2];
	struct buffer out, in;
};

static struct ibv_srq *srq_new(uint32_t entries, uint32_t sges)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = entries, .max_sge = sges } };
	struct ibv_srq *srq = ibv_create_srq(dev.pd, &attr);

	REQUIRE(!srq || (attr.attr.max_wr >= entries && attr.attr.max_sge >= sges));
	return srq;
}

static struct ibv_qp *qp_on(enum ibv_qp_type type, struct ibv_cq *send_cq,
			    struct ibv_cq *recv_cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = send_cq, .recv_cq = recv_cq, .srq = srq, .qp_type = type,
		.cap = { .max_send_wr = 64, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(dev.pd, &attr);

	REQUIRE(qp);
	return qp;
}

static struct shared shared_new(void)
{
	struct shared s = {
		.send_cq = cq_new(256, NULL), .recv_cq = cq_new(256, NULL),
		.srq = srq_new(ENTRIES, 1),
		.out = buffer_new(256 * SLOT, 0), .in = buffer_new(256 * SLOT, 0),
	};
	int i;

	REQUIRE(s.srq);
	fill(s.out.data, s.out.size, 3);
	for (i = 0; i < 2; i++) {
		s.from[i] = qp_on(IBV_QPT_RC, s.send_cq, s.send_cq, NULL);
		s.to[i] = qp_on(IBV_QPT_RC, s.send_cq, s.recv_cq, s.srq);
		to_init(s.from[i]);
		to_init(s.to[i]);
		to_rts(s.from[i], s.to[i]->qp_num, PATIENT);
		to_rts(s.to[i], s.from[i]->qp_num, PATIENT);
	}
	return s;
}

static void shared_free(struct shared *s)
{
	int i;

	/* In use. */
	REQUIRE(ibv_destroy_srq(s->srq) == EBUSY);
	for (i = 0; i < 2; i++) {
		REQUIRE(!ibv_destroy_qp(s->from[i]));
		REQUIRE(!ibv_destroy_qp(s->to[i]));
	}
	REQUIRE(!ibv_destroy_srq(s->srq));
	REQUIRE(!ibv_destroy_cq(s->send_cq));
	REQUIRE(!ibv_destroy_cq(s->recv_cq));
	buffer_free(&s->out);
	buffer_free(&s->in);
}

/* The cookie is the slot of the buffer. */
static int post(struct shared *s, uint64_t slot)
{
	struct ibv_sge sge = sge_of(&s->in, slot * SLOT, SLOT);
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;
	int ret = ibv_post_srq_recv(s->srq, &wr, &bad);

	REQUIRE(!ret || bad == &wr);
	return ret;
}

static void send_to(struct shared *s, int to, size_t offset, size_t length)
{
	struct ibv_sge sge = sge_of(&s->out, offset, length);

	REQUIRE(!post_send(s->from[to], (struct ibv_send_wr){
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED }));
}

void test_srq_limits(void)
{
	struct ibv_srq *srq;

	REQUIRE(dev.attr.max_srq >= 4096 && dev.attr.max_srq_wr >= 16384);
	REQUIRE(dev.attr.max_srq_sge >= 16);
	srq = srq_new(dev.attr.max_srq_wr, dev.attr.max_srq_sge);
	REQUIRE(srq);
	REQUIRE(!ibv_destroy_srq(srq));
	REQUIRE(!srq_new(dev.attr.max_srq_wr + 1, 1) && errno == EINVAL);
	REQUIRE(!srq_new(1, dev.attr.max_srq_sge + 1) && errno == EINVAL);
	REQUIRE(!srq_new(0, 1) && errno == EINVAL);
	/* Without elements, the smallest. */
	srq = srq_new(1, 0);
	REQUIRE(srq);
	REQUIRE(!ibv_destroy_srq(srq));
}

void test_srq_many(void)
{
	static struct ibv_srq *srqs[4096];
	int i;

	for (i = 0; i < 4096; i++) {
		srqs[i] = srq_new(1, 1);
		REQUIRE(srqs[i]);
	}
	for (i = 0; i < 4096; i++)
		REQUIRE(!ibv_destroy_srq(srqs[i]));
}

void test_srq_shared(void)
{
	struct shared s = shared_new();
	int lap, i, messages = 0;

	for (lap = 0; lap < 20; lap++) {
		bool seen[ENTRIES] = { false };

		for (i = 0; i < ENTRIES; i++)
			REQUIRE(!post(&s, i));
		REQUIRE(post(&s, 0) == ENOMEM);
		for (i = 0; i < ENTRIES; i++)
			send_to(&s, (messages + i) % 3 == 0, i * 64, 17 * i + lap);
		for (i = 0; i < ENTRIES; i++) {
			struct ibv_wc wc = wait_wc(s.recv_cq);
			size_t offset = (wc.byte_len - lap) / 17 * 64;

			REQUIRE(!wc.status && wc.opcode == IBV_WC_RECV);
			REQUIRE(wc.wr_id < ENTRIES && !seen[wc.wr_id]);
			seen[wc.wr_id] = true;
			REQUIRE(wc.qp_num == s.to[(messages + offset / 64) % 3 == 0]->qp_num);
			REQUIRE(!memcmp(s.in.data + wc.wr_id * SLOT, s.out.data + offset,
					wc.byte_len));
			REQUIRE(!wait_wc(s.send_cq).status);
		}
		messages += ENTRIES;
	}
	/* It has no receive queue of its own. */
	REQUIRE(post_recv(s.to[0], 0, NULL, 0));
	shared_free(&s);
}

void test_srq_datagrams(void)
{
	struct ibv_cq *cq = cq_new(64, NULL);
	struct ibv_srq *srq = srq_new(4, 1);
	struct ibv_qp *from = qp_on(IBV_QPT_UD, cq, cq, NULL);
	struct ibv_qp *to = qp_on(IBV_QPT_UD, cq, cq, srq);
	struct buffer b = buffer_new(4096, 0);
	struct ibv_sge in = sge_of(&b, 2048, 1000), out = sge_of(&b, 0, 100);
	struct ibv_recv_wr wr = { .wr_id = 77, .sg_list = &in, .num_sge = 1 }, *bad;
	struct ibv_ah_attr ah_attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = dev.gid, .sgid_index = dev.gid_index, .hop_limit = 64 },
	};
	struct ibv_ah *ah = ibv_create_ah(dev.pd, &ah_attr);
	struct ibv_wc wc;
	int i, received = 0;

	REQUIRE(ah && srq);
	fill(b.data, 100, 9);
	to_init(from);
	to_init(to);
	to_rts(from, 0, PATIENT);
	to_rts(to, 0, PATIENT);
	REQUIRE(!ibv_post_srq_recv(srq, &wr, &bad));
	REQUIRE(!post_send(from, (struct ibv_send_wr){
		.sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = to->qp_num, .remote_qkey = QKEY } }));
	for (i = 0; i < 2; i++) {
		wc = wait_wc(cq);
		REQUIRE(!wc.status);
		if (wc.opcode != IBV_WC_RECV)
			continue;
		REQUIRE(wc.wr_id == 77 && wc.byte_len == 140 && wc.src_qp == from->qp_num);
		received++;
	}
	REQUIRE(received == 1 && !memcmp(b.data + 2048 + 40, b.data, 100));
	REQUIRE(!ibv_destroy_ah(ah));
	REQUIRE(!ibv_destroy_qp(from));
	REQUIRE(!ibv_destroy_qp(to));
	REQUIRE(!ibv_destroy_srq(srq));
	REQUIRE(!ibv_destroy_cq(cq));
	buffer_free(&b);
}

/*
 * Unreliable connections take from it, too. What finds no entry is lost, and one
 * that a broken message had is the next one's.
 */
void test_srq_unreliable(void)
{
	struct ibv_cq *send_cq = cq_new(64, NULL), *cq = cq_new(64, NULL);
	struct shared s = { .srq = srq_new(ENTRIES, 1), .in = buffer_new(ENTRIES * SLOT, 0),
			    .out = buffer_new(ENTRIES * SLOT, 0) };
	struct ibv_wc wc;
	int i, lap;

	REQUIRE(s.srq);
	fill(s.out.data, s.out.size, 4);
	for (i = 0; i < 2; i++) {
		s.from[i] = qp_on(IBV_QPT_UC, send_cq, send_cq, NULL);
		s.to[i] = qp_on(IBV_QPT_UC, send_cq, cq, s.srq);
		to_init(s.from[i]);
		to_init(s.to[i]);
		to_rts(s.from[i], s.to[i]->qp_num, PATIENT);
		to_rts(s.to[i], s.from[i]->qp_num, PATIENT);
	}
	/* Nothing is posted: nobody hears of it. */
	send_to(&s, 0, 0, 3000);
	REQUIRE(!wait_wc(send_cq).status);
	no_wc(cq, 50);
	for (lap = 0; lap < 3; lap++) {
		for (i = 0; i < ENTRIES; i++)
			REQUIRE(!post(&s, i));
		REQUIRE(post(&s, 0) == ENOMEM);
		for (i = 0; i < ENTRIES; i++) {
			send_to(&s, i % 3 & 1, 64 * i, 250 * i);
			wc = wait_wc(cq);
			REQUIRE(!wc.status && wc.wr_id == (uint64_t)i && wc.opcode == IBV_WC_RECV);
			REQUIRE(wc.qp_num == s.to[i % 3 & 1]->qp_num);
			REQUIRE(wc.byte_len == 250U * i);
			REQUIRE(!memcmp(s.in.data + i * SLOT, s.out.data + 64 * i, 250 * i));
			REQUIRE(!wait_wc(send_cq).status);
		}
	}
	/* Too long a message is dropped; its entry serves the next one of its queue pair. */
	for (i = 0; i < 2; i++)
		REQUIRE(!post(&s, i));
	send_to(&s, 0, 0, SLOT + 1);
	REQUIRE(!wait_wc(send_cq).status);
	no_wc(cq, 50);
	send_to(&s, 0, 100, 70);
	wc = wait_wc(cq);
	REQUIRE(!wc.status && wc.wr_id == 0 && wc.byte_len == 70);
	REQUIRE(state_of(s.to[0]) == IBV_QPS_RTS);
	/* What is posted stays for the other when one fails. */
	to_state(s.to[0], IBV_QPS_ERR);
	REQUIRE(expect_async(IBV_EVENT_QP_LAST_WQE_REACHED).element.qp == s.to[0]);
	no_wc(cq, 50);
	send_to(&s, 1, 200, 4000);
	wc = wait_wc(cq);
	REQUIRE(!wc.status && wc.wr_id == 1 && wc.qp_num == s.to[1]->qp_num);
	s.send_cq = send_cq;
	s.recv_cq = cq;
	shared_free(&s);
}

void test_srq_limit_event(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct shared s = shared_new();
	int i;

	for (i = 0; i < 5; i++)
		REQUIRE(!post(&s, i));
	REQUIRE(!ibv_modify_srq(s.srq, &attr, IBV_SRQ_LIMIT));
	REQUIRE(!ibv_query_srq(s.srq, &attr));
	REQUIRE(attr.srq_limit == 3 && attr.max_wr >= ENTRIES && attr.max_sge >= 1);
	for (i = 0; i < 3; i++)
		send_to(&s, 0, 0, 10);
	REQUIRE(expect_async(IBV_EVENT_SRQ_LIMIT_REACHED).element.srq == s.srq);
	REQUIRE(!ibv_query_srq(s.srq, &attr) && attr.srq_limit == 0);
	attr.srq_limit = attr.max_wr + 1;
	REQUIRE(ibv_modify_srq(s.srq, &attr, IBV_SRQ_LIMIT) == EINVAL);
	shared_free(&s);
}

void test_srq_last_wqe(void)
{
	struct shared s = shared_new();
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 4; i++)
		REQUIRE(!post(&s, i));
	to_state(s.to[0], IBV_QPS_ERR);
	REQUIRE(expect_async(IBV_EVENT_QP_LAST_WQE_REACHED).element.qp == s.to[0]);
	/* What is posted stays for the other. */
	no_wc(s.recv_cq, 100);
	for (i = 0; i < 4; i++) {
		send_to(&s, 1, i * 100, 50);
		wc = wait_wc(s.recv_cq);
		REQUIRE(!wc.status && wc.wr_id == (uint64_t)i && wc.qp_num == s.to[1]->qp_num);
	}
	/* A message too long is one queue pair's error. */
	REQUIRE(!post(&s, 7));
	REQUIRE(!post(&s, 8));
	send_to(&s, 1, 0, SLOT + 1);
	wc = wait_wc(s.recv_cq);
	REQUIRE(wc.status == IBV_WC_LOC_LEN_ERR && wc.wr_id == 7);
	REQUIRE(expect_async(IBV_EVENT_QP_LAST_WQE_REACHED).element.qp == s.to[1]);
	/* What a queue pair leaves in the CQ when it is reset is free again. */
	for (i = 0; i < ENTRIES - 1; i++)
		REQUIRE(!post(&s, i));
	REQUIRE(post(&s, 0) == ENOMEM);
	shared_free(&s);
}

/* Completions that nobody polls vanish with their queue pair; their entries do not. */
void test_srq_reset(void)
{
	struct shared s = shared_new();
	int lap, i;

	for (lap = 0; lap < 3; lap++) {
		for (i = 0; i < ENTRIES; i++)
			REQUIRE(!post(&s, i));
		REQUIRE(post(&s, 0) == ENOMEM);
		for (i = 0; i < ENTRIES; i++)
			send_to(&s, 0, i, 10);
		for (i = 0; i < ENTRIES; i++)
			REQUIRE(!wait_wc(s.send_cq).status);
		to_state(s.to[0], IBV_QPS_RESET);
		no_wc(s.recv_cq, 10);
		to_init(s.to[0]);
		to_rts(s.to[0], s.from[0]->qp_num, PATIENT);
		to_state(s.from[0], IBV_QPS_RESET);
		to_init(s.from[0]);
		to_rts(s.from[0], s.to[0]->qp_num, PATIENT);
	}
	shared_free(&s);
}

/* Larger and smaller under traffic: nothing is lost, nothing comes twice. */
void test_srq_resize(void)
{
	static const uint32_t sizes[] = { 64, 32, 256, 128, 32 };
	struct shared s = shared_new();
	int round, i, sent = 0, seen = 0, posted = 0;
	struct ibv_srq_attr attr = { 0 };
	bool busy[256] = { false };
	struct ibv_wc wc;

	for (i = 0; i < ENTRIES; i++, posted++) {
		REQUIRE(!post(&s, i));
		busy[i] = true;
	}
	/* There is no room for these in less. */
	attr.max_wr = ENTRIES / 2;
	REQUIRE(ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);
	attr.max_wr = dev.attr.max_srq_wr + 1;
	REQUIRE(ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);
	for (round = 0; round < 50; round++) {
		/* Some on their way. */
		for (i = 0; i < 8 && sent < posted; i++, sent++)
			send_to(&s, i & 1, sent % 100, 100);
		attr.max_wr = sizes[round % 5];
		REQUIRE(!ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR));
		REQUIRE(!ibv_query_srq(s.srq, &attr) && attr.max_wr == sizes[round % 5]);
		while (seen < sent) {
			wc = wait_wc(s.recv_cq);
			REQUIRE(!wc.status && wc.byte_len == 100 && busy[wc.wr_id]);
			busy[wc.wr_id] = false;
			REQUIRE(!wait_wc(s.send_cq).status);
			seen++;
		}
		for (i = 0; posted - seen < (int)sizes[round % 5] && posted - seen < 24; i++) {
			if (busy[i])
				continue;
			REQUIRE(!post(&s, i));
			busy[i] = true;
			posted++;
		}
	}
	while (posted - seen < 32) {
		REQUIRE(!post(&s, 200));
		posted++;
	}
	REQUIRE(post(&s, 201) == ENOMEM);
	shared_free(&s);
}
