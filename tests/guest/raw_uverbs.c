// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest: what the driver makes of a process that speaks to it by
 * itself, without the provider, whose habits it must not rely on.
 *
 * usage: raw_uverbs /dev/infiniband/uverbsN
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/tern-abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUIRE(condition)							\
	do {									\
		if (!(condition)) {						\
			printf("%s:%d: %s: %s: errno %d\n", __FILE__, __LINE__,	\
			       __func__, #condition, errno);			\
			exit(1);						\
		}								\
	} while (0)

#define PAGE	4096
#define RECORD	128	/* bytes */
#define QPT_RC	2
#define CQ_MODERATE	1

static int fd;

/* Returns 0 or an errno. @response is where @request says. */
static int command(uint32_t number, const void *request, size_t in, void *response, size_t out)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		uint8_t request[256];
	} message = {
		.header = {
			.command = number,
			.in_words = (sizeof(message.header) + in) / 4,
			.out_words = out / 4,
		},
	};
	uint64_t address = (uintptr_t)response;

	REQUIRE(in <= sizeof(message.request));
	memcpy(message.request, request, in);
	if (response)
		memcpy(message.request, &address, sizeof(address));
	return write(fd, &message, sizeof(message.header) + in) < 0 ? errno : 0;
}

static struct tern_uresp_alloc_ucontext get_context(void)
{
	struct {
		struct ib_uverbs_get_context base;
		struct tern_ureq_alloc_ucontext tern;
	} request = {};
	struct {
		struct ib_uverbs_get_context_resp base;
		struct tern_uresp_alloc_ucontext tern;
	} response;

	REQUIRE(!command(IB_USER_VERBS_CMD_GET_CONTEXT, &request, sizeof(request), &response,
			 sizeof(response)));
	return response.tern;
}

static void *pages(void *where, size_t size)
{
	void *p = mmap(where, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);

	REQUIRE(p != MAP_FAILED);
	return p;
}

static uint32_t create_cq(void *record)
{
	struct {
		struct ib_uverbs_create_cq base;
		struct tern_ureq_create_cq tern;
	} request = {
		.base = { .cqe = 2, .comp_channel = -1 },
		.tern = {
			.queue_address = (uintptr_t)pages(NULL, PAGE),
			.record_address = (uintptr_t)record,
			.shift = 1,
		},
	};
	struct {
		struct ib_uverbs_create_cq_resp base;
		struct tern_uresp_create_cq tern;
	} response;

	REQUIRE(!command(IB_USER_VERBS_CMD_CREATE_CQ, &request, sizeof(request), &response,
			 sizeof(response)));
	return response.base.cq_handle;
}

static uint32_t alloc_pd(void)
{
	struct ib_uverbs_alloc_pd request = {};
	struct ib_uverbs_alloc_pd_resp response;

	REQUIRE(!command(IB_USER_VERBS_CMD_ALLOC_PD, &request, sizeof(request), &response,
			 sizeof(response)));
	return response.pd_handle;
}

/* Pages of this process that are pinned. */
static unsigned long pinned(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];
	int found = 0;

	REQUIRE(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "VmPin: %lu kB", &kib) == 1;
	fclose(f);
	REQUIRE(found);
	return kib * 1024 / PAGE;
}

/* Records share the pin of their page, but another page at its address has one of its own. */
static void test_record_pages(void)
{
	uint8_t *page = pages(NULL, PAGE);
	unsigned long before = pinned();

	create_cq(page);
	REQUIRE(pinned() == before + 2);
	create_cq(page + RECORD);
	REQUIRE(pinned() == before + 3);

	REQUIRE(!munmap(page, PAGE));
	pages(page, PAGE);
	create_cq(page + 2 * RECORD);
	REQUIRE(pinned() == before + 5);
	create_cq(page + 3 * RECORD);
	REQUIRE(pinned() == before + 6);
}

/* The doorbell page is written to and no more. */
static void test_doorbell_page(uint64_t offset)
{
	static const int refused[] = {
		PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE | PROT_EXEC, PROT_EXEC,
	};
	unsigned int i;
	void *page;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		page = mmap(NULL, PAGE, refused[i], MAP_SHARED, fd, offset);
		REQUIRE(page == MAP_FAILED && errno == EPERM);
	}
	/* Of the process's own, that is. */
	REQUIRE(mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd, offset + PAGE) == MAP_FAILED);
	REQUIRE(mmap(NULL, 2 * PAGE, PROT_WRITE, MAP_SHARED, fd, offset) == MAP_FAILED);
	page = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd, offset);
	REQUIRE(page != MAP_FAILED);
	REQUIRE(mprotect(page, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES);
	REQUIRE(mprotect(page, PAGE, PROT_WRITE | PROT_EXEC) && errno == EACCES);
	REQUIRE(!munmap(page, PAGE));
}

