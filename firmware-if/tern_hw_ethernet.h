/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: addressing and receive filtering.
 *
 * A frame from the wire belongs to the function whose filters take its
 * destination MAC and VLAN. RoCE frames (ethertype 0x8915; UDP port 4791)
 * to the station's MAC or to the MAC of a valid GID entry go to the RDMA engine
 * when their destination GID and VLAN match a valid GID entry; all else goes
 * to the Ethernet receive queues.
 */
#ifndef TERN_HW_ETHERNET_H
#define TERN_HW_ETHERNET_H

#include "tern_hw_types.h"

/* SET_GID; number: index in the GID table. */
struct tern_command_set_gid {
	__u8 gid[16];			/* IPv4: ::ffff:a.b.c.d */
	__u8 mac[6];			/* source MAC of packets from this GID */
	__le16 vlan_id;			/* with TERN_GID_VLAN: 0..4094 */
	__u8 type;			/* TERN_GID_TYPE_* */
	__u8 flags;			/* TERN_GID_VLAN */
	__le16 reserved0;
	__le32 reserved1;
};

static_assert(sizeof(struct tern_command_set_gid) == 32, "set GID command");

#define TERN_GID_TYPE_NONE		0	/* the entry is empty; the rest is 0 */
#define TERN_GID_TYPE_ROCE_V1		1
#define TERN_GID_TYPE_ROCE_V2		2	/* IPv4 when the GID is v4-mapped, else IPv6 */

#define TERN_GID_VLAN			TERN_MASK(0, 0)

struct tern_command_set_station_address {
	__u8 mac[6];
	__le16 reserved0;
	__le64 reserved1;
};

static_assert(sizeof(struct tern_command_set_station_address) == 16, "set station address");

struct tern_command_set_receive_mode {
	__le32 flags;			/* TERN_RECEIVE_* */
	__le32 default_qpn;		/* ETHERNET QP that takes frames while RSS is off */
	__le64 reserved0;
};

static_assert(sizeof(struct tern_command_set_receive_mode) == 16, "set receive mode");

#define TERN_RECEIVE_ENABLE		TERN_MASK(0, 0)	/* without it all but RoCE is dropped */
#define TERN_RECEIVE_PROMISCUOUS	TERN_MASK(1, 1)
#define TERN_RECEIVE_ALL_MULTICAST	TERN_MASK(2, 2)
#define TERN_RECEIVE_VLAN_FILTER	TERN_MASK(3, 3)	/* tagged frames: only VLANs of the table */
#define TERN_RECEIVE_VLAN_STRIP		TERN_MASK(4, 4)
#define TERN_RECEIVE_CHECKSUM		TERN_MASK(5, 5)	/* verify and report L3 and L4 checksums */

/* SET_MULTICAST_TABLE replaces the table: count entries of 8 bytes (6 of MAC, 2 zero). */
/* SET_VLAN_TABLE replaces the table: 512 bytes, bit v % 8 of byte v / 8 is VLAN v; count 1. */
struct tern_command_set_table {
	__le64 address;			/* bus address */
	__le32 count;
	__le32 reserved0;
};

static_assert(sizeof(struct tern_command_set_table) == 16, "set table command");

#define TERN_VLAN_TABLE_BYTES		512
#define TERN_MULTICAST_ENTRY_BYTES	8

/* SET_RSS. Toeplitz; the hash's low bits, modulo the table's size, choose the entry. */
#define TERN_RSS_KEY_BYTES		40

struct tern_command_set_rss {
	__le64 table;			/* bus address of count __le32 QPNs; ETHERNET QPs with RQ */
	__le16 count;			/* power of two up to rss_entries_max; 0 turns RSS off */
	__u8 types;			/* TERN_RSS_* that are hashed */
	__u8 reserved0;
	__le32 reserved1;
	__u8 key[TERN_RSS_KEY_BYTES];
};

static_assert(sizeof(struct tern_command_set_rss) == 56, "set RSS command");

#define TERN_RSS_IPV4			TERN_MASK(0, 0)
#define TERN_RSS_IPV4_TCP		TERN_MASK(1, 1)
#define TERN_RSS_IPV4_UDP		TERN_MASK(2, 2)
#define TERN_RSS_IPV6			TERN_MASK(3, 3)
#define TERN_RSS_IPV6_TCP		TERN_MASK(4, 4)
#define TERN_RSS_IPV6_UDP		TERN_MASK(5, 5)

#endif /* TERN_HW_ETHERNET_H */
