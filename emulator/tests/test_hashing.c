// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: queue pairs of type HASHING: over whom they spread frames, and by what. */
#include <endian.h>
#include <stdlib.h>

#include "capabilities.h"
#include "host_ethernet.h"
#include "nic.h"
#include "tern_hw_flow.h"
#include "tern_test.h"

#define TARGETS	4

/* The key and the vectors of Microsoft's specification of RSS. */
static const uint8_t key[TERN_RSS_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xb };

static struct world *world;
static struct machine *machine;
static struct net net;
static struct driver_qp hashing;
static uint64_t table;
static uint8_t bytes[2048];

static void start(void)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	world = world_create();
	machine = machine_create(world, &config, 0);
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, TARGETS, 0);
	for (unsigned int i = 0; i < TARGETS; i++)
		net_post_receives(&net, i, 100, 2048);
	driver_qp_create(&net.driver, &hashing, TERN_QP_HASHING, 0, 0,
			 TERN_QP_NO_SQ | TERN_QP_NO_RQ, &net.send_cq, &net.receive_cq, 1, 1, 6);
	table = host_alloc(machine, 4 * (RSS_ENTRIES_MAX + 1), 8);
	for (unsigned int i = 0; i <= RSS_ENTRIES_MAX; i++)
		((uint32_t *)host_pointer(machine, table))[i] = htole32(net.qps[i % TARGETS].qpn);
}

static struct tern_command_set_hashing usual(uint16_t fields)
{
	struct tern_command_set_hashing body = {
		.table = htole64(table), .count = htole16(RSS_ENTRIES_MAX),
		.fields = htole16(fields),
	};

	memcpy(body.key, key, sizeof(key));
	return body;
}

static uint16_t set(uint32_t qpn, const struct tern_command_set_hashing *body)
{
	return driver_command(&net.driver, TERN_COMMAND_SET_HASHING, qpn, body, sizeof(*body));
}

static uint16_t steer(void)
{
	struct tern_command_add_flow flow = { .qpn = htole32(hashing.qpn) };

	return driver_command(&net.driver, TERN_COMMAND_ADD_FLOW, 0, &flow, sizeof(flow));
}

static uint16_t destroy(uint32_t qpn)
{
	return driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, qpn, NULL, 0);
}

static void receive(size_t length)
{
	struct tern_frame frame;

	tern_frame_wrap(&frame, bytes, length);
	host_receive(machine, &frame);
}

/* The first vector: 66.9.149.187:2794 to 161.142.100.80:1766. */
static size_t build(bool udp)
{
	const struct net_headers headers = {
		.destination = mac_b, .source = mac_b, .udp = udp,
		.source_port = 2794, .destination_port = 1766,
	};
	size_t length = net_build(bytes, &headers, 10, 1);

	memcpy(bytes + 26, "\x42\x09\x95\xbb\xa1\x8e\x64\x50", 8);
	return length;
}

static uint32_t hashed(bool udp, uint16_t fields, uint8_t *type)
{
	struct tern_command_set_hashing body = usual(fields);
	struct net_frame got;

	CHECK_EQ(set(hashing.qpn, &body), 0);
	receive(build(udp));
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.qp, le32toh(got.cqe.hash) % RSS_ENTRIES_MAX % TARGETS);
	*type = got.cqe.hash_type;
	return le32toh(got.cqe.hash);
}

TERN_TEST(fields)
{
	const uint16_t addresses = TERN_HASH_SOURCE_IPV4 | TERN_HASH_DESTINATION_IPV4;
	const uint16_t ports = TERN_HASH_SOURCE_PORT_TCP | TERN_HASH_DESTINATION_PORT_TCP;
	uint32_t source, destination;
	uint8_t type;

	start();
	CHECK_EQ(steer(), 0);
	CHECK_EQ(hashed(false, addresses, &type), 0x323e8fc2);
	CHECK_EQ(type, TERN_RSS_IPV4);
	CHECK_EQ(hashed(false, addresses | ports, &type), 0x51ccc178);
	CHECK_EQ(type, TERN_RSS_IPV4_TCP);
	CHECK_EQ(hashed(true, addresses | ports, &type), 0x323e8fc2);
	CHECK_EQ(hashed(true, addresses | ports << 2, &type), 0x51ccc178);
	CHECK_EQ(type, TERN_RSS_IPV4_UDP);
	CHECK_EQ(hashed(false, addresses << 2, &type), 0);
	CHECK_EQ(hashed(false, 0, &type), 0);
	CHECK_EQ(type, 0);
	/* One alone stands at the beginning of what is hashed. */
	source = hashed(false, TERN_HASH_SOURCE_IPV4, &type);
	destination = hashed(false, TERN_HASH_DESTINATION_IPV4, &type);
	CHECK(source && destination && source != destination);
	CHECK(hashed(false, TERN_HASH_SOURCE_PORT_TCP, &type) !=
	      hashed(false, TERN_HASH_DESTINATION_PORT_TCP, &type));
	CHECK_EQ(type, TERN_RSS_IPV4_TCP);
	world_destroy(world);
}

