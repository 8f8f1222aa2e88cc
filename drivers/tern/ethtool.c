// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: ethtool. */
#include <linux/ethtool.h>
#include <linux/log2.h>
#include <linux/rtnetlink.h>

#include "channel.h"
#include "dcb.h"
#include "netdev.h"

static void tern_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	u64 version = priv->adapter->device.caps.firmware_version;

	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	strscpy(info->bus_info, pci_name(priv->adapter->device.pdev), sizeof(info->bus_info));
	snprintf(info->fw_version, sizeof(info->fw_version), "%llu.%llu.%llu", version >> 48,
		 version >> 32 & 0xffff, version & U32_MAX);
}

static int tern_get_link_ksettings(struct net_device *netdev,
				   struct ethtool_link_ksettings *settings)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	u32 speed = READ_ONCE(priv->adapter->port_speed);

	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_zero_link_mode(settings, advertising);
	settings->base.autoneg = AUTONEG_DISABLE;
	settings->base.port = PORT_OTHER;
	settings->base.speed = SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_UNKNOWN;
	if (netif_carrier_ok(netdev)) {
		/* Zero and what an int cannot hold are unknown. */
		if (speed && speed <= INT_MAX)
			settings->base.speed = speed;
		settings->base.duplex = DUPLEX_FULL;
	}
	return 0;
}

static u32 tern_tx_entries_max(const struct tern_device *tern)
{
	return BIT(min3(TERN_QUEUE_SHIFT_MAX, tern->caps.sq_shift_max, tern->caps.cq_shift_max));
}

static u32 tern_rx_entries_max(const struct tern_device *tern)
{
	return BIT(min3(TERN_QUEUE_SHIFT_MAX, tern->caps.rq_shift_max, tern->caps.cq_shift_max));
}

static void tern_get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			       struct kernel_ethtool_ringparam *kernel_ring,
			       struct netlink_ext_ack *extack)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	ring->tx_max_pending = tern_tx_entries_max(&priv->adapter->device);
	ring->rx_max_pending = tern_rx_entries_max(&priv->adapter->device);
	ring->tx_pending = BIT(priv->settings.tx_shift);
	ring->rx_pending = BIT(priv->settings.rx_shift);
}

static int tern_set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			      struct kernel_ethtool_ringparam *kernel_ring,
			      struct netlink_ext_ack *extack)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_settings settings = priv->settings;

	if (ring->tx_pending < BIT(TERN_QUEUE_SHIFT_MIN) ||
	    ring->rx_pending < BIT(TERN_QUEUE_SHIFT_MIN)) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "a ring has at least %lu entries",
				       BIT(TERN_QUEUE_SHIFT_MIN));
		return -EINVAL;
	}
	/* The core has checked the maximum, which is a power of two. */
	settings.tx_shift = order_base_2(ring->tx_pending);
	settings.rx_shift = order_base_2(ring->rx_pending);
	return tern_netdev_apply(priv, &settings);
}

static void tern_get_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	channels->max_combined = priv->max_channels;
	channels->combined_count = priv->settings.channels;
}

static int tern_set_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_settings settings = priv->settings;
	struct tern_rss rss = priv->rss;
	unsigned int old = priv->settings.channels;
	int err;

	if (!channels->combined_count)
		return -EINVAL;
	settings.channels = channels->combined_count;
	/* A table that the user has set names existing channels only: the core checked it. */
	if (!netif_is_rxfh_configured(netdev)) {
		priv->settings.channels = settings.channels;
		tern_rss_set_default_table(priv);
		priv->settings.channels = old;
	}
	err = tern_netdev_apply(priv, &settings);
	if (err)
		priv->rss = rss;
	return err;
}

static int tern_get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			     struct kernel_ethtool_coalesce *kernel_coalesce,
			     struct netlink_ext_ack *extack)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	coalesce->rx_coalesce_usecs = priv->rx_moderation.usecs;
	coalesce->rx_max_coalesced_frames = priv->rx_moderation.count;
	coalesce->tx_coalesce_usecs = priv->tx_moderation.usecs;
	coalesce->tx_max_coalesced_frames = priv->tx_moderation.count;
	return 0;
}

static int tern_apply_moderation(struct tern_netdev *priv)
{
	unsigned int i;
	int err;

	for (i = 0; priv->up && i < priv->settings.channels; i++) {
		err = tern_cq_moderate(&priv->channels[i]->rx_cq, &priv->rx_moderation);
		if (err)
			return err;
		err = tern_cq_moderate(&priv->channels[i]->tx_cq, &priv->tx_moderation);
		if (err)
			return err;
	}
	return 0;
}

