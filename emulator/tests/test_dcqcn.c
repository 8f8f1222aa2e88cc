// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: DCQCN's rate computer against the equations of hw-spec, "congestion",
 * computed here once more: in steps, alpha's timer as a timer, by other code.
 */
#include <float.h>
#include <math.h>

#include "dcqcn.h"
#include "tern_test.h"

#define US	UINT64_C(1000)
#define MS	(1000 * US)
/* Relative errors of doubles; a rate that is as good as none. */
#define NEARLY	0.000000001
#define TINY	0.000001

/* As the specification names them. */
struct reference {
	double max_rate_mbps, min_rate_mbps, first_rate_mbps, ai, hai, initial_alpha, g;
	double min_decrease_percent;
	bool clamp;
	double F;
	uint64_t time_reset, byte_reset, alpha_timer, reduce_period;
	/* state */
	double RC, RT, alpha, T, B;
	uint64_t now, last_cut, increase_at, alpha_at, counted;
	bool limited, raised;
};

static void reference_cut(struct reference *r, bool first)
{
	double by_alpha = r->RC * (1 - r->alpha / 2);
	double by_percent = r->RC * r->min_decrease_percent / 100;

	if (r->clamp || r->raised)
		r->RT = r->RC;
	r->RC = fmax(fmax(by_alpha, by_percent), r->min_rate_mbps);
	if (first && r->first_rate_mbps > 0)
		r->RC = fmin(r->first_rate_mbps, r->max_rate_mbps);
	r->alpha = (1 - r->g) * r->alpha + r->g;
	r->T = 0;
	r->B = 0;
	r->counted = 0;
	r->last_cut = r->now;
	r->increase_at = r->now + r->time_reset;
	r->alpha_at = r->now + r->alpha_timer;
	r->raised = false;
}

static void reference_cnp(struct reference *r)
{
	if (!r->limited) {
		r->limited = true;
		r->RC = r->max_rate_mbps;
		r->RT = r->max_rate_mbps;
		r->alpha = r->initial_alpha;
		reference_cut(r, true);
	} else if (r->now >= r->last_cut + r->reduce_period) {
		reference_cut(r, false);
	} else {
		r->alpha_at = r->now + r->alpha_timer;
	}
}

static void reference_increase(struct reference *r)
{
	if (fmax(r->T, r->B) < r->F)
		;
	else if (fmin(r->T, r->B) > r->F)
		r->RT += (fmin(r->T, r->B) - r->F) * r->hai;
	else
		r->RT += r->ai;
	r->RT = fmin(r->RT, r->max_rate_mbps);
	r->RC = (r->RT + r->RC) / 2;
	r->raised = true;
	if (r->RT >= r->max_rate_mbps && r->max_rate_mbps - r->RC <= r->max_rate_mbps / 1000)
		r->limited = false;
}

static void reference_advance(struct reference *r, uint64_t ns)
{
	for (uint64_t end = r->now + ns; r->limited; ) {
		uint64_t next = r->increase_at < r->alpha_at ? r->increase_at : r->alpha_at;

		if (next > end) {
			r->now = end;
			return;
		}
		r->now = next;
		if (r->alpha_at == next) {
			r->alpha = (1 - r->g) * r->alpha;
			r->alpha_at += r->alpha_timer;
		}
		if (r->increase_at == next) {
			r->increase_at += r->time_reset;
			r->T++;
			reference_increase(r);
		}
	}
}

static void reference_send(struct reference *r, uint64_t bytes)
{
	for (r->counted += bytes; r->limited && r->counted >= r->byte_reset;
	     r->counted -= r->byte_reset) {
		r->B++;
		reference_increase(r);
	}
}

/* The two, side by side. */
static struct reference reference;
static struct dcqcn_parameters parameters;
static struct dcqcn dcqcn;
static uint64_t now;
static bool limited;

