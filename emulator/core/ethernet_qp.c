// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: queue pairs of type ETHERNET, and what a function's Ethernet is made of. */
#include <stdlib.h>
#include <string.h>

#include "byteorder.h"
#include "ethernet.h"
#include "ethernet_commands.h"
#include "eq.h"
#include "nic.h"
#include "parts.h"
#include "qp.h"

/* Entries of each queue that one turn flushes. */
#define FLUSH_BURST	64

const struct command_entry ethernet_commands[] = {
	{ TERN_COMMAND_QUERY_PORT, false, sizeof(struct tern_command_query), 0,
	  query_port_command },
	{ TERN_COMMAND_SET_PORT, false, sizeof(struct tern_command_set_port), 0,
	  set_port_command },
	{ TERN_COMMAND_SET_STATION_ADDRESS, false,
	  sizeof(struct tern_command_set_station_address), FEATURE(ETHERNET),
	  set_station_address_command },
	{ TERN_COMMAND_SET_RECEIVE_MODE, false, sizeof(struct tern_command_set_receive_mode),
	  FEATURE(ETHERNET), set_receive_mode_command },
	{ TERN_COMMAND_SET_MULTICAST_TABLE, false, sizeof(struct tern_command_set_table),
	  FEATURE(ETHERNET), set_multicast_table_command },
	{ TERN_COMMAND_SET_VLAN_TABLE, false, sizeof(struct tern_command_set_table),
	  FEATURE(ETHERNET), set_vlan_table_command },
	{ TERN_COMMAND_SET_RSS, false, sizeof(struct tern_command_set_rss), FEATURE(RSS),
	  set_rss_command },
	{ TERN_COMMAND_ADD_FLOW, true, sizeof(struct tern_command_add_flow),
	  FEATURE(FLOW_STEERING), add_flow_command },
	{ TERN_COMMAND_REMOVE_FLOW, true, 0, FEATURE(FLOW_STEERING), remove_flow_command },
	{ TERN_COMMAND_SET_HASHING, true, sizeof(struct tern_command_set_hashing),
	  FEATURE(RECEIVE_HASHING_QP), set_hashing_command },
	{ 0 },
};

static bool create(struct qp *qp)
{
	struct ethernet_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return false;
	queue->qp = qp;
	queue->source.fn = qp->fn;
	queue->source.send = ethernet_send;
	queue->source.varies = true;
	qp->private = queue;
	return true;
}

static void destroy(struct qp *qp)
{
	struct ethernet_queue *queue = qp->private;

	flow_forget(qp);
	egress_deactivate(qp->fn->nic, &queue->source);
	free(queue);
}

static void posted(struct qp *qp, struct work_queue *wq)
{
	struct ethernet_queue *queue = qp->private;

	(void)wq;
	egress_activate(qp->fn->nic, &queue->source);
}

static void to_error(struct qp *qp)
{
	struct ethernet_queue *queue = qp->private;

	queue->segmenting = false;
	qp_set_state(qp, TERN_QP_ERROR);
	egress_activate(qp->fn->nic, &queue->source);
}

static void fail(struct qp *qp, uint8_t event)
{
	if (qp->state == TERN_QP_RESET || qp->state == TERN_QP_ERROR)
		return;
	to_error(qp);
	if (event)
		function_event(qp->fn, event, 0, qp->qpn);
}

static bool transition_allowed(uint8_t from, uint8_t to)
{
	switch (to) {
	case TERN_QP_RESET:
	case TERN_QP_ERROR:
		return true;
	case TERN_QP_INIT:
		return from == TERN_QP_RESET || from == TERN_QP_INIT;
	case TERN_QP_RTR:
		return from == TERN_QP_INIT;
	case TERN_QP_RTS:
		return from == TERN_QP_RESET || from == TERN_QP_RTR || from == TERN_QP_RTS;
	default:
		return false;
	}
}

