/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: a switch of ternd: emulator/switch between ports that NICs of this
 * process are cabled to, or that streams and taps are plugged into.
 */
#ifndef TERND_SWITCH_H
#define TERND_SWITCH_H

#include <json-c/json.h>

#include "fields.h"
#include "tern_switch.h"
#include "ternd.h"

/* Of a port's name: "port 63 of switch NAME". */
#define TERND_PORT_NAME	64

struct ternd_switch_port {
	struct ternd_switch *sw;
	unsigned int number;
	struct tern_port *port;
};

struct ternd_switch {
	struct ternd *ternd;
	struct ternd_switch *next;
	char *name;
	struct tern_switch *core;
	struct tern_switch_config config;	/* as the switch has it */
	struct tern_alarm timer;
	struct ternd_lines log;
	struct ternd_switch_port ports[TERN_SWITCH_PORTS];
};

/* NULL with the reason in @error. The switch is appended to ternd->switches. */
struct ternd_switch *ternd_switch_create(struct ternd *ternd, const char *name,
					 const struct tern_switch_config *config, char *error,
					 size_t error_size);
/* What is plugged into its ports loses carrier. */
void ternd_switch_destroy(struct ternd_switch *sw);
struct ternd_switch *ternd_find_switch(const struct ternd *ternd, const char *name);

/* switch_options.c: an object of "switches", and one of "switch_ports" */
void ternd_switch_make(struct ternd *ternd, json_object *object, unsigned int index, char *error,
		       size_t error_size);
void ternd_switch_port_make(struct ternd *ternd, json_object *object, unsigned int index,
			    char *error, size_t error_size);

/*
 * ports.c. The port that @fields name: "nic", or "switch" and "port"; with
 * @pick the port of a switch may be left out, which is the first free one.
 * Its name goes to @name. NULL: the error is in @fields.
 */
struct tern_port *ternd_field_port(struct ternd *ternd, struct ternd_fields *fields, bool pick,
				   char name[TERND_PORT_NAME]);
/* The switch and port number that @fields name. */
struct ternd_switch_port *ternd_field_switch_port(struct ternd *ternd,
						  struct ternd_fields *fields, bool pick);
/* The "link" of a NIC, when it has one: switch:NAME or switch:NAME:PORT. */
void ternd_field_link(struct ternd *ternd, struct ternd_fields *fields, struct ternd_nic *nic);

/* switch_json.c: all that there is to know of a switch */
json_object *ternd_switch_describe(const struct ternd_switch *sw);
/* What is known of any port. */
json_object *ternd_port_describe(const struct tern_port *port);

#endif /* TERND_SWITCH_H */
