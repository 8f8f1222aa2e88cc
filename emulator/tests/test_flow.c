// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: flows: which frames they match, who gets them, and what the commands refuse. */
#include <endian.h>
#include <stdlib.h>

#include "capabilities.h"
#include "flow.h"
#include "host_ethernet.h"
#include "host_rdma.h"
#include "nic.h"
#include "tern_hw_flow.h"
#include "tern_test.h"

#define NETDEV	0	/* net.qps[]: takes what the filters take; the others have flows */

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xb };
static const uint8_t mac_c[6] = { 2, 0, 0, 0, 1, 0xc };
static const uint8_t group[6] = { 1, 0x50, 0x56, 0x19, 0x20, 0xa7 };

static struct world *world;
static struct machine *machine;
static struct net net;
static uint8_t bytes[10000];
static unsigned int sent;

static bool count_sent(struct machine *from, const struct tern_frame *frame)
{
	(void)from;
	(void)frame;
	sent++;
	return false;
}

static void start_without(unsigned int functions, uint64_t without)
{
	struct tern_nic_config config = host_default_config;

	memcpy(config.mac, mac_a, 6);
	config.functions = functions;
	world = world_create();
	machine = machine_create(world, &config, 0);
	machine->on_transmit = count_sent;
	tern_nic_set_carrier(machine->nic, true);
	net_start(&net, machine, 0, 4, without);
	for (unsigned int i = 0; i < 4; i++)
		net_post_receives(&net, i, 100, 2048);
}

static void start(void)
{
	start_without(1, 0);
}

static uint64_t counter(const char *name)
{
	return host_counter(machine, 0, name);
}

static struct tern_command_add_flow flow_to(unsigned int qp)
{
	return (struct tern_command_add_flow){ .qpn = htole32(net.qps[qp].qpn) };
}

static uint16_t add(uint32_t number, const struct tern_command_add_flow *flow)
{
	return driver_command(&net.driver, TERN_COMMAND_ADD_FLOW, number, flow, sizeof(*flow));
}

static uint16_t remove_flow(uint32_t number)
{
	return driver_command(&net.driver, TERN_COMMAND_REMOVE_FLOW, number, NULL, 0);
}

static void receive(const uint8_t *frame_bytes, size_t length)
{
	struct tern_frame frame;

	tern_frame_wrap(&frame, frame_bytes, length);
	host_receive(machine, &frame);
}

static size_t build(const struct net_headers *headers)
{
	return net_build(bytes, headers, 46, 1);
}

/* Which queue pair got the next frame; -1: nobody. */
static int who(void)
{
	struct net_frame got;

	return net_receive(&net, &got) ? (int)got.qp : -1;
}

/* Who gets the frame in bytes[]. */
static int goes_to(size_t length)
{
	int qp;

	receive(bytes, length);
	qp = who();
	CHECK_EQ(who(), -1);
	if (qp >= 0)
		net_post_receives(&net, (unsigned int)qp, 1, 2048);
	return qp;
}

static const struct net_headers tcp4 = {
	.destination = mac_a, .source = mac_b, .source_port = 1000, .destination_port = 2000,
};

static const struct net_headers udp6 = {
	.destination = mac_a, .source = mac_b, .source_port = 1000, .destination_port = 2000,
	.ipv6 = true, .udp = true, .tagged = true, .tci = 0x6123,
};

struct field {
	const char *name;
	size_t offset, length;
	const char *value;
};

#define FIELD(member, value) {							\
	#member, offsetof(struct tern_flow_match, member),			\
	sizeof(((struct tern_flow_match *)0)->member), value,			\
}

