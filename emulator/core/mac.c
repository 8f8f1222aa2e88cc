// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the MAC: modelled speed, misbehaviour, the way out to the wire.
 *
 * Speed: a pacer, of what frames take on the wire. Frames that waited for it
 * catch up when the host calls late. Frames that were not there, or waited for
 * something else, a pause say, do not: no wire has a burst for them.
 */
#include "mac.h"

#include <stdlib.h>
#include <string.h>

#include "ethernet.h"
#include "impair.h"
#include "ingress.h"
#include "nic.h"
#include "pacer.h"

#define SPEED_UNPACED		400000
#define RECEIVE_BUFFER_DEFAULT	(1024 * 1024)

/* Frames that are delayed or reordered; more than these leave at once, counted. */
#define HELD_MAX		1024
/* A frame to be reordered leaves alone when no other follows in this time. */
#define REORDER_WAIT_NS		1000000

struct held_frame {
	struct list link;		/* in mac.held, by due; in order of arrival if equal */
	uint64_t due;
	size_t length;
	uint8_t priority;
	uint8_t bytes[];
};

struct mac {
	struct pacer wire;
	bool awaited;			/* frames wait for the wire, and for nothing else */
	struct timer resume;
	bool carrier;
	bool flatten;			/* no shortcuts */
	uint64_t frames_sent;
	struct impair impair;
	struct list held;
	unsigned int held_count;
	struct held_frame *reordered;	/* waits for the next frame; in held too, by its wait */
	struct timer release;
	struct mac_counters counters;
	struct pacer host;		/* received frames to host memory */
	struct timer drain;
	uint8_t flat[FRAME_BYTES_MAX];
};

static void resume_fire(struct tern_nic *nic, struct timer *timer)
{
	(void)timer;
	egress_run(nic, EGRESS_BURST);
}

/* More than a burst at once is left to tern_nic_run(). */
static void drain_fire(struct tern_nic *nic, struct timer *timer)
{
	(void)timer;
	mac_drain_receive_buffer(nic, EGRESS_BURST);
}

static void put_on_wire(struct tern_nic *nic, const struct tern_frame *frame)
{
	struct mac *mac = nic->mac;
	bool padded = tern_frame_length(frame) < MAC_FRAME_MIN;
	struct tern_frame flat;
	size_t length;

	if (padded || (mac->flatten && (frame->payload_count || frame->trailer_length))) {
		length = tern_frame_flatten(frame, mac->flat, sizeof(mac->flat));
		if (padded) {
			memset(mac->flat + length, 0, MAC_FRAME_MIN - length);
			length = MAC_FRAME_MIN;
		}
		tern_frame_wrap(&flat, mac->flat, length);
		flat.priority = frame->priority;
		frame = &flat;
	}
	nic->ops->transmit(nic->host, frame);
}

static void arm_release(struct tern_nic *nic)
{
	struct mac *mac = nic->mac;

	if (list_empty(&mac->held))
		timer_cancel(nic, &mac->release);
	else
		timer_arm(nic, &mac->release,
			  list_entry(mac->held.next, struct held_frame, link)->due);
}

/* Send a held frame and free it. */
static void let_go(struct tern_nic *nic, struct held_frame *held)
{
	struct mac *mac = nic->mac;
	struct tern_frame frame;

	list_remove(&held->link);
	mac->held_count--;
	if (mac->reordered == held)
		mac->reordered = NULL;
	if (mac->carrier) {
		tern_frame_wrap(&frame, held->bytes, held->length);
		frame.priority = held->priority;
		put_on_wire(nic, &frame);
	} else {
		mac->counters.dropped_port_down++;
	}
	free(held);
}

static void release_fire(struct tern_nic *nic, struct timer *timer)
{
	struct mac *mac = nic->mac;
	uint64_t now = nic_now(nic);

	(void)timer;
	while (!list_empty(&mac->held)) {
		struct held_frame *held = list_entry(mac->held.next, struct held_frame, link);

		if (held->due > now)
			break;
		let_go(nic, held);
	}
	arm_release(nic);
}

/* NULL, counted, when there are too many already: then the frame is not held. */
static struct held_frame *hold(struct tern_nic *nic, const struct tern_frame *frame, uint64_t due)
{
	struct mac *mac = nic->mac;
	size_t length = tern_frame_length(frame);
	struct held_frame *held = NULL;
	struct list *before;

