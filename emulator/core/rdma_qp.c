// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: RC, XRC, UC, UD and GSI queue pairs: creation, packets, completions, errors, flushing. */
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "ethernet.h"
#include "mac.h"
#include "notification_point.h"
#include "rdma_priority.h"
#include "rdma_qp.h"
#include "reaction_point.h"
#include "srq.h"
#include "xrc.h"

/* GRH or IPv6, UDP, BTH, the largest extended header and ICRC: as Linux's iboe_get_mtu() counts. */
#define ROCE_OVERHEAD		96
#define PATH_MTU_MIN		256
#define PATH_MTU_MAX		4096

uint32_t rdma_port_mtu(const struct function *fn)
{
	uint32_t room = fn->ethernet->mtu;

	for (uint32_t mtu = PATH_MTU_MAX; mtu >= PATH_MTU_MIN; mtu /= 2) {
		if (mtu + ROCE_OVERHEAD <= room)
			return mtu;
	}
	return 0;
}

uint8_t service_of(const struct qp *qp)
{
	switch (qp->type) {
	case TERN_QP_RC:
		return WIRE_SERVICE_RC;
	case TERN_QP_UC:
		return WIRE_SERVICE_UC;
	case TERN_QP_XRC_INITIATOR:
	case TERN_QP_XRC_TARGET:
		return WIRE_SERVICE_XRC;
	default:
		return WIRE_SERVICE_UD;
	}
}

const struct wire_path *rdma_path(struct rdma_qp *rdma)
{
	const struct gid_table *gids = &rdma->qp->fn->rdma->gids;

	if (rdma->path_generation != gids->generation) {
		uint32_t flow = address_flow_label(rdma->qp->qpn, rdma->remote_qpn);

		rdma->path_valid = address_path(gids, &rdma->attributes.address, flow,
						&nic_of(rdma)->priorities.map, &rdma->path);
		rdma->path_generation = gids->generation;
		/* The type of its GID may be another. */
		rdma_set_priority(rdma);
	}
	return rdma->path_valid ? &rdma->path : NULL;
}

void rdma_transmit(struct rdma_qp *rdma, const struct wire_path *path,
		   struct wire_headers *headers, const struct tern_segment *payload,
		   unsigned int payload_count, size_t payload_length)
{
	struct function *fn = rdma->qp->fn;
	uint8_t buffer[WIRE_HEADER_BYTES_MAX];
	struct tern_frame frame;

	qp_trace(rdma->qp, "send %s qpn %u psn %u bytes %zu%s",
		 wire_opcode(headers->opcode)->name, headers->destination_qpn, headers->psn,
		 payload_length, headers->ack_request ? " ack requested" : "");
	rdma->packets_sent++;
	frame.header = buffer;
	frame.header_length = wire_build(buffer, path, headers, payload_length,
					 fn->rdma->identification++);
	frame.payload = payload;
	frame.payload_count = payload_count;
	frame.payload_length = payload_length;
	memset(frame.trailer, 0, sizeof(frame.trailer));
	frame.trailer_length = (uint8_t)(headers->pad + WIRE_ICRC_BYTES);
	frame.icrc_pending = true;
	frame.priority = path->priority;
	fn->port.tx_roce_packets++;
	fn->port.tx_roce_bytes += tern_frame_length(&frame);
	qp_count(rdma->qp, tx_payload_bytes, payload_length);
	reaction_point_sends(rdma, path, headers, buffer, payload_length,
			     tern_frame_length(&frame));
	mac_send(fn->nic, fn, &frame);
}

void rdma_complete_send(struct rdma_qp *rdma, const struct request *request, uint8_t status,
			uint32_t byte_count)
{
	struct qp *qp = rdma->qp;
	struct tern_cqe cqe = { 0 };

	qp->sq.completed = request->index + request->blocks;
	if (status == TERN_WC_SUCCESS)
		qp_count(qp, messages_sent, 1);
	else if (status == TERN_WC_FLUSHED)
		qp_count(qp, req_cqe_flush_error, 1);
	else
		qp_count(qp, req_cqe_error, 1);
	if (status == TERN_WC_SUCCESS && !(request->flags & TERN_WQE_SIGNALED))
		return;
	/* An unknown opcode must not look like the receiver's. */
	cqe.opcode = request->opcode & (uint8_t)~TERN_CQE_RECEIVER;
	cqe.status = status;
	cqe.queue = to_le32(qp->qpn);
	cqe.index = to_le32(request->index);
	cqe.byte_count = to_le32(byte_count);
	cq_post(qp->send_cq, &cqe, false);
}

