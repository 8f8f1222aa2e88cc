// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: guest memory of the native host: a memfd mapped twice. The guest's view
 * is always there; in the device's, revoked pages are PROT_NONE, so that the
 * core crashes when it touches memory through a pointer that it kept.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host_memory.h"

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "native host: %s\n", what);
	abort();
}

/* Memory of machines that are gone, for the next: to map it anew is most of a short test's time. */
static struct spare {
	uint8_t *memory, *device_memory, *pages;
	uint64_t bytes;
} spares[4];

static bool take_spare(struct machine *machine, uint64_t bytes)
{
	for (size_t i = 0; i < sizeof(spares) / sizeof(*spares); i++) {
		struct spare *spare = &spares[i];

		if (!spare->memory || spare->bytes != bytes)
			continue;
		machine->memory = spare->memory;
		machine->device_memory = spare->device_memory;
		machine->pages = spare->pages;
		machine->memory_bytes = bytes;
		machine->memory_used_before = true;
		spare->memory = NULL;
		return true;
	}
	return false;
}

void host_memory_create(struct machine *machine, uint64_t bytes)
{
	int fd;

	bytes = (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
	if (take_spare(machine, bytes))
		return;
	fd = memfd_create("tern-test", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		die("no memory for a machine");
	machine->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	machine->device_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	machine->pages = calloc(bytes / HOST_PAGE, 1);
	if (machine->memory == MAP_FAILED || machine->device_memory == MAP_FAILED ||
	    !machine->pages)
		die("no memory for a machine");
	machine->memory_bytes = bytes;
}

void host_memory_destroy(struct machine *machine)
{
	for (size_t i = 0; i < sizeof(spares) / sizeof(*spares); i++) {
		struct spare *spare = &spares[i];

		if (spare->memory)
			continue;
		if (machine->pages_changed) {
			memset(machine->pages, HOST_PAGE_PLAIN, machine->memory_bytes / HOST_PAGE);
			if (mprotect(machine->device_memory, machine->memory_bytes,
				     PROT_READ | PROT_WRITE))
				die("mprotect() failed");
		}
		*spare = (struct spare){ machine->memory, machine->device_memory, machine->pages,
					 machine->memory_bytes };
		return;
	}
	munmap(machine->memory, machine->memory_bytes);
	munmap(machine->device_memory, machine->memory_bytes);
	free(machine->pages);
}

void host_note(struct machine *machine, enum host_event_type type, uint64_t address,
	       size_t length)
{
	if (!machine->record)
		return;
	if (machine->event_count == machine->event_room) {
		machine->event_room = machine->event_room ? 2 * machine->event_room : 256;
		machine->events = realloc(machine->events,
					  machine->event_room * sizeof(*machine->events));
		if (!machine->events)
			die("out of memory");
	}
	machine->events[machine->event_count++] = (struct host_event){ type, address, length };
}

void host_record_start(struct machine *machine)
{
	machine->record = true;
	machine->event_count = 0;
}

/* Offset of @iova, or UINT64_MAX when [iova, iova + length) is not all in the machine. */
static uint64_t offset_of(const struct machine *machine, uint64_t iova, size_t length)
{
	uint64_t offset = iova - HOST_MEMORY_BASE;

	if (iova < HOST_MEMORY_BASE || offset >= machine->memory_bytes ||
	    length > machine->memory_bytes - offset)
		return UINT64_MAX;
	return offset;
}

void *host_map(void *host, unsigned int fn, uint64_t iova, size_t *length, bool write)
{
	struct machine *machine = host;
	uint64_t offset = offset_of(machine, iova, 1), end;

	(void)fn;
	machine->map_calls++;
	if (!*length)
		die("map of nothing");
	if (offset == UINT64_MAX)
		return NULL;
	for (end = offset; end < offset + *length && end < machine->memory_bytes;
	     end = (end / HOST_PAGE + 1) * HOST_PAGE) {
		uint8_t kind = machine->pages[end / HOST_PAGE];

		if (kind != HOST_PAGE_PLAIN && (kind != HOST_PAGE_READ_ONLY || write))
			break;
	}
	if (end <= offset)
		return NULL;
	if (end - offset < *length)
		*length = (size_t)(end - offset);
	machine->mappings++;
	return machine->device_memory + offset;
}

void host_unmap(void *host, unsigned int fn, void *address, size_t length, bool write)
{
	struct machine *machine = host;
	uint8_t *start = address;

	(void)fn;
	(void)write;
	if (!machine->mappings)
		die("unmap of what was not mapped");
	if (start < machine->device_memory ||
	    start + length > machine->device_memory + machine->memory_bytes)
		die("unmap of something else than was mapped");
	machine->mappings--;
}

/* How many bytes at @offset can be accessed; unmappable ones too. */
static size_t accessible(const struct machine *machine, uint64_t offset, size_t length,
			 bool write)
{
	uint64_t end = offset;

	for (; end < offset + length; end = (end / HOST_PAGE + 1) * HOST_PAGE) {
		uint8_t kind = machine->pages[end / HOST_PAGE];

		if (kind == HOST_PAGE_ABSENT || (kind == HOST_PAGE_READ_ONLY && write))
			break;
	}
	if (end <= offset)
		return 0;
	return end - offset < length ? (size_t)(end - offset) : length;
}

int host_memory_read(void *host, unsigned int fn, uint64_t iova, void *buffer, size_t length)
{
	struct machine *machine = host;
	uint64_t offset = offset_of(machine, iova, length);

	(void)fn;
	machine->read_calls++;
	if (offset == UINT64_MAX || accessible(machine, offset, length, false) < length)
		return -EFAULT;
	memcpy(buffer, machine->memory + offset, length);
	if (machine->on_read)
		machine->on_read(machine, iova, length);
	return 0;
}

int host_memory_write(void *host, unsigned int fn, uint64_t iova, const void *buffer,
		      size_t length)
{
	struct machine *machine = host;
	uint64_t offset = offset_of(machine, iova, length);

	(void)fn;
	machine->write_calls++;
	if (offset == UINT64_MAX || accessible(machine, offset, length, true) < length)
		return -EFAULT;
	memcpy(machine->memory + offset, buffer, length);
	host_note(machine, HOST_EVENT_WRITE, iova, length);
	return 0;
}

uint64_t host_alloc(struct machine *machine, uint64_t bytes, uint64_t align)
{
	uint64_t start = HOST_MEMORY_BASE + machine->allocated;

	start = (start + align - 1) / align * align;
	if (start + bytes - HOST_MEMORY_BASE > machine->memory_bytes)
		die("the machine's memory is used up");
	machine->allocated = start + bytes - HOST_MEMORY_BASE;
	if (machine->memory_used_before)
		memset(host_pointer(machine, start), 0, bytes);
	return start;
}

void *host_pointer(struct machine *machine, uint64_t address)
{
	uint64_t offset = offset_of(machine, address, 1);

	if (offset == UINT64_MAX)
		die("not an address of this machine");
	return machine->memory + offset;
}

void host_set_pages(struct machine *machine, uint64_t address, uint64_t bytes,
		    enum host_page kind)
{
	uint64_t offset = offset_of(machine, address, bytes);
	int protection = kind == HOST_PAGE_PLAIN ? PROT_READ | PROT_WRITE :
			 kind == HOST_PAGE_READ_ONLY ? PROT_READ : PROT_NONE;

	if (offset == UINT64_MAX || offset % HOST_PAGE || bytes % HOST_PAGE)
		die("not whole pages of this machine");
	if (kind != HOST_PAGE_PLAIN)
		tern_nic_invalidate(machine->nic, 0, address, bytes);
	machine->pages_changed = true;
	memset(machine->pages + offset / HOST_PAGE, kind, bytes / HOST_PAGE);
	if (mprotect(machine->device_memory + offset, bytes, protection))
		die("mprotect() failed");
}
