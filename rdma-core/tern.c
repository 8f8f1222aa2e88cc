// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* libibverbs provider of the Tern NIC: device and context. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/cmd_ioctl.h>

#include <tern_hw_pci.h>
#include <tern_hw_regs.h>

#include "dm.h"
#include "raw_packet.h"
#include "tern.h"
#include "xrc.h"

struct tern_get_context_resp {
	struct ib_uverbs_get_context_resp ibv_resp;
	struct tern_uresp_alloc_ucontext drv;
};

struct tern_get_context {
	struct ibv_get_context ibv_cmd;
	struct tern_ureq_alloc_ucontext drv;
};

static_assert(sizeof(struct tern_get_context) ==
	      sizeof(struct ibv_get_context) + sizeof(struct tern_ureq_alloc_ucontext),
	      "get context command");
static_assert(sizeof(struct tern_get_context_resp) ==
	      sizeof(struct ib_uverbs_get_context_resp) + sizeof(struct tern_uresp_alloc_ucontext),
	      "get context response");

static void tern_free_context(struct ibv_context *ibctx)
{
	struct tern_context *ctx = to_tern_context(ibctx);

	tern_clock_unmap(ctx);
	munmap(ctx->doorbell, ctx->page_size);
	tern_record_pages_free(ctx);
	tern_qp_table_free(ctx);
	tern_xrc_srqs_free(ctx);
	pthread_mutex_destroy(&ctx->record_mutex);
	pthread_mutex_destroy(&ctx->qp_mutex);
	verbs_uninit_context(&ctx->ibv_ctx);
	free(ctx);
}

static const struct verbs_context_ops tern_context_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_dm = tern_alloc_dm,
	.alloc_mw = tern_alloc_mw,
	.alloc_parent_domain = tern_alloc_parent_domain,
	.alloc_pd = tern_alloc_pd,
	.alloc_td = tern_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = tern_bind_mw,
	.close_xrcd = tern_close_xrcd,
	.cq_event = tern_cq_event,
	.create_ah = tern_create_ah,
	.create_cq = tern_create_cq,
	.create_cq_ex = tern_create_cq_ex,
	.create_flow = tern_create_flow,
	.create_qp = tern_create_qp,
	.create_qp_ex = tern_create_qp_ex,
	.create_rwq_ind_table = tern_create_rwq_ind_table,
	.create_srq = tern_create_srq,
	.create_srq_ex = tern_create_srq_ex,
	.create_wq = tern_create_wq,
	.dealloc_mw = tern_dealloc_mw,
	.dealloc_pd = tern_dealloc_pd,
	.dealloc_td = tern_dealloc_td,
	.dereg_mr = tern_dereg_mr,
	.destroy_ah = tern_destroy_ah,
	.destroy_cq = tern_destroy_cq,
	.destroy_flow = tern_destroy_flow,
	.destroy_qp = tern_destroy_qp,
	.destroy_rwq_ind_table = tern_destroy_rwq_ind_table,
	.destroy_srq = tern_destroy_srq,
	.destroy_wq = tern_destroy_wq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = tern_free_context,
	.free_dm = tern_free_dm,
	.get_srq_num = tern_get_srq_num,
	.import_dm = tern_import_dm,
	.import_mr = tern_import_mr,
	.import_pd = tern_import_pd,
	.modify_cq = tern_modify_cq,
	.modify_qp = tern_modify_qp,
	.modify_srq = tern_modify_srq,
	.modify_wq = tern_modify_wq,
	.open_qp = tern_open_qp,
	.open_xrcd = tern_open_xrcd,
	.poll_cq = tern_poll_cq,
	.post_recv = tern_post_recv,
	.post_send = tern_post_send,
	.post_srq_recv = tern_post_srq_recv,
	.query_device_ex = tern_query_device_ex,
	.query_port = tern_query_port,
	.query_qp = tern_query_qp,
	.query_rt_values = tern_query_rt_values,
	.query_srq = tern_query_srq,
	.reg_dm_mr = tern_reg_dm_mr,
	.reg_dmabuf_mr = tern_reg_dmabuf_mr,
	.reg_mr = tern_reg_mr,
	.req_notify_cq = tern_req_notify_cq,
	.resize_cq = tern_resize_cq,
	.rereg_mr = tern_rereg_mr,
	.unimport_dm = tern_unimport_dm,
	.unimport_mr = tern_unimport_mr,
	.unimport_pd = tern_unimport_pd,
};

