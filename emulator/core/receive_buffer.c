// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the port's receive buffers. */
#include "receive_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "flow_control.h"
#include "nic.h"

void receive_buffers_init(struct receive_buffers *buffers, size_t total)
{
	for (unsigned int i = 0; i < TERN_RECEIVE_BUFFERS; i++) {
		list_init(&buffers->buffer[i].frames);
		buffers->buffer[i].used = 0;
	}
	buffers->nonempty = 0;
	buffers->last = 0;
	buffers->total = total;
	receive_buffers_reset(buffers);
}

void receive_buffers_reset(struct receive_buffers *buffers)
{
	for (unsigned int i = 0; i < TERN_RECEIVE_BUFFERS; i++) {
		struct receive_buffer *buffer = &buffers->buffer[i];

		buffer->bytes = i ? 0 : buffers->total;
		buffer->xoff = 0;
		buffer->xon = 0;
		buffer->peak = buffer->used;
	}
	memset(buffers->buffer_of, 0, sizeof(buffers->buffer_of));
	buffers->above = 0;
}

static void look_at_fill(struct receive_buffers *buffers, unsigned int number)
{
	const struct receive_buffer *buffer = &buffers->buffer[number];
	uint8_t bit = (uint8_t)(1U << number);

	if (buffer->xoff && buffer->used > buffer->xoff)
		buffers->above |= bit;
	else if (!buffer->xoff || buffer->used <= buffer->xon)
		buffers->above &= (uint8_t)~bit;
}

bool receive_buffers_put(struct receive_buffers *buffers, const struct tern_frame *frame,
			 uint8_t priority)
{
	uint8_t number = buffers->buffer_of[priority];
	struct receive_buffer *buffer = &buffers->buffer[number];
	size_t length = tern_frame_length(frame);
	struct buffered_frame *buffered;

	if (buffer->used + length > buffer->bytes)
		return false;
	buffered = malloc(sizeof(*buffered) + length);
	if (!buffered)
		return false;
	buffered->length = tern_frame_flatten(frame, buffered->bytes, length);
	buffered->priority = priority;
	buffer->used += length;
	if (buffer->used > buffer->peak)
		buffer->peak = buffer->used;
	list_add_tail(&buffer->frames, &buffered->link);
	buffers->nonempty |= (uint8_t)(1U << number);
	look_at_fill(buffers, number);
	/* cppcheck-suppress memleak ; it is on the list */
	return true;
}

struct buffered_frame *receive_buffers_take(struct receive_buffers *buffers)
{
	struct buffered_frame *buffered;
	struct receive_buffer *buffer;
	unsigned int number = buffers->last;

	if (!buffers->nonempty)
		return NULL;
	do {
		number = (number + 1) % TERN_RECEIVE_BUFFERS;
	} while (!(buffers->nonempty & 1U << number));
	buffers->last = (uint8_t)number;
	buffer = &buffers->buffer[number];
	buffered = list_entry(list_pop(&buffer->frames), struct buffered_frame, link);
	buffer->used -= buffered->length;
	if (list_empty(&buffer->frames))
		buffers->nonempty &= (uint8_t)~(1U << number);
	look_at_fill(buffers, number);
	return buffered;
}

void receive_buffers_free(struct receive_buffers *buffers)
{
	struct buffered_frame *buffered;

	while ((buffered = receive_buffers_take(buffers)) != NULL)
		free(buffered);
}

typedef struct tern_command_set_receive_buffers body_type;

static uint16_t refuse(struct command *command, size_t offset)
{
	return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				 sizeof_command_header + offset);
}

/* @offset: of the buffer in the body. */
static uint16_t check_buffer(struct command *command, const struct tern_receive_buffer *buffer,
			     size_t offset, uint64_t room)
{
	uint32_t bytes = from_le32(buffer->bytes);
	uint32_t xoff = from_le32(buffer->xoff), xon = from_le32(buffer->xon);

	if (bytes > room)
		return refuse(command, offset + offsetof(struct tern_receive_buffer, bytes));
	if (xoff && xoff >= bytes)
		return refuse(command, offset + offsetof(struct tern_receive_buffer, xoff));
	if (xon > xoff || (xoff && !xon))
		return refuse(command, offset + offsetof(struct tern_receive_buffer, xon));
	if (buffer->reserved0)
		return refuse(command, offset + offsetof(struct tern_receive_buffer, reserved0));
	return TERN_COMMAND_STATUS_OK;
}

static uint16_t check(struct command *command, const body_type *body, uint64_t room)
{
	if (!command_reserved(command, body_type, reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		if (body->buffer_of[i] >= TERN_RECEIVE_BUFFERS ||
		    !body->buffer[body->buffer_of[i]].bytes)
			return refuse(command, offsetof(body_type, buffer_of) + i);
	}
	for (unsigned int i = 0; i < TERN_RECEIVE_BUFFERS; i++) {
		size_t offset = offsetof(body_type, buffer) + i * sizeof(body->buffer[0]);
		uint16_t status = check_buffer(command, &body->buffer[i], offset, room);

		if (status)
			return status;
		room -= from_le32(body->buffer[i].bytes);
	}
	return TERN_COMMAND_STATUS_OK;
}

uint16_t set_receive_buffers_command(struct command *command)
{
	const body_type *body = (const void *)command->body;
	struct tern_nic *nic = command->fn->nic;
	struct receive_buffers *buffers = &nic->priorities.buffers;
	uint16_t status;

	if (!priorities_permitted(command))
		return TERN_COMMAND_STATUS_NOT_PERMITTED;
	status = check(command, body, buffers->total);
	if (status)
		return status;
	memcpy(buffers->buffer_of, body->buffer_of, sizeof(buffers->buffer_of));
	for (unsigned int i = 0; i < TERN_RECEIVE_BUFFERS; i++) {
		buffers->buffer[i].bytes = from_le32(body->buffer[i].bytes);
		buffers->buffer[i].xoff = from_le32(body->buffer[i].xoff);
		buffers->buffer[i].xon = from_le32(body->buffer[i].xon);
		look_at_fill(buffers, i);
	}
	flow_control_filled(nic);
	return TERN_COMMAND_STATUS_OK;
}
