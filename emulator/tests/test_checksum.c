// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the one's complement checksum against a plain RFC 1071 loop. */
#include <stdlib.h>

#include "checksum.h"
#include "tern_test.h"

static uint8_t data[70000];

static void fill(void)
{
	srand(7);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)rand();
}

/* In host order. */
static uint16_t plain(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i++) {
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)~sum;
}

/* What stands in memory at @checksum, as a number in network order. */
static uint16_t stored(const struct checksum *checksum)
{
	uint16_t value = checksum_finish(checksum);
	uint8_t bytes[2];

	memcpy(bytes, &value, 2);
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* RFC 1071, section 3: the sum is ddf2. */
TERN_TEST(example_of_rfc_1071)
{
	static const uint8_t example[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };
	struct checksum checksum = { 0 };

	checksum_add(&checksum, example, sizeof(example));
	CHECK_EQ(stored(&checksum), (uint16_t)~0xddf2);
}

TERN_TEST(every_length_and_offset)
{
	fill();
	for (size_t offset = 0; offset < 9; offset++) {
		for (size_t length = 0; length < 200; length++) {
			struct checksum checksum = { 0 };

			checksum_add(&checksum, data + offset, length);
			CHECK_EQ(stored(&checksum), plain(data + offset, length));
		}
	}
}

TERN_TEST(carries_do_not_get_lost)
{
	struct checksum checksum = { 0 };

	memset(data, 0xff, sizeof(data));
	checksum_add(&checksum, data, sizeof(data));
	CHECK_EQ(stored(&checksum), plain(data, sizeof(data)));
	checksum_add(&checksum, data, sizeof(data));
	checksum_add_u16(&checksum, 1);
	CHECK_EQ(stored(&checksum), 0xfffe);
}

TERN_TEST(pieces_at_odd_offsets)
{
	fill();
	for (int round = 0; round < 2000; round++) {
		size_t total = (size_t)(rand() % 3000), done = 0;
		struct checksum checksum = { 0 };

		while (done < total) {
			size_t piece = 1 + (size_t)(rand() % 97);

			if (piece > total - done)
				piece = total - done;
			checksum_add(&checksum, data + done, piece);
			done += piece;
		}
		CHECK_EQ(stored(&checksum), plain(data, total));
	}
}

TERN_TEST(joined_sums)
{
	fill();
	for (size_t cut = 0; cut < 60; cut++) {
		struct checksum first = { 0 }, second = { 0 };

		checksum_add(&first, data, cut);
		checksum_add(&second, data + cut, 101 - cut);
		checksum_join(&first, &second);
		CHECK_EQ(stored(&first), plain(data, 101));
		CHECK(first.odd);
	}
}

TERN_TEST(own_checksum_makes_zero)
{
	struct checksum checksum = { 0 };
	uint16_t value;

	fill();
	memset(data + 16, 0, 2);
	checksum_add(&checksum, data, 1001);
	value = checksum_finish(&checksum);
	memcpy(data + 16, &value, 2);
	checksum = (struct checksum){ 0 };
	checksum_add(&checksum, data, 1001);
	CHECK_EQ(checksum_finish(&checksum), 0);
	data[500] ^= 4;
	checksum = (struct checksum){ 0 };
	checksum_add(&checksum, data, 1001);
	CHECK(checksum_finish(&checksum) != 0);
}

TERN_TEST(pseudo_headers)
{
	/* As bytes, in the order of RFC 9293 and RFC 8200. */
	static const uint8_t v4[] = { 10, 0, 0, 1, 192, 168, 7, 9, 0, 17, 0x12, 0x34 };
	static const uint8_t v6[] = {
		0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf,
		0, 1, 0x23, 0x45, 0, 0, 0, 6,
	};
	struct checksum checksum;

	checksum_pseudo_ipv4(&checksum, v4, v4 + 4, 17, 0x1234);
	CHECK_EQ(stored(&checksum), plain(v4, sizeof(v4)));
	checksum_pseudo_ipv6(&checksum, v6, v6 + 16, 6, 0x12345);
	CHECK_EQ(stored(&checksum), plain(v6, sizeof(v6)));
}

TERN_TEST(udp_zero_is_sent_as_ones)
{
	CHECK_EQ(CHECKSUM_UDP(0), 0xffff);
	CHECK_EQ(CHECKSUM_UDP(0x1234), 0x1234);
}
