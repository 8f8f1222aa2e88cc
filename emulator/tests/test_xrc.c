// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: XRC: initiators, targets, and the SRQs that messages name. */
#include <endian.h>

#include "host_peer.h"
#include "tern_test.h"

#define MTU	1024
#define PSN	0xfffffe		/* so that it wraps */
#define OTHER_PD	(RDMA_PD + 1)

static struct rdma_pair pair;
static struct peer peer;

static void start(struct rdma_options options)
{
	options.type = TERN_QP_XRC_INITIATOR;
	options.path_mtu = 3;
	options.latency_ns = 1000;
	options.sq_psn = PSN;
	rdma_pair_create(&pair, &options);
	rdma_fill(rdma_memory(&pair.a, 0), (size_t)1 << 19, 3);
}

static struct tern_cqe completion(struct driver_cq *cq, uint8_t opcode, uint8_t status)
{
	struct tern_cqe cqe;

	rdma_wait(&pair, cq, &cqe);
	CHECK_EQ(cqe.status, status);
	CHECK_EQ(cqe.opcode, opcode);
	return cqe;
}

static void sent(uint8_t opcode, uint8_t status)
{
	CHECK_EQ(le32toh(completion(&pair.a.send_cq, opcode, status).queue), pair.a.qp.qpn);
}

/* In the SRQ's CQ, of which target, of which SRQ. */
static struct tern_cqe received(const struct driver_srq *srq, const struct driver_qp *qp,
				uint8_t opcode, uint8_t status, uint32_t tag)
{
	struct rdma_side *side = srq->driver == pair.b.driver ? &pair.b : &pair.a;
	struct tern_cqe cqe = completion(&side->receive_cq, opcode, status);

	CHECK_EQ(le32toh(cqe.queue), qp->qpn);
	CHECK_EQ(le32toh(cqe.srqn), srq->srqn);
	CHECK_EQ(le32toh(cqe.index), tag);
	CHECK(cqe.flags & TERN_CQE_FLAG_XRC);
	return cqe;
}

static void request(uint8_t opcode, uint64_t offset, uint32_t length)
{
	struct rdma_request request = {
		.opcode = opcode, .address = pair.a.buffer + offset, .length = length,
		.immediate = 0x1234, .remote_address = pair.b.buffer + offset,
	};

	rdma_post(&pair, &pair.a, &request);
}

static void transfer(uint32_t length)
{
	const uint64_t at = 3 * MTU + 5;
	struct tern_cqe cqe;
	uint32_t tag;

	tag = rdma_post_receive(&pair.b, 0, length);
	request(TERN_WQE_SEND, at, length);
	cqe = received(&pair.b.srq, &pair.b.qp, TERN_CQE_RECEIVE, TERN_WC_SUCCESS, tag);
	CHECK_EQ(le32toh(cqe.byte_count), length);
	CHECK_MEM(rdma_memory(&pair.b, 0), rdma_memory(&pair.a, at), length);
	sent(TERN_WQE_SEND, TERN_WC_SUCCESS);

	tag = rdma_post_receive(&pair.b, 0, length);
	request(TERN_WQE_SEND_IMMEDIATE, at, length);
	cqe = received(&pair.b.srq, &pair.b.qp, TERN_CQE_RECEIVE_IMMEDIATE, TERN_WC_SUCCESS, tag);
	CHECK_MEM(cqe.immediate, "\0\0\x12\x34", 4);
	sent(TERN_WQE_SEND_IMMEDIATE, TERN_WC_SUCCESS);

	request(TERN_WQE_WRITE, at, length);
	sent(TERN_WQE_WRITE, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.b, at), rdma_memory(&pair.a, at), length);

	tag = rdma_post_receive(&pair.b, 0, 0);
	request(TERN_WQE_WRITE_IMMEDIATE, at, length);
	cqe = received(&pair.b.srq, &pair.b.qp, TERN_CQE_RECEIVE_WRITE_IMMEDIATE, TERN_WC_SUCCESS,
		       tag);
	CHECK_EQ(le32toh(cqe.byte_count), length);
	sent(TERN_WQE_WRITE_IMMEDIATE, TERN_WC_SUCCESS);

	rdma_fill(rdma_memory(&pair.b, at), length, 99 + length);
	request(TERN_WQE_READ, at, length);
	sent(TERN_WQE_READ, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.a, at), rdma_memory(&pair.b, at), length);
}

