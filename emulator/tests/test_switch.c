// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the switch: what it forwards, where to, and what it never does. */
#include <stdlib.h>

#include "switch_bench.h"
#include "tern_test.h"

TERN_TEST(learns_and_floods)
{
	struct bench bench;

	bench_create(&bench, &(struct tern_switch_config){ .ports = 4 });
	bench_flow(&bench, 0, 2, -1, 100);
	bench_advance(&bench, 1000);
	/* Unknown: to all others, not back. */
	CHECK_EQ(bench.count, 3);
	CHECK_EQ(bench_count(&bench, 0), 0);
	CHECK_EQ(bench_port(&bench, 0).flooded, 1);
	bench_forget(&bench);
	bench_flow(&bench, 2, 0, -1, 100);
	bench_flow(&bench, 0, 2, -1, 100);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench_count(&bench, 0), 1);
	CHECK_EQ(bench_count(&bench, 2), 1);
	CHECK_EQ(bench.count, 2);
	/* A host that moves is found at its new port. */
	bench_forget(&bench);
	{
		uint8_t bytes[100];

		bench_send(&bench, 3, bytes, bench_build(bytes, 2, 0, -1, 0, 100));
	}
	bench_flow(&bench, 0, 2, -1, 100);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench_count(&bench, 3), 1);
	CHECK_EQ(bench_count(&bench, 2), 0);
	/* To one behind the same port: nowhere. */
	bench_forget(&bench);
	bench_flow(&bench, 0, 0, -1, 100);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 0);
	CHECK_EQ(bench_port(&bench, 0).nowhere, 1);
	bench_destroy(&bench);
}

TERN_TEST(addresses_age)
{
	struct bench bench;
	uint8_t mac[6];

	bench_create(&bench, &(struct tern_switch_config){ .ports = 3, .ageing_ns = 1000000 });
	bench_mac(mac, 1);
	bench_flow(&bench, 1, 0, -1, 64);
	bench_advance(&bench, 999999);
	CHECK_EQ(tern_switch_lookup(bench.sw, mac, 0), 1);
	bench_advance(&bench, 1);
	CHECK_EQ(tern_switch_lookup(bench.sw, mac, 0), -1);
	bench_forget(&bench);
	bench_flow(&bench, 0, 1, -1, 64);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 2);
	/* A port that goes down takes its addresses with it. */
	bench_flow(&bench, 1, 0, -1, 64);
	tern_switch_set_carrier(bench.sw, 1, false);
	CHECK_EQ(tern_switch_lookup(bench.sw, mac, 0), -1);
	bench_destroy(&bench);
}

/* However many addresses a host makes up, the table is bounded and others' frames arrive. */
TERN_TEST(address_flood)
{
	struct tern_switch_buffer_statistics buffer;
	struct bench bench;
	uint8_t bytes[64];

	bench_create(&bench, &(struct tern_switch_config){ .ports = 3 });
	bench.keep = false;
	for (uint32_t i = 0; i < 200000; i++) {
		bench_build(bytes, 0, 1, -1, 0, 64);
		memcpy(bytes + 7, &i, 4);
		bench_send(&bench, 0, bytes, 64);
		bench_advance(&bench, 100);
	}
	tern_switch_get_buffer(bench.sw, &buffer);
	CHECK(buffer.fdb_entries > 10000 && buffer.fdb_entries <= 16384);
	CHECK_EQ(buffer.used, 0);
	bench.keep = true;
	bench_flow(&bench, 1, 2, -1, 64);
	bench_flow(&bench, 2, 1, -1, 64);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench_count(&bench, 1), 1);
	bench_destroy(&bench);
}

