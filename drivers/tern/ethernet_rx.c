// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: receiving.
 *
 * A frame lies in up to three buffers of a page pool. The first has room for
 * the skb's headroom and shared info, so that the skb is built around it; the
 * others become fragments. Small frames share pages.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/log2.h>
#include <linux/skbuff.h>
#include <net/page_pool/helpers.h>

#include "channel.h"
#include "netdev.h"
#include "tern_hw_ethernet.h"

#define TERN_RX_HEADROOM	NET_SKB_PAD
#define TERN_RX_TAILROOM	SKB_DATA_ALIGN(sizeof(struct skb_shared_info))
/* Ethernet header and two tags. */
#define TERN_RX_L2_BYTES	(ETH_HLEN + 2 * VLAN_HLEN)
#define TERN_RX_HEAD_MIN	1024
/* Tell the device of new entries in batches. */
#define TERN_RX_BATCH		16

/**
 * tern_rx_layout() - how a frame is spread over buffers
 * @layout: filled in
 * @mtu: largest L3 packet
 *
 * Return: false when it does not fit in
 */
bool tern_rx_layout(struct tern_rx_layout *layout, unsigned int mtu)
{
	unsigned int frame = mtu + TERN_RX_L2_BYTES;
	unsigned int bytes = SKB_DATA_ALIGN(TERN_RX_HEADROOM + frame) + TERN_RX_TAILROOM;

	layout->head_bytes = min(PAGE_SIZE, max(roundup_pow_of_two(bytes), TERN_RX_HEAD_MIN));
	layout->head_room = layout->head_bytes - TERN_RX_HEADROOM - TERN_RX_TAILROOM;
	layout->count = 1;
	if (frame > layout->head_room)
		layout->count += DIV_ROUND_UP(frame - layout->head_room, PAGE_SIZE);
	return layout->count <= TERN_RX_BUFFERS_MAX;
}

static struct tern_rx_buffer *tern_rx_buffers(const struct tern_rx *rx, u32 entry)
{
	return &rx->buffers[(entry & (BIT(rx->shift) - 1)) * TERN_RX_BUFFERS_MAX];
}

static void tern_rx_put_buffers(struct tern_rx *rx, u32 entry, bool direct)
{
	struct tern_rx_buffer *buffers = tern_rx_buffers(rx, entry);
	unsigned int i;

	for (i = 0; i < TERN_RX_BUFFERS_MAX; i++) {
		if (buffers[i].page)
			page_pool_put_full_page(rx->pool, buffers[i].page, direct);
		buffers[i].page = NULL;
	}
}

static struct page *tern_rx_alloc_buffer(struct tern_rx *rx, unsigned int i, unsigned int *offset)
{
	if (i == 0 && rx->layout.head_bytes < PAGE_SIZE)
		return page_pool_dev_alloc_frag(rx->pool, offset, rx->layout.head_bytes);
	*offset = 0;
	return page_pool_dev_alloc_pages(rx->pool);
}

/* Give the entry its buffers. */
static bool tern_rx_fill_entry(struct tern_rx *rx, u32 entry)
{
	struct tern_rx_buffer *buffers = tern_rx_buffers(rx, entry);
	struct tern_receive_header *header;
	struct tern_sge *sge;
	dma_addr_t address;
	unsigned int i;

	header = tern_buffer_at(&rx->buffer, (size_t)(entry & (BIT(rx->shift) - 1)) <<
				TERN_RECEIVE_STRIDE_SHIFT_MIN);
	sge = (struct tern_sge *)(header + 1);
	for (i = 0; i < rx->layout.count; i++, sge++) {
		buffers[i].page = tern_rx_alloc_buffer(rx, i, &buffers[i].offset);
		if (!buffers[i].page) {
			tern_rx_put_buffers(rx, entry, true);
			return false;
		}
		address = page_pool_get_dma_addr(buffers[i].page) + buffers[i].offset;
		sge->address = cpu_to_le64(i ? address : address + TERN_RX_HEADROOM);
		sge->length = cpu_to_le32(i ? PAGE_SIZE : rx->layout.head_room);
		sge->key = cpu_to_le32(TERN_KEY_LOCAL_DMA);
	}
	header->sge_count = rx->layout.count;
	return true;
}

static void tern_rx_publish(struct tern_channel *channel)
{
	struct tern_rx *rx = &channel->rx;

	rx->published = rx->producer;
	tern_publish(&channel->priv->adapter->device, rx->record.cpu, TERN_DOORBELL_RECEIVE,
		     channel->qpn, rx->producer);
}

