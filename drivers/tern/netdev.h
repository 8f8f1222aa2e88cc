/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef TERN_NETDEV_H
#define TERN_NETDEV_H

#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>

#include "adapter.h"
#include "ethernet.h"
#include "tern_hw_ethernet.h"

#define TERN_RSS_ENTRIES_MAX	128
#define TERN_QUEUE_SHIFT_MIN	6
#define TERN_QUEUE_SHIFT_MAX	13

/**
 * struct tern_settings - what the queues are made by
 * @channels: how many
 * @tx_shift: log2 of a transmit queue's 64-byte blocks
 * @rx_shift: log2 of a receive queue's entries
 * @mtu: largest L3 packet
 */
struct tern_settings {
	unsigned int channels;
	u8 tx_shift;
	u8 rx_shift;
	unsigned int mtu;
};

/**
 * struct tern_rss - how flows are spread over channels
 * @entries: of @table, a power of two
 * @types: TERN_RSS_* that are hashed
 * @key: of the Toeplitz hash
 * @table: channel by hash
 */
struct tern_rss {
	u16 entries;
	u8 types;
	u8 key[TERN_RSS_KEY_BYTES];
	u8 table[TERN_RSS_ENTRIES_MAX];
};

/**
 * struct tern_netdev - the network interface
 * @netdev: the stack's side
 * @adapter: the function
 * @channels: settings.channels of them while @up, else NULL
 * @max_channels: how many there can be
 * @up: the queues exist; the RTNL protects it and what stands above it
 * @settings: of the queues; the RTNL protects them
 * @rx_moderation: of receive events; RTNL
 * @tx_moderation: of transmit events; RTNL
 * @dcb: priorities, flow control, traffic classes and congestion control
 * @rss: the spreading of flows; RTNL
 * @pd: protection domain of the queues; RTNL
 * @filter_lock: protects the device's receive filters and what follows
 * @filter_qpn: where frames go without RSS; 0 while the queues do not exist
 * @filter_features: netdev features that the filters are to follow
 * @vlans: in the VLAN table
 * @filter_work: brings the filters up to date
 * @restart_work: makes the queues anew after an error
 * @restarts: how often it did; RTNL
 * @tx_statistics: by channel
 * @rx_statistics: by channel
 * @port_lock: protects @port
 * @port: the device's counters, as last read
 */
struct tern_netdev {
	struct net_device *netdev;
	struct tern_adapter *adapter;
	struct tern_channel **channels;
	unsigned int max_channels;
	bool up;
	struct tern_settings settings;
	struct tern_moderation rx_moderation;
	struct tern_moderation tx_moderation;
	struct tern_dcb *dcb;
	struct tern_rss rss;
	u32 pd;

	/* see above */
	struct mutex filter_lock;
	u32 filter_qpn;
	netdev_features_t filter_features;
	DECLARE_BITMAP(vlans, VLAN_N_VID);
	struct work_struct filter_work;

	struct work_struct restart_work;
	u64 restarts;

	struct tern_tx_statistics *tx_statistics;
	struct tern_rx_statistics *rx_statistics;
	/* see above */
	spinlock_t port_lock;
	struct tern_port_statistics port;
};

/* netdev.c */
int tern_netdev_create(struct tern_adapter *adapter);
void tern_netdev_unregister(struct tern_adapter *adapter);
void tern_netdev_free(struct tern_adapter *adapter);
/* Around a reset of the function; suspending twice is harmless. */
void tern_netdev_suspend(struct tern_adapter *adapter);
int tern_netdev_resume(struct tern_adapter *adapter);
/* Make the queues with other settings; if that fails they are as before. RTNL. */
int tern_netdev_apply(struct tern_netdev *priv, const struct tern_settings *settings);
/* From any context. */
void tern_netdev_schedule_restart(struct tern_netdev *priv, const char *why);
/* Now and then, from process context. */
void tern_netdev_health(struct net_device *netdev);

/* filter.c */
void tern_filter_init(struct tern_netdev *priv);
int tern_filter_start(struct tern_netdev *priv, u32 qpn);
void tern_filter_stop(struct tern_netdev *priv);
int tern_filter_set_features(struct tern_netdev *priv, netdev_features_t features);
void tern_set_rx_mode(struct net_device *netdev);
int tern_vlan_add(struct net_device *netdev, __be16 protocol, u16 vid);
int tern_vlan_remove(struct net_device *netdev, __be16 protocol, u16 vid);

/* rss.c */
void tern_rss_init(struct tern_netdev *priv);
void tern_rss_set_default_table(struct tern_netdev *priv);
int tern_rss_apply(struct tern_netdev *priv);
void tern_rss_remove(struct tern_netdev *priv);

/* statistics.c */
int tern_statistics_read_port(struct tern_netdev *priv);
void tern_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *sum);

/* ethtool.c, ethtool_statistics.c, ethtool_priority.c, self_test.c */
extern const struct ethtool_ops tern_ethtool_ops;
void tern_get_pause_stats(struct net_device *netdev, struct ethtool_pause_stats *stats);
unsigned int tern_priority_counters_count(void);
void tern_priority_counters_strings(u8 **data);
u64 *tern_priority_counters_values(struct tern_netdev *priv, u64 *data);
int tern_get_sset_count(struct net_device *netdev, int set);
void tern_get_strings(struct net_device *netdev, u32 set, u8 *data);
void tern_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data);
int tern_self_test_count(void);
void tern_self_test_strings(u8 *data);
void tern_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data);

#endif /* TERN_NETDEV_H */
