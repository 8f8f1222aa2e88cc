// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: receive filters.
 *
 * The stack asks for changes of addresses with a spinlock held, so a work
 * item tells the device.
 */
#include <linux/etherdevice.h>

#include "commands.h"
#include "netdev.h"

/* As many as a command's table can hold. */
#define TERN_MULTICAST_MAX	(TERN_MAILBOX_BYTES / TERN_MULTICAST_ENTRY_BYTES)

struct tern_multicast_table {
	u32 count;
	u8 entries[TERN_MULTICAST_MAX][TERN_MULTICAST_ENTRY_BYTES];
};

/* Take the stack's list. Returns the mode flags that go with it. */
static u32 tern_filter_collect(struct tern_netdev *priv, struct tern_multicast_table *table)
{
	u32 max = min(TERN_MULTICAST_MAX, priv->adapter->device.caps.multicast_addresses_max);
	struct net_device *netdev = priv->netdev;
	const struct netdev_hw_addr *address;
	u32 flags = 0;

	table->count = 0;
	netif_addr_lock_bh(netdev);
	if (netdev->flags & IFF_PROMISC)
		flags |= TERN_RECEIVE_PROMISCUOUS;
	if (netdev->flags & IFF_ALLMULTI || netdev_mc_count(netdev) > max)
		flags |= TERN_RECEIVE_ALL_MULTICAST;
	else
		netdev_for_each_mc_addr(address, netdev)
			ether_addr_copy(table->entries[table->count++], address->addr);
	netif_addr_unlock_bh(netdev);
	return flags;
}

static int tern_filter_apply(struct tern_netdev *priv)
{
	struct tern_device *tern = &priv->adapter->device;
	netdev_features_t features = priv->filter_features;
	u32 flags = TERN_RECEIVE_ENABLE;
	struct tern_multicast_table *table;
	int err;

	lockdep_assert_held(&priv->filter_lock);
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	flags |= tern_filter_collect(priv, table);
	if (features & NETIF_F_HW_VLAN_CTAG_FILTER && !(flags & TERN_RECEIVE_PROMISCUOUS))
		flags |= TERN_RECEIVE_VLAN_FILTER;
	if (features & NETIF_F_HW_VLAN_CTAG_RX)
		flags |= TERN_RECEIVE_VLAN_STRIP;
	if (features & NETIF_F_RXCSUM)
		flags |= TERN_RECEIVE_CHECKSUM;
	err = tern_cmd_set_multicast_table(tern, table->entries, table->count);
	if (!err)
		err = tern_cmd_set_receive_mode(tern, flags, priv->filter_qpn);
	kfree(table);
	return err;
}

static int tern_filter_apply_vlans(struct tern_netdev *priv)
{
	u8 table[TERN_VLAN_TABLE_BYTES] = {};
	unsigned int vid;

	lockdep_assert_held(&priv->filter_lock);
	for_each_set_bit(vid, priv->vlans, VLAN_N_VID)
		table[vid / 8] |= BIT(vid % 8);
	return tern_cmd_set_vlan_table(&priv->adapter->device, table);
}

static void tern_filter_work(struct work_struct *work)
{
	struct tern_netdev *priv = container_of(work, struct tern_netdev, filter_work);
	int err = 0;

	mutex_lock(&priv->filter_lock);
	if (priv->filter_qpn)
		err = tern_filter_apply(priv);
	mutex_unlock(&priv->filter_lock);
	if (err)
		netdev_err(priv->netdev, "cannot set the receive filters: %d\n", err);
}

void tern_filter_init(struct tern_netdev *priv)
{
	mutex_init(&priv->filter_lock);
	INIT_WORK(&priv->filter_work, tern_filter_work);
}

/* Let frames in; without RSS to queue pair @qpn. */
int tern_filter_start(struct tern_netdev *priv, u32 qpn)
{
	int err;

	mutex_lock(&priv->filter_lock);
	priv->filter_qpn = qpn;
	err = tern_filter_apply_vlans(priv);
	if (!err)
		err = tern_filter_apply(priv);
	if (err)
		priv->filter_qpn = 0;
	mutex_unlock(&priv->filter_lock);
	return err;
}

/* Let no frame in any more. If the device refuses, its queues being gone will do. */
void tern_filter_stop(struct tern_netdev *priv)
{
	mutex_lock(&priv->filter_lock);
	priv->filter_qpn = 0;
	tern_cmd_set_receive_mode(&priv->adapter->device, 0, 0);
	mutex_unlock(&priv->filter_lock);
}

int tern_filter_set_features(struct tern_netdev *priv, netdev_features_t features)
{
	netdev_features_t old;
	int err = 0;

	mutex_lock(&priv->filter_lock);
	old = priv->filter_features;
	priv->filter_features = features;
	if (priv->filter_qpn)
		err = tern_filter_apply(priv);
	if (err)
		priv->filter_features = old;
	mutex_unlock(&priv->filter_lock);
	return err;
}

void tern_set_rx_mode(struct net_device *netdev)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	queue_work(tern_workqueue, &priv->filter_work);
}

static int tern_vlan_change(struct tern_netdev *priv, u16 vid, bool add)
{
	int err = 0;

	mutex_lock(&priv->filter_lock);
	__assign_bit(vid, priv->vlans, add);
	/* A dead device will be told when it has been revived. */
	if (priv->filter_qpn && !tern_is_dead(&priv->adapter->device))
		err = tern_filter_apply_vlans(priv);
	if (err)
		__assign_bit(vid, priv->vlans, !add);
	mutex_unlock(&priv->filter_lock);
	return err;
}

int tern_vlan_add(struct net_device *netdev, __be16 protocol, u16 vid)
{
	return tern_vlan_change(netdev_priv(netdev), vid, true);
}

int tern_vlan_remove(struct net_device *netdev, __be16 protocol, u16 vid)
{
	return tern_vlan_change(netdev_priv(netdev), vid, false);
}
