// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: ingress: to whom a received frame belongs: function by MAC and VLAN,
 * then the RDMA engine or the Ethernet receive queues.
 */
#include "ingress.h"

#include <stdlib.h>
#include <string.h>

#include "ethernet.h"
#include "mac.h"
#include "nic.h"
#include "parse.h"
#include "rdma_receive.h"

/* A frame on its way in. */
struct arrival {
	const struct tern_frame *frame;
	size_t length;
	const uint8_t *headers;		/* the frame's first bytes... */
	size_t available;		/* ...as many as parsed */
	struct parsed_frame parsed;
	bool roce;
	uint8_t pulled[PARSE_BYTES];
};

/* Copy the frame's first bytes, at most @size, to @to; returns how many. */
static size_t pull(const struct tern_frame *frame, uint8_t *to, size_t size)
{
	size_t done = frame->header_length < size ? frame->header_length : size;

	memcpy(to, frame->header, done);
	for (unsigned int i = 0; i < frame->payload_count && done < size; i++) {
		size_t piece = frame->payload[i].length;

		if (piece > size - done)
			piece = size - done;
		memcpy(to + done, frame->payload[i].base, piece);
		done += piece;
	}
	return done;
}

/* The headers that count end within what was parsed. */
static bool understood(const struct parsed_frame *parsed)
{
	if (parsed->ethertype != ETHERTYPE_IPV4 && parsed->ethertype != ETHERTYPE_IPV6)
		return true;
	return parsed->l4_protocol || parsed->fragment;
}

/* False when it is too short to be a frame. */
static bool look(struct arrival *arrival, const struct tern_frame *frame)
{
	const struct parsed_frame *parsed = &arrival->parsed;
	bool ok;

	arrival->frame = frame;
	arrival->length = tern_frame_length(frame);
	arrival->headers = frame->header;
	arrival->available = frame->header_length;
	ok = parse_frame(&arrival->parsed, frame->header, frame->header_length, arrival->length);
	if ((!ok || !understood(parsed)) && frame->header_length < PARSE_BYTES &&
	    frame->payload_count) {
		size_t pulled = pull(frame, arrival->pulled, sizeof(arrival->pulled));

		arrival->headers = arrival->pulled;
		arrival->available = pulled;
		ok = parse_frame(&arrival->parsed, arrival->pulled, pulled, arrival->length);
	}
	arrival->roce = parsed->ethertype == ETHERTYPE_ROCE_V1 ||
			(parsed->l4_protocol == IP_PROTOCOL_UDP &&
			 parsed->destination_port == ROCE_V2_UDP_PORT);
	return ok;
}

static bool owns_mac(const struct function *fn, const uint8_t *mac)
{
	return memcmp(fn->ethernet->station_mac, mac, 6) == 0 || rdma_owns_mac(fn, mac);
}

bool ingress_mac_taken(const struct function *fn, const uint8_t *mac)
{
	const struct tern_nic *nic = fn->nic;

	for (unsigned int i = 0; i < nic->function_count; i++) {
		const struct function *other = &nic->functions[i];

		if (other != fn &&
		    (!memcmp(other->permanent_mac, mac, 6) || owns_mac(other, mac)))
			return true;
	}
	return false;
}

static bool listens(const struct function *fn)
{
	return fn->enabled && fn->bus_master && fn->ethernet->admin_up;
}

static void count(struct function *fn, const struct arrival *arrival)
{
	const uint8_t *destination = arrival->headers;

	fn->port.rx_packets++;
	fn->port.rx_bytes += arrival->length;
	if (destination[0] & 1) {
		if (memcmp(destination, "\xff\xff\xff\xff\xff\xff", 6) == 0)
			fn->port.rx_broadcast++;
		else
			fn->port.rx_multicast++;
	}
}

static bool too_long(const struct function *fn, const struct arrival *arrival)
{
	return arrival->length - arrival->parsed.l3_offset > fn->ethernet->mtu;
}

