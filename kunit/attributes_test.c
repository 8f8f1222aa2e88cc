// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: attributes of queue pairs. */
#include <kunit/test.h>

#include "attributes.c"
#include "fixture.h"

#define RC_INIT		(IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)
#define RC_RTR		(IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN | \
			 IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define RC_RTS		(IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC)
#define UD_INIT		(IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY)

static struct tern_ib_transition from_state(enum ib_qp_type type, enum ib_qp_state state)
{
	return (struct tern_ib_transition) {
		.type = type,
		.qpn = 0x123,
		.remote_qpn = 0x456,
		.current_state = state,
		.port_mtu = IB_MTU_1024,
	};
}

/* Values that are all right, every one. */
static struct ib_qp_attr good_attributes(enum ib_qp_state next)
{
	struct ib_qp_attr attr = {
		.qp_state = next,
		.path_mtu = IB_MTU_1024,
		.qkey = 0x11111111,
		.rq_psn = 0xabcdef,
		.sq_psn = 0x123456,
		.dest_qp_num = 0xfffffe,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
		.pkey_index = 0,
		.max_rd_atomic = 16,
		.max_dest_rd_atomic = 12,
		.min_rnr_timer = 31,
		.port_num = 1,
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 6,
		.en_sqd_async_notify = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE,
	};

	rdma_ah_set_grh(&attr.ah_attr, NULL, 0, 7, 64, 0);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	return attr;
}

struct transition_case {
	const char *name;
	enum ib_qp_type type;
	enum ib_qp_state from;
	enum ib_qp_state to;
	int mask;
};

static const struct transition_case transition_cases[] = {
	{ "RC RESET to INIT", IB_QPT_RC, IB_QPS_RESET, IB_QPS_INIT, RC_INIT },
	{ "RC INIT to RTR", IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR, RC_RTR },
	{ "RC RTR to RTS", IB_QPT_RC, IB_QPS_RTR, IB_QPS_RTS, RC_RTS },
	{ "RC RTS to SQD", IB_QPT_RC, IB_QPS_RTS, IB_QPS_SQD, IB_QP_STATE },
	{ "RC SQD to RTS", IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, IB_QP_STATE },
	{ "UD RESET to INIT", IB_QPT_UD, IB_QPS_RESET, IB_QPS_INIT, UD_INIT },
	{ "UD INIT to RTR", IB_QPT_UD, IB_QPS_INIT, IB_QPS_RTR, IB_QP_STATE },
	{ "UD RTR to RTS", IB_QPT_UD, IB_QPS_RTR, IB_QPS_RTS, IB_QP_STATE | IB_QP_SQ_PSN },
	{ "UD SQE to RTS", IB_QPT_UD, IB_QPS_SQE, IB_QPS_RTS, IB_QP_STATE },
	{ "GSI RESET to INIT", IB_QPT_GSI, IB_QPS_RESET, IB_QPS_INIT,
	  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_QKEY },
};

KUNIT_ARRAY_PARAM_DESC(transition, transition_cases, name);

static void attributes_transitions(struct kunit *test)
{
	const struct transition_case *c = test->param_value;
	struct tern_ib_transition from = from_state(c->type, c->from);
	struct ib_qp_attr attr = good_attributes(c->to);
	int bit;

	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, c->mask), 0);
	/* Without any one that is required it is refused. */
	for (bit = 0; bit < 21; bit++) {
		int without = c->mask & ~BIT(bit);

		if (without == c->mask || BIT(bit) == IB_QP_STATE)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, tern_ib_check_modify(&fixture_limits, &from, &attr,
							       without), -EINVAL,
				    "without %#lx", BIT(bit));
	}
}

/* Every state has a way to RESET and ERR, whatever the type. */
static void attributes_ways_out(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UD, IB_QPT_GSI };
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	int state, i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (state = IB_QPS_RESET; state <= IB_QPS_ERR; state++) {
			struct tern_ib_transition from = from_state(types[i], state);

			KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &reset,
								   IB_QP_STATE), 0);
			if (state == IB_QPS_RESET)
				continue;
			KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &error,
								   IB_QP_STATE), 0);
		}
	}
}

