// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: RDMA for tests. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_rdma.h"

#define PATIENCE_NS	UINT64_C(100000000000)
#define GID_INDEX	3
#define VLAN		77
#define XRCD		9
#define XRC_SRQ_SHIFT	8

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "rdma for tests: %s\n", what);
	abort();
}

uint16_t rdma_set_gid(struct driver *driver, uint32_t index, const uint8_t *gid,
		      const uint8_t *mac, uint8_t type, int vlan)
{
	struct tern_command_set_gid body = { .type = type };

	if (type != TERN_GID_TYPE_NONE) {
		memcpy(body.gid, gid, 16);
		memcpy(body.mac, mac, 6);
		if (vlan >= 0) {
			body.flags = TERN_GID_VLAN;
			body.vlan_id = htole16((uint16_t)vlan);
		}
	}
	return driver_command(driver, TERN_COMMAND_SET_GID, index, &body, sizeof(body));
}

uint16_t rdma_set_port(struct driver *driver, uint32_t mtu, uint8_t state)
{
	struct tern_command_set_port body = { .mtu = htole32(mtu), .admin_state = state };

	return driver_command(driver, TERN_COMMAND_SET_PORT, 0, &body, sizeof(body));
}

static void choose_gid(uint8_t *gid, enum rdma_network network, unsigned int number)
{
	static const uint8_t ipv4[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 1, [14] = 2
	};
	static const uint8_t ipv6[16] = { [0] = 0xfd, [1] = 0x12, [8] = 0x55 };

	if (network == RDMA_V2_IPV4 || network == RDMA_V2_IPV4_VLAN)
		memcpy(gid, ipv4, 16);
	else
		memcpy(gid, ipv6, 16);
	gid[15] = (uint8_t)(number + 1);
}

void rdma_side_start(struct rdma_side *side, struct machine *machine,
		     const struct rdma_options *options, unsigned int number)
{
	uint8_t type = options->network == RDMA_V1 ? TERN_GID_TYPE_ROCE_V1 : TERN_GID_TYPE_ROCE_V2;
	int vlan = options->network == RDMA_V2_IPV4_VLAN ? VLAN : -1;

	side->machine = machine;
	if (!side->driver) {
		side->driver = &side->own_driver;
		driver_start(side->driver, machine, 0, options->without_features);
		must(!rdma_set_port(side->driver, 9000, TERN_PORT_UP), "SET_PORT");
	}
	choose_gid(side->gid, options->network, number);
	memcpy(side->mac, (uint8_t[]){ 0x02, 0x54, 0x45, 0x52, (uint8_t)number, 0x10 }, 6);
	if (options->loopback)
		side->mac[4] = 0;
	side->gid_index = (uint16_t)(GID_INDEX + number);
	must(!rdma_set_gid(side->driver, side->gid_index, side->gid, side->mac, type, vlan),
	     "SET_GID");
}

static void xrc_objects(struct rdma_side *side, bool target, uint8_t sq_shift)
{
	side->driver->xrcd = XRCD;
	if (target)
		driver_srq_create_xrc(side->driver, &side->srq, RDMA_PD, XRC_SRQ_SHIFT,
				      &side->receive_cq);
	driver_qp_create(side->driver, &side->qp,
			 target ? TERN_QP_XRC_TARGET : TERN_QP_XRC_INITIATOR, 0, RDMA_PD,
			 TERN_QP_NO_RQ | (target ? TERN_QP_NO_SQ : 0), &side->send_cq, NULL,
			 sq_shift, 0, 0);
}

void rdma_side_objects(struct rdma_side *side, const struct rdma_options *options)
{
	uint8_t sq_shift = options->sq_shift ? options->sq_shift : 10;
	uint8_t rq_shift = options->rq_shift ? options->rq_shift : 8;

	side->buffer_bytes = options->buffer_bytes ? options->buffer_bytes : 1 << 20;
	side->buffer = host_alloc(side->machine, side->buffer_bytes, 4096);
	side->key = driver_key_create(side->driver, side->buffer, side->buffer_bytes,
				      RDMA_ALL_ACCESS, RDMA_PD);
	driver_cq_create(side->driver, &side->send_cq, 11);
	driver_cq_create(side->driver, &side->receive_cq, 11);
	if (side->is_b && options->srq_shift)
		driver_srq_create(side->driver, &side->srq, RDMA_PD, options->srq_shift);
	if (options->type == TERN_QP_XRC_INITIATOR) {
		xrc_objects(side, options->a_is_target != side->is_b, sq_shift);
		return;
	}
	driver_qp_create(side->driver, &side->qp, options->type, 0, RDMA_PD,
			 (options->privileged ? TERN_QP_PRIVILEGED : 0) |
			 (side->srq.srqn ? TERN_QP_USES_SRQ : 0), &side->send_cq,
			 &side->receive_cq, sq_shift, rq_shift, 9);
}

