/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the frame of the native tests.
 *
 * A program tests/test_<part>.c holds tests written as
 *
 *	TERN_TEST(name_of_test)
 *	{
 *		CHECK(condition);
 *	}
 *
 * and no main(). Each test runs in a process of its own, so that a crash, a
 * sanitizer's report or a hang fails that test and no other. Run by hand:
 * "test_x" all, "test_x part" those whose name contains part, "test_x -1 part"
 * in this process (for a debugger), "test_x -l" to list.
 */
#ifndef TERN_TEST_H
#define TERN_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct tern_test {
	const char *name;
	void (*run)(void);
	struct tern_test *next;
};

void tern_test_register(struct tern_test *test);
_Noreturn void tern_test_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void tern_test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define TERN_TEST(id)								\
	static void test_run_##id(void);					\
	static struct tern_test test_##id = { #id, test_run_##id, NULL };	\
	__attribute__((constructor)) static void test_register_##id(void)	\
	{									\
		tern_test_register(&test_##id);					\
	}									\
	static void test_run_##id(void)

/* End this test as failed. */
#define FAIL(...)	tern_test_fail(__FILE__, __LINE__, __VA_ARGS__)

/* End this test as skipped, saying what is missing. */
#define SKIP(...)	tern_test_skip(__VA_ARGS__)

#define CHECK(condition)							\
	do {									\
		if (!(condition))						\
			FAIL("%s", #condition);					\
	} while (0)

/* Compare integers, showing both. */
#define CHECK_EQ(got, want)							\
	do {									\
		long long got_ = (long long)(got), want_ = (long long)(want);	\
										\
		if (got_ != want_)						\
			FAIL("%s is %lld (0x%llx), not %s = %lld (0x%llx)",	\
			     #got, got_, got_, #want, want_, want_);		\
	} while (0)

/* Compare bytes, showing the first that differs. */
#define CHECK_MEM(got, want, length)						\
	do {									\
		const unsigned char *got_ = (const void *)(got);		\
		const unsigned char *want_ = (const void *)(want);		\
		size_t len_ = (length);						\
										\
		for (size_t i_ = 0; i_ < len_; i_++) {				\
			if (got_[i_] != want_[i_])				\
				FAIL("%s and %s differ at byte %zu of %zu: "	\
				     "0x%02x, not 0x%02x", #got, #want, i_,	\
				     len_, got_[i_], want_[i_]);		\
		}								\
	} while (0)

#define CHECK_STR(got, want)							\
	do {									\
		const char *gs_ = (got), *ws_ = (want);				\
										\
		if (strcmp(gs_, ws_) != 0)					\
			FAIL("%s is \"%s\", not \"%s\"", #got, gs_, ws_);	\
	} while (0)

#endif /* TERN_TEST_H */
