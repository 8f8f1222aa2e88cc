// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the opcode table, and headers built and parsed by it. */
#include "parse.h"
#include "wire.h"

/* BTH flags, byte 1. */
#define BTH_SOLICITED		0x80
/* Path migration is not in use: the state is "migrated" (IBTA 17.2.8). */
#define BTH_MIGRATED		0x40
#define BTH_PAD_SHIFT		4
#define BTH_PAD			0x03
#define BTH_VERSION		0x0f
/* Byte 4 */
#define BTH_BECN		0x40
#define BTH_ACK_REQUEST		0x80

#define IPV4_DONT_FRAGMENT	0x4000
#define IPV4_FRAGMENT		0x3fff	/* more fragments, and the offset */

#define REQUEST_FIRST	(WIRE_REQUEST | WIRE_PAYLOAD | WIRE_STARTS)
#define REQUEST_MIDDLE	(WIRE_REQUEST | WIRE_PAYLOAD)
#define REQUEST_LAST	(WIRE_REQUEST | WIRE_PAYLOAD | WIRE_ENDS)
#define REQUEST_ONLY	(WIRE_REQUEST | WIRE_PAYLOAD | WIRE_STARTS | WIRE_ENDS)
#define REQUEST_BARE	(WIRE_REQUEST | WIRE_STARTS | WIRE_ENDS)
#define ONLY		(WIRE_STARTS | WIRE_ENDS)

#define OPCODE(n, o, x, b, f) \
	{ .name = (n), .operation = WIRE_OP_##o, .extensions = (x), .extension_bytes = (b), \
	  .flags = (f) }

