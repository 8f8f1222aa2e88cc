// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: the registers of BAR 0. */
#include "command.h"
#include "nic.h"
#include "register.h"
#include "tern_hw_pci.h"

#define NOT_A_REGISTER		UINT32_MAX
#define COMMAND_TIMEOUT_MS	5000
#define RESET_TIMEOUT_MS	5000
#define RING_ALIGN		4096
#define COMMAND_COMPLETION_BYTES sizeof(struct tern_command_completion)

/* Offset of the 64-bit register that covers @offset, or NOT_A_REGISTER. */
static uint32_t wide_register(uint64_t offset)
{
	uint64_t start = offset & ~UINT64_C(7);

	switch (start) {
	case TERN_REG_DEVICE_FEATURES:
	case TERN_REG_DRIVER_FEATURES:
	case TERN_REG_COMMAND_RING:
	case TERN_REG_COMPLETION_RING:
	case TERN_REG_FATAL_INFO:
	case TERN_REG_DEVICE_MEMORY_SIZE:
		return (uint32_t)start;
	default:
		return NOT_A_REGISTER;
	}
}

static uint64_t read_wide(const struct function *fn, uint32_t offset)
{
	const struct registers *regs = &fn->registers;

	switch (offset) {
	case TERN_REG_DEVICE_FEATURES:
		return features_offered(fn);
	case TERN_REG_DRIVER_FEATURES:
		return regs->driver_features;
	case TERN_REG_COMMAND_RING:
		return regs->command_ring;
	case TERN_REG_COMPLETION_RING:
		return regs->completion_ring;
	case TERN_REG_FATAL_INFO:
		return regs->fatal_info;
	case TERN_REG_DEVICE_MEMORY_SIZE:
		return fn->device_memory.size;
	default:
		return 0;
	}
}

/* False: no such register. */
static bool read_narrow(const struct function *fn, uint64_t offset, uint32_t *value)
{
	const struct registers *regs = &fn->registers;

	switch (offset) {
	case TERN_REG_MAGIC:
		*value = TERN_MAGIC;
		return true;
	case TERN_REG_VERSION:
		*value = TERN_VERSION_MAJOR_CURRENT << 16 | TERN_VERSION_MINOR_CURRENT;
		return true;
	case TERN_REG_CONTROL:
		*value = regs->enable ? TERN_CONTROL_ENABLE : 0;
		return true;
	case TERN_REG_STATUS:
		*value = regs->status;
		return true;
	case TERN_REG_DOORBELL_SHIFT:
		*value = regs->doorbell_shift;
		return true;
	case TERN_REG_DOORBELL_PAGES:
		*value = doorbell_pages(fn);
		return true;
	case TERN_REG_COMMAND_SHIFT:
		*value = regs->command_shift;
		return true;
	case TERN_REG_COMMAND_VECTOR:
		*value = regs->command_vector;
		return true;
	case TERN_REG_COMMAND_DOORBELL:
		*value = 0;
		return true;
	case TERN_REG_VECTORS:
		*value = VECTOR_COUNT;
		return true;
	case TERN_REG_COMMAND_TIMEOUT:
		*value = COMMAND_TIMEOUT_MS;
		return true;
	case TERN_REG_RESET_TIMEOUT:
		*value = RESET_TIMEOUT_MS;
		return true;
	default:
		return false;
	}
}

static uint64_t error(struct function *fn)
{
	fn->device.register_errors++;
	return 0;
}

/* The clock in one access, or its low half and then the high half of the same moment. */
static uint64_t read_clock(struct function *fn, uint64_t offset, unsigned int size)
{
	struct registers *regs = &fn->registers;
	uint64_t now;

	if (offset == TERN_CLOCK_NANOSECONDS + 4 && size == 4)
		return regs->clock_high;
	if (offset != TERN_CLOCK_NANOSECONDS || (size != 8 && size != 4))
		return error(fn);
	now = nic_now(fn->nic);
	if (size == 8)
		return now;
	regs->clock_high = (uint32_t)(now >> 32);
	return (uint32_t)now;
}

uint64_t register_read(struct function *fn, uint64_t offset, unsigned int size)
{
	uint32_t wide = wide_register(offset);
	uint32_t value;

	if (offset >= TERN_BAR0_CLOCK)
		return offset < TERN_BAR0_MSIX_TABLE ?
			read_clock(fn, offset - TERN_BAR0_CLOCK, size) : error(fn);
	if (wide != NOT_A_REGISTER) {
		if (size == 8 && offset == wide)
			return read_wide(fn, wide);
		if (size == 4 && offset % 4 == 0)
			return (uint32_t)(read_wide(fn, wide) >> (8 * (offset - wide)));
		return error(fn);
	}
	if (size != 4 || !read_narrow(fn, offset, &value))
		return error(fn);
	return value;
}

static bool ring_valid(uint64_t address, uint32_t shift, uint64_t entry)
{
	return address % RING_ALIGN == 0 && (entry << shift) - 1 <= UINT64_MAX - address;
}

