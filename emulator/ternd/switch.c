// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: a switch of ternd: emulator/switch between ports of the process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ternd_switch.h"

/* Callbacks of the switch. */

static uint64_t host_now(void *host)
{
	(void)host;
	return tern_loop_now();
}

static void host_set_timer(void *host, uint64_t deadline)
{
	struct ternd_switch *sw = host;

	tern_loop_set_alarm(sw->ternd->loop, &sw->timer, deadline);
}

static void host_transmit(void *host, unsigned int port, const struct tern_frame *frame)
{
	struct ternd_switch *sw = host;

	tern_port_transmit(sw->ports[port].port, frame);
}

static void host_log(void *host, const char *line)
{
	struct ternd_switch *sw = host;
	char text[400];

	snprintf(text, sizeof(text), "switch %s: %s", sw->name, line);
	ternd_lines_log(&sw->log, text);
}

static const struct tern_switch_host host_ops = {
	.now = host_now,
	.set_timer = host_set_timer,
	.transmit = host_transmit,
	.log = host_log,
};

static void timer_expired(void *context)
{
	struct ternd_switch *sw = context;

	tern_switch_timer(sw->core);
}

/* Callbacks of its ports. */

static void port_receive(void *context, const struct tern_frame *frame)
{
	struct ternd_switch_port *port = context;

	tern_switch_receive(port->sw->core, port->number, frame);
}

static void port_carrier(void *context, bool up)
{
	struct ternd_switch_port *port = context;

	tern_switch_set_carrier(port->sw->core, port->number, up);
}

/* It takes a frame at any time, also while it gives one away (tern_switch.h). */
static bool port_busy(void *context)
{
	(void)context;
	return false;
}

static void port_log(void *context, const char *line)
{
	struct ternd_switch_port *port = context;
	char text[300];

	snprintf(text, sizeof(text), "port %u: %s", port->number, line);
	host_log(port->sw, text);
}

static const struct tern_port_ops port_ops = {
	.receive = port_receive,
	.carrier = port_carrier,
	.busy = port_busy,
	.log = port_log,
};

static int create_parts(struct ternd_switch *sw, char *error, size_t error_size)
{
	sw->core = tern_switch_create(&sw->config, &host_ops, sw, error, error_size);
	if (!sw->core)
		return -1;
	for (unsigned int i = 0; i < sw->config.ports; i++) {
		struct ternd_switch_port *port = &sw->ports[i];

		port->sw = sw;
		port->number = i;
		port->port = tern_port_create(sw->ternd->loop, &port_ops, port);
		if (!port->port) {
			snprintf(error, error_size, "out of memory");
			return -1;
		}
	}
	return 0;
}

struct ternd_switch *ternd_switch_create(struct ternd *ternd, const char *name,
					 const struct tern_switch_config *config, char *error,
					 size_t error_size)
{
	struct ternd_switch *sw = calloc(1, sizeof(*sw)), **link;

	if (sw)
		sw->name = strdup(name);
	if (!sw || !sw->name) {
		snprintf(error, error_size, "out of memory");
		free(sw);
		return NULL;
	}
	sw->ternd = ternd;
	sw->config = *config;
	sw->timer.expired = timer_expired;
	sw->timer.context = sw;
	ternd_lines_init(&sw->log, ternd, NULL);
	for (link = &ternd->switches; *link; link = &(*link)->next)
		;
	*link = sw;
	if (create_parts(sw, error, error_size)) {
		ternd_switch_destroy(sw);
		return NULL;
	}
	return sw;
}

void ternd_switch_destroy(struct ternd_switch *sw)
{
	struct ternd_switch **link;

	for (link = &sw->ternd->switches; *link != sw; link = &(*link)->next)
		;
	*link = sw->next;
	/* Each tells the switch that its carrier is gone. */
	for (unsigned int i = 0; i < TERN_SWITCH_PORTS; i++)
		tern_port_destroy(sw->ports[i].port);
	tern_switch_destroy(sw->core);
	tern_loop_cancel_alarm(sw->ternd->loop, &sw->timer);
	ternd_lines_left_out(&sw->log);
	free(sw->name);
	free(sw);
}

struct ternd_switch *ternd_find_switch(const struct ternd *ternd, const char *name)
{
	for (struct ternd_switch *sw = ternd->switches; sw; sw = sw->next) {
		if (!strcmp(sw->name, name))
			return sw;
	}
	return NULL;
}
