// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the Toeplitz hash against Microsoft's "Verifying the RSS Hash Calculation". */
#include <arpa/inet.h>

#include "tern_test.h"
#include "toeplitz.h"

static const uint8_t verification_key[TOEPLITZ_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct vector {
	const char *destination, *source;
	uint16_t destination_port, source_port;
	uint32_t ip_hash, tcp_hash;
} ipv4_vectors[] = {
	{ "161.142.100.80", "66.9.149.187", 1766, 2794, 0x323e8fc2, 0x51ccc178 },
	{ "65.69.140.83", "199.92.111.2", 4739, 14230, 0xd718262a, 0xc626b0ea },
	{ "12.22.207.184", "24.19.198.95", 38024, 12898, 0xd2d0a5de, 0x5c2b394a },
	{ "209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xafc7327f },
	{ "202.188.127.2", "153.39.163.191", 1303, 44251, 0x5d1809c5, 0x10e828a2 },
}, ipv6_vectors[] = {
	{ "3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2cc18cd5, 0x40207d3d },
	{ "ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0f0c461c, 0xdde51bbf },
	{ "fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251,
	  0x4b61e985, 0x02d1feef },
};

static void check(const struct vector *vector, int family, size_t address_length)
{
	struct toeplitz toeplitz;
	uint8_t input[TOEPLITZ_INPUT_MAX];
	size_t ports = 2 * address_length;

	toeplitz_prepare(&toeplitz, verification_key);
	CHECK_EQ(inet_pton(family, vector->source, input), 1);
	CHECK_EQ(inet_pton(family, vector->destination, input + address_length), 1);
	input[ports] = vector->source_port >> 8;
	input[ports + 1] = vector->source_port & 255;
	input[ports + 2] = vector->destination_port >> 8;
	input[ports + 3] = vector->destination_port & 255;
	CHECK_EQ(toeplitz_hash(&toeplitz, input, ports), vector->ip_hash);
	CHECK_EQ(toeplitz_hash(&toeplitz, input, ports + 4), vector->tcp_hash);
}

TERN_TEST(ipv4)
{
	for (size_t i = 0; i < sizeof(ipv4_vectors) / sizeof(ipv4_vectors[0]); i++)
		check(&ipv4_vectors[i], AF_INET, 4);
}

TERN_TEST(ipv6)
{
	for (size_t i = 0; i < sizeof(ipv6_vectors) / sizeof(ipv6_vectors[0]); i++)
		check(&ipv6_vectors[i], AF_INET6, 16);
}

/* The last input bit uses the key's last 32 bits: a wrong window there shows in no vector. */
TERN_TEST(each_input_bit_adds_its_window_of_the_key)
{
	struct toeplitz toeplitz;

	toeplitz_prepare(&toeplitz, verification_key);
	for (unsigned int bit = 0; bit < TOEPLITZ_INPUT_MAX * 8; bit++) {
		uint8_t input[TOEPLITZ_INPUT_MAX] = { 0 };
		uint32_t want = 0;

		for (unsigned int i = bit; i < bit + 32; i++)
			want = want << 1 | (verification_key[i / 8] >> (7 - i % 8) & 1);
		input[bit / 8] = 0x80 >> bit % 8;
		CHECK_EQ(toeplitz_hash(&toeplitz, input, sizeof(input)), want);
	}
}
