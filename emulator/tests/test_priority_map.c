// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: which priority frames have, and how their tag and DSCP leave. */
#include <endian.h>
#include <stdlib.h>

#include "host_ethernet.h"
#include "host_peer.h"
#include "host_priority.h"
#include "parse.h"
#include "tern_test.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0x7b };

static struct world *world;
static struct machine *machine;
static struct net net;
static uint8_t last[2000];
static size_t last_length;

static bool keep_frame(struct machine *from, const struct tern_frame *frame)
{
	(void)from;
	last_length = tern_frame_flatten(frame, last, sizeof(last));
	return false;
}

static void start(void)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	config.functions = 2;
	world = world_create();
	machine = machine_create(world, &config, 0);
	machine->on_transmit = keep_frame;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, 1, 0);
}

/* An IPv4 or IPv6 frame (@dscp >= 0) or another one, tagged with DEI << 3 | @pcp if >= 0. */
static size_t build(uint8_t *bytes, bool ipv6, int dscp, int pcp)
{
	struct net_headers headers = {
		.destination = mac_b, .source = mac_a, .ipv6 = ipv6, .tagged = pcp >= 0,
		.tci = (uint16_t)((pcp & 7) << 13 | (pcp >> 3 & 1) << 12 | 5),
	};
	size_t n = net_build(bytes, &headers, 100, 1), l3 = net_l3(&headers);

	if (dscp < 0) {
		bytes[l3 - 2] = 0x12;
	} else if (ipv6) {
		bytes[l3] = (uint8_t)(0x60 | dscp >> 2);
		bytes[l3 + 1] = (uint8_t)(dscp << 6 | 0x10);
	} else {
		uint32_t sum = 0;

		bytes[l3 + 1] = (uint8_t)(dscp << 2 | 1);
		bytes[l3 + 10] = 0;
		bytes[l3 + 11] = 0;
		for (size_t i = 0; i < 20; i += 2)
			sum += parse_u16(bytes + l3 + i);
		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~((sum & 0xffff) + (sum >> 16));
		bytes[l3 + 10] = (uint8_t)(sum >> 8);
		bytes[l3 + 11] = (uint8_t)sum;
	}
	return n;
}

static struct tern_priority_statistics before;

/* The counters of all priorities: the one that has one more than before. */
static int counted(bool sent)
{
	struct tern_priority_statistics now;
	int found = -1;

	priority_statistics(&net.driver, &now);
	for (int i = 0; i < 8; i++) {
		const struct tern_priority_counters *a = &now.priority[i];
		const struct tern_priority_counters *b = &before.priority[i];

		if (sent ? a->tx_packets != b->tx_packets : a->rx_packets != b->rx_packets) {
			CHECK_EQ(found, -1);
			found = i;
		}
	}
	before = now;
	return found;
}

static int wanted(const struct tern_command_set_priority_map *map, int dscp, int pcp)
{
	int by_tag = pcp < 0 ? -1 : map->priority_of_pcp[pcp];
	int by_dscp = dscp < 0 ? -1 : map->priority_of_dscp[dscp];
	int first = map->trust == TERN_TRUST_PCP || map->trust == TERN_TRUST_PCP_DSCP ? by_tag :
										       by_dscp;

	if (first < 0 && map->trust == TERN_TRUST_PCP_DSCP)
		first = by_dscp;
	if (first < 0 && map->trust == TERN_TRUST_DSCP_PCP)
		first = by_tag;
	return first < 0 ? map->default_priority : first;
}

TERN_TEST(each_trust)
{
	static const int dscps[] = { -1, 0, 1, 26, 46, 63 };
	struct tern_command_set_priority_map map;
	uint8_t bytes[300];

	start();
	counted(true);
	priority_default_map(&map);
	map.default_priority = 6;
	for (unsigned int i = 0; i < TERN_DSCPS; i++)
		map.priority_of_dscp[i] = (uint8_t)((i * 5 + 1) % 8);
	for (unsigned int i = 0; i < TERN_PCPS; i++)
		map.priority_of_pcp[i] = (uint8_t)((i * 3 + 2) % 8);
	for (map.trust = 0; map.trust < 4; map.trust++) {
		CHECK_EQ(priority_set_map(&net.driver, &map), 0);
		for (size_t i = 0; i < sizeof(dscps) / sizeof(*dscps); i++) {
			for (int pcp = -1; pcp < 16; pcp++) {
				size_t n = build(bytes, i & 1, dscps[i], pcp);

				net_send(&net, bytes, n, NULL);
				world_settle(world);
				CHECK_EQ(net_send_status(&net), 0);
				CHECK_EQ(counted(true), wanted(&map, dscps[i], pcp));
				CHECK_MEM(last, bytes, n);
				pfc_receive(machine, bytes, n);
				CHECK_EQ(counted(false), wanted(&map, dscps[i], pcp));
			}
		}
	}
	/* After a reset of the PF the tag says it. */
	host_reset(machine, 0);
	net_start(&net, machine, 0, 1, 0);
	priority_statistics(&net.driver, &before);
	net_send(&net, bytes, build(bytes, false, 63, 11), NULL);
	world_settle(world);
	CHECK_EQ(counted(true), 3);
	world_destroy(world);
}

