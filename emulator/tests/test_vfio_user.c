// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the vfio-user server against a client that plays QEMU, or worse. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "channel.h"
#include "config_space.h"
#include "tern_hw_pci.h"
#include "tern_socket.h"
#include "tern_test.h"
#include "tern_vfio_user.h"
#include "vfio_client.h"

#define VECTORS	40
#define PAGE	4096ULL

/* The device behind the server. */
static struct {
	uint64_t last_offset, last_value, invalidated, invalidated_length;
	unsigned int writes, resets, invalidations;
	struct tern_vfio_user *server;
	/* During a reset or an invalidation memory must still be there. */
	uint64_t probe_iova;
	bool probe_ok;
	char log[4096];
} device;

static uint64_t bar_read(void *context, unsigned int bar, uint64_t offset, unsigned int size)
{
	(void)context;
	(void)bar;
	(void)size;
	return 0x1122334455667788 + offset;
}

static void bar_write(void *context, unsigned int bar, uint64_t offset, uint64_t value,
		      unsigned int size)
{
	(void)context;
	(void)bar;
	(void)size;
	device.writes++;
	device.last_offset = offset;
	device.last_value = value;
}

static void bus_master(void *context, bool enabled)
{
	(void)context;
	(void)enabled;
}

static void probe(void)
{
	uint32_t word;

	if (device.probe_iova)
		device.probe_ok = !tern_vfio_user_read(device.server, device.probe_iova, &word, 4);
}

static void reset(void *context)
{
	(void)context;
	device.resets++;
	probe();
}

static void invalidate(void *context, uint64_t iova, uint64_t length)
{
	(void)context;
	device.invalidations++;
	device.invalidated = iova;
	device.invalidated_length = length;
	probe();
}

static void log_line(void *context, const char *line)
{
	size_t used = strlen(device.log);

	(void)context;
	snprintf(device.log + used, sizeof(device.log) - used, "%s\n", line);
}

static const struct tern_vfio_user_ops ops = {
	.pci = { bar_read, bar_write, bus_master, reset },
	.invalidate = invalidate,
	.log = log_line,
};

static const struct tern_pci_config config = {
	.device_id = TERN_PCI_DEVICE_ID_PF,
	.vectors = VECTORS,
	.bar_size = { TERN_BAR_REGISTERS_SIZE, 0, TERN_BAR_DOORBELLS_SIZE },
	.serial = 1,
};

static struct tern_loop *loop;
static struct vfio_client client;

static void attach(void)
{
	int fds[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	CHECK_EQ(tern_vfio_user_attach(device.server, fds[0]), 0);
	client_init(&client, loop, fds[1]);
}

static void start(void)
{
	char error[200];

	loop = tern_loop_create();
	CHECK(loop);
	device.server = tern_vfio_user_create(loop, NULL, &config, &ops, &device, error,
					      sizeof(error));
	CHECK(device.server);
	attach();
}

static void start_negotiated(void)
{
	start();
	client_negotiate(&client);
}

static void stop(void)
{
	close(client.fd);
	tern_vfio_user_destroy(device.server);
	tern_loop_destroy(loop);
}

static void check_closed(const char *reason)
{
	char byte;

	client_turn(&client);
	/* A reply may still be there; then the end. */
	while (recv(client.fd, &byte, 1, MSG_DONTWAIT) == 1)
		;
	CHECK(recv(client.fd, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET);
	CHECK(!tern_vfio_user_attached(device.server));
	if (!strstr(device.log, reason))
		FAIL("the log has no \"%s\": %s", reason, device.log);
}

static int memory(uint64_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static unsigned int open_fds(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void enable_msix(void)
{
	uint16_t command = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	uint16_t flags = PCI_MSIX_FLAGS_ENABLE | (VECTORS - 1);

	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2),
		 0);
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX,
			      TERN_CONFIG_MSIX + PCI_MSIX_FLAGS, &flags, 2), 0);
}

