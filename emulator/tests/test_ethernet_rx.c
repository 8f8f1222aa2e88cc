// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: Ethernet receive: what reaches the guest's memory. */
#include <endian.h>
#include <stdlib.h>

#include "host_ethernet.h"
#include "tern_test.h"
#include "toeplitz.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xb };
static const uint8_t key[TOEPLITZ_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static struct world *world;
static struct machine *machine;
static struct net net;
static uint8_t bytes[10000];

static const struct net_headers to_us = {
	.destination = mac_a, .source = mac_b, .source_port = 4000, .destination_port = 80,
};

static void start(unsigned int qps)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	world = world_create();
	machine = machine_create(world, &config, 0);
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, qps, 0);
}

static void arrive(const uint8_t *data, size_t length)
{
	struct tern_frame frame;

	tern_frame_wrap(&frame, data, length);
	host_receive(machine, &frame);
}

/* In pieces, as a NIC of this process sends it. */
static void arrive_in_pieces(const uint8_t *data, size_t length, size_t header, size_t piece)
{
	struct tern_segment segments[40];
	struct tern_frame frame = { .header = data, .payload = segments };
	uint8_t *copy = malloc(header);

	CHECK(copy);
	memcpy(copy, data, header);
	frame.header = copy;
	frame.header_length = header;
	frame.payload_length = length - header;
	while (header < length) {
		size_t n = length - header < piece ? length - header : piece;

		CHECK(frame.payload_count < 40);
		segments[frame.payload_count].base = data + header;
		segments[frame.payload_count].length = n;
		frame.payload_count++;
		header += n;
	}
	host_receive(machine, &frame);
	free(copy);
}

static void none_left(void)
{
	struct net_frame got;

	CHECK(!net_receive(&net, &got));
}

static uint64_t counter(const char *name)
{
	return host_counter(machine, 0, name);
}

TERN_TEST(plain_frames_many_rounds)
{
	struct net_frame got;

	start(1);
	for (unsigned int i = 0; i < 1000; i++) {
		size_t n = net_build(bytes, &to_us, i % 1461, i);

		if (i % 50 == 0)
			net_post_receives(&net, 0, 50, 1518);
		if (i & 1)
			arrive(bytes, n);
		else
			arrive_in_pieces(bytes, n, 54, 700);
		CHECK(net_receive(&net, &got));
		CHECK_EQ(got.cqe.opcode, TERN_CQE_RECEIVE_ETHERNET);
		CHECK_EQ(got.cqe.status, 0);
		CHECK_EQ(got.cqe.flags, 0);
		CHECK_EQ(le32toh(got.cqe.index), i);
		CHECK_EQ(le32toh(got.cqe.byte_count), n);
		CHECK_MEM(got.cqe.source_mac, mac_b, 6);
		CHECK_MEM(got.data, bytes, n);
	}
	CHECK_EQ(counter("rx_packets"), 1000);
	none_left();
	world_destroy(world);
}

TERN_TEST(scattered_over_many_entries)
{
	struct tern_sge sges[31];
	uint64_t memory;
	struct tern_cqe cqe;
	size_t n = net_build(bytes, &to_us, 1400, 5), done = 0;

	start(1);
	memory = host_alloc(machine, 31 * 4096, 4096);
	for (unsigned int i = 0; i < 31; i++) {
		/* Some empty ones, and one that crosses a page. */
		uint32_t length = i == 3 ? 0 : i == 7 ? 200 : 50;

		sges[i] = (struct tern_sge){ .address = htole64(memory + i * 4096 + 4000),
					     .length = htole32(length) };
	}
	driver_post_receive(&net.qps[0], sges, 31);
	arrive(bytes, n);
	CHECK(driver_cq_poll(&net.receive_cq, &cqe));
	CHECK_EQ(cqe.status, 0);
	CHECK_EQ(le32toh(cqe.byte_count), n);
	for (unsigned int i = 0; i < 31; i++) {
		size_t length = le32toh(sges[i].length);

		if (length > n - done)
			length = n - done;
		CHECK_MEM(host_pointer(machine, le64toh(sges[i].address)), bytes + done, length);
		done += length;
	}
	CHECK_EQ(done, n);
	world_destroy(world);
}

