/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern hardware contract: PCI identity and the layout of the BARs. */
#ifndef TERN_HW_PCI_H
#define TERN_HW_PCI_H

#include "tern_hw_types.h"

#define TERN_PCI_VENDOR_ID		0x1234
#define TERN_PCI_DEVICE_ID_PF		0x10ce
#define TERN_PCI_DEVICE_ID_VF		0x10cf
#define TERN_PCI_SUBSYSTEM_VENDOR_ID	0x1234
#define TERN_PCI_SUBSYSTEM_ID		0x0001
#define TERN_PCI_CLASS			0x020000	/* Ethernet controller */

/* Three 64-bit, memory BARs; 2 and 4 prefetchable. BAR 4 is absent without device memory. */
#define TERN_BAR_REGISTERS		0
#define TERN_BAR_DOORBELLS		2
#define TERN_BAR_DEVICE_MEMORY		4

#define TERN_BAR_REGISTERS_SIZE		0x40000
#define TERN_BAR_DOORBELLS_SIZE		0x1000000

/* Parts of BAR 0. The clock page is apart, to be mapped alone with pages up to 64 KiB. */
#define TERN_BAR0_REGISTERS		0x00000
#define TERN_BAR0_CLOCK			0x10000
#define TERN_BAR0_MSIX_TABLE		0x20000
#define TERN_BAR0_MSIX_PBA		0x30000

#define TERN_MSIX_VECTORS_MAX		2048

#endif /* TERN_HW_PCI_H */
