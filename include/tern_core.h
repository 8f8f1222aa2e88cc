/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern core driver (tern.ko): what it offers to the drivers on its auxiliary
 * devices. Symbols are in the namespace TERN.
 */
#ifndef TERN_CORE_H
#define TERN_CORE_H

#include <linux/auxiliary_bus.h>
#include <linux/bits.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/types.h>

#include "tern_capabilities.h"
#include "tern_hw_command.h"
#include "tern_hw_doorbell.h"
#include "tern_hw_event.h"
#include "tern_hw_flow.h"
#include "tern_hw_memory.h"
#include "tern_hw_qp.h"
#include "tern_hw_queue.h"
#include "tern_hw_regs.h"
#include "tern_hw_srq.h"
#include "tern_hw_statistics.h"

/* The auxiliary device's name; a driver's id table has "tern." in front of it. */
#define TERN_AUXILIARY_RDMA	"rdma"

/**
 * struct tern_device - a Tern function, as other modules see it
 * @pdev: the PCI device; the device for DMA
 * @netdev: its network interface; exists as long as the auxiliary device does
 * @features: negotiated, a mask of 1 << TERN_FEATURE_*
 * @caps: what the device can do
 * @doorbell_base: physical address of doorbell page 0
 * @doorbell_shift: log2 of the doorbell pages' stride, at least PAGE_SHIFT
 * @doorbell_pages: how many there are
 * @doorbell: page 0, the kernel's
 * @device_memory_base: physical address of the device memory
 * @device_memory_size: its bytes, whole pages; 0 without
 * @completion_vectors: how many vectors completions can use
 *
 * All of it is constant while an auxiliary device exists.
 */
struct tern_device {
	struct pci_dev *pdev;
	struct net_device *netdev;
	u64 features;
	struct tern_capabilities caps;
	phys_addr_t doorbell_base;
	unsigned int doorbell_shift;
	u32 doorbell_pages;
	void __iomem *doorbell;
	phys_addr_t device_memory_base;
	u64 device_memory_size;
	unsigned int completion_vectors;
};

static inline bool tern_has(const struct tern_device *tern, unsigned int feature)
{
	return tern->features & BIT_ULL(feature);
}

/**
 * struct tern_auxiliary - an auxiliary device of a Tern function
 * @adev: its device
 * @tern: the function
 */
struct tern_auxiliary {
	struct auxiliary_device adev;
	struct tern_device *tern;
};

static inline struct tern_device *tern_from_auxiliary(struct auxiliary_device *adev)
{
	return container_of(adev, struct tern_auxiliary, adev)->tern;
}

/* Health */

/**
 * enum tern_notification - what the notifier chain of a function tells
 * @TERN_NOTIFY_PORT: the port changed; data points to a u8, TERN_PORT_UP or TERN_PORT_DOWN
 * @TERN_NOTIFY_DEAD: the device is gone or failed; all commands fail with -EIO; data is NULL
 */
enum tern_notification {
	TERN_NOTIFY_PORT,
	TERN_NOTIFY_DEAD,
};

bool tern_is_dead(const struct tern_device *tern);

/* Called from process context; unregistering waits for a running call. */
int tern_notifier_register(struct tern_device *tern, struct notifier_block *block);
void tern_notifier_unregister(struct tern_device *tern, struct notifier_block *block);

/* Commands */

#define TERN_RESULT_WORDS	12

int tern_command_execute(struct tern_device *tern, u16 opcode, u32 number, const void *body,
			 size_t length, u32 *result);
int tern_cmd_query(struct tern_device *tern, u16 opcode, u32 number, u32 group, void *answer,
		   size_t length);
int tern_cmd_create_cq(struct tern_device *tern, u32 cqn,
		       const struct tern_command_create_cq *body);
int tern_cmd_modify_cq(struct tern_device *tern, u32 cqn,
		       const struct tern_command_create_cq *body);
int tern_cmd_resize_cq(struct tern_device *tern, u32 cqn,
		       const struct tern_command_resize_cq *body);
int tern_cmd_destroy_cq(struct tern_device *tern, u32 cqn);
int tern_cmd_create_qp(struct tern_device *tern, u32 qpn,
		       const struct tern_command_create_qp *body);
int tern_cmd_modify_qp(struct tern_device *tern, u32 qpn,
		       const struct tern_command_modify_qp *body);
int tern_cmd_destroy_qp(struct tern_device *tern, u32 qpn);
int tern_cmd_create_srq(struct tern_device *tern, u32 srqn,
			const struct tern_command_create_srq *body);
int tern_cmd_modify_srq(struct tern_device *tern, u32 srqn,
			const struct tern_command_modify_srq *body);
int tern_cmd_destroy_srq(struct tern_device *tern, u32 srqn);
int tern_cmd_create_key(struct tern_device *tern, u32 index,
			const struct tern_command_create_key *body);
int tern_cmd_modify_key(struct tern_device *tern, u32 index,
			const struct tern_command_create_key *body);
