// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest: as many objects of a kind as the device says it has, until
 * one is refused; then all go, and there is room again. What the kernel holds
 * counts: up to SPARE may be missing, or be there because the netdev, whose
 * queues have numbers of the same space, has fewer than it may have.
 *
 * usage: object_limits DEVICE KIND...
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPARE	64

static struct ibv_context *context;
static struct ibv_device_attr attr;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char page[4096];

static void *new_pd(void)
{
	return ibv_alloc_pd(context);
}

static int free_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *new_cq(void)
{
	return ibv_create_cq(context, 1, NULL, NULL, 0);
}

static int free_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *new_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(pd, &init);
}

static int free_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static void *new_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return ibv_create_srq(pd, &init);
}

static int free_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void *new_mr(void)
{
	return ibv_reg_mr(pd, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE);
}

static int free_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *new_mw(void)
{
	return ibv_alloc_mw(pd, IBV_MW_TYPE_2);
}

static int free_mw(void *object)
{
	return ibv_dealloc_mw(object);
}

/* To the device a number, as a PD is; there are as many. */
static void *new_xrcd(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	return ibv_open_xrcd(context, &init);
}

static int free_xrcd(void *object)
{
	return ibv_close_xrcd(object);
}

static const struct kind {
	const char *name;
	const int *max;
	void *(*create)(void);
	int (*destroy)(void *object);
} kinds[] = {
	{ "pd", &attr.max_pd, new_pd, free_pd },
	{ "xrcd", &attr.max_pd, new_xrcd, free_xrcd },
	{ "cq", &attr.max_cq, new_cq, free_cq },
	{ "qp", &attr.max_qp, new_qp, free_qp },
	{ "srq", &attr.max_srq, new_srq, free_srq },
	{ "mr", &attr.max_mr, new_mr, free_mr },
	{ "mw", &attr.max_mw, new_mw, free_mw },
};

static void require(bool condition, const char *kind, const char *what)
{
	if (condition)
		return;
	printf("%s: %s: %s\n", kind, what, strerror(errno));
	exit(1);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void exhaust(const struct kind *kind)
{
	void **objects = calloc(*kind->max + SPARE + 1, sizeof(*objects));
	double start = seconds();
	int count = 0, i;

	require(objects, kind->name, "memory for the list");
	errno = 0;
	while (count <= *kind->max + SPARE) {
		objects[count] = kind->create();
		if (!objects[count])
			break;
		count++;
	}
	printf("%s: %d of %d, then: %s\n", kind->name, count, *kind->max, strerror(errno));
	require(count <= *kind->max + SPARE, kind->name, "more than there are were made");
	require(count >= *kind->max - SPARE, kind->name, "fewer than there are were made");
	require(errno == ENOMEM, kind->name, "not refused for want of room");
	/* A place that becomes free can be had, from the middle as well. */
	require(!kind->destroy(objects[count / 2]), kind->name, "one is destroyed");
	objects[count / 2] = kind->create();
	require(objects[count / 2], kind->name, "and made again");
	for (i = 0; i < count; i++)
		require(!kind->destroy(objects[i]), kind->name, "all are destroyed");
	free(objects);
	printf("%s: ok (%.1f s)\n", kind->name, seconds() - start);
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	size_t k;
	int i;

	for (i = 0; argc > 2 && list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), argv[1]))
			context = ibv_open_device(list[i]);
	if (!context || ibv_query_device(context, &attr)) {
		fprintf(stderr, "usage: object_limits DEVICE KIND...\n");
		return 2;
	}
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	require(pd && cq, "all", "a PD and a CQ");
	for (i = 2; i < argc; i++)
		for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (!strcmp(kinds[k].name, argv[i]))
				exhaust(&kinds[k]);
	return 0;
}
