// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit: flow specifications. */
#include <kunit/test.h>

#include "flow_specs.c"

/* Attributes, and room for what stands behind them. */
struct flow_fixture {
	struct ib_flow_attr attr;
	union ib_flow_spec specs[4];
	size_t used;
};

static void flow_add(struct flow_fixture *flow, const void *spec, size_t size)
{
	memcpy((void *)flow->attr.flows + flow->used, spec, size);
	flow->used += size;
	flow->attr.num_of_specs++;
}

static struct flow_fixture *flow_new(struct kunit *test)
{
	struct flow_fixture *flow = kunit_kzalloc(test, sizeof(*flow), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, flow);
	flow->attr.type = IB_FLOW_ATTR_NORMAL;
	flow->attr.port = 1;
	return flow;
}

static const struct ib_flow_spec_eth fixture_eth = {
	.type = IB_FLOW_SPEC_ETH,
	.size = sizeof(fixture_eth),
	.val = {
		.dst_mac = { 1, 2, 3, 4, 5, 6 }, .src_mac = { 7, 8, 9, 10, 11, 12 },
		.ether_type = cpu_to_be16(ETH_P_IP), .vlan_tag = cpu_to_be16(0x2123),
	},
	.mask = {
		.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, .src_mac = { 1, 0, 8 },
		.ether_type = cpu_to_be16(0xffff), .vlan_tag = cpu_to_be16(0x0fff),
	},
};

static const struct ib_flow_spec_ipv4 fixture_ipv4 = {
	.type = IB_FLOW_SPEC_IPV4,
	.size = sizeof(fixture_ipv4),
	.val = {
		.src_ip = cpu_to_be32(0x0a000001), .dst_ip = cpu_to_be32(0x0a000002),
		.proto = IPPROTO_TCP, .tos = 0x20, .ttl = 64, .flags = IB_IPV4_MORE_FRAG,
	},
	.mask = {
		.src_ip = cpu_to_be32(0xffffff00), .dst_ip = cpu_to_be32(0xffffffff),
		.proto = 0xff, .tos = 0xfc, .ttl = 0xff,
		.flags = IB_IPV4_MORE_FRAG | IB_IPV4_DONT_FRAG,
	},
};

static const struct ib_flow_spec_ipv6 fixture_ipv6 = {
	.type = IB_FLOW_SPEC_IPV6,
	.size = sizeof(fixture_ipv6),
	.val = {
		.src_ip = { 0xfd, [15] = 1 }, .flow_label = cpu_to_be32(0xabcde),
		.next_hdr = IPPROTO_UDP, .traffic_class = 3, .hop_limit = 4,
	},
	.mask = {
		.src_ip = { 0xff, [15] = 0xff }, .flow_label = cpu_to_be32(0xfffff),
		.next_hdr = 0xff, .traffic_class = 0xff, .hop_limit = 0xff,
	},
};

static const struct ib_flow_spec_tcp_udp fixture_tcp = {
	.type = IB_FLOW_SPEC_TCP,
	.size = sizeof(fixture_tcp),
	.val = { .dst_port = cpu_to_be16(80), .src_port = cpu_to_be16(0x1234) },
	.mask = { .dst_port = cpu_to_be16(0xffff), .src_port = cpu_to_be16(0xff00) },
};

static const struct ib_flow_spec_action_drop fixture_drop = {
	.type = IB_FLOW_SPEC_ACTION_DROP,
	.size = sizeof(fixture_drop),
};

static void flow_fields(struct kunit *test)
{
	struct flow_fixture *flow = flow_new(test);
	struct tern_command_add_flow body;

	flow->attr.priority = 0x1234;
	flow_add(flow, &fixture_eth, sizeof(fixture_eth));
	flow_add(flow, &fixture_ipv4, sizeof(fixture_ipv4));
	flow_add(flow, &fixture_tcp, sizeof(fixture_tcp));
	KUNIT_ASSERT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), 0);
	KUNIT_EXPECT_EQ(test, body.type, TERN_FLOW_NORMAL);
	KUNIT_EXPECT_EQ(test, body.flags, 0);
	KUNIT_EXPECT_EQ(test, body.ip_version, 4);
	KUNIT_EXPECT_EQ(test, body.l4_protocol, IPPROTO_TCP);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(body.priority), 0x1234);
	KUNIT_EXPECT_MEMEQ(test, body.value.destination_mac, "\1\2\3\4\5\6", 6);
	/* What the mask does not cover is zero. */
	KUNIT_EXPECT_MEMEQ(test, body.value.source_mac, "\1\0\10\0\0\0", 6);
	KUNIT_EXPECT_MEMEQ(test, body.value.ethertype, "\10\0", 2);
	KUNIT_EXPECT_MEMEQ(test, body.value.vlan_tci, "\1\x23", 2);
	KUNIT_EXPECT_MEMEQ(test, body.value.source_address, "\n\0\0\0\0", 5);
	KUNIT_EXPECT_MEMEQ(test, body.mask.source_address, "\xff\xff\xff\0\0", 5);
	KUNIT_EXPECT_MEMEQ(test, body.value.destination_address, "\n\0\0\2\0", 5);
	KUNIT_EXPECT_EQ(test, body.value.protocol, IPPROTO_TCP);
	KUNIT_EXPECT_EQ(test, body.value.traffic_class, 0x20);
	KUNIT_EXPECT_EQ(test, body.value.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, body.value.fragment, TERN_FLOW_FRAGMENT_MORE);
	KUNIT_EXPECT_EQ(test, body.mask.fragment,
			TERN_FLOW_FRAGMENT_MORE | TERN_FLOW_FRAGMENT_DO_NOT);
	KUNIT_EXPECT_MEMEQ(test, body.value.source_port, "\x12\0", 2);
	KUNIT_EXPECT_MEMEQ(test, body.value.destination_port, "\0\x50", 2);
}

