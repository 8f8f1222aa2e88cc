// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tests of the data path, against queues in plain memory: this program is the
 * device. Prints what failed and exits with 1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

int failed;

static void test_write_encoding(void)
{
	struct bench *b = bench_new(false);
	struct ibv_sge sge[2] = { { 0x1122334455667788, 100, 7 }, { 0x1000, 200, 8 } };
	struct ibv_send_wr wr = {
		.wr_id = 42, .sg_list = sge, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_FENCE,
		.imm_data = htobe32(0x01020304),
		.wr.rdma = { .remote_addr = 0x8877665544332211, .rkey = 0xabcd },
	}, *bad = NULL;
	static const uint8_t expected[64] = {
		/* control: opcode, flags, blocks, SGEs, inline, reserved, immediate, reserved */
		0x05, 0x07, 1, 2, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0,
		/* remote */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xcd, 0xab, 0, 0, 0, 0, 0, 0,
		/* SGEs */
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 100, 0, 0, 0, 7, 0, 0, 0,
		0x00, 0x10, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0, 8, 0, 0, 0,
	};

	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0 && !bad);
	CHECK(!memcmp(b->sq, expected, sizeof(expected)));
	CHECK(le32toh(b->sq_record.index) == 1);
	/* The device had not asked: no doorbell. It asks: the next post rings. */
	CHECK(b->doorbells[TERN_DOORBELL_SEND / 8] == 0);
	b->sq_record.ring = htole32(1);
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	CHECK(le64toh(b->doorbells[TERN_DOORBELL_SEND / 8]) ==
	      ((uint64_t)2 << TERN_DOORBELL_INDEX_SHIFT | QPN));
	/* It is rung and wakes up: the next post need not ring again. */
	CHECK(b->sq_record.ring == 0);
	b->doorbells[TERN_DOORBELL_SEND / 8] = 0;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	CHECK(b->doorbells[TERN_DOORBELL_SEND / 8] == 0);
	free(b);
}

static void test_invalidate_encoding(void)
{
	struct bench *b = bench_new(false);
	struct ibv_sge sge = { 0x1000, 200, 8 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SOLICITED, .invalidate_rkey = 0x01020304,
	}, *bad = NULL;
	static const uint8_t send[16] = { 0x03, 0x02, 1, 1, [8] = 4, 3, 2, 1 };
	static const uint8_t local[16] = { 0x0b, 0x05, 1, 0, [8] = 4, 3, 2, 1 };

	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0 && !bad);
	CHECK(!memcmp(b->sq, send, sizeof(send)));
	wr.opcode = IBV_WR_LOCAL_INV;
	/* It has no data. */
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL && bad == &wr);
	wr.num_sge = 0;
	wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	CHECK(!memcmp(b->sq + 64, local, sizeof(local)));
	CHECK(le32toh(b->sq_record.index) == 2);
	free(b);

	b = bench_new(true);
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	free(b);
}

static void test_bind_encoding(void)
{
	struct bench *b = bench_new(false);
	struct ibv_mr mr = { .lkey = 0x11121314 };
	struct ibv_mw mw = { .rkey = 0x010203ff };
	struct ibv_mw_bind bind = {
		.wr_id = 6,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = &mr, .addr = 0x1122334455667788, .length = 0x1000,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE,
		},
	};
	static const uint8_t expected[48] = {
		0x0d, 0x01, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		/* address, length, window, region, access */
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0x10, 0, 0, 0, 0, 0, 0,
		0, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 4, 0, 0, 0, 0, 0, 0, 0,
	};

	CHECK(tern_bind_mw(&b->qp.base.qp, &mw, &bind) == 0);
	CHECK(!memcmp(b->sq, expected, sizeof(expected)));
	CHECK(mw.rkey == 0x01020300);
	bind.bind_info.mw_access_flags = IBV_ACCESS_ON_DEMAND;
	CHECK(tern_bind_mw(&b->qp.base.qp, &mw, &bind) == EINVAL);
	CHECK(mw.rkey == 0x01020300);
	/* To nothing. */
	bind.bind_info = (struct ibv_mw_bind_info) {};
	CHECK(tern_bind_mw(&b->qp.base.qp, &mw, &bind) == 0);
	CHECK(le32toh(b->sq_record.index) == 2 && b->sq[64 + 32] == 1);
	free(b);
}

