// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: UC queue pairs: data, gaps, what is dropped, errors; and a peer that is played. */
#include <endian.h>

#include "host_peer.h"
#include "tern_test.h"

#define PSN		0xfffffd	/* it wraps soon */
#define MTU		256

static struct rdma_pair pair;
static struct peer peer;
static uint8_t data[4 * MTU];

static uint8_t state_of(struct rdma_side *side)
{
	struct tern_qp_status status;

	rdma_qp_status(side, &status);
	return status.state;
}

static void create(struct rdma_options options)
{
	options.type = TERN_QP_UC;
	options.sq_psn = PSN;
	options.rq_psn = PSN;
	rdma_pair_create(&pair, &options);
}

static void expect(struct driver_cq *cq, uint8_t opcode, uint8_t status, uint32_t index,
		   uint32_t bytes)
{
	struct tern_cqe cqe;

	rdma_wait(&pair, cq, &cqe);
	CHECK_EQ(cqe.opcode, opcode);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.index), index);
	if (!status)
		CHECK_EQ(le32toh(cqe.byte_count), bytes);
}

static void transfer(uint8_t opcode, uint32_t length)
{
	bool immediate = opcode == TERN_WQE_SEND_IMMEDIATE || opcode == TERN_WQE_WRITE_IMMEDIATE;
	bool write = opcode == TERN_WQE_WRITE || opcode == TERN_WQE_WRITE_IMMEDIATE;
	struct rdma_request request = {
		.opcode = opcode, .length = length, .immediate = 0x12345678,
		.remote_address = pair.b.buffer + (1 << 19),
	};
	uint32_t receive = 0, sent;
	struct tern_cqe cqe;

	rdma_fill(rdma_memory(&pair.a, 0), length, length + opcode);
	memset(rdma_memory(&pair.b, (1 << 19) - 64), 0xa5, length + 128);
	if (!write || immediate)
		receive = rdma_post_receive(&pair.b, 1 << 19, length);
	sent = rdma_post(&pair, &pair.a, &request);
	expect(&pair.a.send_cq, opcode, TERN_WC_SUCCESS, sent, 0);
	if (!write || immediate) {
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		CHECK_EQ(cqe.opcode, write ? TERN_CQE_RECEIVE_WRITE_IMMEDIATE : immediate ?
				     TERN_CQE_RECEIVE_IMMEDIATE : TERN_CQE_RECEIVE);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(le32toh(cqe.index), receive);
		CHECK_EQ(le32toh(cqe.byte_count), length);
		if (immediate)
			CHECK_MEM(cqe.immediate, "\x12\x34\x56\x78", 4);
	}
	world_settle(pair.world);
	CHECK_MEM(rdma_memory(&pair.b, 1 << 19), rdma_memory(&pair.a, 0), length);
	CHECK_EQ(rdma_memory(&pair.b, (1 << 19) - 1)[0], 0xa5);
	CHECK_EQ(rdma_memory(&pair.b, (1 << 19) + length)[0], 0xa5);
	CHECK(rdma_none(&pair.b.receive_cq));
}

