// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: data is exact: SEND, WRITE and READ of every length at a boundary, at
 * each path MTU, on a clean wire and on one that loses, doubles and reorders.
 */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

#define LARGE		(8U << 20)
#define SLOT		(LARGE + 65536)
#define GUARD		64
#define LENGTHS_MAX	16

static const uint8_t operations[] = { TERN_WQE_SEND, TERN_WQE_WRITE, TERN_WQE_READ };

static unsigned int boundary_lengths(uint32_t mtu, uint32_t *lengths)
{
	uint32_t all[] = {
		0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu, 2 * mtu + 1,
		17 * mtu - 1, 17 * mtu, 17 * mtu + 1, 200 * mtu - 1,
	};

	memcpy(lengths, all, sizeof(all));
	return sizeof(all) / sizeof(*all);
}

static void impair(struct rdma_pair *pair, double probability)
{
	static const enum tern_misbehaviour kinds[] = {
		TERN_WIRE_DROP, TERN_WIRE_DUPLICATE, TERN_WIRE_REORDER,
	};

	for (unsigned int side = 0; side < 2; side++) {
		struct tern_nic *nic = (side ? &pair->b : &pair->a)->machine->nic;

		for (unsigned int i = 0; i < 3; i++) {
			struct tern_wire_rule rule = {
				.what = kinds[i], .opcode = -1, .probability = probability,
			};

			CHECK(tern_nic_add_wire_rule(nic, &rule) >= 0);
		}
	}
}

/* Where the data of one transfer comes from and goes to. */
struct transfer {
	uint8_t operation;
	uint32_t length;
	uint64_t place;			/* in both buffers; the target in its second half */
	uint32_t index, receive;
};

static uint64_t target_offset(const struct rdma_pair *pair, const struct transfer *transfer)
{
	return pair->options.buffer_bytes / 2 + transfer->place;
}

static void prepare(struct rdma_pair *pair, struct transfer *transfer, uint32_t seed)
{
	bool read = transfer->operation == TERN_WQE_READ;
	struct rdma_side *from = read ? &pair->b : &pair->a;
	struct rdma_side *to = read ? &pair->a : &pair->b;
	struct rdma_request request = {
		.opcode = transfer->operation, .length = transfer->length,
	};
	uint64_t target = target_offset(pair, transfer);

	rdma_fill(rdma_memory(from, transfer->place), transfer->length, seed);
	memset(rdma_memory(to, target - GUARD), 0xa5, transfer->length + 2 * GUARD);
	if (transfer->operation == TERN_WQE_SEND)
		transfer->receive = rdma_post_receive(&pair->b, target, transfer->length);
	request.address = pair->a.buffer + (read ? target : transfer->place);
	request.remote_address = pair->b.buffer + (read ? transfer->place : target);
	transfer->index = rdma_post(pair, &pair->a, &request);
}

static void verify(struct rdma_pair *pair, const struct transfer *transfer)
{
	bool read = transfer->operation == TERN_WQE_READ;
	struct rdma_side *from = read ? &pair->b : &pair->a;
	struct rdma_side *to = read ? &pair->a : &pair->b;
	uint64_t target = target_offset(pair, transfer);
	const uint8_t *got = rdma_memory(to, target);

	if (memcmp(got, rdma_memory(from, transfer->place), transfer->length))
		CHECK_MEM(got, rdma_memory(from, transfer->place), transfer->length);
	/* Not a byte in front of it or behind it. */
	for (unsigned int i = 1; i <= GUARD; i++) {
		CHECK_EQ(got[-(int)i], 0xa5);
		CHECK_EQ(got[transfer->length + i - 1], 0xa5);
	}
}

