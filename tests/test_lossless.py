# SPDX-License-Identifier: GPL-2.0-or-later
"""Lossless Ethernet: DCB netlink, ethtool and devlink show what was set, and do it."""

import json
import re
import subprocess

import pytest

from ternlab import paths, programs


@pytest.fixture(scope="module")
def tool():
    """tern-dcb, as guests see it."""
    subprocess.run(["make", "-s", "-C", paths.TOP / "tools"], check=True)
    return "/tern/build/tools/tern-dcb"


@pytest.fixture
def port(ends):
    """The first NIC; nobody changes its link meanwhile."""
    nic = ends[0]
    changes = f"cat /sys/class/net/{nic.netdev}/carrier_changes"
    before = nic.vm.out(changes)
    yield nic
    assert nic.vm.out(changes) == before


def dcb(nic, what, words, check=True):
    return nic.vm.run(f"dcb {what} {words}".replace("DEV", f"dev {nic.netdev}"), check=check)


def shown(nic, what):
    return json.loads(nic.vm.out(f"dcb -j -N {what} show dev {nic.netdev}"))


def counter(nic, name):
    return int(re.search(rf"\s{name}: (\d+)", nic.vm.out(f"ethtool -S {nic.netdev}")).group(1))


def test_ets(port):
    dcb(port, "ets", "set DEV willing on tc-tsa all:strict prio-tc 0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7")
    dcb(port, "ets", "set DEV tc-tsa 0:ets 1:ets 2:ets tc-bw 0:20 1:30 2:50")
    got = shown(port, "ets")
    assert got["willing"] is True
    assert got["prio_tc"] == [1, 0, 2, 3, 4, 5, 6, 7]
    assert got["tc_bw"][:3] == [20, 30, 50]
    assert got["tc_tsa"] == ["ets"] * 3 + ["strict"] * 5
    assert dcb(port, "ets", "set DEV tc-bw 2:49", check=False).code
    assert dcb(port, "ets", "set DEV tc-tsa 3:cb-shaper", check=False).code
    assert shown(port, "ets") == got
    dcb(port, "ets", "set DEV willing off tc-tsa all:strict tc-bw all:0 prio-tc all:0")


def test_maxrate(port):
    dcb(port, "maxrate", "set DEV tc-maxrate 0:1Mbit 7:40Gbit")
    got = shown(port, "maxrate")
    assert dcb(port, "maxrate", "set DEV tc-maxrate 0:1500Kbit", check=False).code
    assert shown(port, "maxrate") == got
    dcb(port, "maxrate", "set DEV tc-maxrate all:0")
    assert shown(port, "maxrate") != got


def test_pfc_excludes_pause(port):
    assert shown(port, "pfc")["pfc_cap"] == 8
    dcb(port, "pfc", "set DEV prio-pfc all:off 3:on 5:on delay 0x4000")
    got = shown(port, "pfc")
    assert [i for i, on in enumerate(got["prio_pfc"]) if on] == [3, 5]
    assert got["delay"] == 0x4000
    assert dcb(port, "pfc", "set DEV macsec-bypass on", check=False).code
    assert port.vm.run(f"ethtool -A {port.netdev} tx on rx on", check=False).code
    buffers = shown(port, "buffer")
    assert buffers["prio_buffer"] == [0, 0, 0, 1, 0, 1, 0, 0]
    assert sum(buffers["buffer_size"]) == buffers["total_size"]
    dcb(port, "pfc", "set DEV prio-pfc all:off delay 32768")
    port.vm.run(f"ethtool -A {port.netdev} tx on rx on")
    assert dcb(port, "pfc", "set DEV prio-pfc 3:on", check=False).code
    assert "RX:\t\ton" in port.vm.out(f"ethtool -a {port.netdev}")
    port.vm.run(f"ethtool -A {port.netdev} tx off rx off")


@pytest.mark.parametrize("entry", ["ethtype-prio 0x8915:3", "dgram-port-prio 4791:4",
                                   "dscp-prio 26:3 46:5", "pcp-prio 5nd:2", "default-prio 1"])
def test_app(port, entry):
    dcb(port, "app", f"add DEV {entry}")
    try:
        out = port.vm.out(f"dcb -N app show dev {port.netdev}")
        for word in entry.split()[1:]:
            assert word.replace("0x8915", "8915").replace("nd:", ":") in out
        assert dcb(port, "app", f"add DEV {entry}", check=False).code
    finally:
        dcb(port, "app", f"del DEV {entry}")
    assert entry.split()[0] not in port.vm.out(f"dcb app show dev {port.netdev}")


