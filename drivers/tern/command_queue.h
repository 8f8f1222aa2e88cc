/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef TERN_COMMAND_QUEUE_H
#define TERN_COMMAND_QUEUE_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>

#include "adapter.h"

#define TERN_COMMAND_QUEUE_SHIFT	6
#define TERN_COMMAND_QUEUE_ENTRIES	BIT(TERN_COMMAND_QUEUE_SHIFT)

/*
 * One slot is never given to an ordinary command: it is for those of MMU
 * notifiers, which may not wait for one that waits for them.
 */
#define TERN_COMMAND_RESERVED_SLOTS	1

/**
 * struct tern_command_slot - a command in flight
 * @done: completed when the answer is there or the queue was aborted
 * @id: what the device has to answer with: the slot and, above it, a generation
 * @answered: the answer is there
 * @status: TERN_COMMAND_STATUS_*
 * @syndrome: of an error
 * @result: the answer
 */
struct tern_command_slot {
	struct completion done;
	u16 id;
	bool answered;
	u16 status;
	u32 syndrome;
	u32 result[TERN_RESULT_WORDS];
};

/**
 * struct tern_command_queue - the command queue of a function
 * @adapter: the function
 * @lock: protects all that follows it here; taken from any context
 * @running: commands are taken
 * @interrupts: completions raise an interrupt, else the waiter polls
 * @producer: free-running index of @ring
 * @consumer: free-running index of @completions
 * @busy: slots in use
 * @slots: the commands
 * @free: counts free slots, the reserved ones not included
 * @reserved_lock: who holds it may use the reserved slot
 * @timeout: of a command, in jiffies
 * @ring: what the device reads
 * @ring_dma: its bus address
 * @completions: what the device writes
 * @completions_dma: its bus address
 * @interrupts_seen: interrupts that brought a completion
 * @bad_completions: completions of no command in flight, late or double ones
 */
struct tern_command_queue {
	struct tern_adapter *adapter;
	/* see above */
	spinlock_t lock;
	bool running;
	bool interrupts;
	u32 producer;
	u32 consumer;
	DECLARE_BITMAP(busy, TERN_COMMAND_QUEUE_ENTRIES);
	struct tern_command_slot slots[TERN_COMMAND_QUEUE_ENTRIES];
	struct semaphore free;
	struct mutex reserved_lock;	/* the reserved slot */
	unsigned long timeout;
	struct tern_command *ring;
	dma_addr_t ring_dma;
	struct tern_command_completion *completions;
	dma_addr_t completions_dma;
	u64 interrupts_seen;
	u64 bad_completions;
};

/* An answer of the device. */
struct tern_command_answer {
	u16 status;
	u32 syndrome;
	u32 result[TERN_RESULT_WORDS];
};

int tern_command_queue_create(struct tern_adapter *adapter);
int tern_command_queue_start(struct tern_adapter *adapter);
void tern_command_queue_enable(struct tern_adapter *adapter);
void tern_command_queue_use_interrupts(struct tern_command_queue *queue, bool interrupts);
void tern_command_queue_stop(struct tern_adapter *adapter);

/* From any context: fail all commands in flight and to come with -EIO. */
void tern_command_queue_abort(struct tern_command_queue *queue);
/* The command vector's interrupt. */
void tern_command_queue_interrupt(struct tern_command_queue *queue);

int tern_command_queue_execute(struct tern_command_queue *queue, u16 opcode, u32 number,
			       const void *body, size_t length,
			       struct tern_command_answer *answer);
/* The same, for MMU notifiers: allocates nothing, waits for no command but their own. */
int tern_command_queue_execute_reserved(struct tern_command_queue *queue, u16 opcode, u32 number,
					const void *body, size_t length,
					struct tern_command_answer *answer);

#endif /* TERN_COMMAND_QUEUE_H */
