// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Completion queues: their life, and their cleaning when a queue pair ends. */
#include <errno.h>
#include <stdlib.h>

#include "cqe.h"
#include "tern.h"
#include "xrc.h"

struct tern_create_cq {
	struct ibv_create_cq ibv_cmd;
	struct tern_ureq_create_cq drv;
};

struct tern_resize_cq {
	struct ibv_resize_cq ibv_cmd;
	struct tern_ureq_create_cq drv;
};

struct tern_create_cq_resp {
	struct ib_uverbs_create_cq_resp ibv_resp;
	struct tern_uresp_create_cq drv;
};

struct tern_create_cq_ex {
	struct ibv_create_cq_ex ibv_cmd;
	struct tern_ureq_create_cq drv;
};

struct tern_create_cq_ex_resp {
	struct ib_uverbs_ex_create_cq_resp ibv_resp;
	struct tern_uresp_create_cq drv;
};

static_assert(sizeof(struct tern_create_cq) ==
	      sizeof(struct ibv_create_cq) + sizeof(struct tern_ureq_create_cq),
	      "create CQ command");
static_assert(sizeof(struct tern_resize_cq) ==
	      sizeof(struct ibv_resize_cq) + sizeof(struct tern_ureq_create_cq),
	      "resize CQ command");
static_assert(sizeof(struct tern_create_cq_resp) ==
	      sizeof(struct ib_uverbs_create_cq_resp) + sizeof(struct tern_uresp_create_cq),
	      "create CQ response");
static_assert(sizeof(struct tern_create_cq_ex) ==
	      sizeof(struct ibv_create_cq_ex) + sizeof(struct tern_ureq_create_cq),
	      "create extended CQ command");
static_assert(sizeof(struct tern_create_cq_ex_resp) ==
	      sizeof(struct ib_uverbs_ex_create_cq_resp) + sizeof(struct tern_uresp_create_cq),
	      "create extended CQ response");

static void tern_cq_free(struct tern_context *ctx, struct tern_cq *cq)
{
	tern_record_free(ctx, cq->record);
	tern_buffer_free(&cq->buffer);
	tern_parent_put(cq->parent);
	free(cq);
}

/* A completion queue that the kernel does not know yet, and what it is to be told. */
static struct tern_cq *tern_cq_new(struct tern_context *ctx, struct ibv_pd *ibpd, uint32_t cqe,
				   struct tern_ureq_create_cq *request)
{
	struct tern_cq *cq;
	int ret;

	if (cqe < 1 || cqe > ctx->cq_entries_max) {
		errno = EINVAL;
		return NULL;
	}

	cq = calloc(1, sizeof(*cq));
	if (!cq) {
		errno = ENOMEM;
		return NULL;
	}
	cq->size = cqe < 2 ? 2 : roundup_pow_of_two(cqe);
	cq->qps = ctx->qps;

	cq->parent = ibpd ? tern_parent_get(ibpd) : NULL;
	/* Who has one thread for it has no use for a lock. */
	cq->lock.unneeded = cq->parent && cq->parent->td;

	ret = tern_buffer_alloc_in(ctx, cq->parent, TERN_RESOURCE_COMPLETION_QUEUE, &cq->buffer,
				   cq->size * sizeof(struct tern_cqe));
	if (ret)
		goto err_cq;
	cq->ring = cq->buffer.base;
	cq->record = tern_record_alloc(ctx);
	if (!cq->record) {
		ret = errno;
		goto err_buffer;
	}

	request->queue_address = (uintptr_t)cq->ring;
	request->record_address = (uintptr_t)cq->record;
	request->shift = ilog32(cq->size) - 1;
	return cq;

err_buffer:
	tern_buffer_free(&cq->buffer);
err_cq:
	tern_parent_put(cq->parent);
	free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *tern_create_cq(struct ibv_context *ibctx, int cqe,
			      struct ibv_comp_channel *channel, int comp_vector)
{
	struct tern_context *ctx = to_tern_context(ibctx);
	struct tern_create_cq_resp resp = {};
	struct tern_create_cq cmd = {};
	struct tern_cq *cq;
	int ret;

	if (cqe < 1) {
		errno = EINVAL;
		return NULL;
	}
	cq = tern_cq_new(ctx, NULL, cqe, &cmd.drv);
	if (!cq)
		return NULL;
	ret = ibv_cmd_create_cq(ibctx, cqe, channel, comp_vector, &cq->base.cq, &cmd.ibv_cmd,
				sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret) {
		tern_cq_free(ctx, cq);
		errno = ret;
		return NULL;
	}
	cq->cqn = resp.drv.cqn;
	return &cq->base.cq;
}

static int tern_check_cq(const struct tern_context *ctx, const struct ibv_cq_init_attr_ex *attr)
{
	uint64_t wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_CVLAN;

	if (ctx->timestamps)
		wc_flags |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	if (attr->comp_mask & ~(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) ||
	    attr->wc_flags & ~wc_flags)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!attr->parent_domain || !to_tern_pd(attr->parent_domain)->contained))
		return EINVAL;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return EOPNOTSUPP;
	return 0;
}

struct ibv_cq_ex *tern_create_cq_ex(struct ibv_context *ibctx, struct ibv_cq_init_attr_ex *attr)
{
	struct tern_context *ctx = to_tern_context(ibctx);
	struct tern_create_cq_ex_resp resp = {};
	struct tern_create_cq_ex cmd = {};
	struct ibv_pd *ibpd = NULL;
	struct tern_cq *cq;
	int ret;

