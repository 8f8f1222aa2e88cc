// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: regions on demand: faults of each kind of access, their end, invalidation. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_hw_page_fault.h"
#include "tern_test.h"

#define PAGES	8
#define START	100			/* of the data in the region: not at a page */
#define BYTES	8192			/* so three pages */

static struct rdma_pair pair;

/* A region of the first pages of a side's buffer, at the same address, all absent. */
struct demand {
	struct rdma_side *side;
	uint64_t *entries;
	uint32_t key, index;
};

/* What accesses it, as which end. */
struct kind {
	uint8_t opcode;
	bool responder;			/* b's region, else a's */
	bool write;
	bool receives;			/* b has to have a receive */
	uint32_t length;
};

static const struct kind kinds[] = {
	{ TERN_WQE_SEND, false, false, true, BYTES },
	{ TERN_WQE_SEND, true, true, true, BYTES },
	{ TERN_WQE_WRITE, false, false, false, BYTES },
	{ TERN_WQE_WRITE, true, true, false, BYTES },
	{ TERN_WQE_READ, false, true, false, BYTES },
	{ TERN_WQE_READ, true, false, false, BYTES },
	{ TERN_WQE_FETCH_ADD, false, true, false, 8 },
	{ TERN_WQE_FETCH_ADD, true, true, false, 8 },
};

#define KINDS	(sizeof(kinds) / sizeof(*kinds))

static struct demand demand_create(struct rdma_side *side)
{
	uint64_t table = host_alloc(side->machine, 4096, 4096);
	struct demand demand = {
		.side = side, .entries = host_pointer(side->machine, table),
		.index = side->driver->next_key++,
	};
	struct tern_command_create_key body = {
		.pages = { .root = htole64(table), .length = htole64(PAGES * HOST_PAGE),
			   .levels = 1, .page_shift = 12 },
		.address = htole64(side->buffer), .pd = htole32(RDMA_PD),
		.access = htole32(RDMA_ALL_ACCESS | TERN_ACCESS_ON_DEMAND), .consumer = 3,
	};

	CHECK_EQ(side->buffer % HOST_PAGE, 0);
	CHECK_EQ(driver_command(side->driver, TERN_COMMAND_CREATE_KEY, demand.index, &body,
				sizeof(body)), 0);
	demand.key = demand.index << TERN_KEY_INDEX_SHIFT | 3;
	side->key = demand.key;
	return demand;
}

static void page_in(struct demand *demand, unsigned int page, uint64_t flags)
{
	demand->entries[page] = htole64((demand->side->buffer + page * HOST_PAGE) |
					TERN_PAGE_PRESENT | flags);
}

static uint16_t resume(struct rdma_side *side, uint32_t fault, uint8_t status)
{
	struct tern_command_key_resume body = { .fault = htole32(fault), .status = status };

	return driver_command(side->driver, TERN_COMMAND_KEY_RESUME, side->qp.qpn, &body,
			      sizeof(body));
}

static uint16_t invalidate(struct demand *demand, uint64_t address, uint64_t length)
{
	struct tern_command_key_invalidate_pages body = {
		.address = htole64(address), .length = htole64(length),
	};

	return driver_command(demand->side->driver, TERN_COMMAND_KEY_INVALIDATE_PAGES,
			      demand->index, &body, sizeof(body));
}

/* The one fault that there is, at @offset of the region; returns its number. */
static uint32_t fault_at(struct demand *demand, uint64_t offset, bool responder, bool write)
{
	uint8_t subtype = (uint8_t)((responder ? TERN_PAGE_FAULT_RESPONDER : 0) |
				    (write ? TERN_PAGE_FAULT_WRITE : 0));
	struct tern_eqe eqe, other;
	bool found = false;

	/* A peer that was told to wait comes after 41 ms at the latest. */
	for (unsigned int ms = 0; ms < 50 && !found; ms++) {
		world_advance(pair.world, 1000000);
		found = rdma_event(demand->side, &eqe);
	}
	CHECK(found);
	CHECK(!rdma_event(demand->side, &other));
	CHECK_EQ(eqe.type, TERN_EVENT_PAGE_FAULT);
	CHECK_EQ(le32toh(eqe.number), demand->side->qp.qpn);
	CHECK_EQ(eqe.subtype, subtype);
	CHECK_EQ(le64toh(eqe.data[0]), demand->side->buffer + offset);
	CHECK_EQ(le64toh(eqe.data[1]) >> TERN_PAGE_FAULT_KEY_SHIFT, demand->index);
	CHECK(le64toh(eqe.data[1]) & TERN_PAGE_FAULT_LENGTH);
	CHECK(eqe.fault);
	return le32toh(eqe.fault);
}

