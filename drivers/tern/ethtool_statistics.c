// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: ethtool -S.
 *
 * Names and values come from the same tables, one for each source, and each
 * table is asserted to have as many rows as its source has counters.
 */
#include <linux/ethtool.h>

#include "command_queue.h"
#include "netdev.h"

struct tern_counter {
	char name[ETH_GSTRING_LEN];
	unsigned int offset;
};

#define TERN_PORT_COUNTER(field)	\
	{ "port_" #field, offsetof(struct tern_port_statistics, field) }

static const struct tern_counter tern_port_counters[] = {
	TERN_PORT_COUNTER(tx_packets),
	TERN_PORT_COUNTER(tx_bytes),
	TERN_PORT_COUNTER(tx_multicast),
	TERN_PORT_COUNTER(tx_broadcast),
	TERN_PORT_COUNTER(tx_errors),
	TERN_PORT_COUNTER(rx_packets),
	TERN_PORT_COUNTER(rx_bytes),
	TERN_PORT_COUNTER(rx_multicast),
	TERN_PORT_COUNTER(rx_broadcast),
	TERN_PORT_COUNTER(rx_filtered),
	TERN_PORT_COUNTER(rx_no_buffer),
	TERN_PORT_COUNTER(rx_buffer_overflow),
	TERN_PORT_COUNTER(rx_too_long),
	TERN_PORT_COUNTER(rx_too_short),
	TERN_PORT_COUNTER(rx_checksum_errors),
	TERN_PORT_COUNTER(rx_errors),
	TERN_PORT_COUNTER(tx_roce_packets),
	TERN_PORT_COUNTER(tx_roce_bytes),
	TERN_PORT_COUNTER(rx_roce_packets),
	TERN_PORT_COUNTER(rx_roce_bytes),
	TERN_PORT_COUNTER(doorbells),
	TERN_PORT_COUNTER(doorbells_dropped),
};

static_assert(ARRAY_SIZE(tern_port_counters) ==
	      sizeof(struct tern_port_statistics) / sizeof(__le64));

#define TERN_TX_COUNTER(field)	\
	{ "tx%u_" #field, offsetof(struct tern_tx_statistics, field) }

static const struct tern_counter tern_tx_counters[] = {
	TERN_TX_COUNTER(tso_packets),
	TERN_TX_COUNTER(linearized),
	TERN_TX_COUNTER(dropped),
	TERN_TX_COUNTER(stopped),
};

static const struct tern_counter tern_tx_completed_counters[] = {
	TERN_TX_COUNTER(packets),
	TERN_TX_COUNTER(bytes),
	TERN_TX_COUNTER(errors),
};

static_assert(ARRAY_SIZE(tern_tx_counters) + ARRAY_SIZE(tern_tx_completed_counters) ==
	      (sizeof(struct tern_tx_statistics) - 2 * sizeof(struct u64_stats_sync)) /
	      sizeof(u64_stats_t));

#define TERN_RX_COUNTER(field)	\
	{ "rx%u_" #field, offsetof(struct tern_rx_statistics, field) }

static const struct tern_counter tern_rx_counters[] = {
	TERN_RX_COUNTER(packets),
	TERN_RX_COUNTER(bytes),
	TERN_RX_COUNTER(checksum_ok),
	TERN_RX_COUNTER(errors),
	TERN_RX_COUNTER(no_memory),
	TERN_RX_COUNTER(bad_completions),
};

static_assert(ARRAY_SIZE(tern_rx_counters) ==
	      (sizeof(struct tern_rx_statistics) - sizeof(struct u64_stats_sync)) /
	      sizeof(u64_stats_t));

/* Of the driver. Values are written by tern_driver_values() in this order. */
enum tern_driver_counter {
	TERN_DRIVER_RESTARTS,
	TERN_DRIVER_LOST_INTERRUPTS,
	TERN_DRIVER_UNKNOWN_EVENTS,
	TERN_DRIVER_COMMAND_INTERRUPTS,
	TERN_DRIVER_BAD_COMMAND_COMPLETIONS,
	TERN_DRIVER_COUNTERS
};

static const char tern_driver_names[][ETH_GSTRING_LEN] = {
	[TERN_DRIVER_RESTARTS] = "restarts",
	[TERN_DRIVER_LOST_INTERRUPTS] = "lost_interrupts",
	[TERN_DRIVER_UNKNOWN_EVENTS] = "unknown_events",
	[TERN_DRIVER_COMMAND_INTERRUPTS] = "command_interrupts",
	[TERN_DRIVER_BAD_COMMAND_COMPLETIONS] = "bad_command_completions",
};

static_assert(ARRAY_SIZE(tern_driver_names) == TERN_DRIVER_COUNTERS);

#define TERN_CHANNEL_COUNTERS	(ARRAY_SIZE(tern_tx_counters) +			\
				 ARRAY_SIZE(tern_tx_completed_counters) +	\
				 ARRAY_SIZE(tern_rx_counters))

int tern_get_sset_count(struct net_device *netdev, int set)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	switch (set) {
	case ETH_SS_STATS:
		return ARRAY_SIZE(tern_port_counters) + TERN_DRIVER_COUNTERS +
		       tern_priority_counters_count() +
		       priv->max_channels * TERN_CHANNEL_COUNTERS;
	case ETH_SS_TEST:
		return tern_self_test_count();
	default:
		return -EOPNOTSUPP;
	}
}

static void tern_channel_strings(u8 **data, const struct tern_counter *counters,
				 unsigned int count, unsigned int channel)
{
	for (; count; count--, counters++)
		ethtool_sprintf(data, counters->name, channel);
}

void tern_get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	unsigned int i;

	if (set == ETH_SS_TEST) {
		tern_self_test_strings(data);
		return;
	}
	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(tern_port_counters); i++)
		ethtool_puts(&data, tern_port_counters[i].name);
	for (i = 0; i < TERN_DRIVER_COUNTERS; i++)
		ethtool_puts(&data, tern_driver_names[i]);
	tern_priority_counters_strings(&data);
	for (i = 0; i < priv->max_channels; i++) {
		tern_channel_strings(&data, tern_tx_counters, ARRAY_SIZE(tern_tx_counters), i);
		tern_channel_strings(&data, tern_tx_completed_counters,
				     ARRAY_SIZE(tern_tx_completed_counters), i);
		tern_channel_strings(&data, tern_rx_counters, ARRAY_SIZE(tern_rx_counters), i);
	}
}

