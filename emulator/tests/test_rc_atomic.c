// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: RC atomics: values, duplicates, depth, fence, errors; and a peer that is played. */
#include <endian.h>

#include "host_peer.h"
#include "tern_test.h"

#define ACK		(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED)
#define NAK(code)	(WIRE_AETH_NAK | WIRE_NAK_##code)
#define PSN		0xfffffd	/* of the peer's first packet; it wraps soon */

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

/* What @request, from a to b's first bytes, found there. */
static uint64_t atomic(uint8_t opcode, uint64_t swap_add, uint64_t compare)
{
	struct rdma_request request = {
		.opcode = opcode, .length = 8, .swap_add = swap_add, .compare = compare,
		.address = pair.a.buffer + 64,
	};
	struct tern_cqe cqe;
	uint32_t index;

	store(&pair.a, 56, 0x5a5a5a5a5a5a5a5a);
	store(&pair.a, 64, 0);
	store(&pair.a, 72, 0x5a5a5a5a5a5a5a5a);
	index = rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, opcode);
	CHECK_EQ(le32toh(cqe.index), index);
	CHECK_EQ(le32toh(cqe.byte_count), 8);
	CHECK_EQ(load(&pair.a, 56), 0x5a5a5a5a5a5a5a5a);
	CHECK_EQ(load(&pair.a, 72), 0x5a5a5a5a5a5a5a5a);
	return load(&pair.a, 64);
}

static void values(struct rdma_options options)
{
	rdma_pair_create(&pair, &options);
	store(&pair.b, 0, 0x1122334455667788);
	store(&pair.b, 8, 0x5a5a5a5a5a5a5a5a);
	/* Not equal in the highest, then in the lowest byte: nothing is stored. */
	CHECK_EQ(atomic(TERN_WQE_CAS, 1, 0x1022334455667788), 0x1122334455667788);
	CHECK_EQ(load(&pair.b, 0), 0x1122334455667788);
	CHECK_EQ(atomic(TERN_WQE_CAS, 1, 0x1122334455667789), 0x1122334455667788);
	CHECK_EQ(load(&pair.b, 0), 0x1122334455667788);
	CHECK_EQ(atomic(TERN_WQE_CAS, 0xfedcba9876543210, 0x1122334455667788),
		 0x1122334455667788);
	CHECK_EQ(load(&pair.b, 0), 0xfedcba9876543210);
	CHECK_EQ(atomic(TERN_WQE_FETCH_ADD, 0x0101010101010101, 99), 0xfedcba9876543210);
	CHECK_EQ(load(&pair.b, 0), 0xffddbb9977553311);
	/* It wraps: a carry goes nowhere. */
	CHECK_EQ(atomic(TERN_WQE_FETCH_ADD, 0x1000000000000000, 0), 0xffddbb9977553311);
	CHECK_EQ(load(&pair.b, 0), 0x0fddbb9977553311);
	CHECK_EQ(atomic(TERN_WQE_FETCH_ADD, 0, 0), 0x0fddbb9977553311);
	CHECK_EQ(load(&pair.b, 8), 0x5a5a5a5a5a5a5a5a);
	rdma_pair_destroy(&pair);
}

TERN_TEST(values_are_right)
{
	values((struct rdma_options){ .network = RDMA_V2_IPV4 });
	values((struct rdma_options){ .network = RDMA_V2_IPV6, .no_shortcuts = true });
	values((struct rdma_options){ .loopback = true });
	values((struct rdma_options){ .latency_ns = 1000 });
}

/* Old values may be scattered. */
TERN_TEST(result_in_pieces)
{
	struct tern_sge sges[3] = {
		{ .length = htole32(3) }, { .length = htole32(0) }, { .length = htole32(5) },
	};
	struct rdma_request request = {
		.opcode = TERN_WQE_FETCH_ADD, .swap_add = 1, .sges = sges, .sge_count = 3,
	};
	static const uint8_t want[] = { 1, 2, 3, 0, 0, 4, 5, 6, 7, 8 };

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	store(&pair.b, 0, 0x0807060504030201);
	for (unsigned int i = 0; i < 3; i++) {
		sges[i].address = htole64(pair.a.buffer + 64 + (i ? 5 : 0));
		sges[i].key = htole32(pair.a.key);
	}
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, rdma_post(&pair, &pair.a, &request));
	CHECK_MEM(rdma_memory(&pair.a, 64), want, sizeof(want));
	rdma_pair_destroy(&pair);
}

