/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: a switch alone for tests: synthetic senders, a virtual clock, and what came out. */
#ifndef TERN_SWITCH_BENCH_H
#define TERN_SWITCH_BENCH_H

#include "tern_switch.h"

struct bench_frame {
	uint64_t time;
	unsigned int port;
	size_t length;
	uint8_t start[64];		/* its first bytes */
	uint64_t sum;			/* of all its bytes, for comparing */
};

struct bench {
	struct tern_switch *sw;
	uint64_t now, deadline;
	struct bench_frame *frames;	/* all that came out */
	size_t count, room;
	bool keep;			/* else frames are counted only */
	/* May be NULL: sees each frame, and may hand frames to the switch. */
	void (*on_frame)(struct bench *bench, unsigned int port, const struct tern_frame *frame);
	void *private;
};

/* Ports without a speed are unpaced; all have carrier. */
void bench_create(struct bench *bench, const struct tern_switch_config *config);
void bench_destroy(struct bench *bench);
/* Let time pass up to @when. */
void bench_until(struct bench *bench, uint64_t when);
void bench_advance(struct bench *bench, uint64_t ns);
void bench_send(struct bench *bench, unsigned int port, const uint8_t *bytes, size_t length);
/* An Ethernet frame from host @from to host @to (0xff: all); @pcp -1: untagged. */
size_t bench_build(uint8_t *bytes, unsigned int from, unsigned int to, int pcp, int vid,
		   size_t length);
/* build and send on port @from */
void bench_flow(struct bench *bench, unsigned int from, unsigned int to, int pcp, size_t length);
void bench_mac(uint8_t mac[6], unsigned int host);
/* Let each host say something, so that all are known; what came out is forgotten. */
void bench_learn_all(struct bench *bench, unsigned int ports);
void bench_forget(struct bench *bench);
size_t bench_count(const struct bench *bench, unsigned int port);
struct tern_switch_port_statistics bench_port(const struct bench *bench, unsigned int port);
uint64_t bench_used(const struct bench *bench);
/* A PFC frame to the switch. */
void bench_pfc(struct bench *bench, unsigned int port, uint8_t vector, uint16_t quanta);

#endif /* TERN_SWITCH_BENCH_H */
