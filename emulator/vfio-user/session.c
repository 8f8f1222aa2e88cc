// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: one client's session: what a vfio-user message does. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "session.h"

/* 0 with the reply queued, or a negative errno, with which the caller replies. */
typedef int handler_fn(struct tern_session *session, const struct vfio_user_header *header,
		       const uint8_t *payload, size_t length);

static int reply_with(struct tern_session *session, const struct vfio_user_header *header,
		      const void *payload, size_t length)
{
	void *reply = tern_channel_reply(session->channel, header, 0, length);

	if (!reply)
		return -ENOBUFS;
	if (length)
		memcpy(reply, payload, length);
	return 0;
}

static int dma_map(struct tern_session *session, const struct vfio_user_header *header,
		   const uint8_t *payload, size_t length)
{
	int fds[TERN_CHANNEL_FDS_MAX], err;
	struct vfio_user_dma_map map;
	unsigned int count;

	if (length < sizeof(map))
		return -EINVAL;
	memcpy(&map, payload, sizeof(map));
	if (map.flags & ~(VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITABLE) || !map.flags)
		return -EINVAL;
	count = tern_channel_take_fds(session->channel, fds);
	err = count > 1 ? -EINVAL :
	      tern_dma_map_add(session->dma, map.address, map.size, count ? fds[0] : -1,
			       map.offset, map.flags & VFIO_USER_DMA_READABLE,
			       map.flags & VFIO_USER_DMA_WRITABLE);
	for (unsigned int i = 0; i < count; i++)
		close(fds[i]);
	return err ? err : reply_with(session, header, NULL, 0);
}

static int dma_unmap(struct tern_session *session, const struct vfio_user_header *header,
		     const uint8_t *payload, size_t length)
{
	struct vfio_user_dma_unmap unmap;
	int err;

	if (length < sizeof(unmap))
		return -EINVAL;
	memcpy(&unmap, payload, sizeof(unmap));
	if (unmap.flags == VFIO_USER_DMA_UNMAP_ALL) {
		if (unmap.address || unmap.size)
			return -EINVAL;
		session->ops->invalidate(session->device, 0, UINT64_MAX);
		tern_dma_map_remove_all(session->dma);
		return reply_with(session, header, &unmap, sizeof(unmap));
	}
	if (unmap.flags || !unmap.size || unmap.size - 1 > UINT64_MAX - unmap.address)
		return -EINVAL;
	/* The device forgets the range first; it is served on this very thread. */
	session->ops->invalidate(session->device, unmap.address, unmap.size);
	err = tern_dma_map_remove(session->dma, unmap.address, unmap.size);
	return err ? err : reply_with(session, header, &unmap, sizeof(unmap));
}

static int device_info(struct tern_session *session, const struct vfio_user_header *header,
		       const uint8_t *payload, size_t length)
{
	struct vfio_user_device_info info;

	if (length < sizeof(info))
		return -EINVAL;
	memcpy(&info, payload, sizeof(info));
	if (info.argsz < sizeof(info))
		return -EINVAL;
	info.argsz = sizeof(info);
	info.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI;
	info.num_regions = VFIO_PCI_NUM_REGIONS;
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	return reply_with(session, header, &info, sizeof(info));
}

static uint64_t region_size(const struct tern_session *session, uint32_t region)
{
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		return TERN_PCI_CONFIG_SIZE;
	return tern_pci_function_bar_size(session->function, region);
}

static_assert(VFIO_PCI_BAR0_REGION_INDEX == 0 && VFIO_PCI_BAR5_REGION_INDEX == 5,
	      "the first regions are the BARs");

/*
 * No region can be mapped: QEMU gives posted writes up for the whole device
 * as soon as one can, and a posted doorbell is worth more than a fast clock.
 */
