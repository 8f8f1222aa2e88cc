// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the PCI Express function of a NIC. */
#include <stdlib.h>
#include <string.h>

#include <linux/pci_regs.h>

#include "config_space.h"
#include "pci_function.h"
#include "tern_hw_pci.h"

struct tern_pci_function {
	struct tern_config_space space;
	uint64_t bar_size[TERN_PCI_BARS];
	const struct tern_pci_device_ops *ops;
	void *device;
	struct tern_msix *msix;
	bool memory, bus_master;	/* effective: command register and power state */
	uint64_t resets;
};

static bool config_is_sane(const struct tern_pci_config *config)
{
	if (!config->vectors || config->vectors > TERN_MSIX_VECTORS_MAX)
		return false;
	for (unsigned int bar = 0; bar < TERN_PCI_BARS; bar++) {
		uint64_t size = config->bar_size[bar];

		if (!size)
			continue;
		/* A 64-bit BAR takes two slots; 16 bytes is the least that can be decoded. */
		if (bar % 2 || size < 16 || size & (size - 1))
			return false;
	}
	return config->bar_size[TERN_BAR_REGISTERS] >= TERN_BAR_REGISTERS_SIZE;
}

struct tern_pci_function *tern_pci_function_create(const struct tern_pci_config *config,
						   const struct tern_pci_device_ops *ops,
						   void *device, tern_msix_deliver_fn *deliver,
						   void *deliver_context)
{
	struct tern_pci_function *function;

	if (!config_is_sane(config))
		return NULL;
	function = calloc(1, sizeof(*function));
	if (!function)
		return NULL;
	function->msix = tern_msix_create(config->vectors, deliver, deliver_context);
	if (!function->msix) {
		free(function);
		return NULL;
	}
	memcpy(function->bar_size, config->bar_size, sizeof(function->bar_size));
	function->ops = ops;
	function->device = device;
	tern_config_space_init(&function->space, config);
	return function;
}

void tern_pci_function_destroy(struct tern_pci_function *function)
{
	if (!function)
		return;
	tern_msix_destroy(function->msix);
	free(function);
}

struct tern_msix *tern_pci_function_msix(struct tern_pci_function *function)
{
	return function->msix;
}

uint64_t tern_pci_function_bar_size(const struct tern_pci_function *function, unsigned int bar)
{
	return bar < TERN_PCI_BARS ? function->bar_size[bar] : 0;
}

uint64_t tern_pci_function_resets(const struct tern_pci_function *function)
{
	return function->resets;
}

bool tern_pci_function_bus_master(const struct tern_pci_function *function)
{
	return function->bus_master;
}

/* Derive everything that follows from config space and tell whom it concerns. */
static void apply(struct tern_pci_function *function)
{
	const struct tern_config_space *space = &function->space;
	uint16_t command = tern_config_space_word(space, PCI_COMMAND);
	uint16_t power = tern_config_space_word(space, TERN_CONFIG_PM + PCI_PM_CTRL);
	uint16_t msix = tern_config_space_word(space, TERN_CONFIG_MSIX + PCI_MSIX_FLAGS);
	/* Outside D0 a function neither answers memory requests nor makes them. */
	bool awake = !(power & PCI_PM_CTRL_STATE_MASK);
	bool bus_master = awake && command & PCI_COMMAND_MASTER;

	function->memory = awake && command & PCI_COMMAND_MEMORY;
	if (bus_master != function->bus_master) {
		function->bus_master = bus_master;
		function->ops->bus_master(function->device, bus_master);
	}
	tern_msix_control(function->msix, msix & PCI_MSIX_FLAGS_ENABLE,
			  msix & PCI_MSIX_FLAGS_MASKALL, bus_master);
}

void tern_pci_function_reset(struct tern_pci_function *function)
{
	/* The device first: it must not touch memory any more once the rest is reset. */
	function->ops->reset(function->device);
	tern_config_space_reset(&function->space);
	tern_msix_reset(function->msix);
	apply(function);
	function->resets++;
}

