// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: shared receive queues: who gets which entry, completions, limit, errors, resizing. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

#define SHIFT	4
#define SLOT	65536			/* bytes of the buffer for each receive */

/* A second pair of queue pairs on the same machines; its receiver has the same SRQ. */
struct more {
	struct rdma_side a, b;
};

static void connect(struct rdma_side *side, struct rdma_side *peer,
		    const struct rdma_options *options, bool is_a)
{
	struct tern_qp_attributes attributes;

	rdma_attributes(side, peer, options, is_a, &attributes);
	CHECK_EQ(rdma_to_rtr(side, &attributes), 0);
	CHECK_EQ(rdma_to_rts(side, &attributes), 0);
}

static void more_create(struct rdma_pair *pair, struct more *more)
{
	more->a = pair->a;
	more->b = pair->b;
	driver_qp_create(pair->a.driver, &more->a.qp, pair->options.type, 0, RDMA_PD, 0,
			 &pair->a.send_cq, &pair->a.receive_cq, 10, 4, 9);
	driver_qp_create(pair->b.driver, &more->b.qp, pair->options.type, 0, RDMA_PD,
			 TERN_QP_USES_SRQ, &pair->b.send_cq, &pair->b.receive_cq, 10, 0, 0);
	connect(&more->a, &more->b, &pair->options, true);
	connect(&more->b, &more->a, &pair->options, false);
}

static void start(struct rdma_pair *pair, struct rdma_options options)
{
	options.srq_shift = SHIFT;
	options.latency_ns = 1000;
	options.path_mtu = 3;
	rdma_pair_create(pair, &options);
	rdma_fill(rdma_memory(&pair->a, 0), (size_t)1 << 20, 5);
}

static void send(struct rdma_pair *pair, struct rdma_side *side, uint64_t offset, uint32_t length)
{
	struct rdma_request request = {
		.opcode = TERN_WQE_SEND, .address = side->buffer + offset, .length = length,
	};

	rdma_post(pair, side, &request);
}

static void expect_send(struct rdma_pair *pair, const struct rdma_side *side, uint8_t status)
{
	struct tern_cqe cqe;

	rdma_wait(pair, &pair->a.send_cq, &cqe);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.queue), side->qp.qpn);
}

static void expect_receive(struct rdma_pair *pair, const struct rdma_side *side, uint32_t tag,
			   uint8_t status, uint32_t bytes)
{
	struct tern_cqe cqe;

	rdma_wait(pair, &pair->b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.queue), side->qp.qpn);
	CHECK_EQ(le32toh(cqe.srqn), pair->b.srq.srqn);
	CHECK_EQ(le32toh(cqe.index), tag);
	CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE);
	if (!status)
		CHECK_EQ(le32toh(cqe.byte_count), bytes);
}

static void expect_event(struct rdma_side *side, uint8_t type, uint32_t number)
{
	struct tern_eqe eqe;

	CHECK(rdma_event(side, &eqe));
	CHECK_EQ(eqe.type, type);
	CHECK_EQ(le32toh(eqe.number), number);
}

static void no_event(struct rdma_side *side)
{
	struct tern_eqe eqe;

	CHECK(!rdma_event(side, &eqe));
}

static uint8_t state_of(struct rdma_side *side)
{
	struct tern_qp_status status;

	rdma_qp_status(side, &status);
	return status.state;
}

/* Taken in the order of posting; a short message overtakes a long one, and its tag tells. */
static void out_of_order(struct rdma_options options)
{
	struct rdma_pair pair;
	struct more more;
	uint32_t tags[3];

	start(&pair, options);
	more_create(&pair, &more);
	for (unsigned int i = 0; i < 3; i++)
		tags[i] = rdma_post_receive(&pair.b, i * SLOT, SLOT);
	send(&pair, &pair.a, 0, SLOT);
	host_run(pair.a.machine, 1);
	send(&pair, &more.a, SLOT, 100);
	expect_receive(&pair, &more.b, tags[1], TERN_WC_SUCCESS, 100);
	expect_receive(&pair, &pair.b, tags[0], TERN_WC_SUCCESS, SLOT);
	CHECK_MEM(rdma_memory(&pair.b, SLOT), rdma_memory(&pair.a, SLOT), 100);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), SLOT);
	send(&pair, &pair.a, 7, 9);
	expect_receive(&pair, &pair.b, tags[2], TERN_WC_SUCCESS, 9);
	CHECK_MEM(rdma_memory(&pair.b, 2 * SLOT), rdma_memory(&pair.a, 7), 9);
	rdma_pair_destroy(&pair);
}

