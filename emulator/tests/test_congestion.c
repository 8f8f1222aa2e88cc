// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: congestion control of two NICs: marks, CNPs, rates, and who sends what is not one. */
#include <endian.h>
#include <stdlib.h>

#include "congestion_control.h"
#include "ecn.h"
#include "host_peer.h"
#include "mac.h"
#include "tern_hw_congestion.h"
#include "tern_hw_counter_set.h"
#include "tern_hw_statistics.h"
#include "tern_test.h"

#define US		UINT64_C(1000)
#define MS		(1000 * US)
#define PRIORITY	3
#define BOTH		(TERN_CONGESTION_REACT | TERN_CONGESTION_NOTIFY)

typedef struct tern_command_set_congestion_control control_type;

static struct rdma_pair pair;
static struct peer peer;

static control_type control(uint8_t flags)
{
	return (control_type){
		.flags = flags, .cnp_priority = 6, .cnp_dscp = 48,
		.max_rate_mbps = htole32(10000), .min_rate_mbps = htole32(10),
		.time_reset_us = htole32(1000000), .byte_reset = htole32(UINT32_MAX),
		.threshold = htole32(5), .ai_rate_mbps = htole32(5), .hai_rate_mbps = htole32(50),
		.alpha_timer_us = htole32(1000000), .initial_alpha = htole16(1024),
		.gain_shift = 8, .min_decrease_percent = 50,
	};
}

static uint16_t set(struct rdma_side *side, uint32_t priority, const control_type *body)
{
	return driver_command(side->driver, TERN_COMMAND_SET_CONGESTION_CONTROL, priority, body,
			      sizeof(*body));
}

static void set_both(const control_type *body)
{
	CHECK_EQ(set(&pair.a, PRIORITY, body), 0);
	CHECK_EQ(set(&pair.b, PRIORITY, body), 0);
}

static void start(struct rdma_options options, const control_type *body)
{
	options.service_level = PRIORITY;
	rdma_pair_create(&pair, &options);
	if (body)
		set_both(body);
}

static void add_mark(struct rdma_side *side, int opcode)
{
	const struct tern_wire_rule rule = {
		.what = TERN_WIRE_MARK_CE, .opcode = opcode, .probability = 1,
	};

	CHECK(tern_nic_add_wire_rule(side->machine->nic, &rule) >= 0);
}

