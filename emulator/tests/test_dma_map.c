// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: guest memory as a vfio-user client shares it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dma_map.h"
#include "tern_test.h"

#define PAGE	4096ULL

static int memory(uint64_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static struct tern_dma_map *create(void)
{
	struct tern_dma_map *map = tern_dma_map_create();

	CHECK(map);
	CHECK_EQ(tern_dma_map_guard(), 0);
	return map;
}

TERN_TEST(reads_and_writes_shared_memory_at_its_offset)
{
	struct tern_dma_map *map = create();
	int fd = memory(8 * PAGE);
	uint8_t *view = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char text[6] = "";
	size_t length = 1 << 20;

	CHECK_EQ(tern_dma_map_add(map, 0x100000, 4 * PAGE, fd, 2 * PAGE, true, true), 0);
	close(fd);
	CHECK_EQ(tern_dma_map_write(map, 0x100000 + 10, "hello", 6), 0);
	CHECK_MEM(view + 2 * PAGE + 10, "hello", 6);
	CHECK_EQ(tern_dma_map_read(map, 0x100000 + 10, text, 6), 0);
	CHECK_STR(text, "hello");
	CHECK(tern_dma_map_translate(map, 0x100000 + PAGE, &length, true));
	CHECK_EQ(length, 3 * PAGE);
	CHECK_EQ(tern_dma_map_ranges(map), 1);
	tern_dma_map_destroy(map);
}

TERN_TEST(a_copy_crosses_adjacent_ranges_but_no_hole)
{
	struct tern_dma_map *map = create();
	int a = memory(PAGE), b = memory(PAGE);
	uint8_t out[32], in[32];
	size_t length = 32;

	memset(out, 0xa5, sizeof(out));
	CHECK_EQ(tern_dma_map_add(map, PAGE, PAGE, a, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, 2 * PAGE, PAGE, b, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_write(map, 2 * PAGE - 16, out, 32), 0);
	CHECK_EQ(tern_dma_map_read(map, 2 * PAGE - 16, in, 32), 0);
	CHECK_MEM(in, out, 32);
	CHECK(tern_dma_map_translate(map, 2 * PAGE - 16, &length, false));
	CHECK_EQ(length, 16);
	CHECK_EQ(tern_dma_map_write(map, 3 * PAGE - 16, out, 32), -EFAULT);
	CHECK_EQ(tern_dma_map_read(map, PAGE - 1, in, 2), -EFAULT);
	close(a);
	close(b);
	tern_dma_map_destroy(map);
}

TERN_TEST(protection_is_kept)
{
	struct tern_dma_map *map = create();
	int fd = memory(PAGE);
	uint32_t word = 0;
	size_t length = 4;

	CHECK_EQ(tern_dma_map_add(map, 0, PAGE, fd, 0, true, false), 0);
	CHECK(!tern_dma_map_translate(map, 0, &length, true));
	CHECK(tern_dma_map_translate(map, 0, &length, false));
	CHECK_EQ(tern_dma_map_write(map, 0, &word, 4), -EFAULT);
	CHECK_EQ(tern_dma_map_read(map, 0, &word, 4), 0);
	CHECK_EQ(tern_dma_map_add(map, PAGE, PAGE, fd, 0, false, true), 0);
	CHECK(!tern_dma_map_translate(map, PAGE, &length, false));
	CHECK_EQ(tern_dma_map_write(map, PAGE, &word, 4), 0);
	close(fd);
	tern_dma_map_destroy(map);
}

TERN_TEST(a_range_without_descriptor_is_inert)
{
	struct tern_dma_map *map = create();
	uint32_t word = 0;
	size_t length = 4;

	CHECK_EQ(tern_dma_map_add(map, 0xfebc0000, 0x40000, -1, 0, true, true), 0);
	CHECK(!tern_dma_map_translate(map, 0xfebc0000, &length, true));
	CHECK_EQ(tern_dma_map_read(map, 0xfebc0000, &word, 4), -EFAULT);
	CHECK_EQ(tern_dma_map_write(map, 0xfebc0000, &word, 4), -EFAULT);
	CHECK_EQ(tern_dma_map_remove(map, 0xfebc0000, 0x40000), 0);
	tern_dma_map_destroy(map);
}

TERN_TEST(nonsense_is_refused)
{
	struct tern_dma_map *map = create();
	int fd = memory(4 * PAGE), pipe_fds[2], file;
	char path[] = "/tmp/tern-test-XXXXXX";

	CHECK_EQ(tern_dma_map_add(map, 0, 0, fd, 0, true, true), -EINVAL);
	CHECK_EQ(tern_dma_map_add(map, 1, PAGE, fd, 0, true, true), -EINVAL);
	CHECK_EQ(tern_dma_map_add(map, 0, PAGE + 1, fd, 0, true, true), -EINVAL);
	CHECK_EQ(tern_dma_map_add(map, 0, PAGE, fd, 1, true, true), -EINVAL);
	CHECK_EQ(tern_dma_map_add(map, 0 - PAGE, 2 * PAGE, fd, 0, true, true), -EINVAL);
	/* Beyond the end of the file, also where offset plus size wraps. */
	CHECK_EQ(tern_dma_map_add(map, 0, 5 * PAGE, fd, 0, true, true), -EINVAL);
	CHECK_EQ(tern_dma_map_add(map, 0, PAGE, fd, 4 * PAGE, true, true), -EINVAL);
	CHECK_EQ(tern_dma_map_add(map, 0, 2 * PAGE, fd, 0 - PAGE, true, true), -EINVAL);
	CHECK_EQ(pipe(pipe_fds), 0);
	CHECK_EQ(tern_dma_map_add(map, 0, PAGE, pipe_fds[0], 0, true, true), -EACCES);
	CHECK_EQ(tern_dma_map_add(map, 0, PAGE, 9999, 0, true, true), -EBADF);
	file = open("/proc/self/exe", O_RDONLY);
	CHECK(file >= 0);
	CHECK_EQ(tern_dma_map_add(map, 0, PAGE, file, 0, true, false), -EACCES);
	close(file);
	/* A read-only descriptor cannot be mapped for writing. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = open(path, O_RDONLY);
	CHECK(file >= 0);
	CHECK_EQ(tern_dma_map_add(map, 0, PAGE, file, 0, true, true), -EACCES);
	close(file);
	CHECK_EQ(tern_dma_map_ranges(map), 0);
	close(fd);
	tern_dma_map_destroy(map);
}

TERN_TEST(overlaps_are_refused)
{
	struct tern_dma_map *map = create();
	uint64_t top = 0 - PAGE;

	CHECK_EQ(tern_dma_map_add(map, 4 * PAGE, 2 * PAGE, -1, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, 4 * PAGE, 2 * PAGE, -1, 0, true, true), -EEXIST);
	CHECK_EQ(tern_dma_map_add(map, 5 * PAGE, PAGE, -1, 0, true, true), -EEXIST);
	CHECK_EQ(tern_dma_map_add(map, 3 * PAGE, 2 * PAGE, -1, 0, true, true), -EEXIST);
	CHECK_EQ(tern_dma_map_add(map, 0, 64 * PAGE, -1, 0, true, true), -EEXIST);
	CHECK_EQ(tern_dma_map_add(map, 3 * PAGE, PAGE, -1, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, 6 * PAGE, PAGE, -1, 0, true, true), 0);
	/* The very last page of the address space. */
	CHECK_EQ(tern_dma_map_add(map, top, PAGE, -1, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, top, PAGE, -1, 0, true, true), -EEXIST);
	CHECK_EQ(tern_dma_map_remove(map, top, PAGE), 0);
	tern_dma_map_destroy(map);
}

TERN_TEST(removal_is_exact)
{
	struct tern_dma_map *map = create();

	CHECK_EQ(tern_dma_map_remove(map, 0, PAGE), -ENOENT);
	for (unsigned int i = 0; i < 8; i++)
		CHECK_EQ(tern_dma_map_add(map, 2 * i * PAGE, PAGE, -1, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, 100 * PAGE, 2 * PAGE, -1, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_remove(map, 100 * PAGE, PAGE), -EINVAL);
	CHECK_EQ(tern_dma_map_remove(map, 101 * PAGE, 5 * PAGE), -EINVAL);
	CHECK_EQ(tern_dma_map_remove(map, 0, 101 * PAGE), -EINVAL);
	CHECK_EQ(tern_dma_map_remove(map, PAGE, PAGE), -ENOENT);
	CHECK_EQ(tern_dma_map_remove(map, 0, 0), -EINVAL);
	CHECK_EQ(tern_dma_map_remove(map, 0 - PAGE, 2 * PAGE), -EINVAL);
	CHECK_EQ(tern_dma_map_ranges(map), 9);
	/* One unmap may take several maps (a vIOMMU does that). */
	CHECK_EQ(tern_dma_map_remove(map, 2 * PAGE, 4 * PAGE), 0);
	CHECK_EQ(tern_dma_map_ranges(map), 7);
	tern_dma_map_remove_all(map);
	CHECK_EQ(tern_dma_map_ranges(map), 0);
	tern_dma_map_destroy(map);
}

TERN_TEST(many_ranges_in_any_order)
{
	struct tern_dma_map *map = create();
	int fd = memory(PAGE);
	const unsigned int count = 1000;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t slot = (uint64_t)i * 577 % count;
		uint64_t iova = slot * 3 * PAGE;

		CHECK_EQ(tern_dma_map_add(map, iova, PAGE, slot % 2 ? fd : -1, 0, true, true), 0);
	}
	for (unsigned int i = 0; i < 3 * count; i++) {
		size_t length = 1;
		void *address = tern_dma_map_translate(map, i * PAGE + 5, &length, true);

		CHECK_EQ(!!address, i % 3 == 0 && i / 3 % 2);
	}
	close(fd);
	tern_dma_map_destroy(map);
}

TERN_TEST(the_number_of_ranges_is_bounded)
{
	struct tern_dma_map *map = create();

	for (unsigned int i = 0; i < TERN_DMA_RANGES_MAX; i++)
		CHECK_EQ(tern_dma_map_add(map, i * PAGE, PAGE, -1, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, 1ULL << 40, PAGE, -1, 0, true, true), -ENOSPC);
	CHECK_EQ(tern_dma_map_remove(map, 5 * PAGE, PAGE), 0);
	CHECK_EQ(tern_dma_map_add(map, 1ULL << 40, PAGE, -1, 0, true, true), 0);
	tern_dma_map_destroy(map);
}

TERN_TEST(a_truncated_file_fails_accesses_and_kills_nobody)
{
	struct tern_dma_map *map = create();
	int fd = memory(4 * PAGE), other = memory(PAGE);
	uint8_t buffer[3 * PAGE];
	size_t length = PAGE;
	volatile uint8_t *held;

	CHECK_EQ(tern_dma_map_add(map, 0, 4 * PAGE, fd, 0, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, 16 * PAGE, PAGE, other, 0, true, true), 0);
	held = tern_dma_map_translate(map, 2 * PAGE, &length, true);
	CHECK(held);
	CHECK_EQ(ftruncate(fd, (off_t)PAGE), 0);
	/* An address that was handed out before: read, and write. */
	CHECK_EQ(held[17], 0);
	held[18] = 5;
	CHECK_EQ(held[18], 5);
	CHECK_EQ(tern_dma_map_broken(map), 1);
	/* From now on it fails, as a whole; other memory goes on. */
	CHECK_EQ(tern_dma_map_read(map, 0, buffer, 1), -EFAULT);
	CHECK(!tern_dma_map_translate(map, 0, &length, false));
	CHECK_EQ(tern_dma_map_read(map, 16 * PAGE, buffer, 1), 0);
	CHECK_EQ(tern_dma_map_remove(map, 0, 4 * PAGE), 0);
	CHECK_EQ(tern_dma_map_broken(map), 0);
	close(fd);
	close(other);
	tern_dma_map_destroy(map);
}

TERN_TEST(a_file_cut_during_a_copy_is_noticed_by_the_copy)
{
	struct tern_dma_map *map = create();
	int fd = memory(4 * PAGE);
	uint8_t buffer[3 * PAGE];

	memset(buffer, 1, sizeof(buffer));
	CHECK_EQ(tern_dma_map_add(map, 0, 4 * PAGE, fd, 0, true, true), 0);
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(tern_dma_map_write(map, PAGE, buffer, sizeof(buffer)), -EFAULT);
	close(fd);
	tern_dma_map_destroy(map);

	map = create();
	fd = memory(4 * PAGE);
	CHECK_EQ(tern_dma_map_add(map, 0, 4 * PAGE, fd, 0, true, true), 0);
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(tern_dma_map_read(map, PAGE, buffer, sizeof(buffer)), -EFAULT);
	close(fd);
	tern_dma_map_destroy(map);
}

#define HUGE_PAGE	(2ULL << 20)
#define MFD_HUGE_SHIFT	26		/* linux/memfd.h; then log2 of the page size */

/* Ranges of guests on hugetlbfs lie anywhere in its pages; the kernel maps whole ones. */
TERN_TEST(huge_pages)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_HUGETLB | 21U << MFD_HUGE_SHIFT);
	struct tern_dma_map *map;
	size_t length = 8 * PAGE;
	uint8_t *view, byte;

	if (fd < 0 || ftruncate(fd, 2 * HUGE_PAGE) || fallocate(fd, 0, 0, 2 * HUGE_PAGE))
		SKIP("this machine has no 2 huge pages free (/proc/sys/vm/nr_hugepages)");
	view = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(view != MAP_FAILED);
	map = create();
	/* In the middle of the first; from the first to the second; a hole between them. */
	CHECK_EQ(tern_dma_map_add(map, 0, 4 * PAGE, fd, 3 * PAGE, true, true), 0);
	CHECK_EQ(tern_dma_map_add(map, 16 * PAGE, 4 * PAGE, fd, HUGE_PAGE - 2 * PAGE, true, true),
		 0);
	CHECK_EQ(tern_dma_map_write(map, 4 * PAGE - 1, "x", 1), 0);
	CHECK_EQ(view[7 * PAGE - 1], 'x');
	CHECK_EQ(tern_dma_map_write(map, 18 * PAGE - 1, "yz", 2), 0);
	CHECK_MEM(view + HUGE_PAGE - 1, "yz", 2);
	/* The rest of the page is mapped, and not to be had. */
	CHECK_EQ(tern_dma_map_read(map, 4 * PAGE, &byte, 1), -EFAULT);
	CHECK(tern_dma_map_translate(map, 16 * PAGE, &length, true));
	CHECK_EQ(length, 4 * PAGE);
	CHECK_EQ(tern_dma_map_remove(map, 0, 4 * PAGE), 0);
	CHECK_EQ(tern_dma_map_read(map, 16 * PAGE, &byte, 1), 0);
	/* A huge page that goes away goes as a whole, for the range that needs it. */
	CHECK_EQ(ftruncate(fd, HUGE_PAGE), 0);
	CHECK_EQ(tern_dma_map_read(map, 18 * PAGE, &byte, 1), -EFAULT);
	CHECK_EQ(tern_dma_map_broken(map), 1);
	munmap(view, 2 * HUGE_PAGE);
	close(fd);
	tern_dma_map_destroy(map);
}
