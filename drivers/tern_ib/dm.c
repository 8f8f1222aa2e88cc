// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: device memory of processes, and regions of it. */
#include <linux/slab.h>
#include <uapi/rdma/tern-abi.h>

#include "convert.h"
#include "internal.h"
#include "verbs.h"

#define UVERBS_MODULE_NAME tern_ib
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct tern_ib_dm - a part of the device memory
 * @ib: the core's part
 * @offset: where it begins
 * @entry: how it is mapped; owns the part, which it keeps for as long as a mapping lasts
 */
struct tern_ib_dm {
	struct ib_dm ib;
	u64 offset;
	struct rdma_user_mmap_entry *entry;
};

static struct tern_ib_dm *to_tern_dm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct tern_ib_dm, ib);
}

static int tern_ib_describe_dm(const struct tern_ib_dm *dm, u64 length,
			       struct uverbs_attr_bundle *attrs, u16 attribute)
{
	const struct tern_uresp_dm response = {
		.mmap_offset = rdma_user_mmap_get_offset(dm->entry),
		.mmap_length = dm->entry->npages * PAGE_SIZE,
		.length = length,
	};

	return uverbs_copy_to_struct_or_zero(attrs, attribute, &response, sizeof(response));
}

struct ib_dm *tern_ib_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibucontext,
			       struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct tern_ib_device *dev = to_tern_ib(ibdev);
	struct tern_ib_dm *dm;
	int err;

	if (!dev->tern->device_memory_size)
		return ERR_PTR(-EOPNOTSUPP);
	dm = kzalloc(sizeof(*dm), GFP_KERNEL);
	if (!dm)
		return ERR_PTR(-ENOMEM);
	err = tern_device_memory_alloc(dev->tern, attr->length, attr->alignment, &dm->offset);
	if (err)
		goto free_dm;
	dm->entry = tern_ib_map_device_memory(to_tern_ucontext(ibucontext), dm->offset,
					      attr->length);
	if (IS_ERR(dm->entry)) {
		err = PTR_ERR(dm->entry);
		goto free_memory;
	}
	err = tern_ib_describe_dm(dm, attr->length, attrs, TERN_ATTR_ALLOC_DM_RESPONSE);
	if (err)
		goto remove_entry;
	return &dm->ib;

remove_entry:
	/* Which gives the memory back. */
	rdma_user_mmap_entry_remove(dm->entry);
	goto free_dm;
free_memory:
	tern_device_memory_free(dev->tern, dm->offset, attr->length);
free_dm:
	kfree(dm);
	return ERR_PTR(err);
}

/* No region is left of it; mappings may be, and keep it from being given to another. */
int tern_ib_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct tern_ib_dm *dm = to_tern_dm(ibdm);

	rdma_user_mmap_entry_remove(dm->entry);
	kfree(dm);
	return 0;
}

struct ib_mr *tern_ib_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
				struct ib_dm_mr_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct tern_ib_device *dev = to_tern_ib(ibpd->device);
	/* Its bounds are checked: it lies in the part. Addresses start at 0. */
	struct tern_command_create_key body = {
		.pages.root = cpu_to_le64(to_tern_dm(ibdm)->offset + attr->offset),
		.pages.length = cpu_to_le64(attr->length),
		.access = cpu_to_le32(tern_ib_region_access_to(attr->access_flags)),
		.type = TERN_KEY_DEVICE_MEMORY,
	};
	struct tern_ib_mr *mr;
	int err;

	if (!tern_ib_access_known(dev, attr->access_flags))
		return ERR_PTR(-EOPNOTSUPP);
	mr = tern_ib_new_mr(dev);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = tern_ib_create_key(dev, mr->index, ibpd, &body, &mr->ib.lkey);
	if (err)
		goto delete_mr;
	mr->ib.rkey = mr->ib.lkey;
	mr->ib.length = attr->length;
	mr->access = attr->access_flags;
	return &mr->ib;

delete_mr:
	tern_ib_delete_mr(dev, mr);
	return ERR_PTR(err);
}

/* Another process has been given the context's file: it maps the same pages. */
static int UVERBS_HANDLER(TERN_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs, TERN_ATTR_DM_QUERY_HANDLE);

	return tern_ib_describe_dm(to_tern_dm(ibdm), ibdm->length, attrs,
				   TERN_ATTR_DM_QUERY_RESPONSE);
}

#define TERN_IB_DM_RESPONSE	UVERBS_ATTR_STRUCT(struct tern_uresp_dm, length)

ADD_UVERBS_ATTRIBUTES_SIMPLE(tern_ib_dm_alloc, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(TERN_ATTR_ALLOC_DM_RESPONSE,
						 TERN_IB_DM_RESPONSE, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(TERN_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(TERN_ATTR_DM_QUERY_HANDLE, UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(TERN_ATTR_DM_QUERY_RESPONSE,
						TERN_IB_DM_RESPONSE, UA_MANDATORY));

ADD_UVERBS_METHODS(tern_ib_dm_methods, UVERBS_OBJECT_DM, &UVERBS_METHOD(TERN_METHOD_DM_QUERY));

const struct uapi_definition tern_ib_dm_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &tern_ib_dm_alloc),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &tern_ib_dm_methods),
	{}
};