/* It has no attributes: its addresses are in its frames. */
static uint16_t modify(struct qp *qp, struct command *command)
{
	typedef struct tern_command_modify_qp body_type;
	const body_type *body = (const void *)command->body;
	struct ethernet_queue *queue = qp->private;

	if (!command_reserved(command, body_type, reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (body->next_state > TERN_QP_ERROR)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      next_state);
	if (body->mask)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      mask);
	if (body->current_state != qp->state)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_STATE, body_type,
				      current_state);
	if (!transition_allowed(qp->state, body->next_state))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_STATE, body_type,
				      next_state);
	if (body->next_state == TERN_QP_ERROR) {
		to_error(qp);
		return TERN_COMMAND_STATUS_OK;
	}
	if (body->next_state == TERN_QP_RESET) {
		egress_deactivate(qp->fn->nic, &queue->source);
		queue->segmenting = false;
	}
	qp_set_state(qp, body->next_state);
	return TERN_COMMAND_STATUS_OK;
}

static uint16_t query(struct qp *qp, struct tern_qp_status *status)
{
	status->state = qp->state;
	status->sq_consumer = to_le32(qp->sq.completed);
	status->rq_consumer = to_le32(qp->rq.completed);
	return TERN_COMMAND_STATUS_OK;
}

static void info(const struct qp *qp, struct tern_nic_qp_info *info)
{
	info->path_mtu = qp->fn->ethernet->mtu;
}

const struct qp_ops ethernet_qp_ops = {
	.name = "ethernet",
	.create = create,
	.destroy = destroy,
	.posted = posted,
	.fail = fail,
	.modify = modify,
	.query = query,
	.info = info,
};

static bool flush_sends(struct qp *qp, unsigned int budget)
{
	struct ethernet_queue *queue = qp->private;
	struct send_wqe *wqe = &queue->wqe;
	struct work_queue *sq = &qp->sq;

	for (; sq->exists && work_queue_posted(sq); budget--) {
		struct tern_cqe cqe = {
			.status = TERN_WC_FLUSHED,
			.queue = to_le32(qp->qpn),
			.index = to_le32(sq->next),
		};

		if (!budget)
			return true;
		send_wqe_fetch(sq, sq->next, wqe);
		work_queue_take(sq, wqe->blocks);
		sq->completed = sq->next;
		cqe.opcode = wqe->opcode & (uint8_t)~TERN_CQE_RECEIVER;
		cq_post(qp->send_cq, &cqe, false);
	}
	return false;
}

static bool flush_receives(struct qp *qp, unsigned int budget)
{
	struct work_queue *rq = &qp->rq;

	for (; rq->exists && work_queue_posted(rq); budget--) {
		struct tern_cqe cqe = {
			.opcode = TERN_CQE_RECEIVE_ETHERNET,
			.status = TERN_WC_FLUSHED,
			.queue = to_le32(qp->qpn),
			.index = to_le32(rq->next),
		};

		if (!budget)
			return true;
		rq->completed = ++rq->next;
		cq_post(qp->receive_cq, &cqe, false);
	}
	return false;
}

bool ethernet_flush(struct ethernet_queue *queue)
{
	bool more = flush_sends(queue->qp, FLUSH_BURST);

	return flush_receives(queue->qp, FLUSH_BURST) || more;
}

uint16_t ethernet_receiver_find(struct function *fn, uint32_t qpn, struct qp **qp)
{
	*qp = qp_find(fn, qpn);
	if (!*qp)
		return TERN_COMMAND_STATUS_NOT_FOUND;
	if ((*qp)->type != TERN_QP_ETHERNET || !(*qp)->rq.exists)
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	return TERN_COMMAND_STATUS_OK;
}

bool ethernet_function_create(struct function *fn)
{
	fn->ethernet = malloc(sizeof(*fn->ethernet));
	if (!fn->ethernet)
		return false;
	ethernet_function_reset(fn);
	return true;
}

void ethernet_function_destroy(struct function *fn)
{
	free(fn->ethernet);
	fn->ethernet = NULL;
}

void ethernet_function_reset(struct function *fn)
{
	memset(fn->ethernet, 0, sizeof(*fn->ethernet));
	memcpy(fn->ethernet->station_mac, fn->permanent_mac, 6);
	fn->ethernet->mtu = MTU_DEFAULT;
}
