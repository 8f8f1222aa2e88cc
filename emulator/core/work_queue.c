// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: following the host's indices of send and receive queues. */
#include <errno.h>

#include "nic.h"
#include "qp.h"
#include "record.h"
#include "work_queue.h"

/* A queue that was not rung or moved for so long goes to sleep by itself while others are busy. */
#define IDLE_NS		50000

static bool has_record(const struct work_queue *wq)
{
	return function_has(wq->fn, FEATURE(DOORBELL_RECORDS));
}

static int broken(struct work_queue *wq, int error)
{
	if (wq->qp)
		function_log(wq->fn, "QP %u: %s %s", wq->qp->qpn, wq->is_send ? "SQ" : "RQ",
			     error == -EFAULT ? "record cannot be read" :
						"index outside the ring");
	wq->broken = error;
	return error;
}

int work_queue_poll(struct work_queue *wq)
{
	uint32_t index = wq->doorbell_index;

	if (wq->broken)
		return wq->broken;
	/* Without bus mastering nothing is to be had and nothing is wrong. */
	if (!wq->fn->bus_master || !wq->fn->enabled)
		return 0;
	if (has_record(wq) && guest_load32(wq->fn, wq->record + RECORD_INDEX, &index))
		return broken(wq, -EFAULT);
	if (index == wq->producer)
		return 0;
	/* Neither back nor further than the ring's size from what is not completed. */
	if (index - wq->completed > work_queue_size(wq) ||
	    index - wq->completed < wq->producer - wq->completed) {
		wq->fn->device.index_errors++;
		return broken(wq, -EINVAL);
	}
	wq->producer = index;
	return 1;
}

static void store_ring(struct work_queue *wq, uint32_t ring)
{
	/* A record that cannot be written cannot be read either: the next poll reports that. */
	if (has_record(wq))
		guest_store32(wq->fn, wq->record + RECORD_RING, ring);
}

/* What the host adds goes behind requests that wait, so no doorbell is of use. */
static bool has_work(const struct work_queue *wq)
{
	return wq->is_send && has_record(wq) && work_queue_posted(wq);
}

static void activate(struct work_queue *wq)
{
	struct tern_nic *nic = wq->fn->nic;

	wq->idle_since = nic_now(nic);
	if (list_linked(&wq->active))
		return;
	store_ring(wq, 0);
	list_add_tail(&nic->active_queues, &wq->active);
	nic->active_count++;
}

static void deactivate(struct work_queue *wq)
{
	if (!list_linked(&wq->active))
		return;
	list_remove(&wq->active);
	wq->fn->nic->active_count--;
}

void work_queue_take(struct work_queue *wq, uint32_t entries)
{
	wq->next += entries;
	if (wq->watched && wq->next == wq->producer)
		activate(wq);
}

void work_queue_watch(struct work_queue *wq)
{
	if (!wq->exists || wq->broken)
		return;
	wq->watched = true;
	wq->look_again = true;
	activate(wq);
}

void work_queue_forget(struct work_queue *wq)
{
	wq->watched = false;
	deactivate(wq);
}

void work_queue_unwatch(struct work_queue *wq)
{
	/* A receive queue that is read when needed wants no doorbells. */
	if (wq->watched && !wq->is_send)
		store_ring(wq, 0);
	work_queue_forget(wq);
}

void work_queue_reset(struct work_queue *wq)
{
	work_queue_unwatch(wq);
	wq->producer = 0;
	wq->next = 0;
	wq->completed = 0;
	wq->doorbell_index = 0;
	wq->broken = 0;
}

void work_queue_enabled(struct work_queue *wq)
{
	if (!wq->watched)
		return;
	wq->look_again = true;
	activate(wq);
}

void work_queue_doorbell(struct work_queue *wq, uint32_t index)
{
	wq->doorbell_index = index;
	if (wq->watched)
		activate(wq);
}

/* Look at an active queue; did it move (or has it to be looked at for the first time)? */
static bool look(struct work_queue *wq)
{
	int moved = work_queue_poll(wq);

	if (moved < 0) {
		work_queue_forget(wq);
		wq->qp->ops->fail(wq->qp, TERN_EVENT_QP_FATAL);
		return true;
	}
	if (!moved && !wq->look_again)
		return false;
	wq->look_again = false;
	wq->idle_since = nic_now(wq->fn->nic);
	wq->qp->ops->posted(wq->qp, wq);
	return true;
}

bool work_queues_run(struct tern_nic *nic)
{
	uint64_t now;
	bool any = false;

	if (!nic->active_count)
		return false;
	now = nic_now(nic);
	/* What look() calls may take any queue out of the list, so no link is held over it. */
	for (unsigned int left = nic->active_count; left && nic->active_count; left--) {
		struct work_queue *wq = list_entry(nic->active_queues.next, struct work_queue,
						   active);

		list_remove(&wq->active);
		list_add_tail(&nic->active_queues, &wq->active);
		if (look(wq)) {
			any = true;
			continue;
		}
		if (now - wq->idle_since < IDLE_NS && has_record(wq))
			continue;
		if (has_work(wq)) {
			deactivate(wq);
			continue;
		}
		store_ring(wq, 1);
		/* Pairs with the host's between storing its index and loading ring. */
		full_fence();
		wq->fn->device.ring_requests++;
		if (has_record(wq) && look(wq))
			store_ring(wq, 0);
		else
			deactivate(wq);
	}
	return any;
}

/*
 * Ask for a doorbell on all active queues that have no work, with one fence.
 * False when work turned up.
 */
bool work_queues_sleep(struct tern_nic *nic)
{
	struct list *link, *following;

	if (!nic->active_count)
		return true;
	list_for_each_safe(link, following, &nic->active_queues) {
		struct work_queue *wq = list_entry(link, struct work_queue, active);

		if (has_work(wq)) {
			deactivate(wq);
			continue;
		}
		store_ring(wq, 1);
		wq->fn->device.ring_requests++;
	}
	/* Pairs with the host's between storing its index and loading ring. */
	full_fence();
	/* Each once: one that moved is not to be taken for asleep at a second look. */
	for (unsigned int left = nic->active_count; left && nic->active_count; left--) {
		struct work_queue *wq = list_entry(nic->active_queues.next, struct work_queue,
						   active);

		list_remove(&wq->active);
		list_add_tail(&nic->active_queues, &wq->active);
		if (look(wq))
			store_ring(wq, 0);
		else
			deactivate(wq);
	}
	return !nic->active_count;
}
