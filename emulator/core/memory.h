/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: guest memory, as one function sees it: bus addresses, and ranges that a
 * page list describes.
 *
 * Every access can fail (-EFAULT): nothing behind the address, bus mastering
 * off, function stopped. Everything read may have been changed by the guest
 * between two reads: read once into device memory, check, use the copy. What
 * guest_map() returns is such changing memory too.
 */
#ifndef TERN_MEMORY_H
#define TERN_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_hw_memory.h"

struct function;

/* Bus addresses. All or nothing is not promised. */
int guest_read(struct function *fn, uint64_t address, void *buffer, size_t length);
/* In ascending order, and the last cache line's stores last (see copy_in_order()). */
int guest_write(struct function *fn, uint64_t address, const void *buffer, size_t length);

/*
 * Map for use within this core call; *length may shrink. NULL when it cannot
 * be mapped: then guest_read() and guest_write() tell whether it exists.
 */
void *guest_map(struct function *fn, uint64_t address, size_t *length, bool write);
void guest_unmap(struct function *fn, void *mapped, size_t length, bool write);

/* 32-bit words of records and phases; @address is 4-byte aligned. */
int guest_load32(struct function *fn, uint64_t address, uint32_t *value);	  /* acquire */
int guest_store32(struct function *fn, uint64_t address, uint32_t value);	  /* release */

/*
 * An entry of a completion or event queue: @size bytes of which the last four
 * are the phase word. The body is stored first, the phase by a release store.
 */
int guest_store_entry(struct function *fn, uint64_t address, const void *entry, size_t size);

/* Orders stores before loads, as the host's mb(): ring words and arm words need it. */
static inline void full_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

#define CACHE_LINE	64

/*
 * Copy to guest memory so that an application that polls the last byte sees
 * all the others: everything before the last cache line of @to, a release
 * fence, then that line.
 */
void copy_in_order(void *to, const void *from, size_t length);

struct page_list {
	uint64_t root;
	uint64_t length;
	uint32_t first_offset;
	uint8_t levels;
	uint8_t page_shift;
	bool on_demand;			/* absent entries are page faults; see key.h */
};

#define PAGE_CURSOR_ENTRIES	8

/* Remembers the last place in a page list; one per user of the list. Zeroed is empty. */
struct page_cursor {
	uint64_t generation;		/* of the function's memory; 0: empty */
	uint64_t table_number;		/* which table of the lowest level... */
	uint64_t table;			/* ...and its bus address */
	uint64_t first;			/* first page of entries[] */
	uint64_t entries[PAGE_CURSOR_ENTRIES];	/* a line of that table */
	bool has_table, has_entries;
};

/*
 * Check what a command gave. @length is what the object needs, or 0 when the
 * command's own length counts (keys). Returns 0, or -EINVAL with *field the
 * offset in struct tern_page_list of the field that is refused.
 */
int page_list_set(struct page_list *list, const struct tern_page_list *from, uint64_t length,
		  size_t *field);

/*
 * Where byte @offset of the list is; *contiguous bytes follow at once from
 * there (at least 1). The caller has checked offset < list->length. -EFAULT:
 * page absent, or not writable with @write, or table not readable. -EAGAIN: the
 * first two, of a list that is on demand.
 */
int page_list_translate(struct function *fn, const struct page_list *list,
			struct page_cursor *cursor, uint64_t offset, bool write, uint64_t *address,
			uint64_t *contiguous);

/* @offset + @length is within the list (checked: -EFAULT). Errors as above. */
int page_list_read(struct function *fn, const struct page_list *list, struct page_cursor *cursor,
		   uint64_t offset, void *buffer, size_t length);
int page_list_write(struct function *fn, const struct page_list *list, struct page_cursor *cursor,
		    uint64_t offset, const void *buffer, size_t length);

#endif /* TERN_MEMORY_H */
