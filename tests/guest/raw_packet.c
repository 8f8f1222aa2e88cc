// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest: frames of a process, to another guest's process or socket.
 *
 * usage: raw_packet DEVICE receive PORT COUNT
 *        raw_packet DEVICE send FROM-MAC TO-MAC FROM-IP TO-IP PORT COUNT
 *        raw_packet DEVICE sniff ICMP ROCE
 *
 * receive says "ready", then waits for COUNT UDP datagrams over IPv4 to PORT
 * (for a minute) and prints the payload of each. send sends the payloads
 * "packet 0" and so on. sniff says "ready", waits for so many ICMP and RoCE v2
 * packets over IPv4 (for a minute), and says how many there were: "icmp N roce N".
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOT		2048
#define SLOTS		256
#define HEADERS		42
#define UDP		17
#define ICMP		1
#define ROCE_PORT	4791

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t *memory;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void receive_at(uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)memory + slot * SLOT, SLOT, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	must(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

static void prepare(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	struct ibv_qp_attr attr = { .port_num = 1 };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET, .cap = { 1, SLOTS, 1, 1, 0 }, .sq_sig_all = 1,
	};
	struct ibv_pd *pd;

	for (int i = 0; list && list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	must(!!context, "ibv_open_device");
	pd = ibv_alloc_pd(context);
	must(!!pd, "ibv_alloc_pd");
	cq = ibv_create_cq(context, 2 * SLOTS, NULL, NULL, 0);
	must(!!cq, "ibv_create_cq");
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	must(!!qp, "ibv_create_qp");
	memory = calloc(SLOTS, SLOT);
	must(!!memory, "calloc");
	mr = ibv_reg_mr(pd, memory, SLOTS * SLOT, IBV_ACCESS_LOCAL_WRITE);
	must(!!mr, "ibv_reg_mr");
	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		attr.qp_state = state;
		must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE |
				    (state == IBV_QPS_INIT ? IBV_QP_PORT : 0)), "ibv_modify_qp");
	}
}

/* False after @seconds. */
static int poll_one(struct ibv_wc *wc, double seconds)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		if (ibv_poll_cq(cq, 1, wc) == 1) {
			must(wc->status == IBV_WC_SUCCESS, ibv_wc_status_str(wc->status));
			return 1;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec + (now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
	return 0;
}

static void begin(struct ibv_flow_attr *flow)
{
	for (int i = 0; i < SLOTS; i++)
		receive_at(i);
	must(!!ibv_create_flow(qp, flow), "ibv_create_flow");
	printf("ready\n");
	fflush(stdout);
}

static void receive(int port, int count)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_ipv4_ext ip;
		struct ibv_flow_spec_tcp_udp udp;
	} flow = {
		.attr = { .size = sizeof(flow), .num_of_specs = 2, .port = 1 },
		.ip = { .type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof(flow.ip) },
		.udp = {
			.type = IBV_FLOW_SPEC_UDP, .size = sizeof(flow.udp),
			.val.dst_port = htons(port), .mask.dst_port = 0xffff,
		},
	};
	struct ibv_wc wc;

	begin(&flow.attr);
	while (count--) {
		uint8_t *frame;

		must(poll_one(&wc, 60), "no packet");
		frame = memory + wc.wr_id * SLOT;
		printf("%.*s\n", ntohs(*(uint16_t *)(frame + 38)) - 8, frame + HEADERS);
		receive_at(wc.wr_id);
	}
}

static void sniff(unsigned int icmp_wanted, unsigned int roce_wanted)
{
	struct ibv_flow_attr flow = {
		.type = IBV_FLOW_ATTR_SNIFFER, .size = sizeof(flow), .port = 1,
	};
	unsigned int icmp = 0, roce = 0;
	time_t end = time(NULL) + 60;
	struct ibv_wc wc;

	begin(&flow);
	while ((icmp < icmp_wanted || roce < roce_wanted) && time(NULL) < end) {
		const uint8_t *frame;

		if (!poll_one(&wc, 0.1))
			continue;
		frame = memory + wc.wr_id * SLOT;
		if (frame[12] == 8 && frame[13] == 0) {
			icmp += frame[23] == ICMP;
			roce += frame[23] == UDP && *(uint16_t *)(frame + 36) == htons(ROCE_PORT);
		}
		receive_at(wc.wr_id);
	}
	printf("icmp %u roce %u\n", icmp, roce);
}

static void put_mac(uint8_t *to, const char *text)
{
	must(sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", to, to + 1, to + 2, to + 3, to + 4,
		    to + 5) == 6, text);
}

static void send_all(char **argv)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .lkey = mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	uint8_t *frame = memory;
	struct ibv_wc wc;

	put_mac(frame + 6, argv[0]);
	put_mac(frame, argv[1]);
	memcpy(frame + 12, "\x08\0\x45", 3);
	frame[22] = 64;
	frame[23] = UDP;
	must(inet_pton(AF_INET, argv[2], frame + 26) == 1, argv[2]);
	must(inet_pton(AF_INET, argv[3], frame + 30) == 1, argv[3]);
	*(uint16_t *)(frame + 34) = htons(1000);
	*(uint16_t *)(frame + 36) = htons(atoi(argv[4]));
	for (int i = 0; i < atoi(argv[5]); i++) {
		int length = sprintf((char *)frame + HEADERS, "packet %d", i);
		uint32_t sum = 0;

		*(uint16_t *)(frame + 16) = htons(28 + length);
		*(uint16_t *)(frame + 24) = 0;
		*(uint16_t *)(frame + 38) = htons(8 + length);
		for (int at = 14; at < 34; at += 2)
			sum += ntohs(*(uint16_t *)(frame + at));
		sum = (sum & 0xffff) + (sum >> 16);
		*(uint16_t *)(frame + 24) = htons(~(sum + (sum >> 16)));
		sge.length = HEADERS + length;
		must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
		must(poll_one(&wc, 10), "no completion");
	}
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: raw_packet DEVICE receive|send|sniff ARGS...\n");
		return 2;
	}
	prepare(argv[1]);
	if (!strcmp(argv[2], "receive") && argc == 5)
		receive(atoi(argv[3]), atoi(argv[4]));
	else if (!strcmp(argv[2], "send") && argc == 9)
		send_all(argv + 3);
	else if (!strcmp(argv[2], "sniff") && argc == 5)
		sniff(atoi(argv[3]), atoi(argv[4]));
	else
		return 2;
	return 0;
}
