// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: the network interface's life. */
#include <linux/etherdevice.h>
#include <linux/ipv6.h>
#include <linux/log2.h>
#include <linux/rtnetlink.h>

#include "channel.h"
#include "commands.h"
#include "dcb.h"
#include "health.h"
#include "netdev.h"

#define TERN_TX_SHIFT_DEFAULT	10
#define TERN_RX_SHIFT_DEFAULT	11
#define TERN_TX_TIMEOUT		(5 * HZ)

static void tern_netdev_destroy_channels(struct tern_netdev *priv, unsigned int count)
{
	while (count--)
		tern_channel_destroy(priv->channels[count]);
	kfree(priv->channels);
	priv->channels = NULL;
}

static int tern_netdev_create_channels(struct tern_netdev *priv)
{
	struct tern_channel *channel;
	unsigned int i;

	priv->channels = kcalloc(priv->settings.channels, sizeof(*priv->channels), GFP_KERNEL);
	if (!priv->channels)
		return -ENOMEM;
	for (i = 0; i < priv->settings.channels; i++) {
		channel = tern_channel_create(priv, i);
		if (IS_ERR(channel)) {
			tern_netdev_destroy_channels(priv, i);
			return PTR_ERR(channel);
		}
		priv->channels[i] = channel;
	}
	return 0;
}

static int tern_netdev_up(struct tern_netdev *priv)
{
	struct tern_device *tern = &priv->adapter->device;
	struct net_device *netdev = priv->netdev;
	unsigned int i;
	int err;

	ASSERT_RTNL();
	err = netif_set_real_num_queues(netdev, priv->settings.channels, priv->settings.channels);
	if (err)
		return err;
	err = tern_number_alloc(tern, TERN_NUMBERS_PD, &priv->pd);
	if (err)
		return err;
	err = tern_netdev_create_channels(priv);
	if (err)
		goto free_pd;
	err = tern_cmd_set_station_address(tern, netdev->dev_addr);
	if (err)
		goto destroy_channels;
	err = tern_rss_apply(priv);
	if (err)
		goto destroy_channels;
	err = tern_cmd_set_port(tern, priv->settings.mtu, TERN_PORT_UP);
	if (err)
		goto remove_rss;
	for (i = 0; i < priv->settings.channels; i++)
		tern_channel_start(priv->channels[i]);
	err = tern_filter_start(priv, priv->channels[0]->qpn);
	if (err)
		goto stop_channels;
	priv->up = true;
	netif_tx_start_all_queues(netdev);
	return 0;

stop_channels:
	for (i = 0; i < priv->settings.channels; i++)
		tern_channel_stop(priv->channels[i]);
	tern_cmd_set_port(tern, priv->settings.mtu, TERN_PORT_DOWN);
remove_rss:
	tern_rss_remove(priv);
destroy_channels:
	tern_netdev_destroy_channels(priv, priv->settings.channels);
free_pd:
	tern_number_free(tern, TERN_NUMBERS_PD, priv->pd);
	return err;
}

static void tern_netdev_down(struct tern_netdev *priv)
{
	unsigned int i;

	ASSERT_RTNL();
	if (!priv->up)
		return;
	priv->up = false;
	tern_filter_stop(priv);
	for (i = 0; i < priv->settings.channels; i++)
		tern_channel_stop(priv->channels[i]);
	/* Not before the last NAPI, which may wake the queue. */
	netif_tx_disable(priv->netdev);
	tern_rss_remove(priv);
	tern_netdev_destroy_channels(priv, priv->settings.channels);
	tern_number_free(&priv->adapter->device, TERN_NUMBERS_PD, priv->pd);
}

static int tern_open(struct net_device *netdev)
{
	return tern_netdev_up(netdev_priv(netdev));
}

static int tern_stop(struct net_device *netdev)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	if (!priv->up)
		return 0;
	tern_netdev_down(priv);
	tern_cmd_set_port(&priv->adapter->device, priv->settings.mtu, TERN_PORT_DOWN);
	netif_carrier_off(netdev);
	return 0;
}

