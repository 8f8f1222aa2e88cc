// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: DCB netlink, IEEE 802.1Qaz, 802.1Qbb and 802.1Qau.
 *
 * The core reports success for a set member that is NULL, so what the device
 * lacks is refused here. It has no extack: the reason goes to the log. All is
 * called with the RTNL held.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/dcbnl.h>

#include "dcb.h"
#include "netdev.h"

#define TERN_DCBX_MODE	(DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE)
/* One bit for the number of traffic classes: eight. */
#define TERN_CAP_TCS	0x80

static int tern_dcbnl_change(struct net_device *netdev, unsigned int feature, const char *what,
			     tern_dcb_edit *edit, const void *data)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	const char *why = "the device cannot do that";
	int err = -EOPNOTSUPP;

	if (tern_has(&priv->adapter->device, feature))
		err = tern_dcb_change(priv, edit, data, &why);
	if (err && net_ratelimit())
		netdev_notice(netdev, "%s refused: %s\n", what, why);
	return err;
}

static bool tern_dcbnl_has(struct net_device *netdev, unsigned int feature)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	return tern_has(&priv->adapter->device, feature);
}

static int tern_dcbnl_getets(struct net_device *netdev, struct ieee_ets *ets)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	if (!tern_dcbnl_has(netdev, TERN_FEATURE_ETS))
		return -EOPNOTSUPP;
	mutex_lock(&priv->dcb->lock);
	*ets = priv->dcb->settings.ets;
	mutex_unlock(&priv->dcb->lock);
	return 0;
}

static int tern_edit_ets(struct tern_dcb_settings *settings, const void *data, const char **why)
{
	return tern_dcb_set_ets(settings, data, why);
}

static int tern_dcbnl_setets(struct net_device *netdev, struct ieee_ets *ets)
{
	return tern_dcbnl_change(netdev, TERN_FEATURE_ETS, "ETS", tern_edit_ets, ets);
}

static int tern_dcbnl_getmaxrate(struct net_device *netdev, struct ieee_maxrate *maxrate)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	if (!tern_dcbnl_has(netdev, TERN_FEATURE_ETS))
		return -EOPNOTSUPP;
	mutex_lock(&priv->dcb->lock);
	*maxrate = priv->dcb->settings.maxrate;
	mutex_unlock(&priv->dcb->lock);
	return 0;
}

static int tern_edit_maxrate(struct tern_dcb_settings *settings, const void *data,
			     const char **why)
{
	return tern_dcb_set_maxrate(settings, data, why);
}

static int tern_dcbnl_setmaxrate(struct net_device *netdev, struct ieee_maxrate *maxrate)
{
	struct ieee_maxrate aligned;

	/* Netlink aligns to four bytes only. */
	memcpy(&aligned, maxrate, sizeof(aligned));
	return tern_dcbnl_change(netdev, TERN_FEATURE_ETS, "maximum rate", tern_edit_maxrate,
				 &aligned);
}

static int tern_dcbnl_getqcn(struct net_device *netdev, struct ieee_qcn *qcn)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	if (!tern_dcbnl_has(netdev, TERN_FEATURE_ECN))
		return -EOPNOTSUPP;
	mutex_lock(&priv->dcb->lock);
	tern_congestion_get_qcn(&priv->dcb->settings, qcn);
	mutex_unlock(&priv->dcb->lock);
	return 0;
}

static int tern_edit_qcn(struct tern_dcb_settings *settings, const void *data, const char **why)
{
	return tern_congestion_set_qcn(settings, data, why);
}

static int tern_dcbnl_setqcn(struct net_device *netdev, struct ieee_qcn *qcn)
{
	return tern_dcbnl_change(netdev, TERN_FEATURE_ECN, "QCN", tern_edit_qcn, qcn);
}

/* The device's counters of all priorities; the caller frees them. */
static struct tern_priority_statistics *tern_dcbnl_statistics(struct net_device *netdev)
{
	struct tern_priority_statistics *statistics;
	int err;