TERN_TEST(completes_out_of_order)
{
	out_of_order((struct rdma_options){ .no_shortcuts = true, .speed_mbps = 1000 });
	out_of_order((struct rdma_options){ .network = RDMA_V2_IPV6, .speed_mbps = 1000 });
}

/* Many times around a ring of four, with two queue pairs and with loss. */
static bool lossy(struct machine *machine, const struct tern_frame *frame)
{
	(void)frame;
	return machine->frames_sent % 13 != 5;
}

TERN_TEST(many_laps_with_loss)
{
	struct rdma_pair pair;
	struct more more;
	struct tern_cqe cqe;
	uint8_t length[4];
	uint32_t tag;

	start(&pair, (struct rdma_options){ .timeout = 4 });
	CHECK_EQ(driver_srq_resize(&pair.b.srq, 2), 0);
	more_create(&pair, &more);
	pair.a.machine->on_transmit = lossy;
	pair.b.machine->on_transmit = lossy;
	for (unsigned int i = 0; i < 4; i++)
		rdma_post_receive(&pair.b, i * SLOT, SLOT);
	tag = DRIVER_SRQ_TAG;
	for (unsigned int i = 0; i < 2000; i++) {
		struct rdma_side *from = i % 3 ? &pair.a : &more.a;
		struct rdma_side *to = i % 3 ? &pair.b : &more.b;
		uint64_t place = (tag - DRIVER_SRQ_TAG) % 4 * SLOT;

		length[i % 4] = (uint8_t)(i * 7);
		send(&pair, from, i, length[i % 4]);
		expect_receive(&pair, to, tag++, TERN_WC_SUCCESS, length[i % 4]);
		CHECK_MEM(rdma_memory(&pair.b, place), rdma_memory(&pair.a, i), length[i % 4]);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(rdma_post_receive(&pair.b, place, SLOT), tag + 3);
	}
	rdma_pair_destroy(&pair);
}

TERN_TEST(doorbells_without_records)
{
	struct rdma_options options = { .srq_shift = SHIFT, .loopback = true };
	struct rdma_pair pair = { .options = options };
	struct machine *machine;
	uint32_t tag;

	pair.world = world_create();
	machine = machine_create(pair.world, NULL, 0);
	tern_nic_set_carrier(machine->nic, true);
	pair.a.driver = &pair.a.own_driver;
	driver_start(pair.a.driver, machine, 0, UINT64_C(1) << TERN_FEATURE_DOORBELL_RECORDS);
	CHECK_EQ(rdma_set_port(pair.a.driver, 9000, TERN_PORT_UP), 0);
	pair.b.driver = pair.a.driver;
	pair.b.is_b = true;
	rdma_side_start(&pair.a, machine, &options, 0);
	rdma_side_start(&pair.b, machine, &options, 1);
	rdma_side_objects(&pair.a, &options);
	rdma_side_objects(&pair.b, &options);
	connect(&pair.a, &pair.b, &options, true);
	connect(&pair.b, &pair.a, &options, false);
	rdma_fill(rdma_memory(&pair.a, 0), 50, 1);
	tag = rdma_post_receive(&pair.b, 0, SLOT);
	send(&pair, &pair.a, 0, 50);
	expect_receive(&pair, &pair.b, tag, TERN_WC_SUCCESS, 50);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 50);
	/* Another page's doorbell, or another number's, is dropped. */
	CHECK_EQ(host_counter(machine, 0, "doorbells_dropped"), 0);
	driver_doorbell(pair.a.driver, 1, TERN_DOORBELL_SRQ, pair.b.srq.srqn, 2);
	driver_doorbell(pair.a.driver, 0, TERN_DOORBELL_SRQ, pair.b.srq.srqn + 1, 2);
	driver_doorbell(pair.a.driver, 0, TERN_DOORBELL_RECEIVE, pair.b.qp.qpn, 2);
	CHECK_EQ(host_counter(machine, 0, "doorbells_dropped"), 3);
	rdma_pair_destroy(&pair);
}

