/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: completions of kernel consumers. */
#ifndef TERN_IB_CQE_H
#define TERN_IB_CQE_H

#include <rdma/ib_verbs.h>
#include "ring.h"
#include "tern_hw_cqe.h"

static inline bool tern_ib_cqe_of_receiver(const struct tern_cqe *cqe)
{
	return cqe->opcode & TERN_CQE_RECEIVER;
}

/* Does the entry at free-running @index belong to this pass through a ring of 1 << @shift? */
static inline bool tern_ib_cqe_valid(u32 phase, u32 index, unsigned int shift)
{
	return (phase & TERN_CQE_PHASE) != ((index >> shift) & 1);
}

void tern_ib_decode_cqe(const struct tern_cqe *cqe, const struct tern_ib_posted *posted,
			struct ib_wc *wc);
void tern_ib_flushed_wc(const struct tern_ib_posted *posted, struct ib_wc *wc);

#endif /* TERN_IB_CQE_H */
