// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the MAC's receive buffer. */
#include "receive_buffer.h"

#include <stdlib.h>

#include "tern_nic.h"

void receive_buffer_init(struct receive_buffer *buffer, size_t limit)
{
	list_init(&buffer->frames);
	buffer->used = 0;
	buffer->limit = limit;
}

bool receive_buffer_put(struct receive_buffer *buffer, const struct tern_frame *frame)
{
	size_t length = tern_frame_length(frame);
	struct buffered_frame *buffered;

	if (length > buffer->limit - buffer->used)
		return false;
	buffered = malloc(sizeof(*buffered) + length);
	if (!buffered)
		return false;
	buffered->length = tern_frame_flatten(frame, buffered->bytes, length);
	buffered->priority = frame->priority;
	buffer->used += length;
	list_add_tail(&buffer->frames, &buffered->link);
	/* cppcheck-suppress memleak ; it is on the list */
	return true;
}

struct buffered_frame *receive_buffer_take(struct receive_buffer *buffer)
{
	struct list *link = list_pop(&buffer->frames);
	struct buffered_frame *buffered;

	if (!link)
		return NULL;
	buffered = list_entry(link, struct buffered_frame, link);
	buffer->used -= buffered->length;
	return buffered;
}

void receive_buffer_free(struct receive_buffer *buffer)
{
	struct buffered_frame *buffered;

	while ((buffered = receive_buffer_take(buffer)) != NULL)
		free(buffered);
}