#define COUNT		300

static void impair(struct rdma_side *side, double probability)
{
	static const enum tern_misbehaviour kinds[] = {
		TERN_WIRE_DROP, TERN_WIRE_DUPLICATE, TERN_WIRE_REORDER,
	};

	for (unsigned int i = 0; i < 3; i++) {
		struct tern_wire_rule rule = {
			.what = kinds[i], .opcode = -1, .probability = probability,
		};

		CHECK(tern_nic_add_wire_rule(side->machine->nic, &rule) >= 0);
	}
}

/*
 * On a wire that loses, doubles and reorders every atomic is executed once:
 * the values found are 0, 1, 2..., in order, WRITEs and READs between them.
 */
TERN_TEST(executed_once_on_a_bad_wire)
{
	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct rdma_options options = {
			.seed = seed, .latency_ns = 2000, .timeout = 8, .path_mtu = 1,
			.initiator_depth = seed & 1 ? 16 : 3,
			.responder_resources = seed & 1 ? 16 : 3,
			.no_shortcuts = seed & 2, .sq_psn = 0xffffc0,
		};

		rdma_pair_create(&pair, &options);
		impair(&pair.a, 0.04);
		impair(&pair.b, 0.04);
		store(&pair.b, 0, 0);
		for (uint32_t i = 0; i < COUNT; i++) {
			struct rdma_request request = {
				.opcode = i % 3 ? TERN_WQE_FETCH_ADD : TERN_WQE_CAS,
				.length = 8, .address = pair.a.buffer + 4096 + 8 * i,
				.swap_add = i % 3 ? 1 : i + 1, .compare = i % 3 ? 0 : i,
			};
			struct rdma_request other = {
				.opcode = i & 1 ? TERN_WQE_WRITE : TERN_WQE_READ, .length = 600,
				.address = pair.a.buffer + 65536, .unsignaled = true,
				.remote_address = pair.b.buffer + 65536,
			};

			rdma_post(&pair, &pair.a, &request);
			if (i % 4 == 0)
				rdma_post(&pair, &pair.a, &other);
		}
		for (uint32_t i = 0; i < COUNT; i++) {
			struct tern_cqe cqe;

			rdma_wait(&pair, &pair.a.send_cq, &cqe);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		}
		for (uint32_t i = 0; i < COUNT; i++)
			CHECK_EQ(load(&pair.a, 4096 + 8 * i), i);
		CHECK_EQ(load(&pair.b, 0), COUNT);
		CHECK(rdma_counter(&pair.a, "retransmitted_packets") > 0);
		CHECK(rdma_counter(&pair.b, "duplicate_request") > 0);
		/* Each once, however often it was asked for. */
		CHECK_EQ(rdma_counter(&pair.b, "rx_atomic_requests"), COUNT);
		rdma_pair_destroy(&pair);
	}
}

/* Both ends add to one word at a time: no addition is lost. */
TERN_TEST(both_ends_and_loopback)
{
	struct rdma_request request = { .opcode = TERN_WQE_FETCH_ADD, .length = 8, .swap_add = 1 };
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .loopback = true });
	store(&pair.b, 512, 0);
	request.remote_address = pair.b.buffer + 512;
	request.remote_key = pair.b.key;
	for (unsigned int i = 0; i < 100; i++) {
		request.address = pair.a.buffer;
		rdma_post(&pair, &pair.a, &request);
		request.address = pair.b.buffer;
		rdma_post(&pair, &pair.b, &request);
	}
	for (unsigned int i = 0; i < 100; i++) {
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		rdma_wait(&pair, &pair.b.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	}
	CHECK_EQ(load(&pair.b, 512), 200);
	rdma_pair_destroy(&pair);
}

