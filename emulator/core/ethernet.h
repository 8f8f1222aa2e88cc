/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: Ethernet of a function: filters, receive side scaling, its queue pairs. */
#ifndef TERN_ETHERNET_H
#define TERN_ETHERNET_H

#include "capabilities.h"
#include "egress.h"
#include "flow.h"
#include "tern_hw_ethernet.h"
#include "toeplitz.h"
#include "tso.h"
#include "work_queue.h"

struct function;
struct parsed_frame;
struct qp;
struct tern_frame;
struct tern_nic;

#define ETHERNET_HEADER		14
#define VLAN_TAG		4
/* A tag may be inserted into a frame that has one. */
#define FRAME_BYTES_MAX		(MTU_MAX + ETHERNET_HEADER + 2 * VLAN_TAG)
#define PORT_NUMBER		1
#define MTU_MIN			68
#define MTU_DEFAULT		1500

struct ethernet_function {
	uint8_t station_mac[6];
	/* Port */
	uint32_t mtu;
	bool admin_up;
	bool reported_up;		/* the state that the last PORT_STATE event said */
	/* Filters */
	uint32_t receive_flags;		/* TERN_RECEIVE_* */
	struct qp *default_qp;		/* NULL: none */
	uint64_t multicast[MULTICAST_MAX];	/* MACs as numbers, ascending */
	unsigned int multicast_count;
	uint8_t vlans[TERN_VLAN_TABLE_BYTES];
	/* Receive side scaling */
	struct qp *rss_table[RSS_ENTRIES_MAX];
	unsigned int rss_count;		/* 0: off */
	uint8_t rss_types;
	struct toeplitz toeplitz;
	struct flow_table flows;
};

/* Why a frame is not for the Ethernet queues of @fn: no filter takes it, else true. */
bool filter_takes(const struct ethernet_function *ethernet, const uint8_t *destination,
		  const struct parsed_frame *parsed);

/* Which queue pair receives the frame; NULL: none. *hash_type is TERN_RSS_* or 0. */
struct qp *rss_choose(const struct ethernet_function *ethernet, const uint8_t *headers,
		      const struct parsed_frame *parsed, uint32_t *hash, uint8_t *hash_type);

/* Put the frame into a receive entry. @headers are the frame's first bytes, as parsed. */
void ethernet_receive(struct function *fn, const struct tern_frame *frame, const uint8_t *headers,
		      const struct parsed_frame *parsed);

/* To which queue pair of its table a HASHING one gives the frame; NULL: it has no table. */
struct qp *hashing_choose(const struct qp *qp, const uint8_t *headers,
			  const struct parsed_frame *parsed, uint32_t *hash, uint8_t *hash_type);

/* Put the frame, which a flow brings, into a receive entry of @qp, or of one it chooses. */
void ethernet_deliver(struct qp *qp, const struct tern_frame *frame, const uint8_t *headers,
		      const struct parsed_frame *parsed);

/* Tell the host when the port's state is not the one that it was last told. */
void port_report(struct function *fn);

/* Private part of an ETHERNET queue pair. */
struct ethernet_queue {
	struct qp *qp;
	struct egress_source source;
	bool segmenting;		/* wqe is a TSO request that is partly sent */
	struct send_wqe wqe;
	struct tso tso;
};

/* Its egress source: send a burst, or flush in ERROR. */
bool ethernet_send(struct egress_source *source);
/* Complete in ERROR what is posted, in order, a bounded number at a time; true: there is more. */
bool ethernet_flush(struct ethernet_queue *queue);

#endif /* TERN_ETHERNET_H */
