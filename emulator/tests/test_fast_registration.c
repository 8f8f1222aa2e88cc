// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: fast registration: REGISTER, LOCAL_INVALIDATE, SEND_INVALIDATE, and each rule of theirs. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

#define INDEX		700
#define BYTES		20000
#define ADDRESS		UINT64_C(0x7700000000)
#define KEY(consumer)	((uint32_t)(INDEX << 8 | (consumer)))

static struct rdma_pair pair;

static uint16_t create(struct rdma_side *side, uint32_t index, uint8_t consumer, uint32_t pd)
{
	struct tern_command_create_key body = {
		.pd = htole32(pd), .consumer = consumer, .type = TERN_KEY_FAST_REGISTRATION,
	};

	return driver_command(side->driver, TERN_COMMAND_CREATE_KEY, index, &body, sizeof(body));
}

/* Its memory: what lies at @offset of the side's buffer. */
static struct tern_wqe_register segment_of(struct rdma_side *side, uint32_t key, uint64_t offset)
{
	return (struct tern_wqe_register){
		.pages = driver_pages(side->buffer + offset, BYTES),
		.address = htole64(ADDRESS),
		.key = htole32(key),
		.access = htole32(RDMA_ALL_ACCESS),
	};
}

static uint32_t post_register(struct rdma_side *side, uint32_t key, uint64_t offset)
{
	struct tern_wqe_register segment = segment_of(side, key, offset);

	return rdma_post_local(side, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
}

static uint32_t post_invalidate(struct rdma_side *side, uint32_t key)
{
	return rdma_post_local(side, TERN_WQE_LOCAL_INVALIDATE, key, NULL, 0);
}

static void expect(struct rdma_side *side, uint8_t opcode, uint8_t status)
{
	struct tern_cqe cqe;

	rdma_wait(&pair, &side->send_cq, &cqe);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(cqe.opcode, opcode);
	CHECK_EQ(le32toh(cqe.byte_count), 0);
}

static uint8_t state_of(struct rdma_side *side)
{
	struct tern_qp_status status;

	rdma_qp_status(side, &status);
	return status.state;
}

static void start(struct rdma_options options)
{
	options.privileged = true;
	rdma_pair_create(&pair, &options);
	CHECK_EQ(create(&pair.b, INDEX, 1, RDMA_PD), 0);
	rdma_fill(rdma_memory(&pair.a, 0), BYTES, 3);
}

static void stop(void)
{
	rdma_pair_destroy(&pair);
}

/* b's region at 100000, by @key. */
static void register_key(uint32_t key)
{
	post_register(&pair.b, key, 100000);
	expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
}

/* a writes to b by @key; nothing of b's memory may change when it fails. */
static void write_by(uint32_t key, uint8_t status)
{
	struct rdma_request write = {
		.opcode = TERN_WQE_WRITE, .length = BYTES, .remote_key = key,
		.remote_address = ADDRESS,
	};
	static const uint8_t nothing[BYTES];

	memset(rdma_memory(&pair.b, 100000), 0, BYTES);
	rdma_post(&pair, &pair.a, &write);
	expect(&pair.a, TERN_WQE_WRITE, status);
	CHECK_MEM(rdma_memory(&pair.b, 100000), status ? nothing : rdma_memory(&pair.a, 0), BYTES);
}

static void send_invalidate(uint32_t key, uint32_t length)
{
	struct rdma_request send = {
		.opcode = TERN_WQE_SEND_INVALIDATE, .length = length, .immediate = key,
	};

	rdma_post(&pair, &pair.a, &send);
}

static const struct rdma_options ways[] = {
	{ .path_mtu = 2, .latency_ns = 1000 },
	{ .path_mtu = 5, .loopback = true },
	{ .path_mtu = 3, .no_shortcuts = true, .network = RDMA_V1 },
};

#define WAYS	(sizeof(ways) / sizeof(*ways))

TERN_TEST(register_use_invalidate_and_again)
{
	for (size_t i = 0; i < WAYS; i++) {
		start(ways[i]);
		for (unsigned int round = 0; round < 5; round++) {
			uint32_t key = KEY(round * 50 + 1);
			struct rdma_request read = {
				.opcode = TERN_WQE_READ, .length = BYTES, .remote_key = key,
				.remote_address = ADDRESS, .address = pair.a.buffer + 400000,
			};
			struct tern_cqe cqe;

			register_key(key);
			write_by(key, TERN_WC_SUCCESS);
			rdma_post(&pair, &pair.a, &read);
			rdma_wait(&pair, &pair.a.send_cq, &cqe);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
			CHECK_MEM(rdma_memory(&pair.a, 400000), rdma_memory(&pair.a, 0), BYTES);
			post_invalidate(&pair.b, key);
			expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_SUCCESS);
		}
		stop();
	}
}

