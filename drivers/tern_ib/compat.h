/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What older kernels lack. The rest of the driver is written for the newest
 * one; Kbuild's probes define TERN_IB_HAVE_*.
 */
#ifndef TERN_IB_COMPAT_H
#define TERN_IB_COMPAT_H

#include <linux/uaccess.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#ifdef TERN_IB_HAVE_STRING_NAMESPACE
#define TERN_NAMESPACE	"TERN"
#else
#define TERN_NAMESPACE	TERN
#endif

#ifdef TERN_IB_HAVE_ROBUST_UDATA
#define TERN_IB_OPS_ROBUST_UDATA	.uverbs_robust_udata = 1,
#else
#define TERN_IB_OPS_ROBUST_UDATA
#endif

/* From 7.3 the core itself tells of a port that follows its netdev. */
#ifdef TERN_IB_HAVE_REPORT_PORT_EVENT
#define TERN_IB_CORE_REPORTS_PORT	true
#else
#define TERN_IB_CORE_REPORTS_PORT	false
#endif

#ifdef TERN_IB_HAVE_DMAH
#define tern_ib_reg_user_mr_op	tern_ib_reg_user_mr
#define tern_ib_reg_user_mr_dmabuf_op	tern_ib_reg_user_mr_dmabuf
#else
struct ib_dmah;

struct ib_mr *tern_ib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 address,
				  int access, struct ib_dmah *dmah, struct ib_udata *udata);

static inline struct ib_mr *tern_ib_reg_user_mr_op(struct ib_pd *ibpd, u64 start, u64 length,
						   u64 address, int access,
						   struct ib_udata *udata)
{
	return tern_ib_reg_user_mr(ibpd, start, length, address, access, NULL, udata);
}

struct ib_mr *tern_ib_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 address,
					 int fd, int access, struct ib_dmah *dmah,
					 struct uverbs_attr_bundle *attrs);

static inline struct ib_mr *tern_ib_reg_user_mr_dmabuf_op(struct ib_pd *ibpd, u64 offset,
							  u64 length, u64 address, int fd,
							  int access,
							  struct uverbs_attr_bundle *attrs)
{
	return tern_ib_reg_user_mr_dmabuf(ibpd, offset, length, address, fd, access, NULL, attrs);
}
#endif

#ifdef TERN_IB_HAVE_COUNTER_SIZE
struct tern_ib_counter {
	struct rdma_counter rdma;
};

/* Called without a look at whether there is one. */
static inline void tern_ib_counter_init(struct rdma_counter *counter)
{
}

#define TERN_IB_OPS_COUNTER_SIZE						\
	.counter_init = tern_ib_counter_init,					\
	INIT_RDMA_OBJ_SIZE(rdma_counter, tern_ib_counter, rdma),
#else
#define TERN_IB_OPS_COUNTER_SIZE
#endif

#ifdef TERN_IB_HAVE_RESIZE_USER_CQ
#define TERN_IB_OPS_RESIZE_CQ	.resize_user_cq = tern_ib_resize_user_cq,
#else
#define TERN_IB_OPS_RESIZE_CQ	.resize_cq = tern_ib_resize_cq,

int tern_ib_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);

/* The kernel's own queues keep their size. */
static inline int tern_ib_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return udata ? tern_ib_resize_user_cq(ibcq, cqe, udata) : -EOPNOTSUPP;
}
#endif

int tern_ib_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port);
int tern_ib_counter_unbind_qp(struct ib_qp *ibqp, u32 port);

#ifdef TERN_IB_HAVE_COUNTER_PORT
#define tern_ib_counter_bind_qp_op	tern_ib_counter_bind_qp
#define tern_ib_counter_unbind_qp_op	tern_ib_counter_unbind_qp
#else
static inline int tern_ib_counter_bind_qp_op(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	return tern_ib_counter_bind_qp(counter, ibqp, 1);
}

static inline int tern_ib_counter_unbind_qp_op(struct ib_qp *ibqp)
{
	return tern_ib_counter_unbind_qp(ibqp, 1);
}
#endif

#ifndef TERN_IB_HAVE_UMEM_GET_VA
static inline struct ib_umem *ib_umem_get_va(struct ib_device *ibdev, unsigned long address,
					     size_t size, int access)
{
	return ib_umem_get(ibdev, address, size, access);
}
#endif

#ifndef TERN_IB_HAVE_VALIDATE_UDATA
static inline int _ib_copy_validate_udata_in(struct ib_udata *udata, void *request, size_t size,
					     size_t minimum)
{
	if (udata->inlen < minimum)
		return -EINVAL;
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EOPNOTSUPP;
	memset(request, 0, size);
	return ib_copy_from_udata(request, udata, min(size, udata->inlen));
}

#define ib_copy_validate_udata_in_cm(udata, request, last, known)			\
	({										\
		typeof(request) *into = &(request);					\
		int error = _ib_copy_validate_udata_in(udata, into, sizeof(*into),	\
						       offsetofend(typeof(*into), last)); \
											\
		if (!error && (into->comp_mask & ~(known)))				\
			error = -EOPNOTSUPP;						\
		error;									\
	})

static inline int _ib_respond_udata(struct ib_udata *udata, const void *response, size_t size)
{
	size_t copied = min(size, udata->outlen);

	if (copy_to_user(udata->outbuf, response, copied))
		return -EFAULT;
	if (udata->outlen > copied && clear_user(udata->outbuf + copied, udata->outlen - copied))
		return -EFAULT;
	return 0;
}

#define ib_respond_udata(udata, response)	\
	_ib_respond_udata(udata, &(response), sizeof(response))

static inline int ib_is_udata_in_empty(struct ib_udata *udata)
{
	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	return 0;
}

static inline int ib_respond_empty_udata(struct ib_udata *udata)
{
	if (udata && udata->outlen && clear_user(udata->outbuf, udata->outlen))
		return -EFAULT;
	return 0;
}

static inline int ib_no_udata_io(struct ib_udata *udata)
{
	int err = ib_is_udata_in_empty(udata);

	return err ? err : ib_respond_empty_udata(udata);
}
#endif

#endif /* TERN_IB_COMPAT_H */
