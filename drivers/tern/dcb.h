/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Priorities, flow control, traffic classes and congestion control of the port. */
#ifndef TERN_DCB_H
#define TERN_DCB_H

#include <linux/mutex.h>
#include <linux/notifier.h>

#include "adapter.h"
#include "dcb_translate.h"

struct tern_netdev;

/**
 * struct tern_dcb - what was set, and what the device was told
 * @lock: protects all of it; RTNL and devlink's lock come before it
 * @settings: all that was set
 * @commands: the same for the device, as it has it
 * @queue_sets: of each priority the set of transmit queues; read without the lock
 * @sorted: not all of @queue_sets are 0; read without the lock
 * @transmit_map: as the device has it; read without the lock
 * @mtu: what lossless buffers have room for two frames of
 * @paused: priorities that were paused lately; health work writes it
 * @obeys: pauses can come at all; read without the lock
 * @statistics: as health work saw them last
 * @netdev: whose it is
 * @netdev_notifier: knows when @netdev gets another interface index
 */
struct tern_dcb {
	/* see above */
	struct mutex lock;
	struct tern_dcb_settings settings;
	struct tern_dcb_commands commands;
	u8 queue_sets[TERN_PRIORITIES];
	bool sorted;
	struct tern_command_set_priority_map transmit_map;
	unsigned int mtu;
	u8 paused;
	bool obeys;
	struct tern_priority_statistics statistics;
	struct net_device *netdev;
	struct notifier_block netdev_notifier;
};

/**
 * typedef tern_dcb_edit - changes settings, or refuses as dcb_translate.h says
 * @settings: to change
 * @data: the caller's
 * @why: set to the reason of a refusal
 */
typedef int tern_dcb_edit(struct tern_dcb_settings *settings, const void *data, const char **why);

int tern_dcb_create(struct tern_netdev *priv);
void tern_dcb_destroy(struct tern_netdev *priv);
/* After a reset of the device: as before it. */
int tern_dcb_restore(struct tern_netdev *priv);
/* One change of everything that was set: all of it or nothing. */
int tern_dcb_change(struct tern_netdev *priv, tern_dcb_edit *edit, const void *data,
		    const char **why);
/* Whether an MTU leaves lossless buffers possible, and have them as it needs them. */
int tern_dcb_set_mtu(struct tern_netdev *priv, unsigned int mtu);
/* Now and then, from process context. */
void tern_dcb_health(struct tern_netdev *priv);
int tern_dcb_read_statistics(struct tern_netdev *priv,
			     struct tern_priority_statistics *statistics);
/* The set of transmit queues that a frame belongs to. */
unsigned int tern_dcb_queue_set(const struct tern_dcb *dcb, const struct sk_buff *skb);

/* dcbnl.c */
#ifdef CONFIG_DCB
void tern_dcbnl_init(struct tern_netdev *priv);
/* dcb_tables.c, before the netdev is registered and after it was unregistered */
int tern_dcb_tables_init(struct tern_netdev *priv);
void tern_dcb_tables_exit(struct tern_netdev *priv);
#else
static inline void tern_dcbnl_init(struct tern_netdev *priv) {}
static inline int tern_dcb_tables_init(struct tern_netdev *priv)
{
	return 0;
}

static inline void tern_dcb_tables_exit(struct tern_netdev *priv) {}
#endif

/* devlink_params.c */
int tern_devlink_params_register(struct tern_adapter *adapter);
void tern_devlink_params_unregister(struct tern_adapter *adapter);

/* storm.c */
void tern_storm_init(struct tern_adapter *adapter);
int tern_storm_start(struct tern_adapter *adapter);
void tern_storm_stop(struct tern_adapter *adapter);
void tern_storm_open(struct tern_adapter *adapter);
void tern_storm_close(struct tern_adapter *adapter);
/* From any context. Returns false when it makes no sense. */
bool tern_storm_event(struct tern_adapter *adapter, u8 subtype, u32 priority);

#endif /* TERN_DCB_H */
