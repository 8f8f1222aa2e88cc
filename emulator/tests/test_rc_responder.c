// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the RC responder against a peer that the test plays: sequence, duplicates, NAKs, checks. */
#include <endian.h>

#include "host_peer.h"
#include "tern_test.h"

#define PSN		0xfffffd	/* of the peer's first packet; it wraps soon */
#define MTU		256

struct setup {
	struct rdma_pair pair;
	struct peer peer;
	uint8_t data[65536];
};

static struct setup setup;

static void start(struct rdma_options options)
{
	options.rq_psn = PSN;
	options.path_mtu = 1;
	rdma_pair_create(&setup.pair, &options);
	peer_start(&setup.peer, &setup.pair);
	rdma_fill(setup.data, sizeof(setup.data), 77);
}

static void stop(void)
{
	peer_stop(&setup.peer);
	rdma_pair_destroy(&setup.pair);
}

static struct wire_headers headers_of(uint8_t opcode, uint32_t number)
{
	struct wire_headers headers = peer_headers(&setup.peer, opcode, PSN + number);

	headers.ack_request = true;
	return headers;
}

static void request(uint8_t opcode, uint32_t number, size_t length)
{
	struct wire_headers headers = headers_of(opcode, number);

	headers.reth.length = (uint32_t)length;
	peer_send(&setup.peer, &headers, setup.data, opcode == WIRE_RC_READ_REQUEST ? 0 : length);
}

static void expect_answer(uint32_t number, uint8_t syndrome, uint32_t msn)
{
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_ACKNOWLEDGE);
	CHECK_EQ(setup.peer.packet.headers.psn, (PSN + number) & WIRE_PSN_MASK);
	CHECK_EQ(setup.peer.packet.headers.aeth.syndrome, syndrome);
	CHECK_EQ(setup.peer.packet.headers.aeth.msn, msn);
}

#define ACK		(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED)
#define NAK(code)	(WIRE_AETH_NAK | WIRE_NAK_##code)

static void expect_silence(void)
{
	CHECK(!peer_next(&setup.peer));
}

static void expect_event(uint8_t type)
{
	struct tern_eqe eqe;

	CHECK(rdma_event(&setup.pair.a, &eqe));
	CHECK_EQ(eqe.type, type);
	CHECK_EQ(le32toh(eqe.number), setup.pair.a.qp.qpn);
	CHECK(!rdma_event(&setup.pair.a, &eqe));
}

static void expect_receive(uint8_t status, uint32_t index, uint32_t bytes)
{
	struct tern_cqe cqe;

	CHECK(driver_cq_poll(&setup.pair.a.receive_cq, &cqe));
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.index), index);
	if (!status)
		CHECK_EQ(le32toh(cqe.byte_count), bytes);
}

static uint8_t state(void)
{
	struct tern_qp_status status;

	rdma_qp_status(&setup.pair.a, &status);
	return status.state;
}

TERN_TEST(acknowledges_on_request_only_and_coalesced)
{
	struct wire_headers headers;

	start((struct rdma_options){ 0 });
	headers = headers_of(WIRE_RC_WRITE_ONLY, 0);
	headers.ack_request = false;
	headers.reth.length = 4;
	peer_send(&setup.peer, &headers, setup.data, 4);
	expect_silence();
	for (uint32_t i = 1; i <= 5; i++)
		request(WIRE_RC_WRITE_ONLY, i, 4);
	expect_answer(5, ACK, 6);
	expect_silence();
	stop();
}

TERN_TEST(duplicates_are_acknowledged_and_not_executed)
{
	uint32_t index;

	start((struct rdma_options){ 0 });
	index = rdma_post_receive(&setup.pair.a, 4096, 100);
	rdma_post_receive(&setup.pair.a, 8192, 100);
	request(WIRE_RC_WRITE_ONLY, 0, 100);
	request(WIRE_RC_SEND_ONLY, 1, 100);
	expect_answer(1, ACK, 2);
	expect_receive(TERN_WC_SUCCESS, index, 100);
	memset(rdma_memory(&setup.pair.a, 0), 0x5a, 100);
	memset(rdma_memory(&setup.pair.a, 4096), 0x5a, 100);
	request(WIRE_RC_WRITE_ONLY, 0, 100);
	expect_answer(1, ACK, 2);
	request(WIRE_RC_SEND_ONLY, 1, 100);
	expect_answer(1, ACK, 2);
	for (unsigned int i = 0; i < 100; i++) {
		CHECK_EQ(rdma_memory(&setup.pair.a, 0)[i], 0x5a);
		CHECK_EQ(rdma_memory(&setup.pair.a, 4096)[i], 0x5a);
	}
	CHECK(rdma_none(&setup.pair.a.receive_cq));
	CHECK_EQ(rdma_counter(&setup.pair.a, "duplicate_request"), 2);
	/* The half of all PSNs that is behind what is expected are duplicates, no one more. */
	request(WIRE_RC_WRITE_ONLY, 2 - 0x800000, 0);
	expect_answer(1, ACK, 2);
	CHECK_EQ(rdma_counter(&setup.pair.a, "duplicate_request"), 3);
	request(WIRE_RC_WRITE_ONLY, 2 + 0x7fffff, 0);
	expect_answer(2, NAK(SEQUENCE), 2);
	CHECK_EQ(rdma_counter(&setup.pair.a, "out_of_sequence"), 1);
	CHECK_EQ(state(), TERN_QP_RTS);
	stop();
}

