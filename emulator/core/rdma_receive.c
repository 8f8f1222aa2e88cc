// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: RoCE frames come in: checked, then given to their queue pair. And the
 * engine's own comings and goings.
 */
#include "rdma_receive.h"

#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "ecn.h"
#include "icrc.h"
#include "notification_point.h"
#include "parts.h"
#include "rdma_qp.h"
#include "reaction_point.h"
#include "tern_hw_congestion.h"
#include "tern_hw_ethernet.h"

const struct command_entry rdma_commands[] = {
	{ TERN_COMMAND_SET_GID, true, sizeof(struct tern_command_set_gid),
	  FEATURE(ROCE_V1) | FEATURE(ROCE_V2), set_gid_command },
	{ TERN_COMMAND_ATTACH_MULTICAST, true, sizeof(struct tern_command_multicast),
	  FEATURE(MULTICAST), attach_multicast_command },
	{ TERN_COMMAND_DETACH_MULTICAST, true, sizeof(struct tern_command_multicast),
	  FEATURE(MULTICAST), detach_multicast_command },
	{ TERN_COMMAND_SET_CONGESTION_CONTROL, true,
	  sizeof(struct tern_command_set_congestion_control), FEATURE(ECN),
	  set_congestion_control_command },
	{ 0 },
};

bool rdma_create(struct tern_nic *nic)
{
	nic->rdma = calloc(1, sizeof(*nic->rdma));
	if (!nic->rdma)
		return false;
	congestion_init(&nic->rdma->congestion);
	return true;
}

void rdma_destroy(struct tern_nic *nic)
{
	free(nic->rdma);
	nic->rdma = NULL;
}

bool rdma_function_create(struct function *fn)
{
	fn->rdma = calloc(1, sizeof(*fn->rdma));
	if (!fn->rdma)
		return false;
	gid_table_init(&fn->rdma->gids);
	multicast_init(&fn->rdma->multicast);
	return true;
}

void rdma_function_destroy(struct function *fn)
{
	if (fn->rdma)
		multicast_reset(&fn->rdma->multicast);
	free(fn->rdma);
	fn->rdma = NULL;
}

void rdma_function_reset(struct function *fn)
{
	gid_table_init(&fn->rdma->gids);
	multicast_reset(&fn->rdma->multicast);
	/* The port is the PF's. */
	if (!fn->index)
		congestion_reset(fn->nic);
}

static bool icrc_right(const struct wire_packet *packet)
{
	uint32_t icrc = icrc_compute(packet->network, packet->l3, packet->l3_length,
				     packet->payload, packet->payload_count, packet->pad,
				     packet->headers.pad);

	return icrc == icrc_load(packet->icrc);
}

/* IBTA 10.9.2: same partition, and one of the two a full member; ours is. */
static bool pkey_matches(uint16_t pkey)
{
	return (pkey | WIRE_PKEY_FULL_MEMBER) == WIRE_PKEY_DEFAULT;
}

/* Between the addresses that it was connected to (IBTA 9.6.1.2.1). */
static bool from_peer(struct rdma_qp *rdma, const struct wire_packet *packet,
		      const struct gid_entry *entry)
{
	const struct tern_address_vector *vector = &rdma->attributes.address;
	const struct gid_entry *own;

	own = gid_table_get(&rdma->qp->fn->rdma->gids,
			    from_le16(vector->source_gid_index));
	if (own != entry &&
	    (!own || own->network != entry->network || memcmp(own->gid, entry->gid, 16)))
		return false;
	return !memcmp(vector->destination_gid, packet->source_gid, 16);
}

static void receive_connected(struct rdma_qp *rdma, const struct wire_packet *packet,
			      const struct gid_entry *entry)
{
	const uint8_t misfit = packet->opcode->flags & WIRE_REQUEST ? TERN_QP_XRC_INITIATOR :
								      TERN_QP_XRC_TARGET;

	if (!responds(rdma->qp) || !from_peer(rdma, packet, entry)) {
		qp_count(rdma->qp, rx_no_qp, 1);
		return;
	}
	/* Of XRC one side only asks, and the other only answers. */
	if (rdma->qp->type == misfit) {
		qp_count(rdma->qp, rx_malformed, 1);
		return;
	}
	rdma->packets_received++;
	if (packet->network != WIRE_V1 && ecn_get(packet->l3) == ECN_CE)
		notification_point_marked(rdma);
	if (rdma->qp->type == TERN_QP_UC)
		uc_receive(rdma, packet);
	else if (packet->opcode->flags & WIRE_REQUEST)
		rc_responder_receive(rdma, packet);
	else
		rc_completer_receive(rdma, packet);
}

