// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in guests: SEND, RDMA WRITE and RDMA READ of given sizes over one RC
 * queue pair, every byte compared, guard bytes before and after included; then
 * atomics, the values that they find and leave compared.
 *
 * usage: rdma_check -d DEVICE -g GID-INDEX [-m PATH-MTU] [-p PORT] [-r ROUNDS]
 *                   [-k TIMEOUT] [-y RETRIES] [SERVER] SIZE...
 *
 * Without SERVER (a name with a dot or colon) it is the server. Both sides must
 * be given the same sizes. In each round the client sends, writes and reads;
 * between the steps both meet on a TCP connection.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rdma_pair.h"

#define MAX_SIZES	64

static void wrong(const char *what, size_t size, size_t at, int got, int want)
{
	fprintf(stderr, "rdma_check: %s of %zu bytes: byte %zd is %02x, not %02x\n",
		what, size, (ssize_t)at, got, want);
	exit(2);
}

static uint8_t pattern(uint32_t seed, size_t i)
{
	uint32_t x = seed * 2654435761u + (uint32_t)i * 40503u;

	return (uint8_t)(x >> 13 ^ x >> 5);
}

static void fill(struct pair *p, size_t size, uint32_t seed)
{
	size_t i;

	memset(p->buffer, GUARD_BYTE, p->buffer_size);
	for (i = 0; i < size; i++)
		p->buffer[GUARD + i] = pattern(seed, i);
}

static void compare(struct pair *p, const char *what, size_t size, uint32_t seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (p->buffer[GUARD + i] != pattern(seed, i))
			wrong(what, size, i, p->buffer[GUARD + i], pattern(seed, i));
	for (i = 0; i < GUARD; i++)
		if (p->buffer[i] != GUARD_BYTE)
			wrong(what, size, i - GUARD, p->buffer[i], GUARD_BYTE);
	for (i = GUARD + size; i < p->buffer_size; i++)
		if (p->buffer[i] != GUARD_BYTE)
			wrong(what, size, i - GUARD, p->buffer[i], GUARD_BYTE);
}

static void complete(struct pair *p, const char *what, size_t size, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(p->cq, 1, &wc);
	} while (!n);
	if (n < 0 || wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "rdma_check: %s of %zu bytes: %s\n", what, size,
			n < 0 ? "ibv_poll_cq" : ibv_wc_status_str(wc.status));
		exit(3);
	}
	if (wc.opcode != opcode || (opcode & IBV_WC_RECV && wc.byte_len != size)) {
		fprintf(stderr, "rdma_check: %s of %zu bytes: completion says %d, %u bytes\n",
			what, size, wc.opcode, wc.byte_len);
		exit(3);
	}
}

static void post_receive(struct pair *p, size_t size)
{
	struct ibv_sge sge = { p->own.address, size, p->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = !!size }, *bad;

	if (ibv_post_recv(p->qp, &wr, &bad))
		pair_die("ibv_post_recv");
}

