# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots of incast's results, by gnuplot: PNG and SVG, and the data that they are of."""

import itertools
import subprocess

TERMINALS = {"png": "pngcairo size 1600,800", "svg": "svg size 1600,800 background 'white'"}


def _rows(result):
    """Seconds since the first traffic, KiB in the queue, and Mbit/s from each sender."""
    rows = []
    for (t0, _, *old), (t1, depth, *new) in itertools.pairwise(result.samples):
        rates = [(b - a) * 8e-6 / (t1 - t0) for a, b in zip(old, new)]
        # Answers of other queue pairs to the connection's beginning are no traffic.
        if rows or max(rates) > 1:
            rows.append((t1, depth / 1024, *rates))
    return [(t - rows[0][0], *rest) for t, *rest in rows]


def _panel(result, data, what, axis, most, curves):
    curves = ", ".join(f'"{data}" using 1:{n} with lines {title}' for n, title in curves)
    return (f'set title "{result.setting.name}:\\n{what}"\nset ylabel "{axis}"\n'
            f"set yrange [0:{most}]\nplot {curves}\n")


def draw(results, out):
    """Below the directory out; the files' paths."""
    out.mkdir(parents=True, exist_ok=True)
    rows = [_rows(result) for result in results]
    most_queued = max(row[1] for r in rows for row in r)
    most_sent = max(rate for r in rows for row in r for rate in row[2:])
    queues, rates, files = [], [], []
    for result, lines in zip(results, rows):
        data = out / f"{result.setting.name.replace(' ', '-')}.dat"
        data.write_text("# s, KiB queued, Mbit/s from each sender\n" + "".join(
            " ".join(f"{n:.3f}" for n in line) + "\n" for line in lines))
        queues.append(_panel(result, data.name, "the switch's queue to the receiver", "KiB",
                             most_queued * 1.05, [(2, "notitle")]))
        rates.append(_panel(result, data.name, "from the senders", "Mbit/s", most_sent * 1.05,
                            [(n + 2, f'title "sender {n}"')
                             for n in range(1, len(result.flows) + 1)]))
        files.append(data)
    for kind, terminal in TERMINALS.items():
        file = out / f"incast.{kind}"
        script = (f'set terminal {terminal}\nset output "{file.name}"\nset xlabel "s"\n'
                  f"set grid\nset key bottom right\nset multiplot layout 2,{len(results)}\n" +
                  "".join(queues + rates) + "unset multiplot\n")
        subprocess.run(["gnuplot"], input=script, text=True, check=True, cwd=out)
        files.append(file)
    return files
