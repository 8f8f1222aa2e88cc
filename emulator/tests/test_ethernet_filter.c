// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: filters, port and loopback: which function gets a frame, and what the commands refuse. */
#include <endian.h>
#include <stdlib.h>

#include "host_ethernet.h"
#include "host_rdma.h"
#include "nic.h"
#include "tern_test.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xb };
static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };

static struct world *world;
static struct machine *machine;
static struct net net;
static uint8_t bytes[10000];
static unsigned int sent;

static bool count_sent(struct machine *from, const struct tern_frame *frame)
{
	(void)from;
	(void)frame;
	sent++;
	return false;
}

static void start_functions(unsigned int functions)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	config.functions = functions;
	world = world_create();
	machine = machine_create(world, &config, 0);
	machine->on_transmit = count_sent;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, 1, 0);
	net_post_receives(&net, 0, 100, 2048);
}

static void start(void)
{
	start_functions(1);
}

static uint64_t counter(const char *name)
{
	return host_counter(machine, 0, name);
}

static size_t build_to(const uint8_t *destination, int vlan)
{
	struct net_headers h = {
		.destination = destination, .source = mac_b, .tagged = vlan >= 0,
		.tci = (uint16_t)vlan,
	};

	return net_build(bytes, &h, 46, 1);
}

/* Is a frame to @destination with that VLAN (-1: untagged) received? */
static bool takes(const uint8_t *destination, int vlan)
{
	uint64_t filtered = counter("rx_filtered");
	struct tern_frame frame;
	struct net_frame got;
	bool taken;

	tern_frame_wrap(&frame, bytes, build_to(destination, vlan));
	host_receive(machine, &frame);
	taken = net_receive(&net, &got);
	CHECK_EQ(counter("rx_filtered") - filtered, !taken);
	return taken;
}

static uint16_t set_table(uint16_t opcode, uint64_t address, uint32_t count)
{
	struct tern_command_set_table body = {
		.address = htole64(address), .count = htole32(count),
	};

	return driver_command(&net.driver, opcode, 0, &body, sizeof(body));
}

TERN_TEST(unicast_and_broadcast)
{
	static const uint8_t near[6] = { 2, 0, 0, 0, 0, 0xe };

	start();
	CHECK(takes(mac_a, -1));
	CHECK(takes(broadcast, -1));
	CHECK(!takes(mac_b, -1));
	CHECK(!takes(near, -1));
	CHECK(!takes((const uint8_t[]){ 0x33, 0x33, 0, 0, 0, 1 }, -1));
	CHECK_EQ(counter("rx_broadcast"), 1);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_PROMISCUOUS), 0);
	CHECK(takes(mac_b, -1));
	CHECK(takes((const uint8_t[]){ 0x33, 0x33, 0, 0, 0, 1 }, -1));
	CHECK_EQ(net_receive_mode(&net, 0), 0);
	CHECK(!takes(mac_b, -1));
	world_destroy(world);
}

TERN_TEST(not_enabled)
{
	struct tern_command_set_receive_mode body = {
		.flags = htole32(TERN_RECEIVE_PROMISCUOUS),
		.default_qpn = 0,
	};

	start();
	body.default_qpn = htole32(net.qps[0].qpn);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_RECEIVE_MODE, 0, &body,
				sizeof(body)), 0);
	CHECK(!takes(mac_a, -1));
	CHECK(!takes(broadcast, -1));
	world_destroy(world);
}

TERN_TEST(station_address)
{
	struct tern_command_set_station_address body = { 0 };

	start();
	memcpy(body.mac, mac_b, 6);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_STATION_ADDRESS, 0, &body,
				sizeof(body)), 0);
	CHECK(takes(mac_b, -1));
	CHECK(!takes(mac_a, -1));
	body.mac[0] = 3;
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_STATION_ADDRESS, 0, &body,
				sizeof(body)), TERN_COMMAND_STATUS_BAD_PARAMETER);
	memset(body.mac, 0, 6);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_STATION_ADDRESS, 0, &body,
				sizeof(body)), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK(takes(mac_b, -1));
	/* A reset brings the permanent address back. */
	host_reset(machine, 0);
	net_start(&net, machine, 0, 1, 0);
	net_post_receives(&net, 0, 10, 2048);
	CHECK(takes(mac_a, -1));
	CHECK(!takes(mac_b, -1));
	world_destroy(world);
}

