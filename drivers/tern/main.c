// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: the module, and the PCI function's coming and going. */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm.h>

#include "adapter.h"
#include "command_queue.h"
#include "dcb.h"
#include "health.h"
#include "netdev.h"
#include "registers.h"
#include "tern_hw_pci.h"

struct workqueue_struct *tern_workqueue;

static int tern_map(struct tern_adapter *adapter)
{
	struct pci_dev *pdev = adapter->device.pdev;
	int err;

	if (pci_resource_len(pdev, TERN_BAR_REGISTERS) < TERN_BAR_REGISTERS_SIZE ||
	    pci_resource_len(pdev, TERN_BAR_DOORBELLS) < PAGE_SIZE) {
		dev_err(&pdev->dev, "the BARs are too small\n");
		return -ENODEV;
	}
	err = pci_request_mem_regions(pdev, KBUILD_MODNAME);
	if (err)
		return err;
	adapter->registers = ioremap(pci_resource_start(pdev, TERN_BAR_REGISTERS),
				     TERN_BAR0_CLOCK);
	if (!adapter->registers)
		goto release;
	adapter->device.doorbell_base = pci_resource_start(pdev, TERN_BAR_DOORBELLS);
	adapter->device.doorbell = ioremap(adapter->device.doorbell_base, PAGE_SIZE);
	if (!adapter->device.doorbell)
		goto unmap;
	return 0;

unmap:
	iounmap(adapter->registers);
release:
	pci_release_mem_regions(pdev);
	return -ENOMEM;
}

static void tern_unmap(struct tern_adapter *adapter)
{
	iounmap(adapter->device.doorbell);
	iounmap(adapter->registers);
	pci_release_mem_regions(adapter->device.pdev);
}

static int tern_pools_create(struct tern_adapter *adapter)
{
	adapter->records = dma_pool_create("tern records", tern_dev(adapter),
					   sizeof(struct tern_queue_record),
					   TERN_QUEUE_RECORD_ALIGN, 0);
	if (!adapter->records)
		return -ENOMEM;
	adapter->tables = dma_pool_create("tern page tables", tern_dev(adapter),
					  BIT(TERN_PAGE_TABLE_SHIFT), BIT(TERN_PAGE_TABLE_SHIFT),
					  0);
	if (!adapter->tables) {
		dma_pool_destroy(adapter->records);
		return -ENOMEM;
	}
	return 0;
}

static void tern_pools_destroy(struct tern_adapter *adapter)
{
	dma_pool_destroy(adapter->tables);
	dma_pool_destroy(adapter->records);
}

static int tern_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tern_adapter *adapter;
	struct devlink *devlink;
	int err;

	err = pci_enable_device_mem(pdev);
	if (err)
		return err;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		goto disable;
	devlink = devlink_alloc(&tern_devlink_ops, sizeof(*adapter), &pdev->dev);
	if (!devlink) {
		err = -ENOMEM;
		goto disable;
	}
	/* What tern_slot_reset() restores. */
	pci_save_state(pdev);
	adapter = devlink_priv(devlink);
	adapter->device.pdev = pdev;
	pci_set_drvdata(pdev, adapter);
	mutex_init(&adapter->mailbox_lock);
	xa_init(&adapter->cq_listeners);
	xa_init(&adapter->qp_listeners);
	xa_init(&adapter->srq_listeners);
	tern_health_init(adapter);

	err = tern_command_queue_create(adapter);
	if (err)
		goto free_devlink;
	err = tern_map(adapter);
	if (err)
		goto free_devlink;
	err = tern_pools_create(adapter);
	if (err)
		goto unmap;
	err = tern_device_start(adapter);
	if (err)
		goto destroy_pools;
	err = tern_devlink_port_add(adapter);
	if (err)
		goto stop;
	err = tern_netdev_create(adapter);
	if (err)
		goto remove_port;
	tern_health_start(adapter);
	err = tern_auxiliary_add(adapter);
	if (err)
		goto remove_netdev;
	err = tern_devlink_params_register(adapter);
	if (err)
		goto remove_auxiliary;
	err = tern_storm_start(adapter);
	if (err)
		goto unregister_params;
	devlink_register(devlink);
	tern_storm_open(adapter);
	return 0;

unregister_params:
	tern_devlink_params_unregister(adapter);
remove_auxiliary:
	tern_auxiliary_remove(adapter);
remove_netdev:
	tern_netdev_unregister(adapter);
remove_port:
	tern_devlink_port_remove(adapter);
stop:
	tern_device_stop(adapter);
	tern_netdev_free(adapter);
destroy_pools:
	tern_pools_destroy(adapter);
unmap:
	tern_unmap(adapter);
free_devlink:
	devlink_free(devlink);
disable:
	pci_disable_device(pdev);
	return err;
}

