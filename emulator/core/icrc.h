/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the invariant CRC of RoCE packets (IBTA volume 1, 7.8.1; A16, A17).
 *
 * A CRC-32 over a packet from its network header on, with eight bytes of ones
 * for the LRH in front and ones in place of all that a switch or router may
 * change: traffic class, flow label and hop limit; for IPv4 the type of
 * service, time to live and header checksum; the UDP checksum; FECN, BECN and
 * the reserved bits beside them in the BTH.
 */
#ifndef TERN_ICRC_H
#define TERN_ICRC_H

#include <stddef.h>
#include <stdint.h>

#include "tern_nic.h"
#include "wire.h"

/*
 * @l3 are @length bytes of headers, from the network header to the last
 * extended header; then come the segments and the pad bytes.
 */
uint32_t icrc_compute(enum wire_network network, const uint8_t *l3, size_t length,
		      const struct tern_segment *payload, unsigned int payload_count,
		      const uint8_t *pad, size_t pad_length);

/* The ICRC stands in a packet with its least significant byte first. */
static inline void icrc_store(uint8_t *bytes, uint32_t icrc)
{
	bytes[0] = (uint8_t)icrc;
	bytes[1] = (uint8_t)(icrc >> 8);
	bytes[2] = (uint8_t)(icrc >> 16);
	bytes[3] = (uint8_t)(icrc >> 24);
}

static inline uint32_t icrc_load(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* Compute the ICRC of a frame that this core built, into its trailer. */
void icrc_complete(uint8_t *trailer, const struct tern_frame *frame);

#endif /* TERN_ICRC_H */
