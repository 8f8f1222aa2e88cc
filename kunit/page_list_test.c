// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: page lists. */
#include <kunit/test.h>

#include "page_list.c"

#define TABLE_DMA_BASE	0x7000000000ULL
#define PAGE_DMA_BASE	0x100000000ULL

/**
 * struct list_case - a range, and the list that it needs
 * @name: of the case
 * @length: bytes
 * @offset: of the first byte in the first page
 * @shift: log2 of a page's bytes
 * @pages: data pages
 * @levels: levels of tables
 * @tables: tables
 */
struct list_case {
	const char *name;
	u64 length;
	u32 offset;
	unsigned int shift;
	u64 pages;
	unsigned int levels;
	u64 tables;
};

static const struct list_case list_cases[] = {
	{ "one byte", 1, 0, 12, 1, 1, 1 },
	{ "one page", 4096, 0, 12, 1, 1, 1 },
	{ "one page and a byte", 4097, 0, 12, 2, 1, 1 },
	{ "two bytes across pages", 2, 4095, 12, 2, 1, 1 },
	{ "one table", 512 * 4096ULL, 0, 12, 512, 1, 1 },
	{ "one table, shifted", 512 * 4096ULL, 1, 12, 513, 2, 3 },
	{ "two levels", 513 * 4096ULL, 0, 12, 513, 2, 3 },
	{ "1 GiB", 1ULL << 30, 0, 12, 1 << 18, 2, 513 },
	{ "1 GiB and a byte", (1ULL << 30) + 1, 0, 12, (1 << 18) + 1, 3, 516 },
	{ "3 GiB", 3ULL << 30, 0, 12, 3 << 18, 3, 1540 },
	{ "3 GiB of 2 MiB pages", 3ULL << 30, 0, 21, 1536, 2, 4 },
	{ "all of 512 GiB", 1ULL << 39, 0, 12, 1ULL << 27, 3, (1 << 18) + 512 + 1 },
};

KUNIT_ARRAY_PARAM_DESC(list, list_cases, name);

static void list_arithmetic(struct kunit *test)
{
	const struct list_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, tern_page_list_pages(c->length, c->offset, c->shift), c->pages);
	KUNIT_EXPECT_EQ(test, tern_page_list_levels(c->pages), c->levels);
	KUNIT_EXPECT_EQ(test, tern_page_list_table_count(c->pages), c->tables);
}

static void list_refuses(struct kunit *test)
{
	const u64 most = 1ULL << (36 + 12);

	KUNIT_EXPECT_EQ(test, tern_page_list_pages(0, 0, 12), 0ULL);
	KUNIT_EXPECT_EQ(test, tern_page_list_pages(U64_MAX, 4095, 12), 0ULL);
	KUNIT_EXPECT_EQ(test, tern_page_list_pages(U64_MAX, 0, 12), 0ULL);
	KUNIT_EXPECT_EQ(test, tern_page_list_pages(most, 0, 12), 1ULL << 36);
	KUNIT_EXPECT_EQ(test, tern_page_list_levels(1ULL << 36), 4U);
	KUNIT_EXPECT_EQ(test, tern_page_list_pages(most + 1, 0, 12), 0ULL);
	KUNIT_EXPECT_EQ(test, tern_page_list_pages(most, 1, 12), 0ULL);
}

/**
 * struct source - gives pages, each at an address of its own
 * @next: number of the next page
 * @count: how many there are
 */
struct source {
	u64 next;
	u64 count;
};

static dma_addr_t bus_address(u64 page)
{
	/* Not in order, as memory is. */
	return PAGE_DMA_BASE + ((page ^ 0x55) << 12);
}

static bool source_next(void *cursor, dma_addr_t *address)
{
	struct source *source = cursor;

	if (source->next == source->count)
		return false;
	*address = bus_address(source->next++);
	return true;
}

static void free_tables(void *tables)
{
	kvfree(tables);
}

/* Tables behind which guards stand, so that KASAN sees what goes beyond. */
static struct tern_page_table *make_tables(struct kunit *test, u64 count)
{
	struct tern_page_table *tables = kunit_kcalloc(test, count, sizeof(*tables), GFP_KERNEL);
	u64 i;

