// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the vfio-user server against a client that plays QEMU, or worse: its messages. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "channel.h"
#include "tern_hw_pci.h"
#include "tern_test.h"
#include "vfio_fixture.h"

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

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
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

TERN_TEST(what_we_do_not_know_is_refused)
{
	static const uint16_t commands[] = { 0, VFIO_USER_DEVICE_GET_REGION_IO_FDS,
					     VFIO_USER_DMA_READ, VFIO_USER_DMA_WRITE, 14,
					     VFIO_USER_DEVICE_FEATURE, VFIO_USER_MIG_DATA_READ,
					     VFIO_USER_MIG_DATA_WRITE, 19, 0xffff };
	uint8_t payload[64] = { 0 };
	size_t got;

	start_negotiated();
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
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

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
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
