// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: memory windows: BIND_WINDOW, the access by them, invalidation; MODIFY_KEY beside them. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

#define TYPE_1		800		/* indices of the keys */
#define TYPE_2		801
#define KEY(index, consumer)	((uint32_t)((index) << 8 | (consumer)))
#define PLACE		UINT64_C(4096)	/* of the window in b's region... */
#define BYTES		12000
#define RIGHTS		(TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ)

static struct rdma_pair pair;
static uint32_t region;			/* of b's buffer: no remote right of its own */

static uint16_t create(uint32_t index, uint8_t type, uint32_t pd)
{
	struct tern_command_create_key body = { .pd = htole32(pd), .type = type };

	return driver_command(pair.b.driver, TERN_COMMAND_CREATE_KEY, index, &body, sizeof(body));
}

static uint32_t make_region(uint32_t access, uint32_t pd)
{
	return driver_key_create(pair.b.driver, pair.b.buffer, pair.b.buffer_bytes, access, pd);
}

static void start(struct rdma_options options)
{
	rdma_pair_create(&pair, &options);
	CHECK_EQ(create(TYPE_1, TERN_KEY_WINDOW_TYPE_1, RDMA_PD), 0);
	CHECK_EQ(create(TYPE_2, TERN_KEY_WINDOW_TYPE_2, RDMA_PD), 0);
	region = make_region(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_WINDOW_BIND, RDMA_PD);
	rdma_fill(rdma_memory(&pair.a, 0), BYTES, 3);
}

static void stop(void)
{
	rdma_pair_destroy(&pair);
}

static struct tern_wqe_bind binding(uint32_t window)
{
	return (struct tern_wqe_bind){
		.address = htole64(pair.b.buffer + PLACE), .length = htole64(BYTES),
		.window = htole32(window), .region = htole32(region),
		.access = htole32(RIGHTS),
	};
}

static void expect(struct rdma_side *side, uint8_t opcode, uint8_t status)
{
	struct tern_cqe cqe;

	rdma_wait(&pair, &side->send_cq, &cqe);
	CHECK_EQ(cqe.opcode, opcode);
	CHECK_EQ(cqe.status, status);
}

static void bind(const struct tern_wqe_bind *segment, uint8_t status)
{
	rdma_post_local(&pair.b, TERN_WQE_BIND_WINDOW, 0, segment, sizeof(*segment));
	expect(&pair.b, TERN_WQE_BIND_WINDOW, status);
}

static void bind_key(uint32_t window)
{
	struct tern_wqe_bind segment = binding(window);

	bind(&segment, TERN_WC_SUCCESS);
}

static void invalidate(uint32_t key, uint8_t status)
{
	rdma_post_local(&pair.b, TERN_WQE_LOCAL_INVALIDATE, key, NULL, 0);
	expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, status);
}

/* a's access by @key to @address; what it may not change stays. */
static void access_by(uint8_t opcode, uint32_t key, uint64_t address, uint32_t length,
		      uint8_t status)
{
	struct rdma_request request = {
		.opcode = opcode, .length = length, .remote_key = key, .remote_address = address,
	};
	static uint8_t before[3 * BYTES];

	memcpy(before, rdma_memory(&pair.b, 0), sizeof(before));
	rdma_post(&pair, &pair.a, &request);
	expect(&pair.a, opcode, status);
	if (status)
		CHECK_MEM(rdma_memory(&pair.b, 0), before, sizeof(before));
}

static void write_by(uint32_t key, uint8_t status)
{
	memset(rdma_memory(&pair.b, PLACE), 0, BYTES);
	access_by(TERN_WQE_WRITE, key, pair.b.buffer + PLACE, BYTES, status);
	if (!status)
		CHECK_MEM(rdma_memory(&pair.b, PLACE), rdma_memory(&pair.a, 0), BYTES);
}

static uint8_t state_of(struct rdma_side *side)
{
	struct tern_qp_status status;

	rdma_qp_status(side, &status);
	return status.state;
}

