// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: the APP and rewrite tables that the DCB core keeps by interface
 * index, when the netdev gets another one.
 *
 * A netdev that moves to another namespace is unregistered and registered there.
 * The core then forgets its APP entries, and keeps its rewrite entries for
 * whoever has the index next. What was set is to hold, so both leave with the
 * netdev and come with it.
 */
#include <linux/netdevice.h>
#include <net/dcbnl.h>

#include "dcb.h"
#include "netdev.h"

typedef int tern_dcb_table_change(struct net_device *netdev, struct dcb_app *app);

static int tern_dcb_entry(struct net_device *netdev, tern_dcb_table_change *change, u8 selector,
			  u16 protocol, u8 priority)
{
	struct dcb_app app = {
		.selector = selector,
		.priority = priority,
		.protocol = protocol,
	};

	return change(netdev, &app);
}

/* An entry for each priority that is given to what @selector and @protocol name. */
static int tern_dcb_add_apps(struct net_device *netdev, u8 selector, u16 protocol, u8 priorities)
{
	unsigned long bits = priorities;
	unsigned int priority;
	int err = 0;

	for_each_set_bit(priority, &bits, TERN_PRIORITIES) {
		err = tern_dcb_entry(netdev, dcb_ieee_setapp, selector, protocol, priority);
		if (err)
			break;
	}
	return err;
}

static int tern_dcb_add_app_table(struct net_device *netdev, const struct tern_apps *apps)
{
	unsigned int i;
	int err;

	err = tern_dcb_add_apps(netdev, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 0,
				apps->default_priority);
	if (!err)
		err = tern_dcb_add_apps(netdev, IEEE_8021QAZ_APP_SEL_ETHERTYPE,
					TERN_ROCE_ETHERTYPE, apps->roce_v1);
	if (!err)
		err = tern_dcb_add_apps(netdev, IEEE_8021QAZ_APP_SEL_DGRAM, TERN_ROCE_UDP_PORT,
					apps->roce_v2);
	for (i = 0; !err && i < TERN_DSCPS; i++)
		err = tern_dcb_add_apps(netdev, IEEE_8021QAZ_APP_SEL_DSCP, i, apps->dscp[i]);
	for (i = 0; !err && i < TERN_PCPS; i++)
		err = tern_dcb_add_apps(netdev, DCB_APP_SEL_PCP, i, apps->pcp[i]);
	return err;
}

#ifdef TERN_HAVE_DCB_REWR
static int tern_dcb_change_rewrite_table(struct net_device *netdev,
					 const struct tern_rewrites *rewrites,
					 tern_dcb_table_change *change)
{
	unsigned int priority, i;
	int err = 0;

	for (priority = 0; priority < TERN_PRIORITIES; priority++) {
		for (i = 0; !err && i < TERN_DSCPS; i++)
			if (rewrites->dscp[priority] & BIT_ULL(i))
				err = tern_dcb_entry(netdev, change, IEEE_8021QAZ_APP_SEL_DSCP, i,
						     priority);
		for (i = 0; !err && i < TERN_PCPS; i++)
			if (rewrites->pcp[priority] & BIT(i))
				err = tern_dcb_entry(netdev, change, DCB_APP_SEL_PCP, i, priority);
	}
	return err;
}

static int tern_dcb_delete_rewrite(struct net_device *netdev, struct dcb_app *app)
{
	/* What was never added is no error: the rest has to go. */
	dcb_delrewr(netdev, app);
	return 0;
}

static int tern_dcb_add_rewrite_table(struct net_device *netdev,
				      const struct tern_rewrites *rewrites)
{
	return tern_dcb_change_rewrite_table(netdev, rewrites, dcb_setrewr);
}

static void tern_dcb_delete_rewrite_table(struct net_device *netdev,
					  const struct tern_rewrites *rewrites)
{
	tern_dcb_change_rewrite_table(netdev, rewrites, tern_dcb_delete_rewrite);
}
#else
static int tern_dcb_add_rewrite_table(struct net_device *netdev,
				      const struct tern_rewrites *rewrites)
{
	return 0;
}

static void tern_dcb_delete_rewrite_table(struct net_device *netdev,
					  const struct tern_rewrites *rewrites)
{
}
#endif

/* RTNL is held. */
static int tern_dcb_netdev_event(struct notifier_block *notifier, unsigned long event, void *info)
{
	struct tern_dcb *dcb = container_of(notifier, struct tern_dcb, netdev_notifier);
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	int err = 0;

	if (netdev != dcb->netdev)
		return NOTIFY_DONE;
	mutex_lock(&dcb->lock);
	if (event == NETDEV_REGISTER) {
		err = tern_dcb_add_app_table(netdev, &dcb->settings.apps);
		if (!err)
			err = tern_dcb_add_rewrite_table(netdev, &dcb->settings.rewrites);
	} else if (event == NETDEV_UNREGISTER) {
		tern_dcb_delete_rewrite_table(netdev, &dcb->settings.rewrites);
	}
	mutex_unlock(&dcb->lock);
	if (err)
		netdev_err(netdev, "APP and rewrite entries are not shown any more: %d\n", err);
	return NOTIFY_DONE;
}

int tern_dcb_tables_init(struct tern_netdev *priv)
{
	struct tern_dcb *dcb = priv->dcb;

	dcb->netdev = priv->netdev;
	dcb->netdev_notifier.notifier_call = tern_dcb_netdev_event;
	return register_netdevice_notifier(&dcb->netdev_notifier);
}

void tern_dcb_tables_exit(struct tern_netdev *priv)
{
	unregister_netdevice_notifier(&priv->dcb->netdev_notifier);
}
