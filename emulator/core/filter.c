// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: which frames a function's Ethernet takes, and the commands that say so. */
#include <string.h>

#include "byteorder.h"
#include "ethernet.h"
#include "ethernet_commands.h"
#include "ingress.h"
#include "nic.h"
#include "parse.h"
#include "qp.h"

#define VLAN_ID_MASK	0xfff

#define RECEIVE_FLAGS								\
	(TERN_RECEIVE_ENABLE | TERN_RECEIVE_PROMISCUOUS | TERN_RECEIVE_ALL_MULTICAST |	\
	 TERN_RECEIVE_VLAN_FILTER | TERN_RECEIVE_VLAN_STRIP | TERN_RECEIVE_CHECKSUM)

static uint64_t mac_number(const uint8_t *mac)
{
	return (uint64_t)parse_u16(mac) << 32 | parse_u32(mac + 2);
}

static bool is_multicast(const uint8_t *mac)
{
	return mac[0] & 1;
}

static bool multicast_listed(const struct ethernet_function *ethernet, uint64_t mac)
{
	unsigned int low = 0, high = ethernet->multicast_count;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (ethernet->multicast[middle] == mac)
			return true;
		if (ethernet->multicast[middle] < mac)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool filter_takes(const struct ethernet_function *ethernet, const uint8_t *destination,
		  const struct parsed_frame *parsed)
{
	uint32_t flags = ethernet->receive_flags;

	if (!(flags & TERN_RECEIVE_ENABLE))
		return false;
	if (parsed->tagged && (flags & TERN_RECEIVE_VLAN_FILTER)) {
		uint16_t vlan = parsed->vlan_tci & VLAN_ID_MASK;

		if (!(ethernet->vlans[vlan / 8] & (1U << vlan % 8)))
			return false;
	}
	if (flags & TERN_RECEIVE_PROMISCUOUS)
		return true;
	if (!is_multicast(destination))
		return memcmp(destination, ethernet->station_mac, 6) == 0;
	if ((flags & TERN_RECEIVE_ALL_MULTICAST) ||
	    memcmp(destination, "\xff\xff\xff\xff\xff\xff", 6) == 0)
		return true;
	return multicast_listed(ethernet, mac_number(destination));
}

uint16_t set_station_address_command(struct command *command)
{
	typedef struct tern_command_set_station_address body_type;
	const body_type *body = (const void *)command->body;

	if (!command_reserved(command, body_type, reserved0) ||
	    !command_reserved(command, body_type, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (is_multicast(body->mac) || !mac_number(body->mac))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type, mac);
	if (ingress_mac_taken(command->fn, body->mac))
		return command_refuse(command, TERN_COMMAND_STATUS_IN_USE, body_type, mac);
	memcpy(command->fn->ethernet->station_mac, body->mac, 6);
	return TERN_COMMAND_STATUS_OK;
}

uint16_t set_receive_mode_command(struct command *command)
{
	typedef struct tern_command_set_receive_mode body_type;
	const body_type *body = (const void *)command->body;
	struct ethernet_function *ethernet = command->fn->ethernet;
	uint32_t flags = from_le32(body->flags), qpn = from_le32(body->default_qpn);
	uint32_t allowed = RECEIVE_FLAGS;
	struct qp *qp = NULL;
	uint16_t status;

	if (!command_reserved(command, body_type, reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (!function_has(command->fn, FEATURE(CHECKSUM)))
		allowed &= ~TERN_RECEIVE_CHECKSUM;
	if (!function_has(command->fn, FEATURE(VLAN_OFFLOAD)))
		allowed &= ~TERN_RECEIVE_VLAN_STRIP;
	if (flags & ~allowed)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      flags);
	if (qpn) {
		status = ethernet_receiver_find(command->fn, qpn, &qp);
		if (status != TERN_COMMAND_STATUS_OK)
			return command_refuse(command, status, body_type, default_qpn);
		qp->users++;
	}
	if (ethernet->default_qp)
		ethernet->default_qp->users--;
	ethernet->default_qp = qp;
	ethernet->receive_flags = flags;
	return TERN_COMMAND_STATUS_OK;
}

uint16_t set_multicast_table_command(struct command *command)
{
	typedef struct tern_command_set_table body_type;
	const body_type *body = (const void *)command->body;
	struct ethernet_function *ethernet = command->fn->ethernet;
	uint8_t table[MULTICAST_MAX][TERN_MULTICAST_ENTRY_BYTES];
	uint64_t sorted[MULTICAST_MAX] = { 0 };
	uint32_t count = from_le32(body->count);

	if (!command_reserved(command, body_type, reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (count > MULTICAST_MAX)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      count);
	if (count &&
	    guest_read(command->fn, from_le64(body->address), table, count * sizeof(table[0])))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_ADDRESS, body_type,
				      address);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t mac = mac_number(table[i]);
		uint32_t place = i;

		if (!is_multicast(table[i]) || table[i][6] || table[i][7])
			return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
					      body_type, address);
		for (; place && sorted[place - 1] > mac; place--)
			sorted[place] = sorted[place - 1];
		sorted[place] = mac;
	}
	memcpy(ethernet->multicast, sorted, count * sizeof(sorted[0]));
	ethernet->multicast_count = count;
	return TERN_COMMAND_STATUS_OK;
}

uint16_t set_vlan_table_command(struct command *command)
{
	typedef struct tern_command_set_table body_type;
	const body_type *body = (const void *)command->body;
	uint8_t vlans[TERN_VLAN_TABLE_BYTES];

	if (!command_reserved(command, body_type, reserved0))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (from_le32(body->count) != 1)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      count);
	if (guest_read(command->fn, from_le64(body->address), vlans, sizeof(vlans)))
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_ADDRESS, body_type,
				      address);
	memcpy(command->fn->ethernet->vlans, vlans, sizeof(vlans));
	return TERN_COMMAND_STATUS_OK;
}
