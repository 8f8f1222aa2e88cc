/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Typed commands that only tern.ko uses; tern_core.h has the others. */
#ifndef TERN_COMMANDS_H
#define TERN_COMMANDS_H

#include "adapter.h"
#include "tern_hw_ethernet.h"

int tern_mailbox_alloc(struct tern_adapter *adapter);
void tern_mailbox_free(struct tern_adapter *adapter);

int tern_cmd_nop(struct tern_device *tern);
int tern_cmd_create_eq(struct tern_device *tern, u32 eqn,
		       const struct tern_command_create_eq *body);
int tern_cmd_destroy_eq(struct tern_device *tern, u32 eqn);
int tern_cmd_set_port(struct tern_device *tern, u32 mtu, u8 admin_state);
int tern_cmd_set_station_address(struct tern_device *tern, const u8 *mac);
int tern_cmd_set_receive_mode(struct tern_device *tern, u32 flags, u32 default_qpn);
int tern_cmd_set_multicast_table(struct tern_device *tern, const void *table, u32 count);
int tern_cmd_set_vlan_table(struct tern_device *tern, const void *table);
int tern_cmd_set_rss(struct tern_device *tern, const __le32 *qpns, u16 count, u8 types,
		     const u8 *key);

/* SET_TRAFFIC_CLASSES, _PRIORITY_MAP, _RECEIVE_BUFFERS, _FLOW_CONTROL, _CONGESTION_CONTROL */
int tern_cmd_set_dcb(struct tern_device *tern, u16 opcode, u32 priority, const void *body,
		     size_t length);

#endif /* TERN_COMMANDS_H */
