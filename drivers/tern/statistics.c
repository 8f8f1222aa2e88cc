// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: the network interface's statistics. */
#include "commands.h"
#include "netdev.h"

int tern_statistics_read_port(struct tern_netdev *priv)
{
	struct tern_port_statistics port;
	int err;

	err = tern_cmd_query(&priv->adapter->device, TERN_COMMAND_QUERY_STATISTICS, 0,
			     TERN_STATISTICS_PORT, &port, sizeof(port));
	if (err)
		return err;
	spin_lock_bh(&priv->port_lock);
	priv->port = port;
	spin_unlock_bh(&priv->port_lock);
	return 0;
}

static void tern_statistics_add_tx(struct rtnl_link_stats64 *sum,
				   const struct tern_tx_statistics *tx)
{
	u64 packets, bytes, dropped;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&tx->completed_sync);
		packets = u64_stats_read(&tx->packets);
		bytes = u64_stats_read(&tx->bytes);
	} while (u64_stats_fetch_retry(&tx->completed_sync, start));
	do {
		start = u64_stats_fetch_begin(&tx->sync);
		dropped = u64_stats_read(&tx->dropped);
	} while (u64_stats_fetch_retry(&tx->sync, start));
	sum->tx_packets += packets;
	sum->tx_bytes += bytes;
	sum->tx_dropped += dropped;
}

static void tern_statistics_add_rx(struct rtnl_link_stats64 *sum,
				   const struct tern_rx_statistics *rx)
{
	u64 packets, bytes, errors, no_memory;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&rx->sync);
		packets = u64_stats_read(&rx->packets);
		bytes = u64_stats_read(&rx->bytes);
		errors = u64_stats_read(&rx->errors) + u64_stats_read(&rx->bad_completions);
		no_memory = u64_stats_read(&rx->no_memory);
	} while (u64_stats_fetch_retry(&rx->sync, start));
	sum->rx_packets += packets;
	sum->rx_bytes += bytes;
	sum->rx_errors += errors;
	sum->rx_dropped += no_memory;
}

/* May not sleep, so the device's counters are those of the last health work. */
void tern_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *sum)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	unsigned int i;

	for (i = 0; i < priv->max_channels; i++) {
		tern_statistics_add_tx(sum, &priv->tx_statistics[i]);
		tern_statistics_add_rx(sum, &priv->rx_statistics[i]);
	}
	spin_lock_bh(&priv->port_lock);
	sum->multicast = le64_to_cpu(priv->port.rx_multicast);
	sum->tx_errors = le64_to_cpu(priv->port.tx_errors);
	sum->rx_missed_errors = le64_to_cpu(priv->port.rx_no_buffer);
	sum->rx_over_errors = le64_to_cpu(priv->port.rx_buffer_overflow);
	sum->rx_length_errors = le64_to_cpu(priv->port.rx_too_long) +
				le64_to_cpu(priv->port.rx_too_short);
	sum->rx_errors += le64_to_cpu(priv->port.rx_errors) + sum->rx_length_errors +
			  sum->rx_over_errors;
	spin_unlock_bh(&priv->port_lock);
}
