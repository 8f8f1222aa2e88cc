// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: RC: local errors, errors between two real ends, flushing in order, states. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

static void expect(struct rdma_pair *pair, struct driver_cq *cq, uint8_t status, uint32_t index)
{
	struct tern_cqe cqe;

	rdma_wait(pair, cq, &cqe);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.index), index);
	/* Whatever the request's opcode is, the completion is of the right queue. */
	CHECK_EQ(cqe.opcode & TERN_CQE_RECEIVER,
		 cq == &pair->a.send_cq || cq == &pair->b.send_cq ? 0 : TERN_CQE_RECEIVER);
}

static uint8_t state_of(struct rdma_side *side)
{
	struct tern_qp_status status;

	rdma_qp_status(side, &status);
	return status.state;
}

/* Good, bad, good: the first arrives, the second has @status, the third is flushed. */
static void local_error(const struct rdma_request *bad, uint8_t status)
{
	struct rdma_request good = { .opcode = TERN_WQE_WRITE, .length = 5000 };
	struct rdma_pair pair;
	uint32_t index[3];

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 1000 });
	rdma_fill(rdma_memory(&pair.a, 0), 5000, 1);
	index[0] = rdma_post(&pair, &pair.a, &good);
	index[1] = rdma_post(&pair, &pair.a, bad);
	index[2] = rdma_post(&pair, &pair.a, &good);
	expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, index[0]);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 5000);
	expect(&pair, &pair.a.send_cq, status, index[1]);
	expect(&pair, &pair.a.send_cq, TERN_WC_FLUSHED, index[2]);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
	rdma_pair_destroy(&pair);
}

TERN_TEST(bad_scatter_gather_elements)
{
	struct tern_sge sges[2] = { { 0 } };
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 8 };
	static const uint8_t opcodes[] = {
		TERN_WQE_SEND, TERN_WQE_WRITE, TERN_WQE_READ, TERN_WQE_WRITE_IMMEDIATE,
	};

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		request = (struct rdma_request){ .opcode = opcodes[i], .length = 8 };
		request.key = 0xabcdef01;
		local_error(&request, TERN_WC_LOCAL_PROTECTION);
		request.key = 0;
		/* Outside the region: before it, and far behind it. */
		request.address = HOST_MEMORY_BASE;
		local_error(&request, TERN_WC_LOCAL_PROTECTION);
		request.address = UINT64_MAX - 3;
		local_error(&request, TERN_WC_LOCAL_PROTECTION);
		/* The local DMA key is not for everybody. */
		sges[0].address = htole64(HOST_MEMORY_BASE);
		sges[0].length = htole32(8);
		request = (struct rdma_request){
			.opcode = opcodes[i], .sges = sges, .sge_count = 1,
		};
		local_error(&request, TERN_WC_LOCAL_PROTECTION);
	}
}

/* An SGE without bytes reaches nothing: its key and address do not matter. */
TERN_TEST(empty_scatter_gather_elements)
{
	struct tern_sge sges[3] = {
		{ .address = UINT64_MAX, .key = 0xffffffff },
		{ .length = htole32(5) },
		{ .address = htole64(1), .key = htole32(0x12345) },
	};
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .sges = sges, .sge_count = 3 };
	struct rdma_pair pair;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	sges[1].address = htole64(pair.a.buffer);
	sges[1].key = htole32(pair.a.key);
	rdma_fill(rdma_memory(&pair.a, 0), 5, 1);
	rdma_post(&pair, &pair.a, &request);
	request.opcode = TERN_WQE_READ;
	rdma_post(&pair, &pair.a, &request);
	expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, 0);
	expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, 2);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 5);
	rdma_pair_destroy(&pair);
}

