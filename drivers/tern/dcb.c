// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: what was set by DCB netlink, ethtool and devlink, and the device.
 *
 * All of it changes in one way: a copy is edited and translated, which may
 * refuse it, and the commands that differ are sent. If one of them fails, those
 * before it are taken back.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <net/dsfield.h>

#include "commands.h"
#include "dcb.h"
#include "netdev.h"

/* Commands in the order of struct tern_dcb_commands; congestion control's has a number. */
struct tern_dcb_step {
	u16 opcode;
	u8 feature;
	u8 number;
	u16 offset;
	u16 length;
};

#define TERN_DCB_STEP(op, needs, index, type, place)	{			\
	.opcode = TERN_COMMAND_##op,						\
	.feature = TERN_FEATURE_##needs,					\
	.number = index,							\
	.offset = place,							\
	.length = sizeof(struct tern_command_##type),				\
}

#define TERN_DCB_PLACE(field)		offsetof(struct tern_dcb_commands, field)
#define TERN_DCB_CONGESTION(index, place)					\
	TERN_DCB_STEP(SET_CONGESTION_CONTROL, ECN, index, set_congestion_control, place)

/*
 * Buffers before flow control that may need them. What flow control leaves
 * without a threshold goes on without: nothing is lost that was not to be.
 */
static const struct tern_dcb_step tern_dcb_steps[] = {
	TERN_DCB_STEP(SET_TRAFFIC_CLASSES, ETS, 0, set_traffic_classes, TERN_DCB_PLACE(classes)),
	TERN_DCB_STEP(SET_PRIORITY_MAP, PFC, 0, set_priority_map, TERN_DCB_PLACE(map)),
	TERN_DCB_STEP(SET_RECEIVE_BUFFERS, PFC, 0, set_receive_buffers, TERN_DCB_PLACE(buffers)),
	TERN_DCB_STEP(SET_FLOW_CONTROL, PFC, 0, set_flow_control, TERN_DCB_PLACE(flow_control)),
	TERN_DCB_CONGESTION(0, TERN_DCB_PLACE(congestion[0])),
	TERN_DCB_CONGESTION(1, TERN_DCB_PLACE(congestion[1])),
	TERN_DCB_CONGESTION(2, TERN_DCB_PLACE(congestion[2])),
	TERN_DCB_CONGESTION(3, TERN_DCB_PLACE(congestion[3])),
	TERN_DCB_CONGESTION(4, TERN_DCB_PLACE(congestion[4])),
	TERN_DCB_CONGESTION(5, TERN_DCB_PLACE(congestion[5])),
	TERN_DCB_CONGESTION(6, TERN_DCB_PLACE(congestion[6])),
	TERN_DCB_CONGESTION(7, TERN_DCB_PLACE(congestion[7])),
};

static struct tern_dcb_limits tern_dcb_limits(const struct tern_netdev *priv, unsigned int mtu)
{
	return (struct tern_dcb_limits) {
		.buffer_bytes = priv->adapter->device.caps.receive_buffer_bytes,
		.frame_bytes = mtu + VLAN_ETH_HLEN,
	};
}

static int tern_dcb_step(struct tern_device *tern, const struct tern_dcb_step *step,
			 const struct tern_dcb_commands *from, const struct tern_dcb_commands *to)
{
	const void *old = (const void *)from + step->offset;
	const void *new = (const void *)to + step->offset;

	if (!tern_has(tern, step->feature) || !memcmp(old, new, step->length))
		return 0;
	return tern_cmd_set_dcb(tern, step->opcode, step->number, new, step->length);
}

/* Bring the device from one to the other; if that fails, back. */
static int tern_dcb_send(struct tern_device *tern, const struct tern_dcb_commands *from,
			 const struct tern_dcb_commands *to)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(tern_dcb_steps); i++)
		err = tern_dcb_step(tern, &tern_dcb_steps[i], from, to);
	if (!err)
		return 0;
	/* The last one failed, and so changed nothing. */
	for (i--; i--;)
		if (tern_dcb_step(tern, &tern_dcb_steps[i], to, from))
			dev_err(&tern->pdev->dev, "command %#x could not be taken back\n",
				tern_dcb_steps[i].opcode);
	return err;
}

/*
 * Bytes that transmit reads by READ_ONCE(). While they change it may see some of the old and
 * some of the new ones, and choose a queue by either: no order was promised to those frames.
 */
static void tern_dcb_set_transmit_map(struct tern_dcb *dcb)
{
	const u8 *from = (const u8 *)&dcb->commands.map;
	u8 *to = (u8 *)&dcb->transmit_map;
	unsigned int i;

	for (i = 0; i < sizeof(dcb->transmit_map); i++)
		WRITE_ONCE(to[i], from[i]);
}

