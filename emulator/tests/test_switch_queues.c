// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the switch's queues: rates, shares, buffer, flow control, marking. */
#include <math.h>
#include <stdlib.h>

#include "switch_bench.h"
#include "tern_test.h"

/* Keep @from's queue towards @to, of @priority, filled up to @depth bytes. */
static void fill(struct bench *bench, unsigned int from, unsigned int to, int priority,
		 uint64_t depth, size_t length)
{
	while (bench_port(bench, to).priority[priority].depth < depth) {
		uint64_t drops = bench_port(bench, from).priority[priority].rx_drops;

		bench_flow(bench, from, to, priority, length);
		if (bench_port(bench, from).priority[priority].rx_drops != drops)
			FAIL("dropped");
	}
}

TERN_TEST(port_rates)
{
	static const uint64_t speeds[] = { 10, 1000, 10000, 25000, 100000, 400000, 333 };

	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		struct tern_switch_config config = { .ports = 2 };
		uint64_t sent, bits = 0;
		struct bench bench;

		config.port[1].speed_mbps = speeds[i];
		bench_create(&bench, &config);
		bench_learn_all(&bench, 2);
		sent = bench.now;
		for (int j = 0; j < 500; j++) {
			bench_flow(&bench, 0, 1, 0, 64 + (size_t)j);
			bits += (64 + (uint64_t)j + 24) * 8;
		}
		bench_advance(&bench, bits * 1000 / speeds[i] + 10);
		CHECK_EQ(bench.count, 500);
		/* To the nanosecond after 500 frames. */
		CHECK(llabs((long long)(bench.frames[499].time - sent) -
			    (long long)(bits * 1000 / speeds[i])) <= 1);
		bench_destroy(&bench);
	}
}

TERN_TEST(strict_before_ets_shares)
{
	struct tern_switch_config config = { .ports = 3, .buffer_bytes = 8 << 20 };
	struct tern_switch_port_statistics before, after;
	double total, share;
	struct bench bench;

	config.port[2].speed_mbps = 10000;
	config.priorities[1].weight = 10;
	config.priorities[2].weight = 30;
	config.priorities[3].weight = 60;
	bench_create(&bench, &config);
	bench.keep = false;
	bench_learn_all(&bench, 3);
	before = bench_port(&bench, 2);
	for (int i = 0; i < 5000; i++) {
		/* Of different lengths: shares are of bytes. */
		fill(&bench, 0, 2, 1, 20000, 1500);
		fill(&bench, 0, 2, 2, 20000, 200);
		fill(&bench, 1, 2, 3, 20000, 9000);
		bench_advance(&bench, 2000);
	}
	after = bench_port(&bench, 2);
	total = 0;
	for (int p = 1; p <= 3; p++)
		total += (double)(after.priority[p].tx_bytes - before.priority[p].tx_bytes);
	for (int p = 1; p <= 3; p++) {
		share = (double)(after.priority[p].tx_bytes - before.priority[p].tx_bytes) / total;
		if (share < config.priorities[p].weight / 100.0 - 0.01 ||
		    share > config.priorities[p].weight / 100.0 + 0.01)
			FAIL("priority %d has %.3f", p, share);
	}
	/* Strict ones, the higher first: then ETS gets nothing. */
	before = after;
	for (int i = 0; i < 1000; i++) {
		fill(&bench, 0, 2, 5, 20000, 1500);
		fill(&bench, 0, 2, 0, 20000, 1500);
		bench_advance(&bench, 2000);
	}
	after = bench_port(&bench, 2);
	CHECK(after.priority[5].tx_packets - before.priority[5].tx_packets > 1600);
	CHECK(after.priority[0].tx_packets - before.priority[0].tx_packets == 0);
	for (int p = 1; p <= 3; p++)
		CHECK(after.priority[p].tx_packets - before.priority[p].tx_packets <= 1);
	bench_destroy(&bench);
}

