/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: multicast groups of a function, and the datagrams that come to them. */
#ifndef TERN_MULTICAST_H
#define TERN_MULTICAST_H

#include <stdbool.h>
#include <stdint.h>

#include "capabilities.h"
#include "list.h"

#define MULTICAST_BUCKETS	256

struct command;
struct function;
struct qp;
struct wire_packet;

/* A GID to which queue pairs are attached: it is there as long as one is. */
struct multicast_group {
	struct list link;
	uint8_t gid[16];
	unsigned int count;
	struct qp *qps[MULTICAST_QPS_MAX];
};

/* Part of struct rdma_function. */
struct multicast_groups {
	struct list buckets[MULTICAST_BUCKETS];
	unsigned int count;
};

void multicast_init(struct multicast_groups *groups);
/* Detaches all. */
void multicast_reset(struct multicast_groups *groups);

/* The group that a packet is for whose addresses are parsed. NULL: none. */
struct multicast_group *multicast_match(struct function *fn, const struct wire_packet *packet);
/* Give a packet, checked but for its Q_Key, to all queue pairs of the group. */
void multicast_deliver(struct multicast_group *group, const struct wire_packet *packet);

/* @qp is destroyed. */
void multicast_forget(struct qp *qp);

uint16_t attach_multicast_command(struct command *command);
uint16_t detach_multicast_command(struct command *command);

#endif /* TERN_MULTICAST_H */
