// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: XRC targets (IBTA annex A14): each message names the SRQ that it is
 * for, each packet says so again. All else of a responder is RC's.
 */
#include "srq.h"
#include "xrc.h"

static struct srq *named(const struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct srq *srq = srq_find(rdma->qp->fn, packet->headers.srqn);

	return srq && srq->xrcd == rdma->qp->xrcd ? srq : NULL;
}

bool xrc_allows(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	const struct srq *srq;

	if (rdma->qp->type != TERN_QP_XRC_TARGET)
		return true;
	srq = named(rdma, packet);
	if (!srq)
		return false;
	rdma->qp->remote.pd = srq->local.pd;
	return true;
}

bool xrc_begin(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct srq *srq;

	if (rdma->qp->type != TERN_QP_XRC_TARGET)
		return true;
	if (!xrc_allows(rdma, packet))
		return false;
	srq = named(rdma, packet);
	if (!(packet->opcode->flags & WIRE_STARTS))
		return srq == rdma->srq;
	if (srq != rdma->srq) {
		xrc_leave(rdma);
		rdma->srq = srq;
		list_add_tail(&srq->targets, &rdma->xrc_target);
	}
	return true;
}

void xrc_leave(struct rdma_qp *rdma)
{
	if (rdma->qp->type != TERN_QP_XRC_TARGET || !rdma->srq)
		return;
	list_remove(&rdma->xrc_target);
	rdma->srq = NULL;
	rdma->receive_held = false;
}

void xrc_srq_gone(struct srq *srq)
{
	while (!list_empty(&srq->targets))
		xrc_leave(container_of(srq->targets.next, struct rdma_qp, xrc_target));
}