/* As ConnectX has them, but for the rates' size. */
static void start(void)
{
	reference = (struct reference){
		.max_rate_mbps = 100000, .min_rate_mbps = 100, .ai = 50, .hai = 500,
		.initial_alpha = 1023.0 / 1024, .g = 1.0 / 16, .min_decrease_percent = 50,
		.F = 5, .time_reset = 300 * US, .byte_reset = 32767 * 64,
		.alpha_timer = 55 * US, .reduce_period = 4 * US,
	};
	now = 77777;
	limited = false;
}

static void agree(void)
{
	const struct reference *r = &reference;

	parameters = (struct dcqcn_parameters){
		.max_rate = r->max_rate_mbps, .min_rate = r->min_rate_mbps,
		.first_rate = r->first_rate_mbps, .ai_rate = r->ai, .hai_rate = r->hai,
		.initial_alpha = r->initial_alpha, .gain = r->g,
		.min_decrease = r->min_decrease_percent / 100, .clamp_target = r->clamp,
		.threshold = (uint32_t)r->F, .byte_reset = r->byte_reset,
		.time_reset_ns = r->time_reset, .alpha_timer_ns = r->alpha_timer,
		.reduce_period_ns = r->reduce_period,
	};
	reference.now = now;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= NEARLY * fmax(fabs(a), fabs(b)) + DBL_MIN;
}

static void compare(void)
{
	if (limited != reference.limited)
		FAIL("limited: %d, not %d", limited, reference.limited);
	if (!limited)
		return;
	dcqcn_decay(&dcqcn, &parameters, now);
	if (!near(dcqcn.rate, reference.RC) || !near(dcqcn.target, reference.RT) ||
	    !near(dcqcn.alpha, reference.alpha))
		FAIL("rate %.9g target %.9g alpha %.9g, not %.9g %.9g %.9g", dcqcn.rate,
		     dcqcn.target, dcqcn.alpha, reference.RC, reference.RT, reference.alpha);
}

static void cnp(void)
{
	if (limited)
		dcqcn_notified(&dcqcn, &parameters, now);
	else
		dcqcn_start(&dcqcn, &parameters, now);
	limited = true;
	reference_cnp(&reference);
	compare();
}

static void wait(uint64_t ns)
{
	uint64_t end = now + ns;

	while (limited && dcqcn.increase <= end) {
		now = dcqcn.increase;
		dcqcn_time(&dcqcn, &parameters, now);
		limited = !dcqcn_recovered(&dcqcn, &parameters);
	}
	now = end;
	reference_advance(&reference, ns);
	reference.now = end;
	compare();
}

static void send(uint64_t bytes)
{
	if (limited) {
		dcqcn_sent(&dcqcn, &parameters, bytes);
		limited = !dcqcn_recovered(&dcqcn, &parameters);
	}
	reference_send(&reference, bytes);
	compare();
}

/* Figures that are worked out by hand, so that the two are not wrong alike. */
TERN_TEST(by_hand)
{
	start();
	reference.initial_alpha = 1;
	agree();
	cnp();
	CHECK(near(dcqcn.rate, 50000));
	CHECK(near(dcqcn.target, 100000));
	CHECK(near(dcqcn.alpha, 1));
	wait(54 * US);
	CHECK(near(dcqcn.alpha, 1));
	wait(US);
	CHECK(near(dcqcn.alpha, 15.0 / 16));
	wait(245 * US);
	CHECK(near(dcqcn.rate, 75000));
	wait(300 * US);
	CHECK(near(dcqcn.rate, 87500));
	send(reference.byte_reset);
	CHECK(near(dcqcn.rate, 93750));
}

/* One CNP, then silence: fast recovery, additive increase, not limited any more. */
TERN_TEST(step_and_recovery)
{
	start();
	agree();
	cnp();
	for (unsigned int i = 0; limited && i < 10000; i++)
		wait(100 * US);
	CHECK(!limited);
	CHECK(now > 9 * 300 * US);
}

