// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: making page lists for the device. */
#include <linux/sched.h>
#include <linux/slab.h>

#include "adapter.h"
#include "page_list.h"

static int tern_page_tables_fill(struct tern_adapter *adapter, struct tern_page_tables *tables,
				 u64 pages, bool writable, tern_next_page *next, void *cursor)
{
	u64 count = tern_page_list_table_count(pages);
	struct tern_page_table *table;
	dma_addr_t root;
	int err;

	if (count > U32_MAX)
		return -E2BIG;
	tables->tables = kvcalloc(count, sizeof(*tables->tables), GFP_KERNEL);
	if (!tables->tables)
		return -ENOMEM;
	for (; tables->count < count; tables->count++) {
		table = &tables->tables[tables->count];
		table->entries = dma_pool_zalloc(adapter->tables, GFP_KERNEL, &table->dma);
		if (!table->entries)
			return -ENOMEM;
		cond_resched();
	}
	err = tern_page_list_fill(tables->tables, pages, writable, next, cursor, &root);
	if (err)
		return err;
	tables->list.root = cpu_to_le64(root);
	tables->list.levels = tern_page_list_levels(pages);
	return 0;
}

/**
 * tern_page_tables_create() - make a page list
 * @tern: the function
 * @tables: filled in
 * @length: bytes of the range
 * @first_offset: of its first byte in the first page
 * @page_shift: log2 of a page's bytes; one of the device's page sizes
 * @writable: may the device write to the range?
 * @next: gives the addresses of its pages, in order
 * @cursor: for @next
 *
 * A range of one page becomes a list without a table.
 *
 * Return: 0, -EINVAL, -E2BIG or -ENOMEM
 */
int tern_page_tables_create(struct tern_device *tern, struct tern_page_tables *tables, u64 length,
			    u32 first_offset, unsigned int page_shift, bool writable,
			    tern_next_page *next, void *cursor)
{
	u64 pages = tern_page_list_pages(length, first_offset, page_shift);
	dma_addr_t address;
	int err;

	memset(tables, 0, sizeof(*tables));
	if (!pages || page_shift < TERN_PAGE_SHIFT_MIN || page_shift > TERN_PAGE_SHIFT_MAX ||
	    first_offset >> page_shift)
		return -EINVAL;

	tables->list.length = cpu_to_le64(length);
	if (pages == 1) {
		if (!next(cursor, &address))
			return -EINVAL;
		tables->list.root = cpu_to_le64(address + first_offset);
		return 0;
	}
	tables->list.first_offset = cpu_to_le32(first_offset);
	tables->list.page_shift = page_shift;
	err = tern_page_tables_fill(tern_adapter(tern), tables, pages, writable, next, cursor);
	if (err)
		tern_page_tables_destroy(tern, tables);
	return err;
}
EXPORT_SYMBOL_NS_GPL(tern_page_tables_create, TERN_NAMESPACE);

/**
 * tern_page_tables_destroy() - free the tables; the device does not use them any more
 * @tern: the function
 * @tables: from tern_page_tables_create()
 */
void tern_page_tables_destroy(struct tern_device *tern, struct tern_page_tables *tables)
{
	struct tern_adapter *adapter = tern_adapter(tern);
	struct tern_page_table *table;

	while (tables->count) {
		table = &tables->tables[--tables->count];
		dma_pool_free(adapter->tables, table->entries, table->dma);
		cond_resched();
	}
	kvfree(tables->tables);
	tables->tables = NULL;
}
EXPORT_SYMBOL_NS_GPL(tern_page_tables_destroy, TERN_NAMESPACE);
