/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tern hardware contract: congestion control of RoCE v2: DCQCN (Zhu et al.,
 * "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015), whose
 * rate computer is that of 802.1Qau.
 */
#ifndef TERN_HW_CONGESTION_H
#define TERN_HW_CONGESTION_H

#include "tern_hw_types.h"

/* SET_CONGESTION_CONTROL; number: the priority. TERN_FEATURE_ECN; the PF's. */
struct tern_command_set_congestion_control {
	__u8 flags;			/* TERN_CONGESTION_* */
	__u8 cnp_priority;		/* of CNPs of queue pairs of this priority */
	__u8 cnp_dscp;
	__u8 reserved0;
	__le32 cnp_interval_us;		/* of one queue pair, at least; 0: each mark brings one */
	/* The reaction point. Rates of 0 that mean the port's speed follow it. */
	__le32 max_rate_mbps;		/* never above this; 0: the port's speed */
	__le32 min_rate_mbps;		/* never below this; > 0 */
	__le32 first_rate_mbps;		/* after a queue pair's first CNP; 0: as after others */
	__le32 time_reset_us;		/* period of the timer that raises the rate; > 0 */
	__le32 byte_reset;		/* bytes sent for which the byte counter raises it; > 0 */
	__le32 threshold;		/* F: so many steps of fast recovery; 1..31 */
	__le32 ai_rate_mbps;		/* additive increase of the target rate */
	__le32 hai_rate_mbps;		/* hyper additive increase */
	__le32 alpha_timer_us;		/* without a CNP for so long, alpha decays; > 0 */
	__le32 reduce_period_us;	/* the rate is cut at most once in this */
	__le16 initial_alpha;		/* in 1/1024: 0..1024 */
	__u8 gain_shift;		/* g = 1 / 2^gain_shift; 1..15 */
	__u8 min_decrease_percent;	/* one cut leaves at least this of the rate; 1..100 */
	__le32 reserved1;
};

static_assert(sizeof(struct tern_command_set_congestion_control) == 56,
	      "set congestion control command");

#define TERN_CONGESTION_REACT		TERN_MASK(0, 0)	/* packets are sent ECT(0), CNPs obeyed */
#define TERN_CONGESTION_NOTIFY		TERN_MASK(1, 1)	/* CE marked packets bring CNPs */
#define TERN_CONGESTION_CLAMP_TARGET	TERN_MASK(2, 2)	/* each cut sets the target rate too */

/* At the end of struct tern_qp_status: what congestion control does to a queue pair. */
struct tern_qp_congestion {
	__le32 rate_mbps;		/* 0: not limited; the others are 0 then too */
	__le32 target_rate_mbps;
	__le32 alpha;			/* in 1/65536 */
	__le32 reserved0;
};

static_assert(sizeof(struct tern_qp_congestion) == 16, "QP congestion");

#endif /* TERN_HW_CONGESTION_H */