static uint64_t fired(int eventfd_fd)
{
	uint64_t count = 0;

	return read(eventfd_fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

#define IRQ_EVENTFD	(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)

TERN_TEST(negotiation_as_qemu_does_it)
{
	start_negotiated();
	stop();
}

static int version(uint16_t major, uint16_t minor, const char *json, size_t length, char *reply,
		   size_t size)
{
	uint8_t request[8192] = { 0 };
	struct vfio_user_version v = { major, minor };
	char answer[8192] = "";
	size_t got;
	int err;

	memcpy(request, &v, sizeof(v));
	memcpy(request + sizeof(v), json, length);
	err = client_call(&client, VFIO_USER_VERSION, request, sizeof(v) + length, NULL, 0,
			  answer, sizeof(answer), &got);
	if (!err) {
		memcpy(&v, answer, sizeof(v));
		CHECK_EQ(v.major, 0);
		snprintf(reply, size, "%u %s", v.minor, answer + sizeof(v));
	}
	return err;
}

TERN_TEST(negotiation_of_other_clients)
{
	char reply[600];

	/* No version data at all. */
	start();
	CHECK_EQ(version(0, 0, "", 0, reply, sizeof(reply)), 0);
	CHECK_STR(reply, "0 ");
	stop();
	/* A newer minor; the reply is a subset of what was proposed. */
	start();
	CHECK_EQ(version(0, 9, "{\"capabilities\":{\"max_msg_fds\":1}}", 35, reply,
			 sizeof(reply)), 0);
	CHECK_STR(reply, "1 {\"capabilities\":{\"max_msg_fds\":16}}");
	stop();
	start();
	CHECK_EQ(version(0, 1, "{}", 3, reply, sizeof(reply)), 0);
	CHECK_STR(reply, "1 ");
	stop();
	start();
	CHECK_EQ(version(0, 1, "{\"capabilities\":{}}", 20, reply, sizeof(reply)), 0);
	CHECK_STR(reply, "1 {\"capabilities\":{}}");
	stop();
}

TERN_TEST(negotiation_that_fails_ends_the_session)
{
	static const struct {
		uint16_t major;
		const char *json;
		size_t length;
		int err;
	} cases[] = {
		{ 1, "", 0, EPROTONOSUPPORT },
		{ 0, "{\"capabilities\":", 17, EINVAL },
		{ 0, "{\"capabilities\":{}}", 19, EINVAL },	/* no NUL */
		{ 0, "[]", 3, EINVAL },
		{ 0, "[[[[[[[[[[[[[[]]]]]]]]]]]]]]", 29, EINVAL },
		{ 0, "\0", 1, EINVAL },
	};
	char reply[100];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start();
		CHECK_EQ(version(cases[i].major, 1, cases[i].json, cases[i].length, reply,
				 sizeof(reply)), cases[i].err);
		check_closed("no version was agreed on");
		stop();
		device.log[0] = '\0';
	}
}

TERN_TEST(nothing_before_negotiation)
{
	size_t got;

	start();
	CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0, NULL, 0, &got),
		 EINVAL);
	check_closed("no version was agreed on");
	stop();
}

TERN_TEST(negotiation_only_once)
{
	struct vfio_user_version v = { 0, 1 };
	char reply[64];
	size_t got;

	start_negotiated();
	CHECK_EQ(client_call(&client, VFIO_USER_VERSION, &v, sizeof(v), NULL, 0, reply,
			     sizeof(reply), &got), EINVAL);
	CHECK(tern_vfio_user_attached(device.server));
	stop();
}

TERN_TEST(device_region_and_irq_info)
{
	struct vfio_user_device_info info = { .argsz = sizeof(info) }, short_info = { .argsz = 8 };
	struct vfio_user_region_info region, region_reply;
	struct vfio_user_irq_info irq, irq_reply;
	size_t got;

	start_negotiated();
	CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_GET_INFO, &info, sizeof(info), NULL, 0,
			     &info, sizeof(info), &got), 0);
	CHECK_EQ(info.flags, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	CHECK_EQ(info.num_regions, VFIO_PCI_NUM_REGIONS);
	CHECK_EQ(info.num_irqs, VFIO_PCI_NUM_IRQS);
	CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_GET_INFO, &short_info, sizeof(short_info),
			     NULL, 0, &info, sizeof(info), &got), EINVAL);
	for (uint32_t i = 0; i <= VFIO_PCI_NUM_REGIONS; i++) {
		uint64_t size = i == 0 ? TERN_BAR_REGISTERS_SIZE :
				i == 2 ? TERN_BAR_DOORBELLS_SIZE :
				i == VFIO_PCI_CONFIG_REGION_INDEX ? 4096 : 0;

		memset(&region, 0, sizeof(region));
		region.argsz = sizeof(region);
		region.index = i;
		CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_GET_REGION_INFO, &region,
				     sizeof(region), NULL, 0, &region_reply,
				     sizeof(region_reply), &got),
			 i == VFIO_PCI_NUM_REGIONS ? EINVAL : 0);
		if (i == VFIO_PCI_NUM_REGIONS)
			continue;
		CHECK_EQ(region_reply.size, size);
		/* Never to be mapped: QEMU would give up posted writes. */
		CHECK_EQ(region_reply.flags, size ? VFIO_REGION_INFO_FLAG_READ |
						    VFIO_REGION_INFO_FLAG_WRITE : 0);
	}
	for (uint32_t i = 0; i <= VFIO_PCI_NUM_IRQS; i++) {
		memset(&irq, 0, sizeof(irq));
		irq.argsz = sizeof(irq);
		irq.index = i;
		CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_GET_IRQ_INFO, &irq, sizeof(irq),
				     NULL, 0, &irq_reply, sizeof(irq_reply), &got),
			 i == VFIO_PCI_NUM_IRQS ? EINVAL : 0);
		if (i < VFIO_PCI_NUM_IRQS)
			CHECK_EQ(irq_reply.count, i == VFIO_PCI_MSIX_IRQ_INDEX ? VECTORS : 0);
	}
	stop();
}

