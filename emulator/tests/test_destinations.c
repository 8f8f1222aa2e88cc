// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: which queue pairs packets of RDMA can be for. */
#include "host_peer.h"
#include "host_rdma.h"
#include "tern_test.h"

/* What has no part in RDMA is not addressed by its packets, whatever they are. */
TERN_TEST(other_types_get_no_packets)
{
	static const uint8_t opcodes[] = {
		WIRE_RC_SEND_ONLY, WIRE_RC_READ_REQUEST, WIRE_RC_ACKNOWLEDGE, WIRE_UD_SEND_ONLY,
		WIRE_UD_SEND_ONLY_IMMEDIATE,
	};
	static const struct { uint8_t type; uint32_t flags; } others[] = {
		{ TERN_QP_HASHING, TERN_QP_NO_SQ | TERN_QP_NO_RQ }, { TERN_QP_ETHERNET, 0 },
	};
	struct rdma_pair pair;
	struct rdma_side *a = &pair.a;
	struct peer peer;

	rdma_pair_create(&pair, &(struct rdma_options){ 0 });
	peer_start(&peer, &pair);
	for (size_t t = 0; t < sizeof(others) / sizeof(*others); t++) {
		struct driver_qp other;

		driver_qp_create(a->driver, &other, others[t].type, 0, RDMA_PD, others[t].flags,
				 &a->send_cq, &a->receive_cq, 1, 1, 6);
		for (size_t i = 0; i < sizeof(opcodes); i++) {
			struct wire_headers headers = peer_headers(&peer, opcodes[i], 0);
			uint64_t before = rdma_counter(a, "rx_no_qp");

			headers.destination_qpn = other.qpn;
			peer_send(&peer, &headers, NULL, 0);
			CHECK_EQ(rdma_counter(a, "rx_no_qp"), before + 1);
		}
	}
	peer_stop(&peer);
	rdma_pair_destroy(&pair);
}