static void attributes_no_short_cuts(struct kunit *test)
{
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTS);
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_RESET);

	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_RTS), -EINVAL);
	from.current_state = IB_QPS_INIT;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_RTS), -EINVAL);
	from.current_state = IB_QPS_ERR;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_RTS), -EINVAL);
	attr.qp_state = 7;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, IB_QP_STATE),
			-EINVAL);
	attr.qp_state = U32_MAX;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, IB_QP_STATE),
			-EINVAL);
}

static void attributes_current_state(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_RTS);
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTS);

	attr.cur_qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr,
						   IB_QP_STATE | IB_QP_CUR_STATE), 0);
	attr.cur_qp_state = IB_QPS_SQD;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr,
						   IB_QP_STATE | IB_QP_CUR_STATE), -EINVAL);
}

static void attributes_refuse_what_is_not_there(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_INIT);
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTR);
	static const int masks[] = {
		IB_QP_ALT_PATH, IB_QP_PATH_MIG_STATE, IB_QP_CAP, IB_QP_RATE_LIMIT, BIT(30),
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(masks); i++)
		KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr,
							   RC_RTR | masks[i]), -EOPNOTSUPP);
}

/**
 * struct bound_case - an attribute and its limit
 * @name: of the attribute
 * @offset: of it in struct ib_qp_attr
 * @size: of it
 * @from: state before
 * @to: state after
 * @mask: what is given
 * @limit: the most that is allowed
 */
struct bound_case {
	const char *name;
	size_t offset;
	size_t size;
	enum ib_qp_state from;
	enum ib_qp_state to;
	int mask;
	u32 limit;
};

/* The port's active MTU is 1024. */
static const struct bound_case bound_cases[] = {
	{ "port_num", offsetof(struct ib_qp_attr, port_num),
	  sizeof_field(struct ib_qp_attr, port_num),
	  IB_QPS_RESET, IB_QPS_INIT, RC_INIT, 1 },
	{ "pkey_index", offsetof(struct ib_qp_attr, pkey_index),
	  sizeof_field(struct ib_qp_attr, pkey_index),
	  IB_QPS_RESET, IB_QPS_INIT, RC_INIT, 0 },
	{ "path_mtu", offsetof(struct ib_qp_attr, path_mtu),
	  sizeof_field(struct ib_qp_attr, path_mtu),
	  IB_QPS_INIT, IB_QPS_RTR, RC_RTR, IB_MTU_1024 },
	{ "dest_qp_num", offsetof(struct ib_qp_attr, dest_qp_num),
	  sizeof_field(struct ib_qp_attr, dest_qp_num),
	  IB_QPS_INIT, IB_QPS_RTR, RC_RTR, 0xffffff },
	{ "rq_psn", offsetof(struct ib_qp_attr, rq_psn),
	  sizeof_field(struct ib_qp_attr, rq_psn),
	  IB_QPS_INIT, IB_QPS_RTR, RC_RTR, 0xffffff },
	{ "max_dest_rd_atomic", offsetof(struct ib_qp_attr, max_dest_rd_atomic),
	  sizeof_field(struct ib_qp_attr, max_dest_rd_atomic),
	  IB_QPS_INIT, IB_QPS_RTR, RC_RTR, 12 },
	{ "min_rnr_timer", offsetof(struct ib_qp_attr, min_rnr_timer),
	  sizeof_field(struct ib_qp_attr, min_rnr_timer),
	  IB_QPS_INIT, IB_QPS_RTR, RC_RTR, 31 },
	{ "ah_attr.port_num", offsetof(struct ib_qp_attr, ah_attr.port_num),
	  sizeof_field(struct ib_qp_attr, ah_attr.port_num),
	  IB_QPS_INIT, IB_QPS_RTR, RC_RTR, 1 },
	{ "ah_attr.sl", offsetof(struct ib_qp_attr, ah_attr.sl),
	  sizeof_field(struct ib_qp_attr, ah_attr.sl),
	  IB_QPS_INIT, IB_QPS_RTR, RC_RTR, 7 },
	{ "timeout", offsetof(struct ib_qp_attr, timeout),
	  sizeof_field(struct ib_qp_attr, timeout),
	  IB_QPS_RTR, IB_QPS_RTS, RC_RTS, 31 },
	{ "retry_cnt", offsetof(struct ib_qp_attr, retry_cnt),
	  sizeof_field(struct ib_qp_attr, retry_cnt),
	  IB_QPS_RTR, IB_QPS_RTS, RC_RTS, 7 },
	{ "rnr_retry", offsetof(struct ib_qp_attr, rnr_retry),
	  sizeof_field(struct ib_qp_attr, rnr_retry),
	  IB_QPS_RTR, IB_QPS_RTS, RC_RTS, 7 },
	{ "sq_psn", offsetof(struct ib_qp_attr, sq_psn),
	  sizeof_field(struct ib_qp_attr, sq_psn),
	  IB_QPS_RTR, IB_QPS_RTS, RC_RTS, 0xffffff },
	{ "max_rd_atomic", offsetof(struct ib_qp_attr, max_rd_atomic),
	  sizeof_field(struct ib_qp_attr, max_rd_atomic),
	  IB_QPS_RTR, IB_QPS_RTS, RC_RTS, 16 },
};

