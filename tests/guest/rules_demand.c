// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory regions on demand, whose memory changes behind them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "verbs_rules.h"

#define PAGE	4096UL
#define BYTES	(64 * PAGE)
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |	\
		 IBV_ACCESS_REMOTE_ATOMIC)
#define CAP	((struct ibv_qp_cap){ 16, 16, 1, 1, 0 })

static uint8_t *map_at(void *address, size_t bytes, int protection)
{
	uint8_t *data = mmap(address, bytes, protection,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			     (address ? MAP_FIXED : 0), -1, 0);

	REQUIRE(data != MAP_FAILED);
	return data;
}

static struct ibv_mr *demand(void *data, size_t bytes, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, data, bytes, access | IBV_ACCESS_ON_DEMAND);

	REQUIRE(mr);
	return mr;
}

/* One request of a's; its status. */
static enum ibv_wc_status request(struct pair *p, enum ibv_wr_opcode opcode, void *local,
				  uint32_t lkey, void *remote, uint32_t rkey, uint32_t length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)local, .length = length, .lkey = lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)remote, .rkey = rkey },
	};

	REQUIRE(!post_send(p->a, wr));
	return wait_wc(p->cq).status;
}

/* b receives what a sends. */
static void message(struct pair *p, void *from, uint32_t lkey, void *to, uint32_t to_key,
		    uint32_t length)
{
	struct ibv_sge source = { .addr = (uintptr_t)from, .length = length, .lkey = lkey };
	struct ibv_sge place = { .addr = (uintptr_t)to, .length = length, .lkey = to_key };
	struct ibv_send_wr wr = {
		.sg_list = &source, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc[2];

	REQUIRE(!post_recv(p->b, 1, &place, 1));
	REQUIRE(!post_send(p->a, wr));
	wait_wcs(p->cq, wc, 2);
	REQUIRE(!wc[0].status && !wc[1].status);
}

/* The ways in which the memory of a region may change between two requests. */
static void change(uint8_t *data, size_t bytes, unsigned int how)
{
	switch (how % 4) {
	case 0:
		REQUIRE(!munmap(data, bytes));
		map_at(data, bytes, PROT_READ | PROT_WRITE);
		break;
	case 1:
		REQUIRE(!madvise(data, bytes, MADV_DONTNEED));
		break;
	case 2:
		REQUIRE(!mprotect(data, bytes, PROT_READ));
		REQUIRE(!mprotect(data, bytes, PROT_READ | PROT_WRITE));
		break;
	default:
		/* Memory elsewhere, moved here. */
		{
			uint8_t *other = map_at(NULL, bytes, PROT_READ | PROT_WRITE);

			memset(other, 0x77, bytes);
			REQUIRE(mremap(other, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
				       data) == data);
		}
	}
}

static void changes(struct pair *p, uint8_t *data, struct ibv_mr *mr, struct buffer *plain)
{
	for (unsigned int i = 0; i < 40; i++) {
		size_t from = i % 7 * PAGE + i * 40, length = BYTES - 2 * from;
		uint8_t *there = data + from, *here = plain->data + from;

		change(data, BYTES, i);
		fill(here, length, i);
		REQUIRE(!request(p, IBV_WR_RDMA_WRITE, here, plain->mr->lkey, there, mr->rkey,
				 length));
		REQUIRE(!memcmp(here, there, length));

		change(data + 8 * PAGE, 16 * PAGE, i + 1);
		fill(there, length, i + 100);
		REQUIRE(!request(p, IBV_WR_RDMA_READ, here, plain->mr->lkey, there, mr->rkey,
				 length));
		REQUIRE(!memcmp(here, there, length));

		change(data, BYTES, i + 2);
		fill(there, length, i + 200);
		message(p, there, mr->lkey, here, plain->mr->lkey, length);
		REQUIRE(!memcmp(here, there, length));

		change(data, BYTES, i + 3);
		fill(here, length, i + 300);
		message(p, here, plain->mr->lkey, there, mr->lkey, length);
		REQUIRE(!memcmp(here, there, length));

		change(data, BYTES, i);
		REQUIRE(!request(p, IBV_WR_RDMA_READ, there, mr->lkey, here, plain->mr->rkey,
				 length));
		REQUIRE(!memcmp(here, there, length));
	}
}

void test_demand_changes(void)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer plain = buffer_new(BYTES, ALL);
	uint8_t *data = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = demand(data, BYTES, ALL);

	changes(&p, data, mr, &plain);
	REQUIRE(!ibv_dereg_mr(mr));
	/* All of the process's memory: also what was not there when it was registered. */
	mr = demand(NULL, SIZE_MAX, ALL);
	changes(&p, data, mr, &plain);
	REQUIRE(!munmap(data, BYTES));
	data = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	changes(&p, data, mr, &plain);
	REQUIRE(!ibv_dereg_mr(mr));
	REQUIRE(!munmap(data, BYTES));
	buffer_free(&plain);
	pair_free(&p);
}

