// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: page lists for on-demand paging. Of the tree of tables only
 * those exist that somebody needed; the device sees the others as absent.
 *
 * Entries are set and cleared while tables elsewhere in the tree come and go,
 * and cleared where nobody may sleep for memory. So walking takes no lock.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "adapter.h"
#include "page_list.h"
#include "tern_paging.h"

#define TERN_SPARSE_DIGIT	9
#define TERN_SPARSE_INDEX	(TERN_PAGE_TABLE_ENTRIES - 1)

/**
 * struct tern_sparse_node - a table
 * @table: what the device sees
 * @used: children that there are
 * @next: of those that were detached
 * @children: of a table above the lowest level: the tables that its entries name
 */
struct tern_sparse_node {
	struct tern_page_table table;
	u32 used;
	struct tern_sparse_node *next;
	struct tern_sparse_node *children[];
};

static struct tern_sparse_node *tern_sparse_node_new(struct tern_device *tern, bool lowest)
{
	struct tern_sparse_node *node;

	node = kzalloc(struct_size(node, children, lowest ? 0 : TERN_PAGE_TABLE_ENTRIES),
		       GFP_KERNEL);
	if (!node)
		return NULL;
	node->table.entries = dma_pool_zalloc(tern_adapter(tern)->tables, GFP_KERNEL,
					      &node->table.dma);
	if (!node->table.entries) {
		kfree(node);
		return NULL;
	}
	return node;
}

static void tern_sparse_node_free(struct tern_device *tern, struct tern_sparse_node *node)
{
	dma_pool_free(tern_adapter(tern)->tables, node->table.entries, node->table.dma);
	kfree(node);
}

static unsigned int tern_sparse_index(u64 page, unsigned int level)
{
	return page >> (TERN_SPARSE_DIGIT * level) & TERN_SPARSE_INDEX;
}

/**
 * tern_sparse_create() - make a page list with all pages absent
 * @tern: the function
 * @tables: filled in
 * @length: bytes of the range
 * @first_offset: of its first byte in the first page
 * @page_shift: log2 of a page's bytes; one of the device's page sizes
 *
 * Return: 0, -EINVAL or -ENOMEM
 */
int tern_sparse_create(struct tern_device *tern, struct tern_sparse_tables *tables, u64 length,
		       u32 first_offset, unsigned int page_shift)
{
	u64 pages = tern_page_list_pages(length, first_offset, page_shift);

	if (!pages)
		return -EINVAL;
	*tables = (struct tern_sparse_tables) {
		.pages = pages,
		.levels = tern_page_list_levels(pages),
	};
	tables->root = tern_sparse_node_new(tern, tables->levels == 1);
	if (!tables->root)
		return -ENOMEM;
	tables->list = (struct tern_page_list) {
		.root = cpu_to_le64(tables->root->table.dma),
		.length = cpu_to_le64(length),
		.first_offset = cpu_to_le32(first_offset),
		.levels = tables->levels,
		.page_shift = page_shift,
	};
	return 0;
}
EXPORT_SYMBOL_NS_GPL(tern_sparse_create, TERN_NAMESPACE);

static int tern_sparse_add_table(struct tern_device *tern, struct tern_sparse_tables *tables,
				 u64 page)
{
	struct tern_sparse_node *node = tables->root, *child;
	unsigned int level, index;

	for (level = tables->levels - 1; level; level--, node = child) {
		index = tern_sparse_index(page, level);
		child = node->children[index];
		if (child)
			continue;
		child = tern_sparse_node_new(tern, level == 1);
		if (!child)
			return -ENOMEM;
		/* Zeroed before anybody finds it; pairs with the address dependency of a walk. */
		smp_store_release(&node->children[index], child);
		/* The same for the device. */
		dma_wmb();
		WRITE_ONCE(node->table.entries[index],
			   cpu_to_le64(child->table.dma | TERN_PAGE_PRESENT));
		node->used++;
	}
	return 0;
}

/**
 * tern_sparse_add() - make the tables of some pages
 * @tern: the function
 * @tables: the page list
 * @first: first page
 * @count: how many
 *
 * Return: 0 or -ENOMEM; the tables that were made stay
 */
int tern_sparse_add(struct tern_device *tern, struct tern_sparse_tables *tables, u64 first,
		    u64 count)
{
	u64 page;
	int err;

	for (page = first & ~(u64)TERN_SPARSE_INDEX; page < first + count;
	     page += TERN_PAGE_TABLE_ENTRIES) {
		err = tern_sparse_add_table(tern, tables, page);
		if (err)
			return err;
	}
	return 0;
}
EXPORT_SYMBOL_NS_GPL(tern_sparse_add, TERN_NAMESPACE);

static void tern_sparse_detach_table(struct tern_sparse_tables *tables, u64 page,
				     struct tern_sparse_node **detached)
{
	struct tern_sparse_node *path[TERN_PAGE_LEVELS_MAX], *node = tables->root;
	unsigned int level;

