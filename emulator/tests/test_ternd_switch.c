// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: switches of ternd: frames of NICs and streams through them, and what is refused. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config.h"
#include "control.h"
#include "tern_socket.h"
#include "tern_test.h"
#include "ternd_switch.h"

#define LONG_NS		UINT64_C(10000000000)
#define PEERS		3

static struct ternd ternd;
static char directory[32];
static char error[600];
static int peer[PEERS];

static void start(void)
{
	strcpy(directory, "/tmp/tern-test-XXXXXX");
	CHECK(mkdtemp(directory));
	ternd.quiet = true;
	ternd.started = tern_loop_now();
	ternd.loop = tern_loop_create();
	CHECK(ternd.loop);
}

static void clear(void)
{
	while (ternd.nics)
		ternd_nic_destroy(ternd.nics);
	while (ternd.switches)
		ternd_switch_destroy(ternd.switches);
}

static void stop(void)
{
	clear();
	tern_loop_destroy(ternd.loop);
	CHECK_EQ(rmdir(directory), 0);
}

static int configure(const char *format)
{
	char text[3000];
	json_object *config;
	int err;

	/* %1$s is the directory. */
	snprintf(text, sizeof(text), format, directory);
	config = json_tokener_parse(text);
	if (!config)
		FAIL("no JSON: %s", text);
	err = ternd_config_apply(&ternd, config, error, sizeof(error));
	json_object_put(config);
	return err;
}

static const char *ask(const char *text)
{
	static char answer_text[262144];
	json_object *request = json_tokener_parse(text), *answer;
	bool subscribe = false;

	CHECK(request);
	answer = ternd_command(&ternd, request, &subscribe);
	snprintf(answer_text, sizeof(answer_text), "%s", json_object_to_json_string(answer));
	json_object_put(answer);
	json_object_put(request);
	return answer_text;
}

/* A number of switch "s": of itself, of its @port, of that port's @priority (-1: none). */
static uint64_t number(int port, int priority, const char *key)
{
	json_object *request = json_tokener_parse("{\"command\": \"switch\", \"switch\": \"s\"}");
	json_object *answer, *at;
	bool subscribe = false;
	uint64_t value;

	answer = ternd_command(&ternd, request, &subscribe);
	at = json_object_array_get_idx(json_object_object_get(answer, "switches"), 0);
	CHECK(at);
	at = json_object_object_get(at, port < 0 ? "buffer" : "ports");
	if (port >= 0)
		at = json_object_array_get_idx(at, (size_t)port);
	if (priority >= 0)
		at = json_object_array_get_idx(json_object_object_get(at, "priorities"),
					       (size_t)priority);
	if (!json_object_object_get_ex(at, key, &at))
		FAIL("there is no \"%s\"", key);
	value = json_object_get_uint64(at);
	json_object_put(answer);
	json_object_put(request);
	return value;
}

static struct tern_port *switch_port(unsigned int port)
{
	return ternd_find_switch(&ternd, "s")->ports[port].port;
}

/* Switch "s" with a stream at ports 0 to 2, and a peer connected to each. */
static void start_peers(const char *options, const char *port_options)
{
	char text[1500], path[80];

	start();
	snprintf(text, sizeof(text), "{\"switches\": [{\"name\": \"s\", \"ports\": 4%s}],"
		 "\"switch_ports\": [%s], \"streams\": ["
		 "{\"switch\": \"s\", \"path\": \"%%1$s/0\", \"role\": \"server\"},"
		 "{\"switch\": \"s\", \"path\": \"%%1$s/1\", \"role\": \"server\"},"
		 "{\"switch\": \"s\", \"path\": \"%%1$s/2\", \"role\": \"server\"}]}", options,
		 port_options);
	if (configure(text))
		FAIL("%s", error);
	for (unsigned int i = 0; i < PEERS; i++) {
		snprintf(path, sizeof(path), "%s/%u", directory, i);
		peer[i] = tern_socket_connect(path);
		CHECK(peer[i] >= 0);
		while (!tern_port_carrier(switch_port(i)))
			tern_loop_poll(ternd.loop, LONG_NS);
	}
}

static void stop_peers(void)
{
	for (unsigned int i = 0; i < PEERS; i++)
		close(peer[i]);
	stop();
}

