/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: counters of a function. The first two structures are the contract's
 * statistics, in its order; the third is for people only (tern_nic_counters()).
 */
#ifndef TERN_COUNTERS_H
#define TERN_COUNTERS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_hw_statistics.h"

struct port_counters {
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t tx_multicast;
	uint64_t tx_broadcast;
	uint64_t tx_errors;
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_multicast;
	uint64_t rx_broadcast;
	uint64_t rx_filtered;
	uint64_t rx_no_buffer;
	uint64_t rx_buffer_overflow;
	uint64_t rx_too_long;
	uint64_t rx_too_short;
	uint64_t rx_checksum_errors;
	uint64_t rx_errors;
	uint64_t tx_roce_packets;
	uint64_t tx_roce_bytes;
	uint64_t rx_roce_packets;
	uint64_t rx_roce_bytes;
	uint64_t doorbells;
	uint64_t doorbells_dropped;
};

struct rdma_counters {
	uint64_t tx_payload_bytes;
	uint64_t rx_payload_bytes;
	uint64_t out_of_sequence;
	uint64_t duplicate_request;
	uint64_t packet_seq_err;
	uint64_t rnr_nak_retry_err;
	uint64_t rnr_nak_sent;
	uint64_t local_ack_timeout_err;
	uint64_t retry_exceeded;
	uint64_t rnr_retry_exceeded;
	uint64_t implied_nak_seq_err;
	uint64_t req_remote_access_errors;
	uint64_t req_remote_invalid_request;
	uint64_t req_cqe_error;
	uint64_t resp_remote_access_errors;
	uint64_t resp_cqe_error;
	uint64_t resp_local_length_error;
	uint64_t req_cqe_flush_error;
	uint64_t resp_cqe_flush_error;
	uint64_t rx_icrc_encapsulated;
	uint64_t rx_malformed;
	uint64_t rx_no_qp;
	uint64_t rx_qkey_violations;
	uint64_t rx_pkey_violations;
	uint64_t rx_ud_dropped;
	uint64_t retransmitted_packets;
	uint64_t messages_sent;
	uint64_t messages_received;
	uint64_t rx_write_requests;
	uint64_t rx_read_requests;
	uint64_t rx_atomic_requests;
	uint64_t np_ecn_marked_roce_packets;
	uint64_t np_cnp_sent;
	uint64_t rp_cnp_handled;
	uint64_t rp_cnp_ignored;
};

struct device_counters {
	uint64_t commands;
	uint64_t commands_failed;
	uint64_t events;
	uint64_t interrupts;
	uint64_t events_lost;	/* no EQ, or its memory is gone */
	uint64_t cq_errors;
	uint64_t register_errors;	/* accesses that mean nothing */
	uint64_t index_errors;	/* the host's index was outside the ring */
	uint64_t memory_faults;	/* guest memory that could not be accessed */
	uint64_t page_faults;	/* events for pages on demand */
	uint64_t ring_requests;	/* "ring me" was stored */
	uint64_t resets;
};

static_assert(sizeof(struct port_counters) == sizeof(struct tern_port_statistics),
	      "port counters");
static_assert(sizeof(struct rdma_counters) == sizeof(struct tern_rdma_statistics),
	      "rdma counters");

#endif /* TERN_COUNTERS_H */
