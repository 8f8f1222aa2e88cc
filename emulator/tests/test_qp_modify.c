// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: MODIFY_QP and QUERY_QP: each transition, attributes at and beyond limits; SET_GID. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

#define STATES	(TERN_QP_ERROR + 1)

static struct rdma_pair pair;

static uint16_t modify(uint8_t current, uint8_t next, uint32_t mask,
		       const struct tern_qp_attributes *attributes)
{
	pair.a.qp.state = current;
	return driver_qp_modify(&pair.a.qp, next, mask, attributes);
}

static void good_attributes(struct tern_qp_attributes *attributes)
{
	rdma_attributes(&pair.a, &pair.b, &pair.options, true, attributes);
}

/* Take a's queue pair to @state by the shortest way; false: the host cannot take it there. */
static bool take_to(uint8_t state)
{
	struct tern_qp_attributes attributes;
	struct tern_qp_status status;

	good_attributes(&attributes);
	rdma_qp_status(&pair.a, &status);
	pair.a.qp.state = status.state;
	CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RESET, 0, NULL), 0);
	if (state == TERN_QP_RESET)
		return true;
	if (state == TERN_QP_INIT)
		return !driver_qp_modify(&pair.a.qp, state, TERN_QP_SET_ACCESS, &attributes);
	CHECK_EQ(rdma_to_rtr(&pair.a, &attributes), 0);
	if (state == TERN_QP_RTR)
		return true;
	CHECK_EQ(rdma_to_rts(&pair.a, &attributes), 0);
	if (state == TERN_QP_RTS)
		return true;
	if (state == TERN_QP_SQE)
		return false;
	return !driver_qp_modify(&pair.a.qp, state, 0, &attributes);
}

TERN_TEST(transitions)
{
	static const bool allowed[STATES][STATES] = {
		[TERN_QP_RESET][TERN_QP_INIT] = true,
		[TERN_QP_INIT][TERN_QP_INIT] = true,
		[TERN_QP_INIT][TERN_QP_RTR] = true,
		[TERN_QP_RTR][TERN_QP_RTS] = true,
		[TERN_QP_RTS][TERN_QP_RTS] = true,
		[TERN_QP_RTS][TERN_QP_SQD] = true,
		[TERN_QP_SQD][TERN_QP_RTS] = true,
		[TERN_QP_SQD][TERN_QP_SQD] = true,
	};
	struct tern_qp_attributes attributes;
	struct tern_qp_status status;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	good_attributes(&attributes);
	for (uint8_t from = 0; from < STATES; from++) {
		for (uint8_t to = 0; to < STATES; to++) {
			bool may = allowed[from][to] || to == TERN_QP_RESET ||
				   to == TERN_QP_ERROR;
			uint32_t mask = 0;

			if (!take_to(from))
				continue;
			if (to == TERN_QP_RTR)
				mask = TERN_QP_SET_ADDRESS | TERN_QP_SET_REMOTE_QPN |
				       TERN_QP_SET_RQ_PSN | TERN_QP_SET_PATH_MTU;
			else if (from == TERN_QP_RTR && to == TERN_QP_RTS)
				mask = TERN_QP_SET_SQ_PSN;
			CHECK_EQ(modify(from, to, mask, &attributes),
				 may ? 0 : TERN_COMMAND_STATUS_BAD_STATE);
			rdma_qp_status(&pair.a, &status);
			CHECK_EQ(status.state, may ? to : from);
			pair.a.qp.state = status.state;
			/* Not from a state that it is not in. */
			CHECK_EQ(modify((status.state + 1) % STATES, TERN_QP_RESET, 0, NULL),
				 TERN_COMMAND_STATUS_BAD_STATE);
			CHECK_EQ(modify(status.state, TERN_QP_RESET, 0, NULL), 0);
		}
	}
	CHECK_EQ(modify(STATES, TERN_QP_RESET, 0, NULL), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(modify(TERN_QP_RESET, STATES, 0, NULL), TERN_COMMAND_STATUS_BAD_PARAMETER);
	rdma_pair_destroy(&pair);
}

TERN_TEST(required_attributes)
{
	uint32_t rtr = TERN_QP_SET_ADDRESS | TERN_QP_SET_REMOTE_QPN | TERN_QP_SET_RQ_PSN |
		       TERN_QP_SET_PATH_MTU;
	struct tern_qp_attributes attributes;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	good_attributes(&attributes);
	for (unsigned int bit = 0; bit < 16; bit++) {
		if (!(rtr >> bit & 1))
			continue;
		CHECK(take_to(TERN_QP_INIT));
		CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_RTR, rtr & ~(1U << bit), &attributes),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
		CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_RTR, rtr, &attributes), 0);
	}
	CHECK(take_to(TERN_QP_RTR));
	CHECK_EQ(modify(TERN_QP_RTR, TERN_QP_RTS, 0, &attributes),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	/* Under traffic the connection stays what it is. */
	CHECK(take_to(TERN_QP_RTS));
	for (unsigned int bit = 0; bit < 16; bit++) {
		if ((rtr | TERN_QP_SET_SQ_PSN) >> bit & 1)
			CHECK_EQ(modify(TERN_QP_RTS, TERN_QP_RTS, 1U << bit, &attributes),
				 TERN_COMMAND_STATUS_BAD_PARAMETER);
	}
	rdma_pair_destroy(&pair);
}

