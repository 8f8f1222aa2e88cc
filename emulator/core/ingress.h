/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: ingress: to whom a received frame belongs. */
#ifndef TERN_INGRESS_H
#define TERN_INGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct function;
struct tern_frame;
struct tern_nic;

/*
 * A frame that @sender sends. Functions of this NIC that it is for receive it
 * now. Returns true when it is not for the wire: its destination is the
 * address of one of them.
 */
bool ingress_loopback(struct tern_nic *nic, struct function *sender,
		      const struct tern_frame *frame);

/* A frame that @fn sends: to its flows, unless ingress_loopback() will do that. */
void ingress_loopback_flows(struct function *fn, const struct tern_frame *frame);
/* A frame that @fn sends: to its sniffers. */
void ingress_sniff(struct function *fn, const struct tern_frame *frame);

/* The function of this NIC that has @mac is there: frames to it stay inside. */
bool ingress_is_local(const struct tern_nic *nic, const uint8_t *mac);

/* @mac is an address of another function of this NIC than @fn: it may not take it. */
bool ingress_mac_taken(const struct function *fn, const uint8_t *mac);

#endif /* TERN_INGRESS_H */