/* Each bit of each field alone: the flow takes the frame with it right, not with it wrong. */
static void each_bit(const struct net_headers *headers, uint8_t ip_version, uint8_t l4_protocol,
		     const struct field *fields, size_t count)
{
	size_t length = build(headers);

	CHECK_EQ(goes_to(length), NETDEV);
	for (size_t i = 0; i < count; i++) {
		for (size_t bit = 0; bit < fields[i].length * 8; bit++) {
			struct tern_command_add_flow flow = flow_to(1);
			uint8_t *value = (uint8_t *)&flow.value + fields[i].offset + bit / 8;
			uint8_t *mask = (uint8_t *)&flow.mask + fields[i].offset + bit / 8;
			uint8_t real = (uint8_t)fields[i].value[bit / 8];

			flow.ip_version = ip_version;
			flow.l4_protocol = l4_protocol;
			*mask = (uint8_t)(1U << bit % 8);
			*value = real & *mask;
			if (add(3, &flow) != 0)
				FAIL("%s bit %zu is refused", fields[i].name, bit);
			if (goes_to(length) != 1)
				FAIL("%s bit %zu is not found", fields[i].name, bit);
			CHECK_EQ(remove_flow(3), 0);
			*value ^= *mask;
			CHECK_EQ(add(3, &flow), 0);
			if (goes_to(length) != NETDEV)
				FAIL("%s bit %zu matches what it does not", fields[i].name, bit);
			CHECK_EQ(remove_flow(3), 0);
		}
	}
}

TERN_TEST(fields_ipv4)
{
	static const struct field fields[] = {
		FIELD(destination_mac, "\2\0\0\0\0\xa"),
		FIELD(source_mac, "\2\0\0\0\0\xb"),
		FIELD(ethertype, "\x08\x00"),
		{ "source_address", offsetof(struct tern_flow_match, source_address), 4,
		  "\x0a\0\0\1" },
		{ "destination_address", offsetof(struct tern_flow_match, destination_address), 4,
		  "\x0a\0\0\2" },
		FIELD(protocol, "\6"),
		FIELD(traffic_class, "\0"),
		FIELD(hop_limit, "\x40"),
		FIELD(source_port, "\x03\xe8"),
		FIELD(destination_port, "\x07\xd0"),
	};

	start();
	each_bit(&tcp4, 4, 6, fields, sizeof(fields) / sizeof(*fields));
	world_destroy(world);
}

TERN_TEST(fields_ipv6)
{
	static const struct field fields[] = {
		FIELD(vlan_tci, "\x61\x23"),
		FIELD(ethertype, "\x86\xdd"),
		FIELD(source_address,
		      "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"),
		FIELD(destination_address,
		      "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2"),
		FIELD(protocol, "\x11"),
		FIELD(traffic_class, "\0"),
		FIELD(hop_limit, "\x40"),
		{ "flow_label", offsetof(struct tern_flow_match, flow_label) + 2, 2, "\0\0" },
		FIELD(source_port, "\x03\xe8"),
		FIELD(destination_port, "\x07\xd0"),
	};

	start();
	each_bit(&udp6, 6, 17, fields, sizeof(fields) / sizeof(*fields));
	world_destroy(world);
}

TERN_TEST(flow_label_class_and_fragments)
{
	struct tern_command_add_flow flow = flow_to(1);
	size_t length;

	start();
	flow = flow_to(1);
	length = build(&udp6);
	bytes[18] = 0x6a;
	bytes[19] = 0xbc;
	bytes[20] = 0xde;
	bytes[21] = 0xf0;
	flow.ip_version = 6;
	flow.mask.traffic_class = 0xff;
	flow.value.traffic_class = 0xab;
	memcpy(flow.mask.flow_label, "\0\x0f\xff\xff", 4);
	memcpy(flow.value.flow_label, "\0\x0c\xde\xf0", 4);
	CHECK_EQ(add(0, &flow), 0);
	CHECK_EQ(goes_to(length), 1);
	CHECK_EQ(remove_flow(0), 0);
	flow = flow_to(2);
	flow.ip_version = 4;
	flow.mask.fragment = TERN_FLOW_FRAGMENT_DO_NOT | TERN_FLOW_FRAGMENT_MORE;
	flow.value.fragment = TERN_FLOW_FRAGMENT_MORE;
	CHECK_EQ(add(0, &flow), 0);
	length = build(&tcp4);
	CHECK_EQ(goes_to(length), NETDEV);
	bytes[20] = 0x20;
	CHECK_EQ(goes_to(length), 2);
	/* Its ports are in no fragment. */
	CHECK_EQ(remove_flow(0), 0);
	flow = flow_to(2);
	flow.l4_protocol = 6;
	CHECK_EQ(add(0, &flow), 0);
	CHECK_EQ(goes_to(length), NETDEV);
	length = build(&tcp4);
	CHECK_EQ(goes_to(length), 2);
	world_destroy(world);
}

