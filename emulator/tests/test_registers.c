// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: registers, enabling, fatal errors, reset, doorbell pages. */
#include "host_driver.h"
#include "tern_hw_pci.h"
#include "tern_test.h"

static struct world *world;
static struct machine *machine;

static void setup(void)
{
	world = world_create();
	machine = machine_create(world, NULL, 16 << 20);
}

static uint64_t read_register(uint32_t offset, unsigned int size)
{
	return host_read(machine, 0, TERN_BAR_REGISTERS, offset, size);
}

static void write_register(uint32_t offset, uint64_t value, unsigned int size)
{
	host_write(machine, 0, TERN_BAR_REGISTERS, offset, value, size);
}

static uint64_t counter(const char *name)
{
	return host_counter(machine, 0, name);
}

TERN_TEST(identity)
{
	setup();
	CHECK_EQ(read_register(TERN_REG_MAGIC, 4), TERN_MAGIC);
	CHECK_EQ(read_register(TERN_REG_VERSION, 4), 1 << 16);
	CHECK_EQ(read_register(TERN_REG_VECTORS, 4), tern_nic_vectors(machine->nic, 0));
	CHECK(read_register(TERN_REG_COMMAND_TIMEOUT, 4) > 0);
	CHECK(read_register(TERN_REG_RESET_TIMEOUT, 4) > 0);
	CHECK_EQ(read_register(TERN_REG_DEVICE_MEMORY_SIZE, 8), HOST_DEVICE_MEMORY);
	CHECK_EQ(tern_nic_bar_size(machine->nic, 0, 0), TERN_BAR_REGISTERS_SIZE);
	CHECK_EQ(tern_nic_bar_size(machine->nic, 0, 2), TERN_BAR_DOORBELLS_SIZE);
	CHECK_EQ(tern_nic_bar_size(machine->nic, 0, 4), HOST_DEVICE_MEMORY);
	CHECK_EQ(tern_nic_bar_size(machine->nic, 1, 0), 0);
	CHECK_EQ(read_register(TERN_REG_STATUS, 4), 0);
	CHECK_EQ(counter("register_errors"), 0);
	world_destroy(world);
}

TERN_TEST(wide_registers_by_halves)
{
	setup();
	CHECK_EQ(read_register(TERN_REG_DEVICE_FEATURES, 8),
		 read_register(TERN_REG_DEVICE_FEATURES, 4) |
		 read_register(TERN_REG_DEVICE_FEATURES + 4, 4) << 32);
	write_register(TERN_REG_COMMAND_RING, 0x11112000, 4);
	CHECK_EQ(read_register(TERN_REG_COMMAND_RING, 8), 0);
	write_register(TERN_REG_COMMAND_RING + 4, 0x22223333, 4);
	CHECK_EQ(read_register(TERN_REG_COMMAND_RING, 8), 0x2222333311112000);
	/* The low half waits for its own register's high half only. */
	write_register(TERN_REG_COMPLETION_RING, 0x5000, 4);
	write_register(TERN_REG_COMMAND_RING + 4, 0x1, 4);
	CHECK_EQ(read_register(TERN_REG_COMMAND_RING, 8), 0x111112000);
	CHECK_EQ(read_register(TERN_REG_COMPLETION_RING, 8), 0);
	CHECK_EQ(counter("register_errors"), 0);
	world_destroy(world);
}

TERN_TEST(accesses_that_mean_nothing)
{
	static const struct {
		uint32_t offset;
		unsigned int size;
	} bad[] = {
		{ TERN_REG_MAGIC, 8 },		/* two registers at once */
		{ TERN_REG_MAGIC, 1 }, { TERN_REG_MAGIC, 2 }, { TERN_REG_MAGIC + 2, 2 },
		{ TERN_REG_DEVICE_FEATURES, 2 }, { 0x060, 4 }, { 0xfff8, 8 }, { 0xfffc, 4 },
		{ TERN_BAR0_CLOCK + 8, 8 }, { TERN_BAR0_CLOCK, 2 },
		{ TERN_BAR0_MSIX_TABLE, 4 }, { TERN_BAR_REGISTERS_SIZE, 4 },
		{ TERN_BAR_REGISTERS_SIZE - 4, 4 }, { TERN_REG_STATUS + 1, 4 },
		{ TERN_REG_STATUS, 3 }, { TERN_REG_STATUS, 0 }, { TERN_REG_STATUS, 16 },
	};
	size_t count = sizeof(bad) / sizeof(*bad);

	setup();
	for (size_t i = 0; i < count; i++) {
		CHECK_EQ(read_register(bad[i].offset, bad[i].size), 0);
		CHECK_EQ(counter("register_errors"), i + 1);
	}
	for (size_t i = 0; i < count; i++) {
		write_register(bad[i].offset, UINT64_MAX, bad[i].size);
		CHECK_EQ(counter("register_errors"), count + i + 1);
	}
	/* Other BARs, no such function, read-only registers. */
	CHECK_EQ(host_read(machine, 0, TERN_BAR_DOORBELLS, 0, 8), 0);
	CHECK_EQ(host_read(machine, 0, 4, 0, 8), 0);
	CHECK_EQ(host_read(machine, 0, 77, 0, 8), 0);
	CHECK_EQ(host_read(machine, 3, 0, 0, 4), 0);
	host_write(machine, 3, 0, TERN_REG_CONTROL, 1, 4);
	write_register(TERN_REG_STATUS, UINT32_MAX, 4);
	write_register(TERN_REG_DEVICE_FEATURES, 0, 8);
	CHECK_EQ(counter("register_errors"), 2 * count + 5);
	CHECK_EQ(read_register(TERN_REG_STATUS, 4), 0);
	world_destroy(world);
}

