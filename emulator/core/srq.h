/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: shared receive queues. Entries are taken in order and complete in any
 * order: queue.completed only counts, and bounds what may be outstanding. The
 * queue is never watched: it is looked at when an entry is needed.
 */
#ifndef TERN_SRQ_H
#define TERN_SRQ_H

#include "key.h"
#include "list.h"
#include "tern_hw_srq.h"
#include "work_queue.h"

struct command;
struct cq;

struct srq {
	struct function *fn;
	uint32_t srqn;
	uint32_t doorbell_page;
	struct work_queue queue;
	struct key_user local;		/* for the SGEs of its entries */
	uint32_t limit;			/* event when fewer entries are posted; 0: none */
	bool failed;			/* SRQ_ERROR was sent */
	unsigned int users;		/* queue pairs */
	/* Of XRC. */
	uint32_t xrcd;			/* its domain; 0: it is none of XRC */
	struct cq *cq;			/* where its entries complete, or NULL */
	struct list targets;		/* queue pairs whose message has an entry of it, or had */
};

struct srq *srq_find(const struct function *fn, uint32_t srqn);

/* Is there an entry to take? 1, 0, or -1 when the queue has failed. */
int srq_ready(struct srq *srq);
/* An entry is taken; the limit event may follow. */
void srq_take(struct srq *srq);
/* Its memory or record cannot be read: SRQ_ERROR, once. */
void srq_fail(struct srq *srq);

uint16_t srq_create_command(struct command *command);
uint16_t srq_modify_command(struct command *command);
uint16_t srq_query_command(struct command *command);
uint16_t srq_destroy_command(struct command *command);

/* xrc.c: it goes. What its targets had taken is gone with it. */
void xrc_srq_gone(struct srq *srq);

/* For doorbell.c and nic.c */
void srq_doorbell(struct function *fn, unsigned int page, uint32_t number, uint32_t index);
void srqs_reset(struct function *fn);

#endif /* TERN_SRQ_H */