TERN_TEST(empty_queue_is_not_ready)
{
	struct rdma_pair pair;
	uint32_t tag;

	start(&pair, (struct rdma_options){ 0 });
	send(&pair, &pair.a, 0, 3000);
	world_advance(pair.world, 1000000);
	CHECK(rdma_none(&pair.a.send_cq) && rdma_none(&pair.b.receive_cq));
	CHECK(rdma_counter(&pair.b, "rnr_nak_sent") > 0);
	tag = rdma_post_receive(&pair.b, 0, SLOT);
	expect_receive(&pair, &pair.b, tag, TERN_WC_SUCCESS, 3000);
	expect_send(&pair, &pair.a, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 3000);
	rdma_pair_destroy(&pair);

	start(&pair, (struct rdma_options){ .no_rnr_retry = true });
	send(&pair, &pair.a, 0, 3000);
	expect_send(&pair, &pair.a, TERN_WC_RNR_RETRY_EXCEEDED);
	CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
	rdma_pair_destroy(&pair);
}

TERN_TEST(write_with_immediate)
{
	struct rdma_request request = {
		.opcode = TERN_WQE_WRITE_IMMEDIATE, .length = 5000, .immediate = 0x1234,
	};
	struct rdma_pair pair;
	struct tern_cqe cqe;
	uint32_t tag;

	start(&pair, (struct rdma_options){ 0 });
	tag = rdma_post_receive(&pair.b, SLOT, SLOT);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE_WRITE_IMMEDIATE);
	CHECK_EQ(le32toh(cqe.index), tag);
	CHECK_EQ(le32toh(cqe.srqn), pair.b.srq.srqn);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 5000);
	rdma_pair_destroy(&pair);
}

TERN_TEST(datagrams)
{
	struct rdma_pair pair;
	struct more more;
	uint32_t tags[2];

	start(&pair, (struct rdma_options){ .type = TERN_QP_UD });
	more_create(&pair, &more);
	tags[0] = rdma_post_receive(&pair.b, 0, SLOT);
	tags[1] = rdma_post_receive(&pair.b, SLOT, 139);
	send(&pair, &pair.a, 0, 200);
	expect_receive(&pair, &pair.b, tags[0], TERN_WC_SUCCESS, 240);
	CHECK_MEM(rdma_memory(&pair.b, TERN_GRH_BYTES), rdma_memory(&pair.a, 0), 200);
	/* One that does not fit is dropped and takes no entry; nor does one without. */
	send(&pair, &pair.a, 0, 100);
	world_advance(pair.world, 1000000);
	CHECK(rdma_none(&pair.b.receive_cq));
	send(&pair, &pair.a, 0, 99);
	expect_receive(&pair, &pair.b, tags[1], TERN_WC_SUCCESS, 139);
	send(&pair, &pair.a, 0, 99);
	world_advance(pair.world, 1000000);
	CHECK(rdma_none(&pair.b.receive_cq));
	CHECK_EQ(rdma_counter(&pair.b, "rx_ud_dropped"), 2);
	CHECK_EQ(state_of(&pair.b), TERN_QP_RTS);
	rdma_pair_destroy(&pair);
}

TERN_TEST(limit)
{
	struct tern_srq_status status;
	struct rdma_pair pair;
	uint32_t srqn;

	start(&pair, (struct rdma_options){ 0 });
	srqn = pair.b.srq.srqn;
	for (unsigned int i = 0; i < 6; i++)
		rdma_post_receive(&pair.b, i * SLOT, SLOT);
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 4), 0);
	driver_srq_status(&pair.b.srq, &status);
	CHECK_EQ(le32toh(status.limit), 4);
	for (unsigned int i = 0; i < 3; i++) {
		no_event(&pair.b);
		send(&pair, &pair.a, 0, 10);
		expect_send(&pair, &pair.a, TERN_WC_SUCCESS);
	}
	/* Three are left: told once. */
	expect_event(&pair.b, TERN_EVENT_SRQ_LIMIT, srqn);
	driver_srq_status(&pair.b.srq, &status);
	CHECK_EQ(le32toh(status.limit), 0);
	CHECK_EQ(le32toh(status.taken), 3);
	CHECK_EQ(le32toh(status.completed), 3);
	send(&pair, &pair.a, 0, 10);
	expect_send(&pair, &pair.a, TERN_WC_SUCCESS);
	no_event(&pair.b);
	/* Armed below the limit: at once. What is posted and was not looked at counts. */
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 3), 0);
	expect_event(&pair.b, TERN_EVENT_SRQ_LIMIT, srqn);
	rdma_post_receive(&pair.b, 0, SLOT);
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 3), 0);
	rdma_post_receive(&pair.b, 0, SLOT);
	send(&pair, &pair.a, 0, 10);
	expect_send(&pair, &pair.a, TERN_WC_SUCCESS);
	no_event(&pair.b);
	/* Taken back. */
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 0), 0);
	send(&pair, &pair.a, 0, 10);
	expect_send(&pair, &pair.a, TERN_WC_SUCCESS);
	no_event(&pair.b);
	CHECK_EQ(driver_srq_limit(&pair.b.srq, (1 << SHIFT) + 1),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	rdma_pair_destroy(&pair);
}