static uint16_t destroy(uint32_t index)
{
	return driver_command(pair.b.driver, TERN_COMMAND_DESTROY_KEY, index, NULL, 0);
}

static const struct rdma_options ways[] = {
	{ .path_mtu = 2, .latency_ns = 1000 },
	{ .path_mtu = 5, .loopback = true },
	{ .path_mtu = 1, .no_shortcuts = true, .network = RDMA_V2_IPV6 },
};

#define WAYS	(sizeof(ways) / sizeof(*ways))

TERN_TEST(bound_and_used)
{
	for (size_t i = 0; i < WAYS; i++) {
		for (uint32_t index = TYPE_1; index <= TYPE_2; index++) {
			start(ways[i]);
			bind_key(KEY(index, 9));
			write_by(KEY(index, 9), TERN_WC_SUCCESS);
			access_by(TERN_WQE_READ, KEY(index, 9), pair.b.buffer + PLACE + 5, 100,
				  TERN_WC_SUCCESS);
			CHECK_MEM(rdma_memory(&pair.a, 0), rdma_memory(&pair.b, PLACE + 5), 100);
			/* The region itself is not the peer's. */
			write_by(region, TERN_WC_REMOTE_ACCESS);
			stop();
		}
	}
}

TERN_TEST(bounds_and_rights_of_the_window)
{
	uint64_t first, last;

	for (size_t i = 0; i < WAYS; i++) {
		for (unsigned int bad = 0; bad < 6; bad++) {
			struct tern_wqe_bind segment;

			start(ways[i]);
			first = pair.b.buffer + PLACE;
			last = first + BYTES;
			segment = binding(KEY(TYPE_2, 1));
			if (bad == 4)
				segment.access = htole32(TERN_ACCESS_REMOTE_READ);
			if (bad == 5)
				segment.access = htole32(TERN_ACCESS_REMOTE_WRITE);
			bind(&segment, TERN_WC_SUCCESS);
			if (bad == 0)
				access_by(TERN_WQE_WRITE, KEY(TYPE_2, 1), first - 1, 10,
					  TERN_WC_REMOTE_ACCESS);
			else if (bad == 1)
				access_by(TERN_WQE_WRITE, KEY(TYPE_2, 1), last - 9, 10,
					  TERN_WC_REMOTE_ACCESS);
			else if (bad == 2)
				access_by(TERN_WQE_READ, KEY(TYPE_2, 1), last, 1,
					  TERN_WC_REMOTE_ACCESS);
			else if (bad == 3)
				access_by(TERN_WQE_READ, KEY(TYPE_2, 2), first, 1,
					  TERN_WC_REMOTE_ACCESS);
			else if (bad == 4)
				access_by(TERN_WQE_WRITE, KEY(TYPE_2, 1), first, 10,
					  TERN_WC_REMOTE_ACCESS);
			else
				access_by(TERN_WQE_READ, KEY(TYPE_2, 1), first, 10,
					  TERN_WC_REMOTE_ACCESS);
			CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
			stop();
		}
	}
}

/* Even where its region may be flushed; an ATOMIC_WRITE is a WRITE to it. */
TERN_TEST(flush_and_atomic_write_by_a_window)
{
	const uint32_t rights = TERN_ACCESS_FLUSH_GLOBAL | TERN_ACCESS_FLUSH_PERSISTENT;
	struct rdma_request write = { .opcode = TERN_WQE_ATOMIC_WRITE, .length = 8,
				      .remote_key = KEY(TYPE_2, 1) };

	for (uint32_t level = 0; level <= TERN_FLUSH_REGION; level += TERN_FLUSH_REGION) {
		struct rdma_request flush = {
			.opcode = TERN_WQE_FLUSH, .length = 8, .remote_key = KEY(TYPE_2, 1),
			.immediate = level | TERN_FLUSH_GLOBAL,
		};
		struct tern_wqe_bind segment;

		start((struct rdma_options){ .access = RIGHTS | rights });
		region = make_region(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_WINDOW_BIND | rights,
				     RDMA_PD);
		segment = binding(KEY(TYPE_2, 1));
		bind(&segment, TERN_WC_SUCCESS);
		write.remote_address = pair.b.buffer + PLACE;
		flush.remote_address = write.remote_address;
		rdma_post(&pair, &pair.a, &write);
		expect(&pair.a, TERN_WQE_ATOMIC_WRITE, TERN_WC_SUCCESS);
		CHECK_MEM(rdma_memory(&pair.b, PLACE), rdma_memory(&pair.a, 0), 8);
		rdma_post(&pair, &pair.a, &flush);
		expect(&pair.a, TERN_WQE_FLUSH, TERN_WC_REMOTE_ACCESS);
		stop();
	}
}

