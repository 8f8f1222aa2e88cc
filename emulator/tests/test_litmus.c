// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the protocols between host and device that need full fences, hammered
 * by two real threads: "ring me" of a send queue, arming of a CQ and of an EQ.
 *
 * The device thread runs the NIC and sleeps as soon as tern_nic_prepare_sleep()
 * lets it; only a doorbell wakes it. The host thread posts one to four requests
 * at a time, rings when it is asked to, arms, looks, and waits for the interrupt. A
 * wake-up is lost when the device sleeps although there is work, or although a
 * completion that was armed for made no event: both are seen at once, without
 * a time limit. Without the host's fence this must happen, and another test
 * checks that it does; what a fence of the device is worth was tried by hand.
 */
#include <endian.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "host_driver.h"
#include "nic.h"
#include "tern_test.h"

enum { AWAKE, ASLEEP, RUNG };

struct litmus {
	bool fence;			/* the host does its fences */
	struct machine *machine;
	struct driver driver;
	struct driver_cq cq;
	struct driver_qp qp;
	atomic_bool stop;
	atomic_int state;		/* of the device: AWAKE, ASLEEP, or RUNG and not yet seen */
	atomic_uint events;		/* interrupts */
	unsigned int seen;		/* of events, by the host */
	unsigned int random;		/* the host's */
	uint64_t rounds, rings, lost_doorbells, lost_events;
};

static void pause_for(unsigned int *random)
{
	*random = *random * 1103515245 + 12345;
	for (unsigned int i = (*random >> 16) % 64; i; i--)
		atomic_signal_fence(memory_order_seq_cst);
}

/* Where another thread has to run first: on a busy machine that needs a processor. */
static void spin(unsigned int *spins)
{
	if (++*spins % 4096 == 0)
		sched_yield();
}

static void ring(struct litmus *l)
{
	tern_nic_bar_write(l->machine->nic, 0, 2, TERN_DOORBELL_SEND, l->qp.qpn, 8);
}

static void *device(void *arg)
{
	struct litmus *l = arg;
	struct tern_nic *nic = l->machine->nic;
	unsigned int random = 1, spins = 0;

	while (!l->stop) {
		bool idle;
		int awake = AWAKE;

		tern_nic_run(nic, 16);
		l->events = l->machine->interrupts[0][0];
		pause_for(&random);
		idle = tern_nic_prepare_sleep(nic);
		l->events = l->machine->interrupts[0][0];
		if (!idle)
			continue;
		if (atomic_compare_exchange_strong(&l->state, &awake, ASLEEP)) {
			while (l->state == ASLEEP && !l->stop)
				spin(&spins);
		}
		l->state = AWAKE;
		ring(l);
	}
	return NULL;
}

static atomic_uint *shared(struct litmus *l, uint64_t address)
{
	return host_pointer(l->machine, address);
}

/*
 * Store, full fence, load: the host's side of each protocol. Without the fence
 * the compiler may not reorder, the processor may.
 */
static void fence(const struct litmus *l)
{
	if (l->fence)
		atomic_thread_fence(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);
}

static void arm(struct litmus *l, uint64_t record, uint32_t *word)
{
	*word = ((*word >> 2) + 1) << 2 | TERN_ARM_NEXT;
	atomic_store_explicit(shared(l, record + offsetof(struct tern_queue_record, arm)),
			      htole32(*word), memory_order_release);
	fence(l);
}

static bool completed(struct litmus *l)
{
	const struct driver_cq *cq = &l->cq;
	uint64_t entry = cq->ring + (cq->consumer & ((1U << cq->shift) - 1)) *
			 sizeof(struct tern_cqe);
	uint32_t phase = atomic_load_explicit(shared(l, entry +
						     offsetof(struct tern_cqe, phase)),
					      memory_order_acquire);

	return (le32toh(phase) & 1) == (~(cq->consumer >> cq->shift) & 1);
}

static void post(struct litmus *l)
{
	struct tern_wqe_control *wqe = host_pointer(l->machine, l->qp.sq +
						    (l->qp.sq_producer & 15) * 64);
	uint64_t record = l->qp.sq_record;
	uint64_t ring_word = record + offsetof(struct tern_queue_record, ring);

	*wqe = (struct tern_wqe_control){ .opcode = TERN_WQE_NOP, .blocks = 1,
					  .flags = TERN_WQE_SIGNALED };
	l->qp.sq_producer++;
	atomic_store_explicit(shared(l, record), htole32(l->qp.sq_producer),
			      memory_order_release);
	fence(l);
	if (!atomic_load_explicit(shared(l, ring_word), memory_order_acquire))
		return;
	/* Taken back or not, the device wakes up and is asked for no more than that. */
	if (l->qp.sq_producer & 4)
		atomic_store_explicit(shared(l, ring_word), 0, memory_order_release);
	pause_for(&l->random);
	l->state = RUNG;
	l->rings++;
}

