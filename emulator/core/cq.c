// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: completion queues: entries, arming, moderation, overrun. */
#include <stdlib.h>

#include "byteorder.h"
#include "command.h"
#include "cq.h"
#include "nic.h"
#include "qp.h"
#include "record.h"
#include "tern_hw_queue.h"

#define NS_PER_US	1000

static uint32_t cq_size(const struct cq *cq)
{
	return 1U << cq->shift;
}

static void cq_fail(struct cq *cq, uint8_t error)
{
	struct function *fn = cq->fn;

	cq->error = error;
	fn->device.cq_errors++;
	function_log(fn, "CQ %u: %s", cq->cqn,
		     error == TERN_CQ_ERROR_OVERRUN ? "overrun" : "memory cannot be written");
	eq_post(cq->eq, TERN_EVENT_CQ_ERROR, error, cq->cqn);
	list_add_tail(&fn->nic->failed_cqs, &cq->failed);
}

static bool full(struct cq *cq)
{
	uint32_t index;

	if (cq->producer - cq->consumer < cq_size(cq))
		return false;
	if (guest_load32(cq->fn, cq->record + RECORD_INDEX, &index))
		return true;
	if (cq->producer - index > cq_size(cq)) {
		cq->fn->device.index_errors++;
		return true;
	}
	cq->consumer = index;
	return cq->producer - index >= cq_size(cq);
}

bool cq_post(struct cq *cq, struct tern_cqe *cqe, bool solicited)
{
	struct function *fn = cq->fn;
	uint64_t address, contiguous;
	uint64_t offset;

	if (cq->error)
		return false;
	if (full(cq)) {
		cq_fail(cq, TERN_CQ_ERROR_OVERRUN);
		return false;
	}
	offset = (uint64_t)(cq->producer & (cq_size(cq) - 1)) * sizeof(*cqe);
	cqe->phase = to_le32(~(cq->producer >> cq->shift) & TERN_CQE_PHASE);
	cqe->reserved0 = 0;
	cqe->reserved1 = 0;
	if (!cqe->timestamp)
		cqe->timestamp = to_le64(nic_now(fn->nic));
	if (page_list_translate(fn, &cq->pages, &cq->cursor, offset, true, &address,
				&contiguous) ||
	    guest_store_entry(fn, address, cqe, sizeof(*cqe))) {
		cq_fail(cq, TERN_CQ_ERROR_ACCESS);
		return false;
	}
	cq->producer++;
	cq->written_count++;
	if (solicited || cqe->status) {
		cq->written_solicited = true;
		cq->last_solicited = cq->producer;
		cq->solicited_once = true;
	}
	if (!list_linked(&cq->written))
		list_add_tail(&fn->nic->written_cqs, &cq->written);
	return true;
}

static void make_event(struct cq *cq)
{
	cq->served = cq->held_arm;
	cq->held_arm = TERN_ARM_NONE;
	cq->held_count = 0;
	timer_cancel(cq->fn->nic, &cq->timer);
	eq_post(cq->eq, TERN_EVENT_COMPLETION, 0, cq->cqn);
}

static void moderation_over(struct tern_nic *nic, struct timer *timer)
{
	(void)nic;
	make_event(container_of(timer, struct cq, timer));
}

/* @count entries are new to the host, one of them @solicited or an error; its arm word is @arm. */
static void look(struct cq *cq, uint32_t arm, uint32_t count, bool solicited)
{
	struct tern_nic *nic = cq->fn->nic;
	uint32_t mode = arm & TERN_ARM_MODE;

	if (arm == cq->served)
		return;
	if (mode != TERN_ARM_NEXT && !(mode == TERN_ARM_SOLICITED && solicited))
		return;
	cq->held_arm = arm;
	cq->held_count += count;
	if ((!cq->moderation_count && !cq->moderation_period) ||
	    (cq->moderation_count && cq->held_count >= cq->moderation_count))
		make_event(cq);
	else if (cq->moderation_period && !timer_armed(&cq->timer))
		timer_arm(nic, &cq->timer,
			  nic_now(nic) + (uint64_t)cq->moderation_period * NS_PER_US);
}

void events_flush(struct tern_nic *nic)
{
	struct list *link;

	if (!list_empty(&nic->written_cqs)) {
		/* Pairs with the host's fence between arming and its last look at the queue. */
		full_fence();
		while ((link = list_pop(&nic->written_cqs))) {
			struct cq *cq = list_entry(link, struct cq, written);
			uint32_t arm = cq->arm;
			uint32_t count = cq->written_count;
			bool solicited = cq->written_solicited;

			cq->written_count = 0;
			cq->written_solicited = false;
			if (function_has(cq->fn, FEATURE(DOORBELL_RECORDS)) &&
			    guest_load32(cq->fn, cq->record + RECORD_ARM, &arm))
				continue;
			look(cq, arm, count, solicited);
		}
	}
	eqs_flush(nic);
}

