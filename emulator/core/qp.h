/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: queue pairs: what all types share. Each type brings its operations and its own state. */
#ifndef TERN_QP_H_
#define TERN_QP_H_

#include "counter_set.h"
#include "cq.h"
#include "key.h"
#include "nic.h"
#include "tern_hw_qp.h"
#include "work_queue.h"

struct command;
struct qp;
struct srq;
struct tern_nic_qp_info;

struct qp_ops {
	const char *name;		/* "rc", "uc", "ud", "gsi", "ethernet" */
	/* CREATE_QP, all checked, state RESET: allocate qp->private. False without memory. */
	bool (*create)(struct qp *qp);
	/* DESTROY_QP, may be NULL: leave the objects that it uses, which are there. */
	void (*release)(struct qp *qp);
	/* DESTROY_QP, reset: cancel timers, leave all lists, free. No access to guest memory. */
	void (*destroy)(struct qp *qp);
	/* The index of @wq (SQ or RQ, watched) moved: work, or in ERROR something to flush. */
	void (*posted)(struct qp *qp, struct work_queue *wq);
	/*
	 * Go to ERROR now: the host's index or queue memory is bad (@event
	 * TERN_EVENT_QP_FATAL), or its CQ failed. Flushes, and sends @event
	 * unless 0. No effect when it is in RESET or ERROR already.
	 */
	void (*fail)(struct qp *qp, uint8_t event);
	/* MODIFY_QP and QUERY_QP. Return TERN_COMMAND_STATUS_*. */
	uint16_t (*modify)(struct qp *qp, struct command *command);
	uint16_t (*query)(struct qp *qp, struct tern_qp_status *status);
	/* Fill in what the type knows; type, state, QPN and queue indices are set already. */
	void (*info)(const struct qp *qp, struct tern_nic_qp_info *info);
};

/* By type, for qp.c; defined by transport and Ethernet. */
extern const struct qp_ops rc_qp_ops, uc_qp_ops, ud_qp_ops, gsi_qp_ops, ethernet_qp_ops;
extern const struct qp_ops hashing_qp_ops, xrc_initiator_qp_ops, xrc_target_qp_ops;

struct qp {
	struct function *fn;
	uint32_t qpn;
	uint8_t type;			/* TERN_QP_RC... */
	uint8_t state;			/* TERN_QP_RESET...; changed by qp_set_state() only */
	uint32_t flags;			/* TERN_QP_PRIVILEGED... */
	uint32_t pd;
	uint32_t doorbell_page;
	struct cq *send_cq, *receive_cq;	/* NULL without that queue */
	struct work_queue sq, rq;
	struct srq *srq;		/* instead of rq, or NULL */
	uint32_t xrcd;			/* of an XRC_TARGET, else 0 */
	struct key_user local;		/* for its SGEs */
	struct list windows;		/* type 2, bound by it */
	/* For what the peer asks: same PD (XRC_TARGET: of the SRQ named), never privileged. */
	struct key_user remote;
	const struct qp_ops *ops;
	void *private;			/* of its type */
	struct counter_set *counter_set;	/* that it is bound to, or NULL */
	bool traced;
	unsigned int users;		/* tables of QPNs and default_qpn that name it */
};

/* To one other queue pair, with messages of many packets. */
static inline bool qp_connected(const struct qp *qp)
{
	return qp->type == TERN_QP_RC || qp->type == TERN_QP_UC ||
	       qp->type == TERN_QP_XRC_INITIATOR || qp->type == TERN_QP_XRC_TARGET;
}

/* Connected, and what is sent is acknowledged. */
static inline bool qp_reliable(const struct qp *qp)
{
	return qp_connected(qp) && qp->type != TERN_QP_UC;
}

static inline struct qp *qp_of_send_queue(struct work_queue *sq)
{
	return container_of(sq, struct qp, sq);
}

/* NULL when it does not exist. */
struct qp *qp_find(const struct function *fn, uint32_t qpn);

/* The one place that changes qp->state: traces it, watches or leaves its queues. */
void qp_set_state(struct qp *qp, uint8_t state);
const char *qp_state_name(uint8_t state);

uint16_t qp_create_command(struct command *command);
uint16_t qp_modify_command(struct command *command);
uint16_t qp_query_command(struct command *command);
uint16_t qp_destroy_command(struct command *command);
void qps_reset(struct function *fn);

/* Count @amount of @member of struct rdma_counters: for @who's set, else for its function. */
#define qp_count(who, member, amount)	(qp_counters(who)->member += (amount))

static inline struct rdma_counters *qp_counters(const struct qp *qp)
{
	return qp->counter_set ? &qp->counter_set->counters : &qp->fn->rdma_counters;
}

/* One line to host->trace. The test stands in the macro: arguments cost nothing when it is off. */
#define qp_trace(qp, ...)					\
	do {							\
		if ((qp)->traced)				\
			qp_trace_line(qp, __VA_ARGS__);		\
	} while (0)
void qp_trace_line(const struct qp *qp, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* TERN_QP_H_ */