/* The work requests behind it use it: own SGEs, and the peer that is told of it. */
TERN_TEST(registered_before_what_follows)
{
	struct rdma_request send = {
		.opcode = TERN_WQE_SEND, .length = BYTES, .key = KEY(9), .address = ADDRESS,
	};
	struct tern_cqe cqe;

	for (size_t i = 0; i < WAYS; i++) {
		start(ways[i]);
		rdma_fill(rdma_memory(&pair.b, 100000), BYTES, 8);
		rdma_post_receive(&pair.a, 200000, BYTES);
		post_register(&pair.b, KEY(9), 100000);
		rdma_post(&pair, &pair.b, &send);
		post_invalidate(&pair.b, KEY(9));
		expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
		expect(&pair.b, TERN_WQE_SEND, TERN_WC_SUCCESS);
		expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_SUCCESS);
		rdma_wait(&pair, &pair.a.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_MEM(rdma_memory(&pair.a, 200000), rdma_memory(&pair.b, 100000), BYTES);
		stop();
	}
}

static unsigned int lost;

static bool lose_some(struct machine *machine, const struct tern_frame *frame)
{
	(void)machine;
	(void)frame;
	return ++lost % 5 != 2;
}

/* Sent again after losses, the data still come from it: invalidation waits; nothing runs twice. */
TERN_TEST(registration_and_loss)
{
	struct rdma_request send = { .opcode = TERN_WQE_SEND, .length = BYTES };
	struct tern_cqe cqe;

	start((struct rdma_options){ .path_mtu = 3, .latency_ns = 5000, .timeout = 8 });
	rdma_fill(rdma_memory(&pair.b, 100000), BYTES, 8);
	pair.b.machine->on_transmit = lose_some;
	pair.a.machine->on_transmit = lose_some;
	for (unsigned int i = 0; i < 30; i++) {
		send.key = KEY(i);
		send.address = ADDRESS;
		rdma_post_receive(&pair.a, 200000, BYTES);
		post_register(&pair.b, KEY(i), 100000);
		rdma_post(&pair, &pair.b, &send);
		post_invalidate(&pair.b, KEY(i));
	}
	for (unsigned int i = 0; i < 30; i++) {
		expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
		expect(&pair.b, TERN_WQE_SEND, TERN_WC_SUCCESS);
		expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_SUCCESS);
		rdma_wait(&pair, &pair.a.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	}
	CHECK_MEM(rdma_memory(&pair.a, 200000), rdma_memory(&pair.b, 100000), BYTES);
	CHECK(rdma_counter(&pair.b, "retransmitted_packets") > 0);
	stop();
}

/* A late acknowledge for all, when sending again has begun: the invalidation is not passed over. */
TERN_TEST(acknowledged_while_it_waits)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 4000 };

	start((struct rdma_options){ .path_mtu = 2, .latency_ns = 400000, .timeout = 6 });
	register_key(KEY(1));
	rdma_post(&pair, &pair.b, &write);
	post_invalidate(&pair.b, KEY(1));
	expect(&pair.b, TERN_WQE_WRITE, TERN_WC_SUCCESS);
	expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_SUCCESS);
	CHECK(rdma_counter(&pair.b, "local_ack_timeout_err") > 0);
	write_by(KEY(1), TERN_WC_REMOTE_ACCESS);
	stop();
}

TERN_TEST(free_key_gives_no_access)
{
	struct rdma_request send = {
		.opcode = TERN_WQE_SEND, .length = 8, .key = KEY(1), .address = ADDRESS,
	};

	for (size_t i = 0; i < WAYS; i++) {
		/* Never registered; with the bytes of address 0, too. */
		start(ways[i]);
		write_by(KEY(1), TERN_WC_REMOTE_ACCESS);
		CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
		stop();
		start(ways[i]);
		rdma_post(&pair, &pair.b, &send);
		expect(&pair.b, TERN_WQE_SEND, TERN_WC_LOCAL_PROTECTION);
		stop();
		/* Invalidated. */
		start(ways[i]);
		register_key(KEY(7));
		write_by(KEY(7), TERN_WC_SUCCESS);
		post_invalidate(&pair.b, KEY(7));
		expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_SUCCESS);
		write_by(KEY(7), TERN_WC_REMOTE_ACCESS);
		stop();
		/* An older consumer's byte. */
		start(ways[i]);
		register_key(KEY(7));
		write_by(KEY(1), TERN_WC_REMOTE_ACCESS);
		stop();
	}
}