TERN_TEST(jumbo)
{
	struct net_headers h = to_us;
	struct net_frame got;
	size_t n = net_build(bytes, &h, 9000 - 40, 5);

	start(1);
	net_post_receives(&net, 0, 4, 9018);
	arrive(bytes, n);
	none_left();
	CHECK_EQ(counter("rx_too_long"), 1);
	CHECK_EQ(net_set_port(&net, 9000, TERN_PORT_UP), 0);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(le32toh(got.cqe.byte_count), 9014);
	CHECK_MEM(got.data, bytes, n);
	/* A tag does not count, a byte more does. */
	h.tagged = true;
	n = net_build(bytes, &h, 9000 - 40, 5);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_MEM(got.data, bytes, n);
	arrive(bytes, net_build(bytes, &h, 9000 - 39, 5));
	none_left();
	CHECK_EQ(counter("rx_too_long"), 2);
	world_destroy(world);
}

/* A frame that is longer than the entry is lost, the entry is not. */
TERN_TEST(entry_too_small_is_kept)
{
	struct net_frame got;
	size_t n;

	start(1);
	net_post_receives(&net, 0, 1, 100);
	arrive(bytes, net_build(bytes, &to_us, 47, 5));
	none_left();
	CHECK_EQ(counter("rx_too_long"), 1);
	n = net_build(bytes, &to_us, 46, 5);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(le32toh(got.cqe.index), 0);
	CHECK_MEM(got.data, bytes, n);
	world_destroy(world);
}

TERN_TEST(no_entry)
{
	struct net_frame got;
	size_t n = net_build(bytes, &to_us, 46, 5);

	start(1);
	arrive(bytes, n);
	CHECK_EQ(counter("rx_no_buffer"), 1);
	CHECK_EQ(counter("rx_packets"), 1);
	net_post_receives(&net, 0, 1, 2048);
	arrive(bytes, n);
	arrive(bytes, n);
	CHECK_EQ(counter("rx_no_buffer"), 2);
	CHECK(net_receive(&net, &got));
	none_left();
	/* Not in a state that receives. */
	net_post_receives(&net, 0, 1, 2048);
	CHECK_EQ(driver_qp_modify(&net.qps[0], TERN_QP_RESET, 0, NULL), 0);
	arrive(bytes, n);
	CHECK_EQ(counter("rx_no_buffer"), 3);
	none_left();
	world_destroy(world);
}

TERN_TEST(every_short_length)
{
	struct net_frame got;
	size_t n = net_build(bytes, &to_us, 46, 5);

	start(1);
	net_post_receives(&net, 0, 100, 2048);
	for (size_t length = 0; length < n; length++) {
		uint8_t *exact = malloc(length ? length : 1);

		CHECK(exact);
		memcpy(exact, bytes, length);
		arrive(exact, length);
		free(exact);
		CHECK_EQ(net_receive(&net, &got), length >= 14);
	}
	CHECK_EQ(counter("rx_too_short"), 14);
	world_destroy(world);
}

TERN_TEST(vlan_strip)
{
	struct net_headers h = to_us;
	struct net_frame got;
	size_t n;

	start(1);
	net_post_receives(&net, 0, 10, 2048);
	h.tagged = true;
	h.tci = 0xe123;
	n = net_build(bytes, &h, 900, 6);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK(!(got.cqe.flags & TERN_CQE_FLAG_VLAN));
	CHECK_MEM(got.data, bytes, n);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_VLAN_STRIP | TERN_RECEIVE_CHECKSUM), 0);
	/* Whole, and cut at places in and around the tag. */
	for (size_t cut = 13; cut < 21; cut++) {
		if (cut == 13)
			arrive(bytes, n);
		else
			arrive_in_pieces(bytes, n, cut, 500);
		CHECK(net_receive(&net, &got));
		CHECK_EQ(got.cqe.flags, TERN_CQE_FLAG_VLAN | TERN_CQE_FLAG_L3_CHECKSUM_OK |
			 TERN_CQE_FLAG_L4_CHECKSUM_OK);
		CHECK_EQ(le16toh(got.cqe.vlan_tci), 0xe123);
		CHECK_EQ(le32toh(got.cqe.byte_count), n - 4);
		CHECK_MEM(got.data, bytes, 12);
		CHECK_MEM(got.data + 12, bytes + 16, n - 16);
	}
	world_destroy(world);
}

static uint8_t flags_of(size_t n)
{
	struct net_frame got;

	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.status, 0);
	return got.cqe.flags;
}

