// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Posting by ibv_wr_*(). A work request is gathered as the application builds
 * it, and encoded by the same code as that of ibv_post_send() when the next one
 * begins or all of them are complete: so both post the same operations.
 */
#include <errno.h>
#include <stdlib.h>

#include "placement.h"

#define TERN_STAGED_SGES	(TERN_WQE_BYTES_MAX / sizeof(struct tern_sge))

struct tern_staged {
	struct ibv_send_wr wr;
	bool open;		/* wr is being built */
	int error;		/* the first; nothing is posted then */
	uint32_t producer;	/* as the send queue's, with what has been built */
	uint32_t posted;
	struct ibv_sge sges[TERN_STAGED_SGES];
	uint8_t data[TERN_WQE_BYTES_MAX];	/* inline */
	struct tern_placement placement;
};

static struct tern_qp *from_ex(struct ibv_qp_ex *qp_ex)
{
	return container_of(qp_ex, struct tern_qp, base.qp_ex);
}

static void tern_staged_fail(struct tern_staged *staged, int error)
{
	if (!staged->error)
		staged->error = error;
}

/* Encode what was gathered, if there is something. */
static void tern_staged_close(struct tern_qp *qp, struct tern_staged *staged)
{
	uint32_t blocks;

	if (!staged->open)
		return;
	staged->open = false;
	if (staged->error)
		return;
	if (qp->base.qp.qp_type == IBV_QPT_UD && !staged->wr.wr.ud.ah) {
		staged->error = EINVAL;
		return;
	}
	if (!tern_sq_has_room(&qp->sq, staged->posted)) {
		staged->error = ENOMEM;
		return;
	}
	if (tern_is_placement(staged->wr.opcode))
		blocks = tern_put_placement(&qp->sq, staged->producer & qp->sq.mask,
					    staged->posted + 1, &staged->wr, &staged->placement);
	else
		blocks = tern_put_one(&qp->sq, staged->producer & qp->sq.mask,
				      staged->posted + 1, &staged->wr);
	if (!blocks) {
		staged->error = EINVAL;
		return;
	}
	staged->producer += blocks;
	staged->posted++;
}

/* Begin the next work request. */
static struct ibv_send_wr *tern_staged_next(struct ibv_qp_ex *qp_ex, enum ibv_wr_opcode opcode)
{
	struct tern_qp *qp = from_ex(qp_ex);
	struct tern_staged *staged = qp->staged;

	tern_staged_close(qp, staged);
	staged->open = true;
	staged->wr = (struct ibv_send_wr) {
		.wr_id = qp_ex->wr_id,
		.sg_list = staged->sges,
		.opcode = opcode,
		/* Whether data is inline, the setter tells. */
		.send_flags = qp_ex->wr_flags & ~IBV_SEND_INLINE,
	};
	return &staged->wr;
}

static void tern_wr_start(struct ibv_qp_ex *qp_ex)
{
	struct tern_qp *qp = from_ex(qp_ex);
	struct tern_staged *staged = qp->staged;

	tern_lock(&qp->sq.lock);
	staged->open = false;
	staged->error = qp->base.qp.state < IBV_QPS_RTS ? EINVAL : 0;
	staged->producer = qp->sq.producer;
	staged->posted = qp->sq.posted;
}

static int tern_wr_complete(struct ibv_qp_ex *qp_ex)
{
	struct tern_qp *qp = from_ex(qp_ex);
	struct tern_staged *staged = qp->staged;
	int ret;

	tern_staged_close(qp, staged);
	ret = staged->error;
	if (!ret)
		tern_publish_sends(qp, staged->producer, staged->posted);
	tern_unlock(&qp->sq.lock);
	return ret;
}

/* What is in the ring already was never published: it is overwritten. */
static void tern_wr_abort(struct ibv_qp_ex *qp_ex)
{
	tern_unlock(&from_ex(qp_ex)->sq.lock);
}

static void tern_wr_send(struct ibv_qp_ex *qp_ex)
{
	tern_staged_next(qp_ex, IBV_WR_SEND);
}

