// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: RC: each operation works, on each network, with and without the shortcuts. */
#include <endian.h>
#include <stdlib.h>

#include "host_rdma.h"
#include "tern_test.h"

static void check_send_cqe(const struct tern_cqe *cqe, const struct rdma_side *side,
			   uint8_t opcode, uint32_t index, uint32_t bytes)
{
	CHECK_EQ(cqe->status, TERN_WC_SUCCESS);
	CHECK_EQ(cqe->opcode, opcode);
	CHECK_EQ(le32toh(cqe->queue), side->qp.qpn);
	CHECK_EQ(le32toh(cqe->index), index);
	CHECK_EQ(le32toh(cqe->byte_count), bytes);
}

static void send_once(struct rdma_pair *pair, struct rdma_side *from, uint32_t length,
		      uint8_t opcode)
{
	struct rdma_side *to = rdma_peer(pair, from);
	struct rdma_request request = {
		.opcode = opcode, .length = length, .immediate = 0x12345678,
	};
	uint32_t sent, received;
	struct tern_cqe cqe;

	rdma_fill(rdma_memory(from, 0), length, length + 7);
	memset(rdma_memory(to, 4096), 0, length);
	received = rdma_post_receive(to, 4096, length);
	sent = rdma_post(pair, from, &request);
	rdma_wait(pair, &to->receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, opcode == TERN_WQE_SEND ? TERN_CQE_RECEIVE :
						       TERN_CQE_RECEIVE_IMMEDIATE);
	CHECK_EQ(le32toh(cqe.byte_count), length);
	CHECK_EQ(le32toh(cqe.index), received);
	CHECK_EQ(le32toh(cqe.queue), to->qp.qpn);
	if (opcode == TERN_WQE_SEND_IMMEDIATE)
		CHECK_MEM(cqe.immediate, "\x12\x34\x56\x78", 4);
	CHECK_MEM(rdma_memory(to, 4096), rdma_memory(from, 0), length);
	rdma_wait(pair, &from->send_cq, &cqe);
	check_send_cqe(&cqe, from, opcode, sent, 0);
}

static void write_once(struct rdma_pair *pair, struct rdma_side *from, uint32_t length)
{
	struct rdma_side *to = rdma_peer(pair, from);
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .length = length };
	struct tern_cqe cqe;
	uint32_t sent;

	rdma_fill(rdma_memory(from, 0), length, length + 1);
	memset(rdma_memory(to, 0), 0, length);
	sent = rdma_post(pair, from, &request);
	rdma_wait(pair, &from->send_cq, &cqe);
	check_send_cqe(&cqe, from, TERN_WQE_WRITE, sent, 0);
	CHECK_MEM(rdma_memory(to, 0), rdma_memory(from, 0), length);
	CHECK(rdma_none(&to->receive_cq));
}

static void read_once(struct rdma_pair *pair, struct rdma_side *from, uint32_t length)
{
	struct rdma_side *to = rdma_peer(pair, from);
	struct rdma_request request = { .opcode = TERN_WQE_READ, .length = length };
	struct tern_cqe cqe;
	uint32_t sent;

	rdma_fill(rdma_memory(to, 0), length, length + 3);
	memset(rdma_memory(from, 0), 0, length);
	sent = rdma_post(pair, from, &request);
	rdma_wait(pair, &from->send_cq, &cqe);
	check_send_cqe(&cqe, from, TERN_WQE_READ, sent, length);
	CHECK_MEM(rdma_memory(from, 0), rdma_memory(to, 0), length);
}

static void all_operations(const struct rdma_options *options)
{
	static const uint32_t lengths[] = { 0, 1, 3, 4, 255, 256, 4095, 4096, 4097, 65536, 100001 };
	struct rdma_pair pair;

	rdma_pair_create(&pair, options);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		send_once(&pair, &pair.a, lengths[i], TERN_WQE_SEND);
		send_once(&pair, &pair.b, lengths[i], TERN_WQE_SEND_IMMEDIATE);
		write_once(&pair, &pair.a, lengths[i]);
		write_once(&pair, &pair.b, lengths[i]);
		read_once(&pair, &pair.a, lengths[i]);
		read_once(&pair, &pair.b, lengths[i]);
	}
	CHECK_EQ(rdma_counter(&pair.a, "retransmitted_packets"), 0);
	CHECK_EQ(rdma_counter(&pair.b, "rx_malformed"), 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(operations_over_ipv4)
{
	all_operations(&(struct rdma_options){ .network = RDMA_V2_IPV4 });
}

TERN_TEST(operations_over_ipv6)
{
	all_operations(&(struct rdma_options){ .network = RDMA_V2_IPV6 });
}

TERN_TEST(operations_over_roce_v1)
{
	all_operations(&(struct rdma_options){ .network = RDMA_V1 });
}

TERN_TEST(operations_in_a_vlan)
{
	all_operations(&(struct rdma_options){ .network = RDMA_V2_IPV4_VLAN });
}

TERN_TEST(operations_without_shortcuts)
{
	all_operations(&(struct rdma_options){ .network = RDMA_V2_IPV4, .no_shortcuts = true });
	all_operations(&(struct rdma_options){ .network = RDMA_V2_IPV6, .no_shortcuts = true });
	all_operations(&(struct rdma_options){ .network = RDMA_V1, .no_shortcuts = true });
}

TERN_TEST(operations_with_latency)
{
	all_operations(&(struct rdma_options){ .latency_ns = 20000, .path_mtu = 1 });
}

TERN_TEST(operations_looped_back)
{
	all_operations(&(struct rdma_options){ .loopback = true });
	all_operations(&(struct rdma_options){ .loopback = true, .no_shortcuts = true });
}

TERN_TEST(operations_at_a_modelled_speed)
{
	all_operations(&(struct rdma_options){ .speed_mbps = 10000, .latency_ns = 1000 });
}

TERN_TEST(psn_wraps)
{
	struct rdma_options options = { .path_mtu = 1, .sq_psn = 0xffffff, .rq_psn = 0xfffff0 };

	all_operations(&options);
}

TERN_TEST(write_immediate_consumes_a_receive)
{
	struct rdma_pair pair;
	struct rdma_request request = {
		.opcode = TERN_WQE_WRITE_IMMEDIATE, .length = 10000, .immediate = 0xaabbccdd,
	};
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	rdma_post_receive(&pair.b, 500000, 0);
	rdma_fill(rdma_memory(&pair.a, 0), 10000, 1);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE_WRITE_IMMEDIATE);
	CHECK_EQ(le32toh(cqe.byte_count), 10000);
	CHECK_MEM(cqe.immediate, "\xaa\xbb\xcc\xdd", 4);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 10000);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	/* Without a receive: an RNR NAK, and it arrives when there is one. */
	request.length = 0;
	rdma_post(&pair, &pair.a, &request);
	world_advance(pair.world, 1000000);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK(rdma_counter(&pair.b, "rnr_nak_sent") > 0);
	rdma_post_receive(&pair.b, 500000, 0);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(le32toh(cqe.byte_count), 0);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	rdma_pair_destroy(&pair);
}

