// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the command queue; what each command of the control path refuses, and why. */
#include <endian.h>

#include "host_driver.h"
#include "tern_hw_pci.h"
#include "tern_hw_statistics.h"
#include "tern_test.h"

static struct world *world;
static struct machine *machine;
static struct driver driver;

static void setup(void)
{
	world = world_create();
	machine = machine_create(world, NULL, 64 << 20);
	driver_start(&driver, machine, 0, 0);
}

#define BODY(type, member) (offsetof(struct tern_command, body) + offsetof(type, member))

/* The command is refused with this status and syndrome, and then works when the field is right. */
#define CHECK_REFUSED(opcode, number, body, want, at)					\
	do {										\
		CHECK_EQ(driver_command(&driver, opcode, number, body, sizeof(*(body))), want); \
		CHECK_EQ(driver.syndrome, at);						\
	} while (0)

TERN_TEST(many_in_flight)
{
	uint16_t id, next = 0;

	setup();
	machine->interrupts[0][0] = 0;
	/* Twice around the ring, always as many as it holds. */
	for (int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 32; i++)
			driver_command_write(&driver, i % 2 ? TERN_COMMAND_NOP : 0x7fff,
					     (uint16_t)(round * 32 + i),
					     i % 4 ? 0 : TERN_COMMAND_INTERRUPT, 0, NULL, 0);
		driver_command_ring(&driver);
		CHECK(host_run(machine, 10));
		while (host_run(machine, 10))
			;
		for (unsigned int i = 0; i < 32; i++) {
			CHECK(driver_command_poll(&driver, &id));
			CHECK_EQ(id, next++);
			CHECK_EQ(driver.status, i % 2 ? 0 : TERN_COMMAND_STATUS_BAD_OPCODE);
			CHECK_EQ(driver.syndrome, 0);
		}
		CHECK(!driver_command_poll(&driver, &id));
	}
	CHECK_EQ(machine->interrupts[0][0], 3 * 8);
	world_destroy(world);
}

TERN_TEST(budget_bounds_a_run)
{
	uint16_t id;

	setup();
	for (unsigned int i = 0; i < 32; i++)
		driver_command_write(&driver, TERN_COMMAND_NOP, (uint16_t)i, 0, 0, NULL, 0);
	driver_command_ring(&driver);
	CHECK(host_run(machine, 5));
	for (unsigned int i = 0; i < 5; i++)
		CHECK(driver_command_poll(&driver, &id));
	CHECK(!driver_command_poll(&driver, &id));
	CHECK(!host_prepare_sleep(machine));
	world_destroy(world);
}

/* Every opcode that is not defined here, and every reserved bit around a command. */
TERN_TEST(header_is_checked)
{
	struct tern_command *command;
	uint64_t place;
	uint16_t id;

	setup();
	for (unsigned int opcode = 0; opcode < 0x10000; opcode++) {
		if (opcode == TERN_COMMAND_QUERY_DEVICE)
			opcode = 0x800;
		if (opcode == TERN_COMMAND_NOP)
			continue;
		CHECK_EQ(driver_command(&driver, (uint16_t)opcode, 0, NULL, 0),
			 TERN_COMMAND_STATUS_BAD_OPCODE);
	}
	for (unsigned int bit = 1; bit < 32; bit++) {
		driver_command_write(&driver, TERN_COMMAND_NOP, 0, 1U << bit, 0, NULL, 0);
		driver_command_ring(&driver);
		host_run(machine, 1);
		CHECK(driver_command_poll(&driver, &id));
		CHECK_EQ(driver.status, TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(driver.syndrome, offsetof(struct tern_command, flags));
	}
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_NOP, 1, NULL, 0),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver.syndrome, offsetof(struct tern_command, number));
	place = driver.commands + (driver.producer & 31) * sizeof(*command);
	driver_command_write(&driver, TERN_COMMAND_NOP, 0, 0, 0, NULL, 0);
	command = host_pointer(machine, place);
	command->reserved0 = htole32(1);
	driver_command_ring(&driver);
	host_run(machine, 1);
	CHECK(driver_command_poll(&driver, &id));
	CHECK_EQ(driver.status, TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver.syndrome, offsetof(struct tern_command, reserved0));
	for (unsigned int i = 0; i < TERN_COMMAND_BODY_BYTES; i++) {
		uint8_t body[TERN_COMMAND_BODY_BYTES] = { 0 };

		body[i] = 1;
		CHECK_EQ(driver_command(&driver, TERN_COMMAND_NOP, 0, body, sizeof(body)),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) + i);
	}
	world_destroy(world);
}

