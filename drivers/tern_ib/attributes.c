// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: attributes of queue pairs, checked and translated. Pure logic. */
#include "attributes.h"
#include "convert.h"

#define TERN_IB_ATTRIBUTES_REFUSED						\
	(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_CAP | IB_QP_RATE_LIMIT)

/*
 * Rights to operations that a device may lack: then nobody can use them.
 * Programs give a queue pair what they gave its regions, ON_DEMAND too.
 */
#define TERN_IB_ACCESS_KNOWN							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL | \
	 IB_ACCESS_FLUSH_PERSISTENT | IB_ACCESS_ON_DEMAND)

/* An address that a queue pair or address handle is to send to. */
int tern_ib_check_address(const struct tern_ib_limits *limits, const struct rdma_ah_attr *attr)
{
	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) ||
	    rdma_ah_get_port_num(attr) != 1)
		return -EINVAL;
	if (rdma_ah_read_grh(attr)->sgid_index >= limits->gid_count || rdma_ah_get_sl(attr) > 7)
		return -EINVAL;
	return 0;
}

/* Values alone; which attributes a transition takes is checked before. */
static int tern_ib_check_values(const struct tern_ib_limits *limits,
				const struct tern_ib_transition *from,
				const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= limits->pkey_count)
		return -EINVAL;
	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & ~TERN_IB_ACCESS_KNOWN)
		return -EINVAL;
	if (mask & IB_QP_AV && tern_ib_check_address(limits, &attr->ah_attr))
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > from->port_mtu))
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num & ~TERN_NUMBER_MASK)
		return -EINVAL;
	if (mask & IB_QP_RQ_PSN && attr->rq_psn & ~TERN_NUMBER_MASK)
		return -EINVAL;
	if (mask & IB_QP_SQ_PSN && attr->sq_psn & ~TERN_NUMBER_MASK)
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > limits->max_initiator_depth)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > limits->max_responder_resources)
		return -EINVAL;
	return 0;
}

/**
 * tern_ib_check_modify() - may a queue pair be modified so?
 * @limits: the device's
 * @from: what the modification starts from
 * @attr: attributes
 * @mask: which of them are given
 *
 * Return: 0, -EOPNOTSUPP for what the device does not have, or -EINVAL
 */
int tern_ib_check_modify(const struct tern_ib_limits *limits,
			 const struct tern_ib_transition *from, const struct ib_qp_attr *attr,
			 int mask)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : from->current_state;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & TERN_IB_ATTRIBUTES_REFUSED)
		return -EOPNOTSUPP;
	if (next > IB_QPS_ERR)
		return -EINVAL;
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != from->current_state)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(from->current_state, next, from->type, mask))
		return -EINVAL;
	return tern_ib_check_values(limits, from, attr, mask);
}

static void tern_ib_encode_address(const struct tern_ib_transition *from,
				   const struct ib_qp_attr *attr, int mask,
				   struct tern_qp_attributes *out)
{
	u32 remote_qpn = mask & IB_QP_DEST_QPN ? attr->dest_qp_num : from->remote_qpn;
	u32 flow_label = rdma_ah_read_grh(&attr->ah_attr)->flow_label;

	tern_ib_address_to(&attr->ah_attr, rdma_get_udp_sport(flow_label, from->qpn, remote_qpn),
			   &out->address);
}

/**
 * tern_ib_encode_modify() - translate a checked modification into the command
 * @from: what it starts from
 * @attr: attributes
 * @mask: which of them are given
 * @body: set
 */