/* All of them in flight at once. */
static void run(struct rdma_pair *pair, struct transfer *transfers, unsigned int count,
		uint32_t seed)
{
	struct tern_cqe cqe;

	for (unsigned int i = 0; i < count; i++)
		prepare(pair, &transfers[i], seed + i);
	for (unsigned int i = 0; i < count; i++) {
		rdma_wait(pair, &pair->a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(le32toh(cqe.index), transfers[i].index);
	}
	for (unsigned int i = 0; i < count; i++) {
		verify(pair, &transfers[i]);
		if (transfers[i].operation != TERN_WQE_SEND)
			continue;
		rdma_wait(pair, &pair->b.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(le32toh(cqe.index), transfers[i].receive);
		CHECK_EQ(le32toh(cqe.byte_count), transfers[i].length);
	}
	CHECK(rdma_none(&pair->b.receive_cq));
}

static void boundaries(const struct rdma_options *wanted, double probability, uint32_t seed)
{
	for (uint8_t code = 1; code <= 5; code++) {
		struct transfer transfers[LENGTHS_MAX * sizeof(operations)];
		struct rdma_options options = *wanted;
		uint32_t lengths[LENGTHS_MAX];
		unsigned int count = boundary_lengths(128U << code, lengths), all = 0;
		struct rdma_pair pair;
		uint64_t place = GUARD;

		options.path_mtu = code;
		options.buffer_bytes = 16 << 20;
		options.seed = seed;
		options.timeout = 8;
		rdma_pair_create(&pair, &options);
		if (probability > 0)
			impair(&pair, probability);
		for (unsigned int i = 0; i < count; i++) {
			for (size_t o = 0; o < sizeof(operations); o++) {
				transfers[all++] = (struct transfer){
					.operation = operations[o], .length = lengths[i],
					.place = place,
				};
				/* Nothing is aligned. */
				place += lengths[i] + 2 * GUARD + 1;
			}
		}
		CHECK(place < options.buffer_bytes / 2);
		run(&pair, transfers, all, seed * 100);
		run(&pair, transfers, all, seed * 100 + 50);
		if (probability > 0)
			CHECK(rdma_counter(&pair.a, "retransmitted_packets") > 0);
		else
			CHECK_EQ(rdma_counter(&pair.a, "retransmitted_packets"), 0);
		rdma_pair_destroy(&pair);
	}
}

static void large(const struct rdma_options *wanted, uint8_t code, double probability,
		  uint32_t seed)
{
	struct rdma_options options = *wanted;
	struct rdma_pair pair;

	options.path_mtu = code;
	options.buffer_bytes = 2 * SLOT;
	options.seed = seed;
	options.timeout = 8;
	rdma_pair_create(&pair, &options);
	if (probability > 0)
		impair(&pair, probability);
	for (size_t o = 0; o < sizeof(operations); o++) {
		struct transfer transfer = {
			.operation = operations[o], .length = LARGE, .place = GUARD + 3,
		};

		run(&pair, &transfer, 1, seed + (uint32_t)o);
	}
	rdma_pair_destroy(&pair);
}

TERN_TEST(boundaries_clean)
{
	boundaries(&(struct rdma_options){ .network = RDMA_V2_IPV4 }, 0, 1);
	boundaries(&(struct rdma_options){ .network = RDMA_V2_IPV6 }, 0, 2);
	boundaries(&(struct rdma_options){ .network = RDMA_V2_IPV4, .no_shortcuts = true }, 0, 3);
	boundaries(&(struct rdma_options){ .network = RDMA_V2_IPV6, .no_shortcuts = true }, 0, 4);
}

TERN_TEST(boundaries_with_latency)
{
	boundaries(&(struct rdma_options){ .latency_ns = 5000 }, 0, 5);
	boundaries(&(struct rdma_options){ .speed_mbps = 100000, .latency_ns = 500 }, 0, 6);
}

TERN_TEST(boundaries_on_a_bad_wire)
{
	for (uint32_t seed = 1; seed <= 4; seed++) {
		struct rdma_options options = {
			.latency_ns = seed & 1 ? 2000 : 0, .no_shortcuts = seed > 2,
			.network = seed & 2 ? RDMA_V2_IPV6 : RDMA_V2_IPV4,
		};

		boundaries(&options, 0.01, seed);
	}
}

TERN_TEST(boundaries_on_a_very_bad_wire)
{
	boundaries(&(struct rdma_options){ .latency_ns = 2000 }, 0.05, 11);
}

TERN_TEST(large_messages_clean)
{
	for (uint8_t code = 1; code <= 5; code++) {
		large(&(struct rdma_options){ 0 }, code, 0, code);
		large(&(struct rdma_options){ .no_shortcuts = true, .network = RDMA_V2_IPV6 },
		      code, 0, code + 10);
	}
}

TERN_TEST(large_messages_on_a_bad_wire)
{
	for (uint8_t code = 1; code <= 5; code++) {
		struct rdma_options options = {
			.latency_ns = code & 1 ? 1000 : 0, .no_shortcuts = code & 1,
		};

		large(&options, code, 0.01, code);
	}
}
