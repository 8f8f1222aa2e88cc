// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in guests: what happens to work whose peer has vanished. Both sides
 * connect; the client says so by making the file /tmp/connected and waits for
 * /tmp/vanished; then it posts WRITEs that nobody answers. The first must end
 * with RETRY_EXC_ERR, the others, in order, with WR_FLUSH_ERR.
 *
 * usage: rdma_unanswered -d DEVICE -g GID-INDEX [-k TIMEOUT] [-y RETRIES] ... [SERVER]
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "rdma_pair.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int run_client(struct pair *p)
{
	struct ibv_sge sge = { p->own.address, p->size_max, p->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	enum ibv_wc_status want;
	struct ibv_wc wc;
	double start;
	int i, n;

	close(open("/tmp/connected", O_CREAT | O_WRONLY, 0600));
	while (access("/tmp/vanished", F_OK))
		usleep(10000);
	wr.wr.rdma.remote_addr = p->other.address;
	wr.wr.rdma.rkey = p->other.rkey;
	start = now();
	for (i = 0; i < DEPTH; i++) {
		wr.wr_id = i;
		if (ibv_post_send(p->qp, &wr, &bad))
			pair_die("ibv_post_send");
	}
	for (i = 0; i < DEPTH; i++) {
		do {
			n = ibv_poll_cq(p->cq, 1, &wc);
		} while (!n);
		if (n < 0)
			pair_die("ibv_poll_cq");
		if (!i)
			printf("qpn %u seconds %.3f status %s\n", p->own.qpn, now() - start,
			       ibv_wc_status_str(wc.status));
		want = i ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR;
		if (wc.status != want || wc.wr_id != (uint64_t)i) {
			printf("completion %d: work request %d, %s\n", i, (int)wc.wr_id,
			       ibv_wc_status_str(wc.status));
			return 2;
		}
	}
	/* For whoever looks at the device before the queue pair goes. */
	fflush(stdout);
	close(open("/tmp/flushed", O_CREAT | O_WRONLY, 0600));
	while (!access("/tmp/flushed", F_OK))
		usleep(10000);
	return 0;
}

int main(int argc, char **argv)
{
	struct pair p = PAIR_DEFAULTS;
	int option, status = 0;

	p.size_max = 100;
	while ((option = getopt(argc, argv, PAIR_OPTIONS)) != -1)
		if (pair_option(&p, option, optarg))
			return 64;
	if (optind < argc)
		p.server = argv[optind];
	if (!p.device)
		return 64;
	pair_connect(&p);
	if (p.server)
		status = run_client(&p);
	else
		pause();
	pair_close(&p);
	return status;
}
