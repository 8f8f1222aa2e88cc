// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: how fast the packet path is on one core: two NICs and both their hosts
 * in one thread, joined by a wire that costs nothing. Everything of a message
 * is in it: work request, headers, payload, ICRC where it is computed,
 * responder, acknowledge, completion.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_rdma.h"

#define BUFFER_BYTES	(8 << 20)
#define SECONDS		1.0

struct load {
	const char *name;
	uint8_t opcode;
	uint32_t length;
	unsigned int depth;
	unsigned int signal_every;
	/* What it is to reach, without shortcuts; 0: nothing. */
	double goal_bytes, goal_messages;
};

static const struct load loads[] = {
	{ "RC WRITE 64 KiB", TERN_WQE_WRITE, 65536, 32, 1, 1e9, 0 },
	{ "RC READ 64 KiB", TERN_WQE_READ, 65536, 16, 1, 0, 0 },
	{ "RC SEND 64 KiB", TERN_WQE_SEND, 65536, 32, 1, 0, 0 },
	{ "RC WRITE 8 B", TERN_WQE_WRITE, 8, 256, 16, 0, 500000 },
	{ "RC SEND 8 B", TERN_WQE_SEND, 8, 128, 16, 0, 0 },
};

/* Of this process on its core: other load on the machine does not count. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void post(struct rdma_pair *pair, const struct load *load, unsigned int number)
{
	uint64_t offset = (uint64_t)(number % load->depth) * load->length %
			  (BUFFER_BYTES - load->length + 1);
	struct rdma_request request = {
		.opcode = load->opcode, .length = load->length,
		.address = pair->a.buffer + offset, .remote_address = pair->b.buffer + offset,
		.unsignaled = (number + 1) % load->signal_every,
	};

	if (load->opcode == TERN_WQE_SEND)
		rdma_post_receive(&pair->b, offset, load->length);
	rdma_post(pair, &pair->a, &request);
}

/* Completions of a CQ; ends the program on an error. */
static unsigned int reap(struct driver_cq *cq)
{
	struct tern_cqe cqe;
	unsigned int count = 0;

	while (driver_cq_poll(cq, &cqe)) {
		if (cqe.status) {
			fprintf(stderr, "bench: completion with status %u\n", cqe.status);
			exit(1);
		}
		count++;
	}
	return count;
}

static bool measure(const struct load *load, bool no_shortcuts)
{
	struct rdma_options options = {
		.no_shortcuts = no_shortcuts, .buffer_bytes = BUFFER_BYTES, .sq_shift = 12,
		.rq_shift = 9,
	};
	unsigned int posted = 0, done = 0;
	double start, now, messages, bytes;
	struct rdma_pair pair;
	bool met = true;

	rdma_pair_create(&pair, &options);
	pair.world->real_clock = true;
	rdma_fill(rdma_memory(&pair.a, 0), BUFFER_BYTES, 1);
	start = seconds();
	do {
		for (unsigned int round = 0; round < 64; round++) {
			while (posted - done < load->depth)
				post(&pair, load, posted++);
			host_run(pair.a.machine, 64);
			host_run(pair.b.machine, 64);
			done += reap(&pair.a.send_cq) * load->signal_every;
			reap(&pair.b.receive_cq);
		}
		now = seconds();
	} while (now - start < SECONDS);
	messages = done / (now - start);
	bytes = messages * load->length;
	if (no_shortcuts)
		met = messages >= load->goal_messages && bytes >= load->goal_bytes;
	printf("%-16s %-17s %7.2f GB/s %9.0f messages/s %6.2f us each%s\n", load->name,
	       no_shortcuts ? "without shortcuts" : "with shortcuts", bytes / 1e9, messages,
	       1e6 / messages, met ? "" : "  (below the goal)");
	if (rdma_counter(&pair.a, "retransmitted_packets"))
		printf("  %llu packets were sent again\n",
		       (unsigned long long)rdma_counter(&pair.a, "retransmitted_packets"));
	rdma_pair_destroy(&pair);
	return met;
}

int main(void)
{
	bool met = true;

	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		met &= measure(&loads[i], true);
		met &= measure(&loads[i], false);
	}
	printf("goals without shortcuts: RC WRITE 64 KiB at 1 GB/s, 8 B at 500000 a second: %s\n",
	       met ? "met" : "not met");
	return met ? 0 : 1;
}
