// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: events of completion queues and of the device. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "verbs_rules.h"

struct scene {
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq, *recv_cq;	/* the latter with the channel */
	struct ibv_qp *a, *b;
};

static struct scene scene_new(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 16, 16, 1, 1, 0 }, .qp_type = IBV_QPT_RC,
	};
	struct scene s;

	s.channel = ibv_create_comp_channel(dev.context);
	REQUIRE(s.channel);
	REQUIRE(!fcntl(s.channel->fd, F_SETFL, O_NONBLOCK));
	s.send_cq = cq_new(64, NULL);
	s.recv_cq = cq_new(64, s.channel);
	attr.send_cq = s.send_cq;
	attr.recv_cq = s.recv_cq;
	s.a = ibv_create_qp(dev.pd, &attr);
	s.b = ibv_create_qp(dev.pd, &attr);
	REQUIRE(s.a && s.b);
	to_init(s.a);
	to_init(s.b);
	to_rts(s.a, s.b->qp_num, PATIENT);
	to_rts(s.b, s.a->qp_num, PATIENT);
	return s;
}

static void scene_free(struct scene *s)
{
	REQUIRE(!ibv_destroy_qp(s->a));
	REQUIRE(!ibv_destroy_qp(s->b));
	REQUIRE(!ibv_destroy_cq(s->send_cq));
	REQUIRE(!ibv_destroy_cq(s->recv_cq));
	REQUIRE(!ibv_destroy_comp_channel(s->channel));
}

/* Take an event that comes within @ms. */
static bool event(struct scene *s, int ms)
{
	struct pollfd fd = { .fd = s->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, ms) != 1)
		return false;
	REQUIRE(!ibv_get_cq_event(s->channel, &cq, &context));
	REQUIRE(cq == s->recv_cq);
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* A message from A to B, completed on both sides; B's completion stays in its CQ. */
static void message(struct scene *s, int flags)
{
	REQUIRE(!post_recv(s->b, 1, NULL, 0));
	REQUIRE(!post_send(s->a, (struct ibv_send_wr){
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED | flags }));
	REQUIRE(!wait_wc(s->send_cq).status);
}

void test_next(void)
{
	struct scene s = scene_new();

	/* Not armed: no event. */
	message(&s, 0);
	REQUIRE(!event(&s, 100));
	/* What was there before the arming makes none; the next one does, once. */
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 0));
	REQUIRE(!event(&s, 100));
	message(&s, 0);
	REQUIRE(event(&s, 5000));
	message(&s, 0);
	REQUIRE(!event(&s, 100));
	/* Armed twice is armed once. */
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 0));
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 0));
	message(&s, 0);
	REQUIRE(event(&s, 5000));
	REQUIRE(!event(&s, 100));
	scene_free(&s);
}

void test_solicited(void)
{
	struct scene s = scene_new();
	struct ibv_wc wc[2];

	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 1));
	message(&s, 0);
	REQUIRE(!event(&s, 100));
	message(&s, IBV_SEND_SOLICITED);
	REQUIRE(event(&s, 5000));
	/* A request for the next completion stands when one for a solicited one follows. */
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 0));
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 1));
	message(&s, 0);
	REQUIRE(event(&s, 5000));
	/* The other way round the wider one counts. */
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 1));
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 0));
	message(&s, 0);
	REQUIRE(event(&s, 5000));
	/* An error is solicited. */
	wait_wcs(s.recv_cq, wc, 2);
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 1));
	REQUIRE(!post_recv(s.b, 9, NULL, 0));
	to_state(s.b, IBV_QPS_ERR);
	REQUIRE(event(&s, 5000));
	scene_free(&s);
}

/* The usual loop, with nothing but events to wake it. */
void test_many_events(void)
{
	struct scene s = scene_new();
	int sent = 0, received = 0, i;

	for (i = 0; i < 16; i++)
		REQUIRE(!post_recv(s.b, i, NULL, 0));
	REQUIRE(!ibv_req_notify_cq(s.recv_cq, 0));
	while (received < 2000) {
		struct ibv_wc wc[4];
		int n;

		/* Bursts of 1..7, when all that was sent is there. */
		if (sent == received)
			for (i = 0; i <= received % 7; i++, sent++)
				REQUIRE(!post_send(s.a, (struct ibv_send_wr){
					.opcode = IBV_WR_SEND,
					.send_flags = IBV_SEND_SIGNALED }));
		/* Something is on its way and was not there when the CQ was armed and polled. */
		REQUIRE(event(&s, 10000));
		REQUIRE(!ibv_req_notify_cq(s.recv_cq, 0));
		while ((n = ibv_poll_cq(s.recv_cq, 4, wc)) > 0) {
			for (i = 0; i < n; i++) {
				REQUIRE(!wc[i].status && wc[i].wr_id == (uint64_t)received % 16);
				REQUIRE(!post_recv(s.b, wc[i].wr_id, NULL, 0));
				received++;
			}
		}
		REQUIRE(n == 0);
		while (ibv_poll_cq(s.send_cq, 4, wc) > 0)
			;
	}
	scene_free(&s);
}

/* A CQ that overruns says so, and its queue pairs stop. */
void test_async(void)
{
	struct ibv_cq *small = cq_new(2, NULL), *cq = cq_new(64, NULL);
	struct ibv_qp_init_attr attr = {
		.send_cq = small, .recv_cq = cq, .cap = { 16, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *a = ibv_create_qp(dev.pd, &attr);
	struct ibv_qp *b = qp_new(IBV_QPT_RC, cq, (struct ibv_qp_cap){ 1, 1, 1, 1, 0 });
	bool cq_error = false, qp_fatal = false;
	struct ibv_async_event async;
	int i;

	REQUIRE(a);
	to_init(a);
	to_init(b);
	to_rts(a, b->qp_num, PATIENT);
	to_rts(b, a->qp_num, PATIENT);
	for (i = 0; i <= small->cqe; i++)
		REQUIRE(!post_send(a, (struct ibv_send_wr){
			.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }));
	alarm(20);
	while (!cq_error || !qp_fatal) {
		REQUIRE(!ibv_get_async_event(dev.context, &async));
		if (async.event_type == IBV_EVENT_CQ_ERR) {
			REQUIRE(async.element.cq == small);
			cq_error = true;
		} else if (async.event_type == IBV_EVENT_QP_FATAL) {
			REQUIRE(async.element.qp == a);
			qp_fatal = true;
		} else {
			REQUIRE(async.event_type == IBV_EVENT_COMM_EST);
		}
		ibv_ack_async_event(&async);
	}
	REQUIRE(state_of(a) == IBV_QPS_ERR && state_of(b) == IBV_QPS_RTS);
	REQUIRE(!ibv_destroy_qp(a));
	REQUIRE(!ibv_destroy_qp(b));
	REQUIRE(!ibv_destroy_cq(small));
	REQUIRE(!ibv_destroy_cq(cq));
}
