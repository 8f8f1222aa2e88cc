/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: counter sets: what the queue pairs that are bound to them count. See qp_count(). */
#ifndef TERN_COUNTER_SET_H
#define TERN_COUNTER_SET_H

#include "counters.h"

struct command;
struct function;

struct counter_set {
	struct rdma_counters counters;
	unsigned int users;		/* queue pairs that are bound to it */
};

/* The one that the command names; NULL with *status set when there is none. */
struct counter_set *counter_set_named(struct command *command, uint16_t *status);

uint16_t counter_set_create_command(struct command *command);
uint16_t counter_set_destroy_command(struct command *command);
uint16_t counter_set_bind_command(struct command *command);

void counter_sets_reset(struct function *fn);

#endif /* TERN_COUNTER_SET_H */
