// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: Ethernet send requests become frames.
 *
 * The first bytes of a frame are copied, for they are looked at and changed;
 * the payload is passed by reference. A request that is wrong completes with
 * an error and is counted, and the queue goes on with the next one.
 */
#include <string.h>

#include "byteorder.h"
#include "checksum.h"
#include "ethernet.h"
#include "ingress.h"
#include "mac.h"
#include "nic.h"
#include "parse.h"
#include "payload.h"
#include "qp.h"

/* So many first bytes are copied, or more when the checksum is stored further in. */
#define COPIED_BYTES		128

#define ETHERNET_FLAGS								\
	(TERN_WQE_ETHERNET_CHECKSUM | TERN_WQE_ETHERNET_TSO | TERN_WQE_ETHERNET_VLAN)

static uint8_t status_of(enum payload_result result)
{
	return result == PAYLOAD_OK ? TERN_WC_SUCCESS : TERN_WC_LOCAL_PROTECTION;
}

static void complete(struct ethernet_queue *queue, uint8_t status)
{
	struct work_queue *sq = &queue->qp->sq;
	const struct send_wqe *wqe = &queue->wqe;
	struct tern_cqe cqe = {
		.opcode = wqe->opcode & (uint8_t)~TERN_CQE_RECEIVER,
		.status = status,
		.queue = to_le32(queue->qp->qpn),
		.index = to_le32(wqe->index),
	};

	work_queue_take(sq, wqe->blocks);
	sq->completed = sq->next;
	queue->segmenting = false;
	if (status) {
		queue->qp->fn->port.tx_errors++;
		qp_trace(queue->qp, "send %u: error %u", wqe->index, status);
	}
	if (status || (wqe->flags & TERN_WQE_SIGNALED))
		cq_post(queue->qp->send_cq, &cqe, false);
}

/* @length bytes at @offset of the request's data, wherever they are. */
static enum payload_result gather(struct ethernet_queue *queue, struct payload *payload,
				  size_t offset, size_t length)
{
	const struct send_wqe *wqe = &queue->wqe;

	if (wqe->inline_data) {
		payload->fn = queue->qp->fn;
		payload->segments[0].base = wqe->inline_data + offset;
		payload->segments[0].length = length;
		payload->count = length ? 1 : 0;
		payload->mapped = 0;
		payload->length = length;
		return PAYLOAD_OK;
	}
	return payload_gather(payload, &queue->qp->local, wqe->sges, wqe->sge_count, 0, offset,
			      length);
}

static enum payload_result copy_out(struct ethernet_queue *queue, uint8_t *to, size_t length)
{
	struct payload payload;
	enum payload_result result = gather(queue, &payload, 0, length);

	if (result != PAYLOAD_OK)
		return result;
	for (unsigned int i = 0; i < payload.count; i++) {
		memcpy(to, payload.segments[i].base, payload.segments[i].length);
		to += payload.segments[i].length;
	}
	payload_release(&payload);
	return PAYLOAD_OK;
}

static void sum_payload(struct checksum *checksum, const struct payload *payload)
{
	for (unsigned int i = 0; i < payload->count; i++)
		checksum_add(checksum, payload->segments[i].base, payload->segments[i].length);
}

/*
 * Make of @header (with VLAN_TAG bytes of room in front of it) that of @frame,
 * with tag and priority. The tag goes behind the addresses, which move into the
 * room; what is behind the tag stays. False: it is not its turn.
 */
static bool begin_frame(struct ethernet_queue *queue, struct tern_frame *frame, uint8_t *header,
			size_t header_length)
{
	const struct tern_wqe_ethernet *segment = queue->wqe.ethernet;
	struct tern_nic *nic = queue->qp->fn->nic;
	const struct priority_map *map = &nic->priorities.map;

	if (from_le16(segment->flags) & TERN_WQE_ETHERNET_VLAN) {
		uint16_t tci = from_le16(segment->vlan_tci);

		header -= VLAN_TAG;
		header_length += VLAN_TAG;
		memmove(header, header + VLAN_TAG, 12);
		header[12] = ETHERTYPE_VLAN >> 8;
		header[13] = ETHERTYPE_VLAN & 0xff;
		header[14] = (uint8_t)(tci >> 8);
		header[15] = (uint8_t)tci;
	}
	*frame = (struct tern_frame){ .header = header, .header_length = header_length };
	frame->priority = priority_map_classify(map, header, header_length);
	if (!egress_admits(nic, &queue->source, frame->priority, header))
		return false;
	priority_map_rewrite(map, frame->priority, header, header_length);
	return true;
}