/* Good, bad, good: the queue pair fails at the second, in order. */
static void refused(uint8_t opcode, uint32_t key, const struct tern_wqe_register *segment)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 3000 };

	rdma_post(&pair, &pair.b, &write);
	rdma_post_local(&pair.b, opcode, key, segment, segment ? sizeof(*segment) : 0);
	rdma_post(&pair, &pair.b, &write);
	expect(&pair.b, TERN_WQE_WRITE, TERN_WC_SUCCESS);
	expect(&pair.b, opcode, TERN_WC_WINDOW_BIND);
	expect(&pair.b, TERN_WQE_WRITE, TERN_WC_FLUSHED);
	CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
	CHECK_EQ(state_of(&pair.a), TERN_QP_RTS);
	stop();
}

static void bad_register(void (*spoil)(struct tern_wqe_register *segment))
{
	struct tern_wqe_register segment;

	start((struct rdma_options){ .latency_ns = 1000 });
	segment = segment_of(&pair.b, KEY(1), 100000);
	spoil(&segment);
	refused(TERN_WQE_REGISTER, 0, &segment);
}

static void no_such_key(struct tern_wqe_register *segment)
{
	segment->key = htole32((INDEX + 1) << 8);
}

static void index_out_of_range(struct tern_wqe_register *segment)
{
	segment->key = htole32(0xffffff01);
}

static void local_dma_key(struct tern_wqe_register *segment)
{
	segment->key = 0;
}

static void of_a_region(struct tern_wqe_register *segment)
{
	segment->key = htole32(pair.b.key);
}

static void of_another_pd(struct tern_wqe_register *segment)
{
	CHECK_EQ(create(&pair.b, INDEX + 2, 1, RDMA_PD + 1), 0);
	segment->key = htole32((INDEX + 2) << 8);
}

static void valid_already(struct tern_wqe_register *segment)
{
	register_key(KEY(1));
	segment->key = htole32(KEY(2));
}

static void without_length(struct tern_wqe_register *segment)
{
	segment->pages.length = 0;
}

static void bad_levels(struct tern_wqe_register *segment)
{
	segment->pages.levels = TERN_PAGE_LEVELS_MAX + 1;
}

static void address_wraps(struct tern_wqe_register *segment)
{
	segment->address = htole64(UINT64_MAX - BYTES + 2);
}

static void zero_based_elsewhere(struct tern_wqe_register *segment)
{
	segment->access |= htole32(TERN_ACCESS_ZERO_BASED);
}

static void remote_write_alone(struct tern_wqe_register *segment)
{
	segment->access = htole32(TERN_ACCESS_REMOTE_WRITE);
}

static void unknown_right(struct tern_wqe_register *segment)
{
	segment->access |= htole32(1U << 30);
}

TERN_TEST(bad_registrations)
{
	void (*const all[])(struct tern_wqe_register *) = {
		no_such_key, index_out_of_range, local_dma_key, of_a_region, of_another_pd,
		valid_already, without_length, bad_levels, address_wraps, zero_based_elsewhere,
		remote_write_alone, unknown_right,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bad_register(all[i]);
}

TERN_TEST(registration_at_the_end_of_addresses)
{
	struct tern_wqe_register segment;

	start((struct rdma_options){ 0 });
	segment = segment_of(&pair.b, KEY(1), 100000);
	segment.address = htole64(UINT64_MAX - BYTES + 1);
	rdma_post_local(&pair.b, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
	expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
	stop();
}

TERN_TEST(bad_local_invalidations)
{
	const uint32_t keys[] = { 0, KEY(2), (INDEX + 1) << 8, 0xffffff01, (INDEX + 2) << 8 | 1 };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		start((struct rdma_options){ .latency_ns = 1000 });
		CHECK_EQ(create(&pair.b, INDEX + 2, 1, RDMA_PD + 1), 0);
		refused(TERN_WQE_LOCAL_INVALIDATE, keys[i], NULL);
	}
	/* An ordinary region's stays. */
	start((struct rdma_options){ .latency_ns = 1000 });
	refused(TERN_WQE_LOCAL_INVALIDATE, pair.b.key, NULL);
}

TERN_TEST(invalidating_what_is_free_does_no_harm)
{
	start((struct rdma_options){ 0 });
	post_invalidate(&pair.b, KEY(1));
	expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_SUCCESS);
	register_key(KEY(1));
	write_by(KEY(1), TERN_WC_SUCCESS);
	stop();
}

