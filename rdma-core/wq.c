// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Receive work queues, indirection tables, and the queue pairs that use them. */
#include <errno.h>
#include <stdlib.h>

#include <tern_hw_flow.h>

#include "raw_packet.h"

struct tern_create_wq {
	struct ibv_create_wq ibv_cmd;
	struct tern_ureq_create_wq drv;
};

struct tern_create_hashing_qp {
	struct ibv_create_qp_ex ibv_cmd;
	struct tern_ureq_create_hashing_qp drv;
};

static_assert(sizeof(struct tern_create_wq) ==
	      sizeof(struct ibv_create_wq) + sizeof(struct tern_ureq_create_wq),
	      "create WQ command");
static_assert(sizeof(struct tern_create_hashing_qp) ==
	      sizeof(struct ibv_create_qp_ex) + sizeof(struct tern_ureq_create_hashing_qp),
	      "create hashing QP command");

/* The fields of verbs are the hardware's. */
static_assert(IBV_RX_HASH_SRC_IPV4 == (int)TERN_HASH_SOURCE_IPV4 &&
	      IBV_RX_HASH_DST_IPV4 == (int)TERN_HASH_DESTINATION_IPV4 &&
	      IBV_RX_HASH_SRC_IPV6 == (int)TERN_HASH_SOURCE_IPV6 &&
	      IBV_RX_HASH_DST_IPV6 == (int)TERN_HASH_DESTINATION_IPV6 &&
	      IBV_RX_HASH_SRC_PORT_TCP == (int)TERN_HASH_SOURCE_PORT_TCP &&
	      IBV_RX_HASH_DST_PORT_TCP == (int)TERN_HASH_DESTINATION_PORT_TCP &&
	      IBV_RX_HASH_SRC_PORT_UDP == (int)TERN_HASH_SOURCE_PORT_UDP &&
	      IBV_RX_HASH_DST_PORT_UDP == (int)TERN_HASH_DESTINATION_PORT_UDP, "hash fields");

#define TERN_HASH_FIELDS	0xffU

static int tern_wq_queues(struct tern_context *ctx, struct tern_wq *wq,
			  const struct ibv_wq_init_attr *attr)
{
	const struct ibv_qp_cap cap = {
		.max_recv_wr = attr->max_wr,
		.max_recv_sge = attr->max_sge,
	};
	struct tern_qp *qp = &wq->qp;
	int ret;

	if (!attr->max_wr)
		return EINVAL;
	qp->parent = tern_parent_get(attr->pd);
	qp->rq.lock.unneeded = qp->parent && qp->parent->td;
	ret = tern_alloc_sq(ctx, qp->parent, &qp->sq, false, &cap);
	if (ret)
		goto err_parent;
	ret = tern_alloc_rq(ctx, qp->parent, &qp->rq, &cap);
	if (ret)
		goto err_sq;
	qp->base.qp.context = &ctx->ibv_ctx.context;
	qp->base.qp.send_cq = attr->cq;
	qp->base.qp.recv_cq = attr->cq;
	qp->doorbell_receive = ctx->doorbell + TERN_DOORBELL_RECEIVE;
	return 0;

err_sq:
	tern_free_sq(ctx, &qp->sq);
err_parent:
	tern_parent_put(qp->parent);
	return ret;
}

static void tern_wq_free(struct tern_context *ctx, struct tern_wq *wq)
{
	tern_free_rq(ctx, &wq->qp.rq);
	tern_free_sq(ctx, &wq->qp.sq);
	tern_parent_put(wq->qp.parent);
	free(wq);
}

struct ibv_wq *tern_create_wq(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr)
{
	struct tern_context *ctx = to_tern_context(ibctx);
	struct ib_uverbs_ex_create_wq_resp resp = {};
	struct tern_create_wq cmd = {};
	struct tern_wq *wq;
	int ret;

	wq = calloc(1, sizeof(*wq));
	if (!wq) {
		errno = ENOMEM;
		return NULL;
	}
	ret = tern_wq_queues(ctx, wq, attr);
	if (ret) {
		free(wq);
		errno = ret;
		return NULL;
	}
	cmd.drv.queue_address = (uintptr_t)wq->qp.rq.ring;
	cmd.drv.record_address = (uintptr_t)wq->qp.rq.record;
	cmd.drv.shift = ilog32(wq->qp.rq.mask);
	cmd.drv.stride_shift = wq->qp.rq.stride_shift;

	pthread_mutex_lock(&ctx->qp_mutex);
	ret = ibv_cmd_create_wq(ibctx, attr, &wq->ibv_wq, &cmd.ibv_cmd, sizeof(cmd), &resp,
				sizeof(resp));
	if (ret)
		goto err_unlock;
	wq->qp.qpn = wq->ibv_wq.wq_num & TERN_NUMBER_MASK;
	ret = tern_qp_table_reserve(ctx, wq->qp.qpn);
	if (ret)
		goto err_destroy;
	tern_qp_table_set(ctx, wq->qp.qpn, &wq->qp);
	pthread_mutex_unlock(&ctx->qp_mutex);
	wq->ibv_wq.post_recv = tern_post_wq_recv;
	wq->ibv_wq.state = IBV_WQS_RESET;
	attr->max_wr = wq->qp.rq.request_max;
	attr->max_sge = wq->qp.rq.sge_max;
	return &wq->ibv_wq;

err_destroy:
	ibv_cmd_destroy_wq(&wq->ibv_wq);
err_unlock:
	pthread_mutex_unlock(&ctx->qp_mutex);
	tern_wq_free(ctx, wq);
	errno = ret;
	return NULL;
}

