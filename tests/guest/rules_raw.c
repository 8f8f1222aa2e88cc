// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Raw packets: frames that a process sends and receives, the flows that steer
 * them, and how they are spread over receive work queues.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "verbs_rules.h"

#define HEADERS		42		/* Ethernet, IPv4, UDP */
#define PORT		4321
#define SLOT		2048
#define SLOTS		64
#define FLOWS_MAX	1024
#define SNIFFERS_MAX	64

static const uint8_t receiver_mac[6] = { 2, 0, 0, 0, 0x77, 1 };

struct raw {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct buffer b;
};

/* What ibv_create_flow() takes: the specifications stand behind the attributes. */
struct flow_attr {
	struct ibv_flow_attr attr;
	uint8_t specs[256];
};

static void raw_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	REQUIRE(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
	to_state(qp, IBV_QPS_RTR);
	to_state(qp, IBV_QPS_RTS);
}

static struct raw raw_new(void)
{
	struct ibv_qp_cap cap = { SLOTS, SLOTS, 4, 1, 128 };
	struct raw raw;

	raw.cq = cq_new(2 * SLOTS, NULL);
	raw.qp = qp_new(IBV_QPT_RAW_PACKET, raw.cq, cap);
	raw.b = buffer_new(SLOTS * SLOT, 0);
	raw_to_rts(raw.qp);
	return raw;
}

static void raw_free(struct raw *raw)
{
	REQUIRE(!ibv_destroy_qp(raw->qp));
	REQUIRE(!ibv_destroy_cq(raw->cq));
	buffer_free(&raw->b);
}

static void raw_receive(struct raw *raw, int slot)
{
	struct ibv_sge sge = sge_of(&raw->b, slot * SLOT, SLOT);

	REQUIRE(!post_recv(raw->qp, slot, &sge, 1));
}

/* A frame of @length bytes to a UDP port, at a slot. */
static uint8_t *frame_at(struct raw *raw, int slot, size_t length, uint16_t source, uint16_t port)
{
	uint8_t *frame = raw->b.data + slot * SLOT;

	memset(frame, 0, HEADERS);
	memcpy(frame, receiver_mac, 6);
	memcpy(frame + 6, "\x02\0\0\0\x77\x02\x08\0\x45", 9);
	*(uint16_t *)(frame + 16) = htons(length - 14);
	memcpy(frame + 22, "\x40\x11\0\0\x0a\x77\0\2\x0a\x77\0\1", 12);
	*(uint16_t *)(frame + 34) = htons(source);
	*(uint16_t *)(frame + 36) = htons(port);
	*(uint16_t *)(frame + 38) = htons(length - 34);
	fill(frame + HEADERS, length - HEADERS, length + source);
	return frame;
}

static struct ibv_wc raw_send(struct raw *raw, int slot, size_t length, unsigned int flags)
{
	struct ibv_sge sges[2] = {
		sge_of(&raw->b, slot * SLOT, length / 2),
		sge_of(&raw->b, slot * SLOT + length / 2, length - length / 2),
	};
	struct ibv_send_wr wr = {
		.wr_id = 1000 + slot, .sg_list = sges, .num_sge = 2, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | flags,
	};
	struct ibv_wc wc;

	REQUIRE(!post_send(raw->qp, wr));
	wc = wait_wc(raw->cq);
	REQUIRE(wc.wr_id == 1000u + slot && wc.qp_num == raw->qp->qp_num);
	REQUIRE(wc.status || wc.opcode == IBV_WC_SEND);
	return wc;
}

static void *add_spec(struct flow_attr *flow, const void *spec, size_t size)
{
	void *place = flow->specs + flow->attr.size - sizeof(flow->attr);

	memcpy(place, spec, size);
	flow->attr.size += size;
	flow->attr.num_of_specs++;
	return place;
}

static struct flow_attr flow_of(enum ibv_flow_attr_type type)
{
	return (struct flow_attr){
		.attr = { .type = type, .size = sizeof(struct ibv_flow_attr), .port = 1 },
	};
}

