// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: counter sets. */
#include <stdlib.h>

#include "byteorder.h"
#include "command.h"
#include "nic.h"
#include "qp.h"
#include "tern_hw_counter_set.h"

struct counter_set *counter_set_named(struct command *command, uint16_t *status)
{
	struct counter_set *set = table_get(&command->fn->counter_sets, command->number);

	*status = TERN_COMMAND_STATUS_OK;
	if (!command->number || command->number >= COUNTER_SET_COUNT)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	else if (!set)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	return set;
}

uint16_t counter_set_create_command(struct command *command)
{
	struct table *sets = &command->fn->counter_sets;
	const struct counter_set made = { .users = 0 };

	if (!command->number || command->number >= COUNTER_SET_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (table_get(sets, command->number))
		return command_refuse_number(command, TERN_COMMAND_STATUS_EXISTS);
	return table_insert_copy(sets, command->number, &made, sizeof(made)) ?
		TERN_COMMAND_STATUS_OK : TERN_COMMAND_STATUS_NO_RESOURCES;
}

uint16_t counter_set_destroy_command(struct command *command)
{
	struct counter_set *set;
	uint16_t status;

	set = counter_set_named(command, &status);
	if (status)
		return status;
	if (set->users)
		return command_refuse_number(command, TERN_COMMAND_STATUS_IN_USE);
	table_remove(&command->fn->counter_sets, command->number);
	free(set);
	return TERN_COMMAND_STATUS_OK;
}

#define REFUSE(status, member) \
	command_refuse(command, status, struct tern_command_bind_counter_set, member)

uint16_t counter_set_bind_command(struct command *command)
{
	const struct tern_command_bind_counter_set *body = (const void *)command->body;
	struct qp *qp = qp_find(command->fn, command->number);
	uint32_t number = from_le32(body->counter_set);
	struct counter_set *set = NULL;

	if (!command->number || command->number >= QP_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (!qp)
		return command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	if (number >= COUNTER_SET_COUNT)
		return REFUSE(TERN_COMMAND_STATUS_BAD_PARAMETER, counter_set);
	if (body->reserved0)
		return REFUSE(TERN_COMMAND_STATUS_BAD_PARAMETER, reserved0);
	if (number) {
		set = table_get(&command->fn->counter_sets, number);
		if (!set)
			return REFUSE(TERN_COMMAND_STATUS_NOT_FOUND, counter_set);
		set->users++;
	}
	if (qp->counter_set)
		qp->counter_set->users--;
	qp->counter_set = set;
	return TERN_COMMAND_STATUS_OK;
}

/* The queue pairs have gone. */
void counter_sets_reset(struct function *fn)
{
	struct counter_set *set;
	uint32_t number = 0;

	while ((set = table_next(&fn->counter_sets, number, &number))) {
		table_remove(&fn->counter_sets, number);
		free(set);
	}
}