static void enable(struct function *fn)
{
	struct registers *regs = &fn->registers;
	struct command_ring *ring = &fn->command;

	regs->enable = true;
	if (regs->driver_features & ~features_offered(fn)) {
		function_fatal(fn, TERN_FATAL_FEATURES, regs->driver_features);
		return;
	}
	if (regs->doorbell_shift < TERN_DOORBELL_SHIFT_MIN ||
	    regs->doorbell_shift > TERN_DOORBELL_SHIFT_MAX) {
		function_fatal(fn, TERN_FATAL_DOORBELL_SHIFT, regs->doorbell_shift);
		return;
	}
	if (regs->command_shift < TERN_COMMAND_SHIFT_MIN ||
	    regs->command_shift > TERN_COMMAND_SHIFT_MAX ||
	    regs->command_vector >= VECTOR_COUNT ||
	    !ring_valid(regs->command_ring, regs->command_shift, TERN_COMMAND_BYTES) ||
	    !ring_valid(regs->completion_ring, regs->command_shift, COMMAND_COMPLETION_BYTES)) {
		function_fatal(fn, TERN_FATAL_COMMAND_RING, 0);
		return;
	}
	fn->features = regs->driver_features;
	ring->commands = regs->command_ring;
	ring->completions = regs->completion_ring;
	ring->shift = (uint8_t)regs->command_shift;
	ring->vector = regs->command_vector;
	ring->producer = 0;
	ring->consumer = 0;
	fn->enabled = true;
	regs->status = TERN_STATUS_READY;
}

static void write_control(struct function *fn, uint32_t value)
{
	struct registers *regs = &fn->registers;

	if ((value & TERN_CONTROL_RESET) || (regs->enable && !(value & TERN_CONTROL_ENABLE)))
		function_reset(fn);
	else if (!regs->enable && (value & TERN_CONTROL_ENABLE))
		enable(fn);
}

/* Registers that may be written before ENABLE only. */
static void write_setting(struct function *fn, uint32_t *setting, uint32_t value)
{
	if (fn->registers.enable)
		error(fn);
	else
		*setting = value;
}

static void write_narrow(struct function *fn, uint64_t offset, uint32_t value)
{
	struct registers *regs = &fn->registers;

	switch (offset) {
	case TERN_REG_CONTROL:
		write_control(fn, value);
		break;
	case TERN_REG_DOORBELL_SHIFT:
		write_setting(fn, &regs->doorbell_shift, value);
		break;
	case TERN_REG_COMMAND_SHIFT:
		write_setting(fn, &regs->command_shift, value);
		break;
	case TERN_REG_COMMAND_VECTOR:
		write_setting(fn, &regs->command_vector, value);
		break;
	case TERN_REG_COMMAND_DOORBELL:
		command_doorbell(fn, value);
		break;
	default:
		error(fn);
	}
}

static void write_wide(struct function *fn, uint32_t offset, uint64_t value)
{
	struct registers *regs = &fn->registers;

	if (regs->enable) {
		error(fn);
		return;
	}
	switch (offset) {
	case TERN_REG_DRIVER_FEATURES:
		regs->driver_features = value;
		break;
	case TERN_REG_COMMAND_RING:
		regs->command_ring = value;
		break;
	case TERN_REG_COMPLETION_RING:
		regs->completion_ring = value;
		break;
	default:
		error(fn);
	}
}

/* By halves, low one first: it waits for the high one, which takes effect. */
static void write_half(struct function *fn, uint32_t wide, bool high, uint32_t value)
{
	struct registers *regs = &fn->registers;
	uint32_t low = (uint32_t)read_wide(fn, wide);

	if (!high) {
		regs->low_half = value;
		regs->low_offset = wide;
		return;
	}
	if (regs->low_offset == wide)
		low = regs->low_half;
	regs->low_offset = 0;
	write_wide(fn, wide, (uint64_t)value << 32 | low);
}

void register_write(struct function *fn, uint64_t offset, uint64_t value, unsigned int size)
{
	uint32_t wide = wide_register(offset);

	if (offset >= TERN_BAR0_CLOCK || offset % size)
		error(fn);
	else if (wide != NOT_A_REGISTER && size == 8)
		write_wide(fn, wide, value);
	else if (wide != NOT_A_REGISTER && size == 4)
		write_half(fn, wide, offset != wide, (uint32_t)value);
	else if (size == 4)
		write_narrow(fn, offset, (uint32_t)value);
	else
		error(fn);
}

void registers_reset(struct function *fn)
{
	fn->registers = (struct registers){ .doorbell_shift = TERN_DOORBELL_SHIFT_MIN };
}

/* At this stride; none while the stride makes no sense. */
uint32_t doorbell_pages(const struct function *fn)
{
	uint32_t shift = fn->registers.doorbell_shift;

	if (shift < TERN_DOORBELL_SHIFT_MIN || shift > TERN_DOORBELL_SHIFT_MAX)
		return 0;
	return TERN_BAR_DOORBELLS_SIZE >> shift;
}

void function_fatal(struct function *fn, uint32_t code, uint64_t info)
{
	struct tern_nic *nic = fn->nic;

	function_log(fn, "fatal error %u (0x%llx): stopped until reset", code,
		     (unsigned long long)info);
	fn->enabled = false;
	fn->registers.status = TERN_STATUS_FATAL | code << 16;
	fn->registers.fatal_info = info;
	list_remove(&fn->command.pending);
	/* The driver need not wait for a time limit to find out. */
	if (fn->registers.command_vector < VECTOR_COUNT) {
		fn->device.interrupts++;
		nic->ops->interrupt(nic->host, fn->index, fn->registers.command_vector);
	}
}