static void post(struct pair *p, enum ibv_wr_opcode opcode, size_t size)
{
	struct ibv_sge sge = { p->own.address, size, p->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = !!size, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	wr.wr.rdma.remote_addr = p->other.address;
	wr.wr.rdma.rkey = p->other.rkey;
	if (ibv_post_send(p->qp, &wr, &bad))
		pair_die("ibv_post_send");
}

/* The client sends, then writes, then reads back what the server filled in. */
static void one_size(struct pair *p, size_t size, uint32_t seed)
{
	if (p->server) {
		fill(p, size, seed);
		pair_meet(p);
		post(p, IBV_WR_SEND, size);
		complete(p, "SEND", size, IBV_WC_SEND);
		pair_meet(p);
		fill(p, size, seed + 1);
		pair_meet(p);
		post(p, IBV_WR_RDMA_WRITE, size);
		complete(p, "WRITE", size, IBV_WC_RDMA_WRITE);
		pair_meet(p);
		fill(p, 0, 0);
		pair_meet(p);
		post(p, IBV_WR_RDMA_READ, size);
		complete(p, "READ", size, IBV_WC_RDMA_READ);
		compare(p, "READ", size, seed + 2);
		pair_meet(p);
	} else {
		fill(p, 0, 0);
		post_receive(p, size);
		pair_meet(p);
		complete(p, "received SEND", size, IBV_WC_RECV);
		compare(p, "received SEND", size, seed);
		pair_meet(p);
		fill(p, 0, 0);
		pair_meet(p);
		pair_meet(p);
		compare(p, "received WRITE", size, seed + 1);
		fill(p, size, seed + 2);
		pair_meet(p);
		pair_meet(p);
		compare(p, "memory that was read", size, seed + 2);
	}
}

static uint64_t word(const struct pair *p)
{
	uint64_t value;

	memcpy(&value, p->buffer + GUARD, sizeof(value));
	return value;
}

/* What the server's word held. */
static uint64_t one_atomic(struct pair *p, enum ibv_wr_opcode opcode, uint64_t compare_add,
			   uint64_t swap)
{
	bool swaps = opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	struct ibv_sge sge = { p->own.address, sizeof(uint64_t), p->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { p->other.address, compare_add, swap, p->other.rkey },
	}, *bad;

	if (ibv_post_send(p->qp, &wr, &bad))
		pair_die("ibv_post_send");
	complete(p, swaps ? "compare and swap" : "fetch and add", sizeof(uint64_t),
		 swaps ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD);
	return word(p);
}

static void expect_word(const char *what, uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	fprintf(stderr, "rdma_check: %s: %016llx, not %016llx\n", what,
		(unsigned long long)got, (unsigned long long)want);
	exit(2);
}

#define ATOMICS		40
#define ADDEND(i)	(0x0123456789abcdef * ((i) + 1))

/* Every third is a comparison that fails, and one that does not. */
static void atomics(struct pair *p)
{
	uint64_t value = 0;
	unsigned int i;

	fill(p, sizeof(value), 0);
	memcpy(p->buffer + GUARD, &value, sizeof(value));
	pair_meet(p);
	for (i = 0; i < ATOMICS; i++) {
		if (p->server)
			expect_word("fetch and add", one_atomic(p, IBV_WR_ATOMIC_FETCH_AND_ADD,
								ADDEND(i), 0), value);
		value += ADDEND(i);
		if (i % 3)
			continue;
		if (p->server) {
			expect_word("a failing comparison",
				    one_atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, value + 1, 5), value);
			expect_word("compare and swap",
				    one_atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, value, ~value), value);
		}
		value = ~value;
	}
	pair_meet(p);
	if (p->server)
		return;
	expect_word("the word that is left", word(p), value);
	for (i = 0; i < GUARD; i++)
		if (p->buffer[i] != GUARD_BYTE)
			wrong("atomics", sizeof(value), i - GUARD, p->buffer[i], GUARD_BYTE);
	for (i = GUARD + sizeof(value); i < p->buffer_size; i++)
		if (p->buffer[i] != GUARD_BYTE)
			wrong("atomics", sizeof(value), i - GUARD, p->buffer[i], GUARD_BYTE);
}

int main(int argc, char **argv)
{
	struct pair p = PAIR_DEFAULTS;
	size_t sizes[MAX_SIZES];
	int option, i, round, count = 0, rounds = 1;

	while ((option = getopt(argc, argv, PAIR_OPTIONS "r:")) != -1) {
		if (option == 'r')
			rounds = atoi(optarg);
		else if (pair_option(&p, option, optarg))
			return 64;
	}
	if (optind < argc && strpbrk(argv[optind], ".:"))
		p.server = argv[optind++];
	for (; optind < argc && count < MAX_SIZES; optind++) {
		sizes[count] = strtoull(argv[optind], NULL, 0);
		if (sizes[count] > p.size_max)
			p.size_max = sizes[count];
		count++;
	}
	if (!p.device || !count) {
		fprintf(stderr, "usage: rdma_check -d DEVICE -g GID-INDEX ... [SERVER] SIZE...\n");
		return 64;
	}
	pair_connect(&p);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < count; i++)
			one_size(&p, sizes[i], round * 1000 + i * 7 + 1);
	atomics(&p);
	printf("rdma_check: %d sizes, %d rounds: all bytes right\n", count, rounds);
	pair_close(&p);
	return 0;
}