/*
 * The child has no use for what is mapped of the device; rules_windows.c tells why it
 * better has none.
 */
static void keep_device_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	int count = 0;
	char *line = NULL;
	size_t size = 0;

	REQUIRE(maps);
	while (getline(&line, &size, maps) > 0) {
		if (!strstr(line, "/dev/infiniband/uverbs"))
			continue;
		REQUIRE(sscanf(line, "%lx-%lx", &from, &to) == 2);
		REQUIRE(!madvise((void *)from, to - from, MADV_DONTFORK));
		count++;
	}
	REQUIRE(count);
	free(line);
	fclose(maps);
}

/* What the device writes after a fork is the parent's alone, and reads what the parent wrote. */
void test_demand_fork(void)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer plain = buffer_new(BYTES, ALL);
	uint8_t *data = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = demand(data, BYTES, ALL);
	int pipes[2], status;
	pid_t child;
	char go = 1;

	fill(plain.data, BYTES, 1);
	REQUIRE(!request(&p, IBV_WR_RDMA_WRITE, plain.data, plain.mr->lkey, data, mr->rkey,
			 BYTES));
	REQUIRE(!pipe(pipes));
	keep_device_mappings();
	child = fork();
	REQUIRE(child >= 0);
	if (!child) {
		uint8_t *was = malloc(BYTES);

		REQUIRE(was && read(pipes[0], &go, 1) == 1);
		fill(was, BYTES, 1);
		REQUIRE(!memcmp(was, data, BYTES));
		_exit(0);
	}
	fill(plain.data, BYTES, 2);
	REQUIRE(!request(&p, IBV_WR_RDMA_WRITE, plain.data, plain.mr->lkey, data, mr->rkey,
			 BYTES));
	REQUIRE(!memcmp(plain.data, data, BYTES));
	fill(data, BYTES / 2, 3);
	REQUIRE(!request(&p, IBV_WR_RDMA_READ, plain.data, plain.mr->lkey, data, mr->rkey,
			 BYTES));
	REQUIRE(!memcmp(plain.data, data, BYTES));
	REQUIRE(write(pipes[1], &go, 1) == 1);
	REQUIRE(waitpid(child, &status, 0) == child && !status);
	close(pipes[0]);
	close(pipes[1]);
	REQUIRE(!ibv_dereg_mr(mr));
	REQUIRE(!munmap(data, BYTES));
	buffer_free(&plain);
	pair_free(&p);
}

struct taker {
	uint8_t *data;
	volatile bool stop;
	unsigned long rounds;
};

/* Takes pages away, and looks after who gets them next. */
static void *take_pages(void *arg)
{
	struct taker *taker = arg;
	unsigned int i;

	for (i = 0; !taker->stop; i++) {
		uint8_t *canary;

		REQUIRE(!madvise(taker->data + i % 48 * PAGE, 16 * PAGE, MADV_DONTNEED));
		canary = map_at(NULL, 16 * PAGE, PROT_READ | PROT_WRITE);
		memset(canary, (int)(i | 0x80), 16 * PAGE);
		usleep(i % 3 * 200);
		for (size_t k = 0; k < 16 * PAGE; k++)
			REQUIRE(canary[k] == (uint8_t)(i | 0x80));
		REQUIRE(!munmap(canary, 16 * PAGE));
		taker->rounds++;
	}
	return NULL;
}

