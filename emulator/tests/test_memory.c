// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: page lists and memory keys: what a key reaches and, above all, what it does not. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "host_driver.h"
#include "key.h"
#include "nic.h"
#include "payload.h"
#include "tern_test.h"

#define PD	5
#define ALL_ACCESS (TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ)

static struct world *world;
static struct machine *machine;
static struct driver driver;
static struct function *fn;
static struct key_user user;

static void setup(uint64_t memory)
{
	world = world_create();
	machine = machine_create(world, NULL, memory);
	driver_start(&driver, machine, 0, 0);
	fn = &machine->nic->functions[0];
	user = (struct key_user){ .fn = fn, .pd = PD };
}

static uint32_t create_key(uint32_t index, struct tern_page_list pages, uint64_t address,
			   uint32_t access)
{
	struct tern_command_create_key body = {
		.pages = pages, .address = htole64(address), .pd = htole32(PD),
		.access = htole32(access), .consumer = 0x42,
	};

	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_KEY, index, &body, sizeof(body)), 0);
	return index << 8 | 0x42;
}

static uint8_t pattern(uint64_t place)
{
	return (uint8_t)(place * 131 + (place >> 8) * 17 + (place >> 16));
}

/* @count pages in an order that is not ascending. */
static uint64_t *scattered_pages(size_t count, unsigned int shift)
{
	uint64_t *pages = malloc(count * sizeof(*pages));
	uint64_t base = host_alloc(machine, count << shift, UINT64_C(1) << shift);

	CHECK(pages);
	for (size_t i = 0; i < count; i++)
		pages[i] = base + (((i * 7 + 3) % count) << shift);
	return pages;
}

static void read_back(uint32_t key, uint64_t address, uint64_t place, size_t length)
{
	struct key_range range;
	uint8_t *buffer = malloc(length);

	CHECK_EQ(key_resolve(&user, key, address + place, length, 0, &range), KEY_OK);
	CHECK_EQ(key_range_read(&range, 0, buffer, length), 0);
	for (size_t i = 0; i < length; i++)
		CHECK_EQ(buffer[i], pattern(place + i));
	free(buffer);
}

/* Every number of levels, page sizes, and first offsets; lengths around page ends. */
TERN_TEST(page_lists)
{
	static const unsigned int shifts[] = { 12, 16, 21 };
	static const uint32_t offsets[] = { 0, 1, 4095 };
	uint32_t index = 1;

	setup(256 << 20);
	for (unsigned int levels = 1; levels <= 4; levels++) {
		for (unsigned int s = 0; s < 3; s++) {
			size_t count = s == 2 ? 3 : 20;
			uint64_t page = UINT64_C(1) << shifts[s];
			uint64_t *pages = scattered_pages(count, shifts[s]);

			for (unsigned int o = 0; o < 3; o++) {
				uint64_t length = count * page - offsets[o];
				uint64_t address = 0x123456000 + offsets[o];
				struct tern_page_list list =
					driver_page_table(machine, pages, count, shifts[s],
							  levels, offsets[o], length);
				uint32_t key = create_key(index++, list, address, ALL_ACCESS);

				for (uint64_t i = 0; i < length; i++) {
					uint64_t place = offsets[o] + i;
					uint8_t *byte = host_pointer(machine,
							pages[place / page] + place % page);
					*byte = pattern(i);
				}
				read_back(key, address, 0, 1);
				read_back(key, address, page - offsets[o] - 1, 2);
				read_back(key, address, length - 1, 1);
				read_back(key, address, 3, (size_t)(length - 7));
			}
			free(pages);
		}
	}
	CHECK_EQ(host_counter(machine, 0, "memory_faults"), 0);
	world_destroy(world);
}