static void request(struct rdma_side *side, uint8_t opcode, uint32_t length)
{
	const struct rdma_request wr = { .opcode = opcode, .length = length };
	struct tern_cqe cqe;

	rdma_post(&pair, side, &wr);
	/* First without letting time pass. */
	world_settle(pair.world);
	if (!driver_cq_poll(&side->send_cq, &cqe))
		rdma_wait(&pair, &side->send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
}

static uint32_t rate_of(struct rdma_side *side)
{
	struct tern_qp_status status;

	rdma_qp_status(side, &status);
	CHECK_EQ(!status.congestion.rate_mbps, !status.congestion.target_rate_mbps);
	CHECK_EQ(status.congestion.reserved0, 0);
	return le32toh(status.congestion.rate_mbps);
}

static uint64_t limited_queue_pairs(struct rdma_side *side, uint64_t *ns)
{
	uint64_t queue_pairs;

	congestion_priority_counters(side->machine->nic, PRIORITY, &queue_pairs, ns);
	return queue_pairs;
}

/* Of all that a machine sent: how many had which ECN bits, by BTH operation. */
struct sent {
	unsigned int ecn[256][4];
	unsigned int cnps, frames;
	uint64_t times[4096];		/* of those that are not acknowledges or CNPs */
	unsigned int count;
	uint8_t cnp[256];
	size_t cnp_length;
	uint8_t last;			/* opcode */
};

static struct sent sent_a, sent_b;

static bool look(struct machine *machine, const struct tern_frame *frame)
{
	struct sent *sent = machine->private;
	static uint8_t bytes[10000];
	struct wire_packet packet;
	struct tern_frame flat;
	size_t length = tern_frame_flatten(frame, bytes, sizeof(bytes));

	tern_frame_wrap(&flat, bytes, length);
	/* This checks IPv4's checksum too. */
	CHECK_EQ(wire_parse_network(&packet, &flat), WIRE_OK);
	CHECK_EQ(wire_parse_transport(&packet, &flat), WIRE_OK);
	sent->frames++;
	sent->last = packet.headers.opcode;
	if (packet.network != WIRE_V1)
		sent->ecn[packet.headers.opcode][ecn_get(packet.l3)]++;
	else
		sent->ecn[packet.headers.opcode][ecn_get(packet.l3) ? ECN_CE : 0]++;
	if (packet.headers.opcode == WIRE_CNP) {
		sent->cnps++;
		sent->cnp_length = length;
		memcpy(sent->cnp, bytes, length < 256 ? length : 256);
	} else if (packet.opcode->operation != WIRE_OP_ACKNOWLEDGE && sent->count < 4096) {
		sent->times[sent->count++] = machine->world->now;
	}
	return true;
}

static void watch(void)
{
	memset(&sent_a, 0, sizeof(sent_a));
	memset(&sent_b, 0, sizeof(sent_b));
	pair.a.machine->private = &sent_a;
	pair.b.machine->private = &sent_b;
	pair.a.machine->on_transmit = look;
	pair.b.machine->on_transmit = look;
}

static unsigned int with_ecn(const struct sent *sent, uint8_t ecn)
{
	unsigned int count = 0;

	for (unsigned int opcode = 0; opcode < 256; opcode++)
		count += sent->ecn[opcode][ecn];
	return count;
}

/* Which packets are ECT(0), whatever ECN bits the host gave, on each network. */
TERN_TEST(marking)
{
	static const enum rdma_network networks[] = {
		RDMA_V2_IPV4, RDMA_V2_IPV6, RDMA_V2_IPV4_VLAN, RDMA_V1
	};
	const control_type on = control(BOTH);

	for (size_t i = 0; i < 4; i++) {
		bool v2 = networks[i] != RDMA_V1;

		start((struct rdma_options){ .network = networks[i], .traffic_class = 0x69 }, &on);
		watch();
		request(&pair.a, TERN_WQE_WRITE, 10000);
		request(&pair.a, TERN_WQE_WRITE, 0);
		request(&pair.a, TERN_WQE_READ, 10000);
		request(&pair.a, TERN_WQE_FETCH_ADD, 8);
		CHECK_EQ(sent_a.ecn[WIRE_RC_WRITE_FIRST][ECN_ECT_0], v2);
		CHECK_EQ(sent_a.ecn[WIRE_RC_WRITE_MIDDLE][ECN_ECT_0], v2);
		CHECK_EQ(sent_a.ecn[WIRE_RC_WRITE_LAST][ECN_ECT_0], v2);
		/* Without payload: as the host has it. */
		CHECK_EQ(sent_a.ecn[WIRE_RC_WRITE_ONLY][v2 ? ECN_ECT_1 : ECN_CE], 1);
		CHECK_EQ(sent_a.ecn[WIRE_RC_READ_REQUEST][ECN_ECT_0], v2);
		CHECK_EQ(sent_a.ecn[WIRE_RC_FETCH_ADD][ECN_ECT_0], v2);
		CHECK_EQ(sent_b.ecn[WIRE_RC_READ_RESPONSE_FIRST][ECN_ECT_0], v2);
		CHECK_EQ(sent_b.ecn[WIRE_RC_READ_RESPONSE_MIDDLE][ECN_ECT_0], v2);
		CHECK_EQ(sent_b.ecn[WIRE_RC_READ_RESPONSE_LAST][ECN_ECT_0], v2);
		CHECK_EQ(sent_b.ecn[WIRE_RC_ACKNOWLEDGE][ECN_ECT_0], 0);
		CHECK_EQ(sent_b.ecn[WIRE_RC_ATOMIC_ACKNOWLEDGE][ECN_ECT_0], 0);
		rdma_pair_destroy(&pair);
	}
}

/* Off, of another priority, or of a datagram: the host's bits. */
TERN_TEST(not_marked)
{
	const control_type off = control(TERN_CONGESTION_NOTIFY), on = control(BOTH);

	start((struct rdma_options){ .traffic_class = 0x68 }, &off);
	CHECK_EQ(set(&pair.a, PRIORITY + 1, &on), 0);
	watch();
	request(&pair.a, TERN_WQE_WRITE, 10000);
	request(&pair.a, TERN_WQE_READ, 10000);
	CHECK_EQ(with_ecn(&sent_a, 0), sent_a.frames);
	CHECK_EQ(with_ecn(&sent_b, 0), sent_b.frames);
	rdma_pair_destroy(&pair);

	start((struct rdma_options){ .type = TERN_QP_UD }, &on);
	watch();
	request(&pair.a, TERN_WQE_SEND, 1000);
	CHECK_EQ(with_ecn(&sent_a, 0), 1);
	rdma_pair_destroy(&pair);

	start((struct rdma_options){ .type = TERN_QP_UC }, &on);
	watch();
	request(&pair.a, TERN_WQE_WRITE, 1000);
	CHECK_EQ(with_ecn(&sent_a, ECN_ECT_0), 1);
	rdma_pair_destroy(&pair);

	/* After a reset of the PF nothing is on. */
	start((struct rdma_options){ 0 }, &on);
	host_reset(pair.a.machine, 0);
	CHECK_EQ(congestion_of(pair.a.machine->nic, PRIORITY)->notifies, false);
	rdma_pair_destroy(&pair);
}

/* N marked packets are N, and each CNP that one side sends the other handles. */
TERN_TEST(marks_and_notifications)
{
	static const struct {
		uint8_t type, opcode;
		unsigned int packets;
	} cases[] = {
		{ TERN_QP_RC, TERN_WQE_WRITE, 25 },
		{ TERN_QP_UC, TERN_WQE_WRITE, 25 },
		{ TERN_QP_XRC_INITIATOR, TERN_WQE_WRITE, 25 },
		{ TERN_QP_RC, TERN_WQE_READ, 25 },
	};
	const control_type on = control(BOTH);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool read = cases[i].opcode == TERN_WQE_READ;
		struct rdma_side *marked, *sender;
		uint64_t ns;

		start((struct rdma_options){ .type = cases[i].type, .latency_ns = 1000 }, &on);
		marked = read ? &pair.a : &pair.b;
		sender = read ? &pair.b : &pair.a;
		watch();
		add_mark(sender, -1);
		request(&pair.a, cases[i].opcode, 4096 * cases[i].packets);
		world_advance(pair.world, 100 * MS);
		CHECK_EQ(rdma_counter(marked, "np_ecn_marked_roce_packets"), cases[i].packets);
		CHECK_EQ(rdma_counter(sender, "wire_marked_ce"), cases[i].packets);
		CHECK_EQ(rdma_counter(marked, "np_cnp_sent"), cases[i].packets);
		CHECK_EQ(rdma_counter(sender, "rp_cnp_handled"), cases[i].packets);
		CHECK_EQ(rdma_counter(sender, "rp_cnp_ignored"), 0);
		CHECK_EQ(rdma_counter(sender, "np_ecn_marked_roce_packets"), 0);
		CHECK_EQ((read ? &sent_a : &sent_b)->cnps, cases[i].packets);
		CHECK(rate_of(sender) >= 10 && rate_of(sender) < 5000);
		CHECK_EQ(limited_queue_pairs(sender, &ns), 1);
		CHECK(ns >= 99 * MS);
		CHECK_EQ(rate_of(marked), 0);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(notification_on_the_wire)
{
	const control_type on = control(BOTH);
	struct rdma_options options = {
		.network = RDMA_V2_IPV4_VLAN, .traffic_class = 0x68, .hop_limit = 33,
	};
	static const uint8_t zero[16];
	const uint8_t *ip = sent_b.cnp + 18, *bth = ip + 28;

	start(options, &on);
	watch();
	add_mark(&pair.a, -1);
	request(&pair.a, TERN_WQE_WRITE, 64);
	world_settle(pair.world);
	CHECK_EQ(sent_b.cnps, 1);
	/* Tag, IPv4, UDP, BTH, 16 bytes, ICRC. */
	CHECK_EQ(sent_b.cnp_length, 18 + 20 + 8 + 12 + 16 + 4);
	CHECK_MEM(sent_b.cnp, pair.a.mac, 6);
	CHECK_MEM(sent_b.cnp + 6, pair.b.mac, 6);
	CHECK_EQ(sent_b.cnp[14] >> 5, 6);
	CHECK_EQ((sent_b.cnp[14] & 0xf) << 8 | sent_b.cnp[15], 77);
	CHECK_EQ(ip[1], 48 << 2);
	CHECK_EQ(ip[8], 33);
	CHECK_EQ(bth[0], 0x81);
	CHECK_EQ(bth[1], 0);
	CHECK_EQ(bth[2] << 8 | bth[3], 0xffff);
	CHECK_EQ(bth[4], 0x40);
	CHECK_EQ((uint32_t)bth[5] << 16 | bth[6] << 8 | bth[7], pair.a.qp.qpn);
	CHECK_MEM(bth + 8, zero, 4);
	CHECK_MEM(bth + 12, zero, 16);
	rdma_pair_destroy(&pair);
}

/* IPv6 has its class elsewhere; and it leaves before the acknowledge of the same packet. */
TERN_TEST(notification_goes_first)
{
	const control_type on = control(BOTH);
	const uint8_t *ip = sent_b.cnp + 14;

	start((struct rdma_options){ .network = RDMA_V2_IPV6, .traffic_class = 0xff }, &on);
	watch();
	add_mark(&pair.a, WIRE_RC_WRITE_LAST);
	request(&pair.a, TERN_WQE_WRITE, 8192);
	world_settle(pair.world);
	CHECK_EQ(sent_b.cnps, 1);
	CHECK_EQ((ip[0] & 0xf) << 4 | ip[1] >> 4, 48 << 2);
	CHECK_EQ(sent_b.last, WIRE_RC_ACKNOWLEDGE);
	rdma_pair_destroy(&pair);
}

/* And before requests that were posted before its reason came. */
TERN_TEST(notification_overtakes)
{
	const struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 40960 };
	const control_type on = control(BOTH);
	struct wire_headers headers;

	/* So slow that the requester waits for the wire. */
	start((struct rdma_options){ .speed_mbps = 1000 }, &on);
	peer_start(&peer, &pair);
	wire_path_set_class(&peer.path, ECN_CE, 0);
	headers = peer_headers(&peer, WIRE_RC_WRITE_ONLY, 0);
	rdma_post(&pair, &pair.a, &write);
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_WRITE_FIRST);
	CHECK(!peer_next(&peer));
	peer_send(&peer, &headers, NULL, 0);
	CHECK(peer_wait(&peer, MS));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_CNP);
	CHECK(peer_wait(&peer, MS));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_WRITE_MIDDLE);
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