/* Ring after all, so that the test can go on after a loss. */
static void rescue(struct litmus *l)
{
	l->state = RUNG;
	while (!completed(l))
		sched_yield();
}

/* What a device that sleeps has not done by now it will not do. */
static void wait_by_polling(struct litmus *l)
{
	unsigned int spins = 0;

	while (!completed(l)) {
		spin(&spins);
		if (l->state == ASLEEP && !completed(l)) {
			l->lost_doorbells++;
			rescue(l);
		}
	}
}

/* As a driver serves an interrupt: arm, look, until there is nothing to be seen. */
static void serve_interrupt(struct litmus *l)
{
	struct tern_eqe eqe;
	bool found;

	l->seen = l->events;
	do {
		arm(l, l->driver.eq.record, &l->driver.eq.arm);
		found = false;
		while (driver_eq_poll(&l->driver, &l->driver.eq, &eqe))
			found = true;
	} while (found);
}

static void wait_by_event(struct litmus *l)
{
	unsigned int spins = 0;

	for (;;) {
		bool asleep;

		arm(l, l->cq.record, &l->cq.arm);
		if (completed(l))
			return;
		do {
			spin(&spins);
			asleep = l->state == ASLEEP;
		} while (l->events == l->seen && !asleep);
		if (l->events != l->seen) {
			serve_interrupt(l);
			continue;
		}
		if (!completed(l)) {
			l->lost_doorbells++;
			rescue(l);
		} else {
			l->lost_events++;
		}
		return;
	}
}

static void host(struct litmus *l, double seconds)
{
	struct timespec start, now;
	struct tern_cqe cqe;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!l->lost_doorbells && !l->lost_events) {
		pause_for(&l->random);
		for (unsigned int i = l->random >> 20 & 3; i; i--)
			post(l);
		post(l);
		pause_for(&l->random);
		while (l->cq.consumer != l->qp.sq_producer) {
			if (l->rounds & 1)
				wait_by_polling(l);
			else
				wait_by_event(l);
			while (driver_cq_poll(&l->cq, &cqe))
				;
		}
		if (++l->rounds % 256)
			continue;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((double)(now.tv_sec - start.tv_sec) +
		    (double)(now.tv_nsec - start.tv_nsec) / 1e9 > seconds)
			break;
	}
}

static double seconds_wanted(void)
{
	const char *text = getenv("TERN_LITMUS_SECONDS");

	return text ? atof(text) : 2;
}

static void run(struct litmus *l, bool with_fence, double seconds)
{
	struct world *world = world_create();
	pthread_t thread;

	*l = (struct litmus){ .fence = with_fence, .random = 7 };
	l->machine = machine_create(world, NULL, 16 << 20);
	driver_start(&l->driver, l->machine, 0, 0);
	driver_cq_create(&l->driver, &l->cq, 4);
	driver_qp_create(&l->driver, &l->qp, TERN_QP_ETHERNET, 0, 0, 0, &l->cq, &l->cq, 4, 4, 6);
	CHECK_EQ(driver_qp_modify(&l->qp, TERN_QP_RTS, 0, NULL), 0);
	l->machine->interrupts[0][0] = 0;
	world->real_clock = true;
	CHECK_EQ(pthread_create(&thread, NULL, device, l), 0);
	host(l, seconds);
	l->stop = true;
	pthread_join(thread, NULL);
	printf("litmus %s fence: %llu rounds, %u requests, %llu doorbells, lost: %llu doorbells, "
	       "%llu events\n", with_fence ? "with" : "without",
	       (unsigned long long)l->rounds, l->qp.sq_producer,
	       (unsigned long long)l->rings, (unsigned long long)l->lost_doorbells,
	       (unsigned long long)l->lost_events);
	world_destroy(world);
}

TERN_TEST(no_wakeup_is_lost)
{
	struct litmus l;

	run(&l, true, seconds_wanted());
	CHECK_EQ(l.lost_doorbells, 0);
	CHECK_EQ(l.lost_events, 0);
	CHECK(l.rounds > 100);
	/* It slept, or it tested nothing. */
	CHECK(l.rings > 10);
}

/* The test above can fail. */
TERN_TEST(without_the_hosts_fence_wakeups_are_lost)
{
	cpu_set_t cpus;
	struct litmus l;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) < 2)
		SKIP("one processor reorders nothing");
	run(&l, false, 10 * seconds_wanted());
	if (!l.lost_doorbells && !l.lost_events)
		SKIP("not seen in %llu rounds: this machine hardly runs both threads at once",
		     (unsigned long long)l.rounds);
}
