/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: RC, XRC, UC, UD and GSI queue pairs: their state, and what their parts call of
 * each other.
 *
 *   rc_requester.c	work requests -> request packets; timers; of UC too
 *   rc_local.c		work requests that send nothing
 *   rc_completer.c	acknowledges and responses -> completions, retries
 *   rc_responder.c	request packets -> memory, completions
 *   rc_atomic.c	atomic requests: executed once, their results kept
 *   rc_placement.c	ATOMIC_WRITE and FLUSH are executed
 *   rc_respond.c	acknowledges and responses are sent
 *   xrc.c		the SRQ of what XRC targets receive
 *   uc.c		what UC queue pairs receive
 *   ud.c		datagrams, both directions
 *   ud_kept.c		datagrams that wait for a page
 *   page_fault.c	pages on demand
 *   multicast.c	datagrams to many
 *   qp_modify.c	MODIFY_QP and QUERY_QP
 *   rdma_qp.c		what they share: completions, errors, flushing
 */
#ifndef TERN_RDMA_QP_H
#define TERN_RDMA_QP_H

#include <string.h>

#include "byteorder.h"
#include "egress.h"
#include "nic.h"
#include "page_fault.h"
#include "qp.h"
#include "rdma_nic.h"
#include "timer.h"
#include "wire.h"

/*
 * Work requests and packets of one queue pair that wait for an acknowledge.
 * Each has room for REQUESTS_MIN; what its ring has beyond that is taken from
 * REQUESTS_SHARED of the NIC, or a guest with thousands of queue pairs to a
 * silent peer could pin gigabytes of its host.
 */
#define REQUESTS_MIN		8
#define REQUESTS_MAX		128
#define REQUESTS_SHARED		65536
#define PACKETS_IN_FLIGHT_MAX	128
/*
 * A READ asks for so many packets at a time, so that losing one of a large
 * message does not bring back all of it. On the wire it is several READs; a
 * part that is asked for again ends where it did before, as peers demand.
 */
#define READ_PACKETS_MAX	64
/* At the latest so many packets after the last one an acknowledge is asked for. */
#define ACK_REQUEST_INTERVAL	16

/* A work request that was taken from the queue: checked, with its PSNs. */
struct request {
	uint32_t index;			/* of its first block */
	uint8_t blocks;
	uint8_t opcode;			/* TERN_WQE_* */
	uint8_t flags;
	uint8_t sge_count;
	bool inlined;
	uint8_t status;			/* TERN_WC_* it failed with: none behind it is taken */
	uint8_t immediate[4];		/* or the key to invalidate */
	uint32_t remote_srqn;		/* XRC */
	uint64_t remote_address;
	uint32_t remote_key;
	uint32_t flush_length;		/* FLUSH */
	uint32_t length;
	uint32_t first_psn;
	uint32_t packets;		/* PSNs; 0 when it sends nothing, or has failed */
	bool executed;			/* of one that sends nothing: it is not done again */
	uint64_t swap_add, compare;	/* atomics */
	union {
		struct tern_wqe_register registration;
		struct tern_wqe_bind binding;
		struct sge sges[SEND_SGES_MAX];
		uint8_t data[INLINE_MAX];
	} u;
};

/*
 * The requester. Its requests stand in a ring: head..send are sent and wait,
 * send..tail were admitted and are not (or not all) sent, or are to be sent
 * again. PSNs: acked <= next <= high: what is acknowledged, what is sent next,
 * what was ever sent (next < high while packets are sent again).
 */
struct requester {
	struct request *ring;
	uint32_t ring_size;		/* power of two, REQUESTS_MIN..REQUESTS_MAX */
	uint32_t head, send, tail;
	uint32_t send_packet;		/* of ring[send]: its packets that are sent */
	uint32_t acked_psn;		/* oldest that is not acknowledged */
	uint32_t next_psn;
	uint32_t high_psn;
	uint32_t tail_psn;		/* first PSN of the next request admitted */
	/* READs and atomics on the wire, in order: the PSN behind the last one of each. */
	uint32_t read_ends[READ_INITIATOR_MAX];
	uint8_t read_first, reads;
	uint8_t retries_left;
	uint8_t rnr_retries_left;
	uint8_t since_ack_request;	/* packets */
	bool waits_rnr;			/* the timer ends an RNR wait */
	bool skip_implied;		/* it went back to acked_psn once: wait for progress */
	struct page_fault fault;	/* nothing is sent while it waits */
	uint64_t deadline, paused_ns;	/* of the retransmission timer; before it began */
	struct timer timer;
	struct egress_source source;
};

