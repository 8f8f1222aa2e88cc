// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the control socket's connections. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "tern_listener.h"

#define REQUEST_MAX	65536u
#define ANSWERS_MAX	(8u << 20)	/* a connection that lets more pile up is closed */
#define JSON_DEPTH	16
#define CONNECTIONS_MAX	64u

struct connection {
	struct ternd_control *control;
	struct connection *next;
	struct tern_watch watch;
	bool subscribed, blocked, closing;
	size_t in_used;
	char in[REQUEST_MAX];
	char *out;
	size_t out_used, out_space;
};

struct ternd_control {
	struct ternd *ternd;
	struct tern_listener listener;
	struct connection *connections;
	unsigned int count;
	/* Connections are closed here, not while somebody may still use them. */
	struct tern_deferred reap;
};

static void close_later(struct connection *connection)
{
	connection->closing = true;
	tern_loop_defer(connection->control->ternd->loop, &connection->control->reap);
}

static void set_blocked(struct connection *connection, bool blocked)
{
	if (blocked == connection->blocked)
		return;
	connection->blocked = blocked;
	tern_loop_rewatch(connection->control->ternd->loop, &connection->watch,
			  blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void flush(struct connection *connection)
{
	size_t done = 0;

	while (done < connection->out_used) {
		ssize_t sent = send(connection->watch.fd, connection->out + done,
				    connection->out_used - done, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			if (errno != EAGAIN)
				close_later(connection);
			break;
		}
		done += (size_t)sent;
	}
	if (done) {
		connection->out_used -= done;
		memmove(connection->out, connection->out + done, connection->out_used);
	}
	set_blocked(connection, connection->out_used > 0);
}

/* Queue @object as a line. */
static void say(struct connection *connection, json_object *object)
{
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	size_t length = strlen(text) + 1, need = connection->out_used + length;

	if (connection->closing)
		return;
	if (need > ANSWERS_MAX) {
		close_later(connection);
		return;
	}
	if (need > connection->out_space) {
		size_t space = need < 4096 ? 4096 : 2 * need;
		char *out = realloc(connection->out, space);

		if (!out) {
			close_later(connection);
			return;
		}
		connection->out = out;
		connection->out_space = space;
	}
	memcpy(connection->out + connection->out_used, text, length);
	connection->out[need - 1] = '\n';
	connection->out_used = need;
	if (!connection->blocked)
		flush(connection);
}

static json_object *failure(const char *text)
{
	json_object *answer = json_object_new_object();

	json_object_object_add(answer, "ok", json_object_new_boolean(false));
	json_object_object_add(answer, "error", json_object_new_string(text));
	return answer;
}

static void serve_line(struct connection *connection, const char *line, size_t length)
{
	struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);
	json_object *request, *answer;
	char text[200];

	/* With the NUL that ends the line a bare number or literal is complete, too. */
	request = json_tokener_parse_ex(tokener, line, (int)length + 1);
	if (json_tokener_get_error(tokener) != json_tokener_success) {
		snprintf(text, sizeof(text), "this is no JSON: %s",
			 json_tokener_error_desc(json_tokener_get_error(tokener)));
		answer = failure(text);
	} else if (!json_object_is_type(request, json_type_object)) {
		answer = failure("a request is an object: {\"command\": \"status\"}");
	} else {
		answer = ternd_command(connection->control->ternd, request,
				       &connection->subscribed);
	}
	json_tokener_free(tokener);
	json_object_put(request);
	say(connection, answer);
	json_object_put(answer);
}

static void serve_lines(struct connection *connection)
{
	char *start = connection->in, *end;

	while ((end = memchr(start, '\n',
			     connection->in_used - (size_t)(start - connection->in)))) {
		*end = '\0';
		if (end > start && !connection->closing)
			serve_line(connection, start, (size_t)(end - start));
		start = end + 1;
	}
	connection->in_used -= (size_t)(start - connection->in);
	memmove(connection->in, start, connection->in_used);
}

static void connection_ready(void *context, uint32_t events)
{
	struct connection *connection = context;
	json_object *answer;
	ssize_t got;

	if (events & EPOLLOUT)
		flush(connection);
	if (!(events & ~(uint32_t)EPOLLOUT))
		return;
	got = recv(connection->watch.fd, connection->in + connection->in_used,
		   sizeof(connection->in) - connection->in_used, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		close_later(connection);
		return;
	}
	connection->in_used += (size_t)got;
	serve_lines(connection);
	if (connection->in_used < sizeof(connection->in))
		return;
	answer = failure("a request may have at most 65535 characters");
	say(connection, answer);
	json_object_put(answer);
	close_later(connection);
}

static void reap(void *context)
{
	struct ternd_control *control = context;
	struct connection **link = &control->connections;

	while (*link) {
		struct connection *connection = *link;

		if (!connection->closing) {
			link = &connection->next;
			continue;
		}
		*link = connection->next;
		control->count--;
		tern_loop_unwatch(control->ternd->loop, &connection->watch);
		close(connection->watch.fd);
		free(connection->out);
		free(connection);
	}
}

/* Tell who has just connected why not, and close. */
static void turn_away(int fd, const char *why)
{
	json_object *answer = failure(why);
	char line[200];
	int length = snprintf(line, sizeof(line), "%s\n",
			      json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN));

	json_object_put(answer);
	/* It has room in a socket that is new, or is gone. */
	(void)!send(fd, line, (size_t)length, MSG_NOSIGNAL);
	close(fd);
}

