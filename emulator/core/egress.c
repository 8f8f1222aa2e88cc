// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the egress scheduler. */
#include "egress.h"

#include "ingress.h"
#include "mac.h"
#include "nic.h"

/* served counts bytes times this for a class with all the bandwidth. */
#define SHARE_SCALE		UINT64_C(64)
/* Before it wraps. */
#define SERVED_MAX		(UINT64_C(1) << 60)

static void rate_fire(struct tern_nic *nic, struct timer *timer)
{
	(void)timer;
	egress_run(nic, EGRESS_BURST);
}

bool egress_init(struct tern_nic *nic)
{
	struct egress *egress = &nic->egress;

	for (unsigned int i = 0; i < EGRESS_CLASSES; i++)
		list_init(&egress->queues[i]);
	for (unsigned int i = 0; i < EGRESS_PRIORITIES; i++)
		list_init(&egress->parked[i]);
	list_init(&egress->fresh);
	egress->strict = (1U << EGRESS_CLASSES) - 1;
	timer_init(&egress->timer, rate_fire);
	return timer_reserve(nic, 1);
}

void egress_function_init(struct egress_function *function)
{
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++) {
		list_init(&function->queue[i].link);
		list_init(&function->queue[i].sources);
	}
}

/* Which of egress->virtual counts for an ETS class. */
static unsigned int tier(const struct egress *egress, unsigned int class)
{
	return egress->shared & 1U << class ? 0 : 1;
}

/* A class that had nothing to send saved nothing up. */
static void class_begins(struct egress *egress, unsigned int class)
{
	uint64_t now = egress->virtual[tier(egress, class)];

	egress->nonempty |= (uint8_t)(1U << class);
	if (egress->served[class] < now)
		egress->served[class] = now;
}

static void enqueue(struct tern_nic *nic, struct egress_source *source)
{
	uint8_t class = nic->egress.class_of[source->priority % EGRESS_PRIORITIES];
	struct egress_queue *queue = &source->fn->egress.queue[class];

	source->traffic_class = class;
	source->state = EGRESS_ACTIVE;
	if (list_empty(&queue->sources)) {
		list_add_tail(&nic->egress.queues[class], &queue->link);
		class_begins(&nic->egress, class);
	}
	if (source->ahead)
		list_add_head(&queue->sources, &source->link);
	else
		list_add_tail(&queue->sources, &source->link);
}

static void dequeue(struct tern_nic *nic, struct egress_source *source)
{
	uint8_t class = source->traffic_class;
	struct egress_queue *queue;

	list_remove(&source->link);
	if (class == EGRESS_FRESH)
		return;
	queue = &source->fn->egress.queue[class];
	if (!list_empty(&queue->sources))
		return;
	list_remove(&queue->link);
	if (list_empty(&nic->egress.queues[class]))
		nic->egress.nonempty &= (uint8_t)~(1U << class);
}

/* The same of one that was not asked since it was idle. */
static void enqueue_fresh(struct tern_nic *nic, struct egress_source *source)
{
	if (!source->varies || !nic->egress.several) {
		enqueue(nic, source);
		return;
	}
	source->traffic_class = EGRESS_FRESH;
	source->state = EGRESS_ACTIVE;
	list_add_tail(&nic->egress.fresh, &source->link);
}

static void park(struct tern_nic *nic, struct egress_source *source)
{
	source->state = EGRESS_PARKED;
	list_add_tail(&nic->egress.parked[source->priority % EGRESS_PRIORITIES], &source->link);
}

void egress_activate(struct tern_nic *nic, struct egress_source *source)
{
	if (source->state == EGRESS_PARKED) {
		list_remove(&source->link);
		enqueue(nic, source);
	} else if (source->state == EGRESS_IDLE) {
		enqueue_fresh(nic, source);
	} else if (source->state == EGRESS_SENDING) {
		source->state = EGRESS_SENDING_AGAIN;
	}
}