void tern_pci_config_read(const struct tern_pci_function *function, uint64_t offset,
			  void *buffer, size_t length)
{
	uint8_t *to = buffer;

	for (size_t i = 0; i < length; i++) {
		if (offset < TERN_PCI_CONFIG_SIZE && i < TERN_PCI_CONFIG_SIZE - offset)
			to[i] = function->space.value[offset + i];
		else
			to[i] = 0xff;
	}
}

void tern_pci_config_write(struct tern_pci_function *function, uint64_t offset,
			   const void *buffer, size_t length)
{
	const unsigned int flr_byte = TERN_CONFIG_PCIE + PCI_EXP_DEVCTL + 1;
	const uint8_t *from = buffer;
	bool flr = false;

	for (size_t i = 0; i < length; i++) {
		if (offset >= TERN_PCI_CONFIG_SIZE || i >= TERN_PCI_CONFIG_SIZE - offset)
			break;
		tern_config_space_write(&function->space, (unsigned int)(offset + i), from[i]);
		if (offset + i == flr_byte && (from[i] << 8 & PCI_EXP_DEVCTL_BCR_FLR))
			flr = true;
	}
	if (flr)
		tern_pci_function_reset(function);
	else
		apply(function);
}

/* Length of the naturally aligned access at @offset that @left bytes allow. */
static unsigned int piece(uint64_t offset, size_t left)
{
	unsigned int size = 8;

	while (size > left || offset & (size - 1))
		size /= 2;
	return size;
}

static bool within(uint64_t offset, uint64_t start, uint64_t size)
{
	return offset >= start && offset - start < size;
}

static uint64_t read_piece(struct tern_pci_function *function, unsigned int bar,
			   uint64_t offset, unsigned int size)
{
	const struct tern_msix *msix = function->msix;

	if (!function->memory || offset >= tern_pci_function_bar_size(function, bar))
		return UINT64_MAX;
	if (bar == TERN_BAR_REGISTERS) {
		if (within(offset, TERN_BAR0_MSIX_TABLE, tern_msix_table_size(msix)))
			return tern_msix_table_read(msix, offset - TERN_BAR0_MSIX_TABLE, size);
		if (within(offset, TERN_BAR0_MSIX_PBA, tern_msix_pba_size(msix)))
			return tern_msix_pba_read(msix, offset - TERN_BAR0_MSIX_PBA, size);
	}
	return function->ops->bar_read(function->device, bar, offset, size);
}

static void write_piece(struct tern_pci_function *function, unsigned int bar, uint64_t offset,
			uint64_t value, unsigned int size)
{
	struct tern_msix *msix = function->msix;

	if (!function->memory || offset >= tern_pci_function_bar_size(function, bar))
		return;
	if (bar == TERN_BAR_REGISTERS) {
		if (within(offset, TERN_BAR0_MSIX_TABLE, tern_msix_table_size(msix))) {
			tern_msix_table_write(msix, offset - TERN_BAR0_MSIX_TABLE, value, size);
			return;
		}
		if (within(offset, TERN_BAR0_MSIX_PBA, tern_msix_pba_size(msix)))
			return;
	}
	function->ops->bar_write(function->device, bar, offset, value, size);
}

void tern_pci_bar_read(struct tern_pci_function *function, unsigned int bar, uint64_t offset,
		       void *buffer, size_t length)
{
	uint8_t *to = buffer;

	while (length) {
		unsigned int size = piece(offset, length);
		uint64_t value = read_piece(function, bar, offset, size);

		for (unsigned int i = 0; i < size; i++)
			to[i] = (uint8_t)(value >> (8 * i));
		to += size;
		offset += size;
		length -= size;
	}
}

void tern_pci_bar_write(struct tern_pci_function *function, unsigned int bar, uint64_t offset,
			const void *buffer, size_t length)
{
	const uint8_t *from = buffer;

	while (length) {
		unsigned int size = piece(offset, length);
		uint64_t value = 0;

		for (unsigned int i = 0; i < size; i++)
			value |= (uint64_t)from[i] << (8 * i);
		write_piece(function, bar, offset, value, size);
		from += size;
		offset += size;
		length -= size;
	}
}