static void all_transfers(struct rdma_options options)
{
	static const uint32_t lengths[] = { 0, 1, 255, 256, 257, 4096, 4097, 100001 };
	static const uint8_t opcodes[] = {
		TERN_WQE_SEND, TERN_WQE_SEND_IMMEDIATE, TERN_WQE_WRITE, TERN_WQE_WRITE_IMMEDIATE,
	};

	for (options.path_mtu = 1; options.path_mtu <= 5; options.path_mtu += 2) {
		create(options);
		for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
			for (size_t o = 0; o < sizeof(opcodes); o++)
				transfer(opcodes[o], lengths[i]);
		}
		CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
		CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
		CHECK_EQ(rdma_counter(&pair.b, "out_of_sequence"), 0);
		CHECK_EQ(rdma_counter(&pair.b, "rx_ud_dropped"), 0);
		CHECK_EQ(rdma_counter(&pair.b, "rx_write_requests"),
			 2 * sizeof(lengths) / sizeof(*lengths));
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(data_is_exact)
{
	all_transfers((struct rdma_options){ .network = RDMA_V2_IPV4 });
	all_transfers((struct rdma_options){ .network = RDMA_V2_IPV6, .no_shortcuts = true });
	all_transfers((struct rdma_options){ .loopback = true });
}

#define COUNT		200
#define SLOT		2048

/*
 * On a wire that loses and reorders: every send completes; of what arrives each
 * message is whole, it is one that was sent, and none comes before an older one.
 */
TERN_TEST(messages_are_whole_or_not_there)
{
	for (uint32_t seed = 1; seed <= 4; seed++) {
		static const enum tern_misbehaviour kinds[] = { TERN_WIRE_DROP, TERN_WIRE_REORDER };
		uint32_t next = 0, arrived = 0;
		struct rdma_options options = {
			.seed = seed, .path_mtu = 1, .latency_ns = 2000, .no_shortcuts = seed & 1,
		};
		struct tern_cqe cqe;

		create(options);
		for (unsigned int i = 0; i < 2; i++) {
			struct tern_wire_rule rule = {
				.what = kinds[i], .opcode = -1, .probability = 0.03,
			};

			CHECK(tern_nic_add_wire_rule(pair.a.machine->nic, &rule) >= 0);
		}
		for (uint32_t i = 0; i < COUNT; i++)
			rdma_post_receive(&pair.b, i * SLOT, 1500);
		for (uint32_t i = 0; i < COUNT; i++) {
			struct rdma_request request = {
				.opcode = TERN_WQE_SEND_IMMEDIATE, .immediate = i,
				.address = pair.a.buffer + i * SLOT, .length = 1 + i * 7,
			};

			rdma_fill(rdma_memory(&pair.a, i * SLOT), request.length, i);
			rdma_post(&pair, &pair.a, &request);
		}
		for (uint32_t i = 0; i < COUNT; i++) {
			rdma_wait(&pair, &pair.a.send_cq, &cqe);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		}
		world_advance(pair.world, 1000000);
		while (driver_cq_poll(&pair.b.receive_cq, &cqe)) {
			uint32_t immediate;

			memcpy(&immediate, cqe.immediate, 4);
			immediate = be32toh(immediate);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
			/* Messages of one packet may change places on the wire, longer ones not. */
			CHECK(immediate < COUNT);
			CHECK_EQ(le32toh(cqe.index), arrived);
			CHECK_EQ(le32toh(cqe.byte_count), 1 + immediate * 7);
			CHECK_MEM(rdma_memory(&pair.b, arrived * SLOT),
				  rdma_memory(&pair.a, immediate * SLOT), 1 + immediate * 7);
			if (immediate * 7 >= MTU)
				CHECK(immediate >= next);
			next = immediate;
			arrived++;
		}
		CHECK(arrived > COUNT / 3);
		CHECK(arrived < COUNT);
		CHECK(rdma_counter(&pair.b, "out_of_sequence") > 0);
		CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
		rdma_pair_destroy(&pair);
	}
}

/* What cannot be sent: the queue pair goes to SQE, the rest is flushed, and it can go on. */
static void local_error(const struct rdma_request *bad, uint8_t status)
{
	struct rdma_request good = { .opcode = TERN_WQE_SEND, .length = 1000 };
	struct tern_qp_attributes attributes;
	uint32_t index[3];

	create((struct rdma_options){ .path_mtu = 1 });
	rdma_post_receive(&pair.b, 0, 1000);
	rdma_post_receive(&pair.b, 4096, 1000);
	index[0] = rdma_post(&pair, &pair.a, &good);
	index[1] = rdma_post(&pair, &pair.a, bad);
	index[2] = rdma_post(&pair, &pair.a, &good);
	expect(&pair.a.send_cq, TERN_WQE_SEND, TERN_WC_SUCCESS, index[0], 0);
	expect(&pair.a.send_cq, bad->opcode, status, index[1], 0);
	expect(&pair.a.send_cq, TERN_WQE_SEND, TERN_WC_FLUSHED, index[2], 0);
	CHECK_EQ(state_of(&pair.a), TERN_QP_SQE);
	CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
	expect(&pair.b.receive_cq, TERN_CQE_RECEIVE, TERN_WC_SUCCESS, 0, 1000);
	/* Posted in SQE: flushed. Back in RTS it sends, and what arrives is no gap. */
	index[0] = rdma_post(&pair, &pair.a, &good);
	expect(&pair.a.send_cq, TERN_WQE_SEND, TERN_WC_FLUSHED, index[0], 0);
	memset(&attributes, 0, sizeof(attributes));
	pair.a.qp.state = TERN_QP_SQE;
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RTS, 0, &attributes), 0);
	rdma_fill(rdma_memory(&pair.a, 0), 1000, 3);
	index[0] = rdma_post(&pair, &pair.a, &good);
	expect(&pair.a.send_cq, TERN_WQE_SEND, TERN_WC_SUCCESS, index[0], 0);
	expect(&pair.b.receive_cq, TERN_CQE_RECEIVE, TERN_WC_SUCCESS, 1, 1000);
	CHECK_MEM(rdma_memory(&pair.b, 4096), rdma_memory(&pair.a, 0), 1000);
	CHECK_EQ(rdma_counter(&pair.b, "out_of_sequence"), 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(local_errors)
{
	static const uint8_t missing[] = { TERN_WQE_READ, TERN_WQE_CAS, TERN_WQE_FETCH_ADD,
					   TERN_WQE_ETHERNET };
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 8, .key = 0xabcdef01 };

	local_error(&request, TERN_WC_LOCAL_PROTECTION);
	request.opcode = TERN_WQE_WRITE;
	local_error(&request, TERN_WC_LOCAL_PROTECTION);
	for (size_t i = 0; i < sizeof(missing); i++)
		local_error(&(struct rdma_request){ .opcode = missing[i], .length = 8 },
			    TERN_WC_LOCAL_QP_OPERATION);
}

