// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: completions. */
#include <kunit/test.h>

#include "cqe.c"

static struct ib_wc decode(const struct tern_cqe *cqe, u8 posted_opcode)
{
	struct tern_ib_posted posted = { .wr_id = 0x1234567890, .opcode = posted_opcode };
	struct ib_wc wc;

	memset(&wc, 0xff, sizeof(wc));
	tern_ib_decode_cqe(cqe, &posted, &wc);
	return wc;
}

struct status_case {
	u8 device;
	enum ib_wc_status status;
};

static const struct status_case status_cases[] = {
	{ TERN_WC_SUCCESS, IB_WC_SUCCESS },
	{ TERN_WC_LOCAL_LENGTH, IB_WC_LOC_LEN_ERR },
	{ TERN_WC_LOCAL_QP_OPERATION, IB_WC_LOC_QP_OP_ERR },
	{ TERN_WC_LOCAL_PROTECTION, IB_WC_LOC_PROT_ERR },
	{ TERN_WC_FLUSHED, IB_WC_WR_FLUSH_ERR },
	{ TERN_WC_WINDOW_BIND, IB_WC_MW_BIND_ERR },
	{ TERN_WC_BAD_RESPONSE, IB_WC_BAD_RESP_ERR },
	{ TERN_WC_LOCAL_ACCESS, IB_WC_LOC_ACCESS_ERR },
	{ TERN_WC_REMOTE_INVALID_REQUEST, IB_WC_REM_INV_REQ_ERR },
	{ TERN_WC_REMOTE_ACCESS, IB_WC_REM_ACCESS_ERR },
	{ TERN_WC_REMOTE_OPERATION, IB_WC_REM_OP_ERR },
	{ TERN_WC_RETRY_EXCEEDED, IB_WC_RETRY_EXC_ERR },
	{ TERN_WC_RNR_RETRY_EXCEEDED, IB_WC_RNR_RETRY_EXC_ERR },
	{ TERN_WC_REMOTE_ABORTED, IB_WC_REM_ABORT_ERR },
	{ TERN_WC_GENERAL, IB_WC_GENERAL_ERR },
	/* What the contract does not list is an error at least. */
	{ 3, IB_WC_GENERAL_ERR },
	{ 22, IB_WC_GENERAL_ERR },
	{ 255, IB_WC_GENERAL_ERR },
};

static void status_desc(const struct status_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "status %u", c->device);
}

KUNIT_ARRAY_PARAM(status, status_cases, status_desc);

static void cqe_status(struct kunit *test)
{
	const struct status_case *c = test->param_value;
	struct tern_cqe cqe = { .opcode = TERN_WQE_SEND, .status = c->device, .syndrome = 0x42 };
	struct ib_wc wc = decode(&cqe, TERN_WQE_SEND);

	KUNIT_EXPECT_EQ(test, wc.status, c->status);
	KUNIT_EXPECT_EQ(test, wc.vendor_err, 0x42);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 0x1234567890);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
}

static bool brings_data(enum ib_wc_opcode opcode)
{
	return opcode == IB_WC_RDMA_READ || opcode == IB_WC_COMP_SWAP ||
	       opcode == IB_WC_FETCH_ADD;
}

/* The opcode is the posted one's, whatever the device says. */
static void cqe_send_opcodes(struct kunit *test)
{
	static const struct {
		u8 posted;
		enum ib_wc_opcode opcode;
	} known[] = {
		{ TERN_WQE_SEND, IB_WC_SEND },
		{ TERN_WQE_SEND_IMMEDIATE, IB_WC_SEND },
		{ TERN_WQE_WRITE, IB_WC_RDMA_WRITE },
		{ TERN_WQE_WRITE_IMMEDIATE, IB_WC_RDMA_WRITE },
		{ TERN_WQE_READ, IB_WC_RDMA_READ },
		{ TERN_WQE_SEND_INVALIDATE, IB_WC_SEND },
		{ TERN_WQE_LOCAL_INVALIDATE, IB_WC_LOCAL_INV },
		{ TERN_WQE_REGISTER, IB_WC_REG_MR },
		{ TERN_WQE_CAS, IB_WC_COMP_SWAP },
		{ TERN_WQE_FETCH_ADD, IB_WC_FETCH_ADD },
	};
	struct tern_cqe cqe = { .opcode = 0x7f, .byte_count = cpu_to_le32(77) };
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		struct ib_wc wc = decode(&cqe, known[i].posted);

		KUNIT_EXPECT_EQ(test, wc.opcode, known[i].opcode);
		KUNIT_EXPECT_EQ(test, wc.byte_len, brings_data(known[i].opcode) ? 77 : 0);
		KUNIT_EXPECT_EQ(test, wc.port_num, 1);
	}
}

static void cqe_receive(struct kunit *test)
{
	struct tern_cqe cqe = {
		.opcode = TERN_CQE_RECEIVE,
		.byte_count = cpu_to_le32(1000),
		.immediate = { 1, 2, 3, 4 },
	};
	struct ib_wc wc = decode(&cqe, 0);

	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 1000);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);

	cqe.opcode = TERN_CQE_RECEIVE_IMMEDIATE;
	wc = decode(&cqe, 0);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x01020304);

	cqe.opcode = TERN_CQE_RECEIVE_WRITE_IMMEDIATE;
	wc = decode(&cqe, 0);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x01020304);

	cqe.opcode = TERN_CQE_RECEIVE_INVALIDATE;
	wc = decode(&cqe, 0);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, 0x04030201);
}

