/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: a unix socket at a path, and who knocks there. */
#ifndef TERN_LISTENER_H
#define TERN_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#include "tern_loop.h"

/* Embedded in its owner, zeroed, then accepted and context filled in. */
struct tern_listener {
	/*
	 * A connection came, non-blocking; @fd is the owner's. Or @fd is a
	 * negative errno: the process has no descriptors or memory for another
	 * one, who knocks waits until it has. That is said once each time.
	 */
	void (*accepted)(void *context, int fd);
	void *context;
	struct tern_loop *loop;
	char *path;			/* NULL: not open */
	struct tern_watch watch;
	struct tern_alarm again;
	bool short_of;			/* ...descriptors or memory, and said so */
};

/* -1 with the reason in @error. */
int tern_listener_open(struct tern_listener *listener, struct tern_loop *loop, const char *path,
		       char *error, size_t error_size);
/* Removes the socket. Does nothing when it is not open. */
void tern_listener_close(struct tern_listener *listener);

#endif /* TERN_LISTENER_H */
