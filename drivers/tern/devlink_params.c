// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: devlink parameters: what congestion control has beyond IEEE
 * 802.1Qau's objects, named as in mlx5's cc_params and for all priorities
 * alike, and the watchdog of pauses.
 */
#include "compat.h"
#include "dcb.h"
#include "netdev.h"

enum tern_param {
	TERN_PARAM_FIRST = DEVLINK_PARAM_GENERIC_ID_MAX,
	TERN_PARAM_CNP_INTERVAL,
	TERN_PARAM_CNP_DSCP,
	TERN_PARAM_CNP_PRIORITY,
	TERN_PARAM_INITIAL_ALPHA,
	TERN_PARAM_ALPHA_TIMER,
	TERN_PARAM_REDUCE_PERIOD,
	TERN_PARAM_FIRST_RATE,
	TERN_PARAM_CLAMP_TARGET,
	TERN_PARAM_STORM_LIMIT,
	TERN_PARAM_STORM_RESTORE,
	TERN_PARAM_STORM_ACTION,
};

static const char * const tern_storm_actions[] = {
	[TERN_STORM_RELEASE] = "release",
	[TERN_STORM_DROP] = "drop",
};

/* A parameter's new value. */
struct tern_param_value {
	u32 id;
	const union devlink_param_value *value;
};

static void tern_param_get(const struct tern_dcb_settings *settings, u32 id,
			   union devlink_param_value *value)
{
	/* All priorities have the same. */
	const struct tern_congestion *congestion = &settings->congestion[0];

	switch (id) {
	case TERN_PARAM_CNP_INTERVAL:
		value->vu32 = congestion->cnp_interval_us;
		break;
	case TERN_PARAM_CNP_DSCP:
		value->vu8 = congestion->cnp_dscp;
		break;
	case TERN_PARAM_CNP_PRIORITY:
		value->vu8 = congestion->cnp_priority;
		break;
	case TERN_PARAM_INITIAL_ALPHA:
		value->vu16 = congestion->initial_alpha;
		break;
	case TERN_PARAM_ALPHA_TIMER:
		value->vu32 = congestion->alpha_timer_us;
		break;
	case TERN_PARAM_REDUCE_PERIOD:
		value->vu32 = congestion->reduce_period_us;
		break;
	case TERN_PARAM_FIRST_RATE:
		value->vu32 = congestion->first_rate_mbps;
		break;
	case TERN_PARAM_CLAMP_TARGET:
		value->vbool = congestion->clamp_target;
		break;
	case TERN_PARAM_STORM_LIMIT:
		value->vu32 = settings->storm.limit_ms;
		break;
	case TERN_PARAM_STORM_RESTORE:
		value->vu32 = settings->storm.restore_ms;
		break;
	case TERN_PARAM_STORM_ACTION:
		strscpy(value->vstr, tern_storm_actions[settings->storm.action],
			sizeof(value->vstr));
		break;
	}
}

static void tern_param_edit_congestion(struct tern_congestion *congestion, u32 id,
				       const union devlink_param_value *value)
{
	switch (id) {
	case TERN_PARAM_CNP_INTERVAL:
		congestion->cnp_interval_us = value->vu32;
		break;
	case TERN_PARAM_CNP_DSCP:
		congestion->cnp_dscp = value->vu8;
		break;
	case TERN_PARAM_CNP_PRIORITY:
		congestion->cnp_priority = value->vu8;
		break;
	case TERN_PARAM_INITIAL_ALPHA:
		congestion->initial_alpha = value->vu16;
		break;
	case TERN_PARAM_ALPHA_TIMER:
		congestion->alpha_timer_us = value->vu32;
		break;
	case TERN_PARAM_REDUCE_PERIOD:
		congestion->reduce_period_us = value->vu32;
		break;
	case TERN_PARAM_FIRST_RATE:
		congestion->first_rate_mbps = value->vu32;
		break;
	case TERN_PARAM_CLAMP_TARGET:
		congestion->clamp_target = value->vbool;
		break;
	}
}

