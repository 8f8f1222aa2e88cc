// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: the arithmetic of kernel work queues. */
#include <kunit/test.h>

#include "ring.c"

#define SHIFT	4
#define UNITS	((u32)BIT(SHIFT))

static int ring_init(struct kunit *test)
{
	struct tern_ib_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_ASSERT_EQ(test, tern_ib_ring_init(ring, SHIFT, UNITS), 0);
	test->priv = ring;
	return 0;
}

static void ring_exit(struct kunit *test)
{
	tern_ib_ring_destroy(test->priv);
}

/* As if @start units had been posted and completed. */
static void ring_start_at(struct tern_ib_ring *ring, u32 start)
{
	ring->head = start;
	ring->tail = start;
	ring->head_sequence = start;
	ring->tail_sequence = start;
}

static void ring_holds_its_size(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	u32 i;

	for (i = 0; i < UNITS; i++) {
		KUNIT_EXPECT_TRUE(test, tern_ib_ring_fits(ring, 1));
		tern_ib_ring_post(ring, 1, i, 0);
	}
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_fits(ring, 1));
}

static void ring_holds_large_ones(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;

	tern_ib_ring_post(ring, 8, 1, 0);
	tern_ib_ring_post(ring, 7, 2, 0);
	KUNIT_EXPECT_TRUE(test, tern_ib_ring_fits(ring, 1));
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_fits(ring, 2));
}

static void ring_keeps_the_limit(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	struct tern_ib_posted posted;

	ring->limit = 3;
	tern_ib_ring_post(ring, 1, 10, 0);
	tern_ib_ring_post(ring, 2, 11, 0);
	tern_ib_ring_post(ring, 1, 12, 0);
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_fits(ring, 1));
	KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, 0, &posted));
	KUNIT_EXPECT_TRUE(test, tern_ib_ring_fits(ring, 1));
	tern_ib_ring_post(ring, 1, 13, 0);
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_fits(ring, 1));
}

static void ring_gives_back_what_was_posted(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	struct tern_ib_posted posted;

	tern_ib_ring_post(ring, 3, 0x1122334455667788, 6);
	tern_ib_ring_post(ring, 1, 2, 1);
	KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, 0, &posted));
	KUNIT_EXPECT_EQ(test, posted.wr_id, 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, posted.opcode, 6);
	KUNIT_EXPECT_EQ(test, posted.units, 3);
	KUNIT_EXPECT_EQ(test, ring->tail, 3);
	KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, 3, &posted));
	KUNIT_EXPECT_EQ(test, posted.wr_id, 2);
	KUNIT_EXPECT_EQ(test, ring->tail, ring->head);
}

/* Unsignalled work requests are retired by the next signalled one. */
static void ring_retires_what_came_before(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	struct tern_ib_posted posted;

	tern_ib_ring_post(ring, 2, 1, 0);
	tern_ib_ring_post(ring, 2, 2, 0);
	tern_ib_ring_post(ring, 2, 3, 0);
	KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, 4, &posted));
	KUNIT_EXPECT_EQ(test, posted.wr_id, 3);
	KUNIT_EXPECT_EQ(test, ring->tail, 6);
	KUNIT_EXPECT_EQ(test, ring->tail_sequence, 3);
}

static void ring_refuses_lies(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	struct tern_ib_posted posted;
	u32 i;

	for (i = 0; i < UNITS; i++)
		KUNIT_EXPECT_FALSE(test, tern_ib_ring_complete(ring, i, &posted));

	tern_ib_ring_post(ring, 2, 1, 0);
	tern_ib_ring_post(ring, 2, 2, 0);
	/* In the middle of one, and beyond the last. */
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_complete(ring, 1, &posted));
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_complete(ring, 3, &posted));
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_complete(ring, 4, &posted));
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_complete(ring, U32_MAX, &posted));
	KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, 0, &posted));
	/* Twice. */
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_complete(ring, 0, &posted));
	KUNIT_EXPECT_EQ(test, ring->tail, 2);
}

