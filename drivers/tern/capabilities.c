// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: what the device says of itself, checked before anything is
 * sized or indexed by it.
 */
#include <linux/etherdevice.h>
#include <linux/log2.h>

#include "adapter.h"
#include "commands.h"

/* One event queue; a send and a receive completion queue and a queue pair for the netdev. */
#define TERN_EQS_MIN		1
#define TERN_CQS_MIN		2
#define TERN_QPS_MIN		3
#define TERN_QUEUE_SHIFT_MIN	6
#define TERN_QUEUE_SHIFT_MAX	24
#define TERN_COUNT_MAX		(TERN_NUMBER_MASK + 1)

/**
 * struct tern_limit - the values of a capability that make sense
 * @name: of the field
 * @value: what the device says
 * @min: less is of no use
 * @max: more cannot be true
 */
struct tern_limit {
	const char *name;
	u64 value;
	u64 min;
	u64 max;
};

static int tern_capabilities_check(struct tern_adapter *adapter,
				   const struct tern_capabilities *caps)
{
	const struct tern_limit limits[] = {
		{ "eq_count", caps->eq_count, TERN_EQS_MIN, TERN_COUNT_MAX },
		{ "cq_count", caps->cq_count, TERN_CQS_MIN, TERN_COUNT_MAX },
		{ "qp_count", caps->qp_count, TERN_QPS_MIN, TERN_COUNT_MAX },
		{ "srq_count", caps->srq_count, 0, TERN_COUNT_MAX },
		{ "key_count", caps->key_count, 2, TERN_COUNT_MAX },
		{ "pd_count", caps->pd_count, 1, TERN_COUNT_MAX },
		{ "gid_count", caps->gid_count, 1, U16_MAX + 1 },
		{ "flow_count", caps->flow_count, 0, TERN_COUNT_MAX },
		{ "pkey_count", caps->pkey_count, 1, U16_MAX + 1 },
		{ "eq_shift_max", caps->eq_shift_max, TERN_QUEUE_SHIFT_MIN, TERN_QUEUE_SHIFT_MAX },
		{ "cq_shift_max", caps->cq_shift_max, TERN_QUEUE_SHIFT_MIN, TERN_QUEUE_SHIFT_MAX },
		{ "sq_shift_max", caps->sq_shift_max, TERN_QUEUE_SHIFT_MIN, TERN_QUEUE_SHIFT_MAX },
		{ "rq_shift_max", caps->rq_shift_max, TERN_QUEUE_SHIFT_MIN, TERN_QUEUE_SHIFT_MAX },
		{ "send_sge_max", caps->send_sge_max, 2, U8_MAX },
		{ "receive_sge_max", caps->receive_sge_max, 3, U8_MAX },
		{ "inline_max", caps->inline_max, 0, TERN_WQE_BYTES_MAX },
		{ "message_bytes_max", caps->message_bytes_max, 1, BIT_ULL(31) },
		{ "ack_delay", caps->ack_delay, 0, 31 },
		{ "tso_bytes_max", caps->tso_bytes_max, 0, U32_MAX },
		{ "counter_set_count", caps->counter_set_count, 0, TERN_COUNT_MAX },
		{ "mtu_max", caps->mtu_max, ETH_DATA_LEN, ETH_MAX_MTU },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		if (limits[i].value >= limits[i].min && limits[i].value <= limits[i].max)
			continue;
		dev_err(tern_dev(adapter), "capability %s is %llu, not in %llu..%llu\n",
			limits[i].name, limits[i].value, limits[i].min, limits[i].max);
		return -EPROTO;
	}
	if (!is_valid_ether_addr(caps->mac)) {
		dev_err(tern_dev(adapter), "permanent MAC address %pM is none\n", caps->mac);
		return -EPROTO;
	}
	if (!caps->guid) {
		dev_err(tern_dev(adapter), "GUID is zero\n");
		return -EPROTO;
	}
	if (!(caps->page_sizes & BIT_ULL(TERN_PAGE_SHIFT_MIN))) {
		dev_err(tern_dev(adapter), "page sizes %#llx lack 4 KiB\n", caps->page_sizes);
		return -EPROTO;
	}
	return 0;
}

