// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a switch alone for tests. */
#include <stdlib.h>
#include <string.h>

#include "switch_bench.h"
#include "tern_test.h"

static uint64_t bench_now(void *host)
{
	return ((struct bench *)host)->now;
}

static void bench_set_timer(void *host, uint64_t deadline)
{
	((struct bench *)host)->deadline = deadline;
}

static void bench_transmit(void *host, unsigned int port, const struct tern_frame *frame)
{
	uint8_t bytes[TERN_SWITCH_FRAME_MAX + 4];
	size_t length = tern_frame_flatten(frame, bytes, sizeof(bytes));
	struct bench *bench = host;
	struct bench_frame *record;

	CHECK(length);
	if (bench->keep) {
		if (bench->count == bench->room) {
			bench->room = bench->room ? 2 * bench->room : 256;
			bench->frames = realloc(bench->frames,
						bench->room * sizeof(*bench->frames));
			CHECK(bench->frames);
		}
		record = &bench->frames[bench->count++];
		memset(record, 0, sizeof(*record));
		record->time = bench->now;
		record->port = port;
		record->length = length;
		memcpy(record->start, bytes, length < 64 ? length : 64);
		for (size_t i = 0; i < length; i++)
			record->sum = record->sum * 31 + bytes[i];
	}
	if (bench->on_frame)
		bench->on_frame(bench, port, frame);
}

static const struct tern_switch_host bench_ops = {
	.now = bench_now,
	.set_timer = bench_set_timer,
	.transmit = bench_transmit,
};

void bench_create(struct bench *bench, const struct tern_switch_config *config)
{
	char error[200] = "";

	memset(bench, 0, sizeof(*bench));
	bench->now = 1000000;
	bench->keep = true;
	bench->deadline = UINT64_MAX;
	bench->sw = tern_switch_create(config, &bench_ops, bench, error, sizeof(error));
	if (!bench->sw)
		FAIL("tern_switch_create: %s", error);
	for (unsigned int i = 0; i < config->ports; i++)
		tern_switch_set_carrier(bench->sw, i, true);
}

void bench_destroy(struct bench *bench)
{
	tern_switch_destroy(bench->sw);
	free(bench->frames);
}

void bench_until(struct bench *bench, uint64_t when)
{
	while (bench->deadline <= when) {
		if (bench->deadline > bench->now)
			bench->now = bench->deadline;
		tern_switch_timer(bench->sw);
	}
	bench->now = when;
}

void bench_advance(struct bench *bench, uint64_t ns)
{
	bench_until(bench, bench->now + ns);
}

void bench_send(struct bench *bench, unsigned int port, const uint8_t *bytes, size_t length)
{
	struct tern_frame frame;

	tern_frame_wrap(&frame, bytes, length);
	tern_switch_receive(bench->sw, port, &frame);
}

void bench_mac(uint8_t mac[6], unsigned int host)
{
	memset(mac, host == 0xff ? 0xff : 0, 6);
	if (host != 0xff) {
		mac[0] = 2;
		mac[5] = (uint8_t)(host + 1);
	}
}

size_t bench_build(uint8_t *bytes, unsigned int from, unsigned int to, int pcp, int vid,
		   size_t length)
{
	size_t at = 12;

	memset(bytes, 0x5a, length);
	bench_mac(bytes, to);
	bench_mac(bytes + 6, from);
	if (pcp >= 0) {
		bytes[at++] = 0x81;
		bytes[at++] = 0x00;
		bytes[at++] = (uint8_t)(pcp << 5 | vid >> 8);
		bytes[at++] = (uint8_t)vid;
	}
	bytes[at++] = 0x88;
	bytes[at++] = 0xb5;
	return length;
}

void bench_flow(struct bench *bench, unsigned int from, unsigned int to, int pcp, size_t length)
{
	uint8_t bytes[TERN_SWITCH_FRAME_MAX];

	bench_send(bench, from, bytes, bench_build(bytes, from, to, pcp, 0, length));
}

void bench_forget(struct bench *bench)
{
	bench->count = 0;
}

void bench_learn_all(struct bench *bench, unsigned int ports)
{
	for (unsigned int i = 0; i < ports; i++) {
		bench_flow(bench, i, 0xff, 0, 64);
		bench_advance(bench, 1000000);
	}
	bench_forget(bench);
}

size_t bench_count(const struct bench *bench, unsigned int port)
{
	size_t count = 0;

	for (size_t i = 0; i < bench->count; i++)
		count += bench->frames[i].port == port;
	return count;
}

struct tern_switch_port_statistics bench_port(const struct bench *bench, unsigned int port)
{
	struct tern_switch_port_statistics statistics;

	tern_switch_get_statistics(bench->sw, port, &statistics);
	return statistics;
}

uint64_t bench_used(const struct bench *bench)
{
	struct tern_switch_buffer_statistics statistics;

	tern_switch_get_buffer(bench->sw, &statistics);
	return statistics.used;
}

void bench_pfc(struct bench *bench, unsigned int port, uint8_t vector, uint16_t quanta)
{
	uint8_t bytes[60] = { 0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 1, 1 };

	bytes[17] = vector;
	for (int p = 0; p < 8; p++) {
		bytes[18 + 2 * p] = (uint8_t)(quanta >> 8);
		bytes[19 + 2 * p] = (uint8_t)quanta;
	}
	bench_send(bench, port, bytes, sizeof(bytes));
}
