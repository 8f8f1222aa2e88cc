/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: congestion control (hw-spec, "congestion"): what the port keeps for
 * each priority, and what each queue pair keeps.
 *
 *   congestion_control.c	SET_CONGESTION_CONTROL, the port's state
 *   notification_point.c	packets with CE -> CNPs
 *   reaction_point.c		CNPs -> a queue pair's rate; its packets wait
 *   dcqcn.c			the rate
 */
#ifndef TERN_CONGESTION_CONTROL_H
#define TERN_CONGESTION_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "dcqcn.h"
#include "egress.h"
#include "list.h"

struct command;
struct rdma_qp;
struct reaction;
struct tern_nic;

struct congestion_priority {
	bool notifies;
	uint8_t cnp_priority, cnp_dscp;
	uint64_t cnp_interval_ns;
	bool port_speed;		/* is the highest rate */
	struct dcqcn_parameters parameters;
	struct list limited;		/* reaction.link */
	/* Of struct priority_counters, limited_ns is what those that are gone had. */
	uint64_t limited_count, limited_since;	/* how many are; the sum of since when */
};

/* Part of struct rdma_nic. */
struct congestion_control {
	uint8_t reacts;			/* bit p: priority p's reaction point is on */
	struct congestion_priority priorities[EGRESS_PRIORITIES];
};

/* Part of struct rdma_qp. */
struct congestion_qp {
	struct reaction *reaction;	/* NULL: it is not limited */
	uint64_t cnp_sent;		/* when the last CNP left; 0: none has */
	uint32_t cnps;			/* that are to be sent */
	uint8_t cnp_dscp;		/* of those */
	struct egress_source source;	/* of CNPs */
};

void congestion_init(struct congestion_control *control);
/* The PF was reset. */
void congestion_reset(struct tern_nic *nic);

/* Whose parameters hold for @rdma, which sends and is sent marked packets. */
uint8_t congestion_priority_of(const struct rdma_qp *rdma);

struct congestion_priority *congestion_of(struct tern_nic *nic, uint8_t priority);
/* What holds for the next step of a queue pair's rate. */
const struct dcqcn_parameters *congestion_parameters(struct tern_nic *nic, uint8_t priority);

/* limited_queue_pairs and limited_ns of struct tern_priority_counters, now. */
void congestion_priority_counters(struct tern_nic *nic, uint8_t priority, uint64_t *queue_pairs,
				  uint64_t *ns);

uint16_t set_congestion_control_command(struct command *command);

#endif /* TERN_CONGESTION_CONTROL_H */
