/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* libibverbs provider of the Tern NIC: its objects. */
#ifndef TERN_PROVIDER_H
#define TERN_PROVIDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/driver.h>
#include <util/compiler.h>
#include <util/mmio.h>
#include <util/udma_barrier.h>
#include <util/util.h>
#include <ccan/container_of.h>

#include <rdma/tern-abi.h>
#include <tern_hw_cqe.h>
#include <tern_hw_doorbell.h>
#include <tern_hw_types.h>
#include <tern_hw_wqe.h>

#include "wqe.h"

/*
 * A spin lock that is inline: a call to the C library's costs as much as the
 * rest of a poll that finds nothing. Zero is unlocked. The application may
 * have promised that it has no use for it.
 */
struct tern_lock {
	atomic_uint taken;
	bool unneeded;
};

static inline void tern_lock(struct tern_lock *lock)
{
	if (lock->unneeded)
		return;
	while (unlikely(atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))) {
		while (atomic_load_explicit(&lock->taken, memory_order_relaxed)) {
#if defined(__i386__) || defined(__x86_64__)
			__builtin_ia32_pause();
#endif
		}
	}
}

static inline void tern_unlock(struct tern_lock *lock)
{
	atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

struct tern_td {
	struct ibv_td ibv_td;
	atomic_uint users;		/* parent domains */
};

/* A protection domain, or a parent domain, which contains one. */
struct tern_pd {
	struct ibv_pd ibv_pd;
	atomic_uint users;		/* parent domains; of one: queues */
	struct tern_pd *contained;	/* NULL: it is no parent domain, as are all below */
	struct tern_td *td;
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
};

/* What a parent domain's allocator is told that memory is for. */
enum tern_resource {
	TERN_RESOURCE_SEND_QUEUE,
	TERN_RESOURCE_RECEIVE_QUEUE,
	TERN_RESOURCE_COMPLETION_QUEUE,
};

/* Whole pages that the device works on, kept out of forked children. */
struct tern_buffer {
	void *base;
	size_t length;
	struct tern_pd *owner;		/* whose allocator it came from, if from one */
	enum tern_resource resource;	/* then */
};

/* Queue pairs by number: a table of tables. One, always empty, stands for those without entry. */
#define TERN_QP_TABLE_SHIFT	12
#define TERN_QP_TABLE_SIZE	(1U << TERN_QP_TABLE_SHIFT)

struct tern_device {
	struct verbs_device ibv_dev;
};

struct tern_context {
	struct verbs_context ibv_ctx;
	uint8_t *doorbell;		/* this process's doorbell page */
	size_t page_size;
	uint64_t features;		/* TERN_FEATURE_*, a bit each */
	bool records;			/* the device follows queue records */
	bool timestamps;		/* it has a clock, and completions its time */
	void *clock;			/* the page of it, if so */
	uint32_t cq_entries_max;
	uint32_t sq_blocks_max;
	uint32_t rq_entries_max;
	uint32_t send_sge_max;
	uint32_t receive_sge_max;
	uint32_t srq_sge_max;
	uint32_t inline_max;
	uint32_t inline_max_ud;

	/*
	 * Held while a queue pair is made or ended, so that a number which
	 * the kernel gives out again is not seen twice in the table.
	 */
	pthread_mutex_t qp_mutex;
	struct tern_qp ***qps;		/* by number; read under a CQ's lock */
	struct tern_srq ***xrc_srqs;	/* those of XRC, likewise; NULL: there was none yet */

	pthread_mutex_t record_mutex;	/* the two below */
	struct tern_queue_record *free_records;
	struct tern_record_page *record_pages;
};

struct tern_cq {
	struct verbs_cq base;
	struct tern_lock lock;	/* all that follows, and the ring */
	uint32_t consumer;		/* free-running */
	uint32_t size;
	uint8_t *ring;
	struct tern_queue_record *record;
	struct tern_qp ***qps;
	uint32_t cqn;
	struct tern_lock arm_lock;	/* arm and events; an open batch has the other */
	uint32_t arm;			/* the last arm word */
	uint32_t events;		/* that libibverbs has handed out */
	uint32_t armed_at_events;	/* and had when the CQ was armed */
	/* Between start_poll and end_poll: the entry that the readers tell of. */
	const struct tern_cqe *current;
	struct ibv_wc wc;
	struct tern_pd *parent;		/* a parent domain that it was made in */
	struct tern_buffer buffer;
};

/* A send request from its posting to the completion that covers it. */
struct tern_send_entry {
	uint64_t wr_id;
	uint32_t posted;		/* requests posted up to this one */
};

struct tern_sq {
	struct tern_lock lock;	/* posting */
	uint32_t producer;		/* in blocks, free-running */
	uint32_t posted;		/* in requests, free-running */
	atomic_uint completed;	/* in requests; written under the CQ's lock */
	uint32_t request_max;
	uint32_t mask;			/* blocks of the ring less one */
	uint32_t sge_max;
	uint32_t inline_max;
	uint8_t signal_all;		/* TERN_WQE_SIGNALED or 0 */
	const struct tern_send_op *ops;
	uint8_t *ring;
	struct tern_send_entry *entries;	/* by the block a request starts in */
	struct tern_queue_record *record;
	__le32 *wants_ring;		/* nonzero: the device wants the doorbell */
	struct tern_buffer buffer;
};

struct tern_rq {
	struct tern_lock lock;	/* posting */
	uint32_t producer;		/* free-running */
	atomic_uint completed;	/* free-running; written under the CQ's lock */
	uint32_t request_max;
	uint32_t mask;			/* entries of the ring less one */
	uint32_t sge_max;
	uint32_t stride_shift;
	uint8_t *ring;
	uint64_t *wr_ids;
	struct tern_queue_record *record;
	__le32 *wants_ring;
	struct tern_buffer buffer;
};

/* What is remembered of an outstanding entry of a shared receive queue. */
struct tern_tag {
	uint64_t wr_id;
	uint32_t next;			/* free one, while it is free itself */
	bool taken;
};

struct tern_srq {
	struct verbs_srq base;
	struct tern_lock lock;	/* all that follows; taken inside a CQ's */
	uint32_t producer;		/* free-running */
	uint32_t outstanding;
	uint32_t mask;			/* entries of the ring less one */
	uint32_t sge_max;
	uint32_t stride_shift;
	uint32_t srqn;
	uint32_t tag_count;		/* at least as many as the ring has entries */
	uint32_t free_tag;
	struct tern_tag *tags;
	struct tern_queue_record *record;
	__le32 *wants_ring;
	uint8_t *doorbell;
	struct tern_buffer buffer;
};

struct tern_qp {
	struct verbs_qp base;
	uint32_t qpn;
	uint8_t *doorbell_send;
	uint8_t *doorbell_receive;
	struct tern_sq sq;
	struct tern_rq rq;
	struct tern_pd *parent;		/* a parent domain that it was made in */
	struct tern_staged *staged;	/* for ibv_wr_*(); under the send queue's lock */
	struct tern_srq *srq;		/* instead of rq, or NULL */
};

static inline struct tern_context *to_tern_context(struct ibv_context *ctx)
{
	return container_of(ctx, struct tern_context, ibv_ctx.context);
}

static inline struct tern_pd *to_tern_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct tern_pd, ibv_pd);
}

