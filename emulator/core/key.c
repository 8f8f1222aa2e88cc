// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: memory keys: commands, the check of an access, and the access. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "key.h"
#include "nic.h"
#include "tern_hw_page_fault.h"
#include "tern_hw_queue.h"

/* RELAXED_ORDERING permits what this device never does. */
#define ACCESS_KNOWN								\
	(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ |	\
	 TERN_ACCESS_REMOTE_ATOMIC | TERN_ACCESS_ZERO_BASED | TERN_ACCESS_RELAXED_ORDERING)

enum key_error key_resolve(const struct key_user *user, uint32_t key, uint64_t address,
			   uint64_t length, uint32_t access, struct key_range *range)
{
	struct memory_key *found;
	uint64_t offset;

	range->fn = user->fn;
	range->length = length;
	if (key == TERN_KEY_LOCAL_DMA) {
		if (!user->privileged)
			return KEY_UNKNOWN;
		if (length && length - 1 > UINT64_MAX - address)
			return KEY_OUT_OF_BOUNDS;
		range->key = NULL;
		range->offset = address;
		return KEY_OK;
	}
	found = table_get(&user->fn->keys, key >> TERN_KEY_INDEX_SHIFT);
	if (!found || found->consumer != (key & TERN_KEY_CONSUMER) || !found->valid)
		return KEY_UNKNOWN;
	if (found->pd != user->pd)
		return KEY_WRONG_PD;
	if (found->type == TERN_KEY_WINDOW_TYPE_2 && found->qpn != user->qpn)
		return KEY_WRONG_PD;
	/* Windows are for the peer. */
	if ((access & ~found->access) || (key_is_window(found) && !(access & KEY_REMOTE_RIGHTS)))
		return KEY_NO_ACCESS;
	offset = address - found->address;
	if (address < found->address || offset > found->pages.length ||
	    length > found->pages.length - offset)
		return KEY_OUT_OF_BOUNDS;
	range->key = found;
	range->offset = offset;
	if (found->region) {
		range->key = found->region;
		range->offset += found->region_offset;
	}
	return KEY_OK;
}

/* Device memory is at hand whenever its keys are: their ranges were checked as they were made. */
static uint8_t *device_bytes(const struct key_range *range, uint64_t offset)
{
	return range->fn->device_memory.bytes + range->key->pages.root + range->offset + offset;
}

/* @err, of an access to [@offset, @length) of the range: if a page is absent, which one? */
static int absent(const struct key_range *range, uint64_t offset, uint64_t length, bool write,
		  int err)
{
	struct memory_key *key = range->key;
	uint64_t address, contiguous;

	if (err != -EAGAIN)
		return err;
	while (length && !page_list_translate(range->fn, &key->pages, &key->cursor,
					      range->offset + offset, write, &address,
					      &contiguous)) {
		if (contiguous > length)
			contiguous = length;
		offset += contiguous;
		length -= contiguous;
	}
	range->fn->absent = (struct absent_page){
		.key = key->index,
		.address = key->address + range->offset + offset,
		.length = range->length - offset,
		.write = write,
	};
	return err;
}

int key_range_read(const struct key_range *range, uint64_t offset, void *buffer, size_t length)
{
	struct memory_key *key = range->key;
	int err;

	if (offset > range->length || length > range->length - offset)
		return -EFAULT;
	if (!key)
		return guest_read(range->fn, range->offset + offset, buffer, length);
	if (key->type == TERN_KEY_DEVICE_MEMORY) {
		if (length)
			memcpy(buffer, device_bytes(range, offset), length);
		return 0;
	}
	err = page_list_read(range->fn, &key->pages, &key->cursor, range->offset + offset, buffer,
			     length);
	return absent(range, offset, length, false, err);
}

int key_range_write(const struct key_range *range, uint64_t offset, const void *buffer,
		    size_t length)
{
	struct memory_key *key = range->key;
	int err;

	if (offset > range->length || length > range->length - offset)
		return -EFAULT;
	if (!key)
		return guest_write(range->fn, range->offset + offset, buffer, length);
	if (key->type == TERN_KEY_DEVICE_MEMORY) {
		copy_in_order(device_bytes(range, offset), buffer, length);
		return 0;
	}
	err = page_list_write(range->fn, &key->pages, &key->cursor, range->offset + offset,
			      buffer, length);
	return absent(range, offset, length, true, err);
}