/* What cannot be had now is tried again at the next poll, which tern_rx_revive() assures. */
static void tern_rx_fill(struct tern_channel *channel)
{
	struct tern_rx *rx = &channel->rx;

	while (rx->producer - rx->consumer < BIT(rx->shift)) {
		if (!tern_rx_fill_entry(rx, rx->producer)) {
			u64_stats_update_begin(&rx->statistics->sync);
			u64_stats_inc(&rx->statistics->no_memory);
			u64_stats_update_end(&rx->statistics->sync);
			break;
		}
		rx->producer++;
		if (rx->producer - rx->published >= TERN_RX_BATCH)
			tern_rx_publish(channel);
	}
}

void tern_rx_revive(struct tern_channel *channel)
{
	const struct tern_rx *rx = &channel->rx;

	if (READ_ONCE(rx->producer) - READ_ONCE(rx->consumer) >= TERN_RX_BATCH)
		return;
	local_bh_disable();
	napi_schedule(&channel->napi);
	local_bh_enable();
}

static void tern_rx_sync(struct device *dev, const struct tern_rx_buffer *buffer,
			 unsigned int headroom, unsigned int bytes)
{
	dma_sync_single_range_for_cpu(dev, page_pool_get_dma_addr(buffer->page),
				      buffer->offset + headroom, bytes, DMA_FROM_DEVICE);
}

/* Make an skb of the entry's buffers; they are the skb's then, or still there if there is none. */
static struct sk_buff *tern_rx_build_skb(struct tern_channel *channel, u32 entry, u32 bytes)
{
	struct device *dev = tern_dev(channel->priv->adapter);
	struct tern_rx *rx = &channel->rx;
	struct tern_rx_buffer *buffers = tern_rx_buffers(rx, entry);
	u32 part = min(bytes, rx->layout.head_room);
	struct sk_buff *skb;
	unsigned int i;

	tern_rx_sync(dev, &buffers[0], TERN_RX_HEADROOM, part);
	skb = napi_build_skb(page_address(buffers[0].page) + buffers[0].offset,
			     rx->layout.head_bytes);
	if (!skb)
		return NULL;
	skb_mark_for_recycle(skb);
	skb_reserve(skb, TERN_RX_HEADROOM);
	skb_put(skb, part);
	buffers[0].page = NULL;
	for (i = 1, bytes -= part; bytes; i++, bytes -= part) {
		part = min(bytes, PAGE_SIZE);
		tern_rx_sync(dev, &buffers[i], 0, part);
		skb_add_rx_frag(skb, i - 1, buffers[i].page, buffers[i].offset, part, PAGE_SIZE);
		buffers[i].page = NULL;
	}
	return skb;
}

static bool tern_rx_set_offloads(const struct net_device *netdev, struct sk_buff *skb,
				 const struct tern_cqe *cqe)
{
	u8 hash_type = READ_ONCE(cqe->hash_type);
	u8 flags = READ_ONCE(cqe->flags);
	bool checked = false;

	if (netdev->features & NETIF_F_RXHASH && hash_type)
		skb_set_hash(skb, le32_to_cpu(READ_ONCE(cqe->hash)),
			     hash_type & (TERN_RSS_IPV4 | TERN_RSS_IPV6) ? PKT_HASH_TYPE_L3 :
									   PKT_HASH_TYPE_L4);
	if (netdev->features & NETIF_F_RXCSUM && flags & TERN_CQE_FLAG_L4_CHECKSUM_OK) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		checked = true;
	}
	if (flags & TERN_CQE_FLAG_VLAN)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q),
				       le16_to_cpu(READ_ONCE(cqe->vlan_tci)));
	return checked;
}

/* What a poll has counted so far. */
struct tern_rx_counts {
	unsigned int packets;
	unsigned int bytes;
	unsigned int checksum_ok;
	unsigned int errors;
	unsigned int no_memory;
	unsigned int bad_completions;
};

/* The completion of the oldest entry. */
static void tern_rx_receive(struct tern_channel *channel, const struct tern_cqe *cqe, u32 bytes,
			    struct tern_rx_counts *counts)
{
	struct net_device *netdev = channel->priv->netdev;
	struct sk_buff *skb;

	skb = tern_rx_build_skb(channel, channel->rx.consumer, bytes);
	if (!skb) {
		counts->no_memory++;
		return;
	}
	if (tern_rx_set_offloads(netdev, skb, cqe))
		counts->checksum_ok++;
	counts->packets++;
	counts->bytes += bytes;
	skb_record_rx_queue(skb, channel->index);
	skb->protocol = eth_type_trans(skb, netdev);
	napi_gro_receive(&channel->napi, skb);
}

static bool tern_rx_make_sense(const struct tern_channel *channel, const struct tern_cqe *cqe)
{
	const struct tern_rx *rx = &channel->rx;
	u32 index = le32_to_cpu(READ_ONCE(cqe->index));

	return le32_to_cpu(READ_ONCE(cqe->queue)) == channel->qpn &&
	       READ_ONCE(cqe->opcode) & TERN_CQE_RECEIVER &&
	       !((index ^ rx->consumer) & (BIT(rx->shift) - 1)) && rx->consumer != rx->published;
}

