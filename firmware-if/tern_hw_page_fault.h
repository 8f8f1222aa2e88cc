/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: on-demand paging, TERN_FEATURE_ON_DEMAND_PAGING.
 *
 * An access by a key with TERN_ACCESS_ON_DEMAND that finds an entry absent, or
 * not writable, makes one TERN_EVENT_PAGE_FAULT and waits. A queue pair has at
 * most one fault as requester and one as responder at a time.
 *
 * PAGE_FAULT: number is the QPN; data[0] the I/O virtual address in the region
 * that has the key index of data[1]; fault is what KEY_RESUME names.
 */
#ifndef TERN_HW_PAGE_FAULT_H
#define TERN_HW_PAGE_FAULT_H

#include "tern_hw_types.h"

/* Of the event's subtype */
#define TERN_PAGE_FAULT_RESPONDER	TERN_MASK(0, 0)	/* or its receive; else the requester */
#define TERN_PAGE_FAULT_WRITE		TERN_MASK(1, 1)	/* the device writes; else it reads */

/* Of the event's data[1] */
#define TERN_PAGE_FAULT_LENGTH		TERN_MASK(31, 0)	/* bytes that would be of use */
#define TERN_PAGE_FAULT_KEY_SHIFT	32			/* index of the key, 24 bits */

/*
 * KEY_INVALIDATE_PAGES; number: key index. When it has completed no access to
 * the range through entries as they were before it is left or follows.
 */
struct tern_command_key_invalidate_pages {
	__le64 address;		/* I/O virtual address in the region */
	__le64 length;		/* bytes, not zero */
	__le64 reserved0;
};

static_assert(sizeof(struct tern_command_key_invalidate_pages) == 24, "key invalidate command");

/*
 * KEY_RESUME; number: QPN of the event. result[0] is 1, or 0 when no such fault
 * waits: the queue pair was reset, say. That is no error.
 */
struct tern_command_key_resume {
	__le32 fault;		/* as in the event */
	__u8 status;		/* TERN_RESUME_* */
	__u8 reserved0[3];
	__le64 reserved1;
};

static_assert(sizeof(struct tern_command_key_resume) == 16, "key resume command");

#define TERN_RESUME_RETRY		0	/* make the access again */
#define TERN_RESUME_FAIL		1	/* the same; if it faults again it has failed */

#endif /* TERN_HW_PAGE_FAULT_H */
