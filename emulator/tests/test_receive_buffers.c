// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: receive buffers: per priority, bounded, drained as fast as the host takes frames. */
#include <endian.h>

#include "host_ethernet.h"
#include "host_priority.h"
#include "tern_hw_statistics.h"
#include "tern_test.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0x7b };

static struct world *world;
static struct machine *machine;
static struct net net;

static void start(uint64_t host_mbps, size_t bytes)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	config.host_mbps = host_mbps;
	config.receive_buffer = bytes;
	config.functions = 2;
	world = world_create();
	machine = machine_create(world, &config, 0);
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, 1, 0);
	net_post_receives(&net, 0, 100, 2048);
}

/* A frame of 1000 bytes. */
static void arrive(uint8_t priority, uint8_t mark)
{
	struct net_headers headers = {
		.destination = mac_a, .source = mac_b, .tagged = true,
		.tci = (uint16_t)(priority << 13),
	};
	uint8_t bytes[1100];
	size_t n = net_build(bytes, &headers, 942, 1);

	CHECK_EQ(n, 1000);
	bytes[999] = mark;
	pfc_receive(machine, bytes, n);
}

static unsigned int received(uint8_t *marks)
{
	struct net_frame got;
	unsigned int count = 0;

	while (net_receive(&net, &got)) {
		marks[count++] = got.data[999];
		net_post_receives(&net, 0, 1, 2048);
	}
	return count;
}

TERN_TEST(unlimited_is_at_once)
{
	struct tern_priority_statistics statistics;
	uint8_t marks[256];

	start(0, 20000);
	for (unsigned int i = 0; i < 90; i++)
		arrive(3, (uint8_t)i);
	CHECK_EQ(received(marks), 90);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.receive_buffer_peak[0]), 0);
	CHECK_EQ(le64toh(statistics.priority[3].rx_packets), 90);
	CHECK_EQ(le64toh(statistics.priority[3].rx_bytes), 90000);
	world_destroy(world);
}

/* 1 Gb/s: 1000 bytes each 8 us, after what a burst of 20 us brings. */
TERN_TEST(the_host_takes_its_time)
{
	uint8_t marks[256];
	unsigned int now, last = 0, order = 0;

	start(1000, 100000);
	world_advance(world, 1000000);
	for (unsigned int i = 0; i < 90; i++)
		arrive(0, (uint8_t)i);
	now = received(marks);
	CHECK(now >= 1 && now <= 4);
	for (unsigned int i = 0; i < now; i++)
		CHECK_EQ(marks[i], order++);
	last = now;
	for (unsigned int i = 1; i <= 10; i++) {
		world_advance(world, 80000);
		now = received(marks);
		CHECK(now == 10 || i > 8);
		for (unsigned int k = 0; k < now; k++)
			CHECK_EQ(marks[k], order++);
		last += now;
	}
	CHECK_EQ(last, 90);
	world_destroy(world);
}

static uint16_t set(struct tern_command_set_receive_buffers *body)
{
	return driver_command(&net.driver, TERN_COMMAND_SET_RECEIVE_BUFFERS, 0, body,
			      sizeof(*body));
}

/* A buffer that is full drops its own priorities' frames only. */
TERN_TEST(a_buffer_for_each)
{
	struct tern_command_set_receive_buffers body = { .buffer_of = { [3] = 2, [4] = 2 } };
	struct tern_priority_statistics statistics;
	uint8_t marks[256];

	start(1, 20000);
	body.buffer[0].bytes = htole32(5000);
	body.buffer[2].bytes = htole32(15000);
	CHECK_EQ(set(&body), 0);
	arrive(0, 0);
	received(marks);
	for (unsigned int i = 0; i < 10; i++) {
		arrive(0, 1);
		arrive(3, 2);
		arrive(4, 3);
	}
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[0].rx_discards), 5);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards) +
		 le64toh(statistics.priority[4].rx_discards), 5);
	CHECK_EQ(le64toh(statistics.priority[0].rx_packets), 11);
	CHECK_EQ(le64toh(statistics.receive_buffer_peak[0]), 5000);
	CHECK_EQ(le64toh(statistics.receive_buffer_peak[2]), 15000);
	/* Shrunk: what stands there stays, nothing more comes in. */
	body.buffer[2].bytes = htole32(1000);
	CHECK_EQ(set(&body), 0);
	arrive(3, 4);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards) +
		 le64toh(statistics.priority[4].rx_discards), 6);
	/* The PF's reset: buffer 0 has all. */
	host_reset(machine, 0);
	net_start(&net, machine, 0, 1, 0);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards), 0);
	for (unsigned int i = 0; i < 15; i++)
		arrive(3, 4);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards), 0);
	arrive(3, 4);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards), 1);
	world_destroy(world);
}

TERN_TEST(capability)
{
	struct tern_device_capabilities *caps;
	struct tern_command_query query = { .length = htole32(sizeof(*caps)) };
	uint64_t address;

	for (unsigned int with = 0; with < 2; with++) {
		start(0, 54321);
		net_start(&net, machine, 1, 0, with ? 0 : UINT64_C(1) << TERN_FEATURE_PFC);
		address = host_alloc(machine, sizeof(*caps), 8);
		query.address = htole64(address);
		CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_QUERY_DEVICE, 0, &query,
					sizeof(query)), 0);
		caps = host_pointer(machine, address);
		CHECK_EQ(le32toh(caps->receive_buffer_bytes), with ? 54321 : 0);
		query.group = htole32(TERN_STATISTICS_PRIORITY);
		CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_QUERY_STATISTICS, 0, &query,
					sizeof(query)), with ? TERN_COMMAND_STATUS_NOT_PERMITTED :
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
		query.group = 0;
		world_destroy(world);
	}
}

TERN_TEST(receive_buffer_refusals)
{
	struct tern_command_set_receive_buffers good = { .buffer_of = { [3] = 1 } }, bad;
	struct tern_priority_statistics statistics;
	uint8_t marks[256];

	start(1, 20000);
	good.buffer[0].bytes = htole32(18000);
	good.buffer[1].bytes = htole32(2000);
	good.buffer[1].xoff = htole32(1999);
	good.buffer[1].xon = htole32(1);
	CHECK_EQ(set(&good), 0);
	for (unsigned int i = 0; i < 10; i++) {
		bad = good;
		switch (i) {
		case 0:
			bad.buffer_of[7] = 8;
			break;
		case 1:
			bad.buffer_of[0] = 2;
			break;
		case 2:
			bad.buffer[7].bytes = htole32(1);
			break;
		case 3:
			bad.buffer[0].bytes = htole32(UINT32_MAX);
			break;
		case 4:
			bad.buffer[1].xoff = htole32(2000);
			break;
		case 5:
			bad.buffer[1].xon = 0;
			break;
		case 6:
			bad.buffer[1].xon = htole32(2000);
			break;
		case 7:
			bad.buffer[0].xon = htole32(1);
			break;
		case 8:
			bad.reserved0 = 1;
			break;
		default:
			bad.buffer[7].reserved0 = 1;
			break;
		}
		CHECK_EQ(set(&bad), TERN_COMMAND_STATUS_BAD_PARAMETER);
	}
	arrive(0, 0);
	received(marks);
	for (unsigned int i = 0; i < 3; i++)
		arrive(3, 1);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards), 1);
	net_start(&net, machine, 1, 0, 0);
	CHECK_EQ(set(&good), TERN_COMMAND_STATUS_NOT_PERMITTED);
	world_destroy(world);
}
