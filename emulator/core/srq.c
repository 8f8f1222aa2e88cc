// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: shared receive queues (IBTA 10.2.9): entries, limit, errors, commands. */
#include "srq.h"

#include <stdlib.h>

#include "byteorder.h"
#include "command.h"
#include "cq.h"
#include "eq.h"
#include "nic.h"
#include "record.h"

#define FLAGS_KNOWN	TERN_SRQ_PRIVILEGED
#define MASK_KNOWN	(TERN_SRQ_SET_LIMIT | TERN_SRQ_SET_SIZE)

struct srq *srq_find(const struct function *fn, uint32_t srqn)
{
	return table_get(&fn->srqs, srqn);
}

void srq_fail(struct srq *srq)
{
	if (srq->failed)
		return;
	srq->failed = true;
	srq->limit = 0;
	function_log(srq->fn, "SRQ %u: index outside the ring, or its memory cannot be read",
		     srq->srqn);
	function_event(srq->fn, TERN_EVENT_SRQ_ERROR, 0, srq->srqn);
}

/* Take over what the host has posted; false: it has failed. */
static bool refresh(struct srq *srq)
{
	if (!srq->failed && work_queue_poll(&srq->queue) < 0 && srq->fn->bus_master)
		srq_fail(srq);
	return !srq->failed;
}

int srq_ready(struct srq *srq)
{
	/* Where its entries cannot complete, none is taken. */
	if (srq->failed || (srq->cq && srq->cq->error))
		return -1;
	if (!work_queue_posted(&srq->queue) && !refresh(srq))
		return -1;
	return work_queue_posted(&srq->queue) ? 1 : 0;
}

/* IBTA 10.2.9.5.1: the limit is armed for one event. */
static void check_limit(struct srq *srq)
{
	if (!srq->limit || work_queue_posted(&srq->queue) >= srq->limit)
		return;
	if (!refresh(srq) || work_queue_posted(&srq->queue) >= srq->limit)
		return;
	srq->limit = 0;
	function_event(srq->fn, TERN_EVENT_SRQ_LIMIT, 0, srq->srqn);
}

void srq_take(struct srq *srq)
{
	srq->queue.next++;
	check_limit(srq);
}

void srq_doorbell(struct function *fn, unsigned int page, uint32_t number, uint32_t index)
{
	struct srq *srq = srq_find(fn, number);

	if (srq && srq->doorbell_page == page)
		work_queue_doorbell(&srq->queue, index);
	else
		fn->port.doorbells_dropped++;
}

#define REFUSE(status, member)						\
	command_refuse(command, TERN_COMMAND_STATUS_##status,		\
		       struct tern_command_create_srq, member)