TERN_TEST(multicast_table)
{
	uint8_t mac[6] = { 0x33, 0x33, 0, 0, 0, 0 };
	uint64_t address;
	uint8_t *table;

	start();
	address = host_alloc(machine, 8192, 4096);
	table = host_pointer(machine, address);
	/* In no order: each seventh of 256, both ends included. */
	for (unsigned int i = 0; i < 256; i++) {
		unsigned int number = i * 37 % 256 * 7;

		memcpy(table + 8 * i, mac, 6);
		table[8 * i + 4] = (uint8_t)(number >> 8);
		table[8 * i + 5] = (uint8_t)number;
	}
	CHECK_EQ(set_table(TERN_COMMAND_SET_MULTICAST_TABLE, address, 256), 0);
	net_post_receives(&net, 0, 20, 2048);
	for (unsigned int number = 0; number < 256 * 7; number++) {
		struct tern_frame frame;
		struct net_frame got;
		bool taken;

		mac[4] = (uint8_t)(number >> 8);
		mac[5] = (uint8_t)number;
		tern_frame_wrap(&frame, bytes, build_to(mac, -1));
		host_receive(machine, &frame);
		taken = net_receive(&net, &got);
		CHECK_EQ(taken, number % 7 == 0);
		if (taken)
			net_post_receives(&net, 0, 1, 2048);
	}
	CHECK_EQ(counter("rx_multicast"), 256);
	/* Refused, and the old table stays. */
	CHECK_EQ(set_table(TERN_COMMAND_SET_MULTICAST_TABLE, address, 257),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(net.driver.syndrome, 16 + offsetof(struct tern_command_set_table, count));
	CHECK_EQ(set_table(TERN_COMMAND_SET_MULTICAST_TABLE, UINT64_C(1) << 50, 2),
		 TERN_COMMAND_STATUS_BAD_ADDRESS);
	table[8] = 0x32;
	CHECK_EQ(set_table(TERN_COMMAND_SET_MULTICAST_TABLE, address, 2),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	table[8] = 0x33;
	table[15] = 1;
	CHECK_EQ(set_table(TERN_COMMAND_SET_MULTICAST_TABLE, address, 2),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	mac[4] = 0;
	mac[5] = 7;
	CHECK(takes(mac, -1));
	CHECK_EQ(set_table(TERN_COMMAND_SET_MULTICAST_TABLE, 1, 0), 0);
	CHECK(!takes(mac, -1));
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_ALL_MULTICAST), 0);
	CHECK(takes(mac, -1));
	CHECK(!takes(mac_b, -1));
	world_destroy(world);
}

TERN_TEST(vlan_table)
{
	uint64_t address;
	uint8_t *table;

	start();
	address = host_alloc(machine, 4096, 4096);
	table = host_pointer(machine, address);
	table[0] = 1;
	table[100 / 8] |= 1 << 100 % 8;
	table[511] = 0x40;
	CHECK(takes(mac_a, 55));	/* no filter yet */
	CHECK_EQ(set_table(TERN_COMMAND_SET_VLAN_TABLE, address, 1), 0);
	CHECK(takes(mac_a, 55));
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_VLAN_FILTER), 0);
	CHECK(takes(mac_a, -1));
	CHECK(takes(mac_a, 0));
	CHECK(takes(mac_a, 100));
	CHECK(takes(mac_a, 0xe000 | 100));	/* the priority is no part of it */
	CHECK(takes(mac_a, 4094));
	CHECK(!takes(mac_a, 101));
	CHECK(!takes(mac_a, 4095));
	CHECK(!takes(broadcast, 101));
	CHECK(!takes(mac_b, 100));
	CHECK_EQ(set_table(TERN_COMMAND_SET_VLAN_TABLE, address, 0),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set_table(TERN_COMMAND_SET_VLAN_TABLE, address, 2),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set_table(TERN_COMMAND_SET_VLAN_TABLE, UINT64_C(1) << 50, 1),
		 TERN_COMMAND_STATUS_BAD_ADDRESS);
	CHECK(takes(mac_a, 100));
	world_destroy(world);
}

static uint16_t set_rss(uint32_t qpn, unsigned int count, uint8_t types)
{
	struct tern_command_set_rss body = { .count = htole16((uint16_t)count), .types = types };
	uint64_t table = host_alloc(machine, 4096, 4096);
	uint32_t *entries = host_pointer(machine, table);

	for (unsigned int i = 0; i < count && i < 1024; i++)
		entries[i] = htole32(net.qps[0].qpn);
	entries[count / 2] = htole32(qpn);
	body.table = htole64(table);
	return driver_command(&net.driver, TERN_COMMAND_SET_RSS, 0, &body, sizeof(body));
}

