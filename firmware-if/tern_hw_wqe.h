/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: work queue entries.
 *
 * A send queue is a ring of 64-byte blocks (a power of two of them). A work
 * request takes 1..8 consecutive blocks, which may wrap around the ring's
 * end; indices count blocks. It is laid out, without gaps, as
 *
 *   control
 *   remote        WRITE*, READ, CAS, FETCH_ADD, ATOMIC_WRITE, FLUSH
 *   atomic        CAS, FETCH_ADD
 *   register      REGISTER
 *   bind          BIND_WINDOW
 *   address       SEND* on UD and GSI queue pairs
 *   ethernet      ETHERNET
 *   SGEs, or with TERN_WQE_INLINE the data itself
 *
 * A receive queue is a ring of entries of 64, 128, 256 or 512 bytes (set at
 * creation), each a receive header followed by SGEs; indices count entries.
 *
 * The host may change a block only after the work request's completion (or
 * that of a later one on the same queue) is there. The device reads a block
 * once, copies it and checks the copy.
 */
#ifndef TERN_HW_WQE_H
#define TERN_HW_WQE_H

#include "tern_hw_types.h"
#include "tern_hw_memory.h"

#define TERN_WQE_BLOCK_SHIFT		6
#define TERN_WQE_BLOCK			64
#define TERN_WQE_BLOCKS_MAX		8
#define TERN_WQE_BYTES_MAX		512

struct tern_wqe_control {
	__u8 opcode;		/* TERN_WQE_* */
	__u8 flags;		/* TERN_WQE_SIGNALED... */
	__u8 blocks;		/* 1..8, of the whole work request */
	__u8 sge_count;		/* 0 with TERN_WQE_INLINE */
	__le16 inline_length;	/* bytes, with TERN_WQE_INLINE; else 0 */
	__le16 reserved0;
	/* As on the wire; or little endian, the key to invalidate or FLUSH's TERN_FLUSH_*. */
	__u8 immediate[4];
	__le32 remote_srqn;	/* XRC_INITIATOR: SRQ of the peer, 24 bits */
};

static_assert(sizeof(struct tern_wqe_control) == 16, "work request control");

#define TERN_WQE_NOP			0x00
#define TERN_WQE_SEND			0x01
#define TERN_WQE_SEND_IMMEDIATE		0x02
#define TERN_WQE_SEND_INVALIDATE	0x03	/* ..._FAST_REGISTRATION, _MEMORY_WINDOWS */
#define TERN_WQE_WRITE			0x04
#define TERN_WQE_WRITE_IMMEDIATE	0x05
#define TERN_WQE_READ			0x06
#define TERN_WQE_CAS			0x07	/* TERN_FEATURE_ATOMICS */
#define TERN_WQE_FETCH_ADD		0x08	/* TERN_FEATURE_ATOMICS */
#define TERN_WQE_ATOMIC_WRITE		0x09	/* TERN_FEATURE_ATOMIC_WRITE */
#define TERN_WQE_FLUSH			0x0a	/* TERN_FEATURE_FLUSH */
#define TERN_WQE_LOCAL_INVALIDATE	0x0b	/* ..._FAST_REGISTRATION, _MEMORY_WINDOWS */
#define TERN_WQE_REGISTER		0x0c	/* TERN_FEATURE_FAST_REGISTRATION */
#define TERN_WQE_BIND_WINDOW		0x0d	/* TERN_FEATURE_MEMORY_WINDOWS */
#define TERN_WQE_ETHERNET		0x20	/* Ethernet queue pairs only */

#define TERN_WQE_SIGNALED		TERN_MASK(0, 0)	/* write a completion on success */
#define TERN_WQE_SOLICITED		TERN_MASK(1, 1)
#define TERN_WQE_FENCE			TERN_MASK(2, 2)	/* wait for earlier READs and atomics */
#define TERN_WQE_INLINE			TERN_MASK(3, 3)

struct tern_wqe_remote {
	__le64 address;
	__le32 key;
	__le32 length;		/* FLUSH: bytes, unless of the whole region */
};

static_assert(sizeof(struct tern_wqe_remote) == 16, "remote segment");

