// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: received frames go into receive entries. */
#include <string.h>

#include "byteorder.h"
#include "checksum.h"
#include "ethernet.h"
#include "nic.h"
#include "parse.h"
#include "payload.h"
#include "qp.h"

#define IPV4_SOURCE	12
#define IPV6_SOURCE	8
#define UDP_CHECKSUM	6

/* A frame as pieces of bytes; a removed tag is left out. */
struct pieces {
	struct tern_segment segments[PAYLOAD_SEGMENTS + 3];
	unsigned int count;
	size_t length;
	uint8_t flat[FRAME_BYTES_MAX];
};

static void add_piece(struct pieces *pieces, const uint8_t *base, size_t length)
{
	if (!length)
		return;
	pieces->segments[pieces->count].base = base;
	pieces->segments[pieces->count].length = length;
	pieces->count++;
	pieces->length += length;
}

/* False when the frame is longer than any of this NIC's, and in too many pieces. */
static bool cut(struct pieces *pieces, const struct tern_frame *frame, bool strip)
{
	struct tern_frame flat;

	pieces->count = 0;
	pieces->length = 0;
	/* Whoever reads a RoCE frame as Ethernet sees its ICRC. */
	if (frame->icrc_pending || frame->payload_count > PAYLOAD_SEGMENTS ||
	    (strip && frame->header_length < ETHERNET_HEADER + VLAN_TAG)) {
		size_t length = tern_frame_flatten(frame, pieces->flat, sizeof(pieces->flat));

		if (!length)
			return false;
		tern_frame_wrap(&flat, pieces->flat, length);
		frame = &flat;
	}
	if (strip) {
		add_piece(pieces, frame->header, 12);
		add_piece(pieces, frame->header + 12 + VLAN_TAG,
			  frame->header_length - 12 - VLAN_TAG);
	} else {
		add_piece(pieces, frame->header, frame->header_length);
	}
	for (unsigned int i = 0; i < frame->payload_count; i++)
		add_piece(pieces, frame->payload[i].base, frame->payload[i].length);
	add_piece(pieces, frame->trailer, frame->trailer_length);
	return true;
}

/* Sum @length bytes of @frame from byte @offset on; the frame is that long. */
static void sum_frame(struct checksum *checksum, const struct tern_frame *frame, size_t offset,
		      size_t length)
{
	for (unsigned int i = 0; i <= frame->payload_count && length; i++) {
		const uint8_t *base = i ? frame->payload[i - 1].base : frame->header;
		size_t piece = i ? frame->payload[i - 1].length : frame->header_length;

		if (offset >= piece) {
			offset -= piece;
			continue;
		}
		base += offset;
		piece -= offset;
		offset = 0;
		if (piece > length)
			piece = length;
		checksum_add(checksum, base, piece);
		length -= piece;
	}
}

/* TERN_CQE_FLAG_L3_CHECKSUM_OK, _L4_: what was checked and right. Wrong ones are counted. */
static uint8_t verify(struct function *fn, const struct tern_frame *frame,
		      const uint8_t *headers, const struct parsed_frame *parsed)
{
	const uint8_t *ip = headers + parsed->l3_offset, *l4 = headers + parsed->l4_offset;
	struct checksum checksum;
	uint8_t flags = 0;

	if (parsed->ip_version == 4) {
		if (!parsed->l3_checksum_ok) {
			fn->port.rx_checksum_errors++;
			return 0;
		}
		flags |= TERN_CQE_FLAG_L3_CHECKSUM_OK;
	}
	/* A trailer (RoCE's) is not in reach of sum_frame(); such a frame has no L4 checksum. */
	if (!parsed->l4_protocol || frame->trailer_length)
		return flags;
	/* No checksum; in IPv6 that is not allowed, but tunnels do it: for the host to judge. */
	if (parsed->l4_protocol == IP_PROTOCOL_UDP && !parse_u16(l4 + UDP_CHECKSUM))
		return flags;
	if (parsed->ip_version == 4)
		checksum_pseudo_ipv4(&checksum, ip + IPV4_SOURCE, ip + IPV4_SOURCE + 4,
				     parsed->l4_protocol, parsed->l4_length);
	else
		checksum_pseudo_ipv6(&checksum, ip + IPV6_SOURCE, ip + IPV6_SOURCE + 16,
				     parsed->l4_protocol, parsed->l4_length);
	sum_frame(&checksum, frame, parsed->l4_offset, parsed->l4_length);
	if (checksum_finish(&checksum))
		fn->port.rx_checksum_errors++;
	else
		flags |= TERN_CQE_FLAG_L4_CHECKSUM_OK;
	return flags;
}

/*
 * The next receive entry; NULL when there is none, or it cannot be used: that
 * is counted, and the entry completes with an error.
 */
