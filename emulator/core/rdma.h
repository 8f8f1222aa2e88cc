/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the RDMA engine as the rest of the core sees it. */
#ifndef TERN_RDMA_H
#define TERN_RDMA_H

#include <stdbool.h>
#include <stdint.h>

struct function;
struct tern_frame;

/* @mac is that of a valid GID entry: RoCE frames to it are the function's. */
bool rdma_owns_mac(const struct function *fn, const uint8_t *mac);

/*
 * A frame to the station's MAC or one of the above. True when it was RoCE to
 * a GID of @fn, in its VLAN: it is consumed, counted in rx_roce_* (not in
 * rx_packets), and may have been dropped. False: for the Ethernet queues.
 * Never sends: what is to be answered becomes active in the egress scheduler.
 */
bool rdma_receive(struct function *fn, const struct tern_frame *frame);

#endif /* TERN_RDMA_H */
