// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: device memory. */
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "nic.h"
#include "tern_hw_device_memory.h"

bool device_memory_create(struct function *fn)
{
	struct device_memory *memory = &fn->device_memory;
	uint64_t size = fn->nic->config.device_memory;

	if (!size)
		return true;
	if (size & (size - 1) || size > SIZE_MAX)
		return false;
	memory->bytes = calloc(1, (size_t)size);
	if (!memory->bytes)
		return false;
	memory->size = size;
	return true;
}

void device_memory_destroy(struct function *fn)
{
	free(fn->device_memory.bytes);
	fn->device_memory.bytes = NULL;
}

/* Only what may have been written: most of it never is, and has no page of the host. */
void device_memory_reset(struct function *fn)
{
	struct device_memory *memory = &fn->device_memory;

	if (memory->used)
		memset(memory->bytes, 0, (size_t)memory->used);
	memory->used = 0;
}

static bool present(struct function *fn)
{
	if (fn->enabled && function_has(fn, FEATURE(DEVICE_MEMORY)))
		return true;
	fn->device.register_errors++;
	return false;
}

uint64_t device_memory_load(struct function *fn, uint64_t offset, unsigned int size)
{
	uint64_t value = 0;

	if (!present(fn))
		return 0;
	for (unsigned int i = size; i; i--)
		value = value << 8 | fn->device_memory.bytes[offset + i - 1];
	return value;
}

void device_memory_store(struct function *fn, uint64_t offset, uint64_t value, unsigned int size)
{
	if (!present(fn))
		return;
	device_memory_will_be_written(fn, offset, size);
	for (unsigned int i = 0; i < size; i++)
		fn->device_memory.bytes[offset + i] = (uint8_t)(value >> (8 * i));
}

void device_memory_will_be_written(struct function *fn, uint64_t offset, uint64_t length)
{
	if (length && offset + length > fn->device_memory.used)
		fn->device_memory.used = offset + length;
}

bool device_memory_holds(const struct function *fn, const void *mapped)
{
	uintptr_t start = (uintptr_t)fn->device_memory.bytes, at = (uintptr_t)mapped;

	return at >= start && at - start < fn->device_memory.size;
}

uint16_t device_memory_clear_command(struct command *command)
{
	const struct tern_command_clear_device_memory *body = (const void *)command->body;
	const struct device_memory *memory = &command->fn->device_memory;
	uint64_t offset = from_le64(body->offset), length = from_le64(body->length);

	if (offset > memory->size)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				      struct tern_command_clear_device_memory, offset);
	if (length > memory->size - offset)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				      struct tern_command_clear_device_memory, length);
	/* What was never written is zero. */
	if (offset + length > memory->used)
		length = memory->used > offset ? memory->used - offset : 0;
	if (length)
		memset(memory->bytes + offset, 0, (size_t)length);
	return TERN_COMMAND_STATUS_OK;
}