/* Traffic with pages that come and go: nothing ends, and freed memory is not written. */
static void traffic(struct ibv_mr *mr, uint8_t *data)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer plain = buffer_new(BYTES, ALL);
	struct taker taker = { .data = data };
	double end = seconds() + 3;
	unsigned int i;
	pthread_t thread;

	/* No page of it has this byte twice as canaries have: they have bit 7. */
	memset(plain.data, 0x11, BYTES);
	REQUIRE(!pthread_create(&thread, NULL, take_pages, &taker));
	for (i = 0; seconds() < end; i++) {
		REQUIRE(!request(&p, IBV_WR_RDMA_WRITE, plain.data, plain.mr->lkey, data,
				 mr->rkey, BYTES));
		for (size_t k = 0; k < BYTES; k += 512)
			REQUIRE(data[k] == 0x11 || !data[k]);
		message(&p, plain.data, plain.mr->lkey, data, mr->lkey, BYTES);
		REQUIRE(!request(&p, IBV_WR_RDMA_READ, data, mr->lkey, plain.data,
				 plain.mr->rkey, BYTES));
	}
	taker.stop = true;
	REQUIRE(!pthread_join(thread, NULL));
	REQUIRE(i > 3 && taker.rounds > 3);
	fill(plain.data, BYTES, 9);
	REQUIRE(!request(&p, IBV_WR_RDMA_WRITE, plain.data, plain.mr->lkey, data, mr->rkey,
			 BYTES));
	REQUIRE(!memcmp(plain.data, data, BYTES));
	buffer_free(&plain);
	pair_free(&p);
}

void test_demand_traffic(void)
{
	uint8_t *data = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = demand(data, BYTES, ALL);

	traffic(mr, data);
	REQUIRE(!ibv_dereg_mr(mr));
	mr = demand(NULL, SIZE_MAX, ALL);
	traffic(mr, data);
	REQUIRE(!ibv_dereg_mr(mr));
	REQUIRE(!munmap(data, BYTES));
}

/* Memory that is not there, or may not be written, is an error and nothing else. */
static void missing(struct ibv_mr *mr, uint8_t *data, bool local, bool write,
		    enum ibv_wc_status status)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer plain = buffer_new(PAGE, ALL);

	if (local)
		REQUIRE(request(&p, write ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, data, mr->lkey,
				plain.data, plain.mr->rkey, 64) == status);
	else
		REQUIRE(request(&p, write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, plain.data,
				plain.mr->lkey, data, mr->rkey, 64) == status);
	pair_free(&p);
	buffer_free(&plain);
}

static void all_missing(struct ibv_mr *mr, uint8_t *data)
{
	uint8_t *constant = data + 8 * PAGE;

	REQUIRE(!mprotect(constant, PAGE, PROT_READ));
	missing(mr, constant, true, false, IBV_WC_SUCCESS);
	missing(mr, constant, false, false, IBV_WC_SUCCESS);
	missing(mr, constant, true, true, IBV_WC_LOC_PROT_ERR);
	missing(mr, constant, false, true, IBV_WC_REM_ACCESS_ERR);
	/* A hole would be filled by the next queue pair's queues. */
	map_at(data, PAGE, PROT_NONE);
	missing(mr, data, true, false, IBV_WC_LOC_PROT_ERR);
	missing(mr, data, true, true, IBV_WC_LOC_PROT_ERR);
	missing(mr, data, false, false, IBV_WC_REM_ACCESS_ERR);
	missing(mr, data, false, true, IBV_WC_REM_ACCESS_ERR);
	map_at(data, PAGE, PROT_READ | PROT_WRITE);
	REQUIRE(!mprotect(constant, PAGE, PROT_READ | PROT_WRITE));
	missing(mr, data, true, true, IBV_WC_SUCCESS);
	missing(mr, data, false, true, IBV_WC_SUCCESS);
	missing(mr, constant, false, true, IBV_WC_SUCCESS);
}