/* UDP over IPv4 to a port. */
static struct flow_attr flow_to(uint16_t port)
{
	const struct ibv_flow_spec_ipv4_ext ip = {
		.type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof(ip),
		.val.proto = 17, .mask.proto = 0xff,
	};
	const struct ibv_flow_spec_tcp_udp udp = {
		.type = IBV_FLOW_SPEC_UDP, .size = sizeof(udp),
		.val.dst_port = htons(port), .mask.dst_port = 0xffff,
	};
	struct flow_attr flow = flow_of(IBV_FLOW_ATTR_NORMAL);

	add_spec(&flow, &ip, sizeof(ip));
	add_spec(&flow, &udp, sizeof(udp));
	return flow;
}

static struct ibv_flow *create(struct raw *raw, struct flow_attr *flow)
{
	struct ibv_flow *made = ibv_create_flow(raw->qp, &flow->attr);

	REQUIRE(made);
	return made;
}

static void refused(struct ibv_qp *qp, struct flow_attr *flow, int error)
{
	errno = 0;
	REQUIRE(!ibv_create_flow(qp, &flow->attr));
	REQUIRE(errno == error);
}

static void check_received(struct raw *raw, const uint8_t *frame, size_t length)
{
	struct ibv_wc wc = wait_wc(raw->cq);

	REQUIRE(!wc.status && wc.opcode == IBV_WC_RECV && wc.wc_flags == 0);
	REQUIRE(wc.byte_len == length && wc.qp_num == raw->qp->qp_num);
	REQUIRE(!memcmp(raw->b.data + wc.wr_id * SLOT, frame, length));
}

void test_raw_packets(void)
{
	static const size_t lengths[] = { HEADERS, 60, 61, 64, 100, 128, 129, 1000, 1514 };
	struct raw a = raw_new(), b = raw_new();
	struct flow_attr to = flow_to(PORT), drop = flow_to(PORT);
	const struct ibv_flow_spec_action_drop dropped = {
		.type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(dropped),
	};
	struct ibv_flow *flow, *dropping;
	uint8_t *frame;
	unsigned int i;

	/* Nobody wants it. */
	raw_receive(&b, 1);
	frame_at(&a, 0, 100, 1, PORT);
	REQUIRE(!raw_send(&a, 0, 100, 0).status);
	no_wc(b.cq, 50);

	to.attr.priority = 1;
	flow = create(&b, &to);
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		raw_receive(&b, 2);
		frame = frame_at(&a, 0, lengths[i], i, PORT);
		REQUIRE(!raw_send(&a, 0, lengths[i], lengths[i] <= 128 && i & 1 ? IBV_SEND_INLINE :
							      0).status);
		check_received(&b, frame, lengths[i]);
	}
	frame_at(&a, 0, 100, 1, PORT + 1);
	REQUIRE(!raw_send(&a, 0, 100, 0).status);
	no_wc(b.cq, 50);

	add_spec(&drop, &dropped, sizeof(dropped));
	dropping = create(&b, &drop);
	frame = frame_at(&a, 0, 100, 1, PORT);
	REQUIRE(!raw_send(&a, 0, 100, 0).status);
	no_wc(b.cq, 50);
	REQUIRE(!ibv_destroy_flow(dropping));
	raw_receive(&b, 3);
	REQUIRE(!raw_send(&a, 0, 100, 0).status);
	check_received(&b, frame, 100);

	/* A queue pair that flows name stays. */
	REQUIRE(ibv_destroy_qp(b.qp) == EBUSY);
	REQUIRE(!ibv_destroy_flow(flow));
	REQUIRE(!raw_send(&a, 0, 100, 0).status);
	no_wc(b.cq, 50);
	raw_free(&a);
	raw_free(&b);
}

