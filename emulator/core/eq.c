// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: event queues. */
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "cq.h"
#include "eq.h"
#include "nic.h"
#include "record.h"
#include "tern_hw_queue.h"

/*
 * Events that wait for room: a COMPLETION and a CQ_ERROR of each CQ and the
 * events of each queue pair, two page faults among them, and SRQ. Beyond that
 * the host makes them up, and they are lost.
 */
#define BACKLOG_MAX	(2 * CQ_COUNT + 14 * QP_COUNT + 2 * SRQ_COUNT)
#define RETRY_NS	100000

static uint32_t eq_size(const struct eq *eq)
{
	return 1U << eq->shift;
}

static bool full(struct eq *eq)
{
	uint32_t index;

	if (eq->producer - eq->consumer < eq_size(eq))
		return false;
	if (guest_load32(eq->fn, eq->record + RECORD_INDEX, &index))
		return true;
	/* An index out of the ring would let entries be overwritten: keep the old one. */
	if (eq->producer - index > eq_size(eq)) {
		eq->fn->device.index_errors++;
		return true;
	}
	eq->consumer = index;
	return eq->producer - index >= eq_size(eq);
}

/* False when it has no room. */
static bool eq_write(struct eq *eq, const struct kept_event *event)
{
	struct function *fn = eq->fn;
	struct tern_eqe eqe = {
		.type = event->type, .subtype = event->subtype, .number = to_le32(event->number),
		.data = { to_le64(event->data[0]), to_le64(event->data[1]) },
		.fault = to_le32(event->fault),
	};
	uint64_t address, contiguous;
	uint64_t offset;

	/* Without bus mastering events wait: nothing is wrong with the memory. */
	if (!fn->bus_master || full(eq))
		return false;
	offset = (uint64_t)(eq->producer & (eq_size(eq) - 1)) * sizeof(eqe);
	eqe.phase = to_le32(~(eq->producer >> eq->shift) & TERN_EQE_PHASE);
	if (page_list_translate(fn, &eq->pages, &eq->cursor, offset, true, &address,
				&contiguous) ||
	    guest_store_entry(fn, address, &eqe, sizeof(eqe))) {
		if (!eq->dead)
			function_log(fn, "memory of EQ %u cannot be written: its events are lost",
				     eq->eqn);
		eq->dead = true;
		fn->device.events_lost++;
		return true;
	}
	eq->producer++;
	fn->device.events++;
	if (!list_linked(&eq->written))
		list_add_tail(&fn->nic->written_eqs, &eq->written);
	return true;
}

static void keep(struct eq *eq, const struct kept_event *event)
{
	struct function *fn = eq->fn;
	struct kept_event *backlog;
	struct cq *cq = NULL;

	/* One COMPLETION says all that several would. */
	if (event->type == TERN_EVENT_COMPLETION) {
		cq = table_get(&fn->cqs, event->number);
		if (cq->event_kept)
			return;
	}
	if (eq->backlog_count == eq->backlog_room) {
		uint32_t room = eq->backlog_room ? 2 * eq->backlog_room : 64;

		if (room > BACKLOG_MAX && eq->backlog_room < BACKLOG_MAX)
			room = BACKLOG_MAX;
		backlog = room <= BACKLOG_MAX ? realloc(eq->backlog, room * sizeof(*backlog)) :
						NULL;
		if (!backlog) {
			fn->device.events_lost++;
			return;
		}
		eq->backlog = backlog;
		eq->backlog_room = room;
	}
	eq->backlog[eq->backlog_count++] = *event;
	if (cq)
		cq->event_kept = true;
	if (!timer_armed(&eq->retry))
		timer_arm(fn->nic, &eq->retry, nic_now(fn->nic) + RETRY_NS);
}

static void drain_backlog(struct eq *eq)
{
	uint32_t done = 0;

	for (; done < eq->backlog_count && eq_write(eq, &eq->backlog[done]); done++) {
		const struct kept_event *event = &eq->backlog[done];
		struct cq *cq = table_get(&eq->fn->cqs, event->number);

		if (event->type == TERN_EVENT_COMPLETION && cq)
			cq->event_kept = false;
	}
	eq->backlog_count -= done;
	if (eq->backlog_count)
		memmove(eq->backlog, eq->backlog + done, eq->backlog_count * sizeof(*eq->backlog));
	else
		timer_cancel(eq->fn->nic, &eq->retry);
}

static void retry(struct tern_nic *nic, struct timer *timer)
{
	struct eq *eq = container_of(timer, struct eq, retry);

	if (!eq->fn->bus_master)
		return;
	drain_backlog(eq);
	if (eq->backlog_count)
		timer_arm(nic, timer, nic_now(nic) + RETRY_NS);
}

void eqs_enabled(struct function *fn)
{
	uint32_t number = 0;
	struct eq *eq;

	for (; (eq = table_next(&fn->eqs, number, &number)); number++) {
		if (eq->backlog_count)
			retry(fn->nic, &eq->retry);
	}
}

void eq_post(struct eq *eq, uint8_t type, uint8_t subtype, uint32_t number)
{
	struct kept_event event = { .type = type, .subtype = subtype, .number = number };

	eq_post_event(eq, &event);
}

void eq_post_event(struct eq *eq, const struct kept_event *event)
{
	if (eq->dead)
		eq->fn->device.events_lost++;
	else if (eq->backlog_count || !eq_write(eq, event))
		keep(eq, event);
}

