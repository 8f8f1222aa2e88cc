/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: event queue entries.
 *
 * An event queue is a ring of 32-byte entries. phase alternates with each
 * pass through the ring, 1 in the first; the host zeroes the ring before
 * CREATE_EQ. The device writes phase last, by a release store.
 *
 * COMPLETION and CQ_ERROR come on the CQ's event queue, all others on EQN 0.
 */
#ifndef TERN_HW_EVENT_H
#define TERN_HW_EVENT_H

#include "tern_hw_types.h"

struct tern_eqe {
	__u8 type;		/* TERN_EVENT_* */
	__u8 subtype;		/* as the type says, else 0 */
	__le16 reserved0;
	__le32 number;		/* CQN, QPN, SRQN or port, as the type says */
	__le64 data[2];		/* as the type says, else 0 */
	__le32 fault;		/* PAGE_FAULT: its number, for KEY_RESUME; else 0 */
	__le32 phase;		/* bit 0; the others are 0 */
};

static_assert(sizeof(struct tern_eqe) == 32, "event queue entry");

#define TERN_EQE_PHASE			TERN_MASK(0, 0)

#define TERN_EVENT_COMPLETION		0x01	/* CQN: an armed CQ got its completion */
#define TERN_EVENT_CQ_ERROR		0x02	/* CQN; subtype TERN_CQ_ERROR_* */
#define TERN_EVENT_QP_FATAL		0x10	/* QPN: entered ERROR; local catastrophic error */
#define TERN_EVENT_QP_REQUEST_ERROR	0x11	/* QPN: entered ERROR; peer's invalid request */
#define TERN_EVENT_QP_ACCESS_ERROR	0x12	/* QPN: entered ERROR; peer's access violation */
#define TERN_EVENT_QP_ESTABLISHED	0x13	/* QPN: first packet while in RTR */
#define TERN_EVENT_QP_DRAINED		0x14	/* QPN: SQ drained in SQD, with sqd_notify */
#define TERN_EVENT_QP_LAST_WQE		0x15	/* QPN with SRQ, in ERROR: takes no more receives */
#define TERN_EVENT_SRQ_LIMIT		0x20	/* SRQN */
#define TERN_EVENT_SRQ_ERROR		0x21	/* SRQN */
#define TERN_EVENT_PORT_STATE		0x30	/* port; subtype TERN_PORT_* */
#define TERN_EVENT_PAGE_FAULT		0x40	/* QPN; tern_hw_page_fault.h */
#define TERN_EVENT_MAILBOX		0x50	/* function; reserved: TERN_FEATURE_VF_MAILBOX */
#define TERN_EVENT_CONGESTION		0x60	/* priority; subtype TERN_CONGESTION_* */

#define TERN_CQ_ERROR_OVERRUN		1
#define TERN_CQ_ERROR_ACCESS		2	/* its memory cannot be accessed */

#endif /* TERN_HW_EVENT_H */
