// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit: from DCB netlink's structures to the device's commands, and refusals. */
#include <kunit/test.h>

#include "dcb_translate.c"
#include "dcb_congestion.c"

#define DCB_BYTES	100000
#define DCB_FRAME	1518

struct dcb_context {
	struct tern_dcb_settings settings;
	struct tern_dcb_settings before;
	struct tern_dcb_commands commands;
	struct ieee_qcn qcn;
	const char *why;
};

static const struct tern_dcb_limits dcb_limits = {
	.buffer_bytes = DCB_BYTES,
	.frame_bytes = DCB_FRAME,
};

static int dcb_init(struct kunit *test)
{
	struct dcb_context *dcb = kunit_kzalloc(test, sizeof(*dcb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dcb);
	tern_dcb_defaults(&dcb->settings);
	dcb->before = dcb->settings;
	test->priv = dcb;
	return 0;
}

static int dcb_translate(struct dcb_context *dcb)
{
	return tern_dcb_translate(&dcb->settings, &dcb_limits, &dcb->commands, &dcb->why);
}

/* Refused with this error, a reason, and nothing changed. */
static void dcb_expect_refused(struct kunit *test, int err, int want)
{
	struct dcb_context *dcb = test->priv;

	KUNIT_EXPECT_EQ(test, err, want);
	KUNIT_EXPECT_NOT_NULL(test, dcb->why);
	KUNIT_EXPECT_MEMEQ(test, &dcb->settings, &dcb->before, sizeof(dcb->before));
	dcb->why = NULL;
}

static void dcb_defaults_are_a_reset_device(struct kunit *test)
{
	struct tern_command_set_flow_control flow_control = {};
	struct tern_command_set_traffic_classes classes = {};
	struct dcb_context *dcb = test->priv;
	unsigned int i;
	u8 sets[8];

	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_MEMEQ(test, &dcb->commands.flow_control, &flow_control, sizeof(flow_control));
	KUNIT_EXPECT_MEMEQ(test, &dcb->commands.classes, &classes, sizeof(classes));
	KUNIT_EXPECT_EQ(test, dcb->commands.map.trust, TERN_TRUST_PCP);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, dcb->commands.map.priority_of_dscp[i], i >> 3);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, dcb->commands.map.priority_of_pcp[i], i & 7);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.buffers.buffer[0].bytes), DCB_BYTES);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.buffers.buffer[0].xoff), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.buffers.buffer[1].bytes), 0);
	tern_dcb_queue_sets(&dcb->settings, sets);
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, dcb->commands.congestion[i].flags, 0);
		KUNIT_EXPECT_EQ(test, sets[i], 0);
	}
}

static void dcb_ets(struct kunit *test)
{
	const struct ieee_ets ets = {
		.willing = 1,
		.tc_tx_bw = { 30, 0, 70, 9 },
		.tc_tsa = { IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_ETS },
		.prio_tc = { 7, 6, 5, 4, 3, 2, 1, 0 },
	};
	struct dcb_context *dcb = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, dcb->commands.classes.class_of[i], 7 - i);
	KUNIT_EXPECT_EQ(test, dcb->commands.classes.algorithm[1], TERN_CLASS_ETS);
	KUNIT_EXPECT_EQ(test, dcb->commands.classes.algorithm[3], TERN_CLASS_STRICT);
	KUNIT_EXPECT_EQ(test, dcb->commands.classes.bandwidth[2], 70);
	/* A strict class has none, whatever is shown. */
	KUNIT_EXPECT_EQ(test, dcb->commands.classes.bandwidth[3], 0);
	KUNIT_EXPECT_EQ(test, dcb->settings.ets.tc_tx_bw[3], 9);
	KUNIT_EXPECT_EQ(test, dcb->settings.ets.ets_cap, 8);
}

static void dcb_ets_refused(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	struct ieee_ets ets = {};

	ets.prio_tc[3] = 8;
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -ERANGE);
	ets = (struct ieee_ets) { .tc_tsa = { IEEE_8021QAZ_TSA_CB_SHAPER } };
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -EOPNOTSUPP);
	ets = (struct ieee_ets) { .tc_tsa = { 2, 2 }, .tc_tx_bw = { 50, 49 } };
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -EINVAL);
	ets.tc_tx_bw[1] = 51;
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -EINVAL);
	/* A sum that is right modulo 256. */
	ets = (struct ieee_ets) { .tc_tsa = { 2, 2 }, .tc_tx_bw = { 178, 178 } };
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -ERANGE);
	ets = (struct ieee_ets) { .tc_tsa = { 2 }, .tc_tx_bw = { 100 }, .tc_rx_bw = { 50 } };
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -EOPNOTSUPP);
	ets = (struct ieee_ets) { .cbs = 1 };
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -EOPNOTSUPP);
	ets = (struct ieee_ets) { .willing = 2 };
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -ERANGE);
	ets = (struct ieee_ets) { .reco_prio_tc = { 8 } };
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -ERANGE);
}

