/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: between the encodings of the verbs and of the device. */
#ifndef TERN_IB_CONVERT_H
#define TERN_IB_CONVERT_H

#include <rdma/ib_verbs.h>
#include "tern_hw_command.h"
#include "tern_hw_ethernet.h"
#include "tern_hw_qp.h"

static inline bool tern_ib_connected(enum ib_qp_type type)
{
	return type == IB_QPT_RC || type == IB_QPT_UC || type == IB_QPT_XRC_INI ||
	       type == IB_QPT_XRC_TGT;
}

u8 tern_ib_qp_type(enum ib_qp_type type);
bool tern_ib_qp_state_from(u8 device, enum ib_qp_state *state);
bool tern_ib_event_from(u8 type, enum ib_event_type *event);

u32 tern_ib_access_to(int access);
u32 tern_ib_region_access_to(int access);
u32 tern_ib_flush_access_to(int access);
int tern_ib_access_from(u32 access);

enum ib_mtu tern_ib_mtu_from(u32 netdev_mtu);
void tern_ib_speed_from(u32 mbps, u16 *speed, u8 *width);

int tern_ib_gid_to(const union ib_gid *gid, enum ib_gid_type type, const u8 *mac, u16 vlan,
		   struct tern_command_set_gid *body);
void tern_ib_address_to(const struct rdma_ah_attr *attr, u16 udp_source_port,
			struct tern_address_vector *address);
void tern_ib_address_from(const struct tern_address_vector *address, struct rdma_ah_attr *attr);

#endif /* TERN_IB_CONVERT_H */
