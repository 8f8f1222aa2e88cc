// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the reaction point: a queue pair that gets CNPs is limited to a rate
 * and its packets are spaced, until the rate is back at the highest.
 */
#include "reaction_point.h"

#include <math.h>
#include <stdlib.h>

#include "byteorder.h"
#include "mac.h"
#include "tern_hw_congestion.h"

/* Nanoseconds for a byte at 1 Mb/s. */
#define BYTE_MBPS_NS	8000.0
#define ALPHA_ONE	65536
#define TIMERS		2

/* Of a queue pair that is limited. */
struct reaction {
	struct rdma_qp *rdma;
	struct list link;		/* in congestion_priority.limited */
	uint8_t priority;
	bool requester_held, responder_held;
	bool responder_last;		/* sent the last packet */
	bool waited;			/* the next packet did, for those before it */
	struct dcqcn dcqcn;
	uint64_t since;
	uint64_t due;			/* when the next packet may leave... */
	double fraction;		/* ...and so much of a ns */
	struct timer increase;
	struct timer pace;
};

static const struct dcqcn_parameters *parameters_of(const struct reaction *reaction)
{
	return congestion_parameters(nic_of(reaction->rdma), reaction->priority);
}

/* Both share the rate: who has not sent last goes first. */
static void let_go(struct reaction *reaction)
{
	struct rdma_qp *rdma = reaction->rdma;
	bool requester = reaction->requester_held, responder = reaction->responder_held;

	reaction->requester_held = false;
	reaction->responder_held = false;
	if (requester && reaction->responder_last)
		egress_activate(nic_of(rdma), &rdma->requester.source);
	if (responder)
		egress_activate(nic_of(rdma), &rdma->responder.source);
	if (requester && !reaction->responder_last)
		egress_activate(nic_of(rdma), &rdma->requester.source);
}

static void pace_fire(struct tern_nic *nic, struct timer *timer)
{
	(void)nic;
	let_go(container_of(timer, struct reaction, pace));
}

static void increase_fire(struct tern_nic *nic, struct timer *timer)
{
	struct reaction *reaction = container_of(timer, struct reaction, increase);
	const struct dcqcn_parameters *parameters = parameters_of(reaction);

	dcqcn_time(&reaction->dcqcn, parameters, nic_now(nic));
	if (dcqcn_recovered(&reaction->dcqcn, parameters))
		reaction_point_release(reaction->rdma);
	else
		timer_arm(nic, timer, reaction->dcqcn.increase);
}

static struct reaction *limit(struct rdma_qp *rdma, uint8_t priority)
{
	struct tern_nic *nic = nic_of(rdma);
	struct congestion_priority *of = congestion_of(nic, priority);
	struct reaction *reaction = calloc(1, sizeof(*reaction));

	if (!reaction)
		return NULL;
	if (!timer_reserve(nic, TIMERS)) {
		free(reaction);
		return NULL;
	}
	timer_init(&reaction->increase, increase_fire);
	timer_init(&reaction->pace, pace_fire);
	reaction->rdma = rdma;
	reaction->priority = priority;
	reaction->since = nic_now(nic);
	reaction->due = reaction->since;
	list_add_tail(&of->limited, &reaction->link);
	nic->priorities.counters[priority].limited_queue_pairs++;
	of->limited_count++;
	of->limited_since += reaction->since;
	rdma->congestion.reaction = reaction;
	return reaction;
}

void reaction_point_release(struct rdma_qp *rdma)
{
	struct reaction *reaction = rdma->congestion.reaction;
	struct tern_nic *nic = nic_of(rdma);
	struct congestion_priority *of;

	if (!reaction)
		return;
	of = congestion_of(nic, reaction->priority);
	of->limited_count--;
	of->limited_since -= reaction->since;
	nic->priorities.counters[reaction->priority].limited_ns +=
		nic_now(nic) - reaction->since;
	rdma->congestion.reaction = NULL;
	list_remove(&reaction->link);
	timer_cancel(nic, &reaction->increase);
	timer_cancel(nic, &reaction->pace);
	timer_release(nic, TIMERS);
	let_go(reaction);
	free(reaction);
}

void reaction_point_off(struct tern_nic *nic, uint8_t priority)
{
	struct list *limited = &congestion_of(nic, priority)->limited;

	while (!list_empty(limited))
		reaction_point_release(list_entry(limited->next, struct reaction, link)->rdma);
}

/* Alpha decays when it is looked at: now, by the old period. */
void reaction_point_settle(struct tern_nic *nic, uint8_t priority)
{
	const struct dcqcn_parameters *parameters = congestion_parameters(nic, priority);
	struct list *limited = &congestion_of(nic, priority)->limited;

	for (struct list *link = limited->next; link != limited; link = link->next)
		dcqcn_decay(&list_entry(link, struct reaction, link)->dcqcn, parameters,
			    nic_now(nic));
}

