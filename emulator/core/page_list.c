// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: page lists: checking what a command gave, and walking their tables. */
#include <errno.h>

#include "byteorder.h"
#include "memory.h"
#include "nic.h"
#include "record.h"

#define TABLE_BYTES	(1U << TERN_PAGE_TABLE_SHIFT)
#define INDEX_BITS	9			/* of a table of 512 entries */
#define ADDRESS_BITS	(~(uint64_t)TERN_PAGE_FLAGS)

static int refuse(size_t *field, size_t offset)
{
	*field = offset;
	return -EINVAL;
}

#define REFUSE(member) refuse(field, offsetof(struct tern_page_list, member))

int page_list_set(struct page_list *list, const struct tern_page_list *from, uint64_t length,
		  size_t *field)
{
	uint64_t pages;

	list->root = from_le64(from->root);
	list->length = from_le64(from->length);
	list->first_offset = from_le32(from->first_offset);
	list->levels = from->levels;
	list->page_shift = from->page_shift;
	list->on_demand = false;
	if (from->reserved0)
		return REFUSE(reserved0);
	if (from->reserved1)
		return REFUSE(reserved1);
	if (!list->length || (length && list->length != length))
		return REFUSE(length);
	if (list->levels > TERN_PAGE_LEVELS_MAX)
		return REFUSE(levels);
	if (!list->levels) {
		if (list->page_shift)
			return REFUSE(page_shift);
		if (list->first_offset)
			return REFUSE(first_offset);
		if (list->length - 1 > UINT64_MAX - list->root)
			return REFUSE(length);
		return 0;
	}
	if (list->page_shift < TERN_PAGE_SHIFT_MIN || list->page_shift > TERN_PAGE_SHIFT_MAX)
		return REFUSE(page_shift);
	if (list->root & (TABLE_BYTES - 1))
		return REFUSE(root);
	if (list->first_offset >> list->page_shift)
		return REFUSE(first_offset);
	if (list->length > UINT64_MAX - list->first_offset)
		return REFUSE(length);
	pages = ((list->first_offset + list->length - 1) >> list->page_shift) + 1;
	if (pages > UINT64_C(1) << (INDEX_BITS * list->levels))
		return REFUSE(levels);
	return 0;
}

/* The table of the lowest level that has @page. */
static int find_table(struct function *fn, const struct page_list *list, uint64_t page,
		      uint64_t *table)
{
	uint64_t address = list->root;
	__le64 raw;

	for (unsigned int level = list->levels - 1U; level; level--) {
		uint64_t index = (page >> (INDEX_BITS * level)) & (TERN_PAGE_TABLE_ENTRIES - 1);

		if (guest_read(fn, address + index * sizeof(raw), &raw, sizeof(raw)))
			return -EFAULT;
		address = from_le64(raw);
		if (!(address & TERN_PAGE_PRESENT))
			return list->on_demand ? -EAGAIN : -EFAULT;
		address &= ADDRESS_BITS;
	}
	*table = address;
	return 0;
}

/* Read the line of entries that has @page's. */
static int read_line(struct function *fn, const struct page_list *list,
		     struct page_cursor *cursor, uint64_t page)
{
	uint64_t first = page & ~(uint64_t)(PAGE_CURSOR_ENTRIES - 1);
	__le64 raw[PAGE_CURSOR_ENTRIES];
	int err;

	cursor->has_entries = false;
	if (cursor->generation != fn->memory_generation || !cursor->has_table ||
	    cursor->table_number != page >> INDEX_BITS) {
		cursor->has_table = false;
		err = find_table(fn, list, page, &cursor->table);
		if (err)
			return err;
		cursor->table_number = page >> INDEX_BITS;
		cursor->generation = fn->memory_generation;
		cursor->has_table = true;
	}
	if (guest_read(fn, cursor->table + (first & (TERN_PAGE_TABLE_ENTRIES - 1)) * sizeof(*raw),
		       raw, sizeof(raw))) {
		cursor->has_table = false;
		return -EFAULT;
	}
	for (unsigned int i = 0; i < PAGE_CURSOR_ENTRIES; i++)
		cursor->entries[i] = from_le64(raw[i]);
	cursor->first = first;
	cursor->has_entries = true;
	return 0;
}

