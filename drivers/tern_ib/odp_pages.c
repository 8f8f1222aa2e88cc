// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern RDMA driver: the pages of regions on demand, mapped for the device and
 * taken away from it.
 *
 * An explicit region has one umem. An implicit one, all of the process's
 * memory, has a umem for each 64 MiB of it that the device has come to.
 */
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "odp.h"
#include "odp_compat.h"

#define TERN_IB_ODP_CHILD_SHIFT	26
#define TERN_IB_ODP_CHILD_PAGES	BIT_ULL(TERN_IB_ODP_CHILD_SHIFT - PAGE_SHIFT)

/* Pages that are mapped at a time: others may want the lock. */
#define TERN_IB_ODP_PIECE	((u64)TERN_PAGE_TABLE_ENTRIES << PAGE_SHIFT)

/* Take the pages of [@start, @end) away from the device. Under umem_mutex. */
static void tern_ib_odp_drop(struct tern_ib_odp_range *range, u64 start, u64 end)
{
	struct ib_umem_odp *umem = range->umem;
	struct tern_ib_odp *odp = range->odp;
	u64 first = range->first + ((start - ib_umem_start(umem)) >> PAGE_SHIFT);

	if (tern_sparse_clear(&odp->tables, first, (end - start) >> PAGE_SHIFT)) {
		/* Of the first and the last page a part may be outside the region. */
		u64 from = max(start, odp->start), to = min(end, odp->start + odp->length);

		tern_cmd_key_invalidate_pages(odp->dev->tern, odp->index,
					      odp->address + (from - odp->start), to - from);
	}
	ib_umem_odp_unmap_dma_pages(umem, start, end);
	if (odp->root) {
		range->sparse = true;
		queue_work(odp->dev->fault_queue, &odp->shrink);
	}
}

