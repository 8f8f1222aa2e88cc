/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: work requests of kernel consumers in the device's format. */
#ifndef TERN_IB_WQE_H
#define TERN_IB_WQE_H

#include <rdma/ib_verbs.h>
#include "tern_hw_wqe.h"

/**
 * struct tern_ib_wqe - a work request as the device reads it, before it is copied to the queue
 * @control: its beginning
 * @segments: what follows
 */
struct tern_ib_wqe {
	struct tern_wqe_control control;
	u8 segments[TERN_WQE_BYTES_MAX - sizeof(struct tern_wqe_control)] __aligned(16);
};

static_assert(sizeof(struct tern_ib_wqe) == TERN_WQE_BYTES_MAX);

int tern_ib_encode_send(enum ib_qp_type type, const struct ib_qp_cap *cap, bool signal_all,
			const struct ib_send_wr *wr, const struct tern_address_vector *address,
			struct tern_ib_wqe *wqe);
int tern_ib_encode_register(bool signal_all, const struct ib_send_wr *wr,
			    const struct tern_wqe_register *segment, struct tern_ib_wqe *wqe);
int tern_ib_encode_local_invalidate(bool signal_all, const struct ib_send_wr *wr,
				    struct tern_ib_wqe *wqe);
int tern_ib_encode_receive(u32 max_sge, const struct ib_recv_wr *wr, u32 tag, void *entry);

#endif /* TERN_IB_WQE_H */
