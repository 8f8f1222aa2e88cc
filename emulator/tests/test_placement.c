// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ATOMIC_WRITE and FLUSH between two ends: values, order, rights, errors. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

#define BOTH_PLACES	(TERN_FLUSH_GLOBAL | TERN_FLUSH_PERSISTENT)
#define BOTH_RIGHTS	(TERN_ACCESS_FLUSH_GLOBAL | TERN_ACCESS_FLUSH_PERSISTENT)
#define QP_ACCESS	((RDMA_ALL_ACCESS & ~TERN_ACCESS_LOCAL_WRITE) | BOTH_RIGHTS)
#define KEY_ACCESS	(RDMA_ALL_ACCESS | BOTH_RIGHTS)
#define VALUE		0x1122334455667788

static struct rdma_pair pair;

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

/* Another key of a side's buffer. */
static uint32_t key_with(struct rdma_side *side, uint32_t access, uint32_t pd)
{
	return driver_key_create(side->driver, side->buffer, 4096, access, pd);
}

static void create(struct rdma_options options)
{
	if (!options.access)
		options.access = QP_ACCESS;
	rdma_pair_create(&pair, &options);
	pair.b.key = driver_key_create(pair.b.driver, pair.b.buffer, pair.b.buffer_bytes,
				       KEY_ACCESS, RDMA_PD);
}

static void succeed(const struct rdma_request *request)
{
	uint32_t index = rdma_post(&pair, &pair.a, request);
	struct tern_cqe cqe;

	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, request->opcode);
	CHECK_EQ(le32toh(cqe.index), index);
}

static void both(struct rdma_options options)
{
	uint64_t inlined = htole64(~VALUE);
	struct rdma_request request = { .opcode = TERN_WQE_ATOMIC_WRITE, .length = 8 };
	struct rdma_request flush = { .opcode = TERN_WQE_FLUSH };

	create(options);
	for (unsigned int page = 0; page < 2; page++) {
		uint64_t offset = page * 4096 + 64;

		/* The second page is one that the device cannot map. */
		if (page)
			host_set_pages(pair.b.machine, pair.b.buffer + 4096, 4096,
				       HOST_PAGE_UNMAPPABLE);
		for (unsigned int i = 0; i < 3; i++)
			store(&pair.b, offset - 8 + 8 * i, 0x5a5a5a5a5a5a5a5a);
		store(&pair.a, 0, VALUE);
		request.remote_address = pair.b.buffer + offset;
		request.inlined = NULL;
		succeed(&request);
		CHECK_EQ(load(&pair.b, offset), VALUE);
		request.inlined = &inlined;
		succeed(&request);
		CHECK_EQ(load(&pair.b, offset), ~VALUE);
		CHECK_EQ(load(&pair.b, offset - 8), 0x5a5a5a5a5a5a5a5a);
		CHECK_EQ(load(&pair.b, offset + 8), 0x5a5a5a5a5a5a5a5a);
		for (uint32_t places = 1; places <= BOTH_PLACES; places++) {
			/* All of the buffer, none of it; behind its end nothing is looked at. */
			flush.immediate = places;
			flush.remote_address = pair.b.buffer;
			flush.length = (uint32_t)pair.b.buffer_bytes;
			succeed(&flush);
			flush.remote_address = pair.b.buffer + pair.b.buffer_bytes;
			flush.length = 0;
			succeed(&flush);
			flush.immediate = places | TERN_FLUSH_REGION;
			flush.remote_address = UINT64_MAX;
			flush.length = UINT32_MAX;
			succeed(&flush);
		}
		CHECK_EQ(load(&pair.b, offset), ~VALUE);
	}
	CHECK_EQ(rdma_counter(&pair.b, "rx_atomic_requests"), 4);
	rdma_pair_destroy(&pair);
}

TERN_TEST(both_work)
{
	both((struct rdma_options){ .network = RDMA_V2_IPV4 });
	both((struct rdma_options){ .network = RDMA_V2_IPV6, .no_shortcuts = true });
	both((struct rdma_options){ .network = RDMA_V1, .latency_ns = 1000 });
	both((struct rdma_options){ .loopback = true });
}

TERN_TEST(value_in_pieces)
{
	struct tern_sge sges[3] = {
		{ .length = htole32(3) }, { .length = htole32(0) }, { .length = htole32(5) },
	};
	struct rdma_request request = {
		.opcode = TERN_WQE_ATOMIC_WRITE, .sges = sges, .sge_count = 3,
	};

	for (unsigned int shortcuts = 0; shortcuts < 2; shortcuts++) {
		create((struct rdma_options){ .no_shortcuts = !shortcuts });
		memcpy(rdma_memory(&pair.a, 64), "123--45678", 10);
		for (unsigned int i = 0; i < 3; i++) {
			sges[i].address = htole64(pair.a.buffer + 64 + (i ? 5 : 0));
			sges[i].key = htole32(pair.a.key);
		}
		succeed(&request);
		CHECK_MEM(rdma_memory(&pair.b, 0), "12345678", 8);
		rdma_pair_destroy(&pair);
	}
}

