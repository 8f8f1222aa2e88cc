// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: RESIZE_CQ: no entry is lost, arming stays, what is refused changes nothing. */
#include <endian.h>

#include "cq.h"
#include "host_driver.h"
#include "nic.h"
#include "tern_test.h"

static struct world *world;
static struct machine *machine;
static struct driver driver;
static struct function *fn;
static struct driver_cq cq;
static uint32_t posted, polled;

static void setup(uint8_t shift, uint64_t without)
{
	world = world_create();
	machine = machine_create(world, NULL, 64 << 20);
	driver_start(&driver, machine, 0, without);
	driver_cq_create(&driver, &cq, shift);
	fn = &machine->nic->functions[0];
}

static bool post(bool solicited)
{
	struct tern_cqe cqe = { .opcode = TERN_CQE_RECEIVE, .index = htole32(posted++) };
	bool done;

	nic_enter(machine->nic);
	done = cq_post(table_get(&fn->cqs, cq.cqn), &cqe, solicited);
	nic_leave(machine->nic);
	return done;
}

static void poll_all(void)
{
	struct tern_cqe cqe;

	while (driver_cq_poll(&cq, &cqe))
		CHECK_EQ(le32toh(cqe.index), polled++);
	CHECK_EQ(polled, posted);
}

static unsigned int events(void)
{
	unsigned int count = 0;
	struct tern_eqe eqe;

	while (driver_eq_poll(&driver, &driver.eq, &eqe)) {
		CHECK_EQ(eqe.type, TERN_EVENT_COMPLETION);
		count++;
	}
	return count;
}

static struct tern_command_resize_cq body_for(uint8_t shift, struct driver_cq *new)
{
	uint64_t bytes = (uint64_t)sizeof(struct tern_cqe) << shift;
	struct tern_queue_record *record;

	*new = cq;
	new->shift = shift;
	new->consumer = 0;
	new->ring = host_alloc(machine, bytes, 4096);
	new->record = host_alloc(machine, sizeof(*record), 128);
	record = host_pointer(machine, new->record);
	record->arm = ((struct tern_queue_record *)host_pointer(machine, cq.record))->arm;
	return (struct tern_command_resize_cq){
		.pages = driver_pages(new->ring, bytes), .record = htole64(new->record),
		.shift = shift,
	};
}

static uint16_t resize(uint8_t shift)
{
	struct driver_cq new;
	struct tern_command_resize_cq body = body_for(shift, &new);
	uint16_t status;

	status = driver_command(&driver, TERN_COMMAND_RESIZE_CQ, cq.cqn, &body, sizeof(body));
	if (!status) {
		CHECK_EQ(driver.result[0], posted - polled);
		/* Nobody looks at the old ones. */
		memset(host_pointer(machine, cq.ring), 0xff, sizeof(struct tern_cqe) << cq.shift);
		memset(host_pointer(machine, cq.record), 0xff, sizeof(struct tern_queue_record));
		cq = new;
	}
	return status;
}

/* At every fill level and phase, larger and smaller; over the end of both rings afterwards. */
TERN_TEST(nothing_is_lost)
{
	static const uint8_t shifts[] = { 4, 3, 7, 3, 5 };

	setup(3, 0);
	for (unsigned int round = 0; round < 200; round++) {
		for (unsigned int i = 0; i < round % 9; i++)
			CHECK(post(false));
		CHECK_EQ(resize(shifts[round % 5]), 0);
		if (round % 3)
			poll_all();
		for (unsigned int i = 0; i < 8 && posted - polled < 8; i++)
			CHECK(post(false));
		if (round % 2)
			poll_all();
		for (unsigned int i = 0; i < 20; i++) {
			poll_all();
			CHECK(post(false));
		}
		poll_all();
	}
	world_destroy(world);
}

