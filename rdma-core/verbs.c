// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queries, memory regions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <tern_hw_regs.h>
#include <util/util.h>

#include "tern.h"

int tern_query_device_ex(struct ibv_context *ibctx, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct tern_context *ctx = to_tern_context(ibctx);
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int ret;

	ret = ibv_cmd_query_device_any(ibctx, input, attr, attr_size, &resp, &resp_size);
	if (ret)
		return ret;

	/* The kernel's answer has no room for XRC's. A target does what an RC queue pair does. */
	if (attr_size >= offsetofend(struct ibv_device_attr_ex, xrc_odp_caps) &&
	    ctx->features >> TERN_FEATURE_XRC & 1)
		attr->xrc_odp_caps = attr->odp_caps.per_transport_caps.rc_odp_caps;
	version = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned int)(version >> 32), (unsigned int)(version >> 16) & 0xffff,
		 (unsigned int)version & 0xffff);
	return 0;
}

int tern_query_port(struct ibv_context *ibctx, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(ibctx, port, attr, &cmd, sizeof(cmd));
}

struct ibv_mr *tern_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length, uint64_t iova,
			   int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	if (ibv_cmd_reg_mr(ibpd, addr, length, iova, access, vmr, &cmd, sizeof(cmd), &resp,
			   sizeof(resp))) {
		free(vmr);
		return NULL;
	}
	return &vmr->ibv_mr;
}

struct ibv_mr *tern_reg_dmabuf_mr(struct ibv_pd *ibpd, uint64_t offset, size_t length,
				  uint64_t iova, int fd, int access)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	if (ibv_cmd_reg_dmabuf_mr(ibpd, offset, length, iova, fd, access, vmr, NULL)) {
		free(vmr);
		return NULL;
	}
	return &vmr->ibv_mr;
}

int tern_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *ibpd, void *addr,
		  size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;

	return ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr, access, ibpd, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
}

int tern_dereg_mr(struct verbs_mr *vmr)
{
	int ret;

	ret = ibv_cmd_dereg_mr(vmr);
	if (ret)
		return ret;
	free(vmr);
	return 0;
}

/* Objects of another process, whose context's file this one has. */
struct ibv_pd *tern_import_pd(struct ibv_context *ibctx, uint32_t handle)
{
	struct tern_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibv_pd.context = ibctx;
	pd->ibv_pd.handle = handle;
	return &pd->ibv_pd;
}

void tern_unimport_pd(struct ibv_pd *ibpd)
{
	free(to_tern_pd(ibpd));
}

struct ibv_mr *tern_import_mr(struct ibv_pd *ibpd, uint32_t handle)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	if (ibv_cmd_query_mr(ibpd, vmr, handle)) {
		free(vmr);
		return NULL;
	}
	return &vmr->ibv_mr;
}

void tern_unimport_mr(struct ibv_mr *ibmr)
{
	free(verbs_get_mr(ibmr));
}
