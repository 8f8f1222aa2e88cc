// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: shared receive queues for tests. */
#include "host_srq.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bytes(uint8_t shift)
{
	return UINT64_C(1) << (shift + DRIVER_SRQ_STRIDE_SHIFT);
}

struct tern_command_create_srq driver_srq_body(struct driver *driver, struct driver_srq *srq,
					       uint32_t pd, uint8_t shift)
{
	*srq = (struct driver_srq){
		.driver = driver, .srqn = driver->next_srqn++, .shift = shift,
		.ring = host_alloc(driver->machine, bytes(shift), 4096),
		.record = host_alloc(driver->machine, sizeof(struct tern_queue_record), 128),
	};
	return (struct tern_command_create_srq){
		.shift = shift, .stride_shift = DRIVER_SRQ_STRIDE_SHIFT, .pd = htole32(pd),
		.pages = driver_pages(srq->ring, bytes(shift)), .record = htole64(srq->record),
	};
}

void driver_srq_create(struct driver *driver, struct driver_srq *srq, uint32_t pd, uint8_t shift)
{
	struct tern_command_create_srq body = driver_srq_body(driver, srq, pd, shift);

	if (driver_command(driver, TERN_COMMAND_CREATE_SRQ, srq->srqn, &body, sizeof(body))) {
		fprintf(stderr, "CREATE_SRQ: status %u, syndrome %u\n", driver->status,
			driver->syndrome);
		abort();
	}
	driver->srqn = srq->srqn;
}

void driver_srq_create_xrc(struct driver *driver, struct driver_srq *srq, uint32_t pd,
			   uint8_t shift, const struct driver_cq *cq)
{
	struct tern_command_create_srq body = driver_srq_body(driver, srq, pd, shift);

	body.cqn = htole32(cq->cqn);
	body.xrcd = htole32(driver->xrcd);
	if (driver_command(driver, TERN_COMMAND_CREATE_SRQ, srq->srqn, &body, sizeof(body)))
		abort();
}

uint8_t *driver_srq_entry(const struct driver_srq *srq, uint32_t index)
{
	uint64_t place = index & ((1U << srq->shift) - 1);

	return host_pointer(srq->driver->machine,
			    srq->ring + (place << DRIVER_SRQ_STRIDE_SHIFT));
}

void driver_srq_publish(struct driver_srq *srq)
{
	struct tern_queue_record *record = host_pointer(srq->driver->machine, srq->record);

	__atomic_store_n((uint32_t *)&record->index, htole32(srq->producer), __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!(srq->driver->features & UINT64_C(1) << TERN_FEATURE_DOORBELL_RECORDS))
		driver_doorbell(srq->driver, 0, TERN_DOORBELL_SRQ, srq->srqn, srq->producer);
}

uint32_t driver_srq_post(struct driver_srq *srq, const struct tern_sge *sges, unsigned int count)
{
	uint32_t tag = DRIVER_SRQ_TAG + srq->producer;
	struct tern_receive_header header = { .sge_count = (uint8_t)count, .tag = htole32(tag) };
	uint8_t *entry = driver_srq_entry(srq, srq->producer);

	memcpy(entry, &header, sizeof(header));
	if (count)
		memcpy(entry + sizeof(header), sges, count * sizeof(*sges));
	srq->producer++;
	driver_srq_publish(srq);
	return tag;
}

static uint16_t modify(struct driver_srq *srq, const struct tern_command_modify_srq *body)
{
	return driver_command(srq->driver, TERN_COMMAND_MODIFY_SRQ, srq->srqn, body, sizeof(*body));
}

uint16_t driver_srq_limit(struct driver_srq *srq, uint32_t limit)
{
	struct tern_command_modify_srq body = {
		.mask = htole32(TERN_SRQ_SET_LIMIT), .limit = htole32(limit),
	};

	return modify(srq, &body);
}

uint16_t driver_srq_resize(struct driver_srq *srq, uint8_t shift)
{
	struct driver_srq new = *srq;
	struct tern_command_modify_srq body = {
		.mask = htole32(TERN_SRQ_SET_SIZE), .shift = shift,
	};
	uint32_t count = 1U << (shift < srq->shift ? shift : srq->shift);
	uint16_t status;

	new.shift = shift;
	new.ring = host_alloc(srq->driver->machine, bytes(shift), 4096);
	body.pages = driver_pages(new.ring, bytes(shift));
	for (uint32_t index = srq->producer - count; index != srq->producer; index++)
		memcpy(driver_srq_entry(&new, index), driver_srq_entry(srq, index),
		       1 << DRIVER_SRQ_STRIDE_SHIFT);
	status = modify(srq, &body);
	if (status)
		return status;
	/* The old one is not looked at any more. */
	memset(driver_srq_entry(srq, 0), 0xff, bytes(srq->shift));
	*srq = new;
	return 0;
}

void driver_srq_status(struct driver_srq *srq, struct tern_srq_status *status)
{
	uint64_t address = host_alloc(srq->driver->machine, sizeof(*status), 8);
	struct tern_command_query body = {
		.address = htole64(address), .length = htole32(sizeof(*status)),
	};

	if (driver_command(srq->driver, TERN_COMMAND_QUERY_SRQ, srq->srqn, &body, sizeof(body)))
		abort();
	memcpy(status, host_pointer(srq->driver->machine, address), sizeof(*status));
}
