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

void ternd_lines_init(struct ternd_lines *lines, struct ternd *ternd, const struct ternd_nic *nic)
{
	lines->ternd = ternd;
	lines->nic = nic;
	lines->tell.expired = ternd_lines_left_out;
	lines->tell.context = lines;
}

void ternd_lines_left_out(void *context)
{
	struct ternd_lines *lines = context;

	tern_loop_cancel_alarm(lines->ternd->loop, &lines->tell);
	if (lines->left_out)
		ternd_log(lines->ternd, lines->nic, "%llu more lines were left out",
			  (unsigned long long)lines->left_out);
	lines->left_out = 0;
}

void ternd_lines_log(struct ternd_lines *lines, const char *line)
{
	uint64_t now = tern_loop_now();

	if (now - lines->since >= SECOND_NS) {
		ternd_lines_left_out(lines);
		lines->since = now;
		lines->lines = 0;
	}
	if (lines->lines < LINES_PER_SECOND) {
		lines->lines++;
		ternd_log(lines->ternd, lines->nic, "%s", line);
		return;
	}
	if (!lines->left_out++)
		tern_loop_set_alarm(lines->ternd->loop, &lines->tell, lines->since + SECOND_NS);
}

void ternd_nic_log(struct ternd_nic *nic, const char *line)
{
	ternd_lines_log(&nic->log, line);
}
