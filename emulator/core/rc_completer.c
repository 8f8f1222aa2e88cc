// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the RC requester's other half: responses complete work requests (IBTA 9.7.5, 9.9.2). */
#include "byteorder.h"
#include "rdma_qp.h"

/* RNR NAK timer field, IBTA table 45, in units of 10 us. */
static const uint32_t rnr_timers[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

#define RNR_TIMER_UNIT_NS	UINT64_C(10000)
#define RNR_RETRY_INFINITE	7

/* It waits for answers; what was acknowledged just now may have ended that. */
static bool waiting(const struct rdma_qp *rdma)
{
	return rdma->qp->state == TERN_QP_RTS || rdma->qp->state == TERN_QP_SQD;
}

void rc_completer_fail(struct rdma_qp *rdma, uint8_t status)
{
	struct requester *requester = &rdma->requester;
	struct request *request = requester_at(requester, requester->head);

	qp_trace(rdma->qp, "work request %u failed, status %u", request->index, status);
	requester->head++;
	rdma_complete_send(rdma, request, status, 0);
	if (qp_reliable(rdma->qp)) {
		rdma_fail(rdma->qp, 0);
		return;
	}
	/* What is sent next takes the place of what was not (IBTA 10.3.1.6: SQE). */
	requester->tail_psn = requester->next_psn;
	requester->send = requester->head;
	requester->send_packet = 0;
	if (waiting(rdma))
		qp_set_state(rdma->qp, TERN_QP_SQE);
}

void rc_completer_run(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;

	while (requester->head != requester->tail) {
		struct request *request = requester_at(requester, requester->head);
		bool data = brings_data(request->opcode);

		if (request->status) {
			rc_completer_fail(rdma, request->status);
			return;
		}
		/* Done before the requester went back: it stands in no packet's way. */
		if (requester->head == requester->send && request->executed && !request->packets)
			requester->send++;
		if (requester->head == requester->send ||
		    wire_psn_distance(requester->acked_psn, request->first_psn) < request->packets)
			break;
		requester->head++;
		rdma_complete_send(rdma, request, TERN_WC_SUCCESS, data ? request->length : 0);
	}
	/* Where they are scarce, who waits for nothing leaves them to others. */
	if (requester->head == requester->tail &&
	    nic_of(rdma)->rdma->requests_shared > REQUESTS_SHARED / 2)
		rc_requester_shrink(rdma);
	rc_requester_drained(rdma);
}

/* acked_psn moved: complete, and begin to count and to wait anew. */
static void progress(struct rdma_qp *rdma, uint32_t before)
{
	struct requester *requester = &rdma->requester;

	rc_requester_reads_done(rdma);
	/* An answer to what was sent before the requester went back. */
	if (wire_psn_distance(requester->acked_psn, before) >
	    wire_psn_distance(requester->next_psn, before))
		rc_requester_seek(rdma, requester->acked_psn);
	requester->retries_left = rdma->attributes.retry_count;
	requester->rnr_retries_left = rdma->attributes.rnr_retry;
	requester->skip_implied = false;
	rc_requester_restart_timer(rdma);
	rc_completer_run(rdma);
	egress_activate(nic_of(rdma), &requester->source);
}

/*
 * All PSNs before @psn are acknowledged, except those of READs, atomics and
 * others that only their response completes. False when such a one is in the way.
 */
static bool acknowledge(struct rdma_qp *rdma, uint32_t psn)
{
	struct requester *requester = &rdma->requester;
	uint32_t before = requester->acked_psn;

	for (uint32_t place = requester->head; place != requester->tail; place++) {
		const struct request *request = requester_at(requester, place);
		uint32_t end = (request->first_psn + request->packets) & WIRE_PSN_MASK;
		uint32_t left = wire_psn_distance(psn, requester->acked_psn);

		if (!left || request->status || awaits_response(request->opcode))
			break;
		if (left >= wire_psn_distance(end, requester->acked_psn))
			requester->acked_psn = end;
		else
			requester->acked_psn = psn;
	}
	if (requester->acked_psn != before)
		progress(rdma, before);
	return requester->acked_psn == psn;
}

/* Use up a retry; false when there was none: the connection is broken. */
static bool use_retry(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;

	if (requester->retries_left) {
		requester->retries_left--;
		return true;
	}
	qp_count(rdma->qp, retry_exceeded, 1);
	rc_completer_fail(rdma, TERN_WC_RETRY_EXCEEDED);
	return false;
}

/* The peer answered something behind what it has not answered (IBTA 9.7.5.2.8: implied NAK). */
static void implied_nak(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;

	/* Many answers may be on their way that say the same: go back once. */
	if (!waiting(rdma) || requester->skip_implied || requester->waits_rnr ||
	    requester->next_psn == requester->acked_psn)
		return;
	qp_count(rdma->qp, implied_nak_seq_err, 1);
	if (!use_retry(rdma))
		return;
	requester->skip_implied = true;
	rc_requester_go_back(rdma, requester->acked_psn);
}

static void receive_rnr_nak(struct rdma_qp *rdma, uint32_t psn, unsigned int timer)
{
	struct requester *requester = &rdma->requester;

	if (!waiting(rdma) || requester->waits_rnr)
		return;
	rdma->rnr_naks_received++;
	qp_count(rdma->qp, rnr_nak_retry_err, 1);
	if (rdma->attributes.rnr_retry != RNR_RETRY_INFINITE) {
		if (!requester->rnr_retries_left) {
			qp_count(rdma->qp, rnr_retry_exceeded, 1);
			rc_completer_fail(rdma, TERN_WC_RNR_RETRY_EXCEEDED);
			return;
		}
		requester->rnr_retries_left--;
	}
	rc_requester_wait_rnr(rdma, rnr_timers[timer] * RNR_TIMER_UNIT_NS);
	rc_requester_go_back(rdma, psn);
}

static void receive_nak(struct rdma_qp *rdma, uint32_t psn, unsigned int code)
{
	struct requester *requester = &rdma->requester;

	if (!waiting(rdma))
		return;
	switch (code) {
	case WIRE_NAK_SEQUENCE:
		qp_count(rdma->qp, packet_seq_err, 1);
		/* Nothing was sent since it went back there: a copy of a NAK that was served. */
		if (requester->waits_rnr || requester->next_psn == psn)
			return;
		if (use_retry(rdma))
			rc_requester_go_back(rdma, psn);
		break;
	case WIRE_NAK_INVALID_REQUEST:
		qp_count(rdma->qp, req_remote_invalid_request, 1);
		rc_completer_fail(rdma, TERN_WC_REMOTE_INVALID_REQUEST);
		break;
	case WIRE_NAK_REMOTE_ACCESS:
		qp_count(rdma->qp, req_remote_access_errors, 1);
		rc_completer_fail(rdma, TERN_WC_REMOTE_ACCESS);
		break;
	case WIRE_NAK_REMOTE_OPERATION:
		rc_completer_fail(rdma, TERN_WC_REMOTE_OPERATION);
		break;
	default:
		qp_count(rdma->qp, rx_malformed, 1);
		break;
	}
}

static void receive_acknowledge(struct rdma_qp *rdma, const struct wire_headers *headers)
{
	unsigned int value = headers->aeth.syndrome & WIRE_AETH_VALUE;

	switch (headers->aeth.syndrome & (WIRE_AETH_KIND | 0x80)) {
	case WIRE_AETH_ACK:
		/* Credits are not counted: who has no receive says so by an RNR NAK. */
		if (!acknowledge(rdma, (headers->psn + 1) & WIRE_PSN_MASK))
			implied_nak(rdma);
		break;
	case WIRE_AETH_RNR_NAK:
		if (acknowledge(rdma, headers->psn))
			receive_rnr_nak(rdma, headers->psn, value);
		else
			implied_nak(rdma);
		break;
	case WIRE_AETH_NAK:
		if (acknowledge(rdma, headers->psn))
			receive_nak(rdma, headers->psn, value);
		else
			implied_nak(rdma);
		break;
	default:
		qp_count(rdma->qp, rx_malformed, 1);
		break;
	}
}

/* The request that @psn belongs to; NULL: none. */
static struct request *request_of(struct requester *requester, uint32_t psn)
{
	for (uint32_t place = requester->head; place != requester->tail; place++) {
		struct request *request = requester_at(requester, place);

		if (wire_psn_distance(psn, request->first_psn) < request->packets)
			return request;
	}
	return NULL;
}

/*
 * Is this the response that comes next? It also acknowledges what was sent
 * before its @request; that something of it is missing is an implied NAK.
 */
static bool in_turn(struct rdma_qp *rdma, const struct request *request,
		    const struct wire_packet *packet)
{
	const struct wire_headers *headers = &packet->headers;
	struct requester *requester = &rdma->requester;
	uint32_t place = request->first_psn;

	if ((packet->opcode->extensions & WIRE_AETH) &&
	    (headers->aeth.syndrome & WIRE_AETH_KIND) != WIRE_AETH_ACK)
		return false;
	if (wire_psn_distance(place, requester->acked_psn) <
	    wire_psn_distance(requester->high_psn, requester->acked_psn))
		acknowledge(rdma, place);
	if (!waiting(rdma))
		return false;
	if (requester->acked_psn == headers->psn)
		return true;
	implied_nak(rdma);
	return false;
}

/*
 * What an answer brings has no place: it is asked for again. @result: of
 * scattering it. True when it was, and has been dealt with.
 */
static bool no_place(struct rdma_qp *rdma, enum payload_result result)
{
	struct requester *requester = &rdma->requester;

	if (!result)
		return false;
	if (result == PAYLOAD_ABSENT && page_fault_waits(rdma, &requester->fault))
		rc_requester_go_back(rdma, requester->acked_psn);
	else
		rc_completer_fail(rdma, TERN_WC_LOCAL_PROTECTION);
	return true;
}

/* The data of the oldest PSN is where it belongs. */
static void received(struct rdma_qp *rdma)
{
	uint32_t before = rdma->requester.acked_psn;

	page_fault_over(&rdma->requester.fault);
	rdma->requester.acked_psn = (before + 1) & WIRE_PSN_MASK;
	progress(rdma, before);
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == TERN_WQE_CAS || opcode == TERN_WQE_FETCH_ADD;
}

/* Of a FLUSH or an ATOMIC_WRITE: that of a READ of nothing. */
static void receive_empty_response(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	if (packet->headers.opcode != WIRE_RC_READ_RESPONSE_ONLY || packet->payload_length)
		rc_completer_fail(rdma, TERN_WC_BAD_RESPONSE);
	else
		received(rdma);
}

static void receive_read_response(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct request *request = request_of(&rdma->requester, packet->headers.psn);
	uint32_t number;
	size_t length;
	uint64_t offset;
	bool last;

	if (!request || !awaits_response(request->opcode) || is_atomic(request->opcode) ||
	    !in_turn(rdma, request, packet))
		return;
	if (request->opcode != TERN_WQE_READ) {
		receive_empty_response(rdma, packet);
		return;
	}
	number = wire_psn_distance(packet->headers.psn, request->first_psn);
	last = number + 1 == request->packets;
	offset = (uint64_t)number * rdma->path_mtu;
	length = last ? request->length - (size_t)offset : rdma->path_mtu;
	if (packet->payload_length != length ||
	    !(packet->opcode->flags & WIRE_ENDS) != (read_part(number, request->packets) > 1)) {
		rc_completer_fail(rdma, TERN_WC_BAD_RESPONSE);
		return;
	}
	if (no_place(rdma, payload_scatter(&rdma->qp->local, request->u.sges,
					   request->sge_count, TERN_ACCESS_LOCAL_WRITE, offset,
					   packet->payload, packet->payload_count)))
		return;
	qp_count(rdma->qp, rx_payload_bytes, length);
	received(rdma);
}

/* The value that an atomic found, a number of the host from now on. */
static void receive_atomic_response(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct request *request = request_of(&rdma->requester, packet->headers.psn);
	uint64_t original = to_le64(packet->headers.atomic_original);
	struct tern_segment segment = { .base = (const uint8_t *)&original,
					.length = sizeof(original) };

	if (!request || !is_atomic(request->opcode) || !in_turn(rdma, request, packet))
		return;
	if (no_place(rdma, payload_scatter(&rdma->qp->local, request->u.sges,
					   request->sge_count, TERN_ACCESS_LOCAL_WRITE, 0,
					   &segment, 1)))
		return;
	received(rdma);
}

void rc_completer_receive(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	uint8_t operation = packet->headers.opcode & WIRE_OPERATION_MASK;
	struct requester *requester = &rdma->requester;

	if (!waiting(rdma)) {
		qp_count(rdma->qp, rx_no_qp, 1);
		return;
	}
	/* Answers to what is acknowledged already, or was never sent (IBTA 9.9.2.4: ghosts). */
	if (wire_psn_distance(packet->headers.psn, requester->acked_psn) >=
	    wire_psn_distance(requester->high_psn, requester->acked_psn))
		return;
	if (packet->opcode->operation == WIRE_OP_READ_RESPONSE)
		receive_read_response(rdma, packet);
	else if (operation == WIRE_RC_ATOMIC_ACKNOWLEDGE)
		receive_atomic_response(rdma, packet);
	else if (operation == WIRE_RC_ACKNOWLEDGE)
		receive_acknowledge(rdma, &packet->headers);
}
