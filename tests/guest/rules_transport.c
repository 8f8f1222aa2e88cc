// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: atomics; unreliable connections. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "verbs_rules.h"

#define CAP	((struct ibv_qp_cap){ 16, 16, 2, 2, 0 })
#define ALL	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static uint64_t load(const struct buffer *b, size_t offset)
{
	uint64_t value;

	memcpy(&value, b->data + offset, sizeof(value));
	return value;
}

static void store(struct buffer *b, size_t offset, uint64_t value)
{
	memcpy(b->data + offset, &value, sizeof(value));
}

static struct ibv_send_wr atomic_wr(enum ibv_wr_opcode opcode, struct ibv_sge *sge,
				    struct buffer *to, uint64_t compare_add, uint64_t swap)
{
	return (struct ibv_send_wr){
		.wr_id = 9, .sg_list = sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { (uintptr_t)to->data, compare_add, swap, to->mr->rkey },
	};
}

/* More outstanding than the depth, from both ends of a pair at one word: none is lost. */
static void contended(struct pair *p, struct buffer *b)
{
	struct ibv_wc wc[16];
	int round, i;

	store(b, 0, 0);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 16; i++) {
			struct ibv_sge sge = sge_of(b, 64 + 8 * i, 8);

			REQUIRE(!post_send(i & 1 ? p->a : p->b,
					   atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, b, 1, 0)));
		}
		wait_wcs(p->cq, wc, 16);
		for (i = 0; i < 16; i++)
			REQUIRE(!wc[i].status && wc[i].opcode == IBV_WC_FETCH_ADD);
	}
	REQUIRE(load(b, 0) == 20 * 16);
}

void test_atomics(void)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer b = buffer_new(4096, ALL);
	struct ibv_sge sge = sge_of(&b, 64, 8);
	struct ibv_sge two[2] = { sge_of(&b, 64, 4), sge_of(&b, 68, 4) };
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	REQUIRE(dev.attr.atomic_cap == IBV_ATOMIC_HCA);
	store(&b, 0, 0x1122334455667788);
	store(&b, 72, 5);
	REQUIRE(!post_send(p.a, atomic_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, &b, 1, 2)));
	wc = wait_wc(p.cq);
	REQUIRE(!wc.status && wc.opcode == IBV_WC_COMP_SWAP && wc.byte_len == 8 && wc.wr_id == 9);
	REQUIRE(load(&b, 64) == 0x1122334455667788 && load(&b, 0) == 0x1122334455667788);
	REQUIRE(!post_send(p.a, atomic_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, &b,
					  0x1122334455667788, 0xfedcba9876543210)));
	REQUIRE(!wait_wc(p.cq).status);
	REQUIRE(load(&b, 64) == 0x1122334455667788 && load(&b, 0) == 0xfedcba9876543210);
	REQUIRE(!post_send(p.a, atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, &b, 0x0101, 0)));
	wc = wait_wc(p.cq);
	REQUIRE(!wc.status && wc.opcode == IBV_WC_FETCH_ADD && wc.byte_len == 8);
	REQUIRE(load(&b, 64) == 0xfedcba9876543210 && load(&b, 0) == 0xfedcba9876543311);
	REQUIRE(load(&b, 72) == 5);

	/* One element, and no inline data. */
	wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, two, &b, 1, 0);
	wr.num_sge = 2;
	REQUIRE(post_send(p.a, wr));
	wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, &b, 1, 0);
	wr.send_flags |= IBV_SEND_INLINE;
	REQUIRE(post_send(p.a, wr));
	contended(&p, &b);
	pair_free(&p);
	buffer_free(&b);
}

static void atomic_error(enum ibv_wr_opcode opcode, size_t shift, uint32_t length, int access,
			 enum ibv_wc_status expected)
{
	struct pair p = pair_new(CAP, PATIENT);
	struct buffer remote = buffer_new(4096, access), local = buffer_new(4096, 0);
	struct ibv_sge sge = sge_of(&local, 0, length);
	struct ibv_send_wr wr = atomic_wr(opcode, &sge, &remote, 0, 7);
	struct ibv_wc wc;
	int i;

	wr.wr.atomic.remote_addr += shift;
	REQUIRE(!post_send(p.a, wr));
	wc = wait_wc(p.cq);
	REQUIRE(wc.status == expected);
	for (i = 0; i < 4096; i++)
		REQUIRE(!remote.data[i] && !local.data[i]);
	REQUIRE(state_of(p.a) == IBV_QPS_ERR);
	pair_free(&p);
	buffer_free(&remote);
	buffer_free(&local);
}

void test_atomic_errors(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	int i;

	for (i = 0; i < 2; i++) {
		atomic_error(opcodes[i], 4, 8, ALL, IBV_WC_REM_INV_REQ_ERR);
		atomic_error(opcodes[i], 4096, 8, ALL, IBV_WC_REM_ACCESS_ERR);
		atomic_error(opcodes[i], 0, 8, ALL & ~IBV_ACCESS_REMOTE_ATOMIC,
			     IBV_WC_REM_ACCESS_ERR);
		atomic_error(opcodes[i], 0, 7, ALL, IBV_WC_LOC_LEN_ERR);
		atomic_error(opcodes[i], 0, 16, ALL, IBV_WC_LOC_LEN_ERR);
	}
}

