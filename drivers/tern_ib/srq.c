// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: shared receive queues. */
#include <uapi/rdma/tern-abi.h>

#include "internal.h"
#include "trace.h"
#include "verbs.h"

/* Interrupts are off, and an event queue's lock is held. */
static void tern_ib_srq_event(struct tern_srq_listener *listener, u8 type)
{
	struct tern_ib_srq *srq = container_of(listener, struct tern_ib_srq, listener);
	struct ib_event event = {
		.device = srq->ib.device,
		.event = type == TERN_EVENT_SRQ_LIMIT ? IB_EVENT_SRQ_LIMIT_REACHED :
							IB_EVENT_SRQ_ERR,
		.element.srq = &srq->ib,
	};

	if (type == TERN_EVENT_SRQ_ERROR)
		ibdev_err_ratelimited(srq->ib.device, "SRQ %#x failed\n", srq->number);
	trace_tern_ib_async_event(srq->ib.device, event.event, srq->number);
	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

static int tern_ib_check_srq(struct tern_ib_device *dev, const struct ib_srq_init_attr *init,
			     bool user)
{
	const struct ib_srq_attr *attr = &init->attr;

	switch (init->srq_type) {
	case IB_SRQT_BASIC:
		if (!tern_has(dev->tern, TERN_FEATURE_SRQ))
			return -EOPNOTSUPP;
		break;
	case IB_SRQT_XRC:
		/* Completions of the kernel's are looked up by queue pair. */
		if (!tern_has(dev->tern, TERN_FEATURE_XRC) || !user)
			return -EOPNOTSUPP;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!attr->max_wr || attr->max_wr > dev->limits.max_srq_wr ||
	    attr->max_sge > dev->limits.max_srq_sge)
		return -EINVAL;
	return 0;
}

/* The shape of a queue of @max_wr entries of @max_sge elements, as that of a receive queue. */
static void tern_ib_srq_shape(u32 max_wr, u32 max_sge, struct tern_ib_sizes *sizes)
{
	struct ib_qp_cap cap = { .max_recv_wr = max_wr, .max_recv_sge = max_sge };

	tern_ib_size_queues(IB_QPT_RC, &cap, sizes);
}

static size_t tern_ib_srq_bytes(const struct tern_ib_srq *srq, unsigned int shift)
{
	return 1UL << (shift + srq->stride_shift);
}

static int tern_ib_srq_memory_kernel(struct tern_ib_device *dev, struct tern_ib_srq *srq,
				     struct tern_command_create_srq *body)
{
	struct tern_ib_sizes sizes;
	int err;

	tern_ib_srq_shape(srq->max_wr, srq->max_sge, &sizes);
	srq->shift = sizes.rq_shift;
	srq->stride_shift = sizes.rq_stride_shift;
	err = tern_ib_tags_init(&srq->tags, srq->max_wr);
	if (err)
		return err;
	err = tern_buffer_alloc(dev->tern, &srq->buffer, tern_ib_srq_bytes(srq, srq->shift));
	if (err)
		goto destroy_tags;
	err = tern_record_alloc(dev->tern, &srq->record);
	if (err)
		goto free_buffer;
	body->flags = cpu_to_le32(TERN_SRQ_PRIVILEGED);
	body->pages = srq->buffer.pages.list;
	body->record = cpu_to_le64(srq->record.dma);
	return 0;

free_buffer:
	tern_buffer_free(dev->tern, &srq->buffer);
destroy_tags:
	tern_ib_tags_destroy(&srq->tags);
	return err;
}

/* May a process's queue have @shift and @stride_shift? */
static int tern_ib_srq_check_shape(struct tern_ib_device *dev, u32 max_wr, u32 max_sge, u8 shift,
				   u8 stride_shift)
{
	struct tern_ib_sizes given = { .rq_shift = shift, .rq_stride_shift = stride_shift };
	struct tern_ib_sizes least;

	tern_ib_srq_shape(max_wr, max_sge, &least);
	return tern_ib_check_sizes(&dev->limits, &least, &given);
}

static int tern_ib_srq_memory_user(struct tern_ib_device *dev, struct tern_ib_srq *srq,
				   struct ib_udata *udata, struct tern_command_create_srq *body)
{
	struct tern_ib_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct tern_ib_ucontext, ib);
	struct tern_ureq_create_srq request;
	dma_addr_t record;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, request, reserved0, 0);
	if (err)
		return err;
	if (memchr_inv(request.reserved0, 0, sizeof(request.reserved0)))
		return -EOPNOTSUPP;
	err = tern_ib_srq_check_shape(dev, srq->max_wr, srq->max_sge, request.shift,
				      request.stride_shift);
	if (err)
		return err;

	srq->shift = request.shift;
	srq->stride_shift = request.stride_shift;
	/* The device only reads entries. */
	err = tern_ib_user_queue_pin(dev, &srq->user, request.queue_address,
				     tern_ib_srq_bytes(srq, srq->shift), false);
	if (err)
		return err;
	srq->record_page = tern_ib_user_record_pin(ucontext, request.record_address, &record);
	if (IS_ERR(srq->record_page)) {
		err = PTR_ERR(srq->record_page);
		goto unpin_queue;
	}
	body->pages = srq->user.tables.list;
	body->record = cpu_to_le64(record);
	body->doorbell_page = cpu_to_le32(ucontext->doorbell_page);
	return 0;

