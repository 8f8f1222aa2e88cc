/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern RDMA driver: what is posted to a kernel shared receive queue and not
 * completed. Entries complete in any order; each has a tag, which is free
 * again then. Calls for one set of tags are serialised by the queue's lock.
 */
#ifndef TERN_IB_TAGS_H
#define TERN_IB_TAGS_H

#include <linux/types.h>

/**
 * struct tern_ib_tag - one tag
 * @wr_id: the consumer's cookie, while it is taken
 * @next: next free tag, or TERN_IB_TAG_TAKEN
 */
struct tern_ib_tag {
	u64 wr_id;
	u32 next;
};

#define TERN_IB_TAG_TAKEN	U32_MAX

/**
 * struct tern_ib_tags - the tags of a queue
 * @tags: by number
 * @count: how many there are
 * @free: first of the list of free ones; @count: there is none
 */
struct tern_ib_tags {
	struct tern_ib_tag *tags;
	u32 count;
	u32 free;
};

int tern_ib_tags_init(struct tern_ib_tags *tags, u32 count);
void tern_ib_tags_destroy(struct tern_ib_tags *tags);
bool tern_ib_tag_take(struct tern_ib_tags *tags, u64 wr_id, u32 *tag);
bool tern_ib_tag_give(struct tern_ib_tags *tags, u32 tag, u64 *wr_id);

#endif /* TERN_IB_TAGS_H */
