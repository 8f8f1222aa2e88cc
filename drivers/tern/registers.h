/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef TERN_REGISTERS_H
#define TERN_REGISTERS_H

#include "adapter.h"

/* Read a register; a device that is gone is declared dead and reads as all ones. */
u32 tern_read32(struct tern_adapter *adapter, unsigned int offset);
u64 tern_read64(struct tern_adapter *adapter, unsigned int offset);

static inline void tern_write32(struct tern_adapter *adapter, unsigned int offset, u32 value)
{
	writel(value, adapter->registers + offset);
}

static inline void tern_write64(struct tern_adapter *adapter, unsigned int offset, u64 value)
{
	writeq(value, adapter->registers + offset);
}

#endif /* TERN_REGISTERS_H */