/* Bus addresses are not a process's to name. */
TERN_TEST(registration_needs_a_privileged_queue_pair)
{
	struct tern_wqe_register segment;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 1000 });
	CHECK_EQ(create(&pair.b, INDEX, 1, RDMA_PD), 0);
	segment = segment_of(&pair.b, KEY(1), 100000);
	rdma_post_local(&pair.b, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
	expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_LOCAL_QP_OPERATION);
	CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
	stop();
}

static void malformed(uint8_t opcode, uint8_t flags, uint8_t sges, uint16_t inline_length)
{
	struct tern_wqe_register segment;
	uint8_t wqe[128] = { opcode, (uint8_t)(TERN_WQE_SIGNALED | flags), 0, sges };
	uint16_t length = htole16(inline_length);

	start((struct rdma_options){ 0 });
	segment = segment_of(&pair.b, KEY(1), 100000);
	memcpy(wqe + offsetof(struct tern_wqe_control, inline_length), &length, 2);
	memcpy(wqe + sizeof(struct tern_wqe_control), &segment, sizeof(segment));
	driver_post_send(&pair.b.qp, wqe, 2);
	expect(&pair.b, opcode, TERN_WC_LOCAL_QP_OPERATION);
	stop();
}

TERN_TEST(they_carry_no_data)
{
	malformed(TERN_WQE_REGISTER, TERN_WQE_INLINE, 0, 8);
	malformed(TERN_WQE_REGISTER, 0, 1, 0);
	malformed(TERN_WQE_REGISTER, 0, 0, 1);
	malformed(TERN_WQE_LOCAL_INVALIDATE, TERN_WQE_INLINE, 0, 8);
	malformed(TERN_WQE_LOCAL_INVALIDATE, 0, 2, 0);
	malformed(TERN_WQE_REGISTER, 0x10, 0, 0);
}

TERN_TEST(send_with_invalidate)
{
	static const uint32_t lengths[] = { 0, 5, 1024, 9001 };
	struct tern_cqe cqe;
	uint32_t key;

	for (size_t i = 0; i < WAYS; i++) {
		start(ways[i]);
		for (size_t j = 0; j < sizeof(lengths) / sizeof(*lengths); j++) {
			uint32_t want = KEY(j + 1);

			register_key(want);
			rdma_post_receive(&pair.b, 500000, lengths[j]);
			send_invalidate(want, lengths[j]);
			expect(&pair.a, TERN_WQE_SEND_INVALIDATE, TERN_WC_SUCCESS);
			rdma_wait(&pair, &pair.b.receive_cq, &cqe);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
			CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE_INVALIDATE);
			CHECK_EQ(le32toh(cqe.byte_count), lengths[j]);
			memcpy(&key, cqe.immediate, 4);
			CHECK_EQ(le32toh(key), want);
			CHECK_MEM(rdma_memory(&pair.b, 500000), rdma_memory(&pair.a, 0),
				  lengths[j]);
		}
		/* Free now: it can be registered anew, and gives no access before. */
		register_key(KEY(90));
		write_by(KEY(90), TERN_WC_SUCCESS);
		write_by(KEY(4), TERN_WC_REMOTE_ACCESS);
		stop();
	}
}

/* Executed once, whatever is lost. */
TERN_TEST(send_with_invalidate_and_loss)
{
	struct tern_cqe cqe;

	start((struct rdma_options){ .path_mtu = 1, .latency_ns = 5000, .timeout = 8 });
	pair.b.machine->on_transmit = lose_some;
	pair.a.machine->on_transmit = lose_some;
	for (unsigned int i = 0; i < 40; i++) {
		register_key(KEY(i));
		rdma_post_receive(&pair.b, 500000, 700);
		send_invalidate(KEY(i), 700);
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		expect(&pair.a, TERN_WQE_SEND_INVALIDATE, TERN_WC_SUCCESS);
	}
	stop();
}

