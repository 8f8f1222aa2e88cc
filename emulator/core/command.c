// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the command queue. */
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "memory.h"
#include "nic.h"

static uint32_t ring_size(const struct function *fn)
{
	return 1U << fn->command.shift;
}

bool command_zero(struct command *command, size_t offset, size_t length)
{
	for (size_t i = offset; i < offset + length; i++) {
		if (command->body[i]) {
			command_refuse_at(command, 0, sizeof_command_header + offset);
			return false;
		}
	}
	return true;
}

uint16_t command_answer(struct command *command, const void *answer, size_t length)
{
	const struct tern_command_query *query = (const void *)command->body;
	uint64_t address = from_le64(query->address);
	uint32_t room = from_le32(query->length);
	size_t bytes = length < room ? length : room;

	if (address % sizeof(uint64_t))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				      struct tern_command_query, address);
	if (guest_write(command->fn, address, answer, bytes))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_ADDRESS,
				      struct tern_command_query, address);
	command->result[0] = (uint32_t)bytes;
	return TERN_COMMAND_STATUS_OK;
}

static const struct command_entry *find(uint16_t opcode)
{
	static const struct command_entry *const tables[] = {
		control_commands, rdma_commands, ethernet_commands, priority_commands,
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct command_entry *entry = tables[i]; entry->handler; entry++) {
			if (entry->opcode == opcode)
				return entry;
		}
	}
	return NULL;
}

static uint16_t execute(struct command *command, uint32_t reserved)
{
	const struct command_entry *entry = find(command->opcode);

	if (!entry || (entry->features && !function_has(command->fn, entry->features)))
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_OPCODE,
					 offsetof(struct tern_command, opcode));
	if (command->flags & ~TERN_COMMAND_INTERRUPT)
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 offsetof(struct tern_command, flags));
	if (reserved)
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 offsetof(struct tern_command, reserved0));
	if (command->number && !entry->takes_number)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_PARAMETER);
	for (size_t i = entry->body_bytes; i < sizeof(command->body); i++) {
		if (command->body[i])
			return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
						 sizeof_command_header + i);
	}
	return entry->handler(command);
}

/* Fetch, execute and complete the command at the consumer index. */
static void run_one(struct function *fn)
{
	struct command_ring *ring = &fn->command;
	uint32_t place = ring->consumer & (ring_size(fn) - 1);
	struct tern_command raw;
	struct tern_command_completion completion = { .reserved0 = 0 };
	struct command command = { .fn = fn };
	uint16_t status;

	if (guest_read(fn, ring->commands + (uint64_t)place * sizeof(raw), &raw, sizeof(raw))) {
		function_fatal(fn, TERN_FATAL_DMA, ring->commands);
		return;
	}
	command.opcode = from_le16(raw.opcode);
	command.id = from_le16(raw.id);
	command.flags = from_le32(raw.flags);
	command.number = from_le32(raw.number);
	memcpy(command.body, raw.body, sizeof(command.body));
	status = execute(&command, from_le32(raw.reserved0));
	fn->device.commands++;
	if (status) {
		fn->device.commands_failed++;
		memset(command.result, 0, sizeof(command.result));
	} else {
		command.syndrome = 0;
	}
	for (unsigned int i = 0; i < sizeof(command.result) / sizeof(*command.result); i++)
		completion.result[i] = to_le32(command.result[i]);
	completion.id = to_le16(command.id);
	completion.status = to_le16(status);
	completion.syndrome = to_le32(command.syndrome);
	completion.phase = to_le32(~(ring->consumer >> ring->shift) & TERN_COMMAND_PHASE);
	ring->consumer++;
	if (guest_store_entry(fn, ring->completions + (uint64_t)place * sizeof(completion),
			      &completion, sizeof(completion))) {
		function_fatal(fn, TERN_FATAL_DMA, ring->completions);
		return;
	}
	if (command.flags & TERN_COMMAND_INTERRUPT) {
		fn->device.interrupts++;
		fn->nic->ops->interrupt(fn->nic->host, fn->index, ring->vector);
	}
}

void command_doorbell(struct function *fn, uint32_t producer)
{
	struct command_ring *ring = &fn->command;

	if (!fn->enabled) {
		fn->device.register_errors++;
		return;
	}
	if (producer - ring->consumer > ring_size(fn) ||
	    producer - ring->consumer < ring->producer - ring->consumer) {
		function_fatal(fn, TERN_FATAL_COMMAND_INDEX, producer);
		return;
	}
	ring->producer = producer;
	if (ring->producer != ring->consumer && !list_linked(&ring->pending))
		list_add_tail(&fn->nic->command_functions, &ring->pending);
}

bool commands_run(struct tern_nic *nic, unsigned int budget)
{
	struct list *link, waiting;
	bool any = false;

	list_init(&waiting);
	while (budget && (link = list_pop(&nic->command_functions))) {
		struct function *fn = list_entry(link, struct function, command.pending);

		/* Without bus mastering they wait, and no other function's with them. */
		if (!fn->bus_master) {
			list_add_tail(&waiting, link);
			continue;
		}
		for (; budget && fn->enabled && fn->command.consumer != fn->command.producer;
		     budget--)
			run_one(fn);
		any = true;
		if (fn->enabled && fn->command.consumer != fn->command.producer)
			list_add_tail(&nic->command_functions, link);
	}
	while ((link = list_pop(&waiting)))
		list_add_tail(&nic->command_functions, link);
	return any;
}
