// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: what the RC responder sends: responses, then the acknowledge or
 * NAK for all that came. Acknowledges coalesce: one tells of all PSNs before it.
 */
#include "rdma_priority.h"
#include "rdma_qp.h"
#include "reaction_point.h"

static uint8_t opcode_of(const struct read_response *read)
{
	bool first = !read->sent, last = read->sent + 1 == read->packets;

	if (first && last)
		return WIRE_RC_READ_RESPONSE_ONLY;
	if (last)
		return WIRE_RC_READ_RESPONSE_LAST;
	return first ? WIRE_RC_READ_RESPONSE_FIRST : WIRE_RC_READ_RESPONSE_MIDDLE;
}

/* The data of a READ is not to be had any more: end the connection at this response. */
static void refuse_read(struct rdma_qp *rdma, uint32_t psn, enum payload_result result)
{
	struct responder *responder = &rdma->responder;

	responder->read_count = 0;
	if (result == PAYLOAD_KEY || result == PAYLOAD_ABSENT)
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
	else
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_OPERATION, TERN_EVENT_QP_FATAL);
	responder->nak_psn = psn;
}

static void response_done(struct responder *responder)
{
	responder->read_first = (responder->read_first + 1) % RESPONSES_MAX;
	responder->read_count--;
}

/* False: it waits for a page. */
static bool send_read_response(struct rdma_qp *rdma, const struct wire_path *path)
{
	struct responder *responder = &rdma->responder;
	struct read_response *read = &responder->reads[responder->read_first];
	uint64_t offset = (uint64_t)read->sent * rdma->path_mtu;
	struct sge source = { .address = read->address, .length = read->length,
			      .key = read->key };
	size_t length = read->length - (size_t)offset;
	struct key_user user = rdma->qp->remote;
	enum payload_result result;
	struct payload payload;
	struct wire_headers headers = {
		.opcode = opcode_of(read) | service_of(rdma->qp),
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
		.psn = read->first_psn + read->sent,
		.aeth.syndrome = WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED,
		.aeth.msn = read->msn,
	};

	if (length > rdma->path_mtu)
		length = rdma->path_mtu;
	user.pd = read->pd;
	result = payload_gather(&payload, &user, &source, 1, TERN_ACCESS_REMOTE_READ,
				offset, length);
	if (result == PAYLOAD_ABSENT && page_fault_waits(rdma, &responder->fault))
		return false;
	if (result && read->again) {
		response_done(responder);
		return true;
	}
	if (result) {
		refuse_read(rdma, headers.psn & WIRE_PSN_MASK, result);
		return true;
	}
	page_fault_over(&responder->fault);
	if (++read->sent >= read->packets)
		response_done(responder);
	rdma_transmit(rdma, path, &headers, payload.segments, payload.count, length);
	payload_release(&payload);
	return true;
}

static void send_atomic_response(struct rdma_qp *rdma, const struct wire_path *path)
{
	struct responder *responder = &rdma->responder;
	const struct read_response *response = &responder->reads[responder->read_first];
	struct wire_headers headers = {
		.opcode = WIRE_RC_ATOMIC_ACKNOWLEDGE | service_of(rdma->qp),
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
		.psn = response->first_psn,
		.aeth.syndrome = WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED,
		.aeth.msn = response->msn,
		.atomic_original = response->original,
	};

	response_done(responder);
	rdma_transmit(rdma, path, &headers, NULL, 0, 0);
}

/* False: it waits, for its time or for a page. */
static bool send_response(struct rdma_qp *rdma, const struct wire_path *path)
{
	if (!rdma->responder.reads[rdma->responder.read_first].atomic)
		return !reaction_point_holds(rdma, &rdma->responder.source) &&
		       send_read_response(rdma, path);
	send_atomic_response(rdma, path);
	return true;
}

static void send_acknowledge(struct rdma_qp *rdma, const struct wire_path *path)
{
	struct responder *responder = &rdma->responder;
	struct wire_headers headers = {
		.opcode = WIRE_RC_ACKNOWLEDGE | service_of(rdma->qp),
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
		.psn = responder->expected_psn,
		.aeth.msn = responder->msn,
	};

	switch (responder->response) {
	case RESPONSE_ACK:
		headers.psn = responder->expected_psn - 1;
		headers.aeth.syndrome = WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED;
		break;
	case RESPONSE_RNR:
		headers.aeth.syndrome = WIRE_AETH_RNR_NAK | responder->rnr_timer;
		break;
	default:
		headers.aeth.syndrome = WIRE_AETH_NAK | responder->nak_code;
		if (responder->nak_code != WIRE_NAK_SEQUENCE)
			headers.psn = responder->nak_psn;
		break;
	}
	responder->response = RESPONSE_NONE;
	rdma_transmit(rdma, path, &headers, NULL, 0, 0);
}

bool rc_respond_send(struct egress_source *source)
{
	struct rdma_qp *rdma = rdma_of_responder(source);
	struct responder *responder = &rdma->responder;
	const struct wire_path *path = rdma_path(rdma);

	if (!rdma_reaches_memory(rdma))
		return false;
	if (!path) {
		responder->read_count = 0;
		responder->response = RESPONSE_NONE;
		return false;
	}
	for (unsigned int i = 0; i < EGRESS_BURST && rdma_may_send(rdma, source); i++) {
		if (responder->read_count) {
			if (!send_response(rdma, path))
				return false;
		} else if (responder->response) {
			send_acknowledge(rdma, path);
		} else {
			return false;
		}
	}
	return responder->read_count || responder->response;
}