/* It fails with half of it on its way: the peer drops that, and takes what comes next. */
TERN_TEST(a_message_that_breaks_off)
{
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 8192 };
	struct tern_qp_attributes attributes = { 0 };

	create((struct rdma_options){ .path_mtu = 1 });
	host_set_pages(pair.a.machine, pair.a.buffer + 4096, 4096, HOST_PAGE_ABSENT);
	rdma_post_receive(&pair.b, 0, 8192);
	expect(&pair.a.send_cq, TERN_WQE_SEND, TERN_WC_LOCAL_PROTECTION,
	       rdma_post(&pair, &pair.a, &request), 0);
	CHECK_EQ(state_of(&pair.a), TERN_QP_SQE);
	CHECK(rdma_none(&pair.b.receive_cq));
	pair.a.qp.state = TERN_QP_SQE;
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RTS, 0, &attributes), 0);
	request.length = 3000;
	rdma_fill(rdma_memory(&pair.a, 0), 3000, 8);
	expect(&pair.a.send_cq, TERN_WQE_SEND, TERN_WC_SUCCESS,
	       rdma_post(&pair, &pair.a, &request), 0);
	expect(&pair.b.receive_cq, TERN_CQE_RECEIVE, TERN_WC_SUCCESS, 0, 3000);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 3000);
	rdma_pair_destroy(&pair);
}

TERN_TEST(feature_that_was_not_taken)
{
	struct tern_command_create_qp body = { .type = TERN_QP_UC, .rq_stride_shift = 6 };
	struct rdma_options options = { .without_features = UINT64_C(1) << TERN_FEATURE_UC };

	rdma_pair_create(&pair, &options);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_CREATE_QP, 99, &body, sizeof(body)),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	rdma_pair_destroy(&pair);
}

/* From here on the peer is played. */

static void play(void)
{
	create((struct rdma_options){ .path_mtu = 1 });
	peer_start(&peer, &pair);
	rdma_fill(data, sizeof(data), 77);
}