	statistics = kmalloc(sizeof(*statistics), GFP_KERNEL);
	if (!statistics)
		return ERR_PTR(-ENOMEM);
	err = tern_dcb_read_statistics(netdev_priv(netdev), statistics);
	if (!err)
		return statistics;
	kfree(statistics);
	return ERR_PTR(err);
}

static int tern_dcbnl_getqcnstats(struct net_device *netdev, struct ieee_qcn_stats *stats)
{
	struct tern_priority_statistics *statistics;
	const struct tern_priority_counters *counters;
	unsigned int i;

	if (!tern_dcbnl_has(netdev, TERN_FEATURE_ECN))
		return -EOPNOTSUPP;
	statistics = tern_dcbnl_statistics(netdev);
	if (IS_ERR(statistics))
		return PTR_ERR(statistics);
	for (i = 0; i < TERN_PRIORITIES; i++) {
		counters = &statistics->priority[i];
		stats->rppp_rp_centiseconds[i] = div_u64(le64_to_cpu(counters->limited_ns),
							 10 * NSEC_PER_MSEC);
		stats->rppp_created_rps[i] = le64_to_cpu(counters->limited_queue_pairs);
	}
	kfree(statistics);
	return 0;
}

static int tern_dcbnl_getpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	struct tern_priority_statistics *statistics;
	unsigned int i;

	statistics = tern_dcbnl_statistics(netdev);
	if (IS_ERR(statistics))
		return PTR_ERR(statistics);
	pfc->pfc_cap = TERN_PRIORITIES;
	mutex_lock(&priv->dcb->lock);
	pfc->pfc_en = priv->dcb->settings.pfc;
	pfc->delay = priv->dcb->settings.delay;
	mutex_unlock(&priv->dcb->lock);
	for (i = 0; i < TERN_PRIORITIES; i++) {
		pfc->requests[i] = le64_to_cpu(statistics->priority[i].tx_pause);
		pfc->indications[i] = le64_to_cpu(statistics->priority[i].rx_pause);
	}
	kfree(statistics);
	return 0;
}

static int tern_edit_pfc(struct tern_dcb_settings *settings, const void *data, const char **why)
{
	return tern_dcb_set_pfc(settings, data, why);
}

static int tern_dcbnl_setpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	return tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "PFC", tern_edit_pfc, pfc);
}

static int tern_dcbnl_getbuffer(struct net_device *netdev, struct dcbnl_buffer *buffer)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	if (!tern_dcbnl_has(netdev, TERN_FEATURE_PFC))
		return -EOPNOTSUPP;
	mutex_lock(&priv->dcb->lock);
	tern_dcb_get_buffer(&priv->dcb->settings, priv->adapter->device.caps.receive_buffer_bytes,
			    buffer);
	mutex_unlock(&priv->dcb->lock);
	return 0;
}

static int tern_edit_buffer(struct tern_dcb_settings *settings, const void *data,
			    const char **why)
{
	return tern_dcb_set_buffer(settings, data, why);
}

static int tern_dcbnl_setbuffer(struct net_device *netdev, struct dcbnl_buffer *buffer)
{
	return tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "buffers", tern_edit_buffer, buffer);
}

static int tern_edit_add_app(struct tern_dcb_settings *settings, const void *data,
			     const char **why)
{
	return tern_dcb_set_app(settings, data, true, why);
}

static int tern_edit_remove_app(struct tern_dcb_settings *settings, const void *data,
				const char **why)
{
	return tern_dcb_set_app(settings, data, false, why);
}

/* What is shown is the core's list. */
static int tern_dcbnl_setapp(struct net_device *netdev, struct dcb_app *app)
{
	int err;

	err = tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "APP entry", tern_edit_add_app, app);
	if (err)
		return err;
	err = dcb_ieee_setapp(netdev, app);
	if (err)
		tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "APP entry", tern_edit_remove_app,
				  app);
	return err;
}

static int tern_dcbnl_delapp(struct net_device *netdev, struct dcb_app *app)
{
	int err;

	err = tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "APP entry's end",
				tern_edit_remove_app, app);
	return err ?: dcb_ieee_delapp(netdev, app);
}

