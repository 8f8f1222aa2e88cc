// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: counters and queue pairs, for people and tests. */
#include <errno.h>
#include <string.h>

#include "counter_names.h"
#include "mac.h"
#include "nic.h"
#include "qp.h"

static void add(struct tern_nic_counter *counters, size_t room, size_t *count, const char *name,
		uint64_t value)
{
	if (*count < room)
		counters[*count] = (struct tern_nic_counter){ name, value };
	(*count)++;
}

static void add_all(struct tern_nic_counter *counters, size_t room, size_t *count,
		    const struct counter_name *names, const void *values, size_t size)
{
	for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
		uint64_t value;

		memcpy(&value, (const uint8_t *)values + names[i].offset, sizeof(value));
		add(counters, room, count, names[i].name, value);
	}
}

/* The port's, of which most are zero and left out. */
static void add_priorities(struct tern_nic_counter *counters, size_t room, size_t *count,
			   const struct tern_nic *nic, unsigned int fn)
{
	const struct port_priorities *priorities = &nic->priorities;

	for (unsigned int i = 0; !fn && i < TERN_PRIORITIES; i++) {
		uint64_t values[sizeof(struct priority_counters) / sizeof(uint64_t)];

		memcpy(values, &priorities->counters[i], sizeof(values));
		for (unsigned int k = 0; k < sizeof(values) / sizeof(*values); k++) {
			if (values[k])
				add(counters, room, count, priority_counter_name(i, k), values[k]);
		}
	}
	if (!fn) {
		add(counters, room, count, "tx_pause_frames", priorities->tx_pause_frames);
		add(counters, room, count, "rx_pause_frames", priorities->rx_pause_frames);
		add(counters, room, count, "rx_control_unknown", priorities->rx_control_unknown);
	}
}

size_t tern_nic_counters(const struct tern_nic *nic, unsigned int fn,
			 struct tern_nic_counter *counters, size_t count)
{
	const struct function *function;
	const struct mac_counters *mac;
	size_t n = 0;

	if (fn >= nic->function_count)
		return 0;
	function = &nic->functions[fn];
	add_all(counters, count, &n, port_counter_names, &function->port, sizeof(function->port));
	add_all(counters, count, &n, rdma_counter_names, &function->rdma_counters,
		sizeof(function->rdma_counters));
	add_all(counters, count, &n, device_counter_names, &function->device,
		sizeof(function->device));
	mac = mac_counters(nic);
	add(counters, count, &n, "dropped_port_down", mac->dropped_port_down);
	add(counters, count, &n, "received_port_down", mac->received_port_down);
	add(counters, count, &n, "wire_dropped", mac->rule_hits[TERN_WIRE_DROP]);
	add(counters, count, &n, "wire_duplicated", mac->rule_hits[TERN_WIRE_DUPLICATE]);
	add(counters, count, &n, "wire_delayed", mac->rule_hits[TERN_WIRE_DELAY]);
	add(counters, count, &n, "wire_reordered", mac->rule_hits[TERN_WIRE_REORDER]);
	add(counters, count, &n, "wire_corrupted", mac->rule_hits[TERN_WIRE_CORRUPT]);
	add(counters, count, &n, "wire_marked_ce", mac->rule_hits[TERN_WIRE_MARK_CE]);
	add(counters, count, &n, "wire_hold_overflow", mac->hold_overflow);
	add_priorities(counters, count, &n, nic, fn);
	/* Not counters: how many there are now. */
	add(counters, count, &n, "objects_eqs", function->eqs.used);
	add(counters, count, &n, "objects_cqs", function->cqs.used);
	add(counters, count, &n, "objects_keys", function->keys.used);
	add(counters, count, &n, "objects_qps", function->qps.used);
	add(counters, count, &n, "objects_srqs", function->srqs.used);
	return n;
}

bool tern_nic_next_qp(const struct tern_nic *nic, unsigned int fn, uint32_t from,
		      struct tern_nic_qp_info *info)
{
	const struct qp *qp;
	uint32_t qpn;

	if (fn >= nic->function_count)
		return false;
	qp = table_next(&nic->functions[fn].qps, from, &qpn);
	if (!qp)
		return false;
	*info = (struct tern_nic_qp_info){
		.qpn = qpn,
		.type = qp->ops->name,
		.state = qp_state_name(qp->state),
		.sq_producer = qp->sq.producer,
		.sq_consumer = qp->sq.completed,
		.rq_producer = qp->rq.producer,
		.rq_consumer = qp->rq.completed,
	};
	qp->ops->info(qp, info);
	return true;
}

int tern_nic_trace_qp(struct tern_nic *nic, unsigned int fn, uint32_t qpn, bool on)
{
	struct qp *qp = fn < nic->function_count ? qp_find(&nic->functions[fn], qpn) : NULL;

	if (!qp)
		return -ENOENT;
	qp->traced = on;
	return 0;
}
