// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: frames as tern_nic.h describes them. */
#include <string.h>

#include "icrc.h"
#include "tern_nic.h"

size_t tern_frame_length(const struct tern_frame *frame)
{
	return frame->header_length + frame->payload_length + frame->trailer_length;
}

size_t tern_frame_flatten(const struct tern_frame *frame, uint8_t *buffer, size_t size)
{
	size_t length = tern_frame_length(frame);
	uint8_t *at = buffer;

	if (length > size)
		return 0;
	memcpy(at, frame->header, frame->header_length);
	at += frame->header_length;
	for (unsigned int i = 0; i < frame->payload_count; i++) {
		memcpy(at, frame->payload[i].base, frame->payload[i].length);
		at += frame->payload[i].length;
	}
	memcpy(at, frame->trailer, frame->trailer_length);
	if (frame->icrc_pending) {
		struct tern_segment copied = {
			.base = buffer + frame->header_length,
			.length = frame->payload_length,
		};
		struct tern_frame whole = *frame;

		/*
		 * Over the copy, not the guest's memory: the guest may write
		 * to it meanwhile, and the ICRC must fit what is sent.
		 */
		whole.payload = &copied;
		whole.payload_count = copied.length ? 1 : 0;
		icrc_complete(at, &whole);
	}
	return length;
}

void tern_frame_wrap(struct tern_frame *frame, const uint8_t *buffer, size_t length)
{
	memset(frame, 0, sizeof(*frame));
	frame->header = buffer;
	frame->header_length = length;
	/* The tag's priority, for whoever queues by it. */
	if (length >= 16 && buffer[12] == 0x81 && buffer[13] == 0x00)
		frame->priority = buffer[14] >> 5;
}
