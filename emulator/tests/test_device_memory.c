// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: device memory: BAR 4, keys that name it, CLEAR_DEVICE_MEMORY, separation of functions. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_hw_device_memory.h"
#include "tern_hw_pci.h"
#include "tern_test.h"

#define SIZE		((uint64_t)HOST_DEVICE_MEMORY)
#define KEY_INDEX	900
#define KEY		(KEY_INDEX << 8 | 7U)
#define PLACE		UINT64_C(4100)	/* of the region in device memory... */
#define BYTES		UINT64_C(12000)
#define FEATURE_BIT	(UINT64_C(1) << TERN_FEATURE_DEVICE_MEMORY)

static struct rdma_pair pair;

static uint64_t load(struct machine *machine, uint64_t offset, unsigned int size)
{
	return host_read(machine, 0, TERN_BAR_DEVICE_MEMORY, offset, size);
}

static void store(struct machine *machine, uint64_t offset, uint64_t value, unsigned int size)
{
	host_write(machine, 0, TERN_BAR_DEVICE_MEMORY, offset, value, size);
}

static void load_all(struct machine *machine, uint64_t offset, uint8_t *to, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = (uint8_t)load(machine, offset + i, 1);
}

static struct tern_command_create_key region(uint64_t offset, uint64_t length)
{
	return (struct tern_command_create_key){
		.pages = { .root = htole64(offset), .length = htole64(length) },
		.pd = htole32(RDMA_PD),
		.access = htole32(RDMA_ALL_ACCESS | TERN_ACCESS_ZERO_BASED),
		.consumer = KEY & 0xff,
		.type = TERN_KEY_DEVICE_MEMORY,
	};
}

static uint16_t create(struct driver *driver, const struct tern_command_create_key *body)
{
	return driver_command(driver, TERN_COMMAND_CREATE_KEY, KEY_INDEX, body, sizeof(*body));
}

static uint16_t clear(struct driver *driver, uint64_t offset, uint64_t length)
{
	const struct tern_command_clear_device_memory body = {
		.offset = htole64(offset), .length = htole64(length),
	};

	return driver_command(driver, TERN_COMMAND_CLEAR_DEVICE_MEMORY, 0, &body, sizeof(body));
}

static struct machine *start(struct driver *driver, uint64_t without)
{
	struct machine *machine = machine_create(world_create(), NULL, 0);

	driver_start(driver, machine, 0, without);
	return machine;
}

TERN_TEST(host_reads_what_it_wrote)
{
	struct driver driver;
	struct machine *machine = start(&driver, 0);
	uint64_t errors;

	CHECK_EQ(tern_nic_bar_size(machine->nic, 0, TERN_BAR_DEVICE_MEMORY), SIZE);
	CHECK_EQ(load(machine, 0, 8), 0);
	store(machine, 0, 0x8877665544332211, 8);
	store(machine, 10, 0xbbaa, 2);
	store(machine, 12, 0xffeeddcc, 4);
	store(machine, SIZE - 1, 0x99, 1);
	CHECK_EQ(load(machine, 0, 8), 0x8877665544332211);
	CHECK_EQ(load(machine, 2, 2), 0x4433);
	CHECK_EQ(load(machine, 4, 4), 0x88776655);
	CHECK_EQ(load(machine, 8, 8), 0xffeeddccbbaa0000);
	CHECK_EQ(load(machine, SIZE - 8, 8), 0x9900000000000000);
	/* Beyond it, and what no bus makes. */
	errors = host_counter(machine, 0, "register_errors");
	store(machine, SIZE, 1, 1);
	CHECK_EQ(load(machine, SIZE, 1), 0);
	CHECK_EQ(load(machine, 1, 2), 0);
	CHECK_EQ(load(machine, 0, 3), 0);
	CHECK_EQ(host_counter(machine, 0, "register_errors"), errors + 4);
	world_destroy(machine->world);
}

TERN_TEST(nothing_there_unless_it_was_taken)
{
	struct driver driver;
	struct machine *machine = machine_create(world_create(), NULL, 0);
	struct tern_command_create_key body = region(0, 8);

	store(machine, 0, 1, 8);
	CHECK_EQ(load(machine, 0, 8), 0);
	driver_start(&driver, machine, 0, FEATURE_BIT);
	store(machine, 0, 1, 8);
	CHECK_EQ(load(machine, 0, 8), 0);
	CHECK_EQ(clear(&driver, 0, 8), TERN_COMMAND_STATUS_BAD_OPCODE);
	CHECK_EQ(create(&driver, &body), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) +
				  offsetof(struct tern_command_create_key, type));
	world_destroy(machine->world);
}

