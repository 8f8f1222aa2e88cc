/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: which priority RoCE queue pairs send with, and when they may. */
#ifndef TERN_RDMA_PRIORITY_H
#define TERN_RDMA_PRIORITY_H

#include <stdbool.h>

struct egress_source;
struct rdma_qp;
struct tern_nic;

/* Its sources get the priority of its address vector, which was set or whose GID changed. */
void rdma_set_priority(struct rdma_qp *rdma);
/* The priority map changed: all queue pairs' packets and sources follow it. */
void rdma_priorities_changed(struct tern_nic *nic);

/* @source, of a connected queue pair, may send a packet now. */
bool rdma_may_send(struct rdma_qp *rdma, struct egress_source *source);

#endif /* TERN_RDMA_PRIORITY_H */