bool reaction_point_notified(struct rdma_qp *rdma)
{
	uint8_t priority = congestion_priority_of(rdma);
	struct reaction *reaction = rdma->congestion.reaction;
	struct tern_nic *nic = nic_of(rdma);
	uint64_t now = nic_now(nic);

	if (!(nic->rdma->congestion.reacts & 1U << priority))
		return false;
	/* It was given another priority since. */
	if (reaction && reaction->priority != priority) {
		reaction_point_release(rdma);
		reaction = NULL;
	}
	if (reaction) {
		dcqcn_notified(&reaction->dcqcn, parameters_of(reaction), now);
	} else {
		reaction = limit(rdma, priority);
		if (!reaction)
			return false;
		dcqcn_start(&reaction->dcqcn, parameters_of(reaction), now);
	}
	timer_arm(nic, &reaction->increase, reaction->dcqcn.increase);
	return true;
}

bool reaction_point_hold(struct rdma_qp *rdma, const struct egress_source *source)
{
	struct reaction *reaction = rdma->congestion.reaction;
	struct tern_nic *nic = nic_of(rdma);

	if (reaction->due <= nic_now(nic))
		return false;
	if (source == &rdma->requester.source)
		reaction->requester_held = true;
	else
		reaction->responder_held = true;
	reaction->waited = true;
	timer_arm(nic, &reaction->pace, reaction->due);
	return true;
}

bool reaction_point_holds_requester(const struct rdma_qp *rdma)
{
	return rdma->congestion.reaction && rdma->congestion.reaction->requester_held;
}

/*
 * The time of a packet begins when that of those before it is over. Who waited
 * for that and was called late may make up for a packet's time, not more.
 */
static void take_time(struct reaction *reaction, double ns)
{
	uint64_t now = nic_now(nic_of(reaction->rdma)), begin = now, late = (uint64_t)ns;

	if (reaction->waited)
		begin = now > late ? now - late : 0;
	if (reaction->due < begin) {
		reaction->due = begin;
		reaction->fraction = 0;
	}
	ns += reaction->fraction;
	reaction->due += (uint64_t)ns;
	reaction->fraction = ns - (double)(uint64_t)ns;
	reaction->waited = false;
}

void reaction_point_pace(struct rdma_qp *rdma, const struct wire_headers *headers, size_t length)
{
	struct reaction *reaction = rdma->congestion.reaction;
	const struct dcqcn_parameters *parameters = parameters_of(reaction);
	uint8_t operation = wire_opcode(headers->opcode)->operation;

	if (operation == WIRE_OP_ACKNOWLEDGE || operation == WIRE_OP_CNP)
		return;
	reaction->responder_last = operation == WIRE_OP_READ_RESPONSE;
	if (length < MAC_FRAME_MIN)
		length = MAC_FRAME_MIN;
	length += MAC_OVERHEAD;
	take_time(reaction, (double)length * BYTE_MBPS_NS / reaction->dcqcn.rate);
	dcqcn_sent(&reaction->dcqcn, parameters, length);
	if (dcqcn_recovered(&reaction->dcqcn, parameters))
		reaction_point_release(rdma);
}

bool reaction_point_marks(const struct rdma_qp *rdma, const struct wire_path *path,
			  const struct wire_headers *headers, size_t payload_length)
{
	uint8_t operation = wire_opcode(headers->opcode)->operation;

	return (payload_length || operation == WIRE_OP_READ || operation == WIRE_OP_ATOMIC) &&
	       qp_connected(rdma->qp) && path->network != WIRE_V1 &&
	       nic_of(rdma)->rdma->congestion.reacts & 1U << congestion_priority_of(rdma);
}

static uint32_t rounded_up(double rate)
{
	return rate < UINT32_MAX ? (uint32_t)ceil(rate) : UINT32_MAX;
}

void reaction_point_query(struct rdma_qp *rdma, struct tern_qp_congestion *congestion)
{
	struct reaction *reaction = rdma->congestion.reaction;

	if (!reaction)
		return;
	dcqcn_decay(&reaction->dcqcn, parameters_of(reaction), nic_now(nic_of(rdma)));
	congestion->rate_mbps = to_le32(rounded_up(reaction->dcqcn.rate));
	congestion->target_rate_mbps = to_le32(rounded_up(reaction->dcqcn.target));
	congestion->alpha = to_le32((uint32_t)(reaction->dcqcn.alpha * ALPHA_ONE + 0.5));
}
