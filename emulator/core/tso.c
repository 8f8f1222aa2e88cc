// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: TCP segmentation offload, the headers' part. */
#include "tso.h"

#include <string.h>

#include "checksum.h"
#include "parse.h"

#define IPV4_HEADER_MIN		20
#define IPV6_HEADER		40
#define TCP_HEADER_MIN		20
#define TCP_FLAGS		13
#define TCP_CHECKSUM		16
#define TCP_FIN			0x01
#define TCP_PSH			0x08
#define TCP_CWR			0x80

static void put_u16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static void put_u32(uint8_t *bytes, uint32_t value)
{
	put_u16(bytes, (uint16_t)(value >> 16));
	put_u16(bytes + 2, (uint16_t)value);
}

bool tso_begin(struct tso *tso, const uint8_t *header, size_t header_length, size_t l3_offset,
	       unsigned int mss, size_t payload_length)
{
	const uint8_t *ip = header + l3_offset, *tcp;
	size_t l4_offset;

	if (!mss || !payload_length || header_length > TSO_HEADER_MAX ||
	    l3_offset < PARSE_ETHERNET_BYTES || l3_offset + IPV4_HEADER_MIN > header_length)
		return false;
	switch (ip[0] >> 4) {
	case 4:
		l4_offset = l3_offset + (size_t)(ip[0] & 15) * 4;
		if (l4_offset < l3_offset + IPV4_HEADER_MIN || ip[9] != IP_PROTOCOL_TCP)
			return false;
		break;
	case 6:
		/* Extension headers would have to be understood one by one: not offloaded. */
		l4_offset = l3_offset + IPV6_HEADER;
		if (ip[6] != IP_PROTOCOL_TCP)
			return false;
		break;
	default:
		return false;
	}
	if (l4_offset + TCP_HEADER_MIN > header_length)
		return false;
	tcp = header + l4_offset;
	if (l4_offset + (size_t)(tcp[12] >> 4) * 4 != header_length)
		return false;

	memcpy(tso->header, header, header_length);
	tso->header_length = (uint16_t)header_length;
	tso->l3_offset = (uint16_t)l3_offset;
	tso->l4_offset = (uint16_t)l4_offset;
	tso->mss = (uint16_t)mss;
	tso->payload_length = (uint32_t)payload_length;
	tso->offset = 0;
	tso->ip_version = ip[0] >> 4;
	tso->tcp_flags = tcp[TCP_FLAGS];
	tso->ip_id = parse_u16(ip + 4);
	tso->sequence = parse_u32(tcp + 4);
	return true;
}

size_t tso_next_length(const struct tso *tso)
{
	uint32_t left = tso->payload_length - tso->offset;

	return left < tso->mss ? left : tso->mss;
}

void tso_next(struct tso *tso, const struct checksum *payload)
{
	uint8_t *ip = tso->header + tso->l3_offset, *tcp = tso->header + tso->l4_offset;
	size_t length = tso_next_length(tso), tcp_header = tso->header_length - tso->l4_offset;
	uint32_t tcp_length = (uint32_t)(tcp_header + length);
	uint8_t flags = tso->tcp_flags;
	struct checksum checksum;
	uint16_t value;

	if (tso->offset)
		flags &= (uint8_t)~TCP_CWR;	/* RFC 3168 6.1.2: once per window */
	if (tso->offset + length < tso->payload_length)
		flags &= (uint8_t)~(TCP_FIN | TCP_PSH);
	put_u32(tcp + 4, tso->sequence);
	tcp[TCP_FLAGS] = flags;
	if (tso->ip_version == 4) {
		put_u16(ip + 2, (uint16_t)(tso->l4_offset - tso->l3_offset + tcp_length));
		put_u16(ip + 4, tso->ip_id);
		put_u16(ip + 10, 0);
		checksum = (struct checksum){ 0 };
		checksum_add(&checksum, ip, (size_t)(tso->l4_offset - tso->l3_offset));
		value = checksum_finish(&checksum);
		memcpy(ip + 10, &value, sizeof(value));
		checksum_pseudo_ipv4(&checksum, ip + 12, ip + 16, IP_PROTOCOL_TCP, tcp_length);
	} else {
		put_u16(ip + 4, (uint16_t)tcp_length);
		checksum_pseudo_ipv6(&checksum, ip + 8, ip + 24, IP_PROTOCOL_TCP, tcp_length);
	}
	put_u16(tcp + TCP_CHECKSUM, 0);
	checksum_add(&checksum, tcp, tcp_header);
	/* A TCP header is a multiple of 4 long, so the payload's sum starts at an even offset. */
	checksum_join(&checksum, payload);
	value = checksum_finish(&checksum);
	memcpy(tcp + TCP_CHECKSUM, &value, sizeof(value));

	tso->offset += (uint32_t)length;
	tso->sequence += (uint32_t)length;
	tso->ip_id++;
}