TERN_TEST(queries)
{
	uint64_t address;
	struct tern_command_query query = { 0 };
	uint8_t *answer;

	setup();
	address = host_alloc(machine, 4096, 4096);
	answer = host_pointer(machine, address);
	query.address = htole64(address);
	query.length = htole32(8);
	memset(answer, 0xaa, 4096);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_QUERY_DEVICE, 0, &query, sizeof(query)), 0);
	CHECK_EQ(driver.result[0], 8);
	CHECK(answer[5] != 0xaa);
	CHECK_EQ(answer[8], 0xaa);
	query.length = htole32(4096);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_QUERY_STATISTICS, 0, &query, sizeof(query)),
		 0);
	CHECK_EQ(driver.result[0], sizeof(struct tern_port_statistics));
	query.group = htole32(TERN_STATISTICS_RDMA);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_QUERY_STATISTICS, 0, &query, sizeof(query)),
		 0);
	CHECK_EQ(driver.result[0], sizeof(struct tern_rdma_statistics));
	CHECK_REFUSED(TERN_COMMAND_QUERY_DEVICE, 0, &query, TERN_COMMAND_STATUS_BAD_PARAMETER,
		      BODY(struct tern_command_query, group));
	query.group = htole32(3);
	CHECK_REFUSED(TERN_COMMAND_QUERY_STATISTICS, 0, &query, TERN_COMMAND_STATUS_BAD_PARAMETER,
		      BODY(struct tern_command_query, group));
	query.group = 0;
	query.address = htole64(address + 4);
	CHECK_REFUSED(TERN_COMMAND_QUERY_DEVICE, 0, &query, TERN_COMMAND_STATUS_BAD_PARAMETER,
		      BODY(struct tern_command_query, address));
	query.address = htole64(UINT64_MAX - 7);
	CHECK_REFUSED(TERN_COMMAND_QUERY_DEVICE, 0, &query, TERN_COMMAND_STATUS_BAD_ADDRESS,
		      BODY(struct tern_command_query, address));
	query.address = 0;
	query.length = 0;
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_QUERY_DEVICE, 0, &query, sizeof(query)), 0);
	world_destroy(world);
}

/* Each byte of @body that is in one of the reserved @places is refused when it is not zero. */
static void check_reserved(uint16_t opcode, uint32_t number, const void *body, size_t size,
			   const size_t (*places)[2], size_t count)
{
	for (size_t p = 0; p < count; p++) {
		for (size_t i = 0; i < places[p][1]; i++) {
			uint8_t bad[TERN_COMMAND_BODY_BYTES];

			memcpy(bad, body, size);
			bad[places[p][0] + i] = 0x80;
			CHECK_EQ(driver_command(&driver, opcode, number, bad, size),
				 TERN_COMMAND_STATUS_BAD_PARAMETER);
			CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) +
				 places[p][0]);
		}
	}
}

#define PLACE(type, member) { offsetof(type, member), sizeof(((type *)0)->member) }

static const size_t reserved_pages[][2] = {
	PLACE(struct tern_page_list, reserved0), PLACE(struct tern_page_list, reserved1),
};

/*
 * What is refused about a page list of @size bytes at @place of @body; the
 * list in @body is good, of levels 0. A queue's has to be aligned.
 */
