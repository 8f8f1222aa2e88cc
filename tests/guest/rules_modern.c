// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules of the verbs: extended queue pairs and completion queues, clocks, domains. */
#include <errno.h>
#include <string.h>

#include "verbs_rules.h"

#define MESSAGES	50
#define MESSAGE		32

static const struct ibv_qp_cap cap = {
	.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 1,
	.max_inline_data = MESSAGE,
};

static uint64_t clock_now(void)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	REQUIRE(!ibv_query_rt_values_ex(dev.context, &values));
	return values.raw_clock.tv_nsec;
}

static struct ibv_cq_ex *cq_ex_new(struct ibv_pd *parent, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .flags = flags, .parent_domain = parent,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS |
			     (parent ? IBV_CQ_INIT_ATTR_MASK_PD : 0),
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(dev.context, &attr);

	REQUIRE(cq);
	return cq;
}

static struct ibv_qp *qp_ex_new(struct ibv_pd *pd, struct ibv_cq_ex *cq)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq), .cap = cap,
		.qp_type = IBV_QPT_RC, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(dev.context, &attr);

	REQUIRE(qp);
	return qp;
}

/* One message from @a to @b, inline; the completions' own rules are judged on the way. */
static void exchange(struct ibv_cq_ex *cq, struct ibv_qp *a, struct ibv_qp *b, unsigned int n)
{
	struct buffer to = buffer_new(MESSAGE, 0);
	struct ibv_sge sge = sge_of(&to, 0, MESSAGE);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(a);
	struct ibv_poll_cq_attr attr = {};
	uint64_t before, after, stamp;
	uint8_t data[MESSAGE];
	bool sent = false, received = false;
	int ret;

	REQUIRE(ex);
	fill(data, MESSAGE, n);
	REQUIRE(!post_recv(b, 1000 + n, &sge, 1));
	before = clock_now();
	ibv_wr_start(ex);
	ex->wr_id = n;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(ex, htobe32(n));
	ibv_wr_set_inline_data(ex, data, MESSAGE);
	memset(data, 0, MESSAGE);
	REQUIRE(!ibv_wr_complete(ex));

	while (!sent || !received) {
		do
			ret = ibv_start_poll(cq, &attr);
		while (ret == ENOENT);
		REQUIRE(!ret);
		while (!ret) {
			REQUIRE(cq->status == IBV_WC_SUCCESS);
			after = clock_now();
			stamp = ibv_wc_read_completion_ts(cq);
			REQUIRE(before <= stamp && stamp <= after);
			if (cq->wr_id == n) {
				REQUIRE(ibv_wc_read_opcode(cq) == IBV_WC_SEND && !sent);
				REQUIRE(ibv_wc_read_qp_num(cq) == a->qp_num);
				sent = true;
			} else {
				REQUIRE(cq->wr_id == 1000 + n && !received);
				REQUIRE(ibv_wc_read_opcode(cq) == IBV_WC_RECV);
				REQUIRE(ibv_wc_read_wc_flags(cq) == IBV_WC_WITH_IMM);
				REQUIRE(ibv_wc_read_imm_data(cq) == htobe32(n));
				REQUIRE(ibv_wc_read_byte_len(cq) == MESSAGE);
				REQUIRE(ibv_wc_read_qp_num(cq) == b->qp_num);
				received = true;
			}
			ret = ibv_next_poll(cq);
		}
		REQUIRE(ret == ENOENT);
		/* Before it is closed a batch may arm for what comes next. */
		REQUIRE(!ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0));
		ibv_end_poll(cq);
	}
	fill(data, MESSAGE, n);
	REQUIRE(!memcmp(to.data, data, MESSAGE));
	buffer_free(&to);
}

static void talk(struct ibv_pd *pd, struct ibv_cq_ex *cq)
{
	struct ibv_qp *a = qp_ex_new(pd, cq), *b = qp_ex_new(pd, cq);
	unsigned int n;

	to_init(a);
	to_init(b);
	to_rts(a, b->qp_num, PATIENT);
	to_rts(b, a->qp_num, PATIENT);
	for (n = 0; n < MESSAGES; n++)
		exchange(cq, a, b, n);
	REQUIRE(!ibv_destroy_qp(a));
	REQUIRE(!ibv_destroy_qp(b));
}

static void refuse_cq(struct ibv_cq_init_attr_ex attr, int error)
{
	errno = 0;
	REQUIRE(!ibv_create_cq_ex(dev.context, &attr) && errno == error);
}