TERN_TEST(room_is_that_of_the_new_ring)
{
	struct tern_eqe eqe;

	setup(4, 0);
	for (unsigned int i = 0; i < 5; i++)
		CHECK(post(false));
	/* Five do not fit into four, and all is as before. */
	CHECK_EQ(resize(2), TERN_COMMAND_STATUS_BAD_PARAMETER);
	CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) +
		 offsetof(struct tern_command_resize_cq, shift));
	poll_all();
	for (unsigned int i = 0; i < 3; i++)
		CHECK(post(false));
	CHECK_EQ(resize(2), 0);
	CHECK(post(false));
	CHECK(!post(false));
	posted--;
	poll_all();
	CHECK(driver_eq_poll(&driver, &driver.eq, &eqe));
	CHECK_EQ(eqe.type, TERN_EVENT_CQ_ERROR);
	CHECK_EQ(resize(5), TERN_COMMAND_STATUS_BAD_STATE);
	world_destroy(world);
}

TERN_TEST(arming_stays)
{
	setup(3, 0);
	driver_cq_arm(&cq, TERN_ARM_NEXT);
	CHECK_EQ(resize(4), 0);
	CHECK_EQ(events(), 0);
	post(false);
	CHECK_EQ(events(), 1);
	/* One that was served is not served again. */
	CHECK_EQ(resize(5), 0);
	post(false);
	CHECK_EQ(events(), 0);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	CHECK_EQ(resize(3), 0);
	post(false);
	CHECK_EQ(events(), 0);
	post(true);
	CHECK_EQ(events(), 1);
	poll_all();
	world_destroy(world);
}

/* Armed by doorbell, a solicited entry that was there before the resizing counts. */
TERN_TEST(arming_by_doorbell)
{
	setup(3, UINT64_C(1) << TERN_FEATURE_DOORBELL_RECORDS);
	for (unsigned int i = 0; i < 5; i++)
		post(false);
	poll_all();
	post(true);
	post(false);
	CHECK_EQ(resize(4), 0);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	CHECK_EQ(events(), 1);
	poll_all();
	post(false);
	driver_cq_arm(&cq, TERN_ARM_SOLICITED);
	CHECK_EQ(events(), 0);
	world_destroy(world);
}

#define REFUSED(member, value, wanted, field)						\
	do {										\
		bad = good;								\
		bad.member = (value);							\
		CHECK_EQ(driver_command(&driver, TERN_COMMAND_RESIZE_CQ, cq.cqn, &bad,	\
					sizeof(bad)), TERN_COMMAND_STATUS_##wanted);	\
		CHECK_EQ(driver.syndrome, offsetof(struct tern_command, body) +		\
			 offsetof(struct tern_command_resize_cq, field));		\
	} while (0)

TERN_TEST(refusals)
{
	struct tern_command_resize_cq good, bad;
	struct driver_cq new;

	setup(3, 0);
	post(false);
	good = body_for(4, &new);
	REFUSED(shift, 0, BAD_PARAMETER, shift);
	REFUSED(shift, 21, BAD_PARAMETER, shift);
	REFUSED(shift, 5, BAD_PARAMETER, pages.length);
	REFUSED(pages.root, good.pages.root + htole64(8), BAD_PARAMETER, pages.root);
	REFUSED(record, good.record + htole64(64), BAD_PARAMETER, record);
	REFUSED(record, htole64(UINT64_C(1) << 60), BAD_ADDRESS, record);
	REFUSED(pages.root, htole64(UINT64_C(1) << 60), BAD_ADDRESS, pages);
	REFUSED(reserved0[0], 1, BAD_PARAMETER, reserved0);
	REFUSED(reserved1, 1, BAD_PARAMETER, reserved1);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_RESIZE_CQ, 33024, &good, sizeof(good)),
		 TERN_COMMAND_STATUS_BAD_NUMBER);
	CHECK_EQ(driver_command(&driver, TERN_COMMAND_RESIZE_CQ, 99, &good, sizeof(good)),
		 TERN_COMMAND_STATUS_NOT_FOUND);
	post(false);
	poll_all();
	world_destroy(world);
}
