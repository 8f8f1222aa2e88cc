/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern hardware contract: queue pair commands and their attributes. */
#ifndef TERN_HW_QP_H
#define TERN_HW_QP_H

#include "tern_hw_types.h"
#include "tern_hw_congestion.h"
#include "tern_hw_memory.h"
#include "tern_hw_wqe.h"

#define TERN_QP_RC			0
#define TERN_QP_UC			1	/* TERN_FEATURE_UC */
#define TERN_QP_UD			2
#define TERN_QP_GSI			3	/* QPN 1; UD with the well-known Q_Key */
#define TERN_QP_XRC_INITIATOR		4	/* TERN_FEATURE_XRC: sends only */
#define TERN_QP_XRC_TARGET		5	/* TERN_FEATURE_XRC: answers only */
#define TERN_QP_ETHERNET		6	/* netdev's queues, verbs' RAW_PACKET */
#define TERN_QP_HASHING			7	/* TERN_FEATURE_RECEIVE_HASHING_QP; no queues */

/* CREATE_QP; number: QPN. The queue pair is in RESET. */
struct tern_command_create_qp {
	__u8 type;			/* TERN_QP_* */
	__u8 sq_shift;			/* log2 of its 64-byte blocks */
	__u8 rq_shift;			/* log2 of its entries */
	__u8 rq_stride_shift;		/* log2 of an entry's bytes, 6..9 */
	__le32 flags;			/* TERN_QP_PRIVILEGED... */
	__le32 pd;
	__le32 doorbell_page;
	__le32 send_cqn;
	__le32 receive_cqn;
	__le32 srqn;			/* with TERN_QP_USES_SRQ */
	__le32 xrcd;			/* XRC_TARGET: its domain; else 0 */
	struct tern_page_list sq;	/* 64 << sq_shift bytes */
	struct tern_page_list rq;	/* 1 << (rq_shift + rq_stride_shift) bytes */
	__le64 sq_record;		/* bus addresses of struct tern_queue_record */
	__le64 rq_record;
	__le64 reserved0;
};

static_assert(sizeof(struct tern_command_create_qp) == 120, "create QP command");

#define TERN_QP_PRIVILEGED		TERN_MASK(0, 0)	/* may use TERN_KEY_LOCAL_DMA */
#define TERN_QP_NO_SQ			TERN_MASK(1, 1)	/* sq, sq_record, sq_shift unused */
#define TERN_QP_NO_RQ			TERN_MASK(2, 2)	/* rq, rq_record, rq_shift unused */
#define TERN_QP_USES_SRQ		TERN_MASK(3, 3)	/* srqn; rq, rq_record, rq_shift unused */
/* Of ETHERNET queue pairs */
#define TERN_QP_FLOW_LOOPBACK		TERN_MASK(8, 8)	/* its function's flows see what it sends */
#define TERN_QP_VLAN_STRIP		TERN_MASK(9, 9)	/* no outer tag on what flows bring */

/* States */
#define TERN_QP_RESET			0
#define TERN_QP_INIT			1
#define TERN_QP_RTR			2
#define TERN_QP_RTS			3
#define TERN_QP_SQD			4
#define TERN_QP_SQE			5
#define TERN_QP_ERROR			6

/* IBTA 9.7.5.1.4 and 11.2.5.2: encodings of the verbs are used unchanged. */
struct tern_qp_attributes {
	struct tern_address_vector address;
	__le32 remote_qpn;
	__le32 qkey;
	__le32 rq_psn;			/* 24 bits */
	__le32 sq_psn;			/* 24 bits */
	__le32 access;			/* TERN_ACCESS_REMOTE_* that the peer may ask for */
	__u8 path_mtu;			/* 1..5: 256, 512, 1024, 2048, 4096 */
	__u8 timeout;			/* local ACK timeout: 4.096 us << n; 0: none */
	__u8 retry_count;		/* 0..7 */
	__u8 rnr_retry;			/* 0..6; 7: without end */
	__u8 min_rnr_timer;		/* 0..31, IBTA table 45 */
	__u8 initiator_depth;		/* max_rd_atomic */
	__u8 responder_resources;	/* max_dest_rd_atomic */
	__u8 sqd_notify;		/* 1: TERN_EVENT_QP_DRAINED when drained */
	__le16 pkey_index;
	__le16 reserved0;
	__le32 rate_limit_mbps;		/* 0: none */
	__le32 reserved1[3];
};

