// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: TCP segmentation against what the segments must be. */
#include <stdlib.h>

#include "checksum.h"
#include "tern_test.h"
#include "tso.h"

#define FIN	0x01
#define PSH	0x08
#define ACK	0x10
#define CWR	0x80

static uint8_t payload[65536];

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static uint32_t plain_sum(uint32_t sum, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

/* Ethernet, IP and TCP headers with @options bytes of TCP options; returns the length. */
static size_t make_headers(uint8_t *h, bool ipv6, size_t ip_options, size_t tcp_options,
			   uint8_t flags, uint16_t id, uint32_t sequence)
{
	size_t l4 = 14 + (ipv6 ? 40 : 20 + ip_options);

	memset(h, 0, TSO_HEADER_MAX);
	memset(h, 2, 12);
	h[12] = ipv6 ? 0x86 : 0x08;
	h[13] = ipv6 ? 0xdd : 0x00;
	if (ipv6) {
		h[14] = 0x60;
		h[20] = 6;
		h[21] = 64;
		for (int i = 0; i < 32; i++)
			h[22 + i] = (uint8_t)(i * 7 + 1);
	} else {
		h[14] = (uint8_t)(0x40 | (20 + ip_options) / 4);
		h[18] = id >> 8;
		h[19] = id & 255;
		h[20] = 0x40;
		h[22] = 64;
		h[23] = 6;
		memcpy(h + 26, "\x0a\x01\x02\x03\x0a\x01\x02\x04", 8);
		memset(h + 34, 1, ip_options);
		/* Rubbish where the device stores: it must not enter the sum. */
		h[24] = 0x55;
		h[25] = 0xaa;
	}
	h[l4] = 0x12;
	h[l4 + 3] = 80;
	for (int i = 0; i < 4; i++)
		h[l4 + 4 + i] = (uint8_t)(sequence >> (24 - 8 * i));
	h[l4 + 12] = (uint8_t)((20 + tcp_options) / 4 << 4);
	h[l4 + 13] = flags;
	h[l4 + 16] = 0xbe;
	h[l4 + 17] = 0xef;
	memset(h + l4 + 20, 1, tcp_options);
	return l4 + 20 + tcp_options;
}

static void check_tcp_sum(const struct tso *tso, const uint8_t *data, size_t length)
{
	const uint8_t *ip = tso->header + tso->l3_offset, *tcp = tso->header + tso->l4_offset;
	size_t header = tso->header_length - (size_t)tso->l4_offset;
	uint32_t sum = 6 + (uint32_t)(header + length);

	if (tso->ip_version == 4)
		sum = plain_sum(sum, ip + 12, 8);
	else
		sum = plain_sum(sum, ip + 8, 32);
	sum = plain_sum(sum, tcp, header);
	sum = plain_sum(sum, data, length);
	CHECK_EQ(sum, 0xffff);
}

static void segment_all(bool ipv6, size_t ip_options, size_t tcp_options, unsigned int mss,
			size_t length)
{
	const uint32_t sequence = 0xfffff000;
	const uint8_t flags = FIN | PSH | ACK | CWR;
	uint8_t headers[TSO_HEADER_MAX];
	size_t header = make_headers(headers, ipv6, ip_options, tcp_options, flags, 0xfffe,
				     sequence);
	size_t done = 0, segments = 0;
	struct tso tso;

	CHECK(tso_begin(&tso, headers, header, 14, mss, length));
	while (tso_next_length(&tso)) {
		size_t n = tso_next_length(&tso);
		struct checksum sum = { 0 };
		const uint8_t *ip = tso.header + 14, *tcp;

		CHECK_EQ(n, length - done < mss ? length - done : mss);
		checksum_add(&sum, payload + done, n);
		tso_next(&tso, &sum);
		tcp = tso.header + tso.l4_offset;
		CHECK_EQ(get32(tcp + 4), (uint32_t)(sequence + done));
		CHECK_EQ(tcp[13] & ACK, ACK);
		CHECK_EQ(!!(tcp[13] & CWR), done == 0);
		CHECK_EQ(tcp[13] & (FIN | PSH), done + n == length ? FIN | PSH : 0);
		if (ipv6) {
			CHECK_EQ(get16(ip + 4), header - 54 + n);
		} else {
			CHECK_EQ(get16(ip + 2), header - 14 + n);
			CHECK_EQ(get16(ip + 4), (uint16_t)(0xfffe + segments));
			CHECK_EQ(plain_sum(0, ip, 20 + ip_options), 0xffff);
		}
		check_tcp_sum(&tso, payload + done, n);
		/* All else is the request's. */
		CHECK_MEM(tso.header, headers, 14);
		CHECK_MEM(tcp + 20, headers + tso.l4_offset + 20, tcp_options);
		CHECK_MEM(tcp + 8, headers + tso.l4_offset + 8, 5);
		done += n;
		segments++;
	}
	CHECK_EQ(done, length);
	CHECK_EQ(segments, (length + mss - 1) / mss);
}

TERN_TEST(segments)
{
	static const size_t lengths[] = { 1, 2, 1447, 1448, 1449, 2896, 2897, 64000 };

	srand(3);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)rand();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			segment_all(ipv6, 0, 12, 1448, lengths[i]);
			segment_all(ipv6, 0, 0, 1449, lengths[i]);
			segment_all(ipv6, 0, 40, 8948, lengths[i]);
			segment_all(ipv6, ipv6 ? 0 : 40, 40, 537, lengths[i]);
		}
	}
}