void rdma_complete_receive(struct rdma_qp *rdma, struct tern_cqe *cqe, uint32_t index)
{
	struct srq *srq = rdma->srq;
	struct qp *qp = rdma->qp;

	rdma->receive_held = false;
	if (srq) {
		srq->queue.completed++;
		cqe->srqn = to_le32(srq->srqn);
	} else {
		qp->rq.completed = index + 1;
	}
	if (cqe->status == TERN_WC_SUCCESS)
		qp_count(qp, messages_received, 1);
	else if (cqe->status == TERN_WC_FLUSHED)
		qp_count(qp, resp_cqe_flush_error, 1);
	else
		qp_count(qp, resp_cqe_error, 1);
	cqe->queue = to_le32(qp->qpn);
	cqe->index = to_le32(index);
	if (srq && srq->cq)
		cqe->flags |= TERN_CQE_FLAG_XRC;
	cq_post(srq && srq->cq ? srq->cq : qp->receive_cq, cqe,
		cqe->flags & TERN_CQE_FLAG_SOLICITED);
}

const struct key_user *rdma_receive_user(const struct rdma_qp *rdma)
{
	return rdma->srq ? &rdma->srq->local : &rdma->qp->local;
}

/* An SRQ's failure is its own event; each queue pair that needs an entry of it fails, too. */
static enum receive_result peek_shared(struct rdma_qp *rdma, struct receive_wqe *wqe)
{
	struct qp *qp = rdma->qp;
	struct srq *srq = rdma->srq;
	enum wqe_error error = WQE_FAULT;
	int ready = srq_ready(srq);

	if (!ready)
		return RECEIVE_EMPTY;
	if (ready > 0)
		error = receive_wqe_fetch(&srq->queue, srq->queue.next, wqe);
	if (error == WQE_OK)
		return RECEIVE_OK;
	if (error == WQE_MALFORMED) {
		struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE,
					.status = TERN_WC_LOCAL_QP_OPERATION };

		rdma_take_receive(rdma);
		rdma_complete_receive(rdma, &cqe, wqe->index);
		return RECEIVE_BAD;
	}
	if (!qp->fn->bus_master)
		return RECEIVE_EMPTY;
	srq_fail(srq);
	rdma_fail(qp, TERN_EVENT_QP_FATAL);
	return RECEIVE_GONE;
}

enum receive_result rdma_peek_receive(struct rdma_qp *rdma, struct receive_wqe *wqe)
{
	struct qp *qp = rdma->qp;
	struct work_queue *rq = &qp->rq;
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE,
				.status = TERN_WC_LOCAL_QP_OPERATION };

	if (rdma->srq)
		return peek_shared(rdma, wqe);
	if (!rq->exists)
		return RECEIVE_EMPTY;
	if (!work_queue_posted(rq)) {
		int moved = work_queue_poll(rq);

		if (moved < 0 && qp->fn->bus_master) {
			function_log(qp->fn, "QP %u: receive queue's record or index is bad",
				     qp->qpn);
			rdma_fail(qp, TERN_EVENT_QP_FATAL);
			return RECEIVE_GONE;
		}
		if (moved <= 0)
			return RECEIVE_EMPTY;
	}
	if (receive_wqe_fetch(rq, rq->next, wqe) == WQE_OK)
		return RECEIVE_OK;
	rdma_take_receive(rdma);
	rdma_complete_receive(rdma, &cqe, wqe->index);
	return RECEIVE_BAD;
}

void rdma_take_receive(struct rdma_qp *rdma)
{
	rdma->receive_held = true;
	if (rdma->srq)
		srq_take(rdma->srq);
	else
		rdma->qp->rq.next++;
}