static int region_info(struct tern_session *session, const struct vfio_user_header *header,
		       const uint8_t *payload, size_t length)
{
	struct vfio_user_region_info info;

	if (length < sizeof(info))
		return -EINVAL;
	memcpy(&info, payload, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.size = region_size(session, info.index);
	info.flags = info.size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
	info.cap_offset = 0;
	info.offset = 0;
	return reply_with(session, header, &info, sizeof(info));
}

static int check_access(const struct tern_session *session,
			const struct vfio_user_region_access *access)
{
	uint64_t size = region_size(session, access->region);

	if (!access->count || access->count > TERN_CHANNEL_DATA_MAX)
		return -EINVAL;
	if (access->offset > size || access->count > size - access->offset)
		return -EINVAL;
	return 0;
}

static int region_read(struct tern_session *session, const struct vfio_user_header *header,
		       const uint8_t *payload, size_t length)
{
	struct vfio_user_region_access access;
	uint8_t *reply;
	int err;

	if (length < sizeof(access))
		return -EINVAL;
	memcpy(&access, payload, sizeof(access));
	err = check_access(session, &access);
	if (err)
		return err;
	reply = tern_channel_reply(session->channel, header, 0, sizeof(access) + access.count);
	if (!reply)
		return -ENOBUFS;
	memcpy(reply, &access, sizeof(access));
	reply += sizeof(access);
	session->statistics->register_reads++;
	if (access.region == VFIO_PCI_CONFIG_REGION_INDEX)
		tern_pci_config_read(session->function, access.offset, reply, access.count);
	else
		tern_pci_bar_read(session->function, access.region, access.offset, reply,
				  access.count);
	return 0;
}

static int write_region(struct tern_session *session,
			const struct vfio_user_region_access *access, const uint8_t *data)
{
	int err = check_access(session, access);

	if (err)
		return err;
	session->statistics->register_writes++;
	if (access->region == VFIO_PCI_CONFIG_REGION_INDEX)
		tern_pci_config_write(session->function, access->offset, data, access->count);
	else
		tern_pci_bar_write(session->function, access->region, access->offset, data,
				   access->count);
	return 0;
}

static int region_write(struct tern_session *session, const struct vfio_user_header *header,
			const uint8_t *payload, size_t length)
{
	struct vfio_user_region_access access;
	int err;

	if (length < sizeof(access))
		return -EINVAL;
	memcpy(&access, payload, sizeof(access));
	if (access.count > length - sizeof(access))
		return -EINVAL;
	err = write_region(session, &access, payload + sizeof(access));
	return err ? err : reply_with(session, header, &access, sizeof(access));
}

/* Several writes in one message. The first that fails ends it: those before it are done. */
static int region_write_multi(struct tern_session *session,
			      const struct vfio_user_header *header, const uint8_t *payload,
			      size_t length)
{
	struct vfio_user_write_multi multi;
	struct vfio_user_write_one one;

	if (length < sizeof(multi))
		return -EINVAL;
	memcpy(&multi, payload, sizeof(multi));
	payload += sizeof(multi);
	length -= sizeof(multi);
	if (multi.count > length / sizeof(one))
		return -EINVAL;
	for (uint64_t i = 0; i < multi.count; i++) {
		struct vfio_user_region_access access;
		int err;

		memcpy(&one, payload + i * sizeof(one), sizeof(one));
		if (one.count > sizeof(one.data))
			return -EINVAL;
		access.offset = one.offset;
		access.region = one.region;
		access.count = one.count;
		err = write_region(session, &access, one.data);
		if (err)
			return err;
	}
	return reply_with(session, header, &multi, sizeof(multi));
}

static int device_reset(struct tern_session *session, const struct vfio_user_header *header,
			const uint8_t *payload, size_t length)
{
	(void)payload;
	(void)length;
	tern_pci_function_reset(session->function);
	return reply_with(session, header, NULL, 0);
}

static handler_fn *const handlers[] = {
	[VFIO_USER_VERSION] = tern_session_negotiate,
	[VFIO_USER_DMA_MAP] = dma_map,
	[VFIO_USER_DMA_UNMAP] = dma_unmap,
	[VFIO_USER_DEVICE_GET_INFO] = device_info,
	[VFIO_USER_DEVICE_GET_REGION_INFO] = region_info,
	[VFIO_USER_DEVICE_GET_IRQ_INFO] = tern_session_irq_info,
	[VFIO_USER_DEVICE_SET_IRQS] = tern_session_set_irqs,
	[VFIO_USER_REGION_READ] = region_read,
	[VFIO_USER_REGION_WRITE] = region_write,
	[VFIO_USER_DEVICE_RESET] = device_reset,
	[VFIO_USER_REGION_WRITE_MULTI] = region_write_multi,
};

static int dispatch(struct tern_session *session, const struct vfio_user_header *header,
		    const uint8_t *payload, size_t length, const char **reason)
{
	handler_fn *handler = NULL;
	int err;

	session->statistics->messages++;
	/* We send no commands, so no reply can come. */
	if ((header->flags & VFIO_USER_TYPE_MASK) != VFIO_USER_TYPE_COMMAND) {
		*reason = "it sent a reply to no command";
		return -EPROTO;
	}
	if (header->command < ARRAY_SIZE(handlers))
		handler = handlers[header->command];
	if (!session->negotiated && handler != tern_session_negotiate)
		err = -EINVAL;
	else
		err = handler ? handler(session, header, payload, length) : -ENOTSUP;
	if (err && !tern_channel_reply(session->channel, header, -err, 0))
		return -ENOBUFS;
	if (!session->negotiated) {
		tern_channel_flush(session->channel);
		*reason = "no version was agreed on";
		return -EPROTO;
	}
	return 0;
}

int tern_session_serve(struct tern_session *session, const char **reason)
{
	struct vfio_user_header header;
	const uint8_t *payload;
	size_t length;
	int err;

	*reason = "it went away";
	for (;;) {
		if (!tern_channel_has_room(session->channel)) {
			err = tern_channel_flush(session->channel);
			if (err)
				return err;
		}
		err = tern_channel_next(session->channel, &header, &payload, &length);
		if (err < 0)
			*reason = "it sent a message of an impossible size";
		if (err <= 0)
			break;
		err = dispatch(session, &header, payload, length, reason);
		if (err)
			return err;
		tern_channel_consume(session->channel);
	}
	return err ? err : tern_channel_flush(session->channel);
}

void tern_session_end(struct tern_session *session)
{
	struct tern_msix *msix = tern_pci_function_msix(session->function);

	tern_pci_function_reset(session->function);
	for (unsigned int v = 0; v < session->vectors; v++) {
		tern_msix_connect(msix, v, false);
		tern_msix_client_mask(msix, v, false);
		if (session->eventfds[v] >= 0)
			close(session->eventfds[v]);
		session->eventfds[v] = -1;
	}
	tern_dma_map_remove_all(session->dma);
	tern_channel_destroy(session->channel);
	session->channel = NULL;
	session->negotiated = false;
}
