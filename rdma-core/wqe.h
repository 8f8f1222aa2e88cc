/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Work requests of verbs to work requests of the hardware. Pure: what a
 * function here touches, it was given.
 */
#ifndef TERN_WQE_H
#define TERN_WQE_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <ccan/container_of.h>
#include <tern_hw_wqe.h>

/* Bytes in front of the SGEs or the inline data. */
#define TERN_HEADER_SEND	sizeof(struct tern_wqe_control)
#define TERN_HEADER_REMOTE	(TERN_HEADER_SEND + sizeof(struct tern_wqe_remote))
#define TERN_HEADER_ATOMIC	(TERN_HEADER_REMOTE + sizeof(struct tern_wqe_atomic))
#define TERN_HEADER_UD		(TERN_HEADER_SEND + sizeof(struct tern_address_vector))
#define TERN_HEADER_ETHERNET	(TERN_HEADER_SEND + sizeof(struct tern_wqe_ethernet))

#define TERN_SEND_OPS		16

/* How a queue pair of one type does one enum ibv_wr_opcode. */
struct tern_send_op {
	uint8_t opcode;		/* TERN_WQE_* */
	uint8_t header;		/* TERN_HEADER_*; 0: not possible */
	uint8_t flags;		/* TERN_WQE_* that may be set */
	uint8_t key;		/* the immediate is a key: a number of the host */
	uint32_t immediate;	/* mask of the immediate: all ones or zero */
	uint32_t srqn;		/* mask of the peer's SRQ number, likewise */
};

/* An address handle is what its address is in work requests. */
struct tern_ah {
	struct ibv_ah ibv_ah;
	struct tern_address_vector vector;
};

extern const struct tern_send_op tern_rc_ops[TERN_SEND_OPS];
extern const struct tern_send_op tern_xrc_ops[TERN_SEND_OPS];
extern const struct tern_send_op tern_uc_ops[TERN_SEND_OPS];
extern const struct tern_send_op tern_ud_ops[TERN_SEND_OPS];
extern const struct tern_send_op tern_raw_ops[TERN_SEND_OPS];

/* Low four bits of send_flags to TERN_WQE_*. */
extern const uint8_t tern_send_flags[16];

static inline uint32_t tern_wqe_blocks(uint32_t bytes)
{
	return (bytes + TERN_WQE_BLOCK - 1) >> TERN_WQE_BLOCK_SHIFT;
}

static inline void tern_set_sge(struct tern_sge *to, const struct ibv_sge *from)
{
	to->address = htole64(from->addr);
	to->length = htole32(from->length);
	to->key = htole32(from->lkey);
}

static inline void tern_set_sges(void *to, const struct ibv_sge *from, uint32_t count)
{
	struct tern_sge *sge = to;

	for (; count; count--)
		tern_set_sge(sge++, from++);
}

static inline uint64_t tern_inline_length(const struct ibv_send_wr *wr)
{
	uint64_t length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return length;
}

static inline void tern_set_inline(void *to, const struct ibv_send_wr *wr)
{
	uint8_t *p = to;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		memcpy(p, (const void *)(uintptr_t)sge->addr, sge->length);
		p += sge->length;
	}
}

static inline void tern_set_control(void *to, const struct tern_send_op *op, uint32_t flags,
				    uint32_t blocks, uint32_t sge_count, uint32_t inline_length,
				    const struct ibv_send_wr *wr)
{
	struct tern_wqe_control *control = to;
	uint32_t immediate = (op->key ? htole32(wr->invalidate_rkey) : (uint32_t)wr->imm_data) &
			     op->immediate;

	control->opcode = op->opcode;
	control->flags = flags;
	control->blocks = blocks;
	control->sge_count = sge_count;
	control->inline_length = htole16(inline_length);
	control->reserved0 = 0;
	memcpy(control->immediate, &immediate, sizeof(immediate));
	control->remote_srqn = htole32(wr->qp_type.xrc.remote_srqn & op->srqn);
}

