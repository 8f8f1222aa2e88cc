/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What older kernels lack. The rest of the driver is written for the newest
 * one; Kbuild's probes define TERN_HAVE_*.
 */
#ifndef TERN_COMPAT_H
#define TERN_COMPAT_H

#ifdef TERN_HAVE_STRING_NAMESPACE
#define TERN_NAMESPACE	"TERN"
#else
#define TERN_NAMESPACE	TERN
#endif

#endif /* TERN_COMPAT_H */