/* One CNP in an interval; the marks all count. */
TERN_TEST(interval)
{
	control_type on = control(BOTH);

	on.cnp_interval_us = htole32(50);
	start((struct rdma_options){ .latency_ns = 1000 }, &on);
	watch();
	add_mark(&pair.a, -1);
	/* Of b alone: a does not slow down. */
	on.flags = TERN_CONGESTION_REACT;
	on.min_decrease_percent = 100;
	CHECK_EQ(set(&pair.a, PRIORITY, &on), 0);
	for (unsigned int i = 0; i < 100; i++) {
		request(&pair.a, TERN_WQE_WRITE, 64);
		world_advance(pair.world, 10 * US - 2000);
	}
	CHECK_EQ(rdma_counter(&pair.b, "np_ecn_marked_roce_packets"), 100);
	CHECK(sent_b.cnps >= 18 && sent_b.cnps <= 21);
	CHECK_EQ(rdma_counter(&pair.b, "np_cnp_sent"), sent_b.cnps);
	CHECK_EQ(rdma_counter(&pair.a, "rp_cnp_handled"), sent_b.cnps);
	/* The notification point goes off: none any more. */
	CHECK_EQ(set(&pair.b, PRIORITY, &on), 0);
	sent_b.cnps = 0;
	world_advance(pair.world, MS);
	request(&pair.a, TERN_WQE_WRITE, 64);
	CHECK_EQ(sent_b.cnps, 0);
	CHECK_EQ(rdma_counter(&pair.b, "np_ecn_marked_roce_packets"), 101);
	rdma_pair_destroy(&pair);
}

