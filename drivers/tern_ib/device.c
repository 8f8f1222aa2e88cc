// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: attributes of the device. */
#include <linux/netdevice.h>

#include "internal.h"
#include "odp.h"
#include "verbs.h"
#include "tern_hw_pci.h"

/* The device's clock counts nanoseconds. */
#define TERN_IB_CLOCK_KHZ	(NSEC_PER_SEC / 1000)

/* Queues of the netdev come from the same numbers: each has a queue pair and a CQ. */
static u32 tern_ib_netdev_queues(const struct tern_device *tern)
{
	return tern->netdev->num_tx_queues + tern->netdev->num_rx_queues;
}

static u32 tern_ib_left(u32 count, u32 taken)
{
	return count > taken ? count - taken : 0;
}

/* The verbs have 32:16:16 bits, the device 16:16:32. */
static u64 tern_ib_fw_ver(u64 version)
{
	return (version >> 48) << 32 | ((version >> 32) & 0xffff) << 16 | (version & 0xffff);
}

int tern_ib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			 struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibdev);
	const struct tern_capabilities *caps = &dev->tern->caps;
	const struct tern_ib_limits *limits = &dev->limits;
	u32 netdev_queues = tern_ib_netdev_queues(dev->tern);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = tern_ib_fw_ver(caps->firmware_version);
	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = TERN_PCI_VENDOR_ID;
	attr->vendor_part_id = caps->vendor_part;
	attr->hw_ver = dev->tern->pdev->revision;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	if (tern_has(dev->tern, TERN_FEATURE_FAST_REGISTRATION)) {
		attr->device_cap_flags |= IB_DEVICE_MEM_MGT_EXTENSIONS;
		attr->max_fast_reg_page_list_len = TERN_IB_FAST_PAGES_MAX;
	}

	if (tern_has(dev->tern, TERN_FEATURE_MEMORY_WINDOWS)) {
		attr->device_cap_flags |= IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B;
		attr->max_mw = caps->key_count - 1;
	}
	tern_ib_odp_describe(dev, attr);

	if (tern_has(dev->tern, TERN_FEATURE_ATOMIC_WRITE))
		attr->device_cap_flags |= IB_DEVICE_ATOMIC_WRITE;
	/* Nobody can tell whether memory keeps its content when the power goes: not PERSISTENT. */
	if (tern_has(dev->tern, TERN_FEATURE_FLUSH))
		attr->device_cap_flags |= IB_DEVICE_FLUSH_GLOBAL;

	if (tern_has(dev->tern, TERN_FEATURE_FLOW_STEERING))
		attr->device_cap_flags |= IB_DEVICE_MANAGED_FLOW_STEERING;
	/* No FCS: frames come without it. No checksums: a send has to name the headers' places. */
	if (tern_has(dev->tern, TERN_FEATURE_VLAN_OFFLOAD))
		attr->raw_packet_caps = IB_RAW_PACKET_CAP_CVLAN_STRIPPING;

	if (tern_has(dev->tern, TERN_FEATURE_RECEIVE_HASHING_QP)) {
		attr->rss_caps.supported_qpts = BIT(IB_QPT_RAW_PACKET);
		/* Only the queue pair that uses one is the device's. */
		attr->rss_caps.max_rwq_indirection_tables = tern_ib_left(caps->qp_count,
									 2 + netdev_queues);
		attr->rss_caps.max_rwq_indirection_table_size = tern_ib_rwq_table_max(dev->tern);
		attr->max_wq_type_rq = tern_ib_left(caps->qp_count, 2 + netdev_queues);
	}

	attr->max_dm_size = dev->tern->device_memory_size;
	attr->max_mr_size = caps->region_bytes_max;
	attr->page_size_cap = limits->page_sizes;
	attr->max_mr = caps->key_count - 1;
	/* The netdev has one. */
	attr->max_pd = tern_ib_left(caps->pd_count, 1);
	attr->max_ah = INT_MAX;	/* the device keeps none */
	attr->max_cq = tern_ib_left(caps->cq_count, netdev_queues);
	attr->max_cqe = limits->max_cqe;
	/* Without the reserved number and GSI's. */
	attr->max_qp = tern_ib_left(caps->qp_count, 2 + netdev_queues);
	attr->max_raw_ethy_qp = min_t(u32, attr->max_qp, INT_MAX);
	attr->max_qp_wr = limits->max_qp_wr;
	attr->max_send_sge = limits->max_send_sge;
	attr->max_recv_sge = limits->max_recv_sge;
	attr->max_sge_rd = limits->max_send_sge;
	attr->max_qp_rd_atom = limits->max_responder_resources;
	attr->max_qp_init_rd_atom = limits->max_initiator_depth;
	attr->max_res_rd_atom = min_t(u64, (u64)attr->max_qp * limits->max_responder_resources,
				      INT_MAX);
	if (tern_has(dev->tern, TERN_FEATURE_XRC))
		attr->device_cap_flags |= IB_DEVICE_XRC;
	if (tern_has(dev->tern, TERN_FEATURE_SRQ)) {
		attr->device_cap_flags |= IB_DEVICE_SRQ_RESIZE;
		attr->max_srq = tern_ib_left(caps->srq_count, 1);
		attr->max_srq_wr = limits->max_srq_wr;
		attr->max_srq_sge = limits->max_srq_sge;
	}
	/* Among all queue pairs and functions of the device, not against the processor. */
	attr->atomic_cap = tern_has(dev->tern, TERN_FEATURE_ATOMICS) ? IB_ATOMIC_HCA :
								       IB_ATOMIC_NONE;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	if (tern_has(dev->tern, TERN_FEATURE_MULTICAST)) {
		attr->max_mcast_grp = min_t(u32, caps->multicast_group_count, INT_MAX);
		attr->max_mcast_qp_attach = min_t(u32, caps->multicast_qps_max, INT_MAX);
		attr->max_total_mcast_qp_attach =
			min_t(u64, (u64)attr->max_mcast_grp * attr->max_mcast_qp_attach, INT_MAX);
	}
	attr->max_pkeys = limits->pkey_count;
	attr->local_ca_ack_delay = caps->ack_delay;
	if (tern_has(dev->tern, TERN_FEATURE_TIMESTAMPS)) {
		attr->timestamp_mask = U64_MAX;
		attr->hca_core_clock = TERN_IB_CLOCK_KHZ;
	}
	attr->cq_caps.max_cq_moderation_count = U16_MAX;
	attr->cq_caps.max_cq_moderation_period = U16_MAX;
	return 0;
}

int tern_ib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

void tern_ib_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u64 version = to_tern_ib(ibdev)->tern->caps.firmware_version;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u", (u32)(version >> 48),
		 (u32)(version >> 32) & 0xffff, (u32)version);
}