void tern_ib_encode_modify(const struct tern_ib_transition *from, const struct ib_qp_attr *attr,
			   int mask, struct tern_command_modify_qp *body)
{
	struct tern_qp_attributes *out = &body->attributes;
	u32 set = 0;

	memset(body, 0, sizeof(*body));
	body->current_state = from->current_state;
	body->next_state = mask & IB_QP_STATE ? attr->qp_state : from->current_state;

	if (mask & IB_QP_AV) {
		set |= TERN_QP_SET_ADDRESS;
		tern_ib_encode_address(from, attr, mask, out);
	}
	if (mask & IB_QP_DEST_QPN) {
		set |= TERN_QP_SET_REMOTE_QPN;
		out->remote_qpn = cpu_to_le32(attr->dest_qp_num);
	}
	if (mask & IB_QP_QKEY) {
		set |= TERN_QP_SET_QKEY;
		out->qkey = cpu_to_le32(attr->qkey);
	}
	if (mask & IB_QP_RQ_PSN) {
		set |= TERN_QP_SET_RQ_PSN;
		out->rq_psn = cpu_to_le32(attr->rq_psn);
	}
	if (mask & IB_QP_SQ_PSN) {
		set |= TERN_QP_SET_SQ_PSN;
		out->sq_psn = cpu_to_le32(attr->sq_psn);
	}
	if (mask & IB_QP_ACCESS_FLAGS) {
		u32 access = tern_ib_access_to(attr->qp_access_flags);

		set |= TERN_QP_SET_ACCESS;
		if (from->flush)
			access |= tern_ib_flush_access_to(attr->qp_access_flags);
		/* A queue pair's own rights are what its peer may ask for. */
		out->access = cpu_to_le32(access & ~TERN_ACCESS_LOCAL_WRITE);
	}
	if (mask & IB_QP_PATH_MTU) {
		set |= TERN_QP_SET_PATH_MTU;
		out->path_mtu = attr->path_mtu;
	}
	if (mask & IB_QP_TIMEOUT) {
		set |= TERN_QP_SET_TIMEOUT;
		out->timeout = attr->timeout;
	}
	if (mask & IB_QP_RETRY_CNT) {
		set |= TERN_QP_SET_RETRY_COUNT;
		out->retry_count = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		set |= TERN_QP_SET_RNR_RETRY;
		out->rnr_retry = attr->rnr_retry;
	}
	if (mask & IB_QP_MIN_RNR_TIMER) {
		set |= TERN_QP_SET_MIN_RNR_TIMER;
		out->min_rnr_timer = attr->min_rnr_timer;
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC) {
		set |= TERN_QP_SET_INITIATOR_DEPTH;
		out->initiator_depth = attr->max_rd_atomic;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		set |= TERN_QP_SET_RESPONDER_RESOURCES;
		out->responder_resources = attr->max_dest_rd_atomic;
	}
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY) {
		set |= TERN_QP_SET_SQD_NOTIFY;
		out->sqd_notify = !!attr->en_sqd_async_notify;
	}
	if (mask & IB_QP_PKEY_INDEX) {
		set |= TERN_QP_SET_PKEY_INDEX;
		out->pkey_index = cpu_to_le16(attr->pkey_index);
	}
	body->mask = cpu_to_le32(set);
}

/**
 * tern_ib_decode_attributes() - what the device says of a queue pair
 * @type: of the queue pair
 * @status: QUERY_QP's answer
 * @attr: set, but for what only the driver knows (rights, capabilities)
 *
 * Return: 0, or -EPROTO when the answer makes no sense
 */
int tern_ib_decode_attributes(enum ib_qp_type type, const struct tern_qp_status *status,
			      struct ib_qp_attr *attr)
{
	const struct tern_qp_attributes *in = &status->attributes;

	if (!tern_ib_qp_state_from(status->state, &attr->qp_state))
		return -EPROTO;
	attr->cur_qp_state = attr->qp_state;
	attr->path_mtu = clamp_t(u8, in->path_mtu, IB_MTU_256, IB_MTU_4096);
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = le32_to_cpu(in->qkey);
	attr->rq_psn = le32_to_cpu(in->rq_psn) & TERN_NUMBER_MASK;
	attr->sq_psn = le32_to_cpu(in->sq_psn) & TERN_NUMBER_MASK;
	attr->dest_qp_num = le32_to_cpu(in->remote_qpn) & TERN_NUMBER_MASK;
	attr->pkey_index = le16_to_cpu(in->pkey_index);
	attr->en_sqd_async_notify = in->sqd_notify;
	attr->sq_draining = status->sq_draining;
	attr->max_rd_atomic = in->initiator_depth;
	attr->max_dest_rd_atomic = in->responder_resources;
	attr->min_rnr_timer = in->min_rnr_timer;
	attr->port_num = 1;
	attr->timeout = in->timeout;
	attr->retry_cnt = in->retry_count;
	attr->rnr_retry = in->rnr_retry;
	if (tern_ib_connected(type)) {
		tern_ib_address_from(&in->address, &attr->ah_attr);
		rdma_ah_set_port_num(&attr->ah_attr, 1);
	}
	return 0;
}
