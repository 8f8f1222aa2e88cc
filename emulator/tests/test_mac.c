// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the MAC and the egress scheduler: speed, shares, misbehaviour, receive buffer. */
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host_ethernet.h"
#include "nic.h"
#include "tern_test.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xb };

#define LOG_FRAMES	8192

static struct world *world;
static struct machine *machine;
static struct net net;
static uint8_t bytes[70000];
static struct {
	uint64_t when;
	size_t length;
	uint8_t tag;			/* last byte of its source address */
	uint8_t source;			/* and the one before */
	uint32_t sum;
	uint8_t head[64];
} sent[LOG_FRAMES];
static unsigned int sent_count;

static bool log_frame(struct machine *from, const struct tern_frame *frame)
{
	uint8_t flat[9100];
	size_t n = tern_frame_flatten(frame, flat, sizeof(flat));

	CHECK(sent_count < LOG_FRAMES && n > 2);
	sent[sent_count].when = from->world->now;
	sent[sent_count].length = n;
	sent[sent_count].tag = flat[11];
	sent[sent_count].source = flat[10];
	sent[sent_count].sum = 0;
	memcpy(sent[sent_count].head, flat, n < 64 ? n : 64);
	for (size_t i = 0; i < n; i++)
		sent[sent_count].sum = sent[sent_count].sum * 31 + flat[i];
	sent_count++;
	return false;
}

static void start_functions(uint64_t speed, unsigned int functions, unsigned int qps,
			    uint64_t seed)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	config.speed_mbps = speed;
	config.seed = seed;
	config.functions = functions;
	world = world_create();
	machine = machine_create(world, &config, 0);
	machine->on_transmit = log_frame;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, qps, 0);
	sent_count = 0;
}

static void start(uint64_t speed, unsigned int qps, uint64_t seed)
{
	start_functions(speed, 1, qps, seed);
}

static const struct net_headers to_b = { .destination = mac_b, .source = mac_a };

static void send_tagged(uint8_t tag, size_t payload)
{
	size_t n = net_build(bytes, &to_b, payload, 1);

	bytes[11] = tag;
	net_send(&net, bytes, n, NULL);
}

static void drain_completions(void)
{
	struct tern_cqe cqe;

	while (driver_cq_poll(&net.send_cq, &cqe))
		CHECK_EQ(cqe.status, 0);
}

/* @count frames of @payload; the time that the wire took, from first to last. */
static double measure(uint64_t speed, unsigned int count, size_t payload, double *wire_bits)
{
	uint64_t first;

	start(speed, 1, 1);
	for (unsigned int i = 0; i < count; i++) {
		send_tagged((uint8_t)i, payload);
		if (i % 50 == 49) {
			/* At 400 Gb/s a step has 33 frames: the queue does not run dry. */
			while (sent_count < i - 40)
				world_advance(world, 1000);
			drain_completions();
		}
	}
	world_advance(world, UINT64_C(10000000000));
	CHECK_EQ(sent_count, count);
	for (unsigned int i = 0; i < count; i++)
		CHECK_EQ(sent[i].tag, (uint8_t)i);
	first = sent[0].when;
	*wire_bits = (double)count * (double)(sent[0].length + 24) * 8;
	world_destroy(world);
	return (double)(sent[count - 1].when - first);
}

TERN_TEST(pacing_keeps_the_speed)
{
	static const uint64_t speeds[] = { 100, 1000, 10000, 25000, 100000, 400000 };

	for (size_t i = 0; i < 6; i++) {
		double bits, ns = measure(speeds[i], 4000, 1446, &bits);
		double mbps = bits / ns * 1000;

		/* From the first frame on 3999 others pass; 20 us of burst is allowed, no more. */
		CHECK(ns >= bits / 4000 * 3999 * 1000 / (double)speeds[i] - 21000);
		CHECK(mbps >= (double)speeds[i] * 0.99);
	}
}