TERN_TEST(a_gap_makes_one_nak)
{
	start((struct rdma_options){ 0 });
	request(WIRE_RC_WRITE_ONLY, 0, 4);
	expect_answer(0, ACK, 1);
	request(WIRE_RC_WRITE_ONLY, 2, 4);
	expect_answer(1, NAK(SEQUENCE), 1);
	request(WIRE_RC_WRITE_ONLY, 3, 4);
	request(WIRE_RC_WRITE_ONLY, 4, 4);
	expect_silence();
	CHECK_EQ(rdma_counter(&setup.pair.a, "out_of_sequence"), 3);
	request(WIRE_RC_WRITE_ONLY, 1, 4);
	expect_answer(1, ACK, 2);
	/* The next gap is another one. */
	request(WIRE_RC_WRITE_ONLY, 7, 4);
	expect_answer(2, NAK(SEQUENCE), 2);
	/* Two packets that changed places: what is missing in the end is asked for. */
	request(WIRE_RC_WRITE_ONLY, 2, 4);
	expect_answer(2, ACK, 3);
	request(WIRE_RC_WRITE_ONLY, 4, 4);
	request(WIRE_RC_WRITE_ONLY, 3, 4);
	expect_answer(4, NAK(SEQUENCE), 4);
	/* That was asked for already. */
	request(WIRE_RC_WRITE_ONLY, 6, 4);
	expect_silence();
	stop();
}

TERN_TEST(read_is_answered_and_repeated)
{
	struct wire_headers headers;

	start((struct rdma_options){ 0 });
	memcpy(rdma_memory(&setup.pair.a, 0), setup.data, 1000);
	request(WIRE_RC_READ_REQUEST, 0, 600);
	request(WIRE_RC_WRITE_ONLY, 3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint8_t opcodes[] = {
			WIRE_RC_READ_RESPONSE_FIRST, WIRE_RC_READ_RESPONSE_MIDDLE,
			WIRE_RC_READ_RESPONSE_LAST,
		};

		CHECK(peer_next(&setup.peer));
		CHECK_EQ(setup.peer.packet.headers.opcode, opcodes[i]);
		CHECK_EQ(setup.peer.packet.headers.psn, (PSN + i) & WIRE_PSN_MASK);
		CHECK_EQ(setup.peer.packet.payload_length, i < 2 ? MTU : 88);
		if (i != 1)
			CHECK_EQ(setup.peer.packet.headers.aeth.msn, 1);
		CHECK_MEM(setup.peer.packet.payload->base, setup.data + i * MTU,
			  setup.peer.packet.payload_length);
	}
	/* Then the acknowledge of what came behind it. */
	expect_answer(3, ACK, 2);
	/* Asked for again from its second packet: with what memory holds now. */
	rdma_memory(&setup.pair.a, 300)[0] ^= 0xff;
	headers = headers_of(WIRE_RC_READ_REQUEST, 1);
	headers.reth.address += MTU;
	headers.reth.length = 600 - MTU;
	peer_send(&setup.peer, &headers, NULL, 0);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_FIRST);
	CHECK_EQ(setup.peer.packet.headers.psn, (PSN + 1) & WIRE_PSN_MASK);
	CHECK_MEM(setup.peer.packet.payload->base, rdma_memory(&setup.pair.a, MTU), MTU);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_LAST);
	expect_silence();
	CHECK_EQ(rdma_counter(&setup.pair.a, "duplicate_request"), 1);
	/* One that reaches into what was not asked yet is a lie. */
	headers.reth.length = 65536;
	peer_send(&setup.peer, &headers, NULL, 0);
	expect_silence();
	CHECK_EQ(state(), TERN_QP_RTS);
	stop();
}

/* A response acknowledges what came before the READ: nothing else needs to. */
TERN_TEST(response_instead_of_an_acknowledge)
{
	start((struct rdma_options){ 0 });
	request(WIRE_RC_WRITE_ONLY, 0, 4);
	request(WIRE_RC_READ_REQUEST, 1, 4);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_ONLY);
	CHECK_EQ(setup.peer.packet.headers.psn, (PSN + 1) & WIRE_PSN_MASK);
	expect_silence();
	stop();
}

