// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the RC requester: work requests become request packets (IBTA 9.7.2,
 * 9.9.2). It is the UC requester too, for which a packet that was sent is as
 * good as acknowledged (IBTA 9.8.1).
 */
#include <stdlib.h>
#include <string.h>

#include "ingress.h"
#include "rdma_priority.h"
#include "rdma_qp.h"
#include "reaction_point.h"

/* Half of the PSN space: what may be outstanding (IBTA 9.7.1). */
#define PSN_WINDOW		0x800000U

/* Local ACK timeout: 4.096 us times a power of two (IBTA 9.7.6.1.3). */
#define ACK_TIMEOUT_UNIT_NS	UINT64_C(4096)

static uint32_t packets_of(uint32_t length, uint32_t mtu)
{
	return length ? (uint32_t)(((uint64_t)length + mtu - 1) / mtu) : 1;
}

void rc_requester_reset(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;

	timer_cancel(nic_of(rdma), &requester->timer);
	egress_deactivate(nic_of(rdma), &requester->source);
	requester->head = 0;
	requester->send = 0;
	requester->tail = 0;
	requester->send_packet = 0;
	requester->reads = 0;
	requester->since_ack_request = 0;
	requester->waits_rnr = false;
	requester->skip_implied = false;
	page_fault_forget(&requester->fault);
	requester->deadline = 0;
	requester->retries_left = 0;
	requester->rnr_retries_left = 0;
	rc_requester_shrink(rdma);
}

void rc_requester_shrink(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;
	struct request *ring;

	if (requester->ring_size == REQUESTS_MIN)
		return;
	/* malloc(), not realloc(): that may leave a block of this size where it is, whole. */
	ring = malloc(REQUESTS_MIN * sizeof(*ring));
	if (!ring)
		return;
	free(requester->ring);
	requester->ring = ring;
	nic_of(rdma)->rdma->requests_shared -= requester->ring_size - REQUESTS_MIN;
	requester->ring_size = REQUESTS_MIN;
}

/*
 * Room for one more request. Without, it is asked again when one of those in
 * the ring completes.
 */
static bool grow(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;
	uint32_t old_size = requester->ring_size, size = old_size * 2;
	struct rdma_nic *shared = nic_of(rdma)->rdma;
	struct request *ring;

	if (requester->tail - requester->head < old_size)
		return true;
	if (size > REQUESTS_MAX || old_size > REQUESTS_SHARED - shared->requests_shared)
		return false;
	ring = malloc(size * sizeof(*ring));
	if (!ring)
		return false;
	for (uint32_t place = requester->head; place != requester->tail; place++)
		ring[place & (size - 1)] = *requester_at(requester, place);
	free(requester->ring);
	requester->ring = ring;
	requester->ring_size = size;
	shared->requests_shared += old_size;
	return true;
}

/* What is wrong with a work request, before anything of it is sent. */
static uint8_t check(const struct rdma_qp *rdma, const struct send_wqe *wqe, enum wqe_error error)
{
	uint32_t access = brings_data(wqe->opcode) ? TERN_ACCESS_LOCAL_WRITE : 0;

	if (error)
		return TERN_WC_LOCAL_QP_OPERATION;
	switch (wqe->opcode) {
	case TERN_WQE_NOP:
	case TERN_WQE_SEND:
	case TERN_WQE_SEND_IMMEDIATE:
	case TERN_WQE_WRITE:
	case TERN_WQE_WRITE_IMMEDIATE:
	case TERN_WQE_SEND_INVALIDATE:
	case TERN_WQE_LOCAL_INVALIDATE:
	case TERN_WQE_REGISTER:
	case TERN_WQE_BIND_WINDOW:
		break;
	case TERN_WQE_READ:
	case TERN_WQE_FLUSH:
		if (!rdma->attributes.initiator_depth)
			return TERN_WC_LOCAL_QP_OPERATION;
		break;
	case TERN_WQE_CAS:
	case TERN_WQE_FETCH_ADD:
	case TERN_WQE_ATOMIC_WRITE:
		if (!rdma->attributes.initiator_depth)
			return TERN_WC_LOCAL_QP_OPERATION;
		if (wqe->length != ATOMIC_BYTES)
			return TERN_WC_LOCAL_LENGTH;
		break;
	default:
		return TERN_WC_LOCAL_QP_OPERATION;
	}
	if (wqe->length > MESSAGE_BYTES_MAX)
		return TERN_WC_LOCAL_LENGTH;
	if (!payload_check(&rdma->qp->local, wqe->sges, wqe->sge_count, access))
		return TERN_WC_LOCAL_PROTECTION;
	return TERN_WC_SUCCESS;
}