/* When it completes, what was written before it is there, and nothing of what comes behind. */
TERN_TEST(flush_after_writes)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 100000,
				      .unsignaled = true };
	struct rdma_request flush = { .opcode = TERN_WQE_FLUSH, .length = 200000,
				      .immediate = BOTH_PLACES };
	struct rdma_request flag = { .opcode = TERN_WQE_ATOMIC_WRITE, .length = 8 };

	create((struct rdma_options){ .latency_ns = 5000, .path_mtu = 3 });
	rdma_fill(rdma_memory(&pair.a, 0), 100000, 1);
	store(&pair.b, 100008, 99);
	rdma_post(&pair, &pair.a, &write);
	flag.address = pair.a.buffer + 8;
	flag.remote_address = pair.b.buffer + 100008;
	flag.flags = TERN_WQE_FENCE;
	rdma_post(&pair, &pair.a, &flush);
	rdma_post(&pair, &pair.a, &flag);
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, 1);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 100000);
	CHECK_EQ(load(&pair.b, 100008), 99);
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, 2);
	CHECK_EQ(load(&pair.b, 100008), load(&pair.a, 8));
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

/* Each is executed once and in order: an addition tells what was there before. */
TERN_TEST(executed_once_on_a_bad_wire)
{
	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct rdma_options options = {
			.seed = seed, .latency_ns = 2000, .timeout = 8, .path_mtu = 1,
			.initiator_depth = seed & 1 ? 16 : 3,
			.responder_resources = seed & 1 ? 16 : 3,
			.no_shortcuts = seed & 2, .sq_psn = 0xffffc0,
		};

		create(options);
		impair(&pair.a, 0.04);
		impair(&pair.b, 0.04);
		for (uint64_t i = 0; i < COUNT; i++) {
			uint64_t value = htole64(1000 * i);
			struct rdma_request write = {
				.opcode = TERN_WQE_ATOMIC_WRITE, .length = 8, .inlined = &value,
				.unsignaled = true,
			};
			struct rdma_request add = {
				.opcode = TERN_WQE_FETCH_ADD, .length = 8, .swap_add = 1,
				.address = pair.a.buffer + 4096 + 8 * i,
			};
			struct rdma_request flush = {
				.opcode = TERN_WQE_FLUSH, .length = 8, .unsignaled = true,
				.immediate = TERN_FLUSH_GLOBAL,
			};

			rdma_post(&pair, &pair.a, &write);
			if (i % 3 == 0)
				rdma_post(&pair, &pair.a, &flush);
			rdma_post(&pair, &pair.a, &add);
		}
		for (uint32_t i = 0; i < COUNT; i++) {
			struct tern_cqe cqe;

			rdma_wait(&pair, &pair.a.send_cq, &cqe);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		}
		for (uint64_t i = 0; i < COUNT; i++)
			CHECK_EQ(load(&pair.a, 4096 + 8 * i), 1000 * i);
		CHECK_EQ(load(&pair.b, 0), 1000 * (COUNT - 1) + 1);
		CHECK(rdma_counter(&pair.a, "retransmitted_packets") > 0);
		CHECK(rdma_counter(&pair.b, "duplicate_request") > 0);
		CHECK_EQ(rdma_counter(&pair.b, "rx_atomic_requests"), 2 * COUNT);
		rdma_pair_destroy(&pair);
	}
}

static void local_error(const struct rdma_request *bad, uint8_t status,
			struct rdma_options options)
{
	struct rdma_request good = { .opcode = TERN_WQE_WRITE, .length = 100 };
	uint32_t index[3];

	create(options);
	store(&pair.b, 4096, 7);
	index[0] = rdma_post(&pair, &pair.a, &good);
	index[1] = rdma_post(&pair, &pair.a, bad);
	index[2] = rdma_post(&pair, &pair.a, &good);
	expect(&pair.a.send_cq, TERN_WC_SUCCESS, index[0]);
	expect(&pair.a.send_cq, status, index[1]);
	expect(&pair.a.send_cq, TERN_WC_FLUSHED, index[2]);
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
	CHECK_EQ(load(&pair.b, 4096), 7);
	rdma_pair_destroy(&pair);
}

