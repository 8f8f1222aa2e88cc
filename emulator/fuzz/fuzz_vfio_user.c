// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: fuzzer of the vfio-user protocol: bytes of an arbitrary client, with
 * and without descriptors, against a real NIC.
 *
 * The input is a list of sends. Each begins with two bytes: how many bytes
 * are sent (times 1, or all that is left for 255), and which descriptors go
 * with them: the low four bits their number, the high four what they are.
 * A high nibble of 15 closes the connection and opens the next. With bit 7 of
 * the very first byte of the input clear the fuzzer negotiates by itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol.h"
#include "ternd.h"

#define MEMORY_SIZE	(1 << 20)
#define TURNS_MAX	64

static struct ternd ternd;
static struct ternd_nic *nic;
static int memory, event, pipe_ends[2], client = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct ternd_nic_options options = { .name = "fuzzed", .mac = { 2, 0, 0, 0, 0, 1 },
					     .shortcuts = true };
	char error[300];

	(void)argc;
	(void)argv;
	/* What the NIC tells people would drown what the fuzzer tells. */
	if (!freopen("/dev/null", "w", stdout))
		abort();
	ternd.loop = tern_loop_create();
	ternd.quiet = true;
	nic = ternd_nic_create(&ternd, &options, error, sizeof(error));
	if (!nic)
		abort();
	tern_cable_plug(nic->port, "fuzzed", nic->port, "fuzzed", error, sizeof(error));
	memory = memfd_create("guest", MFD_CLOEXEC);
	event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (memory < 0 || event < 0 || pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK))
		abort();
	return 0;
}

static void turn(void)
{
	for (int i = 0; i < TURNS_MAX; i++) {
		bool busy = ternd_nic_run(nic, 64);

		if (!tern_loop_poll(ternd.loop, 0) && !busy)
			return;
	}
}

static void reconnect(void)
{
	int ends[2];

	if (client >= 0)
		close(client);
	turn();
	tern_vfio_user_detach(nic->server);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends))
		abort();
	client = ends[1];
	if (tern_vfio_user_attach(nic->server, ends[0]))
		abort();
}

static void negotiate(void)
{
	static const struct {
		struct vfio_user_header header;
		struct vfio_user_version version;
	} message = { { .command = VFIO_USER_VERSION, .size = sizeof(message) }, { 0, 1 } };

	if (send(client, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
		abort();
	turn();
}

static void send_with(const uint8_t *bytes, size_t length, unsigned int count,
		      unsigned int kind)
{
	static const int kinds = 4;
	const int fds[] = { memory, event, pipe_ends[1], STDERR_FILENO };
	union {
		char bytes[CMSG_SPACE(16 * sizeof(int))];
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
		for (unsigned int i = 0; i < count; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &fds[kind % kinds], sizeof(int));
	}
	/* A full socket or a closed one: then nothing is sent. */
	if (sendmsg(client, &message, MSG_NOSIGNAL) < 0)
		return;
}

static void drain(void)
{
	static uint8_t bytes[1 << 16];
	uint64_t count;

	while (recv(client, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	if (read(event, &count, sizeof(count)) < 0)
		return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The client may have truncated its memory; the next input begins whole. */
	if (ftruncate(memory, MEMORY_SIZE))
		abort();
	reconnect();
	if (size && !(*data & 0x80))
		negotiate();
	if (size) {
		data++;
		size--;
	}
	while (size >= 2) {
		size_t length = data[0] == 255 ? size - 2 : data[0];
		unsigned int count = data[1] & 15, kind = data[1] >> 4;

		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		if (kind == 15)
			reconnect();
		else if (kind == 14)
			(void)!ftruncate(memory, 4096);
		else
			send_with(data, length, count, kind);
		data += length;
		size -= length;
		turn();
		drain();
	}
	return 0;
}
