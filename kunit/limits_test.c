// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: limits and sizes of queues. */
#include <kunit/test.h>

#include "fixture.h"
#include "limits.c"

static const struct tern_capabilities fixture_caps = {
	.gid_count = 256,
	.pkey_count = 1,
	.cq_shift_max = 17,
	.sq_shift_max = 16,
	.rq_shift_max = 15,
	.send_sge_max = 28,
	.receive_sge_max = 31,
	.srq_sge_max = 31,
	.read_initiator_max = 16,
	.read_responder_max = 12,
	.inline_max = 480,
	.message_bytes_max = 1U << 31,
	.page_sizes = 0xfffff000,
};

static void limits_follow_the_device(struct kunit *test)
{
	struct tern_ib_limits limits;

	memset(&limits, 0xff, sizeof(limits));
	tern_ib_limits_from(&limits, &fixture_caps);
	KUNIT_EXPECT_EQ(test, limits.max_cqe, fixture_limits.max_cqe);
	KUNIT_EXPECT_EQ(test, limits.max_qp_wr, fixture_limits.max_qp_wr);
	KUNIT_EXPECT_EQ(test, limits.max_send_sge, fixture_limits.max_send_sge);
	KUNIT_EXPECT_EQ(test, limits.max_recv_sge, fixture_limits.max_recv_sge);
	KUNIT_EXPECT_EQ(test, limits.max_srq_wr, fixture_limits.max_srq_wr);
	KUNIT_EXPECT_EQ(test, limits.max_srq_sge, fixture_limits.max_srq_sge);
	KUNIT_EXPECT_EQ(test, limits.max_inline, fixture_limits.max_inline);
	KUNIT_EXPECT_EQ(test, limits.max_inline_ud, fixture_limits.max_inline_ud);
	KUNIT_EXPECT_EQ(test, limits.max_initiator_depth, fixture_limits.max_initiator_depth);
	KUNIT_EXPECT_EQ(test, limits.max_responder_resources,
			fixture_limits.max_responder_resources);
	KUNIT_EXPECT_EQ(test, limits.max_message, fixture_limits.max_message);
	KUNIT_EXPECT_EQ(test, limits.page_sizes, fixture_limits.page_sizes);
	KUNIT_EXPECT_EQ(test, limits.gid_count, fixture_limits.gid_count);
	KUNIT_EXPECT_EQ(test, limits.pkey_count, fixture_limits.pkey_count);
	KUNIT_EXPECT_EQ(test, limits.sq_shift_max, fixture_limits.sq_shift_max);
	KUNIT_EXPECT_EQ(test, limits.rq_shift_max, fixture_limits.rq_shift_max);
	KUNIT_EXPECT_EQ(test, limits.cq_shift_max, fixture_limits.cq_shift_max);
}

/* A queue of fewer blocks than the largest work request has holds a small one still. */
static void limits_of_a_tiny_queue(struct kunit *test)
{
	struct tern_capabilities caps = fixture_caps;
	struct tern_ib_limits limits;

	caps.sq_shift_max = 2;
	tern_ib_limits_from(&limits, &caps);
	KUNIT_EXPECT_EQ(test, limits.max_qp_wr, 1);
}

/* A device that claims more than a work request has room for is not believed. */
static void limits_fit_the_format(struct kunit *test)
{
	struct tern_capabilities caps = fixture_caps;
	struct tern_ib_limits limits;

	caps.send_sge_max = 255;
	caps.receive_sge_max = 255;
	caps.inline_max = 512;
	tern_ib_limits_from(&limits, &caps);
	KUNIT_EXPECT_EQ(test, limits.max_send_sge, 28);
	KUNIT_EXPECT_EQ(test, limits.max_recv_sge, 28);
	caps.receive_sge_max = 3;
	tern_ib_limits_from(&limits, &caps);
	KUNIT_EXPECT_EQ(test, limits.max_send_sge, 3);
	KUNIT_EXPECT_EQ(test, limits.max_recv_sge, 3);
	KUNIT_EXPECT_EQ(test, limits.max_inline, 480);
	KUNIT_EXPECT_EQ(test, limits.max_inline_ud, 448);
}

/* The verbs name an entry of the GID table by a byte. */
static void limits_name_every_gid(struct kunit *test)
{
	struct tern_capabilities caps = fixture_caps;
	struct tern_ib_limits limits;

	caps.gid_count = 257;
	tern_ib_limits_from(&limits, &caps);
	KUNIT_EXPECT_EQ(test, limits.gid_count, 256);
}