/* More than 256K pages: a region over 1 GiB, of one page that repeats, in three levels. */
TERN_TEST(region_over_1_gib)
{
	size_t count = (1 << 18) + 5;
	uint64_t *pages = malloc(count * sizeof(*pages));
	uint64_t first, other;
	struct key_range range;
	uint8_t byte = 0;
	uint32_t key;

	setup(64 << 20);
	first = host_alloc(machine, 4096, 4096);
	other = host_alloc(machine, 4096, 4096);
	for (size_t i = 0; i < count; i++)
		pages[i] = i >= 1 << 18 ? other : first;
	*(uint8_t *)host_pointer(machine, other) = 77;
	key = create_key(1, driver_page_table(machine, pages, count, 12, 3, 0, count << 12),
			 UINT64_C(1) << 32, ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, key, (UINT64_C(1) << 32) + (UINT64_C(1) << 30), 4096, 0,
			     &range), KEY_OK);
	CHECK_EQ(key_range_read(&range, 0, &byte, 1), 0);
	CHECK_EQ(byte, 77);
	CHECK_EQ(key_resolve(&user, key, (UINT64_C(1) << 32) + (UINT64_C(1) << 30) - 1, 2, 0,
			     &range), KEY_OK);
	CHECK_EQ(key_range_write(&range, 0, "ab", 2), 0);
	CHECK_EQ(*(uint8_t *)host_pointer(machine, first + 4095), 'a');
	CHECK_EQ(*(uint8_t *)host_pointer(machine, other), 'b');
	free(pages);
	world_destroy(world);
}

TERN_TEST(key_checks)
{
	struct key_user stranger, kernel;
	struct key_range range;
	uint64_t region, va = 0xffffffffffff0000;
	uint32_t key, readable;

	setup(16 << 20);
	region = host_alloc(machine, 8192, 4096);
	key = create_key(7, driver_pages(region, 8192), va, ALL_ACCESS);
	readable = create_key(8, driver_pages(region, 8192), 0, TERN_ACCESS_REMOTE_READ);
	stranger = user;
	stranger.pd = PD + 1;
	kernel = user;
	kernel.privileged = true;
#define RESOLVE(who, k, address, length, access) \
	key_resolve(who, k, address, length, access, &range)
	CHECK_EQ(RESOLVE(&user, key, va, 8192, ALL_ACCESS), KEY_OK);
	CHECK_EQ(RESOLVE(&user, key, va + 8192, 0, 0), KEY_OK);
	CHECK_EQ(RESOLVE(&user, key ^ 1, va, 1, 0), KEY_UNKNOWN);
	CHECK_EQ(RESOLVE(&user, key + 256 * 2, va, 1, 0), KEY_UNKNOWN);
	CHECK_EQ(RESOLVE(&user, UINT32_MAX, va, 1, 0), KEY_UNKNOWN);
	CHECK_EQ(RESOLVE(&user, 0x42, va, 1, 0), KEY_UNKNOWN);
	CHECK_EQ(RESOLVE(&stranger, key, va, 1, 0), KEY_WRONG_PD);
	CHECK_EQ(RESOLVE(&user, readable, 0, 1, TERN_ACCESS_LOCAL_WRITE), KEY_NO_ACCESS);
	CHECK_EQ(RESOLVE(&user, readable, 0, 1, TERN_ACCESS_REMOTE_WRITE), KEY_NO_ACCESS);
	CHECK_EQ(RESOLVE(&user, readable, 0, 1, TERN_ACCESS_REMOTE_READ), KEY_OK);
	CHECK_EQ(RESOLVE(&user, key, va, 1, TERN_ACCESS_REMOTE_ATOMIC), KEY_NO_ACCESS);
	/* One byte outside at either end, and everything that wraps around 2^64. */
	CHECK_EQ(RESOLVE(&user, key, va - 1, 1, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, key, va - 1, 0, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, key, va, 8193, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, key, va + 8191, 2, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, key, va + 8193, 0, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, key, va + 1, UINT64_MAX, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, key, 0, 1, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, key, UINT64_MAX, UINT64_MAX, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&user, readable, UINT64_MAX, 1, 0), KEY_OUT_OF_BOUNDS);
	/* The local DMA key. */
	CHECK_EQ(RESOLVE(&user, TERN_KEY_LOCAL_DMA, region, 1, 0), KEY_UNKNOWN);
	CHECK_EQ(RESOLVE(&kernel, TERN_KEY_LOCAL_DMA, region, 1, TERN_ACCESS_LOCAL_WRITE),
		 KEY_OK);
	CHECK_EQ(key_range_write(&range, 0, "x", 1), 0);
	CHECK_EQ(*(char *)host_pointer(machine, region), 'x');
	CHECK_EQ(RESOLVE(&kernel, TERN_KEY_LOCAL_DMA, UINT64_MAX, 2, 0), KEY_OUT_OF_BOUNDS);
	CHECK_EQ(RESOLVE(&kernel, 1, region, 1, 0), KEY_UNKNOWN);
	/* Inside of a range: no further than was resolved. */
	CHECK_EQ(RESOLVE(&user, key, va + 10, 10, 0), KEY_OK);
	CHECK_EQ(key_range_write(&range, 0, "0123456789", 10), 0);
	CHECK_EQ(key_range_write(&range, 1, "0123456789", 10), -EFAULT);
	CHECK_EQ(key_range_write(&range, UINT64_MAX, "0123456789", 2), -EFAULT);
	/* Gone. */
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_DESTROY_KEY, 7, NULL, 0), 0);
	CHECK_EQ(RESOLVE(&user, key, va, 1, 0), KEY_UNKNOWN);
	world_destroy(world);
}

