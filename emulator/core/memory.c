// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: access to guest memory at bus addresses. */
#include <errno.h>
#include <string.h>

#include "byteorder.h"
#include "memory.h"
#include "nic.h"

/* Without bus mastering, before ENABLE, after FATAL and in a reset there is no memory. */
static bool reachable(const struct function *fn, uint64_t address, size_t length)
{
	return fn->bus_master && fn->enabled && length - 1 <= UINT64_MAX - address;
}

static int fault(struct function *fn)
{
	fn->device.memory_faults++;
	return -EFAULT;
}

int guest_read(struct function *fn, uint64_t address, void *buffer, size_t length)
{
	struct tern_nic *nic = fn->nic;

	if (!length)
		return 0;
	if (!reachable(fn, address, length) ||
	    nic->ops->read(nic->host, fn->index, address, buffer, length))
		return fault(fn);
	return 0;
}

static int write_bytes(struct function *fn, uint64_t address, const void *buffer, size_t length)
{
	struct tern_nic *nic = fn->nic;

	return nic->ops->write(nic->host, fn->index, address, buffer, length);
}

/* Bytes of [address, address + length) before its last cache line. */
static size_t before_last_line(uint64_t address, size_t length)
{
	size_t last = (size_t)((address + length - 1) % CACHE_LINE) + 1;

	return length > last ? length - last : 0;
}

void copy_in_order(void *to, const void *from, size_t length)
{
	size_t head;

	if (!length)
		return;
	head = before_last_line((uintptr_t)to, length);
	/* memmove(): a guest may send to itself, from and to may overlap in its memory. */
	if (head) {
		memmove(to, from, head);
		/* Pairs with the application's acquire after it saw the last byte change. */
		atomic_thread_fence(memory_order_release);
	}
	memmove((uint8_t *)to + head, (const uint8_t *)from + head, length - head);
	/* What is written next (a completion, the next packet) comes after it. */
	atomic_thread_fence(memory_order_release);
}

int guest_write(struct function *fn, uint64_t address, const void *buffer, size_t length)
{
	const uint8_t *from = buffer;
	size_t head;

	if (!length)
		return 0;
	if (!reachable(fn, address, length))
		return fault(fn);
	head = before_last_line(address, length);
	if (head) {
		if (write_bytes(fn, address, from, head))
			return fault(fn);
		atomic_thread_fence(memory_order_release);
	}
	if (write_bytes(fn, address + head, from + head, length - head))
		return fault(fn);
	atomic_thread_fence(memory_order_release);
	return 0;
}

void *guest_map(struct function *fn, uint64_t address, size_t *length, bool write)
{
	struct tern_nic *nic = fn->nic;

	if (!*length || !reachable(fn, address, *length))
		return NULL;
	return nic->ops->map(nic->host, fn->index, address, length, write);
}

void guest_unmap(struct function *fn, void *mapped, size_t length, bool write)
{
	struct tern_nic *nic = fn->nic;

	/* Of a key of device memory: there is nothing to give back. */
	if (device_memory_holds(fn, mapped))
		return;
	nic->ops->unmap(nic->host, fn->index, mapped, length, write);
}

/* Map @size bytes whole, or not at all; aligned for a 32-bit word at their end. */
static void *map_whole(struct function *fn, uint64_t address, size_t size, bool write)
{
	size_t length = size;
	uint8_t *mapped = guest_map(fn, address, &length, write);

	if (mapped && (length < size || (uintptr_t)(mapped + size) % sizeof(uint32_t))) {
		guest_unmap(fn, mapped, length, write);
		return NULL;
	}
	return mapped;
}

int guest_load32(struct function *fn, uint64_t address, uint32_t *value)
{
	__le32 bytes;
	void *word = map_whole(fn, address, sizeof(bytes), false);

	if (word) {
		bytes = __atomic_load_n((const __le32 *)word, __ATOMIC_ACQUIRE);
		guest_unmap(fn, word, sizeof(bytes), false);
	} else if (guest_read(fn, address, &bytes, sizeof(bytes))) {
		return -EFAULT;
	}
	atomic_thread_fence(memory_order_acquire);
	*value = from_le32(bytes);
	return 0;
}

int guest_store32(struct function *fn, uint64_t address, uint32_t value)
{
	__le32 bytes = to_le32(value);
	void *word = map_whole(fn, address, sizeof(bytes), true);

	if (word) {
		__atomic_store_n((__le32 *)word, bytes, __ATOMIC_RELEASE);
		guest_unmap(fn, word, sizeof(bytes), true);
		return 0;
	}
	atomic_thread_fence(memory_order_release);
	return guest_write(fn, address, &bytes, sizeof(bytes));
}

int guest_store_entry(struct function *fn, uint64_t address, const void *entry, size_t size)
{
	size_t body = size - sizeof(uint32_t);
	uint8_t *mapped = map_whole(fn, address, size, true);
	uint32_t phase;

	if (!mapped) {
		if (guest_write(fn, address, entry, body))
			return -EFAULT;
		/* guest_write() ended with a release fence. */
		return guest_write(fn, address + body, (const uint8_t *)entry + body,
				   sizeof(phase));
	}
	memcpy(&phase, (const uint8_t *)entry + body, sizeof(phase));
	memcpy(mapped, entry, body);
	/* Pairs with the host's acquire load of the phase word. */
	__atomic_store_n((uint32_t *)(void *)(mapped + body), phase, __ATOMIC_RELEASE);
	guest_unmap(fn, mapped, size, true);
	return 0;
}
