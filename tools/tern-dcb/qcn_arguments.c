// SPDX-License-Identifier: GPL-2.0-or-later
/* tern-dcb: arguments of "qcn set". */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qcn_arguments.h"

#define FIELD(text, member, unit, settable) \
	{ text, unit, offsetof(struct ieee_qcn, member), settable }

/* enable comes first: it is the one that is a byte. */
const struct qcn_field qcn_fields[] = {
	FIELD("enable", rpg_enable, "", true),
	FIELD("max-rps", rppp_max_rps, "", false),
	FIELD("time-reset", rpg_time_reset, "us", true),
	FIELD("byte-reset", rpg_byte_reset, "B", true),
	FIELD("threshold", rpg_threshold, "", true),
	FIELD("max-rate", rpg_max_rate, "Mb/s", true),
	FIELD("ai-rate", rpg_ai_rate, "Mb/s", true),
	FIELD("hai-rate", rpg_hai_rate, "Mb/s", true),
	FIELD("gd", rpg_gd, "", true),
	FIELD("min-dec-fac", rpg_min_dec_fac, "%", true),
	FIELD("min-rate", rpg_min_rate, "Mb/s", true),
	FIELD("cndd-state", cndd_state_machine, "", false),
};

const unsigned int qcn_field_count = sizeof(qcn_fields) / sizeof(qcn_fields[0]);

unsigned int qcn_get(const struct ieee_qcn *qcn, const struct qcn_field *field,
		     unsigned int priority)
{
	const unsigned char *member = (const unsigned char *)qcn + field->offset;
	unsigned int value;

	if (field == &qcn_fields[0])
		return member[priority];
	memcpy(&value, member + priority * sizeof(value), sizeof(value));
	return value;
}

static void qcn_put(struct ieee_qcn *qcn, const struct qcn_field *field, unsigned int priority,
		    unsigned int value)
{
	unsigned char *member = (unsigned char *)qcn + field->offset;

	if (field == &qcn_fields[0])
		member[priority] = value;
	else
		memcpy(member + priority * sizeof(value), &value, sizeof(value));
}

/* Digits only: strtoul would take signs and blanks. */
static int parse_number(const char *word, unsigned int *value)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return -1;
	errno = 0;
	number = strtoul(word, &end, 10);
	if (*end || errno || number > 0xffffffffUL)
		return -1;
	*value = number;
	return 0;
}

static int parse_value(const struct qcn_field *field, const char *word, unsigned int *value)
{
	if (field != &qcn_fields[0])
		return parse_number(word, value);
	*value = !strcmp(word, "on");
	return *value || !strcmp(word, "off") ? 0 : -1;
}

static const struct qcn_field *find_field(const char *word)
{
	unsigned int i;

	for (i = 0; i < qcn_field_count; i++)
		if (qcn_fields[i].settable && !strcmp(word, qcn_fields[i].name))
			return &qcn_fields[i];
	return NULL;
}

int qcn_apply(struct ieee_qcn *qcn, char **words, int count, char *error, size_t size)
{
	const struct qcn_field *field;
	unsigned int first = 0, last = 0, value, i;
	bool chosen = false, changed = false;

	for (; count >= 2; words += 2, count -= 2) {
		if (!strcmp(words[0], "prio")) {
			if (!strcmp(words[1], "all")) {
				first = 0;
				last = IEEE_8021QAZ_MAX_TCS - 1;
			} else {
				if (parse_number(words[1], &first) ||
				    first >= IEEE_8021QAZ_MAX_TCS) {
					snprintf(error, size, "'%s' is no priority", words[1]);
					return -1;
				}
				last = first;
			}
			chosen = true;
			continue;
		}
		field = find_field(words[0]);
		if (!field) {
			snprintf(error, size, "'%s' cannot be set", words[0]);
			return -1;
		}
		if (!chosen) {
			snprintf(error, size, "'%s' of which prio?", words[0]);
			return -1;
		}
		if (parse_value(field, words[1], &value)) {
			snprintf(error, size, "'%s' is no value of %s", words[1], words[0]);
			return -1;
		}
		for (i = first; i <= last; i++)
			qcn_put(qcn, field, i, value);
		changed = true;
	}
	if (count) {
		snprintf(error, size, "'%s' lacks its value", words[0]);
		return -1;
	}
	if (!changed) {
		snprintf(error, size, "nothing to set");
		return -1;
	}
	return 0;
}
