// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: config space, BAR decoding and reset of the PCI function. */
#include <linux/pci_regs.h>

#include "pci_function.h"
#include "tern_hw_pci.h"
#include "tern_test.h"

#define VECTORS	33

/* A device that remembers what it was asked. */
static struct {
	unsigned int resets, masters, reads, writes, size, bar;
	bool master;
	uint64_t offset, value;
	char order[32];
} device;

static void note(char what)
{
	size_t length = strlen(device.order);

	if (length + 1 < sizeof(device.order))
		device.order[length] = what;
}

static uint64_t bar_read(void *context, unsigned int bar, uint64_t offset, unsigned int size)
{
	CHECK(context == &device);
	CHECK(offset % size == 0);
	device.reads++;
	device.bar = bar;
	device.offset = offset;
	device.size = size;
	return 0x8877665544332211 + offset;
}

static void bar_write(void *context, unsigned int bar, uint64_t offset, uint64_t value,
		      unsigned int size)
{
	CHECK(context == &device);
	CHECK(offset % size == 0);
	device.writes++;
	device.bar = bar;
	device.offset = offset;
	device.size = size;
	device.value = value;
}

static void bus_master(void *context, bool enabled)
{
	CHECK(context == &device);
	device.masters++;
	device.master = enabled;
	note(enabled ? 'M' : 'm');
}

static void reset(void *context)
{
	CHECK(context == &device);
	device.resets++;
	note('R');
}

static const struct tern_pci_device_ops ops = { bar_read, bar_write, bus_master, reset };

static const struct tern_pci_config config = {
	.device_id = TERN_PCI_DEVICE_ID_PF,
	.vectors = VECTORS,
	.bar_size = { TERN_BAR_REGISTERS_SIZE, 0, TERN_BAR_DOORBELLS_SIZE },
	.serial = 0x027e10fffe000001,
};

static unsigned int delivered[VECTORS];

static void deliver(void *context, unsigned int vector)
{
	(void)context;
	delivered[vector]++;
}

static struct tern_pci_function *create(void)
{
	struct tern_pci_function *function = tern_pci_function_create(&config, &ops, &device,
								      deliver, NULL);

	CHECK(function);
	return function;
}

static uint32_t get(struct tern_pci_function *function, unsigned int offset, unsigned int size)
{
	uint8_t bytes[4] = { 0 };
	uint32_t value = 0;

	tern_pci_config_read(function, offset, bytes, size);
	for (unsigned int i = 0; i < size; i++)
		value |= (uint32_t)bytes[i] << (8 * i);
	return value;
}