static void send_frame(struct ethernet_queue *queue, struct tern_frame *frame,
		       const struct payload *payload)
{
	struct function *fn = queue->qp->fn;

	frame->payload = payload->segments;
	frame->payload_count = payload->count;
	frame->payload_length = payload->length;
	if (queue->qp->flags & TERN_QP_FLOW_LOOPBACK)
		ingress_loopback_flows(fn, frame);
	mac_send(fn->nic, fn, frame);
}

/* Bytes in front of what the MTU counts. */
static size_t link_header(const uint8_t *frame, size_t length)
{
	if (length >= ETHERNET_HEADER + VLAN_TAG && parse_u16(frame + 12) == ETHERTYPE_VLAN)
		return ETHERNET_HEADER + VLAN_TAG;
	return ETHERNET_HEADER;
}

/* Next segment of a TSO request; its last one completes it. False: it is not its turn. */
static bool send_segment(struct ethernet_queue *queue)
{
	uint8_t header[VLAN_TAG + TSO_HEADER_MAX];
	struct tso *tso = &queue->tso;
	struct checksum sum = { 0 };
	struct payload payload;
	struct tern_frame frame;
	enum payload_result result;

	/* Its turn is the same whatever tso_next() changes. */
	memcpy(header + VLAN_TAG, tso->header, tso->header_length);
	if (!begin_frame(queue, &frame, header + VLAN_TAG, tso->header_length))
		return false;
	result = gather(queue, &payload, (size_t)tso->header_length + tso->offset,
			tso_next_length(tso));
	if (result != PAYLOAD_OK) {
		complete(queue, status_of(result));
		return true;
	}
	sum_payload(&sum, &payload);
	tso_next(tso, &sum);
	memcpy(header + VLAN_TAG, tso->header, tso->header_length);
	begin_frame(queue, &frame, header + VLAN_TAG, tso->header_length);
	send_frame(queue, &frame, &payload);
	payload_release(&payload);
	if (!tso_next_length(tso))
		complete(queue, TERN_WC_SUCCESS);
	return true;
}

/* Returns TERN_WC_*; on success queue->tso is ready to send the first segment. */
static uint8_t begin_tso(struct ethernet_queue *queue)
{
	const struct tern_wqe_ethernet *segment = queue->wqe.ethernet;
	const struct function *fn = queue->qp->fn;
	size_t length = (size_t)queue->wqe.length, l3_offset = from_le16(segment->l3_offset);
	size_t header_length = from_le16(segment->header_length), mss = from_le16(segment->mss);
	uint8_t header[TSO_HEADER_MAX];
	enum payload_result result;

	if (header_length > sizeof(header) || header_length >= length)
		return TERN_WC_LOCAL_QP_OPERATION;
	if (length - header_length > TSO_BYTES_MAX ||
	    header_length + mss > l3_offset + fn->ethernet->mtu)
		return TERN_WC_LOCAL_LENGTH;
	result = copy_out(queue, header, header_length);
	if (result != PAYLOAD_OK)
		return status_of(result);
	/* An l3_offset that lies about the MTU is not the Ethernet header's end. */
	if (l3_offset != link_header(header, header_length) ||
	    !tso_begin(&queue->tso, header, header_length, l3_offset, (unsigned int)mss,
		       length - header_length))
		return TERN_WC_LOCAL_QP_OPERATION;
	queue->segmenting = true;
	return TERN_WC_SUCCESS;
}

