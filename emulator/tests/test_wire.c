// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: RoCE headers and ICRC: against packets of others, round trips, and packets that lie. */
#include <stdlib.h>

#include "address.h"
#include "icrc.h"
#include "icrc_vectors.h"
#include "tern_test.h"
#include "wire.h"

static size_t copy(const struct icrc_vector *vector, uint8_t *bytes)
{
	memcpy(bytes, vector->bytes, vector->length);
	return vector->length;
}

static enum wire_result parse(struct wire_packet *packet, struct tern_frame *frame,
			      const uint8_t *bytes, size_t length)
{
	enum wire_result result;

	tern_frame_wrap(frame, bytes, length);
	result = wire_parse_network(packet, frame);
	return result == WIRE_OK ? wire_parse_transport(packet, frame) : result;
}

static uint32_t compute(const struct wire_packet *packet)
{
	return icrc_compute(packet->network, packet->l3, packet->l3_length, packet->payload,
			    packet->payload_count, packet->pad, packet->headers.pad);
}

TERN_TEST(icrc_of_captured_packets)
{
	for (size_t i = 0; i < sizeof(icrc_captures) / sizeof(*icrc_captures); i++) {
		uint8_t bytes[256];
		size_t length = copy(&icrc_captures[i], bytes);
		struct wire_packet packet;
		struct tern_frame frame;

		CHECK_EQ(parse(&packet, &frame, bytes, length), WIRE_OK);
		CHECK_EQ(compute(&packet), icrc_load(packet.icrc));
	}
}

TERN_TEST(icrc_vectors_computed_independently)
{
	static const uint8_t pads[] = { 0, 1, 0 };

	for (size_t i = 0; i < sizeof(icrc_vectors) / sizeof(*icrc_vectors); i++) {
		uint8_t bytes[256];
		size_t length = copy(&icrc_vectors[i], bytes);
		struct wire_packet packet;
		struct tern_frame frame;

		CHECK_EQ(parse(&packet, &frame, bytes, length), WIRE_OK);
		CHECK_EQ(packet.headers.pad, pads[i % 3]);
		CHECK_EQ(packet.headers.psn, 0xabcdef);
		CHECK(packet.headers.ack_request);
		CHECK_EQ(packet.headers.destination_qpn, 0x123);
		CHECK_EQ(packet.tagged, i / 3 % 2);
		CHECK_EQ(compute(&packet), icrc_load(packet.icrc));
		/* And it does see a flipped bit of the payload or of what is not masked. */
		bytes[length - 5] ^= 4;
		CHECK(compute(&packet) != icrc_load(packet.icrc));
		bytes[length - 5] ^= 4;
	}
}

/* What a switch or router changes on the way is not in the ICRC. */
TERN_TEST(icrc_leaves_out_what_changes_on_the_way)
{
	for (size_t i = 0; i < sizeof(icrc_vectors) / sizeof(*icrc_vectors); i++) {
		uint8_t bytes[256], *l3;
		size_t length = copy(&icrc_vectors[i], bytes);
		struct wire_packet packet;
		struct tern_frame frame;
		uint32_t icrc;

		CHECK_EQ(parse(&packet, &frame, bytes, length), WIRE_OK);
		icrc = compute(&packet);
		l3 = bytes + (packet.l3 - bytes);
		bytes[0] ^= 0xff;
		if (packet.tagged)
			bytes[14] ^= 0xe0;
		if (packet.network == WIRE_V2_IPV4) {
			l3[1] ^= 0xff;
			l3[8] ^= 0xff;
			l3[10] ^= 0xff;
			l3[11] ^= 0xff;
			l3[26] ^= 0xff;
			l3[32] ^= 0xff;
		} else {
			l3[0] ^= 0x0f;
			l3[1] ^= 0xff;
			l3[2] ^= 0xff;
			l3[3] ^= 0xff;
			l3[7] ^= 0xff;
			l3[packet.network == WIRE_V1 ? 44 : 52] ^= 0xff;
		}
		CHECK_EQ(compute(&packet), icrc);
	}
}

