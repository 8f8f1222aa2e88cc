// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the Internet's one's complement checksum. */
#include "checksum.h"

#include <string.h>

static uint64_t add_carry(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

static uint16_t fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/*
 * 2^64 - 1 is a multiple of 2^16 - 1, so 64-bit words with end-around carry
 * give the same sum as 16-bit ones. Four chains keep the adders busy.
 */
static uint64_t sum_bytes(const uint8_t *data, size_t length)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, word[4];

	while (length >= sizeof(word)) {
		memcpy(word, data, sizeof(word));
		a = add_carry(a, word[0]);
		b = add_carry(b, word[1]);
		c = add_carry(c, word[2]);
		d = add_carry(d, word[3]);
		data += sizeof(word);
		length -= sizeof(word);
	}
	a = add_carry(add_carry(a, b), add_carry(c, d));
	while (length >= 8) {
		memcpy(word, data, 8);
		a = add_carry(a, word[0]);
		data += 8;
		length -= 8;
	}
	if (length) {
		word[0] = 0;	/* a last odd byte is padded with zero */
		memcpy(word, data, length);
		a = add_carry(a, word[0]);
	}
	return a;
}

static void add_piece(struct checksum *checksum, uint64_t sum, bool odd)
{
	if (checksum->odd) {
		uint16_t folded = fold(sum);

		sum = (uint16_t)(folded << 8 | folded >> 8);
	}
	checksum->sum = add_carry(checksum->sum, sum);
	checksum->odd ^= odd;
}

void checksum_add(struct checksum *checksum, const void *data, size_t length)
{
	add_piece(checksum, sum_bytes(data, length), length & 1);
}

void checksum_join(struct checksum *checksum, const struct checksum *following)
{
	add_piece(checksum, following->sum, following->odd);
}

void checksum_add_u16(struct checksum *checksum, uint16_t value)
{
	const uint8_t bytes[2] = { (uint8_t)(value >> 8), (uint8_t)value };

	checksum_add(checksum, bytes, sizeof(bytes));
}

void checksum_add_u32(struct checksum *checksum, uint32_t value)
{
	checksum_add_u16(checksum, (uint16_t)(value >> 16));
	checksum_add_u16(checksum, (uint16_t)value);
}

uint16_t checksum_finish(const struct checksum *checksum)
{
	return (uint16_t)~fold(checksum->sum);
}

void checksum_pseudo_ipv4(struct checksum *checksum, const uint8_t *source,
			  const uint8_t *destination, uint8_t protocol, uint32_t length)
{
	*checksum = (struct checksum){ 0 };
	checksum_add(checksum, source, 4);
	checksum_add(checksum, destination, 4);
	checksum_add_u16(checksum, protocol);
	checksum_add_u32(checksum, length);
}

void checksum_pseudo_ipv6(struct checksum *checksum, const uint8_t *source,
			  const uint8_t *destination, uint8_t protocol, uint32_t length)
{
	*checksum = (struct checksum){ 0 };
	checksum_add(checksum, source, 16);
	checksum_add(checksum, destination, 16);
	checksum_add_u32(checksum, length);
	checksum_add_u32(checksum, protocol);
}
