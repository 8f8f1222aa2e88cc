// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: fuzzes Ethernet: send requests and receive entries that a guest makes
 * up, frames that a peer makes up, filters, RSS, misbehaviour and memory that
 * goes away, on two NICs joined by a wire and one with two functions.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "host_ethernet.h"

#define STEPS_MAX	150
#define MEMORY		(UINT64_C(32) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *input;
static size_t left;

static struct net nets[3];		/* a's two functions, b's one */
static uint32_t keys[3];
static uint8_t frame[70000];

static uint8_t byte(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static uint16_t word(void)
{
	uint8_t low = byte();

	return (uint16_t)(low | byte() << 8);
}

static struct net *some_net(void)
{
	return &nets[byte() % 3];
}

/* Station addresses, a group, or anything. */
static void some_mac(uint8_t *mac)
{
	uint8_t kind = byte();

	memcpy(mac, "\2\0\0\0\0\0", 6);
	switch (kind & 7) {
	case 6:
		memset(mac, 0xff, 6);
		break;
	case 7:
		for (unsigned int i = 0; i < 6; i++)
			mac[i] = byte();
		break;
	default:
		mac[5] = kind & 3;
	}
}

/* A frame that is nearly right, then changed a little. */
static size_t some_frame(void)
{
	uint8_t destination[6], source[6], kind = byte();
	struct net_headers headers = {
		.destination = destination, .source = source, .ipv6 = kind & 1, .udp = kind & 2,
		.tagged = kind & 4, .tci = word(), .source_port = word(),
		.destination_port = kind & 8 ? 4791 : word(),
	};
	size_t length = kind & 16 ? word() % 9200 : byte(), n;

	some_mac(destination);
	some_mac(source);
	n = net_build(frame, &headers, length, kind);
	for (uint8_t changes = byte() % 8; changes > 3; changes--)
		frame[byte() % n] = byte();
	if (kind & 32)
		n = byte() % n;
	return n;
}

static void arrive(void)
{
	struct net *net = some_net();
	size_t n = some_frame(), header = byte(), piece = 1 + word() % 2000;
	struct tern_segment segments[64];
	struct tern_frame sent = { .payload = segments };

	if (header > n)
		header = n;
	sent.header = frame;
	sent.header_length = header;
	sent.payload_length = n - header;
	for (size_t at = header; at < n; at += segments[sent.payload_count++].length) {
		segments[sent.payload_count].base = frame + at;
		segments[sent.payload_count].length =
			n - at < piece || sent.payload_count == 63 ? n - at : piece;
	}
	host_receive(net->machine, &sent);
}

static void post_send(void)
{
	struct net *net = some_net();
	size_t n = some_frame(), header = n < 100 ? n : 54 + 4 * (byte() & 3);
	struct {
		struct tern_wqe_control control;
		struct tern_wqe_ethernet ethernet;
		struct tern_sge sges[30];
	} wqe = { .control = { .opcode = TERN_WQE_ETHERNET } };
	uint8_t kind = byte(), count = 1 + byte() % 30;
	uint64_t address;

	if (kind & 1 && n < 9000)
		n *= 7;
	address = net_put(net, frame, n);
	wqe.control.flags = byte() & (TERN_WQE_SIGNALED | TERN_WQE_INLINE);
	wqe.ethernet.flags = htole16(byte() & 7);
	wqe.ethernet.mss = htole16(kind & 2 ? word() : 536);
	wqe.ethernet.header_length = htole16(kind & 4 ? byte() : (uint16_t)header);
	wqe.ethernet.vlan_tci = htole16(word());
	wqe.ethernet.checksum_start = htole16(kind & 8 ? word() : 34);
	wqe.ethernet.checksum_offset = htole16(kind & 8 ? word() : 16);
	wqe.ethernet.l3_offset = htole16(kind & 16 ? byte() : 14);
	if (wqe.control.flags & TERN_WQE_INLINE) {
		wqe.control.inline_length = htole16(word() % 500);
		memcpy(wqe.sges, frame, sizeof(wqe.sges));
	} else {
		wqe.control.sge_count = count;
		for (unsigned int i = 0; i < count; i++) {
			size_t piece = i + 1 < count ? byte() * 4U : n;

			if (piece > n)
				piece = n;
			wqe.sges[i].address = htole64(address);
			wqe.sges[i].length = htole32((uint32_t)piece);
			wqe.sges[i].key = htole32(kind & 32 ? keys[net - nets] : 0);
			address += piece;
			n -= piece;
		}
	}
	if (!(byte() & 7))
		((uint8_t *)&wqe)[word() % sizeof(wqe)] ^= byte();
	driver_post_send(&net->qps[byte() & 1], &wqe, 1 + byte() % 8);
}

static void post_receives(void)
{
	struct net *net = some_net();
	struct tern_sge sges[31];
	uint8_t count = byte() % 32;

	if (byte() & 3) {
		net_post_receives(net, byte() & 1, byte() % 16, 9022);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		sges[i].address = htole64(net->buffers[0] + word());
		sges[i].length = htole32(byte() & 7 ? byte() : word());
		sges[i].key = htole32(byte() & 1 ? keys[net - nets] : 0);
	}
	driver_post_receive(&net->qps[byte() & 1], sges, count);
}

/* Whether it is answered depends on what was done to the function. */
static void command(struct net *net, uint16_t opcode, uint32_t object, const void *body,
		    size_t length)
{
	uint16_t id;

	driver_command_write(&net->driver, opcode, 0, 0, object, body, length);
	driver_command_ring(&net->driver);
	host_run(net->machine, 16);
	while (driver_command_poll(&net->driver, &id))
		;
}

static void modify_qp(struct net *net)
{
	struct driver_qp *qp = &net->qps[byte() & 1];
	struct tern_command_modify_qp body = {
		.current_state = byte() & 1 ? qp->state : byte() % 7, .next_state = byte() % 8,
	};

	command(net, TERN_COMMAND_MODIFY_QP, qp->qpn, &body, sizeof(body));
	if (!net->driver.status)
		qp->state = body.next_state;
}

static void set_filters(void)
{
	struct net *net = some_net();
	union {
		struct tern_command_set_rss rss;
		struct tern_command_set_table table;
		struct tern_command_set_station_address station;
		struct tern_command_set_receive_mode mode;
		struct tern_command_set_port port;
	} body;
	uint32_t *entries = host_pointer(net->machine, net->send_memory);

	memset(&body, 0, sizeof(body));
	switch (byte() & 7) {
	case 0:
		body.mode.flags = htole32(byte() & 63);
		body.mode.default_qpn = htole32(byte() % 4);
		command(net, TERN_COMMAND_SET_RECEIVE_MODE, 0, &body, sizeof(body.mode));
		break;
	case 1:
		body.port.mtu = htole32(byte() & 1 ? 9000 : word());
		body.port.admin_state = byte() & 1;
		command(net, TERN_COMMAND_SET_PORT, 0, &body, sizeof(body.port));
		break;
	case 2:
		for (unsigned int i = 0; i < 128; i++)
			entries[i] = htole32(net->qps[i & 1].qpn);
		body.rss.table = htole64(net->send_memory);
		body.rss.count = htole16((uint16_t)(1U << byte() % 9));
		body.rss.types = byte();
		for (unsigned int i = 0; i < sizeof(body.rss.key); i++)
			body.rss.key[i] = byte();
		command(net, TERN_COMMAND_SET_RSS, 0, &body, sizeof(body.rss));
		break;
	case 3:
		body.table.address = htole64(net->send_memory + word());
		body.table.count = htole32(byte() & 1 ? 1 : word() % 300);
		command(net, byte() & 1 ? TERN_COMMAND_SET_VLAN_TABLE :
			TERN_COMMAND_SET_MULTICAST_TABLE, 0, &body, sizeof(body.table));
		break;
	case 4:
		some_mac(body.station.mac);
		command(net, TERN_COMMAND_SET_STATION_ADDRESS, 0, &body, sizeof(body.station));
		break;
	case 5:
		modify_qp(net);
		break;
	case 6:
		command(net, TERN_COMMAND_DESTROY_QP, net->qps[byte() & 1].qpn, NULL, 0);
		break;
	default:
		tern_nic_set_carrier(net->machine->nic, byte() & 1);
	}
}

static void start(struct net *net, uint8_t mode)
{
	struct machine *machine = net->machine;
	unsigned int fn = net->driver.fn;

	tern_nic_bus_master(machine->nic, fn, true);
	net_start(net, machine, fn, 2, 0);
	keys[net - nets] = driver_key_create(&net->driver, HOST_MEMORY_BASE, MEMORY,
					     TERN_ACCESS_LOCAL_WRITE, 0);
	net_post_receives(net, 0, 20, 9022);
	net_receive_mode(net, mode & 63);
}

static void misbehave(void)
{
	struct tern_wire_rule rule = {
		.what = byte() % 5, .opcode = byte() & 1 ? -1 : byte(),
		.probability = byte() / 256.0, .nth = byte() & 1 ? byte() % 4 : 0,
		.delay_ns = word() * UINT64_C(10),
	};
	struct tern_nic *nic = some_net()->machine->nic;

	if (byte() & 1)
		tern_nic_add_wire_rule(nic, &rule);
	else
		tern_nic_remove_wire_rule(nic, (int)(byte() % 34) - 1);
}

static void disturb(void)
{
	struct net *net = some_net();
	uint64_t at;

	switch (byte() & 7) {
	case 0:
		tern_nic_bus_master(net->machine->nic, net->driver.fn, byte() & 1);
		break;
	case 1:
		host_reset(net->machine, net->driver.fn);
		if (net->machine->memory_bytes - net->machine->allocated > MEMORY / 4)
			start(net, byte());
		break;
	case 2:
		at = byte() & 1 ? net->qps[0].sq_record : net->qps[0].rq_record;
		*(uint32_t *)host_pointer(net->machine, at) = htole32(word());
		break;
	default:
		at = (byte() & 1 ? net->buffers[0] : net->send_memory) +
		     (uint64_t)byte() % 16 * 4096;
		host_set_pages(net->machine, at, 4096, byte() % 4);
	}
}

static void step(struct world *world)
{
	struct tern_cqe cqe;

	switch (byte() % 12) {
	case 0:
	case 1:
	case 2:
		post_send();
		break;
	case 3:
	case 4:
		post_receives();
		break;
	case 5:
	case 6:
		arrive();
		break;
	case 7:
		set_filters();
		break;
	case 8:
		misbehave();
		break;
	case 9:
		disturb();
		break;
	case 10:
		world_advance(world, word() * UINT64_C(10));
		break;
	default:
		for (unsigned int i = 0; i < 3; i++) {
			host_run(nets[i].machine, 16);
			while (driver_cq_poll(&nets[i].send_cq, &cqe) ||
			       driver_cq_poll(&nets[i].receive_cq, &cqe))
				;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tern_nic_config config = host_default_config;
	struct machine *machines[2];
	struct world *world;
	uint8_t kind;

	input = data;
	left = size;
	kind = byte();
	config.no_shortcuts = kind & 1;
	config.speed_mbps = kind & 2 ? 10000 : 0;
	config.receive_buffer = 20000;
	world = world_create();
	memcpy(config.mac, "\2\0\0\0\0\0", 6);
	config.functions = 2;
	machines[0] = machine_create(world, &config, MEMORY);
	config.functions = 1;
	config.mac[5] = 2;
	machines[1] = machine_create(world, &config, MEMORY);
	host_cable(machines[0], machines[1], kind & 4 ? 300 : 0);
	for (unsigned int i = 0; i < 3; i++) {
		memset(&nets[i], 0, sizeof(nets[i]));
		nets[i].machine = machines[i / 2];
		nets[i].driver.fn = i % 2;
		start(&nets[i], (uint8_t)(kind >> 3 << 1));
	}
	for (unsigned int i = 0; i < STEPS_MAX && left; i++)
		step(world);
	world_destroy(world);
	return 0;
}
