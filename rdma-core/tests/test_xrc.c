// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tests of XRC: what an initiator posts, and whose a target's completions are. */
#include <errno.h>

#include "bench.h"
#include "xrc.h"

#define SRQN	0x2345
#define OTHER	0x2346
#define TARGET	0xabcd		/* nobody's here */
#define TAGS	4

/* Two SRQs, each with all of its tags taken; cookies are 100 and on, 200 and on. */
struct srqs {
	struct bench *b;
	struct tern_srq srqs[2];
	struct tern_tag tags[2][TAGS];
};

static struct bench *initiator_new(void)
{
	struct bench *b = bench_new(false);

	b->qp.base.qp.qp_type = IBV_QPT_XRC_SEND;
	b->qp.base.qp.recv_cq = NULL;
	b->qp.sq.ops = tern_xrc_ops;
	return b;
}

static struct srqs *srqs_new(void)
{
	struct srqs *s = calloc(1, sizeof(*s));
	uint32_t i, tag;

	if (!s)
		abort();
	s->b = bench_new(false);
	for (i = 0; i < 2; i++) {
		struct tern_srq *srq = &s->srqs[i];

		srq->base.srq_type = IBV_SRQT_XRC;
		srq->base.cq = &s->b->cq.base.cq;
		srq->srqn = SRQN + i;
		srq->tags = s->tags[i];
		srq->tag_count = TAGS;
		srq->outstanding = TAGS;
		srq->free_tag = UINT32_MAX;
		for (tag = 0; tag < TAGS; tag++)
			srq->tags[tag] = (struct tern_tag){ .wr_id = 100 * (i + 1) + tag,
							    .taken = true };
		CHECK(tern_xrc_srq_reserve(&s->b->ctx, srq->srqn) == 0);
		tern_xrc_srq_set(&s->b->ctx, srq->srqn, srq);
	}
	return s;
}

static void srqs_free(struct srqs *s)
{
	tern_xrc_srqs_free(&s->b->ctx);
	free(s->b);
	free(s);
}

static struct tern_cqe received(uint32_t srqn, uint32_t tag)
{
	return (struct tern_cqe){
		.opcode = TERN_CQE_RECEIVE, .flags = TERN_CQE_FLAG_XRC,
		.srqn = htole32(srqn), .index = htole32(tag), .byte_count = htole32(9),
	};
}

/* An initiator has all of RC's operations but for windows, and names an SRQ in each. */
static void test_initiator(void)
{
	struct ibv_sge sge = { 0x1122334455667788, 8, 7 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(0x01020304),
		.wr.atomic = { .remote_addr = 0x8877665544332211, .rkey = 0xabcd,
			       .compare_add = 1, .swap = 2 },
		.qp_type.xrc.remote_srqn = 0x00123456,
	}, *bad;
	static const uint8_t number[4] = { 0x56, 0x34, 0x12, 0 }, none[4];
	struct bench *b;
	int opcode;

	for (opcode = 0; opcode < TERN_SEND_OPS; opcode++) {
		struct bench *rc = bench_new(false), *xrc = initiator_new();
		int ret;

		wr.opcode = opcode;
		ret = tern_post_send(&xrc->qp.base.qp, &wr, &bad);
		CHECK(ret == tern_post_send(&rc->qp.base.qp, &wr, &bad));
		CHECK(xrc->sq_record.index == rc->sq_record.index);
		if (!ret) {
			CHECK(!memcmp(xrc->sq + 12, number, 4) && !memcmp(rc->sq + 12, none, 4));
			memset(xrc->sq + 12, 0, 4);
		}
		CHECK(!memcmp(xrc->sq, rc->sq, sizeof(rc->sq)));
		free(rc);
		free(xrc);
	}
	/* What is no number, the device is to see, and refuses. */
	wr.opcode = IBV_WR_SEND;
	wr.qp_type.xrc.remote_srqn = 0xff123456;
	b = initiator_new();
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0 && b->sq[15] == 0xff);
	/* Keys of the own side have nothing to do with an SRQ. */
	wr.opcode = IBV_WR_LOCAL_INV;
	wr.num_sge = 0;
	wr.invalidate_rkey = 5;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	CHECK(b->sq[64] == TERN_WQE_LOCAL_INVALIDATE && !memcmp(b->sq + 64 + 12, none, 4));
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {};
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	free(b);
}

static void test_initiator_ex(void)
{
	struct bench *classic = initiator_new(), *modern = initiator_new();
	struct ibv_qp_ex *ex = &modern->qp.base.qp_ex;
	struct ibv_sge sge = { 0x1000, 100, 7 };
	struct ibv_send_wr wr[2] = {
		{ .wr_id = 1, .next = &wr[1], .opcode = IBV_WR_SEND, .sg_list = &sge,
		  .num_sge = 1, .qp_type.xrc.remote_srqn = SRQN },
		{ .wr_id = 2, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		  .wr.rdma = { .remote_addr = 0x99, .rkey = 0xef },
		  .qp_type.xrc.remote_srqn = OTHER },
	}, *bad;

	CHECK(tern_wr_init(&modern->qp, IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_BIND_MW, 0) ==
	      EOPNOTSUPP);
	CHECK(tern_wr_init(&modern->qp, IBV_QPT_XRC_SEND,
			   IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE, 0) == 0);
	modern->qp.base.comp_mask = VERBS_QP_EX;
	CHECK(tern_post_send(&classic->qp.base.qp, wr, &bad) == 0);
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, SRQN);
	ibv_wr_set_sge(ex, 7, 0x1000, 100);
	ex->wr_id = 2;
	ibv_wr_rdma_write(ex, 0xef, 0x99);
	ibv_wr_set_sge(ex, 7, 0x1000, 100);
	ibv_wr_set_xrc_srqn(ex, OTHER);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(!memcmp(classic->sq, modern->sq, sizeof(classic->sq)));
	CHECK(modern->sq[12] == (SRQN & 0xff) && modern->sq[64 + 12] == (OTHER & 0xff));
	free(modern->qp.staged);
	free(modern);
	free(classic);
}

