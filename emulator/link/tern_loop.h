/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the event loop that links and front ends share.
 *
 * One thread calls tern_loop_poll() and everything registered here is called
 * from inside it, so nothing below needs a lock.
 */
#ifndef TERN_LOOP_H
#define TERN_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct tern_loop;

#define TERN_LOOP_FOREVER	UINT64_MAX

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#endif

/* A descriptor that is watched. Embedded in its owner, which fills in fd, ready and context. */
struct tern_watch {
	int fd;
	void (*ready)(void *context, uint32_t events);	/* EPOLL* bits */
	void *context;
};

/* A point in time (CLOCK_MONOTONIC nanoseconds). Zeroed, then expired and context filled in. */
struct tern_alarm {
	void (*expired)(void *context);
	void *context;
	uint64_t deadline;
	struct tern_alarm *next;
	bool armed;
};

/* Work to be done once before the loop looks at descriptors again. Prepared as an alarm is. */
struct tern_deferred {
	void (*run)(void *context);
	void *context;
	struct tern_deferred *next;
	bool queued;
};

struct tern_loop *tern_loop_create(void);
void tern_loop_destroy(struct tern_loop *loop);

/* 0 or a negative errno. */
int tern_loop_watch(struct tern_loop *loop, struct tern_watch *watch, uint32_t events);
int tern_loop_rewatch(struct tern_loop *loop, struct tern_watch *watch, uint32_t events);
/* On return ready() is not called any more, not even for an event already fetched. */
void tern_loop_unwatch(struct tern_loop *loop, struct tern_watch *watch);

/* A new deadline replaces the last one; UINT64_MAX cancels. */
void tern_loop_set_alarm(struct tern_loop *loop, struct tern_alarm *alarm, uint64_t deadline);
void tern_loop_cancel_alarm(struct tern_loop *loop, struct tern_alarm *alarm);

void tern_loop_defer(struct tern_loop *loop, struct tern_deferred *work);
void tern_loop_undefer(struct tern_loop *loop, struct tern_deferred *work);

/*
 * Run what was deferred, wait at most @wait_ns (0: only look) for a
 * descriptor or an alarm, and serve them. Does not wait when something was
 * deferred. Returns how many were served, deferred work included, or a
 * negative errno (never -EINTR: a signal ends the wait and counts as none).
 */
int tern_loop_poll(struct tern_loop *loop, uint64_t wait_ns);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t tern_loop_now(void);

#endif /* TERN_LOOP_H */