static void dcb_maxrate(struct kunit *test)
{
	struct ieee_maxrate rate = { .tc_maxrate = { 0, 1000, 4294967295000ULL } };
	struct dcb_context *dcb = test->priv;

	KUNIT_ASSERT_EQ(test, tern_dcb_set_maxrate(&dcb->settings, &rate, &dcb->why), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.classes.max_rate_mbps[1]), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.classes.max_rate_mbps[2]), U32_MAX);
	dcb->before = dcb->settings;
	rate.tc_maxrate[1] = 1001;
	dcb_expect_refused(test, tern_dcb_set_maxrate(&dcb->settings, &rate, &dcb->why), -EINVAL);
	rate.tc_maxrate[1] = 4294967296000ULL;
	dcb_expect_refused(test, tern_dcb_set_maxrate(&dcb->settings, &rate, &dcb->why), -ERANGE);
}

static void dcb_pfc_makes_a_lossless_buffer(struct kunit *test)
{
	const struct ieee_pfc pfc = { .pfc_en = BIT(3), .delay = 8001 };
	const u32 headroom = 1001 + 2 * DCB_FRAME;
	struct dcb_context *dcb = test->priv;
	const struct tern_receive_buffer *lossless = &dcb->commands.buffers.buffer[1];
	u8 sets[8];

	KUNIT_ASSERT_EQ(test, tern_dcb_set_pfc(&dcb->settings, &pfc, &dcb->why), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, dcb->commands.flow_control.pfc_priorities, BIT(3));
	KUNIT_EXPECT_EQ(test, dcb->commands.buffers.buffer_of[3], 1);
	KUNIT_EXPECT_EQ(test, dcb->commands.buffers.buffer_of[2], 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(lossless->bytes), DCB_BYTES / 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(lossless->xoff), DCB_BYTES / 4);
	KUNIT_EXPECT_LE(test, le32_to_cpu(lossless->xoff) + headroom, DCB_BYTES / 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.buffers.buffer[0].xoff), 0);
	tern_dcb_queue_sets(&dcb->settings, sets);
	/* Numbered without gaps. */
	KUNIT_EXPECT_EQ(test, sets[3], 1);
	KUNIT_EXPECT_EQ(test, sets[2], 0);
	KUNIT_EXPECT_EQ(test, sets[4], 0);
}

static void dcb_pfc_refused(struct kunit *test)
{
	const struct ieee_pfc mbc = { .mbc = 1, .pfc_en = 1 };
	struct dcb_context *dcb = test->priv;

	dcb_expect_refused(test, tern_dcb_set_pfc(&dcb->settings, &mbc, &dcb->why), -EOPNOTSUPP);
	dcb->settings.pfc = 1;
	dcb->settings.pause = TERN_FLOW_CONTROL_RECEIVE_PAUSE;
	dcb->before = dcb->settings;
	dcb_expect_refused(test, dcb_translate(dcb), -EBUSY);
}

/* The smallest lossless buffer, and one byte less. */
static void dcb_buffer_limits(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	const u32 least = TERN_PFC_DELAY_DEFAULT / 8 + 2 * DCB_FRAME + 1;
	struct dcbnl_buffer buffer = {
		.prio2buffer = { 0, 0, 0, 5 },
		.buffer_size = { DCB_BYTES - least, 0, 0, 0, 0, least },
	};
	struct dcbnl_buffer shown;

	dcb->settings.pfc = BIT(3);
	KUNIT_ASSERT_EQ(test, tern_dcb_set_buffer(&dcb->settings, &buffer, &dcb->why), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.buffers.buffer[5].xoff), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(dcb->commands.buffers.buffer[5].xon), 1);
	tern_dcb_get_buffer(&dcb->settings, DCB_BYTES, &shown);
	KUNIT_EXPECT_MEMEQ(test, shown.buffer_size, buffer.buffer_size, sizeof(shown.buffer_size));
	KUNIT_EXPECT_EQ(test, shown.total_size, DCB_BYTES);

	buffer.buffer_size[5]--;
	KUNIT_ASSERT_EQ(test, tern_dcb_set_buffer(&dcb->settings, &buffer, &dcb->why), 0);
	dcb->before = dcb->settings;
	dcb_expect_refused(test, dcb_translate(dcb), -ENOSPC);
	buffer.buffer_size[5] += 2;
	KUNIT_ASSERT_EQ(test, tern_dcb_set_buffer(&dcb->settings, &buffer, &dcb->why), 0);
	dcb->before = dcb->settings;
	dcb_expect_refused(test, dcb_translate(dcb), -ENOSPC);
	buffer.prio2buffer[0] = 8;
	dcb_expect_refused(test, tern_dcb_set_buffer(&dcb->settings, &buffer, &dcb->why), -ERANGE);
	buffer.prio2buffer[0] = 4;
	dcb_expect_refused(test, tern_dcb_set_buffer(&dcb->settings, &buffer, &dcb->why), -EINVAL);
}