TERN_TEST(bad_work_requests)
{
	struct rdma_request request = { .opcode = 0x3f, .length = 8 };

	local_error(&request, TERN_WC_LOCAL_QP_OPERATION);
	request.opcode = TERN_WQE_BIND_WINDOW;
	local_error(&request, TERN_WC_LOCAL_QP_OPERATION);
	request.opcode = TERN_WQE_ETHERNET;
	local_error(&request, TERN_WC_LOCAL_QP_OPERATION);
	/* It looks like a receiver's opcode, and must not in the completion. */
	request.opcode = 0x81;
	local_error(&request, TERN_WC_LOCAL_QP_OPERATION);
	request.opcode = TERN_WQE_WRITE;
	request.flags = 0x80;
	local_error(&request, TERN_WC_LOCAL_QP_OPERATION);
}

TERN_TEST(message_longer_than_the_limit)
{
	struct tern_sge sges[2];
	struct rdma_request request = {
		.opcode = TERN_WQE_WRITE, .sges = sges, .sge_count = 2,
	};

	/* 2^31 bytes, then one more; the length is looked at before the keys. */
	for (unsigned int i = 0; i < 2; i++)
		sges[i] = (struct tern_sge){ .length = htole32(0x40000000) };
	local_error(&request, TERN_WC_LOCAL_PROTECTION);
	sges[1].length = htole32(0x40000001);
	local_error(&request, TERN_WC_LOCAL_LENGTH);
	/* A sum that wraps around 32 bits. */
	sges[0].length = htole32(0xffffffff);
	sges[1].length = htole32(2);
	local_error(&request, TERN_WC_LOCAL_LENGTH);
}

TERN_TEST(read_without_initiator_depth)
{
	struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 8 };
	struct rdma_pair pair;

	rdma_pair_create(&pair, &(struct rdma_options){ .no_reads = true });
	rdma_post(&pair, &pair.a, &read);
	expect(&pair, &pair.a.send_cq, TERN_WC_LOCAL_QP_OPERATION, 0);
	rdma_pair_destroy(&pair);
}

/* The memory behind the key is gone: nothing behind the hole slides forward. */
TERN_TEST(memory_that_is_gone_under_a_message)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 65536 };
	struct rdma_pair pair;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	rdma_fill(rdma_memory(&pair.a, 0), 65536, 1);
	host_set_pages(pair.a.machine, pair.a.buffer + 32768, 4096, HOST_PAGE_ABSENT);
	rdma_post(&pair, &pair.a, &write);
	expect(&pair, &pair.a.send_cq, TERN_WC_LOCAL_PROTECTION, 0);
	for (unsigned int i = 32768; i < 65536; i++)
		CHECK_EQ(rdma_memory(&pair.b, 0)[i], 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(read_into_memory_that_is_gone)
{
	struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 8192 };
	struct rdma_pair pair;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	host_set_pages(pair.a.machine, pair.a.buffer + 4096, 4096, HOST_PAGE_ABSENT);
	rdma_post(&pair, &pair.a, &read);
	expect(&pair, &pair.a.send_cq, TERN_WC_LOCAL_PROTECTION, 0);
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	rdma_pair_destroy(&pair);
}