#define LIMIT(bit, set_good, set_bad)							\
	do {										\
		good_attributes(&attributes);						\
		set_good;								\
		CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_INIT, TERN_QP_SET_##bit, &attributes), 0); \
		good_attributes(&attributes);						\
		set_bad;								\
		CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_INIT, TERN_QP_SET_##bit, &attributes), \
			 TERN_COMMAND_STATUS_BAD_PARAMETER);				\
	} while (0)

TERN_TEST(attribute_limits)
{
	struct tern_qp_attributes attributes;
	struct tern_address_vector *vector = &attributes.address;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	CHECK(take_to(TERN_QP_INIT));
	LIMIT(REMOTE_QPN, attributes.remote_qpn = htole32(0xffffff),
	      attributes.remote_qpn = htole32(0x1000000));
	LIMIT(RQ_PSN, attributes.rq_psn = htole32(0xffffff),
	      attributes.rq_psn = htole32(0x1000000));
	LIMIT(SQ_PSN, attributes.sq_psn = htole32(0xffffff),
	      attributes.sq_psn = htole32(0x1000000));
	LIMIT(ACCESS, attributes.access = htole32(0xe), attributes.access = htole32(1));
	LIMIT(PATH_MTU, attributes.path_mtu = 1, attributes.path_mtu = 0);
	LIMIT(PATH_MTU, attributes.path_mtu = 5, attributes.path_mtu = 6);
	LIMIT(PATH_MTU, attributes.path_mtu = 5, attributes.path_mtu = 255);
	LIMIT(TIMEOUT, attributes.timeout = 31, attributes.timeout = 32);
	LIMIT(RETRY_COUNT, attributes.retry_count = 7, attributes.retry_count = 8);
	LIMIT(RNR_RETRY, attributes.rnr_retry = 7, attributes.rnr_retry = 8);
	LIMIT(MIN_RNR_TIMER, attributes.min_rnr_timer = 31, attributes.min_rnr_timer = 32);
	LIMIT(INITIATOR_DEPTH, attributes.initiator_depth = 16, attributes.initiator_depth = 17);
	LIMIT(RESPONDER_RESOURCES, attributes.responder_resources = 16,
	      attributes.responder_resources = 17);
	LIMIT(SQD_NOTIFY, attributes.sqd_notify = 1, attributes.sqd_notify = 2);
	LIMIT(PKEY_INDEX, attributes.pkey_index = 0, attributes.pkey_index = htole16(1));
	LIMIT(ADDRESS, vector->service_level = 15, vector->service_level = 16);
	LIMIT(ADDRESS, vector->flow_label = htole32(0xfffff),
	      vector->flow_label = htole32(0x100000));
	LIMIT(ADDRESS, vector->hop_limit = 255, vector->source_gid_index = htole16(0));
	LIMIT(ADDRESS, vector->hop_limit = 0, vector->source_gid_index = htole16(256));
	LIMIT(ADDRESS, vector->hop_limit = 0, vector->source_gid_index = htole16(0xffff));
	LIMIT(ADDRESS, vector->hop_limit = 0, vector->destination_gid[0] = 0xfe);
	LIMIT(QKEY, attributes.qkey = 0xffffffff, attributes.reserved0 = 1);
	LIMIT(QKEY, attributes.qkey = 0, attributes.reserved1[2] = 1);
	good_attributes(&attributes);
	for (unsigned int bit = 16; bit < 32; bit++)
		CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_INIT, 1U << bit, &attributes),
			 TERN_COMMAND_STATUS_BAD_PARAMETER);
	rdma_pair_destroy(&pair);
}