TERN_TEST(reserved_addresses_stay)
{
	struct bench bench;
	uint8_t bytes[64];

	bench_create(&bench, &(struct tern_switch_config){ .ports = 3 });
	for (unsigned int last = 0; last < 0x20; last++) {
		bench_build(bytes, 0, 1, -1, 0, 64);
		memcpy(bytes, (uint8_t[]){ 0x01, 0x80, 0xc2, 0, 0, (uint8_t)last }, 6);
		bench_send(&bench, 0, bytes, 64);
		bench_advance(&bench, 1000);
		/* 01-80-C2-00-00-10 and on are groups like others. */
		CHECK_EQ(bench.count, last < 0x10 ? 0 : 2 * (last - 0x0f));
	}
	CHECK_EQ(bench_port(&bench, 0).reserved, 16);
	/* MAC control is consumed whatever its address. */
	bench_forget(&bench);
	bench_build(bytes, 0, 1, -1, 0, 64);
	bytes[12] = 0x88;
	bytes[13] = 0x08;
	bench_send(&bench, 0, bytes, 64);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 0);
	CHECK_EQ(bench_port(&bench, 0).control, 1);
	CHECK_EQ(bench_port(&bench, 0).bad_control, 1);
	bench_destroy(&bench);
}

TERN_TEST(vlans)
{
	struct bench bench;
	uint8_t bytes[100];

	bench_create(&bench, &(struct tern_switch_config){ .ports = 4, .vlan_filtering = true });
	/* 0 and 1 untagged in 10; 2 tagged in 10 and 20; 3 stays in 1. */
	for (unsigned int port = 0; port < 2; port++) {
		CHECK_EQ(tern_switch_set_vlan(bench.sw, port, 10, TERN_SWITCH_VLAN_UNTAGGED), 0);
		CHECK_EQ(tern_switch_set_vlan(bench.sw, port, 1, TERN_SWITCH_VLAN_NONE), 0);
		CHECK_EQ(tern_switch_set_pvid(bench.sw, port, 10), 0);
	}
	CHECK_EQ(tern_switch_set_vlan(bench.sw, 2, 10, TERN_SWITCH_VLAN_TAGGED), 0);
	CHECK_EQ(tern_switch_set_vlan(bench.sw, 2, 20, TERN_SWITCH_VLAN_TAGGED), 0);
	CHECK_EQ(tern_switch_set_vlan(bench.sw, 2, 1, TERN_SWITCH_VLAN_NONE), 0);
	bench_flow(&bench, 0, 0xff, -1, 100);
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 2);
	CHECK_EQ(bench.frames[0].port, 1);
	CHECK_EQ(bench.frames[0].length, 100);
	bench_build(bytes, 0, 0xff, -1, 0, 100);
	CHECK_MEM(bench.frames[0].start, bytes, 64);
	CHECK_EQ(bench.frames[1].port, 2);
	CHECK_EQ(bench.frames[1].length, 104);
	CHECK_MEM(bench.frames[1].start, bytes, 12);
	CHECK_MEM(bench.frames[1].start + 12, "\x81\x00\x00\x0a\x88\xb5", 6);
	/* The other way: the tag goes, and only VLAN 10 goes to 0 and 1. */
	bench_forget(&bench);
	bench_send(&bench, 2, bytes, bench_build(bytes, 2, 0xff, 5, 10, 100));
	bench_send(&bench, 2, bytes, bench_build(bytes, 2, 0xff, 5, 20, 100));
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 2);
	CHECK_EQ(bench.frames[0].length, 96);
	CHECK_MEM(bench.frames[0].start + 12, "\x88\xb5", 2);
	CHECK_EQ(bench_port(&bench, 0).priority[5].tx_packets, 1);
	/* Not a member; no pvid (2 is not in its own); what is no VLAN. */
	bench_forget(&bench);
	bench_send(&bench, 0, bytes, bench_build(bytes, 0, 0xff, 0, 20, 100));
	bench_flow(&bench, 2, 0xff, -1, 100);
	bench_send(&bench, 2, bytes, bench_build(bytes, 2, 0xff, 0, 4095, 100));
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 0);
	CHECK_EQ(bench_port(&bench, 0).vlan_filtered, 1);
	CHECK_EQ(bench_port(&bench, 2).vlan_filtered, 2);
	CHECK(tern_switch_set_vlan(bench.sw, 0, 0, TERN_SWITCH_VLAN_TAGGED) < 0);
	CHECK(tern_switch_set_vlan(bench.sw, 0, 4095, TERN_SWITCH_VLAN_TAGGED) < 0);
	CHECK(tern_switch_set_vlan(bench.sw, 4, 5, TERN_SWITCH_VLAN_TAGGED) < 0);
	CHECK(tern_switch_set_pvid(bench.sw, 0, 4095) < 0);
	bench_destroy(&bench);
}