static void test_inline_wraps(void)
{
	struct bench *b = bench_new(false);
	uint8_t data[64], built[128];
	struct ibv_sge sge[2] = {
		{ (uintptr_t)data, 40, 0 }, { (uintptr_t)data + 40, 24, 0 },
	};
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = 2, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE,
	}, *bad;
	unsigned int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i + 1;
	/* Seven blocks are done with, so the second of two blocks is the ring's first. */
	b->qp.sq.producer = BLOCKS - 1;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	memcpy(built, b->sq + (BLOCKS - 1) * 64, 64);
	memcpy(built + 64, b->sq, 64);
	CHECK(built[0] == TERN_WQE_WRITE && built[1] == TERN_WQE_INLINE);
	CHECK(built[2] == 2 && built[3] == 0 && built[4] == 64);
	CHECK(!memcmp(built + 32, data, 64));
	CHECK(le32toh(b->sq_record.index) == BLOCKS + 1);

	sge[1].length = 25;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL && bad == &wr);
	/* Lengths whose sum wraps 32 bits are not taken for short. */
	sge[0].length = UINT32_MAX;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	/* A READ brings no data along. */
	sge[0].length = 8;
	sge[1].length = 8;
	wr.opcode = IBV_WR_RDMA_READ;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	CHECK(le32toh(b->sq_record.index) == BLOCKS + 1);
	free(b);
}

static void test_ud_encoding(void)
{
	struct bench *b = bench_new(true);
	struct tern_ah ah = { .vector = { .destination_mac = { 2, 0, 0, 0, 0, 9 },
					  .hop_limit = 64 } };
	struct ibv_sge sge = { 0x1000, 200, 8 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.wr.ud = { .ah = &ah.ibv_ah, .remote_qpn = 0x77, .remote_qkey = 0x11111111 },
	}, *bad;
	struct tern_address_vector *vector = (void *)(b->sq + sizeof(struct tern_wqe_control));

	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	CHECK(b->sq[0] == TERN_WQE_SEND && b->sq[2] == 2 && b->sq[3] == 1);
	CHECK(vector->destination_mac[5] == 9 && vector->hop_limit == 64);
	CHECK(le32toh(vector->remote_qpn) == 0x77 && le32toh(vector->qkey) == 0x11111111);
	CHECK(b->sq[64] == 0 && b->sq[65] == 0x10 && b->sq[72] == 200 && b->sq[76] == 8);
	wr.opcode = IBV_WR_RDMA_WRITE;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	free(b);
}

static void test_atomic_encoding(void)
{
	struct bench *b = bench_new(false);
	struct ibv_sge sge[2] = { { 0x1122334455667788, 8, 7 } };
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.wr.atomic = { .remote_addr = 0x8877665544332211, .rkey = 0xabcd,
			       .compare_add = 0x0102030405060708, .swap = 0x1112131415161718 },
	}, *bad = NULL;
	uint8_t expected[64] = {
		/* control */
		0x07, 0x05, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		/* remote */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xcd, 0xab, 0, 0, 0, 0, 0, 0,
		/* atomic: swap, compare */
		0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 8, 7, 6, 5, 4, 3, 2, 1,
		/* SGE */
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 8, 0, 0, 0, 7, 0, 0, 0,
	};
	int i;

	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0 && !bad);
	CHECK(!memcmp(b->sq, expected, sizeof(expected)));
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	/* What is added, and nothing to compare. */
	expected[0] = 0x08;
	memset(expected + 32, 0, 16);
	for (i = 0; i < 8; i++)
		expected[32 + i] = 8 - i;
	CHECK(!memcmp(b->sq + 64, expected, sizeof(expected)));

	/* Neither two SGEs nor inline data. */
	wr.num_sge = 2;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	wr.num_sge = 1;
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	free(b);
	b = bench_new(true);
	wr.send_flags = 0;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	free(b);
}

