// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: completion queues, made and destroyed. */
#include <linux/log2.h>
#include <uapi/rdma/tern-abi.h>

#include "internal.h"
#include "trace.h"
#include "tern_hw_cqe.h"
#include "verbs.h"

/* Interrupts are off, and an event queue's lock is held. */
static void tern_ib_cq_completion(struct tern_cq_listener *listener)
{
	struct tern_ib_cq *cq = container_of(listener, struct tern_ib_cq, listener);

	WRITE_ONCE(cq->armed_next, false);
	/* The core sets it after create_cq; a device that lies has an event before. */
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void tern_ib_cq_error(struct tern_cq_listener *listener, u8 error)
{
	struct tern_ib_cq *cq = container_of(listener, struct tern_ib_cq, listener);
	struct ib_event event = {
		.device = cq->ib.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ib,
	};

	ibdev_err_ratelimited(cq->ib.device, "CQ %#x failed: %s\n", cq->cqn,
			      error == TERN_CQ_ERROR_OVERRUN ? "overrun" : "memory access");
	trace_tern_ib_async_event(cq->ib.device, event.event, cq->cqn);
	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

/* Ring and record of a process's queue, pinned. */
struct tern_ib_cq_memory {
	struct tern_ib_user_queue queue;
	struct tern_ib_record_page *record_page;
	dma_addr_t record;
	u8 shift;
};

static int tern_ib_cq_memory_pin(struct tern_ib_device *dev, u32 entries, struct ib_udata *udata,
				 struct tern_ib_cq_memory *memory)
{
	struct tern_ib_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct tern_ib_ucontext, ib);
	struct tern_ureq_create_cq request;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, request, reserved0, 0);
	if (err)
		return err;
	if (memchr_inv(request.reserved0, 0, sizeof(request.reserved0)))
		return -EOPNOTSUPP;
	if (!request.shift || request.shift > dev->limits.cq_shift_max ||
	    1U << request.shift < entries)
		return -EINVAL;

	*memory = (struct tern_ib_cq_memory) { .shift = request.shift };
	err = tern_ib_user_queue_pin(dev, &memory->queue, request.queue_address,
				     sizeof(struct tern_cqe) << request.shift, true);
	if (err)
		return err;
	memory->record_page = tern_ib_user_record_pin(ucontext, request.record_address,
						      &memory->record);
	if (IS_ERR(memory->record_page)) {
		tern_ib_user_queue_unpin(dev, &memory->queue);
		return PTR_ERR(memory->record_page);
	}
	return 0;
}

static void tern_ib_cq_memory_unpin(struct tern_ib_device *dev, struct tern_ib_cq_memory *memory)
{
	tern_ib_user_record_unpin(memory->record_page);
	tern_ib_user_queue_unpin(dev, &memory->queue);
}

static int tern_ib_cq_memory_user(struct tern_ib_device *dev, struct tern_ib_cq *cq, u32 entries,
				  struct ib_udata *udata)
{
	struct tern_ib_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct tern_ib_ucontext, ib);
	struct tern_command_create_cq *body = &cq->command;
	struct tern_ib_cq_memory memory;
	int err;

	err = tern_ib_cq_memory_pin(dev, entries, udata, &memory);
	if (err)
		return err;
	mutex_init(&cq->resize_mutex);
	cq->shift = memory.shift;
	cq->user = memory.queue;
	cq->record_page = memory.record_page;
	body->pages = cq->user.tables.list;
	body->record = cpu_to_le64(memory.record);
	body->doorbell_page = cpu_to_le32(ucontext->doorbell_page);
	return 0;
}

static int tern_ib_cq_memory_kernel(struct tern_ib_device *dev, struct tern_ib_cq *cq, u32 entries)
{
	struct tern_command_create_cq *body = &cq->command;
	int err;

	spin_lock_init(&cq->lock);
	xa_init_flags(&cq->qps, XA_FLAGS_LOCK_IRQ);
	cq->shift = max(order_base_2(entries), 1);
	err = tern_buffer_alloc(dev->tern, &cq->buffer, sizeof(struct tern_cqe) << cq->shift);
	if (err)
		return err;
	err = tern_record_alloc(dev->tern, &cq->record);
	if (err)
		goto free_buffer;
	body->pages = cq->buffer.pages.list;
	body->record = cpu_to_le64(cq->record.dma);
	return 0;

free_buffer:
	tern_buffer_free(dev->tern, &cq->buffer);
	return err;
}

static void tern_ib_cq_memory_free(struct tern_ib_device *dev, struct tern_ib_cq *cq)
{
	if (cq->ib.uobject) {
		tern_ib_user_record_unpin(cq->record_page);
		tern_ib_user_queue_unpin(dev, &cq->user);
	} else {
		tern_record_free(dev->tern, &cq->record);
		tern_buffer_free(dev->tern, &cq->buffer);
		WARN_ON(!xa_empty(&cq->qps));
		xa_destroy(&cq->qps);
	}
}