	if (mac->held_count < HELD_MAX)
		held = malloc(sizeof(*held) + length);
	if (!held) {
		mac->counters.hold_overflow++;
		return NULL;
	}
	held->due = due;
	held->length = tern_frame_flatten(frame, held->bytes, length);
	held->priority = frame->priority;
	before = mac->held.prev;
	while (before != &mac->held && list_entry(before, struct held_frame, link)->due > due)
		before = before->prev;
	list_add_head(before, &held->link);
	mac->held_count++;
	arm_release(nic);
	return held;
}

static void transmit_impaired(struct tern_nic *nic, const struct tern_frame *frame)
{
	struct mac *mac = nic->mac;
	struct held_frame *waiting = mac->reordered;
	unsigned int copies = 1;
	struct impair_verdict verdict;
	uint8_t changed[FRAME_BYTES_MAX];
	struct tern_frame flat;
	size_t length;

	impair_judge(&mac->impair, frame, &verdict);
	if (verdict.kinds & (1U << TERN_WIRE_DROP))
		return;
	if (verdict.kinds & (1U << TERN_WIRE_CORRUPT | 1U << TERN_WIRE_MARK_CE)) {
		length = tern_frame_flatten(frame, changed, sizeof(changed));
		if (verdict.kinds & (1U << TERN_WIRE_MARK_CE))
			impair_mark_ce(changed, length);
		if (verdict.kinds & (1U << TERN_WIRE_CORRUPT))
			impair_corrupt(&mac->impair, changed, length);
		tern_frame_wrap(&flat, changed, length);
		flat.priority = frame->priority;
		frame = &flat;
	}
	if (verdict.kinds & (1U << TERN_WIRE_DUPLICATE))
		copies = 2;
	while (copies--) {
		uint64_t now = nic_now(nic);

		if ((verdict.kinds & (1U << TERN_WIRE_DELAY)) &&
		    hold(nic, frame, now + verdict.delay_ns))
			continue;
		/* One at a time: the next one that is hit lets the first go by leaving itself. */
		if ((verdict.kinds & (1U << TERN_WIRE_REORDER)) && !mac->reordered) {
			mac->reordered = hold(nic, frame, now + REORDER_WAIT_NS);
			if (mac->reordered)
				continue;
		}
		put_on_wire(nic, frame);
		if (waiting && waiting == mac->reordered) {
			let_go(nic, waiting);
			arm_release(nic);
		}
	}
}

static void to_wire(struct tern_nic *nic, const struct tern_frame *frame)
{
	struct mac *mac = nic->mac;

	if (mac->impair.count || mac->reordered)
		transmit_impaired(nic, frame);
	else
		put_on_wire(nic, frame);
}

static void count(struct function *fn, const struct tern_frame *frame, size_t length)
{
	fn->port.tx_packets++;
	fn->port.tx_bytes += length;
	if (frame->header[0] & 1) {
		if (memcmp(frame->header, "\xff\xff\xff\xff\xff\xff", 6) == 0)
			fn->port.tx_broadcast++;
		else
			fn->port.tx_multicast++;
	}
}

static void take_wire(struct tern_nic *nic, size_t bytes)
{
	struct mac *mac = nic->mac;

	if (!mac->awaited)
		pacer_begin(&mac->wire, nic_now(nic));
	pacer_take(&mac->wire, nic_now(nic), bytes);
}

void mac_send(struct tern_nic *nic, struct function *fn, const struct tern_frame *frame)
{
	struct priority_counters *counters = &nic->priorities.counters[frame->priority];
	struct mac *mac = nic->mac;
	size_t length = tern_frame_length(frame);
	size_t taken = (length < MAC_FRAME_MIN ? MAC_FRAME_MIN : length) + MAC_OVERHEAD;

	mac->frames_sent++;
	egress_share(nic, frame->priority, taken);
	if (!fn->ethernet->admin_up) {
		mac->counters.dropped_port_down++;
		return;
	}
	count(fn, frame, length);
	ingress_sniff(fn, frame);
	if (ingress_loopback(nic, fn, frame))
		return;
	if (nic->egress.drops & 1U << frame->priority) {
		counters->tx_storm_drops++;
		return;
	}
	take_wire(nic, taken);
	egress_rate(nic, frame->priority, taken);
	if (!mac->carrier) {
		mac->counters.dropped_port_down++;
		return;
	}
	counters->tx_packets++;
	counters->tx_bytes += length;
	to_wire(nic, frame);
}