KUNIT_ARRAY_PARAM_DESC(bound, bound_cases, name);

static int check_value(struct kunit *test, const struct bound_case *c, u32 value)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, c->from);
	struct ib_qp_attr attr = good_attributes(c->to);
	void *field = (void *)&attr + c->offset;

	switch (c->size) {
	case 1:
		*(u8 *)field = value;
		break;
	case 2:
		*(u16 *)field = value;
		break;
	case 4:
		*(u32 *)field = value;
		break;
	default:
		KUNIT_FAIL(test, "an attribute of %zu bytes", c->size);
	}
	return tern_ib_check_modify(&fixture_limits, &from, &attr, c->mask);
}

static void attributes_limits(struct kunit *test)
{
	const struct bound_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, check_value(test, c, c->limit), 0);
	KUNIT_EXPECT_EQ(test, check_value(test, c, c->limit + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_value(test, c, U32_MAX), -EINVAL);
}

/* Ports are counted from one. */
static void attributes_port_has_no_zero(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_RESET);
	struct ib_qp_attr attr = good_attributes(IB_QPS_INIT);

	attr.port_num = 0;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_INIT),
			-EINVAL);
	rdma_ah_set_port_num(&attr.ah_attr, 0);
	KUNIT_EXPECT_EQ(test, tern_ib_check_address(&fixture_limits, &attr.ah_attr), -EINVAL);
}

static void attributes_path_mtu_has_no_zero(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_INIT);
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTR);

	attr.path_mtu = 0;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_RTR), -EINVAL);
}

static void attributes_access(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_RESET);
	struct ib_qp_attr attr = good_attributes(IB_QPS_INIT);

	/* What ib_cm asks for, whether there are atomics or not. */
	attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			       IB_ACCESS_REMOTE_ATOMIC;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_INIT), 0);
	/* Memory windows are refused where they are made. */
	attr.qp_access_flags = IB_ACCESS_MW_BIND;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_INIT), 0);
	/* What regions have, to no use here. */
	attr.qp_access_flags = IB_ACCESS_ON_DEMAND;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_INIT), 0);
	attr.qp_access_flags = IB_ACCESS_HUGETLB;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_INIT),
			-EINVAL);
	attr.qp_access_flags = BIT(31);
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_INIT),
			-EINVAL);
}

static void attributes_address(struct kunit *test)
{
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTR);
	struct rdma_ah_attr *ah = &attr.ah_attr;

	KUNIT_EXPECT_EQ(test, tern_ib_check_address(&fixture_limits, ah), 0);
	ah->grh.sgid_index = 255;
	KUNIT_EXPECT_EQ(test, tern_ib_check_address(&fixture_limits, ah), 0);
	ah->ah_flags = 0;
	KUNIT_EXPECT_EQ(test, tern_ib_check_address(&fixture_limits, ah), -EINVAL);
	ah->ah_flags = IB_AH_GRH;
	ah->type = RDMA_AH_ATTR_TYPE_IB;
	KUNIT_EXPECT_EQ(test, tern_ib_check_address(&fixture_limits, ah), -EINVAL);
}

