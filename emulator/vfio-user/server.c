// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a function's unix socket, and its client of the moment. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session.h"
#include "tern_listener.h"
#include "tern_vfio_user.h"

struct tern_vfio_user {
	struct tern_loop *loop;
	struct tern_listener listener;	/* unless it was made without a path */
	struct tern_watch client;
	bool writing;			/* waits until the client reads its replies */
	bool told_broken;
	struct tern_session session;
	struct tern_vfio_user_statistics statistics;
};

static void __attribute__((format(printf, 2, 3)))
say(struct tern_vfio_user *server, const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	server->session.ops->log(server->session.device, line);
}

void tern_vfio_user_detach(struct tern_vfio_user *server)
{
	if (!server->session.channel)
		return;
	tern_loop_unwatch(server->loop, &server->client);
	tern_session_end(&server->session);
	server->writing = false;
	server->told_broken = false;
}

/* While replies pile up nothing more is read: the client holds up only itself. */
static void watch_for(struct tern_vfio_user *server, bool writing)
{
	if (writing == server->writing)
		return;
	server->writing = writing;
	tern_loop_rewatch(server->loop, &server->client, writing ? EPOLLOUT : EPOLLIN);
}

static void client_ready(void *context, uint32_t events)
{
	struct tern_vfio_user *server = context;
	struct tern_session *session = &server->session;
	const char *reason = "it went away";
	int err = 1;

	(void)events;
	if (!server->writing)
		err = tern_channel_receive(session->channel);
	if (err == -EAGAIN)
		return;
	if (err > 0) {
		err = tern_session_serve(session, &reason);
		watch_for(server, err == -EAGAIN);
		if (!err || err == -EAGAIN)
			return;
	}
	if (err == -EMSGSIZE)
		reason = "it sent more descriptors than agreed on";
	say(server, "client detached: %s", reason);
	tern_vfio_user_detach(server);
}

int tern_vfio_user_attach(struct tern_vfio_user *server, int fd)
{
	struct tern_session *session = &server->session;
	int err;

	session->channel = tern_channel_create(fd);
	if (!session->channel) {
		close(fd);
		return -ENOMEM;
	}
	server->client.fd = fd;
	err = tern_loop_watch(server->loop, &server->client, EPOLLIN);
	if (err) {
		tern_channel_destroy(session->channel);
		session->channel = NULL;
		return err;
	}
	server->statistics.clients++;
	say(server, "client attached");
	return 0;
}

/* A client that is gone may not have been noticed yet when the next one knocks. */
static bool client_is_gone(const struct tern_vfio_user *server)
{
	char byte;
	ssize_t got = recv(server->client.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void accepted(void *context, int fd)
{
	struct tern_vfio_user *server = context;
	int err;

	if (fd < 0) {
		say(server, "a client has to wait: %s", strerror(-fd));
		return;
	}
	if (server->session.channel && client_is_gone(server)) {
		say(server, "client detached: it went away");
		tern_vfio_user_detach(server);
	}
	if (server->session.channel) {
		say(server, "second client refused: the NIC is in use");
		close(fd);
		return;
	}
	err = tern_vfio_user_attach(server, fd);
	if (err)
		say(server, "client refused: %s", strerror(-err));
}

static int init_session(struct tern_vfio_user *server, const struct tern_pci_config *config,
			const struct tern_vfio_user_ops *ops, void *device)
{
	struct tern_session *session = &server->session;

	session->ops = ops;
	session->device = device;
	session->statistics = &server->statistics;
	session->vectors = config->vectors;
	session->function = tern_pci_function_create(config, &ops->pci, device,
						     tern_session_deliver, session);
	session->dma = tern_dma_map_create();
	session->eventfds = calloc(config->vectors, sizeof(*session->eventfds));
	if (!session->function || !session->dma || !session->eventfds)
		return -ENOMEM;
	for (unsigned int v = 0; v < config->vectors; v++)
		session->eventfds[v] = -1;
	return tern_dma_map_guard();
}

struct tern_vfio_user *tern_vfio_user_create(struct tern_loop *loop, const char *path,
					     const struct tern_pci_config *config,
					     const struct tern_vfio_user_ops *ops, void *device,
					     char *error, size_t error_size)
{
	struct tern_vfio_user *server = calloc(1, sizeof(*server));
	int err;

	if (!server) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	server->loop = loop;
	server->listener.accepted = accepted;
	server->listener.context = server;
	server->client.ready = client_ready;
	server->client.context = server;
	err = init_session(server, config, ops, device);
	if (err) {
		snprintf(error, error_size, "cannot set the PCI function up: %s",
			 strerror(-err));
		goto destroy;
	}
	if (path && tern_listener_open(&server->listener, loop, path, error, error_size))
		goto destroy;
	return server;

destroy:
	tern_vfio_user_destroy(server);
	return NULL;
}

void tern_vfio_user_destroy(struct tern_vfio_user *server)
{
	if (!server)
		return;
	tern_vfio_user_detach(server);
	tern_listener_close(&server->listener);
	tern_dma_map_destroy(server->session.dma);
	tern_pci_function_destroy(server->session.function);
	free(server->session.eventfds);
	free(server);
}

bool tern_vfio_user_attached(const struct tern_vfio_user *server)
{
	return !!server->session.channel;
}

struct tern_pci_function *tern_vfio_user_function(struct tern_vfio_user *server)
{
	return server->session.function;
}

static void tell_broken(struct tern_vfio_user *server)
{
	if (server->told_broken || !tern_dma_map_broken(server->session.dma))
		return;
	server->told_broken = true;
	say(server, "the client cut its memory file short: that memory fails from now on");
}

void *tern_vfio_user_map(struct tern_vfio_user *server, uint64_t iova, size_t *length, bool write)
{
	void *address = tern_dma_map_translate(server->session.dma, iova, length, write);

	if (!address)
		tell_broken(server);
	return address;
}

int tern_vfio_user_read(struct tern_vfio_user *server, uint64_t iova, void *buffer,
			size_t length)
{
	return tern_dma_map_read(server->session.dma, iova, buffer, length);
}

int tern_vfio_user_write(struct tern_vfio_user *server, uint64_t iova, const void *buffer,
			 size_t length)
{
	return tern_dma_map_write(server->session.dma, iova, buffer, length);
}

void tern_vfio_user_interrupt(struct tern_vfio_user *server, unsigned int vector)
{
	tern_msix_raise(tern_pci_function_msix(server->session.function), vector);
}

void tern_vfio_user_get_statistics(const struct tern_vfio_user *server,
				   struct tern_vfio_user_statistics *statistics)
{
	*statistics = server->statistics;
	statistics->resets = tern_pci_function_resets(server->session.function);
	statistics->memory_ranges = tern_dma_map_ranges(server->session.dma);
	statistics->bus_master = tern_pci_function_bus_master(server->session.function);
}
