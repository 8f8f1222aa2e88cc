// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: what goes away while work is in flight: functions by reset, memory by
 * unmapping, bus mastering, queues and keys by command; and memory that cannot
 * be mapped at all. The native host crashes the core when it touches memory
 * that is gone.
 */
#include <endian.h>

#include "host_rdma.h"
#include "nic.h"
#include "rdma_qp.h"
#include "tern_hw_pci.h"
#include "tern_test.h"

static struct rdma_pair pair;

static void post_writes(struct rdma_side *side, unsigned int count, uint32_t length)
{
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .length = length };

	while (count--)
		rdma_post(&pair, side, &request);
}

/* Neither machine's NIC comes near guest memory however long it runs. */
static void check_silence(struct machine *machine)
{
	uint64_t before;

	before = machine->map_calls + machine->read_calls + machine->write_calls;
	world_advance(pair.world, UINT64_C(1000000000));
	CHECK_EQ(machine->map_calls + machine->read_calls + machine->write_calls, before);
}

/* Function level reset and CONTROL.RESET, at many moments of a busy connection. */
TERN_TEST(reset_under_traffic)
{
	static const struct rdma_options kinds[] = {
		{ .buffer_bytes = 1 << 17 },
		{ .latency_ns = 3000, .speed_mbps = 40000, .buffer_bytes = 1 << 17 },
		{ .latency_ns = 3000, .no_shortcuts = true, .path_mtu = 1,
		  .buffer_bytes = 1 << 17 },
		{ .loopback = true, .speed_mbps = 40000, .buffer_bytes = 1 << 17 },
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		for (unsigned int moment = 0; moment < 40; moment++) {
			struct rdma_request read = { .opcode = TERN_WQE_READ, .length = 50000 };
			struct machine *victim;
			struct tern_nic_qp_info info;

			rdma_pair_create(&pair, &kinds[k]);
			victim = moment & 1 ? pair.a.machine : pair.b.machine;
			post_writes(&pair.a, 8, 30000);
			post_writes(&pair.b, 8, 30000);
			rdma_post(&pair, &pair.a, &read);
			for (unsigned int i = 0; i < moment; i++) {
				host_run(pair.a.machine, 3);
				host_run(pair.b.machine, 3);
				if (kinds[k].latency_ns)
					world_advance(pair.world, 700);
			}
			if (moment & 2)
				host_reset(victim, 0);
			else
				host_write(victim, 0, TERN_BAR_REGISTERS, TERN_REG_CONTROL,
					   TERN_CONTROL_RESET, 4);
			CHECK(!tern_nic_next_qp(victim->nic, 0, 0, &info));
			check_silence(victim);
			rdma_pair_destroy(&pair);
		}
	}
}

/* The peer of a function that was reset runs into its retries, and no further. */
TERN_TEST(reset_of_the_peer)
{
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .timeout = 10, .retry_count = 2 });
	host_reset(pair.b.machine, 0);
	post_writes(&pair.a, 3, 100);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_RETRY_EXCEEDED);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	rdma_wait(&pair, &pair.a.send_cq, &cqe);
	CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
	CHECK(rdma_none(&pair.a.send_cq));
	rdma_pair_destroy(&pair);
}

/* The fatal error of a function stops it like a reset, but its objects stay. */
TERN_TEST(fatal_under_traffic)
{
	for (unsigned int moment = 0; moment < 20; moment++) {
		rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 2000 });
		post_writes(&pair.a, 8, 30000);
		post_writes(&pair.b, 8, 30000);
		for (unsigned int i = 0; i < moment; i++) {
			host_run(pair.a.machine, 3);
			world_advance(pair.world, 500);
		}
		host_write(pair.b.machine, 0, TERN_BAR_REGISTERS, TERN_REG_COMMAND_DOORBELL,
			   12345, 4);
		check_silence(pair.b.machine);
		host_reset(pair.b.machine, 0);
		check_silence(pair.b.machine);
		rdma_pair_destroy(&pair);
	}
}

static void revoke(struct rdma_side *side, uint64_t address, uint64_t bytes)
{
	host_set_pages(side->machine, address & ~UINT64_C(4095), bytes, HOST_PAGE_ABSENT);
}