static unsigned int to_pass;

static bool pass_some(struct machine *machine, const struct tern_frame *frame)
{
	(void)machine;
	(void)frame;
	return to_pass && to_pass--;
}

/* b's queue pair has taken an entry of which not all has arrived. */
static void hold(struct rdma_pair *pair)
{
	to_pass = 2;
	pair->a.machine->on_transmit = pass_some;
	send(pair, &pair->a, 0, 10000);
	world_advance(pair->world, 100000);
	CHECK(rdma_none(&pair->b.receive_cq));
	pair->a.machine->on_transmit = NULL;
}

/* In ERROR what it holds is flushed, LAST_WQE comes, and what is posted is the others'. */
TERN_TEST(last_entry)
{
	struct rdma_pair pair;
	struct more more;
	uint32_t tags[2];

	start(&pair, (struct rdma_options){ .timeout = 17 });
	more_create(&pair, &more);
	tags[0] = rdma_post_receive(&pair.b, 0, SLOT);
	tags[1] = rdma_post_receive(&pair.b, SLOT, SLOT);
	hold(&pair);
	CHECK_EQ(driver_qp_modify(&pair.b.qp, TERN_QP_ERROR, 0, NULL), 0);
	expect_receive(&pair, &pair.b, tags[0], TERN_WC_FLUSHED, 0);
	CHECK(rdma_none(&pair.b.receive_cq));
	expect_event(&pair.b, TERN_EVENT_QP_LAST_WQE, pair.b.qp.qpn);
	no_event(&pair.b);
	send(&pair, &more.a, 0, 77);
	expect_receive(&pair, &more.b, tags[1], TERN_WC_SUCCESS, 77);
	CHECK_MEM(rdma_memory(&pair.b, SLOT), rdma_memory(&pair.a, 0), 77);
	/* Without one in hand: the event alone; also from RESET. */
	CHECK_EQ(driver_qp_modify(&more.b.qp, TERN_QP_ERROR, 0, NULL), 0);
	expect_event(&pair.b, TERN_EVENT_QP_LAST_WQE, more.b.qp.qpn);
	CHECK_EQ(driver_qp_modify(&more.b.qp, TERN_QP_RESET, 0, NULL), 0);
	no_event(&pair.b);
	CHECK_EQ(driver_qp_modify(&more.b.qp, TERN_QP_ERROR, 0, NULL), 0);
	expect_event(&pair.b, TERN_EVENT_QP_LAST_WQE, more.b.qp.qpn);
	CHECK(rdma_none(&pair.b.receive_cq));
	rdma_pair_destroy(&pair);
}

/* RESET and DESTROY_QP give back what the queue pair holds, before they complete. */
TERN_TEST(reset_and_destroy_give_back)
{
	struct tern_srq_status status;
	struct rdma_pair pair;
	struct tern_cqe cqe;
	uint32_t tag;

	for (unsigned int destroy = 0; destroy < 2; destroy++) {
		start(&pair, (struct rdma_options){ .timeout = 17 });
		tag = rdma_post_receive(&pair.b, 0, SLOT);
		hold(&pair);
		driver_srq_status(&pair.b.srq, &status);
		CHECK_EQ(le32toh(status.taken), 1);
		CHECK_EQ(le32toh(status.completed), 0);
		CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_SRQ, pair.b.srq.srqn,
					NULL, 0), TERN_COMMAND_STATUS_IN_USE);
		if (destroy)
			CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_QP,
						pair.b.qp.qpn, NULL, 0), 0);
		else
			CHECK_EQ(driver_qp_modify(&pair.b.qp, TERN_QP_RESET, 0, NULL), 0);
		CHECK(driver_cq_poll(&pair.b.receive_cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
		CHECK_EQ(le32toh(cqe.index), tag);
		CHECK_EQ(le32toh(cqe.srqn), pair.b.srq.srqn);
		CHECK(rdma_none(&pair.b.receive_cq));
		no_event(&pair.b);
		driver_srq_status(&pair.b.srq, &status);
		CHECK_EQ(le32toh(status.completed), 1);
		rdma_pair_destroy(&pair);
	}
}