/* A request that never leaves: what is before it arrives, what is behind it is flushed. */
static void local_error(const struct rdma_request *bad, uint8_t status,
			const struct rdma_options *options)
{
	struct rdma_request good = { .opcode = TERN_WQE_WRITE, .length = 100 };
	uint32_t index[3];

	rdma_pair_create(&pair, options);
	store(&pair.b, 4096, 7);
	index[0] = rdma_post(&pair, &pair.a, &good);
	index[1] = rdma_post(&pair, &pair.a, bad);
	index[2] = rdma_post(&pair, &pair.a, &good);
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, index[0]);
	expect(&pair.a.send_cq, status, index[1]);
	expect(&pair.a.send_cq, TERN_WC_FLUSHED, index[2]);
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
	rdma_pair_destroy(&pair);
}

TERN_TEST(local_errors)
{
	static const uint8_t opcodes[] = { TERN_WQE_CAS, TERN_WQE_FETCH_ADD };
	const struct rdma_options usual = { 0 }, none = { .no_reads = true };

	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_request request = { .opcode = opcodes[i] };
		uint64_t value = 0;

		for (request.length = 0; request.length <= 16; request.length++) {
			if (request.length != 8)
				local_error(&request, TERN_WC_LOCAL_LENGTH, &usual);
		}
		request.length = 8;
		local_error(&request, TERN_WC_LOCAL_QP_OPERATION, &none);
		request.key = 0xabcdef01;
		local_error(&request, TERN_WC_LOCAL_PROTECTION, &usual);
		request.key = 0;
		request.address = HOST_MEMORY_BASE;
		local_error(&request, TERN_WC_LOCAL_PROTECTION, &usual);
		request.address = 0;
		request.inlined = &value;
		local_error(&request, TERN_WC_LOCAL_QP_OPERATION, &usual);
	}
}

/* The result may only go where the local key allows writing. */
TERN_TEST(result_without_local_write)
{
	struct rdma_request request = { .opcode = TERN_WQE_FETCH_ADD, .length = 8, .swap_add = 1 };

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	request.key = driver_key_create(pair.a.driver, pair.a.buffer, 4096, 0, RDMA_PD);
	store(&pair.b, 0, 7);
	expect(&pair.a.send_cq, TERN_WC_LOCAL_PROTECTION, rdma_post(&pair, &pair.a, &request));
	CHECK_EQ(load(&pair.b, 0), 7);
	rdma_pair_destroy(&pair);
}

/* A key that is taken back while the atomic is on its way. */
TERN_TEST(result_whose_key_is_gone)
{
	struct rdma_request request = { .opcode = TERN_WQE_FETCH_ADD, .length = 8, .swap_add = 1 };
	uint32_t index;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 100000 });
	store(&pair.a, 0, 99);
	index = rdma_post(&pair, &pair.a, &request);
	world_settle(pair.world);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_KEY,
				pair.a.key >> TERN_KEY_INDEX_SHIFT, NULL, 0), 0);
	expect(&pair.a.send_cq, TERN_WC_LOCAL_PROTECTION, index);
	CHECK_EQ(load(&pair.a, 0), 99);
	rdma_pair_destroy(&pair);
}

static void remote_error(struct rdma_request *request, const struct rdma_options *options,
			 uint8_t status, uint8_t event)
{
	struct tern_eqe eqe;
	uint32_t index;

	request->length = 8;
	request->swap_add = 1;
	if (!pair.world)
		rdma_pair_create(&pair, options);
	for (uint64_t offset = 0; offset < 64; offset += 8)
		store(&pair.b, offset, 7);
	store(&pair.a, 0, 99);
	index = rdma_post(&pair, &pair.a, request);
	expect(&pair.a.send_cq, status, index);
	CHECK_EQ(load(&pair.a, 0), 99);
	for (uint64_t offset = 0; offset < 64; offset += 8)
		CHECK_EQ(load(&pair.b, offset), 7);
	CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
	CHECK(rdma_event(&pair.b, &eqe));
	CHECK_EQ(eqe.type, event);
	rdma_pair_destroy(&pair);
	pair.world = NULL;
}

