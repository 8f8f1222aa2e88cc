// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: queue pairs, modified and queried. */
#include "attributes.h"
#include "convert.h"
#include "internal.h"
#include "trace.h"
#include "verbs.h"

int tern_ib_query_status(struct tern_ib_device *dev, struct tern_ib_qp *qp,
			 struct tern_qp_status *status)
{
	return tern_cmd_query(dev->tern, TERN_COMMAND_QUERY_QP, qp->number, 0, status,
			      sizeof(*status));
}

static void tern_ib_set_state(struct tern_ib_qp *qp, enum ib_qp_state state)
{
	lockdep_assert_held(&qp->mutex);
	if (state != qp->state)
		trace_tern_ib_qp_state(&qp->ib, qp->number, qp->state, state);
	if (qp->ib.uobject) {
		qp->state = state;
		return;
	}
	/* Who posts has seen the old state, and is done, or sees the new one. */
	spin_lock_irq(&qp->sq.lock);
	spin_lock(&qp->rq.lock);
	qp->state = state;
	spin_unlock(&qp->rq.lock);
	spin_unlock_irq(&qp->sq.lock);
}

/* States that the device leaves by itself, when something goes wrong. */
static bool tern_ib_state_moves(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS || state == IB_QPS_SQD ||
	       state == IB_QPS_SQE;
}

static int tern_ib_refresh_state(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	struct tern_qp_status status;
	enum ib_qp_state state;
	int err;

	if (!tern_ib_state_moves(qp->state))
		return 0;
	err = tern_ib_query_status(dev, qp, &status);
	if (err)
		return err;
	if (!tern_ib_qp_state_from(status.state, &state))
		return -EPROTO;
	if (state != qp->state)
		tern_ib_set_state(qp, state);
	return 0;
}

/* How often a state may move on under a modification: forward only, so no more than there are. */
#define TERN_IB_STATE_MOVES	TERN_QP_ERROR

/* Empty queues: the device counts from zero again, so do their records. */
static void tern_ib_empty_queues(struct tern_ib_qp *qp)
{
	/* A process does that itself. */
	if (!tern_ib_completes_in_kernel(qp))
		return;
	tern_ib_cqs_forget(qp, true);
	if (qp->has_sq)
		WRITE_ONCE(qp->sq.record.cpu->index, 0);
	if (qp->has_rq)
		WRITE_ONCE(qp->rq.record.cpu->index, 0);
}

/* A dead device has stopped; consumers still go through these states to drain. */
static int tern_ib_modify_dead(struct tern_ib_qp *qp, enum ib_qp_state next)
{
	if (next != IB_QPS_ERR && next != IB_QPS_RESET)
		return -EIO;
	if (next == IB_QPS_ERR)
		tern_ib_qp_last_wqe(qp);
	return 0;
}

static int tern_ib_modify_alive(struct tern_ib_device *dev, struct tern_ib_qp *qp,
				const struct ib_qp_attr *attr, int mask)
{
	struct tern_ib_transition from = {
		.type = qp->ib.qp_type,
		.qpn = qp->number,
		.remote_qpn = qp->remote_qpn,
		.port_mtu = tern_ib_port_mtu(dev),
		.flush = tern_has(dev->tern, TERN_FEATURE_FLUSH),
	};
	struct tern_command_modify_qp body;
	unsigned int moves = 0;
	enum ib_qp_state seen;
	int err;

	err = tern_ib_refresh_state(dev, qp);
	if (err)
		return err;
	for (;;) {
		from.current_state = qp->state;
		err = tern_ib_check_modify(&dev->limits, &from, attr, mask);
		if (err)
			return err;
		tern_ib_encode_modify(&from, attr, mask, &body);
		err = tern_cmd_modify_qp(dev->tern, qp->number, &body);
		if (!err || !tern_ib_state_moves(qp->state))
			return err;
		/* It may have moved on meanwhile. */
		seen = qp->state;
		if (tern_ib_refresh_state(dev, qp) || qp->state == seen ||
		    ++moves > TERN_IB_STATE_MOVES)
			return err;
	}
}

int tern_ib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibqp->device);
	struct tern_ib_qp *qp = to_tern_qp(ibqp);
	enum ib_qp_state next;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	/* It has no queues, so no states. */
	if (ibqp->rwq_ind_tbl)
		return -EOPNOTSUPP;

	mutex_lock(&qp->mutex);
	err = tern_ib_modify_alive(dev, qp, attr, mask);
	next = mask & IB_QP_STATE ? attr->qp_state : qp->state;
	if (err && tern_is_dead(dev->tern))
		err = tern_ib_modify_dead(qp, next);
	if (err)
		goto unlock;

	if (mask & IB_QP_DEST_QPN)
		qp->remote_qpn = attr->dest_qp_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	tern_ib_set_state(qp, next);
	if (next == IB_QPS_RESET)
		tern_ib_empty_queues(qp);
unlock:
	mutex_unlock(&qp->mutex);
	return err;
}

int tern_ib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init)
{
	struct tern_ib_device *dev = to_tern_ib(ibqp->device);
	struct tern_ib_qp *qp = to_tern_qp(ibqp);
	struct tern_qp_status status;
	int err;

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	mutex_lock(&qp->mutex);
	err = tern_ib_query_status(dev, qp, &status);
	if (!err)
		err = tern_ib_decode_attributes(ibqp->qp_type, &status, attr);
	if (!err && attr->qp_state != qp->state)
		tern_ib_set_state(qp, attr->qp_state);
	attr->qp_access_flags = qp->access;
	mutex_unlock(&qp->mutex);
	if (err)
		return err;

	attr->cap = qp->cap;
	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->cap;
	init->sq_sig_type = qp->signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->port_num = 1;
	return 0;
}
