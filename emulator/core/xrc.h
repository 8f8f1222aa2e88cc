/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: XRC targets: the SRQ that a packet names. */
#ifndef TERN_XRC_H
#define TERN_XRC_H

#include "rdma_qp.h"

/*
 * Of an XRC target: does the packet name an SRQ of its domain? From then on the
 * SRQ's PD is whose keys are looked at (IBTA A14). Of others: true.
 */
bool xrc_allows(struct rdma_qp *rdma, const struct wire_packet *packet);
/* The same of a packet to be executed: the SRQ is its message's, from its first packet on. */
bool xrc_begin(struct rdma_qp *rdma, const struct wire_packet *packet);
/* The queue pair has no SRQ any more. */
void xrc_leave(struct rdma_qp *rdma);

#endif /* TERN_XRC_H */
