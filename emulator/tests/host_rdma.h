/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: RDMA for tests: a connected pair of QPs on two machines, or on one by loopback. */
#ifndef TERN_HOST_RDMA_H
#define TERN_HOST_RDMA_H

#include "host_driver.h"
#include "host_srq.h"
#include "tern_hw_ethernet.h"
#include "tern_hw_memory.h"

#define RDMA_PD			5
#define RDMA_QKEY		0x11112222
#define RDMA_ALL_ACCESS							\
	(TERN_ACCESS_LOCAL_WRITE | TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ |	\
	 TERN_ACCESS_REMOTE_ATOMIC)

enum rdma_network {
	RDMA_V2_IPV4,
	RDMA_V2_IPV6,
	RDMA_V1,
	RDMA_V2_IPV4_VLAN,
};

struct rdma_options {
	enum rdma_network network;
	/* TERN_QP_RC (0), TERN_QP_UC, TERN_QP_UD, TERN_QP_XRC_INITIATOR: then b is a target */
	uint8_t type;
	bool a_is_target;		/* with XRC_INITIATOR: the other way round */
	uint8_t path_mtu;		/* code 1..5; 0: 5 (4096) */
	bool no_shortcuts;
	bool loopback;			/* both ends on one machine */
	uint64_t latency_ns;
	uint8_t timeout;		/* 0: 14 (67 ms) unless no_timeout */
	bool no_timeout;
	uint8_t retry_count;		/* 0: 7 unless no_retry */
	bool no_retry;
	uint8_t rnr_retry;		/* 0: 7 unless no_rnr_retry */
	bool no_rnr_retry;
	uint8_t min_rnr_timer;		/* 0: 1 (10 us) unless longest_rnr_timer */
	bool longest_rnr_timer;
	uint8_t initiator_depth;	/* 0: 16 unless no_reads */
	uint8_t responder_resources;	/* 0: 16 unless no_reads */
	bool no_reads;
	uint32_t access;		/* of the QPs; 0: all remote rights */
	uint32_t sq_psn, rq_psn;	/* a's; b's are the other way round */
	uint8_t traffic_class;
	uint8_t hop_limit;		/* 0: 64 */
	uint32_t flow_label;
	uint8_t service_level;
	uint8_t sq_shift, rq_shift;	/* 0: 10 and 8 */
	uint64_t speed_mbps, host_mbps;
	uint64_t buffer_bytes;		/* 0: 1 MiB */
	bool privileged;		/* both QPs */
	uint8_t srq_shift;		/* not 0: b's QP has an SRQ of so many entries */
	bool stay_in_rtr;		/* b is not taken to RTS */
	uint64_t without_features;	/* of those that are offered */
	uint64_t seed;
};

struct rdma_side {
	bool is_b;
	struct machine *machine;
	struct driver *driver;
	struct driver own_driver;
	struct driver_cq send_cq, receive_cq;
	struct driver_qp qp;
	struct driver_srq srq;		/* b's, with srq_shift */
	uint64_t buffer;		/* bus address; also the key's address */
	uint64_t buffer_bytes;
	uint32_t key;
	uint8_t gid[16];
	uint8_t mac[6];
	uint16_t gid_index;
};

struct rdma_pair {
	struct world *world;
	struct rdma_options options;
	struct rdma_side a, b;
};

/* All of it: port up with MTU 9000, GID, CQs, QPs, a buffer with a key; QPs in RTS. */
void rdma_pair_create(struct rdma_pair *pair, const struct rdma_options *options);
void rdma_pair_destroy(struct rdma_pair *pair);

/* Bring up a machine's function 0: driver, port, GID at @index. */
void rdma_side_start(struct rdma_side *side, struct machine *machine,
		     const struct rdma_options *options, unsigned int number);
/* Its CQs, a QP in RESET, and the buffer. */
void rdma_side_objects(struct rdma_side *side, const struct rdma_options *options);
/* The attributes that connect @side to @peer. */
void rdma_attributes(const struct rdma_side *side, const struct rdma_side *peer,
		     const struct rdma_options *options, bool is_a,
		     struct tern_qp_attributes *attributes);
/* RESET to RTR, and RTR to RTS. Return the first status that is not OK. */
uint16_t rdma_to_rtr(struct rdma_side *side, const struct tern_qp_attributes *attributes);
uint16_t rdma_to_rts(struct rdma_side *side, const struct tern_qp_attributes *attributes);
uint16_t rdma_set_gid(struct driver *driver, uint32_t index, const uint8_t *gid,
		      const uint8_t *mac, uint8_t type, int vlan);
uint16_t rdma_set_port(struct driver *driver, uint32_t mtu, uint8_t state);

/* A work request; the SGE list is sges when sge_count is set, else one SGE (address, length). */
struct rdma_request {
	uint8_t opcode;			/* TERN_WQE_* */
	uint8_t flags;			/* beside SIGNALED */
	bool unsignaled;
	uint64_t address;		/* 0: the side's buffer */
	uint32_t length;
	uint32_t key;			/* 0: the side's */
	const struct tern_sge *sges;
	unsigned int sge_count;
	const void *inlined;		/* length bytes */
	uint64_t remote_address;	/* 0: the peer's buffer */
	uint32_t remote_key;		/* 0: the peer's */
	uint32_t remote_srqn;		/* XRC; 0: the peer's */
	uint64_t swap_add, compare;	/* atomics */
	uint32_t immediate;		/* or the key to invalidate, or TERN_FLUSH_* */
	const struct tern_address_vector *vector;	/* UD; NULL: to the peer */
};

/* Returns the index of its first block. */
uint32_t rdma_post(struct rdma_pair *pair, struct rdma_side *side,
		   const struct rdma_request *request);
/* A work request without data whose segment behind the control is given; @key: to invalidate. */
uint32_t rdma_post_local(struct rdma_side *side, uint8_t opcode, uint32_t key,
			 const void *segment, size_t length);
/* Receive into [address, address + length) of the side's buffer. With an SRQ: the tag. */
uint32_t rdma_post_receive(struct rdma_side *side, uint64_t offset, uint32_t length);
void rdma_vector(const struct rdma_pair *pair, const struct rdma_side *from,
		 struct tern_address_vector *vector);

struct rdma_side *rdma_peer(struct rdma_pair *pair, struct rdma_side *side);
uint8_t *rdma_memory(struct rdma_side *side, uint64_t offset);
/* Bytes that depend on their place and @seed. */
void rdma_fill(uint8_t *bytes, size_t length, uint32_t seed);

/* The next completion, letting up to 100 s pass; the test fails when there is none. */
void rdma_wait(struct rdma_pair *pair, struct driver_cq *cq, struct tern_cqe *cqe);
/* No completion is there now. */
bool rdma_none(struct driver_cq *cq);
/* The next event of the machine that is not a completion's; false: none. */
bool rdma_event(struct rdma_side *side, struct tern_eqe *eqe);
uint64_t rdma_counter(struct rdma_side *side, const char *name);
/* State of the side's QP as QUERY_QP says. */
void rdma_qp_status(struct rdma_side *side, struct tern_qp_status *status);

#endif /* TERN_HOST_RDMA_H */
