// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: does a frame match a flow? */
#include "flow_match.h"

#include <string.h>

#include "parse.h"

#define FRAGMENT_KNOWN	(TERN_FLOW_FRAGMENT_MORE | TERN_FLOW_FRAGMENT_DO_NOT)

/* Places in reserved0. */
enum { HAS_IP_VERSION, HAS_L4_PROTOCOL, HAS_TAG };

/*
 * Longer than any packet says that it is: a packet whose length is not true
 * belongs to its flow all the same, and whoever gets it judges it.
 */
#define ANY_LENGTH	(1U << 17)

static_assert(sizeof(struct tern_flow_match) == sizeof(struct flow_key), "flow key");

void flow_key_set(struct flow_key *key, const uint8_t *headers, size_t available)
{
	struct tern_flow_match fields = { 0 };
	struct parsed_frame parsed;
	const uint8_t *ip;

	parse_frame(&parsed, headers, available, ANY_LENGTH);
	memcpy(fields.destination_mac, headers, 6);
	memcpy(fields.source_mac, headers + 6, 6);
	memcpy(fields.ethertype, headers + parsed.l3_offset - 2, 2);
	if (parsed.tagged) {
		memcpy(fields.vlan_tci, headers + 14, 2);
		fields.reserved0[HAS_TAG] = 1;
	}
	ip = headers + parsed.l3_offset;
	fields.reserved0[HAS_IP_VERSION] = parsed.ip_version;
	if (parsed.ip_version == 4) {
		memcpy(fields.source_address, ip + 12, 4);
		memcpy(fields.destination_address, ip + 16, 4);
		fields.traffic_class = ip[1];
		fields.fragment = ip[6] >> 5 & FRAGMENT_KNOWN;
		fields.hop_limit = ip[8];
		fields.protocol = ip[9];
	} else if (parsed.ip_version == 6) {
		memcpy(fields.source_address, ip + 8, 16);
		memcpy(fields.destination_address, ip + 24, 16);
		fields.traffic_class = (uint8_t)(parse_u16(ip) >> 4);
		fields.flow_label[1] = ip[1] & 15;
		memcpy(fields.flow_label + 2, ip + 2, 2);
		fields.protocol = ip[6];
		fields.hop_limit = ip[7];
	}
	if (parsed.l4_protocol) {
		fields.reserved0[HAS_L4_PROTOCOL] = parsed.l4_protocol;
		memcpy(fields.source_port, headers + parsed.l4_offset, 2);
		memcpy(fields.destination_port, headers + parsed.l4_offset + 2, 2);
	}
	memcpy(key, &fields, sizeof(*key));
}

static bool any(const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < length; i++) {
		if (at[i])
			return true;
	}
	return false;
}

#define OFFSET(member)	offsetof(struct tern_command_add_flow, member)
#define ANY(member)	any(mask->member, sizeof(mask->member))

/* Offset of the first field that this kind of packet does not have, or 0. */
static size_t check_fields(const struct tern_command_add_flow *body)
{
	const struct tern_flow_match *mask = &body->mask;

	if (body->ip_version != 4 && (mask->fragment & FRAGMENT_KNOWN))
		return OFFSET(mask.fragment);
	if (mask->fragment & ~FRAGMENT_KNOWN)
		return OFFSET(mask.fragment);
	if (ANY(flow_label) && (body->ip_version != 6 || mask->flow_label[0] ||
				(mask->flow_label[1] & 0xf0)))
		return OFFSET(mask.flow_label);
	if (body->ip_version == 4 && any(mask->source_address + 4, 12))
		return OFFSET(mask.source_address);
	if (body->ip_version == 4 && any(mask->destination_address + 4, 12))
		return OFFSET(mask.destination_address);
	if (!body->ip_version) {
		if (ANY(source_address))
			return OFFSET(mask.source_address);
		if (ANY(destination_address))
			return OFFSET(mask.destination_address);
		if (mask->protocol)
			return OFFSET(mask.protocol);
		if (mask->traffic_class)
			return OFFSET(mask.traffic_class);
		if (mask->hop_limit)
			return OFFSET(mask.hop_limit);
	}
	if (!body->l4_protocol) {
		if (ANY(source_port))
			return OFFSET(mask.source_port);
		if (ANY(destination_port))
			return OFFSET(mask.destination_port);
	}
	return ANY(reserved0) ? OFFSET(mask.reserved0) : 0;
}

size_t flow_pattern_set(struct flow_pattern *pattern, const struct tern_command_add_flow *body)
{
	struct tern_flow_match value = body->value, mask = body->mask;
	const uint8_t *values = (const void *)&body->value, *masks = (const void *)&body->mask;
	size_t wrong;

	if (body->ip_version && body->ip_version != 4 && body->ip_version != 6)
		return OFFSET(ip_version);
	if (body->l4_protocol && body->l4_protocol != IP_PROTOCOL_TCP &&
	    body->l4_protocol != IP_PROTOCOL_UDP)
		return OFFSET(l4_protocol);
	wrong = check_fields(body);
	if (wrong)
		return wrong;
	for (size_t i = 0; i < sizeof(value); i++) {
		if (values[i] & ~masks[i])
			return OFFSET(value) + i;
	}
	if (body->ip_version) {
		value.reserved0[HAS_IP_VERSION] = body->ip_version;
		mask.reserved0[HAS_IP_VERSION] = 0xff;
	}
	if (body->l4_protocol) {
		value.reserved0[HAS_L4_PROTOCOL] = body->l4_protocol;
		mask.reserved0[HAS_L4_PROTOCOL] = 0xff;
	}
	if (any(mask.vlan_tci, sizeof(mask.vlan_tci))) {
		value.reserved0[HAS_TAG] = 1;
		mask.reserved0[HAS_TAG] = 0xff;
	}
	memcpy(&pattern->value, &value, sizeof(pattern->value));
	memcpy(&pattern->mask, &mask, sizeof(pattern->mask));
	return 0;
}
