// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: data, and who may touch them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "verbs_rules.h"

#define CAP	((struct ibv_qp_cap){ 16, 16, 4, 4, 0 })

void test_immediate(void)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer b = buffer_new(8192, IBV_ACCESS_REMOTE_WRITE);
	struct ibv_sge sge = sge_of(&b, 0, 3000);
	struct ibv_send_wr wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(0x01020304), .wr.rdma = { (uintptr_t)b.data + 4096, b.mr->rkey },
	};
	enum ibv_wr_opcode opcodes[2] = { IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM };
	int i, k;

	for (i = 0; i < 2; i++) {
		struct ibv_sge to = sge_of(&b, 4096, 4096);
		struct ibv_wc wc[2];

		fill(b.data, 3000, i);
		wr.opcode = opcodes[i];
		REQUIRE(!post_recv(p.b, 5, &to, 1));
		REQUIRE(!post_send(p.a, wr));
		wait_wcs(p.cq, wc, 2);
		for (k = 0; k < 2; k++) {
			REQUIRE(!wc[k].status);
			if (wc[k].wr_id == 7)
				continue;
			REQUIRE(wc[k].wr_id == 5 && wc[k].byte_len == 3000);
			REQUIRE(wc[k].wc_flags & IBV_WC_WITH_IMM);
			REQUIRE(ntohl(wc[k].imm_data) == 0x01020304);
			REQUIRE(wc[k].opcode == (i ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV));
		}
		REQUIRE(!memcmp(b.data, b.data + 4096, 3000));
	}
	pair_free(&p);
	buffer_free(&b);
}

/* READ, then a fenced SEND of what it fetched. */
void test_fence(void)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer b = buffer_new(3 * 65536, IBV_ACCESS_REMOTE_READ);
	struct ibv_sge middle[3] = {
		sge_of(&b, 65536, 1000), sge_of(&b, 66536, 40000), sge_of(&b, 106536, 24536),
	};
	struct ibv_sge all = sge_of(&b, 65536, 65536), end = sge_of(&b, 131072, 65536);
	int round, i;

	for (round = 0; round < 20; round++) {
		struct ibv_wc wc[3];

		fill(b.data, 65536, round);
		REQUIRE(!post_recv(p.b, 3, &end, 1));
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.wr_id = 1, .sg_list = middle, .num_sge = 3, .opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)b.data, b.mr->rkey } }));
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.wr_id = 2, .sg_list = &all, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE }));
		wait_wcs(p.cq, wc, 3);
		for (i = 0; i < 3; i++)
			REQUIRE(!wc[i].status);
		REQUIRE(!memcmp(b.data, b.data + 65536, 65536));
		REQUIRE(!memcmp(b.data, b.data + 131072, 65536));
	}
	pair_free(&p);
	buffer_free(&b);
}

enum wrong {
	REMOTE_KEY, REMOTE_KEY_WITHOUT_DATA, REMOTE_RANGE, REMOTE_WRAP, REMOTE_RIGHT, REMOTE_PD,
	LOCAL_KEY, LOCAL_RANGE, LOCAL_RIGHT, LOCAL_PD, WRONG_COUNT,
};