/* A GID of IPv4 reaches those of IPv4 only, and no other one does. */
TERN_TEST(addresses_of_one_network)
{
	static const uint8_t ipv4[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 9 };
	static const uint8_t ipv6[16] = { 0xfd, [15] = 9 };
	static const enum rdma_network networks[] = { RDMA_V2_IPV4, RDMA_V2_IPV6 };
	struct tern_qp_attributes attributes;

	for (unsigned int i = 0; i < 2; i++) {
		rdma_pair_create(&pair, &(struct rdma_options){ .network = networks[i] });
		CHECK(take_to(TERN_QP_INIT));
		good_attributes(&attributes);
		memcpy(attributes.address.destination_gid, ipv4, 16);
		CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_INIT, TERN_QP_SET_ADDRESS, &attributes),
			 i ? TERN_COMMAND_STATUS_BAD_PARAMETER : 0);
		memcpy(attributes.address.destination_gid, ipv6, 16);
		CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_INIT, TERN_QP_SET_ADDRESS, &attributes),
			 i ? 0 : TERN_COMMAND_STATUS_BAD_PARAMETER);
		rdma_pair_destroy(&pair);
	}
}

/* 1500 has room for 1024, 4200 for 4096. */
TERN_TEST(path_mtu_follows_the_port)
{
	static const struct { uint32_t port; uint8_t most; } rows[] = {
		{ 351, 0 }, { 352, 1 }, { 1500, 3 }, { 4191, 4 }, { 4192, 5 }, { 4200, 5 },
		{ 9000, 5 },
	};
	struct tern_qp_attributes attributes;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	CHECK(take_to(TERN_QP_INIT));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CHECK_EQ(rdma_set_port(pair.a.driver, rows[i].port, TERN_PORT_UP), 0);
		for (uint8_t code = 1; code <= 5; code++) {
			good_attributes(&attributes);
			attributes.path_mtu = code;
			CHECK_EQ(modify(TERN_QP_INIT, TERN_QP_INIT, TERN_QP_SET_PATH_MTU,
					&attributes),
				 code <= rows[i].most ? 0 : TERN_COMMAND_STATUS_BAD_PARAMETER);
		}
	}
	rdma_pair_destroy(&pair);
}

TERN_TEST(query_says_what_was_set)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 3 * 4096 };
	struct rdma_options options = {
		.sq_psn = 0x123456, .rq_psn = 0x654321, .traffic_class = 32, .timeout = 9,
		.retry_count = 3, .rnr_retry = 2, .min_rnr_timer = 12, .initiator_depth = 4,
		.responder_resources = 5,
	};
	struct tern_qp_attributes attributes;
	struct tern_qp_status status;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &options);
	rdma_post(&pair, &pair.a, &write);
	rdma_post_receive(&pair.a, 0, 1);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	good_attributes(&attributes);
	rdma_qp_status(&pair.a, &status);
	CHECK_EQ(status.state, TERN_QP_RTS);
	CHECK_EQ(le32toh(status.sq_consumer), 1);
	CHECK_EQ(le32toh(status.rq_consumer), 0);
	CHECK_EQ(le32toh(status.attributes.sq_psn), 0x123459);
	CHECK_EQ(le32toh(status.attributes.rq_psn), 0x654321);
	status.attributes.sq_psn = attributes.sq_psn;
	status.attributes.qkey = attributes.qkey;
	CHECK_MEM(&status.attributes, &attributes, sizeof(attributes));
	rdma_qp_status(&pair.b, &status);
	CHECK_EQ(le32toh(status.attributes.rq_psn), 0x123459);
	rdma_pair_destroy(&pair);
}

