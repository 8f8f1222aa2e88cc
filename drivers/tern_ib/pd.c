// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: protection domains. To the device a number, no more. */
#include "verbs.h"

int tern_ib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct tern_ib_pd *pd = to_tern_pd(ibpd);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	return tern_number_alloc(to_tern_ib(ibpd->device)->tern, TERN_NUMBERS_PD, &pd->number);
}

int tern_ib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	tern_number_free(to_tern_ib(ibpd->device)->tern, TERN_NUMBERS_PD,
			 to_tern_pd(ibpd)->number);
	return 0;
}