static u64 *tern_driver_values(struct tern_netdev *priv, u64 *data)
{
	struct tern_adapter *adapter = priv->adapter;

	data[TERN_DRIVER_RESTARTS] = priv->restarts;
	data[TERN_DRIVER_LOST_INTERRUPTS] = atomic64_read(&adapter->lost_interrupts);
	data[TERN_DRIVER_UNKNOWN_EVENTS] = atomic64_read(&adapter->unknown_events);
	spin_lock_irq(&adapter->commands->lock);
	data[TERN_DRIVER_COMMAND_INTERRUPTS] = adapter->commands->interrupts_seen;
	data[TERN_DRIVER_BAD_COMMAND_COMPLETIONS] = adapter->commands->bad_completions;
	spin_unlock_irq(&adapter->commands->lock);
	return data + TERN_DRIVER_COUNTERS;
}

static u64 *tern_channel_values(u64 *data, const void *statistics,
				const struct u64_stats_sync *sync,
				const struct tern_counter *counters, unsigned int count)
{
	unsigned int start, i;

	do {
		start = u64_stats_fetch_begin(sync);
		for (i = 0; i < count; i++)
			data[i] = u64_stats_read((const u64_stats_t *)(statistics +
								       counters[i].offset));
	} while (u64_stats_fetch_retry(sync, start));
	return data + count;
}

void tern_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_port_statistics port;
	unsigned int i;

	/* If the device does not answer, the last values stay. */
	tern_statistics_read_port(priv);
	spin_lock_bh(&priv->port_lock);
	port = priv->port;
	spin_unlock_bh(&priv->port_lock);
	for (i = 0; i < ARRAY_SIZE(tern_port_counters); i++)
		*data++ = le64_to_cpu(*(const __le64 *)((const void *)&port +
							tern_port_counters[i].offset));
	data = tern_driver_values(priv, data);
	data = tern_priority_counters_values(priv, data);
	for (i = 0; i < priv->max_channels; i++) {
		const struct tern_tx_statistics *tx = &priv->tx_statistics[i];
		const struct tern_rx_statistics *rx = &priv->rx_statistics[i];

		data = tern_channel_values(data, tx, &tx->sync, tern_tx_counters,
					   ARRAY_SIZE(tern_tx_counters));
		data = tern_channel_values(data, tx, &tx->completed_sync,
					   tern_tx_completed_counters,
					   ARRAY_SIZE(tern_tx_completed_counters));
		data = tern_channel_values(data, rx, &rx->sync, tern_rx_counters,
					   ARRAY_SIZE(tern_rx_counters));
	}
}
