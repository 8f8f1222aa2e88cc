// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cm_churn -p PORT [-n TIMES] [SERVER]: connects by rdma_cm, sends one message
 * and disconnects, again and again; without SERVER the other side of it.
 */
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES	64

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void done(int result, const char *what)
{
	if (result < 0)
		die(what);
}

static struct ibv_qp_init_attr init = {
	.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
};

static struct rdma_addrinfo *resolve(char *server, char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP,
				       .ai_flags = server ? 0 : RAI_PASSIVE };
	struct rdma_addrinfo *found;

	done(rdma_getaddrinfo(server, port, &hints, &found), "rdma_getaddrinfo");
	return found;
}

static void check(struct ibv_wc *wc)
{
	if (wc->status) {
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc->status));
		exit(1);
	}
}

static void serve(struct rdma_addrinfo *where, int times)
{
	struct ibv_qp_init_attr attr = init;
	struct rdma_cm_id *listener, *id;
	static char buffer[BYTES];
	struct ibv_wc wc;

	done(rdma_create_ep(&listener, where, NULL, &attr), "rdma_create_ep");
	done(rdma_listen(listener, 8), "rdma_listen");
	for (int n = 0; n < times; n++) {
		struct ibv_mr *mr;

		done(rdma_get_request(listener, &id), "rdma_get_request");
		mr = rdma_reg_msgs(id, buffer, BYTES);
		if (!mr)
			die("rdma_reg_msgs");
		done(rdma_post_recv(id, NULL, buffer, BYTES, mr), "rdma_post_recv");
		done(rdma_accept(id, NULL), "rdma_accept");
		done(rdma_get_recv_comp(id, &wc), "rdma_get_recv_comp");
		check(&wc);
		if (atoi(buffer) != n) {
			fprintf(stderr, "message %d: \"%.64s\"\n", n, buffer);
			exit(1);
		}
		done(rdma_disconnect(id), "rdma_disconnect");
		done(rdma_dereg_mr(mr), "rdma_dereg_mr");
		rdma_destroy_ep(id);
	}
	rdma_destroy_ep(listener);
}

static void call(struct rdma_addrinfo *where, int times)
{
	static char buffer[BYTES];

	for (int n = 0; n < times; n++) {
		struct ibv_qp_init_attr attr = init;
		struct rdma_cm_id *id;
		struct ibv_mr *mr;
		struct ibv_wc wc;

		done(rdma_create_ep(&id, where, NULL, &attr), "rdma_create_ep");
		mr = rdma_reg_msgs(id, buffer, BYTES);
		if (!mr)
			die("rdma_reg_msgs");
		done(rdma_connect(id, NULL), "rdma_connect");
		snprintf(buffer, sizeof(buffer), "%d", n);
		done(rdma_post_send(id, NULL, buffer, BYTES, mr, 0), "rdma_post_send");
		done(rdma_get_send_comp(id, &wc), "rdma_get_send_comp");
		check(&wc);
		done(rdma_disconnect(id), "rdma_disconnect");
		done(rdma_dereg_mr(mr), "rdma_dereg_mr");
		rdma_destroy_ep(id);
	}
}

int main(int argc, char **argv)
{
	char *port = "18700";
	int option, times = 1;

	while ((option = getopt(argc, argv, "p:n:")) != -1) {
		if (option == 'p') {
			port = optarg;
		} else if (option == 'n') {
			times = atoi(optarg);
		} else {
			fprintf(stderr, "usage: cm_churn [-p PORT] [-n TIMES] [SERVER]\n");
			return 2;
		}
	}
	if (optind < argc)
		call(resolve(argv[optind], port), times);
	else
		serve(resolve(NULL, port), times);
	return 0;
}
