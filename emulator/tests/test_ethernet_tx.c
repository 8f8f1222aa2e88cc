// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: Ethernet transmit: what stands on the wire. */
#include <endian.h>
#include <stdlib.h>

#include "host_ethernet.h"
#include "tern_test.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xb };

#define WIRE_FRAMES	64

struct wire_frame {
	uint8_t bytes[9100];
	size_t length;
	uint8_t priority;
	unsigned int payload_count;
};

static struct world *world;
static struct machine *machine;
static struct net net;
static struct wire_frame wire[WIRE_FRAMES];
static unsigned int wire_count;
static uint8_t frame[70000];

static bool keep(struct machine *from, const struct tern_frame *sent)
{
	struct wire_frame *to = &wire[wire_count];

	(void)from;
	CHECK(wire_count < WIRE_FRAMES);
	to->length = tern_frame_flatten(sent, to->bytes, sizeof(to->bytes));
	CHECK(to->length);
	to->priority = sent->priority;
	to->payload_count = sent->payload_count;
	wire_count++;
	return false;
}

static void start_with(const struct tern_nic_config *config, uint64_t without)
{
	struct tern_nic_config mine = *config;

	memcpy(mine.mac, mac_a, 6);
	world = world_create();
	machine = machine_create(world, &mine, 0);
	machine->on_transmit = keep;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, 1, without);
	wire_count = 0;
}

/* So long is a frame of @length on the wire. */
static size_t padded(size_t length)
{
	return length < 60 ? 60 : length;
}

static void start(void)
{
	start_with(&host_default_config, 0);
}

static uint8_t send_one(const void *bytes, size_t length, const struct net_send *how)
{
	net_send(&net, bytes, length, how);
	world_settle(world);
	return net_send_status(&net);
}

static const struct net_headers tcp4 = {
	.destination = mac_b, .source = mac_a, .source_port = 1000, .destination_port = 80,
};

TERN_TEST(plain_frame)
{
	size_t n;

	start();
	for (size_t payload = 0; payload <= 1460; payload += 73) {
		n = net_build(frame, &tcp4, payload, 1);
		wire_count = 0;
		CHECK_EQ(send_one(frame, n, NULL), TERN_WC_SUCCESS);
		CHECK_EQ(wire_count, 1);
		CHECK_EQ(wire[0].length, padded(n));
		CHECK_MEM(wire[0].bytes, frame, n);
	}
	CHECK_EQ(host_counter(machine, 0, "tx_packets"), 21);
	CHECK_EQ(host_counter(machine, 0, "tx_errors"), 0);
	world_destroy(world);
}

TERN_TEST(thirty_pieces)
{
	struct net_send how = { .piece_count = 30 };
	size_t n = net_build(frame, &tcp4, 1400, 2);

	start();
	for (unsigned int i = 0; i < 29; i++)
		how.pieces[i] = 1 + i % 48;
	how.pieces[5] = 0;
	CHECK_EQ(send_one(frame, n, &how), TERN_WC_SUCCESS);
	CHECK_EQ(wire[0].length, n);
	CHECK_MEM(wire[0].bytes, frame, n);
	world_destroy(world);
}

TERN_TEST(inline_frame)
{
	struct net_send how = { .flags = TERN_WQE_INLINE };
	size_t n = net_build(frame, &tcp4, 400, 3);

	start();
	CHECK_EQ(send_one(frame, n, &how), TERN_WC_SUCCESS);
	CHECK_EQ(wire[0].length, n);
	CHECK_MEM(wire[0].bytes, frame, n);
	CHECK_EQ(send_one(frame, 60, &how), TERN_WC_SUCCESS);
	CHECK_EQ(wire[1].length, 60);
	world_destroy(world);
}