/* An IPv4 frame of ECT(0) from host @from to host @to, tagged with @pcp. */
static void build(uint8_t *frame, size_t length, unsigned int from, unsigned int to,
		  unsigned int pcp)
{
	memset(frame, 0, length);
	frame[0] = 2;
	frame[5] = (uint8_t)to;
	frame[6] = 2;
	frame[11] = (uint8_t)from;
	memcpy(frame + 12, (uint8_t[]){ 0x81, 0, (uint8_t)(pcp << 5), 0, 8, 0, 0x45, 2 }, 8);
}

static void put(unsigned int from, const uint8_t *frame, size_t length)
{
	uint8_t bytes[2048];
	uint32_t prefix = htonl((uint32_t)length);

	memcpy(bytes, &prefix, 4);
	memcpy(bytes + 4, frame, length);
	CHECK_EQ(send(peer[from], bytes, length + 4, 0), (ssize_t)length + 4);
}

static void send_to(unsigned int from, unsigned int to, unsigned int pcp, size_t length)
{
	uint8_t frame[2000];
	uint64_t before = number((int)from, -1, "received_frames");

	build(frame, length, from, to, pcp);
	put(from, frame, length);
	while (number((int)from, -1, "received_frames") == before)
		tern_loop_poll(ternd.loop, LONG_NS);
}

/* The next frame that comes to @to. Returns its length. */
static size_t await(unsigned int to, uint8_t *frame)
{
	uint32_t length;

	while (recv(peer[to], &length, 4, MSG_DONTWAIT | MSG_PEEK) != 4)
		tern_loop_poll(ternd.loop, LONG_NS);
	CHECK_EQ(recv(peer[to], &length, 4, 0), 4);
	length = ntohl(length);
	CHECK(length <= 2000);
	CHECK_EQ(recv(peer[to], frame, length, MSG_WAITALL), (ssize_t)length);
	return length;
}

/* Nothing is there, and all that is under way has arrived. */
static bool nothing(unsigned int to)
{
	uint8_t byte;

	while (ternd_find_switch(&ternd, "s")->timer.armed)
		tern_loop_poll(ternd.loop, LONG_NS);
	while (tern_loop_poll(ternd.loop, 0) > 0)
		;
	return recv(peer[to], &byte, 1, MSG_DONTWAIT) < 0;
}

static void send_pfc(unsigned int from, unsigned int priority, unsigned int quanta)
{
	uint8_t frame[60] = { 0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, (uint8_t)from,
			      0x88, 0x08, 0x01, 0x01, 0, (uint8_t)(1u << priority) };
	uint64_t before = number((int)from, -1, "control");

	frame[18 + 2 * priority] = (uint8_t)(quanta >> 8);
	frame[19 + 2 * priority] = (uint8_t)quanta;
	put(from, frame, sizeof(frame));
	while (number((int)from, -1, "control") == before)
		tern_loop_poll(ternd.loop, LONG_NS);
}

TERN_TEST(streams_learn_and_flood)
{
	uint8_t frame[2000];
	char path[80];

	start_peers("", "");
	send_to(0, 1, 0, 100);
	CHECK_EQ(await(1, frame), 100);
	CHECK_EQ(await(2, frame), 100);
	CHECK_EQ(number(0, -1, "flooded"), 1);
	send_to(1, 0, 5, 200);
	CHECK_EQ(await(0, frame), 200);
	CHECK(nothing(0) && nothing(1) && nothing(2));
	CHECK_EQ(number(1, 5, "rx_packets"), 1);
	CHECK_EQ(number(0, 5, "tx_bytes"), 200);
	CHECK_EQ(number(-1, -1, "fdb_entries"), 2);
	CHECK_EQ(number(-1, -1, "used"), 0);
	/* Who goes is gone from the table, and the carrier from the port. */
	close(peer[0]);
	while (tern_port_carrier(switch_port(0)))
		tern_loop_poll(ternd.loop, LONG_NS);
	CHECK_EQ(number(0, -1, "carrier"), 0);
	CHECK_EQ(number(-1, -1, "fdb_entries"), 1);
	send_to(1, 0, 0, 100);
	CHECK_EQ(await(2, frame), 100);
	/* A new peer takes the place. */
	snprintf(path, sizeof(path), "%s/0", directory);
	peer[0] = tern_socket_connect(path);
	CHECK(peer[0] >= 0);
	send_to(0, 1, 0, 100);
	CHECK_EQ(await(1, frame), 100);
	stop_peers();
}