/* Returns TERN_WC_*; with *held it is not its turn, and nothing was done. */
static uint8_t send_plain(struct ethernet_queue *queue, bool *held)
{
	const struct tern_wqe_ethernet *segment = queue->wqe.ethernet;
	size_t length = (size_t)queue->wqe.length, copied, start = 0, place = 0;
	bool sum = from_le16(segment->flags) & TERN_WQE_ETHERNET_CHECKSUM;
	uint8_t buffer[VLAN_TAG + FRAME_BYTES_MAX], *header = buffer + VLAN_TAG;
	uint32_t mtu = queue->qp->fn->ethernet->mtu;
	enum payload_result result;
	struct tern_frame frame;
	struct payload payload;

	if (length < ETHERNET_HEADER || length > mtu + ETHERNET_HEADER + VLAN_TAG)
		return TERN_WC_LOCAL_LENGTH;
	copied = length < COPIED_BYTES ? length : COPIED_BYTES;
	if (sum) {
		start = from_le16(segment->checksum_start);
		place = start + from_le16(segment->checksum_offset);
		if (start < ETHERNET_HEADER || place + 2 > length)
			return TERN_WC_LOCAL_QP_OPERATION;
		if (copied < place + 2)
			copied = place + 2;
	}
	result = copy_out(queue, header, copied);
	if (result != PAYLOAD_OK)
		return status_of(result);
	if (length - link_header(header, copied) > mtu)
		return TERN_WC_LOCAL_LENGTH;
	if (!begin_frame(queue, &frame, header, copied)) {
		*held = true;
		return TERN_WC_SUCCESS;
	}
	result = gather(queue, &payload, copied, length - copied);
	if (result != PAYLOAD_OK)
		return status_of(result);
	if (sum) {
		struct checksum checksum = { 0 };
		uint16_t value;

		/* The field holds the pseudo-header's sum already. */
		checksum_add(&checksum, header + start, copied - start);
		sum_payload(&checksum, &payload);
		value = CHECKSUM_UDP(checksum_finish(&checksum));
		memcpy(header + place, &value, sizeof(value));
	}
	send_frame(queue, &frame, &payload);
	payload_release(&payload);
	return TERN_WC_SUCCESS;
}

static bool flags_allowed(const struct function *fn, const struct tern_wqe_ethernet *segment)
{
	uint16_t flags = from_le16(segment->flags), allowed = ETHERNET_FLAGS;

	if (!function_has(fn, FEATURE(CHECKSUM)))
		allowed &= (uint16_t)~TERN_WQE_ETHERNET_CHECKSUM;
	if (!function_has(fn, FEATURE(TSO)))
		allowed &= (uint16_t)~TERN_WQE_ETHERNET_TSO;
	if (!function_has(fn, FEATURE(VLAN_OFFLOAD)))
		allowed &= (uint16_t)~TERN_WQE_ETHERNET_VLAN;
	return !(flags & ~allowed) && !segment->reserved0;
}

/*
 * Take the request at the head of the queue; one that was sent whole, or is wrong,
 * completes. False: it is not its turn.
 */
static bool begin_request(struct ethernet_queue *queue)
{
	struct qp *qp = queue->qp;
	struct send_wqe *wqe = &queue->wqe;
	bool held = false;
	uint8_t status;

	switch (send_wqe_fetch(&qp->sq, qp->sq.next, wqe)) {
	case WQE_OK:
		break;
	case WQE_MALFORMED:
		complete(queue, TERN_WC_LOCAL_QP_OPERATION);
		return true;
	case WQE_FAULT:
		qp->ops->fail(qp, TERN_EVENT_QP_FATAL);
		return true;
	}
	if (wqe->opcode == TERN_WQE_NOP) {
		complete(queue, TERN_WC_SUCCESS);
		return true;
	}
	if (!flags_allowed(qp->fn, wqe->ethernet))
		status = TERN_WC_LOCAL_QP_OPERATION;
	else if (from_le16(wqe->ethernet->flags) & TERN_WQE_ETHERNET_TSO)
		status = begin_tso(queue);
	else
		status = send_plain(queue, &held);
	if (held)
		return false;
	if (!queue->segmenting)
		complete(queue, status);
	return true;
}

bool ethernet_send(struct egress_source *source)
{
	struct ethernet_queue *queue = container_of(source, struct ethernet_queue, source);
	struct qp *qp = queue->qp;
	struct tern_nic *nic = qp->fn->nic;

	for (unsigned int i = 0; i < EGRESS_BURST; i++) {
		/* Its memory is out of reach: work_queue_enabled() or a reset goes on. */
		if (!qp->fn->bus_master || !qp->fn->enabled)
			return false;
		if (qp->state == TERN_QP_ERROR)
			return ethernet_flush(queue);
		if (qp->state != TERN_QP_RTS)
			return false;
		if (!queue->segmenting && !work_queue_posted(&qp->sq))
			return false;
		if (!egress_ready(nic, source))
			return true;
		if (!queue->segmenting && !begin_request(queue))
			return true;
		if (queue->segmenting && !send_segment(queue))
			return true;
	}
	return true;
}
