/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Completions of the hardware to completions of verbs. Pure: what a function
 * here touches, it was given.
 */
#ifndef TERN_CQE_H
#define TERN_CQE_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <tern_hw_cqe.h>
#include <tern_hw_ethernet.h>
#include <tern_hw_wqe.h>

/* The hardware counts statuses as verbs do. */
static_assert((int)TERN_WC_LOCAL_LENGTH == IBV_WC_LOC_LEN_ERR &&
	      (int)TERN_WC_LOCAL_QP_OPERATION == IBV_WC_LOC_QP_OP_ERR &&
	      (int)TERN_WC_LOCAL_PROTECTION == IBV_WC_LOC_PROT_ERR &&
	      (int)TERN_WC_FLUSHED == IBV_WC_WR_FLUSH_ERR &&
	      (int)TERN_WC_WINDOW_BIND == IBV_WC_MW_BIND_ERR &&
	      (int)TERN_WC_BAD_RESPONSE == IBV_WC_BAD_RESP_ERR &&
	      (int)TERN_WC_LOCAL_ACCESS == IBV_WC_LOC_ACCESS_ERR &&
	      (int)TERN_WC_REMOTE_INVALID_REQUEST == IBV_WC_REM_INV_REQ_ERR &&
	      (int)TERN_WC_REMOTE_ACCESS == IBV_WC_REM_ACCESS_ERR &&
	      (int)TERN_WC_REMOTE_OPERATION == IBV_WC_REM_OP_ERR &&
	      (int)TERN_WC_RETRY_EXCEEDED == IBV_WC_RETRY_EXC_ERR &&
	      (int)TERN_WC_RNR_RETRY_EXCEEDED == IBV_WC_RNR_RETRY_EXC_ERR &&
	      (int)TERN_WC_REMOTE_ABORTED == IBV_WC_REM_ABORT_ERR &&
	      (int)TERN_WC_GENERAL == IBV_WC_GENERAL_ERR, "completion statuses");

/* enum ibv_wc_opcode of a requester's completion, by its operation's low bits. */
extern const uint8_t tern_wc_opcodes[16];

static inline bool tern_cqe_is_receive(const struct tern_cqe *cqe)
{
	return cqe->opcode & TERN_CQE_RECEIVER;
}

/*
 * The entry @index of a ring of @size entries is there when its phase is that
 * of the pass: 1 in the first, so the opposite of the index's next bit.
 */
static inline bool tern_phase_matches(uint32_t phase, uint32_t index, uint32_t size)
{
	return (phase & TERN_CQE_PHASE) != ((index & size) != 0);
}

/*
 * The service level of what was received: a tag's priority. A datagram without
 * a tag has none, and the place says what no other field of struct ibv_wc can
 * (IBTA A17.4.5.1 wants it in the completion): whether it came by IPv4 or
 * IPv6. The numbers are ConnectX's, which UCX reads to find the GID
 * in the GRH area. RoCE has eight priorities, so that these two, given to
 * ibv_create_ah(), mean none.
 */
#define TERN_SL_IPV6	9
#define TERN_SL_IPV4	10

static inline uint8_t tern_cqe_service_level(const struct tern_cqe *cqe)
{
	if ((cqe->flags & (TERN_CQE_FLAG_GRH | TERN_CQE_FLAG_VLAN)) != TERN_CQE_FLAG_GRH ||
	    cqe->network_type != TERN_GID_TYPE_ROCE_V2)
		return le16toh(cqe->vlan_tci) >> 13;
	return cqe->flags & TERN_CQE_FLAG_IPV4 ? TERN_SL_IPV4 : TERN_SL_IPV6;
}

/* All of @wc but wr_id. */
static inline void tern_cqe_to_wc(const struct tern_cqe *cqe, struct ibv_wc *wc)
{
	wc->status = cqe->status <= TERN_WC_GENERAL ? cqe->status : IBV_WC_GENERAL_ERR;
	wc->vendor_err = cqe->syndrome;
	wc->byte_len = le32toh(cqe->byte_count);
	wc->qp_num = le32toh(cqe->queue);
	wc->slid = 0;
	wc->dlid_path_bits = 0;

	if (!tern_cqe_is_receive(cqe)) {
		wc->opcode = tern_wc_opcodes[cqe->opcode & 15];
		wc->imm_data = 0;
		wc->src_qp = 0;
		wc->wc_flags = 0;
		wc->pkey_index = 0;
		wc->sl = 0;
		return;
	}

	memcpy(&wc->imm_data, cqe->immediate, sizeof(wc->imm_data));
	wc->src_qp = le32toh(cqe->source_qpn);
	wc->pkey_index = le16toh(cqe->pkey_index);
	wc->sl = tern_cqe_service_level(cqe);
	wc->opcode = IBV_WC_RECV;
	wc->wc_flags = cqe->flags & TERN_CQE_FLAG_GRH ? IBV_WC_GRH : 0;
	if (cqe->opcode == TERN_CQE_RECEIVE || cqe->opcode == TERN_CQE_RECEIVE_ETHERNET)
		return;
	if (cqe->opcode == TERN_CQE_RECEIVE_INVALIDATE) {
		wc->invalidated_rkey = le32toh(wc->imm_data);
		wc->wc_flags |= IBV_WC_WITH_INV;
		return;
	}
	wc->wc_flags |= IBV_WC_WITH_IMM;
	if (cqe->opcode == TERN_CQE_RECEIVE_WRITE_IMMEDIATE)
		wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
}

#endif /* TERN_CQE_H */