TERN_TEST(pauses_are_obeyed_and_consumed)
{
	uint8_t frame[2000];

	start_peers(", \"pfc\": 3, \"buffer\": 4194304", "{\"switch\": \"s\", \"port\": 1, "
		    "\"speed\": 1}");
	send_to(1, 0, 0, 100);
	await(0, frame);
	await(2, frame);
	/* 65535 quanta at 1 Mb/s are 34 s. */
	send_pfc(1, 3, 0xffff);
	send_to(0, 1, 3, 300);
	send_to(0, 1, 0, 100);
	CHECK_EQ(await(1, frame), 100);
	CHECK(number(1, 3, "depth") > 0);
	send_pfc(1, 3, 0);
	CHECK_EQ(await(1, frame), 300);
	CHECK(number(1, 3, "paused_ns") > 0);
	CHECK_EQ(number(1, 3, "pauses_received"), 1);
	CHECK_EQ(number(1, 3, "xons_received"), 1);
	/* Neither went anywhere. */
	CHECK(nothing(0) && nothing(2));
	stop_peers();
}

TERN_TEST(a_slow_port_marks_and_pauses)
{
	unsigned int marked = 0, pauses = 0, xons = 0;
	uint8_t frame[2000];

	start_peers(", \"pfc\": \"3\", \"buffer\": 4194304, \"xoff\": 10000, \"kmin\": 5000, "
		    "\"kmax\": 5000", "{\"switch\": \"s\", \"port\": 1, \"speed\": 1}");
	send_to(1, 0, 0, 100);
	await(0, frame);
	await(2, frame);
	/* None leaves meanwhile, however slow the test is. */
	send_pfc(1, 3, 0xffff);
	for (unsigned int i = 0; i < 20; i++)
		send_to(0, 1, 3, 1000);
	CHECK(number(1, 3, "depth") >= 20000);
	CHECK_EQ(number(1, 3, "tx_packets"), 0);
	send_pfc(1, 3, 0);
	for (unsigned int i = 0; i < 20; i++) {
		CHECK_EQ(await(1, frame), 1000);
		marked += (frame[19] & 3) == 3;
	}
	/* Five fill the queue up to kmax. */
	CHECK_EQ(marked, 15);
	CHECK_EQ(number(1, 3, "marks"), marked);
	CHECK_EQ(number(1, 3, "tx_packets"), 20);
	CHECK_EQ(number(1, 3, "tx_drops"), 0);
	/* The sender was told to stop, and to go on. */
	for (uint64_t sent = number(0, -1, "pause_frames_sent"); pauses < sent; pauses++) {
		CHECK_EQ(await(0, frame), 60);
		CHECK_MEM(frame + 12, ((uint8_t[]){ 0x88, 0x08, 0x01, 0x01, 0, 1 << 3 }), 6);
		xons += !frame[24] && !frame[25];
	}
	CHECK(pauses >= 2);
	CHECK(xons >= 1);
	CHECK_EQ(number(0, 3, "xons_sent"), xons);
	CHECK(nothing(0));
	stop_peers();
}

TERN_TEST(ports_are_captured)
{
	char text[200], path[80];
	uint8_t frame[2000];

	start_peers("", "");
	snprintf(path, sizeof(path), "%s/pcap", directory);
	snprintf(text, sizeof(text), "{\"command\": \"start-capture\", \"switch\": \"s\", "
		 "\"port\": 1, \"file\": \"%s\"}", path);
	CHECK(strstr(ask(text), "\"ok\": true"));
	CHECK(strstr(ask(text), "captured already"));
	CHECK_EQ(number(1, -1, "capturing"), 1);
	send_to(0, 1, 0, 100);
	await(1, frame);
	send_to(1, 0, 0, 100);
	await(0, frame);
	CHECK(strstr(ask("{\"command\": \"stop-capture\", \"switch\": \"s\", \"port\": 1}"),
		     "\"frames\": 2"));
	CHECK(strstr(ask("{\"command\": \"stop-capture\", \"switch\": \"s\", \"port\": 1}"),
		     "port 1 of switch s\\\" is not being captured"));
	CHECK_EQ(unlink(path), 0);
	stop_peers();
}