/* From far below: the target was cut too, and additive increase has to bring it back. */
TERN_TEST(additive_increase)
{
	double before;

	start();
	reference.ai = 40;
	reference.clamp = true;
	agree();
	for (unsigned int i = 0; i < 4; i++) {
		cnp();
		wait(10 * US);
	}
	CHECK(dcqcn.rate < 20000);
	for (unsigned int i = 0; i < 20; i++)
		wait(300 * US);
	before = dcqcn.target;
	for (unsigned int i = 0; i < 10; i++)
		wait(300 * US);
	CHECK(near(dcqcn.target, before + 10 * 40));
	for (unsigned int i = 0; limited && i < 100000; i++)
		wait(300 * US);
	CHECK(!limited);
}

/* Timer and byte counter are both beyond F: by more each time. */
TERN_TEST(hyper_increase)
{
	double before;

	start();
	reference.hai = 3;
	agree();
	for (unsigned int i = 0; i < 8; i++) {
		cnp();
		wait(301 * US);
	}
	for (unsigned int i = 0; i < 6; i++) {
		send(reference.byte_reset);
		wait(300 * US);
	}
	/* T is 7 (one came before), B is 6: now B is 7, T 7, then 8. */
	before = dcqcn.target;
	send(reference.byte_reset);
	CHECK(near(dcqcn.target, before + 2 * 3));
	wait(300 * US);
	CHECK(near(dcqcn.target, before + 2 * 3 + 2 * 3));
	send(reference.byte_reset);
	CHECK(near(dcqcn.target, before + 2 * 3 + 2 * 3 + 3 * 3));
}

/* A CNP each 100 us and bytes at the rate: it settles, and there alpha is what its gain says. */
TERN_TEST(steady)
{
	double least = 1e9, most = 0;

	start();
	reference.time_reset = 40 * US;
	reference.byte_reset = 1 << 20;
	agree();
	for (unsigned int i = 0; i < 20000; i++) {
		if (limited)
			send((uint64_t)(dcqcn.rate / 8 * 50));
		wait(50 * US);
		if (i % 2)
			cnp();
		if (i < 15000)
			continue;
		least = fmin(least, dcqcn.rate);
		most = fmax(most, dcqcn.rate);
	}
	CHECK(limited);
	CHECK(least >= reference.min_rate_mbps);
	CHECK(most < reference.max_rate_mbps);
}

/* No sooner than reduce_period; alpha's timer begins anew all the same. */
TERN_TEST(reduce_period)
{
	double rate;

	start();
	reference.reduce_period = 50 * US;
	agree();
	cnp();
	rate = dcqcn.rate;
	wait(49 * US);
	cnp();
	CHECK(near(dcqcn.rate, rate));
	wait(54 * US);
	CHECK(near(dcqcn.rate, rate));
	wait(US);
	cnp();
	CHECK(dcqcn.rate < rate);
}

/* Without, cuts in a row leave the target where the first one began. */
TERN_TEST(clamp_target)
{
	for (int clamp = 0; clamp < 2; clamp++) {
		start();
		reference.clamp = clamp;
		agree();
		cnp();
		wait(10 * US);
		cnp();
		CHECK(near(dcqcn.target, clamp ? 100000 * (1 - 1023.0 / 2048) : 100000));
		wait(301 * US);
		cnp();
		CHECK(dcqcn.target < 100000);
	}
}

TERN_TEST(limits)
{
	start();
	reference.min_rate_mbps = 20000;
	reference.first_rate_mbps = 70000;
	agree();
	cnp();
	CHECK(near(dcqcn.rate, 70000));
	for (unsigned int i = 0; i < 20; i++) {
		wait(10 * US);
		cnp();
	}
	CHECK(near(dcqcn.rate, 20000));
	/* The least that a cut leaves. */
	start();
	reference.min_decrease_percent = 90;
	agree();
	cnp();
	CHECK(near(dcqcn.rate, 90000));
	/* The first rate is no higher than the highest, nor lower than the lowest. */
	start();
	reference.first_rate_mbps = 200000;
	agree();
	dcqcn_start(&dcqcn, &parameters, now);
	CHECK(near(dcqcn.rate, 100000));
	parameters.first_rate = 1;
	dcqcn_start(&dcqcn, &parameters, now);
	CHECK(near(dcqcn.rate, 100));
	/* A port slower than the lowest rate. */
	parameters.max_rate = 50;
	dcqcn_start(&dcqcn, &parameters, now);
	CHECK(near(dcqcn.rate, 50));
	/* The highest rate sinks: with the next step. */
	start();
	agree();
	cnp();
	parameters.max_rate = 1000;
	dcqcn_time(&dcqcn, &parameters, now + reference.time_reset);
	CHECK(near(dcqcn.rate, 1000));
	CHECK(near(dcqcn.target, 1000));
}

