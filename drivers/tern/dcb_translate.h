/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What DCB netlink, ethtool and devlink set, and its translation into the
 * device's commands. No function here touches a device.
 */
#ifndef TERN_DCB_TRANSLATE_H
#define TERN_DCB_TRANSLATE_H

#include <linux/dcbnl.h>
#include <linux/types.h>

#include "tern_hw_congestion.h"
#include "tern_hw_priority.h"

/* The allowance for the way of a pause that nobody has set, in bits: 4 KiB. */
#define TERN_PFC_DELAY_DEFAULT	32768

/* What RoCE goes by in an APP table: InfiniBand Architecture, annexes A16 and A17 */
#define TERN_ROCE_ETHERTYPE	0x8915
#define TERN_ROCE_UDP_PORT	4791

/**
 * struct tern_apps - the APP table; a bit for each priority that an entry gives
 * @dscp: by DSCP
 * @pcp: by DEI << 3 | PCP
 * @default_priority: ethertype 0, which IEEE 802.1Q makes the default priority
 * @roce_v1: ethertype 0x8915
 * @roce_v2: UDP port 4791
 *
 * Where several priorities are given, the highest counts, as in other drivers.
 */
struct tern_apps {
	u8 dscp[TERN_DSCPS];
	u8 pcp[TERN_PCPS];
	u8 default_priority;
	u8 roce_v1;
	u8 roce_v2;
};

/**
 * struct tern_rewrites - the rewrite table; the highest value of a priority counts
 * @dscp: by priority, a bit for each DSCP
 * @pcp: by priority, a bit for each DEI << 3 | PCP
 */
struct tern_rewrites {
	u64 dscp[TERN_PRIORITIES];
	u16 pcp[TERN_PRIORITIES];
};

/**
 * struct tern_storm - the watchdog of pauses
 * @limit_ms: a priority that is paused for longer has a storm; 0: never
 * @restore_ms: a storm ends when no pause came for so long
 * @action: TERN_STORM_*
 */
struct tern_storm {
	u32 limit_ms;
	u32 restore_ms;
	u8 action;
};

/**
 * struct tern_congestion - congestion control of a priority; fields as in the command
 * @enabled: both the reaction point and the notification point
 * @clamp_target: TERN_CONGESTION_CLAMP_TARGET
 * @cnp_priority: of CNPs
 * @cnp_dscp: of CNPs
 * @cnp_interval_us: least time between CNPs
 * @max_rate_mbps: 0: the port's speed
 * @min_rate_mbps: lowest rate
 * @first_rate_mbps: after the first CNP; 0: no special one
 * @time_reset_us: period of the increase timer
 * @byte_reset: bytes of the increase counter
 * @threshold: steps of fast recovery
 * @ai_rate_mbps: additive increase
 * @hai_rate_mbps: hyper additive increase
 * @alpha_timer_us: period of alpha's decay
 * @reduce_period_us: least time between cuts
 * @initial_alpha: in 1/1024
 * @gain_shift: g is 1 >> this
 * @min_decrease_percent: a cut leaves at least so much
 */
struct tern_congestion {
	bool enabled;
	bool clamp_target;
	u8 cnp_priority;
	u8 cnp_dscp;
	u32 cnp_interval_us;
	u32 max_rate_mbps;
	u32 min_rate_mbps;
	u32 first_rate_mbps;
	u32 time_reset_us;
	u32 byte_reset;
	u32 threshold;
	u32 ai_rate_mbps;
	u32 hai_rate_mbps;
	u32 alpha_timer_us;
	u32 reduce_period_us;
	u16 initial_alpha;
	u8 gain_shift;
	u8 min_decrease_percent;
};

/**
 * struct tern_dcb_settings - all that was set
 * @ets: shown as it was set
 * @maxrate: in kb/s
 * @pfc: a bit for each priority with PFC
 * @delay: of PFC, in bits
 * @pause: TERN_FLOW_CONTROL_*
 * @buffers_set: @buffer was set; else buffers follow from PFC
 * @buffer: receive buffers
 * @trust: TERN_TRUST_*
 * @apps: APP table
 * @rewrites: rewrite table
 * @storm: watchdog
 * @congestion: by priority
 */