/*
 * Each piece of memory of a busy connection goes away. Whatever happens to the
 * connection, the core does not touch it and does not hang.
 */
TERN_TEST(memory_revoked_under_traffic)
{
	for (unsigned int piece = 0; piece < 10; piece++) {
		for (unsigned int shortcuts = 0; shortcuts < 2; shortcuts++) {
			struct rdma_side *a, *b;

			rdma_pair_create(&pair, &(struct rdma_options){
				.latency_ns = 1000, .no_shortcuts = shortcuts,
				.timeout = 8, .retry_count = 2 });
			a = &pair.a;
			b = &pair.b;
			for (unsigned int i = 0; i < 20; i++)
				rdma_post_receive(b, 0, 4096);
			post_writes(a, 8, 30000);
			post_writes(b, 8, 30000);
			for (unsigned int i = 0; i < 5; i++)
				rdma_post(&pair, a, &(struct rdma_request){
					.opcode = TERN_WQE_SEND, .length = 4000 });
			world_advance(pair.world, 3000);
			switch (piece) {
			case 0:
				revoke(a, a->buffer, 1 << 16);
				break;
			case 1:
				revoke(b, b->buffer, 1 << 16);
				break;
			case 2:
				revoke(a, a->qp.sq, 4096);
				break;
			case 3:
				revoke(a, a->qp.sq_record, 4096);
				break;
			case 4:
				revoke(b, b->qp.rq, 4096);
				break;
			case 5:
				revoke(b, b->qp.rq_record, 4096);
				break;
			case 6:
				revoke(a, a->send_cq.ring, 4096);
				break;
			case 7:
				revoke(b, b->receive_cq.ring, 4096);
				break;
			case 8:
				revoke(b, b->driver->eq.ring, 4096);
				break;
			default:
				revoke(a, a->send_cq.record, 4096);
			}
			world_advance(pair.world, UINT64_C(1000000000));
			rdma_pair_destroy(&pair);
		}
	}
}

/* Keys and queue pairs destroyed in the middle: after the completion nothing touches the memory. */
TERN_TEST(destroyed_under_traffic)
{
	for (unsigned int what = 0; what < 3; what++) {
		for (unsigned int moment = 0; moment < 12; moment++) {
			struct rdma_side *victim = moment & 1 ? &pair.a : &pair.b;

			rdma_pair_create(&pair, &(struct rdma_options){
				.latency_ns = 1000, .timeout = 8, .retry_count = 1 });
			post_writes(&pair.a, 8, 30000);
			post_writes(&pair.b, 8, 30000);
			world_advance(pair.world, moment * 1500);
			switch (what) {
			case 0:
				CHECK_EQ(driver_command(victim->driver, TERN_COMMAND_DESTROY_KEY,
							victim->key >> 8, NULL, 0), 0);
				revoke(victim, victim->buffer, 1 << 16);
				break;
			case 1:
				CHECK_EQ(driver_command(victim->driver, TERN_COMMAND_DESTROY_QP,
							victim->qp.qpn, NULL, 0), 0);
				revoke(victim, victim->buffer, 1 << 16);
				revoke(victim, victim->qp.sq, 4096);
				revoke(victim, victim->qp.rq, 4096);
				CHECK_EQ(driver_command(victim->driver, TERN_COMMAND_DESTROY_CQ,
							victim->send_cq.cqn, NULL, 0), 0);
				revoke(victim, victim->send_cq.ring, 4096);
				break;
			default:
				CHECK_EQ(driver_qp_modify(&victim->qp, TERN_QP_RESET, 0, NULL), 0);
				revoke(victim, victim->buffer, 1 << 16);
				revoke(victim, victim->qp.sq, 4096);
			}
			world_advance(pair.world, UINT64_C(100000000));
			rdma_pair_destroy(&pair);
		}
	}
}

