/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern KUnit suites: the device that they imagine. */
#ifndef TERN_KUNIT_FIXTURE_H
#define TERN_KUNIT_FIXTURE_H

#include "limits.h"

static const struct tern_ib_limits fixture_limits = {
	.max_cqe = 1U << 17,
	.max_qp_wr = 8192,
	.max_send_sge = 28,
	.max_recv_sge = 28,
	.max_srq_wr = 1U << 15,
	.max_srq_sge = 31,
	.max_inline = 480,
	.max_inline_ud = 448,
	.max_initiator_depth = 16,
	.max_responder_resources = 12,
	.max_message = 1U << 31,
	.page_sizes = 0xfffff000,
	.gid_count = 256,
	.pkey_count = 1,
	.sq_shift_max = 16,
	.rq_shift_max = 15,
	.cq_shift_max = 17,
};

#endif /* TERN_KUNIT_FIXTURE_H */
