// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the port's priorities: their commands, reset, statistics. */
#include "priorities.h"

#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "congestion_control.h"
#include "nic.h"
#include "rdma_priority.h"
#include "traffic_class.h"

#define COUNTERS	(sizeof(struct priority_counters) / sizeof(uint64_t))

const struct command_entry priority_commands[] = {
	{ TERN_COMMAND_SET_FLOW_CONTROL, false, sizeof(struct tern_command_set_flow_control),
	  FEATURE(PFC), set_flow_control_command },
	{ TERN_COMMAND_SET_PRIORITY_MAP, false, sizeof(struct tern_command_set_priority_map),
	  FEATURE(PFC), set_priority_map_command },
	{ TERN_COMMAND_SET_RECEIVE_BUFFERS, false,
	  sizeof(struct tern_command_set_receive_buffers), FEATURE(PFC),
	  set_receive_buffers_command },
	{ TERN_COMMAND_SET_TRAFFIC_CLASSES, false,
	  sizeof(struct tern_command_set_traffic_classes), FEATURE(ETS),
	  set_traffic_classes_command },
	{ 0 },
};

bool priorities_init(struct tern_nic *nic)
{
	priority_map_init(&nic->priorities.map);
	return flow_control_init(nic);
}

void priorities_reset(struct tern_nic *nic)
{
	struct port_priorities *priorities = &nic->priorities;

	priority_map_init(&priorities->map);
	receive_buffers_reset(&priorities->buffers);
	flow_control_reset(nic);
	traffic_classes_reset(nic);
	rdma_priorities_changed(nic);
	memset(priorities->counters, 0, sizeof(priorities->counters));
	priorities->tx_pause_frames = 0;
	priorities->rx_pause_frames = 0;
	priorities->rx_control_unknown = 0;
}

bool priorities_permitted(struct command *command)
{
	if (!command->fn->index)
		return true;
	command_refuse_at(command, 0, offsetof(struct tern_command, opcode));
	return false;
}

uint16_t query_priority_statistics(struct command *command)
{
	struct tern_nic *nic = command->fn->nic;
	const struct port_priorities *priorities = &nic->priorities;
	struct tern_priority_statistics answer = {
		.tx_pause_frames = to_le64(priorities->tx_pause_frames),
		.rx_pause_frames = to_le64(priorities->rx_pause_frames),
		.rx_control_unknown = to_le64(priorities->rx_control_unknown),
	};

	if (!priorities_permitted(command))
		return TERN_COMMAND_STATUS_NOT_PERMITTED;
	flow_control_settle(nic);
	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		struct priority_counters counters = priorities->counters[i];
		uint64_t values[COUNTERS];
		__le64 fields[COUNTERS];

		congestion_priority_counters(nic, (uint8_t)i, &counters.limited_queue_pairs,
					     &counters.limited_ns);
		memcpy(values, &counters, sizeof(values));
		for (size_t k = 0; k < COUNTERS; k++)
			fields[k] = to_le64(values[k]);
		memcpy(&answer.priority[i], fields, sizeof(fields));
	}
	for (unsigned int i = 0; i < TERN_RECEIVE_BUFFERS; i++)
		answer.receive_buffer_peak[i] = to_le64(priorities->buffers.buffer[i].peak);
	return command_answer(command, &answer, sizeof(answer));
}

#define NAMES(p)								\
	{									\
		"priority" #p "_tx_packets", "priority" #p "_tx_bytes",		\
		"priority" #p "_rx_packets", "priority" #p "_rx_bytes",		\
		"priority" #p "_tx_pause", "priority" #p "_tx_resume",		\
		"priority" #p "_rx_pause", "priority" #p "_tx_paused_ns",	\
		"priority" #p "_rx_paused_ns", "priority" #p "_rx_discards",	\
		"priority" #p "_storms", "priority" #p "_tx_storm_drops",	\
		"priority" #p "_limited_queue_pairs", "priority" #p "_limited_ns", \
	}

const char *priority_counter_name(unsigned int priority, unsigned int index)
{
	static const char *const names[TERN_PRIORITIES][COUNTERS] = {
		NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7),
	};

	return names[priority][index];
}
