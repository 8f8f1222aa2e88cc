// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: event queues and interrupts.
 *
 * Each event queue has a vector of its own. Number 0 takes the events of the
 * port and of queue pairs, and its vector the completions of commands; the
 * others take completions. With one vector only, number 0 takes all.
 *
 * The hard interrupt handles a bounded number of events, its thread the rest.
 * Armed again is only a queue that is empty, so a burst is one interrupt.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/sched.h>

#include "command_queue.h"
#include "commands.h"
#include "dcb.h"
#include "event_queue.h"
#include "health.h"
#include "registers.h"
#include "tern_hw_page_fault.h"
#include "tern_hw_pci.h"
#include "trace.h"

#define TERN_EQ_SHIFT		12
#define TERN_EQ_BUDGET		256

static void tern_eq_unknown(struct tern_eq *eq, u8 type, u32 number)
{
	atomic64_inc(&eq->adapter->unknown_events);
	dev_dbg(tern_dev(eq->adapter), "event of type %#x for number %u, which is unknown\n",
		type, number);
}

static void tern_eq_handle_cq(struct tern_eq *eq, u8 type, u8 subtype, u32 cqn)
{
	struct tern_cq_listener *listener = xa_load(&eq->adapter->cq_listeners, cqn);

	lockdep_assert_held(&eq->lock);
	/* The lock keeps the listener there: see tern_eqs_wait_for_listeners(). */
	if (!listener)
		tern_eq_unknown(eq, type, cqn);
	else if (type == TERN_EVENT_COMPLETION)
		listener->completion(listener);
	else
		listener->error(listener, subtype);
}

static void tern_eq_handle_qp(struct tern_eq *eq, u8 type, u32 qpn)
{
	struct tern_qp_listener *listener = xa_load(&eq->adapter->qp_listeners, qpn);

	lockdep_assert_held(&eq->lock);
	if (listener)
		listener->event(listener, type);
	else
		tern_eq_unknown(eq, type, qpn);
}

static void tern_eq_handle_page_fault(struct tern_eq *eq, const struct tern_eqe *eqe, u32 qpn)
{
	struct tern_qp_listener *listener = xa_load(&eq->adapter->qp_listeners, qpn);
	u64 data = le64_to_cpu(READ_ONCE(eqe->data[1]));
	u8 subtype = READ_ONCE(eqe->subtype);
	struct tern_page_fault fault = {
		.number = le32_to_cpu(READ_ONCE(eqe->fault)),
		.key = data >> TERN_PAGE_FAULT_KEY_SHIFT & TERN_NUMBER_MASK,
		.address = le64_to_cpu(READ_ONCE(eqe->data[0])),
		.length = data & TERN_PAGE_FAULT_LENGTH,
		.responder = subtype & TERN_PAGE_FAULT_RESPONDER,
		.write = subtype & TERN_PAGE_FAULT_WRITE,
	};

	lockdep_assert_held(&eq->lock);
	if (listener && listener->page_fault)
		listener->page_fault(listener, &fault);
	else
		tern_eq_unknown(eq, TERN_EVENT_PAGE_FAULT, qpn);
}

static void tern_eq_handle_srq(struct tern_eq *eq, u8 type, u32 srqn)
{
	struct tern_srq_listener *listener = xa_load(&eq->adapter->srq_listeners, srqn);

	lockdep_assert_held(&eq->lock);
	if (listener)
		listener->event(listener, type);
	else
		tern_eq_unknown(eq, type, srqn);
}

static void tern_eq_handle(struct tern_eq *eq, const struct tern_eqe *eqe)
{
	u32 number = le32_to_cpu(READ_ONCE(eqe->number));
	u8 subtype = READ_ONCE(eqe->subtype);
	u8 type = READ_ONCE(eqe->type);

	if (type != TERN_EVENT_COMPLETION)
		trace_tern_event(tern_dev(eq->adapter), type, subtype, number);
	switch (type) {
	case TERN_EVENT_COMPLETION:
	case TERN_EVENT_CQ_ERROR:
		tern_eq_handle_cq(eq, type, subtype, number);
		break;
	case TERN_EVENT_QP_FATAL:
	case TERN_EVENT_QP_REQUEST_ERROR:
	case TERN_EVENT_QP_ACCESS_ERROR:
	case TERN_EVENT_QP_ESTABLISHED:
	case TERN_EVENT_QP_DRAINED:
	case TERN_EVENT_QP_LAST_WQE:
		tern_eq_handle_qp(eq, type, number);
		break;
	case TERN_EVENT_SRQ_LIMIT:
	case TERN_EVENT_SRQ_ERROR:
		tern_eq_handle_srq(eq, type, number);
		break;
	case TERN_EVENT_PAGE_FAULT:
		tern_eq_handle_page_fault(eq, eqe, number);
		break;
	case TERN_EVENT_PORT_STATE:
		queue_work(tern_workqueue, &eq->adapter->link_work);
		break;
	case TERN_EVENT_CONGESTION:
		if (!tern_storm_event(eq->adapter, subtype, number))
			tern_eq_unknown(eq, type, number);
		break;
	default:
		tern_eq_unknown(eq, type, number);
	}
}