/* What a real wire needs, on each way out of the MAC: 60 bytes, zeros behind the frame. */
TERN_TEST(short_frames_are_padded)
{
	static const struct tern_wire_rule rules[] = {
		{ .what = TERN_WIRE_DUPLICATE, .opcode = -1, .nth = 1 },
		{ .what = TERN_WIRE_DELAY, .opcode = -1, .nth = 1, .delay_ns = 1000 },
	};
	size_t lengths[] = { 14, 54, 58, 59, 60, 61 };

	for (unsigned int rule = 0; rule <= 2; rule++) {
		for (size_t i = 0; i < 6; i++) {
			size_t n = lengths[i], want = n < 60 ? 60 : n;

			start(0, 1, 1);
			if (rule)
				tern_nic_add_wire_rule(machine->nic, &rules[rule - 1]);
			memset(bytes, 0xff, n);
			net_send(&net, bytes, n, NULL);
			world_advance(world, 10000);
			CHECK_EQ(sent_count, rule == 1 ? 2 : 1);
			for (unsigned int k = 0; k < sent_count; k++) {
				CHECK_EQ(sent[k].length, want);
				CHECK_MEM(sent[k].head, bytes, n);
				for (size_t at = n; at < want; at++)
					CHECK_EQ(sent[k].head[at], 0);
			}
			/* Counters are of what the host gave. */
			CHECK_EQ(host_counter(machine, 0, "tx_bytes"), n);
			world_destroy(world);
		}
	}
}

TERN_TEST(small_frames_cost_their_minimum)
{
	double bits, ns;

	/* 54 bytes of frame take 60 + 24 on the wire. */
	ns = measure(1000, 2000, 2, &bits);
	CHECK(fabs(ns - 1999 * 84 * 8) < 21000);
}

TERN_TEST(unpaced_takes_no_time)
{
	start(0, 1, 1);
	for (unsigned int i = 0; i < 100; i++)
		send_tagged(0, 1446);
	host_run(machine, 1000);
	CHECK_EQ(sent_count, 100);
	world_destroy(world);
}

/* A host that comes late may catch up 20 us of wire time, not more. */
TERN_TEST(burst_is_bounded)
{
	start(1000, 1, 1);
	world_advance(world, 1000000000);
	for (unsigned int i = 0; i < 60; i++)
		send_tagged(0, 1446);
	host_run(machine, 1000);
	/* 20 us at 1 Gb/s is 2500 bytes: a frame on its way and two more at most. */
	CHECK(sent_count >= 1 && sent_count <= 3);
	world_destroy(world);
}

/* What a call may send is bounded by its budget, give or take one turn of a source. */
TERN_TEST(budget)
{
	start(0, 1, 1);
	for (unsigned int i = 0; i < 100; i++)
		send_tagged(0, 100);
	CHECK(host_run(machine, 4));
	CHECK(sent_count >= 4 && sent_count <= 4 + 16);
	while (host_run(machine, 4))
		;
	CHECK_EQ(sent_count, 100);
	world_destroy(world);
}

/* Two queues with work get equal shares, whoever has more posted. */
TERN_TEST(round_robin)
{
	struct {
		struct tern_wqe_control control;
		struct tern_wqe_ethernet ethernet;
		struct tern_sge sges[2];
	} wqe = { .control = { .opcode = TERN_WQE_ETHERNET, .sge_count = 1 } };
	unsigned int from[3] = { 0 };

	start(1000, 3, 1);
	for (uint8_t q = 0; q < 3; q++) {
		size_t n = net_build(bytes, &to_b, 1400, 1);

		bytes[10] = q;
		wqe.sges[0].address = htole64(net_put(&net, bytes, n));
		wqe.sges[0].length = htole32((uint32_t)n);
		for (unsigned int i = 0; i < 40U + 40U * q; i++)
			driver_post_send(&net.qps[q], &wqe, 1);
	}
	world_advance(world, 2000000);
	for (unsigned int i = 0; i < sent_count && i < 90; i++)
		from[sent[i].source]++;
	for (unsigned int q = 0; q < 3; q++)
		CHECK(from[q] >= 25 && from[q] <= 35);
	world_advance(world, 10000000);
	CHECK_EQ(sent_count, 40 + 80 + 120);
	world_destroy(world);
}

/* Functions with work get equal shares, whoever has more queues. */
TERN_TEST(round_robin_of_functions)
{
	struct {
		struct tern_wqe_control control;
		struct tern_wqe_ethernet ethernet;
		struct tern_sge sges[2];
	} wqe = { .control = { .opcode = TERN_WQE_ETHERNET, .sge_count = 1 } };
	unsigned int from[2] = { 0 };
	struct net second;

	start_functions(1000, 2, 3, 1);
	net_start(&second, machine, 1, 1, 0);
	for (uint8_t q = 0; q < 4; q++) {
		struct net *mine = q < 3 ? &net : &second;
		size_t n = net_build(bytes, &to_b, 1400, 1);

		/* mac_b is the second one's own. */
		bytes[5] = 0xcc;
		bytes[10] = q / 3;
		wqe.sges[0].address = htole64(net_put(mine, bytes, n));
		wqe.sges[0].length = htole32((uint32_t)n);
		for (unsigned int i = 0; i < 60; i++)
			driver_post_send(&mine->qps[q % 3], &wqe, 1);
	}
	world_advance(world, 2000000);
	for (unsigned int i = 0; i < sent_count && i < 80; i++)
		from[sent[i].source]++;
	CHECK(from[0] >= 35 && from[0] <= 45);
	CHECK(from[1] >= 35 && from[1] <= 45);
	world_destroy(world);
}

