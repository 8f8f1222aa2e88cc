// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: completions of kernel consumers, polled, armed and cleaned up. */
#include "cqe.h"
#include "internal.h"
#include "verbs.h"

static struct tern_cqe *tern_ib_cqe_at(const struct tern_ib_cq *cq, u32 index)
{
	u32 slot = index & ((1U << cq->shift) - 1);

	return tern_buffer_at(&cq->buffer, slot * sizeof(struct tern_cqe));
}

/* The entry at @index, once the device has written it, or NULL. */
static struct tern_cqe *tern_ib_cqe_ready(const struct tern_ib_cq *cq, u32 index)
{
	struct tern_cqe *cqe = tern_ib_cqe_at(cq, index);

	if (!tern_ib_cqe_valid(le32_to_cpu(READ_ONCE(cqe->phase)), index, cq->shift))
		return NULL;
	/* The phase before the rest; pairs with the device's release store of it. */
	dma_rmb();
	return cqe;
}

static bool tern_ib_take_cqe(struct tern_ib_cq *cq, const struct tern_cqe *in, struct ib_wc *wc)
{
	bool receiver = tern_ib_cqe_of_receiver(in);
	struct tern_ib_posted posted;
	struct tern_ib_qp *qp;

	qp = xa_load(&cq->qps, le32_to_cpu(in->queue));
	if (!qp || (receiver ? qp->ib.recv_cq : qp->ib.send_cq) != &cq->ib)
		return false;
	if (receiver && qp->ib.srq) {
		if (!tern_ib_srq_complete(to_tern_srq(qp->ib.srq), le32_to_cpu(in->index),
					  &posted.wr_id))
			return false;
	} else if (receiver ? !qp->has_rq : !qp->has_sq) {
		return false;
	} else if (!tern_ib_ring_complete(receiver ? &qp->rq.ring : &qp->sq.ring,
				   le32_to_cpu(in->index), &posted)) {
		return false;
	}
	tern_ib_decode_cqe(in, &posted, wc);
	wc->qp = &qp->ib;
	return true;
}

/* Completions that a dead device does not write any more. */
static bool tern_ib_flush_one(struct tern_ib_cq *cq, struct ib_wc *wc)
{
	struct tern_ib_posted posted;
	struct tern_ib_qp *qp;
	unsigned long qpn;
	u32 index;

	xa_for_each(&cq->qps, qpn, qp) {
		struct tern_ib_ring *ring = NULL;

		if (qp->has_sq && qp->ib.send_cq == &cq->ib &&
		    tern_ib_ring_oldest(&qp->sq.ring, &index))
			ring = &qp->sq.ring;
		else if (qp->has_rq && qp->ib.recv_cq == &cq->ib &&
			 tern_ib_ring_oldest(&qp->rq.ring, &index))
			ring = &qp->rq.ring;
		if (!ring || !tern_ib_ring_complete(ring, index, &posted))
			continue;
		tern_ib_flushed_wc(&posted, wc);
		wc->qp = &qp->ib;
		return true;
	}
	return false;
}

int tern_ib_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc)
{
	struct tern_device *tern = to_tern_ib(ibcq->device)->tern;
	struct tern_ib_cq *cq = to_tern_cq(ibcq);
	const struct tern_cqe *cqe;
	u32 consumer, budget;
	unsigned long flags;
	int polled = 0;

	spin_lock_irqsave(&cq->lock, flags);
	consumer = cq->consumer;
	/* Entries of no known work give nothing; a device that writes only these is left. */
	budget = count + (1U << cq->shift);
	while (polled < count && budget--) {
		cqe = tern_ib_cqe_ready(cq, cq->consumer);
		if (!cqe)
			break;
		cq->consumer++;
		if (tern_ib_take_cqe(cq, cqe, wc + polled))
			polled++;
		else
			ibdev_warn_ratelimited(ibcq->device,
					       "CQ %#x: entry for unknown work of QP %#x\n",
					       cq->cqn, le32_to_cpu(cqe->queue));
	}
	if (cq->consumer != consumer)
		tern_consume(cq->record.cpu, cq->consumer);
	if (unlikely(tern_is_dead(tern)))
		while (polled < count && tern_ib_flush_one(cq, wc + polled))
			polled++;
	spin_unlock_irqrestore(&cq->lock, flags);
	return polled;
}

int tern_ib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct tern_device *tern = to_tern_ib(ibcq->device)->tern;
	bool next = (flags & IB_CQ_SOLICITED_MASK) != IB_CQ_SOLICITED;
	struct tern_ib_cq *cq = to_tern_cq(ibcq);
	unsigned long irq;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq);
	/* Who waits for any completion is not put off to a solicited one. */
	if (next || !READ_ONCE(cq->armed_next)) {
		WRITE_ONCE(cq->armed_next, next);
		tern_arm(tern, cq->record.cpu, TERN_DOORBELL_CQ_ARM, cq->cqn,
			 next ? TERN_ARM_NEXT : TERN_ARM_SOLICITED, ++cq->sequence);
	}
	if (flags & IB_CQ_REPORT_MISSED_EVENTS && tern_ib_cqe_ready(cq, cq->consumer))
		missed = 1;
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}

