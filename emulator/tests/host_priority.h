/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: priorities for tests: their commands and statistics, and flow control frames. */
#ifndef TERN_HOST_PRIORITY_H
#define TERN_HOST_PRIORITY_H

#include "host_driver.h"
#include "tern_hw_priority.h"

#define PFC_FRAME_BYTES		60

/* What the device has after a reset. */
void priority_default_map(struct tern_command_set_priority_map *map);
uint16_t priority_set_map(struct driver *driver, const struct tern_command_set_priority_map *map);
/* PFC for these priorities, no watchdog. */
uint16_t priority_set_pfc(struct driver *driver, uint8_t priorities);
uint16_t priority_set_flow_control(struct driver *driver,
				   const struct tern_command_set_flow_control *body);
/* All priorities in buffer 0. */
uint16_t priority_set_buffer(struct driver *driver, uint32_t bytes, uint32_t xoff, uint32_t xon);
/* The statistics; the program ends when the command fails. */
void priority_statistics(struct driver *driver, struct tern_priority_statistics *statistics);

/* A PFC frame of @vector that has the same time for each of its priorities; a PAUSE frame. */
void pfc_build(uint8_t frame[PFC_FRAME_BYTES], uint8_t vector, uint16_t quanta);
void pause_build(uint8_t frame[PFC_FRAME_BYTES], uint16_t quanta);
/* It arrives at @machine. */
void pfc_receive(struct machine *machine, const uint8_t *frame, size_t length);

#endif /* TERN_HOST_PRIORITY_H */
