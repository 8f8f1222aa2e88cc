// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: what a person asks of a switch and of its ports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "ternd_switch.h"

#define PORTS_DEFAULT		8
#define SPEED_DEFAULT_MBPS	100000	/* as a NIC's */
#define PMAX_DEFAULT		0.01	/* of the DCQCN paper, SIGCOMM 2015, table 14 */
#define AGEING_MAX_MS		1000000000u	/* far above 802.1Q's 1,000,000 s */
#define VID_LAST		4094

/* A list such as 3 or 3+4 of numbers up to @max, each given to @take. */
static void each_number(struct ternd_fields *fields, const char *key, unsigned int max,
			void (*take)(void *context, unsigned int number), void *context)
{
	const char *text, *at;

	if (!ternd_field_given(fields, key))
		return;
	/* In JSON a single one may be a number. */
	if (json_object_is_type(json_object_object_get(fields->object, key), json_type_int)) {
		take(context, (unsigned int)ternd_field_number(fields, key, true, 0, max));
		return;
	}
	text = ternd_field_string(fields, key, true);
	for (at = text; at; at++) {
		unsigned long number = 0;
		char *end = NULL;

		if (*at >= '0' && *at <= '9')
			number = strtoul(at, &end, 10);
		if (!end || number > max || (*end && *end != '+')) {
			ternd_fields_fail(fields, "\"%s\" must be numbers from 0 to %u such as 3 "
					  "or 3+4, not \"%s\"", key, max, text);
			return;
		}
		take(context, (unsigned int)number);
		if (!*end)
			return;
		at = end;
	}
}

static void take_bit(void *context, unsigned int number)
{
	uint8_t *mask = context;

	*mask |= (uint8_t)(1u << number);
}

static uint8_t priorities_field(struct ternd_fields *fields, const char *key, uint8_t otherwise)
{
	uint8_t mask = 0;

	if (!ternd_field_given(fields, key))
		return otherwise;
	each_number(fields, key, TERN_SWITCH_PRIORITIES - 1, take_bit, &mask);
	return mask;
}

static void marking_fields(struct ternd_fields *fields, struct tern_switch_config *config)
{
	uint64_t kmin = ternd_field_number(fields, "kmin", false, 0, TERN_SWITCH_BUFFER_MAX);
	uint64_t kmax = ternd_field_number(fields, "kmax", false, 0, TERN_SWITCH_BUFFER_MAX);
	double pmax = ternd_field_fraction(fields, "pmax", false, PMAX_DEFAULT);
	bool drop = ternd_field_bool(fields, "wred_drop", false, false);
	uint8_t mask = priorities_field(fields, "ecn", UINT8_MAX);

	if (ternd_field_given(fields, "kmin") != ternd_field_given(fields, "kmax"))
		ternd_fields_fail(fields, "\"kmin\" and \"kmax\" go together");
	if (!ternd_field_given(fields, "kmax") &&
	    (ternd_field_given(fields, "pmax") || ternd_field_given(fields, "ecn") ||
	     ternd_field_given(fields, "wred_drop")))
		ternd_fields_fail(fields, "\"pmax\", \"ecn\" and \"wred_drop\" go with \"kmin\" "
				  "and \"kmax\"");
	if (ternd_field_given(fields, "kmax") && !kmax)
		ternd_fields_fail(fields, "\"kmax\" must not be 0");
	if (kmin > kmax)
		ternd_fields_fail(fields, "\"kmin\" must not be above \"kmax\"");
	for (unsigned int i = 0; i < TERN_SWITCH_PRIORITIES; i++) {
		if (!(mask >> i & 1))
			continue;
		config->priorities[i].kmin = kmin;
		config->priorities[i].kmax = kmax;
		config->priorities[i].pmax = pmax;
		/* Lossless ones are marked where they can be, and dropped in no case. */
		config->priorities[i].wred_drop = drop && !(config->pfc_priorities >> i & 1);
	}
}

struct weights {
	struct tern_switch_config *config;
	unsigned int count;
};

static void take_weight(void *context, unsigned int number)
{
	struct weights *weights = context;

	if (weights->count < TERN_SWITCH_PRIORITIES)
		weights->config->priorities[weights->count].weight = (uint8_t)number;
	weights->count++;
}

