/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: what nic.c calls of the other parts of the core: how they come and go,
 * and their share of tern_nic_run(). Each part allocates its own state and
 * leaves its pointer in struct tern_nic or struct function.
 */
#ifndef TERN_PARTS_H
#define TERN_PARTS_H

#include <stdbool.h>

struct function;
struct tern_nic;

/* Create: false when out of memory. Destroy is also called after a create that failed or never came. */
bool egress_create(struct tern_nic *nic);			/* Ethernet */
void egress_destroy(struct tern_nic *nic);
bool mac_create(struct tern_nic *nic);				/* Ethernet; after egress */
void mac_destroy(struct tern_nic *nic);
bool rdma_create(struct tern_nic *nic);				/* transport; after mac */
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

/*
 * tern_nic_run(): frames waiting in the receive buffer; then packets out. Both
 * handle at most *budget packets, take what they did off it, and return true
 * when they did something or more is to be done at once.
 */
bool mac_run(struct tern_nic *nic, unsigned int *budget);
bool egress_run(struct tern_nic *nic, unsigned int *budget);

#endif /* TERN_PARTS_H */
