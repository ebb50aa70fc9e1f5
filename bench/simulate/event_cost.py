#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What CPU does an event of `berth simulate` cost, by how many jobs run and how many wait?

20,000 jobs of one to two hours on one to three GPUs, handed in one after the other, a tenth more
than there is room for, on more and more GPUs; more and more jobs, all handed in at once, on 64.
Reading and auditing are part of it. Prints tables for bench/README.md.
"""
import json
import pathlib
import resource
import subprocess
import tempfile

from compare import BERTH, is_policy

POLICIES = ("learned", "levels", "age", "fjf", "srsf")
GPUS = (1000, 2000, 4000, 8000)
JOBS = 20_000
WAITING = (2500, 5000, 10_000, 20_000)
RUNS = 3


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def microseconds_an_event(trace, nodes, policy):
    before = cpu_s()
    for _ in range(RUNS):
        flag = "--policy" if is_policy(policy) else "--reference"
        done = subprocess.run([BERTH, "simulate", "--trace", trace, "--nodes", nodes, flag,
                               policy, "-o", "json"], check=True, capture_output=True, text=True)
    return (cpu_s() - before) * 1e6 / RUNS / json.loads(done.stdout)[0]["events"]


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def table(title, sizes, trace, prepare):
    row(title, *(f"{size:,}" for size in sizes), "growth a doubling")
    row("---", *["---"] * (len(sizes) + 1))
    costs = {policy: [] for policy in POLICIES}
    for size in sizes:
        nodes = prepare(size)
        for policy in POLICIES:
            costs[policy].append(microseconds_an_event(trace, nodes, policy))
    for policy, found in costs.items():
        growth = (found[-1] / found[0]) ** (1 / (len(found) - 1))
        row(f"`{policy}`", *(f"{cost:.1f} µs" for cost in found), f"x {growth:.2f}")
    print()


def fill(trace, jobs, gap_s=0.0):
    trace.write_text("submit_s,duration_s,gpus\n" + "".join(
        f"{int(job * gap_s)},{3600 + job * 7919 % 3600},{1 + job % 3}\n" for job in range(jobs)))


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.csv"

        def on_gpus(gpus):
            fill(trace, JOBS, gap_s=2 * 5400 / (1.1 * gpus))  # two GPUs for 5,400 s on average
            return f"{gpus // 8}x8"

        def waiting(jobs):
            fill(trace, jobs)
            return "8x8"

        table("by GPUs, all busy", GPUS, trace, on_gpus)
        table("by jobs that wait", WAITING, trace, waiting)


if __name__ == "__main__":
    main()
