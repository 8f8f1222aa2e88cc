/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: flow control: priority flow control (IEEE 802.1Qbb) and PAUSE (802.3 annex
 * 31B), both ways, and the watchdog of a peer that pauses without end.
 */
#ifndef TERN_FLOW_CONTROL_H
#define TERN_FLOW_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_hw_priority.h"
#include "timer.h"

struct command;
struct tern_frame;
struct tern_nic;

struct flow_control {
	/* As SET_FLOW_CONTROL gave it. */
	uint8_t pfc;
	uint8_t flags;			/* TERN_FLOW_CONTROL_* */
	uint8_t storm_action;		/* TERN_STORM_* */
	uint64_t storm_limit_ns, storm_restore_ns;
	/* What the peer's pauses do; bits are priorities. */
	uint8_t paused;			/* by the last pause, until... */
	uint8_t storms;
	uint64_t until[TERN_PRIORITIES];
	uint64_t since[TERN_PRIORITIES];	/* without a gap */
	uint64_t last[TERN_PRIORITIES];		/* when a pause was received */
	uint64_t storm_since[TERN_PRIORITIES];
	uint64_t ended[TERN_PRIORITIES];	/* when it could send again; 0: it never waited */
	/* What ours do. */
	uint8_t stopped;		/* priorities that the peer was told not to send */
	bool all_stopped;		/* the same by PAUSE */
	bool filled;			/* a buffer's fill is to be looked at: inside a call */
	uint64_t stopped_since[TERN_PRIORITIES];
	uint64_t refresh;		/* when they are told again */
	struct timer timer;
};

/* False without memory. */
bool flow_control_init(struct tern_nic *nic);
/* What holds after the PF's reset: none. */
void flow_control_reset(struct tern_nic *nic);

/* Its ethertype, behind a tag, too, is that of MAC control. */
bool flow_control_is(const struct tern_frame *frame);
/* Such a frame came, of which @available first bytes are at @bytes. */
void flow_control_receive(struct tern_nic *nic, const uint8_t *bytes, size_t available);
/* A receive buffer's fill or thresholds changed. */
void flow_control_filled(struct tern_nic *nic);
void flow_control_carrier(struct tern_nic *nic);

/* tx_paused_ns of @priority, now. */
uint64_t flow_control_paused_ns(struct tern_nic *nic, uint8_t priority);
/* Put the time of what is paused now into the counters. */
void flow_control_settle(struct tern_nic *nic);

uint16_t set_flow_control_command(struct command *command);

#endif /* TERN_FLOW_CONTROL_H */
