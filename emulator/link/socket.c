// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: unix stream sockets by path. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tern_socket.h"

#define BACKLOG	16

static bool fill_address(struct sockaddr_un *address, const char *path)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address->sun_path))
		return false;
	strcpy(address->sun_path, path);
	return true;
}

int tern_socket_connect(const char *path)
{
	struct sockaddr_un address;
	int fd, err;

	if (!fill_address(&address, path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* May the name be taken? Only when nothing is there, or a socket without a server. */
static bool name_is_free(const char *path, char *error, size_t error_size)
{
	struct stat st;
	int fd;

	if (lstat(path, &st))
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(error, error_size,
			 "%s exists and is no socket: remove it or choose another path", path);
		return false;
	}
	fd = tern_socket_connect(path);
	if (fd == -ECONNREFUSED)
		return true;
	if (fd >= 0)
		close(fd);
	snprintf(error, error_size,
		 "%s is served by another process: stop it or choose another path", path);
	return false;
}

int tern_socket_listen(const char *path, char *error, size_t error_size)
{
	struct sockaddr_un address;
	char temporary[sizeof(address.sun_path)];
	int fd;

	if (snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid()) >=
	    (int)sizeof(temporary) || !fill_address(&address, temporary)) {
		snprintf(error, error_size, "%s: a socket's path may have at most %zu characters",
			 path, sizeof(address.sun_path) - 12);
		return -1;
	}
	if (!name_is_free(path, error, error_size))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		snprintf(error, error_size, "socket: %s", strerror(errno));
		return -1;
	}
	unlink(temporary);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG) ||
	    rename(temporary, path)) {
		snprintf(error, error_size, "cannot make the socket %s: %s", path,
			 strerror(errno));
		unlink(temporary);
		close(fd);
		return -1;
	}
	return fd;
}
