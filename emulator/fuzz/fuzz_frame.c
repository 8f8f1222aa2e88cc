// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: fuzzes RoCE from the wire: packets that are nearly right, and bytes
 * that are not, to queue pairs of each type and state, while these have work
 * requests of their own on their way.
 */
#include <stdlib.h>
#include <string.h>

#include "host_peer.h"
#include "icrc.h"

#define STEPS_MAX	200
#define BUFFER_BYTES	65536
#define GUARD		0xc3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *input;
static size_t left;

static struct rdma_pair pair;
static struct driver_qp others[3];	/* UD in RTS, GSI in RTS, RC in ERROR */
static struct wire_path path;		/* from b to a */
static uint8_t bytes[16384];

static uint8_t byte(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static uint32_t word(void)
{
	uint32_t low = byte(), middle = byte();

	return low | middle << 8;
}

static void start(void)
{
	struct rdma_options options = {
		.path_mtu = 1, .buffer_bytes = BUFFER_BYTES, .timeout = 4, .retry_count = 2,
		.network = byte() % 3, .no_shortcuts = byte() & 1, .initiator_depth = 4,
		.responder_resources = 4, .sq_psn = 0xfffff0, .rq_psn = 0xfffffa,
	};
	struct wire_address address = {
		.network = options.network == RDMA_V1 ? WIRE_V1 :
			   options.network == RDMA_V2_IPV6 ? WIRE_V2_IPV6 : WIRE_V2_IPV4,
		.hop_limit = 64,
	};
	struct tern_qp_attributes attributes = { 0 };

	rdma_pair_create(&pair, &options);
	memset(rdma_memory(&pair.a, 0), GUARD, BUFFER_BYTES);
	/* What is behind the key's region is nobody's. */
	pair.a.key = driver_key_create(pair.a.driver, pair.a.buffer, BUFFER_BYTES / 2,
				       RDMA_ALL_ACCESS, RDMA_PD);
	for (unsigned int i = 0; i < 3; i++) {
		uint8_t type = i == 0 ? TERN_QP_UD : i == 1 ? TERN_QP_GSI : TERN_QP_RC;

		driver_qp_create(pair.a.driver, &others[i], type, i == 1 ? 1 : 0, RDMA_PD, 0,
				 &pair.a.send_cq, &pair.a.receive_cq, 4, 4, 7);
		driver_qp_modify(&others[i], TERN_QP_INIT, TERN_QP_SET_QKEY, &attributes);
		driver_qp_modify(&others[i], TERN_QP_RTR, 0, &attributes);
		driver_qp_modify(&others[i], i == 2 ? TERN_QP_ERROR : TERN_QP_RTS,
				 TERN_QP_SET_SQ_PSN, &attributes);
	}
	memcpy(address.destination_mac, pair.a.mac, 6);
	memcpy(address.source_mac, pair.b.mac, 6);
	memcpy(address.source_gid, pair.b.gid, 16);
	memcpy(address.destination_gid, pair.a.gid, 16);
	wire_path_build(&path, &address);
}

static uint32_t some_qpn(uint8_t kind)
{
	switch (kind & 15) {
	case 0:
		return others[0].qpn;
	case 1:
		return 1;
	case 2:
		return others[2].qpn;
	case 3:
		return 0xffffff;
	case 4:
		return 0;
	case 5:
		return word();
	default:
		return pair.a.qp.qpn;
	}
}

/* Near what a's queue pair expects, as responder or as requester. */
static uint32_t some_psn(uint8_t kind, bool request)
{
	struct tern_nic_qp_info info;
	uint32_t near = 0;

	if (tern_nic_next_qp(pair.a.machine->nic, 0, pair.a.qp.qpn, &info))
		near = request ? info.expected_psn : info.acked_psn;
	switch (kind & 7) {
	case 0:
		return word() << 8 | byte();
	case 1:
		return near + byte();
	case 2:
		return near - byte();
	default:
		return near;
	}
}

static void some_headers(struct wire_headers *headers)
{
	static const uint8_t likely[] = {
		WIRE_RC_SEND_FIRST, WIRE_RC_SEND_MIDDLE, WIRE_RC_SEND_LAST, WIRE_RC_SEND_ONLY,
		WIRE_RC_SEND_LAST_IMMEDIATE, WIRE_RC_WRITE_FIRST, WIRE_RC_WRITE_MIDDLE,
		WIRE_RC_WRITE_LAST, WIRE_RC_WRITE_ONLY, WIRE_RC_WRITE_ONLY_IMMEDIATE,
		WIRE_RC_READ_REQUEST, WIRE_RC_READ_RESPONSE_FIRST, WIRE_RC_READ_RESPONSE_MIDDLE,
		WIRE_RC_READ_RESPONSE_LAST, WIRE_RC_READ_RESPONSE_ONLY, WIRE_RC_ACKNOWLEDGE,
		WIRE_RC_ACKNOWLEDGE, WIRE_UD_SEND_ONLY, WIRE_UD_SEND_ONLY_IMMEDIATE,
	};
	uint8_t kind = byte(), opcode = byte();
	const struct wire_opcode *known;

	memset(headers, 0, sizeof(*headers));
	headers->opcode = kind & 0xf0 ? likely[opcode % sizeof(likely)] : opcode;
	known = wire_opcode(headers->opcode);
	headers->destination_qpn = some_qpn(kind);
	headers->psn = some_psn(byte(), known && (known->flags & WIRE_REQUEST));
	headers->pkey = byte() ? 0xffff : (uint16_t)word();
	headers->solicited = opcode & 1;
	headers->ack_request = opcode & 2;
	headers->reth.key = byte() & 15 ? pair.a.key : word() << 8;
	headers->reth.address = pair.a.buffer + word();
	if (!(byte() & 15))
		headers->reth.address = UINT64_MAX - byte();
	headers->reth.length = byte() & 15 ? word() % 2048 : word() << 16;
	headers->aeth.syndrome = byte();
	headers->deth.qkey = byte() & 7 ? RDMA_QKEY : word();
	headers->deth.source_qpn = word();
}

/* In memory that ends where the frame ends. */
static void deliver(const uint8_t *from, size_t length)
{
	uint8_t *exact = malloc(length ? length : 1);
	struct tern_frame frame;

	if (!exact)
		abort();
	memcpy(exact, from, length);
	tern_frame_wrap(&frame, exact, length);
	host_receive(pair.a.machine, &frame);
	free(exact);
}

static void packet(void)
{
	static uint8_t payload[4352];
	struct wire_headers headers;
	uint8_t header[WIRE_HEADER_BYTES_MAX], kind = byte();
	struct tern_segment pieces[3];
	struct tern_frame frame = { .header = header, .payload = pieces, .icrc_pending = true };
	size_t length, changed;

	some_headers(&headers);
	if (!wire_opcode(headers.opcode)) {
		uint8_t opcode = headers.opcode;

		headers.opcode = WIRE_RC_SEND_ONLY;
		frame.header_length = wire_build(header, &path, &headers, 0, 1);
		header[path.length] = opcode;
		length = byte() % 128;
	} else {
		length = kind & 1 ? 256 : kind & 2 ? word() % sizeof(payload) : byte() % 260;
		if (!(wire_opcode(headers.opcode)->flags & WIRE_PAYLOAD))
			length = kind & 4 ? 0 : length & 15;
		frame.header_length = wire_build(header, &path, &headers, length, 1);
	}
	memset(payload, kind, length);
	pieces[0] = (struct tern_segment){ payload, length / 3 };
	pieces[1] = (struct tern_segment){ payload + length / 3, 0 };
	pieces[2] = (struct tern_segment){ payload + length / 3, length - length / 3 };
	frame.payload_count = length ? 3 : 0;
	frame.payload_length = length;
	frame.trailer_length = (uint8_t)(headers.pad + WIRE_ICRC_BYTES);
	if (kind & 8) {
		/* By reference, as from a NIC of this process. */
		host_receive(pair.a.machine, &frame);
		return;
	}
	length = tern_frame_flatten(&frame, bytes, sizeof(bytes));
	/* A changed byte or a cut, and an ICRC that is right all the same. */
	if (kind & 16) {
		struct wire_packet parsed;

		changed = 12 + byte() % (length - 12);
		bytes[changed] ^= byte();
		tern_frame_wrap(&frame, bytes, length);
		if (wire_parse_network(&parsed, &frame) == WIRE_OK &&
		    wire_parse_transport(&parsed, &frame) == WIRE_OK)
			icrc_store(bytes + (parsed.icrc - bytes),
				   icrc_compute(parsed.network, parsed.l3, parsed.l3_length,
						parsed.payload, parsed.payload_count,
						parsed.pad, parsed.headers.pad));
	}
	if (kind & 32)
		length = byte() % length;
	deliver(bytes, length);
}

static void noise(void)
{
	size_t length = byte();

	for (size_t i = 0; i < length; i++)
		bytes[i] = byte();
	if (length >= 14)
		memcpy(bytes, path.bytes, byte() % 15);
	deliver(bytes, length);
}

static void work(void)
{
	static const uint8_t opcodes[] = {
		TERN_WQE_SEND, TERN_WQE_WRITE, TERN_WQE_READ, TERN_WQE_WRITE_IMMEDIATE,
	};
	struct rdma_request request = {
		.opcode = opcodes[byte() & 3], .length = word() % 3000, .flags = byte() & 6,
	};

	request.address = pair.a.buffer + byte();
	if (pair.a.qp.sq_producer < 500)
		rdma_post(&pair, &pair.a, &request);
	if (pair.a.qp.rq_producer < 200)
		rdma_post_receive(&pair.a, byte(), word() % 2000);
	if (pair.b.qp.rq_producer < 200)
		rdma_post_receive(&pair.b, byte(), word() % 4000);
	if (others[0].rq_producer < 10) {
		struct tern_sge sge = { .address = pair.a.buffer, .length = word() % 600,
					.key = pair.a.key };

		driver_post_receive(&others[0], &sge, 1);
	}
}

static void check(void)
{
	const uint8_t *behind = rdma_memory(&pair.a, BUFFER_BYTES / 2);

	for (size_t i = 0; i < BUFFER_BYTES / 2; i++) {
		if (behind[i] != GUARD)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = data;
	left = size;
	start();
	for (unsigned int step = 0; left && step < STEPS_MAX; step++) {
		switch (byte() & 7) {
		case 0:
			noise();
			break;
		case 1:
			work();
			break;
		case 2:
			world_settle(pair.world);
			break;
		case 3:
			world_advance(pair.world, byte() * 1000);
			break;
		default:
			packet();
			break;
		}
	}
	world_advance(pair.world, 1000000);
	check();
	rdma_pair_destroy(&pair);
	return 0;
}
