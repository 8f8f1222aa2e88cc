/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: TCP segmentation offload, the headers' part. Pure: bytes in, bytes out. */
#ifndef TERN_TSO_H
#define TERN_TSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checksum;

#define TSO_HEADER_MAX		256

/* One send request that is cut into segments. */
struct tso {
	uint8_t header[TSO_HEADER_MAX];	/* of the segment last built */
	uint16_t header_length;
	uint16_t l3_offset, l4_offset;
	uint16_t mss;
	uint32_t payload_length;	/* of all segments */
	uint32_t offset;		/* payload bytes in the segments built so far */
	uint8_t ip_version;
	uint8_t tcp_flags;		/* of the request */
	uint16_t ip_id;			/* of the next segment */
	uint32_t sequence;		/* of the next segment */
};

/*
 * Begin with @header_length bytes of Ethernet, IPv4 or IPv6 and TCP headers.
 * Returns false when they are not that, when mss is 0 or there is no payload.
 */
bool tso_begin(struct tso *tso, const uint8_t *header, size_t header_length, size_t l3_offset,
	       unsigned int mss, size_t payload_length);

/* Payload bytes of the next segment; 0 when all are built. */
size_t tso_next_length(const struct tso *tso);

/*
 * Build the header of the next segment in tso->header; @payload is the sum
 * over exactly its tso_next_length() payload bytes, started from zero.
 */
void tso_next(struct tso *tso, const struct checksum *payload);

#endif /* TERN_TSO_H */
