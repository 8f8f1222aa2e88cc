# SPDX-License-Identifier: GPL-2.0-or-later
"""Three machines on a switch of ternd's: incast in the settings of make demo-lossless, and
what is on the wire meanwhile, decoded by what shares nothing with the device model. And
what takes a slow link: a pause that lasts."""

import dataclasses
import json
import struct

import pytest

import roce_decoder
from ternlab import incast, lossless
from ternlab.incast import SETTINGS, Incast

SECONDS = 4
CNP_DSCP = 48
PFC_FRAME = bytes.fromhex("0180c2000001"), bytes.fromhex("88080101")
ECN, ECT, CE = 3, (1, 2), 3
ICMP = 1


@dataclasses.dataclass
class Seen:
    """A frame of a capture: when, how it begins, and the RoCE packet in it or None."""
    ns: int
    frame: bytes
    packet: roce_decoder.Packet


@pytest.fixture(scope="module")
def scene(lab):
    with Incast(**lab, slow=True) as machines:
        machines.start().install()
        yield machines


@pytest.fixture(scope="module")
def nics(scene):
    found = scene.nics()
    for nic in found:
        nic.vm.run(" && ".join(scene.commands(nic)))
    return found


@pytest.fixture(scope="module")
def runs(scene, nics, tmp_path_factory):
    """Of each setting the result, and what was on the wires of a, which receives, and of b.
    b pings a meanwhile, in priority 0."""
    directory = tmp_path_factory.mktemp("captures")
    found = {}
    for setting in SETTINGS:
        files = [directory / f"{setting.priority}-{name}" for name in "ab"]
        ping = nics[1].vm.spawn(f"ping -q -i 0.002 {nics[0].address}", 60)
        try:
            with scene.ternd.capture("a", files[0]), scene.ternd.capture("b", files[1]):
                result = scene.run(nics, setting, SECONDS)
        finally:
            ping.kill("INT")
            ping.wait(check=False)
        found[setting.name] = result, *(list(seen_in(file)) for file in files)
    return found


def seen_in(file):
    """Each frame of a capture, without the payload: there are tens of thousands."""
    for ns, frame in roce_decoder.timed_frames(file):
        packet = roce_decoder.decode(frame)
        if packet is not None:
            packet.payload = b""
        yield Seen(ns, frame[:64], packet)


def dscps(seen):
    return {s.packet.traffic_class >> 2 for s in seen}


def is_data(seen):
    """A WRITE's, which goes to the receiver."""
    return seen.packet is not None and 0x06 <= seen.packet.opcode <= 0x0B


def is_answer(seen):
    return seen.packet is not None and seen.packet.opcode == 0x11


def is_cnp(seen):
    return seen.packet is not None and seen.packet.opcode == roce_decoder.CNP


def test_effects(runs):
    results = [runs[setting.name][0] for setting in SETTINGS]
    missing = [what for what, so in lossless.effects(results) if not so]
    assert not missing, f"{missing}\n{lossless.table(results)}"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_requests_and_responses_have_the_dscp(runs, setting):
    _, *wires = runs[setting.name]
    for wire in wires:
        assert dscps(filter(is_data, wire)) == {setting.priority * 8}
        assert dscps(filter(is_answer, wire)) == {setting.priority * 8}
        assert all(s.packet.vlan is None for s in wire if s.packet)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_ecn_bits(runs, setting):
    """b's data says that it may be marked where ECN is on; some of it came to a marked."""
    result, at_a, at_b = runs[setting.name]
    sent = {s.packet.traffic_class & ECN for s in at_b if is_data(s)}
    came = [s.packet.traffic_class & ECN for s in at_a if is_data(s)]
    assert not any(s.packet.traffic_class & ECN for s in at_a if is_answer(s) or is_cnp(s))
    if setting.ecn:
        assert len(sent) == 1 and sent <= set(ECT)
        assert came.count(CE) == result.counters["np_ecn_marked_roce_packets"] > 0
    else:
        assert sent == {0} == set(came)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.ecn], ids=lambda s: s.name)
def test_cnps(runs, setting):
    result, at_a, _ = runs[setting.name]
    cnps = [s for s in at_a if is_cnp(s)]
    assert len(cnps) == result.counters["np_cnp_sent"] == result.counters["rp_cnp_handled"]
    assert dscps(cnps) == {CNP_DSCP}
    last = {}
    for cnp in cnps:
        flow = cnp.packet.destination, cnp.packet.destination_qpn
        # A frame that is being sent may hold one of them up.
        if flow in last:
            least = incast.DEVLINK["np_min_time_between_cnps"] - 2 * 1500 * 8 / incast.SPEED_MBPS
            assert cnp.ns - last[flow] >= least * 1000
        last[flow] = cnp.ns
    assert len(last) == 2


