/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: any number of timers over the one timer that the host gives. */
#ifndef TERN_TIMER_H
#define TERN_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct tern_nic;

/*
 * Stands in the object that it serves; fire() finds the object with
 * container_of(). Before the object is freed it must be cancelled.
 */
struct timer {
	uint64_t deadline;			/* ns of the host's clock */
	void (*fire)(struct tern_nic *nic, struct timer *timer);
	uint32_t place;				/* in the heap, counted from 1; 0: not armed */
};

struct timer_heap {
	struct timer **timers;
	uint32_t count, room, reserved;
	uint64_t told;				/* deadline that the host knows */
};

static inline void timer_init(struct timer *timer,
			      void (*fire)(struct tern_nic *nic, struct timer *timer))
{
	timer->deadline = 0;
	timer->fire = fire;
	timer->place = 0;
}

static inline bool timer_armed(const struct timer *timer)
{
	return timer->place != 0;
}

/*
 * Arm, or move to another deadline. fire() is called once, from
 * tern_nic_timer() or tern_nic_run(), with the timer no longer armed; it may
 * arm it again. Cannot fail: room is reserved by timer_reserve().
 */
void timer_arm(struct tern_nic *nic, struct timer *timer, uint64_t deadline);
/* Harmless when not armed. */
void timer_cancel(struct tern_nic *nic, struct timer *timer);

/* Reserve room for @count more timers when an object is made, give it back when it is freed. */
bool timer_reserve(struct tern_nic *nic, unsigned int count);
void timer_release(struct tern_nic *nic, unsigned int count);

/* For nic.c: fire what is due; tell the host the next deadline if it changed. */
bool timers_run(struct tern_nic *nic);			/* fired one? */
void timers_tell_host(struct tern_nic *nic);
void timers_free(struct tern_nic *nic);

#endif /* TERN_TIMER_H */
