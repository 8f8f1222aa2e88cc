/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern core driver: on-demand paging: page lists that grow and shrink, faults and their end. */
#ifndef TERN_PAGING_H
#define TERN_PAGING_H

#include "tern_core.h"
#include "tern_hw_page_fault.h"

struct tern_sparse_node;

/**
 * struct tern_sparse_tables - a page list whose entries come and go
 * @list: what commands carry
 * @levels: of tables
 * @pages: data pages that it can name
 * @root: the top table
 *
 * The caller serialises what changes its tables (add, detach). Entries are set and cleared
 * meanwhile, by whoever has made the tables of their pages and keeps them.
 */
struct tern_sparse_tables {
	struct tern_page_list list;
	unsigned int levels;
	u64 pages;
	struct tern_sparse_node *root;
};

int tern_sparse_create(struct tern_device *tern, struct tern_sparse_tables *tables, u64 length,
		       u32 first_offset, unsigned int page_shift);
void tern_sparse_destroy(struct tern_device *tern, struct tern_sparse_tables *tables);
int tern_sparse_add(struct tern_device *tern, struct tern_sparse_tables *tables, u64 first,
		    u64 count);
void tern_sparse_detach(struct tern_sparse_tables *tables, u64 first, u64 count,
			struct tern_sparse_node **detached);
void tern_sparse_free(struct tern_device *tern, struct tern_sparse_node *detached);
void tern_sparse_set(struct tern_sparse_tables *tables, u64 page, dma_addr_t address,
		     bool writable);
bool tern_sparse_clear(struct tern_sparse_tables *tables, u64 first, u64 count);

int tern_cmd_key_invalidate_pages(struct tern_device *tern, u32 index, u64 address, u64 length);
int tern_cmd_key_resume(struct tern_device *tern, u32 qpn, u32 fault, u8 status);

#endif /* TERN_PAGING_H */