static void remote_errors(const struct rdma_options *options)
{
	static const uint32_t rights[] = {
		TERN_ACCESS_LOCAL_WRITE,
		TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ,
	};
	struct rdma_request stranger = { .opcode = TERN_WQE_CAS, .compare = 7 };
	struct rdma_request absent = { .opcode = TERN_WQE_FETCH_ADD };
	struct rdma_options without = *options;

	/* Not aligned; the key does not matter then. */
	for (unsigned int i = 1; i < 8; i++) {
		struct rdma_request request = { .opcode = TERN_WQE_FETCH_ADD };

		rdma_pair_create(&pair, options);
		request.remote_address = pair.b.buffer + i;
		remote_error(&request, options, TERN_WC_REMOTE_INVALID_REQUEST,
			     TERN_EVENT_QP_REQUEST_ERROR);
	}
	without.access = TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ;
	remote_error(&(struct rdma_request){ .opcode = TERN_WQE_CAS, .compare = 7 }, &without,
		     TERN_WC_REMOTE_INVALID_REQUEST, TERN_EVENT_QP_REQUEST_ERROR);
	stranger.remote_key = 0x12345678;
	remote_error(&stranger, options, TERN_WC_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_request request = { .opcode = TERN_WQE_CAS, .compare = 7 };

		rdma_pair_create(&pair, options);
		request.remote_key = driver_key_create(pair.b.driver, pair.b.buffer, 4096,
						       rights[i], RDMA_PD);
		remote_error(&request, options, TERN_WC_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
	}
	for (unsigned int i = 0; i < 4; i++) {
		struct rdma_request request = { .opcode = TERN_WQE_FETCH_ADD };

		rdma_pair_create(&pair, options);
		request.remote_key = pair.b.key;
		switch (i) {
		case 0:
			request.remote_address = pair.b.buffer + pair.b.buffer_bytes;
			break;
		case 1:
			request.remote_address = pair.b.buffer - 8;
			break;
		case 2:
			request.remote_address = UINT64_MAX - 7;
			break;
		default:
			/* The right key in another protection domain. */
			request.remote_key = driver_key_create(pair.b.driver, pair.b.buffer, 4096,
							       RDMA_ALL_ACCESS, RDMA_PD + 1);
			break;
		}
		remote_error(&request, options, TERN_WC_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
	}
	/* Memory that is not there. */
	rdma_pair_create(&pair, options);
	host_set_pages(pair.b.machine, pair.b.buffer + 8192, 4096, HOST_PAGE_ABSENT);
	absent.remote_address = pair.b.buffer + 8192;
	remote_error(&absent, options, TERN_WC_REMOTE_OPERATION, TERN_EVENT_QP_FATAL);
}

TERN_TEST(remote_errors_on_the_wire)
{
	remote_errors(&(struct rdma_options){ .latency_ns = 1000 });
}

TERN_TEST(remote_errors_over_loopback)
{
	remote_errors(&(struct rdma_options){ .loopback = true });
}

TERN_TEST(feature_that_was_not_taken)
{
	struct rdma_options options = { .without_features = UINT64_C(1) << TERN_FEATURE_ATOMICS };
	struct rdma_request request = { .opcode = TERN_WQE_FETCH_ADD, .length = 8 };
	struct wire_headers headers;

	rdma_pair_create(&pair, &options);
	expect(&pair.a.send_cq, TERN_WC_LOCAL_QP_OPERATION, rdma_post(&pair, &pair.a, &request));
	rdma_pair_destroy(&pair);

	options.rq_psn = PSN;
	rdma_pair_create(&pair, &options);
	peer_start(&peer, &pair);
	store(&pair.a, 0, 7);
	headers = peer_headers(&peer, WIRE_RC_FETCH_ADD, PSN);
	headers.atomic.address = pair.a.buffer;
	headers.atomic.key = pair.a.key;
	headers.atomic.swap_add = 1;
	peer_send(&peer, &headers, NULL, 0);
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(INVALID_REQUEST));
	CHECK_EQ(load(&pair.a, 0), 7);
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

/* From here on the peer is played. */

static void play(struct rdma_options options)
{
	options.rq_psn = PSN;
	options.sq_psn = PSN;
	options.path_mtu = 1;
	rdma_pair_create(&pair, &options);
	peer_start(&peer, &pair);
}

static void stop(void)
{
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

static void request_atomic(uint8_t opcode, uint32_t number, uint64_t offset, uint64_t swap_add,
			   uint64_t compare)
{
	struct wire_headers headers = peer_headers(&peer, opcode, PSN + number);

	headers.ack_request = true;
	headers.atomic.address = pair.a.buffer + offset;
	headers.atomic.key = pair.a.key;
	headers.atomic.swap_add = swap_add;
	headers.atomic.compare = compare;
	peer_send(&peer, &headers, NULL, 0);
}

static void request_other(uint8_t opcode, uint32_t number, size_t length)
{
	static const uint8_t data[256];
	struct wire_headers headers = peer_headers(&peer, opcode, PSN + number);

	headers.ack_request = true;
	headers.reth.address = pair.a.buffer + 4096;
	headers.reth.length = (uint32_t)length;
	peer_send(&peer, &headers, data, opcode == WIRE_RC_READ_REQUEST ? 0 : length);
}

static void expect_original(uint32_t number, uint64_t original, uint32_t msn)
{
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_ATOMIC_ACKNOWLEDGE);
	CHECK_EQ(peer.packet.headers.psn, (PSN + number) & WIRE_PSN_MASK);
	CHECK_EQ(peer.packet.headers.aeth.syndrome, ACK);
	CHECK_EQ(peer.packet.headers.aeth.msn, msn);
	CHECK_EQ(peer.packet.headers.atomic_original, original);
}

static void expect_packet(uint8_t opcode, uint32_t number)
{
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.opcode, opcode);
	CHECK_EQ(peer.packet.headers.psn, (PSN + number) & WIRE_PSN_MASK);
}

TERN_TEST(duplicates_get_what_was_found)
{
	play((struct rdma_options){ 0 });
	store(&pair.a, 0, 100);
	for (uint32_t i = 0; i < 16; i++) {
		request_atomic(WIRE_RC_FETCH_ADD, i, 0, 1, 0);
		expect_original(i, 100 + i, i + 1);
	}
	/* Asked for again, from any of them on; memory stays. */
	store(&pair.a, 0, 5000);
	for (uint32_t i = 0; i < 16; i++) {
		request_atomic(WIRE_RC_FETCH_ADD, i, 0, 1, 0);
		expect_original(i, 100 + i, 16);
	}
	CHECK_EQ(load(&pair.a, 0), 5000);
	CHECK_EQ(rdma_counter(&pair.a, "duplicate_request"), 16);
	CHECK_EQ(rdma_counter(&pair.a, "rx_atomic_requests"), 16);
	/* A comparison: with what was there then, not now. */
	request_atomic(WIRE_RC_CAS, 16, 0, 6000, 5000);
	expect_original(16, 5000, 17);
	CHECK_EQ(load(&pair.a, 0), 6000);
	store(&pair.a, 0, 5000);
	request_atomic(WIRE_RC_CAS, 16, 0, 6000, 5000);
	expect_original(16, 5000, 17);
	CHECK_EQ(load(&pair.a, 0), 5000);
	/* One of which nothing is known any more: silence, and nothing is executed. */
	request_atomic(WIRE_RC_FETCH_ADD, 0, 0, 1, 0);
	CHECK(!peer_next(&peer));
	CHECK_EQ(load(&pair.a, 0), 5000);
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

/* READs and atomics share the resources and are answered in order, each acknowledging. */
TERN_TEST(answers_in_order)
{
	play((struct rdma_options){ .speed_mbps = 1000 });
	store(&pair.a, 0, 1);
	request_other(WIRE_RC_READ_REQUEST, 0, 500);
	request_atomic(WIRE_RC_FETCH_ADD, 2, 0, 1, 0);
	request_other(WIRE_RC_WRITE_ONLY, 3, 4);
	request_atomic(WIRE_RC_FETCH_ADD, 4, 0, 1, 0);
	CHECK(peer_wait(&peer, 1000000));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_FIRST);
	CHECK(peer_wait(&peer, 1000000));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_READ_RESPONSE_LAST);
	CHECK(peer_wait(&peer, 1000000));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_ATOMIC_ACKNOWLEDGE);
	CHECK_EQ(peer.packet.headers.atomic_original, 1);
	CHECK(peer_wait(&peer, 1000000));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_ATOMIC_ACKNOWLEDGE);
	CHECK_EQ(peer.packet.headers.atomic_original, 2);
	CHECK_EQ(peer.packet.headers.aeth.msn, 4);
	CHECK_EQ(rdma_counter(&pair.a, "rx_read_requests"), 1);
	CHECK_EQ(rdma_counter(&pair.a, "rx_write_requests"), 1);
	CHECK_EQ(rdma_counter(&pair.a, "rx_atomic_requests"), 2);
	CHECK(!peer_wait(&peer, 1000000));
	CHECK_EQ(load(&pair.a, 0), 3);
	stop();
}

