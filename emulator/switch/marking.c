// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the switch's active queue management: WRED and ECN marking (RFC 3168)
 * by the depth of the egress queue that a frame joins.
 */
#include <math.h>

#include "switch.h"

#define ECN_MASK	0x03
#define ECN_CE		0x03

static uint8_t ecn_of(const struct switch_frame *held)
{
	const uint8_t *ip = held->data + held->ip_offset;

	if (!held->ip_offset)
		return 0;
	return ip[0] >> 4 == 4 ? ip[1] & ECN_MASK : ip[1] >> 4 & ECN_MASK;
}

/*
 * The average after one more frame. While nothing waited it fell as if as many
 * frames like this one had found that, as the link could have sent (Floyd and
 * Jacobson, "Random Early Detection Gateways", section 4).
 */
static double average_depth(const struct tern_switch *sw, unsigned int port,
			    const struct switch_queue *queue, double depth, uint32_t bytes,
			    uint64_t now)
{
	uint64_t mbps = sw->config.port[port].speed_mbps;
	double weight = 1.0 / (double)(1u << sw->config.average_shift);
	double average = queue->average;

	if (!queue->first && !mbps)
		average = 0;
	else if (!queue->first)
		average *= pow(1 - weight, (double)(now - queue->idle_since) * (double)mbps /
			       (8000.0 * bytes));
	return average + (depth - average) * weight;
}

enum switch_verdict switch_marking(struct tern_switch *sw, unsigned int port,
				   const struct switch_frame *held, uint64_t now)
{
	const struct tern_switch_priority_config *config = &sw->config.priorities[held->priority];
	struct switch_queue *queue = &sw->port[port].queue[held->priority];
	uint64_t now_depth = sw->port[port].statistics.priority[held->priority].depth;
	double depth = (double)now_depth, probability;
	uint8_t ecn;

	if (!config->kmax)
		return SWITCH_PASS;
	if (sw->config.average_shift) {
		queue->average = average_depth(sw, port, queue, depth, held->charge, now);
		depth = queue->average;
	}
	if (depth < (double)config->kmax && depth <= (double)config->kmin)
		return SWITCH_PASS;
	if (depth >= (double)config->kmax)
		probability = 1;
	else
		probability = config->pmax * (depth - (double)config->kmin) /
			      (double)(config->kmax - config->kmin);
	ecn = ecn_of(held);
	if (ecn == ECN_CE || (!ecn && !config->wred_drop) || !switch_chance(sw, probability))
		return SWITCH_PASS;
	return ecn ? SWITCH_MARK : SWITCH_DROP;
}

void switch_mark_ce(uint8_t *ip)
{
	uint32_t sum, before;

	if (ip[0] >> 4 != 4) {
		ip[1] |= ECN_CE << 4;
		return;
	}
	/* RFC 1624: HC' = ~(~HC + ~m + m') of the word with the byte that changes. */
	before = (uint32_t)(ip[0] << 8 | ip[1]);
	ip[1] |= ECN_CE;
	sum = (~(uint32_t)(ip[10] << 8 | ip[11]) & 0xffff) + (~before & 0xffff) +
	      (uint32_t)(ip[0] << 8 | ip[1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}
