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
