// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the switch's egress: a queue per priority, strict and ETS scheduling
 * (802.1Qaz), the port's rate, and the link behind it with its delay and its
 * misbehaviour.
 */
#include <string.h>

#include "switch.h"

/* Of a byte at weight 1; weights divide it. */
#define VIRTUAL_UNIT	65536

static uint64_t sending_time(struct tern_switch *sw, unsigned int number, uint32_t length)
{
	uint64_t mbps = sw->config.port[number].speed_mbps, scaled, ns;

	if (!mbps)
		return 0;
	if (length < WIRE_MIN)
		length = WIRE_MIN;
	/* What does not make a nanosecond is not lost. */
	scaled = (uint64_t)(length + WIRE_OVERHEAD) * 8 * 1000 + sw->port[number].remainder;
	ns = scaled / mbps;
	sw->port[number].remainder = scaled % mbps;
	return ns;
}

void switch_egress_sent(struct tern_switch *sw, struct switch_frame *held, uint64_t now)
{
	if (!--held->unsent)
		switch_buffer_release(sw, held, now);
}

/* Lossless priorities are bounded where they come in. */
static bool over_limit(const struct tern_switch *sw, const struct switch_frame *held,
		       uint64_t depth)
{
	return !(sw->config.pfc_priorities >> held->priority & 1) &&
	       depth + held->charge > switch_buffer_limit(sw, held->priority);
}

void switch_egress_queue(struct tern_switch *sw, unsigned int number, struct switch_frame *held,
			 uint64_t now)
{
	struct switch_port *port = &sw->port[number];
	struct switch_queue *queue = &port->queue[held->priority];
	struct tern_switch_queue_statistics *statistics =
		&port->statistics.priority[held->priority];
	enum switch_verdict verdict = switch_marking(sw, number, held, now);
	struct switch_entry *entry = NULL;

	if (verdict == SWITCH_DROP) {
		statistics->wred_drops++;
		return;
	}
	if (!over_limit(sw, held, statistics->depth))
		entry = switch_entry_get(sw, false);
	if (!entry) {
		statistics->tx_drops++;
		return;
	}
	entry->frame = held;
	entry->priority = held->priority;
	entry->length = switch_wire_length(sw, number, held);
	entry->mark = verdict == SWITCH_MARK;
	if (entry->mark)
		statistics->marks++;
	held->references++;
	held->unsent++;
	if (queue->last)
		queue->last->next = entry;
	else
		queue->first = entry;
	queue->last = entry;
	port->backlog |= (uint8_t)(1u << held->priority);
	statistics->depth += held->charge;
	if (statistics->depth > statistics->depth_peak)
		statistics->depth_peak = statistics->depth;
	switch_egress_kick(sw, number, now);
}

static struct switch_entry *dequeue(struct switch_port *port, unsigned int priority,
				    uint64_t now)
{
	struct switch_queue *queue = &port->queue[priority];
	struct switch_entry *entry = queue->first;

	queue->first = entry->next;
	if (!queue->first) {
		queue->last = NULL;
		queue->idle_since = now;
		port->backlog &= (uint8_t)~(1u << priority);
	}
	entry->next = NULL;
	port->statistics.priority[priority].depth -= entry->frame->charge;
	return entry;
}

/*
 * Which queue sends: the highest strict one; else, of those with a share, the
 * one whose next frame starts first in virtual time (start-time fair queueing,
 * Goyal, Vin and Cheng 1996): exact shares, and none for being idle before.
 */
static int pick(struct tern_switch *sw, struct switch_port *port)
{
	uint64_t best_start = UINT64_MAX;
	int best = -1;

	for (unsigned int ready = port->backlog & ~port->paused; ready; ready &= ready - 1) {
		unsigned int p = first_bit(ready);
		uint64_t start = port->queue[p].finish;

		if (!sw->config.priorities[p].weight) {
			/* Strict, and higher than those before: it wins over all so far. */
			best = (int)p;
			best_start = 0;
			continue;
		}
		if (best >= 0 && !sw->config.priorities[best].weight)
			continue;
		if (start < port->virtual_time)
			start = port->virtual_time;
		if (start < best_start) {
			best = (int)p;
			best_start = start;
		}
	}
	if (best >= 0 && sw->config.priorities[best].weight) {
		port->virtual_time = best_start;
		port->queue[best].finish = best_start + port->queue[best].first->length *
			(uint64_t)VIRTUAL_UNIT / sw->config.priorities[best].weight;
	}
	return best;
}

/* In order of arrival; only what was delayed more than what follows is passed. */
static void put_on_wire(struct switch_port *port, struct switch_entry *entry)
{
	struct switch_entry *before = port->wire_last;

	while (before && before->due > entry->due)
		before = before->previous;
	entry->previous = before;
	entry->next = before ? before->next : port->wire_first;
	if (entry->next)
		entry->next->previous = entry;
	else
		port->wire_last = entry;
	if (before)
		before->next = entry;
	else
		port->wire_first = entry;
}

static struct switch_entry *take_from_wire(struct switch_port *port)
{
	struct switch_entry *entry = port->wire_first;

	port->wire_first = entry->next;
	if (port->wire_first)
		port->wire_first->previous = NULL;
	else
		port->wire_last = NULL;
	return entry;
}

static void forget(struct tern_switch *sw, struct switch_entry *entry)
{
	if (entry->frame)
		switch_frame_put(sw, entry->frame);
	switch_entry_put(sw, entry);
}