@pytest.mark.parametrize("entry", ["ethtype-prio 0x8906:3", "stream-port-prio 3260:4",
                                   "dgram-port-prio 53:1"])
def test_app_refused(port, entry):
    assert dcb(port, "app", f"add DEV {entry}", check=False).code
    assert entry.split()[0] not in port.vm.out(f"dcb app show dev {port.netdev}")


def test_trust_and_rewrite(port):
    for order in ("dscp", "pcp dscp", "dscp pcp", "pcp"):
        dcb(port, "apptrust", f"set DEV order {order}")
        assert order in port.vm.out(f"dcb apptrust show dev {port.netdev}")
    assert dcb(port, "apptrust", "set DEV order ethtype", check=False).code
    dcb(port, "rewr", "add DEV prio-dscp 3:26 prio-pcp 2:5nd")
    out = port.vm.out(f"dcb -N rewr show dev {port.netdev}")
    assert "3:26" in out and "2:5" in out
    dcb(port, "rewr", "flush DEV")
    assert "3:26" not in port.vm.out(f"dcb -N rewr show dev {port.netdev}")


def test_dcbx_is_the_hosts(port):
    dcb(port, "dcbx", "set DEV host ieee")
    out = port.vm.out(f"dcb dcbx show dev {port.netdev}")
    assert "host" in out and "ieee" in out
    assert dcb(port, "dcbx", "set DEV host cee", check=False).code


PROBE = r'''
import socket, struct, sys
name, kind, length = sys.argv[1].encode() + b"\0", int(sys.argv[2]), int(sys.argv[3])
def attribute(kind, data):
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
body = struct.pack("BBH", 0, 20, 0) + attribute(1, name)
body += attribute(13, attribute(kind, bytes(length)))
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.settimeout(10)
s.send(struct.pack("IHHII", 16 + len(body), 79, 5, 1, 0) + body)
answer = s.recv(65536)
assert struct.unpack_from("H", answer, 4)[0] in (2, 79), answer
'''


# ieee_ets, ieee_pfc, ieee_maxrate, ieee_qcn, dcbnl_buffer: type and bytes
@pytest.mark.parametrize("kind,length", [(1, 59), (2, 136), (6, 64), (7, 360), (10, 44)])
def test_attribute_lengths(port, kind, length):
    port.vm.run(f"cat > /tmp/probe.py << 'END'\n{PROBE}\nEND")
    for bytes_ in (0, 1, length - 1, length, length + 1, 4000):
        port.vm.run(f"python3 /tmp/probe.py {port.netdev} {kind} {bytes_}")
    # Zeroes are no state to leave behind.
    dcb(port, "pfc", "set DEV delay 32768")


def has_qcn(nic, tool):
    return not nic.vm.run(f"{tool} qcn show dev {nic.netdev}", check=False).code


def test_qcn(port, tool):
    assert has_qcn(port, tool)
    port.vm.run(f"{tool} qcn set dev {port.netdev} prio 3 enable on ai-rate 50 gd 7")
    rows = json.loads(port.vm.out(f"{tool} qcn show dev {port.netdev} -j"))
    assert rows[3]["enable"] is True and rows[3]["ai-rate"] == 50 and rows[3]["gd"] == 7
    assert rows[2]["enable"] is False
    assert port.vm.run(f"{tool} qcn set dev {port.netdev} prio 3 gd 16", check=False).code == 1
    assert json.loads(port.vm.out(f"{tool} qcn show dev {port.netdev} -j")) == rows
    assert len(json.loads(port.vm.out(f"{tool} qcn stats dev {port.netdev} -j"))) == 8
    port.vm.run(f"{tool} qcn set dev {port.netdev} prio 3 enable off ai-rate 40 gd 8")


@pytest.mark.parametrize("name,value,bad", [
    ("pfc_storm_limit", "200", None), ("pfc_storm_restore", "300", "0"),
    ("pfc_storm_action", "drop", "nothing"),
    ("np_cnp_dscp", "46", "64"), ("np_cnp_prio", "5", "8"),
    ("rp_initial_alpha_value", "1023", "1025"), ("rp_dce_tcp_rtt", "60", "0"),
    ("rp_clamp_tgt_rate", "true", None)])
def test_devlink_parameters(port, name, value, bad):
    device = f"pci/{port.slot}"

    def read():
        out = json.loads(port.vm.out(f"devlink -j dev param show {device} name {name}"))
        return str(out["param"][device][0]["values"][0]["value"]).lower()

    def write(new, check=True):
        return port.vm.run(f"devlink dev param set {device} name {name} value {new} "
                           "cmode runtime", check=check)

    before = read()
    write(value)
    assert read() == value
    if bad is not None:
        assert write(bad, check=False).code
        assert read() == value
    write(before)
    assert read() == before


