// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the RC requester against a peer that the test plays: windows, timers, NAKs, retries. */
#include <endian.h>

#include "host_peer.h"
#include "tern_test.h"

#define ACK		(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED)
#define RNR(timer)	(WIRE_AETH_RNR_NAK | (timer))
#define NAK(code)	(WIRE_AETH_NAK | (code))
#define PSN		0xfffffe	/* the PSNs of each test wrap */

struct setup {
	struct rdma_pair pair;
	struct peer peer;
};

static struct setup setup;

static void start(struct rdma_options options)
{
	options.sq_psn = PSN;
	rdma_pair_create(&setup.pair, &options);
	peer_start(&setup.peer, &setup.pair);
}

static void stop(void)
{
	peer_stop(&setup.peer);
	rdma_pair_destroy(&setup.pair);
}

static uint32_t post(uint8_t opcode, uint32_t length)
{
	struct rdma_request request = { .opcode = opcode, .length = length };

	return rdma_post(&setup.pair, &setup.pair.a, &request);
}

static void expect_packet(uint8_t opcode, uint32_t number)
{
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, opcode);
	CHECK_EQ(setup.peer.packet.headers.psn, (PSN + number) & WIRE_PSN_MASK);
}

static void acknowledge(uint32_t number, uint8_t syndrome)
{
	peer_acknowledge(&setup.peer, (PSN + number) & WIRE_PSN_MASK, syndrome);
}

static void expect_status(uint8_t status, uint32_t index)
{
	struct tern_cqe cqe;

	world_settle(setup.pair.world);
	CHECK(driver_cq_poll(&setup.pair.a.send_cq, &cqe));
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.index), index);
}

static bool nothing_completed(void)
{
	world_settle(setup.pair.world);
	return rdma_none(&setup.pair.a.send_cq);
}

static void expect_state(uint8_t state)
{
	struct tern_qp_status status;

	rdma_qp_status(&setup.pair.a, &status);
	CHECK_EQ(status.state, state);
}

static void read_response(uint8_t opcode, uint32_t number, const void *data, size_t length)
{
	struct wire_headers headers = peer_headers(&setup.peer, opcode, PSN + number);

	headers.aeth.syndrome = ACK;
	peer_send(&setup.peer, &headers, data, length);
}

TERN_TEST(packets_of_a_message)
{
	start((struct rdma_options){ .path_mtu = 1 });
	post(TERN_WQE_SEND, 600);
	expect_packet(WIRE_RC_SEND_FIRST, 0);
	CHECK_EQ(setup.peer.packet.payload_length, 256);
	expect_packet(WIRE_RC_SEND_MIDDLE, 1);
	CHECK(!setup.peer.packet.headers.ack_request);
	expect_packet(WIRE_RC_SEND_LAST, 2);
	CHECK_EQ(setup.peer.packet.payload_length, 88);
	CHECK(setup.peer.packet.headers.ack_request);
	CHECK_EQ(setup.peer.packet.headers.destination_qpn, setup.pair.b.qp.qpn);
	post(TERN_WQE_WRITE, 257);
	expect_packet(WIRE_RC_WRITE_FIRST, 3);
	CHECK_EQ(setup.peer.packet.headers.reth.address, setup.pair.b.buffer);
	CHECK_EQ(setup.peer.packet.headers.reth.key, setup.pair.b.key);
	CHECK_EQ(setup.peer.packet.headers.reth.length, 257);
	expect_packet(WIRE_RC_WRITE_LAST, 4);
	CHECK_EQ(setup.peer.packet.headers.pad, 3);
	CHECK(!peer_next(&setup.peer));
	stop();
}

/* The last packet of a message wakes the receiver's host, no other one. */
TERN_TEST(solicited_messages)
{
	struct rdma_request send = { .opcode = TERN_WQE_SEND, .flags = TERN_WQE_SOLICITED };

	start((struct rdma_options){ .path_mtu = 1 });
	for (send.length = 0; send.length <= 600; send.length += 300) {
		rdma_post(&setup.pair, &setup.pair.a, &send);
		while (peer_next(&setup.peer))
			CHECK_EQ(setup.peer.packet.headers.solicited,
				 !!(setup.peer.packet.opcode->flags & WIRE_ENDS));
	}
	stop();
}

