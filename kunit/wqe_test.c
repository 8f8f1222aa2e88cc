// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: work requests in the device's format. */
#include <kunit/test.h>

#include "wqe.c"

static const struct ib_qp_cap cap = {
	.max_send_sge = 28,
	.max_recv_sge = 31,
	.max_inline_data = 448,
};

static const struct tern_address_vector address = {
	.destination_gid = { 1, 2, 3 },
	.destination_mac = { 4, 5, 6 },
	.hop_limit = 64,
};

static int wqe_init(struct kunit *test)
{
	struct tern_ib_wqe *wqe = kunit_kmalloc(test, sizeof(*wqe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	memset(wqe, 0xff, sizeof(*wqe));
	test->priv = wqe;
	return 0;
}

static int encode_rc(struct kunit *test, const struct ib_send_wr *wr)
{
	return tern_ib_encode_send(IB_QPT_RC, &cap, false, wr, NULL, test->priv);
}

static int encode_ud(struct kunit *test, const struct ib_ud_wr *wr)
{
	return tern_ib_encode_send(IB_QPT_UD, &cap, false, &wr->wr, &address, test->priv);
}

static void wqe_send(struct kunit *test)
{
	struct ib_sge sges[] = {
		{ .addr = 0x1122334455667788, .length = 99, .lkey = 0xaabbccdd },
		{ .addr = 0x1000, .length = 0, .lkey = 1 },
	};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sges, .num_sge = 2 };
	struct tern_ib_wqe *wqe = test->priv;
	const struct tern_sge *out = (void *)wqe->segments;

	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_SEND);
	KUNIT_EXPECT_EQ(test, wqe->control.flags, 0);
	KUNIT_EXPECT_EQ(test, wqe->control.blocks, 1);
	KUNIT_EXPECT_EQ(test, wqe->control.sge_count, 2);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(wqe->control.inline_length), 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(wqe->control.reserved0), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(wqe->control.remote_srqn), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(out[0].address), 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out[0].length), 99);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out[0].key), 0xaabbccdd);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out[1].length), 0);
}

static void wqe_flags(struct kunit *test)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct tern_ib_wqe *wqe = test->priv;

	wr.send_flags = IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.flags, TERN_WQE_SIGNALED);
	wr.send_flags = IB_SEND_SOLICITED;
	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.flags, TERN_WQE_SOLICITED);
	wr.send_flags = IB_SEND_FENCE;
	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.flags, TERN_WQE_FENCE);
	wr.send_flags = IB_SEND_IP_CSUM;
	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr), -EINVAL);
	wr.send_flags = 0;
	KUNIT_ASSERT_EQ(test, tern_ib_encode_send(IB_QPT_RC, &cap, true, &wr, NULL, wqe), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.flags, TERN_WQE_SIGNALED);
}

static void wqe_immediate(struct kunit *test)
{
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_SEND_WITH_IMM, .ex.imm_data = cpu_to_be32(0x01020304) },
	};
	static const u8 wire[] = { 1, 2, 3, 4 };
	struct tern_ib_wqe *wqe = test->priv;

	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_SEND_IMMEDIATE);
	KUNIT_EXPECT_MEMEQ(test, wqe->control.immediate, wire, 4);
	wr.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_WRITE_IMMEDIATE);
	KUNIT_EXPECT_MEMEQ(test, wqe->control.immediate, wire, 4);
	/* Not the business of the others. */
	wr.wr.opcode = IB_WR_RDMA_WRITE;
	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), 1);
	KUNIT_EXPECT_NULL(test, memchr_inv(wqe->control.immediate, 0, 4));
}

static void wqe_invalidate(struct kunit *test)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND_WITH_INV, .ex.invalidate_rkey = 0x01020304 };
	static const u8 key[] = { 4, 3, 2, 1 };
	struct tern_ib_wqe *wqe = test->priv;

	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_SEND_INVALIDATE);
	KUNIT_EXPECT_MEMEQ(test, wqe->control.immediate, key, 4);

	memset(wqe, 0xff, sizeof(*wqe));
	wr.opcode = IB_WR_LOCAL_INV;
	wr.send_flags = IB_SEND_FENCE;
	KUNIT_ASSERT_EQ(test, tern_ib_encode_local_invalidate(true, &wr, wqe), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_LOCAL_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wqe->control.flags, TERN_WQE_SIGNALED | TERN_WQE_FENCE);
	KUNIT_EXPECT_EQ(test, wqe->control.blocks, 1);
	KUNIT_EXPECT_EQ(test, wqe->control.sge_count, 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(wqe->control.inline_length), 0);
	KUNIT_EXPECT_MEMEQ(test, wqe->control.immediate, key, 4);
	wr.send_flags = IB_SEND_INLINE;
	KUNIT_EXPECT_EQ(test, tern_ib_encode_local_invalidate(true, &wr, wqe), -EINVAL);
}