static void everything_works(void)
{
	struct tern_cqe cqe;

	for (unsigned int i = 0; i < 30; i++) {
		uint32_t length = i * 401;
		struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = length };

		rdma_fill(rdma_memory(&pair.a, 0), length, i);
		memset(rdma_memory(&pair.b, 20000), 0, length);
		rdma_post_receive(&pair.b, 20000, length);
		rdma_post(&pair, &pair.a, &request);
		rdma_wait(&pair, &pair.b.receive_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_MEM(rdma_memory(&pair.b, 20000), rdma_memory(&pair.a, 0), length);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		request.opcode = TERN_WQE_READ;
		rdma_fill(rdma_memory(&pair.b, 0), length, i + 77);
		rdma_post(&pair, &pair.a, &request);
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_MEM(rdma_memory(&pair.a, 0), rdma_memory(&pair.b, 0), length);
	}
}

/* No page of either machine, or every other page, or only the other machine's can be mapped. */
TERN_TEST(unmappable_machines)
{
	for (unsigned int kind = 0; kind < 4; kind++) {
		for (unsigned int shortcuts = 0; shortcuts < 2; shortcuts++) {
			const struct rdma_options options = { .no_shortcuts = shortcuts };

			rdma_pair_create(&pair, &options);
			for (unsigned int i = 0; i < 2; i++) {
				struct machine *m = i ? pair.b.machine : pair.a.machine;
				uint64_t bytes = (m->allocated + 4095) & ~UINT64_C(4095);
				uint64_t step = kind == 3 ? 8192 : 4096;

				if (kind < 2 && kind != i)
					continue;
				for (uint64_t at = 0; at < bytes; at += step)
					host_set_pages(m, HOST_MEMORY_BASE + at, 4096,
						       HOST_PAGE_UNMAPPABLE);
			}
			everything_works();
			rdma_pair_destroy(&pair);
		}
	}
}

/* Bus mastering is off for a while: the connection goes on afterwards, by its retries. */
TERN_TEST(bus_mastering_comes_back)
{
	struct machine *machine;
	uint64_t before;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 1000 });
	machine = pair.a.machine;
	everything_works();
	tern_nic_bus_master(machine->nic, 0, false);
	before = machine->map_calls + machine->read_calls + machine->write_calls;
	world_advance(pair.world, 1000000);
	CHECK_EQ(machine->map_calls + machine->read_calls + machine->write_calls, before);
	tern_nic_bus_master(machine->nic, 0, true);
	everything_works();
	rdma_pair_destroy(&pair);
}

static void next_port_state(uint8_t state)
{
	struct driver *driver = pair.a.driver;
	struct tern_eqe eqe;

	do {
		CHECK(driver_eq_poll(driver, &driver->eq, &eqe));
	} while (eqe.type != TERN_EVENT_PORT_STATE);
	CHECK_EQ(eqe.subtype, state);
}

/*
 * Off for long in the middle of traffic (a host that suspends): no retry is used
 * up, no queue fails, and what happened meanwhile is told afterwards.
 */
TERN_TEST(bus_mastering_off_under_traffic)
{
	const unsigned int writes = 24;
	struct machine *machine;
	struct tern_eqe eqe;
	struct tern_cqe cqe;
	uint64_t before;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 1000, .retry_count = 1 });
	machine = pair.a.machine;
	while (rdma_event(&pair.a, &eqe))
		;
	post_writes(&pair.a, writes, 100000);
	world_advance(pair.world, 20000);
	tern_nic_bus_master(machine->nic, 0, false);
	before = machine->map_calls + machine->read_calls + machine->write_calls;
	tern_nic_set_carrier(machine->nic, false);
	tern_nic_set_carrier(machine->nic, true);
	world_advance(pair.world, UINT64_C(5000000000));
	CHECK(host_prepare_sleep(machine));
	CHECK_EQ(machine->map_calls + machine->read_calls + machine->write_calls, before);
	tern_nic_bus_master(machine->nic, 0, true);
	for (unsigned int i = 0; i < writes; i++) {
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	}
	next_port_state(TERN_PORT_DOWN);
	next_port_state(TERN_PORT_UP);
	everything_works();
	rdma_pair_destroy(&pair);
}

