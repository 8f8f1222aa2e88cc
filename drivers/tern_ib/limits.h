/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: what the device can hold, and how large queues must be for it. */
#ifndef TERN_IB_LIMITS_H
#define TERN_IB_LIMITS_H

#include <rdma/ib_verbs.h>
#include "tern_core.h"

/**
 * struct tern_ib_limits - what one object may ask for
 * @max_cqe: entries of a completion queue
 * @max_qp_wr: work requests of a send or receive queue, of the largest kind
 * @max_send_sge: scatter gather elements of a send work request
 * @max_recv_sge: scatter gather elements of a receive work request
 * @max_srq_wr: entries of a shared receive queue
 * @max_srq_sge: scatter gather elements of its entries
 * @max_inline: inline bytes, connected and raw packets
 * @max_inline_ud: inline bytes, UD and GSI
 * @max_initiator_depth: READs and atomics outstanding as requester
 * @max_responder_resources: READs and atomics outstanding as responder
 * @max_message: bytes
 * @page_sizes: bit n: data pages of 1 << n bytes
 * @gid_count: entries of the GID table
 * @pkey_count: entries of the P_Key table
 * @sq_shift_max: log2 of a send queue's 64-byte blocks
 * @rq_shift_max: log2 of a receive queue's entries
 * @cq_shift_max: log2 of a completion queue's entries
 */
struct tern_ib_limits {
	u32 max_cqe;
	u32 max_qp_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_srq_wr;
	u32 max_srq_sge;
	u32 max_inline;
	u32 max_inline_ud;
	u32 max_initiator_depth;
	u32 max_responder_resources;
	u32 max_message;
	u64 page_sizes;
	u32 gid_count;
	u32 pkey_count;
	u8 sq_shift_max;
	u8 rq_shift_max;
	u8 cq_shift_max;
};

/**
 * struct tern_ib_sizes - the queues of a queue pair
 * @has_sq: there is a send queue
 * @has_rq: there is a receive queue
 * @sq_shift: log2 of its 64-byte blocks
 * @rq_shift: log2 of its entries
 * @rq_stride_shift: log2 of an entry's bytes
 */
struct tern_ib_sizes {
	bool has_sq;
	bool has_rq;
	u8 sq_shift;
	u8 rq_shift;
	u8 rq_stride_shift;
};

void tern_ib_limits_from(struct tern_ib_limits *limits, const struct tern_capabilities *caps);
int tern_ib_check_qp_cap(const struct tern_ib_limits *limits, enum ib_qp_type type,
			 const struct ib_qp_cap *cap);
void tern_ib_size_queues(enum ib_qp_type type, const struct ib_qp_cap *cap,
			 struct tern_ib_sizes *sizes);
int tern_ib_check_sizes(const struct tern_ib_limits *limits, const struct tern_ib_sizes *least,
			const struct tern_ib_sizes *given);

#endif /* TERN_IB_LIMITS_H */