/* Alpha 0: a CNP cuts nothing, but counts; the next one does. */
TERN_TEST(alpha_from_nothing)
{
	start();
	reference.initial_alpha = 0;
	agree();
	cnp();
	CHECK(limited);
	CHECK(near(dcqcn.rate, 100000));
	wait(10 * US);
	cnp();
	CHECK(near(dcqcn.rate, 100000 * (1 - 1.0 / 32)));
}

/* A host that comes late does not make it count for ever. */
TERN_TEST(late_host)
{
	start();
	reference.time_reset = US;
	reference.ai = TINY;
	agree();
	dcqcn_start(&dcqcn, &parameters, now);
	dcqcn_notified(&dcqcn, &parameters, now + 10 * US);
	dcqcn_time(&dcqcn, &parameters, now + 3600 * 1000 * MS);
	CHECK_EQ(dcqcn.timer_steps, 64);
	CHECK_EQ(dcqcn.increase, now + 3600 * 1000 * MS + US);
	dcqcn_decay(&dcqcn, &parameters, now + 3600 * 1000 * MS);
	CHECK(dcqcn.alpha >= 0 && dcqcn.alpha < NEARLY);
}

/* New values hold from the next step on: bytes of a long step do not make many short ones. */
TERN_TEST(byte_reset_shrinks)
{
	start();
	reference.byte_reset = UINT32_MAX;
	reference.ai = TINY;
	reference.hai = TINY;
	agree();
	dcqcn_start(&dcqcn, &parameters, now);
	dcqcn_sent(&dcqcn, &parameters, UINT32_MAX - 1);
	CHECK_EQ(dcqcn.byte_steps, 0);
	parameters.byte_reset = 10;
	dcqcn_sent(&dcqcn, &parameters, 22);
	CHECK_EQ(dcqcn.byte_steps, 3);
	dcqcn_sent(&dcqcn, &parameters, 9);
	CHECK_EQ(dcqcn.byte_steps, 4);
}

static uint64_t random_state;

static uint64_t dice(uint64_t sides)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % sides;
}

/* Anything in any order, with any parameters. */
TERN_TEST(random_walks)
{
	for (unsigned int seed = 1; seed <= 300; seed++) {
		random_state = seed;
		start();
		reference.clamp = dice(2);
		reference.initial_alpha = (double)dice(1025) / 1024;
		reference.g = 1.0 / (double)(1U << (1 + dice(15)));
		reference.F = (double)(1 + dice(31));
		reference.min_decrease_percent = (double)(1 + dice(100));
		reference.min_rate_mbps = (double)(1 + dice(20000));
		reference.first_rate_mbps = dice(3) ? 0 : 20000 + (double)dice(200000);
		reference.ai = (double)(1 + dice(2000));
		reference.hai = (double)(1 + dice(5000));
		reference.time_reset = (1 + dice(500)) * US;
		reference.alpha_timer = (1 + dice(500)) * US;
		reference.reduce_period = dice(100) * US;
		reference.byte_reset = 1000 + dice(10000000);
		agree();
		for (unsigned int i = 0; i < 500; i++) {
			switch (dice(4)) {
			case 0:
				cnp();
				break;
			case 1:
				send(dice(100000));
				break;
			default:
				wait(dice(400 * US));
				break;
			}
		}
	}
}