static const struct wire_opcode opcodes[256] = {
	[0x00] = OPCODE("RC SEND first", SEND, 0, 0, REQUEST_FIRST),
	[0x01] = OPCODE("RC SEND middle", SEND, 0, 0, REQUEST_MIDDLE),
	[0x02] = OPCODE("RC SEND last", SEND, 0, 0, REQUEST_LAST),
	[0x03] = OPCODE("RC SEND last, immediate", SEND, WIRE_IMMDT, 4, REQUEST_LAST),
	[0x04] = OPCODE("RC SEND only", SEND, 0, 0, REQUEST_ONLY),
	[0x05] = OPCODE("RC SEND only, immediate", SEND, WIRE_IMMDT, 4, REQUEST_ONLY),
	[0x06] = OPCODE("RC WRITE first", WRITE, WIRE_RETH, 16, REQUEST_FIRST),
	[0x07] = OPCODE("RC WRITE middle", WRITE, 0, 0, REQUEST_MIDDLE),
	[0x08] = OPCODE("RC WRITE last", WRITE, 0, 0, REQUEST_LAST),
	[0x09] = OPCODE("RC WRITE last, immediate", WRITE, WIRE_IMMDT, 4, REQUEST_LAST),
	[0x0a] = OPCODE("RC WRITE only", WRITE, WIRE_RETH, 16, REQUEST_ONLY),
	[0x0b] = OPCODE("RC WRITE only, immediate", WRITE, WIRE_RETH | WIRE_IMMDT, 20,
			REQUEST_ONLY),
	[0x0c] = OPCODE("RC READ request", READ, WIRE_RETH, 16, REQUEST_BARE),
	[0x0d] = OPCODE("RC READ response first", READ_RESPONSE, WIRE_AETH, 4,
			WIRE_PAYLOAD | WIRE_STARTS),
	[0x0e] = OPCODE("RC READ response middle", READ_RESPONSE, 0, 0, WIRE_PAYLOAD),
	[0x0f] = OPCODE("RC READ response last", READ_RESPONSE, WIRE_AETH, 4,
			WIRE_PAYLOAD | WIRE_ENDS),
	[0x10] = OPCODE("RC READ response only", READ_RESPONSE, WIRE_AETH, 4,
			WIRE_PAYLOAD | ONLY),
	[0x11] = OPCODE("RC acknowledge", ACKNOWLEDGE, WIRE_AETH, 4, ONLY),
	[0x12] = OPCODE("RC atomic acknowledge", ACKNOWLEDGE, WIRE_AETH | WIRE_ATOMIC_ACK_ETH, 12,
			ONLY),
	[0x13] = OPCODE("RC compare and swap", ATOMIC, WIRE_ATOMIC_ETH, 28, REQUEST_BARE),
	[0x14] = OPCODE("RC fetch and add", ATOMIC, WIRE_ATOMIC_ETH, 28, REQUEST_BARE),
	[0x16] = OPCODE("RC SEND last, invalidate", SEND, WIRE_IETH, 4, REQUEST_LAST),
	[0x17] = OPCODE("RC SEND only, invalidate", SEND, WIRE_IETH, 4, REQUEST_ONLY),
	[0x1c] = OPCODE("RC FLUSH", FLUSH, WIRE_FETH | WIRE_RETH, 20, REQUEST_BARE),
	[0x1d] = OPCODE("RC ATOMIC WRITE", ATOMIC_WRITE, WIRE_RETH, 16, REQUEST_ONLY),
	[0x20] = OPCODE("UC SEND first", SEND, 0, 0, REQUEST_FIRST),
	[0x21] = OPCODE("UC SEND middle", SEND, 0, 0, REQUEST_MIDDLE),
	[0x22] = OPCODE("UC SEND last", SEND, 0, 0, REQUEST_LAST),
	[0x23] = OPCODE("UC SEND last, immediate", SEND, WIRE_IMMDT, 4, REQUEST_LAST),
	[0x24] = OPCODE("UC SEND only", SEND, 0, 0, REQUEST_ONLY),
	[0x25] = OPCODE("UC SEND only, immediate", SEND, WIRE_IMMDT, 4, REQUEST_ONLY),
	[0x26] = OPCODE("UC WRITE first", WRITE, WIRE_RETH, 16, REQUEST_FIRST),
	[0x27] = OPCODE("UC WRITE middle", WRITE, 0, 0, REQUEST_MIDDLE),
	[0x28] = OPCODE("UC WRITE last", WRITE, 0, 0, REQUEST_LAST),
	[0x29] = OPCODE("UC WRITE last, immediate", WRITE, WIRE_IMMDT, 4, REQUEST_LAST),
	[0x2a] = OPCODE("UC WRITE only", WRITE, WIRE_RETH, 16, REQUEST_ONLY),
	[0x2b] = OPCODE("UC WRITE only, immediate", WRITE, WIRE_RETH | WIRE_IMMDT, 20,
			REQUEST_ONLY),
	[0x64] = OPCODE("UD SEND only", SEND, WIRE_DETH, 8, REQUEST_ONLY),
	[0x65] = OPCODE("UD SEND only, immediate", SEND, WIRE_DETH | WIRE_IMMDT, 12,
			REQUEST_ONLY),
	[0x81] = OPCODE("CNP", CNP, WIRE_CNP_RESERVED, 16, ONLY),
	[0xa0] = OPCODE("XRC SEND first", SEND, WIRE_XRCETH, 4, REQUEST_FIRST),
	[0xa1] = OPCODE("XRC SEND middle", SEND, WIRE_XRCETH, 4, REQUEST_MIDDLE),
	[0xa2] = OPCODE("XRC SEND last", SEND, WIRE_XRCETH, 4, REQUEST_LAST),
	[0xa3] = OPCODE("XRC SEND last, immediate", SEND, WIRE_XRCETH | WIRE_IMMDT, 8,
			REQUEST_LAST),
	[0xa4] = OPCODE("XRC SEND only", SEND, WIRE_XRCETH, 4, REQUEST_ONLY),
	[0xa5] = OPCODE("XRC SEND only, immediate", SEND, WIRE_XRCETH | WIRE_IMMDT, 8,
			REQUEST_ONLY),
	[0xa6] = OPCODE("XRC WRITE first", WRITE, WIRE_XRCETH | WIRE_RETH, 20, REQUEST_FIRST),
	[0xa7] = OPCODE("XRC WRITE middle", WRITE, WIRE_XRCETH, 4, REQUEST_MIDDLE),
	[0xa8] = OPCODE("XRC WRITE last", WRITE, WIRE_XRCETH, 4, REQUEST_LAST),
	[0xa9] = OPCODE("XRC WRITE last, immediate", WRITE, WIRE_XRCETH | WIRE_IMMDT, 8,
			REQUEST_LAST),
	[0xaa] = OPCODE("XRC WRITE only", WRITE, WIRE_XRCETH | WIRE_RETH, 20, REQUEST_ONLY),
	[0xab] = OPCODE("XRC WRITE only, immediate", WRITE,
			WIRE_XRCETH | WIRE_RETH | WIRE_IMMDT, 24, REQUEST_ONLY),
	[0xac] = OPCODE("XRC READ request", READ, WIRE_XRCETH | WIRE_RETH, 20, REQUEST_BARE),
	[0xad] = OPCODE("XRC READ response first", READ_RESPONSE, WIRE_AETH, 4,
			WIRE_PAYLOAD | WIRE_STARTS),
	[0xae] = OPCODE("XRC READ response middle", READ_RESPONSE, 0, 0, WIRE_PAYLOAD),
	[0xaf] = OPCODE("XRC READ response last", READ_RESPONSE, WIRE_AETH, 4,
			WIRE_PAYLOAD | WIRE_ENDS),
	[0xb0] = OPCODE("XRC READ response only", READ_RESPONSE, WIRE_AETH, 4,
			WIRE_PAYLOAD | ONLY),
	[0xb1] = OPCODE("XRC acknowledge", ACKNOWLEDGE, WIRE_AETH, 4, ONLY),
	[0xb2] = OPCODE("XRC atomic acknowledge", ACKNOWLEDGE, WIRE_AETH | WIRE_ATOMIC_ACK_ETH, 12,
			ONLY),
	[0xb3] = OPCODE("XRC compare and swap", ATOMIC, WIRE_XRCETH | WIRE_ATOMIC_ETH, 32,
			REQUEST_BARE),
	[0xb4] = OPCODE("XRC fetch and add", ATOMIC, WIRE_XRCETH | WIRE_ATOMIC_ETH, 32,
			REQUEST_BARE),
	[0xb6] = OPCODE("XRC SEND last, invalidate", SEND, WIRE_XRCETH | WIRE_IETH, 8,
			REQUEST_LAST),
	[0xb7] = OPCODE("XRC SEND only, invalidate", SEND, WIRE_XRCETH | WIRE_IETH, 8,
			REQUEST_ONLY),
};