/* Gaps between a limited queue pair's frames, of @bytes on the wire, at @mbps. */
static void check_gaps(const struct sent *sent, unsigned int first, size_t bytes, double mbps)
{
	double want = (double)bytes * 8000 / mbps;

	CHECK(sent->count > first + 10);
	for (unsigned int i = first + 1; i < sent->count - 1; i++) {
		double gap = (double)(sent->times[i] - sent->times[i - 1]);

		if (gap < want * 0.99 - 1 || gap > want * 1.01 + 1)
			FAIL("gap %u of %u is %.0f ns, not %.1f", i, sent->count, gap, want);
	}
}

static void limit(struct rdma_side *side)
{
	struct rdma_side *other = rdma_peer(&pair, side);

	CHECK_EQ(rate_of(side), 0);
	add_mark(side, -1);
	request(side, TERN_WQE_WRITE, 4);
	world_settle(pair.world);
	CHECK_EQ(rdma_counter(other, "np_cnp_sent"), 1);
	CHECK_EQ(tern_nic_remove_wire_rule(side->machine->nic, -1), 0);
}

TERN_TEST(requests_are_paced)
{
	static const uint32_t rates[] = { 100, 1000, 5000 };
	control_type on = control(BOTH);

	for (size_t i = 0; i < 6; i++) {
		/* Small ones too, of which preamble and gap are much. */
		uint32_t mtu = i < 3 ? 4096 : 256;

		on.first_rate_mbps = htole32(rates[i % 3]);
		start((struct rdma_options){ .latency_ns = 700, .path_mtu = i < 3 ? 5 : 1 }, &on);
		limit(&pair.a);
		CHECK_EQ(rate_of(&pair.a), rates[i % 3]);
		world_advance(pair.world, 10 * MS);
		watch();
		request(&pair.a, TERN_WQE_WRITE, 100 * mtu);
		/* The middle ones: Ethernet, IPv4, UDP, BTH, payload, ICRC. */
		check_gaps(&sent_a, 1, 14 + 20 + 8 + 12 + mtu + 4 + MAC_OVERHEAD, rates[i % 3]);
		CHECK_EQ(sent_a.count, 100);
		CHECK_EQ(rdma_counter(&pair.a, "retransmitted_packets"), 0);
		rdma_pair_destroy(&pair);
	}
}