static void check_pages(uint16_t opcode, uint32_t number, const void *body, size_t size,
			size_t place, bool queue)
{
	uint8_t bad[TERN_COMMAND_BODY_BYTES];
	struct tern_page_list *pages = (void *)(bad + place), good;
	uint64_t length;

#define REFUSED(member)									\
	do {										\
		CHECK_EQ(driver_command(&driver, opcode, number, bad, size),		\
			 TERN_COMMAND_STATUS_BAD_PARAMETER);				\
		CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) + place +	\
			 offsetof(struct tern_page_list, member));			\
		*pages = good;								\
	} while (0)

	memcpy(bad, body, size);
	good = *pages;
	length = le64toh(good.length);
	pages->length = 0;
	REFUSED(length);
	if (queue) {
		pages->length = htole64(length - 1);
		REFUSED(length);
		pages->length = htole64(length + 1);
		REFUSED(length);
		pages->root = htole64(le64toh(good.root) + 32);
		REFUSED(root);
	}
	pages->root = htole64(-length + 64);
	REFUSED(length);
	pages->page_shift = 12;
	REFUSED(page_shift);
	pages->first_offset = htole32(64);
	REFUSED(first_offset);
	pages->levels = 5;
	REFUSED(levels);
	pages->levels = 255;
	REFUSED(levels);
	good.levels = 1;
	good.page_shift = 12;
	*pages = good;
	pages->page_shift = 11;
	REFUSED(page_shift);
	pages->page_shift = 32;
	REFUSED(page_shift);
	pages->root = htole64(le64toh(good.root) + 64);
	REFUSED(root);
	pages->first_offset = htole32(4096);
	REFUSED(first_offset);
	if (queue) {
		pages->first_offset = htole32(32);
		REFUSED(first_offset);
	} else {
		/* 512 pages of one table, less the offset. */
		pages->length = htole64(512 * 4096 + 1);
		REFUSED(levels);
		pages->length = htole64(512 * 4096);
		pages->first_offset = htole32(1);
		REFUSED(levels);
		pages->levels = 4;
		pages->page_shift = 31;
		pages->first_offset = htole32(0x7fffffff);
		pages->length = htole64(UINT64_MAX - 0x7ffffffe);
		REFUSED(length);
	}
	for (size_t i = 0; i < 2; i++) {
		bad[place + reserved_pages[i][0]] = 1;
		CHECK_EQ(driver_command(&driver, opcode, number, bad, size),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) + place +
			 reserved_pages[i][0]);
		*pages = good;
	}
#undef REFUSED
}

TERN_TEST(create_eq)
{
	static const size_t reserved[][2] = {
		PLACE(struct tern_command_create_eq, reserved0),
		PLACE(struct tern_command_create_eq, reserved1),
	};
	struct tern_command_create_eq good = { .shift = 4, .vector = htole32(1) }, body;
	struct tern_command_create_cq cq = { .shift = 1, .eqn = htole32(1) };

#define REFUSED(status, member)								\
	do {										\
		CHECK_REFUSED(TERN_COMMAND_CREATE_EQ, 1, &body, TERN_COMMAND_STATUS_##status,	\
			      BODY(struct tern_command_create_eq, member));		\
		body = good;								\
	} while (0)
	setup();
	good.pages = driver_pages(host_alloc(machine, 512, 4096), 512);
	good.record = htole64(host_alloc(machine, 128, 128));
	body = good;
	body.shift = 0;
	REFUSED(BAD_PARAMETER, shift);
	body.shift = 17;
	REFUSED(BAD_PARAMETER, shift);
	body.shift = 255;
	REFUSED(BAD_PARAMETER, shift);
	body.vector = htole32(64);
	REFUSED(BAD_PARAMETER, vector);
	body.vector = htole32(0);
	REFUSED(IN_USE, vector);
	body.record = htole64(le64toh(good.record) + 64);
	REFUSED(BAD_PARAMETER, record);
	body.record = htole64(UINT64_MAX - 127);
	REFUSED(BAD_ADDRESS, record);
	check_reserved(TERN_COMMAND_CREATE_EQ, 1, &good, sizeof(good), reserved, 2);
	check_pages(TERN_COMMAND_CREATE_EQ, 1, &good, sizeof(good),
		    offsetof(struct tern_command_create_eq, pages), true);
	CHECK_REFUSED(TERN_COMMAND_CREATE_EQ, 64, &good, TERN_COMMAND_STATUS_BAD_NUMBER,
		      offsetof(struct tern_command, number));
	CHECK_REFUSED(TERN_COMMAND_CREATE_EQ, UINT32_MAX, &good, TERN_COMMAND_STATUS_BAD_NUMBER,
		      offsetof(struct tern_command, number));
	/* All that failed changed nothing. */
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_EQ, 1, &good, sizeof(good)), 0);
	CHECK_REFUSED(TERN_COMMAND_CREATE_EQ, 1, &good, TERN_COMMAND_STATUS_EXISTS,
		      offsetof(struct tern_command, number));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_EQ, 2, NULL, 0),
		 TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_EQ, 64, NULL, 0),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
	cq.pages = driver_pages(host_alloc(machine, 128, 4096), 128);
	cq.record = htole64(host_alloc(machine, 128, 128));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, 1, &cq, sizeof(cq)), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_EQ, 1, NULL, 0),
		 TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, 1, NULL, 0), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_EQ, 1, NULL, 0), 0);
	/* Number and vector are free again. */
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_EQ, 1, &good, sizeof(good)), 0);
#undef REFUSED
	world_destroy(world);
}

