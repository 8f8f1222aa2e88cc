// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: which port, of a NIC or of a switch, a person means. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ternd_switch.h"

static void name_port(const struct ternd_switch_port *port, char name[TERND_PORT_NAME])
{
	snprintf(name, TERND_PORT_NAME, "port %u of switch %s", port->number, port->sw->name);
}

static struct ternd_switch *switch_named(struct ternd *ternd, struct ternd_fields *fields,
					 const char *name)
{
	struct ternd_switch *sw = ternd_find_switch(ternd, name);

	if (!sw)
		ternd_fields_fail(fields, "there is no switch \"%s\"", name);
	return sw;
}

static struct ternd_switch_port *free_port(struct ternd_switch *sw, struct ternd_fields *fields)
{
	for (unsigned int i = 0; i < sw->config.ports; i++) {
		if (!tern_port_is_plugged(sw->ports[i].port))
			return &sw->ports[i];
	}
	ternd_fields_fail(fields, "all %u ports of switch \"%s\" are taken", sw->config.ports,
			  sw->name);
	return NULL;
}

struct ternd_switch_port *ternd_field_switch_port(struct ternd *ternd,
						  struct ternd_fields *fields, bool pick)
{
	const char *name = ternd_field_string(fields, "switch", true);
	struct ternd_switch *sw = name ? switch_named(ternd, fields, name) : NULL;
	uint64_t number;

	if (!sw)
		return NULL;
	if (pick && !ternd_field_given(fields, "port"))
		return free_port(sw, fields);
	number = ternd_field_number(fields, "port", true, 0, sw->config.ports - 1);
	return fields->failed ? NULL : &sw->ports[number];
}

struct tern_port *ternd_field_port(struct ternd *ternd, struct ternd_fields *fields, bool pick,
				   char name[TERND_PORT_NAME])
{
	struct ternd_switch_port *port;
	const char *nic_name;
	struct ternd_nic *nic;

	name[0] = '\0';
	if (ternd_field_given(fields, "switch")) {
		if (ternd_field_given(fields, "nic"))
			ternd_fields_fail(fields, "give \"nic\" or \"switch\", not both");
		port = ternd_field_switch_port(ternd, fields, pick);
		if (!port)
			return NULL;
		name_port(port, name);
		return port->port;
	}
	if (ternd_field_given(fields, "port"))
		ternd_fields_fail(fields, "\"port\" goes with \"switch\"");
	nic_name = ternd_field_string(fields, "nic", true);
	if (!nic_name)
		return NULL;
	nic = ternd_find_nic(ternd, nic_name);
	if (!nic) {
		ternd_fields_fail(fields, "there is no NIC \"%s\"", nic_name);
		return NULL;
	}
	snprintf(name, TERND_PORT_NAME, "%s", nic->name);
	return nic->port;
}

/* The number at @text, which is all of it. -1: it is none below @ports. */
static int port_number(const char *text, unsigned int ports)
{
	unsigned long number;
	char *end;

	if (*text < '0' || *text > '9' || strlen(text) > 2)
		return -1;
	number = strtoul(text, &end, 10);
	return *end || number >= ports ? -1 : (int)number;
}

void ternd_field_link(struct ternd *ternd, struct ternd_fields *fields, struct ternd_nic *nic)
{
	const char *text = ternd_field_string(fields, "link", false), *colon;
	struct ternd_switch_port *port;
	char name[TERND_PORT_NAME], reason[300];
	struct ternd_switch *sw;
	int number;

	if (!text)
		return;
	if (strncmp(text, "switch:", 7) || !text[7]) {
		ternd_fields_fail(fields, "\"link\" must be switch:NAME or switch:NAME:PORT, not "
				  "\"%s\"", text);
		return;
	}
	text += 7;
	colon = strchr(text, ':');
	snprintf(name, sizeof(name), "%.*s", (int)(colon ? colon - text : (long)strlen(text)),
		 text);
	sw = switch_named(ternd, fields, name);
	if (!sw)
		return;
	if (colon) {
		number = port_number(colon + 1, sw->config.ports);
		if (number < 0) {
			ternd_fields_fail(fields, "switch \"%s\" has ports 0 to %u, not \"%s\"",
					  sw->name, sw->config.ports - 1, colon + 1);
			return;
		}
		port = &sw->ports[number];
	} else {
		port = free_port(sw, fields);
		if (!port)
			return;
	}
	name_port(port, name);
	if (tern_cable_plug(nic->port, nic->name, port->port, name, reason, sizeof(reason)))
		ternd_fields_fail(fields, "%s", reason);
}
