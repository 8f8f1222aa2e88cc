// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: coherent memory of the kernel's queues and their records. */
#include <linux/slab.h>

#include "adapter.h"

/* Up to this size a buffer is contiguous; above it is made of chunks of this size. */
#define TERN_CHUNK_SHIFT	max(PAGE_SHIFT, 16)

struct tern_buffer_cursor {
	const struct tern_buffer *buffer;
	unsigned int next;
};

static bool tern_buffer_next_page(void *cursor, dma_addr_t *address)
{
	struct tern_buffer_cursor *at = cursor;

	if (at->next >= at->buffer->chunk_count)
		return false;
	*address = at->buffer->dma[at->next++];
	return true;
}

static void tern_buffer_free_chunks(struct tern_device *tern, struct tern_buffer *buffer)
{
	size_t bytes = min(buffer->size, 1UL << buffer->chunk_shift);

	while (buffer->chunk_count) {
		buffer->chunk_count--;
		dma_free_coherent(&tern->pdev->dev, bytes, buffer->chunks[buffer->chunk_count],
				  buffer->dma[buffer->chunk_count]);
	}
	kvfree(buffer->chunks);
	kvfree(buffer->dma);
	buffer->chunks = NULL;
	buffer->dma = NULL;
}

static int tern_buffer_alloc_chunks(struct tern_device *tern, struct tern_buffer *buffer)
{
	size_t bytes = min(buffer->size, 1UL << buffer->chunk_shift);
	unsigned int count = DIV_ROUND_UP(buffer->size, 1UL << buffer->chunk_shift);
	unsigned int i;

	buffer->chunks = kvcalloc(count, sizeof(*buffer->chunks), GFP_KERNEL);
	buffer->dma = kvcalloc(count, sizeof(*buffer->dma), GFP_KERNEL);
	if (!buffer->chunks || !buffer->dma)
		goto free;
	for (i = 0; i < count; i++) {
		buffer->chunks[i] = dma_alloc_coherent(&tern->pdev->dev, bytes, &buffer->dma[i],
						       GFP_KERNEL);
		if (!buffer->chunks[i])
			goto free;
		buffer->chunk_count++;
	}
	return 0;

free:
	tern_buffer_free_chunks(tern, buffer);
	return -ENOMEM;
}

/**
 * tern_buffer_alloc() - allocate zeroed memory for a queue of the kernel
 * @tern: the function
 * @buffer: filled in
 * @size: bytes; above 64 KiB a multiple of that
 *
 * Return: 0, -EINVAL or -ENOMEM
 */
int tern_buffer_alloc(struct tern_device *tern, struct tern_buffer *buffer, size_t size)
{
	struct tern_buffer_cursor cursor = { .buffer = buffer };
	int err;

	memset(buffer, 0, sizeof(*buffer));
	if (!size || (size >> TERN_CHUNK_SHIFT && size & (BIT(TERN_CHUNK_SHIFT) - 1)))
		return -EINVAL;
	buffer->size = size;
	buffer->chunk_shift = TERN_CHUNK_SHIFT;
	err = tern_buffer_alloc_chunks(tern, buffer);
	if (err)
		return err;
	err = tern_page_tables_create(tern, &buffer->pages, size, 0, TERN_CHUNK_SHIFT, true,
				      tern_buffer_next_page, &cursor);
	if (err)
		tern_buffer_free_chunks(tern, buffer);
	return err;
}
EXPORT_SYMBOL_NS_GPL(tern_buffer_alloc, TERN_NAMESPACE);

/**
 * tern_buffer_free() - free a queue's memory; the device does not use it any more
 * @tern: the function
 * @buffer: from tern_buffer_alloc()
 */
void tern_buffer_free(struct tern_device *tern, struct tern_buffer *buffer)
{
	tern_page_tables_destroy(tern, &buffer->pages);
	tern_buffer_free_chunks(tern, buffer);
}
EXPORT_SYMBOL_NS_GPL(tern_buffer_free, TERN_NAMESPACE);

/**
 * tern_record_alloc() - allocate a zeroed queue record
 * @tern: the function
 * @record: filled in
 *
 * Return: 0 or -ENOMEM
 */
int tern_record_alloc(struct tern_device *tern, struct tern_record *record)
{
	record->cpu = dma_pool_zalloc(tern_adapter(tern)->records, GFP_KERNEL, &record->dma);
	return record->cpu ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_NS_GPL(tern_record_alloc, TERN_NAMESPACE);

/**
 * tern_record_free() - free a queue record; the device does not use it any more
 * @tern: the function
 * @record: from tern_record_alloc()
 */
void tern_record_free(struct tern_device *tern, struct tern_record *record)
{
	dma_pool_free(tern_adapter(tern)->records, record->cpu, record->dma);
	record->cpu = NULL;
}
EXPORT_SYMBOL_NS_GPL(tern_record_free, TERN_NAMESPACE);
