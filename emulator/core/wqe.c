// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: fetching work requests: copy once, then check the copy. */
#include <string.h>

#include "byteorder.h"
#include "nic.h"
#include "qp.h"

#define FLAGS_KNOWN								\
	(TERN_WQE_SIGNALED | TERN_WQE_SOLICITED | TERN_WQE_FENCE | TERN_WQE_INLINE)

/* @count entries from @index on, which may wrap around the ring's end. */
static int fetch(struct work_queue *wq, uint32_t index, uint32_t count, void *buffer)
{
	uint32_t size = work_queue_size(wq);
	uint32_t start = index & (size - 1);
	uint32_t first = count < size - start ? count : size - start;
	size_t bytes = (size_t)first << wq->stride_shift;

	if (page_list_read(wq->fn, &wq->pages, &wq->cursor, (uint64_t)start << wq->stride_shift,
			   buffer, bytes))
		return -1;
	if (first == count)
		return 0;
	return page_list_read(wq->fn, &wq->pages, &wq->cursor, 0, (uint8_t *)buffer + bytes,
			      (size_t)(count - first) << wq->stride_shift);
}

static uint64_t sges_set(struct sge *sges, const uint8_t *raw, unsigned int count)
{
	uint64_t length = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct tern_sge sge;

		memcpy(&sge, raw + i * sizeof(sge), sizeof(sge));
		sges[i].address = from_le64(sge.address);
		sges[i].length = from_le32(sge.length);
		sges[i].key = from_le32(sge.key);
		length += sges[i].length;
	}
	return length;
}

/* Which segments an opcode has on this queue pair; false: it has no such opcode. */
static bool segments_of(const struct qp *qp, uint8_t opcode, bool *remote, bool *atomic,
			bool *address, bool *ethernet)
{
	*remote = false;
	*atomic = false;
	*address = false;
	*ethernet = false;
	switch (opcode) {
	case TERN_WQE_NOP:
		return true;
	case TERN_WQE_SEND:
	case TERN_WQE_SEND_IMMEDIATE:
		*address = qp->type == TERN_QP_UD || qp->type == TERN_QP_GSI;
		return *address || qp_connected(qp);
	case TERN_WQE_WRITE:
	case TERN_WQE_WRITE_IMMEDIATE:
		*remote = true;
		return qp_connected(qp);
	case TERN_WQE_READ:
		*remote = true;
		return qp_reliable(qp);
	case TERN_WQE_CAS:
	case TERN_WQE_FETCH_ADD:
		*remote = true;
		*atomic = true;
		return qp_reliable(qp) && function_has(qp->fn, FEATURE(ATOMICS));
	case TERN_WQE_ATOMIC_WRITE:
		*remote = true;
		return qp->type == TERN_QP_RC && function_has(qp->fn, FEATURE(ATOMIC_WRITE));
	case TERN_WQE_FLUSH:
		*remote = true;
		return qp->type == TERN_QP_RC && function_has(qp->fn, FEATURE(FLUSH));
	case TERN_WQE_SEND_INVALIDATE:
	case TERN_WQE_LOCAL_INVALIDATE:
		return qp_reliable(qp) &&
		       function_has(qp->fn, FEATURE(FAST_REGISTRATION) | FEATURE(MEMORY_WINDOWS));
	case TERN_WQE_BIND_WINDOW:
		return qp->type == TERN_QP_RC && function_has(qp->fn, FEATURE(MEMORY_WINDOWS));
	case TERN_WQE_REGISTER:
		/* It names bus addresses. */
		return qp->type == TERN_QP_RC && (qp->flags & TERN_QP_PRIVILEGED) &&
		       function_has(qp->fn, FEATURE(FAST_REGISTRATION));
	case TERN_WQE_ETHERNET:
		*ethernet = true;
		return qp->type == TERN_QP_ETHERNET;
	default:
		return false;
	}
}

/* Without data, by SGEs or inline. */
static bool dataless(uint8_t opcode)
{
	return opcode == TERN_WQE_LOCAL_INVALIDATE || opcode == TERN_WQE_REGISTER ||
	       opcode == TERN_WQE_BIND_WINDOW || opcode == TERN_WQE_FLUSH;
}

static bool inline_allowed(uint8_t opcode)
{
	return opcode != TERN_WQE_NOP && opcode != TERN_WQE_READ && opcode != TERN_WQE_CAS &&
	       opcode != TERN_WQE_FETCH_ADD;
}

/* Known bits, and at least one place where data are to be. */
static bool flush_valid(const uint8_t *immediate)
{
	const uint32_t places = TERN_FLUSH_GLOBAL | TERN_FLUSH_PERSISTENT;
	__le32 raw;
	uint32_t flush;

	memcpy(&raw, immediate, sizeof(raw));
	flush = from_le32(raw);
	return (flush & places) && !(flush & ~(places | TERN_FLUSH_REGION));
}

static enum wqe_error parse(struct work_queue *wq, const struct tern_wqe_control *control,
			    struct send_wqe *wqe)
{
	bool remote, atomic, address, ethernet;
	size_t size = (size_t)wqe->blocks << TERN_WQE_BLOCK_SHIFT;
	size_t place = sizeof(*control);
	size_t inline_length = from_le16(control->inline_length);