TERN_TEST(checksum_flags)
{
	const uint8_t l3 = TERN_CQE_FLAG_L3_CHECKSUM_OK, l4 = TERN_CQE_FLAG_L4_CHECKSUM_OK;
	uint64_t errors = 0;

	start(1);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_CHECKSUM), 0);
	for (unsigned int kind = 0; kind < 8; kind++) {
		struct net_headers h = to_us;
		uint8_t ok = kind & 1 ? l4 : l3 | l4;

		h.ipv6 = kind & 1;
		h.udp = kind & 2;
		h.tagged = kind & 4;
		for (size_t payload = 0; payload < 600; payload += 37) {
			size_t n = net_build(bytes, &h, payload, kind);

			net_post_receives(&net, 0, 6, 2048);
			CHECK_EQ(flags_of(n), ok);
			/* Padding behind the packet is not part of it. */
			memset(bytes + n, 0x5a, 7);
			CHECK_EQ(flags_of(n + 7), ok);
			/* Each part, wrong by one bit. */
			bytes[n - 1] ^= 0x10;
			CHECK_EQ(flags_of(n), kind & 1 ? 0 : l3);
			bytes[n - 1] ^= 0x10;
			bytes[net_l4(&h)] ^= 1;
			CHECK_EQ(flags_of(n), kind & 1 ? 0 : l3);
			bytes[net_l4(&h)] ^= 1;
			errors += 2;
			if (!h.ipv6) {
				bytes[net_l3(&h) + 1] ^= 0x80;
				CHECK_EQ(flags_of(n), 0);
				errors++;
				bytes[net_l3(&h) + 1] ^= 0x80;
			} else {
				bytes[net_l3(&h) + 8] ^= 0x80;
				CHECK_EQ(flags_of(n), 0);
				errors++;
				bytes[net_l3(&h) + 8] ^= 0x80;
			}
			CHECK_EQ(flags_of(n), ok);
			CHECK_EQ(counter("rx_checksum_errors"), errors);
		}
	}
	world_destroy(world);
}

TERN_TEST(frames_without_a_checksum)
{
	struct net_headers h = to_us;
	size_t n;

	start(1);
	net_post_receives(&net, 0, 10, 2048);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_CHECKSUM), 0);
	/* ARP */
	n = net_build(bytes, &h, 10, 1);
	bytes[12] = 8;
	bytes[13] = 6;
	CHECK_EQ(flags_of(n), 0);
	/* UDP that says it has none */
	h.udp = true;
	n = net_build(bytes, &h, 10, 1);
	bytes[net_l4(&h) + 6] = 0;
	bytes[net_l4(&h) + 7] = 0;
	CHECK_EQ(flags_of(n), TERN_CQE_FLAG_L3_CHECKSUM_OK);
	h.ipv6 = true;
	n = net_build(bytes, &h, 10, 1);
	bytes[net_l4(&h) + 6] = 0;
	bytes[net_l4(&h) + 7] = 0;
	CHECK_EQ(flags_of(n), 0);
	/* ICMP */
	h.ipv6 = false;
	n = net_build(bytes, &h, 10, 1);
	bytes[23] = 1;
	bytes[24] = 0;
	bytes[25] = 0;
	CHECK_EQ(flags_of(n), 0);
	CHECK_EQ(counter("rx_checksum_errors"), 1);
	world_destroy(world);
}

static uint16_t set_rss(const unsigned int *queues, uint16_t count, uint8_t types)
{
	struct tern_command_set_rss body = { .count = htole16(count), .types = types };
	uint64_t table = host_alloc(machine, 4096, 4096);
	uint32_t *entries = host_pointer(machine, table);

	for (unsigned int i = 0; i < count; i++)
		entries[i] = htole32(net.qps[queues[i]].qpn);
	body.table = htole64(table);
	memcpy(body.key, key, sizeof(key));
	return driver_command(&net.driver, TERN_COMMAND_SET_RSS, 0, &body, sizeof(body));
}

static uint32_t expect_hash(const struct net_headers *h, bool ports)
{
	struct toeplitz toeplitz;
	uint8_t input[36];
	size_t n = h->ipv6 ? 32 : 8;

	memcpy(input, bytes + net_l3(h) + (h->ipv6 ? 8 : 12), n);
	memcpy(input + n, bytes + net_l4(h), 4);
	toeplitz_prepare(&toeplitz, key);
	return toeplitz_hash(&toeplitz, input, ports ? n + 4 : n);
}