/* Payload is passed by reference, or with no_shortcuts in one piece. */
TERN_TEST(shortcuts)
{
	struct tern_nic_config config = host_default_config;
	size_t n = net_build(frame, &tcp4, 1400, 3);

	start();
	CHECK_EQ(send_one(frame, n, NULL), TERN_WC_SUCCESS);
	CHECK(wire[0].payload_count > 0);
	world_destroy(world);
	config.no_shortcuts = true;
	start_with(&config, 0);
	CHECK_EQ(send_one(frame, n, NULL), TERN_WC_SUCCESS);
	CHECK_EQ(wire[0].payload_count, 0);
	CHECK_EQ(wire[0].length, n);
	CHECK_MEM(wire[0].bytes, frame, n);
	tern_nic_set_shortcuts(machine->nic, true);
	CHECK_EQ(send_one(frame, n, NULL), TERN_WC_SUCCESS);
	CHECK(wire[1].payload_count > 0);
	tern_nic_set_shortcuts(machine->nic, false);
	CHECK_EQ(send_one(frame, n, NULL), TERN_WC_SUCCESS);
	CHECK_EQ(wire[2].payload_count, 0);
	CHECK_MEM(wire[2].bytes, frame, n);
	world_destroy(world);
}

/* The host leaves the pseudo-header's sum in the field. */
static void make_partial(uint8_t *bytes, size_t n, const struct net_headers *h,
			 struct net_send *how)
{
	size_t place = net_l4(h) + (h->udp ? 6 : 16);
	uint16_t whole, right = (uint16_t)(bytes[place] << 8 | bytes[place + 1]);
	uint32_t pseudo;

	/* sum(all with field 0) = ~right; pseudo = that minus the L4 bytes. */
	bytes[place] = 0;
	bytes[place + 1] = 0;
	pseudo = (uint16_t)~right;
	whole = 0;
	for (size_t i = net_l4(h); i < n; i++) {
		uint32_t t = whole + ((i - net_l4(h)) & 1 ? bytes[i] : (uint32_t)bytes[i] << 8);

		whole = (uint16_t)((t & 0xffff) + (t >> 16));
	}
	pseudo += (uint16_t)~whole;
	pseudo = (pseudo & 0xffff) + (pseudo >> 16);
	bytes[place] = (uint8_t)(pseudo >> 8);
	bytes[place + 1] = (uint8_t)pseudo;
	how->ethernet.flags = htole16(TERN_WQE_ETHERNET_CHECKSUM);
	how->ethernet.checksum_start = htole16((uint16_t)net_l4(h));
	how->ethernet.checksum_offset = htole16(h->udp ? 6 : 16);
}

TERN_TEST(checksum)
{
	start();
	for (unsigned int kind = 0; kind < 8; kind++) {
		for (size_t payload = 0; payload < 1400; payload += 111) {
			struct net_headers h = tcp4;
			struct net_send how = { .piece_count = 3, .pieces = { 15, 31 } };
			uint8_t right[1600];
			size_t n;

			h.ipv6 = kind & 1;
			h.udp = kind & 2;
			h.tagged = kind & 4;
			n = net_build(frame, &h, payload, (unsigned int)payload);
			memcpy(right, frame, n);
			make_partial(frame, n, &h, &how);
			wire_count = 0;
			CHECK_EQ(send_one(frame, n, &how), TERN_WC_SUCCESS);
			CHECK_EQ(wire[0].length, padded(n));
			CHECK_EQ(net_l4_sum(wire[0].bytes, n, &h), 0xffff);
			CHECK_MEM(wire[0].bytes, right, n);
		}
	}
	world_destroy(world);
}

/* A UDP checksum that comes out as 0 is sent as 0xffff: 0 would mean that there is none. */
TERN_TEST(udp_checksum_is_never_zero)
{
	struct net_headers h = tcp4;
	struct net_send how = { 0 };
	size_t n, place;

	start();
	h.udp = true;
	n = net_build(frame, &h, 64, 9);
	place = net_l4(&h) + 6;
	/* Add the checksum to the payload: then the sum without it is 0xffff, the checksum 0. */
	frame[net_payload(&h)] = 0;
	frame[net_payload(&h) + 1] = 0;
	frame[place] = 0;
	frame[place + 1] = 0;
	{
		uint16_t missing = (uint16_t)~net_l4_sum(frame, n, &h);

		frame[net_payload(&h)] = (uint8_t)(missing >> 8);
		frame[net_payload(&h) + 1] = (uint8_t)missing;
	}
	CHECK_EQ(net_l4_sum(frame, n, &h), 0xffff);
	frame[place] = 0xff;
	frame[place + 1] = 0xff;
	make_partial(frame, n, &h, &how);
	CHECK_EQ(send_one(frame, n, &how), TERN_WC_SUCCESS);
	CHECK_EQ(wire[0].bytes[place] << 8 | wire[0].bytes[place + 1], 0xffff);
	world_destroy(world);
}