TERN_TEST(ipv6)
{
	struct tern_command_set_hashing body;
	const struct net_headers headers = {
		.destination = mac_b, .source = mac_b, .ipv6 = true,
		.source_port = 2794, .destination_port = 1766,
	};
	struct net_frame got;
	size_t length;

	start();
	body = usual(TERN_HASH_SOURCE_IPV6 | TERN_HASH_DESTINATION_IPV6);
	CHECK_EQ(set(hashing.qpn, &body), 0);
	CHECK_EQ(steer(), 0);
	length = net_build(bytes, &headers, 10, 1);
	memcpy(bytes + 38, "\x3f\xfe\x25\x01\x02\x00\x00\x03\0\0\0\0\0\0\0\1", 16);
	memcpy(bytes + 22, "\x3f\xfe\x25\x01\x02\x00\x1f\xff\0\0\0\0\0\0\0\7", 16);
	receive(length);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(le32toh(got.cqe.hash), 0x2cc18cd5);
	CHECK_EQ(got.cqe.hash_type, TERN_RSS_IPV6);
	world_destroy(world);
}

TERN_TEST(without_a_table)
{
	uint64_t lost;
	struct net_frame got;

	start();
	CHECK_EQ(steer(), 0);
	lost = host_counter(machine, 0, "rx_no_buffer");
	receive(build(false));
	CHECK(!net_receive(&net, &got));
	CHECK_EQ(host_counter(machine, 0, "rx_no_buffer"), lost + 1);
	world_destroy(world);
}

/* Who is in a table stays; who has one goes, and its flows with it. */
TERN_TEST(life)
{
	struct tern_command_set_hashing body;
	struct net_frame got;

	start();
	body = usual(0);
	body.count = htole16(1);
	CHECK_EQ(set(hashing.qpn, &body), 0);
	CHECK_EQ(destroy(net.qps[0].qpn), TERN_COMMAND_STATUS_IN_USE);
	/* Another table: the first is not used any more. */
	body.table = htole64(table + 4);
	CHECK_EQ(set(hashing.qpn, &body), 0);
	CHECK_EQ(net_receive_mode(&net, 0), 0);
	CHECK_EQ(destroy(net.qps[1].qpn), TERN_COMMAND_STATUS_IN_USE);
	CHECK_EQ(destroy(net.qps[2].qpn), 0);
	CHECK_EQ(steer(), 0);
	receive(build(false));
	CHECK(net_receive(&net, &got) && got.qp == 1);
	CHECK_EQ(destroy(hashing.qpn), 0);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_REMOVE_FLOW, 0, NULL, 0),
		 TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(destroy(net.qps[1].qpn), 0);
	receive(build(false));
	CHECK(!net_receive(&net, &got));
	world_destroy(world);
}

/* A reset frees a table's queue pairs before the table, or behind it. */
TERN_TEST(reset)
{
	struct tern_command_set_hashing body;

	start();
	body = usual(0xff);
	CHECK_EQ(set(hashing.qpn, &body), 0);
	CHECK_EQ(steer(), 0);
	host_reset(machine, 0);
	net_start(&net, machine, 0, TARGETS, 0);
	world_destroy(world);
}

static void refused(const struct tern_command_set_hashing *body, uint16_t status, size_t offset)
{
	CHECK_EQ(set(hashing.qpn, body), status);
	CHECK_EQ(net.driver.syndrome, offsetof(struct tern_command, body) + offset);
}

#define REFUSED(change, status, member)						\
	do {									\
		body = usual(0xff);						\
		change;								\
		refused(&body, TERN_COMMAND_STATUS_##status,			\
			offsetof(struct tern_command_set_hashing, member));	\
	} while (0)

TERN_TEST(refusals)
{
	struct tern_command_set_hashing body;
	struct tern_command_modify_qp modify = { .next_state = TERN_QP_INIT };
	struct tern_command_create_qp create = {
		.type = TERN_QP_HASHING, .flags = htole32(TERN_QP_NO_SQ),
	};
	uint32_t *qpns;

	start();
	qpns = host_pointer(machine, table);
	REFUSED(body.count = 0, BAD_PARAMETER, count);
	REFUSED(body.count = htole16(3), BAD_PARAMETER, count);
	REFUSED(body.count = htole16(2 * RSS_ENTRIES_MAX), BAD_PARAMETER, count);
	REFUSED(body.fields = htole16(0x100), BAD_PARAMETER, fields);
	REFUSED(body.reserved0 = 1, BAD_PARAMETER, reserved0);
	REFUSED(body.table = htole64(UINT64_MAX - 4), BAD_ADDRESS, table);
	REFUSED(qpns[RSS_ENTRIES_MAX - 1] = htole32(QP_COUNT), NOT_FOUND, table);
	/* No tables of tables. */
	REFUSED(qpns[RSS_ENTRIES_MAX - 1] = htole32(hashing.qpn), BAD_PARAMETER, table);
	qpns[RSS_ENTRIES_MAX - 1] = qpns[0];
	body = usual(0);
	CHECK_EQ(set(net.qps[0].qpn, &body), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(set(hashing.qpn + 1, &body), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(set(0, &body), TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(set(QP_COUNT, &body), TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_MODIFY_QP, hashing.qpn, &modify,
				sizeof(modify)), TERN_COMMAND_STATUS_BAD_STATE);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_CREATE_QP, hashing.qpn + 1, &create,
				sizeof(create)), TERN_COMMAND_STATUS_BAD_PARAMETER);
	/* None of these changed who is in use. */
	CHECK_EQ(destroy(net.qps[3].qpn), 0);
	world_destroy(world);
}