static bool offer_rdma(struct function *fn, const struct arrival *arrival)
{
	bool multicast = arrival->headers[0] & 1;

	if (!arrival->roce || too_long(fn, arrival) ||
	    (!multicast && !owns_mac(fn, arrival->headers)) || !rdma_receive(fn, arrival->frame))
		return false;
	count(fn, arrival);
	fn->port.rx_roce_packets++;
	fn->port.rx_roce_bytes += arrival->length;
	return true;
}

static struct flow_frame flow_frame_of(const struct arrival *arrival)
{
	return (struct flow_frame){
		.frame = arrival->frame,
		.headers = arrival->headers,
		.available = arrival->available,
		.parsed = &arrival->parsed,
	};
}

/* True when a flow took or dropped it. */
static bool offer_flows(struct function *fn, const struct arrival *arrival)
{
	struct flow_frame frame = flow_frame_of(arrival);

	/* A frame that is too long is nobody's. Others than the PF steer what is for them. */
	if (!fn->ethernet->flows.normal.count || too_long(fn, arrival) ||
	    (fn->index && !filter_takes(fn->ethernet, arrival->headers, &arrival->parsed)))
		return false;
	switch (flow_steer(fn, &frame)) {
	case FLOW_TAKEN:
		count(fn, arrival);
		return true;
	case FLOW_DROPPED:
		fn->port.rx_filtered++;
		return true;
	default:
		return false;
	}
}

static bool offer_defaults(struct function *fn, const struct arrival *arrival)
{
	struct flow_frame frame = flow_frame_of(arrival);

	if (too_long(fn, arrival) || flow_default(fn, &frame) != FLOW_TAKEN)
		return false;
	count(fn, arrival);
	return true;
}

static void sniff(struct function *fn, const struct arrival *arrival)
{
	struct flow_frame frame = flow_frame_of(arrival);

	flow_sniff(fn, &frame);
}

/* True when the function took the frame, be it only to drop it. */
static bool offer(struct function *fn, const struct arrival *arrival)
{
	if (offer_rdma(fn, arrival) || offer_flows(fn, arrival))
		return true;
	if (!filter_takes(fn->ethernet, arrival->headers, &arrival->parsed))
		return offer_defaults(fn, arrival);
	count(fn, arrival);
	if (too_long(fn, arrival))
		fn->port.rx_too_long++;
	else
		ethernet_receive(fn, arrival->frame, arrival->headers, &arrival->parsed);
	return true;
}

static void count_priority(struct tern_nic *nic, uint8_t priority, size_t length)
{
	nic->priorities.counters[priority].rx_packets++;
	nic->priorities.counters[priority].rx_bytes += length;
}

/* @buffered: it stood in a receive buffer, and was counted then. */
static void receive(struct tern_nic *nic, const struct tern_frame *frame, bool buffered)
{
	struct arrival arrival;
	bool taken = false;

	if (!mac_carrier(nic)) {
		mac_count_received_down(nic);
		return;
	}
	if (!look(&arrival, frame)) {
		nic->functions[0].port.rx_too_short++;
		return;
	}
	if (!buffered)
		count_priority(nic, priority_map_classify(&nic->priorities.map, arrival.headers,
							  arrival.available), arrival.length);
	for (unsigned int i = 0; i < nic->function_count; i++) {
		if (!listens(&nic->functions[i]))
			continue;
		sniff(&nic->functions[i], &arrival);
		taken |= offer(&nic->functions[i], &arrival);
	}
	if (!taken)
		nic->functions[0].port.rx_filtered++;
}

bool ingress_loopback(struct tern_nic *nic, struct function *sender,
		      const struct tern_frame *frame)
{
	const uint8_t *destination = frame->header;
	bool multicast = destination[0] & 1;
	struct arrival arrival;

	/* MAC control is between the ends of a wire. */
	if (flow_control_is(frame))
		return false;
	if (multicast) {
		if (!look(&arrival, frame))
			return false;
		for (unsigned int i = 0; i < nic->function_count; i++) {
			struct function *fn = &nic->functions[i];

			if (!listens(fn))
				continue;
			/* Ethernet does not hear itself; who shares a group's host does. */
			if (fn == sender) {
				offer_rdma(fn, &arrival);
				continue;
			}
			sniff(fn, &arrival);
			offer(fn, &arrival);
		}
		return false;
	}
	for (unsigned int i = 0; i < nic->function_count; i++) {
		struct function *fn = &nic->functions[i];

		if (!fn->enabled || !owns_mac(fn, destination))
			continue;
		if (!look(&arrival, frame)) {
			fn->port.rx_too_short++;
			return true;
		}
		if (!listens(fn))
			return true;
		if (fn != sender)
			sniff(fn, &arrival);
		if (!offer(fn, &arrival))
			fn->port.rx_filtered++;
		return true;
	}
	return false;
}