TERN_TEST(rss_spreads_and_reports)
{
	static const unsigned int queues[8] = { 0, 1, 2, 3, 3, 2, 1, 0 };
	static const uint8_t types[8] = {
		TERN_RSS_IPV4_TCP, TERN_RSS_IPV6_TCP, TERN_RSS_IPV4_UDP, TERN_RSS_IPV6_UDP,
		TERN_RSS_IPV4_TCP, TERN_RSS_IPV6_TCP, TERN_RSS_IPV4_UDP, TERN_RSS_IPV6_UDP,
	};
	unsigned int seen[4] = { 0 };

	start(4);
	CHECK_EQ(set_rss(queues, 8, 0x3f), 0);
	for (unsigned int i = 0; i < 400; i++) {
		struct net_headers h = to_us;
		struct net_frame got;
		uint32_t hash;

		h.ipv6 = i & 1;
		h.udp = i & 2;
		h.tagged = i & 4;
		h.source_port = (uint16_t)(i * 7919);
		for (unsigned int q = 0; q < 4; q++) {
			if (net.qps[q].rq_producer == seen[q])
				net_post_receives(&net, q, 1, 2048);
		}
		arrive(bytes, net_build(bytes, &h, 10, i));
		hash = expect_hash(&h, true);
		CHECK(net_receive(&net, &got));
		CHECK_EQ(le32toh(got.cqe.hash), hash);
		CHECK_EQ(got.cqe.hash_type, types[i & 7]);
		CHECK_EQ(got.qp, queues[hash % 8]);
		seen[got.qp]++;
	}
	for (unsigned int q = 0; q < 4; q++)
		CHECK(seen[q] > 40);
	world_destroy(world);
}

TERN_TEST(rss_types)
{
	static const unsigned int queues[2] = { 0, 1 };
	struct net_headers h = to_us;
	struct net_frame got;
	size_t n;

	start(2);
	net_post_receives(&net, 0, 50, 2048);
	net_post_receives(&net, 1, 50, 2048);
	CHECK_EQ(set_rss(queues, 2, TERN_RSS_IPV4 | TERN_RSS_IPV4_TCP), 0);
	h.udp = true;		/* no UDP hash: addresses only */
	arrive(bytes, net_build(bytes, &h, 10, 1));
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.hash_type, TERN_RSS_IPV4);
	CHECK_EQ(le32toh(got.cqe.hash), expect_hash(&h, false));
	h.ipv6 = true;		/* nothing applies: the table's first entry */
	arrive(bytes, net_build(bytes, &h, 10, 1));
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.hash_type, 0);
	CHECK_EQ(le32toh(got.cqe.hash), 0);
	CHECK_EQ(got.qp, 0);
	h = to_us;		/* a fragment has no ports */
	n = net_build(bytes, &h, 10, 1);
	bytes[20] = 0x20;
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.hash_type, TERN_RSS_IPV4);
	/* The ports stand in the second piece of the frame. */
	n = net_build(bytes, &h, 10, 1);
	arrive_in_pieces(bytes, n, 30, 9);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.hash_type, TERN_RSS_IPV4_TCP);
	CHECK_EQ(le32toh(got.cqe.hash), expect_hash(&h, true));
	/* Off: the default queue pair again, without a hash. */
	CHECK_EQ(set_rss(queues, 0, 0), 0);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.qp, 0);
	CHECK_EQ(got.cqe.hash_type, 0);
	world_destroy(world);
}

/* Payload, then the completion, then the interrupt: seen through memory that cannot be mapped. */
TERN_TEST(order_of_stores)
{
	size_t n = net_build(bytes, &to_us, 1400, 2), payload = 0, entry = 0, interrupt = 0;

	start(1);
	net_post_receives(&net, 0, 1, 2048);
	driver_cq_arm(&net.receive_cq, TERN_ARM_NEXT);
	driver_eq_arm(&net.driver, &net.driver.eq);	/* PORT_STATE took the first arming */
	host_set_pages(machine, net.buffers[0], 4096, HOST_PAGE_UNMAPPABLE);
	host_set_pages(machine, net.receive_cq.ring, 4096, HOST_PAGE_UNMAPPABLE);
	host_record_start(machine);
	arrive(bytes, n);
	for (size_t i = 0; i < machine->event_count; i++) {
		const struct host_event *event = &machine->events[i];

		if (event->type == HOST_EVENT_INTERRUPT)
			interrupt = i + 1;
		else if (event->type == HOST_EVENT_WRITE && event->address >= net.buffers[0] &&
			 event->address < net.buffers[0] + 2048)
			payload = i + 1;
		else if (event->type == HOST_EVENT_WRITE && !entry &&
			 event->address >= net.receive_cq.ring &&
			 event->address < net.receive_cq.ring + 4096)
			entry = i + 1;
	}
	CHECK(payload && entry && interrupt);
	CHECK(payload < entry);
	CHECK(entry < interrupt);
	CHECK_MEM(host_pointer(machine, net.buffers[0]), bytes, n);
	world_destroy(world);
}

