// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern RDMA driver: multicast. The core has checked that the GID is multicast
 * and the queue pair UD; whom the netdev's neighbours are to tell, rdma_cm does.
 */
#include "tern_hw_qp.h"

#include "verbs.h"

static int tern_ib_multicast(struct ib_qp *ibqp, const union ib_gid *gid, u16 opcode)
{
	struct tern_device *tern = to_tern_ib(ibqp->device)->tern;
	struct tern_command_multicast body;

	if (!tern_has(tern, TERN_FEATURE_MULTICAST))
		return -EOPNOTSUPP;
	memcpy(body.gid, gid->raw, sizeof(body.gid));
	return tern_command_execute(tern, opcode, ibqp->qp_num, &body, sizeof(body), NULL);
}

int tern_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return tern_ib_multicast(ibqp, gid, TERN_COMMAND_ATTACH_MULTICAST);
}

int tern_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	int err = tern_ib_multicast(ibqp, gid, TERN_COMMAND_DETACH_MULTICAST);

	return tern_ib_gone_is_done(to_tern_ib(ibqp->device)->tern, err);
}