static void one_violation(enum wrong wrong, enum ibv_wr_opcode opcode)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct ibv_pd *other_pd = ibv_alloc_pd(dev.context);
	struct buffer local = buffer_new(4096, 0);
	struct buffer remote = buffer_new(4096, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	struct ibv_mr *read_only = ibv_reg_mr(dev.pd, remote.data, 4096, 0);
	struct ibv_mr *foreign = ibv_reg_mr(other_pd, remote.data, 4096, IBV_ACCESS_LOCAL_WRITE |
					    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	struct ibv_sge sge = sge_of(&local, 0, 64);
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)remote.data, remote.mr->rkey },
	};
	enum ibv_wc_status expected = wrong < LOCAL_KEY ? IBV_WC_REM_ACCESS_ERR :
							  IBV_WC_LOC_PROT_ERR;
	struct ibv_async_event event;
	struct ibv_wc wc;
	int i;

	REQUIRE(read_only && foreign);
	switch (wrong) {
	case REMOTE_KEY:
		wr.wr.rdma.rkey ^= 1;
		break;
	case REMOTE_KEY_WITHOUT_DATA:
		wr.wr.rdma.rkey ^= 1;
		wr.num_sge = 0;
		break;
	case REMOTE_RANGE:
		wr.wr.rdma.remote_addr += 4096 - 63;
		break;
	case REMOTE_WRAP:
		wr.wr.rdma.remote_addr = UINT64_MAX - 31;
		break;
	case REMOTE_RIGHT:
		wr.wr.rdma.rkey = read_only->rkey;
		break;
	case REMOTE_PD:
		wr.wr.rdma.rkey = foreign->rkey;
		break;
	case LOCAL_KEY:
		sge.lkey ^= 0x100000;
		break;
	case LOCAL_RANGE:
		sge.addr += 4096 - 63;
		break;
	case LOCAL_RIGHT:
		sge.addr = (uintptr_t)remote.data;
		sge.lkey = read_only->lkey;
		break;
	case LOCAL_PD:
		sge.addr = (uintptr_t)remote.data;
		sge.lkey = foreign->lkey;
		break;
	default:
		break;
	}
	memset(remote.data, 0x5a, 4096);
	REQUIRE(!post_recv(p.b, 2, NULL, 0));
	REQUIRE(!post_send(p.a, wr));
	wc = wait_wc(p.cq);
	if (wc.wr_id == 2) {
		REQUIRE(wc.status == IBV_WC_WR_FLUSH_ERR);
		wc = wait_wc(p.cq);
	} else if (wrong < LOCAL_KEY) {
		REQUIRE(wait_wc(p.cq).status == IBV_WC_WR_FLUSH_ERR);
	}
	REQUIRE(wc.wr_id == 1);
	if (wc.status != expected)
		printf("violation %d: status %d, not %d\n", wrong, wc.status, expected);
	REQUIRE(wc.status == expected);
	for (i = 0; i < 4096; i++)
		REQUIRE(remote.data[i] == 0x5a);
	REQUIRE(state_of(p.a) == IBV_QPS_ERR);
	if (wrong < LOCAL_KEY) {
		REQUIRE(state_of(p.b) == IBV_QPS_ERR);
		do {
			REQUIRE(!ibv_get_async_event(dev.context, &event));
			ibv_ack_async_event(&event);
		} while (event.event_type == IBV_EVENT_COMM_EST);
		REQUIRE(event.event_type == IBV_EVENT_QP_ACCESS_ERR);
		REQUIRE(event.element.qp == p.b);
	} else {
		REQUIRE(state_of(p.b) == IBV_QPS_RTS);
	}
	pair_free(&p);
	REQUIRE(!ibv_dereg_mr(read_only));
	REQUIRE(!ibv_dereg_mr(foreign));
	REQUIRE(!ibv_dealloc_pd(other_pd));
	buffer_free(&local);
	buffer_free(&remote);
}

void test_protection(void)
{
	int wrong;

	for (wrong = 0; wrong < WRONG_COUNT; wrong++) {
		/* Reading is always allowed locally. */
		if (wrong != LOCAL_RIGHT)
			one_violation(wrong, IBV_WR_RDMA_WRITE);
		one_violation(wrong, IBV_WR_RDMA_READ);
	}
}

