# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA and TCP over the other ways from NIC to NIC: frames that are built and
checked though both NICs are in one process, and a unix stream between two."""

import pytest

from ternlab import programs
from ternlab.pair import Pair
from test_rdma import data_check

WIRES = {
    "without shortcuts": {"options": "shortcuts=off"},
    "two ternds on a stream": {"processes": 2},
}


@pytest.fixture(scope="module", params=list(WIRES))
def ends(request, lab):
    with Pair(**WIRES[request.param], **lab) as scene:
        scene.start().install()
        yield scene.nics(4200)


def test_data_is_exact(ends, guest_programs):
    data_check(guest_programs, *ends, [0, 1, 4095, 4096, 4097, 1048576], mtu=4096)
    data_check(guest_programs, *ends[::-1], [1, 65536], mtu=4096, family=6)


def test_rping(ends):
    programs.rping(*ends)


def test_perftest(ends):
    programs.perftest("ib_send_bw", *ends, 65536, "-n 100")
    programs.perftest("ib_read_bw", *ends, 65536, "-n 100")


def test_tcp(ends):
    assert programs.iperf(*ends, args="-P 2")