/* What is wrong with an entry is its queue pair's error; the SRQ goes on. */
static void bad_entry(const struct tern_sge *sges, unsigned int count, uint8_t sge_count,
		      uint8_t status, uint8_t remote_status)
{
	struct rdma_pair pair;
	struct more more;
	uint8_t before[200];
	uint32_t tags[2];
	uint8_t *entry;

	start(&pair, (struct rdma_options){ 0 });
	more_create(&pair, &more);
	if (sges)
		tags[0] = driver_srq_post(&pair.b.srq, sges, count);
	else
		tags[0] = rdma_post_receive(&pair.b, 0, 199);
	entry = driver_srq_entry(&pair.b.srq, 0);
	if (sge_count)
		entry[0] = sge_count;
	memcpy(before, rdma_memory(&pair.b, 0), sizeof(before));
	tags[1] = rdma_post_receive(&pair.b, SLOT, SLOT);
	send(&pair, &pair.a, 0, 200);
	expect_receive(&pair, &pair.b, tags[0], status, 0);
	expect_send(&pair, &pair.a, remote_status);
	CHECK_MEM(rdma_memory(&pair.b, 0), before, sizeof(before));
	CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
	expect_event(&pair.b, TERN_EVENT_QP_LAST_WQE, pair.b.qp.qpn);
	no_event(&pair.b);
	send(&pair, &more.a, 0, 77);
	expect_receive(&pair, &more.b, tags[1], TERN_WC_SUCCESS, 77);
	rdma_pair_destroy(&pair);
}

TERN_TEST(bad_entries)
{
	struct tern_sge sge = { .length = htole32(500), .key = htole32(0x123456) };

	bad_entry(NULL, 0, 0, TERN_WC_LOCAL_LENGTH, TERN_WC_REMOTE_INVALID_REQUEST);
	bad_entry(&sge, 1, 0, TERN_WC_LOCAL_PROTECTION, TERN_WC_REMOTE_OPERATION);
	/* Seven fit into 128 bytes. */
	bad_entry(NULL, 0, 8, TERN_WC_LOCAL_QP_OPERATION, TERN_WC_REMOTE_OPERATION);
	/* The local DMA key is not for everybody. */
	sge.key = htole32(TERN_KEY_LOCAL_DMA);
	sge.address = htole64(HOST_MEMORY_BASE);
	bad_entry(&sge, 1, 0, TERN_WC_LOCAL_PROTECTION, TERN_WC_REMOTE_OPERATION);
}

/* The SGEs of its entries belong to its PD, whatever the queue pair's is. */
TERN_TEST(protection_domain_of_the_queue)
{
	struct rdma_pair pair;
	struct more more;
	struct driver_srq srq;
	struct tern_sge sge;
	uint32_t tag, key;

	start(&pair, (struct rdma_options){ 0 });
	driver_srq_create(pair.b.driver, &srq, RDMA_PD + 1, SHIFT);
	more_create(&pair, &more);
	pair.b.srq = srq;
	key = driver_key_create(pair.b.driver, pair.b.buffer, 1000, RDMA_ALL_ACCESS, RDMA_PD + 1);
	sge = (struct tern_sge){ .address = htole64(pair.b.buffer), .length = htole32(1000),
				 .key = htole32(key) };
	tag = driver_srq_post(&srq, &sge, 1);
	sge.key = htole32(pair.b.key);
	driver_srq_post(&srq, &sge, 1);
	send(&pair, &more.a, 0, 1000);
	expect_receive(&pair, &more.b, tag, TERN_WC_SUCCESS, 1000);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 1000);
	send(&pair, &more.a, 0, 100);
	expect_receive(&pair, &more.b, tag + 1, TERN_WC_LOCAL_PROTECTION, 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(privileged_queue)
{
	struct rdma_pair pair;
	struct more more;
	struct driver_srq srq;
	struct tern_command_create_srq body;
	struct tern_sge sge;
	uint32_t tag;

	start(&pair, (struct rdma_options){ 0 });
	body = driver_srq_body(pair.b.driver, &srq, RDMA_PD, SHIFT);
	body.flags = htole32(TERN_SRQ_PRIVILEGED);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_CREATE_SRQ, srq.srqn, &body,
				sizeof(body)), 0);
	pair.b.driver->srqn = srq.srqn;
	more_create(&pair, &more);
	pair.b.srq = srq;
	sge = (struct tern_sge){ .address = htole64(pair.b.buffer), .length = htole32(1000),
				 .key = htole32(TERN_KEY_LOCAL_DMA) };
	tag = driver_srq_post(&srq, &sge, 1);
	send(&pair, &more.a, 0, 1000);
	expect_receive(&pair, &more.b, tag, TERN_WC_SUCCESS, 1000);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 1000);
	rdma_pair_destroy(&pair);
}

