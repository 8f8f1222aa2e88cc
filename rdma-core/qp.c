// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pairs: their life, their sizes, and the table that finds them. */
#include <errno.h>
#include <stdlib.h>
#include <ccan/minmax.h>

#include "raw_packet.h"
#include "xrc.h"

struct tern_create_qp {
	struct ibv_create_qp ibv_cmd;
	struct tern_ureq_create_qp drv;
};

static_assert(sizeof(struct tern_create_qp) ==
	      sizeof(struct ibv_create_qp) + sizeof(struct tern_ureq_create_qp),
	      "create QP command");

/* What a queue's word is when the device follows no records: always ring. */
static __le32 tern_always = (__le32)1;

__le32 *tern_wants_ring(struct tern_context *ctx, struct tern_queue_record *record)
{
	return ctx->records ? &record->ring : &tern_always;
}

static struct tern_qp *tern_no_qps[TERN_QP_TABLE_SIZE];

int tern_qp_table_init(struct tern_context *ctx)
{
	uint32_t i;

	ctx->qps = calloc((TERN_NUMBER_MASK >> TERN_QP_TABLE_SHIFT) + 1, sizeof(*ctx->qps));
	if (!ctx->qps)
		return ENOMEM;
	for (i = 0; i <= TERN_NUMBER_MASK >> TERN_QP_TABLE_SHIFT; i++)
		ctx->qps[i] = tern_no_qps;
	return 0;
}

void tern_qp_table_free(struct tern_context *ctx)
{
	uint32_t i;

	for (i = 0; i <= TERN_NUMBER_MASK >> TERN_QP_TABLE_SHIFT; i++)
		if (ctx->qps[i] != tern_no_qps)
			free(ctx->qps[i]);
	free(ctx->qps);
}

/*
 * Make room for @qpn. A table that a number of it once needed stays until the
 * context ends, so that a poller never meets one that is being freed.
 */
int tern_qp_table_reserve(struct tern_context *ctx, uint32_t qpn)
{
	struct tern_qp **table;

	if (ctx->qps[qpn >> TERN_QP_TABLE_SHIFT] != tern_no_qps)
		return 0;
	table = calloc(TERN_QP_TABLE_SIZE, sizeof(*table));
	if (!table)
		return ENOMEM;
	ctx->qps[qpn >> TERN_QP_TABLE_SHIFT] = table;
	return 0;
}

void tern_qp_table_set(struct tern_context *ctx, uint32_t qpn, struct tern_qp *qp)
{
	ctx->qps[qpn >> TERN_QP_TABLE_SHIFT][qpn & (TERN_QP_TABLE_SIZE - 1)] = qp;
}

/* An XRC initiator has but one. */
static struct tern_cq *tern_receive_cq(const struct tern_qp *qp)
{
	const struct ibv_qp *ibqp = &qp->base.qp;

	return to_tern_cq(ibqp->recv_cq ? ibqp->recv_cq : ibqp->send_cq);
}

/* Take both completion queues' locks, in an order that two callers agree on. */
static void tern_cqs_lock(struct tern_qp *qp)
{
	struct tern_cq *send = to_tern_cq(qp->base.qp.send_cq);
	struct tern_cq *receive = tern_receive_cq(qp);

	tern_lock(send < receive ? &send->lock : &receive->lock);
	if (send != receive)
		tern_lock(send < receive ? &receive->lock : &send->lock);
}

static void tern_cqs_unlock(struct tern_qp *qp)
{
	struct tern_cq *send = to_tern_cq(qp->base.qp.send_cq);
	struct tern_cq *receive = tern_receive_cq(qp);

	tern_unlock(&send->lock);
	if (send != receive)
		tern_unlock(&receive->lock);
}

/* Drop the completions of a queue pair that makes no more. Both locks are held. */
static void tern_clean_cqs(struct tern_qp *qp)
{
	struct tern_cq *send = to_tern_cq(qp->base.qp.send_cq);
	struct tern_cq *receive = tern_receive_cq(qp);

	tern_cq_clean(send, qp);
	if (send != receive)
		tern_cq_clean(receive, qp);
}

/*
 * A send queue's requests take as many blocks as the largest that @cap allows
 * needs; what a request's last block and the ring's last power of two have to
 * spare is given to the application.
 */
