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
        programs.listening(s, server.vm, port)
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


@pytest.mark.parametrize("kinds", [(V1, V2), (V2, V1)], ids=["v2 to v1", "v1 to v2"])
def test_versions_do_not_mix(ends, guest_programs, kinds):
    """The requester retries and reports it; nothing arrives."""
    server, client = rdma_check(guest_programs, *ends, kinds=kinds, args="-k 10 -y 2", sizes="16")
    assert client.code == 3
    assert "transport retry counter exceeded" in client.output
    assert "received SEND" not in server.output
    # The same queue pairs' NICs are as usable as before.
    for end in rdma_check(guest_programs, *ends, kinds=(V2, V2), sizes="16"):
        assert not end.code, end.output


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


@pytest.mark.parametrize("kind", [V1, V2], ids=["v1", "v2"])
def test_vlan_gids(ends, vlans, pair, guest_programs, tmp_path, kind):
    def exchange():
        for end in rdma_check(guest_programs, *vlans, kinds=(kind, kind)):
            assert not end.code, end.output

    seen = capture_of(pair, tmp_path / "wire", exchange)
    assert seen and {p.vlan for p in seen} == {77}
    assert {p.version for p in seen} == {1 if kind == V1 else 2}


def test_vlan_gids_go_with_their_netdev(ends, vlans):
    nic = ends[0]
    before = {i: g for i, g in nic.gids().items() if "c612:4d01" not in g[0]}
    nic.gid_index("198.18.77.1")
    assert len(nic.gids()) > len(before)
    nic.vm.run("ip addr del 198.18.77.1/24 dev vlan77")
    nic.vm.wait_for(f"! grep -sq c612:4d01 /sys/class/infiniband/{nic.ibdev}/ports/1/gids/*", 10)
    assert not [g for g, _ in nic.gids().values() if "c612:4d01" in g]
    nic.vm.run("ip addr add 198.18.77.1/24 dev vlan77")
    nic.gid_index("198.18.77.1")
    # Those of the other addresses stayed where they were.
    assert before.items() <= nic.gids().items()


def test_macvlan_gids(ends, pair, guest_programs, tmp_path):
    for nic in ends:  # or the netdev below answers for its addresses
        nic.vm.run("sysctl -q -w net.ipv4.conf.all.arp_ignore=1")
    over = [upper(nic, n, "macvlan0", "macvlan mode bridge", "198.18.78.")
            for n, nic in enumerate(ends, 1)]
    nics, macs = zip(*over)

    def exchange():
        for end in rdma_check(guest_programs, *nics, kinds=(V2, V2)):
            assert not end.code, end.output

    try:
        seen = capture_of(pair, tmp_path / "wire", exchange)
        assert {p.source_mac for p in seen} == {p.destination_mac for p in seen} == set(macs)
    finally:
        for nic in ends:
            nic.vm.run("ip link del macvlan0; sysctl -q -w net.ipv4.conf.all.arp_ignore=0")


def test_gids_follow_the_mac(ends, pair, guest_programs, tmp_path):
    """The entries of addresses that stay keep their index and get the new MAC."""
    a, b = ends
    old = a.vm.out(f"cat /sys/class/net/{a.netdev}/address").strip()
    mac = "02:54:45:52:77:01"
    before = [a.gid_index(address, kind) for address in (a.address, a.address6)
              for kind in (V1, V2)]

    def exchange():
        for end in rdma_check(guest_programs, *ends, kinds=(V2, V2)):
            assert not end.code, end.output

    try:
        a.vm.run(f"ip link set {a.netdev} address {mac}; sleep 1")
        b.vm.run(f"ip neigh flush dev {b.netdev}")
        assert before == [a.gid_index(address, kind) for address in (a.address, a.address6)
                          for kind in (V1, V2)]
        seen = capture_of(pair, tmp_path / "wire", exchange)
        assert bytes.fromhex(mac.replace(":", "")) in {p.source_mac for p in seen}
        assert bytes.fromhex(old.replace(":", "")) not in {p.source_mac for p in seen}
    finally:
        a.vm.run(f"ip link set {a.netdev} address {old}; sleep 1")
        b.vm.run(f"ip neigh flush dev {b.netdev}")