static void wqe_register(struct kunit *test)
{
	const struct tern_wqe_register segment = {
		.pages.root = cpu_to_le64(0x1122334455667000),
		.key = cpu_to_le32(0x55),
	};
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR };
	struct tern_ib_wqe *wqe = test->priv;

	KUNIT_ASSERT_EQ(test, tern_ib_encode_register(false, &wr.wr, &segment, wqe), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_REGISTER);
	KUNIT_EXPECT_EQ(test, wqe->control.flags, 0);
	KUNIT_EXPECT_EQ(test, wqe->control.blocks, 1);
	KUNIT_EXPECT_EQ(test, wqe->control.sge_count, 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(wqe->control.immediate, 0, 4));
	KUNIT_EXPECT_MEMEQ(test, wqe->segments, (const u8 *)&segment, sizeof(segment));
	wr.wr.send_flags = IB_SEND_IP_CSUM;
	KUNIT_EXPECT_EQ(test, tern_ib_encode_register(false, &wr.wr, &segment, wqe), -EINVAL);
}

static void wqe_remote(struct kunit *test)
{
	struct ib_sge sge = { .addr = 0x2000, .length = 8, .lkey = 5 };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = 0xfedcba9876543210,
		.rkey = 0x11223344,
	};
	struct tern_ib_wqe *wqe = test->priv;
	const struct tern_wqe_remote *remote = (void *)wqe->segments;
	const struct tern_sge *out = (void *)(remote + 1);

	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_WRITE);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(remote->address), 0xfedcba9876543210);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(remote->key), 0x11223344);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(remote->length), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(out->address), 0x2000);
	wr.wr.opcode = IB_WR_RDMA_READ;
	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_READ);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(remote->key), 0x11223344);
}

static void wqe_atomic(struct kunit *test)
{
	struct ib_sge sges[2] = { { .addr = 0x2000, .length = 8, .lkey = 5 } };
	struct ib_atomic_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_CMP_AND_SWP, .sg_list = sges, .num_sge = 1 },
		.remote_addr = 0xfedcba9876543210,
		.compare_add = 0x0102030405060708,
		.swap = 0x1112131415161718,
		.rkey = 0x11223344,
	};
	struct tern_ib_wqe *wqe = test->priv;
	const struct tern_wqe_remote *remote = (void *)wqe->segments;
	const struct tern_wqe_atomic *atomic = (void *)(remote + 1);
	const struct tern_sge *out = (void *)(atomic + 1);

	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_CAS);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(remote->address), 0xfedcba9876543210);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(remote->key), 0x11223344);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(remote->length), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(atomic->swap_add), 0x1112131415161718);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(atomic->compare), 0x0102030405060708);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(out->address), 0x2000);
	wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), 1);
	KUNIT_EXPECT_EQ(test, wqe->control.opcode, TERN_WQE_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(atomic->swap_add), 0x0102030405060708);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(atomic->compare), 0);
	/* A queue sized for one SGE has no room for more in front of it. */
	wr.wr.num_sge = 2;
	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
	wr.wr.num_sge = 1;
	wr.wr.send_flags = IB_SEND_INLINE;
	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
}

static void wqe_datagram(struct kunit *test)
{
	struct ib_sge sge = { .addr = 0x3000, .length = 4, .lkey = 6 };
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 },
		.remote_qpn = 0xffffff,
		.remote_qkey = 0x80010000,
	};
	struct tern_ib_wqe *wqe = test->priv;
	const struct tern_address_vector *vector = (void *)wqe->segments;
	const struct tern_sge *out = (void *)(vector + 1);

	KUNIT_ASSERT_EQ(test, encode_ud(test, &wr), 2);
	KUNIT_EXPECT_EQ(test, wqe->control.blocks, 2);
	KUNIT_EXPECT_MEMEQ(test, vector->destination_gid, address.destination_gid, 16);
	KUNIT_EXPECT_MEMEQ(test, vector->destination_mac, address.destination_mac, 6);
	KUNIT_EXPECT_EQ(test, vector->hop_limit, 64);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(vector->remote_qpn), 0xffffff);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(vector->qkey), 0x80010000);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(out->address), 0x3000);
	wr.remote_qpn = 0x1000000;
	KUNIT_EXPECT_EQ(test, encode_ud(test, &wr), -EINVAL);
}