/* To all of a group. Only datagrams are sent to many (IBTA 10.5). */
static void receive_multicast(struct function *fn, const struct wire_packet *packet,
			      struct multicast_group *group)
{
	if (packet->headers.destination_qpn != WIRE_QPN_MULTICAST)
		fn->rdma_counters.rx_no_qp++;
	else if ((packet->headers.opcode & WIRE_SERVICE_MASK) != WIRE_SERVICE_UD)
		fn->rdma_counters.rx_malformed++;
	else
		multicast_deliver(group, packet);
}

/* Those of struct rdma_qp: no others are addressed by packets. */
static bool speaks_rdma(const struct qp *qp)
{
	switch (qp->type) {
	case TERN_QP_RC:
	case TERN_QP_UC:
	case TERN_QP_UD:
	case TERN_QP_GSI:
	case TERN_QP_XRC_INITIATOR:
	case TERN_QP_XRC_TARGET:
		return true;
	default:
		return false;
	}
}

/* One that means nobody is no error: its queue pair may just have gone. */
static void receive_cnp(struct function *fn, const struct wire_packet *packet,
			const struct gid_entry *entry)
{
	struct qp *qp = qp_find(fn, packet->headers.destination_qpn);

	if (!qp || !speaks_rdma(qp)) {
		fn->rdma_counters.rp_cnp_ignored++;
		return;
	}
	qp_trace(qp, "receive %s", packet->opcode->name);
	if (entry && packet->network != WIRE_V1 && pkey_matches(packet->headers.pkey) &&
	    qp_connected(qp) && responds(qp) && from_peer(rdma_of(qp), packet, entry) &&
	    reaction_point_notified(rdma_of(qp)))
		qp_count(qp, rp_cnp_handled, 1);
	else
		qp_count(qp, rp_cnp_ignored, 1);
}

/* @entry or @group: what its destination GID is. */
static void dispatch(struct function *fn, const struct wire_packet *packet,
		     const struct gid_entry *entry, struct multicast_group *group)
{
	uint32_t qpn = packet->headers.destination_qpn;
	uint8_t service = packet->headers.opcode & WIRE_SERVICE_MASK;
	struct rdma_counters *counters = &fn->rdma_counters;
	struct qp *qp;

	if (packet->headers.opcode == WIRE_CNP) {
		receive_cnp(fn, packet, entry);
		return;
	}
	if (!pkey_matches(packet->headers.pkey)) {
		counters->rx_pkey_violations++;
		return;
	}
	if (group) {
		receive_multicast(fn, packet, group);
		return;
	}
	qp = qp_find(fn, qpn);
	if (!qp || !speaks_rdma(qp)) {
		counters->rx_no_qp++;
		return;
	}
	qp_trace(qp, "receive %s psn %u bytes %zu", packet->opcode->name, packet->headers.psn,
		 packet->payload_length);
	if (service != service_of(qp)) {
		qp_count(qp, rx_malformed, 1);
	} else if (qp_connected(qp)) {
		receive_connected(rdma_of(qp), packet, entry);
	} else {
		rdma_of(qp)->packets_received++;
		ud_receive(rdma_of(qp), packet);
	}
}

static void receive(struct function *fn, struct wire_packet *packet,
		    const struct tern_frame *frame, const struct gid_entry *entry,
		    struct multicast_group *group)
{
	if (wire_parse_transport(packet, frame) != WIRE_OK) {
		fn->rdma_counters.rx_malformed++;
		return;
	}
	if (!frame->icrc_pending && !icrc_right(packet)) {
		fn->rdma_counters.rx_icrc_encapsulated++;
		return;
	}
	dispatch(fn, packet, entry, group);
}

bool rdma_receive(struct function *fn, const struct tern_frame *frame)
{
	struct rdma_nic *rdma = fn->nic->rdma;
	struct multicast_group *group = NULL;
	const struct gid_entry *entry = NULL;
	struct wire_packet packet;
	struct tern_frame whole;
	size_t length;

	/* Someone's Ethernet queue sent it in pieces that are not headers and payload. */
	if (frame->payload_count && !frame->trailer_length) {
		length = tern_frame_flatten(frame, rdma->received, sizeof(rdma->received));
		if (!length)
			return false;
		tern_frame_wrap(&whole, rdma->received, length);
		frame = &whole;
	}
	if (wire_parse_network(&packet, frame) != WIRE_OK)
		return false;
	if (packet.destination_mac[0] & 1)
		group = multicast_match(fn, &packet);
	else
		entry = gid_table_match(&fn->rdma->gids, &packet);
	if (!entry && !group)
		return false;
	receive(fn, &packet, frame, entry, group);
	return true;
}
