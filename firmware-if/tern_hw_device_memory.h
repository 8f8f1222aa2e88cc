/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: device memory, TERN_FEATURE_DEVICE_MEMORY. It is the
 * function's own, as large as DEVICE_MEMORY_SIZE says, zero after a reset, and
 * byte n of it is byte n of BAR 4. Keys of type TERN_KEY_DEVICE_MEMORY name it.
 *
 * A write to the BAR is posted. It has taken effect when a read of the BAR
 * that follows it has returned, or a command whose doorbell follows it is
 * executed; an index in a queue record says nothing about it.
 */
#ifndef TERN_HW_DEVICE_MEMORY_H
#define TERN_HW_DEVICE_MEMORY_H

#include "tern_hw_types.h"

/* CLEAR_DEVICE_MEMORY: the range is zero when it has completed. */
struct tern_command_clear_device_memory {
	__le64 offset;
	__le64 length;
};

static_assert(sizeof(struct tern_command_clear_device_memory) == 16,
	      "clear device memory command");

#endif /* TERN_HW_DEVICE_MEMORY_H */