static void weights_field(struct ternd_fields *fields, struct tern_switch_config *config)
{
	struct weights weights = { config, 0 };

	if (!ternd_field_given(fields, "weights"))
		return;
	each_number(fields, "weights", UINT8_MAX, take_weight, &weights);
	if (weights.count != TERN_SWITCH_PRIORITIES)
		ternd_fields_fail(fields, "\"weights\" must be eight, of priorities 0 to 7, such "
				  "as 1+1+1+4+1+1+0+0; 0 is strict");
}

/* What a switch says for all of its ports, and a port for itself. */
static void port_fields(struct ternd_fields *fields, struct tern_switch_port_config *port)
{
	const char *trust = ternd_field_string(fields, "trust", false);

	if (trust && strcmp(trust, "pcp") && strcmp(trust, "dscp"))
		ternd_fields_fail(fields, "\"trust\" must be pcp or dscp, not \"%s\"", trust);
	if (trust)
		port->trust_dscp = !strcmp(trust, "dscp");
	port->speed_mbps = ternd_field_number(fields, "speed", false, port->speed_mbps,
					      TERN_SWITCH_SPEED_MAX);
	port->delay_ns = ternd_field_number(fields, "delay_ns", false, port->delay_ns,
					    TERN_SWITCH_DELAY_MAX);
	port->default_priority = (uint8_t)ternd_field_number(fields, "default_priority", false,
							     port->default_priority,
							     TERN_SWITCH_PRIORITIES - 1);
	port->drop = ternd_field_fraction(fields, "drop", false, port->drop);
	port->duplicate = ternd_field_fraction(fields, "duplicate", false, port->duplicate);
	port->corrupt = ternd_field_fraction(fields, "corrupt", false, port->corrupt);
	port->delay = ternd_field_fraction(fields, "late", false, port->delay);
	port->extra_delay_ns = ternd_field_number(fields, "late_ns", false, port->extra_delay_ns,
						  TERN_SWITCH_DELAY_MAX);
	if (port->delay > 0 && !port->extra_delay_ns)
		ternd_fields_fail(fields, "\"late\" goes with \"late_ns\"");
}

static void alpha_field(struct ternd_fields *fields, struct tern_switch_config *config)
{
	const char *text;
	char *end;

	if (!ternd_field_given(fields, "alpha"))
		return;
	/* A number of JSON reads as its text does. */
	text = json_object_get_string(json_object_object_get(fields->object, "alpha"));
	config->alpha = text ? strtod(text, &end) : 0;
	if (!text || end == text || *end || !(config->alpha > 0 && config->alpha <= 64))
		ternd_fields_fail(fields, "\"alpha\" must be a number above 0, and 64 at most");
}

void ternd_switch_make(struct ternd *ternd, json_object *object, unsigned int index, char *error,
		       size_t error_size)
{
	static const char *const keys[] = {
		"name", "ports", "speed", "delay_ns", "trust", "default_priority", "buffer",
		"headroom", "xoff", "alpha", "pfc", "kmin", "kmax", "pmax", "ecn", "wred_drop",
		"average_shift", "weights", "vlan_filtering", "ageing_ms", "drop", "duplicate",
		"corrupt", "late", "late_ns", "seed", NULL };
	struct tern_switch_config config = { 0 };
	struct ternd_fields fields;
	const char *name;
	char reason[200];

	ternd_fields_init(&fields, object, "switch", keys, error, error_size);
	name = ternd_field_string(&fields, "name", true);
	config.ports = (unsigned int)ternd_field_number(&fields, "ports", false, PORTS_DEFAULT,
							TERN_SWITCH_PORTS);
	config.buffer_bytes = ternd_field_number(&fields, "buffer", false, 0,
						 TERN_SWITCH_BUFFER_MAX);
	config.headroom_bytes = ternd_field_number(&fields, "headroom", false, 0,
						   TERN_SWITCH_BUFFER_MAX);
	config.xoff_bytes = ternd_field_number(&fields, "xoff", false, 0, TERN_SWITCH_BUFFER_MAX);
	config.pfc_priorities = priorities_field(&fields, "pfc", 0);
	config.average_shift = (uint8_t)ternd_field_number(&fields, "average_shift", false, 0, 16);
	config.vlan_filtering = ternd_field_bool(&fields, "vlan_filtering", false, false);
	config.ageing_ns = 1000000 * ternd_field_number(&fields, "ageing_ms", false, 0,
							AGEING_MAX_MS);
	config.seed = ternd_field_number(&fields, "seed", false, index + 1, UINT64_MAX);
	alpha_field(&fields, &config);
	marking_fields(&fields, &config);
	weights_field(&fields, &config);
	config.port[0].speed_mbps = SPEED_DEFAULT_MBPS;
	port_fields(&fields, &config.port[0]);
	if (fields.failed)
		return;
	for (unsigned int i = 1; i < TERN_SWITCH_PORTS; i++)
		config.port[i] = config.port[0];
	if (!ternd_name_is_good(name))
		ternd_fields_fail(&fields, "\"%s\" is no good name: up to %d letters, digits "
				  "and _ - .", name, TERND_NAME_MAX);
	else if (ternd_find_switch(ternd, name))
		ternd_fields_fail(&fields, "there are two switches \"%s\"", name);
	else if (!ternd_switch_create(ternd, name, &config, reason, sizeof(reason)))
		ternd_fields_fail(&fields, "%s: %s", name, reason);
}

