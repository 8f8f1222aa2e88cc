// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: flow control. */
#include "flow_control.h"

#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "eq.h"
#include "ethernet.h"
#include "mac.h"
#include "nic.h"
#include "parse.h"

#define ETHERTYPE_MAC_CONTROL	0x8808
#define OPCODE_PLACE		14
#define OPCODE_PAUSE		0x0001
#define OPCODE_PFC		0x0101
#define PAUSE_TIME_PLACE	16
#define PFC_VECTOR_PLACE	16
#define PFC_TIMES_PLACE		18
#define PFC_BYTES		(PFC_TIMES_PLACE + 2 * TERN_PRIORITIES)
#define PAUSE_BYTES		(PAUSE_TIME_PLACE + 2)
#define QUANTUM_BITS		512
#define QUANTA_MAX		0xffff
#define ALL_PRIORITIES		0xff
#define NS_PER_MS		UINT64_C(1000000)

static const uint8_t control_address[6] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

static struct flow_control *flow_of(struct tern_nic *nic)
{
	return &nic->priorities.flow;
}

/* Rounded up: no frame comes early. */
static uint64_t quanta_ns(const struct tern_nic *nic, uint32_t quanta)
{
	uint64_t mbps = mac_speed_mbps(nic);

	return (quanta * UINT64_C(1000) * QUANTUM_BITS + mbps - 1) / mbps;
}

static void put_u16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void send(struct tern_nic *nic, uint8_t *bytes, uint16_t opcode)
{
	struct tern_frame frame;

	memcpy(bytes, control_address, 6);
	memcpy(bytes + 6, nic->functions[0].ethernet->station_mac, 6);
	put_u16(bytes + 12, ETHERTYPE_MAC_CONTROL);
	put_u16(bytes + OPCODE_PLACE, opcode);
	tern_frame_wrap(&frame, bytes, MAC_FRAME_MIN);
	mac_send_control(nic, &frame);
}

static void send_pfc(struct tern_nic *nic, uint8_t stop, uint8_t release)
{
	uint8_t bytes[MAC_FRAME_MIN] = { 0 };

	put_u16(bytes + PFC_VECTOR_PLACE, stop | release);
	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		if (stop & 1U << i) {
			put_u16(bytes + PFC_TIMES_PLACE + 2 * i, QUANTA_MAX);
			nic->priorities.counters[i].tx_pause++;
		}
		if (release & 1U << i)
			nic->priorities.counters[i].tx_resume++;
	}
	send(nic, bytes, OPCODE_PFC);
}

static void send_pause(struct tern_nic *nic, uint16_t quanta)
{
	uint8_t bytes[MAC_FRAME_MIN] = { 0 };

	put_u16(bytes + PAUSE_TIME_PLACE, quanta);
	nic->priorities.tx_pause_frames++;
	send(nic, bytes, OPCODE_PAUSE);
}

static uint64_t restored(const struct flow_control *flow, unsigned int priority)
{
	uint64_t from = flow->last[priority];

	if (from < flow->storm_since[priority])
		from = flow->storm_since[priority];
	return from + flow->storm_restore_ns;
}

static void arm(struct tern_nic *nic)
{
	struct flow_control *flow = flow_of(nic);
	uint64_t due = TERN_NIC_NO_DEADLINE;

	if (flow->stopped || flow->all_stopped)
		due = flow->refresh;
	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		uint64_t next = TERN_NIC_NO_DEADLINE;

		if (flow->storms & 1U << i) {
			next = restored(flow, i);
		} else if (flow->paused & 1U << i) {
			next = flow->until[i];
			if (flow->storm_limit_ns && flow->since[i] + flow->storm_limit_ns < next)
				next = flow->since[i] + flow->storm_limit_ns;
		}
		if (next < due)
			due = next;
	}
	if (due == TERN_NIC_NO_DEADLINE)
		timer_cancel(nic, &flow->timer);
	else
		timer_arm(nic, &flow->timer, due);
}

void flow_control_settle(struct tern_nic *nic)
{
	struct flow_control *flow = flow_of(nic);
	uint64_t now = nic_now(nic);
	uint8_t waits = nic->egress.paused;
	uint8_t stopped = flow->all_stopped ? ALL_PRIORITIES : flow->stopped;

	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		struct priority_counters *counters = &nic->priorities.counters[i];

		if (waits & 1U << i)
			counters->tx_paused_ns += now - flow->ended[i];
		if (stopped & 1U << i)
			counters->rx_paused_ns += now - flow->stopped_since[i];
		if (waits & 1U << i)
			flow->ended[i] = now;
		flow->stopped_since[i] = now;
	}
}