TERN_TEST(more_than_the_resources)
{
	uint64_t values[3];

	/* So slow that nothing is answered yet when the third comes. */
	play((struct rdma_options){ .responder_resources = 2, .speed_mbps = 1 });
	store(&pair.a, 0, 1);
	store(&pair.a, 8, 1);
	/* Something that keeps the wire busy. */
	request_other(WIRE_RC_READ_REQUEST, 0, 256);
	world_settle(pair.world);
	request_atomic(WIRE_RC_FETCH_ADD, 1, 0, 1, 0);
	request_atomic(WIRE_RC_FETCH_ADD, 2, 0, 1, 0);
	request_atomic(WIRE_RC_FETCH_ADD, 3, 8, 1, 0);
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	CHECK_EQ(load(&pair.a, 0), 3);
	CHECK_EQ(load(&pair.a, 8), 1);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK(peer_wait(&peer, 1000000000));
		values[i] = peer.packet.headers.opcode;
	}
	CHECK_EQ(values[0], WIRE_RC_READ_RESPONSE_ONLY);
	CHECK_EQ(values[1], WIRE_RC_ATOMIC_ACKNOWLEDGE);
	CHECK_EQ(values[2], WIRE_RC_ATOMIC_ACKNOWLEDGE);
	CHECK(peer_wait(&peer, 1000000000));
	CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(INVALID_REQUEST));
	CHECK_EQ(peer.packet.headers.psn, (PSN + 3) & WIRE_PSN_MASK);
	stop();

	play((struct rdma_options){ .no_reads = true });
	store(&pair.a, 0, 1);
	request_atomic(WIRE_RC_FETCH_ADD, 0, 0, 1, 0);
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(INVALID_REQUEST));
	CHECK_EQ(load(&pair.a, 0), 1);
	stop();
}

