/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern hardware contract: commands that make event, completion and memory objects. */
#ifndef TERN_HW_QUEUE_H
#define TERN_HW_QUEUE_H

#include "tern_hw_types.h"
#include "tern_hw_memory.h"

/* CREATE_EQ; number: EQN. DESTROY_EQ has no body and is refused while a CQ uses the EQ. */
struct tern_command_create_eq {
	struct tern_page_list pages;	/* 32 << shift bytes */
	__le64 record;			/* bus address of its struct tern_queue_record */
	__le32 vector;			/* MSI-X vector, one EQ each */
	__u8 shift;			/* log2 of the entries, 1..eq_shift_max */
	__u8 reserved0[3];
	__le64 reserved1;
};

static_assert(sizeof(struct tern_command_create_eq) == 56, "create EQ command");

/*
 * CREATE_CQ; number: CQN. MODIFY_CQ takes the same body and changes
 * moderation only. DESTROY_CQ has no body; refused while a QP uses the CQ;
 * when it has completed no event of this CQ follows.
 */
struct tern_command_create_cq {
	struct tern_page_list pages;	/* 64 << shift bytes */
	__le64 record;			/* bus address of its struct tern_queue_record */
	__le32 eqn;
	__le32 doorbell_page;
	__u8 shift;			/* log2 of the entries, 1..cq_shift_max */
	__u8 reserved0;
	__le16 moderation_count;	/* event after this many completions... */
	/* ...or so many us since the first; both 0: at once; not 0 with a count above 1 */
	__le16 moderation_period;
	__le16 reserved1;
	__le64 reserved2;
};

static_assert(sizeof(struct tern_command_create_cq) == 64, "create CQ command");

/*
 * RESIZE_CQ; number: CQN. The device copies the entries from the old record's
 * index on to the new ring, from index 0 on, and uses the new ring and record
 * from then on. The host moves no index meanwhile.
 */
struct tern_command_resize_cq {
	struct tern_page_list pages;	/* 64 << shift bytes, zeroed */
	__le64 record;			/* index 0, arm as in the old record */
	__u8 shift;			/* log2 of the entries, 1..cq_shift_max */
	__u8 reserved0[7];
	__le64 reserved1;
};

static_assert(sizeof(struct tern_command_resize_cq) == 56, "resize CQ command");

/* Completion: result[0] is the number of entries that were copied. */

/*
 * CREATE_KEY; number: key index. The key is number << 8 | consumer.
 * Address a of the region is byte a - address of the page list. When
 * DESTROY_KEY (no body) has completed, no access by this key follows.
 * MODIFY_KEY takes the same body and replaces all of a region of type
 * TERN_KEY_REGION; when it has completed, no access to what it was follows.
 */
struct tern_command_create_key {
	struct tern_page_list pages;	/* length here is the region's */
	__le64 address;			/* I/O virtual address of its first byte */
	__le32 pd;
	__le32 access;			/* TERN_ACCESS_* */
	__u8 consumer;			/* low byte of the key */
	__u8 type;			/* TERN_KEY_* */
	__le16 reserved0;
	__le32 reserved1;
	__le64 reserved2;
};

static_assert(sizeof(struct tern_command_create_key) == 64, "create key command");

#define TERN_KEY_REGION			0
#define TERN_KEY_FAST_REGISTRATION	1	/* until REGISTER pages, address, access are 0 */
#define TERN_KEY_WINDOW_TYPE_1		2	/* free until BIND_WINDOW, as above */
#define TERN_KEY_WINDOW_TYPE_2		3	/* the same; IBTA: 2B */
#define TERN_KEY_DEVICE_MEMORY		4	/* region; pages.root: offset in device memory */

#endif /* TERN_HW_QUEUE_H */
