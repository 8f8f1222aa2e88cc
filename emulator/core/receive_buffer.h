/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the MAC's receive buffer: frames that wait to be received, flattened, bounded in bytes. */
#ifndef TERN_RECEIVE_BUFFER_H
#define TERN_RECEIVE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "list.h"

struct tern_frame;

struct buffered_frame {
	struct list link;
	size_t length;
	uint8_t priority;
	uint8_t bytes[];
};

struct receive_buffer {
	struct list frames;
	size_t used, limit;		/* bytes of frames */
};

void receive_buffer_init(struct receive_buffer *buffer, size_t limit);
/* A copy; false when there is no room for it. */
bool receive_buffer_put(struct receive_buffer *buffer, const struct tern_frame *frame);
/* The oldest, the caller's to free(); NULL when empty. */
struct buffered_frame *receive_buffer_take(struct receive_buffer *buffer);
void receive_buffer_free(struct receive_buffer *buffer);

#endif /* TERN_RECEIVE_BUFFER_H */