static bool next_entry(struct qp *qp, struct receive_wqe *wqe)
{
	struct work_queue *rq = &qp->rq;
	struct function *fn = qp->fn;
	struct tern_cqe cqe = {
		.opcode = TERN_CQE_RECEIVE_ETHERNET,
		.status = TERN_WC_LOCAL_QP_OPERATION,
		.queue = to_le32(qp->qpn),
		.index = to_le32(rq->next),
	};

	if (qp->state != TERN_QP_RTR && qp->state != TERN_QP_RTS) {
		fn->port.rx_no_buffer++;
		return false;
	}
	if (!work_queue_posted(rq) && work_queue_poll(rq) < 0) {
		fn->port.rx_errors++;
		qp->ops->fail(qp, TERN_EVENT_QP_FATAL);
		return false;
	}
	if (!work_queue_posted(rq)) {
		fn->port.rx_no_buffer++;
		return false;
	}
	switch (receive_wqe_fetch(rq, rq->next, wqe)) {
	case WQE_OK:
		return true;
	case WQE_MALFORMED:
		fn->port.rx_errors++;
		rq->completed = ++rq->next;
		cq_post(qp->receive_cq, &cqe, false);
		return false;
	case WQE_FAULT:
		break;
	}
	fn->port.rx_errors++;
	qp->ops->fail(qp, TERN_EVENT_QP_FATAL);
	return false;
}

/* What is done to a frame, and said of it, on its way into an entry. */
struct delivery {
	bool strip, checksum;
	uint32_t hash;
	uint8_t hash_type;
};

static void deliver(struct qp *qp, const struct tern_frame *frame, const uint8_t *headers,
		    const struct parsed_frame *parsed, const struct delivery *how)
{
	bool strip = how->strip && parsed->tagged;
	struct function *fn = qp->fn;
	enum payload_result result;
	struct receive_wqe wqe;
	struct pieces pieces;
	struct tern_cqe cqe;

	if (!next_entry(qp, &wqe))
		return;
	if (!cut(&pieces, frame, strip) || pieces.length > wqe.length) {
		/* The entry stays for a frame that fits. */
		fn->port.rx_too_long++;
		return;
	}
	memset(&cqe, 0, sizeof(cqe));
	if (how->checksum)
		cqe.flags = verify(fn, frame, headers, parsed);
	result = payload_scatter(&qp->local, wqe.sges, wqe.sge_count, TERN_ACCESS_LOCAL_WRITE, 0,
				 pieces.segments, pieces.count);
	cqe.opcode = TERN_CQE_RECEIVE_ETHERNET;
	cqe.queue = to_le32(qp->qpn);
	cqe.index = to_le32(wqe.index);
	if (result != PAYLOAD_OK) {
		fn->port.rx_errors++;
		cqe.flags = 0;
		cqe.status = TERN_WC_LOCAL_PROTECTION;
	} else {
		cqe.byte_count = to_le32((uint32_t)pieces.length);
		memcpy(cqe.source_mac, headers + 6, sizeof(cqe.source_mac));
		cqe.hash = to_le32(how->hash);
		cqe.hash_type = how->hash_type;
		if (strip) {
			cqe.flags |= TERN_CQE_FLAG_VLAN;
			cqe.vlan_tci = to_le16(parsed->vlan_tci);
		}
	}
	qp->rq.completed = ++qp->rq.next;
	qp_trace(qp, "receive %u: %zu bytes, status %u", wqe.index, pieces.length, cqe.status);
	cq_post(qp->receive_cq, &cqe, false);
}

void ethernet_receive(struct function *fn, const struct tern_frame *frame, const uint8_t *headers,
		      const struct parsed_frame *parsed)
{
	uint32_t mode = fn->ethernet->receive_flags;
	struct delivery how = {
		.strip = mode & TERN_RECEIVE_VLAN_STRIP,
		.checksum = mode & TERN_RECEIVE_CHECKSUM,
	};
	struct qp *qp = rss_choose(fn->ethernet, headers, parsed, &how.hash, &how.hash_type);

	if (qp)
		deliver(qp, frame, headers, parsed, &how);
	else
		fn->port.rx_no_buffer++;
}

void ethernet_deliver(struct qp *qp, const struct tern_frame *frame, const uint8_t *headers,
		      const struct parsed_frame *parsed)
{
	struct delivery how = { .hash = 0 };

	if (qp->type == TERN_QP_HASHING) {
		struct qp *chosen = hashing_choose(qp, headers, parsed, &how.hash,
						   &how.hash_type);

		if (!chosen) {
			qp->fn->port.rx_no_buffer++;
			return;
		}
		qp = chosen;
	}
	how.strip = qp->flags & TERN_QP_VLAN_STRIP;
	deliver(qp, frame, headers, parsed, &how);
}