void rdma_attributes(const struct rdma_side *side, const struct rdma_side *peer,
		     const struct rdma_options *o, bool is_a,
		     struct tern_qp_attributes *attributes)
{
	struct tern_address_vector *vector = &attributes->address;

	memset(attributes, 0, sizeof(*attributes));
	memcpy(vector->destination_gid, peer->gid, 16);
	memcpy(vector->destination_mac, peer->mac, 6);
	vector->source_gid_index = htole16(side->gid_index);
	vector->flow_label = htole32(o->flow_label);
	vector->traffic_class = o->traffic_class;
	vector->hop_limit = o->hop_limit ? o->hop_limit : 64;
	vector->service_level = o->service_level;
	attributes->remote_qpn = htole32(peer->qp.qpn);
	attributes->qkey = htole32(RDMA_QKEY);
	attributes->sq_psn = htole32(is_a ? o->sq_psn : o->rq_psn);
	attributes->rq_psn = htole32(is_a ? o->rq_psn : o->sq_psn);
	attributes->access = htole32(o->access ? o->access : RDMA_ALL_ACCESS &
							     ~TERN_ACCESS_LOCAL_WRITE);
	attributes->path_mtu = o->path_mtu ? o->path_mtu : 5;
	attributes->timeout = o->timeout || o->no_timeout ? o->timeout : 14;
	attributes->retry_count = o->retry_count || o->no_retry ? o->retry_count : 7;
	attributes->rnr_retry = o->rnr_retry || o->no_rnr_retry ? o->rnr_retry : 7;
	attributes->min_rnr_timer = o->min_rnr_timer || o->longest_rnr_timer ?
				    o->min_rnr_timer : 1;
	attributes->initiator_depth = o->initiator_depth || o->no_reads ? o->initiator_depth : 16;
	attributes->responder_resources = o->responder_resources || o->no_reads ?
					  o->responder_resources : 16;
}

static bool connected(const struct rdma_side *side)
{
	return side->qp.type != TERN_QP_UD && side->qp.type != TERN_QP_GSI;
}

uint16_t rdma_to_rtr(struct rdma_side *side, const struct tern_qp_attributes *attributes)
{
	uint32_t mask = TERN_QP_SET_PKEY_INDEX;
	uint16_t status;

	mask |= connected(side) ? TERN_QP_SET_ACCESS : TERN_QP_SET_QKEY;
	status = driver_qp_modify(&side->qp, TERN_QP_INIT, mask, attributes);
	if (status)
		return status;
	mask = 0;
	if (connected(side))
		mask = TERN_QP_SET_ADDRESS | TERN_QP_SET_REMOTE_QPN | TERN_QP_SET_RQ_PSN |
		       TERN_QP_SET_PATH_MTU;
	if (connected(side) && side->qp.type != TERN_QP_UC)
		mask |= TERN_QP_SET_RESPONDER_RESOURCES | TERN_QP_SET_MIN_RNR_TIMER;
	return driver_qp_modify(&side->qp, TERN_QP_RTR, mask, attributes);
}

uint16_t rdma_to_rts(struct rdma_side *side, const struct tern_qp_attributes *attributes)
{
	uint32_t mask = TERN_QP_SET_SQ_PSN;

	if (connected(side) && side->qp.type != TERN_QP_UC)
		mask |= TERN_QP_SET_TIMEOUT | TERN_QP_SET_RETRY_COUNT | TERN_QP_SET_RNR_RETRY |
			TERN_QP_SET_INITIATOR_DEPTH;
	return driver_qp_modify(&side->qp, TERN_QP_RTS, mask, attributes);
}

static void connect(struct rdma_pair *pair, struct rdma_side *side, bool rts)
{
	struct tern_qp_attributes attributes;

	rdma_attributes(side, rdma_peer(pair, side), &pair->options, side == &pair->a,
			&attributes);
	must(!rdma_to_rtr(side, &attributes), "MODIFY_QP to RTR");
	if (rts)
		must(!rdma_to_rts(side, &attributes), "MODIFY_QP to RTS");
}

