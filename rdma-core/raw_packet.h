/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * libibverbs provider of the Tern NIC: what brings frames to a process: flows,
 * receive work queues, indirection tables.
 */
#ifndef TERN_RAW_PACKET_H
#define TERN_RAW_PACKET_H

#include "tern.h"

/* A receive work queue; the device's is a queue pair without send queue. */
struct tern_wq {
	struct ibv_wq ibv_wq;
	struct tern_qp qp;		/* not libibverbs': only queues and completion queues */
};

static inline struct tern_wq *to_tern_wq(struct ibv_wq *wq)
{
	return container_of(wq, struct tern_wq, ibv_wq);
}

/* A queue pair that spreads frames over receive work queues: it has no queues. */
static inline bool tern_is_hashing(const struct tern_qp *qp)
{
	return !qp->sq.entries;
}

/* flow.c */
struct ibv_flow *tern_create_flow(struct ibv_qp *ibqp, struct ibv_flow_attr *attr);
int tern_destroy_flow(struct ibv_flow *ibflow);

/* wq.c */
struct ibv_wq *tern_create_wq(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr);
int tern_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr);
int tern_destroy_wq(struct ibv_wq *ibwq);
struct ibv_rwq_ind_table *tern_create_rwq_ind_table(struct ibv_context *ibctx,
						    struct ibv_rwq_ind_table_init_attr *attr);
int tern_destroy_rwq_ind_table(struct ibv_rwq_ind_table *ibtable);
struct ibv_qp *tern_create_hashing_qp(struct ibv_context *ibctx,
				      struct ibv_qp_init_attr_ex *attr);
int tern_destroy_hashing_qp(struct tern_qp *qp);

/* qp.c */
int tern_qp_table_reserve(struct tern_context *ctx, uint32_t qpn);
void tern_qp_table_set(struct tern_context *ctx, uint32_t qpn, struct tern_qp *qp);
int tern_alloc_sq(struct tern_context *ctx, struct tern_pd *parent, struct tern_sq *sq,
		  bool datagram, const struct ibv_qp_cap *cap);
int tern_alloc_rq(struct tern_context *ctx, struct tern_pd *parent, struct tern_rq *rq,
		  const struct ibv_qp_cap *cap);
void tern_free_sq(struct tern_context *ctx, struct tern_sq *sq);
void tern_free_rq(struct tern_context *ctx, struct tern_rq *rq);
void tern_record_reset(struct tern_queue_record *record);

/* datapath.c */
int tern_post_wq_recv(struct ibv_wq *ibwq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif /* TERN_RAW_PACKET_H */
