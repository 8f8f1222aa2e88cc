// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: counter sets: what bound queue pairs count, and nobody else's. */
#include <endian.h>

#include "capabilities.h"
#include "host_rdma.h"
#include "tern_hw_counter_set.h"
#include "tern_hw_statistics.h"
#include "tern_test.h"

#define SET	7
#define OTHER	(COUNTER_SET_COUNT - 1)

static struct rdma_pair pair;

static uint16_t simple(struct driver *driver, uint16_t opcode, uint32_t number)
{
	return driver_command(driver, opcode, number, NULL, 0);
}

static uint16_t bind(struct driver *driver, uint32_t qpn, uint32_t set)
{
	const struct tern_command_bind_counter_set body = { .counter_set = htole32(set) };

	return driver_command(driver, TERN_COMMAND_BIND_COUNTER_SET, qpn, &body, sizeof(body));
}

static uint16_t query(struct driver *driver, uint32_t set, struct tern_rdma_statistics *answer)
{
	struct tern_command_query body = {
		.address = htole64(host_alloc(driver->machine, sizeof(*answer), 8)),
		.length = htole32(sizeof(*answer)),
	};
	uint16_t status = driver_command(driver, TERN_COMMAND_QUERY_COUNTER_SET, set, &body,
					 sizeof(body));

	memcpy(answer, host_pointer(driver->machine, le64toh(body.address)), sizeof(*answer));
	return status;
}

