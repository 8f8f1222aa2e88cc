// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: XRC domains. To the device a number, no more. */
#include "verbs.h"

int tern_ib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct tern_device *tern = to_tern_ib(ibxrcd->device)->tern;
	int err;

	if (!tern_has(tern, TERN_FEATURE_XRC))
		return -EOPNOTSUPP;
	err = ib_no_udata_io(udata);
	if (err)
		return err;
	return tern_number_alloc(tern, TERN_NUMBERS_XRCD, &to_tern_xrcd(ibxrcd)->number);
}

int tern_ib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	tern_number_free(to_tern_ib(ibxrcd->device)->tern, TERN_NUMBERS_XRCD,
			 to_tern_xrcd(ibxrcd)->number);
	return 0;
}
