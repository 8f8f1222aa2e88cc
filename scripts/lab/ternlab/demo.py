# SPDX-License-Identifier: GPL-2.0-or-later
"""make demo, the part that runs in the lab: two VMs doing RDMA over tern."""

import subprocess
import sys

from . import paths, programs
from .pair import Pair
from .steps import demonstrate

MTU = 1500
# Program, message size, options for both kinds of NIC, what is compared, its
# unit, and whether more is better.
RUNS = [
    ("ib_write_bw", 65536, "-D 3 -f 1", "mib_s", "MiB/s", True),
    ("ib_write_bw", 64, "-D 3 -f 1", "mpps", "M messages/s", True),
    ("ib_read_bw", 65536, "-D 3 -f 1", "mib_s", "MiB/s", True),
    ("ib_send_lat", 64, "-n 500", "typical_us", "us, one way", False),
]
CAPTURE = paths.BUILD / "demo.pcap"


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def last_lines(text, count):
    return "\n".join(text.rstrip("\n").splitlines()[-count:])


def connect(steps, pair):
    """From two booted VMs to two configured NICs."""
    with steps.step("insmod tern.ko and tern_ib.ko in both", 5):
        pair.install()
        ends = pair.nics(MTU)
        for nic in ends:
            steps.show(f"{nic.vm.name}: PCI {nic.slot}, netdev {nic.netdev}, RDMA device "
                       f"{nic.ibdev}, {nic.address}, {nic.address6}")
    with steps.step("ibv_devinfo", 1):
        out = ends[0].vm.out(f"ibv_devinfo -d {ends[0].ibdev}")
        steps.show(out)
        require("PORT_ACTIVE" in out, "the port is not active")
    with steps.step("ping", 2):
        steps.show(last_lines(ends[1].vm.out(
            f"ping -c 5 -i 0.2 {ends[0].address} && "
            f"ping -c 3 -i 0.2 {ends[0].address6} | tail -n 2"), 6))
    return ends


def verbs(steps, pair, ends):
    """Verbs programs on tern, and what they put on the wire."""
    with steps.step("ibv_rc_pingpong, data checked, captured", 3):
        CAPTURE.unlink(missing_ok=True)
        with pair.ternd.capture("a", CAPTURE):
            steps.show(last_lines(programs.pingpong("ibv_rc_pingpong", *ends), 2))
    for family in (4, 6):
        with steps.step(f"rping over IPv{family}, data checked", 2):
            steps.show(last_lines(programs.rping(*ends, family=family), 3))
    with steps.step("the first RoCE packets of the wire, by tshark", 3):
        shark = subprocess.run(
            ["tshark", "-n", "-r", CAPTURE, "-Y", "infiniband", "-c", "100"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        lines = shark.stdout.splitlines()
        require(lines, "tshark finds no RoCE packet in the capture")
        steps.show("\n".join(lines[:12]))
        bad = subprocess.run(
            ["tshark", "-n", "-r", CAPTURE, "-Y", "_ws.malformed || _ws.expert.severity == error"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        require(not bad.stdout, f"tshark finds malformed packets:\n{bad.stdout}")


def compare(steps, ends, softs):
    """The same perftest runs over both; a row each for the table."""
    rows = []
    for program, size, args, figure, unit, more in RUNS:
        with steps.step(f"{program}, {size} bytes: tern, then soft-RoCE", 14):
            tern = programs.perftest(program, *ends, size, args)[figure]
            soft = programs.perftest(program, *softs, size, args)[figure]
            ratio = tern / soft if more else soft / tern
            rows.append((f"{program} {size} B", tern, soft, unit, ratio))
            steps.show(f"tern {tern:.6g}, soft-RoCE {soft:.6g} {unit}")
    return rows


def table(rows):
    print(f"\nSame VMs, same netdev MTU ({MTU}), same options:\n")
    print(f"  {'':22}{'tern':>12}{'soft-RoCE':>14}  {'':14}{'tern is':>9}")
    for name, tern, soft, unit, ratio in rows:
        print(f"  {name:22}{tern:12.4f}{soft:14.4f}  {unit:14}{ratio:8.1f}x")


def show(steps, pair):
    """All of it; returns what shows the result."""
    with steps.step("boot two virtual machines (stock QEMU), one ternd with a cable", 10):
        pair.start()
    ends = connect(steps, pair)
    verbs(steps, pair, ends)
    with steps.step("soft-RoCE over virtio-net in the same VMs", 3):
        softs = pair.soft_nics(MTU)
    rows = compare(steps, ends, softs)
    return lambda: table(rows)


if __name__ == "__main__":
    sys.exit(demonstrate("demo", Pair(virtio=True), show))
