// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: transmitting.
 *
 * Requests are published in batches as the stack passes them (xmit_more); the
 * last of a batch asks for a completion, which stands for all before it.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/netdev_queues.h>

#include "channel.h"
#include "netdev.h"

/* A batch asks for a completion at least so often, in blocks. */
#define TERN_TX_SIGNAL_BLOCKS	32
#define TERN_TX_POLL_MAX	256

static u32 tern_tx_room(const struct tern_tx *tx)
{
	return BIT(tx->shift) - (READ_ONCE(tx->producer) - READ_ONCE(tx->consumer));
}

/* Byte @offset of the request that starts at @block; what is there has 16 bytes. */
static void *tern_tx_at(const struct tern_tx *tx, u32 block, size_t offset)
{
	size_t at = (size_t)block * TERN_WQE_BLOCK + offset;

	return tern_buffer_at(&tx->buffer, at & ((TERN_WQE_BLOCK << tx->shift) - 1));
}

static struct tern_tx_part *tern_tx_part(const struct tern_tx *tx, u32 block, unsigned int part)
{
	u32 mask = (TERN_SGES_PER_BLOCK << tx->shift) - 1;

	return &tx->parts[(block * TERN_SGES_PER_BLOCK + part) & mask];
}

static void tern_tx_unmap(struct device *dev, const struct tern_tx *tx, u32 block,
			  unsigned int parts)
{
	const struct tern_tx_part *part;

	while (parts--) {
		part = tern_tx_part(tx, block, parts);
		if (part->page)
			dma_unmap_page(dev, part->address, part->length, DMA_TO_DEVICE);
		else
			dma_unmap_single(dev, part->address, part->length, DMA_TO_DEVICE);
	}
}

static int tern_tx_map_part(struct device *dev, const struct tern_tx *tx, u32 block,
			    unsigned int i, dma_addr_t address, u32 length, bool page)
{
	struct tern_tx_part *part = tern_tx_part(tx, block, i);
	struct tern_sge *sge = tern_tx_at(tx, block, TERN_TX_HEADER_BYTES + i * sizeof(*sge));

	if (dma_mapping_error(dev, address)) {
		tern_tx_unmap(dev, tx, block, i);
		return -ENOMEM;
	}
	part->address = address;
	part->length = length;
	part->page = page;
	sge->address = cpu_to_le64(address);
	sge->length = cpu_to_le32(length);
	sge->key = cpu_to_le32(TERN_KEY_LOCAL_DMA);
	return 0;
}

/* Map the packet and write the request's SGEs. */
static int tern_tx_map(struct device *dev, const struct tern_tx *tx, u32 block,
		       const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	const skb_frag_t *frag;
	unsigned int i;
	int err;

	err = tern_tx_map_part(dev, tx, block, 0,
			       dma_map_single(dev, skb->data, skb_headlen(skb), DMA_TO_DEVICE),
			       skb_headlen(skb), false);
	for (i = 0; !err && i < shared->nr_frags; i++) {
		frag = &shared->frags[i];
		err = tern_tx_map_part(dev, tx, block, i + 1,
				       skb_frag_dma_map(dev, frag, 0, skb_frag_size(frag),
							DMA_TO_DEVICE),
				       skb_frag_size(frag), true);
	}
	return err;
}

static void tern_tx_write_ethernet(struct tern_wqe_ethernet *ethernet, const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	u16 flags = 0;

	memset(ethernet, 0, sizeof(*ethernet));
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		flags |= TERN_WQE_ETHERNET_CHECKSUM;
		ethernet->checksum_start = cpu_to_le16(skb_checksum_start_offset(skb));
		ethernet->checksum_offset = cpu_to_le16(skb->csum_offset);
	}
	if (shared->gso_size) {
		flags |= TERN_WQE_ETHERNET_TSO;
		ethernet->mss = cpu_to_le16(shared->gso_size);
		ethernet->header_length = cpu_to_le16(skb_tcp_all_headers(skb));
		ethernet->l3_offset = cpu_to_le16(skb_network_offset(skb));
	}
	if (skb_vlan_tag_present(skb)) {
		flags |= TERN_WQE_ETHERNET_VLAN;
		ethernet->vlan_tci = cpu_to_le16(skb_vlan_tag_get(skb));
	}
	ethernet->flags = cpu_to_le16(flags);
}

