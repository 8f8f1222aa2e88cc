// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tests of ibv_wr_*(): what it posts is what ibv_post_send() posts. */
#include <errno.h>

#include "bench.h"
#include "placement.h"

static struct bench *bench_ex(bool datagram)
{
	struct bench *b = bench_new(datagram);
	enum ibv_qp_type type = datagram ? IBV_QPT_UD : IBV_QPT_RC;

	b->qp.base.qp.qp_type = type;
	b->qp.base.comp_mask = VERBS_QP_EX;
	CHECK(tern_wr_init(&b->qp, type, IBV_QP_EX_WITH_SEND, 0) == 0);
	return b;
}

static void bench_ex_free(struct bench *b)
{
	free(b->qp.staged);
	free(b);
}

/* The ring and the indices after one of each, posted both ways. */
static void test_same_as_post_send(void)
{
	struct ibv_sge sges[3] = { { 0x1000, 100, 7 }, { 0x2000, 200, 8 }, { 0x3000, 0, 9 } };
	struct bench *classic = bench_ex(false), *modern = bench_ex(false);
	struct ibv_qp_ex *ex = &modern->qp.base.qp_ex;
	struct ibv_send_wr wr[4] = {
		{ .wr_id = 1, .next = &wr[1], .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		  .sg_list = sges, .num_sge = 3, .send_flags = IBV_SEND_SIGNALED,
		  .imm_data = htobe32(0x01020304),
		  .wr.rdma = { .remote_addr = 0x1122334455667788, .rkey = 0xabcd } },
		{ .wr_id = 2, .next = &wr[2], .opcode = IBV_WR_RDMA_READ,
		  .sg_list = sges, .num_sge = 1, .send_flags = IBV_SEND_FENCE,
		  .wr.rdma = { .remote_addr = 0x99, .rkey = 0xef } },
		{ .wr_id = 3, .next = &wr[3], .opcode = IBV_WR_SEND,
		  .send_flags = IBV_SEND_SOLICITED },
		{ .wr_id = 4, .opcode = IBV_WR_SEND_WITH_IMM, .sg_list = sges, .num_sge = 1,
		  .imm_data = htobe32(5), .send_flags = IBV_SEND_SIGNALED },
	}, *bad = NULL;

	CHECK(tern_post_send(&classic->qp.base.qp, wr, &bad) == 0);

	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(ex, 0xabcd, 0x1122334455667788, htobe32(0x01020304));
	ibv_wr_set_sge_list(ex, 3, sges);
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_FENCE;
	ibv_wr_rdma_read(ex, 0xef, 0x99);
	ibv_wr_set_sge(ex, 7, 0x1000, 100);
	ex->wr_id = 3;
	ex->wr_flags = IBV_SEND_SOLICITED;
	ibv_wr_send(ex);
	ex->wr_id = 4;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(ex, htobe32(5));
	ibv_wr_set_sge(ex, 7, 0x1000, 100);
	/* Nothing is the device's before all are complete. */
	CHECK(modern->sq_record.index == 0);
	CHECK(ibv_wr_complete(ex) == 0);

	CHECK(!memcmp(classic->sq, modern->sq, sizeof(classic->sq)));
	CHECK(!memcmp(classic->entries, modern->entries, sizeof(classic->entries)));
	CHECK(le32toh(modern->sq_record.index) == 5);
	CHECK(modern->sq_record.index == classic->sq_record.index);
	CHECK(modern->qp.sq.posted == 4);
	bench_ex_free(classic);
	bench_ex_free(modern);
}

static void test_atomics(void)
{
	struct bench *classic = bench_ex(false), *modern = bench_ex(false);
	struct ibv_qp_ex *ex = &modern->qp.base.qp_ex;
	struct ibv_sge sges[2] = { { 0x1000, 8, 7 } };
	struct ibv_send_wr wr[2] = {
		{ .wr_id = 1, .next = &wr[1], .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		  .sg_list = sges, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		  .wr.atomic = { .remote_addr = 0x1122334455667788, .compare_add = 5,
				 .swap = 6, .rkey = 0xabcd } },
		{ .wr_id = 2, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		  .sg_list = sges, .num_sge = 1, .send_flags = IBV_SEND_FENCE,
		  .wr.atomic = { .remote_addr = 0x99, .compare_add = 7, .rkey = 0xef } },
	}, *bad = NULL;

	CHECK(tern_post_send(&classic->qp.base.qp, wr, &bad) == 0);
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_cmp_swp(ex, 0xabcd, 0x1122334455667788, 5, 6);
	ibv_wr_set_sge(ex, 7, 0x1000, 8);
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_FENCE;
	ibv_wr_atomic_fetch_add(ex, 0xef, 0x99, 7);
	ibv_wr_set_sge(ex, 7, 0x1000, 8);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(!memcmp(classic->sq, modern->sq, sizeof(classic->sq)));
	CHECK(!memcmp(classic->entries, modern->entries, sizeof(classic->entries)));
	CHECK(modern->sq_record.index == classic->sq_record.index);

	/* A second element has no place. */
	ibv_wr_start(ex);
	ibv_wr_atomic_fetch_add(ex, 0xef, 0x99, 7);
	ibv_wr_set_sge_list(ex, 2, sges);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	bench_ex_free(classic);
	bench_ex_free(modern);
}

