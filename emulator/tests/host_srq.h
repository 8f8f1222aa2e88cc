/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: shared receive queues for tests. */
#ifndef TERN_HOST_SRQ_H
#define TERN_HOST_SRQ_H

#include "host_driver.h"
#include "tern_hw_srq.h"

#define DRIVER_SRQ_STRIDE_SHIFT	7
#define DRIVER_SRQ_TAG		0xfffffff0U	/* of the first entry; they wrap */

struct driver_srq {
	struct driver *driver;
	uint32_t srqn;			/* 0: there is none */
	uint8_t shift;
	uint64_t ring, record;
	uint32_t producer;
};

/* The body of CREATE_SRQ for @srq, whose memory and number are made, too. */
struct tern_command_create_srq driver_srq_body(struct driver *driver, struct driver_srq *srq,
					       uint32_t pd, uint8_t shift);
/* Queue pairs that are made with TERN_QP_USES_SRQ from now on use it. */
void driver_srq_create(struct driver *driver, struct driver_srq *srq, uint32_t pd,
		       uint8_t shift);
/* An XRC SRQ, of the driver's domain, that completes in @cq. */
void driver_srq_create_xrc(struct driver *driver, struct driver_srq *srq, uint32_t pd,
			   uint8_t shift, const struct driver_cq *cq);
/* Where the entry of an index stands. */
uint8_t *driver_srq_entry(const struct driver_srq *srq, uint32_t index);
void driver_srq_publish(struct driver_srq *srq);
/* Returns the tag. */
uint32_t driver_srq_post(struct driver_srq *srq, const struct tern_sge *sges,
			 unsigned int count);
uint16_t driver_srq_limit(struct driver_srq *srq, uint32_t limit);
/* A new ring of 1 << @shift entries with what is posted in it. */
uint16_t driver_srq_resize(struct driver_srq *srq, uint8_t shift);
void driver_srq_status(struct driver_srq *srq, struct tern_srq_status *status);

#endif /* TERN_HOST_SRQ_H */
