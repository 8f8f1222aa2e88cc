// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Posting, polling, arming: what makes no system call. */
#include <errno.h>

#include "cqe.h"
#include "raw_packet.h"
#include "xrc.h"

#define TERN_RELIABLE_FLAGS	(TERN_WQE_SIGNALED | TERN_WQE_FENCE)

/* All but the requests on keys, which are built apart. */
#define TERN_RELIABLE_OPS(srqn_mask)						\
	[IBV_WR_RDMA_WRITE] = {							\
		.opcode = TERN_WQE_WRITE,					\
		.header = TERN_HEADER_REMOTE,					\
		.flags = TERN_RELIABLE_FLAGS | TERN_WQE_INLINE,			\
		.srqn = (srqn_mask),						\
	},									\
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {					\
		.opcode = TERN_WQE_WRITE_IMMEDIATE,				\
		.header = TERN_HEADER_REMOTE,					\
		.flags = TERN_RELIABLE_FLAGS | TERN_WQE_SOLICITED | TERN_WQE_INLINE,	\
		.immediate = UINT32_MAX,					\
		.srqn = (srqn_mask),						\
	},									\
	[IBV_WR_SEND] = {							\
		.opcode = TERN_WQE_SEND,					\
		.header = TERN_HEADER_SEND,					\
		.flags = TERN_RELIABLE_FLAGS | TERN_WQE_SOLICITED | TERN_WQE_INLINE,	\
		.srqn = (srqn_mask),						\
	},									\
	[IBV_WR_SEND_WITH_IMM] = {						\
		.opcode = TERN_WQE_SEND_IMMEDIATE,				\
		.header = TERN_HEADER_SEND,					\
		.flags = TERN_RELIABLE_FLAGS | TERN_WQE_SOLICITED | TERN_WQE_INLINE,	\
		.immediate = UINT32_MAX,					\
		.srqn = (srqn_mask),						\
	},									\
	[IBV_WR_SEND_WITH_INV] = {						\
		.opcode = TERN_WQE_SEND_INVALIDATE,				\
		.header = TERN_HEADER_SEND,					\
		.flags = TERN_RELIABLE_FLAGS | TERN_WQE_SOLICITED | TERN_WQE_INLINE,	\
		.key = 1,							\
		.immediate = UINT32_MAX,					\
		.srqn = (srqn_mask),						\
	},									\
	[IBV_WR_RDMA_READ] = {							\
		.opcode = TERN_WQE_READ,					\
		.header = TERN_HEADER_REMOTE,					\
		.flags = TERN_RELIABLE_FLAGS,					\
		.srqn = (srqn_mask),						\
	},									\
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {						\
		.opcode = TERN_WQE_CAS,						\
		.header = TERN_HEADER_ATOMIC,					\
		.flags = TERN_RELIABLE_FLAGS,					\
		.srqn = (srqn_mask),						\
	},									\
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {					\
		.opcode = TERN_WQE_FETCH_ADD,					\
		.header = TERN_HEADER_ATOMIC,					\
		.flags = TERN_RELIABLE_FLAGS,					\
		.srqn = (srqn_mask),						\
	}

const struct tern_send_op tern_rc_ops[TERN_SEND_OPS] = {
	TERN_RELIABLE_OPS(0)
};

const struct tern_send_op tern_xrc_ops[TERN_SEND_OPS] = {
	TERN_RELIABLE_OPS(UINT32_MAX)
};

/* Without answers: no data come back, so there is nothing that a fence waits for either. */
const struct tern_send_op tern_uc_ops[TERN_SEND_OPS] = {
	[IBV_WR_RDMA_WRITE] = {
		.opcode = TERN_WQE_WRITE,
		.header = TERN_HEADER_REMOTE,
		.flags = TERN_WQE_SIGNALED | TERN_WQE_INLINE,
	},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {
		.opcode = TERN_WQE_WRITE_IMMEDIATE,
		.header = TERN_HEADER_REMOTE,
		.flags = TERN_WQE_SIGNALED | TERN_WQE_SOLICITED | TERN_WQE_INLINE,
		.immediate = UINT32_MAX,
	},
	[IBV_WR_SEND] = {
		.opcode = TERN_WQE_SEND,
		.header = TERN_HEADER_SEND,
		.flags = TERN_WQE_SIGNALED | TERN_WQE_SOLICITED | TERN_WQE_INLINE,
	},
	[IBV_WR_SEND_WITH_IMM] = {
		.opcode = TERN_WQE_SEND_IMMEDIATE,
		.header = TERN_HEADER_SEND,
		.flags = TERN_WQE_SIGNALED | TERN_WQE_SOLICITED | TERN_WQE_INLINE,
		.immediate = UINT32_MAX,
	},
};

