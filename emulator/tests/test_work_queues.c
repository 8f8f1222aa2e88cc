// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: work requests as the device reads them; indices; doorbells and their suppression. */
#include <endian.h>
#include <stdlib.h>

#include "host_peer.h"
#include "nic.h"
#include "qp.h"
#include "tern_test.h"

static struct world *world;
static struct machine *machine;
static struct driver driver;
static struct function *fn;
static struct driver_cq cq;
static struct driver_qp qp;
static struct qp *inner;		/* the device's side of it */

static void setup_without(uint64_t features, uint8_t type, uint8_t rq_stride_shift)
{
	world = world_create();
	machine = machine_create(world, NULL, 64 << 20);
	driver_start(&driver, machine, 0, features);
	driver_cq_create(&driver, &cq, 8);
	driver_qp_create(&driver, &qp, type, 0, 0, 0, &cq, &cq, 4, 4, rq_stride_shift);
	fn = &machine->nic->functions[0];
	inner = qp_find(fn, qp.qpn);
	CHECK(inner);
}

static void setup(uint8_t type)
{
	setup_without(0, type, 6);
}

static void set_index(uint64_t record, uint32_t index)
{
	*(uint32_t *)host_pointer(machine, record) = htole32(index);
}

static uint32_t ring_word(uint64_t record)
{
	return le32toh(*(uint32_t *)host_pointer(machine, record +
						 offsetof(struct tern_queue_record, ring)));
}

/* Write @blocks blocks at @index of the SQ, as they are. */
static void write_sq(uint32_t index, const void *raw, unsigned int blocks)
{
	for (unsigned int i = 0; i < blocks; i++)
		memcpy(host_pointer(machine, qp.sq + ((index + i) & 15) * 64),
		       (const uint8_t *)raw + i * 64, 64);
}

struct raw_wqe {
	struct tern_wqe_control control;
	uint8_t rest[TERN_WQE_BYTES_MAX - 16];
};

/* What the device makes of @wqe with so many blocks posted. */
static enum wqe_error fetch(const struct raw_wqe *wqe, uint32_t posted, struct send_wqe *got)
{
	write_sq(14, wqe, 8);
	inner->sq.producer = 14 + posted;
	memset(got, 0xcc, sizeof(*got));
	return send_wqe_fetch(&inner->sq, 14, got);
}