const struct wire_opcode *wire_opcode(uint8_t opcode)
{
	return opcodes[opcode].name ? &opcodes[opcode] : NULL;
}

static uint32_t sum_words(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += wire_get_u16(bytes + i);
	return sum;
}

static uint8_t *put_ethernet(uint8_t *at, const struct wire_address *address, uint16_t ethertype)
{
	memcpy(at, address->destination_mac, 6);
	memcpy(at + 6, address->source_mac, 6);
	at += 12;
	if (address->vlan) {
		wire_put_u16(at, ETHERTYPE_VLAN);
		wire_put_u16(at + 2, (uint16_t)(address->priority << 13 | address->vlan_id));
		at += WIRE_VLAN_BYTES;
	}
	wire_put_u16(at, ethertype);
	return at + 2;
}

static uint8_t *put_ipv4(uint8_t *at, const struct wire_address *address)
{
	memset(at, 0, WIRE_IPV4_BYTES);
	at[0] = 0x45;
	at[1] = address->traffic_class;
	wire_put_u16(at + 6, IPV4_DONT_FRAGMENT);
	at[8] = address->hop_limit;
	at[9] = IP_PROTOCOL_UDP;
	memcpy(at + 12, address->source_gid + 12, 4);
	memcpy(at + 16, address->destination_gid + 12, 4);
	return at + WIRE_IPV4_BYTES;
}

static uint8_t *put_ipv6(uint8_t *at, const struct wire_address *address, uint8_t next_header)
{
	wire_put_u32(at, 6U << 28 | (uint32_t)address->traffic_class << 20 |
			 (address->flow_label & 0xfffff));
	wire_put_u16(at + 4, 0);
	at[6] = next_header;
	at[7] = address->hop_limit;
	memcpy(at + 8, address->source_gid, 16);
	memcpy(at + 24, address->destination_gid, 16);
	return at + WIRE_IPV6_BYTES;
}

