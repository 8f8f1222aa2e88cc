// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: NICs and a switch on one virtual clock. */
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "tern_test.h"

#define NODE_MEMORY	(UINT64_C(64) << 20)
#define FLOW_BUFFER	(UINT64_C(256) << 10)

static uint64_t switch_now(void *host)
{
	return ((struct fabric *)host)->world->now;
}

static void switch_set_timer(void *host, uint64_t deadline)
{
	((struct fabric *)host)->world->timer_deadline = deadline;
}

/* The switch transmits from its timer only: no NIC is inside a call then. */
static void switch_transmit(void *host, unsigned int port, const struct tern_frame *frame)
{
	struct fabric *fabric = host;

	host_receive(fabric->node[port].machine, frame);
}

static const struct tern_switch_host switch_ops = {
	.now = switch_now,
	.set_timer = switch_set_timer,
	.transmit = switch_transmit,
};

static void run_switch(void *context)
{
	tern_switch_timer(((struct fabric *)context)->sw);
}

static bool to_switch(struct machine *machine, const struct tern_frame *frame)
{
	struct fabric *fabric = machine->private;

	for (unsigned int i = 0; i < fabric->nics; i++) {
		if (fabric->node[i].machine == machine)
			tern_switch_receive(fabric->sw, i, frame);
	}
	return false;
}

void fabric_create(struct fabric *fabric, unsigned int nics, uint64_t speed_mbps,
		   const struct tern_switch_config *config, const struct rdma_options *options)
{
	struct tern_nic_config nic = {
		.functions = 1, .speed_mbps = speed_mbps, .device_memory = HOST_DEVICE_MEMORY,
	};
	char error[200] = "";

	memset(fabric, 0, sizeof(*fabric));
	fabric->world = world_create();
	fabric->nics = nics;
	fabric->config = *config;
	fabric->config.ports = nics;
	if (options)
		fabric->options = *options;
	if (!fabric->options.buffer_bytes)
		fabric->options.buffer_bytes = FLOW_BUFFER;
	for (unsigned int i = 0; i < nics; i++) {
		if (!fabric->config.port[i].speed_mbps)
			fabric->config.port[i].speed_mbps = speed_mbps;
	}
	fabric->sw = tern_switch_create(&fabric->config, &switch_ops, fabric, error,
					sizeof(error));
	if (!fabric->sw)
		FAIL("tern_switch_create: %s", error);
	fabric->world->timer = run_switch;
	fabric->world->timer_context = fabric;
	for (unsigned int i = 0; i < nics; i++) {
		struct machine *machine;

		nic.seed = i + 1;
		machine = machine_create(fabric->world, &nic, NODE_MEMORY);
		machine->private = fabric;
		machine->on_transmit = to_switch;
		fabric->node[i].machine = machine;
		tern_nic_set_carrier(machine->nic, true);
		tern_switch_set_carrier(fabric->sw, i, true);
		rdma_side_start(&fabric->node[i], machine, &fabric->options, i);
	}
}

void fabric_destroy(struct fabric *fabric)
{
	for (unsigned int i = 0; i < fabric->flows; i++)
		free(fabric->flow[i]);
	for (unsigned int i = 0; i < fabric->nics; i++)
		fabric->node[i].machine->on_transmit = NULL;
	/* The switch reads the world's clock to its end. */
	tern_switch_destroy(fabric->sw);
	world_destroy(fabric->world);
}