TERN_TEST(priority_from_pcp_or_dscp)
{
	struct tern_switch_config config = { .ports = 2, .port[1].trust_dscp = true };
	struct bench bench;
	uint8_t bytes[100];

	config.port[0].default_priority = 2;
	bench_create(&bench, &config);
	for (int dscp = 0; dscp < 64; dscp++) {
		bench_build(bytes, 1, 0, 7, 0, 100);
		memcpy(bytes + 16, "\x08\x00\x45", 3);
		bytes[19] = (uint8_t)(dscp << 2);
		bench_send(&bench, 1, bytes, 100);
		CHECK_EQ(bench_port(&bench, 1).priority[dscp >> 3].rx_packets,
			 2 * (dscp % 8) + 1);
		memcpy(bytes + 16, "\x86\xdd", 2);
		bytes[18] = (uint8_t)(0x60 | dscp >> 2);
		bytes[19] = (uint8_t)(dscp << 6);
		bench_send(&bench, 1, bytes, 100);
		CHECK_EQ(bench_port(&bench, 1).priority[dscp >> 3].rx_packets,
			 2 * (dscp % 8) + 2);
		bench_advance(&bench, 100);
	}
	/* The other port looks at the tag; without one it has its default. */
	memcpy(bytes + 16, "\x08\x00\x45\xff", 4);
	bytes[14] = 3 << 5;
	bench_send(&bench, 0, bytes, 100);
	CHECK_EQ(bench_port(&bench, 0).priority[3].rx_packets, 1);
	bench_flow(&bench, 0, 1, -1, 100);
	CHECK_EQ(bench_port(&bench, 0).priority[2].rx_packets, 1);
	bench_destroy(&bench);
}

TERN_TEST(delay_is_exact)
{
	struct tern_switch_config config = { .ports = 2 };
	struct bench bench;
	uint64_t sent;

	config.port[1].delay_ns = 12345;
	config.port[1].speed_mbps = 1000;
	bench_create(&bench, &config);
	sent = bench.now;
	bench_flow(&bench, 0, 1, -1, 976);
	bench_flow(&bench, 0, 1, -1, 976);
	bench_advance(&bench, 100000);
	/* 1000 bytes with preamble, FCS and gap: 8 us at 1 Gb/s. */
	CHECK_EQ(bench.count, 2);
	CHECK_EQ(bench.frames[0].time - sent, 8000 + 12345);
	CHECK_EQ(bench.frames[1].time - sent, 16000 + 12345);
	bench_destroy(&bench);
}

static uint64_t impaired_run(uint64_t seed, struct tern_switch_port_statistics *statistics)
{
	struct tern_switch_config config = { .ports = 2, .seed = seed };
	struct bench bench;
	uint64_t sum = 0;

	config.port[1] = (struct tern_switch_port_config){
		.drop = 0.1, .duplicate = 0.2, .corrupt = 0.05, .delay = 0.3,
		.extra_delay_ns = 777, .speed_mbps = 10000,
	};
	bench_create(&bench, &config);
	for (int i = 0; i < 10000; i++) {
		bench_flow(&bench, 0, 1, -1, 60 + (size_t)i % 1000);
		bench_advance(&bench, 300 + (uint64_t)i % 700);
	}
	bench_advance(&bench, 1000000);
	*statistics = bench_port(&bench, 1);
	CHECK_EQ(bench.count, 10000 - statistics->impaired_drop + statistics->impaired_duplicate);
	CHECK_EQ(bench_used(&bench), 0);
	for (size_t i = 0; i < bench.count; i++)
		sum = sum * 1000003 + bench.frames[i].sum + bench.frames[i].time;
	bench_destroy(&bench);
	return sum;
}

TERN_TEST(impairments_follow_the_seed)
{
	struct tern_switch_port_statistics one, two;
	uint64_t sum = impaired_run(1, &one);

	CHECK(impaired_run(1, &two) == sum);
	CHECK(impaired_run(2, &two) != sum);
	/* Six standard deviations of binomials of 10000. */
	CHECK(llabs((long long)one.impaired_drop - 1000) < 180);
	CHECK(llabs((long long)one.impaired_duplicate - 1800) < 240);
	CHECK(llabs((long long)one.impaired_corrupt - 450) < 130);
	CHECK(llabs((long long)one.impaired_delay - 2700) < 280);
}

