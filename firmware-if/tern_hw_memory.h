/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern hardware contract: page lists, memory keys and access rights. */
#ifndef TERN_HW_MEMORY_H
#define TERN_HW_MEMORY_H

#include "tern_hw_types.h"

/*
 * A page list maps the bytes of a queue or memory region to bus addresses.
 *
 * levels 0: contiguous at root; page_shift and first_offset are 0.
 * levels 1..4: root is a 4 KiB table of 512 entries. Entries of the lowest
 * level name data pages of 1 << page_shift bytes, those above it tables.
 * Byte b of the range is in data page (first_offset + b) >> page_shift; its
 * number, in base 512, is the path through the tables, top digit first.
 */
struct tern_page_list {
	__le64 root;		/* bus address; of a table: 4 KiB aligned */
	__le64 length;		/* bytes */
	__le32 first_offset;	/* below 1 << page_shift */
	__u8 levels;		/* 0..TERN_PAGE_LEVELS_MAX */
	__u8 page_shift;	/* TERN_PAGE_SHIFT_MIN..MAX */
	__le16 reserved0;
	__le64 reserved1;
};

static_assert(sizeof(struct tern_page_list) == 32, "page list");

/* A queue's first byte is aligned: root (levels 0) and first_offset are multiples of this. */
#define TERN_QUEUE_ALIGN		64

#define TERN_PAGE_LEVELS_MAX		4
#define TERN_PAGE_SHIFT_MIN		12
#define TERN_PAGE_SHIFT_MAX		31
#define TERN_PAGE_TABLE_SHIFT		12	/* a table has 4 KiB: 512 entries of 8 bytes */
#define TERN_PAGE_TABLE_ENTRIES		512

/* An entry, __le64: address in the bits above, flags in the low 12. */
#define TERN_PAGE_PRESENT		TERN_MASK(0, 0)
#define TERN_PAGE_WRITE			TERN_MASK(1, 1)	/* data pages: the device may write */
#define TERN_PAGE_FLAGS			TERN_MASK(11, 0)

/*
 * Memory key: index in bits 31:8, the consumer's byte in bits 7:0. Index 0
 * is reserved: key 0 is the local DMA key, whose addresses are bus
 * addresses, legal in local SGEs of queues created TERN_QP_PRIVILEGED only.
 */
#define TERN_KEY_CONSUMER		TERN_MASK(7, 0)
#define TERN_KEY_INDEX			TERN_MASK(31, 8)
#define TERN_KEY_INDEX_SHIFT		8
#define TERN_KEY_LOCAL_DMA		0

/* Access rights of keys and queue pairs. Local read is always allowed. */
#define TERN_ACCESS_LOCAL_WRITE		TERN_MASK(0, 0)
#define TERN_ACCESS_REMOTE_WRITE	TERN_MASK(1, 1)
#define TERN_ACCESS_REMOTE_READ		TERN_MASK(2, 2)
#define TERN_ACCESS_REMOTE_ATOMIC	TERN_MASK(3, 3)
#define TERN_ACCESS_WINDOW_BIND		TERN_MASK(4, 4)
#define TERN_ACCESS_ZERO_BASED		TERN_MASK(5, 5)	/* addresses start at 0 */
#define TERN_ACCESS_ON_DEMAND		TERN_MASK(6, 6)	/* an absent page is a page fault event */
#define TERN_ACCESS_FLUSH_GLOBAL	TERN_MASK(8, 8)
#define TERN_ACCESS_FLUSH_PERSISTENT	TERN_MASK(9, 9)
#define TERN_ACCESS_RELAXED_ORDERING	TERN_MASK(20, 20)

#endif /* TERN_HW_MEMORY_H */