/* So slow that the acknowledge is asked for later than the peer's time is over. */
TERN_TEST(no_timeout_for_what_is_held_back)
{
	control_type on = control(BOTH);

	on.first_rate_mbps = htole32(10);
	start((struct rdma_options){ .timeout = 10, .retry_count = 1 }, &on);
	limit(&pair.a);
	request(&pair.a, TERN_WQE_WRITE, 100 * 4096);
	CHECK_EQ(rdma_counter(&pair.a, "local_ack_timeout_err"), 0);
	CHECK_EQ(rdma_counter(&pair.a, "retransmitted_packets"), 0);
	rdma_pair_destroy(&pair);
}

TERN_TEST(read_responses_are_paced)
{
	control_type on = control(BOTH);

	on.first_rate_mbps = htole32(1000);
	start((struct rdma_options){ .latency_ns = 700 }, &on);
	limit(&pair.b);
	world_advance(pair.world, 10 * MS);
	watch();
	request(&pair.a, TERN_WQE_READ, 60 * 4096);
	CHECK_EQ(sent_b.count, 60);
	check_gaps(&sent_b, 1, 14 + 20 + 8 + 12 + 4096 + 4 + MAC_OVERHEAD, 1000);
	/* Acknowledges do not wait, nor take time. */
	memset(&sent_b, 0, sizeof(sent_b));
	request(&pair.a, TERN_WQE_WRITE, 4096 * 64);
	CHECK_EQ(sent_b.count, 0);
	rdma_pair_destroy(&pair);
}

/* Requests and READ responses of one queue pair share its rate, and neither starves. */
TERN_TEST(both_directions_share)
{
	const struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 50 * 4096 };
	const struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 50 * 4096 };
	control_type on = control(BOTH);
	unsigned int responses;

	on.first_rate_mbps = htole32(1000);
	start((struct rdma_options){ .latency_ns = 700 }, &on);
	limit(&pair.b);
	world_advance(pair.world, 10 * MS);
	watch();
	rdma_post(&pair, &pair.a, &read);
	rdma_post(&pair, &pair.b, &write);
	world_advance(pair.world, 60 * 33 * US);
	CHECK(sent_b.count >= 58 && sent_b.count <= 62);
	responses = sent_b.ecn[WIRE_RC_READ_RESPONSE_MIDDLE][ECN_ECT_0];
	CHECK(responses >= 25 && responses <= 33);
	check_gaps(&sent_b, 2, 14 + 20 + 8 + 12 + 4096 + 4 + MAC_OVERHEAD, 1000);
	rdma_pair_destroy(&pair);
}

