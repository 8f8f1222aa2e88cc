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

#ifdef TERN_HAVE_PARAM_GET_EXTACK
#define TERN_PARAM_GET(name)							\
	int name(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,	\
		 struct netlink_ext_ack *extack)
#else
#define TERN_PARAM_GET(name)							\
	int name(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
#endif

/* The grace period is the operations' in newer kernels. */
#ifdef TERN_HAVE_REPORTER_PERIODS
#define tern_health_reporter_create(devlink, ops, priv)	\
	devlink_health_reporter_create(devlink, ops, priv)
#else
#define tern_health_reporter_create(devlink, ops, priv)	\
	devlink_health_reporter_create(devlink, ops, 0, priv)
#endif

#endif /* TERN_COMPAT_H */
