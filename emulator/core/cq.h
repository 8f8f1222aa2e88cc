/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: completion queues. */
#ifndef TERN_CQ_H
#define TERN_CQ_H

#include "eq.h"
#include "list.h"
#include "memory.h"
#include "tern_hw_cqe.h"
#include "timer.h"

struct command;
struct tern_nic;

struct cq {
	struct function *fn;
	uint32_t cqn;
	struct eq *eq;
	uint32_t doorbell_page;
	struct page_list pages;
	struct page_cursor cursor;
	uint64_t record;
	uint8_t shift;
	uint32_t producer;
	uint32_t consumer;		/* as last read */
	unsigned int users;		/* queue pairs: two for one that uses it on both sides */
	uint8_t error;			/* TERN_CQ_ERROR_*: takes no more entries */
	bool event_kept;		/* its COMPLETION waits in the EQ's backlog */
	struct list failed;		/* in nic->failed_cqs until its QPs are in ERROR */

	/* Arming */
	uint32_t arm;			/* arm word that came by doorbell */
	uint32_t served;		/* arm word of the last event */
	struct list written;		/* in nic->written_cqs: look at the arm word */
	uint32_t written_count;		/* entries since the last look... */
	bool written_solicited;		/* ...one of them solicited or an error */
	bool solicited_once;		/* for arming by doorbell: there was such an entry... */
	uint32_t last_solicited;	/* ...and this index comes after the last one */

	/* Moderation: an event that is due but waits for more completions or for the timer */
	uint16_t moderation_count;
	uint16_t moderation_period;
	uint32_t held_arm;		/* arm word it will serve; 0: no event is held */
	uint32_t held_count;
	struct timer timer;
};

/*
 * Write an entry: phase is set here, reserved fields and, unless already set,
 * the timestamp too. @solicited: TERN_ARM_SOLICITED takes it (errors count as
 * solicited by themselves). False when the CQ is in error or overruns; then its
 * QPs go to ERROR by qp_ops.fail, not from inside this call. The event follows
 * when the core call ends.
 */
bool cq_post(struct cq *cq, struct tern_cqe *cqe, bool solicited);

uint16_t cq_create_command(struct command *command);
uint16_t cq_modify_command(struct command *command);
uint16_t cq_resize_command(struct command *command);
uint16_t cq_destroy_command(struct command *command);
void cq_arm_doorbell(struct function *fn, unsigned int page, uint32_t number, uint32_t arm);

/* For nic.c: events for armed CQs, then interrupts; QPs of failed CQs. */
void events_flush(struct tern_nic *nic);
bool cqs_fail_qps(struct tern_nic *nic);
void cqs_reset(struct function *fn);

#endif /* TERN_CQ_H */
