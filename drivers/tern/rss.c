// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: spreading received flows over channels. */
#include <linux/ethtool.h>

#include "channel.h"
#include "commands.h"
#include "netdev.h"

void tern_rss_set_default_table(struct tern_netdev *priv)
{
	unsigned int i;

	for (i = 0; i < priv->rss.entries; i++)
		priv->rss.table[i] = ethtool_rxfh_indir_default(i, priv->settings.channels);
}

void tern_rss_init(struct tern_netdev *priv)
{
	const struct tern_device *tern = &priv->adapter->device;

	if (!tern_has(tern, TERN_FEATURE_RSS))
		return;
	priv->rss.entries = min(TERN_RSS_ENTRIES_MAX, tern->caps.rss_entries_max);
	/* Not UDP's ports by default: the fragments of a datagram have none. */
	priv->rss.types = TERN_RSS_IPV4 | TERN_RSS_IPV4_TCP | TERN_RSS_IPV6 | TERN_RSS_IPV6_TCP;
	netdev_rss_key_fill(priv->rss.key, sizeof(priv->rss.key));
	tern_rss_set_default_table(priv);
}

/* The channels exist. RTNL. */
int tern_rss_apply(struct tern_netdev *priv)
{
	__le32 qpns[TERN_RSS_ENTRIES_MAX];
	unsigned int i;

	if (!priv->rss.entries)
		return 0;
	for (i = 0; i < priv->rss.entries; i++)
		qpns[i] = cpu_to_le32(priv->channels[priv->rss.table[i]]->qpn);
	return tern_cmd_set_rss(&priv->adapter->device, qpns, priv->rss.entries, priv->rss.types,
				priv->rss.key);
}

/* The device does not destroy a queue pair that its table names. */
void tern_rss_remove(struct tern_netdev *priv)
{
	if (priv->rss.entries)
		tern_cmd_set_rss(&priv->adapter->device, NULL, 0, 0, priv->rss.key);
}
