// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the notification point: packets with CE bring CNPs (IBTA A17.9.3). */
#include "notification_point.h"

#include "rdma_priority.h"

#define DSCP_SHIFT	2

void notification_point_marked(struct rdma_qp *rdma)
{
	struct tern_nic *nic = nic_of(rdma);
	const struct congestion_priority *of = congestion_of(nic, congestion_priority_of(rdma));
	struct congestion_qp *congestion = &rdma->congestion;

	qp_count(rdma->qp, np_ecn_marked_roce_packets, 1);
	if (!of->notifies)
		return;
	if (of->cnp_interval_ns) {
		/* The one that waits tells of this packet too. */
		if (congestion->cnps)
			return;
		if (congestion->cnp_sent &&
		    nic_now(nic) - congestion->cnp_sent < of->cnp_interval_ns)
			return;
	}
	/* Those that wait already keep theirs, and this one with them. */
	if (congestion->source.state == EGRESS_IDLE) {
		congestion->source.priority = of->cnp_priority;
		congestion->cnp_dscp = of->cnp_dscp;
	}
	congestion->cnps++;
	egress_activate(nic, &congestion->source);
}

/* To the peer, in a class of its own. */
static void send_cnp(struct rdma_qp *rdma, const struct wire_path *path)
{
	struct wire_path own = *path;
	struct wire_headers headers = {
		.opcode = WIRE_CNP,
		.becn = true,
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
	};

	wire_path_set_class(&own, (uint8_t)(rdma->congestion.cnp_dscp << DSCP_SHIFT),
			    rdma->congestion.source.priority);
	rdma->congestion.cnps--;
	rdma->congestion.cnp_sent = nic_now(nic_of(rdma));
	qp_count(rdma->qp, np_cnp_sent, 1);
	rdma_transmit(rdma, &own, &headers, NULL, 0, 0);
}

bool notification_point_send(struct egress_source *source)
{
	struct congestion_qp *congestion = container_of(source, struct congestion_qp, source);
	struct rdma_qp *rdma = container_of(congestion, struct rdma_qp, congestion);
	const struct wire_path *path = rdma_path(rdma);

	if (!path || !rdma_reaches_memory(rdma))
		congestion->cnps = 0;
	for (unsigned int i = 0; congestion->cnps && i < EGRESS_BURST; i++) {
		if (!rdma_may_send(rdma, source))
			break;
		send_cnp(rdma, path);
	}
	return congestion->cnps;
}

void notification_point_forget(struct rdma_qp *rdma)
{
	egress_deactivate(nic_of(rdma), &rdma->congestion.source);
	rdma->congestion.cnps = 0;
	rdma->congestion.cnp_sent = 0;
}
