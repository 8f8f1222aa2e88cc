/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: priorities: what gives a frame its priority, which
 * are paused, how they share the link and the receive buffer.
 *
 * Eight priorities as in IEEE 802.1Q. Each belongs to a traffic class at
 * egress (802.1Qaz) and to a receive buffer at ingress; priority flow control
 * (802.1Qbb) is set by priority. These commands are the PF's: another function
 * gets NOT_PERMITTED. None touches the link, and none drops a frame.
 */
#ifndef TERN_HW_PRIORITY_H
#define TERN_HW_PRIORITY_H

#include "tern_hw_types.h"

#define TERN_PRIORITIES			8
#define TERN_TRAFFIC_CLASSES		8
#define TERN_RECEIVE_BUFFERS		8
#define TERN_DSCPS			64
#define TERN_PCPS			16

/* SET_FLOW_CONTROL; TERN_FEATURE_PFC. */
struct tern_command_set_flow_control {
	__u8 pfc_priorities;		/* bit p: PFC is on for priority p; not with PAUSE_* */
	__u8 flags;			/* TERN_FLOW_CONTROL_* */
	__u8 storm_action;		/* TERN_STORM_*; what is done about a storm */
	__u8 reserved0;
	__le32 storm_limit_ms;		/* paused for longer is a storm; 0: never */
	__le32 storm_restore_ms;	/* a storm is over when no pause came for so long */
	__le32 reserved1;
};

static_assert(sizeof(struct tern_command_set_flow_control) == 16, "set flow control");

/* IEEE 802.3 annex 31B, all priorities together */
#define TERN_FLOW_CONTROL_RECEIVE_PAUSE	TERN_MASK(0, 0)	/* obey PAUSE frames */
#define TERN_FLOW_CONTROL_SEND_PAUSE	TERN_MASK(1, 1)	/* send them */

#define TERN_STORM_RELEASE		0	/* pauses of the priority are ignored */
#define TERN_STORM_DROP			1	/* its frames are dropped instead of sent */

/* SET_TRAFFIC_CLASSES; TERN_FEATURE_ETS. */
struct tern_command_set_traffic_classes {
	__u8 class_of[TERN_PRIORITIES];		/* 0..7 */
	__u8 algorithm[TERN_TRAFFIC_CLASSES];	/* TERN_CLASS_* */
	__u8 bandwidth[TERN_TRAFFIC_CLASSES];	/* percent; of ETS classes they sum up to 100 */
	__le32 max_rate_mbps[TERN_TRAFFIC_CLASSES];	/* 0: none */
};

static_assert(sizeof(struct tern_command_set_traffic_classes) == 56, "set traffic classes");

#define TERN_CLASS_STRICT		0	/* before lower ones and before all ETS classes */
#define TERN_CLASS_ETS			1	/* its share of what strict classes leave */

/* SET_PRIORITY_MAP; TERN_FEATURE_PFC. */
struct tern_command_set_priority_map {
	__u8 trust;			/* TERN_TRUST_* */
	__u8 default_priority;		/* of frames that say nothing */
	__u8 roce_v1_priority;		/* of RoCE v1 packets with service level 0 */
	__u8 roce_v2_priority;		/* of RoCE v2 packets with service level 0 */
	__u8 rewrite_dscp;		/* bit p: frames of priority p leave with dscp_of[p] */
	__u8 rewrite_pcp;		/* bit p: their tag leaves with pcp_of[p] */
	__le16 reserved0;
	__u8 priority_of_dscp[TERN_DSCPS];
	__u8 priority_of_pcp[TERN_PCPS];	/* index: DEI << 3 | PCP */
	__u8 dscp_of[TERN_PRIORITIES];
	__u8 pcp_of[TERN_PRIORITIES];		/* DEI << 3 | PCP */
};

static_assert(sizeof(struct tern_command_set_priority_map) == 104, "set priority map");

#define TERN_TRUST_PCP			0	/* the tag; else default_priority */
#define TERN_TRUST_DSCP			1	/* IP's DSCP; else default_priority */
#define TERN_TRUST_PCP_DSCP		2	/* the tag; else DSCP; else default_priority */
#define TERN_TRUST_DSCP_PCP		3	/* DSCP; else the tag; else default_priority */

/* SET_RECEIVE_BUFFERS; TERN_FEATURE_PFC. */
struct tern_receive_buffer {
	__le32 bytes;			/* 0: the buffer is not used */
	__le32 xoff;			/* filled above this, lossless priorities are paused... */
	__le32 xon;			/* ...until filled no more; 0 < xon <= xoff < bytes */
	__le32 reserved0;
};

static_assert(sizeof(struct tern_receive_buffer) == 16, "receive buffer");

struct tern_command_set_receive_buffers {
	__u8 buffer_of[TERN_PRIORITIES];	/* 0..7, a buffer that is used */
	__le64 reserved0;
	struct tern_receive_buffer buffer[TERN_RECEIVE_BUFFERS];
};

static_assert(sizeof(struct tern_command_set_receive_buffers) == 144, "set receive buffers");

/* QUERY_STATISTICS, group TERN_STATISTICS_PRIORITY. Of the port, since the PF's reset. */
struct tern_priority_counters {
	__le64 tx_packets;
	__le64 tx_bytes;
	__le64 rx_packets;
	__le64 rx_bytes;
	__le64 tx_pause;		/* PFC frames sent that paused this priority */
	__le64 tx_resume;		/* ...that released it: quanta 0 */
	__le64 rx_pause;		/* PFC frames received that name this priority */
	__le64 tx_paused_ns;		/* we could not send: the peer's pauses */
	__le64 rx_paused_ns;		/* the peer could not: our pauses */
	__le64 rx_discards;		/* its receive buffer was full */
	__le64 storms;
	__le64 tx_storm_drops;		/* frames dropped by TERN_STORM_DROP */
	__le64 limited_queue_pairs;	/* queue pairs that congestion control began to limit */
	__le64 limited_ns;		/* time for which they were limited, summed up */
};

static_assert(sizeof(struct tern_priority_counters) == 14 * 8, "priority counters");

struct tern_priority_statistics {
	struct tern_priority_counters priority[TERN_PRIORITIES];
	__le64 tx_pause_frames;		/* 802.3 PAUSE */
	__le64 rx_pause_frames;
	__le64 rx_control_unknown;	/* MAC control frames with another opcode */
	__le64 receive_buffer_peak[TERN_RECEIVE_BUFFERS];	/* bytes */
};

static_assert(sizeof(struct tern_priority_statistics) == (8 * 14 + 11) * 8, "priority statistics");

/* TERN_EVENT_CONGESTION; number: the priority. */
#define TERN_CONGESTION_STORM_BEGAN	1	/* subtype */
#define TERN_CONGESTION_STORM_ENDED	2

#endif /* TERN_HW_PRIORITY_H */
