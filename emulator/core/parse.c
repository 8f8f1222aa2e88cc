// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: what an Ethernet frame's headers say. */
#include "parse.h"

#include "checksum.h"

#define IPV4_HEADER_MIN		20
#define IPV4_MORE_FRAGMENTS	0x2000
#define IPV4_FRAGMENT_OFFSET	0x1fff
#define IPV6_HEADER		40
#define IPV6_HOP_BY_HOP		0
#define IPV6_ROUTING		43
#define IPV6_FRAGMENT		44
#define IPV6_AUTHENTICATION	51
#define IPV6_DESTINATION	60
#define TCP_HEADER_MIN		20
#define UDP_HEADER		8

/* @end is where the IP packet ends, at or before the frame's. */
static void parse_l4(struct parsed_frame *p, const uint8_t *frame, size_t available,
		     uint8_t protocol, size_t offset, size_t end)
{
	size_t need;

	if (protocol == IP_PROTOCOL_TCP)
		need = TCP_HEADER_MIN;
	else if (protocol == IP_PROTOCOL_UDP)
		need = UDP_HEADER;
	else
		return;
	if (offset + need > available || offset + need > end)
		return;
	p->l4_protocol = protocol;
	p->l4_offset = (uint16_t)offset;
	p->l4_length = (uint32_t)(end - offset);
	p->source_port = parse_u16(frame + offset);
	p->destination_port = parse_u16(frame + offset + 2);
}

static void parse_ipv4(struct parsed_frame *p, const uint8_t *frame, size_t available,
		       size_t frame_length)
{
	const uint8_t *ip = frame + p->l3_offset;
	size_t header, total, room = frame_length - p->l3_offset;
	struct checksum checksum = { 0 };
	uint16_t fragment;

	if (available < p->l3_offset + (size_t)IPV4_HEADER_MIN || ip[0] >> 4 != 4)
		return;
	header = (size_t)(ip[0] & 15) * 4;
	total = parse_u16(ip + 2);
	if (header < IPV4_HEADER_MIN || total < header || total > room ||
	    available < p->l3_offset + header)
		return;
	p->ip_version = 4;
	p->l3_header_length = (uint16_t)header;
	checksum_add(&checksum, ip, header);
	p->l3_checksum_ok = checksum_finish(&checksum) == 0;
	fragment = parse_u16(ip + 6);
	p->fragment = fragment & (IPV4_MORE_FRAGMENTS | IPV4_FRAGMENT_OFFSET);
	if (!p->fragment)
		parse_l4(p, frame, available, ip[9], p->l3_offset + header,
			 p->l3_offset + total);
}

/* Walks extension headers; each is at least 8 bytes, so @available bounds the walk. */
static void parse_ipv6(struct parsed_frame *p, const uint8_t *frame, size_t available,
		       size_t frame_length)
{
	const uint8_t *ip = frame + p->l3_offset;
	size_t offset = p->l3_offset + (size_t)IPV6_HEADER, end;
	uint8_t next;

	if (available < offset || ip[0] >> 4 != 6)
		return;
	end = offset + parse_u16(ip + 4);
	if (end > frame_length)
		return;
	p->ip_version = 6;
	p->l3_header_length = IPV6_HEADER;
	next = ip[6];
	for (;;) {
		size_t length;

		switch (next) {
		case IPV6_HOP_BY_HOP:
		case IPV6_ROUTING:
		case IPV6_DESTINATION:
		case IPV6_AUTHENTICATION:
		case IPV6_FRAGMENT:
			break;
		default:
			parse_l4(p, frame, available, next, offset, end);
			return;
		}
		if (offset + 8 > available || offset + 8 > end)
			return;
		if (next == IPV6_FRAGMENT) {
			/* One with offset 0 and no more to come is the whole packet (RFC 6946). */
			if (parse_u16(frame + offset + 2) & 0xfff9) {
				p->fragment = true;
				return;
			}
			length = 8;
		} else if (next == IPV6_AUTHENTICATION) {
			length = ((size_t)frame[offset + 1] + 2) * 4;
		} else {
			/*
			 * With segments left the pseudo-header's destination
			 * is not the one in the IP header.
			 */
			if (next == IPV6_ROUTING && frame[offset + 3])
				return;
			length = ((size_t)frame[offset + 1] + 1) * 8;
		}
		next = frame[offset];
		offset += length;
		if (offset > end)
			return;
	}
}

bool parse_frame(struct parsed_frame *p, const uint8_t *frame, size_t available,
		 size_t frame_length)
{
	*p = (struct parsed_frame){ .l3_offset = PARSE_ETHERNET_BYTES };
	if (available > frame_length)
		available = frame_length;
	if (available > PARSE_BYTES)
		available = PARSE_BYTES;
	if (available < PARSE_ETHERNET_BYTES)
		return false;
	p->ethertype = parse_u16(frame + 12);
	if (p->ethertype == ETHERTYPE_VLAN) {
		if (available < PARSE_ETHERNET_BYTES + PARSE_VLAN_BYTES)
			return false;
		p->tagged = true;
		p->vlan_tci = parse_u16(frame + 14);
		p->ethertype = parse_u16(frame + 16);
		p->l3_offset += PARSE_VLAN_BYTES;
	}
	if (p->ethertype == ETHERTYPE_IPV4)
		parse_ipv4(p, frame, available, frame_length);
	else if (p->ethertype == ETHERTYPE_IPV6)
		parse_ipv6(p, frame, available, frame_length);
	return true;
}
