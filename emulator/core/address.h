/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: a function's GID table, and from an address vector to a packet's headers. */
#ifndef TERN_ADDRESS_H
#define TERN_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "capabilities.h"
#include "priority_map.h"
#include "tern_hw_wqe.h"
#include "wire.h"

struct function;
struct command;

struct gid_entry {
	uint8_t type;			/* TERN_GID_TYPE_*; NONE: empty */
	enum wire_network network;
	bool vlan;
	uint16_t vlan_id;
	uint8_t mac[6];
	uint8_t gid[16];
};

/* Part of struct rdma_function. */
struct gid_table {
	struct gid_entry entries[GID_COUNT];
	unsigned int used;		/* entries from here on are empty */
	unsigned int last;		/* where the last look-up hit */
	uint32_t generation;		/* moves with every change; > 0 */
};

void gid_table_init(struct gid_table *table);
/* What was made of its entries is to be made anew. */
void gid_table_touch(struct gid_table *table);

/* NULL: no such entry, or it is empty. */
const struct gid_entry *gid_table_get(const struct gid_table *table, unsigned int index);

/* Does any entry have the network and VLAN of a packet? */
bool gid_table_listens(const struct gid_table *table, const struct wire_packet *packet);
bool gid_is_multicast(const uint8_t *gid);
/* The MAC that frames to a multicast GID have. */
void gid_multicast_mac(const uint8_t *gid, uint8_t *mac);

/* The entry that a packet is addressed to: GID, type and VLAN agree. NULL: none. */
const struct gid_entry *gid_table_match(struct gid_table *table,
					const struct wire_packet *packet);

/*
 * Make the headers for @vector. @flow: what the UDP source port is derived
 * from where the vector has neither port nor flow label. False when the
 * vector makes no sense or its GID entry is empty. @map: what priority, tag and
 * traffic class are.
 */
bool address_path(const struct gid_table *table, const struct tern_address_vector *vector,
		  uint32_t flow, const struct priority_map *map, struct wire_path *path);

/* The priority of packets to @vector. */
uint8_t address_priority(const struct gid_table *table, const struct tern_address_vector *vector,
			 const struct priority_map *map);

/* 20 bits from two queue pair numbers, the way Linux's rdma_calc_flow_label() does. */
uint32_t address_flow_label(uint32_t local_qpn, uint32_t remote_qpn);
/* 0xc000..0xffff from a flow label, the way Linux's rdma_flow_label_to_udp_sport() does. */
uint16_t address_udp_port(uint32_t flow_label);

uint16_t set_gid_command(struct command *command);

#endif /* TERN_ADDRESS_H */
