// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: channels. Each is a queue pair of type ETHERNET, a completion
 * queue for either direction and the NAPI that polls both.
 */
#include <linux/slab.h>

#include "channel.h"
#include "event_queue.h"
#include "netdev.h"

static void tern_channel_tx_completion(struct tern_cq_listener *listener)
{
	struct tern_channel *channel = container_of(listener, struct tern_channel, tx_cq.listener);

	napi_schedule_irqoff(&channel->napi);
}

static void tern_channel_rx_completion(struct tern_cq_listener *listener)
{
	struct tern_channel *channel = container_of(listener, struct tern_channel, rx_cq.listener);

	napi_schedule_irqoff(&channel->napi);
}

static void tern_channel_tx_cq_error(struct tern_cq_listener *listener, u8 error)
{
	struct tern_channel *channel = container_of(listener, struct tern_channel, tx_cq.listener);

	tern_netdev_schedule_restart(channel->priv, "a transmit completion queue failed");
}

static void tern_channel_rx_cq_error(struct tern_cq_listener *listener, u8 error)
{
	struct tern_channel *channel = container_of(listener, struct tern_channel, rx_cq.listener);

	tern_netdev_schedule_restart(channel->priv, "a receive completion queue failed");
}

static void tern_channel_event(struct tern_qp_listener *listener, u8 type)
{
	struct tern_channel *channel = container_of(listener, struct tern_channel, listener);

	tern_netdev_schedule_restart(channel->priv, "a queue pair failed");
}

static int tern_channel_poll(struct napi_struct *napi, int budget)
{
	struct tern_channel *channel = container_of(napi, struct tern_channel, napi);
	bool more = tern_tx_poll(channel, budget);
	int done;

	if (!budget)
		return 0;
	done = tern_rx_poll(channel, budget);
	if (more || done == budget)
		return budget;

	/*
	 * An event between here and napi_complete_done() marks this NAPI as
	 * missed and has it polled again, so arming first loses nothing and
	 * nobody else can be arming the same queues.
	 */
	tern_cq_arm(&channel->tx_cq);
	tern_cq_arm(&channel->rx_cq);
	if (tern_cq_next(&channel->tx_cq) || tern_cq_next(&channel->rx_cq))
		return budget;
	napi_complete_done(napi, done);
	return done;
}

static int tern_channel_create_qp(struct tern_channel *channel)
{
	struct tern_device *tern = &channel->priv->adapter->device;
	struct tern_command_modify_qp modify = {
		.current_state = TERN_QP_RESET,
		.next_state = TERN_QP_RTS,
	};
	struct tern_command_create_qp create = {
		.type = TERN_QP_ETHERNET,
		.sq_shift = channel->tx.shift,
		.rq_shift = channel->rx.shift,
		.rq_stride_shift = TERN_RECEIVE_STRIDE_SHIFT_MIN,
		.flags = cpu_to_le32(TERN_QP_PRIVILEGED),
		.pd = cpu_to_le32(channel->priv->pd),
		.send_cqn = cpu_to_le32(channel->tx_cq.listener.cqn),
		.receive_cqn = cpu_to_le32(channel->rx_cq.listener.cqn),
		.sq = channel->tx.buffer.pages.list,
		.rq = channel->rx.buffer.pages.list,
		.sq_record = cpu_to_le64(channel->tx.record.dma),
		.rq_record = cpu_to_le64(channel->rx.record.dma),
	};
	int err;

	err = tern_number_alloc(tern, TERN_NUMBERS_QP, &channel->qpn);
	if (err)
		return err;
	channel->listener.qpn = channel->qpn;
	channel->listener.event = tern_channel_event;
	err = tern_qp_listen(tern, &channel->listener);
	if (err)
		goto free_number;
	err = tern_cmd_create_qp(tern, channel->qpn, &create);
	if (err)
		goto unlisten;
	err = tern_cmd_modify_qp(tern, channel->qpn, &modify);
	if (err)
		goto destroy;
	return 0;

destroy:
	tern_cmd_destroy_qp(tern, channel->qpn);
unlisten:
	tern_qp_unlisten(tern, &channel->listener);
free_number:
	tern_number_free(tern, TERN_NUMBERS_QP, channel->qpn);
	return err;
}