/* A class that was idle, or paused with frames in its queue, has nothing to catch up on. */
TERN_TEST(no_credit_for_being_idle)
{
	for (int paused = 0; paused < 2; paused++) {
		struct tern_switch_config config = {
			.ports = 4, .buffer_bytes = 8 << 20, .pfc_priorities = 1 << 1,
		};
		struct tern_switch_port_statistics before, after;
		uint64_t one, other;
		struct bench bench;

		config.port[3].speed_mbps = 10000;
		config.priorities[1].weight = 50;
		config.priorities[2].weight = 50;
		bench_create(&bench, &config);
		bench.keep = false;
		bench_learn_all(&bench, 4);
		/* Both have sent before. */
		for (int i = 0; i < 1100; i++) {
			if (i == 100 && paused)
				bench_pfc(&bench, 3, 1 << 1, 0xffff);
			if (i < 100 || paused)
				fill(&bench, 0, 3, 1, 20000, 1500);
			fill(&bench, 1, 3, 2, 20000, 1500);
			bench_advance(&bench, 2000);
		}
		/* It went without for 2 ms, 1600 frames; now there are 32 for both. */
		before = bench_port(&bench, 3);
		if (paused)
			bench_pfc(&bench, 3, 1 << 1, 0);
		for (int i = 0; i < 20; i++) {
			fill(&bench, 0, 3, 1, 20000, 1500);
			fill(&bench, 1, 3, 2, 20000, 1500);
			bench_advance(&bench, 2000);
		}
		after = bench_port(&bench, 3);
		one = after.priority[1].tx_packets - before.priority[1].tx_packets;
		other = after.priority[2].tx_packets - before.priority[2].tx_packets;
		CHECK(one + other >= 32);
		if (one > other + 2 || other > one + 2)
			FAIL("%" PRIu64 " and %" PRIu64 " frames", one, other);
		bench_destroy(&bench);
	}
}

TERN_TEST(buffer_is_accounted_exactly)
{
	struct tern_switch_config config = { .ports = 3, .buffer_bytes = 100000, .alpha = 64 };
	struct tern_switch_buffer_statistics buffer;
	struct bench bench;

	config.port[0].speed_mbps = 1000;
	config.port[1].speed_mbps = 1000;
	config.port[2].speed_mbps = 1000;
	bench_create(&bench, &config);
	bench.keep = false;
	bench_learn_all(&bench, 3);
	/* 99 frames of 1000 fit beside the one that is being sent; then the buffer is full. */
	for (int i = 0; i < 200; i++)
		bench_flow(&bench, 0, 2, 0, 1000);
	tern_switch_get_buffer(bench.sw, &buffer);
	CHECK(buffer.used <= 100000);
	CHECK_EQ(buffer.used, bench_port(&bench, 0).priority[0].held);
	CHECK_EQ(buffer.used, bench_port(&bench, 2).priority[0].depth + 1000);
	CHECK_EQ(buffer.used, 1000 * (200 - bench_port(&bench, 0).priority[0].rx_drops -
				      bench_port(&bench, 2).priority[0].tx_drops));
	CHECK(buffer.used > 97000);
	/* A frame for two ports is charged once, until both have sent it. */
	bench_advance(&bench, 10000000);
	CHECK_EQ(bench_used(&bench), 0);
	bench_flow(&bench, 0, 0xff, 0, 1000);
	CHECK_EQ(bench_used(&bench), 1000);
	bench_advance(&bench, 8191);
	CHECK_EQ(bench_used(&bench), 1000);
	bench_advance(&bench, 1);
	CHECK_EQ(bench_used(&bench), 0);
	/* What is queued for a port that goes down is given back. */
	for (int i = 0; i < 20; i++)
		bench_flow(&bench, 0, 0xff, 0, 1000);
	tern_switch_set_carrier(bench.sw, 1, false);
	CHECK_EQ(bench_used(&bench), 20000);
	tern_switch_set_carrier(bench.sw, 2, false);
	CHECK_EQ(bench_used(&bench), 0);
	tern_switch_get_buffer(bench.sw, &buffer);
	CHECK(buffer.used_peak <= 100000);
	bench_destroy(&bench);
}

/* What is lossless pauses its sender at an eighth of what is free, if nothing else is said. */
TERN_TEST(lossless_threshold)
{
	struct tern_switch_config config = {
		.ports = 2, .buffer_bytes = 340000, .headroom_bytes = 20000,
		.pfc_priorities = 0x08,
	};
	const struct tern_switch_queue_statistics *queue;
	struct tern_switch_port_statistics port;
	struct bench bench;

	config.port[1].speed_mbps = 1;
	bench_create(&bench, &config);
	bench_learn_all(&bench, 2);
	bench_advance(&bench, 10000000);
	queue = &port.priority[3];
	do {
		bench_flow(&bench, 0, 1, 3, 500);
		port = bench_port(&bench, 0);
	} while (!queue->pauses_sent && queue->held < 300000);
	/* x = (300000 - x) / 8 */
	CHECK(llabs((long long)queue->held - 300000 / 9) <= 1000);
	bench_destroy(&bench);
}

