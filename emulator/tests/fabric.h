/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: NICs and a switch on one virtual clock: NIC i is at port i, and RC
 * connections between them are kept busy with WRITEs.
 */
#ifndef TERN_FABRIC_H
#define TERN_FABRIC_H

#include "host_rdma.h"
#include "tern_switch.h"

#define FABRIC_FLOWS	64

struct fabric_flow {
	struct rdma_pair pair;		/* a sends to b */
	uint32_t message;		/* bytes of a WRITE */
	unsigned int depth;		/* WRITEs that are outstanding; 0: none is posted */
	unsigned int outstanding;
	uint64_t bytes;			/* acknowledged since it was made */
	uint64_t bytes_before;		/* ...when the last run began */
	uint64_t errors;		/* completions with another status than success */
};

struct fabric {
	struct world *world;
	struct tern_switch *sw;
	struct tern_switch_config config;
	struct rdma_options options;
	unsigned int nics;
	struct rdma_side node[TERN_SWITCH_PORTS];
	struct fabric_flow *flow[FABRIC_FLOWS];
	unsigned int flows;
	uint64_t run_ns;		/* how long the last run was */
};

/*
 * @nics NICs of @speed_mbps; so fast are the switch's ports that have no speed
 * in @config, whose ports are set. @options (may be NULL) are those of all
 * connections; priorities are by its service_level or traffic_class.
 */
void fabric_create(struct fabric *fabric, unsigned int nics, uint64_t speed_mbps,
		   const struct tern_switch_config *config, const struct rdma_options *options);
void fabric_destroy(struct fabric *fabric);
/* Connect @from to @to. With @depth it sends as soon as time passes, and for ever. */
struct fabric_flow *fabric_connect(struct fabric *fabric, unsigned int from, unsigned int to,
				   uint32_t message, unsigned int depth);
/* Let @ns pass. */
void fabric_run(struct fabric *fabric, uint64_t ns);
/* Mb/s of payload acknowledged in the last run. */
double fabric_throughput(const struct fabric *fabric, const struct fabric_flow *flow);
/* Jain's index of the throughputs of flows [0, @count): 1 is equal. */
double fabric_fairness(const struct fabric *fabric, unsigned int count);
uint64_t fabric_counter(struct fabric *fabric, unsigned int nic, const char *name);
struct tern_switch_port_statistics fabric_port(const struct fabric *fabric, unsigned int port);
/* Frames that the switch dropped, and pause frames that it sent, on all ports. */
uint64_t fabric_drops(const struct fabric *fabric);
uint64_t fabric_pauses(const struct fabric *fabric);

#endif /* TERN_FABRIC_H */
