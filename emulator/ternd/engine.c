// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ternd's engine: when to run, when to look at sockets, when to sleep. */
#include "ternd.h"

/*
 * Packets or commands of one NIC before the sockets are looked at again: some
 * 10 us of work, short against the round trip of a register read.
 */
#define BUDGET	64

int ternd_turn(struct ternd *ternd)
{
	uint64_t start = 0;
	bool busy, idle;
	int served;

	ternd->turns++;
	for (;;) {
		busy = false;
		for (struct ternd_nic *nic = ternd->nics; nic; nic = nic->next)
			busy |= ternd_nic_run(nic, BUDGET);
		if (busy)
			return tern_loop_poll(ternd->loop, 0);
		/* Nothing to do. Look for more for a while: waking up costs more than that. */
		if (!ternd->spin_ns)
			break;
		served = tern_loop_poll(ternd->loop, 0);
		if (served)
			return served;
		if (!start)
			start = tern_loop_now();
		else if (tern_loop_now() - start >= ternd->spin_ns)
			break;
	}
	/* Every NIC asks its queues for doorbells, even when one of them has found work. */
	idle = true;
	for (struct ternd_nic *nic = ternd->nics; nic; nic = nic->next)
		idle &= ternd_nic_prepare_sleep(nic);
	if (!idle)
		return tern_loop_poll(ternd->loop, 0);
	ternd->sleeps++;
	return tern_loop_poll(ternd->loop, TERN_LOOP_FOREVER);
}

int ternd_run(struct ternd *ternd)
{
	while (!ternd->quit) {
		int served = ternd_turn(ternd);

		if (served < 0)
			return served;
	}
	return 0;
}
