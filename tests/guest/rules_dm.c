// SPDX-License-Identifier: GPL-2.0-or-later
/* Device memory: limits, who has which part of it, regions of it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "verbs_rules.h"

#define ALL	(IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |	\
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static uint64_t dm_bytes(void)
{
	struct ibv_device_attr_ex attr;

	REQUIRE(!ibv_query_device_ex(dev.context, NULL, &attr));
	return attr.max_dm_size;
}

static struct ibv_dm *dm_try(uint64_t length, uint32_t log_align)
{
	struct ibv_alloc_dm_attr attr = { .length = length, .log_align_req = log_align };

	errno = 0;
	return ibv_alloc_dm(dev.context, &attr);
}

static struct ibv_dm *dm_new(uint64_t length)
{
	struct ibv_dm *dm = dm_try(length, 0);

	REQUIRE(dm);
	return dm;
}

static void dm_refused(uint64_t length, uint32_t log_align, int err)
{
	REQUIRE(!dm_try(length, log_align));
	REQUIRE(errno == err);
}

/* All of it can be had, by one or by many, and no more. */
void test_dm_limits(void)
{
	uint64_t size = dm_bytes(), page = sysconf(_SC_PAGESIZE), count = size / page, i;
	struct ibv_alloc_dm_attr unknown = { .length = 4, .comp_mask = 1 };
	struct ibv_dm **dms = calloc(count, sizeof(*dms)), *dm;
	int log_size = 63 - __builtin_clzll(size);

	REQUIRE(size >= page && dms);
	dm = dm_new(size);
	dm_refused(1, 0, ENOMEM);
	REQUIRE(!ibv_free_dm(dm));
	dm_refused(size + 1, 0, EINVAL);
	dm_refused(UINT64_MAX, 0, EINVAL);
	dm_refused(0, 0, EINVAL);
	dm_refused(4, log_size + 1, EINVAL);
	dm_refused(4, UINT32_MAX, EINVAL);
	REQUIRE(!ibv_alloc_dm(dev.context, &unknown));
	for (i = 0; i < count; i++)
		dms[i] = dm_new(1);
	dm_refused(1, 0, ENOMEM);
	for (i = 0; i < count; i++)
		REQUIRE(!ibv_free_dm(dms[i]));
	/* Place 0 is aligned to all there is, and then nothing else is. */
	dm = dm_try(4, log_size);
	REQUIRE(dm);
	dm_refused(4, log_size, ENOMEM);
	REQUIRE(!ibv_free_dm(dm));
	free(dms);
}

void test_dm_copies(void)
{
	struct ibv_dm *dm = dm_new(4104);
	uint8_t from[4104 + 1], to[4104 + 1];

	fill(from, sizeof(from), 5);
	REQUIRE(!ibv_memcpy_to_dm(dm, 0, from + 1, 4104));
	REQUIRE(!ibv_memcpy_from_dm(to + 1, dm, 0, 4104));
	REQUIRE(!memcmp(from + 1, to + 1, 4104));
	REQUIRE(!ibv_memcpy_to_dm(dm, 4, from, 8));
	REQUIRE(!ibv_memcpy_to_dm(dm, 4100, from, 4));
	REQUIRE(!ibv_memcpy_from_dm(to, dm, 4, 8));
	REQUIRE(!memcmp(from, to, 8));
	REQUIRE(!ibv_memcpy_to_dm(dm, 4104, from, 0));
	REQUIRE(ibv_memcpy_to_dm(dm, 4104, from, 4) == EFAULT);
	REQUIRE(ibv_memcpy_from_dm(to, dm, 0, 4108) == EFAULT);
	REQUIRE(ibv_memcpy_from_dm(to, dm, UINT64_MAX - 3, 8) == EFAULT);
	REQUIRE(ibv_memcpy_to_dm(dm, 8, from, SIZE_MAX - 3) == EFAULT);
	REQUIRE(ibv_memcpy_to_dm(dm, 2, from, 4) == EINVAL);
	REQUIRE(ibv_memcpy_to_dm(dm, 4, from, 2) == EINVAL);
	REQUIRE(ibv_memcpy_from_dm(to, dm, 1, 4) == EINVAL);
	REQUIRE(!ibv_free_dm(dm));
}

