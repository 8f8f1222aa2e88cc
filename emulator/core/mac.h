/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the MAC. Frames leave through it at the modelled speed and arrive
 * through it, and it misbehaves when it is told to.
 */
#ifndef TERN_MAC_H
#define TERN_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_nic;
struct tern_nic_config;
struct tern_frame;
struct function;
struct mac;

/* Bytes of a frame on the wire that are in no buffer: preamble, FCS, gap between frames. */
#define MAC_OVERHEAD		24
#define MAC_FCS_BYTES		4
#define MAC_FRAME_MIN		60		/* without FCS; shorter ones are padded */

/* NULL without memory. nic->host, nic->timers and the configuration must be there. */
struct mac *mac_create(struct tern_nic *nic, const struct tern_nic_config *config);
void mac_destroy(struct tern_nic *nic, struct mac *mac);

/*
 * Send @frame for @fn. Always taken: it is lost when the port is down. Counts
 * the transmit statistics of @fn.
 *
 * A frame to a function of this NIC (loopback) is received before mac_send()
 * returns, so the sender's state must be consistent before it calls: indices
 * and PSNs advanced first. Nothing is created or destroyed inside, but a queue
 * pair may go to ERROR, and sources may be activated or deactivated, the
 * caller's own included. Receiving sends nothing but MAC control frames, and these
 * not from inside: there is no recursion.
 */
void mac_send(struct tern_nic *nic, struct function *fn, const struct tern_frame *frame);

/* A MAC control frame, of MAC_FRAME_MIN bytes or more: before all else. The carrier is there. */
void mac_send_control(struct tern_nic *nic, const struct tern_frame *frame);

/*
 * The modelled link has room for a frame now. When it says no, it sees to it
 * that tern_nic_timer() comes when there is room.
 */
bool mac_ready(struct tern_nic *nic);
/* Nothing waits for the link but for something else, if for anything. */
void mac_idle(struct tern_nic *nic);

/* Frames that were put out since creation; the scheduler's budget. */
uint64_t mac_frames_sent(const struct tern_nic *nic);

/* The wire is plugged in. With the function's admin state up its port is up. */
bool mac_carrier(const struct tern_nic *nic);
bool mac_port_up(const struct tern_nic *nic, const struct function *fn);

/* What the port says of itself: 400000 when unpaced. */
uint32_t mac_speed_mbps(const struct tern_nic *nic);

/*
 * Frames that came while the NIC was inside another call, or sooner than the
 * host takes them, stand in the receive buffers. Receive up to @budget of them;
 * returns how many.
 */
unsigned int mac_drain_receive_buffer(struct tern_nic *nic, unsigned int budget);
/* Some of them may be received now. */
bool mac_receive_pending(struct tern_nic *nic);

/* For ingress.c */
/*
 * The host takes a frame now. When it says no, it sees to it that the buffers
 * are drained when it does.
 */
bool mac_host_ready(struct tern_nic *nic);
void mac_host_take(struct tern_nic *nic, size_t length);
void mac_count_received_down(struct tern_nic *nic);

/* Counters beside those of struct tern_port_statistics, for tern_nic_counters(). */
struct mac_counters {
	uint64_t dropped_port_down;	/* to the wire while the port was down */
	uint64_t received_port_down;	/* from the wire while it was unplugged */
	uint64_t rule_hits[6];		/* by enum tern_misbehaviour */
	uint64_t hold_overflow;		/* to be delayed or reordered, but too many already were */
};

const struct mac_counters *mac_counters(const struct tern_nic *nic);

#endif /* TERN_MAC_H */
