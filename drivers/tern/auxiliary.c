// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: the auxiliary device on which tern_ib.ko binds. */
#include <linux/slab.h>

#include "adapter.h"

static DEFINE_IDA(tern_auxiliary_ids);

static void tern_auxiliary_release(struct device *dev)
{
	struct tern_auxiliary *auxiliary = container_of(dev, struct tern_auxiliary, adev.dev);

	ida_free(&tern_auxiliary_ids, auxiliary->adev.id);
	kfree(auxiliary);
}

/* The network interface is registered. */
int tern_auxiliary_add(struct tern_adapter *adapter)
{
	struct tern_auxiliary *auxiliary;
	int err;

	if (!tern_has(&adapter->device, TERN_FEATURE_ROCE_V1) &&
	    !tern_has(&adapter->device, TERN_FEATURE_ROCE_V2))
		return 0;
	auxiliary = kzalloc(sizeof(*auxiliary), GFP_KERNEL);
	if (!auxiliary)
		return -ENOMEM;
	err = ida_alloc(&tern_auxiliary_ids, GFP_KERNEL);
	if (err < 0) {
		kfree(auxiliary);
		return err;
	}
	auxiliary->tern = &adapter->device;
	auxiliary->adev.id = err;
	auxiliary->adev.name = TERN_AUXILIARY_RDMA;
	auxiliary->adev.dev.parent = tern_dev(adapter);
	auxiliary->adev.dev.release = tern_auxiliary_release;
	err = auxiliary_device_init(&auxiliary->adev);
	if (err) {
		ida_free(&tern_auxiliary_ids, auxiliary->adev.id);
		kfree(auxiliary);
		return err;
	}
	err = auxiliary_device_add(&auxiliary->adev);
	if (err) {
		auxiliary_device_uninit(&auxiliary->adev);
		return err;
	}
	adapter->rdma = auxiliary;
	return 0;
}

void tern_auxiliary_remove(struct tern_adapter *adapter)
{
	struct tern_auxiliary *auxiliary = adapter->rdma;

	if (!auxiliary)
		return;
	adapter->rdma = NULL;
	auxiliary_device_delete(&auxiliary->adev);
	auxiliary_device_uninit(&auxiliary->adev);
}
