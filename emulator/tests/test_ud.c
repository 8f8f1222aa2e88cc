// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: datagrams: GRH area, completions, what is dropped, errors of the sender. */
#include <endian.h>

#include "host_rdma.h"
#include "tern_test.h"

#define GRH	TERN_GRH_BYTES

static const struct rdma_options ud = { .type = TERN_QP_UD, .traffic_class = 0x68 };

static void send_datagram(struct rdma_pair *pair, uint32_t length)
{
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = length };

	rdma_post(pair, &pair->a, &request);
}

static uint16_t sum16(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void check_grh(struct rdma_pair *pair, const struct tern_cqe *cqe, uint32_t length)
{
	const uint8_t *grh = rdma_memory(&pair->b, 0);
	static const uint8_t zero[20];

	CHECK(cqe->flags & TERN_CQE_FLAG_GRH);
	switch (pair->options.network) {
	case RDMA_V2_IPV4:
	case RDMA_V2_IPV4_VLAN:
		CHECK(cqe->flags & TERN_CQE_FLAG_IPV4);
		CHECK_EQ(cqe->network_type, TERN_GID_TYPE_ROCE_V2);
		CHECK_MEM(grh, zero, 20);
		CHECK_EQ(grh[20], 0x45);
		CHECK_EQ(grh[21], pair->options.traffic_class);
		CHECK_EQ(grh[28], 64);
		CHECK_EQ(sum16(grh + 20, 20), 0xffff);
		CHECK_MEM(grh + 32, pair->a.gid + 12, 4);
		CHECK_MEM(grh + 36, pair->b.gid + 12, 4);
		break;
	default:
		CHECK(!(cqe->flags & TERN_CQE_FLAG_IPV4));
		CHECK_EQ(cqe->network_type, pair->options.network == RDMA_V1 ?
			 TERN_GID_TYPE_ROCE_V1 : TERN_GID_TYPE_ROCE_V2);
		CHECK_EQ(grh[0], 0x60 | pair->options.traffic_class >> 4);
		CHECK_EQ(grh[7], 64);
		CHECK_MEM(grh + 8, pair->a.gid, 16);
		CHECK_MEM(grh + 24, pair->b.gid, 16);
		break;
	}
	CHECK_EQ(le32toh(cqe->byte_count), length + GRH);
	CHECK_EQ(le32toh(cqe->source_qpn), pair->a.qp.qpn);
	CHECK_MEM(cqe->source_mac, pair->a.mac, 6);
	CHECK_EQ(!!(cqe->flags & TERN_CQE_FLAG_VLAN), pair->options.network == RDMA_V2_IPV4_VLAN);
	CHECK_EQ(le16toh(cqe->pkey_index), 0);
}

static void datagrams(const struct rdma_options *options)
{
	static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 1000, 4095, 4096 };
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, options);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint32_t length = lengths[i];

		rdma_fill(rdma_memory(&pair.a, 0), length, length);
		rdma_post_receive(&pair.b, 0, length + GRH);
		send_datagram(&pair, length);
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE);
		check_grh(&pair, &cqe, length);
		CHECK_MEM(rdma_memory(&pair.b, GRH), rdma_memory(&pair.a, 0), length);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	}
	rdma_pair_destroy(&pair);
}

TERN_TEST(datagrams_on_each_network)
{
	struct rdma_options options = ud;

	for (unsigned int network = RDMA_V2_IPV4; network <= RDMA_V2_IPV4_VLAN; network++) {
		options.network = network;
		options.no_shortcuts = false;
		datagrams(&options);
		options.no_shortcuts = true;
		datagrams(&options);
	}
	options.network = RDMA_V2_IPV4;
	options.loopback = true;
	datagrams(&options);
}

TERN_TEST(immediate_solicited_and_inline)
{
	struct rdma_request request = {
		.opcode = TERN_WQE_SEND_IMMEDIATE, .flags = TERN_WQE_SOLICITED, .length = 5,
		.inlined = "hello", .immediate = 0x01020304,
	};
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &ud);
	rdma_post_receive(&pair.b, 0, 100);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.opcode, TERN_CQE_RECEIVE_IMMEDIATE);
	CHECK_MEM(cqe.immediate, "\1\2\3\4", 4);
	CHECK(cqe.flags & TERN_CQE_FLAG_SOLICITED);
	CHECK_MEM(rdma_memory(&pair.b, GRH), "hello", 5);
	rdma_pair_destroy(&pair);
}

