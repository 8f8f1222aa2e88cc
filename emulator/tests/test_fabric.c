// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: NICs and a switch on one clock. */
#include "fabric.h"
#include "tern_test.h"

TERN_TEST(two_nics_write_through_the_switch)
{
	struct tern_switch_config config = { .seed = 1 };
	struct fabric fabric;
	struct fabric_flow *flow;

	fabric_create(&fabric, 2, 100000, &config, NULL);
	flow = fabric_connect(&fabric, 0, 1, 65536, 8);
	rdma_fill(rdma_memory(&flow->pair.a, 0), 65536, 7);
	fabric_run(&fabric, 1000000);
	fabric_run(&fabric, 1000000);
	CHECK_EQ(flow->errors, 0);
	CHECK_MEM(rdma_memory(&flow->pair.b, 0), rdma_memory(&flow->pair.a, 0), 65536);
	/* 4096 of every 4096 + 58 + 24 bytes or more are payload. */
	CHECK(fabric_throughput(&fabric, flow) > 94000);
	CHECK(fabric_throughput(&fabric, flow) < 98500);
	CHECK_EQ(fabric_drops(&fabric), 0);
	CHECK_EQ(fabric_counter(&fabric, 0, "retransmitted_packets"), 0);
	CHECK(fabric_port(&fabric, 1).priority[0].tx_packets > 2 * 2800);
	fabric_destroy(&fabric);
}

/* Neither PFC nor ECN: the buffer overflows, and senders retransmit. */
TERN_TEST(incast_of_plain_ethernet_drops)
{
	struct tern_switch_config config = { .seed = 1 };
	struct fabric fabric;

	fabric_create(&fabric, 9, 100000, &config, NULL);
	for (unsigned int i = 0; i < 8; i++)
		fabric_connect(&fabric, i, 8, 65536, 16);
	fabric_run(&fabric, 2000000);
	CHECK(fabric_drops(&fabric) > 0);
	CHECK_EQ(fabric_pauses(&fabric), 0);
	fabric_destroy(&fabric);
}
