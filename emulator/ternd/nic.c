// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: one NIC of ternd: the core between a vfio-user socket and a port. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ternd.h"
#include "tern_hw_pci.h"

#define FN	0		/* ternd's NICs have one function: vfio-user carries no SR-IOV */

/* Callbacks of the core. */

static void *host_map(void *host, unsigned int fn, uint64_t iova, size_t *length, bool write)
{
	struct ternd_nic *nic = host;

	(void)fn;
	return tern_vfio_user_map(nic->server, iova, length, write);
}

static void host_unmap(void *host, unsigned int fn, void *address, size_t length, bool write)
{
	/* Guest memory stays mapped as long as the client leaves it so. */
	(void)host;
	(void)fn;
	(void)address;
	(void)length;
	(void)write;
}

static int host_read(void *host, unsigned int fn, uint64_t iova, void *buffer, size_t length)
{
	struct ternd_nic *nic = host;

	(void)fn;
	return tern_vfio_user_read(nic->server, iova, buffer, length);
}

static int host_write(void *host, unsigned int fn, uint64_t iova, const void *buffer,
		      size_t length)
{
	struct ternd_nic *nic = host;

	(void)fn;
	return tern_vfio_user_write(nic->server, iova, buffer, length);
}

static void host_interrupt(void *host, unsigned int fn, unsigned int vector)
{
	struct ternd_nic *nic = host;

	(void)fn;
	tern_vfio_user_interrupt(nic->server, vector);
}

static uint64_t host_now(void *host)
{
	(void)host;
	return tern_loop_now();
}

static void host_set_timer(void *host, uint64_t deadline)
{
	struct ternd_nic *nic = host;

	tern_loop_set_alarm(nic->ternd->loop, &nic->timer, deadline);
}

static_assert(TERN_NIC_NO_DEADLINE == UINT64_MAX, "cancels a loop's alarm");

static void host_transmit(void *host, const struct tern_frame *frame)
{
	struct ternd_nic *nic = host;

	tern_port_transmit(nic->port, frame);
}

static void host_trace(void *host, unsigned int fn, uint32_t qpn, const char *line)
{
	struct ternd_nic *nic = host;

	(void)fn;
	ternd_log(nic->ternd, nic, "qp %u: %s", qpn, line);
}

static void host_log(void *host, unsigned int fn, const char *line)
{
	struct ternd_nic *nic = host;

	(void)fn;
	ternd_nic_log(nic, line);
}

static const struct tern_nic_host host_ops = {
	.map = host_map,
	.unmap = host_unmap,
	.read = host_read,
	.write = host_write,
	.interrupt = host_interrupt,
	.now = host_now,
	.set_timer = host_set_timer,
	.transmit = host_transmit,
	.trace = host_trace,
	.log = host_log,
};

/* Calls into the core, each counted while it lasts. */

static uint64_t device_bar_read(void *device, unsigned int bar, uint64_t offset,
				unsigned int size)
{
	struct ternd_nic *nic = device;
	uint64_t value;

	nic->depth++;
	value = tern_nic_bar_read(nic->core, FN, bar, offset, size);
	nic->depth--;
	return value;
}

static void device_bar_write(void *device, unsigned int bar, uint64_t offset, uint64_t value,
			     unsigned int size)
{
	struct ternd_nic *nic = device;

	nic->depth++;
	tern_nic_bar_write(nic->core, FN, bar, offset, value, size);
	nic->depth--;
}

static void device_bus_master(void *device, bool enabled)
{
	struct ternd_nic *nic = device;

	nic->depth++;
	tern_nic_bus_master(nic->core, FN, enabled);
	nic->depth--;
}

static void device_reset(void *device)
{
	struct ternd_nic *nic = device;

	nic->depth++;
	tern_nic_reset(nic->core, FN);
	nic->depth--;
}

static void device_invalidate(void *device, uint64_t iova, uint64_t length)
{
	struct ternd_nic *nic = device;

	nic->depth++;
	tern_nic_invalidate(nic->core, FN, iova, length);
	nic->depth--;
}

static void device_log(void *device, const char *line)
{
	ternd_nic_log(device, line);
}

static const struct tern_vfio_user_ops device_ops = {
	.pci = {
		.bar_read = device_bar_read,
		.bar_write = device_bar_write,
		.bus_master = device_bus_master,
		.reset = device_reset,
	},
	.invalidate = device_invalidate,
	.log = device_log,
};

static void port_receive(void *context, const struct tern_frame *frame)
{
	struct ternd_nic *nic = context;

	nic->depth++;
	tern_nic_receive(nic->core, frame);
	nic->depth--;
}

static void port_carrier(void *context, bool up)
{
	struct ternd_nic *nic = context;

	nic->depth++;
	tern_nic_set_carrier(nic->core, up);
	nic->depth--;
}