unpin_queue:
	tern_ib_user_queue_unpin(dev, &srq->user);
	return err;
}

static void tern_ib_srq_memory_free(struct tern_ib_device *dev, struct tern_ib_srq *srq)
{
	if (srq->ib.uobject) {
		tern_ib_user_record_unpin(srq->record_page);
		tern_ib_user_queue_unpin(dev, &srq->user);
	} else {
		tern_record_free(dev->tern, &srq->record);
		tern_buffer_free(dev->tern, &srq->buffer);
		tern_ib_tags_destroy(&srq->tags);
	}
}

int tern_ib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		       struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibsrq->device);
	struct tern_ib_srq *srq = to_tern_srq(ibsrq);
	struct tern_uresp_create_srq response = {};
	struct tern_command_create_srq body = {};
	int err;

	err = tern_ib_check_srq(dev, init, udata);
	if (err)
		return err;
	srq->max_wr = init->attr.max_wr;
	srq->max_sge = init->attr.max_sge;
	spin_lock_init(&srq->lock);
	mutex_init(&srq->mutex);
	err = udata ? tern_ib_srq_memory_user(dev, srq, udata, &body) :
		      tern_ib_srq_memory_kernel(dev, srq, &body);
	if (err)
		return err;
	/* A process may use all of its ring. */
	if (udata)
		srq->max_wr = 1U << srq->shift;
	err = tern_number_alloc(dev->tern, TERN_NUMBERS_SRQ, &srq->number);
	if (err)
		goto free_memory;
	srq->listener.srqn = srq->number;
	srq->listener.event = tern_ib_srq_event;
	err = tern_srq_listen(dev->tern, &srq->listener);
	if (err)
		goto free_number;

	body.shift = srq->shift;
	body.stride_shift = srq->stride_shift;
	body.pd = cpu_to_le32(to_tern_pd(ibsrq->pd)->number);
	if (init->srq_type == IB_SRQT_XRC) {
		body.cqn = cpu_to_le32(to_tern_cq(init->ext.cq)->cqn);
		body.xrcd = cpu_to_le32(to_tern_xrcd(init->ext.xrc.xrcd)->number);
		ibsrq->ext.xrc.srq_num = srq->number;
	}
	err = tern_cmd_create_srq(dev->tern, srq->number, &body);
	if (err)
		goto unlisten;
	if (udata) {
		response.srqn = srq->number;
		err = ib_respond_udata(udata, response);
		if (err)
			goto destroy;
	}
	return 0;

destroy:
	tern_cmd_destroy_srq(dev->tern, srq->number);
unlisten:
	tern_srq_unlisten(dev->tern, &srq->listener);
free_number:
	tern_number_free(dev->tern, TERN_NUMBERS_SRQ, srq->number);
free_memory:
	tern_ib_srq_memory_free(dev, srq);
	return err;
}

/*
 * A process has written what is outstanding to its new ring, and posts
 * nothing now. The kernel's own queues keep their size: nobody asks for more.
 */
static int tern_ib_srq_new_ring(struct tern_ib_device *dev, struct tern_ib_srq *srq, u32 max_wr,
				struct ib_udata *udata, struct tern_ib_user_queue *ring,
				struct tern_command_modify_srq *body)
{
	struct tern_ureq_modify_srq request;
	int err;

	if (!udata)
		return -EOPNOTSUPP;
	err = ib_copy_validate_udata_in_cm(udata, request, reserved0, 0);
	if (err)
		return err;
	if (memchr_inv(request.reserved0, 0, sizeof(request.reserved0)))
		return -EOPNOTSUPP;
	if (!max_wr || max_wr > dev->limits.max_srq_wr)
		return -EINVAL;
	err = tern_ib_srq_check_shape(dev, max_wr, srq->max_sge, request.shift,
				      srq->stride_shift);
	if (err)
		return err;
	err = tern_ib_user_queue_pin(dev, ring, request.queue_address,
				     tern_ib_srq_bytes(srq, request.shift), false);
	if (err)
		return err;
	body->shift = request.shift;
	body->pages = ring->tables.list;
	return 0;
}

