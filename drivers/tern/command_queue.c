// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: the command queue's transport. It knows rings, identifiers and
 * time, not what a command means.
 *
 * The device may complete commands in any order. Fewer commands are in flight
 * than the ring has entries, so one that was fetched after the ring entry's
 * last user has completed whenever an entry is used again.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "command_queue.h"
#include "health.h"
#include "registers.h"
#include "trace.h"

/* How often a waiter looks for itself, in case an interrupt was lost. */
#define TERN_COMMAND_LOOK_AGAIN		(HZ / 5)

#define TERN_COMMAND_TIMEOUT_MIN	100
#define TERN_COMMAND_TIMEOUT_MAX	60000

int tern_command_queue_create(struct tern_adapter *adapter)
{
	struct tern_command_queue *queue;
	unsigned int i;

	queue = devm_kzalloc(tern_dev(adapter), sizeof(*queue), GFP_KERNEL);
	if (!queue)
		return -ENOMEM;
	queue->adapter = adapter;
	spin_lock_init(&queue->lock);
	mutex_init(&queue->reserved_lock);
	sema_init(&queue->free, TERN_COMMAND_QUEUE_ENTRIES - TERN_COMMAND_RESERVED_SLOTS);
	for (i = 0; i < TERN_COMMAND_QUEUE_ENTRIES; i++) {
		init_completion(&queue->slots[i].done);
		queue->slots[i].id = i;
	}
	adapter->commands = queue;
	return 0;
}

static void tern_command_queue_free(struct tern_adapter *adapter)
{
	struct tern_command_queue *queue = adapter->commands;

	if (queue->completions)
		dma_free_coherent(tern_dev(adapter),
				  TERN_COMMAND_QUEUE_ENTRIES * sizeof(*queue->completions),
				  queue->completions, queue->completions_dma);
	if (queue->ring)
		dma_free_coherent(tern_dev(adapter),
				  TERN_COMMAND_QUEUE_ENTRIES * sizeof(*queue->ring),
				  queue->ring, queue->ring_dma);
	queue->completions = NULL;
	queue->ring = NULL;
}

/* The device is reset and not enabled. Both rings are larger than a page, so aligned to one. */
int tern_command_queue_start(struct tern_adapter *adapter)
{
	struct tern_command_queue *queue = adapter->commands;
	u32 timeout = tern_read32(adapter, TERN_REG_COMMAND_TIMEOUT);

	if (tern_is_dead(&adapter->device))
		return -EIO;
	BUILD_BUG_ON(TERN_COMMAND_QUEUE_SHIFT < TERN_COMMAND_SHIFT_MIN);
	BUILD_BUG_ON(TERN_COMMAND_QUEUE_SHIFT > TERN_COMMAND_SHIFT_MAX);
	queue->timeout = msecs_to_jiffies(clamp(timeout, TERN_COMMAND_TIMEOUT_MIN,
						TERN_COMMAND_TIMEOUT_MAX));
	queue->ring = dma_alloc_coherent(tern_dev(adapter),
					 TERN_COMMAND_QUEUE_ENTRIES * sizeof(*queue->ring),
					 &queue->ring_dma, GFP_KERNEL);
	queue->completions = dma_alloc_coherent(tern_dev(adapter), TERN_COMMAND_QUEUE_ENTRIES *
						sizeof(*queue->completions),
						&queue->completions_dma, GFP_KERNEL);
	if (!queue->ring || !queue->completions) {
		tern_command_queue_free(adapter);
		return -ENOMEM;
	}

	tern_write64(adapter, TERN_REG_COMMAND_RING, queue->ring_dma);
	tern_write64(adapter, TERN_REG_COMPLETION_RING, queue->completions_dma);
	tern_write32(adapter, TERN_REG_COMMAND_SHIFT, TERN_COMMAND_QUEUE_SHIFT);
	tern_write32(adapter, TERN_REG_COMMAND_VECTOR, 0);
	return 0;
}

/* The device is ready. */
void tern_command_queue_enable(struct tern_adapter *adapter)
{
	struct tern_command_queue *queue = adapter->commands;

	spin_lock_irq(&queue->lock);
	queue->producer = 0;
	queue->consumer = 0;
	queue->interrupts = false;
	/* A device that died meanwhile has had its tern_command_queue_abort() already. */
	queue->running = !tern_is_dead(&adapter->device);
	spin_unlock_irq(&queue->lock);
}

