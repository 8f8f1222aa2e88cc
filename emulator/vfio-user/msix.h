/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: MSI-X of one PCI function: table, pending bits and masks.
 *
 * Whoever delivers messages (eventfds, QEMU's msix_notify) is behind the
 * deliver callback; this file decides when a message may leave.
 */
#ifndef TERN_MSIX_H
#define TERN_MSIX_H

#include <stdbool.h>
#include <stdint.h>

struct tern_msix;

/* Deliver the message of @vector. */
typedef void tern_msix_deliver_fn(void *context, unsigned int vector);

struct tern_msix *tern_msix_create(unsigned int vectors, tern_msix_deliver_fn *deliver,
				   void *context);
void tern_msix_destroy(struct tern_msix *msix);

unsigned int tern_msix_vectors(const struct tern_msix *msix);
uint64_t tern_msix_table_size(const struct tern_msix *msix);
uint64_t tern_msix_pba_size(const struct tern_msix *msix);

/* Table and pending bits to their state after reset. Connections and client masks stay. */
void tern_msix_reset(struct tern_msix *msix);

/* The device wants to interrupt. Unknown vectors are ignored. */
void tern_msix_raise(struct tern_msix *msix, unsigned int vector);

/* MSI-X enable and function mask of the capability, and whether the function may master the bus. */
void tern_msix_control(struct tern_msix *msix, bool enabled, bool function_mask,
		       bool bus_master);

/* A vector can be delivered only while it is connected (a vfio-user client gave an eventfd). */
void tern_msix_connect(struct tern_msix *msix, unsigned int vector, bool connected);

/* A mask beside the table's: the vfio-user client's MASK and UNMASK actions. */
void tern_msix_client_mask(struct tern_msix *msix, unsigned int vector, bool masked);

/* @size 1, 2, 4 or 8, naturally aligned, inside the table or the PBA (callers check). */
uint64_t tern_msix_table_read(const struct tern_msix *msix, uint64_t offset, unsigned int size);
void tern_msix_table_write(struct tern_msix *msix, uint64_t offset, uint64_t value,
			   unsigned int size);
uint64_t tern_msix_pba_read(const struct tern_msix *msix, uint64_t offset, unsigned int size);

bool tern_msix_pending(const struct tern_msix *msix, unsigned int vector);

#endif /* TERN_MSIX_H */