TERN_TEST(acknowledges_coalesce)
{
	uint32_t index[4];

	start((struct rdma_options){ .path_mtu = 1 });
	for (unsigned int i = 0; i < 4; i++)
		index[i] = post(TERN_WQE_WRITE, 512);
	world_settle(setup.pair.world);
	CHECK(nothing_completed());
	/* In the middle of the third: the first two are done. */
	acknowledge(4, ACK);
	expect_status(TERN_WC_SUCCESS, index[0]);
	expect_status(TERN_WC_SUCCESS, index[1]);
	CHECK(nothing_completed());
	/* Old ones, and some that were never sent. */
	acknowledge(3, ACK);
	acknowledge(4, ACK);
	acknowledge(8, ACK);
	acknowledge(0x400000, ACK);
	CHECK(nothing_completed());
	acknowledge(7, ACK);
	expect_status(TERN_WC_SUCCESS, index[2]);
	expect_status(TERN_WC_SUCCESS, index[3]);
	CHECK_EQ(rdma_counter(&setup.pair.a, "retransmitted_packets"), 0);
	stop();
}

TERN_TEST(window_and_acknowledge_requests)
{
	unsigned int packets = 0, since = 0;

	start((struct rdma_options){ .path_mtu = 1 });
	post(TERN_WQE_WRITE, 1 << 20);
	while (peer_next(&setup.peer)) {
		packets++;
		if (!setup.peer.packet.headers.ack_request) {
			since++;
			CHECK(since < 16);
		} else {
			since = 0;
		}
	}
	/* It stops at the window's end, and that one asks. */
	CHECK_EQ(packets, 128);
	CHECK_EQ(since, 0);
	acknowledge(0, ACK);
	expect_packet(WIRE_RC_WRITE_MIDDLE, 128);
	CHECK(!peer_next(&setup.peer));
	acknowledge(128, ACK);
	packets = 129;
	while (peer_next(&setup.peer))
		packets++;
	CHECK_EQ(packets, 129 + 128);
	stop();
}

static uint64_t timeout_ns(unsigned int n)
{
	return UINT64_C(4096) << n;
}

/* (retry_cnt + 1) tries, each no sooner than the timeout after the last; then error and flush. */
static void vanished_peer(unsigned int timeout, unsigned int retries)
{
	uint32_t first, second;
	uint64_t begin, last;
	struct rdma_options options = {
		.timeout = (uint8_t)timeout, .retry_count = (uint8_t)retries, .no_retry = true,
	};
	struct tern_cqe cqe;

	start(options);
	first = post(TERN_WQE_WRITE, 100);
	second = post(TERN_WQE_WRITE, 100);
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	expect_packet(WIRE_RC_WRITE_ONLY, 1);
	begin = setup.peer.time;
	last = begin;
	for (unsigned int try = 0; try < retries; try++) {
		CHECK(peer_wait(&setup.peer, 4 * timeout_ns(timeout)));
		CHECK_EQ(setup.peer.packet.headers.psn, PSN);
		CHECK(setup.peer.time >= last + timeout_ns(timeout));
		CHECK(setup.peer.time <= last + 4 * timeout_ns(timeout));
		last = setup.peer.time;
		expect_packet(WIRE_RC_WRITE_ONLY, 1);
		CHECK(nothing_completed());
	}
	rdma_wait(&setup.pair, &setup.pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_RETRY_EXCEEDED);
	CHECK_EQ(le32toh(cqe.index), first);
	CHECK(setup.pair.world->now >= begin + (retries + 1) * timeout_ns(timeout));
	expect_status(TERN_WC_FLUSHED, second);
	CHECK(!peer_next(&setup.peer));
	CHECK_EQ(rdma_counter(&setup.pair.a, "local_ack_timeout_err"), retries + 1);
	CHECK_EQ(rdma_counter(&setup.pair.a, "retry_exceeded"), 1);
	expect_state(TERN_QP_ERROR);
	/* What is posted now is flushed at once. */
	first = post(TERN_WQE_WRITE, 1);
	expect_status(TERN_WC_FLUSHED, first);
	stop();
}

TERN_TEST(peer_that_vanishes)
{
	vanished_peer(1, 0);
	vanished_peer(8, 3);
	vanished_peer(14, 7);
	vanished_peer(20, 2);
}

/* What a connection that is forgotten may still retry is not the next one's. */
TERN_TEST(reset_forgets_the_retries)
{
	struct tern_qp_attributes attributes;
	struct tern_cqe cqe;

	start((struct rdma_options){ .timeout = 8, .retry_count = 7 });
	rdma_attributes(&setup.pair.a, &setup.pair.b, &setup.pair.options, true, &attributes);
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_RESET, 0, NULL), 0);
	CHECK_EQ(rdma_to_rtr(&setup.pair.a, &attributes), 0);
	/* As QUERY_QP says, 0 are left when none are given. */
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_RTS,
				  TERN_QP_SET_SQ_PSN | TERN_QP_SET_TIMEOUT, &attributes), 0);
	post(TERN_WQE_WRITE, 1);
	rdma_wait(&setup.pair, &setup.pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_RETRY_EXCEEDED);
	CHECK_EQ(rdma_counter(&setup.pair.a, "local_ack_timeout_err"), 1);
	stop();
}