/* Who asks again from the middle on has what comes before: that is not sent any more. */
TERN_TEST(read_repeated_while_it_is_answered)
{
	struct wire_headers headers;

	start((struct rdma_options){ 0 });
	request(WIRE_RC_READ_REQUEST, 0, 4 * MTU);
	headers = headers_of(WIRE_RC_READ_REQUEST, 2);
	headers.reth.address += 2 * MTU;
	headers.reth.length = 2 * MTU;
	peer_send(&setup.peer, &headers, NULL, 0);
	for (uint32_t i = 2; i < 4; i++) {
		CHECK(peer_next(&setup.peer));
		CHECK_EQ(setup.peer.packet.headers.psn, (PSN + i) & WIRE_PSN_MASK);
	}
	expect_silence();
	/* In ERROR nothing more is answered. */
	request(WIRE_RC_READ_REQUEST, 4, 4 * MTU);
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
	expect_silence();
	stop();
}

TERN_TEST(no_more_reads_than_resources)
{
	start((struct rdma_options){ .responder_resources = 2, .initiator_depth = 2 });
	request(WIRE_RC_READ_REQUEST, 0, 1);
	request(WIRE_RC_READ_REQUEST, 1, 1);
	request(WIRE_RC_READ_REQUEST, 2, 1);
	/* Both are answered, then the third is refused. */
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_ONLY);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_ONLY);
	expect_answer(2, NAK(INVALID_REQUEST), 2);
	expect_event(TERN_EVENT_QP_REQUEST_ERROR);
	CHECK_EQ(state(), TERN_QP_ERROR);
	stop();

	/* One that is asked for again while it waits for the wire takes no place of a new one. */
	start((struct rdma_options){ .responder_resources = 1, .speed_mbps = 1 });
	for (uint32_t number = 0; number < 3; number++)
		request(WIRE_RC_READ_REQUEST, number / 2, 4);
	CHECK_EQ(state(), TERN_QP_RTS);
	stop();

	start((struct rdma_options){ .no_reads = true });
	request(WIRE_RC_READ_REQUEST, 0, 1);
	expect_answer(0, NAK(INVALID_REQUEST), 0);
	stop();
}

TERN_TEST(receiver_not_ready)
{
	uint32_t index;

	start((struct rdma_options){ .min_rnr_timer = 21 });
	request(WIRE_RC_SEND_ONLY, 0, 10);
	expect_answer(0, WIRE_AETH_RNR_NAK | 21, 0);
	request(WIRE_RC_SEND_ONLY, 1, 10);
	expect_silence();
	CHECK_EQ(rdma_counter(&setup.pair.a, "rnr_nak_sent"), 1);
	CHECK_EQ(rdma_counter(&setup.pair.a, "rx_payload_bytes"), 0);
	index = rdma_post_receive(&setup.pair.a, 0, 10);
	request(WIRE_RC_SEND_ONLY, 0, 10);
	expect_answer(0, ACK, 1);
	expect_receive(TERN_WC_SUCCESS, index, 10);
	/* What is sent again was not received before; a duplicate is not received again. */
	request(WIRE_RC_SEND_ONLY, 0, 10);
	expect_answer(0, ACK, 1);
	CHECK_EQ(rdma_counter(&setup.pair.a, "rx_payload_bytes"), 10);
	stop();
}

/* The receive came before the NAK was sent: it is not sent. */
TERN_TEST(receiver_ready_just_in_time)
{
	uint32_t index;

	start((struct rdma_options){ 0 });
	request(WIRE_RC_SEND_ONLY, 0, 10);
	index = rdma_post_receive(&setup.pair.a, 0, 10);
	request(WIRE_RC_SEND_ONLY, 0, 10);
	expect_answer(0, ACK, 1);
	expect_silence();
	expect_receive(TERN_WC_SUCCESS, index, 10);
	stop();
}

/* The sender says which receives are to wake a host that waits for such. */
TERN_TEST(solicited_receives)
{
	struct wire_headers headers;
	struct tern_cqe cqe;

	start((struct rdma_options){ 0 });
	for (uint32_t i = 0; i < 3; i++) {
		rdma_post_receive(&setup.pair.a, 0, 10);
		headers = headers_of(WIRE_RC_SEND_ONLY, i);
		headers.solicited = i == 1;
		peer_send(&setup.peer, &headers, setup.data, 10);
		CHECK(driver_cq_poll(&setup.pair.a.receive_cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(cqe.flags, i == 1 ? TERN_CQE_FLAG_SOLICITED : 0);
	}
	stop();
}

/* A duplicate that comes before an answer was sent does not take its place. */
TERN_TEST(duplicates_leave_answers_that_wait)
{
	start((struct rdma_options){ 0 });
	request(WIRE_RC_READ_REQUEST, 0, 4);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_ONLY);
	request(WIRE_RC_WRITE_ONLY, 1, 4);
	request(WIRE_RC_READ_REQUEST, 0, 4);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_ONLY);
	expect_answer(1, ACK, 2);
	request(WIRE_RC_SEND_ONLY, 2, 10);
	request(WIRE_RC_WRITE_ONLY, 1, 4);
	expect_answer(2, WIRE_AETH_RNR_NAK | 1, 2);
	expect_silence();
	stop();
}

