/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the native host: machines with guest memory and a NIC each, cables
 * between them, and one clock for all. The clock is virtual: it stands still
 * while the NICs work and jumps to the next timer or frame when they are idle.
 */
#ifndef TERN_HOST_H
#define TERN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_nic.h"

#define HOST_MEMORY_BASE	UINT64_C(0x10000)	/* bus address of a machine's first byte */
#define HOST_MEMORY_BYTES	(UINT64_C(256) << 20)	/* default */
#define HOST_PAGE		4096
#define HOST_VECTORS		64
#define HOST_FUNCTIONS		4

enum host_page {
	HOST_PAGE_PLAIN = 0,		/* can be mapped */
	HOST_PAGE_UNMAPPABLE,		/* read and write only */
	HOST_PAGE_ABSENT,		/* an access fails; by a pointer kept too long: crashes */
	HOST_PAGE_READ_ONLY,		/* for the device */
};

/* What happened, in order, while machine->record is set. */
enum host_event_type {
	HOST_EVENT_WRITE,		/* by the write callback, not through a mapping */
	HOST_EVENT_INTERRUPT,
	HOST_EVENT_TRANSMIT,
};

struct host_event {
	enum host_event_type type;
	uint64_t address;		/* of a write; vector of an interrupt */
	size_t length;			/* of a write or a frame */
};

struct host_frame {
	struct host_frame *next;
	uint64_t arrival;
	struct machine *to;
	size_t length;
	uint8_t bytes[];
};

struct machine {
	struct world *world;
	struct machine *next;
	struct tern_nic *nic;
	const char *name;
	bool busy;			/* inside a call of its NIC */
	/* Guest memory: two views of the same pages. */
	uint8_t *memory;		/* the guest's: always there */
	uint8_t *device_memory;		/* the device's: pages come and go */
	uint64_t memory_bytes;
	uint64_t allocated;		/* offset of the next free byte */
	uint8_t *pages;			/* enum host_page of each */
	bool pages_changed;		/* one was not plain */
	bool memory_used_before;	/* by a machine that is gone: cleared as it is allocated */
	unsigned int mappings;		/* not given back yet */
	uint64_t map_calls, read_calls, write_calls;
	/* Wire */
	struct machine *peer;
	uint64_t latency_ns;
	/* May be NULL. Sees each frame that leaves; false: it is lost. */
	bool (*on_transmit)(struct machine *machine, const struct tern_frame *frame);
	/* May be NULL. Called after the device read memory: the guest may change it just then. */
	void (*on_read)(struct machine *machine, uint64_t iova, size_t length);
	void *private;			/* of the test */
	uint64_t frames_sent;
	/* Interrupts that were raised. */
	unsigned int interrupts[HOST_FUNCTIONS][HOST_VECTORS];
	uint64_t deadline;
	/* Recorder */
	bool record;
	struct host_event *events;
	size_t event_count, event_room;
	bool log;			/* print the core's log and trace to stderr */
	char last_log[256];
};

struct world {
	uint64_t now;
	bool real_clock;		/* for benchmarks: time passes by itself */
	struct machine *machines;
	struct host_frame *frames;	/* in flight, by arrival */
	/* May be NULL: something else that has a timer on this clock, a switch. */
	void (*timer)(void *timer_context);
	void *timer_context;
	uint64_t timer_deadline;
};

struct world *world_create(void);
void world_destroy(struct world *world);

#define HOST_DEVICE_MEMORY	65536

/* The values that NULL stands for in machine_create(): one function, unpaced. */
extern const struct tern_nic_config host_default_config;

/* Each gets a MAC of its own when the configuration has none. */
struct machine *machine_create(struct world *world, const struct tern_nic_config *config,
			       uint64_t memory_bytes);
/* Join the two by a wire and plug it in. Without one, frames are lost. */
void host_cable(struct machine *a, struct machine *b, uint64_t latency_ns);

/* Let the NICs work until all are idle; time stands still. Returns whether any did something. */
bool world_settle(struct world *world);
/* Work, and let time pass: every timer and frame at its moment. */
void world_advance(struct world *world, uint64_t ns);
/* Advance until done(arg), at most @ns; the result of done(). Stops early when nothing is due. */
bool world_wait(struct world *world, bool (*done)(void *arg), void *arg, uint64_t ns);

/* Guest memory */
uint64_t host_alloc(struct machine *machine, uint64_t bytes, uint64_t align);	/* zeroed */
void *host_pointer(struct machine *machine, uint64_t address);
/*
 * Change pages (whole ones). Making them other than plain is announced to the
 * NIC first (tern_nic_invalidate()), as a DMA unmap is.
 */
void host_set_pages(struct machine *machine, uint64_t address, uint64_t bytes,
		    enum host_page kind);

/* Calls of the NIC: they check that the core gave back its mappings. */
uint64_t host_read(struct machine *machine, unsigned int fn, unsigned int bar, uint64_t offset,
		   unsigned int size);
void host_write(struct machine *machine, unsigned int fn, unsigned int bar, uint64_t offset,
		uint64_t value, unsigned int size);
bool host_run(struct machine *machine, unsigned int budget);
bool host_prepare_sleep(struct machine *machine);
void host_receive(struct machine *machine, const struct tern_frame *frame);
void host_reset(struct machine *machine, unsigned int fn);

/* Value of a counter of function @fn by name; the test fails when there is none. */
uint64_t host_counter(struct machine *machine, unsigned int fn, const char *name);

void host_record_start(struct machine *machine);

#endif /* TERN_HOST_H */