PAUSE = r'''
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
times = [0xffff if int(sys.argv[2]) >> p & 1 else 0 for p in range(8)]
frame = bytes.fromhex("0180c2000001020000000001") + struct.pack(">HHH8H", 0x8808, 0x0101,
                                                                  int(sys.argv[2]), *times)
for _ in range(int(sys.argv[3])):
    s.send(frame.ljust(60, b"\0"))
'''


def test_received_pauses_are_counted(port, ends):
    peer = ends[1]
    dcb(port, "pfc", "set DEV prio-pfc all:off 3:on")
    before = counter(port, "rx_prio3_pause"), counter(port, "rx_prio0_pause")
    peer.vm.run(f"cat > /tmp/pause.py << 'END'\n{PAUSE}\nEND")
    peer.vm.run(f"python3 /tmp/pause.py {peer.netdev} 8 5")
    assert counter(port, "rx_prio3_pause") - before[0] == 5
    assert counter(port, "rx_prio0_pause") == before[1]
    statistics = json.loads(port.vm.out(f"dcb -s -j -N pfc show dev {port.netdev}"))
    assert statistics["indications"][3] >= 5
    # Priority 0 goes on meanwhile.
    port.vm.run(f"ping -c 3 -i 0.1 -W 5 {peer.address}")
    dcb(port, "pfc", "set DEV prio-pfc all:off")


def set_much(nic, tool):
    """Something of everything; returns what undoes it."""
    dev, pci = f"dev {nic.netdev}", f"pci/{nic.slot}"
    nic.vm.run(
        f"dcb pfc set {dev} prio-pfc 3:on delay 20000 && dcb ets set {dev} prio-tc 3:1 6:2 "
        f"tc-tsa 0:ets 1:ets tc-bw 0:30 1:70 && dcb maxrate set {dev} tc-maxrate 2:5Gbit && "
        f"dcb buffer set {dev} prio-buffer 3:2 buffer-size 0:600KB 1:0 2:300KB && "
        f"dcb app add {dev} dscp-prio 26:3 dgram-port-prio 4791:3 pcp-prio 5nd:2 default-prio 1 && "
        f"dcb apptrust set {dev} order dscp pcp && "
        f"dcb rewr add {dev} prio-dscp 3:26 prio-pcp 2:5nd && "
        f"{tool} qcn set {dev} prio 3 enable on ai-rate 50 && "
        f"devlink dev param set {pci} name np_cnp_dscp value 46 cmode runtime")
    return (f"dcb buffer set {dev} prio-buffer all:0 buffer-size all:0; "
            f"dcb pfc set {dev} prio-pfc all:off delay 32768; "
            f"dcb ets set {dev} tc-tsa all:strict tc-bw all:0 prio-tc all:0; "
            f"dcb maxrate set {dev} tc-maxrate all:0; "
            f"dcb app del {dev} dscp-prio 26:3 dgram-port-prio 4791:3 pcp-prio 5nd:2 "
            f"default-prio 1; dcb apptrust set {dev} order pcp; "
            f"dcb rewr del {dev} prio-dscp 3:26 prio-pcp 2:5nd; "
            f"{tool} qcn set {dev} prio 3 enable off ai-rate 40; "
            f"devlink dev param set {pci} name np_cnp_dscp value 48 cmode runtime")


def everything(nic, tool, where=""):
    """What dcb, tern-dcb and devlink show of a NIC."""
    dev = f"dev {nic.netdev}"
    shows = [f"dcb -N {what} show {dev}"
             for what in ("pfc", "ets", "maxrate", "buffer", "app", "apptrust", "rewr")]
    shows.append(f"{tool} qcn show {dev}")
    return nic.vm.out(f"{where} sh -c '{' && '.join(shows)}'") + \
        nic.vm.out(f"devlink dev param show pci/{nic.slot} name np_cnp_dscp")


def test_settings_outlive_a_reset(ends, tool):
    port = ends[0]
    fresh = everything(port, tool)
    undo = set_much(port, tool)
    before = everything(port, tool)
    assert before != fresh
    port.vm.run(f"echo 1 > /sys/bus/pci/devices/{port.slot}/reset")
    assert everything(port, tool) == before
    port.vm.run(undo)
    assert everything(port, tool) == fresh


