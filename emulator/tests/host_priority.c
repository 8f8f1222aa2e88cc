// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: priorities for tests. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_priority.h"
#include "tern_hw_statistics.h"

void priority_default_map(struct tern_command_set_priority_map *map)
{
	memset(map, 0, sizeof(*map));
	for (unsigned int i = 0; i < TERN_DSCPS; i++)
		map->priority_of_dscp[i] = (uint8_t)(i / 8);
	for (unsigned int i = 0; i < TERN_PCPS; i++)
		map->priority_of_pcp[i] = i % 8;
}

uint16_t priority_set_map(struct driver *driver, const struct tern_command_set_priority_map *map)
{
	return driver_command(driver, TERN_COMMAND_SET_PRIORITY_MAP, 0, map, sizeof(*map));
}

uint16_t priority_set_flow_control(struct driver *driver,
				   const struct tern_command_set_flow_control *body)
{
	return driver_command(driver, TERN_COMMAND_SET_FLOW_CONTROL, 0, body, sizeof(*body));
}

uint16_t priority_set_pfc(struct driver *driver, uint8_t priorities)
{
	struct tern_command_set_flow_control body = { .pfc_priorities = priorities };

	return priority_set_flow_control(driver, &body);
}

uint16_t priority_set_buffer(struct driver *driver, uint32_t bytes, uint32_t xoff, uint32_t xon)
{
	struct tern_command_set_receive_buffers body = { 0 };

	body.buffer[0].bytes = htole32(bytes);
	body.buffer[0].xoff = htole32(xoff);
	body.buffer[0].xon = htole32(xon);
	return driver_command(driver, TERN_COMMAND_SET_RECEIVE_BUFFERS, 0, &body, sizeof(body));
}

void priority_statistics(struct driver *driver, struct tern_priority_statistics *statistics)
{
	uint64_t address = host_alloc(driver->machine, sizeof(*statistics), 8);
	struct tern_command_query query = {
		.address = htole64(address),
		.length = htole32(sizeof(*statistics)),
		.group = htole32(TERN_STATISTICS_PRIORITY),
	};

	if (driver_command(driver, TERN_COMMAND_QUERY_STATISTICS, 0, &query, sizeof(query)) ||
	    driver->result[0] != sizeof(*statistics)) {
		fprintf(stderr, "priorities: QUERY_STATISTICS failed\n");
		abort();
	}
	memcpy(statistics, host_pointer(driver->machine, address), sizeof(*statistics));
}

static void begin(uint8_t *frame, uint8_t opcode)
{
	static const uint8_t start[] = { 0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 0x99, 0x88, 8 };

	memset(frame, 0, PFC_FRAME_BYTES);
	memcpy(frame, start, sizeof(start));
	frame[14] = opcode;
	frame[15] = 1;
}

void pfc_build(uint8_t frame[PFC_FRAME_BYTES], uint8_t vector, uint16_t quanta)
{
	begin(frame, 1);
	frame[17] = vector;
	for (unsigned int i = 0; i < 8; i++) {
		if (!(vector & 1U << i))
			continue;
		frame[18 + 2 * i] = (uint8_t)(quanta >> 8);
		frame[19 + 2 * i] = (uint8_t)quanta;
	}
}

void pause_build(uint8_t frame[PFC_FRAME_BYTES], uint16_t quanta)
{
	begin(frame, 0);
	frame[16] = (uint8_t)(quanta >> 8);
	frame[17] = (uint8_t)quanta;
}

void pfc_receive(struct machine *machine, const uint8_t *bytes, size_t length)
{
	struct tern_frame frame;

	tern_frame_wrap(&frame, bytes, length);
	host_receive(machine, &frame);
}
