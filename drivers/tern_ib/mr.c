// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: memory regions. */
#include <linux/slab.h>

#include "convert.h"
#include "internal.h"
#include "odp.h"
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
 * tern_ib_create_key() - make a memory key
 * @dev: the device
 * @index: its index
 * @ibpd: protection domain
 * @body: command, but for PD and the key's low byte
 * @key: set
 *
 * Keys of an index differ from one object to the next, so that an old one is found out.
 *
 * Return: 0 or a negative errno
 */
int tern_ib_create_key(struct tern_ib_device *dev, u32 index, const struct ib_pd *ibpd,
		       struct tern_command_create_key *body, u32 *key)
{
	int err;

	body->pd = cpu_to_le32(container_of(ibpd, struct tern_ib_pd, ib)->number);
	body->consumer = atomic_inc_return(&dev->key_consumer);
	err = tern_cmd_create_key(dev->tern, index, body);
	if (!err)
		*key = index << TERN_KEY_INDEX_SHIFT | body->consumer;
	return err;
}

static void tern_ib_describe_region(const struct tern_page_list *pages, u64 address, int access,
				    struct tern_command_create_key *body)
{
	*body = (struct tern_command_create_key) {
		.pages = *pages,
		.address = cpu_to_le64(access & IB_ZERO_BASED ? 0 : address),
		.access = cpu_to_le32(tern_ib_region_access_to(access)),
		.type = TERN_KEY_REGION,
	};
}

static int tern_ib_create_region(struct tern_ib_device *dev, struct tern_ib_mr *mr,
				 const struct ib_pd *ibpd, const struct tern_page_list *pages,
				 u64 address, int access)
{
	struct tern_command_create_key body;
	int err;

	tern_ib_describe_region(pages, address, access, &body);
	err = tern_ib_create_key(dev, mr->index, ibpd, &body, &mr->ib.lkey);
	if (err)
		return err;
	mr->ib.rkey = mr->ib.lkey;
	mr->access = access;
	mr->address = address;
	return 0;
}

bool tern_ib_access_known(const struct tern_ib_device *dev, int access)
{
	if (access & IB_ACCESS_MW_BIND && !tern_has(dev->tern, TERN_FEATURE_MEMORY_WINDOWS))
		return false;
	if (access & IB_ACCESS_FLUSH_GLOBAL && !tern_has(dev->tern, TERN_FEATURE_FLUSH))
		return false;
	return !(access & ~(TERN_IB_MR_ACCESS | IB_ACCESS_MW_BIND | IB_ZERO_BASED |
			    IB_ACCESS_FLUSH_GLOBAL));
}

static bool tern_ib_range_valid(const struct tern_ib_device *dev, u64 address, u64 length)
{
	return length && length <= dev->tern->caps.region_bytes_max && address + length >= address;
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

/* Make the region of @mr->umem, which is released when that fails. */
static int tern_ib_make_user_region(struct tern_ib_device *dev, struct tern_ib_mr *mr,
				    struct ib_pd *ibpd, u64 address, int access)
{
	int err;

	/* Where only reading is allowed the pages are pinned, and mapped, for reading. */
	err = tern_ib_umem_tables(dev, &mr->tables, mr->umem, address, mr->umem->writable);
	if (err)
		goto release_umem;
	err = tern_ib_create_region(dev, mr, ibpd, &mr->tables.list, address, access);
	if (err)
		goto destroy_tables;
	mr->ib.length = mr->umem->length;
	return 0;

destroy_tables:
	tern_page_tables_destroy(dev->tern, &mr->tables);
release_umem:
	ib_umem_release(mr->umem);
	return err;
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
	if (dmah || !tern_ib_access_known(dev, access & ~IB_ACCESS_ON_DEMAND))
		return ERR_PTR(-EOPNOTSUPP);
	if (access & IB_ACCESS_ON_DEMAND)
		return tern_ib_reg_odp_mr(ibpd, start, length, address, access);
	if (!tern_ib_range_valid(dev, address, length))
		return ERR_PTR(-EINVAL);

	mr = tern_ib_new_mr(dev);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->umem = ib_umem_get_va(&dev->ib, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto delete_mr;
	}
	err = tern_ib_make_user_region(dev, mr, ibpd, address, access);
	if (err)
		goto delete_mr;
	return &mr->ib;

delete_mr:
	tern_ib_delete_mr(dev, mr);
	return ERR_PTR(err);
}

struct ib_mr *tern_ib_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 address,
					 int fd, int access, struct ib_dmah *dmah,
					 struct uverbs_attr_bundle *attrs)
{
	struct tern_ib_device *dev = to_tern_ib(ibpd->device);
	struct ib_umem_dmabuf *dmabuf;
	struct tern_ib_mr *mr;
	int err;

	if (dmah || !tern_ib_access_known(dev, access))
		return ERR_PTR(-EOPNOTSUPP);
	if (!tern_ib_range_valid(dev, address, length))
		return ERR_PTR(-EINVAL);

