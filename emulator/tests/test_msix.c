// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: MSI-X masking and pending bits. */
#include "msix.h"
#include "tern_test.h"

#define VECTORS	70

static unsigned int delivered[VECTORS];

static void deliver(void *context, unsigned int vector)
{
	(void)context;
	CHECK(vector < VECTORS);
	delivered[vector]++;
}

/* MSI-X as it is after the driver and QEMU have set it up. */
static struct tern_msix *ready(void)
{
	struct tern_msix *msix = tern_msix_create(VECTORS, deliver, NULL);

	CHECK(msix);
	for (unsigned int v = 0; v < VECTORS; v++)
		tern_msix_connect(msix, v, true);
	tern_msix_control(msix, true, false, true);
	return msix;
}

TERN_TEST(delivers_when_nothing_masks)
{
	struct tern_msix *msix = ready();

	tern_msix_raise(msix, 3);
	tern_msix_raise(msix, 3);
	CHECK_EQ(delivered[3], 2);
	CHECK(!tern_msix_pending(msix, 3));
	tern_msix_destroy(msix);
}

TERN_TEST(disabled_loses_and_forgets)
{
	struct tern_msix *msix = ready();

	tern_msix_control(msix, true, true, true);
	tern_msix_raise(msix, 1);
	CHECK(tern_msix_pending(msix, 1));
	tern_msix_control(msix, false, true, true);
	CHECK(!tern_msix_pending(msix, 1));
	tern_msix_raise(msix, 1);
	tern_msix_control(msix, true, false, true);
	CHECK_EQ(delivered[1], 0);
	tern_msix_destroy(msix);
}

TERN_TEST(function_mask_pends_and_unmask_fires_once)
{
	struct tern_msix *msix = ready();

	tern_msix_control(msix, true, true, true);
	tern_msix_raise(msix, 0);
	tern_msix_raise(msix, 0);
	tern_msix_raise(msix, 69);
	CHECK_EQ(delivered[0], 0);
	CHECK_EQ(tern_msix_pba_read(msix, 0, 8), 1);
	CHECK_EQ(tern_msix_pba_read(msix, 8, 8), 1 << 5);
	CHECK_EQ(tern_msix_pba_read(msix, 8, 1), 1 << 5);
	tern_msix_control(msix, true, false, true);
	CHECK_EQ(delivered[0], 1);
	CHECK_EQ(delivered[69], 1);
	CHECK_EQ(tern_msix_pba_read(msix, 0, 8), 0);
	tern_msix_destroy(msix);
}

TERN_TEST(without_bus_mastering_nothing_leaves)
{
	struct tern_msix *msix = ready();

	tern_msix_control(msix, true, false, false);
	tern_msix_raise(msix, 2);
	CHECK_EQ(delivered[2], 0);
	tern_msix_control(msix, true, false, true);
	CHECK_EQ(delivered[2], 1);
	tern_msix_destroy(msix);
}

TERN_TEST(client_mask_pends_and_unmask_fires)
{
	struct tern_msix *msix = ready();

	tern_msix_client_mask(msix, 5, true);
	tern_msix_raise(msix, 5);
	tern_msix_raise(msix, 6);
	CHECK_EQ(delivered[5], 0);
	CHECK_EQ(delivered[6], 1);
	CHECK(tern_msix_pending(msix, 5));
	tern_msix_client_mask(msix, 5, false);
	CHECK_EQ(delivered[5], 1);
	tern_msix_destroy(msix);
}

TERN_TEST(raised_before_connected_fires_on_connect)
{
	struct tern_msix *msix = ready();

	tern_msix_connect(msix, 4, false);
	tern_msix_raise(msix, 4);
	CHECK(tern_msix_pending(msix, 4));
	tern_msix_connect(msix, 4, true);
	CHECK_EQ(delivered[4], 1);
	tern_msix_destroy(msix);
}

TERN_TEST(entries_are_masked_after_reset_once_the_table_is_used)
{
	struct tern_msix *msix = ready();

	for (unsigned int v = 0; v < VECTORS; v++)
		CHECK_EQ(tern_msix_table_read(msix, v * 16 + 12, 4), 1);
	/* Nobody has touched the table: a client that keeps its own is served. */
	tern_msix_raise(msix, 8);
	CHECK_EQ(delivered[8], 1);
	tern_msix_table_write(msix, 7 * 16, 0xfee00000, 4);
	tern_msix_raise(msix, 8);
	CHECK_EQ(delivered[8], 1);
	CHECK(tern_msix_pending(msix, 8));
	tern_msix_table_write(msix, 8 * 16 + 12, 0, 4);
	CHECK_EQ(delivered[8], 2);
	/* Reset: masked again, nothing pending, and the table unused. */
	tern_msix_client_mask(msix, 9, true);
	tern_msix_raise(msix, 9);
	tern_msix_reset(msix);
	CHECK(!tern_msix_pending(msix, 9));
	CHECK_EQ(tern_msix_table_read(msix, 8 * 16 + 12, 4), 1);
	CHECK_EQ(tern_msix_table_read(msix, 7 * 16, 4), 0);
	tern_msix_raise(msix, 8);
	CHECK_EQ(delivered[8], 3);
	tern_msix_destroy(msix);
}

TERN_TEST(masked_by_the_table_fires_on_unmask)
{
	struct tern_msix *msix = ready();

	tern_msix_table_write(msix, 2 * 16 + 12, 0, 4);
	tern_msix_raise(msix, 2);
	CHECK_EQ(delivered[2], 1);
	/* A quad word covers data and control. */
	tern_msix_table_write(msix, 2 * 16 + 8, 1ULL << 32 | 0x4041, 8);
	tern_msix_raise(msix, 2);
	tern_msix_raise(msix, 2);
	CHECK_EQ(delivered[2], 1);
	CHECK_EQ(tern_msix_table_read(msix, 2 * 16 + 8, 8), 1ULL << 32 | 0x4041);
	tern_msix_table_write(msix, 2 * 16 + 8, 0x4041, 8);
	CHECK_EQ(delivered[2], 2);
	tern_msix_destroy(msix);
}

TERN_TEST(small_table_writes_have_no_effect)
{
	struct tern_msix *msix = ready();

	tern_msix_table_write(msix, 0, 0xff, 1);
	tern_msix_table_write(msix, 2, 0xffff, 2);
	CHECK_EQ(tern_msix_table_read(msix, 0, 4), 0);
	CHECK_EQ(tern_msix_table_read(msix, 12, 1), 1);
	tern_msix_destroy(msix);
}

TERN_TEST(unknown_vectors_are_ignored)
{
	struct tern_msix *msix = ready();

	tern_msix_raise(msix, VECTORS);
	tern_msix_raise(msix, UINT32_MAX);
	tern_msix_connect(msix, VECTORS, true);
	tern_msix_client_mask(msix, UINT32_MAX, true);
	CHECK(!tern_msix_pending(msix, VECTORS));
	/* The PBA's last quad word has bits beyond the last vector: they read 0. */
	tern_msix_control(msix, true, true, true);
	for (unsigned int v = 0; v < VECTORS; v++)
		tern_msix_raise(msix, v);
	CHECK_EQ(tern_msix_pba_size(msix), 16);
	CHECK_EQ(tern_msix_pba_read(msix, 8, 8), (1 << (VECTORS - 64)) - 1);
	CHECK_EQ(tern_msix_table_size(msix), VECTORS * 16);
	CHECK_EQ(tern_msix_vectors(msix), VECTORS);
	tern_msix_destroy(msix);
}