/* A datagram that arrives now, and the queue pair is as usable as before. */
static void still_works(struct rdma_pair *pair)
{
	struct tern_cqe cqe;

	send_datagram(pair, 10);
	rdma_wait(pair, &pair->b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(le32toh(cqe.byte_count), 10 + GRH);
	while (!rdma_none(&pair->a.send_cq))
		;
}

TERN_TEST(what_does_not_fit_is_dropped)
{
	struct rdma_pair pair;

	rdma_pair_create(&pair, &ud);
	/* No receive at all. */
	send_datagram(&pair, 10);
	world_advance(pair.world, 1000);
	CHECK_EQ(rdma_counter(&pair.b, "rx_ud_dropped"), 1);
	/* One that is a byte too short stays posted. */
	rdma_post_receive(&pair.b, 0, 10 + GRH);
	send_datagram(&pair, 11);
	world_advance(pair.world, 1000);
	CHECK(rdma_none(&pair.b.receive_cq));
	CHECK_EQ(rdma_counter(&pair.b, "rx_ud_dropped"), 2);
	still_works(&pair);
	/* Not even room for the GRH. */
	rdma_post_receive(&pair.b, 0, GRH - 1);
	send_datagram(&pair, 0);
	world_advance(pair.world, 1000);
	CHECK_EQ(rdma_counter(&pair.b, "rx_ud_dropped"), 3);
	rdma_pair_destroy(&pair);
}

TERN_TEST(q_keys)
{
	struct tern_address_vector vector;
	struct rdma_request request = {
		.opcode = TERN_WQE_SEND, .length = 4, .vector = &vector,
	};
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &ud);
	rdma_vector(&pair, &pair.a, &vector);
	rdma_post_receive(&pair.b, 0, 100);
	vector.qkey = htole32(RDMA_QKEY + 1);
	rdma_post(&pair, &pair.a, &request);
	world_advance(pair.world, 1000);
	CHECK(rdma_none(&pair.b.receive_cq));
	CHECK_EQ(rdma_counter(&pair.b, "rx_qkey_violations"), 1);
	/* Bit 31: the queue pair's own, whatever the others say. */
	vector.qkey = htole32(0x80000000 | (RDMA_QKEY + 1));
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(rdma_counter(&pair.b, "rx_qkey_violations"), 1);
	rdma_pair_destroy(&pair);
}