void tern_command_queue_use_interrupts(struct tern_command_queue *queue, bool interrupts)
{
	spin_lock_irq(&queue->lock);
	queue->interrupts = interrupts;
	spin_unlock_irq(&queue->lock);
}

/* The device is reset or may not access memory. */
void tern_command_queue_stop(struct tern_adapter *adapter)
{
	tern_command_queue_abort(adapter->commands);
	tern_command_queue_free(adapter);
}

void tern_command_queue_abort(struct tern_command_queue *queue)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	queue->running = false;
	for_each_set_bit(i, queue->busy, TERN_COMMAND_QUEUE_ENTRIES)
		complete(&queue->slots[i].done);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static void tern_command_take_completion(struct tern_command_queue *queue,
					 const struct tern_command_completion *completion)
{
	u16 id = le16_to_cpu(READ_ONCE(completion->id));
	u32 i = id & (TERN_COMMAND_QUEUE_ENTRIES - 1);
	struct tern_command_slot *slot = &queue->slots[i];
	unsigned int word;

	if (!test_bit(i, queue->busy) || slot->id != id || slot->answered) {
		queue->bad_completions++;
		dev_warn_ratelimited(tern_dev(queue->adapter),
				     "completion of command %#x, which is not in flight\n", id);
		return;
	}
	slot->status = le16_to_cpu(completion->status);
	slot->syndrome = le32_to_cpu(completion->syndrome);
	for (word = 0; word < TERN_RESULT_WORDS; word++)
		slot->result[word] = le32_to_cpu(completion->result[word]);
	slot->answered = true;
	complete(&slot->done);
}

/* Returns whether there was a completion. */
static bool tern_command_queue_poll(struct tern_command_queue *queue)
{
	unsigned int budget = TERN_COMMAND_QUEUE_ENTRIES;
	const struct tern_command_completion *completion;
	bool found = false;
	u32 phase;

	lockdep_assert_held(&queue->lock);
	while (queue->running && budget--) {
		completion = &queue->completions[queue->consumer &
						 (TERN_COMMAND_QUEUE_ENTRIES - 1)];
		phase = le32_to_cpu(READ_ONCE(completion->phase)) & TERN_COMMAND_PHASE;
		if (phase == (queue->consumer >> TERN_COMMAND_QUEUE_SHIFT & 1))
			break;
		/* Phase before the rest; pairs with the device's release store of phase. */
		dma_rmb();
		tern_command_take_completion(queue, completion);
		queue->consumer++;
		found = true;
	}
	return found;
}

void tern_command_queue_interrupt(struct tern_command_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	if (tern_command_queue_poll(queue))
		queue->interrupts_seen++;
	spin_unlock_irqrestore(&queue->lock, flags);
}

static void tern_command_queue_look(struct tern_command_queue *queue)
{
	bool lost;

	spin_lock_irq(&queue->lock);
	lost = tern_command_queue_poll(queue) && queue->interrupts;
	spin_unlock_irq(&queue->lock);
	if (lost)
		atomic64_inc(&queue->adapter->lost_interrupts);
}

/* A slot for the command, which is in flight then; or NULL. */
static struct tern_command_slot *tern_command_submit(struct tern_command_queue *queue,
						     bool reserved, u16 opcode, u32 number,
						     const void *body, size_t length)
{
	struct tern_command_slot *slot = NULL;
	struct tern_command *command;
	unsigned int i;

	spin_lock_irq(&queue->lock);
	if (!queue->running)
		goto unlock;
	if (reserved)
		i = TERN_COMMAND_QUEUE_ENTRIES - 1;
	else
		i = find_first_zero_bit(queue->busy, TERN_COMMAND_QUEUE_ENTRIES -
						     TERN_COMMAND_RESERVED_SLOTS);
	__set_bit(i, queue->busy);
	slot = &queue->slots[i];
	/* Another generation than at the slot's last use, so that late answers are noticed. */
	slot->id += TERN_COMMAND_QUEUE_ENTRIES;
	slot->answered = false;
	reinit_completion(&slot->done);

	command = &queue->ring[queue->producer & (TERN_COMMAND_QUEUE_ENTRIES - 1)];
	memset(command, 0, sizeof(*command));
	command->opcode = cpu_to_le16(opcode);
	command->id = cpu_to_le16(slot->id);
	command->flags = cpu_to_le32(queue->interrupts ? TERN_COMMAND_INTERRUPT : 0);
	command->number = cpu_to_le32(number);
	if (length)
		memcpy(command->body, body, length);
	queue->producer++;
	/* writel() orders the command before the doorbell. */
	tern_write32(queue->adapter, TERN_REG_COMMAND_DOORBELL, queue->producer);
unlock:
	spin_unlock_irq(&queue->lock);
	return slot;
}

