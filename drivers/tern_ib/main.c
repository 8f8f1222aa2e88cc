// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: bound to the auxiliary device that tern.ko makes. */
#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <uapi/rdma/tern-abi.h>

#include "internal.h"
#include "odp.h"
#include "verbs.h"

static const struct ib_device_ops tern_ib_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = TERN_UVERBS_ABI_VERSION,
	TERN_IB_OPS_ROBUST_UDATA

	.query_device = tern_ib_query_device,
	.modify_device = tern_ib_modify_device,
	.get_dev_fw_str = tern_ib_get_dev_fw_str,
	.query_port = tern_ib_query_port,
	.get_port_immutable = tern_ib_get_port_immutable,
	.get_link_layer = tern_ib_get_link_layer,
	.query_pkey = tern_ib_query_pkey,
	.add_gid = tern_ib_add_gid,
	.del_gid = tern_ib_del_gid,
	.alloc_hw_port_stats = tern_ib_alloc_hw_port_stats,
	.get_hw_stats = tern_ib_get_hw_stats,
	.counter_bind_qp = tern_ib_counter_bind_qp_op,
	.counter_unbind_qp = tern_ib_counter_unbind_qp_op,
	.counter_dealloc = tern_ib_counter_dealloc,
	.counter_alloc_stats = tern_ib_counter_alloc_stats,
	.counter_update_stats = tern_ib_counter_update_stats,
	.fill_res_qp_entry = tern_ib_fill_res_qp_entry,
	.fill_res_qp_entry_raw = tern_ib_fill_res_qp_entry_raw,
	.fill_res_cq_entry = tern_ib_fill_res_cq_entry,
	.fill_res_mr_entry = tern_ib_fill_res_mr_entry,
	.fill_res_srq_entry = tern_ib_fill_res_srq_entry,
	.process_mad = tern_ib_process_mad,

	.alloc_ucontext = tern_ib_alloc_ucontext,
	.query_ucontext = tern_ib_query_ucontext,
	.dealloc_ucontext = tern_ib_dealloc_ucontext,
	.disassociate_ucontext = tern_ib_disassociate_ucontext,
	.mmap = tern_ib_mmap,
	.mmap_free = tern_ib_mmap_free,

	.alloc_pd = tern_ib_alloc_pd,
	.dealloc_pd = tern_ib_dealloc_pd,
	.alloc_xrcd = tern_ib_alloc_xrcd,
	.dealloc_xrcd = tern_ib_dealloc_xrcd,
	.get_dma_mr = tern_ib_get_dma_mr,
	.reg_user_mr = tern_ib_reg_user_mr_op,
	.reg_user_mr_dmabuf = tern_ib_reg_user_mr_dmabuf_op,
	.rereg_user_mr = tern_ib_rereg_user_mr,
	.dereg_mr = tern_ib_dereg_mr,
	.alloc_mw = tern_ib_alloc_mw,
	.dealloc_mw = tern_ib_dealloc_mw,
	.alloc_dm = tern_ib_alloc_dm,
	.dealloc_dm = tern_ib_dealloc_dm,
	.reg_dm_mr = tern_ib_reg_dm_mr,
	.alloc_mr = tern_ib_alloc_mr,
	.map_mr_sg = tern_ib_map_mr_sg,
	.create_ah = tern_ib_create_ah,
	.create_user_ah = tern_ib_create_ah,
	.query_ah = tern_ib_query_ah,
	.destroy_ah = tern_ib_destroy_ah,
	.attach_mcast = tern_ib_attach_mcast,
	.detach_mcast = tern_ib_detach_mcast,
	.create_flow = tern_ib_create_flow,
	.destroy_flow = tern_ib_destroy_flow,
	.create_wq = tern_ib_create_wq,
	.modify_wq = tern_ib_modify_wq,
	.destroy_wq = tern_ib_destroy_wq,
	.create_rwq_ind_table = tern_ib_create_rwq_ind_table,
	.destroy_rwq_ind_table = tern_ib_destroy_rwq_ind_table,

	.create_cq = tern_ib_create_cq,
	.modify_cq = tern_ib_modify_cq,
	TERN_IB_OPS_RESIZE_CQ
	.destroy_cq = tern_ib_destroy_cq,
	.poll_cq = tern_ib_poll_cq,
	.req_notify_cq = tern_ib_req_notify_cq,

	.create_qp = tern_ib_create_qp,
	.modify_qp = tern_ib_modify_qp,
	.query_qp = tern_ib_query_qp,
	.destroy_qp = tern_ib_destroy_qp,
	.post_send = tern_ib_post_send,
	.post_recv = tern_ib_post_recv,

	.create_srq = tern_ib_create_srq,
	.modify_srq = tern_ib_modify_srq,
	.query_srq = tern_ib_query_srq,
	.destroy_srq = tern_ib_destroy_srq,
	.post_srq_recv = tern_ib_post_srq_recv,

	INIT_RDMA_OBJ_SIZE(ib_ah, tern_ib_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, tern_ib_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, tern_ib_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, tern_ib_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, tern_ib_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_rwq_ind_table, tern_ib_rwq_ind_table, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, tern_ib_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, tern_ib_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, tern_ib_xrcd, ib),
	TERN_IB_OPS_COUNTER_SIZE
};

