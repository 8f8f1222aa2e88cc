// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: event and completion queues: entries, order, arming, moderation, overrun, slow hosts. */
#include <endian.h>

#include "cq.h"
#include "host_driver.h"
#include "nic.h"
#include "tern_test.h"

static struct world *world;
static struct machine *machine;
static struct driver driver;
static struct function *fn;
static struct driver_cq cq;

static void setup_without(uint64_t features, uint8_t cq_shift)
{
	world = world_create();
	machine = machine_create(world, NULL, 64 << 20);
	driver_start(&driver, machine, 0, features);
	driver_cq_create(&driver, &cq, cq_shift);
	fn = &machine->nic->functions[0];
}

static void setup(uint8_t cq_shift)
{
	setup_without(0, cq_shift);
}

/* As the transport does it: inside a core call. */
static bool post(uint32_t cqn, uint32_t index, uint8_t status, bool solicited)
{
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE, .status = status,
				.index = htole32(index) };
	bool done;

	nic_enter(machine->nic);
	done = cq_post(table_get(&fn->cqs, cqn), &cqe, solicited);
	nic_leave(machine->nic);
	return done;
}

static unsigned int interrupts(void)
{
	unsigned int count = machine->interrupts[0][0];

	machine->interrupts[0][0] = 0;
	return count;
}

/* The events that are there are just these many completions of @cqn. */
static void expect_events(unsigned int count, uint32_t cqn)
{
	struct tern_eqe eqe;

	while (count--) {
		CHECK(driver_eq_poll(&driver, &driver.eq, &eqe));
		CHECK_EQ(eqe.type, TERN_EVENT_COMPLETION);
		CHECK_EQ(eqe.subtype, 0);
		CHECK_EQ(le32toh(eqe.number), cqn);
	}
	CHECK(!driver_eq_poll(&driver, &driver.eq, &eqe));
}

TERN_TEST(entries_and_phases)
{
	struct tern_cqe cqe;
	uint32_t next = 0;

	setup(2);
	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int i = 0; i < 1 + round % 4; i++)
			CHECK(post(cq.cqn, next + i, 0, false));
		for (unsigned int i = 0; i < 1 + round % 4; i++) {
			CHECK(driver_cq_poll(&cq, &cqe));
			CHECK_EQ(le32toh(cqe.index), next++);
			CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE);
			CHECK_EQ(le64toh(cqe.timestamp), world->now);
			CHECK(cqe.phase == 0 || le32toh(cqe.phase) == 1);
		}
		CHECK(!driver_cq_poll(&cq, &cqe));
	}
	CHECK_EQ(interrupts(), 0);
	expect_events(0, 0);
	/* What is reserved is zero, and a time that the producer knows better is kept. */
	memset(&cqe, 0xff, sizeof(cqe));
	cqe.timestamp = htole64(77);
	nic_enter(machine->nic);
	CHECK(cq_post(table_get(&fn->cqs, cq.cqn), &cqe, false));
	nic_leave(machine->nic);
	CHECK(driver_cq_poll(&cq, &cqe));
	CHECK_EQ(cqe.reserved0, 0);
	CHECK_EQ(cqe.reserved1, 0);
	CHECK_EQ(le64toh(cqe.timestamp), 77);
	world_destroy(world);
}

/* A queue whose entries lie in pages here and there, with an offset. */
TERN_TEST(cq_over_a_page_list)
{
	struct tern_command_create_cq body = { .shift = 8 };
	uint64_t pages[5], base;

	setup(4);
	base = host_alloc(machine, 5 * 4096, 4096);
	for (unsigned int i = 0; i < 5; i++)
		pages[i] = base + (i * 3 % 5) * 4096;
	body.pages = driver_page_table(machine, pages, 5, 12, 2, 1024, 64 << 8);
	body.record = htole64(host_alloc(machine, 128, 128));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, 9, &body, sizeof(body)), 0);
	for (uint32_t i = 0; i < 256; i++) {
		uint64_t place = 1024 + i * 64;
		const struct tern_cqe *cqe = host_pointer(machine, pages[place / 4096] +
							  place % 4096);

		CHECK(post(9, i, 0, false));
		CHECK_EQ(le32toh(cqe->index), i);
		CHECK_EQ(le32toh(cqe->phase), 1);
	}
	world_destroy(world);
}

