// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: memory regions that kernel consumers register by work requests. */
#include <linux/dma-mapping.h>

#include "convert.h"
#include "internal.h"
#include "verbs.h"

#define TERN_IB_FAST_TABLE_BYTES	(TERN_IB_FAST_PAGES_MAX * sizeof(__le64))
#define TERN_IB_FAST_BYTES		(2 * TERN_IB_FAST_TABLE_BYTES)

static_assert(BIT(TERN_PAGE_TABLE_SHIFT) == TERN_IB_FAST_TABLE_BYTES);

struct ib_mr *tern_ib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct tern_command_create_key body = { .type = TERN_KEY_FAST_REGISTRATION };
	struct tern_ib_device *dev = to_tern_ib(ibpd->device);
	struct tern_ib_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG || !tern_has(dev->tern, TERN_FEATURE_FAST_REGISTRATION))
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > TERN_IB_FAST_PAGES_MAX)
		return ERR_PTR(-EINVAL);

	mr = tern_ib_new_mr(dev);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	/* Of whole pages, as tables have to be: each half is one. */
	mr->fast.entries = dma_alloc_coherent(&dev->tern->pdev->dev, TERN_IB_FAST_BYTES,
					      &mr->fast.dma, GFP_KERNEL);
	if (!mr->fast.entries) {
		err = -ENOMEM;
		goto delete_mr;
	}
	mr->fast.limit = max_num_sg;
	err = tern_ib_create_key(dev, mr->index, ibpd, &body, &mr->ib.lkey);
	if (err)
		goto free_list;
	mr->ib.rkey = mr->ib.lkey;
	return &mr->ib;

free_list:
	tern_ib_free_fast_list(dev, mr);
delete_mr:
	tern_ib_delete_mr(dev, mr);
	return ERR_PTR(err);
}

/* Also of a region that has none. */
void tern_ib_free_fast_list(struct tern_ib_device *dev, struct tern_ib_mr *mr)
{
	if (mr->fast.entries)
		dma_free_coherent(&dev->tern->pdev->dev, TERN_IB_FAST_BYTES, mr->fast.entries,
				  mr->fast.dma);
}

static int tern_ib_set_page(struct ib_mr *ibmr, u64 address)
{
	struct tern_ib_fast_list *fast = &to_tern_mr(ibmr)->fast;
	__le64 *table = fast->entries + fast->which * TERN_IB_FAST_PAGES_MAX;

	if (fast->count >= fast->limit)
		return -ENOMEM;
	/* The rights are those of the registration. */
	table[fast->count++] = cpu_to_le64(address | TERN_PAGE_PRESENT | TERN_PAGE_WRITE);
	return 0;
}

int tern_ib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *list, int count,
		      unsigned int *offset)
{
	struct tern_ib_device *dev = to_tern_ib(ibmr->device);
	struct tern_ib_fast_list *fast = &to_tern_mr(ibmr)->fast;
	int mapped;

	if (!fast->entries || !is_power_of_2(ibmr->page_size) ||
	    !(dev->limits.page_sizes & ibmr->page_size))
		return -EINVAL;
	if (fast->posted) {
		fast->which ^= 1;
		fast->posted = false;
	}
	fast->count = 0;
	mapped = ib_sg_to_pages(ibmr, list, count, offset, tern_ib_set_page);
	fast->first_offset = ibmr->iova & (ibmr->page_size - 1);
	return mapped;
}

/**
 * tern_ib_fast_segment() - describe a registration to the device
 * @wr: the work request
 * @segment: set
 *
 * Return: 0, or -EINVAL when nothing is mapped
 */
int tern_ib_fast_segment(const struct ib_reg_wr *wr, struct tern_wqe_register *segment)
{
	const struct tern_ib_fast_list *fast = &to_tern_mr(wr->mr)->fast;

	if (!fast->entries || !fast->count)
		return -EINVAL;
	*segment = (struct tern_wqe_register) {
		.pages = {
			.root = cpu_to_le64(fast->dma + fast->which * TERN_IB_FAST_TABLE_BYTES),
			.length = cpu_to_le64(wr->mr->length),
			.first_offset = cpu_to_le32(fast->first_offset),
			.levels = 1,
			.page_shift = __ffs(wr->mr->page_size),
		},
		.address = cpu_to_le64(wr->mr->iova),
		.key = cpu_to_le32(wr->key),
		.access = cpu_to_le32(tern_ib_access_to(wr->access)),
	};
	return 0;
}

/**
 * tern_ib_fast_posted() - the registration is on its way
 * @wr: the work request
 *
 * The device uses this table until the key is invalidated. A consumer may map
 * the region anew before that, when the invalidation is posted together with
 * the next registration: so that goes to the other table. Or it registers the
 * same mapping again.
 */
void tern_ib_fast_posted(const struct ib_reg_wr *wr)
{
	to_tern_mr(wr->mr)->fast.posted = true;
}
