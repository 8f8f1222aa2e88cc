// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the NIC: creation, entry points, reset, and the order of work. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "cq.h"
#include "egress.h"
#include "eq.h"
#include "key.h"
#include "mac.h"
#include "nic.h"
#include "parts.h"
#include "qp.h"
#include "srq.h"
#include "register.h"
#include "tern_hw_pci.h"
#include "work_queue.h"

void nic_enter(struct tern_nic *nic)
{
	if (!nic->inside++)
		nic->time = 0;
}

void nic_leave(struct tern_nic *nic)
{
	if (nic->inside == 1) {
		if (nic->priorities.flow.filled)
			flow_control_filled(nic);
		events_flush(nic);
		timers_tell_host(nic);
	}
	nic->inside--;
}

uint64_t nic_now(struct tern_nic *nic)
{
	if (!nic->time)
		nic->time = nic->ops->now(nic->host);
	return nic->time;
}

void function_log(const struct function *fn, const char *format, ...)
{
	const struct tern_nic *nic = fn->nic;
	char line[256];
	va_list args;
	int start;

	if (!nic->ops->log)
		return;
	start = snprintf(line, sizeof(line), "%s: ", nic->name);
	va_start(args, format);
	vsnprintf(line + start, sizeof(line) - (size_t)start, format, args);
	va_end(args);
	nic->ops->log(nic->host, fn->index, line);
}

/* Locally administered, and as far apart from the PF's as there are functions. */
static void derive_mac(uint8_t *mac, const uint8_t *base, unsigned int index)
{
	uint32_t low = (uint32_t)base[3] << 16 | (uint32_t)base[4] << 8 | base[5];

	memcpy(mac, base, 3);
	low += index;
	mac[3] = (uint8_t)(low >> 16);
	mac[4] = (uint8_t)(low >> 8);
	mac[5] = (uint8_t)low;
	if (index)
		mac[0] |= 2;
}

/* EUI-64 of a MAC address. */
static uint64_t guid_of(const uint8_t *mac)
{
	const uint8_t bytes[8] = {
		mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5],
	};
	uint64_t guid = 0;

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		guid = guid << 8 | bytes[i];
	return guid;
}

static bool function_create(struct tern_nic *nic, unsigned int index)
{
	struct function *fn = &nic->functions[index];

	fn->nic = nic;
	fn->index = index;
	fn->memory_generation = 1;
	list_init(&fn->command.pending);
	derive_mac(fn->permanent_mac, nic->config.mac, index);
	fn->guid = guid_of(fn->permanent_mac);
	registers_reset(fn);
	egress_function_init(&fn->egress);
	return device_memory_create(fn) &&
	       table_init(&fn->eqs, EQ_COUNT) && table_init(&fn->cqs, CQ_COUNT) &&
	       table_init(&fn->keys, KEY_COUNT) && table_init(&fn->qps, QP_COUNT) &&
	       table_init(&fn->srqs, SRQ_COUNT) &&
	       table_init(&fn->counter_sets, COUNTER_SET_COUNT) &&
	       ethernet_function_create(fn) && rdma_function_create(fn);
}

static void objects_reset(struct function *fn)
{
	qps_reset(fn);
	srqs_reset(fn);
	cqs_reset(fn);
	eqs_reset(fn);
	keys_reset(fn);
	counter_sets_reset(fn);
}

static void function_destroy(struct function *fn)
{
	/* A function that was not reached by a creation that failed. */
	if (!fn->nic)
		return;
	fn->enabled = false;
	objects_reset(fn);
	rdma_function_destroy(fn);
	ethernet_function_destroy(fn);
	device_memory_destroy(fn);
	table_free(&fn->counter_sets);
	table_free(&fn->srqs);
	table_free(&fn->qps);
	table_free(&fn->keys);
	table_free(&fn->cqs);
	table_free(&fn->eqs);
}