/* A checksum that is stored beyond the bytes that are usually copied. */
TERN_TEST(checksum_far_inside)
{
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_CHECKSUM),
			.checksum_start = htole16(801), .checksum_offset = htole16(400),
		},
	};
	uint32_t sum = 0;

	start();
	for (size_t i = 0; i < 1400; i++)
		frame[i] = (uint8_t)(i * 13);
	memcpy(frame, mac_b, 6);
	frame[1201] = 0;
	frame[1202] = 0;
	CHECK_EQ(send_one(frame, 1400, &how), TERN_WC_SUCCESS);
	for (size_t i = 801; i < 1400; i++) {
		sum += (i - 801) & 1 ? wire[0].bytes[i] : wire[0].bytes[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	CHECK_EQ(sum, 0xffff);
	CHECK_MEM(wire[0].bytes, frame, 1201);
	world_destroy(world);
}

TERN_TEST(vlan_insertion)
{
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_VLAN), .vlan_tci = htole16(0xa064),
		},
	};
	size_t n = net_build(frame, &tcp4, 1000, 4);

	start();
	CHECK_EQ(send_one(frame, n, &how), TERN_WC_SUCCESS);
	CHECK_EQ(wire[0].length, n + 4);
	CHECK_MEM(wire[0].bytes, frame, 12);
	CHECK_MEM(wire[0].bytes + 12, "\x81\x00\xa0\x64", 4);
	CHECK_MEM(wire[0].bytes + 16, frame + 12, n - 12);
	CHECK_EQ(wire[0].priority, 5);
	/* With the checksum: its offsets are those of the frame as the host gave it. */
	make_partial(frame, n, &tcp4, &how);
	how.ethernet.flags |= htole16(TERN_WQE_ETHERNET_VLAN);
	CHECK_EQ(send_one(frame, n, &how), TERN_WC_SUCCESS);
	{
		struct net_headers h = tcp4;

		h.tagged = true;
		CHECK_EQ(net_l4_sum(wire[1].bytes, n + 4, &h), 0xffff);
	}
	world_destroy(world);
}

static void check_tso(const struct net_headers *h, size_t payload, unsigned int mss, bool vlan)
{
	struct net_send how = {
		.piece_count = 5, .pieces = { 20, 100, 3000, 1 },
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_TSO),
			.mss = htole16((uint16_t)mss),
			.header_length = htole16((uint16_t)net_payload(h)),
			.l3_offset = htole16((uint16_t)net_l3(h)),
			.vlan_tci = htole16(7),
		},
	};
	size_t n = net_build(frame, h, payload, (unsigned int)payload + mss), done = 0;
	size_t header = net_payload(h);
	unsigned int count = 0;

	if (vlan)
		how.ethernet.flags |= htole16(TERN_WQE_ETHERNET_VLAN);
	wire_count = 0;
	CHECK_EQ(send_one(frame, n, &how), TERN_WC_SUCCESS);
	for (; done < payload; count++) {
		struct net_headers hw = *h;
		size_t piece = payload - done < mss ? payload - done : mss;
		const uint8_t *got = wire[count].bytes;

		if (vlan)
			hw.tagged = true;
		CHECK(count < wire_count);
		CHECK_EQ(wire[count].length, padded(net_payload(&hw) + piece));
		CHECK_EQ(net_l4_sum(got, net_payload(&hw) + piece, &hw), 0xffff);
		CHECK_MEM(got + net_payload(&hw), frame + header + done, piece);
		done += piece;
	}
	CHECK_EQ(wire_count, count);
}

