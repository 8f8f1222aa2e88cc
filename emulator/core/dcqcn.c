// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the rate computer of DCQCN's reaction point. */
#include "dcqcn.h"

#include <math.h>

/* This near to the highest rate, of 1, a queue pair is not limited any more. */
#define RECOVERED_DISTANCE	(1.0 / 1000)
/*
 * Steps at a time, of a timer whose host was late and of a byte counter that is
 * shorter than a packet: more of them would hold up all others, and the rate is
 * the highest long before.
 */
#define LATE_STEPS_MAX		64

static double at_most(double value, double most)
{
	return value < most ? value : most;
}

static double at_least(double value, double least)
{
	return value > least ? value : least;
}

static void limit_rate(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters)
{
	dcqcn->rate = at_least(dcqcn->rate, parameters->min_rate);
	dcqcn->rate = at_most(dcqcn->rate, parameters->max_rate);
}

/* What every cut does besides cutting. */
static void begin_recovery(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters,
			   uint64_t now)
{
	limit_rate(dcqcn, parameters);
	dcqcn->alpha = (1 - parameters->gain) * dcqcn->alpha + parameters->gain;
	dcqcn->timer_steps = 0;
	dcqcn->byte_steps = 0;
	dcqcn->bytes_left = parameters->byte_reset;
	dcqcn->raised = false;
	dcqcn->cut = now;
	dcqcn->increase = now + parameters->time_reset_ns;
	dcqcn->alpha_from = now;
}

static void reduce(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters)
{
	dcqcn->rate *= at_least(1 - dcqcn->alpha / 2, parameters->min_decrease);
}

void dcqcn_start(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now)
{
	dcqcn->rate = parameters->max_rate;
	dcqcn->target = parameters->max_rate;
	dcqcn->alpha = parameters->initial_alpha;
	reduce(dcqcn, parameters);
	if (parameters->first_rate != 0)
		dcqcn->rate = parameters->first_rate;
	begin_recovery(dcqcn, parameters, now);
}

void dcqcn_notified(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now)
{
	dcqcn_decay(dcqcn, parameters, now);
	dcqcn->alpha_from = now;
	if (now - dcqcn->cut < parameters->reduce_period_ns)
		return;
	if (parameters->clamp_target || dcqcn->raised)
		dcqcn->target = dcqcn->rate;
	reduce(dcqcn, parameters);
	begin_recovery(dcqcn, parameters, now);
}

void dcqcn_decay(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now)
{
	uint64_t periods = (now - dcqcn->alpha_from) / parameters->alpha_timer_ns;

	if (!periods)
		return;
	dcqcn->alpha *= pow(1 - parameters->gain, (double)periods);
	dcqcn->alpha_from += periods * parameters->alpha_timer_ns;
}

static void increase(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters)
{
	uint32_t fewer = dcqcn->timer_steps, more = dcqcn->byte_steps;

	if (fewer > more) {
		fewer = dcqcn->byte_steps;
		more = dcqcn->timer_steps;
	}
	if (fewer > parameters->threshold)
		dcqcn->target += (double)(fewer - parameters->threshold) * parameters->hai_rate;
	else if (more >= parameters->threshold)
		dcqcn->target += parameters->ai_rate;
	dcqcn->target = at_most(dcqcn->target, parameters->max_rate);
	dcqcn->rate = (dcqcn->target + dcqcn->rate) / 2;
	limit_rate(dcqcn, parameters);
	dcqcn->raised = true;
}

/* Counts on; it does not begin anew. */
static void step(uint32_t *steps)
{
	if (*steps < UINT32_MAX)
		++*steps;
}

void dcqcn_time(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now)
{
	for (unsigned int i = 0; i < LATE_STEPS_MAX && dcqcn->increase <= now; i++) {
		step(&dcqcn->timer_steps);
		increase(dcqcn, parameters);
		dcqcn->increase += parameters->time_reset_ns;
	}
	if (dcqcn->increase <= now)
		dcqcn->increase = now + parameters->time_reset_ns;
}

void dcqcn_sent(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t bytes)
{
	for (unsigned int i = 0; bytes >= dcqcn->bytes_left; i++) {
		if (i == LATE_STEPS_MAX) {
			dcqcn->bytes_left = parameters->byte_reset;
			return;
		}
		bytes -= dcqcn->bytes_left;
		dcqcn->bytes_left = parameters->byte_reset;
		step(&dcqcn->byte_steps);
		increase(dcqcn, parameters);
	}
	dcqcn->bytes_left -= bytes;
}

bool dcqcn_recovered(const struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters)
{
	return dcqcn->raised && dcqcn->target >= parameters->max_rate &&
	       dcqcn->rate >= parameters->max_rate * (1 - RECOVERED_DISTANCE);
}