static unsigned int turns;

/* Has nothing more to send, but is told just then that there is. */
static bool activated_while_it_sends(struct egress_source *source)
{
	if (++turns == 1)
		egress_activate(source->fn->nic, source);
	return false;
}

TERN_TEST(source_that_is_activated_while_it_sends)
{
	struct egress_source source = { .send = activated_while_it_sends };

	start(0, 1, 1);
	source.fn = &machine->nic->functions[0];
	turns = 0;
	egress_activate(machine->nic, &source);
	world_settle(world);
	CHECK_EQ(turns, 2);
	CHECK_EQ(source.state, EGRESS_IDLE);
	world_destroy(world);
}

static int add_rule(enum tern_misbehaviour what, double probability, uint64_t nth,
		    uint64_t delay)
{
	struct tern_wire_rule rule = {
		.what = what, .opcode = -1, .probability = probability, .nth = nth,
		.delay_ns = delay,
	};

	return tern_nic_add_wire_rule(machine->nic, &rule);
}

static void send_some(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		send_tagged((uint8_t)i, 100);
		if (i % 20 == 19) {
			world_settle(world);
			drain_completions();
		}
	}
	world_settle(world);
	drain_completions();
}

TERN_TEST(drop_the_nth)
{
	start(0, 1, 1);
	CHECK(add_rule(TERN_WIRE_DROP, 0, 3, 0) >= 0);
	send_some(10);
	CHECK_EQ(sent_count, 9);
	CHECK_EQ(sent[1].tag, 1);
	CHECK_EQ(sent[2].tag, 3);
	CHECK_EQ(host_counter(machine, 0, "wire_dropped"), 1);
	CHECK_EQ(host_counter(machine, 0, "tx_packets"), 10);
	world_destroy(world);
}

TERN_TEST(duplicate_the_nth)
{
	start(0, 1, 1);
	CHECK(add_rule(TERN_WIRE_DUPLICATE, 0, 2, 0) >= 0);
	send_some(3);
	CHECK_EQ(sent_count, 4);
	CHECK_EQ(sent[1].tag, 1);
	CHECK_EQ(sent[2].tag, 1);
	CHECK_EQ(sent[2].sum, sent[1].sum);
	CHECK_EQ(sent[3].tag, 2);
	world_destroy(world);
}

TERN_TEST(delay_the_nth)
{
	uint64_t began;

	start(0, 1, 1);
	CHECK(add_rule(TERN_WIRE_DELAY, 0, 1, 5000) >= 0);
	CHECK(add_rule(TERN_WIRE_DELAY, 0, 2, 3000) >= 0);
	began = world->now;
	send_some(4);
	CHECK_EQ(sent_count, 2);
	world_advance(world, 100000);
	CHECK_EQ(sent_count, 4);
	CHECK_EQ(sent[2].tag, 1);
	CHECK_EQ(sent[2].when - began, 3000);
	CHECK_EQ(sent[3].tag, 0);
	CHECK_EQ(sent[3].when - began, 5000);
	world_destroy(world);
}

TERN_TEST(reorder_the_nth)
{
	start(0, 1, 1);
	CHECK(add_rule(TERN_WIRE_REORDER, 0, 2, 0) >= 0);
	send_some(4);
	CHECK_EQ(sent_count, 4);
	CHECK_EQ(sent[0].tag, 0);
	CHECK_EQ(sent[1].tag, 2);
	CHECK_EQ(sent[2].tag, 1);
	CHECK_EQ(sent[3].tag, 3);
	/* Nothing follows: it is late, but not lost. */
	CHECK(add_rule(TERN_WIRE_REORDER, 0, 1, 0) >= 0);
	send_some(1);
	CHECK_EQ(sent_count, 4);
	world_advance(world, 10000000);
	CHECK_EQ(sent_count, 5);
	world_destroy(world);
}

TERN_TEST(reorder_all)
{
	unsigned int seen[100] = { 0 };

	start(0, 1, 1);
	CHECK(add_rule(TERN_WIRE_REORDER, 1, 0, 0) >= 0);
	send_some(99);
	world_advance(world, 10000000);
	CHECK_EQ(sent_count, 99);
	for (unsigned int i = 0; i < 99; i++) {
		CHECK_EQ(seen[sent[i].tag]++, 0);
		CHECK(abs((int)sent[i].tag - (int)i) <= 1);
	}
	world_destroy(world);
}