TERN_TEST(versions_protocols_tags)
{
	struct net_headers udp4 = tcp4;
	struct tern_command_add_flow flow;
	size_t length;

	start();
	udp4.udp = true;
	flow = flow_to(1);
	flow.l4_protocol = 17;
	CHECK_EQ(add(1, &flow), 0);
	flow = flow_to(2);
	flow.ip_version = 4;
	flow.priority = htole16(1);
	CHECK_EQ(add(2, &flow), 0);
	CHECK_EQ(goes_to(build(&udp4)), 1);
	CHECK_EQ(goes_to(build(&udp6)), 1);
	CHECK_EQ(goes_to(build(&tcp4)), 2);
	CHECK_EQ(remove_flow(1), 0);
	CHECK_EQ(goes_to(build(&udp6)), NETDEV);
	/* VLAN 0 is a tag, too. */
	flow = flow_to(3);
	flow.mask.vlan_tci[0] = 0x0f;
	flow.mask.vlan_tci[1] = 0xff;
	CHECK_EQ(add(1, &flow), 0);
	CHECK_EQ(goes_to(build(&tcp4)), 2);
	udp4.tagged = true;
	udp4.tci = 0xe000;
	CHECK_EQ(goes_to(build(&udp4)), 3);
	/* A packet that claims to be longer than its frame is of its flow all the same. */
	CHECK_EQ(remove_flow(1), 0);
	length = build(&tcp4);
	bytes[17] = 0xff;
	CHECK_EQ(goes_to(length), 2);
	/* Not if it has no header. */
	CHECK_EQ(goes_to(14 + 19), NETDEV);
	CHECK_EQ(goes_to(14 + 20), 2);
	world_destroy(world);
}

TERN_TEST(priorities)
{
	struct tern_command_add_flow flow;
	size_t length;

	start();
	length = build(&tcp4);
	flow = flow_to(1);
	flow.priority = htole16(0xffff);
	CHECK_EQ(add(0, &flow), 0);
	flow = flow_to(2);
	flow.priority = htole16(5);
	CHECK_EQ(add(1, &flow), 0);
	flow = flow_to(3);
	flow.priority = htole16(5);
	CHECK_EQ(add(2, &flow), 0);
	CHECK_EQ(goes_to(length), 2);
	CHECK_EQ(remove_flow(1), 0);
	CHECK_EQ(goes_to(length), 3);
	flow = flow_to(2);
	flow.priority = htole16(4);
	CHECK_EQ(add(1, &flow), 0);
	CHECK_EQ(goes_to(length), 2);
	/* A queue pair takes its flows with it. */
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, net.qps[2].qpn, NULL, 0), 0);
	CHECK_EQ(goes_to(length), 3);
	CHECK_EQ(remove_flow(1), TERN_COMMAND_STATUS_NOT_FOUND);
	CHECK_EQ(remove_flow(2), 0);
	CHECK_EQ(goes_to(length), 1);
	CHECK_EQ(remove_flow(0), 0);
	CHECK_EQ(goes_to(length), NETDEV);
	world_destroy(world);
}