static void write_in_two(uint32_t first, uint32_t second, uint32_t announced, uint8_t last)
{
	struct wire_headers headers = headers_of(WIRE_RC_WRITE_FIRST, 0);

	headers.reth.length = announced;
	headers.ack_request = false;
	peer_send(&setup.peer, &headers, setup.data, first);
	if (second != UINT32_MAX) {
		headers = headers_of(last, 1);
		peer_send(&setup.peer, &headers, setup.data + first, second);
	}
}

TERN_TEST(write_immediate_without_a_receive)
{
	uint32_t index;

	start((struct rdma_options){ 0 });
	/* Nothing of the last packet is written before there is a receive. */
	memset(rdma_memory(&setup.pair.a, 0), 0, 400);
	write_in_two(MTU, 100, MTU + 100, WIRE_RC_WRITE_LAST_IMMEDIATE);
	expect_answer(1, WIRE_AETH_RNR_NAK | 1, 0);
	CHECK_EQ(rdma_memory(&setup.pair.a, MTU)[0], 0);
	index = rdma_post_receive(&setup.pair.a, 0, 0);
	write_in_two(MTU, 100, MTU + 100, WIRE_RC_WRITE_LAST_IMMEDIATE);
	expect_answer(1, ACK, 1);
	expect_receive(TERN_WC_SUCCESS, index, MTU + 100);
	CHECK_MEM(rdma_memory(&setup.pair.a, 0), setup.data, MTU + 100);
	stop();
}

static void invalid_request(void)
{
	CHECK_EQ(state(), TERN_QP_ERROR);
	expect_event(TERN_EVENT_QP_REQUEST_ERROR);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(setup.peer.packet.headers.aeth.syndrome, NAK(INVALID_REQUEST));
	expect_silence();
	/* From now on it is deaf. */
	request(WIRE_RC_WRITE_ONLY, 0, 4);
	request(WIRE_RC_WRITE_ONLY, 1, 4);
	expect_silence();
	stop();
}

TERN_TEST(lengths_must_agree)
{
	/* A first packet is as long as the path MTU, no shorter, no longer. */
	static const uint32_t firsts[] = { 0, 4, MTU - 1, MTU + 1, 2 * MTU };

	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		start((struct rdma_options){ 0 });
		write_in_two(firsts[i], UINT32_MAX, 4 * MTU, 0);
		invalid_request();
	}
	/* Fewer or more bytes than announced; nothing in the last packet; too much in it. */
	start((struct rdma_options){ 0 });
	write_in_two(MTU, 10, MTU + 11, WIRE_RC_WRITE_LAST);
	invalid_request();
	start((struct rdma_options){ 0 });
	write_in_two(MTU, 12, MTU + 11, WIRE_RC_WRITE_LAST);
	invalid_request();
	start((struct rdma_options){ 0 });
	write_in_two(MTU, 0, MTU, WIRE_RC_WRITE_LAST);
	invalid_request();
	start((struct rdma_options){ 0 });
	write_in_two(MTU, MTU + 1, 2 * MTU + 1, WIRE_RC_WRITE_LAST);
	invalid_request();
	start((struct rdma_options){ 0 });
	write_in_two(MTU, UINT32_MAX, MTU, 0);
	invalid_request();
	start((struct rdma_options){ 0 });
	write_in_two(MTU, UINT32_MAX, 0x80000001, 0);
	invalid_request();
	start((struct rdma_options){ 0 });
	request(WIRE_RC_WRITE_ONLY, 0, MTU + 1);
	invalid_request();
	/* A last one of a SEND without payload. */
	start((struct rdma_options){ 0 });
	rdma_post_receive(&setup.pair.a, 0, 4 * MTU);
	request(WIRE_RC_SEND_FIRST, 0, MTU);
	request(WIRE_RC_SEND_LAST, 1, 0);
	CHECK_EQ(state(), TERN_QP_ERROR);
	stop();
	/* A middle one with pad. */
	start((struct rdma_options){ 0 });
	write_in_two(MTU, MTU - 1, 4 * MTU, WIRE_RC_WRITE_MIDDLE);
	invalid_request();
}