/* Tell the device of the requests since the last time. */
static void tern_tx_publish(struct tern_channel *channel)
{
	struct tern_tx *tx = &channel->tx;

	if (tx->published == tx->producer)
		return;
	/* The device does not look at a request before it is published. */
	tx->last->flags |= TERN_WQE_SIGNALED;
	/*
	 * The requests, and their bytes in the queue's limits, before the
	 * index; pairs with the acquire in tern_tx_free_until().
	 */
	smp_store_release(&tx->published, tx->producer);
	tern_publish(&channel->priv->adapter->device, tx->record.cpu, TERN_DOORBELL_SEND,
		     channel->qpn, tx->producer);
}

static netdev_tx_t tern_tx_drop(struct tern_channel *channel, struct sk_buff *skb)
{
	struct tern_tx_statistics *statistics = channel->tx.statistics;

	u64_stats_update_begin(&statistics->sync);
	u64_stats_inc(&statistics->dropped);
	u64_stats_update_end(&statistics->sync);
	dev_kfree_skb_any(skb);
	tern_tx_publish(channel);
	return NETDEV_TX_OK;
}

static void tern_tx_count(struct tern_tx *tx, const struct sk_buff *skb, bool linearized,
			  bool stopped)
{
	struct tern_tx_statistics *statistics = tx->statistics;

	u64_stats_update_begin(&statistics->sync);
	if (skb_is_gso(skb))
		u64_stats_inc(&statistics->tso_packets);
	if (linearized)
		u64_stats_inc(&statistics->linearized);
	if (stopped)
		u64_stats_inc(&statistics->stopped);
	u64_stats_update_end(&statistics->sync);
}

netdev_tx_t tern_tx_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_channel *channel = priv->channels[skb_get_queue_mapping(skb)];
	struct tern_tx *tx = &channel->tx;
	struct tern_wqe_control *control;
	struct tern_tx_request *request;
	bool linearized = false, stopped;
	u32 block = tx->producer;
	unsigned int parts;
	u8 blocks;

	if (skb_shinfo(skb)->nr_frags + 1 > tx->sges_max) {
		if (skb_linearize(skb))
			return tern_tx_drop(channel, skb);
		linearized = true;
	}
	parts = skb_shinfo(skb)->nr_frags + 1;
	blocks = DIV_ROUND_UP(TERN_TX_HEADER_BYTES + parts * sizeof(struct tern_sge),
			      TERN_WQE_BLOCK);
	if (unlikely(tern_tx_room(tx) < blocks)) {
		netif_tx_stop_queue(tx->txq);
		tern_tx_publish(channel);
		return NETDEV_TX_BUSY;
	}
	if (tern_tx_map(tern_dev(priv->adapter), tx, block, skb))
		return tern_tx_drop(channel, skb);

	control = tern_tx_at(tx, block, 0);
	memset(control, 0, sizeof(*control));
	control->opcode = TERN_WQE_ETHERNET;
	control->blocks = blocks;
	control->sge_count = parts;
	if ((block ^ (block + blocks)) & TERN_TX_SIGNAL_BLOCKS)
		control->flags = TERN_WQE_SIGNALED;
	tern_tx_write_ethernet(tern_tx_at(tx, block, sizeof(*control)), skb);

	request = &tx->requests[block & (BIT(tx->shift) - 1)];
	request->skb = skb;
	request->bytes = skb->len;
	request->blocks = blocks;
	request->parts = parts;
	tx->last = control;
	skb_tx_timestamp(skb);
	WRITE_ONCE(tx->producer, block + blocks);

	stopped = !netif_txq_maybe_stop(tx->txq, tern_tx_room(tx), TERN_WQE_BLOCKS_MAX,
					2 * TERN_WQE_BLOCKS_MAX);
	tern_tx_count(tx, skb, linearized, stopped);
	if (__netdev_tx_sent_queue(tx->txq, request->bytes, netdev_xmit_more()) || stopped)
		tern_tx_publish(channel);
	return NETDEV_TX_OK;
}

static void tern_tx_free_request(struct device *dev, struct tern_tx *tx, u32 block, int budget)
{
	struct tern_tx_request *request = &tx->requests[block & (BIT(tx->shift) - 1)];

	tern_tx_unmap(dev, tx, block, request->parts);
	napi_consume_skb(request->skb, budget);
	request->skb = NULL;
}

/*
 * Free the requests up to the one whose first block is @index. Returns false
 * when the device was told of none there.
 */