/* Wait until the slot is done; a device that takes too long is declared dead, which ends it. */
static void tern_command_wait(struct tern_command_queue *queue, struct tern_command_slot *slot)
{
	unsigned long deadline = jiffies + queue->timeout;
	bool late;

	for (;;) {
		late = time_after(jiffies, deadline);
		if (READ_ONCE(queue->interrupts)) {
			if (wait_for_completion_timeout(&slot->done, TERN_COMMAND_LOOK_AGAIN))
				return;
			tern_command_queue_look(queue);
		} else {
			tern_command_queue_look(queue);
			if (try_wait_for_completion(&slot->done))
				return;
			usleep_range(20, 100);
		}
		if (late && !try_wait_for_completion(&slot->done)) {
			tern_declare_dead(queue->adapter, "it did not complete a command in time");
			wait_for_completion(&slot->done);
			return;
		}
		if (late)
			return;
	}
}

/* The caller may use a slot of the kind. */
static int tern_command_run(struct tern_command_queue *queue, bool reserved, u16 opcode,
			    u32 number, const void *body, size_t length,
			    struct tern_command_answer *answer)
{
	struct tern_command_slot *slot;
	int err = -EIO;

	slot = tern_command_submit(queue, reserved, opcode, number, body, length);
	if (!slot)
		return -EIO;
	tern_command_wait(queue, slot);
	spin_lock_irq(&queue->lock);
	if (slot->answered) {
		answer->status = slot->status;
		answer->syndrome = slot->syndrome;
		memcpy(answer->result, slot->result, sizeof(answer->result));
		err = 0;
	}
	__clear_bit(slot - queue->slots, queue->busy);
	spin_unlock_irq(&queue->lock);
	return err;
}

static void tern_command_trace(struct tern_command_queue *queue, u16 opcode, u32 number, int err,
			       const struct tern_command_answer *answer, u64 start)
{
	trace_tern_command(tern_dev(queue->adapter), opcode, number, err,
			   err ? 0 : answer->status, err ? 0 : answer->syndrome,
			   ktime_get_ns() - start);
}

/**
 * tern_command_queue_execute() - execute a command
 * @queue: the queue
 * @opcode: TERN_COMMAND_*
 * @number: of the object
 * @body: of the command
 * @length: bytes at @body
 * @answer: the device's answer, whatever its status is
 *
 * Return: 0 when the device answered, -EIO when it is dead or stopped
 */
int tern_command_queue_execute(struct tern_command_queue *queue, u16 opcode, u32 number,
			       const void *body, size_t length,
			       struct tern_command_answer *answer)
{
	u64 start = ktime_get_ns();
	int err;

	might_sleep();
	if (WARN_ON_ONCE(length > TERN_COMMAND_BODY_BYTES))
		return -EINVAL;

	/* Slots become free even when the device is dead, so this ends. */
	down(&queue->free);
	err = tern_command_run(queue, false, opcode, number, body, length, answer);
	up(&queue->free);
	tern_command_trace(queue, opcode, number, err, answer, start);
	return err;
}

int tern_command_queue_execute_reserved(struct tern_command_queue *queue, u16 opcode, u32 number,
					const void *body, size_t length,
					struct tern_command_answer *answer)
{
	u64 start = ktime_get_ns();
	int err;

	might_sleep();
	if (WARN_ON_ONCE(length > TERN_COMMAND_BODY_BYTES))
		return -EINVAL;

	/* Many ranges may be invalidated at a time: an ordinary slot, if one is free. */
	if (!down_trylock(&queue->free)) {
		err = tern_command_run(queue, false, opcode, number, body, length, answer);
		up(&queue->free);
	} else {
		mutex_lock(&queue->reserved_lock);
		err = tern_command_run(queue, true, opcode, number, body, length, answer);
		mutex_unlock(&queue->reserved_lock);
	}
	tern_command_trace(queue, opcode, number, err, answer, start);
	return err;
}
