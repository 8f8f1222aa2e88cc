// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: flows: added, removed, and frames steered by them. */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "ethernet.h"
#include "ethernet_commands.h"
#include "nic.h"
#include "qp.h"

#define FLAGS_KNOWN	(TERN_FLOW_DROP | TERN_FLOW_CONTINUE)

#define REFUSE(status, member) \
	command_refuse(command, TERN_COMMAND_STATUS_##status, struct tern_command_add_flow, member)

static bool copies(const struct flow_table *table, const struct flow_list *list,
		   const struct flow *flow)
{
	return list == &table->sniffers || (flow->flags & TERN_FLOW_CONTINUE);
}

static struct flow_list *list_of(struct flow_table *table, uint8_t type)
{
	switch (type) {
	case TERN_FLOW_NORMAL:
		return &table->normal;
	case TERN_FLOW_DEFAULT:
		return &table->defaults;
	case TERN_FLOW_MULTICAST_DEFAULT:
		return &table->multicast_defaults;
	case TERN_FLOW_SNIFFER:
		return &table->sniffers;
	default:
		return NULL;
	}
}

static void remove_at(struct flow_table *table, struct flow_list *list, unsigned int place)
{
	struct flow *flow = list->flows[place];

	if (copies(table, list, flow))
		table->copies--;
	list->count--;
	memmove(&list->flows[place], &list->flows[place + 1],
		(list->count - place) * sizeof(list->flows[0]));
	free(flow);
}

/* Where the flow @number is in @list; its count when it is not there. */
static unsigned int place_of(const struct flow_list *list, uint32_t number)
{
	unsigned int place = 0;

	while (place < list->count && list->flows[place]->number != number)
		place++;
	return place;
}

static struct flow_list *find(struct flow_table *table, uint32_t number, unsigned int *place)
{
	for (uint8_t type = TERN_FLOW_NORMAL; type <= TERN_FLOW_SNIFFER; type++) {
		struct flow_list *list = list_of(table, type);

		*place = place_of(list, number);
		if (*place < list->count)
			return list;
	}
	return NULL;
}

void flow_forget(struct qp *qp)
{
	struct flow_table *table = &qp->fn->ethernet->flows;

	for (uint8_t type = TERN_FLOW_NORMAL; type <= TERN_FLOW_SNIFFER; type++) {
		struct flow_list *list = list_of(table, type);

		for (unsigned int place = list->count; place; place--) {
			if (list->flows[place - 1]->qp == qp)
				remove_at(table, list, place - 1);
		}
	}
}

/* Behind those of its priority that are there. */
static void insert(struct flow_list *list, struct flow *flow)
{
	unsigned int place = list->count;

	while (place && list->flows[place - 1]->priority > flow->priority)
		place--;
	memmove(&list->flows[place + 1], &list->flows[place],
		(list->count - place) * sizeof(list->flows[0]));
	list->flows[place] = flow;
	list->count++;
}

/* Who gets what the flow matches. */
static uint16_t target_find(struct function *fn, uint32_t qpn, struct qp **qp)
{
	*qp = qp_find(fn, qpn);
	if (*qp && (*qp)->type == TERN_QP_HASHING)
		return TERN_COMMAND_STATUS_OK;
	return ethernet_receiver_find(fn, qpn, qp);
}

static uint16_t check(struct command *command, struct flow *flow)
{
	const struct tern_command_add_flow *body = (const void *)command->body;
	bool normal = body->type == TERN_FLOW_NORMAL;
	struct function *fn = command->fn;
	uint16_t status;
	size_t wrong;

	if (body->type > TERN_FLOW_SNIFFER)
		return REFUSE(BAD_PARAMETER, type);
	/* These are for what a port has, which functions share. */
	if (!normal && fn->index)
		return REFUSE(NOT_PERMITTED, type);
	if ((body->flags & ~FLAGS_KNOWN) || (body->flags && !normal) ||
	    body->flags == FLAGS_KNOWN)
		return REFUSE(BAD_PARAMETER, flags);
	if (!command_reserved(command, struct tern_command_add_flow, reserved0) ||
	    !command_reserved(command, struct tern_command_add_flow, reserved1) ||
	    !command_reserved(command, struct tern_command_add_flow, value.reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (!normal && body->ip_version)
		return REFUSE(BAD_PARAMETER, ip_version);
	if (!normal && body->l4_protocol)
		return REFUSE(BAD_PARAMETER, l4_protocol);
	if (!normal && !command_reserved(command, struct tern_command_add_flow, mask))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	wrong = flow_pattern_set(&flow->pattern, body);
	if (wrong)
		return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					 sizeof_command_header + wrong);
	status = target_find(fn, from_le32(body->qpn), &flow->qp);
	if (status)
		return command_refuse(command, status, struct tern_command_add_flow, qpn);
	flow->number = command->number;
	flow->flags = body->flags;
	flow->priority = from_le16(body->priority);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t add_flow_command(struct command *command)
{
	const struct tern_command_add_flow *body = (const void *)command->body;
	struct flow_table *table = &command->fn->ethernet->flows;
	struct flow made = { 0 }, *flow;
	struct flow_list *list;
	unsigned int place;
	uint16_t status;

	if (command->number >= FLOW_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (find(table, command->number, &place))
		return command_refuse_number(command, TERN_COMMAND_STATUS_EXISTS);
	status = check(command, &made);
	if (status)
		return status;
	list = list_of(table, body->type);
	if (copies(table, list, &made) && table->copies == FLOW_COPIES_MAX)
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	flow = malloc(sizeof(*flow));
	if (!flow)
		return TERN_COMMAND_STATUS_NO_RESOURCES;
	*flow = made;
	if (copies(table, list, flow))
		table->copies++;
	insert(list, flow);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t remove_flow_command(struct command *command)
{
	struct flow_table *table = &command->fn->ethernet->flows;
	struct flow_list *list;
	unsigned int place;

	if (command->number >= FLOW_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	list = find(table, command->number, &place);
	if (!list)
		return command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	remove_at(table, list, place);
	return TERN_COMMAND_STATUS_OK;
}

enum flow_verdict flow_steer(struct function *fn, const struct flow_frame *frame)
{
	const struct flow_list *list = &fn->ethernet->flows.normal;
	struct flow_key key;

	if (!list->count)
		return FLOW_NONE;
	flow_key_set(&key, frame->headers, frame->available);
	/* Delivering neither adds nor removes a flow. */
	for (unsigned int i = 0; i < list->count; i++) {
		const struct flow *flow = list->flows[i];

		if (!flow_matches(&flow->pattern, &key))
			continue;
		if (flow->flags & TERN_FLOW_DROP)
			return FLOW_DROPPED;
		ethernet_deliver(flow->qp, frame->frame, frame->headers, frame->parsed);
		if (!(flow->flags & TERN_FLOW_CONTINUE))
			return FLOW_TAKEN;
	}
	return FLOW_NONE;
}

enum flow_verdict flow_default(struct function *fn, const struct flow_frame *frame)
{
	const struct flow_table *table = &fn->ethernet->flows;
	const struct flow_list *list = &table->defaults;

	if ((frame->headers[0] & 1) && table->multicast_defaults.count)
		list = &table->multicast_defaults;
	if (!list->count)
		return FLOW_NONE;
	ethernet_deliver(list->flows[0]->qp, frame->frame, frame->headers, frame->parsed);
	return FLOW_TAKEN;
}

void flow_sniff(struct function *fn, const struct flow_frame *frame)
{
	const struct flow_list *list = &fn->ethernet->flows.sniffers;

	for (unsigned int i = 0; i < list->count; i++)
		ethernet_deliver(list->flows[i]->qp, frame->frame, frame->headers, frame->parsed);
}