	for (level = tables->levels - 1; level; level--) {
		path[level] = node;
		node = node->children[tern_sparse_index(page, level)];
		if (!node)
			return;
	}
	/* Upwards, as long as nothing else hangs there. The root stays. */
	for (level = 1; level < tables->levels; level++) {
		struct tern_sparse_node *parent = path[level];
		unsigned int index = tern_sparse_index(page, level);

		WRITE_ONCE(parent->children[index], NULL);
		WRITE_ONCE(parent->table.entries[index], 0);
		node->next = *detached;
		*detached = node;
		if (--parent->used)
			return;
		node = parent;
	}
}

/**
 * tern_sparse_detach() - take away the tables of pages that are all absent
 * @tables: the page list
 * @first: first page, the first one of a table
 * @count: how many; whole tables
 * @detached: list that they are added to
 *
 * Nobody sets entries of these pages meanwhile. The device may know the tables until it has been
 * told to invalidate pages; then they are for tern_sparse_free().
 */
void tern_sparse_detach(struct tern_sparse_tables *tables, u64 first, u64 count,
			struct tern_sparse_node **detached)
{
	u64 page;

	if (tables->levels == 1)
		return;
	for (page = first; page < first + count; page += TERN_PAGE_TABLE_ENTRIES)
		tern_sparse_detach_table(tables, page, detached);
}
EXPORT_SYMBOL_NS_GPL(tern_sparse_detach, TERN_NAMESPACE);

void tern_sparse_free(struct tern_device *tern, struct tern_sparse_node *detached)
{
	struct tern_sparse_node *next;

	for (; detached; detached = next) {
		next = detached->next;
		tern_sparse_node_free(tern, detached);
	}
}
EXPORT_SYMBOL_NS_GPL(tern_sparse_free, TERN_NAMESPACE);

/* Depth is TERN_PAGE_LEVELS_MAX at most. */
static void tern_sparse_destroy_node(struct tern_device *tern, struct tern_sparse_node *node,
				     unsigned int level)
{
	unsigned int i;

	for (i = 0; level && i < TERN_PAGE_TABLE_ENTRIES; i++)
		if (node->children[i])
			tern_sparse_destroy_node(tern, node->children[i], level - 1);
	tern_sparse_node_free(tern, node);
	cond_resched();
}

/* The device does not use it any more. */
void tern_sparse_destroy(struct tern_device *tern, struct tern_sparse_tables *tables)
{
	tern_sparse_destroy_node(tern, tables->root, tables->levels - 1);
	tables->root = NULL;
}
EXPORT_SYMBOL_NS_GPL(tern_sparse_destroy, TERN_NAMESPACE);

/* The lowest table of a page, or NULL. */
static struct tern_sparse_node *tern_sparse_walk(const struct tern_sparse_tables *tables, u64 page)
{
	struct tern_sparse_node *node = tables->root;
	unsigned int level;

	for (level = tables->levels - 1; node && level; level--)
		node = READ_ONCE(node->children[tern_sparse_index(page, level)]);
	return node;
}

/**
 * tern_sparse_set() - let the device access a page
 * @tables: the page list
 * @page: its number; the caller keeps its table there
 * @address: bus address
 * @writable: the device may write
 */
void tern_sparse_set(struct tern_sparse_tables *tables, u64 page, dma_addr_t address,
		     bool writable)
{
	struct tern_sparse_node *node = tern_sparse_walk(tables, page);
	u64 flags = TERN_PAGE_PRESENT | (writable ? TERN_PAGE_WRITE : 0);

	if (WARN_ON_ONCE(!node))
		return;
	WRITE_ONCE(node->table.entries[page & TERN_SPARSE_INDEX], cpu_to_le64(address | flags));
}
EXPORT_SYMBOL_NS_GPL(tern_sparse_set, TERN_NAMESPACE);

/**
 * tern_sparse_clear() - make pages absent
 * @tables: the page list
 * @first: first page
 * @count: how many
 *
 * Allocates nothing and does not sleep. The device may have seen what was there before: see
 * tern_cmd_key_invalidate_pages().
 *
 * Return: whether any of them was there
 */
bool tern_sparse_clear(struct tern_sparse_tables *tables, u64 first, u64 count)
{
	u64 page = first, end = first + count;
	bool any = false;

	while (page < end) {
		struct tern_sparse_node *node = tern_sparse_walk(tables, page);
		u64 behind = min((page | TERN_SPARSE_INDEX) + 1, end);

		for (; node && page < behind; page++) {
			__le64 *entry = &node->table.entries[page & TERN_SPARSE_INDEX];

			if (!READ_ONCE(*entry))
				continue;
			WRITE_ONCE(*entry, 0);
			any = true;
		}
		page = behind;
	}
	return any;
}
EXPORT_SYMBOL_NS_GPL(tern_sparse_clear, TERN_NAMESPACE);
