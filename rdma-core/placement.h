/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* ATOMIC_WRITE and FLUSH, which ibv_post_send() has no arguments for. */
#ifndef TERN_PLACEMENT_H
#define TERN_PLACEMENT_H

#include <tern_hw_regs.h>
#include "tern.h"

#define TERN_ATOMIC_WRITE_BYTES	8

/* What a struct ibv_send_wr has no room for. Its invalidate_rkey is FLUSH's TERN_FLUSH_*. */
struct tern_placement {
	uint32_t length;				/* FLUSH of a range */
	uint8_t value[TERN_ATOMIC_WRITE_BYTES];		/* ATOMIC_WRITE */
};

static inline bool tern_is_placement(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_FLUSH || opcode == IBV_WR_ATOMIC_WRITE;
}

/* The IBV_QP_EX_WITH_* of a device with these features. */
uint64_t tern_placement_ops(uint64_t features);
/* Returns 0 or a positive errno. */
int tern_set_flush(struct ibv_send_wr *wr, struct tern_placement *placement, size_t length,
		   uint8_t type, uint8_t level);
uint32_t tern_put_placement(struct tern_sq *sq, uint32_t slot, uint32_t posted,
			    const struct ibv_send_wr *wr, const struct tern_placement *placement);

#endif /* TERN_PLACEMENT_H */