/* Take the next work request from the queue into the ring. */
static bool admit(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;
	struct send_wqe *wqe = &nic_of(rdma)->rdma->wqe;
	struct work_queue *sq = &rdma->qp->sq;
	struct request *request;
	enum wqe_error error;
	uint32_t packets = 0;
	uint8_t status;

	if (rdma->qp->state != TERN_QP_RTS || !work_queue_posted(sq) || !grow(rdma))
		return false;
	error = send_wqe_fetch(sq, sq->next, wqe);
	status = check(rdma, wqe, error);
	if (!status && !rc_local_opcode(wqe->opcode)) {
		packets = packets_of((uint32_t)wqe->length, rdma->path_mtu);
		if (wire_psn_distance(requester->tail_psn, requester->acked_psn) + packets >
		    PSN_WINDOW)
			return false;
	}
	request = requester_at(requester, requester->tail);
	request->index = wqe->index;
	request->blocks = wqe->blocks;
	request->opcode = wqe->opcode;
	request->flags = wqe->flags;
	request->status = status;
	request->packets = packets;
	request->first_psn = requester->tail_psn;
	request->length = 0;
	request->sge_count = 0;
	request->inlined = false;
	request->executed = false;
	if (!status) {
		memcpy(request->immediate, wqe->immediate, 4);
		request->remote_srqn = wqe->remote_srqn;
		request->remote_address = wqe->remote_address;
		request->remote_key = wqe->remote_key;
		request->flush_length = wqe->flush_length;
		request->swap_add = wqe->swap_add;
		request->compare = wqe->compare;
		request->length = (uint32_t)wqe->length;
		request->sge_count = wqe->sge_count;
		request->inlined = wqe->inline_data;
		if (wqe->registration)
			request->u.registration = *wqe->registration;
		else if (wqe->binding)
			request->u.binding = *wqe->binding;
		else if (wqe->inline_data)
			memcpy(request->u.data, wqe->inline_data, wqe->length);
		else
			memcpy(request->u.sges, wqe->sges, wqe->sge_count * sizeof(struct sge));
	}
	work_queue_take(sq, wqe->blocks);
	requester->tail++;
	requester->tail_psn = (requester->tail_psn + packets) & WIRE_PSN_MASK;
	return true;
}

static uint8_t opcode_of(const struct request *request, bool first, bool last)
{
	bool immediate = request->opcode == TERN_WQE_SEND_IMMEDIATE ||
			 request->opcode == TERN_WQE_WRITE_IMMEDIATE;

	switch (request->opcode) {
	case TERN_WQE_SEND_INVALIDATE:
		if (last)
			return first ? WIRE_RC_SEND_ONLY_INVALIDATE : WIRE_RC_SEND_LAST_INVALIDATE;
		return first ? WIRE_RC_SEND_FIRST : WIRE_RC_SEND_MIDDLE;
	case TERN_WQE_SEND:
	case TERN_WQE_SEND_IMMEDIATE:
		if (first && last)
			return immediate ? WIRE_RC_SEND_ONLY_IMMEDIATE : WIRE_RC_SEND_ONLY;
		if (last)
			return immediate ? WIRE_RC_SEND_LAST_IMMEDIATE : WIRE_RC_SEND_LAST;
		return first ? WIRE_RC_SEND_FIRST : WIRE_RC_SEND_MIDDLE;
	case TERN_WQE_WRITE:
	case TERN_WQE_WRITE_IMMEDIATE:
		if (first && last)
			return immediate ? WIRE_RC_WRITE_ONLY_IMMEDIATE : WIRE_RC_WRITE_ONLY;
		if (last)
			return immediate ? WIRE_RC_WRITE_LAST_IMMEDIATE : WIRE_RC_WRITE_LAST;
		return first ? WIRE_RC_WRITE_FIRST : WIRE_RC_WRITE_MIDDLE;
	default:
		return WIRE_RC_READ_REQUEST;
	}
}

