# SPDX-License-Identifier: GPL-2.0-or-later
"""RoCE addressing between two VMs: both versions, and what of a GID is seen on the wire."""

import copy

import pytest
import roce_decoder
from ternlab import programs

SIZES = "0 1 2 3 1023 1024 1025 65536"
V1, V2 = "IB/RoCE v1", "RoCE v2"


def rdma_check(guest_programs, server, client, kinds=(V1, V1), family=4, args="", sizes=SIZES):
    """The two ends of rdma_check with GIDs of these types; their finished processes."""
    port = next(programs._ports)
    s_addr, c_addr = (server.address, client.address) if family == 4 else \
                     (server.address6, client.address6)
    one = f"{guest_programs}/rdma_check -m 1024 -p {port} {args} -d"
    s = server.vm.spawn(f"{one} {server.ibdev} -g {server.gid_index(s_addr, kinds[0])} {sizes}",
                        60)
    c = client.vm.run(f"{one} {client.ibdev} -g {client.gid_index(c_addr, kinds[1])} "
                      f"{server.address} {sizes}", 60, check=False)
    if c.code:
        s.kill()
    return s.wait(check=False), c


def capture_of(pair, path, what):
    """What does, as the RoCE packets that it made."""
    with pair.ternd.capture("a", path):
        what()
    return roce_decoder.packets(path)


@pytest.fixture
def cm_by_v1(ends):
    """rdma_cm makes its connections by RoCE v1."""
    mode = "/sys/kernel/config/rdma_cm/{0}/ports/1/default_roce_mode"

    def choose(kind):
        for nic in ends:
            nic.vm.run(f"echo '{kind}' > {mode.format(nic.ibdev)}")

    for nic in ends:
        nic.vm.run("modprobe -aq configfs rdma_cm; mountpoint -q /sys/kernel/config || "
                   "mount -t configfs none /sys/kernel/config; "
                   f"mkdir -p /sys/kernel/config/rdma_cm/{nic.ibdev}")
    choose(V1)
    yield
    choose(V2)
    for nic in ends:
        nic.vm.run(f"rmdir /sys/kernel/config/rdma_cm/{nic.ibdev}")


def test_each_address_has_a_gid_of_each_type(ends):
    for nic in ends:
        kinds = {}
        for gid, kind in nic.gids().values():
            kinds.setdefault(gid, set()).add(kind)
        assert len(kinds) >= 3
        assert all(types == {V1, V2} for types in kinds.values()), kinds
        # ibv_query_gid_type() says the same.
        out = nic.vm.out(f"ibv_devinfo -v -d {nic.ibdev}")
        half = len(nic.gids()) // 2
        assert out.count(", RoCE v1") == out.count(", RoCE v2") == half


@pytest.mark.parametrize("family", [4, 6])
def test_data_by_v1(ends, pair, guest_programs, tmp_path, family):
    def exchange():
        for end in rdma_check(guest_programs, *ends, family=family):
            assert not end.code, end.output

    seen = capture_of(pair, tmp_path / "wire", exchange)
    assert {p.version for p in seen} == {1}
    assert {0x04, 0x0A, 0x0C, 0x10, 0x11} <= {p.opcode for p in seen}
    # An IPv4 address is a v4-mapped GID in the GRH.
    start = bytes(10) + b"\xff\xff" if family == 4 else b"\xfd"
    assert all(p.source.startswith(start) and p.destination.startswith(start) for p in seen)


def test_datagrams_by_v1(ends, pair, tmp_path):
    def exchange():
        server, client = ends
        port = next(programs._ports)
        one = f"ibv_ud_pingpong -p {port} -s 900 -n 100 -d"
        s = server.vm.spawn(f"{one} {server.ibdev} -g {server.gid_index(server.address, V1)}")
        programs._listening(s, server.vm, port)
        client.vm.run(f"{one} {client.ibdev} -g {client.gid_index(client.address, V1)} "
                      f"{server.address}")
        s.wait()

    seen = capture_of(pair, tmp_path / "wire", exchange)
    assert {(p.version, p.opcode) for p in seen} == {(1, 0x64)}
    assert len(seen) >= 200


@pytest.mark.parametrize("family", [4, 6])
def test_rdma_cm_by_v1(ends, pair, tmp_path, cm_by_v1, family):
    seen = capture_of(pair, tmp_path / "wire",
                      lambda: programs.rping(*ends, family=family, args="-C 5 -v"))
    assert {p.version for p in seen} == {1}
    # The CM's datagrams to QP 1, and the connection's packets.
    assert {p.opcode for p in seen if p.destination_qpn == 1} == {0x64}
    assert any(p.opcode == 0x11 for p in seen)


def upper(nic, number, name, kind, net):
    """A netdev on top of nic's, as a NIC of its own; its MAC."""
    nic.vm.run(f"ip link add link {nic.netdev} name {name} type {kind} && ip link set {name} up && "
               f"ip addr add {net}{number}/24 dev {name}")
    over = copy.copy(nic)
    over.netdev, over.address = name, f"{net}{number}"
    return over, bytes.fromhex(nic.vm.out(f"cat /sys/class/net/{name}/address").replace(":", ""))


@pytest.fixture
def vlans(ends):
    yield [upper(nic, n, "vlan77", "vlan id 77", "198.18.77.")[0] for n, nic in enumerate(ends, 1)]
    for nic in ends:
        nic.vm.run("ip link del vlan77")


def test_vlan_gids_go_with_their_netdev(ends, vlans):
    nic = ends[0]
    before = {i: g for i, g in nic.gids().items() if "c612:4d01" not in g[0]}
    nic.gid_index("198.18.77.1")
    assert len(nic.gids()) > len(before)
    nic.vm.run("ip addr del 198.18.77.1/24 dev vlan77; sleep 1")
    assert not [g for g, _ in nic.gids().values() if "c612:4d01" in g]
    nic.vm.run("ip addr add 198.18.77.1/24 dev vlan77")
    nic.gid_index("198.18.77.1")
    # Those of the other addresses stayed where they were.
    assert before.items() <= nic.gids().items()


def test_type_of_service_of_rdma_cm(ends, pair, tmp_path):
    def exchange():
        s = ends[0].vm.spawn("ucmatose -c 1 -C 5 -t 104")
        ends[0].vm.wait_for("rdma resource show cm_id | grep -q LISTEN")
        ends[1].vm.run(f"ucmatose -c 1 -C 5 -t 104 -s {ends[0].address}")
        s.wait()

    seen = capture_of(pair, tmp_path / "wire", exchange)
    assert {p.traffic_class for p in seen if p.destination_qpn != 1} == {104}
