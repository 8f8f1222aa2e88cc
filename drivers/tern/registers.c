// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: reading registers.
 *
 * A device that was pulled out, lost its link or is in reset answers with all
 * ones. No register has that value, so every read notices.
 */
#include "health.h"
#include "registers.h"

u32 tern_read32(struct tern_adapter *adapter, unsigned int offset)
{
	u32 value;

	if (tern_is_dead(&adapter->device))
		return ~0U;
	value = readl(adapter->registers + offset);
	if (value == ~0U)
		tern_declare_dead(adapter, "its registers read as all ones");
	return value;
}

u64 tern_read64(struct tern_adapter *adapter, unsigned int offset)
{
	u64 value;

	if (tern_is_dead(&adapter->device))
		return ~0ULL;
	value = readq(adapter->registers + offset);
	if (value == ~0ULL)
		tern_declare_dead(adapter, "its registers read as all ones");
	return value;
}