TERN_TEST(absent_and_read_only_pages)
{
	struct key_range range;
	struct tern_page_list list;
	uint64_t *pages, *entries;
	uint8_t buffer[3 * 4096];
	uint32_t key;

	setup(16 << 20);
	pages = scattered_pages(3, 12);
	list = driver_page_table(machine, pages, 3, 12, 1, 0, 3 * 4096);
	entries = host_pointer(machine, le64toh(list.root));
	entries[1] = htole64(le64toh(entries[1]) & ~(uint64_t)TERN_PAGE_WRITE);
	key = create_key(1, list, 0, ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, key, 0, 3 * 4096, ALL_ACCESS, &range), KEY_OK);
	CHECK_EQ(key_range_read(&range, 0, buffer, sizeof(buffer)), 0);
	CHECK_EQ(key_range_write(&range, 0, buffer, 4096), 0);
	CHECK_EQ(key_range_write(&range, 4095, buffer, 2), -EFAULT);
	/* What could not be used is not remembered: the host may make it usable. */
	entries[1] = htole64(le64toh(entries[1]) | TERN_PAGE_WRITE);
	CHECK_EQ(key_range_write(&range, 4095, buffer, 2), 0);
	entries[2] = 0;
	tern_nic_invalidate(machine->nic, 0, le64toh(list.root), 4096);
	CHECK_EQ(key_range_read(&range, 2 * 4096, buffer, 1), -EFAULT);
	/* Only the bit says that it is there. */
	entries[2] = htole64(pages[2] | TERN_PAGE_WRITE);
	CHECK_EQ(key_range_read(&range, 2 * 4096, buffer, 1), -EFAULT);
	entries[2] = htole64(pages[2] | TERN_PAGE_PRESENT);
	CHECK_EQ(key_range_read(&range, 2 * 4096, buffer, 1), 0);
	/* A data page must be aligned to its size. */
	list.page_shift = 13;
	key = create_key(2, list, 0, ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, key, 0, 2 * 4096, 0, &range), KEY_OK);
	entries[0] = htole64((HOST_MEMORY_BASE + 4096) | TERN_PAGE_PRESENT);
	CHECK_EQ(key_range_read(&range, 0, buffer, 1), -EFAULT);
	/* Tables that are not there. */
	list = driver_page_table(machine, pages, 3, 12, 2, 0, 3 * 4096);
	key = create_key(3, list, 0, ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, key, 0, 1, 0, &range), KEY_OK);
	entries = host_pointer(machine, le64toh(list.root));
	CHECK_EQ(key_range_read(&range, 0, buffer, 1), 0);
	entries[0] &= htole64(~(uint64_t)TERN_PAGE_PRESENT);
	tern_nic_invalidate(machine->nic, 0, 0, 4096);
	CHECK_EQ(key_range_read(&range, 0, buffer, 1), -EFAULT);
	entries[0] = htole64(UINT64_MAX);
	CHECK_EQ(key_range_read(&range, 0, buffer, 1), -EFAULT);
	entries[0] = 0;
	CHECK_EQ(key_range_read(&range, 0, buffer, 1), -EFAULT);
	list.root = htole64(UINT64_MAX - 4095);
	key = create_key(4, list, 0, ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, key, 0, 1, 0, &range), KEY_OK);
	CHECK_EQ(key_range_read(&range, 0, buffer, 1), -EFAULT);
	free(pages);
	world_destroy(world);
}

