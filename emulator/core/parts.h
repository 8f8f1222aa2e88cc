/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: how the parts of the core that hang on struct tern_nic and struct
 * function come and go; nic.c calls these. Each part allocates its own state
 * and leaves its pointer there (nic->rdma, fn->rdma, fn->ethernet).
 */
#ifndef TERN_PARTS_H
#define TERN_PARTS_H

#include <stdbool.h>

struct function;
struct tern_nic;

/*
 * What the functions of a NIC share for RDMA, beside the MAC (mac.h) and the
 * scheduler (egress.h), which are there already. False when out of memory.
 * Destroy is also called after a create that failed or never came.
 */
bool rdma_create(struct tern_nic *nic);				/* transport */
void rdma_destroy(struct tern_nic *nic);

/* Per function, once in the NIC's life, after the above. */
bool ethernet_function_create(struct function *fn);
void ethernet_function_destroy(struct function *fn);
bool rdma_function_create(struct function *fn);
void rdma_function_destroy(struct function *fn);

/*
 * Reset of a function: back to what create left. All its queue pairs, CQs,
 * EQs and keys are gone already. No guest memory may be touched. The station
 * address goes back to fn->permanent_mac.
 */
void ethernet_function_reset(struct function *fn);
void rdma_function_reset(struct function *fn);

#endif /* TERN_PARTS_H */