/* A frame whose ICRC is pending stays so, in parts; one that is corrupted is completed first. */
TERN_TEST(pending_icrc_stays_pending)
{
	struct bench bench;
	uint8_t header[54], payload[1000];
	struct tern_segment segments[2] = { { payload, 400 }, { payload + 400, 600 } };
	struct tern_frame frame = {
		.header = header, .header_length = 54, .payload = segments, .payload_count = 2,
		.payload_length = 1000, .trailer_length = 4, .icrc_pending = true,
	};
	uint8_t want[1058], *got;

	bench_build(header, 0, 1, -1, 0, sizeof(header));
	memcpy(header + 12, "\x08\x00\x45\x02", 4);
	header[23] = 17;
	memcpy(header + 36, "\x12\xb7", 2);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7);
	bench_create(&bench, &(struct tern_switch_config){ .ports = 2 });
	CHECK_EQ(tern_frame_flatten(&frame, want, sizeof(want)), sizeof(want));
	tern_switch_receive(bench.sw, 0, &frame);
	/* The guest changes its memory: the switch has a copy. */
	memset(payload, 0, sizeof(payload));
	bench_advance(&bench, 1000);
	CHECK_EQ(bench.count, 1);
	CHECK_EQ(bench.frames[0].length, sizeof(want));
	{
		uint64_t sum = 0;

		got = want;
		for (size_t i = 0; i < sizeof(want); i++)
			sum = sum * 31 + got[i];
		CHECK(bench.frames[0].sum == sum);
	}
	bench_destroy(&bench);
}

TERN_TEST(lengths)
{
	struct bench bench;
	uint8_t bytes[TERN_SWITCH_FRAME_MAX + 1];

	bench_create(&bench, &(struct tern_switch_config){ .ports = 2 });
	for (size_t length = 0; length <= sizeof(bytes); length++) {
		bench_build(bytes, 0, 1, -1, 0, sizeof(bytes));
		bench_send(&bench, 0, bytes, length);
		bench_advance(&bench, 10);
	}
	CHECK_EQ(bench.count, TERN_SWITCH_FRAME_MAX - 14 + 1);
	CHECK_EQ(bench.frames[bench.count - 1].length, TERN_SWITCH_FRAME_MAX);
	CHECK_EQ(bench_port(&bench, 0).runts, 14);
	CHECK_EQ(bench_port(&bench, 0).oversize, 1);
	CHECK_EQ(bench_used(&bench), 0);
	bench_destroy(&bench);
}

/* Random bytes with the interesting values where they hurt: nothing breaks, nothing leaks. */
TERN_TEST(hostile_frames)
{
	static const uint16_t types[] = { 0x8100, 0x0800, 0x86dd, 0x8808, 0x8915, 0x88b5 };
	struct tern_switch_config config = {
		.ports = 4, .vlan_filtering = true, .pfc_priorities = 0x18, .headroom_bytes = 20000,
		.buffer_bytes = 300000, .priorities[0] = { .kmin = 1, .kmax = 5000, .pmax = 1 },
	};
	struct bench bench;
	uint32_t state = 12345;

	for (int i = 0; i < 4; i++) {
		config.port[i].trust_dscp = i & 1;
		config.port[i].speed_mbps = 1000;
		config.port[i].corrupt = 0.1;
	}
	bench_create(&bench, &config);
	bench.keep = false;
	for (int i = 0; i < 200000; i++) {
		size_t length = (size_t)(state >> 8) % 80;
		uint8_t *bytes = malloc(length ? length : 1);

		for (size_t j = 0; j < length; j++) {
			state = state * 1664525U + 1013904223U;
			bytes[j] = (uint8_t)(state >> 24);
		}
		if (length > 19) {
			bytes[6] &= 0xfe;
			bytes[12] = (uint8_t)(types[i % 6] >> 8);
			bytes[13] = (uint8_t)types[i % 6];
			if (i % 3) {
				bytes[16] = (uint8_t)(types[i / 6 % 6] >> 8);
				bytes[17] = (uint8_t)types[i / 6 % 6];
			}
			if (i % 4)
				memset(bytes + 14, 0, 2);
		}
		bench_send(&bench, (unsigned int)i % 5, bytes, length);
		free(bytes);
		if (i % 50 == 0)
			bench_advance(&bench, state >> 16);
		if (i % 5000 == 0) {
			tern_switch_set_carrier(bench.sw, (unsigned int)i / 5000 % 5, false);
			tern_switch_set_carrier(bench.sw, (unsigned int)i / 5000 % 5, true);
		}
		CHECK(bench_used(&bench) <= config.buffer_bytes);
	}
	/* The longest pause at 1 Gb/s is 34 ms. */
	bench_advance(&bench, 1000000000);
	CHECK_EQ(bench_used(&bench), 0);
	bench_destroy(&bench);
}

