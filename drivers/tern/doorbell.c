// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: doorbell pages of user contexts. Page 0 is the kernel's. */
#include "adapter.h"

/**
 * tern_doorbell_page_alloc() - take a doorbell page
 * @tern: the function
 * @page: set to its number
 *
 * Return: 0, -ENOMEM, or -ENOSPC when all are taken
 */
int tern_doorbell_page_alloc(struct tern_device *tern, u32 *page)
{
	int number;

	if (tern->doorbell_pages < 2)
		return -ENOSPC;
	number = ida_alloc_range(&tern_adapter(tern)->doorbell_pages, 1, tern->doorbell_pages - 1,
				 GFP_KERNEL);
	if (number < 0)
		return number;
	*page = number;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(tern_doorbell_page_alloc, TERN_NAMESPACE);

/**
 * tern_doorbell_page_free() - give a doorbell page back; no process has it mapped
 * @tern: the function
 * @page: its number
 */
void tern_doorbell_page_free(struct tern_device *tern, u32 page)
{
	ida_free(&tern_adapter(tern)->doorbell_pages, page);
}
EXPORT_SYMBOL_NS_GPL(tern_doorbell_page_free, TERN_NAMESPACE);
