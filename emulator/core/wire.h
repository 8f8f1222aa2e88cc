/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: RoCE packets as they stand on the wire. Pure: a table of opcodes says
 * which headers a packet has; building and parsing both follow it.
 *
 * IBTA volume 1, 5.2 (headers), 9.2 (BTH), 9.3 (extended headers), annexes
 * A16 (RoCE v1) and A17 (RoCE v2).
 */
#ifndef TERN_WIRE_H
#define TERN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tern_nic.h"

#define WIRE_ETHERNET_BYTES	14
#define WIRE_VLAN_BYTES		4
#define WIRE_IPV4_BYTES		20
#define WIRE_IPV6_BYTES		40	/* also a GRH */
#define WIRE_UDP_BYTES		8
#define WIRE_BTH_BYTES		12
#define WIRE_ICRC_BYTES		4
#define WIRE_EXTENSION_BYTES_MAX 32
/* Ethernet with tag, IPv6, UDP */
#define WIRE_PATH_BYTES_MAX	66
#define WIRE_HEADER_BYTES_MAX	(WIRE_PATH_BYTES_MAX + WIRE_BTH_BYTES + WIRE_EXTENSION_BYTES_MAX)
/* A RoCE packet of the largest path MTU. */
#define WIRE_PACKET_BYTES_MAX	(WIRE_HEADER_BYTES_MAX + 4096 + WIRE_ICRC_BYTES)

#define WIRE_PSN_MASK		0xffffffU
#define WIRE_QPN_MASK		0xffffffU
#define WIRE_QPN_MULTICAST	0xffffffU
#define WIRE_PKEY_DEFAULT	0xffffU
#define WIRE_PKEY_FULL_MEMBER	0x8000U
#define WIRE_GRH_NEXT_HEADER	0x1b
#define WIRE_V2_UDP_PORT	4791

/* Opcodes: service in bits 7:5, operation below. */
#define WIRE_SERVICE_RC		0x00
#define WIRE_SERVICE_UC		0x20
#define WIRE_SERVICE_UD		0x60
#define WIRE_SERVICE_XRC	0xa0
#define WIRE_SERVICE_MASK	0xe0
#define WIRE_OPERATION_MASK	0x1f

#define WIRE_RC_SEND_FIRST		0x00
#define WIRE_RC_SEND_MIDDLE		0x01
#define WIRE_RC_SEND_LAST		0x02
#define WIRE_RC_SEND_LAST_IMMEDIATE	0x03
#define WIRE_RC_SEND_ONLY		0x04
#define WIRE_RC_SEND_ONLY_IMMEDIATE	0x05
#define WIRE_RC_WRITE_FIRST		0x06
#define WIRE_RC_WRITE_MIDDLE		0x07
#define WIRE_RC_WRITE_LAST		0x08
#define WIRE_RC_WRITE_LAST_IMMEDIATE	0x09
#define WIRE_RC_WRITE_ONLY		0x0a
#define WIRE_RC_WRITE_ONLY_IMMEDIATE	0x0b
#define WIRE_RC_READ_REQUEST		0x0c
#define WIRE_RC_READ_RESPONSE_FIRST	0x0d
#define WIRE_RC_READ_RESPONSE_MIDDLE	0x0e
#define WIRE_RC_READ_RESPONSE_LAST	0x0f
#define WIRE_RC_READ_RESPONSE_ONLY	0x10
#define WIRE_RC_ACKNOWLEDGE		0x11
#define WIRE_RC_ATOMIC_ACKNOWLEDGE	0x12
#define WIRE_RC_CAS			0x13
#define WIRE_RC_FETCH_ADD		0x14
#define WIRE_RC_SEND_LAST_INVALIDATE	0x16
#define WIRE_RC_SEND_ONLY_INVALIDATE	0x17
#define WIRE_RC_FLUSH			0x1c
#define WIRE_RC_ATOMIC_WRITE		0x1d
/* UC's SENDs and WRITEs, and all of XRC: as RC's, of service UC and XRC. */
#define WIRE_UD_SEND_ONLY		0x64
#define WIRE_UD_SEND_ONLY_IMMEDIATE	0x65
#define WIRE_CNP			0x81

