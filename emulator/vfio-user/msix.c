// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: MSI-X of one PCI function (PCI Express Base Specification 6.1.4). */
#include <stdlib.h>
#include <string.h>

#include "msix.h"

#define ENTRY_SIZE		16
#define ENTRY_CONTROL		12	/* vector control within an entry */
#define CONTROL_MASKED		1

struct vector {
	bool connected;
	bool client_masked;
	bool pending;
};

struct tern_msix {
	unsigned int vectors;
	tern_msix_deliver_fn *deliver;
	void *context;
	bool enabled, function_mask, bus_master;
	/*
	 * QEMU's vfio-user client keeps the table to itself and masks there;
	 * ours then stays as reset left it, every entry masked. So the table's
	 * mask bits count only once somebody has written to the table.
	 */
	bool table_used;
	uint8_t *table;
	struct vector *vector;
};

struct tern_msix *tern_msix_create(unsigned int vectors, tern_msix_deliver_fn *deliver,
				   void *context)
{
	struct tern_msix *msix = calloc(1, sizeof(*msix));

	if (!msix)
		return NULL;
	msix->vectors = vectors;
	msix->deliver = deliver;
	msix->context = context;
	msix->table = calloc(vectors, ENTRY_SIZE);
	msix->vector = calloc(vectors, sizeof(*msix->vector));
	if (!msix->table || !msix->vector) {
		tern_msix_destroy(msix);
		return NULL;
	}
	tern_msix_reset(msix);
	return msix;
}

void tern_msix_destroy(struct tern_msix *msix)
{
	if (!msix)
		return;
	free(msix->table);
	free(msix->vector);
	free(msix);
}

unsigned int tern_msix_vectors(const struct tern_msix *msix)
{
	return msix->vectors;
}

uint64_t tern_msix_table_size(const struct tern_msix *msix)
{
	return (uint64_t)msix->vectors * ENTRY_SIZE;
}

uint64_t tern_msix_pba_size(const struct tern_msix *msix)
{
	return ((uint64_t)msix->vectors + 63) / 64 * 8;
}

void tern_msix_reset(struct tern_msix *msix)
{
	memset(msix->table, 0, (size_t)msix->vectors * ENTRY_SIZE);
	msix->table_used = false;
	for (unsigned int v = 0; v < msix->vectors; v++) {
		msix->table[v * ENTRY_SIZE + ENTRY_CONTROL] = CONTROL_MASKED;
		msix->vector[v].pending = false;
	}
}

static bool deliverable(const struct tern_msix *msix, unsigned int vector)
{
	const struct vector *v = &msix->vector[vector];

	if (!msix->enabled || msix->function_mask || !msix->bus_master)
		return false;
	if (!v->connected || v->client_masked)
		return false;
	return !msix->table_used ||
	       !(msix->table[vector * ENTRY_SIZE + ENTRY_CONTROL] & CONTROL_MASKED);
}

/* Something changed for @vector: what is pending and may go now, goes. */
static void retry(struct tern_msix *msix, unsigned int vector)
{
	if (!msix->vector[vector].pending || !deliverable(msix, vector))
		return;
	msix->vector[vector].pending = false;
	msix->deliver(msix->context, vector);
}

static void retry_all(struct tern_msix *msix)
{
	for (unsigned int v = 0; v < msix->vectors; v++)
		retry(msix, v);
}

void tern_msix_raise(struct tern_msix *msix, unsigned int vector)
{
	/* Without MSI-X there is no interrupt at all: the function has no INTx. */
	if (vector >= msix->vectors || !msix->enabled)
		return;
	if (deliverable(msix, vector))
		msix->deliver(msix->context, vector);
	else
		msix->vector[vector].pending = true;
}

void tern_msix_control(struct tern_msix *msix, bool enabled, bool function_mask,
		       bool bus_master)
{
	msix->enabled = enabled;
	msix->function_mask = function_mask;
	msix->bus_master = bus_master;
	if (enabled) {
		retry_all(msix);
		return;
	}
	for (unsigned int v = 0; v < msix->vectors; v++)
		msix->vector[v].pending = false;
}

void tern_msix_connect(struct tern_msix *msix, unsigned int vector, bool connected)
{
	if (vector >= msix->vectors)
		return;
	msix->vector[vector].connected = connected;
	retry(msix, vector);
}

void tern_msix_client_mask(struct tern_msix *msix, unsigned int vector, bool masked)
{
	if (vector >= msix->vectors)
		return;
	msix->vector[vector].client_masked = masked;
	retry(msix, vector);
}

/* Byte by byte, so that host byte order does not matter. */
uint64_t tern_msix_table_read(const struct tern_msix *msix, uint64_t offset, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)msix->table[offset + i] << (8 * i);
	return value;
}

void tern_msix_table_write(struct tern_msix *msix, uint64_t offset, uint64_t value,
			   unsigned int size)
{
	/* Only double words and quad words are allowed (6.1.4.2); others have no effect. */
	if (size != 4 && size != 8)
		return;
	msix->table_used = true;
	for (unsigned int i = 0; i < size; i++)
		msix->table[offset + i] = (uint8_t)(value >> (8 * i));
	retry(msix, (unsigned int)(offset / ENTRY_SIZE));
}

bool tern_msix_pending(const struct tern_msix *msix, unsigned int vector)
{
	return vector < msix->vectors && msix->vector[vector].pending;
}

uint64_t tern_msix_pba_read(const struct tern_msix *msix, uint64_t offset, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int bit = 0; bit < size * 8; bit++) {
		if (tern_msix_pending(msix, (unsigned int)(offset * 8) + bit))
			value |= 1ULL << bit;
	}
	return value;
}
