// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: flow control: pauses that are received, pauses that are sent, storms. */
#include <endian.h>

#include "host_ethernet.h"
#include "host_priority.h"
#include "host_rdma.h"
#include "nic.h"
#include "tern_test.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0x7b };

#define LOG_FRAMES	8192

static struct world *world;
static struct machine *machine;
static struct net net;
static struct {
	uint64_t when;
	size_t length;
	uint8_t head[64];
} sent[LOG_FRAMES];
static unsigned int sent_count;

static bool log_frame(struct machine *from, const struct tern_frame *frame)
{
	uint8_t flat[9100];
	size_t n = tern_frame_flatten(frame, flat, sizeof(flat));

	CHECK(sent_count < LOG_FRAMES && n >= 60);
	sent[sent_count].when = from->world->now;
	sent[sent_count].length = n;
	memcpy(sent[sent_count].head, flat, n < 64 ? n : 64);
	sent_count++;
	return false;
}

static void start(uint64_t speed, uint64_t host_mbps)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	config.speed_mbps = speed;
	config.host_mbps = host_mbps;
	config.functions = 2;
	world = world_create();
	machine = machine_create(world, &config, 0);
	machine->on_transmit = log_frame;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, 2, 0);
	sent_count = 0;
}

static size_t tagged(uint8_t *bytes, uint8_t priority, bool inwards)
{
	struct net_headers headers = {
		.destination = inwards ? mac_a : mac_b, .source = inwards ? mac_b : mac_a,
		.tagged = true, .tci = (uint16_t)(priority << 13),
	};

	return net_build(bytes, &headers, 946, 1);
}

static void post(unsigned int queue, uint8_t priority)
{
	struct {
		struct tern_wqe_control control;
		struct tern_wqe_ethernet ethernet;
		struct tern_sge sges[2];
	} wqe = { .control = { .opcode = TERN_WQE_ETHERNET, .sge_count = 1 } };
	uint8_t bytes[1100];
	size_t n = tagged(bytes, priority, false);

	wqe.sges[0].address = htole64(net_put(&net, bytes, n));
	wqe.sges[0].length = htole32((uint32_t)n);
	driver_post_send(&net.qps[queue], &wqe, 1);
}

static uint8_t priority_sent(unsigned int frame)
{
	return sent[frame].head[14] >> 5;
}

static void pfc(uint8_t vector, uint16_t quanta)
{
	uint8_t frame[PFC_FRAME_BYTES];

	pfc_build(frame, vector, quanta);
	pfc_receive(machine, frame, sizeof(frame));
}

static void pause(uint16_t quanta)
{
	uint8_t frame[PFC_FRAME_BYTES];

	pause_build(frame, quanta);
	pfc_receive(machine, frame, sizeof(frame));
}

static const struct tern_priority_counters *counters(unsigned int priority)
{
	static struct tern_priority_statistics statistics;

	priority_statistics(&net.driver, &statistics);
	return &statistics.priority[priority];
}