#define ATOMIC_BYTES		8
#define GSI_QKEY		0x80010000U	/* IBTA 3.9.1.1 */

enum response {
	RESPONSE_NONE,
	RESPONSE_ACK,
	RESPONSE_NAK,			/* with a code */
	RESPONSE_RNR,
};

/* As many as a peer may ask for, and as many of them once more. */
#define RESPONSES_MAX		(2 * READ_RESPONDER_MAX)

/* A READ, or an atomic that was executed, that is being answered. */
struct read_response {
	bool atomic;
	bool again;			/* asked for again: takes none of responder_resources */
	uint64_t original;		/* of an atomic: the value before it */
	uint32_t pd;			/* whose key it is; XRC: other than that of the next */
	uint64_t address;
	uint32_t key;
	uint32_t length;
	uint32_t first_psn;
	uint32_t packets, sent;
	uint32_t msn;
};

/* What an atomic found: the answer, should it be asked for again. */
struct atomic_result {
	uint32_t psn;
	uint64_t original;
};

enum message {
	MESSAGE_NONE,
	MESSAGE_SEND,
	MESSAGE_WRITE,
};

struct responder {
	uint32_t expected_psn;
	uint32_t msn;
	uint8_t message;		/* enum message: packets of it are to follow */
	bool nak_sent;			/* since the last packet in order: be silent about gaps */
	bool established;		/* the event was sent */
	struct receive_wqe receive;	/* in use by the message */
	uint64_t received;		/* bytes of the message */
	struct {
		uint64_t address;
		uint32_t key;
		uint32_t length;	/* of the whole message */
	} write;
	/* What is to be sent: READs and atomics in order, then response. */
	struct read_response reads[RESPONSES_MAX];
	uint8_t read_first, read_count;
	/* Of the last atomics: as many as may be on their way, so none is wanted that is gone. */
	struct atomic_result results[READ_RESPONDER_MAX];
	uint64_t results_saved;		/* free-running; the next one's place */
	uint8_t response;		/* enum response */
	uint8_t rnr_timer;		/* of RESPONSE_RNR */
	uint8_t nak_code;		/* of RESPONSE_NAK... */
	uint32_t nak_psn;		/* ...and where the connection ends, unless for sequence */
	struct page_fault fault;
	struct egress_source source;
};

/* qp->private of RC, XRC, UC, UD and GSI queue pairs. */
struct rdma_qp {
	struct qp *qp;
	struct tern_qp_attributes attributes;	/* as MODIFY_QP gave them */
	uint32_t set;			/* TERN_QP_SET_* that were ever given since RESET */
	uint32_t remote_qpn;
	uint32_t qkey;
	uint32_t access;
	uint32_t path_mtu;		/* bytes */
	uint32_t path_generation;	/* of the GID table that path was made with; 0: none */
	bool path_valid;
	struct wire_path path;
	bool drain_reported;		/* in SQD */
	bool receive_held;		/* one was taken and has not completed */
	struct srq *srq;		/* where; XRC_TARGET: the last message's, or NULL */
	struct list xrc_target;		/* then: in srq->targets */
	struct requester requester;	/* UD uses source only */
	struct responder responder;	/* RC, UC */
	struct congestion_qp congestion;
	uint32_t ud_psn;
	struct list kept;		/* datagrams, see ud_kept.c */
	unsigned int kept_count;
	unsigned int multicast_groups;	/* that it is attached to */
	uint64_t packets_sent, packets_received, retransmissions, rnr_naks_received;
};

static inline struct rdma_qp *rdma_of(const struct qp *qp)
{
	return qp->private;
}

static inline struct rdma_qp *rdma_of_requester(struct egress_source *source)
{
	return container_of(source, struct rdma_qp, requester.source);
}

static inline struct rdma_qp *rdma_of_responder(struct egress_source *source)
{
	return container_of(source, struct rdma_qp, responder.source);
}

static inline struct tern_nic *nic_of(const struct rdma_qp *rdma)
{
	return rdma->qp->fn->nic;
}