/* What the kernel said of the context. Returns 0 or a positive errno. */
static int tern_set_context(struct tern_context *ctx, const struct tern_uresp_alloc_ucontext *resp)
{
	void *page;
	int ret;

	/* The sizes are used in shifts: a kernel that lies is not worked with. */
	if (resp->cq_shift_max > 24 || resp->sq_shift_max > 24 ||
	    resp->rq_shift_max > 24)
		return EINVAL;
	ctx->features = resp->features;
	ctx->records = resp->features >> TERN_FEATURE_DOORBELL_RECORDS & 1;
	ctx->cq_entries_max = 1U << resp->cq_shift_max;
	ctx->sq_blocks_max = 1U << resp->sq_shift_max;
	ctx->rq_entries_max = 1U << resp->rq_shift_max;
	ctx->send_sge_max = resp->send_sge_max;
	ctx->receive_sge_max = resp->receive_sge_max;
	ctx->srq_sge_max = resp->srq_sge_max;
	ctx->inline_max = resp->inline_max;
	ctx->inline_max_ud = resp->inline_max_ud;

	page = mmap(NULL, ctx->page_size, PROT_WRITE, MAP_SHARED,
		    ctx->ibv_ctx.context.cmd_fd, resp->doorbell_offset);
	if (page == MAP_FAILED)
		return errno;
	ctx->doorbell = page;
	/* A kernel that has none to give says 0. */
	if (!resp->clock_offset)
		return 0;
	ret = tern_clock_map(ctx, resp->clock_offset);
	if (ret)
		munmap(ctx->doorbell, ctx->page_size);
	return ret;
}

static int tern_get_context(struct tern_context *ctx)
{
	struct tern_get_context_resp resp = {};
	struct tern_get_context cmd = {};
	int ret;

#ifdef TERN_CONTEXT_FD_ARR
	ret = ibv_cmd_get_context(&ctx->ibv_ctx, &cmd.ibv_cmd, sizeof(cmd), NULL, &resp.ibv_resp,
				  sizeof(resp));
#else
	ret = ibv_cmd_get_context(&ctx->ibv_ctx, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				  sizeof(resp));
#endif
	if (ret)
		return ret;
	return tern_set_context(ctx, &resp.drv);
}

/* The file is one that another process opened, and so is all of the context. */
static int tern_query_context(struct tern_context *ctx)
{
	DECLARE_COMMAND_BUFFER(attrs, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, 1);
	struct tern_uresp_alloc_ucontext resp = {};
	int ret;

	fill_attr_out_ptr(attrs, TERN_ATTR_QUERY_CONTEXT_RESPONSE, &resp);
	ret = ibv_cmd_query_context(&ctx->ibv_ctx.context, attrs);
	if (ret)
		return ret;
	return tern_set_context(ctx, &resp);
}

static struct verbs_context *tern_new_context(struct ibv_device *ibdev, int cmd_fd,
					      int (*get)(struct tern_context *ctx))
{
	struct tern_context *ctx;
	int ret;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, ibv_ctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;
	ctx->page_size = sysconf(_SC_PAGESIZE);
	pthread_mutex_init(&ctx->qp_mutex, NULL);
	pthread_mutex_init(&ctx->record_mutex, NULL);

	ret = tern_qp_table_init(ctx);
	if (ret)
		goto err_context;
	ret = get(ctx);
	if (ret)
		goto err_table;

	verbs_set_ops(&ctx->ibv_ctx, &tern_context_ops);
	return &ctx->ibv_ctx;

err_table:
	tern_qp_table_free(ctx);
err_context:
	pthread_mutex_destroy(&ctx->record_mutex);
	pthread_mutex_destroy(&ctx->qp_mutex);
	verbs_uninit_context(&ctx->ibv_ctx);
	free(ctx);
	errno = ret;
	return NULL;
}

static struct verbs_context *tern_alloc_context(struct ibv_device *ibdev, int cmd_fd,
						void *private_data)
{
	return tern_new_context(ibdev, cmd_fd, tern_get_context);
}

static struct verbs_context *tern_import_context(struct ibv_device *ibdev, int cmd_fd)
{
	return tern_new_context(ibdev, cmd_fd, tern_query_context);
}

static struct verbs_device *tern_device_alloc(struct verbs_sysfs_dev *sysfs_dev)
{
	struct tern_device *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	return &dev->ibv_dev;
}

static void tern_device_free(struct verbs_device *vdev)
{
	free(container_of(vdev, struct tern_device, ibv_dev));
}

static const struct verbs_match_ent tern_match_table[] = {
	VERBS_PCI_MATCH(TERN_PCI_VENDOR_ID, TERN_PCI_DEVICE_ID_PF, NULL),
	VERBS_PCI_MATCH(TERN_PCI_VENDOR_ID, TERN_PCI_DEVICE_ID_VF, NULL),
	{},
};

static const struct verbs_device_ops tern_dev_ops = {
	.name = "tern",
	.match_min_abi_version = TERN_UVERBS_ABI_VERSION,
	.match_max_abi_version = TERN_UVERBS_ABI_VERSION,
	.match_table = tern_match_table,
	.alloc_device = tern_device_alloc,
	.uninit_device = tern_device_free,
	.alloc_context = tern_alloc_context,
	.import_context = tern_import_context,
};

PROVIDER_DRIVER(tern, tern_dev_ops);