/* Priority 3 stands for its quanta, to the nanosecond, and priority 0 does not. */
TERN_TEST(one_priority_is_paused)
{
	static const struct {
		uint64_t mbps, ns;
		uint16_t quanta;
	} cases[] = {
		{ 25000, 20480, 1000 }, { 100000, 5120, 1000 }, { 0, 1280, 1000 },
		{ 25000, 1342157, 65535 }, { 100000, 335540, 65535 }, { 100000, 6, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t began;

		start(cases[i].mbps, 0);
		CHECK_EQ(priority_set_pfc(&net.driver, 1 << 3), 0);
		world_advance(world, 1000000);
		began = world->now;
		pfc(0xff, cases[i].quanta);
		post(0, 3);
		post(1, 0);
		world_settle(world);
		CHECK_EQ(sent_count, 1);
		CHECK_EQ(priority_sent(0), 0);
		world_advance(world, 10000000);
		CHECK_EQ(sent_count, 2);
		CHECK_EQ(priority_sent(1), 3);
		CHECK(sent[1].when - began == cases[i].ns || cases[i].quanta == 1);
		CHECK_EQ(le64toh(counters(3)->tx_paused_ns), cases[i].ns);
		CHECK_EQ(le64toh(counters(3)->rx_pause), 1);
		CHECK_EQ(le64toh(counters(0)->tx_paused_ns), 0);
		CHECK_EQ(le64toh(counters(3)->tx_packets), 1);
		world_destroy(world);
	}
}

/* The head of a queue decides; what is behind it does not overtake. */
TERN_TEST(a_queue_stays_in_order)
{
	start(25000, 0);
	CHECK_EQ(priority_set_pfc(&net.driver, 1 << 3), 0);
	pfc(1 << 3, 1000);
	post(0, 0);
	post(0, 3);
	post(0, 0);
	world_advance(world, 10000);
	CHECK_EQ(sent_count, 1);
	/* Time 0 ends it. */
	pfc(1 << 3, 0);
	world_settle(world);
	world_advance(world, 1000);
	CHECK_EQ(sent_count, 3);
	CHECK_EQ(priority_sent(1), 3);
	CHECK_EQ(priority_sent(2), 0);
	world_destroy(world);
}

TERN_TEST(a_new_time_replaces_the_last)
{
	uint64_t began;

	start(25000, 0);
	CHECK_EQ(priority_set_pfc(&net.driver, 1 << 3), 0);
	began = world->now;
	pfc(1 << 3, 1000);
	post(0, 3);
	world_advance(world, 10000);
	pfc(1 << 3, 100);
	world_advance(world, 1000000);
	CHECK_EQ(sent_count, 1);
	CHECK_EQ(sent[0].when - began, 10000 + 2048);
	/* Switched off, it pauses no longer. */
	pfc(1 << 3, 65535);
	post(0, 3);
	world_settle(world);
	CHECK_EQ(sent_count, 1);
	CHECK_EQ(priority_set_pfc(&net.driver, 1 << 4), 0);
	world_settle(world);
	CHECK_EQ(sent_count, 2);
	world_destroy(world);
}

TERN_TEST(what_is_not_obeyed_is_counted)
{
	struct tern_priority_statistics statistics;

	start(25000, 0);
	pfc(1 << 3, 1000);
	pause(1000);
	post(0, 3);
	world_settle(world);
	CHECK_EQ(sent_count, 1);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_pause), 1);
	CHECK_EQ(le64toh(statistics.priority[2].rx_pause), 0);
	CHECK_EQ(le64toh(statistics.rx_pause_frames), 1);
	CHECK_EQ(host_counter(machine, 0, "priority3_rx_pause"), 1);
	world_destroy(world);
}

TERN_TEST(pause_stops_all)
{
	struct tern_command_set_flow_control body = { .flags = TERN_FLOW_CONTROL_RECEIVE_PAUSE };
	uint64_t began;

	start(25000, 0);
	CHECK_EQ(priority_set_flow_control(&net.driver, &body), 0);
	began = world->now;
	pause(1000);
	post(0, 3);
	post(1, 0);
	world_settle(world);
	CHECK_EQ(sent_count, 0);
	/* And PFC has no effect. */
	pfc(0xff, 0);
	world_advance(world, 100000);
	CHECK_EQ(sent_count, 2);
	CHECK_EQ(sent[0].when - began, 20480);
	world_destroy(world);
}

/* Short, unknown, tagged, for others: nobody's, no pause, counted. */
TERN_TEST(malformed_control_frames)
{
	struct tern_priority_statistics statistics;
	uint8_t frame[PFC_FRAME_BYTES + 4];
	unsigned int expected = 0;
	struct net_frame got;

	start(25000, 0);
	CHECK_EQ(priority_set_pfc(&net.driver, 0xff), 0);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_PROMISCUOUS), 0);
	net_post_receives(&net, 0, 50, 2048);
	pfc_build(frame, 0xff, 65535);
	for (size_t n = 14; n < 34; n++, expected++)
		pfc_receive(machine, frame, n);
	frame[15] = 2;
	pfc_receive(machine, frame, PFC_FRAME_BYTES);
	frame[15] = 1;
	frame[5] = 2;
	pfc_receive(machine, frame, PFC_FRAME_BYTES);
	frame[5] = 1;
	memmove(frame + 16, frame + 12, PFC_FRAME_BYTES - 12);
	memcpy(frame + 12, "\x81\x00\x60\x00", 4);
	pfc_receive(machine, frame, sizeof(frame));
	expected += 3;
	post(0, 3);
	world_settle(world);
	CHECK_EQ(sent_count, 1);
	CHECK(!net_receive(&net, &got));
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.rx_control_unknown), expected);
	CHECK_EQ(le64toh(statistics.priority[3].rx_pause), 0);
	CHECK_EQ(host_counter(machine, 0, "rx_packets"), 0);
	world_destroy(world);
}

