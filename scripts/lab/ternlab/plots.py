# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots of incast's results, by gnuplot: PNG and SVG, and the data that they are of."""

import itertools
import subprocess

TERMINALS = {"png": "pngcairo size 1200,800", "svg": "svg size 1200,800 background 'white'"}


def _data(result, file):
    """Seconds, KiB in the queue, and Mbit/s from each sender, a line for each sample."""
    lines = []
    for (t0, _, *old), (t1, depth, *new) in itertools.pairwise(result.samples):
        if t1 > t0:
            rates = ((b - a) * 8e-6 / (t1 - t0) for a, b in zip(old, new))
            lines.append(f"{t1:.4f} {depth / 1024:.1f} " + " ".join(f"{r:.2f}" for r in rates))
    file.write_text("# s, KiB queued, Mbit/s from each sender\n" + "\n".join(lines) + "\n")


def _panel(what, axis, curves):
    return f'set title "{what}"\nset ylabel "{axis}"\nplot ' + ", ".join(curves) + "\n"


def draw(results, out):
    """Below the directory out; the files' paths."""
    out.mkdir(parents=True, exist_ok=True)
    panels = []
    for result in results:
        data = out / f"{result.setting.name.replace(' ', '-')}.dat"
        _data(result, data)
        panels.append((result, data.name))
    queue = [_panel(f"{r.setting.name}: the switch's queue to the receiver", "KiB",
                    [f'"{data}" using 1:2 with lines notitle']) for r, data in panels]
    rates = [_panel(f"{r.setting.name}: into the switch", "Mbit/s",
                    [f'"{data}" using 1:{n + 2} with lines title "sender {n}"'
                     for n in range(1, len(r.flows) + 1)]) for r, data in panels]
    files = []
    for kind, terminal in TERMINALS.items():
        file = out / f"incast.{kind}"
        script = (f'set terminal {terminal}\nset output "{file.name}"\nset xlabel "s"\n'
                  "set yrange [0:*]\nset grid\n"
                  f"set multiplot layout 2,{len(results)}\n" + "".join(queue + rates) +
                  "unset multiplot\n")
        subprocess.run(["gnuplot"], input=script, text=True, check=True, cwd=out)
        files.append(file)
    return [*files, *(out / data for _, data in panels)]
