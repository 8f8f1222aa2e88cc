// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: priorities of RoCE queue pairs. */
#include "rdma_priority.h"

#include "rdma_qp.h"

void rdma_set_priority(struct rdma_qp *rdma)
{
	const struct function *fn = rdma->qp->fn;
	uint8_t priority = address_priority(&fn->rdma->gids, &rdma->attributes.address,
					    &fn->nic->priorities.map);

	egress_set_priority(fn->nic, &rdma->requester.source, priority);
	egress_set_priority(fn->nic, &rdma->responder.source, priority);
}

void rdma_priorities_changed(struct tern_nic *nic)
{
	for (unsigned int i = 0; i < nic->function_count; i++) {
		struct function *fn = &nic->functions[i];
		uint32_t qpn = 0;
		struct qp *qp;

		gid_table_touch(&fn->rdma->gids);
		for (; (qp = table_next(&fn->qps, qpn, &qpn)); qpn++) {
			if (qp_connected(qp))
				rdma_set_priority(rdma_of(qp));
		}
	}
	egress_look_again(nic);
}

bool rdma_may_send(struct rdma_qp *rdma, struct egress_source *source)
{
	struct tern_nic *nic = nic_of(rdma);

	return egress_ready(nic, source) &&
	       egress_admits(nic, source, source->priority,
			     rdma->attributes.address.destination_mac);
}