/* One in the middle of another message, and one before its turn. */
TERN_TEST(out_of_place)
{
	static const uint8_t data[256];
	struct wire_headers headers;

	play((struct rdma_options){ 0 });
	store(&pair.a, 0, 1);
	request_atomic(WIRE_RC_FETCH_ADD, 1, 0, 1, 0);
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(SEQUENCE));
	CHECK_EQ(load(&pair.a, 0), 1);
	headers = peer_headers(&peer, WIRE_RC_WRITE_FIRST, PSN);
	headers.reth.address = pair.a.buffer + 4096;
	headers.reth.length = 512;
	peer_send(&peer, &headers, data, 256);
	request_atomic(WIRE_RC_FETCH_ADD, 1, 0, 1, 0);
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.aeth.syndrome, NAK(INVALID_REQUEST));
	CHECK_EQ(load(&pair.a, 0), 1);
	stop();
}

static uint32_t post_atomic(uint8_t opcode, uint8_t flags)
{
	struct rdma_request request = {
		.opcode = opcode, .length = 8, .flags = flags,
		.swap_add = 0x3132333435363738, .compare = 0x4142434445464748,
		.remote_address = 0x1112131415161718, .remote_key = 0x21222324,
	};

	return rdma_post(&pair, &pair.a, &request);
}

static void answer(uint32_t number, uint8_t syndrome, uint64_t original)
{
	struct wire_headers headers = peer_headers(&peer, WIRE_RC_ATOMIC_ACKNOWLEDGE,
						   PSN + number);

	headers.aeth.syndrome = syndrome;
	headers.atomic_original = original;
	peer_send(&peer, &headers, NULL, 0);
}

