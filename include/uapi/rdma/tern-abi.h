/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * Tern: the interface between the kernel driver and its rdma-core provider.
 *
 * It carries what a process needs to run its queues without the kernel:
 * where its doorbell page is, and how large its queues may be. The layout of
 * queues, records and doorbells is the hardware contract's (firmware-if/).
 *
 * Every request has a comp_mask, and the kernel refuses bits that it does not
 * know, reserved fields that are not zero, and more input than it knows unless
 * the rest is zero. It fills as much of a response as the process has room
 * for; what it does not set is zero.
 */
#ifndef TERN_ABI_USER_H
#define TERN_ABI_USER_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

/* The kernel's and the provider's are equal, or the provider declines. */
#define TERN_UVERBS_ABI_VERSION		1

struct tern_ureq_alloc_ucontext {
	__aligned_u64 comp_mask;	/* 0 */
};

struct tern_uresp_alloc_ucontext {
	__aligned_u64 comp_mask;	/* 0 */
	__aligned_u64 features;		/* TERN_FEATURE_*, a bit each: those in use */
	__aligned_u64 doorbell_offset;	/* mmap() here, one system page, shared and write-only */
	__u32 inline_max;		/* bytes, connected queue pairs */
	__u32 inline_max_ud;		/* bytes, UD queue pairs */
	__u8 cq_shift_max;		/* log2 of entries */
	__u8 sq_shift_max;		/* log2 of 64-byte blocks */
	__u8 rq_shift_max;		/* log2 of entries */
	__u8 send_sge_max;
	__u8 receive_sge_max;
	__u8 srq_sge_max;
	__u8 reserved0[2];
	/* mmap() here, one system page, shared and read-only: the clock page; 0: none */
	__aligned_u64 clock_offset;
};

/* UVERBS_METHOD_QUERY_CONTEXT, of a context whose file came from another process, answers so. */
enum tern_query_context_attrs {
	TERN_ATTR_QUERY_CONTEXT_RESPONSE = (1U << UVERBS_ID_NS_SHIFT), /* as alloc_ucontext's */
};

/*
 * Queue memory and records are the process's own; the kernel pins them for as
 * long as the object lives. Queues are 4096-byte aligned and zeroed. Records
 * (struct tern_queue_record) are 128-byte aligned and zeroed; several may
 * share a page. Two queues share no record.
 *
 * When a queue pair goes to RESET the device's indices are zero again; the
 * provider zeroes the records after the kernel has returned.
 */
/*
 * Also with RESIZE_CQ: a new ring and a new record, its index 0 and its arm
 * word that of the old one. The process neither polls nor arms until the
 * kernel has returned; then it polls from index 0 on.
 */
struct tern_ureq_create_cq {
	__aligned_u64 comp_mask;	/* 0 */
	__aligned_u64 queue_address;	/* 64 << shift bytes */
	__aligned_u64 record_address;
	__u8 shift;			/* log2 of the entries, 1..cq_shift_max */
	__u8 reserved0[7];
};

struct tern_uresp_create_cq {
	__u32 cqn;
	__u32 reserved0;
};

/*
 * The queues hold what the capabilities ask for: a send queue max_send_wr
 * times the blocks of the largest work request, which is
 *	16 (control) + 16 (remote; connected) or 48 (address; UD)
 *	+ the larger of 16 * max_send_sge and max_inline_data
 * bytes in 64-byte blocks, 512 bytes at most (a CAS or FETCH_ADD, with 16 bytes
 * more in front, has one SGE); a receive queue max_recv_wr entries of 16 +
 * 16 * max_recv_sge bytes or more.
 *
 * A queue of zero work requests has shift, address and record zero. An XRC
 * initiator has no receive queue. Of an XRC target (IB_QPT_XRC_TGT) the kernel
 * takes nothing of this.
 */