/* An index outside the ring, and memory that is gone, are the SRQ's error. */
static void queue_fails(bool memory)
{
	struct tern_srq_status status;
	struct rdma_pair pair;
	struct more more;

	start(&pair, (struct rdma_options){ 0 });
	more_create(&pair, &more);
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 0), 0);
	if (memory) {
		rdma_post_receive(&pair.b, 0, SLOT);
		host_set_pages(pair.b.machine, pair.b.srq.ring, 4096, HOST_PAGE_ABSENT);
	} else {
		pair.b.srq.producer = (1 << SHIFT) + 1;
		driver_srq_publish(&pair.b.srq);
	}
	send(&pair, &pair.a, 0, 100);
	world_advance(pair.world, 1000000);
	expect_event(&pair.b, TERN_EVENT_SRQ_ERROR, pair.b.srq.srqn);
	expect_event(&pair.b, TERN_EVENT_QP_FATAL, pair.b.qp.qpn);
	expect_event(&pair.b, TERN_EVENT_QP_LAST_WQE, pair.b.qp.qpn);
	no_event(&pair.b);
	CHECK_EQ(state_of(&pair.b), TERN_QP_ERROR);
	CHECK_EQ(state_of(&more.b), TERN_QP_RTS);
	/* The others when they need it; the SRQ tells once. */
	send(&pair, &more.a, 0, 100);
	world_advance(pair.world, 1000000);
	expect_event(&pair.b, TERN_EVENT_QP_FATAL, more.b.qp.qpn);
	expect_event(&pair.b, TERN_EVENT_QP_LAST_WQE, more.b.qp.qpn);
	no_event(&pair.b);
	driver_srq_status(&pair.b.srq, &status);
	CHECK_EQ(status.failed, 1);
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 1), TERN_COMMAND_STATUS_BAD_STATE);
	rdma_pair_destroy(&pair);
}

TERN_TEST(failed_queue)
{
	queue_fails(false);
	queue_fails(true);
}

TERN_TEST(resize)
{
	struct rdma_pair pair;
	struct more more;
	uint32_t first = DRIVER_SRQ_TAG;

	start(&pair, (struct rdma_options){ .timeout = 17 });
	more_create(&pair, &more);
	/* Eleven laps' worth posted and used, so that indices are far from places. */
	for (unsigned int i = 0; i < 11; i++) {
		rdma_post_receive(&pair.b, 0, SLOT);
		send(&pair, &more.a, i, 10);
		expect_receive(&pair, &more.b, first++, TERN_WC_SUCCESS, 10);
	}
	for (unsigned int i = 0; i < 12; i++)
		rdma_post_receive(&pair.b, i * SLOT, SLOT);
	/* One is held over it all. */
	hold(&pair);
	CHECK_EQ(driver_srq_resize(&pair.b.srq, 3), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver_srq_resize(&pair.b.srq, 6), 0);
	for (unsigned int i = 12; i < 16; i++)
		rdma_post_receive(&pair.b, i * SLOT / 2, SLOT);
	for (unsigned int i = 1; i < 10; i++) {
		send(&pair, &more.a, i, 1000);
		expect_receive(&pair, &more.b, first + i, TERN_WC_SUCCESS, 1000);
		CHECK_MEM(rdma_memory(&pair.b, i * SLOT), rdma_memory(&pair.a, i), 1000);
	}
	/* Seven are outstanding. */
	CHECK_EQ(driver_srq_resize(&pair.b.srq, 2), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver_srq_resize(&pair.b.srq, 3), 0);
	for (unsigned int i = 10; i < 16; i++) {
		send(&pair, &more.a, i, 1000);
		expect_receive(&pair, &more.b, first + i, TERN_WC_SUCCESS, 1000);
	}
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 9), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver_srq_limit(&pair.b.srq, 8), 0);
	CHECK_EQ(driver_qp_modify(&pair.b.qp, TERN_QP_ERROR, 0, NULL), 0);
	expect_receive(&pair, &pair.b, first, TERN_WC_FLUSHED, 0);
	rdma_pair_destroy(&pair);
}