static inline struct tern_ah *to_tern_ah(struct ibv_ah *ah)
{
	return container_of(ah, struct tern_ah, ibv_ah);
}

static inline struct tern_cq *to_tern_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct tern_cq, base.cq);
}

static inline struct tern_qp *to_tern_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct tern_qp, base.qp);
}

static inline struct tern_srq *to_tern_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct tern_srq, base.srq);
}

static inline void *tern_srq_entry(const struct tern_buffer *buffer, uint32_t index,
				   uint32_t mask, uint32_t stride_shift)
{
	return (uint8_t *)buffer->base + ((size_t)(index & mask) << stride_shift);
}

static inline struct tern_qp *tern_find_qp(struct tern_qp ***qps, uint32_t qpn)
{
	if (unlikely(qpn & ~TERN_NUMBER_MASK))
		return NULL;
	return qps[qpn >> TERN_QP_TABLE_SHIFT][qpn & (TERN_QP_TABLE_SIZE - 1)];
}

static inline void tern_ring(void *doorbell, uint32_t number, uint32_t index)
{
	mmio_write64_le(doorbell, htole64((uint64_t)index << TERN_DOORBELL_INDEX_SHIFT | number));
}

/* Words of a record are shared with the device: each access is a single one. */
static inline void tern_record_store(__le32 *word, uint32_t value)
{
	atomic_store_explicit((atomic_uint *)word, htole32(value), memory_order_release);
}

static inline uint32_t tern_record_load(__le32 *word)
{
	return le32toh(atomic_load_explicit((atomic_uint *)word, memory_order_relaxed));
}

/*
 * Tell the device of a queue's new producer index. The release store puts the
 * work requests before the index; the fence puts the index before the look at
 * the device's word and pairs with the device's fence between setting that
 * word and its last look at the index. So either it sees the index or we see
 * that it wants to be rung.
 */
static inline void tern_publish(struct tern_queue_record *record, __le32 *wants_ring,
				void *doorbell, uint32_t number, uint32_t index)
{
	/* The application's data, whatever memory it is in, goes first. */
	udma_to_device_barrier();
	tern_record_store(&record->index, index);
	atomic_thread_fence(memory_order_seq_cst);
	if (!tern_record_load(wants_ring))
		return;
	/* One doorbell wakes it: posts until it is awake need none. */
	tern_record_store(&record->ring, 0);
	udma_to_device_barrier();
	tern_ring(doorbell, number, index);
}

/* buffer.c */
int tern_buffer_alloc(struct tern_context *ctx, struct tern_buffer *buffer, size_t length);
int tern_buffer_alloc_in(struct tern_context *ctx, struct tern_pd *parent,
			 enum tern_resource resource, struct tern_buffer *buffer, size_t length);