/* Memory of the process changes; who changes it waits. Nothing may be allocated here. */
static bool tern_ib_odp_invalidate(struct mmu_interval_notifier *notifier,
				   const struct mmu_notifier_range *change,
				   unsigned long sequence)
{
	struct ib_umem_odp *umem = container_of(notifier, struct ib_umem_odp, notifier);
	u64 start = max_t(u64, change->start, ib_umem_start(umem));
	u64 end = min_t(u64, change->end, ib_umem_end(umem));

	if (!mmu_notifier_range_blockable(change))
		return false;
	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(notifier, sequence);
	/* Before it is ours no page of it is mapped. */
	if (umem->private && start < end)
		tern_ib_odp_drop(umem->private, start, end);
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops tern_ib_odp_notifier_ops = {
	.invalidate = tern_ib_odp_invalidate,
};

static void tern_ib_odp_own(struct tern_ib_odp_range *range)
{
	mutex_lock(&range->umem->umem_mutex);
	range->umem->private = range;
	mutex_unlock(&range->umem->umem_mutex);
}

/* Nothing invalidates it any more afterwards. */
static void tern_ib_odp_remove_range(struct tern_ib_odp_range *range)
{
	ib_umem_odp_release(range->umem);
	kfree(range);
}

/**
 * tern_ib_odp_add_whole() - make the range of an explicit region
 * @odp: the region; its tables are there
 * @access: rights
 *
 * Return: 0 or a negative errno
 */
int tern_ib_odp_add_whole(struct tern_ib_odp *odp, int access)
{
	struct tern_ib_odp_range *range;
	struct ib_umem_odp *umem;

	range = kzalloc(sizeof(*range), GFP_KERNEL);
	if (!range)
		return -ENOMEM;
	/* The pages of a list have one size: that of the smallest that may come. */
	umem = ib_umem_odp_get(&odp->dev->ib, odp->start, odp->length, access & ~IB_ACCESS_HUGETLB,
			       &tern_ib_odp_notifier_ops);
	if (IS_ERR(umem)) {
		kfree(range);
		return PTR_ERR(umem);
	}
	range->umem = umem;
	range->odp = odp;
	odp->whole = range;
	tern_ib_odp_own(range);
	return 0;
}

static bool tern_ib_odp_empty(struct tern_ib_odp_range *range)
{
	struct ib_umem_odp *umem = range->umem;
	bool empty = false;
	u64 page = 0;

	mutex_lock(&umem->umem_mutex);
	if (range->sparse) {
		range->sparse = false;
		while (page < TERN_IB_ODP_CHILD_PAGES && !tern_ib_odp_mapped(umem, page))
			page++;
		empty = page == TERN_IB_ODP_CHILD_PAGES;
	}
	mutex_unlock(&umem->umem_mutex);
	return empty;
}

static void tern_ib_odp_remove_child(struct tern_ib_odp *odp, unsigned long number,
				     struct tern_ib_odp_range *range)
{
	struct tern_sparse_node *detached = NULL;
	u64 first = range->first;

	lockdep_assert_held(&odp->lock);
	xa_erase(&odp->children, number);
	tern_ib_odp_remove_range(range);
	tern_sparse_detach(&odp->tables, first, TERN_IB_ODP_CHILD_PAGES, &detached);
	/* The device may be about to look into its tables. */
	tern_cmd_key_invalidate_pages(odp->dev->tern, odp->index, first << PAGE_SHIFT,
				      BIT_ULL(TERN_IB_ODP_CHILD_SHIFT));
	tern_sparse_free(odp->dev->tern, detached);
}

/* What was looked at once, all over the memory of a process, is not to be kept for ever. */
static void tern_ib_odp_shrink(struct work_struct *work)
{
	struct tern_ib_odp *odp = container_of(work, struct tern_ib_odp, shrink);
	struct tern_ib_odp_range *range;
	unsigned long number;

	mutex_lock(&odp->lock);
	xa_for_each(&odp->children, number, range) {
		if (!READ_ONCE(odp->ending) && tern_ib_odp_empty(range))
			tern_ib_odp_remove_child(odp, number, range);
		cond_resched();
	}
	mutex_unlock(&odp->lock);
}

int tern_ib_odp_add_root(struct tern_ib_odp *odp, int access)
{
	odp->root = ib_umem_odp_alloc_implicit(&odp->dev->ib, access & ~IB_ACCESS_HUGETLB);
	if (IS_ERR(odp->root))
		return PTR_ERR(odp->root);
	/* Ranges are made when the process may have gone. */
	odp->mm = current->mm;
	mmgrab(odp->mm);
	INIT_WORK(&odp->shrink, tern_ib_odp_shrink);
	return 0;
}

static struct tern_ib_odp_range *tern_ib_odp_add_child(struct tern_ib_odp *odp,
						       unsigned long number)
{
	u64 start = (u64)number << TERN_IB_ODP_CHILD_SHIFT;
	struct tern_ib_odp_range *range;
	int err;

	range = kzalloc(sizeof(*range), GFP_KERNEL);
	if (!range)
		return ERR_PTR(-ENOMEM);
	range->odp = odp;
	range->first = start >> PAGE_SHIFT;
	/* One table, so that those above it stay as long as the range. */
	err = tern_sparse_add(odp->dev->tern, &odp->tables, range->first, 1);
	if (err)
		goto free_range;
	range->umem = ib_umem_odp_alloc_child(odp->root, start, BIT(TERN_IB_ODP_CHILD_SHIFT),
					      &tern_ib_odp_notifier_ops);
	if (IS_ERR(range->umem)) {
		err = PTR_ERR(range->umem);
		goto free_range;
	}
	tern_ib_odp_own(range);
	err = xa_err(xa_store(&odp->children, number, range, GFP_KERNEL));
	if (err)
		goto remove_range;
	return range;

remove_range:
	tern_ib_odp_remove_range(range);
	return ERR_PTR(err);
free_range:
	kfree(range);
	return ERR_PTR(err);
}

static struct tern_ib_odp_range *tern_ib_odp_range_at(struct tern_ib_odp *odp, u64 address)
{
	unsigned long number = address >> TERN_IB_ODP_CHILD_SHIFT;
	struct tern_ib_odp_range *range;

	lockdep_assert_held(&odp->lock);
	if (odp->whole)
		return odp->whole;
	range = xa_load(&odp->children, number);
	return range ?: tern_ib_odp_add_child(odp, number);
}

/* Also of a region that has none yet. The device does not know the region any more. */
void tern_ib_odp_remove_ranges(struct tern_ib_odp *odp)
{
	struct tern_ib_odp_range *range;
	unsigned long number;

	if (odp->whole)
		tern_ib_odp_remove_range(odp->whole);
	if (IS_ERR_OR_NULL(odp->root))
		return;
	mutex_lock(&odp->lock);
	xa_for_each(&odp->children, number, range) {
		xa_erase(&odp->children, number);
		tern_ib_odp_remove_range(range);
		cond_resched();
	}
	mutex_unlock(&odp->lock);
	/* Nothing that queues it is left. */
	cancel_work_sync(&odp->shrink);
	ib_umem_odp_release(odp->root);
	mmdrop(odp->mm);
}

/* Let the device know @count pages. Under umem_mutex. */
static int tern_ib_odp_enter(struct tern_ib_odp_range *range, u64 page, u64 count)
{
	struct tern_ib_odp *odp = range->odp;
	dma_addr_t address;
	bool writable;
	int err;

	for (; count; page++, count--) {
		err = tern_ib_odp_page(range->umem, page, &address, &writable);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		tern_sparse_set(&odp->tables, range->first + page, address,
				writable && odp->writable);
	}
	return 0;
}

/* Whole pages, of one range. */
static int tern_ib_odp_map_piece(struct tern_ib_odp_range *range, u64 start, u64 end,
				 enum tern_ib_odp_how how)
{
	u64 mask = how == TERN_IB_ODP_FOR_WRITE ? TERN_IB_ODP_WRITE : TERN_IB_ODP_READ;
	struct ib_umem_odp *umem = range->umem;
	u64 page = (start - ib_umem_start(umem)) >> PAGE_SHIFT;
	u64 count = (end - start) >> PAGE_SHIFT;
	int err;

	lockdep_assert_held(&range->odp->lock);
	err = tern_sparse_add(range->odp->dev->tern, &range->odp->tables, range->first + page,
			      count);
	if (err)
		return err;
	if (how == TERN_IB_ODP_FOR_READ) {
		/* Nobody else maps; pages that go meanwhile are absent, too. */
		mutex_lock(&umem->umem_mutex);
		count = tern_ib_odp_readable_run(umem, page, count);
		/* Mapped, but perhaps not entered: what came behind it was not there. */
		if (!count)
			err = tern_ib_odp_enter(range, page, 1);
		mutex_unlock(&umem->umem_mutex);
		if (!count)
			return err;
	}
	err = ib_umem_odp_map_dma_and_lock(umem, start, count << PAGE_SHIFT, mask,
					   how != TERN_IB_ODP_AS_IS);
	if (err < 0)
		return err;
	err = tern_ib_odp_enter(range, page, err);
	mutex_unlock(&umem->umem_mutex);
	return err;
}

/* Up to the end of the range, or of a piece. Return: bytes, or a negative errno */
static s64 tern_ib_odp_map_some(struct tern_ib_odp *odp, u64 start, u64 end,
				enum tern_ib_odp_how how)
{
	struct tern_ib_odp_range *range = tern_ib_odp_range_at(odp, start);
	int err;

	if (IS_ERR(range))
		return PTR_ERR(range);
	end = min3(end, (u64)ib_umem_end(range->umem), start + TERN_IB_ODP_PIECE);
	err = tern_ib_odp_map_piece(range, start, end, how);
	/* It may have been made in vain. */
	if (odp->root && (err || how == TERN_IB_ODP_AS_IS)) {
		mutex_lock(&range->umem->umem_mutex);
		range->sparse = true;
		mutex_unlock(&range->umem->umem_mutex);
		queue_work(odp->dev->fault_queue, &odp->shrink);
	}
	return err ?: end - start;
}

/**
 * tern_ib_odp_map() - let the device access pages
 * @odp: the region
 * @offset: of the first byte in it
 * @length: how many; they are in the region
 * @how: whether they are made present, and writable
 *
 * Return: 0, or a negative errno: some of the pages may have been mapped
 */
int tern_ib_odp_map(struct tern_ib_odp *odp, u64 offset, u64 length, enum tern_ib_odp_how how)
{
	u64 start = (odp->start + offset) & PAGE_MASK;
	u64 end = PAGE_ALIGN(odp->start + offset + length);
	s64 done = 0;

	for (; start < end && done >= 0; start += done) {
		if (READ_ONCE(odp->ending) || fatal_signal_pending(current))
			return -EINTR;
		mutex_lock(&odp->lock);
		done = tern_ib_odp_map_some(odp, start, end, how);
		mutex_unlock(&odp->lock);
		if (done < 0)
			return done;
		cond_resched();
	}
	return 0;
}