TERN_TEST(create_cq)
{
	static const size_t reserved[][2] = {
		PLACE(struct tern_command_create_cq, reserved0),
		PLACE(struct tern_command_create_cq, reserved1),
		PLACE(struct tern_command_create_cq, reserved2),
	};
	struct tern_command_create_cq good = { .shift = 4 }, body;

#define REFUSED(status, member)								\
	do {										\
		CHECK_REFUSED(TERN_COMMAND_CREATE_CQ, 5, &body, TERN_COMMAND_STATUS_##status,	\
			      BODY(struct tern_command_create_cq, member));		\
		body = good;								\
	} while (0)
	setup();
	good.pages = driver_pages(host_alloc(machine, 1024, 4096), 1024);
	good.record = htole64(host_alloc(machine, 128, 128));
	body = good;
	body.shift = 0;
	REFUSED(BAD_PARAMETER, shift);
	body.shift = 21;
	REFUSED(BAD_PARAMETER, shift);
	body.eqn = htole32(1);
	REFUSED(NOT_FOUND, eqn);
	body.eqn = htole32(UINT32_MAX);
	REFUSED(NOT_FOUND, eqn);
	body.doorbell_page = htole32(TERN_BAR_DOORBELLS_SIZE >> 12);
	REFUSED(BAD_PARAMETER, doorbell_page);
	body.record = htole64(le64toh(good.record) + 1);
	REFUSED(BAD_PARAMETER, record);
	body.record = htole64(0);
	REFUSED(BAD_ADDRESS, record);
	check_reserved(TERN_COMMAND_CREATE_CQ, 5, &good, sizeof(good), reserved, 3);
	check_pages(TERN_COMMAND_CREATE_CQ, 5, &good, sizeof(good),
		    offsetof(struct tern_command_create_cq, pages), true);
	CHECK_REFUSED(TERN_COMMAND_CREATE_CQ, 33024, &good, TERN_COMMAND_STATUS_BAD_NUMBER,
		      offsetof(struct tern_command, number));
	CHECK_REFUSED(TERN_COMMAND_MODIFY_CQ, 5, &good, TERN_COMMAND_STATUS_NOT_FOUND,
		      offsetof(struct tern_command, number));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, 5, &good, sizeof(good)), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_CQ, 32767, &good, sizeof(good)), 0);
	CHECK_REFUSED(TERN_COMMAND_CREATE_CQ, 5, &good, TERN_COMMAND_STATUS_EXISTS,
		      offsetof(struct tern_command, number));
	check_reserved(TERN_COMMAND_MODIFY_CQ, 5, &good, sizeof(good), reserved, 3);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_MODIFY_CQ, 5, &good, sizeof(good)), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, 5, NULL, 0), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, 5, NULL, 0),
		 TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, 33024, NULL, 0),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
#undef REFUSED
	world_destroy(world);
}