TERN_TEST(one_byte_segments)
{
	segment_all(false, 0, 12, 1, 300);
	segment_all(true, 0, 12, 1, 300);
}

TERN_TEST(bad_requests_are_refused)
{
	uint8_t h[TSO_HEADER_MAX], bad[TSO_HEADER_MAX];
	size_t length = make_headers(h, false, 0, 12, ACK, 1, 1);
	struct tso tso;

	CHECK(tso_begin(&tso, h, length, 14, 1448, 3000));
	CHECK(!tso_begin(&tso, h, length, 14, 0, 3000));
	CHECK(!tso_begin(&tso, h, length, 14, 1448, 0));
	CHECK(!tso_begin(&tso, h, length, 13, 1448, 3000));
	CHECK(!tso_begin(&tso, h, length, 15, 1448, 3000));
	CHECK(!tso_begin(&tso, h, length, length - 19, 1448, 3000));
	CHECK(!tso_begin(&tso, h, length, 65535, 1448, 3000));
	CHECK(!tso_begin(&tso, h, length - 1, 14, 1448, 3000));
	CHECK(!tso_begin(&tso, h, length + 1, 14, 1448, 3000));
	for (size_t n = 0; n < length; n++)
		CHECK(!tso_begin(&tso, h, n, 14, 1448, 3000));
	memcpy(bad, h, sizeof(bad));
	bad[23] = 17;			/* UDP */
	CHECK(!tso_begin(&tso, bad, length, 14, 1448, 3000));
	memcpy(bad, h, sizeof(bad));
	bad[14] = 0x44;			/* header of 16 bytes */
	CHECK(!tso_begin(&tso, bad, length, 14, 1448, 3000));
	bad[14] = 0x4f;			/* header reaches into TCP */
	CHECK(!tso_begin(&tso, bad, length, 14, 1448, 3000));
	bad[14] = 0x55;
	CHECK(!tso_begin(&tso, bad, length, 14, 1448, 3000));
	memcpy(bad, h, sizeof(bad));
	bad[34 + 12] = 0x40;		/* TCP header of 16 bytes */
	CHECK(!tso_begin(&tso, bad, length, 14, 1448, 3000));
	length = make_headers(h, true, 0, 12, ACK, 1, 1);
	CHECK(tso_begin(&tso, h, length, 14, 1448, 3000));
	h[20] = 0;			/* hop-by-hop options */
	CHECK(!tso_begin(&tso, h, length, 14, 1448, 3000));
}
