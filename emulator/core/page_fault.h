/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: page faults of queue pairs. An access that finds a page absent asks the
 * host for it, once, and is made again after KEY_RESUME. Nothing of it is kept
 * but what is needed to tell a second fault from the first.
 */
#ifndef TERN_PAGE_FAULT_H
#define TERN_PAGE_FAULT_H

#include "key.h"

struct command;
struct rdma_qp;
struct wire_packet;

/* One of its requester, one of its responder. */
struct page_fault {
	uint32_t number;		/* waits for KEY_RESUME of this event; 0: does not wait */
	bool refused;			/* by the last KEY_RESUME: page will not come */
	uint8_t answers;		/* RNR NAKs while it waits */
	struct absent_page page;
};

/*
 * function.absent has just been found: does the access wait? The host is told
 * unless @fault waits already. False: it has refused this very page, so the
 * access has failed.
 */
bool page_fault_waits(struct rdma_qp *rdma, struct page_fault *fault);

/* An access was made: what was refused before is no more. */
static inline void page_fault_over(struct page_fault *fault)
{
	fault->refused = false;
	fault->answers = 0;
}

/* It waits for nothing any more; a KEY_RESUME that is to come finds no fault. */
void page_fault_forget(struct page_fault *fault);

uint16_t key_resume_command(struct command *command);

/*
 * Datagrams that wait for the page of a receive (ud_kept.c). As many as fit are
 * kept, in order; the others are dropped, as those are that find no receive.
 */
void ud_keep(struct rdma_qp *rdma, const struct wire_packet *packet);
/* Deliver them, up to the first that has to wait again. */
void ud_kept_resume(struct rdma_qp *rdma);
void ud_kept_drop(struct rdma_qp *rdma);

#endif /* TERN_PAGE_FAULT_H */
