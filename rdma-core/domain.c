// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Protection domains, thread domains, parent domains. The latter two are the
 * provider's alone: the kernel knows the protection domain that is contained.
 */
#include <errno.h>
#include <stdlib.h>

#include "tern.h"

struct ibv_pd *tern_alloc_pd(struct ibv_context *ibctx)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct tern_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	if (ibv_cmd_alloc_pd(ibctx, &pd->ibv_pd, &cmd, sizeof(cmd), &resp, sizeof(resp))) {
		free(pd);
		return NULL;
	}
	return &pd->ibv_pd;
}

int tern_dealloc_pd(struct ibv_pd *ibpd)
{
	struct tern_pd *pd = to_tern_pd(ibpd);
	int ret;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (pd->contained) {
		atomic_fetch_sub(&pd->contained->users, 1);
		if (pd->td)
			atomic_fetch_sub(&pd->td->users, 1);
	} else {
		ret = ibv_cmd_dealloc_pd(ibpd);
		if (ret)
			return ret;
	}
	free(pd);
	return 0;
}

struct ibv_td *tern_alloc_td(struct ibv_context *ibctx, struct ibv_td_init_attr *attr)
{
	struct tern_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibv_td.context = ibctx;
	return &td->ibv_td;
}

int tern_dealloc_td(struct ibv_td *ibtd)
{
	struct tern_td *td = container_of(ibtd, struct tern_td, ibv_td);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

struct ibv_pd *tern_alloc_parent_domain(struct ibv_context *ibctx,
					struct ibv_parent_domain_init_attr *attr)
{
	struct tern_pd *pd, *contained;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (attr->comp_mask & ~(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	contained = to_tern_pd(attr->pd);
	/* What one could not give back, it is not to have made. */
	if (contained->contained || (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS &&
				     (!attr->alloc || !attr->free))) {
		errno = EINVAL;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ibv_initialize_parent_domain(&pd->ibv_pd, attr->pd);
	pd->contained = contained;
	atomic_fetch_add(&contained->users, 1);
	if (attr->td) {
		pd->td = container_of(attr->td, struct tern_td, ibv_td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
	return &pd->ibv_pd;
}

/* The parent domain that @ibpd is, kept for a queue; NULL if it is none. */
struct tern_pd *tern_parent_get(struct ibv_pd *ibpd)
{
	struct tern_pd *pd = to_tern_pd(ibpd);

	if (!pd->contained)
		return NULL;
	atomic_fetch_add(&pd->users, 1);
	return pd;
}

void tern_parent_put(struct tern_pd *parent)
{
	if (parent)
		atomic_fetch_sub(&parent->users, 1);
}