static void fill_headers(struct wire_headers *headers, uint8_t opcode)
{
	memset(headers, 0, sizeof(*headers));
	headers->opcode = opcode;
	headers->solicited = true;
	headers->ack_request = true;
	headers->pkey = WIRE_PKEY_DEFAULT;
	headers->destination_qpn = 0xabcdef;
	headers->psn = 0x123456;
	headers->reth.address = 0x0102030405060708;
	headers->reth.key = 0x11223344;
	headers->reth.length = 0x55667788;
	headers->atomic.address = 0x1112131415161718;
	headers->atomic.key = 0x21222324;
	headers->atomic.swap_add = 0x3132333435363738;
	headers->atomic.compare = 0x4142434445464748;
	headers->aeth.syndrome = 0x1f;
	headers->aeth.msn = 0x515253;
	headers->atomic_original = 0x6162636465666768;
	headers->deth.qkey = 0x71727374;
	headers->deth.source_qpn = 0x818283;
	memcpy(headers->immediate, "\x91\x92\x93\x94", 4);
	headers->invalidate_key = 0xa1a2a3a4;
}

static void check_headers(const struct wire_headers *got, const struct wire_headers *want,
			  unsigned int extensions)
{
	CHECK_EQ(got->solicited, want->solicited);
	CHECK_EQ(got->ack_request, want->ack_request);
	CHECK_EQ(got->pad, want->pad);
	CHECK_EQ(got->pkey, want->pkey);
	CHECK_EQ(got->destination_qpn, want->destination_qpn);
	CHECK_EQ(got->psn, want->psn);
	if (extensions & WIRE_RETH)
		CHECK(!memcmp(&got->reth, &want->reth, sizeof(want->reth)));
	if (extensions & WIRE_ATOMIC_ETH) {
		CHECK_EQ(got->atomic.address, want->atomic.address);
		CHECK_EQ(got->atomic.key, want->atomic.key);
		CHECK_EQ(got->atomic.swap_add, want->atomic.swap_add);
		CHECK_EQ(got->atomic.compare, want->atomic.compare);
	}
	if (extensions & WIRE_AETH) {
		CHECK_EQ(got->aeth.syndrome, want->aeth.syndrome);
		CHECK_EQ(got->aeth.msn, want->aeth.msn);
	}
	if (extensions & WIRE_ATOMIC_ACK_ETH)
		CHECK_EQ(got->atomic_original, want->atomic_original);
	if (extensions & WIRE_DETH) {
		CHECK_EQ(got->deth.qkey, want->deth.qkey);
		CHECK_EQ(got->deth.source_qpn, want->deth.source_qpn);
	}
	if (extensions & WIRE_IMMDT)
		CHECK_MEM(got->immediate, want->immediate, 4);
	if (extensions & WIRE_IETH)
		CHECK_EQ(got->invalidate_key, want->invalidate_key);
}

static void make_address(struct wire_address *address, enum wire_network network, bool vlan)
{
	memset(address, 0, sizeof(*address));
	address->network = network;
	memcpy(address->destination_mac, "\2\0\0\0\0\1", 6);
	memcpy(address->source_mac, "\2\0\0\0\0\2", 6);
	address->vlan = vlan;
	address->vlan_id = 0xabc;
	address->priority = 5;
	memset(address->source_gid, network == WIRE_V2_IPV4 ? 0 : 0xfd, 16);
	if (network == WIRE_V2_IPV4)
		memset(address->source_gid + 10, 0xff, 2);
	memcpy(address->destination_gid, address->source_gid, 16);
	memcpy(address->source_gid + 12, "\x0a\0\0\1", 4);
	memcpy(address->destination_gid + 12, "\x0a\0\0\2", 4);
	address->flow_label = 0x98765;
	address->traffic_class = 0xb8;
	address->hop_limit = 17;
	address->udp_source_port = 0xdead;
}

