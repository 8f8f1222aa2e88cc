// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in guests, or twice in one: what each fault of an RC request comes to on
 * both sides (IBTA 9.9.2 and 9.9.3). The client requests and the server is the
 * target. For each rule of the table both make a new queue pair and new memory;
 * the client posts one request. Then the status of its completion, that of the
 * target's receive, the target's asynchronous event, the states of both queue
 * pairs and all of both memories are compared with the table's.
 *
 * usage: rdma_errors -d DEVICE -g GID-INDEX ... [SERVER]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "rdma_pair.h"

#define SIZE		8192	/* of the region of each side, without guards */
#define LENGTH		3000	/* of a request: three packets */
#define ALL		PAIR_ACCESS
#define QP_ALL		(PAIR_ACCESS & ~IBV_ACCESS_LOCAL_WRITE)
#define NOTHING		-1
#define TARGET_BYTE	0x5a
#define SOURCE_BYTE	0xc3

enum receive {
	NO_RECEIVE,
	RECEIVE,
	SHORT_RECEIVE,
	RECEIVE_WRONG_KEY,
	RECEIVE_OUTSIDE,
	RECEIVE_OTHER_PD,
	RECEIVE_READ_ONLY,
};

/* Faults in what the client names as its own or the target's memory. */
enum fault {
	NO_FAULT,
	KEY,			/* its consumer byte is another */
	KEY_INDEX,
	KEY_ZERO,
	BELOW,			/* the range begins a byte before the region */
	ABOVE,			/* and ends a byte after it */
	WRAPPED,		/* and beyond 2^64 */
	OTHER_PD,		/* a region of another protection domain */
	MISALIGNED,
	GONE,			/* a region that was deregistered */
};

struct rule {
	const char *name;
	enum ibv_wr_opcode opcode;
	int length;		/* LENGTH when zero; EMPTY: zero */
	enum fault local;
	enum fault remote;
	int local_access;	/* of the memory of the client and, */
	int access;		/* when not zero, of the target; */
	int qp_access;		/* NOTHING: none */
	int no_reads;		/* the target takes no READ or atomic */
	enum receive receive;
	int status;		/* of the request */
	int receive_status;	/* NOTHING: no receive completes */
	int event;		/* at the target; NOTHING: none */
	bool target_in_error;
};

#define EMPTY	-1
#define ATOMIC	8

#define OK_RULE		.receive_status = NOTHING, .event = NOTHING
/* What fails before a packet is sent. */
#define LOCAL_FAULT	.status = IBV_WC_LOC_PROT_ERR, .receive_status = NOTHING, .event = NOTHING
/* A key, bound, protection domain or right of the target's memory. */
#define ACCESS_FAULT	.status = IBV_WC_REM_ACCESS_ERR, .receive_status = NOTHING,		\
			.event = IBV_EVENT_QP_ACCESS_ERR, .target_in_error = true
/* What the queue pair does not do. */
#define REQUEST_FAULT	.status = IBV_WC_REM_INV_REQ_ERR, .receive_status = NOTHING,		\
			.event = IBV_EVENT_QP_REQ_ERR, .target_in_error = true
/* The target's own receive. */
#define RECEIVE_FAULT	.status = IBV_WC_REM_OP_ERR, .receive_status = IBV_WC_LOC_PROT_ERR,	\
			.event = NOTHING, .target_in_error = true

#define WRITE		.opcode = IBV_WR_RDMA_WRITE
#define WRITE_IMM	.opcode = IBV_WR_RDMA_WRITE_WITH_IMM
#define READ		.opcode = IBV_WR_RDMA_READ
#define CAS		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .length = ATOMIC
#define FADD		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = ATOMIC
#define SEND		.opcode = IBV_WR_SEND
#define SEND_IMM	.opcode = IBV_WR_SEND_WITH_IMM