/* The same bytes with each mix of pages that can be mapped and that cannot. */
TERN_TEST(unmappable_memory)
{
	struct key_range range;
	uint8_t from[3 * 4096 - 100], to[sizeof(from)];
	uint64_t *pages;
	uint32_t key;

	setup(16 << 20);
	pages = scattered_pages(3, 12);
	key = create_key(1, driver_page_table(machine, pages, 3, 12, 1, 50, sizeof(from)), 0,
			 ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, key, 0, sizeof(from), ALL_ACCESS, &range), KEY_OK);
	for (unsigned int mix = 0; mix < 8; mix++) {
		for (unsigned int p = 0; p < 3; p++)
			host_set_pages(machine, pages[p], 4096, mix >> p & 1 ?
				       HOST_PAGE_UNMAPPABLE : HOST_PAGE_PLAIN);
		for (size_t i = 0; i < sizeof(from); i++)
			from[i] = pattern(i + mix);
		CHECK_EQ(key_range_write(&range, 0, from, sizeof(from)), 0);
		for (size_t i = 0; i < sizeof(from); i++) {
			size_t place = i + 50;
			const uint8_t *byte = host_pointer(machine, pages[place / 4096] +
							   place % 4096);

			CHECK_EQ(*byte, from[i]);
		}
		CHECK_EQ(key_range_read(&range, 0, to, sizeof(to)), 0);
		CHECK_MEM(to, from, sizeof(to));
		for (unsigned int p = 0; p < 3; p++) {
			size_t length = 8;
			void *mapped;

			nic_enter(machine->nic);
			mapped = key_range_map(&range, p * 4096, &length, true);
			CHECK_EQ(!mapped, mix >> p & 1);
			if (mapped)
				guest_unmap(fn, mapped, length, true);
			nic_leave(machine->nic);
		}
	}
	free(pages);
	world_destroy(world);
}

/* Not a byte beyond what was resolved is mapped or scattered to, whatever the caller asks for. */
TERN_TEST(ranges_are_kept)
{
	static const struct tern_segment from = { (const uint8_t *)"0123456789", 10 };
	struct sge sge = { .length = 9 };
	struct key_range range;
	uint64_t region;
	size_t length;

	setup(16 << 20);
	region = host_alloc(machine, 4096, 4096);
	sge.address = region;
	sge.key = create_key(1, driver_pages(region, 4096), region, ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, sge.key, region, 100, 0, &range), KEY_OK);
	nic_enter(machine->nic);
	for (uint64_t offset = 90; offset < 103; offset++) {
		void *mapped;

		length = 5;
		mapped = key_range_map(&range, offset, &length, false);
		CHECK_EQ(!!mapped, offset <= 95);
		if (mapped)
			guest_unmap(fn, mapped, length, false);
	}
	length = 0;
	CHECK(!key_range_map(&range, 0, &length, false));
	CHECK_EQ(payload_scatter(&user, &sge, 1, TERN_ACCESS_LOCAL_WRITE, 0, &from, 1),
		 PAYLOAD_KEY);
	CHECK_EQ(((uint8_t *)host_pointer(machine, region))[9], 0);
	sge.length = 10;
	CHECK_EQ(payload_scatter(&user, &sge, 1, TERN_ACCESS_LOCAL_WRITE, 0, &from, 1),
		 PAYLOAD_OK);
	nic_leave(machine->nic);
	world_destroy(world);
}

