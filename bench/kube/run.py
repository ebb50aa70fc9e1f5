# SPDX-License-Identifier: Apache-2.0
"""Measures Berth on a real control plane with fake nodes (./dev kube-bench).

  place     one-GPU pods in turns with kube-scheduler: CPU, pods/s, writes
  reclaim   a gang takes back what preemptible pods borrowed
  victims   ... and what Jobs borrowed, where the Job controller has 20 requests a second
  races     Jobs that are paused, while all that takes part acts at other times
  wait      a gang that has no place says why
  idle      nodes report, nothing is to be decided
"""
import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "tools/kube")]

import figures  # noqa: E402
import idle  # noqa: E402
import place  # noqa: E402
import programs  # noqa: E402
import races  # noqa: E402
import reclaim  # noqa: E402
import victims  # noqa: E402
import waits  # noqa: E402

PARTS = {"place": place, "reclaim": reclaim, "victims": victims, "races": races, "wait": waits,
         "idle": idle}


def parse():
    parser = argparse.ArgumentParser(
        prog="./dev kube-bench", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit code 1: a promise of correctness is broken. A time that is late is marked.")
    parser.add_argument("what", nargs="*", metavar="WHAT", choices=[[], *PARTS],
                        help="parts to measure (default: all)")
    parser.add_argument("--program", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--nodes", type=int, metavar="N", help="nodes of eight GPUs")
    parser.add_argument("--pods", type=int, metavar="N", help="pods that are placed")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds, of which medians are said")
    parser.add_argument("--live", action="store_true",
                        help="place: pods are made while the scheduler runs")
    parser.add_argument("--pauses", type=int, metavar="N", help="races: until N pauses")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="races: of their times")
    parser.add_argument("--seconds", type=int, metavar="N", help="idle: for N seconds")
    parser.add_argument("--to", type=pathlib.Path, default=figures.FILE, metavar="FILE",
                        help="where a line of figures is appended for each part")
    return parser.parse_args()


def main():
    given = parse()
    programs.find_or_skip()
    broken = 0
    for part in given.what or PARTS:
        report = PARTS[part].measure(given.program.resolve(), given)
        figures.note(report.figures, given.to)
        broken += report.broken
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
