/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: what an Ethernet frame's headers say. Pure: bytes in, facts out. */
#ifndef TERN_PARSE_H
#define TERN_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARSE_ETHERNET_BYTES	14
#define PARSE_VLAN_BYTES	4
/* So many of a frame's first bytes are looked at; headers beyond them are not understood. */
#define PARSE_BYTES		256

#define ETHERTYPE_IPV4		0x0800
#define ETHERTYPE_VLAN		0x8100
#define ETHERTYPE_IPV6		0x86dd
#define ETHERTYPE_ROCE_V1	0x8915
#define IP_PROTOCOL_TCP		6
#define IP_PROTOCOL_UDP		17
#define ROCE_V2_UDP_PORT	4791

struct parsed_frame {
	uint16_t ethertype;	/* after the outer 802.1Q tag, if any */
	uint16_t vlan_tci;
	uint16_t l3_offset;	/* of what the ethertype names */
	uint16_t l4_offset;	/* with l4_protocol */
	uint32_t l4_length;	/* with l4_protocol: from its header to the end of the IP packet */
	uint16_t l3_header_length;	/* IPv4: with options */
	uint16_t source_port, destination_port;	/* with l4_protocol */
	bool tagged;
	uint8_t ip_version;	/* 4 or 6 with a well-formed header that fits the frame; else 0 */
	/*
	 * TCP or UDP when the packet is no fragment and its L4 header stands
	 * whole in the bytes given; else 0.
	 */
	uint8_t l4_protocol;
	bool fragment;
	bool l3_checksum_ok;	/* IPv4: of its header */
};

/*
 * Parse @available bytes, the first ones of a frame of @frame_length. Returns
 * false when not even an Ethernet header (with its tag) is there.
 */
bool parse_frame(struct parsed_frame *parsed, const uint8_t *frame, size_t available,
		 size_t frame_length);

static inline uint16_t parse_u16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t parse_u32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

#endif /* TERN_PARSE_H */