static void atomics(void)
{
	struct rdma_request atomic = {
		.opcode = TERN_WQE_FETCH_ADD, .length = 8, .swap_add = 5,
		.remote_address = pair.b.buffer + 64,
	};
	uint64_t value = htole64(1000);

	memcpy(rdma_memory(&pair.b, 64), &value, 8);
	rdma_post(&pair, &pair.a, &atomic);
	sent(TERN_WQE_FETCH_ADD, TERN_WC_SUCCESS);
	CHECK_MEM(rdma_memory(&pair.a, 0), &value, 8);
	atomic.opcode = TERN_WQE_CAS;
	atomic.compare = 1005;
	atomic.swap_add = 7;
	rdma_post(&pair, &pair.a, &atomic);
	sent(TERN_WQE_CAS, TERN_WC_SUCCESS);
	value = htole64(7);
	CHECK_MEM(rdma_memory(&pair.b, 64), &value, 8);
}

static bool lossy(struct machine *machine, const struct tern_frame *frame)
{
	(void)frame;
	return machine->frames_sent % 17 != 5;
}

static void transfers(struct rdma_options options, bool lose)
{
	static const uint32_t lengths[] = { 0, 1, MTU - 1, MTU, MTU + 1, 3 * MTU, 100003 };

	start(options);
	if (lose) {
		pair.a.machine->on_transmit = lossy;
		pair.b.machine->on_transmit = lossy;
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		transfer(lengths[i]);
	atomics();
	rdma_pair_destroy(&pair);
}

TERN_TEST(all_operations)
{
	transfers((struct rdma_options){ .no_shortcuts = true }, false);
	transfers((struct rdma_options){ .network = RDMA_V2_IPV6 }, false);
	transfers((struct rdma_options){ .network = RDMA_V1, .loopback = true }, false);
	transfers((struct rdma_options){ .timeout = 4 }, true);
}

/* Each message goes to the SRQ that it names, and has the rights of that one's PD. */
TERN_TEST(named_srqs_and_their_domains_of_protection)
{
	struct rdma_request send = { .opcode = TERN_WQE_SEND, .length = 3 * MTU };
	struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 10 };
	struct tern_sge sge = { .length = htole32(4 * MTU) };
	struct driver_srq other;
	uint32_t key, tag;

	start((struct rdma_options){ .no_shortcuts = true });
	driver_srq_create_xrc(pair.b.driver, &other, OTHER_PD, 4, &pair.b.receive_cq);
	key = driver_key_create(pair.b.driver, pair.b.buffer, pair.b.buffer_bytes,
				RDMA_ALL_ACCESS, OTHER_PD);
	sge.address = htole64(pair.b.buffer + 8 * MTU);
	sge.key = htole32(key);

	rdma_post_receive(&pair.b, 0, 4 * MTU);
	tag = driver_srq_post(&other, &sge, 1);
	send.remote_srqn = other.srqn;
	rdma_post(&pair, &pair.a, &send);
	received(&other, &pair.b.qp, TERN_CQE_RECEIVE, TERN_WC_SUCCESS, tag);
	CHECK_MEM(rdma_memory(&pair.b, 8 * MTU), rdma_memory(&pair.a, 0), 3 * MTU);
	sent(TERN_WQE_SEND, TERN_WC_SUCCESS);

	write.remote_key = key;
	write.remote_srqn = other.srqn;
	write.remote_address = pair.b.buffer + 16 * MTU;
	rdma_post(&pair, &pair.a, &write);
	sent(TERN_WQE_WRITE, TERN_WC_SUCCESS);
	/* An answer in the making is of the PD of its own request, whatever comes then. */
	write.opcode = TERN_WQE_READ;
	write.length = 40 * MTU;
	rdma_post(&pair, &pair.a, &write);
	request(TERN_WQE_WRITE, 0, 10);
	sent(TERN_WQE_READ, TERN_WC_SUCCESS);
	sent(TERN_WQE_WRITE, TERN_WC_SUCCESS);
	/* The other SRQ's PD has not got this key. */
	write.remote_key = pair.b.key;
	write.length = 10;
	rdma_post(&pair, &pair.a, &write);
	sent(TERN_WQE_READ, TERN_WC_REMOTE_ACCESS);
	rdma_pair_destroy(&pair);
}

