// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ternd's configuration, its control socket, and the program itself. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "control.h"
#include "fields.h"
#include "tern_socket.h"
#include "tern_test.h"

static struct ternd ternd;
static char directory[32];
static char error[600];

static void make_directory(void)
{
	strcpy(directory, "/tmp/tern-test-XXXXXX");
	CHECK(mkdtemp(directory));
}

static char *in_directory(const char *name)
{
	static char paths[8][80];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, 80, "%s/%s", directory, name);
	return path;
}

static void start(void)
{
	make_directory();
	ternd.started = tern_loop_now();
	ternd.loop = tern_loop_create();
	CHECK(ternd.loop);
}

static void stop(void)
{
	struct ternd_control *control = ternd.control;

	while (ternd.nics)
		ternd_nic_destroy(ternd.nics);
	CHECK(!ternd.switches);
	ternd.control = NULL;
	ternd_control_destroy(control);
	tern_loop_destroy(ternd.loop);
	/* All sockets are gone with their owners. */
	CHECK_EQ(rmdir(directory), 0);
}

static int configure(const char *format)
{
	char text[2000];
	json_object *config;
	int err;

	/* %1$s is the directory. */
	snprintf(text, sizeof(text), format, directory);
	config = json_tokener_parse(text);
	CHECK(config);
	err = ternd_config_apply(&ternd, config, error, sizeof(error));
	json_object_put(config);
	return err;
}

static void start_pair(void)
{
	start();
	if (configure("{\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\"},"
		      "{\"name\": \"b\", \"socket\": \"%1$s/b\", \"mac\": \"02:00:00:00:00:0b\","
		      " \"speed\": 0, \"host_mbps\": 2500, \"shortcuts\": false}],"
		      "\"cables\": [{\"a\": \"a\", \"b\": \"b\"}], \"spin_us\": 0,"
		      "\"control\": \"%1$s/control\"}"))
		FAIL("%s", error);
}