TERN_TEST(timeout_zero_waits_for_ever)
{
	start((struct rdma_options){ .no_timeout = true });
	post(TERN_WQE_WRITE, 100);
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	CHECK(!peer_wait(&setup.peer, UINT64_C(1000000000) * 100000));
	acknowledge(0, ACK);
	expect_status(TERN_WC_SUCCESS, 0);
	stop();
}

/* Progress gives all retries back, and starts the timer anew. */
TERN_TEST(progress_restores_the_retries)
{
	start((struct rdma_options){ .path_mtu = 1, .timeout = 10, .retry_count = 1 });
	post(TERN_WQE_WRITE, 256 * 10);
	for (unsigned int i = 0; i < 10; i++) {
		peer_flush(&setup.peer);
		CHECK(peer_wait(&setup.peer, timeout_ns(12)));
		CHECK_EQ(setup.peer.packet.headers.psn, (PSN + i) & WIRE_PSN_MASK);
		world_settle(setup.pair.world);
		peer_flush(&setup.peer);
		acknowledge(i, ACK);
	}
	expect_status(TERN_WC_SUCCESS, 0);
	stop();
}

/* Each acknowledge that is news puts the retransmission off. */
TERN_TEST(progress_starts_the_timer_anew)
{
	uint64_t last;

	start((struct rdma_options){ .path_mtu = 1, .timeout = 10 });
	post(TERN_WQE_WRITE, 256 * 10);
	world_settle(setup.pair.world);
	for (uint32_t i = 0; i < 9; i++) {
		peer_flush(&setup.peer);
		world_advance(setup.pair.world, timeout_ns(10) * 9 / 10);
		CHECK(!peer_next(&setup.peer));
		acknowledge(i, ACK);
	}
	last = setup.pair.world->now;
	CHECK(peer_wait(&setup.peer, 2 * timeout_ns(10)));
	CHECK(setup.peer.time >= last + timeout_ns(10));
	stop();
}

TERN_TEST(sequence_nak_goes_back)
{
	start((struct rdma_options){ .path_mtu = 1 });
	post(TERN_WQE_SEND, 256 * 5);
	post(TERN_WQE_WRITE, 256 * 3);
	world_settle(setup.pair.world);
	peer_flush(&setup.peer);
	acknowledge(3, NAK(WIRE_NAK_SEQUENCE));
	expect_packet(WIRE_RC_SEND_MIDDLE, 3);
	CHECK_MEM(setup.peer.packet.payload->base, rdma_memory(&setup.pair.a, 3 * 256), 256);
	expect_packet(WIRE_RC_SEND_LAST, 4);
	expect_packet(WIRE_RC_WRITE_FIRST, 5);
	expect_packet(WIRE_RC_WRITE_MIDDLE, 6);
	expect_packet(WIRE_RC_WRITE_LAST, 7);
	CHECK(!peer_next(&setup.peer));
	CHECK_EQ(rdma_counter(&setup.pair.a, "packet_seq_err"), 1);
	CHECK_EQ(rdma_counter(&setup.pair.a, "retransmitted_packets"), 5);
	/* Of a message's middle. */
	acknowledge(6, NAK(WIRE_NAK_SEQUENCE));
	expect_status(TERN_WC_SUCCESS, 0);
	expect_packet(WIRE_RC_WRITE_MIDDLE, 6);
	expect_packet(WIRE_RC_WRITE_LAST, 7);
	/* Late answers to the first try are as good. */
	acknowledge(7, ACK);
	expect_status(TERN_WC_SUCCESS, 1);
	CHECK(!peer_next(&setup.peer));
	stop();
}

/* An acknowledge that overtakes the retransmission makes it unnecessary. */
TERN_TEST(late_acknowledge_stops_the_retransmission)
{
	uint32_t next;

	start((struct rdma_options){ .path_mtu = 1 });
	post(TERN_WQE_WRITE, 256 * 8);
	world_settle(setup.pair.world);
	peer_flush(&setup.peer);
	acknowledge(2, NAK(WIRE_NAK_SEQUENCE));
	acknowledge(7, ACK);
	expect_status(TERN_WC_SUCCESS, 0);
	CHECK(!peer_next(&setup.peer));
	next = post(TERN_WQE_WRITE, 1);
	expect_packet(WIRE_RC_WRITE_ONLY, 8);
	acknowledge(8, ACK);
	expect_status(TERN_WC_SUCCESS, next);
	stop();
}