static void arming(void)
{
	/* Not armed: nothing. */
	post(cq.cqn, 0, 0, true);
	expect_events(0, 0);
	/* Armed for the next: one event for any number of entries. */
	driver_cq_arm(&cq, TERN_ARM_NEXT);
}

TERN_TEST(arm_next)
{
	setup(6);
	arming();
	post(cq.cqn, 1, 0, false);
	post(cq.cqn, 2, 0, false);
	CHECK_EQ(interrupts(), 1);
	expect_events(1, cq.cqn);
	driver_eq_arm(&driver, &driver.eq);
	CHECK_EQ(interrupts(), 0);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	expect_events(0, 0);
	post(cq.cqn, 3, 0, false);
	CHECK_EQ(interrupts(), 1);
	expect_events(1, cq.cqn);
	/* Events without the EQ armed: written, no interrupt. */
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	post(cq.cqn, 4, 0, false);
	CHECK_EQ(interrupts(), 0);
	expect_events(1, cq.cqn);
	world_destroy(world);
}

TERN_TEST(arm_solicited)
{
	setup(6);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	post(cq.cqn, 0, 0, false);
	expect_events(0, 0);
	post(cq.cqn, 1, 0, true);
	expect_events(1, cq.cqn);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	post(cq.cqn, 2, 0, false);
	expect_events(0, 0);
	/* Any error counts as solicited. */
	post(cq.cqn, 3, TERN_WC_FLUSHED, false);
	expect_events(1, cq.cqn);
	/* From solicited to next while it waits. */
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	post(cq.cqn, 4, 0, false);
	expect_events(1, cq.cqn);
	/* Mode 3 is nothing. */
	driver_cq_arm(&cq, 3);
	post(cq.cqn, 5, TERN_WC_FLUSHED, true);
	expect_events(0, 0);
	world_destroy(world);
}

/*
 * Without records an arming by doorbell may arrive after the entry was written:
 * the device then makes the event when the host's index is behind.
 */
TERN_TEST(arm_by_doorbell)
{
	struct tern_cqe cqe;

	setup_without(UINT64_C(1) << TERN_FEATURE_DOORBELL_RECORDS, 6);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	expect_events(0, 0);
	post(cq.cqn, 0, 0, false);
	CHECK_EQ(interrupts(), 1);
	expect_events(1, cq.cqn);
	/* Entry 1 comes between the host's last look and the doorbell's arrival. */
	CHECK(driver_cq_poll(&cq, &cqe));
	post(cq.cqn, 1, 0, false);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	expect_events(1, cq.cqn);
	/* The interrupt waits for the EQ's arming, which finds the event read. */
	CHECK_EQ(interrupts(), 0);
	driver_eq_arm(&driver, &driver.eq);
	CHECK_EQ(interrupts(), 0);
	/* Solicited: entry 2 is not, entry 3 is. */
	CHECK(driver_cq_poll(&cq, &cqe));
	post(cq.cqn, 2, 0, false);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	expect_events(0, 0);
	post(cq.cqn, 3, 0, true);
	expect_events(1, cq.cqn);
	CHECK_EQ(interrupts(), 1);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	expect_events(1, cq.cqn);
	CHECK(driver_cq_poll(&cq, &cqe));
	CHECK(driver_cq_poll(&cq, &cqe));
	post(cq.cqn, 4, 0, false);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	expect_events(0, 0);
	/* The event of an EQ that the host did not read: arming it interrupts at once. */
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	CHECK_EQ(interrupts(), 0);
	driver_eq_arm(&driver, &driver.eq);
	CHECK_EQ(interrupts(), 1);
	/* Of another page: dropped. */
	CHECK_EQ(host_counter(machine, 0, "doorbells_dropped"), 0);
	driver_doorbell(&driver, 1, TERN_DOORBELL_CQ_ARM, cq.cqn, 0x1002);
	driver_doorbell(&driver, 1, TERN_DOORBELL_EQ_ARM, 0, 0x1002);
	driver_doorbell(&driver, 0, TERN_DOORBELL_EQ_ARM, 5, 0x1002);
	driver_doorbell(&driver, 0, TERN_DOORBELL_CQ_ARM, 77, 0x1002);
	CHECK_EQ(host_counter(machine, 0, "doorbells_dropped"), 4);
	world_destroy(world);
}