/* It recovers by itself, and is not limited then. */
TERN_TEST(recovery)
{
	control_type on = control(BOTH);
	uint64_t ns, later;

	on.time_reset_us = htole32(100);
	start((struct rdma_options){ 0 }, &on);
	limit(&pair.a);
	CHECK_EQ(rate_of(&pair.a), 5000);
	world_advance(pair.world, 101 * US);
	CHECK_EQ(rate_of(&pair.a), 7500);
	world_advance(pair.world, 2 * MS);
	CHECK_EQ(rate_of(&pair.a), 0);
	CHECK_EQ(limited_queue_pairs(&pair.a, &ns), 1);
	/* 1 - 1/2^9 is below 0.999, 1 - 1/2^10 is above. */
	CHECK_EQ(ns, 900 * US);
	world_advance(pair.world, MS);
	limited_queue_pairs(&pair.a, &later);
	CHECK_EQ(later, ns);
	rdma_pair_destroy(&pair);
	/* By bytes. */
	on = control(BOTH);
	on.byte_reset = htole32(100000);
	start((struct rdma_options){ 0 }, &on);
	limit(&pair.a);
	request(&pair.a, TERN_WQE_WRITE, 1 << 20);
	CHECK_EQ(rate_of(&pair.a), 0);
	rdma_pair_destroy(&pair);
}

static void forge(uint8_t opcode, uint32_t qpn, uint16_t pkey)
{
	struct wire_headers headers = peer_headers(&peer, opcode, 0);

	headers.destination_qpn = qpn;
	headers.pkey = pkey;
	headers.becn = true;
	peer_send(&peer, &headers, NULL, 0);
}

static void expect_ignored(unsigned int count)
{
	CHECK(!peer_next(&peer));
	CHECK_EQ(rdma_counter(&pair.a, "rp_cnp_ignored"), count);
	CHECK_EQ(rdma_counter(&pair.a, "rp_cnp_handled"), 0);
	CHECK_EQ(rate_of(&pair.a), 0);
}

