// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: page faults of the device, and pages that are asked for in advance. */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "odp.h"
#include "verbs.h"

/* The most that is mapped behind the page that a fault is for. */
#define TERN_IB_FAULT_AHEAD	SZ_256K

static int tern_ib_fault_map(struct tern_ib_odp *odp, const struct tern_page_fault *fault)
{
	enum tern_ib_odp_how how = fault->write ? TERN_IB_ODP_FOR_WRITE : TERN_IB_ODP_FOR_READ;
	u64 offset = fault->address - odp->address;
	u64 length;
	int err;

	if (fault->address < odp->address || offset >= odp->length)
		return -EFAULT;
	if (fault->write && !odp->writable)
		return -EPERM;
	length = min3((u64)fault->length, (u64)TERN_IB_FAULT_AHEAD, odp->length - offset);
	err = tern_ib_odp_map(odp, offset, max(length, 1ULL), how);
	/* What comes behind may not be there, nor needed in the end. */
	if (err)
		err = tern_ib_odp_map(odp, offset, 1, how);
	return err;
}

static void tern_ib_fault_work(struct work_struct *work)
{
	struct tern_ib_fault *pending = container_of(work, struct tern_ib_fault, work);
	struct tern_ib_qp *qp = pending->qp;
	struct tern_ib_device *dev = to_tern_ib(qp->ib.device);
	struct tern_page_fault fault;
	struct tern_ib_odp *odp;
	int err = -ENOENT;

	spin_lock_irq(&qp->fault_lock);
	fault = pending->fault;
	spin_unlock_irq(&qp->fault_lock);
	odp = tern_ib_odp_get(dev, fault.key);
	if (odp) {
		err = tern_ib_fault_map(odp, &fault);
		tern_ib_odp_put(odp);
	}
	if (err)
		ibdev_dbg(&dev->ib, "QP %#x: no page at %#llx of key %#x: %d\n", qp->number,
			  fault.address, fault.key, err);
	/* It fails when the device is dead: then nothing waits. */
	tern_cmd_key_resume(dev->tern, qp->number, fault.number,
			    err ? TERN_RESUME_FAIL : TERN_RESUME_RETRY);
}

/* Interrupts are off, and an event queue's lock is held. */
static void tern_ib_qp_page_fault(struct tern_qp_listener *listener,
				  const struct tern_page_fault *fault)
{
	struct tern_ib_qp *qp = container_of(listener, struct tern_ib_qp, listener);
	struct tern_ib_fault *pending = &qp->faults[fault->responder];

	/* One that was there is over: the queue pair was reset. */
	spin_lock(&qp->fault_lock);
	pending->fault = *fault;
	pending->any = true;
	spin_unlock(&qp->fault_lock);
	queue_work(to_tern_ib(qp->ib.device)->fault_queue, &pending->work);
}

/* Before it listens. */
void tern_ib_qp_faults_init(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	unsigned int i;

	if (!dev->fault_queue)
		return;
	spin_lock_init(&qp->fault_lock);
	for (i = 0; i < ARRAY_SIZE(qp->faults); i++) {
		qp->faults[i].qp = qp;
		INIT_WORK(&qp->faults[i].work, tern_ib_fault_work);
	}
	qp->listener.page_fault = tern_ib_qp_page_fault;
}

/* After it has listened. */
void tern_ib_qp_faults_end(struct tern_ib_device *dev, struct tern_ib_qp *qp)
{
	unsigned int i;

	if (!dev->fault_queue)
		return;
	/* The work waits for memory: who has had no fault need not be able to wait for that. */
	for (i = 0; i < ARRAY_SIZE(qp->faults); i++)
		if (qp->faults[i].any)
			cancel_work_sync(&qp->faults[i].work);
}

/**
 * struct tern_ib_prefetch - pages that are to be mapped before the device comes to them
 * @work: maps them
 * @how: for what
 * @count: of ranges
 * @parts: the ranges: region, offset of the first byte, bytes
 */
struct tern_ib_prefetch {
	struct work_struct work;
	enum tern_ib_odp_how how;
	u32 count;
	struct {
		struct tern_ib_odp *odp;
		u64 offset;
		u32 length;
	} parts[];
};

static int tern_ib_prefetch_run(struct tern_ib_prefetch *prefetch)
{
	int err = 0;
	u32 i;

	for (i = 0; i < prefetch->count && !err; i++)
		if (prefetch->parts[i].length)
			err = tern_ib_odp_map(prefetch->parts[i].odp, prefetch->parts[i].offset,
					      prefetch->parts[i].length, prefetch->how);
	return err;
}

static void tern_ib_prefetch_free(struct tern_ib_prefetch *prefetch)
{
	while (prefetch->count--)
		tern_ib_odp_put(prefetch->parts[prefetch->count].odp);
	kvfree(prefetch);
}