static void accepted(void *context, int fd)
{
	struct ternd_control *control = context;
	struct connection *connection;
	char why[100];

	if (fd < 0) {
		ternd_log(control->ternd, NULL, "a control connection has to wait: %s",
			  strerror(-fd));
		return;
	}
	if (control->count == CONNECTIONS_MAX) {
		snprintf(why, sizeof(why), "there are %u control connections already: close one",
			 CONNECTIONS_MAX);
		turn_away(fd, why);
		return;
	}
	connection = calloc(1, sizeof(*connection));
	if (!connection) {
		turn_away(fd, "out of memory");
		return;
	}
	connection->control = control;
	connection->watch = (struct tern_watch){ fd, connection_ready, connection };
	if (tern_loop_watch(control->ternd->loop, &connection->watch, EPOLLIN)) {
		turn_away(fd, "out of memory");
		free(connection);
		return;
	}
	connection->next = control->connections;
	control->connections = connection;
	control->count++;
}

void ternd_control_event(struct ternd_control *control, const char *event,
			 const struct ternd_nic *nic, const char *text)
{
	json_object *object = NULL;

	for (struct connection *c = control->connections; c; c = c->next) {
		if (!c->subscribed)
			continue;
		if (!object) {
			object = json_object_new_object();
			json_object_object_add(object, "event", json_object_new_string(event));
			if (nic)
				json_object_object_add(object, "nic",
						       json_object_new_string(nic->name));
			json_object_object_add(object, "text", json_object_new_string(text));
		}
		say(c, object);
	}
	json_object_put(object);
}

struct ternd_control *ternd_control_create(struct ternd *ternd, const char *path, char *error,
					   size_t error_size)
{
	struct ternd_control *control = calloc(1, sizeof(*control));

	if (!control) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	control->ternd = ternd;
	control->reap.run = reap;
	control->reap.context = control;
	control->listener.accepted = accepted;
	control->listener.context = control;
	if (tern_listener_open(&control->listener, ternd->loop, path, error, error_size)) {
		free(control);
		return NULL;
	}
	return control;
}

void ternd_control_destroy(struct ternd_control *control)
{
	if (!control)
		return;
	for (struct connection *c = control->connections; c; c = c->next)
		c->closing = true;
	tern_loop_undefer(control->ternd->loop, &control->reap);
	reap(control);
	tern_listener_close(&control->listener);
	free(control);
}