@pytest.mark.parametrize("program", ["ib_write_lat", "ib_read_lat", "ib_send_lat -c UD"])
def test_priority_on_the_wire(vlans, pair, tmp_path, program):
    """Each end's packets, responses too, have the class and flow of its own queue pair."""
    port = next(programs._ports)
    server, client = vlans
    one = f"{program} -F -s 64 -n 20 -p {port} -d"

    def exchange():
        s = server.vm.spawn(f"{one} {server.ibdev} -x {server.gid_index(server.address)} "
                            "-S 3 --tclass 40 --flow_label 4660")
        programs.listening(s, server.vm, port)
        client.vm.run(f"{one} {client.ibdev} -x {client.gid_index(client.address)} "
                      f"-S 5 --tclass 104 --flow_label 705314 {server.address}")
        s.wait()

    seen = [p for p in capture_of(pair, tmp_path / "wire", exchange) if p.destination_qpn != 1]

    def sport(label):
        return 0xc000 | (label & 0x3fff) ^ label >> 14

    said = {(p.source, p.vlan >> 13, p.traffic_class, p.udp_source_port)
            for p in seen}
    assert said == {(bytes([198, 18, 77, 1]), 3, 40, sport(4660)),
                    (bytes([198, 18, 77, 2]), 5, 104, sport(705314))}


def test_type_of_service_of_rdma_cm(ends, pair, tmp_path):
    def exchange():
        s = ends[0].vm.spawn("ucmatose -c 1 -C 5 -t 104")
        ends[0].vm.wait_for("rdma resource show cm_id | grep -q LISTEN")
        ends[1].vm.run(f"ucmatose -c 1 -C 5 -t 104 -s {ends[0].address}")
        s.wait()

    seen = capture_of(pair, tmp_path / "wire", exchange)
    assert {p.traffic_class for p in seen if p.destination_qpn != 1} == {104}


def mckey(receiver, sender, group, while_joined=lambda: None):
    """Ten messages from sender to a multicast group that receiver joined by rdma_cm."""
    s_addr, r_addr = (sender.address6, receiver.address6) if ":" in group else \
                     (sender.address, receiver.address)
    r = receiver.vm.spawn(f"mckey -m {group} -b {r_addr} -C 10", 60)
    receiver.vm.wait_for(f"rdma resource show qp link {receiver.ibdev} | "
                         "grep -q 'type UD.* state RTS'", 30)
    receiver.vm.run("sleep 2")
    while_joined()
    s = sender.vm.run(f"mckey -m {group} -b {s_addr} -s -C 10", 60, check=False)
    if s.code:
        r.kill()
    end = r.wait(check=False)
    assert not s.code and not end.code, f"{s.output}\n{end.output}"


def test_multicast_by_rdma_cm(ends, pair, tmp_path):
    a, b = ends
    group = "239.1.2.3"

    def joined():
        # The core joins, so that switches deliver.
        b.vm.run(f"ip maddr show dev {b.netdev} | grep -qw {group}")

    seen = capture_of(pair, tmp_path / "wire", lambda: mckey(b, a, group, joined))
    sent = [p for p in seen if p.destination_qpn == 0xffffff]
    assert len(sent) == 10 and {(p.version, p.opcode) for p in sent} == {(2, 0x65)}
    assert {p.destination_mac.hex() for p in sent} == {"01005e010203"}
    b.vm.run(f"! ip maddr show dev {b.netdev} | grep -qw {group}")


def test_multicast_by_rdma_cm_over_ipv6(ends, pair, tmp_path, cm_by_v1):
    group = "ff0e::4:5:6"
    seen = capture_of(pair, tmp_path / "wire", lambda: mckey(*ends, group))
    sent = [p for p in seen if p.destination_qpn == 0xffffff]
    assert len(sent) == 10 and {p.version for p in sent} == {1}
    assert {p.destination_mac.hex() for p in sent} == {"333300050006"}


def test_the_kernel_has_no_ipv6_multicast_by_v2(ends):
    """cma_iboe_join_multicast() knows IGMP only, whatever the device."""
    a, _ = ends
    out = a.vm.run(f"mckey -m ff0e::4:5:6 -b {a.address6} -C 1", 30, check=False)
    assert out.code and "error 524" in out.output, out.output  # ENOTSUPP


def test_multicast_by_rdma_cm_and_v1(ends, pair, tmp_path, cm_by_v1):
    seen = capture_of(pair, tmp_path / "wire", lambda: mckey(*ends, "239.1.2.3"))
    sent = [p for p in seen if p.destination_qpn == 0xffffff]
    assert len(sent) == 10 and {p.version for p in sent} == {1}
    assert {p.destination.hex(":", 2) for p in sent} == {"ff0e:0000:0000:0000:0000:ffff:ef01:0203"}
