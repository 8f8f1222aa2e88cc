/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: the operations of struct ib_device_ops. */
#ifndef TERN_IB_VERBS_H
#define TERN_IB_VERBS_H

#include "tern_ib.h"

/* device.c */
int tern_ib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			 struct ib_udata *udata);
int tern_ib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify);
void tern_ib_get_dev_fw_str(struct ib_device *ibdev, char *str);

/* port.c */
int tern_ib_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
int tern_ib_get_port_immutable(struct ib_device *ibdev, u32 port,
			       struct ib_port_immutable *immutable);
enum rdma_link_layer tern_ib_get_link_layer(struct ib_device *ibdev, u32 port);
int tern_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);

/* gid.c */
int tern_ib_add_gid(const struct ib_gid_attr *attr, void **context);
int tern_ib_del_gid(const struct ib_gid_attr *attr, void **context);

/* hw_stats.c */
struct rdma_hw_stats *tern_ib_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
int tern_ib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port,
			 int index);

/* counter_set.c; binding has a wrapper in compat.h */
int tern_ib_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *tern_ib_counter_alloc_stats(struct rdma_counter *counter);
int tern_ib_counter_update_stats(struct rdma_counter *counter);

/* mad.c */
int tern_ib_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			size_t *out_size, u16 *out_pkey_index);

/* restrack.c */
int tern_ib_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int tern_ib_fill_res_qp_entry_raw(struct sk_buff *msg, struct ib_qp *ibqp);
int tern_ib_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int tern_ib_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);
int tern_ib_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq);

/* ucontext.c */
int tern_ib_alloc_ucontext(struct ib_ucontext *ibucontext, struct ib_udata *udata);
int tern_ib_query_ucontext(struct ib_ucontext *ibucontext, struct uverbs_attr_bundle *attrs);
void tern_ib_dealloc_ucontext(struct ib_ucontext *ibucontext);
int tern_ib_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma);
void tern_ib_mmap_free(struct rdma_user_mmap_entry *entry);
void tern_ib_disassociate_ucontext(struct ib_ucontext *ibucontext);

/* pd.c */
int tern_ib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int tern_ib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

/* xrcd.c */
int tern_ib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int tern_ib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* mr.c */
struct ib_mr *tern_ib_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *tern_ib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 address,
				  int access, struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *tern_ib_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 address,
					 int fd, int access, struct ib_dmah *dmah,
					 struct uverbs_attr_bundle *attrs);
struct ib_mr *tern_ib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				    u64 address, int access, struct ib_pd *ibpd,
				    struct ib_udata *udata);
int tern_ib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

/* fast_registration.c */
struct ib_mr *tern_ib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int tern_ib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *list, int count,
		      unsigned int *offset);

/* mw.c */
int tern_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int tern_ib_dealloc_mw(struct ib_mw *ibmw);

/* dm.c */
struct ib_dm *tern_ib_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibucontext,
			       struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs);
int tern_ib_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);
struct ib_mr *tern_ib_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
				struct ib_dm_mr_attr *attr, struct uverbs_attr_bundle *attrs);

/* ah.c */
int tern_ib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int tern_ib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int tern_ib_destroy_ah(struct ib_ah *ibah, u32 flags);

/* multicast.c */
int tern_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int tern_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* flow.c */
struct ib_flow *tern_ib_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				    struct ib_udata *udata);
int tern_ib_destroy_flow(struct ib_flow *ibflow);

/* wq.c */
struct ib_wq *tern_ib_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *init,
				struct ib_udata *udata);
int tern_ib_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		      struct ib_udata *udata);
int tern_ib_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata);

/* hashing.c */
int tern_ib_create_rwq_ind_table(struct ib_rwq_ind_table *ibtable,
				 struct ib_rwq_ind_table_init_attr *init,
				 struct ib_udata *udata);
int tern_ib_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtable);

/* cq.c */
int tern_ib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		      struct uverbs_attr_bundle *attrs);
int tern_ib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int tern_ib_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int tern_ib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);

/* poll.c */
int tern_ib_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc);
int tern_ib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* qp.c, qp_modify.c */
int tern_ib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int tern_ib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int tern_ib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_udata *udata);
int tern_ib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init);

/* srq.c */
int tern_ib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		       struct ib_udata *udata);
int tern_ib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		       enum ib_srq_attr_mask mask, struct ib_udata *udata);
int tern_ib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int tern_ib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int tern_ib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr);

/* post.c */
int tern_ib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad_wr);
int tern_ib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);

#endif /* TERN_IB_VERBS_H */
