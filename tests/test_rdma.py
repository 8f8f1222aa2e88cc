# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA between two VMs, each with a tern NIC, on one wire: clean, and bad."""

import subprocess

import pytest

from ternlab import programs

MTU = 1024
SIZES = [0, 1, MTU - 1, MTU, MTU + 1, 3 * MTU - 1, 3 * MTU, 3 * MTU + 1,
         65536, 1048576, 8 * 1048576]
SMALL = [s for s in SIZES if s <= 65536]


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    return tmp_path_factory.mktemp("capture") / "wire.pcap"


def check(guest_programs, program, server, client, family, args, rest, timeout):
    """Runs a program of pairs (see rdma_pair.h) on both sides."""
    s_addr, c_addr = (server.address, client.address) if family == 4 else \
                     (server.address6, client.address6)
    port = next(programs._ports)
    one = f"{guest_programs}/{program} -p {port} {args} -d"
    s = server.vm.spawn(f"{one} {server.ibdev} -g {server.gid_index(s_addr)} {rest}", timeout)
    out = client.vm.run(f"{one} {client.ibdev} -g {client.gid_index(c_addr)} "
                        f"{server.address} {rest}", timeout, check=False)
    if out.code:
        s.kill()
    end = s.wait(check=False)
    assert out.code == 0 and end.code == 0, f"{out.output}\n{end.output}"


def data_check(guest_programs, server, client, sizes, mtu=MTU, family=4, args="", timeout=120):
    check(guest_programs, "rdma_check", server, client, family, f"-m {mtu} {args}",
          " ".join(map(str, sizes)), timeout)


def placement_check(guest_programs, server, client, family=4, args="", timeout=120):
    check(guest_programs, "placement_check", server, client, family, args, "", timeout)


def test_device_attributes(ends):
    a = ends[0]
    out = a.vm.out(f"ibv_devinfo -v -d {a.ibdev}")
    assert "PORT_ACTIVE" in out
    assert "active_mtu:\t\t1024" in out
    assert "link_layer:\t\tEthernet" in out


@pytest.mark.parametrize("family", [4, 6])
def test_flush_and_atomic_write(ends, guest_programs, family):
    placement_check(guest_programs, *ends, family)


@pytest.mark.parametrize("family", [4, 6])
def test_data_is_exact(ends, guest_programs, family):
    data_check(guest_programs, *ends, SIZES if family == 4 else SMALL, family=family)
    data_check(guest_programs, *ends[::-1], SMALL, family=family)


@pytest.mark.parametrize("family", [4, 6])
def test_rc_pingpong(ends, family):
    programs.pingpong("ibv_rc_pingpong", *ends, family=family)
    programs.pingpong("ibv_rc_pingpong", *ends, args="-e -n 200", family=family)


def test_ud_pingpong(ends):
    programs.pingpong("ibv_ud_pingpong", *ends, args="-s 900")
    programs.pingpong("ibv_ud_pingpong", *ends, args="-s 900 -e -n 200")


@pytest.mark.parametrize("family", [4, 6])
def test_rping(ends, family):
    programs.rping(*ends, family=family)
    programs.rping(*ends[::-1], family=family, args="-C 5 -S 65000 -v")


def test_ucmatose(ends):
    a, b = ends
    s = a.vm.spawn("ucmatose -c 4 -C 20")
    a.vm.wait_for("rdma resource show cm_id | grep -q LISTEN")
    b.vm.run(f"ucmatose -c 4 -C 20 -s {a.address}")
    s.wait()


def test_udaddy(ends):
    a, b = ends
    s = a.vm.spawn("udaddy -c 2 -C 20")
    a.vm.wait_for("rdma resource show cm_id | grep -q LISTEN")
    b.vm.run(f"udaddy -c 2 -C 20 -s {a.address}")
    s.wait()


@pytest.mark.parametrize("program", ["ib_write_bw", "ib_read_bw", "ib_send_bw",
                                     "ib_write_lat", "ib_read_lat", "ib_send_lat"])
def test_perftest(ends, program):
    size, args = (2, "-n 100") if "lat" in program else (65536, "-n 300")
    assert programs.perftest(program, *ends, size, args)


def test_perftest_many_queue_pairs(ends):
    programs.perftest("ib_write_bw", *ends, 4096, "-q 8 -n 200")
    programs.perftest("ib_send_bw", *ends, 1024, "-c UD -n 500")
    programs.perftest("ib_write_bw", *ends, 8192, "-b -n 200")
    programs.perftest("ib_send_bw", *ends, 4096, "-e -n 200")


@pytest.mark.parametrize("mtu", [1500, 4200, 9000, 600])
def test_path_mtu_follows_the_netdev(ends, guest_programs, mtu):
    path_mtu = {600: 256, 1500: 1024, 4200: 4096, 9000: 4096}[mtu]
    for nic in ends:
        nic.vm.run(f"ip link set {nic.netdev} mtu {mtu}")
    try:
        out = ends[0].vm.out(f"ibv_devinfo -d {ends[0].ibdev}")
        assert f"active_mtu:\t\t{path_mtu} " in out
        family = 4  # below 1280 there is no IPv6
        data_check(guest_programs, *ends, [1, path_mtu, path_mtu + 1, 100000],
                   mtu=path_mtu, family=family)
    finally:
        for nic in ends:
            nic.vm.run(f"ip link set {nic.netdev} mtu 1500; "
                       f"ip addr replace {nic.address6}/64 dev {nic.netdev} nodad")
            nic.gid_index(nic.address6)