TERN_TEST(a_nic_without)
{
	struct tern_nic_config config = host_default_config;
	struct driver driver;
	struct machine *machine;

	config.device_memory = 0;
	machine = machine_create(world_create(), &config, 0);
	CHECK_EQ(tern_nic_bar_size(machine->nic, 0, TERN_BAR_DEVICE_MEMORY), 0);
	CHECK_EQ(host_read(machine, 0, 0, TERN_REG_DEVICE_MEMORY_SIZE, 8), 0);
	CHECK_EQ(host_read(machine, 0, 0, TERN_REG_DEVICE_FEATURES, 8) & FEATURE_BIT, 0);
	store(machine, 0, 1, 8);
	CHECK_EQ(load(machine, 0, 8), 0);
	/* Taken all the same: refused, as every feature that is not offered. */
	driver_prepare(&driver, machine, 0, FEATURE_BIT);
	host_write(machine, 0, 0, TERN_REG_CONTROL, TERN_CONTROL_ENABLE, 4);
	CHECK_EQ(host_read(machine, 0, 0, TERN_REG_STATUS, 4) >> 16, TERN_FATAL_FEATURES);
	world_destroy(machine->world);
}

static void expect_refused(struct driver *driver, const struct tern_command_create_key *body,
			   size_t field)
{
	CHECK_EQ(create(driver, body), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver->syndrome, offsetof(struct tern_command, body) + field);
	/* Nothing was made. */
	CHECK_EQ(driver_command(driver, TERN_COMMAND_DESTROY_KEY, KEY_INDEX, NULL, 0),
		 TERN_COMMAND_STATUS_NOT_FOUND);
}

#define FIELD(member)	offsetof(struct tern_command_create_key, member)

TERN_TEST(regions_that_are_refused)
{
	struct tern_command_create_key body;
	struct driver driver;
	struct machine *machine = start(&driver, 0);

	body = region(SIZE + 1, 0);
	expect_refused(&driver, &body, FIELD(pages.root));
	body = region(UINT64_MAX, 2);
	expect_refused(&driver, &body, FIELD(pages.root));
	body = region(0, SIZE + 1);
	expect_refused(&driver, &body, FIELD(pages.length));
	body = region(SIZE, 1);
	expect_refused(&driver, &body, FIELD(pages.length));
	body = region(8, UINT64_MAX - 7);
	expect_refused(&driver, &body, FIELD(pages.length));
	body = region(0, 8);
	body.pages.levels = 1;
	expect_refused(&driver, &body, FIELD(pages.levels));
	body = region(0, 8);
	body.pages.page_shift = 12;
	expect_refused(&driver, &body, FIELD(pages.page_shift));
	body = region(0, 8);
	body.pages.first_offset = htole32(1);
	expect_refused(&driver, &body, FIELD(pages.first_offset));
	body = region(0, 8);
	body.pages.reserved0 = htole16(1);
	expect_refused(&driver, &body, FIELD(pages.reserved0));
	body = region(0, 8);
	body.pages.reserved1 = htole64(1);
	expect_refused(&driver, &body, FIELD(pages.reserved1));
	body = region(0, 8);
	body.address = htole64(1);
	expect_refused(&driver, &body, FIELD(address));
	body = region(0, 0);
	body.address = htole64(1);
	expect_refused(&driver, &body, FIELD(address));
	body = region(0, 8);
	body.access = htole32(TERN_ACCESS_LOCAL_WRITE);
	body.address = htole64(UINT64_MAX - 6);
	expect_refused(&driver, &body, FIELD(address));
	body = region(0, 8);
	body.access = htole32(TERN_ACCESS_REMOTE_WRITE);
	expect_refused(&driver, &body, FIELD(access));
	body = region(0, 8);
	body.access = htole32(1u << 31);
	expect_refused(&driver, &body, FIELD(access));
	body = region(0, 8);
	body.pd = htole32(UINT32_MAX);
	expect_refused(&driver, &body, FIELD(pd));

	/* All of it, its end, and no byte at all. */
	body = region(0, SIZE);
	CHECK_EQ(create(&driver, &body), 0);
	body.type = TERN_KEY_REGION;
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_MODIFY_KEY, KEY_INDEX, &body, sizeof(body)),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_KEY, KEY_INDEX, NULL, 0), 0);
	body = region(SIZE, 0);
	CHECK_EQ(create(&driver, &body), 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_KEY, KEY_INDEX, NULL, 0), 0);
	world_destroy(machine->world);
}

