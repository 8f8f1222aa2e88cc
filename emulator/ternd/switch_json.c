// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: what ports and switches are doing, in JSON. */
#include "ternd_switch.h"

struct member {
	const char *name;
	size_t offset;
};

#define QUEUE(name)	{ #name, offsetof(struct tern_switch_queue_statistics, name) }
static const struct member queue_members[] = {
	QUEUE(rx_packets), QUEUE(rx_bytes), QUEUE(tx_packets), QUEUE(tx_bytes),
	QUEUE(rx_drops), QUEUE(tx_drops), QUEUE(wred_drops), QUEUE(marks),
	QUEUE(pauses_sent), QUEUE(pauses_received), QUEUE(xons_sent), QUEUE(xons_received),
	QUEUE(depth), QUEUE(depth_peak), QUEUE(held), QUEUE(held_peak), QUEUE(paused_ns),
};

#define PORT(name)	{ #name, offsetof(struct tern_switch_port_statistics, name) }
static const struct member port_members[] = {
	PORT(runts), PORT(oversize), PORT(bad_source), PORT(reserved), PORT(control),
	PORT(bad_control), PORT(vlan_filtered), PORT(nowhere), PORT(flooded), PORT(no_carrier),
	PORT(impaired_drop), PORT(impaired_duplicate), PORT(impaired_corrupt),
	PORT(impaired_delay), PORT(pause_frames_sent), PORT(pause_frames_received),
};

#define BUFFER(name)	{ #name, offsetof(struct tern_switch_buffer_statistics, name) }
static const struct member buffer_members[] = {
	BUFFER(size), BUFFER(shared_size), BUFFER(used), BUFFER(used_peak),
	BUFFER(headroom_used), BUFFER(fdb_entries),
};

#define LINK(name)	{ #name, offsetof(struct tern_port_statistics, name) }
static const struct member link_members[] = {
	LINK(sent_frames), LINK(sent_bytes), LINK(received_frames), LINK(received_bytes),
	LINK(sent_unplugged), LINK(sent_overflow), LINK(received_bad),
	LINK(received_no_carrier), LINK(received_waited), LINK(received_overflow),
};

static void add_number(json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void add_members(json_object *object, const struct member *members, size_t count,
			const void *from)
{
	for (size_t i = 0; i < count; i++)
		add_number(object, members[i].name,
			   *(const uint64_t *)((const char *)from + members[i].offset));
}

json_object *ternd_port_describe(const struct tern_port *port)
{
	struct tern_port_statistics statistics;
	json_object *object = json_object_new_object();
	char text[200];

	tern_port_describe(port, text, sizeof(text));
	tern_port_get_statistics(port, &statistics);
	json_object_object_add(object, "link", json_object_new_string(text));
	json_object_object_add(object, "up", json_object_new_boolean(tern_port_is_up(port)));
	json_object_object_add(object, "carrier",
			       json_object_new_boolean(tern_port_carrier(port)));
	json_object_object_add(object, "capturing",
			       json_object_new_boolean(tern_port_capturing(port)));
	add_members(object, link_members, ARRAY_SIZE(link_members), &statistics);
	return object;
}

static json_object *describe_port(const struct ternd_switch *sw, unsigned int number)
{
	const struct tern_switch_port_config *config = &sw->config.port[number];
	json_object *object = ternd_port_describe(sw->ports[number].port);
	json_object *priorities = json_object_new_array();
	struct tern_switch_port_statistics statistics;

	tern_switch_get_statistics(sw->core, number, &statistics);
	add_number(object, "port", number);
	add_number(object, "speed_mbps", config->speed_mbps);
	add_number(object, "delay_ns", config->delay_ns);
	json_object_object_add(object, "trust",
			       json_object_new_string(config->trust_dscp ? "dscp" : "pcp"));
	add_members(object, port_members, ARRAY_SIZE(port_members), &statistics);
	for (unsigned int i = 0; i < TERN_SWITCH_PRIORITIES; i++) {
		json_object *priority = json_object_new_object();

		add_number(priority, "priority", i);
		add_members(priority, queue_members, ARRAY_SIZE(queue_members),
			    &statistics.priority[i]);
		json_object_array_add(priorities, priority);
	}
	json_object_object_add(object, "priorities", priorities);
	return object;
}

json_object *ternd_switch_describe(const struct ternd_switch *sw)
{
	json_object *object = json_object_new_object(), *buffer = json_object_new_object();
	json_object *ports = json_object_new_array(), *pfc = json_object_new_array();
	struct tern_switch_buffer_statistics statistics;

	tern_switch_get_buffer(sw->core, &statistics);
	json_object_object_add(object, "name", json_object_new_string(sw->name));
	add_number(object, "now_ns", tern_loop_now() - sw->ternd->started);
	for (unsigned int i = 0; i < TERN_SWITCH_PRIORITIES; i++) {
		if (sw->config.pfc_priorities >> i & 1)
			json_object_array_add(pfc, json_object_new_int((int)i));
	}
	json_object_object_add(object, "pfc", pfc);
	add_members(buffer, buffer_members, ARRAY_SIZE(buffer_members), &statistics);
	json_object_object_add(object, "buffer", buffer);
	for (unsigned int i = 0; i < sw->config.ports; i++)
		json_object_array_add(ports, describe_port(sw, i));
	json_object_object_add(object, "ports", ports);
	return object;
}
