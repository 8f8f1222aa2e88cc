/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: the inside of emulator/switch. */
#ifndef TERN_SWITCH_INSIDE_H
#define TERN_SWITCH_INSIDE_H

#include "tern_switch.h"

#define PORTS		TERN_SWITCH_PORTS
#define PRIORITIES	TERN_SWITCH_PRIORITIES
#define FRAME_MIN	14		/* an Ethernet header */
#define CHARGE_MIN	64		/* bytes that the shortest frame takes in the buffer */
#define EDITED_BYTES	40		/* of a frame's start: all that is edited lies there */
#define WIRE_OVERHEAD	24		/* preamble, FCS, inter-packet gap */
#define WIRE_MIN	60		/* shorter frames are padded */
#define TAG_BYTES	4
#define VLANS		4096
#define FRAME_CLASSES	3
#define NEVER		TERN_NIC_NO_DEADLINE

/* A frame in the buffer, one for all ports that it goes to. */
struct switch_frame {
	struct switch_frame *next_free;
	uint32_t references;		/* entries, and its receiver while it works */
	uint32_t unsent;		/* entries that hold it in the buffer */
	uint8_t size_class;
	uint8_t in_port, priority;
	bool in_headroom;
	bool tagged;
	uint16_t vid;			/* of filtering; 0 without */
	uint32_t length, charge;
	uint16_t ip_offset;		/* of the IP header; 0: no IP */
	struct tern_frame frame;	/* its header is data */
	struct tern_segment segment;
	uint8_t room[TAG_BYTES];	/* for a tag to grow into */
	uint8_t data[];
};

/* A frame in a queue or on a link. */
struct switch_entry {
	struct switch_entry *next, *previous;
	struct switch_frame *frame;	/* NULL: a pause frame */
	uint64_t due;			/* on the link: when it arrives */
	uint32_t length;
	uint32_t corrupt_bit;
	bool corrupt, mark;
	uint8_t priority;
	uint8_t vector;			/* of a pause frame */
	uint16_t quanta[PRIORITIES];
};

struct switch_queue {
	struct switch_entry *first, *last;
	double average;			/* of the depth, for marking */
	uint64_t idle_since;		/* if nothing waits */
	uint64_t finish;		/* virtual time of the last ETS frame's end */
	uint64_t paused_until;		/* 0: not paused */
	uint64_t paused_since;
	/* Ingress side: bytes that came in here with this priority. */
	uint64_t shared, headroom;
	bool xoff;
};

struct switch_port {
	struct switch_queue queue[PRIORITIES];
	struct switch_entry *wire_first, *wire_last;
	struct switch_frame *sending;	/* holds its place in the buffer until busy_until */
	bool busy;
	uint64_t busy_until, remainder;
	uint64_t virtual_time;
	uint64_t next;			/* when the timer is wanted */
	uint64_t refresh;		/* when pauses are to be sent again */
	uint8_t backlog;		/* bit p: queue p has frames */
	uint8_t paused;			/* bit p: queue p is stopped */
	uint8_t xoff;			/* bit p: the peer is to pause */
	uint8_t tell;			/* bit p: and is to be told about it */
	uint16_t pvid;
	struct tern_switch_port_statistics statistics;
};

struct switch_fdb_entry {
	uint64_t key;			/* VLAN and address; 0: empty */
	uint64_t seen;
	uint8_t port;
};

#define FDB_SETS	4096
#define FDB_WAYS	4

struct tern_switch {
	struct tern_switch_config config;
	struct tern_switch_host ops;
	void *host;
	uint64_t deadline, random, hash_seed;
	bool in_timer;			/* which sets the timer when it is done */
	uint64_t carriers;		/* bit p: port p is up */
	uint64_t shared_size, shared_used, headroom_used, used_peak;
	uint64_t entries, entries_max;
	struct switch_frame *free_frames[FRAME_CLASSES];
	struct switch_entry *free_entries;
	uint64_t members[VLANS], untagged[VLANS];
	struct switch_fdb_entry fdb[FDB_SETS][FDB_WAYS];
	uint8_t scratch[TERN_SWITCH_FRAME_MAX + TAG_BYTES];
	struct switch_port port[PORTS];
};

static inline unsigned int first_bit(uint64_t mask)
{
	return (unsigned int)__builtin_ctzll(mask);
}

