// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: devlink. */
#include "adapter.h"

static int tern_devlink_info_get(struct devlink *devlink, struct devlink_info_req *req,
				 struct netlink_ext_ack *extack)
{
	struct tern_adapter *adapter = devlink_priv(devlink);
	const struct tern_capabilities *caps = &adapter->device.caps;
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%016llx", caps->guid);
	err = devlink_info_serial_number_put(req, text);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%u", caps->vendor_part);
	err = devlink_info_version_fixed_put(req, DEVLINK_INFO_VERSION_GENERIC_ASIC_ID, text);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%llu.%llu.%llu", caps->firmware_version >> 48,
		 caps->firmware_version >> 32 & 0xffff, caps->firmware_version & U32_MAX);
	return devlink_info_version_running_put(req, DEVLINK_INFO_VERSION_GENERIC_FW, text);
}

const struct devlink_ops tern_devlink_ops = {
	.info_get = tern_devlink_info_get,
};

int tern_devlink_port_add(struct tern_adapter *adapter)
{
	struct devlink_port_attrs attrs = {
		.flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL,
		.phys.port_number = 0,
	};

	devlink_port_attrs_set(&adapter->devlink_port, &attrs);
	return devlink_port_register(priv_to_devlink(adapter), &adapter->devlink_port, 0);
}

void tern_devlink_port_remove(struct tern_adapter *adapter)
{
	devlink_port_unregister(&adapter->devlink_port);
}
