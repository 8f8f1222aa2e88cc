// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the RC responder: request packets are checked and executed (IBTA 9.7.4, 9.7.5). */
#include <string.h>

#include "byteorder.h"
#include "rdma_qp.h"
#include "xrc.h"

/* PSNs this far behind the expected one are duplicates, the other half is ahead (IBTA 9.7.1). */
#define PSN_HALF		0x800000U

#define ABSENT_TIMER_FIRST	12	/* 0.64 ms */
#define ABSENT_TIMER_LAST	24	/* 40.96 ms */

static void respond(struct rdma_qp *rdma, enum response response)
{
	rdma->responder.response = (uint8_t)response;
	egress_activate(nic_of(rdma), &rdma->responder.source);
}

static void acknowledge(struct rdma_qp *rdma)
{
	uint8_t response = rdma->responder.response;

	/* A NAK, RNR or for a gap, acknowledges what came before it, too. */
	if (response != RESPONSE_NAK && response != RESPONSE_RNR)
		respond(rdma, RESPONSE_ACK);
}

void rc_responder_refuse(struct rdma_qp *rdma, uint8_t code, uint8_t event)
{
	struct responder *responder = &rdma->responder;

	qp_trace(rdma->qp, "refuse psn %u, NAK code %u", responder->expected_psn, code);
	if (code == WIRE_NAK_REMOTE_ACCESS)
		qp_count(rdma->qp, resp_remote_access_errors, 1);
	responder->nak_code = code;
	responder->nak_psn = responder->expected_psn;
	respond(rdma, RESPONSE_NAK);
	rdma_fail(rdma->qp, event);
}

static void refuse_request(struct rdma_qp *rdma)
{
	rc_responder_refuse(rdma, WIRE_NAK_INVALID_REQUEST, TERN_EVENT_QP_REQUEST_ERROR);
}

/* Complete the receive in use with an error; the NAK tells the peer. */
static void refuse_receive(struct rdma_qp *rdma, uint8_t status, uint8_t code)
{
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE, .status = status };

	rdma_complete_receive(rdma, &cqe, rdma->responder.receive.index);
	rc_responder_refuse(rdma, code, 0);
}

static void not_ready(struct rdma_qp *rdma, uint8_t timer)
{
	struct responder *responder = &rdma->responder;

	qp_count(rdma->qp, rnr_nak_sent, 1);
	responder->nak_sent = true;
	responder->rnr_timer = timer;
	respond(rdma, RESPONSE_RNR);
}

/*
 * How long the peer is to wait for a page (IBTA table 45): twice as long each
 * time, so that few retries last while a host reads it from a disk. 0 is the longest.
 */
static uint8_t absent_timer(struct rdma_qp *rdma)
{
	struct page_fault *fault = &rdma->responder.fault;
	uint8_t least = rdma->attributes.min_rnr_timer;
	uint8_t timer = (uint8_t)(ABSENT_TIMER_FIRST + 2 * fault->answers);

	if (timer < ABSENT_TIMER_LAST)
		fault->answers++;
	return !least || least > timer ? least : timer;
}

void rc_responder_absent(struct rdma_qp *rdma)
{
	if (page_fault_waits(rdma, &rdma->responder.fault))
		not_ready(rdma, absent_timer(rdma));
	else
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
}

/* A receive for this message; false: there is none, and that is answered. */
static bool get_receive(struct rdma_qp *rdma)
{
	struct responder *responder = &rdma->responder;

	/* It was taken when the packet came before, and a page of it was absent. */
	if (rdma->receive_held)
		return true;
	switch (rdma_peek_receive(rdma, &responder->receive)) {
	case RECEIVE_OK:
		rdma_take_receive(rdma);
		return true;
	case RECEIVE_EMPTY:
		not_ready(rdma, rdma->attributes.min_rnr_timer);
		return false;
	case RECEIVE_BAD:
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_OPERATION, 0);
		return false;
	default:
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
	} else if (packet->opcode->extensions & WIRE_IETH) {
		__le32 key = to_le32(packet->headers.invalidate_key);

		cqe.opcode = TERN_CQE_RECEIVE_INVALIDATE;
		memcpy(cqe.immediate, &key, 4);
	}
	if (packet->headers.solicited)
		cqe.flags = TERN_CQE_FLAG_SOLICITED;
	cqe.byte_count = to_le32((uint32_t)responder->received);
	rdma_complete_receive(rdma, &cqe, responder->receive.index);
}

