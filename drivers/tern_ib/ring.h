/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern RDMA driver: what is posted to a kernel work queue and not completed.
 *
 * A ring of units (64-byte blocks of a send queue, entries of a receive
 * queue) and beside it what must be remembered of each work request. One side
 * posts, under the queue's lock; the other completes, under the lock of the
 * queue's CQ. head and tail are the only words that both touch.
 */
#ifndef TERN_IB_RING_H
#define TERN_IB_RING_H

#include <linux/types.h>

/**
 * struct tern_ib_posted - a work request in a ring
 * @wr_id: the consumer's cookie
 * @index: free-running index of its first unit
 * @sequence: how many work requests were posted before it
 * @units: how many it takes
 * @opcode: TERN_WQE_*, of a send queue
 */
struct tern_ib_posted {
	u64 wr_id;
	u32 index;
	u32 sequence;
	u8 units;
	u8 opcode;
};

/**
 * struct tern_ib_ring - the state of a work queue
 * @posted: work requests, at the index of their first unit
 * @mask: units - 1
 * @limit: work requests that the consumer may have outstanding
 * @head: next unit to fill, free-running; written by the poster
 * @tail: oldest unit not completed, free-running; written by the completer
 * @head_sequence: work requests posted; the poster's
 * @tail_sequence: work requests completed; written by the completer
 */
struct tern_ib_ring {
	struct tern_ib_posted *posted;
	u32 mask;
	u32 limit;
	u32 head;
	u32 tail;
	u32 head_sequence;
	u32 tail_sequence;
};

int tern_ib_ring_init(struct tern_ib_ring *ring, unsigned int shift, u32 limit);
void tern_ib_ring_destroy(struct tern_ib_ring *ring);
void tern_ib_ring_reset(struct tern_ib_ring *ring);

bool tern_ib_ring_fits(const struct tern_ib_ring *ring, u32 units);
void tern_ib_ring_post(struct tern_ib_ring *ring, u32 units, u64 wr_id, u8 opcode);
bool tern_ib_ring_complete(struct tern_ib_ring *ring, u32 index, struct tern_ib_posted *posted);
bool tern_ib_ring_oldest(const struct tern_ib_ring *ring, u32 *index);

#endif /* TERN_IB_RING_H */