void egress_deactivate(struct tern_nic *nic, struct egress_source *source)
{
	if (source->state == EGRESS_ACTIVE)
		dequeue(nic, source);
	else if (source->state == EGRESS_PARKED)
		list_remove(&source->link);
	source->state = EGRESS_IDLE;
}

void egress_set_priority(struct tern_nic *nic, struct egress_source *source, uint8_t priority)
{
	bool queued = source->state == EGRESS_ACTIVE || source->state == EGRESS_PARKED;

	if (source->priority == priority)
		return;
	if (queued)
		egress_deactivate(nic, source);
	source->priority = priority;
	if (queued)
		egress_activate(nic, source);
}

static void unpark(struct tern_nic *nic, uint8_t priorities)
{
	for (unsigned int i = 0; i < EGRESS_PRIORITIES; i++) {
		struct list *link;

		while ((priorities & 1U << i) && (link = list_pop(&nic->egress.parked[i])))
			enqueue(nic, list_entry(link, struct egress_source, link));
	}
}

void egress_pause(struct tern_nic *nic, uint8_t priorities)
{
	uint8_t resumed = nic->egress.paused & (uint8_t)~priorities;

	nic->egress.paused = priorities;
	if (resumed)
		unpark(nic, resumed);
}

void egress_look_again(struct tern_nic *nic)
{
	struct list all, *link;

	list_init(&all);
	for (unsigned int class = 0; class < EGRESS_CLASSES; class++) {
		struct list *ring = &nic->egress.queues[class];

		while (!list_empty(ring)) {
			struct egress_queue *queue = list_entry(ring->next, struct egress_queue,
								link);
			struct egress_source *source = list_entry(queue->sources.next,
								  struct egress_source, link);

			dequeue(nic, source);
			list_add_tail(&all, &source->link);
		}
	}
	while ((link = list_pop(&nic->egress.fresh)))
		list_add_tail(&all, link);
	while ((link = list_pop(&all)))
		enqueue_fresh(nic, list_entry(link, struct egress_source, link));
	unpark(nic, (1U << EGRESS_PRIORITIES) - 1);
}

bool egress_ready(struct tern_nic *nic, const struct egress_source *source)
{
	const struct egress *egress = &nic->egress;

	if (!mac_ready(nic))
		return false;
	return !(egress->limited & 1U << source->traffic_class) ||
	       pacer_ready(&egress->rate[source->traffic_class], nic_now(nic));
}

bool egress_admits(struct tern_nic *nic, struct egress_source *source, uint8_t priority,
		   const uint8_t *destination)
{
	const struct egress *egress = &nic->egress;

	if (egress->class_of[priority] == source->traffic_class &&
	    !(egress->paused & 1U << priority))
		return true;
	source->priority = priority;
	/* It moves to its class, and is asked there. */
	if (egress->class_of[priority] != source->traffic_class)
		return false;
	if (ingress_is_local(nic, destination))
		return true;
	source->held = true;
	return false;
}

void egress_rate(struct tern_nic *nic, uint8_t priority, size_t bytes)
{
	struct egress *egress = &nic->egress;
	unsigned int class = egress->class_of[priority % EGRESS_PRIORITIES];

	if (egress->limited & 1U << class)
		pacer_take(&egress->rate[class], nic_now(nic), bytes);
}

void egress_share(struct tern_nic *nic, uint8_t priority, size_t bytes)
{
	struct egress *egress = &nic->egress;
	unsigned int class = egress->class_of[priority % EGRESS_PRIORITIES];
	uint64_t bandwidth = egress->bandwidth[class] ? egress->bandwidth[class] : 100;

	if (!(egress->strict & 1U << class))
		egress->served[class] += bytes * 100 * SHARE_SCALE / bandwidth;
}

