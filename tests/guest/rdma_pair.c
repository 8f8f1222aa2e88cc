// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rdma_pair.h"

void pair_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

int pair_option(struct pair *p, int option, const char *value)
{
	switch (option) {
	case 'd':
		p->device = value;
		break;
	case 'g':
		p->gid_index = atoi(value);
		break;
	case 'm':
		p->mtu = atoi(value);
		break;
	case 'p':
		p->port = value;
		break;
	case 'k':
		p->timeout = atoi(value);
		break;
	case 'y':
		p->retries = atoi(value);
		break;
	default:
		return -1;
	}
	return 0;
}

static void connect_tcp(struct pair *p)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found;
	int listener, one = 1, tries;

	if (getaddrinfo(p->server, p->port, &hints, &found))
		pair_die("getaddrinfo");
	if (p->server) {
		for (tries = 0; tries < 200; tries++) {
			p->tcp = socket(found->ai_family, SOCK_STREAM, 0);
			if (!connect(p->tcp, found->ai_addr, found->ai_addrlen))
				break;
			close(p->tcp);
			p->tcp = -1;
			usleep(50000);
		}
		if (p->tcp < 0)
			pair_die("connect");
	} else {
		listener = socket(found->ai_family, SOCK_STREAM, 0);
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(listener, found->ai_addr, found->ai_addrlen) || listen(listener, 1))
			pair_die("listen");
		p->tcp = accept(listener, NULL, NULL);
		if (p->tcp < 0)
			pair_die("accept");
		close(listener);
	}
	freeaddrinfo(found);
}

void pair_exchange(struct pair *p, const void *out, void *in, size_t size)
{
	size_t done = 0;
	ssize_t n;

	if (write(p->tcp, out, size) != (ssize_t)size)
		pair_die("write");
	while (done < size) {
		n = read(p->tcp, (uint8_t *)in + done, size - done);
		if (n <= 0)
			pair_die("the other side went away");
		done += n;
	}
}

void pair_meet(struct pair *p)
{
	char out = 'x', in;

	pair_exchange(p, &out, &in, 1);
}

static void open_device(struct pair *p)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), p->device))
			break;
	if (!list || !list[i]) {
		errno = ENODEV;
		pair_die(p->device);
	}
	p->context = ibv_open_device(list[i]);
	if (!p->context)
		pair_die("ibv_open_device");
	ibv_free_device_list(list);
}

void pair_make_objects(struct pair *p)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (p->send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.send_ops_flags = p->send_ops,
		.cap = {
			.max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			.max_send_sge = 4, .max_recv_sge = 1,
		},
	};

	p->pd = ibv_alloc_pd(p->context);
	p->cq = ibv_create_cq(p->context, 2 * DEPTH, NULL, NULL, 0);
	if (!p->pd || !p->cq)
		pair_die("ibv_alloc_pd, ibv_create_cq");
	p->buffer_size = p->size_max + 2 * GUARD;
	p->buffer = malloc(p->buffer_size);
	p->mr = p->buffer ? ibv_reg_mr(p->pd, p->buffer, p->buffer_size, p->access) : NULL;
	if (!p->mr)
		pair_die("ibv_reg_mr");
	init.send_cq = p->cq;
	init.recv_cq = p->cq;
	init.pd = p->pd;
	p->qp = ibv_create_qp_ex(p->context, &init);
	if (!p->qp)
		pair_die("ibv_create_qp_ex");
	p->own.qpn = p->qp->qp_num;
	p->own.psn = getpid() * 2654435761u & 0xffffff;
	p->own.rkey = p->mr->rkey;
	p->own.address = (uintptr_t)p->buffer + GUARD;
	if (ibv_query_gid(p->context, 1, p->gid_index, &p->own.gid))
		pair_die("ibv_query_gid");
}

void pair_connect_qp(struct pair *p)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = p->qp_access,
	};

	if (ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		pair_die("INIT");
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = p->mtu == 256 ? IBV_MTU_256 : p->mtu == 512 ? IBV_MTU_512 :
			p->mtu == 1024 ? IBV_MTU_1024 : p->mtu == 2048 ? IBV_MTU_2048 :
			IBV_MTU_4096;
	attr.dest_qp_num = p->other.qpn;
	attr.rq_psn = p->other.psn;
	attr.max_dest_rd_atomic = p->reads;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = p->other.gid;
	attr.ah_attr.grh.sgid_index = p->gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.port_num = 1;
	if (ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		pair_die("RTR");
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = p->timeout;
	attr.retry_cnt = p->retries;
	attr.rnr_retry = p->rnr_retries;
	attr.sq_psn = p->own.psn;
	attr.max_rd_atomic = DEPTH;
	if (ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		pair_die("RTS");
}

void pair_open(struct pair *p)
{
	open_device(p);
	connect_tcp(p);
}

void pair_connect(struct pair *p)
{
	open_device(p);
	pair_make_objects(p);
	connect_tcp(p);
	pair_exchange(p, &p->own, &p->other, sizeof(p->own));
	pair_connect_qp(p);
	pair_meet(p);
}

void pair_free_objects(struct pair *p)
{
	if (ibv_destroy_qp(p->qp) || ibv_dereg_mr(p->mr) || ibv_destroy_cq(p->cq) ||
	    ibv_dealloc_pd(p->pd))
		pair_die("destroying");
	free(p->buffer);
}

void pair_close(struct pair *p)
{
	pair_free_objects(p);
	ibv_close_device(p->context);
}