void mac_send_control(struct tern_nic *nic, const struct tern_frame *frame)
{
	take_wire(nic, tern_frame_length(frame) + MAC_OVERHEAD);
	to_wire(nic, frame);
}

bool mac_ready(struct tern_nic *nic)
{
	struct mac *mac = nic->mac;

	if (!mac->wire.mbps || pacer_ready(&mac->wire, nic_now(nic)))
		return true;
	mac->awaited = true;
	timer_arm(nic, &mac->resume, mac->wire.busy_until);
	return false;
}

void mac_idle(struct tern_nic *nic)
{
	nic->mac->awaited = false;
}

uint64_t mac_frames_sent(const struct tern_nic *nic)
{
	return nic->mac->frames_sent;
}

bool mac_carrier(const struct tern_nic *nic)
{
	return nic->mac->carrier;
}

uint32_t mac_speed_mbps(const struct tern_nic *nic)
{
	uint64_t speed = nic->mac->wire.mbps;

	if (!speed)
		return SPEED_UNPACED;
	return speed < UINT32_MAX ? (uint32_t)speed : UINT32_MAX;
}

bool mac_host_ready(struct tern_nic *nic)
{
	struct mac *mac = nic->mac;

	if (!mac->host.mbps || pacer_ready(&mac->host, nic_now(nic)))
		return true;
	timer_arm(nic, &mac->drain, mac->host.busy_until);
	return false;
}

void mac_host_take(struct tern_nic *nic, size_t length)
{
	if (nic->mac->host.mbps)
		pacer_take(&nic->mac->host, nic_now(nic), length);
}

void mac_count_received_down(struct tern_nic *nic)
{
	nic->mac->counters.received_port_down++;
}

const struct mac_counters *mac_counters(const struct tern_nic *nic)
{
	struct mac *mac = nic->mac;

	memcpy(mac->counters.rule_hits, mac->impair.hits, sizeof(mac->counters.rule_hits));
	return &mac->counters;
}

struct mac *mac_create(struct tern_nic *nic, const struct tern_nic_config *config)
{
	struct mac *mac;

	if (!timer_reserve(nic, 3))
		return NULL;
	mac = calloc(1, sizeof(*mac));
	if (!mac) {
		timer_release(nic, 3);
		return NULL;
	}
	mac->wire.mbps = config->speed_mbps;
	mac->host.mbps = config->host_mbps;
	mac->flatten = config->no_shortcuts;
	timer_init(&mac->resume, resume_fire);
	timer_init(&mac->release, release_fire);
	timer_init(&mac->drain, drain_fire);
	list_init(&mac->held);
	impair_seed(&mac->impair, config->seed);
	receive_buffers_init(&nic->priorities.buffers, config->receive_buffer ?
			     config->receive_buffer : RECEIVE_BUFFER_DEFAULT);
	return mac;
}

void mac_destroy(struct tern_nic *nic, struct mac *mac)
{
	struct list *link;

	if (!mac)
		return;
	timer_cancel(nic, &mac->resume);
	timer_cancel(nic, &mac->release);
	timer_cancel(nic, &mac->drain);
	timer_release(nic, 3);
	while ((link = list_pop(&mac->held)) != NULL)
		free(list_entry(link, struct held_frame, link));
	receive_buffers_free(&nic->priorities.buffers);
	free(mac);
}

void tern_nic_set_carrier(struct tern_nic *nic, bool up)
{
	nic_enter(nic);
	if (nic->mac->carrier != up) {
		nic->mac->carrier = up;
		flow_control_carrier(nic);
		for (unsigned int i = 0; i < nic->function_count; i++)
			port_report(&nic->functions[i]);
	}
	nic_leave(nic);
}

int tern_nic_add_wire_rule(struct tern_nic *nic, const struct tern_wire_rule *rule)
{
	return impair_add(&nic->mac->impair, rule);
}

int tern_nic_remove_wire_rule(struct tern_nic *nic, int number)
{
	return impair_remove(&nic->mac->impair, number);
}

void tern_nic_reseed(struct tern_nic *nic, uint64_t seed)
{
	impair_seed(&nic->mac->impair, seed);
}

void tern_nic_set_shortcuts(struct tern_nic *nic, bool on)
{
	nic->mac->flatten = !on;
}
