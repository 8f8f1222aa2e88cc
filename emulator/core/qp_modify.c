// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: MODIFY_QP and QUERY_QP of RC, UC, UD and GSI queue pairs (IBTA 10.3.1, 11.2.5.2). */
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "notification_point.h"
#include "rdma_priority.h"
#include "rdma_qp.h"
#include "reaction_point.h"
#include "xrc.h"

#define STATES			(TERN_QP_ERROR + 1)
#define TO(state)		(1U << TERN_QP_##state)
#define MASK_KNOWN		TERN_MASK(15, 0)
#define PATH_MTU_CODE_MAX	5
#define REMOTE_RIGHTS							\
	(TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ | TERN_ACCESS_REMOTE_ATOMIC)
#define FLUSH_RIGHTS	(TERN_ACCESS_FLUSH_GLOBAL | TERN_ACCESS_FLUSH_PERSISTENT)

/* Where the host may take a queue pair from each state. RESET and ERROR: always. */
static const uint8_t transitions[STATES] = {
	[TERN_QP_RESET] = TO(INIT),
	[TERN_QP_INIT] = TO(INIT) | TO(RTR),
	[TERN_QP_RTR] = TO(RTS),
	[TERN_QP_RTS] = TO(RTS) | TO(SQD),
	[TERN_QP_SQD] = TO(RTS) | TO(SQD),
	[TERN_QP_SQE] = TO(RTS),
};

/* What must have been given, now or before, to enter a state. */
static uint32_t required(const struct qp *qp, uint8_t next)
{
	bool connected = qp_connected(qp);

	switch (next) {
	case TERN_QP_INIT:
		return qp->type == TERN_QP_UD ? TERN_QP_SET_QKEY : 0;
	case TERN_QP_RTR:
		return connected ? TERN_QP_SET_ADDRESS | TERN_QP_SET_REMOTE_QPN |
				   TERN_QP_SET_RQ_PSN | TERN_QP_SET_PATH_MTU : 0;
	case TERN_QP_RTS:
		return TERN_QP_SET_SQ_PSN;
	default:
		return 0;
	}
}

#define REFUSE(member)								\
	command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,		\
		       struct tern_command_modify_qp, member)
/* An attribute that is a plain number. */
struct limit {
	uint32_t bit;			/* TERN_QP_SET_* */
	size_t offset;
	uint32_t value, most;
};

static uint16_t check_limits(struct command *command, const struct tern_qp_attributes *new,
			     uint32_t mask)
{
	uint32_t rights = REMOTE_RIGHTS |
			  (function_has(command->fn, FEATURE(FLUSH)) ? FLUSH_RIGHTS : 0);
#define LIMIT(name, member, value, most) \
	{ TERN_QP_SET_##name, offsetof(struct tern_command_modify_qp, attributes.member), \
	  value, most }
	const struct limit limits[] = {
		LIMIT(REMOTE_QPN, remote_qpn, from_le32(new->remote_qpn), WIRE_QPN_MASK),
		LIMIT(RQ_PSN, rq_psn, from_le32(new->rq_psn), WIRE_PSN_MASK),
		LIMIT(SQ_PSN, sq_psn, from_le32(new->sq_psn), WIRE_PSN_MASK),
		LIMIT(ACCESS, access, from_le32(new->access) & ~rights, 0),
		LIMIT(PATH_MTU, path_mtu, new->path_mtu, PATH_MTU_CODE_MAX),
		LIMIT(TIMEOUT, timeout, new->timeout, 31),
		LIMIT(RETRY_COUNT, retry_count, new->retry_count, 7),
		LIMIT(RNR_RETRY, rnr_retry, new->rnr_retry, 7),
		LIMIT(MIN_RNR_TIMER, min_rnr_timer, new->min_rnr_timer, 31),
		LIMIT(INITIATOR_DEPTH, initiator_depth, new->initiator_depth,
		      READ_INITIATOR_MAX),
		LIMIT(RESPONDER_RESOURCES, responder_resources, new->responder_resources,
		      READ_RESPONDER_MAX),
		LIMIT(SQD_NOTIFY, sqd_notify, new->sqd_notify, 1),
		LIMIT(PKEY_INDEX, pkey_index, from_le16(new->pkey_index), 0),
		LIMIT(RATE_LIMIT, rate_limit_mbps, from_le32(new->rate_limit_mbps), 0),
	};
#undef LIMIT

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		if ((mask & limits[i].bit) && limits[i].value > limits[i].most)
			return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
						 sizeof_command_header + limits[i].offset);
	}
	return TERN_COMMAND_STATUS_OK;
}