TERN_TEST(unmappable_memory_works)
{
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .length = 300000 };
	struct rdma_pair pair;

	for (unsigned int shortcuts = 0; shortcuts < 2; shortcuts++) {
		rdma_pair_create(&pair, &(struct rdma_options){ .no_shortcuts = shortcuts });
		for (unsigned int side = 0; side < 2; side++) {
			struct rdma_side *s = side ? &pair.b : &pair.a;

			/* Every other page, so that packets are put together from both kinds. */
			for (unsigned int page = 0; page < 256; page += 2)
				host_set_pages(s->machine, s->buffer + page * 4096, 4096,
					       HOST_PAGE_UNMAPPABLE);
		}
		rdma_fill(rdma_memory(&pair.a, 0), 300000, 8);
		request.opcode = TERN_WQE_WRITE;
		request.address = pair.a.buffer + 77;
		request.remote_address = pair.b.buffer + 4095;
		rdma_post(&pair, &pair.a, &request);
		expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, 0);
		CHECK_MEM(rdma_memory(&pair.b, 4095), rdma_memory(&pair.a, 77), 299000);
		request.opcode = TERN_WQE_READ;
		request.address = pair.a.buffer + 400001;
		rdma_post(&pair, &pair.a, &request);
		expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, 1);
		CHECK_MEM(rdma_memory(&pair.a, 400001), rdma_memory(&pair.b, 4095), 300000);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(protection_between_two_ends)
{
	static const uint8_t opcodes[] = { TERN_WQE_WRITE, TERN_WQE_READ,
					   TERN_WQE_WRITE_IMMEDIATE };

	for (unsigned int loopback = 0; loopback < 2; loopback++) {
		for (size_t i = 0; i < sizeof(opcodes); i++) {
			struct rdma_request good = { .opcode = TERN_WQE_READ, .length = 20000 };
			struct rdma_request bad = { .opcode = opcodes[i], .length = 20000 };
			struct rdma_pair pair;
			struct tern_eqe eqe;

			rdma_pair_create(&pair, &(struct rdma_options){ .loopback = loopback });
			/* The READ before it is answered first. */
			rdma_post(&pair, &pair.a, &good);
			bad.remote_address = pair.b.buffer + pair.b.buffer_bytes - 19999;
			rdma_post(&pair, &pair.a, &bad);
			rdma_post(&pair, &pair.a, &good);
			expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, 0);
			expect(&pair, &pair.a.send_cq, TERN_WC_REMOTE_ACCESS, 1);
			expect(&pair, &pair.a.send_cq, TERN_WC_FLUSHED, 2);
			CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
			CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
			CHECK(rdma_event(&pair.b, &eqe));
			CHECK_EQ(eqe.type, TERN_EVENT_QP_ACCESS_ERROR);
			CHECK_EQ(le32toh(eqe.number), pair.b.qp.qpn);
			rdma_pair_destroy(&pair);
		}
	}
}

/* Both queues, everything that is posted before and in ERROR, in order, once. */
TERN_TEST(flush_in_order)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 10 };
	struct rdma_pair pair;
	uint32_t sent[300], received[200];
	unsigned int i;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 1000000 });
	for (i = 0; i < 100; i++)
		received[i] = rdma_post_receive(&pair.a, 0, 10);
	for (i = 0; i < 200; i++) {
		/* Some take two blocks. */
		write.inlined = i % 3 ? NULL : "0123456789";
		write.unsignaled = i % 5 == 0;
		sent[i] = rdma_post(&pair, &pair.a, &write);
	}
	/* Some are on their way, some are not begun. */
	host_run(pair.a.machine, 16);
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
	for (; i < 300; i++)
		sent[i] = rdma_post(&pair, &pair.a, &write);
	for (unsigned int j = 100; j < 200; j++)
		received[j] = rdma_post_receive(&pair.a, 0, 10);
	for (i = 0; i < 300; i++)
		expect(&pair, &pair.a.send_cq, TERN_WC_FLUSHED, sent[i]);
	for (i = 0; i < 200; i++)
		expect(&pair, &pair.a.receive_cq, TERN_WC_FLUSHED, received[i]);
	/* After a sleep, too: both queues ask for their doorbells. */
	world_settle(pair.world);
	host_prepare_sleep(pair.a.machine);
	sent[0] = rdma_post(&pair, &pair.a, &write);
	received[0] = rdma_post_receive(&pair.a, 0, 10);
	expect(&pair, &pair.a.send_cq, TERN_WC_FLUSHED, sent[0]);
	expect(&pair, &pair.a.receive_cq, TERN_WC_FLUSHED, received[0]);
	world_advance(pair.world, 100000000);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK(rdma_none(&pair.a.receive_cq));
	rdma_pair_destroy(&pair);
}