TERN_TEST(register_access)
{
	uint16_t command = PCI_COMMAND_MEMORY;
	uint64_t value = 0;
	uint8_t space[4096];

	start_negotiated();
	CHECK_EQ(client_read(&client, VFIO_PCI_CONFIG_REGION_INDEX, 0, space, 4096), 0);
	CHECK_EQ(space[0] | space[1] << 8, 0x1234);
	/* Memory space is off: ones. */
	CHECK_EQ(client_read(&client, 0, 0x20, &value, 8), 0);
	CHECK(value == UINT64_MAX);
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2),
		 0);
	CHECK_EQ(client_read(&client, 0, 0x20, &value, 8), 0);
	CHECK_EQ(value, 0x11223344556677a8);
	value = 99;
	CHECK_EQ(client_write(&client, 2, 0x3000, &value, 8), 0);
	CHECK_EQ(device.last_offset, 0x3000);
	CHECK_EQ(device.last_value, 99);
	stop();
}

TERN_TEST(posted_writes_get_no_reply_and_stay_in_order)
{
	uint16_t command = PCI_COMMAND_MEMORY;
	uint64_t value;
	uint32_t word;

	start_negotiated();
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2),
		 0);
	for (value = 1; value <= 1000; value++) {
		client_post(&client, 2, 8 * value, &value, 8);
		/* The socket's buffer holds some 200 of them. */
		if (value % 100 == 0 && value < 1000)
			client_turn(&client);
	}
	/* The read passes none of them, and its reply is the next thing that comes. */
	CHECK_EQ(client_read(&client, 0, 0, &word, 4), 0);
	CHECK_EQ(device.writes, 1000);
	CHECK_EQ(device.last_value, 1000);
	/* A posted write that fails says nothing either. */
	client_post(&client, 5, 0, &value, 8);
	CHECK_EQ(client_read(&client, 0, 0, &word, 4), 0);
	stop();
}

TERN_TEST(several_writes_in_one_message)
{
	struct {
		struct vfio_user_write_multi multi;
		struct vfio_user_write_one one[3];
	} message = {
		{ 3 },
		{ { 0x10, 2, 8, { 1 } }, { 0x20, 2, 4, { 2 } }, { 0x30, 2, 8, { 3 } } },
	};
	uint16_t command = PCI_COMMAND_MEMORY;
	uint64_t reply;
	size_t got;

	start_negotiated();
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2),
		 0);
	CHECK_EQ(client_call(&client, VFIO_USER_REGION_WRITE_MULTI, &message, sizeof(message),
			     NULL, 0, &reply, sizeof(reply), &got), 0);
	CHECK_EQ(reply, 3);
	CHECK_EQ(device.writes, 3);
	CHECK_EQ(device.last_offset, 0x30);
	CHECK_EQ(device.last_value, 3);
	/* Counts that the message does not hold, also where the product wraps. */
	message.multi.count = 4;
	CHECK_EQ(client_call(&client, VFIO_USER_REGION_WRITE_MULTI, &message, sizeof(message),
			     NULL, 0, &reply, sizeof(reply), &got), EINVAL);
	message.multi.count = UINT64_MAX / sizeof(message.one[0]) + 2;
	CHECK_EQ(client_call(&client, VFIO_USER_REGION_WRITE_MULTI, &message, sizeof(message),
			     NULL, 0, &reply, sizeof(reply), &got), EINVAL);
	message.multi.count = 3;
	message.one[1].count = 9;
	CHECK_EQ(client_call(&client, VFIO_USER_REGION_WRITE_MULTI, &message, sizeof(message),
			     NULL, 0, &reply, sizeof(reply), &got), EINVAL);
	CHECK_EQ(device.writes, 4);
	stop();
}

