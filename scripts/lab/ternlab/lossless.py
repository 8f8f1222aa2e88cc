# SPDX-License-Identifier: GPL-2.0-or-later
"""make demo-lossless, the part that runs in the lab: incast in four settings, what each
does to the traffic as a table and as plots, and whether it is what it should do."""

import sys

from . import incast, paths, plots
from .incast import SETTINGS, Incast
from .steps import Unexpected, demonstrate

SECONDS = 8
OUT = paths.BUILD / "lossless"


def mean_depth(result):
    """Of the queue, in bytes, while something is in it."""
    depths = [depth for _, depth, *_ in result.samples if depth]
    return sum(depths) / max(len(depths), 1)


def effects(results):
    """(what, whether it is so) of each effect that the settings are to have."""
    neither, pfc, ecn, both = results

    def notified(result):
        sent, handled = result.counters["np_cnp_sent"], result.counters["rp_cnp_handled"]
        return result.counters["np_ecn_marked_roce_packets"] > 0 and 0 < handled == sent

    return [
        ("neither: packets are dropped and sent again",
         neither.drops > 0 and neither.counters["retransmitted_packets"] > 0),
        ("neither: no pauses, no CNPs",
         not neither.pauses and not neither.counters["np_cnp_sent"]),
        ("PFC alone: nothing is dropped, nothing sent again",
         not pfc.drops and not pfc.counters["retransmitted_packets"]),
        ("PFC alone: it pauses, and no CNPs", pfc.pauses > 0 and not pfc.counters["np_cnp_sent"]),
        ("ECN alone: packets are marked, each CNP that is sent is handled", notified(ecn)),
        ("ECN alone: no pauses, and less than a third of the drops of neither",
         not ecn.pauses and ecn.drops * 3 < neither.drops),
        ("both: nothing is dropped, nothing sent again",
         not both.drops and not both.counters["retransmitted_packets"]),
        ("both: marks and CNPs", notified(both)),
        ("both: at most a tenth of the pauses of PFC alone", both.pauses * 10 <= pfc.pauses),
        ("both: the queue is on average less than half of that with PFC alone",
         mean_depth(both) * 2 < mean_depth(pfc)),
    ]


def table(results):
    """What came of them, for people."""
    flows = len(results[0].flows)
    titles = [*(f"flow {n}" for n in range(1, flows + 1)), "total", "fairness", "drops",
              "sent again", "pauses", "marks", "CNPs", "peak KiB"]
    lines = [f"{'':10}" + "".join(f"{t:>11}" for t in titles)]
    for r in results:
        cells = [*(f"{f:.1f}" for f in r.flows), f"{r.total:.1f}", f"{r.fairness:.3f}", r.drops,
                 r.counters["retransmitted_packets"], r.pauses,
                 r.counters["np_ecn_marked_roce_packets"], r.counters["np_cnp_sent"],
                 f"{r.peak_bytes / 1024:.0f}"]
        lines.append(f"{r.setting.name:10}" + "".join(f"{c:>11}" for c in cells))
    return "\n".join(lines)


def connect(steps, scene):
    """From booted VMs to configured NICs."""
    with steps.step("insmod in all three, addresses, what is trusted", 6):
        scene.install()
        nics = scene.nics()
        for nic in nics:
            nic.vm.run(" && ".join(scene.commands(nic)))
        steps.show("\n".join(scene.commands(nics[0])))
    return nics


def run_all(steps, scene, nics):
    """A Result of each setting."""
    results = []
    for setting in SETTINGS:
        with steps.step(f"{setting.name}: b and c write to a", SECONDS + 4):
            steps.show("\n".join(scene.setting_commands(nics[0], setting)))
            result = scene.run(nics, setting, SECONDS)
            steps.show(f"{' and '.join(f'{f:.1f}' for f in result.flows)} Mbit/s, "
                       f"{result.drops} drops, {result.pauses} pause frames")
            results.append(result)
    return results


def judge(results):
    """The table, and whether the effects are there."""
    print(f"\nTwo senders, one receiver, links of {incast.SPEED_MBPS} Mbit/s, {SECONDS} s each; "
          "rates in Mbit/s of payload:\n")
    print(table(results) + "\n")
    missing = []
    for what, so in effects(results):
        print(f"  {'ok ' if so else 'NOT'} {what}")
        if not so:
            missing.append(what)
    if missing:
        raise Unexpected("not as it should be: " + "; ".join(missing))


def show(steps, scene):
    """All of it; returns what judges the result."""
    with steps.step("boot three virtual machines, one ternd with a switch", 15):
        scene.start()
    results = run_all(steps, scene, connect(steps, scene))
    with steps.step("plots by gnuplot", 1):
        for file in plots.draw(results, OUT):
            steps.show(file)
    return lambda: judge(results)


if __name__ == "__main__":
    sys.exit(demonstrate("demo-lossless", Incast(), show))