/* The checksum is 0, "none": the ICRC covers more (IBTA A17.3.1; RFC 6935 for IPv6). */
static uint8_t *put_udp(uint8_t *at, uint16_t source_port)
{
	wire_put_u16(at, source_port);
	wire_put_u16(at + 2, WIRE_V2_UDP_PORT);
	memset(at + 4, 0, 4);
	return at + WIRE_UDP_BYTES;
}

void wire_path_build(struct wire_path *path, const struct wire_address *address)
{
	uint8_t *at, *l3;

	memset(path, 0, sizeof(*path));
	path->network = address->network;
	path->priority = address->priority;
	at = path->bytes;
	switch (address->network) {
	case WIRE_V1:
		l3 = put_ethernet(at, address, ETHERTYPE_ROCE_V1);
		at = put_ipv6(l3, address, WIRE_GRH_NEXT_HEADER);
		break;
	case WIRE_V2_IPV4:
		l3 = put_ethernet(at, address, ETHERTYPE_IPV4);
		at = put_ipv4(l3, address);
		path->ipv4_sum = sum_words(l3, WIRE_IPV4_BYTES);
		at = put_udp(at, address->udp_source_port);
		break;
	default:
		l3 = put_ethernet(at, address, ETHERTYPE_IPV6);
		at = put_ipv6(l3, address, IP_PROTOCOL_UDP);
		at = put_udp(at, address->udp_source_port);
		break;
	}
	path->l3_offset = (uint8_t)(l3 - path->bytes);
	path->length = (uint8_t)(at - path->bytes);
}

void wire_path_set_class(struct wire_path *path, uint8_t traffic_class, uint8_t priority)
{
	uint8_t *l3 = path->bytes + path->l3_offset;

	path->priority = priority;
	if (path->l3_offset > WIRE_ETHERNET_BYTES)
		l3[-4] = (uint8_t)((l3[-4] & 0x0f) | priority << 5);
	if (path->network == WIRE_V2_IPV4) {
		l3[1] = traffic_class;
		path->ipv4_sum = sum_words(l3, WIRE_IPV4_BYTES);
	} else {
		l3[0] = (uint8_t)((l3[0] & 0xf0) | traffic_class >> 4);
		l3[1] = (uint8_t)((l3[1] & 0x0f) | traffic_class << 4);
	}
}

static uint8_t *put_extensions(uint8_t *at, const struct wire_headers *headers,
			       unsigned int extensions)
{
	if (extensions & WIRE_XRCETH) {
		wire_put_u32(at, headers->srqn & WIRE_QPN_MASK);
		at += 4;
	}
	if (extensions & WIRE_DETH) {
		wire_put_u32(at, headers->deth.qkey);
		wire_put_u32(at + 4, headers->deth.source_qpn & WIRE_QPN_MASK);
		at += 8;
	}
	if (extensions & WIRE_FETH) {
		wire_put_u32(at, headers->feth);
		at += 4;
	}
	if (extensions & WIRE_RETH) {
		wire_put_u64(at, headers->reth.address);
		wire_put_u32(at + 8, headers->reth.key);
		wire_put_u32(at + 12, headers->reth.length);
		at += 16;
	}
	if (extensions & WIRE_ATOMIC_ETH) {
		wire_put_u64(at, headers->atomic.address);
		wire_put_u32(at + 8, headers->atomic.key);
		wire_put_u64(at + 12, headers->atomic.swap_add);
		wire_put_u64(at + 20, headers->atomic.compare);
		at += 28;
	}
	if (extensions & WIRE_AETH) {
		wire_put_u32(at, (uint32_t)headers->aeth.syndrome << 24 |
				 (headers->aeth.msn & 0xffffff));
		at += 4;
	}
	if (extensions & WIRE_ATOMIC_ACK_ETH) {
		wire_put_u64(at, headers->atomic_original);
		at += 8;
	}
	if (extensions & WIRE_IMMDT) {
		memcpy(at, headers->immediate, 4);
		at += 4;
	}
	if (extensions & WIRE_IETH) {
		wire_put_u32(at, headers->invalidate_key);
		at += 4;
	}
	if (extensions & WIRE_CNP_RESERVED) {
		memset(at, 0, 16);
		at += 16;
	}
	return at;
}

