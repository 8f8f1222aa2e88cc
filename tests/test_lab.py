# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab itself: that a fault which the kernel reports fails a test, that
commands in guests end as they should, and soft-RoCE between two VMs."""

import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import pytest

from ternlab import paths
from ternlab.agent import CommandFailed, GuestError
from ternlab.vm import VM, boot

EXPECTED = {
    "test_provoked[lockdep]": "possible circular locking dependency",
    "test_provoked[warn]": "WARNING: ",
    "test_provoked[atomic]": "BUG: scheduling while atomic|BUG: sleeping function",
    "test_provoked[ubsan]": "UBSAN: shift-out-of-bounds",
    "test_provoked[dma]": "DMA-API: ",
    "test_provoked[list]": "list_del corruption",
    "test_provoked[refcount]": "refcount_t: ",
    "test_provoked[odebug]": "ODEBUG: ",
    "test_provoked[hung]": "blocked for more than",
    "test_provoked[kasan]": "BUG: KASAN: ",
    "test_provoked_leak": "new suspected memory leaks",
    "test_provoked_panic": "Kernel panic",
}


class Panicking(VM):
    """A VM whose kernel finds no init the first times that it boots."""

    def __init__(self, times):
        super().__init__("panicking", kernel="stock", cpus=1)
        self.times = times

    def start(self):
        self.append = "rdinit=/none root=/dev/none" if self.times else ""
        self.times = max(self.times - 1, 0)
        return super().start()


def test_a_panic_while_booting_is_tried_again(capsys):
    with Panicking(1) as vm:
        vm.start().wait_ready()
        assert vm.out("uname -s") == "Linux"
        assert "boots once more" in capsys.readouterr().err


def test_a_second_panic_while_booting_fails():
    with Panicking(2) as vm, pytest.raises(GuestError, match="Kernel panic"):
        vm.start().wait_ready()


@pytest.fixture(scope="module")
def provoked(tmp_path_factory):
    """The outcome of provoke/provoked.py, by test name: None or the failure."""
    build = paths.BUILD / "provoke"
    shutil.rmtree(build, ignore_errors=True)
    shutil.copytree(paths.TOP / "tests/provoke", build)
    kernel = paths.component("debug-kernel") / "build"
    subprocess.run(["make", "-s", "-C", kernel, f"M={build}", "modules"], check=True)
    report = tmp_path_factory.mktemp("provoked") / "report.xml"
    subprocess.run([sys.executable, "-m", "pytest", "-q", f"--junitxml={report}",
                    "-p", "no:cacheprovider",
                    paths.TOP / "tests/provoke/provoked.py"],
                   stdout=subprocess.DEVNULL, check=False)
    outcome = {}
    for case in ET.parse(report).iter("testcase"):
        failure = case.find("failure")
        outcome[case.get("name")] = None if failure is None else failure.text
    return outcome


@pytest.mark.parametrize("name", EXPECTED)
def test_report_fails_a_run(provoked, name):
    failure = provoked[name]
    assert failure is not None, "the test passed although the kernel reported a fault"
    assert any(text in failure for text in EXPECTED[name].split("|")), failure


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    wire = tmp_path_factory.mktemp("w") / "w"
    with VM("a", wires=[f"@{wire}"]) as a, VM("b", wires=[str(wire)]) as b:
        boot(a, b)
        yield a, b


def test_commands(pair):
    a, _ = pair
    assert a.out("echo out; echo err >&2") == "out\nerr"
    assert a.run("exit 3", check=False).code == 3
    with pytest.raises(CommandFailed, match="exit code 3"):
        a.run("exit 3")
    big = a.out("head -c 300000 /dev/zero | tr '\\0' x")
    assert big == "x" * 300000


def test_two_commands_at_once(pair):
    a, b = pair
    start = time.monotonic()
    commands = [vm.spawn("sleep 2; echo done") for vm in (a, a, b)]
    assert [c.wait().output for c in commands] == ["done\n"] * 3
    assert time.monotonic() - start < 5


def test_command_limit(pair):
    a, _ = pair
    start = time.monotonic()
    with pytest.raises(CommandFailed, match="ended after 1 s"):
        a.run("sleep 100 & sleep 100", timeout=1)
    assert time.monotonic() - start < 10
    assert a.run("pgrep sleep", check=False).output == ""


def test_soft_roce(pair):
    for n, vm in enumerate(pair, 1):
        vm.run(f"ip addr add 10.9.0.{n}/24 dev eth0; ip link set eth0 up;"
               "modprobe -a rdma_rxe rdma_ucm ib_uverbs;"
               "rdma link add rxe0 type rxe netdev eth0")
    a, b = pair
    server = a.spawn("ib_write_bw -d rxe0 -x 1 -s 4096 -n 100")
    a.wait_for("ss -ltn | grep -q :18515")
    b.run("ib_write_bw -d rxe0 -x 1 -s 4096 -n 100 10.9.0.1")
    server.wait()


def test_memory_of_guests_on_huge_pages(pair):
    """A native test that needs huge pages, which a guest can spare."""
    a, _ = pair
    a.run("echo 8 > /proc/sys/vm/nr_hugepages")
    out = a.out("/tern/build/emulator/tests/test_dma_map")
    a.run("echo 0 > /proc/sys/vm/nr_hugepages")
    assert " 0 failed, 0 skipped" in out
