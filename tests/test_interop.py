# SPDX-License-Identifier: GPL-2.0-or-later
"""tern in one VM, Linux's soft-RoCE in the other, on one wire."""

import pytest

from ternlab import programs
from test_rdma import data_check, placement_check

# Soft-RoCE on the debug kernel may need more than half a second for what is in
# flight: a local ACK timeout of 1 s (18) is no fault of either side.
TIMEOUT = 18
SIZES = [1, 2, 1000, 1023, 1024, 1025, 4096, 65536, 262144, 1048576]


@pytest.fixture(params=["tern serves", "soft-RoCE serves"])
def roles(request, mixed):
    """Server and client, both ways."""
    return mixed if request.param == "tern serves" else mixed[::-1]


def test_data_is_exact(roles, guest_programs):
    data_check(guest_programs, *roles, SIZES, args=f"-k {TIMEOUT}", timeout=180)


def test_data_is_exact_over_ipv6(roles, guest_programs):
    data_check(guest_programs, *roles, [1, 1024, 65536], family=6,
               args=f"-k {TIMEOUT}", timeout=180)


@pytest.mark.parametrize("family", [4, 6])
def test_atomic_write(roles, guest_programs, family):
    placement_check(guest_programs, *roles, family, args=f"-a -k {TIMEOUT}")


def test_flush_of_soft_roce_has_a_wrong_icrc(far, mixed, guest_programs):
    """Why FLUSH is not among what is exchanged: its ICRC covers all but the ICRC's prefix twice.

    rxe_opcode[IB_OPCODE_RC_FLUSH] names no offset of the payload (6.12, 7.3), so that the
    payload seems to begin at the BTH. When this fails soft-RoCE has been mended: take
    -a away above, and this test.
    """
    before = far.ternd.counters("second")["rx_icrc_encapsulated"]
    with pytest.raises(AssertionError):
        placement_check(guest_programs, *mixed, args="-k 14 -y 1", timeout=10)
    assert far.ternd.counters("second")["rx_icrc_encapsulated"] > before


def test_rc_pingpong(roles):
    programs.pingpong("ibv_rc_pingpong", *roles, args="-n 200")


def test_uc_pingpong(roles):
    programs.pingpong("ibv_uc_pingpong", *roles, args="-n 200")


def test_ud_pingpong(roles):
    programs.pingpong("ibv_ud_pingpong", *roles, args="-n 200 -s 900")


@pytest.mark.parametrize("family", [4, 6])
def test_rping(roles, family):
    programs.rping(*roles, family=family, args="-C 10 -v")


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_write_bw", "ib_read_bw"])
def test_perftest(roles, program):
    args = f"-n 10 -t 8 -u {TIMEOUT}"
    if program == "ib_read_bw":
        # perftest asks for as many outstanding READs as the peer's device can
        # send (soft-RoCE: 128), not for what its own can (tern: 16).
        args += " -o 16"
    for size in (1, 1048576):
        assert programs.perftest(program, *roles, size, args, timeout=180)