static_assert(sizeof(struct tern_qp_attributes) == 96, "QP attributes");

/*
 * MODIFY_QP; number: QPN. Which attributes are required and optional for a
 * transition is as in IBTA 11.2.5.2; the driver has checked it, the device
 * refuses values out of range. Any state may go to RESET or ERROR. ETHERNET
 * queue pairs may go from RESET to RTS at once.
 */
struct tern_command_modify_qp {
	__u8 current_state;		/* refused with BAD_STATE when it is not this */
	__u8 next_state;
	__le16 reserved0;
	__le32 mask;			/* TERN_QP_SET_*: which attributes are valid */
	struct tern_qp_attributes attributes;
};

static_assert(sizeof(struct tern_command_modify_qp) == 104, "modify QP command");

#define TERN_QP_SET_ADDRESS		TERN_MASK(0, 0)
#define TERN_QP_SET_REMOTE_QPN		TERN_MASK(1, 1)
#define TERN_QP_SET_QKEY		TERN_MASK(2, 2)
#define TERN_QP_SET_RQ_PSN		TERN_MASK(3, 3)
#define TERN_QP_SET_SQ_PSN		TERN_MASK(4, 4)
#define TERN_QP_SET_ACCESS		TERN_MASK(5, 5)
#define TERN_QP_SET_PATH_MTU		TERN_MASK(6, 6)
#define TERN_QP_SET_TIMEOUT		TERN_MASK(7, 7)
#define TERN_QP_SET_RETRY_COUNT		TERN_MASK(8, 8)
#define TERN_QP_SET_RNR_RETRY		TERN_MASK(9, 9)
#define TERN_QP_SET_MIN_RNR_TIMER	TERN_MASK(10, 10)
#define TERN_QP_SET_INITIATOR_DEPTH	TERN_MASK(11, 11)
#define TERN_QP_SET_RESPONDER_RESOURCES	TERN_MASK(12, 12)
#define TERN_QP_SET_SQD_NOTIFY		TERN_MASK(13, 13)
#define TERN_QP_SET_PKEY_INDEX		TERN_MASK(14, 14)
#define TERN_QP_SET_RATE_LIMIT		TERN_MASK(15, 15)

/*
 * ATTACH_MULTICAST and DETACH_MULTICAST; number: QPN of a UD queue pair. What
 * comes to the GID goes to each queue pair that is attached to it.
 */
struct tern_command_multicast {
	__u8 gid[16];			/* ff00::/8, or IPv4's 224.0.0.0/4 v4-mapped */
};

static_assert(sizeof(struct tern_command_multicast) == 16, "multicast command");

/* QUERY_QP writes this (struct tern_command_query says where). */
struct tern_qp_status {
	__u8 state;			/* TERN_QP_RESET... */
	__u8 sq_draining;		/* 1: in SQD and not drained */
	__le16 reserved0;
	__le32 sq_consumer;		/* index of the oldest block not completed */
	__le32 rq_consumer;		/* index of the oldest entry not completed */
	__le32 reserved1;
	struct tern_qp_attributes attributes;	/* rq_psn: expected; sq_psn: next to send */
	struct tern_qp_congestion congestion;	/* zero without TERN_FEATURE_ECN */
};

static_assert(sizeof(struct tern_qp_status) == 128, "QP status");

#endif /* TERN_HW_QP_H */