static void tern_ib_describe(struct tern_ib_device *dev)
{
	struct ib_device *ibdev = &dev->ib;
	struct tern_device *tern = dev->tern;

	ib_set_device_ops(ibdev, &tern_ib_ops);
	if (IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS))
		ibdev->driver_def = tern_ib_uapi;
	/* Not the auxiliary device: the provider finds its devices by PCI identity. */
	ibdev->dev.parent = &tern->pdev->dev;
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->node_guid = cpu_to_be64(tern->caps.guid);
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = tern->completion_vectors;
	ibdev->local_dma_lkey = TERN_KEY_LOCAL_DMA;
	strscpy(ibdev->node_desc, "Tern RoCE NIC", sizeof(ibdev->node_desc));
}

static int tern_ib_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct tern_device *tern = tern_from_auxiliary(adev);
	struct tern_ib_device *dev;
	int err;

	if (!tern_has(tern, TERN_FEATURE_ROCE_V1) && !tern_has(tern, TERN_FEATURE_ROCE_V2))
		return -ENODEV;

	dev = ib_alloc_device(tern_ib_device, ib);
	if (!dev)
		return -ENOMEM;
	dev->tern = tern;
	xa_init(&dev->kernel_cqs);
	xa_init(&dev->odp_regions);
	tern_ib_limits_from(&dev->limits, &tern->caps);
	tern_ib_describe(dev);

	err = ib_device_set_netdev(&dev->ib, tern->netdev, 1);
	if (err)
		goto dealloc;
	err = tern_ib_odp_begin(dev);
	if (err)
		goto dealloc;
	err = tern_ib_events_begin(dev);
	if (err)
		goto end_odp;
	err = ib_register_device(&dev->ib, "tern_%d", &tern->pdev->dev);
	if (err)
		goto end_events;
	err = tern_ib_events_start(dev);
	if (err)
		goto unregister;
	auxiliary_set_drvdata(adev, dev);
	return 0;

unregister:
	ib_unregister_device(&dev->ib);
end_events:
	tern_ib_events_end(dev);
end_odp:
	tern_ib_odp_end(dev);
dealloc:
	ib_dealloc_device(&dev->ib);
	return err;
}

static void tern_ib_remove(struct auxiliary_device *adev)
{
	struct tern_ib_device *dev = auxiliary_get_drvdata(adev);

	tern_ib_events_stop(dev);
	ib_unregister_device(&dev->ib);
	tern_ib_events_end(dev);
	tern_ib_odp_end(dev);
	WARN_ON(!xa_empty(&dev->kernel_cqs));
	WARN_ON(!xa_empty(&dev->odp_regions));
	ib_dealloc_device(&dev->ib);
}

static const struct auxiliary_device_id tern_ib_ids[] = {
	{ .name = "tern." TERN_AUXILIARY_RDMA },
	{}
};
MODULE_DEVICE_TABLE(auxiliary, tern_ib_ids);

static struct auxiliary_driver tern_ib_driver = {
	.name = "rdma",
	.probe = tern_ib_probe,
	.remove = tern_ib_remove,
	.id_table = tern_ib_ids,
};
module_auxiliary_driver(tern_ib_driver);

MODULE_DESCRIPTION("RDMA over Converged Ethernet on Tern NICs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(TERN_NAMESPACE);