TERN_TEST(create_key)
{
	static const size_t reserved[][2] = {
		PLACE(struct tern_command_create_key, reserved0),
		PLACE(struct tern_command_create_key, reserved1),
		PLACE(struct tern_command_create_key, reserved2),
	};
	struct tern_command_create_key good = { .pd = htole32(3), .consumer = 9 }, body;
	uint64_t region;

#define REFUSED(status, member)								\
	do {										\
		CHECK_REFUSED(TERN_COMMAND_CREATE_KEY, 5, &body, TERN_COMMAND_STATUS_##status,	\
			      BODY(struct tern_command_create_key, member));		\
		body = good;								\
	} while (0)
	setup();
	region = host_alloc(machine, 8192, 4096);
	good.pages = driver_pages(region, 8192);
	good.address = htole64(0x7000);
	good.access = htole32(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE);
	body = good;
	body.pd = htole32(32768);
	REFUSED(BAD_PARAMETER, pd);
	body.access = htole32(TERN_ACCESS_REMOTE_WRITE);
	REFUSED(BAD_PARAMETER, access);
	body.access = htole32(TERN_ACCESS_REMOTE_ATOMIC);
	REFUSED(BAD_PARAMETER, access);
	/* Without tables nothing can be on demand. */
	body.access = htole32(TERN_ACCESS_ON_DEMAND);
	REFUSED(BAD_PARAMETER, pages.levels);
	body.access = htole32(1U << 31);
	REFUSED(BAD_PARAMETER, access);
	body.address = htole64(UINT64_MAX - 8190);
	REFUSED(BAD_PARAMETER, address);
	body.access = htole32(TERN_ACCESS_ZERO_BASED);
	REFUSED(BAD_PARAMETER, address);
	for (uint8_t type = 1; type; type++) {
		if (type <= TERN_KEY_DEVICE_MEMORY)
			continue;
		body.type = type;
		REFUSED(BAD_PARAMETER, type);
	}
	check_reserved(TERN_COMMAND_CREATE_KEY, 5, &good, sizeof(good), reserved, 3);
	check_pages(TERN_COMMAND_CREATE_KEY, 5, &good, sizeof(good),
		    offsetof(struct tern_command_create_key, pages), false);
	CHECK_REFUSED(TERN_COMMAND_CREATE_KEY, 0, &good, TERN_COMMAND_STATUS_BAD_NUMBER,
		      offsetof(struct tern_command, number));
	CHECK_REFUSED(TERN_COMMAND_CREATE_KEY, 262144, &good, TERN_COMMAND_STATUS_BAD_NUMBER,
		      offsetof(struct tern_command, number));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_KEY, 262143, &good, sizeof(good)),
		 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_KEY, 5, &good, sizeof(good)), 0);
	CHECK_REFUSED(TERN_COMMAND_CREATE_KEY, 5, &good, TERN_COMMAND_STATUS_EXISTS,
		      offsetof(struct tern_command, number));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_KEY, 5, NULL, 0), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_KEY, 5, NULL, 0),
		 TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_KEY, 0, NULL, 0),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
	/* Everything: what the kernel's DMA region is. */
	body.pages = driver_pages(0, UINT64_MAX);
	body.address = 0;
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_KEY, 5, &body, sizeof(body)), 0);
#undef REFUSED
	world_destroy(world);
}