static void tern_rx_complete(struct tern_channel *channel, const struct tern_cqe *cqe,
			     struct tern_rx_counts *counts)
{
	struct tern_rx *rx = &channel->rx;
	u32 bytes = le32_to_cpu(READ_ONCE(cqe->byte_count));

	if (!tern_rx_make_sense(channel, cqe)) {
		counts->bad_completions++;
		tern_netdev_schedule_restart(channel->priv, "a receive completion makes no sense");
		return;
	}
	if (READ_ONCE(cqe->status) != TERN_WC_SUCCESS) {
		counts->errors++;
		tern_netdev_schedule_restart(channel->priv, "a receive request failed");
	} else if (bytes < ETH_HLEN ||
		   bytes > rx->layout.head_room + (rx->layout.count - 1) * PAGE_SIZE) {
		counts->bad_completions++;
	} else {
		tern_rx_receive(channel, cqe, bytes, counts);
	}
	tern_rx_put_buffers(rx, rx->consumer, true);
	rx->consumer++;
}

int tern_rx_poll(struct tern_channel *channel, int budget)
{
	struct tern_rx_statistics *statistics = channel->rx.statistics;
	struct tern_cq *cq = &channel->rx_cq;
	struct tern_rx_counts counts = {};
	const struct tern_cqe *cqe;
	int done = 0;

	for (; done < budget && (cqe = tern_cq_next(cq)); done++) {
		tern_rx_complete(channel, cqe, &counts);
		cq->index++;
	}
	if (done) {
		tern_consume(cq->record.cpu, cq->index);
		u64_stats_update_begin(&statistics->sync);
		u64_stats_add(&statistics->packets, counts.packets);
		u64_stats_add(&statistics->bytes, counts.bytes);
		u64_stats_add(&statistics->checksum_ok, counts.checksum_ok);
		u64_stats_add(&statistics->errors, counts.errors);
		u64_stats_add(&statistics->no_memory, counts.no_memory);
		u64_stats_add(&statistics->bad_completions, counts.bad_completions);
		u64_stats_update_end(&statistics->sync);
	}
	tern_rx_fill(channel);
	return done;
}

static int tern_rx_create_pool(struct tern_channel *channel)
{
	struct tern_netdev *priv = channel->priv;
	struct tern_rx *rx = &channel->rx;
	struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.pool_size = BIT(rx->shift) * rx->layout.count,
		.nid = NUMA_NO_NODE,
		.dev = tern_dev(priv->adapter),
		.napi = &channel->napi,
		.netdev = priv->netdev,
		.queue_idx = channel->index,
		.dma_dir = DMA_FROM_DEVICE,
		.max_len = PAGE_SIZE,
	};

	rx->pool = page_pool_create(&params);
	return PTR_ERR_OR_ZERO(rx->pool);
}

int tern_rx_create(struct tern_channel *channel)
{
	struct tern_netdev *priv = channel->priv;
	struct tern_device *tern = &priv->adapter->device;
	struct tern_rx *rx = &channel->rx;
	int err;

	rx->shift = priv->settings.rx_shift;
	rx->statistics = &priv->rx_statistics[channel->index];
	if (!tern_rx_layout(&rx->layout, priv->settings.mtu))
		return -EINVAL;
	err = tern_buffer_alloc(tern, &rx->buffer,
				BIT(rx->shift + TERN_RECEIVE_STRIDE_SHIFT_MIN));
	if (err)
		return err;
	err = tern_record_alloc(tern, &rx->record);
	if (err)
		goto free_buffer;
	rx->buffers = kvcalloc(BIT(rx->shift), TERN_RX_BUFFERS_MAX * sizeof(*rx->buffers),
			       GFP_KERNEL);
	if (!rx->buffers) {
		err = -ENOMEM;
		goto free_record;
	}
	err = tern_rx_create_pool(channel);
	if (err)
		goto free_buffers;
	return 0;

free_buffers:
	kvfree(rx->buffers);
free_record:
	tern_record_free(tern, &rx->record);
free_buffer:
	tern_buffer_free(tern, &rx->buffer);
	return err;
}

/* The device does not use the queue any more and NAPI is disabled. */
void tern_rx_destroy(struct tern_channel *channel)
{
	struct tern_device *tern = &channel->priv->adapter->device;
	struct tern_rx *rx = &channel->rx;

	for (; rx->consumer != rx->producer; rx->consumer++)
		tern_rx_put_buffers(rx, rx->consumer, false);
	page_pool_destroy(rx->pool);
	kvfree(rx->buffers);
	tern_record_free(tern, &rx->record);
	tern_buffer_free(tern, &rx->buffer);
}
