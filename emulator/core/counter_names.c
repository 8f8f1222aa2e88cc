// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: names of the counters. */
#include "counter_names.h"
#include "counters.h"
#include "tern_hw_statistics.h"

#define PORT(member)								\
	{ #member, offsetof(struct port_counters, member),			\
	  offsetof(struct tern_port_statistics, member) }
#define RDMA(member)								\
	{ #member, offsetof(struct rdma_counters, member),			\
	  offsetof(struct tern_rdma_statistics, member) }
#define DEVICE(member)								\
	{ #member, offsetof(struct device_counters, member), 0 }

const struct counter_name port_counter_names[] = {
	PORT(tx_packets),
	PORT(tx_bytes),
	PORT(tx_multicast),
	PORT(tx_broadcast),
	PORT(tx_errors),
	PORT(rx_packets),
	PORT(rx_bytes),
	PORT(rx_multicast),
	PORT(rx_broadcast),
	PORT(rx_filtered),
	PORT(rx_no_buffer),
	PORT(rx_buffer_overflow),
	PORT(rx_too_long),
	PORT(rx_too_short),
	PORT(rx_checksum_errors),
	PORT(rx_errors),
	PORT(tx_roce_packets),
	PORT(tx_roce_bytes),
	PORT(rx_roce_packets),
	PORT(rx_roce_bytes),
	PORT(doorbells),
	PORT(doorbells_dropped),
};

const struct counter_name rdma_counter_names[] = {
	RDMA(tx_payload_bytes),
	RDMA(rx_payload_bytes),
	RDMA(out_of_sequence),
	RDMA(duplicate_request),
	RDMA(packet_seq_err),
	RDMA(rnr_nak_retry_err),
	RDMA(rnr_nak_sent),
	RDMA(local_ack_timeout_err),
	RDMA(retry_exceeded),
	RDMA(rnr_retry_exceeded),
	RDMA(implied_nak_seq_err),
	RDMA(req_remote_access_errors),
	RDMA(req_remote_invalid_request),
	RDMA(req_cqe_error),
	RDMA(resp_remote_access_errors),
	RDMA(resp_cqe_error),
	RDMA(resp_local_length_error),
	RDMA(req_cqe_flush_error),
	RDMA(resp_cqe_flush_error),
	RDMA(rx_icrc_encapsulated),
	RDMA(rx_malformed),
	RDMA(rx_no_qp),
	RDMA(rx_qkey_violations),
	RDMA(rx_pkey_violations),
	RDMA(rx_ud_dropped),
	RDMA(retransmitted_packets),
	RDMA(messages_sent),
	RDMA(messages_received),
	RDMA(rx_write_requests),
	RDMA(rx_read_requests),
	RDMA(rx_atomic_requests),
	RDMA(np_ecn_marked_roce_packets),
	RDMA(np_cnp_sent),
	RDMA(rp_cnp_handled),
	RDMA(rp_cnp_ignored),
};

const struct counter_name device_counter_names[] = {
	DEVICE(commands),
	DEVICE(commands_failed),
	DEVICE(events),
	DEVICE(interrupts),
	DEVICE(events_lost),
	DEVICE(cq_errors),
	DEVICE(register_errors),
	DEVICE(index_errors),
	DEVICE(memory_faults),
	DEVICE(page_faults),
	DEVICE(ring_requests),
	DEVICE(resets),
};

static_assert(sizeof(port_counter_names) / sizeof(*port_counter_names) ==
	      sizeof(struct port_counters) / sizeof(uint64_t), "a name for each");
static_assert(sizeof(rdma_counter_names) / sizeof(*rdma_counter_names) ==
	      sizeof(struct rdma_counters) / sizeof(uint64_t), "a name for each");
static_assert(sizeof(device_counter_names) / sizeof(*device_counter_names) ==
	      sizeof(struct device_counters) / sizeof(uint64_t), "a name for each");