/* The queue is empty again, and so is the device's. */
static void tern_reset_wq(struct tern_wq *wq)
{
	struct tern_cq *cq = to_tern_cq(wq->qp.base.qp.recv_cq);
	struct tern_rq *rq = &wq->qp.rq;

	tern_lock(&rq->lock);
	tern_lock(&cq->lock);
	tern_cq_clean(cq, &wq->qp);
	rq->producer = 0;
	atomic_store_explicit(&rq->completed, 0, memory_order_relaxed);
	tern_record_reset(rq->record);
	tern_unlock(&cq->lock);
	tern_unlock(&rq->lock);
}

int tern_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	struct ibv_modify_wq cmd = {};
	int ret;

	ret = ibv_cmd_modify_wq(ibwq, attr, &cmd, sizeof(cmd));
	if (!ret && attr->attr_mask & IBV_WQ_ATTR_STATE && attr->wq_state == IBV_WQS_RESET)
		tern_reset_wq(to_tern_wq(ibwq));
	return ret;
}

int tern_destroy_wq(struct ibv_wq *ibwq)
{
	struct tern_context *ctx = to_tern_context(ibwq->context);
	struct tern_wq *wq = to_tern_wq(ibwq);
	struct tern_cq *cq = to_tern_cq(wq->qp.base.qp.recv_cq);
	int ret;

	pthread_mutex_lock(&ctx->qp_mutex);
	ret = ibv_cmd_destroy_wq(ibwq);
	if (ret) {
		pthread_mutex_unlock(&ctx->qp_mutex);
		return ret;
	}
	tern_lock(&cq->lock);
	tern_cq_clean(cq, &wq->qp);
	tern_qp_table_set(ctx, wq->qp.qpn, NULL);
	tern_unlock(&cq->lock);
	pthread_mutex_unlock(&ctx->qp_mutex);
	tern_wq_free(ctx, wq);
	return 0;
}

struct ibv_rwq_ind_table *tern_create_rwq_ind_table(struct ibv_context *ibctx,
						    struct ibv_rwq_ind_table_init_attr *attr)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {};
	struct ibv_rwq_ind_table *ibtable;
	int ret;

	ibtable = calloc(1, sizeof(*ibtable));
	if (!ibtable) {
		errno = ENOMEM;
		return NULL;
	}
	ret = ibv_cmd_create_rwq_ind_table(ibctx, attr, ibtable, &resp, sizeof(resp));
	if (ret) {
		free(ibtable);
		errno = ret;
		return NULL;
	}
	return ibtable;
}

int tern_destroy_rwq_ind_table(struct ibv_rwq_ind_table *ibtable)
{
	int ret;

	ret = ibv_cmd_destroy_rwq_ind_table(ibtable);
	if (ret)
		return ret;
	free(ibtable);
	return 0;
}

static int tern_check_hashing_qp(const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t both = IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
	const struct ibv_rx_hash_conf *conf = &attr->rx_hash_conf;

	if (attr->comp_mask & ~(both | IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS))
		return EOPNOTSUPP;
	if ((attr->comp_mask & both) != both || !(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	if (attr->qp_type != IBV_QPT_RAW_PACKET || attr->cap.max_send_wr ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags))
		return EOPNOTSUPP;
	if (conf->rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ ||
	    conf->rx_hash_fields_mask & ~(uint64_t)TERN_HASH_FIELDS)
		return EOPNOTSUPP;
	return conf->rx_hash_key_len == TERN_HASH_KEY_BYTES && conf->rx_hash_key ? 0 : EINVAL;
}

struct ibv_qp *tern_create_hashing_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	struct ib_uverbs_ex_create_qp_resp resp = {};
	struct tern_create_hashing_qp cmd = {};
	struct tern_qp *qp;
	int ret;

	ret = tern_check_hashing_qp(attr);
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
	memcpy(cmd.drv.key, attr->rx_hash_conf.rx_hash_key, sizeof(cmd.drv.key));
	cmd.drv.fields = attr->rx_hash_conf.rx_hash_fields_mask;
	ret = ibv_cmd_create_qp_ex2(ibctx, &qp->base, attr, &cmd.ibv_cmd, sizeof(cmd), &resp,
				    sizeof(resp));
	if (ret) {
		tern_parent_put(qp->parent);
		free(qp);
		errno = ret;
		return NULL;
	}
	/* cppcheck-suppress memleak ; it belongs to whoever has the verbs' part of it */
	return &qp->base.qp;
}

int tern_destroy_hashing_qp(struct tern_qp *qp)
{
	int ret;

	ret = ibv_cmd_destroy_qp(&qp->base.qp);
	if (ret)
		return ret;
	tern_parent_put(qp->parent);
	free(qp);
	return 0;
}