TERN_TEST(shape_of_rdma_requests)
{
	struct raw_wqe wqe = { .control = {
		.opcode = TERN_WQE_WRITE, .flags = TERN_WQE_SIGNALED, .blocks = 8,
		.sge_count = 30, .immediate = { 1, 2, 3, 4 },
	} };
	struct tern_wqe_remote remote = { htole64(0x1122334455667788), htole32(0x99), 0 };
	struct send_wqe got;

	setup(TERN_QP_RC);
	memcpy(wqe.rest, &remote, sizeof(remote));
	for (unsigned int i = 0; i < 30; i++) {
		struct tern_sge sge = { htole64(i * 1000), htole32(UINT32_MAX), htole32(i) };

		memcpy(wqe.rest + 16 + i * 16, &sge, sizeof(sge));
	}
	/* Eight blocks that wrap around the end of the ring. */
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_OK);
	CHECK_EQ(got.index, 14);
	CHECK_EQ(got.blocks, 8);
	CHECK_EQ(got.opcode, TERN_WQE_WRITE);
	CHECK_EQ(got.flags, TERN_WQE_SIGNALED);
	CHECK_EQ(got.sge_count, 30);
	CHECK_EQ(got.remote_address, 0x1122334455667788);
	CHECK_EQ(got.remote_key, 0x99);
	CHECK_EQ(got.sges[29].address, 29000);
	CHECK_EQ(got.sges[29].key, 29);
	CHECK_EQ(got.length, 30 * (uint64_t)UINT32_MAX);
	CHECK(!got.address && !got.ethernet && !got.inline_data);
	CHECK_MEM(got.immediate, "\1\2\3\4", 4);
	/* Blocks: more than posted, none, too many; the next request is one further then. */
	CHECK_EQ(fetch(&wqe, 7, &got), WQE_MALFORMED);
	CHECK_EQ(got.blocks, 1);
	wqe.control.blocks = 0;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	wqe.control.blocks = 9;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	CHECK_EQ(got.blocks, 1);
	wqe.control.blocks = 255;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	/* SGEs: just as many as fit. */
	wqe.control.blocks = 8;
	for (unsigned int count = 0; count < 256; count++) {
		wqe.control.sge_count = (uint8_t)count;
		CHECK_EQ(fetch(&wqe, 8, &got), count <= 30 ? WQE_OK : WQE_MALFORMED);
	}
	wqe.control.blocks = 1;
	for (unsigned int count = 0; count < 6; count++) {
		wqe.control.sge_count = (uint8_t)count;
		CHECK_EQ(fetch(&wqe, 8, &got), count <= 2 ? WQE_OK : WQE_MALFORMED);
	}
	wqe.control.sge_count = 0;
	/* Flags, and what is ignored. */
	for (unsigned int bit = 0; bit < 8; bit++) {
		wqe.control.flags = (uint8_t)(1U << bit);
		CHECK_EQ(fetch(&wqe, 8, &got), bit < 4 ? WQE_OK : WQE_MALFORMED);
	}
	wqe.control.flags = 0;
	wqe.control.reserved0 = 0xffff;
	wqe.control.remote_srqn = 0xffffffff;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_OK);
	/* Opcodes of this kind of queue pair and features; as FLUSH's the immediate is right. */
	memcpy(wqe.control.immediate, "\1\0\0\0", 4);
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		bool known = opcode == TERN_WQE_NOP || opcode == TERN_WQE_SEND ||
			     opcode == TERN_WQE_SEND_IMMEDIATE || opcode == TERN_WQE_WRITE ||
			     opcode == TERN_WQE_WRITE_IMMEDIATE || opcode == TERN_WQE_READ ||
			     opcode == TERN_WQE_CAS || opcode == TERN_WQE_FETCH_ADD ||
			     opcode == TERN_WQE_ATOMIC_WRITE || opcode == TERN_WQE_FLUSH ||
			     opcode == TERN_WQE_SEND_INVALIDATE ||
			     opcode == TERN_WQE_BIND_WINDOW ||
			     opcode == TERN_WQE_LOCAL_INVALIDATE;

		wqe.control.opcode = (uint8_t)opcode;
		CHECK_EQ(fetch(&wqe, 8, &got), known ? WQE_OK : WQE_MALFORMED);
	}
	world_destroy(world);
}

TERN_TEST(shape_of_flush_and_atomic_write)
{
	struct raw_wqe wqe = { .control = { .opcode = TERN_WQE_FLUSH, .blocks = 1 } };
	struct tern_wqe_remote remote = { htole64(64), htole32(0x99), htole32(0xfedcba98) };
	const uint32_t places = TERN_FLUSH_GLOBAL | TERN_FLUSH_PERSISTENT;
	struct send_wqe got;

	setup(TERN_QP_RC);
	memcpy(wqe.rest, &remote, sizeof(remote));
	for (unsigned int low = 0; low < 256; low++) {
		bool valid = (low & places) && !(low & ~(places | TERN_FLUSH_REGION));
		const uint8_t immediate[4] = { (uint8_t)low };

		memcpy(wqe.control.immediate, immediate, sizeof(immediate));
		CHECK_EQ(fetch(&wqe, 1, &got), valid ? WQE_OK : WQE_MALFORMED);
	}
	for (unsigned int bit = 8; bit < 32; bit++) {
		uint32_t flush = htole32(TERN_FLUSH_GLOBAL | 1U << bit);

		memcpy(wqe.control.immediate, &flush, 4);
		CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	}
	memcpy(wqe.control.immediate, "\1\0\0\0", 4);
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_OK);
	CHECK_EQ(got.flush_length, 0xfedcba98);
	CHECK_EQ(got.length, 0);
	wqe.control.sge_count = 1;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	wqe.control.sge_count = 0;
	wqe.control.flags = TERN_WQE_INLINE;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	wqe.control.inline_length = htole16(8);
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	wqe.control.opcode = TERN_WQE_ATOMIC_WRITE;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_OK);
	CHECK_EQ(got.length, 8);
	world_destroy(world);

	/* Of other types of queue pairs they are no opcodes. */
	wqe.control.flags = 0;
	wqe.control.inline_length = 0;
	for (uint8_t type = TERN_QP_UC; type <= TERN_QP_UD; type++) {
		setup(type);
		for (uint8_t opcode = TERN_WQE_ATOMIC_WRITE; opcode <= TERN_WQE_FLUSH; opcode++) {
			wqe.control.opcode = opcode;
			CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
		}
		world_destroy(world);
	}
}

