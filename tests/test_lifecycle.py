# SPDX-License-Identifier: GPL-2.0-or-later
"""Coming and going: modules, devices, resets, peers; with programs open."""

import re

import pytest

from ternlab import programs
from ternlab.nic import Tern
from ternlab.vm import VM, boot


@pytest.fixture
def nics(fresh_ends):
    return fresh_ends


def reload(vm):
    Tern.unload(vm)
    Tern.load(vm)


def test_load_and_unload_20_times(pair, nics):
    a = nics[0].vm
    for _ in range(20):
        reload(a)
    Tern.find(a)


def test_unload_after_use(pair, nics, guest_programs):
    programs.pingpong("ibv_rc_pingpong", *nics, args="-n 100")
    programs.rping(*nics)
    for nic in nics:
        reload(nic.vm)


@pytest.mark.parametrize("driver", ["tern", "tern_ib"])
def test_unbind_with_a_program_open(nics, driver):
    a, b = nics
    running = programs.start_load(b, a)
    if driver == "tern":
        a.vm.run(f"echo {a.slot} > /sys/bus/pci/drivers/tern/unbind", 60)
    else:
        a.vm.run("rmmod tern_ib", 60)
    # Unbinding did not wait for the program, which may poll memory of its own
    # now and never hear of it; but it can be killed.
    programs.end_load(running)
    if driver == "tern":
        a.vm.run(f"echo {a.slot} > /sys/bus/pci/drivers/tern/bind")
    else:
        a.vm.run(f"insmod {Tern.modules(a.vm.kernel)[1]}")
    Tern.find(a.vm)


def test_function_level_reset_while_idle(pair, nics):
    a = nics[0]
    before = pair.ternd.ask("nics")["nics"][0]["host"]["resets"]
    a.vm.run(f"cd /sys/bus/pci/devices/{a.slot}; grep -q flr reset_method && echo 1 > reset")
    assert pair.ternd.ask("nics")["nics"][0]["host"]["resets"] > before
    a.vm.run(f"ping -c 3 -i 0.2 -W 5 {nics[1].address}", 30)


def test_function_level_reset_under_traffic(nics):
    a, b = nics
    running = programs.start_load(b, a)
    a.vm.run(f"echo 1 > /sys/bus/pci/devices/{a.slot}/reset", 60)
    programs.end_load(running)
    a.vm.run(f"ping -c 3 -i 0.2 -W 5 {b.address}", 30)
    nic = Tern.find(a.vm)
    nic.address, nic.address6 = a.address, a.address6
    programs.pingpong("ibv_rc_pingpong", b, nic, args="-n 100")


def test_reset_with_device_memory_mapped(nics, guest_programs):
    """The process sees zeros from then on, and the next owner nothing of what it wrote."""
    a = nics[0]
    a.vm.run("rm -f /tmp/dm-filled /tmp/dm-gone")
    holder = a.vm.spawn(f"{guest_programs}/dm_hold {a.ibdev}")
    a.vm.wait_for("test -e /tmp/dm-filled")
    a.vm.run(f"echo 1 > /sys/bus/pci/devices/{a.slot}/reset", 60)
    nic = Tern.find(a.vm)
    # All of it is to be had again, though the process still has its mapping.
    rules = f"{guest_programs}/verbs_rules {nic.ibdev} {a.gid_index(a.address)}"
    a.vm.run(f"{rules} dm_limits dm_owners")
    a.vm.run("touch /tmp/dm-gone")
    holder.wait()


def test_link_down_under_rdma_traffic(nics):
    a, b = nics
    running = programs.start_load(b, a)
    for _ in range(3):
        a.vm.run(f"ip link set {a.netdev} down; sleep 0.2; ip link set {a.netdev} up")
    programs.end_load(running)
    a.vm.run(f"ip addr replace {a.address6}/64 dev {a.netdev} nodad")
    a.gid_index(a.address)
    programs.pingpong("ibv_rc_pingpong", *nics, args="-n 100")


def test_kill_programs(nics):
    """Resources of killed programs go away, with traffic on the way."""
    a, b = nics
    for _ in range(3):
        programs.end_load(programs.start_load(b, a))
    for nic in nics:
        nic.vm.wait_for(f"! rdma resource show qp link {nic.ibdev} | grep -q 'type RC'")


def test_peer_vanishes(nics, pair, guest_programs):
    """RETRY_EXC_ERR after the right number of tries and time, then flushes."""
    a, b = nics
    retries, timeout = 3, 14
    args = f"-p 19200 -k {timeout} -y {retries} -d"
    program = f"{guest_programs}/rdma_unanswered"
    a.vm.run("rm -f /tmp/connected /tmp/vanished /tmp/flushed")
    server = b.vm.spawn(f"{program} {args} {b.ibdev} -g {b.gid_index(b.address)}")
    client = a.vm.spawn(f"{program} {args} {a.ibdev} -g {a.gid_index(a.address)} {b.address}")
    a.vm.wait_for("test -e /tmp/connected")
    pair.ternd.ask("add-rule", nic="a", what="drop", probability=1.0)
    try:
        a.vm.run("touch /tmp/vanished")
        a.vm.wait_for("test -e /tmp/flushed")
        qps = pair.ternd.ask("qps", nic="a")["qps"]
    finally:
        pair.ternd.ask("remove-rule", nic="a", all=True)
    a.vm.run("rm /tmp/flushed")
    out = client.wait().output
    programs.end_load([server])
    assert "transport retry counter exceeded" in out
    qpn, seconds = re.search(r"qpn (\d+) seconds ([\d.]+)", out).groups()
    assert next(q for q in qps if q["qpn"] == int(qpn))["retransmissions"] >= retries
    # A try waits 4.096 us * 2^timeout at least, by the specification up to four
    # times that; the first one is followed by the retries.
    least = (retries + 1) * 4.096e-6 * 2 ** timeout
    assert least <= float(seconds) <= 4 * least + 1


def test_nothing_leaked(pair):
    """kmemleak, once for all tests above: a scan takes half a minute, and forgets nothing."""
    if pair.a.kernel != "debug":
        pytest.skip("only the debug kernel has kmemleak")
    scans = [vm.spawn(vm.KMEMLEAK, 180) for vm in pair.vms]
    assert [scan.wait().output for scan in scans] == ["", ""]


def test_a_vm_ends_and_another_takes_its_nic(nics, pair):
    """A VM that is killed under traffic leaves a NIC that the next one can have."""
    a, b = nics
    running = programs.start_load(b, a)
    b.vm.stop()
    programs.end_load(running[1:])
    with VM("c", a.vm.kernel, terns=[pair.ternd.socket("b")]) as c:
        boot(c)
        Tern.install_provider(c)
        Tern.load(c)
        nic = Tern.find(c).configure(b.address, b.address6)
        a.vm.run("ip neigh flush all")
        programs.pingpong("ibv_rc_pingpong", a, nic, args="-n 100")
        assert not c.new_reports()