static void tern_dcb_set_queues(struct tern_dcb *dcb)
{
	u8 sets[TERN_PRIORITIES];
	bool sorted = false;
	unsigned int i;

	lockdep_assert_held(&dcb->lock);
	tern_dcb_set_transmit_map(dcb);
	tern_dcb_queue_sets(&dcb->settings, sets);
	for (i = 0; i < TERN_PRIORITIES; i++) {
		WRITE_ONCE(dcb->queue_sets[i], sets[i]);
		sorted |= sets[i];
	}
	WRITE_ONCE(dcb->sorted, sorted);
	WRITE_ONCE(dcb->obeys, dcb->settings.pfc || dcb->settings.pause);
}

/* What an attempt to change works with; too much for the stack. */
struct tern_dcb_attempt {
	struct tern_dcb_settings settings;
	struct tern_dcb_commands commands;
};

static int tern_dcb_try(struct tern_netdev *priv, struct tern_dcb_attempt *attempt,
			tern_dcb_edit *edit, const void *data, unsigned int mtu, const char **why)
{
	struct tern_dcb_limits limits = tern_dcb_limits(priv, mtu);
	struct tern_dcb *dcb = priv->dcb;
	int err;

	lockdep_assert_held(&dcb->lock);
	attempt->settings = dcb->settings;
	err = edit ? edit(&attempt->settings, data, why) : 0;
	if (!err)
		err = tern_dcb_translate(&attempt->settings, &limits, &attempt->commands, why);
	if (!err)
		err = tern_dcb_send(&priv->adapter->device, &dcb->commands, &attempt->commands);
	if (err)
		return err;
	dcb->settings = attempt->settings;
	dcb->commands = attempt->commands;
	dcb->mtu = mtu;
	tern_dcb_set_queues(dcb);
	return 0;
}

/* @mtu 0: as it is. */
static int tern_dcb_change_for_mtu(struct tern_netdev *priv, tern_dcb_edit *edit,
				   const void *data, unsigned int mtu, const char **why)
{
	struct tern_dcb_attempt *attempt;
	int err;

	attempt = kmalloc(sizeof(*attempt), GFP_KERNEL);
	if (!attempt)
		return -ENOMEM;
	*why = "the device did not take it";
	mutex_lock(&priv->dcb->lock);
	err = tern_dcb_try(priv, attempt, edit, data, mtu ?: priv->dcb->mtu, why);
	mutex_unlock(&priv->dcb->lock);
	kfree(attempt);
	return err;
}

int tern_dcb_change(struct tern_netdev *priv, tern_dcb_edit *edit, const void *data,
		    const char **why)
{
	return tern_dcb_change_for_mtu(priv, edit, data, 0, why);
}

int tern_dcb_set_mtu(struct tern_netdev *priv, unsigned int mtu)
{
	const char *why = "no memory";
	int err;

	err = tern_dcb_change_for_mtu(priv, NULL, NULL, mtu, &why);
	if (err && net_ratelimit())
		netdev_notice(priv->netdev, "MTU %u: %s\n", mtu, why);
	return err;
}

int tern_dcb_restore(struct tern_netdev *priv)
{
	struct tern_dcb *dcb = priv->dcb;
	struct tern_dcb_attempt *attempt;
	struct tern_dcb_limits limits;
	const char *why;
	int err;

	attempt = kmalloc(sizeof(*attempt), GFP_KERNEL);
	if (!attempt)
		return -ENOMEM;
	mutex_lock(&dcb->lock);
	limits = tern_dcb_limits(priv, dcb->mtu);
	tern_dcb_defaults(&attempt->settings);
	err = tern_dcb_translate(&attempt->settings, &limits, &attempt->commands, &why);
	if (!err)
		err = tern_dcb_send(&priv->adapter->device, &attempt->commands, &dcb->commands);
	memset(&dcb->statistics, 0, sizeof(dcb->statistics));
	WRITE_ONCE(dcb->paused, 0);
	mutex_unlock(&dcb->lock);
	kfree(attempt);
	return err;
}

int tern_dcb_read_statistics(struct tern_netdev *priv,
			     struct tern_priority_statistics *statistics)
{
	struct tern_device *tern = &priv->adapter->device;

	if (!tern_has(tern, TERN_FEATURE_PFC))
		return -EOPNOTSUPP;
	return tern_cmd_query(tern, TERN_COMMAND_QUERY_STATISTICS, 0, TERN_STATISTICS_PRIORITY,
			      statistics, sizeof(*statistics));
}