/* This host's LLDP agent knows the peer; the device hears nothing of it. */
static int tern_dcbnl_peer_getets(struct net_device *netdev, struct ieee_ets *ets)
{
	return -EOPNOTSUPP;
}

static int tern_dcbnl_peer_getpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	return -EOPNOTSUPP;
}

/* CEE's APP table means another thing: without this the core would fill it. */
static int tern_dcbnl_cee_setapp(struct net_device *netdev, u8 type, u16 id, u8 priorities)
{
	return -EOPNOTSUPP;
}

static int tern_dcbnl_cee_getapp(struct net_device *netdev, u8 type, u16 id)
{
	return -EOPNOTSUPP;
}

static void tern_dcbnl_getpermhwaddr(struct net_device *netdev, u8 *address)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	/* The core has MAX_ADDR_LEN bytes and tells all of them. */
	memset(address, 0xff, MAX_ADDR_LEN);
	ether_addr_copy(address, priv->adapter->device.caps.mac);
}

static u8 tern_dcbnl_getcap(struct net_device *netdev, int attribute, u8 *cap)
{
	bool ets = tern_dcbnl_has(netdev, TERN_FEATURE_ETS);
	bool pfc = tern_dcbnl_has(netdev, TERN_FEATURE_PFC);

	*cap = 0;
	switch (attribute) {
	case DCB_CAP_ATTR_PG:
	case DCB_CAP_ATTR_UP2TC:
	case DCB_CAP_ATTR_GSP:
		*cap = ets;
		return 0;
	case DCB_CAP_ATTR_PFC:
		*cap = pfc;
		return 0;
	case DCB_CAP_ATTR_PG_TCS:
		*cap = ets ? TERN_CAP_TCS : 0;
		return 0;
	case DCB_CAP_ATTR_PFC_TCS:
		*cap = pfc ? TERN_CAP_TCS : 0;
		return 0;
	case DCB_CAP_ATTR_BCN:
		return 0;
	case DCB_CAP_ATTR_DCBX:
		*cap = TERN_DCBX_MODE;
		return 0;
	default:
		return 1;
	}
}

static int tern_dcbnl_getnumtcs(struct net_device *netdev, int attribute, u8 *count)
{
	switch (attribute) {
	case DCB_NUMTCS_ATTR_PG:
		*count = tern_dcbnl_has(netdev, TERN_FEATURE_ETS) ? TERN_TRAFFIC_CLASSES : 1;
		return 0;
	case DCB_NUMTCS_ATTR_PFC:
		*count = tern_dcbnl_has(netdev, TERN_FEATURE_PFC) ? TERN_TRAFFIC_CLASSES : 0;
		return 0;
	default:
		return -EINVAL;
	}
}

static int tern_dcbnl_setnumtcs(struct net_device *netdev, int attribute, u8 count)
{
	u8 now;
	int err;

	err = tern_dcbnl_getnumtcs(netdev, attribute, &now);
	if (err)
		return err;
	return count == now ? 0 : -EOPNOTSUPP;
}

/* Under a spinlock of the core, among others. */
static u8 tern_dcbnl_getdcbx(struct net_device *netdev)
{
	return TERN_DCBX_MODE;
}

/* Anything but zero is a refusal. */
static u8 tern_dcbnl_setdcbx(struct net_device *netdev, u8 mode)
{
	if (mode == TERN_DCBX_MODE)
		return 0;
	if (net_ratelimit())
		netdev_notice(netdev, "DCBX refused: it is the host's, by IEEE 802.1Qaz\n");
	return 1;
}

#ifdef TERN_HAVE_DCB_APPTRUST
struct tern_trust_order {
	const u8 *selectors;
	int count;
};

static int tern_edit_trust(struct tern_dcb_settings *settings, const void *data,
			   const char **why)
{
	const struct tern_trust_order *order = data;

	return tern_dcb_set_trust(settings, order->selectors, order->count, why);
}

static int tern_dcbnl_setapptrust(struct net_device *netdev, u8 *selectors, int count)
{
	const struct tern_trust_order order = { selectors, count };

	return tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "APP trust", tern_edit_trust, &order);
}

