# SPDX-License-Identifier: GPL-2.0-or-later
"""Decodes the RoCE packets of a capture, and complains of what the specification forbids.

Shares nothing with the device model or tshark: IBTA volume 1, chapters 5 and 9,
annexes A16 (RoCE v1) and A17 (RoCE v2). The ICRC is zlib's CRC-32.
"""

import struct
import zlib
from dataclasses import dataclass

ROCE_V1, VLAN, IPV4, IPV6 = 0x8915, 0x8100, 0x0800, 0x86DD
UDP_PORT = 4791
MASKED_LRH = b"\xff" * 8  # stands for the LRH that Ethernet does not have (A16.4, A17.5)

# Table 38: bytes of the extended headers by opcode. None other is expected here.
EXTENSIONS = {
    0x00: 0, 0x01: 0, 0x02: 0, 0x03: 4, 0x04: 0, 0x05: 4, 0x06: 16, 0x07: 0, 0x08: 0,
    0x09: 4, 0x0A: 16, 0x0B: 20, 0x0C: 16, 0x0D: 4, 0x0E: 0, 0x0F: 4, 0x10: 4, 0x11: 4,
    0x12: 12, 0x13: 28, 0x14: 28, 0x16: 4, 0x17: 4, 0x20: 0, 0x21: 0, 0x22: 0, 0x23: 4,
    0x24: 0, 0x25: 4, 0x26: 16, 0x27: 0, 0x28: 0, 0x29: 4, 0x2A: 16, 0x2B: 20, 0x64: 8,
    0x65: 12, 0x81: 16,
}
CNP = 0x81
BECN = 0x40


class Malformed(Exception):
    """A RoCE packet that the specification forbids."""


@dataclass
class Packet:
    """What a RoCE packet says."""

    destination_mac: bytes
    source_mac: bytes
    vlan: int | None  # the whole tag
    version: int
    source: bytes  # address, as in the packet
    destination: bytes
    traffic_class: int
    flow_label: int
    hop_limit: int
    udp_source_port: int | None
    opcode: int = 0
    destination_qpn: int = 0
    psn: int = 0
    payload: bytes = b""


def timed_frames(path):
    """(nanoseconds, frame) of each that a pcap file has whole."""
    with open(path, "rb") as file:
        magic = file.read(4)
        order, unit = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\x4d\x3c\xb2\xa1": ("<", 1),
                       b"\xa1\xb2\xc3\xd4": (">", 1000), b"\xa1\xb2\x3c\x4d": (">", 1)}[magic]
        file.read(20)
        while header := file.read(16):
            seconds, part, kept, length = struct.unpack(order + "IIII", header)
            frame = file.read(kept)
            if kept == length:
                yield seconds * 10**9 + part * unit, frame


def frames(path):
    """The frames of a pcap file."""
    return (frame for _, frame in timed_frames(path))


def _require(condition, what):
    if not condition:
        raise Malformed(what)


def _checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _mask(header, places):
    masked = bytearray(header)
    for place in places:
        masked[place] = 0xFF
    return bytes(masked)


def _ipv6(body):
    """GRH and IPv6 header are alike: fields, masked header, what it carries."""
    _require(len(body) >= 40 and body[0] >> 4 == 6, "IP version of a GRH or IPv6 header")
    word, length, following, hops = struct.unpack("!IHBB", body[:8])
    _require(len(body) >= 40 + length, "payload length")
    fields = {"source": body[8:24], "destination": body[24:40], "hop_limit": hops,
              "traffic_class": word >> 20 & 0xFF, "flow_label": word & 0xFFFFF}
    masked = _mask(b"\x6f" + body[1:40], [1, 2, 3, 7])
    return fields, following, masked, body[40:40 + length]


def _ipv4(body):
    _require(body[0] == 0x45, "IP version or options")
    _require(_checksum(body[:20]) == 0xFFFF, "IPv4 checksum")
    length, = struct.unpack("!H", body[2:4])
    _require(20 <= length <= len(body), "IPv4 length")
    fields = {"source": body[12:16], "destination": body[16:20], "hop_limit": body[8],
              "traffic_class": body[1], "flow_label": 0}
    return fields, body[9], _mask(body[:20], [1, 8, 10, 11]), body[20:length]


def _transport(packet, masked, inner):
    _require(len(inner) >= 16, "shorter than BTH and ICRC")
    _require(len(inner) % 4 == 0, "no multiple of four bytes")
    flags = inner[1]
    _require(flags & 0x0F == 0, "BTH version")
    packet.opcode = inner[0]
    packet.destination_qpn = int.from_bytes(inner[5:8], "big")
    packet.psn = int.from_bytes(inner[9:12], "big")
    _require(packet.opcode in EXTENSIONS, f"opcode {packet.opcode:#x}")
    # A CNP says that it is one by BECN, too, and has 16 bytes of zeros (A17.9.3).
    congestion = BECN if packet.opcode == CNP else 0
    _require(inner[8] & 0x7F == 0 and inner[4] == congestion, "reserved bits of the BTH")
    _require(packet.opcode != CNP or (len(inner) == 32 and not any(inner[12:28])),
             "what a CNP has")
    start, pad = 12 + EXTENSIONS[packet.opcode], flags >> 4 & 3
    _require(len(inner) >= start + pad + 4, "shorter than its headers")
    packet.payload = inner[start:len(inner) - 4 - pad]
    covered = MASKED_LRH + masked + _mask(inner[:12], [4]) + inner[12:-4]
    _require(zlib.crc32(covered).to_bytes(4, "little") == inner[-4:], "ICRC")


def decode(frame):
    """The Packet that a frame is; None when it is not RoCE."""
    ethertype, = struct.unpack("!H", frame[12:14])
    body, vlan = frame[14:], None
    if ethertype == VLAN:
        vlan, ethertype = struct.unpack("!HH", body[:4])
        body = body[4:]
    if ethertype == ROCE_V1:
        fields, following, masked, inner = _ipv6(body)
        _require(following == 0x1B, "next header of a GRH")
        packet = Packet(frame[:6], frame[6:12], vlan, 1, udp_source_port=None, **fields)
        _transport(packet, masked, inner)
        return packet
    if ethertype not in (IPV4, IPV6):
        return None
    if ethertype == IPV4 and (body[9] != 17 or body[6:8] not in (b"\x40\0", b"\0\0")):
        return None
    if ethertype == IPV6 and body[6] != 17:
        return None
    fields, _, masked, inner = _ipv4(body) if ethertype == IPV4 else _ipv6(body)
    port, to, length, checksum = struct.unpack("!HHHH", inner[:8])
    if to != UDP_PORT:
        return None
    _require(length == len(inner), "UDP length")
    _require(ethertype == IPV6 or checksum == 0, "UDP checksum over IPv4")
    packet = Packet(frame[:6], frame[6:12], vlan, 2, udp_source_port=port, **fields)
    _transport(packet, masked + _mask(inner[:8], [6, 7]), inner[8:])
    return packet


def packets(path):
    """The RoCE packets of a capture."""
    return [p for p in map(decode, frames(path)) if p]