static void tern_remove(struct pci_dev *pdev)
{
	struct tern_adapter *adapter = pci_get_drvdata(pdev);
	struct devlink *devlink = priv_to_devlink(adapter);

	/* Notices a device that was pulled out before anything waits for it. */
	tern_read32(adapter, TERN_REG_STATUS);
	tern_storm_close(adapter);
	devlink_unregister(devlink);
	tern_devlink_params_unregister(adapter);
	tern_storm_stop(adapter);
	tern_auxiliary_remove(adapter);
	tern_netdev_unregister(adapter);
	tern_devlink_port_remove(adapter);
	tern_device_stop(adapter);
	tern_netdev_free(adapter);
	tern_pools_destroy(adapter);
	tern_unmap(adapter);
	devlink_free(devlink);
	pci_disable_device(pdev);
}

/* The next kernel, or the firmware, must find a device that accesses no memory. */
static void tern_shutdown(struct pci_dev *pdev)
{
	struct tern_adapter *adapter = pci_get_drvdata(pdev);

	tern_auxiliary_remove(adapter);
	tern_netdev_suspend(adapter);
	tern_device_stop(adapter);
	pci_disable_device(pdev);
}

/* Before a reset or sleep, and after an error: nothing touches the device on return. */
static void tern_reset_prepare(struct pci_dev *pdev)
{
	struct tern_adapter *adapter = pci_get_drvdata(pdev);

	tern_auxiliary_remove(adapter);
	tern_netdev_suspend(adapter);
	tern_device_stop(adapter);
}

/* All of it but the auxiliary device; what does not start is dead. */
static int tern_restart(struct pci_dev *pdev)
{
	struct tern_adapter *adapter = pci_get_drvdata(pdev);
	int err;

	err = tern_device_start(adapter);
	if (err)
		goto dead;
	/* For tern_slot_reset(): restoring has used up what was saved before. */
	pci_save_state(pdev);
	err = tern_netdev_resume(adapter);
	if (err)
		goto stop;
	tern_health_start(adapter);
	return 0;

stop:
	tern_device_stop(adapter);
dead:
	dev_err(&pdev->dev, "the device did not start again: %d\n", err);
	tern_declare_dead(adapter, "it did not start again");
	return err;
}

static void tern_auxiliary_restore(struct tern_adapter *adapter)
{
	int err = tern_auxiliary_add(adapter);

	if (err)
		dev_err(tern_dev(adapter), "there is no RDMA any more: %d\n", err);
}

static void tern_reset_done(struct pci_dev *pdev)
{
	if (!tern_restart(pdev))
		tern_auxiliary_restore(pci_get_drvdata(pdev));
}

/* The function may lose its power and come back as after a reset. */
static int tern_pm_suspend(struct device *dev)
{
	tern_reset_prepare(to_pci_dev(dev));
	return 0;
}

static int tern_pm_resume(struct device *dev)
{
	return tern_restart(to_pci_dev(dev));
}

/* Until now this device counts as asleep, and may have no new child. */
static void tern_pm_complete(struct device *dev)
{
	struct tern_adapter *adapter = dev_get_drvdata(dev);

	if (adapter->started && !adapter->rdma)
		tern_auxiliary_restore(adapter);
}

static const struct dev_pm_ops tern_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(tern_pm_suspend, tern_pm_resume)
	.complete = pm_sleep_ptr(tern_pm_complete),
};

static pci_ers_result_t tern_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct tern_adapter *adapter = pci_get_drvdata(pdev);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	tern_declare_dead(adapter, "its PCI link failed");
	tern_reset_prepare(pdev);
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t tern_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return PCI_ERS_RESULT_RECOVERED;
}

static void tern_resume(struct pci_dev *pdev)
{
	struct tern_adapter *adapter = pci_get_drvdata(pdev);

	if (!adapter->started)
		tern_reset_done(pdev);
}

static const struct pci_error_handlers tern_error_handlers = {
	.error_detected = tern_error_detected,
	.slot_reset = tern_slot_reset,
	.resume = tern_resume,
	.reset_prepare = tern_reset_prepare,
	.reset_done = tern_reset_done,
};

static const struct pci_device_id tern_pci_ids[] = {
	{ PCI_DEVICE(TERN_PCI_VENDOR_ID, TERN_PCI_DEVICE_ID_PF) },
	{}
};
MODULE_DEVICE_TABLE(pci, tern_pci_ids);

static struct pci_driver tern_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = tern_pci_ids,
	.probe = tern_probe,
	.remove = tern_remove,
	.shutdown = tern_shutdown,
	.driver.pm = pm_sleep_ptr(&tern_pm_ops),
	.err_handler = &tern_error_handlers,
};

static int __init tern_init(void)
{
	int err;

	tern_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!tern_workqueue)
		return -ENOMEM;
	err = pci_register_driver(&tern_pci_driver);
	if (err)
		destroy_workqueue(tern_workqueue);
	return err;
}
module_init(tern_init);

static void __exit tern_exit(void)
{
	pci_unregister_driver(&tern_pci_driver);
	destroy_workqueue(tern_workqueue);
}
module_exit(tern_exit);

MODULE_DESCRIPTION("Tern Ethernet and RDMA NIC");
MODULE_AUTHOR("The Tern authors");
MODULE_LICENSE("Dual BSD/GPL");
