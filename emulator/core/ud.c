// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: datagrams: UD and GSI queue pairs, both directions (IBTA 9.8.3). */
#include <string.h>

#include "byteorder.h"
#include "mac.h"
#include "rdma_qp.h"
#include "tern_hw_ethernet.h"

#define QKEY_OWN		0x80000000U	/* IBTA 10.2.5: use the queue pair's */
#define GRH_IPV4_OFFSET		20

/* What is wrong with a work request; sets its path when nothing is. */
static uint8_t check(const struct rdma_qp *rdma, const struct send_wqe *wqe, enum wqe_error error,
		     struct wire_path *path)
{
	const struct qp *qp = rdma->qp;
	uint32_t qpn = qp->qpn;

	if (error)
		return TERN_WC_LOCAL_QP_OPERATION;
	if (wqe->opcode == TERN_WQE_NOP)
		return TERN_WC_SUCCESS;
	if (wqe->opcode != TERN_WQE_SEND && wqe->opcode != TERN_WQE_SEND_IMMEDIATE)
		return TERN_WC_LOCAL_QP_OPERATION;
	/* One port for all that this queue pair sends: its flow is itself. */
	if (from_le32(wqe->address->remote_qpn) > WIRE_QPN_MASK ||
	    !address_path(&qp->fn->rdma->gids, wqe->address, address_flow_label(qpn, qpn),
			  &qp->fn->nic->priorities.map, path))
		return TERN_WC_LOCAL_QP_OPERATION;
	if (wqe->length > rdma_port_mtu(qp->fn))
		return TERN_WC_LOCAL_LENGTH;
	if (!payload_check(&qp->local, wqe->sges, wqe->sge_count, 0))
		return TERN_WC_LOCAL_PROTECTION;
	return TERN_WC_SUCCESS;
}

/* @payload: unless it is inline. */
static void send_datagram(struct rdma_qp *rdma, const struct send_wqe *wqe,
			  const struct wire_path *path, struct payload *payload)
{
	uint32_t qkey = from_le32(wqe->address->qkey);
	struct tern_segment inlined = { .base = wqe->inline_data, .length = (size_t)wqe->length };
	struct wire_headers headers = {
		.opcode = wqe->opcode == TERN_WQE_SEND ? WIRE_UD_SEND_ONLY :
							 WIRE_UD_SEND_ONLY_IMMEDIATE,
		.solicited = wqe->flags & TERN_WQE_SOLICITED,
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = from_le32(wqe->address->remote_qpn),
		.psn = rdma->ud_psn,
		.deth.qkey = qkey & QKEY_OWN ? rdma->qkey : qkey,
		.deth.source_qpn = rdma->qp->qpn,
	};

	memcpy(headers.immediate, wqe->immediate, 4);
	rdma->ud_psn = (rdma->ud_psn + 1) & WIRE_PSN_MASK;
	if (wqe->inline_data) {
		rdma_transmit(rdma, path, &headers, &inlined, inlined.length ? 1 : 0,
			      inlined.length);
		return;
	}
	rdma_transmit(rdma, path, &headers, payload->segments, payload->count, payload->length);
	payload_release(payload);
}

/* Take one work request and send it; false: there is none, or it is not its turn (*held). */
static bool send_one(struct rdma_qp *rdma, bool *held)
{
	struct send_wqe *wqe = &nic_of(rdma)->rdma->wqe;
	struct work_queue *sq = &rdma->qp->sq;
	enum payload_result result = PAYLOAD_OK;
	struct request request;
	struct payload payload;
	struct wire_path path;
	enum wqe_error error;
	uint8_t status;

	if (!work_queue_posted(sq) || rdma->requester.fault.number)
		return false;
	error = send_wqe_fetch(sq, sq->next, wqe);
	request.index = wqe->index;
	request.blocks = wqe->blocks;
	request.opcode = wqe->opcode;
	request.flags = wqe->flags;
	status = check(rdma, wqe, error, &path);
	if (!status && wqe->opcode != TERN_WQE_NOP &&
	    !egress_admits(nic_of(rdma), &rdma->requester.source, path.priority, path.bytes)) {
		*held = true;
		return false;
	}
	if (!status && wqe->opcode != TERN_WQE_NOP && !wqe->inline_data)
		result = payload_gather(&payload, &rdma->qp->local, wqe->sges, wqe->sge_count, 0,
					0, (size_t)wqe->length);
	if (result == PAYLOAD_ABSENT && page_fault_waits(rdma, &rdma->requester.fault))
		return false;
	page_fault_over(&rdma->requester.fault);
	if (result)
		status = TERN_WC_LOCAL_PROTECTION;
	work_queue_take(sq, wqe->blocks);
	if (!status && wqe->opcode != TERN_WQE_NOP)
		send_datagram(rdma, wqe, &path, &payload);
	/* Over loopback the queue pair may have failed meanwhile; this one is done all the same. */
	rdma_complete_send(rdma, &request, status, 0);
	if (status && rdma->qp->state == TERN_QP_RTS)
		qp_set_state(rdma->qp, TERN_QP_SQE);
	return true;
}