static int tern_size_sq(struct tern_context *ctx, struct tern_sq *sq, bool datagram,
			const struct ibv_qp_cap *cap)
{
	uint32_t header = datagram ? TERN_HEADER_UD : TERN_HEADER_REMOTE;
	uint32_t inline_max = datagram ? ctx->inline_max_ud : ctx->inline_max;
	uint32_t blocks, bytes;
	uint64_t ring;

	if (cap->max_send_sge > ctx->send_sge_max || cap->max_inline_data > inline_max ||
	    cap->max_send_wr > ctx->sq_blocks_max)
		return EINVAL;
	bytes = header + max_t(uint32_t, cap->max_send_sge * sizeof(struct tern_sge),
			       cap->max_inline_data);
	if (bytes > TERN_WQE_BYTES_MAX)
		return EINVAL;
	blocks = tern_wqe_blocks(bytes);
	ring = roundup_pow_of_two((uint64_t)cap->max_send_wr * blocks);
	if (ring < 2)
		ring = 2;
	if (ring > ctx->sq_blocks_max)
		return EINVAL;

	bytes = blocks << TERN_WQE_BLOCK_SHIFT;
	sq->mask = ring - 1;
	sq->request_max = min_t(uint32_t, ring / blocks, roundup_pow_of_two(cap->max_send_wr));
	sq->sge_max = min_t(uint32_t, (bytes - header) / sizeof(struct tern_sge),
			    ctx->send_sge_max);
	sq->inline_max = min_t(uint32_t, bytes - header, inline_max);
	return 0;
}

static int tern_size_rq(struct tern_context *ctx, struct tern_rq *rq,
			const struct ibv_qp_cap *cap)
{
	uint32_t bytes, size;

	if (cap->max_recv_sge > ctx->receive_sge_max || cap->max_recv_wr > ctx->rq_entries_max)
		return EINVAL;
	bytes = sizeof(struct tern_receive_header) +
		cap->max_recv_sge * sizeof(struct tern_sge);
	rq->stride_shift = TERN_RECEIVE_STRIDE_SHIFT_MIN;
	while (1U << rq->stride_shift < bytes)
		rq->stride_shift++;
	if (rq->stride_shift > TERN_RECEIVE_STRIDE_SHIFT_MAX)
		return EINVAL;
	size = roundup_pow_of_two(cap->max_recv_wr);
	if (size < 2)
		size = 2;
	if (size > ctx->rq_entries_max)
		return EINVAL;

	rq->mask = size - 1;
	rq->request_max = size;
	rq->sge_max = min_t(uint32_t, ((1U << rq->stride_shift) -
				       sizeof(struct tern_receive_header)) /
				      sizeof(struct tern_sge), ctx->receive_sge_max);
	return 0;
}

void tern_free_sq(struct tern_context *ctx, struct tern_sq *sq)
{
	free(sq->entries);
	if (sq->record)
		tern_record_free(ctx, sq->record);
	if (sq->ring)
		tern_buffer_free(&sq->buffer);
}

void tern_free_rq(struct tern_context *ctx, struct tern_rq *rq)
{
	free(rq->wr_ids);
	if (rq->record)
		tern_record_free(ctx, rq->record);
	if (rq->ring)
		tern_buffer_free(&rq->buffer);
}

/* Without requests there is no ring; one entry remains for what a broken device may complete. */
int tern_alloc_sq(struct tern_context *ctx, struct tern_pd *parent, struct tern_sq *sq,
		  bool datagram, const struct ibv_qp_cap *cap)
{
	int ret;

	if (cap->max_send_wr) {
		ret = tern_size_sq(ctx, sq, datagram, cap);
		if (ret)
			goto err;
		ret = tern_buffer_alloc_in(ctx, parent, TERN_RESOURCE_SEND_QUEUE, &sq->buffer,
					   ((size_t)sq->mask + 1) << TERN_WQE_BLOCK_SHIFT);
		if (ret)
			goto err;
		sq->ring = sq->buffer.base;
		sq->record = tern_record_alloc(ctx);
		if (!sq->record) {
			ret = errno;
			goto err;
		}
		sq->wants_ring = tern_wants_ring(ctx, sq->record);
	}
	sq->entries = calloc((size_t)sq->mask + 1, sizeof(*sq->entries));
	if (!sq->entries) {
		ret = ENOMEM;
		goto err;
	}
	return 0;

err:
	tern_free_sq(ctx, sq);
	return ret;
}