TERN_TEST(zero_based_window)
{
	struct tern_wqe_bind segment;

	start((struct rdma_options){ .latency_ns = 1000 });
	segment = binding(KEY(TYPE_2, 1));
	segment.access = htole32(RIGHTS | TERN_ACCESS_ZERO_BASED);
	bind(&segment, TERN_WC_SUCCESS);
	/* 0 stands for the peer's buffer in rdma_post(). */
	access_by(TERN_WQE_WRITE, KEY(TYPE_2, 1), 1, BYTES - 1, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.b, PLACE + 1), rdma_memory(&pair.a, 0), BYTES - 1);
	access_by(TERN_WQE_WRITE, KEY(TYPE_2, 1), 1, BYTES, TERN_WC_REMOTE_ACCESS);
	stop();
}

/* Windows are the peer's: own SGEs have no use of them. */
TERN_TEST(no_local_access_by_a_window)
{
	static const uint8_t opcodes[] = { TERN_WQE_SEND, TERN_WQE_READ };

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		struct rdma_request request = {
			.opcode = opcodes[i], .length = 8, .key = KEY(TYPE_2, 1),
		};

		start((struct rdma_options){ .latency_ns = 1000 });
		bind_key(KEY(TYPE_2, 1));
		request.address = pair.b.buffer + PLACE;
		rdma_post(&pair, &pair.b, &request);
		expect(&pair.b, opcodes[i], TERN_WC_LOCAL_PROTECTION);
		stop();
	}
}

TERN_TEST(type_1_is_bound_anew_and_to_nothing)
{
	struct tern_wqe_bind nothing;

	for (size_t i = 0; i < WAYS; i++) {
		start(ways[i]);
		write_by(pair.b.key, TERN_WC_SUCCESS);
		bind_key(KEY(TYPE_1, 1));
		write_by(KEY(TYPE_1, 1), TERN_WC_SUCCESS);
		bind_key(KEY(TYPE_1, 2));
		write_by(KEY(TYPE_1, 2), TERN_WC_SUCCESS);
		nothing = binding(KEY(TYPE_1, 3));
		nothing.length = 0;
		nothing.region = 0;
		bind(&nothing, TERN_WC_SUCCESS);
		CHECK_EQ(destroy(region >> 8), 0);
		write_by(KEY(TYPE_1, 3), TERN_WC_REMOTE_ACCESS);
		stop();
		/* The key that it had is none any more. */
		start(ways[i]);
		bind_key(KEY(TYPE_1, 1));
		bind_key(KEY(TYPE_1, 2));
		write_by(KEY(TYPE_1, 1), TERN_WC_REMOTE_ACCESS);
		stop();
	}
}

TERN_TEST(type_2_is_invalidated_by_either_side)
{
	struct rdma_request send = { .opcode = TERN_WQE_SEND_INVALIDATE, .length = 10 };
	struct tern_cqe cqe;

	for (size_t i = 0; i < WAYS; i++) {
		start(ways[i]);
		for (uint8_t consumer = 1; consumer < 5; consumer++) {
			bind_key(KEY(TYPE_2, consumer));
			write_by(KEY(TYPE_2, consumer), TERN_WC_SUCCESS);
			if (consumer & 1) {
				invalidate(KEY(TYPE_2, consumer), TERN_WC_SUCCESS);
				continue;
			}
			rdma_post_receive(&pair.b, 500000, 10);
			send.immediate = KEY(TYPE_2, consumer);
			rdma_post(&pair, &pair.a, &send);
			expect(&pair.a, TERN_WQE_SEND_INVALIDATE, TERN_WC_SUCCESS);
			rdma_wait(&pair, &pair.b.receive_cq, &cqe);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
			CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE_INVALIDATE);
		}
		/* All are unbound: the region can go. */
		CHECK_EQ(destroy(region >> 8), 0);
		write_by(KEY(TYPE_2, 4), TERN_WC_REMOTE_ACCESS);
		stop();
	}
}