static uint16_t set_default(uint32_t qpn)
{
	struct tern_command_set_receive_mode body = {
		.flags = htole32(TERN_RECEIVE_ENABLE), .default_qpn = htole32(qpn),
	};

	return driver_command(&net.driver, TERN_COMMAND_SET_RECEIVE_MODE, 0, &body,
			      sizeof(body));
}

/* Only Ethernet queue pairs that exist and have a receive queue can be named. */
TERN_TEST(which_queue_pairs_receive)
{
	struct driver_qp send_only, rc;
	uint32_t qpn;

	start();
	qpn = net.qps[0].qpn;
	driver_qp_create(&net.driver, &send_only, TERN_QP_ETHERNET, 0, 0, TERN_QP_NO_RQ,
			 &net.send_cq, NULL, 4, 0, 0);
	driver_qp_create(&net.driver, &rc, TERN_QP_RC, 0, 0, 0, &net.send_cq, &net.receive_cq, 4,
			 4, 6);
	CHECK_EQ(set_default(send_only.qpn), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set_default(rc.qpn), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set_default(12345), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(set_default(0xffffffff), TERN_COMMAND_STATUS_NOT_FOUND);
	for (unsigned int count = 1; count <= 128; count *= 2) {
		CHECK_EQ(set_rss(qpn, count, 1), 0);
		CHECK_EQ(set_rss(send_only.qpn, count, 1), TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(set_rss(rc.qpn, count, 1), TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(set_rss(0, count, 1), TERN_COMMAND_STATUS_NOT_FOUND);
		CHECK_EQ(set_rss(0xffffffff, count, 1), TERN_COMMAND_STATUS_NOT_FOUND);
	}
	CHECK_EQ(set_rss(qpn, 3, 1), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set_rss(qpn, 256, 1), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set_rss(qpn, 32768, 1), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set_rss(qpn, 8, 0x40), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK(takes(mac_a, -1));
	world_destroy(world);
}

/* A queue pair that is named cannot go; once it is not, it can, and frames find nothing. */
TERN_TEST(destroy_of_a_named_queue_pair)
{
	struct tern_frame frame;
	uint32_t qpn;

	start();
	qpn = net.qps[0].qpn;
	CHECK_EQ(set_rss(qpn, 128, 1), 0);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, qpn, NULL, 0),
		 TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(set_default(0), 0);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, qpn, NULL, 0),
		 TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(set_rss(qpn, 64, 1), 0);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, qpn, NULL, 0),
		 TERN_COMMAND_STATUS_IN_USE);
	{
		struct tern_command_set_rss off = { 0 };

		CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_RSS, 0, &off, sizeof(off)),
			 0);
	}
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, qpn, NULL, 0), 0);
	tern_frame_wrap(&frame, bytes, build_to(mac_a, -1));
	host_receive(machine, &frame);
	CHECK_EQ(counter("rx_no_buffer"), 1);
	world_destroy(world);
}

/* Reset with everything set: nothing that was named is used afterwards. */
TERN_TEST(reset_forgets_all)
{
	struct tern_frame frame;

	start();
	CHECK_EQ(set_rss(net.qps[0].qpn, 128, 1), 0);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_PROMISCUOUS), 0);
	host_reset(machine, 0);
	tern_frame_wrap(&frame, bytes, build_to(mac_a, -1));
	host_receive(machine, &frame);
	CHECK_EQ(counter("rx_packets"), 0);
	net_start(&net, machine, 0, 1, 0);
	net_post_receives(&net, 0, 10, 2048);
	CHECK(takes(mac_a, -1));
	CHECK(!takes(mac_b, -1));
	world_destroy(world);
}

static struct tern_port_attributes query_port(void)
{
	struct tern_port_attributes answer;
	struct tern_command_query body = {
		.address = htole64(host_alloc(machine, 64, 64)),
		.length = htole32(sizeof(answer)),
	};

	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_QUERY_PORT, 0, &body, sizeof(body)), 0);
	CHECK_EQ(net.driver.result[0], sizeof(answer));
	memcpy(&answer, host_pointer(machine, le64toh(body.address)), sizeof(answer));
	return answer;
}