/* Short and odd frames are classified without looking beyond their end. */
TERN_TEST(short_frames)
{
	struct tern_command_set_priority_map map;
	uint8_t bytes[300];

	start();
	priority_default_map(&map);
	map.default_priority = 5;
	for (map.trust = 0; map.trust < 4; map.trust++) {
		CHECK_EQ(priority_set_map(&net.driver, &map), 0);
		for (unsigned int kind = 0; kind < 4; kind++) {
			size_t all = build(bytes, kind & 1, 46, kind & 2 ? 3 : -1);

			for (size_t n = 0; n <= all && n < 80; n++) {
				uint8_t *exact = malloc(n ? n : 1);

				memcpy(exact, bytes, n);
				pfc_receive(machine, exact, n);
				free(exact);
			}
		}
	}
	world_destroy(world);
}

TERN_TEST(rewrite)
{
	struct tern_command_set_priority_map map;
	uint8_t bytes[300];

	start();
	priority_default_map(&map);
	map.trust = TERN_TRUST_PCP;
	map.rewrite_dscp = 1 << 3;
	map.rewrite_pcp = 1 << 3;
	map.dscp_of[3] = 0x2a;
	map.pcp_of[3] = 8 | 6;
	CHECK_EQ(priority_set_map(&net.driver, &map), 0);
	for (unsigned int kind = 0; kind < 4; kind++) {
		int pcp = kind & 2 ? 3 : 4;
		size_t n = build(bytes, kind & 1, 17, pcp);
		struct parsed_frame parsed;

		net_send(&net, bytes, n, NULL);
		world_settle(world);
		CHECK(parse_frame(&parsed, last, last_length, last_length));
		CHECK_EQ(parsed.ip_version, kind & 1 ? 6 : 4);
		CHECK(kind & 1 || parsed.l3_checksum_ok);
		if (pcp == 4) {
			CHECK_MEM(last, bytes, n);
			continue;
		}
		CHECK_EQ(parsed.vlan_tci, 6 << 13 | 1 << 12 | 5);
		/* The ECN bits stay. */
		if (kind & 1)
			CHECK_EQ(parse_u16(last + 18) >> 4 & 0xff, 0x2a << 2 | 1);
		else
			CHECK_EQ(last[19], 0x2a << 2 | 1);
		CHECK_MEM(last + 30, bytes + 30, n - 30);
	}
	/* A tag that the device inserts counts and is rewritten, too. */
	{
		struct net_send how = {
			.ethernet.flags = htole16(TERN_WQE_ETHERNET_VLAN),
			.ethernet.vlan_tci = htole16(3 << 13 | 7),
		};

		net_send(&net, bytes, build(bytes, false, 17, -1), &how);
		world_settle(world);
		CHECK_EQ(parse_u16(last + 14), 6 << 13 | 1 << 12 | 7);
		CHECK_EQ(last[19], 0x2a << 2 | 1);
	}
	world_destroy(world);
}

