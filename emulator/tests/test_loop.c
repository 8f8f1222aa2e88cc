// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the event loop. */
#include <unistd.h>

#include "tern_loop.h"
#include "tern_test.h"

static struct tern_loop *loop;
static char order[32];
static char letter_a = 'a', letter_b = 'b', letter_c = 'c';

static void note(char what)
{
	order[strlen(order)] = what;
}

static void expired(void *context)
{
	note(*(const char *)context);
}

TERN_TEST(alarms_in_order_of_their_time)
{
	struct tern_alarm a = { .expired = expired, .context = &letter_a };
	struct tern_alarm b = { .expired = expired, .context = &letter_b };
	struct tern_alarm c = { .expired = expired, .context = &letter_c };
	uint64_t now = tern_loop_now();

	loop = tern_loop_create();
	tern_loop_set_alarm(loop, &a, now - 1);
	tern_loop_set_alarm(loop, &b, now - 3);
	tern_loop_set_alarm(loop, &c, now - 2);
	CHECK_EQ(tern_loop_poll(loop, 0), 3);
	CHECK_STR(order, "bca");
	CHECK_EQ(tern_loop_poll(loop, 0), 0);
	/* A new deadline replaces the last; one cancelled does not come. */
	tern_loop_set_alarm(loop, &a, now - 1);
	tern_loop_set_alarm(loop, &a, UINT64_MAX);
	tern_loop_set_alarm(loop, &b, now + 3600000000000ULL);
	tern_loop_set_alarm(loop, &b, now - 1);
	tern_loop_set_alarm(loop, &c, now - 1);
	tern_loop_cancel_alarm(loop, &c);
	tern_loop_cancel_alarm(loop, &c);
	CHECK_EQ(tern_loop_poll(loop, 0), 1);
	CHECK_STR(order, "bcab");
	tern_loop_destroy(loop);
}

TERN_TEST(a_wait_ends_with_the_next_alarm)
{
	struct tern_alarm a = { .expired = expired, .context = &letter_a };
	uint64_t start = tern_loop_now(), waited;

	loop = tern_loop_create();
	tern_loop_set_alarm(loop, &a, start + 20000000);
	while (!*order)
		CHECK(tern_loop_poll(loop, TERN_LOOP_FOREVER) >= 0);
	waited = tern_loop_now() - start;
	CHECK(waited >= 20000000);
	tern_loop_destroy(loop);
}

static struct tern_alarm again;

static void set_again(void *context)
{
	(void)context;
	note('x');
	tern_loop_set_alarm(loop, &again, tern_loop_now());
}

TERN_TEST(an_alarm_set_again_for_now_does_not_starve_the_rest)
{
	loop = tern_loop_create();
	again.expired = set_again;
	tern_loop_set_alarm(loop, &again, tern_loop_now());
	CHECK_EQ(tern_loop_poll(loop, 0), 1);
	CHECK_EQ(tern_loop_poll(loop, 0), 1);
	CHECK_STR(order, "xx");
	tern_loop_destroy(loop);
}

static struct tern_deferred first, second;

static void run_first(void *context)
{
	(void)context;
	note('1');
	tern_loop_defer(loop, &second);
}

static void run_second(void *context)
{
	(void)context;
	note('2');
}

TERN_TEST(deferred_work_runs_once_and_forbids_a_sleep)
{
	loop = tern_loop_create();
	first.run = run_first;
	second.run = run_second;
	tern_loop_defer(loop, &first);
	tern_loop_defer(loop, &first);
	/* Were it to wait, this would never end. */
	CHECK_EQ(tern_loop_poll(loop, TERN_LOOP_FOREVER), 2);
	CHECK_STR(order, "12");
	tern_loop_defer(loop, &first);
	tern_loop_defer(loop, &second);
	tern_loop_undefer(loop, &first);
	tern_loop_undefer(loop, &first);
	CHECK_EQ(tern_loop_poll(loop, 0), 1);
	CHECK_STR(order, "122");
	/* The list is whole after its last was taken out. */
	tern_loop_defer(loop, &second);
	tern_loop_undefer(loop, &second);
	tern_loop_defer(loop, &second);
	CHECK_EQ(tern_loop_poll(loop, 0), 1);
	tern_loop_destroy(loop);
}

static struct tern_watch watches[2];

static void drain_and_forget_the_other(void *context, uint32_t events)
{
	struct tern_watch *other = context;

	CHECK(events & EPOLLIN);
	note('r');
	tern_loop_unwatch(loop, other);
}

TERN_TEST(a_watch_that_is_taken_away_is_not_served_any_more)
{
	int pipes[2][2];

	loop = tern_loop_create();
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(pipe(pipes[i]), 0);
		CHECK_EQ(write(pipes[i][1], "x", 1), 1);
		watches[i].fd = pipes[i][0];
		watches[i].ready = drain_and_forget_the_other;
		watches[i].context = &watches[!i];
		CHECK_EQ(tern_loop_watch(loop, &watches[i], EPOLLIN), 0);
	}
	/* Both are ready in the same batch; the first one served removes the second. */
	CHECK_EQ(tern_loop_poll(loop, TERN_LOOP_FOREVER), 1);
	CHECK_STR(order, "r");
	tern_loop_destroy(loop);
}