TERN_TEST(gid_table)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 9 };
	static const uint8_t group[6] = { 3, 0, 0, 0, 0, 9 };
	uint8_t zero[16] = { 0 }, gid[16] = { 0xfd, [15] = 1 };
	struct driver *driver;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	driver = pair.a.driver;
	CHECK_EQ(rdma_set_gid(driver, 255, gid, mac, TERN_GID_TYPE_ROCE_V2, 4094), 0);
	CHECK_EQ(rdma_set_gid(driver, 255, gid, mac, TERN_GID_TYPE_ROCE_V1, -1), 0);
	CHECK_EQ(rdma_set_gid(driver, 256, gid, mac, TERN_GID_TYPE_ROCE_V2, -1),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(rdma_set_gid(driver, 0, gid, mac, TERN_GID_TYPE_ROCE_V2, 4095),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(rdma_set_gid(driver, 0, gid, mac, 3, -1), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(rdma_set_gid(driver, 0, zero, mac, TERN_GID_TYPE_ROCE_V2, -1),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(rdma_set_gid(driver, 0, gid, group, TERN_GID_TYPE_ROCE_V2, -1),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(rdma_set_gid(driver, 255, NULL, NULL, TERN_GID_TYPE_NONE, -1), 0);
	CHECK_EQ(rdma_set_gid(driver, 255, NULL, NULL, TERN_GID_TYPE_NONE, -1), 0);
	rdma_pair_destroy(&pair);
}

static uint8_t last_source[6];

static bool note_source(struct machine *machine, const struct tern_frame *frame)
{
	(void)machine;
	memcpy(last_source, frame->header + 6, 6);
	return true;
}

/* Packets to an address that the function has no more, or in another VLAN, are not RoCE to it. */
TERN_TEST(packets_follow_the_gid_table)
{
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 4 };
	uint8_t mac[6];
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .timeout = 6, .retry_count = 7 });
	CHECK_EQ(rdma_set_gid(pair.b.driver, pair.b.gid_index, NULL, NULL, TERN_GID_TYPE_NONE,
			      -1), 0);
	rdma_post(&pair, &pair.a, &write);
	world_advance(pair.world, 300000);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK_EQ(rdma_counter(&pair.b, "rx_roce_packets"), 0);
	CHECK_EQ(rdma_set_gid(pair.b.driver, pair.b.gid_index, pair.b.gid, pair.b.mac,
			      TERN_GID_TYPE_ROCE_V2, 5), 0);
	world_advance(pair.world, 300000);
	CHECK_EQ(rdma_counter(&pair.b, "rx_roce_packets"), 0);
	CHECK_EQ(rdma_set_gid(pair.b.driver, pair.b.gid_index, pair.b.gid, pair.b.mac,
			      TERN_GID_TYPE_ROCE_V2, -1), 0);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	/* A new source MAC is used from the next packet on. */
	memcpy(mac, pair.a.mac, 6);
	mac[5] ^= 0x40;
	CHECK_EQ(rdma_set_gid(pair.a.driver, pair.a.gid_index, pair.a.gid, mac,
			      TERN_GID_TYPE_ROCE_V2, -1), 0);
	pair.a.machine->on_transmit = note_source;
	rdma_post(&pair, &pair.a, &write);
	world_settle(pair.world);
	CHECK_MEM(last_source, mac, 6);
	/* The peer still answers to the old MAC, which is the station's: it is heard. */
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	rdma_pair_destroy(&pair);
}
