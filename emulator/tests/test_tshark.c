// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: every kind of RoCE packet, as tshark sees it: none is malformed, and
 * opcode, PSN, padding and payload are what was asked for.
 */
#include <endian.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture.h"
#include "host_rdma.h"
#include "tern_test.h"

#define MTU		1024
#define PSN		0xfffff0	/* it wraps */
#define PACKETS_MAX	2048

struct packet {
	unsigned int opcode;
	uint32_t psn;
	size_t payload;
	size_t below;			/* headers below the transport's */
	bool v1;
};

/* By operation: opcodes of a packet that is the only one, first, middle, last. */
struct opcodes {
	uint8_t only, first, middle, last;
};

static struct rdma_pair pair;
static struct tern_loop *loop;
static struct tern_capture *capture;
static char directory[32], path[64];
static struct packet packets[PACKETS_MAX];	/* as they should be, in order */
static unsigned int packet_count;
static uint32_t next_psn;

static bool into_capture(struct machine *machine, const struct tern_frame *frame)
{
	(void)machine;
	CHECK_EQ(tern_capture_frame(capture, frame), 0);
	return true;
}

static void expect(unsigned int opcode, uint32_t psn, size_t payload)
{
	static const size_t below[] = {
		[RDMA_V2_IPV4] = 42, [RDMA_V2_IPV6] = 62, [RDMA_V1] = 54, [RDMA_V2_IPV4_VLAN] = 46,
	};

	CHECK(packet_count < PACKETS_MAX);
	packets[packet_count++] = (struct packet){
		.opcode = opcode, .psn = psn & 0xffffff, .payload = payload,
		.below = below[pair.options.network], .v1 = pair.options.network == RDMA_V1,
	};
}

/* The packets of a message of @length bytes. Returns how many. */
static uint32_t expect_message(const struct opcodes *opcodes, uint32_t length)
{
	uint32_t count = length ? (length + MTU - 1) / MTU : 1;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t opcode = count == 1 ? opcodes->only : !i ? opcodes->first :
				 i + 1 == count ? opcodes->last : opcodes->middle;

		expect(opcode, next_psn + i, i + 1 == count ? length - i * MTU : MTU);
	}
	return count;
}

/* What the test asks of the operation, and what should be seen on the wire for it. */
static void transfer(uint8_t operation, uint32_t length, uint32_t seed)
{
	static const struct opcodes send = { 4, 0, 1, 2 }, send_immediate = { 5, 0, 1, 3 };
	static const struct opcodes write = { 10, 6, 7, 8 }, write_immediate = { 11, 6, 7, 9 };
	static const struct opcodes response = { 16, 13, 14, 15 };
	struct rdma_request request = {
		.opcode = operation, .length = length, .immediate = 0x01020304,
	};
	const struct opcodes *opcodes = operation == TERN_WQE_SEND ? &send :
					operation == TERN_WQE_SEND_IMMEDIATE ? &send_immediate :
					operation == TERN_WQE_WRITE ? &write : &write_immediate;
	bool ud = pair.options.type == TERN_QP_UD;
	struct tern_cqe cqe;

	rdma_fill(rdma_memory(&pair.a, 0), length, seed);
	rdma_fill(rdma_memory(&pair.b, 0), length, seed + 1);
	if (operation != TERN_WQE_WRITE && operation != TERN_WQE_READ)
		rdma_post_receive(&pair.b, 65536, length + TERN_GRH_BYTES);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	world_settle(pair.world);
	if (ud) {
		expect(operation == TERN_WQE_SEND ? 100 : 101, next_psn, length);
		next_psn++;
	} else if (operation == TERN_WQE_READ) {
		expect(12, next_psn, 0);
		next_psn += expect_message(&response, length);
	} else {
		next_psn += expect_message(opcodes, length);
		expect(17, next_psn - 1, 0);
	}
}

static void all_transfers(enum rdma_network network, uint8_t type)
{
	static const uint8_t operations[] = {
		TERN_WQE_SEND, TERN_WQE_SEND_IMMEDIATE, TERN_WQE_WRITE, TERN_WQE_WRITE_IMMEDIATE,
		TERN_WQE_READ,
	};
	static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 5, 16, 1023, 1024, 1025, 3000 };
	struct rdma_options options = {
		.network = network, .type = type, .path_mtu = 3, .sq_psn = PSN, .rq_psn = PSN,
	};

	rdma_pair_create(&pair, &options);
	pair.a.machine->on_transmit = into_capture;
	pair.b.machine->on_transmit = into_capture;
	next_psn = PSN;
	for (size_t o = 0; o < (type == TERN_QP_UD ? 2 : sizeof(operations)); o++) {
		for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
			transfer(operations[o], lengths[i], (uint32_t)i);
	}
	rdma_pair_destroy(&pair);
}

