// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the tests' driver. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_driver.h"
#include "tern_hw_pci.h"

#define COMMAND_SHIFT	5
#define EQ_SHIFT	8

static void must(struct driver *driver, uint16_t status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "driver: %s: status %u, syndrome %u\n", what, status, driver->syndrome);
	abort();
}

static uint32_t load(struct driver *driver, uint64_t address)
{
	return le32toh(__atomic_load_n((uint32_t *)host_pointer(driver->machine, address),
				       __ATOMIC_ACQUIRE));
}

static void store(struct driver *driver, uint64_t address, uint32_t value)
{
	__atomic_store_n((uint32_t *)host_pointer(driver->machine, address), htole32(value),
			 __ATOMIC_RELEASE);
}

static void write_register(struct driver *driver, uint32_t offset, uint64_t value,
			   unsigned int size)
{
	host_write(driver->machine, driver->fn, TERN_BAR_REGISTERS, offset, value, size);
}

void driver_prepare(struct driver *driver, struct machine *machine, unsigned int fn,
		    uint64_t features)
{
	*driver = (struct driver){
		.machine = machine, .fn = fn, .features = features, .shift = COMMAND_SHIFT,
		.next_cqn = 1, .next_key = 1, .next_qpn = 2, .next_srqn = 1,
	};
	driver->commands = host_alloc(machine, TERN_COMMAND_BYTES << COMMAND_SHIFT, 4096);
	driver->completions = host_alloc(machine, 64 << COMMAND_SHIFT, 4096);
	write_register(driver, TERN_REG_DRIVER_FEATURES, features, 8);
	write_register(driver, TERN_REG_COMMAND_RING, driver->commands, 8);
	write_register(driver, TERN_REG_COMPLETION_RING, driver->completions, 8);
	write_register(driver, TERN_REG_COMMAND_SHIFT, COMMAND_SHIFT, 4);
}

void driver_start(struct driver *driver, struct machine *machine, unsigned int fn,
		  uint64_t without)
{
	uint64_t offered = host_read(machine, fn, TERN_BAR_REGISTERS, TERN_REG_DEVICE_FEATURES, 8);

	driver_prepare(driver, machine, fn, offered & ~without);
	write_register(driver, TERN_REG_CONTROL, TERN_CONTROL_ENABLE, 4);
	if (host_read(machine, fn, TERN_BAR_REGISTERS, TERN_REG_STATUS, 4) != TERN_STATUS_READY)
		must(driver, 1, "ENABLE");
	driver_eq_create(driver, &driver->eq, 0, EQ_SHIFT);
	driver_eq_arm(driver, &driver->eq);
}

void driver_command_write(struct driver *driver, uint16_t opcode, uint16_t id, uint32_t flags,
			  uint32_t number, const void *body, size_t length)
{
	uint32_t place = driver->producer++ & ((1U << driver->shift) - 1);
	struct tern_command *command = host_pointer(driver->machine, driver->commands +
						    place * sizeof(*command));

	memset(command, 0, sizeof(*command));
	command->opcode = htole16(opcode);
	command->id = htole16(id);
	command->flags = htole32(flags);
	command->number = htole32(number);
	if (length)
		memcpy(command->body, body, length);
}

void driver_command_ring(struct driver *driver)
{
	write_register(driver, TERN_REG_COMMAND_DOORBELL, driver->producer, 4);
}

bool driver_command_poll(struct driver *driver, uint16_t *id)
{
	uint32_t place = driver->consumer & ((1U << driver->shift) - 1);
	uint64_t address = driver->completions + place * sizeof(struct tern_command_completion);
	const struct tern_command_completion *completion;
	uint32_t phase = load(driver, address +
			      offsetof(struct tern_command_completion, phase));

	if ((phase & TERN_COMMAND_PHASE) != (~(driver->consumer >> driver->shift) & 1))
		return false;
	completion = host_pointer(driver->machine, address);
	driver->consumer++;
	*id = le16toh(completion->id);
	driver->status = le16toh(completion->status);
	driver->syndrome = le32toh(completion->syndrome);
	for (unsigned int i = 0; i < 12; i++)
		driver->result[i] = le32toh(completion->result[i]);
	return true;
}