static void test_placements(void)
{
	struct bench *b = bench_ex(false), *datagram = bench_ex(true);
	const uint64_t both = IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH;
	const uint8_t places = IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT;
	struct ibv_qp_ex *ex = &b->qp.base.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_FLUSH }, *bad;
	static const struct {
		size_t length;
		uint8_t type, level;
	} wrong[] = {
		{ 8, 0, IBV_FLUSH_RANGE }, { 8, 4, IBV_FLUSH_MR },
		{ 8, IBV_FLUSH_GLOBAL, 2 }, { 1UL << 32, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE },
	};
	static const uint8_t expected[3][64] = {
		{ 0x09, 0x0d, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		  0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xcd, 0xab, 0, 0, 0, 0, 0, 0,
		  1, 2, 3, 4, 5, 6, 7, 8 },
		{ 0x0a, 0x01, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		  0x99, 0, 0, 0, 0, 0, 0, 0, 0xef, 0, 0, 0, 0x04, 0x03, 0x02, 0x01 },
		{ 0x0a, 0x00, 1, 0, 0, 0, 0, 0, 0x13, 0, 0, 0, 0, 0, 0, 0,
		  0x99, 0, 0, 0, 0, 0, 0, 0, 0xef, 0, 0, 0, 0, 0, 0, 0 },
	};
	size_t i;

	/* No inline data was asked for. */
	b->qp.sq.inline_max = 0;
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	ibv_wr_atomic_write(ex, 0xabcd, 0x1122334455667788, "\1\2\3\4\5\6\7\10");
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(ex, 0xef, 0x99, 0x01020304, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	ex->wr_flags = 0;
	ibv_wr_flush(ex, 0xef, 0x99, SIZE_MAX, places, IBV_FLUSH_MR);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(!memcmp(b->sq, expected[0], 40));
	CHECK(!memcmp(b->sq + 64, expected[1], TERN_HEADER_REMOTE));
	CHECK(!memcmp(b->sq + 128, expected[2], TERN_HEADER_REMOTE));
	CHECK(le32toh(b->sq_record.index) == 3);

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ibv_wr_start(ex);
		ibv_wr_flush(ex, 1, 2, wrong[i].length, wrong[i].type, wrong[i].level);
		CHECK(ibv_wr_complete(ex) == EINVAL);
	}
	/* ibv_post_send() has no arguments for them. */
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	wr.opcode = IBV_WR_ATOMIC_WRITE;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	CHECK(le32toh(b->sq_record.index) == 3);
	ex = &datagram->qp.base.qp_ex;
	ibv_wr_start(ex);
	ibv_wr_atomic_write(ex, 1, 2, "12345678");
	CHECK(ibv_wr_complete(ex) == EINVAL);

	CHECK(tern_placement_ops(0) == 0);
	CHECK(tern_placement_ops(UINT64_C(1) << TERN_FEATURE_FLUSH) == IBV_QP_EX_WITH_FLUSH);
	CHECK(tern_placement_ops(UINT64_MAX) == both);
	CHECK(tern_wr_init(&b->qp, IBV_QPT_RC, IBV_QP_EX_WITH_FLUSH, 0) == EOPNOTSUPP);
	CHECK(tern_wr_init(&b->qp, IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_FLUSH, UINT64_MAX) ==
	      EOPNOTSUPP);
	bench_ex_free(b);
	bench_ex_free(datagram);
}

static void test_invalidations(void)
{
	struct bench *classic = bench_ex(false), *modern = bench_ex(false);
	struct ibv_qp_ex *ex = &modern->qp.base.qp_ex;
	struct ibv_send_wr wr[2] = {
		{ .next = &wr[1], .opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = 0x01020304 },
		{ .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = 0x05060708,
		  .send_flags = IBV_SEND_SIGNALED },
	}, *bad;

	CHECK(tern_post_send(&classic->qp.base.qp, wr, &bad) == 0);
	ibv_wr_start(ex);
	ibv_wr_send_inv(ex, 0x01020304);
	ibv_wr_set_sge_list(ex, 0, NULL);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(ex, 0x05060708);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(!memcmp(classic->sq, modern->sq, sizeof(classic->sq)));
	CHECK(le32toh(modern->sq_record.index) == 2);
	bench_ex_free(classic);
	bench_ex_free(modern);
}

