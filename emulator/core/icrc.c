// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the invariant CRC. */
#include <assert.h>
#include <libdeflate.h>

#include "icrc.h"

/* CRC-32 of the eight bytes of ones that stand for the LRH. */
#define ICRC_AFTER_LRH		0x2144df1cU

/* Network header, UDP and BTH: what has fields to mask. */
#define MASKED_BYTES_MAX	(WIRE_IPV6_BYTES + WIRE_UDP_BYTES + WIRE_BTH_BYTES)

uint32_t icrc_compute(enum wire_network network, const uint8_t *l3, size_t length,
		      const struct tern_segment *payload, unsigned int payload_count,
		      const uint8_t *pad, size_t pad_length)
{
	uint8_t masked[MASKED_BYTES_MAX + WIRE_EXTENSION_BYTES_MAX];
	size_t bth;
	uint32_t crc;

	assert(length <= sizeof(masked));
	memcpy(masked, l3, length);
	if (network == WIRE_V2_IPV4) {
		masked[1] = 0xff;
		masked[8] = 0xff;
		masked[10] = 0xff;
		masked[11] = 0xff;
		bth = WIRE_IPV4_BYTES;
	} else {
		masked[0] |= 0x0f;
		masked[1] = 0xff;
		masked[2] = 0xff;
		masked[3] = 0xff;
		masked[7] = 0xff;
		bth = WIRE_IPV6_BYTES;
	}
	if (network != WIRE_V1) {
		masked[bth + 6] = 0xff;
		masked[bth + 7] = 0xff;
		bth += WIRE_UDP_BYTES;
	}
	masked[bth + 4] = 0xff;

	crc = libdeflate_crc32(ICRC_AFTER_LRH, masked, length);
	for (unsigned int i = 0; i < payload_count; i++)
		crc = libdeflate_crc32(crc, payload[i].base, payload[i].length);
	if (pad_length)
		crc = libdeflate_crc32(crc, pad, pad_length);
	return crc;
}

void icrc_complete(uint8_t *trailer, const struct tern_frame *frame)
{
	struct wire_packet packet;
	size_t pad = frame->trailer_length - WIRE_ICRC_BYTES;

	if (wire_parse_network(&packet, frame) != WIRE_OK ||
	    wire_parse_transport(&packet, frame) != WIRE_OK)
		return;
	icrc_store(trailer + pad,
		   icrc_compute(packet.network, packet.l3, packet.l3_length, packet.payload,
				packet.payload_count, packet.pad, pad));
}