	if ((wqe->flags & ~FLAGS_KNOWN) ||
	    !segments_of(wq->qp, wqe->opcode, &remote, &atomic, &address, &ethernet))
		return WQE_MALFORMED;
	if (wq->qp->type == TERN_QP_XRC_INITIATOR) {
		wqe->remote_srqn = from_le32(control->remote_srqn);
		if (wqe->remote_srqn & ~TERN_NUMBER_MASK)
			return WQE_MALFORMED;
	}
	/* All segments together are at most a block: each fits before it is read. */
	if (remote) {
		struct tern_wqe_remote segment;

		memcpy(&segment, wqe->raw + place, sizeof(segment));
		wqe->remote_address = from_le64(segment.address);
		wqe->remote_key = from_le32(segment.key);
		wqe->flush_length = from_le32(segment.length);
		place += sizeof(segment);
	}
	if (atomic) {
		struct tern_wqe_atomic segment;

		memcpy(&segment, wqe->raw + place, sizeof(segment));
		wqe->swap_add = from_le64(segment.swap_add);
		wqe->compare = from_le64(segment.compare);
		place += sizeof(segment);
	}
	if (address) {
		wqe->address = (const void *)(wqe->raw + place);
		place += sizeof(*wqe->address);
	}
	if (ethernet) {
		wqe->ethernet = (const void *)(wqe->raw + place);
		place += sizeof(*wqe->ethernet);
	}
	if (dataless(wqe->opcode)) {
		if (wqe->opcode == TERN_WQE_REGISTER)
			wqe->registration = (const void *)(wqe->raw + place);
		else if (wqe->opcode == TERN_WQE_BIND_WINDOW)
			wqe->binding = (const void *)(wqe->raw + place);
		else if (wqe->opcode == TERN_WQE_FLUSH && !flush_valid(wqe->immediate))
			return WQE_MALFORMED;
		return wqe->sge_count || inline_length || (wqe->flags & TERN_WQE_INLINE) ?
		       WQE_MALFORMED : WQE_OK;
	}
	if (wqe->flags & TERN_WQE_INLINE) {
		if (wqe->sge_count || !inline_allowed(wqe->opcode) ||
		    inline_length > size - place || inline_length > INLINE_MAX)
			return WQE_MALFORMED;
		wqe->inline_data = wqe->raw + place;
		wqe->length = inline_length;
		return WQE_OK;
	}
	if (inline_length || wqe->sge_count > SEND_SGES_MAX ||
	    wqe->sge_count * sizeof(struct tern_sge) > size - place)
		return WQE_MALFORMED;
	wqe->length = sges_set(wqe->sges, wqe->raw + place, wqe->sge_count);
	return WQE_OK;
}

enum wqe_error send_wqe_fetch(struct work_queue *wq, uint32_t index, struct send_wqe *wqe)
{
	uint32_t posted = wq->producer - index;
	struct tern_wqe_control control;

	wqe->index = index;
	wqe->blocks = 1;
	wqe->remote_srqn = 0;
	wqe->remote_address = 0;
	wqe->remote_key = 0;
	wqe->flush_length = 0;
	wqe->swap_add = 0;
	wqe->compare = 0;
	wqe->address = NULL;
	wqe->ethernet = NULL;
	wqe->registration = NULL;
	wqe->binding = NULL;
	wqe->inline_data = NULL;
	wqe->length = 0;
	wqe->sge_count = 0;
	wqe->opcode = TERN_WQE_NOP;
	wqe->flags = 0;
	memset(wqe->immediate, 0, sizeof(wqe->immediate));
	if (fetch(wq, index, 1, wqe->raw))
		return WQE_FAULT;
	memcpy(&control, wqe->raw, sizeof(control));
	wqe->opcode = control.opcode;
	wqe->flags = control.flags;
	memcpy(wqe->immediate, control.immediate, sizeof(wqe->immediate));
	if (!control.blocks || control.blocks > TERN_WQE_BLOCKS_MAX || control.blocks > posted)
		return WQE_MALFORMED;
	wqe->blocks = control.blocks;
	wqe->sge_count = control.sge_count;
	if (wqe->blocks > 1 &&
	    fetch(wq, index + 1, wqe->blocks - 1U, wqe->raw + TERN_WQE_BLOCK))
		return WQE_FAULT;
	return parse(wq, &control, wqe);
}

enum wqe_error receive_wqe_fetch(struct work_queue *wq, uint32_t index, struct receive_wqe *wqe)
{
	uint8_t raw[1 << TERN_RECEIVE_STRIDE_SHIFT_MAX];
	size_t size = (size_t)1 << wq->stride_shift;
	struct tern_receive_header header;

	wqe->index = index;
	wqe->sge_count = 0;
	wqe->length = 0;
	if (fetch(wq, index, 1, raw))
		return WQE_FAULT;
	memcpy(&header, raw, sizeof(header));
	if (!wq->qp)
		wqe->index = from_le32(header.tag);
	if (header.sge_count * sizeof(struct tern_sge) > size - sizeof(header))
		return WQE_MALFORMED;
	wqe->sge_count = header.sge_count;
	wqe->length = sges_set(wqe->sges, raw + sizeof(header), header.sge_count);
	return WQE_OK;
}
