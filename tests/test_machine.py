# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens to the machine: sleep, reboot, errors of its bus, plugs, the end of ternd."""

import re
import struct
import time

import pytest

from ternlab import dmesg, programs, watch
from ternlab.nic import Tern
from ternlab.ternd import Ternd
from ternlab.vm import VM, boot

UNCORRECTABLE_FATAL = 0x00040000	# malformed TLP
UNCORRECTABLE_NONFATAL = 0x00001000	# poisoned TLP


@pytest.fixture
def nics(fresh_ends):
    return fresh_ends


def returned(nic, again=False):
    """The NIC once more, after its driver had to start over; again: its netdev is a new one."""
    nic.vm.wait_for("ls /sys/bus/pci/drivers/tern/0*/infiniband/tern_*", 30)
    new = Tern.find(nic.vm)
    if again:
        return new.configure(nic.address, nic.address6)
    new.address, new.address6 = nic.address, nic.address6
    return new


def works(a, b):
    a.vm.run(f"ping -c 3 -i 0.2 -W 5 {b.address}", 30)
    programs.pingpong("ibv_rc_pingpong", b, a, args="-n 100")


def sleep(vm, level="platform", seconds=1):
    """As far into suspend-to-idle as the level goes, and back."""
    if vm.run("test -e /sys/power/pm_test", check=False).code:
        pytest.skip(f"kernel {vm.kernel} cannot sleep")
    return vm.spawn(f"echo {seconds} > /sys/module/suspend/parameters/pm_test_delay; "
                    f"cd /sys/power; echo {level} > pm_test; echo s2idle > mem_sleep; echo mem > state", 60)


@pytest.mark.parametrize("loaded", [False, True], ids=["idle", "loaded"])
def test_sleep(nics, loaded):
    a, b = nics
    running = programs.start_load(b, a) if loaded else []
    sleep(a.vm).wait()
    programs.end_load(running)
    # Devices were put to sleep: the log says so; and nothing was said of ours.
    log = a.vm.log()
    assert "PM: suspend entry" in log
    assert "should not be sleeping" not in log
    works(returned(a), b)


def test_sleep_again_and_again(nics):
    a, b = nics
    for _ in range(5):
        sleep(a.vm, "devices", 0).wait()
        a = returned(a)
    works(a, b)


def inject(nic, bits):
    """An AER error of the NIC, by the kernel's own injector."""
    vm = nic.vm
    if vm.run("modprobe aer_inject 2> /dev/null; test -e /dev/aer_inject", check=False).code:
        pytest.skip(f"kernel {vm.kernel} cannot inject AER errors")
    domain, bus, device, function = [int(x, 16) for x in re.split("[:.]", nic.slot)]
    error = struct.pack("<BBBxIIIIIII", bus, device, function, bits, 0, 0, 0, 0, 0, domain)
    octal = "".join(f"\\{byte:03o}" for byte in error)
    vm.run(f"printf '{octal}' > /dev/aer_inject", 60)


@pytest.mark.parametrize("bits", [UNCORRECTABLE_NONFATAL, UNCORRECTABLE_FATAL],
                         ids=["nonfatal", "fatal"])
def test_bus_error(nics, pair, bits):
    a, b = nics
    # Whatever was saved of config space for such a case, a reset has used up.
    a.vm.run(f"echo flr > /sys/bus/pci/devices/{a.slot}/reset_method; "
             f"echo 1 > /sys/bus/pci/devices/{a.slot}/reset")
    a = returned(a)
    running = programs.start_load(b, a)
    resets = pair.ternd.ask("nics")["nics"][0]["host"]["resets"]
    inject(a, bits)
    a.vm.wait_for("dmesg | grep -q 'AER: device recovery successful'", 30)
    programs.end_load(running)
    fatal = bits == UNCORRECTABLE_FATAL
    assert (pair.ternd.ask("nics")["nics"][0]["host"]["resets"] > resets) == fatal
    works(returned(a), b)
    a.vm.run("dmesg -C")


def test_remove_and_rescan_under_load(nics):
    """The function goes from the bus, and comes back, with programs open."""
    a, b = nics
    running = programs.start_load(b, a)
    a.vm.run(f"echo 1 > /sys/bus/pci/devices/{a.slot}/remove", 60)
    a.vm.run(f"test ! -e /sys/bus/pci/devices/{a.slot}")
    programs.end_load(running)
    a.vm.run("echo 1 > /sys/bus/pci/rescan")
    works(returned(a, again=True), b)


