// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: work requests of kernel consumers in the device's format. Pure logic. */
#include <linux/unaligned.h>

#include "convert.h"
#include "wqe.h"

static int tern_ib_send_opcode(enum ib_qp_type type, enum ib_wr_opcode opcode)
{
	bool connected = tern_ib_connected(type);
	bool reliable = type == IB_QPT_RC;

	switch (opcode) {
	case IB_WR_SEND:
		return TERN_WQE_SEND;
	case IB_WR_SEND_WITH_IMM:
		return TERN_WQE_SEND_IMMEDIATE;
	case IB_WR_RDMA_WRITE:
		return connected ? TERN_WQE_WRITE : -EINVAL;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return connected ? TERN_WQE_WRITE_IMMEDIATE : -EINVAL;
	case IB_WR_SEND_WITH_INV:
		return reliable ? TERN_WQE_SEND_INVALIDATE : -EINVAL;
	case IB_WR_RDMA_READ:
		return reliable ? TERN_WQE_READ : -EINVAL;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return reliable ? TERN_WQE_CAS : -EINVAL;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return reliable ? TERN_WQE_FETCH_ADD : -EINVAL;
	default:
		return -EINVAL;
	}
}

static bool tern_ib_has_remote(u8 opcode)
{
	return opcode == TERN_WQE_WRITE || opcode == TERN_WQE_WRITE_IMMEDIATE ||
	       opcode == TERN_WQE_READ;
}

static bool tern_ib_is_atomic(u8 opcode)
{
	return opcode == TERN_WQE_CAS || opcode == TERN_WQE_FETCH_ADD;
}

/* The remote and the atomic segment. Returns what follows. */
static void *tern_ib_encode_atomic(const struct ib_atomic_wr *wr, u8 opcode,
				   struct tern_wqe_remote *remote)
{
	struct tern_wqe_atomic *atomic = (void *)(remote + 1);

	remote->address = cpu_to_le64(wr->remote_addr);
	remote->key = cpu_to_le32(wr->rkey);
	remote->length = 0;
	if (opcode == TERN_WQE_CAS) {
		atomic->swap_add = cpu_to_le64(wr->swap);
		atomic->compare = cpu_to_le64(wr->compare_add);
	} else {
		atomic->swap_add = cpu_to_le64(wr->compare_add);
		atomic->compare = 0;
	}
	return atomic + 1;
}

static void tern_ib_encode_sges(const struct ib_sge *list, unsigned int count,
				struct tern_sge *out)
{
	for (; count; count--, list++, out++) {
		out->address = cpu_to_le64(list->addr);
		out->length = cpu_to_le32(list->length);
		out->key = cpu_to_le32(list->lkey);
	}
}

/* Inline data is named by kernel addresses. */
static int tern_ib_encode_inline(const struct ib_send_wr *wr, u32 limit, u8 *out)
{
	u32 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > limit - length)
			return -EINVAL;
		memcpy(out + length, (void *)(uintptr_t)sge->addr, sge->length);
		length += sge->length;
	}
	return length;
}

#define TERN_IB_SEND_FLAGS	(IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_FENCE)

static void tern_ib_encode_control(const struct ib_send_wr *wr, bool signal_all, u8 opcode,
				   struct tern_wqe_control *control)
{
	memset(control, 0, sizeof(*control));
	control->opcode = opcode;
	if (signal_all || wr->send_flags & IB_SEND_SIGNALED)
		control->flags |= TERN_WQE_SIGNALED;
	if (wr->send_flags & IB_SEND_SOLICITED)
		control->flags |= TERN_WQE_SOLICITED;
	if (wr->send_flags & IB_SEND_FENCE)
		control->flags |= TERN_WQE_FENCE;
}

/**
 * tern_ib_encode_send() - encode a work request of a send queue
 * @type: of the queue pair
 * @cap: its capabilities
 * @signal_all: every work request of it makes a completion
 * @wr: the work request
 * @address: UD: where the address handle leads
 * @wqe: set; what the blocks do not need is undefined
 *
 * Return: how many blocks it takes, or -EINVAL
 */
int tern_ib_encode_send(enum ib_qp_type type, const struct ib_qp_cap *cap, bool signal_all,
			const struct ib_send_wr *wr, const struct tern_address_vector *address,
			struct tern_ib_wqe *wqe)
{
	struct tern_wqe_control *control = &wqe->control;
	bool connected = tern_ib_connected(type);
	u8 *next = wqe->segments;
	int opcode = tern_ib_send_opcode(type, wr->opcode);
	int length;

	if (opcode < 0 || wr->num_sge < 0 || wr->num_sge > cap->max_send_sge)
		return -EINVAL;
	/* One is all that they need, and with it they are no larger than any other. */
	if (tern_ib_is_atomic(opcode) && wr->num_sge > 1)
		return -EINVAL;
	if (wr->send_flags & ~(TERN_IB_SEND_FLAGS | IB_SEND_INLINE))
		return -EINVAL;