int tern_alloc_rq(struct tern_context *ctx, struct tern_pd *parent, struct tern_rq *rq,
		  const struct ibv_qp_cap *cap)
{
	int ret;

	if (cap->max_recv_wr) {
		ret = tern_size_rq(ctx, rq, cap);
		if (ret)
			goto err;
		ret = tern_buffer_alloc_in(ctx, parent, TERN_RESOURCE_RECEIVE_QUEUE, &rq->buffer,
					   ((size_t)rq->mask + 1) << rq->stride_shift);
		if (ret)
			goto err;
		rq->ring = rq->buffer.base;
		rq->record = tern_record_alloc(ctx);
		if (!rq->record) {
			ret = errno;
			goto err;
		}
		rq->wants_ring = tern_wants_ring(ctx, rq->record);
	}
	rq->wr_ids = calloc((size_t)rq->mask + 1, sizeof(*rq->wr_ids));
	if (!rq->wr_ids) {
		ret = ENOMEM;
		goto err;
	}
	return 0;

err:
	tern_free_rq(ctx, rq);
	return ret;
}

static void tern_report_cap(const struct tern_qp *qp, struct ibv_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.request_max;
	cap->max_send_sge = qp->sq.sge_max;
	cap->max_inline_data = qp->sq.inline_max;
	cap->max_recv_wr = qp->rq.request_max;
	cap->max_recv_sge = qp->rq.sge_max;
}

/* NULL: no such queue pairs. */
static const struct tern_send_op *tern_ops_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return tern_rc_ops;
	case IBV_QPT_XRC_SEND:
		return tern_xrc_ops;
	case IBV_QPT_UC:
		return tern_uc_ops;
	case IBV_QPT_UD:
		return tern_ud_ops;
	case IBV_QPT_RAW_PACKET:
		return tern_raw_ops;
	default:
		return NULL;
	}
}

static int tern_check_qp(const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (attr->comp_mask & ~known)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags &&
	    (attr->qp_type != IBV_QPT_RAW_PACKET ||
	     attr->create_flags & ~IBV_QP_CREATE_CVLAN_STRIPPING))
		return EOPNOTSUPP;
	if (!tern_ops_of(attr->qp_type))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	return 0;
}

struct ibv_qp *tern_create_qp_ex(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	bool send_ops = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	struct tern_context *ctx = to_tern_context(ibctx);
	bool datagram = attr->qp_type == IBV_QPT_UD;
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_qp_init_attr_ex for_kernel;
	struct tern_create_qp cmd = {};
	struct tern_qp *qp;
	int ret;

	if (attr->comp_mask & (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH))
		return tern_create_hashing_qp(ibctx, attr);
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return tern_create_xrc_target(ibctx, attr);
	ret = tern_check_qp(attr);
	if (ret) {
		errno = ret;
		return NULL;
	}

	qp = calloc(1, sizeof(*qp));
	if (!qp) {
		errno = ENOMEM;
		return NULL;
	}
	qp->parent = tern_parent_get(attr->pd);
	/* One thread uses what is made in a thread domain. */
	qp->sq.lock.unneeded = qp->parent && qp->parent->td;
	qp->rq.lock.unneeded = qp->sq.lock.unneeded;
	if (send_ops) {
		ret = tern_wr_init(qp, attr->qp_type, attr->send_ops_flags, ctx->features);
		if (ret)
			goto err_qp;
	}
	if (attr->srq)
		qp->srq = to_tern_srq(attr->srq);
	if (attr->srq || attr->qp_type == IBV_QPT_XRC_SEND) {
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
	}
	ret = tern_alloc_sq(ctx, qp->parent, &qp->sq, datagram, &attr->cap);
	if (ret)
		goto err_staged;
	ret = tern_alloc_rq(ctx, qp->parent, &qp->rq, &attr->cap);
	if (ret)
		goto err_sq;
	qp->sq.ops = tern_ops_of(attr->qp_type);
	qp->sq.signal_all = attr->sq_sig_all ? TERN_WQE_SIGNALED : 0;
	qp->doorbell_send = ctx->doorbell + TERN_DOORBELL_SEND;
	qp->doorbell_receive = ctx->doorbell + TERN_DOORBELL_RECEIVE;

	if (qp->sq.ring) {
		cmd.drv.sq_address = (uintptr_t)qp->sq.ring;
		cmd.drv.sq_record_address = (uintptr_t)qp->sq.record;
		cmd.drv.sq_shift = ilog32(qp->sq.mask);
	}
	if (qp->rq.ring) {
		cmd.drv.rq_address = (uintptr_t)qp->rq.ring;
		cmd.drv.rq_record_address = (uintptr_t)qp->rq.record;
		cmd.drv.rq_shift = ilog32(qp->rq.mask);
		cmd.drv.rq_stride_shift = qp->rq.stride_shift;
	}

	/* What the rest of @attr asks for is done here, or was refused. */
	for_kernel = *attr;
	for_kernel.comp_mask &= IBV_QP_INIT_ATTR_PD;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags)
		for_kernel.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	pthread_mutex_lock(&ctx->qp_mutex);
	ret = ibv_cmd_create_qp_ex(ibctx, &qp->base, &for_kernel, &cmd.ibv_cmd, sizeof(cmd),
				   &resp, sizeof(resp));
	if (ret)
		goto err_unlock;
	qp->qpn = qp->base.qp.qp_num & TERN_NUMBER_MASK;
	ret = tern_qp_table_reserve(ctx, qp->qpn);
	if (ret)
		goto err_destroy;
	tern_qp_table_set(ctx, qp->qpn, qp);
	pthread_mutex_unlock(&ctx->qp_mutex);

	if (send_ops)
		qp->base.comp_mask |= VERBS_QP_EX;
	tern_report_cap(qp, &attr->cap);
	return &qp->base.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->base.qp);