void tern_dcb_health(struct tern_netdev *priv)
{
	struct tern_priority_statistics *statistics;
	struct tern_dcb *dcb = priv->dcb;
	unsigned int i;
	u8 paused = 0;

	statistics = READ_ONCE(dcb->obeys) ? kmalloc(sizeof(*statistics), GFP_KERNEL) : NULL;
	if (!statistics || tern_dcb_read_statistics(priv, statistics)) {
		WRITE_ONCE(dcb->paused, 0);
	} else {
		mutex_lock(&dcb->lock);
		for (i = 0; i < TERN_PRIORITIES; i++)
			if (statistics->priority[i].tx_paused_ns !=
			    dcb->statistics.priority[i].tx_paused_ns)
				paused |= BIT(i);
		dcb->statistics = *statistics;
		WRITE_ONCE(dcb->paused, paused);
		mutex_unlock(&dcb->lock);
	}
	kfree(statistics);
}

/* The priority by a tag; false without one. */
static bool tern_dcb_tag(const struct tern_dcb *dcb, const struct sk_buff *skb, u8 *priority)
{
	u16 tci;

	if (vlan_get_tag(skb, &tci))
		return false;
	*priority = READ_ONCE(dcb->transmit_map.priority_of_pcp[(tci & VLAN_CFI_MASK ? 8 : 0) |
							       tci >> VLAN_PRIO_SHIFT]);
	return true;
}

/* The priority by an IP header's DSCP; false without one. */
static bool tern_dcb_dscp(const struct tern_dcb *dcb, const struct sk_buff *skb, u8 *priority)
{
	int offset = skb_network_offset(skb);
	const struct ipv6hdr *ipv6;
	struct ipv6hdr buffer;
	const struct iphdr *ip;
	u8 field;

	switch (vlan_get_protocol(skb)) {
	case htons(ETH_P_IP):
		ip = skb_header_pointer(skb, offset, sizeof(*ip), &buffer);
		if (!ip)
			return false;
		field = ipv4_get_dsfield(ip);
		break;
	case htons(ETH_P_IPV6):
		ipv6 = skb_header_pointer(skb, offset, sizeof(*ipv6), &buffer);
		if (!ipv6)
			return false;
		field = ipv6_get_dsfield(ipv6);
		break;
	default:
		return false;
	}
	*priority = READ_ONCE(dcb->transmit_map.priority_of_dscp[field >> 2]);
	return true;
}

/* As the device finds it: hw-spec/priorities.rst, "Which priority a frame has". */
unsigned int tern_dcb_queue_set(const struct tern_dcb *dcb, const struct sk_buff *skb)
{
	u8 priority = READ_ONCE(dcb->transmit_map.default_priority);

	switch (READ_ONCE(dcb->transmit_map.trust)) {
	case TERN_TRUST_PCP:
		tern_dcb_tag(dcb, skb, &priority);
		break;
	case TERN_TRUST_DSCP:
		tern_dcb_dscp(dcb, skb, &priority);
		break;
	case TERN_TRUST_PCP_DSCP:
		if (!tern_dcb_tag(dcb, skb, &priority))
			tern_dcb_dscp(dcb, skb, &priority);
		break;
	case TERN_TRUST_DSCP_PCP:
		if (!tern_dcb_dscp(dcb, skb, &priority))
			tern_dcb_tag(dcb, skb, &priority);
		break;
	}
	return READ_ONCE(dcb->queue_sets[priority & (TERN_PRIORITIES - 1)]);
}

int tern_dcb_create(struct tern_netdev *priv)
{
	struct tern_dcb_limits limits = tern_dcb_limits(priv, priv->netdev->mtu);
	struct tern_dcb *dcb;
	const char *why;
	int err;

	dcb = kzalloc(sizeof(*dcb), GFP_KERNEL);
	if (!dcb)
		return -ENOMEM;
	mutex_init(&dcb->lock);
	tern_dcb_defaults(&dcb->settings);
	/* What a device has after its reset; nothing in there can be refused. */
	tern_dcb_translate(&dcb->settings, &limits, &dcb->commands, &why);
	dcb->mtu = priv->netdev->mtu;
	priv->dcb = dcb;
	tern_dcbnl_init(priv);
	err = tern_dcb_tables_init(priv);
	if (!err)
		return 0;
	priv->dcb = NULL;
	mutex_destroy(&dcb->lock);
	kfree(dcb);
	return err;
}

void tern_dcb_destroy(struct tern_netdev *priv)
{
	if (!priv->dcb)
		return;
	tern_dcb_tables_exit(priv);
	mutex_destroy(&priv->dcb->lock);
	kfree(priv->dcb);
	priv->dcb = NULL;
}