/* Sequence NAKs without progress are retries too. */
TERN_TEST(sequence_naks_use_up_the_retries)
{
	start((struct rdma_options){ .retry_count = 3 });
	post(TERN_WQE_WRITE, 1);
	for (unsigned int i = 0; i < 3; i++) {
		expect_packet(WIRE_RC_WRITE_ONLY, 0);
		acknowledge(0, NAK(WIRE_NAK_SEQUENCE));
	}
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	CHECK(nothing_completed());
	acknowledge(0, NAK(WIRE_NAK_SEQUENCE));
	expect_status(TERN_WC_RETRY_EXCEEDED, 0);
	stop();
}

/* Copies of a NAK that was served are no further retries. */
TERN_TEST(copies_of_a_sequence_nak)
{
	start((struct rdma_options){ .path_mtu = 1, .retry_count = 1 });
	post(TERN_WQE_WRITE, 256 * 5);
	world_settle(setup.pair.world);
	peer_flush(&setup.peer);
	for (unsigned int i = 0; i < 10; i++)
		acknowledge(2, NAK(WIRE_NAK_SEQUENCE));
	expect_packet(WIRE_RC_WRITE_MIDDLE, 2);
	expect_packet(WIRE_RC_WRITE_MIDDLE, 3);
	expect_packet(WIRE_RC_WRITE_LAST, 4);
	CHECK(!peer_next(&setup.peer));
	acknowledge(4, ACK);
	expect_status(TERN_WC_SUCCESS, 0);
	stop();
}

static const uint32_t rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

TERN_TEST(rnr_timer_in_full)
{
	start((struct rdma_options){ .timeout = 20 });
	post(TERN_WQE_SEND, 10);
	expect_packet(WIRE_RC_SEND_ONLY, 0);
	for (unsigned int timer = 0; timer < 32; timer++) {
		uint64_t begin = setup.pair.world->now, ns = rnr_10us[timer] * UINT64_C(10000);

		acknowledge(0, RNR(timer));
		/* A copy of the NAK changes nothing. */
		acknowledge(0, RNR(timer));
		CHECK(peer_wait(&setup.peer, 2 * ns));
		CHECK_EQ(setup.peer.packet.headers.psn, PSN);
		CHECK(setup.peer.time >= begin + ns);
		CHECK(setup.peer.time <= begin + ns + ns / 10);
	}
	CHECK_EQ(rdma_counter(&setup.pair.a, "rnr_nak_retry_err"), 32);
	acknowledge(0, ACK);
	expect_status(TERN_WC_SUCCESS, 0);
	CHECK_EQ(rdma_counter(&setup.pair.a, "local_ack_timeout_err"), 0);
	stop();
}

static void rnr_tries(unsigned int retries)
{
	start((struct rdma_options){ .rnr_retry = (uint8_t)retries, .no_rnr_retry = true });
	post(TERN_WQE_SEND, 10);
	post(TERN_WQE_SEND, 10);
	for (unsigned int i = 0; i < retries; i++) {
		CHECK(peer_wait(&setup.peer, 1000000));
		acknowledge(0, RNR(1));
		CHECK(nothing_completed());
		peer_flush(&setup.peer);
	}
	CHECK(peer_wait(&setup.peer, 1000000));
	acknowledge(0, RNR(1));
	expect_status(TERN_WC_RNR_RETRY_EXCEEDED, 0);
	expect_status(TERN_WC_FLUSHED, 1);
	CHECK_EQ(rdma_counter(&setup.pair.a, "rnr_retry_exceeded"), 1);
	stop();
}

TERN_TEST(rnr_retries_are_counted)
{
	for (unsigned int retries = 0; retries < 7; retries++)
		rnr_tries(retries);
}

TERN_TEST(progress_restores_the_rnr_retries)
{
	start((struct rdma_options){ .path_mtu = 1, .rnr_retry = 2 });
	post(TERN_WQE_SEND, 256 * 5);
	world_settle(setup.pair.world);
	for (uint32_t i = 0; i < 5; i++) {
		for (unsigned int try = 0; try < 2; try++) {
			peer_flush(&setup.peer);
			acknowledge(i, RNR(1));
			CHECK(peer_wait(&setup.peer, 1000000));
			CHECK_EQ(setup.peer.packet.headers.psn, (PSN + i) & WIRE_PSN_MASK);
			world_settle(setup.pair.world);
		}
		acknowledge(i, ACK);
	}
	expect_status(TERN_WC_SUCCESS, 0);
	stop();
}

