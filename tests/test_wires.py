# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA and TCP over the other ways from NIC to NIC: frames that are built and
checked though both NICs are in one process, and a unix stream between two."""

import pytest

from ternlab import programs
from test_rdma import data_check


def set_mtu(nics, mtu):
    for nic in nics:
        nic.vm.run(f"ip link set {nic.netdev} mtu {mtu}")


@pytest.fixture(scope="module")
def whole_frames(pair, ends):
    """The usual pair, all frames built whole."""
    for name in "ab":
        pair.ternd.ask("shortcuts", nic=name, on=False)
    set_mtu(ends, 4200)
    yield ends
    set_mtu(ends, 1500)
    for name in "ab":
        pair.ternd.ask("shortcuts", nic=name, on=True)


@pytest.fixture(scope="module")
def two_ternds(far):
    return far.nics(4200)


@pytest.fixture(scope="module", params=["whole_frames", "two_ternds"])
def ends_of_wire(request):
    return request.getfixturevalue(request.param)


def test_data_is_exact(ends_of_wire, guest_programs):
    data_check(guest_programs, *ends_of_wire, [0, 1, 4095, 4096, 4097, 1048576], mtu=4096)
    data_check(guest_programs, *ends_of_wire[::-1], [1, 65536], mtu=4096, family=6)


def test_rping(ends_of_wire):
    programs.rping(*ends_of_wire)


def test_perftest(ends_of_wire):
    programs.perftest("ib_send_bw", *ends_of_wire, 65536, "-n 100")
    programs.perftest("ib_read_bw", *ends_of_wire, 65536, "-n 100")


def test_tcp(ends_of_wire):
    assert programs.iperf(*ends_of_wire, args="-P 2")
