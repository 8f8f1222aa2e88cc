/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: its objects. */
#ifndef TERN_IB_H
#define TERN_IB_H

#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "limits.h"
#include "ring.h"
#include "tags.h"
#include "tern_core.h"
#include "wqe.h"

/**
 * struct tern_ib_device - the RDMA device of a function
 * @ib: the core's part
 * @tern: the function
 * @limits: what objects may ask for
 * @kernel_cqs: CQs of kernel consumers, by number
 * @odp_regions: regions on demand, by index of their key
 * @fault_queue: maps pages on demand; NULL: there are none
 * @fatal_notifier: at tern.ko's chain, tells consumers; while the device is registered
 * @wake_notifier: at tern.ko's chain, wakes who waits for completions; until all have gone
 * @netdev_notifier: at the network stack's chain
 * @port_state: last state that was told; the netdev notifier's, under RTNL
 * @key_consumer: low byte of the next key
 */
struct tern_ib_device {
	struct ib_device ib;
	struct tern_device *tern;
	struct tern_ib_limits limits;
	struct xarray kernel_cqs;
	struct xarray odp_regions;
	struct workqueue_struct *fault_queue;
	struct notifier_block fatal_notifier;
	struct notifier_block wake_notifier;
	struct notifier_block netdev_notifier;
	enum ib_port_state port_state;
	atomic_t key_consumer;
};

/**
 * struct tern_ib_ucontext - a process
 * @ib: the core's part
 * @doorbell_page: number of its doorbell page
 * @doorbell_entry: how it is mapped
 * @clock_entry: how the clock page is mapped; NULL without
 * @records_lock: protects @records and the counts of its elements
 * @records: pages with queue records, struct tern_ib_record_page
 */
struct tern_ib_ucontext {
	struct ib_ucontext ib;
	u32 doorbell_page;
	struct rdma_user_mmap_entry *doorbell_entry;
	struct rdma_user_mmap_entry *clock_entry;
	struct mutex records_lock;	/* records, and the counts of its elements */
	struct list_head records;
};

struct tern_ib_pd {
	struct ib_pd ib;
	u32 number;
};

struct tern_ib_xrcd {
	struct ib_xrcd ib;
	u32 number;
};

/**
 * struct tern_ib_fast_list - what a region for fast registration is to be registered with
 * @entries: two tables: one that the device may be using, one to fill; NULL in other regions
 * @dma: their bus address
 * @which: the table that is filled, 0 or 1
 * @limit: pages that it may have
 * @count: pages that it has
 * @first_offset: of the first byte in the first page
 * @posted: a registration named that table: the next mapping goes to the other
 *
 * The consumer serialises mapping and posting of one region.
 */
struct tern_ib_fast_list {
	__le64 *entries;
	dma_addr_t dma;
	u32 which;
	u32 limit;
	u32 count;
	u32 first_offset;
	bool posted;
};

struct tern_ib_odp;

/**
 * struct tern_ib_mr - a memory region
 * @ib: the core's part
 * @index: of its key, 0 for the local DMA key
 * @umem: the process's memory
 * @tables: page list
 * @odp: of a region on demand, which has neither
 * @fast: for fast registration
 * @access: rights that were asked for
 * @address: I/O virtual address of the first byte
 */
struct tern_ib_mr {
	struct ib_mr ib;
	u32 index;
	int access;
	u64 address;
	struct ib_umem *umem;
	struct tern_page_tables tables;
	struct tern_ib_odp *odp;
	struct tern_ib_fast_list fast;
};

/**
 * struct tern_ib_mw - a memory window
 * @ib: the core's part
 * @index: of its key
 */
struct tern_ib_mw {
	struct ib_mw ib;
	u32 index;
};

struct tern_ib_ah {
	struct ib_ah ib;
	struct tern_address_vector address;
};

/**
 * struct tern_ib_user_queue - queue memory of a process
 * @umem: the memory
 * @tables: its page list
 */
struct tern_ib_user_queue {
	struct ib_umem *umem;
	struct tern_page_tables tables;
};

struct tern_ib_record_page;

/**
 * struct tern_ib_cq - a completion queue
 * @ib: the core's part
 * @cqn: its number
 * @shift: log2 of its entries
 * @listener: takes its events
 * @command: body of CREATE_CQ, for MODIFY_CQ
 * @resize_mutex: of a process: serialises resizing; protects what follows after creation
 * @user: of a process: queue memory
 * @record_page: of a process: where its record is
 * @buffer: of the kernel: queue memory
 * @record: of the kernel
 * @lock: of the kernel: protects consumer, sequence, armed_next, the ring of
 *	entries, and the completing side of work queues that complete here
 * @consumer: free-running index of the next entry
 * @sequence: of the last arming
 * @armed_next: armed for any completion, and no event came since
 * @qps: queue pairs that complete here, by number; erased under @lock
 */
struct tern_ib_cq {
	struct ib_cq ib;
	u32 cqn;
	u8 shift;
	struct tern_cq_listener listener;
	struct tern_command_create_cq command;

	struct mutex resize_mutex;	/* shift, user, record_page */
	struct tern_ib_user_queue user;
	struct tern_ib_record_page *record_page;

	struct tern_buffer buffer;
	struct tern_record record;
	spinlock_t lock;	/* what follows, and the completing side of work queues */
	u32 consumer;
	u32 sequence;
	bool armed_next;
	struct xarray qps;
};

