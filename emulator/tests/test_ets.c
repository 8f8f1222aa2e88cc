// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: traffic classes: strict order, shares, rate limits. */
#include <endian.h>
#include <math.h>

#include "host_ethernet.h"
#include "host_priority.h"
#include "tern_test.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0x7b };

static struct world *world;
static struct machine *machine;
static struct net net;
static uint64_t wire_bytes[8];		/* by priority, preamble and gap included */
static unsigned int frames;
static uint8_t order[65536];
static unsigned int payload_of[4];	/* of each queue's frames */
static uint8_t priority_of[4];

static bool count_frame(struct machine *from, const struct tern_frame *frame)
{
	uint8_t priority = frame->header[14] >> 5;

	(void)from;
	CHECK(frames < sizeof(order));
	order[frames++] = priority;
	wire_bytes[priority] += tern_frame_length(frame) + 24;
	return false;
}

static void start(uint64_t speed, unsigned int queues)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	config.speed_mbps = speed;
	config.functions = 2;
	world = world_create();
	machine = machine_create(world, &config, 0);
	machine->on_transmit = count_frame;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, queues, 0);
	memset(wire_bytes, 0, sizeof(wire_bytes));
	frames = 0;
}

static void post(unsigned int queue)
{
	struct {
		struct tern_wqe_control control;
		struct tern_wqe_ethernet ethernet;
		struct tern_sge sges[2];
	} wqe = { .control = { .opcode = TERN_WQE_ETHERNET, .sge_count = 1 } };
	struct net_headers headers = {
		.destination = mac_b, .source = mac_a, .tagged = true,
		.tci = (uint16_t)(priority_of[queue] << 13),
	};
	uint8_t bytes[2000];
	size_t n = net_build(bytes, &headers, payload_of[queue], 1);

	wqe.sges[0].address = htole64(net_put(&net, bytes, n));
	wqe.sges[0].length = htole32((uint32_t)n);
	driver_post_send(&net.qps[queue], &wqe, 1);
}

static void fill(unsigned int queue)
{
	uint32_t consumer;
	struct tern_nic_qp_info info;

	CHECK(tern_nic_next_qp(machine->nic, 0, net.qps[queue].qpn, &info));
	consumer = info.sq_consumer;
	while (net.qps[queue].sq_producer - consumer < NET_RING / 2)
		post(queue);
}

/* Keep the queues busy for @ns. */
static void run(unsigned int queues, uint64_t ns)
{
	for (uint64_t end = world->now + ns; world->now < end;) {
		for (unsigned int i = 0; i < queues; i++)
			fill(i);
		world_advance(world, 5000);
	}
}

static void set(struct tern_command_set_traffic_classes *body)
{
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_TRAFFIC_CLASSES, 0, body,
				sizeof(*body)), 0);
}

static void near(double got, double want)
{
	if (fabs(got - want) > 0.02 * want)
		FAIL("%g is not within 2 %% of %g", got, want);
}

TERN_TEST(shares)
{
	struct tern_command_set_traffic_classes body = {
		.class_of = { 0, 1, 2 }, .algorithm = { 1, 1, 1 }, .bandwidth = { 60, 30, 10 },
	};
	double all;

	/* Whatever the sizes of frames. */
	for (unsigned int round = 0; round < 3; round++) {
		start(10000, 3);
		for (unsigned int i = 0; i < 3; i++) {
			priority_of[i] = (uint8_t)i;
			payload_of[i] = round == 0 ? 1400 : 200 + 1200 * ((i + round) % 2);
		}
		set(&body);
		run(3, 10000000);
		all = (double)(wire_bytes[0] + wire_bytes[1] + wire_bytes[2]);
		near((double)wire_bytes[0] / all, 0.6);
		near((double)wire_bytes[1] / all, 0.3);
		near((double)wire_bytes[2] / all, 0.1);
		near(all * 8, 1e10 / 100);
		world_destroy(world);
	}
}

/* What one leaves goes to the others by their shares; who comes later has saved nothing up. */
TERN_TEST(shares_of_what_is_left)
{
	struct tern_command_set_traffic_classes body = {
		.class_of = { 0, 1, 2 }, .algorithm = { 1, 1, 1 }, .bandwidth = { 20, 20, 60 },
	};

	start(10000, 3);
	for (unsigned int i = 0; i < 3; i++) {
		priority_of[i] = (uint8_t)i;
		payload_of[i] = 1000;
	}
	set(&body);
	run(2, 10000000);
	near((double)wire_bytes[0] / (double)wire_bytes[1], 1);
	near((double)(wire_bytes[0] + wire_bytes[1]) * 8, 1e8);
	memset(wire_bytes, 0, sizeof(wire_bytes));
	frames = 0;
	run(3, 10000000);
	near((double)wire_bytes[2] / (double)(wire_bytes[0] + wire_bytes[1]), 1.5);
	world_destroy(world);
}