/* FLUSH: where earlier data are to be, of what; bits as in the packet's FETH. */
#define TERN_FLUSH_GLOBAL		TERN_MASK(0, 0)	/* visible to all of the peer's host */
#define TERN_FLUSH_PERSISTENT		TERN_MASK(1, 1)	/* and kept, if the memory can */
#define TERN_FLUSH_REGION		TERN_MASK(4, 4)	/* all of the key's, not a range */

struct tern_wqe_atomic {
	__le64 swap_add;
	__le64 compare;
};

static_assert(sizeof(struct tern_wqe_atomic) == 16, "atomic segment");

/*
 * REGISTER: gives a free key of type TERN_KEY_FAST_REGISTRATION its memory, on
 * TERN_QP_PRIVILEGED queue pairs only, for it names bus addresses. The key to
 * make free by LOCAL_INVALIDATE or SEND_INVALIDATE is in the control segment.
 */
struct tern_wqe_register {
	struct tern_page_list pages;
	__le64 address;		/* I/O virtual address of the region's first byte */
	__le32 key;		/* index of the key, and its consumer byte from now on */
	__le32 access;		/* TERN_ACCESS_* */
};

static_assert(sizeof(struct tern_wqe_register) == 48, "register segment");

/* BIND_WINDOW: lets the peer at a part of a region, by the window's key. */
struct tern_wqe_bind {
	__le64 address;		/* I/O virtual address in the region */
	__le64 length;		/* bytes; 0: a type 1 window is bound to nothing */
	__le32 window;		/* key of the window: index, and its consumer byte from now on */
	__le32 region;		/* key of the region */
	__le32 access;		/* TERN_ACCESS_REMOTE_*, TERN_ACCESS_ZERO_BASED */
	__le32 reserved0;
};

static_assert(sizeof(struct tern_wqe_bind) == 32, "bind segment");

/* Where a packet goes. In MODIFY_QP for connected queue pairs, in each work request for UD. */
struct tern_address_vector {
	__u8 destination_gid[16];
	__u8 destination_mac[6];
	__le16 source_gid_index; /* GID table: gives type, source MAC and VLAN too */
	__le32 flow_label;	/* 20 bits */
	__u8 traffic_class;
	__u8 hop_limit;
	__u8 service_level;	/* 0..15; the low three bits are the 802.1p priority */
	__u8 reserved0;
	__le16 udp_source_port;	/* 0: the device derives it */
	__le16 reserved1;
	__le32 remote_qpn;	/* UD; else 0 */
	__le32 qkey;		/* UD: with bit 31 the queue pair's own is used; else 0 */
	__le32 reserved2;
};

static_assert(sizeof(struct tern_address_vector) == 48, "address vector");

struct tern_wqe_ethernet {
	__le16 flags;		/* TERN_WQE_ETHERNET_* */
	__le16 mss;		/* TSO: payload bytes per segment */
	__le16 header_length;	/* TSO: bytes of headers to repeat */
	__le16 vlan_tci;
	__le16 checksum_start;	/* offset from which the one's complement sum runs to the end */
	__le16 checksum_offset;	/* from checksum_start: where it is stored; holds the pseudo sum */
	__le16 l3_offset;	/* TSO: offset of the IP header */
	__le16 reserved0;
};

static_assert(sizeof(struct tern_wqe_ethernet) == 16, "ethernet segment");

#define TERN_WQE_ETHERNET_CHECKSUM	TERN_MASK(0, 0)
#define TERN_WQE_ETHERNET_TSO		TERN_MASK(1, 1)	/* implies both checksums of each segment */
#define TERN_WQE_ETHERNET_VLAN		TERN_MASK(2, 2)	/* insert vlan_tci */

struct tern_sge {
	__le64 address;
	__le32 length;		/* 0 is 0 bytes */
	__le32 key;
};

static_assert(sizeof(struct tern_sge) == 16, "scatter gather element");

struct tern_receive_header {
	__u8 sge_count;
	__u8 reserved0[3];
	__le32 tag;		/* of an SRQ: comes back in the completion */
	__le64 reserved1;
};

static_assert(sizeof(struct tern_receive_header) == 16, "receive header");

#define TERN_RECEIVE_STRIDE_SHIFT_MIN	6
#define TERN_RECEIVE_STRIDE_SHIFT_MAX	9

/* UD receives: bytes in front of the payload. RoCE v2 over IPv4: its header stands at byte 20. */
#define TERN_GRH_BYTES			40

#endif /* TERN_HW_WQE_H */