/*
 * Two of tshark's dissectors guess by the payload alone, and wrongly here: the
 * first takes each SEND of fewer than 20 bytes for RPC-over-RDMA that ends too
 * soon, the second any payload that begins with the bits 1100 for EoIB. A UDP
 * checksum of 0 is right for RoCE over IPv6, as for other tunnels (RFC 6935).
 */
static const char tshark[] =
	"tshark -n --disable-heuristic rpcrdma_infiniband --disable-heuristic mellanox_eoib "
	"-o udp.ignore_ipv6_zero_checksum:TRUE -o ip.check_checksum:TRUE";

static FILE *run(const char *arguments)
{
	char command[1000];
	FILE *output;

	snprintf(command, sizeof(command), "%s -r %s %s 2>/dev/null", tshark, path, arguments);
	output = popen(command, "r");
	CHECK(output);
	return output;
}

static void nothing_is_wrong(void)
{
	FILE *output = run("-Y '_ws.malformed || _ws.short || _ws.expert || "
			   "ip.checksum.status == 0'");
	char line[300];

	if (fgets(line, sizeof(line), output))
		FAIL("tshark complains: %s", line);
	CHECK_EQ(pclose(output), 0);
}

/* Bytes of the extended headers (IBTA 9.2.1, table 38). */
static size_t extension_bytes(unsigned int opcode)
{
	switch (opcode) {
	case 3: case 5: case 9: case 13: case 15: case 16: case 17:
		return 4;
	case 100:
		return 8;
	case 101:
		return 12;
	case 6: case 10: case 12:
		return 16;
	case 11:
		return 20;
	default:
		return 0;
	}
}

/* One line of tshark's, one packet of ours. */
static void compare(char *line, const struct packet *packet)
{
	size_t pad = -packet->payload & 3, content = packet->payload + pad;
	size_t transport = 12 + extension_bytes(packet->opcode) + content + 4;
	size_t length = packet->below + transport;
	char *fields[7];
	unsigned int i;

	for (i = 0; i < 7; i++) {
		fields[i] = strsep(&line, ",\n");
		CHECK(fields[i]);
	}
	CHECK_EQ(strtoul(fields[0], NULL, 10), packet->opcode);
	CHECK_EQ(strtoul(fields[1], NULL, 10), packet->psn);
	CHECK_EQ(strtoul(fields[2], NULL, 10), pad);
	/* Padding counts as payload there. */
	CHECK_EQ(strtoul(fields[3], NULL, 10), content);
	if (packet->v1)
		CHECK_EQ(strtoul(fields[4], NULL, 10), transport);
	else
		CHECK_EQ(strtoul(fields[5], NULL, 10), transport + 8);
	CHECK_EQ(strtoul(fields[6], NULL, 10), length < 60 ? 60 : length);
}

TERN_TEST(what_tshark_makes_of_our_packets)
{
	char error[200], line[300];
	unsigned int count = 0;
	FILE *output;

	if (system("command -v tshark > /dev/null"))
		SKIP("there is no tshark");
	strcpy(directory, "/tmp/tern-test-XXXXXX");
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/wire.pcap", directory);
	loop = tern_loop_create();
	capture = tern_capture_open(loop, path, error, sizeof(error));
	CHECK(capture);
	for (enum rdma_network network = RDMA_V2_IPV4; network <= RDMA_V2_IPV4_VLAN; network++) {
		all_transfers(network, TERN_QP_RC);
		all_transfers(network, TERN_QP_UD);
	}
	CHECK_EQ(tern_capture_close(capture), packet_count);
	tern_loop_destroy(loop);

	nothing_is_wrong();
	output = run("-T fields -E separator=, -e infiniband.bth.opcode -e infiniband.bth.psn "
		     "-e infiniband.bth.padcnt -e data.len -e infiniband.grh.paylen -e udp.length "
		     "-e frame.len");
	for (; fgets(line, sizeof(line), output); count++) {
		CHECK(count < packet_count);
		compare(line, &packets[count]);
	}
	CHECK_EQ(pclose(output), 0);
	CHECK_EQ(count, packet_count);
	unlink(path);
	rmdir(directory);
}
