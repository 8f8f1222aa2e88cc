/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the reaction point: who gets CNPs sends more slowly, evenly spaced. */
#ifndef TERN_REACTION_POINT_H
#define TERN_REACTION_POINT_H

#include "ecn.h"
#include "rdma_qp.h"

struct tern_qp_congestion;

/* A CNP of its peer came. False: it is ignored. */
bool reaction_point_notified(struct rdma_qp *rdma);

/* It is not limited any more. What waits is sent. */
void reaction_point_release(struct rdma_qp *rdma);
/* No queue pair of the priority is. */
void reaction_point_off(struct tern_nic *nic, uint8_t priority);
/* The priority's parameters will change. */
void reaction_point_settle(struct tern_nic *nic, uint8_t priority);

/* For reaction_point_holds() and reaction_point_sends(), of those that are limited. */
bool reaction_point_hold(struct rdma_qp *rdma, const struct egress_source *source);
void reaction_point_pace(struct rdma_qp *rdma, const struct wire_headers *headers, size_t length);

/* The next packet of @source, its requester or responder, is to wait; then it is activated. */
static inline bool reaction_point_holds(struct rdma_qp *rdma, const struct egress_source *source)
{
	return rdma->congestion.reaction && reaction_point_hold(rdma, source);
}

/* Its requester waits for this, and for nothing else. */
bool reaction_point_holds_requester(const struct rdma_qp *rdma);

/* Packets that tell of a congestion: what a switch may mark. */
bool reaction_point_marks(const struct rdma_qp *rdma, const struct wire_path *path,
			  const struct wire_headers *headers, size_t payload_length);

/*
 * What is sent, with headers at @buffer, is marked, and takes its time of a
 * queue pair that is limited.
 */
static inline void reaction_point_sends(struct rdma_qp *rdma, const struct wire_path *path,
					const struct wire_headers *headers, uint8_t *buffer,
					size_t payload_length, size_t frame_length)
{
	if (!nic_of(rdma)->rdma->congestion.reacts)
		return;
	if (reaction_point_marks(rdma, path, headers, payload_length))
		ecn_set(buffer + path->l3_offset, ECN_ECT_0);
	if (rdma->congestion.reaction)
		reaction_point_pace(rdma, headers, frame_length);
}

void reaction_point_query(struct rdma_qp *rdma, struct tern_qp_congestion *congestion);

#endif /* TERN_REACTION_POINT_H */