void rc_responder_count(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	if (!(packet->opcode->flags & WIRE_ENDS))
		return;
	switch (packet->opcode->operation) {
	case WIRE_OP_WRITE:
		qp_count(rdma->qp, rx_write_requests, 1);
		break;
	case WIRE_OP_READ:
		qp_count(rdma->qp, rx_read_requests, 1);
		break;
	case WIRE_OP_ATOMIC:
	case WIRE_OP_ATOMIC_WRITE:
		qp_count(rdma->qp, rx_atomic_requests, 1);
		break;
	default:
		break;
	}
}

/* The packet was executed: what comes next is expected. */
static void accept(struct rdma_qp *rdma, const struct wire_packet *packet, uint32_t psns)
{
	struct responder *responder = &rdma->responder;

	qp_count(rdma->qp, rx_payload_bytes, packet->payload_length);
	rc_responder_count(rdma, packet);
	page_fault_over(&responder->fault);
	responder->expected_psn = (responder->expected_psn + psns) & WIRE_PSN_MASK;
	/* A NAK that is still to be sent asks for what is expected now. */
	responder->nak_sent = responder->response == RESPONSE_NAK;
	if (responder->response == RESPONSE_RNR)
		responder->response = RESPONSE_NONE;
	if (packet->opcode->flags & WIRE_ENDS)
		responder->msn = (responder->msn + 1) & 0xffffff;
}

static void execute_send(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct responder *responder = &rdma->responder;
	bool ends = packet->opcode->flags & WIRE_ENDS;
	bool invalidates = packet->opcode->extensions & WIRE_IETH;
	enum payload_result result;

	if (invalidates && key_may_invalidate(&rdma->qp->remote, packet->headers.invalidate_key)) {
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
		return;
	}
	if (packet->opcode->flags & WIRE_STARTS) {
		if (!get_receive(rdma))
			return;
		responder->received = 0;
	}
	if (responder->received + packet->payload_length > responder->receive.length) {
		qp_count(rdma->qp, resp_local_length_error, 1);
		refuse_receive(rdma, TERN_WC_LOCAL_LENGTH, WIRE_NAK_INVALID_REQUEST);
		return;
	}
	result = payload_scatter(rdma_receive_user(rdma), responder->receive.sges,
				 responder->receive.sge_count, TERN_ACCESS_LOCAL_WRITE,
				 responder->received, packet->payload, packet->payload_count);
	if (result == PAYLOAD_ABSENT && page_fault_waits(rdma, &responder->fault)) {
		not_ready(rdma, absent_timer(rdma));
		return;
	}
	if (result) {
		refuse_receive(rdma, TERN_WC_LOCAL_PROTECTION, WIRE_NAK_REMOTE_OPERATION);
		return;
	}
	responder->received += packet->payload_length;
	/* After the data, which may go to memory of that key, and before the completion. */
	if (invalidates)
		key_invalidate(&rdma->qp->remote, packet->headers.invalidate_key);
	responder->message = ends ? MESSAGE_NONE : MESSAGE_SEND;
	accept(rdma, packet, 1);
	if (ends)
		complete(rdma, packet, false);
	if (packet->headers.ack_request)
		acknowledge(rdma);
}

bool rc_responder_allows(struct rdma_qp *rdma, const struct wire_headers *headers,
			 uint32_t access)
{
	struct key_range range;
	enum key_error error;

	if (!headers->reth.length && !headers->reth.key)
		return true;
	error = key_resolve(&rdma->qp->remote, headers->reth.key, headers->reth.address,
			    headers->reth.length, access, &range);
	return error == KEY_OK || (error == KEY_OUT_OF_BOUNDS && !headers->reth.length);
}

