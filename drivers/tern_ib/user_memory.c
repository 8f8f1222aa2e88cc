// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: memory of processes that the device works in: regions, queues, records. */
#include <linux/slab.h>
#include <rdma/iter.h>

#include "internal.h"

/**
 * struct tern_ib_record_page - a page of a process with queue records in it
 * @list: in the context's records
 * @ucontext: the context
 * @address: of the page, in the process
 * @page: what is mapped there
 * @umem: the pinned page
 * @users: how many records are in use
 */
struct tern_ib_record_page {
	struct list_head list;
	struct tern_ib_ucontext *ucontext;
	unsigned long address;
	struct page *page;
	struct ib_umem *umem;
	unsigned int users;
};

static bool tern_ib_next_block(void *cursor, dma_addr_t *address)
{
	struct ib_block_iter *iter = cursor;

	if (!__rdma_umem_block_iter_next(iter))
		return false;
	*address = rdma_block_iter_dma_address(iter);
	return true;
}

/**
 * tern_ib_umem_tables() - make the page list of pinned memory
 * @dev: the device
 * @tables: set
 * @umem: the memory
 * @address: what the device calls its first byte
 * @writable: the device may write
 *
 * Return: 0 or a negative errno
 */
int tern_ib_umem_tables(struct tern_ib_device *dev, struct tern_page_tables *tables,
			struct ib_umem *umem, u64 address, bool writable)
{
	struct ib_block_iter iter;
	unsigned long page;

	page = ib_umem_find_best_pgsz(umem, dev->limits.page_sizes, address);
	if (!page)
		return -EINVAL;
	__rdma_umem_block_iter_start(&iter, umem, page);
	return tern_page_tables_create(dev->tern, tables, umem->length, address & (page - 1),
				       __ffs(page), writable, tern_ib_next_block, &iter);
}

int tern_ib_user_queue_pin(struct tern_ib_device *dev, struct tern_ib_user_queue *queue,
			   u64 address, size_t size, bool writable)
{
	int err;

	if (!IS_ALIGNED(address, 1U << TERN_PAGE_SHIFT_MIN))
		return -EINVAL;
	queue->umem = ib_umem_get_va(&dev->ib, address, size,
				     writable ? IB_ACCESS_LOCAL_WRITE : 0);
	if (IS_ERR(queue->umem)) {
		err = PTR_ERR(queue->umem);
		queue->umem = NULL;
		return err;
	}
	err = tern_ib_umem_tables(dev, &queue->tables, queue->umem, address, writable);
	if (err)
		goto release;
	return 0;

release:
	ib_umem_release(queue->umem);
	queue->umem = NULL;
	return err;
}

/* Also of a queue that was never pinned. */
void tern_ib_user_queue_unpin(struct tern_ib_device *dev, struct tern_ib_user_queue *queue)
{
	if (!queue->umem)
		return;
	tern_page_tables_destroy(dev->tern, &queue->tables);
	ib_umem_release(queue->umem);
	queue->umem = NULL;
}

/*
 * The address does not tell: the process may have mapped another page there,
 * and a child that has the context, too, has pages of its own.
 */
static struct tern_ib_record_page *tern_ib_find_record_page(struct tern_ib_ucontext *ucontext,
							    unsigned long address,
							    const struct ib_umem *umem)
{
	struct tern_ib_record_page *page;

	lockdep_assert_held(&ucontext->records_lock);
	list_for_each_entry(page, &ucontext->records, list)
		if (page->address == address &&
		    page->page == sg_page(umem->sgt_append.sgt.sgl))
			return page;
	return NULL;
}

static struct tern_ib_record_page *tern_ib_add_record_page(struct tern_ib_ucontext *ucontext,
							   unsigned long address,
							   struct ib_umem *umem)
{
	struct tern_ib_record_page *page;

	lockdep_assert_held(&ucontext->records_lock);
	page = kzalloc(sizeof(*page), GFP_KERNEL);
	if (!page)
		return ERR_PTR(-ENOMEM);
	page->ucontext = ucontext;
	page->address = address;
	page->page = sg_page(umem->sgt_append.sgt.sgl);
	page->umem = umem;
	list_add(&page->list, &ucontext->records);
	return page;
}

/**
 * tern_ib_user_record_pin() - pin the page of a queue record of a process
 * @ucontext: the process
 * @address: of the record
 * @dma: set to the record's bus address
 *
 * Records share pages, so pages are shared here too: one pin for all of them.
 *
 * Return: the page, or an error pointer
 */
struct tern_ib_record_page *tern_ib_user_record_pin(struct tern_ib_ucontext *ucontext,
						    u64 address, dma_addr_t *dma)
{
	struct tern_ib_record_page *page;
	struct ib_umem *umem;

	if (!address || !IS_ALIGNED(address, TERN_QUEUE_RECORD_ALIGN))
		return ERR_PTR(-EINVAL);
	umem = ib_umem_get_va(ucontext->ib.device, address & PAGE_MASK, PAGE_SIZE,
			      IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(umem))
		return ERR_CAST(umem);

	mutex_lock(&ucontext->records_lock);
	page = tern_ib_find_record_page(ucontext, address & PAGE_MASK, umem);
	if (!page)
		page = tern_ib_add_record_page(ucontext, address & PAGE_MASK, umem);
	if (!IS_ERR(page)) {
		page->users++;
		*dma = sg_dma_address(page->umem->sgt_append.sgt.sgl) + offset_in_page(address);
	}
	mutex_unlock(&ucontext->records_lock);
	/* Its page is pinned already, or could not be kept. */
	if (IS_ERR(page) || page->umem != umem)
		ib_umem_release(umem);
	return page;
}

/* Also of a record that was never pinned. */
void tern_ib_user_record_unpin(struct tern_ib_record_page *page)
{
	struct tern_ib_ucontext *ucontext;

	if (!page)
		return;
	ucontext = page->ucontext;
	mutex_lock(&ucontext->records_lock);
	if (!--page->users) {
		list_del(&page->list);
		ib_umem_release(page->umem);
		kfree(page);
	}
	mutex_unlock(&ucontext->records_lock);
}
