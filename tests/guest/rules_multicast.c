// SPDX-License-Identifier: GPL-2.0-or-later
/* verbs_rules: multicast of datagrams. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "verbs_rules.h"

#define LENGTH	900
#define GRH	40

static const struct ibv_qp_cap cap = {
	.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
};

static union ibv_gid group(unsigned int number)
{
	union ibv_gid gid = { .raw = { 0xff, 0x0e, [13] = number >> 16 } };

	gid.raw[14] = number >> 8;
	gid.raw[15] = number;
	return gid;
}

static struct ibv_qp *datagram_qp(struct ibv_cq *cq)
{
	struct ibv_qp *qp = qp_new(IBV_QPT_UD, cq, cap);

	to_init(qp);
	to_rts(qp, 0, PATIENT);
	return qp;
}

/*
 * To a group of the GID's own network, IPv4 or IPv6: from one queue pair to
 * itself and one more; a third is not attached.
 */
void test_multicast(void)
{
	bool ipv4 = !memcmp(dev.gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	union ibv_gid gid = ipv4 ?
		(union ibv_gid){ .raw = { [10] = 0xff, 0xff, 239, 0x91, 2, 3 } } : group(0x123456);
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = gid, .sgid_index = dev.gid_index, .hop_limit = 1 },
	};
	struct ibv_cq *cq = cq_new(64, NULL);
	struct ibv_qp *a = datagram_qp(cq), *b = datagram_qp(cq), *c = datagram_qp(cq);
	struct ibv_qp *connected = qp_new(IBV_QPT_RC, cq, cap);
	struct buffer m = buffer_new(16384, 0);
	struct ibv_sge from = sge_of(&m, 0, LENGTH);
	struct ibv_sge to_a = sge_of(&m, 4096, LENGTH + GRH), to_b = sge_of(&m, 8192, LENGTH + GRH);
	struct ibv_sge to_c = sge_of(&m, 12288, LENGTH + GRH);
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_ah *ah = ibv_create_ah(dev.pd, &attr);
	struct ibv_wc wc[3];
	int i;

	REQUIRE(ah);
	REQUIRE(ibv_attach_mcast(connected, &gid, 0) == EINVAL);
	REQUIRE(ibv_attach_mcast(a, &dev.gid, 0) == EINVAL);
	REQUIRE(ibv_detach_mcast(a, &gid, 0));
	REQUIRE(!ibv_attach_mcast(a, &gid, 0));
	REQUIRE(!ibv_attach_mcast(b, &gid, 0));
	REQUIRE(!post_recv(a, 2, &to_a, 1) && !post_recv(b, 3, &to_b, 1) &&
		!post_recv(c, 4, &to_c, 1));
	fill(m.data, LENGTH, 9);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = QKEY;
	REQUIRE(!post_send(a, wr));
	wait_wcs(cq, wc, 3);
	for (i = 0; i < 3; i++) {
		REQUIRE(!wc[i].status && wc[i].wr_id != 4);
		if (wc[i].wr_id == 1)
			continue;
		REQUIRE(wc[i].byte_len == LENGTH + GRH && wc[i].src_qp == a->qp_num);
		REQUIRE(!memcmp(m.data, m.data + (wc[i].wr_id - 1) * 4096 + GRH, LENGTH));
	}
	no_wc(cq, 50);

	/* A queue pair that is attached stays; detached, it gets nothing. */
	REQUIRE(ibv_destroy_qp(b) == EBUSY);
	REQUIRE(!ibv_detach_mcast(a, &gid, 0));
	REQUIRE(!post_recv(b, 3, &to_b, 1) && !post_recv(a, 2, &to_a, 1));
	REQUIRE(!post_send(a, wr));
	wait_wcs(cq, wc, 2);
	REQUIRE(wc[0].wr_id + wc[1].wr_id == 4 && !wc[0].status && !wc[1].status);
	no_wc(cq, 50);
	REQUIRE(!ibv_detach_mcast(b, &gid, 0));
	REQUIRE(ibv_detach_mcast(b, &gid, 0));

	REQUIRE(!ibv_destroy_ah(ah));
	REQUIRE(!ibv_destroy_qp(a) && !ibv_destroy_qp(b) && !ibv_destroy_qp(c));
	REQUIRE(!ibv_destroy_qp(connected) && !ibv_destroy_cq(cq));
	buffer_free(&m);
}

void test_multicast_limits(void)
{
	int groups = dev.attr.max_mcast_grp, many = dev.attr.max_mcast_qp_attach, i;
	struct ibv_qp **qps = calloc(many + 1, sizeof(*qps));
	struct ibv_cq *cq = cq_new(16, NULL);
	union ibv_gid gid;

	REQUIRE(qps && groups >= 256 && many >= 16);
	REQUIRE(dev.attr.max_total_mcast_qp_attach == groups * many);
	for (i = 0; i <= many; i++)
		qps[i] = datagram_qp(cq);
	for (i = 0; i < groups; i++) {
		gid = group(i);
		REQUIRE(!ibv_attach_mcast(qps[0], &gid, 0));
	}
	gid = group(i);
	REQUIRE(ibv_attach_mcast(qps[0], &gid, 0) == ENOMEM);
	gid = group(0);
	for (i = 1; i < many; i++)
		REQUIRE(!ibv_attach_mcast(qps[i], &gid, 0));
	REQUIRE(ibv_attach_mcast(qps[many], &gid, 0) == ENOMEM);
	REQUIRE(!ibv_detach_mcast(qps[1], &gid, 0));
	REQUIRE(!ibv_attach_mcast(qps[many], &gid, 0));
	/* Half of it is left to the end of the process. */
	for (i = 1; i < groups; i += 2) {
		gid = group(i);
		REQUIRE(!ibv_detach_mcast(qps[0], &gid, 0));
	}
	exit(0);
}
