# SPDX-License-Identifier: GPL-2.0-or-later
"""What an administrator sees: rdma resource, rdma statistic, trace points."""

import contextlib
import json
import re

import pytest

from ternlab import programs

TRACING = "/sys/kernel/tracing"


def rdma(nic, command):
    return json.loads(nic.vm.out(f"rdma -j {command}") or "[]")


def user_qps(nic):
    return [q for q in rdma(nic, f"resource show qp link {nic.ibdev}/1") if q["type"] == "RC"]


@contextlib.contextmanager
def load(ends):
    processes = programs.start_load(*ends)
    try:
        yield
    finally:
        programs.end_load(processes)


def counters(nic, counter=None):
    """Of the port, or of one counter of queue pairs."""
    if counter is None:
        return rdma(nic, f"statistic show link {nic.ibdev}/1")[0]
    found = rdma(nic, f"statistic qp show link {nic.ibdev}/1")
    return next((c for c in found if c["cntn"] == counter), None)


def messages(nic, **which):
    return counters(nic, **which)["messages_sent"]


def test_resources_tell_details(ends):
    client = ends[1]
    with load(ends):
        for kind, details in [("qp", ["sq_blocks", "rq_entries", "next_psn", "counted_apart"]),
                              ("cq", ["cqn", "entries", "eqn"]),
                              ("mr", ["key_index", "access", "device_memory"])]:
            out = client.vm.out(f"rdma -dd resource show {kind}")
            for detail in details:
                assert detail in out, out
        lqpn = user_qps(client)[0]["lqpn"]
        raw = client.vm.out(f"rdma -r resource show qp link {client.ibdev}/1 lqpn {lqpn}")
        # struct tern_qp_status, byte by byte: the first is the state, 3 for RTS.
        assert re.search(r" 3\d{80}", raw), raw


def test_counter_of_one_queue_pair(ends):
    client = ends[1]
    link = f"link {client.ibdev}/1"
    with load(ends):
        lqpn = user_qps(client)[0]["lqpn"]
        client.vm.run(f"rdma statistic qp bind {link} lqpn {lqpn}")
        found, = rdma(client, f"statistic qp show {link}")
        counter = found["cntn"]
        assert found["lqpn"] == [lqpn]
        client.vm.wait_for(f"rdma statistic qp show {link} | grep -q 'messages_sent [1-9]'")
        # It is part of what the port shows.
        assert messages(client) >= messages(client, counter=counter)
        client.vm.run(f"rdma statistic qp unbind {link} cntn {counter} lqpn {lqpn}")
        assert counters(client, counter) is None
        # A queue pair that does not exist is refused, and a counter that does not.
        assert client.vm.run(f"rdma statistic qp bind {link} lqpn 16000000", check=False).code
        assert client.vm.run(f"rdma statistic qp bind {link} lqpn {lqpn} cntn 999",
                             check=False).code
        # Destroyed while it is bound: nothing of what it counted is lost.
        client.vm.run(f"rdma statistic qp bind {link} lqpn {lqpn}")
        before = messages(client)
    assert messages(client) >= before
    assert not rdma(client, f"statistic qp show {link}")


def test_counters_by_type(ends):
    client = ends[1]
    link = f"link {client.ibdev}/1"
    before = messages(client)
    client.vm.run(f"rdma statistic qp set {link} auto type on")
    try:
        with load(ends):
            client.vm.wait_for(f"rdma statistic qp show {link} | grep -q 'messages_sent [1-9]'")
            found, = rdma(client, f"statistic qp show {link}")
            assert found["lqpn"] == [user_qps(client)[0]["lqpn"]]
    finally:
        client.vm.run(f"rdma statistic qp set {link} auto off")
    assert messages(client) > before


@pytest.fixture
def traced(ends):
    vm = ends[1].vm
    vm.run(f"mountpoint -q {TRACING} || mount -t tracefs nodev {TRACING}; "
           f"cd {TRACING} && echo > trace && echo 1 > events/tern/enable && "
           "echo 1 > events/tern_ib/enable")
    yield ends[1]
    vm.run(f"cd {TRACING} && echo 0 > events/tern/enable && echo 0 > events/tern_ib/enable && "
           "echo > trace")


def test_trace_points(traced, guest_programs):
    nic = traced
    nic.vm.run(f"{guest_programs}/verbs_rules {nic.ibdev} {nic.gid_index(nic.address)} async "
               "atomic_errors")
    out = nic.vm.out(f"cat {TRACING}/trace")
    # CREATE_QP, and how long it took.
    assert re.search(r"tern_command: \S+ opcode=0x300 number=\d+ err=0 status=0 syndrome=0 "
                     r"duration=\d+ ns", out), out[-3000:]
    assert re.search(r"tern_ib_qp_state: \S+ qpn=\d+ RTR -> RTS", out)
    assert re.search(r"tern_ib_qp_state: \S+ qpn=\d+ RESET -> INIT", out)
    assert re.search(r"tern_event: \S+ type=0x1\d subtype=0 number=\d+", out)
    assert re.search(r"tern_ib_async_event: \S+ event=\w+ number=\d+", out)
