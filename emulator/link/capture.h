/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: a pcap file being written. */
#ifndef TERN_CAPTURE_H
#define TERN_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "tern_loop.h"
#include "tern_nic.h"

struct tern_capture;

struct tern_capture *tern_capture_open(struct tern_loop *loop, const char *path, char *error,
				       size_t error_size);
/* Returns the number of frames written. */
uint64_t tern_capture_close(struct tern_capture *capture);
/* 0, or -1 once the file cannot be written any more (a full disk). */
int tern_capture_frame(struct tern_capture *capture, const struct tern_frame *frame);

#endif /* TERN_CAPTURE_H */
