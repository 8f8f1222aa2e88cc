// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: what processes share of extended reliable connections: domains and targets. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "rules_xrc.h"

/* A target of the one domain has a message for an SRQ of the other: they are the same. */
static void reaches(struct ibv_xrcd *of_target, struct ibv_xrcd *of_srq)
{
	struct xrc x = {
		.cq = cq_new(64, NULL), .to = xrc_target_new(of_target),
		.srqs = { named_new(of_srq), named_new(of_srq) }, .out = buffer_new(2 * SLOT, 0),
	};

	x.from = qp_new(IBV_QPT_XRC_SEND, x.cq, XRC_CAP);
	xrc_connect(&x, PATIENT);
	xrc_message(&x, &x.srqs[0], IBV_WR_SEND, 100);
	REQUIRE(ibv_close_xrcd(of_target) == EBUSY);
	REQUIRE(!ibv_destroy_qp(x.from));
	REQUIRE(!ibv_destroy_qp(x.to));
	REQUIRE(ibv_close_xrcd(of_srq) == EBUSY);
	named_free(&x.srqs[0]);
	REQUIRE(ibv_close_xrcd(of_srq) == EBUSY);
	named_free(&x.srqs[1]);
	REQUIRE(!ibv_destroy_cq(x.cq));
	buffer_free(&x.out);
}

static int temporary(char *path)
{
	int fd;

	strcpy(path, "/tmp/xrcXXXXXX");
	fd = mkstemp(path);
	REQUIRE(fd >= 0);
	return fd;
}

void test_xrc_domains(void)
{
	struct ibv_xrcd *domain, *first, *second;
	char path[32], other_path[32];
	int fd = temporary(path), other = temporary(other_path), again = open(path, O_RDONLY);

	REQUIRE(dev.attr.device_cap_flags & IBV_DEVICE_XRC);
	domain = xrcd_new();
	reaches(domain, domain);
	REQUIRE(!ibv_close_xrcd(domain));

	/* A file's domain: who has the file, by whatever descriptor, has the domain. */
	REQUIRE(!xrcd_open(fd, 0) && errno == EAGAIN);
	first = xrcd_open(fd, O_CREAT | O_EXCL);
	REQUIRE(first);
	REQUIRE(!xrcd_open(again, O_CREAT | O_EXCL) && errno == EINVAL);
	REQUIRE(!xrcd_open(other, 0) && errno == EAGAIN);
	second = xrcd_open(again, 0);
	REQUIRE(second);
	reaches(first, second);
	reaches(second, first);
	REQUIRE(!ibv_close_xrcd(first));
	reaches(second, second);
	first = xrcd_open(fd, O_CREAT);
	REQUIRE(first);
	reaches(first, second);
	REQUIRE(!ibv_close_xrcd(second));
	REQUIRE(!ibv_close_xrcd(first));
	REQUIRE(!xrcd_open(fd, 0) && errno == EAGAIN);
	REQUIRE(!xrcd_open(12345, O_CREAT) && errno == EBADF);
	REQUIRE(!close(fd) && !close(again) && !close(other));
	REQUIRE(!unlink(path) && !unlink(other_path));
}

#define CHANNEL	STDIN_FILENO

/* What the two processes of a test tell each other: a file, a queue, and memory. */
struct note {
	char path[32];
	uint32_t number, key;
	uint64_t address;
};

static void tell(int to, struct note note)
{
	REQUIRE(write(to, &note, sizeof(note)) == sizeof(note));
}

static struct note hear(int from)
{
	struct note note;

	REQUIRE(read(from, &note, sizeof(note)) == sizeof(note));
	return note;
}

/*
 * Another test of this program, in a process that opens the device for itself. Not by
 * fork(), for which see rules_windows.c.
 */
static pid_t start(const char *test, int *channel)
{
	char program[] = "/proc/self/exe", name[32], device[64], index[16];
	char *arguments[5] = { program, device, index, name };
	posix_spawn_file_actions_t actions;
	int ends[2];
	pid_t pid;

	snprintf(device, sizeof(device), "%s", dev.name);
	snprintf(index, sizeof(index), "%d", dev.gid_index);
	snprintf(name, sizeof(name), "%s", test);
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	REQUIRE(!posix_spawn_file_actions_init(&actions));
	REQUIRE(!posix_spawn_file_actions_adddup2(&actions, ends[1], CHANNEL));
	REQUIRE(!posix_spawn(&pid, program, &actions, NULL, arguments, environ));
	REQUIRE(!posix_spawn_file_actions_destroy(&actions));
	REQUIRE(!close(ends[1]));
	*channel = ends[0];
	return pid;
}