TERN_TEST(no_receive_is_rnr)
{
	uint32_t tag;

	start((struct rdma_options){ 0 });
	request(TERN_WQE_SEND, 0, 10);
	world_advance(pair.world, 1000000);
	CHECK(rdma_none(&pair.a.send_cq));
	CHECK(rdma_counter(&pair.b, "rnr_nak_sent") > 0);
	tag = rdma_post_receive(&pair.b, 0, 10);
	received(&pair.b.srq, &pair.b.qp, TERN_CQE_RECEIVE, TERN_WC_SUCCESS, tag);
	sent(TERN_WQE_SEND, TERN_WC_SUCCESS);
	rdma_pair_destroy(&pair);
}

/* a is a target, and the test plays its initiator. */
static void play(void)
{
	start((struct rdma_options){ .a_is_target = true, .rq_psn = PSN });
	peer_start(&peer, &pair);
}

static void stop(void)
{
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}

static void packet(uint8_t opcode, uint32_t number, uint32_t srqn, size_t length)
{
	static uint8_t data[MTU];
	struct wire_headers headers = peer_headers(&peer, WIRE_SERVICE_XRC | opcode, PSN + number);

	headers.srqn = srqn;
	headers.ack_request = true;
	headers.reth.length = 2 * MTU;
	peer_send(&peer, &headers, data, length);
}

static void expect_answer(uint8_t syndrome)
{
	CHECK(peer_next(&peer));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_SERVICE_XRC | WIRE_RC_ACKNOWLEDGE);
	CHECK_EQ(peer.packet.headers.aeth.syndrome, syndrome);
}

static void expect_refused(uint8_t event)
{
	struct tern_qp_status status;
	struct tern_eqe eqe;

	expect_answer(WIRE_AETH_NAK | WIRE_NAK_INVALID_REQUEST);
	do {
		CHECK(rdma_event(&pair.a, &eqe));
	} while (eqe.type == TERN_EVENT_QP_ESTABLISHED);
	CHECK_EQ(eqe.type, event);
	rdma_qp_status(&pair.a, &status);
	CHECK_EQ(status.state, TERN_QP_ERROR);
}

TERN_TEST(srq_must_be_there_and_of_the_domain)
{
	struct driver_srq wrong;

	for (unsigned int kind = 0; kind < 4; kind++) {
		play();
		rdma_post_receive(&pair.a, 0, MTU);
		wrong = pair.a.srq;
		wrong.srqn += 1000;
		if (kind == 1) {
			driver_srq_create(pair.a.driver, &wrong, RDMA_PD, 4);
		} else if (kind == 2) {
			pair.a.driver->xrcd++;
			driver_srq_create_xrc(pair.a.driver, &wrong, RDMA_PD, 4,
					      &pair.a.receive_cq);
		} else if (kind == 3) {
			wrong.srqn = 0xffffff;
		}
		packet(kind & 1 ? WIRE_RC_SEND_ONLY : WIRE_RC_WRITE_FIRST, 0, wrong.srqn,
		       kind & 1 ? 10 : MTU);
		expect_refused(TERN_EVENT_QP_REQUEST_ERROR);
		CHECK(rdma_none(&pair.a.receive_cq));
		stop();
	}
}

/* The entry that its message has is not lost. */
TERN_TEST(message_stays_with_its_srq)
{
	struct driver_srq other;
	uint32_t tag;

	play();
	driver_srq_create_xrc(pair.a.driver, &other, RDMA_PD, 4, &pair.a.receive_cq);
	tag = rdma_post_receive(&pair.a, 0, 3 * MTU);
	packet(WIRE_RC_SEND_FIRST, 0, pair.a.srq.srqn, MTU);
	expect_answer(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED);
	packet(WIRE_RC_SEND_MIDDLE, 1, other.srqn, MTU);
	expect_refused(TERN_EVENT_QP_REQUEST_ERROR);
	received(&pair.a.srq, &pair.a.qp, TERN_CQE_RECEIVE, TERN_WC_FLUSHED, tag);
	stop();
}

TERN_TEST(srq_goes_under_a_message)
{
	struct driver_srq again;

	play();
	rdma_post_receive(&pair.a, 0, 3 * MTU);
	packet(WIRE_RC_SEND_FIRST, 0, pair.a.srq.srqn, MTU);
	expect_answer(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_SRQ, pair.a.srq.srqn, NULL, 0),
		 0);
	/* One of the same number is another one. */
	pair.a.driver->next_srqn = pair.a.srq.srqn;
	driver_srq_create_xrc(pair.a.driver, &again, RDMA_PD, 4, &pair.a.receive_cq);
	CHECK_EQ(again.srqn, pair.a.srq.srqn);
	packet(WIRE_RC_SEND_LAST, 1, again.srqn, 10);
	expect_refused(TERN_EVENT_QP_REQUEST_ERROR);
	CHECK(rdma_none(&pair.a.receive_cq));
	stop();
}

