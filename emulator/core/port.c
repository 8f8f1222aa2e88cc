// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the port of a function: state, speed, MTU. */
#include <string.h>

#include "byteorder.h"
#include "eq.h"
#include "ethernet.h"
#include "ethernet_commands.h"
#include "mac.h"
#include "nic.h"

bool mac_port_up(const struct tern_nic *nic, const struct function *fn)
{
	return mac_carrier(nic) && fn->ethernet->admin_up;
}

void port_report(struct function *fn)
{
	bool up = mac_port_up(fn->nic, fn);

	if (up == fn->ethernet->reported_up)
		return;
	fn->ethernet->reported_up = up;
	function_event(fn, TERN_EVENT_PORT_STATE, up ? TERN_PORT_UP : TERN_PORT_DOWN,
		       PORT_NUMBER);
}

uint16_t query_port_command(struct command *command)
{
	const struct ethernet_function *ethernet = command->fn->ethernet;
	const struct tern_nic *nic = command->fn->nic;
	struct tern_port_attributes attributes = {
		.state = mac_port_up(nic, command->fn) ? TERN_PORT_UP : TERN_PORT_DOWN,
		.speed_mbps = to_le32(mac_speed_mbps(nic)),
		.mtu = to_le32(ethernet->mtu),
		.mtu_max = to_le32(MTU_MAX),
	};

	memcpy(attributes.station_mac, ethernet->station_mac, 6);
	return command_answer(command, &attributes, sizeof(attributes));
}

uint16_t set_port_command(struct command *command)
{
	typedef struct tern_command_set_port body_type;
	const body_type *body = (const void *)command->body;
	struct ethernet_function *ethernet = command->fn->ethernet;
	uint32_t mtu = from_le32(body->mtu);

	if (!command_reserved(command, body_type, reserved0) ||
	    !command_reserved(command, body_type, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	if (mtu < MTU_MIN || mtu > MTU_MAX)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type, mtu);
	if (body->admin_state > TERN_PORT_UP)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER, body_type,
				      admin_state);
	ethernet->mtu = mtu;
	ethernet->admin_up = body->admin_state == TERN_PORT_UP;
	port_report(command->fn);
	return TERN_COMMAND_STATUS_OK;
}