TERN_TEST(rnr_retry_seven_has_no_end)
{
	start((struct rdma_options){ .rnr_retry = 7 });
	post(TERN_WQE_SEND, 10);
	for (unsigned int i = 0; i < 1000; i++) {
		CHECK(peer_wait(&setup.peer, 1000000));
		acknowledge(0, RNR(1));
	}
	CHECK(peer_wait(&setup.peer, 1000000));
	acknowledge(0, ACK);
	expect_status(TERN_WC_SUCCESS, 0);
	stop();
}

static void refused(uint8_t code, uint8_t status)
{
	uint32_t index[3];

	start((struct rdma_options){ 0 });
	for (unsigned int i = 0; i < 3; i++)
		index[i] = post(TERN_WQE_WRITE, 10);
	world_settle(setup.pair.world);
	peer_flush(&setup.peer);
	/* It acknowledges the first, refuses the second; the third is flushed. */
	acknowledge(1, NAK(code));
	expect_status(TERN_WC_SUCCESS, index[0]);
	expect_status(status, index[1]);
	expect_status(TERN_WC_FLUSHED, index[2]);
	CHECK(!peer_next(&setup.peer));
	expect_state(TERN_QP_ERROR);
	stop();
}

TERN_TEST(naks_that_end_the_connection)
{
	refused(WIRE_NAK_INVALID_REQUEST, TERN_WC_REMOTE_INVALID_REQUEST);
	refused(WIRE_NAK_REMOTE_ACCESS, TERN_WC_REMOTE_ACCESS);
	refused(WIRE_NAK_REMOTE_OPERATION, TERN_WC_REMOTE_OPERATION);
}

TERN_TEST(read_responses)
{
	uint8_t data[600];

	rdma_fill(data, sizeof(data), 4);
	start((struct rdma_options){ .path_mtu = 1 });
	post(TERN_WQE_WRITE, 10);
	post(TERN_WQE_READ, 600);
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	expect_packet(WIRE_RC_READ_REQUEST, 1);
	CHECK_EQ(setup.peer.packet.headers.reth.length, 600);
	CHECK_EQ(setup.peer.packet.headers.reth.key, setup.pair.b.key);
	/* The first response acknowledges the WRITE. */
	read_response(WIRE_RC_READ_RESPONSE_FIRST, 1, data, 256);
	expect_status(TERN_WC_SUCCESS, 0);
	/* A copy is ignored. */
	read_response(WIRE_RC_READ_RESPONSE_FIRST, 1, data + 1, 256);
	/* The last one overtakes: the rest is asked for again, from where it is missing. */
	read_response(WIRE_RC_READ_RESPONSE_LAST, 3, data + 512, 88);
	expect_packet(WIRE_RC_READ_REQUEST, 2);
	CHECK_EQ(setup.peer.packet.headers.reth.length, 600 - 256);
	CHECK_EQ(setup.peer.packet.headers.reth.address, setup.pair.b.buffer + 256);
	CHECK_EQ(rdma_counter(&setup.pair.a, "implied_nak_seq_err"), 1);
	read_response(WIRE_RC_READ_RESPONSE_FIRST, 2, data + 256, 256);
	CHECK(nothing_completed());
	read_response(WIRE_RC_READ_RESPONSE_LAST, 3, data + 512, 88);
	expect_status(TERN_WC_SUCCESS, 1);
	CHECK_MEM(rdma_memory(&setup.pair.a, 0), data, 600);
	CHECK(!peer_next(&setup.peer));
	stop();
}

/* An acknowledge of something behind a READ that has no data yet. */
TERN_TEST(implied_nak)
{
	uint8_t data[256] = { 1 };

	start((struct rdma_options){ .path_mtu = 1, .retry_count = 2 });
	post(TERN_WQE_READ, 256);
	post(TERN_WQE_WRITE, 1);
	post(TERN_WQE_WRITE, 1);
	world_settle(setup.pair.world);
	peer_flush(&setup.peer);
	acknowledge(1, ACK);
	CHECK(nothing_completed());
	expect_packet(WIRE_RC_READ_REQUEST, 0);
	expect_packet(WIRE_RC_WRITE_ONLY, 1);
	expect_packet(WIRE_RC_WRITE_ONLY, 2);
	/* More that say the same do not use up more retries. */
	for (unsigned int i = 0; i < 10; i++)
		acknowledge(2, ACK);
	CHECK(!peer_next(&setup.peer));
	CHECK_EQ(rdma_counter(&setup.pair.a, "implied_nak_seq_err"), 1);
	read_response(WIRE_RC_READ_RESPONSE_ONLY, 0, data, 256);
	expect_status(TERN_WC_SUCCESS, 0);
	CHECK(nothing_completed());
	acknowledge(2, ACK);
	expect_status(TERN_WC_SUCCESS, 1);
	expect_status(TERN_WC_SUCCESS, 2);
	stop();
}

