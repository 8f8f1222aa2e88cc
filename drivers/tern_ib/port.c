// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: the port. It follows the netdev. */
#include <linux/netdevice.h>
#include <rdma/ib_mad.h>

#include "convert.h"
#include "internal.h"
#include "verbs.h"

enum ib_port_state tern_ib_port_state(struct tern_ib_device *dev)
{
	struct net_device *netdev = dev->tern->netdev;

	if (!tern_is_dead(dev->tern) && netif_running(netdev) && netif_carrier_ok(netdev))
		return IB_PORT_ACTIVE;
	return IB_PORT_DOWN;
}

enum ib_mtu tern_ib_port_mtu(struct tern_ib_device *dev)
{
	return tern_ib_mtu_from(READ_ONCE(dev->tern->netdev->mtu));
}

int tern_ib_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct tern_ib_device *dev = to_tern_ib(ibdev);
	struct tern_rdma_statistics statistics = {};
	struct tern_port_attributes hw = {};

	/* A dead device has a port too, and it is down. */
	if (!tern_is_dead(dev->tern)) {
		int err = tern_cmd_query(dev->tern, TERN_COMMAND_QUERY_PORT, 0, 0, &hw,
					 sizeof(hw));

		if (!err)
			err = tern_cmd_query(dev->tern, TERN_COMMAND_QUERY_STATISTICS, 0,
					     TERN_STATISTICS_RDMA, &statistics,
					     sizeof(statistics));
		err = tern_ib_gone_is_done(dev->tern, err);
		if (err)
			return err;
	}

	attr->state = tern_ib_port_state(dev);
	attr->phys_state = attr->state == IB_PORT_ACTIVE ? IB_PORT_PHYS_STATE_LINK_UP :
							   IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = tern_ib_mtu_from(dev->tern->caps.mtu_max);
	attr->active_mtu = tern_ib_port_mtu(dev);
	attr->gid_tbl_len = dev->limits.gid_count;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = dev->limits.max_message;
	attr->pkey_tbl_len = dev->limits.pkey_count;
	attr->bad_pkey_cntr = le64_to_cpu(statistics.rx_pkey_violations);
	attr->qkey_viol_cntr = le64_to_cpu(statistics.rx_qkey_violations);
	attr->max_vl_num = 1;
	tern_ib_speed_from(le32_to_cpu(hw.speed_mbps), &attr->active_speed, &attr->active_width);
	return 0;
}

int tern_ib_get_port_immutable(struct ib_device *ibdev, u32 port,
			       struct ib_port_immutable *immutable)
{
	struct tern_ib_device *dev = to_tern_ib(ibdev);

	immutable->gid_tbl_len = dev->limits.gid_count;
	immutable->pkey_tbl_len = dev->limits.pkey_count;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	if (tern_has(dev->tern, TERN_FEATURE_ROCE_V1))
		immutable->core_cap_flags |= RDMA_CORE_PORT_IBA_ROCE;
	if (tern_has(dev->tern, TERN_FEATURE_ROCE_V2))
		immutable->core_cap_flags |= RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	return 0;
}

enum rdma_link_layer tern_ib_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

int tern_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index >= to_tern_ib(ibdev)->limits.pkey_count)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}
