/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: bytes at a rate. busy_until is when all that was taken has passed; more
 * may be taken when that is not in the future. What was idle, or a host that
 * was late, may catch up PACER_BURST_NS, so that the average keeps the rate
 * although the host runs us in steps; unless pacer_begin() says that it was no
 * lateness.
 */
#ifndef TERN_PACER_H
#define TERN_PACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACER_BURST_NS		20000

/* Zeroed: no limit. */
struct pacer {
	uint64_t mbps;
	uint64_t busy_until;
	uint64_t fraction;		/* of a ns, in 1 / mbps, not yet in busy_until */
};

static inline bool pacer_ready(const struct pacer *pacer, uint64_t now)
{
	return pacer->busy_until <= now;
}

/* Nothing waited for it: what follows is not late. */
static inline void pacer_begin(struct pacer *pacer, uint64_t now)
{
	if (pacer->busy_until < now) {
		pacer->busy_until = now;
		pacer->fraction = 0;
	}
}

static inline void pacer_take(struct pacer *pacer, uint64_t now, size_t bytes)
{
	uint64_t earliest = now > PACER_BURST_NS ? now - PACER_BURST_NS : 0;

	if (!pacer->mbps)
		return;
	if (pacer->busy_until < earliest)
		pacer->busy_until = earliest;
	pacer->fraction += bytes * 8000;
	pacer->busy_until += pacer->fraction / pacer->mbps;
	pacer->fraction %= pacer->mbps;
}

#endif /* TERN_PACER_H */
