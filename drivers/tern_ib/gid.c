// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern RDMA driver: the GID table. The core fills it from the addresses of
 * the netdev and its uppers, and calls these under the table's mutex: they may
 * sleep, and an index sees one call at a time.
 */
#include <rdma/ib_cache.h>

#include "convert.h"
#include "verbs.h"

static int tern_ib_set_gid(struct tern_ib_device *dev, u32 index,
			   const struct tern_command_set_gid *body)
{
	return tern_command_execute(dev->tern, TERN_COMMAND_SET_GID, index, body, sizeof(*body),
				    NULL);
}

int tern_ib_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct tern_command_set_gid body;
	u8 mac[ETH_ALEN];
	u16 vlan;
	int err;

	/* Of this very GID: that of a VLAN or macvlan device has its own. */
	err = rdma_read_gid_l2_fields(attr, &vlan, mac);
	if (err)
		return err;
	err = tern_ib_gid_to(&attr->gid, attr->gid_type, mac, vlan, &body);
	if (err)
		return err;
	return tern_ib_set_gid(to_tern_ib(attr->device), attr->index, &body);
}

int tern_ib_del_gid(const struct ib_gid_attr *attr, void **context)
{
	static const struct tern_command_set_gid empty = { .type = TERN_GID_TYPE_NONE };
	struct tern_ib_device *dev = to_tern_ib(attr->device);

	return tern_ib_gone_is_done(dev->tern, tern_ib_set_gid(dev, attr->index, &empty));
}
