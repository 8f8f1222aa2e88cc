// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: misbehaviour on the wire: which frames are hit, by what. */
#include "impair.h"

#include <errno.h>

#include "ecn.h"
#include "parse.h"

#define ROCE_V1_GRH_BYTES	40
#define UDP_BYTES		8

void impair_seed(struct impair *impair, uint64_t seed)
{
	impair->state = seed;
}

/* splitmix64: every seed is a good one, 0 too. */
static uint64_t next_random(struct impair *impair)
{
	uint64_t z = impair->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static double next_fraction(struct impair *impair)
{
	return (double)(next_random(impair) >> 11) / (1ULL << 53);
}

int impair_add(struct impair *impair, const struct tern_wire_rule *rule)
{
	if ((unsigned int)rule->what >= IMPAIR_KINDS || rule->opcode < -1 || rule->opcode > 255)
		return -EINVAL;
	/* Written so that a NaN is refused. */
	if (!rule->nth && !(rule->probability >= 0 && rule->probability <= 1))
		return -EINVAL;
	for (int i = 0; i < IMPAIR_RULES; i++) {
		if (impair->rules[i].used)
			continue;
		impair->rules[i] = (struct impair_rule){ .used = true, .rule = *rule };
		impair->count++;
		return i;
	}
	return -ENOSPC;
}

int impair_remove(struct impair *impair, int number)
{
	if (number == -1) {
		for (int i = 0; i < IMPAIR_RULES; i++)
			impair->rules[i].used = false;
		impair->count = 0;
		return 0;
	}
	if (number < 0 || number >= IMPAIR_RULES || !impair->rules[number].used)
		return -ENOENT;
	impair->rules[number].used = false;
	impair->count--;
	return 0;
}

int impair_bth_opcode(const struct tern_frame *frame)
{
	struct parsed_frame parsed;
	size_t offset;

	if (!parse_frame(&parsed, frame->header, frame->header_length, tern_frame_length(frame)))
		return -1;
	if (parsed.ethertype == ETHERTYPE_ROCE_V1)
		offset = parsed.l3_offset + (size_t)ROCE_V1_GRH_BYTES;
	else if (parsed.l4_protocol == IP_PROTOCOL_UDP &&
		 parsed.destination_port == ROCE_V2_UDP_PORT)
		offset = parsed.l4_offset + (size_t)UDP_BYTES;
	else
		return -1;
	return offset < frame->header_length ? frame->header[offset] : -1;
}

/* Where the IPv4 or IPv6 header of @available bytes of a frame is; NULL: there is none. */
static const uint8_t *ip_header(const uint8_t *frame, size_t available, size_t length)
{
	struct parsed_frame parsed;

	if (!parse_frame(&parsed, frame, available, length) || !parsed.ip_version)
		return NULL;
	return frame + parsed.l3_offset;
}

static bool is_ect(const struct tern_frame *frame)
{
	const uint8_t *ip = ip_header(frame->header, frame->header_length,
				      tern_frame_length(frame));

	return ip && ecn_get(ip) != ECN_NOT_ECT && ecn_get(ip) != ECN_CE;
}

void impair_mark_ce(uint8_t *frame, size_t length)
{
	const uint8_t *ip = ip_header(frame, length, length);

	if (ip)
		ecn_set(frame + (ip - frame), ECN_CE);
}

/* A rule that cannot match draws no random number; one that can draws exactly one. */
static bool rule_hits(struct impair *impair, struct impair_rule *entry,
		      const struct tern_frame *frame, int opcode)
{
	const struct tern_wire_rule *rule = &entry->rule;

	if (rule->opcode != -1 && rule->opcode != opcode)
		return false;
	if (rule->what == TERN_WIRE_MARK_CE && !is_ect(frame))
		return false;
	if (rule->nth)
		return ++entry->seen == rule->nth;
	return next_fraction(impair) < rule->probability;
}

void impair_judge(struct impair *impair, const struct tern_frame *frame,
		  struct impair_verdict *verdict)
{
	int opcode = impair_bth_opcode(frame);

	*verdict = (struct impair_verdict){ 0 };
	for (int i = 0; i < IMPAIR_RULES; i++) {
		struct impair_rule *entry = &impair->rules[i];

		if (!entry->used || !rule_hits(impair, entry, frame, opcode))
			continue;
		impair->hits[entry->rule.what]++;
		verdict->kinds |= 1U << entry->rule.what;
		if (entry->rule.what == TERN_WIRE_DELAY &&
		    entry->rule.delay_ns > verdict->delay_ns)
			verdict->delay_ns = entry->rule.delay_ns;
	}
}

void impair_corrupt(struct impair *impair, uint8_t *frame, size_t length)
{
	uint64_t bits = (uint64_t)(length - PARSE_ETHERNET_BYTES) * 8, bit;

	if (length <= PARSE_ETHERNET_BYTES)
		return;
	bit = next_random(impair) % bits;
	frame[PARSE_ETHERNET_BYTES + bit / 8] ^= (uint8_t)(1U << bit % 8);
}
