// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: priorities of frames. */
#include "priority_map.h"

#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "nic.h"
#include "parse.h"
#include "rdma_priority.h"

#define TCI_PCP_SHIFT		13
#define TCI_DEI_SHIFT		12
#define DSCP_SHIFT		2
#define ECN_MASK		3
#define IPV4_HEADER_MIN		20
#define IPV4_CHECKSUM		10
#define IPV6_HEADER		40

void priority_map_init(struct priority_map *map)
{
	*map = (struct priority_map){ .trust = TERN_TRUST_PCP };
	for (unsigned int i = 0; i < TERN_DSCPS; i++)
		map->priority_of_dscp[i] = (uint8_t)(i >> 3);
	for (unsigned int i = 0; i < TERN_PCPS; i++)
		map->priority_of_pcp[i] = i & 7;
}

/* Where the IPv4 or IPv6 header is, with its version; 0: there is none. */
static size_t find_ip(const uint8_t *frame, size_t available, unsigned int *version)
{
	size_t place = PARSE_ETHERNET_BYTES;
	uint16_t ethertype = parse_u16(frame + 12);

	if (ethertype == ETHERTYPE_VLAN) {
		place += PARSE_VLAN_BYTES;
		if (available < place)
			return 0;
		ethertype = parse_u16(frame + 16);
	}
	if (ethertype == ETHERTYPE_IPV4 && available >= place + IPV4_HEADER_MIN &&
	    frame[place] >> 4 == 4)
		*version = 4;
	else if (ethertype == ETHERTYPE_IPV6 && available >= place + IPV6_HEADER &&
		 frame[place] >> 4 == 6)
		*version = 6;
	else
		return 0;
	return place;
}

static bool tagged(const uint8_t *frame, size_t available)
{
	return available >= PARSE_ETHERNET_BYTES + PARSE_VLAN_BYTES &&
	       parse_u16(frame + 12) == ETHERTYPE_VLAN;
}

static bool by_tag(const struct priority_map *map, const uint8_t *frame, size_t available,
		   uint8_t *priority)
{
	uint16_t tci;

	if (!tagged(frame, available))
		return false;
	tci = parse_u16(frame + 14);
	*priority = map->priority_of_pcp[(tci >> TCI_DEI_SHIFT & 1) << 3 | tci >> TCI_PCP_SHIFT];
	return true;
}

static bool by_dscp(const struct priority_map *map, const uint8_t *frame, size_t available,
		    uint8_t *priority)
{
	unsigned int version;
	size_t place = find_ip(frame, available, &version);
	uint8_t traffic_class;

	if (!place)
		return false;
	traffic_class = version == 4 ? frame[place + 1] :
				       (uint8_t)(parse_u16(frame + place) >> 4);
	*priority = map->priority_of_dscp[traffic_class >> DSCP_SHIFT];
	return true;
}

uint8_t priority_map_classify(const struct priority_map *map, const uint8_t *frame,
			      size_t available)
{
	uint8_t priority = map->default_priority;

	if (available < PARSE_ETHERNET_BYTES)
		return priority;
	switch (map->trust) {
	case TERN_TRUST_PCP:
		by_tag(map, frame, available, &priority);
		break;
	case TERN_TRUST_DSCP:
		by_dscp(map, frame, available, &priority);
		break;
	case TERN_TRUST_PCP_DSCP:
		if (!by_tag(map, frame, available, &priority))
			by_dscp(map, frame, available, &priority);
		break;
	default:
		if (!by_dscp(map, frame, available, &priority))
			by_tag(map, frame, available, &priority);
		break;
	}
	return priority;
}

uint8_t priority_map_roce(const struct priority_map *map, bool v1, uint8_t service_level,
			  uint8_t traffic_class)
{
	if (!v1 && (map->trust == TERN_TRUST_DSCP || map->trust == TERN_TRUST_DSCP_PCP))
		return map->priority_of_dscp[traffic_class >> DSCP_SHIFT];
	service_level &= 7;
	if (service_level)
		return service_level;
	return v1 ? map->roce_v1_priority : map->roce_v2_priority;
}

uint8_t priority_map_traffic_class(const struct priority_map *map, uint8_t priority,
				   uint8_t traffic_class)
{
	if (!(map->rewrite_dscp & 1U << priority))
		return traffic_class;
	return (uint8_t)(map->dscp_of[priority] << DSCP_SHIFT | (traffic_class & ECN_MASK));
}

uint8_t priority_map_pcp(const struct priority_map *map, uint8_t priority, uint8_t pcp)
{
	return map->rewrite_pcp & 1U << priority ? map->pcp_of[priority] : pcp;
}