TERN_TEST(accesses_outside_of_regions_are_errors)
{
	struct vfio_user_region_access access = { 0, 0, 8 };
	uint8_t buffer[64] = { 0 };
	size_t got;

	start_negotiated();
	CHECK_EQ(client_read(&client, 1, 0, buffer, 4), EINVAL);
	CHECK_EQ(client_read(&client, VFIO_PCI_ROM_REGION_INDEX, 0, buffer, 4), EINVAL);
	CHECK_EQ(client_read(&client, 9, 0, buffer, 4), EINVAL);
	CHECK_EQ(client_read(&client, UINT32_MAX, 0, buffer, 4), EINVAL);
	CHECK_EQ(client_read(&client, 0, TERN_BAR_REGISTERS_SIZE - 4, buffer, 8), EINVAL);
	CHECK_EQ(client_read(&client, 0, UINT64_MAX - 3, buffer, 8), EINVAL);
	CHECK_EQ(client_read(&client, 0, 0, buffer, 0), EINVAL);
	CHECK_EQ(client_read(&client, 2, 0, buffer, TERN_CHANNEL_DATA_MAX + 1), EINVAL);
	CHECK_EQ(client_read(&client, 2, 0, buffer, UINT32_MAX), EINVAL);
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX, 4092, buffer, 8), EINVAL);
	/* A write that announces more than it brings. */
	CHECK_EQ(client_call(&client, VFIO_USER_REGION_WRITE, &access, sizeof(access), NULL, 0,
			     buffer, sizeof(buffer), &got), EINVAL);
	CHECK(tern_vfio_user_attached(device.server));
	stop();
}

TERN_TEST(the_largest_transfer)
{
	static uint8_t buffer[TERN_CHANNEL_DATA_MAX];
	uint16_t command = PCI_COMMAND_MEMORY;

	start_negotiated();
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2),
		 0);
	CHECK_EQ(client_read(&client, 2, 0, buffer, sizeof(buffer)), 0);
	CHECK_EQ(client_write(&client, 2, 0, buffer, sizeof(buffer)), 0);
	CHECK_EQ(device.writes, sizeof(buffer) / 8);
	stop();
}

TERN_TEST(dma_map_and_unmap)
{
	int fd = memory(4 * PAGE);
	unsigned int before;
	uint32_t word = 0x12345678, back = 0;

	start_negotiated();
	before = open_fds();
	CHECK_EQ(client_map(&client, 0x10000, 2 * PAGE, fd, PAGE, 3), 0);
	CHECK_EQ(open_fds(), before);
	CHECK_EQ(tern_vfio_user_write(device.server, 0x10000, &word, 4), 0);
	CHECK_EQ(pread(fd, &back, 4, (off_t)PAGE), 4);
	CHECK_EQ(back, word);
	CHECK_EQ(client_map(&client, 0x11000, PAGE, fd, 0, 3), EEXIST);
	CHECK_EQ(client_map(&client, 0x20000, PAGE, fd, 0, 0), EINVAL);
	CHECK_EQ(client_map(&client, 0x20000, PAGE, fd, 0, 7), EINVAL);
	CHECK_EQ(client_map(&client, 0x20000, PAGE, -1, 0, 3), 0);
	CHECK_EQ(tern_vfio_user_read(device.server, 0x20000, &word, 4), -EFAULT);
	/* While the device forgets the range it may still use it. */
	device.probe_iova = 0x10000;
	CHECK_EQ(client_unmap(&client, 0x10000, 2 * PAGE), 0);
	CHECK(device.probe_ok);
	CHECK_EQ(device.invalidated, 0x10000);
	CHECK_EQ(device.invalidated_length, 2 * PAGE);
	CHECK_EQ(tern_vfio_user_read(device.server, 0x10000, &word, 4), -EFAULT);
	CHECK_EQ(client_unmap(&client, 0x10000, 2 * PAGE), ENOENT);
	CHECK_EQ(client_unmap(&client, 0x10000, 0), EINVAL);
	CHECK_EQ(client_unmap(&client, UINT64_MAX - PAGE + 1, 2 * PAGE), EINVAL);
	CHECK_EQ(open_fds(), before);
	close(fd);
	stop();
}

TERN_TEST(unmap_all)
{
	struct vfio_user_dma_unmap unmap = { .argsz = sizeof(unmap),
					     .flags = VFIO_USER_DMA_UNMAP_ALL }, reply;
	struct tern_vfio_user_statistics statistics;
	size_t got;

	start_negotiated();
	for (uint64_t i = 0; i < 10; i++)
		CHECK_EQ(client_map(&client, 2 * i * PAGE, PAGE, -1, 0, 3), 0);
	unmap.size = PAGE;
	CHECK_EQ(client_call(&client, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0,
			     &reply, sizeof(reply), &got), EINVAL);
	unmap.size = 0;
	CHECK_EQ(client_call(&client, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0,
			     &reply, sizeof(reply), &got), 0);
	CHECK_EQ(device.invalidations, 1);
	tern_vfio_user_get_statistics(device.server, &statistics);
	CHECK_EQ(statistics.memory_ranges, 0);
	stop();
}