/* The same of a send queue whose memory is gone: one for each block. */
TERN_TEST(flush_of_a_queue_that_cannot_be_read)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 10 };
	struct rdma_pair pair;
	uint64_t sq;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	sq = pair.a.qp.sq & ~UINT64_C(4095);
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
	rdma_post(&pair, &pair.a, &write);
	write.inlined = "0123456789";
	rdma_post(&pair, &pair.a, &write);
	rdma_post(&pair, &pair.a, &write);
	host_set_pages(pair.a.machine, sq, 2 * HOST_PAGE, HOST_PAGE_ABSENT);
	for (uint32_t i = 0; i < pair.a.qp.sq_producer; i++)
		expect(&pair, &pair.a.send_cq, TERN_WC_FLUSHED, i);
	CHECK(rdma_none(&pair.a.send_cq));
	rdma_pair_destroy(&pair);
}

/* An index that goes back to what is in flight: the queue pair fails, the rest is flushed. */
TERN_TEST(producer_that_goes_back)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 10 };
	struct rdma_pair pair;
	struct tern_eqe eqe;
	uint32_t back;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 1000000 });
	rdma_post(&pair, &pair.a, &write);
	rdma_post(&pair, &pair.a, &write);
	back = rdma_post(&pair, &pair.a, &write);
	world_settle(pair.world);
	*(uint32_t *)host_pointer(pair.a.machine, pair.a.qp.sq_record) = htole32(back);
	driver_doorbell(pair.a.driver, pair.a.qp.doorbell_page, TERN_DOORBELL_SEND,
			pair.a.qp.qpn, back);
	world_settle(pair.world);
	CHECK_EQ(state_of(&pair.a), TERN_QP_ERROR);
	CHECK(rdma_event(&pair.a, &eqe));
	CHECK_EQ(eqe.type, TERN_EVENT_QP_FATAL);
	CHECK_EQ(host_counter(pair.a.machine, 0, "index_errors"), 1);
	for (uint32_t i = 0; i <= back; i++)
		expect(&pair, &pair.a.send_cq, TERN_WC_FLUSHED, i);
	CHECK(rdma_none(&pair.a.send_cq));
	rdma_pair_destroy(&pair);
}

static void reconnect(struct rdma_pair *pair, struct rdma_side *side)
{
	struct tern_qp_attributes attributes;

	side->qp.state = state_of(side);
	CHECK_EQ(driver_qp_modify(&side->qp, TERN_QP_RESET, 0, NULL), 0);
	rdma_attributes(side, rdma_peer(pair, side), &pair->options, side == &pair->a,
			&attributes);
	CHECK_EQ(rdma_to_rtr(side, &attributes), 0);
	CHECK_EQ(rdma_to_rts(side, &attributes), 0);
}

/* RESET under traffic forgets everything; connected anew it works as on the first day. */
TERN_TEST(reset_and_connect_again)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 50000 };
	struct rdma_pair pair;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 5000, .timeout = 5 });
	for (unsigned int round = 0; round < 10; round++) {
		for (unsigned int i = 0; i < 20; i++)
			rdma_post(&pair, &pair.a, &write);
		rdma_post_receive(&pair.b, 0, 10);
		world_advance(pair.world, round * 3000);
		reconnect(&pair, &pair.a);
		reconnect(&pair, &pair.b);
		/* Packets of the old connection are in flight no more. */
		world_advance(pair.world, 1000000);
		reconnect(&pair, &pair.a);
		reconnect(&pair, &pair.b);
		while (!rdma_none(&pair.a.send_cq))
			;
		rdma_fill(rdma_memory(&pair.a, 0), 50000, round);
		rdma_post(&pair, &pair.a, &write);
		expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, 0);
		CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 50000);
	}
	rdma_pair_destroy(&pair);
}

