// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in guests: RDMA WRITE, FLUSH and ATOMIC_WRITE over one RC queue pair;
 * then a FLUSH to a place that the memory has no right for, which must fail.
 * With -a without FLUSH.
 *
 * usage: placement_check -d DEVICE -g GID-INDEX [-m PATH-MTU] [-p PORT] [-k TIMEOUT]
 *                        [-y RETRIES] [-a] [SERVER]
 *
 * Without SERVER (a name with a dot or colon) it is the server, whose memory is
 * the target. Between the steps both meet on a TCP connection.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rdma_pair.h"

#define SIZE		100000
#define ROUNDS		20
#define VALUE(round)	(0x0123456789abcdef * ((round) + 1))

static void complete(struct pair *p, const char *what, enum ibv_wc_opcode opcode,
		     enum ibv_wc_status status)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(p->cq, 1, &wc);
	} while (!n);
	if (n < 0 || wc.status != status || (!status && wc.opcode != opcode)) {
		fprintf(stderr, "placement_check: %s: %s, opcode %d\n", what,
			n < 0 ? "ibv_poll_cq" : ibv_wc_status_str(wc.status), wc.opcode);
		exit(3);
	}
}

static struct ibv_qp_ex *begin(struct pair *p)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(p->qp);

	if (!ex)
		pair_die("ibv_qp_to_qp_ex");
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	return ex;
}

static void end(struct ibv_qp_ex *ex)
{
	if (ibv_wr_complete(ex))
		pair_die("ibv_wr_complete");
}

static void flush(struct pair *p, uint32_t length, uint8_t type, uint8_t level,
		  enum ibv_wc_status status)
{
	struct ibv_qp_ex *ex = begin(p);

	ibv_wr_flush(ex, p->other.rkey, p->other.address, length, type, level);
	end(ex);
	complete(p, "FLUSH", IBV_WC_FLUSH, status);
}

static void write_and_flush(struct pair *p, int round, bool flushes)
{
	uint64_t value = VALUE(round);
	struct ibv_qp_ex *ex;

	memset(p->buffer + GUARD, round + 1, SIZE);
	ex = begin(p);
	ibv_wr_rdma_write(ex, p->other.rkey, p->other.address);
	ibv_wr_set_sge(ex, p->mr->lkey, p->own.address, SIZE);
	end(ex);
	complete(p, "WRITE", IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS);
	if (flushes)
		flush(p, SIZE, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE, IBV_WC_SUCCESS);
	ex = begin(p);
	ibv_wr_atomic_write(ex, p->other.rkey, p->other.address + 8 * round, &value);
	end(ex);
	complete(p, "ATOMIC_WRITE", IBV_WC_ATOMIC_WRITE, IBV_WC_SUCCESS);
	if (flushes)
		flush(p, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR, IBV_WC_SUCCESS);
}

static void judge(const struct pair *p, int round)
{
	uint64_t value = VALUE(round);
	size_t i;

	for (i = 0; i < p->buffer_size; i++) {
		size_t at = i - GUARD - 8 * round;
		uint8_t want = i < GUARD || i >= GUARD + SIZE ? GUARD_BYTE : round + 1;

		if (i >= GUARD && at < sizeof(value))
			want = ((uint8_t *)&value)[at];
		if (p->buffer[i] == want)
			continue;
		fprintf(stderr, "placement_check: byte %zd is %02x, not %02x\n",
			(ssize_t)(i - GUARD), p->buffer[i], want);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct pair p = PAIR_DEFAULTS;
	bool flushes = true;
	int option, round;

	while ((option = getopt(argc, argv, PAIR_OPTIONS "a")) != -1) {
		if (option == 'a')
			flushes = false;
		else if (pair_option(&p, option, optarg))
			return 64;
	}
	if (optind < argc)
		p.server = argv[optind++];
	if (!p.device) {
		fprintf(stderr, "usage: placement_check -d DEVICE -g GID-INDEX ... [SERVER]\n");
		return 64;
	}
	p.size_max = SIZE;
	p.send_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_WRITE;
	if (flushes) {
		p.access |= IBV_ACCESS_FLUSH_GLOBAL;
		p.qp_access |= IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT;
		p.send_ops |= IBV_QP_EX_WITH_FLUSH;
	}
	pair_connect(&p);
	memset(p.buffer, GUARD_BYTE, p.buffer_size);
	for (round = 0; round < ROUNDS; round++) {
		pair_meet(&p);
		if (p.server)
			write_and_flush(&p, round, flushes);
		pair_meet(&p);
		if (!p.server)
			judge(&p, round);
	}
	pair_meet(&p);
	if (p.server && flushes)
		flush(&p, SIZE, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, IBV_WC_REM_ACCESS_ERR);
	pair_meet(&p);
	printf("placement_check: %d rounds right\n", ROUNDS);
	pair_close(&p);
	return 0;
}