int tern_ib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		       enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibsrq->device);
	struct tern_ib_srq *srq = to_tern_srq(ibsrq);
	struct tern_command_modify_srq body = {};
	struct tern_ib_user_queue ring = {};
	u32 set = 0, max_wr;
	int err = 0;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	mutex_lock(&srq->mutex);
	max_wr = srq->max_wr;
	if (mask & IB_SRQ_MAX_WR) {
		set |= TERN_SRQ_SET_SIZE;
		err = tern_ib_srq_new_ring(dev, srq, attr->max_wr, udata, &ring, &body);
		max_wr = 1U << body.shift;
	} else {
		err = ib_is_udata_in_empty(udata);
	}
	if (err)
		goto unlock;
	if (mask & IB_SRQ_LIMIT) {
		set |= TERN_SRQ_SET_LIMIT;
		body.limit = cpu_to_le32(attr->srq_limit);
		if (attr->srq_limit > max_wr)
			err = -EINVAL;
	}
	body.mask = cpu_to_le32(set);
	if (!err)
		err = tern_cmd_modify_srq(dev->tern, srq->number, &body);
	if (!err && mask & IB_SRQ_MAX_WR) {
		swap(srq->user, ring);
		srq->shift = body.shift;
		srq->max_wr = max_wr;
	}
	/* The old ring, or the new one if the device did not take it. */
	tern_ib_user_queue_unpin(dev, &ring);
unlock:
	mutex_unlock(&srq->mutex);
	return err;
}

int tern_ib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct tern_ib_device *dev = to_tern_ib(ibsrq->device);
	struct tern_ib_srq *srq = to_tern_srq(ibsrq);
	struct tern_srq_status status;
	int err;

	err = tern_cmd_query(dev->tern, TERN_COMMAND_QUERY_SRQ, srq->number, 0, &status,
			     sizeof(status));
	if (err)
		return err;
	mutex_lock(&srq->mutex);
	attr->max_wr = srq->max_wr;
	mutex_unlock(&srq->mutex);
	attr->max_sge = srq->max_sge;
	attr->srq_limit = le32_to_cpu(status.limit);
	return 0;
}

int tern_ib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibsrq->device);
	struct tern_ib_srq *srq = to_tern_srq(ibsrq);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	/* It may fail, but then the device is dead, and the queue is gone all the same. */
	tern_cmd_destroy_srq(dev->tern, srq->number);
	tern_srq_unlisten(dev->tern, &srq->listener);
	tern_number_free(dev->tern, TERN_NUMBERS_SRQ, srq->number);
	tern_ib_srq_memory_free(dev, srq);
	return 0;
}

static int tern_ib_post_one(struct tern_ib_srq *srq, const struct ib_recv_wr *wr)
{
	size_t place = srq->producer & ((1U << srq->shift) - 1);
	u32 tag;
	int err;

	lockdep_assert_held(&srq->lock);
	if (!tern_ib_tag_take(&srq->tags, wr->wr_id, &tag))
		return -ENOMEM;
	err = tern_ib_encode_receive(srq->max_sge, wr, tag,
				     tern_buffer_at(&srq->buffer, place << srq->stride_shift));
	if (err) {
		u64 wr_id;

		tern_ib_tag_give(&srq->tags, tag, &wr_id);
		return err;
	}
	srq->producer++;
	return 0;
}

int tern_ib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr)
{
	struct tern_device *tern = to_tern_ib(ibsrq->device)->tern;
	struct tern_ib_srq *srq = to_tern_srq(ibsrq);
	unsigned long flags;
	u32 before;
	int err = 0;

	spin_lock_irqsave(&srq->lock, flags);
	before = srq->producer;
	for (; wr; wr = wr->next) {
		err = tern_ib_post_one(srq, wr);
		if (err)
			break;
	}
	if (srq->producer != before)
		tern_publish(tern, srq->record.cpu, TERN_DOORBELL_SRQ, srq->number,
			     srq->producer);
	spin_unlock_irqrestore(&srq->lock, flags);

	if (err)
		*bad_wr = wr;
	return err;
}

/**
 * tern_ib_srq_complete() - an entry of a kernel queue has completed
 * @srq: the queue
 * @tag: which, as the device says
 * @wr_id: set to the consumer's cookie
 *
 * The completion queue's lock is held.
 *
 * Return: false when there is no such entry: the device lies
 */
bool tern_ib_srq_complete(struct tern_ib_srq *srq, u32 tag, u64 *wr_id)
{
	bool found;

	spin_lock(&srq->lock);
	found = tern_ib_tag_give(&srq->tags, tag, wr_id);
	spin_unlock(&srq->lock);
	return found;
}