static void refused(struct driver *driver, uint16_t opcode, uint32_t number, const void *body,
		    size_t length, uint16_t status, size_t syndrome)
{
	CHECK_EQ(driver_command(driver, opcode, number, body, length), status);
	CHECK_EQ(driver->syndrome, syndrome);
}

#define BODY(type, member)	(offsetof(struct tern_command, body) + \
				 offsetof(struct tern_command_##type##_srq, member))
#define NUMBER			offsetof(struct tern_command, number)

static void create_refused(struct driver *driver, const struct tern_command_create_srq *body,
			   uint16_t status, size_t syndrome)
{
	refused(driver, TERN_COMMAND_CREATE_SRQ, 9, body, sizeof(*body), status, syndrome);
}

TERN_TEST(create_refuses)
{
	struct tern_command_create_srq good, bad;
	struct driver_srq srq;
	struct rdma_pair pair;
	struct driver *driver;

	start(&pair, (struct rdma_options){ 0 });
	driver = pair.b.driver;
	good = driver_srq_body(driver, &srq, RDMA_PD, SHIFT);
#define CREATE(member, value, status, field)					\
	do {									\
		bad = good;							\
		bad.member = (value);						\
		create_refused(driver, &bad, TERN_COMMAND_STATUS_##status,	\
			       BODY(create, field));				\
	} while (0)
	CREATE(shift, 16, BAD_PARAMETER, shift);
	CREATE(stride_shift, 5, BAD_PARAMETER, stride_shift);
	CREATE(stride_shift, 10, BAD_PARAMETER, stride_shift);
	CREATE(reserved0, 1, BAD_PARAMETER, reserved0);
	CREATE(flags, htole32(0x8000), BAD_PARAMETER, flags);
	CREATE(pd, htole32(32768), BAD_PARAMETER, pd);
	CREATE(doorbell_page, htole32(0xffffff), BAD_PARAMETER, doorbell_page);
	CREATE(cqn, htole32(1), BAD_PARAMETER, cqn);
	CREATE(xrcd, htole32(1), NOT_FOUND, cqn);
	CREATE(xrcd, htole32(32768), BAD_PARAMETER, xrcd);
	CREATE(pages.length, htole64(5), BAD_PARAMETER, pages.length);
	CREATE(record, good.record + htole64(64), BAD_PARAMETER, record);
	CREATE(record, htole64(UINT64_C(1) << 60), BAD_ADDRESS, record);
	CREATE(reserved1, 1, BAD_PARAMETER, reserved1);
	refused(driver, TERN_COMMAND_CREATE_SRQ, 0, &good, sizeof(good),
		TERN_COMMAND_STATUS_BAD_NUMBER, NUMBER);
	refused(driver, TERN_COMMAND_CREATE_SRQ, 8192, &good, sizeof(good),
		TERN_COMMAND_STATUS_BAD_NUMBER, NUMBER);
	refused(driver, TERN_COMMAND_CREATE_SRQ, pair.b.srq.srqn, &good, sizeof(good),
		TERN_COMMAND_STATUS_EXISTS, NUMBER);
	rdma_pair_destroy(&pair);
}

TERN_TEST(modify_query_destroy_refuse)
{
	struct tern_command_modify_srq good = { .mask = htole32(TERN_SRQ_SET_SIZE), .shift = 4 };
	struct tern_command_modify_srq bad;
	struct rdma_pair pair;
	struct driver *driver;
	uint32_t srqn;

	start(&pair, (struct rdma_options){ 0 });
	driver = pair.b.driver;
	srqn = pair.b.srq.srqn;
	good.pages = driver_pages(pair.b.srq.ring, UINT64_C(1) << (4 + DRIVER_SRQ_STRIDE_SHIFT));
#define MODIFY(member, value, field)						\
	do {									\
		bad = good;							\
		bad.member = (value);						\
		refused(driver, TERN_COMMAND_MODIFY_SRQ, srqn, &bad, sizeof(bad), \
			TERN_COMMAND_STATUS_BAD_PARAMETER, BODY(modify, field)); \
	} while (0)
	MODIFY(mask, htole32(4), mask);
	MODIFY(shift, 16, shift);
	MODIFY(shift, 5, pages.length);
	MODIFY(reserved0[6], 1, reserved0);
	MODIFY(reserved1, 1, reserved1);
	MODIFY(pages.root, good.pages.root + htole64(8), pages.root);
	CHECK_EQ(driver_command(driver, TERN_COMMAND_MODIFY_SRQ, srqn, &good, sizeof(good)), 0);
	for (uint16_t opcode = TERN_COMMAND_MODIFY_SRQ; opcode <= TERN_COMMAND_DESTROY_SRQ;
	     opcode++) {
		refused(driver, opcode, 0, NULL, 0, TERN_COMMAND_STATUS_BAD_NUMBER, NUMBER);
		refused(driver, opcode, 8192, NULL, 0, TERN_COMMAND_STATUS_BAD_NUMBER, NUMBER);
		refused(driver, opcode, 77, NULL, 0, TERN_COMMAND_STATUS_NOT_FOUND, NUMBER);
	}
	rdma_pair_destroy(&pair);
}

static void qp_refused(struct rdma_side *side, uint8_t type, uint32_t flags, uint32_t srqn,
		       uint16_t status, size_t syndrome)
{
	struct tern_command_create_qp body = {
		.type = type, .flags = htole32(flags | TERN_QP_NO_SQ), .srqn = htole32(srqn),
		.receive_cqn = htole32(side->receive_cq.cqn), .pd = htole32(RDMA_PD),
	};

	refused(side->driver, TERN_COMMAND_CREATE_QP, type == TERN_QP_GSI ? 1 : 99, &body,
		sizeof(body), status, offsetof(struct tern_command, body) + syndrome);
}

TERN_TEST(queue_pairs_refuse)
{
	const size_t flags = offsetof(struct tern_command_create_qp, flags);
	const size_t number = offsetof(struct tern_command_create_qp, srqn);
	struct rdma_pair pair;
	uint32_t srqn;

	start(&pair, (struct rdma_options){ 0 });
	srqn = pair.b.srq.srqn;
	qp_refused(&pair.b, TERN_QP_RC, TERN_QP_USES_SRQ, 0, TERN_COMMAND_STATUS_NOT_FOUND,
		   number);
	qp_refused(&pair.b, TERN_QP_RC, TERN_QP_USES_SRQ, srqn + 1,
		   TERN_COMMAND_STATUS_NOT_FOUND, number);
	qp_refused(&pair.b, TERN_QP_RC, TERN_QP_NO_RQ, srqn, TERN_COMMAND_STATUS_BAD_PARAMETER,
		   number);
	qp_refused(&pair.b, TERN_QP_RC, TERN_QP_USES_SRQ | TERN_QP_NO_RQ, srqn,
		   TERN_COMMAND_STATUS_BAD_PARAMETER, flags);
	qp_refused(&pair.b, TERN_QP_ETHERNET, TERN_QP_USES_SRQ, srqn,
		   TERN_COMMAND_STATUS_BAD_PARAMETER, flags);
	qp_refused(&pair.b, TERN_QP_GSI, TERN_QP_USES_SRQ, srqn,
		   TERN_COMMAND_STATUS_BAD_PARAMETER, flags);
	rdma_pair_destroy(&pair);
}

/* Thousands: made, used, destroyed; none of them is left after a reset. */
TERN_TEST(thousands)
{
	struct rdma_pair pair;
	struct driver_srq srq, first;
	struct more more;
	uint32_t tag;

	start(&pair, (struct rdma_options){ 0 });
	driver_srq_create(pair.b.driver, &first, RDMA_PD, SHIFT);
	for (unsigned int i = 2; i < 4096; i++)
		driver_srq_create(pair.b.driver, &srq, RDMA_PD, 0);
	more_create(&pair, &more);
	pair.b.srq = srq;
	tag = rdma_post_receive(&pair.b, 0, SLOT);
	send(&pair, &more.a, 0, 77);
	expect_receive(&pair, &more.b, tag, TERN_WC_SUCCESS, 77);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_SRQ, first.srqn, NULL, 0), 0);
	host_reset(pair.b.machine, 0);
	driver_start(pair.b.driver, pair.b.machine, 0, UINT64_C(1) << TERN_FEATURE_SRQ);
	refused(pair.b.driver, TERN_COMMAND_DESTROY_SRQ, srq.srqn, NULL, 0,
		TERN_COMMAND_STATUS_BAD_OPCODE, 0);
	host_reset(pair.b.machine, 0);
	driver_start(pair.b.driver, pair.b.machine, 0, 0);
	refused(pair.b.driver, TERN_COMMAND_DESTROY_SRQ, srq.srqn, NULL, 0,
		TERN_COMMAND_STATUS_NOT_FOUND, NUMBER);
	rdma_pair_destroy(&pair);
}
