// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: flow specifications, checked and translated. Pure logic. */
#include <linux/if_ether.h>
#include <linux/in.h>

#include "flow_specs.h"

#define TERN_IB_IPV4_FLAGS	(IB_IPV4_DONT_FRAG | IB_IPV4_MORE_FRAG)

static void tern_ib_eth_fields(const struct ib_flow_eth_filter *from, struct tern_flow_match *to)
{
	memcpy(to->destination_mac, from->dst_mac, sizeof(to->destination_mac));
	memcpy(to->source_mac, from->src_mac, sizeof(to->source_mac));
	memcpy(to->ethertype, &from->ether_type, sizeof(to->ethertype));
	memcpy(to->vlan_tci, &from->vlan_tag, sizeof(to->vlan_tci));
}

static void tern_ib_ipv4_fields(const struct ib_flow_ipv4_filter *from,
				struct tern_flow_match *to)
{
	memcpy(to->source_address, &from->src_ip, sizeof(from->src_ip));
	memcpy(to->destination_address, &from->dst_ip, sizeof(from->dst_ip));
	to->protocol = from->proto;
	to->traffic_class = from->tos;
	to->hop_limit = from->ttl;
	if (from->flags & IB_IPV4_DONT_FRAG)
		to->fragment |= TERN_FLOW_FRAGMENT_DO_NOT;
	if (from->flags & IB_IPV4_MORE_FRAG)
		to->fragment |= TERN_FLOW_FRAGMENT_MORE;
}

static void tern_ib_ipv6_fields(const struct ib_flow_ipv6_filter *from,
				struct tern_flow_match *to)
{
	memcpy(to->source_address, from->src_ip, sizeof(to->source_address));
	memcpy(to->destination_address, from->dst_ip, sizeof(to->destination_address));
	memcpy(to->flow_label, &from->flow_label, sizeof(to->flow_label));
	to->protocol = from->next_hdr;
	to->traffic_class = from->traffic_class;
	to->hop_limit = from->hop_limit;
}

static void tern_ib_port_fields(const struct ib_flow_tcp_udp_filter *from,
				struct tern_flow_match *to)
{
	memcpy(to->source_port, &from->src_port, sizeof(to->source_port));
	memcpy(to->destination_port, &from->dst_port, sizeof(to->destination_port));
}

/* One of each layer, at most. */
static int tern_ib_encode_spec(const union ib_flow_spec *spec, struct tern_command_add_flow *body,
			       bool *has_eth)
{
	switch (spec->type) {
	case IB_FLOW_SPEC_ETH:
		if (*has_eth)
			return -EINVAL;
		*has_eth = true;
		tern_ib_eth_fields(&spec->eth.val, &body->value);
		tern_ib_eth_fields(&spec->eth.mask, &body->mask);
		return 0;
	case IB_FLOW_SPEC_IPV4:
		if (body->ip_version)
			return -EINVAL;
		if (spec->ipv4.mask.flags & ~TERN_IB_IPV4_FLAGS)
			return -EOPNOTSUPP;
		body->ip_version = 4;
		tern_ib_ipv4_fields(&spec->ipv4.val, &body->value);
		tern_ib_ipv4_fields(&spec->ipv4.mask, &body->mask);
		return 0;
	case IB_FLOW_SPEC_IPV6:
		if (body->ip_version)
			return -EINVAL;
		body->ip_version = 6;
		tern_ib_ipv6_fields(&spec->ipv6.val, &body->value);
		tern_ib_ipv6_fields(&spec->ipv6.mask, &body->mask);
		return 0;
	case IB_FLOW_SPEC_TCP:
	case IB_FLOW_SPEC_UDP:
		if (body->l4_protocol)
			return -EINVAL;
		body->l4_protocol = spec->type == IB_FLOW_SPEC_TCP ? IPPROTO_TCP : IPPROTO_UDP;
		tern_ib_port_fields(&spec->tcp_udp.val, &body->value);
		tern_ib_port_fields(&spec->tcp_udp.mask, &body->mask);
		return 0;
	case IB_FLOW_SPEC_ACTION_DROP:
		body->flags |= TERN_FLOW_DROP;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* What the mask does not cover does not matter. */
static void tern_ib_mask_values(struct tern_command_add_flow *body)
{
	const u8 *mask = (const u8 *)&body->mask;
	u8 *value = (u8 *)&body->value;
	size_t i;

	for (i = 0; i < sizeof(body->value); i++)
		value[i] &= mask[i];
}

/* An ethertype that no packet of the IP version has. */
static bool tern_ib_contradicts(const struct tern_command_add_flow *body)
{
	u16 wanted = body->ip_version == 4 ? ETH_P_IP : ETH_P_IPV6;
	const u8 *value = body->value.ethertype;
	const u8 *mask = body->mask.ethertype;

	return body->ip_version && (((wanted >> 8) & mask[0]) != value[0] ||
				    ((wanted & 0xff) & mask[1]) != value[1]);
}

/**
 * tern_ib_encode_flow() - translate a flow into the command
 * @attr: the flow
 * @body: set, but for the queue pair
 *
 * Return: 0, -EOPNOTSUPP for what the device does not match by, or -EINVAL
 */
int tern_ib_encode_flow(const struct ib_flow_attr *attr, struct tern_command_add_flow *body)
{
	static const u8 types[] = {
		[IB_FLOW_ATTR_NORMAL] = TERN_FLOW_NORMAL,
		[IB_FLOW_ATTR_ALL_DEFAULT] = TERN_FLOW_DEFAULT,
		[IB_FLOW_ATTR_MC_DEFAULT] = TERN_FLOW_MULTICAST_DEFAULT,
		[IB_FLOW_ATTR_SNIFFER] = TERN_FLOW_SNIFFER,
	};
	const union ib_flow_spec *spec = attr->flows;
	bool has_eth = false;
	unsigned int i;
	int err;

	memset(body, 0, sizeof(*body));
	if ((unsigned int)attr->type >= ARRAY_SIZE(types))
		return -EINVAL;
	if (attr->flags & ~IB_FLOW_ATTR_FLAGS_DONT_TRAP)
		return -EOPNOTSUPP;
	/* The other types stand for whole classes of frames. */
	if (attr->type != IB_FLOW_ATTR_NORMAL && (attr->num_of_specs || attr->flags))
		return -EINVAL;
	body->type = types[attr->type];
	body->priority = cpu_to_le16(attr->priority);
	if (attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP)
		body->flags = TERN_FLOW_CONTINUE;
	for (i = 0; i < attr->num_of_specs; i++) {
		err = tern_ib_encode_spec(spec, body, &has_eth);
		if (err)
			return err;
		spec = (const void *)spec + spec->size;
	}
	if (body->flags == (TERN_FLOW_DROP | TERN_FLOW_CONTINUE))
		return -EINVAL;
	tern_ib_mask_values(body);
	return tern_ib_contradicts(body) ? -EINVAL : 0;
}
