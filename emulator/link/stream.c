// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: a link over a unix stream socket, in the framing of QEMU's -netdev
 * stream: a 32-bit big-endian length, then the frame. At the other end may be
 * QEMU or another ternd.
 *
 * Frames are gathered and written together before the loop sleeps or looks
 * at other descriptors: a write per frame would cost more than the frame.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "port.h"
#include "tern_listener.h"
#include "tern_socket.h"

#define OUT_SIZE	(4u << 20)	/* bounded: a peer that does not read loses frames */
#define OUT_EAGER	(128u << 10)	/* so much is written at once, for the peer to begin */
#define IN_SIZE		(512u << 10)
#define LENGTH_SIZE	4
#define RETRY_MIN_NS	20000000ULL
#define RETRY_MAX_NS	1000000000ULL
#define FRAME_MIN	14		/* an Ethernet header */

struct stream {
	struct tern_port *port;
	struct tern_loop *loop;
	char *path;
	bool server, connected;
	bool blocked;			/* the socket took no more: wait for EPOLLOUT */
	struct tern_listener listener;	/* of a server */
	struct tern_watch peer;
	struct tern_alarm retry;
	struct tern_deferred flush;
	uint64_t retry_ns;
	/* A ring: [out_head, out_tail) modulo OUT_SIZE waits to be written. */
	uint64_t out_head, out_tail;
	size_t in_used;
	uint8_t out[OUT_SIZE];
	uint8_t in[IN_SIZE];
	uint8_t frame[TERN_FRAME_MAX];
};

static void stream_lost(struct stream *stream, const char *why)
{
	if (!stream->connected)
		return;
	tern_loop_unwatch(stream->loop, &stream->peer);
	close(stream->peer.fd);
	stream->connected = false;
	stream->blocked = false;
	stream->out_head = 0;
	stream->out_tail = 0;
	stream->in_used = 0;
	tern_loop_undefer(stream->loop, &stream->flush);
	tern_port_log(stream->port, "stream %s: %s", stream->path, why);
	tern_port_update(stream->port);
	if (!stream->server) {
		stream->retry_ns = RETRY_MIN_NS;
		tern_loop_set_alarm(stream->loop, &stream->retry,
				    tern_loop_now() + stream->retry_ns);
	}
}

