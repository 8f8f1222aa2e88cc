// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit: tags of shared receive queues. */
#include <kunit/test.h>

#include "tags.c"

static void tags_take_all(struct kunit *test, struct tern_ib_tags *tags, u32 count)
{
	unsigned long seen = 0;
	u32 tag, i;

	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_TRUE(test, tern_ib_tag_take(tags, 1000 + i, &tag));
		KUNIT_ASSERT_LT(test, tag, count);
		KUNIT_EXPECT_FALSE(test, seen & BIT(tag));
		seen |= BIT(tag);
	}
	KUNIT_EXPECT_FALSE(test, tern_ib_tag_take(tags, 1, &tag));
}

static void tags_as_many_as_there_are(struct kunit *test)
{
	struct tern_ib_tags tags;
	u64 wr_id;
	u32 i;

	KUNIT_ASSERT_EQ(test, tern_ib_tags_init(&tags, 5), 0);
	tags_take_all(test, &tags, 5);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_TRUE(test, tern_ib_tag_give(&tags, (i * 3) % 5, &wr_id));
	tags_take_all(test, &tags, 5);
	tern_ib_tags_destroy(&tags);
}

static void tags_in_any_order(struct kunit *test)
{
	u32 a, b, c, again;
	struct tern_ib_tags tags;
	u64 wr_id;

	KUNIT_ASSERT_EQ(test, tern_ib_tags_init(&tags, 3), 0);
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_take(&tags, 10, &a));
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_take(&tags, ~0ULL, &b));
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_take(&tags, 12, &c));
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_give(&tags, b, &wr_id));
	KUNIT_EXPECT_EQ(test, wr_id, ~0ULL);
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_take(&tags, 13, &again));
	KUNIT_EXPECT_EQ(test, again, b);
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_give(&tags, c, &wr_id));
	KUNIT_EXPECT_EQ(test, wr_id, 12);
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_give(&tags, a, &wr_id));
	KUNIT_EXPECT_EQ(test, wr_id, 10);
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_give(&tags, again, &wr_id));
	KUNIT_EXPECT_EQ(test, wr_id, 13);
	tern_ib_tags_destroy(&tags);
}

/* A device that completes what is not outstanding. */
static void tags_refuse_lies(struct kunit *test)
{
	struct tern_ib_tags tags;
	u64 wr_id;
	u32 tag;

	KUNIT_ASSERT_EQ(test, tern_ib_tags_init(&tags, 2), 0);
	KUNIT_EXPECT_FALSE(test, tern_ib_tag_give(&tags, 0, &wr_id));
	KUNIT_EXPECT_FALSE(test, tern_ib_tag_give(&tags, 2, &wr_id));
	KUNIT_EXPECT_FALSE(test, tern_ib_tag_give(&tags, U32_MAX, &wr_id));
	KUNIT_ASSERT_TRUE(test, tern_ib_tag_take(&tags, 7, &tag));
	KUNIT_EXPECT_TRUE(test, tern_ib_tag_give(&tags, tag, &wr_id));
	KUNIT_EXPECT_FALSE(test, tern_ib_tag_give(&tags, tag, &wr_id));
	tags_take_all(test, &tags, 2);
	tern_ib_tags_destroy(&tags);
}

static struct kunit_case tags_cases[] = {
	KUNIT_CASE(tags_as_many_as_there_are),
	KUNIT_CASE(tags_in_any_order),
	KUNIT_CASE(tags_refuse_lies),
	{}
};

static struct kunit_suite tags_suite = {
	.name = "tern_tags",
	.test_cases = tags_cases,
};

kunit_test_suite(tags_suite);
