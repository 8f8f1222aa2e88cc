// SPDX-License-Identifier: GPL-2.0-or-later
/* tern-dcb: its command line, without a kernel. */
#include <stdio.h>
#include <string.h>

#include "qcn_arguments.h"

static int failed;

static void check(bool good, const char *what)
{
	if (!good) {
		printf("FAIL %s\n", what);
		failed = 1;
	}
}

static int apply(struct ieee_qcn *qcn, const char *line)
{
	char copy[128], error[128] = "", *words[16];
	int count = 0, err;
	char *word;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok(copy, " "); word && count < 16; word = strtok(NULL, " "))
		words[count++] = word;
	err = qcn_apply(qcn, words, count, error, sizeof(error));
	check(!err == !error[0], line);
	return err;
}

int main(void)
{
	static const char * const bad[] = {
		"", "prio", "prio 3", "prio 8 gd 1", "prio -1 gd 1", "prio x gd 1", "gd 1",
		"prio 1 gd", "prio 1 gd x", "prio 1 gd 1x", "prio 1 gd -1", "prio 1 gd +1",
		"prio 1 ai-rate 4294967296", "prio 1 enable 1", "prio 1 max-rps 1",
		"prio 1 cndd-state 1", "prio 1 nothing 1",
	};
	struct ieee_qcn qcn = { 0 };
	unsigned int i;

	check(!apply(&qcn, "prio 3 enable on ai-rate 50 prio 4 gd 7"), "set");
	check(qcn.rpg_enable[3] == 1 && qcn.rpg_ai_rate[3] == 50 && qcn.rpg_gd[4] == 7, "values");
	check(!qcn.rpg_enable[4] && !qcn.rpg_ai_rate[4] && !qcn.rpg_gd[3], "no others");
	check(!apply(&qcn, "prio all byte-reset 4294967295"), "all");
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		check(qcn.rpg_byte_reset[i] == 4294967295U, "each of all");
	check(!apply(&qcn, "prio 3 enable off") && !qcn.rpg_enable[3], "off");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(apply(&qcn, bad[i]) < 0, bad[i]);
	puts(failed ? "failed" : "passed");
	return failed;
}