static uint16_t set_moderation(uint16_t count, uint16_t period)
{
	struct tern_command_create_cq body = {
		.moderation_count = htole16(count), .moderation_period = htole16(period),
	};

	return driver_command(&driver, TERN_COMMAND_MODIFY_CQ, cq.cqn, &body, sizeof(body));
}

static void moderate(uint16_t count, uint16_t period)
{
	CHECK_EQ(set_moderation(count, period), 0);
}

/* A count without a time would keep the event of the last completions for ever. */
TERN_TEST(moderation_by_count_alone_is_refused)
{
	struct tern_command_create_cq body = {
		.shift = 4, .moderation_count = htole16(2),
	};
	uint64_t memory;

	setup(8);
	moderate(4, 20);
	CHECK_EQ(set_moderation(2, 0), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) +
				  offsetof(struct tern_command_create_cq, moderation_period));
	CHECK_EQ(set_moderation(65535, 0), TERN_COMMAND_STATUS_BAD_PARAMETER);
	/* Nothing has changed: it is still by four or 20 us. */
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	for (unsigned int i = 0; i < 3; i++)
		post(cq.cqn, i, 0, false);
	expect_events(0, 0);
	world_advance(world, 20000);
	expect_events(1, cq.cqn);
	/* One completion is no delay. */
	moderate(1, 0);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	post(cq.cqn, 0, 0, false);
	expect_events(1, cq.cqn);

	memory = host_alloc(machine, 4096, 4096);
	body.pages = driver_pages(memory, 64 << 4);
	body.record = htole64(host_alloc(machine, 64, 64));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, 9, &body, sizeof(body)),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	body.moderation_period = htole16(1);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, 9, &body, sizeof(body)), 0);
	world_destroy(world);
}

TERN_TEST(moderation)
{
	setup(8);
	moderate(4, 20);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	for (unsigned int i = 0; i < 3; i++)
		post(cq.cqn, i, 0, false);
	world_advance(world, 19999);
	expect_events(0, 0);
	world_advance(world, 1);
	expect_events(1, cq.cqn);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	for (unsigned int i = 0; i < 4; i++) {
		expect_events(0, 0);
		post(cq.cqn, i, 0, false);
	}
	expect_events(1, cq.cqn);
	/* Its timer is gone with it. */
	CHECK_EQ(machine->deadline, TERN_NIC_NO_DEADLINE);
	/* Not armed: entries do not count. */
	for (unsigned int i = 0; i < 4; i++)
		post(cq.cqn, i, 0, false);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	post(cq.cqn, 0, 0, false);
	expect_events(0, 0);
	/* A new setting: what was held comes. */
	moderate(0, 0);
	world_settle(world);
	expect_events(1, cq.cqn);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	post(cq.cqn, 0, 0, false);
	expect_events(1, cq.cqn);
	/* Destroyed while an event is held: none follows. */
	moderate(0, 5);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	post(cq.cqn, 0, 0, false);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, cq.cqn, NULL, 0), 0);
	world_advance(world, 1000000);
	expect_events(0, 0);
	world_destroy(world);
}

