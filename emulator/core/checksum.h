/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the Internet's one's complement checksum (RFC 1071), over data in pieces. */
#ifndef TERN_CHECKSUM_H
#define TERN_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A sum in progress. The pieces added are one byte string: a piece that
 * starts at an odd offset of it is summed byte-swapped (RFC 1071, 2.(B)).
 */
struct checksum {
	uint64_t sum;		/* of 16-bit words as they stand in memory */
	bool odd;		/* bytes so far are odd in number */
};

void checksum_add(struct checksum *checksum, const void *data, size_t length);

/* Add the sum of bytes that follow; summed apart from here, from even offset 0. */
void checksum_join(struct checksum *checksum, const struct checksum *following);

/* Add a number of 16 or 32 bits in host order, at an even offset. */
void checksum_add_u16(struct checksum *checksum, uint16_t value);
void checksum_add_u32(struct checksum *checksum, uint32_t value);

/*
 * The checksum to store, in the byte order of memory (copy it there as it
 * is). Over data that holds its own checksum it is 0 when that is right.
 */
uint16_t checksum_finish(const struct checksum *checksum);

/* Start with the pseudo-header of TCP or UDP, RFC 9293 3.1 and RFC 8200 8.1. */
void checksum_pseudo_ipv4(struct checksum *checksum, const uint8_t *source,
			  const uint8_t *destination, uint8_t protocol, uint32_t length);
void checksum_pseudo_ipv6(struct checksum *checksum, const uint8_t *source,
			  const uint8_t *destination, uint8_t protocol, uint32_t length);

/* UDP sends 0xffff where the sum is 0, since 0 means that there is none (RFC 768). */
#define CHECKSUM_UDP(value)	((value) ? (value) : (uint16_t)0xffff)

#endif /* TERN_CHECKSUM_H */