/* UC has no answers: neither data nor the peer's keys come into it. */
static void wqe_unreliable(struct kunit *test)
{
	struct ib_rdma_wr wr = {};
	int opcode;

	for (opcode = 0; opcode <= IB_WR_REG_MR_INTEGRITY; opcode++) {
		bool there = opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
			     opcode == IB_WR_RDMA_WRITE || opcode == IB_WR_RDMA_WRITE_WITH_IMM;

		wr.wr.opcode = opcode;
		KUNIT_EXPECT_EQ(test, tern_ib_encode_send(IB_QPT_UC, &cap, false, &wr.wr, NULL,
							  test->priv), there ? 1 : -EINVAL);
	}
}

/* No consumer in the kernel names an SRQ of the peer: whatever it posts, there is none. */
static void wqe_names_no_srq(struct kunit *test)
{
	struct ib_atomic_wr wr = {};
	struct tern_ib_wqe *wqe = test->priv;
	int opcode;

	for (opcode = 0; opcode <= IB_WR_REG_MR_INTEGRITY; opcode++) {
		memset(wqe, 0xff, sizeof(*wqe));
		wr.wr.opcode = opcode;
		if (encode_rc(test, &wr.wr) > 0)
			KUNIT_EXPECT_EQ(test, le32_to_cpu(wqe->control.remote_srqn), 0);
	}
}

static void wqe_datagrams_only_send(struct kunit *test)
{
	struct ib_ud_wr wr = { .remote_qpn = 2 };
	int opcode;

	for (opcode = 0; opcode <= IB_WR_REG_MR_INTEGRITY; opcode++) {
		bool sends = opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM;

		wr.wr.opcode = opcode;
		KUNIT_EXPECT_EQ(test, encode_ud(test, &wr), sends ? 1 : -EINVAL);
	}
}

static void wqe_refuses_what_is_not_there(struct kunit *test)
{
	static const enum ib_wr_opcode refused[] = {
		IB_WR_LOCAL_INV, IB_WR_REG_MR, IB_WR_LSO, IB_WR_RDMA_READ_WITH_INV,
		IB_WR_ATOMIC_WRITE, IB_WR_FLUSH, 255,
	};
	struct ib_rdma_wr wr = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		wr.wr.opcode = refused[i];
		KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
	}
}

static void wqe_sge_limits(struct kunit *test)
{
	struct ib_sge *sges = kunit_kcalloc(test, 28, sizeof(*sges), GFP_KERNEL);
	struct ib_rdma_wr wr = { .wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = sges } };
	struct ib_ud_wr datagram = { .wr = { .opcode = IB_WR_SEND, .sg_list = sges } };
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sges);
	for (i = 0; i <= 28; i++) {
		wr.wr.num_sge = i;
		KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), DIV_ROUND_UP(32 + 16 * i, 64));
		datagram.wr.num_sge = i;
		KUNIT_EXPECT_EQ(test, encode_ud(test, &datagram), DIV_ROUND_UP(64 + 16 * i, 64));
	}
	wr.wr.num_sge = 29;
	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
	wr.wr.num_sge = -1;
	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
}

static void wqe_inline(struct kunit *test)
{
	u8 *data = kunit_kmalloc(test, 449, GFP_KERNEL);
	struct ib_sge sges[3];
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = sges, .send_flags = IB_SEND_INLINE },
	};
	struct tern_ib_wqe *wqe = test->priv;
	u32 i, length;

	KUNIT_ASSERT_NOT_NULL(test, data);
	for (i = 0; i < 449; i++)
		data[i] = i * 7;
	for (length = 0; length <= 448; length++) {
		/* In pieces, one of them empty. */
		sges[0] = (struct ib_sge) { .addr = (uintptr_t)data, .length = length / 3 };
		sges[1] = (struct ib_sge) { .addr = (uintptr_t)data, .length = 0 };
		sges[2] = (struct ib_sge) { .addr = (uintptr_t)data + length / 3,
					    .length = length - length / 3 };
		wr.wr.num_sge = 3;
		KUNIT_ASSERT_EQ(test, encode_rc(test, &wr.wr), DIV_ROUND_UP(32 + length, 64));
		KUNIT_EXPECT_EQ(test, wqe->control.flags, TERN_WQE_INLINE);
		KUNIT_EXPECT_EQ(test, wqe->control.sge_count, 0);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(wqe->control.inline_length), length);
		KUNIT_EXPECT_EQ(test, memcmp(wqe->segments + 16, data, length), 0);
	}
	sges[0].length = 449;
	wr.wr.num_sge = 1;
	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
	/* Lengths whose sum wraps. */
	sges[0].length = 448;
	sges[1].length = U32_MAX;
	wr.wr.num_sge = 2;
	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
}

