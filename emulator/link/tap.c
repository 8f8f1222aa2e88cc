// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a link to the host's network by a tap device. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/if.h>
#include <linux/if_tun.h>

#include "port.h"

#define FRAMES_PER_TURN	64
#define FRAME_MIN	14

struct tap {
	struct tern_port *port;
	struct tern_watch watch;
	char ifname[IFNAMSIZ];
	bool gone;			/* the device was deleted */
	uint8_t buffer[TERN_FRAME_MAX];
};

static void tap_transmit(void *plug, struct tern_port *from, const struct tern_frame *frame)
{
	struct tap *tap = plug;
	size_t length = tern_frame_flatten(frame, tap->buffer, sizeof(tap->buffer));

	/* A tap takes a frame whole or not at all: its queue is full, or it is down. */
	if (!length || write(tap->watch.fd, tap->buffer, length) < 0)
		from->statistics.sent_overflow++;
}

/* A descriptor without its device is ready for ever: look no more. */
static void tap_lost(struct tap *tap, const char *why)
{
	tern_loop_unwatch(tap->port->loop, &tap->watch);
	tap->gone = true;
	tern_port_log(tap->port, "tap %s: %s", tap->ifname, why);
	tern_port_update(tap->port);
}

static void tap_ready(void *context, uint32_t events)
{
	struct tap *tap = context;

	(void)events;
	for (int i = 0; i < FRAMES_PER_TURN; i++) {
		ssize_t got = read(tap->watch.fd, tap->buffer, sizeof(tap->buffer));
		struct tern_frame frame;

		if (got < 0) {
			if (errno != EAGAIN && errno != EINTR)
				tap_lost(tap, strerror(errno));
			return;
		}
		if (got < FRAME_MIN) {
			tap->port->statistics.received_bad++;
			continue;
		}
		tern_frame_wrap(&frame, tap->buffer, (size_t)got);
		tern_port_deliver(tap->port, &frame);
	}
}

static bool tap_connected(void *plug, struct tern_port *port)
{
	const struct tap *tap = plug;

	(void)port;
	return !tap->gone;
}

static void tap_describe(void *plug, const struct tern_port *port, char *text, size_t size)
{
	const struct tap *tap = plug;

	(void)port;
	snprintf(text, size, "tap %s", tap->ifname);
}

static void tap_unplug(void *plug)
{
	struct tap *tap = plug;
	struct tern_port *port = tap->port;

	tern_loop_unwatch(port->loop, &tap->watch);
	close(tap->watch.fd);
	free(tap);
	tern_port_unplugged(port);
}

static const struct tern_plug_ops tap_ops = {
	.transmit = tap_transmit,
	.connected = tap_connected,
	.describe = tap_describe,
	.unplug = tap_unplug,
};

static int tap_open(struct tap *tap, char *error, size_t error_size)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };

	tap->watch.fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tap->watch.fd < 0) {
		snprintf(error, error_size, "/dev/net/tun: %s", strerror(errno));
		return -1;
	}
	strcpy(request.ifr_name, tap->ifname);
	if (ioctl(tap->watch.fd, TUNSETIFF, &request)) {
		snprintf(error, error_size,
			 "cannot open tap device %s: %s (make it for your user with \"ip tuntap add %s mode tap user $USER\", or run as root)",
			 tap->ifname, strerror(errno), tap->ifname);
		close(tap->watch.fd);
		return -1;
	}
	return 0;
}

int tern_tap_plug(struct tern_port *port, const char *ifname, char *error, size_t error_size)
{
	struct tap *tap;
	int err;

	if (!*ifname || strlen(ifname) >= IFNAMSIZ) {
		snprintf(error, error_size, "\"%s\" is no interface name: 1 to %d characters",
			 ifname, IFNAMSIZ - 1);
		return -1;
	}
	tap = calloc(1, sizeof(*tap));
	if (!tap) {
		snprintf(error, error_size, "out of memory");
		return -1;
	}
	tap->port = port;
	tap->watch.ready = tap_ready;
	tap->watch.context = tap;
	strcpy(tap->ifname, ifname);
	if (tap_open(tap, error, error_size))
		goto free_tap;
	err = tern_loop_watch(port->loop, &tap->watch, EPOLLIN);
	if (err) {
		snprintf(error, error_size, "tap device %s: %s", ifname, strerror(-err));
		goto close_tap;
	}
	if (tern_port_plug(port, &tap_ops, tap, error, error_size))
		goto unwatch;
	tern_port_update(port);
	return 0;

unwatch:
	tern_loop_unwatch(port->loop, &tap->watch);
close_tap:
	close(tap->watch.fd);
free_tap:
	free(tap);
	return -1;
}
