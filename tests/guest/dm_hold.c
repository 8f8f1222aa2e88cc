// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in a guest: a process that has device memory mapped while the device goes
 * away under it. It fills all of it, makes the file /tmp/dm-filled, waits for
 * /tmp/dm-gone, and looks: what it sees is zero then, and what it writes is lost.
 *
 * usage: dm_hold DEVICE
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct ibv_alloc_dm_attr attr = { .length = 0 };
	struct ibv_device_attr_ex device;
	struct ibv_context *context;
	uint64_t word = 0x5ec2e75ec2e7, seen = 1;
	struct ibv_dm *dm;

	context = argc == 2 ? open_device(argv[1]) : NULL;
	if (!context || ibv_query_device_ex(context, NULL, &device))
		die("device");
	attr.length = device.max_dm_size;
	dm = ibv_alloc_dm(context, &attr);
	if (!dm)
		die("ibv_alloc_dm");
	for (uint64_t at = 0; at < attr.length; at += 4096) {
		if (ibv_memcpy_to_dm(dm, at, &word, sizeof(word)))
			die("ibv_memcpy_to_dm");
	}
	close(open("/tmp/dm-filled", O_CREAT | O_WRONLY, 0600));
	while (access("/tmp/dm-gone", F_OK))
		usleep(10000);
	if (ibv_memcpy_from_dm(&seen, dm, 0, sizeof(seen)))
		die("ibv_memcpy_from_dm");
	if (ibv_memcpy_to_dm(dm, 4096, &word, sizeof(word)))
		die("ibv_memcpy_to_dm");
	printf("%#llx\n", (unsigned long long)seen);
	return seen != 0;
}