static void stop(void)
{
	/* Whatever came: nothing is ever answered. */
	CHECK(!peer_next(&peer));
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

/* Packet @number of a message of @total bytes at a's buffer; its payload stands at its place. */
static void packet(uint8_t opcode, uint32_t number, size_t offset, size_t length, uint32_t total)
{
	struct wire_headers headers = peer_headers(&peer, WIRE_SERVICE_UC | opcode, PSN + number);

	headers.reth.length = total;
	peer_send(&peer, &headers, data + offset, length);
}

static void expect_receive(uint32_t index, uint32_t bytes)
{
	expect(&pair.a.receive_cq, TERN_CQE_RECEIVE, TERN_WC_SUCCESS, index, bytes);
}

TERN_TEST(packets_of_a_message)
{
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .length = 600 };

	play();
	rdma_post(&pair, &pair.a, &request);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK(peer_next(&peer));
		CHECK_EQ(peer.packet.headers.opcode, 0x26 + i);
		CHECK_EQ(peer.packet.headers.psn, (PSN + i) & WIRE_PSN_MASK);
		CHECK(!peer.packet.headers.ack_request);
		CHECK_EQ(peer.packet.payload_length, i < 2 ? MTU : 88);
	}
	expect(&pair.a.send_cq, TERN_WQE_WRITE, TERN_WC_SUCCESS, 0, 0);
	stop();
}

