// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: performance management, which fills ports/1/counters. */
#include <rdma/ib_pma.h>

#include "verbs.h"

struct tern_ib_counters {
	u64 transmit_bytes;
	u64 transmit_packets;
	u64 receive_bytes;
	u64 receive_packets;
	u64 receive_errors;
	u64 transmit_discards;
};

static int tern_ib_read_counters(struct tern_device *tern, struct tern_ib_counters *counters)
{
	struct tern_rdma_statistics rdma;
	struct tern_port_statistics port;
	int err;

	err = tern_cmd_query(tern, TERN_COMMAND_QUERY_STATISTICS, 0, TERN_STATISTICS_PORT, &port,
			     sizeof(port));
	if (err)
		return err;
	err = tern_cmd_query(tern, TERN_COMMAND_QUERY_STATISTICS, 0, TERN_STATISTICS_RDMA, &rdma,
			     sizeof(rdma));
	if (err)
		return err;
	counters->transmit_bytes = le64_to_cpu(port.tx_roce_bytes);
	counters->transmit_packets = le64_to_cpu(port.tx_roce_packets);
	counters->receive_bytes = le64_to_cpu(port.rx_roce_bytes);
	counters->receive_packets = le64_to_cpu(port.rx_roce_packets);
	counters->receive_errors = le64_to_cpu(rdma.rx_icrc_encapsulated) +
				   le64_to_cpu(rdma.rx_malformed);
	counters->transmit_discards = le64_to_cpu(port.tx_errors);
	return 0;
}

/* Counters of the MAD saturate. Data is counted in words of four bytes. */
static void tern_ib_fill_counters(const struct tern_ib_counters *in,
				  struct ib_pma_portcounters *out)
{
	out->port_select = 1;
	out->port_rcv_errors = cpu_to_be16(min_t(u64, in->receive_errors, U16_MAX));
	out->port_xmit_discards = cpu_to_be16(min_t(u64, in->transmit_discards, U16_MAX));
	out->port_xmit_data = cpu_to_be32(min_t(u64, in->transmit_bytes / 4, U32_MAX));
	out->port_rcv_data = cpu_to_be32(min_t(u64, in->receive_bytes / 4, U32_MAX));
	out->port_xmit_packets = cpu_to_be32(min_t(u64, in->transmit_packets, U32_MAX));
	out->port_rcv_packets = cpu_to_be32(min_t(u64, in->receive_packets, U32_MAX));
}

static void tern_ib_fill_counters_ext(const struct tern_ib_counters *in,
				      struct ib_pma_portcounters_ext *out)
{
	out->port_select = 1;
	out->port_xmit_data = cpu_to_be64(in->transmit_bytes / 4);
	out->port_rcv_data = cpu_to_be64(in->receive_bytes / 4);
	out->port_xmit_packets = cpu_to_be64(in->transmit_packets);
	out->port_rcv_packets = cpu_to_be64(in->receive_packets);
	/* The device does not count multicast apart. */
	out->port_unicast_xmit_packets = out->port_xmit_packets;
	out->port_unicast_rcv_packets = out->port_rcv_packets;
}

static int tern_ib_perf_get(struct tern_device *tern, const struct ib_pma_mad *in,
			    struct ib_pma_mad *out)
{
	struct ib_class_port_info *info = (void *)out->data;
	struct tern_ib_counters counters;
	/* Of both kinds of counters, the second byte. */
	u8 port_select = in->data[1];

	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		info->base_version = IB_MGMT_BASE_VERSION;
		info->class_version = 1;
		info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		return 0;
	case IB_PMA_PORT_COUNTERS:
	case IB_PMA_PORT_COUNTERS_EXT:
		break;
	default:
		out->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
		return 0;
	}
	if (port_select != 1) {
		out->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
		return 0;
	}
	if (tern_ib_read_counters(tern, &counters))
		return -EIO;
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		tern_ib_fill_counters(&counters, (void *)out->data);
	else
		tern_ib_fill_counters_ext(&counters, (void *)out->data);
	return 0;
}

int tern_ib_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			size_t *out_size, u16 *out_pkey_index)
{
	const struct ib_pma_mad *request = (const void *)in;
	struct ib_pma_mad *reply = (void *)out;

	/* Everything else belongs to the core's agents. */
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.class_version != 1 || in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	if (tern_ib_perf_get(to_tern_ib(ibdev)->tern, request, reply))
		return IB_MAD_RESULT_FAILURE;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
