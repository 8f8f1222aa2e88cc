// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the parser of received frames. */
#include <stdlib.h>

#include "parse.h"
#include "tern_test.h"

/* An IPv4/UDP frame: 14 + 20 + 8 + 4 bytes of payload, padded to 60. */
static const uint8_t udp4[60] = {
	2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00,
	0x45, 0, 0, 32, 0, 1, 0x40, 0, 64, 17, 0x26, 0xca, 10, 0, 0, 1, 10, 0, 0, 2,
	0x12, 0x34, 0x00, 0x35, 0, 12, 0, 0, 'a', 'b', 'c', 'd',
};

static const uint8_t tcp6[74] = {
	2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,
	0x60, 0, 0, 0, 0, 20, 6, 64,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	0xab, 0xcd, 0x01, 0xbb, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0,
};

/* A copy of exactly @length bytes, so that the address sanitizer sees a read beyond it. */
static bool parse(struct parsed_frame *p, const uint8_t *frame, size_t length, size_t total)
{
	uint8_t *copy = malloc(length ? length : 1);
	bool ok;

	CHECK(copy);
	memcpy(copy, frame, length);
	ok = parse_frame(p, copy, length, total);
	free(copy);
	return ok;
}

TERN_TEST(ipv4_udp)
{
	struct parsed_frame p;

	CHECK(parse(&p, udp4, sizeof(udp4), sizeof(udp4)));
	CHECK_EQ(p.ethertype, ETHERTYPE_IPV4);
	CHECK_EQ(p.ip_version, 4);
	CHECK_EQ(p.l3_offset, 14);
	CHECK_EQ(p.l3_header_length, 20);
	CHECK(p.l3_checksum_ok);
	CHECK_EQ(p.l4_protocol, 17);
	CHECK_EQ(p.l4_offset, 34);
	CHECK_EQ(p.l4_length, 12);	/* not the padding */
	CHECK_EQ(p.source_port, 0x1234);
	CHECK_EQ(p.destination_port, 53);
	CHECK(!p.tagged && !p.fragment);
}

TERN_TEST(ipv4_bad_header_checksum)
{
	uint8_t frame[sizeof(udp4)];
	struct parsed_frame p;

	memcpy(frame, udp4, sizeof(udp4));
	frame[22]--;
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK_EQ(p.ip_version, 4);
	CHECK(!p.l3_checksum_ok);
}

TERN_TEST(ipv4_with_options)
{
	uint8_t frame[64] = { 0 };
	struct parsed_frame p;

	memcpy(frame, udp4, 34);
	frame[14] = 0x46;
	frame[17] = 36;
	memset(frame + 34, 1, 4);
	memcpy(frame + 38, udp4 + 34, 12);
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK_EQ(p.l3_header_length, 24);
	CHECK_EQ(p.l4_offset, 38);
	CHECK_EQ(p.l4_length, 12);
	CHECK_EQ(p.destination_port, 53);
	frame[14] = 0x4f;		/* 60 bytes of header, packet of 36 */
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK_EQ(p.ip_version, 0);
	frame[14] = 0x44;
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK_EQ(p.ip_version, 0);
}

TERN_TEST(ipv4_fragments_have_no_ports)
{
	static const uint8_t fields[][2] = { { 0x20, 0 }, { 0, 1 }, { 0x1f, 0xff }, { 0x20, 9 } };
	struct parsed_frame p;

	for (size_t i = 0; i < 4; i++) {
		uint8_t frame[sizeof(udp4)];

		memcpy(frame, udp4, sizeof(udp4));
		memcpy(frame + 20, fields[i], 2);
		CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
		CHECK_EQ(p.ip_version, 4);
		CHECK(p.fragment);
		CHECK_EQ(p.l4_protocol, 0);
	}
}

TERN_TEST(ipv4_length_beyond_the_frame)
{
	uint8_t frame[sizeof(udp4)];
	struct parsed_frame p;

	memcpy(frame, udp4, sizeof(udp4));
	frame[17] = 47;
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK_EQ(p.ip_version, 0);
	CHECK_EQ(p.l4_protocol, 0);
	frame[17] = 46;
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK_EQ(p.l4_length, 26);
	frame[17] = 27;			/* no room for UDP's header */
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK_EQ(p.ip_version, 4);
	CHECK_EQ(p.l4_protocol, 0);
}

TERN_TEST(vlan_tag)
{
	uint8_t frame[sizeof(udp4) + 4];
	struct parsed_frame p;

	memcpy(frame, udp4, 12);
	memcpy(frame + 12, "\x81\x00\x60\x07", 4);
	memcpy(frame + 16, udp4 + 12, sizeof(udp4) - 12);
	CHECK(parse(&p, frame, sizeof(frame), sizeof(frame)));
	CHECK(p.tagged);
	CHECK_EQ(p.vlan_tci, 0x6007);
	CHECK_EQ(p.ethertype, ETHERTYPE_IPV4);
	CHECK_EQ(p.l3_offset, 18);
	CHECK_EQ(p.l4_offset, 38);
	CHECK(!parse(&p, frame, 17, 17));
}

