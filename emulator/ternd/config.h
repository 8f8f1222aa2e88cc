/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: ternd's configuration: a JSON object, read from a file, put together
 * from the command line, or both.
 */
#ifndef TERND_CONFIG_H
#define TERND_CONFIG_H

#include <json-c/json.h>

#include "ternd.h"

/* The configuration of a command line. NULL with the reason in @error. */
struct json_object *ternd_config_of_arguments(int argc, char *const argv[], char *error,
					      size_t error_size);

/* Make all that @config asks for. 0, or -1 with the reason in @error. */
int ternd_config_apply(struct ternd *ternd, struct json_object *config, char *error,
		       size_t error_size);

#define TERND_NAME_MAX	31

/* Of a NIC or a switch. */
bool ternd_name_is_good(const char *name);

extern const char ternd_usage[];

#endif /* TERND_CONFIG_H */