TERN_TEST(nics_meet_at_a_switch)
{
	struct tern_port_statistics statistics;
	struct tern_frame frame;
	uint8_t bytes[100];
	struct ternd_nic *a, *b;

	start();
	if (configure("{\"switches\": [{\"name\": \"s\", \"ports\": 3}], \"nics\": ["
		      "{\"name\": \"a\", \"socket\": \"%1$s/a\", \"link\": \"switch:s\"},"
		      "{\"name\": \"b\", \"socket\": \"%1$s/b\", \"link\": \"switch:s:2\"}]}"))
		FAIL("%s", error);
	a = ternd_find_nic(&ternd, "a");
	b = ternd_find_nic(&ternd, "b");
	CHECK(tern_port_carrier(a->port) && tern_port_carrier(b->port));
	CHECK(strstr(ask("{\"command\": \"nics\"}"), "cable to port 2 of switch s"));
	CHECK(strstr(ask("{\"command\": \"switch\"}"), "cable to a"));
	build(bytes, sizeof(bytes), 1, 2, 0);
	tern_frame_wrap(&frame, bytes, sizeof(bytes));
	tern_port_transmit(a->port, &frame);
	do {
		tern_loop_poll(ternd.loop, LONG_NS);
		tern_port_get_statistics(b->port, &statistics);
	} while (!statistics.received_frames);
	CHECK_EQ(statistics.received_bytes, 100);
	CHECK_EQ(number(2, 0, "tx_packets"), 1);
	/* The plug at the switch's end. */
	ask("{\"command\": \"carrier\", \"switch\": \"s\", \"port\": 2, \"up\": false}");
	CHECK(!tern_port_carrier(b->port) && tern_port_carrier(a->port));
	ask("{\"command\": \"carrier\", \"switch\": \"s\", \"port\": 2, \"up\": true}");
	CHECK(tern_port_carrier(b->port));
	/* With frames under way the switch goes, and with it the carrier. */
	tern_port_transmit(a->port, &frame);
	ternd_switch_destroy(ternd.switches);
	CHECK(!tern_port_carrier(a->port) && !tern_port_carrier(b->port));
	stop();
}

TERN_TEST(ports_are_members_of_vlans)
{
	static const char filtering[] = ", \"vlan_filtering\": true";
	uint8_t frame[2000];

	start_peers(filtering, "{\"switch\": \"s\", \"port\": 0, \"untagged\": 5, \"pvid\": 5},"
		    "{\"switch\": \"s\", \"port\": 1, \"tagged\": \"5+7\", \"pvid\": 0}");
	/* VLAN 5 is at ports 0 and 1, untagged at the one and tagged at the other. */
	build(frame, 100, 0, 1, 0);
	put(0, frame, 100);
	CHECK_EQ(await(1, frame), 100);
	CHECK_MEM(frame + 12, ((uint8_t[]){ 0x81, 0, 0, 5 }), 4);
	frame[5] = 0;
	memcpy(frame + 6, (uint8_t[]){ 2, 0, 0, 0, 0, 1, 0x81, 0, 0, 5 }, 10);
	put(1, frame, 100);
	CHECK_EQ(await(0, frame), 96);
	/* Port 1 has left VLAN 1 and takes nothing that is untagged. */
	memcpy(frame + 6, (uint8_t[]){ 2, 0, 0, 0, 0, 1, 0x08, 0 }, 8);
	put(1, frame, 100);
	while (!number(1, -1, "vlan_filtered"))
		tern_loop_poll(ternd.loop, LONG_NS);
	CHECK(nothing(0) && nothing(1) && nothing(2));
	stop_peers();
}

