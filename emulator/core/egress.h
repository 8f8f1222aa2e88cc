/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the egress scheduler. It decides who may send the next packet.
 *
 * Whoever has packets to send (a queue pair's requester, its responder, an
 * Ethernet send queue) is an egress source. A source that has work makes
 * itself active; the scheduler calls its send() in turn, as often as the MAC
 * takes frames. Each of the eight priorities belongs to a traffic class
 * (802.1Qaz): strict ones go first, the higher before the lower, the others
 * share by bandwidth: next is the one that was served the least for its share,
 * counted from when it last had nothing to send. Within a class round robin
 * between functions, then between the sources of a function.
 *
 * A source whose next frame has a priority that the peer paused is parked until
 * the pause ends, or it has other work: it is activated, and asked once more.
 */
#ifndef TERN_EGRESS_H
#define TERN_EGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "pacer.h"
#include "timer.h"

struct tern_nic;
struct function;

#define EGRESS_PRIORITIES	8
#define EGRESS_CLASSES		8
#define EGRESS_FRESH		EGRESS_CLASSES

enum egress_state {
	EGRESS_IDLE,
	EGRESS_ACTIVE,		/* in its queue */
	EGRESS_SENDING,		/* inside send() */
	EGRESS_SENDING_AGAIN,	/* inside send(), and activated meanwhile */
	EGRESS_PARKED,		/* its priority is paused */
};

/* Embedded in what sends; zeroed is idle. The owner sets fn, priority and send. */
struct egress_source {
	struct list link;
	struct function *fn;
	/*
	 * Put one packet, or a bounded burst of them (EGRESS_BURST packets at
	 * most, while egress_ready()), out by mac_send(). Returns true when it
	 * could send more at once. A source that waits for something (window,
	 * timer, host) returns false and is activated again when that comes.
	 * It must make progress when it returns true.
	 */
	bool (*send)(struct egress_source *source);
	uint8_t priority;		/* 0..7; change it only while idle or inside send() */
	bool ahead;			/* goes before the others of its function and class */
	bool varies;			/* its frames say, see egress_admits(), not it */
	uint8_t traffic_class;		/* its queue's, or EGRESS_FRESH; the scheduler's */
	bool held;			/* by a pause, in this send(); the scheduler's */
	enum egress_state state;	/* the scheduler's */
};

/* Packets that one send() may put out. */
#define EGRESS_BURST		16

/* Part of struct function: its active sources, one queue per traffic class. */
struct egress_function {
	struct egress_queue {
		struct list link;	/* in the NIC's ring of this class when it has sources */
		struct list sources;
	} queue[EGRESS_CLASSES];
};

/* Part of struct tern_nic. */
struct egress {
	struct list queues[EGRESS_CLASSES];	/* of functions, those that have sources */
	uint8_t class_of[EGRESS_PRIORITIES];
	uint8_t nonempty;		/* bit c: class c has a queue in its ring */
	/* Sources that vary and were idle: asked first which of several classes is theirs. */
	struct list fresh;
	bool several;
	/* Classes as bits; as SET_TRAFFIC_CLASSES gave them. */
	uint8_t strict;
	uint8_t shared;			/* ETS with bandwidth; neither: ETS with none */
	uint8_t limited;		/* by rate */
	uint8_t bandwidth[EGRESS_CLASSES];	/* percent */
	struct pacer rate[EGRESS_CLASSES];
	struct timer timer;		/* when a limited class may send again */
	/* Bytes by share; of classes with bandwidth, and of those without. */
	uint64_t served[EGRESS_CLASSES];
	uint64_t virtual[2];		/* served of the class that was chosen last */
	/* Priorities as bits; flow_control.h's. */
	uint8_t paused;
	uint8_t drops;			/* dropped instead of sent */
	struct list parked[EGRESS_PRIORITIES];
};

/* False without memory. */
bool egress_init(struct tern_nic *nic);
void egress_function_init(struct egress_function *function);

/* Idempotent. Also allowed inside the source's own send(). */
void egress_activate(struct tern_nic *nic, struct egress_source *source);

/*
 * Take the source out of its queue, before it is freed or when it has nothing
 * more to say. Inside its own send() the return value is then ignored.
 */
void egress_deactivate(struct tern_nic *nic, struct egress_source *source);

/*
 * Send until nobody has anything, the MAC is full or @budget packets are out.
 * Returns how many; turns in which nothing was sent count too.
 */
unsigned int egress_run(struct tern_nic *nic, unsigned int budget);

/* Someone is active and the MAC would take a frame. */
bool egress_pending(struct tern_nic *nic);

/* For send(): the link, and the source's class, have room for a frame now. */
bool egress_ready(struct tern_nic *nic, const struct egress_source *source);
/*
 * For send(): the source's next frame, of @priority to @destination, may leave
 * now. If not, send() returns true, and the source is called again as soon as it
 * may. What stays inside the NIC is not paused.
 */
bool egress_admits(struct tern_nic *nic, struct egress_source *source, uint8_t priority,
		   const uint8_t *destination);
/* A source that may be active gets another priority. Not inside its send(). */
void egress_set_priority(struct tern_nic *nic, struct egress_source *source, uint8_t priority);

/* A frame of @priority was sent, to whom ever: it counts for its class's share. */
void egress_share(struct tern_nic *nic, uint8_t priority, size_t bytes);
/* One that takes time of the wire counts for its class's rate. */
void egress_rate(struct tern_nic *nic, uint8_t priority, size_t bytes);
/* These priorities, as bits, are paused, and no others. */
void egress_pause(struct tern_nic *nic, uint8_t priorities);
/* Classes or priorities changed: ask all sources anew. */
void egress_look_again(struct tern_nic *nic);

#endif /* TERN_EGRESS_H */
