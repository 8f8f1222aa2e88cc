// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: queue pairs: creation, states, destruction. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "nic.h"
#include "qp.h"
#include "record.h"
#include "srq.h"

#define FLAGS_KNOWN	(TERN_QP_PRIVILEGED | TERN_QP_NO_SQ | TERN_QP_NO_RQ | TERN_QP_USES_SRQ)
#define FLAGS_HASHING	(TERN_QP_NO_SQ | TERN_QP_NO_RQ)
#define FLAGS_ETHERNET	(TERN_QP_FLOW_LOOPBACK | TERN_QP_VLAN_STRIP)

#define REFUSE(status, member) \
	command_refuse(command, TERN_COMMAND_STATUS_##status, struct tern_command_create_qp, member)

struct qp *qp_find(const struct function *fn, uint32_t qpn)
{
	return table_get(&fn->qps, qpn);
}

const char *qp_state_name(uint8_t state)
{
	static const char *const names[] = {
		[TERN_QP_RESET] = "reset", [TERN_QP_INIT] = "init", [TERN_QP_RTR] = "rtr",
		[TERN_QP_RTS] = "rts", [TERN_QP_SQD] = "sqd", [TERN_QP_SQE] = "sqe",
		[TERN_QP_ERROR] = "error",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "unknown";
}

void qp_trace_line(const struct qp *qp, const char *format, ...)
{
	struct tern_nic *nic = qp->fn->nic;
	char line[256];
	va_list args;

	if (!nic->ops->trace)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	nic->ops->trace(nic->host, qp->fn->index, qp->qpn, line);
}

void qp_set_state(struct qp *qp, uint8_t state)
{
	if (qp->state != state)
		qp_trace(qp, "state %s -> %s", qp_state_name(qp->state), qp_state_name(state));
	qp->state = state;
	switch (state) {
	case TERN_QP_RESET:
		work_queue_reset(&qp->sq);
		work_queue_reset(&qp->rq);
		break;
	case TERN_QP_INIT:
	case TERN_QP_RTR:
		work_queue_unwatch(&qp->sq);
		work_queue_unwatch(&qp->rq);
		break;
	case TERN_QP_ERROR:
		work_queue_watch(&qp->sq);
		work_queue_watch(&qp->rq);
		break;
	default:
		work_queue_watch(&qp->sq);
		work_queue_unwatch(&qp->rq);
	}
}

static const struct qp_ops *ops_of(const struct function *fn, uint8_t type)
{
	switch (type) {
	case TERN_QP_RC:
		return function_has(fn, FEATURE(RC)) ? &rc_qp_ops : NULL;
	case TERN_QP_UC:
		return function_has(fn, FEATURE(UC)) ? &uc_qp_ops : NULL;
	case TERN_QP_UD:
		return function_has(fn, FEATURE(UD)) ? &ud_qp_ops : NULL;
	case TERN_QP_GSI:
		return function_has(fn, FEATURE(UD)) ? &gsi_qp_ops : NULL;
	case TERN_QP_XRC_INITIATOR:
		return function_has(fn, FEATURE(XRC)) ? &xrc_initiator_qp_ops : NULL;
	case TERN_QP_XRC_TARGET:
		return function_has(fn, FEATURE(XRC)) ? &xrc_target_qp_ops : NULL;
	case TERN_QP_ETHERNET:
		return function_has(fn, FEATURE(ETHERNET)) ? &ethernet_qp_ops : NULL;
	case TERN_QP_HASHING:
		return function_has(fn, FEATURE(RECEIVE_HASHING_QP)) ? &hashing_qp_ops : NULL;
	default:
		return NULL;
	}
}

/* Memory and record of one of the queues; @pages and @record are the offsets in the body. */
static uint16_t queue_set(struct command *command, struct work_queue *wq, size_t pages,
			  size_t record)
{
	const struct tern_page_list *list = (const void *)(command->body + pages);
	__le64 address;
	uint32_t index;
	size_t field;

	if (queue_pages_set(&wq->pages, list, UINT64_C(1) << (wq->shift + wq->stride_shift),
			    &field))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + pages + field);
	memcpy(&address, command->body + record, sizeof(address));
	wq->record = from_le64(address);
	if (wq->record % TERN_QUEUE_RECORD_ALIGN)
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + record);
	if (guest_load32(wq->fn, wq->record + RECORD_INDEX, &index))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_ADDRESS,
					 sizeof_command_header + record);
	wq->exists = true;
	return TERN_COMMAND_STATUS_OK;
}

