// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: indirection tables, and the queue pairs that spread frames over them. */
#include <linux/slab.h>
#include <uapi/rdma/tern-abi.h>

#include "internal.h"
#include "verbs.h"

static_assert(TERN_HASH_KEY_BYTES == TERN_RSS_KEY_BYTES);

int tern_ib_create_rwq_ind_table(struct ib_rwq_ind_table *ibtable,
				 struct ib_rwq_ind_table_init_attr *init,
				 struct ib_udata *udata)
{
	struct tern_device *tern = to_tern_ib(ibtable->device)->tern;

	if (!tern_has(tern, TERN_FEATURE_RECEIVE_HASHING_QP))
		return -EOPNOTSUPP;
	/* The core bounds what is shifted by. */
	if (1U << init->log_ind_tbl_size > tern_ib_rwq_table_max(tern))
		return -EINVAL;
	return ib_no_udata_io(udata);
}

int tern_ib_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtable)
{
	return 0;
}

static int tern_ib_set_hashing(struct tern_ib_device *dev, u32 qpn,
			       const struct ib_rwq_ind_table *table,
			       const struct tern_ureq_create_hashing_qp *request)
{
	u32 count = 1U << table->log_ind_tbl_size;
	__le32 *qpns;
	u32 i;
	int err;

	qpns = kcalloc(count, sizeof(*qpns), GFP_KERNEL);
	if (!qpns)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		qpns[i] = cpu_to_le32(to_tern_wq(table->ind_tbl[i])->number);
	err = tern_cmd_set_hashing(dev->tern, qpn, qpns, count, request->fields, request->key);
	kfree(qpns);
	return err;
}

/**
 * tern_ib_create_hashing_qp() - make a queue pair that has an indirection table
 * @qp: the queue pair
 * @attr: what is asked for
 * @udata: what the process gave
 *
 * Return: 0 or a negative errno
 */
int tern_ib_create_hashing_qp(struct tern_ib_qp *qp, const struct ib_qp_init_attr *attr,
			      struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(qp->ib.device);
	struct tern_command_create_qp body = {
		.type = TERN_QP_HASHING,
		.flags = cpu_to_le32(TERN_QP_NO_SQ | TERN_QP_NO_RQ),
	};
	struct tern_ureq_create_hashing_qp request;
	int err;

	/* It receives, and that in other queues. Other types may come without a PD. */
	if (!udata || attr->qp_type != IB_QPT_RAW_PACKET || attr->create_flags || attr->srq ||
	    attr->xrcd || attr->cap.max_send_wr || attr->cap.max_recv_wr)
		return -EOPNOTSUPP;
	body.pd = cpu_to_le32(to_tern_pd(qp->ib.pd)->number);
	err = ib_copy_validate_udata_in_cm(udata, request, reserved0, 0);
	if (err)
		return err;
	if (memchr_inv(request.reserved0, 0, sizeof(request.reserved0)))
		return -EOPNOTSUPP;
	err = ib_respond_empty_udata(udata);
	if (err)
		return err;
	mutex_init(&qp->mutex);
	qp->state = IB_QPS_RESET;

	err = tern_number_alloc(dev->tern, TERN_NUMBERS_QP, &qp->number);
	if (err)
		return err;
	qp->listener.qpn = qp->number;
	qp->listener.event = tern_ib_qp_event;
	err = tern_qp_listen(dev->tern, &qp->listener);
	if (err)
		goto free_number;
	err = tern_cmd_create_qp(dev->tern, qp->number, &body);
	if (err)
		goto unlisten;
	err = tern_ib_set_hashing(dev, qp->number, attr->rwq_ind_tbl, &request);
	if (err)
		goto destroy;
	qp->ib.qp_num = qp->number;
	return 0;

destroy:
	tern_cmd_destroy_qp(dev->tern, qp->number);
unlisten:
	tern_qp_unlisten(dev->tern, &qp->listener);
free_number:
	tern_number_free(dev->tern, TERN_NUMBERS_QP, qp->number);
	return err;
}
