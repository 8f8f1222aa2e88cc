// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory windows, and work requests that change memory keys and carry no data. */
#include <errno.h>
#include <stdlib.h>

#include "tern.h"

#define TERN_WINDOW_RIGHTS							\
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |			\
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

static_assert((int)TERN_ACCESS_REMOTE_WRITE == IBV_ACCESS_REMOTE_WRITE &&
	      (int)TERN_ACCESS_REMOTE_READ == IBV_ACCESS_REMOTE_READ &&
	      (int)TERN_ACCESS_REMOTE_ATOMIC == IBV_ACCESS_REMOTE_ATOMIC &&
	      (int)TERN_ACCESS_ZERO_BASED == IBV_ACCESS_ZERO_BASED, "rights of windows");

static const struct tern_send_op tern_local_invalidate = {
	.opcode = TERN_WQE_LOCAL_INVALIDATE,
	.header = TERN_HEADER_SEND,
	.flags = TERN_WQE_SIGNALED | TERN_WQE_FENCE,
	.key = 1,
	.immediate = UINT32_MAX,
};

static const struct tern_send_op tern_bind_window = {
	.opcode = TERN_WQE_BIND_WINDOW,
	.header = TERN_HEADER_SEND + sizeof(struct tern_wqe_bind),
	.flags = TERN_WQE_SIGNALED | TERN_WQE_FENCE,
};

static_assert(TERN_HEADER_SEND + sizeof(struct tern_wqe_bind) <= TERN_WQE_BLOCK, "one block");

/* False: rights that no window has. LOCAL_WRITE, which goes without saying, may be given. */
static bool tern_set_bind(struct tern_wqe_bind *segment, uint32_t key,
			  const struct ibv_mw_bind_info *info)
{
	if (info->mw_access_flags & ~(unsigned int)(TERN_WINDOW_RIGHTS | IBV_ACCESS_LOCAL_WRITE))
		return false;
	segment->address = htole64(info->addr);
	segment->length = htole64(info->length);
	segment->window = htole32(key);
	segment->region = htole32(info->mr ? info->mr->lkey : 0);
	segment->access = htole32(info->mw_access_flags & TERN_WINDOW_RIGHTS);
	segment->reserved0 = 0;
	return true;
}

/*
 * Build @wr, of a kind that no struct tern_send_op of a queue pair describes,
 * at block @slot, as the @posted-th request. Returns its blocks, 0 when it is
 * not valid.
 */
uint32_t tern_put_on_keys(struct tern_sq *sq, uint32_t slot, uint32_t posted,
			  const struct ibv_send_wr *wr)
{
	uint8_t *to = sq->ring + ((size_t)slot << TERN_WQE_BLOCK_SHIFT);
	uint32_t flags = tern_send_flags[wr->send_flags & 15];
	const struct tern_send_op *op;

	if ((sq->ops != tern_rc_ops && sq->ops != tern_xrc_ops) || wr->num_sge)
		return 0;
	switch (wr->opcode) {
	case IBV_WR_LOCAL_INV:
		op = &tern_local_invalidate;
		break;
	case IBV_WR_BIND_MW:
		/* The windows that an initiator has are nobody's to write to. */
		if (sq->ops == tern_xrc_ops)
			return 0;
		op = &tern_bind_window;
		if (!tern_set_bind((void *)(to + TERN_HEADER_SEND), wr->bind_mw.rkey,
				   &wr->bind_mw.bind_info))
			return 0;
		break;
	default:
		return 0;
	}
	sq->entries[slot].wr_id = wr->wr_id;
	sq->entries[slot].posted = posted;
	tern_set_control(to, op, (flags & op->flags) | sq->signal_all, 1, 0, 0, wr);
	return 1;
}

struct ibv_mw *tern_alloc_mw(struct ibv_pd *ibpd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd;
	struct ibv_mw *mw;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	if (ibv_cmd_alloc_mw(ibpd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp))) {
		free(mw);
		return NULL;
	}
	return mw;
}

int tern_dealloc_mw(struct ibv_mw *mw)
{
	int ret;

	ret = ibv_cmd_dealloc_mw(mw);
	if (ret)
		return ret;
	free(mw);
	return 0;
}

/* Type 1: its key changes with each binding (IBTA 10.6.7.2.2). */
int tern_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = bind->bind_info,
		},
	}, *bad_wr;
	int ret;

	ret = tern_post_send(ibqp, &wr, &bad_wr);
	if (ret)
		return ret;
	mw->rkey = wr.bind_mw.rkey;
	return 0;
}
