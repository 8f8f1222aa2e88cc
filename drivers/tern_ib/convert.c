// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern RDMA driver: between the encodings of the verbs and of the device. Pure logic. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <rdma/ib_addr.h>

#include "convert.h"
#include "tern_hw_event.h"

/* The device uses the verbs' numbers for these, and this driver relies on it. */
static_assert(TERN_QP_RESET == (int)IB_QPS_RESET);
static_assert(TERN_QP_INIT == (int)IB_QPS_INIT);
static_assert(TERN_QP_RTR == (int)IB_QPS_RTR);
static_assert(TERN_QP_RTS == (int)IB_QPS_RTS);
static_assert(TERN_QP_SQD == (int)IB_QPS_SQD);
static_assert(TERN_QP_SQE == (int)IB_QPS_SQE);
static_assert(TERN_QP_ERROR == (int)IB_QPS_ERR);

static_assert(TERN_ACCESS_LOCAL_WRITE == (int)IB_ACCESS_LOCAL_WRITE);
static_assert(TERN_ACCESS_REMOTE_WRITE == (int)IB_ACCESS_REMOTE_WRITE);
static_assert(TERN_ACCESS_REMOTE_READ == (int)IB_ACCESS_REMOTE_READ);
static_assert(TERN_ACCESS_REMOTE_ATOMIC == (int)IB_ACCESS_REMOTE_ATOMIC);

static_assert(TERN_ACCESS_WINDOW_BIND == (int)IB_ACCESS_MW_BIND);
static_assert(TERN_ACCESS_ZERO_BASED == (int)IB_ZERO_BASED);
static_assert(TERN_ACCESS_FLUSH_GLOBAL == (int)IB_ACCESS_FLUSH_GLOBAL);
static_assert(TERN_ACCESS_FLUSH_PERSISTENT == (int)IB_ACCESS_FLUSH_PERSISTENT);

#define TERN_IB_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |	\
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Of the types that create_qp takes. */
u8 tern_ib_qp_type(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_GSI:
		return TERN_QP_GSI;
	case IB_QPT_UD:
		return TERN_QP_UD;
	case IB_QPT_UC:
		return TERN_QP_UC;
	case IB_QPT_RAW_PACKET:
		return TERN_QP_ETHERNET;
	case IB_QPT_XRC_INI:
		return TERN_QP_XRC_INITIATOR;
	case IB_QPT_XRC_TGT:
		return TERN_QP_XRC_TARGET;
	default:
		return TERN_QP_RC;
	}
}

bool tern_ib_qp_state_from(u8 device, enum ib_qp_state *state)
{
	if (device > TERN_QP_ERROR)
		return false;
	*state = device;
	return true;
}

bool tern_ib_event_from(u8 type, enum ib_event_type *event)
{
	switch (type) {
	case TERN_EVENT_QP_FATAL:
		*event = IB_EVENT_QP_FATAL;
		return true;
	case TERN_EVENT_QP_REQUEST_ERROR:
		*event = IB_EVENT_QP_REQ_ERR;
		return true;
	case TERN_EVENT_QP_ACCESS_ERROR:
		*event = IB_EVENT_QP_ACCESS_ERR;
		return true;
	case TERN_EVENT_QP_ESTABLISHED:
		*event = IB_EVENT_COMM_EST;
		return true;
	case TERN_EVENT_QP_DRAINED:
		*event = IB_EVENT_SQ_DRAINED;
		return true;
	case TERN_EVENT_QP_LAST_WQE:
		*event = IB_EVENT_QP_LAST_WQE_REACHED;
		return true;
	default:
		return false;
	}
}

/* Only rights that the device knows; what else the verbs' flags say is no right. */
u32 tern_ib_access_to(int access)
{
	return access & TERN_IB_ACCESS;
}

/* The same of a memory region, which has more. */
u32 tern_ib_region_access_to(int access)
{
	return access & (TERN_IB_ACCESS | IB_ACCESS_MW_BIND | IB_ZERO_BASED |
			 IB_ACCESS_FLUSH_GLOBAL);
}

/* What a device with FLUSH knows beside tern_ib_access_to() of a queue pair. */
u32 tern_ib_flush_access_to(int access)
{
	return access & (IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT);
}

int tern_ib_access_from(u32 access)
{
	return access & TERN_IB_ACCESS;
}

