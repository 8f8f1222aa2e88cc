/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: memory regions on demand. */
#ifndef TERN_IB_ODP_H
#define TERN_IB_ODP_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "tern_ib.h"
#include "tern_paging.h"

struct ib_umem_odp;
struct tern_ib_odp;

/**
 * struct tern_ib_odp_range - a part of a region that has a umem, or all of it
 * @umem: its memory; umem_mutex is held to set or clear its entries
 * @odp: the region
 * @first: number of its first page in the page list
 * @sparse: it may have no pages any more; under umem_mutex
 */
struct tern_ib_odp_range {
	struct ib_umem_odp *umem;
	struct tern_ib_odp *odp;
	u64 first;
	bool sparse;
};

/**
 * struct tern_ib_odp - what a memory region on demand has
 * @dev: the device
 * @pd: its protection domain
 * @index: of its key
 * @key: its key
 * @address: I/O virtual address of the first byte
 * @start: the first byte's in the process
 * @length: bytes
 * @writable: pages may be mapped for writing
 * @ending: it is being deregistered: whoever maps pages may stop
 * @lock: serialises who maps pages; protects @tables and @children; never taken by MMU notifiers
 * @tables: page list
 * @whole: of an explicit region: the only range
 * @root: of an implicit region: what its ranges' umems are made from
 * @mm: of an implicit region: the process's memory
 * @children: of an implicit region: ranges by number
 * @shrink: of an implicit region: frees the ranges that are empty
 * @users: faults and prefetches that use it, and its registration
 * @idle: the last one has gone
 */
struct tern_ib_odp {
	struct tern_ib_device *dev;
	const struct ib_pd *pd;
	u32 index;
	u32 key;
	u64 address;
	u64 start;
	u64 length;
	bool writable;
	bool ending;
	struct mutex lock;	/* tables, children, mapping */
	struct tern_sparse_tables tables;
	struct tern_ib_odp_range *whole;
	struct ib_umem_odp *root;
	struct mm_struct *mm;
	struct xarray children;
	struct work_struct shrink;
	refcount_t users;
	struct completion idle;
};

/**
 * enum tern_ib_odp_how - how pages are mapped
 * @TERN_IB_ODP_FOR_READ: make them present
 * @TERN_IB_ODP_FOR_WRITE: make them present and writable
 * @TERN_IB_ODP_AS_IS: those that are present, as they are
 */
enum tern_ib_odp_how {
	TERN_IB_ODP_FOR_READ,
	TERN_IB_ODP_FOR_WRITE,
	TERN_IB_ODP_AS_IS,
};

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

/* odp.c */
struct ib_mr *tern_ib_reg_odp_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 address,
				 int access);
void tern_ib_free_odp(struct tern_ib_odp *odp);
struct tern_ib_odp *tern_ib_odp_get(struct tern_ib_device *dev, u32 index);
void tern_ib_odp_put(struct tern_ib_odp *odp);

/* odp_pages.c */
int tern_ib_odp_add_whole(struct tern_ib_odp *odp, int access);
int tern_ib_odp_add_root(struct tern_ib_odp *odp, int access);
void tern_ib_odp_remove_ranges(struct tern_ib_odp *odp);
int tern_ib_odp_map(struct tern_ib_odp *odp, u64 offset, u64 length, enum tern_ib_odp_how how);

/* odp_fault.c */
int tern_ib_odp_begin(struct tern_ib_device *dev);
void tern_ib_odp_end(struct tern_ib_device *dev);
void tern_ib_odp_describe(struct tern_ib_device *dev, struct ib_device_attr *attr);
void tern_ib_qp_faults_init(struct tern_ib_device *dev, struct tern_ib_qp *qp);
void tern_ib_qp_faults_end(struct tern_ib_device *dev, struct tern_ib_qp *qp);

#else

static inline struct ib_mr *tern_ib_reg_odp_mr(struct ib_pd *ibpd, u64 start, u64 length,
					       u64 address, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void tern_ib_free_odp(struct tern_ib_odp *odp) {}

static inline int tern_ib_odp_begin(struct tern_ib_device *dev)
{
	return 0;
}

static inline void tern_ib_odp_end(struct tern_ib_device *dev) {}
static inline void tern_ib_odp_describe(struct tern_ib_device *dev,
					struct ib_device_attr *attr) {}
static inline void tern_ib_qp_faults_init(struct tern_ib_device *dev, struct tern_ib_qp *qp) {}
static inline void tern_ib_qp_faults_end(struct tern_ib_device *dev, struct tern_ib_qp *qp) {}

#endif

#endif /* TERN_IB_ODP_H */
