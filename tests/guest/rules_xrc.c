// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: extended reliable connections: domains, targets, SRQs that messages name. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rules_xrc.h"

#define ALL	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct ibv_xrcd *xrcd_open(int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd, .oflags = oflags,
	};

	errno = 0;
	return ibv_open_xrcd(dev.context, &attr);
}

struct ibv_xrcd *xrcd_new(void)
{
	struct ibv_xrcd *xrcd = xrcd_open(-1, O_CREAT);

	REQUIRE(xrcd);
	return xrcd;
}

struct ibv_qp *xrc_target_new(struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(dev.context, &attr);

	REQUIRE(qp);
	return qp;
}

struct ibv_qp *xrc_target_open(struct ibv_xrcd *xrcd, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	errno = 0;
	return ibv_open_qp(dev.context, &attr);
}

static struct ibv_srq *srq_of(struct ibv_xrcd *xrcd, struct ibv_pd *pd, struct ibv_cq *cq,
			      uint32_t entries, uint32_t sges)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = entries, .max_sge = sges }, .srq_type = IBV_SRQT_XRC,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.pd = pd, .xrcd = xrcd, .cq = cq,
	};
	struct ibv_srq *srq;

	errno = 0;
	srq = ibv_create_srq_ex(dev.context, &attr);
	REQUIRE(!srq || (attr.attr.max_wr >= entries && attr.attr.max_sge >= sges));
	return srq;
}

void named_post(struct named *n)
{
	struct ibv_sge sge = sge_of(&n->b, n->posted % ENTRIES * SLOT, SLOT);
	struct ibv_recv_wr wr = { .wr_id = n->posted, .sg_list = &sge, .num_sge = 1 }, *bad;

	REQUIRE(!ibv_post_srq_recv(n->srq, &wr, &bad));
	n->posted++;
}

struct named named_new(struct ibv_xrcd *xrcd)
{
	struct named n = { .pd = ibv_alloc_pd(dev.context), .cq = cq_new(64, NULL) };

	REQUIRE(n.pd);
	n.b.size = WRITTEN + SLOT;
	n.b.data = calloc(1, n.b.size);
	REQUIRE(n.b.data);
	n.b.mr = ibv_reg_mr(n.pd, n.b.data, n.b.size, IBV_ACCESS_LOCAL_WRITE | ALL);
	n.srq = srq_of(xrcd, n.pd, n.cq, ENTRIES, 1);
	REQUIRE(n.b.mr && n.srq);
	REQUIRE(!ibv_get_srq_num(n.srq, &n.number) && n.number);
	named_post(&n);
	return n;
}

void named_free(struct named *n)
{
	if (n->srq)
		REQUIRE(!ibv_destroy_srq(n->srq));
	REQUIRE(!ibv_destroy_cq(n->cq));
	buffer_free(&n->b);
	REQUIRE(!ibv_dealloc_pd(n->pd));
}

void xrc_connect(struct xrc *x, struct timing timing)
{
	to_init(x->from);
	to_init(x->to);
	to_rts(x->to, x->from->qp_num, timing);
	to_rts(x->from, x->to->qp_num, timing);
}

struct xrc xrc_in(struct ibv_xrcd *xrcd, struct timing timing)
{
	struct xrc x = { .xrcd = xrcd, .cq = cq_new(64, NULL), .out = buffer_new(2 * SLOT, 0) };
	int i;

	fill(x.out.data, x.out.size, 7);
	x.from = qp_new(IBV_QPT_XRC_SEND, x.cq, XRC_CAP);
	x.to = xrc_target_new(x.xrcd);
	for (i = 0; i < 2; i++)
		x.srqs[i] = named_new(x.xrcd);
	REQUIRE(x.srqs[0].number != x.srqs[1].number);
	xrc_connect(&x, timing);
	return x;
}

static struct xrc xrc_new(struct timing timing)
{
	return xrc_in(xrcd_new(), timing);
}

void xrc_free(struct xrc *x)
{
	REQUIRE(!ibv_destroy_qp(x->from));
	REQUIRE(!ibv_destroy_qp(x->to));
	named_free(&x->srqs[0]);
	named_free(&x->srqs[1]);
	REQUIRE(!ibv_close_xrcd(x->xrcd));
	REQUIRE(!ibv_destroy_cq(x->cq));
	buffer_free(&x->out);
}