/* UC sends and writes, and does nothing else. */
static void test_unreliable(void)
{
	struct bench *b = bench_new(false);
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED }, *bad;
	int opcode;

	b->qp.sq.ops = tern_uc_ops;
	for (opcode = 0; opcode < TERN_SEND_OPS; opcode++) {
		bool there = opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
			     opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

		wr.opcode = opcode;
		CHECK((tern_post_send(&b->qp.base.qp, &wr, &bad) == 0) == there);
	}
	CHECK(b->sq_record.index == htole32(4) && b->sq[1] == TERN_WQE_SIGNALED);
	free(b);
}

static void test_raw_packets(void)
{
	struct bench *b = bench_new(false);
	struct ibv_sge sge = { 0x1122334455667788, 100, 7 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
		/* Not for these; nothing of it is to get into the request. */
		.wr.rdma = { .remote_addr = 0x8877665544332211, .rkey = 0xabcd },
	}, *bad;
	static const uint8_t expected[48] = {
		0x20, 0x01, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		/* ethernet */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 100, 0, 0, 0, 7, 0, 0, 0,
	};
	const struct tern_cqe cqe = {
		.opcode = TERN_CQE_RECEIVE_ETHERNET, .byte_count = htole32(100),
	};
	struct ibv_wc wc;
	int opcode;

	b->qp.sq.ops = tern_raw_ops;
	memset(b->sq, 0xff, sizeof(expected));
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
	CHECK(!memcmp(b->sq, expected, sizeof(expected)));
	/* A checksum that the device would not insert. */
	wr.send_flags = IBV_SEND_IP_CSUM;
	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == EINVAL);
	wr.send_flags = 0;
	for (opcode = 0; opcode < TERN_SEND_OPS; opcode++) {
		wr.opcode = opcode;
		CHECK((tern_post_send(&b->qp.base.qp, &wr, &bad) == 0) ==
		      (opcode == IBV_WR_SEND));
	}
	tern_cqe_to_wc(&cqe, &wc);
	CHECK(!wc.status && wc.opcode == IBV_WC_RECV && !wc.wc_flags && wc.byte_len == 100);
	free(b);
}

static void test_refusals(void)
{
	struct bench *b = bench_new(false);
	struct ibv_send_wr wr[BLOCKS / 2 + 1], *bad = NULL;
	struct ibv_recv_wr rwr[ENTRIES + 1], *rbad = NULL;
	int i;

	memset(wr, 0, sizeof(wr));
	memset(rwr, 0, sizeof(rwr));
	for (i = 0; i < BLOCKS / 2; i++) {
		wr[i].next = &wr[i + 1];
		wr[i].opcode = IBV_WR_SEND;
	}
	wr[i].opcode = IBV_WR_SEND;
	for (i = 0; i < ENTRIES; i++)
		rwr[i].next = &rwr[i + 1];

	b->qp.base.qp.state = IBV_QPS_RTR;
	CHECK(tern_post_send(&b->qp.base.qp, wr, &bad) == EINVAL && bad == wr);
	b->qp.base.qp.state = IBV_QPS_RESET;
	CHECK(tern_post_recv(&b->qp.base.qp, rwr, &rbad) == EINVAL && rbad == rwr);
	b->qp.base.qp.state = IBV_QPS_RTS;

	/* One more than there is room for: all before it are posted. */
	CHECK(tern_post_send(&b->qp.base.qp, wr, &bad) == ENOMEM && bad == &wr[BLOCKS / 2]);
	CHECK(le32toh(b->sq_record.index) == BLOCKS / 2);
	CHECK(tern_post_recv(&b->qp.base.qp, rwr, &rbad) == ENOMEM && rbad == &rwr[ENTRIES]);
	CHECK(le32toh(b->rq_record.index) == ENTRIES);

	free(b);
	b = bench_new(false);
	wr[1].opcode = IBV_WR_TSO;
	CHECK(tern_post_send(&b->qp.base.qp, wr, &bad) == EINVAL && bad == &wr[1]);
	CHECK(le32toh(b->sq_record.index) == 1);
	wr[1].opcode = TERN_SEND_OPS;
	CHECK(tern_post_send(&b->qp.base.qp, wr + 1, &bad) == EINVAL);
	wr[1].opcode = IBV_WR_SEND;
	wr[1].num_sge = b->qp.sq.sge_max + 1;
	CHECK(tern_post_send(&b->qp.base.qp, wr + 1, &bad) == EINVAL);
	wr[1].num_sge = -1;
	CHECK(tern_post_send(&b->qp.base.qp, wr + 1, &bad) == EINVAL);
	rwr[0].num_sge = b->qp.rq.sge_max + 1;
	CHECK(tern_post_recv(&b->qp.base.qp, rwr, &rbad) == EINVAL && rbad == rwr);
	free(b);
}

