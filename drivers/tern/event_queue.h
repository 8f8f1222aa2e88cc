/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef TERN_EVENT_QUEUE_H
#define TERN_EVENT_QUEUE_H

#include <linux/spinlock.h>

#include "adapter.h"

/**
 * struct tern_eq - an event queue
 * @adapter: the function
 * @eqn: its number, which is its vector's, too
 * @lock: protects what follows; listeners are called under it
 * @index: free-running consumer index
 * @sequence: of the last arming
 * @live: the device has it
 * @seen: @index when tern_eqs_poll() last found an event waiting
 * @shift: log2 of the entries
 * @buffer: the entries
 * @record: its record
 * @irq: Linux' number of the interrupt
 * @name: of the interrupt
 */
struct tern_eq {
	struct tern_adapter *adapter;
	u32 eqn;
	/* see above */
	spinlock_t lock;
	u32 index;
	u32 sequence;
	bool live;
	u32 seen;
	u8 shift;
	struct tern_buffer buffer;
	struct tern_record record;
	int irq;
	char name[32];
};

int tern_eqs_create(struct tern_adapter *adapter);
void tern_eqs_destroy(struct tern_adapter *adapter);

/* Process events whose interrupt was lost. */
void tern_eqs_poll(struct tern_adapter *adapter);

int tern_vector_irq(struct tern_adapter *adapter, unsigned int vector);

#endif /* TERN_EVENT_QUEUE_H */