static void put_u16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void rewrite_tag(const struct priority_map *map, uint8_t priority, uint8_t *frame)
{
	uint16_t tci = parse_u16(frame + 14) & 0xfff;
	uint8_t pcp = map->pcp_of[priority];

	put_u16(frame + 14, (uint16_t)(tci | (pcp & 7) << TCI_PCP_SHIFT |
				       (pcp >> 3) << TCI_DEI_SHIFT));
}

/* A checksum that was wrong stays wrong: RFC 1624, equation 3. */
static void rewrite_ipv4(uint8_t *ip, uint8_t traffic_class)
{
	uint16_t before = parse_u16(ip);
	uint32_t sum = (uint16_t)~parse_u16(ip + IPV4_CHECKSUM);

	ip[1] = traffic_class;
	sum += (uint16_t)~before;
	sum += parse_u16(ip);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put_u16(ip + IPV4_CHECKSUM, (uint16_t)~sum);
}

void priority_map_rewrite(const struct priority_map *map, uint8_t priority, uint8_t *frame,
			  size_t available)
{
	unsigned int version;
	uint8_t *ip;
	size_t place;
	uint16_t first;

	if (!((map->rewrite_pcp | map->rewrite_dscp) & 1U << priority) ||
	    available < PARSE_ETHERNET_BYTES)
		return;
	if ((map->rewrite_pcp & 1U << priority) && tagged(frame, available))
		rewrite_tag(map, priority, frame);
	if (!(map->rewrite_dscp & 1U << priority))
		return;
	place = find_ip(frame, available, &version);
	if (!place)
		return;
	ip = frame + place;
	if (version == 4) {
		rewrite_ipv4(ip, priority_map_traffic_class(map, priority, ip[1]));
		return;
	}
	first = parse_u16(ip);
	put_u16(ip, (uint16_t)((first & 0xf00f) |
			       priority_map_traffic_class(map, priority,
							  (uint8_t)(first >> 4)) << 4));
}

typedef struct tern_command_set_priority_map body_type;

#define REFUSE(member) \
	command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type, member)

static uint16_t check(struct command *command, const body_type *body)
{
	/* The arrays stand one behind the other. */
	static const struct {
		size_t offset, count;
		uint8_t most;
	} arrays[] = {
		{ offsetof(body_type, priority_of_dscp), TERN_DSCPS, TERN_PRIORITIES - 1 },
		{ offsetof(body_type, priority_of_pcp), TERN_PCPS, TERN_PRIORITIES - 1 },
		{ offsetof(body_type, dscp_of), TERN_PRIORITIES, TERN_DSCPS - 1 },
		{ offsetof(body_type, pcp_of), TERN_PRIORITIES, TERN_PCPS - 1 },
	};

	if (!command_reserved(command, body_type, reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (body->trust > TERN_TRUST_DSCP_PCP)
		return REFUSE(trust);
	if (body->default_priority >= TERN_PRIORITIES)
		return REFUSE(default_priority);
	if (body->roce_v1_priority >= TERN_PRIORITIES)
		return REFUSE(roce_v1_priority);
	if (body->roce_v2_priority >= TERN_PRIORITIES)
		return REFUSE(roce_v2_priority);
	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		for (size_t k = 0; k < arrays[i].count; k++) {
			size_t offset = arrays[i].offset + k;

			if (command->body[offset] > arrays[i].most)
				return command_refuse_at(command,
							 TERN_COMMAND_STATUS_BAD_PARAMETER,
							 sizeof_command_header + offset);
		}
	}
	return TERN_COMMAND_STATUS_OK;
}

uint16_t set_priority_map_command(struct command *command)
{
	const body_type *body = (const void *)command->body;
	struct tern_nic *nic = command->fn->nic;
	struct priority_map *map = &nic->priorities.map;
	uint16_t status;

	if (!priorities_permitted(command))
		return TERN_COMMAND_STATUS_NOT_PERMITTED;
	status = check(command, body);
	if (status)
		return status;
	map->trust = body->trust;
	map->default_priority = body->default_priority;
	map->roce_v1_priority = body->roce_v1_priority;
	map->roce_v2_priority = body->roce_v2_priority;
	map->rewrite_dscp = body->rewrite_dscp;
	map->rewrite_pcp = body->rewrite_pcp;
	memcpy(map->priority_of_dscp, body->priority_of_dscp, TERN_DSCPS);
	memcpy(map->priority_of_pcp, body->priority_of_pcp, TERN_PCPS);
	memcpy(map->dscp_of, body->dscp_of, TERN_PRIORITIES);
	memcpy(map->pcp_of, body->pcp_of, TERN_PRIORITIES);
	rdma_priorities_changed(nic);
	return TERN_COMMAND_STATUS_OK;
}
