// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: receive side scaling: which queue pair gets a frame. */
#include <string.h>

#include "byteorder.h"
#include "ethernet.h"
#include "ethernet_commands.h"
#include "nic.h"
#include "parse.h"
#include "qp.h"

#define RSS_TYPES								\
	(TERN_RSS_IPV4 | TERN_RSS_IPV4_TCP | TERN_RSS_IPV4_UDP | TERN_RSS_IPV6 |	\
	 TERN_RSS_IPV6_TCP | TERN_RSS_IPV6_UDP)

static_assert(TOEPLITZ_KEY_BYTES == TERN_RSS_KEY_BYTES, "the contract's key");

/* The most specific hash that applies and is wanted; 0: none. */
static uint8_t choose_type(uint8_t wanted, const struct parsed_frame *parsed)
{
	bool v4 = parsed->ip_version == 4;
	uint8_t type = 0;

	if (!parsed->ip_version)
		return 0;
	if (parsed->l4_protocol == IP_PROTOCOL_TCP)
		type = v4 ? TERN_RSS_IPV4_TCP : TERN_RSS_IPV6_TCP;
	else if (parsed->l4_protocol == IP_PROTOCOL_UDP)
		type = v4 ? TERN_RSS_IPV4_UDP : TERN_RSS_IPV6_UDP;
	if (wanted & type)
		return type;
	return wanted & (v4 ? TERN_RSS_IPV4 : TERN_RSS_IPV6);
}

struct qp *rss_choose(const struct ethernet_function *ethernet, const uint8_t *headers,
		      const struct parsed_frame *parsed, uint32_t *hash, uint8_t *hash_type)
{
	uint8_t input[TOEPLITZ_INPUT_MAX];
	size_t length;

	*hash = 0;
	*hash_type = 0;
	if (!ethernet->rss_count)
		return ethernet->default_qp;
	*hash_type = choose_type(ethernet->rss_types, parsed);
	if (*hash_type) {
		const uint8_t *ip = headers + parsed->l3_offset;

		/* Source address, destination address, source port, destination port. */
		if (parsed->ip_version == 4) {
			length = 8;
			memcpy(input, ip + 12, length);
		} else {
			length = 32;
			memcpy(input, ip + 8, length);
		}
		if (!(*hash_type & (TERN_RSS_IPV4 | TERN_RSS_IPV6))) {
			memcpy(input + length, headers + parsed->l4_offset, 4);
			length += 4;
		}
		*hash = toeplitz_hash(&ethernet->toeplitz, input, length);
	}
	return ethernet->rss_table[*hash & (ethernet->rss_count - 1)];
}

uint16_t rss_table_read(struct function *fn, uint64_t address, unsigned int count,
			struct qp **table)
{
	__le32 qpns[RSS_ENTRIES_MAX];

	if (count && guest_read(fn, address, qpns, count * sizeof(qpns[0])))
		return TERN_COMMAND_STATUS_BAD_ADDRESS;
	for (unsigned int i = 0; i < count; i++) {
		uint16_t status = ethernet_receiver_find(fn, from_le32(qpns[i]), &table[i]);

		if (status != TERN_COMMAND_STATUS_OK)
			return status;
	}
	return TERN_COMMAND_STATUS_OK;
}

uint16_t set_rss_command(struct command *command)
{
	typedef struct tern_command_set_rss body_type;
	const body_type *body = (const void *)command->body;
	struct ethernet_function *ethernet = command->fn->ethernet;
	unsigned int count = from_le16(body->count);
	struct qp *table[RSS_ENTRIES_MAX];
	uint16_t status;

	if (!command_reserved(command, body_type, reserved0) ||
	    !command_reserved(command, body_type, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (count > RSS_ENTRIES_MAX || (count & (count - 1)))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      count);
	if (body->types & ~RSS_TYPES)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      types);
	status = rss_table_read(command->fn, from_le64(body->table), count, table);
	if (status != TERN_COMMAND_STATUS_OK)
		return command_refuse(command, status, body_type, table);
	for (unsigned int i = 0; i < count; i++)
		table[i]->users++;
	for (unsigned int i = 0; i < ethernet->rss_count; i++)
		ethernet->rss_table[i]->users--;
	memcpy(ethernet->rss_table, table, count * sizeof(table[0]));
	ethernet->rss_count = count;
	ethernet->rss_types = body->types;
	if (count)
		toeplitz_prepare(&ethernet->toeplitz, body->key);
	return TERN_COMMAND_STATUS_OK;
}
