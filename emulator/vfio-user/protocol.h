/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the messages of the vfio-user protocol, version 0.1
 * (docs/interop/vfio-user.rst of QEMU). All in host byte order.
 */
#ifndef TERN_VFIO_USER_PROTOCOL_H
#define TERN_VFIO_USER_PROTOCOL_H

#include <assert.h>
#include <stdint.h>

enum vfio_user_command {
	VFIO_USER_VERSION = 1,
	VFIO_USER_DMA_MAP = 2,
	VFIO_USER_DMA_UNMAP = 3,
	VFIO_USER_DEVICE_GET_INFO = 4,
	VFIO_USER_DEVICE_GET_REGION_INFO = 5,
	VFIO_USER_DEVICE_GET_REGION_IO_FDS = 6,
	VFIO_USER_DEVICE_GET_IRQ_INFO = 7,
	VFIO_USER_DEVICE_SET_IRQS = 8,
	VFIO_USER_REGION_READ = 9,
	VFIO_USER_REGION_WRITE = 10,
	VFIO_USER_DMA_READ = 11,
	VFIO_USER_DMA_WRITE = 12,
	VFIO_USER_DEVICE_RESET = 13,
	VFIO_USER_REGION_WRITE_MULTI = 15,
	VFIO_USER_DEVICE_FEATURE = 16,
	VFIO_USER_MIG_DATA_READ = 17,
	VFIO_USER_MIG_DATA_WRITE = 18,
};

#define VFIO_USER_TYPE_MASK	0xfu
#define VFIO_USER_TYPE_COMMAND	0u
#define VFIO_USER_TYPE_REPLY	1u
#define VFIO_USER_NO_REPLY	0x10u
#define VFIO_USER_ERROR		0x20u

#define VFIO_USER_MAJOR		0
#define VFIO_USER_MINOR		1

struct vfio_user_header {
	uint16_t id;
	uint16_t command;
	uint32_t size;			/* with this header */
	uint32_t flags;
	uint32_t error;
};

static_assert(sizeof(struct vfio_user_header) == 16, "vfio_user_header");

struct vfio_user_version {
	uint16_t major;
	uint16_t minor;
	/* JSON text with a terminating NUL follows */
};

static_assert(sizeof(struct vfio_user_version) == 4, "vfio_user_version");

#define VFIO_USER_DMA_READABLE	1u
#define VFIO_USER_DMA_WRITABLE	2u

struct vfio_user_dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

static_assert(sizeof(struct vfio_user_dma_map) == 32, "vfio_user_dma_map");

#define VFIO_USER_DMA_UNMAP_ALL	2u

struct vfio_user_dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
};

static_assert(sizeof(struct vfio_user_dma_unmap) == 24, "vfio_user_dma_unmap");

struct vfio_user_device_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t num_regions;
	uint32_t num_irqs;
};

static_assert(sizeof(struct vfio_user_device_info) == 16, "vfio_user_device_info");

struct vfio_user_region_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t cap_offset;
	uint64_t size;
	uint64_t offset;
};

static_assert(sizeof(struct vfio_user_region_info) == 32, "vfio_user_region_info");

struct vfio_user_irq_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t count;
};

static_assert(sizeof(struct vfio_user_irq_info) == 16, "vfio_user_irq_info");

struct vfio_user_irq_set {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t start;
	uint32_t count;
	/* booleans may follow, a byte each */
};

static_assert(sizeof(struct vfio_user_irq_set) == 20, "vfio_user_irq_set");

struct vfio_user_region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	/* data follows */
};

static_assert(sizeof(struct vfio_user_region_access) == 16, "vfio_user_region_access");

struct vfio_user_write_multi {
	uint64_t count;
	/* struct vfio_user_write_one follow */
};

static_assert(sizeof(struct vfio_user_write_multi) == 8, "vfio_user_write_multi");

struct vfio_user_write_one {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	uint8_t data[8];
};

static_assert(sizeof(struct vfio_user_write_one) == 24, "vfio_user_write_one");

#endif /* TERN_VFIO_USER_PROTOCOL_H */