/* @count PSNs from next_psn on are sent. */
static void advance(struct rdma_qp *rdma, uint32_t count)
{
	struct requester *requester = &rdma->requester;
	uint32_t sent = wire_psn_distance(requester->high_psn, requester->acked_psn);
	uint32_t before = wire_psn_distance(requester->next_psn, requester->acked_psn);

	if (before < sent) {
		rdma->retransmissions++;
		qp_count(rdma->qp, retransmitted_packets, 1);
	}
	requester->next_psn = (requester->next_psn + count) & WIRE_PSN_MASK;
	if (before + count > sent)
		requester->high_psn = requester->next_psn;
}

static uint32_t *read_end(struct requester *requester, unsigned int place)
{
	return &requester->read_ends[(requester->read_first + place) % READ_INITIATOR_MAX];
}

void rc_requester_reads_done(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;

	/* The end is beyond acked_psn by no more than was ever sent; else it is behind it. */
	while (requester->reads) {
		uint32_t left = wire_psn_distance(*read_end(requester, 0), requester->acked_psn);

		if (left && left <= wire_psn_distance(requester->high_psn, requester->acked_psn))
			break;
		requester->read_first = (requester->read_first + 1) % READ_INITIATOR_MAX;
		requester->reads--;
	}
}

/* May a READ or atomic be sent, and for how many packets? 0: not now. */
static uint32_t read_room(const struct rdma_qp *rdma, const struct request *request)
{
	const struct requester *requester = &rdma->requester;
	uint32_t waiting = wire_psn_distance(requester->next_psn, requester->acked_psn);
	uint32_t packets = read_part(requester->send_packet, request->packets);

	if (requester->reads >= rdma->attributes.initiator_depth ||
	    (waiting && waiting + packets > PACKETS_IN_FLIGHT_MAX))
		return 0;
	return packets;
}

static void send_read(struct rdma_qp *rdma, const struct request *request, uint32_t packets)
{
	struct requester *requester = &rdma->requester;
	const struct wire_path *path = rdma_path(rdma);
	uint64_t done = (uint64_t)requester->send_packet * rdma->path_mtu;
	uint64_t length = request->length - done;
	struct wire_headers headers = {
		.opcode = WIRE_RC_READ_REQUEST | service_of(rdma->qp),
		.srqn = request->remote_srqn,
		.ack_request = true,
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
		.psn = requester->next_psn,
		.reth.address = request->remote_address + done,
		.reth.key = request->remote_key,
	};

	if (length > (uint64_t)packets * rdma->path_mtu)
		length = (uint64_t)packets * rdma->path_mtu;
	headers.reth.length = (uint32_t)length;
	advance(rdma, packets);
	*read_end(requester, requester->reads++) = requester->next_psn;
	requester->send_packet += packets;
	if (requester->send_packet == request->packets) {
		requester->send++;
		requester->send_packet = 0;
	}
	if (path)
		rdma_transmit(rdma, path, &headers, NULL, 0, 0);
}

static void send_atomic(struct rdma_qp *rdma, const struct request *request)
{
	struct requester *requester = &rdma->requester;
	const struct wire_path *path = rdma_path(rdma);
	struct wire_headers headers = {
		.opcode = service_of(rdma->qp) |
			  (request->opcode == TERN_WQE_CAS ? WIRE_RC_CAS : WIRE_RC_FETCH_ADD),
		.srqn = request->remote_srqn,
		.ack_request = true,
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
		.psn = requester->next_psn,
		.atomic.address = request->remote_address,
		.atomic.key = request->remote_key,
		.atomic.swap_add = request->swap_add,
		.atomic.compare = request->compare,
	};

	advance(rdma, 1);
	*read_end(requester, requester->reads++) = requester->next_psn;
	requester->send++;
	if (path)
		rdma_transmit(rdma, path, &headers, NULL, 0, 0);
}