struct ibv_send_wr named_wr(const struct named *n, enum ibv_wr_opcode opcode,
			    struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.wr_id = 77, .sg_list = sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl(0x01020304),
		.qp_type.xrc.remote_srqn = n->number,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = (uintptr_t)n->b.data + WRITTEN;
		wr.wr.atomic.rkey = n->b.mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)n->b.data + WRITTEN;
		wr.wr.rdma.rkey = n->b.mr->rkey;
	}
	return wr;
}

void xrc_sent(struct xrc *x, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = wait_wc(x->cq);

	REQUIRE(!wc.status && wc.wr_id == 77 && wc.opcode == opcode);
	REQUIRE(wc.qp_num == x->from->qp_num);
}

struct ibv_wc named_arrived(struct named *n, uint32_t qpn)
{
	struct ibv_wc wc = wait_wc(n->cq);

	REQUIRE(!wc.status && wc.wr_id == n->taken && wc.qp_num == qpn);
	n->taken++;
	return wc;
}

void xrc_message(struct xrc *x, struct named *to, enum ibv_wr_opcode opcode, uint32_t length)
{
	struct ibv_sge sge = sge_of(&x->out, length % 64, length);
	const uint8_t *place = to->b.data + to->taken % ENTRIES * SLOT;
	bool write = opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct ibv_wc wc;

	memset(to->b.data + to->taken % ENTRIES * SLOT, 0, SLOT);
	memset(to->b.data + WRITTEN, 0, SLOT);
	named_post(to);
	REQUIRE(!post_send(x->from, named_wr(to, opcode, &sge)));
	wc = named_arrived(to, x->to->qp_num);
	REQUIRE(wc.opcode == (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV));
	REQUIRE(wc.byte_len == length);
	REQUIRE(!(wc.wc_flags & IBV_WC_WITH_IMM) == (opcode == IBV_WR_SEND));
	if (wc.wc_flags & IBV_WC_WITH_IMM)
		REQUIRE(wc.imm_data == htonl(0x01020304));
	REQUIRE(!memcmp(write ? to->b.data + WRITTEN : place, x->out.data + length % 64, length));
	xrc_sent(x, write ? IBV_WC_RDMA_WRITE : IBV_WC_SEND);
	REQUIRE(ibv_poll_cq(x->srqs[0].cq, 1, &wc) == 0);
	REQUIRE(ibv_poll_cq(x->srqs[1].cq, 1, &wc) == 0);
}

void xrc_memory(struct xrc *x, struct named *to)
{
	struct ibv_sge sge = sge_of(&x->out, 0, 5000), word = sge_of(&x->out, 8192, 8);
	uint64_t value = 1000, found;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	memset(to->b.data + WRITTEN, 0, SLOT);
	REQUIRE(!post_send(x->from, named_wr(to, IBV_WR_RDMA_WRITE, &sge)));
	xrc_sent(x, IBV_WC_RDMA_WRITE);
	REQUIRE(!memcmp(to->b.data + WRITTEN, x->out.data, 5000));
	fill(to->b.data + WRITTEN, 5000, to->number);
	REQUIRE(!post_send(x->from, named_wr(to, IBV_WR_RDMA_READ, &sge)));
	xrc_sent(x, IBV_WC_RDMA_READ);
	REQUIRE(!memcmp(to->b.data + WRITTEN, x->out.data, 5000));

	memcpy(to->b.data + WRITTEN, &value, 8);
	wr = named_wr(to, IBV_WR_ATOMIC_FETCH_AND_ADD, &word);
	wr.wr.atomic.compare_add = 5;
	REQUIRE(!post_send(x->from, wr));
	xrc_sent(x, IBV_WC_FETCH_ADD);
	memcpy(&found, x->out.data + 8192, 8);
	REQUIRE(found == 1000);
	wr = named_wr(to, IBV_WR_ATOMIC_CMP_AND_SWP, &word);
	wr.wr.atomic.compare_add = 1005;
	wr.wr.atomic.swap = 7;
	REQUIRE(!post_send(x->from, wr));
	xrc_sent(x, IBV_WC_COMP_SWAP);
	memcpy(&found, x->out.data + 8192, 8);
	memcpy(&value, to->b.data + WRITTEN, 8);
	REQUIRE(found == 1005 && value == 7);
	REQUIRE(ibv_poll_cq(x->srqs[0].cq, 1, &wc) == 0);
	REQUIRE(ibv_poll_cq(x->srqs[1].cq, 1, &wc) == 0);
}

