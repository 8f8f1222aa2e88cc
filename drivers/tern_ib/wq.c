// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: receive work queues of processes. */
#include <linux/slab.h>
#include <uapi/rdma/tern-abi.h>

#include "internal.h"
#include "tern_hw_event.h"
#include "trace.h"
#include "verbs.h"

/* Interrupts are off, and an event queue's lock is held. */
static void tern_ib_wq_event(struct tern_qp_listener *listener, u8 type)
{
	struct tern_ib_wq *wq = container_of(listener, struct tern_ib_wq, listener);
	struct ib_event event = {
		.device = wq->ib.device,
		.event = IB_EVENT_WQ_FATAL,
		.element.wq = &wq->ib,
	};

	/* No other means that it has failed. */
	if (type != TERN_EVENT_QP_FATAL)
		return;
	trace_tern_ib_async_event(wq->ib.device, event.event, wq->number);
	/* Before the core is through nothing happens to it, whatever the device says. */
	if (wq->ib.event_handler && wq->ib.uobject)
		wq->ib.event_handler(&event, wq->ib.wq_context);
}

static int tern_ib_check_wq(struct tern_ib_device *dev, const struct ib_wq_init_attr *init)
{
	u32 flags = 0;

	if (!tern_has(dev->tern, TERN_FEATURE_RECEIVE_HASHING_QP) || init->wq_type != IB_WQT_RQ)
		return -EOPNOTSUPP;
	if (tern_has(dev->tern, TERN_FEATURE_VLAN_OFFLOAD))
		flags = IB_WQ_FLAGS_CVLAN_STRIPPING;
	if (init->create_flags & ~flags)
		return -EOPNOTSUPP;
	if (!init->max_wr || init->max_wr > dev->limits.max_qp_wr ||
	    init->max_sge > dev->limits.max_recv_sge)
		return -EINVAL;
	return 0;
}

/* Take the queue of a process; what the device must know goes to @body. */
static int tern_ib_take_wq(struct tern_ib_device *dev, struct tern_ib_wq *wq,
			   const struct ib_wq_init_attr *init, struct ib_udata *udata,
			   struct tern_command_create_qp *body)
{
	struct tern_ib_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct tern_ib_ucontext, ib);
	const struct ib_qp_cap cap = {
		.max_recv_wr = init->max_wr,
		.max_recv_sge = init->max_sge,
	};
	struct tern_ureq_create_wq request;
	struct tern_ib_sizes least, given;
	dma_addr_t record;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, request, reserved0, 0);
	if (err)
		return err;
	if (memchr_inv(request.reserved0, 0, sizeof(request.reserved0)))
		return -EOPNOTSUPP;
	given = (struct tern_ib_sizes) {
		.rq_shift = request.shift,
		.rq_stride_shift = request.stride_shift,
	};
	tern_ib_size_queues(IB_QPT_RAW_PACKET, &cap, &least);
	err = tern_ib_check_sizes(&dev->limits, &least, &given);
	if (err)
		return err;
	wq->rq.shift = request.shift;
	wq->rq.unit_shift = request.stride_shift;
	err = tern_ib_user_queue(dev, ucontext, &wq->rq, request.queue_address,
				 request.record_address, &record);
	if (err)
		return err;
	body->rq_shift = request.shift;
	body->rq_stride_shift = request.stride_shift;
	body->rq = wq->rq.user.tables.list;
	body->rq_record = cpu_to_le64(record);
	body->doorbell_page = cpu_to_le32(ucontext->doorbell_page);
	return 0;
}

