// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: fuzzes what a guest controls: registers, doorbells, commands, work
 * requests, indices, page tables, and memory that changes while the device
 * reads it; with resets, bus mastering, revoked memory and time in between.
 *
 * Two machines with a connected pair of RC queue pairs, a UD and an Ethernet
 * pair each; the input is a program of small steps for both of them.
 */
#include <endian.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "host_driver.h"
#include "host_rdma.h"
#include "tern_hw_ethernet.h"
#include "tern_hw_flow.h"
#include "tern_hw_pci.h"
#include "tern_hw_priority.h"

#define STEPS_MAX	200
#define RUNS		8
#define BUFFER		(UINT64_C(1) << 17)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t left;
};

static struct input input;

static uint8_t byte(void)
{
	if (!input.left)
		return 0;
	input.left--;
	return *input.data++;
}

static uint16_t word(void)
{
	uint8_t low = byte();

	return (uint16_t)(low | byte() << 8);
}

/* Small numbers, their neighbours and the extremes come up often; any value can. */
static uint64_t number(void)
{
	uint8_t kind = byte();

	switch (kind >> 6) {
	case 0:
		return kind & 63;
	case 1:
		return UINT64_C(1) << (kind & 63);
	case 2:
		return UINT64_MAX - (kind & 63);
	default: {
		uint64_t value = 0;

		for (unsigned int i = 0; i <= (kind & 7); i++)
			value |= (uint64_t)byte() << (8 * i);
		return value;
	}
	}
}

/* An address that means something to the device, give or take. */
static uint64_t address(struct rdma_side *side)
{
	uint8_t kind = byte();
	struct driver *d = side->driver;

	switch (kind & 15) {
	case 0:
		return d->commands + word() % (TERN_COMMAND_BYTES << 5);
	case 1:
		return d->completions + word() % (64 << 5);
	case 2:
		return side->qp.sq + word() % (64U << side->qp.sq_shift);
	case 3:
		return side->qp.rq + word() % (64U << side->qp.rq_shift);
	case 4:
		return side->qp.sq_record + byte() % 128;
	case 5:
		return side->qp.rq_record + byte() % 128;
	case 6:
		return side->send_cq.record + byte() % 128;
	case 7:
		return side->send_cq.ring + word();
	case 8:
		return d->eq.ring + word() % 8192;
	case 9:
		return d->eq.record + byte() % 128;
	case 10:
		return number();
	default:
		return side->buffer + (uint64_t)word() * 2;
	}
}

static bool inside(struct machine *machine, uint64_t at, size_t length)
{
	return at >= HOST_MEMORY_BASE &&
	       at - HOST_MEMORY_BASE <= machine->memory_bytes - length;
}

static void poke(struct rdma_side *side)
{
	uint64_t at = address(side);
	size_t length = byte() % 16;

	if (!inside(side->machine, at, 16))
		return;
	while (length--)
		*(uint8_t *)host_pointer(side->machine, at++) = byte();
}

/* The guest changes what the device has just read. */
static void on_read(struct machine *machine, uint64_t iova, size_t length)
{
	uint8_t *memory = host_pointer(machine, iova);

	/* A third of the reads, so that something still works. */
	if (input.left && byte() % 3 == 0)
		memory[byte() % length] ^= (uint8_t)(1U << (byte() & 7));
}

static struct tern_page_list pages(struct rdma_side *side, uint64_t length)
{
	struct tern_page_list list = { .length = htole64(length) };
	uint8_t kind = byte();

	list.levels = kind % 5;
	if (!list.levels) {
		list.root = htole64(side->buffer + (uint64_t)byte() * 512);
	} else {
		/* Tables that are, or point into, memory that poke() and the device write. */
		uint64_t table = side->buffer + (uint64_t)(byte() % 16) * 4096;
		uint64_t *entries = host_pointer(side->machine, table);

		for (unsigned int i = 0; i < 8; i++)
			entries[i] = htole64((side->buffer + (uint64_t)byte() % 32 * 4096) |
					     (byte() & 3));
		list.root = htole64(table);
		list.page_shift = 12 + (kind >> 4) % 4;
		list.first_offset = htole32(byte() * 64U);
	}
	return list;
}