/* The request fails with @status, the queue goes to SQE, and back to RTS it works again. */
static void fails(struct rdma_pair *pair, const struct rdma_request *request, uint8_t status)
{
	struct rdma_request good = { .opcode = TERN_WQE_SEND, .length = 4, .unsignaled = true };
	struct tern_qp_status now;
	struct tern_cqe cqe;
	uint32_t bad, next;

	bad = rdma_post(pair, &pair->a, request);
	next = rdma_post(pair, &pair->a, &good);
	rdma_wait(pair, &pair->a.send_cq, &cqe);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(le32toh(cqe.index), bad);
	rdma_wait(pair, &pair->a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	CHECK_EQ(le32toh(cqe.index), next);
	rdma_qp_status(&pair->a, &now);
	CHECK_EQ(now.state, TERN_QP_SQE);
	/* What is posted in SQE is flushed too. */
	next = rdma_post(pair, &pair->a, &good);
	rdma_wait(pair, &pair->a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	CHECK_EQ(le32toh(cqe.index), next);
	pair->a.qp.state = TERN_QP_SQE;
	CHECK_EQ(driver_qp_modify(&pair->a.qp, TERN_QP_RTS, 0, NULL), 0);
	rdma_post_receive(&pair->b, 0, 100);
	still_works(pair);
}

TERN_TEST(errors_of_the_sender)
{
	struct tern_address_vector vector;
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 4 };
	struct rdma_pair pair;

	rdma_pair_create(&pair, &ud);
	request.key = pair.a.key + 1;
	fails(&pair, &request, TERN_WC_LOCAL_PROTECTION);
	request.key = 0;
	request.length = 4097;
	fails(&pair, &request, TERN_WC_LOCAL_LENGTH);
	request.length = 4;
	request.vector = &vector;
	rdma_vector(&pair, &pair.a, &vector);
	vector.source_gid_index = htole16(200);
	fails(&pair, &request, TERN_WC_LOCAL_QP_OPERATION);
	vector.source_gid_index = htole16(0xffff);
	fails(&pair, &request, TERN_WC_LOCAL_QP_OPERATION);
	rdma_vector(&pair, &pair.a, &vector);
	vector.remote_qpn = htole32(0x1000000);
	fails(&pair, &request, TERN_WC_LOCAL_QP_OPERATION);
	rdma_vector(&pair, &pair.a, &vector);
	memset(vector.destination_gid, 0xfd, 16);
	fails(&pair, &request, TERN_WC_LOCAL_QP_OPERATION);
	request.vector = NULL;
	request.opcode = TERN_WQE_WRITE;
	fails(&pair, &request, TERN_WC_LOCAL_QP_OPERATION);
	rdma_pair_destroy(&pair);
}

TERN_TEST(bad_receive_ends_the_queue_pair)
{
	struct tern_sge sge = { .length = htole32(100) };
	struct rdma_pair pair;
	struct tern_qp_status status;
	struct tern_cqe cqe;
	uint32_t bad, next;

	rdma_pair_create(&pair, &ud);
	sge.address = htole64(pair.b.buffer);
	sge.key = htole32(pair.b.key ^ 1);
	bad = driver_post_receive(&pair.b.qp, &sge, 1);
	next = rdma_post_receive(&pair.b, 0, 100);
	send_datagram(&pair, 4);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_LOCAL_PROTECTION);
	CHECK_EQ(le32toh(cqe.index), bad);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	CHECK_EQ(le32toh(cqe.index), next);
	rdma_qp_status(&pair.b, &status);
	CHECK_EQ(status.state, TERN_QP_ERROR);
	rdma_pair_destroy(&pair);
}

TERN_TEST(gsi_has_its_well_known_q_key)
{
	struct tern_qp_attributes attributes = { 0 };
	struct tern_address_vector vector;
	struct rdma_request request = {
		.opcode = TERN_WQE_SEND, .length = 24, .vector = &vector,
	};
	struct driver_qp gsi[2];
	struct rdma_pair pair;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &ud);
	for (unsigned int i = 0; i < 2; i++) {
		struct rdma_side *side = i ? &pair.b : &pair.a;

		driver_qp_create(side->driver, &gsi[i], TERN_QP_GSI, 1, RDMA_PD,
				 TERN_QP_PRIVILEGED, &side->send_cq, &side->receive_cq, 4, 4, 6);
		CHECK_EQ(driver_qp_modify(&gsi[i], TERN_QP_INIT, 0, &attributes), 0);
		CHECK_EQ(driver_qp_modify(&gsi[i], TERN_QP_RTR, 0, &attributes), 0);
		CHECK_EQ(driver_qp_modify(&gsi[i], TERN_QP_RTS, TERN_QP_SET_SQ_PSN, &attributes),
			 0);
		side->qp = gsi[i];
	}
	rdma_vector(&pair, &pair.a, &vector);
	CHECK_EQ(le32toh(vector.remote_qpn), 1);
	vector.qkey = htole32(0x80010000);
	rdma_fill(rdma_memory(&pair.a, 0), 24, 3);
	rdma_post_receive(&pair.b, 0, 256 + GRH);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	CHECK_EQ(le32toh(cqe.source_qpn), 1);
	CHECK_MEM(rdma_memory(&pair.b, GRH), rdma_memory(&pair.a, 0), 24);
	rdma_pair_destroy(&pair);
}

TERN_TEST(local_dma_key_only_for_the_privileged)
{
	struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 4, .sge_count = 1 };
	struct tern_sge sge = { .length = htole32(4), .key = htole32(TERN_KEY_LOCAL_DMA) };
	struct rdma_pair pair;

	rdma_pair_create(&pair, &ud);
	sge.address = htole64(pair.a.buffer);
	request.sges = &sge;
	fails(&pair, &request, TERN_WC_LOCAL_PROTECTION);
	rdma_pair_destroy(&pair);
}