/* The largest path MTU whose packets, headers and all, fit into the netdev's. */
enum ib_mtu tern_ib_mtu_from(u32 netdev_mtu)
{
	enum ib_mtu mtu = iboe_get_mtu(netdev_mtu);

	/* The verbs have no smaller one. */
	return mtu ?: IB_MTU_256;
}

/**
 * tern_ib_speed_from() - how the verbs name a link speed
 * @mbps: speed of the port, 0 when unknown
 * @speed: set to IB_SPEED_*, of a lane
 * @width: set to IB_WIDTH_*, how many lanes
 *
 * The nearest that promises no more than there is; the verbs have nothing
 * below 2.5 Gb/s.
 */
void tern_ib_speed_from(u32 mbps, u16 *speed, u8 *width)
{
	static const struct {
		u32 mbps;
		u16 speed;
		u8 width;
	} names[] = {
		{ 800000, IB_SPEED_XDR, IB_WIDTH_4X },
		{ 400000, IB_SPEED_NDR, IB_WIDTH_4X },
		{ 200000, IB_SPEED_HDR, IB_WIDTH_4X },
		{ 100000, IB_SPEED_EDR, IB_WIDTH_4X },
		{ 50000, IB_SPEED_EDR, IB_WIDTH_2X },
		{ 40000, IB_SPEED_FDR10, IB_WIDTH_4X },
		{ 25000, IB_SPEED_EDR, IB_WIDTH_1X },
		{ 20000, IB_SPEED_DDR, IB_WIDTH_4X },
		{ 10000, IB_SPEED_FDR10, IB_WIDTH_1X },
		{ 5000, IB_SPEED_DDR, IB_WIDTH_1X },
		{ 0, IB_SPEED_SDR, IB_WIDTH_1X },
	};
	int i = 0;

	while (mbps < names[i].mbps)
		i++;
	*speed = names[i].speed;
	*width = names[i].width;
}

/**
 * tern_ib_gid_to() - make an entry of the device's GID table
 * @gid: the GID
 * @type: of packets from it
 * @mac: their source MAC
 * @vlan: their VLAN, or 0xffff
 * @body: set
 *
 * Return: 0 or -EINVAL
 */
int tern_ib_gid_to(const union ib_gid *gid, enum ib_gid_type type, const u8 *mac, u16 vlan,
		   struct tern_command_set_gid *body)
{
	memset(body, 0, sizeof(*body));
	switch (type) {
	case IB_GID_TYPE_ROCE:
		body->type = TERN_GID_TYPE_ROCE_V1;
		break;
	case IB_GID_TYPE_ROCE_UDP_ENCAP:
		body->type = TERN_GID_TYPE_ROCE_V2;
		break;
	default:
		return -EINVAL;
	}
	memcpy(body->gid, gid->raw, sizeof(body->gid));
	ether_addr_copy(body->mac, mac);
	if (vlan < VLAN_N_VID) {
		body->flags = TERN_GID_VLAN;
		body->vlan_id = cpu_to_le16(vlan);
	}
	return 0;
}

void tern_ib_address_to(const struct rdma_ah_attr *attr, u16 udp_source_port,
			struct tern_address_vector *address)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	memset(address, 0, sizeof(*address));
	memcpy(address->destination_gid, grh->dgid.raw, sizeof(address->destination_gid));
	ether_addr_copy(address->destination_mac, attr->roce.dmac);
	address->source_gid_index = cpu_to_le16(grh->sgid_index);
	address->flow_label = cpu_to_le32(grh->flow_label & IB_GRH_FLOWLABEL_MASK);
	address->traffic_class = grh->traffic_class;
	address->hop_limit = grh->hop_limit;
	address->service_level = rdma_ah_get_sl(attr) & 0xf;
	address->udp_source_port = cpu_to_le16(udp_source_port);
}

void tern_ib_address_from(const struct tern_address_vector *address, struct rdma_ah_attr *attr)
{
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_sl(attr, address->service_level);
	rdma_ah_set_grh(attr, NULL, le32_to_cpu(address->flow_label) & IB_GRH_FLOWLABEL_MASK,
			le16_to_cpu(address->source_gid_index), address->hop_limit,
			address->traffic_class);
	rdma_ah_set_dgid_raw(attr, (void *)address->destination_gid);
	ether_addr_copy(attr->roce.dmac, address->destination_mac);
}