static void refused_by_peer(uint32_t key)
{
	struct rdma_request send = {
		.opcode = TERN_WQE_SEND_INVALIDATE, .length = 10, .immediate = key,
	};

	rdma_post_receive(&pair.b, 500000, 10);
	rdma_post(&pair, &pair.a, &send);
	expect(&pair.a, TERN_WQE_SEND_INVALIDATE, TERN_WC_REMOTE_ACCESS);
	stop();
}

/* Type 2 belongs to the queue pair that bound it; type 1 is bound anew instead. */
TERN_TEST(bad_invalidations)
{
	start((struct rdma_options){ .latency_ns = 1000 });
	bind_key(KEY(TYPE_1, 1));
	invalidate(KEY(TYPE_1, 1), TERN_WC_WINDOW_BIND);
	stop();
	start((struct rdma_options){ .latency_ns = 1000 });
	bind_key(KEY(TYPE_1, 1));
	refused_by_peer(KEY(TYPE_1, 1));
	start((struct rdma_options){ .latency_ns = 1000 });
	refused_by_peer(KEY(TYPE_2, 0));
	start((struct rdma_options){ .latency_ns = 1000 });
	bind_key(KEY(TYPE_2, 1));
	invalidate(KEY(TYPE_2, 2), TERN_WC_WINDOW_BIND);
	stop();
	/* On one machine, a's queue pair sees b's keys: same PD, another queue pair. */
	start((struct rdma_options){ .loopback = true });
	bind_key(KEY(TYPE_2, 1));
	rdma_post_local(&pair.a, TERN_WQE_LOCAL_INVALIDATE, KEY(TYPE_2, 1), NULL, 0);
	expect(&pair.a, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_WINDOW_BIND);
	stop();
}

/* Of b's window, a's peer, which is b's queue pair over loopback, has no use. */
TERN_TEST(type_2_serves_one_queue_pair)
{
	for (uint32_t index = TYPE_1; index <= TYPE_2; index++) {
		struct rdma_request write = {
			.opcode = TERN_WQE_WRITE, .length = 100, .remote_key = KEY(index, 1),
		};

		start((struct rdma_options){ .loopback = true });
		bind_key(KEY(index, 1));
		write.remote_address = pair.b.buffer + PLACE;
		rdma_post(&pair, &pair.b, &write);
		expect(&pair.b, TERN_WQE_WRITE,
		       index == TYPE_1 ? TERN_WC_SUCCESS : TERN_WC_REMOTE_ACCESS);
		stop();
	}
}

static void no_such_window(struct tern_wqe_bind *segment)
{
	segment->window = htole32(KEY(TYPE_2 + 1, 0));
}

static void window_is_a_region(struct tern_wqe_bind *segment)
{
	segment->window = htole32(pair.b.key);
}

static void window_of_another_pd(struct tern_wqe_bind *segment)
{
	CHECK_EQ(create(TYPE_2 + 1, TERN_KEY_WINDOW_TYPE_2, RDMA_PD + 1), 0);
	segment->window = htole32(KEY(TYPE_2 + 1, 0));
}

static void bound_already(struct tern_wqe_bind *segment)
{
	bind_key(KEY(TYPE_2, 1));
	segment->window = htole32(KEY(TYPE_2, 2));
}

static void type_2_to_nothing(struct tern_wqe_bind *segment)
{
	segment->length = 0;
}

static void no_such_region(struct tern_wqe_bind *segment)
{
	segment->region = htole32(0x80000000);
}

static void regions_old_key(struct tern_wqe_bind *segment)
{
	segment->region = htole32(region ^ 1);
}

