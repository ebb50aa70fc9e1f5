#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does each setting of the server's orders buy, and what does it cost?

A table and, with --svg FILE, a picture: each setting's average, p99 and longest JCT as parts of
released Tiresias' (geometric means over the traces, as compare.py), the worst single trace and the
worst finish-time fairness. Bold: settings on the frontier, of whom no other is as good in average,
p99, longest and rho and better in one. By default the half of the traces used for tuning: the
other is for reporting what was chosen.
"""
import argparse
import os
import pathlib

from compare import HALVES, compare

SETTINGS = ("learned", "learned:tail=20", "learned:tail=33", "learned:tail=50",
            "learned:patience=0:fair=0", "learned:patience=0", "learned:patience=20",
            "learned:fair=5", "learned:fair=20", "learned:hysteresis=0", "levels", "levels:tail=33",
            "age")
FIGURES = ("avg", "p99", "max", "rho")
LEFT, TOP, WIDTH, HEIGHT = 60, 20, 700, 420  # of the picture, the plot inside
TICK = 0.1


def is_beaten(line, lines):
    return any(all(other[figure] <= line[figure] for figure in FIGURES) and
               any(other[figure] < line[figure] for figure in FIGURES) for other in lines)


def row(number, line, lines):
    bold = "" if is_beaten(line, lines) else "**"
    return (f"| {number} | {bold}`{line['policy']}`{bold} | {line['avg']:.3f} | {line['p99']:.3f} "
            f"| {line['max']:.3f} | {line['worst']:.2f} ({line['worst_trace']}) "
            f"| {line['rho']:.1f} | {line['pauses']:,} |")


def ends(values):
    """Of an axis: the ticks around all values."""
    return [int(min(values) / TICK) * TICK, (int(max(values) / TICK) + 1) * TICK]


def picture(lines):
    """Average against longest JCT; the redder, the worse the worst rho. Numbers: the table's."""
    (left, right), (low, high) = (ends([line[of] for line in lines]) for of in ("avg", "max"))

    def at(average, longest):
        return (LEFT + (average - left) / (right - left) * WIDTH,
                TOP + (high - longest) / (high - low) * HEIGHT)

    def text(x, y, words, anchor="middle"):
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" '
             f'height="{TOP + HEIGHT + 50}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for step in range(round((right - left) / TICK) + 1):
        x, y = at(left + step * TICK, low)
        parts += [f'<path d="M{x:.0f} {TOP}V{y:.0f}" stroke="#ddd"/>',
                  text(x, y + 16, f"{left + step * TICK:.1f}")]
    for step in range(round((high - low) / TICK) + 1):
        x, y = at(left, low + step * TICK)
        parts += [f'<path d="M{LEFT} {y:.0f}h{WIDTH}" stroke="#ddd"/>',
                  text(x - 6, y + 4, f"{low + step * TICK:.1f}", "end")]
    for number, line in enumerate(lines, 1):
        x, y = at(line["avg"], line["max"])
        colour = "#2a7" if line["rho"] <= 12 else "#e90" if line["rho"] <= 50 else "#c33"
        parts += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="{colour}"/>',
                  text(x + 14 if number % 2 else x - 14, y + 4, number)]
    parts += [text(LEFT + WIDTH / 2, TOP + HEIGHT + 36,
                   "average JCT, part of released Tiresias'; green: worst rho at most 12, "
                   "orange: at most 50, red: above"),
              f'<g transform="rotate(-90 16 {TOP + HEIGHT / 2})">',
              text(16, TOP + HEIGHT / 2, "longest JCT"), "</g></svg>"]
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=SETTINGS, metavar="POLICY")
    parser.add_argument("--half", choices=HALVES, default="tune")
    parser.add_argument("--restart-cost", default="60s")
    parser.add_argument("--placement", default="count")
    parser.add_argument("--svg", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    os.nice(10)
    rules = ["--restart-cost", options.restart_cost, "--placement", options.placement]
    lines = sorted(compare(HALVES[options.half], options.settings, rules),
                   key=lambda line: line["avg"])
    print("| | setting | average JCT | p99 | longest | worst trace | worst rho | pauses |\n"
          "|---|---|---|---|---|---|---|---|")
    for number, line in enumerate(lines, 1):
        print(row(number, line, lines))
    if options.svg:
        options.svg.write_text(picture(lines))


if __name__ == "__main__":
    main()
