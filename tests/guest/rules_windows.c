// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory windows and the regions that they are bound to. */
#include <errno.h>
#include <string.h>
#include "verbs_rules.h"

#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |	\
		 IBV_ACCESS_MW_BIND)

static void bind(struct pair *p, struct ibv_mw *mw, const struct buffer *b)
{
	struct ibv_mw_bind how = {
		.wr_id = 7, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = b->mr, .addr = (uintptr_t)b->data, .length = 4096,
			       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
	};
	struct ibv_wc wc;

	REQUIRE(!ibv_bind_mw(p->a, mw, &how));
	wc = wait_wc(p->cq);
	REQUIRE(!wc.status && wc.wr_id == 7 && wc.opcode == IBV_WC_BIND_MW);
}

/* A process that ends with a window older than the region it is bound to. */
static void leave_it_bound(void)
{
	int status;
	pid_t child = fork();

	REQUIRE(child >= 0);
	if (!child) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		struct buffer b;
		struct ibv_mw *mw;
		struct pair p;

		dev.context = NULL;
		for (int i = 0; list && list[i] && !dev.context; i++)
			if (!strcmp(ibv_get_device_name(list[i]), dev.name))
				dev.context = ibv_open_device(list[i]);
		REQUIRE(dev.context);
		dev.pd = ibv_alloc_pd(dev.context);
		REQUIRE(dev.pd);
		mw = ibv_alloc_mw(dev.pd, IBV_MW_TYPE_1);
		REQUIRE(mw);
		b = buffer_new(4096, ALL);
		p = pair_new((struct ibv_qp_cap){ 16, 16, 1, 1, 0 }, PATIENT);
		bind(&p, mw, &b);
		_exit(0);
	}
	REQUIRE(waitpid(child, &status, 0) == child && !status);
}

/* A region stays as long as a window is bound to it; that harms nobody. */
void test_windows(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 16, 16, 1, 1, 0 }, PATIENT);
	struct buffer b = buffer_new(8192, ALL);
	struct ibv_mw *mw = ibv_alloc_mw(dev.pd, IBV_MW_TYPE_1);
	struct ibv_sge sge = sge_of(&b, 4096, 64);
	struct ibv_send_wr write = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};

	REQUIRE(mw);
	bind(&p, mw, &b);
	REQUIRE(ibv_dereg_mr(b.mr) == EBUSY);
	leave_it_bound();

	fill(b.data + 4096, 64, 3);
	write.wr.rdma.remote_addr = (uintptr_t)b.data;
	write.wr.rdma.rkey = mw->rkey;
	REQUIRE(!post_send(p.a, write));
	REQUIRE(!wait_wc(p.cq).status);
	REQUIRE(!memcmp(b.data, b.data + 4096, 64));

	REQUIRE(!ibv_dealloc_mw(mw));
	buffer_free(&b);
	pair_free(&p);
}
