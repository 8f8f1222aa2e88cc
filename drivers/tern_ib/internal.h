/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: what its files offer to each other. */
#ifndef TERN_IB_INTERNAL_H
#define TERN_IB_INTERNAL_H

#include "tern_ib.h"

/* port.c */
enum ib_port_state tern_ib_port_state(struct tern_ib_device *dev);
enum ib_mtu tern_ib_port_mtu(struct tern_ib_device *dev);

/* events.c */
int tern_ib_events_begin(struct tern_ib_device *dev);
int tern_ib_events_start(struct tern_ib_device *dev);
void tern_ib_events_stop(struct tern_ib_device *dev);
void tern_ib_events_end(struct tern_ib_device *dev);

/* ucontext.c */
extern const struct uapi_definition tern_ib_uapi[];
struct rdma_user_mmap_entry *tern_ib_map_device_memory(struct tern_ib_ucontext *ucontext,
						       u64 offset, u64 length);

/* dm.c */
extern const struct uapi_definition tern_ib_dm_uapi[];

/* user_memory.c */
int tern_ib_user_queue_pin(struct tern_ib_device *dev, struct tern_ib_user_queue *queue,
			   u64 address, size_t size, bool writable);
void tern_ib_user_queue_unpin(struct tern_ib_device *dev, struct tern_ib_user_queue *queue);
int tern_ib_umem_tables(struct tern_ib_device *dev, struct tern_page_tables *tables,
			struct ib_umem *umem, u64 address, bool writable);
struct tern_ib_record_page *tern_ib_user_record_pin(struct tern_ib_ucontext *ucontext,
						    u64 address, dma_addr_t *dma);
void tern_ib_user_record_unpin(struct tern_ib_record_page *page);

/* mr.c */
struct tern_ib_mr *tern_ib_new_mr(struct tern_ib_device *dev);
bool tern_ib_access_known(const struct tern_ib_device *dev, int access);
void tern_ib_delete_mr(struct tern_ib_device *dev, struct tern_ib_mr *mr);
int tern_ib_create_key(struct tern_ib_device *dev, u32 index, const struct ib_pd *ibpd,
		       struct tern_command_create_key *body, u32 *key);

/* fast_registration.c */
#define TERN_IB_FAST_PAGES_MAX	TERN_PAGE_TABLE_ENTRIES

void tern_ib_free_fast_list(struct tern_ib_device *dev, struct tern_ib_mr *mr);
int tern_ib_fast_segment(const struct ib_reg_wr *wr, struct tern_wqe_register *segment);
void tern_ib_fast_posted(const struct ib_reg_wr *wr);

/* Not a process's, nor an XRC target, which completes nothing itself. */
static inline bool tern_ib_completes_in_kernel(const struct tern_ib_qp *qp)
{
	return !qp->ib.uobject && qp->ib.qp_type != IB_QPT_XRC_TGT;
}

/* qp.c */
void tern_ib_qp_event(struct tern_qp_listener *listener, u8 type);
void tern_ib_qp_last_wqe(struct tern_ib_qp *qp);

/*
 * Entries of an indirection table: no more than those of the netdev's, whatever
 * the device says, for a table goes through a mailbox.
 */
#define TERN_IB_RWQ_TABLE_MAX	128

static inline u32 tern_ib_rwq_table_max(const struct tern_device *tern)
{
	return min_t(u32, tern->caps.rss_entries_max, TERN_IB_RWQ_TABLE_MAX);
}

/* hashing.c */
int tern_ib_create_hashing_qp(struct tern_ib_qp *qp, const struct ib_qp_init_attr *attr,
			      struct ib_udata *udata);

/* qp_modify.c */
int tern_ib_query_status(struct tern_ib_device *dev, struct tern_ib_qp *qp,
			 struct tern_qp_status *status);

/* poll.c */
int tern_ib_cq_add_qp(struct tern_ib_cq *cq, struct tern_ib_qp *qp);
void tern_ib_cqs_forget(struct tern_ib_qp *qp, bool reset);
void tern_ib_cq_wake(struct tern_ib_cq *cq);

/* hw_stats.c */
struct rdma_hw_stats *tern_ib_new_hw_stats(void);
int tern_ib_read_hw_stats(struct tern_ib_device *dev, u16 opcode, u32 number, u32 group,
			  struct rdma_hw_stats *stats);

/* srq.c */
bool tern_ib_srq_complete(struct tern_ib_srq *srq, u32 tag, u64 *wr_id);

/* qp_queues.c */
int tern_ib_kernel_queues(struct tern_ib_device *dev, struct tern_ib_qp *qp,
			  struct tern_command_create_qp *body);
int tern_ib_user_queues(struct tern_ib_device *dev, struct tern_ib_qp *qp,
			struct ib_udata *udata, struct tern_command_create_qp *body);
void tern_ib_free_queues(struct tern_ib_device *dev, struct tern_ib_qp *qp);
int tern_ib_user_queue(struct tern_ib_device *dev, struct tern_ib_ucontext *ucontext,
		       struct tern_ib_work_queue *queue, u64 address, u64 record_address,
		       dma_addr_t *record);
void tern_ib_free_user_queue(struct tern_ib_device *dev, struct tern_ib_work_queue *queue);

#endif /* TERN_IB_INTERNAL_H */