/* Nobody sees what another left, and what is mapped is nobody else's. */
void test_dm_owners(void)
{
	uint64_t size = dm_bytes(), page = sysconf(_SC_PAGESIZE), at;
	struct ibv_context *second;
	struct ibv_dm *dm, *imported, *other;
	uint64_t word, secret = 0x5ec2e75ec2e7;

	dm = dm_new(size);
	for (at = 0; at < size; at += page)
		REQUIRE(!ibv_memcpy_to_dm(dm, at, &secret, 8));
	REQUIRE(!ibv_free_dm(dm));
	dm = dm_new(size);
	for (at = 0; at < size; at += page) {
		REQUIRE(!ibv_memcpy_from_dm(&word, dm, at, 8));
		REQUIRE(!word);
	}

	/* The part stays taken for as long as somebody maps it. */
	second = ibv_import_device(dup(dev.context->cmd_fd));
	REQUIRE(second);
	imported = ibv_import_dm(second, dm->handle);
	REQUIRE(imported);
	REQUIRE(!ibv_memcpy_to_dm(dm, 8, &secret, 8));
	REQUIRE(!ibv_memcpy_from_dm(&word, imported, 8, 8));
	REQUIRE(word == secret);
	REQUIRE(!ibv_free_dm(dm));
	dm_refused(page, 0, ENOMEM);
	ibv_unimport_dm(imported);
	other = dm_new(size);
	REQUIRE(!ibv_memcpy_from_dm(&word, other, 8, 8));
	REQUIRE(!word);
	REQUIRE(!ibv_import_dm(second, 0xffff));
	REQUIRE(!ibv_free_dm(other));
	REQUIRE(!ibv_close_device(second));
}

/* Where its mapping is: the one of the device that can be read and written. */
static unsigned long long mmap_offset(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long offset = 0, start, end;
	char line[256], rights[5];

	REQUIRE(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, "/dev/infiniband/uverbs") &&
		    sscanf(line, "%llx-%llx %4s %llx", &start, &end, rights, &offset) == 4 &&
		    !strcmp(rights, "rw-s"))
			break;
		offset = 0;
	}
	fclose(maps);
	REQUIRE(offset);
	return offset;
}

/* All of it, shared, and never executable. */
void test_dm_mappings(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct ibv_dm *dm = dm_new(2 * page);
	int fd = dev.context->cmd_fd;
	off_t at = mmap_offset();
	uint64_t *map, word = 77;

	REQUIRE(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, at) == MAP_FAILED);
	REQUIRE(mmap(NULL, 3 * page, PROT_READ, MAP_SHARED, fd, at) == MAP_FAILED);
	REQUIRE(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, at + page) == MAP_FAILED);
	REQUIRE(mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE, fd, at) == MAP_FAILED);
	REQUIRE(mmap(NULL, 2 * page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, at) == MAP_FAILED);
	REQUIRE(errno == EPERM);
	map = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, at);
	REQUIRE(map != MAP_FAILED);
	REQUIRE(mprotect(map, 2 * page, PROT_READ | PROT_EXEC));
	REQUIRE(!ibv_memcpy_to_dm(dm, 8, &word, 8));
	REQUIRE(((volatile uint64_t *)map)[1] == word);
	REQUIRE(!munmap(map, 2 * page));
	REQUIRE(!ibv_free_dm(dm));
	/* The place is nobody's now. */
	REQUIRE(mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, at) == MAP_FAILED);
}

