/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef TERN_HEALTH_H
#define TERN_HEALTH_H

#include "adapter.h"

void tern_health_init(struct tern_adapter *adapter);
void tern_health_start(struct tern_adapter *adapter);
void tern_health_stop(struct tern_adapter *adapter);
void tern_health_exit(struct tern_adapter *adapter);

/* From any context; only the first call after a start does something. */
void tern_declare_dead(struct tern_adapter *adapter, const char *why);

#endif /* TERN_HEALTH_H */
