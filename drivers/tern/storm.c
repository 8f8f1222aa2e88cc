// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: storms of pauses, reported by devlink health.
 *
 * The device itself ends what a storm does, as SET_FLOW_CONTROL told it. So
 * there is nothing to recover: the reporter is healthy again when no priority
 * has a storm.
 */
#include <linux/slab.h>

#include "commands.h"
#include "compat.h"
#include "dcb.h"
#include "netdev.h"

static int tern_storm_diagnose(struct devlink_health_reporter *reporter,
			       struct devlink_fmsg *fmsg, struct netlink_ext_ack *extack)
{
	struct tern_adapter *adapter = devlink_health_reporter_priv(reporter);
	struct tern_priority_statistics *statistics;
	const struct tern_priority_counters *counters;
	unsigned int i;
	int err;

	statistics = kmalloc(sizeof(*statistics), GFP_KERNEL);
	if (!statistics)
		return -ENOMEM;
	err = tern_dcb_read_statistics(netdev_priv(adapter->device.netdev), statistics);
	if (err)
		goto free;
	devlink_fmsg_arr_pair_nest_start(fmsg, "priorities");
	for (i = 0; i < TERN_PRIORITIES; i++) {
		counters = &statistics->priority[i];
		devlink_fmsg_obj_nest_start(fmsg);
		devlink_fmsg_u32_pair_put(fmsg, "priority", i);
		devlink_fmsg_bool_pair_put(fmsg, "storm", test_bit(i, &adapter->storms));
		devlink_fmsg_u64_pair_put(fmsg, "storms", le64_to_cpu(counters->storms));
		devlink_fmsg_u64_pair_put(fmsg, "dropped", le64_to_cpu(counters->tx_storm_drops));
		devlink_fmsg_obj_nest_end(fmsg);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
free:
	kfree(statistics);
	return err;
}

static const struct devlink_health_reporter_ops tern_storm_ops = {
	.name = "pfc_storm",
	.diagnose = tern_storm_diagnose,
};

static void tern_storm_work(struct work_struct *work)
{
	struct tern_adapter *adapter = container_of(work, struct tern_adapter, storm_work);
	unsigned long began;
	char text[64];

	mutex_lock(&adapter->storm_lock);
	if (!adapter->storm_open)
		goto unlock;
	began = xchg(&adapter->storms_began, 0);
	if (began) {
		snprintf(text, sizeof(text), "priorities %*pbl are paused for too long",
			 TERN_PRIORITIES, &began);
		dev_warn_ratelimited(tern_dev(adapter), "%s\n", text);
		devlink_health_report(adapter->storm_reporter, text, adapter);
	}
	if (!READ_ONCE(adapter->storms))
		devlink_health_reporter_state_update(adapter->storm_reporter,
						     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
unlock:
	mutex_unlock(&adapter->storm_lock);
}

bool tern_storm_event(struct tern_adapter *adapter, u8 subtype, u32 priority)
{
	if (priority >= TERN_PRIORITIES)
		return false;
	switch (subtype) {
	case TERN_CONGESTION_STORM_BEGAN:
		set_bit(priority, &adapter->storms);
		set_bit(priority, &adapter->storms_began);
		break;
	case TERN_CONGESTION_STORM_ENDED:
		clear_bit(priority, &adapter->storms);
		break;
	default:
		return false;
	}
	queue_work(tern_workqueue, &adapter->storm_work);
	return true;
}

void tern_storm_init(struct tern_adapter *adapter)
{
	mutex_init(&adapter->storm_lock);
	INIT_WORK(&adapter->storm_work, tern_storm_work);
}

/* Before devlink tells of the function. */
int tern_storm_start(struct tern_adapter *adapter)
{
	struct devlink *devlink = priv_to_devlink(adapter);
	struct devlink_health_reporter *reporter;

	if (!tern_has(&adapter->device, TERN_FEATURE_PFC))
		return 0;
	reporter = tern_health_reporter_create(devlink, &tern_storm_ops, adapter);
	if (IS_ERR(reporter))
		return PTR_ERR(reporter);
	adapter->storm_reporter = reporter;
	return 0;
}

/* No work runs any more. */
void tern_storm_stop(struct tern_adapter *adapter)
{
	if (adapter->storm_reporter)
		devlink_health_reporter_destroy(adapter->storm_reporter);
	adapter->storm_reporter = NULL;
}

/* Reports reach a function only that devlink tells of. */
void tern_storm_open(struct tern_adapter *adapter)
{
	mutex_lock(&adapter->storm_lock);
	adapter->storm_open = adapter->storm_reporter;
	mutex_unlock(&adapter->storm_lock);
	queue_work(tern_workqueue, &adapter->storm_work);
}

void tern_storm_close(struct tern_adapter *adapter)
{
	mutex_lock(&adapter->storm_lock);
	adapter->storm_open = false;
	mutex_unlock(&adapter->storm_lock);
}