/* Extended transport headers, in the order in which they stand in a packet. */
enum wire_extension {
	WIRE_DETH = 1 << 0,		/* 8 bytes */
	WIRE_RETH = 1 << 1,		/* 16 */
	WIRE_ATOMIC_ETH = 1 << 2,	/* 28 */
	WIRE_AETH = 1 << 3,		/* 4 */
	WIRE_ATOMIC_ACK_ETH = 1 << 4,	/* 8 */
	WIRE_IMMDT = 1 << 5,		/* 4 */
	WIRE_IETH = 1 << 6,		/* 4 */
	WIRE_CNP_RESERVED = 1 << 7,	/* 16 */
	WIRE_XRCETH = 1 << 8,		/* 4; first of all */
	WIRE_FETH = 1 << 9,		/* 4; in front of the RETH */
};

enum wire_operation {
	WIRE_OP_SEND,
	WIRE_OP_WRITE,
	WIRE_OP_READ,
	WIRE_OP_ATOMIC,
	WIRE_OP_FLUSH,
	WIRE_OP_ATOMIC_WRITE,
	WIRE_OP_READ_RESPONSE,
	WIRE_OP_ACKNOWLEDGE,
	WIRE_OP_CNP,
};

enum wire_opcode_flag {
	WIRE_REQUEST = 1 << 0,		/* goes to the responder; else to the requester */
	WIRE_STARTS = 1 << 1,		/* first or only packet of its message */
	WIRE_ENDS = 1 << 2,		/* last or only packet */
	WIRE_PAYLOAD = 1 << 3,		/* may carry payload */
};

struct wire_opcode {
	const char *name;		/* NULL: no such opcode */
	uint16_t extensions;		/* enum wire_extension */
	uint8_t extension_bytes;
	uint8_t flags;			/* enum wire_opcode_flag */
	uint8_t operation;		/* enum wire_operation */
};

/* What the table says of @opcode; NULL when there is none. */
const struct wire_opcode *wire_opcode(uint8_t opcode);

enum wire_network {
	WIRE_V1,			/* ethertype 0x8915, GRH */
	WIRE_V2_IPV4,
	WIRE_V2_IPV6,
};

/* BTH and extended headers, decoded. Which of the latter are valid the opcode says. */
struct wire_headers {
	uint8_t opcode;
	bool solicited;
	bool ack_request;
	bool becn;
	uint8_t pad;			/* 0..3 */
	uint16_t pkey;
	uint32_t destination_qpn;
	uint32_t psn;
	struct {
		uint64_t address;
		uint32_t key;
		uint32_t length;
	} reth;
	struct {
		uint64_t address;
		uint32_t key;
		uint64_t swap_add;
		uint64_t compare;
	} atomic;
	struct {
		uint8_t syndrome;
		uint32_t msn;
	} aeth;
	uint64_t atomic_original;
	struct {
		uint32_t qkey;
		uint32_t source_qpn;
	} deth;
	uint8_t immediate[4];		/* as on the wire */
	uint32_t invalidate_key;
	uint32_t srqn;			/* XRC */
	uint32_t feth;			/* TERN_FLUSH_* */
};

/* AETH syndrome: kind in bits 6:5 (IBTA 9.7.5.1 table 43), bit 7 zero. */
#define WIRE_AETH_KIND		0x60
#define WIRE_AETH_ACK		0x00	/* credits in bits 4:0 */
#define WIRE_AETH_RNR_NAK	0x20	/* timer in bits 4:0 */
#define WIRE_AETH_NAK		0x60	/* code in bits 4:0 */
#define WIRE_AETH_VALUE		0x1f
#define WIRE_CREDITS_UNLIMITED	0x1f
#define WIRE_NAK_SEQUENCE	0
#define WIRE_NAK_INVALID_REQUEST 1
#define WIRE_NAK_REMOTE_ACCESS	2
#define WIRE_NAK_REMOTE_OPERATION 3