TERN_TEST(shape_of_inline_requests)
{
	struct raw_wqe wqe = { .control = {
		.opcode = TERN_WQE_WRITE, .flags = TERN_WQE_INLINE, .blocks = 8,
	} };
	struct send_wqe got;

	setup(TERN_QP_RC);
	for (size_t i = 0; i < sizeof(wqe.rest); i++)
		wqe.rest[i] = (uint8_t)i;
	for (unsigned int length = 0; length <= 482; length++) {
		wqe.control.inline_length = htole16((uint16_t)length);
		CHECK_EQ(fetch(&wqe, 8, &got), length <= 480 ? WQE_OK : WQE_MALFORMED);
		if (length > 480)
			continue;
		CHECK_EQ(got.length, length);
		CHECK_MEM(got.inline_data, wqe.rest + 16, length);
	}
	/* Without a remote segment there is room for more, but it is not allowed. */
	wqe.control.opcode = TERN_WQE_SEND;
	for (unsigned int length = 479; length <= 500; length++) {
		wqe.control.inline_length = htole16((uint16_t)length);
		CHECK_EQ(fetch(&wqe, 8, &got), length <= 480 ? WQE_OK : WQE_MALFORMED);
	}
	wqe.control.opcode = TERN_WQE_WRITE;
	wqe.control.blocks = 1;
	wqe.control.inline_length = htole16(32);
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_OK);
	wqe.control.inline_length = htole16(33);
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	wqe.control.inline_length = htole16(0xffff);
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	wqe.control.inline_length = htole16(8);
	wqe.control.sge_count = 1;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	wqe.control.sge_count = 0;
	wqe.control.opcode = TERN_WQE_READ;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	wqe.control.opcode = TERN_WQE_NOP;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	/* A length without the flag. */
	wqe.control.opcode = TERN_WQE_SEND;
	wqe.control.flags = 0;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	world_destroy(world);
}

TERN_TEST(shape_of_ud_and_ethernet_requests)
{
	struct raw_wqe wqe = { .control = { .opcode = TERN_WQE_SEND, .blocks = 8,
					    .sge_count = 28 } };
	struct send_wqe got;

	setup(TERN_QP_UD);
	wqe.rest[5] = 0x77;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_OK);
	CHECK(got.address);
	CHECK_EQ(got.address->destination_gid[5], 0x77);
	wqe.control.sge_count = 29;
	CHECK_EQ(fetch(&wqe, 8, &got), WQE_MALFORMED);
	wqe.control.blocks = 1;
	wqe.control.sge_count = 0;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_OK);
	wqe.control.sge_count = 1;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	wqe.control.sge_count = 0;
	wqe.control.opcode = TERN_WQE_WRITE;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	wqe.control.opcode = TERN_WQE_ETHERNET;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	world_destroy(world);

	setup(TERN_QP_ETHERNET);
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_OK);
	CHECK(got.ethernet);
	wqe.control.opcode = TERN_WQE_SEND;
	CHECK_EQ(fetch(&wqe, 1, &got), WQE_MALFORMED);
	world_destroy(world);
}

TERN_TEST(shape_of_receives)
{
	for (uint8_t shift = 6; shift <= 9; shift++) {
		struct tern_receive_header header = { .reserved0 = { 1, 2, 3 } };
		unsigned int fits = ((1U << shift) - 16) / 16;
		struct receive_wqe got;

		setup_without(0, TERN_QP_RC, shift);
		for (unsigned int count = 0; count < 256; count++) {
			uint64_t place = qp.rq + ((UINT64_C(5) & 15) << shift);

			header.sge_count = (uint8_t)count;
			memcpy(host_pointer(machine, place), &header, sizeof(header));
			for (unsigned int i = 0; i < count && i < fits; i++) {
				struct tern_sge sge = { htole64(i), htole32(10 + i), htole32(3) };

				memcpy(host_pointer(machine, place + 16 + i * 16), &sge,
				       sizeof(sge));
			}
			CHECK_EQ(receive_wqe_fetch(&inner->rq, 5, &got),
				 count <= fits ? WQE_OK : WQE_MALFORMED);
			if (count > fits)
				continue;
			CHECK_EQ(got.sge_count, count);
			CHECK_EQ(got.length, 10 * count + count * (count - 1) / 2);
			if (count)
				CHECK_EQ(got.sges[count - 1].address, count - 1);
		}
		host_set_pages(machine, qp.rq, 4096, HOST_PAGE_ABSENT);
		CHECK_EQ(receive_wqe_fetch(&inner->rq, 5, &got), WQE_FAULT);
		world_destroy(world);
	}
}