struct tern_channel *tern_channel_create(struct tern_netdev *priv, unsigned int index)
{
	struct tern_device *tern = &priv->adapter->device;
	struct tern_channel *channel;
	int err;

	channel = kzalloc(sizeof(*channel), GFP_KERNEL);
	if (!channel)
		return ERR_PTR(-ENOMEM);
	channel->priv = priv;
	channel->index = index;
	netif_napi_add(priv->netdev, &channel->napi, tern_channel_poll);
	netif_napi_set_irq(&channel->napi, tern_vector_irq(priv->adapter, index));

	channel->tx_cq.listener.completion = tern_channel_tx_completion;
	channel->tx_cq.listener.error = tern_channel_tx_cq_error;
	channel->rx_cq.listener.completion = tern_channel_rx_completion;
	channel->rx_cq.listener.error = tern_channel_rx_cq_error;
	/* As many entries as requests at most, so that no completion queue overruns. */
	err = tern_cq_create(tern, &channel->tx_cq, priv->settings.tx_shift, index,
			     &priv->tx_moderation);
	if (err)
		goto delete_napi;
	err = tern_cq_create(tern, &channel->rx_cq, priv->settings.rx_shift, index,
			     &priv->rx_moderation);
	if (err)
		goto destroy_tx_cq;
	err = tern_tx_create(channel);
	if (err)
		goto destroy_rx_cq;
	err = tern_rx_create(channel);
	if (err)
		goto destroy_tx;
	err = tern_channel_create_qp(channel);
	if (err)
		goto destroy_rx;
	return channel;

destroy_rx:
	tern_rx_destroy(channel);
destroy_tx:
	tern_tx_destroy(channel);
destroy_rx_cq:
	tern_cq_destroy(&channel->rx_cq);
destroy_tx_cq:
	tern_cq_destroy(&channel->tx_cq);
delete_napi:
	netif_napi_del(&channel->napi);
	kfree(channel);
	return ERR_PTR(err);
}

void tern_channel_destroy(struct tern_channel *channel)
{
	struct tern_device *tern = &channel->priv->adapter->device;

	tern_cmd_destroy_qp(tern, channel->qpn);
	tern_qp_unlisten(tern, &channel->listener);
	tern_number_free(tern, TERN_NUMBERS_QP, channel->qpn);
	tern_rx_destroy(channel);
	tern_tx_destroy(channel);
	tern_cq_destroy(&channel->rx_cq);
	tern_cq_destroy(&channel->tx_cq);
	netif_napi_del(&channel->napi);
	kfree(channel);
}

/* From here on packets come in. */
void tern_channel_start(struct tern_channel *channel)
{
	struct net_device *netdev = channel->priv->netdev;

	napi_enable(&channel->napi);
	netif_queue_set_napi(netdev, channel->index, NETDEV_QUEUE_TYPE_RX, &channel->napi);
	netif_queue_set_napi(netdev, channel->index, NETDEV_QUEUE_TYPE_TX, &channel->napi);
	/* The first poll fills the receive queue and arms both completion queues. */
	local_bh_disable();
	napi_schedule(&channel->napi);
	local_bh_enable();
}

/* No packet comes out any more. What was posted stays until tern_channel_destroy(). */
void tern_channel_stop(struct tern_channel *channel)
{
	struct net_device *netdev = channel->priv->netdev;

	netif_queue_set_napi(netdev, channel->index, NETDEV_QUEUE_TYPE_TX, NULL);
	netif_queue_set_napi(netdev, channel->index, NETDEV_QUEUE_TYPE_RX, NULL);
	napi_disable(&channel->napi);
}