void rdma_release_receive(struct qp *qp)
{
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE, .status = TERN_WC_FLUSHED };
	struct rdma_qp *rdma = rdma_of(qp);

	if (rdma->srq && rdma->receive_held)
		rdma_complete_receive(rdma, &cqe, rdma->responder.receive.index);
}

void rdma_last_receive(struct qp *qp)
{
	rdma_release_receive(qp);
	/* An XRC target has no SRQ of its own. */
	if (qp->srq)
		function_event(qp->fn, TERN_EVENT_QP_LAST_WQE, 0, qp->qpn);
}

static bool connection_ends(const struct responder *responder)
{
	return responder->response == RESPONSE_NAK && responder->nak_code != WIRE_NAK_SEQUENCE;
}

void rdma_fail(struct qp *qp, uint8_t event)
{
	struct rdma_qp *rdma = rdma_of(qp);
	struct responder *responder = &rdma->responder;

	if (qp->state == TERN_QP_RESET || qp->state == TERN_QP_ERROR)
		return;
	qp_set_state(qp, TERN_QP_ERROR);
	timer_cancel(nic_of(rdma), &rdma->requester.timer);
	notification_point_forget(rdma);
	reaction_point_release(rdma);
	rdma->requester.deadline = 0;
	page_fault_forget(&rdma->requester.fault);
	ud_kept_drop(rdma);
	/* A NAK that ends the connection, and the READs before it, are still to be sent. */
	if (!connection_ends(responder)) {
		responder->read_count = 0;
		responder->response = RESPONSE_NONE;
		page_fault_forget(&responder->fault);
	}
	egress_activate(nic_of(rdma), &rdma->requester.source);
	if (event)
		function_event(qp->fn, event, 0, qp->qpn);
	rdma_last_receive(qp);
}

static bool flush_requests(struct rdma_qp *rdma, unsigned int *budget)
{
	struct requester *requester = &rdma->requester;

	while (requester->head != requester->tail) {
		if (!*budget)
			return false;
		(*budget)--;
		rdma_complete_send(rdma, requester_at(requester, requester->head++),
				   TERN_WC_FLUSHED, 0);
	}
	requester->send = requester->tail;
	requester->send_packet = 0;
	rc_requester_shrink(rdma);
	return true;
}

void rdma_established(struct rdma_qp *rdma)
{
	if (rdma->qp->state != TERN_QP_RTR || rdma->responder.established)
		return;
	rdma->responder.established = true;
	function_event(rdma->qp->fn, TERN_EVENT_QP_ESTABLISHED, 0, rdma->qp->qpn);
}

bool rdma_flush_send(struct rdma_qp *rdma, unsigned int budget)
{
	struct work_queue *sq = &rdma->qp->sq;
	struct send_wqe *wqe = &nic_of(rdma)->rdma->wqe;

	if (!flush_requests(rdma, &budget))
		return true;
	while (work_queue_posted(sq)) {
		struct request request;

		if (!budget--)
			return true;
		send_wqe_fetch(sq, sq->next, wqe);
		request.index = wqe->index;
		request.blocks = wqe->blocks;
		request.opcode = wqe->opcode;
		request.flags = wqe->flags;
		work_queue_take(sq, wqe->blocks);
		rdma_complete_send(rdma, &request, TERN_WC_FLUSHED, 0);
	}
	return false;
}

bool rdma_flush(struct rdma_qp *rdma, unsigned int budget)
{
	struct work_queue *rq = &rdma->qp->rq;
	bool more = rdma_flush_send(rdma, budget);

	while (rq->completed != rq->producer) {
		struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE, .status = TERN_WC_FLUSHED };

		if (!budget--)
			return true;
		rq->next = rq->completed + 1;
		rdma_complete_receive(rdma, &cqe, rq->completed);
	}
	return more;
}