TERN_TEST(clock)
{
	setup();
	CHECK_EQ(read_register(TERN_BAR0_CLOCK, 8), world->now);
	world->now = 0x1fffffffe;
	CHECK_EQ(read_register(TERN_BAR0_CLOCK, 4), 0xfffffffe);
	world->now += 10;
	/* The high half belongs to the low half that was read. */
	CHECK_EQ(read_register(TERN_BAR0_CLOCK + 4, 4), 1);
	CHECK_EQ(read_register(TERN_BAR0_CLOCK, 8), 0x200000008);
	world_destroy(world);
}

static uint32_t fatal_code(void)
{
	uint32_t status = (uint32_t)read_register(TERN_REG_STATUS, 4);

	CHECK(!(status & TERN_STATUS_READY));
	CHECK(status & TERN_STATUS_FATAL);
	return status >> 16;
}

TERN_TEST(enable_checks)
{
	struct driver driver;
	uint64_t offered;
	static const struct {
		uint32_t offset;
		uint64_t value;
		unsigned int size;
		uint32_t code;
	} bad[] = {
		{ TERN_REG_DRIVER_FEATURES, UINT64_C(1) << 63, 8, TERN_FATAL_FEATURES },
		{ TERN_REG_DRIVER_FEATURES, UINT64_C(1) << TERN_FEATURE_SRIOV, 8,
		  TERN_FATAL_FEATURES },
		{ TERN_REG_DOORBELL_SHIFT, 11, 4, TERN_FATAL_DOORBELL_SHIFT },
		{ TERN_REG_DOORBELL_SHIFT, 17, 4, TERN_FATAL_DOORBELL_SHIFT },
		{ TERN_REG_DOORBELL_SHIFT, 0xffffffff, 4, TERN_FATAL_DOORBELL_SHIFT },
		{ TERN_REG_COMMAND_SHIFT, 0, 4, TERN_FATAL_COMMAND_RING },
		{ TERN_REG_COMMAND_SHIFT, 11, 4, TERN_FATAL_COMMAND_RING },
		{ TERN_REG_COMMAND_SHIFT, 64, 4, TERN_FATAL_COMMAND_RING },
		{ TERN_REG_COMMAND_VECTOR, 64, 4, TERN_FATAL_COMMAND_RING },
		{ TERN_REG_COMMAND_RING, 0x10800, 8, TERN_FATAL_COMMAND_RING },
		{ TERN_REG_COMPLETION_RING, 0x10040, 8, TERN_FATAL_COMMAND_RING },
		{ TERN_REG_COMMAND_RING, UINT64_MAX - 4095, 8, TERN_FATAL_COMMAND_RING },
	};

	setup();
	offered = read_register(TERN_REG_DEVICE_FEATURES, 8);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		driver_prepare(&driver, machine, 0, offered);
		write_register(bad[i].offset, bad[i].value, bad[i].size);
		write_register(TERN_REG_CONTROL, TERN_CONTROL_ENABLE, 4);
		if (fatal_code() != bad[i].code)
			FAIL("case %zu: code %u", i, fatal_code());
		write_register(TERN_REG_CONTROL, TERN_CONTROL_RESET, 4);
		CHECK_EQ(read_register(TERN_REG_STATUS, 4), 0);
		CHECK_EQ(read_register(TERN_REG_CONTROL, 4), 0);
	}
	/* The same without a mistake works. */
	driver_start(&driver, machine, 0, 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_NOP, 0, NULL, 0), 0);
	world_destroy(world);
}

