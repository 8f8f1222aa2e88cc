/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: what ingress hands to the RDMA engine. */
#ifndef TERN_RDMA_RECEIVE_H
#define TERN_RDMA_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

struct function;
struct tern_frame;

/* A valid GID entry of @fn has this MAC. */
bool rdma_owns_mac(const struct function *fn, const uint8_t *mac);

/*
 * A RoCE frame (ethertype 0x8915, or UDP port 4791 over IPv4 or IPv6) whose
 * destination MAC is @fn's station address, that of a valid GID entry, or
 * multicast. Returns false when its destination GID and VLAN match no valid
 * GID entry, or no multicast group: the frame goes to Ethernet then. A frame that matches but
 * is bad is dropped and counted here (true). Never sends (see mac_send()).
 */
bool rdma_receive(struct function *fn, const struct tern_frame *frame);

#endif /* TERN_RDMA_RECEIVE_H */
