// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: accepting connections, also when the process has no descriptor left for one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tern_listener.h"
#include "tern_socket.h"

#define AGAIN_NS	100000000ULL

/* A connection that cannot be accepted keeps the socket ready: look away for a while. */
static void look_away(struct tern_listener *listener)
{
	tern_loop_unwatch(listener->loop, &listener->watch);
	tern_loop_set_alarm(listener->loop, &listener->again, tern_loop_now() + AGAIN_NS);
}

static void look_again(void *context)
{
	struct tern_listener *listener = context;

	if (tern_loop_watch(listener->loop, &listener->watch, EPOLLIN))
		tern_loop_set_alarm(listener->loop, &listener->again, tern_loop_now() + AGAIN_NS);
}

static void ready(void *context, uint32_t events)
{
	struct tern_listener *listener = context;
	int fd = accept4(listener->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd >= 0) {
		listener->short_of = false;
		listener->accepted(listener->context, fd);
		return;
	}
	/* Others are about that connection, which is gone. */
	if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
		return;
	fd = -errno;
	look_away(listener);
	if (listener->short_of)
		return;
	listener->short_of = true;
	listener->accepted(listener->context, fd);
}

int tern_listener_open(struct tern_listener *listener, struct tern_loop *loop, const char *path,
		       char *error, size_t error_size)
{
	int err;

	listener->loop = loop;
	listener->watch = (struct tern_watch){ -1, ready, listener };
	listener->again.expired = look_again;
	listener->again.context = listener;
	listener->watch.fd = tern_socket_listen(path, error, error_size);
	if (listener->watch.fd < 0)
		return -1;
	listener->path = strdup(path);
	err = listener->path ? tern_loop_watch(loop, &listener->watch, EPOLLIN) : -ENOMEM;
	if (!err)
		return 0;
	snprintf(error, error_size, "%s: %s", path, strerror(-err));
	unlink(path);
	close(listener->watch.fd);
	free(listener->path);
	listener->path = NULL;
	return -1;
}

void tern_listener_close(struct tern_listener *listener)
{
	if (!listener->path)
		return;
	tern_loop_cancel_alarm(listener->loop, &listener->again);
	tern_loop_unwatch(listener->loop, &listener->watch);
	close(listener->watch.fd);
	unlink(listener->path);
	free(listener->path);
	listener->path = NULL;
}
