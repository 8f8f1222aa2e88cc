// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Address handles: the address vector that UD work requests carry. */
#include <errno.h>
#include <stdlib.h>

#include "cqe.h"
#include "tern.h"

struct tern_create_ah_resp {
	struct ib_uverbs_create_ah_resp ibv_resp;
	struct tern_uresp_create_ah drv;
};

static_assert(sizeof(struct tern_create_ah_resp) ==
	      sizeof(struct ib_uverbs_create_ah_resp) + sizeof(struct tern_uresp_create_ah),
	      "create AH response");

struct ibv_ah *tern_create_ah(struct ibv_pd *ibpd, struct ibv_ah_attr *attr)
{
	struct ibv_ah_attr without_priority;
	struct tern_create_ah_resp resp = {};
	struct tern_address_vector *vector;
	struct tern_ah *ah;

	/* RoCE has no other addresses. */
	if (!attr->is_global) {
		errno = EINVAL;
		return NULL;
	}

	/* Of a completion that had none: see tern_cqe_service_level(). */
	if (attr->sl == TERN_SL_IPV4 || attr->sl == TERN_SL_IPV6) {
		without_priority = *attr;
		without_priority.sl = 0;
		attr = &without_priority;
	}

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	if (ibv_cmd_create_ah(ibpd, &ah->ibv_ah, attr, &resp.ibv_resp, sizeof(resp))) {
		free(ah);
		return NULL;
	}

	vector = &ah->vector;
	memcpy(vector->destination_gid, attr->grh.dgid.raw, sizeof(vector->destination_gid));
	memcpy(vector->destination_mac, resp.drv.destination_mac,
	       sizeof(vector->destination_mac));
	vector->source_gid_index = htole16(resp.drv.source_gid_index);
	vector->flow_label = htole32(attr->grh.flow_label & TERN_MASK(19, 0));
	vector->traffic_class = attr->grh.traffic_class;
	vector->hop_limit = resp.drv.hop_limit;
	vector->service_level = attr->sl;
	vector->udp_source_port = htole16(resp.drv.udp_source_port);
	return &ah->ibv_ah;
}

int tern_destroy_ah(struct ibv_ah *ibah)
{
	int ret;

	ret = ibv_cmd_destroy_ah(ibah);
	if (ret)
		return ret;
	free(to_tern_ah(ibah));
	return 0;
}