TERN_TEST(local_errors)
{
	static const uint64_t value[2];
	const struct rdma_options usual = { 0 }, none = { .no_reads = true };
	struct rdma_request flush = { .opcode = TERN_WQE_FLUSH, .length = 8,
				      .immediate = TERN_FLUSH_GLOBAL };
	struct rdma_request request = { .opcode = TERN_WQE_ATOMIC_WRITE };

	for (request.length = 0; request.length <= 16; request.length++) {
		if (request.length == 8)
			continue;
		request.inlined = NULL;
		local_error(&request, TERN_WC_LOCAL_LENGTH, usual);
		request.inlined = value;
		local_error(&request, TERN_WC_LOCAL_LENGTH, usual);
	}
	request.inlined = NULL;
	request.length = 8;
	local_error(&request, TERN_WC_LOCAL_QP_OPERATION, none);
	local_error(&flush, TERN_WC_LOCAL_QP_OPERATION, none);
	request.key = 0xabcdef01;
	local_error(&request, TERN_WC_LOCAL_PROTECTION, usual);
	request.key = 0;
	request.address = HOST_MEMORY_BASE;
	local_error(&request, TERN_WC_LOCAL_PROTECTION, usual);
	flush.immediate = 0;
	local_error(&flush, TERN_WC_LOCAL_QP_OPERATION, usual);
	flush.immediate = TERN_FLUSH_REGION;
	local_error(&flush, TERN_WC_LOCAL_QP_OPERATION, usual);
	flush.immediate = TERN_FLUSH_GLOBAL | 4;
	local_error(&flush, TERN_WC_LOCAL_QP_OPERATION, usual);
}

/* The key is there, but not what is behind it. */
TERN_TEST(value_in_memory_that_is_gone)
{
	struct rdma_request request = { .opcode = TERN_WQE_ATOMIC_WRITE, .length = 8 };

	create((struct rdma_options){ 0 });
	request.address = pair.a.buffer + 8192;
	store(&pair.b, 0, 7);
	host_set_pages(pair.a.machine, pair.a.buffer + 8192, 4096, HOST_PAGE_ABSENT);
	expect(&pair.a.send_cq, TERN_WC_LOCAL_PROTECTION, rdma_post(&pair, &pair.a, &request));
	CHECK_EQ(load(&pair.b, 0), 7);
	rdma_pair_destroy(&pair);
}

static void remote_error(const struct rdma_request *request, uint8_t status, uint8_t event)
{
	struct tern_eqe eqe;

	for (uint64_t offset = 0; offset < 64; offset += 8)
		store(&pair.b, offset, 7);
	store(&pair.a, 0, VALUE);
	expect(&pair.a.send_cq, status, rdma_post(&pair, &pair.a, request));
	for (uint64_t offset = 0; offset < 64; offset += 8)
		CHECK_EQ(load(&pair.b, offset), 7);
	CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
	CHECK(rdma_event(&pair.b, &eqe));
	CHECK_EQ(eqe.type, event);
	rdma_pair_destroy(&pair);
}

static void invalid_request(const struct rdma_request *request)
{
	remote_error(request, TERN_WC_REMOTE_INVALID_REQUEST, TERN_EVENT_QP_REQUEST_ERROR);
}

static void refused_access(const struct rdma_request *request)
{
	remote_error(request, TERN_WC_REMOTE_ACCESS, TERN_EVENT_QP_ACCESS_ERROR);
}

TERN_TEST(atomic_writes_refused)
{
	const struct rdma_request good = { .opcode = TERN_WQE_ATOMIC_WRITE, .length = 8 };

	for (unsigned int loopback = 0; loopback < 2; loopback++) {
		const struct rdma_options usual = { .loopback = loopback };
		struct rdma_options without = { .loopback = loopback };
		struct rdma_request request = good;

		for (unsigned int i = 1; i < 8; i++) {
			create(usual);
			request.remote_address = pair.b.buffer + i;
			invalid_request(&request);
		}
		without.access = QP_ACCESS & ~TERN_ACCESS_REMOTE_WRITE;
		create(without);
		invalid_request(&good);

		request = good;
		request.remote_key = 0x12345678;
		create(usual);
		refused_access(&request);
		create(usual);
		request.remote_key = key_with(&pair.b, KEY_ACCESS & ~TERN_ACCESS_REMOTE_WRITE,
					      RDMA_PD);
		refused_access(&request);
		create(usual);
		request.remote_key = key_with(&pair.b, KEY_ACCESS, RDMA_PD + 1);
		refused_access(&request);
		for (unsigned int i = 0; i < 3; i++) {
			request = good;
			create(usual);
			request.remote_address = i == 0 ? pair.b.buffer - 8 : i == 1 ?
				pair.b.buffer + pair.b.buffer_bytes : UINT64_MAX - 7;
			refused_access(&request);
		}
		create(usual);
		request.remote_address = pair.b.buffer + 8192;
		host_set_pages(pair.b.machine, pair.b.buffer + 8192, 4096, HOST_PAGE_ABSENT);
		remote_error(&request, TERN_WC_REMOTE_OPERATION, TERN_EVENT_QP_FATAL);
	}
	/* It needs REMOTE_WRITE and nothing else. */
	create((struct rdma_options){ .access = TERN_ACCESS_REMOTE_WRITE });
	store(&pair.a, 0, VALUE);
	pair.b.key = key_with(&pair.b, TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE,
			      RDMA_PD);
	succeed(&good);
	CHECK_EQ(load(&pair.b, 0), VALUE);
	rdma_pair_destroy(&pair);
}

