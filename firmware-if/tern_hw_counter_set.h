/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: counter sets, TERN_FEATURE_COUNTER_SETS: what the
 * queue pairs that are bound to them count is there, and not at the function.
 *
 * CREATE_COUNTER_SET, DESTROY_COUNTER_SET and QUERY_COUNTER_SET; number: the
 * set's. The first two have no body; the last answers struct
 * tern_rdma_statistics, as struct tern_command_query says.
 */
#ifndef TERN_HW_COUNTER_SET_H
#define TERN_HW_COUNTER_SET_H

#include "tern_hw_types.h"

/* BIND_COUNTER_SET; number: QPN. From now on the queue pair counts there. */
struct tern_command_bind_counter_set {
	__le32 counter_set;		/* 0: none */
	__le32 reserved0;
};

static_assert(sizeof(struct tern_command_bind_counter_set) == 8, "bind counter set command");

#endif /* TERN_HW_COUNTER_SET_H */