static uint16_t create_check(struct command *command, struct srq *srq)
{
	const struct tern_command_create_srq *body = (const void *)command->body;
	struct work_queue *queue = &srq->queue;
	uint32_t flags = from_le32(body->flags);
	uint32_t index;
	size_t field;

	if (!command_reserved(command, struct tern_command_create_srq, reserved0) ||
	    !command_reserved(command, struct tern_command_create_srq, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (flags & ~FLAGS_KNOWN)
		return REFUSE(BAD_PARAMETER, flags);
	if (from_le32(body->pd) >= PD_COUNT)
		return REFUSE(BAD_PARAMETER, pd);
	if (srq->doorbell_page >= doorbell_pages(srq->fn))
		return REFUSE(BAD_PARAMETER, doorbell_page);
	if (srq->xrcd >= (function_has(srq->fn, FEATURE(XRC)) ? PD_COUNT : 1))
		return REFUSE(BAD_PARAMETER, xrcd);
	if (!srq->xrcd && body->cqn)
		return REFUSE(BAD_PARAMETER, cqn);
	if (srq->xrcd) {
		srq->cq = table_get(&srq->fn->cqs, from_le32(body->cqn));
		if (!srq->cq)
			return REFUSE(NOT_FOUND, cqn);
	}
	if (body->shift > RQ_SHIFT_MAX)
		return REFUSE(BAD_PARAMETER, shift);
	if (body->stride_shift < TERN_RECEIVE_STRIDE_SHIFT_MIN ||
	    body->stride_shift > TERN_RECEIVE_STRIDE_SHIFT_MAX)
		return REFUSE(BAD_PARAMETER, stride_shift);
	if (queue_pages_set(&queue->pages, &body->pages,
			    UINT64_C(1) << (body->shift + body->stride_shift), &field))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + field +
					 offsetof(struct tern_command_create_srq, pages));
	if (queue->record % TERN_QUEUE_RECORD_ALIGN)
		return REFUSE(BAD_PARAMETER, record);
	if (guest_load32(srq->fn, queue->record + RECORD_INDEX, &index))
		return REFUSE(BAD_ADDRESS, record);
	srq->local = (struct key_user){
		.fn = srq->fn, .pd = from_le32(body->pd), .privileged = flags & TERN_SRQ_PRIVILEGED,
	};
	return TERN_COMMAND_STATUS_OK;
}

uint16_t srq_create_command(struct command *command)
{
	const struct tern_command_create_srq *body = (const void *)command->body;
	struct function *fn = command->fn;
	struct srq *srq, made = {
		.fn = fn,
		.srqn = command->number,
		.doorbell_page = from_le32(body->doorbell_page),
		.xrcd = from_le32(body->xrcd),
		.queue = {
			.fn = fn, .exists = true, .shift = body->shift,
			.stride_shift = body->stride_shift, .record = from_le64(body->record),
		},
	};
	uint16_t status;

	if (!command->number || command->number >= SRQ_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (srq_find(fn, command->number))
		return command_refuse_number(command, TERN_COMMAND_STATUS_EXISTS);
	status = create_check(command, &made);
	if (status)
		return status;
	srq = table_insert_copy(&fn->srqs, made.srqn, &made, sizeof(made));
	if (!srq)
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	list_init(&srq->queue.active);
	list_init(&srq->targets);
	if (srq->cq)
		srq->cq->users++;
	return TERN_COMMAND_STATUS_OK;
}

static struct srq *named(struct command *command, uint16_t *status)
{
	struct srq *srq = srq_find(command->fn, command->number);

	*status = TERN_COMMAND_STATUS_OK;
	if (!command->number || command->number >= SRQ_COUNT)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	else if (!srq)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	return srq;
}

#undef REFUSE
#define REFUSE(status, member)						\
	command_refuse(command, TERN_COMMAND_STATUS_##status,		\
		       struct tern_command_modify_srq, member)

/* What is outstanding stands in the new ring already, at the places of its indices. */
static uint16_t new_ring(struct command *command, const struct srq *srq, struct page_list *pages)
{
	const struct tern_command_modify_srq *body = (const void *)command->body;
	const struct work_queue *queue = &srq->queue;
	size_t field;

	if (body->shift > RQ_SHIFT_MAX ||
	    queue->producer - queue->completed > 1U << body->shift)
		return REFUSE(BAD_PARAMETER, shift);
	if (queue_pages_set(pages, &body->pages,
			    UINT64_C(1) << (body->shift + queue->stride_shift), &field))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + field +
					 offsetof(struct tern_command_modify_srq, pages));
	return TERN_COMMAND_STATUS_OK;
}

uint16_t srq_modify_command(struct command *command)
{
	const struct tern_command_modify_srq *body = (const void *)command->body;
	uint32_t mask = from_le32(body->mask);
	struct page_list pages;
	uint32_t shift;
	uint16_t status;
	struct srq *srq = named(command, &status);

	if (!srq)
		return status;
	if (!command_reserved(command, struct tern_command_modify_srq, reserved0) ||
	    !command_reserved(command, struct tern_command_modify_srq, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (mask & ~MASK_KNOWN)
		return REFUSE(BAD_PARAMETER, mask);
	if (!refresh(srq))
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_STATE);
	shift = mask & TERN_SRQ_SET_SIZE ? body->shift : srq->queue.shift;
	if (mask & TERN_SRQ_SET_SIZE) {
		status = new_ring(command, srq, &pages);
		if (status)
			return status;
	}
	if ((mask & TERN_SRQ_SET_LIMIT) && from_le32(body->limit) > 1U << shift)
		return REFUSE(BAD_PARAMETER, limit);
	if (mask & TERN_SRQ_SET_SIZE) {
		srq->queue.pages = pages;
		srq->queue.shift = (uint8_t)shift;
		srq->queue.cursor = (struct page_cursor){ 0 };
		/* What is armed and cannot be reached any more would never be told. */
		if (srq->limit > 1U << shift)
			srq->limit = 1U << shift;
	}
	if (mask & TERN_SRQ_SET_LIMIT)
		srq->limit = from_le32(body->limit);
	check_limit(srq);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t srq_query_command(struct command *command)
{
	struct tern_srq_status answer = { 0 };
	uint16_t status;
	const struct srq *srq = named(command, &status);

	if (!srq)
		return status;
	answer.failed = srq->failed;
	answer.limit = to_le32(srq->limit);
	answer.taken = to_le32(srq->queue.next);
	answer.completed = to_le32(srq->queue.completed);
	return command_answer(command, &answer, sizeof(answer));
}

static void srq_free(struct srq *srq)
{
	table_remove(&srq->fn->srqs, srq->srqn);
	xrc_srq_gone(srq);
	if (srq->cq)
		srq->cq->users--;
	free(srq);
}

uint16_t srq_destroy_command(struct command *command)
{
	uint16_t status;
	struct srq *srq = named(command, &status);

	if (!srq)
		return status;
	if (srq->users)
		return command_refuse_number(command, TERN_COMMAND_STATUS_IN_USE);
	srq_free(srq);
	return TERN_COMMAND_STATUS_OK;
}

void srqs_reset(struct function *fn)
{
	uint32_t number = 0;
	struct srq *srq;

	while ((srq = table_next(&fn->srqs, number, &number)))
		srq_free(srq);
}