int tern_netdev_apply(struct tern_netdev *priv, const struct tern_settings *settings)
{
	struct tern_settings old = priv->settings;
	int err;

	ASSERT_RTNL();
	if (!priv->up) {
		priv->settings = *settings;
		return 0;
	}
	/* Detached, so that the stopped queues are no timeout for the watchdog. */
	netif_device_detach(priv->netdev);
	tern_netdev_down(priv);
	priv->settings = *settings;
	err = tern_netdev_up(priv);
	if (err) {
		priv->settings = old;
		if (tern_netdev_up(priv)) {
			netdev_err(priv->netdev, "cannot make the queues again, closing\n");
			dev_close(priv->netdev);
		}
	}
	if (!tern_is_dead(&priv->adapter->device))
		netif_device_attach(priv->netdev);
	return err;
}

static void tern_restart_work(struct work_struct *work)
{
	struct tern_netdev *priv = container_of(work, struct tern_netdev, restart_work);

	rtnl_lock();
	if (priv->up && netif_device_present(priv->netdev)) {
		priv->restarts++;
		tern_netdev_apply(priv, &priv->settings);
	}
	rtnl_unlock();
}

void tern_netdev_schedule_restart(struct tern_netdev *priv, const char *why)
{
	if (tern_is_dead(&priv->adapter->device))
		return;
	if (queue_work(tern_workqueue, &priv->restart_work))
		netdev_warn(priv->netdev, "restarting the queues: %s\n", why);
}

/*
 * A send queue whose first frame's priority is paused waits, so priorities that may be paused
 * apart from others do not share one, as far as there are queues.
 */
static unsigned int tern_queue_of(const struct net_device *netdev, unsigned int set)
{
	unsigned int queues = READ_ONCE(netdev->real_num_tx_queues);

	return set && queues > 1 ? 1 + (set - 1) % (queues - 1) : 0;
}

static u16 tern_select_queue(struct net_device *netdev, struct sk_buff *skb,
			     struct net_device *subordinate)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	if (likely(!READ_ONCE(priv->dcb->sorted)))
		return netdev_pick_tx(netdev, skb, subordinate);
	return tern_queue_of(netdev, tern_dcb_queue_set(priv->dcb, skb));
}

/* Frames of a priority that was paused lately may stand in it. */
static bool tern_queue_was_paused(const struct net_device *netdev, unsigned int queue)
{
	const struct tern_netdev *priv = netdev_priv(netdev);
	unsigned long paused = READ_ONCE(priv->dcb->paused);
	unsigned int priority;

	if (!READ_ONCE(priv->dcb->sorted))
		return paused;
	for_each_set_bit(priority, &paused, TERN_PRIORITIES)
		if (tern_queue_of(netdev, READ_ONCE(priv->dcb->queue_sets[priority])) == queue)
			return true;
	return false;
}

static void tern_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	const struct tern_tx *tx = &priv->channels[queue]->tx;

	/* The peer's doing; the storm watchdog is for those who do not want to wait. */
	if (tern_queue_was_paused(netdev, queue))
		return;
	netdev_warn(netdev, "transmit queue %u stands still: %u published, %u consumed\n",
		    queue, READ_ONCE(tx->published), READ_ONCE(tx->consumer));
	tern_netdev_schedule_restart(priv, "transmit timeout");
}

void tern_netdev_health(struct net_device *netdev)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	unsigned int i;

	tern_statistics_read_port(priv);
	tern_dcb_health(priv);
	/* If it is taken, the next time will do. */
	if (!rtnl_trylock())
		return;
	for (i = 0; priv->up && i < priv->settings.channels; i++)
		tern_rx_revive(priv->channels[i]);
	rtnl_unlock();
}

static int tern_change_mtu(struct net_device *netdev, int mtu)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_settings settings = priv->settings;
	int err;

	/* Before longer frames come in. */
	err = tern_dcb_set_mtu(priv, mtu);
	if (err)
		return err;
	settings.mtu = mtu;
	err = tern_netdev_apply(priv, &settings);
	if (err)
		tern_dcb_set_mtu(priv, priv->settings.mtu);
	else
		WRITE_ONCE(netdev->mtu, mtu);
	return err;
}