/* What waits is what is paused, unless it has a storm. */
static void apply(struct tern_nic *nic)
{
	struct flow_control *flow = flow_of(nic);
	uint8_t waits = flow->paused & (uint8_t)~flow->storms;
	uint8_t begins = waits & (uint8_t)~nic->egress.paused;

	flow_control_settle(nic);
	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		if (begins & 1U << i)
			flow->ended[i] = nic_now(nic);
	}
	nic->egress.drops = flow->storm_action == TERN_STORM_DROP ? flow->storms : 0;
	egress_pause(nic, waits);
	arm(nic);
}

static void storm(struct tern_nic *nic, unsigned int priority, bool begins)
{
	struct flow_control *flow = flow_of(nic);
	uint8_t bit = (uint8_t)(1U << priority);

	if (begins) {
		flow->storms |= bit;
		flow->paused &= (uint8_t)~bit;
		flow->storm_since[priority] = nic_now(nic);
		nic->priorities.counters[priority].storms++;
	} else {
		flow->storms &= (uint8_t)~bit;
	}
	function_event(&nic->functions[0], TERN_EVENT_CONGESTION,
		       begins ? TERN_CONGESTION_STORM_BEGAN : TERN_CONGESTION_STORM_ENDED,
		       priority);
}

/* What is over, or long enough, by now. */
static void expire(struct tern_nic *nic)
{
	struct flow_control *flow = flow_of(nic);
	uint64_t now = nic_now(nic);

	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		uint8_t bit = (uint8_t)(1U << i);
		uint64_t limit = flow->since[i] + flow->storm_limit_ns;

		if (flow->storms & bit) {
			if (restored(flow, i) <= now)
				storm(nic, i, false);
		} else if (flow->paused & bit) {
			if (flow->storm_limit_ns && limit < flow->until[i] && limit <= now)
				storm(nic, i, true);
			else if (flow->until[i] <= now)
				flow->paused &= (uint8_t)~bit;
		}
	}
}

static void timer_fire(struct tern_nic *nic, struct timer *timer)
{
	struct flow_control *flow = flow_of(nic);

	(void)timer;
	expire(nic);
	if ((flow->stopped || flow->all_stopped) && flow->refresh <= nic_now(nic)) {
		flow->refresh = nic_now(nic) + quanta_ns(nic, QUANTA_MAX / 2);
		if (flow->stopped)
			send_pfc(nic, flow->stopped, 0);
		if (flow->all_stopped)
			send_pause(nic, QUANTA_MAX);
	}
	apply(nic);
	egress_run(nic, EGRESS_BURST);
}

bool flow_control_init(struct tern_nic *nic)
{
	timer_init(&flow_of(nic)->timer, timer_fire);
	return timer_reserve(nic, 1);
}

void flow_control_filled(struct tern_nic *nic)
{
	const struct receive_buffers *buffers = &nic->priorities.buffers;
	struct flow_control *flow = flow_of(nic);
	bool all = buffers->above && (flow->flags & TERN_FLOW_CONTROL_SEND_PAUSE);
	uint8_t stop = 0, on, off;
	bool up = mac_carrier(nic);

	flow->filled = false;
	for (unsigned int i = 0; buffers->above && i < TERN_PRIORITIES; i++) {
		if ((flow->pfc & 1U << i) && (buffers->above & 1U << buffers->buffer_of[i]))
			stop |= (uint8_t)(1U << i);
	}
	/* A peer that is not there is told when it comes. */
	if (!up) {
		stop = 0;
		all = false;
	}
	if (stop == flow->stopped && all == flow->all_stopped)
		return;
	flow_control_settle(nic);
	on = stop & (uint8_t)~flow->stopped;
	off = flow->stopped & (uint8_t)~stop;
	if (!flow->stopped && !flow->all_stopped)
		flow->refresh = nic_now(nic) + quanta_ns(nic, QUANTA_MAX / 2);
	flow->stopped = stop;
	if (up && (on || off))
		send_pfc(nic, on, off);
	if (up && all != flow->all_stopped)
		send_pause(nic, all ? QUANTA_MAX : 0);
	flow->all_stopped = all;
	arm(nic);
}

void flow_control_carrier(struct tern_nic *nic)
{
	if (!mac_carrier(nic))
		flow_of(nic)->paused = 0;
	apply(nic);
	flow_control_filled(nic);
}

uint64_t flow_control_paused_ns(struct tern_nic *nic, uint8_t priority)
{
	uint64_t ns = nic->priorities.counters[priority].tx_paused_ns;

	if (nic->egress.paused & 1U << priority)
		ns += nic_now(nic) - flow_of(nic)->ended[priority];
	return ns;
}

/* Behind a tag, too: it is nobody's, and no pause either (IEEE 802.3 31.4.1). */
bool flow_control_is(const struct tern_frame *frame)
{
	const uint8_t *header = frame->header;
	uint16_t ethertype;

	if (frame->header_length < PARSE_ETHERNET_BYTES)
		return false;
	ethertype = parse_u16(header + 12);
	if (ethertype == ETHERTYPE_VLAN &&
	    frame->header_length >= PARSE_ETHERNET_BYTES + PARSE_VLAN_BYTES)
		ethertype = parse_u16(header + 16);
	return ethertype == ETHERTYPE_MAC_CONTROL;
}