static void local_dma_key(struct tern_wqe_bind *segment)
{
	segment->region = 0;
}

static void region_is_a_window(struct tern_wqe_bind *segment)
{
	bind_key(KEY(TYPE_1, 1));
	segment->region = htole32(KEY(TYPE_1, 1));
}

static void region_of_another_pd(struct tern_wqe_bind *segment)
{
	segment->region = htole32(make_region(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_WINDOW_BIND,
					      RDMA_PD + 1));
}

static void region_without_the_right(struct tern_wqe_bind *segment)
{
	segment->region = htole32(pair.b.key);
}

static void writing_a_region_that_is_read_only(struct tern_wqe_bind *segment)
{
	segment->region = htole32(make_region(TERN_ACCESS_WINDOW_BIND, RDMA_PD));
}

static void before_the_region(struct tern_wqe_bind *segment)
{
	segment->address = htole64(pair.b.buffer - 1);
}

static void behind_the_region(struct tern_wqe_bind *segment)
{
	segment->address = htole64(pair.b.buffer + pair.b.buffer_bytes - BYTES + 1);
}

static void longer_than_all(struct tern_wqe_bind *segment)
{
	segment->length = htole64(UINT64_MAX);
}

static void local_right(struct tern_wqe_bind *segment)
{
	segment->access |= htole32(TERN_ACCESS_LOCAL_WRITE);
}

static void right_to_flush(struct tern_wqe_bind *segment)
{
	segment->access |= htole32(TERN_ACCESS_FLUSH_GLOBAL);
}

static void type_1_zero_based(struct tern_wqe_bind *segment)
{
	segment->window = htole32(KEY(TYPE_1, 1));
	segment->access |= htole32(TERN_ACCESS_ZERO_BASED);
}

static void type_1_on_a_zero_based_region(struct tern_wqe_bind *segment)
{
	struct tern_command_create_key body = {
		.pages = driver_pages(pair.b.buffer, pair.b.buffer_bytes),
		.pd = htole32(RDMA_PD),
		.access = htole32(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_WINDOW_BIND |
				  TERN_ACCESS_ZERO_BASED),
	};

	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_CREATE_KEY, 900, &body, sizeof(body)),
		 0);
	segment->window = htole32(KEY(TYPE_1, 1));
	segment->region = htole32(900 << 8);
	segment->address = 0;
}

TERN_TEST(bad_bindings)
{
	void (*const all[])(struct tern_wqe_bind *) = {
		no_such_window, window_is_a_region, window_of_another_pd, bound_already,
		type_2_to_nothing, no_such_region, regions_old_key, local_dma_key,
		region_is_a_window, region_of_another_pd, region_without_the_right,
		writing_a_region_that_is_read_only, before_the_region, behind_the_region,
		longer_than_all, local_right, right_to_flush, type_1_zero_based,
		type_1_on_a_zero_based_region,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct tern_wqe_bind segment;

		start((struct rdma_options){ .latency_ns = 1000 });
		segment = binding(KEY(TYPE_2, 5));
		all[i](&segment);
		bind(&segment, TERN_WC_WINDOW_BIND);
		CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
		CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
		stop();
	}
}

/* Reading alone a window may allow of a region that nobody may write. */
TERN_TEST(read_only_window)
{
	struct tern_wqe_bind segment;

	start((struct rdma_options){ .latency_ns = 1000 });
	region = make_region(TERN_ACCESS_WINDOW_BIND, RDMA_PD);
	segment = binding(KEY(TYPE_2, 5));
	segment.access = htole32(TERN_ACCESS_REMOTE_READ);
	bind(&segment, TERN_WC_SUCCESS);
	access_by(TERN_WQE_READ, KEY(TYPE_2, 5), pair.b.buffer + PLACE, BYTES, TERN_WC_SUCCESS);
	stop();
}

