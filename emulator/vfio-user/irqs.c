// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: interrupts of a vfio-user session: MSI-X vectors and their eventfds. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "session.h"

void tern_session_deliver(void *context, unsigned int vector)
{
	struct tern_session *session = context;
	const uint64_t one = 1;
	ssize_t written;

	/*
	 * MSI-X only delivers to connected vectors. The write can fail only
	 * when the client has driven the counter to its end: its own loss.
	 */
	written = write(session->eventfds[vector], &one, sizeof(one));
	(void)written;
	session->statistics->interrupts++;
}

int tern_session_irq_info(struct tern_session *session, const struct vfio_user_header *header,
			  const uint8_t *payload, size_t length)
{
	struct vfio_user_irq_info info;
	void *reply;

	if (length < sizeof(info))
		return -EINVAL;
	memcpy(&info, payload, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.flags = 0;
	info.count = 0;
	if (info.index == VFIO_PCI_MSIX_IRQ_INDEX) {
		info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE;
		info.count = session->vectors;
	}
	reply = tern_channel_reply(session->channel, header, 0, sizeof(info));
	if (!reply)
		return -ENOBUFS;
	memcpy(reply, &info, sizeof(info));
	return 0;
}

/*
 * Only an eventfd: a write to anything else might block, or do something.
 * It is made non-blocking, so that a full counter cannot stop us.
 */
static int check_eventfd(int fd)
{
	static const char eventfd_name[] = "anon_inode:[eventfd]";
	char path[32], name[sizeof(eventfd_name)];
	ssize_t length;
	int flags;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, name, sizeof(name));
	if (length != (ssize_t)sizeof(name) - 1 || memcmp(name, eventfd_name, (size_t)length))
		return -EINVAL;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return 0;
}

static void disconnect(struct tern_session *session, unsigned int vector)
{
	tern_msix_connect(tern_pci_function_msix(session->function), vector, false);
	if (session->eventfds[vector] >= 0)
		close(session->eventfds[vector]);
	session->eventfds[vector] = -1;
}

static int set_eventfds(struct tern_session *session, const struct vfio_user_irq_set *set)
{
	struct tern_msix *msix = tern_pci_function_msix(session->function);
	int fds[TERN_CHANNEL_FDS_MAX];
	unsigned int count = tern_channel_take_fds(session->channel, fds);
	int err = 0;

	/* No descriptor at all takes those of the range away. */
	if (count && count != set->count)
		err = -EINVAL;
	for (unsigned int i = 0; i < count && !err; i++)
		err = check_eventfd(fds[i]);
	if (err) {
		for (unsigned int i = 0; i < count; i++)
			close(fds[i]);
		return err;
	}
	for (unsigned int i = 0; i < set->count; i++) {
		disconnect(session, set->start + i);
		if (!count)
			continue;
		session->eventfds[set->start + i] = fds[i];
		tern_msix_connect(msix, set->start + i, true);
	}
	return 0;
}

static void disable(struct tern_session *session)
{
	struct tern_msix *msix = tern_pci_function_msix(session->function);

	for (unsigned int v = 0; v < session->vectors; v++) {
		disconnect(session, v);
		tern_msix_client_mask(msix, v, false);
	}
}

/* MASK, UNMASK or TRIGGER each vector of the range, or (DATA_BOOL) those whose byte is not zero. */
static void act(struct tern_session *session, const struct vfio_user_irq_set *set,
		const uint8_t *chosen)
{
	struct tern_msix *msix = tern_pci_function_msix(session->function);

	for (uint32_t i = 0; i < set->count; i++) {
		unsigned int vector = set->start + i;

		if (chosen && !chosen[i])
			continue;
		switch (set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) {
		case VFIO_IRQ_SET_ACTION_MASK:
			tern_msix_client_mask(msix, vector, true);
			break;
		case VFIO_IRQ_SET_ACTION_UNMASK:
			tern_msix_client_mask(msix, vector, false);
			break;
		default:
			tern_msix_raise(msix, vector);
		}
	}
}

int tern_session_set_irqs(struct tern_session *session, const struct vfio_user_header *header,
			  const uint8_t *payload, size_t length)
{
	struct vfio_user_irq_set set;
	uint32_t data, action;
	unsigned int vectors;

	if (length < sizeof(set))
		return -EINVAL;
	memcpy(&set, payload, sizeof(set));
	data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	action = set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	/* Exactly one of each. */
	if (set.flags & ~(VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK) ||
	    !data || data & (data - 1) || !action || action & (action - 1))
		return -EINVAL;
	if (set.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	vectors = set.index == VFIO_PCI_MSIX_IRQ_INDEX ? session->vectors : 0;
	if (set.start > vectors || set.count > vectors - set.start)
		return -EINVAL;
	if (!set.count) {
		if (set.start || data != VFIO_IRQ_SET_DATA_NONE ||
		    action != VFIO_IRQ_SET_ACTION_TRIGGER)
			return -EINVAL;
		if (vectors)
			disable(session);
	} else if (data == VFIO_IRQ_SET_DATA_EVENTFD) {
		int err;

		/* Events on masking and unmasking are for interrupts that mask themselves. */
		if (action != VFIO_IRQ_SET_ACTION_TRIGGER)
			return -ENOTSUP;
		err = set_eventfds(session, &set);
		if (err)
			return err;
	} else if (data == VFIO_IRQ_SET_DATA_BOOL) {
		if (length - sizeof(set) < set.count)
			return -EINVAL;
		act(session, &set, payload + sizeof(set));
	} else {
		act(session, &set, NULL);
	}
	return tern_channel_reply(session->channel, header, 0, 0) ? 0 : -ENOBUFS;
}
