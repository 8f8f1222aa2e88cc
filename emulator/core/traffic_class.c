// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: SET_TRAFFIC_CLASSES. */
#include "traffic_class.h"

#include <string.h>

#include "byteorder.h"
#include "command.h"
#include "nic.h"
#include "tern_hw_priority.h"

static_assert(EGRESS_PRIORITIES == TERN_PRIORITIES && EGRESS_CLASSES == TERN_TRAFFIC_CLASSES,
	      "as many as the contract has");

typedef struct tern_command_set_traffic_classes body_type;

static void set(struct tern_nic *nic, const body_type *body)
{
	struct egress *egress = &nic->egress;

	memcpy(egress->class_of, body->class_of, sizeof(egress->class_of));
	egress->strict = 0;
	egress->shared = 0;
	egress->limited = 0;
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++) {
		uint32_t rate = from_le32(body->max_rate_mbps[i]);
		uint8_t bit = (uint8_t)(1U << i);

		if (body->algorithm[i] == TERN_CLASS_STRICT)
			egress->strict |= bit;
		else if (body->bandwidth[i])
			egress->shared |= bit;
		if (rate)
			egress->limited |= bit;
		egress->bandwidth[i] = body->bandwidth[i];
		if (rate != egress->rate[i].mbps)
			egress->rate[i] = (struct pacer){ .mbps = rate };
		egress->served[i] = 0;
	}
	egress->several = false;
	for (unsigned int i = 1; i < EGRESS_PRIORITIES; i++)
		egress->several |= egress->class_of[i] != egress->class_of[0];
	memset(egress->virtual, 0, sizeof(egress->virtual));
	egress_look_again(nic);
}

void traffic_classes_reset(struct tern_nic *nic)
{
	static const body_type defaults;

	set(nic, &defaults);
}

static uint16_t refuse(struct command *command, size_t offset)
{
	return command_refuse_at(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				 sizeof_command_header + offset);
}

static uint16_t check(struct command *command, const body_type *body)
{
	unsigned int sum = 0;
	bool any = false;

	for (unsigned int i = 0; i < EGRESS_PRIORITIES; i++) {
		if (body->class_of[i] >= EGRESS_CLASSES)
			return refuse(command, offsetof(body_type, class_of) + i);
	}
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++) {
		if (body->algorithm[i] > TERN_CLASS_ETS)
			return refuse(command, offsetof(body_type, algorithm) + i);
	}
	for (unsigned int i = 0; i < EGRESS_CLASSES; i++) {
		if (body->algorithm[i] == TERN_CLASS_STRICT && body->bandwidth[i])
			return refuse(command, offsetof(body_type, bandwidth) + i);
		any |= body->algorithm[i] == TERN_CLASS_ETS;
		sum += body->bandwidth[i];
	}
	return any && sum != 100 ? refuse(command, offsetof(body_type, bandwidth)) :
				   TERN_COMMAND_STATUS_OK;
}

uint16_t set_traffic_classes_command(struct command *command)
{
	const body_type *body = (const void *)command->body;
	uint16_t status;

	if (!priorities_permitted(command))
		return TERN_COMMAND_STATUS_NOT_PERMITTED;
	status = check(command, body);
	if (!status)
		set(command->fn->nic, body);
	return status;
}