TERN_TEST(dynamic_threshold)
{
	struct tern_switch_config config = { .ports = 3, .buffer_bytes = 300000 };
	struct bench bench;

	/* alpha 1: one queue may have as much as is left free, a half. */
	config.port[1].speed_mbps = 1;
	config.port[2].speed_mbps = 1;
	bench_create(&bench, &config);
	bench_learn_all(&bench, 3);
	bench_advance(&bench, 10000000);
	for (int i = 0; i < 1000; i++)
		bench_flow(&bench, 0, 1, 0, 500);
	CHECK(llabs((long long)bench_port(&bench, 1).priority[0].depth - 150000) <= 1000);
	/* A second queue still gets in; the two share two thirds at the end. */
	for (int i = 0; i < 1000; i++)
		bench_flow(&bench, 0, 2, 0, 500);
	CHECK(llabs((long long)bench_port(&bench, 2).priority[0].depth - 75000) <= 1000);
	bench_destroy(&bench);
}

TERN_TEST(pfc_is_obeyed)
{
	struct tern_switch_config config = { .ports = 2, .pfc_priorities = 0x08 };
	struct bench bench;
	uint64_t start;

	config.port[1].speed_mbps = 100000;
	bench_create(&bench, &config);
	bench_learn_all(&bench, 2);
	start = bench.now;
	/* 1000 quanta of 512 bits at 100 Gb/s: 5120 ns, for priority 3 and no other. */
	bench_pfc(&bench, 1, 0xff, 1000);
	bench_flow(&bench, 0, 1, 3, 1000);
	bench_flow(&bench, 0, 1, 0, 1000);
	bench_advance(&bench, 5119);
	CHECK_EQ(bench.count, 1);
	CHECK_EQ(bench.frames[0].start[14] >> 5, 0);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 2);
	/* 1024 bytes with overhead: 81.92 ns. */
	CHECK(llabs((long long)(bench.frames[1].time - start) - (5120 + 82)) <= 1);
	CHECK_EQ(bench_port(&bench, 1).priority[3].paused_ns, 5120);
	CHECK_EQ(bench_port(&bench, 1).priority[3].pauses_received, 1);
	CHECK_EQ(bench_port(&bench, 1).priority[0].pauses_received, 0);
	/* XON ends it at once; a vector without the bit does nothing. */
	bench_forget(&bench);
	bench_pfc(&bench, 1, 0x08, 0xffff);
	bench_flow(&bench, 0, 1, 3, 1000);
	bench_advance(&bench, 1000);
	bench_pfc(&bench, 1, 0xf7, 0);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 0);
	CHECK_EQ(bench_port(&bench, 1).priority[3].paused_ns, 5120 + 2000);
	bench_pfc(&bench, 1, 0x08, 0);
	bench_advance(&bench, 100);
	CHECK_EQ(bench.count, 1);
	CHECK_EQ(bench_port(&bench, 1).priority[3].paused_ns, 5120 + 2000);
	CHECK_EQ(bench_port(&bench, 1).priority[3].xons_received, 1);
	bench_destroy(&bench);
}

TERN_TEST(plain_pause_is_obeyed_without_pfc)
{
	uint8_t bytes[60] = { 0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 0, 1,
			      0, 100 };

	for (int pfc = 0; pfc < 2; pfc++) {
		struct tern_switch_config config = { .ports = 2, .pfc_priorities = pfc ? 1 : 0 };
		struct bench bench;

		config.port[1].speed_mbps = 1000;
		bench_create(&bench, &config);
		bench_learn_all(&bench, 2);
		bench_send(&bench, 1, bytes, sizeof(bytes));
		bench_flow(&bench, 0, 1, 6, 101);
		/* 51.2 us, then 1 us. With PFC on it is not for us. */
		bench_advance(&bench, 52199);
		CHECK_EQ(bench.count, pfc);
		bench_advance(&bench, 1);
		CHECK_EQ(bench.count, 1);
		bench_destroy(&bench);
	}
}