void test_rnr(void)
{
	struct timing timing = { .timeout = 18, .retries = 7, .rnr_timer = 14, .rnr_retries = 3 };
	struct pair p = pair_new(CAP, timing);
	double start = seconds(), took;
	struct ibv_wc wc;

	/* Timer 14 is 1.28 ms; three retries, then an error. */
	REQUIRE(!post_send(p.a, (struct ibv_send_wr){ .wr_id = 1, .opcode = IBV_WR_SEND }));
	wc = wait_wc(p.cq);
	took = seconds() - start;
	REQUIRE(wc.wr_id == 1 && wc.status == IBV_WC_RNR_RETRY_EXC_ERR);
	REQUIRE(took >= 3 * 0.00128);
	REQUIRE(state_of(p.a) == IBV_QPS_ERR && state_of(p.b) == IBV_QPS_RTS);
	pair_free(&p);

	/* Without end, until there is a receive. */
	p = pair_new(CAP, PATIENT);
	REQUIRE(!post_send(p.a, (struct ibv_send_wr){
		.wr_id = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }));
	no_wc(p.cq, 100);
	REQUIRE(!post_recv(p.b, 2, NULL, 0));
	REQUIRE(!wait_wc(p.cq).status && !wait_wc(p.cq).status);
	pair_free(&p);
}

static uint16_t header_sum(const uint8_t *header)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 20; i += 2)
		sum += header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* A datagram, its GRH area, an answer by it, and datagrams that are dropped. */
void test_datagrams(void)
{
	struct ibv_cq *cq = cq_new(64, NULL);
	struct ibv_qp *a = qp_new(IBV_QPT_UD, cq, CAP), *b = qp_new(IBV_QPT_UD, cq, CAP);
	struct buffer m = buffer_new(16384, 0);
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = dev.gid, .sgid_index = dev.gid_index, .hop_limit = 64 },
	};
	struct ibv_sge from = sge_of(&m, 0, 1000), to = sge_of(&m, 4096, 1040);
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(77), .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_ah *ah, *back;
	struct ibv_wc wc[2];
	int i;

	to_init(a);
	to_init(b);
	to_rts(a, 0, PATIENT);
	to_rts(b, 0, PATIENT);
	ah = ibv_create_ah(dev.pd, &attr);
	REQUIRE(ah);
	attr.is_global = 0;
	REQUIRE(!ibv_create_ah(dev.pd, &attr));
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = b->qp_num;

	/* A wrong Q_Key, no receive, too short a receive: dropped, and no harm is done. */
	wr.wr.ud.remote_qkey = QKEY + 1;
	REQUIRE(!post_send(a, wr) && !wait_wc(cq).status);
	wr.wr.ud.remote_qkey = QKEY;
	REQUIRE(!post_send(a, wr) && !wait_wc(cq).status);
	to.length = 1039;
	REQUIRE(!post_recv(b, 2, &to, 1));
	REQUIRE(!post_send(a, wr) && !wait_wc(cq).status);
	no_wc(cq, 50);
	from.length = 999;

	fill(m.data, 1000, 1);
	REQUIRE(!post_send(a, wr));
	wait_wcs(cq, wc, 2);
	if (wc[0].wr_id == 1)
		wc[0] = wc[1];
	REQUIRE(wc[0].wr_id == 2 && !wc[0].status && wc[0].byte_len == 1039);
	REQUIRE(wc[0].src_qp == a->qp_num && ntohl(wc[0].imm_data) == 77);
	REQUIRE(wc[0].wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM));
	REQUIRE(!memcmp(m.data, m.data + 4096 + 40, 999));
	/* The GID is an IPv4 one: its header stands at byte 20, checksum right. */
	for (i = 0; i < 20; i++)
		REQUIRE(!m.data[4096 + i]);
	REQUIRE(m.data[4096 + 20] == 0x45 && header_sum(m.data + 4096 + 20) == 0xffff);
	REQUIRE(!memcmp(m.data + 4096 + 32, dev.gid.raw + 12, 4));

	back = ibv_create_ah_from_wc(dev.pd, &wc[0], (struct ibv_grh *)(m.data + 4096), 1);
	REQUIRE(back);
	to.length = 4096;
	REQUIRE(!post_recv(a, 3, &to, 1));
	wr.wr.ud.ah = back;
	wr.wr.ud.remote_qpn = wc[0].src_qp;
	REQUIRE(!post_send(b, wr));
	wait_wcs(cq, wc, 2);
	REQUIRE(!wc[0].status && !wc[1].status);

	/* One byte more than the path takes: an error, and the queue pair goes to SQE. */
	from.length = 1025;
	REQUIRE(!post_send(a, wr));
	REQUIRE(wait_wc(cq).status == IBV_WC_LOC_LEN_ERR);
	REQUIRE(state_of(a) == IBV_QPS_SQE);
	REQUIRE(!post_send(a, wr) && wait_wc(cq).status == IBV_WC_WR_FLUSH_ERR);
	to_state(a, IBV_QPS_RTS);
	from.length = 1000;
	wr.wr.ud.remote_qpn = b->qp_num;
	REQUIRE(!post_recv(b, 4, &to, 1) && !post_send(a, wr));
	wait_wcs(cq, wc, 2);
	REQUIRE(!wc[0].status && !wc[1].status);

	REQUIRE(!ibv_destroy_ah(ah));
	REQUIRE(!ibv_destroy_ah(back));
	REQUIRE(!ibv_destroy_qp(a));
	REQUIRE(!ibv_destroy_qp(b));
	REQUIRE(!ibv_destroy_cq(cq));
	buffer_free(&m);
}