/* FLUSH, or ATOMIC_WRITE with its data. */
static void send_placement(struct rdma_qp *rdma, const struct request *request,
			   const struct tern_segment *segments, unsigned int count)
{
	bool flush = request->opcode == TERN_WQE_FLUSH;
	struct requester *requester = &rdma->requester;
	const struct wire_path *path = rdma_path(rdma);
	struct wire_headers headers = {
		.opcode = flush ? WIRE_RC_FLUSH : WIRE_RC_ATOMIC_WRITE,
		.ack_request = true,
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
		.psn = requester->next_psn,
		.feth = request_key(request),
		.reth.address = request->remote_address,
		.reth.key = request->remote_key,
		.reth.length = flush ? request->flush_length : request->length,
	};

	advance(rdma, 1);
	*read_end(requester, requester->reads++) = requester->next_psn;
	requester->send++;
	if (path)
		rdma_transmit(rdma, path, &headers, segments, count, request->length);
}

static bool send_atomic_write(struct rdma_qp *rdma, struct request *request)
{
	struct tern_segment inlined = { .base = request->u.data, .length = request->length };
	struct payload payload;

	if (request->inlined) {
		send_placement(rdma, request, &inlined, 1);
		return true;
	}
	if (payload_gather(&payload, &rdma->qp->local, request->u.sges, request->sge_count, 0, 0,
			   request->length)) {
		request->status = TERN_WC_LOCAL_PROTECTION;
		return false;
	}
	send_placement(rdma, request, payload.segments, payload.count);
	payload_release(&payload);
	return true;
}

static bool send_data(struct rdma_qp *rdma, struct request *request)
{
	struct requester *requester = &rdma->requester;
	const struct wire_path *path = rdma_path(rdma);
	uint64_t offset = (uint64_t)requester->send_packet * rdma->path_mtu;
	bool first = !requester->send_packet;
	bool last = requester->send_packet + 1 == request->packets;
	size_t length = last ? request->length - (size_t)offset : rdma->path_mtu;
	bool reliable = qp_reliable(rdma->qp);
	struct tern_segment inlined;
	struct payload payload;
	struct wire_headers headers = {
		.opcode = opcode_of(request, first, last) | service_of(rdma->qp),
		.srqn = request->remote_srqn,
		.solicited = last && (request->flags & TERN_WQE_SOLICITED),
		.pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = rdma->remote_qpn,
		.psn = requester->next_psn,
		.reth.address = request->remote_address,
		.reth.key = request->remote_key,
		.reth.length = request->length,
		.invalidate_key = request_key(request),
	};

	memcpy(headers.immediate, request->immediate, 4);
	if (request->inlined) {
		inlined.base = request->u.data + offset;
		inlined.length = length;
	} else {
		enum payload_result result = payload_gather(&payload, &rdma->qp->local,
							    request->u.sges, request->sge_count,
							    0, offset, length);

		if (result == PAYLOAD_ABSENT && page_fault_waits(rdma, &requester->fault))
			return false;
		if (result) {
			request->status = TERN_WC_LOCAL_PROTECTION;
			return false;
		}
		page_fault_over(&requester->fault);
	}
	requester->since_ack_request++;
	if (reliable && (last || requester->since_ack_request >= ACK_REQUEST_INTERVAL)) {
		headers.ack_request = true;
		requester->since_ack_request = 0;
	}
	/* Before it is sent: over loopback the peer acts on it at once. */
	advance(rdma, 1);
	if (!reliable)
		requester->acked_psn = requester->next_psn;
	requester->send_packet++;
	if (last) {
		requester->send++;
		requester->send_packet = 0;
	}
	if (request->inlined) {
		if (path)
			rdma_transmit(rdma, path, &headers, &inlined, length ? 1 : 0, length);
		return true;
	}
	if (path)
		rdma_transmit(rdma, path, &headers, payload.segments, payload.count, length);
	payload_release(&payload);
	return true;
}

/* Must it wait for READs before it? */
static bool fenced(const struct requester *requester, const struct request *request)
{
	return (request->flags & TERN_WQE_FENCE) && !requester->send_packet && requester->reads;
}