/* Many passes: unsignaled requests are freed by the completion of a later one. */
static void test_poll(void)
{
	struct bench *b = bench_new(false);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr rwr = {}, *rbad;
	struct tern_cqe sent = { .opcode = TERN_WQE_SEND };
	struct tern_cqe received = {
		.opcode = TERN_CQE_RECEIVE_WRITE_IMMEDIATE, .byte_count = htole32(99),
		.immediate = { 1, 2, 3, 4 },
	};
	struct ibv_wc wc[2];
	uint32_t i;

	CHECK(tern_poll_cq(&b->cq.base.cq, 1, wc) == 0);
	for (i = 0; i < 100; i++) {
		uint32_t block;

		wr.wr_id = 1000 + i;
		CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
		CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
		wr.wr_id = 2000 + i;
		block = b->qp.sq.producer;
		CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
		rwr.wr_id = 3000 + i;
		CHECK(tern_post_recv(&b->qp.base.qp, &rwr, &rbad) == 0);

		sent.index = htole32(block);
		received.index = htole32(i);
		device_completes(b, sent, QPN);
		device_completes(b, received, QPN);
		CHECK(tern_poll_cq(&b->cq.base.cq, 2, wc) == 2);
		CHECK(wc[0].wr_id == 2000 + i && wc[0].opcode == IBV_WC_SEND);
		CHECK(wc[0].status == IBV_WC_SUCCESS && wc[0].qp_num == QPN);
		CHECK(wc[1].wr_id == 3000 + i && wc[1].opcode == IBV_WC_RECV_RDMA_WITH_IMM);
		CHECK(wc[1].byte_len == 99 && be32toh(wc[1].imm_data) == 0x01020304);
		CHECK(wc[1].wc_flags == IBV_WC_WITH_IMM);
		CHECK(tern_poll_cq(&b->cq.base.cq, 2, wc) == 0);
		CHECK(le32toh(b->cq_record.index) == b->device_cqe);
	}
	free(b);
}

static void test_broken_device(void)
{
	struct bench *b = bench_new(false);
	struct tern_cqe strange = {
		.opcode = TERN_WQE_SEND, .status = 200, .index = htole32(0xffffffff),
	};
	struct ibv_wc wc[2];

	device_completes(b, strange, 0x00100000 | QPN);
	device_completes(b, strange, 0xff000000 | QPN);
	device_completes(b, strange, QPN);
	CHECK(tern_poll_cq(&b->cq.base.cq, 2, wc) == -1);
	CHECK(tern_poll_cq(&b->cq.base.cq, 2, wc) == -1);
	CHECK(tern_poll_cq(&b->cq.base.cq, 2, wc) == 1);
	CHECK(wc[0].status == IBV_WC_GENERAL_ERR);
	free(b);
}

