// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: limits and the sizes of queues. Pure logic. */
#include <linux/bits.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "convert.h"
#include "limits.h"
#include "tern_hw_wqe.h"

/* Segments in front of the SGEs or inline data. */
#define TERN_IB_HEADERS_CONNECTED						\
	(sizeof(struct tern_wqe_control) + sizeof(struct tern_wqe_remote))
#define TERN_IB_HEADERS_UD							\
	(sizeof(struct tern_wqe_control) + sizeof(struct tern_address_vector))
#define TERN_IB_HEADERS_ETHERNET						\
	(sizeof(struct tern_wqe_control) + sizeof(struct tern_wqe_ethernet))

#define TERN_IB_RECEIVE_BYTES_MAX	BIT(TERN_RECEIVE_STRIDE_SHIFT_MAX)

/**
 * tern_ib_limits_from() - derive the limits of objects
 * @limits: set
 * @caps: the device's capabilities
 *
 * What one object is promised holds together: a send queue of max_qp_wr work
 * requests, each as large as max_send_sge or the inline data make it.
 */
void tern_ib_limits_from(struct tern_ib_limits *limits, const struct tern_capabilities *caps)
{
	const u32 sges = (TERN_WQE_BYTES_MAX - TERN_IB_HEADERS_UD) / sizeof(struct tern_sge);
	const u32 receive_sges = (TERN_IB_RECEIVE_BYTES_MAX - sizeof(struct tern_receive_header)) /
				 sizeof(struct tern_sge);
	/* One for both: processes are told a single number, the smaller. */
	const u32 max_sge = min3(min_t(u32, caps->send_sge_max, sges), caps->receive_sge_max,
				 receive_sges);

	*limits = (struct tern_ib_limits) {
		.max_cqe = 1U << caps->cq_shift_max,
		.max_qp_wr = min(max((1U << caps->sq_shift_max) / TERN_WQE_BLOCKS_MAX, 1U),
				 1U << caps->rq_shift_max),
		.max_send_sge = max_sge,
		.max_recv_sge = max_sge,
		.max_srq_wr = 1U << caps->rq_shift_max,
		.max_srq_sge = min(caps->srq_sge_max, receive_sges),
		.max_inline = min_t(u32, caps->inline_max,
				    TERN_WQE_BYTES_MAX - TERN_IB_HEADERS_CONNECTED),
		.max_inline_ud = min_t(u32, caps->inline_max,
				       TERN_WQE_BYTES_MAX - TERN_IB_HEADERS_UD),
		/* The verbs have them as bytes. */
		.max_initiator_depth = caps->read_initiator_max,
		.max_responder_resources = caps->read_responder_max,
		.max_message = caps->message_bytes_max,
		.page_sizes = caps->page_sizes,
		/* As many as the verbs, with an index of a byte, can name. */
		.gid_count = min(caps->gid_count, U8_MAX + 1U),
		.pkey_count = caps->pkey_count,
		.sq_shift_max = caps->sq_shift_max,
		.rq_shift_max = caps->rq_shift_max,
		.cq_shift_max = caps->cq_shift_max,
	};
}

/* The ethernet segment is as long as the remote segment: raw packets have max_inline too. */
static_assert(TERN_IB_HEADERS_ETHERNET == TERN_IB_HEADERS_CONNECTED);

static bool tern_ib_addressed(enum ib_qp_type type)
{
	return !tern_ib_connected(type) && type != IB_QPT_RAW_PACKET;
}

static u32 tern_ib_max_inline(const struct tern_ib_limits *limits, enum ib_qp_type type)
{
	return tern_ib_addressed(type) ? limits->max_inline_ud : limits->max_inline;
}

int tern_ib_check_qp_cap(const struct tern_ib_limits *limits, enum ib_qp_type type,
			 const struct ib_qp_cap *cap)
{
	if (cap->max_send_wr > limits->max_qp_wr || cap->max_recv_wr > limits->max_qp_wr ||
	    cap->max_send_sge > limits->max_send_sge || cap->max_recv_sge > limits->max_recv_sge ||
	    cap->max_inline_data > tern_ib_max_inline(limits, type))
		return -EINVAL;
	return 0;
}

/**
 * tern_ib_size_queues() - the least queues that hold what was asked for
 * @type: of the queue pair
 * @cap: checked capabilities
 * @sizes: set
 *
 * uapi/rdma/tern-abi.h tells processes the same.
 */
void tern_ib_size_queues(enum ib_qp_type type, const struct ib_qp_cap *cap,
			 struct tern_ib_sizes *sizes)
{
	u32 headers = tern_ib_addressed(type) ? TERN_IB_HEADERS_UD : TERN_IB_HEADERS_CONNECTED;

	*sizes = (struct tern_ib_sizes) {
		.has_sq = cap->max_send_wr,
		.has_rq = cap->max_recv_wr,
	};
	if (sizes->has_sq) {
		u32 data = max_t(u32, cap->max_send_sge * sizeof(struct tern_sge),
				 cap->max_inline_data);
		u32 blocks = DIV_ROUND_UP(headers + data, TERN_WQE_BLOCK);

		sizes->sq_shift = max(order_base_2(cap->max_send_wr * blocks), 1);
	}
	if (sizes->has_rq) {
		u32 bytes = sizeof(struct tern_receive_header) +
			    cap->max_recv_sge * sizeof(struct tern_sge);

		sizes->rq_shift = max(order_base_2(cap->max_recv_wr), 1);
		sizes->rq_stride_shift = max(order_base_2(bytes), TERN_RECEIVE_STRIDE_SHIFT_MIN);
	}
}

/**
 * tern_ib_check_sizes() - may a process have queues of these sizes?
 * @limits: the device's
 * @least: what its capabilities need
 * @given: what it gave
 *
 * Return: 0 or -EINVAL
 */
int tern_ib_check_sizes(const struct tern_ib_limits *limits, const struct tern_ib_sizes *least,
			const struct tern_ib_sizes *given)
{
	if (least->has_sq) {
		if (given->sq_shift < least->sq_shift || given->sq_shift > limits->sq_shift_max)
			return -EINVAL;
	} else if (given->sq_shift) {
		return -EINVAL;
	}
	if (least->has_rq) {
		if (given->rq_shift < least->rq_shift || given->rq_shift > limits->rq_shift_max ||
		    given->rq_stride_shift < least->rq_stride_shift ||
		    given->rq_stride_shift > TERN_RECEIVE_STRIDE_SHIFT_MAX)
			return -EINVAL;
	} else if (given->rq_shift || given->rq_stride_shift) {
		return -EINVAL;
	}
	return 0;
}
