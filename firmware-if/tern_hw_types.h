/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: what its headers share.
 *
 * These headers are included verbatim by the driver, the rdma-core provider
 * and the device model. Every multi-byte field in host memory is little
 * endian unless its type says __be. Reserved fields are written as zero and
 * ignored when read, unless the text beside them says otherwise.
 */
#ifndef TERN_HW_TYPES_H
#define TERN_HW_TYPES_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#else
#include <assert.h>
#endif

/* Bits @h down to @l of a field of at most 32 bits. */
#define TERN_MASK(h, l)		(((~0U) << (l)) & (~0U >> (31 - (h))))

/* An object number (QPN, CQN, key index, PD, ...) has 24 bits. */
#define TERN_NUMBER_MASK	TERN_MASK(23, 0)

#endif /* TERN_HW_TYPES_H */