/* Those that have something to send and may. Comes back when one more of them may. */
static uint8_t ready_classes(struct tern_nic *nic)
{
	struct egress *egress = &nic->egress;
	uint8_t classes = egress->nonempty, limited = classes & egress->limited;
	uint64_t due = UINT64_MAX;

	for (unsigned int i = 0; limited; i++, limited >>= 1) {
		if (!(limited & 1) || pacer_ready(&egress->rate[i], nic_now(nic)))
			continue;
		classes &= (uint8_t)~(1U << i);
		if (egress->rate[i].busy_until < due)
			due = egress->rate[i].busy_until;
	}
	if (due != UINT64_MAX)
		timer_arm(nic, &egress->timer, due);
	return classes;
}

static void rebase(struct egress *egress, unsigned int of)
{
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++) {
		if (tier(egress, i) == of)
			egress->served[i] -= egress->served[i] < egress->virtual[of] ?
					     egress->served[i] : egress->virtual[of];
	}
	egress->virtual[of] = 0;
}

static unsigned int choose(struct egress *egress, uint8_t classes)
{
	unsigned int best = EGRESS_CLASSES, of;

	if (classes & egress->strict) {
		for (best--; !(classes & egress->strict & 1U << best);)
			best--;
		return best;
	}
	if (classes & egress->shared)
		classes &= egress->shared;
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++) {
		if ((classes & 1U << i) &&
		    (best == EGRESS_CLASSES || egress->served[i] < egress->served[best]))
			best = i;
	}
	of = tier(egress, best);
	/* One that its rate held back has not saved up what the others took. */
	if (egress->served[best] < egress->virtual[of])
		egress->served[best] = egress->virtual[of];
	egress->virtual[of] = egress->served[best];
	if (egress->virtual[of] > SERVED_MAX)
		rebase(egress, of);
	return best;
}

/*
 * The source whose turn it is, taken out of its queue; then its function goes
 * behind the others of its class. NULL: no class may send.
 */
static struct egress_source *next_source(struct tern_nic *nic)
{
	struct egress *egress = &nic->egress;
	struct egress_source *source;
	struct egress_queue *queue;
	unsigned int class;
	uint8_t classes;

	if (!list_empty(&egress->fresh))
		return list_entry(list_pop(&egress->fresh), struct egress_source, link);
	classes = ready_classes(nic);
	if (!classes)
		return NULL;
	class = choose(egress, classes);
	queue = list_entry(egress->queues[class].next, struct egress_queue, link);
	source = list_entry(queue->sources.next, struct egress_source, link);
	dequeue(nic, source);
	if (list_linked(&queue->link)) {
		list_remove(&queue->link);
		list_add_tail(&egress->queues[class], &queue->link);
	}
	return source;
}

static bool anyone(const struct egress *egress)
{
	return egress->nonempty || !list_empty(&egress->fresh);
}

unsigned int egress_run(struct tern_nic *nic, unsigned int budget)
{
	uint64_t start = mac_frames_sent(nic);
	unsigned int turns = 0, sent = 0;

	/* A turn that sent nothing (all flushed, say) counts too: the budget bounds the call. */
	while (anyone(&nic->egress) && sent < budget && turns < budget && mac_ready(nic)) {
		struct egress_source *source = next_source(nic);
		bool more;

		if (!source) {
			mac_idle(nic);
			break;
		}
		source->state = EGRESS_SENDING;
		source->held = false;
		more = source->send(source);
		/* IDLE: deactivated inside send(). */
		if (source->state != EGRESS_IDLE) {
			if (source->held && source->state == EGRESS_SENDING &&
			    (nic->egress.paused & 1U << source->priority))
				park(nic, source);
			else if (more || source->state == EGRESS_SENDING_AGAIN)
				enqueue(nic, source);
			else
				source->state = EGRESS_IDLE;
		}
		sent = (unsigned int)(mac_frames_sent(nic) - start);
		turns++;
	}
	/* Later ones will not have waited for the wire. */
	if (!anyone(&nic->egress))
		mac_idle(nic);
	return sent > turns ? sent : turns;
}

bool egress_pending(struct tern_nic *nic)
{
	return anyone(&nic->egress) && mac_ready(nic) &&
	       (!list_empty(&nic->egress.fresh) || ready_classes(nic));
}