TERN_TEST(settings_are_locked_after_enable)
{
	struct driver driver;

	setup();
	driver_start(&driver, machine, 0, 0);
	write_register(TERN_REG_COMMAND_RING, 0, 8);
	write_register(TERN_REG_DRIVER_FEATURES, 0, 8);
	write_register(TERN_REG_DOORBELL_SHIFT, 16, 4);
	write_register(TERN_REG_COMMAND_SHIFT, 1, 4);
	write_register(TERN_REG_COMMAND_VECTOR, 1, 4);
	write_register(TERN_REG_COMPLETION_RING, 0, 4);
	write_register(TERN_REG_COMPLETION_RING + 4, 0, 4);
	CHECK_EQ(counter("register_errors"), 6);
	CHECK_EQ(read_register(TERN_REG_DOORBELL_SHIFT, 4), 12);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_NOP, 0, NULL, 0), 0);
	/* Clearing ENABLE is a reset. */
	write_register(TERN_REG_CONTROL, 0, 4);
	CHECK_EQ(read_register(TERN_REG_STATUS, 4), 0);
	CHECK_EQ(read_register(TERN_REG_COMMAND_RING, 8), 0);
	world_destroy(world);
}

TERN_TEST(doorbell_stride)
{
	setup();
	for (unsigned int shift = 12; shift <= 16; shift++) {
		write_register(TERN_REG_DOORBELL_SHIFT, shift, 4);
		CHECK_EQ(read_register(TERN_REG_DOORBELL_PAGES, 4),
			 TERN_BAR_DOORBELLS_SIZE >> shift);
	}
	write_register(TERN_REG_DOORBELL_SHIFT, 40, 4);
	CHECK_EQ(read_register(TERN_REG_DOORBELL_PAGES, 4), 0);
	/* With such a stride too a doorbell is harmless. */
	host_write(machine, 0, TERN_BAR_DOORBELLS, 0x1000, UINT64_MAX, 8);
	CHECK_EQ(counter("doorbells_dropped"), 1);
	write_register(TERN_REG_DOORBELL_SHIFT, 0x4000000, 4);
	host_write(machine, 0, TERN_BAR_DOORBELLS, 0x1000, UINT64_MAX, 8);
	CHECK_EQ(counter("doorbells_dropped"), 2);
	world_destroy(world);
}

TERN_TEST(command_index_beyond_the_ring)
{
	struct driver driver;

	setup();
	driver_start(&driver, machine, 0, 0);
	write_register(TERN_REG_COMMAND_DOORBELL, driver.producer + 33, 4);
	CHECK_EQ(fatal_code(), TERN_FATAL_COMMAND_INDEX);
	CHECK_EQ(read_register(TERN_REG_FATAL_INFO, 8), driver.producer + 33);
	/* Stopped: no command, no memory access; the vector of commands told the driver. */
	CHECK_EQ(machine->interrupts[0][0], 1);
	machine->map_calls = 0;
	machine->read_calls = 0;
	write_register(TERN_REG_COMMAND_DOORBELL, driver.producer + 1, 4);
	CHECK(!host_run(machine, 64));
	CHECK(host_prepare_sleep(machine));
	CHECK_EQ(machine->map_calls + machine->read_calls, 0);
	write_register(TERN_REG_CONTROL, TERN_CONTROL_RESET, 4);
	driver_start(&driver, machine, 0, 0);
	/* Backwards is beyond the ring too. */
	write_register(TERN_REG_COMMAND_DOORBELL, driver.producer + 2, 4);
	write_register(TERN_REG_COMMAND_DOORBELL, driver.producer + 1, 4);
	CHECK_EQ(fatal_code(), TERN_FATAL_COMMAND_INDEX);
	world_destroy(world);
}

TERN_TEST(command_ring_that_is_not_there)
{
	struct driver driver;

	setup();
	driver_start(&driver, machine, 0, 0);
	host_set_pages(machine, driver.commands, 8192, HOST_PAGE_ABSENT);
	driver_command_ring(&driver);
	CHECK_EQ(read_register(TERN_REG_STATUS, 4), TERN_STATUS_READY);
	driver.producer++;
	driver_command_ring(&driver);
	host_run(machine, 64);
	CHECK_EQ(fatal_code(), TERN_FATAL_DMA);
	write_register(TERN_REG_CONTROL, TERN_CONTROL_RESET, 4);

	driver_start(&driver, machine, 0, 0);
	host_set_pages(machine, driver.completions, 4096, HOST_PAGE_READ_ONLY);
	driver_command_write(&driver, TERN_COMMAND_NOP, 1, 0, 0, NULL, 0);
	driver_command_ring(&driver);
	host_run(machine, 64);
	CHECK_EQ(fatal_code(), TERN_FATAL_DMA);
	world_destroy(world);
}