/**
 * struct tern_ib_srq - a shared receive queue
 * @ib: the core's part
 * @number: what the device calls it
 * @max_wr: entries that may be outstanding
 * @max_sge: scatter gather elements of an entry
 * @shift: log2 of its entries
 * @stride_shift: log2 of an entry's bytes
 * @listener: takes its events
 * @mutex: serialises modifications; protects @max_wr, @shift and @user after creation
 * @user: of a process: queue memory
 * @record_page: of a process: where its record is
 * @buffer: of the kernel: queue memory
 * @record: of the kernel
 * @lock: of the kernel: protects @producer and @tags; taken inside that of a completion queue
 * @producer: of the kernel: free-running index of the next entry
 * @tags: of the kernel: what is outstanding
 */
struct tern_ib_srq {
	struct ib_srq ib;
	u32 number;
	u32 max_wr;
	u32 max_sge;
	u8 shift;
	u8 stride_shift;
	struct tern_srq_listener listener;
	struct mutex mutex;	/* modifications */

	struct tern_ib_user_queue user;
	struct tern_ib_record_page *record_page;

	struct tern_buffer buffer;
	struct tern_record record;
	spinlock_t lock;	/* producer, tags */
	u32 producer;
	struct tern_ib_tags tags;
};

/**
 * struct tern_ib_work_queue - a send or receive queue
 * @shift: log2 of its units (64-byte blocks, or entries)
 * @unit_shift: log2 of a unit's bytes
 * @user: of a process: queue memory
 * @record_page: of a process: where its record is
 * @buffer: of the kernel: queue memory
 * @record: of the kernel
 * @lock: of the kernel: serialises posting, and a state change against it
 * @ring: of the kernel: what is outstanding
 */
struct tern_ib_work_queue {
	u8 shift;
	u8 unit_shift;

	struct tern_ib_user_queue user;
	struct tern_ib_record_page *record_page;

	struct tern_buffer buffer;
	struct tern_record record;
	spinlock_t lock;	/* posting, and a state change against it */
	struct tern_ib_ring ring;
};

struct tern_ib_qp;

/**
 * struct tern_ib_fault - the page fault of a side of a queue pair
 * @qp: the queue pair
 * @fault: the last one
 * @any: there was one
 * @work: maps the page
 */
struct tern_ib_fault {
	struct tern_ib_qp *qp;
	struct tern_page_fault fault;
	bool any;
	struct work_struct work;
};

/**
 * struct tern_ib_qp - a queue pair
 * @ib: the core's part
 * @number: what the device calls it
 * @cap: what it holds
 * @has_sq: there is a send queue
 * @has_rq: there is a receive queue
 * @signal_all: every send work request makes a completion
 * @sq: send queue
 * @rq: receive queue
 * @wqe: where send work requests are encoded; under the send queue's lock
 * @listener: takes its events
 * @fault_lock: protects the faults of @faults
 * @faults: of its requester, of its responder; unused without pages on demand
 * @mutex: serialises modify and query; protects remote_qpn, access
 * @state: written under @mutex and both work queues' locks; posting reads it under one of them
 * @remote_qpn: the peer
 * @access: rights that were asked for
 */
struct tern_ib_qp {
	struct ib_qp ib;
	u32 number;
	struct ib_qp_cap cap;
	bool has_sq;
	bool has_rq;
	bool signal_all;
	struct tern_ib_work_queue sq;
	struct tern_ib_work_queue rq;
	struct tern_ib_wqe wqe;
	struct tern_qp_listener listener;
	spinlock_t fault_lock;	/* fault of faults */
	struct tern_ib_fault faults[2];
	struct mutex mutex;	/* modify and query, remote_qpn, access */
	enum ib_qp_state state;
	u32 remote_qpn;
	int access;
};

/**
 * struct tern_ib_wq - a receive work queue; the device's is a queue pair without send queue
 * @ib: the core's part
 * @number: of that queue pair
 * @rq: its queue
 * @listener: takes its events
 * @mutex: serialises modifications
 */
struct tern_ib_wq {
	struct ib_wq ib;
	u32 number;
	struct tern_ib_work_queue rq;
	struct tern_qp_listener listener;
	struct mutex mutex;	/* modifications */
};

/* What it consists of the core keeps. */
struct tern_ib_rwq_ind_table {
	struct ib_rwq_ind_table ib;
};

static inline struct tern_ib_device *to_tern_ib(struct ib_device *ibdev)
{
	return container_of(ibdev, struct tern_ib_device, ib);
}

static inline struct tern_ib_ucontext *to_tern_ucontext(struct ib_ucontext *ibucontext)
{
	return container_of(ibucontext, struct tern_ib_ucontext, ib);
}

static inline struct tern_ib_pd *to_tern_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct tern_ib_pd, ib);
}

static inline struct tern_ib_xrcd *to_tern_xrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct tern_ib_xrcd, ib);
}

static inline struct tern_ib_mr *to_tern_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct tern_ib_mr, ib);
}

static inline struct tern_ib_mw *to_tern_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct tern_ib_mw, ib);
}

static inline struct tern_ib_ah *to_tern_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct tern_ib_ah, ib);
}

static inline struct tern_ib_cq *to_tern_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct tern_ib_cq, ib);
}

static inline struct tern_ib_qp *to_tern_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct tern_ib_qp, ib);
}

static inline struct tern_ib_srq *to_tern_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct tern_ib_srq, ib);
}

static inline struct tern_ib_wq *to_tern_wq(struct ib_wq *ibwq)
{
	return container_of(ibwq, struct tern_ib_wq, ib);
}

/* What a dead device does not answer is done: it accesses no memory any more. */
static inline int tern_ib_gone_is_done(const struct tern_device *tern, int err)
{
	return err && tern_is_dead(tern) ? 0 : err;
}

#endif /* TERN_IB_H */
