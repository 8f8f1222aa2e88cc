/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* libibverbs provider of the Tern NIC: what brings frames to raw packet queue pairs. */
#ifndef TERN_RAW_PACKET_H
#define TERN_RAW_PACKET_H

#include "tern.h"

/* flow.c */
struct ibv_flow *tern_create_flow(struct ibv_qp *ibqp, struct ibv_flow_attr *attr);
int tern_destroy_flow(struct ibv_flow *ibflow);

#endif /* TERN_RAW_PACKET_H */
