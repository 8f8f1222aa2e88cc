// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a vfio-user session: interrupts, resets, clients that come and go. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "channel.h"
#include "config_space.h"
#include "tern_hw_pci.h"
#include "tern_socket.h"
#include "tern_test.h"
#include "vfio_fixture.h"

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
	device.server = create_server(path, error, sizeof(error));
	CHECK(device.server);
	/* Another server cannot take the path. */
	second = create_server(path, error, sizeof(error));
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
