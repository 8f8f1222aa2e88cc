// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the RC requester: work requests that send nothing. */
#include "rdma_qp.h"

bool rc_local_opcode(uint8_t opcode)
{
	return opcode == TERN_WQE_NOP || opcode == TERN_WQE_LOCAL_INVALIDATE ||
	       opcode == TERN_WQE_REGISTER || opcode == TERN_WQE_BIND_WINDOW;
}

/*
 * What stands before an invalidation may have to be sent again, from memory
 * that the key names: it waits for their completions (IBTA 10.8.3.3 asks the
 * consumer to, by a fence; this costs him only the wait that the fence would).
 */
static bool may_invalidate(const struct rdma_qp *rdma)
{
	return rdma->requester.head == rdma->requester.send;
}

bool rc_local_execute(struct rdma_qp *rdma, struct request *request)
{
	const struct key_user *user = &rdma->qp->local;
	enum key_error error = KEY_OK;

	if (request->executed)
		return true;
	switch (request->opcode) {
	case TERN_WQE_LOCAL_INVALIDATE:
		if (!may_invalidate(rdma))
			return false;
		error = key_invalidate(user, request_key(request));
		break;
	case TERN_WQE_REGISTER:
		error = key_register(user, &request->u.registration);
		break;
	case TERN_WQE_BIND_WINDOW:
		error = key_bind(rdma->qp, &request->u.binding);
		break;
	default:
		break;
	}
	request->executed = true;
	if (error) {
		qp_trace(rdma->qp, "work request %u: key refused, %d", request->index, error);
		request->status = TERN_WC_WINDOW_BIND;
	}
	return true;
}