static const struct rule single[] = {
	/* What works, so that the program is known to see a difference. */
	{ "WRITE", WRITE, OK_RULE },
	{ "READ", READ, OK_RULE },
	{ "CAS", CAS, OK_RULE },
	{ "FETCH_ADD", FADD, OK_RULE },
	{ "SEND", SEND, .receive = RECEIVE, .event = NOTHING },
	{ "WRITE_IMM", WRITE_IMM, .receive = RECEIVE, .event = NOTHING },
	/* Without data no key is needed (IBTA C9-88), but a wrong one is refused. */
	{ "empty WRITE, key 0", WRITE, .length = EMPTY, .remote = KEY_ZERO, OK_RULE },
	{ "empty READ, key 0", READ, .length = EMPTY, .remote = KEY_ZERO, OK_RULE },
	{ "empty WRITE, above", WRITE, .length = EMPTY, .remote = ABOVE, OK_RULE },
	{ "empty WRITE, key", WRITE, .length = EMPTY, .remote = KEY, ACCESS_FAULT },
	{ "empty READ, key", READ, .length = EMPTY, .remote = KEY, ACCESS_FAULT },

	{ "WRITE, region without", WRITE, .access = ALL & ~IBV_ACCESS_REMOTE_WRITE, ACCESS_FAULT },
	{ "WRITE_IMM, region without", WRITE_IMM, .access = ALL & ~IBV_ACCESS_REMOTE_WRITE,
	  ACCESS_FAULT },
	{ "READ, region without", READ, .access = ALL & ~IBV_ACCESS_REMOTE_READ, ACCESS_FAULT },
	{ "CAS, region without", CAS, .access = ALL & ~IBV_ACCESS_REMOTE_ATOMIC, ACCESS_FAULT },
	{ "FETCH_ADD, region without", FADD, .access = ALL & ~IBV_ACCESS_REMOTE_ATOMIC,
	  ACCESS_FAULT },
	{ "CAS, misaligned", CAS, .remote = MISALIGNED, REQUEST_FAULT },
	{ "FETCH_ADD, misaligned", FADD, .remote = MISALIGNED, REQUEST_FAULT },
	{ "READ, too many", READ, .no_reads = 1, REQUEST_FAULT },
	{ "CAS, too many", CAS, .no_reads = 1, REQUEST_FAULT },

	{ "READ, local region without", READ, .local_access = IBV_ACCESS_REMOTE_READ,
	  LOCAL_FAULT },
	{ "CAS, local region without", CAS, .local_access = IBV_ACCESS_REMOTE_READ, LOCAL_FAULT },

	{ "WRITE_IMM, no receive", WRITE_IMM, .status = IBV_WC_RNR_RETRY_EXC_ERR,
	  .receive_status = NOTHING, .event = NOTHING },
	{ "WRITE_IMM, its receive, key", WRITE_IMM, .remote = KEY, .receive = RECEIVE,
	  .status = IBV_WC_REM_ACCESS_ERR, .receive_status = IBV_WC_WR_FLUSH_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR, .target_in_error = true },
};

/* Each fault of the remote segment, for each operation that has one. */
static const struct rule remote_operations[] = {
	{ "WRITE", WRITE }, { "WRITE_IMM", WRITE_IMM }, { "READ", READ }, { "CAS", CAS },
	{ "FETCH_ADD", FADD },
};

static const struct rule remote_faults[] = {
	{ "key", .remote = KEY, ACCESS_FAULT },
	{ "key's index", .remote = KEY_INDEX, ACCESS_FAULT },
	{ "key 0", .remote = KEY_ZERO, ACCESS_FAULT },
	{ "below", .remote = BELOW, ACCESS_FAULT },
	{ "above", .remote = ABOVE, ACCESS_FAULT },
	{ "wrapped", .remote = WRAPPED, ACCESS_FAULT },
	{ "protection domain", .remote = OTHER_PD, ACCESS_FAULT },
	{ "deregistered", .remote = GONE, ACCESS_FAULT },
	{ "queue pair without", .qp_access = NOTHING, REQUEST_FAULT },
};

/* Each fault of a local segment, for operations that read it and that write it. */
static const struct rule local_operations[] = {
	{ "WRITE", WRITE }, { "SEND", SEND }, { "READ", READ }, { "FETCH_ADD", FADD },
};

static const struct rule local_faults[] = {
	{ "local key", .local = KEY, LOCAL_FAULT },
	{ "local key's index", .local = KEY_INDEX, LOCAL_FAULT },
	{ "local key 0", .local = KEY_ZERO, LOCAL_FAULT },
	{ "below, local", .local = BELOW, LOCAL_FAULT },
	{ "above, local", .local = ABOVE, LOCAL_FAULT },
	{ "wrapped, local", .local = WRAPPED, LOCAL_FAULT },
	{ "protection domain, local", .local = OTHER_PD, LOCAL_FAULT },
	{ "deregistered, local", .local = GONE, LOCAL_FAULT },
};

