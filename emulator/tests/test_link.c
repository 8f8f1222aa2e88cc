// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ports, cables, streams, taps and captures. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "tern_link.h"
#include "tern_socket.h"
#include "tern_test.h"

/* A NIC that keeps what it gets. */
struct sink {
	struct tern_port *port;
	unsigned int frames, carrier_changes;
	bool carrier, busy, pending_icrc;
	size_t length;
	uint8_t last[TERN_FRAME_MAX];
	const uint8_t *payload;		/* where the last frame's payload stood */
	struct sink *echo_to;		/* sends from inside receive */
	char log[2048];
};

static struct tern_loop *loop;
static struct sink a, b;
static char directory[32];
static char path[80], error[400];

static void sink_receive(void *nic, const struct tern_frame *frame)
{
	struct sink *sink = nic;

	CHECK(!sink->busy);
	sink->frames++;
	sink->length = tern_frame_length(frame);
	sink->pending_icrc = frame->icrc_pending;
	sink->payload = frame->payload_count ? frame->payload[0].base : NULL;
	if (!frame->icrc_pending)
		CHECK_EQ(tern_frame_flatten(frame, sink->last, sizeof(sink->last)),
			 sink->length);
	if (sink->echo_to) {
		sink->busy = true;
		tern_port_transmit(sink->port, frame);
		sink->busy = false;
	}
}

static void sink_carrier(void *nic, bool up)
{
	struct sink *sink = nic;

	sink->carrier = up;
	sink->carrier_changes++;
}

static bool sink_busy(void *nic)
{
	return ((struct sink *)nic)->busy;
}

static void sink_log(void *nic, const char *line)
{
	struct sink *sink = nic;
	size_t used = strlen(sink->log);

	snprintf(sink->log + used, sizeof(sink->log) - used, "%s\n", line);
}

static const struct tern_port_ops sink_ops = { sink_receive, sink_carrier, sink_busy, sink_log };

static void start(void)
{
	loop = tern_loop_create();
	CHECK(loop);
	a.port = tern_port_create(loop, &sink_ops, &a);
	b.port = tern_port_create(loop, &sink_ops, &b);
	CHECK(a.port && b.port);
}

static void stop(void)
{
	tern_port_destroy(a.port);
	tern_port_destroy(b.port);
	tern_loop_destroy(loop);
}

static void turn(void)
{
	while (tern_loop_poll(loop, 0) > 0)
		;
}

/* Turn, and sleep where there is nothing to do, until @condition. */
#define TURN_UNTIL(condition)							\
	do {									\
		for (int turns_ = 0; !(condition); turns_++) {			\
			if (turns_ == 2000)					\
				FAIL("never: %s", #condition);			\
			tern_loop_poll(loop, 5000000);				\
		}								\
	} while (0)

static void make_path(void)
{
	strcpy(directory, "/tmp/tern-test-XXXXXX");
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/wire", directory);
}

static void remove_path(void)
{
	unlink(path);
	CHECK_EQ(rmdir(directory), 0);
}

static void send_bytes(struct sink *from, size_t length, uint8_t seed)
{
	static uint8_t bytes[TERN_FRAME_MAX + 1];
	struct tern_frame frame;

	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)(seed + i * 7);
	tern_frame_wrap(&frame, bytes, length);
	from->busy = true;
	tern_port_transmit(from->port, &frame);
	from->busy = false;
}

static void check_last(const struct sink *sink, size_t length, uint8_t seed)
{
	CHECK_EQ(sink->length, length);
	for (size_t i = 0; i < length; i++)
		CHECK_EQ(sink->last[i], (uint8_t)(seed + i * 7));
}

static struct tern_port_statistics statistics(const struct sink *sink)
{
	struct tern_port_statistics s;

	tern_port_get_statistics(sink->port, &s);
	return s;
}

TERN_TEST(without_a_plug_frames_are_dropped_and_counted)
{
	char text[100];

	start();
	send_bytes(&a, 100, 1);
	CHECK_EQ(statistics(&a).sent_unplugged, 1);
	CHECK_EQ(statistics(&a).sent_frames, 0);
	tern_port_describe(a.port, text, sizeof(text));
	CHECK_STR(text, "nothing");
	CHECK(!tern_port_carrier(a.port));
	stop();
}