uint16_t driver_command(struct driver *driver, uint16_t opcode, uint32_t number,
			const void *body, size_t length)
{
	uint16_t id;

	driver_command_write(driver, opcode, (uint16_t)driver->producer, 0, number, body, length);
	driver_command_ring(driver);
	for (unsigned int i = 0; i < 100; i++) {
		if (driver_command_poll(driver, &id))
			return driver->status;
		host_run(driver->machine, 64);
	}
	fprintf(stderr, "driver: command 0x%x was not answered\n", opcode);
	abort();
}

struct tern_page_list driver_pages(uint64_t address, uint64_t length)
{
	return (struct tern_page_list){ .root = htole64(address), .length = htole64(length) };
}

struct tern_page_list driver_page_table(struct machine *machine, const uint64_t *pages,
					size_t count, unsigned int page_shift,
					unsigned int levels, uint32_t first_offset,
					uint64_t length)
{
	uint64_t *below = malloc(count * sizeof(*below)), root = 0;
	uint64_t flags = TERN_PAGE_PRESENT | TERN_PAGE_WRITE;

	memcpy(below, pages, count * sizeof(*below));
	for (unsigned int level = 0; level < levels; level++) {
		size_t tables = (count + 511) / 512;

		for (size_t t = 0; t < tables; t++) {
			uint64_t table = host_alloc(machine, 4096, 4096);
			uint64_t *entries = host_pointer(machine, table);

			for (size_t i = 0; i < 512 && t * 512 + i < count; i++)
				entries[i] = htole64(below[t * 512 + i] | flags);
			below[t] = table;
		}
		count = tables;
		flags = TERN_PAGE_PRESENT;
		root = below[0];
	}
	free(below);
	return (struct tern_page_list){
		.root = htole64(root), .length = htole64(length),
		.first_offset = htole32(first_offset), .levels = (uint8_t)levels,
		.page_shift = (uint8_t)page_shift,
	};
}

void driver_eq_create(struct driver *driver, struct driver_eq *eq, uint32_t eqn, uint8_t shift)
{
	uint64_t bytes = (uint64_t)sizeof(struct tern_eqe) << shift;
	struct tern_command_create_eq body = { .shift = shift, .vector = htole32(eqn) };

	*eq = (struct driver_eq){ .eqn = eqn, .shift = shift };
	eq->ring = host_alloc(driver->machine, bytes, 4096);
	eq->record = host_alloc(driver->machine, sizeof(struct tern_queue_record), 128);
	body.pages = driver_pages(eq->ring, bytes);
	body.record = htole64(eq->record);
	must(driver, driver_command(driver, TERN_COMMAND_CREATE_EQ, eqn, &body, sizeof(body)),
	     "CREATE_EQ");
}

bool driver_eq_poll(struct driver *driver, struct driver_eq *eq, struct tern_eqe *eqe)
{
	uint32_t place = eq->consumer & ((1U << eq->shift) - 1);
	uint64_t address = eq->ring + place * sizeof(*eqe);
	uint32_t phase = load(driver, address + offsetof(struct tern_eqe, phase));

	if (phase != (~(eq->consumer >> eq->shift) & 1))
		return false;
	memcpy(eqe, host_pointer(driver->machine, address), sizeof(*eqe));
	eq->consumer++;
	store(driver, eq->record + offsetof(struct tern_queue_record, index), eq->consumer);
	return true;
}

static bool has_records(const struct driver *driver)
{
	return driver->features >> TERN_FEATURE_DOORBELL_RECORDS & 1;
}