/* Senders at full speed that obey pauses after a round trip. */
#define SENDERS_MAX	32
#define SENDER_LAG_NS	1000

struct incast {
	unsigned int senders;
	bool obey;
	uint64_t paused_until[SENDERS_MAX], heard[SENDERS_MAX];
	uint64_t next[SENDERS_MAX], sent[SENDERS_MAX];
	bool told[SENDERS_MAX];
	uint64_t delivered, pauses;
};

static void incast_frame(struct bench *bench, unsigned int port, const struct tern_frame *frame)
{
	struct incast *incast = bench->private;
	const uint8_t *bytes = frame->header;

	if (bytes[12] != 0x88 || bytes[13] != 0x08) {
		incast->delivered++;
		return;
	}
	CHECK(port < incast->senders);
	CHECK_EQ(frame->header_length, 60);
	CHECK_MEM(bytes, "\x01\x80\xc2\x00\x00\x01", 6);
	CHECK_MEM(bytes + 14, "\x01\x01\x00\x08", 4);
	CHECK(!bytes[18] && !bytes[20] && !bytes[22] && !bytes[26]);
	CHECK(bytes[24] == bytes[25] && (bytes[24] == 0xff || !bytes[24]));
	incast->pauses++;
	incast->told[port] = !!bytes[24];
	incast->heard[port] = bench->now + SENDER_LAG_NS;
}

static void run_incast(struct incast *incast, unsigned int senders, uint8_t pfc, uint64_t ns)
{
	struct tern_switch_config config = {
		.ports = senders + 1, .pfc_priorities = pfc, .buffer_bytes = 4 << 20,
		.headroom_bytes = 40000,
	};
	struct tern_switch_port_statistics statistics;
	struct tern_switch_buffer_statistics buffer;
	uint64_t end, total = 0, drops = 0, xoffs = 0, least = UINT64_MAX, most = 0;
	bool paused[SENDERS_MAX] = { false };
	struct bench bench;

	memset(incast, 0, sizeof(*incast));
	incast->senders = senders;
	for (unsigned int i = 0; i <= senders; i++)
		config.port[i].speed_mbps = 100000;
	bench_create(&bench, &config);
	bench_learn_all(&bench, senders + 1);
	bench.keep = false;
	bench.on_frame = incast_frame;
	bench.private = incast;
	end = bench.now + ns;
	while (bench.now < end) {
		for (unsigned int i = 0; i < senders; i++) {
			if (bench.now >= incast->heard[i])
				paused[i] = incast->told[i];
			if (paused[i] || incast->next[i] > bench.now)
				continue;
			bench_flow(&bench, i, senders, 3, 1476);
			incast->sent[i]++;
			/* 1500 bytes at 100 Gb/s */
			incast->next[i] = bench.now + 120;
		}
		bench_advance(&bench, 20);
	}
	bench_advance(&bench, 100000000);
	CHECK_EQ(bench_used(&bench), 0);
	for (unsigned int i = 0; i < senders; i++) {
		statistics = bench_port(&bench, i);
		total += incast->sent[i];
		drops += statistics.priority[3].rx_drops;
		xoffs += statistics.priority[3].pauses_sent + statistics.priority[3].xons_sent;
		least = incast->sent[i] < least ? incast->sent[i] : least;
		most = incast->sent[i] > most ? incast->sent[i] : most;
		CHECK(!incast->told[i]);
	}
	statistics = bench_port(&bench, senders);
	drops += statistics.priority[3].tx_drops;
	tern_switch_get_buffer(bench.sw, &buffer);
	CHECK(buffer.used_peak <= buffer.size);
	CHECK_EQ(incast->delivered + drops, total);
	CHECK_EQ(xoffs, incast->pauses);
	if (pfc) {
		CHECK_EQ(drops, 0);
		CHECK(incast->pauses > 0);
		/* Pauses share unfairly, but nobody starves. */
		if (least * 10 < most)
			FAIL("one sent %" PRIu64 ", another %" PRIu64, least, most);
		/* The bottleneck never ran dry: a frame takes 122 ns of the link. */
		CHECK(incast->delivered * 122 > ns);
	} else {
		CHECK(drops > 0);
		CHECK_EQ(incast->pauses, 0);
	}
	bench_destroy(&bench);
}