TERN_TEST(descriptors_pair_with_their_messages)
{
	struct vfio_user_dma_map map = { .argsz = sizeof(map), .flags = 3, .size = PAGE };
	uint64_t iova[3] = { 0x1000, 0x5000, 0x9000 };
	uint16_t id[3];
	uint32_t word;
	size_t got;

	/* All three are in the socket before the server reads the first. */
	start_negotiated();
	for (uint32_t i = 0; i < 3; i++) {
		int fd = memory(PAGE);

		word = 0xaa00 + i;
		CHECK_EQ(pwrite(fd, &word, 4, 0), 4);
		map.address = iova[i];
		id[i] = client_send(&client, VFIO_USER_DMA_MAP, 0, &map, sizeof(map), &fd, 1);
		close(fd);
		client_post(&client, 2, 0, &word, 4);
	}
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_EQ(client_receive(&client, id[i], VFIO_USER_DMA_MAP, NULL, 0, &got), 0);
		CHECK_EQ(tern_vfio_user_read(device.server, iova[i], &word, 4), 0);
		CHECK_EQ(word, 0xaa00 + i);
	}
	stop();
}

TERN_TEST(messages_may_come_in_pieces)
{
	struct {
		struct vfio_user_header header;
		struct vfio_user_dma_map map;
	} message = {
		{ .id = 1, .command = VFIO_USER_DMA_MAP, .size = sizeof(message) },
		{ .argsz = sizeof(message.map), .flags = 3, .address = 0x1000, .size = PAGE },
	};
	int fd = memory(PAGE);
	uint32_t word = 0;
	size_t got;

	start_negotiated();
	/* The descriptor comes with the first byte. */
	for (size_t i = 0; i < sizeof(message); i++) {
		client_send_raw(&client, (uint8_t *)&message + i, 1, &fd, i == 0);
		client_turn(&client);
	}
	CHECK_EQ(client_receive(&client, 1, VFIO_USER_DMA_MAP, NULL, 0, &got), 0);
	CHECK_EQ(tern_vfio_user_read(device.server, 0x1000, &word, 4), 0);
	close(fd);
	stop();
}

TERN_TEST(surplus_descriptors_are_closed)
{
	int fds[TERN_CHANNEL_FDS_MAX + 1], fd = memory(PAGE);
	struct vfio_user_dma_map map = { .argsz = sizeof(map), .flags = 3, .size = PAGE };
	unsigned int before;
	size_t got;

	for (unsigned int i = 0; i <= TERN_CHANNEL_FDS_MAX; i++)
		fds[i] = fd;
	start_negotiated();
	before = open_fds();
	CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_RESET, NULL, 0, fds, 16, NULL, 0, &got),
		 0);
	CHECK_EQ(open_fds(), before);
	CHECK_EQ(client_call(&client, VFIO_USER_DMA_MAP, &map, sizeof(map), fds, 2, NULL, 0,
			     &got), EINVAL);
	CHECK_EQ(open_fds(), before);
	client_send(&client, VFIO_USER_DEVICE_RESET, 0, NULL, 0, fds, 17);
	check_closed("more descriptors than agreed on");
	close(fd);
	stop();
}

TERN_TEST(interrupts_by_eventfd)
{
	int fds[16];

	start_negotiated();
	enable_msix();
	for (int i = 0; i < 16; i++)
		fds[i] = eventfd(0, EFD_NONBLOCK);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 8, 16, fds, 16),
		 0);
	tern_vfio_user_interrupt(device.server, 8);
	tern_vfio_user_interrupt(device.server, 23);
	tern_vfio_user_interrupt(device.server, 7);
	tern_vfio_user_interrupt(device.server, VECTORS);
	CHECK_EQ(fired(fds[0]), 1);
	CHECK_EQ(fired(fds[15]), 1);
	/* Taken away from all of them: nothing fires, what comes pends. */
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 8, 16, NULL, 0),
		 0);
	tern_vfio_user_interrupt(device.server, 8);
	CHECK_EQ(fired(fds[0]), 0);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 8, 1, fds, 1), 0);
	CHECK_EQ(fired(fds[0]), 1);
	/* A client may trigger, mask and unmask. */
	CHECK_EQ(client_set_irqs(&client, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
				 VFIO_PCI_MSIX_IRQ_INDEX, 8, 1, NULL, 0), 0);
	CHECK_EQ(fired(fds[0]), 1);
	CHECK_EQ(client_set_irqs(&client, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK,
				 VFIO_PCI_MSIX_IRQ_INDEX, 8, 1, NULL, 0), 0);
	tern_vfio_user_interrupt(device.server, 8);
	CHECK_EQ(fired(fds[0]), 0);
	CHECK_EQ(client_set_irqs(&client, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK,
				 VFIO_PCI_MSIX_IRQ_INDEX, 8, 1, NULL, 0), 0);
	CHECK_EQ(fired(fds[0]), 1);
	/* And disable all at once. */
	CHECK_EQ(client_set_irqs(&client, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
				 VFIO_PCI_MSIX_IRQ_INDEX, 0, 0, NULL, 0), 0);
	tern_vfio_user_interrupt(device.server, 8);
	CHECK_EQ(fired(fds[0]), 0);
	for (int i = 0; i < 16; i++)
		close(fds[i]);
	stop();
}