/* An error would be one of everything that is asked for. */
static int tern_dcbnl_getapptrust(struct net_device *netdev, u8 *selectors, int *count)
{
	struct tern_netdev *priv = netdev_priv(netdev);

	*count = 0;
	if (!tern_dcbnl_has(netdev, TERN_FEATURE_PFC))
		return 0;
	mutex_lock(&priv->dcb->lock);
	*count = tern_dcb_get_trust(&priv->dcb->settings, selectors);
	mutex_unlock(&priv->dcb->lock);
	return 0;
}
#endif

#ifdef TERN_HAVE_DCB_REWR
static int tern_edit_add_rewrite(struct tern_dcb_settings *settings, const void *data,
				 const char **why)
{
	return tern_dcb_set_rewrite(settings, data, true, why);
}

static int tern_edit_remove_rewrite(struct tern_dcb_settings *settings, const void *data,
				    const char **why)
{
	return tern_dcb_set_rewrite(settings, data, false, why);
}

static int tern_dcbnl_setrewr(struct net_device *netdev, struct dcb_app *app)
{
	int err;

	err = tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "rewrite entry", tern_edit_add_rewrite,
				app);
	if (err)
		return err;
	err = dcb_setrewr(netdev, app);
	if (err)
		tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "rewrite entry",
				  tern_edit_remove_rewrite, app);
	return err;
}

static int tern_dcbnl_delrewr(struct net_device *netdev, struct dcb_app *app)
{
	int err;

	err = tern_dcbnl_change(netdev, TERN_FEATURE_PFC, "rewrite entry's end",
				tern_edit_remove_rewrite, app);
	return err ?: dcb_delrewr(netdev, app);
}
#endif

static const struct dcbnl_rtnl_ops tern_dcbnl_ops = {
	.ieee_getets = tern_dcbnl_getets,
	.ieee_setets = tern_dcbnl_setets,
	.ieee_getmaxrate = tern_dcbnl_getmaxrate,
	.ieee_setmaxrate = tern_dcbnl_setmaxrate,
	.ieee_getqcn = tern_dcbnl_getqcn,
	.ieee_setqcn = tern_dcbnl_setqcn,
	.ieee_getqcnstats = tern_dcbnl_getqcnstats,
	.ieee_getpfc = tern_dcbnl_getpfc,
	.ieee_setpfc = tern_dcbnl_setpfc,
	.ieee_setapp = tern_dcbnl_setapp,
	.ieee_delapp = tern_dcbnl_delapp,
	.ieee_peer_getets = tern_dcbnl_peer_getets,
	.ieee_peer_getpfc = tern_dcbnl_peer_getpfc,
	.getpermhwaddr = tern_dcbnl_getpermhwaddr,
	.getcap = tern_dcbnl_getcap,
	.getnumtcs = tern_dcbnl_getnumtcs,
	.setnumtcs = tern_dcbnl_setnumtcs,
	.setapp = tern_dcbnl_cee_setapp,
	.getapp = tern_dcbnl_cee_getapp,
	.getdcbx = tern_dcbnl_getdcbx,
	.setdcbx = tern_dcbnl_setdcbx,
	.dcbnl_getbuffer = tern_dcbnl_getbuffer,
	.dcbnl_setbuffer = tern_dcbnl_setbuffer,
#ifdef TERN_HAVE_DCB_APPTRUST
	.dcbnl_setapptrust = tern_dcbnl_setapptrust,
	.dcbnl_getapptrust = tern_dcbnl_getapptrust,
#endif
#ifdef TERN_HAVE_DCB_REWR
	.dcbnl_setrewr = tern_dcbnl_setrewr,
	.dcbnl_delrewr = tern_dcbnl_delrewr,
#endif
};

/* A device without any of it has no DCB at all. */
void tern_dcbnl_init(struct tern_netdev *priv)
{
	struct tern_device *tern = &priv->adapter->device;

	if (tern_has(tern, TERN_FEATURE_PFC) || tern_has(tern, TERN_FEATURE_ETS) ||
	    tern_has(tern, TERN_FEATURE_ECN))
		priv->netdev->dcbnl_ops = &tern_dcbnl_ops;
}
