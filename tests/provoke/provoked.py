# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that do nothing wrong themselves but provoke a kernel report.

Each must fail. test_lab.py runs them in a pytest of their own and sees that.
The lockdep one comes first: lockdep turns itself off at the first report of
almost any kind.
"""

import pytest

from ternlab import paths
from ternlab.vm import VM, boot

KINDS = ["lockdep", "warn", "atomic", "ubsan", "dma", "list", "refcount",
         "odebug", "hung", "kasan"]


@pytest.fixture(scope="module")
def vm():
    with VM("provoked", "debug") as machine:
        boot(machine)
        machine.run("sysctl -w kernel.hung_task_timeout_secs=3")
        yield machine


def insmod(vm, kind):
    ko = f"/tern/{(paths.BUILD / 'provoke/provoke.ko').relative_to(paths.TOP)}"
    vm.run(f"insmod {ko} kind={kind} && rmmod provoke")


@pytest.mark.parametrize("kind", KINDS)
def test_provoked(vm, kind):
    insmod(vm, kind)


def test_provoked_leak(vm):
    vm.kmemleak_clear()
    insmod(vm, "leak")
    vm.kmemleak()


def test_provoked_panic(vm):
    vm.run("sleep 0.5; echo c > /proc/sysrq-trigger", 5, check=False)