struct tern_nic *tern_nic_create(const struct tern_nic_config *config,
				 const struct tern_nic_host *ops, void *host)
{
	struct tern_nic *nic;

	if (!config->functions)
		return NULL;
	nic = calloc(1, sizeof(*nic));
	if (!nic)
		return NULL;
	nic->ops = ops;
	nic->host = host;
	nic->config = *config;
	snprintf(nic->name, sizeof(nic->name), "%s", config->name ? config->name : "tern");
	nic->config.name = nic->name;
	nic->timers.told = TERN_NIC_NO_DEADLINE;
	list_init(&nic->active_queues);
	list_init(&nic->command_functions);
	list_init(&nic->written_cqs);
	list_init(&nic->written_eqs);
	list_init(&nic->failed_cqs);
	nic->functions = calloc(config->functions, sizeof(*nic->functions));
	if (!nic->functions)
		goto fail;
	nic->function_count = config->functions;
	nic->mac = mac_create(nic, &nic->config);
	if (!nic->mac || !egress_init(nic) || !priorities_init(nic) || !rdma_create(nic))
		goto fail;
	for (unsigned int i = 0; i < nic->function_count; i++) {
		if (!function_create(nic, i))
			goto fail;
	}
	return nic;

fail:
	tern_nic_destroy(nic);
	return NULL;
}

void tern_nic_destroy(struct tern_nic *nic)
{
	if (!nic)
		return;
	for (unsigned int i = 0; i < nic->function_count; i++)
		function_destroy(&nic->functions[i]);
	rdma_destroy(nic);
	if (nic->mac)
		mac_destroy(nic, nic->mac);
	timers_free(nic);
	free(nic->functions);
	free(nic);
}

/* Disabled first: from here on no guest memory can be reached. */
void function_reset(struct function *fn)
{
	fn->enabled = false;
	list_remove(&fn->command.pending);
	objects_reset(fn);
	ethernet_function_reset(fn);
	rdma_function_reset(fn);
	device_memory_reset(fn);
	registers_reset(fn);
	fn->features = 0;
	fn->memory_generation++;
	fn->port = (struct port_counters){ 0 };
	fn->rdma_counters = (struct rdma_counters){ 0 };
	fn->device = (struct device_counters){ .resets = fn->device.resets + 1 };
	if (!fn->index)
		priorities_reset(fn->nic);
}

static struct function *function_of(struct tern_nic *nic, unsigned int fn)
{
	return fn < nic->function_count ? &nic->functions[fn] : NULL;
}

unsigned int tern_nic_vectors(const struct tern_nic *nic, unsigned int fn)
{
	return fn < nic->function_count ? VECTOR_COUNT : 0;
}

uint64_t tern_nic_bar_size(const struct tern_nic *nic, unsigned int fn, unsigned int bar)
{
	if (fn >= nic->function_count)
		return 0;
	switch (bar) {
	case TERN_BAR_REGISTERS:
		return TERN_BAR_REGISTERS_SIZE;
	case TERN_BAR_DOORBELLS:
		return TERN_BAR_DOORBELLS_SIZE;
	case TERN_BAR_DEVICE_MEMORY:
		return nic->functions[fn].device_memory.size;
	default:
		return 0;
	}
}

/* An access of a size that PCI has, aligned and inside the BAR. */
static bool access_valid(const struct tern_nic *nic, unsigned int fn, unsigned int bar,
			 uint64_t offset, unsigned int size)
{
	return (size == 1 || size == 2 || size == 4 || size == 8) && offset % size == 0 &&
	       offset < tern_nic_bar_size(nic, fn, bar);
}

uint64_t tern_nic_bar_read(struct tern_nic *nic, unsigned int fn, unsigned int bar,
			   uint64_t offset, unsigned int size)
{
	struct function *function = function_of(nic, fn);
	uint64_t value = 0;

	if (!function)
		return 0;
	nic_enter(nic);
	if (bar == TERN_BAR_REGISTERS && access_valid(nic, fn, bar, offset, size))
		value = register_read(function, offset, size);
	else if (bar == TERN_BAR_DEVICE_MEMORY && access_valid(nic, fn, bar, offset, size))
		value = device_memory_load(function, offset, size);
	else
		function->device.register_errors++;
	nic_leave(nic);
	return value;
}

