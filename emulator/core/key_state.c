// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: keys that work requests make valid and free (IBTA 10.6.5): fast
 * registration and invalidation.
 */
#include "byteorder.h"
#include "key.h"
#include "nic.h"
#include "tern_hw_queue.h"
#include "tern_hw_wqe.h"

static struct memory_key *find(const struct key_user *user, uint32_t key)
{
	return table_get(&user->fn->keys, key >> TERN_KEY_INDEX_SHIFT);
}

enum key_error key_register(const struct key_user *user, const struct tern_wqe_register *segment)
{
	uint32_t number = from_le32(segment->key);
	struct memory_key *key = find(user, number);
	uint64_t address = from_le64(segment->address);
	uint32_t access = from_le32(segment->access);
	struct page_list pages;
	size_t field;

	if (!key)
		return KEY_UNKNOWN;
	if (key->pd != user->pd)
		return KEY_WRONG_PD;
	if (key->type != TERN_KEY_FAST_REGISTRATION || key->valid)
		return KEY_WRONG_STATE;
	if (page_list_set(&pages, &segment->pages, 0, &field) || !key_access_valid(access) ||
	    !key_address_valid(address, pages.length, access))
		return KEY_BAD_VALUE;
	key->consumer = (uint8_t)(number & TERN_KEY_CONSUMER);
	key->address = address;
	key->access = access;
	key->pages = pages;
	key->cursor = (struct page_cursor){ .generation = 0 };
	key->valid = true;
	return KEY_OK;
}

/* A key that this queue pair may invalidate, whatever its state. */
static enum key_error find_for(const struct key_user *user, uint32_t number,
			       struct memory_key **key)
{
	*key = find(user, number);
	if (!*key || (*key)->consumer != (number & TERN_KEY_CONSUMER))
		return KEY_UNKNOWN;
	if ((*key)->pd != user->pd)
		return KEY_WRONG_PD;
	return (*key)->type == TERN_KEY_FAST_REGISTRATION ? KEY_OK : KEY_WRONG_STATE;
}

enum key_error key_invalidate(const struct key_user *user, uint32_t number)
{
	struct memory_key *key;
	enum key_error error = find_for(user, number, &key);

	if (!error)
		key->valid = false;
	return error;
}

enum key_error key_may_invalidate(const struct key_user *user, uint32_t number)
{
	struct memory_key *key;
	enum key_error error = find_for(user, number, &key);

	if (error)
		return error;
	if (!key->valid)
		return KEY_WRONG_STATE;
	/* What the peer may not use is not its to end. */
	return key->access & (TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ |
			      TERN_ACCESS_REMOTE_ATOMIC) ? KEY_OK : KEY_NO_ACCESS;
}