TERN_TEST(inline_data)
{
	uint8_t data[480];
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 1 });
	for (uint32_t length = 0; length <= sizeof(data); length += 16) {
		struct rdma_request request = {
			.opcode = TERN_WQE_WRITE, .inlined = data, .length = length,
		};

		rdma_fill(data, sizeof(data), length);
		rdma_post(&pair, &pair.a, &request);
		/* The WQE's memory is the host's again only after the completion; data is not. */
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_MEM(rdma_memory(&pair.b, 0), data, length);
	}
	rdma_pair_destroy(&pair);
}

TERN_TEST(scatter_and_gather_at_the_advertised_limit)
{
	enum { SEND = 30, RECEIVE = 31 };
	struct tern_sge from[SEND], to[RECEIVE];
	struct rdma_pair pair;
	struct tern_cqe cqe;
	uint8_t expected[SEND * 701];
	uint32_t place = 0, length = SEND * 701;
	struct rdma_request request = {
		.opcode = TERN_WQE_SEND, .sges = from, .sge_count = SEND,
	};

	rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 2 });
	rdma_fill(rdma_memory(&pair.a, 0), 500000, 9);
	for (unsigned int i = 0; i < SEND; i++) {
		from[i].address = htole64(pair.a.buffer + i * 8000 + i);
		from[i].length = htole32(701);
		from[i].key = htole32(pair.a.key);
		memcpy(expected + i * 701, rdma_memory(&pair.a, i * 8000 + i), 701);
	}
	for (unsigned int i = 0; i < RECEIVE; i++) {
		to[i].address = htole64(pair.b.buffer + i * 9000 + 3);
		to[i].length = htole32(i == 5 ? 0 : 777);
		to[i].key = htole32(pair.b.key);
	}
	driver_post_receive(&pair.b.qp, to, RECEIVE);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(le32toh(cqe.byte_count), length);
	for (unsigned int i = 0; i < RECEIVE && place < length; i++) {
		uint32_t piece = i == 5 ? 0 : 777;

		if (piece > length - place)
			piece = length - place;
		CHECK_MEM(rdma_memory(&pair.b, i * 9000 + 3), expected + place, piece);
		place += piece;
	}
	CHECK_EQ(place, length);
	rdma_pair_destroy(&pair);
}

/* More pieces than a frame has segments: each SGE lies across the end of a page. */
TERN_TEST(more_pieces_than_segments)
{
	enum { COUNT = 30, PIECE = 6 };
	struct tern_command_create_key body = {
		.pd = htole32(RDMA_PD), .access = htole32(RDMA_ALL_ACCESS), .consumer = 3,
	};
	struct rdma_request request = {
		.opcode = TERN_WQE_SEND, .sge_count = COUNT,
	};
	uint64_t pages[COUNT + 1], region;
	uint8_t expected[COUNT * PIECE];
	struct tern_sge from[COUNT];
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	region = host_alloc(pair.a.machine, (COUNT + 1) * 8192, 4096);
	/* No page lies behind the one before it. */
	for (unsigned int i = 0; i <= COUNT; i++)
		pages[i] = region + i * 8192;
	body.pages = driver_page_table(pair.a.machine, pages, COUNT + 1, 12, 1, 0,
				       (COUNT + 1) * 4096);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_CREATE_KEY, 77, &body, sizeof(body)),
		 0);
	rdma_fill(expected, sizeof(expected), 5);
	for (unsigned int i = 0; i < COUNT; i++) {
		from[i].address = htole64((i + 1) * 4096 - PIECE / 2);
		from[i].length = htole32(PIECE);
		from[i].key = htole32(77 << 8 | 3);
		memcpy(host_pointer(pair.a.machine, pages[i] + 4096 - PIECE / 2),
		       expected + i * PIECE, PIECE / 2);
		memcpy(host_pointer(pair.a.machine, pages[i + 1]),
		       expected + i * PIECE + PIECE / 2, PIECE / 2);
	}
	request.sges = from;
	rdma_post_receive(&pair.b, 0, sizeof(expected));
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(le32toh(cqe.byte_count), sizeof(expected));
	CHECK_MEM(rdma_memory(&pair.b, 0), expected, sizeof(expected));
	rdma_pair_destroy(&pair);
}
