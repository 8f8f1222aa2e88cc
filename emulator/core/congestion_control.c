// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: SET_CONGESTION_CONTROL, and what the port keeps for each priority. */
#include "congestion_control.h"

#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "mac.h"
#include "rdma_qp.h"
#include "reaction_point.h"
#include "tern_hw_congestion.h"

#define FLAGS_KNOWN \
	(TERN_CONGESTION_REACT | TERN_CONGESTION_NOTIFY | TERN_CONGESTION_CLAMP_TARGET)
#define DSCP_MAX		63
#define THRESHOLD_MAX		31
#define ALPHA_ONE		1024
#define GAIN_SHIFT_MAX		15
#define PERCENT			100
#define NS_PER_US		1000

void congestion_init(struct congestion_control *control)
{
	memset(control, 0, sizeof(*control));
	for (unsigned int i = 0; i < EGRESS_PRIORITIES; i++)
		list_init(&control->priorities[i].limited);
}

void congestion_reset(struct tern_nic *nic)
{
	for (uint8_t priority = 0; priority < EGRESS_PRIORITIES; priority++)
		reaction_point_off(nic, priority);
	congestion_init(&nic->rdma->congestion);
}

uint8_t congestion_priority_of(const struct rdma_qp *rdma)
{
	return rdma->requester.source.priority;
}

struct congestion_priority *congestion_of(struct tern_nic *nic, uint8_t priority)
{
	return &nic->rdma->congestion.priorities[priority % EGRESS_PRIORITIES];
}

const struct dcqcn_parameters *congestion_parameters(struct tern_nic *nic, uint8_t priority)
{
	struct congestion_priority *of = congestion_of(nic, priority);

	if (of->port_speed)
		of->parameters.max_rate = mac_speed_mbps(nic);
	return &of->parameters;
}

void congestion_priority_counters(struct tern_nic *nic, uint8_t priority, uint64_t *queue_pairs,
				  uint64_t *ns)
{
	const struct priority_counters *counters = &nic->priorities.counters[priority];
	const struct congestion_priority *of = congestion_of(nic, priority);

	*queue_pairs = counters->limited_queue_pairs;
	*ns = counters->limited_ns + of->limited_count * nic_now(nic) - of->limited_since;
}

typedef struct tern_command_set_congestion_control body_type;

/* A field that is a plain number. */
struct range {
	size_t offset;
	uint32_t value, least, most;
};

static uint16_t check(struct command *command, const body_type *body)
{
	uint32_t max_rate = from_le32(body->max_rate_mbps);
#define RANGE(member, value, least, most) \
	{ offsetof(body_type, member), value, least, most }
	const struct range ranges[] = {
		RANGE(flags, body->flags & ~FLAGS_KNOWN, 0, 0),
		RANGE(cnp_priority, body->cnp_priority, 0, EGRESS_PRIORITIES - 1),
		RANGE(cnp_dscp, body->cnp_dscp, 0, DSCP_MAX),
		RANGE(min_rate_mbps, from_le32(body->min_rate_mbps), 1,
		      max_rate ? max_rate : UINT32_MAX),
		RANGE(time_reset_us, from_le32(body->time_reset_us), 1, UINT32_MAX),
		RANGE(byte_reset, from_le32(body->byte_reset), 1, UINT32_MAX),
		RANGE(threshold, from_le32(body->threshold), 1, THRESHOLD_MAX),
		RANGE(ai_rate_mbps, from_le32(body->ai_rate_mbps), 1, UINT32_MAX),
		RANGE(hai_rate_mbps, from_le32(body->hai_rate_mbps), 1, UINT32_MAX),
		RANGE(alpha_timer_us, from_le32(body->alpha_timer_us), 1, UINT32_MAX),
		RANGE(initial_alpha, from_le16(body->initial_alpha), 0, ALPHA_ONE),
		RANGE(gain_shift, body->gain_shift, 1, GAIN_SHIFT_MAX),
		RANGE(min_decrease_percent, body->min_decrease_percent, 1, PERCENT),
	};
#undef RANGE

	if (!command_reserved(command, body_type, reserved0) ||
	    !command_reserved(command, body_type, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (ranges[i].value < ranges[i].least || ranges[i].value > ranges[i].most)
			return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
						 sizeof_command_header + ranges[i].offset);
	}
	return TERN_COMMAND_STATUS_OK;
}

static uint64_t ns_of(__le32 us)
{
	return (uint64_t)from_le32(us) * NS_PER_US;
}

static void set(struct congestion_priority *of, const body_type *body)
{
	of->notifies = body->flags & TERN_CONGESTION_NOTIFY;
	of->cnp_priority = body->cnp_priority;
	of->cnp_dscp = body->cnp_dscp;
	of->cnp_interval_ns = ns_of(body->cnp_interval_us);
	of->port_speed = !from_le32(body->max_rate_mbps);
	of->parameters = (struct dcqcn_parameters){
		.max_rate = from_le32(body->max_rate_mbps),
		.min_rate = from_le32(body->min_rate_mbps),
		.first_rate = from_le32(body->first_rate_mbps),
		.ai_rate = from_le32(body->ai_rate_mbps),
		.hai_rate = from_le32(body->hai_rate_mbps),
		.initial_alpha = (double)from_le16(body->initial_alpha) / ALPHA_ONE,
		.gain = 1.0 / (1U << body->gain_shift),
		.min_decrease = (double)body->min_decrease_percent / PERCENT,
		.clamp_target = body->flags & TERN_CONGESTION_CLAMP_TARGET,
		.threshold = from_le32(body->threshold),
		.byte_reset = from_le32(body->byte_reset),
		.time_reset_ns = ns_of(body->time_reset_us),
		.alpha_timer_ns = ns_of(body->alpha_timer_us),
		.reduce_period_ns = ns_of(body->reduce_period_us),
	};
}

uint16_t set_congestion_control_command(struct command *command)
{
	const body_type *body = (const void *)command->body;
	struct tern_nic *nic = command->fn->nic;
	struct congestion_control *control = &nic->rdma->congestion;
	uint8_t priority = (uint8_t)command->number;
	uint16_t status;

	if (command->fn->index)
		return command_refuse_at(command, TERN_COMMAND_STATUS_NOT_PERMITTED,
					 offsetof(struct tern_command, opcode));
	if (command->number >= EGRESS_PRIORITIES)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	status = check(command, body);
	if (status)
		return status;
	/* What is due by the old values is. */
	reaction_point_settle(nic, priority);
	set(&control->priorities[priority], body);
	control->reacts &= (uint8_t)~(1U << priority);
	if (body->flags & TERN_CONGESTION_REACT)
		control->reacts |= (uint8_t)(1U << priority);
	else
		reaction_point_off(nic, priority);
	return TERN_COMMAND_STATUS_OK;
}
