/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: between a port and what is plugged into it. Inside of emulator/link. */
#ifndef TERN_PORT_H
#define TERN_PORT_H

#include "capture.h"
#include "tern_link.h"

/* What a plug does. @plug is its own object. */
struct tern_plug_ops {
	/* Take @frame, which is valid during the call only. Counts what it drops in @from. */
	void (*transmit)(void *plug, struct tern_port *from, const struct tern_frame *frame);
	/* Is the far end there? */
	bool (*connected)(void *plug, struct tern_port *port);
	/* The near end @port went up or down; may be NULL. */
	void (*port_changed)(void *plug, struct tern_port *port);
	void (*describe)(void *plug, const struct tern_port *port, char *text, size_t size);
	/* Unplug from all ports and free. */
	void (*unplug)(void *plug);
};

struct waiting_frame;

struct tern_port {
	struct tern_loop *loop;
	const struct tern_port_ops *ops;
	void *nic;
	const struct tern_plug_ops *plug_ops;
	void *plug;
	struct tern_capture *capture;
	bool up, carrier;
	struct tern_port_statistics statistics;
	/* Frames that came while the NIC was busy, delivered before the loop looks on. */
	struct waiting_frame *waiting, **waiting_tail;
	size_t waiting_bytes;
	struct tern_deferred deliver;
};

/* A frame has come from the far end. */
void tern_port_deliver(struct tern_port *port, const struct tern_frame *frame);

/* Something that carrier depends on has changed. */
void tern_port_update(struct tern_port *port);

/* -1 with @error when something is plugged in already. */
int tern_port_plug(struct tern_port *port, const struct tern_plug_ops *ops, void *plug,
		   char *error, size_t error_size);
/* Called by unplug of struct tern_plug_ops for each port. */
void tern_port_unplugged(struct tern_port *port);

void tern_port_log(struct tern_port *port, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* TERN_PORT_H */
