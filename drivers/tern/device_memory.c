// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: who has which part of the device memory. It is given out by
 * pages, so that a page can be mapped by one process alone, and cleared
 * before, so that nobody sees what another has left.
 */
#include <linux/bitmap.h>

#include "adapter.h"
#include "registers.h"
#include "tern_hw_device_memory.h"
#include "tern_hw_pci.h"

/* More is not used. */
#define TERN_DEVICE_MEMORY_PAGES_MAX	BIT(20)

/**
 * tern_device_memory_init() - find out how much there is
 * @adapter: the function, enabled
 *
 * Return: 0 or a negative errno
 */
int tern_device_memory_init(struct tern_adapter *adapter)
{
	struct tern_device *tern = &adapter->device;
	u64 bar = pci_resource_len(tern->pdev, TERN_BAR_DEVICE_MEMORY);
	u64 size;

	mutex_init(&adapter->device_memory_lock);
	adapter->device_memory_used = NULL;
	adapter->device_memory_pages = 0;
	tern->device_memory_size = 0;
	if (!tern_has(tern, TERN_FEATURE_DEVICE_MEMORY))
		return 0;

	size = tern_read64(adapter, TERN_REG_DEVICE_MEMORY_SIZE);
	if (tern_is_dead(tern))
		return -EIO;
	/* A BAR that found no room, for instance. Nothing else depends on it. */
	if (!size || size > bar) {
		dev_warn(tern_dev(adapter),
			 "device memory of %#llx bytes in a BAR of %#llx is not used\n", size, bar);
		return 0;
	}
	adapter->device_memory_pages = min_t(u64, size >> PAGE_SHIFT,
					     TERN_DEVICE_MEMORY_PAGES_MAX);
	if (!adapter->device_memory_pages)
		return 0;
	adapter->device_memory_used = bitmap_zalloc(adapter->device_memory_pages, GFP_KERNEL);
	if (!adapter->device_memory_used)
		return -ENOMEM;
	tern->device_memory_base = pci_resource_start(tern->pdev, TERN_BAR_DEVICE_MEMORY);
	tern->device_memory_size = (u64)adapter->device_memory_pages << PAGE_SHIFT;
	return 0;
}

void tern_device_memory_exit(struct tern_adapter *adapter)
{
	if (!adapter->device_memory_used)
		return;
	WARN_ON(!bitmap_empty(adapter->device_memory_used, adapter->device_memory_pages));
	bitmap_free(adapter->device_memory_used);
	adapter->device_memory_used = NULL;
	mutex_destroy(&adapter->device_memory_lock);
}

static unsigned long tern_device_memory_pages(u64 length)
{
	return (length + PAGE_SIZE - 1) >> PAGE_SHIFT;
}

static int tern_device_memory_clear(struct tern_device *tern, u64 offset, u64 length)
{
	const struct tern_command_clear_device_memory body = {
		.offset = cpu_to_le64(offset),
		.length = cpu_to_le64(length),
	};

	return tern_command_execute(tern, TERN_COMMAND_CLEAR_DEVICE_MEMORY, 0, &body,
				    sizeof(body), NULL);
}

/**
 * tern_device_memory_alloc() - take a part of the device memory; it is zero
 * @tern: the function
 * @length: bytes; what is taken are whole pages
 * @align_shift: log2 of the alignment
 * @offset: set to where it begins
 *
 * Return: 0, -EINVAL for a length or alignment that can never be had, -ENOMEM
 * when it cannot be had now, or the errno of a failed command
 */
int tern_device_memory_alloc(struct tern_device *tern, u64 length, unsigned int align_shift,
			     u64 *offset)
{
	struct tern_adapter *adapter = tern_adapter(tern);
	unsigned long align_mask = 0, pages, first;
	int err;

	if (!length || length > tern->device_memory_size ||
	    align_shift > ilog2(tern->device_memory_size))
		return -EINVAL;
	pages = tern_device_memory_pages(length);
	if (align_shift > PAGE_SHIFT)
		align_mask = BIT(align_shift - PAGE_SHIFT) - 1;

	mutex_lock(&adapter->device_memory_lock);
	first = bitmap_find_next_zero_area(adapter->device_memory_used,
					   adapter->device_memory_pages, 0, pages, align_mask);
	if (first >= adapter->device_memory_pages) {
		mutex_unlock(&adapter->device_memory_lock);
		return -ENOMEM;
	}
	bitmap_set(adapter->device_memory_used, first, pages);
	mutex_unlock(&adapter->device_memory_lock);

	*offset = (u64)first << PAGE_SHIFT;
	err = tern_device_memory_clear(tern, *offset, (u64)pages << PAGE_SHIFT);
	if (err)
		tern_device_memory_free(tern, *offset, length);
	return err;
}
EXPORT_SYMBOL_NS_GPL(tern_device_memory_alloc, TERN_NAMESPACE);

/**
 * tern_device_memory_free() - give a part back; no process has it mapped, no key names it
 * @tern: the function
 * @offset: from tern_device_memory_alloc()
 * @length: as it was asked for
 */
void tern_device_memory_free(struct tern_device *tern, u64 offset, u64 length)
{
	struct tern_adapter *adapter = tern_adapter(tern);

	mutex_lock(&adapter->device_memory_lock);
	bitmap_clear(adapter->device_memory_used, offset >> PAGE_SHIFT,
		     tern_device_memory_pages(length));
	mutex_unlock(&adapter->device_memory_lock);
}
EXPORT_SYMBOL_NS_GPL(tern_device_memory_free, TERN_NAMESPACE);
