// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: number spaces. */
#include <stdlib.h>
#include <string.h>

#include "table.h"

bool table_init(struct table *table, uint32_t size)
{
	table->used = 0;
	table->leaves = calloc((size + TABLE_LEAF - 1) / TABLE_LEAF, sizeof(*table->leaves));
	table->size = table->leaves ? size : 0;
	return table->leaves;
}

void table_free(struct table *table)
{
	if (!table->leaves)
		return;
	for (uint32_t i = 0; i < (table->size + TABLE_LEAF - 1) / TABLE_LEAF; i++)
		free(table->leaves[i]);
	free(table->leaves);
	table->leaves = NULL;
	table->size = 0;
}

bool table_insert(struct table *table, uint32_t number, void *object)
{
	void ***leaf = &table->leaves[number >> TABLE_LEAF_SHIFT];

	if (!*leaf)
		*leaf = calloc(TABLE_LEAF, sizeof(**leaf));
	if (!*leaf)
		return false;
	(*leaf)[number & (TABLE_LEAF - 1)] = object;
	table->used++;
	return true;
}

void *table_insert_copy(struct table *table, uint32_t number, const void *made, size_t size)
{
	void *object = malloc(size);

	if (!object)
		return NULL;
	memcpy(object, made, size);
	if (table_insert(table, number, object))
		return object;
	free(object);
	return NULL;
}

void *table_remove(struct table *table, uint32_t number)
{
	void *object = table_get(table, number);

	if (object) {
		table->leaves[number >> TABLE_LEAF_SHIFT][number & (TABLE_LEAF - 1)] = NULL;
		table->used--;
	}
	return object;
}

void *table_next(const struct table *table, uint32_t from, uint32_t *number)
{
	uint32_t n = from;

	while (n < table->size) {
		void **leaf = table->leaves[n >> TABLE_LEAF_SHIFT];

		if (!leaf) {
			n = ((n >> TABLE_LEAF_SHIFT) + 1) << TABLE_LEAF_SHIFT;
			continue;
		}
		if (leaf[n & (TABLE_LEAF - 1)]) {
			*number = n;
			return leaf[n & (TABLE_LEAF - 1)];
		}
		n++;
	}
	return NULL;
}
