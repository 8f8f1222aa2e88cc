// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: congestion control in terms of IEEE 802.1Qau's managed objects.
 * Documentation/lossless.rst has the table. Times are in us and rates in Mb/s.
 */
#include <asm/byteorder.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "dcb_translate.h"

/* After "Congestion Control for Large-Scale RDMA Deployments", table 14 and section 5. */
static const struct tern_congestion tern_congestion_default = {
	/* CS6, the network's own traffic, and its priority; as mlx5 has it */
	.cnp_priority = 6,
	.cnp_dscp = 48,
	.cnp_interval_us = 50,
	.min_rate_mbps = 1,
	.time_reset_us = 55,
	.byte_reset = 10000000,
	.threshold = 5,
	.ai_rate_mbps = 40,
	.hai_rate_mbps = 400,
	.alpha_timer_us = 55,
	/* As mlx5: CNPs of one burst are one sign. */
	.reduce_period_us = 4,
	.initial_alpha = 1024,
	.gain_shift = 8,
	.min_decrease_percent = 50,
};

void tern_congestion_defaults(struct tern_congestion *congestion)
{
	*congestion = tern_congestion_default;
}

int tern_congestion_check(const struct tern_congestion *congestion, const char **why)
{
	const char *bad = NULL;

	if (congestion->cnp_priority >= TERN_PRIORITIES)
		bad = "the CNPs' priority is above 7";
	else if (congestion->cnp_dscp >= TERN_DSCPS)
		bad = "the CNPs' DSCP is above 63";
	else if (!congestion->min_rate_mbps)
		bad = "the lowest rate is 0";
	else if (congestion->max_rate_mbps && congestion->min_rate_mbps > congestion->max_rate_mbps)
		bad = "the lowest rate is above the highest";
	else if (!congestion->time_reset_us || !congestion->byte_reset)
		bad = "a period of increase is 0";
	else if (!congestion->threshold || congestion->threshold > 31)
		bad = "the threshold is not in 1..31";
	else if (!congestion->ai_rate_mbps || !congestion->hai_rate_mbps)
		bad = "an increase is 0";
	else if (!congestion->alpha_timer_us)
		bad = "alpha's period is 0";
	else if (congestion->initial_alpha > 1024)
		bad = "alpha is above 1024";
	else if (!congestion->gain_shift || congestion->gain_shift > 15)
		bad = "gd is not in 1..15";
	else if (!congestion->min_decrease_percent || congestion->min_decrease_percent > 100)
		bad = "the least factor is not in 1..100 percent";
	if (!bad)
		return 0;
	*why = bad;
	return -ERANGE;
}

void tern_congestion_get_qcn(const struct tern_dcb_settings *settings, struct ieee_qcn *qcn)
{
	const struct tern_congestion *congestion;
	unsigned int i;

	memset(qcn, 0, sizeof(*qcn));
	for (i = 0; i < TERN_PRIORITIES; i++) {
		congestion = &settings->congestion[i];
		qcn->rpg_enable[i] = congestion->enabled;
		qcn->rpg_time_reset[i] = congestion->time_reset_us;
		qcn->rpg_byte_reset[i] = congestion->byte_reset;
		qcn->rpg_threshold[i] = congestion->threshold;
		qcn->rpg_max_rate[i] = congestion->max_rate_mbps;
		qcn->rpg_ai_rate[i] = congestion->ai_rate_mbps;
		qcn->rpg_hai_rate[i] = congestion->hai_rate_mbps;
		qcn->rpg_gd[i] = congestion->gain_shift;
		qcn->rpg_min_dec_fac[i] = congestion->min_decrease_percent;
		qcn->rpg_min_rate[i] = congestion->min_rate_mbps;
	}
}

static int tern_congestion_set_priority(struct tern_congestion *congestion,
					const struct ieee_qcn *qcn, unsigned int i,
					const char **why)
{
	/* They map to nothing, and are shown as zero. */
	if (qcn->rppp_max_rps[i] || qcn->cndd_state_machine[i]) {
		*why = "rppp_max_rps and cndd_state_machine are fixed";
		return -EOPNOTSUPP;
	}
	/* These are narrower than their fields. */
	if (qcn->rpg_enable[i] > 1 || qcn->rpg_gd[i] > U8_MAX ||
	    qcn->rpg_min_dec_fac[i] > U8_MAX) {
		*why = "rpg_enable, rpg_gd or rpg_min_dec_fac is out of range";
		return -ERANGE;
	}
	congestion->enabled = qcn->rpg_enable[i];
	congestion->time_reset_us = qcn->rpg_time_reset[i];
	congestion->byte_reset = qcn->rpg_byte_reset[i];
	congestion->threshold = qcn->rpg_threshold[i];
	congestion->max_rate_mbps = qcn->rpg_max_rate[i];
	congestion->ai_rate_mbps = qcn->rpg_ai_rate[i];
	congestion->hai_rate_mbps = qcn->rpg_hai_rate[i];
	congestion->gain_shift = qcn->rpg_gd[i];
	congestion->min_decrease_percent = qcn->rpg_min_dec_fac[i];
	congestion->min_rate_mbps = qcn->rpg_min_rate[i];
	return tern_congestion_check(congestion, why);
}

int tern_congestion_set_qcn(struct tern_dcb_settings *settings, const struct ieee_qcn *qcn,
			    const char **why)
{
	struct tern_congestion congestion[TERN_PRIORITIES];
	unsigned int i;
	int err;

	memcpy(congestion, settings->congestion, sizeof(congestion));
	for (i = 0; i < TERN_PRIORITIES; i++) {
		err = tern_congestion_set_priority(&congestion[i], qcn, i, why);
		if (err)
			return err;
	}
	memcpy(settings->congestion, congestion, sizeof(congestion));
	return 0;
}

void tern_congestion_to_command(const struct tern_congestion *congestion,
				struct tern_command_set_congestion_control *command)
{
	memset(command, 0, sizeof(*command));
	if (congestion->enabled)
		command->flags |= TERN_CONGESTION_REACT | TERN_CONGESTION_NOTIFY;
	if (congestion->clamp_target)
		command->flags |= TERN_CONGESTION_CLAMP_TARGET;
	command->cnp_priority = congestion->cnp_priority;
	command->cnp_dscp = congestion->cnp_dscp;
	command->cnp_interval_us = cpu_to_le32(congestion->cnp_interval_us);
	command->max_rate_mbps = cpu_to_le32(congestion->max_rate_mbps);
	command->min_rate_mbps = cpu_to_le32(congestion->min_rate_mbps);
	command->first_rate_mbps = cpu_to_le32(congestion->first_rate_mbps);
	command->time_reset_us = cpu_to_le32(congestion->time_reset_us);
	command->byte_reset = cpu_to_le32(congestion->byte_reset);
	command->threshold = cpu_to_le32(congestion->threshold);
	command->ai_rate_mbps = cpu_to_le32(congestion->ai_rate_mbps);
	command->hai_rate_mbps = cpu_to_le32(congestion->hai_rate_mbps);
	command->alpha_timer_us = cpu_to_le32(congestion->alpha_timer_us);
	command->reduce_period_us = cpu_to_le32(congestion->reduce_period_us);
	command->initial_alpha = cpu_to_le16(congestion->initial_alpha);
	command->gain_shift = congestion->gain_shift;
	command->min_decrease_percent = congestion->min_decrease_percent;
}
