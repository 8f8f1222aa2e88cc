// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Device memory. The processor's accesses to it are of four or eight bytes, as
 * the bus has them, so offsets and lengths are multiples of four.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <infiniband/cmd_ioctl.h>

#include "dm.h"
#include "tern.h"

#define TERN_DM_UNIT	sizeof(uint32_t)

static struct tern_dm *to_tern_dm(struct ibv_dm *ibdm)
{
	return container_of(ibdm, struct tern_dm, base.dm);
}

/* Returns 0 or a positive errno. */
static int tern_dm_check(const struct tern_dm *dm, uint64_t offset, size_t length)
{
	if (offset > dm->length || length > dm->length - offset)
		return EFAULT;
	return (offset | length) % TERN_DM_UNIT ? EINVAL : 0;
}

static int tern_memcpy_to_dm(struct ibv_dm *ibdm, uint64_t offset, const void *host_addr,
			     size_t length)
{
	struct tern_dm *dm = to_tern_dm(ibdm);
	uint8_t *to = dm->map + offset;
	const uint8_t *from = host_addr;
	int ret;

	ret = tern_dm_check(dm, offset, length);
	if (ret || !length)
		return ret;
	mmio_wc_start();
	while (length) {
		uint64_t wide;
		uint32_t narrow;

		if (length >= sizeof(wide) && !((uintptr_t)to % sizeof(wide))) {
			memcpy(&wide, from, sizeof(wide));
			mmio_write64_le(to, (__le64)wide);
			to += sizeof(wide);
			from += sizeof(wide);
			length -= sizeof(wide);
		} else {
			memcpy(&narrow, from, sizeof(narrow));
			mmio_write32_le(to, (__le32)narrow);
			to += sizeof(narrow);
			from += sizeof(narrow);
			length -= sizeof(narrow);
		}
	}
	mmio_flush_writes();
	/*
	 * Writes to it are posted, and a queue's record, which tells the device
	 * of work requests that use it, goes another way: a read of it comes
	 * back behind them (tern_hw_device_memory.h).
	 */
	(void)mmio_read32_le(to - sizeof(uint32_t));
	return 0;
}

static int tern_memcpy_from_dm(void *host_addr, struct ibv_dm *ibdm, uint64_t offset,
			       size_t length)
{
	struct tern_dm *dm = to_tern_dm(ibdm);
	const uint8_t *from = dm->map + offset;
	uint8_t *to = host_addr;
	int ret;

	ret = tern_dm_check(dm, offset, length);
	if (ret)
		return ret;
	/* What a completion that was seen says is there. */
	udma_from_device_barrier();
	while (length) {
		if (length >= sizeof(uint64_t) && !((uintptr_t)from % sizeof(uint64_t))) {
			__le64 wide = mmio_read64_le(from);

			memcpy(to, &wide, sizeof(wide));
			to += sizeof(wide);
			from += sizeof(wide);
			length -= sizeof(wide);
		} else {
			__le32 narrow = mmio_read32_le(from);

			memcpy(to, &narrow, sizeof(narrow));
			to += sizeof(narrow);
			from += sizeof(narrow);
			length -= sizeof(narrow);
		}
	}
	return 0;
}

/* Maps what the kernel said. Returns 0 or a positive errno. */
static int tern_dm_map(struct tern_dm *dm, struct ibv_context *ibctx,
		       const struct tern_uresp_dm *resp)
{
	void *map;

	if (resp->length > resp->mmap_length)
		return EINVAL;
	map = mmap(NULL, resp->mmap_length, PROT_READ | PROT_WRITE, MAP_SHARED, ibctx->cmd_fd,
		   resp->mmap_offset);
	if (map == MAP_FAILED)
		return errno;
	dm->map = map;
	dm->map_length = resp->mmap_length;
	dm->length = resp->length;
	dm->base.dm.memcpy_to_dm = tern_memcpy_to_dm;
	dm->base.dm.memcpy_from_dm = tern_memcpy_from_dm;
	return 0;
}

struct ibv_dm *tern_alloc_dm(struct ibv_context *ibctx, struct ibv_alloc_dm_attr *attr)
{
	DECLARE_COMMAND_BUFFER(attrs, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, 1);
	struct tern_uresp_dm resp = {};
	struct tern_dm *dm;
	int ret;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_out_ptr(attrs, TERN_ATTR_ALLOC_DM_RESPONSE, &resp);
	ret = ibv_cmd_alloc_dm(ibctx, attr, &dm->base, attrs);
	if (ret)
		goto err_free;
	ret = tern_dm_map(dm, ibctx, &resp);
	if (ret)
		goto err_dealloc;
	return &dm->base.dm;

err_dealloc:
	ibv_cmd_free_dm(&dm->base);
err_free:
	free(dm);
	errno = ret;
	return NULL;
}

int tern_free_dm(struct ibv_dm *ibdm)
{
	struct tern_dm *dm = to_tern_dm(ibdm);
	int ret;

	ret = ibv_cmd_free_dm(&dm->base);
	if (ret)
		return ret;
	munmap(dm->map, dm->map_length);
	free(dm);
	return 0;
}

/* Device memory of another process, whose context's file this one has. */
struct ibv_dm *tern_import_dm(struct ibv_context *ibctx, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(attrs, UVERBS_OBJECT_DM, TERN_METHOD_DM_QUERY, 2);
	struct tern_uresp_dm resp = {};
	struct tern_dm *dm;
	int ret;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_in_obj(attrs, TERN_ATTR_DM_QUERY_HANDLE, handle);
	fill_attr_out_ptr(attrs, TERN_ATTR_DM_QUERY_RESPONSE, &resp);
	if (execute_ioctl(ibctx, attrs))
		goto err_free;
	ret = tern_dm_map(dm, ibctx, &resp);
	if (ret) {
		errno = ret;
		goto err_free;
	}
	dm->base.handle = handle;
	dm->base.dm.handle = handle;
	dm->base.dm.comp_mask = IBV_DM_MASK_HANDLE;
	dm->base.dm.context = ibctx;
	return &dm->base.dm;

err_free:
	free(dm);
	return NULL;
}

void tern_unimport_dm(struct ibv_dm *ibdm)
{
	struct tern_dm *dm = to_tern_dm(ibdm);

	munmap(dm->map, dm->map_length);
	free(dm);
}

struct ibv_mr *tern_reg_dm_mr(struct ibv_pd *ibpd, struct ibv_dm *ibdm, uint64_t offset,
			      size_t length, unsigned int access)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	if (ibv_cmd_reg_dm_mr(ibpd, &to_tern_dm(ibdm)->base, offset, length, access, vmr, NULL)) {
		free(vmr);
		return NULL;
	}
	return &vmr->ibv_mr;
}
