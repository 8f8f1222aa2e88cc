// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: completions of kernel consumers. Pure logic. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "cqe.h"
#include "tern_hw_ethernet.h"
#include "tern_hw_wqe.h"

static enum ib_wc_status tern_ib_wc_status(u8 status)
{
	switch (status) {
	case TERN_WC_SUCCESS:
		return IB_WC_SUCCESS;
	case TERN_WC_LOCAL_LENGTH:
		return IB_WC_LOC_LEN_ERR;
	case TERN_WC_LOCAL_QP_OPERATION:
		return IB_WC_LOC_QP_OP_ERR;
	case TERN_WC_LOCAL_PROTECTION:
		return IB_WC_LOC_PROT_ERR;
	case TERN_WC_FLUSHED:
		return IB_WC_WR_FLUSH_ERR;
	case TERN_WC_WINDOW_BIND:
		return IB_WC_MW_BIND_ERR;
	case TERN_WC_BAD_RESPONSE:
		return IB_WC_BAD_RESP_ERR;
	case TERN_WC_LOCAL_ACCESS:
		return IB_WC_LOC_ACCESS_ERR;
	case TERN_WC_REMOTE_INVALID_REQUEST:
		return IB_WC_REM_INV_REQ_ERR;
	case TERN_WC_REMOTE_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	case TERN_WC_REMOTE_OPERATION:
		return IB_WC_REM_OP_ERR;
	case TERN_WC_RETRY_EXCEEDED:
		return IB_WC_RETRY_EXC_ERR;
	case TERN_WC_RNR_RETRY_EXCEEDED:
		return IB_WC_RNR_RETRY_EXC_ERR;
	case TERN_WC_REMOTE_ABORTED:
		return IB_WC_REM_ABORT_ERR;
	default:
		return IB_WC_GENERAL_ERR;
	}
}

/* By what the consumer asked for, not by what the device says it was. */
static enum ib_wc_opcode tern_ib_send_wc_opcode(u8 opcode)
{
	switch (opcode) {
	case TERN_WQE_WRITE:
	case TERN_WQE_WRITE_IMMEDIATE:
		return IB_WC_RDMA_WRITE;
	case TERN_WQE_READ:
		return IB_WC_RDMA_READ;
	case TERN_WQE_LOCAL_INVALIDATE:
		return IB_WC_LOCAL_INV;
	case TERN_WQE_REGISTER:
		return IB_WC_REG_MR;
	case TERN_WQE_CAS:
		return IB_WC_COMP_SWAP;
	case TERN_WQE_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	default:
		return IB_WC_SEND;
	}
}

static u8 tern_ib_network_type(const struct tern_cqe *cqe)
{
	if (cqe->network_type == TERN_GID_TYPE_ROCE_V1)
		return RDMA_NETWORK_ROCE_V1;
	return cqe->flags & TERN_CQE_FLAG_IPV4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
}

static void tern_ib_decode_datagram(const struct tern_cqe *cqe, struct ib_wc *wc)
{
	wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_SMAC | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->src_qp = le32_to_cpu(cqe->source_qpn) & TERN_NUMBER_MASK;
	wc->pkey_index = le16_to_cpu(cqe->pkey_index);
	wc->network_hdr_type = tern_ib_network_type(cqe);
	ether_addr_copy(wc->smac, cqe->source_mac);
	if (cqe->flags & TERN_CQE_FLAG_VLAN) {
		u16 tci = le16_to_cpu(cqe->vlan_tci);

		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = tci & VLAN_VID_MASK;
		wc->sl = tci >> VLAN_PRIO_SHIFT;
	}
}

static void tern_ib_decode_receive(const struct tern_cqe *cqe, struct ib_wc *wc)
{
	wc->byte_len = le32_to_cpu(cqe->byte_count);
	switch (cqe->opcode) {
	case TERN_CQE_RECEIVE_WRITE_IMMEDIATE:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		wc->wc_flags |= IB_WC_WITH_IMM;
		memcpy(&wc->ex.imm_data, cqe->immediate, sizeof(wc->ex.imm_data));
		break;
	case TERN_CQE_RECEIVE_IMMEDIATE:
		wc->wc_flags |= IB_WC_WITH_IMM;
		memcpy(&wc->ex.imm_data, cqe->immediate, sizeof(wc->ex.imm_data));
		break;
	case TERN_CQE_RECEIVE_INVALIDATE:
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = get_unaligned_le32(cqe->immediate);
		break;
	default:
		break;
	}
	if (cqe->flags & TERN_CQE_FLAG_GRH)
		tern_ib_decode_datagram(cqe, wc);
}

/**
 * tern_ib_decode_cqe() - translate a completion
 * @cqe: the device's entry
 * @posted: the work request that it completes
 * @wc: set, but for qp
 */
void tern_ib_decode_cqe(const struct tern_cqe *cqe, const struct tern_ib_posted *posted,
			struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = posted->wr_id;
	wc->status = tern_ib_wc_status(cqe->status);
	wc->vendor_err = cqe->syndrome;
	wc->port_num = 1;
	if (tern_ib_cqe_of_receiver(cqe)) {
		wc->opcode = IB_WC_RECV;
		if (wc->status == IB_WC_SUCCESS)
			tern_ib_decode_receive(cqe, wc);
	} else {
		wc->opcode = tern_ib_send_wc_opcode(posted->opcode);
		if (wc->opcode == IB_WC_RDMA_READ || wc->opcode == IB_WC_COMP_SWAP ||
		    wc->opcode == IB_WC_FETCH_ADD)
			wc->byte_len = le32_to_cpu(cqe->byte_count);
	}
}

/**
 * tern_ib_flushed_wc() - the completion of a work request that a dead device has left
 * @posted: the work request
 * @wc: set, but for qp
 */
void tern_ib_flushed_wc(const struct tern_ib_posted *posted, struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = posted->wr_id;
	wc->status = IB_WC_WR_FLUSH_ERR;
	wc->port_num = 1;
}
