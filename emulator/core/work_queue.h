/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: send and receive queues: their memory, their record, reading of work
 * requests, and the protocol by which the host's doorbells become rare.
 *
 * A queue that is watched is either active (the engine reads its index in each
 * tern_nic_run() and calls qp_ops.posted when it moved) or asleep (the record's
 * ring word is 1; a doorbell makes it active). A send queue with requests that
 * wait for something else than the host, a window, the wire, a timer, is
 * neither: its ring word is 0, and it is active again when its owner has taken
 * the last of them. Thousands of these cost the others nothing. Send queues are
 * watched in RTS, SQD and ERROR. Receive queues are looked at when an entry is needed
 * (work_queue_poll()); they are watched only in ERROR, to flush.
 *
 * Three indices, free-running: completed <= next <= producer. The owner moves
 * next and completed; completed before it posts the completion, for the host
 * may reuse the entries as soon as it sees that.
 */
#ifndef TERN_WORK_QUEUE_H
#define TERN_WORK_QUEUE_H

#include "list.h"
#include "memory.h"
#include "tern_hw_wqe.h"

struct qp;
struct tern_nic;

struct work_queue {
	struct function *fn;
	struct qp *qp;			/* NULL: of an SRQ, never watched */
	bool exists;			/* false with TERN_QP_NO_SQ, TERN_QP_NO_RQ */
	bool is_send;
	struct page_list pages;
	struct page_cursor cursor;
	uint64_t record;		/* bus address */
	uint8_t shift;			/* log2 of blocks (SQ) or entries (RQ) */
	uint8_t stride_shift;		/* log2 of bytes of one: 6 for an SQ */
	uint32_t producer;		/* the host's, as last read and checked */
	uint32_t next;			/* to be executed next */
	uint32_t completed;		/* oldest that has not completed */
	uint32_t doorbell_index;	/* what came by doorbell; counts without records */
	bool watched;
	int broken;			/* -EINVAL or -EFAULT from work_queue_poll(), until reset */
	bool look_again;		/* tell the owner once though the index did not move */
	struct list active;		/* in nic->active_queues */
	uint64_t idle_since;		/* ns; when active: last time that the index moved */
};

static inline uint32_t work_queue_size(const struct work_queue *wq)
{
	return 1U << wq->shift;
}

/* Entries that are posted and not yet executed, as last read. */
static inline uint32_t work_queue_posted(const struct work_queue *wq)
{
	return wq->producer - wq->next;
}

/*
 * Read the host's index now. Returns 1 when it moved, 0 when not, -EINVAL when
 * it is out of the ring, -EFAULT when the record cannot be read; an error
 * lasts until the queue is reset.
 */
int work_queue_poll(struct work_queue *wq);

/*
 * Watch: active at once, and qp_ops.posted is called once in any case, so that
 * what is posted already is found. Or stop watching.
 */
void work_queue_watch(struct work_queue *wq);
void work_queue_unwatch(struct work_queue *wq);
/* The owner takes @entries of what is posted. */
void work_queue_take(struct work_queue *wq, uint32_t entries);
/* Empty, indices 0: the QP went to RESET. */
void work_queue_reset(struct work_queue *wq);
/* Stop watching without touching guest memory: the QP is being freed. */
void work_queue_forget(struct work_queue *wq);

struct sge {
	uint64_t address;
	uint32_t length;
	uint32_t key;
};

#define SEND_SGES_MAX		30	/* (512 - 16 - 16) / 16 */
#define RECEIVE_SGES_MAX	31	/* (512 - 16) / 16 */

enum wqe_error {
	WQE_OK = 0,
	WQE_MALFORMED,			/* lengths or counts do not fit, unknown opcode or flag */
	WQE_FAULT,			/* the queue's memory cannot be read */
};

/* A send work request, copied once and taken apart. Pointers are into raw[]. */
struct send_wqe {
	uint32_t index;			/* of its first block */
	uint8_t opcode;			/* TERN_WQE_* */
	uint8_t flags;			/* TERN_WQE_SIGNALED... */
	uint8_t blocks;			/* 1..8, also with an error: how far to go on */
	uint8_t sge_count;
	uint8_t immediate[4];
	uint32_t remote_srqn;		/* XRC_INITIATOR, else 0 */
	uint64_t remote_address;	/* with a remote segment, else 0 */
	uint32_t remote_key;
	uint32_t flush_length;		/* FLUSH */
	uint64_t swap_add, compare;	/* with an atomic segment, else 0 */
	const struct tern_address_vector *address;	/* UD and GSI SENDs, else NULL */
	const struct tern_wqe_ethernet *ethernet;	/* ETHERNET, else NULL */
	const struct tern_wqe_register *registration;	/* REGISTER, else NULL */
	const struct tern_wqe_bind *binding;		/* BIND_WINDOW, else NULL */
	const uint8_t *inline_data;	/* with TERN_WQE_INLINE, else NULL */
	uint64_t length;		/* of the data, inline or by SGEs (sum in 64 bits) */
	struct sge sges[SEND_SGES_MAX];
	uint8_t raw[TERN_WQE_BYTES_MAX];
};

static_assert(offsetof(struct send_wqe, raw) % 8 == 0, "segments are looked at there");

/*
 * Fetch the work request whose first block is @index (of posted ones). Checks
 * its shape for this type of queue pair: blocks within what is posted, the
 * segments that its opcode has, SGEs or inline data inside it, flags. Whether
 * opcode and length are allowed now is the caller's.
 */
enum wqe_error send_wqe_fetch(struct work_queue *wq, uint32_t index, struct send_wqe *wqe);

struct receive_wqe {
	uint32_t index;			/* of an SRQ: the entry's tag */
	uint8_t sge_count;
	uint64_t length;		/* sum of the SGEs */
	struct sge sges[RECEIVE_SGES_MAX];
};

enum wqe_error receive_wqe_fetch(struct work_queue *wq, uint32_t index, struct receive_wqe *wqe);

/* For doorbell.c, qp.c and nic.c */
void work_queue_enabled(struct work_queue *wq);		/* bus mastering is back */
void work_queue_doorbell(struct work_queue *wq, uint32_t index);
bool work_queues_run(struct tern_nic *nic);
bool work_queues_sleep(struct tern_nic *nic);

#endif /* TERN_WORK_QUEUE_H */
