/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the bytes of a function's config space, and who may change them.
 * What a write causes is pci_function.c's business.
 */
#ifndef TERN_CONFIG_SPACE_H
#define TERN_CONFIG_SPACE_H

#include <stdint.h>

#include "pci_function.h"

/* Where the capabilities stand. */
#define TERN_CONFIG_PM		0x40
#define TERN_CONFIG_MSIX	0x50
#define TERN_CONFIG_PCIE	0x60
#define TERN_CONFIG_AER		0x100
#define TERN_CONFIG_SERIAL	0x150

struct tern_config_space {
	uint8_t value[TERN_PCI_CONFIG_SIZE];
	uint8_t reset_value[TERN_PCI_CONFIG_SIZE];
	uint8_t writable[TERN_PCI_CONFIG_SIZE];
	uint8_t write_one_clears[TERN_PCI_CONFIG_SIZE];
};

void tern_config_space_init(struct tern_config_space *space,
			    const struct tern_pci_config *config);
void tern_config_space_reset(struct tern_config_space *space);
void tern_config_space_write(struct tern_config_space *space, unsigned int offset,
			     uint8_t value);
uint16_t tern_config_space_word(const struct tern_config_space *space, unsigned int offset);

#endif /* TERN_CONFIG_SPACE_H */