/* The next event, or NULL. */
static const struct tern_eqe *tern_eq_next(struct tern_eq *eq)
{
	const struct tern_eqe *eqe;
	u32 phase;

	lockdep_assert_held(&eq->lock);
	eqe = tern_buffer_at(&eq->buffer,
			     (eq->index & (BIT(eq->shift) - 1)) * sizeof(struct tern_eqe));
	phase = le32_to_cpu(READ_ONCE(eqe->phase)) & TERN_EQE_PHASE;
	if (phase == (eq->index >> eq->shift & 1))
		return NULL;
	/* Phase before the rest; pairs with the device's release store of phase. */
	dma_rmb();
	return eqe;
}

static void tern_eq_arm(struct tern_eq *eq)
{
	lockdep_assert_held(&eq->lock);
	tern_consume(eq->record.cpu, eq->index);
	tern_arm(&eq->adapter->device, eq->record.cpu, TERN_DOORBELL_EQ_ARM, eq->eqn,
		 TERN_ARM_NEXT, ++eq->sequence);
}

/*
 * Handle events until there is none left and the queue is armed, or the
 * budget is used up. Returns how many there were; the budget means that there
 * may be more.
 */
static unsigned int tern_eq_drain(struct tern_eq *eq, unsigned int budget)
{
	const struct tern_eqe *eqe;
	unsigned int done = 0;

	lockdep_assert_held(&eq->lock);
	if (!eq->live || !tern_eq_next(eq))
		return 0;
	do {
		while ((eqe = tern_eq_next(eq))) {
			if (done == budget) {
				tern_consume(eq->record.cpu, eq->index);
				return done;
			}
			tern_eq_handle(eq, eqe);
			eq->index++;
			done++;
		}
		tern_eq_arm(eq);
	} while (tern_eq_next(eq));
	return done;
}