/* Who changes one direction gives the other back as it was, after lldpad gave both. */
static void dcb_receive_bandwidths(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	struct ieee_ets ets = {
		.tc_tsa = { 2, 2 }, .tc_tx_bw = { 40, 60 }, .tc_rx_bw = { 40, 60 },
	};

	KUNIT_ASSERT_EQ(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), 0);
	ets.tc_tx_bw[0] = 30;
	ets.tc_tx_bw[1] = 70;
	KUNIT_ASSERT_EQ(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), 0);
	KUNIT_EXPECT_EQ(test, dcb->settings.ets.tc_rx_bw[0], 40);
	dcb->before = dcb->settings;
	ets.tc_rx_bw[0] = 41;
	dcb_expect_refused(test, tern_dcb_set_ets(&dcb->settings, &ets, &dcb->why), -EOPNOTSUPP);
}

/* No bytes at all leave the division to the driver again. */
static void dcb_buffers_by_themselves(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	struct dcbnl_buffer before, set = { .buffer_size = { DCB_BYTES } }, none = {}, shown;

	tern_dcb_get_buffer(&dcb->settings, DCB_BYTES, &before);
	KUNIT_ASSERT_EQ(test, tern_dcb_set_buffer(&dcb->settings, &set, &dcb->why), 0);
	dcb->settings.pfc = BIT(3);
	tern_dcb_get_buffer(&dcb->settings, DCB_BYTES, &shown);
	KUNIT_EXPECT_EQ(test, shown.prio2buffer[3], 0);
	KUNIT_ASSERT_EQ(test, tern_dcb_set_buffer(&dcb->settings, &none, &dcb->why), 0);
	tern_dcb_get_buffer(&dcb->settings, DCB_BYTES, &shown);
	KUNIT_EXPECT_EQ(test, shown.prio2buffer[3], 1);
	dcb->settings.pfc = 0;
	tern_dcb_get_buffer(&dcb->settings, DCB_BYTES, &shown);
	KUNIT_EXPECT_MEMEQ(test, &shown, &before, sizeof(shown));
}

static int dcb_app(struct dcb_context *dcb, u8 selector, u16 protocol, u8 priority, bool add)
{
	const struct dcb_app app = { selector, priority, protocol };

	return tern_dcb_set_app(&dcb->settings, &app, add, &dcb->why);
}

static void dcb_apps(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	const struct tern_command_set_priority_map *map = &dcb->commands.map;

	KUNIT_EXPECT_EQ(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 26, 2, true), 0);
	KUNIT_EXPECT_EQ(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 26, 1, true), 0);
	KUNIT_EXPECT_EQ(test, dcb_app(dcb, DCB_APP_SEL_PCP, 15, 5, true), 0);
	KUNIT_EXPECT_EQ(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 0, 4, true), 0);
	KUNIT_EXPECT_EQ(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DGRAM, 4791, 3, true), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, map->priority_of_dscp[26], 2);
	KUNIT_EXPECT_EQ(test, map->priority_of_pcp[15], 5);
	KUNIT_EXPECT_EQ(test, map->default_priority, 4);
	KUNIT_EXPECT_EQ(test, map->roce_v2_priority, 3);
	/* As all that says nothing. */
	KUNIT_EXPECT_EQ(test, map->roce_v1_priority, 4);

	KUNIT_EXPECT_EQ(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 26, 2, false), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, map->priority_of_dscp[26], 1);
	KUNIT_EXPECT_EQ(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 0x8915, 0, true), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, map->roce_v1_priority, 0);
}