TERN_TEST(bus_master_off)
{
	struct driver driver;
	uint16_t id;

	setup();
	driver_start(&driver, machine, 0, 0);
	tern_nic_bus_master(machine->nic, 0, false);
	machine->map_calls = 0;
	machine->read_calls = 0;
	machine->write_calls = 0;
	driver_command_write(&driver, TERN_COMMAND_NOP, 1, 0, 0, NULL, 0);
	driver_command_ring(&driver);
	for (int i = 0; i < 10; i++)
		host_run(machine, 64);
	CHECK(host_prepare_sleep(machine));
	CHECK_EQ(machine->map_calls + machine->read_calls + machine->write_calls, 0);
	CHECK(!driver_command_poll(&driver, &id));
	/* It waited. */
	tern_nic_bus_master(machine->nic, 0, true);
	host_run(machine, 64);
	CHECK(driver_command_poll(&driver, &id));
	CHECK_EQ(driver.status, 0);
	world_destroy(world);
}

TERN_TEST(reset_clears_everything)
{
	struct driver driver;
	struct driver_cq cq;
	struct tern_nic_qp_info info;
	struct driver_qp qp;

	setup();
	for (int i = 0; i < 3; i++) {
		driver_start(&driver, machine, 0, 0);
		driver_cq_create(&driver, &cq, 4);
		driver_qp_create(&driver, &qp, TERN_QP_ETHERNET, 7, 0, TERN_QP_PRIVILEGED, &cq,
				 &cq, 6, 6, 6);
		driver_key_create(&driver, 0x10000, 4096, 0, 1);
		CHECK(tern_nic_next_qp(machine->nic, 0, 0, &info));
		CHECK_EQ(info.qpn, 7);
		/* With a command in flight. */
		driver_command_write(&driver, TERN_COMMAND_NOP, 1, 0, 0, NULL, 0);
		driver_command_ring(&driver);
		if (i == 1)
			host_reset(machine, 0);
		else
			write_register(TERN_REG_CONTROL, TERN_CONTROL_RESET, 4);
		machine->map_calls = 0;
		machine->read_calls = 0;
		machine->write_calls = 0;
		CHECK(!tern_nic_next_qp(machine->nic, 0, 0, &info));
		CHECK_EQ(read_register(TERN_REG_STATUS, 4), 0);
		CHECK_EQ(counter("commands"), 0);
		CHECK_EQ(counter("resets"), i + 1);
		CHECK(!host_run(machine, 64));
		CHECK_EQ(machine->deadline, TERN_NIC_NO_DEADLINE);
		CHECK_EQ(machine->map_calls + machine->read_calls + machine->write_calls, 0);
	}
	world_destroy(world);
}

TERN_TEST(functions_are_alike_and_apart)
{
	struct tern_nic_config config = host_default_config;
	struct driver drivers[3];
	struct tern_device_capabilities caps[3];

	world = world_create();
	config.functions = 3;
	machine = machine_create(world, &config, 16 << 20);
	for (unsigned int fn = 0; fn < 3; fn++) {
		struct tern_command_query query = { 0 };
		uint64_t address;

		driver_start(&drivers[fn], machine, fn, 0);
		address = host_alloc(machine, sizeof(caps[0]), 8);
		query.address = address;
		query.length = sizeof(caps[0]);
		CHECK_EQ(driver_command(&drivers[fn], TERN_COMMAND_QUERY_DEVICE, 0, &query,
					sizeof(query)), 0);
		CHECK_EQ(drivers[fn].result[0], sizeof(caps[0]));
		memcpy(&caps[fn], host_pointer(machine, address), sizeof(caps[fn]));
		CHECK(caps[fn].guid != 0);
		for (unsigned int other = 0; other < fn; other++) {
			CHECK(caps[fn].guid != caps[other].guid);
			CHECK(memcmp(caps[fn].permanent_mac, caps[other].permanent_mac, 6));
		}
	}
	CHECK_EQ(caps[0].vendor_part, TERN_PCI_DEVICE_ID_PF);
	CHECK_EQ(caps[1].vendor_part, TERN_PCI_DEVICE_ID_VF);
	/* One function's end is not another's. */
	host_write(machine, 1, TERN_BAR_REGISTERS, TERN_REG_COMMAND_DOORBELL, 99, 4);
	host_reset(machine, 0);
	CHECK_EQ(driver_command(&drivers[2], TERN_COMMAND_NOP, 0, NULL, 0), 0);
	world_destroy(world);
}
