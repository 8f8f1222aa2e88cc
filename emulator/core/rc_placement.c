// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the RC responder's ATOMIC_WRITE and FLUSH (IBTA annex A19). Requests are
 * executed one after the other, each by stores to the host's own memory, so
 * what a FLUSH asks for is so when it is its turn.
 */
#include "byteorder.h"
#include "rdma_qp.h"

#define FLUSH_PLACES	(TERN_FLUSH_GLOBAL | TERN_FLUSH_PERSISTENT)

static bool refuse(struct rdma_qp *rdma)
{
	rc_responder_refuse(rdma, WIRE_NAK_INVALID_REQUEST, TERN_EVENT_QP_REQUEST_ERROR);
	return false;
}

static bool refuse_access(struct rdma_qp *rdma)
{
	rc_responder_refuse(rdma, WIRE_NAK_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
	return false;
}

static uint64_t value_of(const struct wire_packet *packet)
{
	uint8_t bytes[ATOMIC_BYTES];
	uint64_t value;
	size_t done = 0;

	for (unsigned int i = 0; i < packet->payload_count; i++) {
		memcpy(bytes + done, packet->payload[i].base, packet->payload[i].length);
		done += packet->payload[i].length;
	}
	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* 0 or -EFAULT. By one store, where the memory is aligned as the address is. */
static int store(const struct key_range *range, uint64_t value)
{
	size_t length = ATOMIC_BYTES;
	void *to = key_range_map(range, 0, &length, true);
	bool whole = to && length == ATOMIC_BYTES && !((uintptr_t)to % ATOMIC_BYTES);

	/* After all that was written before. */
	if (whole)
		__atomic_store_n((uint64_t *)to, value, __ATOMIC_RELEASE);
	if (to)
		guest_unmap(range->fn, to, length, true);
	return whole ? 0 : key_range_write(range, 0, &value, sizeof(value));
}

static bool execute_atomic_write(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	const struct wire_headers *headers = &packet->headers;
	struct key_range range;

	if (!function_has(rdma->qp->fn, FEATURE(ATOMIC_WRITE)) ||
	    !(rdma->access & TERN_ACCESS_REMOTE_WRITE) || headers->reth.length != ATOMIC_BYTES ||
	    packet->payload_length != ATOMIC_BYTES || headers->reth.address % ATOMIC_BYTES)
		return refuse(rdma);
	if (key_resolve(&rdma->qp->remote, headers->reth.key, headers->reth.address, ATOMIC_BYTES,
			TERN_ACCESS_REMOTE_WRITE, &range) != KEY_OK)
		return refuse_access(rdma);
	/* Not after an attempt: a value is stored whole or not at all. */
	if (key_range_present(&range, true)) {
		rc_responder_absent(rdma);
		return false;
	}
	if (store(&range, value_of(packet))) {
		rc_responder_refuse(rdma, WIRE_NAK_REMOTE_OPERATION, TERN_EVENT_QP_FATAL);
		return false;
	}
	return true;
}

/* The rights that it needs, of queue pair and key alike. */
static uint32_t flush_access(uint32_t flush)
{
	return (flush & TERN_FLUSH_GLOBAL ? TERN_ACCESS_FLUSH_GLOBAL : 0) |
	       (flush & TERN_FLUSH_PERSISTENT ? TERN_ACCESS_FLUSH_PERSISTENT : 0);
}

static bool execute_flush(struct rdma_qp *rdma, const struct wire_headers *headers)
{
	uint32_t access = flush_access(headers->feth);
	struct key_range range;
	enum key_error error;

	if (!function_has(rdma->qp->fn, FEATURE(FLUSH)) || !access ||
	    (headers->feth & ~(FLUSH_PLACES | TERN_FLUSH_REGION)) ||
	    (rdma->access & access) != access)
		return refuse(rdma);
	error = key_resolve(&rdma->qp->remote, headers->reth.key, headers->reth.address,
			    headers->reth.length, access, &range);
	/* Of the whole region address and length say nothing. */
	if (error != KEY_OK &&
	    (error != KEY_OUT_OF_BOUNDS || !(headers->feth & TERN_FLUSH_REGION)))
		return refuse_access(rdma);
	full_fence();
	return true;
}

bool rc_placement_execute(struct rdma_qp *rdma, const struct wire_packet *packet)
{
	return packet->opcode->operation == WIRE_OP_FLUSH ?
	       execute_flush(rdma, &packet->headers) : execute_atomic_write(rdma, packet);
}