/* A copy of RoCE packets, which their queue pairs get all the same. */
void test_raw_sniffer(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 16, 16, 1, 1, 0 }, PATIENT);
	struct flow_attr sniffer = flow_of(IBV_FLOW_ATTR_SNIFFER);
	struct buffer data = buffer_new(4096, 0);
	struct ibv_sge from = sge_of(&data, 0, 1000), to = sge_of(&data, 2000, 1000);
	struct ibv_send_wr send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct raw raw = raw_new();
	struct ibv_flow *flow;
	struct ibv_wc wc[2];
	bool seen = false;
	int i;

	for (i = 0; i < SLOTS; i++)
		raw_receive(&raw, i);
	flow = create(&raw, &sniffer);
	fill(data.data, 1000, 5);
	REQUIRE(!post_recv(p.b, 1, &to, 1));
	REQUIRE(!post_send(p.a, send));
	wait_wcs(p.cq, wc, 2);
	REQUIRE(!wc[0].status && !wc[1].status);
	REQUIRE(!memcmp(data.data, data.data + 2000, 1000));
	while (!seen) {
		struct ibv_wc got = wait_wc(raw.cq);

		/* Among what else the host sends: headers, the message, its ICRC. */
		REQUIRE(!got.status);
		if (got.byte_len > 1000)
			seen = !memcmp(raw.b.data + got.wr_id * SLOT + got.byte_len - 1004,
				       data.data, 1000);
	}
	REQUIRE(!ibv_destroy_flow(flow));
	raw_free(&raw);
	pair_free(&p);
	buffer_free(&data);
}

void test_raw_limits(void)
{
	static struct ibv_flow *flows[FLOWS_MAX];
	struct flow_attr to = flow_to(PORT), sniffer = flow_of(IBV_FLOW_ATTR_SNIFFER);
	struct raw raw = raw_new();
	int i;

	for (i = 0; i < FLOWS_MAX; i++)
		flows[i] = create(&raw, &to);
	refused(raw.qp, &to, ENOMEM);
	REQUIRE(!ibv_destroy_flow(flows[7]));
	flows[7] = create(&raw, &to);
	for (i = 0; i < FLOWS_MAX; i++)
		REQUIRE(!ibv_destroy_flow(flows[i]));
	for (i = 0; i < SNIFFERS_MAX; i++)
		flows[i] = create(&raw, &sniffer);
	refused(raw.qp, &sniffer, ENOMEM);
	for (i = 0; i < SNIFFERS_MAX; i++)
		REQUIRE(!ibv_destroy_flow(flows[i]));
	raw_free(&raw);
}

static void refused_flows(struct raw *raw)
{
	const struct ibv_flow_spec_tunnel tunnel = {
		.type = IBV_FLOW_SPEC_VXLAN_TUNNEL, .size = sizeof(tunnel),
		.mask.tunnel_id = htonl(1),
	};
	const struct ibv_flow_spec_tcp_udp tcp = {
		.type = IBV_FLOW_SPEC_TCP, .size = sizeof(tcp), .mask.dst_port = 1,
	};
	const struct ibv_flow_spec_eth arp = {
		.type = IBV_FLOW_SPEC_ETH, .size = sizeof(arp),
		.val.ether_type = htons(0x0806), .mask.ether_type = 0xffff,
	};
	struct ibv_qp *ud = qp_new(IBV_QPT_UD, raw->cq, (struct ibv_qp_cap){ 1, 1, 1, 1, 0 });
	struct flow_attr flow;

	flow = flow_to(PORT);
	refused(ud, &flow, EOPNOTSUPP);
	add_spec(&flow, &tunnel, sizeof(tunnel));
	refused(raw->qp, &flow, EOPNOTSUPP);
	flow = flow_to(PORT);
	add_spec(&flow, &tcp, sizeof(tcp));
	refused(raw->qp, &flow, EINVAL);
	flow = flow_to(PORT);
	add_spec(&flow, &arp, sizeof(arp));
	refused(raw->qp, &flow, EINVAL);
	flow = flow_to(PORT);
	flow.attr.flags = IBV_FLOW_ATTR_FLAGS_EGRESS;
	refused(raw->qp, &flow, EOPNOTSUPP);
	flow = flow_to(PORT);
	flow.attr.type = IBV_FLOW_ATTR_SNIFFER;
	refused(raw->qp, &flow, EINVAL);
	flow = flow_of(IBV_FLOW_ATTR_SNIFFER + 1);
	refused(raw->qp, &flow, EINVAL);
	REQUIRE(!ibv_destroy_qp(ud));
}