static bool allows(uint64_t entry, bool write)
{
	return (entry & TERN_PAGE_PRESENT) && (!write || (entry & TERN_PAGE_WRITE));
}

static bool usable(const struct page_list *list, uint64_t entry, bool write)
{
	return allows(entry, write) &&
	       !((entry & ADDRESS_BITS) & ((UINT64_C(1) << list->page_shift) - 1));
}

int page_list_translate(struct function *fn, const struct page_list *list,
			struct page_cursor *cursor, uint64_t offset, bool write, uint64_t *address,
			uint64_t *contiguous)
{
	uint64_t place = list->first_offset + offset;
	uint64_t page = place >> list->page_shift;
	uint64_t size, in_page;
	uint64_t *entry = &cursor->entries[page % PAGE_CURSOR_ENTRIES];
	int err;

	if (!list->levels) {
		*address = list->root + offset;
		*contiguous = list->length - offset;
		return 0;
	}
	/*
	 * An entry that does not allow the access is read again: only what can
	 * be used is remembered.
	 */
	if (!cursor->has_entries || cursor->generation != fn->memory_generation ||
	    cursor->first != page - page % PAGE_CURSOR_ENTRIES || !usable(list, *entry, write)) {
		err = read_line(fn, list, cursor, page);
		if (err)
			return err;
		if (list->on_demand && !allows(*entry, write))
			return -EAGAIN;
		if (!usable(list, *entry, write)) {
			fn->device.memory_faults++;
			return -EFAULT;
		}
	}
	size = UINT64_C(1) << list->page_shift;
	in_page = place & (size - 1);
	*address = (*entry & ADDRESS_BITS) + in_page;
	*contiguous = size - in_page;
	if (*contiguous > list->length - offset)
		*contiguous = list->length - offset;
	return 0;
}

static bool inside(const struct page_list *list, uint64_t offset, size_t length)
{
	return offset <= list->length && length <= list->length - offset;
}

int page_list_read(struct function *fn, const struct page_list *list, struct page_cursor *cursor,
		   uint64_t offset, void *buffer, size_t length)
{
	uint8_t *to = buffer;

	if (!inside(list, offset, length))
		return -EFAULT;
	while (length) {
		uint64_t address, contiguous;
		size_t part;
		int err;

		err = page_list_translate(fn, list, cursor, offset, false, &address,
					  &contiguous);
		if (err)
			return err;
		part = contiguous < length ? (size_t)contiguous : length;
		if (guest_read(fn, address, to, part))
			return -EFAULT;
		to += part;
		offset += part;
		length -= part;
	}
	return 0;
}

int page_list_write(struct function *fn, const struct page_list *list, struct page_cursor *cursor,
		    uint64_t offset, const void *buffer, size_t length)
{
	const uint8_t *from = buffer;

	if (!inside(list, offset, length))
		return -EFAULT;
	while (length) {
		uint64_t address, contiguous;
		size_t part;
		int err;

		err = page_list_translate(fn, list, cursor, offset, true, &address,
					  &contiguous);
		if (err)
			return err;
		part = contiguous < length ? (size_t)contiguous : length;
		if (guest_write(fn, address, from, part))
			return -EFAULT;
		from += part;
		offset += part;
		length -= part;
	}
	return 0;
}

int queue_pages_set(struct page_list *list, const struct tern_page_list *from, uint64_t length,
		    size_t *field)
{
	if (page_list_set(list, from, length, field))
		return -EINVAL;
	if (list->root % TERN_QUEUE_ALIGN)
		return REFUSE(root);
	if (list->first_offset % TERN_QUEUE_ALIGN)
		return REFUSE(first_offset);
	return 0;
}
