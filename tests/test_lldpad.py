# SPDX-License-Identifier: GPL-2.0-or-later
"""lldpad, by IEEE DCBX, on both ends of a wire: what one is told the other takes over."""

import json

import pytest

TC = "tsa=0:ets,1:ets,2:strict,3:strict,4:strict,5:strict,6:strict,7:strict"
MAP = "up2tc=0:0,1:0,2:0,3:1,4:0,5:0,6:2,7:2 tcbw=40,60,0,0,0,0,0,0"


def shown(nic, what):
    return json.loads(nic.vm.out(f"dcb -j -N {what} show dev {nic.netdev}"))


def settings(nic):
    return [shown(nic, what) for what in ("ets", "pfc", "app")]


def tell(nic, tlv, words):
    """What lldptool sets; it exits with an error where one of the words is not known."""
    return nic.vm.out(f"lldptool -T -i {nic.netdev} -V {tlv} {words}")


def comes_to(nic, what, words):
    """Waits until dcb shows it: lldpad sends when something changes, and each 30 s."""
    nic.vm.wait_for(f"dcb -N {what} show dev {nic.netdev} | grep -q '{words}'", 60)


@pytest.fixture
def lldpads(ends):
    """Both NICs, with an lldpad that begins with nothing; the settings are put back."""
    before = [settings(nic) for nic in ends]
    for nic in ends:
        nic.vm.run("rm -rf /var/lib/lldpad; mkdir -p /var/lib/lldpad; lldpad -d")
        nic.vm.wait_for("lldptool -p")
        nic.vm.run(f"lldptool -L -i {nic.netdev} adminStatus=rxtx")
    yield ends
    for nic in ends:
        dev = f"dev {nic.netdev}"
        nic.vm.run("kill $(pidof lldpad)")
        nic.vm.wait_for("! pidof lldpad")
        nic.vm.run(f"dcb pfc set {dev} prio-pfc all:off delay 32768; "
                   f"dcb ets set {dev} willing off tc-tsa all:strict tc-bw all:0 pg-bw all:0 "
                   f"prio-tc all:0 reco-tc-tsa all:strict reco-tc-bw all:0 reco-prio-tc all:0; "
                   f"dcb app del {dev} dgram-port-prio 4791:3 || :")
    assert [settings(nic) for nic in ends] == before


def test_the_willing_end_follows(lldpads):
    teacher, pupil = lldpads
    tell(teacher, "ETS-CFG", f"enableTx=yes willing=no {TC} {MAP}")
    tell(teacher, "ETS-REC", f"enableTx=yes {TC} {MAP}")
    tell(teacher, "PFC", "enableTx=yes willing=no enabled=3")
    tell(teacher, "APP", "enableTx=yes app=3,3,4791")
    tell(pupil, "ETS-CFG", "enableTx=yes willing=yes")
    tell(pupil, "PFC", "enableTx=yes willing=yes")
    tell(pupil, "APP", "enableTx=yes")
    comes_to(pupil, "pfc", "3:on")
    comes_to(pupil, "ets", "prio-tc 0:0 1:0 2:0 3:1")
    comes_to(pupil, "app", "dgram-port-prio 4791:3")
    for nic in lldpads:
        assert [i for i, on in enumerate(shown(nic, "pfc")["prio_pfc"]) if on] == [3]
        ets = shown(nic, "ets")
        assert ets["tc_bw"][:2] == [40, 60] and ets["tc_tsa"] == ["ets"] * 2 + ["strict"] * 6
        assert ets["prio_tc"] == [0, 0, 0, 1, 0, 0, 2, 2]
        assert nic.vm.out(f"dcb -N app show dev {nic.netdev} dgram-port-prio").split() == \
            ["dgram-port-prio", "4791:3"]
        assert nic.vm.out(f"dcb dcbx show dev {nic.netdev}").split() == ["host", "ieee"]
    # What the neighbour says, as either end heard it.
    assert "PFC enabled: 3" in pupil.vm.out(f"lldptool -t -n -i {pupil.netdev}")

    tell(teacher, "PFC", "enabled=4,5")
    comes_to(pupil, "pfc", "3:off 4:on 5:on")
    tell(teacher, "PFC", "enabled=none")
    comes_to(pupil, "pfc", "3:off 4:off 5:off")
