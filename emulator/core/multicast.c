// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: multicast groups (IBTA 10.5), and who is in them. */
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "command.h"
#include "multicast.h"
#include "rdma_qp.h"

#define REFUSE(status)								\
	command_refuse(command, TERN_COMMAND_STATUS_##status,			\
		       struct tern_command_multicast, gid)

void multicast_init(struct multicast_groups *groups)
{
	for (unsigned int i = 0; i < MULTICAST_BUCKETS; i++)
		list_init(&groups->buckets[i]);
	groups->count = 0;
}

static struct list *bucket_of(struct multicast_groups *groups, const uint8_t *gid)
{
	/* Addresses differ in their last bytes. */
	return &groups->buckets[(gid[13] ^ gid[14] ^ gid[15]) % MULTICAST_BUCKETS];
}

static struct multicast_group *find(struct multicast_groups *groups, const uint8_t *gid)
{
	struct list *bucket = bucket_of(groups, gid);

	for (struct list *link = bucket->next; link != bucket; link = link->next) {
		struct multicast_group *group = list_entry(link, struct multicast_group, link);

		if (!memcmp(group->gid, gid, 16))
			return group;
	}
	return NULL;
}

static void drop(struct multicast_groups *groups, struct multicast_group *group)
{
	list_remove(&group->link);
	groups->count--;
	free(group);
}

/* Order is kept: it is the order of delivery. */
static void detach_at(struct multicast_groups *groups, struct multicast_group *group,
		      unsigned int place)
{
	rdma_of(group->qps[place])->multicast_groups--;
	group->count--;
	memmove(&group->qps[place], &group->qps[place + 1],
		(group->count - place) * sizeof(group->qps[0]));
	if (!group->count)
		drop(groups, group);
}

/* Its place in the group; the group's count when it is not attached. */
static unsigned int place_of(const struct multicast_group *group, const struct qp *qp)
{
	unsigned int place = 0;

	while (place < group->count && group->qps[place] != qp)
		place++;
	return place;
}

void multicast_reset(struct multicast_groups *groups)
{
	for (unsigned int i = 0; i < MULTICAST_BUCKETS; i++) {
		while (!list_empty(&groups->buckets[i])) {
			struct multicast_group *group = list_entry(groups->buckets[i].next,
								   struct multicast_group, link);

			drop(groups, group);
		}
	}
}

void multicast_forget(struct qp *qp)
{
	struct multicast_groups *groups = &qp->fn->rdma->multicast;
	struct list *link, *following;

	for (unsigned int i = 0; i < MULTICAST_BUCKETS && rdma_of(qp)->multicast_groups; i++) {
		list_for_each_safe(link, following, &groups->buckets[i]) {
			struct multicast_group *group = list_entry(link, struct multicast_group,
								   link);
			unsigned int place = place_of(group, qp);

			if (place < group->count)
				detach_at(groups, group, place);
		}
	}
}

struct multicast_group *multicast_match(struct function *fn, const struct wire_packet *packet)
{
	uint8_t mac[6];

	if (!gid_is_multicast(packet->destination_gid))
		return NULL;
	gid_multicast_mac(packet->destination_gid, mac);
	if (memcmp(packet->destination_mac, mac, 6) ||
	    !gid_table_listens(&fn->rdma->gids, packet))
		return NULL;
	return find(&fn->rdma->multicast, packet->destination_gid);
}

void multicast_deliver(struct multicast_group *group, const struct wire_packet *packet)
{
	for (unsigned int i = 0; i < group->count; i++) {
		qp_trace(group->qps[i], "receive multicast %s psn %u bytes %zu",
			 packet->opcode->name, packet->headers.psn, packet->payload_length);
		rdma_of(group->qps[i])->packets_received++;
		ud_receive(rdma_of(group->qps[i]), packet);
	}
}

/* The UD queue pair that the command is about. NULL: refused with *@status. */
static struct qp *named(struct command *command, uint16_t *status)
{
	const struct tern_command_multicast *body = (const void *)command->body;
	struct qp *qp = qp_find(command->fn, command->number);

	if (!command->number || command->number >= QP_COUNT)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	else if (!qp)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_NOT_FOUND);
	else if (qp->type != TERN_QP_UD)
		*status = command_refuse_number(command, TERN_COMMAND_STATUS_BAD_PARAMETER);
	else if (!gid_is_multicast(body->gid))
		*status = REFUSE(BAD_PARAMETER);
	else
		return qp;
	return NULL;
}

uint16_t attach_multicast_command(struct command *command)
{
	const struct tern_command_multicast *body = (const void *)command->body;
	struct multicast_groups *groups = &command->fn->rdma->multicast;
	struct multicast_group *group;
	uint16_t status;
	struct qp *qp = named(command, &status);

	if (!qp)
		return status;
	group = find(groups, body->gid);
	if (group && place_of(group, qp) < group->count)
		return REFUSE(EXISTS);
	if (group ? group->count == MULTICAST_QPS_MAX : groups->count == MULTICAST_GROUP_COUNT)
		return REFUSE(NO_RESOURCES);
	if (!group) {
		group = calloc(1, sizeof(*group));
		if (!group)
			return TERN_COMMAND_STATUS_NO_RESOURCES;
		memcpy(group->gid, body->gid, 16);
		list_add_tail(bucket_of(groups, group->gid), &group->link);
		groups->count++;
	}
	group->qps[group->count++] = qp;
	rdma_of(qp)->multicast_groups++;
	return TERN_COMMAND_STATUS_OK;
}

uint16_t detach_multicast_command(struct command *command)
{
	const struct tern_command_multicast *body = (const void *)command->body;
	struct multicast_groups *groups = &command->fn->rdma->multicast;
	struct multicast_group *group;
	unsigned int place;
	uint16_t status;
	struct qp *qp = named(command, &status);

	if (!qp)
		return status;
	group = find(groups, body->gid);
	place = group ? place_of(group, qp) : 0;
	if (!group || place == group->count)
		return REFUSE(NOT_FOUND);
	detach_at(groups, group, place);
	return TERN_COMMAND_STATUS_OK;
}
