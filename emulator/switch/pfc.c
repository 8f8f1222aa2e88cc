// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the switch's flow control: PAUSE (802.3 annex 31B) and priority-based
 * flow control (802.1Qbb, 802.3 annex 31D), received and sent.
 *
 * A port obeys PFC for lossless priorities, and PAUSE when there are none: a
 * link has one or the other.
 */
#include <string.h>

#include "switch.h"

#define OPCODE_PAUSE	0x0001
#define OPCODE_PFC	0x0101
#define QUANTUM_BITS	512
#define QUANTA_MAX	0xffff
#define UNPACED_MBPS	400000
#define PFC_BYTES	60		/* a MAC control frame is of the shortest length */

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* In nanoseconds at the port's rate; a port without one is taken for one of 400 Gb/s. */
static uint64_t pause_time(const struct tern_switch *sw, unsigned int number, unsigned int quanta)
{
	uint64_t mbps = sw->config.port[number].speed_mbps;

	return (uint64_t)quanta * QUANTUM_BITS * 1000 / (mbps ? mbps : UNPACED_MBPS);
}

static void resume(struct switch_port *port, unsigned int priority, uint64_t at)
{
	struct switch_queue *queue = &port->queue[priority];

	if (!(port->paused >> priority & 1))
		return;
	port->paused &= (uint8_t)~(1u << priority);
	port->statistics.priority[priority].paused_ns += at - queue->paused_since;
	queue->paused_until = 0;
}

static void pause_queue(struct tern_switch *sw, unsigned int number, unsigned int priority,
			uint16_t quanta, uint64_t now)
{
	struct switch_port *port = &sw->port[number];
	struct switch_queue *queue = &port->queue[priority];

	if (!quanta) {
		port->statistics.priority[priority].xons_received++;
		resume(port, priority, now);
		return;
	}
	port->statistics.priority[priority].pauses_received++;
	if (!(port->paused >> priority & 1))
		queue->paused_since = now;
	port->paused |= (uint8_t)(1u << priority);
	queue->paused_until = now + pause_time(sw, number, quanta);
}

void switch_pfc_receive(struct tern_switch *sw, unsigned int number, const uint8_t *frame,
			size_t length, uint64_t now)
{
	struct switch_port *port = &sw->port[number];
	uint16_t opcode = length >= 18 ? get16(frame + 14) : 0;
	uint8_t mask = sw->config.pfc_priorities;

	port->statistics.control++;
	switch_pfc_expire(sw, number, now);
	if (opcode == OPCODE_PAUSE) {
		port->statistics.pause_frames_received++;
		for (unsigned int p = 0; p < PRIORITIES && !mask; p++)
			pause_queue(sw, number, p, get16(frame + 16), now);
	} else if (opcode == OPCODE_PFC && length >= 34) {
		port->statistics.pause_frames_received++;
		mask &= frame[17];
		for (; mask; mask &= (uint8_t)(mask - 1)) {
			unsigned int p = first_bit(mask);

			pause_queue(sw, number, p, get16(frame + 18 + 2 * p), now);
		}
	} else {
		port->statistics.bad_control++;
	}
}

void switch_pfc_expire(struct tern_switch *sw, unsigned int number, uint64_t now)
{
	struct switch_port *port = &sw->port[number];

	for (uint8_t mask = port->paused; mask; mask &= (uint8_t)(mask - 1)) {
		unsigned int p = first_bit(mask);

		if (port->queue[p].paused_until <= now)
			resume(port, p, port->queue[p].paused_until);
	}
}

uint64_t switch_pfc_next(const struct tern_switch *sw, unsigned int number)
{
	const struct switch_port *port = &sw->port[number];
	uint64_t next = NEVER;

	for (uint8_t mask = port->paused & port->backlog; mask; mask &= (uint8_t)(mask - 1)) {
		uint64_t until = port->queue[first_bit(mask)].paused_until;

		if (until < next)
			next = until;
	}
	return next;
}

void switch_pfc_xoff(struct tern_switch *sw, unsigned int number, unsigned int priority,
		     bool xoff, uint64_t now)
{
	struct switch_port *port = &sw->port[number];
	uint8_t bit = (uint8_t)(1u << priority);

	if (port->queue[priority].xoff == xoff)
		return;
	port->queue[priority].xoff = xoff;
	port->xoff = xoff ? port->xoff | bit : port->xoff & (uint8_t)~bit;
	/* Of an XOFF that is taken back before it was sent the peer still hears. */
	port->tell |= bit;
	switch_egress_kick(sw, number, now);
}

struct switch_entry *switch_pfc_entry(struct tern_switch *sw, unsigned int number, uint64_t now)
{
	struct switch_port *port = &sw->port[number];
	struct switch_entry *entry;

	/* Before the pause that the peer has runs out it gets another. */
	if (port->refresh <= now)
		port->tell |= port->xoff;
	if (!port->tell)
		return NULL;
	entry = switch_entry_get(sw, true);
	if (!entry)
		return NULL;
	entry->length = PFC_BYTES;
	entry->vector = port->tell;
	for (uint8_t mask = port->tell; mask; mask &= (uint8_t)(mask - 1)) {
		unsigned int p = first_bit(mask);

		if (port->xoff >> p & 1) {
			entry->quanta[p] = QUANTA_MAX;
			port->statistics.priority[p].pauses_sent++;
		} else {
			port->statistics.priority[p].xons_sent++;
		}
	}
	port->tell = 0;
	port->statistics.pause_frames_sent++;
	port->refresh = NEVER;
	if (port->xoff)
		port->refresh = now + pause_time(sw, number, QUANTA_MAX / 2);
	return entry;
}

size_t switch_pfc_build(const struct switch_entry *entry, unsigned int port, uint8_t *frame)
{
	static const uint8_t head[] = {
		0x01, 0x80, 0xc2, 0x00, 0x00, 0x01,	/* the MAC control group */
		0x02, 0x54, 0x53, 0x57, 0x00, 0x00,	/* the switch's port */
		0x88, 0x08, 0x01, 0x01, 0x00,
	};

	memset(frame, 0, PFC_BYTES);
	memcpy(frame, head, sizeof(head));
	frame[11] = (uint8_t)port;
	frame[17] = entry->vector;
	for (unsigned int p = 0; p < PRIORITIES; p++) {
		frame[18 + 2 * p] = (uint8_t)(entry->quanta[p] >> 8);
		frame[19 + 2 * p] = (uint8_t)entry->quanta[p];
	}
	return PFC_BYTES;
}

void switch_pfc_reset(struct tern_switch *sw, unsigned int number, uint64_t now)
{
	struct switch_port *port = &sw->port[number];

	switch_pfc_expire(sw, number, now);
	for (unsigned int p = 0; p < PRIORITIES; p++)
		resume(port, p, now);
	/* A peer that comes back has forgotten its pauses. */
	port->tell = port->xoff;
	port->refresh = NEVER;
}
