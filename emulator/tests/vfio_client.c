// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a vfio-user client for tests. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tern_test.h"
#include "vfio_client.h"

/* What QEMU 11.1 proposes. */
static const char qemu_capabilities[] =
	"{\"capabilities\": {\"migration\": {\"pgsize\": 4096, \"max_bitmap_size\": 268435456}, "
	"\"max_msg_fds\": 16, \"max_data_xfer_size\": 1048576, \"pgsizes\": 4096, "
	"\"max_dma_maps\": 65535, \"write_multiple\": true}}";

void client_init(struct vfio_client *client, struct tern_loop *loop, int fd)
{
	client->fd = fd;
	client->loop = loop;
	client->next_id = 7;
}

void client_send_raw(struct vfio_client *client, const void *bytes, size_t length,
		     const int *fds, unsigned int count)
{
	union {
		char bytes[CMSG_SPACE(64 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec vector = { (void *)bytes, length };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	if (count) {
		struct cmsghdr *c;

		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	CHECK_EQ(sendmsg(client->fd, &message, MSG_NOSIGNAL), (ssize_t)length);
}

uint16_t client_send(struct vfio_client *client, uint16_t command, uint32_t flags,
		     const void *payload, size_t length, const int *fds, unsigned int count)
{
	static uint8_t bytes[1 << 18];
	struct vfio_user_header header = { .id = client->next_id++, .command = command,
					   .size = (uint32_t)(sizeof(header) + length),
					   .flags = flags };

	CHECK(sizeof(header) + length <= sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	if (length)
		memcpy(bytes + sizeof(header), payload, length);
	client_send_raw(client, bytes, sizeof(header) + length, fds, count);
	return header.id;
}

void client_turn(struct vfio_client *client)
{
	int served;

	do {
		served = tern_loop_poll(client->loop, 0);
		CHECK(served >= 0);
	} while (served);
}

/* Exactly @length bytes; false at the end of the stream. */
static bool receive_all(struct vfio_client *client, void *buffer, size_t length)
{
	uint8_t *to = buffer;

	while (length) {
		ssize_t got = recv(client->fd, to, length, MSG_DONTWAIT);

		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return false;
		if (got < 0) {
			CHECK_EQ(errno, EAGAIN);
			/* The server may still have something to say, but never late. */
			if (tern_loop_poll(client->loop, 0) == 0)
				FAIL("no reply");
			continue;
		}
		to += got;
		length -= (size_t)got;
	}
	return true;
}

int client_receive(struct vfio_client *client, uint16_t id, uint16_t command, void *payload,
		   size_t size, size_t *length)
{
	struct vfio_user_header header;

	client_turn(client);
	if (!receive_all(client, &header, sizeof(header)))
		return -1;
	CHECK_EQ(header.id, id);
	CHECK_EQ(header.command, command);
	CHECK_EQ(header.flags & VFIO_USER_TYPE_MASK, VFIO_USER_TYPE_REPLY);
	*length = header.size - sizeof(header);
	CHECK(*length <= size);
	if (*length && !receive_all(client, payload, *length))
		return -1;
	if (!(header.flags & VFIO_USER_ERROR))
		return 0;
	CHECK_EQ(*length, 0);
	CHECK(header.error > 0);
	return (int)header.error;
}

int client_call(struct vfio_client *client, uint16_t command, const void *payload,
		size_t length, const int *fds, unsigned int count, void *reply, size_t size,
		size_t *got)
{
	uint16_t id = client_send(client, command, 0, payload, length, fds, count);

	return client_receive(client, id, command, reply, size, got);
}

void client_negotiate(struct vfio_client *client)
{
	uint8_t request[sizeof(struct vfio_user_version) + sizeof(qemu_capabilities)];
	struct vfio_user_version version = { 0, 1 };
	uint8_t reply[sizeof(request)];
	size_t got;

	memcpy(request, &version, sizeof(version));
	memcpy(request + sizeof(version), qemu_capabilities, sizeof(qemu_capabilities));
	/* QEMU's buffer for the reply is as long as its request. */
	CHECK_EQ(client_call(client, VFIO_USER_VERSION, request, sizeof(request), NULL, 0, reply,
			     sizeof(reply), &got), 0);
	memcpy(&version, reply, sizeof(version));
	CHECK_EQ(version.major, 0);
	CHECK_EQ(version.minor, 1);
	CHECK_EQ(reply[got - 1], 0);
	CHECK_STR((char *)reply + sizeof(version),
		  "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":65536,"
		  "\"pgsizes\":4096,\"max_dma_maps\":16384,\"write_multiple\":true}}");
}

int client_map(struct vfio_client *client, uint64_t iova, uint64_t size, int fd,
	       uint64_t offset, uint32_t flags)
{
	struct vfio_user_dma_map map = { .argsz = sizeof(map), .flags = flags, .offset = offset,
					 .address = iova, .size = size };
	size_t got;

	return client_call(client, VFIO_USER_DMA_MAP, &map, sizeof(map), &fd, fd >= 0, NULL, 0,
			   &got);
}

int client_unmap(struct vfio_client *client, uint64_t iova, uint64_t size)
{
	struct vfio_user_dma_unmap unmap = { .argsz = sizeof(unmap), .address = iova,
					     .size = size }, reply;
	size_t got;
	int err = client_call(client, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0,
			      &reply, sizeof(reply), &got);

	if (!err)
		CHECK_MEM(&reply, &unmap, sizeof(unmap));
	return err;
}

int client_read(struct vfio_client *client, uint32_t region, uint64_t offset, void *buffer,
		uint32_t count)
{
	struct vfio_user_region_access access = { offset, region, count };
	static uint8_t reply[1 << 18];
	size_t got;
	int err = client_call(client, VFIO_USER_REGION_READ, &access, sizeof(access), NULL, 0,
			      reply, sizeof(reply), &got);

	if (err)
		return err;
	CHECK_EQ(got, sizeof(access) + count);
	CHECK_MEM(reply, &access, sizeof(access));
	memcpy(buffer, reply + sizeof(access), count);
	return 0;
}

static size_t fill_write(uint8_t *message, size_t size, uint32_t region, uint64_t offset,
			 const void *buffer, uint32_t count)
{
	struct vfio_user_region_access access = { offset, region, count };

	CHECK(sizeof(access) + count <= size);
	memcpy(message, &access, sizeof(access));
	memcpy(message + sizeof(access), buffer, count);
	return sizeof(access) + count;
}

int client_write(struct vfio_client *client, uint32_t region, uint64_t offset,
		 const void *buffer, uint32_t count)
{
	static uint8_t message[1 << 17];
	size_t length = fill_write(message, sizeof(message), region, offset, buffer, count), got;
	struct vfio_user_region_access reply;
	int err = client_call(client, VFIO_USER_REGION_WRITE, message, length, NULL, 0, &reply,
			      sizeof(reply), &got);

	if (!err)
		CHECK_MEM(&reply, message, sizeof(reply));
	return err;
}

void client_post(struct vfio_client *client, uint32_t region, uint64_t offset,
		 const void *buffer, uint32_t count)
{
	uint8_t message[256];
	size_t length = fill_write(message, sizeof(message), region, offset, buffer, count);

	client_send(client, VFIO_USER_REGION_WRITE, VFIO_USER_NO_REPLY, message, length, NULL, 0);
}

int client_set_irqs(struct vfio_client *client, uint32_t flags, uint32_t index,
		    uint32_t start, uint32_t count, const int *fds, unsigned int nfds)
{
	struct vfio_user_irq_set set = { .argsz = sizeof(set), .flags = flags, .index = index,
					 .start = start, .count = count };
	size_t got;

	return client_call(client, VFIO_USER_DEVICE_SET_IRQS, &set, sizeof(set), fds, nfds, NULL,
			   0, &got);
}