TERN_TEST(drop_and_continue)
{
	struct tern_command_add_flow flow;
	uint64_t filtered;
	size_t length;

	start();
	length = build(&tcp4);
	flow = flow_to(1);
	flow.flags = TERN_FLOW_CONTINUE;
	CHECK_EQ(add(0, &flow), 0);
	receive(bytes, length);
	CHECK_EQ(who(), 1);
	CHECK_EQ(who(), NETDEV);
	flow = flow_to(2);
	flow.flags = TERN_FLOW_DROP;
	CHECK_EQ(add(1, &flow), 0);
	filtered = counter("rx_filtered");
	receive(bytes, length);
	CHECK_EQ(who(), 1);
	CHECK_EQ(who(), -1);
	CHECK_EQ(counter("rx_filtered"), filtered + 1);
	flow.flags = TERN_FLOW_DROP | TERN_FLOW_CONTINUE;
	CHECK_EQ(add(2, &flow), TERN_COMMAND_STATUS_BAD_PARAMETER);
	world_destroy(world);
}

/* Defaults come behind the filters, flows before them. */
TERN_TEST(defaults)
{
	struct net_headers foreign = tcp4, many = tcp4;
	struct tern_command_add_flow flow;

	start();
	foreign.destination = mac_b;
	many.destination = group;
	flow = flow_to(1);
	flow.type = TERN_FLOW_DEFAULT;
	CHECK_EQ(add(0, &flow), 0);
	CHECK_EQ(goes_to(build(&tcp4)), NETDEV);
	CHECK_EQ(goes_to(build(&foreign)), 1);
	CHECK_EQ(goes_to(build(&many)), 1);
	flow = flow_to(2);
	flow.type = TERN_FLOW_MULTICAST_DEFAULT;
	CHECK_EQ(add(1, &flow), 0);
	CHECK_EQ(goes_to(build(&foreign)), 1);
	CHECK_EQ(goes_to(build(&many)), 2);
	CHECK_EQ(net_receive_mode(&net, TERN_RECEIVE_ALL_MULTICAST), 0);
	CHECK_EQ(goes_to(build(&many)), NETDEV);
	flow = flow_to(3);
	CHECK_EQ(add(2, &flow), 0);
	CHECK_EQ(goes_to(build(&many)), 3);
	CHECK_EQ(goes_to(build(&foreign)), 3);
	world_destroy(world);
}

TERN_TEST(sniffer)
{
	struct net_headers foreign = tcp4;
	struct tern_command_add_flow flow;
	struct net_frame got;
	size_t length;

	start();
	foreign.destination = mac_b;
	flow = flow_to(1);
	flow.type = TERN_FLOW_SNIFFER;
	CHECK_EQ(add(0, &flow), 0);
	/* What comes in, whoever takes it. */
	receive(bytes, build(&tcp4));
	CHECK_EQ(who(), 1);
	CHECK_EQ(who(), NETDEV);
	CHECK_EQ(goes_to(build(&foreign)), 1);
	flow = flow_to(2);
	flow.flags = TERN_FLOW_DROP;
	CHECK_EQ(add(1, &flow), 0);
	CHECK_EQ(goes_to(build(&tcp4)), 1);
	CHECK_EQ(remove_flow(1), 0);
	/* What goes out, once; tags stay. */
	foreign.tagged = true;
	foreign.tci = 7;
	length = build(&foreign);
	net_send(&net, bytes, length, NULL);
	world_settle(world);
	CHECK_EQ(sent, 1);
	CHECK(net_receive(&net, &got) && got.qp == 1);
	CHECK_EQ(le32toh(got.cqe.byte_count), length);
	CHECK_MEM(got.data, bytes, length);
	CHECK_EQ(who(), -1);
	/* To itself: once, and to the receiver. */
	net_send(&net, bytes, build(&tcp4), NULL);
	world_settle(world);
	CHECK_EQ(sent, 1);
	CHECK_EQ(who(), 1);
	CHECK_EQ(who(), NETDEV);
	CHECK_EQ(who(), -1);
	world_destroy(world);
}

