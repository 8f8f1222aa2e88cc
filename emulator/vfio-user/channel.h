/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: vfio-user messages over a connected socket: cutting the stream into
 * messages, pairing descriptors with them, queueing replies.
 */
#ifndef TERN_VFIO_USER_CHANNEL_H
#define TERN_VFIO_USER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

#define TERN_CHANNEL_DATA_MAX	65536u		/* data of one region access */
#define TERN_CHANNEL_MESSAGE_MAX (TERN_CHANNEL_DATA_MAX + 64u)
#define TERN_CHANNEL_FDS_MAX	16u		/* descriptors of one message */

struct tern_channel;

/* Takes @fd, which is made non-blocking; it is closed by destroy. */
struct tern_channel *tern_channel_create(int fd);
void tern_channel_destroy(struct tern_channel *channel);

/*
 * Read what is there, at most once. Returns 1 when something came, 0 at the
 * end of the stream, or a negative errno: -EAGAIN when nothing is there,
 * -EMSGSIZE for more descriptors than negotiated.
 */
int tern_channel_receive(struct tern_channel *channel);

/*
 * The next whole message: 1, with its header, its payload (valid until the
 * next receive) and the payload's length. 0 when none is whole yet, -EPROTO
 * when the stream makes no sense. The message stays until it is consumed;
 * its descriptors that nobody took are then closed.
 */
int tern_channel_next(struct tern_channel *channel, struct vfio_user_header *header,
		      const uint8_t **payload, size_t *length);
void tern_channel_consume(struct tern_channel *channel);

/* Descriptors of the current message, in order; the caller closes them. Returns how many. */
unsigned int tern_channel_take_fds(struct tern_channel *channel,
				   int fds[TERN_CHANNEL_FDS_MAX]);

/*
 * Queue the reply to @request, with @error (a positive errno, 0 for success) and, on
 * success, @length bytes of payload; the caller fills the payload in at the
 * address returned. Nothing is queued when the request wants no reply. NULL
 * without room, which tern_channel_has_room() tells before.
 */
void *tern_channel_reply(struct tern_channel *channel, const struct vfio_user_header *request,
			 int error, size_t length);

/* Is there room for any reply? If not, flush before the next message is served. */
bool tern_channel_has_room(const struct tern_channel *channel);

/* Send what is queued: 0 when all is sent, -EAGAIN when some is left, or another negative errno. */
int tern_channel_flush(struct tern_channel *channel);

#endif /* TERN_VFIO_USER_CHANNEL_H */