void test_extended(void)
{
	struct ibv_poll_cq_attr unknown = { .comp_mask = 1 }, none = {};
	struct ibv_values_ex values = { .comp_mask = 2 };
	struct ibv_device_attr_ex attr;
	struct ibv_cq_ex *cq;

	REQUIRE(!ibv_query_device_ex(dev.context, NULL, &attr));
	REQUIRE(attr.hca_core_clock == 1000000);
	REQUIRE(attr.completion_timestamp_mask == UINT64_MAX);
	REQUIRE(ibv_query_rt_values_ex(dev.context, &values) == EINVAL);
	REQUIRE(clock_now() < clock_now());

	refuse_cq((struct ibv_cq_init_attr_ex){ .cqe = 0 }, EINVAL);
	refuse_cq((struct ibv_cq_init_attr_ex){
		.cqe = 1, .wc_flags = IBV_WC_EX_WITH_TM_INFO }, EOPNOTSUPP);
	refuse_cq((struct ibv_cq_init_attr_ex){
		.cqe = 1, .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS }, EOPNOTSUPP);
	refuse_cq((struct ibv_cq_init_attr_ex){
		.cqe = 1, .parent_domain = dev.pd,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD }, EINVAL);

	cq = cq_ex_new(NULL, 0);
	REQUIRE(ibv_start_poll(cq, &unknown) == EINVAL);
	REQUIRE(ibv_start_poll(cq, &none) == ENOENT);
	talk(dev.pd, cq);
	REQUIRE(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	cq = cq_ex_new(NULL, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	talk(dev.pd, cq);
	REQUIRE(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

/* How an allocator behaves, and what it has out. */
struct allocator {
	enum { GOOD, DEFAULT, CROOKED, EMPTY } how;
	int calls, out;
};

static void *allocate(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
		      uint64_t resource)
{
	struct allocator *allocator = context;
	char *memory = NULL;

	(void)pd;
	(void)resource;
	allocator->calls++;
	if (allocator->how == DEFAULT)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (allocator->how == EMPTY)
		return NULL;
	REQUIRE(!posix_memalign((void **)&memory, alignment, size + alignment));
	/* What queues begin with is not for the application to know. */
	memset(memory, 0xff, size + alignment);
	allocator->out++;
	return memory + (allocator->how == CROOKED ? alignment / 2 : 0);
}

static void release(struct ibv_pd *pd, void *context, void *memory, uint64_t resource)
{
	struct allocator *allocator = context;

	(void)pd;
	(void)resource;
	allocator->out--;
	free((char *)memory - (allocator->how == CROOKED ? sysconf(_SC_PAGESIZE) / 2 : 0));
}

static void test_allocator(struct ibv_td *td, struct allocator *allocator)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = dev.pd, .td = td, .alloc = allocate, .free = release,
		.pd_context = allocator,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
	};
	struct ibv_pd *parent = ibv_alloc_parent_domain(dev.context, &attr);
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 16, .parent_domain = parent, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};
	struct ibv_cq_ex *cq;

	REQUIRE(parent);
	if (allocator->how == CROOKED || allocator->how == EMPTY) {
		refuse_cq(cq_attr, allocator->how == EMPTY ? ENOMEM : EINVAL);
	} else {
		cq = cq_ex_new(parent, 0);
		REQUIRE(ibv_dealloc_pd(parent) == EBUSY);
		REQUIRE(allocator->calls == 1);
		talk(parent, cq);
		REQUIRE(allocator->calls == 5);
		REQUIRE(allocator->out == (allocator->how == GOOD));
		REQUIRE(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	}
	REQUIRE(allocator->out == 0);
	REQUIRE(!ibv_dealloc_pd(parent));
}

static void refuse_parent(struct ibv_parent_domain_init_attr attr, int error)
{
	errno = 0;
	REQUIRE(!ibv_alloc_parent_domain(dev.context, &attr) && errno == error);
}

void test_domains(void)
{
	struct ibv_td_init_attr td_attr = { .comp_mask = 1 };
	struct ibv_pd *pd = ibv_alloc_pd(dev.context), *parent;
	struct ibv_parent_domain_init_attr attr = { .pd = pd };
	struct allocator allocator;
	struct ibv_td *td;

	REQUIRE(pd);
	REQUIRE(!ibv_alloc_td(dev.context, &td_attr) && errno == EOPNOTSUPP);
	td_attr.comp_mask = 0;
	td = ibv_alloc_td(dev.context, &td_attr);
	REQUIRE(td);

	refuse_parent((struct ibv_parent_domain_init_attr){ .td = td }, EINVAL);
	refuse_parent((struct ibv_parent_domain_init_attr){ .pd = pd, .comp_mask = 4 },
		      EOPNOTSUPP);
	refuse_parent((struct ibv_parent_domain_init_attr){
		.pd = pd, .alloc = allocate,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS }, EINVAL);

	attr.td = td;
	parent = ibv_alloc_parent_domain(dev.context, &attr);
	REQUIRE(parent);
	attr.pd = parent;
	refuse_parent(attr, EINVAL);
	REQUIRE(ibv_dealloc_td(td) == EBUSY);
	REQUIRE(ibv_dealloc_pd(pd) == EBUSY);
	REQUIRE(!ibv_dealloc_pd(parent));
	REQUIRE(!ibv_dealloc_pd(pd));

	for (allocator.how = GOOD; allocator.how <= EMPTY; allocator.how++) {
		allocator.calls = 0;
		allocator.out = 0;
		test_allocator(allocator.how == GOOD ? td : NULL, &allocator);
	}
	REQUIRE(!ibv_dealloc_td(td));
}
