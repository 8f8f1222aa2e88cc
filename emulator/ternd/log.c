// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ternd's lines for people. */
#include <stdarg.h>
#include <stdio.h>

#include "control.h"

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
