/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* libibverbs provider of the Tern NIC: device memory. */
#ifndef TERN_PROVIDER_DM_H
#define TERN_PROVIDER_DM_H

#include <infiniband/driver.h>

struct tern_dm {
	struct verbs_dm base;
	uint8_t *map;
	size_t map_length;
	uint64_t length;
};

struct ibv_dm *tern_alloc_dm(struct ibv_context *ibctx, struct ibv_alloc_dm_attr *attr);
int tern_free_dm(struct ibv_dm *ibdm);
struct ibv_dm *tern_import_dm(struct ibv_context *ibctx, uint32_t handle);
void tern_unimport_dm(struct ibv_dm *ibdm);
struct ibv_mr *tern_reg_dm_mr(struct ibv_pd *ibpd, struct ibv_dm *ibdm, uint64_t offset,
			      size_t length, unsigned int access);

#endif /* TERN_PROVIDER_DM_H */