void test_raw_refused(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RAW_PACKET,
	};
	struct raw raw = raw_new();
	struct ibv_send_wr wr = { .num_sge = 1, .opcode = IBV_WR_SEND };
	struct flow_attr to = flow_to(PORT);
	struct ibv_flow *flow;
	struct ibv_sge sge;
	uint8_t *frame;

	refused_flows(&raw);
	/* Frames that are none complete with an error, and the next one is sent. */
	frame_at(&raw, 0, 100, 1, PORT);
	REQUIRE(raw_send(&raw, 0, 13, 0).status == IBV_WC_LOC_LEN_ERR);
	REQUIRE(raw_send(&raw, 0, 10000, 0).status == IBV_WC_LOC_LEN_ERR);
	sge = sge_of(&raw.b, 0, 100);
	sge.lkey ^= 0x100;
	wr.sg_list = &sge;
	REQUIRE(!post_send(raw.qp, wr));
	REQUIRE(wait_wc(raw.cq).status == IBV_WC_LOC_PROT_ERR);
	sge = sge_of(&raw.b, 0, 100);
	wr.send_flags = IBV_SEND_IP_CSUM;
	REQUIRE(post_send(raw.qp, wr) == EINVAL);
	wr.send_flags = 0;
	wr.opcode = IBV_WR_RDMA_WRITE;
	REQUIRE(post_send(raw.qp, wr) == EINVAL);
	flow = create(&raw, &to);
	raw_receive(&raw, 1);
	frame = frame_at(&raw, 0, 100, 1, PORT);
	sge = sge_of(&raw.b, 0, 100);
	wr.opcode = IBV_WR_SEND;
	REQUIRE(!post_send(raw.qp, wr));
	check_received(&raw, frame, 100);
	REQUIRE(!ibv_destroy_flow(flow));

	/* Without CAP_NET_RAW: neither queue pair nor flow. */
	attr.send_cq = raw.cq;
	attr.recv_cq = raw.cq;
	REQUIRE(!seteuid(65534));
	errno = 0;
	REQUIRE(!ibv_create_qp(dev.pd, &attr) && errno == EPERM);
	refused(raw.qp, &to, EPERM);
	REQUIRE(!seteuid(0));
	raw_free(&raw);
}

#define QUEUES	4
#define FLOWS	32

struct spread {
	struct ibv_cq *cq;
	struct ibv_wq *queues[QUEUES];
	struct ibv_rwq_ind_table *table;
	struct buffer b;
};

static uint8_t hash_key[40];

static struct ibv_qp *hashing_qp(struct ibv_rwq_ind_table *table, uint8_t key_length,
				 uint64_t fields)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET, .pd = dev.pd, .rwq_ind_tbl = table,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = key_length, .rx_hash_key = hash_key,
			.rx_hash_fields_mask = fields,
		},
	};

	errno = 0;
	return ibv_create_qp_ex(dev.context, &attr);
}

static void wq_to(struct ibv_wq *wq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = state };

	REQUIRE(!ibv_modify_wq(wq, &attr));
}

static int wq_receive(struct spread *s, int wq, int slot)
{
	struct ibv_sge sge = sge_of(&s->b, slot * SLOT, SLOT);
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_wq_recv(s->queues[wq], &wr, &bad);
}

static struct spread spread_new(void)
{
	struct ibv_rwq_ind_table_init_attr init = { .log_ind_tbl_size = 2 };
	struct spread s;
	int i;

	s.cq = cq_new(QUEUES * FLOWS, NULL);
	s.b = buffer_new(QUEUES * FLOWS * SLOT, 0);
	for (i = 0; i < QUEUES; i++) {
		struct ibv_wq_init_attr attr = {
			.wq_type = IBV_WQT_RQ, .max_wr = FLOWS, .max_sge = 1, .pd = dev.pd,
			.cq = s.cq,
		};

		s.queues[i] = ibv_create_wq(dev.context, &attr);
		REQUIRE(s.queues[i]);
		REQUIRE(wq_receive(&s, i, 0) == EINVAL);
		wq_to(s.queues[i], IBV_WQS_RDY);
	}
	init.ind_tbl = s.queues;
	s.table = ibv_create_rwq_ind_table(dev.context, &init);
	REQUIRE(s.table);
	return s;
}