void rdma_pair_create(struct rdma_pair *pair, const struct rdma_options *options)
{
	struct tern_nic_config config = {
		.functions = 1, .seed = options->seed ? options->seed : 1,
		.no_shortcuts = options->no_shortcuts, .speed_mbps = options->speed_mbps,
		.host_mbps = options->host_mbps,
		.device_memory = HOST_DEVICE_MEMORY,
	};
	struct machine *a, *b;

	memset(pair, 0, sizeof(*pair));
	pair->options = *options;
	pair->world = world_create();
	a = machine_create(pair->world, &config, 0);
	if (options->loopback) {
		b = a;
		tern_nic_set_carrier(a->nic, true);
	} else {
		config.seed += 1000;
		b = machine_create(pair->world, &config, 0);
		host_cable(a, b, options->latency_ns);
	}
	rdma_side_start(&pair->a, a, options, 0);
	if (options->loopback)
		pair->b.driver = pair->a.driver;
	rdma_side_start(&pair->b, b, options, 1);
	pair->b.is_b = true;
	rdma_side_objects(&pair->a, options);
	rdma_side_objects(&pair->b, options);
	if (getenv("TERN_TEST_LOG")) {
		tern_nic_trace_qp(a->nic, 0, pair->a.qp.qpn, true);
		tern_nic_trace_qp(b->nic, 0, pair->b.qp.qpn, true);
	}
	connect(pair, &pair->a, true);
	connect(pair, &pair->b, !options->stay_in_rtr);
}

void rdma_pair_destroy(struct rdma_pair *pair)
{
	world_destroy(pair->world);
}

struct rdma_side *rdma_peer(struct rdma_pair *pair, struct rdma_side *side)
{
	return side == &pair->a ? &pair->b : &pair->a;
}

void rdma_vector(const struct rdma_pair *pair, const struct rdma_side *from,
		 struct tern_address_vector *vector)
{
	const struct rdma_side *to = from == &pair->a ? &pair->b : &pair->a;
	struct tern_qp_attributes attributes;

	rdma_attributes(from, to, &pair->options, from == &pair->a, &attributes);
	*vector = attributes.address;
	vector->remote_qpn = htole32(to->qp.qpn);
	vector->qkey = htole32(RDMA_QKEY);
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == TERN_WQE_CAS || opcode == TERN_WQE_FETCH_ADD;
}

static bool has_remote(uint8_t opcode)
{
	return opcode == TERN_WQE_WRITE || opcode == TERN_WQE_WRITE_IMMEDIATE ||
	       opcode == TERN_WQE_READ || opcode == TERN_WQE_ATOMIC_WRITE ||
	       opcode == TERN_WQE_FLUSH || is_atomic(opcode);
}

uint32_t rdma_post(struct rdma_pair *pair, struct rdma_side *side,
		   const struct rdma_request *request)
{
	const struct rdma_side *peer = rdma_peer(pair, side);
	uint64_t words[TERN_WQE_BYTES_MAX / 8] = { 0 };
	uint8_t *wqe = (uint8_t *)words;
	struct tern_wqe_control *control = (void *)wqe;
	size_t place = sizeof(*control);
	struct tern_sge sge = {
		.address = htole64(request->address ? request->address : side->buffer),
		.length = htole32(request->length),
		.key = htole32(request->key ? request->key : side->key),
	};
	const struct tern_sge *sges = request->sge_count ? request->sges : &sge;
	unsigned int count = request->sge_count ? request->sge_count : 1;
	bool flush = request->opcode == TERN_WQE_FLUSH;
	uint32_t immediate = flush || request->opcode == TERN_WQE_SEND_INVALIDATE ?
			     htole32(request->immediate) : htobe32(request->immediate);

	control->opcode = request->opcode;
	control->flags = request->flags;
	if (!request->unsignaled)
		control->flags |= TERN_WQE_SIGNALED;
	memcpy(control->immediate, &immediate, 4);
	if (side->qp.type == TERN_QP_XRC_INITIATOR)
		control->remote_srqn = htole32(request->remote_srqn ? request->remote_srqn :
							peer->srq.srqn);
	if (has_remote(request->opcode)) {
		struct tern_wqe_remote remote = {
			.address = htole64(request->remote_address ? request->remote_address :
								     peer->buffer),
			.key = htole32(request->remote_key ? request->remote_key : peer->key),
			.length = htole32(flush ? request->length : 0),
		};

		memcpy(wqe + place, &remote, sizeof(remote));
		place += sizeof(remote);
	}
	if (is_atomic(request->opcode)) {
		struct tern_wqe_atomic atomic = {
			.swap_add = htole64(request->swap_add),
			.compare = htole64(request->compare),
		};

		memcpy(wqe + place, &atomic, sizeof(atomic));
		place += sizeof(atomic);
	}
	if (!connected(side) && request->opcode != TERN_WQE_NOP) {
		struct tern_address_vector vector;

		rdma_vector(pair, side, &vector);
		if (request->vector)
			vector = *request->vector;
		memcpy(wqe + place, &vector, sizeof(vector));
		place += sizeof(vector);
	}
	if (request->inlined) {
		control->flags |= TERN_WQE_INLINE;
		control->inline_length = htole16((uint16_t)request->length);
		memcpy(wqe + place, request->inlined, request->length);
		place += request->length;
	} else if (request->opcode != TERN_WQE_NOP && !flush) {
		control->sge_count = (uint8_t)count;
		memcpy(wqe + place, sges, count * sizeof(*sges));
		place += count * sizeof(*sges);
	}
	return driver_post_send(&side->qp, wqe, (unsigned int)(place + 63) / 64);
}

