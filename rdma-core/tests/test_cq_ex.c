// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tests of extended completion queues. */
#include <errno.h>

#include "bench.h"
#include "cqe.h"

static void post(struct bench *b, uint64_t wr_id)
{
	struct ibv_send_wr wr = { .wr_id = wr_id, .opcode = IBV_WR_SEND }, *bad;

	CHECK(tern_post_send(&b->qp.base.qp, &wr, &bad) == 0);
}

static void test_session(void)
{
	struct bench *b = bench_new(false);
	struct ibv_cq_ex *cq = &b->cq.base.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct tern_cqe sent = {
		.opcode = TERN_WQE_SEND, .timestamp = htole64(0x1122334455667788),
	}, received = {
		.opcode = TERN_CQE_RECEIVE_IMMEDIATE, .flags = TERN_CQE_FLAG_VLAN,
		.immediate = { 1, 2, 3, 4 }, .byte_count = htole32(77),
		.vlan_tci = htole16(0x6005), .source_qpn = htole32(9),
	};
	struct ibv_recv_wr wr = { .wr_id = 30 }, *bad;
	uint32_t i;

	tern_cq_ex_init(&b->cq);
	attr.comp_mask = 1;
	CHECK(ibv_start_poll(cq, &attr) == EINVAL);
	attr.comp_mask = 0;
	CHECK(ibv_start_poll(cq, &attr) == ENOENT && !b->cq.lock.taken);

	post(b, 10);
	CHECK(tern_post_recv(&b->qp.base.qp, &wr, &bad) == 0);
	device_completes(b, sent, QPN);
	device_completes(b, received, QPN);
	CHECK(ibv_start_poll(cq, &attr) == 0 && b->cq.lock.taken);
	CHECK(cq->wr_id == 10 && cq->status == IBV_WC_SUCCESS);
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_SEND);
	CHECK(ibv_wc_read_completion_ts(cq) == 0x1122334455667788);
	CHECK(ibv_wc_read_qp_num(cq) == QPN);
	CHECK(ibv_wc_read_cvlan(cq) == 0);
	/* While it is read it is not the device's. */
	CHECK(b->cq_record.index == 0);
	CHECK(ibv_next_poll(cq) == 0);
	CHECK(le32toh(b->cq_record.index) == 1);
	CHECK(cq->wr_id == 30 && ibv_wc_read_opcode(cq) == IBV_WC_RECV);
	CHECK(ibv_wc_read_wc_flags(cq) == IBV_WC_WITH_IMM);
	CHECK(ibv_wc_read_imm_data(cq) == htobe32(0x01020304));
	CHECK(ibv_wc_read_byte_len(cq) == 77);
	CHECK(ibv_wc_read_src_qp(cq) == 9);
	CHECK(ibv_wc_read_cvlan(cq) == 0x6005 && ibv_wc_read_sl(cq) == 3);
	CHECK(ibv_next_poll(cq) == ENOENT);
	ibv_end_poll(cq);
	CHECK(le32toh(b->cq_record.index) == 2 && !b->cq.lock.taken);

	/* Around the ring in one session, the device beside it. */
	for (i = 0; i < 3 * CQES; i++) {
		sent.index = htole32(b->qp.sq.producer);
		post(b, 100 + i);
		device_completes(b, sent, QPN);
		CHECK((i ? ibv_next_poll(cq) : ibv_start_poll(cq, &attr)) == 0);
		CHECK(cq->wr_id == 100 + i);
		CHECK(b->device_cqe - le32toh(b->cq_record.index) == 1);
	}
	ibv_end_poll(cq);
	free(b);
}

/* One thread: no lock is taken. */
static void test_single_threaded(void)
{
	struct bench *b = bench_new(false);
	struct ibv_cq_ex *cq = &b->cq.base.cq_ex;
	struct tern_cqe sent = { .opcode = TERN_WQE_SEND, .status = TERN_WC_RETRY_EXCEEDED };
	struct ibv_poll_cq_attr attr = {};

	tern_cq_ex_init(&b->cq);
	b->cq.lock.unneeded = true;
	post(b, 1);
	device_completes(b, sent, QPN);
	CHECK(ibv_start_poll(cq, &attr) == 0 && !b->cq.lock.taken);
	CHECK(cq->status == IBV_WC_RETRY_EXC_ERR);
	ibv_end_poll(cq);
	free(b);
}

static void test_strange_entries(void)
{
	struct bench *b = bench_new(false);
	struct ibv_cq_ex *cq = &b->cq.base.cq_ex;
	struct tern_cqe sent = { .opcode = TERN_WQE_SEND };
	struct ibv_poll_cq_attr attr = {};

	tern_cq_ex_init(&b->cq);
	device_completes(b, sent, QPN + 1);
	CHECK(ibv_start_poll(cq, &attr) == EIO && !b->cq.lock.taken);
	CHECK(le32toh(b->cq_record.index) == 1);
	CHECK(ibv_start_poll(cq, &attr) == ENOENT);
	free(b);
}

/* What a datagram came by; a tag's priority; nothing of what is no datagram. */
static void test_service_level(void)
{
	static const struct {
		uint16_t flags, vlan_tci;
		uint8_t network_type, service_level;
	} cases[] = {
		{ 0, 0, 0, 0 },
		{ TERN_CQE_FLAG_VLAN, 0x6005, 0, 3 },
		{ TERN_CQE_FLAG_GRH, 0, TERN_GID_TYPE_ROCE_V1, 0 },
		{ TERN_CQE_FLAG_GRH, 0, TERN_GID_TYPE_ROCE_V2, TERN_SL_IPV6 },
		{ TERN_CQE_FLAG_GRH | TERN_CQE_FLAG_IPV4, 0, TERN_GID_TYPE_ROCE_V2, TERN_SL_IPV4 },
		{ TERN_CQE_FLAG_GRH | TERN_CQE_FLAG_IPV4 | TERN_CQE_FLAG_VLAN, 0xe001,
		  TERN_GID_TYPE_ROCE_V2, 7 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tern_cqe cqe = {
			.opcode = TERN_CQE_RECEIVE, .flags = cases[i].flags,
			.vlan_tci = htole16(cases[i].vlan_tci),
			.network_type = cases[i].network_type,
		};
		struct ibv_wc wc;

		tern_cqe_to_wc(&cqe, &wc);
		CHECK(wc.sl == cases[i].service_level);
	}
}

void test_cq_ex(void)
{
	test_service_level();
	test_session();
	test_single_threaded();
	test_strange_entries();
}