static void tern_capabilities_convert(struct tern_capabilities *caps,
				      const struct tern_device_capabilities *hw)
{
	ether_addr_copy(caps->mac, hw->permanent_mac);
	caps->vendor_part = le16_to_cpu(hw->vendor_part);
	caps->guid = le64_to_cpu(hw->guid);
	caps->firmware_version = le64_to_cpu(hw->firmware_version);
	caps->eq_count = le32_to_cpu(hw->eq_count);
	caps->cq_count = le32_to_cpu(hw->cq_count);
	caps->qp_count = le32_to_cpu(hw->qp_count);
	caps->srq_count = le32_to_cpu(hw->srq_count);
	caps->key_count = le32_to_cpu(hw->key_count);
	caps->pd_count = le32_to_cpu(hw->pd_count);
	caps->gid_count = le32_to_cpu(hw->gid_count);
	caps->pkey_count = le32_to_cpu(hw->pkey_count);
	caps->eq_shift_max = hw->eq_shift_max;
	caps->cq_shift_max = hw->cq_shift_max;
	caps->sq_shift_max = hw->sq_shift_max;
	caps->rq_shift_max = hw->rq_shift_max;
	caps->send_sge_max = hw->send_sge_max;
	caps->receive_sge_max = hw->receive_sge_max;
	caps->read_initiator_max = hw->read_initiator_max;
	caps->read_responder_max = hw->read_responder_max;
	caps->inline_max = le32_to_cpu(hw->inline_max);
	caps->message_bytes_max = le32_to_cpu(hw->message_bytes_max);
	caps->region_bytes_max = le64_to_cpu(hw->region_bytes_max);
	caps->page_sizes = le64_to_cpu(hw->page_sizes) &
			   GENMASK_ULL(TERN_PAGE_SHIFT_MAX, TERN_PAGE_SHIFT_MIN);
	caps->rss_entries_max = le16_to_cpu(hw->rss_entries_max);
	if (caps->rss_entries_max)
		caps->rss_entries_max = rounddown_pow_of_two(caps->rss_entries_max);
	caps->multicast_addresses_max = le16_to_cpu(hw->multicast_addresses_max);
	caps->ack_delay = hw->ack_delay;
	caps->tso_bytes_max = le32_to_cpu(hw->tso_bytes_max);
	caps->mtu_max = le32_to_cpu(hw->mtu_max);
	caps->srq_sge_max = le32_to_cpu(hw->srq_sge_max);
	caps->multicast_group_count = le32_to_cpu(hw->multicast_group_count);
	caps->multicast_qps_max = le32_to_cpu(hw->multicast_qps_max);
	caps->flow_count = le32_to_cpu(hw->flow_count);
	caps->counter_set_count = le32_to_cpu(hw->counter_set_count);
	caps->receive_buffer_bytes = le32_to_cpu(hw->receive_buffer_bytes);
}

/* The command queue works. */
int tern_capabilities_read(struct tern_adapter *adapter)
{
	struct tern_device *tern = &adapter->device;
	struct tern_device_capabilities hw;
	struct tern_capabilities caps;
	int err;

	err = tern_cmd_query(tern, TERN_COMMAND_QUERY_DEVICE, 0, 0, &hw, sizeof(hw));
	if (err)
		return err;
	tern_capabilities_convert(&caps, &hw);
	err = tern_capabilities_check(adapter, &caps);
	if (err)
		return err;
	/* A hash key of another length than the kernel's would be a hash of another kind. */
	if (tern_has(tern, TERN_FEATURE_RSS) &&
	    (le16_to_cpu(hw.rss_key_bytes) != TERN_RSS_KEY_BYTES || !caps.rss_entries_max)) {
		dev_err(tern_dev(adapter), "RSS key of %u bytes, table of %u\n",
			le16_to_cpu(hw.rss_key_bytes), caps.rss_entries_max);
		return -EPROTO;
	}
	if (tern_has(tern, TERN_FEATURE_PFC) && !caps.receive_buffer_bytes) {
		dev_err(tern_dev(adapter), "flow control without receive buffers\n");
		return -EPROTO;
	}
	tern->caps = caps;
	return 0;
}