static void set(struct tern_pci_function *function, unsigned int offset, uint32_t value,
		unsigned int size)
{
	uint8_t bytes[4];

	for (unsigned int i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	tern_pci_config_write(function, offset, bytes, size);
}

static unsigned int find_cap(struct tern_pci_function *function, uint8_t id)
{
	unsigned int at = get(function, PCI_CAPABILITY_LIST, 1);

	/* At most 48 capabilities fit: a longer walk is a loop. */
	for (int i = 0; at && i < 48; i++) {
		CHECK(at >= 0x40 && at % 4 == 0);
		if (get(function, at, 1) == id)
			return at;
		at = get(function, at + 1, 1);
	}
	return 0;
}

static unsigned int find_ext_cap(struct tern_pci_function *function, uint16_t id)
{
	unsigned int at = 0x100;

	for (int i = 0; at && i < 480; i++) {
		uint32_t header = get(function, at, 4);

		CHECK(at >= 0x100 && at % 4 == 0);
		if (PCI_EXT_CAP_ID(header) == id)
			return at;
		at = PCI_EXT_CAP_NEXT(header);
	}
	return 0;
}

TERN_TEST(identity)
{
	struct tern_pci_function *f = create();

	CHECK_EQ(get(f, PCI_VENDOR_ID, 2), 0x1234);
	CHECK_EQ(get(f, PCI_DEVICE_ID, 2), 0x10ce);
	CHECK_EQ(get(f, PCI_CLASS_PROG, 1) | get(f, PCI_CLASS_DEVICE, 2) << 8, 0x020000);
	CHECK_EQ(get(f, PCI_HEADER_TYPE, 1), PCI_HEADER_TYPE_NORMAL);
	CHECK_EQ(get(f, PCI_INTERRUPT_PIN, 1), 0);
	CHECK_EQ(get(f, PCI_ROM_ADDRESS, 4), 0);
	CHECK(get(f, PCI_STATUS, 2) & PCI_STATUS_CAP_LIST);
	/* Identity cannot be written. */
	set(f, PCI_VENDOR_ID, 0xffffffff, 4);
	set(f, PCI_SUBSYSTEM_VENDOR_ID, 0, 4);
	CHECK_EQ(get(f, PCI_VENDOR_ID, 4), 0x10ce1234);
	CHECK_EQ(get(f, PCI_SUBSYSTEM_VENDOR_ID, 4), 0x00011234);
	tern_pci_function_destroy(f);
}

TERN_TEST(capabilities)
{
	struct tern_pci_function *f = create();
	unsigned int msix = find_cap(f, PCI_CAP_ID_MSIX), exp = find_cap(f, PCI_CAP_ID_EXP);
	unsigned int serial = find_ext_cap(f, PCI_EXT_CAP_ID_DSN);

	CHECK(find_cap(f, PCI_CAP_ID_PM));
	CHECK(msix);
	CHECK_EQ(get(f, msix + PCI_MSIX_FLAGS, 2), VECTORS - 1);
	CHECK_EQ(get(f, msix + PCI_MSIX_TABLE, 4), TERN_BAR0_MSIX_TABLE);
	CHECK_EQ(get(f, msix + PCI_MSIX_PBA, 4), TERN_BAR0_MSIX_PBA);
	CHECK(exp);
	CHECK_EQ(get(f, exp + PCI_EXP_FLAGS, 2), 2);
	CHECK(get(f, exp + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	CHECK(find_ext_cap(f, PCI_EXT_CAP_ID_ERR));
	CHECK(serial);
	CHECK_EQ(get(f, serial + 4, 4), 0xfe000001);
	CHECK_EQ(get(f, serial + 8, 4), 0x027e10ff);
	CHECK_EQ(find_ext_cap(f, PCI_EXT_CAP_ID_SRIOV), 0);
	tern_pci_function_destroy(f);
}

TERN_TEST(bar_sizing)
{
	struct tern_pci_function *f = create();
	uint64_t size;

	for (unsigned int bar = 0; bar < 6; bar++)
		set(f, PCI_BASE_ADDRESS_0 + 4 * bar, 0xffffffff, 4);
	CHECK_EQ(get(f, PCI_BASE_ADDRESS_0, 4) & 0xf, 0x4);
	CHECK_EQ(get(f, PCI_BASE_ADDRESS_2, 4) & 0xf, 0xc);
	size = get(f, PCI_BASE_ADDRESS_0, 4) & ~0xfu;
	size |= (uint64_t)get(f, PCI_BASE_ADDRESS_1, 4) << 32;
	CHECK_EQ(~size + 1, TERN_BAR_REGISTERS_SIZE);
	size = get(f, PCI_BASE_ADDRESS_2, 4) & ~0xfu;
	size |= (uint64_t)get(f, PCI_BASE_ADDRESS_3, 4) << 32;
	CHECK_EQ(~size + 1, TERN_BAR_DOORBELLS_SIZE);
	CHECK_EQ(get(f, PCI_BASE_ADDRESS_4, 4), 0);
	CHECK_EQ(get(f, PCI_BASE_ADDRESS_5, 4), 0);
	set(f, PCI_BASE_ADDRESS_0, 0xfebc1234, 4);
	CHECK_EQ(get(f, PCI_BASE_ADDRESS_0, 4), 0xfebc0004);
	tern_pci_function_destroy(f);
}

TERN_TEST(bad_shapes_are_refused)
{
	struct tern_pci_config bad = config;

	bad.vectors = 0;
	CHECK(!tern_pci_function_create(&bad, &ops, &device, deliver, NULL));
	bad.vectors = TERN_MSIX_VECTORS_MAX + 1;
	CHECK(!tern_pci_function_create(&bad, &ops, &device, deliver, NULL));
	bad = config;
	bad.bar_size[1] = 4096;
	CHECK(!tern_pci_function_create(&bad, &ops, &device, deliver, NULL));
	bad = config;
	bad.bar_size[2] = 12288;
	CHECK(!tern_pci_function_create(&bad, &ops, &device, deliver, NULL));
	bad = config;
	bad.bar_size[0] = 4096;
	CHECK(!tern_pci_function_create(&bad, &ops, &device, deliver, NULL));
}

TERN_TEST(command_register)
{
	struct tern_pci_function *f = create();

	set(f, PCI_COMMAND, 0xffff, 2);
	CHECK_EQ(get(f, PCI_COMMAND, 2), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
		 PCI_COMMAND_PARITY | PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	CHECK_EQ(device.masters, 1);
	CHECK(device.master);
	/* The same again tells nobody. */
	set(f, PCI_COMMAND, 0xffff, 2);
	CHECK_EQ(device.masters, 1);
	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
	CHECK_EQ(device.masters, 2);
	CHECK(!device.master);
	tern_pci_function_destroy(f);
}

TERN_TEST(power_state_stops_bus_mastering_and_memory)
{
	struct tern_pci_function *f = create();
	unsigned int pm = find_cap(f, PCI_CAP_ID_PM);
	uint32_t value;

	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	CHECK(device.master);
	CHECK(tern_pci_function_bus_master(f));
	set(f, pm + PCI_PM_CTRL, 3, 2);
	CHECK(!device.master);
	CHECK(!tern_pci_function_bus_master(f));
	tern_pci_bar_read(f, 0, 0, &value, 4);
	CHECK_EQ(value, UINT32_MAX);
	CHECK_EQ(device.reads, 0);
	set(f, pm + PCI_PM_CTRL, 0, 2);
	CHECK(device.master);
	CHECK_EQ(device.resets, 0);
	tern_pci_function_destroy(f);
}

TERN_TEST(memory_space_gates_bars)
{
	struct tern_pci_function *f = create();
	uint32_t value = 0;

	tern_pci_bar_read(f, 0, 8, &value, 4);
	CHECK_EQ(value, UINT32_MAX);
	tern_pci_bar_write(f, 0, 8, &value, 4);
	CHECK_EQ(device.reads + device.writes, 0);
	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
	tern_pci_bar_read(f, 0, 8, &value, 4);
	CHECK_EQ(value, 0x44332219);
	value = 0xcafe;
	tern_pci_bar_write(f, 2, 0x1000, &value, 4);
	CHECK_EQ(device.writes, 1);
	CHECK_EQ(device.bar, 2);
	CHECK_EQ(device.offset, 0x1000);
	CHECK_EQ(device.value, 0xcafe);
	CHECK_EQ(device.size, 4);
	tern_pci_function_destroy(f);
}

TERN_TEST(accesses_are_split_naturally)
{
	struct tern_pci_function *f = create();
	uint8_t bytes[23];

	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
	/* 1 + 2 + 4 + 8 + 8 from an odd address. */
	tern_pci_bar_read(f, 0, 0x101, bytes, sizeof(bytes));
	CHECK_EQ(device.reads, 5);
	CHECK_EQ(device.offset, 0x110);
	CHECK_EQ(device.size, 8);
	memset(bytes, 0x5a, sizeof(bytes));
	tern_pci_bar_write(f, 0, 0x101, bytes, sizeof(bytes));
	CHECK_EQ(device.writes, 5);
	CHECK_EQ(device.value, 0x5a5a5a5a5a5a5a5a);
	tern_pci_function_destroy(f);
}

TERN_TEST(outside_of_everything_reads_ones)
{
	struct tern_pci_function *f = create();
	uint64_t value = 0;

	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
	tern_pci_bar_read(f, 0, TERN_BAR_REGISTERS_SIZE, &value, 8);
	CHECK(value == UINT64_MAX);
	value = 0;
	tern_pci_bar_read(f, 1, 0, &value, 8);
	CHECK(value == UINT64_MAX);
	value = 0;
	tern_pci_bar_read(f, 4, 0, &value, 8);
	CHECK(value == UINT64_MAX);
	value = 0;
	tern_pci_bar_read(f, 77, UINT64_MAX - 7, &value, 8);
	CHECK(value == UINT64_MAX);
	tern_pci_bar_write(f, 0, UINT64_MAX - 7, &value, 8);
	value = 0;
	tern_pci_config_read(f, TERN_PCI_CONFIG_SIZE - 4, &value, 8);
	CHECK_EQ(value, 0xffffffff00000000);
	value = 0;
	tern_pci_config_read(f, UINT64_MAX - 3, &value, 8);
	CHECK(value == UINT64_MAX);
	tern_pci_config_write(f, UINT64_MAX - 3, &value, 8);
	tern_pci_config_write(f, TERN_PCI_CONFIG_SIZE - 4, &value, 8);
	CHECK_EQ(device.reads + device.writes, 0);
	tern_pci_function_destroy(f);
}

TERN_TEST(msix_table_and_pba_are_served_here)
{
	struct tern_pci_function *f = create();
	unsigned int msix = find_cap(f, PCI_CAP_ID_MSIX);
	uint64_t value = 0;

	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	set(f, msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL, 2);
	CHECK_EQ(get(f, msix + PCI_MSIX_FLAGS, 2), 0xc000 | (VECTORS - 1));
	tern_msix_connect(tern_pci_function_msix(f), 32, true);
	tern_msix_raise(tern_pci_function_msix(f), 32);
	tern_pci_bar_read(f, 0, TERN_BAR0_MSIX_PBA, &value, 8);
	CHECK_EQ(value, 1ULL << 32);
	/* The PBA cannot be written. */
	value = 0;
	tern_pci_bar_write(f, 0, TERN_BAR0_MSIX_PBA, &value, 8);
	tern_pci_bar_read(f, 0, TERN_BAR0_MSIX_PBA, &value, 8);
	CHECK_EQ(value, 1ULL << 32);
	set(f, msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE, 2);
	CHECK_EQ(delivered[32], 1);
	tern_pci_bar_read(f, 0, TERN_BAR0_MSIX_TABLE + 32 * 16 + 8, &value, 8);
	CHECK_EQ(value, 1ULL << 32);
	CHECK_EQ(device.reads, 0);
	/* Behind the last entry the device answers again. */
	tern_pci_bar_read(f, 0, TERN_BAR0_MSIX_TABLE + VECTORS * 16, &value, 8);
	CHECK_EQ(device.reads, 1);
	tern_pci_function_destroy(f);
}

static void check_power_on(struct tern_pci_function *f)
{
	unsigned int msix = find_cap(f, PCI_CAP_ID_MSIX);

	CHECK_EQ(get(f, PCI_COMMAND, 2), 0);
	CHECK_EQ(get(f, PCI_BASE_ADDRESS_0, 4), 4);
	CHECK_EQ(get(f, msix + PCI_MSIX_FLAGS, 2), VECTORS - 1);
	CHECK(!device.master);
}

TERN_TEST(function_level_reset)
{
	struct tern_pci_function *f = create();
	unsigned int msix = find_cap(f, PCI_CAP_ID_MSIX), exp = find_cap(f, PCI_CAP_ID_EXP);

	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	set(f, PCI_BASE_ADDRESS_0, 0xfebc0000, 4);
	set(f, msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE, 2);
	set(f, exp + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_CERE, 2);
	CHECK_EQ(device.resets, 0);
	set(f, exp + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR | 0x2810, 2);
	CHECK_EQ(device.resets, 1);
	CHECK_EQ(tern_pci_function_resets(f), 1);
	CHECK_EQ(get(f, exp + PCI_EXP_DEVCTL, 2), 0x2810);
	check_power_on(f);
	/* Reset stops the device before anything else is told. */
	CHECK_STR(device.order, "MRm");
	/* A double word write reaches the bit as well. */
	set(f, exp + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR, 4);
	CHECK_EQ(device.resets, 2);
	/* And a byte of another register does not. */
	set(f, exp + PCI_EXP_DEVSTA, 0xff, 1);
	CHECK_EQ(device.resets, 2);
	tern_pci_function_destroy(f);
}

TERN_TEST(reset_by_the_front_end)
{
	struct tern_pci_function *f = create();

	set(f, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	tern_pci_function_reset(f);
	CHECK_EQ(device.resets, 1);
	check_power_on(f);
	tern_pci_function_destroy(f);
}

TERN_TEST(every_byte_of_config_space_takes_any_write)
{
	struct tern_pci_function *f = create();

	for (unsigned int offset = 0; offset < TERN_PCI_CONFIG_SIZE; offset++) {
		set(f, offset, 0xff, 1);
		set(f, offset, 0x00, 1);
	}
	CHECK_EQ(get(f, PCI_VENDOR_ID, 2), 0x1234);
	CHECK(find_cap(f, PCI_CAP_ID_EXP));
	CHECK(find_ext_cap(f, PCI_EXT_CAP_ID_DSN));
	tern_pci_function_destroy(f);
}