/* The host takes 1 Gb/s of what comes at 10. Returns how many frames reached it. */
static unsigned int slow_host(bool pfc_on, unsigned int frames)
{
	unsigned int got = 0, at = 0, seen = 0;
	bool stopped = false;
	uint8_t bytes[1100];
	struct net_frame frame;

	start(10000, 1000);
	CHECK_EQ(priority_set_buffer(&net.driver, 100000, 60000, 30000), 0);
	CHECK_EQ(priority_set_pfc(&net.driver, pfc_on ? 1 << 3 : 0), 0);
	net_post_receives(&net, 0, 100, 2048);
	while (at < frames || machine->nic->priorities.buffers.nonempty) {
		for (; seen < sent_count; seen++) {
			CHECK_MEM(sent[seen].head, "\x01\x80\xc2\x00\x00\x01", 6);
			CHECK_MEM(sent[seen].head + 6, mac_a, 6);
			CHECK_MEM(sent[seen].head + 12, "\x88\x08\x01\x01\x00\x08", 6);
			CHECK_EQ(sent[seen].length, 60);
			stopped = sent[seen].head[24];
			for (unsigned int i = 18; i < 60; i++)
				CHECK_EQ(sent[seen].head[i],
					 stopped && (i == 24 || i == 25) ? 0xff : 0);
		}
		if (at < frames && !stopped) {
			pfc_receive(machine, bytes, tagged(bytes, 3, true));
			at++;
		}
		world_advance(world, 800);
		while (net_receive(&net, &frame)) {
			got++;
			net_post_receives(&net, 0, 1, 2048);
		}
	}
	return got;
}

TERN_TEST(nothing_is_lost_with_pfc)
{
	struct tern_priority_statistics statistics;

	CHECK_EQ(slow_host(true, 1000), 1000);
	CHECK(sent_count > 4);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards), 0);
	CHECK_EQ(le64toh(statistics.priority[3].rx_packets), 1000);
	CHECK_EQ(le64toh(statistics.priority[3].tx_pause), sent_count / 2);
	CHECK_EQ(le64toh(statistics.priority[3].tx_resume), sent_count / 2);
	CHECK_EQ(le64toh(statistics.priority[2].tx_pause), 0);
	CHECK(le64toh(statistics.priority[3].rx_paused_ns) > 1000000);
	CHECK(le64toh(statistics.receive_buffer_peak[0]) > 60000);
	CHECK(le64toh(statistics.receive_buffer_peak[0]) < 64000);
	world_destroy(world);
}

TERN_TEST(frames_are_lost_without_pfc)
{
	struct tern_priority_statistics statistics;
	unsigned int got = slow_host(false, 1000);

	CHECK(got > 150 && got < 300);
	CHECK_EQ(sent_count, 0);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].rx_discards), 1000 - got);
	CHECK_EQ(host_counter(machine, 0, "rx_buffer_overflow"), 1000 - got);
	world_destroy(world);
}