TERN_TEST(regions_under_windows)
{
	struct tern_command_create_key body = { .pd = htole32(RDMA_PD) };

	for (uint32_t index = TYPE_1; index <= TYPE_2; index++) {
		start((struct rdma_options){ .latency_ns = 1000 });
		bind_key(KEY(index, 1));
		CHECK_EQ(destroy(region >> 8), TERN_COMMAND_STATUS_IN_USE);
		body.pages = driver_pages(pair.b.buffer, 4096);
		CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_MODIFY_KEY, region >> 8, &body,
					sizeof(body)), TERN_COMMAND_STATUS_IN_USE);
		write_by(KEY(index, 1), TERN_WC_SUCCESS);
		/* With the window the binding goes. */
		CHECK_EQ(destroy(index), 0);
		CHECK_EQ(destroy(region >> 8), 0);
		write_by(KEY(index, 1), TERN_WC_REMOTE_ACCESS);
		stop();
	}
}

/* The next queue pair of that number must not inherit it. */
TERN_TEST(windows_of_a_queue_pair_end_with_it)
{
	start((struct rdma_options){ .loopback = true });
	bind_key(KEY(TYPE_1, 1));
	bind_key(KEY(TYPE_2, 1));
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_QP, pair.b.qp.qpn, NULL, 0),
		 0);
	CHECK_EQ(destroy(region >> 8), TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(destroy(TYPE_1), 0);
	CHECK_EQ(destroy(region >> 8), 0);
	stop();
}

/* A reset ends all of it, in whatever order. */
TERN_TEST(reset_with_bound_windows)
{
	start((struct rdma_options){ .latency_ns = 1000 });
	bind_key(KEY(TYPE_1, 1));
	bind_key(KEY(TYPE_2, 1));
	host_reset(pair.b.machine, 0);
	stop();
}

