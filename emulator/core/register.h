/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: what stands behind the BARs: registers and doorbells. @size is 1, 2, 4 or 8. */
#ifndef TERN_REGISTER_H
#define TERN_REGISTER_H

#include <stdint.h>

struct function;

uint64_t register_read(struct function *fn, uint64_t offset, unsigned int size);
void register_write(struct function *fn, uint64_t offset, uint64_t value, unsigned int size);
void registers_reset(struct function *fn);

void doorbell_write(struct function *fn, uint64_t offset, uint64_t value, unsigned int size);

#endif /* TERN_REGISTER_H */
