// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tern: the switch's filtering database: which address was seen at which port
 * (802.1Q, 8.8). A set-associative table: a set that is full gives up the
 * entry that was not seen for longest. The hash depends on the seed.
 */
#include "switch.h"

static uint64_t key_of(const uint8_t *mac, uint16_t vid)
{
	uint64_t key = vid;

	for (int i = 0; i < 6; i++)
		key = key << 8 | mac[i];
	return key;
}

static unsigned int set_of(const struct tern_switch *sw, uint64_t key)
{
	/* The finalizer of MurmurHash3, 64 bits. */
	key ^= sw->hash_seed;
	key = (key ^ key >> 33) * UINT64_C(0xff51afd7ed558ccd);
	key = (key ^ key >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return (unsigned int)((key ^ key >> 33) % FDB_SETS);
}

void switch_fdb_learn(struct tern_switch *sw, const uint8_t *mac, uint16_t vid,
		      unsigned int port, uint64_t now)
{
	uint64_t key = key_of(mac, vid);
	struct switch_fdb_entry *set = sw->fdb[set_of(sw, key)], *oldest = set;

	/* 00-00-00-00-00-00 in no VLAN is what an empty entry looks like. */
	if (!key)
		return;
	for (unsigned int i = 0; i < FDB_WAYS; i++) {
		if (set[i].key == key) {
			oldest = &set[i];
			break;
		}
		if (!set[i].key ? oldest->key : oldest->key && set[i].seen < oldest->seen)
			oldest = &set[i];
	}
	oldest->key = key;
	oldest->port = (uint8_t)port;
	oldest->seen = now;
}

int switch_fdb_find(const struct tern_switch *sw, const uint8_t *mac, uint16_t vid, uint64_t now)
{
	uint64_t key = key_of(mac, vid);
	const struct switch_fdb_entry *set = sw->fdb[set_of(sw, key)];

	for (unsigned int i = 0; i < FDB_WAYS; i++) {
		if (key && set[i].key == key)
			return now - set[i].seen < sw->config.ageing_ns ? set[i].port : -1;
	}
	return -1;
}

void switch_fdb_flush(struct tern_switch *sw, unsigned int port)
{
	struct switch_fdb_entry *entry = &sw->fdb[0][0];

	for (unsigned int i = 0; i < FDB_SETS * FDB_WAYS; i++) {
		if (entry[i].port == port)
			entry[i].key = 0;
	}
}