/* The receive waits in vain, the key is as it was. */
static void refused_by_peer(uint32_t key)
{
	struct tern_cqe cqe;
	struct tern_eqe eqe;

	rdma_post_receive(&pair.b, 500000, 5000);
	send_invalidate(key, 5000);
	expect(&pair.a, TERN_WQE_SEND_INVALIDATE, TERN_WC_REMOTE_ACCESS);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
	/* Whoever of the two is asked first in loopback: one queue of events. */
	do {
		CHECK(rdma_event(&pair.b, &eqe));
	} while (eqe.type != TERN_EVENT_QP_ACCESS_ERROR);
	CHECK_EQ(le32toh(eqe.number), pair.b.qp.qpn);
	stop();
}

TERN_TEST(bad_sends_with_invalidate)
{
	struct tern_wqe_register segment;

	for (size_t i = 0; i < WAYS; i++) {
		/* Free; wrong byte; unknown; local DMA; a region; another PD's; not for peers. */
		start(ways[i]);
		refused_by_peer(KEY(1));
		start(ways[i]);
		register_key(KEY(1));
		refused_by_peer(KEY(2));
		start(ways[i]);
		refused_by_peer((INDEX + 1) << 8);
		start(ways[i]);
		refused_by_peer(0);
		start(ways[i]);
		refused_by_peer(pair.b.key);
		start(ways[i]);
		CHECK_EQ(create(&pair.b, INDEX + 2, 1, RDMA_PD + 1), 0);
		refused_by_peer((INDEX + 2) << 8 | 1);
		start(ways[i]);
		segment = segment_of(&pair.b, KEY(1), 100000);
		segment.access = htole32(TERN_ACCESS_LOCAL_WRITE);
		rdma_post_local(&pair.b, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
		expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
		refused_by_peer(KEY(1));
	}
}

TERN_TEST(rights_and_bounds_of_the_registration)
{
	struct rdma_request read = {
		.opcode = TERN_WQE_READ, .length = 8, .remote_key = KEY(1),
		.remote_address = ADDRESS,
	};
	struct tern_wqe_register segment;

	for (unsigned int bad = 0; bad < 4; bad++) {
		start((struct rdma_options){ .latency_ns = 1000 });
		segment = segment_of(&pair.b, KEY(1), 100000);
		if (bad == 1)
			segment.access = htole32(TERN_ACCESS_LOCAL_WRITE |
						 TERN_ACCESS_REMOTE_WRITE);
		rdma_post_local(&pair.b, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
		expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
		if (bad == 2)
			read.remote_address = ADDRESS - 1;
		else if (bad == 3)
			read.remote_address = ADDRESS + BYTES - 7;
		rdma_post(&pair, &pair.a, &read);
		if (bad) {
			expect(&pair.a, TERN_WQE_READ, TERN_WC_REMOTE_ACCESS);
		} else {
			struct tern_cqe cqe;

			rdma_wait(&pair, &pair.a.send_cq, &cqe);
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		}
		stop();
	}
}

/* A page table, zero based, over pages that do not follow each other. */
TERN_TEST(registration_of_scattered_pages)
{
	uint64_t pages[3];
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 9000 };
	struct tern_wqe_register segment = {
		.key = htole32(KEY(5)),
		.access = htole32(RDMA_ALL_ACCESS | TERN_ACCESS_ZERO_BASED),
	};

	start((struct rdma_options){ .path_mtu = 5 });
	for (unsigned int i = 0; i < 3; i++)
		pages[i] = host_alloc(pair.b.machine, 8192, 4096);
	segment.pages = driver_page_table(pair.b.machine, pages, 3, 12, 1, 100, 9000);
	rdma_post_local(&pair.b, TERN_WQE_REGISTER, 0, &segment, sizeof(segment));
	expect(&pair.b, TERN_WQE_REGISTER, TERN_WC_SUCCESS);
	write.remote_key = KEY(5);
	/* 0 stands for the peer's buffer in rdma_post(). */
	write.remote_address = 1;
	write.length = 8999;
	rdma_post(&pair, &pair.a, &write);
	expect(&pair.a, TERN_WQE_WRITE, TERN_WC_SUCCESS);
	CHECK_MEM(host_pointer(pair.b.machine, pages[0] + 101), rdma_memory(&pair.a, 0), 3995);
	CHECK_MEM(host_pointer(pair.b.machine, pages[1]), rdma_memory(&pair.a, 3995), 4096);
	CHECK_MEM(host_pointer(pair.b.machine, pages[2]), rdma_memory(&pair.a, 8091), 908);
	stop();
}

/* Without the feature: no key of the type, no opcode, and the peer's is an invalid request. */
TERN_TEST(without_the_feature)
{
	struct rdma_options options = { .latency_ns = 1000, .privileged = true };
	struct rdma_request send = { .opcode = TERN_WQE_SEND_INVALIDATE, .length = 8 };
	struct machine *a, *b;
	struct tern_qp_attributes attributes;

	memset(&pair, 0, sizeof(pair));
	pair.options = options;
	pair.world = world_create();
	a = machine_create(pair.world, NULL, 0);
	b = machine_create(pair.world, NULL, 0);
	host_cable(a, b, 1000);
	pair.b.driver = &pair.b.own_driver;
	driver_start(pair.b.driver, b, 0, UINT64_C(1) << TERN_FEATURE_FAST_REGISTRATION |
		     UINT64_C(1) << TERN_FEATURE_MEMORY_WINDOWS);
	CHECK_EQ(rdma_set_port(pair.b.driver, 9000, TERN_PORT_UP), 0);
	rdma_side_start(&pair.a, a, &options, 0);
	rdma_side_start(&pair.b, b, &options, 1);
	rdma_side_objects(&pair.a, &options);
	rdma_side_objects(&pair.b, &options);
	rdma_attributes(&pair.a, &pair.b, &options, true, &attributes);
	CHECK_EQ(rdma_to_rtr(&pair.a, &attributes), 0);
	CHECK_EQ(rdma_to_rts(&pair.a, &attributes), 0);
	rdma_attributes(&pair.b, &pair.a, &options, false, &attributes);
	CHECK_EQ(rdma_to_rtr(&pair.b, &attributes), 0);
	CHECK_EQ(rdma_to_rts(&pair.b, &attributes), 0);
	CHECK_EQ(create(&pair.b, INDEX, 1, RDMA_PD), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(pair.b.driver->syndrome, offsetof(struct tern_command, body) +
		 offsetof(struct tern_command_create_key, type));
	rdma_post_receive(&pair.b, 0, 100);
	rdma_post(&pair, &pair.a, &send);
	expect(&pair.a, TERN_WQE_SEND_INVALIDATE, TERN_WC_REMOTE_INVALID_REQUEST);
	post_invalidate(&pair.b, KEY(1));
	expect(&pair.b, TERN_WQE_LOCAL_INVALIDATE, TERN_WC_FLUSHED);
	stop();
}

/* What gets its memory later has none at its creation. */
TERN_TEST(creating_free_keys)
{
	static const struct {
		size_t offset;
		uint8_t bits;
	} bad[] = {
		{ offsetof(struct tern_command_create_key, pages.root) + 1, 1 },
		{ offsetof(struct tern_command_create_key, pages.length), 1 },
		{ offsetof(struct tern_command_create_key, pages.levels), 1 },
		{ offsetof(struct tern_command_create_key, address) + 7, 0x80 },
		{ offsetof(struct tern_command_create_key, access), 1 },
		{ offsetof(struct tern_command_create_key, pd) + 3, 1 },
		{ offsetof(struct tern_command_create_key, reserved0), 1 },
		{ offsetof(struct tern_command_create_key, type), 0x40 },
	};

	start((struct rdma_options){ 0 });
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tern_command_create_key body = { .type = TERN_KEY_FAST_REGISTRATION };

		((uint8_t *)&body)[bad[i].offset] |= bad[i].bits;
		CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_CREATE_KEY, 900, &body,
					sizeof(body)), TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK(pair.b.driver->syndrome >= offsetof(struct tern_command, body));
	}
	CHECK_EQ(create(&pair.b, INDEX, 1, RDMA_PD), TERN_COMMAND_STATUS_EXISTS);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_KEY, INDEX, NULL, 0), 0);
	CHECK_EQ(create(&pair.b, INDEX, 1, RDMA_PD), 0);
	/* In use, too, it can be destroyed. */
	register_key(KEY(1));
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_KEY, INDEX, NULL, 0), 0);
	write_by(KEY(1), TERN_WC_REMOTE_ACCESS);
	stop();
}
