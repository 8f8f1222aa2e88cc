/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: Ethernet for tests: a function with its port up, queue pairs, and frames to send. */
#ifndef TERN_HOST_ETHERNET_H
#define TERN_HOST_ETHERNET_H

#include "host_driver.h"
#include "tern_hw_ethernet.h"

#define NET_QPS			4
#define NET_RING_SHIFT		7
#define NET_RING		(1U << NET_RING_SHIFT)
#define NET_BUFFER		16384		/* room for each receive entry */
#define NET_SEND_BYTES		(1U << 20)	/* memory that frames to send are put into */

struct net {
	struct machine *machine;
	struct driver driver;
	struct driver_cq send_cq, receive_cq;
	struct driver_qp qps[NET_QPS];
	unsigned int qp_count;
	uint64_t buffers[NET_QPS];	/* of the receive entries, by index in the ring */
	uint64_t send_memory;
	uint32_t send_place;		/* next free byte there; it wraps */
};

/* A send request; net_send() fills the data in. */
struct net_send {
	struct tern_wqe_ethernet ethernet;
	uint8_t flags;			/* TERN_WQE_* beside SIGNALED, which is always set */
	/* Lengths of its SGEs while data lasts; the last one takes the rest. None: one SGE. */
	uint32_t pieces[30];
	unsigned int piece_count;
};

struct net_frame {
	struct tern_cqe cqe;
	uint8_t *data;			/* of an entry with one SGE */
	unsigned int qp;		/* which of net.qps */
};

/* @qps queue pairs in RTS, the first one default_qpn; receiving enabled; port up, MTU 1500. */
void net_start(struct net *net, struct machine *machine, unsigned int fn, unsigned int qps,
	       uint64_t without);
uint16_t net_set_port(struct net *net, uint32_t mtu, uint8_t state);
/* @flags beside ENABLE. */
uint16_t net_receive_mode(struct net *net, uint32_t flags);
/* Post @count receive entries of @bytes each to a queue pair. */
void net_post_receives(struct net *net, unsigned int qp, unsigned int count, uint32_t bytes);
/* A piece of memory for data to send, filled. */
uint64_t net_put(struct net *net, const void *data, size_t length);
/* Post a frame to the first queue pair; @how may be NULL. Returns its index. */
uint32_t net_send(struct net *net, const void *frame, size_t length, const struct net_send *how);
/* Status of the next send completion; the test ends when there is none. */
uint8_t net_send_status(struct net *net);
/* The next received frame. */
bool net_receive(struct net *net, struct net_frame *frame);

/*
 * Frames: Ethernet, IPv4 or IPv6, and TCP or UDP headers with right checksums
 * around @length bytes of payload that depend on @seed. Return the length.
 */
struct net_headers {
	const uint8_t *destination, *source;	/* MACs */
	bool ipv6, udp;
	bool tagged;
	uint16_t tci;
	uint16_t source_port, destination_port;
};

size_t net_build(uint8_t *frame, const struct net_headers *headers, size_t length,
		 unsigned int seed);
/* Offsets in such a frame. */
size_t net_l3(const struct net_headers *headers);
size_t net_l4(const struct net_headers *headers);
size_t net_payload(const struct net_headers *headers);
/* One's complement sum of the L4 part with its pseudo-header: 0xffff when its checksum is right. */
uint16_t net_l4_sum(const uint8_t *frame, size_t length, const struct net_headers *headers);

#endif /* TERN_HOST_ETHERNET_H */