uint8_t rc_responder_begin_write(struct rdma_qp *rdma, const struct wire_headers *headers)
{
	struct responder *responder = &rdma->responder;

	if (!(rdma->access & TERN_ACCESS_REMOTE_WRITE) ||
	    headers->reth.length > MESSAGE_BYTES_MAX)
		return WIRE_NAK_INVALID_REQUEST;
	if (!rc_responder_allows(rdma, headers, TERN_ACCESS_REMOTE_WRITE))
		return WIRE_NAK_REMOTE_ACCESS;
	responder->write.address = headers->reth.address;
	responder->write.key = headers->reth.key;
	responder->write.length = headers->reth.length;
	responder->received = 0;
	return 0;
}

static bool begin_write(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	uint8_t refused = rc_responder_begin_write(rdma, &packet->headers);

	if (refused == WIRE_NAK_REMOTE_ACCESS)
		rc_responder_refuse(rdma, refused, TERN_EVENT_QP_ACCESS_ERROR);
	else if (refused)
		refuse_request(rdma);
	return !refused;
}

static void execute_write(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct responder *responder = &rdma->responder;
	bool ends = packet->opcode->flags & WIRE_ENDS;
	bool immediate = packet->opcode->extensions & WIRE_IMMDT;
	struct sge target;
	uint64_t received;

	if ((packet->opcode->flags & WIRE_STARTS) && !begin_write(rdma, packet))
		return;
	received = responder->received + packet->payload_length;
	if (ends ? received != responder->write.length : received >= responder->write.length) {
		refuse_request(rdma);
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
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
		return;
	case PAYLOAD_ABSENT:
		rc_responder_absent(rdma);
		return;
	default:
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_OPERATION, TERN_EVENT_QP_FATAL);
		return;
	}
	responder->received = received;
	responder->message = ends ? MESSAGE_NONE : MESSAGE_WRITE;
	accept(rdma, packet, 1);
	if (immediate)
		complete(rdma, packet, true);
	if (packet->headers.ack_request)
		acknowledge(rdma);
}

static struct read_response *read_at(struct responder *responder, unsigned int place)
{
	return &responder->reads[(responder->read_first + place) % RESPONSES_MAX];
}

static uint32_t response_packets(const struct rdma_qp *rdma, uint32_t length)
{
	return length ? (uint32_t)(((uint64_t)length + rdma->path_mtu - 1) / rdma->path_mtu) : 1;
}

static bool read_allowed(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	const struct wire_headers *headers = &packet->headers;

	if (!(rdma->access & TERN_ACCESS_REMOTE_READ) ||
	    headers->reth.length > MESSAGE_BYTES_MAX) {
		refuse_request(rdma);
		return false;
	}
	if (!rc_responder_allows(rdma, headers, TERN_ACCESS_REMOTE_READ)) {
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
		return false;
	}
	return true;
}

/* One more READ or atomic to answer, for the first time or again. */
static struct read_response *queue_response(struct rdma_qp *rdma, uint32_t psn, bool again)
{
	struct responder *responder = &rdma->responder;
	struct read_response *response = read_at(responder, responder->read_count++);

	*response = (struct read_response){ .again = again, .first_psn = psn, .packets = 1,
					    .msn = responder->msn,
					    .pd = rdma->qp->remote.pd };
	egress_activate(nic_of(rdma), &responder->source);
	return response;
}

static void queue_read(struct rdma_qp *rdma, const struct wire_packet *packet, bool again)
{
	struct read_response *read = queue_response(rdma, packet->headers.psn, again);

	read->address = packet->headers.reth.address;
	read->key = packet->headers.reth.key;
	read->length = packet->headers.reth.length;
	read->packets = response_packets(rdma, read->length);
}

static void queue_atomic(struct rdma_qp *rdma, uint32_t psn, uint64_t original, bool again)
{
	struct read_response *response = queue_response(rdma, psn, again);

	response->atomic = true;
	response->original = original;
}

/* Room for one more, as was agreed (IBTA C9-63). */
static bool has_resources(struct rdma_qp *rdma)
{
	struct responder *responder = &rdma->responder;
	unsigned int used = 0;

	for (unsigned int place = 0; place < responder->read_count; place++)
		used += !read_at(responder, place)->again;
	if (used < rdma->attributes.responder_resources)
		return true;
	refuse_request(rdma);
	return false;
}

