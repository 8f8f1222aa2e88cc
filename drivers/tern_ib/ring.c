// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: the arithmetic of kernel work queues. Pure logic. */
#include <linux/slab.h>

#include "ring.h"

int tern_ib_ring_init(struct tern_ib_ring *ring, unsigned int shift, u32 limit)
{
	ring->posted = kvcalloc(1UL << shift, sizeof(*ring->posted), GFP_KERNEL);
	if (!ring->posted)
		return -ENOMEM;
	ring->mask = (1U << shift) - 1;
	ring->limit = limit;
	tern_ib_ring_reset(ring);
	return 0;
}

void tern_ib_ring_destroy(struct tern_ib_ring *ring)
{
	kvfree(ring->posted);
	ring->posted = NULL;
}

/* Only while nobody posts or completes. */
void tern_ib_ring_reset(struct tern_ib_ring *ring)
{
	ring->head = 0;
	ring->tail = 0;
	ring->head_sequence = 0;
	ring->tail_sequence = 0;
}

/**
 * tern_ib_ring_fits() - is there room for a work request?
 * @ring: the ring
 * @units: units that it takes
 *
 * Return: false when the queue is full, or the consumer at its limit
 */
bool tern_ib_ring_fits(const struct tern_ib_ring *ring, u32 units)
{
	/* What is to be overwritten was read before; pairs with the release in complete. */
	u32 tail = smp_load_acquire(&ring->tail);

	return ring->head - tail + units <= ring->mask + 1 &&
	       ring->head_sequence - READ_ONCE(ring->tail_sequence) < ring->limit;
}

/* Only what fits. The caller tells the device afterwards. */
void tern_ib_ring_post(struct tern_ib_ring *ring, u32 units, u64 wr_id, u8 opcode)
{
	struct tern_ib_posted *posted = &ring->posted[ring->head & ring->mask];

	posted->wr_id = wr_id;
	posted->index = ring->head;
	posted->sequence = ring->head_sequence++;
	posted->units = units;
	posted->opcode = opcode;
	/* The entry before head; pairs with the acquire in oldest and complete. */
	smp_store_release(&ring->head, ring->head + units);
}

/**
 * tern_ib_ring_oldest() - the oldest work request that is not completed
 * @ring: the ring
 * @index: set to its index
 *
 * Return: false when there is none
 */
bool tern_ib_ring_oldest(const struct tern_ib_ring *ring, u32 *index)
{
	/* Pairs with the release in post. */
	if (smp_load_acquire(&ring->head) == ring->tail)
		return false;
	*index = ring->tail;
	return true;
}

/**
 * tern_ib_ring_complete() - retire a work request and all before it
 * @ring: the ring
 * @index: where it is, as the device says; only the bits that address the ring count
 * @posted: set to what was remembered of it
 *
 * Return: false when no outstanding work request starts there: the device lies
 */
bool tern_ib_ring_complete(struct tern_ib_ring *ring, u32 index, struct tern_ib_posted *posted)
{
	/* Pairs with the release in post. */
	u32 used = smp_load_acquire(&ring->head) - ring->tail;
	u32 distance = (index - ring->tail) & ring->mask;

	if (distance >= used)
		return false;
	*posted = ring->posted[index & ring->mask];
	if (posted->index != ring->tail + distance)
		return false;
	WRITE_ONCE(ring->tail_sequence, posted->sequence + 1);
	/* The entry was read before it may be overwritten; pairs with the acquire in fits. */
	smp_store_release(&ring->tail, posted->index + posted->units);
	return true;
}