@pytest.fixture
def alone(lab):
    """A VM, and a ternd that a test may end. It boots for each test: on a fast kernel."""
    with Ternd(["a"], ["--cable", "a=a,b=a"], lab["build"]) as ternd:
        ternd.start()
        with VM("a", "stock", terns=[ternd.socket("a")], native=True) as vm:
            boot(vm)
            Tern.install_provider(vm)
            Tern.load(vm)
            nic = Tern.find(vm).configure("192.0.2.1", "fd00::1")
            nic.ternd = ternd
            yield nic


def test_reboot(alone):
    """When the machine goes down the device is left quiet, whatever was going on."""
    vm, ternd = alone.vm, alone.ternd
    programs.start_load(alone, alone)
    assert ternd.ask("qps", nic="a")["qps"]
    assert ternd.ask("nics")["nics"][0]["host"]["bus_master"]
    # It stays, stopped, so that its last state can be seen.
    vm.qmp("set-action", reboot="shutdown", shutdown="pause")
    vm.spawn("busybox reboot -f")
    deadline = time.monotonic() + 60
    while vm.qmp("query-status")["status"] != "shutdown":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    watch.remove(vm)
    host = ternd.ask("nics")["nics"][0]["host"]
    assert host["attached"] and not host["bus_master"]
    assert not ternd.ask("qps", nic="a")["qps"]
    console = vm.console.read_text(errors="replace")
    assert "reboot: Restarting system" in console
    assert not dmesg.reports(console)
    # Going down is no fault of the device.
    assert "the device is dead" not in console


@pytest.mark.xfail(strict=True, reason="QEMU's vfio-user-pci aborts when it is unplugged")
def test_unplug(alone):
    """device_del: the guest lets the NIC go, and the VM goes on. (Seen with QEMU 11.1.3:
    hw/vfio-user/pci.c takes the pending bits' memory region out of one that is gone.)"""
    vm = alone.vm
    vm.qmp("device_del", id="tern0")
    try:
        vm.wait_for(f"test ! -e /sys/bus/pci/devices/{alone.slot}", 30)
        vm.run("sleep 1")
    finally:
        if not vm.running():
            watch.remove(vm)


def kill(ternd):
    """The end of ternd that nobody planned."""
    watch.remove(ternd)
    ternd.process.kill()
    ternd.process.wait()
    ternd.process = None


def test_ternd_dies(alone):
    """The VM goes on without its NIC; the next one has it again, of another ternd."""
    vm, ternd = alone.vm, alone.ternd
    running = programs.start_load(alone, alone)
    kill(ternd)
    vm.wait_for("dmesg | grep -q 'tern.*the device is dead: its registers read as all ones'", 30)
    programs.end_load(running)
    # Whoever still wants something of it is refused, at once.
    vm.run(f"ip link set {alone.netdev} down; ip link set {alone.netdev} up; "
           f"ethtool -S {alone.netdev}; ibv_devinfo; ibv_rc_pingpong -d {alone.ibdev}", 20, check=False)
    ternd.start()
    assert not ternd.ask("nics")["nics"][0]["host"]["attached"]
    Tern.unload(vm)
    assert not vm.new_reports()
    vm.stop()
    vm.start().wait_ready()
    Tern.install_provider(vm)
    Tern.load(vm)
    nic = Tern.find(vm).configure(alone.address, alone.address6)
    programs.pingpong("ibv_rc_pingpong", nic, nic, args="-n 100")


def test_ternd_dies_while_the_machine_sleeps(alone):
    """What does not start again is dead: that is said, nothing hangs, and it can be removed."""
    vm = alone.vm
    asleep = sleep(vm, "devices", 5)
    deadline = time.monotonic() + 30
    # Asleep is who is no bus master any more.
    while alone.ternd.ask("nics")["nics"][0]["host"]["bus_master"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    kill(alone.ternd)
    asleep.wait(check=False)
    log = vm.log()
    assert "the device did not start again: -5" in log
    assert "the device is dead" in log
    vm.run(f"test -e /sys/class/net/{alone.netdev} && test ! -e /sys/class/infiniband/{alone.ibdev}")
    assert vm.run(f"ip link set {alone.netdev} down; ip link set {alone.netdev} up", check=False).code
    Tern.unload(vm)