static void transfer(struct pair *p, enum ibv_wr_opcode opcode, struct ibv_sge sge, uint32_t key,
		     uint64_t address, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = address;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = 5;
	} else {
		wr.wr.rdma.remote_addr = address;
		wr.wr.rdma.rkey = key;
	}
	REQUIRE(!post_send(p->a, wr));
	REQUIRE(wait_wc(p->cq).status == status);
}

void test_dm_regions(void)
{
	struct pair p = pair_new((struct ibv_qp_cap){ 16, 16, 1, 1, 0 }, PATIENT);
	struct buffer b = buffer_new(4096, 0);
	struct ibv_dm *dm = dm_new(8192);
	struct ibv_mr *mr = ibv_reg_dm_mr(dev.pd, dm, 100, 3000, ALL), *empty;
	uint8_t bytes[3000];
	uint64_t word = 37;

	REQUIRE(mr);
	REQUIRE(mr->length == 3000);
	REQUIRE(ibv_free_dm(dm) == EBUSY);
	empty = ibv_reg_dm_mr(dev.pd, dm, 8192, 0, IBV_ACCESS_ZERO_BASED);
	REQUIRE(empty);
	REQUIRE(!ibv_dereg_mr(empty));
	REQUIRE(!ibv_reg_dm_mr(dev.pd, dm, 8000, 193, ALL) && errno == EINVAL);
	REQUIRE(!ibv_reg_dm_mr(dev.pd, dm, 8193, 0, ALL) && errno == EINVAL);
	REQUIRE(!ibv_reg_dm_mr(dev.pd, dm, UINT64_MAX, 2, ALL) && errno == EINVAL);
	REQUIRE(!ibv_reg_dm_mr(dev.pd, dm, 0, 8, IBV_ACCESS_LOCAL_WRITE) && errno == EINVAL);
	REQUIRE(!ibv_reg_dm_mr(dev.pd, dm, 0, 8, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE));
	REQUIRE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL));

	/* WRITE there, READ back, and the processor sees the same. */
	fill(b.data, 2000, 9);
	transfer(&p, IBV_WR_RDMA_WRITE, sge_of(&b, 0, 2000), mr->rkey, 1000, IBV_WC_SUCCESS);
	REQUIRE(!ibv_memcpy_from_dm(bytes, dm, 1100, 2000));
	REQUIRE(!memcmp(bytes, b.data, 2000));
	transfer(&p, IBV_WR_RDMA_READ, sge_of(&b, 2048, 2000), mr->rkey, 1000, IBV_WC_SUCCESS);
	REQUIRE(!memcmp(b.data, b.data + 2048, 2000));
	/* What the processor writes the next request finds, from own SGEs, too. */
	for (int i = 0; i < 50; i++) {
		struct ibv_sge own = { .addr = 4, .length = 8, .lkey = mr->lkey };

		word = 1000 + i;
		REQUIRE(!ibv_memcpy_to_dm(dm, 104, &word, 8));
		transfer(&p, IBV_WR_RDMA_WRITE, own, mr->rkey, 12, IBV_WC_SUCCESS);
		transfer(&p, IBV_WR_RDMA_READ, sge_of(&b, 0, 8), mr->rkey, 12, IBV_WC_SUCCESS);
		REQUIRE(!memcmp(b.data, &word, 8));
	}
	transfer(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, sge_of(&b, 0, 8), mr->rkey, 16, IBV_WC_SUCCESS);
	REQUIRE(!ibv_memcpy_from_dm(bytes, dm, 116, 8));
	memcpy(&word, b.data, 8);
	word += 5;
	REQUIRE(!memcmp(bytes, &word, 8));

	transfer(&p, IBV_WR_RDMA_WRITE, sge_of(&b, 0, 8), mr->rkey, 2993, IBV_WC_REM_ACCESS_ERR);
	pair_free(&p);
	buffer_free(&b);
	REQUIRE(!ibv_dereg_mr(mr));
	REQUIRE(!ibv_free_dm(dm));
}
