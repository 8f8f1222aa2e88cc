// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: guest memory that a vfio-user client shared. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "dma_map.h"

struct range {
	uint64_t iova, size;
	uint8_t *base;			/* NULL: cannot be reached */
	uint8_t *mapping;		/* whole pages of the file around it */
	size_t mapping_size;
	size_t page;			/* page size of the file: huge pages are lost whole */
	bool readable, writable;
	/* Set by the signal handler. */
	volatile sig_atomic_t broken;
};

struct tern_dma_map {
	struct range *ranges;		/* sorted by iova */
	unsigned int count, space;
	unsigned int last;		/* index of the last hit; checked before use */
	struct tern_dma_map *next;
};

/*
 * All maps, for the signal handler. SIGBUS is raised by an access to guest
 * memory, which never happens while the lists below are being changed, and
 * all of it is on one thread: the handler sees them consistent.
 */
static struct tern_dma_map *maps;

static struct range *range_of_address(const uint8_t *address)
{
	for (struct tern_dma_map *map = maps; map; map = map->next) {
		for (unsigned int i = 0; i < map->count; i++) {
			struct range *range = &map->ranges[i];

			if (range->base && address >= range->base &&
			    (uint64_t)(address - range->base) < range->size)
				return range;
		}
	}
	return NULL;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	struct range *range = range_of_address(info->si_addr);
	int saved = errno;
	uintptr_t page;

	(void)context;
	if (range) {
		/* mmap() is a plain system call on Linux; nothing else can repair the access. */
		page = (uintptr_t)info->si_addr & ~(uintptr_t)(range->page - 1);
		if (mmap((void *)page, range->page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
			range->broken = 1;
			errno = saved;
			return;
		}
	}
	/* Not ours: let the faulting instruction run again and kill the process as usual. */
	signal(number, SIG_DFL);
	errno = saved;
}

int tern_dma_map_guard(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, NULL) ? -errno : 0;
}

struct tern_dma_map *tern_dma_map_create(void)
{
	struct tern_dma_map *map = calloc(1, sizeof(*map));

	if (!map)
		return NULL;
	map->next = maps;
	maps = map;
	return map;
}

void tern_dma_map_destroy(struct tern_dma_map *map)
{
	struct tern_dma_map **link;

	if (!map)
		return;
	tern_dma_map_remove_all(map);
	for (link = &maps; *link != map; link = &(*link)->next)
		;
	*link = map->next;
	free(map->ranges);
	free(map);
}

/* Index of the first range that ends after @iova; map->count when there is none. */
static unsigned int first_after(const struct tern_dma_map *map, uint64_t iova)
{
	unsigned int low = 0, high = map->count;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		const struct range *range = &map->ranges[middle];

		/* Ranges do not wrap, so the last byte can be computed. */
		if (range->iova + (range->size - 1) < iova)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Only shared memory: a file of a network or FUSE file system could stall the process. */
static int check_file(int fd, uint64_t offset, uint64_t size, size_t *page)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	if (fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC)
		return -EACCES;
	*page = (size_t)sysconf(_SC_PAGESIZE);
	if (fs.f_type == HUGETLBFS_MAGIC)
		*page = (size_t)fs.f_bsize;
	if (offset % (uint64_t)sysconf(_SC_PAGESIZE))
		return -EINVAL;
	if (offset > (uint64_t)st.st_size || size > (uint64_t)st.st_size - offset)
		return -EINVAL;
	return 0;
}

/*
 * Map the file's part [offset, offset + size). A client's ranges begin and end
 * anywhere in its huge pages (below 1 MiB of a PC, say), but the kernel maps
 * and unmaps only whole ones.
 */
static int map_file(struct range *range, int fd, uint64_t offset)
{
	int protection = (range->readable ? PROT_READ : 0) | (range->writable ? PROT_WRITE : 0);
	uint64_t before = offset % range->page;
	uint64_t size = (before + range->size + range->page - 1) / range->page * range->page;
	void *mapping = mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)(offset - before));

	if (mapping == MAP_FAILED)
		return -errno;
	range->mapping = mapping;
	range->mapping_size = size;
	range->base = range->mapping + before;
	return 0;
}