/* The next PORT_STATE event; -1 without one. */
static int port_event(void)
{
	struct tern_eqe eqe;

	while (driver_eq_poll(&net.driver, &net.driver.eq, &eqe)) {
		if (eqe.type != TERN_EVENT_PORT_STATE)
			continue;
		CHECK_EQ(le32toh(eqe.number), 1);
		return eqe.subtype;
	}
	return -1;
}

TERN_TEST(port_state)
{
	struct tern_port_attributes port;

	start();
	CHECK_EQ(port_event(), TERN_PORT_UP);
	port = query_port();
	CHECK_EQ(port.state, TERN_PORT_UP);
	CHECK_EQ(le32toh(port.speed_mbps), 400000);
	CHECK_EQ(le32toh(port.mtu), 1500);
	CHECK_EQ(le32toh(port.mtu_max), 9000);
	CHECK_MEM(port.station_mac, mac_a, 6);
	tern_nic_set_carrier(machine->nic, false);
	CHECK_EQ(port_event(), TERN_PORT_DOWN);
	CHECK_EQ(query_port().state, TERN_PORT_DOWN);
	tern_nic_set_carrier(machine->nic, false);
	CHECK_EQ(port_event(), -1);
	tern_nic_set_carrier(machine->nic, true);
	CHECK_EQ(port_event(), TERN_PORT_UP);
	CHECK_EQ(net_set_port(&net, 9000, TERN_PORT_UP), 0);
	CHECK_EQ(port_event(), -1);
	CHECK_EQ(le32toh(query_port().mtu), 9000);
	CHECK_EQ(net_set_port(&net, 9000, TERN_PORT_DOWN), 0);
	CHECK_EQ(port_event(), TERN_PORT_DOWN);
	CHECK_EQ(net_set_port(&net, 68, TERN_PORT_UP), 0);
	CHECK_EQ(port_event(), TERN_PORT_UP);
	CHECK_EQ(net_set_port(&net, 67, TERN_PORT_UP), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(net_set_port(&net, 9001, TERN_PORT_UP), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(net_set_port(&net, 1500, 2), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(le32toh(query_port().mtu), 68);
	CHECK_EQ(port_event(), -1);
	world_destroy(world);
}

TERN_TEST(nothing_passes_a_port_that_is_down)
{
	struct net_frame got;
	struct tern_frame frame;
	size_t n;

	start();
	sent = 0;
	n = build_to(mac_b, -1);
	CHECK_EQ(net_set_port(&net, 1500, TERN_PORT_DOWN), 0);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(net_send_status(&net), 0);	/* sent, and lost */
	CHECK_EQ(sent, 0);
	CHECK_EQ(counter("dropped_port_down"), 1);
	CHECK_EQ(counter("tx_packets"), 0);
	tern_frame_wrap(&frame, bytes, build_to(mac_a, -1));
	host_receive(machine, &frame);
	CHECK(!net_receive(&net, &got));
	CHECK_EQ(net_set_port(&net, 1500, TERN_PORT_UP), 0);
	tern_nic_set_carrier(machine->nic, false);
	host_receive(machine, &frame);
	CHECK(!net_receive(&net, &got));
	CHECK_EQ(counter("received_port_down"), 1);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent, 0);
	tern_nic_set_carrier(machine->nic, true);
	CHECK(takes(mac_a, -1));
	world_destroy(world);
}

TERN_TEST(loopback_to_oneself)
{
	struct net_frame got;
	size_t n;

	start();
	sent = 0;
	n = build_to(mac_a, -1);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(net_send_status(&net), 0);
	CHECK_EQ(sent, 0);
	CHECK(net_receive(&net, &got));
	CHECK_MEM(got.data, bytes, n);
	/* One's own broadcast goes out and does not come back. */
	n = build_to(broadcast, -1);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent, 1);
	CHECK(!net_receive(&net, &got));
	/* Nor does what a promiscuous function sends to others. */
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_PROMISCUOUS), 0);
	n = build_to(mac_b, -1);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent, 2);
	CHECK(!net_receive(&net, &got));
	world_destroy(world);
}