TERN_TEST(bad_memory_and_bad_entries)
{
	struct tern_sge sge = { .length = htole32(2048), .key = htole32(0x700) };
	size_t n = net_build(bytes, &to_us, 900, 2);
	struct net_frame got;
	uint8_t *raw;

	start(1);
	net_post_receives(&net, 0, 1, 2048);
	host_set_pages(machine, net.buffers[0], NET_BUFFER, HOST_PAGE_ABSENT);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.status, TERN_WC_LOCAL_PROTECTION);
	CHECK_EQ(got.cqe.byte_count, 0);
	/* A key that is none. */
	driver_post_receive(&net.qps[0], &sge, 1);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.status, TERN_WC_LOCAL_PROTECTION);
	/* More SGEs than the entry holds. */
	raw = host_pointer(machine, net.qps[0].rq + 2 * 512);
	driver_post_receive(&net.qps[0], &sge, 1);
	raw[0] = 32;
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.status, TERN_WC_LOCAL_QP_OPERATION);
	CHECK_EQ(le32toh(got.cqe.index), 2);
	CHECK_EQ(counter("rx_errors"), 3);
	/* And the queue works on. */
	net_post_receives(&net, 0, 1, 2048);
	arrive(bytes, n);
	CHECK(net_receive(&net, &got));
	CHECK_EQ(got.cqe.status, 0);
	CHECK_MEM(got.data, bytes, n);
	/* An index outside the ring ends it. */
	*(uint32_t *)host_pointer(machine, net.qps[0].rq_record) = htole32(4 + NET_RING + 1);
	arrive(bytes, n);
	CHECK_EQ(counter("rx_errors"), 4);
	world_settle(world);
	{
		struct tern_nic_qp_info info;

		CHECK(tern_nic_next_qp(machine->nic, 0, net.qps[0].qpn, &info));
		CHECK_STR(info.state, "error");
	}
	arrive(bytes, n);
	none_left();
	world_destroy(world);
}

/* From NIC to NIC by reference: checksums, TSO, a reply; with and without shortcuts. */
static void between_two(bool no_shortcuts)
{
	struct tern_nic_config config = host_default_config;
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_TSO), .mss = htole16(1460),
			.header_length = htole16(54), .l3_offset = htole16(14),
		},
	};
	static uint8_t big[40000];
	struct machine *other;
	struct net theirs;
	struct net_frame got;
	size_t n = net_build(big, &to_us, 30000, 7), done = 0;

	config.no_shortcuts = no_shortcuts;
	memcpy(config.mac, mac_a, 6);
	world = world_create();
	machine = machine_create(world, &config, 0);
	memcpy(config.mac, mac_b, 6);
	other = machine_create(world, &config, 0);
	host_cable(machine, other, 0);
	net_start(&net, machine, 0, 1, 0);
	net_start(&theirs, other, 0, 1, 0);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_CHECKSUM), 0);
	net_post_receives(&net, 0, 100, 2048);
	net_send(&theirs, big, n, &how);
	world_settle(world);
	CHECK_EQ(net_send_status(&theirs), 0);
	for (; done < 30000; done += 1460) {
		size_t piece = 30000 - done < 1460 ? 30000 - done : 1460;

		CHECK(net_receive(&net, &got));
		CHECK_EQ(le32toh(got.cqe.byte_count), 54 + piece);
		CHECK_EQ(got.cqe.flags, TERN_CQE_FLAG_L3_CHECKSUM_OK |
			 TERN_CQE_FLAG_L4_CHECKSUM_OK);
		CHECK_MEM(got.data + 54, big + 54 + done, piece);
	}
	none_left();
	world_destroy(world);
}

TERN_TEST(nic_to_nic)
{
	between_two(false);
}

TERN_TEST(nic_to_nic_without_shortcuts)
{
	between_two(true);
}