static int tern_set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			     struct kernel_ethtool_coalesce *kernel_coalesce,
			     struct netlink_ext_ack *extack)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_moderation rx = priv->rx_moderation;
	struct tern_moderation tx = priv->tx_moderation;
	int err;

	if (coalesce->rx_coalesce_usecs > U16_MAX || coalesce->rx_max_coalesced_frames > U16_MAX ||
	    coalesce->tx_coalesce_usecs > U16_MAX || coalesce->tx_max_coalesced_frames > U16_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "the most is 65535");
		return -ERANGE;
	}
	/* A count alone would keep the last frames for ever. */
	if ((coalesce->rx_max_coalesced_frames > 1 && !coalesce->rx_coalesce_usecs) ||
	    (coalesce->tx_max_coalesced_frames > 1 && !coalesce->tx_coalesce_usecs)) {
		NL_SET_ERR_MSG_MOD(extack, "a number of frames needs a time, too");
		return -EINVAL;
	}
	priv->rx_moderation.usecs = coalesce->rx_coalesce_usecs;
	priv->rx_moderation.count = coalesce->rx_max_coalesced_frames;
	priv->tx_moderation.usecs = coalesce->tx_coalesce_usecs;
	priv->tx_moderation.count = coalesce->tx_max_coalesced_frames;
	err = tern_apply_moderation(priv);
	if (err) {
		priv->rx_moderation = rx;
		priv->tx_moderation = tx;
	}
	return err;
}

static u32 tern_get_rxfh_key_size(struct net_device *netdev)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	return priv->rss.entries ? TERN_RSS_KEY_BYTES : 0;
}

static u32 tern_get_rxfh_indir_size(struct net_device *netdev)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	return priv->rss.entries;
}

static int tern_get_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	unsigned int i;

	rxfh->hfunc = ETH_RSS_HASH_TOP;
	for (i = 0; rxfh->indir && i < priv->rss.entries; i++)
		rxfh->indir[i] = priv->rss.table[i];
	if (rxfh->key)
		memcpy(rxfh->key, priv->rss.key, sizeof(priv->rss.key));
	return 0;
}

static int tern_rss_change(struct tern_netdev *priv, const struct tern_rss *rss)
{
	struct tern_rss old = priv->rss;
	int err = 0;

	priv->rss = *rss;
	if (priv->up)
		err = tern_rss_apply(priv);
	if (err)
		priv->rss = old;
	return err;
}

static int tern_set_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh,
			 struct netlink_ext_ack *extack)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_rss rss = priv->rss;
	unsigned int i;

	if (!rss.entries)
		return -EOPNOTSUPP;
	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE && rxfh->hfunc != ETH_RSS_HASH_TOP)
		return -EOPNOTSUPP;
	for (i = 0; rxfh->indir && i < rss.entries; i++)
		rss.table[i] = rxfh->indir[i];
	if (rxfh->key)
		memcpy(rss.key, rxfh->key, sizeof(rss.key));
	return tern_rss_change(priv, &rss);
}

/* The hash type that a flow type's ports need, and the one of its addresses. */
static int tern_rss_types(u32 flow_type, u8 *ports, u8 *addresses)
{
	switch (flow_type) {
	case TCP_V4_FLOW:
		*ports = TERN_RSS_IPV4_TCP;
		*addresses = TERN_RSS_IPV4;
		return 0;
	case UDP_V4_FLOW:
		*ports = TERN_RSS_IPV4_UDP;
		*addresses = TERN_RSS_IPV4;
		return 0;
	case TCP_V6_FLOW:
		*ports = TERN_RSS_IPV6_TCP;
		*addresses = TERN_RSS_IPV6;
		return 0;
	case UDP_V6_FLOW:
		*ports = TERN_RSS_IPV6_UDP;
		*addresses = TERN_RSS_IPV6;
		return 0;
	case IPV4_FLOW:
	case SCTP_V4_FLOW:
	case AH_ESP_V4_FLOW:
	case AH_V4_FLOW:
	case ESP_V4_FLOW:
		*ports = 0;
		*addresses = TERN_RSS_IPV4;
		return 0;
	case IPV6_FLOW:
	case SCTP_V6_FLOW:
	case AH_ESP_V6_FLOW:
	case AH_V6_FLOW:
	case ESP_V6_FLOW:
		*ports = 0;
		*addresses = TERN_RSS_IPV6;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

#define TERN_RXH_ADDRESSES	(RXH_IP_SRC | RXH_IP_DST)
#define TERN_RXH_PORTS		(RXH_L4_B_0_1 | RXH_L4_B_2_3)

static int tern_get_rxfh_fields(struct net_device *netdev, struct ethtool_rxfh_fields *fields)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	u8 ports, addresses;
	int err;

	err = tern_rss_types(fields->flow_type, &ports, &addresses);
	if (err)
		return err;
	fields->data = 0;
	if (priv->rss.types & ports)
		fields->data = TERN_RXH_ADDRESSES | TERN_RXH_PORTS;
	else if (priv->rss.types & addresses)
		fields->data = TERN_RXH_ADDRESSES;
	return 0;
}

static int tern_set_rxfh_fields(struct net_device *netdev,
				const struct ethtool_rxfh_fields *fields,
				struct netlink_ext_ack *extack)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_rss rss = priv->rss;
	u8 ports, addresses;
	int err;

	if (!rss.entries)
		return -EOPNOTSUPP;
	err = tern_rss_types(fields->flow_type, &ports, &addresses);
	if (err)
		return err;
	if (fields->data == (TERN_RXH_ADDRESSES | TERN_RXH_PORTS) && ports)
		rss.types |= ports;
	else if (fields->data == TERN_RXH_ADDRESSES && rss.types & addresses)
		rss.types &= ~ports;
	else
		return -EINVAL;
	return tern_rss_change(priv, &rss);
}