static int tern_set_mac_address(struct net_device *netdev, void *address)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct sockaddr *sockaddr = address;
	int err;

	err = eth_prepare_mac_addr_change(netdev, sockaddr);
	if (err)
		return err;
	err = tern_cmd_set_station_address(&priv->adapter->device, (u8 *)sockaddr->sa_data);
	if (err)
		return err;
	eth_commit_mac_addr_change(netdev, sockaddr);
	return 0;
}

static int tern_set_features(struct net_device *netdev, netdev_features_t features)
{
	return tern_filter_set_features(netdev_priv(netdev), features);
}

static netdev_features_t tern_features_check(struct sk_buff *skb, struct net_device *netdev,
					     netdev_features_t features)
{
	features = vlan_features_check(skb, features);
	/* The device looks for TCP right behind the IP header. */
	if (skb_is_gso_v6(skb) && ipv6_hdr(skb)->nexthdr != IPPROTO_TCP)
		features &= ~NETIF_F_GSO_MASK;
	return features;
}

static const struct net_device_ops tern_netdev_ops = {
	.ndo_open = tern_open,
	.ndo_stop = tern_stop,
	.ndo_start_xmit = tern_tx_xmit,
	.ndo_select_queue = tern_select_queue,
	.ndo_tx_timeout = tern_tx_timeout,
	.ndo_features_check = tern_features_check,
	.ndo_set_rx_mode = tern_set_rx_mode,
	.ndo_set_mac_address = tern_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = tern_change_mtu,
	.ndo_set_features = tern_set_features,
	.ndo_vlan_rx_add_vid = tern_vlan_add,
	.ndo_vlan_rx_kill_vid = tern_vlan_remove,
	.ndo_get_stats64 = tern_get_stats64,
};

/* Two completion queues and a queue pair each. */
static unsigned int tern_netdev_max_channels(const struct tern_device *tern)
{
	return min3(tern->completion_vectors, tern->caps.cq_count / 2, tern->caps.qp_count - 2);
}

static void tern_netdev_set_features(struct tern_netdev *priv)
{
	const struct tern_device *tern = &priv->adapter->device;
	struct net_device *netdev = priv->netdev;

	netdev->hw_features = NETIF_F_SG;
	if (tern_has(tern, TERN_FEATURE_CHECKSUM))
		netdev->hw_features |= NETIF_F_HW_CSUM | NETIF_F_RXCSUM;
	if (tern_has(tern, TERN_FEATURE_TSO) && tern_has(tern, TERN_FEATURE_CHECKSUM) &&
	    tern->caps.tso_bytes_max > ETH_DATA_LEN) {
		netdev->hw_features |= NETIF_F_TSO | NETIF_F_TSO6;
		netif_set_tso_max_size(netdev, min(tern->caps.tso_bytes_max, GSO_LEGACY_MAX_SIZE));
	}
	netdev->vlan_features = netdev->hw_features | NETIF_F_HIGHDMA;
	if (tern_has(tern, TERN_FEATURE_RSS))
		netdev->hw_features |= NETIF_F_RXHASH;
	if (tern_has(tern, TERN_FEATURE_VLAN_OFFLOAD))
		netdev->hw_features |= NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_CTAG_RX;
	netdev->hw_features |= NETIF_F_HW_VLAN_CTAG_FILTER;
	netdev->features = netdev->hw_features | NETIF_F_HIGHDMA;
	priv->filter_features = netdev->features;
}

static void tern_netdev_init(struct tern_netdev *priv)
{
	const struct tern_device *tern = &priv->adapter->device;
	struct net_device *netdev = priv->netdev;
	unsigned int i;

	priv->settings.channels = min_t(unsigned int, priv->max_channels,
					netif_get_num_default_rss_queues());
	priv->settings.tx_shift = min3(TERN_TX_SHIFT_DEFAULT, tern->caps.sq_shift_max,
				       tern->caps.cq_shift_max);
	priv->settings.rx_shift = min3(TERN_RX_SHIFT_DEFAULT, tern->caps.rq_shift_max,
				       tern->caps.cq_shift_max);
	priv->settings.mtu = netdev->mtu;
	for (i = 0; i < priv->max_channels; i++) {
		u64_stats_init(&priv->tx_statistics[i].sync);
		u64_stats_init(&priv->tx_statistics[i].completed_sync);
		u64_stats_init(&priv->rx_statistics[i].sync);
	}
	spin_lock_init(&priv->port_lock);
	INIT_WORK(&priv->restart_work, tern_restart_work);
	tern_filter_init(priv);
	tern_rss_init(priv);
	tern_netdev_set_features(priv);
}

