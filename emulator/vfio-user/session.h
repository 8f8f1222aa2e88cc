/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: one client's session: what a vfio-user message does. Inside of the
 * front end; its users see tern_vfio_user.h.
 */
#ifndef TERN_VFIO_USER_SESSION_H
#define TERN_VFIO_USER_SESSION_H

#include "channel.h"
#include "dma_map.h"
#include "tern_vfio_user.h"

struct tern_session {
	struct tern_channel *channel;
	struct tern_pci_function *function;
	struct tern_dma_map *dma;
	const struct tern_vfio_user_ops *ops;
	void *device;
	struct tern_vfio_user_statistics *statistics;
	bool negotiated;
	unsigned int vectors;
	int *eventfds;			/* one per vector, -1: none */
};

/*
 * Serve all whole messages of the channel. 0, -EAGAIN while the client does
 * not read its replies (call again once it can be written to), or another
 * negative errno when the session has to end; @reason then says why.
 */
int tern_session_serve(struct tern_session *session, const char **reason);

/* The client is gone or sent away: back to power-on. The channel is destroyed. */
void tern_session_end(struct tern_session *session);

/* Deliver an interrupt; a tern_msix_deliver_fn. */
void tern_session_deliver(void *session, unsigned int vector);

/* Answer VFIO_USER_VERSION: 0 with the reply queued, or a negative errno. */
int tern_session_negotiate(struct tern_session *session, const struct vfio_user_header *header,
			   const uint8_t *payload, size_t length);

/* VFIO_USER_DEVICE_GET_IRQ_INFO and VFIO_USER_DEVICE_SET_IRQS, likewise. */
int tern_session_irq_info(struct tern_session *session, const struct vfio_user_header *header,
			  const uint8_t *payload, size_t length);
int tern_session_set_irqs(struct tern_session *session, const struct vfio_user_header *header,
			  const uint8_t *payload, size_t length);

#endif /* TERN_VFIO_USER_SESSION_H */