const struct tern_send_op tern_ud_ops[TERN_SEND_OPS] = {
	[IBV_WR_SEND] = {
		.opcode = TERN_WQE_SEND,
		.header = TERN_HEADER_UD,
		.flags = TERN_WQE_SIGNALED | TERN_WQE_SOLICITED | TERN_WQE_INLINE,
	},
	[IBV_WR_SEND_WITH_IMM] = {
		.opcode = TERN_WQE_SEND_IMMEDIATE,
		.header = TERN_HEADER_UD,
		.flags = TERN_WQE_SIGNALED | TERN_WQE_SOLICITED | TERN_WQE_INLINE,
		.immediate = UINT32_MAX,
	},
};

const struct tern_send_op tern_raw_ops[TERN_SEND_OPS] = {
	[IBV_WR_SEND] = {
		.opcode = TERN_WQE_ETHERNET,
		.header = TERN_HEADER_ETHERNET,
		.flags = TERN_WQE_SIGNALED | TERN_WQE_INLINE,
	},
};

static_assert(TERN_HEADER_ETHERNET == TERN_HEADER_REMOTE, "tern_build_send() tells them apart");

#define FLAGS(f)							\
	(((f) & IBV_SEND_FENCE ? TERN_WQE_FENCE : 0) |			\
	 ((f) & IBV_SEND_SIGNALED ? TERN_WQE_SIGNALED : 0) |		\
	 ((f) & IBV_SEND_SOLICITED ? TERN_WQE_SOLICITED : 0) |		\
	 ((f) & IBV_SEND_INLINE ? TERN_WQE_INLINE : 0))

const uint8_t tern_send_flags[16] = {
	FLAGS(0), FLAGS(1), FLAGS(2), FLAGS(3), FLAGS(4), FLAGS(5), FLAGS(6), FLAGS(7),
	FLAGS(8), FLAGS(9), FLAGS(10), FLAGS(11), FLAGS(12), FLAGS(13), FLAGS(14), FLAGS(15),
};

const uint8_t tern_wc_opcodes[16] = {
	[TERN_WQE_SEND] = IBV_WC_SEND,
	[TERN_WQE_SEND_IMMEDIATE] = IBV_WC_SEND,
	[TERN_WQE_SEND_INVALIDATE] = IBV_WC_SEND,
	[TERN_WQE_WRITE] = IBV_WC_RDMA_WRITE,
	[TERN_WQE_WRITE_IMMEDIATE] = IBV_WC_RDMA_WRITE,
	[TERN_WQE_READ] = IBV_WC_RDMA_READ,
	[TERN_WQE_CAS] = IBV_WC_COMP_SWAP,
	[TERN_WQE_FETCH_ADD] = IBV_WC_FETCH_ADD,
	[TERN_WQE_ATOMIC_WRITE] = IBV_WC_ATOMIC_WRITE,
	[TERN_WQE_FLUSH] = IBV_WC_FLUSH,
	[TERN_WQE_LOCAL_INVALIDATE] = IBV_WC_LOCAL_INV,
	[TERN_WQE_BIND_WINDOW] = IBV_WC_BIND_MW,
};

/*
 * A request that wraps around the ring's end is built aside. Apart, so that
 * the usual case needs no room on the stack.
 */
static __attribute__((noinline)) void
tern_put_wrapped(struct tern_sq *sq, uint32_t slot, const struct tern_send_op *op,
		 uint32_t flags, uint32_t blocks, uint32_t length, const struct ibv_send_wr *wr)
{
	uint8_t built[TERN_WQE_BYTES_MAX];

	tern_build_send(built, op, flags, blocks, length, wr);
	tern_wrap_send(sq->ring, sq->mask + 1, slot, built, blocks);
}

/*
 * Build @wr into the ring at block @slot, as the @posted-th request. Returns
 * its blocks, 0 when it is not valid.
 */