TERN_TEST(corrupt_flips_one_bit)
{
	unsigned int different = 0;
	uint32_t good;

	start(0, 1, 1);
	send_some(1);
	good = sent[0].sum;
	CHECK(add_rule(TERN_WIRE_CORRUPT, 1, 0, 0) >= 0);
	for (unsigned int i = 0; i < 50; i++)
		send_some(1);
	CHECK_EQ(sent_count, 51);
	for (unsigned int i = 1; i < 51; i++)
		different += sent[i].sum != good;
	CHECK_EQ(different, 50);
	/* The memory that was sent from is as it was. */
	CHECK_EQ(tern_nic_remove_wire_rule(machine->nic, -1), 0);
	send_some(1);
	CHECK_EQ(sent[51].sum, good);
	world_destroy(world);
}

static unsigned int run_random(uint64_t seed, uint64_t reseed, uint32_t *digest)
{
	unsigned int count;

	start(0, 1, seed);
	CHECK(add_rule(TERN_WIRE_DROP, 0.1, 0, 0) >= 0);
	CHECK(add_rule(TERN_WIRE_DUPLICATE, 0.05, 0, 0) >= 0);
	CHECK(add_rule(TERN_WIRE_REORDER, 0.05, 0, 0) >= 0);
	CHECK(add_rule(TERN_WIRE_CORRUPT, 0.05, 0, 0) >= 0);
	CHECK(add_rule(TERN_WIRE_DELAY, 0.05, 0, 7000) >= 0);
	if (reseed)
		tern_nic_reseed(machine->nic, reseed);
	send_some(2000);
	world_advance(world, 10000000);
	count = sent_count;
	*digest = 0;
	for (unsigned int i = 0; i < count; i++)
		*digest = *digest * 31 + sent[i].sum;
	/* One that is both dropped and duplicated is dropped. */
	CHECK(count >= 2000 - host_counter(machine, 0, "wire_dropped"));
	CHECK(count <= 2000 - host_counter(machine, 0, "wire_dropped") +
	      host_counter(machine, 0, "wire_duplicated"));
	CHECK(host_counter(machine, 0, "wire_dropped") > 150);
	CHECK(host_counter(machine, 0, "wire_dropped") < 250);
	CHECK(host_counter(machine, 0, "wire_corrupted") > 60);
	CHECK(host_counter(machine, 0, "wire_corrupted") < 140);
	CHECK_EQ(host_counter(machine, 0, "wire_hold_overflow"), 0);
	world_destroy(world);
	return count;
}

TERN_TEST(same_seed_same_misbehaviour)
{
	uint32_t first, second, other, reseeded;

	run_random(42, 0, &first);
	run_random(42, 0, &second);
	run_random(43, 0, &other);
	run_random(43, 42, &reseeded);
	CHECK_EQ(first, second);
	CHECK(first != other);
	CHECK_EQ(first, reseeded);
}

TERN_TEST(rules_are_checked)
{
	struct tern_wire_rule rule = { .what = TERN_WIRE_DROP, .opcode = -1 };
	int numbers[64], count = 0, got;

	start(0, 1, 1);
	rule.what = (enum tern_misbehaviour)(TERN_WIRE_MARK_CE + 1);
	CHECK_EQ(tern_nic_add_wire_rule(machine->nic, &rule), -EINVAL);
	rule.what = TERN_WIRE_DROP;
	rule.opcode = 256;
	CHECK_EQ(tern_nic_add_wire_rule(machine->nic, &rule), -EINVAL);
	rule.opcode = -2;
	CHECK_EQ(tern_nic_add_wire_rule(machine->nic, &rule), -EINVAL);
	rule.opcode = -1;
	rule.probability = -0.1;
	CHECK_EQ(tern_nic_add_wire_rule(machine->nic, &rule), -EINVAL);
	rule.probability = 1.1;
	CHECK_EQ(tern_nic_add_wire_rule(machine->nic, &rule), -EINVAL);
	rule.probability = NAN;
	CHECK_EQ(tern_nic_add_wire_rule(machine->nic, &rule), -EINVAL);
	rule.probability = 0;
	while ((got = tern_nic_add_wire_rule(machine->nic, &rule)) >= 0) {
		CHECK(count < 64);
		numbers[count++] = got;
	}
	CHECK_EQ(got, -ENOSPC);
	CHECK_EQ(tern_nic_remove_wire_rule(machine->nic, numbers[5]), 0);
	CHECK_EQ(tern_nic_remove_wire_rule(machine->nic, numbers[5]), -ENOENT);
	CHECK_EQ(tern_nic_remove_wire_rule(machine->nic, 1000), -ENOENT);
	CHECK_EQ(tern_nic_remove_wire_rule(machine->nic, -2), -ENOENT);
	CHECK_EQ(tern_nic_add_wire_rule(machine->nic, &rule), numbers[5]);
	CHECK_EQ(tern_nic_remove_wire_rule(machine->nic, -1), 0);
	send_some(5);
	CHECK_EQ(sent_count, 5);
	world_destroy(world);
}

