# SPDX-License-Identifier: GPL-2.0-or-later
"""make bench, the part that runs VMs: tern beside soft-RoCE, medians."""

import argparse
import json
import shutil
import statistics
import sys

from . import paths, programs, watch
from .pair import Pair

# name: program, size, options, figure, unit, whether more is better, goal
RUNS = {
    "write_bw_64k": ("ib_write_bw", 65536, "-D 3 -f 1", "mib_s", "MiB/s", True, 100),
    "write_rate_64": ("ib_write_bw", 64, "-D 3 -f 1", "mpps", "M msg/s", True, 20),
    "read_bw_64k": ("ib_read_bw", 65536, "-D 3 -f 1", "mib_s", "MiB/s", True, None),
    "send_lat_64": ("ib_send_lat", 64, "-n 1000", "typical_us", "us", False, 10),
}
# Soft-RoCE's figures are the same whatever tern's wire is: fewer, shorter runs.
SOFT_OPTIONS = {"send_lat_64": "-n 200"}


def doorbells(pair):
    """MMIO writes that the two NICs have had so far."""
    return sum(nic["host"]["register_writes"]
               for t in pair.ternds for nic in t.ask("nics")["nics"])


def measure(name, ends, repeats, pair=None):
    """All results of one run; with pair, also doorbells per message."""
    program, size, options, figure, *_ = RUNS[name]
    if pair is None:
        options = SOFT_OPTIONS.get(name, options)
    values, rings, messages = [], 0, 0
    for _ in range(repeats):
        before = doorbells(pair) if pair else 0
        result = programs.perftest(program, *ends, size, options)
        values.append(result[figure])
        if pair:
            rings += doorbells(pair) - before
            messages += result["iterations"]
    out = {"median": statistics.median(values), "all": values}
    if pair and messages:
        out["doorbells_per_message"] = rings / messages
    return out


def measure_tcp(ends, repeats):
    values = [programs.iperf(*ends) for _ in range(repeats)]
    return {"median": statistics.median(values), "all": values}


def one_setting(mtu, processes, repeats, soft):
    """Everything at one netdev MTU and one kind of wire."""
    result = {"mtu": mtu, "processes": processes, "tern": {}, "soft": {}}
    with Pair(virtio=soft, processes=processes) as pair:
        try:
            pair.start().install()
            ends = pair.nics(mtu)
            for name in RUNS:
                result["tern"][name] = measure(name, ends, repeats, pair)
                print(f"  tern {name}: {result['tern'][name]}", flush=True)
            result["tern"]["tcp"] = measure_tcp(ends, repeats)
            if soft:
                softs = pair.soft_nics(mtu)
                for name in RUNS:
                    result["soft"][name] = measure(name, softs, repeats)
                    print(f"  soft-RoCE {name}: {result['soft'][name]}", flush=True)
                result["soft"]["tcp"] = measure_tcp(softs, repeats)
            reports = watch.new_reports()
            if reports:
                raise AssertionError("\n".join(reports))
        except Exception:
            watch.keep(paths.LOGS / "bench")
            raise
    return result


def ratio(name, result):
    tern = result["tern"][name]["median"]
    soft = result["soft"][name]["median"]
    more = name == "tcp" or RUNS[name][5]
    return tern / soft if more else soft / tern


def report(results):
    """The table; returns how many goals are missed."""
    missed = 0
    softs = {r["mtu"]: r for r in results if r["soft"]}
    print(f"\n{'MTU':>5} {'wire':18}{'':16}{'tern':>12}{'soft-RoCE':>12}  {'unit':9}"
          f"{'ratio':>9}{'goal':>7}  doorbells/message")
    for r in results:
        wire = "one ternd" if r["processes"] == 1 else "two ternds, unix"
        compared = dict(r, soft=softs[r["mtu"]]["soft"])
        for name in [*RUNS, "tcp"]:
            goal = (RUNS[name][6] if name in RUNS else 1) if r["soft"] else None
            unit = RUNS[name][4] if name in RUNS else "Mbit/s"
            times = ratio(name, compared)
            rings = r["tern"][name].get("doorbells_per_message")
            bad = goal is not None and times < goal
            if name == "write_bw_64k" and rings is not None and rings >= 0.1:
                bad = True
            missed += bad
            print(f"{r['mtu']:5} {wire:18}{name:16}{r['tern'][name]['median']:12.4f}"
                  f"{compared['soft'][name]['median']:12.4f}  {unit:9}{times:8.1f}x"
                  f"{goal if goal else '':>7}  "
                  f"{f'{rings:.4f}' if rings is not None else '':8}"
                  f"{'  MISSED' if bad else ''}")
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--mtu", type=int, action="append")
    parser.add_argument("--one-process-only", action="store_true")
    args = parser.parse_args()
    shutil.rmtree(paths.LOGS / "bench", ignore_errors=True)
    results = []
    for mtu in args.mtu or [1500, 4200]:
        for processes in (1,) if args.one_process_only else (1, 2):
            print(f"MTU {mtu}, {processes} ternd", flush=True)
            results.append(one_setting(mtu, processes, args.repeats, processes == 1))
    (paths.BUILD / "bench.json").write_text(json.dumps(results, indent=1))
    missed = report(results)
    print(f"\nAll figures: {paths.BUILD / 'bench.json'}")
    if missed:
        print(f"{missed} goals missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