static int tern_param_edit(struct tern_dcb_settings *settings, const void *data,
			   const char **why)
{
	const struct tern_param_value *new = data;
	unsigned int i;
	int action, err;

	switch (new->id) {
	case TERN_PARAM_STORM_LIMIT:
		settings->storm.limit_ms = new->value->vu32;
		return 0;
	case TERN_PARAM_STORM_RESTORE:
		settings->storm.restore_ms = new->value->vu32;
		if (settings->storm.restore_ms)
			return 0;
		*why = "a storm ends after 1 ms without a pause at least";
		return -ERANGE;
	case TERN_PARAM_STORM_ACTION:
		action = match_string(tern_storm_actions, ARRAY_SIZE(tern_storm_actions),
				      new->value->vstr);
		if (action < 0) {
			*why = "the action is release or drop";
			return -EINVAL;
		}
		settings->storm.action = action;
		return 0;
	}
	for (i = 0; i < TERN_PRIORITIES; i++) {
		tern_param_edit_congestion(&settings->congestion[i], new->id, new->value);
		err = tern_congestion_check(&settings->congestion[i], why);
		if (err)
			return err;
	}
	return 0;
}

static TERN_PARAM_GET(tern_devlink_param_get)
{
	struct tern_adapter *adapter = devlink_priv(devlink);
	struct tern_netdev *priv = netdev_priv(adapter->device.netdev);

	mutex_lock(&priv->dcb->lock);
	tern_param_get(&priv->dcb->settings, id, &ctx->val);
	mutex_unlock(&priv->dcb->lock);
	return 0;
}

static int tern_devlink_param_set(struct devlink *devlink, u32 id,
				  struct devlink_param_gset_ctx *ctx,
				  struct netlink_ext_ack *extack)
{
	struct tern_adapter *adapter = devlink_priv(devlink);
	const struct tern_param_value value = { id, &ctx->val };
	const char *why = "no memory";
	int err;

	err = tern_dcb_change(netdev_priv(adapter->device.netdev), tern_param_edit, &value, &why);
	if (err)
		NL_SET_ERR_MSG_FMT_MOD(extack, "%s", why);
	return err;
}

#define TERN_PARAM(id, name, type)							\
	DEVLINK_PARAM_DRIVER(TERN_PARAM_##id, name, DEVLINK_PARAM_TYPE_##type,		\
			     BIT(DEVLINK_PARAM_CMODE_RUNTIME), tern_devlink_param_get,	\
			     tern_devlink_param_set, NULL)

static const struct devlink_param tern_congestion_params[] = {
	TERN_PARAM(CNP_INTERVAL, "np_min_time_between_cnps", U32),
	TERN_PARAM(CNP_DSCP, "np_cnp_dscp", U8),
	TERN_PARAM(CNP_PRIORITY, "np_cnp_prio", U8),
	TERN_PARAM(INITIAL_ALPHA, "rp_initial_alpha_value", U16),
	TERN_PARAM(ALPHA_TIMER, "rp_dce_tcp_rtt", U32),
	TERN_PARAM(REDUCE_PERIOD, "rp_rate_reduce_monitor_period", U32),
	TERN_PARAM(FIRST_RATE, "rp_rate_to_set_on_first_cnp", U32),
	TERN_PARAM(CLAMP_TARGET, "rp_clamp_tgt_rate", BOOL),
};

static const struct devlink_param tern_storm_params[] = {
	TERN_PARAM(STORM_LIMIT, "pfc_storm_limit", U32),
	TERN_PARAM(STORM_RESTORE, "pfc_storm_restore", U32),
	TERN_PARAM(STORM_ACTION, "pfc_storm_action", STRING),
};

/* The network interface exists. */
int tern_devlink_params_register(struct tern_adapter *adapter)
{
	struct devlink *devlink = priv_to_devlink(adapter);
	int err;

	if (tern_has(&adapter->device, TERN_FEATURE_ECN)) {
		err = devlink_params_register(devlink, tern_congestion_params,
					      ARRAY_SIZE(tern_congestion_params));
		if (err)
			return err;
		adapter->congestion_params = true;
	}
	if (tern_has(&adapter->device, TERN_FEATURE_PFC)) {
		err = devlink_params_register(devlink, tern_storm_params,
					      ARRAY_SIZE(tern_storm_params));
		if (err) {
			tern_devlink_params_unregister(adapter);
			return err;
		}
		adapter->storm_params = true;
	}
	return 0;
}

void tern_devlink_params_unregister(struct tern_adapter *adapter)
{
	struct devlink *devlink = priv_to_devlink(adapter);

	if (adapter->storm_params)
		devlink_params_unregister(devlink, tern_storm_params,
					  ARRAY_SIZE(tern_storm_params));
	if (adapter->congestion_params)
		devlink_params_unregister(devlink, tern_congestion_params,
					  ARRAY_SIZE(tern_congestion_params));
	adapter->storm_params = false;
	adapter->congestion_params = false;
}
