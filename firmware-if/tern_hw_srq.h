/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: shared receive queues (TERN_FEATURE_SRQ).
 *
 * A ring of receive entries from which several queue pairs take, in the order
 * of posting. They complete in any order, each in the receive CQ of the queue
 * pair that took it, those of an XRC SRQ in its own: the completion's index is
 * the entry's tag, any number of the host's. The device copies an entry when it
 * takes it, so a place of the ring is free again when as many entries as the
 * ring has have been posted since and no more than that are outstanding.
 */
#ifndef TERN_HW_SRQ_H
#define TERN_HW_SRQ_H

#include "tern_hw_types.h"
#include "tern_hw_memory.h"

/* CREATE_SRQ; number: SRQN, not 0. DESTROY_SRQ has no body; refused while a QP uses the SRQ. */
struct tern_command_create_srq {
	__u8 shift;			/* log2 of its entries, 0..rq_shift_max */
	__u8 stride_shift;		/* log2 of an entry's bytes, 6..9 */
	__le16 reserved0;
	__le32 flags;			/* TERN_SRQ_PRIVILEGED... */
	__le32 pd;			/* of the entries' SGEs */
	__le32 doorbell_page;
	__le32 cqn;			/* with xrcd: where its entries complete; else 0 */
	__le32 xrcd;			/* TERN_FEATURE_XRC: its domain; 0: none */
	struct tern_page_list pages;	/* 1 << (shift + stride_shift) bytes */
	__le64 record;			/* bus address of its struct tern_queue_record */
	__le64 reserved1;
};

static_assert(sizeof(struct tern_command_create_srq) == 72, "create SRQ command");

#define TERN_SRQ_PRIVILEGED		TERN_MASK(0, 0)	/* may use TERN_KEY_LOCAL_DMA */

/*
 * MODIFY_SRQ; number: SRQN. A new ring has each entry that is posted and not
 * completed at the place of its index; the host posts nothing meanwhile.
 */
struct tern_command_modify_srq {
	__le32 mask;			/* TERN_SRQ_SET_* */
	__le32 limit;			/* event when fewer entries are posted; 0: none */
	__u8 shift;			/* log2 of the new ring's entries */
	__u8 reserved0[7];
	struct tern_page_list pages;	/* of the new ring; the stride stays */
	__le64 reserved1;
};

static_assert(sizeof(struct tern_command_modify_srq) == 56, "modify SRQ command");

#define TERN_SRQ_SET_LIMIT		TERN_MASK(0, 0)
#define TERN_SRQ_SET_SIZE		TERN_MASK(1, 1)

/* Answer of QUERY_SRQ; number: SRQN. */
struct tern_srq_status {
	__u8 failed;			/* 1: SRQ_ERROR; it can only be destroyed */
	__u8 reserved0[3];
	__le32 limit;			/* 0: the event has come or was not asked for */
	__le32 taken;			/* index of the entry that is taken next */
	__le32 completed;		/* entries that have completed */
	__le64 reserved1[2];
};

static_assert(sizeof(struct tern_srq_status) == 32, "SRQ status");

#endif /* TERN_HW_SRQ_H */