static void tern_get_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *param)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	mutex_lock(&priv->dcb->lock);
	param->rx_pause = !!(priv->dcb->settings.pause & TERN_FLOW_CONTROL_RECEIVE_PAUSE);
	param->tx_pause = !!(priv->dcb->settings.pause & TERN_FLOW_CONTROL_SEND_PAUSE);
	mutex_unlock(&priv->dcb->lock);
}

static int tern_edit_pause(struct tern_dcb_settings *settings, const void *data,
			   const char **why)
{
	settings->pause = *(const u8 *)data;
	return 0;
}

/* Refused by the translation while PFC is on. */
static int tern_set_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *param)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	const char *why = "no memory";
	u8 pause = 0;
	int err;

	if (param->autoneg || !tern_has(&priv->adapter->device, TERN_FEATURE_PFC))
		return -EOPNOTSUPP;
	if (param->rx_pause)
		pause |= TERN_FLOW_CONTROL_RECEIVE_PAUSE;
	if (param->tx_pause)
		pause |= TERN_FLOW_CONTROL_SEND_PAUSE;
	err = tern_dcb_change(priv, tern_edit_pause, &pause, &why);
	if (err && net_ratelimit())
		netdev_notice(netdev, "pause refused: %s\n", why);
	return err;
}

#ifdef TERN_HAVE_GET_RX_RING_COUNT
static u32 tern_get_rx_ring_count(struct net_device *netdev)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	return priv->settings.channels;
}
#else
static int tern_get_rxnfc(struct net_device *netdev, struct ethtool_rxnfc *info, u32 *rules)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	if (info->cmd != ETHTOOL_GRXRINGS)
		return -EOPNOTSUPP;
	info->data = priv->settings.channels;
	return 0;
}
#endif

const struct ethtool_ops tern_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES,
	.get_drvinfo = tern_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = tern_get_link_ksettings,
	.get_ringparam = tern_get_ringparam,
	.set_ringparam = tern_set_ringparam,
	.get_channels = tern_get_channels,
	.set_channels = tern_set_channels,
	.get_coalesce = tern_get_coalesce,
	.set_coalesce = tern_set_coalesce,
	.get_rxfh_key_size = tern_get_rxfh_key_size,
	.get_rxfh_indir_size = tern_get_rxfh_indir_size,
	.get_rxfh = tern_get_rxfh,
	.set_rxfh = tern_set_rxfh,
	.get_rxfh_fields = tern_get_rxfh_fields,
	.set_rxfh_fields = tern_set_rxfh_fields,
#ifdef TERN_HAVE_GET_RX_RING_COUNT
	.get_rx_ring_count = tern_get_rx_ring_count,
#else
	.get_rxnfc = tern_get_rxnfc,
#endif
	.get_sset_count = tern_get_sset_count,
	.get_strings = tern_get_strings,
	.get_ethtool_stats = tern_get_ethtool_stats,
	.get_pauseparam = tern_get_pauseparam,
	.set_pauseparam = tern_set_pauseparam,
	.get_pause_stats = tern_get_pause_stats,
	.self_test = tern_self_test,
	.get_ts_info = ethtool_op_get_ts_info,
};