/* Send one packet, or do what sends none; false when nothing can be done now. */
static bool send_one(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;
	struct request *request;

	if (requester->waits_rnr || requester->fault.number)
		return false;
	if (requester->send == requester->tail && !admit(rdma))
		return false;
	request = requester_at(requester, requester->send);
	if (!request->status && !request->packets) {
		if (fenced(requester, request) || !rc_local_execute(rdma, request))
			return false;
		if (!request->status) {
			/* It sends nothing: done when what stands before it is. */
			requester->send++;
			rc_completer_run(rdma);
			return true;
		}
	}
	if (request->status) {
		rc_completer_run(rdma);
		return false;
	}
	if (fenced(requester, request))
		return false;
	if (awaits_response(request->opcode)) {
		uint32_t packets = read_room(rdma, request);

		if (!packets)
			return false;
		switch (request->opcode) {
		case TERN_WQE_READ:
			send_read(rdma, request, packets);
			return true;
		case TERN_WQE_FLUSH:
			send_placement(rdma, request, NULL, 0);
			return true;
		case TERN_WQE_ATOMIC_WRITE:
			if (send_atomic_write(rdma, request))
				return true;
			rc_completer_run(rdma);
			return false;
		default:
			send_atomic(rdma, request);
			return true;
		}
	}
	if (wire_psn_distance(requester->next_psn, requester->acked_psn) >= PACKETS_IN_FLIGHT_MAX)
		return false;
	if (!send_data(rdma, request)) {
		rc_completer_run(rdma);
		return false;
	}
	if (rdma->qp->type == TERN_QP_UC)
		rc_completer_run(rdma);
	return true;
}

static bool sends(const struct qp *qp)
{
	return qp->state == TERN_QP_RTS || qp->state == TERN_QP_SQD;
}

bool rc_requester_send(struct egress_source *source)
{
	struct rdma_qp *rdma = rdma_of_requester(source);
	bool more = true;

	if (!rdma_reaches_memory(rdma))
		return false;
	if (rdma->qp->state == TERN_QP_ERROR)
		return rdma_flush(rdma, EGRESS_BURST);
	/* A GID that changed may have changed the priority, by which it may send or not. */
	rdma_path(rdma);
	for (unsigned int i = 0; more && i < EGRESS_BURST && sends(rdma->qp); i++) {
		if (!rdma_may_send(rdma, source))
			break;
		more = !reaction_point_holds(rdma, source) && send_one(rdma);
	}
	if (rdma->qp->state == TERN_QP_ERROR)
		return true;
	if (rdma->qp->state == TERN_QP_SQE)
		return rdma_flush_send(rdma, EGRESS_BURST);
	if (!sends(rdma->qp))
		return false;
	if (!rdma->requester.deadline)
		rc_requester_restart_timer(rdma);
	return more;
}

/*
 * The timer object is moved only when it would come too late: most deadlines
 * are put off before they come.
 */
static void arm(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;

	if (!timer_armed(&requester->timer) || requester->timer.deadline > requester->deadline)
		timer_arm(nic_of(rdma), &requester->timer, requester->deadline);
}

void rc_requester_restart_timer(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;
	struct tern_nic *nic = nic_of(rdma);

	if (requester->waits_rnr)
		return;
	requester->deadline = 0;
	if (requester->acked_psn == requester->high_psn || !rdma->attributes.timeout)
		return;
	/* The clock itself, not nic_now(): it may not come early by what this core call took. */
	requester->deadline = nic->ops->now(nic->host) +
			      (ACK_TIMEOUT_UNIT_NS << rdma->attributes.timeout);
	requester->paused_ns = flow_control_paused_ns(nic, requester->source.priority);
	arm(rdma);
}

void rc_requester_wait_rnr(struct rdma_qp *rdma, uint64_t ns)
{
	struct requester *requester = &rdma->requester;
	struct tern_nic *nic = nic_of(rdma);

	requester->waits_rnr = true;
	requester->deadline = nic->ops->now(nic->host) + ns;
	arm(rdma);
}