uint32_t rdma_post_local(struct rdma_side *side, uint8_t opcode, uint32_t key,
			 const void *segment, size_t length)
{
	uint64_t words[TERN_WQE_BYTES_MAX / 8] = { 0 };
	struct tern_wqe_control *control = (void *)words;
	uint32_t named = htole32(key);

	control->opcode = opcode;
	control->flags = TERN_WQE_SIGNALED;
	memcpy(control->immediate, &named, sizeof(named));
	if (length)
		memcpy(control + 1, segment, length);
	return driver_post_send(&side->qp, words,
				(unsigned int)(sizeof(*control) + length + 63) / 64);
}

uint32_t rdma_post_receive(struct rdma_side *side, uint64_t offset, uint32_t length)
{
	struct tern_sge sge = {
		.address = htole64(side->buffer + offset), .length = htole32(length),
		.key = htole32(side->key),
	};

	return side->srq.srqn ? driver_srq_post(&side->srq, &sge, 1) :
				driver_post_receive(&side->qp, &sge, 1);
}

uint8_t *rdma_memory(struct rdma_side *side, uint64_t offset)
{
	return host_pointer(side->machine, side->buffer + offset);
}

void rdma_fill(uint8_t *bytes, size_t length, uint32_t seed)
{
	uint32_t state = seed * 2654435761U + 12345;

	for (size_t i = 0; i < length; i++) {
		state = state * 1664525U + 1013904223U;
		bytes[i] = (uint8_t)(state >> 24);
	}
}

struct waiting {
	struct driver_cq *cq;
	struct tern_cqe *cqe;
	bool done;
};

static bool completed(void *arg)
{
	struct waiting *waiting = arg;

	if (!waiting->done)
		waiting->done = driver_cq_poll(waiting->cq, waiting->cqe);
	return waiting->done;
}

void rdma_wait(struct rdma_pair *pair, struct driver_cq *cq, struct tern_cqe *cqe)
{
	struct waiting waiting = { .cq = cq, .cqe = cqe };

	must(world_wait(pair->world, completed, &waiting, PATIENCE_NS), "no completion came");
}

bool rdma_none(struct driver_cq *cq)
{
	struct tern_cqe cqe;

	return !driver_cq_poll(cq, &cqe);
}

bool rdma_event(struct rdma_side *side, struct tern_eqe *eqe)
{
	while (driver_eq_poll(side->driver, &side->driver->eq, eqe)) {
		if (eqe->type != TERN_EVENT_COMPLETION && eqe->type != TERN_EVENT_PORT_STATE)
			return true;
	}
	return false;
}

uint64_t rdma_counter(struct rdma_side *side, const char *name)
{
	return host_counter(side->machine, 0, name);
}

void rdma_qp_status(struct rdma_side *side, struct tern_qp_status *status)
{
	uint64_t address = host_alloc(side->machine, sizeof(*status), 8);
	struct tern_command_query body = {
		.address = htole64(address), .length = htole32(sizeof(*status)),
	};

	must(!driver_command(side->driver, TERN_COMMAND_QUERY_QP, side->qp.qpn, &body,
			     sizeof(body)), "QUERY_QP");
	memcpy(status, host_pointer(side->machine, address), sizeof(*status));
}
