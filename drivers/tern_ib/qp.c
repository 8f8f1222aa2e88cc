// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: queue pairs, made and destroyed. */
#include "convert.h"
#include "internal.h"
#include "odp.h"
#include "trace.h"
#include "verbs.h"

#define TERN_IB_GSI_QPN	1

/* Interrupts are off, and an event queue's lock is held. */
void tern_ib_qp_event(struct tern_qp_listener *listener, u8 type)
{
	struct tern_ib_qp *qp = container_of(listener, struct tern_ib_qp, listener);
	struct ib_event event = {
		.device = qp->ib.device,
		.element.qp = &qp->ib,
	};

	if (!tern_ib_event_from(type, &event.event)) {
		ibdev_warn_ratelimited(qp->ib.device, "QP %#x: unknown event %#x\n", qp->number,
				       type);
		return;
	}
	trace_tern_ib_async_event(qp->ib.device, event.event, qp->number);
	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

/* What a dead device does not say any more: consumers wait for it to drain. */
void tern_ib_qp_last_wqe(struct tern_ib_qp *qp)
{
	struct ib_event event = {
		.device = qp->ib.device,
		.event = IB_EVENT_QP_LAST_WQE_REACHED,
		.element.qp = &qp->ib,
	};

	if (qp->ib.srq && qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

static int tern_ib_check_target(struct tern_ib_device *dev, struct ib_qp_init_attr *attr)
{
	if (!tern_has(dev->tern, TERN_FEATURE_XRC) || attr->create_flags)
		return -EOPNOTSUPP;
	if (!attr->xrcd || attr->srq || attr->rwq_ind_tbl)
		return -EINVAL;
	/* It has neither queues nor CQs. */
	memset(&attr->cap, 0, sizeof(attr->cap));
	return 0;
}

static int tern_ib_check_qp(struct tern_ib_device *dev, struct ib_qp_init_attr *attr, bool user)
{
	u32 flags = 0;

	switch (attr->qp_type) {
	case IB_QPT_RC:
		if (!tern_has(dev->tern, TERN_FEATURE_RC))
			return -EOPNOTSUPP;
		break;
	case IB_QPT_UC:
		if (!tern_has(dev->tern, TERN_FEATURE_UC))
			return -EOPNOTSUPP;
		break;
	case IB_QPT_UD:
		if (!tern_has(dev->tern, TERN_FEATURE_UD))
			return -EOPNOTSUPP;
		break;
	case IB_QPT_XRC_INI:
		/* Consumers in the kernel would have no way to post to it. */
		if (!tern_has(dev->tern, TERN_FEATURE_XRC) || !user)
			return -EOPNOTSUPP;
		break;
	case IB_QPT_XRC_TGT:
		/* The core makes it, though a process asks: it may outlive that one. */
		return tern_ib_check_target(dev, attr);
	case IB_QPT_GSI:
		if (user || attr->port_num != 1)
			return -EINVAL;
		break;
	case IB_QPT_RAW_PACKET:
		/* The core has checked CAP_NET_RAW. */
		if (!user)
			return -EOPNOTSUPP;
		if (tern_has(dev->tern, TERN_FEATURE_VLAN_OFFLOAD))
			flags = IB_QP_CREATE_CVLAN_STRIPPING;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (attr->create_flags & ~flags || attr->xrcd)
		return -EOPNOTSUPP;
	if (attr->srq && (attr->qp_type == IB_QPT_GSI || attr->qp_type == IB_QPT_XRC_INI ||
			  attr->qp_type == IB_QPT_RAW_PACKET))
		return -EOPNOTSUPP;
	if (attr->srq || attr->qp_type == IB_QPT_XRC_INI) {
		/* It has no receive queue of its own. */
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
	}
	if (!attr->send_cq || (!attr->recv_cq && attr->qp_type != IB_QPT_XRC_INI))
		return -EINVAL;
	return tern_ib_check_qp_cap(&dev->limits, attr->qp_type, &attr->cap);
}

/* What is particular of a raw packet queue pair. */
static u32 tern_ib_raw_packet_flags(struct tern_ib_device *dev,
				    const struct ib_qp_init_attr *attr)
{
	u32 flags = 0;

	/* So that two processes of one host reach each other. */
	if (tern_has(dev->tern, TERN_FEATURE_FLOW_STEERING))
		flags |= TERN_QP_FLOW_LOOPBACK;
	if (attr->create_flags & IB_QP_CREATE_CVLAN_STRIPPING)
		flags |= TERN_QP_VLAN_STRIP;
	return flags;
}

static int tern_ib_qp_number(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	/* There is one, and the device refuses a second. */
	if (qp->ib.qp_type == IB_QPT_GSI) {
		qp->number = TERN_IB_GSI_QPN;
		return 0;
	}
	return tern_number_alloc(dev->tern, TERN_NUMBERS_QP, &qp->number);
}

static void tern_ib_qp_number_free(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	if (qp->ib.qp_type != IB_QPT_GSI)
		tern_number_free(dev->tern, TERN_NUMBERS_QP, qp->number);
}

static void tern_ib_qp_leave_cqs(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	tern_ib_cqs_forget(qp, false);
	/*
	 * Whoever frees a CQ stops what polls it first, after the last queue
	 * pair. tern_ib_wake() must not start that again: by now it is through,
	 * or will find no queue pair there.
	 */
	xa_lock(&dev->kernel_cqs);
	xa_unlock(&dev->kernel_cqs);
}

/* Completions of a kernel queue pair are looked up in its CQs. */
static int tern_ib_qp_join_cqs(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	int err;

	err = tern_ib_cq_add_qp(to_tern_cq(qp->ib.send_cq), qp);
	if (!err)
		err = tern_ib_cq_add_qp(to_tern_cq(qp->ib.recv_cq), qp);
	if (err)
		tern_ib_qp_leave_cqs(dev, qp);
	return err;
}

int tern_ib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibqp->device);
	struct tern_command_create_qp body = {};
	struct tern_ib_qp *qp = to_tern_qp(ibqp);
	int err;

	if (attr->rwq_ind_tbl)
		return tern_ib_create_hashing_qp(qp, attr, udata);
	err = tern_ib_check_qp(dev, attr, udata);
	if (err)
		return err;
	/* The process is told nothing; now, while nothing has to be undone if that fails. */
	err = ib_respond_empty_udata(udata);
	if (err)
		return err;
	qp->cap = attr->cap;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	mutex_init(&qp->mutex);

	err = udata ? tern_ib_user_queues(dev, qp, udata, &body) :
		      tern_ib_kernel_queues(dev, qp, &body);
	if (err)
		return err;
	err = tern_ib_qp_number(dev, qp);
	if (err)
		goto free_queues;
	qp->listener.qpn = qp->number;
	qp->listener.event = tern_ib_qp_event;
	tern_ib_qp_faults_init(dev, qp);
	err = tern_qp_listen(dev->tern, &qp->listener);
	if (err)
		goto free_number;
	if (tern_ib_completes_in_kernel(qp)) {
		err = tern_ib_qp_join_cqs(dev, qp);
		if (err)
			goto unlisten;
	}

	body.type = tern_ib_qp_type(attr->qp_type);
	if (attr->qp_type == IB_QPT_XRC_TGT) {
		body.xrcd = cpu_to_le32(to_tern_xrcd(attr->xrcd)->number);
	} else {
		body.pd = cpu_to_le32(to_tern_pd(ibqp->pd)->number);
		body.send_cqn = cpu_to_le32(to_tern_cq(attr->send_cq)->cqn);
		if (attr->recv_cq)
			body.receive_cqn = cpu_to_le32(to_tern_cq(attr->recv_cq)->cqn);
	}
	if (attr->srq) {
		body.flags &= cpu_to_le32(~TERN_QP_NO_RQ);
		body.flags |= cpu_to_le32(TERN_QP_USES_SRQ);
		body.srqn = cpu_to_le32(to_tern_srq(attr->srq)->number);
	}
	if (attr->qp_type == IB_QPT_RAW_PACKET)
		body.flags |= cpu_to_le32(tern_ib_raw_packet_flags(dev, attr));
	err = tern_cmd_create_qp(dev->tern, qp->number, &body);
	if (err)
		goto leave_cqs;
	ibqp->qp_num = qp->number;
	return 0;

leave_cqs:
	if (tern_ib_completes_in_kernel(qp))
		tern_ib_qp_leave_cqs(dev, qp);
unlisten:
	tern_qp_unlisten(dev->tern, &qp->listener);
	tern_ib_qp_faults_end(dev, qp);
free_number:
	tern_ib_qp_number_free(dev, qp);
free_queues:
	tern_ib_free_queues(dev, qp);
	return err;
}

int tern_ib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibqp->device);
	struct tern_ib_qp *qp = to_tern_qp(ibqp);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	/* It may fail, but then the device is dead, and the queues are gone all the same. */
	tern_cmd_destroy_qp(dev->tern, qp->number);
	if (tern_ib_completes_in_kernel(qp))
		tern_ib_qp_leave_cqs(dev, qp);
	tern_qp_unlisten(dev->tern, &qp->listener);
	tern_ib_qp_faults_end(dev, qp);
	tern_ib_qp_number_free(dev, qp);
	tern_ib_free_queues(dev, qp);
	return 0;
}
