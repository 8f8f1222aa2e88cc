/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of extended reliable connections share. */
#ifndef RULES_XRC_H
#define RULES_XRC_H

#include "verbs_rules.h"

#define ENTRIES	16
#define SLOT	8192
#define WRITTEN	(ENTRIES * SLOT)	/* where WRITEs and READs go */
#define XRC_CAP	((struct ibv_qp_cap){ .max_send_wr = 32, .max_send_sge = 1, .max_inline_data = 64 })

/* An SRQ with a PD, memory and a CQ of its own. Cookies count up, slots go around. */
struct named {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint32_t number;
	struct buffer b;
	uint64_t posted, taken;
};

/* An initiator, its target, and what its messages may name. */
struct xrc {
	struct ibv_xrcd *xrcd;
	struct ibv_cq *cq;
	struct ibv_qp *from, *to;
	struct named srqs[2];
	struct buffer out;
};

/* NULL: errno is set. */
struct ibv_xrcd *xrcd_open(int fd, int oflags);
/* Of no file: nobody else can have it. */
struct ibv_xrcd *xrcd_new(void);
struct ibv_qp *xrc_target_new(struct ibv_xrcd *xrcd);
/* NULL: errno is set. */
struct ibv_qp *xrc_target_open(struct ibv_xrcd *xrcd, uint32_t qpn);

/* With one receive more than is needed: it is not to be taken for another's message. */
struct named named_new(struct ibv_xrcd *xrcd);
void named_free(struct named *n);
void named_post(struct named *n);
/* A request for @n, on its memory for WRITEs. */
struct ibv_send_wr named_wr(const struct named *n, enum ibv_wr_opcode opcode,
			    struct ibv_sge *sge);
/* The next of @n has come, of target @qpn. */
struct ibv_wc named_arrived(struct named *n, uint32_t qpn);

/* @xrcd ends with it. */
struct xrc xrc_in(struct ibv_xrcd *xrcd, struct timing timing);
void xrc_free(struct xrc *x);
void xrc_connect(struct xrc *x, struct timing timing);
/* The initiator's next has completed. */
void xrc_sent(struct xrc *x, enum ibv_wc_opcode opcode);
/* It takes the next of @to, in whose CQ it completes, and of nobody else. */
void xrc_message(struct xrc *x, struct named *to, enum ibv_wr_opcode opcode, uint32_t length);
/* WRITE, READ and atomics, which take no receive. */
void xrc_memory(struct xrc *x, struct named *to);

#endif /* RULES_XRC_H */
