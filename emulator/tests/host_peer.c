// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a peer that a test plays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "host_peer.h"

static void die(const char *what)
{
	fprintf(stderr, "peer: %s\n", what);
	abort();
}

static bool catch_frame(struct machine *machine, const struct tern_frame *frame)
{
	struct peer *peer = machine->private;
	struct peer_frame *place;

	if (peer->count == PEER_FRAMES)
		die("too many frames");
	place = &peer->frames[(peer->first + peer->count++) % PEER_FRAMES];
	place->time = machine->world->now;
	place->length = tern_frame_length(frame);
	place->bytes = malloc(place->length);
	if (!place->bytes || tern_frame_flatten(frame, place->bytes, place->length) !=
			     place->length)
		die("tern_frame_flatten()");
	return false;
}

void peer_start(struct peer *peer, struct rdma_pair *pair)
{
	const struct rdma_side *a = &pair->a, *b = &pair->b;
	struct wire_address address = {
		.network = pair->options.network == RDMA_V1 ? WIRE_V1 :
			   pair->options.network == RDMA_V2_IPV6 ? WIRE_V2_IPV6 : WIRE_V2_IPV4,
		.hop_limit = 64, .udp_source_port = 0xc0de,
	};

	memset(peer, 0, sizeof(*peer));
	peer->pair = pair;
	memcpy(address.destination_mac, a->mac, 6);
	memcpy(address.source_mac, b->mac, 6);
	memcpy(address.source_gid, b->gid, 16);
	memcpy(address.destination_gid, a->gid, 16);
	wire_path_build(&peer->path, &address);
	a->machine->private = peer;
	a->machine->on_transmit = catch_frame;
}

void peer_flush(struct peer *peer)
{
	for (; peer->count; peer->count--)
		free(peer->frames[peer->first++ % PEER_FRAMES].bytes);
	peer->first %= PEER_FRAMES;
}

void peer_stop(struct peer *peer)
{
	peer_flush(peer);
	free(peer->bytes);
	peer->bytes = NULL;
	peer->pair->a.machine->on_transmit = NULL;
}

static bool take(struct peer *peer)
{
	struct peer_frame *place = &peer->frames[peer->first];

	if (!peer->count)
		return false;
	free(peer->bytes);
	peer->bytes = place->bytes;
	peer->time = place->time;
	peer->first = (peer->first + 1) % PEER_FRAMES;
	peer->count--;
	tern_frame_wrap(&peer->frame, place->bytes, place->length);
	if (wire_parse_network(&peer->packet, &peer->frame) != WIRE_OK ||
	    wire_parse_transport(&peer->packet, &peer->frame) != WIRE_OK)
		die("the NIC sent a malformed packet");
	return true;
}

bool peer_next(struct peer *peer)
{
	if (!peer->count)
		world_settle(peer->pair->world);
	return take(peer);
}

static bool caught(void *arg)
{
	const struct peer *peer = arg;

	/* What a timer made due is sent before time goes on. */
	world_settle(peer->pair->world);
	return peer->count;
}

bool peer_wait(struct peer *peer, uint64_t ns)
{
	world_wait(peer->pair->world, caught, peer, ns);
	return take(peer);
}

struct wire_headers peer_headers(const struct peer *peer, uint8_t opcode, uint32_t psn)
{
	return (struct wire_headers){
		.opcode = opcode, .psn = psn & WIRE_PSN_MASK, .pkey = WIRE_PKEY_DEFAULT,
		.destination_qpn = peer->pair->a.qp.qpn,
		.reth.key = peer->pair->a.key, .reth.address = peer->pair->a.buffer,
	};
}

void peer_send(struct peer *peer, struct wire_headers *headers, const void *payload,
	       size_t length)
{
	uint8_t header[WIRE_HEADER_BYTES_MAX], *flat;
	struct tern_segment segment = { .base = payload, .length = length };
	struct tern_frame frame = {
		.header = header, .payload = &segment, .payload_count = length ? 1 : 0,
		.payload_length = length, .icrc_pending = true,
	};
	size_t total;

	frame.header_length = wire_build(header, &peer->path, headers, length, 1);
	frame.trailer_length = (uint8_t)(headers->pad + WIRE_ICRC_BYTES);
	/* Exactly as long as the frame, so that a sanitizer sees a read beyond it. */
	total = tern_frame_length(&frame);
	flat = malloc(total);
	if (!flat || tern_frame_flatten(&frame, flat, total) != total)
		die("tern_frame_flatten()");
	tern_frame_wrap(&frame, flat, total);
	host_receive(peer->pair->a.machine, &frame);
	free(flat);
}

void peer_acknowledge(struct peer *peer, uint32_t psn, uint8_t syndrome)
{
	struct wire_headers headers = peer_headers(peer, WIRE_RC_ACKNOWLEDGE, psn);

	headers.aeth.syndrome = syndrome;
	peer_send(peer, &headers, NULL, 0);
}