TERN_TEST(incast_is_lossless_with_pfc)
{
	struct incast incast;

	run_incast(&incast, 2, 0x08, 3000000);
	run_incast(&incast, 8, 0x08, 3000000);
	run_incast(&incast, 32, 0x08, 3000000);
}

TERN_TEST(incast_drops_without_pfc)
{
	struct incast incast;

	run_incast(&incast, 2, 0, 3000000);
	run_incast(&incast, 32, 0, 1000000);
}

/* Before a pause runs out it is sent again, as long as the buffer stays full. */
TERN_TEST(pauses_are_refreshed)
{
	struct tern_switch_config config = {
		.ports = 2, .pfc_priorities = 0x10, .xoff_bytes = 10000,
	};
	uint64_t last;
	struct bench bench;

	config.port[0].speed_mbps = 100000;
	config.port[1].speed_mbps = 10;
	bench_create(&bench, &config);
	bench_learn_all(&bench, 2);
	bench_advance(&bench, 10000000);
	for (int i = 0; i < 15; i++)
		bench_flow(&bench, 0, 1, 4, 1000);
	last = bench.now;
	bench_advance(&bench, 2000000);
	CHECK(bench_port(&bench, 0).priority[4].pauses_sent > 5);
	for (size_t i = 0; i < bench.count; i++) {
		if (bench.frames[i].port)
			continue;
		CHECK_EQ(bench.frames[i].start[17], 0x10);
		CHECK_MEM(bench.frames[i].start + 26, "\xff\xff", 2);
		/* 65535 * 512 bits at 100 Gb/s are 335.5 us. */
		CHECK(bench.frames[i].time - last < 335000);
		last = bench.frames[i].time;
	}
	bench_advance(&bench, 1000000000);
	CHECK_EQ(bench_port(&bench, 0).priority[4].xons_sent, 1);
	CHECK_EQ(bench_used(&bench), 0);
	bench_destroy(&bench);
}

static size_t ip_frame(uint8_t *bytes, bool ipv6, uint8_t ecn, uint32_t salt)
{
	uint32_t sum = 0;

	bench_build(bytes, 0, 1, -1, 0, 1000);
	if (ipv6) {
		memcpy(bytes + 12, "\x86\xdd\x60", 3);
		bytes[15] = (uint8_t)(ecn << 4);
		return 1000;
	}
	memcpy(bytes + 12, "\x08\x00\x45", 3);
	bytes[15] = ecn;
	memcpy(bytes + 18, &salt, 4);
	memset(bytes + 24, 0, 2);
	for (int i = 14; i < 34; i += 2)
		sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	bytes[24] = (uint8_t)(sum >> 8);
	bytes[25] = (uint8_t)sum;
	return 1000;
}

static bool checksum_good(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum + (sum >> 16) == 0xffff;
}

/* Of 5000 frames that find @depth bytes in the queue, how many are marked. */
static uint64_t marks_at(const struct tern_switch_priority_config *priority, uint64_t depth,
			 bool ipv6, uint8_t ecn, uint64_t *dropped)
{
	struct tern_switch_config config = { .ports = 2, .priorities[0] = *priority, .seed = 5,
					     .buffer_bytes = 8 << 20 };
	uint64_t count = 5000, marked = 0;
	struct bench bench;
	uint8_t bytes[1000];

	config.port[1].speed_mbps = 8;
	bench_create(&bench, &config);
	bench_learn_all(&bench, 2);
	bench_advance(&bench, 10000000);
	bench_flow(&bench, 0, 1, 0, 1000);
	while (bench_port(&bench, 1).priority[0].depth < depth)
		bench_flow(&bench, 0, 1, 0, 1000);
	CHECK_EQ(bench_port(&bench, 1).priority[0].depth, depth);
	*dropped = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t drops = bench_port(&bench, 1).priority[0].wred_drops;

		while (bench_port(&bench, 1).priority[0].depth > depth)
			bench_advance(&bench, 1024000);
		bench_send(&bench, 0, bytes, ip_frame(bytes, ipv6, ecn, (uint32_t)i * 2654435761U));
		*dropped += bench_port(&bench, 1).priority[0].wred_drops - drops;
	}
	bench_advance(&bench, 10 * UINT64_C(1000000000));
	for (size_t i = 0; i < bench.count; i++) {
		const uint8_t *ip = bench.frames[i].start + 14;

		if (bench.frames[i].start[12] == 0x81)
			continue;
		if (ipv6) {
			marked += (ip[1] & 0x30) == 0x30;
			continue;
		}
		CHECK(checksum_good(ip));
		CHECK((ip[1] & 3) == 3 || (ip[1] & 3) == ecn);
		marked += (ip[1] & 3) == 3;
	}
	CHECK_EQ(marked, bench_port(&bench, 1).priority[0].marks);
	bench_destroy(&bench);
	return marked;
}