TERN_TEST(overrun)
{
	struct driver_cq other;
	struct driver_qp mine, others;
	struct tern_nic_qp_info info;
	struct tern_eqe eqe;
	struct tern_cqe cqe;

	setup(3);
	driver_cq_create(&driver, &other, 3);
	driver_qp_create(&driver, &mine, TERN_QP_ETHERNET, 5, 0, 0, &other, &cq, 4, 4, 6);
	driver_qp_create(&driver, &others, TERN_QP_ETHERNET, 6, 0, 0, &other, &other, 4, 4, 6);
	CHECK_EQ(driver_qp_modify(&mine, TERN_QP_RTS, 0, NULL), 0);
	CHECK_EQ(driver_qp_modify(&others, TERN_QP_RTS, 0, NULL), 0);
	for (unsigned int i = 0; i < 8; i++)
		CHECK(post(cq.cqn, i, 0, false));
	CHECK(!post(cq.cqn, 8, 0, false));
	CHECK(!post(cq.cqn, 9, 0, false));
	CHECK(driver_eq_poll(&driver, &driver.eq, &eqe));
	CHECK_EQ(eqe.type, TERN_EVENT_CQ_ERROR);
	CHECK_EQ(eqe.subtype, TERN_CQ_ERROR_OVERRUN);
	CHECK_EQ(le32toh(eqe.number), cq.cqn);
	world_settle(world);
	CHECK(driver_eq_poll(&driver, &driver.eq, &eqe));
	CHECK_EQ(eqe.type, TERN_EVENT_QP_FATAL);
	CHECK_EQ(le32toh(eqe.number), 5);
	CHECK(!driver_eq_poll(&driver, &driver.eq, &eqe));
	CHECK(tern_nic_next_qp(machine->nic, 0, 5, &info));
	CHECK_STR(info.state, "error");
	CHECK(tern_nic_next_qp(machine->nic, 0, 6, &info));
	CHECK_STR(info.state, "rts");
	/* The eight that were there are whole, and no ninth follows when there is room again. */
	for (unsigned int i = 0; i < 8; i++) {
		CHECK(driver_cq_poll(&cq, &cqe));
		CHECK_EQ(le32toh(cqe.index), i);
	}
	CHECK(!post(cq.cqn, 10, 0, false));
	CHECK(!driver_cq_poll(&cq, &cqe));
	world_destroy(world);
}

/* A consumer index that makes no sense must not let entries be overwritten. */
TERN_TEST(bad_consumer_index)
{
	static const uint32_t bad[] = { 9, 100, UINT32_MAX, 0x80000000 };
	struct tern_eqe eqe;

	for (unsigned int i = 0; i < 4; i++) {
		setup(3);
		for (unsigned int j = 0; j < 8; j++)
			CHECK(post(cq.cqn, j, 0, false));
		*(uint32_t *)host_pointer(machine, cq.record) = htole32(bad[i]);
		CHECK(!post(cq.cqn, 8, 0, false));
		CHECK(driver_eq_poll(&driver, &driver.eq, &eqe));
		CHECK_EQ(eqe.type, TERN_EVENT_CQ_ERROR);
		CHECK_EQ(host_counter(machine, 0, "index_errors"), 1);
		world_destroy(world);
	}
}

TERN_TEST(cq_memory_gone)
{
	struct tern_eqe eqe;

	setup(6);
	host_set_pages(machine, cq.ring, 4096, HOST_PAGE_READ_ONLY);
	CHECK(!post(cq.cqn, 0, 0, false));
	CHECK(driver_eq_poll(&driver, &driver.eq, &eqe));
	CHECK_EQ(eqe.type, TERN_EVENT_CQ_ERROR);
	CHECK_EQ(eqe.subtype, TERN_CQ_ERROR_ACCESS);
	world_destroy(world);
}

