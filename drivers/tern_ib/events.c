// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: events of the device and of its port. */
#include <linux/netdevice.h>

#include "internal.h"
#include "trace.h"

static void tern_ib_dispatch(struct tern_ib_device *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ib,
		.event = type,
		.element.port_num = 1,
	};

	trace_tern_ib_async_event(&dev->ib, type, event.element.port_num);
	ib_dispatch_event(&event);
}

static int tern_ib_fatal(struct notifier_block *block, unsigned long event, void *data)
{
	struct tern_ib_device *dev = container_of(block, struct tern_ib_device, fatal_notifier);

	if (event != TERN_NOTIFY_DEAD)
		return NOTIFY_DONE;
	tern_ib_dispatch(dev, IB_EVENT_DEVICE_FATAL);
	return NOTIFY_OK;
}

/*
 * Consumers wait for the completions of what they have posted. The device
 * writes none any more: poll_cq makes them, once the consumers look.
 */
static int tern_ib_wake(struct notifier_block *block, unsigned long event, void *data)
{
	struct tern_ib_device *dev = container_of(block, struct tern_ib_device, wake_notifier);
	struct tern_ib_cq *cq;
	unsigned long cqn;

	if (event != TERN_NOTIFY_DEAD)
		return NOTIFY_DONE;
	xa_lock(&dev->kernel_cqs);
	xa_for_each(&dev->kernel_cqs, cqn, cq) {
		/*
		 * Without a queue pair nothing is outstanding, and its consumer may
		 * be about to free it: see tern_ib_qp_leave_cqs().
		 */
		if (!xa_empty(&cq->qps))
			tern_ib_cq_wake(cq);
	}
	xa_unlock(&dev->kernel_cqs);
	return NOTIFY_OK;
}

static void tern_ib_port_changed(struct tern_ib_device *dev)
{
	enum ib_port_state state = tern_ib_port_state(dev);

	if (state == dev->port_state)
		return;
	dev->port_state = state;
	if (!TERN_IB_CORE_REPORTS_PORT)
		tern_ib_dispatch(dev, state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE :
								IB_EVENT_PORT_ERR);
}

/* Under RTNL. */
static int tern_ib_netdev_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct tern_ib_device *dev = container_of(block, struct tern_ib_device, netdev_notifier);

	if (netdev_notifier_info_to_dev(data) != dev->tern->netdev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		tern_ib_port_changed(dev);
		break;
	case NETDEV_CHANGEMTU:
		/* The active MTU has changed; consumers ask for it anew on this event. */
		if (tern_ib_port_state(dev) == IB_PORT_ACTIVE)
			tern_ib_dispatch(dev, IB_EVENT_PORT_ACTIVE);
		break;
	default:
		break;
	}
	return NOTIFY_DONE;
}

/**
 * tern_ib_events_begin() - wake consumers when the device dies
 * @dev: a device that is about to be registered
 *
 * Return: 0 or a negative errno
 */
int tern_ib_events_begin(struct tern_ib_device *dev)
{
	dev->wake_notifier.notifier_call = tern_ib_wake;
	return tern_notifier_register(dev->tern, &dev->wake_notifier);
}

/**
 * tern_ib_events_start() - tell consumers what happens to the device
 * @dev: a registered device
 *
 * Return: 0 or a negative errno
 */
int tern_ib_events_start(struct tern_ib_device *dev)
{
	int err;

	dev->fatal_notifier.notifier_call = tern_ib_fatal;
	err = tern_notifier_register(dev->tern, &dev->fatal_notifier);
	if (err)
		return err;

	/* Registering replays the netdev's state; only what differs from this one is told. */
	dev->port_state = tern_ib_port_state(dev);
	dev->netdev_notifier.notifier_call = tern_ib_netdev_event;
	err = register_netdevice_notifier(&dev->netdev_notifier);
	if (err)
		goto unregister_fatal;

	/* It may have died before anybody listened. */
	if (tern_is_dead(dev->tern)) {
		tern_ib_wake(&dev->wake_notifier, TERN_NOTIFY_DEAD, NULL);
		tern_ib_fatal(&dev->fatal_notifier, TERN_NOTIFY_DEAD, NULL);
	}
	return 0;

unregister_fatal:
	tern_notifier_unregister(dev->tern, &dev->fatal_notifier);
	return err;
}

/* Before the device is unregistered: consumers are told no more. */
void tern_ib_events_stop(struct tern_ib_device *dev)
{
	unregister_netdevice_notifier(&dev->netdev_notifier);
	tern_notifier_unregister(dev->tern, &dev->fatal_notifier);
}

/* After it: consumers that had work outstanding have gone, though the device died on them. */
void tern_ib_events_end(struct tern_ib_device *dev)
{
	tern_notifier_unregister(dev->tern, &dev->wake_notifier);
}