TERN_TEST(a_cable_carries_both_ways)
{
	char text[100];

	start();
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	CHECK(a.carrier && b.carrier);
	send_bytes(&a, 100, 1);
	check_last(&b, 100, 1);
	send_bytes(&b, 9018, 2);
	check_last(&a, 9018, 2);
	CHECK_EQ(statistics(&a).sent_bytes, 100);
	CHECK_EQ(statistics(&a).received_bytes, 9018);
	tern_port_describe(a.port, text, sizeof(text));
	CHECK_STR(text, "cable to b");
	tern_port_describe(b.port, text, sizeof(text));
	CHECK_STR(text, "cable to a");
	/* A port takes one plug. */
	CHECK_EQ(tern_cable_plug(b.port, "b", a.port, "a", error, sizeof(error)), -1);
	CHECK(strstr(error, "taken"));
	tern_port_unplug(b.port);
	CHECK(!a.carrier && !b.carrier);
	stop();
}

TERN_TEST(a_cable_passes_payload_by_reference)
{
	static const uint8_t header[60], payload[1000];
	struct tern_segment segment = { payload, sizeof(payload) };
	struct tern_frame frame = { .header = header, .header_length = sizeof(header),
				    .payload = &segment, .payload_count = 1,
				    .payload_length = sizeof(payload), .trailer_length = 4,
				    .icrc_pending = true };

	start();
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	tern_port_transmit(a.port, &frame);
	CHECK(b.payload == payload);
	CHECK(b.pending_icrc);
	/* For a busy NIC it is copied, and still needs no ICRC. */
	b.busy = true;
	tern_port_transmit(a.port, &frame);
	CHECK_EQ(b.frames, 1);
	b.busy = false;
	turn();
	CHECK_EQ(b.frames, 2);
	CHECK(b.payload != payload);
	CHECK(b.pending_icrc);
	CHECK_EQ(b.length, 1064);
	CHECK_EQ(statistics(&b).received_waited, 1);
	stop();
}

TERN_TEST(a_nic_cabled_to_itself_hears_itself_after_its_call)
{
	start();
	CHECK_EQ(tern_cable_plug(a.port, "a", a.port, "a", error, sizeof(error)), 0);
	CHECK(a.carrier);
	for (uint8_t i = 0; i < 10; i++)
		send_bytes(&a, 64 + i, i);
	CHECK_EQ(a.frames, 0);
	turn();
	CHECK_EQ(a.frames, 10);
	check_last(&a, 73, 9);
	tern_port_set_up(a.port, false);
	CHECK(!a.carrier);
	tern_port_set_up(a.port, true);
	CHECK(a.carrier);
	stop();
}

TERN_TEST(waiting_frames_stay_in_order_and_are_bounded)
{
	start();
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	b.busy = true;
	send_bytes(&a, 100, 1);
	b.busy = false;
	/* It is free again, but a frame waits: this one must not pass it. */
	send_bytes(&a, 200, 2);
	CHECK_EQ(b.frames, 0);
	turn();
	CHECK_EQ(b.frames, 2);
	check_last(&b, 200, 2);
	b.busy = true;
	for (int i = 0; i < 1000; i++)
		send_bytes(&a, 9000, 1);
	b.busy = false;
	CHECK(statistics(&b).received_overflow > 0);
	CHECK_EQ(statistics(&b).received_waited + statistics(&b).received_overflow, 1002);
	turn();
	CHECK_EQ(b.frames + statistics(&b).received_overflow, 1002);
	/* Frames that wait when the port goes are freed with it. */
	b.busy = true;
	send_bytes(&a, 100, 1);
	stop();
}

TERN_TEST(an_answer_from_inside_receive_waits_for_the_sender)
{
	start();
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	b.echo_to = &a;
	send_bytes(&a, 500, 3);
	CHECK_EQ(a.frames, 0);
	turn();
	CHECK_EQ(a.frames, 1);
	check_last(&a, 500, 3);
	stop();
}

TERN_TEST(carrier_needs_both_ends)
{
	start();
	tern_port_set_up(a.port, false);
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	CHECK(!a.carrier && !b.carrier);
	tern_port_set_up(a.port, true);
	CHECK(a.carrier && b.carrier);
	tern_port_set_up(b.port, false);
	CHECK(!a.carrier && !b.carrier);
	send_bytes(&a, 100, 1);
	CHECK_EQ(b.frames, 0);
	CHECK_EQ(statistics(&a).sent_unplugged, 1);
	tern_port_set_up(b.port, true);
	CHECK(a.carrier && b.carrier);
	CHECK_EQ(a.carrier_changes, 3);
	stop();
}