/* Of the commands of priorities and congestion: mostly what the device takes. */
static size_t priorities_body_of(uint16_t opcode, uint8_t *body)
{
	switch (opcode) {
	case TERN_COMMAND_SET_FLOW_CONTROL: {
		struct tern_command_set_flow_control *b = (void *)body;

		b->pfc_priorities = byte();
		b->flags = b->pfc_priorities ? 0 : byte() & 3;
		b->storm_action = byte() & 1;
		b->storm_limit_ms = htole32(byte() & 1);
		b->storm_restore_ms = htole32(1 + (byte() & 1));
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_PRIORITY_MAP: {
		struct tern_command_set_priority_map *b = (void *)body;

		b->trust = byte() & 3;
		b->default_priority = byte() & 7;
		b->roce_v1_priority = byte() & 7;
		b->roce_v2_priority = byte() & 7;
		b->rewrite_dscp = byte();
		b->rewrite_pcp = byte();
		b->priority_of_dscp[byte() % TERN_DSCPS] = byte() & 7;
		b->priority_of_pcp[byte() % TERN_PCPS] = byte() & 7;
		b->dscp_of[byte() & 7] = byte() % TERN_DSCPS;
		b->pcp_of[byte() & 7] = byte() % TERN_PCPS;
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_RECEIVE_BUFFERS: {
		struct tern_command_set_receive_buffers *b = (void *)body;

		for (unsigned int i = 0; i < 2; i++) {
			uint32_t bytes = 2U + word(), xoff = byte() & 1 ? bytes / 2 : 0;

			b->buffer[i].bytes = htole32(bytes);
			b->buffer[i].xoff = htole32(xoff);
			b->buffer[i].xon = htole32((xoff + 1) / 2);
		}
		b->buffer_of[byte() & 7] = byte() & 1;
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_TRAFFIC_CLASSES: {
		struct tern_command_set_traffic_classes *b = (void *)body;
		uint8_t share = byte() % 101;

		b->class_of[byte() & 7] = byte() & 7;
		if (byte() & 1) {
			b->algorithm[0] = TERN_CLASS_ETS;
			b->algorithm[3] = TERN_CLASS_ETS;
			b->bandwidth[0] = share;
			b->bandwidth[3] = (uint8_t)(100 - share);
		}
		b->max_rate_mbps[byte() & 7] = htole32(byte() & 1 ? byte() : 0);
		return sizeof(*b);
	}
	default: {
		struct tern_command_set_congestion_control *b = (void *)body;

		b->flags = byte() & 7;
		b->cnp_priority = byte() & 7;
		b->cnp_interval_us = htole32(byte());
		b->max_rate_mbps = htole32(byte() & 1 ? 1000U + word() : 0);
		b->min_rate_mbps = htole32(1U + byte());
		b->first_rate_mbps = htole32(byte());
		b->time_reset_us = htole32(1U + byte());
		b->byte_reset = htole32(1U + word());
		b->threshold = htole32(1U + (byte() & 15));
		b->ai_rate_mbps = htole32(1U + byte());
		b->hai_rate_mbps = htole32((uint32_t)number() | 1);
		b->alpha_timer_us = htole32((uint32_t)number() | 1);
		b->reduce_period_us = htole32(byte());
		b->initial_alpha = htole16(byte());
		b->gain_shift = (uint8_t)(1 + byte() % 15);
		b->min_decrease_percent = (uint8_t)(1 + byte() % 100);
		return sizeof(*b);
	}
	}
}

/* A body that is nearly right, so that most commands get past the first check. */
static size_t body_of(struct rdma_side *side, uint16_t opcode, uint8_t *body)
{
	switch (opcode) {
	case TERN_COMMAND_CREATE_EQ: {
		struct tern_command_create_eq *b = (void *)body;

		b->shift = 1 + byte() % 6;
		b->pages = pages(side, 32U << b->shift);
		b->record = htole64(side->buffer + byte() * 128U);
		b->vector = htole32(byte() % 66);
		return sizeof(*b);
	}
	case TERN_COMMAND_CREATE_CQ:
	case TERN_COMMAND_MODIFY_CQ: {
		struct tern_command_create_cq *b = (void *)body;

		b->shift = 1 + byte() % 6;
		b->pages = pages(side, 64U << b->shift);
		b->record = htole64(side->buffer + byte() * 128U);
		b->eqn = htole32(byte() % 4);
		b->doorbell_page = htole32(byte() % 2);
		b->moderation_count = htole16(byte() % 4);
		b->moderation_period = htole16(byte() % 4);
		return sizeof(*b);
	}
	case TERN_COMMAND_CREATE_KEY: {
		struct tern_command_create_key *b = (void *)body;
		uint8_t kind;

		b->pages = pages(side, number());
		b->address = htole64(number());
		b->pd = htole32(RDMA_PD);
		kind = byte();
		b->access = htole32(kind & 15);
		if (kind >> 4 == 15) {
			b->type = TERN_KEY_DEVICE_MEMORY;
			b->pages = (struct tern_page_list){
				.root = htole64(word()), .length = htole64(word()),
			};
		}
		return sizeof(*b);
	}
	case TERN_COMMAND_CREATE_QP: {
		struct tern_command_create_qp *b = (void *)body;
		static const uint8_t types[] = { TERN_QP_RC, TERN_QP_UD, TERN_QP_ETHERNET,
						 TERN_QP_GSI, TERN_QP_UC, TERN_QP_XRC_INITIATOR,
						 TERN_QP_XRC_TARGET, TERN_QP_HASHING };

		b->type = types[byte() % 8];
		if (b->type == TERN_QP_XRC_TARGET)
			b->xrcd = htole32(1);
		b->flags = htole32(byte() & 7);
		if (b->type == TERN_QP_ETHERNET)
			b->flags |= htole32((byte() & 3U) << 8);
		b->pd = htole32(RDMA_PD);
		b->sq_shift = byte() % 6;
		b->rq_shift = byte() % 6;
		b->rq_stride_shift = 6 + byte() % 4;
		b->send_cqn = htole32(1 + byte() % 4);
		b->receive_cqn = htole32(1 + byte() % 4);
		b->sq = pages(side, 64U << b->sq_shift);
		b->rq = pages(side, 1U << (b->rq_shift + b->rq_stride_shift));
		b->sq_record = htole64(side->buffer + byte() * 128U);
		b->rq_record = htole64(side->buffer + byte() * 128U);
		return sizeof(*b);
	}
	case TERN_COMMAND_MODIFY_QP: {
		struct tern_command_modify_qp *b = (void *)body;

		b->current_state = byte() % 7;
		b->next_state = byte() % 7;
		b->mask = htole32(byte() & 1 ? 0xffff : word());
		b->attributes.path_mtu = 1 + byte() % 5;
		b->attributes.timeout = byte() % 20;
		b->attributes.retry_count = byte() & 7;
		b->attributes.rnr_retry = byte() & 7;
		b->attributes.min_rnr_timer = byte() & 31;
		b->attributes.initiator_depth = byte() % 17;
		b->attributes.responder_resources = byte() % 17;
		b->attributes.remote_qpn = htole32(byte() % 64);
		b->attributes.access = htole32(byte() & 15);
		b->attributes.address.source_gid_index = htole16(side->gid_index);
		memcpy(b->attributes.address.destination_gid, side->gid, 16);
		memcpy(b->attributes.address.destination_mac, side->mac, 6);
		b->attributes.address.hop_limit = 64;
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_RSS: {
		struct tern_command_set_rss *b = (void *)body;

		b->table = htole64(side->buffer + byte() * 8U);
		b->count = htole16(1U << byte() % 9);
		b->types = byte() & 63;
		return sizeof(*b);
	}
	case TERN_COMMAND_ADD_FLOW: {
		struct tern_command_add_flow *b = (void *)body;

		b->type = byte() & 3;
		b->flags = byte() & 3;
		b->priority = htole16(byte() & 3);
		b->qpn = htole32(byte() % 64);
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_HASHING: {
		struct tern_command_set_hashing *b = (void *)body;

		b->table = htole64(side->buffer + byte() * 8U);
		b->count = htole16(1U << byte() % 9);
		b->fields = htole16(byte());
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_RECEIVE_MODE: {
		struct tern_command_set_receive_mode *b = (void *)body;

		b->flags = htole32(byte() & 63);
		b->default_qpn = htole32(byte() % 64);
		return sizeof(*b);
	}
	case TERN_COMMAND_ATTACH_MULTICAST:
	case TERN_COMMAND_DETACH_MULTICAST: {
		struct tern_command_multicast *b = (void *)body;

		b->gid[0] = 0xff;
		b->gid[15] = byte() & 3;
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_MULTICAST_TABLE:
	case TERN_COMMAND_SET_VLAN_TABLE: {
		struct tern_command_set_table *b = (void *)body;

		b->address = htole64(address(side));
		b->count = htole32(byte());
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_PORT: {
		struct tern_command_set_port *b = (void *)body;

		b->mtu = htole32(byte() & 1 ? 9000 : word());
		b->admin_state = byte() & 1;
		return sizeof(*b);
	}
	case TERN_COMMAND_QUERY_DEVICE:
	case TERN_COMMAND_QUERY_PORT:
	case TERN_COMMAND_QUERY_STATISTICS:
	case TERN_COMMAND_QUERY_QP: {
		struct tern_command_query *b = (void *)body;

		b->address = htole64(address(side) & ~UINT64_C(7));
		b->length = htole32((uint32_t)number());
		b->group = htole32(byte() % 4);
		return sizeof(*b);
	}
	case TERN_COMMAND_SET_FLOW_CONTROL:
	case TERN_COMMAND_SET_PRIORITY_MAP:
	case TERN_COMMAND_SET_RECEIVE_BUFFERS:
	case TERN_COMMAND_SET_TRAFFIC_CLASSES:
	case TERN_COMMAND_SET_CONGESTION_CONTROL:
		return priorities_body_of(opcode, body);
	default: {
		size_t length = byte() % 64;

		for (size_t i = 0; i < length; i++)
			body[i] = byte();
		return length;
	}
	}
}

static void command(struct rdma_side *side)
{
	static const uint16_t opcodes[] = {
		TERN_COMMAND_NOP, TERN_COMMAND_QUERY_DEVICE, TERN_COMMAND_QUERY_PORT,
		TERN_COMMAND_SET_PORT, TERN_COMMAND_QUERY_STATISTICS, TERN_COMMAND_CREATE_EQ,
		TERN_COMMAND_DESTROY_EQ, TERN_COMMAND_CREATE_CQ, TERN_COMMAND_MODIFY_CQ,
		TERN_COMMAND_DESTROY_CQ, TERN_COMMAND_CREATE_KEY, TERN_COMMAND_DESTROY_KEY,
		TERN_COMMAND_CREATE_QP, TERN_COMMAND_MODIFY_QP, TERN_COMMAND_QUERY_QP,
		TERN_COMMAND_DESTROY_QP, TERN_COMMAND_SET_GID, TERN_COMMAND_SET_STATION_ADDRESS,
		TERN_COMMAND_SET_RECEIVE_MODE, TERN_COMMAND_SET_MULTICAST_TABLE,
		TERN_COMMAND_SET_VLAN_TABLE, TERN_COMMAND_SET_RSS,
		TERN_COMMAND_CLEAR_DEVICE_MEMORY, TERN_COMMAND_CREATE_COUNTER_SET,
		TERN_COMMAND_DESTROY_COUNTER_SET, TERN_COMMAND_BIND_COUNTER_SET,
		TERN_COMMAND_ATTACH_MULTICAST, TERN_COMMAND_DETACH_MULTICAST,
		TERN_COMMAND_ADD_FLOW, TERN_COMMAND_REMOVE_FLOW, TERN_COMMAND_SET_HASHING,
		TERN_COMMAND_SET_FLOW_CONTROL, TERN_COMMAND_SET_PRIORITY_MAP,
		TERN_COMMAND_SET_RECEIVE_BUFFERS, TERN_COMMAND_SET_TRAFFIC_CLASSES,
		TERN_COMMAND_SET_CONGESTION_CONTROL,
	};
	alignas(8) uint8_t body[TERN_COMMAND_BODY_BYTES] = { 0 };
	uint16_t opcode = opcodes[byte() % (sizeof(opcodes) / sizeof(*opcodes))];
	size_t length = body_of(side, opcode, body);
	uint8_t flips = byte() % 4;
	uint32_t object = byte() & 7 ? byte() % 64 : (uint32_t)number();

	/* Mostly none: what is nearly right is worth more. */
	while (flips-- > 1)
		body[byte() % sizeof(body)] ^= byte();
	driver_command_write(side->driver, opcode, word(), byte() & 1, object, body,
			     length > sizeof(body) ? sizeof(body) : length);
	driver_command_ring(side->driver);
}

static void post(struct rdma_side *side)
{
	uint8_t wqe[TERN_WQE_BYTES_MAX] = { 0 };
	struct tern_wqe_control *control = (void *)wqe;
	struct tern_sge sges[3];
	unsigned int blocks = 1 + byte() % 8;
	size_t place = sizeof(*control);

	for (unsigned int i = 0; i < 3; i++) {
		sges[i].address = htole64(side->buffer + word());
		sges[i].length = htole32(byte() & 1 ? byte() : word());
		sges[i].key = htole32(byte() & 7 ? side->key : (uint32_t)number());
	}
	if (byte() & 1) {
		driver_post_receive(&side->qp, sges, byte() % 4);
		return;
	}
	control->opcode = byte() % 9;
	control->flags = byte() & 15;
	control->sge_count = byte() % 4;
	if (control->flags & TERN_WQE_INLINE) {
		control->sge_count = 0;
		control->inline_length = htole16(byte());
	}
	if (control->opcode >= TERN_WQE_WRITE && control->opcode <= TERN_WQE_READ) {
		struct tern_wqe_remote remote = {
			htole64(side->buffer + word()), htole32(side->key), 0,
		};

		memcpy(wqe + place, &remote, sizeof(remote));
		place += sizeof(remote);
	}
	memcpy(wqe + place, sges, sizeof(sges));
	if (!(byte() & 7))
		wqe[byte() * 2] ^= byte();
	driver_post_send(&side->qp, wqe, blocks);
}

static void set_pages(struct rdma_side *side)
{
	uint64_t at = address(side) & ~UINT64_C(4095);
	enum host_page kind = byte() % 4;

	if (inside(side->machine, at, 4096))
		host_set_pages(side->machine, at, 4096, kind);
}

static void some_time(struct world *world)
{
	uint64_t jump = UINT64_C(1) << byte() % 30;

	world->now += jump;
	for (struct machine *m = world->machines; m; m = m->next)
		tern_nic_timer(m->nic);
}

static void step(struct rdma_pair *pair)
{
	uint8_t what = byte();
	struct rdma_side *side = what & 1 ? &pair->b : &pair->a;
	struct machine *machine = side->machine;

	switch (what >> 1 & 15) {
	case 0:
		host_write(machine, byte() & 1, TERN_BAR_REGISTERS, byte(), number(),
			   1U << byte() % 4);
		break;
	case 1:
		host_read(machine, 0, byte() % 5, number(), 1U << byte() % 4);
		break;
	case 2:
		host_write(machine, 0, TERN_BAR_DOORBELLS,
			   (uint64_t)(byte() & 1) << 12 | (byte() % 6 * 8U),
			   (uint64_t)(uint32_t)number() << 32 | byte() % 64, 8);
		break;
	case 3:
	case 4:
	case 5:
		command(side);
		break;
	case 6:
	case 7:
	case 8:
		post(side);
		break;
	case 9:
		poke(side);
		break;
	case 10:
		some_time(pair->world);
		break;
	case 11:
		host_prepare_sleep(machine);
		break;
	case 12:
		set_pages(side);
		break;
	case 13:
		switch (byte() % 8) {
		case 0:
			host_reset(machine, 0);
			break;
		case 1:
			tern_nic_bus_master(machine->nic, 0, byte() & 1);
			break;
		case 2:
			tern_nic_set_carrier(machine->nic, byte() & 1);
			break;
		case 3:
			machine->on_read = machine->on_read ? NULL : on_read;
			break;
		default:
			tern_nic_invalidate(machine->nic, 0, number(), number());
		}
		break;
	default:
		host_write(machine, 0, byte() & 1 ? TERN_BAR_DOORBELLS : TERN_BAR_REGISTERS,
			   number(), number(), 8);
		break;
	case 14:
		break;
	}
	for (unsigned int i = 0; i < RUNS; i++) {
		host_run(pair->a.machine, 16);
		host_run(pair->b.machine, 16);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rdma_options kinds[] = {
		{ .network = RDMA_V2_IPV4, .buffer_bytes = BUFFER },
		{ .network = RDMA_V2_IPV6, .path_mtu = 1, .no_shortcuts = true,
		  .buffer_bytes = BUFFER },
		{ .network = RDMA_V1, .loopback = true, .buffer_bytes = BUFFER },
		{ .network = RDMA_V2_IPV4, .type = TERN_QP_UD, .buffer_bytes = BUFFER },
	};
	struct rdma_pair pair;

	if (!size)
		return 0;
	input = (struct input){ data, size };
	rdma_pair_create(&pair, &kinds[byte() % 4]);
	pair.a.machine->log = false;
	pair.b.machine->log = false;
	for (unsigned int i = 0; i < STEPS_MAX && input.left; i++)
		step(&pair);
	rdma_pair_destroy(&pair);
	return 0;
}