/* Each fault of the receive. */
static const struct rule send_operations[] = {
	{ "SEND", SEND }, { "SEND_IMM", SEND_IMM },
};

static const struct rule receive_faults[] = {
	{ "no receive", .status = IBV_WC_RNR_RETRY_EXC_ERR, .receive_status = NOTHING,
	  .event = NOTHING },
	{ "short receive", .receive = SHORT_RECEIVE, .status = IBV_WC_REM_INV_REQ_ERR,
	  .receive_status = IBV_WC_LOC_LEN_ERR, .event = NOTHING, .target_in_error = true },
	{ "receive's key", .receive = RECEIVE_WRONG_KEY, RECEIVE_FAULT },
	{ "receive outside", .receive = RECEIVE_OUTSIDE, RECEIVE_FAULT },
	{ "receive's domain", .receive = RECEIVE_OTHER_PD, RECEIVE_FAULT },
	{ "receive read-only", .receive = RECEIVE_READ_ONLY, RECEIVE_FAULT },
};

static const struct rule *now_at;
static const char *now_side;
static int ran, failures;

static void wrong(const char *what, int have, int want)
{
	printf("%s, %s: %s: %d instead of %d\n", now_at->name, now_side, what, have, want);
	failures++;
}

static void compare(const char *what, int have, int want)
{
	if (have != want)
		wrong(what, have, want);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static struct ibv_wc wait_wc(struct pair *p)
{
	double end = now() + 20;
	struct ibv_wc wc = { 0 };

	while (!ibv_poll_cq(p->cq, 1, &wc))
		if (now() > end) {
			printf("%s, %s: no completion\n", now_at->name, now_side);
			exit(1);
		}
	return wc;
}

static int length_of(const struct rule *rule)
{
	return rule->length == EMPTY ? 0 : rule->length ? rule->length : LENGTH;
}

static enum ibv_qp_state state_of(struct pair *p)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(p->qp, &attr, IBV_QP_STATE, &init))
		pair_die("ibv_query_qp");
	return attr.qp_state;
}

/* The type of the next asynchronous event within @ms, NOTHING without. */
static int next_event(struct pair *p, int ms)
{
	struct pollfd fd = { .fd = p->context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&fd, 1, ms) != 1 || ibv_get_async_event(p->context, &event))
		return NOTHING;
	ibv_ack_async_event(&event);
	return event.event_type;
}

/* A region of another protection domain, and its domain. */
struct foreign {
	struct ibv_pd *pd;
	struct ibv_mr *mr;
};

static struct foreign foreign_of(struct pair *p)
{
	struct foreign f;

	f.pd = ibv_alloc_pd(p->context);
	f.mr = f.pd ? ibv_reg_mr(f.pd, p->buffer, p->buffer_size, p->access) : NULL;
	if (!f.mr)
		pair_die("ibv_reg_mr of another domain");
	return f;
}

static void foreign_free(struct foreign *f)
{
	if (ibv_dereg_mr(f->mr) || ibv_dealloc_pd(f->pd))
		pair_die("ibv_dereg_mr of another domain");
}

/* The key of a region that is no more, and whose number is not in use. */
static uint32_t key_gone(struct pair *p)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, p->buffer, p->buffer_size, p->access);
	uint32_t key;

	if (!mr)
		pair_die("ibv_reg_mr");
	key = mr->rkey;
	if (ibv_dereg_mr(mr))
		pair_die("ibv_dereg_mr");
	return key;
}

/* Keys that one side gives the other for a rule. */
struct keys {
	uint32_t foreign;
	uint32_t gone;
};