/* RoCE is the RDMA engine's; sniffers see it, with its ICRC. */
TERN_TEST(sniffer_sees_roce)
{
	const struct rdma_options rc = { .type = TERN_QP_RC };
	const struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 100 };
	struct rdma_pair pair;
	struct tern_command_add_flow flow;
	struct driver_qp qp;
	struct tern_cqe cqe;
	struct driver_cq cq;
	uint64_t buffer;
	uint8_t *frame;
	uint32_t key;
	struct rdma_side *side = &pair.b;

	rdma_pair_create(&pair, &rc);
	driver_cq_create(side->driver, &cq, 6);
	driver_qp_create(side->driver, &qp, TERN_QP_ETHERNET, 0, 5, 0, &cq, &cq, 4, 4, 6);
	CHECK_EQ(driver_qp_modify(&qp, TERN_QP_RTS, 0, NULL), 0);
	buffer = host_alloc(side->driver->machine, 4096, 4096);
	key = driver_key_create(side->driver, buffer, 4096, TERN_ACCESS_LOCAL_WRITE, 5);
	for (unsigned int i = 0; i < 2; i++) {
		struct tern_sge sge = {
			.address = htole64(buffer + 2048 * i), .length = htole32(2048),
			.key = htole32(key),
		};

		driver_post_receive(&qp, &sge, 1);
	}
	for (unsigned int type = TERN_FLOW_NORMAL; type <= TERN_FLOW_SNIFFER; type += 3) {
		flow = (struct tern_command_add_flow){
			.type = (uint8_t)type, .qpn = htole32(qp.qpn),
		};
		CHECK_EQ(driver_command(side->driver, TERN_COMMAND_ADD_FLOW, type, &flow,
					sizeof(flow)), 0);
	}
	rdma_post_receive(side, 0, 100);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &side->receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	world_settle(pair.world);
	/* The request, and the acknowledge. */
	CHECK(driver_cq_poll(&cq, &cqe));
	CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE_ETHERNET);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	frame = host_pointer(side->driver->machine, buffer);
	CHECK_MEM(frame, side->mac, 6);
	CHECK(driver_cq_poll(&cq, &cqe));
	CHECK_MEM(frame + 2048 + 6, side->mac, 6);
	CHECK(!driver_cq_poll(&cq, &cqe));
	rdma_pair_destroy(&pair);
}

/* What an unprivileged queue pair sends goes to the flows of its function, and out. */
TERN_TEST(loopback)
{
	struct tern_command_add_flow flow;
	struct driver_qp own = net.qps[0];
	struct net_headers many = tcp4;
	struct net_frame got;
	size_t length;

	start();
	own = net.qps[0];
	many.destination = group;
	flow = flow_to(1);
	flow.ip_version = 4;
	CHECK_EQ(add(0, &flow), 0);
	/* The netdev's does not. */
	length = build(&many);
	net_send(&net, bytes, length, NULL);
	world_settle(world);
	CHECK_EQ(sent, 1);
	CHECK_EQ(who(), -1);
	driver_qp_create(&net.driver, &net.qps[0], TERN_QP_ETHERNET, 0, 0,
			 TERN_QP_PRIVILEGED | TERN_QP_FLOW_LOOPBACK, &net.send_cq,
			 &net.receive_cq, 4, 4, 6);
	CHECK_EQ(driver_qp_modify(&net.qps[0], TERN_QP_RTS, 0, NULL), 0);
	net_send(&net, bytes, length, NULL);
	world_settle(world);
	CHECK_EQ(sent, 2);
	CHECK(net_receive(&net, &got) && got.qp == 1);
	CHECK_MEM(got.data, bytes, length);
	CHECK_EQ(who(), -1);
	/* To the station's own address: once, and not out. */
	net_send(&net, bytes, build(&tcp4), NULL);
	world_settle(world);
	CHECK_EQ(sent, 2);
	CHECK_EQ(who(), 1);
	CHECK_EQ(who(), -1);
	/* With the port down nothing arrives. */
	CHECK_EQ(net_set_port(&net, 1500, TERN_PORT_DOWN), 0);
	net_send(&net, bytes, build(&many), NULL);
	world_settle(world);
	CHECK_EQ(who(), -1);
	net.qps[0] = own;
	world_destroy(world);
}

