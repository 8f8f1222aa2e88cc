/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: counters of a function. The first two lists are the contract's
 * statistics, in its order; the third is for people only (tern_nic_counters()).
 */
#ifndef TERN_COUNTERS_H
#define TERN_COUNTERS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_hw_statistics.h"

#define PORT_COUNTERS(X)						\
	X(tx_packets) X(tx_bytes) X(tx_multicast) X(tx_broadcast)	\
	X(tx_errors) X(rx_packets) X(rx_bytes) X(rx_multicast)		\
	X(rx_broadcast) X(rx_filtered) X(rx_no_buffer)			\
	X(rx_buffer_overflow) X(rx_too_long) X(rx_too_short)		\
	X(rx_checksum_errors) X(rx_errors) X(tx_roce_packets)		\
	X(tx_roce_bytes) X(rx_roce_packets) X(rx_roce_bytes)		\
	X(doorbells) X(doorbells_dropped)

#define RDMA_COUNTERS(X)						\
	X(tx_payload_bytes) X(rx_payload_bytes) X(out_of_sequence)	\
	X(duplicate_request) X(packet_seq_err) X(rnr_nak_retry_err)	\
	X(rnr_nak_sent) X(local_ack_timeout_err) X(retry_exceeded)	\
	X(rnr_retry_exceeded) X(implied_nak_seq_err)			\
	X(req_remote_access_errors) X(req_remote_invalid_request)	\
	X(req_cqe_error) X(resp_remote_access_errors) X(resp_cqe_error)	\
	X(resp_local_length_error) X(req_cqe_flush_error)		\
	X(resp_cqe_flush_error) X(rx_icrc_encapsulated)			\
	X(rx_malformed) X(rx_no_qp) X(rx_qkey_violations)		\
	X(rx_pkey_violations) X(rx_ud_dropped) X(retransmitted_packets)	\
	X(messages_sent) X(messages_received)

/*
 * commands, commands_failed; events, interrupts, events_lost (no EQ, or its
 * memory gone); cq_errors; register_errors (accesses that mean nothing);
 * index_errors (host's index outside the ring); memory_faults (guest memory
 * that could not be accessed); ring_requests (times "ring me" was stored);
 * resets.
 */
#define DEVICE_COUNTERS(X)						\
	X(commands) X(commands_failed) X(events) X(interrupts)		\
	X(events_lost) X(cq_errors) X(register_errors) X(index_errors)	\
	X(memory_faults) X(ring_requests) X(resets)

#define COUNTER_FIELD(name) uint64_t name;
struct port_counters { PORT_COUNTERS(COUNTER_FIELD) };
struct rdma_counters { RDMA_COUNTERS(COUNTER_FIELD) };
struct device_counters { DEVICE_COUNTERS(COUNTER_FIELD) };
#undef COUNTER_FIELD

#define COUNTER_PLACE(name)						\
	static_assert(offsetof(struct port_counters, name) ==		\
		      offsetof(struct tern_port_statistics, name), #name);
PORT_COUNTERS(COUNTER_PLACE)
#undef COUNTER_PLACE
static_assert(sizeof(struct port_counters) == sizeof(struct tern_port_statistics),
	      "port counters");

#define COUNTER_PLACE(name)						\
	static_assert(offsetof(struct rdma_counters, name) ==		\
		      offsetof(struct tern_rdma_statistics, name), #name);
RDMA_COUNTERS(COUNTER_PLACE)
#undef COUNTER_PLACE
static_assert(sizeof(struct rdma_counters) == sizeof(struct tern_rdma_statistics),
	      "rdma counters");

#endif /* TERN_COUNTERS_H */