/* When going back was in vain, the next implied NAK after the timeout counts again. */
TERN_TEST(implied_nak_after_a_timeout)
{
	start((struct rdma_options){ .retry_count = 7, .timeout = 8 });
	post(TERN_WQE_READ, 16);
	post(TERN_WQE_WRITE, 1);
	for (unsigned int round = 1; round <= 3; round++) {
		world_settle(setup.pair.world);
		peer_flush(&setup.peer);
		acknowledge(1, ACK);
		acknowledge(1, ACK);
		expect_packet(WIRE_RC_READ_REQUEST, 0);
		expect_packet(WIRE_RC_WRITE_ONLY, 1);
		CHECK_EQ(rdma_counter(&setup.pair.a, "implied_nak_seq_err"), round);
		CHECK(peer_wait(&setup.peer, timeout_ns(10)));
		CHECK_EQ(rdma_counter(&setup.pair.a, "local_ack_timeout_err"), round);
	}
	CHECK(nothing_completed());
	stop();
}

/* The header of a response can say that it is none. */
TERN_TEST(response_that_is_no_acknowledge)
{
	uint8_t data[8] = { 1, 2, 3 };
	struct wire_headers headers;

	start((struct rdma_options){ 0 });
	post(TERN_WQE_READ, 8);
	expect_packet(WIRE_RC_READ_REQUEST, 0);
	headers = peer_headers(&setup.peer, WIRE_RC_READ_RESPONSE_ONLY, PSN);
	headers.aeth.syndrome = NAK(WIRE_NAK_REMOTE_ACCESS);
	peer_send(&setup.peer, &headers, data, 8);
	headers.aeth.syndrome = RNR(3);
	peer_send(&setup.peer, &headers, data, 8);
	CHECK(nothing_completed());
	read_response(WIRE_RC_READ_RESPONSE_ONLY, 0, data, 8);
	expect_status(TERN_WC_SUCCESS, 0);
	stop();
}

/* A READ into memory that may not be written is not even sent. */
TERN_TEST(read_into_memory_without_the_right)
{
	struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 8 };

	start((struct rdma_options){ 0 });
	read.key = driver_key_create(setup.pair.a.driver, setup.pair.a.buffer, 4096,
				     TERN_ACCESS_REMOTE_READ, RDMA_PD);
	rdma_post(&setup.pair, &setup.pair.a, &read);
	expect_status(TERN_WC_LOCAL_PROTECTION, 0);
	CHECK(!peer_next(&setup.peer));
	stop();

	/* Or not any more when the response comes. */
	start((struct rdma_options){ 0 });
	rdma_memory(&setup.pair.a, 0)[0] = 0x5a;
	post(TERN_WQE_READ, 8);
	expect_packet(WIRE_RC_READ_REQUEST, 0);
	driver_key_replace(setup.pair.a.driver, setup.pair.a.key, setup.pair.a.buffer,
			   setup.pair.a.buffer_bytes, TERN_ACCESS_REMOTE_READ, RDMA_PD);
	read_response(WIRE_RC_READ_RESPONSE_ONLY, 0, "12345678", 8);
	expect_status(TERN_WC_LOCAL_PROTECTION, 0);
	CHECK_EQ(rdma_memory(&setup.pair.a, 0)[0], 0x5a);
	expect_state(TERN_QP_ERROR);
	stop();
}

static void bad_response(uint8_t opcode, uint32_t length)
{
	uint8_t data[256] = { 0 };

	start((struct rdma_options){ .path_mtu = 1 });
	post(TERN_WQE_READ, 300);
	expect_packet(WIRE_RC_READ_REQUEST, 0);
	read_response(opcode, 0, data, length);
	expect_status(TERN_WC_BAD_RESPONSE, 0);
	expect_state(TERN_QP_ERROR);
	stop();
}

TERN_TEST(responses_that_do_not_fit)
{
	bad_response(WIRE_RC_READ_RESPONSE_FIRST, 255);
	bad_response(WIRE_RC_READ_RESPONSE_FIRST, 0);
	bad_response(WIRE_RC_READ_RESPONSE_ONLY, 256);
	bad_response(WIRE_RC_READ_RESPONSE_LAST, 44);
}