TERN_TEST(tags_are_stripped_on_request)
{
	struct tern_command_add_flow flow;
	struct driver_qp own;
	struct net_frame got;
	size_t length;

	start();
	length = build(&udp6);
	flow = flow_to(1);
	CHECK_EQ(add(0, &flow), 0);
	receive(bytes, length);
	CHECK(net_receive(&net, &got) && got.qp == 1);
	CHECK_EQ(le32toh(got.cqe.byte_count), length);
	CHECK_EQ(got.cqe.flags, 0);
	CHECK_EQ(remove_flow(0), 0);
	own = net.qps[1];
	driver_qp_create(&net.driver, &net.qps[1], TERN_QP_ETHERNET, 0, 0,
			 TERN_QP_PRIVILEGED | TERN_QP_VLAN_STRIP, &net.send_cq,
			 &net.receive_cq, NET_RING_SHIFT, NET_RING_SHIFT, 9);
	CHECK_EQ(driver_qp_modify(&net.qps[1], TERN_QP_RTS, 0, NULL), 0);
	net_post_receives(&net, 1, 1, 2048);
	flow = flow_to(1);
	CHECK_EQ(add(0, &flow), 0);
	receive(bytes, length);
	CHECK(net_receive(&net, &got) && got.qp == 1);
	CHECK_EQ(le32toh(got.cqe.byte_count), length - 4);
	CHECK_EQ(got.cqe.flags, TERN_CQE_FLAG_VLAN);
	CHECK_EQ(le16toh(got.cqe.vlan_tci), 0x6123);
	CHECK_MEM(got.data, bytes, 12);
	CHECK_MEM(got.data + 12, bytes + 16, length - 16);
	net.qps[1] = own;
	world_destroy(world);
}

/* A process's queue pair: its keys, and nobody else's. */
TERN_TEST(keys_of_a_process)
{
	struct tern_command_add_flow flow;
	struct driver_qp own;
	struct tern_cqe cqe;
	uint64_t buffer;
	size_t length;
	uint32_t keys[4];

	start();
	own = net.qps[1];
	driver_qp_create(&net.driver, &net.qps[1], TERN_QP_ETHERNET, 0, 7, 0, &net.send_cq,
			 &net.receive_cq, 4, 4, 6);
	CHECK_EQ(driver_qp_modify(&net.qps[1], TERN_QP_RTS, 0, NULL), 0);
	buffer = host_alloc(machine, 4096, 4096);
	keys[0] = TERN_KEY_LOCAL_DMA;
	keys[1] = driver_key_create(&net.driver, buffer, 4096, TERN_ACCESS_LOCAL_WRITE, 8);
	keys[2] = driver_key_create(&net.driver, buffer, 4096, 0, 7);
	keys[3] = driver_key_create(&net.driver, buffer, 4096, TERN_ACCESS_LOCAL_WRITE, 7);
	flow = flow_to(1);
	CHECK_EQ(add(0, &flow), 0);
	length = build(&tcp4);
	for (unsigned int i = 0; i < 4; i++) {
		struct tern_sge sge = {
			.address = htole64(buffer), .length = htole32(2048),
			.key = htole32(keys[i]),
		};

		driver_post_receive(&net.qps[1], &sge, 1);
		receive(bytes, length);
		CHECK(driver_cq_poll(&net.receive_cq, &cqe));
		CHECK_EQ(cqe.status, i < 3 ? TERN_WC_LOCAL_PROTECTION : TERN_WC_SUCCESS);
	}
	CHECK_MEM(host_pointer(machine, buffer), bytes, length);
	net.qps[1] = own;
	world_destroy(world);
}

