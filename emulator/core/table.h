/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: a number space: number -> object, for tens of thousands of numbers of
 * which few are in use. Two levels, the lower allocated when first used.
 */
#ifndef TERN_TABLE_H
#define TERN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_LEAF_SHIFT	9
#define TABLE_LEAF		(1U << TABLE_LEAF_SHIFT)

struct table {
	void ***leaves;
	uint32_t size;		/* numbers are 0..size - 1 */
	uint32_t used;		/* how many hold an object */
};

/* False when out of memory. */
bool table_init(struct table *table, uint32_t size);
/* Frees the table, not the objects. */
void table_free(struct table *table);

/* NULL for a number that is out of range or not in use. */
static inline void *table_get(const struct table *table, uint32_t number)
{
	void **leaf;

	if (number >= table->size)
		return NULL;
	leaf = table->leaves[number >> TABLE_LEAF_SHIFT];
	return leaf ? leaf[number & (TABLE_LEAF - 1)] : NULL;
}

/* @number is in range and not in use. False when out of memory. */
bool table_insert(struct table *table, uint32_t number, void *object);
/* The same of a copy of @made, from malloc(); NULL when out of memory. */
void *table_insert_copy(struct table *table, uint32_t number, const void *made, size_t size);
/* Returns what was there. */
void *table_remove(struct table *table, uint32_t number);
/* The object with the lowest number not below @from, and its number; NULL at the end. */
void *table_next(const struct table *table, uint32_t from, uint32_t *number);

#endif /* TERN_TABLE_H */
