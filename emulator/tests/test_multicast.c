// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: multicast: who gets a datagram to many, who does not, and the commands' rules. */
#include <endian.h>

#include "capabilities.h"
#include "host_rdma.h"
#include "tern_test.h"

#define GRH	TERN_GRH_BYTES
#define LENGTH	1000
#define QPN_ALL	0xffffff

static const struct rdma_options ud = { .type = TERN_QP_UD };

static const uint8_t ipv4_group[16] = {
	[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 0x81, [14] = 2, [15] = 3
};

static const uint8_t ipv4_mac[6] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
static const uint8_t ipv6_group[16] = {
	[0] = 0xff, [1] = 0x0e, [11] = 7, [12] = 0x81, [13] = 0x82, [14] = 0x83, [15] = 0x84
};

static const uint8_t ipv6_mac[6] = { 0x33, 0x33, 0x81, 0x82, 0x83, 0x84 };

static uint16_t attach(struct rdma_side *side, const uint8_t *gid)
{
	return driver_command(side->driver, TERN_COMMAND_ATTACH_MULTICAST, side->qp.qpn, gid, 16);
}

static uint16_t detach(struct rdma_side *side, const uint8_t *gid)
{
	return driver_command(side->driver, TERN_COMMAND_DETACH_MULTICAST, side->qp.qpn, gid, 16);
}

/* Another queue pair of @of's NIC, in RTS. */
static struct rdma_side beside(struct rdma_pair *pair, struct rdma_side *of)
{
	struct rdma_side side = *of;
	struct tern_qp_attributes attributes;

	rdma_side_objects(&side, &pair->options);
	rdma_attributes(&side, rdma_peer(pair, of), &pair->options, false, &attributes);
	CHECK_EQ(rdma_to_rtr(&side, &attributes), 0);
	CHECK_EQ(rdma_to_rts(&side, &attributes), 0);
	return side;
}

static const uint8_t *group_of(const struct rdma_pair *pair)
{
	return pair->options.network == RDMA_V2_IPV4 ||
	       pair->options.network == RDMA_V2_IPV4_VLAN ? ipv4_group : ipv6_group;
}

static void vector_to(struct rdma_pair *pair, const uint8_t *group,
		      struct tern_address_vector *vector)
{
	rdma_vector(pair, &pair->a, vector);
	memcpy(vector->destination_gid, group, 16);
	memcpy(vector->destination_mac, group == ipv4_group ? ipv4_mac : ipv6_mac, 6);
	vector->remote_qpn = htole32(QPN_ALL);
}

/* From a, whose completion is taken. */
static void send(struct rdma_pair *pair, const struct tern_address_vector *vector)
{
	struct rdma_request request = {
		.opcode = TERN_WQE_SEND, .length = LENGTH, .vector = vector,
	};
	struct tern_cqe cqe;

	rdma_post(pair, &pair->a, &request);
	rdma_wait(pair, &pair->a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	world_settle(pair->world);
}

static void send_to(struct rdma_pair *pair, const uint8_t *group)
{
	struct tern_address_vector vector;

	vector_to(pair, group, &vector);
	rdma_fill(rdma_memory(&pair->a, 0), LENGTH, 7);
	send(pair, &vector);
}

/* It comes into the second half of the buffer. */
static void expect(struct rdma_side *side)
{
	memset(rdma_memory(side, 65536), 0, LENGTH + GRH);
	rdma_post_receive(side, 65536, LENGTH + GRH);
}

static bool came(struct rdma_pair *pair, struct rdma_side *side, const uint8_t *group)
{
	const uint8_t *data = rdma_memory(side, 65536);
	struct tern_cqe cqe;

	if (!driver_cq_poll(&side->receive_cq, &cqe))
		return false;
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(le32toh(cqe.byte_count), LENGTH + GRH);
	CHECK_EQ(le32toh(cqe.source_qpn), pair->a.qp.qpn);
	CHECK_EQ(le32toh(cqe.queue), side->qp.qpn);
	if (cqe.flags & TERN_CQE_FLAG_IPV4)
		CHECK_MEM(data + 36, group + 12, 4);
	else
		CHECK_MEM(data + 24, group, 16);
	CHECK_MEM(data + GRH, rdma_memory(&pair->a, 0), LENGTH);
	return true;
}

/* b and c at the other end, d beside the sender, and the sender; e is not attached. */
static void one_frame_to_all(const struct rdma_options *options)
{
	struct rdma_pair pair;
	struct rdma_side c, d, e;
	const uint8_t *group;
	uint64_t sent;

	rdma_pair_create(&pair, options);
	group = group_of(&pair);
	c = beside(&pair, &pair.b);
	d = beside(&pair, &pair.a);
	e = beside(&pair, &pair.b);
	CHECK_EQ(attach(&pair.a, group), 0);
	CHECK_EQ(attach(&pair.b, group), 0);
	CHECK_EQ(attach(&c, group), 0);
	CHECK_EQ(attach(&d, group), 0);
	expect(&pair.a);
	expect(&pair.b);
	expect(&c);
	expect(&d);
	expect(&e);
	sent = pair.a.machine->frames_sent;
	send_to(&pair, group);
	CHECK_EQ(pair.a.machine->frames_sent, sent + 1);
	CHECK(came(&pair, &pair.a, group));
	CHECK(came(&pair, &pair.b, group));
	CHECK(came(&pair, &c, group));
	CHECK(came(&pair, &d, group));
	CHECK(!came(&pair, &e, group));
	CHECK_EQ(rdma_counter(&pair.a, "tx_multicast"), 1);
	CHECK_EQ(rdma_counter(&pair.b, "rx_multicast"), 1);
	CHECK_EQ(rdma_counter(&pair.b, "rx_roce_packets"), 1);

	/* Detached again: the others get the next. */
	CHECK_EQ(detach(&pair.b, group), 0);
	CHECK_EQ(detach(&d, group), 0);
	expect(&pair.a);
	expect(&pair.b);
	expect(&c);
	expect(&d);
	send_to(&pair, group);
	CHECK(came(&pair, &pair.a, group));
	CHECK(!came(&pair, &pair.b, group));
	CHECK(came(&pair, &c, group));
	CHECK(!came(&pair, &d, group));

	/* Nobody is left: it is no business of the engine's. */
	CHECK_EQ(detach(&pair.a, group), 0);
	CHECK_EQ(detach(&c, group), 0);
	expect(&c);
	send_to(&pair, group);
	CHECK(!came(&pair, &c, group));
	CHECK_EQ(rdma_counter(&pair.b, "rx_roce_packets"), 2);
	CHECK_EQ(rdma_counter(&pair.b, "rx_filtered"), 1);
	CHECK_EQ(rdma_counter(&pair.b, "rx_no_qp"), 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(one_frame_for_all_on_each_network)
{
	struct rdma_options options = ud;

	for (unsigned int network = RDMA_V2_IPV4; network <= RDMA_V2_IPV4_VLAN; network++) {
		options.network = network;
		options.no_shortcuts = false;
		one_frame_to_all(&options);
		options.no_shortcuts = true;
		one_frame_to_all(&options);
	}
}

TERN_TEST(each_queue_pair_is_for_itself)
{
	struct tern_sge sge = { .length = htole32(LENGTH + GRH) };
	struct tern_qp_attributes attributes = { .qkey = htole32(RDMA_QKEY + 1) };
	struct rdma_pair pair;
	struct rdma_side c, d, e, f;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &ud);
	c = beside(&pair, &pair.b);
	d = beside(&pair, &pair.b);
	e = beside(&pair, &pair.b);
	f = beside(&pair, &pair.b);
	CHECK_EQ(attach(&pair.b, ipv4_group), 0);
	CHECK_EQ(attach(&c, ipv4_group), 0);
	CHECK_EQ(attach(&d, ipv4_group), 0);
	CHECK_EQ(attach(&e, ipv4_group), 0);
	CHECK_EQ(attach(&f, ipv4_group), 0);
	/* b has no receive; c's Q_Key is another; d's receive is bad; e is in RESET. */
	CHECK_EQ(driver_qp_modify(&c.qp, TERN_QP_RTS, TERN_QP_SET_QKEY, &attributes), 0);
	expect(&c);
	sge.address = htole64(d.buffer);
	sge.key = htole32(d.key ^ 1);
	driver_post_receive(&d.qp, &sge, 1);
	CHECK_EQ(driver_qp_modify(&e.qp, TERN_QP_RESET, 0, NULL), 0);
	expect(&f);
	send_to(&pair, ipv4_group);
	CHECK_EQ(rdma_counter(&pair.b, "rx_ud_dropped"), 1);
	CHECK_EQ(rdma_counter(&pair.b, "rx_qkey_violations"), 1);
	CHECK_EQ(rdma_counter(&pair.b, "rx_no_qp"), 1);
	CHECK(rdma_none(&c.receive_cq));
	CHECK(driver_cq_poll(&d.receive_cq, &cqe));
	CHECK_EQ(cqe.status, TERN_WC_LOCAL_PROTECTION);
	CHECK(came(&pair, &f, ipv4_group));
	rdma_pair_destroy(&pair);
}

TERN_TEST(what_is_not_the_groups)
{
	struct tern_address_vector vector;
	struct rdma_pair pair;

	rdma_pair_create(&pair, &ud);
	CHECK_EQ(attach(&pair.b, ipv4_group), 0);
	expect(&pair.b);
	/* Another MAC than the GID's, another group: Ethernet's. */
	vector_to(&pair, ipv4_group, &vector);
	vector.destination_mac[5] ^= 1;
	send(&pair, &vector);
	vector_to(&pair, ipv4_group, &vector);
	vector.destination_mac[3] |= 0x80;
	send(&pair, &vector);
	vector_to(&pair, ipv4_group, &vector);
	vector.destination_gid[12] ^= 1;
	send(&pair, &vector);
	CHECK_EQ(rdma_counter(&pair.b, "rx_roce_packets"), 0);
	CHECK_EQ(rdma_counter(&pair.b, "rx_filtered"), 3);
	/* One queue pair's number with all's address, and the other way round. */
	vector_to(&pair, ipv4_group, &vector);
	vector.remote_qpn = htole32(pair.b.qp.qpn);
	send(&pair, &vector);
	CHECK_EQ(rdma_counter(&pair.b, "rx_no_qp"), 1);
	rdma_vector(&pair, &pair.a, &vector);
	vector.remote_qpn = htole32(QPN_ALL);
	send(&pair, &vector);
	CHECK_EQ(rdma_counter(&pair.b, "rx_no_qp"), 2);
	CHECK(rdma_none(&pair.b.receive_cq));
	send_to(&pair, ipv4_group);
	CHECK(came(&pair, &pair.b, ipv4_group));
	rdma_pair_destroy(&pair);
}

/* Somebody's VLAN is nobody's whose GIDs are not in it; the station hears what its GIDs say. */
TERN_TEST(vlan_and_network_are_some_gids)
{
	struct rdma_options options = ud;
	struct rdma_pair pair;

	options.network = RDMA_V2_IPV4_VLAN;
	rdma_pair_create(&pair, &options);
	CHECK_EQ(attach(&pair.b, ipv4_group), 0);
	expect(&pair.b);
	CHECK_EQ(rdma_set_gid(pair.b.driver, pair.b.gid_index, pair.b.gid, pair.b.mac,
			      TERN_GID_TYPE_ROCE_V2, 78), 0);
	send_to(&pair, ipv4_group);
	CHECK_EQ(rdma_set_gid(pair.b.driver, pair.b.gid_index, pair.b.gid, pair.b.mac,
			      TERN_GID_TYPE_ROCE_V2, -1), 0);
	send_to(&pair, ipv4_group);
	CHECK_EQ(rdma_set_gid(pair.b.driver, pair.b.gid_index, pair.b.gid, pair.b.mac,
			      TERN_GID_TYPE_ROCE_V1, 77), 0);
	send_to(&pair, ipv4_group);
	CHECK(rdma_none(&pair.b.receive_cq));
	CHECK_EQ(rdma_counter(&pair.b, "rx_roce_packets"), 0);
	CHECK_EQ(rdma_set_gid(pair.b.driver, pair.b.gid_index, pair.b.gid, pair.b.mac,
			      TERN_GID_TYPE_ROCE_V2, 77), 0);
	send_to(&pair, ipv4_group);
	CHECK(came(&pair, &pair.b, ipv4_group));
	rdma_pair_destroy(&pair);
}

TERN_TEST(only_datagrams_go_to_many)
{
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 4 };
	struct rdma_options options = { .no_timeout = true };
	struct tern_qp_attributes attributes;
	struct rdma_pair pair;
	struct rdma_side c;

	rdma_pair_create(&pair, &options);
	pair.options.type = TERN_QP_UD;
	c = beside(&pair, &pair.b);
	CHECK_EQ(attach(&c, ipv4_group), 0);
	CHECK_EQ(attach(&pair.b, ipv4_group), TERN_COMMAND_STATUS_BAD_PARAMETER);
	expect(&c);
	rdma_attributes(&pair.a, &pair.b, &options, true, &attributes);
	memcpy(attributes.address.destination_gid, ipv4_group, 16);
	memcpy(attributes.address.destination_mac, ipv4_mac, 6);
	attributes.remote_qpn = htole32(QPN_ALL);
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RESET, 0, NULL), 0);
	CHECK_EQ(rdma_to_rtr(&pair.a, &attributes), 0);
	CHECK_EQ(rdma_to_rts(&pair.a, &attributes), 0);
	rdma_post(&pair, &pair.a, &request);
	world_settle(pair.world);
	CHECK_EQ(rdma_counter(&pair.b, "rx_malformed"), 1);
	CHECK(rdma_none(&c.receive_cq));
	rdma_pair_destroy(&pair);
}

