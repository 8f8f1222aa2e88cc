// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the egress scheduler. */
#include "egress.h"

#include "mac.h"
#include "nic.h"

void egress_init(struct egress *egress)
{
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++)
		list_init(&egress->queues[i]);
	for (unsigned int i = 0; i < EGRESS_PRIORITIES; i++)
		egress->class_of[i] = 0;
	egress->nonempty = 0;
}

void egress_function_init(struct egress_function *function)
{
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++) {
		list_init(&function->queue[i].link);
		list_init(&function->queue[i].sources);
	}
}

static void enqueue(struct tern_nic *nic, struct egress_source *source)
{
	uint8_t class = nic->egress.class_of[source->priority % EGRESS_PRIORITIES];
	struct egress_queue *queue = &source->fn->egress.queue[class];

	source->traffic_class = class;
	source->state = EGRESS_ACTIVE;
	if (list_empty(&queue->sources)) {
		list_add_tail(&nic->egress.queues[class], &queue->link);
		nic->egress.nonempty |= (uint8_t)(1U << class);
	}
	if (source->ahead)
		list_add_head(&queue->sources, &source->link);
	else
		list_add_tail(&queue->sources, &source->link);
}

static void dequeue(struct tern_nic *nic, struct egress_source *source)
{
	uint8_t class = source->traffic_class;
	struct egress_queue *queue = &source->fn->egress.queue[class];

	list_remove(&source->link);
	if (!list_empty(&queue->sources))
		return;
	list_remove(&queue->link);
	if (list_empty(&nic->egress.queues[class]))
		nic->egress.nonempty &= (uint8_t)~(1U << class);
}

void egress_activate(struct tern_nic *nic, struct egress_source *source)
{
	if (source->state == EGRESS_IDLE)
		enqueue(nic, source);
	else if (source->state == EGRESS_SENDING)
		source->state = EGRESS_SENDING_AGAIN;
}

void egress_deactivate(struct tern_nic *nic, struct egress_source *source)
{
	if (source->state == EGRESS_ACTIVE)
		dequeue(nic, source);
	source->state = EGRESS_IDLE;
}

/*
 * The source whose turn it is, taken out of its queue; then its function goes
 * behind the others of its class.
 */
static struct egress_source *next_source(struct tern_nic *nic)
{
	struct egress *egress = &nic->egress;
	struct egress_source *source;
	struct egress_queue *queue;
	unsigned int class = EGRESS_CLASSES - 1;

	while (!(egress->nonempty & (1U << class)))
		class--;
	queue = list_entry(egress->queues[class].next, struct egress_queue, link);
	source = list_entry(queue->sources.next, struct egress_source, link);
	dequeue(nic, source);
	if (list_linked(&queue->link)) {
		list_remove(&queue->link);
		list_add_tail(&egress->queues[class], &queue->link);
	}
	return source;
}

unsigned int egress_run(struct tern_nic *nic, unsigned int budget)
{
	uint64_t start = mac_frames_sent(nic);
	unsigned int turns = 0, sent = 0;

	/* A turn that sent nothing (all flushed, say) counts too: the budget bounds the call. */
	while (nic->egress.nonempty && sent < budget && turns < budget && mac_ready(nic)) {
		struct egress_source *source = next_source(nic);
		bool more;

		source->state = EGRESS_SENDING;
		more = source->send(source);
		/* IDLE: deactivated inside send(). */
		if (source->state != EGRESS_IDLE) {
			if (more || source->state == EGRESS_SENDING_AGAIN)
				enqueue(nic, source);
			else
				source->state = EGRESS_IDLE;
		}
		sent = (unsigned int)(mac_frames_sent(nic) - start);
		turns++;
	}
	return sent > turns ? sent : turns;
}

bool egress_pending(struct tern_nic *nic)
{
	return nic->egress.nonempty && mac_ready(nic);
}
