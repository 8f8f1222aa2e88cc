// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ATOMIC_WRITE and FLUSH of RC queue pairs. */
#include <errno.h>

#include "placement.h"

/* The value is inline whatever inline data the queue pair was made for: a block has room for it. */
static const struct tern_send_op tern_atomic_write = {
	.opcode = TERN_WQE_ATOMIC_WRITE,
	.header = TERN_HEADER_REMOTE,
	.flags = TERN_WQE_SIGNALED | TERN_WQE_FENCE,
};

static const struct tern_send_op tern_flush = {
	.opcode = TERN_WQE_FLUSH,
	.header = TERN_HEADER_REMOTE,
	.flags = TERN_WQE_SIGNALED | TERN_WQE_FENCE,
	.key = 1,
	.immediate = UINT32_MAX,
};

static_assert(TERN_HEADER_REMOTE + TERN_ATOMIC_WRITE_BYTES <= TERN_WQE_BLOCK, "one block");
static_assert((int)TERN_FLUSH_GLOBAL == IBV_FLUSH_GLOBAL &&
	      (int)TERN_FLUSH_PERSISTENT == IBV_FLUSH_PERSISTENT, "places of data");

uint64_t tern_placement_ops(uint64_t features)
{
	return (features >> TERN_FEATURE_ATOMIC_WRITE & 1 ? IBV_QP_EX_WITH_ATOMIC_WRITE : 0) |
	       (features >> TERN_FEATURE_FLUSH & 1 ? IBV_QP_EX_WITH_FLUSH : 0);
}

int tern_set_flush(struct ibv_send_wr *wr, struct tern_placement *placement, size_t length,
		   uint8_t type, uint8_t level)
{
	if (!type || type & ~(IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT))
		return EINVAL;
	wr->invalidate_rkey = type;
	placement->length = 0;
	if (level == IBV_FLUSH_MR) {
		wr->invalidate_rkey |= TERN_FLUSH_REGION;
		return 0;
	}
	if (level != IBV_FLUSH_RANGE || length > UINT32_MAX)
		return EINVAL;
	placement->length = length;
	return 0;
}

/* Build @wr at block @slot, as the @posted-th request. Returns its blocks, 0: not valid. */
uint32_t tern_put_placement(struct tern_sq *sq, uint32_t slot, uint32_t posted,
			    const struct ibv_send_wr *wr, const struct tern_placement *placement)
{
	uint8_t *to = sq->ring + ((size_t)slot << TERN_WQE_BLOCK_SHIFT);
	struct tern_wqe_remote *remote = (void *)(to + TERN_HEADER_SEND);
	bool flush = wr->opcode == IBV_WR_FLUSH;
	const struct tern_send_op *op = flush ? &tern_flush : &tern_atomic_write;
	uint32_t flags = (tern_send_flags[wr->send_flags & 15] & op->flags) | sq->signal_all;

	if (sq->ops != tern_rc_ops)
		return 0;
	sq->entries[slot].wr_id = wr->wr_id;
	sq->entries[slot].posted = posted;
	tern_set_remote(remote, wr);
	if (flush) {
		tern_set_control(to, op, flags, 1, 0, 0, wr);
		remote->length = htole32(placement->length);
	} else {
		tern_set_control(to, op, flags | TERN_WQE_INLINE, 1, 0, TERN_ATOMIC_WRITE_BYTES,
				 wr);
		memcpy(to + TERN_HEADER_REMOTE, placement->value, TERN_ATOMIC_WRITE_BYTES);
	}
	return 1;
}
