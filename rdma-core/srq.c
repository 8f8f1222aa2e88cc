// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Shared receive queues: their life, their tags, posting. */
#include <errno.h>
#include <stdlib.h>
#include <ccan/minmax.h>

#include "tern.h"
#include "xrc.h"

struct tern_create_srq {
	struct ibv_create_srq ibv_cmd;
	struct tern_ureq_create_srq drv;
};

struct tern_create_xsrq {
	struct ibv_create_xsrq ibv_cmd;
	struct tern_ureq_create_srq drv;
};

struct tern_create_srq_resp {
	struct ib_uverbs_create_srq_resp ibv_resp;
	struct tern_uresp_create_srq drv;
};

struct tern_modify_srq {
	struct ibv_modify_srq ibv_cmd;
	struct tern_ureq_modify_srq drv;
};

static_assert(sizeof(struct tern_create_srq) ==
	      sizeof(struct ibv_create_srq) + sizeof(struct tern_ureq_create_srq),
	      "create SRQ command");
static_assert(sizeof(struct tern_create_xsrq) ==
	      sizeof(struct ibv_create_xsrq) + sizeof(struct tern_ureq_create_srq),
	      "create extended SRQ command");
static_assert(sizeof(struct tern_create_srq_resp) ==
	      sizeof(struct ib_uverbs_create_srq_resp) + sizeof(struct tern_uresp_create_srq),
	      "create SRQ response");
static_assert(sizeof(struct tern_modify_srq) ==
	      sizeof(struct ibv_modify_srq) + sizeof(struct tern_ureq_modify_srq),
	      "modify SRQ command");

#define TERN_NO_TAG	UINT32_MAX

/* A ring for @max_wr entries: its size, 0 when there can be none. */
static uint32_t tern_srq_size(struct tern_context *ctx, uint32_t max_wr)
{
	uint32_t size;

	if (!max_wr || max_wr > ctx->rq_entries_max)
		return 0;
	size = roundup_pow_of_two(max_wr);
	return size < 2 ? 2 : size;
}

/* Tags [from, to) are new, and free. */
static void tern_tags_add(struct tern_srq *srq, uint32_t from, uint32_t to)
{
	uint32_t tag;

	for (tag = from; tag < to; tag++) {
		srq->tags[tag].taken = false;
		srq->tags[tag].next = srq->free_tag;
		srq->free_tag = tag;
	}
	srq->tag_count = to;
}

static int tern_srq_alloc(struct tern_context *ctx, struct tern_srq *srq,
			  const struct ibv_srq_attr *attr)
{
	uint32_t bytes, size = tern_srq_size(ctx, attr->max_wr);
	int ret;

	if (!size || attr->max_sge > ctx->srq_sge_max)
		return EINVAL;
	bytes = sizeof(struct tern_receive_header) + attr->max_sge * sizeof(struct tern_sge);
	srq->stride_shift = TERN_RECEIVE_STRIDE_SHIFT_MIN;
	while (1U << srq->stride_shift < bytes)
		srq->stride_shift++;
	if (srq->stride_shift > TERN_RECEIVE_STRIDE_SHIFT_MAX)
		return EINVAL;
	srq->mask = size - 1;
	srq->sge_max = min_t(uint32_t, ((1U << srq->stride_shift) -
					sizeof(struct tern_receive_header)) /
				       sizeof(struct tern_sge), ctx->srq_sge_max);

	srq->tags = calloc(size, sizeof(*srq->tags));
	if (!srq->tags)
		return ENOMEM;
	srq->free_tag = TERN_NO_TAG;
	tern_tags_add(srq, 0, size);
	ret = tern_buffer_alloc(ctx, &srq->buffer, (size_t)size << srq->stride_shift);
	if (ret)
		goto err_tags;
	srq->record = tern_record_alloc(ctx);
	if (!srq->record) {
		ret = errno;
		goto err_buffer;
	}
	srq->wants_ring = tern_wants_ring(ctx, srq->record);
	srq->doorbell = ctx->doorbell + TERN_DOORBELL_SRQ;
	return 0;

err_buffer:
	tern_buffer_free(&srq->buffer);
err_tags:
	free(srq->tags);
	return ret;
}

static void tern_srq_free(struct tern_context *ctx, struct tern_srq *srq)
{
	tern_record_free(ctx, srq->record);
	tern_buffer_free(&srq->buffer);
	free(srq->tags);
	free(srq);
}