TERN_TEST(tso)
{
	struct net_headers h = tcp4;

	start();
	for (unsigned int kind = 0; kind < 4; kind++) {
		h.ipv6 = kind & 1;
		h.tagged = kind & 2;
		check_tso(&h, 20000, 1400, false);
		check_tso(&h, 1, 1400, false);
		check_tso(&h, 1400, 1400, false);
		check_tso(&h, 2801, 1400, false);
		check_tso(&h, 60000, 1400, false);
		if (!h.tagged)
			check_tso(&h, 20000, 1400, true);
	}
	CHECK_EQ(net_set_port(&net, 9000, TERN_PORT_UP), 0);
	check_tso(&h, 65536 - 9000, 8940, false);
	CHECK_EQ(host_counter(machine, 0, "tx_errors"), 0);
	world_destroy(world);
}

/* Memory that cannot be mapped is read; what is absent fails that request alone. */
TERN_TEST(unmappable_and_absent_memory)
{
	size_t n = net_build(frame, &tcp4, 1400, 5);

	start();
	host_set_pages(machine, net.send_memory, NET_SEND_BYTES, HOST_PAGE_UNMAPPABLE);
	CHECK_EQ(send_one(frame, n, NULL), TERN_WC_SUCCESS);
	CHECK_MEM(wire[0].bytes, frame, n);
	check_tso(&tcp4, 20000, 1400, false);
	wire_count = 0;
	host_set_pages(machine, net.send_memory, NET_SEND_BYTES, HOST_PAGE_ABSENT);
	CHECK_EQ(send_one(frame, n, NULL), TERN_WC_LOCAL_PROTECTION);
	CHECK_EQ(wire_count, 0);
	CHECK_EQ(host_counter(machine, 0, "tx_errors"), 1);
	host_set_pages(machine, net.send_memory, NET_SEND_BYTES, HOST_PAGE_PLAIN);
	CHECK_EQ(send_one(frame, n, NULL), TERN_WC_SUCCESS);
	CHECK_EQ(wire_count, 1);
	world_destroy(world);
}

/* Memory goes away in the middle of a TSO request: it completes once, with an error. */
TERN_TEST(tso_over_a_hole)
{
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_TSO), .mss = htole16(1400),
			.header_length = htole16((uint16_t)net_payload(&tcp4)),
			.l3_offset = htole16(14),
		},
	};
	size_t n = net_build(frame, &tcp4, 30000, 5);
	struct tern_cqe cqe;

	start();
	host_set_pages(machine, net.send_memory + 16384, 4096, HOST_PAGE_ABSENT);
	CHECK_EQ(send_one(frame, n, &how), TERN_WC_LOCAL_PROTECTION);
	CHECK(wire_count > 5 && wire_count < 13);
	CHECK(!driver_cq_poll(&net.send_cq, &cqe));
	CHECK_EQ(send_one(frame, 60, NULL), TERN_WC_SUCCESS);
	world_destroy(world);
}

static uint8_t send_flags(uint16_t flags, struct tern_wqe_ethernet segment, size_t length)
{
	struct net_send how = { .ethernet = segment };

	how.ethernet.flags = htole16(flags);
	return send_one(frame, length, &how);
}

