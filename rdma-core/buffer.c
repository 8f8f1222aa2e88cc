// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory that the device works on: queues and their records. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tern.h"

/* A page of records; its first record's place holds this. */
struct tern_record_page {
	struct tern_record_page *next;
	struct tern_buffer buffer;
};

/* A free record's place holds the next free one. */
struct tern_free_record {
	struct tern_queue_record *next;
};

static_assert(sizeof(struct tern_record_page) <= sizeof(struct tern_queue_record),
	      "a record page's head");

/* Zeroed. Returns 0 or a positive errno. */
int tern_buffer_alloc(struct tern_context *ctx, struct tern_buffer *buffer, size_t length)
{
	int ret;

	length = align(length, ctx->page_size);
	buffer->owner = NULL;
	buffer->base = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (buffer->base == MAP_FAILED)
		return errno;
	buffer->length = length;

	/* A page the device knows must not be replaced by copy on write after a fork. */
	if (ibv_dontfork_range(buffer->base, length)) {
		ret = errno;
		munmap(buffer->base, length);
		return ret;
	}
	return 0;
}

/* The same by the allocator of @parent, if it has one. */
int tern_buffer_alloc_in(struct tern_context *ctx, struct tern_pd *parent,
			 enum tern_resource resource, struct tern_buffer *buffer, size_t length)
{
	int ret;

	if (!parent || !parent->alloc)
		return tern_buffer_alloc(ctx, buffer, length);
	length = align(length, ctx->page_size);
	buffer->base = parent->alloc(&parent->ibv_pd, parent->pd_context, length, ctx->page_size,
				     resource);
	if (buffer->base == IBV_ALLOCATOR_USE_DEFAULT)
		return tern_buffer_alloc(ctx, buffer, length);
	if (!buffer->base)
		return ENOMEM;
	ret = (uintptr_t)buffer->base % ctx->page_size ? EINVAL : 0;
	if (!ret && ibv_dontfork_range(buffer->base, length))
		ret = errno;
	if (ret) {
		parent->free(&parent->ibv_pd, parent->pd_context, buffer->base, resource);
		return ret;
	}
	memset(buffer->base, 0, length);
	buffer->length = length;
	buffer->owner = parent;
	buffer->resource = resource;
	return 0;
}

void tern_buffer_free(struct tern_buffer *buffer)
{
	struct tern_pd *owner = buffer->owner;

	ibv_dofork_range(buffer->base, buffer->length);
	if (owner)
		owner->free(&owner->ibv_pd, owner->pd_context, buffer->base, buffer->resource);
	else
		munmap(buffer->base, buffer->length);
}

static int tern_record_page_add(struct tern_context *ctx)
{
	struct tern_queue_record *record;
	struct tern_record_page *page;
	struct tern_buffer buffer;
	size_t i;
	int ret;

	ret = tern_buffer_alloc(ctx, &buffer, ctx->page_size);
	if (ret)
		return ret;
	page = buffer.base;
	page->buffer = buffer;
	page->next = ctx->record_pages;
	ctx->record_pages = page;

	record = buffer.base;
	for (i = 1; i < buffer.length / sizeof(*record); i++) {
		((struct tern_free_record *)&record[i])->next = ctx->free_records;
		ctx->free_records = &record[i];
	}
	return 0;
}

/* Zeroed. NULL with errno set when there is no memory. */
struct tern_queue_record *tern_record_alloc(struct tern_context *ctx)
{
	struct tern_queue_record *record = NULL;
	int ret = 0;

	pthread_mutex_lock(&ctx->record_mutex);
	if (!ctx->free_records)
		ret = tern_record_page_add(ctx);
	if (!ret) {
		record = ctx->free_records;
		ctx->free_records = ((struct tern_free_record *)record)->next;
	}
	pthread_mutex_unlock(&ctx->record_mutex);

	if (ret)
		errno = ret;
	else
		memset(record, 0, sizeof(*record));
	return record;
}

void tern_record_free(struct tern_context *ctx, struct tern_queue_record *record)
{
	pthread_mutex_lock(&ctx->record_mutex);
	((struct tern_free_record *)record)->next = ctx->free_records;
	ctx->free_records = record;
	pthread_mutex_unlock(&ctx->record_mutex);
}

/* When the context ends. */
void tern_record_pages_free(struct tern_context *ctx)
{
	struct tern_record_page *page = ctx->record_pages;

	while (page) {
		struct tern_buffer buffer = page->buffer;

		page = page->next;
		tern_buffer_free(&buffer);
	}
}
