// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: capture to a pcap file, by libpcap's writer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcap/pcap.h>

#include "capture.h"
#include "tern_link.h"

#define FLUSH_NS	100000000ULL	/* a reader sees frames at most so late */

struct tern_capture {
	struct tern_loop *loop;
	struct tern_alarm flush;
	pcap_t *pcap;
	pcap_dumper_t *file;
	uint64_t frames;
	uint8_t buffer[TERN_FRAME_MAX];
};

static void flush(void *context)
{
	struct tern_capture *capture = context;

	/* An error stays set in the stream, where capture_frame() finds it. */
	pcap_dump_flush(capture->file);
}

struct tern_capture *tern_capture_open(struct tern_loop *loop, const char *path, char *error,
				       size_t error_size)
{
	struct tern_capture *capture = calloc(1, sizeof(*capture));

	if (!capture) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	capture->loop = loop;
	capture->flush.expired = flush;
	capture->flush.context = capture;
	capture->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, TERN_FRAME_MAX,
							     PCAP_TSTAMP_PRECISION_NANO);
	if (!capture->pcap) {
		snprintf(error, error_size, "out of memory");
		free(capture);
		return NULL;
	}
	capture->file = pcap_dump_open(capture->pcap, path);
	if (!capture->file) {
		snprintf(error, error_size, "cannot write the capture: %s",
			 pcap_geterr(capture->pcap));
		pcap_close(capture->pcap);
		free(capture);
		return NULL;
	}
	/* The file is a valid capture from the start. */
	flush(capture);
	return capture;
}

uint64_t tern_capture_close(struct tern_capture *capture)
{
	uint64_t frames = capture->frames;

	tern_loop_cancel_alarm(capture->loop, &capture->flush);
	pcap_dump_close(capture->file);
	pcap_close(capture->pcap);
	free(capture);
	return frames;
}

int tern_capture_frame(struct tern_capture *capture, const struct tern_frame *frame)
{
	size_t length = tern_frame_flatten(frame, capture->buffer, sizeof(capture->buffer));
	struct pcap_pkthdr header = { .caplen = (bpf_u_int32)length,
				      .len = (bpf_u_int32)length };
	struct timespec now;

	if (!length)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	header.ts.tv_sec = now.tv_sec;
	/* With nanosecond precision this field holds nanoseconds. */
	header.ts.tv_usec = now.tv_nsec;
	pcap_dump((u_char *)capture->file, &header, capture->buffer);
	if (ferror(pcap_dump_file(capture->file)))
		return -1;
	capture->frames++;
	if (!capture->flush.armed)
		tern_loop_set_alarm(capture->loop, &capture->flush, tern_loop_now() + FLUSH_NS);
	return 0;
}
