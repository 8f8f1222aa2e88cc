// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the native host: clock, machines, wires. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"
#include "host_memory.h"

/* Whoever runs the core on this host wants to know that it broke its contract: at once. */
static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "native host: %s\n", what);
	abort();
}

static uint64_t host_now(void *host)
{
	const struct machine *machine = host;
	struct timespec now;

	if (!machine->world->real_clock)
		return machine->world->now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void set_timer(void *host, uint64_t deadline)
{
	struct machine *machine = host;

	machine->deadline = deadline;
}

static void interrupt(void *host, unsigned int fn, unsigned int vector)
{
	struct machine *machine = host;

	if (fn >= HOST_FUNCTIONS || vector >= HOST_VECTORS)
		die("a vector that does not exist was raised");
	machine->interrupts[fn][vector]++;
	host_note(machine, HOST_EVENT_INTERRUPT, vector, 0);
}

static void queue_frame(struct machine *to, const struct tern_frame *frame, uint64_t arrival)
{
	struct host_frame **place = &to->world->frames, *copy;
	size_t length = tern_frame_length(frame);

	copy = malloc(sizeof(*copy) + length);
	if (!copy)
		die("out of memory");
	copy->to = to;
	copy->arrival = arrival;
	copy->length = length;
	if (tern_frame_flatten(frame, copy->bytes, length) != length)
		die("tern_frame_flatten() does not agree with tern_frame_length()");
	while (*place && (*place)->arrival <= arrival)
		place = &(*place)->next;
	copy->next = *place;
	*place = copy;
}

static void transmit(void *host, const struct tern_frame *frame)
{
	struct machine *machine = host, *peer = machine->peer;

	machine->frames_sent++;
	host_note(machine, HOST_EVENT_TRANSMIT, 0, tern_frame_length(frame));
	if (machine->on_transmit && !machine->on_transmit(machine, frame))
		return;
	if (!peer)
		return;
	/* Without latency the frame goes over as it is, by reference, unless the peer is busy. */
	if (!machine->latency_ns && !peer->busy && !machine->world->frames)
		host_receive(peer, frame);
	else
		queue_frame(peer, frame, host_now(host) + machine->latency_ns);
}

static void trace(void *host, unsigned int fn, uint32_t qpn, const char *line)
{
	struct machine *machine = host;

	if (machine->log)
		fprintf(stderr, "%10llu %s fn %u qp %u: %s\n",
			(unsigned long long)host_now(host), machine->name, fn, qpn, line);
}

static void log_line(void *host, unsigned int fn, const char *line)
{
	struct machine *machine = host;

	snprintf(machine->last_log, sizeof(machine->last_log), "%s", line);
	if (machine->log)
		fprintf(stderr, "%10llu %s fn %u: %s\n", (unsigned long long)host_now(host),
			machine->name, fn, line);
}

static const struct tern_nic_host host_ops = {
	.map = host_map,
	.unmap = host_unmap,
	.read = host_memory_read,
	.write = host_memory_write,
	.interrupt = interrupt,
	.now = host_now,
	.set_timer = set_timer,
	.transmit = transmit,
	.trace = trace,
	.log = log_line,
};

const struct tern_nic_config host_default_config = {
	.functions = 1, .seed = 1, .device_memory = HOST_DEVICE_MEMORY,
};

struct world *world_create(void)
{
	struct world *world = calloc(1, sizeof(*world));

	if (!world)
		die("out of memory");
	/* Not 0: a clock that starts at 0 hides mistakes. */
	world->now = 1000000;
	world->timer_deadline = TERN_NIC_NO_DEADLINE;
	return world;
}

static void machine_destroy(struct machine *machine)
{
	tern_nic_destroy(machine->nic);
	host_memory_destroy(machine);
	free(machine->events);
	free(machine);
}

void world_destroy(struct world *world)
{
	while (world->frames) {
		struct host_frame *frame = world->frames;

		world->frames = frame->next;
		free(frame);
	}
	while (world->machines) {
		struct machine *machine = world->machines;

		world->machines = machine->next;
		machine_destroy(machine);
	}
	free(world);
}

struct machine *machine_create(struct world *world, const struct tern_nic_config *config,
			       uint64_t memory_bytes)
{
	struct tern_nic_config mine = config ? *config : host_default_config;
	struct machine *machine = calloc(1, sizeof(*machine)), **last = &world->machines;
	static const uint8_t no_mac[6];
	static const char *const names[] = { "a", "b", "c", "d" };
	unsigned int number = 0;

	if (!machine)
		die("out of memory");
	for (; *last; last = &(*last)->next)
		number++;
	machine->world = world;
	machine->name = names[number % 4];
	machine->deadline = TERN_NIC_NO_DEADLINE;
	machine->log = getenv("TERN_TEST_LOG");
	host_memory_create(machine, memory_bytes ? memory_bytes : HOST_MEMORY_BYTES);
	if (!mine.name)
		mine.name = machine->name;
	if (!memcmp(mine.mac, no_mac, sizeof(no_mac)))
		memcpy(mine.mac, (uint8_t[]){ 0x02, 0x54, 0x45, 0x52, (uint8_t)number, 0x10 }, 6);
	machine->nic = tern_nic_create(&mine, &host_ops, machine);
	if (!machine->nic)
		die("tern_nic_create() failed");
	for (unsigned int fn = 0; fn < mine.functions; fn++)
		tern_nic_bus_master(machine->nic, fn, true);
	*last = machine;
	return machine;
}

void host_cable(struct machine *a, struct machine *b, uint64_t latency_ns)
{
	a->peer = b;
	b->peer = a;
	a->latency_ns = latency_ns;
	b->latency_ns = latency_ns;
	tern_nic_set_carrier(a->nic, true);
	tern_nic_set_carrier(b->nic, true);
}

static void enter(struct machine *machine)
{
	if (machine->busy)
		die("called back into a NIC that is inside a call");
	machine->busy = true;
}

static void leave(struct machine *machine)
{
	machine->busy = false;
	if (machine->mappings)
		die("a mapping was not given back before the core call returned");
}

uint64_t host_read(struct machine *machine, unsigned int fn, unsigned int bar, uint64_t offset,
		   unsigned int size)
{
	uint64_t value;

	enter(machine);
	value = tern_nic_bar_read(machine->nic, fn, bar, offset, size);
	leave(machine);
	return value;
}

void host_write(struct machine *machine, unsigned int fn, unsigned int bar, uint64_t offset,
		uint64_t value, unsigned int size)
{
	enter(machine);
	tern_nic_bar_write(machine->nic, fn, bar, offset, value, size);
	leave(machine);
}

bool host_run(struct machine *machine, unsigned int budget)
{
	bool any;

	enter(machine);
	any = tern_nic_run(machine->nic, budget);
	leave(machine);
	return any;
}

bool host_prepare_sleep(struct machine *machine)
{
	bool idle;

	enter(machine);
	idle = tern_nic_prepare_sleep(machine->nic);
	leave(machine);
	return idle;
}

void host_receive(struct machine *machine, const struct tern_frame *frame)
{
	enter(machine);
	tern_nic_receive(machine->nic, frame);
	leave(machine);
}

void host_reset(struct machine *machine, unsigned int fn)
{
	enter(machine);
	tern_nic_reset(machine->nic, fn);
	leave(machine);
}

static bool deliver_due(struct world *world, uint64_t now)
{
	bool any = false;

	while (world->frames && world->frames->arrival <= now) {
		struct host_frame *held = world->frames;
		struct tern_frame frame;

		world->frames = held->next;
		tern_frame_wrap(&frame, held->bytes, held->length);
		host_receive(held->to, &frame);
		free(held);
		any = true;
	}
	return any;
}

static bool fire_due(struct world *world)
{
	bool any = false;

	if (world->timer && world->timer_deadline <= world->now) {
		world->timer_deadline = TERN_NIC_NO_DEADLINE;
		world->timer(world->timer_context);
		any = true;
	}
	for (struct machine *m = world->machines; m; m = m->next) {
		if (m->deadline > host_now(m))
			continue;
		m->deadline = TERN_NIC_NO_DEADLINE;
		enter(m);
		tern_nic_timer(m->nic);
		leave(m);
		any = true;
	}
	return any;
}

bool world_settle(struct world *world)
{
	bool any = false, more;

	do {
		more = false;
		for (struct machine *m = world->machines; m; m = m->next) {
			more |= deliver_due(world, host_now(m));
			more |= host_run(m, 64);
		}
		any |= more;
	} while (more);
	return any;
}

static uint64_t next_due(const struct world *world)
{
	uint64_t due = world->frames ? world->frames->arrival : TERN_NIC_NO_DEADLINE;

	if (world->timer_deadline < due)
		due = world->timer_deadline;
	for (const struct machine *m = world->machines; m; m = m->next) {
		if (m->deadline < due)
			due = m->deadline;
	}
	return due;
}

/* Settle, then go to the next moment at which something is due, not beyond @end. */
static bool step(struct world *world, uint64_t end)
{
	uint64_t due;

	world_settle(world);
	due = next_due(world);
	if (due > end)
		return false;
	if (due > world->now)
		world->now = due;
	fire_due(world);
	deliver_due(world, world->now);
	return true;
}

void world_advance(struct world *world, uint64_t ns)
{
	uint64_t end = world->now + ns;

	while (step(world, end))
		;
	world->now = end;
	world_settle(world);
}

bool world_wait(struct world *world, bool (*done)(void *arg), void *arg, uint64_t ns)
{
	uint64_t end = world->now + ns;

	for (;;) {
		if (done(arg))
			return true;
		if (!step(world, end))
			break;
	}
	return done(arg);
}

uint64_t host_counter(struct machine *machine, unsigned int fn, const char *name)
{
	struct tern_nic_counter counters[256];
	size_t count = tern_nic_counters(machine->nic, fn, counters, 256);

	for (size_t i = 0; i < count && i < 256; i++) {
		if (!strcmp(counters[i].name, name))
			return counters[i].value;
	}
	fprintf(stderr, "native host: no counter \"%s\"\n", name);
	abort();
}
