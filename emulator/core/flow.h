/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: flows of a function: which queue pair gets a frame before the filters are asked. */
#ifndef TERN_FLOW_H
#define TERN_FLOW_H

#include "capabilities.h"
#include "flow_match.h"

struct command;
struct function;
struct parsed_frame;
struct qp;
struct tern_frame;

/*
 * So many flows may copy frames that others get too, or one frame would keep
 * the engine, and the NIC's other functions, for long.
 */
#define FLOW_COPIES_MAX		64

struct flow {
	uint32_t number;
	uint8_t flags;			/* TERN_FLOW_DROP... */
	uint16_t priority;
	struct qp *qp;
	struct flow_pattern pattern;
};

/* In the order in which they are asked. */
struct flow_list {
	unsigned int count;
	struct flow *flows[FLOW_COUNT];
};

/* Part of struct ethernet_function. */
struct flow_table {
	struct flow_list normal, defaults, multicast_defaults, sniffers;
	unsigned int copies;		/* flows that copy */
};

/* A frame that came in, or goes out. */
struct flow_frame {
	const struct tern_frame *frame;
	const uint8_t *headers;		/* its first bytes... */
	size_t available;		/* ...so many */
	const struct parsed_frame *parsed;
};

enum flow_verdict {
	FLOW_NONE,			/* no flow takes it; some may have got a copy */
	FLOW_TAKEN,
	FLOW_DROPPED,
};

/* Give a frame to the flows of type NORMAL that it matches. */
enum flow_verdict flow_steer(struct function *fn, const struct flow_frame *frame);
/* Give a frame that nobody takes to a default flow. */
enum flow_verdict flow_default(struct function *fn, const struct flow_frame *frame);
/* Copies for the sniffers. */
void flow_sniff(struct function *fn, const struct flow_frame *frame);

/* @qp is destroyed. */
void flow_forget(struct qp *qp);

uint16_t add_flow_command(struct command *command);
uint16_t remove_flow_command(struct command *command);

#endif /* TERN_FLOW_H */
