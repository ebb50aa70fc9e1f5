#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a trace of a large cluster, for `berth simulate`: the same bytes for the same arguments.

GPUs of a job: as often as in the Philly trace (93 % ask one). Run times: lognormal, median 1 h for
one GPU and 6 h for more, sigma 2, at most 30 days; in the Philly trace 14 min and about 2 h, sigma
2.0 and 2.8. Submissions: twice as many by day (8 to 20 h) as by night, half as many on two days of
seven. As many jobs as ask for --load of all GPUs.
"""
import argparse
import math
import random
import sys

WIDTHS = {1: 0.9317, 2: 0.0221, 4: 0.0227, 8: 0.0200, 16: 0.0024, 32: 0.0007, 64: 0.0004}
HOUR, DAY = 3600, 86_400
MEDIAN_ONE, MEDIAN_MORE, SIGMA, LONGEST = HOUR, 6 * HOUR, 2.0, 30 * DAY


def busy(second):
    """How often jobs are handed in at this second, of the most often."""
    by_day = 1.0 if 8 <= second % DAY // HOUR < 20 else 0.5
    return by_day * (0.5 if second // DAY % 7 >= 5 else 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=10_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--widest", type=int, default=max(WIDTHS), help="GPUs of a job, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    wanted = options.gpus * options.days * DAY * options.load
    widths = [gpus for gpus in WIDTHS if gpus <= options.widest]
    odds = [WIDTHS[gpus] for gpus in widths]
    jobs = []
    while wanted > 0:
        gpus = dice.choices(widths, odds)[0]
        median = MEDIAN_ONE if gpus == 1 else MEDIAN_MORE
        work = min(max(int(dice.lognormvariate(math.log(median), SIGMA)), 1), LONGEST)
        at = dice.randrange(options.days * DAY)
        while dice.random() > busy(at):
            at = dice.randrange(options.days * DAY)
        jobs.append((at, work, gpus))
        wanted -= work * gpus
    jobs.sort()
    sys.stdout.write("submit_s,duration_s,gpus\n")
    sys.stdout.writelines(f"{at},{work},{gpus}\n" for at, work, gpus in jobs)


if __name__ == "__main__":
    main()