/* A response acknowledges what came before; one that is repeated not what came after. */
static void response_acknowledges(struct responder *responder)
{
	if (responder->response == RESPONSE_ACK)
		responder->response = RESPONSE_NONE;
}

/*
 * Before a READ is taken the peer can be told to wait without an end; afterwards
 * its answer waits, on the time of the peer's timer. So look at what is sent next.
 */
static bool read_absent(struct rdma_qp *rdma, const struct wire_headers *headers)
{
	uint32_t length = READ_PACKETS_MAX * rdma->path_mtu;
	struct sge source = { .address = headers->reth.address, .length = headers->reth.length,
			      .key = headers->reth.key };

	if (length > source.length)
		length = source.length;
	return payload_present(&rdma->qp->remote, &source, 1, TERN_ACCESS_REMOTE_READ, 0, length,
			       false) == PAYLOAD_ABSENT;
}

static void execute_read(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	if (!has_resources(rdma) || !read_allowed(rdma, packet))
		return;
	if (read_absent(rdma, &packet->headers)) {
		rc_responder_absent(rdma);
		return;
	}
	accept(rdma, packet, response_packets(rdma, packet->headers.reth.length));
	response_acknowledges(&rdma->responder);
	queue_read(rdma, packet, false);
}

static void execute_atomic(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	uint64_t original;

	if (!has_resources(rdma) || !rc_atomic_execute(rdma, packet, &original))
		return;
	accept(rdma, packet, 1);
	response_acknowledges(&rdma->responder);
	queue_atomic(rdma, packet->headers.psn, original, false);
}

/* Answered as a READ of nothing is (IBTA A19.4). */
static void execute_placement(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	if (!has_resources(rdma) || !rc_placement_execute(rdma, packet))
		return;
	accept(rdma, packet, 1);
	response_acknowledges(&rdma->responder);
	queue_response(rdma, packet->headers.psn, false);
}

/*
 * Who asks again from @psn on has all that comes before it: answers that reach
 * beyond it are dropped. False: there is no room for one more all the same.
 */
static bool answer_again_from(struct responder *responder, uint32_t psn)
{
	while (responder->read_count) {
		const struct read_response *last = read_at(responder, responder->read_count - 1U);
		uint32_t behind = wire_psn_distance(psn, last->first_psn);

		if (behind >= last->packets && behind <= PSN_HALF)
			break;
		responder->read_count--;
	}
	return responder->read_count < READ_RESPONDER_MAX;
}

/*
 * A READ that is asked for again is executed again. The requester may have its
 * data and have given up the key since: that is no error of a queue pair.
 */
static void repeat_read(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	uint32_t psn = packet->headers.psn;
	uint32_t packets = response_packets(rdma, packet->headers.reth.length);

	/* It must not reach into what is not executed yet. */
	if (wire_psn_distance(rdma->responder.expected_psn, psn) < packets) {
		qp_count(rdma->qp, rx_malformed, 1);
		return;
	}
	/* Last what drops other answers: one that is not allowed costs none of them. */
	if (xrc_allows(rdma, packet) && (rdma->access & TERN_ACCESS_REMOTE_READ) &&
	    packet->headers.reth.length <= MESSAGE_BYTES_MAX &&
	    rc_responder_allows(rdma, &packet->headers, TERN_ACCESS_REMOTE_READ) &&
	    answer_again_from(&rdma->responder, psn))
		queue_read(rdma, packet, true);
}

/* An atomic never is: it is answered with what it found then (IBTA 9.4.5). */
static void repeat_atomic(struct rdma_qp *rdma, uint32_t psn)
{
	uint64_t original;

	if (rc_atomic_result(rdma, psn, &original) && answer_again_from(&rdma->responder, psn))
		queue_atomic(rdma, psn, original, true);
}

/* Nor is an ATOMIC_WRITE; and what a FLUSH asks for was so the first time. */
static void repeat_placement(struct rdma_qp *rdma, uint32_t psn)
{
	if (answer_again_from(&rdma->responder, psn))
		queue_response(rdma, psn, true);
}