static void limits_of_receive_bound_both(struct kunit *test)
{
	struct tern_capabilities caps = fixture_caps;
	struct tern_ib_limits limits;

	caps.rq_shift_max = 6;
	tern_ib_limits_from(&limits, &caps);
	KUNIT_EXPECT_EQ(test, limits.max_qp_wr, 64);
}

/* The largest that is allowed, in every dimension at once, fits the device's queues. */
static void limits_hold_together(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UD, IB_QPT_GSI };
	struct tern_ib_sizes sizes;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ib_qp_cap cap = {
			.max_send_wr = fixture_limits.max_qp_wr,
			.max_recv_wr = fixture_limits.max_qp_wr,
			.max_send_sge = fixture_limits.max_send_sge,
			.max_recv_sge = fixture_limits.max_recv_sge,
			.max_inline_data = types[i] == IB_QPT_RC ?
					   fixture_limits.max_inline :
					   fixture_limits.max_inline_ud,
		};

		KUNIT_EXPECT_EQ(test, tern_ib_check_qp_cap(&fixture_limits, types[i], &cap), 0);
		tern_ib_size_queues(types[i], &cap, &sizes);
		KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &sizes, &sizes), 0);
		KUNIT_EXPECT_EQ(test, sizes.sq_shift, 16);
		KUNIT_EXPECT_EQ(test, sizes.rq_shift, 13);
		KUNIT_EXPECT_EQ(test, sizes.rq_stride_shift, 9);
	}
}

/**
 * struct bound_case - a capability and its limit
 * @name: of the case
 * @type: of the queue pair
 * @offset: of the capability in struct ib_qp_cap
 * @limit: the most that is allowed
 */
struct bound_case {
	const char *name;
	enum ib_qp_type type;
	size_t offset;
	u32 limit;
};

static const struct bound_case bound_cases[] = {
	{ "max_send_wr", IB_QPT_RC, offsetof(struct ib_qp_cap, max_send_wr), 8192 },
	{ "max_recv_wr", IB_QPT_RC, offsetof(struct ib_qp_cap, max_recv_wr), 8192 },
	{ "max_send_sge", IB_QPT_RC, offsetof(struct ib_qp_cap, max_send_sge), 28 },
	{ "max_recv_sge", IB_QPT_RC, offsetof(struct ib_qp_cap, max_recv_sge), 28 },
	{ "RC inline", IB_QPT_RC, offsetof(struct ib_qp_cap, max_inline_data), 480 },
	{ "XRC inline", IB_QPT_XRC_INI, offsetof(struct ib_qp_cap, max_inline_data), 480 },
	{ "UD inline", IB_QPT_UD, offsetof(struct ib_qp_cap, max_inline_data), 448 },
	{ "GSI inline", IB_QPT_GSI, offsetof(struct ib_qp_cap, max_inline_data), 448 },
};

KUNIT_ARRAY_PARAM_DESC(bound, bound_cases, name);

static int check_cap(const struct bound_case *c, u32 value)
{
	struct ib_qp_cap cap = {};

	*(u32 *)((void *)&cap + c->offset) = value;
	return tern_ib_check_qp_cap(&fixture_limits, c->type, &cap);
}

static void limits_are_kept(struct kunit *test)
{
	const struct bound_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, check_cap(c, 0), 0);
	KUNIT_EXPECT_EQ(test, check_cap(c, c->limit), 0);
	KUNIT_EXPECT_EQ(test, check_cap(c, c->limit + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_cap(c, U32_MAX), -EINVAL);
}

/**
 * struct size_case - capabilities, and the queues that hold them
 * @name: of the case
 * @type: of the queue pair
 * @cap: capabilities
 * @sq_shift: of the send queue
 * @rq_shift: of the receive queue
 * @stride: of a receive entry, log2
 */
struct size_case {
	const char *name;
	enum ib_qp_type type;
	struct ib_qp_cap cap;
	u8 sq_shift;
	u8 rq_shift;
	u8 stride;
};

