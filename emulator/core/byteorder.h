/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: little endian fields of the contract, to and from the host's order. */
#ifndef TERN_BYTEORDER_H
#define TERN_BYTEORDER_H

#include <linux/types.h>
#include <stdint.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TERN_LE16(x) ((uint16_t)(x))
#define TERN_LE32(x) ((uint32_t)(x))
#define TERN_LE64(x) ((uint64_t)(x))
#else
#define TERN_LE16(x) __builtin_bswap16((uint16_t)(x))
#define TERN_LE32(x) __builtin_bswap32((uint32_t)(x))
#define TERN_LE64(x) __builtin_bswap64((uint64_t)(x))
#endif

static inline uint16_t from_le16(__le16 x)
{
	return TERN_LE16(x);
}

static inline uint32_t from_le32(__le32 x)
{
	return TERN_LE32(x);
}

static inline uint64_t from_le64(__le64 x)
{
	return TERN_LE64(x);
}

static inline __le16 to_le16(uint16_t x)
{
	return (__le16)TERN_LE16(x);
}

static inline __le32 to_le32(uint32_t x)
{
	return (__le32)TERN_LE32(x);
}

static inline __le64 to_le64(uint64_t x)
{
	return (__le64)TERN_LE64(x);
}

#endif /* TERN_BYTEORDER_H */