int tern_cmd_destroy_key(struct tern_device *tern, u32 index);
int tern_cmd_set_hashing(struct tern_device *tern, u32 qpn, const __le32 *qpns, u16 count,
			 u16 fields, const u8 *key);

/* Numbers of objects */

/**
 * enum tern_numbers - spaces of object numbers
 * @TERN_NUMBERS_CQ: completion queues
 * @TERN_NUMBERS_QP: queue pairs, from 2
 * @TERN_NUMBERS_SRQ: shared receive queues, from 1
 * @TERN_NUMBERS_KEY: indices of memory keys, from 1
 * @TERN_NUMBERS_PD: protection domains
 * @TERN_NUMBERS_FLOW: flows
 * @TERN_NUMBERS_COUNTER_SET: counter sets, from 1
 * @TERN_NUMBERS_XRCD: XRC domains, from 1
 * @TERN_NUMBERS_COUNT: how many spaces there are
 */
enum tern_numbers {
	TERN_NUMBERS_CQ,
	TERN_NUMBERS_QP,
	TERN_NUMBERS_SRQ,
	TERN_NUMBERS_KEY,
	TERN_NUMBERS_PD,
	TERN_NUMBERS_FLOW,
	TERN_NUMBERS_COUNTER_SET,
	TERN_NUMBERS_XRCD,
	TERN_NUMBERS_COUNT
};

int tern_number_alloc(struct tern_device *tern, enum tern_numbers space, u32 *number);
void tern_number_free(struct tern_device *tern, enum tern_numbers space, u32 number);

/* Doorbell pages of user contexts: 1.. below doorbell_pages */
int tern_doorbell_page_alloc(struct tern_device *tern, u32 *page);
void tern_doorbell_page_free(struct tern_device *tern, u32 page);

/* Device memory */
int tern_device_memory_alloc(struct tern_device *tern, u64 length, unsigned int align_shift,
			     u64 *offset);
void tern_device_memory_free(struct tern_device *tern, u64 offset, u64 length);

/* Events */

/* The event queue of completion vector @vector (taken modulo their number). */
u32 tern_vector_eqn(struct tern_device *tern, unsigned int vector);

/**
 * struct tern_cq_listener - takes the events of a completion queue
 * @cqn: its number
 * @completion: an armed queue has got its completion
 * @error: the queue failed, TERN_CQ_ERROR_*
 *
 * Both are called with interrupts disabled and an event queue's spinlock
 * held, in most cases from its hard interrupt. They must not sleep, nor
 * register or unregister a listener.
 */
struct tern_cq_listener {
	u32 cqn;
	void (*completion)(struct tern_cq_listener *listener);
	void (*error)(struct tern_cq_listener *listener, u8 error);
};

/* Register before the queue is armed; unregister after it was destroyed, before it is freed. */
int tern_cq_listen(struct tern_device *tern, struct tern_cq_listener *listener);
void tern_cq_unlisten(struct tern_device *tern, struct tern_cq_listener *listener);

/**
 * struct tern_page_fault - an access waits for a page, and for KEY_RESUME
 * @number: of the fault
 * @key: index of the key
 * @address: I/O virtual address in the region
 * @length: bytes from there on that would be of use
 * @responder: of the queue pair's responder, or a receive; else of the requester
 * @write: the device is to write there
 */
struct tern_page_fault {
	u32 number;
	u32 key;
	u64 address;
	u32 length;
	bool responder;
	bool write;
};

/**
 * struct tern_qp_listener - takes the events of a queue pair
 * @qpn: its number
 * @event: TERN_EVENT_QP_*; the context is that of struct tern_cq_listener's calls
 * @page_fault: may be NULL; the same context
 */
struct tern_qp_listener {
	u32 qpn;
	void (*event)(struct tern_qp_listener *listener, u8 type);
	void (*page_fault)(struct tern_qp_listener *listener, const struct tern_page_fault *fault);
};

int tern_qp_listen(struct tern_device *tern, struct tern_qp_listener *listener);
void tern_qp_unlisten(struct tern_device *tern, struct tern_qp_listener *listener);

/**
 * struct tern_srq_listener - takes the events of a shared receive queue
 * @srqn: its number
 * @event: TERN_EVENT_SRQ_*; the context is that of struct tern_cq_listener's calls
 */
struct tern_srq_listener {
	u32 srqn;
	void (*event)(struct tern_srq_listener *listener, u8 type);
};

int tern_srq_listen(struct tern_device *tern, struct tern_srq_listener *listener);
void tern_srq_unlisten(struct tern_device *tern, struct tern_srq_listener *listener);

/* Page lists */

/**
 * struct tern_page_tables - a page list and the tables behind it
 * @list: what commands carry
 * @count: how many tables there are
 * @tables: the tables
 */
struct tern_page_tables {
	struct tern_page_list list;
	u32 count;
	struct tern_page_table *tables;
};