/* Nobody waits: what cannot be mapped makes a fault later. */
static void tern_ib_prefetch_work(struct work_struct *work)
{
	struct tern_ib_prefetch *prefetch = container_of(work, struct tern_ib_prefetch, work);

	tern_ib_prefetch_run(prefetch);
	tern_ib_prefetch_free(prefetch);
}

static int tern_ib_prefetch_add(struct tern_ib_prefetch *prefetch, const struct ib_pd *ibpd,
				const struct ib_sge *sge)
{
	struct tern_ib_odp *odp;
	u64 offset;

	odp = tern_ib_odp_get(to_tern_ib(ibpd->device), sge->lkey >> TERN_KEY_INDEX_SHIFT);
	if (!odp)
		return -ENOENT;
	prefetch->parts[prefetch->count].odp = odp;
	/* From here on the reference is the prefetch's. */
	prefetch->count++;
	if (READ_ONCE(odp->key) != sge->lkey)
		return -ENOENT;
	if (odp->pd != ibpd || (prefetch->how == TERN_IB_ODP_FOR_WRITE && !odp->writable))
		return -EPERM;
	offset = sge->addr - odp->address;
	if (sge->addr < odp->address || offset > odp->length || sge->length > odp->length - offset)
		return -EFAULT;
	prefetch->parts[prefetch->count - 1].offset = offset;
	prefetch->parts[prefetch->count - 1].length = sge->length;
	return 0;
}

static int tern_ib_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
			     struct ib_sge *sges, u32 count, struct uverbs_attr_bundle *attrs)
{
	struct tern_ib_prefetch *prefetch;
	enum tern_ib_odp_how how;
	int err = 0;
	u32 i;

	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		how = TERN_IB_ODP_FOR_READ;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		how = TERN_IB_ODP_FOR_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		how = TERN_IB_ODP_AS_IS;
		break;
	default:
		return -EOPNOTSUPP;
	}

	prefetch = kvzalloc(struct_size(prefetch, parts, count), GFP_KERNEL_ACCOUNT);
	if (!prefetch)
		return -ENOMEM;
	prefetch->how = how;
	for (i = 0; i < count && !err; i++)
		err = tern_ib_prefetch_add(prefetch, ibpd, &sges[i]);
	if (!err && !(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		INIT_WORK(&prefetch->work, tern_ib_prefetch_work);
		queue_work(to_tern_ib(ibpd->device)->fault_queue, &prefetch->work);
		return 0;
	}
	if (!err)
		err = tern_ib_prefetch_run(prefetch);
	tern_ib_prefetch_free(prefetch);
	return err;
}

static const struct ib_device_ops tern_ib_odp_ops = {
	.advise_mr = tern_ib_advise_mr,
};

void tern_ib_odp_describe(struct tern_ib_device *dev, struct ib_device_attr *attr)
{
	const u32 receives = IB_ODP_SUPPORT_RECV |
			     (tern_has(dev->tern, TERN_FEATURE_SRQ) ? IB_ODP_SUPPORT_SRQ_RECV : 0);

	if (!dev->fault_queue)
		return;
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	attr->odp_caps.general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	attr->odp_caps.per_transport_caps.rc_odp_caps = IB_ODP_SUPPORT_SEND | receives |
							IB_ODP_SUPPORT_WRITE |
							IB_ODP_SUPPORT_READ;
	if (tern_has(dev->tern, TERN_FEATURE_ATOMICS))
		attr->odp_caps.per_transport_caps.rc_odp_caps |= IB_ODP_SUPPORT_ATOMIC;
	/* A UC peer cannot be told to wait: what comes to an absent page is lost. */
	attr->odp_caps.per_transport_caps.uc_odp_caps = IB_ODP_SUPPORT_SEND;
	attr->odp_caps.per_transport_caps.ud_odp_caps = IB_ODP_SUPPORT_SEND | receives;
}

/**
 * tern_ib_odp_begin() - take page faults, if the device makes any
 * @dev: a device that is about to be registered
 *
 * Return: 0 or a negative errno
 */
int tern_ib_odp_begin(struct tern_ib_device *dev)
{
	if (!tern_has(dev->tern, TERN_FEATURE_ON_DEMAND_PAGING) ||
	    !(dev->limits.page_sizes & PAGE_SIZE))
		return 0;
	/* Faults may take long: a page may have to come from far. */
	dev->fault_queue = alloc_workqueue("%s_fault", WQ_UNBOUND | WQ_HIGHPRI, 0,
					   dev_name(&dev->tern->pdev->dev));
	if (!dev->fault_queue)
		return -ENOMEM;
	ib_set_device_ops(&dev->ib, &tern_ib_odp_ops);
	return 0;
}

/* After the device was unregistered. */
void tern_ib_odp_end(struct tern_ib_device *dev)
{
	if (dev->fault_queue)
		destroy_workqueue(dev->fault_queue);
}