/* A queue of 512-byte entries that lie across pages here and there. */
TERN_TEST(queue_over_a_page_list)
{
	struct tern_command_create_qp body = {
		.type = TERN_QP_RC, .sq_shift = 7, .rq_shift = 4, .rq_stride_shift = 9,
	};
	struct raw_wqe wqe = { .control = { .opcode = TERN_WQE_SEND, .blocks = 8,
					    .flags = TERN_WQE_INLINE,
					    .inline_length = htole16(400) } };
	struct send_wqe got;
	uint64_t pages[3], base;
	struct qp *other;

	setup(TERN_QP_RC);
	base = host_alloc(machine, 3 * 4096, 4096);
	for (unsigned int i = 0; i < 3; i++)
		pages[i] = base + (2 - i) * 4096;
	body.send_cqn = htole32(cq.cqn);
	body.receive_cqn = htole32(cq.cqn);
	body.sq = driver_page_table(machine, pages, 3, 12, 1, 1984, 64 << 7);
	body.sq_record = htole64(host_alloc(machine, 128, 128));
	body.rq = driver_page_table(machine, pages, 3, 12, 1, 64, 512 << 4);
	body.rq_record = htole64(host_alloc(machine, 128, 128));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_QP, 9, &body, sizeof(body)), 0);
	other = qp_find(fn, 9);
	for (uint32_t index = 0; index < 128; index++) {
		for (unsigned int i = 0; i < sizeof(wqe.rest); i++)
			wqe.rest[i] = (uint8_t)(i + index);
		for (unsigned int b = 0; b < 8; b++) {
			uint64_t place = 1984 + ((index + b) % 128) * 64;

			memcpy(host_pointer(machine, pages[place / 4096] + place % 4096),
			       (uint8_t *)&wqe + b * 64, 64);
		}
		other->sq.producer = index + 8;
		CHECK_EQ(send_wqe_fetch(&other->sq, index, &got), WQE_OK);
		CHECK_MEM(got.inline_data, wqe.rest, 400);
	}
	world_destroy(world);
}

static const struct raw_wqe nop = {
	.control = { .opcode = TERN_WQE_NOP, .flags = TERN_WQE_SIGNALED, .blocks = 1 },
};

static void to_rts(void)
{
	CHECK_EQ(driver_qp_modify(&qp, TERN_QP_RTS, 0, NULL), 0);
	world_settle(world);
}

static const char *state(void)
{
	struct tern_nic_qp_info info;

	CHECK(tern_nic_next_qp(machine->nic, 0, qp.qpn, &info));
	return info.state;
}

static bool post_at_next_read;

/* The host posts just after the device looked, and just before it asks for a doorbell. */
static void post_after_read(struct machine *from, uint64_t iova, size_t length)
{
	(void)from;
	(void)length;
	if (!post_at_next_read || iova != qp.sq_record)
		return;
	post_at_next_read = false;
	CHECK_EQ(ring_word(qp.sq_record), 0);
	driver_post_send(&qp, &nop, 1);
}

TERN_TEST(posted_while_the_queue_falls_asleep)
{
	struct tern_cqe cqe;

	setup(TERN_QP_ETHERNET);
	to_rts();
	host_set_pages(machine, qp.sq_record & ~UINT64_C(4095), 4096, HOST_PAGE_UNMAPPABLE);
	machine->on_read = post_after_read;
	/* Long enough for it to fall asleep by itself, though the NIC runs on. */
	world->now += 100000;
	post_at_next_read = true;
	while (host_run(machine, 64))
		;
	CHECK(!post_at_next_read);
	CHECK_EQ(qp.doorbells, 0);
	CHECK(driver_cq_poll(&cq, &cqe));
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	world_destroy(world);
}

