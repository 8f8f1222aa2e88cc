/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: which of the eight priorities of IEEE 802.1Q a frame has, and what its tag
 * and IP header say of it when it leaves. Pure but for the command.
 */
#ifndef TERN_PRIORITY_MAP_H
#define TERN_PRIORITY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_hw_priority.h"

struct command;

/* As SET_PRIORITY_MAP gave it. */
struct priority_map {
	uint8_t trust;			/* TERN_TRUST_* */
	uint8_t default_priority;
	uint8_t roce_v1_priority, roce_v2_priority;
	uint8_t rewrite_dscp, rewrite_pcp;
	uint8_t priority_of_dscp[TERN_DSCPS];
	uint8_t priority_of_pcp[TERN_PCPS];
	uint8_t dscp_of[TERN_PRIORITIES];
	uint8_t pcp_of[TERN_PRIORITIES];
};

/* What holds after the PF's reset. */
void priority_map_init(struct priority_map *map);

/* The priority of a frame of which @available first bytes are at @frame. */
uint8_t priority_map_classify(const struct priority_map *map, const uint8_t *frame,
			      size_t available);
/* The priority of RoCE packets with this service level and, of RoCE v2, this traffic class. */
uint8_t priority_map_roce(const struct priority_map *map, bool v1, uint8_t service_level,
			  uint8_t traffic_class);

/*
 * The traffic class with which IP packets of @priority leave, and the DEI << 3 | PCP of their
 * tag if they have one.
 */
uint8_t priority_map_traffic_class(const struct priority_map *map, uint8_t priority,
				   uint8_t traffic_class);
uint8_t priority_map_pcp(const struct priority_map *map, uint8_t priority, uint8_t pcp);
/* Rewrite the headers of a frame of @priority, @available of whose bytes are at @frame. */
void priority_map_rewrite(const struct priority_map *map, uint8_t priority, uint8_t *frame,
			  size_t available);

uint16_t set_priority_map_command(struct command *command);

#endif /* TERN_PRIORITY_MAP_H */