/* Which packet may follow which: a message in progress is continued by its own kind only. */
TERN_TEST(sequence_of_opcodes)
{
	static const uint8_t opcodes[] = {
		WIRE_RC_SEND_FIRST, WIRE_RC_SEND_MIDDLE, WIRE_RC_SEND_LAST,
		WIRE_RC_SEND_LAST_IMMEDIATE, WIRE_RC_SEND_ONLY, WIRE_RC_SEND_ONLY_IMMEDIATE,
		WIRE_RC_WRITE_FIRST, WIRE_RC_WRITE_MIDDLE, WIRE_RC_WRITE_LAST,
		WIRE_RC_WRITE_LAST_IMMEDIATE, WIRE_RC_WRITE_ONLY, WIRE_RC_WRITE_ONLY_IMMEDIATE,
		WIRE_RC_READ_REQUEST,
	};
	static const uint8_t begins[] = { WIRE_RC_WRITE_ONLY, WIRE_RC_SEND_FIRST,
					  WIRE_RC_WRITE_FIRST };

	for (size_t b = 0; b < sizeof(begins); b++) {
		for (size_t i = 0; i < sizeof(opcodes); i++) {
			const struct wire_opcode *opcode = wire_opcode(opcodes[i]);
			bool continues = begins[b] == WIRE_RC_SEND_FIRST ?
					 opcode->operation == WIRE_OP_SEND :
					 opcode->operation == WIRE_OP_WRITE;
			bool starts = opcode->flags & WIRE_STARTS;
			bool good = begins[b] == WIRE_RC_WRITE_ONLY ? starts :
								      continues && !starts;
			struct wire_headers headers;

			start((struct rdma_options){ 0 });
			rdma_post_receive(&setup.pair.a, 0, 4 * MTU);
			rdma_post_receive(&setup.pair.a, 0, 4 * MTU);
			headers = headers_of(begins[b], 0);
			/* A middle packet leaves something for a last one. */
			headers.reth.length = begins[b] == WIRE_RC_WRITE_ONLY ? MTU :
					      opcode->flags & WIRE_ENDS ? 2 * MTU : 3 * MTU;
			peer_send(&setup.peer, &headers, setup.data, MTU);
			headers = headers_of(opcodes[i], 1);
			headers.reth.length = opcode->flags & WIRE_ENDS ? MTU : 2 * MTU;
			peer_send(&setup.peer, &headers, setup.data,
				  opcode->flags & WIRE_PAYLOAD ? MTU : 0);
			CHECK_EQ(state(), good ? TERN_QP_RTS : TERN_QP_ERROR);
			stop();
		}
	}
}

/* Opcodes of features that were not taken. */
TERN_TEST(unsupported_operations)
{
	static const uint8_t opcodes[] = {
		WIRE_RC_CAS, WIRE_RC_FETCH_ADD, WIRE_RC_SEND_ONLY_INVALIDATE,
	};

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		struct wire_headers headers;

		start((struct rdma_options){
			.without_features = UINT64_C(1) << TERN_FEATURE_ATOMICS |
					    UINT64_C(1) << TERN_FEATURE_FAST_REGISTRATION |
					    UINT64_C(1) << TERN_FEATURE_MEMORY_WINDOWS,
		});
		rdma_post_receive(&setup.pair.a, 0, 100);
		headers = headers_of(opcodes[i], 0);
		peer_send(&setup.peer, &headers, NULL, 0);
		invalid_request();
	}
}

static void access_refused(uint8_t opcode, uint32_t key, uint64_t address, uint32_t length)
{
	struct wire_headers headers = headers_of(opcode, 0);

	headers.reth.key = key;
	headers.reth.address = address;
	headers.reth.length = length;
	peer_send(&setup.peer, &headers, setup.data,
		  opcode == WIRE_RC_READ_REQUEST ? 0 : length < MTU ? length : MTU);
	CHECK_EQ(state(), TERN_QP_ERROR);
	expect_event(TERN_EVENT_QP_ACCESS_ERROR);
	expect_answer(0, NAK(REMOTE_ACCESS), 0);
	CHECK_EQ(rdma_counter(&setup.pair.a, "resp_remote_access_errors"), 1);
	stop();
}

static void fresh(void)
{
	start((struct rdma_options){ 0 });
}

TERN_TEST(remote_access_is_checked)
{
	static const uint8_t opcodes[] = { WIRE_RC_WRITE_ONLY, WIRE_RC_READ_REQUEST };
	struct rdma_side *a = &setup.pair.a;

	for (size_t i = 0; i < 2; i++) {
		uint8_t opcode = opcodes[i];
		uint32_t rights = opcode == WIRE_RC_READ_REQUEST ?
				  RDMA_ALL_ACCESS & ~(uint32_t)TERN_ACCESS_REMOTE_READ :
				  RDMA_ALL_ACCESS & ~(uint32_t)TERN_ACCESS_REMOTE_WRITE;

		fresh();
		access_refused(opcode, a->key ^ 1, a->buffer, 4);
		fresh();
		access_refused(opcode, 0, a->buffer, 4);
		fresh();
		access_refused(opcode, 0xffffff00, a->buffer, 4);
		fresh();
		access_refused(opcode, a->key, a->buffer - 1, 4);
		fresh();
		access_refused(opcode, a->key, a->buffer + a->buffer_bytes - 3, 4);
		fresh();
		access_refused(opcode, a->key, UINT64_MAX, 4);
		fresh();
		access_refused(opcode, a->key, UINT64_MAX - 1, 4);
		fresh();
		access_refused(opcode, a->key, 0, 4);
		/* Another PD; a right that the key lacks. */
		fresh();
		access_refused(opcode, driver_key_create(a->driver, a->buffer, 4096,
							 RDMA_ALL_ACCESS, RDMA_PD + 1),
			       a->buffer, 4);
		fresh();
		access_refused(opcode, driver_key_create(a->driver, a->buffer, 4096, rights,
							 RDMA_PD), a->buffer, 4);
		/* No data, no access: no key is needed (C9-88), but a wrong one is refused. */
		fresh();
		access_refused(opcode, 0x12345678, a->buffer, 0);
		fresh();
		access_refused(opcode, driver_key_create(a->driver, a->buffer, 4096, rights,
							 RDMA_PD), a->buffer, 0);
		for (unsigned int with_key = 0; with_key < 2; with_key++) {
			struct wire_headers headers;

			fresh();
			headers = headers_of(opcode, 0);
			headers.reth.key = with_key ? a->key : 0;
			headers.reth.address = 1;
			headers.reth.length = 0;
			peer_send(&setup.peer, &headers, NULL, 0);
			CHECK(peer_next(&setup.peer));
			CHECK_EQ(setup.peer.packet.headers.aeth.syndrome, ACK);
			CHECK_EQ(state(), TERN_QP_RTS);
			stop();
		}
	}
	/* The end of the region itself is inside. */
	fresh();
	{
		struct wire_headers headers = headers_of(WIRE_RC_WRITE_ONLY, 0);

		headers.reth.address = a->buffer + a->buffer_bytes - 4;
		headers.reth.length = 4;
		peer_send(&setup.peer, &headers, setup.data, 4);
		expect_answer(0, ACK, 1);
	}
	stop();
}