static void attributes_gid_index(struct kunit *test)
{
	struct tern_ib_limits limits = fixture_limits;
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTR);

	limits.gid_count = 8;
	KUNIT_EXPECT_EQ(test, tern_ib_check_address(&limits, &attr.ah_attr), 0);
	limits.gid_count = 7;
	KUNIT_EXPECT_EQ(test, tern_ib_check_address(&limits, &attr.ah_attr), -EINVAL);
}

static void encode_sets_only_what_is_given(struct kunit *test)
{
	static const struct {
		int mask;
		u32 set;
	} bits[] = {
		{ IB_QP_AV, TERN_QP_SET_ADDRESS },
		{ IB_QP_DEST_QPN, TERN_QP_SET_REMOTE_QPN },
		{ IB_QP_QKEY, TERN_QP_SET_QKEY },
		{ IB_QP_RQ_PSN, TERN_QP_SET_RQ_PSN },
		{ IB_QP_SQ_PSN, TERN_QP_SET_SQ_PSN },
		{ IB_QP_ACCESS_FLAGS, TERN_QP_SET_ACCESS },
		{ IB_QP_PATH_MTU, TERN_QP_SET_PATH_MTU },
		{ IB_QP_TIMEOUT, TERN_QP_SET_TIMEOUT },
		{ IB_QP_RETRY_CNT, TERN_QP_SET_RETRY_COUNT },
		{ IB_QP_RNR_RETRY, TERN_QP_SET_RNR_RETRY },
		{ IB_QP_MIN_RNR_TIMER, TERN_QP_SET_MIN_RNR_TIMER },
		{ IB_QP_MAX_QP_RD_ATOMIC, TERN_QP_SET_INITIATOR_DEPTH },
		{ IB_QP_MAX_DEST_RD_ATOMIC, TERN_QP_SET_RESPONDER_RESOURCES },
		{ IB_QP_EN_SQD_ASYNC_NOTIFY, TERN_QP_SET_SQD_NOTIFY },
		{ IB_QP_PKEY_INDEX, TERN_QP_SET_PKEY_INDEX },
		{ IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_PORT, 0 },
	};
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_RTS);
	struct ib_qp_attr attr = good_attributes(IB_QPS_SQD);
	struct tern_command_modify_qp body;
	int i;

	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		memset(&body, 0xff, sizeof(body));
		tern_ib_encode_modify(&from, &attr, bits[i].mask, &body);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(body.mask), bits[i].set);
		KUNIT_EXPECT_EQ(test, body.current_state, TERN_QP_RTS);
		KUNIT_EXPECT_EQ(test, body.next_state,
				bits[i].mask & IB_QP_STATE ? TERN_QP_SQD : TERN_QP_RTS);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(body.reserved0), 0);
		if (!bits[i].set)
			KUNIT_EXPECT_NULL(test, memchr_inv(&body.attributes, 0,
							   sizeof(body.attributes)));
	}
}

/* A device without FLUSH refuses rights to it: they are not passed on then. */
static void encode_flush_rights(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_RESET);
	struct ib_qp_attr attr = good_attributes(IB_QPS_INIT);
	struct tern_command_modify_qp body;

	attr.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_FLUSH_GLOBAL |
			       IB_ACCESS_FLUSH_PERSISTENT;
	KUNIT_EXPECT_EQ(test, tern_ib_check_modify(&fixture_limits, &from, &attr, RC_INIT), 0);
	tern_ib_encode_modify(&from, &attr, RC_INIT, &body);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(body.attributes.access), TERN_ACCESS_REMOTE_READ);
	from.flush = true;
	tern_ib_encode_modify(&from, &attr, RC_INIT, &body);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(body.attributes.access),
			TERN_ACCESS_REMOTE_READ | TERN_ACCESS_FLUSH_GLOBAL |
			TERN_ACCESS_FLUSH_PERSISTENT);
}