static void begin(const struct kind *kind)
{
	uint32_t start = kind->length == 8 ? 104 : START;
	struct rdma_request request = {
		.opcode = kind->opcode, .length = kind->length,
		.address = pair.a.buffer + start, .remote_address = pair.b.buffer + start,
		.swap_add = 5,
	};

	rdma_fill(rdma_memory(&pair.a, start), kind->length, 3);
	rdma_fill(rdma_memory(&pair.b, start), kind->length, 4);
	if (kind->receives)
		rdma_post_receive(&pair.b, start, kind->length);
	rdma_post(&pair, &pair.a, &request);
}

/* With a new pair, of which one side has none of the pages that it needs. */
static struct demand begin_absent(const struct rdma_options *options, const struct kind *kind)
{
	struct demand demand;

	rdma_pair_create(&pair, options);
	demand = demand_create(kind->responder ? &pair.b : &pair.a);
	begin(kind);
	return demand;
}

static void finish(const struct kind *kind)
{
	uint32_t start = kind->length == 8 ? 104 : START;
	struct tern_cqe cqe;

	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	if (kind->receives) {
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	}
	if (kind->length != 8)
		CHECK_MEM(rdma_memory(&pair.b, start), rdma_memory(&pair.a, start), kind->length);
}

/* Page after page, each of them first missing. */
static void page_after_page(const struct rdma_options *options, const struct kind *kind)
{
	unsigned int pages = kind->length == 8 ? 1 : 3;
	struct demand demand;
	uint64_t before = 0;
	uint8_t sum[8];

	demand = begin_absent(options, kind);
	memcpy(&before, rdma_memory(&pair.b, 104), 8);
	for (unsigned int page = 0; page < pages; page++) {
		uint64_t offset = page ? page * HOST_PAGE : kind->length == 8 ? 104 : START;
		uint32_t fault = fault_at(&demand, offset, kind->responder, kind->write);

		CHECK(rdma_none(&pair.a.send_cq));
		page_in(&demand, page, kind->write ? TERN_PAGE_WRITE : 0);
		CHECK_EQ(resume(demand.side, fault, TERN_RESUME_RETRY), 0);
		CHECK_EQ(demand.side->driver->result[0], 1);
		/* It is over. */
		CHECK_EQ(resume(demand.side, fault, TERN_RESUME_RETRY), 0);
		CHECK_EQ(demand.side->driver->result[0], 0);
	}
	finish(kind);
	if (kind->opcode == TERN_WQE_FETCH_ADD) {
		/* Once, though it was asked for more than once. */
		before += 5;
		memcpy(sum, &before, 8);
		CHECK_MEM(rdma_memory(&pair.b, 104), sum, 8);
	}
	CHECK_EQ(rdma_counter(demand.side, "page_faults"), pages);
	rdma_pair_destroy(&pair);
}

TERN_TEST(each_access_faults_and_resumes)
{
	static const struct rdma_options ways[] = {
		{ .path_mtu = 5 },
		{ .path_mtu = 1, .no_shortcuts = true, .latency_ns = 1000 },
		{ .path_mtu = 3, .srq_shift = 4 },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (size_t k = 0; k < KINDS; k++)
			page_after_page(&ways[i], &kinds[k]);
}

TERN_TEST(page_that_may_only_be_read)
{
	const struct kind *kind = &kinds[3];
	struct demand demand;
	uint32_t fault;

	rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 5 });
	demand = demand_create(&pair.b);
	for (unsigned int page = 0; page < PAGES; page++)
		page_in(&demand, page, 0);
	begin(kind);
	fault = fault_at(&demand, START, true, true);
	for (unsigned int page = 0; page < PAGES; page++)
		page_in(&demand, page, TERN_PAGE_WRITE);
	CHECK_EQ(resume(&pair.b, fault, TERN_RESUME_RETRY), 0);
	finish(kind);
	rdma_pair_destroy(&pair);
}

/*
 * Who takes pages away as often as the peer comes must not stop it for ever: it is
 * told to come soon after a page has come, however long it had to wait for that.
 */
