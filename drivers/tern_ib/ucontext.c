// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: what a process has of the device: a doorbell page, and the clock. */
#include <linux/slab.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <uapi/rdma/tern-abi.h>

#include "internal.h"
#include "tern_hw_pci.h"
#include "verbs.h"

#define UVERBS_MODULE_NAME tern_ib
#include <rdma/uverbs_named_ioctl.h>

enum tern_ib_mapping {
	TERN_IB_MAPPING_DOORBELL,
	TERN_IB_MAPPING_CLOCK,
	TERN_IB_MAPPING_DEVICE_MEMORY,
};

/**
 * struct tern_ib_mmap_entry - pages of the device that a process may map
 * @rdma: the core's part
 * @dev: the device
 * @what: what they are
 * @page: number of the doorbell page
 * @offset: of the device memory
 * @length: of the device memory
 *
 * It outlives its context, or device memory, where a mapping does, and keeps
 * the pages from being given to another process until then.
 */
struct tern_ib_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	struct tern_ib_device *dev;
	enum tern_ib_mapping what;
	u32 page;
	u64 offset;
	u64 length;
};

static struct tern_ib_mmap_entry *to_tern_mmap_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct tern_ib_mmap_entry, rdma);
}

void tern_ib_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct tern_ib_mmap_entry *entry = to_tern_mmap_entry(rdma_entry);

	if (entry->what == TERN_IB_MAPPING_DOORBELL)
		tern_doorbell_page_free(entry->dev->tern, entry->page);
	else if (entry->what == TERN_IB_MAPPING_DEVICE_MEMORY)
		tern_device_memory_free(entry->dev->tern, entry->offset, entry->length);
	kfree(entry);
}

static int tern_ib_add_doorbell(struct tern_ib_ucontext *ucontext)
{
	struct tern_ib_device *dev = to_tern_ib(ucontext->ib.device);
	struct tern_ib_mmap_entry *entry;
	int err;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->dev = dev;
	err = tern_doorbell_page_alloc(dev->tern, &entry->page);
	if (err)
		goto free_entry;
	err = rdma_user_mmap_entry_insert(&ucontext->ib, &entry->rdma, PAGE_SIZE);
	if (err)
		goto free_page;
	ucontext->doorbell_entry = &entry->rdma;
	ucontext->doorbell_page = entry->page;
	return 0;

free_page:
	tern_doorbell_page_free(dev->tern, entry->page);
free_entry:
	kfree(entry);
	return err;
}

static int tern_ib_add_clock(struct tern_ib_ucontext *ucontext)
{
	struct tern_ib_device *dev = to_tern_ib(ucontext->ib.device);
	struct tern_ib_mmap_entry *entry;
	int err;

	if (!tern_has(dev->tern, TERN_FEATURE_TIMESTAMPS))
		return 0;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->dev = dev;
	entry->what = TERN_IB_MAPPING_CLOCK;
	err = rdma_user_mmap_entry_insert(&ucontext->ib, &entry->rdma, PAGE_SIZE);
	if (err) {
		kfree(entry);
		return err;
	}
	ucontext->clock_entry = &entry->rdma;
	return 0;
}

/**
 * tern_ib_map_device_memory() - let a process map device memory
 * @ucontext: the process
 * @offset: of the memory
 * @length: of the memory
 *
 * Return: the entry, which from now on owns the memory, or an error pointer
 */
struct rdma_user_mmap_entry *tern_ib_map_device_memory(struct tern_ib_ucontext *ucontext,
						       u64 offset, u64 length)
{
	struct tern_ib_mmap_entry *entry;
	int err;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->dev = to_tern_ib(ucontext->ib.device);
	entry->what = TERN_IB_MAPPING_DEVICE_MEMORY;
	entry->offset = offset;
	entry->length = length;
	err = rdma_user_mmap_entry_insert(&ucontext->ib, &entry->rdma, PAGE_ALIGN(length));
	if (err) {
		kfree(entry);
		return ERR_PTR(err);
	}
	return &entry->rdma;
}

static void tern_ib_describe_ucontext(const struct tern_ib_ucontext *ucontext,
				      struct tern_uresp_alloc_ucontext *response)
{
	struct tern_ib_device *dev = to_tern_ib(ucontext->ib.device);

	*response = (struct tern_uresp_alloc_ucontext) {
		.features = dev->tern->features,
		.doorbell_offset = rdma_user_mmap_get_offset(ucontext->doorbell_entry),
		.inline_max = dev->limits.max_inline,
		.inline_max_ud = dev->limits.max_inline_ud,
		.cq_shift_max = dev->limits.cq_shift_max,
		.sq_shift_max = dev->limits.sq_shift_max,
		.rq_shift_max = dev->limits.rq_shift_max,
		.send_sge_max = dev->limits.max_send_sge,
		.receive_sge_max = dev->limits.max_recv_sge,
		.srq_sge_max = dev->limits.max_srq_sge,
	};
	/* The doorbell page was first: its offset is 0, no other's is. */
	if (ucontext->clock_entry)
		response->clock_offset = rdma_user_mmap_get_offset(ucontext->clock_entry);
}

