// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: flows. The core has checked CAP_NET_RAW, and keeps the queue pair. */
#include <linux/slab.h>

#include "flow_specs.h"
#include "internal.h"
#include "verbs.h"

/**
 * struct tern_ib_flow - a flow
 * @ib: the core's part
 * @tern: the function
 * @number: what the device calls it
 */
struct tern_ib_flow {
	struct ib_flow ib;
	struct tern_device *tern;
	u32 number;
};

struct ib_flow *tern_ib_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				    struct ib_udata *udata)
{
	struct tern_device *tern = to_tern_ib(ibqp->device)->tern;
	struct tern_command_add_flow body;
	struct tern_ib_flow *flow;
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);
	if (!tern_has(tern, TERN_FEATURE_FLOW_STEERING) || ibqp->qp_type != IB_QPT_RAW_PACKET)
		return ERR_PTR(-EOPNOTSUPP);
	if (attr->port != 1)
		return ERR_PTR(-EINVAL);
	err = tern_ib_encode_flow(attr, &body);
	if (err)
		return ERR_PTR(err);
	body.qpn = cpu_to_le32(to_tern_qp(ibqp)->number);

	flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	if (!flow)
		return ERR_PTR(-ENOMEM);
	flow->tern = tern;
	err = tern_number_alloc(tern, TERN_NUMBERS_FLOW, &flow->number);
	if (err)
		goto free_flow;
	err = tern_command_execute(tern, TERN_COMMAND_ADD_FLOW, flow->number, &body, sizeof(body),
				   NULL);
	if (err)
		goto free_number;
	return &flow->ib;

free_number:
	tern_number_free(tern, TERN_NUMBERS_FLOW, flow->number);
free_flow:
	kfree(flow);
	return ERR_PTR(err);
}

int tern_ib_destroy_flow(struct ib_flow *ibflow)
{
	struct tern_ib_flow *flow = container_of(ibflow, struct tern_ib_flow, ib);
	struct tern_device *tern = flow->tern;
	int err;

	err = tern_command_execute(tern, TERN_COMMAND_REMOVE_FLOW, flow->number, NULL, 0, NULL);
	err = tern_ib_gone_is_done(tern, err);
	if (err)
		return err;
	tern_number_free(tern, TERN_NUMBERS_FLOW, flow->number);
	kfree(flow);
	return 0;
}