/* One command, in JSON; the answer's text, valid until the next. */
static const char *ask(const char *text)
{
	static char answer_text[65536];
	json_object *request = json_tokener_parse(text), *answer;
	bool subscribe = false;

	CHECK(request);
	answer = ternd_command(&ternd, request, &subscribe);
	snprintf(answer_text, sizeof(answer_text), "%s",
		 json_object_to_json_string_ext(answer, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(answer);
	json_object_put(request);
	return answer_text;
}

#define ASK_OK(text)								\
	do {									\
		const char *said_ = ask(text);					\
										\
		if (!strstr(said_, "\"ok\":true"))				\
			FAIL("%s: %s", text, said_);				\
	} while (0)
#define ASK_FAILS(text, reason)							\
	do {									\
		const char *said_ = ask(text);					\
										\
		if (!strstr(said_, "\"ok\":false") || !strstr(said_, reason))	\
			FAIL("%s: no \"%s\" in %s", text, reason, said_);	\
	} while (0)

/* The MAC address of a NIC that was given none, as text. */
static void mac_of(const char *name, char mac[18])
{
	char key[80];
	const char *found;

	snprintf(key, sizeof(key), "\"name\":\"%s\",\"mac\":\"", name);
	found = strstr(ask("{\"command\": \"nics\"}"), key);
	CHECK(found);
	snprintf(mac, 18, "%s", found + strlen(key));
}

/* NICs of several processes meet on one wire. */
TERN_TEST(default_addresses_differ)
{
	char mac[3][18];

	for (int run = 0; run < 2; run++) {
		start();
		CHECK(!configure("{\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\"},"
				 "{\"name\": \"b\", \"socket\": \"%1$s/b\"}]}"));
		mac_of("a", mac[run * 2]);
		if (!run)
			mac_of("b", mac[1]);
		stop();
	}
	for (int i = 0; i < 3; i++) {
		CHECK(!strncmp(mac[i], "02:7e:", 6));
		CHECK(strcmp(mac[i], mac[(i + 1) % 3]));
	}
}

TERN_TEST(configuration_makes_what_it_says)
{
	const char *nics;

	start_pair();
	nics = ask("{\"command\": \"nics\"}");
	CHECK(strstr(nics, "\"name\":\"a\",\"mac\":\"02:7e:"));
	CHECK(strstr(nics, "\"name\":\"b\",\"mac\":\"02:00:00:00:00:0b\""));
	CHECK(strstr(nics, "\"speed_mbps\":100000,\"host_mbps\":0"));
	CHECK(strstr(nics, "\"speed_mbps\":0,\"host_mbps\":2500"));
	CHECK(strstr(nics, "\"shortcuts\":false"));
	CHECK(strstr(nics, "\"link\":\"cable to b\",\"up\":true,\"carrier\":true"));
	CHECK_EQ(access(in_directory("a"), F_OK), 0);
	stop();
}

TERN_TEST(configurations_that_are_refused_say_why)
{
	static const char nic_a[] = "\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\"}]";
	static const struct {
		const char *more, *reason;
	} cases[] = {
		{ "\"nic\": []", "configuration: unknown key \"nic\"; known are: control" },
		{ "\"cables\": [{\"a\": \"a\", \"b\": \"x\"}]", "cable: there is no NIC \"x\"" },
		{ "\"cables\": [{\"a\": \"a\"}]", "cable: \"b\" is missing" },
		{ "\"cables\": {}", "\"cables\" must be a list" },
		{ "\"cables\": [7]", "cable: must be an object" },
		{ "\"cables\": [{\"a\": \"a\", \"b\": \"a\"}, {\"a\": \"a\", \"b\": \"a\"}]",
		  "cable: a: its port is taken (cable to a)" },
		{ "\"streams\": [{\"nic\": \"a\", \"path\": \"x\"}]", "\"role\" is missing" },
		{ "\"streams\": [{\"nic\": \"a\", \"path\": \"x\", \"role\": \"both\"}]",
		  "\"role\" must be server or client, not \"both\"" },
		{ "\"streams\": [{\"nic\": \"a\", \"path\": \"/no/x\", "
		  "\"role\": \"server\"}]",
		  "stream: a: cannot make the socket /no/x" },
		{ "\"taps\": [{\"nic\": \"a\", \"ifname\": \"\"}]", "string that is not empty" },
		{ "\"captures\": [{\"nic\": \"a\", \"file\": \"/no/x\"}]",
		  "capture: a: cannot write" },
		{ "\"spin_us\": -1", "\"spin_us\" must be a whole number from 0 to 1000000" },
		{ "\"spin_us\": 1.5", "\"spin_us\" must be a whole number" },
		{ "\"control\": \"/no/control\"", "control: cannot make the socket" },
	};
	static const struct {
		const char *nic, *reason;
	} nics[] = {
		{ "\"socket\": \"%1$s/a\"", "nic: \"name\" is missing" },
		{ "\"name\": \"a\"", "nic: \"socket\" is missing" },
		{ "\"name\": \"a b\", \"socket\": \"%1$s/a\"", "no good name" },
		{ "\"name\": \"a\", \"socket\": \"%1$s/a\", \"mac\": \"02:00\"", "must look like" },
		{ "\"name\": \"a\", \"socket\": \"%1$s/a\", \"mac\": \"03:00:00:00:00:01\"",
		  "no address of one station" },
		{ "\"name\": \"a\", \"socket\": \"%1$s/a\", \"mac\": \"00:00:00:00:00:00\"",
		  "no address of one station" },
		{ "\"name\": \"a\", \"socket\": \"%1$s/a\", \"speed\": 9999999",
		  "\"speed\" must be" },
		{ "\"name\": \"a\", \"socket\": \"%1$s/a\", \"host_mbps\": 9999999",
		  "\"host_mbps\" must be" },
		{ "\"name\": \"a\", \"socket\": \"%1$s/a\", \"shortcuts\": 3",
		  "must be on or off" },
		{ "\"name\": \"a\", \"socket\": \"/no/a\"", "cannot make the socket /no/a" },
		{ "\"name\": \"a\", \"socket\": \"%1$s/a\"}, {\"name\": \"a\", \"socket\": \"x\"",
		  "two NICs \"a\"" },
	};

	start();
	CHECK_EQ(configure("{}"), -1);
	CHECK(strstr(error, "there is no NIC"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[600];

		snprintf(text, sizeof(text), "{%s, %s}", nic_a, cases[i].more);
		CHECK_EQ(configure(text), -1);
		if (!strstr(error, cases[i].reason))
			FAIL("%s: no \"%s\" in \"%s\"", cases[i].more, cases[i].reason, error);
		while (ternd.nics)
			ternd_nic_destroy(ternd.nics);
	}
	for (size_t i = 0; i < ARRAY_SIZE(nics); i++) {
		char text[600];

		snprintf(text, sizeof(text), "{\"nics\": [{%s}]}", nics[i].nic);
		CHECK_EQ(configure(text), -1);
		if (!strstr(error, nics[i].reason))
			FAIL("%s: no \"%s\" in \"%s\"", nics[i].nic, nics[i].reason, error);
		while (ternd.nics)
			ternd_nic_destroy(ternd.nics);
	}
	stop();
}

static const char *arguments(int argc, ...)
{
	static char text[2000];
	char name[] = "ternd", *argv[16] = { name };
	json_object *config;
	va_list args;

	va_start(args, argc);
	for (int i = 1; i <= argc; i++)
		argv[i] = va_arg(args, char *);
	va_end(args);
	config = ternd_config_of_arguments(argc + 1, argv, error, sizeof(error));
	if (!config)
		return error;
	snprintf(text, sizeof(text), "%s",
		 json_object_to_json_string_ext(config, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(config);
	return text;
}

TERN_TEST(command_line)
{
	FILE *file;
	char *path;

	CHECK_STR(arguments(4, "--nic", "name=a,socket=/x,,y", "--nic", "name=b,socket=z"),
		  "{\"nics\":[{\"name\":\"a\",\"socket\":\"/x,y\"},"
		  "{\"name\":\"b\",\"socket\":\"z\"}]}");
	CHECK_STR(arguments(4, "--control", "c", "--spin-us", "3"),
		  "{\"control\":\"c\",\"spin_us\":\"3\"}");
	CHECK_STR(arguments(1, "--nic"), "--nic: a value is missing (try --help)");
	CHECK_STR(arguments(2, "--what", "x"), "unknown option --what (try --help)");
	CHECK_STR(arguments(2, "--nic", "a"), "--nic \"a\": write key=value,key=value");
	CHECK_STR(arguments(2, "--nic", "a,b=1"), "--nic \"a,b=1\": write key=value,key=value");
	CHECK_STR(arguments(2, "--nic", "=1"), "--nic \"=1\": write key=value,key=value");
	CHECK(strstr(arguments(2, "--nic", "a=1,a=2"), "a is given twice"));
	CHECK(strstr(arguments(2, "--config", "/nowhere"), "/nowhere: "));
	CHECK(!strchr(error, '\n'));
	make_directory();
	path = in_directory("config");
	file = fopen(path, "w");
	CHECK(file);
	fputs("{\"nics\": [{\"name\": \"a\"}], \"cables\": 3}", file);
	fclose(file);
	CHECK_STR(arguments(4, "--nic", "name=b", "--config", path),
		  "{\"nics\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"cables\":3}");
	CHECK(strstr(arguments(4, "--cable", "a=b", "--config", path), "is no list"));
	CHECK(strstr(arguments(4, "--config", path, "--config", path), "given once"));
	file = fopen(path, "w");
	CHECK(file);
	fputs("[]", file);
	fclose(file);
	CHECK(strstr(arguments(2, "--config", path), "a configuration is an object"));
	unlink(path);
	CHECK_EQ(rmdir(directory), 0);
}

TERN_TEST(commands)
{
	start_pair();
	ASK_OK("{\"command\": \"status\"}");
	CHECK(strstr(ask("{\"command\": \"qps\", \"nic\": \"a\"}"), "\"qps\":["));
	CHECK(strstr(ask("{\"command\": \"counters\", \"nic\": \"a\"}"), "\"counters\":{\""));
	ASK_OK("{\"command\": \"reseed\", \"nic\": \"a\", \"seed\": 18446744073709551615}");
	ASK_OK("{\"command\": \"spin\", \"us\": 7}");
	CHECK_EQ(ternd.spin_ns, 7000);
	ASK_OK("{\"command\": \"carrier\", \"nic\": \"a\", \"up\": false}");
	CHECK(!tern_port_carrier(ternd_find_nic(&ternd, "b")->port));
	ASK_OK("{\"command\": \"carrier\", \"nic\": \"a\", \"up\": true}");
	CHECK(tern_port_carrier(ternd_find_nic(&ternd, "b")->port));
	ASK_OK("{\"command\": \"shortcuts\", \"nic\": \"a\", \"on\": false}");
	CHECK(strstr(ask("{\"command\": \"nics\"}"), "\"shortcuts\":false"));
	CHECK(strstr(ask("{\"command\": \"shortcuts\", \"nic\": \"a\"}"), "is missing"));
	CHECK(!ternd.quit);
	ASK_OK("{\"command\": \"quit\"}");
	CHECK(ternd.quit);
	stop();
}

TERN_TEST(commands_that_are_refused_say_why)
{
	start_pair();
	ASK_FAILS("{}", "\"command\\\" must be one of status nics");
	ASK_FAILS("{\"command\": 3}", "must be one of");
	ASK_FAILS("{\"command\": \"dance\"}", "must be one of");
	ASK_FAILS("{\"command\": \"qps\"}", "qps: \\\"nic\\\" is missing");
	ASK_FAILS("{\"command\": \"qps\", \"nic\": \"x\"}", "there is no NIC \\\"x\\\"");
	ASK_FAILS("{\"command\": \"qps\", \"nic\": \"a\", \"x\": 1}", "unknown key \\\"x\\\"");
	ASK_FAILS("{\"command\": \"trace\", \"nic\": \"a\", \"qpn\": 4660}",
		  "has no queue pair 4660");
	ASK_FAILS("{\"command\": \"trace\", \"nic\": \"a\", \"qpn\": 16777216}",
		  "from 0 to 16777215");
	ASK_FAILS("{\"command\": \"carrier\", \"nic\": \"a\"}", "\\\"up\\\" is missing");
	ASK_FAILS("{\"command\": \"stop-capture\", \"nic\": \"a\"}", "is not being captured");
	ASK_FAILS("{\"command\": \"start-capture\", \"nic\": \"a\", \"file\": \"/no/x\"}", "/no/x");
	stop();
}

TERN_TEST(wire_rules)
{
	start_pair();
	ASK_OK("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"drop\", "
	       "\"probability\": 0.5}");
	CHECK(strstr(ask("{\"command\": \"add-rule\", \"nic\": \"b\", \"what\": \"delay\", "
			 "\"nth\": 3, \"opcode\": 4, \"delay_ns\": 1000}"), "\"rule\":"));
	ASK_OK("{\"command\": \"add-rule\", \"nic\": \"b\", \"what\": \"mark-ce\", "
	       "\"probability\": 1}");
	ASK_OK("{\"command\": \"remove-rule\", \"nic\": \"b\", \"all\": true}");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"eat\", \"nth\": 1}",
		  "must be drop, duplicate");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"drop\"}", "give either");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"drop\", \"nth\": 0}",
		  "give either");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"drop\", \"nth\": 1, "
		  "\"probability\": 1}", "give either");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"drop\", "
		  "\"probability\": 1.5}", "number from 0 to 1");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"drop\", \"nth\": 1, "
		  "\"delay_ns\": 5}", "goes with");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"delay\", \"nth\": 1}",
		  "goes with");
	ASK_FAILS("{\"command\": \"add-rule\", \"nic\": \"a\", \"what\": \"drop\", \"nth\": 1, "
		  "\"opcode\": 256}", "from 0 to 255");
	ASK_FAILS("{\"command\": \"remove-rule\", \"nic\": \"a\", \"rule\": 77}", "has no rule 77");
	ASK_FAILS("{\"command\": \"remove-rule\", \"nic\": \"a\", \"rule\": 0, \"all\": true}",
		  "not both");
	ASK_FAILS("{\"command\": \"remove-rule\", \"nic\": \"a\"}", "\\\"rule\\\" is missing");
	stop();
}