TERN_TEST(switches_of_the_command_line)
{
	char name[] = "ternd", option[] = "--switch", of_port[] = "--switch-port";
	char sw[] = "name=s,ports=3,pfc=3+4,buffer=4194304,kmin=1,kmax=2,pmax=0.5,ecn=3,alpha=0.5,"
		    "weights=1+1+1+4+1+1+0+0,trust=dscp,vlan_filtering=on,seed=9";
	char port[] = "switch=s,port=2,speed=25000,delay_ns=7,trust=pcp,late=0.5,late_ns=9";
	char *const argv[] = { name, of_port, port, option, sw };
	const struct tern_switch_config *config;
	json_object *object;

	start();
	object = ternd_config_of_arguments(ARRAY_SIZE(argv), argv, error, sizeof(error));
	CHECK(object);
	if (ternd_config_apply(&ternd, object, error, sizeof(error)))
		FAIL("%s", error);
	json_object_put(object);
	config = &ternd_find_switch(&ternd, "s")->config;
	CHECK_EQ(config->ports, 3);
	CHECK_EQ(config->pfc_priorities, 0x18);
	CHECK_EQ(config->buffer_bytes, 4194304);
	CHECK_EQ(config->seed, 9);
	CHECK(config->alpha == 0.5 && config->vlan_filtering);
	CHECK_EQ(config->priorities[3].kmin, 1);
	CHECK_EQ(config->priorities[3].kmax, 2);
	CHECK(config->priorities[3].pmax == 0.5);
	CHECK_EQ(config->priorities[4].kmax, 0);
	CHECK_EQ(config->priorities[3].weight, 4);
	CHECK_EQ(config->priorities[7].weight, 0);
	CHECK(config->port[1].trust_dscp && !config->port[2].trust_dscp);
	CHECK_EQ(config->port[1].speed_mbps, 100000);
	CHECK_EQ(config->port[2].speed_mbps, 25000);
	CHECK_EQ(config->port[2].delay_ns, 7);
	CHECK(config->port[2].delay == 0.5 && config->port[1].delay == 0);
	CHECK_EQ(config->port[2].extra_delay_ns, 9);
	stop();
}

/* Peers that come and go fill no log. */
TERN_TEST(lines_of_a_switch_are_limited)
{
	char path[80];

	start_peers("", "");
	snprintf(path, sizeof(path), "%s/0", directory);
	for (unsigned int i = 0; i < 100; i++) {
		close(peer[0]);
		while (tern_port_carrier(switch_port(0)))
			tern_loop_poll(ternd.loop, LONG_NS);
		peer[0] = tern_socket_connect(path);
		while (!tern_port_carrier(switch_port(0)))
			tern_loop_poll(ternd.loop, LONG_NS);
	}
	/* Each says two lines; a second may pass meanwhile, not ten. */
	CHECK(ternd_find_switch(&ternd, "s")->log.lines <= 20);
	CHECK(ternd_find_switch(&ternd, "s")->log.left_out > 0);
	stop_peers();
}

/* What @command prints, or NULL when it fails. */
static const char *output_of(const char *command)
{
	static char text[65536];
	FILE *file = popen(command, "r");
	size_t length;

	CHECK(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	return pclose(file) ? NULL : text;
}

/* A command for ternctl to the ternd that this test started, in a shell of its own. */
TERN_TEST(ternctl_shows_switches)
{
	char program[500], command[1500];
	const char *text;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 20);

	CHECK(length > 0);
	program[length] = '\0';
	*strrchr(program, '/') = '\0';
	*strrchr(program, '/') = '\0';
	start();
	snprintf(command, sizeof(command), "test -x %s/ternctl -a -x %s/ternd", program, program);
	if (!output_of(command)) {
		stop();
		SKIP("ternd and ternctl are not built");
	}
	snprintf(command, sizeof(command),
		 "cd %s || exit; export TERN_CONTROL=%s/control; c=%s/ternctl; "
		 "mkfifo ready; %s/ternd --control control --switch name=s,ports=2,pfc=3+4 "
		 "--stream switch=s,port=1,path=w,role=server >ready & read x <ready; rm ready; "
		 "$c switch; $c switch x 2>&1; $c --json switch s; $c carrier s:1 down; $c switch; "
		 "$c carrier s:7 up 2>&1; $c carrier s:q up 2>&1; $c start-capture s:1 pcap; "
		 "$c switch; $c stop-capture s:1; rm pcap; "
		 "$c switch s --watch --interval 0.05 2>&- | head -n 9 | tail -n 3; $c quit; wait",
		 directory, directory, program, program);
	text = output_of(command);
	CHECK(text);
	CHECK(strstr(text, "switch s: buffer 0 of 2359296 bytes used"));
	CHECK(strstr(text, "lossless priorities: 3+4, 0 addresses\n"));
	CHECK(strstr(text, "   1  100G   down     -"));
	CHECK(strstr(text, "ternctl: switch: there is no switch \"x\"\n"));
	CHECK(strstr(text, "{\"switches\": [{\"name\": \"s\", "));
	CHECK(strstr(text, "100G   down (here)"));
	CHECK(strstr(text, "\"port\" must be a whole number from 0 to 1\n"));
	CHECK(strstr(text, "ternctl: s:q: a port of a switch is NAME:NUMBER\n"));
	CHECK(strstr(text, ", captured\n"));
	CHECK(strstr(text, "frames 0\n"));
	/* The third look has rates. */
	CHECK(strstr(text, " 0.0 "));
	stop();
}