void function_event(struct function *fn, uint8_t type, uint8_t subtype, uint32_t number)
{
	struct kept_event event = { .type = type, .subtype = subtype, .number = number };

	function_post_event(fn, &event);
}

void function_post_event(struct function *fn, const struct kept_event *event)
{
	struct eq *eq = table_get(&fn->eqs, 0);

	if (eq)
		eq_post_event(eq, event);
	else
		fn->device.events_lost++;
}

void eq_forget_cq(struct eq *eq, uint32_t cqn)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < eq->backlog_count; i++) {
		const struct kept_event *event = &eq->backlog[i];

		if ((event->type == TERN_EVENT_COMPLETION || event->type == TERN_EVENT_CQ_ERROR) &&
		    event->number == cqn)
			continue;
		eq->backlog[kept++] = *event;
	}
	eq->backlog_count = kept;
	if (!kept)
		timer_cancel(eq->fn->nic, &eq->retry);
}

static void interrupt(struct eq *eq, uint32_t arm)
{
	struct tern_nic *nic = eq->fn->nic;

	if ((arm & TERN_ARM_MODE) != TERN_ARM_NEXT || arm == eq->served)
		return;
	eq->served = arm;
	eq->fn->device.interrupts++;
	nic->ops->interrupt(nic->host, eq->fn->index, eq->vector);
}

void eqs_flush(struct tern_nic *nic)
{
	struct list *link;

	if (list_empty(&nic->written_eqs))
		return;
	/* Pairs with the host's fence between arming and its last look at the queue. */
	full_fence();
	while ((link = list_pop(&nic->written_eqs))) {
		struct eq *eq = list_entry(link, struct eq, written);
		uint32_t arm = eq->arm;

		if (function_has(eq->fn, FEATURE(DOORBELL_RECORDS)) &&
		    guest_load32(eq->fn, eq->record + RECORD_ARM, &arm))
			continue;
		interrupt(eq, arm);
	}
}

/*
 * What was written before an arming by doorbell arrived may have missed it:
 * when the host has not read up to there, the interrupt comes now.
 */
void eq_arm_doorbell(struct function *fn, uint32_t number, uint32_t arm)
{
	struct eq *eq = table_get(&fn->eqs, number);
	uint32_t index;

	if (!eq) {
		fn->port.doorbells_dropped++;
		return;
	}
	if (eq->backlog_count)
		drain_backlog(eq);
	if (function_has(fn, FEATURE(DOORBELL_RECORDS)))
		return;
	eq->arm = arm;
	if (!guest_load32(fn, eq->record + RECORD_INDEX, &index) && index != eq->producer)
		interrupt(eq, arm);
}

uint16_t eq_create_command(struct command *command)
{
	const struct tern_command_create_eq *body = (const void *)command->body;
	struct function *fn = command->fn;
	struct eq *eq, made = {
		.fn = fn,
		.eqn = command->number,
		.vector = from_le32(body->vector),
		.record = from_le64(body->record),
		.shift = body->shift,
	};
	uint32_t index;
	size_t field;

	if (command->number >= EQ_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (table_get(&fn->eqs, command->number))
		return command_refuse_number(command, TERN_COMMAND_STATUS_EXISTS);
#define REFUSE(status, member) \
	command_refuse(command, TERN_COMMAND_STATUS_##status, struct tern_command_create_eq, member)
	if (!made.shift || made.shift > EQ_SHIFT_MAX)
		return REFUSE(BAD_PARAMETER, shift);
	if (!command_reserved(command, struct tern_command_create_eq, reserved0) ||
	    !command_reserved(command, struct tern_command_create_eq, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (queue_pages_set(&made.pages, &body->pages, sizeof(struct tern_eqe) << made.shift,
			    &field))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + field);
	if (made.vector >= VECTOR_COUNT)
		return REFUSE(BAD_PARAMETER, vector);
	if (fn->vector_used[made.vector])
		return REFUSE(IN_USE, vector);
	if (made.record % TERN_QUEUE_RECORD_ALIGN)
		return REFUSE(BAD_PARAMETER, record);
	if (guest_load32(fn, made.record + RECORD_INDEX, &index))
		return REFUSE(BAD_ADDRESS, record);
#undef REFUSE
	if (!timer_reserve(fn->nic, 1))
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	eq = table_insert_copy(&fn->eqs, made.eqn, &made, sizeof(made));
	if (!eq) {
		timer_release(fn->nic, 1);
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	}
	list_init(&eq->written);
	timer_init(&eq->retry, retry);
	fn->vector_used[eq->vector] = true;
	return TERN_COMMAND_STATUS_OK;
}

static void eq_free(struct eq *eq)
{
	struct function *fn = eq->fn;

	fn->vector_used[eq->vector] = false;
	list_remove(&eq->written);
	timer_cancel(fn->nic, &eq->retry);
	timer_release(fn->nic, 1);
	table_remove(&fn->eqs, eq->eqn);
	free(eq->backlog);
	free(eq);
}

uint16_t eq_destroy_command(struct command *command)
{
	struct eq *eq = table_get(&command->fn->eqs, command->number);

	if (command->number >= EQ_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (!eq)
		return command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	if (eq->users)
		return command_refuse_number(command, TERN_COMMAND_STATUS_IN_USE);
	eq_free(eq);
	return TERN_COMMAND_STATUS_OK;
}

void eqs_reset(struct function *fn)
{
	struct eq *eq;
	uint32_t number = 0;

	while ((eq = table_next(&fn->eqs, number, &number)))
		eq_free(eq);
}
