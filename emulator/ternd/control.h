/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: the control socket: a JSON object per line each way.
 *
 * Request {"command": NAME, ...}, answer {"ok": true, ...} or {"ok": false,
 * "error": TEXT}. A connection that has subscribed also gets {"event": ...}
 * lines between answers.
 */
#ifndef TERND_CONTROL_H
#define TERND_CONTROL_H

#include <json-c/json.h>

#include "ternd.h"

struct ternd_control *ternd_control_create(struct ternd *ternd, const char *path, char *error,
					   size_t error_size);
void ternd_control_destroy(struct ternd_control *control);

/* Tell subscribers. */
void ternd_control_event(struct ternd_control *control, const char *event,
			 const struct ternd_nic *nic, const char *text);

/*
 * Execute @request. Returns the answer, which the caller puts; sets
 * *subscribe when the connection wants events.
 */
json_object *ternd_command(struct ternd *ternd, json_object *request, bool *subscribe);

#endif /* TERND_CONTROL_H */
