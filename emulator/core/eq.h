/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: event queues. Events go into guest memory at once; whether an
 * interrupt follows is looked at once per core call (events_flush() of cq.h).
 * A CQ's events go to its EQ, all others to EQN 0.
 */
#ifndef TERN_EQ_H
#define TERN_EQ_H

#include "list.h"
#include "memory.h"
#include "tern_hw_event.h"
#include "timer.h"

struct command;
struct tern_nic;

struct kept_event {
	uint32_t number;
	uint8_t type, subtype;
	uint64_t data[2];		/* of a PAGE_FAULT, as fault is */
	uint32_t fault;
};

struct eq {
	struct function *fn;
	uint32_t eqn;
	uint32_t vector;
	struct page_list pages;
	struct page_cursor cursor;
	uint64_t record;
	uint8_t shift;
	uint32_t producer;
	uint32_t consumer;		/* as last read */
	uint32_t arm;			/* arm word that came by doorbell */
	uint32_t served;		/* arm word of the last interrupt */
	unsigned int users;		/* CQs */
	bool dead;			/* its memory could not be written */
	struct list written;		/* in nic->written_eqs: look at the arm word */
	/* Events that found it full; they follow as the host makes room. */
	struct timer retry;
	struct kept_event *backlog;
	uint32_t backlog_count, backlog_room;
};

/* Post an event to EQ @eq (@subtype and data: as tern_hw_event.h says). */
void eq_post(struct eq *eq, uint8_t type, uint8_t subtype, uint32_t number);
/* The same of an event with data. */
void eq_post_event(struct eq *eq, const struct kept_event *event);
/* Post to EQN 0 of @fn; counted as lost when there is none. */
void function_event(struct function *fn, uint8_t type, uint8_t subtype, uint32_t number);
void function_post_event(struct function *fn, const struct kept_event *event);

uint16_t eq_create_command(struct command *command);
uint16_t eq_destroy_command(struct command *command);
void eq_arm_doorbell(struct function *fn, uint32_t number, uint32_t arm);

/* For cq.c and function_reset() */
void eq_forget_cq(struct eq *eq, uint32_t cqn);		/* its events that still wait for room */
void eqs_flush(struct tern_nic *nic);		/* interrupts of the EQs that were written */
void eqs_enabled(struct function *fn);		/* bus mastering is back */
void eqs_reset(struct function *fn);

#endif /* TERN_EQ_H */