static void wqe_no_inline_read(struct kunit *test)
{
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_READ, .send_flags = IB_SEND_INLINE },
	};

	KUNIT_EXPECT_EQ(test, encode_rc(test, &wr.wr), -EINVAL);
}

/* The largest of all fills eight blocks and not a byte more: the guard stays. */
static void wqe_largest(struct kunit *test)
{
	struct {
		struct tern_ib_wqe wqe;
		u8 guard[64];
	} *space = kunit_kmalloc(test, sizeof(*space), GFP_KERNEL);
	struct ib_sge *sges = kunit_kcalloc(test, 28, sizeof(*sges), GFP_KERNEL);
	struct ib_ud_wr wr = { .wr = { .opcode = IB_WR_SEND, .sg_list = sges, .num_sge = 28 } };

	KUNIT_ASSERT_NOT_NULL(test, space);
	KUNIT_ASSERT_NOT_NULL(test, sges);
	memset(space, 0xa5, sizeof(*space));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_send(IB_QPT_GSI, &cap, false, &wr.wr, &address,
						  &space->wqe), 8);
	KUNIT_EXPECT_NULL(test, memchr_inv(space->guard, 0xa5, sizeof(space->guard)));
}

static void wqe_receive(struct kunit *test)
{
	struct ib_sge *sges = kunit_kcalloc(test, 31, sizeof(*sges), GFP_KERNEL);
	struct ib_recv_wr wr = { .sg_list = sges };
	u8 *entry = kunit_kmalloc(test, 512, GFP_KERNEL);
	const struct tern_receive_header *header = (void *)entry;
	const struct tern_sge *out = (void *)(entry + 16);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sges);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	for (i = 0; i < 31; i++)
		sges[i] = (struct ib_sge) { .addr = i + 100, .length = i, .lkey = i + 7 };
	for (wr.num_sge = 0; wr.num_sge <= 31; wr.num_sge++) {
		memset(entry, 0xff, 512);
		KUNIT_ASSERT_EQ(test, tern_ib_encode_receive(31, &wr, 0x12345678, entry), 0);
		KUNIT_EXPECT_EQ(test, header->sge_count, wr.num_sge);
		KUNIT_EXPECT_NULL(test, memchr_inv(entry + 1, 0, 3));
		KUNIT_EXPECT_EQ(test, le32_to_cpu(header->tag), 0x12345678);
		KUNIT_EXPECT_NULL(test, memchr_inv(entry + 8, 0, 8));
		for (i = 0; i < wr.num_sge; i++) {
			KUNIT_EXPECT_EQ(test, le64_to_cpu(out[i].address), i + 100);
			KUNIT_EXPECT_EQ(test, le32_to_cpu(out[i].length), i);
			KUNIT_EXPECT_EQ(test, le32_to_cpu(out[i].key), i + 7);
		}
	}
	wr.num_sge = 32;
	KUNIT_EXPECT_EQ(test, tern_ib_encode_receive(31, &wr, 0x12345678, entry), -EINVAL);
	wr.num_sge = -1;
	KUNIT_EXPECT_EQ(test, tern_ib_encode_receive(31, &wr, 0x12345678, entry), -EINVAL);
}

static struct kunit_case wqe_cases[] = {
	KUNIT_CASE(wqe_send),
	KUNIT_CASE(wqe_flags),
	KUNIT_CASE(wqe_immediate),
	KUNIT_CASE(wqe_invalidate),
	KUNIT_CASE(wqe_register),
	KUNIT_CASE(wqe_remote),
	KUNIT_CASE(wqe_atomic),
	KUNIT_CASE(wqe_datagram),
	KUNIT_CASE(wqe_unreliable),
	KUNIT_CASE(wqe_names_no_srq),
	KUNIT_CASE(wqe_datagrams_only_send),
	KUNIT_CASE(wqe_refuses_what_is_not_there),
	KUNIT_CASE(wqe_sge_limits),
	KUNIT_CASE(wqe_inline),
	KUNIT_CASE(wqe_no_inline_read),
	KUNIT_CASE(wqe_largest),
	KUNIT_CASE(wqe_receive),
	{}
};

static struct kunit_suite wqe_suite = {
	.name = "tern_wqe",
	.init = wqe_init,
	.test_cases = wqe_cases,
};

kunit_test_suite(wqe_suite);