/* An SRQ that the kernel does not know yet, and what it is to be told. NULL: errno is set. */
static struct tern_srq *tern_srq_new(struct tern_context *ctx, const struct ibv_srq_attr *attr,
				     struct tern_ureq_create_srq *request)
{
	struct tern_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	ret = tern_srq_alloc(ctx, srq, attr);
	if (ret) {
		free(srq);
		errno = ret;
		return NULL;
	}
	request->queue_address = (uintptr_t)srq->buffer.base;
	request->record_address = (uintptr_t)srq->record;
	request->shift = ilog32(srq->mask);
	request->stride_shift = srq->stride_shift;
	return srq;
}

static void tern_srq_report(const struct tern_srq *srq, struct ibv_srq_attr *attr)
{
	attr->max_wr = srq->mask + 1;
	attr->max_sge = srq->sge_max;
}

struct ibv_srq *tern_create_srq(struct ibv_pd *ibpd, struct ibv_srq_init_attr *init)
{
	struct tern_context *ctx = to_tern_context(ibpd->context);
	struct tern_create_srq_resp resp = {};
	struct tern_create_srq cmd = {};
	struct tern_srq *srq;
	int ret;

	srq = tern_srq_new(ctx, &init->attr, &cmd.drv);
	if (!srq)
		return NULL;
	ret = ibv_cmd_create_srq(ibpd, &srq->base.srq, init, &cmd.ibv_cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (ret) {
		tern_srq_free(ctx, srq);
		errno = ret;
		return NULL;
	}
	srq->srqn = resp.drv.srqn;
	tern_srq_report(srq, &init->attr);
	return &srq->base.srq;
}

/* One of XRC; ibv_create_srq_ex() makes a plain one by the other. */
struct ibv_srq *tern_create_srq_ex(struct ibv_context *ibctx, struct ibv_srq_init_attr_ex *init)
{
	const uint32_t needed = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct tern_context *ctx = to_tern_context(ibctx);
	struct tern_create_srq_resp resp = {};
	struct tern_create_xsrq cmd = {};
	struct tern_srq *srq;
	int ret;

	if (init->comp_mask != needed || init->srq_type != IBV_SRQT_XRC) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	srq = tern_srq_new(ctx, &init->attr, &cmd.drv);
	if (!srq)
		return NULL;

	/* As with queue pairs: a number that the kernel gives out again is not met twice. */
	pthread_mutex_lock(&ctx->qp_mutex);
	ret = ibv_cmd_create_srq_ex(ibctx, &srq->base, init, &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_unlock;
	srq->srqn = resp.drv.srqn & TERN_NUMBER_MASK;
	ret = tern_xrc_srq_reserve(ctx, srq->srqn);
	if (ret)
		goto err_destroy;
	tern_xrc_srq_set(ctx, srq->srqn, srq);
	pthread_mutex_unlock(&ctx->qp_mutex);
	tern_srq_report(srq, &init->attr);
	return &srq->base.srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->base.srq);
err_unlock:
	pthread_mutex_unlock(&ctx->qp_mutex);
	tern_srq_free(ctx, srq);
	errno = ret;
	return NULL;
}

/*
 * Entries that are outstanding go to the places of their indices in a new
 * ring. Nobody posts meanwhile; the device may take and complete some.
 */
static int tern_srq_resize(struct tern_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct tern_context *ctx = to_tern_context(srq->base.srq.context);
	uint32_t size = tern_srq_size(ctx, attr->max_wr), index, moved;
	struct tern_modify_srq cmd = {};
	struct tern_buffer buffer;
	struct tern_tag *tags;
	int ret;

	if (!size)
		return EINVAL;
	ret = tern_buffer_alloc(ctx, &buffer, (size_t)size << srq->stride_shift);
	if (ret)
		return ret;

	tern_lock(&srq->lock);
	/* A tag above the new size may be outstanding: there are never fewer than before. */
	if (size > srq->tag_count) {
		tags = realloc(srq->tags, size * sizeof(*tags));
		if (!tags) {
			ret = ENOMEM;
			goto unlock;
		}
		srq->tags = tags;
		tern_tags_add(srq, srq->tag_count, size);
	}
	moved = min_t(uint32_t, size, srq->mask + 1);
	for (index = srq->producer - moved; index != srq->producer; index++)
		memcpy(tern_srq_entry(&buffer, index, size - 1, srq->stride_shift),
		       tern_srq_entry(&srq->buffer, index, srq->mask, srq->stride_shift),
		       (size_t)1 << srq->stride_shift);
	/* The entries before the command that shows them to the device. */
	udma_to_device_barrier();

	cmd.drv.queue_address = (uintptr_t)buffer.base;
	cmd.drv.shift = ilog32(size - 1);
	ret = ibv_cmd_modify_srq(&srq->base.srq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	if (!ret) {
		struct tern_buffer old = srq->buffer;

		srq->buffer = buffer;
		srq->mask = size - 1;
		buffer = old;
	}
unlock:
	tern_unlock(&srq->lock);
	tern_buffer_free(&buffer);
	return ret;
}

int tern_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct ibv_modify_srq cmd;

	if (mask & IBV_SRQ_MAX_WR)
		return tern_srq_resize(to_tern_srq(ibsrq), attr, mask);
	return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd, sizeof(cmd));
}

