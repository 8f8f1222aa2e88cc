// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: from what was set to the device's commands. */
#include <asm/byteorder.h>
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "dcb_translate.h"

#define TERN_KBPS_PER_MBPS	1000

static_assert(IEEE_8021QAZ_MAX_TCS == TERN_TRAFFIC_CLASSES);
static_assert(IEEE_8021Q_MAX_PRIORITIES == TERN_PRIORITIES);
static_assert(DCBX_MAX_BUFFERS == TERN_RECEIVE_BUFFERS);

static int tern_dcb_refuse(int err, const char *reason, const char **why)
{
	*why = reason;
	return err;
}

void tern_dcb_defaults(struct tern_dcb_settings *settings)
{
	unsigned int priority;

	memset(settings, 0, sizeof(*settings));
	settings->ets.ets_cap = TERN_TRAFFIC_CLASSES;
	settings->delay = TERN_PFC_DELAY_DEFAULT;
	settings->trust = TERN_TRUST_PCP;
	/* As SONiC's watchdog restores after twice its usual limit of 200 ms. */
	settings->storm.restore_ms = 400;
	for (priority = 0; priority < TERN_PRIORITIES; priority++)
		tern_congestion_defaults(&settings->congestion[priority]);
}

static bool tern_dcb_known_algorithm(u8 algorithm)
{
	return algorithm == IEEE_8021QAZ_TSA_STRICT || algorithm == IEEE_8021QAZ_TSA_ETS;
}

/* The recommendation is for the peer: an LLDP agent reads it, the device does not. */
static int tern_dcb_check_recommendation(const struct ieee_ets *ets, const char **why)
{
	unsigned int i;

	for (i = 0; i < TERN_TRAFFIC_CLASSES; i++)
		if (ets->reco_prio_tc[i] >= TERN_TRAFFIC_CLASSES || ets->tc_reco_bw[i] > 100)
			return tern_dcb_refuse(-ERANGE, "a recommended value is out of range", why);
	return 0;
}

