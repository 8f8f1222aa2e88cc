/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Queues in plain memory for tests of the data path: the test is the device. */
#ifndef TERN_BENCH_H
#define TERN_BENCH_H

#include <stdio.h>
#include <stdlib.h>

#include "cqe.h"
#include "tern.h"

#define BLOCKS	8
#define ENTRIES	4
#define CQES	4
#define QPN	0x1234

extern int failed;

#define CHECK(condition)							\
	do {									\
		if (!(condition)) {						\
			failed = 1;						\
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);	\
		}								\
	} while (0)

/* One queue pair on one completion queue, and the doorbell page. */
struct bench {
	struct tern_context ctx;
	struct tern_cq cq;
	struct tern_qp qp;
	struct tern_queue_record cq_record, sq_record, rq_record;
	uint8_t sq[BLOCKS * TERN_WQE_BLOCK];
	uint8_t rq[ENTRIES * 64];
	struct tern_cqe cqes[CQES];
	struct tern_send_entry entries[BLOCKS];
	uint64_t wr_ids[ENTRIES];
	uint64_t doorbells[8];
	struct tern_qp *table[TERN_QP_TABLE_SIZE];
	struct tern_qp *empty[TERN_QP_TABLE_SIZE];
	struct tern_qp **qps[TERN_QP_TABLE_SIZE];
	uint32_t device_cqe;		/* entries that the device has written */
};

static inline struct bench *bench_new(bool datagram)
{
	struct bench *b = calloc(1, sizeof(*b));
	uint32_t i;

	if (!b)
		abort();
	b->ctx.records = true;
	b->ctx.doorbell = (uint8_t *)b->doorbells;
	for (i = 0; i < TERN_QP_TABLE_SIZE; i++)
		b->qps[i] = b->empty;
	b->qps[QPN >> TERN_QP_TABLE_SHIFT] = b->table;
	b->table[QPN & (TERN_QP_TABLE_SIZE - 1)] = &b->qp;

	b->cq.base.cq.context = &b->ctx.ibv_ctx.context;
	b->cq.size = CQES;
	b->cq.ring = (uint8_t *)b->cqes;
	b->cq.record = &b->cq_record;
	b->cq.qps = b->qps;

	b->qp.base.qp.state = IBV_QPS_RTS;
	b->qp.base.qp.send_cq = &b->cq.base.cq;
	b->qp.base.qp.recv_cq = &b->cq.base.cq;
	b->qp.qpn = QPN;
	b->qp.doorbell_send = b->ctx.doorbell + TERN_DOORBELL_SEND;
	b->qp.doorbell_receive = b->ctx.doorbell + TERN_DOORBELL_RECEIVE;

	b->qp.sq.mask = BLOCKS - 1;
	b->qp.sq.request_max = BLOCKS / 2;
	b->qp.sq.sge_max = 4;
	b->qp.sq.inline_max = 64;
	b->qp.sq.ops = datagram ? tern_ud_ops : tern_rc_ops;
	b->qp.sq.ring = b->sq;
	b->qp.sq.entries = b->entries;
	b->qp.sq.record = &b->sq_record;
	b->qp.sq.wants_ring = &b->sq_record.ring;

	b->qp.rq.mask = ENTRIES - 1;
	b->qp.rq.request_max = ENTRIES;
	b->qp.rq.sge_max = 3;
	b->qp.rq.stride_shift = 6;
	b->qp.rq.ring = b->rq;
	b->qp.rq.wr_ids = b->wr_ids;
	b->qp.rq.record = &b->rq_record;
	b->qp.rq.wants_ring = &b->rq_record.ring;
	return b;
}

static inline void device_completes(struct bench *b, struct tern_cqe cqe, uint32_t qpn)
{
	cqe.queue = htole32(qpn);
	cqe.phase = htole32(!(b->device_cqe & CQES));
	b->cqes[b->device_cqe++ % CQES] = cqe;
}

/* test_cq_ex.c */
void test_cq_ex(void);
/* test_wr.c */
void test_wr(void);
/* test_xrc.c */
void test_xrc(void);

#endif /* TERN_BENCH_H */