/* A strict class before all ETS ones, a higher before a lower, 0 percent after all. */
TERN_TEST(strict_order)
{
	struct tern_command_set_traffic_classes body = {
		.class_of = { 0, 1, 5, 6 }, .algorithm = { 1, 1 }, .bandwidth = { 0, 100 },
	};

	start(10000, 4);
	for (unsigned int i = 0; i < 4; i++) {
		priority_of[i] = (uint8_t)i;
		payload_of[i] = 1000;
	}
	set(&body);
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int k = 0; k < 30; k++)
			post(i);
	}
	world_advance(world, 1000000);
	CHECK_EQ(frames, 120);
	for (unsigned int i = 0; i < 120; i++)
		CHECK_EQ(order[i], 3 - i / 30);
	world_destroy(world);
}

TERN_TEST(max_rate)
{
	static const uint32_t rates[] = { 1, 100, 2500 };

	for (size_t i = 0; i < 3; i++) {
		/* On a link of 10 Gb/s and on one without pacing. */
		for (unsigned int paced = 0; paced < 2; paced++) {
			struct tern_command_set_traffic_classes body = { .class_of = { 0, 1 } };
			double seconds = rates[i] == 1 ? 1 : 0.01;

			start(paced ? 10000 : 0, 1);
			priority_of[0] = 1;
			payload_of[0] = 1000;
			body.max_rate_mbps[1] = htole32(rates[i]);
			set(&body);
			if (rates[i] == 1) {
				fill(0);
				world_advance(world, 400000000);
				fill(0);
				world_advance(world, 400000000);
				fill(0);
				world_advance(world, 200000000);
			} else {
				run(1, 10000000);
			}
			near((double)wire_bytes[1] * 8 / seconds, rates[i] * 1e6);
			world_destroy(world);
		}
	}
}

/* A limited class leaves the rest to others; a limit that is taken away holds no longer. */
TERN_TEST(a_limited_class_and_another)
{
	struct tern_command_set_traffic_classes body = { .class_of = { 0, 1 } };

	start(10000, 2);
	for (unsigned int i = 0; i < 2; i++) {
		priority_of[i] = (uint8_t)i;
		payload_of[i] = 1000;
	}
	body.max_rate_mbps[1] = htole32(4000);
	set(&body);
	run(2, 10000000);
	near((double)wire_bytes[1] * 8, 4e7);
	near((double)wire_bytes[0] * 8, 6e7);
	memset(&body, 0, sizeof(body));
	set(&body);
	memset(wire_bytes, 0, sizeof(wire_bytes));
	frames = 0;
	run(2, 10000000);
	near((double)wire_bytes[1] * 8, 5e7);
	world_destroy(world);
}

/* A class that its rate holds back does not lend what it leaves to one that begins later. */
TERN_TEST(a_limited_class_saves_nothing_up)
{
	struct tern_command_set_traffic_classes body = {
		.class_of = { 0, 1, 2, 3 }, .algorithm = { 0, 1, 1, 1 },
		.bandwidth = { 0, 50, 30, 20 },
		.max_rate_mbps = { 0, htole32(1000) },
	};
	double rest;

	start(10000, 3);
	for (unsigned int i = 0; i < 3; i++) {
		priority_of[i] = (uint8_t)(1 + i);
		payload_of[i] = 1400;
	}
	set(&body);
	run(2, 20000000);
	near((double)wire_bytes[1] * 8, 1e9 / 50);
	/* Right after a frame of the limited one. */
	while (order[frames - 1] != 1)
		world_advance(world, 200);
	memset(wire_bytes, 0, sizeof(wire_bytes));
	run(3, 5000000);
	rest = (double)(wire_bytes[2] + wire_bytes[3]);
	near(rest * 8, 9e9 / 200);
	near((double)wire_bytes[2] / rest, 0.6);
	world_destroy(world);
}

TERN_TEST(traffic_class_refusals)
{
	static const struct tern_command_set_traffic_classes bad[] = {
		{ .class_of = { 8 } }, { .class_of = { [7] = 255 } }, { .algorithm = { 2 } },
		{ .bandwidth = { 1 } }, { .algorithm = { 1 } },
		{ .algorithm = { 1, 1 }, .bandwidth = { 50, 51 } },
		{ .algorithm = { 1, 0 }, .bandwidth = { 50, 50 } },
		{ .algorithm = { 1, 1 }, .bandwidth = { 255, 101 } },
	};
	struct tern_command_set_traffic_classes body = {
		.class_of = { 0, 1 }, .algorithm = { 1, 1 }, .bandwidth = { 75, 25 },
	};
	struct driver second;

	start(10000, 2);
	for (unsigned int i = 0; i < 2; i++) {
		priority_of[i] = (uint8_t)i;
		payload_of[i] = 1000;
	}
	set(&body);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_SET_TRAFFIC_CLASSES, 0, &bad[i],
					sizeof(bad[i])), TERN_COMMAND_STATUS_BAD_PARAMETER);
	driver_start(&second, machine, 1, 0);
	CHECK_EQ(driver_command(&second, TERN_COMMAND_SET_TRAFFIC_CLASSES, 0, &body,
				sizeof(body)), TERN_COMMAND_STATUS_NOT_PERMITTED);
	run(2, 10000000);
	near((double)wire_bytes[0] / (double)wire_bytes[1], 3);
	world_destroy(world);
}
