/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: SET_TRAFFIC_CLASSES: how priorities share the link. The scheduler is in egress.h. */
#ifndef TERN_TRAFFIC_CLASS_H
#define TERN_TRAFFIC_CLASS_H

#include <stdint.h>

struct command;
struct tern_nic;

/* All priorities in class 0, which is strict and has no limit. */
void traffic_classes_reset(struct tern_nic *nic);
uint16_t set_traffic_classes_command(struct command *command);

#endif /* TERN_TRAFFIC_CLASS_H */
