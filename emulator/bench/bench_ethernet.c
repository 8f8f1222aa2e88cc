// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: how fast Ethernet is on one core: two NICs and both their hosts in one
 * thread, joined by a wire that costs nothing: work request, segmentation,
 * checksums made and verified, filter, RSS, copy, completion.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host_ethernet.h"

#define SECONDS		1.0
#define RECEIVES	100

struct load {
	const char *name;
	size_t payload;			/* of one request */
	unsigned int mss;		/* 0: one frame, with checksum */
	uint32_t mtu;
	unsigned int frames;		/* that a request makes */
};

static const struct load loads[] = {
	{ "TSO 62 KB, MTU 1500", 1448 * 44, 1448, 1500, 44 },
	{ "TSO 62 KB, MTU 9000", 8900 * 7, 8900, 9000, 7 },
	{ "frames of 1514 B", 1460, 0, 1500, 1 },
	{ "frames of 60 B", 6, 0, 1500, 1 },
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static unsigned int reap(struct driver_cq *cq)
{
	struct tern_cqe cqe;
	unsigned int count = 0;

	for (; driver_cq_poll(cq, &cqe); count++) {
		if (cqe.status) {
			fprintf(stderr, "bench: completion with status %u\n", cqe.status);
			exit(1);
		}
	}
	return count;
}

static void set_rss(struct net *net)
{
	struct tern_command_set_rss body = { .count = htole16(128), .types = 0x3f };
	uint64_t table = host_alloc(net->machine, 512, 4096);
	uint32_t *entries = host_pointer(net->machine, table);

	for (unsigned int i = 0; i < 128; i++)
		entries[i] = htole32(net->qps[0].qpn);
	for (unsigned int i = 0; i < sizeof(body.key); i++)
		body.key[i] = (uint8_t)(i * 37 + 11);
	body.table = htole64(table);
	if (driver_command(&net->driver, TERN_COMMAND_SET_RSS, 0, &body, sizeof(body)))
		exit(1);
}

static void measure(const struct load *load, bool no_shortcuts)
{
	static const uint8_t macs[2][6] = { { 2, 0, 0, 0, 0, 0xa }, { 2, 0, 0, 0, 0, 0xb } };
	static const struct net_headers headers = { .destination = macs[1], .source = macs[0] };
	static uint8_t frame[70000];
	struct tern_nic_config config = host_default_config;
	struct world *world = world_create();
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_CHECKSUM),
			.checksum_start = htole16(34), .checksum_offset = htole16(16),
			.mss = htole16((uint16_t)load->mss), .header_length = htole16(54),
			.l3_offset = htole16(14),
		},
		.piece_count = load->mss ? 17 : 1,
	};
	size_t length = net_build(frame, &headers, load->payload, 1);
	unsigned int received = 0, posted = 0;
	struct machine *machines[2];
	struct net nets[2];
	double start, used;

	if (load->mss)
		how.ethernet.flags = htole16(TERN_WQE_ETHERNET_TSO);
	how.pieces[0] = 54;
	for (unsigned int i = 1; i < 16; i++)
		how.pieces[i] = 4096;
	config.no_shortcuts = no_shortcuts;
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; j < 6; j++)
			config.mac[j] = macs[i][j];
		machines[i] = machine_create(world, &config, 0);
	}
	host_cable(machines[0], machines[1], 0);
	for (unsigned int i = 0; i < 2; i++) {
		net_start(&nets[i], machines[i], 0, 1, 0);
		net_set_port(&nets[i], load->mtu, TERN_PORT_UP);
		net_receive_mode(&nets[i], TERN_RECEIVE_CHECKSUM | TERN_RECEIVE_VLAN_STRIP);
		set_rss(&nets[i]);
	}
	world->real_clock = true;
	start = seconds();
	do {
		for (unsigned int round = 0; round < 64; round++) {
			unsigned int frames = 0;

			while (posted - received < RECEIVES) {
				net_post_receives(&nets[1], 0, 1, 9216);
				posted++;
			}
			for (; frames + load->frames <= RECEIVES / 2; frames += load->frames)
				net_send(&nets[0], frame, length, &how);
			while (host_run(machines[0], 64))
				;
			host_run(machines[1], 64);
			reap(&nets[0].send_cq);
			received += reap(&nets[1].receive_cq);
		}
		used = seconds() - start;
	} while (used < SECONDS);
	printf("%-20s %-17s %6.2f GB/s %9.0f frames/s %6.0f ns each\n", load->name,
	       no_shortcuts ? "without shortcuts" : "with shortcuts",
	       (double)received / load->frames * (double)load->payload / used / 1e9,
	       received / used, used / received * 1e9);
	world_destroy(world);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		measure(&loads[i], false);
		measure(&loads[i], true);
	}
	return 0;
}
