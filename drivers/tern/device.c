// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: bringing the function from reset to work, and back. */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "command_queue.h"
#include "commands.h"
#include "event_queue.h"
#include "health.h"
#include "registers.h"
#include "tern_hw_pci.h"

#define TERN_RESET_TIMEOUT_MIN	100
#define TERN_RESET_TIMEOUT_MAX	60000

/* What this driver and the drivers on its auxiliary devices know to use. */
#define TERN_FEATURES_KNOWN						\
	(BIT_ULL(TERN_FEATURE_DOORBELL_RECORDS) |			\
	 BIT_ULL(TERN_FEATURE_ETHERNET) | BIT_ULL(TERN_FEATURE_RSS) |	\
	 BIT_ULL(TERN_FEATURE_CHECKSUM) | BIT_ULL(TERN_FEATURE_TSO) |	\
	 BIT_ULL(TERN_FEATURE_VLAN_OFFLOAD) |				\
	 BIT_ULL(TERN_FEATURE_ROCE_V1) | BIT_ULL(TERN_FEATURE_ROCE_V2) | \
	 BIT_ULL(TERN_FEATURE_RC) | BIT_ULL(TERN_FEATURE_UD) |		\
	 BIT_ULL(TERN_FEATURE_UC) | BIT_ULL(TERN_FEATURE_XRC) |		\
	 BIT_ULL(TERN_FEATURE_ATOMICS) | BIT_ULL(TERN_FEATURE_ATOMIC_WRITE) | \
	 BIT_ULL(TERN_FEATURE_FLUSH) |					\
	 BIT_ULL(TERN_FEATURE_SRQ) | BIT_ULL(TERN_FEATURE_FAST_REGISTRATION) | \
	 BIT_ULL(TERN_FEATURE_MULTICAST) | BIT_ULL(TERN_FEATURE_MEMORY_WINDOWS) | \
	 BIT_ULL(TERN_FEATURE_FLOW_STEERING) |				\
	 BIT_ULL(TERN_FEATURE_RECEIVE_HASHING_QP) |			\
	 BIT_ULL(TERN_FEATURE_DEVICE_MEMORY) |				\
	 BIT_ULL(TERN_FEATURE_COUNTER_SETS) |				\
	 BIT_ULL(TERN_FEATURE_ON_DEMAND_PAGING) |			\
	 BIT_ULL(TERN_FEATURE_PFC) | BIT_ULL(TERN_FEATURE_ETS) |	\
	 BIT_ULL(TERN_FEATURE_ECN) |					\
	 BIT_ULL(TERN_FEATURE_TIMESTAMPS))

static int tern_device_check_version(struct tern_adapter *adapter)
{
	u32 magic = tern_read32(adapter, TERN_REG_MAGIC);
	u32 version = tern_read32(adapter, TERN_REG_VERSION);

	if (tern_is_dead(&adapter->device))
		return -EIO;
	if (magic != TERN_MAGIC) {
		dev_err(tern_dev(adapter), "magic number is %#x: not a Tern device\n", magic);
		return -ENODEV;
	}
	if (version >> 16 != TERN_VERSION_MAJOR_CURRENT) {
		dev_err(tern_dev(adapter),
			"the device has version %u.%u of the interface, this driver knows %u only\n",
			version >> 16, version & TERN_VERSION_MINOR, TERN_VERSION_MAJOR_CURRENT);
		return -ENODEV;
	}
	return 0;
}

/* Afterwards the device accesses no memory, or none is allowed to it. */
static int tern_device_reset(struct tern_adapter *adapter)
{
	u32 timeout = tern_read32(adapter, TERN_REG_RESET_TIMEOUT);
	unsigned long deadline = jiffies + msecs_to_jiffies(clamp(timeout, TERN_RESET_TIMEOUT_MIN,
								  TERN_RESET_TIMEOUT_MAX));
	bool late;

	if (tern_is_dead(&adapter->device))
		return -EIO;
	tern_write32(adapter, TERN_REG_CONTROL, TERN_CONTROL_RESET);
	do {
		late = time_after(jiffies, deadline);
		if (!(tern_read32(adapter, TERN_REG_CONTROL) & TERN_CONTROL_RESET))
			return 0;
		if (tern_is_dead(&adapter->device))
			return -EIO;
		usleep_range(100, 1000);
	} while (!late);
	tern_declare_dead(adapter, "it did not come out of reset in time");
	return -EIO;
}

static int tern_device_negotiate(struct tern_adapter *adapter)
{
	struct tern_device *tern = &adapter->device;
	u64 offered = tern_read64(adapter, TERN_REG_DEVICE_FEATURES);

	if (tern_is_dead(tern))
		return -EIO;
	tern->features = offered & TERN_FEATURES_KNOWN;
	if (!tern_has(tern, TERN_FEATURE_ETHERNET)) {
		dev_err(tern_dev(adapter), "features %#llx lack Ethernet\n", offered);
		return -ENODEV;
	}
	tern_write64(adapter, TERN_REG_DRIVER_FEATURES, tern->features);
	return 0;
}