/* Send @text to the control socket; the lines that come back. */
static const char *talk(int fd, const char *text)
{
	static char lines[65536];
	size_t used = 0;
	ssize_t got;

	if (*text)
		CHECK_EQ(send(fd, text, strlen(text), 0), (ssize_t)strlen(text));
	for (int idle = 0; idle < 3;) {
		if (tern_loop_poll(ternd.loop, 0) == 0)
			idle++;
		got = recv(fd, lines + used, sizeof(lines) - 1 - used, MSG_DONTWAIT);
		if (got > 0)
			used += (size_t)got;
	}
	lines[used] = '\0';
	return lines;
}

TERN_TEST(control_socket_serves_lines)
{
	static char long_line[70000];
	int fd, other;
	char byte;

	start_pair();
	fd = tern_socket_connect(in_directory("control"));
	CHECK(fd >= 0);
	CHECK_STR(talk(fd, "{\"command\": \"spin\", \"us\": 1}\n"), "{\"ok\":true}\n");
	/* Several at once, in pieces, with empty lines. */
	CHECK_STR(talk(fd, "{\"command\""), "");
	CHECK_STR(talk(fd, ": \"spin\", \"us\": 1}\n\n{\"command\": \"spin\", \"us\": 2}\n{"),
		  "{\"ok\":true}\n{\"ok\":true}\n");
	CHECK(strstr(talk(fd, "\n"), "this is no JSON"));
	CHECK(strstr(talk(fd, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n"), "this is no JSON"));
	CHECK(strstr(talk(fd, "5\n"), "a request is an object"));
	CHECK(strstr(talk(fd, "null\n"), "a request is an object"));
	/* Two connections; one goes without reading. */
	other = tern_socket_connect(in_directory("control"));
	CHECK_EQ(send(other, "{\"command\": \"nics\"}\n", 20, 0), 20);
	close(other);
	CHECK_STR(talk(fd, "{\"command\": \"spin\", \"us\": 1}\n"), "{\"ok\":true}\n");
	memset(long_line, 'x', sizeof(long_line));
	CHECK(send(fd, long_line, sizeof(long_line), 0) > 65536);
	CHECK(strstr(talk(fd, ""), "at most 65535"));
	CHECK(recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET);
	close(fd);
	stop();
}

static unsigned int occurrences(const char *text, const char *what)
{
	unsigned int count = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		count++;
	return count;
}

TERN_TEST(control_connections_are_limited)
{
	static const char spin[] = "{\"command\": \"spin\", \"us\": 1}\n";
	int fds[64], fd;
	char byte;

	start_pair();
	for (unsigned int i = 0; i < 64; i++) {
		fds[i] = tern_socket_connect(in_directory("control"));
		CHECK(fds[i] >= 0);
		CHECK_STR(talk(fds[i], spin), "{\"ok\":true}\n");
	}
	for (unsigned int i = 0; i < 3; i++) {
		fd = tern_socket_connect(in_directory("control"));
		CHECK_STR(talk(fd, ""), "{\"ok\":false,\"error\":"
			  "\"there are 64 control connections already: close one\"}\n");
		CHECK_EQ(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
		close(fd);
	}
	/* Those that are open are served on, and the place of one that goes is free. */
	CHECK_STR(talk(fds[63], spin), "{\"ok\":true}\n");
	close(fds[7]);
	CHECK_STR(talk(fds[0], spin), "{\"ok\":true}\n");
	fds[7] = tern_socket_connect(in_directory("control"));
	CHECK_STR(talk(fds[7], spin), "{\"ok\":true}\n");
	for (unsigned int i = 0; i < 64; i++)
		close(fds[i]);
	stop();
}

/* May the process open descriptors? */
static void allow_descriptors(bool more)
{
	struct rlimit limit;
	int next;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	if (!more) {
		next = dup(0);
		CHECK(next >= 0);
		close(next);
		limit.rlim_cur = (rlim_t)next;
	}
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Who knocks while no descriptor is left waits, and costs nothing until there is one. */
TERN_TEST(listeners_wait_for_descriptors)
{
	unsigned int served = 0;
	int log, control, client, peer;
	struct ternd_nic *nic;
	const char *lines;

	start();
	if (configure("{\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\"}],"
		      "\"streams\": [{\"nic\": \"a\", \"path\": \"%1$s/wire\","
		      "\"role\": \"server\"}], \"control\": \"%1$s/control\"}"))
		FAIL("%s", error);
	nic = ternd_find_nic(&ternd, "a");
	log = tern_socket_connect(in_directory("control"));
	CHECK_STR(talk(log, "{\"command\": \"subscribe\"}\n"), "{\"ok\":true}\n");
	control = tern_socket_connect(in_directory("control"));
	client = tern_socket_connect(in_directory("a"));
	peer = tern_socket_connect(in_directory("wire"));
	CHECK(control >= 0 && client >= 0 && peer >= 0);
	allow_descriptors(false);
	lines = talk(log, "");
	CHECK_EQ(occurrences(lines, "has to wait: Too many open files"), 3);
	for (unsigned int i = 0; i < 1000; i++)
		served += (unsigned int)tern_loop_poll(ternd.loop, 0);
	/* Each looks again ten times a second. */
	CHECK(served < 100);
	for (unsigned int i = 0; i < 30; i++)
		tern_loop_poll(ternd.loop, 10000000);
	CHECK_STR(talk(log, ""), "");
	CHECK(!tern_vfio_user_attached(nic->server));
	allow_descriptors(true);
	for (unsigned int i = 0; i < 1000 && !tern_vfio_user_attached(nic->server); i++)
		tern_loop_poll(ternd.loop, 10000000);
	CHECK(tern_vfio_user_attached(nic->server));
	while (!tern_port_carrier(nic->port))
		tern_loop_poll(ternd.loop, 10000000);
	CHECK_STR(talk(control, "{\"command\": \"spin\", \"us\": 1}\n"), "{\"ok\":true}\n");
	close(client);
	close(peer);
	close(control);
	close(log);
	stop();
}

TERN_TEST(subscribers_get_events)
{
	char line[1000] = "";
	ssize_t got;
	int fd;

	start_pair();
	fd = tern_socket_connect(in_directory("control"));
	CHECK_STR(talk(fd, "{\"command\": \"subscribe\"}\n"), "{\"ok\":true}\n");
	ternd_log(&ternd, ternd.nics, "something %d", 7);
	ternd_log(&ternd, NULL, "else");
	CHECK_STR(talk(fd, ""), "{\"event\":\"log\",\"nic\":\"a\",\"text\":\"something 7\"}\n"
		  "{\"event\":\"log\",\"text\":\"else\"}\n");
	/* One that reads nothing is let go, not waited for: 10 MB are too much. */
	memset(line, 'x', sizeof(line) - 1);
	for (int i = 0; i < 10000; i++)
		ternd_control_event(ternd.control, "log", NULL, line);
	while (tern_loop_poll(ternd.loop, 0) > 0)
		;
	CHECK(strstr(talk(fd, ""), line));
	do {
		got = recv(fd, line, sizeof(line), MSG_DONTWAIT);
	} while (got > 0);
	CHECK(got == 0 || errno == ECONNRESET);
	close(fd);
	stop();
}

/* The sum of all "N more lines were left out". */
static unsigned int left_out(const char *lines)
{
	unsigned int sum = 0, number;

	for (; (lines = strstr(lines, "\"text\":\"")); lines++) {
		if (sscanf(lines, "\"text\":\"%u more lines were left out", &number) == 1)
			sum += number;
	}
	return sum;
}

/* Who attaches and goes again and again fills no disk: lines are left out, and counted. */
TERN_TEST(lines_of_a_nic_are_limited)
{
	unsigned int attached, missing;
	struct ternd_nic *nic;
	int fd, client[2];
	const char *lines;

	start_pair();
	nic = ternd_find_nic(&ternd, "a");
	fd = tern_socket_connect(in_directory("control"));
	CHECK_STR(talk(fd, "{\"command\": \"subscribe\"}\n"), "{\"ok\":true}\n");
	for (unsigned int i = 0; i < 200; i++) {
		CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, client), 0);
		CHECK_EQ(tern_vfio_user_attach(nic->server, client[0]), 0);
		close(client[1]);
		tern_vfio_user_detach(nic->server);
	}
	lines = talk(fd, "");
	attached = occurrences(lines, "client attached");
	missing = left_out(lines);
	CHECK(attached >= 20 && attached < 200);
	/* What an operator does is told in any case, and of other NICs all. */
	ternd_log(&ternd, nic, "by hand");
	ternd_nic_log(ternd_find_nic(&ternd, "b"), "another NIC");
	lines = talk(fd, "");
	CHECK(strstr(lines, "{\"event\":\"log\",\"nic\":\"a\",\"text\":\"by hand\"}\n"));
	CHECK(strstr(lines, "{\"event\":\"log\",\"nic\":\"b\",\"text\":\"another NIC\"}\n"));
	missing += left_out(lines);
	/* When the second is over the rest is told of without a further line. */
	while (nic->log.left_out)
		tern_loop_poll(ternd.loop, 10000000);
	missing += left_out(talk(fd, ""));
	CHECK_EQ(attached + missing, 200);
	ternd_nic_log(nic, "afterwards");
	CHECK(strstr(talk(fd, ""), "afterwards"));
	close(fd);
	stop();
}

/* The program beside this test: build/emulator/ternd. */
static const char *program(void)
{
	static char path[500];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CHECK(length > 0);
	path[length] = '\0';
	*strrchr(path, '/') = '\0';
	strcpy(strrchr(path, '/') + 1, "ternd");
	return path;
}

/* Start ternd with @argv; its standard output is at *out, standard error at *err. */
static pid_t spawn(const char *const *argv, int *out, int *err)
{
	int out_pipe[2], err_pipe[2];
	pid_t pid;

	CHECK_EQ(pipe(out_pipe), 0);
	CHECK_EQ(pipe(err_pipe), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		dup2(out_pipe[1], 1);
		dup2(err_pipe[1], 2);
		execv(argv[0], (char **)argv);
		_exit(127);
	}
	close(out_pipe[1]);
	close(err_pipe[1]);
	*out = out_pipe[0];
	*err = err_pipe[0];
	return pid;
}

static void read_end(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t got;

	while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
}

TERN_TEST(the_program_says_ready_and_ends_cleanly)
{
	char nic[200], control[100], text[10000];
	const char *const argv[] = { program(), "--nic", nic, "--cable", "a=a,b=a", "--control",
			       control, NULL };
	int out, err, fd, status;
	pid_t pid;

	if (access(argv[0], X_OK))
		SKIP("%s is not built", argv[0]);
	make_directory();
	snprintf(nic, sizeof(nic), "name=a,socket=%s/a", directory);
	snprintf(control, sizeof(control), "%s/control", directory);
	for (int by_command = 0; by_command < 2; by_command++) {
		pid = spawn(argv, &out, &err);
		CHECK_EQ(read(out, text, 6), 6);
		CHECK_MEM(text, "READY\n", 6);
		/* Ready means that all sockets can be connected to. */
		fd = tern_socket_connect(in_directory("a"));
		CHECK(fd >= 0);
		close(fd);
		fd = tern_socket_connect(control);
		CHECK(fd >= 0);
		if (by_command)
			CHECK_EQ(send(fd, "{\"command\":\"quit\"}\n", 19, 0), 19);
		else
			kill(pid, SIGTERM);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (status) {
			read_end(err, text, sizeof(text));
			FAIL("status 0x%x: %s", (unsigned int)status, text);
		}
		close(fd);
		close(out);
		close(err);
	}
	/* Nothing is left of it. */
	CHECK_EQ(rmdir(directory), 0);
}

TERN_TEST(the_program_refuses_with_a_reason)
{
	const char *const argv[] = { program(), "--nic", "name=a", NULL };
	char text[10000];
	int out, err, status;
	pid_t pid;

	if (access(argv[0], X_OK))
		SKIP("%s is not built", argv[0]);
	pid = spawn(argv, &out, &err);
	read_end(err, text, sizeof(text));
	CHECK_STR(text, "ternd: nic: \"socket\" is missing\n");
	read_end(out, text, sizeof(text));
	CHECK_STR(text, "");
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WEXITSTATUS(status), 2);
}