void tern_nic_bar_write(struct tern_nic *nic, unsigned int fn, unsigned int bar,
			uint64_t offset, uint64_t value, unsigned int size)
{
	struct function *function = function_of(nic, fn);

	if (!function)
		return;
	nic_enter(nic);
	if (!access_valid(nic, fn, bar, offset, size))
		function->device.register_errors++;
	else if (bar == TERN_BAR_DOORBELLS)
		doorbell_write(function, offset, value, size);
	else if (bar == TERN_BAR_DEVICE_MEMORY)
		device_memory_store(function, offset, value, size);
	else
		register_write(function, offset, value, size);
	nic_leave(nic);
}

void tern_nic_bus_master(struct tern_nic *nic, unsigned int fn, bool enabled)
{
	struct function *function = function_of(nic, fn);
	uint32_t qpn = 0;
	struct qp *qp;

	if (!function || function->bus_master == enabled)
		return;
	nic_enter(nic);
	function->bus_master = enabled;
	/* Queues whose "ring me" could not be stored meanwhile. */
	for (; enabled && (qp = table_next(&function->qps, qpn, &qpn)); qpn++) {
		work_queue_enabled(&qp->sq);
		work_queue_enabled(&qp->rq);
		/* Who watches no queue may have to answer its peer. */
		if (qp->state != TERN_QP_RESET)
			qp->ops->posted(qp, &qp->sq);
	}
	if (enabled)
		eqs_enabled(function);
	nic_leave(nic);
}

void tern_nic_reset(struct tern_nic *nic, unsigned int fn)
{
	struct function *function = function_of(nic, fn);

	if (!function)
		return;
	nic_enter(nic);
	function_reset(function);
	nic_leave(nic);
}

/* Nothing is mapped between calls; what was read of page tables is forgotten. */
void tern_nic_invalidate(struct tern_nic *nic, unsigned int fn, uint64_t iova, uint64_t length)
{
	struct function *function = function_of(nic, fn);

	(void)iova;
	if (function && length)
		function->memory_generation++;
}

void tern_nic_timer(struct tern_nic *nic)
{
	nic_enter(nic);
	/* The host's timer is spent: tell it again what comes next. */
	nic->timers.told = TERN_NIC_NO_DEADLINE;
	timers_run(nic);
	nic_leave(nic);
}

/* Commands whose function may reach its memory. */
static bool commands_pending(const struct tern_nic *nic)
{
	const struct list *link;

	for (link = nic->command_functions.next; link != &nic->command_functions;
	     link = link->next) {
		if (list_entry(link, const struct function, command.pending)->bus_master)
			return true;
	}
	return false;
}

static bool work_left(struct tern_nic *nic)
{
	return commands_pending(nic) || mac_receive_pending(nic) || egress_pending(nic) ||
	       !list_empty(&nic->failed_cqs);
}

bool tern_nic_run(struct tern_nic *nic, unsigned int budget)
{
	bool any;

	nic_enter(nic);
	any = timers_run(nic);
	any |= work_queues_run(nic);
	any |= commands_run(nic, budget);
	any |= mac_drain_receive_buffer(nic, budget) > 0;
	any |= egress_run(nic, budget) > 0;
	any |= cqs_fail_qps(nic);
	any |= work_left(nic);
	nic_leave(nic);
	return any;
}

bool tern_nic_prepare_sleep(struct tern_nic *nic)
{
	bool idle;

	nic_enter(nic);
	idle = work_queues_sleep(nic);
	idle = !work_left(nic) && idle;
	nic_leave(nic);
	return idle;
}