static bool port_busy(void *context)
{
	const struct ternd_nic *nic = context;

	return nic->depth > 0;
}

static const struct tern_port_ops port_ops = {
	.receive = port_receive,
	.carrier = port_carrier,
	.busy = port_busy,
	.log = device_log,
};

static void timer_expired(void *context)
{
	struct ternd_nic *nic = context;

	nic->depth++;
	tern_nic_timer(nic->core);
	nic->depth--;
}

bool ternd_nic_run(struct ternd_nic *nic, unsigned int budget)
{
	bool busy;

	nic->depth++;
	busy = tern_nic_run(nic->core, budget);
	nic->depth--;
	return busy;
}

bool ternd_nic_prepare_sleep(struct ternd_nic *nic)
{
	bool idle;

	nic->depth++;
	idle = tern_nic_prepare_sleep(nic->core);
	nic->depth--;
	return idle;
}

/* The EUI-64 that the MAC address stands for, most significant byte first. */
static uint64_t serial_of(const uint8_t mac[6])
{
	const uint8_t eui[8] = { mac[0], mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5] };
	uint64_t serial = 0;

	for (int i = 0; i < 8; i++)
		serial = serial << 8 | eui[i];
	return serial;
}

static int create_parts(struct ternd_nic *nic, const struct ternd_nic_options *options,
			char *error, size_t error_size)
{
	struct tern_nic_config config = {
		.name = nic->name,
		.functions = 1,
		.speed_mbps = options->speed_mbps,
		.host_mbps = options->host_mbps,
		.receive_buffer = options->receive_buffer,
		.device_memory = options->device_memory,
		.no_shortcuts = !options->shortcuts,
		.seed = options->seed,
	};
	struct tern_pci_config pci = { .device_id = TERN_PCI_DEVICE_ID_PF,
				       .serial = serial_of(options->mac) };

	memcpy(config.mac, options->mac, sizeof(config.mac));
	nic->port = tern_port_create(nic->ternd->loop, &port_ops, nic);
	nic->core = tern_nic_create(&config, &host_ops, nic);
	if (!nic->port || !nic->core) {
		snprintf(error, error_size, "out of memory");
		return -1;
	}
	pci.vectors = tern_nic_vectors(nic->core, FN);
	for (unsigned int bar = 0; bar < TERN_PCI_BARS; bar++)
		pci.bar_size[bar] = tern_nic_bar_size(nic->core, FN, bar);
	nic->server = tern_vfio_user_create(nic->ternd->loop, nic->socket, &pci, &device_ops, nic,
					    error, error_size);
	return nic->server ? 0 : -1;
}

struct ternd_nic *ternd_nic_create(struct ternd *ternd, const struct ternd_nic_options *options,
				   char *error, size_t error_size)
{
	struct ternd_nic *nic = calloc(1, sizeof(*nic)), **link;

	if (!nic) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	nic->ternd = ternd;
	nic->timer.expired = timer_expired;
	nic->timer.context = nic;
	ternd_lines_init(&nic->log, ternd, nic);
	nic->name = strdup(options->name);
	nic->socket = options->socket ? strdup(options->socket) : NULL;
	memcpy(nic->mac, options->mac, sizeof(nic->mac));
	nic->speed_mbps = options->speed_mbps;
	nic->host_mbps = options->host_mbps;
	nic->seed = options->seed;
	nic->shortcuts = options->shortcuts;
	for (link = &ternd->nics; *link; link = &(*link)->next)
		;
	*link = nic;
	if (create_parts(nic, options, error, error_size)) {
		ternd_nic_destroy(nic);
		return NULL;
	}
	return nic;
}

void ternd_nic_destroy(struct ternd_nic *nic)
{
	struct ternd_nic **link;

	for (link = &nic->ternd->nics; *link != nic; link = &(*link)->next)
		;
	*link = nic->next;
	/* Pull the plug first, then let the client go: both call the core. */
	if (nic->core && nic->port)
		tern_port_unplug(nic->port);
	tern_vfio_user_destroy(nic->server);
	tern_port_destroy(nic->port);
	tern_loop_cancel_alarm(nic->ternd->loop, &nic->timer);
	if (nic->core)
		tern_nic_destroy(nic->core);
	/* Nobody logs any more. */
	ternd_lines_left_out(&nic->log);
	free(nic->name);
	free(nic->socket);
	free(nic);
}

struct ternd_nic *ternd_find_nic(const struct ternd *ternd, const char *name)
{
	for (struct ternd_nic *nic = ternd->nics; nic; nic = nic->next) {
		if (!strcmp(nic->name, name))
			return nic;
	}
	return NULL;
}
