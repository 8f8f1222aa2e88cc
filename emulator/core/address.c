// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: GID table and address vectors. */
#include "address.h"
#include "byteorder.h"
#include "command.h"
#include "ingress.h"
#include "nic.h"
#include "rdma_nic.h"
#include "rdma_receive.h"
#include "tern_hw_ethernet.h"

#define UDP_PORT_BASE		0xc000	/* IBTA A17.9.4: dynamic ports */
#define FLOW_LABEL_MASK		0xfffffU
#define VLAN_ID_MAX		4094
#define VLAN_ID_MASK		0xfff

static bool all_zero(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

static bool gid_is_ipv4(const uint8_t *gid)
{
	return all_zero(gid, 10) && gid[10] == 0xff && gid[11] == 0xff;
}

void gid_table_init(struct gid_table *table)
{
	uint32_t generation = table->generation + 1;

	memset(table, 0, sizeof(*table));
	table->generation = generation ? generation : 1;
}

void gid_table_touch(struct gid_table *table)
{
	if (!++table->generation)
		table->generation = 1;
}

const struct gid_entry *gid_table_get(const struct gid_table *table, unsigned int index)
{
	if (index >= table->used || table->entries[index].type == TERN_GID_TYPE_NONE)
		return NULL;
	return &table->entries[index];
}

bool gid_is_multicast(const uint8_t *gid)
{
	return gid_is_ipv4(gid) ? gid[12] >> 4 == 0xe : gid[0] == 0xff;
}

/* RFC 1112, 6.4, and RFC 2464, 7, on the GID as an IP address. */
void gid_multicast_mac(const uint8_t *gid, uint8_t *mac)
{
	if (gid_is_ipv4(gid))
		memcpy(mac, (const uint8_t[]){ 0x01, 0x00, 0x5e, gid[13] & 0x7f }, 4);
	else
		memcpy(mac, (const uint8_t[]){ 0x33, 0x33, gid[12], gid[13] }, 4);
	memcpy(mac + 4, gid + 14, 2);
}

static bool same_network(const struct gid_entry *entry, const struct wire_packet *packet)
{
	uint16_t vlan_id = packet->tagged ? packet->vlan_tci & VLAN_ID_MASK : 0;

	if (entry->type == TERN_GID_TYPE_NONE || entry->network != packet->network)
		return false;
	/* A tag with VLAN 0 carries a priority only (802.1Q). */
	return entry->vlan ? packet->tagged && vlan_id == entry->vlan_id : vlan_id == 0;
}

bool gid_table_listens(const struct gid_table *table, const struct wire_packet *packet)
{
	for (unsigned int i = 0; i < table->used; i++) {
		if (same_network(&table->entries[i], packet))
			return true;
	}
	return false;
}

static bool matches(const struct gid_entry *entry, const struct wire_packet *packet)
{
	return same_network(entry, packet) && !memcmp(entry->gid, packet->destination_gid, 16);
}

const struct gid_entry *gid_table_match(struct gid_table *table, const struct wire_packet *packet)
{
	if (matches(&table->entries[table->last], packet))
		return &table->entries[table->last];
	for (unsigned int i = 0; i < table->used; i++) {
		if (matches(&table->entries[i], packet)) {
			table->last = i;
			return &table->entries[i];
		}
	}
	return NULL;
}

bool rdma_owns_mac(const struct function *fn, const uint8_t *mac)
{
	const struct gid_table *table = &fn->rdma->gids;

	for (unsigned int i = 0; i < table->used; i++) {
		if (table->entries[i].type != TERN_GID_TYPE_NONE &&
		    !memcmp(table->entries[i].mac, mac, 6))
			return true;
	}
	return false;
}

uint32_t address_flow_label(uint32_t local_qpn, uint32_t remote_qpn)
{
	uint64_t mix = (uint64_t)local_qpn * remote_qpn;

	mix ^= mix >> 20;
	mix ^= mix >> 40;
	return (uint32_t)mix & FLOW_LABEL_MASK;
}

uint16_t address_udp_port(uint32_t flow_label)
{
	uint32_t folded = (flow_label & 0x3fff) ^ (flow_label & 0xfc000) >> 14;

	return (uint16_t)(folded | UDP_PORT_BASE);
}

uint8_t address_priority(const struct gid_table *table, const struct tern_address_vector *vector,
			 const struct priority_map *map)
{
	const struct gid_entry *entry = gid_table_get(table, from_le16(vector->source_gid_index));

	return priority_map_roce(map, entry && entry->network == WIRE_V1, vector->service_level,
				 vector->traffic_class);
}

bool address_path(const struct gid_table *table, const struct tern_address_vector *vector,
		  uint32_t flow, const struct priority_map *map, struct wire_path *path)
{
	const struct gid_entry *entry = gid_table_get(table, from_le16(vector->source_gid_index));
	uint32_t flow_label = from_le32(vector->flow_label);
	struct wire_address address = { 0 };
	uint8_t pcp;

	if (!entry || vector->service_level > 15 || flow_label > FLOW_LABEL_MASK)
		return false;
	if (entry->network == WIRE_V2_IPV4 && !gid_is_ipv4(vector->destination_gid))
		return false;
	if (entry->network == WIRE_V2_IPV6 && gid_is_ipv4(vector->destination_gid))
		return false;

	address.network = entry->network;
	memcpy(address.destination_mac, vector->destination_mac, 6);
	memcpy(address.source_mac, entry->mac, 6);
	address.vlan = entry->vlan;
	address.vlan_id = entry->vlan_id;
	address.priority = address_priority(table, vector, map);
	pcp = priority_map_pcp(map, address.priority, address.priority);
	memcpy(address.source_gid, entry->gid, 16);
	memcpy(address.destination_gid, vector->destination_gid, 16);
	address.flow_label = flow_label;
	address.traffic_class = vector->traffic_class;
	if (entry->network != WIRE_V1)
		address.traffic_class = priority_map_traffic_class(map, address.priority,
								   vector->traffic_class);
	address.hop_limit = vector->hop_limit;
	address.udp_source_port = from_le16(vector->udp_source_port);
	if (!address.udp_source_port)
		address.udp_source_port = address_udp_port(flow_label ? flow_label : flow);
	wire_path_build(path, &address);
	if (entry->vlan)
		wire_put_u16(path->bytes + 14, (uint16_t)((pcp & 7) << 13 | (pcp >> 3) << 12 |
							  entry->vlan_id));
	return true;
}

static bool body_is_zero(const struct tern_command_set_gid *body)
{
	return all_zero((const uint8_t *)body, sizeof(*body));
}

#define REFUSE_WITH(status, member) \
	command_refuse(command, TERN_COMMAND_STATUS_##status, struct tern_command_set_gid, member)
#define REFUSE(member) REFUSE_WITH(BAD_PARAMETER, member)

uint16_t set_gid_command(struct command *command)
{
	const struct tern_command_set_gid *body = (const void *)command->body;
	struct gid_table *table = &command->fn->rdma->gids;
	struct gid_entry entry = { .type = body->type };
	uint16_t vlan_id = from_le16(body->vlan_id);

	if (command->number >= GID_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (!command_reserved(command, struct tern_command_set_gid, reserved0) ||
	    !command_reserved(command, struct tern_command_set_gid, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;

	switch (body->type) {
	case TERN_GID_TYPE_NONE:
		if (!body_is_zero(body))
			return REFUSE(type);
		break;
	case TERN_GID_TYPE_ROCE_V1:
		if (!function_has(command->fn, FEATURE(ROCE_V1)))
			return REFUSE(type);
		entry.network = WIRE_V1;
		break;
	case TERN_GID_TYPE_ROCE_V2:
		if (!function_has(command->fn, FEATURE(ROCE_V2)))
			return REFUSE(type);
		entry.network = gid_is_ipv4(body->gid) ? WIRE_V2_IPV4 : WIRE_V2_IPV6;
		break;
	default:
		return REFUSE(type);
	}
	if (body->type != TERN_GID_TYPE_NONE) {
		if (all_zero(body->gid, 16) || gid_is_multicast(body->gid))
			return REFUSE(gid);
		if (all_zero(body->mac, 6) || (body->mac[0] & 1))
			return REFUSE(mac);
		if (ingress_mac_taken(command->fn, body->mac))
			return REFUSE_WITH(IN_USE, mac);
		if (body->flags & ~TERN_GID_VLAN)
			return REFUSE(flags);
		if (vlan_id > (body->flags & TERN_GID_VLAN ? VLAN_ID_MAX : 0))
			return REFUSE(vlan_id);
	}
	memcpy(entry.gid, body->gid, 16);
	memcpy(entry.mac, body->mac, 6);
	entry.vlan = body->flags & TERN_GID_VLAN;
	entry.vlan_id = vlan_id;

	table->entries[command->number] = entry;
	if (command->number >= table->used)
		table->used = command->number + 1;
	while (table->used && table->entries[table->used - 1].type == TERN_GID_TYPE_NONE)
		table->used--;
	gid_table_touch(table);
	return TERN_COMMAND_STATUS_OK;
}