static void end(pid_t pid, int channel)
{
	int status;

	REQUIRE(waitpid(pid, &status, 0) == pid && !status);
	REQUIRE(!close(channel));
}

static pid_t start_with(const char *test, const char *path, uint32_t qpn, int *channel)
{
	struct note first = { .number = qpn };
	pid_t pid = start(test, channel);

	strcpy(first.path, path);
	tell(*channel, first);
	return pid;
}

/* Was this process started by start()? Else it is no test by itself. */
static bool started(void)
{
	struct stat status;

	return !fstat(CHANNEL, &status) && S_ISSOCK(status.st_mode);
}

static struct ibv_xrcd *xrcd_of(const char *path, int oflags)
{
	int fd = open(path, O_RDONLY);
	struct ibv_xrcd *xrcd;

	REQUIRE(fd >= 0);
	xrcd = xrcd_open(fd, oflags);
	REQUIRE(xrcd && !close(fd));
	return xrcd;
}

static void target_to(struct ibv_qp *qp, uint32_t initiator)
{
	to_init(qp);
	to_rts(qp, initiator, PATIENT);
}

/* Receives by a target that another process made, and keeps it when that one lets it go. */
void xrc_receiver(void)
{
	struct note first;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *to;
	struct named n;
	uint32_t qpn;
	int i;

	if (!started())
		return;
	first = hear(CHANNEL);
	xrcd = xrcd_of(first.path, 0);
	qpn = first.number;
	to = xrc_target_open(xrcd, qpn);
	n = named_new(xrcd);
	REQUIRE(to && to->qp_num == qpn && state_of(to) == IBV_QPS_RTS);
	for (i = 0; i < 4; i++)
		named_post(&n);
	tell(CHANNEL, (struct note){
		.number = n.number, .key = n.b.mr->rkey,
		.address = (uintptr_t)n.b.data + WRITTEN });
	REQUIRE(named_arrived(&n, qpn).opcode == IBV_WC_RECV);
	REQUIRE(named_arrived(&n, qpn).opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	REQUIRE(!memcmp(n.b.data, n.b.data + WRITTEN, 5000));
	tell(CHANNEL, (struct note){ .number = 0 });

	/* ib_uverbs tells of its errors who made it only; anyone may connect it anew. */
	i = hear(CHANNEL).number;
	REQUIRE(state_of(to) == IBV_QPS_ERR);
	to_state(to, IBV_QPS_RESET);
	target_to(to, i);
	tell(CHANNEL, (struct note){ .number = 0 });
	REQUIRE(named_arrived(&n, qpn).byte_len == 5000);
	tell(CHANNEL, (struct note){ .number = 0 });
	hear(CHANNEL);
	REQUIRE(!ibv_destroy_qp(to));
	REQUIRE(!xrc_target_open(xrcd, qpn) && errno == EINVAL);
	named_free(&n);
	REQUIRE(!ibv_close_xrcd(xrcd));
	tell(CHANNEL, (struct note){ .number = 0 });
}

static void connect_initiator(struct xrc *x, struct timing timing)
{
	to_state(x->from, IBV_QPS_RESET);
	to_init(x->from);
	to_rts(x->from, x->to->qp_num, timing);
}

/* A target is of everyone who has opened it, and there as long as one of them has. */
void test_xrc_processes(void)
{
	struct timing short_lived = { .timeout = 14, .retries = 2 };
	struct ibv_sge sge;
	struct ibv_qp *again;
	struct note note;
	char path[32];
	int channel, i;
	struct xrc x;
	pid_t pid;

	REQUIRE(!close(temporary(path)));
	x = xrc_in(xrcd_of(path, O_CREAT), PATIENT);
	xrc_message(&x, &x.srqs[0], IBV_WR_SEND, 100);
	pid = start_with("xrc_receiver", path, x.to->qp_num, &channel);
	note = hear(channel);
	sge = sge_of(&x.out, 0, 5000);
	for (i = 0; i < 2; i++) {
		struct ibv_send_wr wr = {
			.wr_id = 77, .sg_list = &sge, .num_sge = 1,
			.opcode = i ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { note.address, note.key },
			.qp_type.xrc.remote_srqn = note.number,
		};

		REQUIRE(!post_send(x.from, wr));
		xrc_sent(&x, i ? IBV_WC_RDMA_WRITE : IBV_WC_SEND);
	}
	hear(channel);
	/* The process's messages are not its parent's. */
	xrc_message(&x, &x.srqs[1], IBV_WR_SEND, 100);

	again = xrc_target_open(x.xrcd, x.to->qp_num);
	REQUIRE(again && again != x.to);
	REQUIRE(!post_send(x.from, (struct ibv_send_wr){
		.opcode = IBV_WR_SEND, .qp_type.xrc.remote_srqn = 0xabcdef }));
	REQUIRE(wait_wc(x.cq).status == IBV_WC_REM_INV_REQ_ERR);
	REQUIRE(expect_async(IBV_EVENT_QP_REQ_ERR).element.qp == x.to);
	REQUIRE(state_of(again) == IBV_QPS_ERR);
	tell(channel, (struct note){ .number = x.from->qp_num });
	hear(channel);
	REQUIRE(state_of(x.to) == IBV_QPS_RTS);
	REQUIRE(!ibv_destroy_qp(again));

	/* Who made it lets it go: it stays the other's. */
	connect_initiator(&x, PATIENT);
	REQUIRE(!ibv_destroy_qp(x.to));
	REQUIRE(!post_send(x.from, (struct ibv_send_wr){
		.wr_id = 77, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED, .qp_type.xrc.remote_srqn = note.number }));
	xrc_sent(&x, IBV_WC_SEND);
	hear(channel);
	tell(channel, (struct note){ .number = 0 });
	hear(channel);
	end(pid, channel);

	/* Now it is nobody's, and gone. */
	x.to = xrc_target_new(x.xrcd);
	connect_initiator(&x, short_lived);
	REQUIRE(!post_send(x.from, named_wr(&x.srqs[0], IBV_WR_SEND, &sge)));
	REQUIRE(wait_wc(x.cq).status == IBV_WC_RETRY_EXC_ERR);
	xrc_free(&x);
	REQUIRE(!unlink(path));
}

/* Makes a target for the initiator that it is told of, and leaves it as it is. */
void xrc_creator(void)
{
	struct note first;
	struct ibv_qp *to;

	if (!started())
		return;
	first = hear(CHANNEL);
	to = xrc_target_new(xrcd_of(first.path, 0));
	target_to(to, first.number);
	tell(CHANNEL, (struct note){ .number = to->qp_num });
	hear(CHANNEL);
	exit(0);
}

/* Who made a target has ended. */
void test_xrc_orphans(void)
{
	struct ibv_xrcd *elsewhere = xrcd_new();
	char path[32];
	int channel;
	uint32_t qpn;
	struct xrc x;
	pid_t pid;

	REQUIRE(!close(temporary(path)));
	x = xrc_in(xrcd_of(path, O_CREAT), PATIENT);
	pid = start_with("xrc_creator", path, x.from->qp_num, &channel);
	qpn = hear(channel).number;
	REQUIRE(qpn != x.to->qp_num);
	/* It is the domain's, and it is no initiator. */
	REQUIRE(!xrc_target_open(elsewhere, qpn) && errno == EINVAL);
	REQUIRE(!xrc_target_open(x.xrcd, x.from->qp_num) && errno == EINVAL);
	REQUIRE(!xrc_target_open(x.xrcd, 0xabcdef) && errno == EINVAL);
	REQUIRE(!ibv_destroy_qp(x.to));
	x.to = xrc_target_open(x.xrcd, qpn);
	REQUIRE(x.to);
	connect_initiator(&x, PATIENT);
	xrc_message(&x, &x.srqs[0], IBV_WR_SEND, 100);
	tell(channel, (struct note){ .number = 0 });
	end(pid, channel);
	xrc_message(&x, &x.srqs[0], IBV_WR_SEND_WITH_IMM, 5000);
	xrc_memory(&x, &x.srqs[1]);
	REQUIRE(state_of(x.to) == IBV_QPS_RTS);
	REQUIRE(!ibv_destroy_qp(x.to));
	REQUIRE(!xrc_target_open(x.xrcd, qpn) && errno == EINVAL);

	/* One that nobody else has opened goes with its process. */
	pid = start_with("xrc_creator", path, x.from->qp_num, &channel);
	qpn = hear(channel).number;
	tell(channel, (struct note){ .number = 0 });
	end(pid, channel);
	REQUIRE(!xrc_target_open(x.xrcd, qpn) && errno == EINVAL);

	x.to = xrc_target_new(x.xrcd);
	xrc_free(&x);
	REQUIRE(!ibv_close_xrcd(elsewhere));
	REQUIRE(!unlink(path));
}