TERN_TEST(operations_that_the_queue_pair_does_not_allow)
{
	start((struct rdma_options){ .access = TERN_ACCESS_REMOTE_READ });
	request(WIRE_RC_WRITE_ONLY, 0, 4);
	invalid_request();
	start((struct rdma_options){ .access = TERN_ACCESS_REMOTE_WRITE });
	request(WIRE_RC_READ_REQUEST, 0, 4);
	invalid_request();
}

/* Longer than a message may be: not an access that is wrong, but a request that is. */
TERN_TEST(read_longer_than_the_limit)
{
	struct wire_headers headers;

	fresh();
	headers = headers_of(WIRE_RC_READ_REQUEST, 0);
	headers.reth.length = 0x80000001;
	peer_send(&setup.peer, &headers, NULL, 0);
	invalid_request();
}

/* The key goes while a message is on its way. */
TERN_TEST(key_destroyed_in_the_middle)
{
	struct rdma_side *a = &setup.pair.a;

	fresh();
	write_in_two(MTU, UINT32_MAX, 3 * MTU, 0);
	CHECK_EQ(driver_command(a->driver, TERN_COMMAND_DESTROY_KEY, a->key >> 8, NULL, 0), 0);
	request(WIRE_RC_WRITE_MIDDLE, 1, MTU);
	expect_answer(1, NAK(REMOTE_ACCESS), 0);
	CHECK_EQ(state(), TERN_QP_ERROR);
	stop();

	/* And between a READ and its responses. */
	fresh();
	request(WIRE_RC_READ_REQUEST, 0, 20 * MTU);
	CHECK_EQ(driver_command(a->driver, TERN_COMMAND_DESTROY_KEY, a->key >> 8, NULL, 0), 0);
	while (peer_next(&setup.peer) &&
	       setup.peer.packet.headers.opcode != WIRE_RC_ACKNOWLEDGE)
		;
	CHECK_EQ(setup.peer.packet.headers.aeth.syndrome, NAK(REMOTE_ACCESS));
	CHECK_EQ(state(), TERN_QP_ERROR);
	stop();
}

/* The key is replaced while a message is on its way: its rights are those of now. */
TERN_TEST(key_replaced_in_the_middle)
{
	struct rdma_side *a = &setup.pair.a;
	uint32_t last;

	fresh();
	write_in_two(MTU, UINT32_MAX, 3 * MTU, 0);
	driver_key_replace(a->driver, a->key, a->buffer, a->buffer_bytes,
			   TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_READ, RDMA_PD);
	request(WIRE_RC_WRITE_MIDDLE, 1, MTU);
	expect_answer(1, NAK(REMOTE_ACCESS), 0);
	stop();

	/* Paced, so that the wire is busy while the key is replaced. */
	start((struct rdma_options){ .speed_mbps = 100 });
	request(WIRE_RC_READ_REQUEST, 0, 20 * MTU);
	CHECK(peer_next(&setup.peer));
	driver_key_replace(a->driver, a->key, a->buffer, a->buffer_bytes,
			   TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE, RDMA_PD);
	do {
		last = setup.peer.packet.headers.psn;
		CHECK(peer_wait(&setup.peer, 1000000));
	} while (setup.peer.packet.headers.opcode != WIRE_RC_ACKNOWLEDGE);
	/* It refuses the response that would have come now, not the READ or what is behind it. */
	CHECK_EQ(setup.peer.packet.headers.psn, (last + 1) & WIRE_PSN_MASK);
	CHECK_EQ(setup.peer.packet.headers.aeth.syndrome, NAK(REMOTE_ACCESS));
	expect_event(TERN_EVENT_QP_ACCESS_ERROR);
	stop();
}

