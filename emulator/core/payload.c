// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: payload gathered and scattered. */
#include <errno.h>
#include <string.h>

#include "nic.h"
#include "payload.h"
#include "rdma_nic.h"

static_assert(PAYLOAD_SEGMENTS <= 64, "payload.mapped has a bit for each");

bool payload_check(const struct key_user *user, const struct sge *sges, unsigned int count,
		   uint32_t access)
{
	struct key_range range;

	for (unsigned int i = 0; i < count; i++) {
		if (sges[i].length && key_resolve(user, sges[i].key, sges[i].address,
						  sges[i].length, access, &range) != KEY_OK)
			return false;
	}
	return true;
}

static enum payload_result failed(int err)
{
	return err == -EAGAIN ? PAYLOAD_ABSENT : PAYLOAD_FAULT;
}

/* The pages up to the end of the SGE are wanted, too: more packets may go there. */
static enum payload_result sge_failed(const struct key_range *range, uint64_t rest,
				      enum payload_result result)
{
	if (result == PAYLOAD_ABSENT)
		range->fn->absent.length += rest - range->length;
	return result;
}

/* Copy the rest of a packet's payload from one SGE behind what the bounce buffer holds. */
static enum payload_result gather_copy(struct payload *payload, const struct key_range *range,
				       uint64_t offset, size_t length, size_t *bounced)
{
	uint8_t *to = payload->fn->nic->rdma->bounce + *bounced;
	struct tern_segment *last = payload->count ? &payload->segments[payload->count - 1] : NULL;
	int err = key_range_read(range, offset, to, length);

	if (err)
		return failed(err);
	*bounced += length;
	if (last && last->base + last->length == to &&
	    !(payload->mapped >> (payload->count - 1) & 1)) {
		last->length += length;
		return PAYLOAD_OK;
	}
	/* The last place is kept for a copy: from there on all that comes is copied behind it. */
	payload->segments[payload->count].base = to;
	payload->segments[payload->count].length = length;
	payload->count++;
	return PAYLOAD_OK;
}

static enum payload_result gather_range(struct payload *payload, const struct key_range *range,
					size_t length, size_t *bounced)
{
	uint64_t offset = 0;

	while (length) {
		size_t piece = length;
		void *mapped = NULL;

		if (payload->count < PAYLOAD_SEGMENTS - 1)
			mapped = key_range_map(range, offset, &piece, false);
		if (mapped) {
			payload->mapped |= UINT64_C(1) << payload->count;
			payload->segments[payload->count].base = mapped;
			payload->segments[payload->count].length = piece;
			payload->count++;
		} else {
			enum payload_result result = gather_copy(payload, range, offset, piece,
								 bounced);

			if (result)
				return result;
		}
		offset += piece;
		length -= piece;
	}
	return PAYLOAD_OK;
}

enum payload_result payload_gather(struct payload *payload, const struct key_user *user,
				   const struct sge *sges, unsigned int count, uint32_t access,
				   uint64_t offset, size_t length)
{
	enum payload_result result;
	size_t bounced = 0;

	payload->fn = user->fn;
	payload->count = 0;
	payload->mapped = 0;
	payload->length = length;
	for (unsigned int i = 0; i < count && length; i++) {
		struct key_range range;
		size_t piece;

		if (offset >= sges[i].length) {
			offset -= sges[i].length;
			continue;
		}
		piece = sges[i].length - (size_t)offset;
		if (piece > length)
			piece = length;
		if (key_resolve(user, sges[i].key, sges[i].address + offset, piece, access,
				&range) != KEY_OK) {
			payload_release(payload);
			return PAYLOAD_KEY;
		}
		result = gather_range(payload, &range, piece, &bounced);
		if (result) {
			payload_release(payload);
			return sge_failed(&range, sges[i].length - offset, result);
		}
		offset = 0;
		length -= piece;
	}
	return PAYLOAD_OK;
}

void payload_release(struct payload *payload)
{
	for (unsigned int i = 0; i < payload->count; i++) {
		if (payload->mapped >> i & 1)
			guest_unmap(payload->fn, (void *)(uintptr_t)payload->segments[i].base,
				    payload->segments[i].length, false);
	}
	payload->count = 0;
	payload->mapped = 0;
}

/* Copy @length bytes from the packet's segments to mapped memory. */
struct source {
	const struct tern_segment *segments;
	unsigned int count;
	size_t used;			/* bytes of segments[0] that are taken */
};

static const uint8_t *source_next(struct source *source, size_t *length)
{
	const uint8_t *from;
	size_t left;

	while (source->used == source->segments->length) {
		source->segments++;
		source->count--;
		source->used = 0;
	}
	left = source->segments->length - source->used;
	if (*length > left)
		*length = left;
	from = source->segments->base + source->used;
	source->used += *length;
	return from;
}

static enum payload_result scatter_range(const struct key_range *range, size_t length,
					 struct source *source)
{
	uint64_t offset = 0;

	while (length) {
		size_t room = length, done = 0;
		uint8_t *mapped = key_range_map(range, offset, &room, true);

		while (done < room) {
			size_t piece = room - done;
			const uint8_t *from = source_next(source, &piece);

			int err = 0;

			if (mapped)
				copy_in_order(mapped + done, from, piece);
			else
				err = key_range_write(range, offset + done, from, piece);
			if (err)
				return failed(err);
			done += piece;
		}
		if (mapped)
			guest_unmap(range->fn, mapped, room, true);
		offset += room;
		length -= room;
	}
	return PAYLOAD_OK;
}

enum payload_result payload_present(const struct key_user *user, const struct sge *sges,
				    unsigned int count, uint32_t access, uint64_t offset,
				    uint64_t length, bool write)
{
	for (unsigned int i = 0; i < count && length; i++) {
		struct key_range range;
		uint64_t piece;

		if (offset >= sges[i].length) {
			offset -= sges[i].length;
			continue;
		}
		piece = sges[i].length - offset;
		if (piece > length)
			piece = length;
		if (key_resolve(user, sges[i].key, sges[i].address + offset, piece, access,
				&range) != KEY_OK)
			return PAYLOAD_OK;
		if (key_range_present(&range, write))
			return sge_failed(&range, sges[i].length - offset, PAYLOAD_ABSENT);
		offset = 0;
		length -= piece;
	}
	return PAYLOAD_OK;
}

enum payload_result payload_scatter(const struct key_user *user, const struct sge *sges,
				    unsigned int count, uint32_t access, uint64_t offset,
				    const struct tern_segment *from, unsigned int from_count)
{
	struct source source = { .segments = from, .count = from_count };
	enum payload_result result;
	size_t length = 0;

	for (unsigned int i = 0; i < from_count; i++)
		length += from[i].length;
	for (unsigned int i = 0; i < count && length; i++) {
		struct key_range range;
		size_t piece;

		if (offset >= sges[i].length) {
			offset -= sges[i].length;
			continue;
		}
		piece = sges[i].length - (size_t)offset;
		if (piece > length)
			piece = length;
		if (key_resolve(user, sges[i].key, sges[i].address + offset, piece, access,
				&range) != KEY_OK)
			return PAYLOAD_KEY;
		result = scatter_range(&range, piece, &source);
		if (result)
			return sge_failed(&range, sges[i].length - offset, result);
		offset = 0;
		length -= piece;
	}
	return length ? PAYLOAD_KEY : PAYLOAD_OK;
}