TERN_TEST(bad_configurations)
{
	static const struct tern_switch_host none;
	struct tern_switch_config good = { .ports = 2 }, bad;
	char error[200];

#define REFUSED(field, value)							\
	do {									\
		bad = good;							\
		bad.field = (value);						\
		error[0] = '\0';						\
		CHECK(!tern_switch_create(&bad, &none, NULL, error, sizeof(error)));	\
		CHECK(error[0]);						\
	} while (0)
	REFUSED(ports, 0);
	REFUSED(ports, 65);
	REFUSED(buffer_bytes, TERN_SWITCH_BUFFER_MAX + 1);
	REFUSED(buffer_bytes, 1000);
	REFUSED(headroom_bytes, UINT64_MAX);
	REFUSED(alpha, -1);
	REFUSED(alpha, 1e9);
	REFUSED(average_shift, 17);
	REFUSED(port[1].drop, 1.5);
	REFUSED(port[1].delay_ns, UINT64_MAX);
	REFUSED(port[0].default_priority, 8);
	REFUSED(port[0].speed_mbps, TERN_SWITCH_SPEED_MAX + 1);
	REFUSED(priorities[1].kmin, 1);
	REFUSED(priorities[1].pmax, 2);
	good.pfc_priorities = 0xff;
	good.buffer_bytes = 2 << 20;
	REFUSED(headroom_bytes, 200000);
	REFUSED(priorities[7].wred_drop, true);
}

/* Without a word of buffers there is headroom for all that is lossless. */
TERN_TEST(default_buffer)
{
	struct tern_switch_config config = { .ports = 64, .pfc_priorities = 0xff };
	struct tern_switch_buffer_statistics buffer;
	struct bench bench;

	bench_create(&bench, &config);
	tern_switch_get_buffer(bench.sw, &buffer);
	CHECK_EQ(buffer.shared_size, 2 << 20);
	CHECK_EQ(buffer.size, (2 << 20) + 64 * 8 * (64 << 10));
	bench_destroy(&bench);
}

/* A port is changed while the others work on; what is refused changes nothing. */
TERN_TEST(ports_change)
{
	struct tern_switch_port_config port = { .speed_mbps = 1000, .delay_ns = 5000 };
	struct bench bench;
	char error[100];

	bench_create(&bench, &(struct tern_switch_config){ .ports = 2 });
	CHECK_EQ(tern_switch_set_port(bench.sw, 1, &port, error, sizeof(error)), 0);
	/* 976 bytes and what is around them take 8 us at 1 Gb/s, then comes the delay. */
	bench_flow(&bench, 0, 1, -1, 976);
	bench_advance(&bench, 12999);
	CHECK_EQ(bench.count, 0);
	port.delay_ns = 0;
	port.default_priority = 8;
	CHECK_EQ(tern_switch_set_port(bench.sw, 1, &port, error, sizeof(error)), -1);
	CHECK_STR(error, "a default priority is above 7");
	port.default_priority = 7;
	CHECK_EQ(tern_switch_set_port(bench.sw, 2, &port, error, sizeof(error)), -1);
	CHECK_STR(error, "there is no such port");
	bench_advance(&bench, 1);
	CHECK_EQ(bench.count, 1);
	bench_destroy(&bench);
}
