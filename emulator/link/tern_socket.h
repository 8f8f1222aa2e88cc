/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: unix stream sockets by path, for front ends, links and the control socket. */
#ifndef TERN_SOCKET_H
#define TERN_SOCKET_H

#include <stddef.h>

/*
 * A listening, non-blocking socket at @path. It appears there only once it
 * listens, so who sees it may connect. A socket that nobody serves any more
 * is replaced. A descriptor, or -1 with the reason in @error.
 */
int tern_socket_listen(const char *path, char *error, size_t error_size);

/*
 * Begin to connect a non-blocking socket to @path. A descriptor, connected
 * already (unix sockets never linger in between), or a negative errno.
 */
int tern_socket_connect(const char *path);

#endif /* TERN_SOCKET_H */
