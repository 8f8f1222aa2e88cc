/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the PCI Express function of a NIC: config space, BAR decoding,
 * MSI-X, function level reset. It knows no socket and no QEMU: a front end
 * carries the accesses.
 */
#ifndef TERN_PCI_FUNCTION_H
#define TERN_PCI_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msix.h"

#define TERN_PCI_CONFIG_SIZE	4096
#define TERN_PCI_BARS		6

struct tern_pci_function;

/* The device behind the function. @device is what the creator gave. */
struct tern_pci_device_ops {
	/* Naturally aligned, inside the BAR, outside MSI-X table and PBA; @size 1, 2, 4 or 8. */
	uint64_t (*bar_read)(void *device, unsigned int bar, uint64_t offset, unsigned int size);
	void (*bar_write)(void *device, unsigned int bar, uint64_t offset, uint64_t value,
			  unsigned int size);
	/* Called when the effective state changes. */
	void (*bus_master)(void *device, bool enabled);
	/* Returns after the last memory access. */
	void (*reset)(void *device);
};

struct tern_pci_config {
	uint16_t device_id;
	unsigned int vectors;			/* 1..TERN_MSIX_VECTORS_MAX */
	uint64_t bar_size[TERN_PCI_BARS];	/* powers of two; 0: absent. Even BARs, 64 bit */
	uint64_t serial;			/* device serial number capability, an EUI-64 */
};

/* NULL without memory or when @config makes no sense. */
struct tern_pci_function *tern_pci_function_create(const struct tern_pci_config *config,
						   const struct tern_pci_device_ops *ops,
						   void *device, tern_msix_deliver_fn *deliver,
						   void *deliver_context);
void tern_pci_function_destroy(struct tern_pci_function *function);

struct tern_msix *tern_pci_function_msix(struct tern_pci_function *function);
uint64_t tern_pci_function_bar_size(const struct tern_pci_function *function, unsigned int bar);

/* What is outside config space reads as ones and ignores writes. */
void tern_pci_config_read(const struct tern_pci_function *function, uint64_t offset,
			  void *buffer, size_t length);
void tern_pci_config_write(struct tern_pci_function *function, uint64_t offset,
			   const void *buffer, size_t length);

/*
 * What is outside the BAR, or comes while memory space is disabled, reads as
 * ones and ignores writes. Any length and alignment: it is split into
 * naturally aligned accesses of at most 8 bytes, in ascending order.
 */
void tern_pci_bar_read(struct tern_pci_function *function, unsigned int bar, uint64_t offset,
		       void *buffer, size_t length);
void tern_pci_bar_write(struct tern_pci_function *function, unsigned int bar, uint64_t offset,
			const void *buffer, size_t length);

/* Function level reset, from whatever cause. */
void tern_pci_function_reset(struct tern_pci_function *function);

/* How often the function has been reset since it was made. */
uint64_t tern_pci_function_resets(const struct tern_pci_function *function);

/* May it access memory? */
bool tern_pci_function_bus_master(const struct tern_pci_function *function);

#endif /* TERN_PCI_FUNCTION_H */
