/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: does a frame match a flow? Pure: bytes in, verdict out. */
#ifndef TERN_FLOW_MATCH_H
#define TERN_FLOW_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern_hw_flow.h"

#define FLOW_KEY_WORDS	8

/*
 * A frame's fields at their places in struct tern_flow_match, zero where the
 * frame has none; in reserved0 what there is: IP version, L4 protocol, tag.
 */
struct flow_key {
	uint64_t words[FLOW_KEY_WORDS];
};

struct flow_pattern {
	struct flow_key value, mask;
};

/* The frame's first bytes, @available of them, PARSE_BYTES or the whole frame are enough. */
void flow_key_set(struct flow_key *key, const uint8_t *headers, size_t available);

/*
 * From a command whose body was copied. Returns the offset in it of what makes
 * no sense, or 0.
 */
size_t flow_pattern_set(struct flow_pattern *pattern, const struct tern_command_add_flow *body);

static inline bool flow_matches(const struct flow_pattern *pattern, const struct flow_key *key)
{
	for (unsigned int i = 0; i < FLOW_KEY_WORDS; i++) {
		if ((key->words[i] & pattern->mask.words[i]) != pattern->value.words[i])
			return false;
	}
	return true;
}

#endif /* TERN_FLOW_MATCH_H */
