/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: flow specifications, checked and translated. */
#ifndef TERN_IB_FLOW_SPECS_H
#define TERN_IB_FLOW_SPECS_H

#include <rdma/ib_verbs.h>
#include "tern_hw_flow.h"

int tern_ib_encode_flow(const struct ib_flow_attr *attr, struct tern_command_add_flow *body);

#endif /* TERN_IB_FLOW_SPECS_H */