bool ingress_is_local(const struct tern_nic *nic, const uint8_t *mac)
{
	for (unsigned int i = 0; i < nic->function_count; i++) {
		if (nic->functions[i].enabled && owns_mac(&nic->functions[i], mac))
			return true;
	}
	return false;
}

void ingress_loopback_flows(struct function *fn, const struct tern_frame *frame)
{
	const uint8_t *destination = frame->header;
	struct arrival arrival;

	if (!fn->ethernet->flows.normal.count || !listens(fn) || flow_control_is(frame) ||
	    (!(destination[0] & 1) && ingress_is_local(fn->nic, destination)))
		return;
	if (look(&arrival, frame))
		offer_flows(fn, &arrival);
}

void ingress_sniff(struct function *fn, const struct tern_frame *frame)
{
	struct arrival arrival;

	if (fn->ethernet->flows.sniffers.count && !flow_control_is(frame) &&
	    look(&arrival, frame))
		sniff(fn, &arrival);
}

/* First bytes of a frame of the wire that say what it is and which priority it has. */
#define HEAD_BYTES		64

static void receive_control(struct tern_nic *nic, const struct tern_frame *frame)
{
	uint8_t head[HEAD_BYTES] = { 0 };

	if (mac_carrier(nic))
		flow_control_receive(nic, head, pull(frame, head, sizeof(head)));
	else
		mac_count_received_down(nic);
}

/* It waits in the receive buffer of its priority. */
static void put_aside(struct tern_nic *nic, const struct tern_frame *frame)
{
	struct port_priorities *priorities = &nic->priorities;
	uint8_t head[HEAD_BYTES] = { 0 }, priority;

	if (!mac_carrier(nic)) {
		mac_count_received_down(nic);
		return;
	}
	priority = priority_map_classify(&priorities->map, head,
					 pull(frame, head, sizeof(head)));
	count_priority(nic, priority, tern_frame_length(frame));
	if (!receive_buffers_put(&priorities->buffers, frame, priority)) {
		priorities->counters[priority].rx_discards++;
		nic->functions[0].port.rx_buffer_overflow++;
	}
	/* Nothing is sent from inside a call that may be sending. */
	priorities->flow.filled = true;
}

void tern_nic_receive(struct tern_nic *nic, const struct tern_frame *frame)
{
	bool inside = nic->inside > 0;

	nic_enter(nic);
	if (flow_control_is(frame)) {
		receive_control(nic, frame);
	/* Behind what waits already, so that frames stay in order. */
	} else if (inside || nic->priorities.buffers.nonempty || !mac_host_ready(nic)) {
		put_aside(nic, frame);
	} else {
		mac_host_take(nic, tern_frame_length(frame));
		receive(nic, frame, false);
	}
	nic_leave(nic);
}

unsigned int mac_drain_receive_buffer(struct tern_nic *nic, unsigned int budget)
{
	struct receive_buffers *buffers = &nic->priorities.buffers;
	unsigned int done = 0;

	while (done < budget && buffers->nonempty && mac_host_ready(nic)) {
		struct buffered_frame *buffered = receive_buffers_take(buffers);
		struct tern_frame frame;

		tern_frame_wrap(&frame, buffered->bytes, buffered->length);
		frame.priority = buffered->priority;
		mac_host_take(nic, buffered->length);
		receive(nic, &frame, true);
		free(buffered);
		done++;
	}
	if (done)
		flow_control_filled(nic);
	return done;
}

bool mac_receive_pending(struct tern_nic *nic)
{
	return nic->priorities.buffers.nonempty && mac_host_ready(nic);
}