/* While the buffer stays filled the peer is told again before its time is over. */
TERN_TEST(refresh)
{
	uint8_t bytes[1100];

	start(100000, 1);
	CHECK_EQ(priority_set_buffer(&net.driver, 100000, 5000, 1000), 0);
	CHECK_EQ(priority_set_pfc(&net.driver, 0x18), 0);
	for (unsigned int i = 0; i < 8; i++)
		pfc_receive(machine, bytes, tagged(bytes, 3, true));
	CHECK_EQ(sent_count, 1);
	CHECK_MEM(sent[0].head + 16, "\x00\x18\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0", 18);
	world_advance(world, 2000000);
	CHECK(sent_count >= 10);
	for (unsigned int i = 1; i < sent_count; i++)
		CHECK(sent[i].when - sent[i - 1].when < 335539);
	/* Off: the peer is released. */
	sent_count = 0;
	CHECK_EQ(priority_set_pfc(&net.driver, 0x10), 0);
	CHECK_EQ(sent_count, 1);
	CHECK_MEM(sent[0].head + 16, "\x00\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
	host_reset(machine, 0);
	CHECK_EQ(sent_count, 2);
	CHECK_EQ(sent[1].head[17], 0x10);
	world_advance(world, 2000000);
	CHECK_EQ(sent_count, 2);
	world_destroy(world);
}

TERN_TEST(pause_is_sent)
{
	struct tern_command_set_flow_control body = { .flags = TERN_FLOW_CONTROL_SEND_PAUSE };
	struct tern_priority_statistics statistics;
	uint8_t bytes[1100];

	start(10000, 1000);
	CHECK_EQ(priority_set_buffer(&net.driver, 100000, 5000, 1000), 0);
	CHECK_EQ(priority_set_flow_control(&net.driver, &body), 0);
	for (unsigned int i = 0; i < 12; i++)
		pfc_receive(machine, bytes, tagged(bytes, 3, true));
	CHECK_EQ(sent_count, 1);
	CHECK_MEM(sent[0].head + 12, "\x88\x08\x00\x01\xff\xff\0\0", 8);
	world_advance(world, 1000000);
	CHECK_EQ(sent_count, 2);
	CHECK_MEM(sent[1].head + 12, "\x88\x08\x00\x01\x00\x00\0\0", 8);
	priority_statistics(&net.driver, &statistics);
	CHECK_EQ(le64toh(statistics.tx_pause_frames), 2);
	world_destroy(world);
}

static void storm_event(uint8_t subtype)
{
	struct tern_eqe eqe;

	CHECK(driver_eq_poll(&net.driver, &net.driver.eq, &eqe));
	CHECK_EQ(eqe.type, TERN_EVENT_CONGESTION);
	CHECK_EQ(eqe.subtype, subtype);
	CHECK_EQ(le32toh(eqe.number), 3);
}

/* Paused for 5 ms without a gap; then no pause for 2 ms. */
static void storm(uint8_t action)
{
	struct tern_command_set_flow_control body = {
		.pfc_priorities = 1 << 3, .storm_action = action,
		.storm_limit_ms = htole32(5), .storm_restore_ms = htole32(2),
	};
	struct tern_eqe eqe;

	start(25000, 0);
	while (driver_eq_poll(&net.driver, &net.driver.eq, &eqe))
		;
	CHECK_EQ(priority_set_flow_control(&net.driver, &body), 0);
	post(0, 3);
	/* With gaps (65535 quanta are 1.34 ms) it is none. */
	for (unsigned int i = 0; i < 4; i++) {
		pfc(1 << 3, 65535);
		world_advance(world, 1400000);
	}
	world_advance(world, 1000000);
	CHECK_EQ(sent_count, 1);
	CHECK(!driver_eq_poll(&net.driver, &net.driver.eq, &eqe) ||
	      eqe.type != TERN_EVENT_CONGESTION);
	post(0, 3);
	for (unsigned int i = 0; i < 4; i++) {
		pfc(1 << 3, 65535);
		world_advance(world, 1300000);
	}
	/* 5.2 ms: the limit came. */
	storm_event(TERN_CONGESTION_STORM_BEGAN);
	CHECK_EQ(sent_count, action == TERN_STORM_RELEASE ? 2 : 1);
	pfc(1 << 3, 65535);
	post(0, 3);
	world_settle(world);
	CHECK_EQ(sent_count, action == TERN_STORM_RELEASE ? 3 : 1);
	CHECK_EQ(le64toh(counters(3)->storms), 1);
	CHECK_EQ(le64toh(counters(3)->tx_storm_drops), action == TERN_STORM_DROP ? 2 : 0);
	world_advance(world, 1999999);
	CHECK(!driver_eq_poll(&net.driver, &net.driver.eq, &eqe) ||
	      eqe.type != TERN_EVENT_CONGESTION);
	world_advance(world, 1);
	storm_event(TERN_CONGESTION_STORM_ENDED);
	sent_count = 0;
	pfc(1 << 3, 1000);
	post(0, 3);
	world_settle(world);
	CHECK_EQ(sent_count, 0);
	world_advance(world, 20480);
	CHECK_EQ(sent_count, 1);
	world_destroy(world);
}

TERN_TEST(storm_is_released)
{
	storm(TERN_STORM_RELEASE);
}

TERN_TEST(storm_is_dropped)
{
	storm(TERN_STORM_DROP);
}

/* A refused command leaves what was set before. */
TERN_TEST(flow_control_refusals)
{
	static const struct tern_command_set_flow_control bad[] = {
		{ .flags = 4 }, { .pfc_priorities = 1, .flags = 1 }, { .storm_action = 2 },
		{ .storm_limit_ms = 1 }, { .reserved0 = 1 }, { .reserved1 = 1 },
	};
	struct driver second;

	start(25000, 0);
	CHECK_EQ(priority_set_pfc(&net.driver, 1 << 3), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(priority_set_flow_control(&net.driver, &bad[i]),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
	driver_start(&second, machine, 1, 0);
	CHECK_EQ(priority_set_pfc(&second, 0), TERN_COMMAND_STATUS_NOT_PERMITTED);
	pfc(1 << 3, 1000);
	post(0, 3);
	world_settle(world);
	CHECK_EQ(sent_count, 0);
	world_advance(world, 20480);
	CHECK_EQ(sent_count, 1);
	world_destroy(world);
}

/* RoCE of a paused priority waits, without using up its retries; of others it flows. */
TERN_TEST(roce_waits_without_retries)
{
	struct rdma_options options = { .service_level = 3, .timeout = 1, .no_retry = true,
					.speed_mbps = 25000 };
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 100000 };
	uint8_t frame[PFC_FRAME_BYTES];
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &options);
	CHECK_EQ(priority_set_pfc(pair.a.driver, 1 << 3), 0);
	rdma_post(&pair, &pair.a, &write);
	world_advance(pair.world, 5000);
	CHECK(rdma_none(&pair.a.send_cq));
	for (unsigned int i = 0; i < 20; i++) {
		pfc_build(frame, 1 << 3, 65535);
		pfc_receive(pair.a.machine, frame, sizeof(frame));
		world_advance(pair.world, 1000000);
	}
	CHECK(rdma_none(&pair.a.send_cq));
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(rdma_counter(&pair.a, "local_ack_timeout_err"), 0);
	/* Another priority's pause is nothing to it. */
	CHECK_EQ(priority_set_pfc(pair.a.driver, 0xff), 0);
	pfc_build(frame, (uint8_t)~(1 << 3), 65535);
	pfc_receive(pair.a.machine, frame, sizeof(frame));
	rdma_post(&pair, &pair.a, &write);
	world_advance(pair.world, 100000);
	CHECK(driver_cq_poll(&pair.a.send_cq, &cqe));
	rdma_pair_destroy(&pair);
}

/* Time without a pause counts, however often short pauses come between. */
TERN_TEST(short_pauses_hide_no_loss)
{
	const struct tern_wire_rule rule = { .what = TERN_WIRE_DROP, .opcode = 0x11, .nth = 1 };
	struct rdma_options options = { .service_level = 3, .timeout = 4, .speed_mbps = 25000 };
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 100 };
	uint8_t frame[PFC_FRAME_BYTES];
	struct rdma_pair pair;
	struct tern_cqe cqe;
	unsigned int i;

	rdma_pair_create(&pair, &options);
	CHECK_EQ(priority_set_pfc(pair.a.driver, 1 << 3), 0);
	CHECK(tern_nic_add_wire_rule(pair.b.machine->nic, &rule) >= 0);
	rdma_post(&pair, &pair.a, &write);
	/* 200 ns in each 20 us; the timer has 65 us. */
	pfc_build(frame, 1 << 3, 10);
	for (i = 0; i < 100 && !driver_cq_poll(&pair.a.send_cq, &cqe); i++) {
		pfc_receive(pair.a.machine, frame, sizeof(frame));
		world_advance(pair.world, 20000);
	}
	CHECK(i < 100);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(rdma_counter(&pair.a, "local_ack_timeout_err"), 1);
	rdma_pair_destroy(&pair);
}

