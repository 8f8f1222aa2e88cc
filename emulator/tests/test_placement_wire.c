// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ATOMIC_WRITE and FLUSH on the wire, against a peer that is played. */
#include <endian.h>

#include "host_peer.h"
#include "tern_test.h"

#define ACK		(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED)
#define NAK(code)	(WIRE_AETH_NAK | WIRE_NAK_##code)
#define PSN		0xfffffd	/* of the peer's first packet; it wraps soon */

#define BOTH_PLACES	(TERN_FLUSH_GLOBAL | TERN_FLUSH_PERSISTENT)
#define ACCESS									\
	(RDMA_ALL_ACCESS | TERN_ACCESS_FLUSH_GLOBAL | TERN_ACCESS_FLUSH_PERSISTENT)
#define VALUE		0x1122334455667788

static struct rdma_pair pair;
static struct peer peer;

static uint64_t load(struct rdma_side *side, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, rdma_memory(side, offset), sizeof(value));
	return le64toh(value);
}

static void store(struct rdma_side *side, uint64_t offset, uint64_t value)
{
	value = htole64(value);
	memcpy(rdma_memory(side, offset), &value, sizeof(value));
}

static uint8_t state_of(struct rdma_side *side)
{
	struct tern_qp_status status;

	rdma_qp_status(side, &status);
	return status.state;
}

static void expect(struct driver_cq *cq, uint8_t status, uint32_t index)
{
	struct tern_cqe cqe;

	rdma_wait(&pair, cq, &cqe);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.index), index);
}

static void play(struct rdma_options options)
{
	options.rq_psn = PSN;
	options.sq_psn = PSN;
	options.path_mtu = 1;
	options.access = ACCESS & ~TERN_ACCESS_LOCAL_WRITE;
	rdma_pair_create(&pair, &options);
	pair.a.key = driver_key_create(pair.a.driver, pair.a.buffer, pair.a.buffer_bytes, ACCESS,
				       RDMA_PD);
	peer_start(&peer, &pair);
}

static void stop(void)
{
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

/* @length: of the payload; a RETH says 8 whatever it is. */
static void request_write(uint32_t number, uint64_t offset, uint64_t value, size_t length)
{
	struct wire_headers headers = peer_headers(&peer, WIRE_RC_ATOMIC_WRITE, PSN + number);
	uint64_t data[4] = { htole64(value) };

	headers.ack_request = true;
	headers.reth.address = pair.a.buffer + offset;
	headers.reth.key = pair.a.key;
	headers.reth.length = 8;
	peer_send(&peer, &headers, data, length);
}

static void request_flush(uint32_t number, uint32_t feth)
{
	struct wire_headers headers = peer_headers(&peer, WIRE_RC_FLUSH, PSN + number);

	headers.ack_request = true;
	headers.feth = feth;
	headers.reth.address = pair.a.buffer;
	headers.reth.key = pair.a.key;
	headers.reth.length = 64;
	peer_send(&peer, &headers, NULL, 0);
}

static void request_read(uint32_t number, uint32_t length)
{
	struct wire_headers headers = peer_headers(&peer, WIRE_RC_READ_REQUEST, PSN + number);

	headers.ack_request = true;
	headers.reth.address = pair.a.buffer;
	headers.reth.key = pair.a.key;
	headers.reth.length = length;
	peer_send(&peer, &headers, NULL, 0);
}

static void expect_packet(uint8_t opcode, uint32_t number)
{
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.opcode, opcode);
	CHECK_EQ(peer.packet.headers.psn, (PSN + number) & WIRE_PSN_MASK);
}

static void expect_done(uint32_t number, uint32_t msn)
{
	expect_packet(WIRE_RC_READ_RESPONSE_ONLY, number);
	CHECK_EQ(peer.packet.headers.aeth.syndrome, ACK);
	CHECK_EQ(peer.packet.headers.aeth.msn, msn);
	CHECK_EQ(peer.packet.payload_length, 0);
}

static void expect_invalid(uint32_t number)
{
	expect_packet(WIRE_RC_ACKNOWLEDGE, number);
	CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(INVALID_REQUEST));
	CHECK_EQ(load(&pair.a, 0), 7);
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	stop();
}