/* READs that are asked for again are checked again: the right may be gone, and the data there. */
TERN_TEST(read_repeated_without_the_right)
{
	struct tern_qp_attributes attributes = { .access = htole32(TERN_ACCESS_REMOTE_WRITE) };
	struct rdma_side *a = &setup.pair.a;

	fresh();
	request(WIRE_RC_READ_REQUEST, 0, 4);
	CHECK(peer_next(&setup.peer));
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_RTS, TERN_QP_SET_ACCESS, &attributes),
		 0);
	request(WIRE_RC_READ_REQUEST, 0, 4);
	expect_silence();
	CHECK_EQ(state(), TERN_QP_RTS);
	stop();

	fresh();
	request(WIRE_RC_READ_REQUEST, 0, 4);
	CHECK(peer_next(&setup.peer));
	driver_key_replace(a->driver, a->key, a->buffer, a->buffer_bytes,
			   TERN_ACCESS_LOCAL_WRITE, RDMA_PD);
	request(WIRE_RC_READ_REQUEST, 0, 4);
	expect_silence();
	CHECK_EQ(state(), TERN_QP_RTS);
	stop();
}

/* Packets of another service than the queue pair's. */
TERN_TEST(packets_of_another_service)
{
	struct wire_headers headers;

	fresh();
	rdma_post_receive(&setup.pair.a, 0, 100);
	headers = headers_of(WIRE_UD_SEND_ONLY, 0);
	headers.deth.qkey = RDMA_QKEY;
	peer_send(&setup.peer, &headers, setup.data, 10);
	expect_silence();
	CHECK_EQ(rdma_counter(&setup.pair.a, "rx_malformed"), 1);
	CHECK(rdma_none(&setup.pair.a.receive_cq));
	CHECK_EQ(state(), TERN_QP_RTS);
	stop();

	start((struct rdma_options){ .type = TERN_QP_UD });
	rdma_post_receive(&setup.pair.a, 0, 100);
	headers = headers_of(WIRE_RC_SEND_ONLY, 0);
	headers.deth.qkey = RDMA_QKEY;
	peer_send(&setup.peer, &headers, setup.data, 10);
	expect_silence();
	CHECK_EQ(rdma_counter(&setup.pair.a, "rx_malformed"), 1);
	CHECK(rdma_none(&setup.pair.a.receive_cq));
	stop();
}

/* A receive that does not fit or may not be written ends with the error that says so. */
TERN_TEST(receives_that_fail)
{
	struct tern_sge sge = { .length = htole32(100) };
	uint32_t index, next;

	fresh();
	index = rdma_post_receive(&setup.pair.a, 0, 99);
	next = rdma_post_receive(&setup.pair.a, 0, 1000);
	request(WIRE_RC_SEND_ONLY, 0, 100);
	expect_answer(0, NAK(INVALID_REQUEST), 0);
	expect_receive(TERN_WC_LOCAL_LENGTH, index, 0);
	expect_receive(TERN_WC_FLUSHED, next, 0);
	CHECK_EQ(state(), TERN_QP_ERROR);
	stop();

	fresh();
	sge.address = htole64(setup.pair.a.buffer);
	sge.key = htole32(setup.pair.a.key ^ 1);
	index = driver_post_receive(&setup.pair.a.qp, &sge, 1);
	next = rdma_post_receive(&setup.pair.a, 0, 1000);
	request(WIRE_RC_SEND_ONLY, 0, 100);
	expect_answer(0, NAK(REMOTE_OPERATION), 0);
	expect_receive(TERN_WC_LOCAL_PROTECTION, index, 0);
	expect_receive(TERN_WC_FLUSHED, next, 0);
	stop();

	/* In the middle of a message, too; and the receive in use is not flushed twice. */
	fresh();
	index = rdma_post_receive(&setup.pair.a, 0, MTU + 10);
	next = rdma_post_receive(&setup.pair.a, 0, 1000);
	request(WIRE_RC_SEND_FIRST, 0, MTU);
	request(WIRE_RC_SEND_LAST, 1, 11);
	expect_answer(1, NAK(INVALID_REQUEST), 0);
	expect_receive(TERN_WC_LOCAL_LENGTH, index, 0);
	expect_receive(TERN_WC_FLUSHED, next, 0);
	CHECK(rdma_none(&setup.pair.a.receive_cq));
	stop();
}

TERN_TEST(a_receive_in_use_is_flushed_in_order)
{
	uint32_t index[3];

	fresh();
	for (unsigned int i = 0; i < 3; i++)
		index[i] = rdma_post_receive(&setup.pair.a, 0, 4 * MTU);
	request(WIRE_RC_SEND_FIRST, 0, MTU);
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
	world_settle(setup.pair.world);
	for (unsigned int i = 0; i < 3; i++)
		expect_receive(TERN_WC_FLUSHED, index[i], 0);
	CHECK(rdma_none(&setup.pair.a.receive_cq));
	stop();
}