/* Requests and answers: priority, tag and DSCP of RoCE packets; their ICRC is right. */
static void roce(enum rdma_network network, const struct tern_command_set_priority_map *map,
		 uint8_t service_level, uint8_t traffic_class, unsigned int priority,
		 uint8_t class_sent, uint8_t pcp_sent)
{
	struct rdma_options options = {
		.network = network, .service_level = service_level, .no_shortcuts = true,
		.traffic_class = traffic_class, .latency_ns = 1000,
	};
	struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 3000 };
	struct tern_priority_statistics statistics;
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &options);
	for (unsigned int side = 0; side < 2; side++) {
		struct rdma_side *one = side ? &pair.b : &pair.a;

		CHECK_EQ(priority_set_map(one->driver, map), 0);
		one->machine->on_transmit = keep_frame;
	}
	rdma_post(&pair, &pair.a, &read);
	world_settle(pair.world);
	for (unsigned int side = 0; side < 2; side++) {
		size_t l3 = network == RDMA_V2_IPV4_VLAN ? 18 : 14;
		struct rdma_side *one = side ? &pair.b : &pair.a;

		priority_statistics(one->driver, &statistics);
		if (!side)
			CHECK_EQ(le64toh(statistics.priority[priority].tx_packets), 1);
		if (network == RDMA_V2_IPV6 || network == RDMA_V1)
			CHECK_EQ(parse_u16(last + l3) >> 4 & 0xff, class_sent);
		else
			CHECK_EQ(last[l3 + 1], class_sent);
		if (l3 == 18)
			CHECK_EQ(parse_u16(last + 14) >> 12,
				 (pcp_sent & 7) << 1 | pcp_sent >> 3);
		/* Now let the answer come. */
		if (!side) {
			struct tern_frame frame;
			static uint8_t copy[2000];
			size_t n = last_length;

			memcpy(copy, last, n);
			tern_frame_wrap(&frame, copy, n);
			host_receive(pair.b.machine, &frame);
			world_settle(pair.world);
			priority_statistics(pair.b.driver, &statistics);
			CHECK(le64toh(statistics.priority[priority].tx_packets) > 0);
			CHECK_EQ(rdma_counter(&pair.b, "rx_icrc_encapsulated"), 0);
		}
	}
	/* And all of it works. */
	pair.a.machine->on_transmit = NULL;
	pair.b.machine->on_transmit = NULL;
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	rdma_pair_destroy(&pair);
}

TERN_TEST(roce_packets)
{
	struct tern_command_set_priority_map map;

	priority_default_map(&map);
	map.roce_v1_priority = 1;
	map.roce_v2_priority = 2;
	roce(RDMA_V2_IPV4, &map, 3, 0x69, 3, 0x69, 0);
	roce(RDMA_V2_IPV4, &map, 0, 0x69, 2, 0x69, 0);
	roce(RDMA_V1, &map, 0, 0x69, 1, 0x69, 0);
	roce(RDMA_V2_IPV4_VLAN, &map, 0, 0x69, 2, 0x69, 2);
	roce(RDMA_V2_IPV4_VLAN, &map, 11, 0x69, 3, 0x69, 3);
	map.trust = TERN_TRUST_DSCP;
	roce(RDMA_V2_IPV6, &map, 5, 0x69, 3, 0x69, 0);
	roce(RDMA_V1, &map, 5, 0x69, 5, 0x69, 0);
	map.trust = TERN_TRUST_PCP_DSCP;
	roce(RDMA_V2_IPV6, &map, 5, 0x69, 5, 0x69, 0);
	map.trust = TERN_TRUST_DSCP_PCP;
	map.rewrite_dscp = 1 << 3;
	map.rewrite_pcp = 1 << 3;
	map.dscp_of[3] = 46;
	map.pcp_of[3] = 13;
	roce(RDMA_V2_IPV4_VLAN, &map, 0, 0x69, 3, 46 << 2 | 1, 13);
	roce(RDMA_V2_IPV6, &map, 0, 0x69, 3, 46 << 2 | 1, 0);
	/* RoCE v1 has no IP header. */
	roce(RDMA_V1, &map, 3, 0x69, 3, 0x69, 0);
}

TERN_TEST(priority_map_refusals)
{
	struct tern_command_set_priority_map map, bad;
	uint8_t bytes[300];
	struct driver second;

	start();
	priority_default_map(&map);
	map.priority_of_pcp[4] = 7;
	CHECK_EQ(priority_set_map(&net.driver, &map), 0);
	for (size_t i = 0; i < sizeof(bad); i++) {
		priority_default_map(&bad);
		((uint8_t *)&bad)[i] = 64;
		/* All values of the rewrite masks are good. */
		if (i == offsetof(struct tern_command_set_priority_map, rewrite_dscp) ||
		    i == offsetof(struct tern_command_set_priority_map, rewrite_pcp))
			continue;
		CHECK_EQ(priority_set_map(&net.driver, &bad), TERN_COMMAND_STATUS_BAD_PARAMETER);
		/* The limit itself. */
		((uint8_t *)&bad)[i] = i < 1 ? 4 : i < 0x58 ? 8 : i < 0x60 ? 64 : 16;
		CHECK_EQ(priority_set_map(&net.driver, &bad), TERN_COMMAND_STATUS_BAD_PARAMETER);
	}
	driver_start(&second, machine, 1, 0);
	CHECK_EQ(priority_set_map(&second, &map), TERN_COMMAND_STATUS_NOT_PERMITTED);
	counted(true);
	net_send(&net, bytes, build(bytes, false, 0, 4), NULL);
	world_settle(world);
	CHECK_EQ(counted(true), 7);
	world_destroy(world);
}
