/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: completion queue entries.
 *
 * A completion queue is a ring of 64-byte entries. phase alternates with
 * each pass through the ring, 1 in the first; the host zeroes the ring
 * before CREATE_CQ. Order: payload, then the entry's body, then phase by a
 * release store, then an event if armed.
 */
#ifndef TERN_HW_CQE_H
#define TERN_HW_CQE_H

#include "tern_hw_types.h"

struct tern_cqe {
	__u8 opcode;		/* TERN_CQE_*: side and operation */
	__u8 status;		/* TERN_WC_*, 0 is success */
	__u8 flags;		/* TERN_CQE_FLAG_* */
	__u8 syndrome;		/* vendor's detail of an error */
	__le32 queue;		/* QPN */
	__le32 index;		/* SQ: of the request's first block; RQ: of its entry; SRQ: tag */
	__le32 byte_count;	/* receive, READ, atomic: written (UD: with the 40-byte GRH area) */
	__u8 immediate[4];	/* as on the wire; or invalidated key, little endian */
	__le32 source_qpn;	/* UD, receive */
	__u8 source_mac[6];	/* UD and Ethernet, receive */
	__le16 vlan_tci;	/* with TERN_CQE_FLAG_VLAN */
	__le64 timestamp;	/* ns of the device clock */
	__le32 hash;		/* Ethernet receive: RSS hash */
	__le16 pkey_index;	/* UD, receive */
	__u8 hash_type;		/* TERN_RSS_* bit that made hash, 0 without */
	__u8 network_type;	/* UD receive: TERN_GID_TYPE_*; IPv4 or IPv6 by flag */
	__le32 srqn;		/* receive from an SRQ: its number; else 0 */
	__le32 reserved0;
	__le32 reserved1;
	__le32 phase;		/* bit 0; the others are 0 */
};

static_assert(sizeof(struct tern_cqe) == 64, "completion queue entry");

#define TERN_CQE_PHASE			TERN_MASK(0, 0)

/* Requester's opcodes are the work request's TERN_WQE_*; the receiver's have bit 7. */
#define TERN_CQE_RECEIVER		TERN_MASK(7, 7)
#define TERN_CQE_RECEIVE		0x81
#define TERN_CQE_RECEIVE_IMMEDIATE	0x82
#define TERN_CQE_RECEIVE_INVALIDATE	0x83
#define TERN_CQE_RECEIVE_WRITE_IMMEDIATE 0x85
#define TERN_CQE_RECEIVE_ETHERNET	0xa0

#define TERN_CQE_FLAG_SOLICITED		TERN_MASK(0, 0)
#define TERN_CQE_FLAG_GRH		TERN_MASK(1, 1)	/* UD: the GRH area is filled */
#define TERN_CQE_FLAG_VLAN		TERN_MASK(2, 2)	/* a tag was there; Ethernet: and removed */
#define TERN_CQE_FLAG_L3_CHECKSUM_OK	TERN_MASK(3, 3)
#define TERN_CQE_FLAG_L4_CHECKSUM_OK	TERN_MASK(4, 4)
#define TERN_CQE_FLAG_IPV4		TERN_MASK(5, 5)	/* UD over RoCE v2: the packet was IPv4 */
#define TERN_CQE_FLAG_XRC		TERN_MASK(6, 6)	/* receive of an XRC SRQ, in its own CQ */

/*
 * Status. The numbers are the order in which the InfiniBand Architecture
 * Specification, section 11.6.2, lists completion return statuses.
 */
#define TERN_WC_SUCCESS		0
#define TERN_WC_LOCAL_LENGTH	1
#define TERN_WC_LOCAL_QP_OPERATION	2
#define TERN_WC_LOCAL_PROTECTION	4
#define TERN_WC_FLUSHED		5
#define TERN_WC_WINDOW_BIND		6
#define TERN_WC_BAD_RESPONSE	7
#define TERN_WC_LOCAL_ACCESS	8
#define TERN_WC_REMOTE_INVALID_REQUEST 9
#define TERN_WC_REMOTE_ACCESS	10
#define TERN_WC_REMOTE_OPERATION	11
#define TERN_WC_RETRY_EXCEEDED	12
#define TERN_WC_RNR_RETRY_EXCEEDED	13
#define TERN_WC_REMOTE_ABORTED	16
#define TERN_WC_GENERAL		21

#endif /* TERN_HW_CQE_H */
