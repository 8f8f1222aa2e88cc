/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: statistics. Counters run freely from a reset of
 * the function. New counters are added at the end; the device writes no
 * more than it knows and the host asked for.
 */
#ifndef TERN_HW_STATISTICS_H
#define TERN_HW_STATISTICS_H

#include "tern_hw_types.h"

#define TERN_STATISTICS_PORT		0	/* struct tern_port_statistics */
#define TERN_STATISTICS_RDMA		1	/* struct tern_rdma_statistics */
#define TERN_STATISTICS_PRIORITY	2	/* struct tern_priority_statistics; PFC */

struct tern_port_statistics {
	__le64 tx_packets;		/* all, RoCE included */
	__le64 tx_bytes;
	__le64 tx_multicast;
	__le64 tx_broadcast;
	__le64 tx_errors;		/* bad descriptors, unreadable memory */
	__le64 rx_packets;		/* all that a filter took, RoCE included */
	__le64 rx_bytes;
	__le64 rx_multicast;
	__le64 rx_broadcast;
	__le64 rx_filtered;		/* no filter took it */
	__le64 rx_no_buffer;		/* no receive entry */
	__le64 rx_buffer_overflow;	/* MAC's receive buffer full */
	__le64 rx_too_long;
	__le64 rx_too_short;
	__le64 rx_checksum_errors;
	__le64 rx_errors;		/* entry or memory not usable */
	__le64 tx_roce_packets;
	__le64 tx_roce_bytes;
	__le64 rx_roce_packets;
	__le64 rx_roce_bytes;
	__le64 doorbells;		/* doorbell writes of this function */
	__le64 doorbells_dropped;	/* unknown queue, or of another page */
};

static_assert(sizeof(struct tern_port_statistics) == 22 * 8, "port statistics");

struct tern_rdma_statistics {
	__le64 tx_payload_bytes;
	__le64 rx_payload_bytes;
	__le64 out_of_sequence;		/* responder: NAK-causing PSN gaps */
	__le64 duplicate_request;
	__le64 packet_seq_err;		/* requester: NAK sequence error received */
	__le64 rnr_nak_retry_err;	/* requester: RNR NAK received */
	__le64 rnr_nak_sent;
	__le64 local_ack_timeout_err;
	__le64 retry_exceeded;
	__le64 rnr_retry_exceeded;
	__le64 implied_nak_seq_err;	/* requester: response skipped a READ */
	__le64 req_remote_access_errors;
	__le64 req_remote_invalid_request;
	__le64 req_cqe_error;
	__le64 resp_remote_access_errors;
	__le64 resp_cqe_error;
	__le64 resp_local_length_error;
	__le64 req_cqe_flush_error;
	__le64 resp_cqe_flush_error;
	__le64 rx_icrc_encapsulated;	/* dropped: bad ICRC */
	__le64 rx_malformed;		/* dropped: headers, lengths or opcode make no sense */
	__le64 rx_no_qp;		/* dropped: QP unknown or in a wrong state */
	__le64 rx_qkey_violations;
	__le64 rx_pkey_violations;
	__le64 rx_ud_dropped;		/* UD, UC: no receive entry or too long; UC: not allowed */
	__le64 retransmitted_packets;
	__le64 messages_sent;
	__le64 messages_received;
	__le64 rx_write_requests;	/* responder: messages, none twice */
	__le64 rx_read_requests;
	__le64 rx_atomic_requests;
	__le64 np_ecn_marked_roce_packets; /* received with CE at a queue pair */
	__le64 np_cnp_sent;
	__le64 rp_cnp_handled;
	__le64 rp_cnp_ignored;		/* the queue pair or its priority does not react */
};

static_assert(sizeof(struct tern_rdma_statistics) == 35 * 8, "rdma statistics");

#endif /* TERN_HW_STATISTICS_H */
