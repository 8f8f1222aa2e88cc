/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: doorbells and queue records.
 *
 * Each user context has a doorbell page of its own in BAR 2; page 0 is the
 * kernel's. A doorbell is one 64-bit write. The device drops and counts a
 * doorbell for a queue that was not created with the page it came through.
 *
 * Beside each queue stands a record in host memory. The host always keeps
 * its index there. With TERN_FEATURE_DOORBELL_RECORDS the device reads
 * indices from the records of busy queues by itself and asks for a doorbell
 * (ring != 0) only when it stops looking:
 *
 *   host: write WQEs, store-release index, full fence, load ring; when it is
 *         not 0 store ring = 0, then ring the doorbell
 *   device: store ring = 1, full fence, load index; sleep only if unchanged
 *
 * Without the feature the host rings always and arms by doorbell.
 */
#ifndef TERN_HW_DOORBELL_H
#define TERN_HW_DOORBELL_H

#include "tern_hw_types.h"

/* Offsets in a doorbell page. */
#define TERN_DOORBELL_SEND		0x00	/* number: QPN; index: producer, in blocks */
#define TERN_DOORBELL_RECEIVE		0x08	/* number: QPN; index: producer, in entries */
#define TERN_DOORBELL_CQ_ARM		0x10	/* number: CQN; index: arm word */
#define TERN_DOORBELL_EQ_ARM		0x18	/* number: EQN; index: arm word; page 0 only */
#define TERN_DOORBELL_SRQ		0x20	/* number: SRQN; index: producer, in entries */

/* The 64-bit value: number in bits 23:0, bits 31:24 zero, index in bits 63:32. */
#define TERN_DOORBELL_INDEX_SHIFT	32

/*
 * Arm word. mode says which next completion makes an event; sequence is one
 * more at each arming. The device makes one event per sequence: after it
 * wrote an entry it does a full fence, loads arm, and makes the event when
 * mode fits and the word differs from the one it last served. So the host
 * arms by: store arm, full fence, look at the queue once more.
 */
#define TERN_ARM_MODE			TERN_MASK(1, 0)
#define TERN_ARM_NONE			0
#define TERN_ARM_SOLICITED		1	/* solicited receive or any error */
#define TERN_ARM_NEXT			2
#define TERN_ARM_SEQUENCE		TERN_MASK(31, 2)
#define TERN_ARM_SEQUENCE_SHIFT		2

/* 128 bytes, 128-byte aligned: the host's cache line, then one that mostly the device writes. */
struct tern_queue_record {
	__le32 index;		/* free-running: producer of SQ, RQ, SRQ; consumer of CQ, EQ */
	__le32 arm;		/* CQ and EQ: arm word; else 0 */
	__le32 reserved0[14];
	__le32 ring;		/* SQ, RQ, SRQ: device: nonzero asks for a doorbell; host: 0 */
	__le32 reserved1[15];
};

static_assert(sizeof(struct tern_queue_record) == 128, "queue record");

#define TERN_QUEUE_RECORD_ALIGN		128

#endif /* TERN_HW_DOORBELL_H */
