// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the RC responder's atomics (IBTA 9.4.5): executed once, and what they
 * found is kept for the requester that did not hear of it. They are atomic
 * among all queue pairs and functions because the core runs one at a time.
 */
#include "byteorder.h"
#include "rdma_qp.h"

static void refuse(struct rdma_qp *rdma)
{
	rc_responder_refuse(rdma, WIRE_NAK_INVALID_REQUEST, TERN_EVENT_QP_REQUEST_ERROR);
}

/* 0 or -EFAULT. A comparison that fails writes nothing. */
static int execute(const struct key_range *range, const struct wire_headers *headers,
		   uint64_t *original)
{
	uint64_t value;

	if (key_range_read(range, 0, &value, sizeof(value)))
		return -1;
	*original = from_le64(value);
	if ((headers->opcode & WIRE_OPERATION_MASK) == WIRE_RC_FETCH_ADD)
		value = to_le64(*original + headers->atomic.swap_add);
	else if (*original == headers->atomic.compare)
		value = to_le64(headers->atomic.swap_add);
	else
		return 0;
	return key_range_write(range, 0, &value, sizeof(value));
}

bool rc_atomic_execute(struct rdma_qp *rdma, const struct wire_packet *packet,
		       uint64_t *original)
{
	const struct wire_headers *headers = &packet->headers;
	struct responder *responder = &rdma->responder;
	struct key_range range;

	/* An address that is not a multiple of eight is an invalid request, too (IBTA 9.4.5). */
	if (!function_has(rdma->qp->fn, FEATURE(ATOMICS)) ||
	    !(rdma->access & TERN_ACCESS_REMOTE_ATOMIC) ||
	    headers->atomic.address % ATOMIC_BYTES) {
		refuse(rdma);
		return false;
	}
	if (key_resolve(&rdma->qp->remote, headers->atomic.key, headers->atomic.address,
			ATOMIC_BYTES, TERN_ACCESS_REMOTE_ATOMIC, &range) != KEY_OK) {
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
		return false;
	}
	/* Both before either: between reading and writing nothing may wait. */
	if (key_range_present(&range, true)) {
		rc_responder_absent(rdma);
		return false;
	}
	if (execute(&range, headers, original)) {
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_OPERATION, TERN_EVENT_QP_FATAL);
		return false;
	}
	responder->results[responder->results_saved++ % READ_RESPONDER_MAX] =
		(struct atomic_result){ .psn = headers->psn, .original = *original };
	return true;
}

bool rc_atomic_result(const struct rdma_qp *rdma, uint32_t psn, uint64_t *original)
{
	const struct responder *responder = &rdma->responder;

	/* The newest first: PSNs come again. */
	for (uint64_t age = 1; age <= READ_RESPONDER_MAX && age <= responder->results_saved;
	     age++) {
		const struct atomic_result *result =
			&responder->results[(responder->results_saved - age) % READ_RESPONDER_MAX];

		if (result->psn == psn) {
			*original = result->original;
			return true;
		}
	}
	return false;
}
