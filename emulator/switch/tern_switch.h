/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: a store-and-forward Ethernet switch: the one public header of
 * emulator/switch.
 *
 * It has no threads, no clock and no I/O: a host gives it the time, one timer
 * and a wire per port.
 *
 * Context: every function here is called on one thread per switch. The host's
 * transmit is called from tern_switch_timer() only; tern_switch_receive() may
 * be called from inside of it, the other functions may not.
 */
#ifndef TERN_SWITCH_H
#define TERN_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_nic.h"

struct tern_switch;

#define TERN_SWITCH_PORTS	64
#define TERN_SWITCH_PRIORITIES	8
/* The longest frame, without FCS: 9000 bytes of payload, with room, and a VLAN tag. */
#define TERN_SWITCH_FRAME_MAX	(9018 + 4)
#define TERN_SWITCH_BUFFER_MAX	(UINT64_C(1) << 30)
#define TERN_SWITCH_SPEED_MAX	UINT64_C(1600000)
#define TERN_SWITCH_DELAY_MAX	UINT64_C(1000000000)

struct tern_switch_host {
	uint64_t (*now)(void *host);
	/* As in tern_nic.h: tern_switch_timer() is wanted at @deadline. */
	void (*set_timer)(void *host, uint64_t deadline);
	/* The frame has arrived at the far end of @port's link; it is valid during the call. */
	void (*transmit)(void *host, unsigned int port, const struct tern_frame *frame);
	/* May be NULL: a line for people. */
	void (*log)(void *host, const char *line);
};

/* Of one priority, at every port's egress. */
struct tern_switch_priority_config {
	uint8_t weight;			/* 0: strict; else the share among those with one (ETS) */
	/* Marking by queue depth in bytes; kmax 0: none. */
	uint64_t kmin, kmax;
	double pmax;			/* probability just below kmax; from kmax on it is 1 */
	bool wred_drop;			/* frames that cannot be marked are dropped instead */
};

struct tern_switch_port_config {
	uint64_t speed_mbps;		/* 0: as fast as the timer comes */
	uint64_t delay_ns;		/* of the link, for what leaves the port */
	bool trust_dscp;		/* priority = DSCP >> 3 of IP packets, else the tag's PCP */
	uint8_t default_priority;	/* of frames that say nothing */
	/* Misbehaviour of the link for what leaves; probabilities 0..1. Not of pause frames. */
	double drop, duplicate, corrupt, delay;
	uint64_t extra_delay_ns;	/* of a delayed frame */
};

struct tern_switch_config {
	unsigned int ports;
	uint64_t buffer_bytes;		/* shared by all; 0: 2 MiB and all headroom */
	uint8_t pfc_priorities;		/* bit p: priority p is lossless */
	/*
	 * What one (port, lossless priority) may hold before XOFF, and one
	 * egress queue of a lossy priority before frames are dropped: alpha
	 * times what is free; with @xoff_bytes that many bytes instead.
	 */
	double alpha;			/* 0: 1, and 1/8 if lossless: above PFC is unfair to many */
	uint64_t xoff_bytes;
	uint64_t headroom_bytes;	/* per port and lossless priority; 0: 64 KiB */
	uint8_t average_shift;		/* depth is averaged by 2^-n per frame; 0: instantaneous */
	uint64_t ageing_ns;		/* 0: 300 s */
	bool vlan_filtering;		/* else VLANs pass everywhere as they came */
	uint64_t seed;
	struct tern_switch_priority_config priorities[TERN_SWITCH_PRIORITIES];
	struct tern_switch_port_config port[TERN_SWITCH_PORTS];
};

/* NULL with the reason in @error. */
struct tern_switch *tern_switch_create(const struct tern_switch_config *config,
				       const struct tern_switch_host *ops, void *host,
				       char *error, size_t error_size);
void tern_switch_destroy(struct tern_switch *sw);
/* Of what comes and leaves from now on. 0, or -1 with the reason in @error, nothing changed. */
int tern_switch_set_port(struct tern_switch *sw, unsigned int port,
			 const struct tern_switch_port_config *config, char *error,
			 size_t error_size);

/* A frame arrives at @port, whole. Always taken; dropped and counted where there is no room. */
void tern_switch_receive(struct tern_switch *sw, unsigned int port,
			 const struct tern_frame *frame);
/* The deadline of set_timer has come. Harmless when early. */
void tern_switch_timer(struct tern_switch *sw);
/* Starts down. What is queued for a port that goes down is dropped. */
void tern_switch_set_carrier(struct tern_switch *sw, unsigned int port, bool up);

enum tern_switch_vlan { TERN_SWITCH_VLAN_NONE, TERN_SWITCH_VLAN_UNTAGGED,
			TERN_SWITCH_VLAN_TAGGED };

/* With filtering: @port's membership of VLAN 1..4094, and the VLAN of untagged frames (0: none).
 * All ports start as untagged members of 1, their pvid. 0, or -EINVAL.
 */
int tern_switch_set_vlan(struct tern_switch *sw, unsigned int port, uint16_t vid,
			 enum tern_switch_vlan membership);
int tern_switch_set_pvid(struct tern_switch *sw, unsigned int port, uint16_t vid);

struct tern_switch_queue_statistics {
	uint64_t rx_packets, rx_bytes;	/* of this priority, that came in and were no control */
	uint64_t tx_packets, tx_bytes;
	uint64_t rx_drops;		/* at ingress: the buffer or headroom was full */
	uint64_t tx_drops;		/* at egress: over the queue's limit, or the link down */
	uint64_t wred_drops, marks;
	uint64_t pauses_sent, pauses_received;	/* with time; XON is counted in xons_* */
	uint64_t xons_sent, xons_received;
	uint64_t depth, depth_peak;	/* bytes in the egress queue */
	uint64_t held, held_peak;	/* bytes in the buffer that came in here */
	uint64_t paused_ns;		/* the egress queue was stopped */
};

struct tern_switch_port_statistics {
	uint64_t runts, oversize;	/* dropped for their length */
	uint64_t bad_source;		/* dropped: the source address is a group's */
	uint64_t reserved;		/* not forwarded: 01-80-C2-00-00-0x */
	uint64_t control;		/* MAC control frames, consumed */
	uint64_t bad_control;		/* of those: not understood */
	uint64_t vlan_filtered;
	uint64_t nowhere;		/* destination is behind the port it came from, or nobody */
	uint64_t flooded;
	uint64_t no_carrier;
	uint64_t impaired_drop, impaired_duplicate, impaired_corrupt, impaired_delay;
	uint64_t pause_frames_sent, pause_frames_received;
	bool carrier;
	struct tern_switch_queue_statistics priority[TERN_SWITCH_PRIORITIES];
};

void tern_switch_get_statistics(const struct tern_switch *sw, unsigned int port,
				struct tern_switch_port_statistics *statistics);

struct tern_switch_buffer_statistics {
	uint64_t size, shared_size, used, used_peak, headroom_used;
	uint64_t fdb_entries;		/* addresses known, aged ones too */
};

void tern_switch_get_buffer(const struct tern_switch *sw,
			    struct tern_switch_buffer_statistics *statistics);
/* The port that @mac in @vid was last seen at; -1: unknown or aged. */
int tern_switch_lookup(const struct tern_switch *sw, const uint8_t mac[6], uint16_t vid);

#endif /* TERN_SWITCH_H */
