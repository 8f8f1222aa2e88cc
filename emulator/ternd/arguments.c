// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ternd's command line, turned into a configuration. */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "fields.h"

const char ternd_usage[] =
"usage: ternd [--config FILE] [--control PATH] [--spin-us N]\n"
"             --nic name=NAME,socket=PATH[,mac=MAC][,speed=MBPS][,seed=N]\n"
"                   [,host_mbps=MBPS][,receive_buffer=BYTES][,device_memory=BYTES]\n"
"                   [,shortcuts=on|off][,link=switch:NAME[:PORT]] ...\n"
"             [--switch name=NAME[,ports=N][,speed=MBPS][,delay_ns=N][,trust=pcp|dscp]\n"
"                   [,buffer=BYTES][,pfc=P+P...][,kmin=BYTES,kmax=BYTES[,pmax=P]]\n"
"                   [,weights=W+W+W+W+W+W+W+W][,seed=N] ...]\n"
"             [--switch-port switch=NAME,port=N[,speed=MBPS][,delay_ns=N] ...]\n"
"             [--cable a=NIC,b=NIC] [--stream nic=NIC,path=PATH,role=server|client]\n"
"             [--tap nic=NIC,ifname=NAME] [--capture nic=NIC,file=FILE] ...\n"
"             where nic=NIC may be switch=NAME[,port=N]\n"
"\n"
"Hosts Tern NICs, each behind a vfio-user socket for QEMU's vfio-user-pci, and the\n"
"links and switches between them. A configuration file is JSON with the same names:\n"
"{\"control\": PATH, \"spin_us\": N, \"nics\": [{\"name\": ..., \"socket\": ...}],\n"
" \"switches\": [{\"name\": ...}], \"switch_ports\": [...],\n"
" \"cables\": [{\"a\": ..., \"b\": ...}], \"streams\": [...], \"taps\": [...],\n"
" \"captures\": [...]}\n"
"Once everything is there, a line \"READY\" goes to standard output.\n";

/* Options whose value is an object of a list. */
static const struct {
	const char *option, *key;
} lists[] = {
	{ "--nic", "nics" },
	{ "--switch", "switches" },
	{ "--switch-port", "switch_ports" },
	{ "--cable", "cables" },
	{ "--stream", "streams" },
	{ "--tap", "taps" },
	{ "--capture", "captures" },
};

static int append(json_object *config, const char *key, json_object *item)
{
	json_object *list = NULL;

	if (!json_object_object_get_ex(config, key, &list)) {
		list = json_object_new_array();
		json_object_object_add(config, key, list);
	}
	if (!json_object_is_type(list, json_type_array))
		return -1;
	return json_object_array_add(list, item);
}

static json_object *load(const char *path, char *error, size_t error_size)
{
	json_object *config = json_object_from_file(path);

	if (!config) {
		/* json-c ends its reasons with a newline. */
		snprintf(error, error_size, "%s: %s", path, json_util_get_last_err());
		error[strcspn(error, "\n")] = '\0';
	} else if (!json_object_is_type(config, json_type_object)) {
		snprintf(error, error_size, "%s: a configuration is an object, {...}", path);
		json_object_put(config);
		config = NULL;
	}
	return config;
}

/* One option. 0, or -1 with @error. */
static int add_option(json_object *config, const char *option, const char *value, char *error,
		      size_t error_size)
{
	if (!strcmp(option, "--control")) {
		json_object_object_add(config, "control", json_object_new_string(value));
		return 0;
	}
	if (!strcmp(option, "--spin-us")) {
		json_object_object_add(config, "spin_us", json_object_new_string(value));
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		json_object *item;
		char reason[200];

		if (strcmp(option, lists[i].option))
			continue;
		item = ternd_parse_pairs(value, reason, sizeof(reason));
		if (!item) {
			snprintf(error, error_size, "%s %s", option, reason);
			return -1;
		}
		if (append(config, lists[i].key, item)) {
			snprintf(error, error_size, "\"%s\" of the configuration file is no list",
				 lists[i].key);
			json_object_put(item);
			return -1;
		}
		return 0;
	}
	snprintf(error, error_size, "unknown option %s (try --help)", option);
	return -1;
}

json_object *ternd_config_of_arguments(int argc, char *const argv[], char *error,
				       size_t error_size)
{
	json_object *config = NULL;

	/* The file first, wherever it stands: the command line adds to it. */
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--config"))
			continue;
		if (config) {
			snprintf(error, error_size, "--config can be given once");
			goto fail;
		}
		config = load(argv[i + 1], error, error_size);
		if (!config)
			return NULL;
	}
	if (!config)
		config = json_object_new_object();
	for (int i = 1; i < argc; i += 2) {
		if (i + 1 == argc) {
			snprintf(error, error_size, "%s: a value is missing (try --help)",
				 argv[i]);
			goto fail;
		}
		if (strcmp(argv[i], "--config") &&
		    add_option(config, argv[i], argv[i + 1], error, error_size))
			goto fail;
	}
	return config;

fail:
	json_object_put(config);
	return NULL;
}
