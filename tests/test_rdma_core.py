# SPDX-License-Identifier: GPL-2.0-or-later
"""rdma-core's own Python tests, in one VM, against tern and beside it soft-RoCE.

A test may be skipped only for a reason that Documentation/rdma-core-tests.rst
lists; none may fail. They are the tests of the guest's rdma-core, from Debian's
package.
"""

import collections
import fnmatch
import json
import re

import pytest

from ternlab import paths
from ternlab.nic import SoftRoce, Tern
from ternlab.ternd import Ternd
from ternlab.vm import VM, boot

DOCUMENT = paths.TOP / "Documentation/rdma-core-tests.rst"
PACKAGED = "/usr/share/doc/rdma-core/tests"
COPY = "/tmp/rdma-core"

# A test's limit in seconds. Those of rdma_cm have limits of their own, 30 s in all.
LIMIT = {"stock": 60, "newest": 60, "debug": 240}

Outcome = collections.namedtuple("Outcome", "name outcome text seconds")


def document(title):
    """The literals that stand alone on their lines in a section of the document."""
    text = DOCUMENT.read_text()
    section = re.search(rf"^{title}\n=+\n(.*?)(?=^\S[^\n]*\n=+$|\Z)", text,
                        re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r"^``(.+)``$", section, re.MULTILINE)


def reasons(title):
    """Pairs of patterns: a test's name, and what a skip of it says."""
    return [tuple(one.split(": ", 1)) for one in document(title)]


def matches(test, pattern):
    name, reason = pattern
    return fnmatch.fnmatchcase(test.name, name) and fnmatch.fnmatchcase(test.text, reason)


@pytest.fixture(scope="module")
def vm(lab):
    """One VM; its tern NIC has a link, to a NIC that no VM drives."""
    with Ternd(["a", "b"], ["--cable", "a=a,b=b"], lab["build"]) as ternd:
        ternd.start()
        with VM("a", lab["kernel"], terns=[ternd.socket("a")]) as machine:
            boot(machine)
            Tern.install_provider(machine)
            Tern.load(machine)
            machine.run("echo 16 > /proc/sys/vm/nr_hugepages")
            yield machine


@pytest.fixture(scope="module")
def tern(vm):
    return Tern.find(vm).configure("192.0.2.1", "fd00::1")


@pytest.fixture(scope="module")
def soft_roce(vm):
    """On a NIC of no wire: its queue pairs talk to each other, too."""
    vm.run("modprobe -q veth; ip link add veth0 type veth peer name veth1 && "
           "ip link set veth1 up")
    return SoftRoce.create(vm, "veth0").configure("198.51.100.1", "fd01::1")


@pytest.fixture(scope="module")
def modules(vm):
    """The modules that are to be run, copied to where they can be imported."""
    vm.run(f"mkdir -p {COPY} && cp -r {PACKAGED} {COPY}/ && gunzip -f {COPY}/tests/*.gz")
    there = [f.rsplit("/", 1)[-1].removesuffix(".py")
             for f in vm.out(f"ls {COPY}/tests/test_*.py").split()]
    excluded = document("Modules that are not run")
    wanted = [m for m in there if not any(fnmatch.fnmatchcase(m, e) for e in excluded)]
    # tests/__init__.py imports all that is there, whoever's hardware it is for.
    vm.run(f"cd {COPY}/tests && rm " + " ".join(f"{m}.py" for m in there if m not in wanted))
    return wanted


def run(nic, modules, address):
    """All tests on a NIC with the GID of an address: a list of Outcome."""
    vm = nic.vm
    file = f"results-{nic.ibdev}-{nic.gid_index(address)}"
    limit = LIMIT[vm.kernel]
    vm.run(f"cd {COPY} && python3 /tern/tests/guest/rdma_core_tests.py {COPY} /vm/{file} {limit} "
           f"{' '.join(modules)} -- --dev {nic.ibdev} --gid {nic.gid_index(address)} "
           f"> /vm/{file}.output 2>&1", timeout=30 * limit)
    tests = []
    for line in (vm.share / file).read_text().splitlines():
        fields = json.loads(line)
        tests.append(Outcome(fields["id"].removeprefix("tests."), fields["outcome"],
                          fields["text"].strip(), fields["seconds"]))
    assert tests.pop().outcome == "end"
    return tests


def summary(nic, tests):
    """Prints a line for each module and each skip; the number of tests by outcome."""
    for module in dict.fromkeys(t.name.split(".")[0] for t in tests):
        of_it = [t for t in tests if t.name.split(".")[0] == module]
        counts = collections.Counter(t.outcome for t in of_it)
        print(f"{nic.kind:9} {module:24}",
              ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())),
              f"({sum(t.seconds for t in of_it):.0f} s)")
    for t in tests:
        if t.outcome != "passed":
            print(f"{nic.kind:9} {t.outcome} {t.name}: {(t.text.splitlines() or [''])[-1]}")
    counts = collections.Counter(t.outcome for t in tests)
    print(f"{nic.kind}: {len(tests)} tests:",
          ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    return counts


@pytest.mark.parametrize("family", [4, 6])
def test_tern(tern, modules, family):
    tests = run(tern, modules, tern.address if family == 4 else tern.address6)
    counts = summary(tern, tests)

    bad = [t for t in tests if t.outcome not in ("passed", "skipped")]
    allowed = reasons("Skips that stand")
    skipped = [t for t in tests if t.outcome == "skipped"]
    unexplained = [t for t in skipped if not any(matches(t, p) for p in allowed)]
    for pattern in allowed:
        if not any(matches(t, pattern) for t in skipped):
            print("no test is skipped any more for", ": ".join(pattern))
    assert not bad, "\n\n".join(f"{t.name} {t.outcome}: {t.text}" for t in bad)
    assert not unexplained, "skipped for no reason that is listed:\n" + "\n".join(
        f"{t.name}: {t.text}" for t in unexplained)
    minimum, = document("How many pass")
    assert counts["passed"] >= int(minimum)


def test_soft_roce_beside_it(soft_roce, modules):
    """For comparison: what it skips and fails is Linux's affair."""
    assert summary(soft_roce, run(soft_roce, modules, soft_roce.address))["passed"]
    # Without parent domains a test of theirs uses a NULL pointer.
    reports = [r for r in soft_roce.vm.new_reports() if "python3" not in r]
    assert not reports