struct ib_wq *tern_ib_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *init,
				struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibpd->device);
	struct tern_command_create_qp body = {
		.type = TERN_QP_ETHERNET,
		.pd = cpu_to_le32(to_tern_pd(ibpd)->number),
		.receive_cqn = cpu_to_le32(to_tern_cq(init->cq)->cqn),
	};
	u32 flags = TERN_QP_NO_SQ;
	struct tern_ib_wq *wq;
	int err;

	if (!udata)
		return ERR_PTR(-EOPNOTSUPP);
	err = tern_ib_check_wq(dev, init);
	if (err)
		return ERR_PTR(err);
	err = ib_respond_empty_udata(udata);
	if (err)
		return ERR_PTR(err);
	wq = kzalloc(sizeof(*wq), GFP_KERNEL);
	if (!wq)
		return ERR_PTR(-ENOMEM);
	mutex_init(&wq->mutex);
	wq->ib.device = ibpd->device;
	wq->ib.event_handler = init->event_handler;
	wq->ib.wq_context = init->wq_context;
	wq->ib.state = IB_WQS_RESET;

	err = tern_ib_take_wq(dev, wq, init, udata, &body);
	if (err)
		goto free_wq;
	err = tern_number_alloc(dev->tern, TERN_NUMBERS_QP, &wq->number);
	if (err)
		goto free_queue;
	wq->listener.qpn = wq->number;
	wq->listener.event = tern_ib_wq_event;
	err = tern_qp_listen(dev->tern, &wq->listener);
	if (err)
		goto free_number;
	if (init->create_flags & IB_WQ_FLAGS_CVLAN_STRIPPING)
		flags |= TERN_QP_VLAN_STRIP;
	body.flags = cpu_to_le32(flags);
	err = tern_cmd_create_qp(dev->tern, wq->number, &body);
	if (err)
		goto unlisten;
	wq->ib.wq_num = wq->number;
	return &wq->ib;

unlisten:
	tern_qp_unlisten(dev->tern, &wq->listener);
free_number:
	tern_number_free(dev->tern, TERN_NUMBERS_QP, wq->number);
free_queue:
	tern_ib_free_user_queue(dev, &wq->rq);
free_wq:
	kfree(wq);
	return ERR_PTR(err);
}

static u8 tern_ib_wq_state(enum ib_wq_state state)
{
	switch (state) {
	case IB_WQS_RESET:
		return TERN_QP_RESET;
	case IB_WQS_RDY:
		return TERN_QP_RTS;
	default:
		return TERN_QP_ERROR;
	}
}

static int tern_ib_move_wq(struct tern_ib_device *dev, struct tern_ib_wq *wq,
			   enum ib_wq_state from, enum ib_wq_state to)
{
	struct tern_command_modify_qp body = {
		.current_state = tern_ib_wq_state(from),
		.next_state = tern_ib_wq_state(to),
	};

	return tern_cmd_modify_qp(dev->tern, wq->number, &body);
}

int tern_ib_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		      struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibwq->device);
	struct tern_ib_wq *wq = to_tern_wq(ibwq);
	enum ib_wq_state next;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	if (mask & ~(IB_WQ_STATE | IB_WQ_CUR_STATE))
		return -EOPNOTSUPP;

	mutex_lock(&wq->mutex);
	next = mask & IB_WQ_STATE ? attr->wq_state : ibwq->state;
	if ((mask & IB_WQ_CUR_STATE && attr->curr_wq_state != ibwq->state) ||
	    (ibwq->state == IB_WQS_ERR && next == IB_WQS_RDY)) {
		err = -EINVAL;
		goto unlock;
	}
	err = tern_ib_move_wq(dev, wq, ibwq->state, next);
	/* It may have failed meanwhile. */
	if (err && ibwq->state == IB_WQS_RDY && next != IB_WQS_RDY)
		err = tern_ib_move_wq(dev, wq, IB_WQS_ERR, next);
	if (next != IB_WQS_RDY)
		err = tern_ib_gone_is_done(dev->tern, err);
	if (!err)
		ibwq->state = next;
unlock:
	mutex_unlock(&wq->mutex);
	return err;
}

int tern_ib_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibwq->device);
	struct tern_ib_wq *wq = to_tern_wq(ibwq);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	/* It may fail, but then the device is dead, and the queue is gone all the same. */
	tern_cmd_destroy_qp(dev->tern, wq->number);
	tern_qp_unlisten(dev->tern, &wq->listener);
	tern_number_free(dev->tern, TERN_NUMBERS_QP, wq->number);
	tern_ib_free_user_queue(dev, &wq->rq);
	kfree(wq);
	return 0;
}
