// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: Ethernet for tests. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_ethernet.h"

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "net: %s\n", what);
	abort();
}

void net_start(struct net *net, struct machine *machine, unsigned int fn, unsigned int qps,
	       uint64_t without)
{
	memset(net, 0, sizeof(*net));
	net->machine = machine;
	net->qp_count = qps;
	driver_start(&net->driver, machine, fn, without);
	driver_cq_create(&net->driver, &net->send_cq, NET_RING_SHIFT + 3);
	driver_cq_create(&net->driver, &net->receive_cq, NET_RING_SHIFT + 3);
	net->send_memory = host_alloc(machine, NET_SEND_BYTES, 4096);
	for (unsigned int i = 0; i < qps; i++) {
		driver_qp_create(&net->driver, &net->qps[i], TERN_QP_ETHERNET, 0, 0,
				 TERN_QP_PRIVILEGED, &net->send_cq, &net->receive_cq,
				 NET_RING_SHIFT, NET_RING_SHIFT, TERN_RECEIVE_STRIDE_SHIFT_MAX);
		net->buffers[i] = host_alloc(machine, (uint64_t)NET_BUFFER << NET_RING_SHIFT,
					     4096);
		must(driver_qp_modify(&net->qps[i], TERN_QP_RTS, 0, NULL) == 0, "MODIFY_QP");
	}
	must(net_receive_mode(net, 0) == 0, "SET_RECEIVE_MODE");
	must(net_set_port(net, 1500, TERN_PORT_UP) == 0, "SET_PORT");
}

uint16_t net_set_port(struct net *net, uint32_t mtu, uint8_t state)
{
	struct tern_command_set_port body = { .mtu = htole32(mtu), .admin_state = state };

	return driver_command(&net->driver, TERN_COMMAND_SET_PORT, 0, &body, sizeof(body));
}

uint16_t net_receive_mode(struct net *net, uint32_t flags)
{
	struct tern_command_set_receive_mode body = {
		.flags = htole32(flags | TERN_RECEIVE_ENABLE),
		.default_qpn = htole32(net->qp_count ? net->qps[0].qpn : 0),
	};

	return driver_command(&net->driver, TERN_COMMAND_SET_RECEIVE_MODE, 0, &body,
			      sizeof(body));
}

void net_post_receives(struct net *net, unsigned int qp, unsigned int count, uint32_t bytes)
{
	must(bytes <= NET_BUFFER, "receive entry too large");
	while (count--) {
		uint32_t place = net->qps[qp].rq_producer % NET_RING;
		struct tern_sge sge = {
			.address = htole64(net->buffers[qp] + (uint64_t)place * NET_BUFFER),
			.length = htole32(bytes),
			.key = htole32(TERN_KEY_LOCAL_DMA),
		};

		driver_post_receive(&net->qps[qp], &sge, 1);
	}
}

uint64_t net_put(struct net *net, const void *data, size_t length)
{
	uint64_t address;

	must(length <= NET_SEND_BYTES, "frame too large");
	if (net->send_place + length > NET_SEND_BYTES)
		net->send_place = 0;
	address = net->send_memory + net->send_place;
	memcpy(host_pointer(net->machine, address), data, length);
	net->send_place += (uint32_t)length;
	return address;
}

uint32_t net_send(struct net *net, const void *frame, size_t length, const struct net_send *how)
{
	static const struct net_send plain;
	struct {
		struct tern_wqe_control control;
		struct tern_wqe_ethernet ethernet;
		union {
			struct tern_sge sges[30];
			uint8_t data[480];
		};
	} wqe = { .control = { .opcode = TERN_WQE_ETHERNET } };
	size_t bytes = sizeof(wqe.control) + sizeof(wqe.ethernet);
	uint64_t address;

	if (!how)
		how = &plain;
	wqe.control.flags = how->flags | TERN_WQE_SIGNALED;
	wqe.ethernet = how->ethernet;
	if (how->flags & TERN_WQE_INLINE) {
		must(length <= sizeof(wqe.data), "too long for inline");
		wqe.control.inline_length = htole16((uint16_t)length);
		memcpy(wqe.data, frame, length);
		bytes += length;
	} else {
		unsigned int count = how->piece_count ? how->piece_count : 1;

		address = net_put(net, frame, length);
		for (unsigned int i = 0; i < count; i++) {
			size_t piece = length;

			if (i + 1 < count && how->pieces[i] < length)
				piece = how->pieces[i];
			wqe.sges[i].address = htole64(address);
			wqe.sges[i].length = htole32((uint32_t)piece);
			address += piece;
			length -= piece;
		}
		wqe.control.sge_count = (uint8_t)count;
		bytes += count * sizeof(struct tern_sge);
	}
	return driver_post_send(&net->qps[0], &wqe, (unsigned int)(bytes + 63) / 64);
}