/* More than 256 Ki pages of 4 KiB: one small file, mapped again and again. */
void test_large_region(void)
{
	size_t piece = 64 << 10, size = (1UL << 30) + 16 * piece, offset;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer b = buffer_new(piece, 0);
	int fd = memfd_create("region", 0);
	struct ibv_sge sge = sge_of(&b, 0, 50000);
	uint8_t *base;
	struct ibv_mr *mr;

	REQUIRE(fd >= 0 && !ftruncate(fd, piece));
	base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	REQUIRE(base != MAP_FAILED);
	for (offset = 0; offset < size; offset += piece)
		REQUIRE(mmap(base + offset, piece, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	mr = ibv_reg_mr(dev.pd, base, size, access);
	REQUIRE(mr);
	for (offset = 0; offset < size; offset += size / 7) {
		size_t at = offset + 50000 > size ? size - 50000 : offset;

		fill(b.data, 50000, offset / 4096);
		REQUIRE(!post_send(p.a, (struct ibv_send_wr){
			.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)base + at, mr->rkey } }));
		REQUIRE(!wait_wc(p.cq).status);
		REQUIRE(!memcmp(base + at, b.data, 50000));
	}
	REQUIRE(!ibv_dereg_mr(mr));
	munmap(base, size);
	close(fd);
	pair_free(&p);
	buffer_free(&b);
}

static long locked_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[200];
	long kib = -1;

	REQUIRE(status);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "VmPin: %ld kB", &kib) == 1)
			break;
	fclose(status);
	return kib;
}

/* Beyond the limit of locked memory: ENOMEM, and nothing stays pinned. */
void test_locked_memory(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	uint8_t *data = calloc(1, 4 << 20);
	struct ibv_mr *mr;
	long before;

	/* Root is not limited. */
	REQUIRE(!setrlimit(RLIMIT_MEMLOCK, &limit) && !setresuid(65534, 65534, 65534));
	before = locked_kib();
	errno = 0;
	REQUIRE(!ibv_reg_mr(dev.pd, data, 4 << 20, 0) && errno == ENOMEM);
	REQUIRE(locked_kib() == before);
	errno = 0;
	REQUIRE(!ibv_create_cq(dev.context, 1 << 16, NULL, NULL, 0) && errno == ENOMEM);
	REQUIRE(locked_kib() == before);
	mr = ibv_reg_mr(dev.pd, data, 512 << 10, 0);
	REQUIRE(mr && locked_kib() >= before + 512);
	REQUIRE(!ibv_dereg_mr(mr));
	REQUIRE(locked_kib() == before);
	free(data);
}