def test_port_counters_move(ends):
    a = ends[0]
    counters = f"/sys/class/infiniband/{a.ibdev}/ports/1/counters"

    def value(name):
        return int(a.vm.out(f"cat {counters}/{name}"))

    before = value("port_xmit_packets"), value("port_rcv_data")
    programs.perftest("ib_write_bw", *ends, 65536, "-b -n 100")
    assert value("port_xmit_packets") > before[0] + 100
    assert value("port_rcv_data") > before[1] + 65536
    a.vm.run(f"grep -r . /sys/class/infiniband/{a.ibdev}/ports/1/hw_counters")
    a.vm.run(f"rdma statistic show link {a.ibdev}/1")


def test_bad_wire(ends, pair, guest_programs):
    """1 % each of drop, duplicate and reorder, both ways."""
    for name in "ab":
        for what in ("drop", "duplicate", "reorder"):
            pair.ternd.ask("add-rule", nic=name, what=what, probability=0.01)
    try:
        data_check(guest_programs, *ends, SMALL, args="-r 3 -k 12", timeout=240)
        data_check(guest_programs, *ends[::-1], SIZES[:-1], args="-k 12", timeout=240)
        programs.pingpong("ibv_rc_pingpong", *ends, args="-n 200")
        for name in "ab":
            counters = pair.ternd.counters(name)
            for what in ("dropped", "duplicated", "reordered"):
                assert counters[f"wire_{what}"], f"{name}: no frame was {what}"
    finally:
        for name in "ab":
            pair.ternd.ask("remove-rule", nic=name, all=True)
    programs.pingpong("ibv_rc_pingpong", *ends, args="-n 100")


def test_corrupt_frames_are_not_delivered(ends, pair, guest_programs):
    pair.ternd.ask("add-rule", nic="b", what="corrupt", probability=0.02)
    try:
        data_check(guest_programs, *ends, SMALL, args="-r 2 -k 12")
        assert pair.ternd.counters("b")["wire_corrupted"]
    finally:
        pair.ternd.ask("remove-rule", nic="b", all=True)


# One of tshark's dissectors takes each RC SEND of fewer than 20 bytes for
# RPC-over-RDMA that ends too soon: it looks at the payload alone. In the native
# test_tshark.c tshark judges packets of each kind, network and padding.
TSHARK = ["tshark", "-n", "--disable-heuristic", "rpcrdma_infiniband"]


def test_capture_is_well_formed(ends, pair, capture, guest_programs):
    """tshark finds nothing malformed in a capture of all kinds of traffic."""
    with pair.ternd.capture("a", capture):
        data_check(guest_programs, *ends, [s for s in SIZES if s <= 1048576])
        data_check(guest_programs, *ends, SMALL, family=6)
        programs.rping(*ends)
        programs.pingpong("ibv_ud_pingpong", *ends, args="-s 900 -n 100")
        ends[0].vm.run(f"ping -c 3 -i 0.1 {ends[1].address}")
    bad = subprocess.run([*TSHARK, "-r", capture, "-o", "ip.check_checksum:TRUE", "-Y",
                          "_ws.malformed || _ws.short || ip.checksum.status == 0"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert bad.returncode == 0, bad.stderr
    assert not bad.stdout, bad.stdout[:3000]
    roce = subprocess.run([*TSHARK, "-r", capture, "-Y", "infiniband.bth", "-T", "fields",
                           "-e", "infiniband.bth.opcode"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True).stdout.split()
    # SEND, WRITE, READ request and response, acknowledge, UD.
    assert {"4", "10", "12", "16", "17", "100"} <= set(roce)


def test_loopback(ends, guest_programs):
    a = ends[0]
    data_check(guest_programs, a, a, SMALL)
    programs.pingpong("ibv_rc_pingpong", a, a, args="-n 100")


@pytest.mark.parametrize("path", ["wire", "loopback"])
def test_errors(ends, guest_programs, path):
    """Each fault of a request: the same on both sides, on the wire and inside the NIC."""
    client, server = ends if path == "wire" else (ends[0], ends[0])
    port = next(programs._ports)
    one = f"{guest_programs}/rdma_errors -p {port} -d"
    s = server.vm.spawn(f"{one} {server.ibdev} -g {server.gid_index(server.address)}", 180)
    out = client.vm.run(f"{one} {client.ibdev} -g {client.gid_index(client.address)} "
                        f"{server.address}", 180, check=False)
    if out.code > 1:
        s.kill()
    end = s.wait(check=False)
    assert out.code == 0 and end.code == 0, f"{out.output}\n{end.output}"