TERN_TEST(hostile_notifications)
{
	control_type on = control(BOTH), off = control(TERN_CONGESTION_NOTIFY);
	uint8_t frame[14 + 20 + 8 + 12 + 16 + 4] = { 0 };
	struct tern_frame wrapped;
	uint32_t qpn;

	start((struct rdma_options){ 0 }, &on);
	peer_start(&peer, &pair);
	qpn = pair.a.qp.qpn;
	forge(WIRE_CNP, 0xffffff, WIRE_PKEY_DEFAULT);
	forge(WIRE_CNP, 0, WIRE_PKEY_DEFAULT);
	forge(WIRE_CNP, qpn + 1, WIRE_PKEY_DEFAULT);
	forge(WIRE_CNP, qpn, 0x1234);
	expect_ignored(4);
	/* Not from the peer. */
	peer.path.bytes[14 + 15] ^= 1;
	wire_path_set_class(&peer.path, 0, 0);
	forge(WIRE_CNP, qpn, WIRE_PKEY_DEFAULT);
	expect_ignored(5);
	peer.path.bytes[14 + 15] ^= 1;
	wire_path_set_class(&peer.path, 0, 0);
	/* Too short, each length: malformed or nobody's. */
	memcpy(frame, peer.path.bytes, 42);
	frame[42] = WIRE_CNP;
	for (size_t length = 14; length < sizeof(frame); length++) {
		tern_frame_wrap(&wrapped, frame, length);
		host_receive(pair.a.machine, &wrapped);
	}
	expect_ignored(5);
	/* The reaction point is off. */
	CHECK_EQ(set(&pair.a, PRIORITY, &off), 0);
	forge(WIRE_CNP, qpn, WIRE_PKEY_DEFAULT);
	expect_ignored(6);
	CHECK_EQ(set(&pair.a, PRIORITY, &on), 0);
	/* CE on a CNP is no reason for another one. */
	wire_path_set_class(&peer.path, ECN_CE, 0);
	forge(WIRE_CNP, qpn, WIRE_PKEY_DEFAULT);
	CHECK(!peer_next(&peer));
	CHECK_EQ(rdma_counter(&pair.a, "rp_cnp_handled"), 1);
	CHECK_EQ(rdma_counter(&pair.a, "np_ecn_marked_roce_packets"), 0);
	CHECK_EQ(rate_of(&pair.a), 5000);
	/* In ERROR it is not its peer's any more. */
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
	forge(WIRE_CNP, qpn, WIRE_PKEY_DEFAULT);
	CHECK_EQ(rdma_counter(&pair.a, "rp_cnp_ignored"), 7);
	CHECK_EQ(rate_of(&pair.a), 0);
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

/* Marked packets that are for nobody, of a wrong ICRC, or not from the peer do not count. */
TERN_TEST(hostile_marks)
{
	const control_type on = control(BOTH);
	struct wire_headers headers;

	start((struct rdma_options){ 0 }, &on);
	peer_start(&peer, &pair);
	wire_path_set_class(&peer.path, ECN_CE, 0);
	headers = peer_headers(&peer, WIRE_RC_WRITE_ONLY, 0);
	headers.destination_qpn++;
	peer_send(&peer, &headers, NULL, 0);
	peer.path.bytes[14 + 15] ^= 1;
	wire_path_set_class(&peer.path, ECN_CE, 0);
	headers = peer_headers(&peer, WIRE_RC_WRITE_ONLY, 0);
	peer_send(&peer, &headers, NULL, 0);
	CHECK(!peer_next(&peer));
	CHECK_EQ(rdma_counter(&pair.a, "np_ecn_marked_roce_packets"), 0);
	peer.path.bytes[14 + 15] ^= 1;
	wire_path_set_class(&peer.path, ECN_CE, 0);
	/* In order, out of order, and a duplicate count. */
	for (unsigned int i = 0; i < 3; i++) {
		headers = peer_headers(&peer, WIRE_RC_WRITE_ONLY, i == 1 ? 100 : 0);
		headers.ack_request = true;
		peer_send(&peer, &headers, NULL, 0);
		CHECK(peer_next(&peer));
		CHECK_EQ(peer.packet.headers.opcode, WIRE_CNP);
		CHECK(peer.packet.headers.becn);
		CHECK(peer_next(&peer));
		CHECK_EQ(peer.packet.headers.opcode, WIRE_RC_ACKNOWLEDGE);
	}
	CHECK_EQ(rdma_counter(&pair.a, "np_ecn_marked_roce_packets"), 3);
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

/* While it is limited and its packets wait it is taken to another state, or away. */
TERN_TEST(ends_while_limited)
{
	const struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 50 * 4096 };
	control_type on = control(BOTH), off = control(0);
	uint64_t ns, later;

	on.first_rate_mbps = htole32(10);
	for (unsigned int end = 0; end < 5; end++) {
		struct tern_cqe cqe;

		start((struct rdma_options){ .no_timeout = true }, &on);
		limit(&pair.a);
		rdma_post(&pair, &pair.a, &write);
		world_advance(pair.world, 10 * MS);
		CHECK(rdma_none(&pair.a.send_cq));
		switch (end) {
		case 0:
			CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_ERROR, 0, NULL), 0);
			world_settle(pair.world);
			CHECK(driver_cq_poll(&pair.a.send_cq, &cqe));
			CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
			break;
		case 1:
			CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RESET, 0, NULL), 0);
			break;
		case 2:
			CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_QP,
						pair.a.qp.qpn, NULL, 0), 0);
			break;
		case 3:
			host_reset(pair.a.machine, 0);
			break;
		default:
			/* What waits goes at once. */
			CHECK_EQ(set(&pair.a, PRIORITY, &off), 0);
			world_settle(pair.world);
			CHECK(driver_cq_poll(&pair.a.send_cq, &cqe));
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
			break;
		}
		CHECK_EQ(limited_queue_pairs(&pair.a, &ns), end != 3);
		world_advance(pair.world, 100 * MS);
		limited_queue_pairs(&pair.a, &later);
		CHECK_EQ(later, ns);
		rdma_pair_destroy(&pair);
	}
}

TERN_TEST(counted_for_sets)
{
	const struct tern_command_bind_counter_set body = { .counter_set = htole32(9) };
	const control_type on = control(BOTH);

	start((struct rdma_options){ 0 }, &on);
	for (int b = 0; b < 2; b++) {
		struct rdma_side *side = b ? &pair.b : &pair.a;

		CHECK_EQ(driver_command(side->driver, TERN_COMMAND_CREATE_COUNTER_SET, 9, NULL, 0),
			 0);
		CHECK_EQ(driver_command(side->driver, TERN_COMMAND_BIND_COUNTER_SET,
					side->qp.qpn, &body, sizeof(body)), 0);
	}
	add_mark(&pair.a, -1);
	request(&pair.a, TERN_WQE_WRITE, 64);
	for (int b = 0; b < 2; b++) {
		struct rdma_side *side = b ? &pair.b : &pair.a;
		struct tern_rdma_statistics *answer;
		struct tern_command_query query = {
			.address = htole64(host_alloc(side->machine, sizeof(*answer), 8)),
			.length = htole32(sizeof(*answer)),
		};

		CHECK_EQ(driver_command(side->driver, TERN_COMMAND_QUERY_COUNTER_SET, 9, &query,
					sizeof(query)), 0);
		answer = host_pointer(side->machine, le64toh(query.address));
		CHECK_EQ(le64toh(answer->np_ecn_marked_roce_packets), b);
		CHECK_EQ(le64toh(answer->np_cnp_sent), b);
		CHECK_EQ(le64toh(answer->rp_cnp_handled), !b);
		CHECK_EQ(rdma_counter(side, "np_ecn_marked_roce_packets"), 0);
		CHECK_EQ(rdma_counter(side, "np_cnp_sent"), 0);
		CHECK_EQ(rdma_counter(side, "rp_cnp_handled"), 0);
	}
	rdma_pair_destroy(&pair);
}

