/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern hardware contract: flows, which steer received frames to queue pairs. */
#ifndef TERN_HW_FLOW_H
#define TERN_HW_FLOW_H

#include "tern_hw_types.h"
#include "tern_hw_ethernet.h"

/* Fields of a frame, as on the wire. */
struct tern_flow_match {
	__u8 destination_mac[6];
	__u8 source_mac[6];
	__u8 ethertype[2];		/* behind the tag, if there is one */
	__u8 vlan_tci[2];		/* a mask that is not zero: only tagged frames */
	__u8 source_address[16];	/* IPv4: the first four bytes */
	__u8 destination_address[16];
	__u8 flow_label[4];		/* IPv6: the low 20 bits */
	__u8 protocol;			/* of the IPv4 or IPv6 header */
	__u8 traffic_class;		/* IPv4: type of service */
	__u8 hop_limit;			/* IPv4: time to live */
	__u8 fragment;			/* IPv4: TERN_FLOW_FRAGMENT_* */
	__u8 source_port[2];
	__u8 destination_port[2];
	__u8 reserved0[4];
};

static_assert(sizeof(struct tern_flow_match) == 64, "flow match");

#define TERN_FLOW_FRAGMENT_MORE		TERN_MASK(0, 0)
#define TERN_FLOW_FRAGMENT_DO_NOT	TERN_MASK(1, 1)

/* ADD_FLOW; number: of the flow, below flow_count. REMOVE_FLOW has no body. */
struct tern_command_add_flow {
	__u8 type;			/* TERN_FLOW_* */
	__u8 flags;			/* TERN_FLOW_DROP, TERN_FLOW_CONTINUE */
	__u8 ip_version;		/* 4, 6; 0: does not matter, and no field of IP does */
	__u8 l4_protocol;		/* 6 (TCP), 17 (UDP); 0: as above, for ports */
	__le16 priority;		/* the lower comes first; of equal ones the older */
	__le16 reserved0;
	__le32 qpn;			/* ETHERNET with an RQ, or HASHING; its flows go with it */
	__le32 reserved1;
	struct tern_flow_match value;	/* zero where mask is */
	struct tern_flow_match mask;
};

static_assert(sizeof(struct tern_command_add_flow) == 144, "add flow command");

#define TERN_FLOW_NORMAL		0	/* what matches */
#define TERN_FLOW_DEFAULT		1	/* what nobody else takes */
#define TERN_FLOW_MULTICAST_DEFAULT	2	/* the same, if it is multicast */
#define TERN_FLOW_SNIFFER		3	/* copies of all that the port receives and sends */

#define TERN_FLOW_DROP			TERN_MASK(0, 0)	/* nobody gets it */
#define TERN_FLOW_CONTINUE		TERN_MASK(1, 1)	/* a copy, and on with the next flow */

/* SET_HASHING; number: QPN of type HASHING, which spreads what flows bring over others. */
struct tern_command_set_hashing {
	__le64 table;			/* bus address of count __le32 QPNs; ETHERNET QPs with RQ */
	__le16 count;			/* power of two up to rss_entries_max */
	__le16 fields;			/* TERN_HASH_*: what is hashed */
	__le32 reserved0;
	__u8 key[TERN_RSS_KEY_BYTES];
};

static_assert(sizeof(struct tern_command_set_hashing) == 56, "set hashing command");

#define TERN_HASH_SOURCE_IPV4		TERN_MASK(0, 0)
#define TERN_HASH_DESTINATION_IPV4	TERN_MASK(1, 1)
#define TERN_HASH_SOURCE_IPV6		TERN_MASK(2, 2)
#define TERN_HASH_DESTINATION_IPV6	TERN_MASK(3, 3)
#define TERN_HASH_SOURCE_PORT_TCP	TERN_MASK(4, 4)
#define TERN_HASH_DESTINATION_PORT_TCP	TERN_MASK(5, 5)
#define TERN_HASH_SOURCE_PORT_UDP	TERN_MASK(6, 6)
#define TERN_HASH_DESTINATION_PORT_UDP	TERN_MASK(7, 7)

#endif /* TERN_HW_FLOW_H */