int key_range_present(const struct key_range *range, bool write)
{
	struct memory_key *key = range->key;
	uint64_t offset = 0;

	if (!key || !key->pages.on_demand)
		return 0;
	while (offset < range->length) {
		uint64_t address, contiguous;
		int err = page_list_translate(range->fn, &key->pages, &key->cursor,
					      range->offset + offset, write, &address,
					      &contiguous);

		if (err == -EAGAIN)
			return absent(range, offset, 1, write, err);
		if (err)
			return 0;
		offset += contiguous;
	}
	return 0;
}

void *key_range_map(const struct key_range *range, uint64_t offset, size_t *length, bool write)
{
	struct memory_key *key = range->key;
	uint64_t address, contiguous;

	if (offset > range->length || *length > range->length - offset || !*length)
		return NULL;
	if (!key)
		return guest_map(range->fn, range->offset + offset, length, write);
	if (key->type == TERN_KEY_DEVICE_MEMORY)
		return device_bytes(range, offset);
	if (page_list_translate(range->fn, &key->pages, &key->cursor, range->offset + offset,
				write, &address, &contiguous))
		return NULL;
	if (contiguous < *length)
		*length = (size_t)contiguous;
	return guest_map(range->fn, address, length, write);
}

bool key_access_valid(const struct function *fn, uint32_t access)
{
	uint32_t known = ACCESS_KNOWN;

	if (function_has(fn, FEATURE(MEMORY_WINDOWS)))
		known |= TERN_ACCESS_WINDOW_BIND;
	if (function_has(fn, FEATURE(ON_DEMAND_PAGING)))
		known |= TERN_ACCESS_ON_DEMAND;
	if (function_has(fn, FEATURE(FLUSH)))
		known |= TERN_ACCESS_FLUSH_GLOBAL | TERN_ACCESS_FLUSH_PERSISTENT;
	return !(access & ~known) &&
	       (!(access & (TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_ATOMIC)) ||
		(access & TERN_ACCESS_LOCAL_WRITE));
}

bool key_address_valid(uint64_t address, uint64_t length, uint32_t access)
{
	return length - 1 <= UINT64_MAX - address &&
	       !(address && (access & TERN_ACCESS_ZERO_BASED));
}

#define REFUSE(member) \
	command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, \
		       struct tern_command_create_key, member)

static uint16_t region_set(struct command *command, struct memory_key *key)
{
	const struct tern_command_create_key *body = (const void *)command->body;
	size_t field;

	key->access = from_le32(body->access);
	key->address = from_le64(body->address);
	key->valid = true;
	if (page_list_set(&key->pages, &body->pages, 0, &field))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + field);
	if (!key_address_valid(key->address, key->pages.length, key->access))
		return REFUSE(address);
	if (!key_access_valid(command->fn, key->access))
		return REFUSE(access);
	key->pages.on_demand = key->access & TERN_ACCESS_ON_DEMAND;
	/* Without tables nothing can be absent. */
	if (key->pages.on_demand && !key->pages.levels)
		return REFUSE(pages.levels);
	return TERN_COMMAND_STATUS_OK;
}

static uint16_t device_region_set(struct command *command, struct memory_key *key)
{
	const struct tern_command_create_key *body = (const void *)command->body;

	if (!function_has(command->fn, FEATURE(DEVICE_MEMORY)))
		return REFUSE(type);
	key->access = from_le32(body->access);
	key->address = from_le64(body->address);
	key->valid = true;
	key->pages = (struct page_list){ .root = from_le64(body->pages.root),
					 .length = from_le64(body->pages.length) };
	if (body->pages.levels)
		return REFUSE(pages.levels);
	if (body->pages.page_shift)
		return REFUSE(pages.page_shift);
	if (body->pages.first_offset)
		return REFUSE(pages.first_offset);
	if (body->pages.reserved0)
		return REFUSE(pages.reserved0);
	if (body->pages.reserved1)
		return REFUSE(pages.reserved1);
	if (key->pages.root > command->fn->device_memory.size)
		return REFUSE(pages.root);
	if (key->pages.length > command->fn->device_memory.size - key->pages.root)
		return REFUSE(pages.length);
	if (key->pages.length && !key_address_valid(key->address, key->pages.length, key->access))
		return REFUSE(address);
	if (!key->pages.length && key->address && (key->access & TERN_ACCESS_ZERO_BASED))
		return REFUSE(address);
	if (!key_access_valid(command->fn, key->access))
		return REFUSE(access);
	device_memory_will_be_written(command->fn, key->pages.root, key->pages.length);
	return TERN_COMMAND_STATUS_OK;
}

