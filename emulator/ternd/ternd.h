/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: ternd hosts NICs, each behind a vfio-user socket, and the links
 * between them, in one thread.
 */
#ifndef TERND_H
#define TERND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_link.h"
#include "tern_loop.h"
#include "tern_nic.h"
#include "tern_vfio_user.h"

struct ternd_control;
struct ternd_switch;

/* Lines for people, so many in a second: a guest or a peer can cause any number. */
struct ternd_lines {
	struct ternd *ternd;
	const struct ternd_nic *nic;	/* that they are of, or NULL */
	uint64_t since;			/* tern_loop_now() when this second began */
	unsigned int lines;
	uint64_t left_out;		/* ...and not told of yet: tell does it */
	struct tern_alarm tell;
};

struct ternd_nic {
	struct ternd *ternd;
	struct ternd_nic *next;
	char *name, *socket;
	uint8_t mac[6];
	uint64_t speed_mbps, host_mbps, seed;
	bool shortcuts;
	struct tern_nic *core;
	struct tern_vfio_user *server;
	struct tern_port *port;
	struct tern_alarm timer;
	struct ternd_lines log;
	/* Calls into the core that have not returned; it must not be called again meanwhile. */
	unsigned int depth;
};

struct ternd {
	struct tern_loop *loop;
	struct ternd_nic *nics;
	struct ternd_switch *switches;
	struct ternd_control *control;
	uint64_t started;		/* tern_loop_now() */
	uint64_t spin_ns;		/* how long to look for work before sleeping */
	uint64_t turns, sleeps;		/* of the engine */
	bool quit;
	bool quiet;			/* nothing on standard error */
};

/* What makes a NIC. */
struct ternd_nic_options {
	const char *name;
	const char *socket;		/* NULL: none; only tests have such a NIC */
	uint8_t mac[6];
	uint64_t speed_mbps, host_mbps;
	uint64_t seed;
	uint64_t receive_buffer;
	uint64_t device_memory;
	bool shortcuts;
};

/* NULL with the reason in @error. The NIC is appended to ternd->nics. */
struct ternd_nic *ternd_nic_create(struct ternd *ternd, const struct ternd_nic_options *options,
				   char *error, size_t error_size);
void ternd_nic_destroy(struct ternd_nic *nic);
struct ternd_nic *ternd_find_nic(const struct ternd *ternd, const char *name);

/* Work of one NIC; see tern_nic.h. */
bool ternd_nic_run(struct ternd_nic *nic, unsigned int budget);
bool ternd_nic_prepare_sleep(struct ternd_nic *nic);

/* Serve until ternd->quit. 0, or a negative errno when the loop cannot go on. */
int ternd_run(struct ternd *ternd);
/* One turn: run the NICs, serve what is ready; sleeps only when nothing is to be done. */
int ternd_turn(struct ternd *ternd);

/* A line for people, on standard error and to those who listen; @nic may be NULL. */
void ternd_log(struct ternd *ternd, const struct ternd_nic *nic, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of what a guest or a peer did: when there are too many they are counted instead. */
void ternd_lines_init(struct ternd_lines *lines, struct ternd *ternd, const struct ternd_nic *nic);
void ternd_lines_log(struct ternd_lines *lines, const char *line);
void ternd_nic_log(struct ternd_nic *nic, const char *line);
/* Tell how many were left out, if any. */
void ternd_lines_left_out(void *lines);

#endif /* TERND_H */
