// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: tags of entries of kernel shared receive queues. Pure logic. */
#include <linux/limits.h>
#include <linux/slab.h>

#include "tags.h"

int tern_ib_tags_init(struct tern_ib_tags *tags, u32 count)
{
	u32 i;

	tags->tags = kvcalloc(count, sizeof(*tags->tags), GFP_KERNEL);
	if (!tags->tags)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		tags->tags[i].next = i + 1;
	tags->count = count;
	tags->free = 0;
	return 0;
}

void tern_ib_tags_destroy(struct tern_ib_tags *tags)
{
	kvfree(tags->tags);
	tags->tags = NULL;
}

/**
 * tern_ib_tag_take() - take a tag for an entry
 * @tags: the tags
 * @wr_id: the consumer's cookie
 * @tag: set to the tag
 *
 * Return: false when all are taken
 */
bool tern_ib_tag_take(struct tern_ib_tags *tags, u64 wr_id, u32 *tag)
{
	u32 free = tags->free;

	if (free == tags->count)
		return false;
	tags->free = tags->tags[free].next;
	tags->tags[free] = (struct tern_ib_tag) { .wr_id = wr_id, .next = TERN_IB_TAG_TAKEN };
	*tag = free;
	return true;
}

/**
 * tern_ib_tag_give() - give the tag of a completed entry back
 * @tags: the tags
 * @tag: the tag, as the device says
 * @wr_id: set to the consumer's cookie
 *
 * Return: false when it is not taken: the device lies
 */
bool tern_ib_tag_give(struct tern_ib_tags *tags, u32 tag, u64 *wr_id)
{
	if (tag >= tags->count || tags->tags[tag].next != TERN_IB_TAG_TAKEN)
		return false;
	*wr_id = tags->tags[tag].wr_id;
	tags->tags[tag].next = tags->free;
	tags->free = tag;
	return true;
}
