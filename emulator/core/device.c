// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: commands about the device, and the table of those that the control path serves. */
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "counter_names.h"
#include "cq.h"
#include "eq.h"
#include "key.h"
#include "nic.h"
#include "page_fault.h"
#include "qp.h"
#include "srq.h"
#include "tern_hw_counter_set.h"
#include "tern_hw_device_memory.h"
#include "tern_hw_ethernet.h"
#include "tern_hw_page_fault.h"
#include "tern_hw_pci.h"
#include "tern_hw_queue.h"

#define FIRMWARE_VERSION	(UINT64_C(1) << 48)	/* 1.0.0 */

static uint16_t nop(struct command *command)
{
	(void)command;
	return TERN_COMMAND_STATUS_OK;
}

static bool group_is_zero(struct command *command)
{
	return command_reserved(command, struct tern_command_query, group);
}

static uint16_t query_device(struct command *command)
{
	const struct function *fn = command->fn;
	struct tern_device_capabilities caps = {
		.vendor_part = to_le16(fn->index ? TERN_PCI_DEVICE_ID_VF : TERN_PCI_DEVICE_ID_PF),
		.guid = to_le64(fn->guid),
		.firmware_version = to_le64(FIRMWARE_VERSION),
		.eq_count = to_le32(EQ_COUNT),
		.cq_count = to_le32(CQ_COUNT),
		.qp_count = to_le32(QP_COUNT),
		.srq_count = to_le32(function_has(fn, FEATURE(SRQ)) ? SRQ_COUNT : 0),
		.key_count = to_le32(KEY_COUNT),
		.pd_count = to_le32(PD_COUNT),
		.gid_count = to_le32(GID_COUNT),
		.pkey_count = to_le32(1),
		.eq_shift_max = EQ_SHIFT_MAX,
		.cq_shift_max = CQ_SHIFT_MAX,
		.sq_shift_max = SQ_SHIFT_MAX,
		.rq_shift_max = RQ_SHIFT_MAX,
		.send_sge_max = SEND_SGE_MAX,
		.receive_sge_max = RECEIVE_SGE_MAX,
		.read_initiator_max = READ_INITIATOR_MAX,
		.read_responder_max = READ_RESPONDER_MAX,
		.inline_max = to_le32(INLINE_MAX),
		.message_bytes_max = to_le32(MESSAGE_BYTES_MAX),
		.region_bytes_max = to_le64(REGION_BYTES_MAX),
		.page_sizes = to_le64(PAGE_SIZES),
		.rss_entries_max = to_le16(RSS_ENTRIES_MAX),
		.rss_key_bytes = to_le16(TERN_RSS_KEY_BYTES),
		.multicast_addresses_max = to_le16(MULTICAST_MAX),
		.ports = 1,
		.ack_delay = ACK_DELAY,
		.tso_bytes_max = to_le32(TSO_BYTES_MAX),
		.mtu_max = to_le32(MTU_MAX),
		.srq_sge_max = to_le32(RECEIVE_SGE_MAX),
		.multicast_group_count = to_le32(MULTICAST_GROUP_COUNT),
		.multicast_qps_max = to_le32(MULTICAST_QPS_MAX),
		.flow_count = to_le32(function_has(fn, FEATURE(FLOW_STEERING)) ? FLOW_COUNT : 0),
		.counter_set_count = to_le32(function_has(fn, FEATURE(COUNTER_SETS)) ?
					     COUNTER_SET_COUNT : 0),
		.receive_buffer_bytes = to_le32(function_has(fn, FEATURE(PFC)) ?
						(uint32_t)fn->nic->priorities.buffers.total : 0),
	};

	if (!group_is_zero(command))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	memcpy(caps.permanent_mac, fn->permanent_mac, sizeof(caps.permanent_mac));
	return command_answer(command, &caps, sizeof(caps));
}

static uint16_t answer_counters(struct command *command, const struct counter_name *names,
				const void *counters, size_t size)
{
	uint8_t answer[512];

	static_assert(sizeof(struct port_counters) <= sizeof(answer), "port counters");
	static_assert(sizeof(struct rdma_counters) <= sizeof(answer), "rdma counters");
	for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
		uint64_t value;
		__le64 field;

		memcpy(&value, (const uint8_t *)counters + names[i].offset, sizeof(value));
		field = to_le64(value);
		memcpy(answer + names[i].contract_offset, &field, sizeof(field));
	}
	return command_answer(command, answer, size);
}

static uint16_t query_statistics(struct command *command)
{
	const struct tern_command_query *query = (const void *)command->body;
	const struct function *fn = command->fn;

	switch (from_le32(query->group)) {
	case TERN_STATISTICS_PORT:
		return answer_counters(command, port_counter_names, &fn->port, sizeof(fn->port));
	case TERN_STATISTICS_RDMA:
		return answer_counters(command, rdma_counter_names, &fn->rdma_counters,
				       sizeof(fn->rdma_counters));
	case TERN_STATISTICS_PRIORITY:
		if (function_has(fn, FEATURE(PFC)))
			return query_priority_statistics(command);
		break;
	default:
		break;
	}
	return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
			      struct tern_command_query, group);
}

