/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the Toeplitz hash of receive side scaling. */
#ifndef TERN_TOEPLITZ_H
#define TERN_TOEPLITZ_H

#include <stddef.h>
#include <stdint.h>

#define TOEPLITZ_KEY_BYTES	40
#define TOEPLITZ_INPUT_MAX	36	/* two IPv6 addresses, two ports */

/* What each value of each 4 bits of the input adds to the hash. */
struct toeplitz {
	uint32_t add[TOEPLITZ_INPUT_MAX * 2][16];
};

void toeplitz_prepare(struct toeplitz *toeplitz, const uint8_t key[TOEPLITZ_KEY_BYTES]);

/* @length is at most TOEPLITZ_INPUT_MAX. */
uint32_t toeplitz_hash(const struct toeplitz *toeplitz, const uint8_t *input, size_t length);

#endif /* TERN_TOEPLITZ_H */