TERN_TEST(limits)
{
	struct tern_command_add_flow flow;

	start();
	flow = flow_to(1);
	flow.ip_version = 6;
	for (uint32_t i = 0; i < FLOW_COUNT; i++)
		CHECK_EQ(add(i, &flow), 0);
	CHECK_EQ(add(FLOW_COUNT, &flow), TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(remove_flow(FLOW_COUNT), TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(add(0, &flow), TERN_COMMAND_STATUS_EXISTS);
	CHECK_EQ(goes_to(build(&udp6)), 1);
	CHECK_EQ(goes_to(build(&tcp4)), NETDEV);
	/* Flows that copy are fewer; of either kind. */
	for (uint32_t i = 0; i < FLOW_COUNT; i++)
		CHECK_EQ(remove_flow(i), 0);
	flow.flags = TERN_FLOW_CONTINUE;
	for (uint32_t i = 0; i < FLOW_COPIES_MAX - 1; i++)
		CHECK_EQ(add(i, &flow), 0);
	flow = flow_to(2);
	flow.type = TERN_FLOW_SNIFFER;
	CHECK_EQ(add(100, &flow), 0);
	CHECK_EQ(add(101, &flow), TERN_COMMAND_STATUS_NO_RESOURCES);
	CHECK_EQ(remove_flow(0), 0);
	CHECK_EQ(add(101, &flow), 0);
	CHECK_EQ(add(102, &flow), TERN_COMMAND_STATUS_NO_RESOURCES);
	/* A queue pair that goes gives back what its flows took. */
	CHECK_EQ(driver_command(&net.driver, TERN_COMMAND_DESTROY_QP, net.qps[2].qpn, NULL, 0), 0);
	flow = flow_to(1);
	flow.type = TERN_FLOW_SNIFFER;
	CHECK_EQ(add(100, &flow), 0);
	CHECK_EQ(add(101, &flow), 0);
	CHECK_EQ(add(102, &flow), TERN_COMMAND_STATUS_NO_RESOURCES);
	host_reset(machine, 0);
	net_start(&net, machine, 0, 4, 0);
	net_post_receives(&net, NETDEV, 10, 2048);
	CHECK_EQ(goes_to(build(&tcp4)), NETDEV);
	world_destroy(world);
}

static void refused(const struct tern_command_add_flow *flow, uint16_t status, size_t offset)
{
	CHECK_EQ(add(5, flow), status);
	CHECK_EQ(net.driver.syndrome, offsetof(struct tern_command, body) + offset);
	CHECK_EQ(remove_flow(5), TERN_COMMAND_STATUS_NOT_FOUND);
}

#define REFUSED(set, member)							\
	do {									\
		flow = flow_to(1);						\
		set;								\
		refused(&flow, TERN_COMMAND_STATUS_BAD_PARAMETER,		\
			offsetof(struct tern_command_add_flow, member));	\
	} while (0)

TERN_TEST(refusals)
{
	struct tern_command_add_flow flow;
	struct driver_qp blind;

	start();
	REFUSED(flow.type = 4, type);
	REFUSED(flow.flags = 4, flags);
	REFUSED(flow.flags = TERN_FLOW_DROP; flow.type = TERN_FLOW_SNIFFER, flags);
	REFUSED(flow.ip_version = 5, ip_version);
	REFUSED(flow.l4_protocol = 1, l4_protocol);
	REFUSED(flow.ip_version = 4; flow.type = TERN_FLOW_DEFAULT, ip_version);
	REFUSED(flow.l4_protocol = 6; flow.type = TERN_FLOW_DEFAULT, l4_protocol);
	REFUSED(flow.mask.source_mac[5] = 1; flow.type = TERN_FLOW_SNIFFER, mask);
	REFUSED(flow.reserved0 = 1, reserved0);
	REFUSED(flow.reserved1 = 1, reserved1);
	REFUSED(flow.value.reserved0[3] = 1, value.reserved0);
	REFUSED(flow.mask.reserved0[0] = 1, mask.reserved0);
	REFUSED(flow.value.source_mac[2] = 1, value.source_mac[2]);
	REFUSED(flow.mask.source_address[0] = 1, mask.source_address);
	REFUSED(flow.mask.destination_address[15] = 1, mask.destination_address);
	REFUSED(flow.ip_version = 4; flow.mask.source_address[4] = 1, mask.source_address);
	REFUSED(flow.ip_version = 4; flow.mask.destination_address[15] = 1,
		mask.destination_address);
	REFUSED(flow.ip_version = 4; flow.mask.flow_label[3] = 1, mask.flow_label);
	REFUSED(flow.ip_version = 6; flow.mask.flow_label[1] = 0x10, mask.flow_label);
	REFUSED(flow.ip_version = 6; flow.mask.fragment = 1, mask.fragment);
	REFUSED(flow.ip_version = 4; flow.mask.fragment = 4, mask.fragment);
	REFUSED(flow.mask.protocol = 1, mask.protocol);
	REFUSED(flow.mask.traffic_class = 1, mask.traffic_class);
	REFUSED(flow.mask.hop_limit = 1, mask.hop_limit);
	REFUSED(flow.ip_version = 4; flow.mask.source_port[0] = 1, mask.source_port);
	REFUSED(flow.ip_version = 4; flow.mask.destination_port[1] = 1, mask.destination_port);
	flow = flow_to(1);
	flow.qpn = 0;
	refused(&flow, TERN_COMMAND_STATUS_NOT_FOUND,
		offsetof(struct tern_command_add_flow, qpn));
	driver_qp_create(&net.driver, &blind, TERN_QP_ETHERNET, 0, 0, TERN_QP_NO_RQ,
			 &net.send_cq, &net.receive_cq, 4, 0, 6);
	REFUSED(flow.qpn = htole32(blind.qpn), qpn);
	driver_qp_create(&net.driver, &blind, TERN_QP_UD, 0, 0, 0, &net.send_cq,
			 &net.receive_cq, 4, 4, 6);
	REFUSED(flow.qpn = htole32(blind.qpn), qpn);
	world_destroy(world);
}

TERN_TEST(without_the_feature)
{
	struct tern_command_add_flow flow;

	start_without(1, FEATURE(FLOW_STEERING));
	flow = flow_to(1);
	CHECK_EQ(add(0, &flow), TERN_COMMAND_STATUS_BAD_OPCODE);
	CHECK_EQ(remove_flow(0), TERN_COMMAND_STATUS_BAD_OPCODE);
	world_destroy(world);
}

/* Another function than the PF steers what is for it, and has nothing of the port's. */
TERN_TEST(other_functions)
{
	struct net_headers foreign = tcp4, to_vf = tcp4;
	struct net vf;
	struct tern_command_add_flow flow;
	struct net_frame got;
	uint8_t vf_mac[6];

	start_without(2, 0);
	net_start(&vf, machine, 1, 2, 0);
	net_post_receives(&vf, 0, 10, 2048);
	net_post_receives(&vf, 1, 10, 2048);
	memcpy(vf_mac, machine->nic->functions[1].permanent_mac, 6);
	to_vf.destination = vf_mac;
	foreign.destination = mac_c;
	flow = (struct tern_command_add_flow){ .qpn = htole32(vf.qps[1].qpn) };
	CHECK_EQ(driver_command(&vf.driver, TERN_COMMAND_ADD_FLOW, 0, &flow, sizeof(flow)), 0);
	for (uint8_t type = TERN_FLOW_DEFAULT; type <= TERN_FLOW_SNIFFER; type++) {
		flow.type = type;
		CHECK_EQ(driver_command(&vf.driver, TERN_COMMAND_ADD_FLOW, type, &flow,
					sizeof(flow)), TERN_COMMAND_STATUS_NOT_PERMITTED);
	}
	CHECK_EQ(goes_to(build(&tcp4)), NETDEV);
	CHECK_EQ(goes_to(build(&foreign)), -1);
	CHECK(!net_receive(&vf, &got));
	receive(bytes, build(&to_vf));
	CHECK(net_receive(&vf, &got) && got.qp == 1);
	CHECK_EQ(who(), -1);
	world_destroy(world);
}
