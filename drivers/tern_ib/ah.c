// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern RDMA driver: address handles. The device knows none: each work request
 * carries the address, so nothing here sleeps.
 */
#include <linux/etherdevice.h>
#include <uapi/rdma/tern-abi.h>

#include "attributes.h"
#include "convert.h"
#include "verbs.h"

static int tern_ib_respond_ah(const struct tern_address_vector *address, struct ib_udata *udata)
{
	struct tern_uresp_create_ah response = {
		.udp_source_port = le16_to_cpu(address->udp_source_port),
		.source_gid_index = le16_to_cpu(address->source_gid_index),
		.hop_limit = address->hop_limit,
	};

	ether_addr_copy(response.destination_mac, address->destination_mac);
	return ib_respond_udata(udata, response);
}

int tern_ib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	const struct rdma_ah_attr *attr = init->ah_attr;
	struct tern_ib_ah *ah = to_tern_ah(ibah);
	u16 udp_source_port = 0;
	u32 flow_label;
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;
	err = tern_ib_check_address(&to_tern_ib(ibah->device)->limits, attr);
	if (err)
		return err;

	/* Without a flow label the device spreads by queue pair. */
	flow_label = rdma_ah_read_grh(attr)->flow_label & IB_GRH_FLOWLABEL_MASK;
	if (flow_label)
		udp_source_port = rdma_flow_label_to_udp_sport(flow_label);
	tern_ib_address_to(attr, udp_source_port, &ah->address);
	return udata ? tern_ib_respond_ah(&ah->address, udata) : 0;
}

int tern_ib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	tern_ib_address_from(&to_tern_ah(ibah)->address, attr);
	rdma_ah_set_port_num(attr, 1);
	return 0;
}

int tern_ib_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
