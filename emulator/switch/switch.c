// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the switch: what comes in, where it goes, and what its host sees. */
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "switch.h"

#define SHARED_DEFAULT		(UINT64_C(2) << 20)
#define HEADROOM_DEFAULT	(UINT64_C(64) << 10)
#define AGEING_DEFAULT_NS	UINT64_C(300000000000)	/* 802.1Q, 8.8.3 */
#define ALPHA_MAX		64.0
#define AVERAGE_SHIFT_MAX	16

#define ETHERTYPE_TAG		0x8100
#define ETHERTYPE_CONTROL	0x8808
#define ETHERTYPE_IPV4		0x0800
#define ETHERTYPE_IPV6		0x86dd

uint64_t switch_random(struct tern_switch *sw)
{
	uint64_t z = sw->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

bool switch_chance(struct tern_switch *sw, double probability)
{
	/* At the ends it is certain, and takes no number. */
	if (probability <= 0)
		return false;
	if (probability >= 1)
		return true;
	/* 53 random bits, as many as a double holds. */
	return ldexp((double)(switch_random(sw) >> 11), -53) < probability;
}

static bool good_fraction(double value)
{
	return value >= 0 && value <= 1;
}

static const char *port_fault(const struct tern_switch_port_config *port)
{
	if (port->speed_mbps > TERN_SWITCH_SPEED_MAX)
		return "a port is faster than 1.6 Tb/s";
	if (port->delay_ns > TERN_SWITCH_DELAY_MAX ||
	    port->extra_delay_ns > TERN_SWITCH_DELAY_MAX)
		return "a delay is above 1 s";
	if (port->default_priority >= PRIORITIES)
		return "a default priority is above 7";
	if (!good_fraction(port->drop) || !good_fraction(port->duplicate) ||
	    !good_fraction(port->corrupt) || !good_fraction(port->delay))
		return "a probability is not within 0 and 1";
	return NULL;
}

static const char *config_fault(const struct tern_switch *sw)
{
	const struct tern_switch_config *config = &sw->config;
	const char *fault = NULL;

	if (!config->ports || config->ports > PORTS)
		return "1 to 64 ports";
	if (config->buffer_bytes > TERN_SWITCH_BUFFER_MAX)
		return "the buffer is above 1 GiB";
	if (!(config->alpha >= 0 && config->alpha <= ALPHA_MAX))
		return "alpha must not be below 0, and 64 at most";
	if (config->average_shift > AVERAGE_SHIFT_MAX)
		return "the average's shift is above 16";
	for (unsigned int i = 0; i < PRIORITIES; i++) {
		const struct tern_switch_priority_config *priority = &config->priorities[i];

		if (priority->kmin > priority->kmax || !good_fraction(priority->pmax))
			return "marking: kmin up to kmax, and pmax within 0 and 1";
		if (priority->wred_drop && (config->pfc_priorities >> i & 1))
			return "a lossless priority drops nothing early";
	}
	for (unsigned int i = 0; i < config->ports && !fault; i++)
		fault = port_fault(&config->port[i]);
	return fault;
}

/* What is left of the buffer when each lossless priority of each port has its headroom. */
static bool divide_buffer(struct tern_switch *sw)
{
	unsigned int guarded = (unsigned int)__builtin_popcount(sw->config.pfc_priorities);
	uint64_t headroom;

	/* No product is larger than 64 * 8 * the buffer's maximum. */
	if (sw->config.headroom_bytes > TERN_SWITCH_BUFFER_MAX)
		return false;
	headroom = guarded * sw->config.ports * sw->config.headroom_bytes;
	if (!sw->config.buffer_bytes)
		sw->config.buffer_bytes = SHARED_DEFAULT + headroom;
	if (sw->config.buffer_bytes > TERN_SWITCH_BUFFER_MAX ||
	    headroom + TERN_SWITCH_FRAME_MAX > sw->config.buffer_bytes)
		return false;
	sw->shared_size = sw->config.buffer_bytes - headroom;
	return true;
}

struct tern_switch *tern_switch_create(const struct tern_switch_config *config,
				       const struct tern_switch_host *ops, void *host,
				       char *error, size_t error_size)
{
	struct tern_switch *sw = calloc(1, sizeof(*sw));
	const char *fault;

	if (!sw) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	sw->config = *config;
	sw->ops = *ops;
	sw->host = host;
	if (!sw->config.headroom_bytes)
		sw->config.headroom_bytes = HEADROOM_DEFAULT;
	if (!sw->config.ageing_ns)
		sw->config.ageing_ns = AGEING_DEFAULT_NS;
	fault = config_fault(sw);
	if (!fault && !divide_buffer(sw))
		fault = "the buffer has no room for each lossless port and priority";
	if (fault) {
		snprintf(error, error_size, "%s", fault);
		free(sw);
		return NULL;
	}
	sw->random = config->seed;
	sw->hash_seed = switch_random(sw);
	/* Of the shortest frames the buffer holds so many; four copies each, on average. */
	sw->entries_max = 4 * (sw->config.buffer_bytes / CHARGE_MIN);
	sw->deadline = NEVER;
	for (unsigned int i = 0; i < sw->config.ports; i++) {
		sw->port[i].next = NEVER;
		sw->port[i].refresh = NEVER;
	}
	switch_vlan_init(sw);
	return sw;
}

void tern_switch_destroy(struct tern_switch *sw)
{
	if (!sw)
		return;
	for (unsigned int i = 0; i < sw->config.ports; i++) {
		/* Nobody is told anything any more. */
		sw->carriers = 0;
		switch_egress_flush(sw, i, sw->ops.now(sw->host));
	}
	switch_buffer_destroy(sw);
	free(sw);
}

int tern_switch_set_port(struct tern_switch *sw, unsigned int number,
			 const struct tern_switch_port_config *config, char *error,
			 size_t error_size)
{
	const char *fault = number < sw->config.ports ? port_fault(config) :
			    "there is no such port";

	if (fault) {
		snprintf(error, error_size, "%s", fault);
		return -1;
	}
	/* The remainder is in bits at the old rate. */
	if (config->speed_mbps != sw->config.port[number].speed_mbps)
		sw->port[number].remainder = 0;
	sw->config.port[number] = *config;
	return 0;
}

static unsigned int get16(const uint8_t *at)
{
	return (unsigned int)(at[0] << 8 | at[1]);
}

/* Where the tag and the IP header are. Returns the ethertype. */
static unsigned int parse(struct switch_frame *held)
{
	unsigned int type = get16(held->data + 12), at = 14, version;

	held->tagged = false;
	held->ip_offset = 0;
	if (type == ETHERTYPE_TAG && held->length >= 18) {
		held->tagged = true;
		type = get16(held->data + 16);
		at = 18;
	}
	if (held->length < at + 20)
		return type;
	version = held->data[at] >> 4;
	if ((type == ETHERTYPE_IPV4 && version == 4) || (type == ETHERTYPE_IPV6 && version == 6))
		held->ip_offset = (uint16_t)at;
	return type;
}

static uint8_t classify(const struct tern_switch_port_config *config,
			const struct switch_frame *held)
{
	const uint8_t *ip = held->data + held->ip_offset;

	if (config->trust_dscp && held->ip_offset) {
		/* The upper three bits of the DSCP, which are those of the traffic class. */
		return ip[0] >> 4 == 4 ? ip[1] >> 5 : (uint8_t)((ip[0] & 0x0f) >> 1);
	}
	if (held->tagged)
		return held->data[14] >> 5;
	return config->default_priority;
}

static bool is_reserved(const uint8_t *mac)
{
	static const uint8_t prefix[] = { 0x01, 0x80, 0xc2, 0x00, 0x00 };

	return !memcmp(mac, prefix, sizeof(prefix)) && mac[5] < 0x10;
}

/* The ports that a frame goes to; none when it is not forwarded. */
static uint64_t destinations(struct tern_switch *sw, unsigned int number,
			     const struct switch_frame *held, uint64_t now)
{
	struct tern_switch_port_statistics *statistics = &sw->port[number].statistics;
	uint64_t ports = switch_vlan_members(sw, held->vid) & sw->carriers &
			 ~(UINT64_C(1) << number);
	int known = -1;

	if (!(held->data[0] & 1))
		known = switch_fdb_find(sw, held->data, held->vid, now);
	if (known >= 0)
		ports &= UINT64_C(1) << known;
	else if (ports)
		statistics->flooded++;
	if (!ports)
		statistics->nowhere++;
	return ports;
}

static void forward(struct tern_switch *sw, unsigned int number, struct switch_frame *held,
		    uint64_t now)
{
	struct switch_port *port = &sw->port[number];
	struct tern_switch_queue_statistics *statistics;
	uint64_t ports;

	held->in_port = (uint8_t)number;
	if (!switch_vlan_ingress(sw, number, held)) {
		port->statistics.vlan_filtered++;
		return;
	}
	held->priority = classify(&sw->config.port[number], held);
	statistics = &port->statistics.priority[held->priority];
	statistics->rx_packets++;
	statistics->rx_bytes += held->length;
	switch_fdb_learn(sw, held->data + 6, held->vid, number, now);
	ports = destinations(sw, number, held, now);
	if (!ports || !switch_buffer_admit(sw, held, now))
		return;
	held->unsent = 1;
	for (; ports; ports &= ports - 1)
		switch_egress_queue(sw, first_bit(ports), held, now);
	switch_egress_sent(sw, held, now);
}

void tern_switch_receive(struct tern_switch *sw, unsigned int number,
			 const struct tern_frame *frame)
{
	size_t length = tern_frame_length(frame);
	struct tern_switch_port_statistics *statistics;
	struct switch_frame *held;
	unsigned int type;
	uint64_t now;

	if (number >= sw->config.ports)
		return;
	statistics = &sw->port[number].statistics;
	if (!(sw->carriers >> number & 1)) {
		statistics->no_carrier++;
		return;
	}
	if (length < FRAME_MIN || length > TERN_SWITCH_FRAME_MAX) {
		length < FRAME_MIN ? statistics->runts++ : statistics->oversize++;
		return;
	}
	now = sw->ops.now(sw->host);
	held = switch_frame_copy(sw, frame);
	if (!held) {
		statistics->priority[0].rx_drops++;
		return;
	}
	type = parse(held);
	if (type == ETHERTYPE_CONTROL) {
		switch_pfc_receive(sw, number, held->data, held->tagged ? 0 : length, now);
		switch_egress_kick(sw, number, now);
		switch_egress_schedule(sw, number);
	} else if (is_reserved(held->data)) {
		statistics->reserved++;
	} else if (held->data[6] & 1) {
		statistics->bad_source++;
	} else {
		forward(sw, number, held, now);
	}
	switch_frame_put(sw, held);
}

void tern_switch_timer(struct tern_switch *sw)
{
	uint64_t now = sw->ops.now(sw->host), next = NEVER;

	sw->in_timer = true;
	for (unsigned int i = 0; i < sw->config.ports; i++) {
		if (sw->port[i].next <= now)
			switch_egress_run(sw, i, now);
	}
	sw->in_timer = false;
	for (unsigned int i = 0; i < sw->config.ports; i++) {
		if (sw->port[i].next < next)
			next = sw->port[i].next;
	}
	sw->deadline = next;
	sw->ops.set_timer(sw->host, next);
}

void tern_switch_set_carrier(struct tern_switch *sw, unsigned int number, bool up)
{
	uint64_t now = sw->ops.now(sw->host), bit;

	if (number >= sw->config.ports || (sw->carriers >> number & 1) == up)
		return;
	bit = UINT64_C(1) << number;
	if (up) {
		sw->carriers |= bit;
		sw->port[number].tell = sw->port[number].xoff;
		switch_egress_kick(sw, number, now);
		return;
	}
	sw->carriers &= ~bit;
	switch_egress_flush(sw, number, now);
	switch_pfc_reset(sw, number, now);
	switch_fdb_flush(sw, number);
	switch_egress_schedule(sw, number);
}

void tern_switch_get_statistics(const struct tern_switch *sw, unsigned int number,
				struct tern_switch_port_statistics *statistics)
{
	const struct switch_port *port = &sw->port[number];

	memset(statistics, 0, sizeof(*statistics));
	if (number >= sw->config.ports)
		return;
	*statistics = port->statistics;
	statistics->carrier = sw->carriers >> number & 1;
	/* A pause that is on counts up to now. */
	for (unsigned int mask = port->paused; mask; mask &= mask - 1) {
		const struct switch_queue *queue = &port->queue[first_bit(mask)];
		uint64_t until = sw->ops.now(sw->host);

		if (until > queue->paused_until)
			until = queue->paused_until;
		statistics->priority[first_bit(mask)].paused_ns += until - queue->paused_since;
	}
}

void tern_switch_get_buffer(const struct tern_switch *sw,
			    struct tern_switch_buffer_statistics *statistics)
{
	const struct switch_fdb_entry *entry = &sw->fdb[0][0];

	memset(statistics, 0, sizeof(*statistics));
	statistics->size = sw->config.buffer_bytes;
	statistics->shared_size = sw->shared_size;
	statistics->used = sw->shared_used + sw->headroom_used;
	statistics->used_peak = sw->used_peak;
	statistics->headroom_used = sw->headroom_used;
	for (unsigned int i = 0; i < FDB_SETS * FDB_WAYS; i++)
		statistics->fdb_entries += !!entry[i].key;
}

int tern_switch_lookup(const struct tern_switch *sw, const uint8_t mac[6], uint16_t vid)
{
	return switch_fdb_find(sw, mac, vid, sw->ops.now(sw->host));
}
