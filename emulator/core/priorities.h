/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: what the port keeps of its priorities. Part of struct tern_nic. */
#ifndef TERN_PRIORITIES_H
#define TERN_PRIORITIES_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "flow_control.h"
#include "priority_map.h"
#include "receive_buffer.h"
#include "tern_hw_priority.h"

struct command;
struct tern_nic;

/* The contract's, in its order. */
struct priority_counters {
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_pause;
	uint64_t tx_resume;
	uint64_t rx_pause;
	uint64_t tx_paused_ns;
	uint64_t rx_paused_ns;
	uint64_t rx_discards;
	uint64_t storms;
	uint64_t tx_storm_drops;
	uint64_t limited_queue_pairs;
	uint64_t limited_ns;
};

static_assert(sizeof(struct priority_counters) == sizeof(struct tern_priority_counters),
	      "priority counters");

struct port_priorities {
	struct priority_map map;
	struct flow_control flow;
	struct receive_buffers buffers;
	struct priority_counters counters[TERN_PRIORITIES];
	uint64_t tx_pause_frames, rx_pause_frames, rx_control_unknown;
};

/* False without memory. The MAC must be there. */
bool priorities_init(struct tern_nic *nic);
/* The PF is reset. */
void priorities_reset(struct tern_nic *nic);

/* The command is the PF's; else its handler returns TERN_COMMAND_STATUS_NOT_PERMITTED. */
bool priorities_permitted(struct command *command);
uint16_t query_priority_statistics(struct command *command);

/* Names "priority3_tx_pause"; @index: of the counter in struct priority_counters. */
const char *priority_counter_name(unsigned int priority, unsigned int index);

#endif /* TERN_PRIORITIES_H */
