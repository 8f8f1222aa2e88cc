// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: encodings of the verbs and of the device. */
#include <kunit/test.h>

#include "convert.c"

struct mtu_case {
	u32 netdev;
	enum ib_mtu mtu;
};

/* 96 bytes of headers at most go before a packet's payload. */
static const struct mtu_case mtu_cases[] = {
	{ 68, IB_MTU_256 }, { 256, IB_MTU_256 }, { 352, IB_MTU_256 }, { 607, IB_MTU_256 },
	{ 608, IB_MTU_512 }, { 1119, IB_MTU_512 }, { 1120, IB_MTU_1024 }, { 1500, IB_MTU_1024 },
	{ 2143, IB_MTU_1024 }, { 2144, IB_MTU_2048 }, { 4191, IB_MTU_2048 },
	{ 4192, IB_MTU_4096 }, { 4200, IB_MTU_4096 }, { 9000, IB_MTU_4096 },
};

static void mtu_desc(const struct mtu_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "netdev MTU %u", c->netdev);
}

KUNIT_ARRAY_PARAM(mtu, mtu_cases, mtu_desc);

static void convert_mtu(struct kunit *test)
{
	const struct mtu_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, tern_ib_mtu_from(c->netdev), c->mtu);
}

struct speed_case {
	u32 mbps;
	u16 speed;
	u8 width;
};

static const struct speed_case speed_cases[] = {
	{ 0, IB_SPEED_SDR, IB_WIDTH_1X },
	{ 1000, IB_SPEED_SDR, IB_WIDTH_1X },
	{ 4999, IB_SPEED_SDR, IB_WIDTH_1X },
	{ 5000, IB_SPEED_DDR, IB_WIDTH_1X },
	{ 9999, IB_SPEED_DDR, IB_WIDTH_1X },
	{ 10000, IB_SPEED_FDR10, IB_WIDTH_1X },
	{ 19999, IB_SPEED_FDR10, IB_WIDTH_1X },
	{ 20000, IB_SPEED_DDR, IB_WIDTH_4X },
	{ 25000, IB_SPEED_EDR, IB_WIDTH_1X },
	{ 30000, IB_SPEED_EDR, IB_WIDTH_1X },
	{ 40000, IB_SPEED_FDR10, IB_WIDTH_4X },
	{ 50000, IB_SPEED_EDR, IB_WIDTH_2X },
	{ 100000, IB_SPEED_EDR, IB_WIDTH_4X },
	{ 200000, IB_SPEED_HDR, IB_WIDTH_4X },
	{ 400000, IB_SPEED_NDR, IB_WIDTH_4X },
	{ 799999, IB_SPEED_NDR, IB_WIDTH_4X },
	{ 800000, IB_SPEED_XDR, IB_WIDTH_4X },
	{ U32_MAX, IB_SPEED_XDR, IB_WIDTH_4X },
};

static void speed_desc(const struct speed_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u Mb/s", c->mbps);
}

KUNIT_ARRAY_PARAM(speed, speed_cases, speed_desc);

static void convert_speed(struct kunit *test)
{
	const struct speed_case *c = test->param_value;
	u16 speed;
	u8 width;

	tern_ib_speed_from(c->mbps, &speed, &width);
	KUNIT_EXPECT_EQ(test, speed, c->speed);
	KUNIT_EXPECT_EQ(test, width, c->width);
}

static const union ib_gid gid = {
	.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9 },
};

static const u8 mac[ETH_ALEN] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };

static void convert_gid_plain(struct kunit *test)
{
	struct tern_command_set_gid body;

	memset(&body, 0xff, sizeof(body));
	KUNIT_ASSERT_EQ(test, tern_ib_gid_to(&gid, IB_GID_TYPE_ROCE_UDP_ENCAP, mac, 0xffff,
					     &body), 0);
	KUNIT_EXPECT_EQ(test, body.type, TERN_GID_TYPE_ROCE_V2);
	KUNIT_EXPECT_MEMEQ(test, body.gid, gid.raw, 16);
	KUNIT_EXPECT_MEMEQ(test, body.mac, mac, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, body.flags, 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(body.vlan_id), 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(body.reserved0), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(body.reserved1), 0);
}