static void paused(struct tern_nic *nic, unsigned int priority, uint16_t quanta)
{
	struct flow_control *flow = flow_of(nic);
	uint8_t bit = (uint8_t)(1U << priority);
	uint64_t now = nic_now(nic);

	if (!quanta) {
		flow->paused &= (uint8_t)~bit;
		return;
	}
	flow->last[priority] = now;
	if (flow->storms & bit)
		return;
	/* What came too late to let a frame go is no gap. */
	if (!(nic->egress.paused & bit))
		flow->since[priority] = now;
	flow->paused |= bit;
	flow->until[priority] = now + quanta_ns(nic, quanta);
}

static bool for_us(const struct tern_nic *nic, const uint8_t *destination)
{
	return !memcmp(destination, control_address, 6) ||
	       !memcmp(destination, nic->functions[0].ethernet->station_mac, 6);
}

void flow_control_receive(struct tern_nic *nic, const uint8_t *bytes, size_t available)
{
	struct flow_control *flow = flow_of(nic);
	uint16_t opcode = 0;

	if (available >= PAUSE_BYTES && parse_u16(bytes + 12) == ETHERTYPE_MAC_CONTROL &&
	    for_us(nic, bytes))
		opcode = parse_u16(bytes + OPCODE_PLACE);
	if (opcode == OPCODE_PAUSE) {
		nic->priorities.rx_pause_frames++;
		if (!(flow->flags & TERN_FLOW_CONTROL_RECEIVE_PAUSE))
			return;
		expire(nic);
		for (unsigned int i = 0; i < TERN_PRIORITIES; i++)
			paused(nic, i, parse_u16(bytes + PAUSE_TIME_PLACE));
	} else if (opcode == OPCODE_PFC && available >= PFC_BYTES) {
		expire(nic);
		for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
			/* Its low byte is the second one. */
			if (!(bytes[PFC_VECTOR_PLACE + 1] & 1U << i))
				continue;
			nic->priorities.counters[i].rx_pause++;
			if (flow->pfc & 1U << i)
				paused(nic, i, parse_u16(bytes + PFC_TIMES_PLACE + 2 * i));
		}
	} else {
		nic->priorities.rx_control_unknown++;
		return;
	}
	apply(nic);
}

/* Storms and pauses of priorities that obey none any more end. */
static void obey(struct tern_nic *nic)
{
	struct flow_control *flow = flow_of(nic);
	uint8_t obeyed = flow->flags & TERN_FLOW_CONTROL_RECEIVE_PAUSE ? ALL_PRIORITIES : flow->pfc;

	flow->paused &= obeyed;
	for (unsigned int i = 0; i < TERN_PRIORITIES; i++) {
		if ((flow->storms & 1U << i) && (!(obeyed & 1U << i) || !flow->storm_limit_ns))
			storm(nic, i, false);
	}
	expire(nic);
	apply(nic);
	flow_control_filled(nic);
}

void flow_control_reset(struct tern_nic *nic)
{
	struct flow_control *flow = flow_of(nic);

	flow->pfc = 0;
	flow->flags = 0;
	flow->storm_action = TERN_STORM_RELEASE;
	flow->storm_limit_ns = 0;
	flow->storm_restore_ns = 0;
	flow->paused = 0;
	flow->storms = 0;
	apply(nic);
	memset(flow->ended, 0, sizeof(flow->ended));
	flow_control_filled(nic);
}

uint16_t set_flow_control_command(struct command *command)
{
	typedef struct tern_command_set_flow_control body_type;
	const body_type *body = (const void *)command->body;
	const uint8_t known = TERN_FLOW_CONTROL_RECEIVE_PAUSE | TERN_FLOW_CONTROL_SEND_PAUSE;
	struct tern_nic *nic = command->fn->nic;
	struct flow_control *flow = flow_of(nic);

	if (!priorities_permitted(command))
		return TERN_COMMAND_STATUS_NOT_PERMITTED;
	if (!command_reserved(command, body_type, reserved0) ||
	    !command_reserved(command, body_type, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if ((body->flags & ~known) || (body->flags && body->pfc_priorities))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      flags);
	if (body->storm_action > TERN_STORM_DROP)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      storm_action);
	if (body->storm_limit_ms && !body->storm_restore_ms)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      storm_restore_ms);
	flow->pfc = body->pfc_priorities;
	flow->flags = body->flags;
	flow->storm_action = body->storm_action;
	flow->storm_limit_ns = from_le32(body->storm_limit_ms) * NS_PER_MS;
	flow->storm_restore_ns = from_le32(body->storm_restore_ms) * NS_PER_MS;
	obey(nic);
	return TERN_COMMAND_STATUS_OK;
}
