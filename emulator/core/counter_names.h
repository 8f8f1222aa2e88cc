/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: names of the counters of counters.h: one for each, in their order. */
#ifndef TERN_COUNTER_NAMES_H
#define TERN_COUNTER_NAMES_H

#include <stddef.h>

struct counter_name {
	const char *name;
	size_t offset;			/* in its structure */
	size_t contract_offset;		/* in that of tern_hw_statistics.h */
};

extern const struct counter_name port_counter_names[];
extern const struct counter_name rdma_counter_names[];
extern const struct counter_name device_counter_names[];

#endif /* TERN_COUNTER_NAMES_H */