static void set_blocked(struct stream *stream, bool blocked)
{
	if (blocked == stream->blocked)
		return;
	stream->blocked = blocked;
	tern_loop_rewatch(stream->loop, &stream->peer,
			  blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void stream_flush(void *context)
{
	struct stream *stream = context;

	while (stream->out_head != stream->out_tail) {
		size_t at = stream->out_head % OUT_SIZE;
		size_t length = stream->out_tail - stream->out_head;
		size_t first = length < OUT_SIZE - at ? length : OUT_SIZE - at;
		struct iovec vector[2] = {
			{ stream->out + at, first },
			{ stream->out, length - first },
		};
		struct msghdr message = { .msg_iov = vector,
					  .msg_iovlen = length > first ? 2 : 1 };
		ssize_t written = sendmsg(stream->peer.fd, &message, MSG_NOSIGNAL);

		if (written < 0) {
			if (errno == EINTR)
				continue;
			/* What else is wrong shows up when the socket is read. */
			set_blocked(stream, errno == EAGAIN);
			return;
		}
		stream->out_head += (size_t)written;
	}
	set_blocked(stream, false);
}

static void put(struct stream *stream, const void *bytes, size_t length)
{
	size_t at = stream->out_tail % OUT_SIZE;
	size_t first = length < OUT_SIZE - at ? length : OUT_SIZE - at;

	memcpy(stream->out + at, bytes, first);
	memcpy(stream->out, (const uint8_t *)bytes + first, length - first);
	stream->out_tail += length;
}

static void stream_transmit(void *plug, struct tern_port *from, const struct tern_frame *frame)
{
	struct stream *stream = plug;
	size_t length = tern_frame_length(frame);
	size_t used = stream->out_tail - stream->out_head, at;
	uint32_t prefix = htonl((uint32_t)length);

	if (length > TERN_FRAME_MAX || LENGTH_SIZE + length > OUT_SIZE - used) {
		from->statistics.sent_overflow++;
		return;
	}
	put(stream, &prefix, sizeof(prefix));
	at = stream->out_tail % OUT_SIZE;
	if (length <= OUT_SIZE - at) {
		tern_frame_flatten(frame, stream->out + at, length);
		stream->out_tail += length;
	} else {
		tern_frame_flatten(frame, stream->frame, sizeof(stream->frame));
		put(stream, stream->frame, length);
	}
	if (stream->blocked)
		return;
	if (stream->out_tail - stream->out_head >= OUT_EAGER)
		stream_flush(stream);
	else
		tern_loop_defer(stream->loop, &stream->flush);
}

/* Give all whole frames to the port. Returns false when the stream makes no sense. */
static bool take_frames(struct stream *stream)
{
	size_t at = 0;
	bool sane = true;

	while (stream->in_used - at >= LENGTH_SIZE) {
		struct tern_frame frame;
		uint32_t length;

		memcpy(&length, stream->in + at, sizeof(length));
		length = ntohl(length);
		if (length > TERN_FRAME_MAX) {
			sane = false;
			break;
		}
		if (length > stream->in_used - at - LENGTH_SIZE)
			break;
		at += LENGTH_SIZE;
		if (length >= FRAME_MIN) {
			tern_frame_wrap(&frame, stream->in + at, length);
			tern_port_deliver(stream->port, &frame);
		} else {
			stream->port->statistics.received_bad++;
		}
		at += length;
	}
	stream->in_used -= at;
	memmove(stream->in, stream->in + at, stream->in_used);
	return sane;
}

static void stream_ready(void *context, uint32_t events)
{
	struct stream *stream = context;
	ssize_t got;

	if (events & EPOLLOUT)
		stream_flush(stream);
	if (!(events & ~(uint32_t)EPOLLOUT))
		return;
	got = recv(stream->peer.fd, stream->in + stream->in_used, IN_SIZE - stream->in_used, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		stream_lost(stream, got ? strerror(errno) : "the peer went away");
		return;
	}
	stream->in_used += (size_t)got;
	if (!take_frames(stream)) {
		stream->port->statistics.received_bad++;
		stream_lost(stream, "the peer announced a frame that is too long");
	}
}

static int stream_connected_to(struct stream *stream, int fd)
{
	int err;

	stream->peer.fd = fd;
	err = tern_loop_watch(stream->loop, &stream->peer, EPOLLIN);
	if (err) {
		close(fd);
		return err;
	}
	stream->connected = true;
	tern_port_log(stream->port, "stream %s: connected", stream->path);
	tern_port_update(stream->port);
	return 0;
}

static void stream_retry(void *context)
{
	struct stream *stream = context;
	int fd = tern_socket_connect(stream->path);

	if (fd >= 0 && !stream_connected_to(stream, fd)) {
		stream->retry_ns = RETRY_MIN_NS;
		return;
	}
	stream->retry_ns = stream->retry_ns * 2 < RETRY_MAX_NS ? stream->retry_ns * 2 :
			   RETRY_MAX_NS;
	tern_loop_set_alarm(stream->loop, &stream->retry, tern_loop_now() + stream->retry_ns);
}

static void stream_accepted(void *context, int fd)
{
	struct stream *stream = context;

	if (fd < 0) {
		tern_port_log(stream->port, "stream %s: a peer has to wait: %s", stream->path,
			      strerror(-fd));
		return;
	}
	/* A new peer takes the place of the old one, whose end may not have been seen yet. */
	stream_lost(stream, "a new peer takes over");
	if (stream_connected_to(stream, fd))
		tern_port_log(stream->port, "stream %s: cannot serve the peer", stream->path);
}

static bool stream_connected(void *plug, struct tern_port *port)
{
	const struct stream *stream = plug;

	(void)port;
	return stream->connected;
}

static void stream_describe(void *plug, const struct tern_port *port, char *text, size_t size)
{
	const struct stream *stream = plug;

	(void)port;
	snprintf(text, size, "stream %s, %s, %s", stream->path,
		 stream->server ? "server" : "client",
		 stream->connected ? "connected" : "not connected");
}

static void stream_unplug(void *plug)
{
	struct stream *stream = plug;
	struct tern_port *port = stream->port;

	if (stream->connected) {
		stream_flush(stream);
		tern_loop_unwatch(stream->loop, &stream->peer);
		close(stream->peer.fd);
	}
	tern_listener_close(&stream->listener);
	tern_loop_cancel_alarm(stream->loop, &stream->retry);
	tern_loop_undefer(stream->loop, &stream->flush);
	free(stream->path);
	free(stream);
	tern_port_unplugged(port);
}

static const struct tern_plug_ops stream_ops = {
	.transmit = stream_transmit,
	.connected = stream_connected,
	.describe = stream_describe,
	.unplug = stream_unplug,
};

int tern_stream_plug(struct tern_port *port, const char *path, bool server, char *error,
		     size_t error_size)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (stream)
		stream->path = strdup(path);
	if (!stream || !stream->path) {
		snprintf(error, error_size, "out of memory");
		goto free_stream;
	}
	stream->port = port;
	stream->loop = port->loop;
	stream->server = server;
	stream->listener.accepted = stream_accepted;
	stream->listener.context = stream;
	stream->peer = (struct tern_watch){ -1, stream_ready, stream };
	stream->retry.expired = stream_retry;
	stream->retry.context = stream;
	stream->retry_ns = RETRY_MIN_NS;
	stream->flush.run = stream_flush;
	stream->flush.context = stream;
	if (server && tern_listener_open(&stream->listener, port->loop, path, error, error_size))
		goto free_stream;
	if (tern_port_plug(port, &stream_ops, stream, error, error_size))
		goto close_listener;
	if (!server)
		stream_retry(stream);
	return 0;

close_listener:
	tern_listener_close(&stream->listener);
free_stream:
	if (stream)
		free(stream->path);
	free(stream);
	return -1;
}