TERN_TEST(commands_refuse)
{
	static const uint8_t almost[16] = { [10] = 0xff, [11] = 0xff, [12] = 0xdf, [15] = 1 };
	static const uint8_t ipv4_last[16] = { [10] = 0xff, [11] = 0xff, [12] = 0xef, [15] = 1 };
	static const uint8_t beyond[16] = { [10] = 0xff, [11] = 0xff, [12] = 0xf0, [15] = 1 };
	static const uint16_t opcodes[] = {
		TERN_COMMAND_ATTACH_MULTICAST, TERN_COMMAND_DETACH_MULTICAST,
	};
	uint8_t longer[17] = { 0 };
	struct driver *driver;
	struct rdma_pair pair;

	rdma_pair_create(&pair, &ud);
	driver = pair.b.driver;
	memcpy(longer, ipv6_group, 16);
	longer[16] = 1;
	for (unsigned int i = 0; i < 2; i++) {
		CHECK_EQ(driver_command(driver, opcodes[i], 0, ipv6_group, 16),
			 TERN_COMMAND_STATUS_BAD_NUMBER);
		CHECK_EQ(driver_command(driver, opcodes[i], QP_COUNT, ipv6_group, 16),
			 TERN_COMMAND_STATUS_BAD_NUMBER);
		CHECK_EQ(driver_command(driver, opcodes[i], 4000, ipv6_group, 16),
			 TERN_COMMAND_STATUS_NOT_FOUND);
		CHECK_EQ(driver_command(driver, opcodes[i], pair.b.qp.qpn, almost, 16),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(driver_command(driver, opcodes[i], pair.b.qp.qpn, beyond, 16),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(driver_command(driver, opcodes[i], pair.b.qp.qpn, pair.b.gid, 16),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(driver_command(driver, opcodes[i], pair.b.qp.qpn, longer, 17),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
	}
	CHECK_EQ(detach(&pair.b, ipv6_group), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(attach(&pair.b, ipv6_group), 0);
	CHECK_EQ(attach(&pair.b, ipv4_last), 0);
	CHECK_EQ(attach(&pair.b, ipv6_group), TERN_COMMAND_STATUS_EXISTS);
	CHECK_EQ(detach(&pair.b, ipv4_group), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(detach(&pair.b, ipv6_group), 0);
	CHECK_EQ(detach(&pair.b, ipv6_group), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(rdma_set_gid(driver, 9, ipv6_group, pair.b.mac, TERN_GID_TYPE_ROCE_V1, -1),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	rdma_pair_destroy(&pair);
}

static void numbered_group(uint8_t *gid, unsigned int number)
{
	memcpy(gid, ipv6_group, 16);
	gid[13] = (uint8_t)(number >> 8);
	gid[15] = (uint8_t)number;
}

TERN_TEST(limits)
{
	struct driver_qp qps[MULTICAST_QPS_MAX];
	struct rdma_side side;
	struct rdma_pair pair;
	uint8_t gid[16];
	unsigned int i;

	rdma_pair_create(&pair, &ud);
	side = pair.b;
	for (i = 0; i < MULTICAST_GROUP_COUNT; i++) {
		numbered_group(gid, i);
		CHECK_EQ(attach(&pair.b, gid), 0);
	}
	numbered_group(gid, i);
	CHECK_EQ(attach(&pair.b, gid), TERN_COMMAND_STATUS_NO_RESOURCES);
	for (i = 0; i < MULTICAST_QPS_MAX; i++) {
		driver_qp_create(side.driver, &qps[i], TERN_QP_UD, 0, RDMA_PD, 0, &side.send_cq,
				 &side.receive_cq, 4, 4, 6);
		side.qp = qps[i];
		numbered_group(gid, 5);
		CHECK_EQ(attach(&side, gid), i < MULTICAST_QPS_MAX - 1 ? 0 :
			 TERN_COMMAND_STATUS_NO_RESOURCES);
	}
	/* A place that is given back is free. */
	side.qp = qps[3];
	CHECK_EQ(detach(&side, gid), 0);
	side.qp = qps[MULTICAST_QPS_MAX - 1];
	CHECK_EQ(attach(&side, gid), 0);
	numbered_group(gid, 700);
	CHECK_EQ(detach(&pair.b, gid), 0);
	numbered_group(gid, MULTICAST_GROUP_COUNT);
	CHECK_EQ(attach(&pair.b, gid), 0);
	/* Destruction detaches from all: there is room for as many again. */
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_QP, pair.b.qp.qpn, NULL, 0), 0);
	for (i = 0; i < MULTICAST_GROUP_COUNT - 1; i++) {
		numbered_group(gid, 2000 + i);
		CHECK_EQ(attach(&side, gid), 0);
	}
	numbered_group(gid, 2000 + i);
	CHECK_EQ(attach(&side, gid), TERN_COMMAND_STATUS_NO_RESOURCES);
	rdma_pair_destroy(&pair);
}

TERN_TEST(the_end_of_a_queue_pair)
{
	struct rdma_pair pair;
	struct rdma_side c;

	rdma_pair_create(&pair, &ud);
	c = beside(&pair, &pair.b);
	CHECK_EQ(attach(&pair.b, ipv4_group), 0);
	CHECK_EQ(attach(&c, ipv4_group), 0);
	expect(&c);
	CHECK_EQ(driver_command(pair.b.driver, TERN_COMMAND_DESTROY_QP, pair.b.qp.qpn, NULL, 0), 0);
	send_to(&pair, ipv4_group);
	CHECK(came(&pair, &c, ipv4_group));
	CHECK_EQ(driver_command(c.driver, TERN_COMMAND_DESTROY_QP, c.qp.qpn, NULL, 0), 0);
	send_to(&pair, ipv4_group);
	CHECK_EQ(rdma_counter(&pair.b, "rx_filtered"), 1);
	rdma_pair_destroy(&pair);
}
