/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: a vfio-user server with a device that remembers, and a client, for tests. */
#ifndef VFIO_FIXTURE_H
#define VFIO_FIXTURE_H

#include <stdbool.h>

#include "tern_vfio_user.h"
#include "vfio_client.h"

#define VECTORS	40
#define PAGE	4096ULL

#define IRQ_EVENTFD	(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)

/* The device behind the server. */
struct fixture_device {
	uint64_t last_offset, last_value, invalidated, invalidated_length;
	unsigned int writes, resets, invalidations;
	struct tern_vfio_user *server;
	/* During a reset or an invalidation memory must still be there. */
	uint64_t probe_iova;
	bool probe_ok;
	char log[4096];
};

extern struct fixture_device device;
extern struct tern_loop *loop;
extern struct vfio_client client;

/* A server at @path (NULL: none); NULL with @error. */
struct tern_vfio_user *create_server(const char *path, char *error, size_t error_size);

/* A server and a client that is attached; negotiated, too. */
void start(void);
void start_negotiated(void);
/* One more client. */
void attach(void);
void stop(void);

/* The server has closed the connection, and its log says why. */
void check_closed(const char *reason);

int memory(uint64_t size);
unsigned int open_fds(void);
/* Memory space, bus mastering and MSI-X on. */
void enable_msix(void);
/* How often an eventfd has fired since the last call. */
uint64_t fired(int eventfd_fd);

#endif /* VFIO_FIXTURE_H */
