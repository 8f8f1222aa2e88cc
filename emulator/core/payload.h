/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the payload of packets: from a scatter list's memory into the segments
 * of a frame, and from a packet's segments into a scatter list's memory.
 */
#ifndef TERN_PAYLOAD_H
#define TERN_PAYLOAD_H

#include "key.h"
#include "tern_nic.h"
#include "work_queue.h"

struct tern_nic;

#define PAYLOAD_SEGMENTS	40
#define PAYLOAD_BOUNCE_BYTES	9216	/* one packet of the largest MTU, Ethernet's too */

/* Payload of one packet, mapped; until payload_release(). */
struct payload {
	struct function *fn;
	struct tern_segment segments[PAYLOAD_SEGMENTS];
	unsigned int count;
	uint64_t mapped;		/* bit i: segment i is to be unmapped */
	size_t length;
};

enum payload_result {
	PAYLOAD_OK,
	PAYLOAD_KEY,			/* a key does not allow the access */
	PAYLOAD_FAULT,			/* the memory behind it is not there */
	PAYLOAD_ABSENT,			/* a page of it is on demand: function.absent */
};

/* Are all SGEs allowed for @access (0: local read)? Empty ones are not looked at. */
bool payload_check(const struct key_user *user, const struct sge *sges, unsigned int count,
		   uint32_t access);

/*
 * @length bytes (PAYLOAD_BOUNCE_BYTES at most) at @offset of the list, by
 * reference where the memory can be mapped, else copied. The list is that
 * long. On an error nothing is left mapped.
 */
enum payload_result payload_gather(struct payload *payload, const struct key_user *user,
				   const struct sge *sges, unsigned int count, uint32_t access,
				   uint64_t offset, size_t length);
void payload_release(struct payload *payload);

/*
 * Are the pages of [@offset, @offset + @length) of the list there? PAYLOAD_OK or
 * PAYLOAD_ABSENT; other errors are found by the access.
 */
enum payload_result payload_present(const struct key_user *user, const struct sge *sges,
				    unsigned int count, uint32_t access, uint64_t offset,
				    uint64_t length, bool write);

/* Write a packet's payload to @offset of the list, in order, its last cache line last. */
enum payload_result payload_scatter(const struct key_user *user, const struct sge *sges,
				    unsigned int count, uint32_t access, uint64_t offset,
				    const struct tern_segment *from, unsigned int from_count);

#endif /* TERN_PAYLOAD_H */