static void arm(struct driver *driver, uint32_t *word, uint32_t mode, uint64_t record,
		uint32_t page, uint32_t offset, uint32_t number)
{
	*word = ((*word >> TERN_ARM_SEQUENCE_SHIFT) + 1) << TERN_ARM_SEQUENCE_SHIFT | mode;
	if (!has_records(driver)) {
		driver_doorbell(driver, page, offset, number, *word);
		return;
	}
	store(driver, record + offsetof(struct tern_queue_record, arm), *word);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void driver_eq_arm(struct driver *driver, struct driver_eq *eq)
{
	arm(driver, &eq->arm, TERN_ARM_NEXT, eq->record, 0, TERN_DOORBELL_EQ_ARM, eq->eqn);
}

void driver_cq_create(struct driver *driver, struct driver_cq *cq, uint8_t shift)
{
	uint64_t bytes = (uint64_t)sizeof(struct tern_cqe) << shift;
	struct tern_command_create_cq body = { .shift = shift };

	*cq = (struct driver_cq){ .driver = driver, .cqn = driver->next_cqn++, .shift = shift };
	cq->ring = host_alloc(driver->machine, bytes, 4096);
	cq->record = host_alloc(driver->machine, sizeof(struct tern_queue_record), 128);
	body.pages = driver_pages(cq->ring, bytes);
	body.record = htole64(cq->record);
	must(driver, driver_command(driver, TERN_COMMAND_CREATE_CQ, cq->cqn, &body, sizeof(body)),
	     "CREATE_CQ");
}

bool driver_cq_poll(struct driver_cq *cq, struct tern_cqe *cqe)
{
	struct driver *driver = cq->driver;
	uint32_t place = cq->consumer & ((1U << cq->shift) - 1);
	uint64_t address = cq->ring + place * sizeof(*cqe);
	uint32_t phase = load(driver, address + offsetof(struct tern_cqe, phase));

	if (phase != (~(cq->consumer >> cq->shift) & 1))
		return false;
	memcpy(cqe, host_pointer(driver->machine, address), sizeof(*cqe));
	cq->consumer++;
	store(driver, cq->record + offsetof(struct tern_queue_record, index), cq->consumer);
	return true;
}

void driver_cq_arm(struct driver_cq *cq, uint32_t mode)
{
	arm(cq->driver, &cq->arm, mode, cq->record, 0, TERN_DOORBELL_CQ_ARM, cq->cqn);
}

static void key_create(struct driver *driver, uint32_t key, uint64_t address, uint64_t length,
		       uint32_t access, uint32_t pd)
{
	struct tern_command_create_key body = {
		.pages = driver_pages(address, length), .address = htole64(address),
		.pd = htole32(pd), .access = htole32(access), .consumer = (uint8_t)key,
	};

	must(driver, driver_command(driver, TERN_COMMAND_CREATE_KEY, key >> TERN_KEY_INDEX_SHIFT,
				    &body, sizeof(body)), "CREATE_KEY");
}

uint32_t driver_key_create(struct driver *driver, uint64_t address, uint64_t length,
			   uint32_t access, uint32_t pd)
{
	uint32_t index = driver->next_key++;
	uint32_t key = index << TERN_KEY_INDEX_SHIFT | (uint8_t)(index * 7);

	key_create(driver, key, address, length, access, pd);
	return key;
}

void driver_key_replace(struct driver *driver, uint32_t key, uint64_t address, uint64_t length,
			uint32_t access, uint32_t pd)
{
	must(driver, driver_command(driver, TERN_COMMAND_DESTROY_KEY,
				    key >> TERN_KEY_INDEX_SHIFT, NULL, 0), "DESTROY_KEY");
	key_create(driver, key, address, length, access, pd);
}

void driver_qp_create(struct driver *driver, struct driver_qp *qp, uint8_t type, uint32_t qpn,
		      uint32_t pd, uint32_t flags, struct driver_cq *send_cq,
		      struct driver_cq *receive_cq, uint8_t sq_shift, uint8_t rq_shift,
		      uint8_t rq_stride_shift)
{
	struct machine *machine = driver->machine;
	uint64_t sq_bytes = UINT64_C(64) << sq_shift;
	uint64_t rq_bytes = UINT64_C(1) << (rq_shift + rq_stride_shift);
	struct tern_command_create_qp body = {
		.type = type, .flags = htole32(flags), .pd = htole32(pd),
		.xrcd = htole32(type == TERN_QP_XRC_TARGET ? driver->xrcd : 0),
	};

	*qp = (struct driver_qp){
		.driver = driver, .qpn = qpn ? qpn : driver->next_qpn++, .type = type, .pd = pd,
		.sq_shift = sq_shift, .rq_shift = rq_shift, .rq_stride_shift = rq_stride_shift,
		.send_cq = send_cq, .receive_cq = receive_cq,
	};
	if (!(flags & TERN_QP_NO_SQ)) {
		qp->sq = host_alloc(machine, sq_bytes, 4096);
		qp->sq_record = host_alloc(machine, sizeof(struct tern_queue_record), 128);
		body.sq_shift = sq_shift;
		body.sq = driver_pages(qp->sq, sq_bytes);
		body.sq_record = htole64(qp->sq_record);
		body.send_cqn = htole32(send_cq->cqn);
	}
	if (flags & TERN_QP_USES_SRQ) {
		body.srqn = htole32(driver->srqn);
		body.receive_cqn = htole32(receive_cq->cqn);
	} else if (!(flags & TERN_QP_NO_RQ)) {
		qp->rq = host_alloc(machine, rq_bytes, 4096);
		qp->rq_record = host_alloc(machine, sizeof(struct tern_queue_record), 128);
		body.rq_shift = rq_shift;
		body.rq_stride_shift = rq_stride_shift;
		body.rq = driver_pages(qp->rq, rq_bytes);
		body.rq_record = htole64(qp->rq_record);
		body.receive_cqn = htole32(receive_cq->cqn);
	}
	must(driver, driver_command(driver, TERN_COMMAND_CREATE_QP, qp->qpn, &body, sizeof(body)),
	     "CREATE_QP");
}

uint16_t driver_qp_modify(struct driver_qp *qp, uint8_t state, uint32_t mask,
			  const struct tern_qp_attributes *attributes)
{
	struct tern_command_modify_qp body = {
		.current_state = qp->state, .next_state = state, .mask = htole32(mask),
	};
	uint16_t status;

	if (attributes)
		body.attributes = *attributes;
	status = driver_command(qp->driver, TERN_COMMAND_MODIFY_QP, qp->qpn, &body, sizeof(body));
	if (status)
		return status;
	qp->state = state;
	if (state == TERN_QP_RESET) {
		qp->sq_producer = 0;
		qp->rq_producer = 0;
		if (qp->sq_record)
			store(qp->driver, qp->sq_record, 0);
		if (qp->rq_record)
			store(qp->driver, qp->rq_record, 0);
	}
	return 0;
}

void driver_doorbell(struct driver *driver, uint32_t page, uint32_t offset, uint32_t number,
		     uint32_t index)
{
	host_write(driver->machine, driver->fn, TERN_BAR_DOORBELLS,
		   ((uint64_t)page << TERN_DOORBELL_SHIFT_MIN) + offset,
		   (uint64_t)index << TERN_DOORBELL_INDEX_SHIFT | number, 8);
}

/* Store the index, full fence, load ring; when it is asked for, take that back and ring. */
static void publish(struct driver_qp *qp, uint64_t record, uint32_t offset, uint32_t index)
{
	struct driver *driver = qp->driver;

	store(driver, record + offsetof(struct tern_queue_record, index), index);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (has_records(driver)) {
		if (!load(driver, record + offsetof(struct tern_queue_record, ring)))
			return;
		store(driver, record + offsetof(struct tern_queue_record, ring), 0);
	}
	qp->doorbells++;
	driver_doorbell(driver, qp->doorbell_page, offset, qp->qpn, index);
}

uint32_t driver_post_send(struct driver_qp *qp, const void *wqe, unsigned int blocks)
{
	uint32_t index = qp->sq_producer;
	const uint8_t *from = wqe;

	for (unsigned int i = 0; i < blocks; i++) {
		uint32_t place = (index + i) & ((1U << qp->sq_shift) - 1);
		uint8_t *to = host_pointer(qp->driver->machine, qp->sq + place * 64);

		memcpy(to, from + i * 64, 64);
		if (!i)
			((struct tern_wqe_control *)(void *)to)->blocks = (uint8_t)blocks;
	}
	qp->sq_producer += blocks;
	publish(qp, qp->sq_record, TERN_DOORBELL_SEND, qp->sq_producer);
	return index;
}

uint32_t driver_post_receive(struct driver_qp *qp, const struct tern_sge *sges,
			     unsigned int count)
{
	uint32_t index = qp->rq_producer++;
	uint64_t place = (uint64_t)(index & ((1U << qp->rq_shift) - 1)) << qp->rq_stride_shift;
	struct tern_receive_header header = { .sge_count = (uint8_t)count };
	uint8_t *to = host_pointer(qp->driver->machine, qp->rq + place);

	memcpy(to, &header, sizeof(header));
	if (count)
		memcpy(to + sizeof(header), sges, count * sizeof(*sges));
	publish(qp, qp->rq_record, TERN_DOORBELL_RECEIVE, qp->rq_producer);
	return index;
}
