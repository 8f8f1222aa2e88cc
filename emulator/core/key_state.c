// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: keys that work requests make valid and free (IBTA 10.6.5, 10.6.7): fast
 * registration, binding of windows, invalidation.
 */
#include "byteorder.h"
#include "key.h"
#include "nic.h"
#include "qp.h"
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
	if (page_list_set(&pages, &segment->pages, 0, &field) ||
	    !key_access_valid(user->fn, access) || (access & TERN_ACCESS_ON_DEMAND) ||
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

void key_unbind(struct memory_key *window)
{
	if (!window->region)
		return;
	window->region->windows--;
	window->region = NULL;
	window->valid = false;
	list_remove(&window->bound);
}

void key_free_windows(struct qp *qp)
{
	while (!list_empty(&qp->windows))
		key_unbind(list_entry(qp->windows.next, struct memory_key, bound));
}

/* May a window with these rights be bound to this part of the region? */
static enum key_error check_region(const struct key_user *user, const struct memory_key *window,
				   const struct tern_wqe_bind *segment,
				   const struct memory_key *region)
{
	uint64_t address = from_le64(segment->address), length = from_le64(segment->length);
	uint32_t access = from_le32(segment->access);

	if (!region || region->consumer != (from_le32(segment->region) & TERN_KEY_CONSUMER) ||
	    !region->valid || key_is_window(region))
		return KEY_UNKNOWN;
	if (region->pd != user->pd)
		return KEY_WRONG_PD;
	if (!(region->access & TERN_ACCESS_WINDOW_BIND))
		return KEY_NO_ACCESS;
	if ((access & (TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_ATOMIC)) &&
	    !(region->access & TERN_ACCESS_LOCAL_WRITE))
		return KEY_NO_ACCESS;
	/* IBTA 10.6.7.2: type 1 knows no addresses but the process's. */
	if (window->type == TERN_KEY_WINDOW_TYPE_1 && (region->access & TERN_ACCESS_ZERO_BASED))
		return KEY_NO_ACCESS;
	if (address < region->address || address - region->address > region->pages.length ||
	    length > region->pages.length - (address - region->address))
		return KEY_OUT_OF_BOUNDS;
	return KEY_OK;
}

static enum key_error check_window(const struct key_user *user, const struct memory_key *window,
				   const struct tern_wqe_bind *segment)
{
	uint32_t access = from_le32(segment->access), known = KEY_REMOTE_RIGHTS;

	if (!window)
		return KEY_UNKNOWN;
	if (window->pd != user->pd)
		return KEY_WRONG_PD;
	if (window->type == TERN_KEY_WINDOW_TYPE_2) {
		known |= TERN_ACCESS_ZERO_BASED;
		if (window->valid)
			return KEY_WRONG_STATE;
		if (!segment->length)
			return KEY_BAD_VALUE;
	} else if (window->type != TERN_KEY_WINDOW_TYPE_1) {
		return KEY_WRONG_STATE;
	}
	return access & ~known ? KEY_BAD_VALUE : KEY_OK;
}

enum key_error key_bind(struct qp *qp, const struct tern_wqe_bind *segment)
{
	const struct key_user *user = &qp->local;
	struct memory_key *window = find(user, from_le32(segment->window));
	struct memory_key *region = find(user, from_le32(segment->region));
	enum key_error error = check_window(user, window, segment);

	if (!error && segment->length)
		error = check_region(user, window, segment, region);
	if (error)
		return error;
	key_unbind(window);
	window->consumer = (uint8_t)(from_le32(segment->window) & TERN_KEY_CONSUMER);
	if (!segment->length)
		return KEY_OK;
	window->access = from_le32(segment->access);
	window->region_offset = from_le64(segment->address) - region->address;
	window->address = window->access & TERN_ACCESS_ZERO_BASED ? 0 :
			  from_le64(segment->address);
	window->pages.length = from_le64(segment->length);
	window->region = region;
	window->qpn = qp->qpn;
	window->valid = true;
	region->windows++;
	if (window->type == TERN_KEY_WINDOW_TYPE_2)
		list_add_tail(&qp->windows, &window->bound);
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
	if ((*key)->type == TERN_KEY_WINDOW_TYPE_2)
		return (*key)->valid && (*key)->qpn != user->qpn ? KEY_WRONG_PD : KEY_OK;
	return (*key)->type == TERN_KEY_FAST_REGISTRATION && !(*key)->windows ? KEY_OK :
									       KEY_WRONG_STATE;
}

enum key_error key_invalidate(const struct key_user *user, uint32_t number)
{
	struct memory_key *key;
	enum key_error error = find_for(user, number, &key);

	if (error)
		return error;
	key_unbind(key);
	key->valid = false;
	return KEY_OK;
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
	return key->access & KEY_REMOTE_RIGHTS ? KEY_OK : KEY_NO_ACCESS;
}