TERN_TEST(interrupts_chosen_by_booleans)
{
	struct {
		struct vfio_user_irq_set set;
		uint8_t chosen[3];
	} __attribute__((packed)) message = {
		{ .argsz = sizeof(message), .index = VFIO_PCI_MSIX_IRQ_INDEX, .count = 3,
		  .flags = VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER },
		{ 1, 0, 1 },
	};
	int fds[3] = { eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK),
		       eventfd(0, EFD_NONBLOCK) };
	size_t got;

	start_negotiated();
	enable_msix();
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 0, 3, fds, 3), 0);
	CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_SET_IRQS, &message, sizeof(message), NULL,
			     0, NULL, 0, &got), 0);
	CHECK_EQ(fired(fds[0]), 1);
	CHECK_EQ(fired(fds[1]), 0);
	CHECK_EQ(fired(fds[2]), 1);
	message.set.count = 4;
	CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_SET_IRQS, &message, sizeof(message), NULL,
			     0, NULL, 0, &got), EINVAL);
	stop();
}

TERN_TEST(bad_interrupt_requests)
{
	int event = eventfd(0, 0), fds[3] = { event, event, event }, other = memory(PAGE);
	uint32_t none = VFIO_IRQ_SET_DATA_NONE, trigger = VFIO_IRQ_SET_ACTION_TRIGGER;
	const uint32_t msix = VFIO_PCI_MSIX_IRQ_INDEX;
	unsigned int before;

	start_negotiated();
	before = open_fds();
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, msix, VECTORS, 1, fds, 1), EINVAL);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, msix, UINT32_MAX, 2, fds, 2), EINVAL);
	CHECK_EQ(client_set_irqs(&client, none | trigger, msix, 0, UINT32_MAX, NULL, 0), EINVAL);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, msix, 0, 2, fds, 3), EINVAL);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, msix, 0, 3, fds, 2), EINVAL);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, msix, 0, 1, &other, 1), EINVAL);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_INTX_IRQ_INDEX, 0, 1, fds, 1),
		 EINVAL);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_NUM_IRQS, 0, 1, fds, 1), EINVAL);
	CHECK_EQ(client_set_irqs(&client, trigger, msix, 0, 1, NULL, 0), EINVAL);
	CHECK_EQ(client_set_irqs(&client, none, msix, 0, 1, NULL, 0), EINVAL);
	CHECK_EQ(client_set_irqs(&client, 0xffffffff, msix, 0, 1, NULL, 0), EINVAL);
	CHECK_EQ(client_set_irqs(&client, none | VFIO_IRQ_SET_ACTION_MASK, msix, 0, 0, NULL, 0),
		 EINVAL);
	CHECK_EQ(client_set_irqs(&client, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_MASK,
				 msix, 0, 1, fds, 1), ENOTSUP);
	CHECK_EQ(open_fds(), before);
	/* Disabling what there is none of is no error: QEMU does it with INTx. */
	CHECK_EQ(client_set_irqs(&client, none | trigger, VFIO_PCI_INTX_IRQ_INDEX, 0, 0, NULL, 0),
		 0);
	stop();
}

TERN_TEST(a_full_eventfd_does_not_block)
{
	int fd = eventfd(0, 0);
	uint64_t nearly = UINT64_MAX - 1;

	start_negotiated();
	enable_msix();
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 0, 1, &fd, 1), 0);
	CHECK_EQ(write(fd, &nearly, 8), 8);
	tern_vfio_user_interrupt(device.server, 0);
	tern_vfio_user_interrupt(device.server, 0);
	stop();
}

