#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares orders of jobs over public traces with Tiresias as released, under the same rules.

Policies are the server's, with settings behind colons (learned:tail=33), decided by the core for
one project that owns all GPUs; names of orders that no server runs (srsf) are taken as --reference.
For each: the geometric mean over the traces of average, p99 and longest JCT as parts of
the baseline's, the worst single trace's average, and the worst finish-time fairness anywhere.
`--against POLICY` adds the worst single trace's average as a part of that policy's, and
`--at-most` makes it an error when that is more for any. The
traces were split in halves before anything was tuned: by turns, in order of their names. Parameters
are chosen on `tune` and reported on `report`.

Traces (not part of this repository; BERTH_TRACES names their folder): Muri's four, and the nine
virtual clusters of the Philly trace with much waiting, each on about the GPUs its demand fills.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BERTH = ROOT / "build/release/bin/berth"
BASELINE = "tiresias-released"
POLICIES = ("learned", "levels", "age", "classic")  # of a server

# Trace: file, nodes, virtual cluster. The halves take turns.
MURI = {f"muri{n}": (f"muri/trace{n}.csv.gz", "8x8", None) for n in (1, 2, 3, 4)}
PHILLY = {cluster: ("philly/philly.csv.gz", nodes, cluster) for cluster, nodes in (
    ("0e4a51", "4x8"), ("103959", "2x8"), ("11cb48", "2x8"), ("2869ce", "4x8"), ("6214e9", "6x8"),
    ("6c71a0", "6x8"), ("7f04ca", "8x8"), ("b436b2", "8x8"), ("ee9e8c", "16x8"))}
HALVES = {"tune": {**dict(list(MURI.items())[::2]), **dict(list(PHILLY.items())[::2])},
          "report": {**dict(list(MURI.items())[1::2]), **dict(list(PHILLY.items())[1::2])}}
HALVES["all"] = {**MURI, **PHILLY}


def traces_folder():
    if "BERTH_TRACES" in os.environ:
        return pathlib.Path(os.environ["BERTH_TRACES"])
    for above in ROOT.parents:
        if (above / "shared/data/traces").exists():
            return above / "shared/data/traces"
    sys.exit("compare.py: skipped, no public traces here; BERTH_TRACES names their folder")


def is_policy(name):
    return name.split(":")[0] in POLICIES


def simulate(trace, policies, rules):
    """Runs by name."""
    file, nodes, project = trace
    command = [BERTH, "simulate", "--trace", traces_folder() / file, "--nodes", nodes, *rules,
               "-o", "json"]
    for flag, names in (("--policy", [name for name in policies if is_policy(name)]),
                        ("--reference", [name for name in policies if not is_policy(name)])):
        if names:
            command += [flag, ",".join(names)]
    if project:
        command += ["--project", project]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compare.py: {' '.join(map(str, command))}: {done.stderr}")
    return {run["policy"]: run for run in json.loads(done.stdout)}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def compare(traces, policies, rules, against=BASELINE, each=False):
    """Lines of figures, one for each policy, in the order given."""
    orders = list(dict.fromkeys([BASELINE, against, *policies]))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda trace: simulate(trace, orders, rules), traces.values())
        runs = dict(zip(traces, found))
    for policy in policies:
        def parts(figure, of=BASELINE):
            return {name: run[policy][figure] / run[of][figure] for name, run in runs.items()}
        average = parts("avg_jct_s")
        worst = max(average, key=average.get)
        ratio = parts("avg_jct_s", of=against)
        worst_ratio = max(ratio, key=ratio.get)
        yield {"policy": policy, "avg": geometric_mean(average.values()),
               "p99": geometric_mean(parts("p99_jct_s").values()),
               "max": geometric_mean(parts("max_jct_s").values()),
               "worst": average[worst], "worst_trace": worst,
               "ratio": ratio[worst_ratio], "ratio_trace": worst_ratio,
               "rho": max(run[policy]["rho_max"] for run in runs.values()),
               "pauses": sum(run[policy]["pauses"] for run in runs.values()),
               "each": " ".join(f"{name}:{part:.2f}" for name, part in average.items())
               if each else ""}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="+", metavar="POLICY")
    parser.add_argument("--half", choices=HALVES, default="all")
    parser.add_argument("--against", metavar="POLICY", default=BASELINE)
    parser.add_argument("--at-most", type=float, default=math.inf, metavar="RATIO")
    parser.add_argument("--restart-cost", default="0s")
    parser.add_argument("--placement", default="count")
    parser.add_argument("--each", action="store_true", help="the average on each trace too")
    options = parser.parse_args()
    rules = ["--restart-cost", options.restart_cost, "--placement", options.placement]
    print(f"| policy | avg JCT | p99 | max | worst trace | worst to {options.against} | worst rho "
          "| pauses |")
    print("|---|---|---|---|---|---|---|---|")
    above = []
    for line in compare(HALVES[options.half], options.policies, rules, options.against,
                        options.each):
        print("| {policy} | x{avg:.3f} | {p99:.3f} | {max:.3f} | {worst:.2f} {worst_trace} | "
              "{ratio:.3f} {ratio_trace} | {rho:.1f} | {pauses} | {each}".format(**line))
        if line["ratio"] > options.at_most:
            above.append(line["policy"])
    if above:
        sys.exit(f"compare.py: above {options.at_most} times {options.against} on a trace: "
                 + " ".join(above))


if __name__ == "__main__":
    main()
