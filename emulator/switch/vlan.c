// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the switch's VLANs: port VLAN identifier, membership, tags in and out (802.1Q). */
#include <errno.h>
#include <string.h>

#include "switch.h"

#define VID_DEFAULT	1
#define VID_LAST	4094

void switch_vlan_init(struct tern_switch *sw)
{
	uint64_t all = sw->config.ports == 64 ? UINT64_MAX : (UINT64_C(1) << sw->config.ports) - 1;

	sw->members[VID_DEFAULT] = all;
	sw->untagged[VID_DEFAULT] = all;
	for (unsigned int i = 0; i < sw->config.ports; i++)
		sw->port[i].pvid = VID_DEFAULT;
}

int tern_switch_set_vlan(struct tern_switch *sw, unsigned int port, uint16_t vid,
			 enum tern_switch_vlan membership)
{
	uint64_t bit;

	if (port >= sw->config.ports || !vid || vid > VID_LAST ||
	    (unsigned int)membership > TERN_SWITCH_VLAN_TAGGED)
		return -EINVAL;
	bit = UINT64_C(1) << port;
	sw->members[vid] &= ~bit;
	sw->untagged[vid] &= ~bit;
	if (membership != TERN_SWITCH_VLAN_NONE)
		sw->members[vid] |= bit;
	if (membership == TERN_SWITCH_VLAN_UNTAGGED)
		sw->untagged[vid] |= bit;
	return 0;
}

int tern_switch_set_pvid(struct tern_switch *sw, unsigned int port, uint16_t vid)
{
	if (port >= sw->config.ports || vid > VID_LAST)
		return -EINVAL;
	sw->port[port].pvid = vid;
	return 0;
}

bool switch_vlan_ingress(const struct tern_switch *sw, unsigned int port,
			 struct switch_frame *held)
{
	uint16_t vid = 0;

	if (held->tagged)
		vid = (uint16_t)((held->data[14] & 0x0f) << 8 | held->data[15]);
	held->vid = vid;
	if (!sw->config.vlan_filtering)
		return true;
	/* A tag with VLAN 0 is of priority only. */
	if (!vid)
		vid = sw->port[port].pvid;
	held->vid = vid;
	return vid && vid <= VID_LAST && (sw->members[vid] >> port & 1);
}

uint64_t switch_vlan_members(const struct tern_switch *sw, uint16_t vid)
{
	return sw->config.vlan_filtering ? sw->members[vid] : UINT64_MAX;
}

static bool leaves_tagged(const struct tern_switch *sw, unsigned int port,
			  const struct switch_frame *held)
{
	if (!sw->config.vlan_filtering)
		return held->tagged;
	return !(sw->untagged[held->vid] >> port & 1);
}

unsigned int switch_wire_length(const struct tern_switch *sw, unsigned int port,
				const struct switch_frame *held)
{
	bool tagged = leaves_tagged(sw, port, held);

	return held->length + (tagged && !held->tagged ? TAG_BYTES : 0) -
	       (!tagged && held->tagged ? TAG_BYTES : 0);
}

void switch_vlan_egress(const struct tern_switch *sw, unsigned int port,
			const struct switch_frame *held, struct tern_frame *frame)
{
	bool tagged = leaves_tagged(sw, port, held);
	uint8_t *header = (uint8_t *)(uintptr_t)frame->header;

	if (tagged && !held->tagged) {
		memmove(header - TAG_BYTES, header, 12);
		header -= TAG_BYTES;
		frame->header_length += TAG_BYTES;
		header[12] = 0x81;
		header[13] = 0x00;
	} else if (!tagged && held->tagged) {
		memmove(header + TAG_BYTES, header, 12);
		header += TAG_BYTES;
		frame->header_length -= TAG_BYTES;
	}
	if (tagged && sw->config.vlan_filtering) {
		/* The priority that the switch gave it; drop eligible as it was. */
		header[14] = (uint8_t)(held->priority << 5 |
				       (held->tagged ? header[14] & 0x10 : 0) | held->vid >> 8);
		header[15] = (uint8_t)held->vid;
	}
	frame->header = header;
}
