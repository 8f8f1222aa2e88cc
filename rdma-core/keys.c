// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Work requests that change memory keys and carry no data. */
#include "tern.h"

static const struct tern_send_op tern_local_invalidate = {
	.opcode = TERN_WQE_LOCAL_INVALIDATE,
	.header = TERN_HEADER_SEND,
	.flags = TERN_WQE_SIGNALED | TERN_WQE_FENCE,
	.key = 1,
	.immediate = UINT32_MAX,
};

/*
 * Build @wr, of a kind that no struct tern_send_op describes, at block @slot,
 * as the @posted-th request. Returns its blocks, 0 when it is not valid.
 */
uint32_t tern_put_on_keys(struct tern_sq *sq, uint32_t slot, uint32_t posted,
			  const struct ibv_send_wr *wr)
{
	uint8_t *to = sq->ring + ((size_t)slot << TERN_WQE_BLOCK_SHIFT);
	const struct tern_send_op *op = &tern_local_invalidate;
	uint32_t flags = tern_send_flags[wr->send_flags & 15];

	if (sq->ops != tern_rc_ops || wr->opcode != IBV_WR_LOCAL_INV || wr->num_sge)
		return 0;
	sq->entries[slot].wr_id = wr->wr_id;
	sq->entries[slot].posted = posted;
	tern_set_control(to, op, (flags & op->flags) | sq->signal_all, 1, 0, 0, wr);
	return 1;
}
