/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: places of the words of a queue record, and what the memory of every queue must satisfy. */
#ifndef TERN_RECORD_H
#define TERN_RECORD_H

#include <stddef.h>

#include "memory.h"
#include "tern_hw_doorbell.h"

#define RECORD_INDEX	offsetof(struct tern_queue_record, index)
#define RECORD_ARM	offsetof(struct tern_queue_record, arm)
#define RECORD_RING	offsetof(struct tern_queue_record, ring)

/*
 * page_list_set() for a queue of @length bytes: its first byte is aligned too,
 * so that no entry of up to TERN_QUEUE_ALIGN bytes lies across two pages.
 */
int queue_pages_set(struct page_list *list, const struct tern_page_list *from, uint64_t length,
		    size_t *field);

#endif /* TERN_RECORD_H */