/* An index anywhere outside of the ring: the queue pair fails, once, and nothing else does. */
TERN_TEST(producer_outside_the_ring)
{
	static const uint32_t bad[] = { 17, 100, 0x80000000, UINT32_MAX };
	struct tern_cqe cqe;
	struct tern_eqe eqe;

	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int doorbell = 0; doorbell < 2; doorbell++) {
			setup_without(doorbell ? UINT64_C(1) << TERN_FEATURE_DOORBELL_RECORDS : 0,
				      TERN_QP_ETHERNET, 6);
			to_rts();
			set_index(qp.sq_record, bad[i]);
			driver_doorbell(&driver, 0, TERN_DOORBELL_SEND, qp.qpn, bad[i]);
			world_settle(world);
			CHECK_STR(state(), "error");
			CHECK_EQ(host_counter(machine, 0, "index_errors"), 1);
			CHECK(driver_eq_poll(&driver, &driver.eq, &eqe));
			CHECK_EQ(eqe.type, TERN_EVENT_QP_FATAL);
			CHECK_EQ(le32toh(eqe.number), qp.qpn);
			CHECK(!driver_eq_poll(&driver, &driver.eq, &eqe));
			CHECK(!driver_cq_poll(&cq, &cqe));
			/* It is at rest, and after RESET as new. */
			driver_doorbell(&driver, 0, TERN_DOORBELL_SEND, qp.qpn, 3);
			CHECK(!host_run(machine, 64));
			CHECK(host_prepare_sleep(machine));
			qp.state = TERN_QP_ERROR;
			CHECK_EQ(driver_qp_modify(&qp, TERN_QP_RESET, 0, NULL), 0);
			to_rts();
			driver_post_send(&qp, &nop, 1);
			world_settle(world);
			CHECK(driver_cq_poll(&cq, &cqe));
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
			world_destroy(world);
		}
	}
}

TERN_TEST(producer_that_goes_back)
{
	setup(TERN_QP_ETHERNET);
	to_rts();
	for (unsigned int i = 0; i < 10; i++)
		driver_post_send(&qp, &nop, 1);
	world_settle(world);
	CHECK_STR(state(), "rts");
	set_index(qp.sq_record, 9);
	driver_doorbell(&driver, 0, TERN_DOORBELL_SEND, qp.qpn, 9);
	world_settle(world);
	CHECK_STR(state(), "error");
	world_destroy(world);
}

TERN_TEST(record_gone)
{
	setup(TERN_QP_ETHERNET);
	to_rts();
	driver_post_send(&qp, &nop, 1);
	host_set_pages(machine, qp.sq_record & ~UINT64_C(4095), 4096, HOST_PAGE_ABSENT);
	world_settle(world);
	CHECK_STR(state(), "error");
	world_settle(world);
	CHECK(!host_run(machine, 64));
	world_destroy(world);
}

/* Everything through the ring several times, one doorbell per sleep. */
TERN_TEST(doorbells_are_rare)
{
	struct tern_cqe cqe;
	uint32_t next = 0;

	setup(TERN_QP_ETHERNET);
	to_rts();
	CHECK(host_prepare_sleep(machine));
	CHECK_EQ(ring_word(qp.sq_record), 1);
	for (unsigned int sleeps = 0; sleeps < 10; sleeps++) {
		for (unsigned int i = 0; i < 100; i++) {
			driver_post_send(&qp, &nop, 1);
			world_settle(world);
			CHECK(driver_cq_poll(&cq, &cqe));
			CHECK_EQ(le32toh(cqe.index), next++);
		}
		CHECK_EQ(qp.doorbells, sleeps + 1);
		CHECK_EQ(ring_word(qp.sq_record), 0);
		CHECK(host_prepare_sleep(machine));
		CHECK_EQ(ring_word(qp.sq_record), 1);
	}
	CHECK_EQ(host_counter(machine, 0, "doorbells"), 10);
	/* A receive queue asks for none. */
	CHECK_EQ(ring_word(qp.rq_record), 0);
	world_destroy(world);
}

/* Work that comes while the device is about to sleep keeps it awake. */
TERN_TEST(work_while_going_to_sleep)
{
	struct tern_cqe cqe;

	setup(TERN_QP_ETHERNET);
	to_rts();
	write_sq(0, &nop, 1);
	set_index(qp.sq_record, 1);
	CHECK(!host_prepare_sleep(machine));
	CHECK_EQ(ring_word(qp.sq_record), 0);
	host_run(machine, 64);
	CHECK(driver_cq_poll(&cq, &cqe));
	CHECK(host_prepare_sleep(machine));
	/* While others are busy a queue that rests is put to sleep too. */
	driver_doorbell(&driver, 0, TERN_DOORBELL_SEND, qp.qpn, 1);
	CHECK_EQ(ring_word(qp.sq_record), 0);
	host_run(machine, 64);
	CHECK_EQ(ring_word(qp.sq_record), 0);
	world->now += 1000000;
	host_run(machine, 64);
	CHECK_EQ(ring_word(qp.sq_record), 1);
	CHECK_EQ(machine->nic->active_count, 0);
	world_destroy(world);
}

