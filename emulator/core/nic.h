/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the NIC and its functions: the structures that the parts of the core hang on. */
#ifndef TERN_NIC_INTERNAL_H
#define TERN_NIC_INTERNAL_H

#include "capabilities.h"
#include "counters.h"
#include "device_memory.h"
#include "egress.h"
#include "key.h"
#include "list.h"
#include "priorities.h"
#include "table.h"
#include "tern_nic.h"
#include "timer.h"

struct command_ring {
	uint64_t commands, completions;	/* bus addresses */
	uint8_t shift;
	uint32_t vector;
	uint32_t producer;		/* COMMAND_DOORBELL */
	uint32_t consumer;		/* fetched, executed and completed */
	struct list pending;		/* in nic->command_functions */
};

/* Registers as the host wrote them. */
struct registers {
	uint64_t driver_features;
	uint64_t command_ring, completion_ring;
	uint64_t fatal_info;
	uint32_t doorbell_shift;
	uint32_t command_shift, command_vector;
	bool enable;			/* CONTROL.ENABLE */
	uint32_t status;		/* TERN_STATUS_* */
	uint32_t low_half;		/* of a 64-bit register written by halves... */
	uint32_t low_offset;		/* ...which one; 0: none (MAGIC has no halves) */
	uint32_t clock_high;		/* of the clock whose low half was read */
};

struct function {
	struct tern_nic *nic;
	unsigned int index;		/* 0: PF */
	bool bus_master;
	bool enabled;			/* STATUS.READY: commands and doorbells count */
	uint8_t permanent_mac[6];
	uint64_t guid;
	uint64_t memory_generation;	/* moves when page tables are to be read anew; > 0 */
	uint64_t features;		/* taken at ENABLE */
	struct registers registers;
	struct command_ring command;
	struct table eqs, cqs, keys, qps, srqs, counter_sets;
	struct device_memory device_memory;
	bool vector_used[VECTOR_COUNT];	/* by an EQ */
	struct port_counters port;
	struct rdma_counters rdma_counters;
	struct device_counters device;
	struct egress_function egress;
	struct absent_page absent;	/* found last by an access */
	uint32_t faults_made;		/* number of the last page fault */
	struct rdma_function *rdma;		/* transport's: GID table... */
	struct ethernet_function *ethernet;	/* Ethernet's: filters, RSS, MTU, admin state... */
};

struct tern_nic {
	const struct tern_nic_host *ops;
	void *host;
	struct tern_nic_config config;
	char name[32];
	struct function *functions;
	unsigned int function_count;
	unsigned int inside;		/* depth of nic_enter() */
	uint64_t time;			/* nic_now() of this core call; 0: not asked yet */
	struct timer_heap timers;
	struct list active_queues;	/* work_queue.active... */
	unsigned int active_count;	/* ...how many */
	struct list command_functions;	/* function.command.pending */
	struct list written_cqs;	/* cq.written */
	struct list written_eqs;	/* eq.written */
	struct list failed_cqs;		/* cq.failed */
	struct egress egress;		/* who sends next */
	struct mac *mac;		/* Ethernet's: MAC, wire, misbehaviour */
	struct port_priorities priorities;
	struct rdma_nic *rdma;		/* transport's: what functions share (atomics' order...) */
};

/*
 * Every public entry point is bracketed by these. nic_leave() sends the events
 * and interrupts of what was posted and tells the host the next deadline.
 */
void nic_enter(struct tern_nic *nic);
void nic_leave(struct tern_nic *nic);

/* The host's clock, read once per core call. */
uint64_t nic_now(struct tern_nic *nic);

static inline bool function_has(const struct function *fn, uint64_t feature)
{
	return (fn->features & feature) != 0;
}

/* DEVICE_FEATURES */
static inline uint64_t features_offered(const struct function *fn)
{
	return FEATURES_OFFERED | (fn->device_memory.size ? FEATURE(DEVICE_MEMORY) : 0);
}

/* How many there are, at the stride that the driver chose. */
uint32_t doorbell_pages(const struct function *fn);

/* Stop the function: STATUS.FATAL with @code; only a reset helps. Its objects stay until then. */
void function_fatal(struct function *fn, uint32_t code, uint64_t info);
/* Destroy all that the guest made, reset the registers. No guest memory is touched. */
void function_reset(struct function *fn);

void function_log(const struct function *fn, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* TERN_NIC_INTERNAL_H */
