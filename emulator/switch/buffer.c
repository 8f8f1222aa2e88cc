// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the switch's packet buffer: the memory of frames, and the account of
 * what each ingress port and priority holds.
 *
 * The buffer is one shared pool and, for each port and lossless priority, a
 * headroom for what is still on its way when XOFF is sent. A frame is charged
 * once, to the port and priority that it came in with, until its last copy
 * has left. Thresholds are dynamic as in Choudhury and Hahne, "Dynamic Queue
 * Length Thresholds for Shared-Memory Packet Switches", or static.
 */
#include <stdlib.h>
#include <string.h>

#include "switch.h"

#define CONTROL_RESERVE	4096
/*
 * Above 1/8 (SONiC's dynamic_th of -3) PFC is unfair to many senders: those that are
 * resumed while nothing is free get a frame in, and are paused again.
 */
#define ALPHA_LOSSLESS	0.125
#define ALPHA_LOSSY	1.0

/* Memory comes in three sizes, is kept when free, and is bounded by what may be charged. */
static const uint32_t class_bytes[FRAME_CLASSES] = { 256, 2048, TERN_SWITCH_FRAME_MAX };

struct switch_frame *switch_frame_copy(struct tern_switch *sw, const struct tern_frame *frame)
{
	size_t length = tern_frame_length(frame), at;
	struct switch_frame *held;
	unsigned int size_class = 0;

	while (length > class_bytes[size_class])
		size_class++;
	held = sw->free_frames[size_class];
	if (held)
		sw->free_frames[size_class] = held->next_free;
	else
		held = malloc(sizeof(*held) + class_bytes[size_class]);
	if (!held)
		return NULL;
	held->references = 1;
	held->unsent = 0;
	held->size_class = (uint8_t)size_class;
	held->length = (uint32_t)length;
	held->charge = length < CHARGE_MIN ? CHARGE_MIN : (uint32_t)length;
	if (!frame->icrc_pending || frame->header_length < EDITED_BYTES) {
		tern_frame_flatten(frame, held->data, length);
		tern_frame_wrap(&held->frame, held->data, length);
		held->frame.priority = frame->priority;
		return held;
	}
	/* The parts stay parts, so that a pending ICRC stays pending: it may never be looked at. */
	memcpy(held->data, frame->header, frame->header_length);
	at = frame->header_length;
	for (unsigned int i = 0; i < frame->payload_count; i++) {
		memcpy(held->data + at, frame->payload[i].base, frame->payload[i].length);
		at += frame->payload[i].length;
	}
	held->frame = *frame;
	held->frame.header = held->data;
	held->segment.base = held->data + frame->header_length;
	held->segment.length = frame->payload_length;
	held->frame.payload = &held->segment;
	held->frame.payload_count = frame->payload_length ? 1 : 0;
	return held;
}

void switch_frame_put(struct tern_switch *sw, struct switch_frame *held)
{
	if (--held->references)
		return;
	held->next_free = sw->free_frames[held->size_class];
	sw->free_frames[held->size_class] = held;
}

struct switch_entry *switch_entry_get(struct tern_switch *sw, bool control)
{
	struct switch_entry *entry = sw->free_entries;

	if (sw->entries >= sw->entries_max + (control ? CONTROL_RESERVE : 0))
		return NULL;
	if (entry)
		sw->free_entries = entry->next;
	else
		entry = malloc(sizeof(*entry));
	if (!entry)
		return NULL;
	sw->entries++;
	memset(entry, 0, sizeof(*entry));
	return entry;
}

void switch_entry_put(struct tern_switch *sw, struct switch_entry *entry)
{
	entry->next = sw->free_entries;
	sw->free_entries = entry;
	sw->entries--;
}

void switch_buffer_destroy(struct tern_switch *sw)
{
	for (unsigned int i = 0; i < FRAME_CLASSES; i++) {
		while (sw->free_frames[i]) {
			struct switch_frame *held = sw->free_frames[i];

			sw->free_frames[i] = held->next_free;
			free(held);
		}
	}
	while (sw->free_entries) {
		struct switch_entry *entry = sw->free_entries;

		sw->free_entries = entry->next;
		free(entry);
	}
}

static bool lossless(const struct tern_switch *sw, unsigned int priority)
{
	return sw->config.pfc_priorities >> priority & 1;
}

static double alpha(const struct tern_switch *sw, unsigned int priority)
{
	if (sw->config.alpha > 0)
		return sw->config.alpha;
	return lossless(sw, priority) ? ALPHA_LOSSLESS : ALPHA_LOSSY;
}

uint64_t switch_buffer_limit(const struct tern_switch *sw, unsigned int priority)
{
	if (sw->config.xoff_bytes)
		return sw->config.xoff_bytes;
	return (uint64_t)(alpha(sw, priority) * (double)(sw->shared_size - sw->shared_used));
}

static void note_use(struct tern_switch *sw, struct switch_queue *queue,
		     struct tern_switch_queue_statistics *statistics)
{
	statistics->held = queue->shared + queue->headroom;
	if (statistics->held > statistics->held_peak)
		statistics->held_peak = statistics->held;
	if (sw->shared_used + sw->headroom_used > sw->used_peak)
		sw->used_peak = sw->shared_used + sw->headroom_used;
}

bool switch_buffer_admit(struct tern_switch *sw, struct switch_frame *held, uint64_t now)
{
	struct switch_port *port = &sw->port[held->in_port];
	struct switch_queue *queue = &port->queue[held->priority];
	bool fits = held->charge <= sw->shared_size - sw->shared_used;
	bool guarded = lossless(sw, held->priority);
	uint64_t limit = switch_buffer_limit(sw, held->priority);

	if (fits && (!guarded || queue->shared + held->charge <= limit)) {
		queue->shared += held->charge;
		sw->shared_used += held->charge;
		held->in_headroom = false;
	} else if (guarded && queue->headroom + held->charge <= sw->config.headroom_bytes) {
		queue->headroom += held->charge;
		sw->headroom_used += held->charge;
		held->in_headroom = true;
		switch_pfc_xoff(sw, held->in_port, held->priority, true, now);
	} else {
		port->statistics.priority[held->priority].rx_drops++;
		return false;
	}
	note_use(sw, queue, &port->statistics.priority[held->priority]);
	return true;
}

void switch_buffer_release(struct tern_switch *sw, struct switch_frame *held, uint64_t now)
{
	struct switch_port *port = &sw->port[held->in_port];
	struct switch_queue *queue = &port->queue[held->priority];

	if (held->in_headroom) {
		queue->headroom -= held->charge;
		sw->headroom_used -= held->charge;
	} else {
		queue->shared -= held->charge;
		sw->shared_used -= held->charge;
	}
	note_use(sw, queue, &port->statistics.priority[held->priority]);
	/*
	 * XON at half of what XOFF was sent at, so that there is not a pause
	 * for each frame. Who holds nothing may always send.
	 */
	if (queue->xoff && !queue->headroom &&
	    queue->shared <= switch_buffer_limit(sw, held->priority) / 2)
		switch_pfc_xoff(sw, held->in_port, held->priority, false, now);
}