static void tern_wr_send_imm(struct ibv_qp_ex *qp_ex, __be32 imm_data)
{
	tern_staged_next(qp_ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static void tern_wr_send_inv(struct ibv_qp_ex *qp_ex, uint32_t rkey)
{
	tern_staged_next(qp_ex, IBV_WR_SEND_WITH_INV)->invalidate_rkey = rkey;
}

static void tern_wr_local_inv(struct ibv_qp_ex *qp_ex, uint32_t rkey)
{
	tern_staged_next(qp_ex, IBV_WR_LOCAL_INV)->invalidate_rkey = rkey;
}

static void tern_wr_bind_mw(struct ibv_qp_ex *qp_ex, struct ibv_mw *mw, uint32_t rkey,
			    const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *wr = tern_staged_next(qp_ex, IBV_WR_BIND_MW);

	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *info;
}

static struct ibv_send_wr *tern_staged_remote(struct ibv_qp_ex *qp_ex, enum ibv_wr_opcode opcode,
					      uint32_t rkey, uint64_t address)
{
	struct ibv_send_wr *wr = tern_staged_next(qp_ex, opcode);

	wr->wr.rdma.remote_addr = address;
	wr->wr.rdma.rkey = rkey;
	return wr;
}

static void tern_wr_rdma_read(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t address)
{
	tern_staged_remote(qp_ex, IBV_WR_RDMA_READ, rkey, address);
}

static void tern_wr_rdma_write(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t address)
{
	tern_staged_remote(qp_ex, IBV_WR_RDMA_WRITE, rkey, address);
}

static void tern_wr_rdma_write_imm(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t address,
				   __be32 imm_data)
{
	tern_staged_remote(qp_ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address)->imm_data = imm_data;
}

static void tern_wr_atomic_cmp_swp(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t address,
				   uint64_t compare, uint64_t swap)
{
	struct ibv_send_wr *wr = tern_staged_next(qp_ex, IBV_WR_ATOMIC_CMP_AND_SWP);

	wr->wr.atomic.remote_addr = address;
	wr->wr.atomic.compare_add = compare;
	wr->wr.atomic.swap = swap;
	wr->wr.atomic.rkey = rkey;
}

static void tern_wr_atomic_fetch_add(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t address,
				     uint64_t add)
{
	struct ibv_send_wr *wr = tern_staged_next(qp_ex, IBV_WR_ATOMIC_FETCH_AND_ADD);

	wr->wr.atomic.remote_addr = address;
	wr->wr.atomic.compare_add = add;
	wr->wr.atomic.rkey = rkey;
}

static void tern_wr_atomic_write(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t address,
				 const void *value)
{
	tern_staged_remote(qp_ex, IBV_WR_ATOMIC_WRITE, rkey, address);
	memcpy(from_ex(qp_ex)->staged->placement.value, value, TERN_ATOMIC_WRITE_BYTES);
}

static void tern_wr_flush(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t address, size_t length,
			  uint8_t type, uint8_t level)
{
	struct ibv_send_wr *wr = tern_staged_remote(qp_ex, IBV_WR_FLUSH, rkey, address);
	struct tern_staged *staged = from_ex(qp_ex)->staged;
	int ret = tern_set_flush(wr, &staged->placement, length, type, level);

	if (ret)
		tern_staged_fail(staged, ret);
}

static void tern_wr_set_ud_addr(struct ibv_qp_ex *qp_ex, struct ibv_ah *ah, uint32_t remote_qpn,
				uint32_t remote_qkey)
{
	struct ibv_send_wr *wr = &from_ex(qp_ex)->staged->wr;

	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = remote_qpn;
	wr->wr.ud.remote_qkey = remote_qkey;
}

static void tern_wr_set_xrc_srqn(struct ibv_qp_ex *qp_ex, uint32_t remote_srqn)
{
	from_ex(qp_ex)->staged->wr.qp_type.xrc.remote_srqn = remote_srqn;
}

static void tern_wr_set_sge_list(struct ibv_qp_ex *qp_ex, size_t count, const struct ibv_sge *sges)
{
	struct tern_qp *qp = from_ex(qp_ex);
	struct tern_staged *staged = qp->staged;

	if (count > qp->sq.sge_max) {
		tern_staged_fail(staged, EINVAL);
		return;
	}
	if (count)
		memcpy(staged->sges, sges, count * sizeof(*sges));
	staged->wr.num_sge = count;
}

static void tern_wr_set_sge(struct ibv_qp_ex *qp_ex, uint32_t lkey, uint64_t address,
			    uint32_t length)
{
	struct ibv_sge sge = { .addr = address, .length = length, .lkey = lkey };

	tern_wr_set_sge_list(qp_ex, 1, &sge);
}

static void tern_wr_set_inline_data_list(struct ibv_qp_ex *qp_ex, size_t count,
					 const struct ibv_data_buf *buffers)
{
	struct tern_qp *qp = from_ex(qp_ex);
	struct tern_staged *staged = qp->staged;
	uint32_t length = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (buffers[i].length > qp->sq.inline_max - length) {
			tern_staged_fail(staged, EINVAL);
			return;
		}
		memcpy(staged->data + length, buffers[i].addr, buffers[i].length);
		length += buffers[i].length;
	}
	staged->sges[0].addr = (uintptr_t)staged->data;
	staged->sges[0].length = length;
	staged->wr.num_sge = 1;
	staged->wr.send_flags |= IBV_SEND_INLINE;
}

static void tern_wr_set_inline_data(struct ibv_qp_ex *qp_ex, void *address, size_t length)
{
	struct ibv_data_buf buffer = { .addr = address, .length = length };

	tern_wr_set_inline_data_list(qp_ex, 1, &buffer);
}

/* Every operation that the device has may be asked for; these are they. */
#define TERN_SEND_OPS_DATAGRAM	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define TERN_SEND_OPS_UNRELIABLE						\
	(TERN_SEND_OPS_DATAGRAM |						\
	 IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define TERN_SEND_OPS_RELIABLE							\
	(TERN_SEND_OPS_UNRELIABLE | IBV_QP_EX_WITH_RDMA_READ |			\
	 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV |		\
	 IBV_QP_EX_WITH_BIND_MW |						\
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static uint64_t tern_send_ops_of(enum ibv_qp_type type, uint64_t features)
{
	switch (type) {
	case IBV_QPT_RC:
		return TERN_SEND_OPS_RELIABLE | tern_placement_ops(features);
	case IBV_QPT_XRC_SEND:
		return TERN_SEND_OPS_RELIABLE & ~IBV_QP_EX_WITH_BIND_MW;
	case IBV_QPT_UC:
		return TERN_SEND_OPS_UNRELIABLE;
	case IBV_QPT_RAW_PACKET:
		return IBV_QP_EX_WITH_SEND;
	default:
		return TERN_SEND_OPS_DATAGRAM;
	}
}

/* Returns 0 or a positive errno. */
int tern_wr_init(struct tern_qp *qp, enum ibv_qp_type type, uint64_t ops, uint64_t features)
{
	struct ibv_qp_ex *ex = &qp->base.qp_ex;

	if (ops & ~tern_send_ops_of(type, features))
		return EOPNOTSUPP;
	qp->staged = calloc(1, sizeof(*qp->staged));
	if (!qp->staged)
		return ENOMEM;

	ex->wr_start = tern_wr_start;
	ex->wr_complete = tern_wr_complete;
	ex->wr_abort = tern_wr_abort;
	ex->wr_send = tern_wr_send;
	ex->wr_send_imm = tern_wr_send_imm;
	ex->wr_send_inv = tern_wr_send_inv;
	ex->wr_local_inv = tern_wr_local_inv;
	ex->wr_bind_mw = tern_wr_bind_mw;
	ex->wr_rdma_read = tern_wr_rdma_read;
	ex->wr_rdma_write = tern_wr_rdma_write;
	ex->wr_rdma_write_imm = tern_wr_rdma_write_imm;
	ex->wr_atomic_cmp_swp = tern_wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = tern_wr_atomic_fetch_add;
	ex->wr_atomic_write = tern_wr_atomic_write;
	ex->wr_flush = tern_wr_flush;
	ex->wr_set_ud_addr = tern_wr_set_ud_addr;
	ex->wr_set_xrc_srqn = tern_wr_set_xrc_srqn;
	ex->wr_set_sge = tern_wr_set_sge;
	ex->wr_set_sge_list = tern_wr_set_sge_list;
	ex->wr_set_inline_data = tern_wr_set_inline_data;
	ex->wr_set_inline_data_list = tern_wr_set_inline_data_list;
	return 0;
}