/* What stood in a place in the pass before does not count. */
static void ring_forgets_the_last_pass(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	struct tern_ib_posted posted;
	u32 i;

	for (i = 0; i < UNITS; i++)
		tern_ib_ring_post(ring, 1, i, 0);
	KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, UNITS - 1, &posted));
	tern_ib_ring_post(ring, 4, 99, 0);
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_complete(ring, 1, &posted));
	KUNIT_EXPECT_TRUE(test, tern_ib_ring_complete(ring, 0, &posted));
	KUNIT_EXPECT_EQ(test, posted.wr_id, 99);
}

/* Indices of 32 bits wrap; the ring goes on. */
static void ring_wraps(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	struct tern_ib_posted posted;
	u32 round, index;

	ring_start_at(ring, U32_MAX - 20);
	for (round = 0; round < 30; round++) {
		index = ring->head;
		KUNIT_ASSERT_TRUE(test, tern_ib_ring_fits(ring, 5));
		tern_ib_ring_post(ring, 5, round, 0);
		KUNIT_ASSERT_TRUE(test, tern_ib_ring_fits(ring, 8));
		tern_ib_ring_post(ring, 8, round + 1000, 0);
		KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, index, &posted));
		KUNIT_EXPECT_EQ(test, posted.wr_id, round);
		KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, index + 5, &posted));
		KUNIT_EXPECT_EQ(test, posted.wr_id, round + 1000);
		KUNIT_EXPECT_EQ(test, ring->tail, ring->head);
	}
	KUNIT_EXPECT_LT(test, ring->head, 1000U);
}

static void ring_limit_wraps(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;

	ring->limit = 2;
	ring_start_at(ring, U32_MAX);
	tern_ib_ring_post(ring, 1, 0, 0);
	KUNIT_EXPECT_TRUE(test, tern_ib_ring_fits(ring, 1));
	tern_ib_ring_post(ring, 1, 0, 0);
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_fits(ring, 1));
}

static void ring_names_the_oldest(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	struct tern_ib_posted posted;
	u32 index, i;

	KUNIT_EXPECT_FALSE(test, tern_ib_ring_oldest(ring, &index));
	ring_start_at(ring, U32_MAX - 2);
	for (i = 0; i < 3; i++)
		tern_ib_ring_post(ring, 2, i, 0);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_TRUE(test, tern_ib_ring_oldest(ring, &index));
		KUNIT_ASSERT_TRUE(test, tern_ib_ring_complete(ring, index, &posted));
		KUNIT_EXPECT_EQ(test, posted.wr_id, i);
	}
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_oldest(ring, &index));
}

static void ring_reset_empties(struct kunit *test)
{
	struct tern_ib_ring *ring = test->priv;
	u32 index;

	ring_start_at(ring, 77);
	tern_ib_ring_post(ring, UNITS, 1, 0);
	tern_ib_ring_reset(ring);
	KUNIT_EXPECT_FALSE(test, tern_ib_ring_oldest(ring, &index));
	KUNIT_EXPECT_TRUE(test, tern_ib_ring_fits(ring, UNITS));
	KUNIT_EXPECT_EQ(test, ring->head, 0);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_holds_its_size),
	KUNIT_CASE(ring_holds_large_ones),
	KUNIT_CASE(ring_keeps_the_limit),
	KUNIT_CASE(ring_gives_back_what_was_posted),
	KUNIT_CASE(ring_retires_what_came_before),
	KUNIT_CASE(ring_refuses_lies),
	KUNIT_CASE(ring_forgets_the_last_pass),
	KUNIT_CASE(ring_wraps),
	KUNIT_CASE(ring_limit_wraps),
	KUNIT_CASE(ring_names_the_oldest),
	KUNIT_CASE(ring_reset_empties),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "tern_ring",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