/* Of a SEND a packet is missing: its receive is the next message's. */
TERN_TEST(gap_in_a_send)
{
	play();
	rdma_post_receive(&pair.a, 0, 3 * MTU);
	rdma_post_receive(&pair.a, 4096, 3 * MTU);
	packet(WIRE_RC_SEND_FIRST, 0, 0, MTU, 0);
	packet(WIRE_RC_SEND_LAST, 2, MTU, 10, 0);
	packet(WIRE_RC_SEND_MIDDLE, 3, MTU, MTU, 0);
	packet(WIRE_RC_SEND_LAST, 4, MTU, 10, 0);
	CHECK(rdma_none(&pair.a.receive_cq));
	CHECK_EQ(rdma_counter(&pair.a, "out_of_sequence"), 1);
	packet(WIRE_RC_SEND_FIRST, 5, 0, MTU, 0);
	packet(WIRE_RC_SEND_LAST, 6, MTU, 10, 0);
	expect_receive(0, MTU + 10);
	CHECK_MEM(rdma_memory(&pair.a, 0), data, MTU + 10);
	/* One that begins behind a gap is taken; so is one with an old PSN. */
	packet(WIRE_RC_SEND_ONLY, 20, 0, 4, 0);
	expect_receive(1, 4);
	rdma_post_receive(&pair.a, 0, 100);
	packet(WIRE_RC_SEND_ONLY, 3, 0, 5, 0);
	expect_receive(2, 5);
	CHECK_EQ(rdma_counter(&pair.a, "out_of_sequence"), 3);
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

/* In sequence, but not what may follow. */
TERN_TEST(packets_out_of_place)
{
	play();
	memset(rdma_memory(&pair.a, 0), 0, 1024);
	rdma_post_receive(&pair.a, 4096, 3 * MTU);
	/* The end of what never began. */
	packet(WIRE_RC_SEND_LAST, 0, 0, 10, 0);
	packet(WIRE_RC_WRITE_MIDDLE, 1, 0, MTU, 0);
	/* A SEND whose end is a WRITE's; then its own end comes too late. */
	packet(WIRE_RC_SEND_FIRST, 2, 0, MTU, 0);
	packet(WIRE_RC_WRITE_LAST, 3, 0, 10, 0);
	packet(WIRE_RC_SEND_LAST, 4, 0, 10, 0);
	/* A SEND inside a WRITE: the WRITE ends there. */
	packet(WIRE_RC_WRITE_FIRST, 5, 0, MTU, 2 * MTU);
	packet(WIRE_RC_SEND_ONLY, 6, 0, 10, 0);
	expect_receive(0, 10);
	packet(WIRE_RC_WRITE_LAST, 7, MTU, MTU, 0);
	CHECK_EQ(rdma_memory(&pair.a, MTU)[0], 0);
	/* A first packet that is short; a last one that is empty or too long. */
	packet(WIRE_RC_WRITE_FIRST, 8, 0, MTU - 1, 2 * MTU);
	packet(WIRE_RC_WRITE_LAST, 9, MTU, MTU, 0);
	packet(WIRE_RC_WRITE_FIRST, 10, 0, MTU, MTU);
	packet(WIRE_RC_WRITE_LAST, 11, MTU, 0, 0);
	packet(WIRE_RC_WRITE_FIRST, 12, 0, MTU, 2 * MTU + 2);
	packet(WIRE_RC_WRITE_LAST, 13, MTU, MTU + 2, 0);
	/* Longer or shorter than it said. */
	packet(WIRE_RC_WRITE_ONLY, 14, 0, 20, 19);
	packet(WIRE_RC_WRITE_ONLY, 15, 0, 20, 21);
	for (unsigned int i = MTU; i < 2 * MTU; i++)
		CHECK_EQ(rdma_memory(&pair.a, i)[0], 0);
	CHECK_EQ(rdma_counter(&pair.a, "out_of_sequence"), 0);
	packet(WIRE_RC_WRITE_ONLY, 16, 0, 20, 20);
	CHECK_MEM(rdma_memory(&pair.a, 0), data, 20);
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

/* No receive, or too short a one: dropped, and the receive stays. */
TERN_TEST(receives_that_are_missing_or_short)
{
	struct wire_headers headers;
	uint32_t immediate = htobe32(0xaabbccdd);
	struct tern_cqe cqe;

	play();
	packet(WIRE_RC_SEND_ONLY, 0, 0, 4, 0);
	CHECK_EQ(rdma_counter(&pair.a, "rx_ud_dropped"), 1);
	rdma_post_receive(&pair.a, 4096, MTU + 9);
	packet(WIRE_RC_SEND_FIRST, 1, 0, MTU, 0);
	packet(WIRE_RC_SEND_LAST, 2, MTU, 10, 0);
	CHECK_EQ(rdma_counter(&pair.a, "rx_ud_dropped"), 2);
	CHECK(rdma_none(&pair.a.receive_cq));
	/* What the dropped one had is now the immediate's. */
	headers = peer_headers(&peer, WIRE_SERVICE_UC | WIRE_RC_WRITE_ONLY_IMMEDIATE, PSN + 3);
	headers.reth.length = 30;
	memcpy(headers.immediate, &immediate, 4);
	headers.solicited = true;
	peer_send(&peer, &headers, data, 30);
	CHECK(driver_cq_poll(&pair.a.receive_cq, &cqe));
	CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE_WRITE_IMMEDIATE);
	CHECK_EQ(cqe.flags & TERN_CQE_FLAG_SOLICITED, TERN_CQE_FLAG_SOLICITED);
	CHECK_EQ(le32toh(cqe.index), 0);
	CHECK_EQ(le32toh(cqe.byte_count), 30);
	CHECK_MEM(rdma_memory(&pair.a, 0), data, 30);
	/* No receive for another. */
	headers.psn = (PSN + 4) & WIRE_PSN_MASK;
	peer_send(&peer, &headers, data, 30);
	CHECK_EQ(rdma_counter(&pair.a, "rx_ud_dropped"), 3);
	CHECK(rdma_none(&pair.a.receive_cq));
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

TERN_TEST(writes_that_are_not_allowed)
{
	struct tern_qp_attributes attributes = { 0 };
	struct wire_headers headers;
	uint32_t read_only, foreign;

	play();
	memset(rdma_memory(&pair.a, 0), 0, 4096);
	read_only = driver_key_create(pair.a.driver, pair.a.buffer, 4096, TERN_ACCESS_LOCAL_WRITE,
				      RDMA_PD);
	foreign = driver_key_create(pair.a.driver, pair.a.buffer, 4096, RDMA_ALL_ACCESS,
				    RDMA_PD + 1);
	headers = peer_headers(&peer, WIRE_SERVICE_UC | WIRE_RC_WRITE_ONLY, PSN);
	headers.reth.length = 8;
	for (unsigned int i = 0; i < 5; i++) {
		struct wire_headers bad = headers;

		bad.psn = (PSN + i) & WIRE_PSN_MASK;
		switch (i) {
		case 0:
			bad.reth.key ^= 1;
			break;
		case 1:
			bad.reth.key = read_only;
			break;
		case 2:
			bad.reth.key = foreign;
			break;
		case 3:
			bad.reth.address = pair.a.buffer + pair.a.buffer_bytes - 7;
			break;
		default:
			bad.reth.address = UINT64_MAX - 3;
			break;
		}
		peer_send(&peer, &bad, data, 8);
		CHECK_EQ(rdma_counter(&pair.a, "resp_remote_access_errors"), i + 1);
	}
	/* The rest of a message whose beginning was refused is not written either. */
	headers.opcode = WIRE_SERVICE_UC | WIRE_RC_WRITE_FIRST;
	headers.psn = (PSN + 5) & WIRE_PSN_MASK;
	headers.reth.length = 1 << 21;
	peer_send(&peer, &headers, data, MTU);
	packet(WIRE_RC_WRITE_MIDDLE, 6, 0, MTU, 0);
	CHECK_EQ(rdma_counter(&pair.a, "resp_remote_access_errors"), 6);
	/* The queue pair does not allow it. */
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RTS, TERN_QP_SET_ACCESS, &attributes), 0);
	packet(WIRE_RC_WRITE_ONLY, 7, 0, 8, 8);
	for (unsigned int i = 0; i < 4096; i++)
		CHECK_EQ(rdma_memory(&pair.a, i)[0], 0);
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

/* A receive that may not be written is this side's own fault. */
TERN_TEST(receive_with_a_bad_key)
{
	struct tern_sge sge = { .length = htole32(100) };

	play();
	sge.address = htole64(pair.a.buffer);
	sge.key = htole32(pair.a.key ^ 1);
	driver_post_receive(&pair.a.qp, &sge, 1);
	rdma_post_receive(&pair.a, 0, 100);
	packet(WIRE_RC_SEND_ONLY, 0, 0, 10, 0);
	expect(&pair.a.receive_cq, TERN_CQE_RECEIVE, TERN_WC_LOCAL_PROTECTION, 0, 0);
	expect(&pair.a.receive_cq, TERN_CQE_RECEIVE, TERN_WC_FLUSHED, 1, 0);
	CHECK(rdma_none(&pair.a.receive_cq));
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	stop();
}

/* A receive that a message holds is flushed with the others, in order. */
TERN_TEST(a_receive_in_use_is_flushed)
{
	play();
	rdma_post_receive(&pair.a, 0, 2 * MTU);
	rdma_post_receive(&pair.a, 0, 2 * MTU);
	packet(WIRE_RC_SEND_FIRST, 0, 0, MTU, 0);
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
	expect(&pair.a.receive_cq, TERN_CQE_RECEIVE, TERN_WC_FLUSHED, 0, 0);
	expect(&pair.a.receive_cq, TERN_CQE_RECEIVE, TERN_WC_FLUSHED, 1, 0);
	CHECK(rdma_none(&pair.a.receive_cq));
	stop();
}

/* RC's packets are not UC's, and what UC does not have is not known at all. */
TERN_TEST(packets_of_another_service)
{
	struct wire_headers headers;

	play();
	rdma_post_receive(&pair.a, 0, 100);
	headers = peer_headers(&peer, WIRE_RC_SEND_ONLY, PSN);
	peer_send(&peer, &headers, data, 10);
	CHECK_EQ(rdma_counter(&pair.a, "rx_malformed"), 1);
	headers = peer_headers(&peer, WIRE_RC_ACKNOWLEDGE, PSN);
	peer_send(&peer, &headers, NULL, 0);
	CHECK_EQ(rdma_counter(&pair.a, "rx_malformed"), 2);
	CHECK(rdma_none(&pair.a.receive_cq));
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}