	ret = tern_check_cq(ctx, attr);
	if (ret) {
		errno = ret;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		ibpd = attr->parent_domain;
	cq = tern_cq_new(ctx, ibpd, attr->cqe, &cmd.drv);
	if (!cq)
		return NULL;
	ret = ibv_cmd_create_cq_ex(ibctx, attr, &cq->base, &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp), 0);
	if (ret) {
		tern_cq_free(ctx, cq);
		errno = ret;
		return NULL;
	}
	cq->cqn = resp.drv.cqn;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		cq->lock.unneeded = true;
	tern_cq_ex_init(cq);
	return &cq->base.cq_ex;
}

/*
 * The device copies what was not polled to the start of the new ring; until it
 * has, nobody polls or arms.
 */
int tern_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct tern_context *ctx = to_tern_context(ibcq->context);
	struct tern_queue_record *record, *old_record;
	struct ib_uverbs_resize_cq_resp resp = {};
	struct tern_cq *cq = to_tern_cq(ibcq);
	struct tern_resize_cq cmd = {};
	struct tern_buffer buffer, old;
	uint32_t size;
	int ret;

	if (cqe < 1 || cqe > ctx->cq_entries_max)
		return EINVAL;
	size = cqe < 2 ? 2 : roundup_pow_of_two(cqe);
	ret = tern_buffer_alloc(ctx, &buffer, size * sizeof(struct tern_cqe));
	if (ret)
		return ret;
	record = tern_record_alloc(ctx);
	if (!record) {
		ret = errno;
		tern_buffer_free(&buffer);
		return ret;
	}
	cmd.drv.queue_address = (uintptr_t)buffer.base;
	cmd.drv.record_address = (uintptr_t)record;
	cmd.drv.shift = ilog32(size) - 1;

	tern_lock(&cq->lock);
	tern_lock(&cq->arm_lock);
	tern_record_store(&record->arm, cq->arm);
	old = cq->buffer;
	old_record = cq->record;
	ret = ibv_cmd_resize_cq(ibcq, cqe, &cmd.ibv_cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		old = buffer;
		old_record = record;
	} else {
		cq->buffer = buffer;
		cq->ring = buffer.base;
		cq->record = record;
		cq->size = size;
		cq->consumer = 0;
	}
	tern_unlock(&cq->arm_lock);
	tern_unlock(&cq->lock);

	tern_record_free(ctx, old_record);
	tern_buffer_free(&old);
	return ret;
}

int tern_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

int tern_destroy_cq(struct ibv_cq *ibcq)
{
	struct tern_context *ctx = to_tern_context(ibcq->context);
	struct tern_cq *cq = to_tern_cq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;
	tern_cq_free(ctx, cq);
	return 0;
}

/* libibverbs hands out an event of this queue. */
void tern_cq_event(struct ibv_cq *ibcq)
{
	struct tern_cq *cq = to_tern_cq(ibcq);

	tern_lock(&cq->arm_lock);
	cq->events++;
	tern_unlock(&cq->arm_lock);
}

static struct tern_cqe *tern_cq_entry(struct tern_cq *cq, uint32_t index)
{
	return (struct tern_cqe *)cq->ring + (index & (cq->size - 1));
}

/* Of the XRC SRQ, or else of the queue pair? What an XRC target receives is its SRQ's. */
static bool tern_cqe_of(const struct tern_cqe *cqe, const struct tern_qp *qp,
			const struct tern_srq *srq)
{
	bool xrc = cqe->flags & TERN_CQE_FLAG_XRC;

	return srq ? xrc && le32toh(cqe->srqn) == srq->srqn :
		     !xrc && le32toh(cqe->queue) == qp->qpn;
}

/*
 * Drop the entries of @qp or @srq, for which the device writes no more. Those
 * of others move up into the gaps; an entry's phase belongs to its place and
 * stays. The caller holds the lock.
 */
static void tern_cq_drop(struct tern_cq *cq, struct tern_qp *qp, struct tern_srq *srq)
{
	uint32_t end = cq->consumer, index, dropped = 0;
	uint64_t wr_id;

	while (end - cq->consumer < cq->size &&
	       tern_phase_matches(tern_record_load(&tern_cq_entry(cq, end)->phase), end, cq->size))
		end++;
	/* Pairs with the device's release of phase. */
	udma_from_device_barrier();

	for (index = end; index != cq->consumer; index--) {
		struct tern_cqe *cqe = tern_cq_entry(cq, index - 1);

		if (tern_cqe_of(cqe, qp, srq)) {
			/* The shared queue gets its entry back, unless it is that which goes. */
			if (!srq && qp->srq && tern_cqe_is_receive(cqe))
				tern_srq_complete(qp->srq, le32toh(cqe->index), &wr_id);
			dropped++;
		} else if (dropped) {
			memcpy(tern_cq_entry(cq, index - 1 + dropped), cqe,
			       offsetof(struct tern_cqe, phase));
		}
	}
	if (dropped) {
		cq->consumer += dropped;
		tern_record_store(&cq->record->index, cq->consumer);
	}
}

void tern_cq_clean(struct tern_cq *cq, struct tern_qp *qp)
{
	tern_cq_drop(cq, qp, NULL);
}

void tern_cq_clean_srq(struct tern_cq *cq, struct tern_srq *srq)
{
	tern_cq_drop(cq, NULL, srq);
}
