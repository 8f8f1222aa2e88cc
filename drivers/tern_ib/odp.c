// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: memory regions on demand: registered, found and freed. */
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>

#include "convert.h"
#include "internal.h"
#include "odp.h"

/* What an implicit region spans: what four levels of 4 KiB pages can. */
#define TERN_IB_ODP_IMPLICIT_BYTES	BIT_ULL(48)

static struct tern_ib_odp *tern_ib_new_odp(struct tern_ib_device *dev, const struct ib_pd *ibpd,
					   int access)
{
	struct tern_ib_odp *odp;

	odp = kzalloc(sizeof(*odp), GFP_KERNEL);
	if (!odp)
		return NULL;
	odp->dev = dev;
	odp->pd = ibpd;
	odp->writable = ib_access_writable(access);
	mutex_init(&odp->lock);
	xa_init(&odp->children);
	refcount_set(&odp->users, 1);
	init_completion(&odp->idle);
	return odp;
}

/* Its memory. The device does not know the region, and nobody else uses it. */
static void tern_ib_odp_free_memory(struct tern_ib_odp *odp)
{
	tern_ib_odp_remove_ranges(odp);
	if (odp->tables.root)
		tern_sparse_destroy(odp->dev->tern, &odp->tables);
	xa_destroy(&odp->children);
	kfree(odp);
}

/* The key, and the way from it to the region, which faults take at once. */
static int tern_ib_odp_publish(struct tern_ib_odp *odp, struct tern_ib_mr *mr,
			       const struct ib_pd *ibpd, int access)
{
	struct tern_ib_device *dev = odp->dev;
	struct tern_command_create_key body = {
		.pages = odp->tables.list,
		.address = cpu_to_le64(odp->address),
		.access = cpu_to_le32(tern_ib_region_access_to(access) | TERN_ACCESS_ON_DEMAND),
		.type = TERN_KEY_REGION,
	};
	int err;

	odp->index = mr->index;
	err = xa_err(xa_store(&dev->odp_regions, mr->index, odp, GFP_KERNEL));
	if (err)
		return err;
	err = tern_ib_create_key(dev, mr->index, ibpd, &body, &mr->ib.lkey);
	if (err) {
		xa_erase(&dev->odp_regions, mr->index);
		tern_ib_odp_put(odp);
		wait_for_completion(&odp->idle);
		return err;
	}
	WRITE_ONCE(odp->key, mr->ib.lkey);
	mr->ib.rkey = mr->ib.lkey;
	mr->ib.length = odp->length;
	mr->access = access;
	mr->address = odp->address;
	mr->odp = odp;
	return 0;
}

/**
 * tern_ib_reg_odp_mr() - make a memory region on demand
 * @ibpd: protection domain
 * @start: first byte in the process
 * @length: bytes; from 0 all that there may be: the region is implicit
 * @address: I/O virtual address of the first byte
 * @access: rights, known to the caller
 *
 * Return: the region, or an error pointer
 */
struct ib_mr *tern_ib_reg_odp_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 address,
				 int access)
{
	struct tern_ib_device *dev = to_tern_ib(ibpd->device);
	bool implicit = !start && length == U64_MAX;
	struct tern_ib_odp *odp;
	struct tern_ib_mr *mr;
	int err;

	if (!dev->fault_queue)
		return ERR_PTR(-EOPNOTSUPP);
	if (implicit) {
		/* There is no other way to name its memory. */
		if (address)
			return ERR_PTR(-EINVAL);
		length = TERN_IB_ODP_IMPLICIT_BYTES;
	}
	if (!length || length > dev->tern->caps.region_bytes_max || address + length < address)
		return ERR_PTR(-EINVAL);

	mr = tern_ib_new_mr(dev);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = -ENOMEM;
	odp = tern_ib_new_odp(dev, ibpd, access);
	if (!odp)
		goto delete_mr;
	odp->start = start;
	odp->length = length;
	odp->address = access & IB_ZERO_BASED ? 0 : address;
	err = tern_sparse_create(dev->tern, &odp->tables, length, offset_in_page(start),
				 PAGE_SHIFT);
	if (err)
		goto free_memory;
	err = implicit ? tern_ib_odp_add_root(odp, access) : tern_ib_odp_add_whole(odp, access);
	if (err)
		goto free_memory;
	err = tern_ib_odp_publish(odp, mr, ibpd, access);
	if (err)
		goto free_memory;
	return &mr->ib;

free_memory:
	tern_ib_odp_free_memory(odp);
delete_mr:
	tern_ib_delete_mr(dev, mr);
	return ERR_PTR(err);
}

/* Its key is destroyed. */
void tern_ib_free_odp(struct tern_ib_odp *odp)
{
	WRITE_ONCE(odp->ending, true);
	xa_erase(&odp->dev->odp_regions, odp->index);
	tern_ib_odp_put(odp);
	wait_for_completion(&odp->idle);
	tern_ib_odp_free_memory(odp);
}

/* The region that has the key @index, which stays until tern_ib_odp_put(); or NULL. */
struct tern_ib_odp *tern_ib_odp_get(struct tern_ib_device *dev, u32 index)
{
	struct tern_ib_odp *odp;

	xa_lock(&dev->odp_regions);
	odp = xa_load(&dev->odp_regions, index);
	if (odp)
		refcount_inc(&odp->users);
	xa_unlock(&dev->odp_regions);
	return odp;
}

void tern_ib_odp_put(struct tern_ib_odp *odp)
{
	if (refcount_dec_and_test(&odp->users))
		complete(&odp->idle);
}
