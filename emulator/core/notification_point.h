/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the notification point: who receives marked packets tells their sender. */
#ifndef TERN_NOTIFICATION_POINT_H
#define TERN_NOTIFICATION_POINT_H

#include "rdma_qp.h"

/* A RoCE v2 packet with CE came for it. */
void notification_point_marked(struct rdma_qp *rdma);
/* Sends CNPs that are due. */
bool notification_point_send(struct egress_source *source);
/* It has no peer any more. */
void notification_point_forget(struct rdma_qp *rdma);

#endif /* TERN_NOTIFICATION_POINT_H */