static void test_inline_and_wrapping(void)
{
	struct bench *classic = bench_ex(false), *modern = bench_ex(false);
	struct ibv_qp_ex *ex = &modern->qp.base.qp_ex;
	uint8_t first[40], second[24];
	struct ibv_data_buf buffers[2] = { { first, 40 }, { second, 24 } };
	struct ibv_sge sges[2] = { { (uintptr_t)first, 40, 0 }, { (uintptr_t)second, 24, 0 } };
	struct ibv_send_wr wr = {
		.wr_id = 9, .opcode = IBV_WR_RDMA_WRITE, .sg_list = sges, .num_sge = 2,
		.send_flags = IBV_SEND_INLINE, .wr.rdma = { .remote_addr = 0x77, .rkey = 6 },
	}, *bad;

	memset(first, 0x11, sizeof(first));
	memset(second, 0x22, sizeof(second));
	/* It takes two blocks, of which the second is the ring's first. */
	classic->qp.sq.producer = BLOCKS - 1;
	modern->qp.sq.producer = BLOCKS - 1;
	CHECK(tern_post_send(&classic->qp.base.qp, &wr, &bad) == 0);

	ibv_wr_start(ex);
	ex->wr_id = 9;
	/* Of no meaning here: the setter says what is inline. */
	ex->wr_flags = IBV_SEND_INLINE;
	ibv_wr_rdma_write(ex, 6, 0x77);
	ibv_wr_set_inline_data_list(ex, 2, buffers);
	memset(first, 0, sizeof(first));
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(!memcmp(classic->sq + (BLOCKS - 1) * TERN_WQE_BLOCK,
		      modern->sq + (BLOCKS - 1) * TERN_WQE_BLOCK, TERN_WQE_BLOCK));
	CHECK(!memcmp(classic->sq, modern->sq, TERN_HEADER_REMOTE + 64 - TERN_WQE_BLOCK));
	CHECK(modern->sq[TERN_HEADER_REMOTE + 64 - TERN_WQE_BLOCK - 1] == 0x22);
	CHECK(le32toh(modern->sq_record.index) == BLOCKS + 1);
	bench_ex_free(classic);
	bench_ex_free(modern);
}

static void test_ud(void)
{
	struct bench *classic = bench_ex(true), *modern = bench_ex(true);
	struct ibv_qp_ex *ex = &modern->qp.base.qp_ex;
	struct tern_ah ah = { .vector = { .destination_mac = { 2, 0, 0, 0, 0, 9 } } };
	struct ibv_sge sge = { 0x1000, 10, 7 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.wr.ud = { .ah = &ah.ibv_ah, .remote_qpn = 5, .remote_qkey = 0x11111111 },
	}, *bad;

	CHECK(tern_post_send(&classic->qp.base.qp, &wr, &bad) == 0);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	/* In any order. */
	ibv_wr_set_sge(ex, 7, 0x1000, 10);
	ibv_wr_set_ud_addr(ex, &ah.ibv_ah, 5, 0x11111111);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(!memcmp(classic->sq, modern->sq, sizeof(classic->sq)));

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	CHECK(le32toh(modern->sq_record.index) == 2);
	bench_ex_free(classic);
	bench_ex_free(modern);
}

/* One that is refused takes the others with it, and the queue goes on. */
static void test_wr_refusals(void)
{
	struct bench *b = bench_ex(false);
	struct ibv_qp_ex *ex = &b->qp.base.qp_ex;
	struct ibv_sge sges[5] = {};
	uint8_t data[65] = {};
	int i;

	CHECK(tern_wr_init(&b->qp, IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_READ, 0) == EOPNOTSUPP);
	CHECK(tern_wr_init(&b->qp, IBV_QPT_RC, IBV_QP_EX_WITH_TSO, 0) == EOPNOTSUPP);
	CHECK(tern_wr_init(&b->qp, IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_READ, 0) == EOPNOTSUPP);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 5, sges);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == EINVAL);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, sizeof(data));
	CHECK(ibv_wr_complete(ex) == EINVAL);

	/* A READ brings data: none can be inline. */
	ibv_wr_start(ex);
	ibv_wr_rdma_read(ex, 1, 2);
	ibv_wr_set_inline_data(ex, data, 8);
	CHECK(ibv_wr_complete(ex) == EINVAL);

	ibv_wr_start(ex);
	for (i = 0; i < BLOCKS / 2 + 1; i++)
		ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == ENOMEM);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	ibv_wr_start(ex);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(b->sq_record.index == 0 && b->qp.sq.posted == 0 && !b->qp.sq.lock.taken);

	b->qp.base.qp.state = IBV_QPS_RTR;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	b->qp.base.qp.state = IBV_QPS_RTS;

	ibv_wr_start(ex);
	for (i = 0; i < BLOCKS / 2; i++)
		ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(le32toh(b->sq_record.index) == BLOCKS / 2);
	bench_ex_free(b);
}

void test_wr(void)
{
	test_same_as_post_send();
	test_atomics();
	test_placements();
	test_invalidations();
	test_inline_and_wrapping();
	test_ud();
	test_wr_refusals();
}