static bool tern_tx_free_until(struct tern_channel *channel, u32 index, int budget,
			       unsigned int *packets, unsigned int *bytes)
{
	struct tern_tx *tx = &channel->tx;
	/* Pairs with the release in tern_tx_publish(). */
	u32 published = smp_load_acquire(&tx->published);
	u32 block = tx->consumer;
	u32 offset = (index - block) & (BIT(tx->shift) - 1);
	u32 end = block + offset;
	struct tern_tx_request *request;

	if (offset >= published - block)
		return false;
	do {
		request = &tx->requests[block & (BIT(tx->shift) - 1)];
		*packets += 1;
		*bytes += request->bytes;
		tern_tx_free_request(tern_dev(channel->priv->adapter), tx, block, budget);
		block += request->blocks;
	} while ((s32)(end - block) >= 0);
	WRITE_ONCE(tx->consumer, block);
	return true;
}

/* Returns whether there may be more to do. */
bool tern_tx_poll(struct tern_channel *channel, int budget)
{
	struct tern_netdev *priv = channel->priv;
	struct tern_tx *tx = &channel->tx;
	struct tern_cq *cq = &channel->tx_cq;
	unsigned int packets = 0, bytes = 0, errors = 0, done = 0;
	const struct tern_cqe *cqe;
	u8 status;

	for (; done < TERN_TX_POLL_MAX && (cqe = tern_cq_next(cq)); done++) {
		status = READ_ONCE(cqe->status);
		if (le32_to_cpu(READ_ONCE(cqe->queue)) != channel->qpn ||
		    !tern_tx_free_until(channel, le32_to_cpu(READ_ONCE(cqe->index)), budget,
					&packets, &bytes))
			tern_netdev_schedule_restart(priv, "a transmit completion makes no sense");
		else if (status == TERN_WC_FLUSHED)
			tern_netdev_schedule_restart(priv, "a send queue failed");
		else if (status != TERN_WC_SUCCESS)
			errors++;
		cq->index++;
	}
	if (!done)
		return false;
	tern_consume(cq->record.cpu, cq->index);

	u64_stats_update_begin(&tx->statistics->completed_sync);
	u64_stats_add(&tx->statistics->packets, packets);
	u64_stats_add(&tx->statistics->bytes, bytes);
	u64_stats_add(&tx->statistics->errors, errors);
	u64_stats_update_end(&tx->statistics->completed_sync);
	netif_txq_completed_wake(tx->txq, packets, bytes, tern_tx_room(tx),
				 2 * TERN_WQE_BLOCKS_MAX);
	return done == TERN_TX_POLL_MAX;
}

int tern_tx_create(struct tern_channel *channel)
{
	struct tern_netdev *priv = channel->priv;
	struct tern_device *tern = &priv->adapter->device;
	struct tern_tx *tx = &channel->tx;
	size_t blocks = BIT(priv->settings.tx_shift);
	int err;

	tx->shift = priv->settings.tx_shift;
	tx->sges_max = min(TERN_TX_SGES_MAX, tern->caps.send_sge_max);
	tx->txq = netdev_get_tx_queue(priv->netdev, channel->index);
	tx->statistics = &priv->tx_statistics[channel->index];
	err = tern_buffer_alloc(tern, &tx->buffer, TERN_WQE_BLOCK * blocks);
	if (err)
		return err;
	err = tern_record_alloc(tern, &tx->record);
	if (err)
		goto free_buffer;
	err = -ENOMEM;
	tx->requests = kvcalloc(blocks, sizeof(*tx->requests), GFP_KERNEL);
	if (!tx->requests)
		goto free_record;
	tx->parts = kvcalloc(blocks, TERN_SGES_PER_BLOCK * sizeof(*tx->parts), GFP_KERNEL);
	if (!tx->parts)
		goto free_requests;
	netdev_tx_reset_queue(tx->txq);
	return 0;

free_requests:
	kvfree(tx->requests);
free_record:
	tern_record_free(tern, &tx->record);
free_buffer:
	tern_buffer_free(tern, &tx->buffer);
	return err;
}

/* The device does not use the queue any more and nobody sends. */
void tern_tx_destroy(struct tern_channel *channel)
{
	struct tern_device *tern = &channel->priv->adapter->device;
	struct tern_tx *tx = &channel->tx;
	struct tern_tx_request *request;

	while (tx->consumer != tx->producer) {
		request = &tx->requests[tx->consumer & (BIT(tx->shift) - 1)];
		tern_tx_free_request(&tern->pdev->dev, tx, tx->consumer, 0);
		tx->consumer += request->blocks;
	}
	netdev_tx_reset_queue(tx->txq);
	kvfree(tx->parts);
	kvfree(tx->requests);
	tern_record_free(tern, &tx->record);
	tern_buffer_free(tern, &tx->buffer);
}