TERN_TEST(ipv6_tcp)
{
	struct parsed_frame p;

	CHECK(parse(&p, tcp6, sizeof(tcp6), sizeof(tcp6)));
	CHECK_EQ(p.ip_version, 6);
	CHECK_EQ(p.l4_protocol, 6);
	CHECK_EQ(p.l4_offset, 54);
	CHECK_EQ(p.l4_length, 20);
	CHECK_EQ(p.source_port, 0xabcd);
	CHECK_EQ(p.destination_port, 443);
}

static size_t with_extension(uint8_t *frame, uint8_t type, const uint8_t *header, size_t length)
{
	memcpy(frame, tcp6, 54);
	frame[20] = type;
	frame[19] = (uint8_t)(20 + length);
	memcpy(frame + 54, header, length);
	memcpy(frame + 54 + length, tcp6 + 54, 20);
	return 74 + length;
}

TERN_TEST(ipv6_extension_headers)
{
	static const uint8_t options[16] = { 6, 1 };
	static const uint8_t authentication[16] = { 6, 2 };
	static const uint8_t routed[8] = { 6, 0, 4, 0 }, routing[8] = { 6, 0, 4, 1 };
	static const uint8_t atomic[8] = { 6, 0, 0, 0 }, fragment[8] = { 6, 0, 0, 1 };
	static const uint8_t later[8] = { 6, 0, 0, 8 };
	uint8_t frame[200];
	struct parsed_frame p;
	size_t n;

	n = with_extension(frame, 0, options, 16);
	CHECK(parse(&p, frame, n, n));
	CHECK_EQ(p.l4_protocol, 6);
	CHECK_EQ(p.l4_offset, 70);
	n = with_extension(frame, 60, options, 16);
	CHECK(parse(&p, frame, n, n));
	CHECK_EQ(p.l4_offset, 70);
	n = with_extension(frame, 51, authentication, 16);
	CHECK(parse(&p, frame, n, n));
	CHECK_EQ(p.l4_protocol, 6);
	CHECK_EQ(p.l4_offset, 70);
	n = with_extension(frame, 43, routed, 8);
	CHECK(parse(&p, frame, n, n));
	CHECK_EQ(p.l4_protocol, 6);
	n = with_extension(frame, 43, routing, 8);
	CHECK(parse(&p, frame, n, n));
	CHECK_EQ(p.ip_version, 6);
	CHECK_EQ(p.l4_protocol, 0);
	n = with_extension(frame, 44, atomic, 8);
	CHECK(parse(&p, frame, n, n));
	CHECK(!p.fragment);
	CHECK_EQ(p.l4_protocol, 6);
	n = with_extension(frame, 44, fragment, 8);
	CHECK(parse(&p, frame, n, n));
	CHECK(p.fragment);
	CHECK_EQ(p.l4_protocol, 0);
	n = with_extension(frame, 44, later, 8);
	CHECK(parse(&p, frame, n, n));
	CHECK(p.fragment);
	/* A header that says it is longer than the packet. */
	n = with_extension(frame, 0, options, 16);
	frame[55] = 255;
	CHECK(parse(&p, frame, n, n));
	CHECK_EQ(p.ip_version, 6);
	CHECK_EQ(p.l4_protocol, 0);
}

/* Each cut of each frame: nothing is read beyond it, nothing is believed that is not there. */
TERN_TEST(truncated_frames)
{
	struct parsed_frame p;

	for (size_t n = 0; n < sizeof(udp4); n++) {
		CHECK_EQ(parse(&p, udp4, n, n), n >= 14);
		CHECK(n >= 46 || p.ip_version == 0);
		/* The header alone is at hand, the rest of the frame elsewhere. */
		CHECK_EQ(parse(&p, udp4, n, sizeof(udp4)), n >= 14);
		CHECK_EQ(p.l4_protocol, n >= 42 ? 17 : 0);
	}
	for (size_t n = 0; n < sizeof(tcp6); n++) {
		CHECK_EQ(parse(&p, tcp6, n, n), n >= 14);
		CHECK_EQ(p.l4_protocol, 0);
	}
}

TERN_TEST(random_bytes)
{
	static const uint8_t types[][2] = { { 8, 0 }, { 0x86, 0xdd }, { 0x81, 0 } };
	struct parsed_frame p;
	uint8_t frame[300];

	srand(11);
	for (int round = 0; round < 200000; round++) {
		size_t n = (size_t)(rand() % 300);

		for (size_t i = 0; i < n; i++)
			frame[i] = (uint8_t)rand();
		if (n > 20) {
			memcpy(frame + 12, types[rand() % 3], 2);
			memcpy(frame + 16, types[rand() % 2], 2);
			frame[14] = rand() & 1 ? 0x45 : 0x60;
			frame[20] = (uint8_t)(rand() % 64);
			frame[16] &= 1;
		}
		if (!parse(&p, frame, n, n))
			continue;
		CHECK(p.l3_offset <= n);
		if (p.l4_protocol) {
			CHECK(p.l4_offset + 8U <= n);
			CHECK(p.l4_offset + p.l4_length <= n);
		}
	}
}
