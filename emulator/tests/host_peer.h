/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: a peer that a test plays packet by packet: it takes the place of side
 * b of a pair. What side a sends is caught; what the test sends reaches side a.
 */
#ifndef TERN_HOST_PEER_H
#define TERN_HOST_PEER_H

#include "host_rdma.h"
#include "wire.h"

#define PEER_FRAMES	4096

struct peer_frame {
	uint64_t time;
	size_t length;
	uint8_t *bytes;
};

struct peer {
	struct rdma_pair *pair;
	struct wire_path path;		/* from b to a */
	struct peer_frame frames[PEER_FRAMES];
	unsigned int first, count;	/* caught and not yet looked at */
	struct wire_packet packet;	/* of the last peer_next()... */
	struct tern_frame frame;
	uint64_t time;			/* ...and when it was sent */
	uint8_t *bytes;
};

void peer_start(struct peer *peer, struct rdma_pair *pair);
void peer_stop(struct peer *peer);

/* The next packet that a sent, if any, after letting the NICs work; time stands still. */
bool peer_next(struct peer *peer);
/* The same, letting up to @ns pass until there is one. */
bool peer_wait(struct peer *peer, uint64_t ns);
/* Forget all that was caught. */
void peer_flush(struct peer *peer);

/* Headers of a packet to a's QP. */
struct wire_headers peer_headers(const struct peer *peer, uint8_t opcode, uint32_t psn);
/* Send a packet to a; its ICRC is right. */
void peer_send(struct peer *peer, struct wire_headers *headers, const void *payload,
	       size_t length);
void peer_acknowledge(struct peer *peer, uint32_t psn, uint8_t syndrome);

#endif /* TERN_HOST_PEER_H */
