/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: the command queue.
 *
 * One per function: a ring of 256-byte commands that the host writes and a
 * ring of 64-byte completions, equally many, that the device writes. The
 * host rings COMMAND_DOORBELL with its free-running producer index.
 *
 * The device fetches commands in order and executes and completes them in
 * any order; a command's slot is free once that command, or one fetched
 * after it, has completed. No more commands may be in flight than the ring
 * has entries. A command completes within COMMAND_TIMEOUT or the driver
 * takes the device for dead. KEY_INVALIDATE_PAGES never waits for another
 * command.
 *
 * Command number spaces (EQN, CQN, QPN, SRQN, key index, PD, GID index) are
 * the function's own; the driver chooses the number of what it creates,
 * within the capabilities. A command that fails changes nothing.
 */
#ifndef TERN_HW_COMMAND_H
#define TERN_HW_COMMAND_H

#include "tern_hw_types.h"

#define TERN_COMMAND_BYTES		256
#define TERN_COMMAND_BODY_BYTES		240

struct tern_command {
	__le16 opcode;		/* TERN_COMMAND_* */
	__le16 id;		/* the driver's; comes back in the completion */
	__le32 flags;		/* TERN_COMMAND_INTERRUPT */
	__le32 number;		/* of the object, 0 where there is none */
	__le32 reserved0;
	__u8 body[TERN_COMMAND_BODY_BYTES];	/* struct tern_command_..., rest 0 */
};

static_assert(sizeof(struct tern_command) == TERN_COMMAND_BYTES, "command");

#define TERN_COMMAND_INTERRUPT		TERN_MASK(0, 0)	/* raise COMMAND_VECTOR when done */

struct tern_command_completion {
	__le32 result[12];	/* as the command says, else 0 */
	__le16 id;
	__le16 status;		/* TERN_COMMAND_STATUS_* */
	__le32 syndrome;	/* of an error: offset in the command of the refused field */
	__le32 reserved0;
	__le32 phase;		/* bit 0: 1 in the first pass, then alternating; written last */
};

static_assert(sizeof(struct tern_command_completion) == 64, "command completion");

#define TERN_COMMAND_PHASE		TERN_MASK(0, 0)

/* Statuses. Each command's section of the specification says which it gives. */
#define TERN_COMMAND_STATUS_OK			0
#define TERN_COMMAND_STATUS_BAD_OPCODE		1	/* unknown, or its feature not taken */
#define TERN_COMMAND_STATUS_BAD_PARAMETER	2	/* a field's value */
#define TERN_COMMAND_STATUS_BAD_NUMBER		3	/* number out of range */
#define TERN_COMMAND_STATUS_EXISTS		4	/* number in use */
#define TERN_COMMAND_STATUS_NOT_FOUND		5	/* this object, or one it names */
#define TERN_COMMAND_STATUS_IN_USE		6	/* another object depends on it */
#define TERN_COMMAND_STATUS_BAD_STATE		7	/* QP state does not allow it */
#define TERN_COMMAND_STATUS_NO_RESOURCES	8	/* device memory is exhausted */
#define TERN_COMMAND_STATUS_BAD_ADDRESS		9	/* host memory cannot be accessed */
#define TERN_COMMAND_STATUS_NOT_PERMITTED	10	/* not for this function */
#define TERN_COMMAND_STATUS_INTERNAL		11

/* Device and port */
#define TERN_COMMAND_NOP			0x000
#define TERN_COMMAND_QUERY_DEVICE		0x001
#define TERN_COMMAND_QUERY_PORT			0x002
#define TERN_COMMAND_SET_PORT			0x003
#define TERN_COMMAND_QUERY_STATISTICS		0x004
/* Event and completion queues */
#define TERN_COMMAND_CREATE_EQ			0x100
#define TERN_COMMAND_DESTROY_EQ			0x101
#define TERN_COMMAND_CREATE_CQ			0x110
#define TERN_COMMAND_MODIFY_CQ			0x111
#define TERN_COMMAND_DESTROY_CQ			0x112
#define TERN_COMMAND_RESIZE_CQ			0x113
/* Memory keys */
#define TERN_COMMAND_CREATE_KEY			0x200
#define TERN_COMMAND_DESTROY_KEY		0x201
#define TERN_COMMAND_MODIFY_KEY			0x202
#define TERN_COMMAND_KEY_INVALIDATE_PAGES	0x203	/* TERN_FEATURE_ON_DEMAND_PAGING */
#define TERN_COMMAND_KEY_RESUME			0x204
/* Device memory */
#define TERN_COMMAND_CLEAR_DEVICE_MEMORY	0x210	/* TERN_FEATURE_DEVICE_MEMORY */
/* Queue pairs and shared receive queues */
#define TERN_COMMAND_CREATE_QP			0x300
#define TERN_COMMAND_MODIFY_QP			0x301
#define TERN_COMMAND_QUERY_QP			0x302
#define TERN_COMMAND_DESTROY_QP			0x303
#define TERN_COMMAND_CREATE_SRQ			0x310
#define TERN_COMMAND_MODIFY_SRQ			0x311
#define TERN_COMMAND_QUERY_SRQ			0x312
#define TERN_COMMAND_DESTROY_SRQ		0x313
#define TERN_COMMAND_ATTACH_MULTICAST		0x320	/* TERN_FEATURE_MULTICAST */
#define TERN_COMMAND_DETACH_MULTICAST		0x321
#define TERN_COMMAND_CREATE_COUNTER_SET		0x330	/* TERN_FEATURE_COUNTER_SETS */
#define TERN_COMMAND_DESTROY_COUNTER_SET	0x331
#define TERN_COMMAND_BIND_COUNTER_SET		0x332
#define TERN_COMMAND_QUERY_COUNTER_SET		0x333
/* Addressing */
#define TERN_COMMAND_SET_GID			0x400
/* Ethernet */
#define TERN_COMMAND_SET_STATION_ADDRESS	0x500
#define TERN_COMMAND_SET_RECEIVE_MODE		0x501
#define TERN_COMMAND_SET_MULTICAST_TABLE	0x502
#define TERN_COMMAND_SET_VLAN_TABLE		0x503
#define TERN_COMMAND_SET_RSS			0x504
#define TERN_COMMAND_ADD_FLOW			0x510	/* TERN_FEATURE_FLOW_STEERING */
#define TERN_COMMAND_REMOVE_FLOW		0x511
#define TERN_COMMAND_SET_HASHING		0x512	/* TERN_FEATURE_RECEIVE_HASHING_QP */
/* Priorities and congestion */
#define TERN_COMMAND_SET_FLOW_CONTROL		0x600	/* TERN_FEATURE_PFC */
#define TERN_COMMAND_SET_PRIORITY_MAP		0x601
#define TERN_COMMAND_SET_RECEIVE_BUFFERS	0x602
#define TERN_COMMAND_SET_TRAFFIC_CLASSES	0x603	/* TERN_FEATURE_ETS */
#define TERN_COMMAND_SET_CONGESTION_CONTROL	0x610	/* TERN_FEATURE_ECN */
/* Reserved: 0x700..0x7ff VFs and mailbox; 0x8000.. vendor's own */