static void damage(enum fault fault, size_t region, int length, const struct keys *keys,
		   uint64_t *address, uint32_t *key)
{
	uint64_t begin = *address - GUARD;	/* regions include the guards */

	switch (fault) {
	case NO_FAULT:
		break;
	case KEY:
		*key ^= 1;
		break;
	case KEY_INDEX:
		*key ^= 0x800000;
		break;
	case KEY_ZERO:
		*key = 0;
		break;
	case BELOW:
		*address = begin - (length == ATOMIC ? ATOMIC : 1);
		break;
	case ABOVE:
		*address = begin + region - length + (length == ATOMIC ? ATOMIC : 1);
		break;
	case WRAPPED:
		*address = UINT64_MAX - 7;
		break;
	case OTHER_PD:
		*key = keys->foreign;
		break;
	case MISALIGNED:
		*address += 4;
		break;
	case GONE:
		*key = keys->gone;
		break;
	}
}

static void request(struct pair *p, const struct rule *rule, const struct keys *own,
		    const struct keys *other)
{
	int length = length_of(rule);
	struct ibv_sge sge = { p->own.address, length, p->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 77, .sg_list = &sge, .num_sge = length ? 1 : 0,
		.opcode = rule->opcode, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	uint64_t remote = p->other.address;
	uint32_t rkey = p->other.rkey;

	damage(rule->local, p->buffer_size, length, own, &sge.addr, &sge.lkey);
	damage(rule->remote, p->buffer_size, length, other, &remote, &rkey);
	if (length == ATOMIC) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 0x5a5a5a5a5a5a5a5aull;
		wr.wr.atomic.swap = 0;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = rkey;
	}
	if (ibv_post_send(p->qp, &wr, &bad))
		pair_die("ibv_post_send");
}

static void receive(struct pair *p, const struct rule *rule, const struct keys *own,
		    const struct ibv_mr *read_only)
{
	struct ibv_sge sge = { p->own.address, LENGTH, p->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 88, .sg_list = &sge, .num_sge = 1 }, *bad;

	switch (rule->receive) {
	case NO_RECEIVE:
		return;
	case RECEIVE:
		break;
	case SHORT_RECEIVE:
		sge.length = LENGTH - 1;
		break;
	case RECEIVE_WRONG_KEY:
		sge.lkey ^= 1;
		break;
	case RECEIVE_OUTSIDE:
		sge.addr += p->buffer_size;
		break;
	case RECEIVE_OTHER_PD:
		sge.lkey = own->foreign;
		break;
	case RECEIVE_READ_ONLY:
		sge.lkey = read_only->lkey;
		break;
	}
	if (ibv_post_recv(p->qp, &wr, &bad))
		pair_die("ibv_post_recv");
}

static bool is(const uint8_t *data, size_t length, uint8_t byte)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (data[i] != byte)
			return false;
	return true;
}

