/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the rate computer of DCQCN's reaction point (hw-spec, "congestion").
 * Pure: it knows neither packets nor timers; who calls it says what time it is.
 */
#ifndef TERN_DCQCN_H
#define TERN_DCQCN_H

#include <stdbool.h>
#include <stdint.h>

/* Rates in Mb/s. Other than 0 but for first_rate, where 0 is: none. */
struct dcqcn_parameters {
	double max_rate, min_rate, first_rate;
	double ai_rate, hai_rate;
	double initial_alpha, gain;
	double min_decrease;		/* what a cut leaves at least, of 1 */
	bool clamp_target;
	uint32_t threshold;		/* F */
	uint64_t byte_reset;
	uint64_t time_reset_ns, alpha_timer_ns, reduce_period_ns;
};

struct dcqcn {
	double rate, target, alpha;	/* R_C, R_T */
	uint32_t timer_steps, byte_steps;	/* T, B */
	uint64_t bytes_left;		/* to the next step of the byte counter */
	bool raised;			/* since the last cut */
	uint64_t cut;			/* when the last one was */
	uint64_t increase;		/* when the increase timer is due */
	uint64_t alpha_from;		/* alpha has decayed up to here */
};

/* The first CNP: limited from now on. */
void dcqcn_start(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now);
/* One more. */
void dcqcn_notified(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now);
/* The increase timer may be due. */
void dcqcn_time(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now);
/* So many bytes were sent. */
void dcqcn_sent(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t bytes);
/* Let alpha decay up to now: it is only looked at by a cut, and by people. */
void dcqcn_decay(struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters, uint64_t now);
/* It was raised to where it need not be limited any more. */
bool dcqcn_recovered(const struct dcqcn *dcqcn, const struct dcqcn_parameters *parameters);

#endif /* TERN_DCQCN_H */
