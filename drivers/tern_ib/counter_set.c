// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: counters of chosen queue pairs, "rdma statistic". */
/* Before rdma_counter.h, which it needs and which it includes in its midst. */
#include <rdma/ib_verbs.h>

#include "internal.h"
#include "tern_hw_counter_set.h"
#include "verbs.h"

static int tern_ib_bind(struct tern_ib_device *dev, struct ib_qp *ibqp, u32 number)
{
	const struct tern_command_bind_counter_set body = {
		.counter_set = cpu_to_le32(number),
	};

	return tern_command_execute(dev->tern, TERN_COMMAND_BIND_COUNTER_SET,
				    to_tern_qp(ibqp)->number, &body, sizeof(body), NULL);
}

static int tern_ib_counter_alloc(struct tern_ib_device *dev, struct rdma_counter *counter)
{
	int err;

	err = tern_number_alloc(dev->tern, TERN_NUMBERS_COUNTER_SET, &counter->id);
	if (err) {
		counter->id = 0;
		return err;
	}
	err = tern_command_execute(dev->tern, TERN_COMMAND_CREATE_COUNTER_SET, counter->id, NULL,
				   0, NULL);
	if (err) {
		tern_number_free(dev->tern, TERN_NUMBERS_COUNTER_SET, counter->id);
		counter->id = 0;
	}
	return err;
}

/* The core forgets it in any case. Of a set that a live device keeps the number stays taken. */
int tern_ib_counter_dealloc(struct rdma_counter *counter)
{
	struct tern_ib_device *dev = to_tern_ib(counter->device);
	int err;

	if (!counter->id)
		return 0;
	err = tern_command_execute(dev->tern, TERN_COMMAND_DESTROY_COUNTER_SET, counter->id, NULL,
				   0, NULL);
	err = tern_ib_gone_is_done(dev->tern, err);
	if (err)
		ibdev_warn(&dev->ib, "counter set %u stays: error %d\n", counter->id, err);
	else
		tern_number_free(dev->tern, TERN_NUMBERS_COUNTER_SET, counter->id);
	return 0;
}

/* A counter without a number has no set yet. */
int tern_ib_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port)
{
	struct tern_ib_device *dev = to_tern_ib(ibqp->device);
	bool made = !counter->id;
	int err;

	if (!tern_has(dev->tern, TERN_FEATURE_COUNTER_SETS))
		return -EOPNOTSUPP;
	if (made) {
		err = tern_ib_counter_alloc(dev, counter);
		if (err)
			return err;
	}
	err = tern_ib_bind(dev, ibqp, counter->id);
	if (err)
		goto dealloc;
	ibqp->counter = counter;
	return 0;

dealloc:
	if (made) {
		tern_ib_counter_dealloc(counter);
		counter->id = 0;
	}
	return err;
}

int tern_ib_counter_unbind_qp(struct ib_qp *ibqp, u32 port)
{
	struct tern_ib_device *dev = to_tern_ib(ibqp->device);
	int err;

	err = tern_ib_gone_is_done(dev->tern, tern_ib_bind(dev, ibqp, 0));
	if (!err)
		ibqp->counter = NULL;
	return err;
}

struct rdma_hw_stats *tern_ib_counter_alloc_stats(struct rdma_counter *counter)
{
	if (!tern_has(to_tern_ib(counter->device)->tern, TERN_FEATURE_COUNTER_SETS))
		return NULL;
	return tern_ib_new_hw_stats();
}

int tern_ib_counter_update_stats(struct rdma_counter *counter)
{
	int count = tern_ib_read_hw_stats(to_tern_ib(counter->device),
					  TERN_COMMAND_QUERY_COUNTER_SET, counter->id, 0,
					  counter->stats);

	return min(count, 0);
}