uint8_t net_send_status(struct net *net)
{
	struct tern_cqe cqe;

	must(driver_cq_poll(&net->send_cq, &cqe), "no send completion");
	return cqe.status;
}

bool net_receive(struct net *net, struct net_frame *frame)
{
	if (!driver_cq_poll(&net->receive_cq, &frame->cqe))
		return false;
	for (frame->qp = 0; frame->qp < net->qp_count; frame->qp++) {
		if (net->qps[frame->qp].qpn == le32toh(frame->cqe.queue))
			break;
	}
	must(frame->qp < net->qp_count, "completion of an unknown queue pair");
	frame->data = host_pointer(net->machine, net->buffers[frame->qp] +
				   (uint64_t)(le32toh(frame->cqe.index) % NET_RING) * NET_BUFFER);
	return true;
}

size_t net_l3(const struct net_headers *headers)
{
	return headers->tagged ? 18 : 14;
}

size_t net_l4(const struct net_headers *headers)
{
	return net_l3(headers) + (headers->ipv6 ? 40 : 20);
}

size_t net_payload(const struct net_headers *headers)
{
	return net_l4(headers) + (headers->udp ? 8 : 20);
}

static uint32_t sum(uint32_t start, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		start += i & 1 ? bytes[i] : bytes[i] << 8;
		start = (start & 0xffff) + (start >> 16);
	}
	return start;
}

static void put16(uint8_t *to, size_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

uint16_t net_l4_sum(const uint8_t *frame, size_t length, const struct net_headers *headers)
{
	const uint8_t *ip = frame + net_l3(headers);
	size_t l4_length = length - net_l4(headers);
	uint32_t total = (uint32_t)l4_length + (headers->udp ? 17 : 6);

	total = (total & 0xffff) + (total >> 16);
	if (headers->ipv6)
		total = sum(total, ip + 8, 32);
	else
		total = sum(total, ip + 12, 8);
	return (uint16_t)sum(total, frame + net_l4(headers), l4_length);
}

static void build_ip(uint8_t *ip, const struct net_headers *headers, size_t l4_length)
{
	uint8_t protocol = headers->udp ? 17 : 6;

	if (headers->ipv6) {
		ip[0] = 0x60;
		put16(ip + 4, l4_length);
		ip[6] = protocol;
		ip[7] = 64;
		memcpy(ip + 8, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
		memcpy(ip + 24, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2", 16);
		return;
	}
	ip[0] = 0x45;
	put16(ip + 2, 20 + l4_length);
	put16(ip + 4, 0x1234);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = protocol;
	memcpy(ip + 12, "\x0a\0\0\1\x0a\0\0\2", 8);
	put16(ip + 10, (uint16_t)~sum(0, ip, 20));
}

size_t net_build(uint8_t *frame, const struct net_headers *headers, size_t length,
		 unsigned int seed)
{
	size_t l3 = net_l3(headers), total = net_payload(headers) + length;
	uint8_t *l4 = frame + net_l4(headers), *payload = frame + net_payload(headers);
	uint8_t *check = l4 + (headers->udp ? 6 : 16);

	memset(frame, 0, net_payload(headers));
	memcpy(frame, headers->destination, 6);
	memcpy(frame + 6, headers->source, 6);
	if (headers->tagged) {
		put16(frame + 12, 0x8100);
		put16(frame + 14, headers->tci);
	}
	put16(frame + l3 - 2, headers->ipv6 ? 0x86dd : 0x0800);
	for (size_t i = 0; i < length; i++) {
		seed = seed * 1103515245 + 12345;
		payload[i] = (uint8_t)(seed >> 16);
	}
	build_ip(frame + l3, headers, total - net_l4(headers));
	put16(l4, headers->source_port);
	put16(l4 + 2, headers->destination_port);
	if (headers->udp) {
		put16(l4 + 4, 8 + length);
	} else {
		put16(l4 + 4, 0x0102);
		put16(l4 + 6, 0x0304);
		l4[12] = 0x50;
		l4[13] = 0x18;
		put16(l4 + 14, 0xffff);
	}
	put16(check, (uint16_t)~net_l4_sum(frame, total, headers));
	return total;
}