/*
 * Without bus mastering its sources send nothing and keep their state; when it
 * is back, work_queue_enabled() comes to qp_ops.posted, which makes them active.
 */
static inline bool rdma_reaches_memory(const struct rdma_qp *rdma)
{
	return rdma->qp->fn->bus_master && rdma->qp->fn->enabled;
}

/* In the states in which it answers its peer (IBTA 10.3.1). */
static inline bool responds(const struct qp *qp)
{
	return qp->state == TERN_QP_RTR || qp->state == TERN_QP_RTS ||
	       qp->state == TERN_QP_SQD || qp->state == TERN_QP_SQE;
}

/* rdma_qp.c */
/* BTH opcodes of this type of queue pair, which is not ETHERNET or HASHING. */
uint8_t service_of(const struct qp *qp);

/* The path for connected queue pairs, made anew when the GID table changed. NULL: no such GID. */
const struct wire_path *rdma_path(struct rdma_qp *rdma);

/* Largest path MTU in bytes that the port's MTU has room for; 0: none. */
uint32_t rdma_port_mtu(const struct function *fn);

/* Send one packet; @payload may be NULL. */
void rdma_transmit(struct rdma_qp *rdma, const struct wire_path *path,
		   struct wire_headers *headers, const struct tern_segment *payload,
		   unsigned int payload_count, size_t payload_length);

/* Complete a work request of the SQ whose blocks are [index, index + blocks). */
void rdma_complete_send(struct rdma_qp *rdma, const struct request *request, uint8_t status,
			uint32_t byte_count);
/* Complete the oldest entry of the RQ, or that taken of the SRQ; fills in queue and index. */
void rdma_complete_receive(struct rdma_qp *rdma, struct tern_cqe *cqe, uint32_t index);

enum receive_result {
	RECEIVE_OK,
	RECEIVE_EMPTY,
	RECEIVE_BAD,			/* malformed or unreadable: completed with an error */
	RECEIVE_GONE,			/* the queue pair went to ERROR */
};

/* Look at the RQ's next entry without taking it; rdma_take_receive() takes it. */
enum receive_result rdma_peek_receive(struct rdma_qp *rdma, struct receive_wqe *wqe);
void rdma_take_receive(struct rdma_qp *rdma);

/* Who the SGEs of its receives belong to: with an SRQ, that one's PD counts. */
const struct key_user *rdma_receive_user(const struct rdma_qp *rdma);

/* It forgets its message: complete, flushed, the entry of an SRQ that it holds. */
void rdma_release_receive(struct qp *qp);
/* It takes no more entries of its SRQ: the same, and LAST_WQE. */
void rdma_last_receive(struct qp *qp);

/* A request came: in RTR the host is told so, once. */
void rdma_established(struct rdma_qp *rdma);

/* Go to ERROR: all that is posted and will be posted is flushed. @event 0: none. */
void rdma_fail(struct qp *qp, uint8_t event);
/* Flush up to @budget entries of each queue; true when there is more. */
bool rdma_flush(struct rdma_qp *rdma, unsigned int budget);
/* Flush the SQ only, for SQE; true when there is more. */
bool rdma_flush_send(struct rdma_qp *rdma, unsigned int budget);

/* qp_modify.c */
uint16_t rdma_modify(struct qp *qp, struct command *command);
uint16_t rdma_query(struct qp *qp, struct tern_qp_status *status);

/* rc_requester.c */
bool rc_requester_send(struct egress_source *source);
void rc_requester_timer(struct tern_nic *nic, struct timer *timer);
void rc_requester_reset(struct rdma_qp *rdma);
/* Give back what the ring, which is empty, has beyond REQUESTS_MIN. */
void rc_requester_shrink(struct rdma_qp *rdma);
/* Make @psn the next one to send; it is between acked and high. */
void rc_requester_seek(struct rdma_qp *rdma, uint32_t psn);
/* The same, since it got lost: send again from there on. */
void rc_requester_go_back(struct rdma_qp *rdma, uint32_t psn);
/* Forget the READs and atomics that are answered in full. */
void rc_requester_reads_done(struct rdma_qp *rdma);
/* Send nothing for @ns. */
void rc_requester_wait_rnr(struct rdma_qp *rdma, uint64_t ns);
/* (Re)start the retransmission timer, or stop it when nothing waits. */
void rc_requester_restart_timer(struct rdma_qp *rdma);
/* Tell the host, once, when all that was begun in SQD is complete. */
void rc_requester_drained(struct rdma_qp *rdma);