/* The clock page is read, and no more. */
static void test_clock_page(uint64_t offset)
{
	static const int refused[] = {
		PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC, PROT_EXEC,
	};
	volatile uint64_t *page;
	unsigned int i;
	uint64_t first;

	REQUIRE(offset);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		REQUIRE(mmap(NULL, PAGE, refused[i], MAP_SHARED, fd, offset) == MAP_FAILED &&
			errno == EPERM);
	REQUIRE(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, offset + PAGE) == MAP_FAILED);
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, offset);
	REQUIRE(page != MAP_FAILED);
	first = page[0];
	REQUIRE(first && page[0] > first && !page[1]);
	REQUIRE(mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES);
	REQUIRE(!munmap((void *)page, PAGE));
}

/* What no version of this interface has is refused, unless it is zero. */
static void test_unknown_input(void)
{
	struct {
		struct ib_uverbs_alloc_pd base;
		uint64_t more;
	} request = {};
	struct {
		struct ib_uverbs_create_cq base;
		struct tern_ureq_create_cq tern;
		uint64_t more;
	} cq = {
		.base = { .cqe = 2, .comp_channel = -1 },
		.tern = {
			.queue_address = (uintptr_t)pages(NULL, PAGE),
			.record_address = (uintptr_t)pages(NULL, PAGE),
			.shift = 1,
		},
	};
	struct ib_uverbs_alloc_pd_resp response;
	uint64_t answer[4];

	REQUIRE(!command(IB_USER_VERBS_CMD_ALLOC_PD, &request, sizeof(request), &response,
			 sizeof(response)));
	request.more = 1;
	REQUIRE(command(IB_USER_VERBS_CMD_ALLOC_PD, &request, sizeof(request), &response,
			sizeof(response)) == EOPNOTSUPP);

	cq.more = 1;
	REQUIRE(command(IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), answer,
			sizeof(answer)) == EOPNOTSUPP);
	cq.more = 0;
	cq.tern.comp_mask = 1;
	REQUIRE(command(IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), answer,
			sizeof(answer)) == EOPNOTSUPP);
	cq.tern.comp_mask = 0;
	cq.tern.reserved0[6] = 1;
	REQUIRE(command(IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), answer,
			sizeof(answer)) == EOPNOTSUPP);
	cq.tern.reserved0[6] = 0;
	REQUIRE(!command(IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), answer, sizeof(answer)));
	/* Eight bytes of it are the driver's answer; the rest is not known to it. */
	REQUIRE(!answer[2] && !answer[3]);
}

/* Where a process has room for an answer that there is not, zeros come. */
static void test_unknown_output(void)
{
	uint32_t cq = create_cq(pages(NULL, PAGE));
	struct {
		struct ib_uverbs_create_qp base;
		struct tern_ureq_create_qp tern;
	} request = {
		.base = {
			.pd_handle = alloc_pd(), .send_cq_handle = cq, .recv_cq_handle = cq,
			.max_send_wr = 1, .max_send_sge = 1, .qp_type = QPT_RC,
		},
		.tern = {
			.sq_address = (uintptr_t)pages(NULL, PAGE),
			.sq_record_address = (uintptr_t)pages(NULL, PAGE),
			.sq_shift = 1,
		},
	};
	struct {
		struct ib_uverbs_create_qp_resp base;
		uint64_t more[2];
	} response;

	memset(&response, 0xff, sizeof(response));
	REQUIRE(!command(IB_USER_VERBS_CMD_CREATE_QP, &request, sizeof(request), &response,
			 sizeof(response)));
	REQUIRE(response.base.qpn > 1 && response.base.qpn != UINT32_MAX);
	REQUIRE(!response.more[0] && !response.more[1]);
}

static int moderate(uint32_t cq, uint16_t count, uint16_t period)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_ex_cmd_hdr more;
		struct ib_uverbs_ex_modify_cq request;
	} message = {
		.header = {
			.command = IB_USER_VERBS_CMD_FLAG_EXTENDED |
				   IB_USER_VERBS_EX_CMD_MODIFY_CQ,
			.in_words = sizeof(message.request) / 8,
		},
		.request = {
			.cq_handle = cq, .attr_mask = CQ_MODERATE,
			.attr = { .cq_count = count, .cq_period = period },
		},
	};

	return write(fd, &message, sizeof(message)) < 0 ? errno : 0;
}

/* A number of completions to wait for goes with a time: the last ones would wait for ever. */
static void test_moderation(void)
{
	uint32_t cq = create_cq(pages(NULL, PAGE));

	REQUIRE(moderate(cq, 2, 0) == EINVAL);
	REQUIRE(moderate(cq, UINT16_MAX, 0) == EINVAL);
	REQUIRE(!moderate(cq, 2, 1));
	REQUIRE(!moderate(cq, UINT16_MAX, UINT16_MAX));
	REQUIRE(!moderate(cq, 1, 0));
	REQUIRE(!moderate(cq, 0, 0));
}

int main(int argc, char **argv)
{
	struct tern_uresp_alloc_ucontext context;

	REQUIRE(argc == 2);
	fd = open(argv[1], O_RDWR);
	REQUIRE(fd >= 0);
	context = get_context();
	test_doorbell_page(context.doorbell_offset);
	test_clock_page(context.clock_offset);
	test_record_pages();
	test_unknown_input();
	test_unknown_output();
	test_moderation();
	return 0;
}