TERN_TEST(cleared)
{
	struct driver driver;
	struct machine *machine = start(&driver, 0);

	for (uint64_t at = 0; at < SIZE; at += 8)
		store(machine, at, UINT64_MAX, 8);
	CHECK_EQ(clear(&driver, 101, 1000), 0);
	CHECK_EQ(load(machine, 100, 1), 0xff);
	for (uint64_t at = 101; at < 1101; at++)
		CHECK_EQ(load(machine, at, 1), 0);
	CHECK_EQ(load(machine, 1101, 1), 0xff);
	CHECK_EQ(clear(&driver, SIZE + 1, 0), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body));
	CHECK_EQ(clear(&driver, 1, SIZE), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) + 8);
	CHECK_EQ(clear(&driver, 16, UINT64_MAX - 15), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(load(machine, SIZE - 8, 8), -1);
	CHECK_EQ(clear(&driver, SIZE, 0), 0);
	CHECK_EQ(load(machine, SIZE - 8, 8), -1);
	CHECK_EQ(clear(&driver, 0, SIZE), 0);
	for (uint64_t at = 0; at < SIZE; at += 8)
		CHECK_EQ(load(machine, at, 8), 0);
	world_destroy(machine->world);
}

/* A reset's new owner finds nothing of the old one, whoever wrote it. */
TERN_TEST(zero_after_a_reset)
{
	struct driver driver;
	struct machine *machine = start(&driver, 0);

	store(machine, 64, UINT64_MAX, 8);
	host_reset(machine, 0);
	CHECK_EQ(load(machine, 64, 8), 0);
	driver_start(&driver, machine, 0, 0);
	CHECK_EQ(load(machine, 64, 8), 0);
	world_destroy(machine->world);
}

TERN_TEST(functions_have_their_own)
{
	struct tern_nic_config config = host_default_config;
	struct driver first, second;
	struct machine *machine;

	config.functions = 2;
	machine = machine_create(world_create(), &config, 0);
	driver_start(&first, machine, 0, 0);
	driver_start(&second, machine, 1, 0);
	host_write(machine, 0, TERN_BAR_DEVICE_MEMORY, 8, 1, 8);
	CHECK_EQ(host_read(machine, 1, TERN_BAR_DEVICE_MEMORY, 8, 8), 0);
	host_write(machine, 1, TERN_BAR_DEVICE_MEMORY, 8, 2, 8);
	host_reset(machine, 1);
	CHECK_EQ(host_read(machine, 0, TERN_BAR_DEVICE_MEMORY, 8, 8), 1);
	world_destroy(machine->world);
}

static const struct rdma_options ways[] = {
	{ .path_mtu = 2, .latency_ns = 1000 },
	{ .path_mtu = 5, .loopback = true },
	{ .path_mtu = 1, .no_shortcuts = true, .network = RDMA_V2_IPV6 },
};

#define WAYS	(sizeof(ways) / sizeof(*ways))

static void start_pair(struct rdma_options options, uint32_t access)
{
	struct tern_command_create_key body = region(PLACE, BYTES);

	rdma_pair_create(&pair, &options);
	body.access = htole32(access | TERN_ACCESS_ZERO_BASED);
	CHECK_EQ(create(pair.b.driver, &body), 0);
	rdma_fill(rdma_memory(&pair.a, 0), BYTES, 3);
}

static void access_by(uint8_t opcode, uint64_t address, uint32_t length, uint8_t status)
{
	/* 0 stands for the peer's buffer in rdma_post(): addresses are never 0 here. */
	struct rdma_request request = {
		.opcode = opcode, .length = length, .remote_key = KEY, .remote_address = address,
	};
	struct tern_cqe cqe;

	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, status);
}

