/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the port's receive buffers: frames that wait to be received, flattened,
 * each in the buffer of its priority, bounded in bytes.
 */
#ifndef TERN_RECEIVE_BUFFER_H
#define TERN_RECEIVE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "list.h"
#include "tern_hw_priority.h"

struct command;
struct tern_frame;

struct buffered_frame {
	struct list link;
	size_t length;
	uint8_t priority;
	uint8_t bytes[];
};

struct receive_buffer {
	struct list frames;
	size_t used, bytes;
	size_t xoff, xon;		/* 0: none */
	uint64_t peak;
};

struct receive_buffers {
	struct receive_buffer buffer[TERN_RECEIVE_BUFFERS];
	uint8_t buffer_of[TERN_PRIORITIES];
	uint8_t nonempty;		/* bit b: frames stand in buffer b */
	uint8_t above;			/* bit b: it was filled above xoff and is not yet at xon */
	uint8_t last;			/* the buffer that was served last */
	size_t total;			/* bytes of all together */
};

void receive_buffers_init(struct receive_buffers *buffers, size_t total);
/* What holds after the PF's reset; what stands in them stays. */
void receive_buffers_reset(struct receive_buffers *buffers);
/* A copy; false when there is no room for it. */
bool receive_buffers_put(struct receive_buffers *buffers, const struct tern_frame *frame,
			 uint8_t priority);
/* The oldest of the buffer whose turn it is, the caller's to free(); NULL: all are empty. */
struct buffered_frame *receive_buffers_take(struct receive_buffers *buffers);
void receive_buffers_free(struct receive_buffers *buffers);

uint16_t set_receive_buffers_command(struct command *command);

#endif /* TERN_RECEIVE_BUFFER_H */