static void queue_init(struct work_queue *wq, struct qp *qp, bool is_send)
{
	wq->fn = qp->fn;
	wq->qp = qp;
	wq->is_send = is_send;
	list_init(&wq->active);
}

static uint16_t queues_set(struct command *command, struct qp *qp)
{
	const struct tern_command_create_qp *body = (const void *)command->body;
	struct function *fn = command->fn;
	uint16_t status;

	if (!(qp->flags & TERN_QP_NO_SQ)) {
		qp->send_cq = table_get(&fn->cqs, from_le32(body->send_cqn));
		if (!qp->send_cq)
			return REFUSE(NOT_FOUND, send_cqn);
		if (body->sq_shift > SQ_SHIFT_MAX)
			return REFUSE(BAD_PARAMETER, sq_shift);
		qp->sq.shift = body->sq_shift;
		qp->sq.stride_shift = TERN_WQE_BLOCK_SHIFT;
		status = queue_set(command, &qp->sq,
				   offsetof(struct tern_command_create_qp, sq),
				   offsetof(struct tern_command_create_qp, sq_record));
		if (status)
			return status;
	}
	if (!(qp->flags & TERN_QP_NO_RQ)) {
		qp->receive_cq = table_get(&fn->cqs, from_le32(body->receive_cqn));
		if (!qp->receive_cq)
			return REFUSE(NOT_FOUND, receive_cqn);
	}
	if (!(qp->flags & (TERN_QP_NO_RQ | TERN_QP_USES_SRQ))) {
		if (body->rq_shift > RQ_SHIFT_MAX)
			return REFUSE(BAD_PARAMETER, rq_shift);
		if (body->rq_stride_shift < TERN_RECEIVE_STRIDE_SHIFT_MIN ||
		    body->rq_stride_shift > TERN_RECEIVE_STRIDE_SHIFT_MAX)
			return REFUSE(BAD_PARAMETER, rq_stride_shift);
		qp->rq.shift = body->rq_shift;
		qp->rq.stride_shift = body->rq_stride_shift;
		status = queue_set(command, &qp->rq,
				   offsetof(struct tern_command_create_qp, rq),
				   offsetof(struct tern_command_create_qp, rq_record));
		if (status)
			return status;
	}
	return TERN_COMMAND_STATUS_OK;
}

static uint32_t flags_allowed(const struct qp *qp)
{
	uint32_t allowed = FLAGS_KNOWN;

	if (qp->type != TERN_QP_ETHERNET)
		return allowed;
	allowed |= FLAGS_ETHERNET;
	if (!function_has(qp->fn, FEATURE(FLOW_STEERING)))
		allowed &= ~TERN_QP_FLOW_LOOPBACK;
	if (!function_has(qp->fn, FEATURE(VLAN_OFFLOAD)))
		allowed &= ~TERN_QP_VLAN_STRIP;
	return allowed;
}

/* An XRC initiator receives nothing, an XRC target what an SRQ is there for. */
static bool queues_fit(const struct qp *qp)
{
	const uint32_t none = TERN_QP_NO_SQ | TERN_QP_NO_RQ;

	switch (qp->type) {
	case TERN_QP_XRC_INITIATOR:
		return qp->flags & TERN_QP_NO_RQ;
	case TERN_QP_XRC_TARGET:
		return (qp->flags & none) == none;
	default:
		return true;
	}
}

static uint16_t qp_set(struct command *command, struct qp *qp)
{
	const struct tern_command_create_qp *body = (const void *)command->body;
	struct function *fn = command->fn;
	bool gsi = body->type == TERN_QP_GSI, first = command->number == 1;

	qp->fn = fn;
	qp->qpn = command->number;
	qp->type = body->type;
	qp->state = TERN_QP_RESET;
	qp->flags = from_le32(body->flags);
	qp->pd = from_le32(body->pd);
	qp->doorbell_page = from_le32(body->doorbell_page);
	qp->xrcd = from_le32(body->xrcd);
	qp->ops = ops_of(fn, qp->type);
	list_init(&qp->windows);
	queue_init(&qp->sq, qp, true);
	queue_init(&qp->rq, qp, false);
	if (!qp->ops)
		return REFUSE(BAD_PARAMETER, type);
	if (gsi != first)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if ((qp->flags & ~flags_allowed(qp)) || !queues_fit(qp) ||
	    (qp->type == TERN_QP_HASHING && qp->flags != FLAGS_HASHING))
		return REFUSE(BAD_PARAMETER, flags);
	if (qp->pd >= PD_COUNT)
		return REFUSE(BAD_PARAMETER, pd);
	if (qp->doorbell_page >= doorbell_pages(fn))
		return REFUSE(BAD_PARAMETER, doorbell_page);
	if (qp->flags & TERN_QP_USES_SRQ) {
		if (!function_has(fn, FEATURE(SRQ)) || (qp->flags & TERN_QP_NO_RQ) || gsi ||
		    qp->type == TERN_QP_ETHERNET)
			return REFUSE(BAD_PARAMETER, flags);
		qp->srq = srq_find(fn, from_le32(body->srqn));
		if (!qp->srq)
			return REFUSE(NOT_FOUND, srqn);
		if (qp->srq->xrcd)
			return REFUSE(BAD_PARAMETER, srqn);
	} else if (body->srqn) {
		return REFUSE(BAD_PARAMETER, srqn);
	}
	if (qp->type == TERN_QP_XRC_TARGET ? !qp->xrcd || qp->xrcd >= PD_COUNT : qp->xrcd)
		return REFUSE(BAD_PARAMETER, xrcd);
	if (body->reserved0)
		return REFUSE(BAD_PARAMETER, reserved0);
	qp->remote = (struct key_user){ .fn = fn, .pd = qp->pd, .qpn = qp->qpn };
	qp->local = qp->remote;
	qp->local.privileged = qp->flags & TERN_QP_PRIVILEGED;
	return queues_set(command, qp);
}