/* The link's misbehaviour; what is left of the frame goes onto it. */
static void leave(struct tern_switch *sw, unsigned int number, struct switch_entry *entry)
{
	const struct tern_switch_port_config *config = &sw->config.port[number];
	struct switch_port *port = &sw->port[number];
	struct switch_entry *twin = NULL;

	if (switch_chance(sw, config->drop)) {
		port->statistics.impaired_drop++;
		forget(sw, entry);
		return;
	}
	if (switch_chance(sw, config->duplicate))
		twin = switch_entry_get(sw, false);
	if (twin) {
		*twin = *entry;
		twin->frame->references++;
		port->statistics.impaired_duplicate++;
	}
	if (switch_chance(sw, config->corrupt)) {
		entry->corrupt = true;
		entry->corrupt_bit = (uint32_t)(switch_random(sw) % (entry->length * 8));
		port->statistics.impaired_corrupt++;
	}
	if (switch_chance(sw, config->delay)) {
		entry->due += config->extra_delay_ns;
		port->statistics.impaired_delay++;
	}
	put_on_wire(port, entry);
	if (twin)
		put_on_wire(port, twin);
}

static void start(struct tern_switch *sw, unsigned int number, uint64_t now)
{
	struct switch_port *port = &sw->port[number];
	struct switch_entry *entry = switch_pfc_entry(sw, number, now);
	int priority;

	if (!entry) {
		priority = pick(sw, port);
		if (priority < 0)
			return;
		entry = dequeue(port, (unsigned int)priority, now);
		port->statistics.priority[priority].tx_packets++;
		port->statistics.priority[priority].tx_bytes += entry->length;
	}
	port->busy = true;
	port->busy_until = now + sending_time(sw, number, entry->length);
	port->sending = entry->frame;
	entry->due = port->busy_until + sw->config.port[number].delay_ns;
	if (entry->frame) {
		entry->frame->references++;
		leave(sw, number, entry);
	} else {
		put_on_wire(port, entry);
	}
}

void switch_egress_schedule(struct tern_switch *sw, unsigned int number)
{
	struct switch_port *port = &sw->port[number];
	uint64_t next = port->busy ? port->busy_until : switch_pfc_next(sw, number);

	if (port->wire_first && port->wire_first->due < next)
		next = port->wire_first->due;
	if (!port->busy && port->xoff && port->refresh < next)
		next = port->refresh;
	port->next = next;
	if (next < sw->deadline && !sw->in_timer) {
		sw->deadline = next;
		sw->ops.set_timer(sw->host, next);
	}
}

void switch_egress_kick(struct tern_switch *sw, unsigned int number, uint64_t now)
{
	struct switch_port *port = &sw->port[number];

	if (port->busy || !(sw->carriers >> number & 1))
		return;
	switch_pfc_expire(sw, number, now);
	start(sw, number, now);
	switch_egress_schedule(sw, number);
}

static void sent(struct tern_switch *sw, struct switch_port *port, uint64_t now)
{
	struct switch_frame *held = port->sending;

	port->busy = false;
	port->sending = NULL;
	if (!held)
		return;
	switch_egress_sent(sw, held, now);
	switch_frame_put(sw, held);
}

static void transmit(struct tern_switch *sw, unsigned int number, struct switch_entry *entry)
{
	uint8_t saved[TAG_BYTES + EDITED_BYTES];
	struct switch_frame *held = entry->frame;
	struct tern_frame frame;
	size_t length;

	if (!held) {
		uint8_t pause[WIRE_MIN];

		length = switch_pfc_build(entry, number, pause);
		tern_frame_wrap(&frame, pause, length);
		sw->ops.transmit(sw->host, number, &frame);
		return;
	}
	frame = held->frame;
	/* Other ports may have the same frame without these changes. */
	memcpy(saved, held->room, sizeof(held->room));
	memcpy(saved + TAG_BYTES, held->data, EDITED_BYTES);
	if (entry->mark)
		switch_mark_ce(held->data + held->ip_offset);
	switch_vlan_egress(sw, number, held, &frame);
	if (entry->corrupt) {
		length = tern_frame_flatten(&frame, sw->scratch, sizeof(sw->scratch));
		sw->scratch[entry->corrupt_bit / 8 % length] ^=
			(uint8_t)(1u << entry->corrupt_bit % 8);
		tern_frame_wrap(&frame, sw->scratch, length);
	}
	sw->ops.transmit(sw->host, number, &frame);
	memcpy(held->room, saved, sizeof(held->room));
	memcpy(held->data, saved + TAG_BYTES, EDITED_BYTES);
}

void switch_egress_run(struct tern_switch *sw, unsigned int number, uint64_t now)
{
	struct switch_port *port = &sw->port[number];

	/* A late timer costs nothing of the rate: the next frame starts where the last ended. */
	while (port->busy && port->busy_until <= now) {
		uint64_t end = port->busy_until;

		sent(sw, port, now);
		if (port->busy)
			continue;
		switch_pfc_expire(sw, number, now);
		start(sw, number, end);
	}
	switch_egress_kick(sw, number, now);
	while (port->wire_first && port->wire_first->due <= now) {
		struct switch_entry *entry = take_from_wire(port);

		transmit(sw, number, entry);
		forget(sw, entry);
	}
	switch_egress_schedule(sw, number);
}

void switch_egress_flush(struct tern_switch *sw, unsigned int number, uint64_t now)
{
	struct switch_port *port = &sw->port[number];

	while (port->backlog) {
		unsigned int priority = first_bit(port->backlog);
		struct switch_entry *entry = dequeue(port, priority, now);

		port->statistics.priority[priority].tx_drops++;
		switch_egress_sent(sw, entry->frame, now);
		forget(sw, entry);
	}
	while (port->wire_first)
		forget(sw, take_from_wire(port));
	if (port->busy)
		sent(sw, port, now);
}