static void convert_gid_vlan(struct kunit *test)
{
	static const u16 vlans[] = { 0, 1, 100, 4094 };
	struct tern_command_set_gid body;
	int i;

	for (i = 0; i < ARRAY_SIZE(vlans); i++) {
		KUNIT_ASSERT_EQ(test, tern_ib_gid_to(&gid, IB_GID_TYPE_ROCE, mac, vlans[i], &body),
				0);
		KUNIT_EXPECT_EQ(test, body.type, TERN_GID_TYPE_ROCE_V1);
		KUNIT_EXPECT_EQ(test, body.flags, TERN_GID_VLAN);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(body.vlan_id), vlans[i]);
	}
}

/* A number that no VLAN has is none. */
static void convert_gid_beyond_vlans(struct kunit *test)
{
	struct tern_command_set_gid body;

	KUNIT_ASSERT_EQ(test, tern_ib_gid_to(&gid, IB_GID_TYPE_ROCE, mac, 4096, &body), 0);
	KUNIT_EXPECT_EQ(test, body.flags, 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(body.vlan_id), 0);
}

static void convert_gid_refuses_infiniband(struct kunit *test)
{
	struct tern_command_set_gid body;

	KUNIT_EXPECT_EQ(test, tern_ib_gid_to(&gid, IB_GID_TYPE_IB, mac, 0xffff, &body), -EINVAL);
}

static void convert_address_and_back(struct kunit *test)
{
	struct tern_address_vector address;
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	struct rdma_ah_attr back = {};

	rdma_ah_set_grh(&attr, NULL, 0xabcde, 255, 63, 0xb8);
	rdma_ah_set_dgid_raw(&attr, (void *)gid.raw);
	rdma_ah_set_sl(&attr, 5);
	ether_addr_copy(attr.roce.dmac, mac);

	memset(&address, 0xff, sizeof(address));
	tern_ib_address_to(&attr, 0xc123, &address);
	KUNIT_EXPECT_MEMEQ(test, address.destination_gid, gid.raw, 16);
	KUNIT_EXPECT_MEMEQ(test, address.destination_mac, mac, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(address.source_gid_index), 255);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(address.flow_label), 0xabcde);
	KUNIT_EXPECT_EQ(test, address.traffic_class, 0xb8);
	KUNIT_EXPECT_EQ(test, address.hop_limit, 63);
	KUNIT_EXPECT_EQ(test, address.service_level, 5);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(address.udp_source_port), 0xc123);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(address.remote_qpn), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(address.qkey), 0);

	tern_ib_address_from(&address, &back);
	KUNIT_EXPECT_EQ(test, back.type, RDMA_AH_ATTR_TYPE_ROCE);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&back), IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&back), 5);
	KUNIT_EXPECT_MEMEQ(test, &back.grh.dgid, gid.raw, 16);
	KUNIT_EXPECT_EQ(test, back.grh.sgid_index, 255);
	KUNIT_EXPECT_EQ(test, back.grh.flow_label, 0xabcde);
	KUNIT_EXPECT_EQ(test, back.grh.traffic_class, 0xb8);
	KUNIT_EXPECT_EQ(test, back.grh.hop_limit, 63);
	KUNIT_EXPECT_MEMEQ(test, back.roce.dmac, mac, ETH_ALEN);
}

/* More than 20 bits are not the flow label's. */
static void convert_address_masks(struct kunit *test)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	struct tern_address_vector address;

	rdma_ah_set_grh(&attr, NULL, 0xfff00001, 0, 1, 0);
	tern_ib_address_to(&attr, 0, &address);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(address.flow_label), 1);
}

static void convert_access(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, tern_ib_access_to(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE),
			TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, tern_ib_access_to(IB_ACCESS_REMOTE_READ | IB_ACCESS_HUGETLB |
						IB_ACCESS_RELAXED_ORDERING),
			TERN_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, tern_ib_access_to(IB_ACCESS_FLUSH_GLOBAL |
						IB_ACCESS_FLUSH_PERSISTENT), 0);
	KUNIT_EXPECT_EQ(test, tern_ib_flush_access_to(~0),
			TERN_ACCESS_FLUSH_GLOBAL | TERN_ACCESS_FLUSH_PERSISTENT);
	/* That memory keeps its content is never said. */
	KUNIT_EXPECT_EQ(test, tern_ib_region_access_to(IB_ACCESS_FLUSH_GLOBAL |
						       IB_ACCESS_FLUSH_PERSISTENT),
			TERN_ACCESS_FLUSH_GLOBAL);
	KUNIT_EXPECT_EQ(test, tern_ib_access_from(U32_MAX),
			IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			IB_ACCESS_REMOTE_ATOMIC);
}

