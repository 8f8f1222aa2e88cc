/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: a driver for tests: brings a function up on the native host, executes
 * commands, makes queues, posts and polls. It trusts the device and its caller.
 */
#ifndef TERN_HOST_DRIVER_H
#define TERN_HOST_DRIVER_H

#include "host.h"
#include "tern_hw_command.h"
#include "tern_hw_cqe.h"
#include "tern_hw_doorbell.h"
#include "tern_hw_event.h"
#include "tern_hw_qp.h"
#include "tern_hw_queue.h"
#include "tern_hw_regs.h"
#include "tern_hw_wqe.h"

struct driver_eq {
	uint32_t eqn, consumer, arm;
	uint8_t shift;
	uint64_t ring, record;
};

struct driver {
	struct machine *machine;
	unsigned int fn;
	uint64_t features;		/* taken */
	uint64_t commands, completions;	/* rings, 1 << shift entries */
	uint8_t shift;
	uint32_t producer, consumer;
	uint16_t status;		/* of the last command */
	uint32_t syndrome;
	uint32_t result[12];
	uint32_t next_cqn, next_key, next_qpn, next_srqn;
	uint32_t srqn;			/* of queue pairs made with TERN_QP_USES_SRQ */
	uint32_t xrcd;			/* of XRC targets */
	struct driver_eq eq;		/* EQN 0, vector 0 */
};

struct driver_cq {
	struct driver *driver;
	uint32_t cqn, consumer, arm;
	uint8_t shift;
	uint64_t ring, record;
};

struct driver_qp {
	struct driver *driver;
	uint32_t qpn;
	uint8_t type;
	uint8_t state;
	uint32_t pd;
	uint32_t doorbell_page;
	uint8_t sq_shift, rq_shift, rq_stride_shift;
	uint64_t sq, rq, sq_record, rq_record;
	uint32_t sq_producer, rq_producer;
	struct driver_cq *send_cq, *receive_cq;
	uint64_t doorbells;		/* rung */
};

/* All features that are offered, less @without; EQ 0 of 256 entries, armed. */
void driver_start(struct driver *driver, struct machine *machine, unsigned int fn,
		  uint64_t without);
/* Registers only: rings set up, ENABLE not yet written. */
void driver_prepare(struct driver *driver, struct machine *machine, unsigned int fn,
		    uint64_t features);

/* Execute one command; returns its status. @body may be NULL. */
uint16_t driver_command(struct driver *driver, uint16_t opcode, uint32_t number,
			const void *body, size_t length);
/* Its parts, for many in flight: write without ringing; ring; the next completion, if any. */
void driver_command_write(struct driver *driver, uint16_t opcode, uint16_t id, uint32_t flags,
			  uint32_t number, const void *body, size_t length);
void driver_command_ring(struct driver *driver);
bool driver_command_poll(struct driver *driver, uint16_t *id);

/* A contiguous page list (levels 0). */
struct tern_page_list driver_pages(uint64_t address, uint64_t length);
/*
 * A page list of @levels tables over @pages (bus addresses of data pages of
 * 1 << @page_shift); entries are writable. Tables are allocated.
 */
struct tern_page_list driver_page_table(struct machine *machine, const uint64_t *pages,
					size_t count, unsigned int page_shift,
					unsigned int levels, uint32_t first_offset,
					uint64_t length);

/* These end the program when a command fails: they are for what is not under test. */
void driver_eq_create(struct driver *driver, struct driver_eq *eq, uint32_t eqn, uint8_t shift);
bool driver_eq_poll(struct driver *driver, struct driver_eq *eq, struct tern_eqe *eqe);
void driver_eq_arm(struct driver *driver, struct driver_eq *eq);
void driver_cq_create(struct driver *driver, struct driver_cq *cq, uint8_t shift);
/* The next entry, copied; the consumer index is stored. */
bool driver_cq_poll(struct driver_cq *cq, struct tern_cqe *cqe);
void driver_cq_arm(struct driver_cq *cq, uint32_t mode);
uint32_t driver_key_create(struct driver *driver, uint64_t address, uint64_t length,
			   uint32_t access, uint32_t pd);
/* Make @key anew, with other rights; @address and @length are as before. */
void driver_key_replace(struct driver *driver, uint32_t key, uint64_t address, uint64_t length,
			uint32_t access, uint32_t pd);
/* QPN 0: the next free one. rq_stride_shift 6..9. */
void driver_qp_create(struct driver *driver, struct driver_qp *qp, uint8_t type, uint32_t qpn,
		      uint32_t pd, uint32_t flags, struct driver_cq *send_cq,
		      struct driver_cq *receive_cq, uint8_t sq_shift, uint8_t rq_shift,
		      uint8_t rq_stride_shift);
/* Returns the status. */
uint16_t driver_qp_modify(struct driver_qp *qp, uint8_t state, uint32_t mask,
			  const struct tern_qp_attributes *attributes);

/*
 * Post the @blocks blocks of @wqe (its control is completed with blocks), or a
 * receive of @count SGEs. The index is stored and the doorbell is rung as the
 * contract says. Returns the index of the first block or the entry.
 */
uint32_t driver_post_send(struct driver_qp *qp, const void *wqe, unsigned int blocks);
uint32_t driver_post_receive(struct driver_qp *qp, const struct tern_sge *sges,
			     unsigned int count);
void driver_doorbell(struct driver *driver, uint32_t page, uint32_t offset, uint32_t number,
		     uint32_t index);

#endif /* TERN_HOST_DRIVER_H */