static void dcb_apps_refused(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;

	dcb_expect_refused(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 64, 0, true), -ERANGE);
	dcb_expect_refused(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 1, 8, true), -ERANGE);
	dcb_expect_refused(test, dcb_app(dcb, DCB_APP_SEL_PCP, 16, 0, true), -ERANGE);
	dcb_expect_refused(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 0x8906, 0, true),
			   -EOPNOTSUPP);
	dcb_expect_refused(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_STREAM, 4791, 0, true),
			   -EOPNOTSUPP);
	dcb_expect_refused(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DGRAM, 4790, 0, true),
			   -EOPNOTSUPP);
	dcb_expect_refused(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 1, 0, false), -ENOENT);
	KUNIT_EXPECT_EQ(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 1, 0, true), 0);
	dcb->before = dcb->settings;
	dcb_expect_refused(test, dcb_app(dcb, IEEE_8021QAZ_APP_SEL_DSCP, 1, 0, true), -EEXIST);
}

static void dcb_trust(struct kunit *test)
{
	static const u8 orders[][2] = { { DCB_APP_SEL_PCP }, { IEEE_8021QAZ_APP_SEL_DSCP },
					{ DCB_APP_SEL_PCP, IEEE_8021QAZ_APP_SEL_DSCP },
					{ IEEE_8021QAZ_APP_SEL_DSCP, DCB_APP_SEL_PCP } };
	static const u8 other[] = { IEEE_8021QAZ_APP_SEL_ETHERTYPE };
	struct dcb_context *dcb = test->priv;
	u8 shown[2];
	int i, count;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		count = i < 2 ? 1 : 2;
		KUNIT_EXPECT_EQ(test, tern_dcb_set_trust(&dcb->settings, orders[i], count,
							 &dcb->why), 0);
		KUNIT_EXPECT_EQ(test, dcb->settings.trust, i);
		KUNIT_EXPECT_EQ(test, tern_dcb_get_trust(&dcb->settings, shown), count);
		KUNIT_EXPECT_MEMEQ(test, shown, orders[i], count);
	}
	dcb->before = dcb->settings;
	dcb_expect_refused(test, tern_dcb_set_trust(&dcb->settings, other, 1, &dcb->why),
			   -EOPNOTSUPP);
	dcb_expect_refused(test, tern_dcb_set_trust(&dcb->settings, other, 0, &dcb->why),
			   -EOPNOTSUPP);
}

static void dcb_rewrite(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	struct dcb_app app = { IEEE_8021QAZ_APP_SEL_DSCP, 3, 63 };

	KUNIT_EXPECT_EQ(test, tern_dcb_set_rewrite(&dcb->settings, &app, true, &dcb->why), 0);
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, dcb->commands.map.rewrite_dscp, BIT(3));
	KUNIT_EXPECT_EQ(test, dcb->commands.map.dscp_of[3], 63);
	KUNIT_EXPECT_EQ(test, dcb->commands.map.rewrite_pcp, 0);
	dcb->before = dcb->settings;
	dcb_expect_refused(test, tern_dcb_set_rewrite(&dcb->settings, &app, true, &dcb->why),
			   -EEXIST);
	app.protocol = 64;
	dcb_expect_refused(test, tern_dcb_set_rewrite(&dcb->settings, &app, true, &dcb->why),
			   -ERANGE);
	app.protocol = 0;
	dcb_expect_refused(test, tern_dcb_set_rewrite(&dcb->settings, &app, false, &dcb->why),
			   -ENOENT);
	app.selector = IEEE_8021QAZ_APP_SEL_DGRAM;
	dcb_expect_refused(test, tern_dcb_set_rewrite(&dcb->settings, &app, true, &dcb->why),
			   -EOPNOTSUPP);
	app = (struct dcb_app) { DCB_APP_SEL_PCP, 7, 16 };
	dcb_expect_refused(test, tern_dcb_set_rewrite(&dcb->settings, &app, true, &dcb->why),
			   -ERANGE);
}