/* Whatever a device says, only states that there are come through. */
static void convert_states(struct kunit *test)
{
	enum ib_qp_state state;
	int i;

	for (i = 0; i < 256; i++) {
		if (i > TERN_QP_ERROR) {
			KUNIT_EXPECT_FALSE(test, tern_ib_qp_state_from(i, &state));
			continue;
		}
		KUNIT_EXPECT_TRUE(test, tern_ib_qp_state_from(i, &state));
		KUNIT_EXPECT_EQ(test, state, i);
	}
}

static void convert_types(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, tern_ib_qp_type(IB_QPT_RC), TERN_QP_RC);
	KUNIT_EXPECT_EQ(test, tern_ib_qp_type(IB_QPT_UC), TERN_QP_UC);
	KUNIT_EXPECT_EQ(test, tern_ib_qp_type(IB_QPT_UD), TERN_QP_UD);
	KUNIT_EXPECT_EQ(test, tern_ib_qp_type(IB_QPT_GSI), TERN_QP_GSI);
	KUNIT_EXPECT_EQ(test, tern_ib_qp_type(IB_QPT_XRC_INI), TERN_QP_XRC_INITIATOR);
	KUNIT_EXPECT_EQ(test, tern_ib_qp_type(IB_QPT_XRC_TGT), TERN_QP_XRC_TARGET);
	KUNIT_EXPECT_EQ(test, tern_ib_qp_type(IB_QPT_RAW_PACKET), TERN_QP_ETHERNET);
	KUNIT_EXPECT_TRUE(test, tern_ib_connected(IB_QPT_RC));
	KUNIT_EXPECT_TRUE(test, tern_ib_connected(IB_QPT_UC));
	KUNIT_EXPECT_TRUE(test, tern_ib_connected(IB_QPT_XRC_INI));
	KUNIT_EXPECT_TRUE(test, tern_ib_connected(IB_QPT_XRC_TGT));
	KUNIT_EXPECT_FALSE(test, tern_ib_connected(IB_QPT_RAW_PACKET));
	KUNIT_EXPECT_FALSE(test, tern_ib_connected(IB_QPT_UD));
	KUNIT_EXPECT_FALSE(test, tern_ib_connected(IB_QPT_GSI));
}

static void convert_events(struct kunit *test)
{
	static const struct {
		u8 type;
		enum ib_event_type event;
	} known[] = {
		{ TERN_EVENT_QP_FATAL, IB_EVENT_QP_FATAL },
		{ TERN_EVENT_QP_REQUEST_ERROR, IB_EVENT_QP_REQ_ERR },
		{ TERN_EVENT_QP_ACCESS_ERROR, IB_EVENT_QP_ACCESS_ERR },
		{ TERN_EVENT_QP_ESTABLISHED, IB_EVENT_COMM_EST },
		{ TERN_EVENT_QP_DRAINED, IB_EVENT_SQ_DRAINED },
		{ TERN_EVENT_QP_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
	};
	enum ib_event_type event;
	int found = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		KUNIT_EXPECT_TRUE(test, tern_ib_event_from(known[i].type, &event));
		KUNIT_EXPECT_EQ(test, event, known[i].event);
	}
	for (i = 0; i < 256; i++)
		found += tern_ib_event_from(i, &event);
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(known));
}

static struct kunit_case convert_cases[] = {
	KUNIT_CASE_PARAM(convert_mtu, mtu_gen_params),
	KUNIT_CASE_PARAM(convert_speed, speed_gen_params),
	KUNIT_CASE(convert_gid_plain),
	KUNIT_CASE(convert_gid_vlan),
	KUNIT_CASE(convert_gid_beyond_vlans),
	KUNIT_CASE(convert_gid_refuses_infiniband),
	KUNIT_CASE(convert_address_and_back),
	KUNIT_CASE(convert_address_masks),
	KUNIT_CASE(convert_access),
	KUNIT_CASE(convert_states),
	KUNIT_CASE(convert_types),
	KUNIT_CASE(convert_events),
	{}
};

static struct kunit_suite convert_suite = {
	.name = "tern_convert",
	.test_cases = convert_cases,
};

kunit_test_suite(convert_suite);
