// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: what the control socket's commands do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "fields.h"
#include "ternd_switch.h"

#define ERROR_SIZE	512
#define QPN_MAX		0xffffffu

struct command {
	const char *name;
	const char *keys[8];		/* beside "command"; NULL-terminated */
	/* Adds to @answer; an error goes to @fields. */
	void (*run)(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		    bool *subscribe);
};

static void add_number(json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void add_string(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static void add_bool(json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

static struct ternd_nic *nic_of(struct ternd *ternd, struct ternd_fields *fields)
{
	const char *name = ternd_field_string(fields, "nic", true);
	struct ternd_nic *nic = name ? ternd_find_nic(ternd, name) : NULL;

	if (name && !nic)
		ternd_fields_fail(fields, "there is no NIC \"%s\"", name);
	return nic;
}

static void run_status(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		       bool *subscribe)
{
	(void)fields;
	(void)subscribe;
	add_number(answer, "uptime_ns", tern_loop_now() - ternd->started);
	add_number(answer, "spin_us", ternd->spin_ns / 1000);
	add_number(answer, "turns", ternd->turns);
	add_number(answer, "sleeps", ternd->sleeps);
}

static json_object *describe_host(const struct ternd_nic *nic)
{
	struct tern_vfio_user_statistics statistics;
	json_object *object = json_object_new_object();

	tern_vfio_user_get_statistics(nic->server, &statistics);
	add_bool(object, "attached", tern_vfio_user_attached(nic->server));
	add_number(object, "clients", statistics.clients);
	add_number(object, "messages", statistics.messages);
	add_number(object, "register_reads", statistics.register_reads);
	add_number(object, "register_writes", statistics.register_writes);
	add_number(object, "interrupts", statistics.interrupts);
	add_number(object, "resets", statistics.resets);
	add_number(object, "memory_ranges", statistics.memory_ranges);
	add_bool(object, "bus_master", statistics.bus_master);
	return object;
}

static void run_nics(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		     bool *subscribe)
{
	json_object *nics = json_object_new_array();

	(void)fields;
	(void)subscribe;
	for (const struct ternd_nic *nic = ternd->nics; nic; nic = nic->next) {
		json_object *object = json_object_new_object();
		char mac[18];

		snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", nic->mac[0],
			 nic->mac[1], nic->mac[2], nic->mac[3], nic->mac[4], nic->mac[5]);
		add_string(object, "name", nic->name);
		add_string(object, "mac", mac);
		if (nic->socket)
			add_string(object, "socket", nic->socket);
		add_number(object, "speed_mbps", nic->speed_mbps);
		add_number(object, "host_mbps", nic->host_mbps);
		add_number(object, "seed", nic->seed);
		add_bool(object, "shortcuts", nic->shortcuts);
		json_object_object_add(object, "host", describe_host(nic));
		json_object_object_add(object, "port", ternd_port_describe(nic->port));
		json_object_array_add(nics, object);
	}
	json_object_object_add(answer, "nics", nics);
}

static void run_switch(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		       bool *subscribe)
{
	const char *name = ternd_field_string(fields, "switch", false);
	json_object *switches;

	(void)subscribe;
	if (name && !ternd_find_switch(ternd, name))
		ternd_fields_fail(fields, "there is no switch \"%s\"", name);
	if (fields->failed)
		return;
	switches = json_object_new_array();
	for (const struct ternd_switch *sw = ternd->switches; sw; sw = sw->next) {
		if (!name || !strcmp(sw->name, name))
			json_object_array_add(switches, ternd_switch_describe(sw));
	}
	json_object_object_add(answer, "switches", switches);
}

static json_object *describe_qp(const struct tern_nic_qp_info *qp)
{
	json_object *object = json_object_new_object();

	add_number(object, "qpn", qp->qpn);
	add_string(object, "type", qp->type);
	add_string(object, "state", qp->state);
	add_number(object, "remote_qpn", qp->remote_qpn);
	add_number(object, "sq_psn", qp->sq_psn);
	add_number(object, "acked_psn", qp->acked_psn);
	add_number(object, "expected_psn", qp->expected_psn);
	add_number(object, "sq_producer", qp->sq_producer);
	add_number(object, "sq_consumer", qp->sq_consumer);
	add_number(object, "rq_producer", qp->rq_producer);
	add_number(object, "rq_consumer", qp->rq_consumer);
	add_number(object, "path_mtu", qp->path_mtu);
	add_number(object, "packets_sent", qp->packets_sent);
	add_number(object, "packets_received", qp->packets_received);
	add_number(object, "retransmissions", qp->retransmissions);
	add_number(object, "rnr_naks_received", qp->rnr_naks_received);
	add_number(object, "rate_mbps", qp->rate_mbps);
	add_number(object, "target_rate_mbps", qp->target_rate_mbps);
	add_number(object, "alpha", qp->alpha);
	return object;
}

static void run_qps(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		    bool *subscribe)
{
	struct ternd_nic *nic = nic_of(ternd, fields);
	json_object *qps;
	struct tern_nic_qp_info info;
	uint32_t from = 0;

	(void)subscribe;
	if (!nic)
		return;
	qps = json_object_new_array();
	while (tern_nic_next_qp(nic->core, 0, from, &info)) {
		json_object_array_add(qps, describe_qp(&info));
		from = info.qpn + 1;
	}
	json_object_object_add(answer, "qps", qps);
}

static void run_counters(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
			 bool *subscribe)
{
	struct ternd_nic *nic = nic_of(ternd, fields);
	struct tern_nic_counter *counters;
	json_object *object;
	size_t count;

	(void)subscribe;
	if (!nic)
		return;
	count = tern_nic_counters(nic->core, 0, NULL, 0);
	counters = calloc(count ? count : 1, sizeof(*counters));
	if (!counters) {
		ternd_fields_fail(fields, "out of memory");
		return;
	}
	tern_nic_counters(nic->core, 0, counters, count);
	object = json_object_new_object();
	for (size_t i = 0; i < count; i++)
		add_number(object, counters[i].name, counters[i].value);
	free(counters);
	json_object_object_add(answer, "counters", object);
}

static void run_trace(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		      bool *subscribe)
{
	struct ternd_nic *nic = nic_of(ternd, fields);
	uint32_t qpn = (uint32_t)ternd_field_number(fields, "qpn", true, 0, QPN_MAX);
	bool on = ternd_field_bool(fields, "on", false, true);

	(void)answer;
	(void)subscribe;
	if (!fields->failed && tern_nic_trace_qp(nic->core, 0, qpn, on))
		ternd_fields_fail(fields, "NIC \"%s\" has no queue pair %u", nic->name, qpn);
}

static const char *const misbehaviours[] = {
	[TERN_WIRE_DROP] = "drop",
	[TERN_WIRE_DUPLICATE] = "duplicate",
	[TERN_WIRE_DELAY] = "delay",
	[TERN_WIRE_REORDER] = "reorder",
	[TERN_WIRE_CORRUPT] = "corrupt",
	[TERN_WIRE_MARK_CE] = "mark-ce",
};

static void parse_rule(struct ternd_fields *fields, struct tern_wire_rule *rule)
{
	const char *what = ternd_field_string(fields, "what", true);
	size_t kind, kinds = ARRAY_SIZE(misbehaviours);
	bool delays;

	if (!what)
		return;
	for (kind = 0; kind < kinds && strcmp(what, misbehaviours[kind]); kind++)
		;
	if (kind == kinds) {
		ternd_fields_fail(fields, "\"what\" must be drop, duplicate, delay, reorder, "
				  "corrupt or mark-ce, not \"%s\"", what);
		return;
	}
	rule->what = (enum tern_misbehaviour)kind;
	rule->opcode = -1;
	if (ternd_field_given(fields, "opcode"))
		rule->opcode = (int)ternd_field_number(fields, "opcode", true, 0, 255);
	rule->nth = ternd_field_number(fields, "nth", false, 0, INT64_MAX);
	rule->probability = ternd_field_fraction(fields, "probability", false, 0);
	rule->delay_ns = ternd_field_number(fields, "delay_ns", false, 0, INT64_MAX);
	if (ternd_field_given(fields, "nth") == ternd_field_given(fields, "probability") ||
	    (ternd_field_given(fields, "nth") && !rule->nth))
		ternd_fields_fail(fields, "give either \"probability\" (0 to 1) or "
				  "\"nth\" (1 is the next frame)");
	delays = rule->what == TERN_WIRE_DELAY;
	if (ternd_field_given(fields, "delay_ns") != delays)
		ternd_fields_fail(fields, "\"delay_ns\" goes with \"what\": \"delay\", "
				  "and with nothing else");
}

static void run_add_rule(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
			 bool *subscribe)
{
	struct ternd_nic *nic = nic_of(ternd, fields);
	struct tern_wire_rule rule = { 0 };
	int number;

	(void)subscribe;
	parse_rule(fields, &rule);
	if (fields->failed)
		return;
	number = tern_nic_add_wire_rule(nic->core, &rule);
	if (number < 0)
		ternd_fields_fail(fields, "%s", strerror(-number));
	else
		add_number(answer, "rule", (uint64_t)number);
}

static void run_remove_rule(struct ternd *ternd, struct ternd_fields *fields,
			    json_object *answer, bool *subscribe)
{
	struct ternd_nic *nic = nic_of(ternd, fields);
	bool all = ternd_field_bool(fields, "all", false, false);
	int number = (int)ternd_field_number(fields, "rule", !all, 0, INT32_MAX);

	(void)answer;
	(void)subscribe;
	if (all && ternd_field_given(fields, "rule"))
		ternd_fields_fail(fields, "give \"rule\" or \"all\", not both");
	if (!fields->failed && tern_nic_remove_wire_rule(nic->core, all ? -1 : number))
		ternd_fields_fail(fields, "NIC \"%s\" has no rule %d", nic->name, number);
}

static void run_reseed(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		       bool *subscribe)
{
	struct ternd_nic *nic = nic_of(ternd, fields);
	uint64_t seed = ternd_field_number(fields, "seed", true, 0, UINT64_MAX);

	(void)answer;
	(void)subscribe;
	if (fields->failed)
		return;
	nic->seed = seed;
	tern_nic_reseed(nic->core, seed);
}

static void run_carrier(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
			bool *subscribe)
{
	char name[TERND_PORT_NAME];
	struct tern_port *port = ternd_field_port(ternd, fields, false, name);
	bool up = ternd_field_bool(fields, "up", true, false);

	(void)answer;
	(void)subscribe;
	if (!fields->failed)
		tern_port_set_up(port, up);
}

static void run_shortcuts(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
			  bool *subscribe)
{
	struct ternd_nic *nic = nic_of(ternd, fields);
	bool on = ternd_field_bool(fields, "on", true, false);

	(void)answer;
	(void)subscribe;
	if (fields->failed)
		return;
	nic->shortcuts = on;
	tern_nic_set_shortcuts(nic->core, on);
}

static void run_start_capture(struct ternd *ternd, struct ternd_fields *fields,
			      json_object *answer, bool *subscribe)
{
	char name[TERND_PORT_NAME];
	struct tern_port *port = ternd_field_port(ternd, fields, false, name);
	const char *file = ternd_field_string(fields, "file", true);
	char error[256];

	(void)answer;
	(void)subscribe;
	if (!fields->failed && tern_port_start_capture(port, file, error, sizeof(error)))
		ternd_fields_fail(fields, "%s", error);
}

static void run_stop_capture(struct ternd *ternd, struct ternd_fields *fields,
			     json_object *answer, bool *subscribe)
{
	char name[TERND_PORT_NAME];
	struct tern_port *port = ternd_field_port(ternd, fields, false, name);

	(void)subscribe;
	if (port && !tern_port_capturing(port))
		ternd_fields_fail(fields, "\"%s\" is not being captured", name);
	if (!fields->failed)
		add_number(answer, "frames", tern_port_stop_capture(port));
}

static void run_spin(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		     bool *subscribe)
{
	uint64_t us = ternd_field_number(fields, "us", true, 0, 1000000);

	(void)answer;
	(void)subscribe;
	if (!fields->failed)
		ternd->spin_ns = us * 1000;
}

static void run_subscribe(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
			  bool *subscribe)
{
	(void)ternd;
	(void)fields;
	(void)answer;
	*subscribe = true;
}

static void run_quit(struct ternd *ternd, struct ternd_fields *fields, json_object *answer,
		     bool *subscribe)
{
	(void)fields;
	(void)answer;
	(void)subscribe;
	ternd->quit = true;
}

static const struct command commands[] = {
	{ "status", { NULL }, run_status },
	{ "nics", { NULL }, run_nics },
	{ "switch", { "switch" }, run_switch },
	{ "qps", { "nic" }, run_qps },
	{ "counters", { "nic" }, run_counters },
	{ "trace", { "nic", "qpn", "on" }, run_trace },
	{ "add-rule", { "nic", "what", "opcode", "probability", "nth", "delay_ns" },
	  run_add_rule },
	{ "remove-rule", { "nic", "rule", "all" }, run_remove_rule },
	{ "reseed", { "nic", "seed" }, run_reseed },
	{ "carrier", { "nic", "switch", "port", "up" }, run_carrier },
	{ "shortcuts", { "nic", "on" }, run_shortcuts },
	{ "start-capture", { "nic", "switch", "port", "file" }, run_start_capture },
	{ "stop-capture", { "nic", "switch", "port" }, run_stop_capture },
	{ "spin", { "us" }, run_spin },
	{ "subscribe", { NULL }, run_subscribe },
	{ "quit", { NULL }, run_quit },
};

#define COMMANDS	ARRAY_SIZE(commands)

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static void run(struct ternd *ternd, json_object *request, json_object *answer, char *error,
		bool *subscribe)
{
	const char *keys[9] = { "command" };
	const struct command *command;
	struct ternd_fields fields;
	json_object *name = NULL;
	size_t used;

	json_object_object_get_ex(request, "command", &name);
	command = json_object_is_type(name, json_type_string) ?
		  find(json_object_get_string(name)) : NULL;
	if (!command) {
		used = (size_t)snprintf(error, ERROR_SIZE, "\"command\" must be one of");
		for (size_t i = 0; i < COMMANDS; i++)
			used += (size_t)snprintf(error + used, ERROR_SIZE - used, " %s",
						 commands[i].name);
		return;
	}
	for (size_t i = 0; command->keys[i]; i++)
		keys[i + 1] = command->keys[i];
	ternd_fields_init(&fields, request, command->name, keys, error, ERROR_SIZE);
	if (!fields.failed)
		command->run(ternd, &fields, answer, subscribe);
}

json_object *ternd_command(struct ternd *ternd, json_object *request, bool *subscribe)
{
	json_object *answer = json_object_new_object();
	char error[ERROR_SIZE] = "";

	add_bool(answer, "ok", true);
	run(ternd, request, answer, error, subscribe);
	if (*error) {
		json_object_put(answer);
		answer = json_object_new_object();
		add_bool(answer, "ok", false);
		add_string(answer, "error", error);
	}
	return answer;
}
