// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: what a configuration makes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "control.h"
#include "fields.h"
#include "ternd_switch.h"

#define SPEED_MAX_MBPS	1600000
#define SPIN_MAX_US	1000000
/* As much as such NICs have; more is slow to look at through vfio-user (ternd.rst). */
#define DEVICE_MEMORY_DEFAULT	(256u << 10)
#define DEVICE_MEMORY_MIN	4096
#define DEVICE_MEMORY_MAX	(1u << 30)

bool ternd_name_is_good(const char *name)
{
	size_t length = strlen(name);

	return length && length <= TERND_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
	       length;
}

/* It is the size of a BAR, of which guests map pages. */
static bool good_device_memory(uint64_t bytes)
{
	return !bytes || (bytes >= DEVICE_MEMORY_MIN && !(bytes & (bytes - 1)));
}

/* FNV-1a (RFC 9923), 32 bits, of a string and its terminating zero. */
static uint32_t fnv1a(uint32_t hash, const char *text)
{
	do {
		hash = (hash ^ (uint8_t)*text) * 0x01000193U;
	} while (*text++);
	return hash;
}

/*
 * A locally administered address: the same for each run, another one for each
 * socket of a host and for each host, since NICs of several processes and
 * hosts may meet on one wire.
 */
static void default_mac(const char *socket, uint8_t mac[6])
{
	char directory[4096] = "", host[256] = "";
	uint32_t hash = 0x811c9dc5U;

	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
	if (socket[0] != '/' && !getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	hash = fnv1a(fnv1a(fnv1a(hash, host), directory), socket);
	mac[0] = 0x02;
	mac[1] = 0x7e;
	for (int i = 0; i < 4; i++)
		mac[2 + i] = (uint8_t)(hash >> (24 - 8 * i));
}

static void make_nic(struct ternd *ternd, json_object *object, unsigned int index, char *error,
		     size_t error_size)
{
	static const char *const keys[] = { "name", "socket", "mac", "speed", "host_mbps",
					    "seed", "receive_buffer", "device_memory", "shortcuts",
					    "link", NULL };
	struct ternd_nic_options options = { 0 };
	struct ternd_fields fields;
	struct ternd_nic *nic;
	char reason[300];

	ternd_fields_init(&fields, object, "nic", keys, error, error_size);
	options.name = ternd_field_string(&fields, "name", true);
	options.socket = ternd_field_string(&fields, "socket", true);
	options.speed_mbps = ternd_field_number(&fields, "speed", false, 100000, SPEED_MAX_MBPS);
	options.host_mbps = ternd_field_number(&fields, "host_mbps", false, 0, SPEED_MAX_MBPS);
	options.seed = ternd_field_number(&fields, "seed", false, index + 1, UINT64_MAX);
	options.receive_buffer = ternd_field_number(&fields, "receive_buffer", false, 0,
						    1u << 30);
	options.device_memory = ternd_field_number(&fields, "device_memory", false,
						   DEVICE_MEMORY_DEFAULT, DEVICE_MEMORY_MAX);
	options.shortcuts = ternd_field_bool(&fields, "shortcuts", false, true);
	if (!ternd_field_mac(&fields, "mac", options.mac) && options.socket)
		default_mac(options.socket, options.mac);
	if (fields.failed)
		return;
	if (!ternd_name_is_good(options.name))
		ternd_fields_fail(&fields, "\"%s\" is no good name: up to %d letters, digits "
				  "and _ - .", options.name, TERND_NAME_MAX);
	else if (!good_device_memory(options.device_memory))
		ternd_fields_fail(&fields, "\"device_memory\" must be 0 or a power of two from "
				  "%d on", DEVICE_MEMORY_MIN);
	else if (ternd_find_nic(ternd, options.name))
		ternd_fields_fail(&fields, "there are two NICs \"%s\"", options.name);
	if (fields.failed)
		return;
	nic = ternd_nic_create(ternd, &options, reason, sizeof(reason));
	if (nic)
		ternd_field_link(ternd, &fields, nic);
	else
		ternd_fields_fail(&fields, "%s: %s", options.name, reason);
}

static struct ternd_nic *nic_named(struct ternd *ternd, struct ternd_fields *fields,
				   const char *name)
{
	struct ternd_nic *nic = ternd_find_nic(ternd, name);

	if (!nic)
		ternd_fields_fail(fields, "there is no NIC \"%s\"", name);
	return nic;
}

static void make_cable(struct ternd *ternd, json_object *object, unsigned int index,
		       char *error, size_t error_size)
{
	static const char *const keys[] = { "a", "b", NULL };
	struct ternd_fields fields;
	const char *a_name, *b_name;
	struct ternd_nic *a, *b;
	char reason[300];

	(void)index;
	ternd_fields_init(&fields, object, "cable", keys, error, error_size);
	a_name = ternd_field_string(&fields, "a", true);
	b_name = ternd_field_string(&fields, "b", true);
	if (fields.failed)
		return;
	a = nic_named(ternd, &fields, a_name);
	b = nic_named(ternd, &fields, b_name);
	if (a && b && tern_cable_plug(a->port, a->name, b->port, b->name, reason, sizeof(reason)))
		ternd_fields_fail(&fields, "%s", reason);
}

static void make_stream(struct ternd *ternd, json_object *object, unsigned int index,
			char *error, size_t error_size)
{
	static const char *const keys[] = { "nic", "switch", "port", "path", "role", NULL };
	struct ternd_fields fields;
	const char *path, *role;
	char name[TERND_PORT_NAME];
	struct tern_port *port;
	char reason[300];

	(void)index;
	ternd_fields_init(&fields, object, "stream", keys, error, error_size);
	port = ternd_field_port(ternd, &fields, true, name);
	path = ternd_field_string(&fields, "path", true);
	role = ternd_field_string(&fields, "role", true);
	if (role && strcmp(role, "server") && strcmp(role, "client"))
		ternd_fields_fail(&fields, "\"role\" must be server or client, not \"%s\"", role);
	if (!fields.failed &&
	    tern_stream_plug(port, path, !strcmp(role, "server"), reason, sizeof(reason)))
		ternd_fields_fail(&fields, "%s: %s", name, reason);
}

static void make_tap(struct ternd *ternd, json_object *object, unsigned int index, char *error,
		     size_t error_size)
{
	static const char *const keys[] = { "nic", "switch", "port", "ifname", NULL };
	struct ternd_fields fields;
	char name[TERND_PORT_NAME];
	struct tern_port *port;
	const char *ifname;
	char reason[300];

	(void)index;
	ternd_fields_init(&fields, object, "tap", keys, error, error_size);
	port = ternd_field_port(ternd, &fields, true, name);
	ifname = ternd_field_string(&fields, "ifname", true);
	if (!fields.failed && tern_tap_plug(port, ifname, reason, sizeof(reason)))
		ternd_fields_fail(&fields, "%s: %s", name, reason);
}

static void make_capture(struct ternd *ternd, json_object *object, unsigned int index,
			 char *error, size_t error_size)
{
	static const char *const keys[] = { "nic", "switch", "port", "file", NULL };
	struct ternd_fields fields;
	char name[TERND_PORT_NAME];
	struct tern_port *port;
	const char *file;
	char reason[300];

	(void)index;
	ternd_fields_init(&fields, object, "capture", keys, error, error_size);
	port = ternd_field_port(ternd, &fields, false, name);
	file = ternd_field_string(&fields, "file", true);
	if (!fields.failed && tern_port_start_capture(port, file, reason, sizeof(reason)))
		ternd_fields_fail(&fields, "%s: %s", name, reason);
}

/* In the order in which they are made: what links ports comes after them. */
static const struct {
	const char *key;
	void (*make)(struct ternd *ternd, json_object *object, unsigned int index, char *error,
		     size_t error_size);
} lists[] = {
	{ "switches", ternd_switch_make },
	{ "switch_ports", ternd_switch_port_make },
	{ "nics", make_nic },
	{ "cables", make_cable },
	{ "streams", make_stream },
	{ "taps", make_tap },
	{ "captures", make_capture },
};

int ternd_config_apply(struct ternd *ternd, json_object *config, char *error, size_t error_size)
{
	static const char *const keys[] = { "control", "spin_us", "switches", "switch_ports",
					    "nics", "cables", "streams", "taps", "captures",
					    NULL };
	struct ternd_fields fields;
	const char *control;
	char reason[300];

	*error = '\0';
	ternd_fields_init(&fields, config, "configuration", keys, error, error_size);
	ternd->spin_ns = 1000 * ternd_field_number(&fields, "spin_us", false,
						   ternd->spin_ns / 1000, SPIN_MAX_US);
	for (size_t i = 0; i < ARRAY_SIZE(lists) && !*error; i++) {
		json_object *list = NULL;

		if (!json_object_object_get_ex(config, lists[i].key, &list))
			continue;
		if (!json_object_is_type(list, json_type_array)) {
			ternd_fields_fail(&fields, "\"%s\" must be a list, [{...}, ...]",
					  lists[i].key);
			return -1;
		}
		for (size_t j = 0; j < json_object_array_length(list) && !*error; j++)
			lists[i].make(ternd, json_object_array_get_idx(list, j), (unsigned int)j,
				      error, error_size);
	}
	if (*error)
		return -1;
	if (!ternd->nics && !ternd->switches)
		ternd_fields_fail(&fields, "there is no NIC: give --nic name=NAME,socket=PATH, "
				  "or --switch name=NAME");
	/* Last: who finds the control socket finds everything. */
	control = ternd_field_string(&fields, "control", false);
	if (control) {
		ternd->control = ternd_control_create(ternd, control, reason, sizeof(reason));
		if (!ternd->control)
			ternd_fields_fail(&fields, "control: %s", reason);
	}
	return *error ? -1 : 0;
}