void test_xrc_messages(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	static const uint32_t lengths[] = { 0, 1, 1024, 1025, SLOT };
	struct xrc x = xrc_new(PATIENT);
	struct ibv_sge sge = sge_of(&x.out, 0, 3000);
	unsigned int i, k, to;
	struct ibv_send_wr wr;

	for (i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++)
		for (k = 0; k < sizeof(lengths) / sizeof(*lengths); k++)
			for (to = 0; to < 2; to++)
				xrc_message(&x, &x.srqs[to], opcodes[i], lengths[k]);
	xrc_memory(&x, &x.srqs[0]);
	xrc_memory(&x, &x.srqs[1]);

	/* Many on their way, now for the one, now for the other. */
	for (i = 0; i < 12; i++) {
		named_post(&x.srqs[0]);
		named_post(&x.srqs[1]);
	}
	for (i = 0; i < 24; i++) {
		sge.length = 100 * i;
		wr = named_wr(&x.srqs[(i ^ i / 6) & 1], IBV_WR_SEND, &sge);
		wr.send_flags = i == 23 ? IBV_SEND_SIGNALED : 0;
		REQUIRE(!post_send(x.from, wr));
	}
	for (i = 0; i < 24; i++)
		REQUIRE(named_arrived(&x.srqs[(i ^ i / 6) & 1], x.to->qp_num).byte_len == 100 * i);
	xrc_sent(&x, IBV_WC_SEND);

	/* Neither side has what only the other needs. */
	REQUIRE(post_recv(x.from, 0, NULL, 0));
	REQUIRE(post_recv(x.to, 0, NULL, 0));
	REQUIRE(post_send(x.to, wr));
	xrc_free(&x);
}

/* By ibv_wr_*(), polled by the extended CQ's functions. */
void test_xrc_extended(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_SEND, .cap = XRC_CAP, .pd = dev.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 16 };
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct xrc x = xrc_new(PATIENT);
	struct named *to = &x.srqs[1];
	struct ibv_cq_ex *cq = ibv_create_cq_ex(dev.context, &cq_attr);
	double deadline = seconds() + 20;
	struct ibv_qp_ex *ex;
	int ret;

	REQUIRE(cq);
	REQUIRE(!ibv_destroy_qp(x.from));
	attr.send_cq = x.cq;
	attr.send_ops_flags = IBV_QP_EX_WITH_BIND_MW;
	REQUIRE(!ibv_create_qp_ex(dev.context, &attr) && errno == EOPNOTSUPP);
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM;
	x.from = ibv_create_qp_ex(dev.context, &attr);
	REQUIRE(x.from);
	ex = ibv_qp_to_qp_ex(x.from);
	to_state(x.to, IBV_QPS_RESET);
	xrc_connect(&x, PATIENT);

	REQUIRE(!ibv_destroy_srq(to->srq));
	to->srq = srq_of(x.xrcd, to->pd, ibv_cq_ex_to_cq(cq), ENTRIES, 1);
	REQUIRE(to->srq && !ibv_get_srq_num(to->srq, &to->number));
	named_post(to);
	ibv_wr_start(ex);
	ex->wr_id = 77;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(ex, htonl(5));
	ibv_wr_set_inline_data(ex, x.out.data, 50);
	ibv_wr_set_xrc_srqn(ex, to->number);
	REQUIRE(!ibv_wr_complete(ex));
	xrc_sent(&x, IBV_WC_SEND);
	while ((ret = ibv_start_poll(cq, &poll_attr)) == ENOENT)
		REQUIRE(seconds() < deadline);
	REQUIRE(!ret && !cq->status && cq->wr_id == 1);
	REQUIRE(ibv_wc_read_opcode(cq) == IBV_WC_RECV && ibv_wc_read_byte_len(cq) == 50);
	REQUIRE(ibv_wc_read_qp_num(cq) == x.to->qp_num);
	REQUIRE(ibv_wc_read_imm_data(cq) == htonl(5));
	ibv_end_poll(cq);
	REQUIRE(!memcmp(to->b.data + SLOT, x.out.data, 50));

	REQUIRE(!ibv_destroy_srq(to->srq));
	to->srq = NULL;
	REQUIRE(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	xrc_free(&x);
}

/*
 * A request is refused: what either side is told. Afterwards both can be
 * connected again, and what was posted to the SRQs is there.
 */
static void refused(struct xrc *x, struct ibv_send_wr wr, enum ibv_wc_status status,
		    enum ibv_event_type event)
{
	struct ibv_async_event told;

