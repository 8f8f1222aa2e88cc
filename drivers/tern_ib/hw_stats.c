// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: hardware counters of the port. */
#include "internal.h"
#include "verbs.h"

/*
 * In the order of struct tern_rdma_statistics. A name that mlx5 has means the
 * same here, so that tools find it.
 */
static const struct rdma_stat_desc tern_ib_hw_stats[] = {
	{ .name = "tx_payload_bytes" },
	{ .name = "rx_payload_bytes" },
	{ .name = "out_of_sequence" },
	{ .name = "duplicate_request" },
	{ .name = "packet_seq_err" },
	{ .name = "rnr_nak_retry_err" },
	{ .name = "rnr_nak_sent" },
	{ .name = "local_ack_timeout_err" },
	{ .name = "req_transport_retries_exceeded" },
	{ .name = "req_rnr_retries_exceeded" },
	{ .name = "implied_nak_seq_err" },
	{ .name = "req_remote_access_errors" },
	{ .name = "req_remote_invalid_request" },
	{ .name = "req_cqe_error" },
	{ .name = "resp_remote_access_errors" },
	{ .name = "resp_cqe_error" },
	{ .name = "resp_local_length_error" },
	{ .name = "req_cqe_flush_error" },
	{ .name = "resp_cqe_flush_error" },
	{ .name = "rx_icrc_encapsulated" },
	{ .name = "rx_malformed" },
	{ .name = "rx_no_qp" },
	{ .name = "rx_qkey_violations" },
	{ .name = "rx_pkey_violations" },
	{ .name = "rx_ud_dropped" },
	{ .name = "retransmitted_packets" },
	{ .name = "messages_sent" },
	{ .name = "messages_received" },
	{ .name = "rx_write_requests" },
	{ .name = "rx_read_requests" },
	{ .name = "rx_atomic_requests" },
	{ .name = "np_ecn_marked_roce_packets" },
	{ .name = "np_cnp_sent" },
	{ .name = "rp_cnp_handled" },
	{ .name = "rp_cnp_ignored" },
};

static_assert(sizeof(struct tern_rdma_statistics) ==
	      ARRAY_SIZE(tern_ib_hw_stats) * sizeof(__le64));

struct rdma_hw_stats *tern_ib_new_hw_stats(void)
{
	return rdma_alloc_hw_stats_struct(tern_ib_hw_stats, ARRAY_SIZE(tern_ib_hw_stats),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* What @opcode, QUERY_STATISTICS or QUERY_COUNTER_SET, answers: their number or an errno. */
int tern_ib_read_hw_stats(struct tern_ib_device *dev, u16 opcode, u32 number, u32 group,
			  struct rdma_hw_stats *stats)
{
	__le64 values[ARRAY_SIZE(tern_ib_hw_stats)];
	int err;
	int i;

	err = tern_cmd_query(dev->tern, opcode, number, group, values, sizeof(values));
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		stats->value[i] = le64_to_cpu(values[i]);
	return ARRAY_SIZE(values);
}

struct rdma_hw_stats *tern_ib_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return tern_ib_new_hw_stats();
}

int tern_ib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	/* Of the port: the device has none beside. */
	if (!port)
		return -EOPNOTSUPP;
	return tern_ib_read_hw_stats(to_tern_ib(ibdev), TERN_COMMAND_QUERY_STATISTICS, 0,
				     TERN_STATISTICS_RDMA, stats);
}