/**
 * typedef tern_next_page - gives the data pages of a range, in order
 * @cursor: the caller's
 * @address: set to the bus address of the next page, aligned to the page size
 *
 * Return: false when there is none left
 */
typedef bool tern_next_page(void *cursor, dma_addr_t *address);

int tern_page_tables_create(struct tern_device *tern, struct tern_page_tables *tables, u64 length,
			    u32 first_offset, unsigned int page_shift, bool writable,
			    tern_next_page *next, void *cursor);
void tern_page_tables_destroy(struct tern_device *tern, struct tern_page_tables *tables);

/* Memory for the kernel's own queues */

/**
 * struct tern_buffer - coherent, zeroed memory that the device sees as one range
 * @size: bytes
 * @chunk_shift: log2 of a chunk's bytes
 * @chunk_count: how many chunks there are
 * @chunks: their addresses
 * @dma: their bus addresses
 * @pages: what commands carry
 */
struct tern_buffer {
	size_t size;
	unsigned int chunk_shift;
	unsigned int chunk_count;
	void **chunks;
	dma_addr_t *dma;
	struct tern_page_tables pages;
};

int tern_buffer_alloc(struct tern_device *tern, struct tern_buffer *buffer, size_t size);
void tern_buffer_free(struct tern_device *tern, struct tern_buffer *buffer);

/* Where byte @offset is. What is aligned to its size (a power of two up to 4 KiB) is contiguous. */
static inline void *tern_buffer_at(const struct tern_buffer *buffer, size_t offset)
{
	return buffer->chunks[offset >> buffer->chunk_shift] +
	       (offset & ((1UL << buffer->chunk_shift) - 1));
}

/**
 * struct tern_record - a queue's record
 * @cpu: its address
 * @dma: its bus address
 */
struct tern_record {
	struct tern_queue_record *cpu;
	dma_addr_t dma;
};

int tern_record_alloc(struct tern_device *tern, struct tern_record *record);
void tern_record_free(struct tern_device *tern, struct tern_record *record);

/* Doorbells */

static inline void tern_ring_doorbell(struct tern_device *tern, unsigned int doorbell, u32 number,
				      u32 index)
{
	writeq((u64)index << TERN_DOORBELL_INDEX_SHIFT | number, tern->doorbell + doorbell);
}

/**
 * tern_publish() - tell the device of new entries in a work queue
 * @tern: the function
 * @record: the queue's
 * @doorbell: TERN_DOORBELL_SEND, RECEIVE or SRQ
 * @number: the queue's
 * @index: free-running producer index
 *
 * Calls for one queue are serialised by its lock.
 */
static inline void tern_publish(struct tern_device *tern, struct tern_queue_record *record,
				unsigned int doorbell, u32 number, u32 index)
{
	/* Entries before the index; pairs with the device's acquire load of it. */
	dma_wmb();
	WRITE_ONCE(record->index, cpu_to_le32(index));
	if (tern_has(tern, TERN_FEATURE_DOORBELL_RECORDS)) {
		/*
		 * The index before the load of ring; pairs with the device's
		 * fence between its store of ring and its load of the index.
		 */
		mb();
		if (!READ_ONCE(record->ring))
			return;
		/* One doorbell wakes it: posts until it is awake need none. */
		WRITE_ONCE(record->ring, 0);
	}
	tern_ring_doorbell(tern, doorbell, number, index);
}

/**
 * tern_consume() - tell the device how far a CQ's or EQ's entries were consumed
 * @record: the queue's
 * @index: free-running consumer index
 */
static inline void tern_consume(struct tern_queue_record *record, u32 index)
{
	/* All loads of the entries before the device may overwrite them. */
	virt_store_release(&record->index, cpu_to_le32(index));
}

/**
 * tern_arm() - ask for an event with the next completion (or for an interrupt with the next event)
 * @tern: the function
 * @record: the queue's
 * @doorbell: TERN_DOORBELL_CQ_ARM or TERN_DOORBELL_EQ_ARM
 * @number: the queue's
 * @mode: TERN_ARM_SOLICITED or TERN_ARM_NEXT
 * @sequence: one more than at the queue's last arming
 *
 * The caller looks at the queue once more afterwards. Calls for one queue are
 * serialised by its lock.
 */
static inline void tern_arm(struct tern_device *tern, struct tern_queue_record *record,
			    unsigned int doorbell, u32 number, u32 mode, u32 sequence)
{
	u32 arm = sequence << TERN_ARM_SEQUENCE_SHIFT | mode;

	WRITE_ONCE(record->arm, cpu_to_le32(arm));
	if (!tern_has(tern, TERN_FEATURE_DOORBELL_RECORDS))
		tern_ring_doorbell(tern, doorbell, number, arm);
	/*
	 * The arm word before the caller's next look at the queue; pairs with
	 * the device's fence between an entry's phase and its load of arm.
	 */
	mb();
}

#endif /* TERN_CORE_H */
