/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern NIC device model: the one public header of emulator/core.
 *
 * The core is the NIC as a library. It has no threads, no clock and no I/O of
 * its own: a host (ternd, QEMU, a test) gives it guest memory, interrupt
 * vectors, time, one timer and a wire, and calls it.
 *
 * Context: every function here is called on one thread, or under one lock,
 * per NIC; the core never takes a lock. Every callback of struct
 * tern_nic_host is made from inside such a call, on the caller's thread, and
 * must not call back into the same NIC (frames that a host wants to hand back
 * at once are queued by the host and given after the call returned).
 */
#ifndef TERN_NIC_H
#define TERN_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_nic;

#define TERN_NIC_NO_DEADLINE	UINT64_MAX

/*
 * Frames
 *
 * A frame is a contiguous header, payload by reference and a trailer (RoCE
 * pad and ICRC; empty for other frames). Payload segments may point into
 * guest memory: they are valid only during the call that passes the frame. A
 * host or link that keeps a frame, or lets it leave the process, flattens it.
 */
struct tern_segment {
	const uint8_t *base;
	size_t length;
};

struct tern_frame {
	const uint8_t *header;
	size_t header_length;
	const struct tern_segment *payload;
	unsigned int payload_count;
	size_t payload_length;		/* sum of the segments' lengths */
	uint8_t trailer[8];		/* 0..3 pad bytes, then 4 ICRC bytes */
	uint8_t trailer_length;
	/*
	 * The ICRC in the trailer was not computed since sender and receiver
	 * share a process; tern_frame_flatten() computes it. A receiver
	 * accepts such a frame without a check: only a NIC of this process
	 * can have made it.
	 */
	bool icrc_pending;
	uint8_t priority;		/* 802.1p priority, 0..7 */
};

/* Length in bytes on the wire, without preamble and FCS. */
size_t tern_frame_length(const struct tern_frame *frame);

/*
 * Copy @frame into @buffer, completing a pending ICRC. Returns the frame's
 * length, or 0 when @size is too small.
 */
size_t tern_frame_flatten(const struct tern_frame *frame, uint8_t *buffer, size_t size);

/* Make @frame describe @length contiguous bytes at @buffer (ICRC not pending). */
void tern_frame_wrap(struct tern_frame *frame, const uint8_t *buffer, size_t length);

/*
 * What the host gives. @fn is the PCI function: 0 is the PF, 1.. are VFs.
 */
struct tern_nic_host {
	/*
	 * Map guest memory for one burst. *length is shortened to what is
	 * contiguous. NULL when the range cannot be mapped (the core then uses
	 * read and write) or does not exist (read and write then fail too).
	 * The mapping is given back by unmap before the core call returns.
	 */
	void *(*map)(void *host, unsigned int fn, uint64_t iova, size_t *length, bool write);
	void (*unmap)(void *host, unsigned int fn, void *address, size_t length, bool write);
	/* Copy from / to guest memory. 0, or a negative errno; all or nothing is not promised. */
	int (*read)(void *host, unsigned int fn, uint64_t iova, void *buffer, size_t length);
	int (*write)(void *host, unsigned int fn, uint64_t iova, const void *buffer,
		     size_t length);
	/* Raise MSI-X vector @vector. Masking and pending bits are the host's. */
	void (*interrupt)(void *host, unsigned int fn, unsigned int vector);
	/* Nanoseconds, monotonic. */
	uint64_t (*now)(void *host);
	/*
	 * The host calls tern_nic_timer() at @deadline or soon after; a new
	 * deadline replaces the last one, TERN_NIC_NO_DEADLINE cancels it.
	 */
	void (*set_timer)(void *host, uint64_t deadline);
	/* Put a frame onto the wire. It is always taken; a link that cannot, drops and counts. */
	void (*transmit)(void *host, const struct tern_frame *frame);
	/* May be NULL: one line about an event of @qpn that is traced (tern_nic_trace_qp). */
	void (*trace)(void *host, unsigned int fn, uint32_t qpn, const char *line);
	/* May be NULL: something a person should know (a guest's misuse, a dead function). */
	void (*log)(void *host, unsigned int fn, const char *line);
};

struct tern_nic_config {
	const char *name;		/* for logs; copied */
	uint8_t mac[6];			/* permanent MAC of function 0 */
	unsigned int functions;		/* 1 + number of VFs; at least 1 */
	uint64_t speed_mbps;		/* modelled link speed; 0: unpaced, reported as 400000 */
	/*
	 * Rate at which the device moves received frames to host memory; 0: at
	 * once. What comes sooner stands in the receive buffers.
	 */
	uint64_t host_mbps;
	size_t receive_buffer;		/* bytes of the receive buffers; 0: default (1 MiB) */
	uint64_t device_memory;		/* bytes behind each BAR 4: 0 or a power of two */
	/*
	 * Turn every shortcut of one process off: frames are contiguous, the
	 * ICRC is always computed and always checked.
	 */
	bool no_shortcuts;
	uint64_t seed;			/* of everything random in this NIC */
};

struct tern_nic *tern_nic_create(const struct tern_nic_config *config,
				 const struct tern_nic_host *ops, void *host);
void tern_nic_destroy(struct tern_nic *nic);

/* PCI shape, for the front end. Config space itself belongs to the front end. */
unsigned int tern_nic_vectors(const struct tern_nic *nic, unsigned int fn);
uint64_t tern_nic_bar_size(const struct tern_nic *nic, unsigned int fn, unsigned int bar);