int tern_ib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		      struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = ibcq->uobject ? &attrs->driver_udata : NULL;
	struct tern_ib_device *dev = to_tern_ib(ibcq->device);
	struct tern_uresp_create_cq response = {};
	struct tern_ib_cq *cq = to_tern_cq(ibcq);
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	/* Each completion has its time, asked for or not. */
	if (attr->flags && !tern_has(dev->tern, TERN_FEATURE_TIMESTAMPS))
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > dev->limits.max_cqe)
		return -EINVAL;

	err = udata ? tern_ib_cq_memory_user(dev, cq, attr->cqe, udata) :
		      tern_ib_cq_memory_kernel(dev, cq, attr->cqe);
	if (err)
		return err;
	cq->command.eqn = cpu_to_le32(tern_vector_eqn(dev->tern, attr->comp_vector));
	cq->command.shift = cq->shift;
	ibcq->cqe = 1 << cq->shift;

	err = tern_number_alloc(dev->tern, TERN_NUMBERS_CQ, &cq->cqn);
	if (err)
		goto free_memory;
	cq->listener.cqn = cq->cqn;
	cq->listener.completion = tern_ib_cq_completion;
	cq->listener.error = tern_ib_cq_error;
	err = tern_cq_listen(dev->tern, &cq->listener);
	if (err)
		goto free_number;
	if (!udata) {
		err = xa_err(xa_store(&dev->kernel_cqs, cq->cqn, cq, GFP_KERNEL));
		if (err)
			goto unlisten;
	}
	err = tern_cmd_create_cq(dev->tern, cq->cqn, &cq->command);
	if (err)
		goto forget;
	if (udata) {
		response.cqn = cq->cqn;
		err = ib_respond_udata(udata, response);
		if (err)
			goto destroy;
	}
	return 0;

destroy:
	tern_cmd_destroy_cq(dev->tern, cq->cqn);
forget:
	if (!udata)
		xa_erase(&dev->kernel_cqs, cq->cqn);
unlisten:
	tern_cq_unlisten(dev->tern, &cq->listener);
free_number:
	tern_number_free(dev->tern, TERN_NUMBERS_CQ, cq->cqn);
free_memory:
	tern_ib_cq_memory_free(dev, cq);
	return err;
}

int tern_ib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct tern_ib_device *dev = to_tern_ib(ibcq->device);
	struct tern_ib_cq *cq = to_tern_cq(ibcq);
	struct tern_command_create_cq body = cq->command;

	/* A count alone would keep the last completions for ever. */
	if (count > 1 && !period)
		return -EINVAL;
	body.moderation_count = cpu_to_le16(count);
	body.moderation_period = cpu_to_le16(period);
	return tern_cmd_modify_cq(dev->tern, cq->cqn, &body);
}

/* The process neither polls nor arms it meanwhile; what it has not polled the device copies. */
int tern_ib_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibcq->device);
	struct tern_ib_cq *cq = to_tern_cq(ibcq);
	struct tern_command_resize_cq body = {};
	struct tern_ib_cq_memory memory;
	int err;

	if (!cqe || cqe > dev->limits.max_cqe)
		return -EINVAL;
	err = ib_respond_empty_udata(udata);
	if (err)
		return err;
	mutex_lock(&cq->resize_mutex);
	err = tern_ib_cq_memory_pin(dev, cqe, udata, &memory);
	if (err)
		goto unlock;
	body.pages = memory.queue.tables.list;
	body.record = cpu_to_le64(memory.record);
	body.shift = memory.shift;
	err = tern_cmd_resize_cq(dev->tern, cq->cqn, &body);
	if (!err) {
		cq->shift = memory.shift;
		swap(cq->user, memory.queue);
		swap(cq->record_page, memory.record_page);
		ibcq->cqe = 1 << cq->shift;
	}
	/* The old ones, or the new ones if the device did not take them. */
	tern_ib_cq_memory_unpin(dev, &memory);
unlock:
	mutex_unlock(&cq->resize_mutex);
	return err;
}

int tern_ib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibcq->device);
	struct tern_ib_cq *cq = to_tern_cq(ibcq);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	if (!ibcq->uobject)
		xa_erase(&dev->kernel_cqs, cq->cqn);
	/* It may fail, but then the device is dead, and the queue is gone all the same. */
	tern_cmd_destroy_cq(dev->tern, cq->cqn);
	tern_cq_unlisten(dev->tern, &cq->listener);
	tern_number_free(dev->tern, TERN_NUMBERS_CQ, cq->cqn);
	tern_ib_cq_memory_free(dev, cq);
	return 0;
}