TERN_TEST(page_that_goes_again)
{
	for (size_t k = 0; k < KINDS; k++) {
		const struct kind *kind = &kinds[k];
		uint64_t offset = kind->length == 8 ? 104 : START;
		struct demand demand;
		struct tern_cqe cqe;
		uint32_t fault;

		demand = begin_absent(&(struct rdma_options){ .path_mtu = 5 }, kind);
		for (unsigned int i = 0; i < 3; i++) {
			fault = fault_at(&demand, offset, kind->responder, kind->write);
			world_advance(pair.world, 200000000);
			CHECK_EQ(resume(demand.side, fault, TERN_RESUME_RETRY), 0);
		}
		fault = fault_at(&demand, offset, kind->responder, kind->write);
		for (unsigned int page = 0; page < PAGES; page++)
			page_in(&demand, page, kind->write ? TERN_PAGE_WRITE : 0);
		CHECK_EQ(resume(demand.side, fault, TERN_RESUME_RETRY), 0);
		/* By now the peer, if it is one, was told once more, to wait 0.64 ms. */
		world_advance(pair.world, 1000000);
		CHECK(driver_cq_poll(&pair.a.send_cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(page_that_does_not_come)
{
	for (size_t k = 0; k < KINDS; k++) {
		const struct kind *kind = &kinds[k];
		uint64_t offset = kind->length == 8 ? 104 : START;
		struct demand demand;
		struct tern_cqe cqe;
		uint32_t fault;

		demand = begin_absent(&(struct rdma_options){ .path_mtu = 5 }, kind);
		fault = fault_at(&demand, offset, kind->responder, kind->write);
		CHECK_EQ(resume(demand.side, fault, TERN_RESUME_FAIL), 0);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		if (!kind->responder)
			CHECK_EQ(cqe.status, TERN_WC_LOCAL_PROTECTION);
		else if (kind->receives)
			CHECK_EQ(cqe.status, TERN_WC_REMOTE_OPERATION);
		else
			CHECK_EQ(cqe.status, TERN_WC_REMOTE_ACCESS);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(host_finds_it_after_all)
{
	const struct kind *kind = &kinds[2];
	struct demand demand;
	uint32_t fault;

	rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 5 });
	demand = demand_create(&pair.a);
	begin(kind);
	fault = fault_at(&demand, START, false, false);
	for (unsigned int page = 0; page < PAGES; page++)
		page_in(&demand, page, 0);
	CHECK_EQ(resume(&pair.a, fault, TERN_RESUME_FAIL), 0);
	finish(kind);
	rdma_pair_destroy(&pair);
}

/* The page is given to another: what comes goes to the new one only. */
TERN_TEST(invalidated)
{
	const struct kind *kind = &kinds[3];
	static uint8_t old[BYTES];
	struct demand demand;
	struct tern_cqe cqe;
	uint64_t other;
	uint32_t fault;

	rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 4 });
	demand = demand_create(&pair.b);
	for (unsigned int page = 0; page < PAGES; page++)
		page_in(&demand, page, TERN_PAGE_WRITE);
	begin(kind);
	finish(kind);
	demand.entries[1] = 0;
	CHECK_EQ(invalidate(&demand, pair.b.buffer + HOST_PAGE, HOST_PAGE), 0);
	memset(rdma_memory(&pair.b, HOST_PAGE), 0x5a, HOST_PAGE);
	memcpy(old, rdma_memory(&pair.b, HOST_PAGE), HOST_PAGE);

	rdma_post(&pair, &pair.a, &(struct rdma_request){
		.opcode = TERN_WQE_WRITE, .length = BYTES, .address = pair.a.buffer + START,
		.remote_address = pair.b.buffer + START,
	});
	fault = fault_at(&demand, HOST_PAGE, true, true);
	other = host_alloc(pair.b.machine, HOST_PAGE, HOST_PAGE);
	demand.entries[1] = htole64(other | TERN_PAGE_PRESENT | TERN_PAGE_WRITE);
	CHECK_EQ(resume(&pair.b, fault, TERN_RESUME_RETRY), 0);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.b, HOST_PAGE), old, HOST_PAGE);
	CHECK_MEM((uint8_t *)host_pointer(pair.b.machine, other), rdma_memory(&pair.a, HOST_PAGE),
		  HOST_PAGE);
	rdma_pair_destroy(&pair);
}

