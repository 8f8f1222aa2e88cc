// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: vfio-user messages over a connected socket. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel.h"

#define FDS_KEPT	(4 * TERN_CHANNEL_FDS_MAX)
#define IN_SIZE		(2 * TERN_CHANNEL_MESSAGE_MAX)
#define OUT_SIZE	(4 * TERN_CHANNEL_MESSAGE_MAX)

/* A descriptor and the position in the stream where its message begins. */
struct received_fd {
	int fd;
	uint64_t message;
};

struct tern_channel {
	int fd;
	uint64_t position;		/* of in[in_start] in the stream */
	size_t in_start, in_end;
	size_t out_start, out_end;
	struct received_fd fds[FDS_KEPT];
	unsigned int fd_count;
	uint8_t in[IN_SIZE];
	uint8_t out[OUT_SIZE];
};

struct tern_channel *tern_channel_create(int fd)
{
	struct tern_channel *channel = calloc(1, sizeof(*channel));
	int flags;

	if (!channel)
		return NULL;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
		free(channel);
		return NULL;
	}
	channel->fd = fd;
	return channel;
}

void tern_channel_destroy(struct tern_channel *channel)
{
	if (!channel)
		return;
	for (unsigned int i = 0; i < channel->fd_count; i++)
		close(channel->fds[i].fd);
	close(channel->fd);
	free(channel);
}

static bool read_header(const struct tern_channel *channel, size_t at,
			struct vfio_user_header *header)
{
	if (channel->in_end - at < sizeof(*header))
		return false;
	memcpy(header, channel->in + at, sizeof(*header));
	return true;
}

static bool size_is_sane(const struct vfio_user_header *header)
{
	return header->size >= sizeof(*header) && header->size <= TERN_CHANNEL_MESSAGE_MAX;
}

/* Position in the stream at which the last message that has begun begins. */
static uint64_t last_beginning(const struct tern_channel *channel)
{
	struct vfio_user_header header;
	size_t at = channel->in_start;

	while (read_header(channel, at, &header) && size_is_sane(&header)) {
		if (header.size >= channel->in_end - at)
			break;
		at += header.size;
	}
	return channel->position + (at - channel->in_start);
}

/*
 * The kernel ends a read after the bytes that carried descriptors, so these
 * belong to the last message that has begun.
 */
static int keep_fds(struct tern_channel *channel, struct msghdr *message)
{
	uint64_t beginning = last_beginning(channel);
	int err = message->msg_flags & MSG_CTRUNC ? -EMSGSIZE : 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			struct received_fd received = { .message = beginning };

			memcpy(&received.fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (channel->fd_count == FDS_KEPT) {
				close(received.fd);
				err = -EMSGSIZE;
				continue;
			}
			channel->fds[channel->fd_count++] = received;
		}
	}
	return err;
}

int tern_channel_receive(struct tern_channel *channel)
{
	union {
		char bytes[CMSG_SPACE(TERN_CHANNEL_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec vector;
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1,
				  .msg_control = &control, .msg_controllen = sizeof(control) };
	size_t left = channel->in_end - channel->in_start;
	ssize_t got;
	int err;

	/* What is left is part of one message: there is room for the rest behind it. */
	if (channel->in_start) {
		memmove(channel->in, channel->in + channel->in_start, left);
		channel->in_start = 0;
		channel->in_end = left;
	}
	vector.iov_base = channel->in + left;
	vector.iov_len = sizeof(channel->in) - left;
	got = recvmsg(channel->fd, &message, MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	channel->in_end += (size_t)got;
	if (message.msg_controllen) {
		err = keep_fds(channel, &message);
		if (err)
			return err;
	}
	return got > 0;
}

int tern_channel_next(struct tern_channel *channel, struct vfio_user_header *header,
		      const uint8_t **payload, size_t *length)
{
	size_t have = channel->in_end - channel->in_start;

	if (!read_header(channel, channel->in_start, header))
		return 0;
	if (!size_is_sane(header))
		return -EPROTO;
	if (header->size > have)
		return 0;
	*payload = channel->in + channel->in_start + sizeof(*header);
	*length = header->size - sizeof(*header);
	return 1;
}

unsigned int tern_channel_take_fds(struct tern_channel *channel, int fds[TERN_CHANNEL_FDS_MAX])
{
	unsigned int taken = 0, kept = 0;

	for (unsigned int i = 0; i < channel->fd_count; i++) {
		struct received_fd *received = &channel->fds[i];

		if (received->message == channel->position && taken < TERN_CHANNEL_FDS_MAX)
			fds[taken++] = received->fd;
		else
			channel->fds[kept++] = *received;
	}
	channel->fd_count = kept;
	return taken;
}

void tern_channel_consume(struct tern_channel *channel)
{
	struct vfio_user_header header;
	unsigned int kept = 0;

	memcpy(&header, channel->in + channel->in_start, sizeof(header));
	channel->in_start += header.size;
	channel->position += header.size;
	for (unsigned int i = 0; i < channel->fd_count; i++) {
		if (channel->fds[i].message < channel->position)
			close(channel->fds[i].fd);
		else
			channel->fds[kept++] = channel->fds[i];
	}
	channel->fd_count = kept;
}

bool tern_channel_has_room(const struct tern_channel *channel)
{
	return sizeof(channel->out) - channel->out_end >= TERN_CHANNEL_MESSAGE_MAX;
}

void *tern_channel_reply(struct tern_channel *channel, const struct vfio_user_header *request,
			 int error, size_t length)
{
	struct vfio_user_header reply = {
		.id = request->id,
		.command = request->command,
		.flags = VFIO_USER_TYPE_REPLY | (error ? VFIO_USER_ERROR : 0),
		.error = (uint32_t)error,
	};
	uint8_t *at = channel->out + channel->out_end;

	if (error)
		length = 0;
	reply.size = (uint32_t)(sizeof(reply) + length);
	if (sizeof(channel->out) - channel->out_end < reply.size)
		return NULL;
	/* Without a reply wanted the caller fills in free space, and it stays free. */
	if (!(request->flags & VFIO_USER_NO_REPLY)) {
		memcpy(at, &reply, sizeof(reply));
		channel->out_end += reply.size;
	}
	return at + sizeof(reply);
}

int tern_channel_flush(struct tern_channel *channel)
{
	while (channel->out_start < channel->out_end) {
		ssize_t sent = send(channel->fd, channel->out + channel->out_start,
				    channel->out_end - channel->out_start, MSG_NOSIGNAL);

		if (sent < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		channel->out_start += (size_t)sent;
	}
	channel->out_start = 0;
	channel->out_end = 0;
	return 0;
}