/* What was executed is acknowledged again though its SRQ has gone; a READ is not answered. */
TERN_TEST(duplicates)
{
	play();
	rdma_post_receive(&pair.a, 0, MTU);
	packet(WIRE_RC_SEND_ONLY, 0, pair.a.srq.srqn, 10);
	expect_answer(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED);
	packet(WIRE_RC_READ_REQUEST, 1, pair.a.srq.srqn, 0);
	CHECK(peer_next(&peer) && peer_next(&peer));
	CHECK_EQ(peer.packet.headers.opcode, WIRE_SERVICE_XRC | WIRE_RC_READ_RESPONSE_LAST);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_SRQ, pair.a.srq.srqn, NULL, 0),
		 0);
	packet(WIRE_RC_READ_REQUEST, 1, pair.a.srq.srqn, 0);
	CHECK(!peer_next(&peer));
	packet(WIRE_RC_SEND_ONLY, 0, pair.a.srq.srqn, 10);
	expect_answer(WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED);
	stop();
}

/* A reset of the target, and its end, give the entry back. */
TERN_TEST(reset_and_destruction_flush_the_entry)
{
	for (unsigned int destroy = 0; destroy < 2; destroy++) {
		uint32_t tag;

		play();
		tag = rdma_post_receive(&pair.a, 0, 3 * MTU);
		packet(WIRE_RC_SEND_FIRST, 0, pair.a.srq.srqn, MTU);
		if (destroy)
			CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_QP,
						pair.a.qp.qpn, NULL, 0), 0);
		else
			CHECK_EQ(driver_qp_modify(&pair.a.qp, TERN_QP_RESET, 0, NULL), 0);
		received(&pair.a.srq, &pair.a.qp, TERN_CQE_RECEIVE, TERN_WC_FLUSHED, tag);
		CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_SRQ, pair.a.srq.srqn,
					NULL, 0), 0);
		stop();
	}
}

TERN_TEST(each_side_has_its_opcodes)
{
	struct wire_headers headers;

	play();
	packet(WIRE_RC_ACKNOWLEDGE, 0, 0, 0);
	packet(WIRE_RC_READ_RESPONSE_ONLY, 0, 0, 8);
	headers = peer_headers(&peer, WIRE_RC_SEND_ONLY, PSN);
	peer_send(&peer, &headers, NULL, 0);
	CHECK_EQ(rdma_counter(&pair.a, "rx_malformed"), 3);
	CHECK(!peer_next(&peer));
	stop();
	start((struct rdma_options){ 0 });
	peer_start(&peer, &pair);
	packet(WIRE_RC_SEND_ONLY, 0, 1, 8);
	packet(WIRE_RC_READ_REQUEST, 0, 1, 0);
	CHECK_EQ(rdma_counter(&pair.a, "rx_malformed"), 2);
	CHECK(!peer_next(&peer));
	stop();
}

/* Without room in its CQ an SRQ is of no use. */
TERN_TEST(cq_of_the_srq_overruns)
{
	struct driver_srq srq;
	struct driver_cq small;
	struct tern_eqe eqe;
	struct tern_sge sge;
	bool failed = false, fatal = false;

	play();
	driver_cq_create(pair.a.driver, &small, 1);
	driver_srq_create_xrc(pair.a.driver, &srq, RDMA_PD, 4, &small);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_CQ, small.cqn, NULL, 0),
		 TERN_COMMAND_STATUS_IN_USE);
	sge = (struct tern_sge){ .address = htole64(pair.a.buffer), .length = htole32(MTU),
				 .key = htole32(pair.a.key) };
	for (unsigned int i = 0; i < 5; i++)
		driver_srq_post(&srq, &sge, 1);
	for (unsigned int i = 0; i < 5; i++)
		packet(WIRE_RC_SEND_ONLY, i, srq.srqn, 10);
	while (rdma_event(&pair.a, &eqe)) {
		failed |= eqe.type == TERN_EVENT_SRQ_ERROR && le32toh(eqe.number) == srq.srqn;
		fatal |= eqe.type == TERN_EVENT_QP_FATAL;
	}
	CHECK(failed && fatal);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_SRQ, srq.srqn, NULL, 0), 0);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_CQ, small.cqn, NULL, 0), 0);
	stop();
}