static void cqe_receive_error_says_no_more(struct kunit *test)
{
	struct tern_cqe cqe = {
		.opcode = TERN_CQE_RECEIVE_IMMEDIATE,
		.status = TERN_WC_FLUSHED,
		.flags = TERN_CQE_FLAG_GRH,
		.byte_count = cpu_to_le32(1000),
	};
	struct ib_wc wc = decode(&cqe, 0);

	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 0);
}

static void cqe_datagram(struct kunit *test)
{
	struct tern_cqe cqe = {
		.opcode = TERN_CQE_RECEIVE,
		.flags = TERN_CQE_FLAG_GRH | TERN_CQE_FLAG_IPV4,
		.byte_count = cpu_to_le32(296),
		.source_qpn = cpu_to_le32(0xff000001),
		.pkey_index = cpu_to_le16(0x201),
		.source_mac = { 2, 0, 0, 0, 0, 9 },
		.network_type = TERN_GID_TYPE_ROCE_V2,
	};
	struct ib_wc wc = decode(&cqe, 0);

	KUNIT_EXPECT_EQ(test, wc.wc_flags,
			IB_WC_GRH | IB_WC_WITH_SMAC | IB_WC_WITH_NETWORK_HDR_TYPE);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 1);
	KUNIT_EXPECT_EQ(test, wc.pkey_index, 0x201);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 296);
	KUNIT_EXPECT_EQ(test, wc.network_hdr_type, RDMA_NETWORK_IPV4);
	KUNIT_EXPECT_MEMEQ(test, wc.smac, cqe.source_mac, ETH_ALEN);

	cqe.flags = TERN_CQE_FLAG_GRH;
	KUNIT_EXPECT_EQ(test, decode(&cqe, 0).network_hdr_type, RDMA_NETWORK_IPV6);
	cqe.network_type = TERN_GID_TYPE_ROCE_V1;
	KUNIT_EXPECT_EQ(test, decode(&cqe, 0).network_hdr_type, RDMA_NETWORK_ROCE_V1);

	/* Priority 5, VLAN 100, and the DEI bit, which is neither's. */
	cqe.flags |= TERN_CQE_FLAG_VLAN;
	cqe.vlan_tci = cpu_to_le16(5 << 13 | 1 << 12 | 100);
	wc = decode(&cqe, 0);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_VLAN);
	KUNIT_EXPECT_EQ(test, wc.vlan_id, 100);
	KUNIT_EXPECT_EQ(test, wc.sl, 5);
}

static void cqe_flushed(struct kunit *test)
{
	struct tern_ib_posted posted = { .wr_id = 55 };
	struct ib_wc wc;

	memset(&wc, 0xff, sizeof(wc));
	tern_ib_flushed_wc(&posted, &wc);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 55);
	KUNIT_EXPECT_EQ(test, wc.port_num, 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
}

/* Phase 1 in the first pass, then alternating, also where the index wraps. */
static void cqe_phase(struct kunit *test)
{
	const unsigned int shift = 3;
	u32 index = 0;
	u32 pass;
	int i;

	for (pass = 0; pass < 5; pass++) {
		for (i = 0; i < 8; i++, index++) {
			KUNIT_EXPECT_EQ(test, tern_ib_cqe_valid(1, index, shift), !(pass & 1));
			KUNIT_EXPECT_EQ(test, tern_ib_cqe_valid(0, index, shift), !!(pass & 1));
		}
	}
	/* The passes before and after the index's wrap alternate like any. */
	KUNIT_EXPECT_TRUE(test, tern_ib_cqe_valid(0, U32_MAX, shift));
	KUNIT_EXPECT_TRUE(test, tern_ib_cqe_valid(1, 0, shift));
	/* Reserved bits do not count. */
	KUNIT_EXPECT_TRUE(test, tern_ib_cqe_valid(0xfffffffe | 1, 0, shift));
	KUNIT_EXPECT_FALSE(test, tern_ib_cqe_valid(0xfffffffe, 0, shift));
}

static void cqe_sides(struct kunit *test)
{
	struct tern_cqe cqe = {};
	int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		cqe.opcode = opcode;
		KUNIT_EXPECT_EQ(test, tern_ib_cqe_of_receiver(&cqe), opcode >= 0x80);
	}
}

static struct kunit_case cqe_cases[] = {
	KUNIT_CASE_PARAM(cqe_status, status_gen_params),
	KUNIT_CASE(cqe_send_opcodes),
	KUNIT_CASE(cqe_receive),
	KUNIT_CASE(cqe_receive_error_says_no_more),
	KUNIT_CASE(cqe_datagram),
	KUNIT_CASE(cqe_flushed),
	KUNIT_CASE(cqe_phase),
	KUNIT_CASE(cqe_sides),
	{}
};

static struct kunit_suite cqe_suite = {
	.name = "tern_cqe",
	.test_cases = cqe_cases,
};

kunit_test_suite(cqe_suite);