static inline __attribute__((always_inline)) uint32_t
tern_put_send(struct tern_sq *sq, uint32_t slot, uint32_t posted, const struct ibv_send_wr *wr)
{
	struct tern_send_entry *entry = &sq->entries[slot];
	uint32_t flags, blocks, length = 0;
	const struct tern_send_op *op;

	if (unlikely(wr->opcode >= TERN_SEND_OPS))
		return 0;
	op = &sq->ops[wr->opcode];
	if (unlikely(!op->header))
		return tern_put_on_keys(sq, slot, posted, wr);
	if (unlikely((uint32_t)wr->num_sge > sq->sge_max))
		return 0;
	/* With one SGE an atomic is no larger than any other request; it needs no more. */
	if (unlikely(op->header == TERN_HEADER_ATOMIC && wr->num_sge > 1))
		return 0;
	/* A checksum that was asked for is not to be left out. */
	if (unlikely(op->opcode == TERN_WQE_ETHERNET && wr->send_flags & IBV_SEND_IP_CSUM))
		return 0;

	flags = tern_send_flags[wr->send_flags & 15];
	if (flags & TERN_WQE_INLINE) {
		uint64_t total = tern_inline_length(wr);

		if (unlikely(!(op->flags & TERN_WQE_INLINE) || total > sq->inline_max))
			return 0;
		length = total;
		blocks = tern_wqe_blocks(op->header + length);
	} else {
		blocks = tern_wqe_blocks(op->header +
					 (uint32_t)wr->num_sge * sizeof(struct tern_sge));
	}
	flags = (flags & op->flags) | sq->signal_all;

	entry->wr_id = wr->wr_id;
	entry->posted = posted;
	if (likely(slot + blocks <= sq->mask + 1))
		tern_build_send(sq->ring + ((size_t)slot << TERN_WQE_BLOCK_SHIFT), op, flags,
				blocks, length, wr);
	else
		tern_put_wrapped(sq, slot, op, flags, blocks, length, wr);
	return blocks;
}

/* As the posting of a list does it, for one request at a time. */
bool tern_sq_has_room(const struct tern_sq *sq, uint32_t posted)
{
	/* Pairs with the poller's release: it has read the entry that is reused here. */
	return posted - atomic_load_explicit(&sq->completed, memory_order_acquire) <
	       sq->request_max;
}

uint32_t tern_put_one(struct tern_sq *sq, uint32_t slot, uint32_t posted,
		      const struct ibv_send_wr *wr)
{
	return tern_put_send(sq, slot, posted, wr);
}

void tern_publish_sends(struct tern_qp *qp, uint32_t producer, uint32_t posted)
{
	struct tern_sq *sq = &qp->sq;

	if (posted == sq->posted)
		return;
	sq->producer = producer;
	sq->posted = posted;
	tern_publish(sq->record, sq->wants_ring, qp->doorbell_send, qp->qpn, producer);
}

int tern_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct tern_sq *sq = &qp->sq;
	uint32_t producer, posted, blocks;
	int ret = 0;

	if (unlikely(ibqp->state < IBV_QPS_RTS)) {
		*bad_wr = wr;
		return EINVAL;
	}

	tern_lock(&sq->lock);
	producer = sq->producer;
	posted = sq->posted;
	for (; wr; wr = wr->next) {
		/* Pairs with the poller's release: it has read the entry that is reused here. */
		if (unlikely(posted - atomic_load_explicit(&sq->completed, memory_order_acquire) >=
			     sq->request_max)) {
			ret = ENOMEM;
			*bad_wr = wr;
			break;
		}
		blocks = tern_put_send(sq, producer & sq->mask, posted + 1, wr);
		if (unlikely(!blocks)) {
			ret = EINVAL;
			*bad_wr = wr;
			break;
		}
		producer += blocks;
		posted++;
	}
	if (likely(posted != sq->posted)) {
		sq->producer = producer;
		sq->posted = posted;
		tern_publish(sq->record, sq->wants_ring, qp->doorbell_send, qp->qpn, producer);
	}
	tern_unlock(&sq->lock);

	return ret;
}

static inline __attribute__((always_inline)) int
tern_post_receives(struct tern_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct tern_rq *rq = &qp->rq;
	uint32_t producer, slot;
	int ret = 0;

	tern_lock(&rq->lock);
	producer = rq->producer;
	for (; wr; wr = wr->next) {
		if (unlikely(rq->producer - atomic_load_explicit(&rq->completed,
								 memory_order_acquire) >=
			     rq->request_max)) {
			ret = ENOMEM;
			*bad_wr = wr;
			break;
		}
		if (unlikely((uint32_t)wr->num_sge > rq->sge_max)) {
			ret = EINVAL;
			*bad_wr = wr;
			break;
		}
		slot = rq->producer & rq->mask;
		tern_build_receive(rq->ring + ((size_t)slot << rq->stride_shift), wr);
		rq->wr_ids[slot] = wr->wr_id;
		rq->producer++;
	}
	if (likely(rq->producer != producer))
		tern_publish(rq->record, rq->wants_ring, qp->doorbell_receive, qp->qpn,
			     rq->producer);
	tern_unlock(&rq->lock);

	return ret;
}