/* See eq_arm_doorbell(): entries that the host has not read count as new. */
void cq_arm_doorbell(struct function *fn, unsigned int page, uint32_t number, uint32_t arm)
{
	struct cq *cq = table_get(&fn->cqs, number);
	uint32_t index, unread;

	if (!cq || cq->doorbell_page != page) {
		fn->port.doorbells_dropped++;
		return;
	}
	if (function_has(fn, FEATURE(DOORBELL_RECORDS)))
		return;
	cq->arm = arm;
	if (guest_load32(fn, cq->record + RECORD_INDEX, &index))
		return;
	unread = cq->producer - index;
	if (!unread || unread > cq_size(cq))
		return;
	look(cq, arm, unread,
	     cq->solicited_once && cq->producer - cq->last_solicited < unread);
}

#define REFUSE(status, member) \
	command_refuse(command, TERN_COMMAND_STATUS_##status, struct tern_command_create_cq, member)

/* A count alone would hold back the event of the last completions for ever. */
static uint16_t take_moderation(struct command *command, struct cq *cq)
{
	const struct tern_command_create_cq *body = (const void *)command->body;
	uint16_t count = from_le16(body->moderation_count);
	uint16_t period = from_le16(body->moderation_period);

	if (count > 1 && !period)
		return REFUSE(BAD_PARAMETER, moderation_period);
	cq->moderation_count = count;
	cq->moderation_period = period;
	return TERN_COMMAND_STATUS_OK;
}

static bool reserved_zero(struct command *command)
{
	return command_reserved(command, struct tern_command_create_cq, reserved0) &&
	       command_reserved(command, struct tern_command_create_cq, reserved1) &&
	       command_reserved(command, struct tern_command_create_cq, reserved2);
}

uint16_t cq_create_command(struct command *command)
{
	const struct tern_command_create_cq *body = (const void *)command->body;
	struct function *fn = command->fn;
	struct cq *cq, made = {
		.fn = fn,
		.cqn = command->number,
		.eq = table_get(&fn->eqs, from_le32(body->eqn)),
		.doorbell_page = from_le32(body->doorbell_page),
		.record = from_le64(body->record),
		.shift = body->shift,
	};
	uint16_t status;
	uint32_t index;
	size_t field;

	if (command->number >= CQ_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (table_get(&fn->cqs, command->number))
		return command_refuse_number(command, TERN_COMMAND_STATUS_EXISTS);
	if (!made.shift || made.shift > CQ_SHIFT_MAX)
		return REFUSE(BAD_PARAMETER, shift);
	if (!reserved_zero(command))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (queue_pages_set(&made.pages, &body->pages, sizeof(struct tern_cqe) << made.shift,
			    &field))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + field);
	if (made.doorbell_page >= doorbell_pages(fn))
		return REFUSE(BAD_PARAMETER, doorbell_page);
	if (!made.eq)
		return REFUSE(NOT_FOUND, eqn);
	if (made.record % TERN_QUEUE_RECORD_ALIGN)
		return REFUSE(BAD_PARAMETER, record);
	if (guest_load32(fn, made.record + RECORD_INDEX, &index))
		return REFUSE(BAD_ADDRESS, record);
	status = take_moderation(command, &made);
	if (status)
		return status;
	if (!timer_reserve(fn->nic, 1))
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	cq = table_insert_copy(&fn->cqs, made.cqn, &made, sizeof(made));
	if (!cq) {
		timer_release(fn->nic, 1);
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	}
	list_init(&cq->written);
	list_init(&cq->failed);
	timer_init(&cq->timer, moderation_over);
	cq->eq->users++;
	return TERN_COMMAND_STATUS_OK;
}

static struct cq *named(struct command *command, uint16_t *status)
{
	struct cq *cq = table_get(&command->fn->cqs, command->number);

	*status = TERN_COMMAND_STATUS_OK;
	if (command->number >= CQ_COUNT)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	else if (!cq)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	return cq;
}

/* An event that is held now comes at once: the new setting starts clean. */
uint16_t cq_modify_command(struct command *command)
{
	uint16_t status;
	struct cq *cq = named(command, &status);

	if (!cq)
		return status;
	if (!reserved_zero(command))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	status = take_moderation(command, cq);
	if (status)
		return status;
	if (cq->held_arm != TERN_ARM_NONE)
		make_event(cq);
	return TERN_COMMAND_STATUS_OK;
}

#undef REFUSE
#define REFUSE(status, member) \
	command_refuse(command, TERN_COMMAND_STATUS_##status, struct tern_command_resize_cq, member)

/* Entries [first, first + count) of @cq become the first of @to, which is empty. */
static bool move_entries(struct cq *cq, struct cq *to, uint32_t first, uint32_t count)
{
	struct function *fn = cq->fn;
	struct tern_cqe cqe;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t from = (uint64_t)((first + i) & (cq_size(cq) - 1)) * sizeof(cqe);
		uint64_t address, contiguous;

		if (page_list_read(fn, &cq->pages, &cq->cursor, from, &cqe, sizeof(cqe)) ||
		    page_list_translate(fn, &to->pages, &to->cursor, i * sizeof(cqe), true,
					&address, &contiguous))
			return false;
		cqe.phase = to_le32(TERN_CQE_PHASE);
		if (guest_store_entry(fn, address, &cqe, sizeof(cqe)))
			return false;
	}
	return true;
}

/* The ring and the record that the command gives. */
static uint16_t new_ring(struct command *command, struct cq *new)
{
	const struct tern_command_resize_cq *body = (const void *)command->body;
	uint32_t index;
	size_t field;

	if (!command_reserved(command, struct tern_command_resize_cq, reserved0) ||
	    !command_reserved(command, struct tern_command_resize_cq, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	new->shift = body->shift;
	new->record = from_le64(body->record);
	if (!new->shift || new->shift > CQ_SHIFT_MAX)
		return REFUSE(BAD_PARAMETER, shift);
	if (queue_pages_set(&new->pages, &body->pages, sizeof(struct tern_cqe) << new->shift,
			    &field))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + field);
	if (new->record % TERN_QUEUE_RECORD_ALIGN)
		return REFUSE(BAD_PARAMETER, record);
	if (guest_load32(new->fn, new->record + RECORD_INDEX, &index))
		return REFUSE(BAD_ADDRESS, record);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t cq_resize_command(struct command *command)
{
	uint16_t status;
	struct cq *cq = named(command, &status);
	struct cq new = { .fn = command->fn };
	uint32_t unread, index;

	if (!cq)
		return status;
	if (cq->error)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_STATE);
	status = new_ring(command, &new);
	if (status)
		return status;
	/* As for room: an index out of the ring is taken for unchanged. */
	if (!guest_load32(cq->fn, cq->record + RECORD_INDEX, &index)) {
		if (cq->producer - index <= cq_size(cq))
			cq->consumer = index;
		else
			cq->fn->device.index_errors++;
	}
	unread = cq->producer - cq->consumer;
	if (unread > cq_size(&new))
		return REFUSE(BAD_PARAMETER, shift);
	if (!move_entries(cq, &new, cq->consumer, unread))
		return REFUSE(BAD_ADDRESS, pages);
	cq->last_solicited -= cq->consumer;
	cq->producer = unread;
	cq->consumer = 0;
	cq->pages = new.pages;
	cq->cursor = new.cursor;
	cq->record = new.record;
	cq->shift = new.shift;
	command->result[0] = unread;
	return TERN_COMMAND_STATUS_OK;
}

static void cq_free(struct cq *cq)
{
	struct function *fn = cq->fn;

	list_remove(&cq->written);
	list_remove(&cq->failed);
	timer_cancel(fn->nic, &cq->timer);
	timer_release(fn->nic, 1);
	table_remove(&fn->cqs, cq->cqn);
	cq->eq->users--;
	free(cq);
}

uint16_t cq_destroy_command(struct command *command)
{
	uint16_t status;
	struct cq *cq = named(command, &status);

	if (!cq)
		return status;
	if (cq->users)
		return command_refuse_number(command, TERN_COMMAND_STATUS_IN_USE);
	eq_forget_cq(cq->eq, cq->cqn);
	cq_free(cq);
	return TERN_COMMAND_STATUS_OK;
}

/* Queue pairs of CQs that failed go to ERROR: outside of the code that posted. */
bool cqs_fail_qps(struct tern_nic *nic)
{
	struct list *link;
	bool any = false;

	while ((link = list_pop(&nic->failed_cqs))) {
		struct cq *cq = list_entry(link, struct cq, failed);
		uint32_t qpn = 0;
		struct qp *qp;

		any = true;
		for (; (qp = table_next(&cq->fn->qps, qpn, &qpn)); qpn++) {
			if (qp->send_cq == cq || qp->receive_cq == cq)
				qp->ops->fail(qp, TERN_EVENT_QP_FATAL);
		}
	}
	return any;
}

void cqs_reset(struct function *fn)
{
	struct cq *cq;
	uint32_t number = 0;

	while ((cq = table_next(&fn->cqs, number, &number)))
		cq_free(cq);
}