static void round_trip(const struct wire_address *address, uint8_t opcode, size_t length)
{
	uint8_t header[WIRE_HEADER_BYTES_MAX], flat[WIRE_PACKET_BYTES_MAX + 64], payload[4096];
	struct tern_segment pieces[2] = {
		{ payload, length / 3 }, { payload + length / 3, length - length / 3 },
	};
	struct tern_frame frame = {
		.header = header, .payload = pieces, .payload_count = length ? 2 : 0,
		.payload_length = length, .icrc_pending = true,
	};
	struct wire_headers headers;
	struct wire_packet packet;
	struct tern_frame wrapped;
	struct wire_path path;
	size_t total;

	for (size_t i = 0; i < length; i++)
		payload[i] = (uint8_t)(i * 7);
	fill_headers(&headers, opcode);
	wire_path_build(&path, address);
	frame.header_length = wire_build(header, &path, &headers, length, 0xbeef);
	frame.trailer_length = (uint8_t)(headers.pad + WIRE_ICRC_BYTES);

	/* By reference */
	CHECK_EQ(wire_parse_network(&packet, &frame), WIRE_OK);
	CHECK_EQ(wire_parse_transport(&packet, &frame), WIRE_OK);
	check_headers(&packet.headers, &headers, packet.opcode->extensions);
	CHECK_EQ(packet.payload_length, length);

	/* Contiguous, with the padding of a short frame behind it */
	memset(flat, 0xee, sizeof(flat));
	total = tern_frame_flatten(&frame, flat, sizeof(flat));
	CHECK_EQ(total, tern_frame_length(&frame));
	CHECK_EQ(tern_frame_flatten(&frame, flat, total - 1), 0);
	CHECK_EQ(parse(&packet, &wrapped, flat, total + 20), WIRE_OK);
	check_headers(&packet.headers, &headers, packet.opcode->extensions);
	CHECK_EQ(packet.payload_length, length);
	CHECK_EQ(packet.network, address->network);
	CHECK_EQ(compute(&packet), icrc_load(packet.icrc));
	CHECK_EQ(packet.icrc - flat, total - 4);
	if (length)
		CHECK_MEM(packet.payload->base, payload, length);
	CHECK_MEM(packet.source_gid, address->source_gid, 16);
	CHECK_MEM(packet.destination_gid, address->destination_gid, 16);
	CHECK_EQ(packet.tagged, address->vlan);
	if (address->vlan) {
		CHECK_EQ(packet.vlan_tci, 5 << 13 | 0xabc);
		CHECK_EQ(wrapped.priority, 5);
	}
	if (address->network == WIRE_V2_IPV4) {
		CHECK_EQ(packet.l3[1], 0xb8);
		CHECK_EQ(wire_get_u16(packet.l3 + 4), 0xbeef);
		CHECK_EQ(wire_get_u16(packet.l3 + 6), 0x4000);
		CHECK_EQ(packet.l3[8], 17);
		CHECK_EQ(wire_get_u16(packet.l3 + 20), 0xdead);
	}
	/* A byte less than the headers say. */
	CHECK(parse(&packet, &wrapped, flat, total - 1) != WIRE_OK);
}

TERN_TEST(each_opcode_round_trips)
{
	static const size_t lengths[] = { 0, 1, 2, 3, 4, 5, 255, 256, 4095, 4096 };

	for (unsigned int network = WIRE_V1; network <= WIRE_V2_IPV6; network++) {
		for (unsigned int opcode = 0; opcode < 256; opcode++) {
			const struct wire_opcode *known = wire_opcode((uint8_t)opcode);
			struct wire_address address;

			if (!known)
				continue;
			for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
				if (lengths[i] && !(known->flags & WIRE_PAYLOAD))
					continue;
				make_address(&address, network, i & 1);
				round_trip(&address, (uint8_t)opcode, lengths[i]);
			}
		}
	}
}

/* The checksum of the IPv4 header, whatever carries it makes. */
TERN_TEST(each_identification)
{
	uint8_t flat[256] = { 0 };
	struct wire_headers headers;
	struct wire_address address;
	struct wire_packet packet;
	struct tern_frame frame;
	struct wire_path path;
	size_t length;

	make_address(&address, WIRE_V2_IPV4, false);
	/* Large words, so that adding the carries makes another one. */
	memset(address.source_gid + 12, 0xf0, 4);
	memset(address.destination_gid + 12, 0xfa, 4);
	wire_path_build(&path, &address);
	fill_headers(&headers, WIRE_RC_SEND_ONLY);
	for (unsigned int identification = 0; identification < 65536; identification++) {
		length = wire_build(flat, &path, &headers, 4, (uint16_t)identification) + 8;
		CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_OK);
	}
}

