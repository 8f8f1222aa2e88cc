// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The device's clock, by which completions are stamped. */
#include <errno.h>
#include <sys/mman.h>

#include <tern_hw_regs.h>

#include "tern.h"

/* Returns 0 or a positive errno. */
int tern_clock_map(struct tern_context *ctx, uint64_t offset)
{
	void *page = mmap(NULL, ctx->page_size, PROT_READ, MAP_SHARED,
			  ctx->ibv_ctx.context.cmd_fd, offset);

	if (page == MAP_FAILED)
		return errno;
	ctx->clock = page;
	ctx->timestamps = true;
	return 0;
}

void tern_clock_unmap(struct tern_context *ctx)
{
	if (ctx->clock)
		munmap(ctx->clock, ctx->page_size);
}

int tern_query_rt_values(struct ibv_context *ibctx, struct ibv_values_ex *values)
{
	struct tern_context *ctx = to_tern_context(ibctx);

	if (values->comp_mask & ~IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (!ctx->timestamps)
		return EOPNOTSUPP;
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
		/* In cycles, that is all the verb promises; all of them are in tv_nsec. */
		values->raw_clock.tv_sec = 0;
		values->raw_clock.tv_nsec =
			le64toh(mmio_read64_le((uint8_t *)ctx->clock + TERN_CLOCK_NANOSECONDS));
	}
	return 0;
}
