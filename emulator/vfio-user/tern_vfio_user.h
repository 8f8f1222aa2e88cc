/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the vfio-user front end: one PCI function at one unix socket, to
 * which stock QEMU attaches with -device vfio-user-pci.
 *
 * One client at a time; when it goes, the function is reset, its memory
 * unmapped, its eventfds closed, and the next one may come.
 */
#ifndef TERN_VFIO_USER_H
#define TERN_VFIO_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pci_function.h"
#include "tern_loop.h"

struct tern_vfio_user;

struct tern_vfio_user_ops {
	struct tern_pci_device_ops pci;
	/* [iova, iova + length) goes away: forget it; returns after the last access. */
	void (*invalidate)(void *device, uint64_t iova, uint64_t length);
	/* A line for people. */
	void (*log)(void *device, const char *line);
};

/*
 * @path NULL: no socket is made, tern_vfio_user_attach() brings the client.
 * NULL on failure, with the reason in @error.
 */
struct tern_vfio_user *tern_vfio_user_create(struct tern_loop *loop, const char *path,
					     const struct tern_pci_config *config,
					     const struct tern_vfio_user_ops *ops, void *device,
					     char *error, size_t error_size);
/* Detaches the client, if any, and removes the socket. */
void tern_vfio_user_destroy(struct tern_vfio_user *server);

/* Serve a client at the connected socket @fd, which is taken. 0 or a negative errno. */
int tern_vfio_user_attach(struct tern_vfio_user *server, int fd);

/* Let the client go, as if it had gone. */
void tern_vfio_user_detach(struct tern_vfio_user *server);

bool tern_vfio_user_attached(const struct tern_vfio_user *server);
struct tern_pci_function *tern_vfio_user_function(struct tern_vfio_user *server);

/* What the device needs of its host; see struct tern_nic_host. */
void *tern_vfio_user_map(struct tern_vfio_user *server, uint64_t iova, size_t *length,
			 bool write);
int tern_vfio_user_read(struct tern_vfio_user *server, uint64_t iova, void *buffer,
			size_t length);
int tern_vfio_user_write(struct tern_vfio_user *server, uint64_t iova, const void *buffer,
			 size_t length);
void tern_vfio_user_interrupt(struct tern_vfio_user *server, unsigned int vector);

/* For people: what has happened since the server was made. */
struct tern_vfio_user_statistics {
	uint64_t clients, messages, register_reads, register_writes, interrupts, resets;
	unsigned int memory_ranges;
	bool bus_master;		/* now */
};

void tern_vfio_user_get_statistics(const struct tern_vfio_user *server,
				   struct tern_vfio_user_statistics *statistics);

#endif /* TERN_VFIO_USER_H */