/* All opcodes, all short lengths, all pad counts, in memory that ends where the frame ends. */
TERN_TEST(short_packets_are_not_read_beyond_their_end)
{
	for (unsigned int network = WIRE_V1; network <= WIRE_V2_IPV6; network++) {
		for (unsigned int opcode = 0; opcode < 256; opcode++) {
			for (size_t length = 0; length <= 128; length++) {
				uint8_t whole[256] = { 0 }, *exact = malloc(length ? length : 1);
				struct wire_headers headers;
				struct wire_address address;
				struct wire_packet packet;
				struct tern_frame frame;
				struct wire_path path;

				CHECK(exact);
				make_address(&address, network, false);
				wire_path_build(&path, &address);
				fill_headers(&headers, WIRE_RC_SEND_ONLY);
				/* Lengths in the headers that fit the frame, if they can. */
				wire_build(whole, &path, &headers,
					   length > (size_t)path.length + 16U ?
					   length - path.length - 16 : 0, 1);
				whole[path.length] = (uint8_t)opcode;
				whole[path.length + 1] = (uint8_t)(length << 4);
				memcpy(exact, whole, length);
				parse(&packet, &frame, exact, length);
				free(exact);
			}
		}
	}
}

TERN_TEST(lengths_that_lie)
{
	static const struct tern_segment piece = { (const uint8_t *)"data", 4 };

	for (unsigned int network = WIRE_V1; network <= WIRE_V2_IPV6; network++) {
		uint8_t flat[256] = { 0 };
		struct wire_headers headers;
		struct wire_address address;
		struct wire_packet packet;
		struct tern_frame frame;
		struct wire_path path;
		uint8_t *l3;
		size_t length;

		make_address(&address, network, false);
		wire_path_build(&path, &address);
		fill_headers(&headers, WIRE_RC_SEND_ONLY);
		length = wire_build(flat, &path, &headers, 4, 1) + 8;
		CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_OK);
		CHECK_EQ(packet.payload_length, 4);
		l3 = flat + path.l3_offset;
		/* By reference: payload or trailer not as the headers say. */
		frame = (struct tern_frame){
			.header = flat, .header_length = length - 8, .payload = &piece,
			.payload_count = 1, .payload_length = 4, .trailer_length = 4,
		};
		for (unsigned int lie = 0; lie < 4; lie++) {
			struct tern_frame wrong = frame;

			wrong.payload_length += lie == 1 ? 4 : 0;
			wrong.trailer_length += lie == 2 ? 4 : 0;
			wrong.header_length -= lie == 3 ? 1 : 0;
			CHECK_EQ(wire_parse_network(&packet, &wrong), WIRE_OK);
			CHECK_EQ(wire_parse_transport(&packet, &wrong),
				 lie ? WIRE_MALFORMED : WIRE_OK);
		}
		/* The header's version is 0. */
		for (unsigned int version = 1; version < 16; version++) {
			flat[path.length + 1] ^= (uint8_t)version;
			CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_MALFORMED);
			flat[path.length + 1] ^= (uint8_t)version;
		}
		/* Three of the four bytes are pad; a pad count without payload makes no sense. */
		flat[path.length + 1] |= 0x30;
		CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_OK);
		CHECK_EQ(packet.payload_length, 1);
		length = wire_build(flat, &path, &headers, 0, 1) + 4;
		CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_OK);
		flat[path.length + 1] |= 0x10;
		CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_MALFORMED);
		length = wire_build(flat, &path, &headers, 4, 1) + 8;
		/* UDP that reaches beyond the Internet protocol's end, though not the frame's. */
		if (network != WIRE_V1) {
			uint8_t *udp = l3 + (network == WIRE_V2_IPV4 ? 20 : 40);

			wire_put_u16(udp + 4, (uint16_t)(wire_get_u16(udp + 4) + 4));
			CHECK_EQ(parse(&packet, &frame, flat, length + 4), WIRE_NOT_ROCE);
		}
		/* Data behind a header that takes none. */
		headers.opcode = WIRE_RC_ACKNOWLEDGE;
		length = wire_build(flat, &path, &headers, 4, 1) + 8;
		CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_MALFORMED);
		headers.opcode = WIRE_RC_SEND_ONLY;
		length = wire_build(flat, &path, &headers, 4, 1) + 8;
		/* The network header's length: too long, too short, not of words. */
		for (unsigned int value = 0; value < 512; value++) {
			enum wire_result result;

			if (network == WIRE_V2_IPV4) {
				unsigned int was = wire_get_u16(l3 + 2);
				unsigned int sum = wire_get_u16(l3 + 10);

				wire_put_u16(l3 + 2, (uint16_t)value);
				sum += was + 0xffff - value;
				wire_put_u16(l3 + 10, (uint16_t)(sum % 0xffff));
				wire_put_u16(l3 + 24, (uint16_t)(value >= 28 ? value - 20 : value));
			} else {
				wire_put_u16(l3 + 4, (uint16_t)value);
				if (network == WIRE_V2_IPV6)
					wire_put_u16(l3 + 44, (uint16_t)value);
			}
			result = parse(&packet, &frame, flat, length);
			if (result != WIRE_OK)
				continue;
			CHECK(packet.icrc + 4 <= flat + length);
			CHECK_EQ((packet.payload_length + packet.headers.pad) % 4, 0);
		}
	}
}

