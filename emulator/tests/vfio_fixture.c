// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a vfio-user server with a device that remembers, and a client, for tests. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "config_space.h"
#include "tern_hw_pci.h"
#include "tern_test.h"
#include "vfio_fixture.h"

struct fixture_device device;
struct tern_loop *loop;
struct vfio_client client;

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

struct tern_vfio_user *create_server(const char *path, char *error, size_t error_size)
{
	return tern_vfio_user_create(loop, path, &config, &ops, &device, error, error_size);
}

void attach(void)
{
	int fds[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	CHECK_EQ(tern_vfio_user_attach(device.server, fds[0]), 0);
	client_init(&client, loop, fds[1]);
}

void start(void)
{
	char error[200];

	loop = tern_loop_create();
	CHECK(loop);
	device.server = create_server(NULL, error, sizeof(error));
	CHECK(device.server);
	attach();
}

void start_negotiated(void)
{
	start();
	client_negotiate(&client);
}

void stop(void)
{
	close(client.fd);
	tern_vfio_user_destroy(device.server);
	tern_loop_destroy(loop);
}

void check_closed(const char *reason)
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

int memory(uint64_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, (off_t)size), 0);
	return fd;
}

unsigned int open_fds(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

void enable_msix(void)
{
	uint16_t command = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	uint16_t flags = PCI_MSIX_FLAGS_ENABLE | (VECTORS - 1);

	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2),
		 0);
	CHECK_EQ(client_write(&client, VFIO_PCI_CONFIG_REGION_INDEX,
			      TERN_CONFIG_MSIX + PCI_MSIX_FLAGS, &flags, 2), 0);
}

uint64_t fired(int eventfd_fd)
{
	uint64_t count = 0;

	return read(eventfd_fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}