/* Requests that wait for acknowledgements: a doorbell would not help them, so none is wanted. */
TERN_TEST(requests_that_wait_need_no_doorbells)
{
	struct rdma_options options = { .path_mtu = 1 };
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .length = 65536 };
	struct driver_qp *sender;
	struct rdma_pair pair;
	unsigned int done = 0;
	struct tern_cqe cqe;
	struct peer *peer;
	uint64_t rung;

	rdma_pair_create(&pair, &options);
	peer = calloc(1, sizeof(*peer));
	CHECK(peer);
	peer_start(peer, &pair);
	machine = pair.a.machine;
	sender = &pair.a.qp;
	/* Twice what may be in flight, and one more. */
	rdma_post(&pair, &pair.a, &request);
	rdma_post(&pair, &pair.a, &request);
	world_settle(pair.world);
	CHECK(host_prepare_sleep(machine));
	CHECK_EQ(ring_word(sender->sq_record), 0);
	rung = sender->doorbells;
	rdma_post(&pair, &pair.a, &request);
	CHECK_EQ(sender->doorbells, rung);
	/* Nor when others keep the device awake; then it is not looked at, either. */
	driver_doorbell(pair.a.driver, 0, TERN_DOORBELL_SEND, sender->qpn, 0);
	world_settle(pair.world);
	CHECK_EQ(machine->nic->active_count, 1);
	pair.world->now += 1000000;
	world_settle(pair.world);
	CHECK_EQ(ring_word(sender->sq_record), 0);
	CHECK_EQ(machine->nic->active_count, 0);
	CHECK(host_prepare_sleep(machine));
	/* It goes on without one, and then asks. */
	while (done < 3) {
		if (peer_next(peer) && peer->packet.headers.ack_request)
			peer_acknowledge(peer, peer->packet.headers.psn,
					 WIRE_AETH_ACK | WIRE_CREDITS_UNLIMITED);
		if (driver_cq_poll(&pair.a.send_cq, &cqe)) {
			CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
			done++;
		}
	}
	CHECK_EQ(sender->doorbells, rung);
	world_settle(pair.world);
	CHECK(host_prepare_sleep(machine));
	CHECK_EQ(ring_word(sender->sq_record), 1);
	peer_stop(peer);
	free(peer);
	rdma_pair_destroy(&pair);
}

TERN_TEST(doorbells_of_others)
{
	struct tern_command_create_qp body = {
		.type = TERN_QP_ETHERNET, .sq_shift = 4, .flags = htole32(TERN_QP_NO_RQ),
		.doorbell_page = htole32(3),
	};

	setup(TERN_QP_ETHERNET);
	body.send_cqn = htole32(cq.cqn);
	body.sq = driver_pages(host_alloc(machine, 1024, 64), 1024);
	body.sq_record = htole64(host_alloc(machine, 128, 128));
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_CREATE_QP, 9, &body, sizeof(body)), 0);
	driver_doorbell(&driver, 3, TERN_DOORBELL_SEND, 9, 0);
	CHECK_EQ(host_counter(machine, 0, "doorbells_dropped"), 0);
	driver_doorbell(&driver, 0, TERN_DOORBELL_SEND, 9, 0);
	driver_doorbell(&driver, 2, TERN_DOORBELL_SEND, 9, 0);
	driver_doorbell(&driver, 3, TERN_DOORBELL_SEND, qp.qpn, 0);
	driver_doorbell(&driver, 3, TERN_DOORBELL_RECEIVE, 9, 0);
	driver_doorbell(&driver, 0, TERN_DOORBELL_RECEIVE, 1234, 0);
	driver_doorbell(&driver, 3, TERN_DOORBELL_SEND, 9 | 1U << 24, 0);
	driver_doorbell(&driver, 3, TERN_DOORBELL_SRQ, 9, 0);
	driver_doorbell(&driver, 3, 0x28, 9, 0);
	driver_doorbell(&driver, 3, 0xff8, 9, 0);
	host_write(machine, 0, 2, 3 * 4096, 9, 4);
	CHECK_EQ(host_counter(machine, 0, "doorbells_dropped"), 10);
	world_destroy(world);
}