TERN_TEST(a_frame_that_waits_is_dropped_when_the_carrier_goes)
{
	start();
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	b.busy = true;
	send_bytes(&a, 100, 1);
	b.busy = false;
	tern_port_set_up(b.port, false);
	turn();
	CHECK_EQ(b.frames, 0);
	CHECK_EQ(statistics(&b).received_no_carrier, 1);
	stop();
}

/* A stream's other end, by hand. */
static int connect_peer(void)
{
	int fd = tern_socket_connect(path);

	CHECK(fd >= 0);
	turn();
	return fd;
}

static void peer_send(int fd, uint32_t announced, const void *bytes, size_t length)
{
	uint32_t prefix = htonl(announced);

	CHECK_EQ(send(fd, &prefix, 4, 0), 4);
	if (length)
		CHECK_EQ(send(fd, bytes, length, 0), (ssize_t)length);
}

TERN_TEST(stream_framing_is_qemus)
{
	static uint8_t bytes[4 + TERN_FRAME_MAX], frame[300];
	int fd;

	make_path();
	start();
	CHECK_EQ(tern_stream_plug(a.port, path, true, error, sizeof(error)), 0);
	CHECK(!a.carrier);
	fd = connect_peer();
	CHECK(a.carrier);
	send_bytes(&a, 100, 9);
	send_bytes(&a, 15, 8);
	/* Not written yet: what a turn sends is gathered. */
	CHECK_EQ(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), -1);
	turn();
	CHECK_EQ(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), 4 + 100 + 4 + 15);
	CHECK_MEM(bytes, "\0\0\0\x64\x09\x10", 6);
	CHECK_MEM(bytes + 104, "\0\0\0\x0f\x08\x0f", 6);
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(5 + i * 7);
	/* In pieces, one byte at a time. */
	for (size_t i = 0; i < 4 + sizeof(frame); i++) {
		uint32_t prefix = htonl(sizeof(frame));
		const uint8_t *byte = i < 4 ? (uint8_t *)&prefix + i : frame + i - 4;

		CHECK_EQ(a.frames, 0);
		CHECK_EQ(send(fd, byte, 1, 0), 1);
		turn();
	}
	CHECK_EQ(a.frames, 1);
	check_last(&a, sizeof(frame), 5);
	/* Several at once; the empty one and the stub are dropped. */
	peer_send(fd, 0, NULL, 0);
	peer_send(fd, 13, frame, 13);
	peer_send(fd, 14, frame, 14);
	peer_send(fd, 60, frame, 60);
	turn();
	CHECK_EQ(a.frames, 3);
	CHECK_EQ(statistics(&a).received_bad, 2);
	check_last(&a, 60, 5);
	/* One that is too long ends the connection, and a new one can be made. */
	peer_send(fd, TERN_FRAME_MAX + 1, frame, sizeof(frame));
	turn();
	CHECK(!a.carrier);
	CHECK_EQ(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0, 0);
	close(fd);
	fd = connect_peer();
	CHECK(a.carrier);
	peer_send(fd, 60, frame, 60);
	turn();
	CHECK_EQ(a.frames, 4);
	close(fd);
	turn();
	CHECK(!a.carrier);
	stop();
	CHECK_EQ(access(path, F_OK), -1);
	remove_path();
}

TERN_TEST(two_streams_talk)
{
	make_path();
	start();
	CHECK_EQ(tern_stream_plug(a.port, path, true, error, sizeof(error)), 0);
	CHECK_EQ(tern_stream_plug(b.port, path, false, error, sizeof(error)), 0);
	TURN_UNTIL(a.carrier && b.carrier);
	for (unsigned int i = 0; i < 2000; i++) {
		send_bytes(&a, 14 + i * 4, (uint8_t)i);
		/* More than 8 MB in all: the ring wraps, and the socket fills up. */
		if (i % 100 == 99)
			TURN_UNTIL(b.frames == i + 1);
	}
	check_last(&b, 14 + 1999 * 4, (uint8_t)1999);
	send_bytes(&b, 14, 1);
	TURN_UNTIL(a.frames == 1);
	stop();
	remove_path();
}