/* By the SRQ, whatever queue pair has the target's number here. */
static void test_completions(void)
{
	struct srqs *s = srqs_new();
	struct ibv_cq *cq = &s->b->cq.base.cq;
	struct ibv_wc wc[2];

	device_completes(s->b, received(SRQN, 3), TARGET);
	device_completes(s->b, received(OTHER, 0), QPN);
	CHECK(tern_poll_cq(cq, 2, wc) == 2);
	CHECK(wc[0].wr_id == 103 && wc[0].qp_num == TARGET && wc[0].byte_len == 9);
	CHECK(wc[1].wr_id == 200 && wc[1].qp_num == QPN && wc[1].opcode == IBV_WC_RECV);
	CHECK(s->srqs[0].outstanding == 3 && s->srqs[1].outstanding == 3);
	CHECK(s->srqs[0].free_tag == 3 && !s->tags[0][3].taken);
	CHECK(atomic_load(&s->b->qp.rq.completed) == 0);
	srqs_free(s);
}

static void refused(struct srqs *s, struct tern_cqe cqe, uint32_t qpn)
{
	struct ibv_wc wc;

	device_completes(s->b, cqe, qpn);
	CHECK(tern_poll_cq(&s->b->cq.base.cq, 1, &wc) == -1);
	CHECK(s->srqs[0].outstanding == TAGS && s->srqs[1].outstanding == TAGS);
}

static void test_broken_device(void)
{
	struct srqs *s = srqs_new();
	struct tern_cq elsewhere = {};
	struct tern_cqe cqe = received(SRQN, 1);

	/* No such SRQ, near and far; no number at all; no such entry. */
	refused(s, received(SRQN + 7, 1), TARGET);
	refused(s, received(0x00f00000, 1), TARGET);
	refused(s, received(0xff000000 | SRQN, 1), TARGET);
	refused(s, received(SRQN, TAGS), TARGET);
	refused(s, received(SRQN, UINT32_MAX), TARGET);
	/* What is sent has no SRQ, and what has none is its queue pair's. */
	cqe.opcode = TERN_WQE_SEND;
	refused(s, cqe, QPN);
	cqe = received(SRQN, 1);
	cqe.flags = 0;
	refused(s, cqe, TARGET);
	/* Twice the same, and in a CQ that is not its own. */
	s->tags[0][1].taken = false;
	refused(s, received(SRQN, 1), TARGET);
	s->srqs[0].base.cq = &elsewhere.base.cq;
	refused(s, received(SRQN, 2), TARGET);
	srqs_free(s);

	s = srqs_new();
	tern_xrc_srqs_free(&s->b->ctx);
	s->b->ctx.xrc_srqs = NULL;
	refused(s, received(SRQN, 1), TARGET);
	srqs_free(s);
}

/* Completions go with their SRQ, and not with a queue pair that has the target's number. */
static void test_clean(void)
{
	const struct tern_cqe sent = { .opcode = TERN_WQE_SEND, .srqn = htole32(SRQN) };
	struct srqs *s = srqs_new();
	struct bench *b = s->b;
	struct ibv_wc wc[CQES];

	device_completes(b, received(SRQN, 0), QPN);
	device_completes(b, sent, QPN);
	device_completes(b, received(OTHER, 1), QPN);
	device_completes(b, received(SRQN, 2), TARGET);
	tern_cq_clean_srq(&b->cq, &s->srqs[0]);
	CHECK(le32toh(b->cq_record.index) == 2);
	tern_cq_clean(&b->cq, &b->qp);
	CHECK(le32toh(b->cq_record.index) == 3);
	CHECK(tern_poll_cq(&b->cq.base.cq, CQES, wc) == 1);
	CHECK(wc[0].wr_id == 201 && wc[0].qp_num == QPN);
	srqs_free(s);
}

static void test_numbers(void)
{
	struct srqs *s = srqs_new();
	struct tern_srq plain = {};
	uint32_t number = 0;

	CHECK(tern_get_srq_num(&s->srqs[1].base.srq, &number) == 0 && number == OTHER);
	CHECK(tern_get_srq_num(&plain.base.srq, &number) == EOPNOTSUPP && number == OTHER);
	/* The first and the last that there can be. */
	CHECK(tern_xrc_srq_reserve(&s->b->ctx, 0) == 0);
	CHECK(tern_xrc_srq_reserve(&s->b->ctx, TERN_NUMBER_MASK) == 0);
	tern_xrc_srq_set(&s->b->ctx, TERN_NUMBER_MASK, &s->srqs[0]);
	srqs_free(s);
}

void test_xrc(void)
{
	test_initiator();
	test_initiator_ex();
	test_completions();
	test_broken_device();
	test_clean();
	test_numbers();
}