struct membership {
	struct ternd_switch_port *port;
	enum tern_switch_vlan how;
	bool bad;
};

static void take_vlan(void *context, unsigned int number)
{
	struct membership *membership = context;

	if (tern_switch_set_vlan(membership->port->sw->core, membership->port->number,
				 (uint16_t)number, membership->how))
		membership->bad = true;
}

static void vlan_fields(struct ternd_fields *fields, struct ternd_switch_port *port)
{
	struct membership untagged = { port, TERN_SWITCH_VLAN_UNTAGGED, false };
	struct membership tagged = { port, TERN_SWITCH_VLAN_TAGGED, false };
	bool given = ternd_field_given(fields, "untagged") || ternd_field_given(fields, "tagged");
	uint16_t pvid = (uint16_t)ternd_field_number(fields, "pvid", false, 0, VID_LAST);

	if (fields->failed || (!given && !ternd_field_given(fields, "pvid")))
		return;
	if (!port->sw->config.vlan_filtering) {
		ternd_fields_fail(fields, "\"untagged\", \"tagged\" and \"pvid\" go with a switch "
				  "that has vlan_filtering=on");
		return;
	}
	/* Who says which VLANs a port is in says all of them: not that of the default, 1. */
	if (given)
		tern_switch_set_vlan(port->sw->core, port->number, 1, TERN_SWITCH_VLAN_NONE);
	each_number(fields, "untagged", VID_LAST, take_vlan, &untagged);
	each_number(fields, "tagged", VID_LAST, take_vlan, &tagged);
	if (untagged.bad || tagged.bad)
		ternd_fields_fail(fields, "a VLAN is one of 1 to %d", VID_LAST);
	if (ternd_field_given(fields, "pvid"))
		tern_switch_set_pvid(port->sw->core, port->number, pvid);
}

void ternd_switch_port_make(struct ternd *ternd, json_object *object, unsigned int index,
			    char *error, size_t error_size)
{
	static const char *const keys[] = {
		"switch", "port", "speed", "delay_ns", "trust", "default_priority", "drop",
		"duplicate", "corrupt", "late", "late_ns", "untagged", "tagged", "pvid", NULL };
	struct tern_switch_port_config config;
	struct ternd_switch_port *port;
	struct ternd_fields fields;
	char reason[200];

	(void)index;
	ternd_fields_init(&fields, object, "switch_port", keys, error, error_size);
	port = ternd_field_switch_port(ternd, &fields, false);
	if (!port)
		return;
	config = port->sw->config.port[port->number];
	port_fields(&fields, &config);
	vlan_fields(&fields, port);
	if (fields.failed)
		return;
	if (tern_switch_set_port(port->sw->core, port->number, &config, reason, sizeof(reason)))
		ternd_fields_fail(&fields, "%s", reason);
	else
		port->sw->config.port[port->number] = config;
}
