// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the Toeplitz hash of receive side scaling. */
#include "toeplitz.h"

/* The 32 bits of the key that start at bit @bit, which is below 288. */
static uint32_t key_window(const uint8_t *key, unsigned int bit)
{
	uint64_t window = 0;
	unsigned int byte = bit / 8;

	for (unsigned int i = 0; i < 5; i++) {
		window <<= 8;
		if (byte + i < TOEPLITZ_KEY_BYTES)
			window |= key[byte + i];
	}
	return (uint32_t)(window >> (8 - bit % 8));
}

void toeplitz_prepare(struct toeplitz *toeplitz, const uint8_t key[TOEPLITZ_KEY_BYTES])
{
	for (unsigned int nibble = 0; nibble < TOEPLITZ_INPUT_MAX * 2; nibble++) {
		for (unsigned int value = 0; value < 16; value++) {
			uint32_t add = 0;

			for (unsigned int bit = 0; bit < 4; bit++) {
				if (value & (8U >> bit))
					add ^= key_window(key, nibble * 4 + bit);
			}
			toeplitz->add[nibble][value] = add;
		}
	}
}

uint32_t toeplitz_hash(const struct toeplitz *toeplitz, const uint8_t *input, size_t length)
{
	uint32_t hash = 0;

	for (size_t i = 0; i < length; i++) {
		hash ^= toeplitz->add[2 * i][input[i] >> 4];
		hash ^= toeplitz->add[2 * i + 1][input[i] & 15];
	}
	return hash;
}
