# SPDX-License-Identifier: GPL-2.0-or-later
"""What every VM test gets: its machines are watched, and failures leave logs.

After each test the kernel logs of all running VMs and the logs of all running
ternds are read: a report of a checker there fails the test. When a test fails,
whatever is known about the machines is kept below build/logs/.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts/lab"))

from ternlab import paths, watch  # noqa: E402
from ternlab.nic import Tern  # noqa: E402
from ternlab.pair import Pair  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--kernel", default="debug", choices=("stock", "newest", "debug"),
                     help="the guests' kernel")
    parser.addoption("--ternd-build", default="emulator-asan",
                     help="which ternd: emulator-asan or emulator")


@pytest.fixture(scope="session")
def lab(request):
    """What all scenes have in common: the guests' kernel and the ternd."""
    return {"kernel": request.config.getoption("kernel"),
            "build": request.config.getoption("ternd_build")}


@pytest.fixture(scope="session")
def guest_programs():
    """Builds what runs in guests; its directory as guests see it."""
    subprocess.run(["make", "-s", "-C", paths.TOP / "tests/guest"], check=True)
    return "/tern/build/guest"


# Booting costs more than most tests, so that one pair of VMs serves as many as
# it can. These come last: they reload modules, and end with a VM that is killed.
LAST = ["test_machine", "test_lifecycle"]


def pytest_collection_modifyitems(items):
    def place(item):
        name = item.module.__name__
        return LAST.index(name) if name in LAST else -1

    items.sort(key=place)


@pytest.fixture(scope="session")
def pair(lab):
    """VMs a and b, a tern NIC each, modules loaded, one wire between them."""
    with Pair(**lab, native=True) as scene:
        scene.start().install()
        yield scene


@pytest.fixture(scope="session")
def ends(pair):
    """The two NICs of pair, with addresses."""
    return pair.nics()


@pytest.fixture
def fresh_ends(pair):
    """The same with modules just loaded, whatever the last test left."""
    for vm in pair.vms:
        if not vm.run("lsmod | grep -q '^tern_ib'", check=False).code:
            Tern.unload(vm)
        Tern.load(vm)
    return pair.nics()


@pytest.fixture(scope="session")
def far(lab):
    """A pair that is not in one process: two ternds, and a NIC whose peer is soft-RoCE."""
    with Pair(**lab, processes=2, mixed=True) as scene:
        scene.start().install()
        yield scene


@pytest.fixture(scope="session")
def mixed(far):
    """NICs: a tern, then soft-RoCE."""
    return far.mixed_nics()


def log_directory(item):
    """Where a failed test's logs go."""
    name = re.sub(r"[^\w.-]+", "_", item.nodeid.replace("tests/", ""))
    return paths.LOGS / name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fails a test whose machines reported a fault."""
    error = result = None
    try:
        result = yield
    except BaseException as e:  # reports count also when the test itself failed
        error = e
    reports = watch.new_reports()
    if error is not None and not reports:
        raise error
    if reports:
        text = "\n".join(reports)
        if error is not None:
            text += f"\nand: {error}"
        raise watch.Reported(text) from error
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Keeps the logs of a failed test and says where."""
    report = yield
    if call.when != "teardown" and report.failed:
        directory = log_directory(item)
        shutil.rmtree(directory, ignore_errors=True)
        watch.keep(directory)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "failure").write_text(str(report.longrepr))
        report.sections.append(("logs", f"kept in {directory}"))
    return report