/* From whom to whom, and how. */
struct wire_address {
	enum wire_network network;
	uint8_t destination_mac[6];
	uint8_t source_mac[6];
	bool vlan;
	uint16_t vlan_id;
	uint8_t priority;
	uint8_t source_gid[16];
	uint8_t destination_gid[16];
	uint32_t flow_label;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint16_t udp_source_port;
};

/* The headers below the BTH, made once for many packets. */
struct wire_path {
	enum wire_network network;
	uint8_t priority;
	uint8_t l3_offset;
	uint8_t length;
	uint32_t ipv4_sum;		/* of the header without length and identification */
	uint8_t bytes[WIRE_PATH_BYTES_MAX];
};

void wire_path_build(struct wire_path *path, const struct wire_address *address);
/* The same path in another class, of another priority. */
void wire_path_set_class(struct wire_path *path, uint8_t traffic_class, uint8_t priority);

/*
 * Write all headers of a packet with @payload_length bytes of payload to
 * @buffer (WIRE_HEADER_BYTES_MAX there); sets headers->pad. Returns their
 * length.
 */
size_t wire_build(uint8_t *buffer, const struct wire_path *path, struct wire_headers *headers,
		  size_t payload_length, uint16_t identification);

/* A packet that came. Pointers are into the frame. */
struct wire_packet {
	struct wire_headers headers;
	const struct wire_opcode *opcode;
	enum wire_network network;
	const uint8_t *destination_mac;
	const uint8_t *source_mac;
	const uint8_t *l3;		/* IPv4, IPv6 header or GRH */
	size_t l3_length;		/* of l3 and all headers behind it */
	bool tagged;
	uint16_t vlan_tci;
	uint8_t source_gid[16];
	uint8_t destination_gid[16];
	const struct tern_segment *payload;
	unsigned int payload_count;
	size_t payload_length;		/* without pad */
	const uint8_t *pad;		/* headers.pad bytes */
	const uint8_t *icrc;
	struct tern_segment contiguous;	/* the payload of a frame without segments */
};

enum wire_result {
	WIRE_OK,
	WIRE_NOT_ROCE,			/* nor a fragment or with options: for the host's stack */
	WIRE_MALFORMED,
};

/* Fills addresses and network only, enough to find out whom the frame is for. */
enum wire_result wire_parse_network(struct wire_packet *packet, const struct tern_frame *frame);

/*
 * Parses the rest. A frame whose segments hold more than the payload alone
 * (trailer_length 0, payload_count not 0) must be flattened before.
 */
enum wire_result wire_parse_transport(struct wire_packet *packet, const struct tern_frame *frame);

static inline uint16_t wire_get_u16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t wire_get_u24(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
}

static inline uint32_t wire_get_u32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | wire_get_u24(bytes + 1);
}

static inline uint64_t wire_get_u64(const uint8_t *bytes)
{
	return (uint64_t)wire_get_u32(bytes) << 32 | wire_get_u32(bytes + 4);
}

static inline void wire_put_u16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static inline void wire_put_u24(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 16);
	wire_put_u16(bytes + 1, (uint16_t)value);
}

static inline void wire_put_u32(uint8_t *bytes, uint32_t value)
{
	wire_put_u16(bytes, (uint16_t)(value >> 16));
	wire_put_u16(bytes + 2, (uint16_t)value);
}

static inline void wire_put_u64(uint8_t *bytes, uint64_t value)
{
	wire_put_u32(bytes, (uint32_t)(value >> 32));
	wire_put_u32(bytes + 4, (uint32_t)value);
}

/* Distance from PSN @b on to PSN @a, 0..2^24 - 1 (IBTA 9.7.1). */
static inline uint32_t wire_psn_distance(uint32_t a, uint32_t b)
{
	return (a - b) & WIRE_PSN_MASK;
}

#endif /* TERN_WIRE_H */
