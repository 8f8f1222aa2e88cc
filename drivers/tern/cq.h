/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Completion queues of the network interface. */
#ifndef TERN_CQ_H
#define TERN_CQ_H

#include "tern_core.h"
#include "tern_hw_cqe.h"

/**
 * struct tern_cq - a completion queue; its NAPI alone uses it
 * @tern: the function
 * @listener: takes its events
 * @buffer: the entries
 * @record: its record
 * @create: how it was created
 * @shift: log2 of the entries
 * @index: free-running consumer index
 * @sequence: of the last arming
 */
struct tern_cq {
	struct tern_device *tern;
	struct tern_cq_listener listener;
	struct tern_buffer buffer;
	struct tern_record record;
	struct tern_command_create_cq create;
	u8 shift;
	u32 index;
	u32 sequence;
};

/* Moderation of a completion queue's events: after so many or so long, or at once if both are 0. */
struct tern_moderation {
	u16 count;
	u16 usecs;
};

/* The listener's calls are set. */
int tern_cq_create(struct tern_device *tern, struct tern_cq *cq, u8 shift, unsigned int vector,
		   const struct tern_moderation *moderation);
void tern_cq_destroy(struct tern_cq *cq);
int tern_cq_moderate(struct tern_cq *cq, const struct tern_moderation *moderation);

/* The next entry, or NULL. All but its phase may be read. */
static inline const struct tern_cqe *tern_cq_next(const struct tern_cq *cq)
{
	const struct tern_cqe *cqe;
	u32 phase;

	cqe = tern_buffer_at(&cq->buffer, (cq->index & (BIT(cq->shift) - 1)) * sizeof(*cqe));
	phase = le32_to_cpu(READ_ONCE(cqe->phase)) & TERN_CQE_PHASE;
	if (phase == (cq->index >> cq->shift & 1))
		return NULL;
	/* Phase before the rest; pairs with the device's release store of phase. */
	dma_rmb();
	return cqe;
}

static inline void tern_cq_arm(struct tern_cq *cq)
{
	tern_arm(cq->tern, cq->record.cpu, TERN_DOORBELL_CQ_ARM, cq->listener.cqn,
		 TERN_ARM_NEXT, ++cq->sequence);
}

#endif /* TERN_CQ_H */