void tern_buffer_free(struct tern_buffer *buffer);
struct tern_queue_record *tern_record_alloc(struct tern_context *ctx);
void tern_record_free(struct tern_context *ctx, struct tern_queue_record *record);
void tern_record_pages_free(struct tern_context *ctx);

/* verbs.c */
int tern_query_device_ex(struct ibv_context *ibctx, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size);
int tern_query_port(struct ibv_context *ibctx, uint8_t port, struct ibv_port_attr *attr);
struct ibv_mr *tern_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length, uint64_t iova,
			   int access);
struct ibv_mr *tern_reg_dmabuf_mr(struct ibv_pd *ibpd, uint64_t offset, size_t length,
				  uint64_t iova, int fd, int access);
int tern_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *ibpd, void *addr,
		  size_t length, int access);
int tern_dereg_mr(struct verbs_mr *vmr);
struct ibv_pd *tern_import_pd(struct ibv_context *ibctx, uint32_t handle);
void tern_unimport_pd(struct ibv_pd *ibpd);
struct ibv_mr *tern_import_mr(struct ibv_pd *ibpd, uint32_t handle);
void tern_unimport_mr(struct ibv_mr *ibmr);

/* ah.c */
struct ibv_ah *tern_create_ah(struct ibv_pd *ibpd, struct ibv_ah_attr *attr);
int tern_destroy_ah(struct ibv_ah *ibah);

/* cq.c */
struct ibv_cq *tern_create_cq(struct ibv_context *ibctx, int cqe,
			      struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *tern_create_cq_ex(struct ibv_context *ibctx, struct ibv_cq_init_attr_ex *attr);
int tern_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int tern_resize_cq(struct ibv_cq *ibcq, int cqe);
int tern_destroy_cq(struct ibv_cq *ibcq);
void tern_cq_event(struct ibv_cq *ibcq);
void tern_cq_clean(struct tern_cq *cq, struct tern_qp *qp);

/* qp.c */
__le32 *tern_wants_ring(struct tern_context *ctx, struct tern_queue_record *record);
int tern_qp_table_init(struct tern_context *ctx);
void tern_qp_table_free(struct tern_context *ctx);
struct ibv_qp *tern_create_qp(struct ibv_pd *ibpd, struct ibv_qp_init_attr *attr);
struct ibv_qp *tern_create_qp_ex(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr);
int tern_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int tern_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
int tern_destroy_qp(struct ibv_qp *ibqp);

/* keys.c */
struct ibv_mw *tern_alloc_mw(struct ibv_pd *ibpd, enum ibv_mw_type type);
int tern_dealloc_mw(struct ibv_mw *mw);
int tern_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
uint32_t tern_put_on_keys(struct tern_sq *sq, uint32_t slot, uint32_t posted,
			  const struct ibv_send_wr *wr);

/* srq.c */
struct ibv_srq *tern_create_srq(struct ibv_pd *ibpd, struct ibv_srq_init_attr *init);
int tern_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask);
int tern_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int tern_destroy_srq(struct ibv_srq *ibsrq);
int tern_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr);
bool tern_srq_complete(struct tern_srq *srq, uint32_t tag, uint64_t *wr_id);

/* datapath.c */
bool tern_sq_has_room(const struct tern_sq *sq, uint32_t posted);
uint32_t tern_put_one(struct tern_sq *sq, uint32_t slot, uint32_t posted,
		      const struct ibv_send_wr *wr);
void tern_publish_sends(struct tern_qp *qp, uint32_t producer, uint32_t posted);
int tern_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int tern_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
bool tern_complete_one(struct tern_cq *cq, const struct tern_cqe *cqe, uint64_t *wr_id);
int tern_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc);
int tern_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);

/* domain.c */
struct ibv_pd *tern_alloc_pd(struct ibv_context *ibctx);
int tern_dealloc_pd(struct ibv_pd *ibpd);
struct ibv_td *tern_alloc_td(struct ibv_context *ibctx, struct ibv_td_init_attr *attr);
int tern_dealloc_td(struct ibv_td *ibtd);
struct ibv_pd *tern_alloc_parent_domain(struct ibv_context *ibctx,
					struct ibv_parent_domain_init_attr *attr);
struct tern_pd *tern_parent_get(struct ibv_pd *ibpd);
void tern_parent_put(struct tern_pd *parent);

/* cq_ex.c */
void tern_cq_ex_init(struct tern_cq *cq);

/* clock.c */
int tern_clock_map(struct tern_context *ctx, uint64_t offset);
void tern_clock_unmap(struct tern_context *ctx);
int tern_query_rt_values(struct ibv_context *ibctx, struct ibv_values_ex *values);

/* wr.c */
int tern_wr_init(struct tern_qp *qp, enum ibv_qp_type type, uint64_t ops, uint64_t features);

#endif /* TERN_PROVIDER_H */