/* Returns the retransmissions of 4 MB at 25 Gb/s to a host that takes 10. */
static uint64_t slow_peer(bool pfc_on)
{
	struct rdma_options options = { .network = RDMA_V2_IPV4_VLAN, .service_level = 3,
					.speed_mbps = 25000,
					.host_mbps = 10000, .latency_ns = 1000,
					.buffer_bytes = 4 << 20 };
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 4 << 20 };
	struct tern_priority_statistics statistics;
	struct rdma_pair pair;
	struct tern_cqe cqe;
	uint64_t began, lost;

	rdma_pair_create(&pair, &options);
	for (unsigned int side = 0; side < 2; side++) {
		struct driver *driver = side ? pair.b.driver : pair.a.driver;

		CHECK_EQ(priority_set_buffer(driver, 150000, 80000, 40000), 0);
		CHECK_EQ(priority_set_pfc(driver, pfc_on ? 1 << 3 : 0), 0);
	}
	rdma_fill(rdma_memory(&pair.a, 0), 4 << 20, 7);
	began = pair.world->now;
	rdma_post(&pair, &pair.a, &write);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, 0), 4 << 20);
	/* The host was the bottleneck all the time. */
	CHECK(!pfc_on || pair.world->now - began < 3600000);
	priority_statistics(pair.b.driver, &statistics);
	lost = le64toh(statistics.priority[3].rx_discards);
	CHECK_EQ(lost > 0, !pfc_on);
	CHECK_EQ(le64toh(statistics.priority[3].tx_pause) > 0, pfc_on);
	priority_statistics(pair.a.driver, &statistics);
	CHECK_EQ(le64toh(statistics.priority[3].tx_paused_ns) > 0, pfc_on);
	lost = rdma_counter(&pair.a, "retransmitted_packets");
	rdma_pair_destroy(&pair);
	return lost;
}