/* A function without bus mastering keeps its own commands waiting, not those of others. */
TERN_TEST(commands_wait_per_function)
{
	struct tern_nic_config config = host_default_config;
	struct world *world = world_create();
	struct driver first, second;
	struct machine *machine;
	uint16_t id;

	config.functions = 2;
	machine = machine_create(world, &config, 0);
	driver_start(&first, machine, 0, 0);
	driver_start(&second, machine, 1, 0);
	tern_nic_bus_master(machine->nic, 0, false);
	driver_command_write(&first, TERN_COMMAND_NOP, 7, 0, 0, NULL, 0);
	driver_command_ring(&first);
	CHECK_EQ(driver_command(&second, TERN_COMMAND_NOP, 0, NULL, 0), 0);
	world_settle(world);
	CHECK(host_prepare_sleep(machine));
	CHECK(!driver_command_poll(&first, &id));
	tern_nic_bus_master(machine->nic, 0, true);
	world_settle(world);
	CHECK(driver_command_poll(&first, &id));
	CHECK_EQ(id, 7);
	world_destroy(world);
}

/*
 * The promise that applications poll payload by: packets in order, the last line
 * of each packet last, then the completion's body, its phase, the event.
 */
TERN_TEST(order_of_data_and_completion)
{
	struct machine *m;
	const struct rdma_request request = { .opcode = TERN_WQE_SEND, .length = 2000 };
	uint64_t data, entry, event, place = 0;
	unsigned int stage = 0;
	struct tern_cqe cqe;
	struct tern_eqe eqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .path_mtu = 1 });
	m = pair.b.machine;
	data = pair.b.buffer + 4096;
	entry = pair.b.receive_cq.ring;
	host_set_pages(m, pair.b.buffer, 1 << 16, HOST_PAGE_UNMAPPABLE);
	host_set_pages(m, entry & ~UINT64_C(4095), 4096, HOST_PAGE_UNMAPPABLE);
	host_set_pages(m, pair.b.driver->eq.ring, 8192, HOST_PAGE_UNMAPPABLE);
	while (driver_eq_poll(pair.b.driver, &pair.b.driver->eq, &eqe))
		;
	driver_eq_arm(pair.b.driver, &pair.b.driver->eq);
	event = pair.b.driver->eq.ring + pair.b.driver->eq.consumer * sizeof(eqe);
	driver_cq_arm(&pair.b.receive_cq, TERN_ARM_NEXT);
	rdma_post_receive(&pair.b, 4096, 2000);
	host_record_start(m);
	rdma_post(&pair, &pair.a, &request);
	rdma_wait(&pair, &pair.b.receive_cq, &cqe);
	for (size_t i = 0; i < m->event_count; i++) {
		const struct host_event *e = &m->events[i];

		if (e->type == HOST_EVENT_TRANSMIT)
			continue;
		if (e->type == HOST_EVENT_WRITE && e->address == data + place && place < 2000) {
			/* Within a packet of 256 bytes: all before its last line, then that. */
			uint64_t end = (place / 256 + 1) * 256, stop = place + e->length;

			CHECK_EQ(stage, 0);
			CHECK(stop <= end);
			place = stop;
			continue;
		}
		CHECK_EQ(place, 2000);
		switch (stage++) {
		case 0:
			CHECK_EQ(e->address, entry);
			CHECK_EQ(e->length, 60);
			break;
		case 1:
			CHECK_EQ(e->address, entry + 60);
			break;
		case 2:
			CHECK_EQ(e->address, event);
			CHECK_EQ(e->length, 28);
			break;
		case 3:
			CHECK_EQ(e->address, event + 28);
			break;
		case 4:
			CHECK_EQ(e->type, HOST_EVENT_INTERRUPT);
			break;
		default:
			FAIL("write to 0x%llx after all was done",
			     (unsigned long long)e->address);
		}
	}
	CHECK_EQ(stage, 5);
	rdma_pair_destroy(&pair);
}

static bool lose(struct machine *machine, const struct tern_frame *frame)
{
	(void)machine;
	(void)frame;
	return false;
}

static const struct requester *requester(void)
{
	return &rdma_of(qp_find(&pair.a.machine->nic->functions[0], pair.a.qp.qpn))->requester;
}

static uint32_t *requests_shared(void)
{
	return &pair.a.machine->nic->rdma->requests_shared;
}

