// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: statistics of priorities for ethtool. Names are mlx5's where
 * the meaning is: pause_duration is in us, and of rx that for which the peer's
 * pauses kept us from sending.
 */
#include <linux/ethtool.h>
#include <linux/slab.h>

#include "dcb.h"
#include "netdev.h"

/**
 * struct tern_priority_counter - a counter that ethtool shows
 * @name: with the priority as its one argument, if it has one
 * @offset: in the counters
 * @divisor: of the device's value
 */
struct tern_priority_counter {
	char name[ETH_GSTRING_LEN];
	u16 offset;
	u16 divisor;
};

#define TERN_PRIORITY_COUNTER(text, field, by)	\
	{ text, offsetof(struct tern_priority_counters, field), by }

static const struct tern_priority_counter tern_priority_counters[] = {
	TERN_PRIORITY_COUNTER("tx_prio%u_packets", tx_packets, 1),
	TERN_PRIORITY_COUNTER("tx_prio%u_bytes", tx_bytes, 1),
	TERN_PRIORITY_COUNTER("rx_prio%u_packets", rx_packets, 1),
	TERN_PRIORITY_COUNTER("rx_prio%u_bytes", rx_bytes, 1),
	TERN_PRIORITY_COUNTER("tx_prio%u_pause", tx_pause, 1),
	TERN_PRIORITY_COUNTER("tx_prio%u_resume", tx_resume, 1),
	TERN_PRIORITY_COUNTER("rx_prio%u_pause", rx_pause, 1),
	TERN_PRIORITY_COUNTER("rx_prio%u_pause_duration", tx_paused_ns, NSEC_PER_USEC),
	TERN_PRIORITY_COUNTER("tx_prio%u_pause_duration", rx_paused_ns, NSEC_PER_USEC),
	TERN_PRIORITY_COUNTER("rx_prio%u_discards", rx_discards, 1),
	TERN_PRIORITY_COUNTER("rx_prio%u_pause_storms", storms, 1),
	TERN_PRIORITY_COUNTER("tx_prio%u_pause_storm_drops", tx_storm_drops, 1),
	TERN_PRIORITY_COUNTER("rp_prio%u_limited_qps", limited_queue_pairs, 1),
	TERN_PRIORITY_COUNTER("rp_prio%u_limited_duration", limited_ns, NSEC_PER_USEC),
};

static_assert(ARRAY_SIZE(tern_priority_counters) ==
	      sizeof(struct tern_priority_counters) / sizeof(__le64));

#define TERN_LINK_COUNTER(text, field)	\
	{ text, offsetof(struct tern_priority_statistics, field), 1 }

static const struct tern_priority_counter tern_link_counters[] = {
	TERN_LINK_COUNTER("tx_pause_ctrl_phy", tx_pause_frames),
	TERN_LINK_COUNTER("rx_pause_ctrl_phy", rx_pause_frames),
	TERN_LINK_COUNTER("rx_unsupported_op_phy", rx_control_unknown),
	TERN_LINK_COUNTER("rx_buffer0_peak", receive_buffer_peak[0]),
	TERN_LINK_COUNTER("rx_buffer1_peak", receive_buffer_peak[1]),
	TERN_LINK_COUNTER("rx_buffer2_peak", receive_buffer_peak[2]),
	TERN_LINK_COUNTER("rx_buffer3_peak", receive_buffer_peak[3]),
	TERN_LINK_COUNTER("rx_buffer4_peak", receive_buffer_peak[4]),
	TERN_LINK_COUNTER("rx_buffer5_peak", receive_buffer_peak[5]),
	TERN_LINK_COUNTER("rx_buffer6_peak", receive_buffer_peak[6]),
	TERN_LINK_COUNTER("rx_buffer7_peak", receive_buffer_peak[7]),
};

static_assert(ARRAY_SIZE(tern_link_counters) + TERN_PRIORITIES *
	      ARRAY_SIZE(tern_priority_counters) ==
	      sizeof(struct tern_priority_statistics) / sizeof(__le64));

unsigned int tern_priority_counters_count(void)
{
	return TERN_PRIORITIES * ARRAY_SIZE(tern_priority_counters) +
	       ARRAY_SIZE(tern_link_counters);
}

void tern_priority_counters_strings(u8 **data)
{
	unsigned int priority, i;

	for (priority = 0; priority < TERN_PRIORITIES; priority++)
		for (i = 0; i < ARRAY_SIZE(tern_priority_counters); i++)
			ethtool_sprintf(data, tern_priority_counters[i].name, priority);
	for (i = 0; i < ARRAY_SIZE(tern_link_counters); i++)
		ethtool_puts(data, tern_link_counters[i].name);
}

static u64 *tern_priority_copy(u64 *data, const void *from,
			       const struct tern_priority_counter *counters, unsigned int count)
{
	const __le64 *value;
	unsigned int i;

	for (i = 0; i < count; i++) {
		value = from + counters[i].offset;
		*data++ = div_u64(le64_to_cpu(*value), counters[i].divisor);
	}
	return data;
}

u64 *tern_priority_counters_values(struct tern_netdev *priv, u64 *data)
{
	struct tern_priority_statistics *statistics;
	unsigned int priority;

	/* All of them are zero without the feature, and without an answer. */
	memset(data, 0, tern_priority_counters_count() * sizeof(*data));
	statistics = kmalloc(sizeof(*statistics), GFP_KERNEL);
	if (!statistics || tern_dcb_read_statistics(priv, statistics)) {
		kfree(statistics);
		return data + tern_priority_counters_count();
	}
	for (priority = 0; priority < TERN_PRIORITIES; priority++)
		data = tern_priority_copy(data, &statistics->priority[priority],
					  tern_priority_counters,
					  ARRAY_SIZE(tern_priority_counters));
	data = tern_priority_copy(data, statistics, tern_link_counters,
				  ARRAY_SIZE(tern_link_counters));
	kfree(statistics);
	return data;
}

void tern_get_pause_stats(struct net_device *netdev, struct ethtool_pause_stats *stats)
{
	struct tern_priority_statistics *statistics;
#ifdef TERN_HAVE_PAUSE_STORM_EVENTS
	unsigned int i;
#endif

	statistics = kmalloc(sizeof(*statistics), GFP_KERNEL);
	if (!statistics || tern_dcb_read_statistics(netdev_priv(netdev), statistics))
		goto free;
	stats->tx_pause_frames = le64_to_cpu(statistics->tx_pause_frames);
	stats->rx_pause_frames = le64_to_cpu(statistics->rx_pause_frames);
#ifdef TERN_HAVE_PAUSE_STORM_EVENTS
	stats->tx_pause_storm_events = 0;
	for (i = 0; i < TERN_PRIORITIES; i++)
		stats->tx_pause_storm_events += le64_to_cpu(statistics->priority[i].storms);
#endif
free:
	kfree(statistics);
}