TERN_TEST(revoked_memory)
{
	struct key_range range;
	uint64_t region;
	size_t length = 8192;
	uint8_t byte = 1;
	void *mapped;
	uint32_t key;

	setup(16 << 20);
	region = host_alloc(machine, 8192, 4096);
	key = create_key(1, driver_pages(region, 8192), 0, ALL_ACCESS);
	CHECK_EQ(key_resolve(&user, key, 0, 8192, ALL_ACCESS, &range), KEY_OK);
	mapped = key_range_map(&range, 0, &length, true);
	CHECK(mapped);
	guest_unmap(fn, mapped, length, true);
	host_set_pages(machine, region + 4096, 4096, HOST_PAGE_ABSENT);
	CHECK_EQ(key_range_write(&range, 0, &byte, 1), 0);
	CHECK_EQ(key_range_write(&range, 4096, &byte, 1), -EFAULT);
	CHECK_EQ(key_range_read(&range, 8191, &byte, 1), -EFAULT);
	length = 8192;
	mapped = key_range_map(&range, 0, &length, true);
	CHECK_EQ(length, 4096);
	guest_unmap(fn, mapped, length, true);
	length = 1;
	CHECK(!key_range_map(&range, 5000, &length, false));
	host_set_pages(machine, region + 4096, 4096, HOST_PAGE_PLAIN);
	CHECK_EQ(key_range_write(&range, 4096, &byte, 1), 0);
	world_destroy(world);
}

/* Last cache line last, by what the host sees of writes that go through its callback. */
TERN_TEST(writes_in_order)
{
	struct key_range range;
	uint8_t data[1000] = { 0 };
	uint64_t region;
	uint32_t key;

	setup(16 << 20);
	region = host_alloc(machine, 8192, 4096);
	host_set_pages(machine, region, 8192, HOST_PAGE_UNMAPPABLE);
	key = create_key(1, driver_pages(region, 8192), 0, ALL_ACCESS);
	for (uint64_t start = 0; start < 130; start += 13) {
		for (size_t length = 1; length < 300; length += 7) {
			uint64_t end = start + length, done = start;

			host_record_start(machine);
			CHECK_EQ(key_resolve(&user, key, start, length, TERN_ACCESS_LOCAL_WRITE,
					     &range), KEY_OK);
			CHECK_EQ(key_range_write(&range, 0, data, length), 0);
			for (size_t i = 0; i < machine->event_count; i++) {
				CHECK_EQ(machine->events[i].address, region + done);
				done += machine->events[i].length;
			}
			CHECK_EQ(done, end);
			/* The last write is what lies in the last line, no more. */
			CHECK_EQ(machine->events[machine->event_count - 1].length,
				 length < (end - 1) % 64 + 1 ? length : (end - 1) % 64 + 1);
		}
	}
	world_destroy(world);
}

TERN_TEST(copy_in_order_copies)
{
	uint8_t from[300], to[400];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = pattern(i);
	for (size_t start = 0; start < 70; start++) {
		for (size_t length = 0; length < 300; length += 11) {
			memset(to, 0xee, sizeof(to));
			copy_in_order(to + start, from, length);
			CHECK_MEM(to + start, from, length);
			CHECK_EQ(to[start + length], 0xee);
			CHECK(!start || to[start - 1] == 0xee);
		}
	}
}