	tern_ib_encode_control(wr, signal_all, opcode, control);
	if (opcode == TERN_WQE_SEND_IMMEDIATE || opcode == TERN_WQE_WRITE_IMMEDIATE)
		memcpy(control->immediate, &wr->ex.imm_data, sizeof(control->immediate));
	if (opcode == TERN_WQE_SEND_INVALIDATE)
		put_unaligned_le32(wr->ex.invalidate_rkey, control->immediate);

	if (tern_ib_has_remote(opcode)) {
		struct tern_wqe_remote *remote = (void *)next;

		remote->address = cpu_to_le64(rdma_wr(wr)->remote_addr);
		remote->key = cpu_to_le32(rdma_wr(wr)->rkey);
		remote->length = 0;
		next += sizeof(*remote);
	}
	if (tern_ib_is_atomic(opcode))
		next = tern_ib_encode_atomic(atomic_wr(wr), opcode, (void *)next);
	if (!connected) {
		struct tern_address_vector *vector = (void *)next;

		if (ud_wr(wr)->remote_qpn & ~TERN_NUMBER_MASK)
			return -EINVAL;
		*vector = *address;
		vector->remote_qpn = cpu_to_le32(ud_wr(wr)->remote_qpn);
		vector->qkey = cpu_to_le32(ud_wr(wr)->remote_qkey);
		next += sizeof(*vector);
	}

	if (wr->send_flags & IB_SEND_INLINE) {
		if (opcode == TERN_WQE_READ || tern_ib_is_atomic(opcode))
			return -EINVAL;
		length = tern_ib_encode_inline(wr, cap->max_inline_data, next);
		if (length < 0)
			return length;
		control->flags |= TERN_WQE_INLINE;
		control->inline_length = cpu_to_le16(length);
		next += length;
	} else {
		tern_ib_encode_sges(wr->sg_list, wr->num_sge, (void *)next);
		control->sge_count = wr->num_sge;
		next += wr->num_sge * sizeof(struct tern_sge);
	}
	control->blocks = DIV_ROUND_UP(next - (u8 *)wqe, TERN_WQE_BLOCK);
	return control->blocks;
}

/**
 * tern_ib_encode_register() - encode a fast registration
 * @signal_all: every work request of the queue pair makes a completion
 * @wr: the work request
 * @segment: what is registered
 * @wqe: set; what the blocks do not need is undefined
 *
 * Return: how many blocks it takes, or -EINVAL
 */
int tern_ib_encode_register(bool signal_all, const struct ib_send_wr *wr,
			    const struct tern_wqe_register *segment, struct tern_ib_wqe *wqe)
{
	if (wr->send_flags & ~TERN_IB_SEND_FLAGS)
		return -EINVAL;
	tern_ib_encode_control(wr, signal_all, TERN_WQE_REGISTER, &wqe->control);
	memcpy(wqe->segments, segment, sizeof(*segment));
	wqe->control.blocks = 1;
	return 1;
}

static_assert(sizeof(struct tern_wqe_control) + sizeof(struct tern_wqe_register) <=
	      TERN_WQE_BLOCK);

/**
 * tern_ib_encode_local_invalidate() - encode the invalidation of a key of the own side
 * @signal_all: every work request of the queue pair makes a completion
 * @wr: the work request
 * @wqe: set; what the blocks do not need is undefined
 *
 * Return: how many blocks it takes, or -EINVAL
 */
int tern_ib_encode_local_invalidate(bool signal_all, const struct ib_send_wr *wr,
				    struct tern_ib_wqe *wqe)
{
	if (wr->send_flags & ~TERN_IB_SEND_FLAGS)
		return -EINVAL;
	tern_ib_encode_control(wr, signal_all, TERN_WQE_LOCAL_INVALIDATE, &wqe->control);
	put_unaligned_le32(wr->ex.invalidate_rkey, wqe->control.immediate);
	wqe->control.blocks = 1;
	return 1;
}

/**
 * tern_ib_encode_receive() - encode a work request of a receive queue
 * @max_sge: scatter gather elements that it may have
 * @wr: the work request
 * @tag: of an entry of a shared queue, else 0
 * @entry: the queue's entry, large enough for @max_sge
 *
 * Return: 0 or -EINVAL
 */
int tern_ib_encode_receive(u32 max_sge, const struct ib_recv_wr *wr, u32 tag, void *entry)
{
	struct tern_receive_header *header = entry;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	*header = (struct tern_receive_header) {
		.sge_count = wr->num_sge,
		.tag = cpu_to_le32(tag),
	};
	tern_ib_encode_sges(wr->sg_list, wr->num_sge, entry + sizeof(*header));
	return 0;
}