static void encode_values(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_INIT);
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTR);
	struct tern_command_modify_qp body;
	const struct tern_qp_attributes *out = &body.attributes;

	attr.qp_access_flags |= IB_ACCESS_LOCAL_WRITE;
	attr.en_sqd_async_notify = 2;
	attr.pkey_index = 0x102;
	tern_ib_encode_modify(&from, &attr, RC_RTR | RC_RTS | RC_INIT | IB_QP_QKEY |
			      IB_QP_EN_SQD_ASYNC_NOTIFY, &body);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out->remote_qpn), 0xfffffe);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out->qkey), 0x11111111);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out->rq_psn), 0xabcdef);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out->sq_psn), 0x123456);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(out->access),
			TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, out->path_mtu, 3);
	KUNIT_EXPECT_EQ(test, out->timeout, 31);
	KUNIT_EXPECT_EQ(test, out->retry_count, 7);
	KUNIT_EXPECT_EQ(test, out->rnr_retry, 6);
	KUNIT_EXPECT_EQ(test, out->min_rnr_timer, 31);
	KUNIT_EXPECT_EQ(test, out->initiator_depth, 16);
	KUNIT_EXPECT_EQ(test, out->responder_resources, 12);
	KUNIT_EXPECT_EQ(test, out->sqd_notify, 1);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(out->pkey_index), 0x102);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(out->address.source_gid_index), 7);
	KUNIT_EXPECT_EQ(test, out->address.hop_limit, 64);
}

static u16 source_port(const struct tern_ib_transition *from, const struct ib_qp_attr *attr,
		       int mask)
{
	struct tern_command_modify_qp body;

	tern_ib_encode_modify(from, attr, mask, &body);
	return le16_to_cpu(body.attributes.address.udp_source_port);
}

static void encode_source_port(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_INIT);
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTR);
	u16 port = source_port(&from, &attr, RC_RTR);
	int same = 0;
	u32 qpn;

	/* Constant, and in the dynamic range, for each queue pair; not one for all. */
	KUNIT_EXPECT_EQ(test, port, source_port(&from, &attr, RC_RTR));
	for (qpn = 2; qpn < 1000; qpn++) {
		from.qpn = qpn;
		same += source_port(&from, &attr, RC_RTR) == port;
		KUNIT_EXPECT_GE(test, source_port(&from, &attr, RC_RTR), 0xc000);
	}
	KUNIT_EXPECT_LT(test, same, 10);

	/* A flow label decides where there is one. */
	attr.ah_attr.grh.flow_label = 0x12345;
	port = source_port(&from, &attr, RC_RTR);
	KUNIT_EXPECT_EQ(test, port, rdma_flow_label_to_udp_sport(0x12345));
	from.qpn = 3;
	KUNIT_EXPECT_EQ(test, port, source_port(&from, &attr, RC_RTR));
}

/* A new path for a connected queue pair names no peer: the one it has counts. */
static void encode_source_port_of_known_peer(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_SQD);
	struct ib_qp_attr attr = good_attributes(IB_QPS_SQD);
	u16 port = source_port(&from, &attr, IB_QP_AV);

	attr.dest_qp_num = 1;
	KUNIT_EXPECT_EQ(test, port, source_port(&from, &attr, IB_QP_AV));
	KUNIT_EXPECT_EQ(test, port, rdma_get_udp_sport(0, 0x123, 0x456));
}

