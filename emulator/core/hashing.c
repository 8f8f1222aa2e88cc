// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: queue pairs of type HASHING: they have no queues, but a table of queue
 * pairs over which they spread the frames that flows bring.
 */
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "ethernet.h"
#include "ethernet_commands.h"
#include "nic.h"
#include "parse.h"
#include "qp.h"

#define FIELDS_KNOWN	TERN_MASK(7, 0)

/* Two bits for each: source, destination. */
#define ADDRESSES_IPV4	0
#define ADDRESSES_IPV6	2
#define PORTS_TCP	4
#define PORTS_UDP	6
#define SOURCE		1U
#define DESTINATION	2U

struct hashing {
	unsigned int count;		/* 0: there is no table yet */
	uint16_t fields;		/* TERN_HASH_* */
	struct qp *table[RSS_ENTRIES_MAX];
	struct toeplitz toeplitz;
};

static size_t add_both(uint8_t *input, const uint8_t *from, size_t length, unsigned int which)
{
	size_t done = 0;

	if (which & SOURCE) {
		memcpy(input, from, length);
		done = length;
	}
	if (which & DESTINATION) {
		memcpy(input + done, from + length, length);
		done += length;
	}
	return done;
}

static uint32_t hash_of(const struct hashing *hashing, const uint8_t *headers,
			const struct parsed_frame *parsed, uint8_t *type)
{
	const uint8_t *ip = headers + parsed->l3_offset;
	bool v4 = parsed->ip_version == 4, tcp = parsed->l4_protocol == IP_PROTOCOL_TCP;
	unsigned int addresses, ports = 0;
	uint8_t input[TOEPLITZ_INPUT_MAX];
	size_t length;

	if (!parsed->ip_version)
		return 0;
	addresses = hashing->fields >> (v4 ? ADDRESSES_IPV4 : ADDRESSES_IPV6) & 3;
	if (parsed->l4_protocol)
		ports = hashing->fields >> (tcp ? PORTS_TCP : PORTS_UDP) & 3;
	if (!addresses && !ports)
		return 0;
	length = add_both(input, ip + (v4 ? 12 : 8), v4 ? 4 : 16, addresses);
	length += add_both(input + length, headers + parsed->l4_offset, 2, ports);
	if (!ports)
		*type = v4 ? TERN_RSS_IPV4 : TERN_RSS_IPV6;
	else if (tcp)
		*type = v4 ? TERN_RSS_IPV4_TCP : TERN_RSS_IPV6_TCP;
	else
		*type = v4 ? TERN_RSS_IPV4_UDP : TERN_RSS_IPV6_UDP;
	return toeplitz_hash(&hashing->toeplitz, input, length);
}

struct qp *hashing_choose(const struct qp *qp, const uint8_t *headers,
			  const struct parsed_frame *parsed, uint32_t *hash, uint8_t *hash_type)
{
	const struct hashing *hashing = qp->private;

	*hash_type = 0;
	*hash = hash_of(hashing, headers, parsed, hash_type);
	return hashing->count ? hashing->table[*hash & (hashing->count - 1)] : NULL;
}

static bool create(struct qp *qp)
{
	qp->private = calloc(1, sizeof(struct hashing));
	return qp->private;
}

static void release(struct qp *qp)
{
	struct hashing *hashing = qp->private;

	for (unsigned int i = 0; i < hashing->count; i++)
		hashing->table[i]->users--;
}

static void destroy(struct qp *qp)
{
	flow_forget(qp);
	free(qp->private);
}

/* It has no queues that could move or break. */
static void posted(struct qp *qp, struct work_queue *wq)
{
	(void)qp;
	(void)wq;
}

static void fail(struct qp *qp, uint8_t event)
{
	(void)qp;
	(void)event;
}

/* It has no states. */
static uint16_t modify(struct qp *qp, struct command *command)
{
	(void)qp;
	return command_refuse(command, TERN_COMMAND_STATUS_BAD_STATE,
			      struct tern_command_modify_qp, next_state);
}

static uint16_t query(struct qp *qp, struct tern_qp_status *status)
{
	status->state = qp->state;
	return TERN_COMMAND_STATUS_OK;
}

static void info(const struct qp *qp, struct tern_nic_qp_info *info)
{
	info->path_mtu = qp->fn->ethernet->mtu;
}

const struct qp_ops hashing_qp_ops = {
	.name = "hashing",
	.create = create,
	.release = release,
	.destroy = destroy,
	.posted = posted,
	.fail = fail,
	.modify = modify,
	.query = query,
	.info = info,
};

uint16_t set_hashing_command(struct command *command)
{
	typedef struct tern_command_set_hashing body_type;
	const body_type *body = (const void *)command->body;
	unsigned int count = from_le16(body->count);
	struct qp *qp = qp_find(command->fn, command->number), *table[RSS_ENTRIES_MAX];
	struct hashing *hashing;
	uint16_t status;

	if (!command->number || command->number >= QP_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (!qp)
		return command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	if (qp->type != TERN_QP_HASHING)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_PARAMETER);
	if (!count || count > RSS_ENTRIES_MAX || (count & (count - 1)))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      count);
	if (from_le16(body->fields) & ~FIELDS_KNOWN)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      fields);
	if (!command_reserved(command, body_type, reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	status = rss_table_read(command->fn, from_le64(body->table), count, table);
	if (status)
		return command_refuse(command, status, body_type, table);
	hashing = qp->private;
	for (unsigned int i = 0; i < count; i++)
		table[i]->users++;
	release(qp);
	memcpy(hashing->table, table, count * sizeof(table[0]));
	hashing->count = count;
	hashing->fields = from_le16(body->fields);
	toeplitz_prepare(&hashing->toeplitz, body->key);
	return TERN_COMMAND_STATUS_OK;
}