def pauses(seen):
    """(ns, quanta) of what paused, or let go, one priority."""
    for s in seen:
        if s.frame[:6] == PFC_FRAME[0] and s.frame[12:16] == PFC_FRAME[1]:
            yield s.ns, struct.unpack("!H8H", s.frame[16:34]), s.frame[34:]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_pfc_frames(runs, setting):
    result, _, at_b = runs[setting.name]
    found = list(pauses(at_b))
    # With both there are few, perhaps all of them to c.
    assert len(found) <= result.pauses
    assert found or setting is not SETTINGS[1]
    for _, (classes, *quanta), rest in found:
        assert classes == 1 << setting.priority
        assert quanta.pop(setting.priority) in (0, 0xFFFF) and not any(quanta)
        assert not any(rest)


def test_a_paused_priority_stops_alone(runs):
    """While b is told to pause RDMA's priority, none of it leaves, and pings do."""
    setting, (_, _, at_b) = SETTINGS[1], runs[SETTINGS[1].name]
    mac = next(s.frame[6:12] for s in at_b if is_data(s))
    changes = [(ns, bool(quanta[setting.priority])) for ns, (_, *quanta), _ in pauses(at_b)]
    assert sum(paused for _, paused in changes) > 10
    paused, data, pings = None, 0, 0
    for s in at_b:
        if changes and s.ns >= changes[0][0]:
            ns, now = changes.pop(0)
            # It may go on until the frame that is being sent has left: two of them at most.
            paused = (paused or ns + 2 * 1500 * 8000 // incast.SPEED_MBPS) if now else None
        if paused is None or s.ns < paused or s.frame[6:12] != mac:
            continue
        if is_data(s):
            data += 1
        elif s.frame[12:14] == b"\x08\0" and s.frame[23] == ICMP:
            pings += 1
    assert data == 0
    assert pings > 10


@pytest.fixture(scope="module")
def slow(scene, nics):
    return scene.slow_nics()


# One frame of PFC that pauses priority 0 as long as can be said: 65535 times 512 bits.
PAUSE = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
s.send(bytes.fromhex("0180c20000010200000000018808010100 01ffff".replace(" ", "")).ljust(60, b"\\0"))
"""


def counter(nic, name):
    return int(nic.vm.out(f"ethtool -S {nic.netdev} | grep -w {name}:").split()[1])


@pytest.mark.parametrize("action", ["release", "drop"])
def test_storm(slow, action):
    """What is paused for longer than the limit is let go, or dropped; devlink health tells."""
    victim, bully = slow
    pci = f"pci/{victim.slot}"
    ping = f"ping -q -c 3 -i 0.2 -W 1 {bully.address}"
    reporter = f"devlink health show {pci} reporter pfc_storm"
    names = "rx_prio0_pause", "rx_prio0_pause_storms", "tx_prio0_pause_storm_drops"

    def set_all(limit, what):
        victim.vm.run(" && ".join(f"devlink dev param set {pci} name pfc_storm_{n} value {v} "
                                  "cmode runtime" for n, v in (("limit", limit), ("restore", 3000),
                                                               ("action", what))))

    set_all(200, action)
    victim.vm.run(f"dcb pfc set dev {victim.netdev} prio-pfc all:off 0:on")
    victim.vm.run(ping)
    assert "state healthy" in victim.vm.out(reporter)
    before = [counter(victim, name) for name in names]
    bully.vm.run(f"cat > /tmp/pause.py << 'END'\n{PAUSE}\nEND\npython3 /tmp/pause.py {bully.netdev}")
    try:
        victim.vm.wait_for(f"{reporter} | grep -q 'state error'", 10)
        through = victim.vm.run(ping, check=False)
        assert through.code == (0 if action == "release" else 1), through.output
        victim.vm.wait_for(f"{reporter} | grep -q 'state healthy'", 20)
        victim.vm.run(ping)
        pauses, storms, drops = (counter(victim, name) - was for name, was in zip(names, before))
        assert (pauses, storms) == (1, 1)
        assert drops == 0 if action == "release" else drops >= 3
        shown = json.loads(victim.vm.out(f"devlink -j health diagnose {pci} reporter pfc_storm"))
        assert shown["priorities"][0]["storms"] == storms + before[1]
    finally:
        victim.vm.run(f"dcb pfc set dev {victim.netdev} prio-pfc all:off")
        set_all(0, "release")