TERN_TEST(marking_probability)
{
	static const struct tern_switch_priority_config red = {
		.kmin = 20000, .kmax = 120000, .pmax = 0.2,
	};
	uint64_t drops;

	/* At the ends it is exact. */
	CHECK_EQ(marks_at(&red, 20000, false, 2, &drops), 0);
	CHECK_EQ(marks_at(&red, 120000, false, 1, &drops), 5000);
	CHECK_EQ(marks_at(&red, 120000, true, 2, &drops), 5000);
	/* In the middle 0.1, and just below kmax nearly pmax: within five standard deviations. */
	CHECK(llabs((long long)marks_at(&red, 70000, false, 2, &drops) - 500) < 106);
	CHECK(llabs((long long)marks_at(&red, 119000, true, 1, &drops) - 990) < 141);
	CHECK_EQ(drops, 0);
}

/* Marked or not is as the average says that is computed here, for each frame. */
static unsigned int averaged_burst(struct bench *bench, double *average, unsigned int frames)
{
	size_t before = bench->count;
	uint8_t bytes[1000];
	unsigned int marks = 0;

	for (uint32_t i = 0; i < frames; i++) {
		double depth = (double)bench_port(bench, 1).priority[0].depth;

		*average += (depth - *average) / 16;
		marks += *average >= 20000;
		bench_send(bench, 0, bytes, ip_frame(bytes, true, 1, i));
		CHECK_EQ(bench_port(bench, 1).priority[0].wred_drops, 0);
	}
	bench_advance(bench, UINT64_C(100000000));
	CHECK_EQ(bench->count - before, frames);
	for (size_t i = before; i < bench->count; i++)
		marks -= (bench->frames[i].start[15] & 0x30) == 0x30;
	CHECK_EQ(marks, 0);
	return (unsigned int)bench_port(bench, 1).priority[0].marks;
}

/* A depth that is averaged lags behind, and what the link had no use for ends it. */
TERN_TEST(averaged_depth)
{
	struct tern_switch_config config = {
		.ports = 2, .average_shift = 4,
		.priorities[0] = { .kmin = 20000, .kmax = 20000, .pmax = 1 },
	};
	unsigned int first, second;
	struct bench bench;
	double average = 0;

	/* A frame takes a millisecond, so the burst 60 of them. */
	config.port[1].speed_mbps = 8;
	bench_create(&bench, &config);
	bench_learn_all(&bench, 2);
	bench_advance(&bench, 10000000);
	first = averaged_burst(&bench, &average, 60);
	CHECK(first > 0 && first < 40);
	/* Idle for some 38 frames: not forgotten, but it has fallen to a tenth. */
	average *= pow(15.0 / 16, 38);
	second = averaged_burst(&bench, &average, 60) - first;
	CHECK(second > first && second < first + 8);
	/* Idle for long: as in the beginning. */
	bench_advance(&bench, UINT64_C(10000000000));
	average = 0;
	CHECK_EQ(averaged_burst(&bench, &average, 60), 2 * first + second);
	bench_destroy(&bench);
}

TERN_TEST(what_cannot_be_marked)
{
	struct tern_switch_priority_config red = { .kmin = 2000, .kmax = 50000, .pmax = 1 };
	uint64_t drops;

	/* Not ECT: passes, or is dropped where configured. */
	CHECK_EQ(marks_at(&red, 50000, false, 0, &drops), 0);
	CHECK_EQ(drops, 0);
	red.wred_drop = true;
	CHECK_EQ(marks_at(&red, 60000 - 12000, true, 0, &drops), 0);
	CHECK(drops > 4000);
}
