#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quotas and early completion: the Philly trace with its virtual clusters as projects.

Each is guaranteed the GPUs that its demand fills on average, in whole nodes of eight. Apart: the
same with fixed quotas, each project alone on its GPUs. Every pause takes all of its grace. Without
quotas: one project that owns the same nodes, and orders that know no projects. The trace is not
part of this repository; BERTH_TRACES names its folder.

What decides between two jobs is often a matter of milliseconds. `--shifts 8` hands in every job up
to two seconds later, by eight different dice, and says how far that moves the average.
"""
import argparse
import collections
import csv
import datetime
import gzip
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from compare import BERTH, traces_folder  # noqa: E402

GPUS_PER_NODE = 8


def quotas_by_demand(trace, projects):
    """Nodes for each project: these, all when there are none."""
    work, times = collections.Counter(), []
    with gzip.open(trace, "rt") as file:
        for row in csv.DictReader(file):
            if row["timestamp"] and (not projects or row["cluster"] in projects):
                work[row["cluster"]] += float(row["duration"]) * int(row["num_gpus"])
                times.append(datetime.datetime.fromisoformat(row["timestamp"]))
    span = (max(times) - min(times)).total_seconds()
    return {name: max(1, math.ceil(gpu_s / span / GPUS_PER_NODE))
            for name, gpu_s in sorted(work.items())}


def cluster(nodes, kind):
    return {"nodes": [{"name": "n{i}", "count": sum(nodes.values()), "gpus": GPUS_PER_NODE}],
            "projects": [{"name": name, "quota": count * GPUS_PER_NODE, "kind": kind}
                         for name, count in nodes.items()]}


def simulate(trace, *words):
    command = [BERTH, "simulate", "--trace", trace, *words, "-o", "json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"quotas.py: {done.stderr}")
    return json.loads(done.stdout)


def only(trace, projects, file):
    """The part of the trace that is of these projects."""
    with gzip.open(trace, "rt") as whole, file.open("w") as part:
        for number, line in enumerate(whole):
            if number == 0 or any(project in line for project in projects):
                part.write(line)
    return file


def shifted(trace, dice, file):
    """The same, each job submitted up to two seconds later."""
    with trace.open() as before, file.open("w", newline="") as after:
        reader = csv.DictReader(before)
        writer = csv.DictWriter(after, reader.fieldnames)
        writer.writeheader()
        for job in reader:
            if job["timestamp"]:
                later = datetime.timedelta(seconds=dice.randrange(3))
                at = datetime.datetime.fromisoformat(job["timestamp"]) + later
                job["timestamp"] = at.isoformat(sep=" ")
            writer.writerow(job)
    return file


def print_projects(run):
    print("  " + ", ".join(f"{one['name']} {one['avg_jct_s'] / 3600:,.1f} h"
                           for one in run["projects"]), flush=True)


def row(name, run):
    wait = f"{run['longest_in_quota_wait_s']:.0f} s" if "projects" in run else ""
    hours = [run[key] / 3600 for key in ("avg_jct_s", "median_jct_s", "p99_jct_s", "makespan_s")]
    return (f"| {name} | " + " | ".join(f"{value:,.1f} h" for value in hours) +
            f" | {run['utilization'] * 100:.0f} % | {run['rho_max']:.1f} | "
            f"{run['pauses']:,} | {wait} | "
            f"{run['jobs'] - run['finished']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*", default=["learned", "levels", "age", "classic"],
                        metavar="POLICY")
    parser.add_argument("--projects", default="", metavar="A,B,...", help="only these, of all 15")
    parser.add_argument("--placement", default="nodes")
    parser.add_argument("--shifts", type=int, default=0, metavar="N",
                        help="with --projects: how far the average moves by chance")
    parser.add_argument("--orders", default="fjf,srsf", help="of those without quotas")
    options = parser.parse_args()
    trace = traces_folder() / "philly/philly.csv.gz"
    projects = [name for name in options.projects.split(",") if name]
    nodes = quotas_by_demand(trace, projects)
    rules = ["--placement", options.placement]
    print("| | average JCT | median | p99 | makespan | used | worst rho | pauses "
          "| longest wait in quota | never ran |\n|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        if projects:
            trace = only(trace, projects, pathlib.Path(folder) / "trace.csv")
        for name, kind, policies in (("apart", "fixed", options.policies[:1]),
                                     ("quotas", "guaranteed", options.policies)):
            file = pathlib.Path(folder) / f"{name}.json"
            file.write_text(json.dumps(cluster(nodes, kind)))
            for policy in policies:
                for run in simulate(trace, "--quotas", file, "--save-time", "60s", "--policy",
                                    policy, *rules):
                    print(row(f"{name}, `{run['policy']}`", run), flush=True)
                    if projects:
                        print_projects(run)
        if projects and options.shifts:
            hours = []
            for seed in range(options.shifts):
                moved = shifted(trace, random.Random(seed), pathlib.Path(folder) / "shifted.csv")
                [run] = simulate(moved, "--quotas", file, "--save-time", "60s", "--policy",
                                 options.policies[0], *rules)
                hours.append(run["avg_jct_s"] / 3600)
            print(f"  shifted {len(hours)} times: {statistics.mean(hours):.1f} h on average, "
                  f"{min(hours):.1f} to {max(hours):.1f} h", flush=True)
            return
        machines = ["--nodes", f"{sum(nodes.values())}x{GPUS_PER_NODE}"]
        for run in simulate(trace, *machines, "--policy", options.policies[0], "--reference",
                            options.orders, *rules):
            print(row(f"no quotas, `{run['policy']}`", run))


if __name__ == "__main__":
    main()