bool ud_send(struct egress_source *source)
{
	struct rdma_qp *rdma = rdma_of_requester(source);
	struct tern_nic *nic = nic_of(rdma);

	if (!rdma_reaches_memory(rdma))
		return false;
	for (unsigned int i = 0; i < EGRESS_BURST && rdma->qp->state == TERN_QP_RTS; i++) {
		bool held = false;

		if (!egress_ready(nic, source))
			return true;
		if (!send_one(rdma, &held))
			return held;
	}
	switch (rdma->qp->state) {
	case TERN_QP_ERROR:
		return rdma_flush(rdma, EGRESS_BURST);
	case TERN_QP_SQE:
		return rdma_flush_send(rdma, EGRESS_BURST);
	default:
		return rdma->qp->state == TERN_QP_RTS;
	}
}

/*
 * The 40 bytes in front of a datagram: GRH or IPv6 header; for IPv4 its header
 * stands in the second half (as Linux's ib_get_gids_from_rdma_hdr() expects).
 */
static void fill_grh(uint8_t *grh, const struct wire_packet *packet)
{
	if (packet->network != WIRE_V2_IPV4) {
		memcpy(grh, packet->l3, TERN_GRH_BYTES);
		return;
	}
	memset(grh, 0, GRH_IPV4_OFFSET);
	memcpy(grh + GRH_IPV4_OFFSET, packet->l3, WIRE_IPV4_BYTES);
}

static void complete(struct rdma_qp *rdma, const struct wire_packet *packet, uint32_t index,
		     uint8_t status)
{
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE, .status = status };

	if (!status) {
		if (packet->opcode->extensions & WIRE_IMMDT) {
			cqe.opcode = TERN_CQE_RECEIVE_IMMEDIATE;
			memcpy(cqe.immediate, packet->headers.immediate, 4);
		}
		cqe.flags = TERN_CQE_FLAG_GRH;
		if (packet->headers.solicited)
			cqe.flags |= TERN_CQE_FLAG_SOLICITED;
		if (packet->network == WIRE_V2_IPV4)
			cqe.flags |= TERN_CQE_FLAG_IPV4;
		cqe.network_type = packet->network == WIRE_V1 ? TERN_GID_TYPE_ROCE_V1 :
								TERN_GID_TYPE_ROCE_V2;
		if (packet->tagged) {
			cqe.flags |= TERN_CQE_FLAG_VLAN;
			cqe.vlan_tci = to_le16(packet->vlan_tci);
		}
		cqe.byte_count = to_le32((uint32_t)packet->payload_length + TERN_GRH_BYTES);
		cqe.source_qpn = to_le32(packet->headers.deth.source_qpn);
		memcpy(cqe.source_mac, packet->source_mac, 6);
	}
	rdma_complete_receive(rdma, &cqe, index);
}

static enum payload_result scatter(const struct key_user *user, const struct receive_wqe *wqe,
				   const struct wire_packet *packet)
{
	uint8_t grh[TERN_GRH_BYTES];
	struct tern_segment segment = { .base = grh, .length = sizeof(grh) };
	enum payload_result result;

	fill_grh(grh, packet);
	result = payload_scatter(user, wqe->sges, wqe->sge_count, TERN_ACCESS_LOCAL_WRITE, 0,
				 &segment, 1);
	if (result)
		return result;
	return payload_scatter(user, wqe->sges, wqe->sge_count, TERN_ACCESS_LOCAL_WRITE,
			       TERN_GRH_BYTES, packet->payload, packet->payload_count);
}

bool ud_deliver(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	enum payload_result result;
	struct receive_wqe wqe;

	switch (rdma_peek_receive(rdma, &wqe)) {
	case RECEIVE_OK:
		break;
	case RECEIVE_BAD:
		rdma_fail(rdma->qp, 0);
		return true;
	default:
		qp_count(rdma->qp, rx_ud_dropped, 1);
		return true;
	}
	if (packet->payload_length + TERN_GRH_BYTES > wqe.length) {
		qp_count(rdma->qp, rx_ud_dropped, 1);
		return true;
	}
	/* The receive is taken after that: a datagram that waits has none. */
	result = scatter(rdma_receive_user(rdma), &wqe, packet);
	if (result == PAYLOAD_ABSENT && page_fault_waits(rdma, &rdma->responder.fault))
		return false;
	rdma_take_receive(rdma);
	if (result) {
		complete(rdma, packet, wqe.index, TERN_WC_LOCAL_PROTECTION);
		rdma_fail(rdma->qp, 0);
		return true;
	}
	page_fault_over(&rdma->responder.fault);
	qp_count(rdma->qp, rx_payload_bytes, packet->payload_length);
	complete(rdma, packet, wqe.index, TERN_WC_SUCCESS);
	return true;
}

void ud_receive(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	if (!responds(rdma->qp)) {
		qp_count(rdma->qp, rx_no_qp, 1);
		return;
	}
	if (packet->headers.deth.qkey != rdma->qkey) {
		qp_count(rdma->qp, rx_qkey_violations, 1);
		return;
	}
	/* Behind others that wait. */
	if (rdma->kept_count || !ud_deliver(rdma, packet))
		ud_keep(rdma, packet);
}