static int grow(struct tern_dma_map *map)
{
	unsigned int space = map->space ? 2 * map->space : 16;
	struct range *ranges;

	if (map->count < map->space)
		return 0;
	if (map->count >= TERN_DMA_RANGES_MAX)
		return -ENOSPC;
	ranges = realloc(map->ranges, space * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	map->ranges = ranges;
	map->space = space;
	return 0;
}

int tern_dma_map_add(struct tern_dma_map *map, uint64_t iova, uint64_t size, int fd,
		     uint64_t offset, bool readable, bool writable)
{
	struct range range = { .iova = iova, .size = size,
			       .readable = readable, .writable = writable };
	const uint64_t small_page = 4096;
	unsigned int at;
	int err;

	if (!size || iova % small_page || size % small_page || size - 1 > UINT64_MAX - iova)
		return -EINVAL;
	at = first_after(map, iova);
	if (at < map->count && map->ranges[at].iova <= iova + (size - 1))
		return -EEXIST;
	err = grow(map);
	if (err)
		return err;
	if (fd >= 0) {
		err = check_file(fd, offset, size, &range.page);
		if (!err)
			err = map_file(&range, fd, offset);
		if (err)
			return err;
	}
	memmove(&map->ranges[at + 1], &map->ranges[at],
		(map->count - at) * sizeof(*map->ranges));
	map->ranges[at] = range;
	map->count++;
	return 0;
}

static void release(struct range *range)
{
	if (range->base)
		munmap(range->mapping, range->mapping_size);
}

int tern_dma_map_remove(struct tern_dma_map *map, uint64_t iova, uint64_t size)
{
	unsigned int first, end;
	uint64_t last;

	if (!size || size - 1 > UINT64_MAX - iova)
		return -EINVAL;
	last = iova + (size - 1);
	first = first_after(map, iova);
	for (end = first; end < map->count && map->ranges[end].iova <= last; end++) {
		const struct range *range = &map->ranges[end];

		if (range->iova < iova || range->iova + (range->size - 1) > last)
			return -EINVAL;
	}
	if (end == first)
		return -ENOENT;
	for (unsigned int i = first; i < end; i++)
		release(&map->ranges[i]);
	memmove(&map->ranges[first], &map->ranges[end],
		(map->count - end) * sizeof(*map->ranges));
	map->count -= end - first;
	return 0;
}

void tern_dma_map_remove_all(struct tern_dma_map *map)
{
	for (unsigned int i = 0; i < map->count; i++)
		release(&map->ranges[i]);
	map->count = 0;
}

unsigned int tern_dma_map_ranges(const struct tern_dma_map *map)
{
	return map->count;
}

unsigned int tern_dma_map_broken(const struct tern_dma_map *map)
{
	unsigned int broken = 0;

	for (unsigned int i = 0; i < map->count; i++)
		broken += map->ranges[i].broken != 0;
	return broken;
}

static struct range *find(struct tern_dma_map *map, uint64_t iova)
{
	struct range *range;

	if (map->last < map->count) {
		range = &map->ranges[map->last];
		if (iova >= range->iova && iova - range->iova < range->size)
			return range;
	}
	map->last = first_after(map, iova);
	if (map->last >= map->count || map->ranges[map->last].iova > iova)
		return NULL;
	return &map->ranges[map->last];
}

static void *translate(struct tern_dma_map *map, uint64_t iova, size_t *length, bool write,
		       struct range **found)
{
	struct range *range = find(map, iova);
	uint64_t left;

	if (!range || !range->base || range->broken)
		return NULL;
	if (write ? !range->writable : !range->readable)
		return NULL;
	left = range->size - (iova - range->iova);
	if (*length > left)
		*length = left;
	*found = range;
	return range->base + (iova - range->iova);
}

void *tern_dma_map_translate(struct tern_dma_map *map, uint64_t iova, size_t *length, bool write)
{
	struct range *range;

	return translate(map, iova, length, write, &range);
}

int tern_dma_map_read(struct tern_dma_map *map, uint64_t iova, void *buffer, size_t length)
{
	uint8_t *to = buffer;

	while (length) {
		struct range *range = NULL;
		size_t chunk = length;
		const void *from = translate(map, iova, &chunk, false, &range);

		if (!from)
			return -EFAULT;
		memcpy(to, from, chunk);
		if (range->broken)
			return -EFAULT;
		to += chunk;
		length -= chunk;
		/* May wrap to 0 after the last byte of the address space: nothing is left then. */
		iova += chunk;
	}
	return 0;
}

int tern_dma_map_write(struct tern_dma_map *map, uint64_t iova, const void *buffer,
		       size_t length)
{
	const uint8_t *from = buffer;

	while (length) {
		struct range *range = NULL;
		size_t chunk = length;
		void *to = translate(map, iova, &chunk, true, &range);

		if (!to)
			return -EFAULT;
		memcpy(to, from, chunk);
		if (range->broken)
			return -EFAULT;
		from += chunk;
		length -= chunk;
		iova += chunk;
	}
	return 0;
}