/* Destroyed between its failure and the next run. */
TERN_TEST(failed_cq_destroyed)
{
	setup(6);
	host_set_pages(machine, cq.ring, 4096, HOST_PAGE_ABSENT);
	CHECK(!post(cq.cqn, 0, 0, false));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, cq.cqn, NULL, 0), 0);
	world_settle(world);
	world_destroy(world);
}

/* The host is slow: events wait, none is lost, one per CQ is enough. */
TERN_TEST(full_event_queue)
{
	enum { CQS = 40 };
	struct driver_cq cqs[CQS];
	struct driver_eq eq;
	unsigned int seen[CQS] = { 0 };
	struct tern_eqe eqe;
	unsigned int total = 0;

	setup(4);
	driver_eq_create(&driver, &eq, 1, 2);
	for (unsigned int i = 0; i < CQS; i++) {
		struct tern_command_create_cq body = { .shift = 4, .eqn = htole32(1) };

		cqs[i] = (struct driver_cq){ .driver = &driver, .cqn = 100 + i, .shift = 4 };
		cqs[i].ring = host_alloc(machine, 1024, 64);
		cqs[i].record = host_alloc(machine, 128, 128);
		body.pages = driver_pages(cqs[i].ring, 1024);
		body.record = htole64(cqs[i].record);
		CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, cqs[i].cqn, &body,
					sizeof(body)), 0);
	}
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < CQS; i++) {
			driver_cq_arm(&cqs[i], TERN_ARM_NEXT);
			post(cqs[i].cqn, 0, 0, false);
		}
	}
	CHECK(machine->deadline - world->now <= 1000000);
	/* One that waits is destroyed: its event goes with it. */
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, 100 + CQS - 1, NULL, 0), 0);
	for (unsigned int i = 0; i < 100; i++) {
		while (driver_eq_poll(&driver, &eq, &eqe)) {
			CHECK_EQ(eqe.type, TERN_EVENT_COMPLETION);
			seen[le32toh(eqe.number) - 100]++;
			total++;
		}
		world_advance(world, 1000000);
	}
	for (unsigned int i = 0; i < CQS - 1; i++)
		CHECK(seen[i] >= 1);
	CHECK_EQ(seen[CQS - 1], 0);
	/* Four were written at once, perhaps twice for the first ones. */
	CHECK(total <= CQS + 4);
	CHECK_EQ(machine->deadline, TERN_NIC_NO_DEADLINE);
	CHECK_EQ(host_counter(machine, 0, "events_lost"), 0);
	world_destroy(world);
}

/* An index from outside of the ring frees no entry: nothing is overwritten, and it is counted. */
TERN_TEST(bad_consumer_index_of_an_event_queue)
{
	static const uint32_t bad[] = { 5, 100, 0x80000000, UINT32_MAX };
	struct driver_cq other = { .driver = &driver, .cqn = 100, .shift = 4 };
	struct tern_command_create_cq body = { .shift = 4, .eqn = htole32(1) };
	struct tern_eqe eqe;
	struct driver_eq eq;
	uint32_t *index;

	setup(4);
	driver_eq_create(&driver, &eq, 1, 2);
	other.ring = host_alloc(machine, 1024, 64);
	other.record = host_alloc(machine, 128, 128);
	body.pages = driver_pages(other.ring, 1024);
	body.record = htole64(other.record);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, other.cqn, &body, sizeof(body)),
		 0);
	for (unsigned int i = 0; i < 4; i++) {
		driver_cq_arm(&other, TERN_ARM_NEXT);
		post(other.cqn, i, 0, false);
	}
	index = host_pointer(machine, eq.record);
	for (unsigned int i = 0; i < 4; i++) {
		*index = htole32(bad[i]);
		driver_cq_arm(&other, TERN_ARM_NEXT);
		post(other.cqn, 4 + i, 0, false);
		world_advance(world, 1000000);
		CHECK(host_counter(machine, 0, "index_errors") > i);
	}
	*index = 0;
	for (unsigned int i = 0; i < 4; i++)
		CHECK(driver_eq_poll(&driver, &eq, &eqe));
	CHECK(!driver_eq_poll(&driver, &eq, &eqe));
	world_advance(world, 1000000);
	/* The four that found it full became one. */
	CHECK(driver_eq_poll(&driver, &eq, &eqe));
	CHECK_EQ(le32toh(eqe.number), other.cqn);
	CHECK(!driver_eq_poll(&driver, &eq, &eqe));
	world_destroy(world);
}