static irqreturn_t tern_eq_interrupt(int irq, void *data)
{
	struct tern_eq *eq = data;
	unsigned long flags;
	unsigned int done;

	if (eq->eqn == 0)
		tern_command_queue_interrupt(eq->adapter->commands);
	spin_lock_irqsave(&eq->lock, flags);
	done = tern_eq_drain(eq, TERN_EQ_BUDGET);
	spin_unlock_irqrestore(&eq->lock, flags);
	return done == TERN_EQ_BUDGET ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

/* Drain it until it is empty and armed, in process context. Returns how many events there were. */
static unsigned int tern_eq_drain_all(struct tern_eq *eq)
{
	unsigned int done, total = 0;

	do {
		/* Listeners raise softirqs, which run when bottom halves are enabled. */
		local_bh_disable();
		spin_lock_irq(&eq->lock);
		done = tern_eq_drain(eq, TERN_EQ_BUDGET);
		spin_unlock_irq(&eq->lock);
		local_bh_enable();
		total += done;
		cond_resched();
	} while (done == TERN_EQ_BUDGET && !tern_is_dead(&eq->adapter->device));
	return total;
}

static irqreturn_t tern_eq_thread(int irq, void *data)
{
	tern_eq_drain_all(data);
	return IRQ_HANDLED;
}

/* An event that was waiting the last time already has lost its interrupt. */
static bool tern_eq_interrupt_lost(struct tern_eq *eq)
{
	bool lost = false;

	spin_lock_irq(&eq->lock);
	if (eq->live && tern_eq_next(eq)) {
		lost = eq->seen == eq->index;
		eq->seen = eq->index;
	}
	spin_unlock_irq(&eq->lock);
	return lost;
}

void tern_eqs_poll(struct tern_adapter *adapter)
{
	unsigned int i;

	for (i = 0; i < adapter->eq_count; i++)
		if (tern_eq_interrupt_lost(&adapter->eqs[i]))
			atomic64_add(tern_eq_drain_all(&adapter->eqs[i]),
				     &adapter->lost_interrupts);
}

static int tern_eq_create(struct tern_adapter *adapter, struct tern_eq *eq, unsigned int i)
{
	struct tern_device *tern = &adapter->device;
	int node = pcibus_to_node(tern->pdev->bus);
	struct tern_command_create_eq body = {};
	int err;

	eq->adapter = adapter;
	eq->eqn = i;
	eq->shift = min(TERN_EQ_SHIFT, tern->caps.eq_shift_max);
	spin_lock_init(&eq->lock);
	err = tern_buffer_alloc(tern, &eq->buffer, sizeof(struct tern_eqe) << eq->shift);
	if (err)
		return err;
	err = tern_record_alloc(tern, &eq->record);
	if (err)
		goto free_buffer;

	eq->irq = pci_irq_vector(tern->pdev, i);
	snprintf(eq->name, sizeof(eq->name), "tern-%s-%u", pci_name(tern->pdev), i);
	err = request_threaded_irq(eq->irq, tern_eq_interrupt, tern_eq_thread, 0, eq->name, eq);
	if (err)
		goto free_record;
	/* One CPU for each completion vector. */
	if (i)
		irq_set_affinity_and_hint(eq->irq, cpumask_of(cpumask_local_spread(i - 1, node)));

	body.pages = eq->buffer.pages.list;
	body.record = cpu_to_le64(eq->record.dma);
	body.vector = cpu_to_le32(i);
	body.shift = eq->shift;
	err = tern_cmd_create_eq(tern, i, &body);
	if (err)
		goto free_irq;

	spin_lock_irq(&eq->lock);
	eq->live = true;
	/* No index of a waiting event. */
	eq->seen = U32_MAX;
	tern_eq_arm(eq);
	spin_unlock_irq(&eq->lock);
	return 0;

free_irq:
	irq_set_affinity_and_hint(eq->irq, NULL);
	free_irq(eq->irq, eq);
free_record:
	tern_record_free(tern, &eq->record);
free_buffer:
	tern_buffer_free(tern, &eq->buffer);
	return err;
}

static void tern_eq_destroy(struct tern_adapter *adapter, struct tern_eq *eq)
{
	struct tern_device *tern = &adapter->device;

	/* Without number 0's interrupt the command has to be polled for. */
	if (eq->eqn == 0)
		tern_command_queue_use_interrupts(adapter->commands, false);
	tern_cmd_destroy_eq(tern, eq->eqn);
	spin_lock_irq(&eq->lock);
	eq->live = false;
	spin_unlock_irq(&eq->lock);
	irq_set_affinity_and_hint(eq->irq, NULL);
	free_irq(eq->irq, eq);
	tern_record_free(tern, &eq->record);
	tern_buffer_free(tern, &eq->buffer);
}

/* A vector for commands and asynchronous events and one for each CPU's completions, if possible. */
static int tern_eqs_alloc_vectors(struct tern_adapter *adapter)
{
	struct tern_device *tern = &adapter->device;
	u32 vectors = tern_read32(adapter, TERN_REG_VECTORS);

	if (tern_is_dead(tern))
		return -EIO;
	if (!vectors || vectors > TERN_MSIX_VECTORS_MAX) {
		dev_err(tern_dev(adapter), "%u interrupt vectors\n", vectors);
		return -EPROTO;
	}
	vectors = min3(vectors, tern->caps.eq_count, num_online_cpus() + 1);
	return pci_alloc_irq_vectors(tern->pdev, 1, vectors, PCI_IRQ_MSIX);
}

int tern_eqs_create(struct tern_adapter *adapter)
{
	struct tern_device *tern = &adapter->device;
	unsigned int i;
	int count, err;

	count = tern_eqs_alloc_vectors(adapter);
	if (count < 0)
		return count;
	adapter->eqs = kcalloc(count, sizeof(*adapter->eqs), GFP_KERNEL);
	if (!adapter->eqs) {
		err = -ENOMEM;
		goto free_vectors;
	}
	for (i = 0; i < count; i++) {
		err = tern_eq_create(adapter, &adapter->eqs[i], i);
		if (err)
			goto destroy;
		if (i == 0)
			tern_command_queue_use_interrupts(adapter->commands, true);
	}
	adapter->eq_count = count;
	tern->completion_vectors = count > 1 ? count - 1 : 1;
	return 0;

destroy:
	while (i--)
		tern_eq_destroy(adapter, &adapter->eqs[i]);
	kfree(adapter->eqs);
	adapter->eqs = NULL;
free_vectors:
	pci_free_irq_vectors(tern->pdev);
	return err;
}

void tern_eqs_destroy(struct tern_adapter *adapter)
{
	unsigned int i = adapter->eq_count;

	while (i--)
		tern_eq_destroy(adapter, &adapter->eqs[i]);
	adapter->eq_count = 0;
	kfree(adapter->eqs);
	adapter->eqs = NULL;
	pci_free_irq_vectors(adapter->device.pdev);
}

/**
 * tern_vector_eqn() - the event queue of a completion vector
 * @tern: the function
 * @vector: taken modulo completion_vectors
 *
 * Return: its number
 */
u32 tern_vector_eqn(struct tern_device *tern, unsigned int vector)
{
	u32 eqn = vector % tern->completion_vectors;

	return tern_adapter(tern)->eq_count > 1 ? eqn + 1 : eqn;
}
EXPORT_SYMBOL_NS_GPL(tern_vector_eqn, TERN_NAMESPACE);

int tern_vector_irq(struct tern_adapter *adapter, unsigned int vector)
{
	return adapter->eqs[tern_vector_eqn(&adapter->device, vector)].irq;
}

/*
 * Listeners are looked up and called under an event queue's lock. Who has
 * erased one and then had each of these locks knows that nobody uses it.
 */
static void tern_eqs_wait_for_listeners(struct tern_adapter *adapter)
{
	unsigned int i;

	for (i = 0; i < adapter->eq_count; i++) {
		spin_lock_irq(&adapter->eqs[i].lock);
		spin_unlock_irq(&adapter->eqs[i].lock);
	}
}

/**
 * tern_cq_listen() - take the events of a completion queue
 * @tern: the function
 * @listener: with cqn and both calls set
 *
 * Return: 0, -EBUSY when there is one for this number, -ENOMEM
 */
int tern_cq_listen(struct tern_device *tern, struct tern_cq_listener *listener)
{
	return xa_insert(&tern_adapter(tern)->cq_listeners, listener->cqn, listener, GFP_KERNEL);
}
EXPORT_SYMBOL_NS_GPL(tern_cq_listen, TERN_NAMESPACE);

/**
 * tern_cq_unlisten() - take no more events of a completion queue
 * @tern: the function
 * @listener: as registered; it is not used any more on return
 */
void tern_cq_unlisten(struct tern_device *tern, struct tern_cq_listener *listener)
{
	xa_erase(&tern_adapter(tern)->cq_listeners, listener->cqn);
	tern_eqs_wait_for_listeners(tern_adapter(tern));
}
EXPORT_SYMBOL_NS_GPL(tern_cq_unlisten, TERN_NAMESPACE);

/**
 * tern_qp_listen() - take the events of a queue pair
 * @tern: the function
 * @listener: with qpn and the call set
 *
 * Return: 0, -EBUSY when there is one for this number, -ENOMEM
 */
int tern_qp_listen(struct tern_device *tern, struct tern_qp_listener *listener)
{
	return xa_insert(&tern_adapter(tern)->qp_listeners, listener->qpn, listener, GFP_KERNEL);
}
EXPORT_SYMBOL_NS_GPL(tern_qp_listen, TERN_NAMESPACE);

/**
 * tern_qp_unlisten() - take no more events of a queue pair
 * @tern: the function
 * @listener: as registered; it is not used any more on return
 */
void tern_qp_unlisten(struct tern_device *tern, struct tern_qp_listener *listener)
{
	xa_erase(&tern_adapter(tern)->qp_listeners, listener->qpn);
	tern_eqs_wait_for_listeners(tern_adapter(tern));
}
EXPORT_SYMBOL_NS_GPL(tern_qp_unlisten, TERN_NAMESPACE);

/**
 * tern_srq_listen() - take the events of a shared receive queue
 * @tern: the function
 * @listener: with srqn and the call set
 *
 * Return: 0, -EBUSY when there is one for this number, -ENOMEM
 */
int tern_srq_listen(struct tern_device *tern, struct tern_srq_listener *listener)
{
	return xa_insert(&tern_adapter(tern)->srq_listeners, listener->srqn, listener, GFP_KERNEL);
}
EXPORT_SYMBOL_NS_GPL(tern_srq_listen, TERN_NAMESPACE);

/**
 * tern_srq_unlisten() - take no more events of a shared receive queue
 * @tern: the function
 * @listener: as registered; it is not used any more on return
 */
void tern_srq_unlisten(struct tern_device *tern, struct tern_srq_listener *listener)
{
	xa_erase(&tern_adapter(tern)->srq_listeners, listener->srqn);
	tern_eqs_wait_for_listeners(tern_adapter(tern));
}
EXPORT_SYMBOL_NS_GPL(tern_srq_unlisten, TERN_NAMESPACE);