TERN_TEST(msix_table_written_by_the_client)
{
	uint32_t control = 0, one = 1;
	int fd = eventfd(0, EFD_NONBLOCK);

	start_negotiated();
	enable_msix();
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 3, 1, &fd, 1), 0);
	CHECK_EQ(client_write(&client, 0, TERN_BAR0_MSIX_TABLE + 3 * 16 + 12, &one, 4), 0);
	tern_vfio_user_interrupt(device.server, 3);
	CHECK_EQ(fired(fd), 0);
	CHECK_EQ(client_read(&client, 0, TERN_BAR0_MSIX_PBA, &control, 4), 0);
	CHECK_EQ(control, 8);
	control = 0;
	CHECK_EQ(client_write(&client, 0, TERN_BAR0_MSIX_TABLE + 3 * 16 + 12, &control, 4), 0);
	CHECK_EQ(fired(fd), 1);
	stop();
}

TERN_TEST(reset_by_message_and_by_config_write)
{
	uint16_t flr = PCI_EXP_DEVCTL_BCR_FLR, command = 0;
	int fd = eventfd(0, EFD_NONBLOCK);
	size_t got;

	start_negotiated();
	enable_msix();
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 0, 1, &fd, 1), 0);
	CHECK_EQ(client_call(&client, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0, NULL, 0, &got),
		 0);
	CHECK_EQ(device.resets, 1);
	CHECK_EQ(client_read(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2), 0);
	CHECK_EQ(command, 0);
	tern_vfio_user_interrupt(device.server, 0);
	CHECK_EQ(fired(fd), 0);
	/* The guest restores config space; QEMU's eventfds are as they were. */
	enable_msix();
	tern_vfio_user_interrupt(device.server, 0);
	CHECK_EQ(fired(fd), 1);
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX,
			      TERN_CONFIG_PCIE + PCI_EXP_DEVCTL, &flr, 2), 0);
	CHECK_EQ(device.resets, 2);
	stop();
}

TERN_TEST(what_we_do_not_know_is_refused)
{
	static const uint16_t commands[] = { 0, VFIO_USER_DEVICE_GET_REGION_IO_FDS,
					     VFIO_USER_DMA_READ, VFIO_USER_DMA_WRITE, 14,
					     VFIO_USER_DEVICE_FEATURE, VFIO_USER_MIG_DATA_READ,
					     VFIO_USER_MIG_DATA_WRITE, 19, 0xffff };
	uint8_t payload[64] = { 0 };
	size_t got;

	start_negotiated();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		CHECK_EQ(client_call(&client, commands[i], payload, sizeof(payload), NULL, 0,
				     NULL, 0, &got), ENOTSUP);
	stop();
}

TERN_TEST(payloads_that_are_too_short)
{
	uint8_t payload[64] = { 0 };
	uint16_t id;
	size_t got;

	start_negotiated();
	for (uint16_t command = VFIO_USER_DMA_MAP; command <= VFIO_USER_REGION_WRITE_MULTI;
	     command++) {
		if (command == VFIO_USER_DEVICE_RESET)
			continue;
		for (size_t length = 0; length < 8; length++) {
			id = client_send(&client, command, 0, payload, length, NULL, 0);
			CHECK(client_receive(&client, id, command, payload, sizeof(payload),
					     &got) > 0);
		}
	}
	stop();
}

TERN_TEST(impossible_sizes_end_the_session)
{
	static const uint32_t sizes[] = { 0, 15, TERN_CHANNEL_MESSAGE_MAX + 1, UINT32_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct vfio_user_header header = { .command = VFIO_USER_DEVICE_RESET,
						   .size = sizes[i] };

		start_negotiated();
		client_send_raw(&client, &header, sizeof(header), NULL, 0);
		check_closed("impossible size");
		stop();
		device.log[0] = '\0';
	}
}

TERN_TEST(replies_to_nothing_end_the_session)
{
	start_negotiated();
	client_send(&client, VFIO_USER_DMA_READ, VFIO_USER_TYPE_REPLY, NULL, 0, NULL, 0);
	check_closed("reply to no command");
	stop();
}

TERN_TEST(a_client_that_goes_leaves_nothing_behind)
{
	int fd = memory(PAGE), event = eventfd(0, EFD_NONBLOCK);
	struct tern_vfio_user_statistics statistics;
	unsigned int before;
	uint16_t command = 0;
	uint32_t word;

	start();
	before = open_fds();
	client_negotiate(&client);
	enable_msix();
	CHECK_EQ(client_map(&client, 0x1000, PAGE, fd, 0, 3), 0);
	CHECK_EQ(client_set_irqs(&client, IRQ_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 0, 1, &event, 1),
		 0);
	/* Reset comes while its memory is still there. */
	device.probe_iova = 0x1000;
	close(client.fd);
	client_turn(&client);
	CHECK(!tern_vfio_user_attached(device.server));
	CHECK_EQ(device.resets, 1);
	CHECK(device.probe_ok);
	device.probe_iova = 0;
	CHECK_EQ(open_fds(), before - 2);
	CHECK_EQ(tern_vfio_user_read(device.server, 0x1000, &word, 4), -EFAULT);
	tern_vfio_user_interrupt(device.server, 0);
	CHECK_EQ(fired(event), 0);
	/* The next one finds a NIC as after power-on. */
	attach();
	client_negotiate(&client);
	CHECK_EQ(client_read(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2), 0);
	CHECK_EQ(command, 0);
	CHECK_EQ(client_map(&client, 0x1000, PAGE, fd, 0, 3), 0);
	tern_vfio_user_get_statistics(device.server, &statistics);
	CHECK_EQ(statistics.clients, 2);
	stop();
}