static void spread_refused(struct spread *s)
{
	struct ibv_rwq_ind_table_init_attr init = { .log_ind_tbl_size = 8 };
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = dev.attr.max_qp_wr + 1, .max_sge = 1,
		.pd = dev.pd, .cq = s->cq,
	};
	struct ibv_wq *many[256];
	int i;

	for (i = 0; i < 256; i++)
		many[i] = s->queues[i % QUEUES];
	init.ind_tbl = many;
	REQUIRE(!ibv_create_rwq_ind_table(dev.context, &init));
	REQUIRE(!ibv_create_wq(dev.context, &attr));
	attr.max_wr = 0;
	REQUIRE(!ibv_create_wq(dev.context, &attr));
	attr.max_wr = 1;
	attr.max_sge = dev.attr.max_sge + 1;
	REQUIRE(!ibv_create_wq(dev.context, &attr));
	REQUIRE(!hashing_qp(s->table, 39, IBV_RX_HASH_SRC_IPV4) && errno == EINVAL);
	REQUIRE(!hashing_qp(s->table, 40, 1 << 8) && errno == EOPNOTSUPP);
}

void test_raw_hashing(void)
{
	struct ibv_device_attr_ex attr;
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct spread s = spread_new();
	struct flow_attr to = flow_to(PORT);
	struct raw from = raw_new();
	unsigned int got[QUEUES] = { 0 }, i, j;
	struct ibv_flow *flow;
	struct ibv_qp *qp;

	REQUIRE(!ibv_query_device_ex(dev.context, NULL, &attr));
	REQUIRE(attr.rss_caps.supported_qpts == 1u << IBV_QPT_RAW_PACKET);
	REQUIRE(attr.rss_caps.max_rwq_indirection_table_size == 128 && attr.max_wq_type_rq);
	spread_refused(&s);
	fill(hash_key, sizeof(hash_key), 9);
	qp = hashing_qp(s.table, 40, IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP);
	REQUIRE(qp);
	REQUIRE(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_PORT) == EOPNOTSUPP);
	flow = ibv_create_flow(qp, &to.attr);
	REQUIRE(flow);
	for (i = 0; i < QUEUES * FLOWS; i++)
		REQUIRE(!wq_receive(&s, i % QUEUES, i));
	REQUIRE(wq_receive(&s, 0, 0) == ENOMEM);

	for (i = 0; i < FLOWS; i++) {
		struct ibv_wc wc;
		uint8_t *frame = frame_at(&from, 0, 200, i, PORT);

		REQUIRE(!raw_send(&from, 0, 200, 0).status);
		wc = wait_wc(s.cq);
		REQUIRE(!wc.status && wc.byte_len == 200);
		REQUIRE(!memcmp(s.b.data + wc.wr_id * SLOT, frame, 200));
		for (j = 0; j < QUEUES; j++)
			got[j] += wc.qp_num == s.queues[j]->wq_num;
	}
	REQUIRE(got[0] + got[1] + got[2] + got[3] == FLOWS);
	for (j = 0; j < QUEUES; j++)
		REQUIRE(got[j]);

	/* What is posted is flushed in ERR, and forgotten in RESET. */
	wq_to(s.queues[0], IBV_WQS_ERR);
	REQUIRE(wait_wc(s.cq).status == IBV_WC_WR_FLUSH_ERR);
	wq_to(s.queues[0], IBV_WQS_RESET);
	no_wc(s.cq, 20);
	wq_to(s.queues[0], IBV_WQS_RDY);

	/* Each holds what it is made of. */
	REQUIRE(ibv_destroy_wq(s.queues[1]));
	REQUIRE(ibv_destroy_rwq_ind_table(s.table));
	REQUIRE(ibv_destroy_qp(qp));
	REQUIRE(!ibv_destroy_flow(flow));
	REQUIRE(!ibv_destroy_qp(qp));
	REQUIRE(!ibv_destroy_rwq_ind_table(s.table));
	for (j = 0; j < QUEUES; j++)
		REQUIRE(!ibv_destroy_wq(s.queues[j]));
	REQUIRE(!ibv_destroy_cq(s.cq));
	buffer_free(&s.b);
	raw_free(&from);
}
