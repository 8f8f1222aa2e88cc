// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: completion queues of the network interface. */
#include "cq.h"

static void tern_cq_set_moderation(struct tern_cq *cq, const struct tern_moderation *moderation)
{
	cq->create.moderation_count = cpu_to_le16(moderation->count);
	cq->create.moderation_period = cpu_to_le16(moderation->usecs);
}

int tern_cq_create(struct tern_device *tern, struct tern_cq *cq, u8 shift, unsigned int vector,
		   const struct tern_moderation *moderation)
{
	int err;

	cq->tern = tern;
	cq->shift = shift;
	err = tern_buffer_alloc(tern, &cq->buffer, sizeof(struct tern_cqe) << shift);
	if (err)
		return err;
	err = tern_record_alloc(tern, &cq->record);
	if (err)
		goto free_buffer;
	err = tern_number_alloc(tern, TERN_NUMBERS_CQ, &cq->listener.cqn);
	if (err)
		goto free_record;
	err = tern_cq_listen(tern, &cq->listener);
	if (err)
		goto free_number;

	cq->create.pages = cq->buffer.pages.list;
	cq->create.record = cpu_to_le64(cq->record.dma);
	cq->create.eqn = cpu_to_le32(tern_vector_eqn(tern, vector));
	cq->create.shift = shift;
	tern_cq_set_moderation(cq, moderation);
	err = tern_cmd_create_cq(tern, cq->listener.cqn, &cq->create);
	if (err)
		goto unlisten;
	return 0;

unlisten:
	tern_cq_unlisten(tern, &cq->listener);
free_number:
	tern_number_free(tern, TERN_NUMBERS_CQ, cq->listener.cqn);
free_record:
	tern_record_free(tern, &cq->record);
free_buffer:
	tern_buffer_free(tern, &cq->buffer);
	return err;
}

void tern_cq_destroy(struct tern_cq *cq)
{
	tern_cmd_destroy_cq(cq->tern, cq->listener.cqn);
	tern_cq_unlisten(cq->tern, &cq->listener);
	tern_number_free(cq->tern, TERN_NUMBERS_CQ, cq->listener.cqn);
	tern_record_free(cq->tern, &cq->record);
	tern_buffer_free(cq->tern, &cq->buffer);
}

int tern_cq_moderate(struct tern_cq *cq, const struct tern_moderation *moderation)
{
	tern_cq_set_moderation(cq, moderation);
	return tern_cmd_modify_cq(cq->tern, cq->listener.cqn, &cq->create);
}