TERN_TEST(between_functions)
{
	static const uint8_t group[6] = { 0x33, 0x33, 0, 0, 0, 5 };
	struct tern_port_attributes port;
	struct tern_frame frame;
	struct net_frame got;
	struct net second;
	size_t n;

	start_functions(3);
	net_start(&second, machine, 1, 1, 0);
	net_post_receives(&second, 0, 10, 2048);
	{
		struct net first = net;

		net = second;
		port = query_port();
		second = net;
		net = first;
	}
	sent = 0;
	n = build_to(port.station_mac, -1);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent, 0);
	CHECK(net_receive(&second, &got));
	CHECK_MEM(got.data, bytes, n);
	CHECK(!net_receive(&net, &got));
	n = build_to(broadcast, -1);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent, 1);
	CHECK(net_receive(&second, &got));
	CHECK(!net_receive(&net, &got));
	n = build_to(group, -1);
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent, 2);
	CHECK(!net_receive(&second, &got));
	/* From the wire, broadcast goes to both. */
	tern_frame_wrap(&frame, bytes, build_to(broadcast, -1));
	host_receive(machine, &frame);
	CHECK(net_receive(&second, &got));
	CHECK(net_receive(&net, &got));
	/* Function 2 was never enabled. */
	CHECK_EQ(host_counter(machine, 2, "rx_packets"), 0);
	world_destroy(world);
}

/* Reserved fields and what a feature that was not taken would do. */
static uint16_t set_station(struct driver *driver, const uint8_t *mac)
{
	struct tern_command_set_station_address body = { 0 };

	memcpy(body.mac, mac, 6);
	return driver_command(driver, TERN_COMMAND_SET_STATION_ADDRESS, 0, &body, sizeof(body));
}

static uint16_t set_gid(struct driver *driver, const uint8_t *mac)
{
	static const uint8_t gid[16] = { 0xfd, [15] = 1 };

	return rdma_set_gid(driver, 0, gid, mac, TERN_GID_TYPE_ROCE_V2, -1);
}

static void expect_refused(struct driver *driver, const uint8_t *mac)
{
	CHECK_EQ(set_station(driver, mac), TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(driver->syndrome, offsetof(struct tern_command, body));
	CHECK_EQ(set_gid(driver, mac), TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(driver->syndrome, offsetof(struct tern_command, body) +
				   offsetof(struct tern_command_set_gid, mac));
}

/* A function cannot make itself the receiver of another's frames. */
TERN_TEST(addresses_of_other_functions)
{
	static const uint8_t one[6] = { 2, 1, 1, 1, 1, 1 }, two[6] = { 2, 2, 2, 2, 2, 2 };
	const struct function *functions;
	struct driver other;

	start_functions(3);
	functions = machine->nic->functions;
	driver_start(&other, machine, 1, 0);
	/* Permanent ones, also of a function that is not enabled or has another now. */
	expect_refused(&other, mac_a);
	expect_refused(&other, functions[2].permanent_mac);
	CHECK_EQ(set_station(&net.driver, one), 0);
	expect_refused(&other, mac_a);
	expect_refused(&other, one);
	CHECK_EQ(set_gid(&net.driver, two), 0);
	expect_refused(&other, two);
	/* One's own may be said again; what is given up may be taken. */
	CHECK_EQ(set_station(&other, functions[1].permanent_mac), 0);
	CHECK_EQ(set_gid(&other, functions[1].permanent_mac), 0);
	CHECK_EQ(set_station(&net.driver, mac_a), 0);
	CHECK_EQ(set_station(&other, one), 0);
	CHECK_EQ(set_gid(&other, one), 0);
	expect_refused(&net.driver, one);
	CHECK_EQ(rdma_set_gid(&net.driver, 0, NULL, NULL, TERN_GID_TYPE_NONE, -1), 0);
	CHECK_EQ(set_station(&other, two), 0);
	world_destroy(world);
}

TERN_TEST(refused_commands)
{
	struct tern_command_set_receive_mode mode = { .flags = htole32(1 << 6) };

	start();
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_RECEIVE_MODE, 0, &mode,
				sizeof(mode)), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(net.driver.syndrome, 16);
	mode.flags = 0;
	mode.reserved0 = 1;
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_RECEIVE_MODE, 0, &mode,
				sizeof(mode)), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK(takes(mac_a, -1));
	world_destroy(world);

	world = world_create();
	machine = machine_create(world, NULL, 0);
	net_start(&net, machine, 0, 1,
		  1 << TERN_FEATURE_RSS | 1 << TERN_FEATURE_CHECKSUM |
		  1 << TERN_FEATURE_VLAN_OFFLOAD);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_CHECKSUM),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_VLAN_STRIP),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_VLAN_FILTER), 0);
	CHECK_EQ(set_rss(net.qps[0].qpn, 1, 1), TERN_COMMAND_STATUS_BAD_OPCODE);
	world_destroy(world);
}