static uint16_t query_counter_set(struct command *command)
{
	const struct counter_set *set;
	uint16_t status;

	if (!group_is_zero(command))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	set = counter_set_named(command, &status);
	return status ? status : answer_counters(command, rdma_counter_names, &set->counters,
						 sizeof(set->counters));
}

static uint16_t query_qp(struct command *command)
{
	return group_is_zero(command) ? qp_query_command(command) :
					TERN_COMMAND_STATUS_BAD_PARAMETER;
}

static uint16_t query_srq(struct command *command)
{
	return group_is_zero(command) ? srq_query_command(command) :
					TERN_COMMAND_STATUS_BAD_PARAMETER;
}

#define QUERY_BYTES	sizeof(struct tern_command_query)

const struct command_entry control_commands[] = {
	{ TERN_COMMAND_NOP, false, 0, 0, nop },
	{ TERN_COMMAND_QUERY_DEVICE, false, QUERY_BYTES, 0, query_device },
	{ TERN_COMMAND_QUERY_STATISTICS, false, QUERY_BYTES, 0, query_statistics },
	{ TERN_COMMAND_CREATE_EQ, true, sizeof(struct tern_command_create_eq), 0,
	  eq_create_command },
	{ TERN_COMMAND_DESTROY_EQ, true, 0, 0, eq_destroy_command },
	{ TERN_COMMAND_CREATE_CQ, true, sizeof(struct tern_command_create_cq), 0,
	  cq_create_command },
	{ TERN_COMMAND_MODIFY_CQ, true, sizeof(struct tern_command_create_cq), 0,
	  cq_modify_command },
	{ TERN_COMMAND_RESIZE_CQ, true, sizeof(struct tern_command_resize_cq), 0,
	  cq_resize_command },
	{ TERN_COMMAND_DESTROY_CQ, true, 0, 0, cq_destroy_command },
	{ TERN_COMMAND_CREATE_KEY, true, sizeof(struct tern_command_create_key), 0,
	  key_create_command },
	{ TERN_COMMAND_MODIFY_KEY, true, sizeof(struct tern_command_create_key), 0,
	  key_modify_command },
	{ TERN_COMMAND_DESTROY_KEY, true, 0, 0, key_destroy_command },
	{ TERN_COMMAND_CLEAR_DEVICE_MEMORY, false,
	  sizeof(struct tern_command_clear_device_memory), FEATURE(DEVICE_MEMORY),
	  device_memory_clear_command },
	{ TERN_COMMAND_KEY_INVALIDATE_PAGES, true,
	  sizeof(struct tern_command_key_invalidate_pages), FEATURE(ON_DEMAND_PAGING),
	  key_invalidate_pages_command },
	{ TERN_COMMAND_KEY_RESUME, true, sizeof(struct tern_command_key_resume),
	  FEATURE(ON_DEMAND_PAGING), key_resume_command },
	{ TERN_COMMAND_CREATE_QP, true, sizeof(struct tern_command_create_qp), 0,
	  qp_create_command },
	{ TERN_COMMAND_MODIFY_QP, true, sizeof(struct tern_command_modify_qp), 0,
	  qp_modify_command },
	{ TERN_COMMAND_QUERY_QP, true, QUERY_BYTES, 0, query_qp },
	{ TERN_COMMAND_DESTROY_QP, true, 0, 0, qp_destroy_command },
	{ TERN_COMMAND_CREATE_SRQ, true, sizeof(struct tern_command_create_srq), FEATURE(SRQ),
	  srq_create_command },
	{ TERN_COMMAND_MODIFY_SRQ, true, sizeof(struct tern_command_modify_srq), FEATURE(SRQ),
	  srq_modify_command },
	{ TERN_COMMAND_QUERY_SRQ, true, QUERY_BYTES, FEATURE(SRQ), query_srq },
	{ TERN_COMMAND_DESTROY_SRQ, true, 0, FEATURE(SRQ), srq_destroy_command },
	{ TERN_COMMAND_CREATE_COUNTER_SET, true, 0, FEATURE(COUNTER_SETS),
	  counter_set_create_command },
	{ TERN_COMMAND_DESTROY_COUNTER_SET, true, 0, FEATURE(COUNTER_SETS),
	  counter_set_destroy_command },
	{ TERN_COMMAND_BIND_COUNTER_SET, true, sizeof(struct tern_command_bind_counter_set),
	  FEATURE(COUNTER_SETS), counter_set_bind_command },
	{ TERN_COMMAND_QUERY_COUNTER_SET, true, QUERY_BYTES, FEATURE(COUNTER_SETS),
	  query_counter_set },
	{ 0, false, 0, 0, NULL },
};