static void request(struct rdma_side *side, uint8_t opcode, uint32_t length)
{
	struct rdma_request wr = { .opcode = opcode, .length = length };
	struct tern_cqe cqe;

	rdma_post(&pair, side, &wr);
	rdma_wait(&pair, &side->send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
}

TERN_TEST(bound_queue_pairs_count)
{
	static const bool loopbacks[] = { false, true };

	for (size_t i = 0; i < 2; i++) {
		const struct rdma_options options = { .loopback = loopbacks[i] };
		struct tern_rdma_statistics of_a, of_b;

		rdma_pair_create(&pair, &options);
		CHECK_EQ(simple(pair.a.driver, TERN_COMMAND_CREATE_COUNTER_SET, SET), 0);
		CHECK_EQ(simple(pair.b.driver, TERN_COMMAND_CREATE_COUNTER_SET, OTHER), 0);
		/* Before it is bound it counts for the function only. */
		request(&pair.a, TERN_WQE_WRITE, 100);
		CHECK_EQ(bind(pair.a.driver, pair.a.qp.qpn, SET), 0);
		CHECK_EQ(bind(pair.b.driver, pair.b.qp.qpn, OTHER), 0);
		request(&pair.a, TERN_WQE_WRITE, 1000);
		request(&pair.a, TERN_WQE_READ, 500);
		CHECK_EQ(query(pair.a.driver, SET, &of_a), 0);
		CHECK_EQ(query(pair.b.driver, OTHER, &of_b), 0);
		CHECK_EQ(le64toh(of_a.tx_payload_bytes), 1000);
		CHECK_EQ(le64toh(of_a.rx_payload_bytes), 500);
		CHECK_EQ(le64toh(of_a.messages_sent), 2);
		CHECK_EQ(le64toh(of_a.rx_write_requests), 0);
		CHECK_EQ(le64toh(of_b.rx_write_requests), 1);
		CHECK_EQ(le64toh(of_b.rx_read_requests), 1);
		CHECK_EQ(le64toh(of_b.rx_payload_bytes), 1000);
		CHECK_EQ(le64toh(of_b.tx_payload_bytes), 500);
		/* The function has what was counted before. */
		CHECK_EQ(rdma_counter(&pair.b, "rx_write_requests"), 1);
		/* Unbound: the set keeps what it has. */
		CHECK_EQ(bind(pair.a.driver, pair.a.qp.qpn, 0), 0);
		request(&pair.a, TERN_WQE_WRITE, 1000);
		CHECK_EQ(query(pair.a.driver, SET, &of_a), 0);
		CHECK_EQ(le64toh(of_a.tx_payload_bytes), 1000);
		CHECK_EQ(rdma_counter(&pair.a, "messages_sent"), 2);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(lives_as_long_as_it_is_bound)
{
	const struct rdma_options options = { .latency_ns = 1000 };
	struct tern_rdma_statistics answer;
	struct driver *driver;

	rdma_pair_create(&pair, &options);
	driver = pair.a.driver;
	CHECK_EQ(simple(driver, TERN_COMMAND_CREATE_COUNTER_SET, SET), 0);
	CHECK_EQ(simple(driver, TERN_COMMAND_CREATE_COUNTER_SET, OTHER), 0);
	CHECK_EQ(bind(driver, pair.a.qp.qpn, SET), 0);
	/* The same twice is bound once. */
	CHECK_EQ(bind(driver, pair.a.qp.qpn, SET), 0);
	CHECK_EQ(simple(driver, TERN_COMMAND_DESTROY_COUNTER_SET, SET),
		 TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(bind(driver, pair.a.qp.qpn, OTHER), 0);
	CHECK_EQ(simple(driver, TERN_COMMAND_DESTROY_COUNTER_SET, SET), 0);
	CHECK_EQ(query(driver, SET, &answer), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(simple(driver, TERN_COMMAND_DESTROY_COUNTER_SET, OTHER),
		 TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(simple(driver, TERN_COMMAND_DESTROY_QP, pair.a.qp.qpn), 0);
	CHECK_EQ(simple(driver, TERN_COMMAND_DESTROY_COUNTER_SET, OTHER), 0);
	/* A new one of that number starts at zero; a reset takes it, bound or not. */
	CHECK_EQ(simple(driver, TERN_COMMAND_CREATE_COUNTER_SET, OTHER), 0);
	CHECK_EQ(query(driver, OTHER, &answer), 0);
	CHECK_EQ(answer.messages_sent, 0);
	CHECK_EQ(bind(pair.b.driver, pair.b.qp.qpn, 0), 0);
	CHECK_EQ(simple(pair.b.driver, TERN_COMMAND_CREATE_COUNTER_SET, SET), 0);
	CHECK_EQ(bind(pair.b.driver, pair.b.qp.qpn, SET), 0);
	host_reset(pair.b.machine, 0);
	driver_start(pair.b.driver, pair.b.machine, 0, 0);
	CHECK_EQ(query(pair.b.driver, SET, &answer), TERN_COMMAND_STATUS_NOT_FOUND);
	rdma_pair_destroy(&pair);
}

TERN_TEST(bad_commands)
{
	const struct rdma_options options = { .latency_ns = 1000 };
	struct tern_command_bind_counter_set body = { .reserved0 = htole32(1) };
	struct tern_command_query grouped = { .group = htole32(1) };
	struct driver *driver;

	rdma_pair_create(&pair, &options);
	driver = pair.a.driver;
	for (uint16_t opcode = TERN_COMMAND_CREATE_COUNTER_SET;
	     opcode <= TERN_COMMAND_QUERY_COUNTER_SET; opcode++) {
		CHECK_EQ(simple(driver, opcode, 0), TERN_COMMAND_STATUS_BAD_NUMBER);
		CHECK_EQ(simple(driver, opcode, UINT32_MAX), TERN_COMMAND_STATUS_BAD_NUMBER);
		if (opcode != TERN_COMMAND_CREATE_COUNTER_SET)
			CHECK_EQ(simple(driver, opcode, SET), TERN_COMMAND_STATUS_NOT_FOUND);
	}
	CHECK_EQ(simple(driver, TERN_COMMAND_CREATE_COUNTER_SET, COUNTER_SET_COUNT),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(simple(driver, TERN_COMMAND_CREATE_COUNTER_SET, SET), 0);
	CHECK_EQ(simple(driver, TERN_COMMAND_CREATE_COUNTER_SET, SET),
		 TERN_COMMAND_STATUS_EXISTS);
	CHECK_EQ(driver_command(driver, TERN_COMMAND_QUERY_COUNTER_SET, SET, &grouped,
				sizeof(grouped)), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(bind(driver, pair.a.qp.qpn, OTHER), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(bind(driver, pair.a.qp.qpn, COUNTER_SET_COUNT),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	body.counter_set = htole32(SET);
	CHECK_EQ(driver_command(driver, TERN_COMMAND_BIND_COUNTER_SET, pair.a.qp.qpn, &body,
				sizeof(body)), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(simple(driver, TERN_COMMAND_DESTROY_COUNTER_SET, SET), 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(without_the_feature)
{
	struct rdma_options options = {
		.without_features = UINT64_C(1) << TERN_FEATURE_COUNTER_SETS,
	};

	rdma_pair_create(&pair, &options);
	for (uint16_t opcode = TERN_COMMAND_CREATE_COUNTER_SET;
	     opcode <= TERN_COMMAND_QUERY_COUNTER_SET; opcode++)
		CHECK_EQ(simple(pair.a.driver, opcode, SET), TERN_COMMAND_STATUS_BAD_OPCODE);
	rdma_pair_destroy(&pair);
}
