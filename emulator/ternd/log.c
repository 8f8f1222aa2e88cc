// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ternd's lines for people. */
#include <stdarg.h>
#include <stdio.h>

#include "control.h"

#define SECOND_NS		1000000000ULL
#define LINES_PER_SECOND	20

void ternd_log(struct ternd *ternd, const struct ternd_nic *nic, const char *format, ...)
{
	uint64_t us = (tern_loop_now() - ternd->started) / 1000;
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (!ternd->quiet)
		fprintf(stderr, "ternd: %llu.%06llu %s%s%s\n",
			(unsigned long long)(us / 1000000), (unsigned long long)(us % 1000000),
			nic ? nic->name : "", nic ? ": " : "", line);
	if (ternd->control)
		ternd_control_event(ternd->control, "log", nic, line);
}

void ternd_nic_log_left_out(void *context)
{
	struct ternd_nic *nic = context;

	tern_loop_cancel_alarm(nic->ternd->loop, &nic->log.tell);
	if (nic->log.left_out)
		ternd_log(nic->ternd, nic, "%llu more lines were left out",
			  (unsigned long long)nic->log.left_out);
	nic->log.left_out = 0;
}

void ternd_nic_log(struct ternd_nic *nic, const char *line)
{
	uint64_t now = tern_loop_now();

	if (now - nic->log.since >= SECOND_NS) {
		ternd_nic_log_left_out(nic);
		nic->log.since = now;
		nic->log.lines = 0;
	}
	if (nic->log.lines < LINES_PER_SECOND) {
		nic->log.lines++;
		ternd_log(nic->ternd, nic, "%s", line);
		return;
	}
	if (!nic->log.left_out++)
		tern_loop_set_alarm(nic->ternd->loop, &nic->log.tell,
				    nic->log.since + SECOND_NS);
}