TERN_TEST(memory_that_is_gone)
{
	fresh();
	host_set_pages(setup.pair.a.machine, setup.pair.a.buffer, 4096, HOST_PAGE_ABSENT);
	request(WIRE_RC_WRITE_ONLY, 0, 4);
	expect_answer(0, NAK(REMOTE_OPERATION), 0);
	CHECK_EQ(state(), TERN_QP_ERROR);
	stop();

	/* What cannot be mapped is read and written. */
	fresh();
	host_set_pages(setup.pair.a.machine, setup.pair.a.buffer, 8192, HOST_PAGE_UNMAPPABLE);
	request(WIRE_RC_WRITE_ONLY, 0, 200);
	expect_answer(0, ACK, 1);
	CHECK_MEM(rdma_memory(&setup.pair.a, 0), setup.data, 200);
	request(WIRE_RC_READ_REQUEST, 1, 200);
	CHECK(peer_next(&setup.peer));
	CHECK_MEM(setup.peer.packet.payload->base, setup.data, 200);
	stop();
}

TERN_TEST(established_event_in_rtr)
{
	struct rdma_options options = { .rq_psn = PSN, .sq_psn = 9, .path_mtu = 1 };
	struct tern_qp_attributes attributes;
	struct tern_eqe eqe;

	start(options);
	/* Back to RTR. */
	CHECK_EQ(driver_qp_modify(&setup.pair.a.qp, TERN_QP_RESET, 0, NULL), 0);
	rdma_attributes(&setup.pair.a, &setup.pair.b, &options, true, &attributes);
	CHECK_EQ(rdma_to_rtr(&setup.pair.a, &attributes), 0);
	CHECK(!rdma_event(&setup.pair.a, &eqe));
	request(WIRE_RC_WRITE_ONLY, 0, 4);
	expect_event(TERN_EVENT_QP_ESTABLISHED);
	request(WIRE_RC_WRITE_ONLY, 1, 4);
	CHECK(!rdma_event(&setup.pair.a, &eqe));
	expect_answer(1, ACK, 2);
	stop();
}

/* A congestion notification is neither an error nor a request. */
TERN_TEST(congestion_notifications)
{
	struct wire_headers headers;

	fresh();
	headers = headers_of(WIRE_CNP, 0);
	headers.ack_request = false;
	peer_send(&setup.peer, &headers, NULL, 0);
	expect_silence();
	CHECK_EQ(rdma_counter(&setup.pair.a, "rx_malformed"), 0);
	CHECK_EQ(rdma_counter(&setup.pair.a, "rx_no_qp"), 0);
	CHECK_EQ(rdma_counter(&setup.pair.a, "duplicate_request"), 0);
	request(WIRE_RC_WRITE_ONLY, 0, 4);
	expect_answer(0, ACK, 1);
	stop();
}

/* Who is not the peer, has a bad ICRC or another partition is not heard, and nothing happens. */
TERN_TEST(strangers_are_not_heard)
{
	struct wire_headers headers;
	struct rdma_side *a = &setup.pair.a;
	uint8_t gid[16];

	fresh();
	memset(rdma_memory(a, 0), 0, 4);
	headers = headers_of(WIRE_RC_WRITE_ONLY, 0);
	headers.reth.length = 4;
	headers.pkey = 0x8001;
	peer_send(&setup.peer, &headers, setup.data, 4);
	CHECK_EQ(rdma_counter(a, "rx_pkey_violations"), 1);
	headers.pkey = 0xffff;
	headers.destination_qpn = 4711;
	peer_send(&setup.peer, &headers, setup.data, 4);
	headers.destination_qpn = 0xffffff;
	peer_send(&setup.peer, &headers, setup.data, 4);
	headers.destination_qpn = 0;
	peer_send(&setup.peer, &headers, setup.data, 4);
	CHECK_EQ(rdma_counter(a, "rx_no_qp"), 3);
	/* Another source address. */
	setup.peer.path.bytes[setup.peer.path.l3_offset + 15] ^= 1;
	setup.peer.path.ipv4_sum ^= 1;
	headers.destination_qpn = a->qp.qpn;
	peer_send(&setup.peer, &headers, setup.data, 4);
	CHECK_EQ(rdma_counter(a, "rx_no_qp"), 4);
	setup.peer.path.bytes[setup.peer.path.l3_offset + 15] ^= 1;
	setup.peer.path.ipv4_sum ^= 1;
	/* Another address of this function than the queue pair's. */
	memcpy(gid, a->gid, 16);
	gid[15] += 8;
	CHECK_EQ(rdma_set_gid(a->driver, 9, gid, a->mac, TERN_GID_TYPE_ROCE_V2, -1), 0);
	setup.peer.path.bytes[setup.peer.path.l3_offset + 19] += 8;
	setup.peer.path.ipv4_sum += 8;
	peer_send(&setup.peer, &headers, setup.data, 4);
	CHECK_EQ(rdma_counter(a, "rx_no_qp"), 5);
	setup.peer.path.bytes[setup.peer.path.l3_offset + 19] -= 8;
	setup.peer.path.ipv4_sum -= 8;
	CHECK_EQ(rdma_memory(a, 0)[0], 0);
	expect_silence();
	/* A limited member of the partition may talk to a full one. */
	headers.pkey = 0x7fff;
	peer_send(&setup.peer, &headers, setup.data, 4);
	expect_answer(0, ACK, 1);
	stop();
}
