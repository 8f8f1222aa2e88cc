/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the guest memory that a vfio-user client shared: IOVA ranges, mapped
 * from the client's descriptors.
 *
 * A range that came without a descriptor (ROM, another device's BAR) is known
 * but cannot be reached: every access to it fails, so DMA aimed at a BAR, the
 * device's own too, is inert. The protocol's DMA_READ and DMA_WRITE messages
 * are not used: the client serves them under the lock that a vCPU holds while
 * it waits for our register reply.
 */
#ifndef TERN_DMA_MAP_H
#define TERN_DMA_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERN_DMA_RANGES_MAX	16384

struct tern_dma_map;

struct tern_dma_map *tern_dma_map_create(void);
void tern_dma_map_destroy(struct tern_dma_map *map);

/*
 * Add a range. @fd -1: it cannot be reached; else the descriptor is mapped
 * (the caller still closes it). 0 or a negative errno: -EEXIST for an
 * overlap, -EINVAL for what is not page aligned, wraps or lies outside the
 * file, -EACCES for a descriptor that is no shared memory, -ENOSPC.
 */
int tern_dma_map_add(struct tern_dma_map *map, uint64_t iova, uint64_t size, int fd,
		     uint64_t offset, bool readable, bool writable);

/*
 * Remove all ranges inside [iova, iova + size). -ENOENT when there is none;
 * -EINVAL, with nothing removed, when one lies only partly inside. The caller
 * has made sure that nobody uses them.
 */
int tern_dma_map_remove(struct tern_dma_map *map, uint64_t iova, uint64_t size);
void tern_dma_map_remove_all(struct tern_dma_map *map);

unsigned int tern_dma_map_ranges(const struct tern_dma_map *map);

/* Address of @iova; *length is cut to what is contiguous. NULL when it can't be reached so. */
void *tern_dma_map_translate(struct tern_dma_map *map, uint64_t iova, size_t *length,
			     bool write);

/* Copy from and to guest memory: 0, or -EFAULT, after which some bytes may have been copied. */
int tern_dma_map_read(struct tern_dma_map *map, uint64_t iova, void *buffer, size_t length);
int tern_dma_map_write(struct tern_dma_map *map, uint64_t iova, const void *buffer,
		       size_t length);

/*
 * Install the SIGBUS handler, once per process. When a client truncates its
 * memory file, a page of zeros takes the place of the lost one, the access
 * goes on, and the range counts as broken: it cannot be translated any more.
 */
int tern_dma_map_guard(void);

/* How many ranges of @map have broken so. */
unsigned int tern_dma_map_broken(const struct tern_dma_map *map);

#endif /* TERN_DMA_MAP_H */
