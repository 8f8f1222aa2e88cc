/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What kernels keep of the pages of a umem on demand; its umem_mutex is held. */
#ifndef TERN_IB_ODP_COMPAT_H
#define TERN_IB_ODP_COMPAT_H

#include <linux/hmm.h>
#include <linux/pci-p2pdma.h>
#include <rdma/ib_umem_odp.h>

#ifdef TERN_IB_HAVE_HMM_DMA_MAP

#define TERN_IB_ODP_READ	0
#define TERN_IB_ODP_WRITE	HMM_PFN_WRITE

static inline bool tern_ib_odp_mapped(const struct ib_umem_odp *umem, u64 page)
{
	return umem->map.pfn_list[page] & HMM_PFN_DMA_MAPPED;
}

/* A page that was mapped for writing stays so when it is mapped for reading. */
static inline u64 tern_ib_odp_readable_run(const struct ib_umem_odp *umem, u64 page, u64 count)
{
	return count;
}

/* The page is there after ib_umem_odp_map_dma_and_lock(). Return: 0, -ENOENT or -EFAULT */
static inline int tern_ib_odp_page(struct ib_umem_odp *umem, u64 page, dma_addr_t *address,
				   bool *writable)
{
	struct device *dma_device = umem->umem.ibdev->dma_device;
	struct pci_p2pdma_map_state p2pdma = {};
	bool mapped = tern_ib_odp_mapped(umem, page);

	if (!(umem->map.pfn_list[page] & HMM_PFN_VALID))
		return -ENOENT;
	*address = hmm_dma_map_pfn(dma_device, &umem->map, page, &p2pdma);
	if (ib_dma_mapping_error(umem->umem.ibdev, *address))
		return -EFAULT;
	*writable = umem->map.pfn_list[page] & HMM_PFN_WRITE;
	if (!mapped)
		umem->npages++;
	return 0;
}

#else

#define TERN_IB_ODP_READ	ODP_READ_ALLOWED_BIT
#define TERN_IB_ODP_WRITE	(ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT)

static inline bool tern_ib_odp_mapped(const struct ib_umem_odp *umem, u64 page)
{
	return umem->dma_list[page];
}

/*
 * How many pages may be mapped for reading at a time: up to the first one that
 * is mapped already, as that would forget that it was mapped for writing.
 */
static inline u64 tern_ib_odp_readable_run(const struct ib_umem_odp *umem, u64 page, u64 count)
{
	u64 run = 0;

	while (run < count && !tern_ib_odp_mapped(umem, page + run))
		run++;
	return run;
}

static inline int tern_ib_odp_page(struct ib_umem_odp *umem, u64 page, dma_addr_t *address,
				   bool *writable)
{
	dma_addr_t entry = umem->dma_list[page];

	if (!entry)
		return -ENOENT;
	*address = entry & ODP_DMA_ADDR_MASK;
	*writable = entry & ODP_WRITE_ALLOWED_BIT;
	return 0;
}

#endif

#endif /* TERN_IB_ODP_COMPAT_H */
