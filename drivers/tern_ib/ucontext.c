// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: what a process has of the device: a doorbell page of its own. */
#include <linux/slab.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <uapi/rdma/tern-abi.h>

#include "internal.h"
#include "verbs.h"

#define UVERBS_MODULE_NAME tern_ib
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct tern_ib_mmap_entry - a doorbell page that a process may map
 * @rdma: the core's part
 * @dev: the device
 * @page: number of the doorbell page
 *
 * It outlives its context where a mapping does, and keeps the page from being
 * given to another process until then.
 */
struct tern_ib_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	struct tern_ib_device *dev;
	u32 page;
};

static struct tern_ib_mmap_entry *to_tern_mmap_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct tern_ib_mmap_entry, rdma);
}

void tern_ib_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct tern_ib_mmap_entry *entry = to_tern_mmap_entry(rdma_entry);

	tern_doorbell_page_free(entry->dev->tern, entry->page);
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

	tern_ib_describe_ucontext(ucontext, &response);
	err = ib_respond_udata(udata, response);
	if (err)
		goto remove_doorbell;
	return 0;

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
	{}
};

void tern_ib_dealloc_ucontext(struct ib_ucontext *ibucontext)
{
	struct tern_ib_ucontext *ucontext = to_tern_ucontext(ibucontext);

	WARN_ON(!list_empty(&ucontext->records));
	rdma_user_mmap_entry_remove(ucontext->doorbell_entry);
}

int tern_ib_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma)
{
	struct tern_device *tern = to_tern_ib(ibucontext->device)->tern;
	struct rdma_user_mmap_entry *entry;
	phys_addr_t address;
	int err;

	/* There is nothing to be read. */
	if (vma->vm_flags & (VM_READ | VM_EXEC))
		return -EPERM;
	vm_flags_clear(vma, VM_MAYREAD | VM_MAYEXEC);
	entry = rdma_user_mmap_entry_get(ibucontext, vma);
	if (!entry)
		return -EINVAL;
	address = tern->doorbell_base +
		  ((phys_addr_t)to_tern_mmap_entry(entry)->page << tern->doorbell_shift);
	err = rdma_user_mmap_io(ibucontext, vma, PHYS_PFN(address), PAGE_SIZE,
				pgprot_noncached(vma->vm_page_prot), entry);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/* The core has taken the mappings away; no process can reach the device by itself. */
void tern_ib_disassociate_ucontext(struct ib_ucontext *ibucontext)
{
}
