// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: doorbells: which queue, and whether it belongs to the page that the write came through. */
#include "nic.h"
#include "qp.h"
#include "register.h"
#include "srq.h"
#include "tern_hw_doorbell.h"

static void drop(struct function *fn)
{
	fn->port.doorbells_dropped++;
}

static void ring(struct function *fn, unsigned int page, uint32_t qpn, uint32_t index,
		 bool is_send)
{
	struct qp *qp = qp_find(fn, qpn);
	struct work_queue *wq;

	if (!qp || qp->doorbell_page != page) {
		drop(fn);
		return;
	}
	wq = is_send ? &qp->sq : &qp->rq;
	if (wq->exists)
		work_queue_doorbell(wq, index);
	else
		drop(fn);
}

void doorbell_write(struct function *fn, uint64_t offset, uint64_t value, unsigned int size)
{
	uint32_t number = (uint32_t)value, shift = fn->registers.doorbell_shift;
	uint32_t index = (uint32_t)(value >> TERN_DOORBELL_INDEX_SHIFT);
	unsigned int page;
	uint64_t in_page;

	fn->port.doorbells++;
	if (!fn->enabled || size != sizeof(uint64_t) || (number & ~TERN_NUMBER_MASK)) {
		drop(fn);
		return;
	}
	/* In range since ENABLE. */
	page = (unsigned int)(offset >> shift);
	in_page = offset & ((UINT64_C(1) << shift) - 1);
	switch (in_page) {
	case TERN_DOORBELL_SEND:
		ring(fn, page, number, index, true);
		break;
	case TERN_DOORBELL_RECEIVE:
		ring(fn, page, number, index, false);
		break;
	case TERN_DOORBELL_SRQ:
		srq_doorbell(fn, page, number, index);
		break;
	case TERN_DOORBELL_CQ_ARM:
		cq_arm_doorbell(fn, page, number, index);
		break;
	case TERN_DOORBELL_EQ_ARM:
		if (page == 0)
			eq_arm_doorbell(fn, number, index);
		else
			drop(fn);
		break;
	default:
		drop(fn);
	}
}