/* Two datagrams wait for the page of the first one's receive, and come in order. */
TERN_TEST(datagrams)
{
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 1000 };
	struct demand demand;
	struct tern_cqe cqe;
	uint32_t fault;

	rdma_pair_create(&pair, &(struct rdma_options){ .type = TERN_QP_UD });
	demand = demand_create(&pair.b);
	rdma_post_receive(&pair.b, 0, 1040);
	rdma_post_receive(&pair.b, 2000, 1040);
	rdma_fill(rdma_memory(&pair.a, 0), 1000, 1);
	rdma_post(&pair, &pair.a, &request);
	rdma_fill(rdma_memory(&pair.a, 5000), 1000, 2);
	request.address = pair.a.buffer + 5000;
	rdma_post(&pair, &pair.a, &request);
	fault = fault_at(&demand, 0, true, true);
	CHECK(rdma_none(&pair.b.receive_cq));
	page_in(&demand, 0, TERN_PAGE_WRITE);
	CHECK_EQ(resume(&pair.b, fault, TERN_RESUME_RETRY), 0);
	for (unsigned int i = 0; i < 2; i++) {
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_MEM(rdma_memory(&pair.b, i * 2000 + 40), rdma_memory(&pair.a, i * 5000),
			  1000);
	}
	rdma_pair_destroy(&pair);

	/* As a sender. */
	rdma_pair_create(&pair, &(struct rdma_options){ .type = TERN_QP_UD });
	demand = demand_create(&pair.a);
	rdma_post_receive(&pair.b, 0, 1040);
	request.address = 0;
	rdma_post(&pair, &pair.a, &request);
	fault = fault_at(&demand, 0, false, false);
	page_in(&demand, 0, 0);
	CHECK_EQ(resume(&pair.a, fault, TERN_RESUME_RETRY), 0);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	rdma_pair_destroy(&pair);
}

/* More datagrams than are kept: the others are dropped and counted. */
TERN_TEST(datagrams_beyond_the_limit)
{
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 8 };
	struct demand demand;
	struct tern_cqe cqe;
	uint32_t fault;

	rdma_pair_create(&pair, &(struct rdma_options){ .type = TERN_QP_UD });
	demand = demand_create(&pair.b);
	for (unsigned int i = 0; i < 20; i++) {
		rdma_post_receive(&pair.b, i * 64, 48);
		rdma_post(&pair, &pair.a, &request);
	}
	fault = fault_at(&demand, 0, true, true);
	CHECK_EQ(rdma_counter(&pair.b, "rx_ud_dropped"), 4);
	page_in(&demand, 0, TERN_PAGE_WRITE);
	CHECK_EQ(resume(&pair.b, fault, TERN_RESUME_RETRY), 0);
	for (unsigned int i = 0; i < 16; i++)
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	world_advance(pair.world, 5000000);
	CHECK(rdma_none(&pair.b.receive_cq));
	rdma_pair_destroy(&pair);
}

/* Nobody can be told to wait: the message is lost, the next one comes. */
TERN_TEST(unreliable)
{
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .length = 1000 };
	struct demand demand;
	uint32_t fault;

	rdma_pair_create(&pair, &(struct rdma_options){ .type = TERN_QP_UC });
	demand = demand_create(&pair.b);
	rdma_fill(rdma_memory(&pair.a, 0), 1000, 7);
	rdma_post(&pair, &pair.a, &request);
	fault = fault_at(&demand, 0, true, true);
	page_in(&demand, 0, TERN_PAGE_WRITE);
	CHECK_EQ(resume(&pair.b, fault, TERN_RESUME_RETRY), 0);
	rdma_post(&pair, &pair.a, &request);
	world_advance(pair.world, 5000000);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 1000);
	rdma_pair_destroy(&pair);
}

/* What is destroyed or reset with a fault waits no more; the number of the fault is stale. */
TERN_TEST(destroyed_while_it_waits)
{
	for (size_t k = 0; k < KINDS; k++) {
		const struct kind *kind = &kinds[k];
		uint64_t offset = kind->length == 8 ? 104 : START;

		for (unsigned int reset = 0; reset < 2; reset++) {
			struct demand demand;
			uint32_t fault;

			rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 5 });
			demand = demand_create(kind->responder ? &pair.b : &pair.a);
			begin(kind);
			fault = fault_at(&demand, offset, kind->responder, kind->write);
			if (reset)
				CHECK_EQ(driver_qp_modify(&demand.side->qp, TERN_QP_RESET, 0,
							  NULL), 0);
			else
				CHECK_EQ(driver_command(demand.side->driver,
							TERN_COMMAND_DESTROY_QP,
							demand.side->qp.qpn, NULL, 0), 0);
			page_in(&demand, 0, TERN_PAGE_WRITE);
			CHECK_EQ(resume(demand.side, fault, TERN_RESUME_RETRY), 0);
			CHECK_EQ(demand.side->driver->result[0], 0);
			world_advance(pair.world, 5000000);
			rdma_pair_destroy(&pair);
		}
	}
}

