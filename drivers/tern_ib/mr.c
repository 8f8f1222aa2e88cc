// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: memory regions. */
#include <linux/slab.h>

#include "convert.h"
#include "internal.h"
#include "verbs.h"

/*
 * What a region may be asked to allow. HUGETLB is a hint to ib_umem, optional
 * flags may be ignored by definition, and REMOTE_ATOMIC is a right that nobody
 * can use of a device without atomics.
 */
#define TERN_IB_MR_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

struct tern_ib_mr *tern_ib_new_mr(struct tern_ib_device *dev)
{
	struct tern_ib_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = tern_number_alloc(dev->tern, TERN_NUMBERS_KEY, &mr->index);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return mr;
}

void tern_ib_delete_mr(struct tern_ib_device *dev, struct tern_ib_mr *mr)
{
	tern_number_free(dev->tern, TERN_NUMBERS_KEY, mr->index);
	kfree(mr);
}

/**
 * tern_ib_create_key() - make the key of a region
 * @dev: the device
 * @mr: the region; gets its keys
 * @ibpd: protection domain
 * @body: command, but for PD and the key's low byte
 *
 * Keys of an index differ from one region to the next, so that an old one is found out.
 *
 * Return: 0 or a negative errno
 */
int tern_ib_create_key(struct tern_ib_device *dev, struct tern_ib_mr *mr,
		       const struct ib_pd *ibpd, struct tern_command_create_key *body)
{
	u8 consumer = atomic_inc_return(&dev->key_consumer);
	int err;

	body->pd = cpu_to_le32(container_of(ibpd, struct tern_ib_pd, ib)->number);
	body->consumer = consumer;
	err = tern_cmd_create_key(dev->tern, mr->index, body);
	if (err)
		return err;
	mr->ib.lkey = mr->index << TERN_KEY_INDEX_SHIFT | consumer;
	mr->ib.rkey = mr->ib.lkey;
	return 0;
}

static int tern_ib_create_region(struct tern_ib_device *dev, struct tern_ib_mr *mr,
				 const struct ib_pd *ibpd, const struct tern_page_list *pages,
				 u64 address, int access)
{
	struct tern_command_create_key body = {
		.pages = *pages,
		.address = cpu_to_le64(address),
		.access = cpu_to_le32(tern_ib_access_to(access)),
		.type = TERN_KEY_REGION,
	};

	return tern_ib_create_key(dev, mr, ibpd, &body);
}

/**
 * tern_ib_get_dma_mr() - a region of everything, for kernel consumers
 * @ibpd: protection domain
 * @access: rights
 *
 * Local access has the reserved key. A region for the peer spans the bus
 * addresses that one region can.
 *
 * Return: the region, or an error pointer
 */
struct ib_mr *tern_ib_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct tern_ib_device *dev = to_tern_ib(ibpd->device);
	struct tern_page_list everything = {
		.length = cpu_to_le64(dev->tern->caps.region_bytes_max),
	};
	struct tern_ib_mr *mr;
	int err;

	if (access & ~TERN_IB_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			IB_ACCESS_REMOTE_ATOMIC))) {
		mr = kzalloc(sizeof(*mr), GFP_KERNEL);
		if (!mr)
			return ERR_PTR(-ENOMEM);
		mr->ib.lkey = TERN_KEY_LOCAL_DMA;
		mr->ib.rkey = TERN_KEY_LOCAL_DMA;
		return &mr->ib;
	}

	mr = tern_ib_new_mr(dev);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = tern_ib_create_region(dev, mr, ibpd, &everything, 0, access);
	if (err)
		goto free_mr;
	return &mr->ib;

free_mr:
	tern_ib_delete_mr(dev, mr);
	return ERR_PTR(err);
}

struct ib_mr *tern_ib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 address,
				  int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibpd->device);
	struct tern_ib_mr *mr;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);
	if (dmah || access & ~TERN_IB_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!length || length > dev->tern->caps.region_bytes_max || address + length < address)
		return ERR_PTR(-EINVAL);

	mr = tern_ib_new_mr(dev);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->umem = ib_umem_get_va(&dev->ib, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto free_mr;
	}
	/* Where only reading is allowed the pages are pinned, and mapped, for reading. */
	err = tern_ib_umem_tables(dev, &mr->tables, mr->umem, address, mr->umem->writable);
	if (err)
		goto release_umem;
	err = tern_ib_create_region(dev, mr, ibpd, &mr->tables.list, address, access);
	if (err)
		goto destroy_tables;
	mr->ib.length = length;
	return &mr->ib;

destroy_tables:
	tern_page_tables_destroy(dev->tern, &mr->tables);
release_umem:
	ib_umem_release(mr->umem);
free_mr:
	tern_ib_delete_mr(dev, mr);
	return ERR_PTR(err);
}

int tern_ib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibmr->device);
	struct tern_ib_mr *mr = to_tern_mr(ibmr);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	if (!mr->index) {
		kfree(mr);
		return 0;
	}
	/* It may fail, but then the device is dead, and the key is gone all the same. */
	tern_cmd_destroy_key(dev->tern, mr->index);
	if (mr->umem) {
		tern_page_tables_destroy(dev->tern, &mr->tables);
		ib_umem_release(mr->umem);
	}
	tern_ib_free_fast_list(dev, mr);
	tern_ib_delete_mr(dev, mr);
	return 0;
}