TERN_TEST(request_on_the_wire)
{
	play((struct rdma_options){ 0 });
	post_atomic(TERN_WQE_CAS, 0);
	expect_packet(WIRE_RC_CAS, 0);
	CHECK(peer.packet.headers.ack_request);
	CHECK_EQ(peer.packet.payload_length, 0);
	CHECK_EQ(peer.packet.headers.atomic.address, 0x1112131415161718);
	CHECK_EQ(peer.packet.headers.atomic.key, 0x21222324);
	CHECK_EQ(peer.packet.headers.atomic.swap_add, 0x3132333435363738);
	CHECK_EQ(peer.packet.headers.atomic.compare, 0x4142434445464748);
	post_atomic(TERN_WQE_FETCH_ADD, 0);
	expect_packet(WIRE_RC_FETCH_ADD, 1);
	CHECK_EQ(peer.packet.headers.atomic.swap_add, 0x3132333435363738);
	stop();
}

/* An acknowledge alone does not complete it: that is an implied NAK, and it is asked again. */
TERN_TEST(only_its_response_completes_it)
{
	struct wire_headers headers;
	uint32_t index;

	play((struct rdma_options){ 0 });
	store(&pair.a, 0, 99);
	index = post_atomic(TERN_WQE_FETCH_ADD, 0);
	expect_packet(WIRE_RC_FETCH_ADD, 0);
	peer_acknowledge(&peer, PSN, ACK);
	expect_packet(WIRE_RC_FETCH_ADD, 0);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK_EQ(rdma_counter(&pair.a, "implied_nak_seq_err"), 1);
	/* Neither does one that says NAK, or a READ's. */
	answer(0, NAK(REMOTE_ACCESS), 5);
	headers = peer_headers(&peer, WIRE_RC_READ_RESPONSE_ONLY, PSN);
	headers.aeth.syndrome = ACK;
	peer_send(&peer, &headers, "12345678", 8);
	CHECK(!peer_next(&peer));
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK_EQ(load(&pair.a, 0), 99);
	answer(0, ACK, 0x0102030405060708);
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, index);
	CHECK_EQ(load(&pair.a, 0), 0x0102030405060708);
	/* A copy of it changes nothing. */
	store(&pair.a, 0, 1);
	answer(0, ACK, 0x0102030405060708);
	CHECK_EQ(load(&pair.a, 0), 1);
	stop();
}

/* It comes for the second: the first is asked for again, then the second. */
TERN_TEST(a_response_that_got_lost)
{
	uint32_t index[2];

	play((struct rdma_options){ 0 });
	index[0] = post_atomic(TERN_WQE_FETCH_ADD, 0);
	index[1] = post_atomic(TERN_WQE_CAS, 0);
	expect_packet(WIRE_RC_FETCH_ADD, 0);
	expect_packet(WIRE_RC_CAS, 1);
	answer(1, ACK, 2);
	CHECK(rdma_none(&pair.a.send_cq));
	expect_packet(WIRE_RC_FETCH_ADD, 0);
	CHECK_EQ(peer.packet.headers.atomic.swap_add, 0x3132333435363738);
	expect_packet(WIRE_RC_CAS, 1);
	answer(0, ACK, 1);
	answer(1, ACK, 2);
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, index[0]);
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, index[1]);
	stop();
}

/* No more outstanding than agreed, READs included; a fence waits for all of them. */
TERN_TEST(depth_and_fence)
{
	struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 4 };
	struct rdma_request fenced = { .opcode = TERN_WQE_SEND, .length = 4,
				       .flags = TERN_WQE_FENCE };
	struct wire_headers headers;

	play((struct rdma_options){ .initiator_depth = 2 });
	post_atomic(TERN_WQE_FETCH_ADD, 0);
	rdma_post(&pair, &pair.a, &read);
	post_atomic(TERN_WQE_CAS, 0);
	rdma_post(&pair, &pair.a, &fenced);
	expect_packet(WIRE_RC_FETCH_ADD, 0);
	expect_packet(WIRE_RC_READ_REQUEST, 1);
	CHECK(!peer_next(&peer));
	answer(0, ACK, 1);
	expect_packet(WIRE_RC_CAS, 2);
	CHECK(!peer_next(&peer));
	headers = peer_headers(&peer, WIRE_RC_READ_RESPONSE_ONLY, PSN + 1);
	headers.aeth.syndrome = ACK;
	peer_send(&peer, &headers, "1234", 4);
	CHECK(!peer_next(&peer));
	answer(2, ACK, 1);
	expect_packet(WIRE_RC_SEND_ONLY, 3);
	stop();
}
