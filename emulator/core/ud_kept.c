// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: datagrams that came while a page of the receive they are for was absent. */
#include <stdlib.h>
#include <string.h>

#include "page_fault.h"
#include "rdma_qp.h"

/* What a guest can make this process keep: of one queue pair, and of all of a NIC. */
#define KEPT_OF_ONE	16
#define KEPT_OF_ALL	512

struct kept_datagram {
	struct list link;
	struct wire_packet packet;
	struct tern_segment segment;
	uint8_t source_mac[6];
	uint8_t l3[TERN_GRH_BYTES];
	uint8_t payload[];
};

static bool has_room(const struct rdma_qp *rdma)
{
	return rdma->kept_count < KEPT_OF_ONE && nic_of(rdma)->rdma->kept < KEPT_OF_ALL;
}

/* What the frame's pointers lead to is gone when this call returns. */
static struct kept_datagram *copy(const struct wire_packet *packet)
{
	struct kept_datagram *kept = malloc(sizeof(*kept) + packet->payload_length);
	uint8_t *to;

	if (!kept)
		return NULL;
	kept->packet = *packet;
	to = kept->payload;
	for (unsigned int i = 0; i < packet->payload_count; i++) {
		memcpy(to, packet->payload[i].base, packet->payload[i].length);
		to += packet->payload[i].length;
	}
	memcpy(kept->source_mac, packet->source_mac, sizeof(kept->source_mac));
	memset(kept->l3, 0, sizeof(kept->l3));
	memcpy(kept->l3, packet->l3, packet->l3_length < sizeof(kept->l3) ? packet->l3_length :
									    sizeof(kept->l3));
	kept->segment.base = kept->payload;
	kept->segment.length = packet->payload_length;
	kept->packet.payload = &kept->segment;
	kept->packet.payload_count = packet->payload_length ? 1 : 0;
	kept->packet.source_mac = kept->source_mac;
	kept->packet.l3 = kept->l3;
	kept->packet.destination_mac = NULL;
	kept->packet.pad = NULL;
	kept->packet.icrc = NULL;
	return kept;
}

static void add(struct rdma_qp *rdma, struct kept_datagram *kept)
{
	list_add_tail(&rdma->kept, &kept->link);
	rdma->kept_count++;
	nic_of(rdma)->rdma->kept++;
}

static struct kept_datagram *take(struct rdma_qp *rdma)
{
	struct list *link = list_pop(&rdma->kept);

	if (!link)
		return NULL;
	rdma->kept_count--;
	nic_of(rdma)->rdma->kept--;
	return list_entry(link, struct kept_datagram, link);
}

void ud_keep(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	struct kept_datagram *kept = has_room(rdma) ? copy(packet) : NULL;

	if (kept)
		add(rdma, kept);
	else
		qp_count(rdma->qp, rx_ud_dropped, 1);
}

void ud_kept_resume(struct rdma_qp *rdma)
{
	/* Those that have to wait once more go to the list anew, in the same order. */
	for (unsigned int count = rdma->kept_count; count && rdma->kept_count; count--) {
		struct kept_datagram *kept = take(rdma);

		if (rdma->responder.fault.number || !ud_deliver(rdma, &kept->packet))
			add(rdma, kept);
		else
			free(kept);
	}
}

void ud_kept_drop(struct rdma_qp *rdma)
{
	struct kept_datagram *kept;

	while ((kept = take(rdma)))
		free(kept);
}