static uint16_t check_attributes(struct command *command, const struct qp *qp)
{
	const struct tern_command_modify_qp *body = (const void *)command->body;
	const struct tern_qp_attributes *new = &body->attributes;
	uint32_t mask = from_le32(body->mask);
	struct wire_path path;
	uint16_t status;

	if (!command_reserved(command, struct tern_command_modify_qp, reserved0) ||
	    !command_reserved(command, struct tern_command_modify_qp, attributes.reserved0) ||
	    !command_reserved(command, struct tern_command_modify_qp, attributes.reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (mask & ~MASK_KNOWN)
		return REFUSE(mask);
	if ((mask & TERN_QP_SET_ADDRESS) &&
	    !address_path(&qp->fn->rdma->gids, &new->address, 0, &qp->fn->nic->priorities.map,
			  &path))
		return REFUSE(attributes.address);
	status = check_limits(command, new, mask);
	if (status)
		return status;
	if ((mask & TERN_QP_SET_PATH_MTU) &&
	    (!new->path_mtu || 128U << new->path_mtu > rdma_port_mtu(qp->fn)))
		return REFUSE(attributes.path_mtu);
	return TERN_COMMAND_STATUS_OK;
}

static void set_attributes(struct rdma_qp *rdma, const struct tern_qp_attributes *new,
			   uint32_t mask)
{
	struct tern_qp_attributes *own = &rdma->attributes;
	struct requester *requester = &rdma->requester;

	rdma->set |= mask;
	if (mask & TERN_QP_SET_ADDRESS)
		own->address = new->address;
	if (mask & TERN_QP_SET_REMOTE_QPN)
		rdma->remote_qpn = from_le32(new->remote_qpn);
	if (mask & (TERN_QP_SET_ADDRESS | TERN_QP_SET_REMOTE_QPN)) {
		rdma->path_generation = 0;
		if (qp_connected(rdma->qp))
			rdma_set_priority(rdma);
	}
	if (mask & TERN_QP_SET_QKEY)
		rdma->qkey = from_le32(new->qkey);
	if (mask & TERN_QP_SET_RQ_PSN)
		rdma->responder.expected_psn = from_le32(new->rq_psn);
	if (mask & TERN_QP_SET_SQ_PSN) {
		uint32_t psn = from_le32(new->sq_psn);

		rdma->ud_psn = psn;
		requester->acked_psn = psn;
		requester->next_psn = psn;
		requester->high_psn = psn;
		requester->tail_psn = psn;
	}
	if (mask & TERN_QP_SET_ACCESS)
		rdma->access = from_le32(new->access);
	if (mask & TERN_QP_SET_PATH_MTU) {
		own->path_mtu = new->path_mtu;
		rdma->path_mtu = 128U << new->path_mtu;
	}
	if (mask & TERN_QP_SET_TIMEOUT)
		own->timeout = new->timeout;
	if (mask & TERN_QP_SET_RETRY_COUNT) {
		own->retry_count = new->retry_count;
		requester->retries_left = new->retry_count;
	}
	if (mask & TERN_QP_SET_RNR_RETRY) {
		own->rnr_retry = new->rnr_retry;
		requester->rnr_retries_left = new->rnr_retry;
	}
	if (mask & TERN_QP_SET_MIN_RNR_TIMER)
		own->min_rnr_timer = new->min_rnr_timer;
	if (mask & TERN_QP_SET_INITIATOR_DEPTH)
		own->initiator_depth = new->initiator_depth;
	if (mask & TERN_QP_SET_RESPONDER_RESOURCES)
		own->responder_resources = new->responder_resources;
	if (mask & TERN_QP_SET_SQD_NOTIFY)
		own->sqd_notify = new->sqd_notify;
}

static void reset(struct rdma_qp *rdma)
{
	struct responder *responder = &rdma->responder;
	struct egress_source source = responder->source;

	notification_point_forget(rdma);
	reaction_point_release(rdma);
	rc_requester_reset(rdma);
	ud_kept_drop(rdma);
	egress_deactivate(nic_of(rdma), &responder->source);
	source = responder->source;
	memset(responder, 0, sizeof(*responder));
	responder->source = source;
	memset(&rdma->attributes, 0, sizeof(rdma->attributes));
	xrc_leave(rdma);
	rdma->receive_held = false;
	rdma->set = 0;
	rdma->access = 0;
	rdma->remote_qpn = 0;
	rdma->path_mtu = 0;
	rdma->path_generation = 0;
	rdma->ud_psn = 0;
	rdma->qkey = rdma->qp->type == TERN_QP_GSI ? GSI_QKEY : 0;
}

/* PSNs and what describes the connection may not change under packets that are on their way. */
static uint32_t fixed(uint8_t current)
{
	switch (current) {
	case TERN_QP_RTS:
	case TERN_QP_SQE:
		return TERN_QP_SET_SQ_PSN | TERN_QP_SET_RQ_PSN | TERN_QP_SET_REMOTE_QPN |
		       TERN_QP_SET_PATH_MTU | TERN_QP_SET_ADDRESS;
	case TERN_QP_SQD:
		return TERN_QP_SET_SQ_PSN | TERN_QP_SET_RQ_PSN | TERN_QP_SET_REMOTE_QPN |
		       TERN_QP_SET_PATH_MTU;
	case TERN_QP_RTR:
		return TERN_QP_SET_RQ_PSN | TERN_QP_SET_REMOTE_QPN | TERN_QP_SET_PATH_MTU;
	default:
		return 0;
	}
}

static void enter(struct rdma_qp *rdma, uint8_t current, uint8_t next)
{
	struct qp *qp = rdma->qp;

	switch (next) {
	case TERN_QP_RESET:
		rdma_release_receive(qp);
		reset(rdma);
		qp_set_state(qp, next);
		break;
	case TERN_QP_ERROR:
		if (current == TERN_QP_RESET) {
			qp_set_state(qp, next);
			rdma_last_receive(qp);
		} else {
			rdma_fail(qp, 0);
		}
		break;
	case TERN_QP_SQD:
		if (current != next)
			rdma->drain_reported = false;
		qp_set_state(qp, next);
		rc_requester_drained(rdma);
		break;
	default:
		qp_set_state(qp, next);
		if (next == TERN_QP_RTS)
			egress_activate(nic_of(rdma), &rdma->requester.source);
		break;
	}
}

uint16_t rdma_modify(struct qp *qp, struct command *command)
{
	const struct tern_command_modify_qp *body = (const void *)command->body;
	struct rdma_qp *rdma = rdma_of(qp);
	uint32_t mask = from_le32(body->mask);
	uint8_t next = body->next_state;
	uint16_t status;

	if (body->current_state >= STATES)
		return REFUSE(current_state);
	if (next >= STATES)
		return REFUSE(next_state);
	if (body->current_state != qp->state)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_STATE,
				      struct tern_command_modify_qp, current_state);
	if (next != TERN_QP_RESET && next != TERN_QP_ERROR &&
	    !(transitions[qp->state] & 1U << next))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_STATE,
				      struct tern_command_modify_qp, next_state);
	status = check_attributes(command, qp);
	if (status)
		return status;
	if ((mask & fixed(qp->state)) ||
	    (required(qp, next) & ~(mask | rdma->set)))
		return REFUSE(mask);
	set_attributes(rdma, &body->attributes, mask);
	enter(rdma, qp->state, next);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t rdma_query(struct qp *qp, struct tern_qp_status *status)
{
	struct rdma_qp *rdma = rdma_of(qp);
	const struct requester *requester = &rdma->requester;
	bool connected = qp_connected(qp);

	status->state = qp->state;
	status->sq_draining = qp->state == TERN_QP_SQD && requester->head != requester->tail;
	status->sq_consumer = to_le32(qp->sq.completed);
	status->rq_consumer = to_le32(qp->rq.completed);
	status->attributes = rdma->attributes;
	status->attributes.remote_qpn = to_le32(rdma->remote_qpn);
	status->attributes.qkey = to_le32(rdma->qkey);
	status->attributes.access = to_le32(rdma->access);
	status->attributes.rq_psn = to_le32(rdma->responder.expected_psn);
	status->attributes.sq_psn = to_le32(connected ? requester->next_psn : rdma->ud_psn);
	if (function_has(qp->fn, FEATURE(ECN)))
		reaction_point_query(rdma, &status->congestion);
	return TERN_COMMAND_STATUS_OK;
}