void rc_requester_seek(struct rdma_qp *rdma, uint32_t psn)
{
	struct requester *requester = &rdma->requester;
	uint32_t acked = requester->acked_psn, place;

	/* What was asked for behind @psn is asked for again. */
	while (requester->reads &&
	       wire_psn_distance(*read_end(requester, requester->reads - 1U), acked) >
	       wire_psn_distance(psn, acked))
		requester->reads--;
	requester->send_packet = 0;
	for (place = requester->head; place != requester->tail; place++) {
		const struct request *request = requester_at(requester, place);
		uint32_t packet = wire_psn_distance(psn, request->first_psn);

		if (packet < request->packets) {
			requester->send_packet = packet;
			break;
		}
		/* Behind what sends nothing and was not executed yet none was admitted. */
		if (request->status || (!request->packets && !request->executed))
			break;
	}
	requester->send = place;
	requester->next_psn = psn;
}

void rc_requester_go_back(struct rdma_qp *rdma, uint32_t psn)
{
	qp_trace(rdma->qp, "go back to psn %u", psn);
	rc_requester_seek(rdma, psn);
	/* It runs again from when the first of these packets is sent. */
	if (!rdma->requester.waits_rnr)
		rdma->requester.deadline = 0;
	egress_activate(nic_of(rdma), &rdma->requester.source);
}

/*
 * What waits for the peer's pause to end was not lost: time for which the
 * priority was paused since the timer began does not count.
 */
static bool waited_for_pause(struct rdma_qp *rdma)
{
	struct requester *requester = &rdma->requester;
	struct tern_nic *nic = nic_of(rdma);
	uint64_t paused = flow_control_paused_ns(nic, requester->source.priority);

	if (paused <= requester->paused_ns ||
	    ingress_is_local(nic, rdma->attributes.address.destination_mac))
		return false;
	requester->deadline = nic_now(nic) + paused - requester->paused_ns;
	requester->paused_ns = paused;
	arm(rdma);
	return true;
}

/*
 * The packet that asks for the acknowledge is still to be sent: it waits for the
 * queue pair's own rate, or behind others of its traffic class.
 */
static bool has_not_asked(const struct rdma_qp *rdma)
{
	const struct requester *requester = &rdma->requester;
	uint32_t outstanding = (requester->next_psn - requester->acked_psn) & WIRE_PSN_MASK;

	if (!requester->since_ack_request)
		return false;
	if (reaction_point_holds_requester(rdma))
		return true;
	return requester->source.state == EGRESS_ACTIVE &&
	       (rdma->congestion.reaction || outstanding <= requester->since_ack_request);
}

void rc_requester_timer(struct tern_nic *nic, struct timer *timer)
{
	struct rdma_qp *rdma = container_of(timer, struct rdma_qp, requester.timer);
	struct requester *requester = &rdma->requester;

	if (!requester->deadline || !sends(rdma->qp))
		return;
	if (nic_now(nic) < requester->deadline) {
		timer_arm(nic, timer, requester->deadline);
		return;
	}
	requester->deadline = 0;
	if (requester->waits_rnr) {
		requester->waits_rnr = false;
		egress_activate(nic, &requester->source);
		return;
	}
	/* Nobody could answer, or it asks nobody; rc_requester_send() starts it again. */
	if (!rdma_reaches_memory(rdma) || requester->fault.number)
		return;
	if (has_not_asked(rdma)) {
		rc_requester_restart_timer(rdma);
		return;
	}
	if (waited_for_pause(rdma))
		return;
	qp_count(rdma->qp, local_ack_timeout_err, 1);
	requester->skip_implied = false;
	qp_trace(rdma->qp, "timeout, psn %u, %u retries left", requester->acked_psn,
		 requester->retries_left);
	if (!requester->retries_left) {
		qp_count(rdma->qp, retry_exceeded, 1);
		rc_completer_fail(rdma, TERN_WC_RETRY_EXCEEDED);
		return;
	}
	requester->retries_left--;
	rc_requester_go_back(rdma, requester->acked_psn);
}

void rc_requester_drained(struct rdma_qp *rdma)
{
	struct qp *qp = rdma->qp;

	if (qp->state != TERN_QP_SQD || rdma->drain_reported ||
	    rdma->requester.head != rdma->requester.tail)
		return;
	rdma->drain_reported = true;
	if (rdma->attributes.sqd_notify)
		function_event(qp->fn, TERN_EVENT_QP_DRAINED, 0, qp->qpn);
}
