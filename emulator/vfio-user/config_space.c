// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: config space of a NIC function: a type 0 header and its capabilities. */
#include <string.h>

#include <linux/pci_regs.h>

#include "config_space.h"
#include "tern_hw_pci.h"

#define DEVCAP_PAYLOAD_256	1	/* 128 << 1 */

/* Values are little endian in config space, whatever the host is. */
static void put(uint8_t *where, unsigned int bytes, uint64_t value)
{
	for (unsigned int i = 0; i < bytes; i++)
		where[i] = (uint8_t)(value >> (8 * i));
}

static void set8(struct tern_config_space *space, unsigned int offset, uint8_t value)
{
	put(space->reset_value + offset, 1, value);
}

static void set16(struct tern_config_space *space, unsigned int offset, uint16_t value)
{
	put(space->reset_value + offset, 2, value);
}

static void set32(struct tern_config_space *space, unsigned int offset, uint32_t value)
{
	put(space->reset_value + offset, 4, value);
}

static void writable16(struct tern_config_space *space, unsigned int offset, uint16_t mask)
{
	put(space->writable + offset, 2, mask);
}

static void writable32(struct tern_config_space *space, unsigned int offset, uint32_t mask)
{
	put(space->writable + offset, 4, mask);
}

static void init_header(struct tern_config_space *space, const struct tern_pci_config *config)
{
	set16(space, PCI_VENDOR_ID, TERN_PCI_VENDOR_ID);
	set16(space, PCI_DEVICE_ID, config->device_id);
	writable16(space, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
		   PCI_COMMAND_PARITY | PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	set16(space, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put(space->write_one_clears + PCI_STATUS, 2,
	    PCI_STATUS_PARITY | PCI_STATUS_SIG_TARGET_ABORT | PCI_STATUS_REC_TARGET_ABORT |
	    PCI_STATUS_REC_MASTER_ABORT | PCI_STATUS_SIG_SYSTEM_ERROR |
	    PCI_STATUS_DETECTED_PARITY);
	put(space->reset_value + PCI_CLASS_PROG, 3, TERN_PCI_CLASS);
	space->writable[PCI_CACHE_LINE_SIZE] = 0xff;
	set16(space, PCI_SUBSYSTEM_VENDOR_ID, TERN_PCI_SUBSYSTEM_VENDOR_ID);
	set16(space, PCI_SUBSYSTEM_ID, TERN_PCI_SUBSYSTEM_ID);
	set8(space, PCI_CAPABILITY_LIST, TERN_CONFIG_PM);
	/* No INTx: the pin stays 0. The line register is the system's scratch byte. */
	space->writable[PCI_INTERRUPT_LINE] = 0xff;
}

static void init_bars(struct tern_config_space *space, const struct tern_pci_config *config)
{
	for (unsigned int bar = 0; bar < TERN_PCI_BARS; bar += 2) {
		unsigned int offset = PCI_BASE_ADDRESS_0 + 4 * bar;
		uint64_t size = config->bar_size[bar];
		uint32_t type = PCI_BASE_ADDRESS_MEM_TYPE_64;

		if (!size)
			continue;
		if (bar != TERN_BAR_REGISTERS)
			type |= PCI_BASE_ADDRESS_MEM_PREFETCH;
		set32(space, offset, type);
		writable32(space, offset,
			   (uint32_t)~(size - 1) & (uint32_t)PCI_BASE_ADDRESS_MEM_MASK);
		writable32(space, offset + 4, (uint32_t)(~(size - 1) >> 32));
	}
}

static void init_power(struct tern_config_space *space)
{
	set8(space, TERN_CONFIG_PM, PCI_CAP_ID_PM);
	set8(space, TERN_CONFIG_PM + 1, TERN_CONFIG_MSIX);
	set16(space, TERN_CONFIG_PM + PCI_PM_PMC, 3);	/* version of the specification */
	set16(space, TERN_CONFIG_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
	writable16(space, TERN_CONFIG_PM + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
}

static void init_msix(struct tern_config_space *space, const struct tern_pci_config *config)
{
	set8(space, TERN_CONFIG_MSIX, PCI_CAP_ID_MSIX);
	set8(space, TERN_CONFIG_MSIX + 1, TERN_CONFIG_PCIE);
	set16(space, TERN_CONFIG_MSIX + PCI_MSIX_FLAGS, (uint16_t)(config->vectors - 1));
	writable16(space, TERN_CONFIG_MSIX + PCI_MSIX_FLAGS,
		   PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	set32(space, TERN_CONFIG_MSIX + PCI_MSIX_TABLE,
	      TERN_BAR0_MSIX_TABLE | TERN_BAR_REGISTERS);
	set32(space, TERN_CONFIG_MSIX + PCI_MSIX_PBA, TERN_BAR0_MSIX_PBA | TERN_BAR_REGISTERS);
}

static void init_express(struct tern_config_space *space)
{
	unsigned int cap = TERN_CONFIG_PCIE;

	set8(space, cap, PCI_CAP_ID_EXP);
	set8(space, cap + 1, 0);
	set16(space, cap + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	set32(space, cap + PCI_EXP_DEVCAP, DEVCAP_PAYLOAD_256 | PCI_EXP_DEVCAP_EXT_TAG |
	      PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR);
	set16(space, cap + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN |
	      PCI_EXP_DEVCTL_READRQ_512B);
	/* Initiate FLR is written, but always reads 0: pci_function.c acts on it. */
	writable16(space, cap + PCI_EXP_DEVCTL, 0x7fff & ~(PCI_EXP_DEVCTL_PHANTOM |
							   PCI_EXP_DEVCTL_AUX_PME));
	put(space->write_one_clears + cap + PCI_EXP_DEVSTA, 2, PCI_EXP_DEVSTA_CED |
	    PCI_EXP_DEVSTA_NFED | PCI_EXP_DEVSTA_FED | PCI_EXP_DEVSTA_URD);
	set32(space, cap + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_16_0GB | 16 << 4);
	writable16(space, cap + PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
	set16(space, cap + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_16_0GB | 16 << 4 |
	      PCI_EXP_LNKSTA_SLC);
	set32(space, cap + PCI_EXP_DEVCAP2, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
	writable16(space, cap + PCI_EXP_DEVCTL2, PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
	set32(space, cap + PCI_EXP_LNKCAP2, PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
	      PCI_EXP_LNKCAP2_SLS_8_0GB | PCI_EXP_LNKCAP2_SLS_16_0GB);
	set16(space, cap + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS_16_0GT);
	writable16(space, cap + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS);
}

/*
 * Advanced error reporting: masks and severities work, errors are never
 * logged, since vfio-user has no way to carry the message to a root port.
 */
static void init_error_reporting(struct tern_config_space *space)
{
	uint32_t uncorrectable = PCI_ERR_UNC_DLP | PCI_ERR_UNC_SURPDN | PCI_ERR_UNC_POISON_TLP |
		PCI_ERR_UNC_FCP | PCI_ERR_UNC_COMP_TIME | PCI_ERR_UNC_COMP_ABORT |
		PCI_ERR_UNC_UNX_COMP | PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP |
		PCI_ERR_UNC_ECRC | PCI_ERR_UNC_UNSUP | PCI_ERR_UNC_INTN;
	uint32_t severe = PCI_ERR_UNC_DLP | PCI_ERR_UNC_SURPDN | PCI_ERR_UNC_FCP |
		PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_INTN;
	uint32_t correctable = PCI_ERR_COR_RCVR | PCI_ERR_COR_BAD_TLP | PCI_ERR_COR_BAD_DLLP |
		PCI_ERR_COR_REP_ROLL | PCI_ERR_COR_REP_TIMER | PCI_ERR_COR_ADV_NFAT |
		PCI_ERR_COR_INTERNAL;
	unsigned int cap = TERN_CONFIG_AER;

	set32(space, cap, PCI_EXT_CAP_ID_ERR | 2 << 16 | (uint32_t)TERN_CONFIG_SERIAL << 20);
	put(space->write_one_clears + cap + PCI_ERR_UNCOR_STATUS, 4, uncorrectable);
	set32(space, cap + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_INTN);
	writable32(space, cap + PCI_ERR_UNCOR_MASK, uncorrectable);
	set32(space, cap + PCI_ERR_UNCOR_SEVER, severe);
	writable32(space, cap + PCI_ERR_UNCOR_SEVER, uncorrectable);
	put(space->write_one_clears + cap + PCI_ERR_COR_STATUS, 4, correctable);
	set32(space, cap + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT | PCI_ERR_COR_INTERNAL);
	writable32(space, cap + PCI_ERR_COR_MASK, correctable);
}

static void init_serial(struct tern_config_space *space, uint64_t serial)
{
	set32(space, TERN_CONFIG_SERIAL, PCI_EXT_CAP_ID_DSN | 1 << 16);
	put(space->reset_value + TERN_CONFIG_SERIAL + 4, 8, serial);
}

void tern_config_space_init(struct tern_config_space *space,
			    const struct tern_pci_config *config)
{
	memset(space, 0, sizeof(*space));
	init_header(space, config);
	init_bars(space, config);
	init_power(space);
	init_msix(space, config);
	init_express(space);
	init_error_reporting(space);
	init_serial(space, config->serial);
	tern_config_space_reset(space);
}

void tern_config_space_reset(struct tern_config_space *space)
{
	memcpy(space->value, space->reset_value, sizeof(space->value));
}

void tern_config_space_write(struct tern_config_space *space, unsigned int offset, uint8_t value)
{
	uint8_t writable = space->writable[offset];
	uint8_t *byte = &space->value[offset];

	*byte = (uint8_t)((*byte & ~writable) | (value & writable));
	*byte &= (uint8_t)~(value & space->write_one_clears[offset]);
}

uint16_t tern_config_space_word(const struct tern_config_space *space, unsigned int offset)
{
	return (uint16_t)(space->value[offset] | space->value[offset + 1] << 8);
}