	mr = tern_ib_new_mr(dev);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	/* Its owner must not move it: on demand are pages of processes only. */
	dmabuf = ib_umem_dmabuf_get_pinned(&dev->ib, offset, length, fd, access);
	if (IS_ERR(dmabuf)) {
		err = PTR_ERR(dmabuf);
		goto delete_mr;
	}
	mr->umem = &dmabuf->umem;
	err = tern_ib_make_user_region(dev, mr, ibpd, address, access);
	if (err)
		goto delete_mr;
	return &mr->ib;

delete_mr:
	tern_ib_delete_mr(dev, mr);
	return ERR_PTR(err);
}

/**
 * struct tern_ib_rereg - what a region is to become
 * @umem: its memory, new or as it was
 * @tables: page list of new memory
 * @address: I/O virtual address
 * @access: rights
 */
struct tern_ib_rereg {
	struct ib_umem *umem;
	struct tern_page_tables tables;
	u64 address;
	int access;
};

/* Replace the region; the old memory is given back when new has come. */
static int tern_ib_modify_region(struct tern_ib_device *dev, struct tern_ib_mr *mr,
				 const struct ib_pd *ibpd, const struct tern_ib_rereg *next)
{
	bool moved = next->umem != mr->umem;
	struct tern_command_create_key body;
	int err;

	tern_ib_describe_region(moved ? &next->tables.list : &mr->tables.list, next->address,
				next->access, &body);
	body.pd = cpu_to_le32(container_of(ibpd, struct tern_ib_pd, ib)->number);
	body.consumer = mr->ib.lkey & TERN_KEY_CONSUMER;
	err = tern_cmd_modify_key(dev->tern, mr->index, &body);
	if (err)
		return err;
	mr->access = next->access;
	mr->address = next->address;
	if (!moved)
		return 0;
	tern_page_tables_destroy(dev->tern, &mr->tables);
	ib_umem_release(mr->umem);
	mr->umem = next->umem;
	mr->tables = next->tables;
	mr->ib.length = next->umem->length;
	return 0;
}

/**
 * tern_ib_rereg_user_mr() - change a region of a process
 * @ibmr: the region
 * @flags: what is given of the following, IB_MR_REREG_*
 * @start: its memory
 * @length: of the memory
 * @address: I/O virtual address
 * @access: rights
 * @ibpd: protection domain; its own when it is to stay
 * @udata: none
 *
 * A region that this fails for is as it was.
 *
 * Return: NULL, the region keeps its keys, or an error pointer
 */
struct ib_mr *tern_ib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				    u64 address, int access, struct ib_pd *ibpd,
				    struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibmr->device);
	struct tern_ib_mr *mr = to_tern_mr(ibmr);
	struct tern_ib_rereg next = {
		.umem = mr->umem,
		.address = flags & IB_MR_REREG_TRANS ? address : mr->address,
		.access = flags & IB_MR_REREG_ACCESS ? access : mr->access,
	};
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);
	if (flags & ~IB_MR_REREG_SUPPORTED || !mr->umem || mr->umem->is_dmabuf ||
	    !tern_ib_access_known(dev, next.access))
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_TRANS)) {
		/* At this address another process has others. */
		if (mr->umem->owning_mm != current->mm)
			return ERR_PTR(-EINVAL);
		start = mr->umem->address;
		length = mr->umem->length;
	}
	if (!tern_ib_range_valid(dev, next.address, length))
		return ERR_PTR(-EINVAL);

	/* Pages that were pinned for reading are pinned anew to be written. */
	if (flags & IB_MR_REREG_TRANS ||
	    (ib_access_writable(next.access) && !mr->umem->writable)) {
		next.umem = ib_umem_get_va(&dev->ib, start, length, next.access);
		if (IS_ERR(next.umem))
			return ERR_CAST(next.umem);
		err = tern_ib_umem_tables(dev, &next.tables, next.umem, next.address,
					  next.umem->writable);
		if (err)
			goto release_umem;
	}
	err = tern_ib_modify_region(dev, mr, flags & IB_MR_REREG_PD ? ibpd : ibmr->pd, &next);
	if (err)
		goto destroy_tables;
	return NULL;

destroy_tables:
	if (next.umem != mr->umem)
		tern_page_tables_destroy(dev->tern, &next.tables);
release_umem:
	if (next.umem != mr->umem)
		ib_umem_release(next.umem);
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
	/* Other failures than a window's are a dead device's: the key is gone all the same. */
	if (tern_cmd_destroy_key(dev->tern, mr->index) == -EBUSY)
		return -EBUSY;
	if (mr->umem) {
		tern_page_tables_destroy(dev->tern, &mr->tables);
		ib_umem_release(mr->umem);
	}
	if (mr->odp)
		tern_ib_free_odp(mr->odp);
	tern_ib_free_fast_list(dev, mr);
	tern_ib_delete_mr(dev, mr);
	return 0;
}