size_t wire_build(uint8_t *buffer, const struct wire_path *path, struct wire_headers *headers,
		  size_t payload_length, uint16_t identification)
{
	const struct wire_opcode *opcode = &opcodes[headers->opcode];
	uint8_t *l3 = buffer + path->l3_offset, *bth = buffer + path->length;
	size_t after_path;
	uint32_t sum;

	headers->pad = (uint8_t)(-payload_length & 3);
	memcpy(buffer, path->bytes, path->length);

	bth[0] = headers->opcode;
	/* IBTA A17.9.3: in CNPs it is clear. */
	bth[1] = (uint8_t)((headers->solicited ? BTH_SOLICITED : 0) |
			   (headers->opcode == WIRE_CNP ? 0 : BTH_MIGRATED) |
			   headers->pad << BTH_PAD_SHIFT);
	wire_put_u16(bth + 2, headers->pkey);
	wire_put_u32(bth + 4, headers->destination_qpn & WIRE_QPN_MASK);
	if (headers->becn)
		bth[4] = BTH_BECN;
	wire_put_u32(bth + 8, headers->psn & WIRE_PSN_MASK);
	if (headers->ack_request)
		bth[8] = BTH_ACK_REQUEST;
	put_extensions(bth + WIRE_BTH_BYTES, headers, opcode->extensions);

	after_path = WIRE_BTH_BYTES + opcode->extension_bytes + payload_length + headers->pad +
		     WIRE_ICRC_BYTES;
	switch (path->network) {
	case WIRE_V1:
		wire_put_u16(l3 + 4, (uint16_t)after_path);
		break;
	case WIRE_V2_IPV4:
		after_path += WIRE_UDP_BYTES;
		wire_put_u16(l3 + WIRE_IPV4_BYTES + 4, (uint16_t)after_path);
		after_path += WIRE_IPV4_BYTES;
		wire_put_u16(l3 + 2, (uint16_t)after_path);
		wire_put_u16(l3 + 4, identification);
		sum = path->ipv4_sum + (uint32_t)after_path + identification;
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		wire_put_u16(l3 + 10, (uint16_t)~sum);
		break;
	default:
		after_path += WIRE_UDP_BYTES;
		wire_put_u16(l3 + 4, (uint16_t)after_path);
		wire_put_u16(l3 + WIRE_IPV6_BYTES + 4, (uint16_t)after_path);
		break;
	}
	return path->length + WIRE_BTH_BYTES + opcode->extension_bytes;
}

/* Where the Internet protocol's own header says that UDP ends; 0 when this is not RoCE v2. */
static size_t parse_udp(const uint8_t *udp, size_t l3_bytes, size_t ip_payload)
{
	if (wire_get_u16(udp + 2) != WIRE_V2_UDP_PORT)
		return 0;
	if (wire_get_u16(udp + 4) < WIRE_UDP_BYTES || wire_get_u16(udp + 4) > ip_payload)
		return 0;
	return l3_bytes + wire_get_u16(udp + 4);
}

static size_t parse_ipv4(struct wire_packet *packet, size_t available)
{
	const uint8_t *l3 = packet->l3;
	uint16_t total;

	if (available < WIRE_IPV4_BYTES + WIRE_UDP_BYTES || l3[0] != 0x45 ||
	    l3[9] != IP_PROTOCOL_UDP || (wire_get_u16(l3 + 6) & IPV4_FRAGMENT))
		return 0;
	total = wire_get_u16(l3 + 2);
	if (total < WIRE_IPV4_BYTES + WIRE_UDP_BYTES || sum_words(l3, WIRE_IPV4_BYTES) % 0xffff)
		return 0;
	packet->network = WIRE_V2_IPV4;
	memset(packet->source_gid, 0, 10);
	memset(packet->source_gid + 10, 0xff, 2);
	memcpy(packet->source_gid + 12, l3 + 12, 4);
	memcpy(packet->destination_gid, packet->source_gid, 12);
	memcpy(packet->destination_gid + 12, l3 + 16, 4);
	return parse_udp(l3 + WIRE_IPV4_BYTES, WIRE_IPV4_BYTES, total - WIRE_IPV4_BYTES);
}

