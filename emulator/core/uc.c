// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: what UC queue pairs receive (IBTA 9.8.2). Nobody answers: a message of
 * which a packet is missing, or that is not allowed, is dropped whole, and the
 * next one that begins is taken.
 */
#include <string.h>

#include "byteorder.h"
#include "rdma_qp.h"

/* The rest of the message is dropped, too. */
static void drop(struct rdma_qp *rdma)
{
	rdma->responder.message = MESSAGE_NONE;
	qp_count(rdma->qp, rx_ud_dropped, 1);
}

static void drop_for_access(struct rdma_qp *rdma)
{
	qp_count(rdma->qp, resp_remote_access_errors, 1);
	drop(rdma);
}

/* A receive; one that a dropped message had is used first. */
static bool get_receive(struct rdma_qp *rdma)
{
	struct responder *responder = &rdma->responder;

	if (rdma->receive_held)
		return true;
	switch (rdma_peek_receive(rdma, &responder->receive)) {
	case RECEIVE_OK:
		rdma_take_receive(rdma);
		return true;
	case RECEIVE_BAD:
		rdma_fail(rdma->qp, 0);
		return false;
	default:
		drop(rdma);
		return false;
	}
}

static void complete(struct rdma_qp *rdma, const struct wire_packet *packet, bool write)
{
	struct responder *responder = &rdma->responder;
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE };

	if (packet->opcode->extensions & WIRE_IMMDT) {
		cqe.opcode = write ? TERN_CQE_RECEIVE_WRITE_IMMEDIATE : TERN_CQE_RECEIVE_IMMEDIATE;
		memcpy(cqe.immediate, packet->headers.immediate, 4);
	}
	if (packet->headers.solicited)
		cqe.flags = TERN_CQE_FLAG_SOLICITED;
	cqe.byte_count = to_le32((uint32_t)responder->received);
	rdma_complete_receive(rdma, &cqe, responder->receive.index);
}

static void receive_failed(struct rdma_qp *rdma)
{
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE,
				.status = TERN_WC_LOCAL_PROTECTION };

	rdma_complete_receive(rdma, &cqe, rdma->responder.receive.index);
	rdma_fail(rdma->qp, 0);
}

static void accept(struct rdma_qp *rdma, const struct wire_packet *packet, enum message message)
{
	bool ends = packet->opcode->flags & WIRE_ENDS;

	page_fault_over(&rdma->responder.fault);
	rdma->responder.received += packet->payload_length;
	rdma->responder.message = (uint8_t)(ends ? MESSAGE_NONE : message);
	qp_count(rdma->qp, rx_payload_bytes, packet->payload_length);
	rc_responder_count(rdma, packet);
}

static void receive_send(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct responder *responder = &rdma->responder;
	enum payload_result result;

	if (packet->opcode->flags & WIRE_STARTS) {
		if (!get_receive(rdma))
			return;
		responder->received = 0;
	}
	if (responder->received + packet->payload_length > responder->receive.length) {
		drop(rdma);
		return;
	}
	result = payload_scatter(rdma_receive_user(rdma), responder->receive.sges,
				 responder->receive.sge_count, TERN_ACCESS_LOCAL_WRITE,
				 responder->received, packet->payload, packet->payload_count);
	/* Nobody can be told to wait: this message is lost, the next one finds the page. */
	if (result == PAYLOAD_ABSENT && page_fault_waits(rdma, &responder->fault)) {
		drop(rdma);
		return;
	}
	if (result) {
		receive_failed(rdma);
		return;
	}
	accept(rdma, packet, MESSAGE_SEND);
	if (packet->opcode->flags & WIRE_ENDS)
		complete(rdma, packet, false);
}

static bool begin_write(struct rdma_qp *rdma, const struct wire_headers *headers)
{
	uint8_t refused = rc_responder_begin_write(rdma, headers);

	if (refused == WIRE_NAK_REMOTE_ACCESS)
		drop_for_access(rdma);
	else if (refused)
		drop(rdma);
	return !refused;
}

static void receive_write(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct responder *responder = &rdma->responder;
	bool ends = packet->opcode->flags & WIRE_ENDS;
	bool immediate = packet->opcode->extensions & WIRE_IMMDT;
	struct sge target;
	uint64_t received;

	if ((packet->opcode->flags & WIRE_STARTS) && !begin_write(rdma, &packet->headers))
		return;
	received = responder->received + packet->payload_length;
	if (ends ? received != responder->write.length : received >= responder->write.length) {
		drop(rdma);
		return;
	}
	if (immediate && !get_receive(rdma))
		return;
	target.address = responder->write.address;
	target.key = responder->write.key;
	target.length = responder->write.length;
	switch (payload_scatter(&rdma->qp->remote, &target, 1, TERN_ACCESS_REMOTE_WRITE,
				responder->received, packet->payload, packet->payload_count)) {
	case PAYLOAD_OK:
		break;
	case PAYLOAD_KEY:
		drop_for_access(rdma);
		return;
	case PAYLOAD_ABSENT:
		if (page_fault_waits(rdma, &responder->fault))
			drop(rdma);
		else
			drop_for_access(rdma);
		return;
	default:
		drop(rdma);
		return;
	}
	accept(rdma, packet, MESSAGE_WRITE);
	if (immediate)
		complete(rdma, packet, true);
}

/* Full packets but the last, which is not empty unless it is the only one. */
static bool length_fits(const struct rdma_qp *rdma, const struct wire_packet *packet)
{
	bool starts = packet->opcode->flags & WIRE_STARTS;

	if (!(packet->opcode->flags & WIRE_ENDS))
		return packet->payload_length == rdma->path_mtu;
	return packet->payload_length <= rdma->path_mtu && (starts || packet->payload_length);
}

void uc_receive(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct responder *responder = &rdma->responder;
	enum message message = packet->opcode->operation == WIRE_OP_SEND ? MESSAGE_SEND :
									   MESSAGE_WRITE;

	rdma_established(rdma);
	if (packet->headers.psn != responder->expected_psn) {
		qp_count(rdma->qp, out_of_sequence, 1);
		responder->message = MESSAGE_NONE;
	}
	responder->expected_psn = (packet->headers.psn + 1) & WIRE_PSN_MASK;
	if (packet->opcode->flags & WIRE_STARTS) {
		responder->message = MESSAGE_NONE;
	} else if (responder->message != message) {
		/* Of a message that is being dropped, or of none. */
		responder->message = MESSAGE_NONE;
		return;
	}
	if (!length_fits(rdma, packet))
		drop(rdma);
	else if (message == MESSAGE_SEND)
		receive_send(rdma, packet);
	else
		receive_write(rdma, packet);
}
