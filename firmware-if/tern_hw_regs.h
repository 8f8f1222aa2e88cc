/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: registers of BAR 0.
 *
 * A register is accessed whole and naturally aligned: 32-bit registers by
 * 32-bit accesses, 64-bit ones (marked 64) by one 64-bit access or by two
 * 32-bit ones, low half first; only the write of the high half takes effect.
 * A device that is gone reads as all ones; no register has that value.
 */
#ifndef TERN_HW_REGS_H
#define TERN_HW_REGS_H

#include "tern_hw_types.h"

#define TERN_REG_MAGIC			0x000	/* RO: "TERN" */
#define TERN_MAGIC			0x4e524554

#define TERN_REG_VERSION		0x004	/* RO */
#define TERN_VERSION_MINOR		TERN_MASK(15, 0)
#define TERN_VERSION_MAJOR		TERN_MASK(31, 16)
#define TERN_VERSION_MAJOR_CURRENT	1
#define TERN_VERSION_MINOR_CURRENT	0

#define TERN_REG_DEVICE_FEATURES	0x008	/* RO 64: TERN_FEATURE_* that it offers */
#define TERN_REG_DRIVER_FEATURES	0x010	/* RW 64: what the driver takes; before ENABLE */

#define TERN_REG_CONTROL		0x018	/* RW */
#define TERN_CONTROL_ENABLE		TERN_MASK(0, 0)
#define TERN_CONTROL_RESET		TERN_MASK(1, 1)	/* reads as one until the reset is done */

#define TERN_REG_STATUS			0x01c	/* RO */
#define TERN_STATUS_READY		TERN_MASK(0, 0)
#define TERN_STATUS_FATAL		TERN_MASK(1, 1)	/* only a reset helps */
#define TERN_STATUS_FATAL_CODE		TERN_MASK(31, 16)
#define TERN_FATAL_NONE			0
#define TERN_FATAL_FEATURES		1	/* DRIVER_FEATURES has a bit that is not offered */
#define TERN_FATAL_COMMAND_RING		2	/* size, alignment or vector invalid at ENABLE */
#define TERN_FATAL_COMMAND_INDEX	3	/* COMMAND_DOORBELL beyond the ring */
#define TERN_FATAL_DMA			4	/* a command queue's ring cannot be accessed */
#define TERN_FATAL_INTERNAL		5	/* FATAL_INFO has the vendor's detail */
#define TERN_FATAL_DOORBELL_SHIFT	6	/* DOORBELL_SHIFT out of range at ENABLE */

#define TERN_REG_DOORBELL_SHIFT		0x020	/* RW: log2 of the pages' stride; before ENABLE */
#define TERN_DOORBELL_SHIFT_MIN		12
#define TERN_DOORBELL_SHIFT_MAX		16
#define TERN_REG_DOORBELL_PAGES		0x024	/* RO: how many there are at this stride */

#define TERN_REG_COMMAND_RING		0x028	/* RW 64: address, 4 KiB aligned; before ENABLE */
#define TERN_REG_COMPLETION_RING	0x030	/* RW 64: address, 4 KiB aligned; before ENABLE */
#define TERN_REG_COMMAND_SHIFT		0x038	/* RW: log2 of the entries of both; before ENABLE */
#define TERN_COMMAND_SHIFT_MIN		1
#define TERN_COMMAND_SHIFT_MAX		10
#define TERN_REG_COMMAND_VECTOR		0x03c	/* RW: of TERN_COMMAND_INTERRUPT; before ENABLE */
#define TERN_REG_COMMAND_DOORBELL	0x040	/* WO: free-running producer index */

#define TERN_REG_VECTORS		0x044	/* RO: MSI-X vectors of this function */
#define TERN_REG_FATAL_INFO		0x048	/* RO 64 */
#define TERN_REG_DEVICE_MEMORY_SIZE	0x050	/* RO 64: bytes behind BAR 4, 0 without */
#define TERN_REG_COMMAND_TIMEOUT	0x058	/* RO: ms in which every command completes */
#define TERN_REG_RESET_TIMEOUT		0x05c	/* RO: ms in which a reset is done */

/* Clock page, at TERN_BAR0_CLOCK. */
#define TERN_CLOCK_NANOSECONDS		0x000	/* RO 64: the time base of completion timestamps */

/* Feature bits, of 64. A bit that is not listed is reserved and reads as zero. */
#define TERN_FEATURE_DOORBELL_RECORDS	0	/* follows records, see tern_hw_doorbell.h */
#define TERN_FEATURE_ETHERNET		1
#define TERN_FEATURE_RSS		2
#define TERN_FEATURE_CHECKSUM		3
#define TERN_FEATURE_TSO		4
#define TERN_FEATURE_VLAN_OFFLOAD	5	/* tag insertion and removal */
#define TERN_FEATURE_ROCE_V1		8
#define TERN_FEATURE_ROCE_V2		9
#define TERN_FEATURE_RC			10
#define TERN_FEATURE_UD			11
#define TERN_FEATURE_UC			12
#define TERN_FEATURE_XRC		13
#define TERN_FEATURE_SRQ		14
#define TERN_FEATURE_ATOMICS		15
#define TERN_FEATURE_MEMORY_WINDOWS	16
#define TERN_FEATURE_FAST_REGISTRATION	17
#define TERN_FEATURE_ATOMIC_WRITE	18
#define TERN_FEATURE_FLUSH		19
#define TERN_FEATURE_MULTICAST		20
#define TERN_FEATURE_ON_DEMAND_PAGING	21
#define TERN_FEATURE_DEVICE_MEMORY	22
#define TERN_FEATURE_COUNTER_SETS	23
#define TERN_FEATURE_TIMESTAMPS		24
#define TERN_FEATURE_FLOW_STEERING	25
#define TERN_FEATURE_RECEIVE_HASHING_QP	26	/* verbs WQ and RSS indirection */
#define TERN_FEATURE_PFC		32
#define TERN_FEATURE_ETS		33
#define TERN_FEATURE_ECN		34
#define TERN_FEATURE_SRIOV		40
#define TERN_FEATURE_VF_MAILBOX		41

#endif /* TERN_HW_REGS_H */