/* To a silent peer, more than may be in flight. */
static void fill_ring(void)
{
	const struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 1 };

	rdma_pair_create(&pair, &(struct rdma_options){ .no_timeout = true });
	pair.a.machine->on_transmit = lose;
	for (unsigned int i = 0; i < 2 * REQUESTS_MAX; i++)
		rdma_post(&pair, &pair.a, &write);
	world_settle(pair.world);
	CHECK_EQ(requester()->ring_size, REQUESTS_MAX);
	CHECK_EQ(*requests_shared(), REQUESTS_MAX - REQUESTS_MIN);
}

/* Memory for requests in flight is taken as they pile up, and not kept for ever. */
TERN_TEST(memory_of_requests_is_given_back)
{
	static const uint8_t states[] = { TERN_QP_RESET, TERN_QP_ERROR };

	for (unsigned int i = 0; i < 2; i++) {
		fill_ring();
		CHECK_EQ(driver_qp_modify(&pair.a.qp, states[i], 0, NULL), 0);
		world_settle(pair.world);
		CHECK_EQ(requester()->ring_size, REQUESTS_MIN);
		CHECK_EQ(*requests_shared(), 0);
		rdma_pair_destroy(&pair);
	}
	fill_ring();
	CHECK_EQ(driver_command(pair.a.driver, TERN_COMMAND_DESTROY_QP, pair.a.qp.qpn, NULL, 0),
		 0);
	CHECK_EQ(*requests_shared(), 0);
	rdma_pair_destroy(&pair);
}

/* Where other queue pairs hold it, it is done without, and what is idle gives it back. */
TERN_TEST(memory_of_requests_is_bounded)
{
	const struct rdma_request write = { .opcode = TERN_WQE_WRITE, .length = 1 };
	uint32_t others = REQUESTS_SHARED - REQUESTS_MIN;
	struct tern_cqe cqe;

	rdma_pair_create(&pair, &(struct rdma_options){ .latency_ns = 1000 });
	*requests_shared() += others;
	for (unsigned int i = 0; i < 100; i++)
		rdma_post(&pair, &pair.a, &write);
	world_settle(pair.world);
	CHECK_EQ(requester()->ring_size, 2 * REQUESTS_MIN);
	for (uint32_t i = 0; i < 100; i++) {
		rdma_wait(&pair, &pair.a.send_cq, &cqe);
		CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
		CHECK_EQ(le32toh(cqe.index), i);
	}
	CHECK_EQ(requester()->ring_size, REQUESTS_MIN);
	CHECK_EQ(*requests_shared(), others);
	*requests_shared() -= others;
	rdma_pair_destroy(&pair);
}

/* Many timers at once, in every order: each fires once, at its time. */
static struct timer timers[500];
static uint64_t fired_at[500];

static void fire(struct tern_nic *nic, struct timer *timer)
{
	CHECK_EQ(fired_at[timer - timers], 0);
	fired_at[timer - timers] = nic_now(nic);
}

TERN_TEST(timers)
{
	struct world *world = world_create();
	struct machine *machine = machine_create(world, NULL, 1 << 20);
	uint64_t start = world->now;
	unsigned int random = 1;

	CHECK(timer_reserve(machine->nic, 500));
	nic_enter(machine->nic);
	for (unsigned int i = 0; i < 500; i++) {
		timer_init(&timers[i], fire);
		timer_arm(machine->nic, &timers[i], start + 1000000);
	}
	for (unsigned int i = 0; i < 500; i++) {
		random = random * 1103515245 + 12345;
		timer_arm(machine->nic, &timers[i], start + 1 + (random >> 16) % 1000);
	}
	for (unsigned int i = 0; i < 500; i += 3)
		timer_cancel(machine->nic, &timers[i]);
	nic_leave(machine->nic);
	world_advance(world, 2000);
	for (unsigned int i = 0; i < 500; i++)
		CHECK_EQ(fired_at[i], i % 3 ? timers[i].deadline : 0);
	CHECK_EQ(machine->deadline, TERN_NIC_NO_DEADLINE);
	timer_release(machine->nic, 500);
	world_destroy(world);
}