err_unlock:
	pthread_mutex_unlock(&ctx->qp_mutex);
	tern_free_rq(ctx, &qp->rq);
err_sq:
	tern_free_sq(ctx, &qp->sq);
err_staged:
	free(qp->staged);
err_qp:
	tern_parent_put(qp->parent);
	free(qp);
	errno = ret;
	return NULL;
}

struct ibv_qp *tern_create_qp(struct ibv_pd *ibpd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {};
	struct ibv_qp *ibqp;

	/* It begins as the other does. */
	memcpy(&attr_ex, attr, sizeof(*attr));
	attr_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr_ex.pd = ibpd;
	ibqp = tern_create_qp_ex(ibpd->context, &attr_ex);
	if (ibqp)
		attr->cap = attr_ex.cap;
	return ibqp;
}

/*
 * Records of a queue pair in RESET are the host's, the device's line too: a
 * word it left there would be taken for a request of the next life.
 */
void tern_record_reset(struct tern_queue_record *record)
{
	if (record)
		memset(record, 0, sizeof(*record));
}

/* Both queues are empty again, and so are the device's. */
static void tern_reset_queues(struct tern_qp *qp)
{
	tern_lock(&qp->sq.lock);
	tern_lock(&qp->rq.lock);
	tern_cqs_lock(qp);

	tern_clean_cqs(qp);
	qp->sq.producer = 0;
	qp->sq.posted = 0;
	atomic_store_explicit(&qp->sq.completed, 0, memory_order_relaxed);
	tern_record_reset(qp->sq.record);
	qp->rq.producer = 0;
	atomic_store_explicit(&qp->rq.completed, 0, memory_order_relaxed);
	tern_record_reset(qp->rq.record);

	tern_cqs_unlock(qp);
	tern_unlock(&qp->rq.lock);
	tern_unlock(&qp->sq.lock);
}

int tern_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp cmd = {};
	int ret;

	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (!ret && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET &&
	    !tern_is_xrc_target(to_tern_qp(ibqp)))
		tern_reset_queues(to_tern_qp(ibqp));
	return ret;
}

int tern_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct tern_qp *qp = to_tern_qp(ibqp);
	struct ibv_query_qp cmd;
	int ret;

	ret = ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	tern_report_cap(qp, &init_attr->cap);
	attr->cap = init_attr->cap;
	return 0;
}

int tern_destroy_qp(struct ibv_qp *ibqp)
{
	struct tern_context *ctx = to_tern_context(ibqp->context);
	struct tern_qp *qp = to_tern_qp(ibqp);
	int ret;

	if (tern_is_hashing(qp))
		return tern_destroy_hashing_qp(qp);
	if (tern_is_xrc_target(qp))
		return tern_destroy_xrc_target(qp);
	pthread_mutex_lock(&ctx->qp_mutex);
	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret) {
		pthread_mutex_unlock(&ctx->qp_mutex);
		return ret;
	}
	tern_cqs_lock(qp);
	tern_clean_cqs(qp);
	tern_qp_table_set(ctx, qp->qpn, NULL);
	tern_cqs_unlock(qp);
	pthread_mutex_unlock(&ctx->qp_mutex);

	tern_free_rq(ctx, &qp->rq);
	tern_free_sq(ctx, &qp->sq);
	free(qp->staged);
	tern_parent_put(qp->parent);
	free(qp);
	return 0;
}
