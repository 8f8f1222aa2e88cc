/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the ECN bits of an IPv4 or IPv6 header (RFC 3168, 5). */
#ifndef TERN_ECN_H
#define TERN_ECN_H

#include <stdbool.h>
#include <stdint.h>

#define ECN_NOT_ECT	0
#define ECN_ECT_1	1
#define ECN_ECT_0	2
#define ECN_CE		3
#define ECN_MASK	3

static inline bool ecn_of_ipv6(const uint8_t *ip)
{
	return ip[0] >> 4 == 6;
}

static inline uint8_t ecn_get(const uint8_t *ip)
{
	return ecn_of_ipv6(ip) ? ip[1] >> 4 & ECN_MASK : ip[1] & ECN_MASK;
}

/* IPv4's checksum stays as right, or as wrong, as it was (RFC 1624, 3). */
static inline void ecn_set(uint8_t *ip, uint8_t ecn)
{
	uint32_t sum;

	if (ecn_of_ipv6(ip)) {
		ip[1] = (uint8_t)((ip[1] & ~(ECN_MASK << 4)) | ecn << 4);
		return;
	}
	sum = (uint32_t)(ip[10] << 8 | ip[11]) ^ 0xffff;
	sum += (uint32_t)(ip[1] & ECN_MASK) ^ 0xffff;
	sum += ecn;
	ip[1] = (uint8_t)((ip[1] & ~ECN_MASK) | ecn);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (uint8_t)(~sum >> 8);
	ip[11] = (uint8_t)~sum;
}

#endif /* TERN_ECN_H */