TERN_TEST(roce_is_lossless_with_pfc)
{
	CHECK_EQ(slow_peer(true), 0);
	CHECK(slow_peer(false) > 0);
}

/* A queue pair that fails is flushed although its priority is paused. */
TERN_TEST(flush_while_paused)
{
	struct rdma_options options = { .service_level = 3 };
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 100 };
	uint8_t frame[PFC_FRAME_BYTES];
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &options);
	CHECK_EQ(priority_set_pfc(pair.a.driver, 1 << 3), 0);
	pfc_build(frame, 1 << 3, 65535);
	pfc_receive(pair.a.machine, frame, sizeof(frame));
	rdma_post(&pair, &pair.a, &write);
	world_settle(pair.world);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
	world_settle(pair.world);
	CHECK(driver_cq_poll(&pair.a.send_cq, &cqe));
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	rdma_pair_destroy(&pair);
}

/* Who waited for a pause, or was idle, has not waited for the wire: no burst is owed. */
TERN_TEST(no_burst_after_a_pause)
{
	/* 968 bytes, preamble, FCS and gap at 10 Gb/s */
	const uint64_t frame_ns = (968 + 24) * 8 / 10;

	start(10000, 0);
	CHECK_EQ(priority_set_pfc(&net.driver, 1 << 3), 0);
	for (unsigned int round = 0; round < 3; round++) {
		sent_count = 0;
		for (unsigned int i = 0; i < 30; i++)
			post(0, 3);
		/* The first round is paused under way, the second before, the third not at all. */
		if (round == 0)
			world_advance(world, 10 * frame_ns);
		if (round < 2)
			pfc(1 << 3, 2000);
		world_advance(world, 1000000);
		CHECK_EQ(sent_count, 30);
		for (unsigned int i = 1; i < 30; i++) {
			if (sent[i].when - sent[i - 1].when < frame_ns - 1)
				FAIL("round %u, frame %u after %" PRIu64 " ns", round, i,
				     sent[i].when - sent[i - 1].when);
		}
	}
	world_destroy(world);
}

/* Loopback inside the NIC is not paused. */
TERN_TEST(loopback_is_not_paused)
{
	struct rdma_options options = { .service_level = 3, .loopback = true };
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 100 };
	uint8_t frame[PFC_FRAME_BYTES];
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &options);
	CHECK_EQ(priority_set_pfc(pair.a.driver, 1 << 3), 0);
	pfc_build(frame, 1 << 3, 65535);
	pfc_receive(pair.a.machine, frame, sizeof(frame));
	rdma_post(&pair, &pair.a, &write);
	world_settle(pair.world);
	CHECK(driver_cq_poll(&pair.a.send_cq, &cqe));
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	rdma_pair_destroy(&pair);
}
