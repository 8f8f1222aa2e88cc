// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: timers, a binary heap of deadlines. */
#include <stdlib.h>

#include "nic.h"

static void put(struct timer_heap *heap, struct timer *timer, uint32_t place)
{
	heap->timers[place - 1] = timer;
	timer->place = place;
}

static struct timer *at(const struct timer_heap *heap, uint32_t place)
{
	return heap->timers[place - 1];
}

static void sift_up(struct timer_heap *heap, struct timer *timer, uint32_t place)
{
	while (place > 1 && at(heap, place / 2)->deadline > timer->deadline) {
		put(heap, at(heap, place / 2), place);
		place /= 2;
	}
	put(heap, timer, place);
}

static void sift_down(struct timer_heap *heap, struct timer *timer, uint32_t place)
{
	while (2 * place <= heap->count) {
		uint32_t child = 2 * place;

		if (child < heap->count &&
		    at(heap, child + 1)->deadline < at(heap, child)->deadline)
			child++;
		if (at(heap, child)->deadline >= timer->deadline)
			break;
		put(heap, at(heap, child), place);
		place = child;
	}
	put(heap, timer, place);
}

static void place_anew(struct timer_heap *heap, struct timer *timer, uint32_t place)
{
	if (place > 1 && at(heap, place / 2)->deadline > timer->deadline)
		sift_up(heap, timer, place);
	else
		sift_down(heap, timer, place);
}

void timer_arm(struct tern_nic *nic, struct timer *timer, uint64_t deadline)
{
	struct timer_heap *heap = &nic->timers;
	uint32_t place = timer->place;

	timer->deadline = deadline;
	if (!place)
		place = ++heap->count;
	place_anew(heap, timer, place);
}

void timer_cancel(struct tern_nic *nic, struct timer *timer)
{
	struct timer_heap *heap = &nic->timers;
	uint32_t place = timer->place;
	struct timer *last;

	if (!place)
		return;
	timer->place = 0;
	last = at(heap, heap->count--);
	if (last != timer)
		place_anew(heap, last, place);
}

bool timer_reserve(struct tern_nic *nic, unsigned int count)
{
	struct timer_heap *heap = &nic->timers;
	struct timer **timers;
	uint32_t room;

	if (heap->reserved + count > heap->room) {
		room = 2 * (heap->reserved + count);
		timers = realloc(heap->timers, room * sizeof(*timers));
		if (!timers)
			return false;
		heap->timers = timers;
		heap->room = room;
	}
	heap->reserved += count;
	return true;
}

void timer_release(struct tern_nic *nic, unsigned int count)
{
	nic->timers.reserved -= count;
}

bool timers_run(struct tern_nic *nic)
{
	struct timer_heap *heap = &nic->timers;
	bool fired = false;
	uint64_t now;

	if (!heap->count)
		return false;
	now = nic_now(nic);
	/* A timer that fires and is armed again for now or earlier waits for the next call. */
	for (uint32_t limit = heap->count; limit && heap->count; limit--) {
		struct timer *timer = at(heap, 1);

		if (timer->deadline > now)
			break;
		timer_cancel(nic, timer);
		timer->fire(nic, timer);
		fired = true;
	}
	return fired;
}

void timers_tell_host(struct tern_nic *nic)
{
	struct timer_heap *heap = &nic->timers;
	uint64_t deadline = heap->count ? at(heap, 1)->deadline : TERN_NIC_NO_DEADLINE;

	if (deadline == heap->told)
		return;
	heap->told = deadline;
	nic->ops->set_timer(nic->host, deadline);
}

void timers_free(struct tern_nic *nic)
{
	free(nic->timers.timers);
	nic->timers = (struct timer_heap){ .told = TERN_NIC_NO_DEADLINE };
}
