/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An RC queue pair between two guests, which also meet on a TCP connection. */
#ifndef RDMA_PAIR_H
#define RDMA_PAIR_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD		64
#define GUARD_BYTE	0xa5
#define DEPTH		8

struct peer {
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t reserved;
	uint64_t address;
	union ibv_gid gid;
};

struct pair {
	const char *device;
	const char *server;	/* NULL: this is the server */
	const char *port;
	int gid_index;
	int mtu;
	int timeout;
	int retries;
	int rnr_retries;
	int reads;		/* READs and atomics that it takes at a time */
	int access;		/* of the memory: IBV_ACCESS_* */
	int qp_access;		/* of the queue pair */
	uint64_t send_ops;	/* not 0: an extended one, IBV_QP_EX_WITH_* */
	size_t size_max;

	int tcp;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buffer;	/* guard, data, guard */
	size_t buffer_size;
	struct peer own;
	struct peer other;
};

/* Defaults; then the options -d -g -m -p -k -y, which all programs have. */
#define PAIR_DEFAULTS	{ .port = "18600", .mtu = 1024, .timeout = 14, .retries = 7,		\
			  .rnr_retries = 7, .reads = DEPTH, .access = PAIR_ACCESS,		\
			  .qp_access = PAIR_ACCESS & ~IBV_ACCESS_LOCAL_WRITE }
#define PAIR_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |			\
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define PAIR_OPTIONS	"d:g:m:p:k:y:"

void pair_die(const char *what);
/* Returns 0 when @option is one of PAIR_OPTIONS. */
int pair_option(struct pair *p, int option, const char *value);
/* From a device's name to RTS on both sides. */
void pair_connect(struct pair *p);
/* The same in steps, of which all but the first may be repeated. */
void pair_open(struct pair *p);
void pair_make_objects(struct pair *p);
void pair_exchange(struct pair *p, const void *out, void *in, size_t size);
void pair_connect_qp(struct pair *p);
void pair_free_objects(struct pair *p);
/* Returns when the other side is here too. */
void pair_meet(struct pair *p);
void pair_close(struct pair *p);

#endif