/* A fast registration's key with windows on it is not invalidated. */
TERN_TEST(window_on_a_fast_registration)
{
	struct tern_wqe_register segment;
	struct tern_wqe_bind bound;

	start((struct rdma_options){ .latency_ns = 1000, .privileged = true });
	CHECK_EQ(create(900, TERN_KEY_FAST_REGISTRATION, RDMA_PD), 0);
	segment = (struct tern_wqe_register){
		.pages = driver_pages(pair.b.buffer, pair.b.buffer_bytes),
		.address = htole64(pair.b.buffer), .key = htole32(900 << 8 | 7),
		.access = htole32(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_WINDOW_BIND),
	};
	bound = binding(KEY(TYPE_2, 1));
	bound.region = segment.key;
	/* Free yet. */
	rdma_post_local(&pair.b, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
	expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
	bind(&bound, TERN_WC_SUCCESS);
	write_by(KEY(TYPE_2, 1), TERN_WC_SUCCESS);
	invalidate(KEY(TYPE_2, 1), TERN_WC_SUCCESS);
	invalidate(900 << 8 | 7, TERN_WC_SUCCESS);
	bind(&bound, TERN_WC_WINDOW_BIND);
	stop();
	start((struct rdma_options){ .latency_ns = 1000, .privileged = true });
	CHECK_EQ(create(900, TERN_KEY_FAST_REGISTRATION, RDMA_PD), 0);
	segment.pages = driver_pages(pair.b.buffer, pair.b.buffer_bytes);
	rdma_post_local(&pair.b, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
	expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
	bind(&bound, TERN_WC_SUCCESS);
	invalidate(900 << 8 | 7, TERN_WC_WINDOW_BIND);
	stop();
}

static unsigned int lost;

static bool lose_some(struct machine *machine, const struct tern_frame *frame)
{
	(void)machine;
	(void)frame;
	return ++lost % 5 != 2;
}

/* Bound once, though the requests around it are sent again. */
TERN_TEST(binding_and_loss)
{
	struct rdma_request send = { .opcode = TERN_WQE_SEND, .length = 3000 };
	struct tern_wqe_bind segment;
	struct tern_cqe cqe;

	start((struct rdma_options){ .path_mtu = 2, .latency_ns = 5000, .timeout = 8 });
	pair.a.machine->on_transmit = lose_some;
	pair.b.machine->on_transmit = lose_some;
	for (uint8_t i = 0; i < 20; i++) {
		segment = binding(KEY(TYPE_2, i));
		rdma_post_receive(&pair.a, 400000, 3000);
		rdma_post_receive(&pair.a, 400000, 3000);
		rdma_post(&pair, &pair.b, &send);
		rdma_post_local(&pair.b, TERN_WQE_BIND_WINDOW, 0, &segment, sizeof(segment));
		rdma_post(&pair, &pair.b, &send);
		rdma_post_local(&pair.b, TERN_WQE_LOCAL_INVALIDATE, KEY(TYPE_2, i), NULL, 0);
		expect(&pair.b, TERN_WQE_SEND, TERN_WC_SUCCESS);
		expect(&pair.b, TERN_WQE_BIND_WINDOW, TERN_WC_SUCCESS);
		expect(&pair.b, TERN_WQE_SEND, TERN_WC_SUCCESS);
		expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_SUCCESS);
		rdma_wait(&pair, &pair.a.receive_cq, &cqe);
		rdma_wait(&pair, &pair.a.receive_cq, &cqe);
	}
	CHECK(rdma_counter(&pair.b, "retransmitted_packets") > 0);
	stop();
}

/* MODIFY_KEY: each part of a region; what it was is gone at once. */
TERN_TEST(a_region_is_changed)
{
	struct tern_command_create_key body;
	uint64_t other;

	start((struct rdma_options){ .latency_ns = 1000 });
	other = host_alloc(pair.b.machine, BYTES, 4096);
	body = (struct tern_command_create_key){
		.pages = driver_pages(other, BYTES), .address = htole64(0x4000),
		.pd = htole32(RDMA_PD), .access = htole32(RDMA_ALL_ACCESS), .consumer = 77,
	};
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_MODIFY_KEY, region >> 8, &body,
				sizeof(body)), 0);
	access_by(TERN_WQE_WRITE, (region & ~0xffU) | 77, 0x4000, BYTES, TERN_WC_SUCCESS);
	CHECK_MEM(host_pointer(pair.b.machine, other), rdma_memory(&pair.a, 0), BYTES);
	/* Less rights; another PD. */
	body.access = htole32(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_READ);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_MODIFY_KEY, region >> 8, &body,
				sizeof(body)), 0);
	access_by(TERN_WQE_READ, (region & ~0xffU) | 77, 0x4000, BYTES, TERN_WC_SUCCESS);
	body.pd = htole32(RDMA_PD + 1);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_MODIFY_KEY, region >> 8, &body,
				sizeof(body)), 0);
	access_by(TERN_WQE_READ, (region & ~0xffU) | 77, 0x4000, BYTES, TERN_WC_REMOTE_ACCESS);
	stop();
}

TERN_TEST(bad_changes_of_a_region)
{
	struct tern_command_create_key good, body;

	start((struct rdma_options){ .latency_ns = 1000 });
	good = (struct tern_command_create_key){
		.pages = driver_pages(pair.b.buffer, 4096), .address = htole64(0x4000),
		.pd = htole32(RDMA_PD), .access = htole32(RDMA_ALL_ACCESS), .consumer = 77,
	};
#define REFUSED(index, status) \
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_MODIFY_KEY, index, &body, \
				sizeof(body)), TERN_COMMAND_STATUS_##status)
	body = good;
	REFUSED(0, BAD_NUMBER);
	REFUSED(262144, BAD_NUMBER);
	REFUSED(5000, NOT_FOUND);
	REFUSED(TYPE_1, BAD_PARAMETER);
	body.access = htole32(TERN_ACCESS_REMOTE_WRITE);
	REFUSED(pair.b.key >> 8, BAD_PARAMETER);
	body = good;
	body.pages.length = 0;
	REFUSED(pair.b.key >> 8, BAD_PARAMETER);
	body = (struct tern_command_create_key){ .type = TERN_KEY_WINDOW_TYPE_1 };
	REFUSED(pair.b.key >> 8, BAD_PARAMETER);
#undef REFUSED
	/* It is as it was. */
	write_by(pair.b.key, TERN_WC_SUCCESS);
	stop();
}