	KUNIT_ASSERT_NOT_NULL(test, tables);
	for (i = 0; i < count; i++) {
		tables[i].entries = kvcalloc(TERN_PAGE_TABLE_ENTRIES, sizeof(__le64), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, tables[i].entries);
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_tables,
								tables[i].entries), 0);
		tables[i].dma = TABLE_DMA_BASE + (i << TERN_PAGE_TABLE_SHIFT);
	}
	return tables;
}

/* As the device walks: the page number in base 512, top digit first. */
static u64 walk(struct kunit *test, const struct tern_page_table *tables, u64 count,
		dma_addr_t root, unsigned int levels, u64 page)
{
	u64 entry = root | TERN_PAGE_PRESENT;

	while (levels--) {
		u64 table = ((entry & ~(u64)TERN_PAGE_FLAGS) - TABLE_DMA_BASE) >>
			    TERN_PAGE_TABLE_SHIFT;

		/* The right to write is the data page's alone. */
		KUNIT_ASSERT_EQ(test, entry & TERN_PAGE_FLAGS, (u64)TERN_PAGE_PRESENT);
		KUNIT_ASSERT_LT(test, table, count);
		entry = le64_to_cpu(tables[table].entries[(page >> (9 * levels)) & 511]);
	}
	return entry;
}

static const u64 filled_pages[] = { 1, 511, 512, 513, 1024, 262143, 262144, 262145, 300000 };

static void pages_desc(const u64 *pages, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu pages", *pages);
}

KUNIT_ARRAY_PARAM(filled, filled_pages, pages_desc);

static void list_leads_to_every_page(struct kunit *test)
{
	u64 pages = *(const u64 *)test->param_value;
	u64 count = tern_page_list_table_count(pages);
	struct tern_page_table *tables = make_tables(test, count);
	unsigned int levels = tern_page_list_levels(pages);
	struct source source = { .count = pages };
	u64 wrong = 0;
	dma_addr_t root;
	u64 i;

	KUNIT_ASSERT_EQ(test, tern_page_list_fill(tables, pages, true, source_next, &source,
						  &root), 0);
	KUNIT_EXPECT_EQ(test, source.next, pages);
	for (i = 0; i < pages; i++)
		wrong += walk(test, tables, count, root, levels, i) !=
			 (bus_address(i) | TERN_PAGE_PRESENT | TERN_PAGE_WRITE);
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);
	/* Nothing beyond the last is present. */
	if (pages & 511)
		KUNIT_EXPECT_EQ(test, walk(test, tables, count, root, levels, pages), 0ULL);
}

static void list_for_reading_allows_no_write(struct kunit *test)
{
	struct tern_page_table *tables = make_tables(test, 3);
	struct source source = { .count = 513 };
	dma_addr_t root;

	KUNIT_ASSERT_EQ(test, tern_page_list_fill(tables, 513, false, source_next, &source, &root),
			0);
	KUNIT_EXPECT_EQ(test, walk(test, tables, 3, root, 2, 0),
			bus_address(0) | TERN_PAGE_PRESENT);
	KUNIT_EXPECT_EQ(test, walk(test, tables, 3, root, 2, 512),
			bus_address(512) | TERN_PAGE_PRESENT);
}

static void list_notices_missing_pages(struct kunit *test)
{
	struct tern_page_table *tables = make_tables(test, 1);
	struct source source = { .count = 4 };
	dma_addr_t root;

	KUNIT_EXPECT_EQ(test, tern_page_list_fill(tables, 5, true, source_next, &source, &root),
			-EINVAL);
}

static struct kunit_case page_list_cases[] = {
	KUNIT_CASE_PARAM(list_arithmetic, list_gen_params),
	KUNIT_CASE(list_refuses),
	KUNIT_CASE_PARAM(list_leads_to_every_page, filled_gen_params),
	KUNIT_CASE(list_for_reading_allows_no_write),
	KUNIT_CASE(list_notices_missing_pages),
	{}
};

static struct kunit_suite page_list_suite = {
	.name = "tern_page_list",
	.test_cases = page_list_cases,
};

kunit_test_suite(page_list_suite);