static void dcb_qcn(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	const struct tern_command_set_congestion_control *command = &dcb->commands.congestion[3];
	struct ieee_qcn shown;

	tern_congestion_get_qcn(&dcb->settings, &dcb->qcn);
	/* Unchanged is no refusal. */
	KUNIT_EXPECT_EQ(test, tern_congestion_set_qcn(&dcb->settings, &dcb->qcn, &dcb->why), 0);
	dcb->qcn.rpg_enable[3] = 1;
	dcb->qcn.rpg_time_reset[3] = 11;
	dcb->qcn.rpg_byte_reset[3] = 12;
	dcb->qcn.rpg_threshold[3] = 13;
	dcb->qcn.rpg_max_rate[3] = 1400;
	dcb->qcn.rpg_ai_rate[3] = 15;
	dcb->qcn.rpg_hai_rate[3] = 16;
	dcb->qcn.rpg_gd[3] = 7;
	dcb->qcn.rpg_min_dec_fac[3] = 18;
	dcb->qcn.rpg_min_rate[3] = 19;
	KUNIT_ASSERT_EQ(test, tern_congestion_set_qcn(&dcb->settings, &dcb->qcn, &dcb->why), 0);
	tern_congestion_get_qcn(&dcb->settings, &shown);
	KUNIT_EXPECT_MEMEQ(test, &shown, &dcb->qcn, sizeof(shown));
	KUNIT_ASSERT_EQ(test, dcb_translate(dcb), 0);
	KUNIT_EXPECT_EQ(test, command->flags, TERN_CONGESTION_REACT | TERN_CONGESTION_NOTIFY);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(command->time_reset_us), 11);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(command->byte_reset), 12);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(command->threshold), 13);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(command->max_rate_mbps), 1400);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(command->ai_rate_mbps), 15);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(command->hai_rate_mbps), 16);
	KUNIT_EXPECT_EQ(test, command->gain_shift, 7);
	KUNIT_EXPECT_EQ(test, command->min_decrease_percent, 18);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(command->min_rate_mbps), 19);
	KUNIT_EXPECT_EQ(test, dcb->commands.congestion[2].flags, 0);
}

/* Each field out of its range, in the last priority, leaves all of them alone. */
static void dcb_qcn_refused(struct kunit *test)
{
	struct dcb_context *dcb = test->priv;
	struct ieee_qcn *qcn = &dcb->qcn;
	const struct {
		u32 *field;
		u32 value;
		int err;
	} bad[] = {
		{ &qcn->rppp_max_rps[7], 1, -EOPNOTSUPP },
		{ &qcn->cndd_state_machine[7], 1, -EOPNOTSUPP },
		{ &qcn->rpg_time_reset[7], 0, -ERANGE },
		{ &qcn->rpg_byte_reset[7], 0, -ERANGE },
		{ &qcn->rpg_threshold[7], 0, -ERANGE },
		{ &qcn->rpg_threshold[7], 32, -ERANGE },
		{ &qcn->rpg_ai_rate[7], 0, -ERANGE },
		{ &qcn->rpg_hai_rate[7], 0, -ERANGE },
		{ &qcn->rpg_gd[7], 0, -ERANGE },
		{ &qcn->rpg_gd[7], 16, -ERANGE },
		{ &qcn->rpg_gd[7], 257, -ERANGE },
		{ &qcn->rpg_min_dec_fac[7], 0, -ERANGE },
		{ &qcn->rpg_min_dec_fac[7], 101, -ERANGE },
		{ &qcn->rpg_min_dec_fac[7], 306, -ERANGE },
		{ &qcn->rpg_min_rate[7], 0, -ERANGE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		tern_congestion_get_qcn(&dcb->settings, qcn);
		qcn->rpg_enable[0] = 1;
		*bad[i].field = bad[i].value;
		dcb_expect_refused(test, tern_congestion_set_qcn(&dcb->settings, qcn, &dcb->why),
				   bad[i].err);
	}
	tern_congestion_get_qcn(&dcb->settings, qcn);
	qcn->rpg_enable[1] = 2;
	dcb_expect_refused(test, tern_congestion_set_qcn(&dcb->settings, qcn, &dcb->why), -ERANGE);
	tern_congestion_get_qcn(&dcb->settings, qcn);
	qcn->rpg_max_rate[1] = 10;
	qcn->rpg_min_rate[1] = 11;
	dcb_expect_refused(test, tern_congestion_set_qcn(&dcb->settings, qcn, &dcb->why), -ERANGE);
}

static struct kunit_case dcb_cases[] = {
	KUNIT_CASE(dcb_defaults_are_a_reset_device),
	KUNIT_CASE(dcb_ets),
	KUNIT_CASE(dcb_ets_refused),
	KUNIT_CASE(dcb_maxrate),
	KUNIT_CASE(dcb_pfc_makes_a_lossless_buffer),
	KUNIT_CASE(dcb_pfc_refused),
	KUNIT_CASE(dcb_buffer_limits),
	KUNIT_CASE(dcb_buffers_by_themselves),
	KUNIT_CASE(dcb_receive_bandwidths),
	KUNIT_CASE(dcb_apps),
	KUNIT_CASE(dcb_apps_refused),
	KUNIT_CASE(dcb_trust),
	KUNIT_CASE(dcb_rewrite),
	KUNIT_CASE(dcb_qcn),
	KUNIT_CASE(dcb_qcn_refused),
	{}
};

static struct kunit_suite dcb_suite = {
	.name = "tern_dcb",
	.init = dcb_init,
	.test_cases = dcb_cases,
};

kunit_test_suite(dcb_suite);
