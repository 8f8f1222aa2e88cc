// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: work requests of kernel consumers. */
#include "convert.h"
#include "internal.h"
#include "verbs.h"

/* In ERR what is posted completes as flushed; in the others IBTA 10.3.1 forbids it. */
static bool tern_ib_may_send(const struct tern_ib_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE ||
	       qp->state == IB_QPS_ERR;
}

static bool tern_ib_may_receive(const struct tern_ib_qp *qp)
{
	lockdep_assert_held(&qp->rq.lock);
	return qp->state != IB_QPS_RESET;
}

static void *tern_ib_unit(const struct tern_ib_work_queue *queue, u32 index)
{
	size_t unit = index & queue->ring.mask;

	return tern_buffer_at(&queue->buffer, unit << queue->unit_shift);
}

/* A work request may wrap around the ring's end. */
static void tern_ib_copy_blocks(const struct tern_ib_work_queue *sq, u32 index,
				const struct tern_ib_wqe *wqe, unsigned int blocks)
{
	const void *from = wqe;
	unsigned int i;

	for (i = 0; i < blocks; i++, from += TERN_WQE_BLOCK)
		memcpy(tern_ib_unit(sq, index + i), from, TERN_WQE_BLOCK);
}

static bool tern_ib_on_keys(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_REG_MR || wr->opcode == IB_WR_LOCAL_INV;
}

static int tern_ib_encode_on_keys(struct tern_ib_qp *qp, const struct ib_send_wr *wr)
{
	struct tern_wqe_register segment;
	int err;

	if (wr->opcode == IB_WR_LOCAL_INV)
		return tern_ib_encode_local_invalidate(qp->signal_all, wr, &qp->wqe);
	err = tern_ib_fast_segment(reg_wr(wr), &segment);
	if (err)
		return err;
	return tern_ib_encode_register(qp->signal_all, wr, &segment, &qp->wqe);
}

static int tern_ib_post_one_send(struct tern_ib_qp *qp, const struct ib_send_wr *wr)
{
	const struct tern_address_vector *address = NULL;
	struct tern_ib_ring *ring = &qp->sq.ring;
	int blocks;

	if (!qp->has_sq)
		return -EINVAL;
	if (!tern_ib_connected(qp->ib.qp_type)) {
		if (!ud_wr(wr)->ah)
			return -EINVAL;
		address = &to_tern_ah(ud_wr(wr)->ah)->address;
	}
	if (qp->ib.qp_type == IB_QPT_RC && tern_ib_on_keys(wr))
		blocks = tern_ib_encode_on_keys(qp, wr);
	else
		blocks = tern_ib_encode_send(qp->ib.qp_type, &qp->cap, qp->signal_all, wr, address,
					     &qp->wqe);
	if (blocks < 0)
		return blocks;
	if (!tern_ib_ring_fits(ring, blocks))
		return -ENOMEM;
	tern_ib_copy_blocks(&qp->sq, ring->head, &qp->wqe, blocks);
	tern_ib_ring_post(ring, blocks, wr->wr_id, qp->wqe.control.opcode);
	if (wr->opcode == IB_WR_REG_MR)
		tern_ib_fast_posted(reg_wr(wr));
	return 0;
}

static int tern_ib_post_one_recv(struct tern_ib_qp *qp, const struct ib_recv_wr *wr)
{
	struct tern_ib_ring *ring = &qp->rq.ring;
	int err;

	if (!qp->has_rq)
		return -EINVAL;
	if (!tern_ib_ring_fits(ring, 1))
		return -ENOMEM;
	err = tern_ib_encode_receive(qp->cap.max_recv_sge, wr, 0,
				     tern_ib_unit(&qp->rq, ring->head));
	if (err)
		return err;
	tern_ib_ring_post(ring, 1, wr->wr_id, 0);
	return 0;
}

/* Of what is posted to a dead device the consumer hears too. */
static void tern_ib_wake_if_dead(const struct tern_device *tern, struct ib_cq *ibcq)
{
	if (unlikely(tern_is_dead(tern)))
		tern_ib_cq_wake(to_tern_cq(ibcq));
}

int tern_ib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad_wr)
{
	struct tern_device *tern = to_tern_ib(ibqp->device)->tern;
	struct tern_ib_qp *qp = to_tern_qp(ibqp);
	unsigned long flags;
	u32 before;
	int err = 0;

	spin_lock_irqsave(&qp->sq.lock, flags);
	before = qp->sq.ring.head;
	if (!tern_ib_may_send(qp))
		err = -EINVAL;
	for (; wr && !err; wr = wr->next) {
		err = tern_ib_post_one_send(qp, wr);
		if (err)
			break;
	}
	if (qp->sq.ring.head != before)
		tern_publish(tern, qp->sq.record.cpu, TERN_DOORBELL_SEND, qp->number,
			     qp->sq.ring.head);
	spin_unlock_irqrestore(&qp->sq.lock, flags);

	if (err)
		*bad_wr = wr;
	tern_ib_wake_if_dead(tern, ibqp->send_cq);
	return err;
}

int tern_ib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	struct tern_device *tern = to_tern_ib(ibqp->device)->tern;
	struct tern_ib_qp *qp = to_tern_qp(ibqp);
	unsigned long flags;
	u32 before;
	int err = 0;

	spin_lock_irqsave(&qp->rq.lock, flags);
	before = qp->rq.ring.head;
	if (!tern_ib_may_receive(qp))
		err = -EINVAL;
	for (; wr && !err; wr = wr->next) {
		err = tern_ib_post_one_recv(qp, wr);
		if (err)
			break;
	}
	if (qp->rq.ring.head != before)
		tern_publish(tern, qp->rq.record.cpu, TERN_DOORBELL_RECEIVE, qp->number,
			     qp->rq.ring.head);
	spin_unlock_irqrestore(&qp->rq.lock, flags);

	if (err)
		*bad_wr = wr;
	tern_ib_wake_if_dead(tern, ibqp->recv_cq);
	return err;
}