/* QUERY_DEVICE, _PORT, _STATISTICS, _QP, _SRQ, _COUNTER_SET: where the device writes the answer. */
struct tern_command_query {
	__le64 address;		/* bus address, 8-byte aligned */
	__le32 length;		/* bytes there; the device writes at most these */
	__le32 group;		/* QUERY_STATISTICS: TERN_STATISTICS_*; else 0 */
};

static_assert(sizeof(struct tern_command_query) == 16, "query command");
/* Completion: result[0] is the number of bytes written. */

/* Limits are counts unless "shift": log2. The largest number is count - 1. */
struct tern_device_capabilities {
	__u8 permanent_mac[6];
	__le16 vendor_part;
	__le64 guid;		/* EUI-64, not zero, unique per function */
	__le64 firmware_version; /* major 63:48, minor 47:32, sub 31:0 */
	__le32 eq_count;
	__le32 cq_count;
	__le32 qp_count;	/* QPN 0 is reserved, QPN 1 is GSI only */
	__le32 srq_count;	/* SRQN 0 is reserved */
	__le32 key_count;	/* index 0 is reserved */
	__le32 pd_count;
	__le32 gid_count;
	__le32 pkey_count;	/* 1: the default 0xffff */
	__u8 eq_shift_max;
	__u8 cq_shift_max;
	__u8 sq_shift_max;	/* in 64-byte blocks */
	__u8 rq_shift_max;	/* in entries; of SRQs too */
	__u8 send_sge_max;
	__u8 receive_sge_max;
	__u8 read_initiator_max; /* outstanding READs and atomics per queue pair, as requester */
	__u8 read_responder_max; /* and as responder */
	__le32 inline_max;	/* bytes, connected; UD: TERN_WQE_BYTES_MAX - 64 at most */
	__le32 message_bytes_max;
	__le64 region_bytes_max;
	__le64 page_sizes;	/* bit n: data pages of 1 << n bytes */
	__le16 rss_entries_max;
	__le16 rss_key_bytes;
	__le16 multicast_addresses_max;
	__u8 ports;		/* 1 */
	__u8 ack_delay;		/* local CA ACK delay, 4.096 us << n */
	__le32 tso_bytes_max;
	__le32 mtu_max;		/* largest L3 MTU, 9000 */
	__le32 srq_sge_max;
	__le32 multicast_group_count; /* that queue pairs are attached to at a time */
	__le32 multicast_qps_max; /* of a group */
	__le32 counter_set_count; /* number 0 is reserved */
	__le32 flow_count;	/* at a time */
	__le32 receive_buffer_bytes; /* of the port, for all receive buffers together */
	__le32 reserved0[28];
};

static_assert(sizeof(struct tern_device_capabilities) == 240, "device capabilities");

struct tern_port_attributes {
	__u8 state;		/* TERN_PORT_* */
	__u8 reserved0[3];
	__le32 speed_mbps;	/* 0: unknown */
	__le32 mtu;		/* L3 MTU now */
	__le32 mtu_max;
	__u8 station_mac[6];
	__le16 reserved1;
	__le32 reserved2[10];
};

static_assert(sizeof(struct tern_port_attributes) == 64, "port attributes");

#define TERN_PORT_DOWN			0
#define TERN_PORT_UP			1

struct tern_command_set_port {
	__le32 mtu;		/* largest L3 packet taken and sent: 68..mtu_max */
	__u8 admin_state;	/* TERN_PORT_*; the port is up when this and the carrier are */
	__u8 reserved0[3];
	__le64 reserved1;
};

static_assert(sizeof(struct tern_command_set_port) == 16, "set port command");

#endif /* TERN_HW_COMMAND_H */