/* An event does not overtake those that wait for room, though there is some now. */
TERN_TEST(events_keep_their_order)
{
	struct driver_cq cqs[7];
	struct tern_eqe eqe;
	struct driver_eq eq;

	setup(4);
	driver_eq_create(&driver, &eq, 1, 2);
	for (unsigned int i = 0; i < 7; i++) {
		struct tern_command_create_cq body = { .shift = 4, .eqn = htole32(1) };

		cqs[i] = (struct driver_cq){ .driver = &driver, .cqn = 100 + i, .shift = 4 };
		cqs[i].ring = host_alloc(machine, 1024, 64);
		cqs[i].record = host_alloc(machine, 128, 128);
		body.pages = driver_pages(cqs[i].ring, 1024);
		body.record = htole64(cqs[i].record);
		CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, cqs[i].cqn, &body,
					sizeof(body)), 0);
		driver_cq_arm(&cqs[i], TERN_ARM_NEXT);
	}
	for (unsigned int i = 0; i < 6; i++)
		post(cqs[i].cqn, 0, 0, false);
	CHECK(driver_eq_poll(&driver, &eq, &eqe));
	CHECK_EQ(le32toh(eqe.number), 100);
	post(cqs[6].cqn, 0, 0, false);
	for (unsigned int i = 1; i < 7; i++) {
		if (!driver_eq_poll(&driver, &eq, &eqe)) {
			world_advance(world, 1000000);
			CHECK(driver_eq_poll(&driver, &eq, &eqe));
		}
		CHECK_EQ(le32toh(eqe.number), 100 + i);
	}
	world_destroy(world);
}

TERN_TEST(eq_memory_gone)
{
	setup(4);
	host_set_pages(machine, driver.eq.ring, 8192, HOST_PAGE_ABSENT);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	CHECK(post(cq.cqn, 0, 0, false));
	CHECK_EQ(host_counter(machine, 0, "events_lost"), 1);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	CHECK(post(cq.cqn, 1, 0, false));
	CHECK_EQ(host_counter(machine, 0, "events_lost"), 2);
	CHECK_EQ(interrupts(), 0);
	world_destroy(world);
}

/*
 * Body, then phase, then event body, its phase, then the interrupt: memory that
 * cannot be mapped shows each write.
 */
TERN_TEST(order_of_writes)
{
	const struct host_event *e;
	uint64_t entry, event;

	setup(4);
	host_set_pages(machine, cq.ring, 4096, HOST_PAGE_UNMAPPABLE);
	host_set_pages(machine, driver.eq.ring, 8192, HOST_PAGE_UNMAPPABLE);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	host_record_start(machine);
	CHECK(post(cq.cqn, 0, 0, false));
	e = machine->events;
	entry = cq.ring;
	event = driver.eq.ring;
	CHECK_EQ(machine->event_count, 5);
	CHECK_EQ(e[0].address, entry);
	CHECK_EQ(e[0].length, 60);
	CHECK_EQ(e[1].address, entry + 60);
	CHECK_EQ(e[1].length, 4);
	CHECK_EQ(e[2].address, event);
	CHECK_EQ(e[2].length, 28);
	CHECK_EQ(e[3].address, event + 28);
	CHECK_EQ(e[3].length, 4);
	CHECK_EQ(e[4].type, HOST_EVENT_INTERRUPT);
	world_destroy(world);
}