/* A bad request completes with an error, is counted, and the queue goes on. */
TERN_TEST(bad_requests)
{
	const uint16_t sum = TERN_WQE_ETHERNET_CHECKSUM, tso = TERN_WQE_ETHERNET_TSO;
	size_t n = net_build(frame, &tcp4, 1460, 6);
	struct tern_wqe_ethernet none = { 0 }, segment = { 0 };
	struct net_headers tagged = tcp4;
	unsigned int errors = 0;

	start();
	CHECK_EQ(n, 1514);
	CHECK_EQ(send_one(frame, 1514, NULL), TERN_WC_SUCCESS);
	CHECK_EQ(send_one(frame, 1515, NULL), TERN_WC_LOCAL_LENGTH);
	CHECK_EQ(send_one(frame, 9100, NULL), TERN_WC_LOCAL_LENGTH);
	CHECK_EQ(send_one(frame, 13, NULL), TERN_WC_LOCAL_LENGTH);
	CHECK_EQ(send_one(frame, 0, NULL), TERN_WC_LOCAL_LENGTH);
	errors += 4;
	CHECK_EQ(send_one(frame, 14, NULL), TERN_WC_SUCCESS);
	CHECK_EQ(send_flags(8, none, 100), TERN_WC_LOCAL_QP_OPERATION);
	segment.reserved0 = 1;
	CHECK_EQ(send_flags(0, segment, 100), TERN_WC_LOCAL_QP_OPERATION);
	errors += 2;
	segment = none;
	segment.checksum_start = htole16(34);
	segment.checksum_offset = htole16(64);
	CHECK_EQ(send_flags(sum, segment, 100), TERN_WC_SUCCESS);
	segment.checksum_offset = htole16(65);
	CHECK_EQ(send_flags(sum, segment, 100), TERN_WC_LOCAL_QP_OPERATION);
	segment.checksum_offset = htole16(65535);
	CHECK_EQ(send_flags(sum, segment, 100), TERN_WC_LOCAL_QP_OPERATION);
	segment.checksum_offset = 0;
	segment.checksum_start = htole16(13);
	CHECK_EQ(send_flags(sum, segment, 100), TERN_WC_LOCAL_QP_OPERATION);
	segment.checksum_start = htole16(65535);
	CHECK_EQ(send_flags(sum, segment, 100), TERN_WC_LOCAL_QP_OPERATION);
	errors += 4;
	segment = none;
	CHECK_EQ(send_flags(tso, segment, 1000), TERN_WC_LOCAL_QP_OPERATION);
	segment.l3_offset = htole16(14);
	segment.header_length = htole16(54);
	segment.mss = htole16(1461);
	CHECK_EQ(send_flags(tso, segment, 1000), TERN_WC_LOCAL_LENGTH);
	segment.mss = htole16(1460);
	CHECK_EQ(send_flags(tso, segment, 54), TERN_WC_LOCAL_QP_OPERATION);
	/* An offset that would let longer frames through. */
	segment.l3_offset = htole16(20);
	segment.mss = htole16(1466);
	CHECK_EQ(send_flags(tso, segment, 1000), TERN_WC_LOCAL_QP_OPERATION);
	segment.l3_offset = htole16(14);
	segment.header_length = htole16(257);
	segment.mss = htole16(100);
	CHECK_EQ(send_flags(tso, segment, 1000), TERN_WC_LOCAL_QP_OPERATION);
	segment.header_length = htole16(54);
	segment.mss = 0;
	CHECK_EQ(send_flags(tso, segment, 1000), TERN_WC_LOCAL_QP_OPERATION);
	segment.mss = htole16(1460);
	CHECK_EQ(send_flags(tso, segment, 54 + 65537), TERN_WC_LOCAL_LENGTH);
	/* A tag that is none to this NIC: the MTU would count its 4 bytes as the link's. */
	tagged.tagged = true;
	net_build(frame, &tagged, 2000, 6);
	frame[12] = 0x88;
	frame[13] = 0xa8;
	segment.l3_offset = htole16(18);
	segment.header_length = htole16(58);
	CHECK_EQ(send_flags(tso, segment, 2058), TERN_WC_LOCAL_QP_OPERATION);
	errors += 8;
	segment.l3_offset = htole16(14);
	segment.header_length = htole16(54);
	net_build(frame, &tcp4, 1460, 6);
	wire_count = 0;
	CHECK_EQ(send_flags(tso, segment, 54 + 65536), TERN_WC_SUCCESS);
	CHECK_EQ(host_counter(machine, 0, "tx_errors"), errors);
	world_destroy(world);
}

TERN_TEST(offloads_need_their_features)
{
	const uint64_t all = 1 << TERN_FEATURE_CHECKSUM | 1 << TERN_FEATURE_TSO |
			     1 << TERN_FEATURE_VLAN_OFFLOAD;
	struct tern_wqe_ethernet segment = {
		.checksum_start = htole16(34), .checksum_offset = htole16(16),
		.l3_offset = htole16(14), .header_length = htole16(54), .mss = htole16(100),
	};

	net_build(frame, &tcp4, 946, 6);
	for (uint16_t flag = 1; flag < 8; flag <<= 1) {
		start_with(&host_default_config, 0);
		CHECK_EQ(send_flags(flag, segment, 1000), TERN_WC_SUCCESS);
		world_destroy(world);
		start_with(&host_default_config, all);
		CHECK_EQ(send_flags(flag, segment, 1000), TERN_WC_LOCAL_QP_OPERATION);
		world_destroy(world);
	}
}