struct tern_ureq_create_qp {
	__aligned_u64 comp_mask;	/* 0 */
	__aligned_u64 sq_address;	/* 64 << sq_shift bytes */
	__aligned_u64 rq_address;	/* 1 << (rq_shift + rq_stride_shift) bytes */
	__aligned_u64 sq_record_address;
	__aligned_u64 rq_record_address;
	__u8 sq_shift;			/* log2 of the 64-byte blocks, 1..sq_shift_max */
	__u8 rq_shift;			/* log2 of the entries, 1..rq_shift_max */
	__u8 rq_stride_shift;		/* log2 of an entry's bytes, 6..9 */
	__u8 reserved0[5];
};

/* A receive work queue holds max_wr entries of 16 + 16 * max_sge bytes or more. */
struct tern_ureq_create_wq {
	__aligned_u64 comp_mask;	/* 0 */
	__aligned_u64 queue_address;	/* 1 << (shift + stride_shift) bytes */
	__aligned_u64 record_address;
	__u8 shift;			/* log2 of the entries, 1..rq_shift_max */
	__u8 stride_shift;		/* log2 of an entry's bytes, 6..9 */
	__u8 reserved0[6];
};

#define TERN_HASH_KEY_BYTES	40

/* With CREATE_QP, instead of tern_ureq_create_qp, of a queue pair with an indirection table. */
struct tern_ureq_create_hashing_qp {
	__aligned_u64 comp_mask;	/* 0 */
	__u8 key[TERN_HASH_KEY_BYTES];	/* Toeplitz */
	__u16 fields;			/* the hardware contract's TERN_HASH_* */
	__u8 reserved0[6];
};

/*
 * A shared receive queue holds max_wr entries of 16 + 16 * max_sge bytes or
 * more. A queue pair that uses it has no receive queue. XRC ones are no other.
 */
struct tern_ureq_create_srq {
	__aligned_u64 comp_mask;	/* 0 */
	__aligned_u64 queue_address;	/* 1 << (shift + stride_shift) bytes */
	__aligned_u64 record_address;
	__u8 shift;			/* log2 of the entries, 1..rq_shift_max */
	__u8 stride_shift;		/* log2 of an entry's bytes, 6..9 */
	__u8 reserved0[6];
};

struct tern_uresp_create_srq {
	__u32 srqn;
	__u32 reserved0;
};

/*
 * With IB_SRQ_MAX_WR. Each outstanding entry stands in the new ring at the
 * place of its index, and nothing is posted until the kernel has returned.
 */
struct tern_ureq_modify_srq {
	__aligned_u64 comp_mask;	/* 0 */
	__aligned_u64 queue_address;	/* 1 << (shift + stride_shift) bytes; the stride stays */
	__u8 shift;			/* log2 of the new ring's entries */
	__u8 reserved0[7];
};

/* The rest of struct tern_address_vector comes from the attributes the process gave. */
struct tern_uresp_create_ah {
	__u8 destination_mac[6];
	__u16 udp_source_port;		/* 0: the device derives it */
	__u16 source_gid_index;		/* in the device's GID table */
	__u8 hop_limit;
	__u8 reserved0[5];
};

/* UVERBS_METHOD_DM_ALLOC */
enum tern_alloc_dm_attrs {
	TERN_ATTR_ALLOC_DM_RESPONSE = (1U << UVERBS_ID_NS_SHIFT), /* struct tern_uresp_dm */
};

/* Of UVERBS_OBJECT_DM: what alloc_dm answered, for a process that was given the context's file. */
enum tern_dm_methods {
	TERN_METHOD_DM_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum tern_dm_query_attrs {
	TERN_ATTR_DM_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	TERN_ATTR_DM_QUERY_RESPONSE,	/* struct tern_uresp_dm */
};

/*
 * mmap() shared, of all its length, readable, writable or both. It is mapped
 * write combining, and what is written is posted: it is at the device when a
 * read of the memory that follows it has returned, and has to be before a work
 * request that uses it is made visible to the device.
 */
struct tern_uresp_dm {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_length;
	__aligned_u64 length;		/* that was asked for */
};

#endif /* TERN_ABI_USER_H */