static const struct size_case size_cases[] = {
	/* 16 + 16 + 2 * 16 is a block; 3 SGEs make two. */
	{ "one block", IB_QPT_RC, { .max_send_wr = 64, .max_send_sge = 2 }, 6, 0, 0 },
	{ "two blocks", IB_QPT_RC, { .max_send_wr = 64, .max_send_sge = 3 }, 7, 0, 0 },
	{ "65 requests", IB_QPT_RC, { .max_send_wr = 65, .max_send_sge = 1 }, 7, 0, 0 },
	{ "one request", IB_QPT_RC, { .max_send_wr = 1 }, 1, 0, 0 },
	{ "inline", IB_QPT_RC, { .max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 33 },
	  5, 0, 0 },
	{ "inline block", IB_QPT_RC,
	  { .max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 32 }, 4, 0, 0 },
	/* The SRQ that a request names has its place in the first segment. */
	{ "XRC, one block", IB_QPT_XRC_INI, { .max_send_wr = 64, .max_send_sge = 2 }, 6, 0, 0 },
	{ "XRC, two blocks", IB_QPT_XRC_INI, { .max_send_wr = 64, .max_send_sge = 3 }, 7, 0, 0 },
	{ "XRC target", IB_QPT_XRC_TGT, {}, 0, 0, 0 },
	/* UD: 16 + 48 is a block, data goes beyond. */
	{ "UD, no data", IB_QPT_UD, { .max_send_wr = 16 }, 4, 0, 0 },
	{ "UD, one SGE", IB_QPT_UD, { .max_send_wr = 16, .max_send_sge = 1 }, 5, 0, 0 },
	{ "UD, five SGEs", IB_QPT_UD, { .max_send_wr = 16, .max_send_sge = 5 }, 6, 0, 0 },
	{ "three blocks", IB_QPT_UD, { .max_send_wr = 5, .max_send_sge = 8 }, 4, 0, 0 },
	{ "receive, 3 SGEs", IB_QPT_RC, { .max_recv_wr = 100, .max_recv_sge = 3 }, 0, 7, 6 },
	{ "receive, 4 SGEs", IB_QPT_RC, { .max_recv_wr = 128, .max_recv_sge = 4 }, 0, 7, 7 },
	{ "receive, 7 SGEs", IB_QPT_UD, { .max_recv_wr = 129, .max_recv_sge = 7 }, 0, 8, 7 },
	{ "receive, 31 SGEs", IB_QPT_RC, { .max_recv_wr = 1, .max_recv_sge = 31 }, 0, 1, 9 },
	{ "none", IB_QPT_RC, {}, 0, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, name);

static void limits_size_queues(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct tern_ib_sizes sizes;

	tern_ib_size_queues(c->type, &c->cap, &sizes);
	KUNIT_EXPECT_EQ(test, sizes.has_sq, c->cap.max_send_wr != 0);
	KUNIT_EXPECT_EQ(test, sizes.has_rq, c->cap.max_recv_wr != 0);
	KUNIT_EXPECT_EQ(test, sizes.sq_shift, c->sq_shift);
	KUNIT_EXPECT_EQ(test, sizes.rq_shift, c->rq_shift);
	KUNIT_EXPECT_EQ(test, sizes.rq_stride_shift, c->stride);
}

static void limits_check_what_a_process_gives(struct kunit *test)
{
	const struct tern_ib_sizes least = {
		.has_sq = true, .has_rq = true,
		.sq_shift = 6, .rq_shift = 5, .rq_stride_shift = 7,
	};
	struct tern_ib_sizes given;
	int i;

	for (i = 0; i < 256; i++) {
		given = least;
		given.sq_shift = i;
		KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &least, &given),
				i >= 6 && i <= 16 ? 0 : -EINVAL);
		given = least;
		given.rq_shift = i;
		KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &least, &given),
				i >= 5 && i <= 15 ? 0 : -EINVAL);
		given = least;
		given.rq_stride_shift = i;
		KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &least, &given),
				i >= 7 && i <= 9 ? 0 : -EINVAL);
	}
}

static void limits_want_zeros_for_no_queue(struct kunit *test)
{
	const struct tern_ib_sizes none = {};
	struct tern_ib_sizes given = {};

	KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &none, &given), 0);
	given.sq_shift = 1;
	KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &none, &given), -EINVAL);
	given = (struct tern_ib_sizes) { .rq_shift = 1 };
	KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &none, &given), -EINVAL);
	given = (struct tern_ib_sizes) { .rq_stride_shift = 6 };
	KUNIT_EXPECT_EQ(test, tern_ib_check_sizes(&fixture_limits, &none, &given), -EINVAL);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(limits_follow_the_device),
	KUNIT_CASE(limits_of_a_tiny_queue),
	KUNIT_CASE(limits_fit_the_format),
	KUNIT_CASE(limits_name_every_gid),
	KUNIT_CASE(limits_of_receive_bound_both),
	KUNIT_CASE(limits_hold_together),
	KUNIT_CASE_PARAM(limits_are_kept, bound_gen_params),
	KUNIT_CASE_PARAM(limits_size_queues, size_gen_params),
	KUNIT_CASE(limits_check_what_a_process_gives),
	KUNIT_CASE(limits_want_zeros_for_no_queue),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "tern_limits",
	.test_cases = limits_cases,
};

kunit_test_suite(limits_suite);
