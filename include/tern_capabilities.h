/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern core driver: what a function can do. */
#ifndef TERN_CAPABILITIES_H
#define TERN_CAPABILITIES_H

#include <linux/types.h>

/**
 * struct tern_capabilities - what the device can do, checked and in host order
 * @mac: permanent MAC address
 * @vendor_part: number of the part
 * @guid: EUI-64 of the function
 * @firmware_version: major 63:48, minor 47:32, sub 31:0
 * @eq_count: event queues
 * @cq_count: completion queues
 * @qp_count: queue pairs; numbers 0 and 1 are special
 * @srq_count: shared receive queues; number 0 is special
 * @key_count: memory keys; index 0 is special
 * @pd_count: protection domains
 * @gid_count: entries of the GID table
 * @pkey_count: entries of the P_Key table
 * @eq_shift_max: log2 of an event queue's entries, at most
 * @cq_shift_max: log2 of a completion queue's entries, at most
 * @sq_shift_max: log2 of a send queue's 64-byte blocks, at most
 * @rq_shift_max: log2 of a receive queue's entries, at most
 * @send_sge_max: scatter gather elements of a send work request
 * @receive_sge_max: scatter gather elements of a receive work request
 * @read_initiator_max: READs and atomics outstanding as requester
 * @read_responder_max: READs and atomics outstanding as responder
 * @inline_max: inline bytes of a connected queue pair's work request
 * @message_bytes_max: length of a message
 * @region_bytes_max: length of a memory region
 * @page_sizes: bit n: data pages of 1 << n bytes
 * @rss_entries_max: entries of the RSS indirection table, a power of two
 * @multicast_addresses_max: entries of the multicast table
 * @ack_delay: local CA ACK delay, 4.096 us << n
 * @tso_bytes_max: length of a packet to segment
 * @mtu_max: largest L3 MTU
 * @srq_sge_max: scatter gather elements of an SRQ's entry
 * @multicast_group_count: multicast GIDs that have queue pairs attached
 * @multicast_qps_max: queue pairs attached to one of them
 * @flow_count: flows
 * @counter_set_count: counter sets; number 0 is special
 * @receive_buffer_bytes: of the port, for all receive buffers together
 *
 * Counts are at least what the driver needs and at most 1 << 24.
 */
struct tern_capabilities {
	u8 mac[6];
	u16 vendor_part;
	u64 guid;
	u64 firmware_version;
	u32 eq_count;
	u32 cq_count;
	u32 qp_count;
	u32 srq_count;
	u32 key_count;
	u32 pd_count;
	u32 gid_count;
	u32 pkey_count;
	u8 eq_shift_max;
	u8 cq_shift_max;
	u8 sq_shift_max;
	u8 rq_shift_max;
	u8 send_sge_max;
	u8 receive_sge_max;
	u8 read_initiator_max;
	u8 read_responder_max;
	u32 inline_max;
	u32 message_bytes_max;
	u64 region_bytes_max;
	u64 page_sizes;
	u16 rss_entries_max;
	u16 multicast_addresses_max;
	u8 ack_delay;
	u32 tso_bytes_max;
	u32 mtu_max;
	u32 srq_sge_max;
	u32 multicast_group_count;
	u32 multicast_qps_max;
	u32 flow_count;
	u32 counter_set_count;
	u32 receive_buffer_bytes;
};

#endif /* TERN_CAPABILITIES_H */