static void duplicate(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	qp_count(rdma->qp, duplicate_request, 1);
	switch (packet->opcode->operation) {
	case WIRE_OP_READ:
		repeat_read(rdma, packet);
		break;
	case WIRE_OP_ATOMIC:
		repeat_atomic(rdma, packet->headers.psn);
		break;
	case WIRE_OP_FLUSH:
	case WIRE_OP_ATOMIC_WRITE:
		repeat_placement(rdma, packet->headers.psn);
		break;
	default:
		acknowledge(rdma);
		break;
	}
}

static void gap(struct rdma_qp *rdma)
{
	struct responder *responder = &rdma->responder;

	qp_count(rdma->qp, out_of_sequence, 1);
	if (responder->nak_sent)
		return;
	responder->nak_sent = true;
	responder->nak_code = WIRE_NAK_SEQUENCE;
	respond(rdma, RESPONSE_NAK);
}

/* May this packet follow in the message (IBTA 9.7.4.1.2, .4), and does its length fit? */
static bool fits(const struct rdma_qp *rdma, const struct wire_packet *packet)
{
	const struct responder *responder = &rdma->responder;
	bool starts = packet->opcode->flags & WIRE_STARTS;
	bool ends = packet->opcode->flags & WIRE_ENDS;
	enum message message;

	switch (packet->opcode->operation) {
	case WIRE_OP_SEND:
		message = MESSAGE_SEND;
		break;
	case WIRE_OP_WRITE:
		message = MESSAGE_WRITE;
		break;
	default:
		message = MESSAGE_NONE;
		break;
	}
	if (responder->message != (starts ? MESSAGE_NONE : message))
		return false;
	if (!(packet->opcode->flags & WIRE_PAYLOAD))
		return true;
	if (!ends)
		return packet->payload_length == rdma->path_mtu;
	return packet->payload_length <= rdma->path_mtu && (starts || packet->payload_length);
}

void rc_responder_receive(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct responder *responder = &rdma->responder;
	uint32_t ahead = wire_psn_distance(packet->headers.psn, responder->expected_psn);

	rdma_established(rdma);
	if (ahead) {
		if (ahead < PSN_HALF)
			gap(rdma);
		else
			duplicate(rdma, packet);
		return;
	}
	if (!fits(rdma, packet) || !xrc_begin(rdma, packet)) {
		refuse_request(rdma);
		return;
	}
	switch (packet->headers.opcode & WIRE_OPERATION_MASK) {
	case WIRE_RC_SEND_FIRST:
	case WIRE_RC_SEND_MIDDLE:
	case WIRE_RC_SEND_LAST:
	case WIRE_RC_SEND_LAST_IMMEDIATE:
	case WIRE_RC_SEND_ONLY:
	case WIRE_RC_SEND_ONLY_IMMEDIATE:
		execute_send(rdma, packet);
		break;
	case WIRE_RC_SEND_LAST_INVALIDATE:
	case WIRE_RC_SEND_ONLY_INVALIDATE:
		if (function_has(rdma->qp->fn,
				 FEATURE(FAST_REGISTRATION) | FEATURE(MEMORY_WINDOWS)))
			execute_send(rdma, packet);
		else
			refuse_request(rdma);
		break;
	case WIRE_RC_WRITE_FIRST:
	case WIRE_RC_WRITE_MIDDLE:
	case WIRE_RC_WRITE_LAST:
	case WIRE_RC_WRITE_LAST_IMMEDIATE:
	case WIRE_RC_WRITE_ONLY:
	case WIRE_RC_WRITE_ONLY_IMMEDIATE:
		execute_write(rdma, packet);
		break;
	case WIRE_RC_READ_REQUEST:
		execute_read(rdma, packet);
		break;
	case WIRE_RC_CAS:
	case WIRE_RC_FETCH_ADD:
		execute_atomic(rdma, packet);
		break;
	case WIRE_RC_FLUSH:
	case WIRE_RC_ATOMIC_WRITE:
		execute_placement(rdma, packet);
		break;
	default:
		refuse_request(rdma);
		break;
	}
}
