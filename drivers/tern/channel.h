/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef TERN_CHANNEL_H
#define TERN_CHANNEL_H

#include "ethernet.h"

struct tern_netdev;

/**
 * struct tern_channel - a queue pair of the network interface and what drives it
 * @napi: polls both completion queues
 * @priv: the network interface
 * @index: of this channel
 * @qpn: number of its queue pair
 * @listener: takes the queue pair's events
 * @tx_cq: completions of @tx
 * @rx_cq: completions of @rx
 * @tx: the send queue
 * @rx: the receive queue
 */
struct tern_channel {
	struct napi_struct napi;
	struct tern_netdev *priv;
	unsigned int index;
	u32 qpn;
	struct tern_qp_listener listener;
	struct tern_cq tx_cq;
	struct tern_cq rx_cq;
	struct tern_tx tx;
	struct tern_rx rx;
};

struct tern_channel *tern_channel_create(struct tern_netdev *priv, unsigned int index);
void tern_channel_destroy(struct tern_channel *channel);
void tern_channel_start(struct tern_channel *channel);
void tern_channel_stop(struct tern_channel *channel);

#endif /* TERN_CHANNEL_H */
