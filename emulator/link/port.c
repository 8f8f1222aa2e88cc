// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a NIC's port. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"

#define WAITING_BYTES_MAX	(8u << 20)

/* A copy of a frame. Its ICRC stays pending if it was: it has not left the process. */
struct waiting_frame {
	struct waiting_frame *next;
	struct tern_frame frame;
	struct tern_segment segment;
	uint8_t bytes[];
};

static void deliver_waiting(void *context);

struct tern_port *tern_port_create(struct tern_loop *loop, const struct tern_port_ops *ops,
				   void *nic)
{
	struct tern_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->loop = loop;
	port->ops = ops;
	port->nic = nic;
	port->up = true;
	port->waiting_tail = &port->waiting;
	port->deliver.run = deliver_waiting;
	port->deliver.context = port;
	return port;
}

static void drop_waiting(struct tern_port *port)
{
	while (port->waiting) {
		struct waiting_frame *waiting = port->waiting;

		port->waiting = waiting->next;
		free(waiting);
	}
	port->waiting_tail = &port->waiting;
	port->waiting_bytes = 0;
	tern_loop_undefer(port->loop, &port->deliver);
}

void tern_port_destroy(struct tern_port *port)
{
	if (!port)
		return;
	tern_port_unplug(port);
	tern_port_stop_capture(port);
	drop_waiting(port);
	free(port);
}

void tern_port_log(struct tern_port *port, const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	port->ops->log(port->nic, line);
}

static void record(struct tern_port *port, const struct tern_frame *frame)
{
	if (!port->capture || !tern_capture_frame(port->capture, frame))
		return;
	tern_port_log(port, "capture stopped: its file cannot be written any more");
	tern_port_stop_capture(port);
}

void tern_port_transmit(struct tern_port *port, const struct tern_frame *frame)
{
	if (!port->carrier) {
		port->statistics.sent_unplugged++;
		return;
	}
	port->statistics.sent_frames++;
	port->statistics.sent_bytes += tern_frame_length(frame);
	record(port, frame);
	port->plug_ops->transmit(port->plug, port, frame);
}

static void give(struct tern_port *port, const struct tern_frame *frame)
{
	if (!port->carrier) {
		port->statistics.received_no_carrier++;
		return;
	}
	port->statistics.received_frames++;
	port->statistics.received_bytes += tern_frame_length(frame);
	record(port, frame);
	port->ops->receive(port->nic, frame);
}

static void keep(struct tern_port *port, const struct tern_frame *frame)
{
	size_t length = frame->header_length + frame->payload_length, at;
	struct waiting_frame *waiting = NULL;

	if (length <= WAITING_BYTES_MAX - port->waiting_bytes)
		waiting = malloc(sizeof(*waiting) + length);
	if (!waiting) {
		port->statistics.received_overflow++;
		return;
	}
	memcpy(waiting->bytes, frame->header, frame->header_length);
	at = frame->header_length;
	for (unsigned int i = 0; i < frame->payload_count; i++) {
		memcpy(waiting->bytes + at, frame->payload[i].base, frame->payload[i].length);
		at += frame->payload[i].length;
	}
	waiting->frame = *frame;
	waiting->frame.header = waiting->bytes;
	waiting->segment.base = waiting->bytes + frame->header_length;
	waiting->segment.length = frame->payload_length;
	waiting->frame.payload = &waiting->segment;
	waiting->frame.payload_count = frame->payload_length ? 1 : 0;
	waiting->next = NULL;
	*port->waiting_tail = waiting;
	port->waiting_tail = &waiting->next;
	port->waiting_bytes += length;
	port->statistics.received_waited++;
	tern_loop_defer(port->loop, &port->deliver);
}

static void deliver_waiting(void *context)
{
	struct tern_port *port = context;
	struct waiting_frame *waiting = port->waiting;

	/* Those that come while these are given wait for the next turn. */
	port->waiting = NULL;
	port->waiting_tail = &port->waiting;
	port->waiting_bytes = 0;
	while (waiting) {
		struct waiting_frame *next = waiting->next;

		give(port, &waiting->frame);
		free(waiting);
		waiting = next;
	}
}

void tern_port_deliver(struct tern_port *port, const struct tern_frame *frame)
{
	/* Frames stay in order: none passes those that wait. */
	if (port->waiting || port->ops->busy(port->nic))
		keep(port, frame);
	else
		give(port, frame);
}

void tern_port_update(struct tern_port *port)
{
	bool carrier = port->up && port->plug && port->plug_ops->connected(port->plug, port);

	if (carrier == port->carrier)
		return;
	port->carrier = carrier;
	port->ops->carrier(port->nic, carrier);
}

void tern_port_set_up(struct tern_port *port, bool up)
{
	if (up == port->up)
		return;
	port->up = up;
	tern_port_update(port);
	if (port->plug && port->plug_ops->port_changed)
		port->plug_ops->port_changed(port->plug, port);
}

bool tern_port_is_up(const struct tern_port *port)
{
	return port->up;
}

bool tern_port_carrier(const struct tern_port *port)
{
	return port->carrier;
}

bool tern_port_is_plugged(const struct tern_port *port)
{
	return !!port->plug;
}

void tern_port_describe(const struct tern_port *port, char *text, size_t size)
{
	if (port->plug)
		port->plug_ops->describe(port->plug, port, text, size);
	else
		snprintf(text, size, "nothing");
}

void tern_port_get_statistics(const struct tern_port *port,
			      struct tern_port_statistics *statistics)
{
	*statistics = port->statistics;
}

int tern_port_plug(struct tern_port *port, const struct tern_plug_ops *ops, void *plug,
		   char *error, size_t error_size)
{
	char text[200];

	if (port->plug) {
		tern_port_describe(port, text, sizeof(text));
		snprintf(error, error_size, "its port is taken (%s): a port takes one link", text);
		return -1;
	}
	port->plug_ops = ops;
	port->plug = plug;
	return 0;
}

void tern_port_unplugged(struct tern_port *port)
{
	port->plug = NULL;
	port->plug_ops = NULL;
	tern_port_update(port);
}

void tern_port_unplug(struct tern_port *port)
{
	if (port->plug)
		port->plug_ops->unplug(port->plug);
}

int tern_port_start_capture(struct tern_port *port, const char *path, char *error,
			    size_t error_size)
{
	if (port->capture) {
		snprintf(error, error_size, "it is being captured already: stop that first");
		return -1;
	}
	port->capture = tern_capture_open(port->loop, path, error, error_size);
	return port->capture ? 0 : -1;
}

uint64_t tern_port_stop_capture(struct tern_port *port)
{
	uint64_t frames;

	if (!port->capture)
		return 0;
	frames = tern_capture_close(port->capture);
	port->capture = NULL;
	return frames;
}

bool tern_port_capturing(const struct tern_port *port)
{
	return !!port->capture;
}
