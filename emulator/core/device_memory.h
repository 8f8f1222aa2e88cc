/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: device memory: what is behind BAR 4 of a function, and keys of type
 * TERN_KEY_DEVICE_MEMORY name. It is as old as the function: what points into
 * it stays valid.
 */
#ifndef TERN_DEVICE_MEMORY_H
#define TERN_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct command;
struct function;

struct device_memory {
	uint8_t *bytes;			/* NULL without */
	uint64_t size;			/* a power of two, or 0 */
	uint64_t used;			/* from here on it is zero; all of it after a reset */
};

bool device_memory_create(struct function *fn);
void device_memory_destroy(struct function *fn);
void device_memory_reset(struct function *fn);

/* Accesses of the host, inside the memory; nothing is there before its feature is taken. */
uint64_t device_memory_load(struct function *fn, uint64_t offset, unsigned int size);
void device_memory_store(struct function *fn, uint64_t offset, uint64_t value, unsigned int size);

/* Somebody who is not watched may write these bytes, which are inside of it. */
void device_memory_will_be_written(struct function *fn, uint64_t offset, uint64_t length);
/* Does @mapped point into it? */
bool device_memory_holds(const struct function *fn, const void *mapped);

uint16_t device_memory_clear_command(struct command *command);

#endif /* TERN_DEVICE_MEMORY_H */
