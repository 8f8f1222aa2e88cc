/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: what frames travel on.
 *
 * A port is a NIC's socket for a cable. Plugged into it is nothing, or one
 * of: the other end of a cable in this process, a unix stream in the framing
 * of QEMU's -netdev stream, a tap device.
 */
#ifndef TERN_LINK_H
#define TERN_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_loop.h"
#include "tern_nic.h"

/* The longest frame that a stream or tap carries; QEMU's own limit. */
#define TERN_FRAME_MAX	(4096 + 65536)

struct tern_port;

/* The NIC behind a port. */
struct tern_port_ops {
	void (*receive)(void *nic, const struct tern_frame *frame);
	void (*carrier)(void *nic, bool up);
	/* Is it in the middle of a call? Then a frame for it waits. */
	bool (*busy)(void *nic);
	/* A line for people. */
	void (*log)(void *nic, const char *line);
};

struct tern_port_statistics {
	uint64_t sent_frames, sent_bytes, received_frames, received_bytes;
	uint64_t sent_unplugged;	/* dropped: nothing plugged in, or no carrier */
	uint64_t sent_overflow;		/* dropped: the peer does not read fast enough */
	uint64_t received_bad;		/* dropped: too short or too long */
	uint64_t received_no_carrier;	/* dropped: this end is down */
	uint64_t received_waited;	/* copied, since the NIC was in the middle of a call */
	uint64_t received_overflow;	/* dropped: too many waited */
};

struct tern_port *tern_port_create(struct tern_loop *loop, const struct tern_port_ops *ops,
				   void *nic);
void tern_port_destroy(struct tern_port *port);

/* The NIC sends: its transmit callback. */
void tern_port_transmit(struct tern_port *port, const struct tern_frame *frame);

/* Pull the plug or put it back at this end (starts up). Carrier needs both ends up. */
void tern_port_set_up(struct tern_port *port, bool up);
bool tern_port_is_up(const struct tern_port *port);
bool tern_port_carrier(const struct tern_port *port);
bool tern_port_is_plugged(const struct tern_port *port);

/* "cable to b", "stream PATH, connected", "nothing", ... */
void tern_port_describe(const struct tern_port *port, char *text, size_t size);
void tern_port_get_statistics(const struct tern_port *port,
			      struct tern_port_statistics *statistics);

/*
 * Plug something in. 0, or -1 with the reason in @error; a port takes one
 * plug. @a may be @b: the NIC then hears itself.
 */
int tern_cable_plug(struct tern_port *a, const char *a_name, struct tern_port *b,
		    const char *b_name, char *error, size_t error_size);
int tern_stream_plug(struct tern_port *port, const char *path, bool server, char *error,
		     size_t error_size);
int tern_tap_plug(struct tern_port *port, const char *ifname, char *error, size_t error_size);
void tern_port_unplug(struct tern_port *port);

/*
 * Write all that the port sends and receives into a pcap file (nanosecond
 * timestamps, Ethernet). One capture per port. 0, or -1 with the reason.
 */
int tern_port_start_capture(struct tern_port *port, const char *path, char *error,
			    size_t error_size);
/* Returns how many frames the file has; 0 when there was no capture. */
uint64_t tern_port_stop_capture(struct tern_port *port);
bool tern_port_capturing(const struct tern_port *port);

#endif /* TERN_LINK_H */