/* The key goes with an access waiting for its page. */
TERN_TEST(key_destroyed_while_it_waits)
{
	for (size_t k = 0; k < KINDS; k++) {
		const struct kind *kind = &kinds[k];
		uint64_t offset = kind->length == 8 ? 104 : START;
		struct demand demand;
		struct tern_cqe cqe;
		uint32_t fault;

		demand = begin_absent(&(struct rdma_options){ .path_mtu = 5 }, kind);
		fault = fault_at(&demand, offset, kind->responder, kind->write);
		CHECK_EQ(driver_command(demand.side->driver, TERN_COMMAND_DESTROY_KEY,
					demand.index, NULL, 0), 0);
		CHECK_EQ(resume(demand.side, fault, TERN_RESUME_RETRY), 0);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK(cqe.status != TERN_WC_SUCCESS);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(refused)
{
	struct tern_command_key_invalidate_pages pages = { .length = htole64(1) };
	struct tern_command_key_resume body = { .fault = htole32(1) };
	struct demand demand;
	struct driver *driver;
	uint32_t plain;

	rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 5 });
	driver = pair.a.driver;
	plain = pair.a.key >> TERN_KEY_INDEX_SHIFT;
	demand = demand_create(&pair.a);

#define RESUME(qpn) driver_command(driver, TERN_COMMAND_KEY_RESUME, qpn, &body, sizeof(body))
	CHECK_EQ(RESUME(0), TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(RESUME(0xffffff), TERN_COMMAND_STATUS_BAD_NUMBER);
	/* No such queue pair any more. */
	CHECK_EQ(RESUME(pair.a.qp.qpn + 1), 0);
	CHECK_EQ(driver->result[0], 0);
	body.status = TERN_RESUME_FAIL + 1;
	CHECK_EQ(RESUME(pair.a.qp.qpn), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver->syndrome, offsetof(struct tern_command, body) +
				   offsetof(struct tern_command_key_resume, status));
	body.status = 0;
	body.reserved0[2] = 1;
	CHECK_EQ(RESUME(pair.a.qp.qpn), TERN_COMMAND_STATUS_BAD_PARAMETER);
	body.reserved0[2] = 0;
	body.fault = 0;
	CHECK_EQ(RESUME(pair.a.qp.qpn), TERN_COMMAND_STATUS_BAD_PARAMETER);
#undef RESUME

	CHECK_EQ(invalidate(&demand, pair.a.buffer, PAGES * HOST_PAGE), 0);
	CHECK_EQ(invalidate(&demand, pair.a.buffer + PAGES * HOST_PAGE - 1, 1), 0);
	CHECK_EQ(invalidate(&demand, pair.a.buffer - 1, 1), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(invalidate(&demand, pair.a.buffer + PAGES * HOST_PAGE, 1),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(invalidate(&demand, pair.a.buffer, 0), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(invalidate(&demand, pair.a.buffer + 1, PAGES * HOST_PAGE),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(invalidate(&demand, pair.a.buffer + 1, UINT64_MAX),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver_command(driver, TERN_COMMAND_KEY_INVALIDATE_PAGES, plain, &pages,
				sizeof(pages)), TERN_COMMAND_STATUS_BAD_STATE);
	CHECK_EQ(driver_command(driver, TERN_COMMAND_KEY_INVALIDATE_PAGES, 0, &pages,
				sizeof(pages)), TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(driver_command(driver, TERN_COMMAND_KEY_INVALIDATE_PAGES, demand.index + 1,
				&pages, sizeof(pages)), TERN_COMMAND_STATUS_NOT_FOUND);
	rdma_pair_destroy(&pair);

	/* Without the feature there is neither. */
	rdma_pair_create(&pair, &(struct rdma_options){
		.without_features = UINT64_C(1) << TERN_FEATURE_ON_DEMAND_PAGING });
	driver = pair.a.driver;
	CHECK_EQ(driver_command(driver, TERN_COMMAND_KEY_INVALIDATE_PAGES, 1, &pages,
				sizeof(pages)), TERN_COMMAND_STATUS_BAD_OPCODE);
	CHECK_EQ(driver_command(driver, TERN_COMMAND_KEY_RESUME, 1, &body, sizeof(body)),
		 TERN_COMMAND_STATUS_BAD_OPCODE);
	rdma_pair_destroy(&pair);
}
