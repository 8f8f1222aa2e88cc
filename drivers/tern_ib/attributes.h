/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: attributes of queue pairs, checked and translated. */
#ifndef TERN_IB_ATTRIBUTES_H
#define TERN_IB_ATTRIBUTES_H

#include <rdma/ib_verbs.h>
#include "limits.h"
#include "tern_hw_qp.h"

/**
 * struct tern_ib_transition - what a modification starts from
 * @type: of the queue pair
 * @qpn: its number
 * @remote_qpn: its peer's, as set before
 * @current_state: the state it is in
 * @port_mtu: the port's active MTU
 * @flush: the device has FLUSH
 */
struct tern_ib_transition {
	enum ib_qp_type type;
	u32 qpn;
	u32 remote_qpn;
	enum ib_qp_state current_state;
	enum ib_mtu port_mtu;
	bool flush;
};

int tern_ib_check_address(const struct tern_ib_limits *limits, const struct rdma_ah_attr *attr);
int tern_ib_check_modify(const struct tern_ib_limits *limits,
			 const struct tern_ib_transition *from, const struct ib_qp_attr *attr,
			 int mask);
void tern_ib_encode_modify(const struct tern_ib_transition *from, const struct ib_qp_attr *attr,
			   int mask, struct tern_command_modify_qp *body);
int tern_ib_decode_attributes(enum ib_qp_type type, const struct tern_qp_status *status,
			      struct ib_qp_attr *attr);

#endif /* TERN_IB_ATTRIBUTES_H */
