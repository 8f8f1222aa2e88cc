/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the command queue and what a command's handler needs. */
#ifndef TERN_COMMAND_H
#define TERN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_hw_command.h"

struct function;
struct tern_nic;

/* A command, copied once from guest memory. */
struct command {
	struct function *fn;
	uint16_t opcode, id;
	uint32_t flags;
	uint32_t number;
	uint32_t syndrome;		/* of the completion, as result[] is */
	uint8_t body[TERN_COMMAND_BODY_BYTES];
	uint32_t result[12];
};

static_assert(offsetof(struct command, body) % 8 == 0, "handlers look at structures there");

/*
 * Returns TERN_COMMAND_STATUS_*. When it is not OK nothing has changed.
 * Before it is called: flags, reserved0 and the body behind @body_bytes of its
 * table entry are checked, as are numbers (unless takes_number, must be 0).
 */
typedef uint16_t (*command_handler)(struct command *command);

struct command_entry {
	uint16_t opcode;
	bool takes_number;
	uint8_t body_bytes;		/* what it uses of the body; the rest must be zero */
	uint64_t features;		/* one of these must be taken; 0: always there */
	command_handler handler;
};

/* Each part's commands; defined in its file, ended by an entry without handler. */
extern const struct command_entry control_commands[];	/* device.c: device, EQ, CQ, key, QP */
extern const struct command_entry rdma_commands[];	/* transport: SET_GID */
extern const struct command_entry ethernet_commands[];	/* Ethernet: 0x002, 0x003, 0x500... */
extern const struct command_entry priority_commands[];	/* priorities.c: 0x600... */

/* Refuse because of @member of the body, which is a @type. */
#define command_refuse(command, status, type, member) \
	command_refuse_at(command, status, sizeof_command_header + offsetof(type, member))
#define sizeof_command_header	offsetof(struct tern_command, body)

static inline uint16_t command_refuse_at(struct command *command, uint16_t status, size_t offset)
{
	command->syndrome = (uint32_t)offset;
	return status;
}

/* Refuse because of the command's number. */
static inline uint16_t command_refuse_number(struct command *command, uint16_t status)
{
	return command_refuse_at(command, status, offsetof(struct tern_command, number));
}

/*
 * Are these bytes of the body zero? Otherwise sets the syndrome; the handler
 * returns TERN_COMMAND_STATUS_BAD_PARAMETER.
 */
#define command_reserved(command, type, member)					\
	command_zero(command, offsetof(type, member), sizeof(((type *)0)->member))
bool command_zero(struct command *command, size_t offset, size_t length);

/*
 * Answer a query whose body is struct tern_command_query: checks it, writes
 * what fits and sets result[0]. @groups: whether group may be other than 0.
 */
uint16_t command_answer(struct command *command, const void *answer, size_t length);

/* For register.c and nic.c */
void command_doorbell(struct function *fn, uint32_t producer);
bool commands_run(struct tern_nic *nic, unsigned int budget);

#endif /* TERN_COMMAND_H */
