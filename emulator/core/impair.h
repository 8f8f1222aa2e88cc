/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: misbehaviour on the wire: which frames are hit, by what. Pure: no frame is moved here. */
#ifndef TERN_IMPAIR_H
#define TERN_IMPAIR_H

#include "tern_nic.h"

#define IMPAIR_RULES		32
#define IMPAIR_KINDS		6	/* of enum tern_misbehaviour */

struct impair {
	struct impair_rule {
		bool used;
		struct tern_wire_rule rule;
		uint64_t seen;		/* frames that matched, with nth */
	} rules[IMPAIR_RULES];
	unsigned int count;
	uint64_t state;			/* of the random numbers */
	uint64_t hits[IMPAIR_KINDS];
};

/* What happens to one frame. */
struct impair_verdict {
	unsigned int kinds;		/* bit: enum tern_misbehaviour */
	uint64_t delay_ns;
};

void impair_seed(struct impair *impair, uint64_t seed);
int impair_add(struct impair *impair, const struct tern_wire_rule *rule);
int impair_remove(struct impair *impair, int number);
void impair_judge(struct impair *impair, const struct tern_frame *frame,
		  struct impair_verdict *verdict);
/* Flip one bit behind the Ethernet header of @length flattened bytes. */
void impair_corrupt(struct impair *impair, uint8_t *frame, size_t length);

/* Mark @length flattened bytes CE, whose ECN bits were ECT. */
void impair_mark_ce(uint8_t *frame, size_t length);

/* The BTH opcode of a RoCE frame, -1 of others. */
int impair_bth_opcode(const struct tern_frame *frame);

#endif /* TERN_IMPAIR_H */