/* Also after an error of either side nothing of the old connection is left. */
TERN_TEST(reset_after_an_error)
{
	struct rdma_request good = { .opcode = TERN_WQE_SEND, .length = 3000 };
	const struct rdma_request bad[] = {
		{ .opcode = TERN_WQE_WRITE, .length = 8, .key = 0xabcdef01 },
		{ .opcode = TERN_WQE_WRITE, .length = 8, .remote_key = 0xabcdef01 },
		{ .opcode = TERN_WQE_SEND, .length = 3001 },
		{ .opcode = TERN_WQE_SEND, .length = 8 },
		{ .opcode = 0x3f },
	};
	struct rdma_options options = { .path_mtu = 1, .rnr_retry = 1, .latency_ns = 100 };
	struct tern_cqe cqe;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct rdma_pair pair;

		rdma_pair_create(&pair, &options);
		if (bad[i].length > 3000)
			rdma_post_receive(&pair.b, 65536, 3000);
		rdma_post(&pair, &pair.a, &bad[i]);
		rdma_post(&pair, &pair.a, &good);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK(cqe.status);
		expect(&pair, &pair.a.send_cq, TERN_WC_FLUSHED, 1);
		if (bad[i].length > 3000)
			rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		reconnect(&pair, &pair.a);
		reconnect(&pair, &pair.b);
		for (uint32_t k = 0; k < 3; k++) {
			rdma_fill(rdma_memory(&pair.a, 0), 3000, k);
			rdma_post_receive(&pair.b, 65536, 3000);
			rdma_post(&pair, &pair.a, &good);
			expect(&pair, &pair.a.send_cq, TERN_WC_SUCCESS, k);
			expect(&pair, &pair.b.receive_cq, TERN_WC_SUCCESS, k);
			CHECK_MEM(rdma_memory(&pair.b, 65536), rdma_memory(&pair.a, 0), 3000);
		}
		rdma_pair_destroy(&pair);
	}
}

/* DESTROY_QP with packets, timers and answers pending. */
TERN_TEST(destroy_under_traffic)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 50000 };
	struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 50000 };

	struct rdma_options options = { .latency_ns = 2000, .timeout = 3 };

	for (unsigned int step = 0; step < 30; step++) {
		struct rdma_pair pair;

		rdma_pair_create(&pair, &options);
		for (unsigned int i = 0; i < 5; i++) {
			rdma_post(&pair, &pair.a, &write);
			rdma_post(&pair, &pair.a, &read);
		}
		host_run(pair.a.machine, 16);
		world_advance(pair.world, step * 500);
		CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_QP, pair.b.qp.qpn,
					NULL, 0), 0);
		world_advance(pair.world, step * 100);
		CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_QP, pair.a.qp.qpn,
					NULL, 0), 0);
		world_advance(pair.world, 100000000);
		rdma_pair_destroy(&pair);
	}
}

/* Work requests wrap around the ring's end, and more are posted than are in flight at once. */
TERN_TEST(many_messages)
{
	struct rdma_request request = { .length = 8 };
	struct rdma_pair pair;
	unsigned int posted = 0, done = 0;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .sq_shift = 7, .latency_ns = 3000 });
	while (done < 5000) {
		while (posted < 5000 && posted - done < 64) {
			request.opcode = posted % 7 == 3 ? TERN_WQE_READ : TERN_WQE_WRITE;
			request.inlined = posted % 5 == 1 && posted % 7 != 3 ?
					  "0123456789abcdef0123456789abcdef0123456789" : NULL;
			request.length = request.inlined ? 40 : 8;
			request.flags = posted % 11 ? 0 : TERN_WQE_FENCE;
			rdma_post(&pair, &pair.a, &request);
			posted++;
		}
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		done++;
	}
	CHECK_EQ(rdma_counter(&pair.a, "retransmitted_packets"), 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(corrupted_packets_are_dropped)
{
	struct rdma_pair pair;
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 5000 };
	struct tern_wire_rule rule = { .what = TERN_WIRE_CORRUPT, .opcode = -1, .probability = 1 };
	int number;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .timeout = 8 });
	rdma_fill(rdma_memory(&pair.a, 0), 5000, 5);
	number = tern_nic_add_wire_rule(pair.a.machine->nic, &rule);
	CHECK(number >= 0);
	rdma_post(&pair, &pair.a, &write);
	world_settle(pair.world);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK_EQ(tern_nic_remove_wire_rule(pair.a.machine->nic, number), 0);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 5000);
	CHECK(rdma_counter(&pair.b, "rx_icrc_encapsulated") +
	      rdma_counter(&pair.b, "rx_filtered") > 0);
	rdma_pair_destroy(&pair);
}