/* A rule for a BTH opcode leaves all other frames alone. */
TERN_TEST(rule_of_an_opcode)
{
	struct tern_wire_rule rule = { .what = TERN_WIRE_DROP, .opcode = 10, .probability = 1 };
	struct net_headers h = to_b;
	size_t n;

	start(0, 1, 1);
	CHECK(tern_nic_add_wire_rule(machine->nic, &rule) >= 0);
	send_some(5);
	CHECK_EQ(sent_count, 5);
	h.udp = true;
	h.destination_port = 4791;
	n = net_build(bytes, &h, 60, 1);
	bytes[net_payload(&h)] = 10;
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent_count, 5);
	bytes[net_payload(&h)] = 11;
	net_send(&net, bytes, n, NULL);
	world_settle(world);
	CHECK_EQ(sent_count, 6);
	world_destroy(world);
}

/* More frames to delay than are held: they leave at once, counted, not lost. */
TERN_TEST(held_frames_are_bounded)
{
	start(0, 1, 1);
	CHECK(add_rule(TERN_WIRE_DELAY, 1, 0, 1000000) >= 0);
	send_some(2000);
	CHECK_EQ(sent_count + 1024, 2000);
	CHECK_EQ(host_counter(machine, 0, "wire_hold_overflow"), 976);
	world_advance(world, 2000000);
	CHECK_EQ(sent_count, 2000);
	world_destroy(world);
}

/* Frames are held when the NIC goes away, and when the wire is pulled out. */
TERN_TEST(held_frames_at_the_end)
{
	start(0, 1, 1);
	CHECK(add_rule(TERN_WIRE_DELAY, 1, 0, 1000000) >= 0);
	CHECK(add_rule(TERN_WIRE_REORDER, 0, 1, 0) >= 0);
	send_some(10);
	tern_nic_set_carrier(machine->nic, false);
	world_advance(world, 2000000);
	CHECK_EQ(sent_count, 0);
	CHECK_EQ(host_counter(machine, 0, "dropped_port_down"), 10);
	tern_nic_set_carrier(machine->nic, true);
	send_some(10);
	world_destroy(world);
}

/*
 * A host that hands frames in while the NIC is inside a call finds them taken,
 * in order, up to the bound.
 */
static unsigned int reentered;

static bool reenter(struct machine *from, const struct tern_frame *frame)
{
	struct tern_frame in;

	(void)frame;
	for (unsigned int i = 0; i < 20; i++) {
		struct net_headers h = { .destination = mac_a, .source = mac_b };
		static uint8_t data[2000];
		size_t n = net_build(data, &h, 946, 1);

		data[n - 1] = (uint8_t)reentered++;
		tern_frame_wrap(&in, data, n);
		tern_nic_receive(from->nic, &in);
	}
	return false;
}

TERN_TEST(receive_buffer)
{
	struct tern_nic_config config = host_default_config;
	struct net_frame got;

	memcpy(config.mac, mac_a, 6);
	config.receive_buffer = 15500;
	world = world_create();
	machine = machine_create(world, &config, 0);
	machine->on_transmit = reenter;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, 1, 0);
	net_post_receives(&net, 0, 100, 2048);
	send_tagged(1, 100);
	world_settle(world);
	for (unsigned int i = 0; i < 15; i++) {
		CHECK(net_receive(&net, &got));
		CHECK_EQ(got.data[999], i);
	}
	CHECK(!net_receive(&net, &got));
	CHECK_EQ(host_counter(machine, 0, "rx_buffer_overflow"), 5);
	CHECK_EQ(host_counter(machine, 0, "rx_packets"), 15);
	/* The room is free again. */
	send_tagged(1, 100);
	host_run(machine, 64);
	world_settle(world);
	for (unsigned int i = 0; i < 15; i++)
		CHECK(net_receive(&net, &got));
	world_destroy(world);
}