	REQUIRE(!post_send(x->from, wr));
	REQUIRE(wait_wc(x->cq).status == status);
	REQUIRE(state_of(x->from) == IBV_QPS_ERR);
	told = expect_async(event);
	REQUIRE(told.element.qp == x->to);
	REQUIRE(state_of(x->to) == IBV_QPS_ERR);
	no_wc(x->srqs[0].cq, 10);
	no_wc(x->srqs[1].cq, 10);

	to_state(x->from, IBV_QPS_RESET);
	to_state(x->to, IBV_QPS_RESET);
	xrc_connect(x, PATIENT);
	if (x->srqs[0].srq)
		xrc_message(x, &x->srqs[0], IBV_WR_SEND_WITH_IMM, 3000);
	xrc_message(x, &x->srqs[1], IBV_WR_SEND_WITH_IMM, 3000);
}

void test_xrc_refusals(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct xrc x = xrc_new(PATIENT);
	struct ibv_xrcd *elsewhere = xrcd_new();
	struct named other = named_new(elsewhere);
	struct named *own = &x.srqs[0];
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	unsigned int i;

	for (i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++) {
		sge = sge_of(&x.out, 8192, 8);
		/* Of another domain. */
		wr = named_wr(&other, opcodes[i], &sge);
		refused(&x, wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
		/* There is none; nor is 0 one. */
		wr = named_wr(own, opcodes[i], &sge);
		wr.qp_type.xrc.remote_srqn = 0xabcdef;
		refused(&x, wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
		wr.qp_type.xrc.remote_srqn = 0;
		refused(&x, wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	}
	no_wc(other.cq, 10);
	/* A key must be of the PD of the SRQ that is named, whatever else there is. */
	for (i = 1; i < sizeof(opcodes) / sizeof(*opcodes); i++) {
		wr = named_wr(own, opcodes[i], &sge);
		wr.qp_type.xrc.remote_srqn = x.srqs[1].number;
		refused(&x, wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	}
	/* One that was there, and is gone under its target. */
	REQUIRE(!ibv_destroy_srq(own->srq));
	own->srq = NULL;
	refused(&x, named_wr(own, IBV_WR_SEND, &sge), IBV_WC_REM_INV_REQ_ERR,
		IBV_EVENT_QP_REQ_ERR);

	/* More than 24 bits are no number: the device does not send that. */
	wr = named_wr(&x.srqs[1], IBV_WR_SEND, &sge);
	wr.qp_type.xrc.remote_srqn |= 1 << 24;
	REQUIRE(!post_send(x.from, wr));
	REQUIRE(wait_wc(x.cq).status == IBV_WC_LOC_QP_OP_ERR);
	no_wc(x.srqs[1].cq, 10);
	REQUIRE(state_of(x.to) == IBV_QPS_RTS);
	named_free(&other);
	REQUIRE(!ibv_close_xrcd(elsewhere));
	xrc_free(&x);
}

/* What RC does with a receive that is missing, or too small. */
void test_xrc_receives(void)
{
	struct timing hasty = PATIENT;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct named *to;
	struct xrc x;
	uint32_t qpn;
	int i;

	hasty.rnr_retries = 0;
	x = xrc_new(hasty);
	to = &x.srqs[0];
	sge = sge_of(&x.out, 0, SLOT + 1);
	REQUIRE(!post_send(x.from, named_wr(to, IBV_WR_SEND, &sge)));
	REQUIRE(wait_wc(x.cq).status == IBV_WC_REM_INV_REQ_ERR);
	wc = wait_wc(to->cq);
	REQUIRE(wc.status == IBV_WC_LOC_LEN_ERR && wc.wr_id == to->taken);
	REQUIRE(wc.qp_num == x.to->qp_num && state_of(x.to) == IBV_QPS_ERR);
	to->taken++;
	to_state(x.from, IBV_QPS_RESET);
	to_state(x.to, IBV_QPS_RESET);
	xrc_connect(&x, hasty);

	/* That the other SRQ has some is of no use. */
	REQUIRE(!post_send(x.from, named_wr(to, IBV_WR_SEND_WITH_IMM, &sge)));
	REQUIRE(wait_wc(x.cq).status == IBV_WC_RNR_RETRY_EXC_ERR);
	REQUIRE(state_of(x.to) == IBV_QPS_RTS);
	to_state(x.from, IBV_QPS_RESET);
	to_state(x.to, IBV_QPS_RESET);
	xrc_connect(&x, PATIENT);

	/* With patience it comes late. */
	sge.length = 100;
	REQUIRE(!post_send(x.from, named_wr(to, IBV_WR_SEND, &sge)));
	no_wc(x.cq, 100);
	named_post(to);
	REQUIRE(named_arrived(to, x.to->qp_num).byte_len == 100);
	xrc_sent(&x, IBV_WC_SEND);

	/* Completions nobody polled outlast their target, but not their SRQ. */
	for (i = 0; i < 3; i++) {
		named_post(to);
		named_post(&x.srqs[1]);
		REQUIRE(!post_send(x.from, named_wr(to, IBV_WR_SEND, &sge)));
		xrc_sent(&x, IBV_WC_SEND);
		REQUIRE(!post_send(x.from, named_wr(&x.srqs[1], IBV_WR_SEND, &sge)));
		xrc_sent(&x, IBV_WC_SEND);
	}
	qpn = x.to->qp_num;
	REQUIRE(!ibv_destroy_qp(x.to));
	REQUIRE(named_arrived(to, qpn).byte_len == 100);
	x.to = xrc_target_new(x.xrcd);
	REQUIRE(named_arrived(to, qpn).byte_len == 100);
	REQUIRE(!ibv_destroy_srq(to->srq));
	to->srq = NULL;
	no_wc(to->cq, 10);
	for (i = 0; i < 3; i++)
		named_arrived(&x.srqs[1], qpn);
	xrc_free(&x);
}

void test_xrc_limits(void)
{
	struct ibv_qp_init_attr_ex no_domain = { .qp_type = IBV_QPT_XRC_RECV };
	struct ibv_srq_init_attr plain = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct xrc x = xrc_new(PATIENT);
	struct ibv_sge sge = sge_of(&x.out, 0, 100);
	struct named *to = &x.srqs[0];
	struct ibv_srq_attr attr = { 0 };
	struct ibv_srq *srq;
	uint32_t number, i;

	srq = srq_of(x.xrcd, dev.pd, x.cq, dev.attr.max_srq_wr, dev.attr.max_srq_sge);
	REQUIRE(srq && !ibv_destroy_srq(srq));
	REQUIRE(!srq_of(x.xrcd, dev.pd, x.cq, dev.attr.max_srq_wr + 1, 1) && errno == EINVAL);
	REQUIRE(!srq_of(x.xrcd, dev.pd, x.cq, 1, dev.attr.max_srq_sge + 1) && errno == EINVAL);
	REQUIRE(!srq_of(x.xrcd, dev.pd, x.cq, 0, 1) && errno == EINVAL);
	REQUIRE(!ibv_create_qp_ex(dev.context, &no_domain));
	srq = ibv_create_srq(dev.pd, &plain);
	REQUIRE(srq && ibv_get_srq_num(srq, &number));
	REQUIRE(!ibv_destroy_srq(srq));
	/* What an SRQ uses is in use. */
	REQUIRE(ibv_destroy_cq(to->cq) == EBUSY && ibv_dealloc_pd(to->pd) == EBUSY);

	attr.srq_limit = 3;
	for (i = 0; i < 3; i++)
		named_post(to);
	REQUIRE(!ibv_modify_srq(to->srq, &attr, IBV_SRQ_LIMIT));
	for (i = 0; i < 2; i++) {
		REQUIRE(!post_send(x.from, named_wr(to, IBV_WR_SEND, &sge)));
		xrc_sent(&x, IBV_WC_SEND);
		named_arrived(to, x.to->qp_num);
	}
	REQUIRE(expect_async(IBV_EVENT_SRQ_LIMIT_REACHED).element.srq == to->srq);

	/* Larger, with two posted and one not polled. */
	REQUIRE(!post_send(x.from, named_wr(to, IBV_WR_SEND, &sge)));
	xrc_sent(&x, IBV_WC_SEND);
	attr.max_wr = 4 * ENTRIES;
	REQUIRE(!ibv_modify_srq(to->srq, &attr, IBV_SRQ_MAX_WR));
	REQUIRE(!ibv_query_srq(to->srq, &attr) && attr.max_wr == 4 * ENTRIES);
	named_arrived(to, x.to->qp_num);
	for (i = 0; i < 20; i++)
		xrc_message(&x, to, IBV_WR_SEND, 1000 + i);
	xrc_free(&x);
}
