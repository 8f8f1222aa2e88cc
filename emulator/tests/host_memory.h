/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the native host's guest memory, for host_world.c. */
#ifndef TERN_HOST_MEMORY_H
#define TERN_HOST_MEMORY_H

#include "host.h"

void host_memory_create(struct machine *machine, uint64_t bytes);
void host_memory_destroy(struct machine *machine);

/* struct tern_nic_host's */
void *host_map(void *host, unsigned int fn, uint64_t iova, size_t *length, bool write);
void host_unmap(void *host, unsigned int fn, void *address, size_t length, bool write);
int host_memory_read(void *host, unsigned int fn, uint64_t iova, void *buffer, size_t length);
int host_memory_write(void *host, unsigned int fn, uint64_t iova, const void *buffer,
		      size_t length);

void host_note(struct machine *machine, enum host_event_type type, uint64_t address,
	       size_t length);

#endif /* TERN_HOST_MEMORY_H */