TERN_TEST(a_client_waits_for_its_server_and_comes_back)
{
	make_path();
	start();
	CHECK_EQ(tern_stream_plug(b.port, path, false, error, sizeof(error)), 0);
	turn();
	CHECK(!b.carrier);
	CHECK_EQ(tern_stream_plug(a.port, path, true, error, sizeof(error)), 0);
	TURN_UNTIL(a.carrier && b.carrier);
	tern_port_unplug(a.port);
	TURN_UNTIL(!b.carrier);
	CHECK_EQ(tern_stream_plug(a.port, path, true, error, sizeof(error)), 0);
	TURN_UNTIL(a.carrier && b.carrier);
	send_bytes(&b, 77, 1);
	TURN_UNTIL(a.frames == 1);
	stop();
	remove_path();
}

TERN_TEST(a_peer_that_does_not_read_loses_frames)
{
	static uint8_t bytes[1 << 20];
	size_t got = 0;
	ssize_t more;
	int fd;

	make_path();
	start();
	CHECK_EQ(tern_stream_plug(a.port, path, true, error, sizeof(error)), 0);
	fd = connect_peer();
	for (int i = 0; i < 1000; i++) {
		send_bytes(&a, 9000, 1);
		tern_loop_poll(loop, 0);
	}
	CHECK(statistics(&a).sent_overflow > 100);
	CHECK_EQ(statistics(&a).sent_frames, 1000);
	/* What was taken arrives whole once it reads. */
	for (int idle = 0; idle < 3;) {
		tern_loop_poll(loop, 0);
		more = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (more > 0)
			got += (size_t)more;
		else
			idle++;
	}
	CHECK_EQ(got % 9004, 0);
	CHECK_EQ(got / 9004 + statistics(&a).sent_overflow, 1000);
	close(fd);
	stop();
	remove_path();
}

TERN_TEST(a_new_peer_takes_over)
{
	uint8_t frame[60] = { 0 };
	int first, second;

	make_path();
	start();
	CHECK_EQ(tern_stream_plug(a.port, path, true, error, sizeof(error)), 0);
	first = connect_peer();
	second = connect_peer();
	CHECK(a.carrier);
	peer_send(second, 60, frame, 60);
	turn();
	CHECK_EQ(a.frames, 1);
	CHECK_EQ(recv(first, frame, 1, MSG_DONTWAIT), 0);
	close(first);
	close(second);
	stop();
	remove_path();
}

TERN_TEST(stream_paths_that_cannot_be)
{
	char long_path[200];
	FILE *file;

	make_path();
	start();
	file = fopen(path, "w");
	CHECK(file);
	fclose(file);
	CHECK_EQ(tern_stream_plug(a.port, path, true, error, sizeof(error)), -1);
	CHECK(strstr(error, "is no socket"));
	unlink(path);
	memset(long_path, 'x', sizeof(long_path));
	long_path[0] = '/';
	long_path[sizeof(long_path) - 1] = '\0';
	CHECK_EQ(tern_stream_plug(a.port, long_path, true, error, sizeof(error)), -1);
	CHECK(strstr(error, "characters"));
	CHECK_EQ(tern_stream_plug(a.port, "/nowhere/wire", true, error, sizeof(error)), -1);
	CHECK(strstr(error, "No such file"));
	stop();
	remove_path();
}

static unsigned int read_capture(struct pcap_pkthdr *last, uint8_t *bytes)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO,
							       text);
	struct pcap_pkthdr *header;
	unsigned int count = 0;
	const u_char *data;

	CHECK(pcap);
	CHECK_EQ(pcap_datalink(pcap), DLT_EN10MB);
	while (pcap_next_ex(pcap, &header, &data) == 1) {
		*last = *header;
		memcpy(bytes, data, header->caplen);
		count++;
	}
	pcap_close(pcap);
	return count;
}