#define CAP_FLUSH_GLOBAL	(1ULL << 38)
#define CAP_FLUSH_PERSISTENT	(1ULL << 39)
#define CAP_ATOMIC_WRITE	(1ULL << 40)

/* What the device promises, and that memory is not taken for what it does not promise. */
void test_flush_rights(void)
{
	struct buffer b = buffer_new(4096, IBV_ACCESS_FLUSH_GLOBAL);
	struct ibv_device_attr_ex attr;

	REQUIRE(!ibv_query_device_ex(dev.context, NULL, &attr));
	REQUIRE(attr.device_cap_flags_ex & CAP_ATOMIC_WRITE);
	REQUIRE(attr.device_cap_flags_ex & CAP_FLUSH_GLOBAL);
	REQUIRE(!(attr.device_cap_flags_ex & CAP_FLUSH_PERSISTENT));
	REQUIRE(!ibv_reg_mr(dev.pd, b.data, 4096, IBV_ACCESS_FLUSH_PERSISTENT) &&
		errno == EOPNOTSUPP);
	REQUIRE(!ibv_reg_mr(dev.pd, b.data, 4096,
			    IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT) &&
		errno == EOPNOTSUPP);
	REQUIRE(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			     IBV_ACCESS_FLUSH_PERSISTENT));
	REQUIRE(!ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_FLUSH_GLOBAL));
	buffer_free(&b);
}

/* One message of @length bytes from a to b; a write with immediate tells of itself too. */
static void unreliable_one(struct pair *p, struct buffer *b, enum ibv_wr_opcode opcode,
			   uint32_t length)
{
	struct ibv_sge from = sge_of(b, 0, length), to = sge_of(b, 65536, length);
	bool receives = opcode != IBV_WR_RDMA_WRITE;
	struct ibv_wc wc[2];
	int i, count = receives ? 2 : 1;

	fill(b->data, length, length + opcode);
	memset(b->data + 65536, 0, 65536);
	if (receives)
		REQUIRE(!post_recv(p->b, 2, &to, !!length));
	REQUIRE(!post_send(p->a, (struct ibv_send_wr){
		.wr_id = 1, .sg_list = &from, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl(0x01020304),
		.wr.rdma = { (uintptr_t)b->data + 65536, b->mr->rkey } }));
	wait_wcs(p->cq, wc, count);
	for (i = 0; i < count; i++) {
		REQUIRE(!wc[i].status);
		if (wc[i].wr_id == 1)
			continue;
		REQUIRE(wc[i].byte_len == length);
		if (wc[i].wc_flags & IBV_WC_WITH_IMM)
			REQUIRE(ntohl(wc[i].imm_data) == 0x01020304);
	}
	/* Nothing tells of a WRITE's arrival; over loopback it does not take long. */
	for (i = 0; i < 1000 && memcmp(b->data, b->data + 65536, length); i++)
		usleep(1000);
	REQUIRE(!memcmp(b->data, b->data + 65536, length));
}

/* UC: data, what nobody hears of, and the send queue that goes on after an error. */
void test_unreliable(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	static const uint32_t lengths[] = { 0, 1, 1024, 1025, 50000 };
	struct pair p = pair_of(IBV_QPT_UC, CAP, PATIENT);
	struct buffer b = buffer_new(131072, ALL);
	struct ibv_sge sge = sge_of(&b, 0, 64), bad = sge;
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)b.data + 65536, b.mr->rkey ^ 1 },
	};
	struct ibv_wc wc;
	unsigned int i, k;

	for (i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++)
		for (k = 0; k < sizeof(lengths) / sizeof(*lengths); k++)
			unreliable_one(&p, &b, opcodes[i], lengths[k]);

	/* Without answers there is no READ and no atomic. */
	wr.opcode = IBV_WR_RDMA_READ;
	REQUIRE(post_send(p.a, wr));
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	REQUIRE(post_send(p.a, wr));

	/* A wrong key, and no receive: dropped. */
	memset(b.data + 65536, 0x5a, 64);
	wr.opcode = IBV_WR_RDMA_WRITE;
	REQUIRE(!post_send(p.a, wr));
	REQUIRE(!wait_wc(p.cq).status);
	wr.opcode = IBV_WR_SEND;
	REQUIRE(!post_send(p.a, wr));
	REQUIRE(!wait_wc(p.cq).status);
	no_wc(p.cq, 50);
	for (i = 0; i < 64; i++)
		REQUIRE(b.data[65536 + i] == 0x5a);
	REQUIRE(state_of(p.a) == IBV_QPS_RTS && state_of(p.b) == IBV_QPS_RTS);

	/* The error stops the send queue only, and it can be started again. */
	bad.lkey ^= 1;
	wr.sg_list = &bad;
	REQUIRE(!post_send(p.a, wr));
	wc = wait_wc(p.cq);
	REQUIRE(wc.status == IBV_WC_LOC_PROT_ERR && state_of(p.a) == IBV_QPS_SQE);
	to_state(p.a, IBV_QPS_RTS);
	unreliable_one(&p, &b, IBV_WR_SEND, 5000);
	pair_free(&p);
	buffer_free(&b);
}
