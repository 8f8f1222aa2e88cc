/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* libibverbs provider of the Tern NIC: extended reliable connections. */
#ifndef TERN_XRC_H
#define TERN_XRC_H

#include "tern.h"

/* It has neither queues nor CQs. */
static inline bool tern_is_xrc_target(const struct tern_qp *qp)
{
	return qp->base.qp.qp_type == IBV_QPT_XRC_RECV;
}

/* xrc.c */
struct ibv_xrcd *tern_open_xrcd(struct ibv_context *ibctx, struct ibv_xrcd_init_attr *attr);
int tern_close_xrcd(struct ibv_xrcd *ibxrcd);
struct ibv_qp *tern_create_xrc_target(struct ibv_context *ibctx,
				      struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *tern_open_qp(struct ibv_context *ibctx, struct ibv_qp_open_attr *attr);
int tern_destroy_xrc_target(struct tern_qp *qp);
int tern_get_srq_num(struct ibv_srq *ibsrq, uint32_t *number);
int tern_xrc_srq_reserve(struct tern_context *ctx, uint32_t srqn);
void tern_xrc_srq_set(struct tern_context *ctx, uint32_t srqn, struct tern_srq *srq);
void tern_xrc_srqs_free(struct tern_context *ctx);
bool tern_xrc_complete(struct tern_cq *cq, const struct tern_cqe *cqe, uint64_t *wr_id);

/* srq.c */
struct ibv_srq *tern_create_srq_ex(struct ibv_context *ibctx, struct ibv_srq_init_attr_ex *init);

/* cq.c */
void tern_cq_clean_srq(struct tern_cq *cq, struct tern_srq *srq);

#endif /* TERN_XRC_H */
