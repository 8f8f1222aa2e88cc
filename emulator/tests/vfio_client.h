/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: a vfio-user client for tests, playing QEMU's part. Server and client
 * are in one process: after sending, the server's loop is turned until the
 * reply is there.
 */
#ifndef VFIO_CLIENT_H
#define VFIO_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <linux/vfio.h>

#include "protocol.h"
#include "tern_loop.h"

struct vfio_client {
	int fd;
	struct tern_loop *loop;
	uint16_t next_id;
};

void client_init(struct vfio_client *client, struct tern_loop *loop, int fd);

/* Send bytes as they are, with descriptors. */
void client_send_raw(struct vfio_client *client, const void *bytes, size_t length,
		     const int *fds, unsigned int count);
/* Send a message; returns its id. */
uint16_t client_send(struct vfio_client *client, uint16_t command, uint32_t flags,
		     const void *payload, size_t length, const int *fds, unsigned int count);
/* Turn the loop until nothing is left to serve. */
void client_turn(struct vfio_client *client);

/*
 * Receive a reply into @payload. Returns the error of the reply (0: none),
 * or -1 when the server has closed the connection; *length is what came.
 */
int client_receive(struct vfio_client *client, uint16_t id, uint16_t command, void *payload,
		   size_t size, size_t *length);

/* A command and its reply. */
int client_call(struct vfio_client *client, uint16_t command, const void *payload,
		size_t length, const int *fds, unsigned int count, void *reply, size_t size,
		size_t *got);

/* As QEMU does it. */
void client_negotiate(struct vfio_client *client);
int client_map(struct vfio_client *client, uint64_t iova, uint64_t size, int fd,
	       uint64_t offset, uint32_t flags);
int client_unmap(struct vfio_client *client, uint64_t iova, uint64_t size);
int client_read(struct vfio_client *client, uint32_t region, uint64_t offset, void *buffer,
		uint32_t count);
int client_write(struct vfio_client *client, uint32_t region, uint64_t offset,
		 const void *buffer, uint32_t count);
void client_post(struct vfio_client *client, uint32_t region, uint64_t offset,
		 const void *buffer, uint32_t count);
int client_set_irqs(struct vfio_client *client, uint32_t flags, uint32_t index,
		    uint32_t start, uint32_t count, const int *fds, unsigned int nfds);

#endif /* VFIO_CLIENT_H */