/* Bus mastering goes and comes back: nothing fails, nothing is lost. */
TERN_TEST(bus_master_while_busy)
{
	struct tern_cqe cqe;

	setup(TERN_QP_ETHERNET);
	to_rts();
	tern_nic_bus_master(machine->nic, 0, false);
	driver_post_send(&qp, &nop, 1);
	for (unsigned int i = 0; i < 10; i++)
		host_run(machine, 64);
	CHECK(host_prepare_sleep(machine));
	CHECK_STR(state(), "rts");
	CHECK_EQ(machine->nic->active_count, 0);
	tern_nic_bus_master(machine->nic, 0, true);
	world_settle(world);
	CHECK(driver_cq_poll(&cq, &cqe));
	CHECK_EQ(cqe.status, TERN_WC_SUCCESS);
	world_destroy(world);
}

/* Posted before and in ERROR: each completes as flushed, in order, once. */
TERN_TEST(flush_of_what_comes_later)
{
	struct tern_cqe cqe;
	struct tern_sge sge = { 0 };

	setup(TERN_QP_ETHERNET);
	to_rts();
	for (unsigned int i = 0; i < 5; i++)
		driver_post_receive(&qp, &sge, 1);
	CHECK_EQ(driver_qp_modify(&qp, TERN_QP_ERROR, 0, NULL), 0);
	world_settle(world);
	CHECK(host_prepare_sleep(machine));
	for (unsigned int i = 5; i < 9; i++) {
		driver_post_receive(&qp, &sge, 1);
		world_settle(world);
		CHECK(host_prepare_sleep(machine));
	}
	for (uint32_t i = 0; i < 9; i++) {
		CHECK(driver_cq_poll(&cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
		CHECK_EQ(le32toh(cqe.index), i);
	}
	for (uint32_t i = 0; i < 4; i++) {
		driver_post_send(&qp, &nop, 1);
		world_settle(world);
		CHECK(host_prepare_sleep(machine));
		CHECK(driver_cq_poll(&cq, &cqe));
		CHECK_EQ(cqe.status, TERN_WC_FLUSHED);
		CHECK_EQ(le32toh(cqe.index), i);
	}
	CHECK(!driver_cq_poll(&cq, &cqe));
	world_destroy(world);
}

/* Beside a queue whose requests wait, one that moves meanwhile is not left without its doorbell. */
TERN_TEST(moved_while_another_waits)
{
	struct rdma_options options = { .path_mtu = 1 };
	struct rdma_request request = { .opcode = TERN_WQE_WRITE, .length = 65536 };
	struct driver_qp other;
	struct rdma_pair pair;
	struct peer *peer;

	rdma_pair_create(&pair, &options);
	peer = calloc(1, sizeof(*peer));
	CHECK(peer);
	peer_start(peer, &pair);
	machine = pair.a.machine;
	driver_qp_create(pair.a.driver, &other, TERN_QP_RC, 0, RDMA_PD, 0, &pair.a.send_cq,
			 &pair.a.receive_cq, 4, 4, 6);
	CHECK_EQ(driver_qp_modify(&other, TERN_QP_ERROR, 0, &(struct tern_qp_attributes){ 0 }), 0);
	rdma_post(&pair, &pair.a, &request);
	rdma_post(&pair, &pair.a, &request);
	world_settle(pair.world);
	/* All active; then the other's receive queue moves. */
	driver_doorbell(pair.a.driver, 0, TERN_DOORBELL_SEND, pair.a.qp.qpn, 0);
	driver_doorbell(pair.a.driver, 0, TERN_DOORBELL_SEND, other.qpn, 0);
	driver_doorbell(pair.a.driver, 0, TERN_DOORBELL_RECEIVE, other.qpn, 0);
	CHECK_EQ(ring_word(other.rq_record), 0);
	set_index(other.rq_record, 1);
	if (host_prepare_sleep(machine))
		CHECK_EQ(ring_word(other.rq_record), 1);
	else
		CHECK(machine->nic->active_count);
	peer_stop(peer);
	free(peer);
	rdma_pair_destroy(&pair);
}