/* Its response brings data. */
static inline bool brings_data(uint8_t opcode)
{
	return opcode == TERN_WQE_READ || opcode == TERN_WQE_CAS || opcode == TERN_WQE_FETCH_ADD;
}

/* It takes one of initiator_depth, and no acknowledge, only its response, completes it. */
static inline bool awaits_response(uint8_t opcode)
{
	return brings_data(opcode) || opcode == TERN_WQE_ATOMIC_WRITE || opcode == TERN_WQE_FLUSH;
}

/* The packets of a READ request that starts at @packet of a work request of @packets. */
static inline uint32_t read_part(uint32_t packet, uint32_t packets)
{
	uint32_t part = READ_PACKETS_MAX - packet % READ_PACKETS_MAX;

	return part < packets - packet ? part : packets - packet;
}

static inline struct request *requester_at(const struct requester *requester, uint32_t place)
{
	return &requester->ring[place & (requester->ring_size - 1)];
}

/* rc_local.c */
bool rc_local_opcode(uint8_t opcode);
/* Do requester's next request, which sends nothing. False: not yet, what is before it waits. */
bool rc_local_execute(struct rdma_qp *rdma, struct request *request);

static inline uint32_t request_key(const struct request *request)
{
	__le32 key;

	memcpy(&key, request->immediate, sizeof(key));
	return from_le32(key);
}

/* rc_completer.c */
void rc_completer_receive(struct rdma_qp *rdma, const struct wire_packet *packet);
/* Complete what is at the ring's head and done, or failed before it was sent. */
void rc_completer_run(struct rdma_qp *rdma);
/* Complete the oldest request with an error and go to ERROR, or SQE (UC). */
void rc_completer_fail(struct rdma_qp *rdma, uint8_t status);

/* rc_responder.c */
void rc_responder_receive(struct rdma_qp *rdma, const struct wire_packet *packet);
/* Answer with a NAK that ends the connection; @event may be 0. */
void rc_responder_refuse(struct rdma_qp *rdma, uint8_t code, uint8_t event);

/* Memory that the peer's request names is absent: it waits, or the host says it is not to come. */
void rc_responder_absent(struct rdma_qp *rdma);

/*
 * May the peer have the range that it names? Without data none is needed
 * (IBTA C9-88), and key 0 says so; a key that is named all the same is checked,
 * only its bounds are not.
 */
bool rc_responder_allows(struct rdma_qp *rdma, const struct wire_headers *headers,
			 uint32_t access);
/* The first packet of a WRITE, RC's or UC's. 0, or the WIRE_NAK_* that it deserves. */
uint8_t rc_responder_begin_write(struct rdma_qp *rdma, const struct wire_headers *headers);

/* Count the request that ends with this packet, which was executed. */
void rc_responder_count(struct rdma_qp *rdma, const struct wire_packet *packet);

/* rc_atomic.c */
/* Check and execute; *original: what was there. False: it is refused, and the peer told so. */
bool rc_atomic_execute(struct rdma_qp *rdma, const struct wire_packet *packet,
		       uint64_t *original);
/* What the atomic with @psn found when it was executed; false: nobody knows any more. */
bool rc_atomic_result(const struct rdma_qp *rdma, uint32_t psn, uint64_t *original);

/* rc_placement.c: an ATOMIC_WRITE or FLUSH. False: it is refused, and the peer told so. */
bool rc_placement_execute(struct rdma_qp *rdma, const struct wire_packet *packet);

/* rc_respond.c */
bool rc_respond_send(struct egress_source *source);

/* uc.c */
void uc_receive(struct rdma_qp *rdma, const struct wire_packet *packet);

/* ud.c */
bool ud_send(struct egress_source *source);
void ud_receive(struct rdma_qp *rdma, const struct wire_packet *packet);
/* To its next receive; false: a page of that is absent, @packet waits. */
bool ud_deliver(struct rdma_qp *rdma, const struct wire_packet *packet);

#endif /* TERN_RDMA_QP_H */