int tern_netdev_create(struct tern_adapter *adapter)
{
	struct tern_device *tern = &adapter->device;
	unsigned int max_channels = tern_netdev_max_channels(tern);
	struct tern_rx_layout layout;
	struct net_device *netdev;
	struct tern_netdev *priv;
	int err;

	netdev = alloc_etherdev_mqs(sizeof(*priv), max_channels, max_channels);
	if (!netdev)
		return -ENOMEM;
	priv = netdev_priv(netdev);
	priv->netdev = netdev;
	priv->adapter = adapter;
	priv->max_channels = max_channels;
	priv->tx_statistics = kcalloc(max_channels, sizeof(*priv->tx_statistics), GFP_KERNEL);
	priv->rx_statistics = kcalloc(max_channels, sizeof(*priv->rx_statistics), GFP_KERNEL);
	if (!priv->tx_statistics || !priv->rx_statistics) {
		err = -ENOMEM;
		goto free;
	}
	SET_NETDEV_DEV(netdev, tern_dev(adapter));
	SET_NETDEV_DEVLINK_PORT(netdev, &adapter->devlink_port);
	netdev->netdev_ops = &tern_netdev_ops;
	netdev->ethtool_ops = &tern_ethtool_ops;
	netdev->watchdog_timeo = TERN_TX_TIMEOUT;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->max_mtu = tern->caps.mtu_max;
	while (!tern_rx_layout(&layout, netdev->max_mtu))
		netdev->max_mtu--;
	netdev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	eth_hw_addr_set(netdev, tern->caps.mac);
	tern_netdev_init(priv);
	err = tern_dcb_create(priv);
	if (err)
		goto free;
	netif_carrier_off(netdev);
	tern->netdev = netdev;
	err = register_netdev(netdev);
	if (err)
		goto forget;
	return 0;

forget:
	/* Work that was queued by an event may look at it. */
	tern->netdev = NULL;
	cancel_work_sync(&adapter->link_work);
	cancel_work_sync(&adapter->dead_work);
free:
	tern_dcb_destroy(priv);
	kfree(priv->rx_statistics);
	kfree(priv->tx_statistics);
	free_netdev(netdev);
	return err;
}

void tern_netdev_unregister(struct tern_adapter *adapter)
{
	struct tern_netdev *priv = netdev_priv(adapter->device.netdev);

	unregister_netdev(adapter->device.netdev);
	cancel_work_sync(&priv->filter_work);
	cancel_work_sync(&priv->restart_work);
}

/* No work of the function runs any more. */
void tern_netdev_free(struct tern_adapter *adapter)
{
	struct net_device *netdev = adapter->device.netdev;
	struct tern_netdev *priv;

	if (!netdev)
		return;
	priv = netdev_priv(netdev);
	adapter->device.netdev = NULL;
	tern_dcb_destroy(priv);
	kfree(priv->rx_statistics);
	kfree(priv->tx_statistics);
	free_netdev(netdev);
}

void tern_netdev_suspend(struct tern_adapter *adapter)
{
	struct tern_netdev *priv = netdev_priv(adapter->device.netdev);

	rtnl_lock();
	netif_device_detach(priv->netdev);
	tern_netdev_down(priv);
	netif_carrier_off(priv->netdev);
	rtnl_unlock();
}

int tern_netdev_resume(struct tern_adapter *adapter)
{
	struct tern_netdev *priv = netdev_priv(adapter->device.netdev);
	int err = 0;

	rtnl_lock();
	err = tern_dcb_restore(priv);
	if (!err && netif_running(priv->netdev)) {
		err = tern_netdev_up(priv);
		if (err) {
			netdev_err(priv->netdev, "cannot make the queues again, closing\n");
			dev_close(priv->netdev);
		}
	}
	if (!err)
		netif_device_attach(priv->netdev);
	rtnl_unlock();
	return err;
}