/* Let the consumer look; of a dead device, whose events do not come. Any context. */
void tern_ib_cq_wake(struct tern_ib_cq *cq)
{
	/* Of a CQ that the core allocated, for a consumer that polls by itself. */
	if (cq->ib.wc && cq->ib.poll_ctx == IB_POLL_DIRECT)
		return;
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/* Poll finds the queue pair by number from now on. */
int tern_ib_cq_add_qp(struct tern_ib_cq *cq, struct tern_ib_qp *qp)
{
	return xa_err(xa_store_irq(&cq->qps, qp->number, qp, GFP_KERNEL));
}

/* The consumer gets no completion, and its shared queue the entry back. */
static void tern_ib_drop_cqe(const struct tern_cqe *cqe, struct tern_ib_qp *qp)
{
	u64 wr_id;

	if (qp->ib.srq && tern_ib_cqe_of_receiver(cqe))
		tern_ib_srq_complete(to_tern_srq(qp->ib.srq), le32_to_cpu(cqe->index), &wr_id);
}

/*
 * Take the completions of a queue pair out: what follows moves up, each entry
 * into a place whose phase says that it is valid already.
 */
static void tern_ib_cq_clean(struct tern_ib_cq *cq, struct tern_ib_qp *qp)
{
	u32 producer = cq->consumer;
	u32 removed = 0;
	u32 index;

	lockdep_assert_held(&cq->lock);
	while (producer - cq->consumer < 1U << cq->shift && tern_ib_cqe_ready(cq, producer))
		producer++;

	for (index = producer; index != cq->consumer; index--) {
		struct tern_cqe *cqe = tern_ib_cqe_at(cq, index - 1);

		if (le32_to_cpu(cqe->queue) == qp->number) {
			tern_ib_drop_cqe(cqe, qp);
			removed++;
		} else if (removed) {
			struct tern_cqe *to = tern_ib_cqe_at(cq, index - 1 + removed);

			memcpy(to, cqe, offsetof(struct tern_cqe, phase));
		}
	}
	if (removed) {
		cq->consumer += removed;
		tern_consume(cq->record.cpu, cq->consumer);
	}
}

static void tern_ib_cq_erase_qp(struct tern_ib_cq *cq, u32 qpn)
{
	lockdep_assert_held(&cq->lock);
	xa_lock(&cq->qps);
	__xa_erase(&cq->qps, qpn);
	xa_unlock(&cq->qps);
}

/* Both CQs of a queue pair, in the order of their numbers; there may be but one. */
static void tern_ib_lock_cqs(struct tern_ib_cq *a, struct tern_ib_cq *b)
	__acquires(&a->lock) __acquires(&b->lock)
{
	if (a == b) {
		spin_lock_irq(&a->lock);
		__acquire(&b->lock);
	} else if (a->cqn < b->cqn) {
		spin_lock_irq(&a->lock);
		spin_lock_nested(&b->lock, SINGLE_DEPTH_NESTING);
	} else {
		spin_lock_irq(&b->lock);
		spin_lock_nested(&a->lock, SINGLE_DEPTH_NESTING);
	}
}

static void tern_ib_unlock_cqs(struct tern_ib_cq *a, struct tern_ib_cq *b)
	__releases(&a->lock) __releases(&b->lock)
{
	if (a == b) {
		__release(&b->lock);
		spin_unlock_irq(&a->lock);
	} else if (a->cqn < b->cqn) {
		spin_unlock(&b->lock);
		spin_unlock_irq(&a->lock);
	} else {
		spin_unlock(&a->lock);
		spin_unlock_irq(&b->lock);
	}
}

/**
 * tern_ib_cqs_forget() - take a kernel queue pair out of its CQs
 * @qp: a queue pair for which the device writes no completions
 * @reset: it stays, and its queues are empty; else it is gone
 */
void tern_ib_cqs_forget(struct tern_ib_qp *qp, bool reset)
{
	struct tern_ib_cq *send = to_tern_cq(qp->ib.send_cq);
	struct tern_ib_cq *receive = to_tern_cq(qp->ib.recv_cq);

	tern_ib_lock_cqs(send, receive);
	tern_ib_cq_clean(send, qp);
	if (receive != send)
		tern_ib_cq_clean(receive, qp);
	if (reset) {
		/* Nobody posts: the state forbids it. */
		tern_ib_ring_reset(&qp->sq.ring);
		tern_ib_ring_reset(&qp->rq.ring);
	} else {
		tern_ib_cq_erase_qp(send, qp->number);
		tern_ib_cq_erase_qp(receive, qp->number);
	}
	tern_ib_unlock_cqs(send, receive);
}
