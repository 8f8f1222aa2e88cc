/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tern-dcb: what stands on the command line, applied to the kernel's structure. */
#ifndef TERN_DCB_QCN_ARGUMENTS_H
#define TERN_DCB_QCN_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/dcbnl.h>

/* A member of struct ieee_qcn: its name here, where it is, its unit. */
struct qcn_field {
	const char *name;
	const char *unit;
	size_t offset;
	bool settable;
};

extern const struct qcn_field qcn_fields[];
extern const unsigned int qcn_field_count;

unsigned int qcn_get(const struct ieee_qcn *qcn, const struct qcn_field *field,
		     unsigned int priority);

/*
 * Apply "prio N NAME VALUE...", any number of times, where N is 0 to 7 or all.
 * Returns 0, or -1 with what is wrong in @error; @qcn may be changed then.
 */
int qcn_apply(struct ieee_qcn *qcn, char **words, int count, char *error, size_t size);

#endif /* TERN_DCB_QCN_ARGUMENTS_H */
