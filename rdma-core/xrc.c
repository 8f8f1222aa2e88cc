// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Extended reliable connections: domains, targets, and the SRQs that are found
 * by number, since who polls a completion may not know the target.
 */
#include <errno.h>
#include <stdlib.h>

#include "cqe.h"
#include "xrc.h"

struct ibv_xrcd *tern_open_xrcd(struct ibv_context *ibctx, struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp = {};
	struct ibv_open_xrcd cmd = {};
	struct verbs_xrcd *xrcd;
	int ret;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	ret = ibv_cmd_open_xrcd(ibctx, xrcd, sizeof(*xrcd), attr, &cmd, sizeof(cmd), &resp,
				sizeof(resp));
	if (ret) {
		free(xrcd);
		errno = ret;
		return NULL;
	}
	return &xrcd->xrcd;
}

int tern_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int ret;

	ret = ibv_cmd_close_xrcd(xrcd);
	if (ret)
		return ret;
	free(xrcd);
	return 0;
}

struct ibv_qp *tern_create_xrc_target(struct ibv_context *ibctx,
				      struct ibv_qp_init_attr_ex *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_create_qp cmd = {};
	struct tern_qp *qp;
	int ret;

	if (attr->comp_mask & ~(IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_PD)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	ret = ibv_cmd_create_qp_ex(ibctx, &qp->base, attr, &cmd, sizeof(cmd), &resp,
				   sizeof(resp));
	if (ret) {
		free(qp);
		errno = ret;
		return NULL;
	}
	/* cppcheck-suppress memleak ; it belongs to whoever has the verbs' part of it */
	return &qp->base.qp;
}

/* A target that another process made, or this one before. */
struct ibv_qp *tern_open_qp(struct ibv_context *ibctx, struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct tern_qp *qp;
	int ret;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	ret = ibv_cmd_open_qp(ibctx, &qp->base, sizeof(qp->base), attr, &cmd, sizeof(cmd), &resp,
			      sizeof(resp));
	if (ret) {
		free(qp);
		errno = ret;
		return NULL;
	}
	/* cppcheck-suppress memleak ; it belongs to whoever has the verbs' part of it */
	return &qp->base.qp;
}

int tern_destroy_xrc_target(struct tern_qp *qp)
{
	int ret;

	ret = ibv_cmd_destroy_qp(&qp->base.qp);
	if (ret)
		return ret;
	free(qp);
	return 0;
}

int tern_get_srq_num(struct ibv_srq *ibsrq, uint32_t *number)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);

	if (srq->base.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*number = srq->srqn;
	return 0;
}

/*
 * Room for @srqn in the table, which has the shape of that of queue pairs. What
 * is there stays until the context ends. Under qp_mutex.
 */
int tern_xrc_srq_reserve(struct tern_context *ctx, uint32_t srqn)
{
	struct tern_srq ***tables = ctx->xrc_srqs, **table;

	if (!tables) {
		tables = calloc((TERN_NUMBER_MASK >> TERN_QP_TABLE_SHIFT) + 1, sizeof(*tables));
		if (!tables)
			return ENOMEM;
		ctx->xrc_srqs = tables;
	}
	if (tables[srqn >> TERN_QP_TABLE_SHIFT])
		return 0;
	table = calloc(TERN_QP_TABLE_SIZE, sizeof(*table));
	if (!table)
		return ENOMEM;
	tables[srqn >> TERN_QP_TABLE_SHIFT] = table;
	return 0;
}

void tern_xrc_srq_set(struct tern_context *ctx, uint32_t srqn, struct tern_srq *srq)
{
	ctx->xrc_srqs[srqn >> TERN_QP_TABLE_SHIFT][srqn & (TERN_QP_TABLE_SIZE - 1)] = srq;
}

void tern_xrc_srqs_free(struct tern_context *ctx)
{
	uint32_t i;

	if (!ctx->xrc_srqs)
		return;
	for (i = 0; i <= TERN_NUMBER_MASK >> TERN_QP_TABLE_SHIFT; i++)
		free(ctx->xrc_srqs[i]);
	free(ctx->xrc_srqs);
}

/* False: there is no such SRQ, or no such entry, and the device is broken. */
bool tern_xrc_complete(struct tern_cq *cq, const struct tern_cqe *cqe, uint64_t *wr_id)
{
	struct tern_context *ctx = to_tern_context(cq->base.cq.context);
	uint32_t srqn = le32toh(cqe->srqn);
	struct tern_srq **table;
	struct tern_srq *srq;

	if (!(cqe->flags & TERN_CQE_FLAG_XRC) || !tern_cqe_is_receive(cqe) ||
	    srqn & ~TERN_NUMBER_MASK || !ctx->xrc_srqs)
		return false;
	table = ctx->xrc_srqs[srqn >> TERN_QP_TABLE_SHIFT];
	srq = table ? table[srqn & (TERN_QP_TABLE_SIZE - 1)] : NULL;
	return srq && srq->base.cq == &cq->base.cq &&
	       tern_srq_complete(srq, le32toh(cqe->index), wr_id);
}