/* A number in [0, 2^64): splitmix64. */
uint64_t switch_random(struct tern_switch *sw);
bool switch_chance(struct tern_switch *sw, double probability);

/* fdb.c */
void switch_fdb_learn(struct tern_switch *sw, const uint8_t *mac, uint16_t vid,
		      unsigned int port, uint64_t now);
int switch_fdb_find(const struct tern_switch *sw, const uint8_t *mac, uint16_t vid,
		    uint64_t now);
void switch_fdb_flush(struct tern_switch *sw, unsigned int port);

/* vlan.c */
void switch_vlan_init(struct tern_switch *sw);
/* The VLAN of a frame that came in at @port; false: it may not. */
bool switch_vlan_ingress(const struct tern_switch *sw, unsigned int port,
			 struct switch_frame *held);
/* The ports that frames of @vid may leave by. */
uint64_t switch_vlan_members(const struct tern_switch *sw, uint16_t vid);
/* Make the header at frame->header what @port's membership says. */
void switch_vlan_egress(const struct tern_switch *sw, unsigned int port,
			const struct switch_frame *held, struct tern_frame *frame);
unsigned int switch_wire_length(const struct tern_switch *sw, unsigned int port,
				const struct switch_frame *held);

/* buffer.c: memory, and what each port and priority holds of the buffer */
struct switch_frame *switch_frame_copy(struct tern_switch *sw, const struct tern_frame *frame);
void switch_frame_put(struct tern_switch *sw, struct switch_frame *held);
/* NULL: too many. Control frames have a reserve, so that a flood does not cost a pause. */
struct switch_entry *switch_entry_get(struct tern_switch *sw, bool control);
void switch_entry_put(struct tern_switch *sw, struct switch_entry *entry);
/* Find room for a frame; false: it is to be dropped. */
bool switch_buffer_admit(struct tern_switch *sw, struct switch_frame *held, uint64_t now);
/* It has left by all ports. */
void switch_buffer_release(struct tern_switch *sw, struct switch_frame *held, uint64_t now);
/* Of what a port holds of a lossless priority, and of an egress queue of a lossy one. */
uint64_t switch_buffer_limit(const struct tern_switch *sw, unsigned int priority);
void switch_buffer_destroy(struct tern_switch *sw);

/* egress.c */
void switch_egress_queue(struct tern_switch *sw, unsigned int port, struct switch_frame *held,
			 uint64_t now);
/* Start to send when the port is free and there is something. */
void switch_egress_kick(struct tern_switch *sw, unsigned int port, uint64_t now);
/* What is due at @port; sets its next. */
void switch_egress_run(struct tern_switch *sw, unsigned int port, uint64_t now);
void switch_egress_flush(struct tern_switch *sw, unsigned int port, uint64_t now);
/* One copy of @held less has to leave. */
void switch_egress_sent(struct tern_switch *sw, struct switch_frame *held, uint64_t now);
/* Something at @port has changed: set its next, and the timer when that is earlier. */
void switch_egress_schedule(struct tern_switch *sw, unsigned int port);

/* marking.c */
enum switch_verdict { SWITCH_PASS, SWITCH_MARK, SWITCH_DROP };
enum switch_verdict switch_marking(struct tern_switch *sw, unsigned int port,
				   const struct switch_frame *held, uint64_t now);
/* Congestion experienced, with the IPv4 checksum kept right. */
void switch_mark_ce(uint8_t *ip);

/* pfc.c */
void switch_pfc_receive(struct tern_switch *sw, unsigned int port, const uint8_t *frame,
			size_t length, uint64_t now);
/* Pauses that have run out. */
void switch_pfc_expire(struct tern_switch *sw, unsigned int port, uint64_t now);
/* The earliest end of a pause of a queue that waits. */
uint64_t switch_pfc_next(const struct tern_switch *sw, unsigned int port);
void switch_pfc_xoff(struct tern_switch *sw, unsigned int port, unsigned int priority, bool xoff,
		     uint64_t now);
/* What the peer is to be told, if anything. */
struct switch_entry *switch_pfc_entry(struct tern_switch *sw, unsigned int port, uint64_t now);
size_t switch_pfc_build(const struct switch_entry *entry, unsigned int port, uint8_t *frame);
void switch_pfc_reset(struct tern_switch *sw, unsigned int port, uint64_t now);

#endif /* TERN_SWITCH_INSIDE_H */