void test_demand_missing(void)
{
	uint8_t *data = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = demand(data, BYTES, ALL);

	all_missing(mr, data);
	REQUIRE(!ibv_dereg_mr(mr));
	mr = demand(NULL, SIZE_MAX, ALL);
	all_missing(mr, data);
	/* Nowhere near anything: kernel addresses and what is beyond the region. */
	missing(mr, (uint8_t *)PAGE, true, false, IBV_WC_LOC_PROT_ERR);
	missing(mr, (uint8_t *)(1UL << 47), true, false, IBV_WC_LOC_PROT_ERR);
	missing(mr, (uint8_t *)-PAGE, true, false, IBV_WC_LOC_PROT_ERR);
	REQUIRE(!ibv_dereg_mr(mr));
	/* More than any machine has. */
	REQUIRE(!munmap(data, BYTES));
	data = map_at(NULL, 1UL << 40, PROT_READ | PROT_WRITE);
	mr = demand(data, 1UL << 33, ALL);
	missing(mr, data + (1UL << 32), false, true, IBV_WC_SUCCESS);
	REQUIRE(!ibv_dereg_mr(mr));
	REQUIRE(!munmap(data, 1UL << 40));
}

static int advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, void *data,
		  uint32_t length, uint32_t key)
{
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = length, .lkey = key };

	return ibv_advise_mr(pd, advice, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

void test_demand_advice(void)
{
	uint8_t *data = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	/* DMA-API debugging wants no page mapped twice, which the zero page is as well. */
	uint8_t *read = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	uint8_t *any = map_at(NULL, BYTES, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = demand(data, BYTES, ALL), *readable = demand(read, BYTES, 0);
	struct ibv_mr *everything = demand(NULL, SIZE_MAX, ALL);
	struct ibv_pd *other = ibv_alloc_pd(dev.context);
	struct buffer plain = buffer_new(PAGE, ALL);
	unsigned char there[BYTES / PAGE];

	REQUIRE(other);
	REQUIRE(!advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, data + 2 * PAGE, 3 * PAGE,
			mr->lkey));
	REQUIRE(!mincore(data, BYTES, there));
	REQUIRE(there[2] && there[3] && there[4] && !there[5] && !there[1]);
	REQUIRE(!advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, data, BYTES, mr->lkey));
	REQUIRE(!mincore(data, BYTES, there) && !there[5]);
	memset(read, 1, BYTES);
	REQUIRE(!advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, read, BYTES, readable->lkey));
	REQUIRE(!mincore(any, BYTES, there) && !there[5]);
	REQUIRE(!advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, any, BYTES,
			everything->lkey));
	REQUIRE(!mincore(any, BYTES, there) && there[5]);

	REQUIRE(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, read, PAGE,
		       readable->lkey) == EPERM);
	REQUIRE(advise(other, IBV_ADVISE_MR_ADVICE_PREFETCH, data, PAGE, mr->lkey) == EPERM);
	REQUIRE(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, data, PAGE, mr->lkey ^ 1) ==
		ENOENT);
	REQUIRE(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, plain.data, PAGE,
		       plain.mr->lkey) == ENOENT);
	REQUIRE(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, data + 1, BYTES, mr->lkey) ==
		EFAULT);
	REQUIRE(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, (void *)PAGE, PAGE,
		       everything->lkey) == EFAULT);
	REQUIRE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, dev.pd, NULL, 0,
			     IBV_ACCESS_LOCAL_WRITE));
	REQUIRE(!ibv_dereg_mr(everything));
	REQUIRE(!ibv_dereg_mr(readable));
	REQUIRE(!ibv_dereg_mr(mr));
	REQUIRE(!ibv_dealloc_pd(other));
	buffer_free(&plain);
	REQUIRE(!munmap(data, BYTES) && !munmap(read, BYTES) && !munmap(any, BYTES));
}