int tern_dcb_set_ets(struct tern_dcb_settings *settings, const struct ieee_ets *ets,
		     const char **why)
{
	unsigned int i, sum = 0, shared = 0;
	bool receive = false;

	for (i = 0; i < TERN_PRIORITIES; i++)
		if (ets->prio_tc[i] >= TERN_TRAFFIC_CLASSES)
			return tern_dcb_refuse(-ERANGE, "a traffic class is above 7", why);
	for (i = 0; i < TERN_TRAFFIC_CLASSES; i++) {
		if (!tern_dcb_known_algorithm(ets->tc_tsa[i]))
			return tern_dcb_refuse(-EOPNOTSUPP,
					       "an algorithm is neither strict nor ETS", why);
		if (ets->tc_tx_bw[i] > 100 || ets->tc_rx_bw[i] > 100)
			return tern_dcb_refuse(-ERANGE, "a bandwidth is above 100 percent", why);
		receive |= ets->tc_rx_bw[i];
		if (ets->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			continue;
		shared++;
		sum += ets->tc_tx_bw[i];
	}
	if (shared && sum != 100)
		return tern_dcb_refuse(-EINVAL, "the ETS classes' bandwidths are not 100 percent",
				       why);
	/*
	 * Nothing schedules what comes in. LLDP agents give the same for both
	 * directions, and who changes one gives back what the other was.
	 */
	if (receive && memcmp(ets->tc_rx_bw, ets->tc_tx_bw, sizeof(ets->tc_rx_bw)) &&
	    memcmp(ets->tc_rx_bw, settings->ets.tc_rx_bw, sizeof(ets->tc_rx_bw)))
		return tern_dcb_refuse(-EOPNOTSUPP, "receiving has no bandwidths of its own", why);
	if (ets->cbs)
		return tern_dcb_refuse(-EOPNOTSUPP, "there is no credit based shaper", why);
	if (ets->willing > 1)
		return tern_dcb_refuse(-ERANGE, "willing is 0 or 1", why);
	if (tern_dcb_check_recommendation(ets, why))
		return -ERANGE;
	settings->ets = *ets;
	/* Not a setting, but what the device can do. */
	settings->ets.ets_cap = TERN_TRAFFIC_CLASSES;
	return 0;
}

int tern_dcb_set_maxrate(struct tern_dcb_settings *settings, const struct ieee_maxrate *maxrate,
			 const char **why)
{
	unsigned int i;

	for (i = 0; i < TERN_TRAFFIC_CLASSES; i++) {
		if (maxrate->tc_maxrate[i] % TERN_KBPS_PER_MBPS)
			return tern_dcb_refuse(-EINVAL, "a rate is not whole Mb/s", why);
		if (maxrate->tc_maxrate[i] > (u64)U32_MAX * TERN_KBPS_PER_MBPS)
			return tern_dcb_refuse(-ERANGE, "a rate is too high", why);
	}
	settings->maxrate = *maxrate;
	return 0;
}

int tern_dcb_set_pfc(struct tern_dcb_settings *settings, const struct ieee_pfc *pfc,
		     const char **why)
{
	if (pfc->mbc)
		return tern_dcb_refuse(-EOPNOTSUPP, "MACsec is not bypassed", why);
	settings->pfc = pfc->pfc_en;
	settings->delay = pfc->delay;
	return 0;
}

int tern_dcb_set_buffer(struct tern_dcb_settings *settings, const struct dcbnl_buffer *buffer,
			const char **why)
{
	unsigned int i;

	/* No bytes at all: the buffers that PFC needs are divided by themselves again. */
	if (!memchr_inv(buffer->buffer_size, 0, sizeof(buffer->buffer_size))) {
		settings->buffers_set = false;
		return 0;
	}
	for (i = 0; i < TERN_PRIORITIES; i++) {
		if (buffer->prio2buffer[i] >= TERN_RECEIVE_BUFFERS)
			return tern_dcb_refuse(-ERANGE, "a buffer is above 7", why);
		if (!buffer->buffer_size[buffer->prio2buffer[i]])
			return tern_dcb_refuse(-EINVAL, "a priority's buffer has no bytes", why);
	}
	settings->buffer = *buffer;
	settings->buffers_set = true;
	return 0;
}

/* The mask of priorities that an entry's protocol has. */
static u8 *tern_dcb_app_slot(struct tern_apps *apps, const struct dcb_app *app, int *err,
			     const char **why)
{
	switch (app->selector) {
	case IEEE_8021QAZ_APP_SEL_ETHERTYPE:
		if (!app->protocol)
			return &apps->default_priority;
		if (app->protocol == TERN_ROCE_ETHERTYPE)
			return &apps->roce_v1;
		break;
	case IEEE_8021QAZ_APP_SEL_DGRAM:
		if (app->protocol == TERN_ROCE_UDP_PORT)
			return &apps->roce_v2;
		break;
	case IEEE_8021QAZ_APP_SEL_DSCP:
		if (app->protocol < TERN_DSCPS)
			return &apps->dscp[app->protocol];
		*err = tern_dcb_refuse(-ERANGE, "a DSCP is above 63", why);
		return NULL;
	case DCB_APP_SEL_PCP:
		if (app->protocol < TERN_PCPS)
			return &apps->pcp[app->protocol];
		*err = tern_dcb_refuse(-ERANGE, "a PCP with DEI is above 15", why);
		return NULL;
	}
	*err = tern_dcb_refuse(-EOPNOTSUPP,
			       "only ethertypes 0 and 0x8915, UDP port 4791, DSCP and PCP count",
			       why);
	return NULL;
}

int tern_dcb_set_app(struct tern_dcb_settings *settings, const struct dcb_app *app, bool add,
		     const char **why)
{
	int err = 0;
	u8 *slot = tern_dcb_app_slot(&settings->apps, app, &err, why);

	if (!slot)
		return err;
	if (app->priority >= TERN_PRIORITIES)
		return tern_dcb_refuse(-ERANGE, "a priority is above 7", why);
	if (add && *slot & BIT(app->priority))
		return tern_dcb_refuse(-EEXIST, "the entry exists", why);
	if (!add && !(*slot & BIT(app->priority)))
		return tern_dcb_refuse(-ENOENT, "there is no such entry", why);
	*slot ^= BIT(app->priority);
	return 0;
}

/* Of each TERN_TRUST_*, what is looked at, in order. */
static const struct {
	u8 count;
	u8 selectors[2];
} tern_trusts[] = {
	[TERN_TRUST_PCP] = { 1, { DCB_APP_SEL_PCP } },
	[TERN_TRUST_DSCP] = { 1, { IEEE_8021QAZ_APP_SEL_DSCP } },
	[TERN_TRUST_PCP_DSCP] = { 2, { DCB_APP_SEL_PCP, IEEE_8021QAZ_APP_SEL_DSCP } },
	[TERN_TRUST_DSCP_PCP] = { 2, { IEEE_8021QAZ_APP_SEL_DSCP, DCB_APP_SEL_PCP } },
};

int tern_dcb_set_trust(struct tern_dcb_settings *settings, const u8 *selectors, int count,
		       const char **why)
{
	unsigned int trust;

	for (trust = 0; trust < ARRAY_SIZE(tern_trusts); trust++) {
		if (count != tern_trusts[trust].count ||
		    memcmp(selectors, tern_trusts[trust].selectors, count))
			continue;
		settings->trust = trust;
		return 0;
	}
	return tern_dcb_refuse(-EOPNOTSUPP, "trusted are PCP, DSCP, or both in either order", why);
}

/* Returns how many there are: at most two. */
int tern_dcb_get_trust(const struct tern_dcb_settings *settings, u8 *selectors)
{
	int count = tern_trusts[settings->trust].count;

	memcpy(selectors, tern_trusts[settings->trust].selectors, count);
	return count;
}

int tern_dcb_set_rewrite(struct tern_dcb_settings *settings, const struct dcb_app *app, bool add,
			 const char **why)
{
	struct tern_rewrites *rewrites = &settings->rewrites;
	bool dscp = app->selector == IEEE_8021QAZ_APP_SEL_DSCP;
	bool there;

	if (!dscp && app->selector != DCB_APP_SEL_PCP)
		return tern_dcb_refuse(-EOPNOTSUPP, "only DSCP and PCP are rewritten", why);
	if (app->priority >= TERN_PRIORITIES || app->protocol >= (dscp ? TERN_DSCPS : TERN_PCPS))
		return tern_dcb_refuse(-ERANGE, "a priority, DSCP or PCP is out of range", why);
	if (dscp)
		there = rewrites->dscp[app->priority] & BIT_ULL(app->protocol);
	else
		there = rewrites->pcp[app->priority] & BIT(app->protocol);
	if (there == add)
		return tern_dcb_refuse(add ? -EEXIST : -ENOENT,
				       add ? "the entry exists" : "there is no such entry", why);
	if (dscp)
		rewrites->dscp[app->priority] ^= BIT_ULL(app->protocol);
	else
		rewrites->pcp[app->priority] ^= BIT(app->protocol);
	return 0;
}

/* The highest priority of a mask, or what holds without an entry. */
static u8 tern_dcb_priority(u8 mask, u8 otherwise)
{
	return mask ? fls(mask) - 1 : otherwise;
}

static void tern_dcb_translate_map(const struct tern_dcb_settings *settings,
				   struct tern_command_set_priority_map *map)
{
	const struct tern_rewrites *rewrites = &settings->rewrites;
	const struct tern_apps *apps = &settings->apps;
	unsigned int i;

	map->trust = settings->trust;
	map->default_priority = tern_dcb_priority(apps->default_priority, 0);
	map->roce_v1_priority = tern_dcb_priority(apps->roce_v1, map->default_priority);
	map->roce_v2_priority = tern_dcb_priority(apps->roce_v2, map->default_priority);
	/* Without an entry: the class selector (RFC 2474), and the tag itself. */
	for (i = 0; i < TERN_DSCPS; i++)
		map->priority_of_dscp[i] = tern_dcb_priority(apps->dscp[i], i >> 3);
	for (i = 0; i < TERN_PCPS; i++)
		map->priority_of_pcp[i] = tern_dcb_priority(apps->pcp[i], i & 7);
	for (i = 0; i < TERN_PRIORITIES; i++) {
		if (rewrites->dscp[i]) {
			map->rewrite_dscp |= BIT(i);
			map->dscp_of[i] = fls64(rewrites->dscp[i]) - 1;
		}
		if (rewrites->pcp[i]) {
			map->rewrite_pcp |= BIT(i);
			map->pcp_of[i] = fls(rewrites->pcp[i]) - 1;
		}
	}
}

static void tern_dcb_translate_classes(const struct tern_dcb_settings *settings,
				       struct tern_command_set_traffic_classes *classes)
{
	unsigned int i;

	memcpy(classes->class_of, settings->ets.prio_tc, sizeof(classes->class_of));
	for (i = 0; i < TERN_TRAFFIC_CLASSES; i++) {
		if (settings->ets.tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			classes->algorithm[i] = TERN_CLASS_ETS;
			classes->bandwidth[i] = settings->ets.tc_tx_bw[i];
		}
		classes->max_rate_mbps[i] = cpu_to_le32(div_u64(settings->maxrate.tc_maxrate[i],
								TERN_KBPS_PER_MBPS));
	}
}

void tern_dcb_get_buffer(const struct tern_dcb_settings *settings, u32 buffer_bytes,
			 struct dcbnl_buffer *buffer)
{
	unsigned int i;

	if (settings->buffers_set) {
		*buffer = settings->buffer;
	} else {
		memset(buffer, 0, sizeof(*buffer));
		/* One for what may be lost, one for the rest, as much for either. */
		if (settings->pfc != 0xff)
			buffer->buffer_size[0] = settings->pfc ? buffer_bytes / 2 : buffer_bytes;
		buffer->buffer_size[1] = buffer_bytes - buffer->buffer_size[0];
		for (i = 0; i < TERN_PRIORITIES; i++)
			buffer->prio2buffer[i] = !!(settings->pfc & BIT(i));
	}
	buffer->total_size = buffer_bytes;
}

/*
 * A pause takes effect when what is on the cable has come, and when the frames
 * that have begun on both sides are through: @delay and two frames. It goes out
 * when no more than that fits in, and at half the buffer at the latest, for
 * peers that take longer; and it ends at half of that, so that pauses are few.
 */
static int tern_dcb_thresholds(struct tern_receive_buffer *buffer, u32 bytes, u16 delay,
			       u32 frame_bytes, const char **why)
{
	u64 headroom = DIV_ROUND_UP(delay, BITS_PER_BYTE) + 2ULL * frame_bytes;
	u32 xoff;

	if (bytes < headroom + 1)
		return tern_dcb_refuse(-ENOSPC,
				       "a lossless buffer has less than the delay and two frames",
				       why);
	/* Smaller ones are full at once: at least one byte has to stand in it. */
	xoff = clamp_t(u64, bytes - headroom, 1, max(bytes / 2, 1));
	buffer->xoff = cpu_to_le32(xoff);
	buffer->xon = cpu_to_le32(DIV_ROUND_UP(xoff, 2));
	return 0;
}

static int tern_dcb_translate_buffers(const struct tern_dcb_settings *settings,
				      const struct tern_dcb_limits *limits,
				      struct tern_command_set_receive_buffers *buffers,
				      const char **why)
{
	struct dcbnl_buffer buffer;
	u8 lossless = 0;
	unsigned int i;
	u64 sum = 0;
	int err;

	tern_dcb_get_buffer(settings, limits->buffer_bytes, &buffer);
	for (i = 0; i < TERN_PRIORITIES; i++) {
		buffers->buffer_of[i] = buffer.prio2buffer[i];
		if (settings->pfc & BIT(i) || settings->pause & TERN_FLOW_CONTROL_SEND_PAUSE)
			lossless |= BIT(buffer.prio2buffer[i]);
	}
	for (i = 0; i < TERN_RECEIVE_BUFFERS; i++) {
		sum += buffer.buffer_size[i];
		buffers->buffer[i].bytes = cpu_to_le32(buffer.buffer_size[i]);
		if (!(lossless & BIT(i)))
			continue;
		err = tern_dcb_thresholds(&buffers->buffer[i], buffer.buffer_size[i],
					  settings->delay, limits->frame_bytes, why);
		if (err)
			return err;
	}
	if (sum > limits->buffer_bytes)
		return tern_dcb_refuse(-ENOSPC, "the buffers have more bytes than the port", why);
	return 0;
}

int tern_dcb_translate(const struct tern_dcb_settings *settings,
		       const struct tern_dcb_limits *limits, struct tern_dcb_commands *commands,
		       const char **why)
{
	unsigned int i;

	if (settings->pfc && settings->pause)
		return tern_dcb_refuse(-EBUSY, "PFC and pause of the whole link exclude each other",
				       why);
	memset(commands, 0, sizeof(*commands));
	commands->flow_control.pfc_priorities = settings->pfc;
	commands->flow_control.flags = settings->pause;
	if (settings->storm.limit_ms) {
		commands->flow_control.storm_action = settings->storm.action;
		commands->flow_control.storm_limit_ms = cpu_to_le32(settings->storm.limit_ms);
		commands->flow_control.storm_restore_ms = cpu_to_le32(settings->storm.restore_ms);
	}
	tern_dcb_translate_map(settings, &commands->map);
	tern_dcb_translate_classes(settings, &commands->classes);
	for (i = 0; i < TERN_PRIORITIES; i++)
		tern_congestion_to_command(&settings->congestion[i], &commands->congestion[i]);
	return tern_dcb_translate_buffers(settings, limits, &commands->buffers, why);
}

void tern_dcb_queue_sets(const struct tern_dcb_settings *settings, u8 *sets)
{
	unsigned int priority, lower;
	u8 count = 0;

	for (priority = 0; priority < TERN_PRIORITIES; priority++) {
		for (lower = 0; lower < priority; lower++)
			if (!(settings->pfc & (BIT(priority) | BIT(lower))) &&
			    settings->ets.prio_tc[lower] == settings->ets.prio_tc[priority])
				break;
		sets[priority] = lower < priority ? sets[lower] : count++;
	}
}
