/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: what the RDMA engine hangs on the NIC and on each function. */
#ifndef TERN_RDMA_NIC_H
#define TERN_RDMA_NIC_H

#include "address.h"
#include "congestion_control.h"
#include "multicast.h"
#include "payload.h"
#include "wire.h"
#include "work_queue.h"

struct rdma_nic {
	struct send_wqe wqe;			/* fetched and not yet admitted */
	uint32_t requests_shared;		/* of REQUESTS_SHARED: in use */
	unsigned int kept;			/* datagrams, see ud_kept.c */
	struct congestion_control congestion;
	uint8_t bounce[PAYLOAD_BOUNCE_BYTES];	/* payload_gather(): what cannot be mapped */
	uint8_t received[WIRE_PACKET_BYTES_MAX]; /* a frame that came in odd pieces */
};

struct rdma_function {
	struct gid_table gids;
	struct multicast_groups multicast;
	uint16_t identification;		/* of the next IPv4 packet */
};

#endif /* TERN_RDMA_NIC_H */