#define REFUSED(member, value)							\
	do {									\
		control_type bad = on;						\
										\
		bad.member = (value);						\
		CHECK_EQ(set(&pair.a, PRIORITY, &bad),				\
			 TERN_COMMAND_STATUS_BAD_PARAMETER);			\
		CHECK_EQ(pair.a.driver->syndrome, offsetof(struct tern_command, body) +	\
			 offsetof(control_type, member));			\
	} while (0)
#define ACCEPTED(member, value)							\
	do {									\
		control_type good = on;						\
										\
		good.member = (value);						\
		CHECK_EQ(set(&pair.a, PRIORITY, &good), 0);			\
	} while (0)

TERN_TEST(refusals)
{
	const struct rdma_options options = {
		.without_features = UINT64_C(1) << TERN_FEATURE_ECN,
	};
	const control_type on = control(BOTH);
	const struct congestion_priority *of;

	start((struct rdma_options){ 0 }, &on);
	CHECK_EQ(set(&pair.a, 8, &on), TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(set(&pair.a, PRIORITY + 256, &on), TERN_COMMAND_STATUS_BAD_NUMBER);
	REFUSED(flags, 8);
	REFUSED(cnp_priority, 8);
	REFUSED(cnp_dscp, 64);
	REFUSED(reserved0, 1);
	REFUSED(min_rate_mbps, 0);
	REFUSED(min_rate_mbps, htole32(10001));
	REFUSED(time_reset_us, 0);
	REFUSED(byte_reset, 0);
	REFUSED(threshold, 0);
	REFUSED(threshold, htole32(32));
	REFUSED(ai_rate_mbps, 0);
	REFUSED(hai_rate_mbps, 0);
	REFUSED(alpha_timer_us, 0);
	REFUSED(initial_alpha, htole16(1025));
	REFUSED(gain_shift, 0);
	REFUSED(gain_shift, 16);
	REFUSED(min_decrease_percent, 0);
	REFUSED(min_decrease_percent, 101);
	REFUSED(reserved1, htole32(1));
	/* Whatever the flags; and what was set stays. */
	of = congestion_of(pair.a.machine->nic, PRIORITY);
	CHECK_EQ(of->cnp_dscp, 48);
	CHECK(of->notifies);
	ACCEPTED(flags, 7);
	ACCEPTED(cnp_priority, 7);
	ACCEPTED(cnp_dscp, 63);
	ACCEPTED(min_rate_mbps, htole32(10000));
	ACCEPTED(max_rate_mbps, 0);
	ACCEPTED(threshold, htole32(31));
	ACCEPTED(initial_alpha, 0);
	ACCEPTED(gain_shift, 15);
	ACCEPTED(min_decrease_percent, 100);
	rdma_pair_destroy(&pair);

	rdma_pair_create(&pair, &options);
	CHECK_EQ(set(&pair.a, PRIORITY, &on), TERN_COMMAND_STATUS_BAD_OPCODE);
	rdma_pair_destroy(&pair);
}

/* The port is the PF's. */
TERN_TEST(not_for_a_vf)
{
	const struct tern_nic_config config = { .functions = 2, .seed = 1 };
	const control_type on = control(BOTH);
	struct world *world = world_create();
	struct machine *machine = machine_create(world, &config, 0);
	struct driver driver;

	driver_start(&driver, machine, 1, 0);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_SET_CONGESTION_CONTROL, 8, &on, sizeof(on)),
		 TERN_COMMAND_STATUS_NOT_PERMITTED);
	world_destroy(world);
}

/* A rate of 0 is the port's. */
TERN_TEST(port_speed)
{
	control_type on = control(BOTH);

	on.max_rate_mbps = 0;
	start((struct rdma_options){ .speed_mbps = 3000 }, &on);
	limit(&pair.a);
	CHECK_EQ(rate_of(&pair.a), 1500);
	rdma_pair_destroy(&pair);
}