/* Ask for doorbells from the start (SQ), or not (RQ, read when an entry is needed). */
static void store_first_ring(struct work_queue *wq)
{
	if (wq->exists && function_has(wq->fn, FEATURE(DOORBELL_RECORDS)))
		guest_store32(wq->fn, wq->record + RECORD_RING, wq->is_send);
}

uint16_t qp_create_command(struct command *command)
{
	struct function *fn = command->fn;
	uint16_t status;
	struct qp *qp;

	if (!command->number || command->number >= QP_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (table_get(&fn->qps, command->number))
		return command_refuse_number(command, TERN_COMMAND_STATUS_EXISTS);
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	status = qp_set(command, qp);
	if (status)
		goto free_qp;
	status = TERN_COMMAND_STATUS_NO_RESOURCES;
	if (!table_insert(&fn->qps, qp->qpn, qp))
		goto free_qp;
	if (!qp->ops->create(qp))
		goto remove;
	if (qp->send_cq)
		qp->send_cq->users++;
	if (qp->receive_cq)
		qp->receive_cq->users++;
	if (qp->srq)
		qp->srq->users++;
	store_first_ring(&qp->sq);
	store_first_ring(&qp->rq);
	return TERN_COMMAND_STATUS_OK;

remove:
	table_remove(&fn->qps, qp->qpn);
free_qp:
	free(qp);
	return status;
}

static void qp_free(struct qp *qp)
{
	work_queue_forget(&qp->sq);
	work_queue_forget(&qp->rq);
	qp->ops->destroy(qp);
	key_free_windows(qp);
	table_remove(&qp->fn->qps, qp->qpn);
	if (qp->send_cq)
		qp->send_cq->users--;
	if (qp->receive_cq)
		qp->receive_cq->users--;
	if (qp->srq)
		qp->srq->users--;
	if (qp->counter_set)
		qp->counter_set->users--;
	free(qp);
}

static struct qp *named(struct command *command, uint16_t *status)
{
	struct qp *qp = qp_find(command->fn, command->number);

	*status = TERN_COMMAND_STATUS_OK;
	if (!command->number || command->number >= QP_COUNT)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	else if (!qp)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	return qp;
}

uint16_t qp_modify_command(struct command *command)
{
	uint16_t status;
	struct qp *qp = named(command, &status);

	return qp ? qp->ops->modify(qp, command) : status;
}

uint16_t qp_query_command(struct command *command)
{
	struct tern_qp_status answer = { 0 };
	uint16_t status;
	struct qp *qp = named(command, &status);

	if (!qp)
		return status;
	status = qp->ops->query(qp, &answer);
	return status ? status : command_answer(command, &answer, sizeof(answer));
}

uint16_t qp_destroy_command(struct command *command)
{
	uint16_t status;
	struct qp *qp = named(command, &status);

	if (!qp)
		return status;
	if (qp->users)
		return command_refuse_number(command, TERN_COMMAND_STATUS_IN_USE);
	if (qp->ops->release)
		qp->ops->release(qp);
	qp_free(qp);
	return TERN_COMMAND_STATUS_OK;
}

void qps_reset(struct function *fn)
{
	uint32_t qpn = 0;
	struct qp *qp;

	while ((qp = table_next(&fn->qps, qpn, &qpn)))
		qp_free(qp);
}