TERN_TEST(outstanding_reads_are_limited)
{
	uint8_t data[1] = { 7 };

	start((struct rdma_options){ .initiator_depth = 3 });
	for (unsigned int i = 0; i < 5; i++)
		post(TERN_WQE_READ, 1);
	post(TERN_WQE_WRITE, 1);
	for (uint32_t i = 0; i < 3; i++)
		expect_packet(WIRE_RC_READ_REQUEST, i);
	CHECK(!peer_next(&setup.peer));
	read_response(WIRE_RC_READ_RESPONSE_ONLY, 0, data, 1);
	expect_packet(WIRE_RC_READ_REQUEST, 3);
	CHECK(!peer_next(&setup.peer));
	/* After going back it is the same limit. */
	CHECK(peer_wait(&setup.peer, timeout_ns(16)));
	CHECK_EQ(setup.peer.packet.headers.psn, (PSN + 1) & WIRE_PSN_MASK);
	expect_packet(WIRE_RC_READ_REQUEST, 2);
	expect_packet(WIRE_RC_READ_REQUEST, 3);
	CHECK(!peer_next(&setup.peer));
	read_response(WIRE_RC_READ_RESPONSE_ONLY, 1, data, 1);
	expect_packet(WIRE_RC_READ_REQUEST, 4);
	expect_packet(WIRE_RC_WRITE_ONLY, 5);
	stop();
}

/* A large READ is asked for in parts, so that a loss does not bring back all of it. */
TERN_TEST(large_reads_are_asked_for_in_parts)
{
	uint8_t data[256];
	uint32_t asked = 0;

	rdma_fill(data, sizeof(data), 1);
	start((struct rdma_options){ .path_mtu = 1, .initiator_depth = 4 });
	post(TERN_WQE_READ, 256 * 199 + 7);
	for (uint32_t number = 0; number < 200; number++) {
		bool last = number == 199, ends = last || number % 64 == 63;

		while (peer_next(&setup.peer)) {
			CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_REQUEST);
			CHECK_EQ(setup.peer.packet.headers.psn, (PSN + asked) & WIRE_PSN_MASK);
			CHECK_EQ(setup.peer.packet.headers.reth.address,
				 setup.pair.b.buffer + asked * 256);
			asked += (setup.peer.packet.headers.reth.length + 255) / 256;
			CHECK(asked <= number + 128);
		}
		CHECK(asked > number);
		read_response(ends ? WIRE_RC_READ_RESPONSE_LAST : WIRE_RC_READ_RESPONSE_MIDDLE,
			      number, data, last ? 7 : 256);
	}
	CHECK_EQ(asked, 200);
	expect_status(TERN_WC_SUCCESS, 0);
	CHECK_MEM(rdma_memory(&setup.pair.a, 198 * 256), data, 256);
	stop();
}

TERN_TEST(fence_waits_for_reads)
{
	struct rdma_request fenced = {
		.opcode = TERN_WQE_SEND, .flags = TERN_WQE_FENCE, .length = 1,
	};
	uint8_t data[2] = { 1, 2 };

	start((struct rdma_options){ 0 });
	post(TERN_WQE_READ, 2);
	post(TERN_WQE_WRITE, 1);
	rdma_post(&setup.pair, &setup.pair.a, &fenced);
	expect_packet(WIRE_RC_READ_REQUEST, 0);
	expect_packet(WIRE_RC_WRITE_ONLY, 1);
	CHECK(!peer_next(&setup.peer));
	read_response(WIRE_RC_READ_RESPONSE_ONLY, 0, data, 2);
	expect_packet(WIRE_RC_SEND_ONLY, 2);
	stop();
}

TERN_TEST(nop_completes_in_order)
{
	start((struct rdma_options){ 0 });
	post(TERN_WQE_NOP, 0);
	expect_status(TERN_WC_SUCCESS, 0);
	post(TERN_WQE_WRITE, 1);
	post(TERN_WQE_NOP, 0);
	post(TERN_WQE_NOP, 0);
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	CHECK(nothing_completed());
	acknowledge(0, ACK);
	for (uint32_t i = 1; i <= 3; i++)
		expect_status(TERN_WC_SUCCESS, i);
	stop();
}