int tern_ib_alloc_ucontext(struct ib_ucontext *ibucontext, struct ib_udata *udata)
{
	struct tern_ib_ucontext *ucontext = to_tern_ucontext(ibucontext);
	struct tern_uresp_alloc_ucontext response;
	struct tern_ureq_alloc_ucontext request;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, request, comp_mask, 0);
	if (err)
		return err;

	mutex_init(&ucontext->records_lock);
	INIT_LIST_HEAD(&ucontext->records);
	err = tern_ib_add_doorbell(ucontext);
	if (err)
		return err;
	err = tern_ib_add_clock(ucontext);
	if (err)
		goto remove_doorbell;

	tern_ib_describe_ucontext(ucontext, &response);
	err = ib_respond_udata(udata, response);
	if (err)
		goto remove_clock;
	return 0;

remove_clock:
	rdma_user_mmap_entry_remove(ucontext->clock_entry);
remove_doorbell:
	rdma_user_mmap_entry_remove(ucontext->doorbell_entry);
	return err;
}

/* Another process has been given the context's file: it maps the same doorbell page. */
int tern_ib_query_ucontext(struct ib_ucontext *ibucontext, struct uverbs_attr_bundle *attrs)
{
	struct tern_uresp_alloc_ucontext response;

	tern_ib_describe_ucontext(to_tern_ucontext(ibucontext), &response);
	return uverbs_copy_to_struct_or_zero(attrs, TERN_ATTR_QUERY_CONTEXT_RESPONSE, &response,
					     sizeof(response));
}

#define TERN_IB_UCONTEXT_RESPONSE						\
	UVERBS_ATTR_STRUCT(struct tern_uresp_alloc_ucontext, receive_sge_max)

ADD_UVERBS_ATTRIBUTES_SIMPLE(tern_ib_query_context, UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(TERN_ATTR_QUERY_CONTEXT_RESPONSE,
						 TERN_IB_UCONTEXT_RESPONSE, UA_MANDATORY));

const struct uapi_definition tern_ib_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &tern_ib_query_context),
	UAPI_DEF_CHAIN(tern_ib_dm_uapi),
	{}
};

void tern_ib_dealloc_ucontext(struct ib_ucontext *ibucontext)
{
	struct tern_ib_ucontext *ucontext = to_tern_ucontext(ibucontext);

	WARN_ON(!list_empty(&ucontext->records));
	rdma_user_mmap_entry_remove(ucontext->clock_entry);
	rdma_user_mmap_entry_remove(ucontext->doorbell_entry);
}

/* Doorbells can only be written, the clock only be read. */
static int tern_ib_check_vma(const struct tern_ib_mmap_entry *entry, struct vm_area_struct *vma)
{
	vm_flags_t never = VM_EXEC;

	if (entry->what == TERN_IB_MAPPING_DOORBELL)
		never |= VM_READ;
	else if (entry->what == TERN_IB_MAPPING_CLOCK)
		never |= VM_WRITE;
	if (vma->vm_flags & never)
		return -EPERM;
	/* Nor by mprotect(): each right has a MAY flag, at the same distance. */
	vm_flags_clear(vma, never << 4);
	return 0;
}

static phys_addr_t tern_ib_mapping_address(const struct tern_ib_mmap_entry *entry)
{
	const struct tern_device *tern = entry->dev->tern;

	switch (entry->what) {
	case TERN_IB_MAPPING_CLOCK:
		return pci_resource_start(tern->pdev, TERN_BAR_REGISTERS) + TERN_BAR0_CLOCK;
	case TERN_IB_MAPPING_DEVICE_MEMORY:
		return tern->device_memory_base + entry->offset;
	default:
		return tern->doorbell_base + ((phys_addr_t)entry->page << tern->doorbell_shift);
	}
}

int tern_ib_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma_entry;
	struct tern_ib_mmap_entry *entry;
	pgprot_t prot;
	int err;

	rdma_entry = rdma_user_mmap_entry_get(ibucontext, vma);
	if (!rdma_entry)
		return -EINVAL;
	entry = to_tern_mmap_entry(rdma_entry);
	err = tern_ib_check_vma(entry, vma);
	if (err)
		goto put_entry;
	if (entry->what == TERN_IB_MAPPING_DEVICE_MEMORY)
		prot = pgprot_writecombine(vma->vm_page_prot);
	else
		prot = pgprot_noncached(vma->vm_page_prot);
	err = rdma_user_mmap_io(ibucontext, vma, PHYS_PFN(tern_ib_mapping_address(entry)),
				rdma_entry->npages * PAGE_SIZE, prot, rdma_entry);
put_entry:
	rdma_user_mmap_entry_put(rdma_entry);
	return err;
}

/* The core has taken the mappings away; no process can reach the device by itself. */
void tern_ib_disassociate_ucontext(struct ib_ucontext *ibucontext)
{
}