static inline void tern_set_remote(void *to, const struct ibv_send_wr *wr)
{
	struct tern_wqe_remote *remote = to;

	remote->address = htole64(wr->wr.rdma.remote_addr);
	remote->key = htole32(wr->wr.rdma.rkey);
	remote->length = 0;
}

static inline void tern_set_atomic(void *to, const struct tern_send_op *op,
				   const struct ibv_send_wr *wr)
{
	struct tern_wqe_remote *remote = to;
	struct tern_wqe_atomic *atomic = (void *)(remote + 1);
	bool swaps = op->opcode == TERN_WQE_CAS;

	remote->address = htole64(wr->wr.atomic.remote_addr);
	remote->key = htole32(wr->wr.atomic.rkey);
	remote->length = 0;
	atomic->swap_add = htole64(swaps ? wr->wr.atomic.swap : wr->wr.atomic.compare_add);
	atomic->compare = htole64(swaps ? wr->wr.atomic.compare_add : 0);
}

static inline void tern_set_address(void *to, const struct ibv_send_wr *wr)
{
	struct tern_address_vector *address = to;

	*address = container_of(wr->wr.ud.ah, struct tern_ah, ibv_ah)->vector;
	address->remote_qpn = htole32(wr->wr.ud.remote_qpn);
	address->qkey = htole32(wr->wr.ud.remote_qkey);
}

/*
 * Build @wr, whose shape the caller has checked, as @blocks blocks at @to.
 * @length: bytes of inline data, with TERN_WQE_INLINE in @flags.
 */
static inline void tern_build_send(uint8_t *to, const struct tern_send_op *op, uint32_t flags,
				   uint32_t blocks, uint32_t length,
				   const struct ibv_send_wr *wr)
{
	uint8_t *segment = to + sizeof(struct tern_wqe_control);
	const struct ibv_sge *sges = wr->sg_list;
	uint32_t count = wr->num_sge;
	uint32_t header = op->header;

	if (flags & TERN_WQE_INLINE)
		tern_set_control(to, op, flags, blocks, 0, length, wr);
	else
		tern_set_control(to, op, flags, blocks, count, 0, wr);

	if (header == TERN_HEADER_REMOTE) {
		/* It is as long as TERN_HEADER_ETHERNET, whose segment asks for nothing. */
		if (op->opcode == TERN_WQE_ETHERNET)
			memset(segment, 0, sizeof(struct tern_wqe_ethernet));
		else
			tern_set_remote(segment, wr);
	}
	if (header == TERN_HEADER_UD)
		tern_set_address(segment, wr);
	else if (header == TERN_HEADER_ATOMIC)
		tern_set_atomic(segment, op, wr);

	if (flags & TERN_WQE_INLINE)
		tern_set_inline(to + header, wr);
	else
		tern_set_sges(to + header, sges, count);
}

/* Put a work request that was built aside into the ring, around its end. */
static inline void tern_wrap_send(uint8_t *ring, uint32_t ring_blocks, uint32_t slot,
				  const uint8_t *built, uint32_t blocks)
{
	uint32_t first = ring_blocks - slot;

	memcpy(ring + ((size_t)slot << TERN_WQE_BLOCK_SHIFT), built,
	       first << TERN_WQE_BLOCK_SHIFT);
	memcpy(ring, built + (first << TERN_WQE_BLOCK_SHIFT),
	       (blocks - first) << TERN_WQE_BLOCK_SHIFT);
}

static inline void tern_build_receive(void *to, const struct ibv_recv_wr *wr)
{
	struct tern_receive_header *header = to;

	memset(header, 0, sizeof(*header));
	header->sge_count = wr->num_sge;
	tern_set_sges(header + 1, wr->sg_list, wr->num_sge);
}

#endif /* TERN_WQE_H */