/*
 * BAR accesses, except the MSI-X table and PBA, which the front end serves.
 * @size is 1, 2, 4 or 8. An access that the hardware specification does not
 * define reads as zero, writes nothing and is counted.
 */
uint64_t tern_nic_bar_read(struct tern_nic *nic, unsigned int fn, unsigned int bar,
			   uint64_t offset, unsigned int size);
void tern_nic_bar_write(struct tern_nic *nic, unsigned int fn, unsigned int bar,
			uint64_t offset, uint64_t value, unsigned int size);

/* Bus master enable of the function: without it the core neither reads nor writes memory. */
void tern_nic_bus_master(struct tern_nic *nic, unsigned int fn, bool enabled);

/* Function level reset (also power-on and hot unplug). Returns after the last memory access. */
void tern_nic_reset(struct tern_nic *nic, unsigned int fn);

/*
 * The host's memory map changes: forget what was cached for [iova, iova + length). On return no
 * access to it is left and none follows until the guest uses it again.
 */
void tern_nic_invalidate(struct tern_nic *nic, unsigned int fn, uint64_t iova, uint64_t length);

/* A frame arrives from the wire. Always taken; dropped and counted where there is no room. */
void tern_nic_receive(struct tern_nic *nic, const struct tern_frame *frame);

/* The wire is plugged in or out. Starts unplugged. */
void tern_nic_set_carrier(struct tern_nic *nic, bool up);

/* The deadline of set_timer has come. Harmless when early. */
void tern_nic_timer(struct tern_nic *nic);

/*
 * Work: read the producer indices of active queues, execute commands and
 * work requests, send. Stops after about @budget packets or commands.
 * Returns true when it did something or there is more to do at once: the host
 * then calls again before it counts the NIC as idle.
 */
bool tern_nic_run(struct tern_nic *nic, unsigned int budget);

/*
 * Before the host sleeps: ask every active queue for its doorbell ("ring
 * me", full fence, look once more). Returns true when the host may sleep
 * until a register write, a frame or the timer; false when work turned up.
 */
bool tern_nic_prepare_sleep(struct tern_nic *nic);

/* Observation, for the control socket and tests. */
struct tern_nic_counter {
	const char *name;		/* stable, in hw-spec or ternd.rst */
	uint64_t value;
};

/* Fill up to @count counters of @fn; returns how many there are. */
size_t tern_nic_counters(const struct tern_nic *nic, unsigned int fn,
			 struct tern_nic_counter *counters, size_t count);

struct tern_nic_qp_info {
	uint32_t qpn;
	const char *type;		/* "rc", "ud", "gsi", "ethernet", "hashing"... */
	const char *state;		/* "reset", "init", "rtr", "rts", "sqd", "sqe", "error" */
	uint32_t remote_qpn;
	uint32_t sq_psn;		/* next PSN to send */
	uint32_t acked_psn;		/* oldest PSN not acknowledged */
	uint32_t expected_psn;
	uint32_t sq_producer, sq_consumer;
	uint32_t rq_producer, rq_consumer;
	uint32_t path_mtu;
	uint64_t packets_sent, packets_received, retransmissions, rnr_naks_received;
	/* Congestion control's; 0: it is not limited. Alpha is in 1/65536. */
	uint32_t rate_mbps, target_rate_mbps, alpha;
};

/*
 * The queue pair of @fn with the lowest number not below @from. False when
 * there is none.
 */
bool tern_nic_next_qp(const struct tern_nic *nic, unsigned int fn, uint32_t from,
		      struct tern_nic_qp_info *info);

/* Trace the packets and state changes of @qpn through host->trace. -ENOENT without such a QP. */
int tern_nic_trace_qp(struct tern_nic *nic, unsigned int fn, uint32_t qpn, bool on);

/* Misbehaviour */
enum tern_misbehaviour {
	TERN_WIRE_DROP,
	TERN_WIRE_DUPLICATE,
	TERN_WIRE_DELAY,
	TERN_WIRE_REORDER,		/* the frame leaves after the next one */
	TERN_WIRE_CORRUPT,		/* one bit flips */
	TERN_WIRE_MARK_CE,		/* of ECT frames only; others do not match */
};

/*
 * One rule, applied to frames that leave this NIC. A frame matches when its
 * BTH opcode is @opcode (or any frame when -1, RoCE or not). With @nth the
 * nth matching frame from now on is hit once (1 is the next one); else each
 * matching frame is hit with probability @probability (0..1).
 */
struct tern_wire_rule {
	enum tern_misbehaviour what;
	int opcode;
	double probability;
	uint64_t nth;
	uint64_t delay_ns;		/* TERN_WIRE_DELAY */
};

/* Returns the rule's number (>= 0) or -EINVAL, -ENOSPC. */
int tern_nic_add_wire_rule(struct tern_nic *nic, const struct tern_wire_rule *rule);
/* Number -1 removes all. -ENOENT when there is no such rule. */
int tern_nic_remove_wire_rule(struct tern_nic *nic, int number);
/* The same seed and the same calls give the same misbehaviour. */
void tern_nic_reseed(struct tern_nic *nic, uint64_t seed);

/* What config.no_shortcuts said, from the next frame on. */
void tern_nic_set_shortcuts(struct tern_nic *nic, bool on);

#endif /* TERN_NIC_H */