static bool create(struct qp *qp)
{
	struct tern_nic *nic = qp->fn->nic;
	struct rdma_qp *rdma = calloc(1, sizeof(*rdma));
	struct requester *requester;

	if (!rdma)
		return false;
	requester = &rdma->requester;
	requester->ring = malloc(REQUESTS_MIN * sizeof(*requester->ring));
	if (!requester->ring)
		goto free_rdma;
	requester->ring_size = REQUESTS_MIN;
	if (!timer_reserve(nic, 1))
		goto free_ring;
	timer_init(&requester->timer, rc_requester_timer);
	list_init(&rdma->kept);
	rdma->qp = qp;
	rdma->srq = qp->srq;
	list_init(&rdma->xrc_target);
	requester->source.fn = qp->fn;
	requester->source.send = qp_connected(qp) ? rc_requester_send : ud_send;
	requester->source.varies = !qp_connected(qp);
	rdma->responder.source.fn = qp->fn;
	rdma->responder.source.send = rc_respond_send;
	rdma->congestion.source.fn = qp->fn;
	rdma->congestion.source.send = notification_point_send;
	rdma->congestion.source.ahead = true;
	if (qp->type == TERN_QP_GSI)
		rdma->qkey = GSI_QKEY;
	qp->private = rdma;
	return true;

free_ring:
	free(requester->ring);
free_rdma:
	free(rdma);
	return false;
}

static void destroy(struct qp *qp)
{
	struct rdma_qp *rdma = rdma_of(qp);
	struct tern_nic *nic = nic_of(rdma);

	multicast_forget(qp);
	xrc_leave(rdma);
	ud_kept_drop(rdma);
	notification_point_forget(rdma);
	reaction_point_release(rdma);
	timer_cancel(nic, &rdma->requester.timer);
	timer_release(nic, 1);
	nic->rdma->requests_shared -= rdma->requester.ring_size - REQUESTS_MIN;
	egress_deactivate(nic, &rdma->requester.source);
	egress_deactivate(nic, &rdma->responder.source);
	free(rdma->requester.ring);
	free(rdma);
	qp->private = NULL;
}

static void posted(struct qp *qp, struct work_queue *wq)
{
	struct rdma_qp *rdma = rdma_of(qp);

	(void)wq;
	egress_activate(qp->fn->nic, &rdma->requester.source);
	if (rdma->responder.read_count || rdma->responder.response)
		egress_activate(qp->fn->nic, &rdma->responder.source);
}

static void info(const struct qp *qp, struct tern_nic_qp_info *info)
{
	struct tern_qp_congestion congestion = { .reserved0 = 0 };
	struct rdma_qp *rdma = rdma_of(qp);

	info->remote_qpn = rdma->remote_qpn;
	info->path_mtu = rdma->path_mtu;
	if (qp_connected(qp)) {
		info->sq_psn = rdma->requester.next_psn;
		info->acked_psn = rdma->requester.acked_psn;
		info->expected_psn = rdma->responder.expected_psn;
	} else {
		info->sq_psn = rdma->ud_psn;
	}
	info->packets_sent = rdma->packets_sent;
	info->packets_received = rdma->packets_received;
	info->retransmissions = rdma->retransmissions;
	info->rnr_naks_received = rdma->rnr_naks_received;
	reaction_point_query(rdma, &congestion);
	info->rate_mbps = from_le32(congestion.rate_mbps);
	info->target_rate_mbps = from_le32(congestion.target_rate_mbps);
	info->alpha = from_le32(congestion.alpha);
}

#define RDMA_QP_OPS(id)			\
	{				\
		.name = (id),		\
		.create = create,	\
		.release = rdma_release_receive, \
		.destroy = destroy,	\
		.posted = posted,	\
		.fail = rdma_fail,	\
		.modify = rdma_modify,	\
		.query = rdma_query,	\
		.info = info,		\
	}

const struct qp_ops rc_qp_ops = RDMA_QP_OPS("rc");
const struct qp_ops xrc_initiator_qp_ops = RDMA_QP_OPS("xrc-initiator");
const struct qp_ops xrc_target_qp_ops = RDMA_QP_OPS("xrc-target");
const struct qp_ops uc_qp_ops = RDMA_QP_OPS("uc");
const struct qp_ops ud_qp_ops = RDMA_QP_OPS("ud");
const struct qp_ops gsi_qp_ops = RDMA_QP_OPS("gsi");