static size_t parse_ipv6(struct wire_packet *packet, size_t available)
{
	const uint8_t *l3 = packet->l3;

	if (available < WIRE_IPV6_BYTES + WIRE_UDP_BYTES || l3[0] >> 4 != 6 ||
	    l3[6] != IP_PROTOCOL_UDP)
		return 0;
	packet->network = WIRE_V2_IPV6;
	memcpy(packet->source_gid, l3 + 8, 16);
	memcpy(packet->destination_gid, l3 + 24, 16);
	if (wire_get_u16(l3 + 4) < WIRE_UDP_BYTES)
		return 0;
	return parse_udp(l3 + WIRE_IPV6_BYTES, WIRE_IPV6_BYTES, wire_get_u16(l3 + 4));
}

static size_t parse_grh(struct wire_packet *packet, size_t available)
{
	const uint8_t *l3 = packet->l3;

	if (available < WIRE_IPV6_BYTES || l3[0] >> 4 != 6 || l3[6] != WIRE_GRH_NEXT_HEADER)
		return 0;
	packet->network = WIRE_V1;
	memcpy(packet->source_gid, l3 + 8, 16);
	memcpy(packet->destination_gid, l3 + 24, 16);
	return WIRE_IPV6_BYTES + (size_t)wire_get_u16(l3 + 4);
}

static size_t network_bytes(enum wire_network network)
{
	switch (network) {
	case WIRE_V1:
		return WIRE_IPV6_BYTES;
	case WIRE_V2_IPV4:
		return WIRE_IPV4_BYTES + WIRE_UDP_BYTES;
	default:
		return WIRE_IPV6_BYTES + WIRE_UDP_BYTES;
	}
}

enum wire_result wire_parse_network(struct wire_packet *packet, const struct tern_frame *frame)
{
	const uint8_t *at = frame->header;
	size_t available = frame->header_length, l3_total;
	uint16_t ethertype;

	if (available < WIRE_ETHERNET_BYTES)
		return WIRE_NOT_ROCE;
	packet->destination_mac = at;
	packet->source_mac = at + 6;
	packet->tagged = false;
	packet->vlan_tci = 0;
	ethertype = wire_get_u16(at + 12);
	at += WIRE_ETHERNET_BYTES;
	available -= WIRE_ETHERNET_BYTES;
	if (ethertype == ETHERTYPE_VLAN) {
		if (available < WIRE_VLAN_BYTES)
			return WIRE_NOT_ROCE;
		packet->tagged = true;
		packet->vlan_tci = wire_get_u16(at);
		ethertype = wire_get_u16(at + 2);
		at += WIRE_VLAN_BYTES;
		available -= WIRE_VLAN_BYTES;
	}
	packet->l3 = at;
	switch (ethertype) {
	case ETHERTYPE_ROCE_V1:
		l3_total = parse_grh(packet, available);
		break;
	case ETHERTYPE_IPV4:
		l3_total = parse_ipv4(packet, available);
		break;
	case ETHERTYPE_IPV6:
		l3_total = parse_ipv6(packet, available);
		break;
	default:
		return WIRE_NOT_ROCE;
	}
	if (!l3_total)
		return WIRE_NOT_ROCE;
	packet->l3_length = l3_total;
	return WIRE_OK;
}

static void parse_extensions(struct wire_headers *headers, const uint8_t *at,
			     unsigned int extensions)
{
	if (extensions & WIRE_XRCETH) {
		headers->srqn = wire_get_u24(at + 1);
		at += 4;
	}
	if (extensions & WIRE_DETH) {
		headers->deth.qkey = wire_get_u32(at);
		headers->deth.source_qpn = wire_get_u24(at + 5);
		at += 8;
	}
	if (extensions & WIRE_FETH) {
		headers->feth = wire_get_u32(at);
		at += 4;
	}
	if (extensions & WIRE_RETH) {
		headers->reth.address = wire_get_u64(at);
		headers->reth.key = wire_get_u32(at + 8);
		headers->reth.length = wire_get_u32(at + 12);
		at += 16;
	}
	if (extensions & WIRE_ATOMIC_ETH) {
		headers->atomic.address = wire_get_u64(at);
		headers->atomic.key = wire_get_u32(at + 8);
		headers->atomic.swap_add = wire_get_u64(at + 12);
		headers->atomic.compare = wire_get_u64(at + 20);
		at += 28;
	}
	if (extensions & WIRE_AETH) {
		headers->aeth.syndrome = at[0];
		headers->aeth.msn = wire_get_u24(at + 1);
		at += 4;
	}
	if (extensions & WIRE_ATOMIC_ACK_ETH) {
		headers->atomic_original = wire_get_u64(at);
		at += 8;
	}
	if (extensions & WIRE_IMMDT) {
		memcpy(headers->immediate, at, 4);
		at += 4;
	}
	if (extensions & WIRE_IETH)
		headers->invalidate_key = wire_get_u32(at);
}