TERN_TEST(peer_writes_and_reads)
{
	static uint8_t bytes[BYTES];

	for (size_t i = 0; i < WAYS; i++) {
		start_pair(ways[i], RDMA_ALL_ACCESS);
		access_by(TERN_WQE_WRITE, 1, BYTES - 1, TERN_WC_SUCCESS);
		load_all(pair.b.machine, PLACE + 1, bytes, BYTES - 1);
		CHECK_MEM(bytes, rdma_memory(&pair.a, 0), BYTES - 1);
		CHECK_EQ(load(pair.b.machine, PLACE, 1), 0);
		CHECK_EQ(load(pair.b.machine, PLACE + BYTES, 8), 0);
		memset(rdma_memory(&pair.a, 0), 0, BYTES);
		access_by(TERN_WQE_READ, 1, BYTES - 1, TERN_WC_SUCCESS);
		CHECK_MEM(rdma_memory(&pair.a, 0), bytes, BYTES - 1);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(peer_keeps_to_bounds_and_rights)
{
	for (unsigned int bad = 0; bad < 5; bad++) {
		static const uint32_t rights[] = {
			RDMA_ALL_ACCESS, RDMA_ALL_ACCESS, RDMA_ALL_ACCESS,
			TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_READ,
			TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE,
		};

		start_pair(ways[0], rights[bad]);
		if (bad == 0)
			access_by(TERN_WQE_WRITE, 1, BYTES, TERN_WC_REMOTE_ACCESS);
		else if (bad == 1)
			access_by(TERN_WQE_READ, BYTES, 1, TERN_WC_REMOTE_ACCESS);
		else if (bad == 2)
			access_by(TERN_WQE_WRITE, UINT64_MAX, 2, TERN_WC_REMOTE_ACCESS);
		else if (bad == 3)
			access_by(TERN_WQE_WRITE, 1, 8, TERN_WC_REMOTE_ACCESS);
		else
			access_by(TERN_WQE_READ, 1, 8, TERN_WC_REMOTE_ACCESS);
		CHECK_EQ(load(pair.b.machine, PLACE + BYTES, 8), 0);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(atomics)
{
	struct rdma_request request = {
		.opcode = TERN_WQE_FETCH_ADD, .length = 8, .remote_key = KEY,
		.remote_address = 8, .swap_add = 5,
	};
	struct tern_cqe cqe;

	for (size_t i = 0; i < WAYS; i++) {
		start_pair(ways[i], RDMA_ALL_ACCESS);
		for (uint64_t at = 0; at < 8; at++)
			store(pair.b.machine, PLACE + 8 + at, at == 0 ? 37 : 0, 1);
		rdma_post(&pair, &pair.a, &request);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(rdma_memory(&pair.a, 0)[0], 37);
		CHECK_EQ(load(pair.b.machine, PLACE + 8, 1), 42);
		rdma_pair_destroy(&pair);
	}
}

/* From device memory to device memory, over SGEs of either end. */
TERN_TEST(sends_and_receives)
{
	static uint8_t bytes[BYTES / 2];

	for (size_t i = 0; i < WAYS; i++) {
		const struct tern_sge to = {
			.address = htole64(BYTES / 2), .length = htole32(BYTES / 2),
			.key = htole32(KEY),
		};
		const struct tern_sge from = { .length = htole32(BYTES / 2),
					       .key = htole32(KEY) };
		struct rdma_request request = { .opcode = TERN_WQE_SEND, .sges = &from,
						.sge_count = 1, .length = BYTES / 2 };
		struct tern_command_create_key body = region(PLACE, BYTES);
		struct tern_cqe cqe;

		start_pair(ways[i], RDMA_ALL_ACCESS);
		if (!ways[i].loopback)
			CHECK_EQ(create(pair.a.driver, &body), 0);
		for (uint64_t at = 0; at < BYTES / 2; at++)
			store(pair.a.machine, PLACE + at, at * 7 + 1, 1);
		driver_post_receive(&pair.b.qp, &to, 1);
		rdma_post(&pair, &pair.a, &request);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		load_all(pair.b.machine, PLACE + BYTES / 2, bytes, sizeof(bytes));
		for (size_t at = 0; at < sizeof(bytes); at++)
			CHECK_EQ(bytes[at], (uint8_t)(at * 7 + 1));
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(a_window_of_it)
{
	const struct tern_wqe_bind segment = {
		.address = htole64(100), .length = htole64(50), .window = htole32(901 << 8 | 1),
		.region = htole32(KEY), .access = htole32(TERN_ACCESS_REMOTE_WRITE),
	};
	const struct tern_command_create_key window = {
		.pd = htole32(RDMA_PD), .type = TERN_KEY_WINDOW_TYPE_2,
	};
	struct rdma_request request = {
		.opcode = TERN_WQE_WRITE, .length = 50, .remote_key = 901 << 8 | 1,
		.remote_address = 100,
	};
	struct tern_cqe cqe;

	start_pair(ways[0], TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_WINDOW_BIND);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_CREATE_KEY, 901, &window,
				sizeof(window)), 0);
	rdma_post_local(&pair.b, TERN_WQE_BIND_WINDOW, 0, &segment, sizeof(segment));
	rdma_wait(&pair, &pair.b.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_KEY, KEY_INDEX, NULL, 0),
		 TERN_COMMAND_STATUS_IN_USE);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	for (unsigned int i = 0; i < 50; i++)
		CHECK_EQ(load(pair.b.machine, PLACE + 100 + i, 1), rdma_memory(&pair.a, 0)[i]);
	request.length = 51;
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_REMOTE_ACCESS);
	rdma_pair_destroy(&pair);
}