/* Entries of one queue pair vanish, the others keep their order, over a wrap. */
static void test_clean(void)
{
	struct bench *b = bench_new(false);
	struct tern_qp other = b->qp;
	struct ibv_wc wc[CQES];
	int i;

	b->table[0] = &other;
	for (i = 0; i < 3; i++)
		device_completes(b, (struct tern_cqe){ .opcode = TERN_WQE_SEND }, QPN);
	CHECK(tern_poll_cq(&b->cq.base.cq, CQES, wc) == 3);

	device_completes(b, (struct tern_cqe){ .opcode = TERN_WQE_SEND, .syndrome = 1 }, 0x1000);
	device_completes(b, (struct tern_cqe){ .opcode = TERN_WQE_SEND }, QPN);
	device_completes(b, (struct tern_cqe){ .opcode = TERN_WQE_SEND, .syndrome = 2 }, 0x1000);
	device_completes(b, (struct tern_cqe){ .opcode = TERN_WQE_SEND }, QPN);
	tern_cq_clean(&b->cq, &b->qp);
	CHECK(le32toh(b->cq_record.index) == 5);
	CHECK(tern_poll_cq(&b->cq.base.cq, CQES, wc) == 2);
	CHECK(wc[0].vendor_err == 1 && wc[1].vendor_err == 2 && wc[1].qp_num == 0x1000);
	CHECK(tern_poll_cq(&b->cq.base.cq, CQES, wc) == 0);
	CHECK(le32toh(b->cq_record.index) == 7);

	device_completes(b, (struct tern_cqe){ .opcode = TERN_WQE_SEND, .syndrome = 3 }, QPN);
	CHECK(tern_poll_cq(&b->cq.base.cq, CQES, wc) == 1 && wc[0].vendor_err == 3);
	free(b);
}

static void test_arm(void)
{
	struct bench *b = bench_new(false);
	struct ibv_cq *cq = &b->cq.base.cq;
	uint32_t first;

	CHECK(tern_req_notify_cq(cq, 1) == 0);
	first = le32toh(b->cq_record.arm);
	CHECK((first & TERN_ARM_MODE) == TERN_ARM_SOLICITED);
	CHECK(tern_req_notify_cq(cq, 0) == 0);
	CHECK(le32toh(b->cq_record.arm) != first);
	CHECK((le32toh(b->cq_record.arm) & TERN_ARM_MODE) == TERN_ARM_NEXT);
	/* Not answered yet, it stands; after its event a solicited one can be asked for. */
	CHECK(tern_req_notify_cq(cq, 1) == 0);
	CHECK((le32toh(b->cq_record.arm) & TERN_ARM_MODE) == TERN_ARM_NEXT);
	tern_cq_event(cq);
	CHECK(tern_req_notify_cq(cq, 1) == 0);
	CHECK((le32toh(b->cq_record.arm) & TERN_ARM_MODE) == TERN_ARM_SOLICITED);
	CHECK(b->doorbells[TERN_DOORBELL_CQ_ARM / 8] == 0);

	b->ctx.records = false;
	b->cq.cqn = 5;
	CHECK(tern_req_notify_cq(cq, 0) == 0);
	CHECK(le64toh(b->doorbells[TERN_DOORBELL_CQ_ARM / 8]) ==
	      ((uint64_t)b->cq.arm << TERN_DOORBELL_INDEX_SHIFT | 5));
	free(b);
}

int main(void)
{
	test_write_encoding();
	test_invalidate_encoding();
	test_bind_encoding();
	test_inline_wraps();
	test_ud_encoding();
	test_atomic_encoding();
	test_unreliable();
	test_raw_packets();
	test_refusals();
	test_poll();
	test_broken_device();
	test_clean();
	test_arm();
	test_wr();
	test_cq_ex();
	test_xrc();
	if (!failed)
		printf("tern-test: passed\n");
	return failed;
}