TERN_TEST(lengths_that_lie)
{
	static const uint32_t lengths[] = { 0, 1, 4, 7, 9, 16, 0x80000000, UINT32_MAX };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct wire_headers headers;

		play((struct rdma_options){ 0 });
		store(&pair.a, 0, 7);
		headers = peer_headers(&peer, WIRE_RC_ATOMIC_WRITE, PSN);
		headers.reth.address = pair.a.buffer;
		headers.reth.key = pair.a.key;
		headers.reth.length = lengths[i];
		peer_send(&peer, &headers, "12345678", 8);
		expect_invalid(0);
	}
	for (size_t length = 0; length <= 32; length++) {
		play((struct rdma_options){ 0 });
		store(&pair.a, 0, 7);
		request_write(0, 0, VALUE, length);
		if (length != 8) {
			expect_invalid(0);
			continue;
		}
		expect_done(0, 1);
		CHECK_EQ(load(&pair.a, 0), VALUE);
		stop();
	}
}

TERN_TEST(feth_of_all_kinds)
{
	for (unsigned int bit = 0; bit < 32; bit++) {
		play((struct rdma_options){ 0 });
		store(&pair.a, 0, 7);
		request_flush(0, 1U << bit | (bit > 1 ? TERN_FLUSH_GLOBAL : 0));
		if (1U << bit & ~(BOTH_PLACES | TERN_FLUSH_REGION)) {
			expect_invalid(0);
			continue;
		}
		expect_done(0, 1);
		stop();
	}
	for (unsigned int i = 0; i < 2; i++) {
		play((struct rdma_options){ 0 });
		store(&pair.a, 0, 7);
		request_flush(0, i ? TERN_FLUSH_REGION : 0);
		expect_invalid(0);
	}
}

TERN_TEST(payload_where_flush_has_none)
{
	struct wire_headers headers;

	play((struct rdma_options){ 0 });
	headers = peer_headers(&peer, WIRE_RC_FLUSH, PSN);
	headers.feth = TERN_FLUSH_GLOBAL;
	headers.reth.key = pair.a.key;
	peer_send(&peer, &headers, "1234", 4);
	CHECK(!peer_next(&peer));
	CHECK_EQ(rdma_counter(&pair.a, "rx_malformed"), 1);
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

/* A duplicate is answered again and not executed, its key gone meanwhile. */
TERN_TEST(duplicates)
{
	play((struct rdma_options){ 0 });
	request_write(0, 0, VALUE, 8);
	expect_done(0, 1);
	request_flush(1, TERN_FLUSH_GLOBAL);
	expect_done(1, 2);
	store(&pair.a, 0, 7);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_KEY,
				pair.a.key >> TERN_KEY_INDEX_SHIFT, NULL, 0), 0);
	for (unsigned int i = 0; i < 2; i++) {
		request_write(0, 0, VALUE, 8);
		expect_done(0, 2);
		request_flush(1, TERN_FLUSH_GLOBAL);
		expect_done(1, 2);
	}
	CHECK_EQ(load(&pair.a, 0), 7);
	CHECK_EQ(rdma_counter(&pair.a, "duplicate_request"), 4);
	CHECK_EQ(rdma_counter(&pair.a, "rx_atomic_requests"), 1);
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

/* READs share the resources, and all are answered in order of arrival. */
TERN_TEST(answers_in_order)
{
	static const uint8_t want[] = {
		WIRE_RC_READ_RESPONSE_FIRST, WIRE_RC_READ_RESPONSE_LAST,
		WIRE_RC_READ_RESPONSE_ONLY, WIRE_RC_READ_RESPONSE_ONLY,
		WIRE_RC_READ_RESPONSE_ONLY,
	};
	static const uint32_t psns[] = { 0, 1, 2, 3, 4 };

	play((struct rdma_options){ .speed_mbps = 1000 });
	request_read(0, 500);
	request_write(2, 0, VALUE, 8);
	request_flush(3, BOTH_PLACES);
	request_read(4, 8);
	for (size_t i = 0; i < sizeof(want); i++) {
		CHECK(peer_wait(&peer, 1000000));
		CHECK_EQ(peer.packet.headers.opcode, want[i]);
		CHECK_EQ(peer.packet.headers.psn, (PSN + psns[i]) & WIRE_PSN_MASK);
		CHECK_EQ(peer.packet.payload_length, i == 0 ? 256 : i == 1 ? 244 : i == 4 ? 8 : 0);
	}
	CHECK_EQ(peer.packet.headers.aeth.msn, 4);
	CHECK_EQ(rdma_counter(&pair.a, "rx_read_requests"), 2);
	CHECK(!peer_wait(&peer, 1000000));
	stop();
}