TERN_TEST(options_that_are_refused_say_why)
{
	static const struct {
		const char *options, *reason;
	} cases[] = {
		{ "\"x\": 1", "switch: unknown key \"x\"; known are: name" },
		{ "\"name\": \"a b\"", "no good name" },
		{ "\"ports\": 0", "1 to 64 ports" },
		{ "\"ports\": 65", "\"ports\" must be a whole number from 0 to 64" },
		{ "\"speed\": 1600001", "\"speed\" must be" },
		{ "\"delay_ns\": 1000000001", "\"delay_ns\" must be" },
		{ "\"trust\": \"tos\"", "\"trust\" must be pcp or dscp, not \"tos\"" },
		{ "\"default_priority\": 8", "\"default_priority\" must be" },
		{ "\"buffer\": 1073741825", "\"buffer\" must be" },
		{ "\"buffer\": 100", "the buffer has no room" },
		{ "\"buffer\": 1000000, \"pfc\": \"3+4\"", "has no room" },
		{ "\"headroom\": 1073741825", "\"headroom\" must be" },
		{ "\"xoff\": -1", "\"xoff\" must be" },
		{ "\"alpha\": 0", "\"alpha\" must be a number above 0" },
		{ "\"alpha\": \"64.5\"", "\"alpha\" must be" },
		{ "\"alpha\": \"1x\"", "\"alpha\" must be" },
		{ "\"alpha\": \"nan\"", "\"alpha\" must be" },
		{ "\"pfc\": 8", "\"pfc\" must be" },
		{ "\"pfc\": \"3+8\"", "\"pfc\" must be numbers from 0 to 7 such as 3 or 3+4" },
		{ "\"pfc\": \"3+\"", "\"pfc\" must be" },
		{ "\"pfc\": \"3,4\"", "\"pfc\" must be" },
		{ "\"pfc\": \"18446744073709551619\"", "\"pfc\" must be" },
		{ "\"pfc\": true", "\"pfc\" must be" },
		{ "\"kmin\": 5", "\"kmin\" and \"kmax\" go together" },
		{ "\"kmin\": 0, \"kmax\": 0", "\"kmax\" must not be 0" },
		{ "\"kmin\": 6, \"kmax\": 5", "\"kmin\" must not be above" },
		{ "\"kmin\": 5, \"kmax\": 6, \"pmax\": 1.5", "\"pmax\" must be a number from 0" },
		{ "\"pmax\": 0.5", "go with \"kmin\" and \"kmax\"" },
		{ "\"ecn\": 3", "go with \"kmin\" and \"kmax\"" },
		{ "\"wred_drop\": true", "go with \"kmin\" and \"kmax\"" },
		{ "\"average_shift\": 17", "\"average_shift\" must be" },
		{ "\"weights\": \"1+2\"", "\"weights\" must be eight" },
		{ "\"weights\": \"1+2+3+4+5+6+7+8+9\"", "\"weights\" must be eight" },
		{ "\"weights\": \"256+0+0+0+0+0+0+0\"", "numbers from 0 to 255" },
		{ "\"vlan_filtering\": 1", "\"vlan_filtering\" must be on or off" },
		{ "\"ageing_ms\": 1000000001", "\"ageing_ms\" must be" },
		{ "\"drop\": 1.1", "\"drop\" must be" },
		{ "\"duplicate\": -0.1", "\"duplicate\" must be" },
		{ "\"corrupt\": \"x\"", "\"corrupt\" must be" },
		{ "\"late\": 2", "\"late\" must be" },
		{ "\"late\": 0.5", "\"late\" goes with \"late_ns\"" },
		{ "\"seed\": -1", "\"seed\" must be" },
	};
	static const struct {
		const char *more, *reason;
	} others[] = {
		{ "\"switch_ports\": [{\"switch\": \"x\", \"port\": 0}]",
		  "switch_port: there is no switch \"x\"" },
		{ "\"switch_ports\": [{\"switch\": \"s\"}]", "\"port\" is missing" },
		{ "\"switch_ports\": [{\"switch\": \"s\", \"port\": 2}]", "\"port\" must be" },
		{ "\"switch_ports\": [{\"switch\": \"s\", \"port\": 0, \"pvid\": 1}]",
		  "vlan_filtering=on" },
		{ "\"switch_ports\": [{\"switch\": \"s\", \"port\": 0, \"pfc\": 1}]",
		  "unknown key" },
		{ "\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\", \"link\": \"s\"}]",
		  "\"link\" must be switch:NAME or switch:NAME:PORT, not \"s\"" },
		{ "\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\", \"link\": \"switch:\"}]",
		  "\"link\" must be" },
		{ "\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\", "
		  "\"link\": \"switch:x\"}]", "nic: there is no switch \"x\"" },
		{ "\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\", "
		  "\"link\": \"switch:s:2\"}]", "has ports 0 to 1, not \"2\"" },
		{ "\"nics\": [{\"name\": \"a\", \"socket\": \"%1$s/a\", "
		  "\"link\": \"switch:s:0x1\"}]", "has ports 0 to 1" },
		{ "\"streams\": [{\"switch\": \"s\", \"port\": 1, \"path\": \"%1$s/x\", "
		  "\"role\": \"client\"}, {\"switch\": \"s\", \"port\": 1, "
		  "\"path\": \"%1$s/x\", \"role\": \"client\"}]",
		  "stream: port 1 of switch s: its port is taken" },
		{ "\"streams\": [{\"switch\": \"s\", \"nic\": \"a\", \"path\": \"x\", "
		  "\"role\": \"client\"}]", "give \"nic\" or \"switch\", not both" },
		{ "\"captures\": [{\"nic\": \"a\", \"port\": 1, \"file\": \"x\"}]",
		  "\"port\" goes with \"switch\"" },
		{ "\"captures\": [{\"switch\": \"s\", \"file\": \"x\"}]", "\"port\" is missing" },
	};
	char text[800];

	start();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = "\"name\": \"s\", ";

		if (strstr(cases[i].options, "\"name\""))
			name = "";
		snprintf(text, sizeof(text), "{\"switches\": [{%s%s}]}", name, cases[i].options);
		CHECK_EQ(configure(text), -1);
		if (!strstr(error, cases[i].reason))
			FAIL("%s: no \"%s\" in \"%s\"", cases[i].options, cases[i].reason, error);
		CHECK(!ternd.switches);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		snprintf(text, sizeof(text),
			 "{\"switches\": [{\"name\": \"s\", \"ports\": 2}], %s}",
			 others[i].more);
		CHECK_EQ(configure(text), -1);
		if (!strstr(error, others[i].reason))
			FAIL("%s: no \"%s\" in \"%s\"", others[i].more, others[i].reason,
			     error);
		clear();
	}
	CHECK_EQ(configure("{\"switches\": [{\"name\": \"s\"}, {\"name\": \"s\"}]}"), -1);
	CHECK(strstr(error, "two switches \"s\""));
	clear();
	CHECK_EQ(configure("{\"switches\": [{\"name\": \"s\", \"vlan_filtering\": true}], "
			   "\"switch_ports\": [{\"switch\": \"s\", \"port\": 0, "
			   "\"tagged\": \"0\"}]}"), -1);
	CHECK(strstr(error, "a VLAN is one of 1 to 4094"));
	CHECK(strstr(ask("{\"command\": \"switch\", \"switch\": \"x\"}"), "there is no switch"));
	stop();
}
