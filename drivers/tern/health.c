// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: is the device alive, and what happens when it is not.
 *
 * A device is dead when it does not answer a command in time, reads as all
 * ones, says that it failed, or breaks the protocol in a way after which its
 * memory accesses cannot be trusted. It may then not access memory any more,
 * commands fail at once, and nobody waits for it. Only a reset of the
 * function (or a new probe) brings it back.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "command_queue.h"
#include "commands.h"
#include "dcb.h"
#include "event_queue.h"
#include "health.h"
#include "netdev.h"
#include "registers.h"

#define TERN_HEALTH_PERIOD	(2 * HZ)

/**
 * tern_is_dead() - can the device be talked to?
 * @tern: the function
 *
 * Return: true when commands fail at once
 */
bool tern_is_dead(const struct tern_device *tern)
{
	const struct tern_adapter *adapter = container_of(tern, struct tern_adapter, device);

	return test_bit(0, &adapter->dead);
}
EXPORT_SYMBOL_NS_GPL(tern_is_dead, TERN_NAMESPACE);

void tern_declare_dead(struct tern_adapter *adapter, const char *why)
{
	if (test_and_set_bit(0, &adapter->dead))
		return;
	dev_err(tern_dev(adapter), "the device is dead: %s; reset the function to revive it\n",
		why);
	/* Memory is freed from here on without asking the device. */
	pci_clear_master(adapter->device.pdev);
	tern_command_queue_abort(adapter->commands);
	/* While it starts or stops there is nobody to tell. */
	if (READ_ONCE(adapter->started))
		queue_work(tern_workqueue, &adapter->dead_work);
}

static void tern_dead_work(struct work_struct *work)
{
	struct tern_adapter *adapter = container_of(work, struct tern_adapter, dead_work);

	rtnl_lock();
	if (adapter->device.netdev) {
		netif_carrier_off(adapter->device.netdev);
		netif_device_detach(adapter->device.netdev);
	}
	rtnl_unlock();
	blocking_notifier_call_chain(&adapter->notifier, TERN_NOTIFY_DEAD, NULL);
}

static void tern_link_work(struct work_struct *work)
{
	struct tern_adapter *adapter = container_of(work, struct tern_adapter, link_work);
	struct net_device *netdev = adapter->device.netdev;
	struct tern_port_attributes port;
	u8 state;

	if (!netdev)
		return;
	/*
	 * What the port says and what the carrier is made are one step to
	 * opening, closing and unregistering. The carrier is set even if the
	 * port's state is the last one seen: closing takes it away by itself.
	 */
	rtnl_lock();
	if (netdev->reg_state != NETREG_REGISTERED || !netif_device_present(netdev) ||
	    tern_cmd_query(&adapter->device, TERN_COMMAND_QUERY_PORT, 0, 0, &port,
			   sizeof(port))) {
		rtnl_unlock();
		return;
	}
	state = port.state == TERN_PORT_UP ? TERN_PORT_UP : TERN_PORT_DOWN;
	WRITE_ONCE(adapter->port_speed, le32_to_cpu(port.speed_mbps));
	if (state == TERN_PORT_UP)
		netif_carrier_on(netdev);
	else
		netif_carrier_off(netdev);
	rtnl_unlock();
	if (state == adapter->port_state)
		return;
	adapter->port_state = state;
	netdev_info(netdev, "link is %s\n", state == TERN_PORT_UP ? "up" : "down");
	blocking_notifier_call_chain(&adapter->notifier, TERN_NOTIFY_PORT, &state);
}

static void tern_health_work(struct work_struct *work)
{
	struct tern_adapter *adapter = container_of(to_delayed_work(work), struct tern_adapter,
						    health_work);
	u32 status = tern_read32(adapter, TERN_REG_STATUS);

	if (!tern_is_dead(&adapter->device) && status & TERN_STATUS_FATAL) {
		dev_err(tern_dev(adapter), "fatal error %u, information %#llx\n",
			status >> 16, tern_read64(adapter, TERN_REG_FATAL_INFO));
		tern_declare_dead(adapter, "it reports a fatal error");
	} else if (!(status & TERN_STATUS_READY)) {
		tern_declare_dead(adapter, "it is not ready any more");
	}
	if (tern_is_dead(&adapter->device))
		return;
	tern_eqs_poll(adapter);
	tern_netdev_health(adapter->device.netdev);
	queue_delayed_work(tern_workqueue, &adapter->health_work, TERN_HEALTH_PERIOD);
}

void tern_health_init(struct tern_adapter *adapter)
{
	tern_storm_init(adapter);
	BLOCKING_INIT_NOTIFIER_HEAD(&adapter->notifier);
	INIT_WORK(&adapter->dead_work, tern_dead_work);
	INIT_WORK(&adapter->link_work, tern_link_work);
	INIT_DELAYED_WORK(&adapter->health_work, tern_health_work);
}

/* The network interface exists. */
void tern_health_start(struct tern_adapter *adapter)
{
	adapter->port_state = TERN_PORT_DOWN;
	/* It may have died before anybody could be told. */
	if (tern_is_dead(&adapter->device))
		queue_work(tern_workqueue, &adapter->dead_work);
	queue_work(tern_workqueue, &adapter->link_work);
	/* After a reset no priority has a storm. */
	queue_work(tern_workqueue, &adapter->storm_work);
	queue_delayed_work(tern_workqueue, &adapter->health_work, TERN_HEALTH_PERIOD);
}

/* The event queues exist still. */
void tern_health_stop(struct tern_adapter *adapter)
{
	cancel_delayed_work_sync(&adapter->health_work);
}

/* No event comes any more. */
void tern_health_exit(struct tern_adapter *adapter)
{
	cancel_work_sync(&adapter->link_work);
	cancel_work_sync(&adapter->dead_work);
	cancel_work_sync(&adapter->storm_work);
	adapter->storms = 0;
	adapter->storms_began = 0;
}

/**
 * tern_notifier_register() - be told about the function's state
 * @tern: the function
 * @block: called with enum tern_notification, in process context
 *
 * Return: 0 or a negative errno
 */
int tern_notifier_register(struct tern_device *tern, struct notifier_block *block)
{
	return blocking_notifier_chain_register(&tern_adapter(tern)->notifier, block);
}
EXPORT_SYMBOL_NS_GPL(tern_notifier_register, TERN_NAMESPACE);

/**
 * tern_notifier_unregister() - stop being told; waits for a running call
 * @tern: the function
 * @block: as registered
 */
void tern_notifier_unregister(struct tern_device *tern, struct notifier_block *block)
{
	blocking_notifier_chain_unregister(&tern_adapter(tern)->notifier, block);
}
EXPORT_SYMBOL_NS_GPL(tern_notifier_unregister, TERN_NAMESPACE);