TERN_TEST(more_than_the_resources)
{
	for (unsigned int i = 0; i < 2; i++) {
		/* So slow that nothing is answered yet when the third comes. */
		play((struct rdma_options){ .responder_resources = 2, .speed_mbps = 1 });
		store(&pair.a, 0, 1);
		store(&pair.a, 8, 1);
		request_read(0, 256);
		world_settle(pair.world);
		request_write(1, 0, 7, 8);
		request_flush(2, TERN_FLUSH_GLOBAL);
		if (i)
			request_flush(3, TERN_FLUSH_GLOBAL);
		else
			request_write(3, 8, 8, 8);
		CHECK_EQ(load(&pair.a, 8), 1);
		for (uint32_t number = 0; number < 3; number++) {
			CHECK(peer_wait(&peer, 1000000000));
			CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_ONLY);
		}
		CHECK(peer_wait(&peer, 1000000000));
		CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(INVALID_REQUEST));
		CHECK_EQ(peer.packet.headers.psn, (PSN + 3) & WIRE_PSN_MASK);
		CHECK_EQ(load(&pair.a, 0), 7);
		CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
		stop();
	}
}

/* Before its turn, then in the middle of another message. */
TERN_TEST(out_of_place)
{
	static const uint8_t data[256];

	for (unsigned int i = 0; i < 2; i++) {
		struct wire_headers headers;

		play((struct rdma_options){ 0 });
		store(&pair.a, 0, 7);
		request_write(1, 0, VALUE, 8);
		CHECK(peer_next(&peer));
		CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(SEQUENCE));
		headers = peer_headers(&peer, WIRE_RC_WRITE_FIRST, PSN);
		headers.reth.address = pair.a.buffer + 4096;
		headers.reth.key = pair.a.key;
		headers.reth.length = 512;
		peer_send(&peer, &headers, data, 256);
		if (i)
			request_flush(1, TERN_FLUSH_GLOBAL);
		else
			request_write(1, 0, VALUE, 8);
		expect_invalid(1);
	}
}

static uint32_t post_write(uint8_t flags)
{
	struct rdma_request request = {
		.opcode = TERN_WQE_ATOMIC_WRITE, .length = 8, .flags = flags,
		.remote_address = 0x1112131415161718, .remote_key = 0x21222324,
	};

	return rdma_post(&pair, &pair.a, &request);
}

static uint32_t post_flush(uint32_t flush)
{
	struct rdma_request request = {
		.opcode = TERN_WQE_FLUSH, .length = 0x41424344, .immediate = flush,
		.remote_address = 0x1112131415161718, .remote_key = 0x21222324,
	};

	return rdma_post(&pair, &pair.a, &request);
}

static void answer(uint8_t opcode, uint32_t number, size_t length)
{
	struct wire_headers headers = peer_headers(&peer, opcode, PSN + number);

	headers.aeth.syndrome = ACK;
	peer_send(&peer, &headers, "12345678", length);
}

TERN_TEST(requests_on_the_wire)
{
	play((struct rdma_options){ 0 });
	memcpy(rdma_memory(&pair.a, 0), "abcdefgh", 8);
	post_write(0);
	expect_packet(WIRE_RC_ATOMIC_WRITE, 0);
	CHECK(peer.packet.headers.ack_request);
	CHECK_EQ(peer.packet.payload_length, 8);
	CHECK_MEM(peer.packet.payload[0].base, "abcdefgh", 8);
	CHECK_EQ(peer.packet.headers.reth.address, 0x1112131415161718);
	CHECK_EQ(peer.packet.headers.reth.key, 0x21222324);
	CHECK_EQ(peer.packet.headers.reth.length, 8);
	for (uint32_t places = 1; places <= BOTH_PLACES; places++) {
		post_flush(places | TERN_FLUSH_REGION);
		expect_packet(WIRE_RC_FLUSH, places);
		CHECK(peer.packet.headers.ack_request);
		CHECK_EQ(peer.packet.payload_length, 0);
		CHECK_EQ(peer.packet.headers.feth, places | TERN_FLUSH_REGION);
		CHECK_EQ(peer.packet.headers.reth.address, 0x1112131415161718);
		CHECK_EQ(peer.packet.headers.reth.key, 0x21222324);
		CHECK_EQ(peer.packet.headers.reth.length, 0x41424344);
	}
	stop();
}

/* An acknowledge alone is an implied NAK; answers to other requests are none to it. */
TERN_TEST(only_its_response_completes_it)
{
	for (unsigned int flush = 0; flush < 2; flush++) {
		uint8_t opcode = flush ? WIRE_RC_FLUSH : WIRE_RC_ATOMIC_WRITE;
		uint32_t index;

		play((struct rdma_options){ 0 });
		index = flush ? post_flush(TERN_FLUSH_GLOBAL) : post_write(0);
		expect_packet(opcode, 0);
		peer_acknowledge(&peer, PSN, ACK);
		expect_packet(opcode, 0);
		CHECK(rdma_none(&pair.a.send_cq));
		CHECK_EQ(rdma_counter(&pair.a, "implied_nak_seq_err"), 1);
		answer(WIRE_RC_ATOMIC_ACKNOWLEDGE, 0, 0);
		answer(WIRE_RC_READ_RESPONSE_ONLY, 1, 0);
		CHECK(rdma_none(&pair.a.send_cq));
		answer(WIRE_RC_READ_RESPONSE_ONLY, 0, 0);
		expect(&pair.a.send_cq, TERN_WC_SUCCESS, index);
		answer(WIRE_RC_READ_RESPONSE_ONLY, 0, 0);
		CHECK(rdma_none(&pair.a.send_cq));
		CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
		stop();
	}
}