struct tern_dcb_settings {
	struct ieee_ets ets;
	struct ieee_maxrate maxrate;
	u8 pfc;
	u16 delay;
	u8 pause;
	bool buffers_set;
	struct dcbnl_buffer buffer;
	u8 trust;
	struct tern_apps apps;
	struct tern_rewrites rewrites;
	struct tern_storm storm;
	struct tern_congestion congestion[TERN_PRIORITIES];
};

/**
 * struct tern_dcb_limits - what the translation depends on beside the settings
 * @buffer_bytes: of all receive buffers
 * @frame_bytes: longest frame, without FCS
 */
struct tern_dcb_limits {
	u32 buffer_bytes;
	u32 frame_bytes;
};

/**
 * struct tern_dcb_commands - the same in the device's terms
 * @flow_control: SET_FLOW_CONTROL
 * @map: SET_PRIORITY_MAP
 * @buffers: SET_RECEIVE_BUFFERS
 * @classes: SET_TRAFFIC_CLASSES
 * @congestion: SET_CONGESTION_CONTROL, by priority
 */
struct tern_dcb_commands {
	struct tern_command_set_flow_control flow_control;
	struct tern_command_set_priority_map map;
	struct tern_command_set_receive_buffers buffers;
	struct tern_command_set_traffic_classes classes;
	struct tern_command_set_congestion_control congestion[TERN_PRIORITIES];
};

/* What a device has after a reset, and congestion control's parameters. */
void tern_dcb_defaults(struct tern_dcb_settings *settings);

/*
 * Each changes @settings, or returns an errno, says why, and changes nothing:
 * -ERANGE a value out of range, -EINVAL values that don't fit together,
 * -EOPNOTSUPP what the device does not do, -EEXIST and -ENOENT of entries.
 */
int tern_dcb_set_ets(struct tern_dcb_settings *settings, const struct ieee_ets *ets,
		     const char **why);
int tern_dcb_set_maxrate(struct tern_dcb_settings *settings, const struct ieee_maxrate *maxrate,
			 const char **why);
int tern_dcb_set_pfc(struct tern_dcb_settings *settings, const struct ieee_pfc *pfc,
		     const char **why);
int tern_dcb_set_buffer(struct tern_dcb_settings *settings, const struct dcbnl_buffer *buffer,
			const char **why);
int tern_dcb_set_app(struct tern_dcb_settings *settings, const struct dcb_app *app, bool add,
		     const char **why);
int tern_dcb_set_trust(struct tern_dcb_settings *settings, const u8 *selectors, int count,
		       const char **why);
int tern_dcb_get_trust(const struct tern_dcb_settings *settings, u8 *selectors);
int tern_dcb_set_rewrite(struct tern_dcb_settings *settings, const struct dcb_app *app, bool add,
			 const char **why);

/* dcb_congestion.c */
void tern_congestion_defaults(struct tern_congestion *congestion);
/* As above; a value's limits are the command's. */
int tern_congestion_check(const struct tern_congestion *congestion, const char **why);
int tern_congestion_set_qcn(struct tern_dcb_settings *settings, const struct ieee_qcn *qcn,
			    const char **why);
void tern_congestion_get_qcn(const struct tern_dcb_settings *settings, struct ieee_qcn *qcn);
void tern_congestion_to_command(const struct tern_congestion *congestion,
				struct tern_command_set_congestion_control *command);

/* The sizes that are in force: what was set, or what follows from PFC. */
void tern_dcb_get_buffer(const struct tern_dcb_settings *settings, u32 buffer_bytes,
			 struct dcbnl_buffer *buffer);

/*
 * -ENOSPC: a receive buffer is too small for what shall be lossless, or all
 * are larger than the device's; -EBUSY: PFC together with PAUSE.
 */
int tern_dcb_translate(const struct tern_dcb_settings *settings,
		       const struct tern_dcb_limits *limits, struct tern_dcb_commands *commands,
		       const char **why);

/*
 * Of each priority the set of transmit queues: its own with PFC, else that of
 * the lowest priority of its class without. So a priority that is paused
 * keeps no other one waiting, and without settings all are 0.
 */
void tern_dcb_queue_sets(const struct tern_dcb_settings *settings, u8 *sets);

#endif /* TERN_DCB_TRANSLATE_H */