static void decode_gives_back(struct kunit *test)
{
	struct tern_ib_transition from = from_state(IB_QPT_RC, IB_QPS_RTR);
	struct ib_qp_attr attr = good_attributes(IB_QPS_RTS);
	struct tern_command_modify_qp body;
	struct tern_qp_status status = { .state = TERN_QP_RTS, .sq_draining = 1 };
	struct ib_qp_attr back = {};

	attr.pkey_index = 3;
	tern_ib_encode_modify(&from, &attr, RC_RTR | RC_RTS | RC_INIT | IB_QP_QKEY |
			      IB_QP_EN_SQD_ASYNC_NOTIFY, &body);
	status.attributes = body.attributes;
	KUNIT_ASSERT_EQ(test, tern_ib_decode_attributes(IB_QPT_RC, &status, &back), 0);
	KUNIT_EXPECT_EQ(test, back.qp_state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, back.cur_qp_state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, back.sq_draining, 1);
	KUNIT_EXPECT_EQ(test, back.path_mtu, attr.path_mtu);
	KUNIT_EXPECT_EQ(test, back.qkey, attr.qkey);
	KUNIT_EXPECT_EQ(test, back.rq_psn, attr.rq_psn);
	KUNIT_EXPECT_EQ(test, back.sq_psn, attr.sq_psn);
	KUNIT_EXPECT_EQ(test, back.dest_qp_num, attr.dest_qp_num);
	KUNIT_EXPECT_EQ(test, back.max_rd_atomic, attr.max_rd_atomic);
	KUNIT_EXPECT_EQ(test, back.max_dest_rd_atomic, attr.max_dest_rd_atomic);
	KUNIT_EXPECT_EQ(test, back.min_rnr_timer, attr.min_rnr_timer);
	KUNIT_EXPECT_EQ(test, back.timeout, attr.timeout);
	KUNIT_EXPECT_EQ(test, back.retry_cnt, attr.retry_cnt);
	KUNIT_EXPECT_EQ(test, back.rnr_retry, attr.rnr_retry);
	KUNIT_EXPECT_EQ(test, back.pkey_index, 3);
	KUNIT_EXPECT_EQ(test, back.en_sqd_async_notify, 1);
	KUNIT_EXPECT_EQ(test, back.path_mig_state, IB_MIG_MIGRATED);
	KUNIT_EXPECT_EQ(test, back.port_num, 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(&back.ah_attr), 1);
	KUNIT_EXPECT_EQ(test, back.ah_attr.grh.sgid_index, 7);
}

/* Who is not connected has no address of its own. */
static void decode_of_a_datagram_queue_pair(struct kunit *test)
{
	struct tern_qp_status status = { .state = TERN_QP_RTS };
	struct ib_qp_attr attr = {};

	status.attributes.address.hop_limit = 64;
	KUNIT_ASSERT_EQ(test, tern_ib_decode_attributes(IB_QPT_UD, &status, &attr), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(&attr.ah_attr, 0, sizeof(attr.ah_attr)));
	/* The verbs have no path MTU of zero. */
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_256);
}

static void decode_of_a_liar(struct kunit *test)
{
	struct tern_qp_status status;
	struct ib_qp_attr attr = {};

	memset(&status, 0xff, sizeof(status));
	KUNIT_EXPECT_EQ(test, tern_ib_decode_attributes(IB_QPT_RC, &status, &attr), -EPROTO);
	status.state = TERN_QP_RTS;
	KUNIT_ASSERT_EQ(test, tern_ib_decode_attributes(IB_QPT_RC, &status, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0xffffff);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, 0xffffff);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, 0xffffff);
	KUNIT_EXPECT_EQ(test, attr.ah_attr.grh.flow_label, 0xfffff);
}

static struct kunit_case attributes_cases[] = {
	KUNIT_CASE_PARAM(attributes_transitions, transition_gen_params),
	KUNIT_CASE(attributes_ways_out),
	KUNIT_CASE(attributes_no_short_cuts),
	KUNIT_CASE(attributes_current_state),
	KUNIT_CASE(attributes_refuse_what_is_not_there),
	KUNIT_CASE_PARAM(attributes_limits, bound_gen_params),
	KUNIT_CASE(attributes_port_has_no_zero),
	KUNIT_CASE(attributes_path_mtu_has_no_zero),
	KUNIT_CASE(attributes_access),
	KUNIT_CASE(attributes_address),
	KUNIT_CASE(attributes_gid_index),
	KUNIT_CASE(encode_sets_only_what_is_given),
	KUNIT_CASE(encode_flush_rights),
	KUNIT_CASE(encode_values),
	KUNIT_CASE(encode_source_port),
	KUNIT_CASE(encode_source_port_of_known_peer),
	KUNIT_CASE(decode_gives_back),
	KUNIT_CASE(decode_of_a_datagram_queue_pair),
	KUNIT_CASE(decode_of_a_liar),
	{}
};

static struct kunit_suite attributes_suite = {
	.name = "tern_attributes",
	.test_cases = attributes_cases,
};

kunit_test_suite(attributes_suite);