TERN_TEST(capture_has_both_directions)
{
	static uint8_t bytes[TERN_FRAME_MAX];
	struct pcap_pkthdr last = { 0 };

	make_path();
	start();
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	CHECK_EQ(tern_port_start_capture(a.port, path, error, sizeof(error)), 0);
	CHECK_EQ(tern_port_start_capture(a.port, path, error, sizeof(error)), -1);
	CHECK(strstr(error, "already"));
	CHECK(tern_port_capturing(a.port));
	/* A valid file from the start. */
	CHECK_EQ(read_capture(&last, bytes), 0);
	send_bytes(&a, 100, 1);
	send_bytes(&b, 9018, 2);
	/* On disk soon, without being stopped. */
	TURN_UNTIL(read_capture(&last, bytes) == 2);
	send_bytes(&b, 64, 3);
	CHECK_EQ(tern_port_stop_capture(a.port), 3);
	CHECK(!tern_port_capturing(a.port));
	send_bytes(&b, 64, 4);
	CHECK_EQ(read_capture(&last, bytes), 3);
	CHECK_EQ(last.len, 64);
	CHECK_EQ(bytes[0], 3);
	CHECK(last.ts.tv_usec < 1000000000);
	CHECK_EQ(tern_port_stop_capture(a.port), 0);
	CHECK_EQ(tern_port_start_capture(a.port, "/nowhere/x", error, sizeof(error)), -1);
	CHECK(strstr(error, "/nowhere/x"));
	stop();
	remove_path();
}

TERN_TEST(a_capture_that_cannot_be_written_ends_by_itself)
{
	start();
	if (access("/dev/full", W_OK))
		SKIP("no /dev/full here");
	CHECK_EQ(tern_cable_plug(a.port, "a", b.port, "b", error, sizeof(error)), 0);
	CHECK_EQ(tern_port_start_capture(a.port, "/dev/full", error, sizeof(error)), 0);
	for (int i = 0; i < 10 && tern_port_capturing(a.port); i++) {
		send_bytes(&a, 9000, 1);
		CHECK_EQ(b.frames, (unsigned int)i + 1);
	}
	CHECK(!tern_port_capturing(a.port));
	CHECK(strstr(a.log, "capture stopped"));
	stop();
}

TERN_TEST(tap_names)
{
	start();
	CHECK_EQ(tern_tap_plug(a.port, "", error, sizeof(error)), -1);
	CHECK(strstr(error, "no interface name"));
	CHECK_EQ(tern_tap_plug(a.port, "much-too-long-a-name", error, sizeof(error)), -1);
	CHECK(strstr(error, "no interface name"));
	CHECK(!a.carrier);
	stop();
}

TERN_TEST(tap_carries_frames)
{
	char text[100];

	start();
	if (tern_tap_plug(a.port, "terntest0", error, sizeof(error))) {
		CHECK(strstr(error, "/dev/net/tun") || strstr(error, "ip tuntap"));
		SKIP("%s", error);
	}
	CHECK(a.carrier);
	tern_port_describe(a.port, text, sizeof(text));
	CHECK_STR(text, "tap terntest0");
	/* It is down: what is sent is dropped and counted. */
	send_bytes(&a, 100, 1);
	CHECK_EQ(statistics(&a).sent_overflow, 1);
	if (system("ip link set terntest0 up 2> /dev/null")) {
		stop();
		SKIP("ip cannot set a tap device up here");
	}
	send_bytes(&a, 100, 1);
	CHECK_EQ(statistics(&a).sent_overflow, 1);
	/* IPv6 says hello by itself as soon as the device is up; ask for it where it does not. */
	if (!system("ip neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev terntest0 2> /dev/null && "
		    "ip addr add 192.0.2.1/24 dev terntest0 && "
		    "ping -c 1 -W 1 192.0.2.9 > /dev/null 2>&1"))
		FAIL("nobody can have answered");
	TURN_UNTIL(a.frames > 0);
	/* Without its device the link is down, and the loop has nothing more to serve. */
	CHECK_EQ(system("ip link del terntest0"), 0);
	TURN_UNTIL(!a.carrier);
	CHECK_EQ(tern_loop_poll(loop, 0), 0);
	stop();
}

TERN_TEST(a_retry_of_a_dead_alarm_does_nothing)
{
	/* A client that never connects is unplugged with its alarm armed. */
	make_path();
	start();
	CHECK_EQ(tern_stream_plug(a.port, path, false, error, sizeof(error)), 0);
	tern_port_unplug(a.port);
	for (int i = 0; i < 10; i++)
		tern_loop_poll(loop, 5000000);
	stop();
	remove_path();
}