int tern_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);
	struct ibv_query_srq cmd;
	int ret;

	ret = ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	tern_lock(&srq->lock);
	attr->max_wr = srq->mask + 1;
	tern_unlock(&srq->lock);
	attr->max_sge = srq->sge_max;
	return 0;
}

/* Its completions go with it. */
static int tern_destroy_xrc_srq(struct tern_context *ctx, struct tern_srq *srq)
{
	struct tern_cq *cq = to_tern_cq(srq->base.cq);
	int ret;

	pthread_mutex_lock(&ctx->qp_mutex);
	ret = ibv_cmd_destroy_srq(&srq->base.srq);
	if (!ret) {
		tern_lock(&cq->lock);
		tern_cq_clean_srq(cq, srq);
		tern_xrc_srq_set(ctx, srq->srqn, NULL);
		tern_unlock(&cq->lock);
	}
	pthread_mutex_unlock(&ctx->qp_mutex);
	return ret;
}

int tern_destroy_srq(struct ibv_srq *ibsrq)
{
	struct tern_context *ctx = to_tern_context(ibsrq->context);
	struct tern_srq *srq = to_tern_srq(ibsrq);
	int ret;

	ret = srq->base.srq_type == IBV_SRQT_XRC ? tern_destroy_xrc_srq(ctx, srq) :
						   ibv_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;
	tern_srq_free(ctx, srq);
	return 0;
}

int tern_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);
	struct tern_receive_header *entry;
	uint32_t producer, tag;
	int ret = 0;

	tern_lock(&srq->lock);
	producer = srq->producer;
	for (; wr; wr = wr->next) {
		tag = srq->free_tag;
		if (unlikely(tag == TERN_NO_TAG || srq->outstanding > srq->mask)) {
			ret = ENOMEM;
			*bad_wr = wr;
			break;
		}
		if (unlikely((uint32_t)wr->num_sge > srq->sge_max)) {
			ret = EINVAL;
			*bad_wr = wr;
			break;
		}
		entry = tern_srq_entry(&srq->buffer, srq->producer, srq->mask, srq->stride_shift);
		tern_build_receive(entry, wr);
		entry->tag = htole32(tag);
		srq->free_tag = srq->tags[tag].next;
		srq->tags[tag].taken = true;
		srq->tags[tag].wr_id = wr->wr_id;
		srq->outstanding++;
		srq->producer++;
	}
	if (likely(srq->producer != producer))
		tern_publish(srq->record, srq->wants_ring, srq->doorbell, srq->srqn,
			     srq->producer);
	tern_unlock(&srq->lock);

	return ret;
}

/*
 * The entry with this tag has completed. False: none is outstanding with it,
 * the device is broken.
 */
bool tern_srq_complete(struct tern_srq *srq, uint32_t tag, uint64_t *wr_id)
{
	bool taken;

	tern_lock(&srq->lock);
	taken = tag < srq->tag_count && srq->tags[tag].taken;
	if (likely(taken)) {
		*wr_id = srq->tags[tag].wr_id;
		srq->tags[tag].taken = false;
		srq->tags[tag].next = srq->free_tag;
		srq->free_tag = tag;
		srq->outstanding--;
	}
	tern_unlock(&srq->lock);
	return taken;
}
