# SPDX-License-Identifier: GPL-2.0-or-later
"""Long proofs; only in make check-soak."""

import subprocess

import pytest

from ternlab import paths, programs
from ternlab.nic import Tern
from test_rdma import SIZES, data_check

pytestmark = pytest.mark.soak


def test_load_and_unload_200_times(pair):
    a = pair.a
    for _ in range(200):
        Tern.unload(a)
        Tern.load(a)
    assert a.kernel != "debug" or a.kmemleak() == ""


def test_bad_wire_for_long(ends, pair, guest_programs):
    for name in "ab":
        for what in ("drop", "duplicate", "reorder", "corrupt"):
            pair.ternd.ask("add-rule", nic=name, what=what, probability=0.01)
    try:
        for n in range(20):
            roles = ends if n % 2 else ends[::-1]
            data_check(guest_programs, *roles, SIZES, args="-k 10", timeout=600)
    finally:
        for name in "ab":
            pair.ternd.ask("remove-rule", nic=name, all=True)


def test_many_connections(ends):
    for n in range(50):
        programs.rping(*(ends if n % 2 else ends[::-1]), args="-C 3 -v")


CYCLES = 10000


def objects(pair, nics):
    """All that could have been left: in the kernel, in its slabs, in the device."""
    found = {}
    for name, nic in zip("ab", nics):
        out = nic.vm.out(f"rdma resource show link {nic.ibdev}; "
                         "awk '/^(kmalloc|ib_|rdma|maple|radix)/ {print $1, $2 * $4}' /proc/slabinfo")
        found[name, "resources"] = out.splitlines()[0].split(":", 2)[-1]
        found[name, "slabs"] = sum(int(line.split()[1]) for line in out.splitlines()[1:])
        for key, value in pair.ternd.counters(name).items():
            if key.startswith("objects_"):
                found[name, key] = value
    return found


def check_no_growth(before, after):
    for key, value in before.items():
        if key[1] == "slabs":
            # Caches of the kernel come and go; what leaks with each cycle is more.
            assert after[key] - value < 100 * CYCLES, (key, value, after[key])
        else:
            assert after[key] == value, (key, value, after[key])


def test_connections_leave_nothing(ends, pair, guest_programs):
    """10,000 connections by rdma_cm, a message each, with traffic beside."""
    a, b = ends
    port = 20990
    programs_load = programs.start_load(b, a, 3600)
    try:
        before = objects(pair, ends)
        server = a.vm.spawn(f"{guest_programs}/cm_churn -p {port} -n {CYCLES}", 3600)
        a.vm.wait_for(f"rdma resource show cm_id | grep -q 'LISTEN.*:{port}'")
        b.vm.run(f"{guest_programs}/cm_churn -p {port} -n {CYCLES} {a.address}", 3600)
        server.wait()
        for nic in ends:  # connections stay in TIMEWAIT for a while
            nic.vm.wait_for("! rdma resource show cm_id | grep -q TIMEWAIT", 120)
        check_no_growth(before, objects(pair, ends))
    finally:
        programs.end_load(programs_load)


def test_objects_leave_nothing(ends, pair, guest_programs):
    """Each kind made and destroyed 10,000 times, with traffic beside."""
    a, b = ends
    programs_load = programs.start_load(b, a, 3600)
    try:
        before = objects(pair, ends)
        a.vm.run(f"{guest_programs}/object_churn {a.ibdev} {CYCLES}", 3600)
        check_no_growth(before, objects(pair, ends))
    finally:
        programs.end_load(programs_load)


def test_builds_inside_a_kernel_tree(tmp_path):
    """scripts/upstream-tree: the driver compiles where it would be upstream."""
    source = tmp_path / "linux"
    objects = tmp_path / "objects"
    subprocess.run(["cp", "-a", paths.component("linux-source"), source], check=True)
    subprocess.run([paths.TOP / "scripts/upstream-tree", source], check=True)
    objects.mkdir()
    config = paths.component("debug-kernel") / "build/.config"
    (objects / ".config").write_text(
        config.read_text() + "CONFIG_TERN=m\nCONFIG_INFINIBAND_TERN=m\n")
    make = ["make", "-s", "-j2", "-C", source, f"O={objects}", "W=1e"]
    subprocess.run([*make[:-1], "olddefconfig"], check=True)
    assert "CONFIG_INFINIBAND_TERN=m" in (objects / ".config").read_text()
    subprocess.run([*make[:-1], "modules_prepare"], check=True)
    for folder in ("drivers/net/ethernet/tern/", "drivers/infiniband/hw/tern/"):
        subprocess.run([*make, folder], check=True)
