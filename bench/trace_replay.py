#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much CPU does `berth simulate` take for a whole trace, reading and auditing included?

Muri's trace 2 (5,755 jobs) under srsf and under the server's default policy, with the cost of
restarts, and all 82,247 jobs of the Philly trace on 512 GPUs, where jobs wait, under srsf.
BERTH_TRACES names the folder of the traces, as for simulate/compare.py.
"""
import json
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "simulate"))
from compare import BERTH, traces_folder  # noqa: E402


ORDER_ALONE = ["--reference", "srsf", "--restart-cost", "0s", "--placement", "count"]
DEFAULT = ["--policy", "learned", "--restart-cost", "60s", "--placement", "count"]


def cpu_seconds(trace, nodes, rules):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([BERTH, "simulate", "--trace", traces_folder() / trace, "--nodes", nodes,
                    *rules, "-o", "json"], check=True, stdout=subprocess.DEVNULL)
    return round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 3)


if __name__ == "__main__":
    print(json.dumps({"bench": "trace_replay",
                      "srsf_5755_jobs_cpu_s": cpu_seconds("muri/trace2.csv.gz", "8x8", ORDER_ALONE),
                      "srsf_82247_jobs_cpu_s":
                          cpu_seconds("philly/philly.csv.gz", "64x8", ORDER_ALONE),
                      "learned_5755_jobs_cpu_s":
                          cpu_seconds("muri/trace2.csv.gz", "8x8", DEFAULT)}))
