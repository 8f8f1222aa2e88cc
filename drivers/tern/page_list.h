/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Page lists without a device: KUnit uses this, too. */
#ifndef TERN_PAGE_LIST_H
#define TERN_PAGE_LIST_H

#include "tern_core.h"

/**
 * struct tern_page_table - a table of a page list
 * @entries: TERN_PAGE_TABLE_ENTRIES of them
 * @dma: its bus address
 */
struct tern_page_table {
	__le64 *entries;
	dma_addr_t dma;
};

u64 tern_page_list_pages(u64 length, u32 first_offset, unsigned int page_shift);
unsigned int tern_page_list_levels(u64 pages);
u64 tern_page_list_table_count(u64 pages);
int tern_page_list_fill(struct tern_page_table *tables, u64 pages, bool writable,
			tern_next_page *next, void *cursor, dma_addr_t *root);

#endif /* TERN_PAGE_LIST_H */
