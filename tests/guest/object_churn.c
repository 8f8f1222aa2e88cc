// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * object_churn DEVICE TIMES: makes and destroys each kind of object so many
 * times. A queue pair goes to INIT in between, a region's memory is written.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char memory[3 * 4096];

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Calls return NULL with errno, or an errno. */
static void *made(void *object, const char *what)
{
	if (!object)
		die(what);
	return object;
}

static void done(int error, const char *what)
{
	if (error) {
		errno = error;
		die(what);
	}
}

static void churn_pd(void)
{
	done(ibv_dealloc_pd(made(ibv_alloc_pd(context), "ibv_alloc_pd")), "ibv_dealloc_pd");
}

static void churn_mr(void)
{
	struct ibv_mr *mr = made(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE |
					    IBV_ACCESS_REMOTE_WRITE), "ibv_reg_mr");

	memory[4096]++;
	done(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

static void churn_cq(void)
{
	done(ibv_destroy_cq(made(ibv_create_cq(context, 64, NULL, NULL, 0), "ibv_create_cq")),
	     "ibv_destroy_cq");
}

static void churn_channel(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *armed;

	channel = made(ibv_create_comp_channel(context), "ibv_create_comp_channel");
	armed = made(ibv_create_cq(context, 1, NULL, channel, 0), "ibv_create_cq");
	done(ibv_req_notify_cq(armed, 0), "ibv_req_notify_cq");
	done(ibv_destroy_cq(armed), "ibv_destroy_cq");
	done(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
}

static void churn_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = made(ibv_create_qp(pd, &init), "ibv_create_qp");
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	mask |= type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	done(ibv_modify_qp(qp, &attr, mask), "ibv_modify_qp");
	done(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

static void churn_rc(void)
{
	churn_qp(IBV_QPT_RC);
}

static void churn_ud(void)
{
	churn_qp(IBV_QPT_UD);
}

static void churn_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 1 } };

	done(ibv_destroy_srq(made(ibv_create_srq(pd, &init), "ibv_create_srq")), "ibv_destroy_srq");
}

static const struct {
	const char *name;
	void (*churn)(void);
} kinds[] = {
	{ "PD", churn_pd }, { "MR", churn_mr }, { "CQ", churn_cq }, { "channel", churn_channel },
	{ "RC QP", churn_rc }, { "UD QP", churn_ud }, { "SRQ", churn_srq },
};

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int times = argc == 3 ? atoi(argv[2]) : 0;

	if (times < 1) {
		fprintf(stderr, "usage: object_churn DEVICE TIMES\n");
		return 2;
	}
	for (int i = 0; list && list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), argv[1]))
			context = ibv_open_device(list[i]);
	made(context, argv[1]);
	ibv_free_device_list(list);
	pd = made(ibv_alloc_pd(context), "ibv_alloc_pd");
	cq = made(ibv_create_cq(context, 64, NULL, NULL, 0), "ibv_create_cq");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (int n = 0; n < times; n++)
			kinds[i].churn();
		printf("%s: %d\n", kinds[i].name, times);
	}
	done(ibv_destroy_cq(cq), "ibv_destroy_cq");
	done(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	done(ibv_close_device(context), "ibv_close_device");
	return 0;
}
