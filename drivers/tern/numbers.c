// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: numbers of objects.
 *
 * They are given out in a circle: a number that was just freed comes last,
 * so that a packet or event under way for its old owner meets nobody.
 */
#include "adapter.h"

static void tern_number_space_init(struct tern_number_space *space, u32 first, u32 count)
{
	xa_init_flags(&space->used, XA_FLAGS_ALLOC);
	space->limit = XA_LIMIT(first, count - 1);
	space->next = first;
}

void tern_numbers_init(struct tern_adapter *adapter)
{
	const struct tern_capabilities *caps = &adapter->device.caps;

	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_CQ], 0, caps->cq_count);
	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_QP], 2, caps->qp_count);
	/* Without the feature there is none: the range is empty. */
	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_SRQ], 1, max(caps->srq_count, 1U));
	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_KEY], 1, caps->key_count);
	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_PD], 0, caps->pd_count);
	/* Without the feature one remains that the device refuses. */
	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_FLOW], 0, max(caps->flow_count, 1U));
	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_COUNTER_SET], 1,
			       max(caps->counter_set_count, 1U));
	tern_number_space_init(&adapter->numbers[TERN_NUMBERS_XRCD], 1, max(caps->pd_count, 1U));
	ida_init(&adapter->doorbell_pages);
}

void tern_numbers_exit(struct tern_adapter *adapter)
{
	unsigned int i;

	for (i = 0; i < TERN_NUMBERS_COUNT; i++) {
		WARN_ON(!xa_empty(&adapter->numbers[i].used));
		xa_destroy(&adapter->numbers[i].used);
	}
	WARN_ON(!ida_is_empty(&adapter->doorbell_pages));
	ida_destroy(&adapter->doorbell_pages);
}

/**
 * tern_number_alloc() - take a number for an object
 * @tern: the function
 * @space: of which kind
 * @number: set to the number
 *
 * Return: 0, or -ENOMEM, also when all are taken
 */
int tern_number_alloc(struct tern_device *tern, enum tern_numbers space, u32 *number)
{
	struct tern_number_space *numbers = &tern_adapter(tern)->numbers[space];
	int err;

	err = xa_alloc_cyclic(&numbers->used, number, xa_mk_value(0), numbers->limit,
			      &numbers->next, GFP_KERNEL);
	/* What the verbs say of a device that has no more; xarray's word for it is EBUSY. */
	if (err == -EBUSY)
		return -ENOMEM;
	return err < 0 ? err : 0;
}
EXPORT_SYMBOL_NS_GPL(tern_number_alloc, TERN_NAMESPACE);

/**
 * tern_number_free() - give a number back, after the object was destroyed
 * @tern: the function
 * @space: of which kind
 * @number: from tern_number_alloc()
 */
void tern_number_free(struct tern_device *tern, enum tern_numbers space, u32 number)
{
	xa_erase(&tern_adapter(tern)->numbers[space].used, number);
}
EXPORT_SYMBOL_NS_GPL(tern_number_free, TERN_NAMESPACE);