/* A stride of the host's page size at least, so that a page can be mapped for one process. */
static int tern_device_set_doorbells(struct tern_adapter *adapter)
{
	struct tern_device *tern = &adapter->device;
	unsigned int shift = max(PAGE_SHIFT, TERN_DOORBELL_SHIFT_MIN);
	u64 bar = pci_resource_len(tern->pdev, TERN_BAR_DOORBELLS);
	u32 pages;

	BUILD_BUG_ON(PAGE_SHIFT > TERN_DOORBELL_SHIFT_MAX);
	tern_write32(adapter, TERN_REG_DOORBELL_SHIFT, shift);
	pages = tern_read32(adapter, TERN_REG_DOORBELL_PAGES);
	if (tern_is_dead(tern))
		return -EIO;
	if (!pages || pages > bar >> shift) {
		dev_err(tern_dev(adapter), "%u doorbell pages in a BAR of %#llx bytes\n",
			pages, bar);
		return -EPROTO;
	}
	tern->doorbell_shift = shift;
	tern->doorbell_pages = pages;
	return 0;
}

static int tern_device_enable(struct tern_adapter *adapter)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(TERN_RESET_TIMEOUT_MAX);
	u32 status;

	tern_write32(adapter, TERN_REG_CONTROL, TERN_CONTROL_ENABLE);
	do {
		status = tern_read32(adapter, TERN_REG_STATUS);
		if (tern_is_dead(&adapter->device))
			return -EIO;
		if (status & TERN_STATUS_FATAL) {
			dev_err(tern_dev(adapter), "fatal error %u when enabled\n", status >> 16);
			return -EIO;
		}
		if (status & TERN_STATUS_READY)
			return 0;
		usleep_range(100, 1000);
	} while (!time_after(jiffies, deadline));
	dev_err(tern_dev(adapter), "not ready in time when enabled\n");
	return -ETIMEDOUT;
}

/**
 * tern_device_start() - reset the device and make its command and event queues
 * @adapter: the function
 *
 * The caller holds the PCI device's lock.
 *
 * Return: 0 or a negative errno
 */
int tern_device_start(struct tern_adapter *adapter)
{
	int err;

	clear_bit(0, &adapter->dead);
	err = tern_device_check_version(adapter);
	if (err)
		goto end_health;
	err = tern_device_reset(adapter);
	if (err)
		goto end_health;
	pci_set_master(adapter->device.pdev);
	err = tern_device_negotiate(adapter);
	if (err)
		goto clear_master;
	err = tern_device_set_doorbells(adapter);
	if (err)
		goto clear_master;
	err = tern_mailbox_alloc(adapter);
	if (err)
		goto clear_master;
	err = tern_command_queue_start(adapter);
	if (err)
		goto free_mailbox;
	err = tern_device_enable(adapter);
	if (err)
		goto stop_commands;
	tern_command_queue_enable(adapter);
	err = tern_capabilities_read(adapter);
	if (err)
		goto stop_commands;
	tern_numbers_init(adapter);
	err = tern_device_memory_init(adapter);
	if (err)
		goto free_numbers;
	err = tern_eqs_create(adapter);
	if (err)
		goto exit_device_memory;
	WRITE_ONCE(adapter->started, true);
	return 0;

exit_device_memory:
	tern_device_memory_exit(adapter);
free_numbers:
	tern_numbers_exit(adapter);
stop_commands:
	tern_device_reset(adapter);
	tern_command_queue_stop(adapter);
free_mailbox:
	tern_mailbox_free(adapter);
clear_master:
	pci_clear_master(adapter->device.pdev);
end_health:
	tern_health_exit(adapter);
	return err;
}

/**
 * tern_device_stop() - undo tern_device_start()
 * @adapter: the function
 *
 * A dead device is not waited for. The caller holds the PCI device's lock.
 */
void tern_device_stop(struct tern_adapter *adapter)
{
	if (!adapter->started)
		return;
	/* From here on tern_declare_dead() queues no work. */
	WRITE_ONCE(adapter->started, false);
	tern_health_stop(adapter);
	tern_eqs_destroy(adapter);
	tern_health_exit(adapter);
	tern_device_reset(adapter);
	pci_clear_master(adapter->device.pdev);
	tern_command_queue_stop(adapter);
	tern_device_memory_exit(adapter);
	tern_numbers_exit(adapter);
	mutex_lock(&adapter->mailbox_lock);
	tern_mailbox_free(adapter);
	mutex_unlock(&adapter->mailbox_lock);
}