/* Payload, pad and ICRC of a frame whose segments are its payload. */
static bool split_referenced(struct wire_packet *packet, const struct tern_frame *frame,
			     size_t headers_end, size_t body)
{
	unsigned int pad = packet->headers.pad;

	if (frame->header_length != headers_end ||
	    frame->trailer_length != pad + WIRE_ICRC_BYTES ||
	    frame->payload_length + frame->trailer_length != body)
		return false;
	packet->payload = frame->payload;
	packet->payload_count = frame->payload_count;
	packet->payload_length = frame->payload_length;
	packet->pad = frame->trailer;
	packet->icrc = frame->trailer + pad;
	return true;
}

/* The same of contiguous bytes; Ethernet's padding may follow them. */
static bool split_contiguous(struct wire_packet *packet, const struct tern_frame *frame,
			     size_t headers_end, size_t body)
{
	unsigned int pad = packet->headers.pad;

	if (body > frame->header_length - headers_end || body < pad + WIRE_ICRC_BYTES)
		return false;
	packet->contiguous.base = frame->header + headers_end;
	packet->contiguous.length = body - pad - WIRE_ICRC_BYTES;
	packet->payload = &packet->contiguous;
	packet->payload_count = packet->contiguous.length ? 1 : 0;
	packet->payload_length = packet->contiguous.length;
	packet->pad = packet->contiguous.base + packet->contiguous.length;
	packet->icrc = packet->pad + pad;
	return true;
}

enum wire_result wire_parse_transport(struct wire_packet *packet, const struct tern_frame *frame)
{
	struct wire_headers *headers = &packet->headers;
	size_t l3_offset = (size_t)(packet->l3 - frame->header);
	size_t below = network_bytes(packet->network), total = packet->l3_length;
	size_t all_headers;
	const uint8_t *bth;

	if (frame->header_length < l3_offset + below + WIRE_BTH_BYTES ||
	    total < below + WIRE_BTH_BYTES + WIRE_ICRC_BYTES)
		return WIRE_MALFORMED;
	bth = packet->l3 + below;
	packet->opcode = wire_opcode(bth[0]);
	if (!packet->opcode || (bth[1] & BTH_VERSION))
		return WIRE_MALFORMED;
	headers->opcode = bth[0];
	headers->solicited = bth[1] & BTH_SOLICITED;
	headers->pad = bth[1] >> BTH_PAD_SHIFT & BTH_PAD;
	headers->pkey = wire_get_u16(bth + 2);
	headers->becn = bth[4] & BTH_BECN;
	headers->destination_qpn = wire_get_u24(bth + 5);
	headers->ack_request = bth[8] & BTH_ACK_REQUEST;
	headers->psn = wire_get_u24(bth + 9);

	all_headers = below + WIRE_BTH_BYTES + packet->opcode->extension_bytes;
	if (frame->header_length < l3_offset + all_headers || total < all_headers)
		return WIRE_MALFORMED;
	parse_extensions(headers, bth + WIRE_BTH_BYTES, packet->opcode->extensions);
	packet->l3_length = all_headers;
	if (frame->trailer_length) {
		if (!split_referenced(packet, frame, l3_offset + all_headers,
				      total - all_headers))
			return WIRE_MALFORMED;
	} else if (!split_contiguous(packet, frame, l3_offset + all_headers,
				     total - all_headers)) {
		return WIRE_MALFORMED;
	}
	if (packet->payload_length && !(packet->opcode->flags & WIRE_PAYLOAD))
		return WIRE_MALFORMED;
	/* A packet is a multiple of four bytes; without payload there is nothing to pad. */
	if ((packet->payload_length + headers->pad) & 3)
		return WIRE_MALFORMED;
	return WIRE_OK;
}