/* Keys: a queue that is not privileged has no local DMA key, and needs the key's PD. */
TERN_TEST(keys_are_checked)
{
	struct driver_qp user;
	struct {
		struct tern_wqe_control control;
		struct tern_wqe_ethernet ethernet;
		struct tern_sge sges[2];
	} wqe = { .control = { .opcode = TERN_WQE_ETHERNET, .sge_count = 1 } };
	size_t n = net_build(frame, &tcp4, 1000, 8);
	uint32_t good, other;
	uint64_t place;

	start();
	place = net_put(&net, frame, n);
	driver_qp_create(&net.driver, &user, TERN_QP_ETHERNET, 0, 5, TERN_QP_NO_RQ, &net.send_cq,
			 NULL, 4, 0, 0);
	CHECK_EQ(driver_qp_modify(&user, TERN_QP_RTS, 0, NULL), 0);
	good = driver_key_create(&net.driver, place, n, 0, 5);
	other = driver_key_create(&net.driver, place, n, 0, 6);
	wqe.sges[0].address = htole64(place);
	wqe.sges[0].length = htole32((uint32_t)n);
	wqe.sges[0].key = htole32(TERN_KEY_LOCAL_DMA);
	driver_post_send(&user, &wqe, 1);
	world_settle(world);
	CHECK_EQ(net_send_status(&net), TERN_WC_LOCAL_PROTECTION);
	wqe.sges[0].key = htole32(other);
	driver_post_send(&user, &wqe, 1);
	world_settle(world);
	CHECK_EQ(net_send_status(&net), TERN_WC_LOCAL_PROTECTION);
	wqe.sges[0].key = htole32(good);
	wqe.sges[0].length = htole32((uint32_t)n + 1);
	driver_post_send(&user, &wqe, 1);
	world_settle(world);
	CHECK_EQ(net_send_status(&net), TERN_WC_LOCAL_PROTECTION);
	CHECK_EQ(wire_count, 0);
	wqe.sges[0].length = htole32((uint32_t)n);
	wqe.control.flags = TERN_WQE_SIGNALED;
	driver_post_send(&user, &wqe, 1);
	world_settle(world);
	CHECK_EQ(net_send_status(&net), TERN_WC_SUCCESS);
	CHECK_EQ(wire_count, 1);
	CHECK_MEM(wire[0].bytes, frame, n);
	world_destroy(world);
}

/* Malformed requests one by one, an opcode of RDMA among them; then a good one. */
TERN_TEST(malformed_wqes)
{
	struct {
		struct tern_wqe_control control;
		uint8_t rest[48];
	} wqe = { .control = { .opcode = TERN_WQE_WRITE } };
	struct tern_cqe cqe;
	uint32_t index;

	start();
	driver_post_send(&net.qps[0], &wqe, 1);
	wqe.control.opcode = 0xff;
	driver_post_send(&net.qps[0], &wqe, 1);
	wqe.control.opcode = TERN_WQE_ETHERNET;
	wqe.control.sge_count = 31;
	driver_post_send(&net.qps[0], &wqe, 1);
	wqe.control.sge_count = 0;
	wqe.control.flags = TERN_WQE_INLINE;
	wqe.control.inline_length = htole16(200);
	driver_post_send(&net.qps[0], &wqe, 1);
	wqe.control = (struct tern_wqe_control){ .opcode = TERN_WQE_NOP,
						 .flags = TERN_WQE_SIGNALED };
	index = driver_post_send(&net.qps[0], &wqe, 1);
	world_settle(world);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK(driver_cq_poll(&net.send_cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_LOCAL_QP_OPERATION);
		CHECK_EQ(le32toh(cqe.index), i);
		CHECK(!(cqe.opcode & TERN_CQE_RECEIVER));
	}
	CHECK(driver_cq_poll(&net.send_cq, &cqe));
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(le32toh(cqe.index), index);
	CHECK_EQ(wire_count, 0);
	world_destroy(world);
}