/* What gets its memory from a work request has none yet. */
static uint16_t free_key_set(struct command *command, uint64_t feature)
{
	const struct tern_command_create_key *body = (const void *)command->body;

	if (!function_has(command->fn, feature))
		return REFUSE(type);
	if (!command_reserved(command, struct tern_command_create_key, pages) ||
	    !command_reserved(command, struct tern_command_create_key, address))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	return body->access ? REFUSE(access) : TERN_COMMAND_STATUS_OK;
}

static uint16_t key_set(struct command *command, struct memory_key *key)
{
	const struct tern_command_create_key *body = (const void *)command->body;

	key->index = command->number;
	key->consumer = body->consumer;
	key->type = body->type;
	key->pd = from_le32(body->pd);
	if (key->pd >= PD_COUNT)
		return REFUSE(pd);
	if (body->reserved0)
		return REFUSE(reserved0);
	if (body->reserved1)
		return REFUSE(reserved1);
	if (body->reserved2)
		return REFUSE(reserved2);
	switch (key->type) {
	case TERN_KEY_REGION:
		return region_set(command, key);
	case TERN_KEY_FAST_REGISTRATION:
		return free_key_set(command, FEATURE(FAST_REGISTRATION));
	case TERN_KEY_DEVICE_MEMORY:
		return device_region_set(command, key);
	case TERN_KEY_WINDOW_TYPE_1:
	case TERN_KEY_WINDOW_TYPE_2:
		return free_key_set(command, FEATURE(MEMORY_WINDOWS));
	default:
		return REFUSE(type);
	}
}

#undef REFUSE

uint16_t key_create_command(struct command *command)
{
	struct memory_key made = { .index = 0 };
	struct function *fn = command->fn;
	struct memory_key *key;
	uint16_t status;

	if (!command->number || command->number >= KEY_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (table_get(&fn->keys, command->number))
		return command_refuse_number(command, TERN_COMMAND_STATUS_EXISTS);
	status = key_set(command, &made);
	if (status)
		return status;
	key = table_insert_copy(&fn->keys, made.index, &made, sizeof(made));
	if (!key)
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	list_init(&key->bound);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t key_modify_command(struct command *command)
{
	struct memory_key made = { .index = 0 }, *key;
	uint16_t status;

	if (!command->number || command->number >= KEY_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	key = table_get(&command->fn->keys, command->number);
	if (!key)
		return command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	status = key_set(command, &made);
	if (status)
		return status;
	if (made.type != TERN_KEY_REGION || key->type != TERN_KEY_REGION)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				      struct tern_command_create_key, type);
	/* IBTA 11.2.8.4 */
	if (key->windows)
		return command_refuse_number(command, TERN_COMMAND_STATUS_IN_USE);
	*key = made;
	list_init(&key->bound);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t key_destroy_command(struct command *command)
{
	struct memory_key *key;

	if (!command->number || command->number >= KEY_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	key = table_get(&command->fn->keys, command->number);
	if (!key)
		return command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	/* IBTA 10.6.3.4 */
	if (key->windows)
		return command_refuse_number(command, TERN_COMMAND_STATUS_IN_USE);
	key_unbind(key);
	table_remove(&command->fn->keys, command->number);
	free(key);
	return TERN_COMMAND_STATUS_OK;
}

/*
 * No access outlives the core call that it is made in, and commands are core
 * calls of their own: what is left of the old entries is the cursor.
 */
uint16_t key_invalidate_pages_command(struct command *command)
{
	const struct tern_command_key_invalidate_pages *body = (const void *)command->body;
	uint64_t address = from_le64(body->address), length = from_le64(body->length);
	struct memory_key *key;

#define REFUSE(member) \
	command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, \
		       struct tern_command_key_invalidate_pages, member)
	if (!command->number || command->number >= KEY_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	key = table_get(&command->fn->keys, command->number);
	if (!key)
		return command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	if (!key->pages.on_demand)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_STATE);
	if (body->reserved0)
		return REFUSE(reserved0);
	if (address < key->address || address - key->address >= key->pages.length)
		return REFUSE(address);
	if (!length || length > key->pages.length - (address - key->address))
		return REFUSE(length);
#undef REFUSE
	key->cursor = (struct page_cursor){ .generation = 0 };
	return TERN_COMMAND_STATUS_OK;
}

void keys_reset(struct function *fn)
{
	struct memory_key *key;
	uint32_t index = 0;

	while ((key = table_next(&fn->keys, index, &index))) {
		table_remove(&fn->keys, index);
		list_remove(&key->bound);
		free(key);
	}
}
