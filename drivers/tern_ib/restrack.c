// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern RDMA driver: what "rdma resource show -dd" tells beside what ib_core
 * knows; raw: what the device answers of an object, as firmware-if has it.
 */
#include <net/netlink.h>
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>

#include "internal.h"
#include "verbs.h"

/**
 * struct tern_ib_detail - a number to tell
 * @name: of it
 * @value: of it
 */
struct tern_ib_detail {
	const char *name;
	u64 value;
};

static int tern_ib_put_details(struct sk_buff *msg, const struct tern_ib_detail *details,
			       unsigned int count)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	unsigned int i;

	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < count; i++) {
		if (rdma_nl_put_driver_u64(msg, details[i].name, details[i].value)) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

static int tern_ib_queue_entries(bool has, u8 shift)
{
	return has ? 1 << shift : 0;
}

static int tern_ib_put_qp(struct sk_buff *msg, const struct tern_ib_qp *qp,
			  const struct tern_qp_status *status)
{
	const struct rdma_counter *counter = READ_ONCE(qp->ib.counter);
	const struct tern_ib_detail details[] = {
		{ "sq_blocks", tern_ib_queue_entries(qp->has_sq, qp->sq.shift) },
		{ "rq_entries", tern_ib_queue_entries(qp->has_rq, qp->rq.shift) },
		{ "max_inline", qp->cap.max_inline_data },
		{ "sq_completed", le32_to_cpu(status->sq_consumer) },
		{ "rq_completed", le32_to_cpu(status->rq_consumer) },
		{ "expected_psn", le32_to_cpu(status->attributes.rq_psn) },
		{ "next_psn", le32_to_cpu(status->attributes.sq_psn) },
		{ "counted_apart", !!counter },
		/* Of congestion control, in Mb/s; 0: not limited. alpha is in 1/65536. */
		{ "cc_rate", le32_to_cpu(status->congestion.rate_mbps) },
		{ "cc_target_rate", le32_to_cpu(status->congestion.target_rate_mbps) },
		{ "cc_alpha", le32_to_cpu(status->congestion.alpha) },
	};

	return tern_ib_put_details(msg, details, ARRAY_SIZE(details));
}

int tern_ib_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct tern_ib_qp *qp = to_tern_qp(ibqp);
	struct tern_qp_status status;
	int err;

	err = tern_ib_query_status(to_tern_ib(ibqp->device), qp, &status);
	return err ?: tern_ib_put_qp(msg, qp, &status);
}

int tern_ib_fill_res_qp_entry_raw(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct tern_qp_status status;
	int err;

	err = tern_ib_query_status(to_tern_ib(ibqp->device), to_tern_qp(ibqp), &status);
	return err ?: nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, sizeof(status), &status);
}

int tern_ib_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct tern_ib_cq *cq = to_tern_cq(ibcq);
	const struct tern_ib_detail details[] = {
		{ "cqn", cq->cqn },
		{ "entries", 1U << READ_ONCE(cq->shift) },
		{ "eqn", le32_to_cpu(cq->command.eqn) },
	};

	return tern_ib_put_details(msg, details, ARRAY_SIZE(details));
}

int tern_ib_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct tern_ib_mr *mr = to_tern_mr(ibmr);
	const struct tern_ib_detail details[] = {
		{ "key_index", mr->index },
		{ "access", mr->access },
		{ "address", mr->address },
		{ "device_memory", ibmr->type == IB_MR_TYPE_DM },
	};

	return tern_ib_put_details(msg, details, ARRAY_SIZE(details));
}

static int tern_ib_put_srq(struct sk_buff *msg, const struct tern_ib_srq *srq,
			   const struct tern_srq_status *status)
{
	const struct tern_ib_detail details[] = {
		{ "number", srq->number },
		{ "entries", 1U << READ_ONCE(srq->shift) },
		{ "entry_bytes", 1U << srq->stride_shift },
		{ "limit", le32_to_cpu(status->limit) },
		{ "taken", le32_to_cpu(status->taken) },
		{ "completed", le32_to_cpu(status->completed) },
	};

	return tern_ib_put_details(msg, details, ARRAY_SIZE(details));
}

int tern_ib_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct tern_ib_device *dev = to_tern_ib(ibsrq->device);
	struct tern_ib_srq *srq = to_tern_srq(ibsrq);
	struct tern_srq_status status;
	int err;

	err = tern_cmd_query(dev->tern, TERN_COMMAND_QUERY_SRQ, srq->number, 0, &status,
			     sizeof(status));
	return err ?: tern_ib_put_srq(msg, srq, &status);
}
