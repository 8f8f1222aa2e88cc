// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: memory windows. What they are bound to the processes' work requests say. */
#include "internal.h"
#include "verbs.h"

int tern_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct tern_ib_device *dev = to_tern_ib(ibmw->device);
	struct tern_command_create_key body = {
		.type = ibmw->type == IB_MW_TYPE_1 ? TERN_KEY_WINDOW_TYPE_1 :
						     TERN_KEY_WINDOW_TYPE_2,
	};
	struct tern_ib_mw *mw = to_tern_mw(ibmw);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	if (!tern_has(dev->tern, TERN_FEATURE_MEMORY_WINDOWS))
		return -EOPNOTSUPP;
	err = tern_number_alloc(dev->tern, TERN_NUMBERS_KEY, &mw->index);
	if (err)
		return err;
	err = tern_ib_create_key(dev, mw->index, ibmw->pd, &body, &ibmw->rkey);
	if (err)
		tern_number_free(dev->tern, TERN_NUMBERS_KEY, mw->index);
	return err;
}

int tern_ib_dealloc_mw(struct ib_mw *ibmw)
{
	struct tern_ib_device *dev = to_tern_ib(ibmw->device);
	struct tern_ib_mw *mw = to_tern_mw(ibmw);

	/*
	 * It may fail, but then the device is dead, and the key is gone all the
	 * same. A device that calls it busy has its number for good.
	 */
	if (tern_cmd_destroy_key(dev->tern, mw->index) == -EBUSY)
		return 0;
	tern_number_free(dev->tern, TERN_NUMBERS_KEY, mw->index);
	return 0;
}
