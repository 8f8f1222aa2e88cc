// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory windows and the regions that they are bound to. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>
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
void test_window_left(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(dev.pd, IBV_MW_TYPE_1);
	struct buffer b;
	struct pair p;

	REQUIRE(mw);
	b = buffer_new(4096, ALL);
	p = pair_new((struct ibv_qp_cap){ 16, 16, 1, 1, 0 }, PATIENT);
	bind(&p, mw, &b);
	exit(0);
}

/*
 * Not by fork(): that copies the mapping of the doorbell page, whereupon ib_uverbs of
 * Linux 6.12 takes disassociation_lock under mmap_lock, and the other way round when the
 * device is unbound. Lockdep would say so, and be off for the rest of the boot.
 */
static void leave_it_bound(void)
{
	char program[] = "/proc/self/exe", name[] = "window_left", device[64], index[16];
	char *arguments[5] = { program, device, index, name };
	int status;
	pid_t pid;

	snprintf(device, sizeof(device), "%s", dev.name);
	snprintf(index, sizeof(index), "%d", dev.gid_index);
	REQUIRE(!posix_spawn(&pid, program, NULL, NULL, arguments, environ));
	REQUIRE(waitpid(pid, &status, 0) == pid && !status);
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