TERN_TEST(a_client_that_goes_in_the_middle_of_a_message)
{
	struct vfio_user_header header = { .command = VFIO_USER_DMA_MAP, .size = 48 };
	int fd = memory(PAGE);
	unsigned int before;

	start_negotiated();
	before = open_fds();
	client_send_raw(&client, &header, sizeof(header), &fd, 1);
	close(client.fd);
	client_turn(&client);
	CHECK(!tern_vfio_user_attached(device.server));
	CHECK_EQ(open_fds(), before - 2);
	stop();
}

TERN_TEST(a_client_that_does_not_read_holds_up_only_itself)
{
	struct vfio_user_region_access access = { 0, 2, TERN_CHANNEL_DATA_MAX };
	static uint8_t reply[TERN_CHANNEL_MESSAGE_MAX];
	struct tern_vfio_user_statistics statistics;
	unsigned int received = 0;

	start_negotiated();
	for (int i = 0; i < 100; i++)
		client_send(&client, VFIO_USER_REGION_READ, 0, &access, sizeof(access), NULL, 0);
	/* The loop comes to rest, with most of the requests waiting. */
	client_turn(&client);
	tern_vfio_user_get_statistics(device.server, &statistics);
	CHECK(statistics.register_reads > 0 && statistics.register_reads < 50);
	/* Once it reads, all are answered. */
	while (received < 100 * (16 + sizeof(access) + TERN_CHANNEL_DATA_MAX)) {
		ssize_t got = recv(client.fd, reply, sizeof(reply), MSG_DONTWAIT);

		if (got > 0)
			received += (unsigned int)got;
		else
			CHECK(tern_loop_poll(loop, 0) > 0);
	}
	tern_vfio_user_get_statistics(device.server, &statistics);
	CHECK_EQ(statistics.register_reads, 100);
	stop();
}

TERN_TEST(a_truncated_memory_file)
{
	int fd = memory(2 * PAGE);
	size_t length = PAGE;
	volatile uint8_t *held;

	start_negotiated();
	CHECK_EQ(client_map(&client, 0x1000, 2 * PAGE, fd, 0, 3), 0);
	held = tern_vfio_user_map(device.server, 0x2000, &length, true);
	CHECK(held);
	CHECK_EQ(ftruncate(fd, 0), 0);
	held[0] = 1;
	length = PAGE;
	CHECK(!tern_vfio_user_map(device.server, 0x1000, &length, true));
	CHECK(strstr(device.log, "cut its memory file short"));
	CHECK(tern_vfio_user_attached(device.server));
	CHECK_EQ(client_unmap(&client, 0x1000, 2 * PAGE), 0);
	stop();
}

TERN_TEST(one_client_at_a_time_at_the_socket)
{
	char directory[] = "/tmp/tern-test-XXXXXX", path[64], error[200], byte;
	struct tern_vfio_user *second;
	int first, other;

	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/nic", directory);
	loop = tern_loop_create();
	device.server = tern_vfio_user_create(loop, path, &config, &ops, &device, error,
					      sizeof(error));
	CHECK(device.server);
	/* Another server cannot take the path. */
	second = tern_vfio_user_create(loop, path, &config, &ops, &device, error, sizeof(error));
	CHECK(!second);
	CHECK(strstr(error, "served by another process"));
	first = tern_socket_connect(path);
	CHECK(first >= 0);
	client_init(&client, loop, first);
	client_negotiate(&client);
	other = tern_socket_connect(path);
	CHECK(other >= 0);
	client_turn(&client);
	CHECK_EQ(recv(other, &byte, 1, MSG_DONTWAIT), 0);
	close(other);
	/* The first goes and the next comes, both before the server looks. */
	close(first);
	other = tern_socket_connect(path);
	CHECK(other >= 0);
	client_init(&client, loop, other);
	client_turn(&client);
	client_negotiate(&client);
	tern_vfio_user_destroy(device.server);
	CHECK(access(path, F_OK));
	/* A socket that nobody serves is replaced; a file is not. */
	tern_loop_destroy(loop);
	CHECK_EQ(rmdir(directory), 0);
}