/* Nothing is written where a request may not write. */
static void look_at_memory(struct pair *p, const struct rule *rule)
{
	uint8_t *data = p->buffer + GUARD;
	size_t from = 0;

	if (p->server) {
		bool written = !rule->status && length_of(rule) &&
			       (rule->opcode == IBV_WR_RDMA_READ || rule->length == ATOMIC);

		if (written)
			from = length_of(rule);
		if (written && !is(data, from, TARGET_BYTE))
			wrong("data", 0, 1);
		if (!is(data + from, SIZE - from, SOURCE_BYTE))
			wrong("memory of the client", 1, 0);
		return;
	}
	/* What fits a receive that is too short, and a WRITE whose immediate found none. */
	if (rule->receive == SHORT_RECEIVE)
		from = LENGTH - 1;
	else if (rule->status == IBV_WC_RNR_RETRY_EXC_ERR &&
		 rule->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		from = LENGTH;
	else if (!rule->status && rule->opcode != IBV_WR_RDMA_READ)
		from = length_of(rule);
	if (!rule->status && from > ATOMIC && !is(data, from, SOURCE_BYTE))
		wrong("data", 0, 1);
	if (!is(data + from, SIZE - from, TARGET_BYTE) ||
	    !is(p->buffer, GUARD, GUARD_BYTE) ||
	    !is(p->buffer + GUARD + SIZE, GUARD, GUARD_BYTE))
		wrong("memory of the target", 1, 0);
}

static void run_client(struct pair *p, const struct rule *rule, const struct keys *own,
		       const struct keys *other)
{
	struct ibv_wc wc;

	request(p, rule, own, other);
	wc = wait_wc(p);
	compare("status", wc.status, rule->status);
	compare("work request", wc.wr_id, 77);
	compare("state", state_of(p), rule->status ? IBV_QPS_ERR : IBV_QPS_RTS);
	pair_meet(p);
	compare("event", next_event(p, 0), NOTHING);
}

static void run_server(struct pair *p, const struct rule *rule)
{
	struct ibv_wc wc;

	pair_meet(p);
	if (rule->receive != NO_RECEIVE) {
		if (rule->receive_status == NOTHING) {
			compare("completions", ibv_poll_cq(p->cq, 1, &wc), 0);
		} else {
			wc = wait_wc(p);
			compare("receive's status", wc.status, rule->receive_status);
			compare("receive", wc.wr_id, 88);
		}
	}
	compare("more completions", ibv_poll_cq(p->cq, 1, &wc), 0);
	compare("event", next_event(p, rule->event == NOTHING ? 0 : 5000), rule->event);
	compare("more events", next_event(p, 0), NOTHING);
	compare("state", state_of(p), rule->target_in_error ? IBV_QPS_ERR : IBV_QPS_RTS);
}

static void run(struct pair *p, const struct rule *rule)
{
	struct keys own, other;
	struct ibv_mr *read_only;
	struct foreign f;

	now_at = rule;
	ran++;
	p->access = p->server ? rule->local_access : rule->access;
	if (!p->access)
		p->access = ALL;
	p->qp_access = rule->qp_access == NOTHING ? 0 : rule->qp_access ? : QP_ALL;
	p->reads = rule->no_reads && !p->server ? 0 : DEPTH;
	pair_make_objects(p);
	memset(p->buffer, GUARD_BYTE, p->buffer_size);
	memset(p->buffer + GUARD, p->server ? SOURCE_BYTE : TARGET_BYTE, SIZE);
	f = foreign_of(p);
	own.foreign = f.mr->rkey;
	own.gone = key_gone(p);
	read_only = ibv_reg_mr(p->pd, p->buffer, p->buffer_size, 0);
	if (!read_only)
		pair_die("ibv_reg_mr");
	pair_exchange(p, &p->own, &p->other, sizeof(p->own));
	pair_exchange(p, &own, &other, sizeof(own));
	pair_connect_qp(p);
	if (!p->server)
		receive(p, rule, &own, read_only);
	pair_meet(p);
	if (p->server)
		run_client(p, rule, &own, &other);
	else
		run_server(p, rule);
	look_at_memory(p, rule);
	pair_meet(p);
	foreign_free(&f);
	if (ibv_dereg_mr(read_only))
		pair_die("ibv_dereg_mr");
	pair_free_objects(p);
}

static void run_each(struct pair *p, const struct rule *operations, size_t operation_count,
		     const struct rule *faults, size_t fault_count)
{
	char name[80];
	size_t o, f;

	for (o = 0; o < operation_count; o++) {
		for (f = 0; f < fault_count; f++) {
			struct rule rule = faults[f];

			snprintf(name, sizeof(name), "%s, %s", operations[o].name, rule.name);
			rule.name = name;
			rule.opcode = operations[o].opcode;
			rule.length = operations[o].length;
			run(p, &rule);
		}
	}
}

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static void run_all(struct pair *p)
{
	size_t i;

	for (i = 0; i < COUNT(single); i++)
		run(p, &single[i]);
	run_each(p, remote_operations, COUNT(remote_operations), remote_faults,
		 COUNT(remote_faults));
	run_each(p, local_operations, COUNT(local_operations), local_faults,
		 COUNT(local_faults));
	run_each(p, send_operations, COUNT(send_operations), receive_faults,
		 COUNT(receive_faults));
}

int main(int argc, char **argv)
{
	struct pair p = PAIR_DEFAULTS;
	int option;

	p.size_max = SIZE;
	p.rnr_retries = 1;
	while ((option = getopt(argc, argv, PAIR_OPTIONS)) != -1)
		if (pair_option(&p, option, optarg))
			return 64;
	if (optind < argc)
		p.server = argv[optind];
	if (!p.device)
		return 64;
	now_side = p.server ? "client" : "server";
	pair_open(&p);
	/* Events are looked for, not waited for. */
	if (fcntl(p.context->async_fd, F_SETFL, O_NONBLOCK))
		pair_die("fcntl");
	run_all(&p);
	printf("%d rules, %d failures\n", ran, failures);
	ibv_close_device(p.context);
	return failures ? 1 : 0;
}