static void flow_fields_ipv6(struct kunit *test)
{
	struct flow_fixture *flow = flow_new(test);
	struct tern_command_add_flow body;

	flow_add(flow, &fixture_ipv6, sizeof(fixture_ipv6));
	KUNIT_ASSERT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), 0);
	KUNIT_EXPECT_EQ(test, body.ip_version, 6);
	KUNIT_EXPECT_EQ(test, body.l4_protocol, 0);
	KUNIT_EXPECT_MEMEQ(test, body.value.source_address, fixture_ipv6.val.src_ip, 16);
	KUNIT_EXPECT_MEMEQ(test, body.value.flow_label, "\0\x0a\xbc\xde", 4);
	KUNIT_EXPECT_EQ(test, body.value.protocol, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, body.value.traffic_class, 3);
	KUNIT_EXPECT_EQ(test, body.value.hop_limit, 4);
}

static void flow_types(struct kunit *test)
{
	static const struct {
		enum ib_flow_attr_type from;
		u8 to;
	} types[] = {
		{ IB_FLOW_ATTR_NORMAL, TERN_FLOW_NORMAL },
		{ IB_FLOW_ATTR_ALL_DEFAULT, TERN_FLOW_DEFAULT },
		{ IB_FLOW_ATTR_MC_DEFAULT, TERN_FLOW_MULTICAST_DEFAULT },
		{ IB_FLOW_ATTR_SNIFFER, TERN_FLOW_SNIFFER },
	};
	struct flow_fixture *flow = flow_new(test);
	struct tern_command_add_flow body;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		flow->attr.type = types[i].from;
		KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), 0);
		KUNIT_EXPECT_EQ(test, body.type, types[i].to);
	}
	flow->attr.type = IB_FLOW_ATTR_SNIFFER + 1;
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EINVAL);
	flow->attr.type = IB_FLOW_ATTR_SNIFFER;
	flow_add(flow, &fixture_drop, sizeof(fixture_drop));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EINVAL);
}

static void flow_actions(struct kunit *test)
{
	struct flow_fixture *flow = flow_new(test);
	struct tern_command_add_flow body;

	flow->attr.flags = IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	KUNIT_ASSERT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), 0);
	KUNIT_EXPECT_EQ(test, body.flags, TERN_FLOW_CONTINUE);
	flow->attr.flags = IB_FLOW_ATTR_FLAGS_EGRESS;
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EOPNOTSUPP);
	flow->attr.flags = 0;
	flow_add(flow, &fixture_drop, sizeof(fixture_drop));
	KUNIT_ASSERT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), 0);
	KUNIT_EXPECT_EQ(test, body.flags, TERN_FLOW_DROP);
	flow->attr.flags = IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EINVAL);
}

static void flow_refused(struct kunit *test)
{
	struct ib_flow_spec_ipv4 reserved = fixture_ipv4;
	const struct ib_flow_spec_tunnel tunnel = {
		.type = IB_FLOW_SPEC_VXLAN_TUNNEL,
		.size = sizeof(tunnel),
	};
	struct tern_command_add_flow body;
	struct flow_fixture *flow;

	flow = flow_new(test);
	flow_add(flow, &fixture_ipv4, sizeof(fixture_ipv4));
	flow_add(flow, &fixture_ipv6, sizeof(fixture_ipv6));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EINVAL);
	flow = flow_new(test);
	flow_add(flow, &fixture_tcp, sizeof(fixture_tcp));
	flow_add(flow, &fixture_tcp, sizeof(fixture_tcp));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EINVAL);
	flow = flow_new(test);
	flow_add(flow, &fixture_eth, sizeof(fixture_eth));
	flow_add(flow, &fixture_eth, sizeof(fixture_eth));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EINVAL);
	/* IPv4's ethertype, and an IPv6 header. */
	flow = flow_new(test);
	flow_add(flow, &fixture_eth, sizeof(fixture_eth));
	flow_add(flow, &fixture_ipv6, sizeof(fixture_ipv6));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EINVAL);
	flow = flow_new(test);
	flow_add(flow, &tunnel, sizeof(tunnel));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EOPNOTSUPP);
	flow = flow_new(test);
	reserved.mask.flags = 1;
	flow_add(flow, &reserved, sizeof(reserved));
	KUNIT_EXPECT_EQ(test, tern_ib_encode_flow(&flow->attr, &body), -EOPNOTSUPP);
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(flow_fields),
	KUNIT_CASE(flow_fields_ipv6),
	KUNIT_CASE(flow_types),
	KUNIT_CASE(flow_actions),
	KUNIT_CASE(flow_refused),
	{}
};

static struct kunit_suite flow_suite = {
	.name = "tern_flow_specs",
	.test_cases = flow_cases,
};

kunit_test_suite(flow_suite);
