/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: what this device model offers and its limits (QUERY_DEVICE says them to the host). */
#ifndef TERN_CAPABILITIES_H
#define TERN_CAPABILITIES_H

#include "tern_hw_command.h"
#include "tern_hw_regs.h"

#define FEATURE(name)		(UINT64_C(1) << TERN_FEATURE_##name)

#define FEATURES_OFFERED							\
	(FEATURE(DOORBELL_RECORDS) | FEATURE(ETHERNET) | FEATURE(RSS) |		\
	 FEATURE(CHECKSUM) | FEATURE(TSO) | FEATURE(VLAN_OFFLOAD) |		\
	 FEATURE(ROCE_V1) | FEATURE(ROCE_V2) | FEATURE(RC) | FEATURE(UD) |	\
	 FEATURE(UC) | FEATURE(XRC) | FEATURE(ATOMICS) | FEATURE(SRQ) |		\
	 FEATURE(FAST_REGISTRATION) | FEATURE(MULTICAST) |			\
	 FEATURE(MEMORY_WINDOWS) | FEATURE(ON_DEMAND_PAGING) |			\
	 FEATURE(ATOMIC_WRITE) | FEATURE(FLUSH) |				\
	 FEATURE(FLOW_STEERING) | FEATURE(RECEIVE_HASHING_QP) |		\
	 FEATURE(COUNTER_SETS) | FEATURE(PFC) | FEATURE(ETS) | FEATURE(ECN) |	\
	 FEATURE(TIMESTAMPS))

#define VECTOR_COUNT		64
#define EQ_COUNT		64
/* Round numbers are left to verbs by what the netdev takes, two of each a channel. */
#define CQ_COUNT		(32768 + 256)
#define QP_COUNT		(16384 + 256)
#define SRQ_COUNT		8192
#define KEY_COUNT		262144
#define PD_COUNT		32768
#define GID_COUNT		256
#define EQ_SHIFT_MAX		16
#define CQ_SHIFT_MAX		20
#define SQ_SHIFT_MAX		17	/* 16384 work requests of eight blocks */
#define RQ_SHIFT_MAX		15
#define SEND_SGE_MAX		28	/* what a UD work request of eight blocks holds */
#define RECEIVE_SGE_MAX		31
#define READ_INITIATOR_MAX	16
#define READ_RESPONDER_MAX	16
/* Behind control and remote segment. */
#define INLINE_MAX		(TERN_WQE_BYTES_MAX - 32)
#define MESSAGE_BYTES_MAX	0x80000000U
#define REGION_BYTES_MAX	UINT64_MAX
#define PAGE_SIZES		UINT64_C(0xfffff000)		/* shifts 12..31 */
#define RSS_ENTRIES_MAX		128
#define MULTICAST_MAX		256
#define MULTICAST_GROUP_COUNT	1024
#define MULTICAST_QPS_MAX	64
#define FLOW_COUNT		1024
#define COUNTER_SET_COUNT	1024
#define ACK_DELAY		10	/* 4.2 ms: a busy host may be slow */
#define TSO_BYTES_MAX		65536
#define MTU_MAX			9000

#endif /* TERN_CAPABILITIES_H */
