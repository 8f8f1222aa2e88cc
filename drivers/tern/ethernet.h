/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Transmit and receive queues of the network interface. */
#ifndef TERN_ETHERNET_H
#define TERN_ETHERNET_H

#include <linux/netdevice.h>
#include <linux/u64_stats_sync.h>
#include <net/page_pool/types.h>

#include "cq.h"

struct tern_channel;

#define TERN_SGES_PER_BLOCK	(TERN_WQE_BLOCK / sizeof(struct tern_sge))

/* What a transmit request has in front of its SGEs. */
#define TERN_TX_HEADER_BYTES	(sizeof(struct tern_wqe_control) + \
				 sizeof(struct tern_wqe_ethernet))
#define TERN_TX_SGES_MAX	((TERN_WQE_BYTES_MAX - TERN_TX_HEADER_BYTES) / \
				 sizeof(struct tern_sge))

/**
 * struct tern_tx_statistics - counters of a transmit queue; they outlive it
 * @sync: for what the stack's side counts
 * @tso_packets: to be segmented
 * @linearized: had more fragments than the device takes
 * @dropped: could not be mapped
 * @stopped: the queue was full
 * @completed_sync: for what NAPI counts
 * @packets: sent
 * @bytes: sent
 * @errors: refused by the device
 */
struct tern_tx_statistics {
	struct u64_stats_sync sync;
	u64_stats_t tso_packets;
	u64_stats_t linearized;
	u64_stats_t dropped;
	u64_stats_t stopped;

	struct u64_stats_sync completed_sync;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t errors;
};

/**
 * struct tern_rx_statistics - counters of a receive queue; they outlive it
 * @sync: for all of them, which NAPI counts
 * @packets: received
 * @bytes: received
 * @checksum_ok: checked by the device
 * @errors: completions with an error
 * @no_memory: no page or no packet could be allocated
 * @bad_completions: completions that make no sense
 */
struct tern_rx_statistics {
	struct u64_stats_sync sync;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t checksum_ok;
	u64_stats_t errors;
	u64_stats_t no_memory;
	u64_stats_t bad_completions;
};

/* A mapped part of a packet. */
struct tern_tx_part {
	dma_addr_t address;
	u32 length;
	bool page;
};

/* A request, kept at the index of its first block. */
struct tern_tx_request {
	struct sk_buff *skb;
	u32 bytes;
	u8 blocks;
	u8 parts;
};

/**
 * struct tern_tx - a transmit queue
 * @shift: log2 of its blocks
 * @sges_max: SGEs of a request
 * @buffer: the blocks
 * @record: its record
 * @requests: by block index
 * @parts: TERN_SGES_PER_BLOCK for each block
 * @txq: the stack's side
 * @statistics: its counters
 * @producer: free-running block index; the stack's queue lock protects it
 * @published: what the device knows of it; as @producer
 * @last: the last request's control segment; as @producer
 * @consumer: free-running block index; NAPI writes it
 *
 * @published is stored with release after the requests up to it are complete
 * and counted, and loaded with acquire by NAPI: what the device completes
 * beyond it is a lie.
 */
struct tern_tx {
	u8 shift;
	u8 sges_max;
	struct tern_buffer buffer;
	struct tern_record record;
	struct tern_tx_request *requests;
	struct tern_tx_part *parts;
	struct netdev_queue *txq;
	struct tern_tx_statistics *statistics;

	u32 producer ____cacheline_aligned_in_smp;
	u32 published;
	struct tern_wqe_control *last;

	u32 consumer ____cacheline_aligned_in_smp;
};

/* A packet's buffers: the first holds headroom and the skb's own data, too. */
#define TERN_RX_BUFFERS_MAX	3

/**
 * struct tern_rx_layout - how a frame is spread over buffers
 * @count: buffers of an entry
 * @head_bytes: size of the first buffer, all in all
 * @head_room: bytes of the frame that it takes
 */
struct tern_rx_layout {
	unsigned int count;
	unsigned int head_bytes;
	unsigned int head_room;
};

struct tern_rx_buffer {
	struct page *page;
	unsigned int offset;
};

/**
 * struct tern_rx - a receive queue; its NAPI alone uses it
 * @shift: log2 of its entries
 * @layout: of each entry
 * @buffer: the entries
 * @record: its record
 * @buffers: TERN_RX_BUFFERS_MAX for each entry
 * @pool: where they come from
 * @statistics: its counters
 * @producer: free-running entry index
 * @published: what the device knows of it
 * @consumer: free-running entry index
 */
struct tern_rx {
	u8 shift;
	struct tern_rx_layout layout;
	struct tern_buffer buffer;
	struct tern_record record;
	struct tern_rx_buffer *buffers;
	struct page_pool *pool;
	struct tern_rx_statistics *statistics;
	u32 producer;
	u32 published;
	u32 consumer;
};

int tern_tx_create(struct tern_channel *channel);
void tern_tx_destroy(struct tern_channel *channel);
bool tern_tx_poll(struct tern_channel *channel, int budget);
netdev_tx_t tern_tx_xmit(struct sk_buff *skb, struct net_device *netdev);

bool tern_rx_layout(struct tern_rx_layout *layout, unsigned int mtu);
int tern_rx_create(struct tern_channel *channel);
void tern_rx_destroy(struct tern_channel *channel);
/* Poll a queue that found no memory for its entries. */
void tern_rx_revive(struct tern_channel *channel);
int tern_rx_poll(struct tern_channel *channel, int budget);

#endif /* TERN_ETHERNET_H */