static void post_bad(uint8_t opcode, uint32_t srqn)
{
	struct rdma_request bad = { .opcode = opcode, .length = 8, .remote_srqn = srqn };

	start((struct rdma_options){ 0 });
	rdma_post(&pair, &pair.a, &bad);
	sent(opcode, TERN_WC_LOCAL_QP_OPERATION);
	rdma_pair_destroy(&pair);
}

TERN_TEST(requests_that_are_malformed)
{
	post_bad(TERN_WQE_SEND, 1 << 24);
	post_bad(TERN_WQE_READ, 0xff000001);
	post_bad(TERN_WQE_BIND_WINDOW, 1);
	post_bad(TERN_WQE_REGISTER, 1);
}

#define QP_OFFSET(member)	(offsetof(struct tern_command, body) + \
				 offsetof(struct tern_command_create_qp, member))
#define SRQ_OFFSET(member)	(offsetof(struct tern_command, body) + \
				 offsetof(struct tern_command_create_srq, member))

static void refuse_qp(uint8_t type, uint32_t flags, uint32_t xrcd, size_t offset)
{
	struct tern_command_create_qp body = {
		.type = type, .flags = htole32(flags), .xrcd = htole32(xrcd),
		.srqn = htole32(flags & TERN_QP_USES_SRQ ? pair.b.srq.srqn : 0),
	};

	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_CREATE_QP, 77, &body, sizeof(body)),
		 TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(pair.a.driver->syndrome, offset);
}

static void refuse_srq(uint32_t cqn, uint32_t xrcd, uint16_t status, size_t offset)
{
	struct driver_srq srq;
	struct tern_command_create_srq body = driver_srq_body(pair.a.driver, &srq, RDMA_PD, 4);

	body.cqn = htole32(cqn);
	body.xrcd = htole32(xrcd);
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_CREATE_SRQ, srq.srqn, &body,
				sizeof(body)), status);
	CHECK_EQ(pair.a.driver->syndrome, offset);
}

TERN_TEST(refused_commands)
{
	const uint32_t none = TERN_QP_NO_SQ | TERN_QP_NO_RQ;
	struct rdma_options without = {
		.without_features = UINT64_C(1) << TERN_FEATURE_XRC,
	};

	start((struct rdma_options){ .loopback = true });
	refuse_qp(TERN_QP_XRC_TARGET, TERN_QP_NO_SQ, 1, QP_OFFSET(flags));
	refuse_qp(TERN_QP_XRC_TARGET, TERN_QP_NO_RQ, 1, QP_OFFSET(flags));
	refuse_qp(TERN_QP_XRC_TARGET, none, 0, QP_OFFSET(xrcd));
	refuse_qp(TERN_QP_XRC_TARGET, none, 1 << 24, QP_OFFSET(xrcd));
	refuse_qp(TERN_QP_XRC_INITIATOR, 0, 0, QP_OFFSET(flags));
	refuse_qp(TERN_QP_XRC_INITIATOR, TERN_QP_NO_RQ | TERN_QP_USES_SRQ, 0, QP_OFFSET(flags));
	refuse_qp(TERN_QP_XRC_INITIATOR, TERN_QP_NO_RQ, 1, QP_OFFSET(xrcd));
	refuse_qp(TERN_QP_RC, 0, 1, QP_OFFSET(xrcd));
	refuse_qp(TERN_QP_RC, TERN_QP_USES_SRQ, 0, QP_OFFSET(srqn));
	refuse_srq(999999, 1, TERN_COMMAND_STATUS_NOT_FOUND, SRQ_OFFSET(cqn));
	refuse_srq(pair.a.receive_cq.cqn, 0, TERN_COMMAND_STATUS_BAD_PARAMETER, SRQ_OFFSET(cqn));
	refuse_srq(pair.a.receive_cq.cqn, 0xffffffff, TERN_COMMAND_STATUS_BAD_PARAMETER,
		   SRQ_OFFSET(xrcd));
	rdma_pair_destroy(&pair);
	rdma_pair_create(&pair, &without);
	refuse_qp(TERN_QP_XRC_TARGET, none, 1, QP_OFFSET(type));
	refuse_qp(TERN_QP_XRC_INITIATOR, TERN_QP_NO_RQ, 0, QP_OFFSET(type));
	refuse_srq(pair.a.receive_cq.cqn, 1, TERN_COMMAND_STATUS_BAD_PARAMETER, SRQ_OFFSET(xrcd));
	rdma_pair_destroy(&pair);
}
