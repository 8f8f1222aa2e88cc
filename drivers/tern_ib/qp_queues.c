// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: memory of a queue pair's queues. */
#include <uapi/rdma/tern-abi.h>

#include "internal.h"

static void tern_ib_queue_shape(struct tern_ib_qp *qp, const struct tern_ib_sizes *sizes)
{
	qp->has_sq = sizes->has_sq;
	qp->has_rq = sizes->has_rq;
	qp->sq.shift = sizes->sq_shift;
	qp->sq.unit_shift = TERN_WQE_BLOCK_SHIFT;
	qp->rq.shift = sizes->rq_shift;
	qp->rq.unit_shift = sizes->rq_stride_shift;
}

static void tern_ib_describe_shape(const struct tern_ib_qp *qp,
				   struct tern_command_create_qp *body)
{
	u32 flags = le32_to_cpu(body->flags);

	if (qp->has_sq)
		body->sq_shift = qp->sq.shift;
	else
		flags |= TERN_QP_NO_SQ;
	if (qp->has_rq) {
		body->rq_shift = qp->rq.shift;
		body->rq_stride_shift = qp->rq.unit_shift;
	} else {
		flags |= TERN_QP_NO_RQ;
	}
	body->flags = cpu_to_le32(flags);
}

static size_t tern_ib_queue_bytes(const struct tern_ib_work_queue *queue)
{
	return 1UL << (queue->shift + queue->unit_shift);
}

static int tern_ib_kernel_queue(struct tern_ib_device *dev, struct tern_ib_work_queue *queue,
				u32 max_wr)
{
	int err;

	err = tern_ib_ring_init(&queue->ring, queue->shift, max_wr);
	if (err)
		return err;
	err = tern_buffer_alloc(dev->tern, &queue->buffer, tern_ib_queue_bytes(queue));
	if (err)
		goto destroy_ring;
	err = tern_record_alloc(dev->tern, &queue->record);
	if (err)
		goto free_buffer;
	return 0;

free_buffer:
	tern_buffer_free(dev->tern, &queue->buffer);
destroy_ring:
	tern_ib_ring_destroy(&queue->ring);
	return err;
}

static void tern_ib_free_kernel_queue(struct tern_ib_device *dev,
				      struct tern_ib_work_queue *queue)
{
	tern_record_free(dev->tern, &queue->record);
	tern_buffer_free(dev->tern, &queue->buffer);
	tern_ib_ring_destroy(&queue->ring);
}

/**
 * tern_ib_kernel_queues() - make the queues of a kernel queue pair
 * @dev: the device
 * @qp: the queue pair, its capabilities checked
 * @body: gets what the device must know
 *
 * Return: 0 or a negative errno
 */
int tern_ib_kernel_queues(struct tern_ib_device *dev, struct tern_ib_qp *qp,
			  struct tern_command_create_qp *body)
{
	struct tern_ib_sizes sizes;
	int err;

	tern_ib_size_queues(qp->ib.qp_type, &qp->cap, &sizes);
	tern_ib_queue_shape(qp, &sizes);
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	if (qp->has_sq) {
		err = tern_ib_kernel_queue(dev, &qp->sq, qp->cap.max_send_wr);
		if (err)
			return err;
		body->sq = qp->sq.buffer.pages.list;
		body->sq_record = cpu_to_le64(qp->sq.record.dma);
	}
	if (qp->has_rq) {
		err = tern_ib_kernel_queue(dev, &qp->rq, qp->cap.max_recv_wr);
		if (err)
			goto free_sq;
		body->rq = qp->rq.buffer.pages.list;
		body->rq_record = cpu_to_le64(qp->rq.record.dma);
	}
	/* The core makes XRC targets for processes. */
	if (qp->ib.qp_type != IB_QPT_XRC_TGT)
		body->flags = cpu_to_le32(TERN_QP_PRIVILEGED);
	tern_ib_describe_shape(qp, body);
	return 0;

free_sq:
	if (qp->has_sq)
		tern_ib_free_kernel_queue(dev, &qp->sq);
	return err;
}

