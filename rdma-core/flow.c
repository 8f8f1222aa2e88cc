// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Flows: the kernel's, and through it the device's. */
#include <errno.h>
#include <stdlib.h>

#include "raw_packet.h"

struct ibv_flow *tern_create_flow(struct ibv_qp *ibqp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *ibflow;
	int ret;

	ibflow = calloc(1, sizeof(*ibflow));
	if (!ibflow)
		return NULL;
	ret = ibv_cmd_create_flow(ibqp, ibflow, attr, NULL, 0);
	if (ret) {
		free(ibflow);
		errno = ret;
		return NULL;
	}
	return ibflow;
}

int tern_destroy_flow(struct ibv_flow *ibflow)
{
	int ret;

	ret = ibv_cmd_destroy_flow(ibflow);
	if (ret)
		return ret;
	free(ibflow);
	return 0;
}