TERN_TEST(unsignaled_requests_complete_silently)
{
	struct rdma_request silent = {
		.opcode = TERN_WQE_WRITE, .length = 1, .unsignaled = true,
	};
	uint32_t last;

	start((struct rdma_options){ 0 });
	for (unsigned int i = 0; i < 5; i++)
		rdma_post(&setup.pair, &setup.pair.a, &silent);
	last = post(TERN_WQE_WRITE, 1);
	world_settle(setup.pair.world);
	acknowledge(5, ACK);
	expect_status(TERN_WC_SUCCESS, last);
	CHECK(nothing_completed());
	/* A failed one is told of all the same. */
	last = rdma_post(&setup.pair, &setup.pair.a, &silent);
	world_settle(setup.pair.world);
	acknowledge(6, NAK(WIRE_NAK_REMOTE_ACCESS));
	expect_status(TERN_WC_REMOTE_ACCESS, last);
	stop();
}

/* In SQD what was begun goes on, what was not waits; the event says when all is done. */
TERN_TEST(send_queue_drains)
{
	struct tern_qp_attributes attributes = { .sqd_notify = 1 };
	struct tern_qp_status status;
	struct tern_eqe eqe;

	start((struct rdma_options){ .path_mtu = 1 });
	post(TERN_WQE_WRITE, 256 * 200);
	world_settle(setup.pair.world);
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_SQD, TERN_QP_SET_SQD_NOTIFY,
				  &attributes), 0);
	post(TERN_WQE_WRITE, 1);
	world_settle(setup.pair.world);
	peer_flush(&setup.peer);
	CHECK(!rdma_event(&setup.pair.a, &eqe));
	acknowledge(127, ACK);
	expect_packet(WIRE_RC_WRITE_MIDDLE, 128);
	world_settle(setup.pair.world);
	peer_flush(&setup.peer);
	rdma_qp_status(&setup.pair.a, &status);
	CHECK_EQ(status.state, TERN_QP_SQD);
	CHECK_EQ(status.sq_draining, 1);
	acknowledge(199, ACK);
	expect_status(TERN_WC_SUCCESS, 0);
	CHECK(!peer_next(&setup.peer));
	CHECK(rdma_event(&setup.pair.a, &eqe));
	CHECK_EQ(eqe.type, TERN_EVENT_QP_DRAINED);
	CHECK_EQ(le32toh(eqe.number), setup.pair.a.qp.qpn);
	CHECK(!rdma_event(&setup.pair.a, &eqe));
	rdma_qp_status(&setup.pair.a, &status);
	CHECK_EQ(status.sq_draining, 0);
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_RTS, 0, NULL), 0);
	expect_packet(WIRE_RC_WRITE_ONLY, 200);
	stop();
}

TERN_TEST(send_queue_drains_without_an_event)
{
	struct tern_eqe eqe;

	start((struct rdma_options){ 0 });
	post(TERN_WQE_WRITE, 1);
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_SQD, 0, NULL), 0);
	acknowledge(0, ACK);
	expect_status(TERN_WC_SUCCESS, 0);
	CHECK(!rdma_event(&setup.pair.a, &eqe));
	stop();
}

/* The source port is the queue pair's, or comes from the flow label; the rest is the vector's. */
TERN_TEST(addressing)
{
	struct rdma_options ipv6 = {
		.network = RDMA_V2_IPV6, .flow_label = 0x54321, .traffic_class = 0xa4,
	};
	uint16_t port;

	start((struct rdma_options){ .traffic_class = 0xa4, .hop_limit = 9 });
	post(TERN_WQE_WRITE, 1);
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	port = wire_get_u16(setup.peer.packet.l3 + 20);
	CHECK(port >= 0xc000);
	CHECK_EQ(setup.peer.packet.l3[1], 0xa4);
	CHECK_EQ(setup.peer.packet.l3[8], 9);
	CHECK_MEM(setup.peer.packet.destination_mac, setup.pair.b.mac, 6);
	CHECK_MEM(setup.peer.packet.source_mac, setup.pair.a.mac, 6);
	post(TERN_WQE_WRITE, 1);
	expect_packet(WIRE_RC_WRITE_ONLY, 1);
	CHECK_EQ(wire_get_u16(setup.peer.packet.l3 + 20), port);
	stop();

	start(ipv6);
	post(TERN_WQE_WRITE, 1);
	expect_packet(WIRE_RC_WRITE_ONLY, 0);
	/* 0x54321: low 14 bits 0x0321, high six 0x15. */
	CHECK_EQ(wire_get_u16(setup.peer.packet.l3 + 40), 0xc000 | (0x0321 ^ 0x15));
	CHECK_EQ(wire_get_u32(setup.peer.packet.l3), 0x6a454321);
	stop();
}