static uint32_t rights_of(uint32_t places)
{
	return (places & TERN_FLUSH_GLOBAL ? TERN_ACCESS_FLUSH_GLOBAL : 0) |
	       (places & TERN_FLUSH_PERSISTENT ? TERN_ACCESS_FLUSH_PERSISTENT : 0);
}

/* The right to each place, of the queue pair and of the key; other rights are none to it. */
static void flush_rights(uint32_t level)
{
	for (uint32_t asked = 1; asked <= BOTH_PLACES; asked++) {
		for (uint32_t granted = 0; granted <= BOTH_PLACES; granted++) {
			struct rdma_request flush = { .opcode = TERN_WQE_FLUSH, .length = 64,
						      .immediate = asked | level };
			uint32_t rights = rights_of(granted);

			create((struct rdma_options){
				.access = (QP_ACCESS & ~BOTH_RIGHTS) | rights });
			if (asked & ~granted) {
				invalid_request(&flush);
			} else {
				succeed(&flush);
				rdma_pair_destroy(&pair);
			}
			create((struct rdma_options){ 0 });
			flush.remote_key = key_with(&pair.b, RDMA_ALL_ACCESS | rights, RDMA_PD);
			if (asked & ~granted) {
				refused_access(&flush);
			} else {
				succeed(&flush);
				rdma_pair_destroy(&pair);
			}
			if (asked & ~granted)
				continue;
			/* And no other is needed. */
			create((struct rdma_options){ .access = rights });
			flush.remote_key = key_with(&pair.b, rights, RDMA_PD);
			succeed(&flush);
			rdma_pair_destroy(&pair);
		}
	}
}

TERN_TEST(rights_to_flush_a_range)
{
	flush_rights(0);
}

TERN_TEST(rights_to_flush_a_region)
{
	flush_rights(TERN_FLUSH_REGION);
}

TERN_TEST(flushes_refused)
{
	for (unsigned int i = 0; i < 8; i++) {
		struct rdma_request flush = { .opcode = TERN_WQE_FLUSH, .length = 8,
					      .immediate = TERN_FLUSH_GLOBAL };

		if (i & 1)
			flush.immediate |= TERN_FLUSH_REGION;
		create((struct rdma_options){ .loopback = i & 2 });
		flush.remote_key = i & 4 ? 0x12345678 : key_with(&pair.b, KEY_ACCESS, RDMA_PD + 1);
		refused_access(&flush);
	}
	for (unsigned int i = 0; i < 4; i++) {
		struct rdma_request flush = { .opcode = TERN_WQE_FLUSH,
					      .immediate = BOTH_PLACES };

		create((struct rdma_options){ 0 });
		flush.length = i == 0 ? (uint32_t)pair.b.buffer_bytes + 1 : i == 1 ? 8 : 0;
		flush.remote_address = i == 0 ? pair.b.buffer : i == 1 ? UINT64_MAX - 3 :
			i == 2 ? pair.b.buffer - 1 : pair.b.buffer + pair.b.buffer_bytes + 1;
		refused_access(&flush);
	}
}

/* Rights of keys and queue pairs: only with the feature. */
TERN_TEST(rights_without_the_feature)
{
	static const uint32_t rights[] = { TERN_ACCESS_FLUSH_GLOBAL,
					   TERN_ACCESS_FLUSH_PERSISTENT };

	for (unsigned int i = 0; i < 4; i++) {
		bool taken = i & 2;
		struct rdma_options options = {
			.without_features = taken ? 0 : UINT64_C(1) << TERN_FEATURE_FLUSH,
		};
		struct tern_command_create_key body = {
			.type = TERN_KEY_REGION, .pd = htole32(RDMA_PD),
			.access = htole32(rights[i & 1]),
		};
		struct tern_qp_attributes attributes = { .access = htole32(rights[i & 1]) };

		rdma_pair_create(&pair, &options);
		body.address = htole64(pair.a.buffer);
		body.pages.root = htole64(pair.a.buffer);
		body.pages.length = htole64(4096);
		CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_CREATE_KEY, 77, &body,
					sizeof(body)),
			 taken ? TERN_COMMAND_STATUS_OK : TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RTS, TERN_QP_SET_ACCESS,
					  &attributes),
			 taken ? TERN_COMMAND_STATUS_OK : TERN_COMMAND_STATUS_BAD_PARAMETER);
		rdma_pair_destroy(&pair);
	}
}