/* Requests are completed in order; unsignalled ones silently; many rounds of the ring. */
TERN_TEST(many_requests_in_order)
{
	size_t n = net_build(frame, &tcp4, 10, 1);
	struct tern_cqe cqe;
	uint32_t expected = 0;

	start();
	for (unsigned int round = 0; round < 40; round++) {
		uint32_t posted[20];

		wire_count = 0;
		for (unsigned int i = 0; i < 20; i++) {
			frame[n - 1] = (uint8_t)i;
			posted[i] = net_send(&net, frame, n, NULL);
		}
		world_settle(world);
		CHECK_EQ(wire_count, 20);
		for (unsigned int i = 0; i < 20; i++) {
			CHECK(driver_cq_poll(&net.send_cq, &cqe));
			CHECK_EQ(cqe.status, 0);
			CHECK_EQ(le32toh(cqe.index), posted[i]);
			CHECK_EQ(posted[i], expected);
			CHECK_EQ(wire[i].bytes[n - 1], i);
			expected++;
		}
	}
	world_destroy(world);
}

/* In ERROR everything posted, then and later, is flushed in order, once. */
TERN_TEST(flush)
{
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_TSO), .mss = htole16(100),
			.header_length = htole16(54), .l3_offset = htole16(14),
		},
	};
	struct tern_nic_config config = host_default_config;
	size_t n = net_build(frame, &tcp4, 20000, 1);
	struct tern_cqe cqe;

	config.speed_mbps = 1000;
	start_with(&config, 0);
	/* Paced, so that the TSO request is still being sent when the state changes. */
	for (unsigned int i = 0; i < 5; i++)
		net_send(&net, frame, n, &how);
	net_post_receives(&net, 0, 90, 2048);
	host_run(machine, 64);
	CHECK(wire_count > 0 && wire_count < 60);
	CHECK(!driver_cq_poll(&net.send_cq, &cqe));
	CHECK_EQ(driver_qp_modify(&net.qps[0], TERN_QP_ERROR, 0, NULL), 0);
	world_advance(world, 1000000);
	for (unsigned int i = 0; i < 5; i++) {
		CHECK(driver_cq_poll(&net.send_cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
		CHECK_EQ(le32toh(cqe.index), i);
		CHECK_EQ(cqe.opcode, TERN_WQE_ETHERNET);
	}
	for (unsigned int i = 0; i < 90; i++) {
		CHECK(driver_cq_poll(&net.receive_cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
		CHECK_EQ(le32toh(cqe.index), i);
	}
	net_send(&net, frame, 60, NULL);
	net_post_receives(&net, 0, 1, 2048);
	world_advance(world, 1000000);
	CHECK_EQ(net_send_status(&net), TERN_WC_FLUSHED);
	CHECK(driver_cq_poll(&net.receive_cq, &cqe));
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	CHECK(!driver_cq_poll(&net.send_cq, &cqe));
	/* RESET and up again. */
	wire_count = 0;
	CHECK_EQ(driver_qp_modify(&net.qps[0], TERN_QP_RESET, 0, NULL), 0);
	CHECK_EQ(driver_qp_modify(&net.qps[0], TERN_QP_RTS, 0, NULL), 0);
	CHECK_EQ(net_send(&net, frame, 60, NULL), 0);
	world_advance(world, 1000000);
	CHECK_EQ(net_send_status(&net), TERN_WC_SUCCESS);
	CHECK_EQ(wire_count, 1);
	world_destroy(world);
}

/* Where the queue cannot be read, each block is flushed by itself, to the last one posted. */
TERN_TEST(flush_of_a_queue_that_cannot_be_read)
{
	struct net_send two_blocks = { .pieces = { 20, 20, 20 }, .piece_count = 3 };
	struct tern_cqe cqe;

	start();
	CHECK_EQ(net_send(&net, frame, 100, NULL), 0);
	world_settle(world);
	CHECK_EQ(net_send_status(&net), TERN_WC_SUCCESS);
	CHECK_EQ(driver_qp_modify(&net.qps[0], TERN_QP_ERROR, 0, NULL), 0);
	CHECK_EQ(net_send(&net, frame, 100, &two_blocks), 1);
	CHECK_EQ(net_send(&net, frame, 100, NULL), 3);
	host_set_pages(machine, net.qps[0].sq & ~UINT64_C(4095), 2 * HOST_PAGE, HOST_PAGE_ABSENT);
	world_settle(world);
	for (unsigned int i = 1; i < 4; i++) {
		CHECK(driver_cq_poll(&net.send_cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
		CHECK_EQ(cqe.opcode, TERN_WQE_NOP);
		CHECK_EQ(le32toh(cqe.index), i);
	}
	CHECK(!driver_cq_poll(&net.send_cq, &cqe));
	world_destroy(world);
}

/* Bus mastering goes away in the middle of a request and comes back: it goes on where it was. */
TERN_TEST(bus_master_off_and_on)
{
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_TSO), .mss = htole16(1000),
			.header_length = htole16(54), .l3_offset = htole16(14),
		},
	};
	struct tern_nic_config config = host_default_config;
	size_t n = net_build(frame, &tcp4, 20000, 1);
	unsigned int before;
	struct tern_frame in;

	config.speed_mbps = 1000;
	start_with(&config, 0);
	net_post_receives(&net, 0, 1, 2048);
	net_send(&net, frame, n, &how);
	host_run(machine, 64);
	before = wire_count;
	CHECK(before > 0 && before < 20);
	tern_nic_bus_master(machine->nic, 0, false);
	world_advance(world, 10000000);
	CHECK_EQ(wire_count, before);
	tern_frame_wrap(&in, (const uint8_t *)"\2\0\0\0\0\xa\2\0\0\0\0\xb\x12\x34", 14);
	host_receive(machine, &in);
	tern_nic_bus_master(machine->nic, 0, true);
	world_advance(world, 10000000);
	CHECK_EQ(wire_count, 20);
	CHECK_EQ(net_send_status(&net), TERN_WC_SUCCESS);
	CHECK_EQ(host_counter(machine, 0, "tx_errors"), 0);
	/* What came meanwhile is lost, and the queue pair lives. */
	CHECK_EQ(host_counter(machine, 0, "rx_packets"), 0);
	host_receive(machine, &in);
	CHECK_EQ(host_counter(machine, 0, "rx_packets"), 1);
	CHECK_EQ(host_counter(machine, 0, "rx_errors"), 0);
	world_destroy(world);
}

/* Destroyed in the middle of a request, and again without having sent. */
TERN_TEST(destroy_while_sending)
{
	struct net_send how = {
		.ethernet = {
			.flags = htole16(TERN_WQE_ETHERNET_TSO), .mss = htole16(100),
			.header_length = htole16(54), .l3_offset = htole16(14),
		},
	};
	struct tern_nic_config config = host_default_config;
	size_t n = net_build(frame, &tcp4, 20000, 1);
	struct tern_cqe cqe;

	config.speed_mbps = 1000;
	start_with(&config, 0);
	net_send(&net, frame, n, &how);
	host_run(machine, 64);
	net.qp_count = 0;
	CHECK_EQ(net_receive_mode(&net, 0), 0);
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, net.qps[0].qpn, NULL, 0), 0);
	wire_count = 0;
	world_advance(world, 10000000);
	CHECK_EQ(wire_count, 0);
	CHECK(!driver_cq_poll(&net.send_cq, &cqe));
	host_reset(machine, 0);
	world_destroy(world);
}

/* The ring's memory goes away: ERROR and an event, no hang. */
TERN_TEST(ring_memory_gone)
{
	struct tern_eqe eqe;
	bool fatal = false;

	start();
	host_set_pages(machine, net.qps[0].sq, 4096, HOST_PAGE_ABSENT);
	*(uint32_t *)host_pointer(machine, net.qps[0].sq_record) = htole32(1);
	driver_doorbell(&net.driver, 0, TERN_DOORBELL_SEND, net.qps[0].qpn, 1);
	world_settle(world);
	while (driver_eq_poll(&net.driver, &net.driver.eq, &eqe)) {
		if (eqe.type == TERN_EVENT_QP_FATAL && le32toh(eqe.number) == net.qps[0].qpn)
			fatal = true;
	}
	CHECK(fatal);
	CHECK_EQ(wire_count, 0);
	world_destroy(world);
}