/* One that brings data, or says that more is to come. */
TERN_TEST(responses_that_lie)
{
	static const struct {
		uint8_t opcode;
		size_t length;
	} lies[] = {
		{ WIRE_RC_READ_RESPONSE_ONLY, 8 }, { WIRE_RC_READ_RESPONSE_FIRST, 0 },
		{ WIRE_RC_READ_RESPONSE_MIDDLE, 0 }, { WIRE_RC_READ_RESPONSE_LAST, 0 },
		{ WIRE_RC_READ_RESPONSE_LAST, 8 },
	};

	for (size_t i = 0; i < 2 * sizeof(lies) / sizeof(*lies); i++) {
		uint32_t index;

		play((struct rdma_options){ 0 });
		store(&pair.a, 0, 99);
		index = i & 1 ? post_flush(TERN_FLUSH_GLOBAL) : post_write(0);
		CHECK(peer_next(&peer));
		answer(lies[i / 2].opcode, 0, lies[i / 2].length);
		expect(&pair.a.send_cq, TERN_WC_BAD_RESPONSE, index);
		CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
		CHECK_EQ(load(&pair.a, 0), 99);
		stop();
	}
}

/* No more outstanding than agreed, READs included; a fence waits for all of them. */
TERN_TEST(depth_and_fence)
{
	struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 4 };
	struct rdma_request fenced = { .opcode = TERN_WQE_SEND, .length = 4,
				       .flags = TERN_WQE_FENCE };

	play((struct rdma_options){ .initiator_depth = 2 });
	post_write(0);
	post_flush(TERN_FLUSH_GLOBAL);
	rdma_post(&pair, &pair.a, &read);
	post_write(0);
	rdma_post(&pair, &pair.a, &fenced);
	expect_packet(WIRE_RC_ATOMIC_WRITE, 0);
	expect_packet(WIRE_RC_FLUSH, 1);
	CHECK(!peer_next(&peer));
	answer(WIRE_RC_READ_RESPONSE_ONLY, 0, 0);
	expect_packet(WIRE_RC_READ_REQUEST, 2);
	CHECK(!peer_next(&peer));
	answer(WIRE_RC_READ_RESPONSE_ONLY, 1, 0);
	expect_packet(WIRE_RC_ATOMIC_WRITE, 3);
	CHECK(!peer_next(&peer));
	answer(WIRE_RC_READ_RESPONSE_ONLY, 2, 4);
	CHECK(!peer_next(&peer));
	answer(WIRE_RC_READ_RESPONSE_ONLY, 3, 0);
	expect_packet(WIRE_RC_SEND_ONLY, 4);
	stop();
}

TERN_TEST(features_that_were_not_taken)
{
	static const struct {
		uint8_t feature, opcode, packet;
	} kinds[] = {
		{ TERN_FEATURE_ATOMIC_WRITE, TERN_WQE_ATOMIC_WRITE, WIRE_RC_ATOMIC_WRITE },
		{ TERN_FEATURE_FLUSH, TERN_WQE_FLUSH, WIRE_RC_FLUSH },
	};

	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_options options = {
			.without_features = UINT64_C(1) << kinds[i].feature,
			.rq_psn = PSN,
		};
		struct rdma_request request = { .opcode = kinds[i].opcode, .length = 8,
						.immediate = TERN_FLUSH_GLOBAL };
		struct wire_headers headers;

		rdma_pair_create(&pair, &options);
		expect(&pair.a.send_cq, TERN_WC_LOCAL_QP_OPERATION,
		       rdma_post(&pair, &pair.a, &request));
		rdma_pair_destroy(&pair);

		rdma_pair_create(&pair, &options);
		peer_start(&peer, &pair);
		store(&pair.a, 0, 7);
		headers = peer_headers(&peer, kinds[i].packet, PSN);
		headers.feth = TERN_FLUSH_GLOBAL;
		headers.reth.address = pair.a.buffer;
		headers.reth.key = pair.a.key;
		headers.reth.length = 8;
		peer_send(&peer, &headers, "12345678", i ? 0 : 8);
		expect_invalid(0);
	}
}