TERN_TEST(create_qp)
{
	static const size_t reserved[][2] = {
		PLACE(struct tern_command_create_qp, srqn),
		PLACE(struct tern_command_create_qp, xrcd),
		PLACE(struct tern_command_create_qp, reserved0),
	};
	struct tern_command_create_qp good = {
		.type = TERN_QP_RC, .sq_shift = 5, .rq_shift = 5, .rq_stride_shift = 6,
	}, body;
	struct driver_cq send_cq, receive_cq;

#define REFUSED(status, member)								\
	do {										\
		CHECK_REFUSED(TERN_COMMAND_CREATE_QP, 5, &body, TERN_COMMAND_STATUS_##status,	\
			      BODY(struct tern_command_create_qp, member));		\
		body = good;								\
	} while (0)
	setup();
	driver_cq_create(&driver, &send_cq, 5);
	driver_cq_create(&driver, &receive_cq, 5);
	good.send_cqn = htole32(send_cq.cqn);
	good.receive_cqn = htole32(receive_cq.cqn);
	good.sq = driver_pages(host_alloc(machine, 2048, 4096), 2048);
	good.rq = driver_pages(host_alloc(machine, 2048, 4096), 2048);
	good.sq_record = htole64(host_alloc(machine, 128, 128));
	good.rq_record = htole64(host_alloc(machine, 128, 128));
	body = good;
	for (unsigned int type = 0; type < 256; type++) {
		if (type == TERN_QP_RC || type == TERN_QP_UC || type == TERN_QP_UD ||
		    type == TERN_QP_GSI || type == TERN_QP_ETHERNET || type == TERN_QP_HASHING ||
		    type == TERN_QP_XRC_INITIATOR || type == TERN_QP_XRC_TARGET)
			continue;
		body.type = (uint8_t)type;
		REFUSED(BAD_PARAMETER, type);
	}
	for (unsigned int bit = 4; bit < 32; bit++) {
		body.flags = htole32(1U << bit);
		REFUSED(BAD_PARAMETER, flags);
	}
	body.pd = htole32(32768);
	REFUSED(BAD_PARAMETER, pd);
	body.doorbell_page = htole32(4096);
	REFUSED(BAD_PARAMETER, doorbell_page);
	body.send_cqn = htole32(77);
	REFUSED(NOT_FOUND, send_cqn);
	body.receive_cqn = htole32(UINT32_MAX);
	REFUSED(NOT_FOUND, receive_cqn);
	body.sq_shift = 18;
	REFUSED(BAD_PARAMETER, sq_shift);
	body.sq_shift = 255;
	REFUSED(BAD_PARAMETER, sq_shift);
	body.rq_shift = 16;
	REFUSED(BAD_PARAMETER, rq_shift);
	body.rq_stride_shift = 5;
	REFUSED(BAD_PARAMETER, rq_stride_shift);
	body.rq_stride_shift = 10;
	REFUSED(BAD_PARAMETER, rq_stride_shift);
	body.sq_record = htole64(le64toh(good.sq_record) + 8);
	REFUSED(BAD_PARAMETER, sq_record);
	body.rq_record = htole64(le64toh(good.rq_record) + 64);
	REFUSED(BAD_PARAMETER, rq_record);
	body.rq_record = htole64(UINT64_MAX << 20);
	REFUSED(BAD_ADDRESS, rq_record);
	check_reserved(TERN_COMMAND_CREATE_QP, 5, &good, sizeof(good), reserved, 3);
	check_pages(TERN_COMMAND_CREATE_QP, 5, &good, sizeof(good),
		    offsetof(struct tern_command_create_qp, sq), true);
	check_pages(TERN_COMMAND_CREATE_QP, 5, &good, sizeof(good),
		    offsetof(struct tern_command_create_qp, rq), true);
	for (unsigned int i = 0; i < 3; i++) {
		static const uint32_t numbers[] = { 0, 16640, UINT32_MAX };

		CHECK_REFUSED(TERN_COMMAND_CREATE_QP, numbers[i], &good,
			      TERN_COMMAND_STATUS_BAD_NUMBER,
			      offsetof(struct tern_command, number));
	}
	/* QPN 1 is for GSI, and GSI for QPN 1. */
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_QP, 1, &good, sizeof(good)),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
	body.type = TERN_QP_GSI;
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_QP, 5, &body, sizeof(body)),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_QP, 1, &body, sizeof(body)), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_QP, 16383, &good, sizeof(good)), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_QP, 5, &good, sizeof(good)), 0);
	CHECK_REFUSED(TERN_COMMAND_CREATE_QP, 5, &good, TERN_COMMAND_STATUS_EXISTS,
		      offsetof(struct tern_command, number));
	/* Both CQs are in use until the last of them is gone. */
	for (unsigned int i = 0; i < 3; i++) {
		static const uint32_t numbers[] = { 1, 16383, 5 };

		CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, send_cq.cqn, NULL, 0),
			 TERN_COMMAND_STATUS_IN_USE);
		CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, receive_cq.cqn, NULL,
					0), TERN_COMMAND_STATUS_IN_USE);
		CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_QP, numbers[i], NULL, 0),
			 0);
	}
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_QP, 5, NULL, 0),
		 TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, send_cq.cqn, NULL, 0), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_CQ, receive_cq.cqn, NULL, 0), 0);
#undef REFUSED
	world_destroy(world);
}

TERN_TEST(features_that_were_not_taken)
{
	struct tern_command_create_qp body = { .type = TERN_QP_RC, .rq_stride_shift = 6 };

	world = world_create();
	machine = machine_create(world, NULL, 16 << 20);
	driver_start(&driver, machine, 0, UINT64_C(1) << TERN_FEATURE_RC);
	CHECK_REFUSED(TERN_COMMAND_CREATE_QP, 5, &body, TERN_COMMAND_STATUS_BAD_PARAMETER,
		      BODY(struct tern_command_create_qp, type));
	world_destroy(world);
}