struct fabric_flow *fabric_connect(struct fabric *fabric, unsigned int from, unsigned int to,
				   uint32_t message, unsigned int depth)
{
	struct fabric_flow *flow = calloc(1, sizeof(*flow));
	struct rdma_side *sides[2];

	CHECK(flow && fabric->flows < FABRIC_FLOWS && from < fabric->nics && to < fabric->nics);
	fabric->flow[fabric->flows++] = flow;
	flow->message = message;
	flow->depth = depth;
	flow->pair.world = fabric->world;
	flow->pair.options = fabric->options;
	flow->pair.a = fabric->node[from];
	flow->pair.b = fabric->node[to];
	flow->pair.a.driver = fabric->node[from].driver;
	flow->pair.b.driver = fabric->node[to].driver;
	flow->pair.b.is_b = true;
	sides[0] = &flow->pair.a;
	sides[1] = &flow->pair.b;
	for (int i = 0; i < 2; i++)
		rdma_side_objects(sides[i], &fabric->options);
	for (int i = 0; i < 2; i++) {
		struct tern_qp_attributes attributes;

		rdma_attributes(sides[i], sides[!i], &fabric->options, !i, &attributes);
		CHECK_EQ(rdma_to_rtr(sides[i], &attributes), 0);
		CHECK_EQ(rdma_to_rts(sides[i], &attributes), 0);
	}
	return flow;
}

static bool keep_busy(void *arg)
{
	struct fabric *fabric = arg;
	struct tern_cqe cqe;

	for (unsigned int i = 0; i < fabric->flows; i++) {
		struct fabric_flow *flow = fabric->flow[i];
		struct rdma_request request = {
			.opcode = TERN_WQE_WRITE, .length = flow->message,
		};

		while (driver_cq_poll(&flow->pair.a.send_cq, &cqe)) {
			flow->outstanding--;
			if (cqe.status == TERN_WC_SUCCESS) {
				flow->bytes += flow->message;
			} else {
				flow->errors++;
				flow->depth = 0;
			}
		}
		while (flow->outstanding < flow->depth) {
			rdma_post(&flow->pair, &flow->pair.a, &request);
			flow->outstanding++;
		}
	}
	return false;
}

void fabric_run(struct fabric *fabric, uint64_t ns)
{
	uint64_t end = fabric->world->now + ns;

	for (unsigned int i = 0; i < fabric->flows; i++)
		fabric->flow[i]->bytes_before = fabric->flow[i]->bytes;
	world_wait(fabric->world, keep_busy, fabric, ns);
	if (fabric->world->now < end)
		world_advance(fabric->world, end - fabric->world->now);
	fabric->run_ns = ns;
}

double fabric_throughput(const struct fabric *fabric, const struct fabric_flow *flow)
{
	return (double)(flow->bytes - flow->bytes_before) * 8000.0 / (double)fabric->run_ns;
}

double fabric_fairness(const struct fabric *fabric, unsigned int count)
{
	double sum = 0, squares = 0;

	for (unsigned int i = 0; i < count; i++) {
		double rate = fabric_throughput(fabric, fabric->flow[i]);

		sum += rate;
		squares += rate * rate;
	}
	return squares > 0 ? sum * sum / (count * squares) : 0;
}

uint64_t fabric_counter(struct fabric *fabric, unsigned int nic, const char *name)
{
	return host_counter(fabric->node[nic].machine, 0, name);
}

struct tern_switch_port_statistics fabric_port(const struct fabric *fabric, unsigned int port)
{
	struct tern_switch_port_statistics statistics;

	tern_switch_get_statistics(fabric->sw, port, &statistics);
	return statistics;
}

uint64_t fabric_drops(const struct fabric *fabric)
{
	uint64_t drops = 0;

	for (unsigned int i = 0; i < fabric->nics; i++) {
		struct tern_switch_port_statistics port = fabric_port(fabric, i);

		for (unsigned int p = 0; p < TERN_SWITCH_PRIORITIES; p++)
			drops += port.priority[p].rx_drops + port.priority[p].tx_drops +
				 port.priority[p].wred_drops;
	}
	return drops;
}

uint64_t fabric_pauses(const struct fabric *fabric)
{
	uint64_t pauses = 0;

	for (unsigned int i = 0; i < fabric->nics; i++)
		pauses += fabric_port(fabric, i).pause_frames_sent;
	return pauses;
}
