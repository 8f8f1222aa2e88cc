// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: memory that is not the process's own: a dmabuf, what it may only read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "verbs_rules.h"

#define CAP	((struct ibv_qp_cap){ 16, 16, 4, 4, 0 })
#define SIZE	(64 * 4096)
#define PART	(3 * 4096 + 100)

static uint8_t *shared_memory(int *fd, int protection)
{
	uint8_t *data;

	*fd = memfd_create("memory", MFD_ALLOW_SEALING);
	REQUIRE(*fd >= 0 && !ftruncate(*fd, SIZE));
	data = mmap(NULL, SIZE, protection, MAP_SHARED, *fd, 0);
	REQUIRE(data != MAP_FAILED);
	return data;
}

static enum ibv_wc_status transfer(struct pair *p, enum ibv_wr_opcode opcode,
				   const struct buffer *b, size_t offset, uint64_t address,
				   uint32_t rkey)
{
	struct ibv_sge sge = sge_of(b, offset, PART);
	struct ibv_wc wc;

	REQUIRE(!post_send(p->a, (struct ibv_send_wr){
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { address, rkey } }));
	wc = wait_wc(p->cq);
	return wc.status;
}

/* Part of a dmabuf, at an address that has nothing to do with where it is mapped. */
void test_dmabuf(void)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	struct buffer b = buffer_new(2 * PART, 0);
	struct pair p = pair_new(CAP, PATIENT);
	struct udmabuf_create create = { .size = SIZE };
	uint64_t iova = 0x7000000000ULL + 8192;
	int memory, udmabuf, dmabuf;
	struct ibv_mr *mr;
	uint8_t *data;

	data = shared_memory(&memory, PROT_READ | PROT_WRITE);
	REQUIRE(!fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK));
	udmabuf = open("/dev/udmabuf", O_RDWR);
	REQUIRE(udmabuf >= 0);
	create.memfd = memory;
	dmabuf = ioctl(udmabuf, UDMABUF_CREATE, &create);
	REQUIRE(dmabuf >= 0);

	/* Beyond its end, no dmabuf, rights that do not fit, on demand: refused. */
	errno = 0;
	REQUIRE(!ibv_reg_dmabuf_mr(dev.pd, SIZE - 4096, 8192, iova, dmabuf, access) && errno);
	REQUIRE(!ibv_reg_dmabuf_mr(dev.pd, 0, SIZE, iova, memory, access) && errno);
	REQUIRE(!ibv_reg_dmabuf_mr(dev.pd, 0, SIZE, iova, dmabuf, IBV_ACCESS_REMOTE_WRITE) &&
		errno);
	REQUIRE(!ibv_reg_dmabuf_mr(dev.pd, 0, SIZE, iova, dmabuf,
				   access | IBV_ACCESS_ON_DEMAND) && errno);

	mr = ibv_reg_dmabuf_mr(dev.pd, 8192, SIZE - 8192, iova, dmabuf, access);
	REQUIRE(mr);
	fill(b.data, PART, 3);
	REQUIRE(!transfer(&p, IBV_WR_RDMA_WRITE, &b, 0, iova + 50, mr->rkey));
	REQUIRE(!memcmp(data + 8192 + 50, b.data, PART));
	REQUIRE(!data[8192 + 49] && !data[8192 + 50 + PART]);
	REQUIRE(!transfer(&p, IBV_WR_RDMA_READ, &b, PART, iova + 50, mr->rkey));
	REQUIRE(!memcmp(b.data, b.data + PART, PART));

	/* The region keeps the buffer, not the descriptors. */
	close(dmabuf);
	close(udmabuf);
	close(memory);
	fill(b.data, PART, 4);
	REQUIRE(!transfer(&p, IBV_WR_RDMA_WRITE, &b, 0, iova + SIZE - 8192 - PART, mr->rkey));
	REQUIRE(!memcmp(data + SIZE - PART, b.data, PART));
	REQUIRE(transfer(&p, IBV_WR_RDMA_WRITE, &b, 0, iova + SIZE - 8191 - PART, mr->rkey) ==
		IBV_WC_REM_ACCESS_ERR);
	REQUIRE(!ibv_dereg_mr(mr));
	munmap(data, SIZE);
	pair_free(&p);
	buffer_free(&b);
}

/* What the process may only read is registered for reading, and never written. */
void test_read_only(void)
{
	struct buffer b = buffer_new(2 * PART, 0);
	struct pair p = pair_new(CAP, PATIENT);
	uint8_t *data, *writable;
	struct ibv_mr *mr;
	int memory;

	writable = shared_memory(&memory, PROT_READ | PROT_WRITE);
	fill(writable, SIZE, 5);
	data = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, memory, 0);
	REQUIRE(data != MAP_FAILED);
	errno = 0;
	REQUIRE(!ibv_reg_mr(dev.pd, data, SIZE, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT);
	mr = ibv_reg_mr(dev.pd, data, SIZE, IBV_ACCESS_REMOTE_READ);
	REQUIRE(mr);
	REQUIRE(!transfer(&p, IBV_WR_RDMA_READ, &b, 0, (uintptr_t)data + 77, mr->rkey));
	REQUIRE(!memcmp(b.data, writable + 77, PART));

	/* Nor can it be made writable later. */
	REQUIRE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, dev.pd, NULL, 0,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	REQUIRE(!ibv_dereg_mr(mr));
	mr = ibv_reg_mr(dev.pd, data, SIZE, IBV_ACCESS_REMOTE_READ);
	REQUIRE(mr);
	REQUIRE(transfer(&p, IBV_WR_RDMA_WRITE, &b, 0, (uintptr_t)data, mr->rkey) ==
		IBV_WC_REM_ACCESS_ERR);
	fill(b.data, PART, 5);
	REQUIRE(!memcmp(writable, b.data, PART));
	REQUIRE(!ibv_dereg_mr(mr));
	munmap(data, SIZE);
	munmap(writable, SIZE);
	close(memory);
	pair_free(&p);
	buffer_free(&b);
}