int tern_ib_user_queue(struct tern_ib_device *dev, struct tern_ib_ucontext *ucontext,
		       struct tern_ib_work_queue *queue, u64 address, u64 record_address,
		       dma_addr_t *record)
{
	int err;

	/* The device only reads work requests. */
	err = tern_ib_user_queue_pin(dev, &queue->user, address, tern_ib_queue_bytes(queue),
				     false);
	if (err)
		return err;
	queue->record_page = tern_ib_user_record_pin(ucontext, record_address, record);
	if (IS_ERR(queue->record_page)) {
		err = PTR_ERR(queue->record_page);
		queue->record_page = NULL;
		tern_ib_user_queue_unpin(dev, &queue->user);
	}
	return err;
}

void tern_ib_free_user_queue(struct tern_ib_device *dev, struct tern_ib_work_queue *queue)
{
	tern_ib_user_record_unpin(queue->record_page);
	tern_ib_user_queue_unpin(dev, &queue->user);
}

static int tern_ib_check_request(struct tern_ib_device *dev, struct tern_ib_qp *qp,
				 const struct tern_ureq_create_qp *request)
{
	struct tern_ib_sizes given = {
		.sq_shift = request->sq_shift,
		.rq_shift = request->rq_shift,
		.rq_stride_shift = request->rq_stride_shift,
	};
	struct tern_ib_sizes least;
	int err;

	if (memchr_inv(request->reserved0, 0, sizeof(request->reserved0)))
		return -EOPNOTSUPP;
	tern_ib_size_queues(qp->ib.qp_type, &qp->cap, &least);
	err = tern_ib_check_sizes(&dev->limits, &least, &given);
	if (err)
		return err;
	if (!least.has_sq && (request->sq_address || request->sq_record_address))
		return -EINVAL;
	if (!least.has_rq && (request->rq_address || request->rq_record_address))
		return -EINVAL;
	given.has_sq = least.has_sq;
	given.has_rq = least.has_rq;
	tern_ib_queue_shape(qp, &given);
	return 0;
}

/**
 * tern_ib_user_queues() - take the queues of a process's queue pair
 * @dev: the device
 * @qp: the queue pair, its capabilities checked
 * @udata: what the process gave
 * @body: gets what the device must know
 *
 * Return: 0 or a negative errno
 */
int tern_ib_user_queues(struct tern_ib_device *dev, struct tern_ib_qp *qp,
			struct ib_udata *udata, struct tern_command_create_qp *body)
{
	struct tern_ib_ucontext *ucontext =
		rdma_udata_to_drv_context(udata, struct tern_ib_ucontext, ib);
	struct tern_ureq_create_qp request;
	dma_addr_t record;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, request, reserved0, 0);
	if (err)
		return err;
	err = tern_ib_check_request(dev, qp, &request);
	if (err)
		return err;
	if (qp->has_sq) {
		err = tern_ib_user_queue(dev, ucontext, &qp->sq, request.sq_address,
					 request.sq_record_address, &record);
		if (err)
			return err;
		body->sq = qp->sq.user.tables.list;
		body->sq_record = cpu_to_le64(record);
	}
	if (qp->has_rq) {
		err = tern_ib_user_queue(dev, ucontext, &qp->rq, request.rq_address,
					 request.rq_record_address, &record);
		if (err)
			goto free_sq;
		body->rq = qp->rq.user.tables.list;
		body->rq_record = cpu_to_le64(record);
	}
	body->doorbell_page = cpu_to_le32(ucontext->doorbell_page);
	tern_ib_describe_shape(qp, body);
	return 0;

free_sq:
	if (qp->has_sq)
		tern_ib_free_user_queue(dev, &qp->sq);
	return err;
}

void tern_ib_free_queues(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	void (*free)(struct tern_ib_device *dev, struct tern_ib_work_queue *queue) =
		qp->ib.uobject ? tern_ib_free_user_queue : tern_ib_free_kernel_queue;

	if (qp->has_sq)
		free(dev, &qp->sq);
	if (qp->has_rq)
		free(dev, &qp->rq);
}
