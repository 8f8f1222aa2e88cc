// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the event loop, over epoll. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tern_loop.h"

#define NS_PER_S	1000000000ULL
#define BATCH		32

struct tern_loop {
	int epoll;
	/* Few alarms (one per NIC and link): a list, not a heap. */
	struct tern_alarm *alarms;
	struct tern_deferred *deferred, **deferred_tail;
	/* Events fetched and not served yet; unwatch clears its own. */
	struct epoll_event batch[BATCH];
	int batched;
};

uint64_t tern_loop_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct tern_loop *tern_loop_create(void)
{
	struct tern_loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->deferred_tail = &loop->deferred;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0) {
		free(loop);
		return NULL;
	}
	return loop;
}

void tern_loop_destroy(struct tern_loop *loop)
{
	if (!loop)
		return;
	close(loop->epoll);
	free(loop);
}

static int control(struct tern_loop *loop, int operation, struct tern_watch *watch,
		   uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	return epoll_ctl(loop->epoll, operation, watch->fd, &event) ? -errno : 0;
}

int tern_loop_watch(struct tern_loop *loop, struct tern_watch *watch, uint32_t events)
{
	return control(loop, EPOLL_CTL_ADD, watch, events);
}

int tern_loop_rewatch(struct tern_loop *loop, struct tern_watch *watch, uint32_t events)
{
	return control(loop, EPOLL_CTL_MOD, watch, events);
}

void tern_loop_unwatch(struct tern_loop *loop, struct tern_watch *watch)
{
	control(loop, EPOLL_CTL_DEL, watch, 0);
	for (int i = 0; i < loop->batched; i++) {
		if (loop->batch[i].data.ptr == watch)
			loop->batch[i].data.ptr = NULL;
	}
}

void tern_loop_cancel_alarm(struct tern_loop *loop, struct tern_alarm *alarm)
{
	struct tern_alarm **link;

	if (!alarm->armed)
		return;
	for (link = &loop->alarms; *link != alarm; link = &(*link)->next)
		;
	*link = alarm->next;
	alarm->armed = false;
}

void tern_loop_set_alarm(struct tern_loop *loop, struct tern_alarm *alarm, uint64_t deadline)
{
	if (deadline == UINT64_MAX) {
		tern_loop_cancel_alarm(loop, alarm);
		return;
	}
	alarm->deadline = deadline;
	if (!alarm->armed) {
		alarm->armed = true;
		alarm->next = loop->alarms;
		loop->alarms = alarm;
	}
}

void tern_loop_defer(struct tern_loop *loop, struct tern_deferred *work)
{
	if (work->queued)
		return;
	work->queued = true;
	work->next = NULL;
	*loop->deferred_tail = work;
	loop->deferred_tail = &work->next;
}

void tern_loop_undefer(struct tern_loop *loop, struct tern_deferred *work)
{
	struct tern_deferred **link;

	if (!work->queued)
		return;
	for (link = &loop->deferred; *link != work; link = &(*link)->next)
		;
	*link = work->next;
	if (loop->deferred_tail == &work->next)
		loop->deferred_tail = link;
	work->queued = false;
}

static int run_deferred(struct tern_loop *loop)
{
	struct tern_deferred *work;
	int count = 0;

	/* Work may defer other work, which is then done at once, too. */
	while ((work = loop->deferred)) {
		tern_loop_undefer(loop, work);
		work->run(work->context);
		count++;
	}
	return count;
}

static uint64_t next_deadline(const struct tern_loop *loop)
{
	uint64_t next = UINT64_MAX;

	for (const struct tern_alarm *alarm = loop->alarms; alarm; alarm = alarm->next) {
		if (alarm->deadline < next)
			next = alarm->deadline;
	}
	return next;
}

/* The alarm that is due longest, or NULL. A callback may change the list: look anew each time. */
static struct tern_alarm *due_alarm(const struct tern_loop *loop, uint64_t now)
{
	struct tern_alarm *due = NULL;

	for (struct tern_alarm *alarm = loop->alarms; alarm; alarm = alarm->next) {
		if (alarm->deadline <= now && (!due || alarm->deadline < due->deadline))
			due = alarm;
	}
	return due;
}

static int run_alarms(struct tern_loop *loop)
{
	struct tern_alarm *alarm;
	uint64_t now;
	int count = 0;

	if (!loop->alarms)
		return 0;
	/* One reading of the clock: an alarm set again for "now" waits for the next turn. */
	now = tern_loop_now();
	while ((alarm = due_alarm(loop, now))) {
		tern_loop_cancel_alarm(loop, alarm);
		alarm->expired(alarm->context);
		count++;
	}
	return count;
}

static int wait_events(struct tern_loop *loop, uint64_t wait_ns)
{
	struct timespec timeout, *limit = &timeout;
	uint64_t deadline;
	int count;

	if (!wait_ns) {
		/* The plain call for the plain case: a busy loop makes it all the time. */
		count = epoll_wait(loop->epoll, loop->batch, BATCH, 0);
		return count < 0 ? (errno == EINTR ? 0 : -errno) : count;
	}
	deadline = next_deadline(loop);
	if (deadline != UINT64_MAX) {
		uint64_t now = tern_loop_now();
		uint64_t until = deadline > now ? deadline - now : 0;

		if (until < wait_ns)
			wait_ns = until;
	}
	if (wait_ns == TERN_LOOP_FOREVER) {
		limit = NULL;
	} else {
		timeout.tv_sec = (time_t)(wait_ns / NS_PER_S);
		timeout.tv_nsec = (long)(wait_ns % NS_PER_S);
	}
	count = epoll_pwait2(loop->epoll, loop->batch, BATCH, limit, NULL);
	return count < 0 ? (errno == EINTR ? 0 : -errno) : count;
}

int tern_loop_poll(struct tern_loop *loop, uint64_t wait_ns)
{
	int count, served = run_deferred(loop);

	/* What was deferred may have made work for others: they come before a sleep. */
	count = wait_events(loop, served ? 0 : wait_ns);
	if (count < 0)
		return count;
	loop->batched = count;
	for (int i = 0; i < count; i++) {
		struct tern_watch *watch = loop->batch[i].data.ptr;

		if (!watch)
			continue;
		watch->ready(watch->context, loop->batch[i].events);
		served++;
	}
	loop->batched = 0;
	return served + run_alarms(loop);
}
