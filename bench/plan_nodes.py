#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What does `berth plan` cost where no two nodes say the same, against nodes that are all equal?
# Both state files list each node; they differ in hostname labels and some KiB of memory. In turns,
# by CPU time, the least of each.
#   bench/plan_nodes.py [--nodes 8000] [--rounds 7]
import argparse
import json
import pathlib
import resource
import subprocess
import tempfile

BERTH = pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/berth"


def state(nodes, is_distinct):
    def node(i):
        return {"name": f"n{i}", "gpus": 8, "gpu_model": "H100", "cpu": 128,
                "memory": 2 * 10**12 + (4096 * i if is_distinct else 0),
                "labels": {"zone": "a", "kubernetes.io/hostname": f"n{i}" if is_distinct else "n"}}
    return {"projects": [{"name": "p", "quota": 8 * nodes}],
            "nodes": [node(i) for i in range(nodes)],
            "jobs": [{"name": f"j{i}", "project": "p", "gpus": 8, "min": 4} for i in range(20)]}


def cpu_s(berth, file):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = spent()
    subprocess.run([berth, "plan", "--state", file], check=True, stdout=subprocess.DEVNULL)
    return spent() - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--berth", default=BERTH, help="another program to measure")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name in ("equal", "distinct"):
            files[name] = pathlib.Path(folder) / f"{name}.json"
            files[name].write_text(json.dumps(state(arguments.nodes, name == "distinct")))
        least = {name: float("inf") for name in files}
        for _ in range(arguments.rounds):
            for name, file in files.items():
                least[name] = min(least[name], cpu_s(arguments.berth, file))
    print(json.dumps({"bench": "plan_nodes", "nodes": arguments.nodes,
                      "equal_cpu_s": round(least["equal"], 3),
                      "distinct_cpu_s": round(least["distinct"], 3),
                      "distinct_over_equal": round(least["distinct"] / least["equal"], 2)}))


main()
