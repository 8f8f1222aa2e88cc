// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: the arithmetic of page lists.
 *
 * The tables of a list are kept in one array, those of the lowest level
 * first, in order, then those of the level above, and so on; the root is last.
 */
#include <linux/math64.h>
#include <linux/sched.h>

#include "page_list.h"

#define TERN_PAGE_TABLE_DIGIT	9

static_assert(BIT(TERN_PAGE_TABLE_DIGIT) == TERN_PAGE_TABLE_ENTRIES);

static u64 tern_page_list_tables_above(u64 entries)
{
	return (entries >> TERN_PAGE_TABLE_DIGIT) + !!(entries & (TERN_PAGE_TABLE_ENTRIES - 1));
}

/**
 * tern_page_list_pages() - the number of data pages of a range
 * @length: of the range
 * @first_offset: of its first byte in the first page
 * @page_shift: log2 of a page's bytes
 *
 * Return: the number of pages; 0 when the range is empty or too long for a list
 */
u64 tern_page_list_pages(u64 length, u32 first_offset, unsigned int page_shift)
{
	u64 end;

	if (!length || check_add_overflow(length, (u64)first_offset, &end))
		return 0;
	end = ((end - 1) >> page_shift) + 1;
	return end <= BIT_ULL(TERN_PAGE_LEVELS_MAX * TERN_PAGE_TABLE_DIGIT) ? end : 0;
}

/**
 * tern_page_list_levels() - levels of tables that a list needs
 * @pages: data pages, at least 1
 *
 * Return: 1..TERN_PAGE_LEVELS_MAX
 */
unsigned int tern_page_list_levels(u64 pages)
{
	unsigned int levels = 1;

	while (pages > TERN_PAGE_TABLE_ENTRIES) {
		pages = tern_page_list_tables_above(pages);
		levels++;
	}
	return levels;
}

/**
 * tern_page_list_table_count() - tables that a list needs
 * @pages: data pages, at least 1
 *
 * Return: how many
 */
u64 tern_page_list_table_count(u64 pages)
{
	u64 count = 0;

	do {
		pages = tern_page_list_tables_above(pages);
		count += pages;
	} while (pages > 1);
	return count;
}

/**
 * tern_page_list_fill() - write the tables of a list
 * @tables: tern_page_list_table_count() zeroed tables
 * @pages: data pages, at least 1
 * @writable: may the device write to the data pages?
 * @next: gives their addresses
 * @cursor: for @next
 * @root: set to the root's bus address
 *
 * Return: 0, or -EINVAL when @next gave too few
 */
int tern_page_list_fill(struct tern_page_table *tables, u64 pages, bool writable,
			tern_next_page *next, void *cursor, dma_addr_t *root)
{
	u64 flags = TERN_PAGE_PRESENT | (writable ? TERN_PAGE_WRITE : 0);
	const struct tern_page_table *below;
	dma_addr_t address;
	u64 count, i;

	for (i = 0; i < pages; i++) {
		if (!next(cursor, &address))
			return -EINVAL;
		tables[i >> TERN_PAGE_TABLE_DIGIT].entries[i & (TERN_PAGE_TABLE_ENTRIES - 1)] =
			cpu_to_le64(address | flags);
		if (!(i & (TERN_PAGE_TABLE_ENTRIES - 1)))
			cond_resched();
	}
	count = tern_page_list_tables_above(pages);
	while (count > 1) {
		below = tables;
		tables += count;
		for (i = 0; i < count; i++)
			tables[i >> TERN_PAGE_TABLE_DIGIT]
				.entries[i & (TERN_PAGE_TABLE_ENTRIES - 1)] =
				cpu_to_le64(below[i].dma | TERN_PAGE_PRESENT);
		count = tern_page_list_tables_above(count);
	}
	*root = tables->dma;
	return 0;
}
