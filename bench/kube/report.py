# SPDX-License-Identifier: Apache-2.0
"""What was measured, beside its goal: a small table for people, and one line of figures.jsonl."""
import operator
import os

HOLDS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}


class Report:
    """`broken` counts promises of correctness that did not hold. A figure that misses its goal is
    marked and breaks nothing: times are those of the machine too."""

    def __init__(self, bench, title, **about):
        self.figures = {"bench": f"kube_{bench}", **about, "load": round(os.getloadavg()[0], 1)}
        self.rows = []
        self.broken = 0
        print(f"\n{bench}: {title}; load {self.figures['load']}", flush=True)

    def say(self, text):
        print(f"  {text}", flush=True)

    def add(self, name, what, value, unit="", goal=None):
        """A figure; `goal` is of ("<=", 0.3)."""
        self.figures[name] = value = rounded(value)
        missed = goal and not HOLDS[goal[0]](value, goal[1])
        self._row(what, f"{value:,} {unit}", f"goal {goal[0]} {goal[1]:,}" if goal else "",
                  "missed" if missed else "")

    def promise(self, name, what, value, wanted):
        """What has to be so, however fast the machine is."""
        self.figures[name] = value
        is_kept = value == wanted
        self.broken += not is_kept
        self._row(what, f"{value:,}", f"must be {wanted:,}", "" if is_kept else "BROKEN")

    def _row(self, what, value, goal, remark):
        print(f"  {what:52} {value:>14}   {goal:16} {remark}".rstrip(), flush=True)


def rounded(value):
    """Three digits that matter, and no less than what is whole."""
    if not isinstance(value, float):
        return value
    short = round(value) if abs(value) >= 1000 else float(f"{value:.3g}")
    return int(short) if short == int(short) else short