def test_settings_go_along_to_a_namespace(ends, tool):
    """The core keeps APP and rewrite entries by interface index, which changes here."""
    nic = ends[1]
    vm, name = nic.vm, nic.netdev
    fresh = everything(nic, tool)
    undo = set_much(nic, tool)
    before = everything(nic, tool)
    index = vm.out(f"cat /sys/class/net/{name}/ifindex")
    # Somebody else has the index there.
    vm.run(f"ip netns add other && ip -n other link add name taken index {index} type dummy && "
           f"ip link set {name} netns other")
    try:
        inside = "ip netns exec other"
        assert vm.out(f"{inside} cat /sys/class/net/{name}/ifindex") != index
        assert everything(nic, tool, inside) == before
    finally:
        vm.run(f"ip -n other link set {name} netns 1; ip netns del other")
        nic.configure(nic.address, nic.address6)
    assert everything(nic, tool) == before
    vm.run(undo)
    assert everything(nic, tool) == fresh


def guide(nic):
    """The commands of the guide in Documentation/lossless.rst, for a NIC."""
    text = (paths.TOP / "Documentation/lossless.rst").read_text()
    text = text.split(".. guide: begin")[1].split(".. guide: end")[0]
    for line in re.findall(r"^ {8}(\S.*)", text, re.MULTILINE):
        line = re.sub(r"^tern-dcb", "/tern/build/tools/tern-dcb", line)
        yield re.sub(r"\bPCI\b", nic.slot, re.sub(r"\bDEV\b", nic.netdev,
                                                   re.sub(r"\bRDMA\b", nic.ibdev, line)))


def test_guide(ends, tool):
    """Each command is taken, and what they lead to is what the guide says."""
    nic = ends[0]
    fresh = everything(nic, tool)
    dev, pci = f"dev {nic.netdev}", f"pci/{nic.slot}"
    commands = list(guide(nic))
    assert len(commands) > 25
    nic.vm.run("mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config")
    try:
        for command in commands:
            nic.vm.run(command)
        assert [i for i, on in enumerate(shown(nic, "pfc")["prio_pfc"]) if on] == [3]
        assert shown(nic, "ets")["tc_bw"][:3] == [50, 50, 0]
        assert json.loads(nic.vm.out(f"{tool} qcn show {dev} -j"))[3]["enable"] is True
        before = counter(nic, "tx_prio3_packets")
        programs.perftest("ib_write_bw", ends[1], nic, 4096, "-n 50 --tclass=104")
        assert counter(nic, "tx_prio3_packets") - before >= 50
    finally:
        nic.vm.run(
            f"dcb pfc set {dev} prio-pfc all:off; dcb apptrust set {dev} order pcp; "
            f"dcb ets set {dev} tc-tsa all:strict tc-bw all:0 prio-tc all:0; "
            f"dcb app del {dev} dscp-prio 26:3 48:6; "
            f"dcb rewr del {dev} prio-dscp 3:26; "
            f"{tool} qcn set {dev} prio 3 enable off ai-rate 40 hai-rate 400; "
            f"devlink dev param set {pci} name pfc_storm_limit value 0 cmode runtime; "
            f"echo 0 > /sys/kernel/config/rdma_cm/{nic.ibdev}/ports/1/default_roce_tos; "
            f"rmdir /sys/kernel/config/rdma_cm/{nic.ibdev}")
    assert everything(nic, tool) == fresh


def hw_counter(nic, name):
    return int(nic.vm.out(f"cat /sys/class/infiniband/{nic.ibdev}/ports/1/hw_counters/{name}"))


def test_marks_bring_notifications(ends, pair, tool):
    """Each packet that is marked is counted, and each CNP that one side sends the other obeys."""
    a, b = ends
    names = ("np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored")

    def counters():
        return [hw_counter(nic, name) for nic in ends for name in names]

    before, marked = counters(), pair.ternd.counters("b").get("wire_marked_ce", 0)
    for nic in ends:
        nic.vm.run(f"{tool} qcn set dev {nic.netdev} prio 0 enable on")
    pair.ternd.ask("add-rule", nic="b", what="mark-ce", probability=0.1)
    try:
        programs.perftest("ib_write_bw", a, b, 65536, "-n 100")
    finally:
        pair.ternd.ask("remove-rule", nic="b", all=True)
        for nic in ends:
            nic.vm.run(f"{tool} qcn set dev {nic.netdev} prio 0 enable off")
    # The counters that the kernel shows may be as old as their lifespan.
    nic.vm.run("sleep 0.1")
    change = [now - then for now, then in zip(counters(), before)]
    marked = pair.ternd.counters("b")["wire_marked_ce"] - marked
    assert marked > 100
    # a notifies, b reacts
    assert change[0] == marked and change[1] > 0 and change[2:4] == [0, 0]
    assert change[4:6] == [0, 0] and change[6] == change[1] and change[7] == 0