int tern_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	if (unlikely(ibqp->state == IBV_QPS_RESET)) {
		*bad_wr = wr;
		return EINVAL;
	}
	return tern_post_receives(to_tern_qp(ibqp), wr, bad_wr);
}

int tern_post_wq_recv(struct ibv_wq *ibwq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	if (unlikely(ibwq->state == IBV_WQS_RESET)) {
		*bad_wr = wr;
		return EINVAL;
	}
	return tern_post_receives(&to_tern_wq(ibwq)->qp, wr, bad_wr);
}

/* Find the request that @cqe completes and free its place. False: no such queue pair. */
static inline bool tern_complete(struct tern_cq *cq, const struct tern_cqe *cqe,
				 struct ibv_wc *wc)
{
	uint32_t index = le32toh(cqe->index);
	struct tern_qp *qp = tern_find_qp(cq->qps, le32toh(cqe->queue));

	/* A target of XRC may be nobody's here, or have had the number of one of ours. */
	if (unlikely(!qp || cqe->flags & TERN_CQE_FLAG_XRC))
		return tern_xrc_complete(cq, cqe, &wc->wr_id);

	if (tern_cqe_is_receive(cqe)) {
		struct tern_rq *rq = &qp->rq;

		if (qp->srq)
			return tern_srq_complete(qp->srq, index, &wc->wr_id);

		wc->wr_id = rq->wr_ids[index & rq->mask];
		atomic_store_explicit(&rq->completed,
				      atomic_load_explicit(&rq->completed,
							   memory_order_relaxed) + 1,
				      memory_order_release);
	} else {
		struct tern_sq *sq = &qp->sq;
		const struct tern_send_entry *entry = &sq->entries[index & sq->mask];

		/* It covers the unsignaled requests before it. */
		wc->wr_id = entry->wr_id;
		atomic_store_explicit(&sq->completed, entry->posted, memory_order_release);
	}
	return true;
}

bool tern_complete_one(struct tern_cq *cq, const struct tern_cqe *cqe, uint64_t *wr_id)
{
	struct ibv_wc wc;

	if (!tern_complete(cq, cqe, &wc))
		return false;
	*wr_id = wc.wr_id;
	return true;
}

int tern_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	int polled;

	tern_lock(&cq->lock);
	for (polled = 0; polled < count; polled++, wc++) {
		struct tern_cqe *cqe = (struct tern_cqe *)cq->ring +
				       (cq->consumer & (cq->size - 1));

		if (!tern_phase_matches(tern_record_load(&cqe->phase), cq->consumer, cq->size))
			break;
		/* Pairs with the device's release of phase: the rest of the entry is there. */
		udma_from_device_barrier();

		if (unlikely(!tern_complete(cq, cqe, wc))) {
			/* No queue pair of ours: the device is broken. Say so once per entry. */
			if (!polled) {
				cq->consumer++;
				polled = -1;
			}
			break;
		}
		tern_cqe_to_wc(cqe, wc);
		cq->consumer++;
	}
	if (polled)
		tern_record_store(&cq->record->index, cq->consumer);
	tern_unlock(&cq->lock);

	return polled;
}

int tern_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct tern_context *ctx = to_tern_context(ibcq->context);
	struct tern_cq *cq = to_tern_cq(ibcq);
	uint32_t mode = solicited_only ? TERN_ARM_SOLICITED : TERN_ARM_NEXT;

	tern_lock(&cq->arm_lock);
	/*
	 * A request for the next completion that has not been answered stands
	 * when one for a solicited completion follows (IBTA 11.4.2.2).
	 */
	if (solicited_only && cq->armed_at_events == cq->events &&
	    (cq->arm & TERN_ARM_MODE) == TERN_ARM_NEXT)
		mode = TERN_ARM_NEXT;
	cq->armed_at_events = cq->events;
	cq->arm = ((cq->arm & TERN_ARM_SEQUENCE) + (1U << TERN_ARM_SEQUENCE_SHIFT)) | mode;
	tern_record_store(&cq->record->arm, cq->arm);
	/*
	 * Pairs with the device's fence between writing an entry and reading
	 * the arm word: either it sees the arming, or the caller, who polls
	 * once more now, sees the entry.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (!ctx->records)
		tern_ring(ctx->doorbell + TERN_DOORBELL_CQ_ARM, cq->cqn, cq->arm);
	tern_unlock(&cq->arm_lock);

	return 0;
}
