// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Extended completion queues: polled entry by entry, read field by field. */
#include <errno.h>

#include "cqe.h"
#include "tern.h"

static struct tern_cq *from_ex(struct ibv_cq_ex *cq_ex)
{
	return container_of(cq_ex, struct tern_cq, base.cq_ex);
}

/* Returns 0, ENOENT when the queue is empty, EIO for an entry of no queue pair. */
static int tern_cq_ex_next(struct tern_cq *cq)
{
	struct tern_cqe *cqe = (struct tern_cqe *)cq->ring + (cq->consumer & (cq->size - 1));

	if (!tern_phase_matches(tern_record_load(&cqe->phase), cq->consumer, cq->size))
		return ENOENT;
	/* Pairs with the device's release of phase: the rest of the entry is there. */
	udma_from_device_barrier();
	cq->consumer++;
	if (unlikely(!tern_complete_one(cq, cqe, &cq->base.cq_ex.wr_id)))
		return EIO;
	tern_cqe_to_wc(cqe, &cq->wc);
	cq->base.cq_ex.status = cq->wc.status;
	cq->current = cqe;
	return 0;
}

static void tern_cq_ex_publish(struct tern_cq *cq)
{
	tern_record_store(&cq->record->index, cq->consumer);
}

static int tern_start_poll(struct ibv_cq_ex *cq_ex, struct ibv_poll_cq_attr *attr)
{
	struct tern_cq *cq = from_ex(cq_ex);
	int ret;

	if (attr->comp_mask)
		return EINVAL;
	tern_lock(&cq->lock);
	ret = tern_cq_ex_next(cq);
	if (ret) {
		/* There will be no end_poll. */
		tern_cq_ex_publish(cq);
		tern_unlock(&cq->lock);
	}
	return ret;
}

static int tern_next_poll(struct ibv_cq_ex *cq_ex)
{
	struct tern_cq *cq = from_ex(cq_ex);

	/* What was read is the device's again: who goes on for long starves it not. */
	tern_cq_ex_publish(cq);
	return tern_cq_ex_next(cq);
}

static void tern_end_poll(struct ibv_cq_ex *cq_ex)
{
	struct tern_cq *cq = from_ex(cq_ex);

	tern_cq_ex_publish(cq);
	tern_unlock(&cq->lock);
}

static enum ibv_wc_opcode tern_read_opcode(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.opcode;
}

static uint32_t tern_read_vendor_err(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.vendor_err;
}

static uint32_t tern_read_byte_len(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.byte_len;
}

/* Or the key that was invalidated: they share their place in struct ibv_wc. */
static __be32 tern_read_imm_data(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.imm_data;
}

static uint32_t tern_read_qp_num(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.qp_num;
}

static uint32_t tern_read_src_qp(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.src_qp;
}

static unsigned int tern_read_wc_flags(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.wc_flags;
}

static uint32_t tern_read_slid(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.slid;
}

static uint8_t tern_read_sl(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.sl;
}

static uint8_t tern_read_dlid_path_bits(struct ibv_cq_ex *cq_ex)
{
	return from_ex(cq_ex)->wc.dlid_path_bits;
}

static uint64_t tern_read_completion_ts(struct ibv_cq_ex *cq_ex)
{
	return le64toh(from_ex(cq_ex)->current->timestamp);
}

static uint16_t tern_read_cvlan(struct ibv_cq_ex *cq_ex)
{
	const struct tern_cqe *cqe = from_ex(cq_ex)->current;

	return cqe->flags & TERN_CQE_FLAG_VLAN ? le16toh(cqe->vlan_tci) : 0;
}

void tern_cq_ex_init(struct tern_cq *cq)
{
	struct ibv_cq_ex *ex = &cq->base.cq_ex;

	ex->start_poll = tern_start_poll;
	ex->next_poll = tern_next_poll;
	ex->end_poll = tern_end_poll;
	ex->read_opcode = tern_read_opcode;
	ex->read_vendor_err = tern_read_vendor_err;
	ex->read_byte_len = tern_read_byte_len;
	ex->read_imm_data = tern_read_imm_data;
	ex->read_qp_num = tern_read_qp_num;
	ex->read_src_qp = tern_read_src_qp;
	ex->read_wc_flags = tern_read_wc_flags;
	ex->read_slid = tern_read_slid;
	ex->read_sl = tern_read_sl;
	ex->read_dlid_path_bits = tern_read_dlid_path_bits;
	ex->read_completion_ts = tern_read_completion_ts;
	ex->read_cvlan = tern_read_cvlan;
}