/* Fragments, IP options, other ports and bad checksums are the host's business. */
TERN_TEST(what_is_not_roce)
{
	uint8_t flat[256] = { 0 };
	struct wire_headers headers;
	struct wire_address address;
	struct wire_packet packet;
	struct tern_frame frame;
	struct wire_path path;
	size_t length;
	uint8_t *l3;

	make_address(&address, WIRE_V2_IPV4, false);
	wire_path_build(&path, &address);
	fill_headers(&headers, WIRE_RC_SEND_ONLY);
	length = wire_build(flat, &path, &headers, 4, 1) + 8;
	l3 = flat + 14;
	CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_OK);
	l3[8]++;
	CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_NOT_ROCE);
	l3[8]--;
	l3[23]++;
	CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_NOT_ROCE);
	l3[23]--;
	/* More fragments; the checksum is put right. */
	l3[6] |= 0x20;
	wire_put_u16(l3 + 10, (uint16_t)(wire_get_u16(l3 + 10) - 0x2000));
	CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_NOT_ROCE);
	l3[6] &= 0xdf;
	wire_put_u16(l3 + 10, (uint16_t)(wire_get_u16(l3 + 10) + 0x2000));
	CHECK_EQ(parse(&packet, &frame, flat, length), WIRE_OK);
	for (size_t l = 0; l < 40; l++)
		CHECK_EQ(parse(&packet, &frame, flat, l), WIRE_NOT_ROCE);
}

/* Values of Linux's rdma_flow_label_to_udp_sport() and rdma_calc_flow_label(). */
TERN_TEST(udp_source_ports)
{
	unsigned int different = 0;
	bool seen[0x4000] = { false };

	CHECK_EQ(address_udp_port(0), 0xc000);
	CHECK_EQ(address_udp_port(1), 0xc001);
	CHECK_EQ(address_udp_port(0x3fff), 0xffff);
	CHECK_EQ(address_udp_port(0x4000), 0xc001);
	CHECK_EQ(address_udp_port(0xfffff), 0xffc0);
	CHECK_EQ(address_flow_label(0x11, 0x12), 0x132);
	CHECK_EQ(address_flow_label(0xffffff, 0xffffff), 0xfff1e);
	for (uint32_t qpn = 2; qpn < 1002; qpn++) {
		uint16_t port = address_udp_port(address_flow_label(qpn, qpn + 1));

		CHECK(port >= 0xc000);
		different += !seen[port & 0x3fff];
		seen[port & 0x3fff] = true;
	}
	CHECK(different > 900);
}
