// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: a cable between two ports of this process. Frames pass by reference,
 * from one NIC's transmit callback into the other NIC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"

struct cable {
	struct tern_port *end[2];
	char *name[2];
};

static struct tern_port *other_end(const struct cable *cable, const struct tern_port *port)
{
	return cable->end[cable->end[0] == port];
}

static void cable_transmit(void *plug, struct tern_port *from, const struct tern_frame *frame)
{
	tern_port_deliver(other_end(plug, from), frame);
}

static bool cable_connected(void *plug, struct tern_port *port)
{
	return other_end(plug, port)->up;
}

static void cable_port_changed(void *plug, struct tern_port *port)
{
	tern_port_update(other_end(plug, port));
}

static void cable_describe(void *plug, const struct tern_port *port, char *text, size_t size)
{
	const struct cable *cable = plug;

	snprintf(text, size, "cable to %s", cable->name[cable->end[0] == port]);
}

static void cable_free(struct cable *cable)
{
	free(cable->name[0]);
	free(cable->name[1]);
	free(cable);
}

static void cable_unplug(void *plug)
{
	struct cable *cable = plug;

	tern_port_unplugged(cable->end[0]);
	if (cable->end[1] != cable->end[0])
		tern_port_unplugged(cable->end[1]);
	cable_free(cable);
}

static const struct tern_plug_ops cable_ops = {
	.transmit = cable_transmit,
	.connected = cable_connected,
	.port_changed = cable_port_changed,
	.describe = cable_describe,
	.unplug = cable_unplug,
};

int tern_cable_plug(struct tern_port *a, const char *a_name, struct tern_port *b,
		    const char *b_name, char *error, size_t error_size)
{
	struct cable *cable = calloc(1, sizeof(*cable));
	char reason[256];

	if (cable) {
		cable->end[0] = a;
		cable->end[1] = b;
		cable->name[0] = strdup(a_name);
		cable->name[1] = strdup(b_name);
	}
	if (!cable || !cable->name[0] || !cable->name[1]) {
		snprintf(error, error_size, "out of memory");
		if (cable)
			cable_free(cable);
		return -1;
	}
	if (tern_port_plug(a, &cable_ops, cable, reason, sizeof(reason))) {
		snprintf(error, error_size, "%s: %s", a_name, reason);
		cable_free(cable);
		return -1;
	}
	if (a != b && tern_port_plug(b, &cable_ops, cable, reason, sizeof(reason))) {
		snprintf(error, error_size, "%s: %s", b_name, reason);
		tern_port_unplugged(a);
		cable_free(cable);
		return -1;
	}
	tern_port_update(a);
	tern_port_update(b);
	return 0;
}
